/* retile.c - tutti.retile: an array that is cut in one way, taken in another.
 *
 *     x [8], cut in 4           starts 0 0 4 4, boxes of 4      starts -1 1 3 5, boxes of 4
 *     01 | 23 | 45 | 67         0123 | 0123 | 4567 | 4567       .012 | 1234 | 3456 | 567.
 *
 * Every device gets a box of the whole array, wherever it lies, copied piece by piece from the devices
 * that have it; no array is whole anywhere unless a box is.  Where a box reaches beyond the array,
 * elements are those of operand 1, which has the result's type, or zero if there is none. */
#include "engine/collectives/collectives.h"
#include "engine/numerics/numerics.h"
#include "engine/stats.h"

#include "base/fail.h"

#include <string.h>

typedef struct Retiling {
    const Participants *p;
    Tiling tiling;
    Type tile, box;
    int64_t whole[MAX_RANK];
    bool is_shared; /* one result for all */
} Retiling;

static Retiling retiling_of(const Participants *p)
{
    const RetileAttrs *attrs = p->c->attrs;
    Retiling t = { .p = p,
                   .tiling = attrs->in_tilings.at[0],
                   .tile = p->c->in_types[0],
                   .box = p->c->out_types[0] };
    for (int d = 0; d < t.tile.rank; d++)
        t.whole[d] = t.tile.dims[d] * t.tiling.tiles[d];
    return t;
}

static const int64_t *start_of(const Retiling *t, int r)
{
    const RetileAttrs *attrs = t->p->c->attrs;
    return attrs->starts.at + (int64_t)t->p->frames[r]->partition * t->tile.rank;
}

static const int64_t *tile_of(const Retiling *t, int r)
{
    return t->tiling.tile_of + (int64_t)t->p->frames[r]->partition * t->tile.rank;
}

static int64_t tile_number(const Retiling *t, const int64_t *at)
{
    int64_t number = 0;
    for (int d = 0; d < t->tile.rank; d++)
        number = number * t->tiling.tiles[d] + at[d];
    return number;
}

/* How near q's memory is to r: the same process, then the numbers that differ the least in their
 * places on a mesh. */
static int distance(const Participants *p, int r, int q)
{
    bool is_far = p->elsewhere && p->elsewhere->process_of[r] != p->elsewhere->process_of[q];
    return (p->frames[r]->partition ^ p->frames[q]->partition) + (is_far ? 1 << 24 : 0);
}

/* holder[k]: the rank from which r takes tile k, or -1: no rank of the group has it. */
static void find_holders(const Retiling *t, int r, int *holder)
{
    int64_t n = 1;
    for (int d = 0; d < t->tile.rank; d++)
        n *= t->tiling.tiles[d];
    require(n <= POSSIBLE_DEVICES);
    for (int k = 0; k < n; k++)
        holder[k] = -1;
    for (int q = 0; q < t->p->n; q++) {
        int64_t k = tile_number(t, tile_of(t, q));
        if (holder[k] < 0 || distance(t->p, r, q) < distance(t->p, r, holder[k]))
            holder[k] = q;
    }
}

/* The part of dimension d that both r's box and the array have: where it begins and ends in the
 * array. */
static void overlap(const Retiling *t, int r, int d, int64_t *from, int64_t *to)
{
    int64_t start = start_of(t, r)[d], end = start + t->box.dims[d];
    *from = start > 0 ? start : 0;
    *to = end < t->whole[d] ? end : t->whole[d];
}

static bool is_inside(const Retiling *t, int r)
{
    for (int d = 0; d < t->tile.rank; d++) {
        int64_t start = start_of(t, r)[d];
        if (start < 0 || start + t->box.dims[d] > t->whole[d])
            return false;
    }
    return true;
}

