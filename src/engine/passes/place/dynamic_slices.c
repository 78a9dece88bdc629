/* dynamic_slices.c - dynamic_slice and dynamic_update_slice along a dimension that is cut.
 *
 * Where a slice begins is known to all devices, but only when the program runs.  A slice that is no
 * longer than a piece may lie in a piece, beside it, or across its end:
 *
 *     x [8] in 4 pieces, slice of 2 from 3 on        on device 1, which has x[2:4]
 *                                                    1, but it must end here: at 0, shift 1
 *     slice:     the part that is here, zeros elsewhere; the parts are added up
 *     update:    what of it belongs here replaces what is here; nobody waits for anybody
 *
 * For a longer one the whole array is turned until the slice begins with the first element: by as
 * many pieces as the bits of their number say, each a move to a neighbour so many pieces away, and
 * by less than a piece between two neighbours. */
#include "engine/passes/place/place.h"

/* The operation, and how its array lies. */
typedef struct Slices {
    const Node *node;
    Type whole, part; /* of the array, and of the slice or update */
    Tiling tiling;
    int first; /* the operand that says where the slice begins along dimension 0 */
} Slices;

static Slices slices_of(const Placer *z, const Node *node)
{
    bool is_slice = node->op == OP_DYNAMIC_SLICE;
    return (Slices){ node, type_of(z->m, node->in[0]),
                     type_of(z->m, is_slice ? node->out : node->in[1]), z->tilings[node->in[0]],
                     is_slice ? 1 : 2 };
}

/* Is the array cut along d, and the slice shorter? */
static bool is_chosen(const Slices *s, int d)
{
    return s->tiling.tiles[d] != 1 && s->part.dims[d] != s->whole.dims[d];
}

static int64_t piece_along(const Slices *s, int d)
{
    return s->whole.dims[d] / s->tiling.tiles[d];
}

static ValueId clamped(Placer *z, int64_t low, ValueId v, int64_t high)
{
    ValueId in[] = { build_number(z, low), v, build_number(z, high) };
    return build_node(z->m, z->to, OP_CLAMP, 3, in, type_scalar(I64), NULL, NULL);
}

/* Where in the whole array the slice begins along d. */
static ValueId slice_start(Placer *z, const Slices *s, int d)
{
    Tiling all = tiling_replicated(z->scratch, 0, z->ndevices);
    ValueId start = build_wide(z, shard_move(z, s->node->in[s->first + d], all));
    return clamped(z, 0, start, s->whole.dims[d] - s->part.dims[d]);
}

/* Where the device's piece begins along d. */
static ValueId piece_start(Placer *z, const Slices *s, int d)
{
    Tiling whole = tiling_replicated(z->scratch, s->whole.rank, z->ndevices);
    return tile_start(z, whole, s->tiling, d, piece_along(s, d));
}

static ValueId write_update(Placer *z, ValueId into, ValueId update, const ValueId *starts)
{
    Type t = type_of(z->m, into);
    ValueId in[MAX_RANK + 2] = { into, update };
    for (int d = 0; d < t.rank; d++)
        in[d + 2] = starts[d];
    return build_node(z->m, z->to, OP_DYNAMIC_UPDATE, t.rank + 2, in, t, NULL, NULL);
}

/* ---- slices no longer than a piece ---- */

/* Along each dimension: where the slice would begin if it had to lie in the piece, and how far from
 * there it does begin, at most its own length. */
static void find_slice(Placer *z, const Slices *s, ValueId *at, ValueId *shift)
{
    for (int d = 0; d < s->whole.rank; d++) {
        shift[d] = build_number(z, 0);
        at[d] = s->tiling.tiles[d] == 1 ? slice_start(z, s, d) : build_number(z, 0);
        if (!is_chosen(s, d))
            continue;
        int64_t size = s->part.dims[d];
        ValueId local = build_two(z, OP_SUB, slice_start(z, s, d), piece_start(z, s, d));
        at[d] = clamped(z, 0, local, piece_along(s, d) - size);
        shift[d] = clamped(z, -size, build_two(z, OP_SUB, local, at[d]), size);
    }
}

