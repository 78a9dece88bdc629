/* sort_pieces.c - sort and top_k along a dimension that is cut, where no other can be cut instead.
 *
 * Every device sorts its own piece; then pieces are exchanged in ways that do not depend on the
 * numbers, and sorted again.  Where they are long enough, by Leighton's columnsort: of s pieces of r
 * elements, 2 (s - 1)^2 <= r, seen as the columns of a matrix,
 *
 *     sort columns; read by columns, write by rows; sort; read by rows, write by columns; sort;
 *     then sort across each border between two pieces: the upper half of one, the lower of the next
 *
 * Short pieces are sorted pair by pair, s times (odd-even transposition).  Equal elements keep their
 * order: pairs are neighbours, and the columns are sorted with places as the last key.
 *
 * The k greatest of all are among the k greatest of each piece. */
#include "engine/passes/place/place.h"

typedef struct Sorting {
    Node node;
    int dim;
    Tiling tiling;  /* of all arrays */
    int64_t pieces; /* s */
    int64_t extent; /* r: of a piece */
    int n;          /* arrays, places included */
    ValueId *at;    /* a device's pieces of them */
} Sorting;

/* ---- local sorts ---- */

/* The comparator's answer for arguments of the region being made, in this order. */
static ValueId copy_answer(Module *m, RegionId from, RegionId to, int n, const ValueId *args)
{
    Subst map = subst_new(m);
    for (int i = 0; i < n; i++)
        subst_set(&map, region_at(m, from)->args + (ValueId)i, args[i]);
    region_copy_into(m, from, to, &map);
    ValueId answer = subst_get(&map, region_return(m, from)->in[0]);
    subst_free(&map);
    return answer;
}

static ValueId compare_in(Module *m, RegionId r, ValueId a, ValueId b, int direction, int how)
{
    CompareAttrs *attrs = ARENA_NEW(m->arena, CompareAttrs);
    *attrs = (CompareAttrs){ .comparison_direction = direction, .compare_type = how };
    ValueId in[] = { a, b };
    return build_node(m, r, OP_COMPARE, 2, in, type_scalar(I1), attrs, NULL);
}

static ValueId combine_in(Module *m, RegionId r, OpId op, ValueId a, ValueId b)
{
    ValueId in[] = { a, b };
    return build_node(m, r, op, 2, in, type_scalar(I1), NULL, NULL);
}

/* Neither of the two goes first: as one comparison where the answer is one, which code knows to be
 * a key (kernels/comparator.c). */
static ValueId is_tie(Module *m, RegionId from, RegionId to, ValueId answer, int n,
                      const ValueId *args)
{
    const Node *def = node_at(m, value_def(m, answer));
    if (def->op == OP_COMPARE) {
        const CompareAttrs *attrs = def->attrs;
        return compare_in(m, to, def->in[0], def->in[1], EQ, attrs->compare_type);
    }
    ValueId *turned = ARENA_ARRAY(m->arena, ValueId, n);
    for (int i = 0; i < n; i++)
        turned[i] = args[i ^ 1];
    ValueId after = copy_answer(m, from, to, n, turned);
    return build_node(m, to, OP_NOT, 1, &after, type_scalar(I1), NULL, NULL);
}

/* before(x, y) or neither and place(x) < place(y). */
static RegionId with_places(Module *m, RegionId from, Element place)
{
    int n = region_at(m, from)->nargs;
    Type *types = ARENA_ARRAY(m->arena, Type, n + 2);
    ValueId *args = ARENA_ARRAY(m->arena, ValueId, n + 2);
    for (int i = 0; i < n; i++)
        types[i] = type_of(m, region_at(m, from)->args + (ValueId)i);
    types[n] = types[n + 1] = type_scalar(place);
    RegionId to = region_new(m, 0, n + 2, types);
    for (int i = 0; i < n + 2; i++)
        args[i] = region_at(m, to)->args + (ValueId)i;
    ValueId before = copy_answer(m, from, to, n, args);
    ValueId tie = is_tie(m, from, to, before, n, args);
    ValueId place_before = compare_in(m, to, args[n], args[n + 1], LT, COMPARE_NOTYPE);
    ValueId answer = combine_in(m, to, OP_OR, before, combine_in(m, to, OP_AND, tie, place_before));
    build_return(m, to, 1, &answer, NULL);
    return to;
}

