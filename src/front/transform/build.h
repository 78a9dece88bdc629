/* build.h - operations by what they are in StableHLO, on traced values: for rules and for maps.
 *
 * Everything is recorded in the innermost frame.  The caller has seen to it that operands fit. */
#ifndef TUTTI_FRONT_TRANSFORM_BUILD_H
#define TUTTI_FRONT_TRANSFORM_BUILD_H
#include "front/value/trace.h"

#define NO_VALUE ((tt){ 0, 0 }) /* in rules: a zero tangent or cotangent */
static inline bool is_value(tt x)
{
    return x.slot != 0;
}

Type type_at(tt x); /* dims in the session's arena */
Type type_with(Type t, Element element);
Type type_insert(Type t, int axis, int64_t extent); /* one more axis */
Type type_remove(Type t, int axis);
Ints ints_range(int from, int n); /* from, from + 1, ... */
Ints ints_of(int n, const int64_t *at);
Ints ints_insert(Ints list, int at, int64_t x);
Ints ints_shifted(Ints list, int64_t by); /* every entry, by so much */
Ints ints_except(int n, Ints list);       /* 0 .. n-1 but for those */
Ints ints_join(Ints a, Ints b);
Ints ints_inverse(Ints permutation);

/* One node with one result.  A broken value: reported. */
tt build_op(OpId op, int n, const tt *x, const void *attrs, Type result);
tt build1(OpId op, tt x);       /* of x's type */
tt build2(OpId op, tt a, tt b); /* of a's type */

tt build_number(Type type, double x); /* all elements x */
tt build_zeros(Type type);            /* of any element type */
tt build_reshape(tt x, Type to);
tt build_convert(tt x, Element to);
tt build_broadcast(tt x, Type to, Ints dims); /* axis i of x is dims[i] of the result */
tt build_leading(tt x, int64_t n);            /* n copies of x along a new axis 0 */
tt build_transpose(tt x, Ints permutation);
tt build_move_axis(tt x, int from, int to);
tt build_reduce(OpId op, tt x, Ints dims); /* ADD, MUL, MAX, MIN, AND, OR */
tt build_slice(tt x, Ints start, Ints limit, Ints strides);
tt build_pad(tt x, tt value, Ints low, Ints high, Ints interior);
tt build_compare(int direction, tt a, tt b);
tt build_select(tt condition, tt a, tt b);
tt build_iota(Type type, int dim);
tt build_dot(tt a, tt b, Ints a_batch, Ints b_batch, Ints a_contract, Ints b_contract,
             Precisions precision);
tt build_concatenate(int n, const tt *x, int dim);
tt build_sum(tt a, tt b);                   /* where no value is zero */
tt build_axis_index(const AxisAttrs *axes); /* the position along them together, i32[] */
/* Row `at` (one number) of x along axis 0; x with that row replaced. */
tt build_row(tt x, tt at);
tt build_set_row(tt x, tt at, tt row);
tt build_stop_gradient(tt x);
tt build_named(tt x, const char *name); /* for tt_checkpoint; the name is interned (checkpoint.c) */

/* Attributes in the session's arena. */
#define BUILD_ATTRS(T, ...) ((T *)arena_copy(trace_arena(), &(T){ __VA_ARGS__ }, sizeof(T)))
#endif