/* v moved towards higher places, with `around` where nothing comes from. */
static ValueId shifted(Placer *z, const Slices *s, ValueId v, const ValueId *shift, ValueId around)
{
    Module *m = z->m;
    Type t = type_of(m, v);
    int64_t *low = ARENA_ARRAY(m->arena, int64_t, t.rank + 1), dims[MAX_RANK];
    ValueId starts[MAX_RANK];
    for (int d = 0; d < t.rank; d++) {
        low[d] = is_chosen(s, d) ? t.dims[d] : 0;
        dims[d] = t.dims[d] + 2 * low[d];
        starts[d] = build_two(z, OP_SUB, build_number(z, low[d]), shift[d]);
    }
    PadAttrs *pad = ARENA_NEW(m->arena, PadAttrs);
    pad->edge_padding_low = pad->edge_padding_high = (Ints){ t.rank, low };
    pad->interior_padding = (Ints){ t.rank, ARENA_ARRAY(m->arena, int64_t, t.rank + 1) };
    ValueId in[] = { v, around };
    Type wide = type_new(m->arena, t.element, t.rank, dims);
    return build_dynamic_slice(z, build_node(m, z->to, OP_PAD, 2, in, wide, pad, NULL), starts, t);
}

static void slice_part(Placer *z, NodeId n, const Placement *p)
{
    Node node = *node_at(z->m, n);
    Slices s = slices_of(z, &node);
    ValueId at[MAX_RANK], shift[MAX_RANK], back[MAX_RANK];
    find_slice(z, &s, at, shift);
    for (int d = 0; d < s.part.rank; d++)
        back[d] = build_two(z, OP_SUB, build_number(z, 0), shift[d]);
    ValueId got = build_dynamic_slice(z, shard_move(z, node.in[0], s.tiling), at,
                                      local_type(z, s.part, p->results[0]));
    ValueId neutral = build_neutral(z, type_scalar(s.part.element));
    subst_set(&z->shards, node.out, shifted(z, &s, got, back, neutral));
}

static void update_part(Placer *z, NodeId n, const Placement *p)
{
    static const bool yes = true;
    Node node = *node_at(z->m, n);
    Slices s = slices_of(z, &node);
    ValueId at[MAX_RANK], shift[MAX_RANK];
    find_slice(z, &s, at, shift);
    ValueId own = shard_move(z, node.in[0], s.tiling);
    ValueId update = shard_move(z, node.in[1], p->wants[1]);
    Type t = type_of(z->m, update), flags = { I1, t.rank, t.dims };
    ValueId zero = build_zeros(z, type_scalar(t.element));
    ValueId no = build_zeros(z, type_scalar(I1));
    ValueId is_here = shifted(z, &s, build_splat(z, flags, &yes), shift, no);
    ValueId now = build_select(z, is_here, shifted(z, &s, update, shift, zero),
                               build_dynamic_slice(z, own, at, t));
    subst_set(&z->shards, node.out, write_update(z, own, now, at));
}

/* ---- longer ones: the array is turned ---- */

/* The piece so many pieces further along d, round the end. */
static ValueId piece_ahead(Placer *z, const Slices *s, ValueId own, int d, int64_t pieces)
{
    Tiling t = s->tiling;
    Type piece = type_of(z->m, own);
    int64_t *starts = ARENA_ARRAY(z->scratch, int64_t, z->ndevices * t.rank);
    for (int k = 0; k < z->ndevices; k++)
        for (int i = 0; i < t.rank; i++) {
            int64_t tile = t.tile_of[k * t.rank + i] + (i == d ? pieces : 0);
            starts[k * t.rank + i] = tile % t.tiles[i] * piece.dims[i];
        }
    return fetch_box(z, own, t, piece, starts, 0, s->node->loc);
}

static ValueId joined(Placer *z, ValueId a, ValueId b, int d)
{
    Type t = type_of(z->m, a);
    int64_t dims[MAX_RANK];
    for (int i = 0; i < t.rank; i++)
        dims[i] = t.dims[i] * (i == d ? 2 : 1);
    DimensionAttrs *attrs = ARENA_NEW(z->m->arena, DimensionAttrs);
    attrs->dimension = d;
    ValueId in[] = { a, b };
    return build_node(z->m, z->to, OP_CONCATENATE, 2, in,
                      type_new(z->m->arena, t.element, t.rank, dims), attrs, NULL);
}