/* The arrays `in`, sorted along the dimension, are written to `out`. */
static void sort_local(Placer *z, const Sorting *s, const ValueId *in, ValueId *out)
{
    Module *m = z->m;
    Type *types = ARENA_ARRAY(m->arena, Type, s->n);
    for (int i = 0; i < s->n; i++)
        types[i] = type_of(m, in[i]);
    RegionId region = s->n == s->node.nin
                          ? region_copy(m, s->node.regions[0], 0, &z->shards)
                          : with_places(m, s->node.regions[0], types[s->n - 1].element);
    NodeId n = node_new(m, OP_SORT, s->n, in, s->n, types, 1, &region, s->node.attrs, s->node.loc);
    region_append(m, z->to, n);
    for (int i = 0; i < s->n; i++)
        out[i] = node_at(m, n)->out + (ValueId)i;
}

/* ---- exchanges ---- */

/* Of array i: so many elements from starts[tile] on, for the tile that the device has. */
static ValueId fetch_line(Placer *z, const Sorting *s, ValueId own, int64_t extent,
                          const int64_t *starts)
{
    Tiling t = s->tiling;
    Type piece = type_of(z->m, own);
    int64_t *dims = ARENA_ARRAY(z->m->arena, int64_t, t.rank);
    int64_t *at = ARENA_ARRAY(z->scratch, int64_t, z->ndevices * t.rank);
    for (int d = 0; d < t.rank; d++) {
        dims[d] = d == s->dim ? extent : piece.dims[d];
        for (int k = 0; k < z->ndevices; k++) {
            int64_t tile = t.tile_of[k * t.rank + d];
            at[k * t.rank + d] = d == s->dim ? starts[tile] : tile * dims[d];
        }
    }
    Type box = { piece.element, t.rank, dims };
    return fetch_box(z, own, t, box, at, 0, s->node.loc);
}

/* Is the device's tile along the dimension one of those that `is_so` says? */
static ValueId own_flag(Placer *z, const Sorting *s, const bool *is_so)
{
    bool *flags = ARENA_ARRAY(z->m->arena, bool, z->ndevices);
    for (int k = 0; k < z->ndevices; k++)
        flags[k] = is_so[s->tiling.tile_of[k * s->tiling.rank + s->dim]];
    return build_own(z, I1, flags);
}

static ValueId slice_along(Placer *z, int dim, ValueId from, ValueId start, int64_t extent)
{
    Type t = type_of(z->m, from);
    int64_t dims[MAX_RANK];
    ValueId starts[MAX_RANK];
    for (int d = 0; d < t.rank; d++) {
        dims[d] = d == dim ? extent : t.dims[d];
        starts[d] = d == dim ? start : build_number(z, 0);
    }
    return build_dynamic_slice(z, from, starts, type_new(z->m->arena, t.element, t.rank, dims));
}

/* Pieces with those to their right (round even) or to their left (odd): each keeps its half. */
static void sort_pairs(Placer *z, Sorting *s, int64_t round)
{
    int64_t *starts = ARENA_ARRAY(z->scratch, int64_t, s->pieces);
    int64_t *half = ARENA_ARRAY(z->m->arena, int64_t, z->ndevices);
    bool *is_paired = ARENA_ARRAY(z->scratch, bool, s->pieces);
    ValueId *both = ARENA_ARRAY(z->m->arena, ValueId, s->n);
    for (int64_t i = 0; i < s->pieces; i++) {
        int64_t first = i - ((i ^ round) & 1);
        is_paired[i] = first >= 0 && first + 1 < s->pieces;
        starts[i] = first * s->extent;
    }
    for (int k = 0; k < z->ndevices; k++) {
        int64_t tile = s->tiling.tile_of[k * s->tiling.rank + s->dim];
        half[k] = ((tile ^ round) & 1) * s->extent;
    }
    for (int i = 0; i < s->n; i++)
        both[i] = fetch_line(z, s, s->at[i], 2 * s->extent, starts);
    sort_local(z, s, both, both);
    ValueId start = build_own(z, I64, half), is_own = own_flag(z, s, is_paired);
    for (int i = 0; i < s->n; i++)
        s->at[i] =
            build_select(z, is_own, slice_along(z, s->dim, both[i], start, s->extent), s->at[i]);
}

