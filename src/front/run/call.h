/* call.h - one program per public function: the way in for numpy.c, random.c and their like. */
#ifndef TUTTI_FRONT_RUN_CALL_H
#define TUTTI_FRONT_RUN_CALL_H
#include "front/transform/fn.h"

/* Inside a trace the body is run where it stands.  Outside, it is traced once for each (body,
 * bytes of config, types and weakness of in), compiled, and run on the concrete arguments.
 * False: broken arguments or a failure that has been said; out is then broken. */
bool call_eager(const char *name, Body *body, const void *config, size_t config_size, int nin,
                const tt *in, int nout, tt *out);

/* The text that calling f would compile, kept for this scope; empty: reported.  asks: the public function.
 * is_closed: what f captured is in it, as constants; else it is arguments behind the others. */
const char *lower_call(const char *asks, tt_fn f, const tt_tree *args, int nargs, bool is_closed);

/* Inside a trace: runs the body where it stands, under a guard.  False: reported; out is then broken. */
bool record_body(const char *name, Body *body, const void *config, const tt *in, int nout, tt *out);
#endif