/* What lies outside of the array: all is written, the rest is then written over. */
static void fill(const Retiling *t, int r)
{
    char *to = result_at(t->p, r, 0), *base = t->p->c->nin > 1 ? operand_at(t->p, r, 1) : NULL;
    size_t bytes = type_bytes(t->box);
    if (is_inside(t, r) || !bytes || to == base)
        return;
    if (base)
        memcpy(to, base, bytes);
    else
        memset(to, 0, bytes);
}

/* What r's box has of the tile at these coordinates, which rank q holds. */
static void copy_part(const Retiling *t, int r, int q, const int64_t *at)
{
    int64_t from_strides[MAX_RANK], to_strides[MAX_RANK], extents[MAX_RANK];
    byte_strides(t->tile, from_strides);
    byte_strides(t->box, to_strides);
    const char *from = operand_at(t->p, q, 0);
    char *to = result_at(t->p, r, 0);
    for (int d = 0; d < t->tile.rank; d++) {
        int64_t first, end, begin = at[d] * t->tile.dims[d], stop = begin + t->tile.dims[d];
        overlap(t, r, d, &first, &end);
        first = first > begin ? first : begin;
        end = end < stop ? end : stop;
        extents[d] = end - first;
        from += (first - begin) * from_strides[d];
        to += (first - start_of(t, r)[d]) * to_strides[d];
    }
    strided_copy(to, to_strides, from, from_strides, t->tile.rank, extents,
                 (size_t)element_info[t->tile.element].bytes);
}

/* Calls f for every tile that r's box touches. */
typedef void TileFn(void *user, const Retiling *t, int r, int holder, const int64_t *at);

static void for_tiles(const Retiling *t, int r, TileFn *f, void *user)
{
    int holder[POSSIBLE_DEVICES];
    int64_t low[MAX_RANK], high[MAX_RANK], at[MAX_RANK];
    for (int d = 0; d < t->tile.rank; d++) {
        int64_t from, to;
        overlap(t, r, d, &from, &to);
        if (from >= to)
            return;
        at[d] = low[d] = from / t->tile.dims[d];
        high[d] = (to - 1) / t->tile.dims[d];
    }
    find_holders(t, r, holder);
    for (int d = t->tile.rank; d >= 0;) {
        f(user, t, r, holder[tile_number(t, at)], at);
        for (d = t->tile.rank - 1; d >= 0 && ++at[d] > high[d]; d--)
            at[d] = low[d];
    }
}

static void copy_tile(void *user, const Retiling *t, int r, int holder, const int64_t *at)
{
    (void)user;
    require(holder >= 0);
    copy_part(t, r, holder, at);
}

static void make_box(void *user, int64_t rank)
{
    const Retiling *t = user;
    int r = (int)rank;
    if (!result_at(t->p, r, 0) || (t->is_shared && r != t->p->home))
        return;
    fill(t, r);
    for_tiles(t, r, copy_tile, NULL);
    stat_add(STAT_COPIES, 1);
    stat_add(STAT_COPIED_BYTES, (int64_t)type_bytes(t->box));
}

Error *perform_retile(const Participants *p, CopyPlan *plan)
{
    (void)plan;
    Retiling t = retiling_of(p);
    if (t.tile.rank != t.box.rank)
        return collective_misfit(p, 0);
    t.is_shared = result_is_shared(p, 0);
    collective_slices(p, p->n, 2 * type_bytes(t.box) * (size_t)p->n, make_box, &t);
    return NULL;
}

typedef struct Need {
    int from;
    bool is_there;
} Need;

static void note_need(void *user, const Retiling *t, int r, int holder, const int64_t *at)
{
    (void)t, (void)r, (void)at;
    Need *need = user;
    need->is_there |= holder == need->from;
}

bool retile_needs(const Participants *p, int r, int i, int process)
{
    Retiling t = retiling_of(p);
    Need need = { r, false };
    for (int q = 0; i == 0 && q < p->n; q++)
        if (p->elsewhere->process_of[q] == process)
            for_tiles(&t, q, note_need, &need);
    return need.is_there;
}