/* Read by columns, written by rows, or the way back. */
static void transpose_pieces(Placer *z, Sorting *s, bool is_back)
{
    for (int i = 0; i < s->n; i++) {
        Type piece = type_of(z->m, s->at[i]);
        ValueId other = exchange_matrix(z, s->at[i], s->tiling, s->dim, s->extent, s->pieces,
                                        !is_back, s->node.loc);
        s->at[i] = build_reshape(z, other, piece);
    }
}

/* Positions along the dimension of an array so long, that is in the lower half of a piece. */
static ValueId is_in_half(Placer *z, const Sorting *s, Type t)
{
    t.element = I64;
    IotaAttrs *iota = ARENA_NEW(z->m->arena, IotaAttrs);
    iota->iota_dimension = s->dim;
    BroadcastAttrs *nowhere = ARENA_NEW(z->m->arena, BroadcastAttrs);
    *nowhere = (BroadcastAttrs){ 0 };
    ValueId half = build_number(z, s->extent / 2);
    half = build_node(z->m, z->to, OP_BROADCAST, 1, &half, t, nowhere, NULL);
    return build_compare(z, build_node(z->m, z->to, OP_IOTA, 0, NULL, t, iota, NULL), half, LT);
}

/* Sorted across each border; the first half of all and the last are right already. */
static void sort_borders(Placer *z, Sorting *s)
{
    int64_t *starts = ARENA_ARRAY(z->scratch, int64_t, s->pieces), half = s->extent / 2;
    bool *is_first = ARENA_ARRAY(z->scratch, bool, s->pieces);
    bool *is_last = ARENA_ARRAY(z->scratch, bool, s->pieces);
    ValueId *across = ARENA_ARRAY(z->m->arena, ValueId, s->n);
    is_first[0] = is_last[s->pieces - 1] = true;
    for (int64_t i = 0; i < s->pieces; i++)
        starts[i] = i * s->extent - half;
    for (int i = 0; i < s->n; i++)
        across[i] = fetch_line(z, s, s->at[i], s->extent, starts);
    sort_local(z, s, across, across);
    for (int64_t i = 0; i < s->pieces; i++)
        starts[i] = i * s->extent + half;
    ValueId is_lower = is_in_half(z, s, type_of(z->m, across[0]));
    ValueId first = own_flag(z, s, is_first), last = own_flag(z, s, is_last);
    for (int i = 0; i < s->n; i++) {
        ValueId back = fetch_line(z, s, across[i], s->extent, starts);
        ValueId low = build_select(z, first, s->at[i], back);
        ValueId high = build_select(z, last, s->at[i], back);
        s->at[i] = build_select(z, is_lower, low, high);
    }
}

/* ---- which way ---- */

static bool is_long(const Sorting *s)
{
    int64_t least = 2 * (s->pieces - 1) * (s->pieces - 1);
    return s->extent >= least && s->extent % s->pieces == 0 && s->extent % 2 == 0;
}

