/* small_systems.c - elimination of two or three unknowns inside a loop becomes arithmetic.
 *
 *     lu, pivots, info = getrf a          a's elements, each a value of its own, by selects (rows
 *     x = triangular_solve lu, b          exchanged), quotients, products and differences
 *
 * A call of a routine takes longer than all of that, and what is computed before and behind it would go through
 * memory: of a Newton step in two dimensions little else is left.  Outside of loops a call is compiled
 * sooner.  The pivots are getrf's: of rows as good, the first. */
#include "engine/passes/simplify/simplify.h"

#include "hlo/define/writer.h"
#include "ops/call.h"

#include <string.h>

enum { MOST_UNKNOWNS = 3, MOST_SIDES = 4 };

typedef ValueId Rows[MOST_UNKNOWNS][MOST_UNKNOWNS];

/* One row of a matrix, from that column on. */
static ValueId put_part(Writer *w, ValueId x, int64_t row, int64_t column, int64_t columns)
{
    Arena *arena = w->m->arena;
    int64_t from[] = { row, column }, to[] = { row + 1, column + columns }, one[] = { 1, 1 };
    SliceAttrs *attrs = ARENA_NEW(arena, SliceAttrs);
    attrs->start_indices = ints_copy(arena, 2, from);
    attrs->limit_indices = ints_copy(arena, 2, to);
    attrs->strides = ints_copy(arena, 2, one);
    int64_t dims[] = { 1, columns };
    return put(w, OP_SLICE, type_new(arena, type_of(w->m, x).element, 2, dims), attrs, 1, &x);
}

static ValueId put_joined(Writer *w, Type result, int dimension, int n, const ValueId *parts)
{
    DimensionAttrs *attrs = ARENA_NEW(w->m->arena, DimensionAttrs);
    attrs->dimension = dimension;
    return put(w, OP_CONCATENATE, result, attrs, n, parts);
}

/* By rows first, so that each is a row of its own to split_columns. */
static void take_apart(Writer *w, ValueId a, int n, Rows x)
{
    for (int i = 0; i < n; i++) {
        ValueId row = put_part(w, a, i, 0, n);
        for (int j = 0; j < n; j++)
            x[i][j] = put_part(w, row, 0, j, 1);
    }
}

static ValueId put_together(Writer *w, Type matrix, int n, Rows x)
{
    ValueId rows[MOST_UNKNOWNS];
    int64_t dims[] = { 1, n };
    Type row = type_new(w->m->arena, matrix.element, 2, dims);
    for (int i = 0; i < n; i++)
        rows[i] = put_joined(w, row, 1, n, x[i]);
    return put_joined(w, matrix, 0, n, rows);
}

/* a - b * c */
static ValueId put_rest(Writer *w, ValueId a, ValueId b, ValueId c)
{
    return put_two(w, OP_SUB, a, put_two(w, OP_MUL, b, c));
}

/* ---- factors ---- */

static bool suits(const Simplifier *s, Type a)
{
    return s->nloops && a.rank == 2 && a.dims[0] == a.dims[1] && a.dims[0] >= 2 &&
           a.dims[0] <= MOST_UNKNOWNS && (a.element == F32 || a.element == F64);
}

static bool is_getrf(const Simplifier *s, const Node *node)
{
    if (node->op != OP_CUSTOM_CALL || node->nin != 1 || node->nout != 3)
        return false;
    Str target = ((const CustomCallAttrs *)node->attrs)->call_target_name;
    Type a = type_of(s->m, node->in[0]), pivots = type_of(s->m, node->out + 1);
    Element e;
    return suits(s, a) && lapack_find_routine(target, a.element, &e) == LAPACK_CALL_GETRF &&
           e == a.element && type_equal(type_of(s->m, node->out), a) && pivots.element == I32 &&
           pivots.rank == 1 && pivots.dims[0] == a.dims[0] &&
           type_equal(type_of(s->m, node->out + 2), type_scalar(I32));
}

/* The row of the largest element of column k from its diagonal down: a number; and how large that is. */
static ValueId put_pivot(Writer *w, int n, int k, Rows x, ValueId *largest)
{
    Type index = with_element(type_of(w->m, x[0][0]), I32);
    ValueId at = put_integer(w, index, k);
    *largest = put_one(w, OP_ABS, x[k][k]);
    for (int i = k + 1; i < n; i++) {
        ValueId size = put_one(w, OP_ABS, x[i][k]), is_more = put_compare(w, GT, size, *largest);
        *largest = put_select(w, is_more, size, *largest);
        at = put_select(w, is_more, put_integer(w, index, i), at);
    }
    return at;
}

