/* global.c - tutti.global: code that is not cut up, played once over whole arrays.
 *
 *     tiles of each device --join--> whole operands --body--> whole results --cut--> tiles
 *
 * What every device holds entirely is neither joined nor cut: the first member's memory is the
 * whole operand, and the body writes the whole result into it.  Everything else stands in
 * scratch memory for as long as the body plays. */
#include "engine/comm/group.h"
#include "engine/run/stats.h"
#include "engine/run/strided.h"

#include <stdlib.h>
#include <string.h>

/* Which entry of a tiling is rank r's. */
static int device_in(const Parts *p, Tiling t, int r)
{
    const Frame *f = p->frames[r];
    return t.ndevices == f->program->npartitions
               ? f->partition
               : f->replica * f->program->npartitions + f->partition;
}

static bool is_whole(Tiling t)
{
    for (int i = 0; i < t.rank; i++)
        if (t.tiles[i] != 1)
            return false;
    return true;
}

static bool fits(const Parts *p, Tiling t, Type whole, Type part)
{
    if (t.rank != whole.rank || part.rank != whole.rank || part.element != whole.element)
        return false;
    for (int i = 0; i < t.rank; i++)
        if (part.dims[i] * t.tiles[i] != whole.dims[i])
            return false;
    for (int r = 0; r < p->n; r++)
        if (device_in(p, t, r) >= t.ndevices)
            return false;
    return true;
}

/* Copies between the whole array and the tile of rank r. */
static void copy_tile(const Parts *p, Tiling t, Type part_type, Type whole_type, int r, char *whole,
                      char *part, bool joins)
{
    int64_t whole_strides[MAX_RANK], part_strides[MAX_RANK];
    byte_strides(whole_type, whole_strides);
    byte_strides(part_type, part_strides);
    const int64_t *tile = t.tile_of + (int64_t)device_in(p, t, r) * t.rank;
    for (int i = 0; i < t.rank; i++)
        whole += tile[i] * part_type.dims[i] * whole_strides[i];
    size_t element = (size_t)element_info[whole_type.element].bytes;
    if (joins)
        strided_copy(whole, whole_strides, part, part_strides, t.rank, part_type.dims, element);
    else
        strided_copy(part, part_strides, whole, whole_strides, t.rank, part_type.dims, element);
    stat_add(STAT_COPIES, 1);
    stat_add(STAT_COPIED_BYTES, (int64_t)type_bytes(part_type));
}

/* Does an earlier rank hold the same tile? */
static bool is_repeated(const Parts *p, Tiling t, int r)
{
    const int64_t *mine = t.tile_of + (int64_t)device_in(p, t, r) * t.rank;
    for (int q = 0; q < r; q++)
        if (!memcmp(t.tile_of + (int64_t)device_in(p, t, q) * t.rank, mine,
                    sizeof *mine * (size_t)t.rank))
            return true;
    return false;
}

/* Scratch blocks: [nargs] for joined operands, [nresults] for results to be cut; the slab. */
typedef struct Whole {
    void **args, **outs;
    void **taken; /* [nargs + nresults + 1] to give back, or NULL */
} Whole;

static Error *join(const Parts *p, int i, Whole *w)
{
    const Program *body = p->m->body;
    Tiling t = p->m->in_tilings[i];
    Type whole = body->args[i].local, part = p->m->in_types[i];
    if (!fits(p, t, whole, part))
        return meet_misfit(p, i);
    if (is_whole(t)) {
        w->args[i] = part_in(p, 0, i);
        return NULL;
    }
    TRY(memory_take(p->scratch, type_bytes(whole), &w->taken[i]));
    w->args[i] = w->taken[i];
    for (int r = 0; r < p->n; r++)
        if (!is_repeated(p, t, r))
            copy_tile(p, t, part, whole, r, w->args[i], part_in(p, r, i), true);
    return NULL;
}

