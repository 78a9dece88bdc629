/* group.c - who brought what, and which algorithm takes it from there.
 *
 * The compiler may give a result the memory of an operand that dies at the collective, where the
 * algorithm works in place (collective_is_in_place); and a donated argument's memory may be any result's.
 * Where it does not, the operand is first put aside in scratch memory, so that the algorithms
 * need not think of it. */
#include "engine/collectives/group.h"

#include <stdlib.h>
#include <string.h>

static WriteFn *writer(OpId op)
{
    switch (op) {
    case OP_ALL_REDUCE: return write_all_reduce;
    case OP_ALL_GATHER: return write_all_gather;
    case OP_REDUCE_SCATTER: return write_reduce_scatter;
    case OP_ALL_TO_ALL: return write_all_to_all;
    case OP_PERMUTE: return write_permute;
    case OP_COLLECTIVE_BROADCAST: return write_broadcast;
    default: return NULL;
    }
}

Error *collective_misfit(const Parts *p, int i)
{
    return error_new(CODE_INVALID, "%s (%s): operand %d is %s and its result %s, in a group of %d",
                     p->m->name, collective_where(p->m), i, type_name(p->m->in_types[i]),
                     type_name(p->m->out_types[i]), p->n);
}

Error *collective_scratch(const Parts *p, size_t bytes, void **out)
{
    Error *error = memory_take(p->scratch, bytes, out);
    return error ? error_in(error, "%s (%s)", p->m->name, collective_where(p->m)) : NULL;
}

int64_t extent_before(Type t, int dim)
{
    int64_t n = 1;
    for (int i = 0; i < dim; i++)
        n *= t.dims[i];
    return n;
}

size_t bytes_from(Type t, int dim)
{
    size_t n = (size_t)element_info[t.element].bytes;
    for (int i = dim; i < t.rank; i++)
        n *= (size_t)t.dims[i];
    return n;
}

/* Bytes read and written by a collective. */
enum {
    LARGE = 2 << 20,     /* less, and their way to another core costs more */
    STREAMED = 24 << 20, /* more than the last cache keeps */
};

bool collective_is_large(size_t bytes)
{
    return bytes >= LARGE;
}

bool collective_streams(size_t bytes)
{
    return bytes >= STREAMED;
}

void collective_slices(const Parts *p, int64_t n, size_t bytes, SliceFn *f, void *user)
{
    if (collective_is_large(bytes)) {
        frame_slices(p->frames[0], n, f, user);
        return;
    }
    for (int64_t i = 0; i < n; i++)
        f(user, i);
}

bool parts_are_in_place(const Parts *p, int i)
{
    for (int r = 0; r < p->n; r++)
        if (part_in(p, r, i) != part_out(p, r, i))
            return false;
    return true;
}

bool part_is_shared(const Parts *p, int i)
{
    return p->n > 1 && part_out(p, 0, i) == part_out(p, 1, i);
}

static bool overlaps(const char *a, size_t a_bytes, const char *b, size_t b_bytes)
{
    return a_bytes && b_bytes && (uintptr_t)a < (uintptr_t)b + b_bytes &&
           (uintptr_t)b < (uintptr_t)a + a_bytes;
}

static bool has_dynamic_root(const Collective *m)
{
    return m->op == OP_COLLECTIVE_BROADCAST &&
           ((const CollectiveBroadcastAttrs *)m->attrs)->has_dynamic_root;
}

/* Operand i and result j are one memory: does the algorithm know what to do? */
static bool works_in_place(const Parts *p, int i, int j)
{
    switch (p->m->op) {
    case OP_PERMUTE: return i == j && parts_are_in_place(p, i);
    case OP_ALL_TO_ALL: return i == j && exchanges_in_place(p, i);
    case OP_COLLECTIVE_BROADCAST: return i == j && !has_dynamic_root(p->m);
    default: return collective_is_in_place(p->m->op, i, j);
    }
}