/* own: a piece of the array, which is turned so that what stood at `by` along d stands first. */
static ValueId turned(Placer *z, const Slices *s, ValueId own, int d, ValueId by)
{
    Type piece = type_of(z->m, own);
    ValueId extent = build_number(z, piece.dims[d]), starts[MAX_RANK];
    ValueId pieces = build_two(z, OP_DIV, by, extent), rest = build_two(z, OP_REM, by, extent);
    for (int64_t step = 1; step < s->tiling.tiles[d]; step *= 2) {
        ValueId bit = build_two(z, OP_AND, pieces, build_number(z, step));
        ValueId is_set = build_compare(z, bit, build_number(z, 0), NE);
        own = build_select(z, is_set, piece_ahead(z, s, own, d, step), own);
    }
    for (int i = 0; i < piece.rank; i++)
        starts[i] = i == d ? rest : build_number(z, 0);
    return build_dynamic_slice(z, joined(z, own, piece_ahead(z, s, own, d, 1), d), starts, piece);
}

/* Along dimensions that are not cut the slice is had at once. */
static void find_uncut(Placer *z, const Slices *s, ValueId *at)
{
    for (int d = 0; d < s->whole.rank; d++)
        at[d] = s->tiling.tiles[d] == 1 ? slice_start(z, s, d) : build_number(z, 0);
}

static void slice_turned(Placer *z, NodeId n, const Placement *p)
{
    Node node = *node_at(z->m, n);
    Slices s = slices_of(z, &node);
    Tiling out = p->results[0];
    Type box = local_type(z, s.part, out), line = local_type(z, s.whole, s.tiling);
    int64_t *dims = ARENA_ARRAY(z->m->arena, int64_t, s.part.rank + 1);
    for (int d = 0; d < s.part.rank; d++)
        dims[d] = s.tiling.tiles[d] == 1 ? s.part.dims[d] : line.dims[d];
    ValueId at[MAX_RANK];
    find_uncut(z, &s, at);
    ValueId own = build_dynamic_slice(z, shard_move(z, node.in[0], s.tiling), at,
                                      (Type){ s.part.element, s.part.rank, dims });
    for (int d = 0; d < s.part.rank; d++)
        if (is_chosen(&s, d))
            own = turned(z, &s, own, d, slice_start(z, &s, d));
    int64_t *starts = ARENA_ARRAY(z->scratch, int64_t, z->ndevices * s.part.rank);
    for (int k = 0; k < z->ndevices; k++)
        for (int d = 0; d < s.part.rank; d++)
            starts[k * s.part.rank + d] = out.tile_of[k * s.part.rank + d] * box.dims[d];
    subst_set(&z->shards, node.out, fetch_box(z, own, s.tiling, box, starts, 0, node.loc));
}

/* What of the update would lie in the device's piece if it began with the first element. */
static ValueId fetch_update(Placer *z, const Slices *s)
{
    ValueId v = s->node->in[1];
    Tiling t = s->tiling;
    int64_t *dims = ARENA_ARRAY(z->m->arena, int64_t, t.rank + 1);
    int64_t *starts = ARENA_ARRAY(z->scratch, int64_t, z->ndevices * t.rank);
    for (int d = 0; d < t.rank; d++) {
        dims[d] = t.tiles[d] == 1 ? s->part.dims[d] : piece_along(s, d);
        for (int k = 0; k < z->ndevices; k++)
            starts[k * t.rank + d] = t.tile_of[k * t.rank + d] * dims[d];
    }
    return fetch_box(z, subst_get(&z->shards, v), z->tilings[v],
                     (Type){ s->part.element, t.rank, dims }, starts, 0, s->node->loc);
}

/* Which elements of a piece of type t the slice covers along d. */
static ValueId covered(Placer *z, const Slices *s, Type t, int d, ValueId start)
{
    Module *m = z->m;
    t.element = I64;
    IotaAttrs *iota = ARENA_NEW(m->arena, IotaAttrs);
    iota->iota_dimension = d;
    BroadcastAttrs *nowhere = ARENA_NEW(m->arena, BroadcastAttrs);
    *nowhere = (BroadcastAttrs){ 0 };
    ValueId first = build_two(z, OP_SUB, start, piece_start(z, s, d));
    ValueId end = build_two(z, OP_ADD, first, build_number(z, s->part.dims[d]));
    ValueId at = build_node(m, z->to, OP_IOTA, 0, NULL, t, iota, NULL);
    first = build_node(m, z->to, OP_BROADCAST, 1, &first, t, nowhere, NULL);
    end = build_node(m, z->to, OP_BROADCAST, 1, &end, t, nowhere, NULL);
    return build_two(z, OP_AND, build_compare(z, at, first, GE), build_compare(z, at, end, LT));
}

