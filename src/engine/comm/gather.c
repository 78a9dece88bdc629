/* gather.c - all_gather and all_to_all: nothing is computed, everything finds its place.
 *
 *     all_gather along dimension 1             all_to_all, split 0, concat 1
 *     rank 0   rank 1     everybody            rank 0   rank 1      rank 0   rank 1
 *      a b      e f    ->  a b e f              a b      e f    ->   a b e f  c d g h
 *      c d      g h        c d g h              c d      g h
 */
#include "engine/comm/group.h"
#include "engine/run/strided.h"

#include <string.h>

typedef struct Gather {
    const Parts *p;
    int i;     /* the operand */
    Runs runs; /* of a part */
    int nouts; /* results to write: all, or one that is shared */
    bool streams;
} Gather;

/* A piece of what one rank brought, to where it lies in every result. */
static void gather_piece(void *user, int64_t i)
{
    const Gather *g = user;
    int64_t r = slice_of(&g->runs, &i);
    Piece piece = runs_piece(&g->runs, i);
    const char *from = part_in(g->p, (int)r, g->i) + piece.at;
    size_t run = g->runs.run;
    for (int o = 0; o < g->nouts; o++) {
        char *to = part_out(g->p, o, g->i) + (size_t)r * run + piece.at;
        for (int64_t k = piece.first; k < piece.end; k++)
            bytes_move(to + (size_t)(k * g->p->n) * run, from + (size_t)k * run, piece.bytes,
                       g->streams);
    }
}

static Error *all_gather_operand(const Parts *p, int i, int dim)
{
    Type part = p->m->in_types[i], whole = p->m->out_types[i];
    if (dim < 0 || dim >= part.rank || whole.rank != part.rank ||
        part.dims[dim] * p->n != whole.dims[dim] || type_count(part) * p->n != type_count(whole))
        return meet_misfit(p, i);
    int nouts = part_is_shared(p, i) ? 1 : p->n;
    size_t moved = type_bytes(whole) * (size_t)nouts;
    Gather g = { p, i, runs_cut(extent_before(part, dim), bytes_from(part, dim)), nouts,
                 meet_streams(2 * moved) };
    meet_slices(p, p->n * g.runs.npieces, moved, gather_piece, &g);
    return NULL;
}

Error *meet_all_gather(const Parts *p)
{
    const AllGatherAttrs *attrs = p->m->attrs;
    for (int i = 0; i < p->m->nin; i++)
        TRY(all_gather_operand(p, i, (int)attrs->all_gather_dim));
    return NULL;
}

static bool all_to_all_fits(const Parts *p, Type in, Type out, int split, int concat)
{
    if (in.rank != out.rank || split < 0 || split >= in.rank || concat < 0 || concat >= in.rank)
        return false;
    if (in.dims[split] % p->n)
        return false;
    for (int i = 0; i < in.rank; i++) {
        int64_t extent = in.dims[i];
        extent = i == split ? extent / p->n : extent;
        extent = i == concat ? extent * p->n : extent;
        if (out.dims[i] != extent)
            return false;
    }
    return true;
}

typedef struct Exchange {
    const Parts *p;
    int i, split, concat;
    int64_t in_strides[MAX_RANK], out_strides[MAX_RANK], extents[MAX_RANK];
} Exchange;

static void exchange_pair(void *user, int64_t pair)
{
    const Exchange *x = user;
    int from = (int)(pair % x->p->n);
    int64_t to = pair / x->p->n;
    Type in = x->p->m->in_types[x->i];
    int64_t out_step = x->extents[x->concat] * x->out_strides[x->concat];
    int64_t in_step = x->extents[x->split] * x->in_strides[x->split];
    strided_copy(part_out(x->p, (int)to, x->i) + from * out_step, x->out_strides,
                 part_in(x->p, from, x->i) + to * in_step, x->in_strides, in.rank, x->extents,
                 (size_t)element_info[in.element].bytes);
}

/* What each member has for each other lies together on both sides: plain copies. */
static bool exchange_is_plain(const Parts *p, int i)
{
    const AllToAllAttrs *attrs = p->m->attrs;
    Type in = p->m->in_types[i];
    return extent_before(in, (int)attrs->split_dimension) == 1 &&
           extent_before(in, (int)attrs->concat_dimension) == 1;
}

bool exchanges_in_place(const Parts *p, int i)
{
    return parts_are_in_place(p, i) && exchange_is_plain(p, i);
}

/* What each has for each later one, and that one for it. */
typedef struct Swap {
    const Parts *p;
    int i;
    Runs runs; /* of one of the two */
} Swap;

static void swap_piece(void *user, int64_t i)
{
    const Swap *s = user;
    int a = (int)slice_of(&s->runs, &i);
    Piece piece = runs_piece(&s->runs, i);
    for (int b = a + 1; b < s->p->n; b++) {
        char *both[] = { part_in(s->p, a, s->i) + (size_t)b * s->runs.run + piece.at,
                         part_in(s->p, b, s->i) + (size_t)a * s->runs.run + piece.at };
        bytes_rotate(2, both, piece.bytes);
    }
}

static void exchange_in_place(const Parts *p, int i)
{
    size_t bytes = type_bytes(p->m->in_types[i]);
    Swap s = { p, i, runs_cut(1, bytes / (size_t)p->n) };
    meet_slices(p, p->n * s.runs.npieces, bytes * (size_t)p->n, swap_piece, &s);
}

static void exchange_plainly(const Exchange *x)
{
    const Parts *p = x->p;
    size_t bytes = type_bytes(p->m->in_types[x->i]) / (size_t)p->n;
    Move moves[p->n * p->n];
    for (int to = 0, k = 0; to < p->n; to++)
        for (int from = 0; from < p->n; from++, k++)
            moves[k] = (Move){ part_out(p, to, x->i) + (size_t)from * bytes,
                               part_in(p, from, x->i) + (size_t)to * bytes, bytes };
    meet_moves(p, p->n * p->n, moves);
}

static Error *all_to_all_operand(const Parts *p, int i, int split, int concat)
{
    enum { FEW = 64 }; /* whose table of pairs fits the stack */
    Type in = p->m->in_types[i], out = p->m->out_types[i];
    if (!all_to_all_fits(p, in, out, split, concat))
        return meet_misfit(p, i);
    if (exchanges_in_place(p, i)) {
        exchange_in_place(p, i);
        return NULL;
    }
    Exchange x = { .p = p, .i = i, .split = split, .concat = concat };
    byte_strides(in, x.in_strides);
    byte_strides(out, x.out_strides);
    memcpy(x.extents, in.dims, sizeof *x.extents * (size_t)in.rank);
    x.extents[split] /= p->n;
    if (p->n <= FEW && exchange_is_plain(p, i))
        exchange_plainly(&x);
    else
        meet_slices(p, p->n * p->n, type_bytes(in) * (size_t)p->n, exchange_pair, &x);
    return NULL;
}

Error *meet_all_to_all(const Parts *p)
{
    const AllToAllAttrs *attrs = p->m->attrs;
    for (int i = 0; i < p->m->nin; i++)
        TRY(all_to_all_operand(p, i, (int)attrs->split_dimension, (int)attrs->concat_dimension));
    return NULL;
}
