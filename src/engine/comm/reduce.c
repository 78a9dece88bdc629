/* reduce.c - all_reduce and reduce_scatter.
 *
 * Both by blocks that stay in the first-level cache:
 *
 *     in[0] in[1] in[2] in[3]
 *       \    /    /    /
 *         sum  <-+--<-+          ((in0 + in1) + in2) + in3: always in rank order
 *           \---> out[0], out[1], out[2], out[3], or the one memory that all share
 *
 * The sum is made in the first result, or in a block of its own if results are so large that they
 * are streamed past the caches.  reduce_scatter does the same for the slice of each rank. */
#include "engine/comm/group.h"

#include <string.h>

enum { BLOCK_BYTES = 8 << 10 }; /* holds whole elements, and so does a Piece */

static Error *check_combine(const Parts *p)
{
    return p->m->combine ? NULL
                         : error_new(CODE_UNIMPLEMENTED, "not supported: the reducer of %s (%s)",
                                     p->m->name, p->m->where);
}

/* dst = in[0][at] + in[1][at] + ..., n elements each, in rank order. */
static void combine_ranks(const Parts *p, int i, char *dst, size_t at, int64_t n, size_t element)
{
    const void *in[p->n];
    for (int r = 0; r < p->n; r++)
        in[r] = part_in(p, r, i) + at;
    if (p->n > 1)
        p->m->combine(dst, in, p->n, n);
    else if (dst != in[0])
        memcpy(dst, in[0], (size_t)n * element);
}

/* One operand of the meeting. */
typedef struct Operand {
    const Parts *p;
    int i;
    size_t element; /* bytes */
    Runs runs;      /* of a result */
    int nouts;      /* all_reduce: results to write, all of them or one, */
    int first;      /* from that rank on */
    bool streams;
} Operand;

/* outs[..] = the sum of what lies at `at` in every rank's operand. */
static void reduce_bytes(const Operand *o, int nouts, char *const *outs, size_t at, size_t bytes)
{
    _Alignas(64) char apart[BLOCK_BYTES];
    for (size_t done = 0; done < bytes; done += BLOCK_BYTES) {
        size_t block = bytes - done < BLOCK_BYTES ? bytes - done : BLOCK_BYTES;
        char *sum = o->streams ? apart : outs[0] + done;
        combine_ranks(o->p, o->i, sum, at + done, (int64_t)(block / o->element), o->element);
        for (int r = !o->streams; r < nouts; r++)
            bytes_move(outs[r] + done, sum, block, o->streams);
    }
}

static void all_reduce_piece(void *user, int64_t i)
{
    const Operand *o = user;
    Piece piece = runs_piece(&o->runs, i);
    char *outs[o->nouts];
    for (int k = 0; k < o->nouts; k++)
        outs[k] = part_out(o->p, (o->first + k) % o->p->n, o->i) + piece.at;
    reduce_bytes(o, o->nouts, outs, piece.at, piece.bytes);
}

/* The rank of device 0. */
static int rank_of_first(const Parts *p)
{
    int r = 0;
    while (r < p->n - 1 && p->frames[r]->partition)
        r++;
    return r;
}

static void all_reduce_operand(const Parts *p, int i)
{
    size_t bytes = type_bytes(p->m->in_types[i]);
    bool is_for_first = p->m->is_for_first && p->m->is_for_first[i];
    int nouts = part_is_shared(p, i) || is_for_first ? 1 : p->n;
    size_t element = (size_t)element_info[p->m->in_types[i].element].bytes;
    Operand o = { p, i, element, runs_cut(1, bytes), nouts,
                  is_for_first ? rank_of_first(p) : 0,
                  meet_streams(bytes * (size_t)(p->n + nouts)) };
    meet_slices(p, o.runs.npieces, bytes * (size_t)p->n, all_reduce_piece, &o);
}

Error *meet_all_reduce(const Parts *p)
{
    TRY(check_combine(p));
    for (int i = 0; i < p->m->nin; i++) {
        if (!type_equal(p->m->in_types[i], p->m->out_types[i]))
            return meet_misfit(p, i);
        if (p->m->in_types[i].element != TOKEN)
            all_reduce_operand(p, i);
    }
    return NULL;
}

/* A piece of what one rank gets. */
static void reduce_scatter_piece(void *user, int64_t i)
{
    const Operand *o = user;
    int64_t r = slice_of(&o->runs, &i);
    Piece piece = runs_piece(&o->runs, i);
    char *out = part_out(o->p, (int)r, o->i) + piece.at;
    for (int64_t k = piece.first; k < piece.end; k++)
        reduce_bytes(o, 1, (char *[]){ out + (size_t)k * o->runs.run },
                     (size_t)(k * o->p->n + r) * o->runs.run + piece.at, piece.bytes);
}

static Error *reduce_scatter_operand(const Parts *p, int i, int dim)
{
    Type whole = p->m->in_types[i], slice = p->m->out_types[i];
    if (dim < 0 || dim >= whole.rank || slice.rank != whole.rank ||
        slice.dims[dim] * p->n != whole.dims[dim] || type_count(slice) * p->n != type_count(whole))
        return meet_misfit(p, i);
    Operand o = { p, i, (size_t)element_info[whole.element].bytes,
                  runs_cut(extent_before(whole, dim), bytes_from(slice, dim)), 1, 0,
                  meet_streams(type_bytes(whole) * (size_t)(p->n + 1)) };
    meet_slices(p, p->n * o.runs.npieces, type_bytes(whole) * (size_t)p->n,
                reduce_scatter_piece, &o);
    return NULL;
}

Error *meet_reduce_scatter(const Parts *p)
{
    TRY(check_combine(p));
    const ReduceScatterAttrs *attrs = p->m->attrs;
    for (int i = 0; i < p->m->nin; i++)
        TRY(reduce_scatter_operand(p, i, (int)attrs->scatter_dimension));
    return NULL;
}
