/* custom_call.h - custom calls: what the evaluator and compiled code both ask about them.
 *
 * A custom call names its target.  The evaluator has rules for those that check results, mark arrays
 * or make QR factors (eval/custom.c); numerics has routines for the latter and for those named after
 * LAPACK; any other name is a function that a C program or Python has registered. */
#ifndef TUTTI_ENGINE_CUSTOM_CALL_H
#define TUTTI_ENGINE_CUSTOM_CALL_H
#include "engine/floats.h"
#include "engine/routine.h"
#include "pjrt/extension.h"

/* ---- options and types ---- */

/* An option of the call: in its backend_config, or among its other attributes.  NULL: not given. */
const Attr *custom_option_find(const Node *n, const char *name);
/* The same, if it is a number or a bool. */
int64_t custom_option(const Node *n, const char *name, int64_t otherwise);

/* What is wrong with the types of @Qr or @ProductOfElementaryHouseholderReflectors; NULL: nothing. */
MUST_USE Error *custom_qr_fits(const Node *n, const Tensor *in, const Tensor *out);
MUST_USE Error *custom_householder_fits(const Node *n, const Tensor *in, const Tensor *out);

/* ---- registered functions; any thread, for the whole process ---- */

/* A name that is there gets the new function; f is NULL for a handler of ffi/, which `user` is.  False:
 * no memory for it. */
MUST_USE bool call_registry_add(Str name, TuttiFunction *f, void *user);
bool call_registry_find(Str name, TuttiFunction **f, void **user);
/* A program that calls the name holds it until no compiled code of it is left.  False: there is no
 * such name, and nothing to release. */
bool call_registry_hold(Str name);
void call_registry_release(Str name);
/* The name is gone when no program holds it any more; f(user, NULL) tells its owner so, on the thread
 * that let go of it last. */
void call_registry_drop(Str name);
void call_registry_end(void); /* frees all entries; no program may call one after it */

/* Calls the function of that name with the floating-point state of the thread's owner. */
NAMED_BY_OBJECTS Routine call_registered;
bool call_is_under_way(void); /* on this thread */
/* Around the call of foreign code: in the floating-point state that it expects. */
Floats foreign_enter(void);
void foreign_leave(Floats before);
extern const char *const call_definer; /* what a C program calls to define one, for messages */
/* Calls the function that node n names, which only looks, with these bytes. */
MUST_USE Error *call_with_bytes(const Node *n, Str bytes);
#endif
