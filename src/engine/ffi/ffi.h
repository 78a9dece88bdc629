/* ffi.h - foreign functions as XLA calls them (pjrt/ffi.h): handlers that were written for its CPU
 * backend.
 *
 *     jax.ffi.register_ffi_target --> handler_add: the name, and a function for each stage
 *     a program's custom_call @name --> ffi_call: site (attributes, state) + operands = frame --> handler
 *
 *     site.c      what stays of a call site from call to call
 *     call.c      one call: its frame, its stages, its layouts
 *     services.c  the table of what a handler may ask for while it runs */
#ifndef TUTTI_ENGINE_FFI_FFI_H
#define TUTTI_ENGINE_FFI_FFI_H
#include "base/arena.h"
#include "engine/routine.h"
#include "pjrt/ffi.h"

#include <pthread.h>

/* Of one name; stays for the whole process, as the code that it points at must. */
typedef struct Handler {
    FfiHandler *stages[FFI_STAGES]; /* NULL: it has none; not so FFI_EXECUTE */
} Handler;

/* A name that is there gets the new functions.  Refused: functions of another version of the ABI. */
MUST_USE Error *handler_add(Str name, FfiHandler *const *stages);

Routine ffi_call; /* of a custom call whose target is a handler's name */

/* ---- call sites ---- */

/* An object that a handler made and that belongs to a call site. */
typedef struct State {
    int64_t type; /* 0: none */
    void *object;
} State;

typedef struct Site {
    struct Site *next;
    const Program *program; /* NULL: the evaluator's, and gone after the call */
    const Node *node;
    Arena *arena; /* owns the site but for the state's object */
    FfiAttributes attributes;
    pthread_mutex_t making; /* held by the thread that instantiates */
    bool is_instantiated;
    State state; /* made when it was instantiated; others belong to a call */
} Site;

/* The site of the node in a program; new, if it is the first call there. */
MUST_USE Error *site_get(const Program *program, const Node *n, Site **out);
void site_end(Site *site); /* of the evaluator's */
/* No thread runs the program any more: its sites go. */
void sites_drop(const Program *program);

/* XLA's number for an element type; 0: it has none. */
int ffi_type(Element e);

/* ---- what a handler may ask for ---- */

struct FfiContext {
    const Frame *frame; /* NULL: the evaluator's */
    Site *site;
    State states[FFI_STAGES]; /* of the later stages */
};

extern const FfiTable ffi_table;

/* Takes the error; NULL becomes NULL. */
MUST_USE Error *ffi_error(FfiError *error);
/* Waits for what a handler still does, and frees the future. */
MUST_USE Error *future_wait(FfiFuture *future);
MUST_USE Error *type_add(Str name, int64_t *id, void (*destroy)(void *object));
void state_free(State *state);
#endif
