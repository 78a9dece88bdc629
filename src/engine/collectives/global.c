/* global.c - tutti.global: code over whole arrays, run once for all devices.
 *
 *     tiles of each device --join--> whole operands --body--> whole results --split--> tiles
 *
 * An array that every device holds entirely is neither joined nor split: the first member's memory
 * is the whole operand, and the body writes the whole result into it.  With members in several
 * processes each runs the body, which gives all of them the same, unless it has effects
 * (exec/cross_root.c).  Every other whole array is in scratch memory while the body runs. */
#include "engine/collectives/collectives.h"
#include "engine/numerics/numerics.h"
#include "engine/profile/track.h"
#include "engine/stats.h"

#include <stdlib.h>
#include <string.h>

/* The entry of a tiling that is rank r's. */
static int device_in(const Participants *p, Tiling t, int r)
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

static bool fits(const Participants *p, Tiling t, Type whole, Type tile)
{
    if (t.rank != whole.rank || tile.rank != whole.rank || tile.element != whole.element)
        return false;
    for (int i = 0; i < t.rank; i++)
        if (tile.dims[i] * t.tiles[i] != whole.dims[i])
            return false;
    for (int r = 0; r < p->n; r++)
        if (device_in(p, t, r) >= t.ndevices)
            return false;
    return true;
}

/* A whole array, and the tiles of it that the members hold as operand or result i. */
typedef struct Tiles {
    const Participants *p;
    Tiling tiling;
    Type tile, whole;
    int i;
    char *data; /* of the whole */
    bool joins; /* else splits */
} Tiles;

static const int64_t *tile_of(const Tiles *t, int r)
{
    return t->tiling.tile_of + (int64_t)device_in(t->p, t->tiling, r) * t->tiling.rank;
}

static bool is_same_tile(const Tiles *t, int q, int r)
{
    return device_in(t->p, t->tiling, q) < t->tiling.ndevices &&
           device_in(t->p, t->tiling, r) < t->tiling.ndevices && /* else it does not fit, below */
           !memcmp(tile_of(t, q), tile_of(t, r), sizeof(int64_t) * (size_t)t->tiling.rank);
}

/* Does an earlier rank hold the same tile? */
static bool is_repeated(const Tiles *t, int r)
{
    for (int q = 0; q < r; q++)
        if (operand_at(t->p, q, t->i) && is_same_tile(t, q, r))
            return true;
    return false;
}

bool global_needs(const Participants *p, int r, int i, int process)
{
    const Tiles t = { .p = p, .tiling = p->c->in_tilings[i], .i = i };
    for (int q = 0; q < p->n; q++)
        if ((q < r || p->elsewhere->process_of[q] == process) && is_same_tile(&t, q, r))
            return false;
    return true;
}

int global_first_of_tile(const Participants *p, int r, int i)
{
    const Tiles t = { .p = p, .tiling = p->c->out_tilings[i], .i = i };
    int q = 0;
    while (q < r &&
           (p->elsewhere->process_of[q] != p->elsewhere->process_of[r] || !is_same_tile(&t, q, r)))
        q++;
    return q;
}

/* Copies between the whole array and the tile of rank r. */
static void copy_tile(void *user, int64_t rank)
{
    const Tiles *t = user;
    int r = (int)rank;
    /* elsewhere there need be no result, and an operand only if nobody here has the same */
    if (t->joins ? !operand_at(t->p, r, t->i) || is_repeated(t, r) : !result_at(t->p, r, t->i))
        return;
    int64_t whole_strides[MAX_RANK], tile_strides[MAX_RANK];
    byte_strides(t->whole, whole_strides);
    byte_strides(t->tile, tile_strides);
    char *whole = t->data;
    for (int k = 0; k < t->tiling.rank; k++)
        whole += tile_of(t, r)[k] * t->tile.dims[k] * whole_strides[k];
    size_t element = (size_t)element_info[t->whole.element].bytes;
    if (t->joins)
        strided_copy(whole, whole_strides, operand_at(t->p, r, t->i), tile_strides, t->tile.rank,
                     t->tile.dims, element);
    else
        strided_copy(result_at(t->p, r, t->i), tile_strides, whole, whole_strides, t->tile.rank,
                     t->tile.dims, element);
    stat_add(STAT_COPIES, 1);
    stat_add(STAT_COPIED_BYTES, (int64_t)type_bytes(t->tile));
}

static void copy_tiles(Tiles *t)
{
    collective_slices(t->p, t->p->n, 2 * type_bytes(t->whole), copy_tile, t);
}

static void copy_whole(void *user, int64_t rank)
{
    const Tiles *t = user;
    char *result = result_at(t->p, (int)rank, t->i);
    if (result && result != t->data)
        memcpy(result, t->data, type_bytes(t->whole));
}

/* Scratch blocks: [nargs] for joined operands, [nresults] for results to be split; the slab. */
typedef struct Whole {
    void **args, **outs;
    void **taken; /* [nargs + nresults + 1] to give back, or NULL */
} Whole;