/* Where the device's piece begins, in an array of type t. */
static ValueId spread_start(Placer *z, const Sorting *s, Type t)
{
    BroadcastAttrs *nowhere = ARENA_NEW(z->m->arena, BroadcastAttrs);
    *nowhere = (BroadcastAttrs){ 0 };
    Tiling whole = tiling_replicated(z->scratch, t.rank, z->ndevices);
    ValueId start = tile_start(z, whole, s->tiling, s->dim, s->extent);
    Type one = type_scalar(t.element);
    start = build_node(z->m, z->to, OP_CONVERT, 1, &start, one, NULL, NULL);
    return build_node(z->m, z->to, OP_BROADCAST, 1, &start, t, nowhere, NULL);
}

/* Where each element stands in the whole: equal elements are told apart by it. */
static ValueId own_places(Placer *z, const Sorting *s)
{
    Type t = type_of(z->m, s->at[0]);
    t.element = s->extent * s->pieces <= INT32_MAX ? I32 : I64;
    IotaAttrs *iota = ARENA_NEW(z->m->arena, IotaAttrs);
    iota->iota_dimension = s->dim;
    ValueId places = build_node(z->m, z->to, OP_IOTA, 0, NULL, t, iota, NULL);
    return build_two(z, OP_ADD, places, spread_start(z, s, t));
}

/* Equal integers alone cannot be told apart. */
static bool needs_places(const Placer *z, const Sorting *s)
{
    Element e = type_of(z->m, s->at[0]).element;
    return s->node.nin > 1 || element_info[e].kind == FLOAT || element_info[e].kind == COMPLEX;
}

static void sort_columns(Placer *z, Sorting *s)
{
    if (needs_places(z, s)) {
        s->at[s->n] = own_places(z, s);
        s->n++;
    }
    sort_local(z, s, s->at, s->at);
    transpose_pieces(z, s, false);
    sort_local(z, s, s->at, s->at);
    transpose_pieces(z, s, true);
    sort_local(z, s, s->at, s->at);
    sort_borders(z, s);
}

static void place_sort(Placer *z, NodeId n, const Placement *p)
{
    Sorting s = { .node = *node_at(z->m, n), .tiling = p->results[0] };
    int64_t dim = ((const SortAttrs *)s.node.attrs)->dimension;
    s.dim = (int)(dim < 0 ? dim + s.tiling.rank : dim);
    s.pieces = s.tiling.tiles[s.dim];
    s.n = s.node.nin;
    s.at = ARENA_ARRAY(z->m->arena, ValueId, s.n + 1);
    for (int i = 0; i < s.n; i++)
        s.at[i] = shard_move(z, s.node.in[i], s.tiling);
    s.extent = type_of(z->m, s.at[0]).dims[s.dim];
    if (is_long(&s)) {
        sort_columns(z, &s);
    } else {
        sort_local(z, &s, s.at, s.at);
        for (int64_t round = 0; round < s.pieces; round++)
            sort_pairs(z, &s, round);
    }
    for (int i = 0; i < s.node.nin; i++)
        subst_set(&z->shards, s.node.out + (ValueId)i, s.at[i]);
}

/* The first array that is cut along the dimension says how all lie. */
bool infer_sort(Placer *z, NodeId n, Placement *p)
{
    const Node *node = node_at(z->m, n);
    if (node->op != OP_SORT)
        return false;
    Type t = type_of(z->m, node->in[0]);
    int64_t dim = ((const SortAttrs *)node->attrs)->dimension;
    int from = 0;
    dim += dim < 0 ? t.rank : 0;
    while (from < node->nin && z->tilings[node->in[from]].tiles[dim] == 1)
        from++;
    if (from == node->nin || type_count(t) == 0 || t.rank >= MAX_RANK)
        return false;
    *p = (Placement){ .results = ARENA_ARRAY(z->scratch, Tiling, node->nout),
                      .wants = ARENA_ARRAY(z->scratch, Tiling, node->nin),
                      .is_piecewise = true,
                      .place = place_sort };
    for (int i = 0; i < node->nin; i++)
        p->results[i] = p->wants[i] = z->tilings[node->in[from]];
    return true;
}

/* ---- top_k ---- */

