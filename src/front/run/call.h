/* call.h - one program per public function: the way in for numpy.c, random.c and their like. */
#ifndef TUTTI_FRONT_RUN_CALL_H
#define TUTTI_FRONT_RUN_CALL_H
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <tutti.h>

/* What a public function does, in terms of traced values.  Fills out[] (a broken value where it
 * has failed and said so); looks at nothing but its arguments' types and its configuration. */
typedef void Body(const tt *in, tt *out, const void *config);

/* Inside a trace the body is run where it stands.  Outside, it is traced once for each (body,
 * bytes of config, types and weakness of in), compiled, and played on the concrete arguments.
 * False: broken arguments or a failure that has been said; out is then broken. */
bool call_eager(const char *name, Body *body, const void *config, size_t config_size, int nin,
                const tt *in, int nout, tt *out);

/* Inside a trace: runs the body where it stands, under a guard.  False: said; out is then broken. */
bool record(const char *name, Body *body, const void *config, const tt *in, int nout, tt *out);

/* What the caller's struct has of ours: it may be older, and shorter.  One that does not say its
 * size was not filled in; that is said, to `who`, and `otherwise` done. */
#define OPTIONS(T, who, given, otherwise)                                                          \
    T options = { 0 };                                                                             \
    if ((given) && !options_copy(who, #T, &options, sizeof options, (given), (given)->size))       \
    otherwise
bool options_copy(const char *who, const char *type, void *to, size_t room, const void *from,
                  size_t size);
#endif