static Error *join(const Participants *p, int i, Whole *w)
{
    const Program *body = p->c->body;
    Tiling t = p->c->in_tilings[i];
    Type whole = body->args[i].local, tile = p->c->in_types[i];
    if (!fits(p, t, whole, tile))
        return collective_misfit(p, i);
    if (is_whole(t)) {
        w->args[i] = operand_at(p, p->home, i);
        return NULL;
    }
    TRY(collective_scratch(p, type_bytes(whole), &w->taken[i]));
    w->args[i] = w->taken[i];
    Tiles tiles = { p, t, tile, whole, i, w->args[i], true };
    copy_tiles(&tiles);
    return NULL;
}

static Error *make_room(const Participants *p, int i, Whole *w)
{
    const Program *body = p->c->body;
    Tiling t = p->c->out_tilings[i];
    Type whole = body->results[i].local, tile = p->c->out_types[i];
    if (!fits(p, t, whole, tile))
        return collective_misfit(p, i);
    if (is_whole(t)) {
        w->outs[i] = result_at(p, p->home, i);
        return NULL;
    }
    int k = body->nargs + i;
    TRY(collective_scratch(p, type_bytes(whole), &w->taken[k]));
    w->outs[i] = w->taken[k];
    return NULL;
}

static void split(const Participants *p, int i, Whole *w)
{
    Tiling t = p->c->out_tilings[i];
    Type whole = p->c->body->results[i].local;
    Tiles tiles = { p, t, p->c->out_types[i], whole, i, w->outs[i], false };
    if (!is_whole(t))
        copy_tiles(&tiles);
    else if (type_bytes(whole) &&
             (!result_is_shared(p, i) || (p->elsewhere && p->elsewhere->results)))
        collective_slices(p, p->n, 2 * type_bytes(whole) * (size_t)(p->n - 1), copy_whole, &tiles);
}

static bool is_cancelled(const Frame *f)
{
    /* relaxed: a hint to stop; the run has the error */
    return atomic_load_explicit(f->cancel, memory_order_relaxed);
}

static Error *run_body(const Participants *p, Whole *w)
{
    const Program *body = p->c->body;
    const Frame *leader = p->frames[p->home];
    void **slab = &w->taken[body->nargs + body->nresults];
    if (body->slab_bytes)
        TRY(collective_scratch(p, body->slab_bytes, slab));
    Frame frame = {
        .slab = *slab,
        .pool = body->pool,
        .args = w->args,
        .outs = w->outs,
        .rt = leader->rt,
        .cancel = leader->cancel,
        .program = body,
        .task = leader->task,
        .launch = leader->launch,
    };
    Track track;
    if (leader->track) {
        track = track_of_body(leader->track, leader->program, p->c);
        frame.track = &track;
    }
    int32_t next = 0;
    while (next >= 0 && body->nsegments && !frame.error && !is_cancelled(&frame))
        next = body->segments[next](&frame);
    if (frame.track)
        track_mark(frame.track, -1); /* the last one ends */
    if (frame.error)
        return frame.error;
    if (is_cancelled(&frame)) /* a loop that saw it returns without an error */
        return error_new(CODE_CANCELLED, "%s (%s): the run was stopped", p->c->name,
                         collective_where(p->c));
    if (next == SEGMENT_FAIL)
        return error_new(CODE_INTERNAL, "%s (%s): failed without saying why", p->c->name,
                         collective_where(p->c));
    if (next <= SEGMENT_COLLECTIVE)
        return error_new(CODE_UNIMPLEMENTED, "not supported: %s (%s) inside code on whole arrays",
                         body->collectives[SEGMENT_COLLECTIVE - next].name,
                         collective_where(&body->collectives[SEGMENT_COLLECTIVE - next]));
    return NULL;
}

static Error *join_run_split(const Participants *p, Whole *w)
{
    const Program *body = p->c->body;
    for (int i = 0; i < body->nargs; i++)
        TRY(join(p, i, w));
    for (int i = 0; i < body->nresults; i++)
        TRY(make_room(p, i, w));
    TRY(run_body(p, w));
    for (int i = 0; i < body->nresults; i++)
        split(p, i, w);
    return NULL;
}

static void give_back(const Participants *p, Whole *w)
{
    const Program *body = p->c->body;
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

Error *perform_global(const Participants *p, CopyPlan *plan)
{
    (void)plan;
    const Program *body = p->c->body;
    if (!body || body->nargs != p->c->nin || body->nresults != p->c->nout)
        return error_new(CODE_INTERNAL, "%s (%s): its body does not fit it", p->c->name,
                         collective_where(p->c));
    size_t n = (size_t)(body->nargs + body->nresults);
    void **pointers = calloc(2 * n + 1, sizeof *pointers);
    if (!pointers)
        return error_new(CODE_EXHAUSTED, "%s (%s): no memory for %zu addresses", p->c->name,
                         collective_where(p->c), 2 * n + 1);
    Whole w = { pointers, pointers + body->nargs, pointers + n };
    Error *error = join_run_split(p, &w);
    give_back(p, &w);
    free(pointers);
    stat_add(STAT_JOINS, 1);
    return error;
}