/* An element of each line of `from` for each of the indices. */
static ValueId take_along_lines(Placer *z, ValueId from, ValueId indices)
{
    Arena *arena = z->m->arena;
    Type t = type_of(z->m, from), result = type_of(z->m, indices);
    int64_t *numbers = ARENA_ARRAY(arena, int64_t, t.rank);
    int64_t *ones = ARENA_ARRAY(arena, int64_t, t.rank);
    for (int d = 0; d < t.rank; d++) {
        numbers[d] = d;
        ones[d] = 1;
    }
    GatherAttrs *g = ARENA_NEW(arena, GatherAttrs);
    *g = (GatherAttrs){ .collapsed_slice_dims = { 1, &numbers[t.rank - 1] },
                        .start_index_map = { 1, &numbers[t.rank - 1] },
                        .operand_batching_dims = { t.rank - 1, numbers },
                        .start_indices_batching_dims = { t.rank - 1, numbers },
                        .index_vector_dim = t.rank,
                        .slice_sizes = { t.rank, ones } };
    result.element = t.element;
    ValueId in[] = { from, indices };
    return build_node(z->m, z->to, OP_GATHER, 2, in, result, g, NULL);
}

static void build_top_k(Placer *z, const Node *node, ValueId from, ValueId *out)
{
    Module *m = z->m;
    Type t = type_of(m, from);
    int64_t dims[MAX_RANK];
    for (int d = 0; d < t.rank; d++)
        dims[d] = d + 1 < t.rank ? t.dims[d] : ((const TopKAttrs *)node->attrs)->k;
    Type types[] = { type_new(m->arena, t.element, t.rank, dims),
                     type_new(m->arena, I32, t.rank, dims) };
    NodeId n = node_new(m, OP_TOP_K, 1, &from, 2, types, 0, NULL, node->attrs, node->loc);
    region_append(m, z->to, n);
    out[0] = node_at(m, n)->out;
    out[1] = node_at(m, n)->out + 1;
}

static void place_top_k(Placer *z, NodeId n, const Placement *p)
{
    Node node = *node_at(z->m, n);
    Sorting s = { .node = node, .tiling = p->wants[0], .dim = p->wants[0].rank - 1 };
    ValueId own = shard_move(z, node.in[0], s.tiling), best[2], found[2];
    s.pieces = s.tiling.tiles[s.dim];
    s.extent = type_of(z->m, own).dims[s.dim];
    build_top_k(z, &node, own, best);
    best[1] = build_two(z, OP_ADD, best[1], spread_start(z, &s, type_of(z->m, best[1])));
    for (int i = 0; i < 2; i++)
        best[i] = gather_along(z, best[i], s.tiling, s.dim, node.loc);
    build_top_k(z, &node, best[0], found);
    subst_set(&z->shards, node.out, found[0]);
    subst_set(&z->shards, node.out + 1, take_along_lines(z, best[1], found[1]));
}

bool infer_top_k(Placer *z, NodeId n, Placement *p)
{
    const Node *node = node_at(z->m, n);
    if (node->op != OP_TOP_K)
        return false;
    Tiling t = z->tilings[node->in[0]];
    int64_t extent = type_of(z->m, node->in[0]).dims[t.rank - 1] / t.tiles[t.rank - 1];
    int64_t k = ((const TopKAttrs *)node->attrs)->k;
    if (t.tiles[t.rank - 1] == 1 || k > extent || k == 0)
        return false;
    Pick picks[MAX_RANK] = { 0 };
    bool dropped;
    for (int d = 0; d + 1 < t.rank; d++)
        picks[d] = (Pick){ &t, d, 0 };
    *p = (Placement){ .results = ARENA_ARRAY(z->scratch, Tiling, 2),
                      .wants = ARENA_ARRAY(z->scratch, Tiling, 1),
                      .is_piecewise = true,
                      .place = place_top_k };
    p->wants[0] = t;
    p->results[0] = p->results[1] =
        tiling_pick(z->scratch, type_of(z->m, node->out), z->ndevices, picks, false, &dropped);
    return true;
}