/* Rows k and `at` change places. */
static void exchange(Writer *w, int n, int k, ValueId at, Rows x)
{
    Type index = type_of(w->m, at);
    ValueId row[MOST_UNKNOWNS];
    memcpy(row, x[k], sizeof row);
    for (int i = k + 1; i < n; i++) {
        ValueId is_it = put_compare(w, EQ, at, put_integer(w, index, i));
        for (int j = 0; j < n; j++) {
            x[k][j] = put_select(w, is_it, x[i][j], x[k][j]);
            x[i][j] = put_select(w, is_it, row[j], x[i][j]);
        }
    }
}

static void eliminate(Writer *w, int n, int k, Rows x)
{
    Type one = type_of(w->m, x[k][k]);
    ValueId is_zero = put_compare(w, EQ, x[k][k], put_number(w, one, 0));
    ValueId pivot = put_select(w, is_zero, put_number(w, one, 1), x[k][k]);
    for (int i = k + 1; i < n; i++) {
        x[i][k] = put_two(w, OP_DIV, x[i][k], pivot);
        for (int j = k + 1; j < n; j++)
            x[i][j] = put_rest(w, x[i][j], x[i][k], x[k][j]);
    }
}

bool expand_small_lu(Simplifier *s, NodeId node)
{
    Node call = *node_at(s->m, node); /* a copy: nodes are added */
    if (!is_getrf(s, &call))
        return false;
    Writer w = { s->m, s->region, call.loc };
    Type a = type_of(s->m, call.in[0]);
    int n = (int)a.dims[0];
    Rows x;
    take_apart(&w, call.in[0], n, x);
    Type index = with_element(type_of(s->m, x[0][0]), I32);
    ValueId pivots[MOST_UNKNOWNS], none = put_integer(&w, index, 0), info = none;
    int64_t one = 1;
    for (int k = 0; k < n; k++) {
        ValueId largest, at = put_pivot(&w, n, k, x, &largest);
        exchange(&w, n, k, at, x);
        eliminate(&w, n, k, x);
        pivots[k] = put_reshape(&w, put_two(&w, OP_ADD, at, put_integer(&w, index, 1)), 1, &one);
        ValueId is_broken = put_compare(&w, EQ, largest, put_number(&w, type_of(s->m, largest), 0));
        is_broken = put_two(&w, OP_AND, is_broken, put_compare(&w, EQ, info, none));
        info = put_select(&w, is_broken, put_integer(&w, index, k + 1), info);
    }
    subst_set(&s->map, call.out, put_together(&w, a, n, x));
    subst_set(&s->map, call.out + 1, put_joined(&w, type_of(s->m, call.out + 1), 0, n, pivots));
    subst_set(&s->map, call.out + 2, put_reshape(&w, info, 0, NULL));
    return true;
}

/* ---- triangles ---- */

/* Of all columns of a row. */
static ValueId put_wide(Writer *w, ValueId x, int64_t columns)
{
    static const int64_t to[] = { 0, 1 };
    int64_t dims[] = { 1, columns };
    return columns == 1 ? x : put_spread(w, x, to, 2, dims);
}

ValueId expand_small_solve(Simplifier *s, NodeId node)
{
    Node solve = *node_at(s->m, node); /* a copy: nodes are added */
    const TriangularSolveAttrs *attrs = solve.attrs;
    if (solve.op != OP_TRIANGULAR_SOLVE || !suits(s, type_of(s->m, solve.in[0])) ||
        !attrs->left_side || attrs->transpose_a != 1)
        return 0;
    Type b = type_of(s->m, solve.in[1]);
    int n = (int)b.dims[0];
    if (b.dims[1] < 1 || b.dims[1] > MOST_SIDES)
        return 0;
    Writer w = { s->m, s->region, solve.loc };
    Rows a;
    ValueId x[MOST_UNKNOWNS];
    take_apart(&w, solve.in[0], n, a);
    for (int k = 0; k < n; k++) {
        int i = attrs->lower ? k : n - 1 - k;
        x[i] = put_part(&w, solve.in[1], i, 0, b.dims[1]);
        for (int done = 0; done < k; done++) {
            int j = attrs->lower ? done : i + 1 + done; /* as numerics/small_matrices_body.h */
            x[i] = put_rest(&w, x[i], put_wide(&w, a[i][j], b.dims[1]), x[j]);
        }
        if (!attrs->unit_diagonal)
            x[i] = put_two(&w, OP_DIV, x[i], put_wide(&w, a[i][i], b.dims[1]));
    }
    return put_joined(&w, b, 0, n, x);
}
