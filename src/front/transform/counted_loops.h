/* counted_loops.h - loops that run a number of times that is known when they begin. */
#ifndef TUTTI_FRONT_TRANSFORM_COUNTED_LOOPS_H
#define TUTTI_FRONT_TRANSFORM_COUNTED_LOOPS_H
#include "front/transform/trace.h"

/* One turn: from what is carried to what the next turn gets, in the innermost frame. */
typedef void Turn(tt turn, const tt *in, tt *out, void *user);

/* Records the loop: n values are carried through `turns` turns, numbered from 0 (turn is one i32).
 * False: said. */
bool build_turns(int64_t turns, int n, const tt *init, Turn *turn, void *user, tt *out);
/* The same where the number is a value, one i32: such a loop cannot be run backwards. */
bool build_turns_given(tt turns, int n, const tt *init, Turn *turn, void *user, tt *out);

/* Row `at` (one number) of x along axis 0; x with that row replaced. */
tt build_row(tt x, tt at);
tt build_set_row(tt x, tt at, tt row);
#endif