/* Must rank r's operand i be put aside before results are written? */
static bool is_in_the_way(const Parts *p, int r, int i)
{
    const Collective *m = p->m;
    size_t bytes = type_bytes(m->in_types[i]);
    for (int j = 0; j < m->nout; j++) {
        bool is_same = part_in(p, r, i) == part_out(p, r, j);
        if (!(is_same && works_in_place(p, i, j)) &&
            overlaps(part_in(p, r, i), bytes, part_out(p, r, j), type_bytes(m->out_types[j])))
            return true;
    }
    return false;
}

/* Copies operands that results would overwrite; aside[k] is what to give back, or NULL. */
static Error *put_aside(Parts *p, void **aside)
{
    for (int r = 0; r < p->n; r++)
        for (int i = 0; i < p->m->nin; i++) {
            if (!is_in_the_way(p, r, i))
                continue;
            int k = r * p->m->nin + i;
            size_t bytes = type_bytes(p->m->in_types[i]);
            TRY(collective_scratch(p, bytes, &aside[k]));
            memcpy(aside[k], p->in[k], bytes);
            p->in[k] = aside[k];
        }
    return NULL;
}

static void give_back(const Parts *p, void **aside)
{
    for (int k = 0; k < p->n * p->m->nin; k++)
        if (aside[k])
            memory_give(p->scratch, aside[k], type_bytes(p->m->in_types[k % p->m->nin]));
}

/* Where a value lies on each rank: at[0], at[step], ... */
static void find_all(const Parts *p, Address place, void **at, int step)
{
    for (int r = 0; r < p->n; r++)
        at[r * step] = place.where == ADDRESS_SLAB ? p->frames[r]->slab + place.at
                                                 : frame_at(p->frames[r], place);
}

static Error *write_and_play(const Parts *p, CopyPlan *s)
{
    const Collective *m = p->m;
    WriteFn *write = writer(m->op);
    if (!write)
        return error_new(CODE_UNIMPLEMENTED, "not supported: a meeting in %s (%s)", m->name,
                         collective_where(m));
    TRY(write(p, s));
    s->m = m;
    s->frame = p->frames[0];
    copy_plan_execute(s);
    if (!m->is_apart || has_dynamic_root(m)) /* its addresses are of this time */
        s->m = NULL;
    return NULL;
}

static Error *play(const Parts *p, CopyPlan *s)
{
    switch (p->m->op) {
    case OP_RAGGED: return perform_ragged(p);
    case OP_GLOBAL: return perform_global(p);
    default: return write_and_play(p, s);
    }
}

static Error *perform(Parts *p, void **aside, CopyPlan *s)
{
    for (int i = 0; i < p->m->nin; i++)
        find_all(p, p->m->in[i], p->in + i, p->m->nin);
    for (int i = 0; i < p->m->nout; i++)
        find_all(p, p->m->out[i], p->out + i, p->m->nout);
    if (p->m->is_apart)
        return play(p, s);
    memset(aside, 0, sizeof *aside * (size_t)(p->n * p->m->nin));
    Error *error = put_aside(p, aside);
    if (!error)
        error = play(p, s);
    give_back(p, aside);
    return error;
}

Error *collective_perform(const Collective *m, int n, Frame *const *frames, Memory *scratch, CopyPlan *s)
{
    enum { FEW = 96 };
    void *few[FEW], **pointers = few;
    size_t nin = (size_t)n * (size_t)m->nin, nout = (size_t)n * (size_t)m->nout;
    if (2 * nin + nout > FEW) {
        pointers = malloc(sizeof *pointers * (2 * nin + nout));
        if (!pointers)
            return error_new(CODE_EXHAUSTED, "%s (%s): no memory for %zu addresses", m->name,
                             collective_where(m), 2 * nin + nout);
    }
    Parts p = { m, n, frames, scratch, pointers, pointers + nin };
    copy_plan_end(s); /* whatever it was */
    Error *error = perform(&p, pointers + nin + nout, s);
    if (pointers != few)
        free(pointers);
    return error;
}

void collective_skip(const Collective *m, const Frame *f)
{
    for (int i = 0; i < m->nout; i++) {
        size_t bytes = type_bytes(m->out_types[i]);
        if (bytes)
            memset(frame_at(f, m->out[i]), 0, bytes);
    }
}
