/* ragged_dot.c - products with one matrix per group of rows: chlo.ragged_dot.
 *
 * Group g is the next group_sizes[g] places along the left side's ragged dimension.  With the
 * left side repeated per group, and zero where a place is not of the group, it is one dot:
 *
 *     ragged dimension is      left [g, ...]     contracted      result
 *     of the left alone        masked            with rhs[g]     [b, m, n]
 *     contracted               masked            its own         [g, b, m, n]
 *     a batch                  as it is          its own         [b, m, n] */
#include "hlo/define/writer.h"

#include <string.h>

typedef struct Ragged {
    Writer *w;
    Node n;
    const RaggedDotAttrs *a;
    Type lhs, result;
    int64_t groups;
} Ragged;

/* Which places of the ragged dimension are of which group: i1[groups, extent]. */
static ValueId membership(const Ragged *z, int64_t extent)
{
    Writer *w = z->w;
    Arena *arena = w->m->arena;
    int64_t across[] = { z->groups, z->groups }, dims[] = { z->groups, extent }, to = 0, last = 1;
    ValueId sizes = put_convert(w, z->n.in[2], I64);
    /* ends[g] = sizes[0] + ... + sizes[g] */
    Type square = type_new(arena, I64, 2, across), table = type_new(arena, I64, 2, dims);
    IotaAttrs *rows = ARENA_NEW(arena, IotaAttrs), *columns = ARENA_NEW(arena, IotaAttrs);
    columns->iota_dimension = 1;
    ValueId row = put(w, OP_IOTA, square, rows, 0, NULL);
    ValueId column = put(w, OP_IOTA, square, columns, 0, NULL);
    ValueId is_before = put_compare(w, LE, column, row);
    ValueId spread = put_spread(w, sizes, &last, 2, across);
    ValueId ends =
        put_sum(w, put_select(w, is_before, spread, put_integer(w, square, 0)), 1, &last);
    ValueId starts = put_two(w, OP_SUB, ends, sizes);
    ValueId place = put(w, OP_IOTA, table, columns, 0, NULL);
    return put_two(w, OP_AND, put_compare(w, GE, place, put_spread(w, starts, &to, 2, dims)),
                   put_compare(w, LT, place, put_spread(w, ends, &to, 2, dims)));
}

/* The left side per group, [g, ...], zero outside the group. */
static ValueId masked(const Ragged *z, int64_t ragged)
{
    Writer *w = z->w;
    int64_t dims[MAX_RANK] = { z->groups }, to[MAX_RANK], mask_to[] = { 0, ragged + 1 };
    for (int i = 0; i < z->lhs.rank; i++) {
        dims[i + 1] = z->lhs.dims[i];
        to[i] = i + 1;
    }
    ValueId mask = membership(z, z->lhs.dims[ragged]);
    mask = put_spread(w, mask, mask_to, z->lhs.rank + 1, dims);
    ValueId each = put_spread(w, z->n.in[0], to, z->lhs.rank + 1, dims);
    return put_select(w, mask, each, put_number(w, type_of(w->m, each), 0));
}

/* The list with every dimension one further, and one more in front if `first` says which. */
static Ints moved(const Ragged *z, Ints list, int64_t first)
{
    int64_t at[MAX_RANK + 1];
    int n = 0;
    if (first >= 0)
        at[n++] = first;
    for (int i = 0; i < list.n; i++)
        at[n++] = list.at[i] + 1;
    return ints_copy(z->w->m->arena, n, at);
}

/* [batch.., g, left.., right..] to [g, batch.., left.., right..] */
static ValueId groups_first(const Ragged *z, ValueId dot, int nbatch)
{
    int64_t order[MAX_RANK];
    for (int i = 0; i < z->result.rank; i++)
        order[i] = i == 0 ? nbatch : i <= nbatch ? i - 1 : i;
    return put_transpose(z->w, dot, order);
}

static ValueId masked_dot(const Ragged *z, bool is_contracted)
{
    const RaggedDotAttrs *a = z->a;
    Arena *arena = z->w->m->arena;
    DotAttrs *dot = ARENA_NEW(arena, DotAttrs);
    *dot = (DotAttrs){ .lhs_batching_dimensions = moved(z, a->lhs_batching_dimensions, -1),
                       .rhs_batching_dimensions = a->rhs_batching_dimensions,
                       .lhs_contracting_dimensions = moved(z, a->lhs_contracting_dimensions, -1),
                       .rhs_contracting_dimensions = a->rhs_contracting_dimensions,
                       .precision_config = a->precision_config };
    Type t = z->result;
    int nbatch = a->lhs_batching_dimensions.n;
    if (is_contracted) {
        int64_t dims[MAX_RANK];
        for (int i = 0; i < t.rank; i++)
            dims[i] = z->result.dims[i < nbatch ? i + 1 : i == nbatch ? 0 : i];
        t = type_new(arena, t.element, t.rank, dims);
    } else {
        int64_t at[MAX_RANK + 1] = { a->rhs_group_dimensions.at[0] };
        memcpy(at + 1, a->rhs_contracting_dimensions.at,
               sizeof *at * (size_t)a->rhs_contracting_dimensions.n);
        dot->lhs_contracting_dimensions = moved(z, a->lhs_contracting_dimensions, 0);
        dot->rhs_contracting_dimensions = ints_copy(arena, a->rhs_contracting_dimensions.n + 1, at);
    }
    ValueId in[] = { masked(z, a->lhs_ragged_dimensions.at[0]), z->n.in[1] };
    ValueId out = put(z->w, OP_DOT, t, dot, 2, in);
    return is_contracted ? groups_first(z, out, nbatch) : out;
}

Error *define_ragged_dot(Writer *w, Node n, ValueId *results)
{
    const RaggedDotAttrs *a = n.attrs;
    Ragged z = { w, n, a, type_of(w->m, n.in[0]), type_of(w->m, n.out), 0 };
    Type sizes = type_of(w->m, n.in[2]);
    if (sizes.rank != 1)
        return error_new(CODE_UNIMPLEMENTED,
                         "not supported: chlo.ragged_dot with group sizes %s, "
                         "at %s; one list of them is",
                         type_name(sizes), loc_name(n.loc));
    if (z.lhs.rank == MAX_RANK)
        return error_new(CODE_UNIMPLEMENTED,
                         "not supported: chlo.ragged_dot of %s, at %s; less than "
                         "%d dimensions are",
                         type_name(z.lhs), loc_name(n.loc), MAX_RANK);
    z.groups = sizes.dims[0];
    int64_t ragged = a->lhs_ragged_dimensions.at[0];
    if (ints_find(a->lhs_batching_dimensions, ragged) >= 0) {
        DotAttrs *dot = ARENA_NEW(w->m->arena, DotAttrs);
        *dot = (DotAttrs){ a->lhs_batching_dimensions, a->rhs_batching_dimensions,
                           a->lhs_contracting_dimensions, a->rhs_contracting_dimensions,
                           a->precision_config };
        results[0] = put(w, OP_DOT, z.result, dot, 2, n.in);
        return NULL;
    }
    results[0] = masked_dot(&z, ints_find(a->lhs_contracting_dimensions, ragged) >= 0);
    return NULL;
}