static Error *make_room(const Parts *p, int i, Whole *w)
{
    const Program *body = p->m->body;
    Tiling t = p->m->out_tilings[i];
    Type whole = body->results[i].local, part = p->m->out_types[i];
    if (!fits(p, t, whole, part))
        return meet_misfit(p, i);
    if (is_whole(t)) {
        w->outs[i] = part_out(p, 0, i);
        return NULL;
    }
    int k = body->nargs + i;
    TRY(memory_take(p->scratch, type_bytes(whole), &w->taken[k]));
    w->outs[i] = w->taken[k];
    return NULL;
}

static void cut(const Parts *p, int i, Whole *w)
{
    Tiling t = p->m->out_tilings[i];
    Type whole = p->m->body->results[i].local, part = p->m->out_types[i];
    for (int r = 0; r < p->n; r++)
        if (!is_whole(t))
            copy_tile(p, t, part, whole, r, w->outs[i], part_out(p, r, i), false);
        else if (r > 0 && type_bytes(part))
            memcpy(part_out(p, r, i), w->outs[i], type_bytes(part));
}

static Error *play_body(const Parts *p, Whole *w)
{
    const Program *body = p->m->body;
    const Frame *leader = p->frames[0];
    void **slab = &w->taken[body->nargs + body->nresults];
    if (body->slab_bytes)
        TRY(memory_take(p->scratch, body->slab_bytes, slab));
    Frame frame = {
        .slab = *slab,
        .pool = body->pool,
        .args = w->args,
        .outs = w->outs,
        .rt = leader->rt,
        .cancel = leader->cancel,
        .program = body,
    };
    int32_t next = 0;
    while (next >= 0 && body->nstretches) {
        /* relaxed: a hint to stop; whoever set it has the error */
        if (atomic_load_explicit(frame.cancel, memory_order_relaxed))
            return error_new(CODE_CANCELLED, "%s (%s): the run was stopped", p->m->name, p->m->where);
        next = body->stretches[next](&frame);
    }
    if (next == STRETCH_FAIL)
        return frame.error ? frame.error
                           : error_new(CODE_INTERNAL, "%s (%s): failed without saying why",
                                       p->m->name, p->m->where);
    if (next <= STRETCH_MEET)
        return error_new(CODE_UNIMPLEMENTED, "not supported: %s (%s) inside code on whole arrays",
                         body->meetings[STRETCH_MEET - next].name,
                         body->meetings[STRETCH_MEET - next].where);
    return NULL;
}

static Error *join_play_cut(const Parts *p, Whole *w)
{
    const Program *body = p->m->body;
    for (int i = 0; i < body->nargs; i++)
        TRY(join(p, i, w));
    for (int i = 0; i < body->nresults; i++)
        TRY(make_room(p, i, w));
    TRY(play_body(p, w));
    for (int i = 0; i < body->nresults; i++)
        cut(p, i, w);
    return NULL;
}

static void give_back(const Parts *p, Whole *w)
{
    const Program *body = p->m->body;
    int n = body->nargs + body->nresults;
    for (int k = 0; k <= n; k++) {
        if (!w->taken[k])
            continue;
        size_t bytes = k < body->nargs ? type_bytes(body->args[k].local)
                       : k < n         ? type_bytes(body->results[k - body->nargs].local)
                                       : body->slab_bytes;
        memory_give(p->scratch, w->taken[k], bytes);
    }
}

Error *meet_global(const Parts *p)
{
    const Program *body = p->m->body;
    if (!body || body->nargs != p->m->nin || body->nresults != p->m->nout)
        return error_new(CODE_INTERNAL, "%s (%s): its body does not fit it", p->m->name, p->m->where);
    size_t n = (size_t)(body->nargs + body->nresults);
    void **pointers = calloc(2 * n + 1, sizeof *pointers);
    if (!pointers)
        return error_new(CODE_EXHAUSTED, "%s (%s): no memory for %zu addresses", p->m->name,
                         p->m->where, 2 * n + 1);
    Whole w = { pointers, pointers + body->nargs, pointers + n };
    Error *error = join_play_cut(p, &w);
    give_back(p, &w);
    free(pointers);
    stat_add(STAT_JOINS, 1);
    return error;
}