static void update_turned(Placer *z, NodeId n, const Placement *p)
{
    (void)p;
    Node node = *node_at(z->m, n);
    Slices s = slices_of(z, &node);
    ValueId own = shard_move(z, node.in[0], s.tiling), at[MAX_RANK], is_here = 0;
    ValueId update = fetch_update(z, &s);
    Type t = type_of(z->m, update);
    for (int d = 0; d < t.rank; d++) {
        if (!is_chosen(&s, d))
            continue;
        ValueId start = slice_start(z, &s, d), extent = build_number(z, s.whole.dims[d]);
        ValueId back = build_two(z, OP_SUB, extent, start);
        update = turned(z, &s, update, d, build_two(z, OP_REM, back, extent));
        ValueId here = covered(z, &s, t, d, start);
        is_here = is_here ? build_two(z, OP_AND, is_here, here) : here;
    }
    find_uncut(z, &s, at);
    ValueId now = build_select(z, is_here, update, build_dynamic_slice(z, own, at, t));
    subst_set(&z->shards, node.out, write_update(z, own, now, at));
}

/* ---- can it be? ---- */

/* The slice lying as the array, whole where it is shorter; or cut there too, if it can be. */
static Tiling slice_tiling(const Placer *z, const Slices *s, bool is_cut)
{
    Pick picks[MAX_RANK];
    bool dropped;
    for (int d = 0; d < s->part.rank; d++)
        picks[d] = is_chosen(s, d) && !is_cut ? (Pick){ 0 } : (Pick){ &s->tiling, d, 0 };
    return tiling_pick(z->scratch, s->part, z->ndevices, picks, false, &dropped);
}

/* Each piece along the dimensions that are chosen from has a part. */
static void number_pieces(const Placer *z, const Slices *s, Placement *p)
{
    Tiling t = s->tiling;
    p->is_partial = true;
    p->nparts = 1;
    p->part_of = ARENA_ARRAY(z->scratch, int, z->ndevices);
    for (int d = 0; d < t.rank; d++) {
        if (!is_chosen(s, d))
            continue;
        p->nparts *= (int)t.tiles[d];
        for (int k = 0; k < z->ndevices; k++)
            p->part_of[k] = p->part_of[k] * (int)t.tiles[d] + (int)t.tile_of[k * t.rank + d];
    }
}

bool infer_dynamic(Placer *z, NodeId n, Placement *p)
{
    const Node *node = node_at(z->m, n);
    bool is_slice = node->op == OP_DYNAMIC_SLICE;
    if (!is_slice && node->op != OP_DYNAMIC_UPDATE)
        return false;
    Slices s = slices_of(z, node);
    bool is_any = false, is_short = true;
    for (int d = 0; d < s.whole.rank; d++)
        if (is_chosen(&s, d)) {
            is_any = true;
            is_short = is_short && s.part.dims[d] <= piece_along(&s, d);
        }
    if (!is_any || type_count(s.part) == 0)
        return false;
    *p = (Placement){ .results = ARENA_ARRAY(z->scratch, Tiling, 1),
                      .wants = ARENA_ARRAY(z->scratch, Tiling, node->nin) };
    for (int k = 0; k < node->nin; k++)
        p->wants[k] = tiling_replicated(z->scratch, type_of(z->m, node->in[k]).rank, z->ndevices);
    p->wants[0] = s.tiling;
    p->is_piecewise = true;
    p->results[0] = is_slice ? slice_tiling(z, &s, !is_short) : s.tiling;
    if (!is_slice)
        p->wants[1] = slice_tiling(z, &s, false);
    p->place = is_slice ? (is_short ? slice_part : slice_turned)
                        : (is_short ? update_part : update_turned);
    if (!is_slice || !is_short)
        return true;
    p->is_piecewise = false;
    number_pieces(z, &s, p);
    return is_combinable(z, n, p);
}
