/* call.h - what is known of custom calls by both sides of the seam. */
#ifndef TUTTI_OPS_CALL_H
#define TUTTI_OPS_CALL_H
#include "base/text.h"
#include "ops/op.h"

typedef enum CallId {
#define CALL(id, ...) CALL_##id,
#include "ops/calls.def"
    CALL_COUNT /* none of these */
} CallId;

typedef enum CallRole { ROLE_COMPUTE, ROLE_PLACE, ROLE_HINT, ROLE_CHECK } CallRole;

typedef struct CallInfo {
    const char *name;
    int nin, nout;
    OpEffect effect;
    CallRole role;
} CallInfo;

extern const CallInfo call_info[CALL_COUNT];

CallId call_find(Str target);
/* Has it as many operands and results as its row says? */
bool call_takes(CallId call, int nin, int nout);

typedef enum LapackCall {
#define LAPACK(id, ...) LAPACK_CALL_##id,
#include "ops/calls.def"
    LAPACK_CALL_COUNT /* none of these */
} LapackCall;

/* The routine that a custom call names, and the element type that its name says; `first`, the
 * element type of operand 0, is it where the name says none. */
LapackCall lapack_find_routine(Str target, Element first, Element *a);
/* Of a call that takes batches of matrices and does each for itself: how many dimensions of operand 0,
 * whose element type is `first`, are one of the batch; -1: it is no such call. */
int call_rank_of_one(Str target, Element first);
/* The name of a call of that routine for f32 or f64, into *out. */
void lapack_print_name(Text *out, LapackCall routine, Element a);
#endif
