/* propagate.c - how the results of an operation lie on devices, given how its operands do.
 *
 * In go a node and its operands' tilings; out come its results' tilings, and whether each
 * device could compute its piece from the pieces it has.  The idea is that every dimension of
 * an operand or result belongs to a factor of the operation's loop nest:
 *
 *   dot [m,k] x [k,n] -> [m,n]       factor  lhs  rhs  result
 *                                    m       0    -    0       free
 *                                    n       -    1    1       free
 *                                    k       1    0    -       bound: needs all of it at once
 *
 * A factor takes its cut from the operands that are cut there: the finest, or none where they
 * contradict one another.  A free factor may be cut
 * and every piece computed alone.  A bound one (the dimension that a sort orders, a sum runs
 * over, a concatenation joins) may not; if it has a place in the result, the result is cut
 * there all the same, after the whole was computed.  Dimensions without a factor are whole in
 * the result.  This gives the choices that XLA makes, and so the ones that JAX's users see. */
#include "engine/passes/place/propagate.h"

#include "base/guard.h"

#include <string.h>

/* ---- tilings by dimension ---- */

/* Does some device hold each of the tiles? */
static bool is_covered(const Tiling *t)
{
    int64_t count = 1;
    for (int i = 0; i < t->rank; i++)
        if ((count *= t->tiles[i]) > t->ndevices)
            return false;
    bool *seen = HEAP_ARRAY(bool, count, "a list");
    int64_t held = 0;
    for (int d = 0; d < t->ndevices; d++) {
        int64_t at = 0;
        for (int i = 0; i < t->rank; i++)
            at = at * t->tiles[i] + t->tile_of[d * t->rank + i];
        held += !seen[at];
        seen[at] = true;
    }
    heap_free(seen);
    return held == count;
}

Tiling tiling_pick(Arena *arena, Type whole, int ndevices, const Pick *picks, bool may_be_uneven,
                   bool *dropped)
{
    int rank = whole.rank;
    int64_t *tiles = ARENA_ARRAY(arena, int64_t, rank);
    int64_t *tile_of = ARENA_ARRAY(arena, int64_t, rank * ndevices);
    Tiling t = { rank, ndevices, tiles, tile_of, 0, NULL };
    int last = 0;
    *dropped = false;
    for (int i = 0; i < rank; i++) {
        tiles[i] = 1;
        last = picks[i].turn > last ? picks[i].turn : last;
    }
    for (int turn = 0; turn <= last; turn++)
        for (int i = 0; i < rank; i++) {
            const Tiling *from = picks[i].from;
            if (!from || picks[i].turn != turn || from->tiles[picks[i].dim] == 1)
                continue;
            tiles[i] = from->tiles[picks[i].dim];
            for (int d = 0; d < ndevices; d++)
                tile_of[d * rank + i] = from->tile_of[d * from->rank + picks[i].dim];
            bool is_even = may_be_uneven || whole.dims[i] % tiles[i] == 0;
            if (is_even && is_covered(&t))
                continue;
            *dropped = true;
            tiles[i] = 1;
            for (int d = 0; d < ndevices; d++)
                tile_of[d * rank + i] = 0;
        }
    return t;
}

Tiling tiling_copy(Arena *arena, Tiling t)
{
    size_t rank = (size_t)t.rank;
    t.tiles = arena_copy(arena, t.tiles, sizeof *t.tiles * rank);
    t.tile_of = arena_copy(arena, t.tile_of, sizeof *t.tile_of * rank * (size_t)t.ndevices);
    return t;
}

Tiling tiling_even(Arena *arena, Type whole, Tiling t)
{
    Pick picks[MAX_RANK];
    bool dropped;
    for (int i = 0; i < t.rank; i++)
        picks[i] = (Pick){ &t, i, 0 };
    return tiling_pick(arena, whole, t.ndevices, picks, false, &dropped);
}

/* Is each tile of b along dimension j within one of a along dimension i? */
static bool is_finer_cut(const Tiling *b, int j, const Tiling *a, int i)
{
    if (b->tiles[j] % a->tiles[i])
        return false;
    int64_t ratio = b->tiles[j] / a->tiles[i];
    for (int d = 0; d < a->ndevices; d++)
        if (a->tile_of[d * a->rank + i] != b->tile_of[d * b->rank + j] / ratio)
            return false;
    return true;
}

bool tiling_refines(Tiling b, Tiling a)
{
    for (int i = 0; i < a.rank; i++)
        if (a.tiles[i] != 1 && !is_finer_cut(&b, i, &a, i))
            return false;
    return true;
}

/* ---- factors ---- */

enum { NO_FACTOR = -1 };

typedef struct Factors {
    const Module *m;
    const Node *node;
    Arena *arena;
    int n, room;
    bool *is_bound;  /* [n] */
    int **in, **out; /* the factor of a dimension of an operand or result */
} Factors;

static Type in_type(const Factors *f, int k)
{
    return type_of(f->m, f->node->in[k]);
}

static Type out_type(const Factors *f, int k)
{
    return type_of(f->m, f->node->out + (uint32_t)k);
}

static int *no_factors(Arena *arena, int rank)
{
    int *list = ARENA_ARRAY(arena, int, rank + 1);
    for (int i = 0; i < rank; i++)
        list[i] = NO_FACTOR;
    return list;
}

static Factors factors_new(const Module *m, Arena *arena, const Node *node)
{
    Factors f = { .m = m, .node = node, .arena = arena };
    f.in = ARENA_ARRAY(arena, int *, node->nin + 1);
    f.out = ARENA_ARRAY(arena, int *, node->nout + 1);
    for (int i = 0; i < node->nin; i++) {
        f.in[i] = no_factors(arena, in_type(&f, i).rank);
        f.room += in_type(&f, i).rank;
    }
    for (int i = 0; i < node->nout; i++) {
        f.out[i] = no_factors(arena, out_type(&f, i).rank);
        f.room += out_type(&f, i).rank;
    }
    f.is_bound = ARENA_ARRAY(arena, bool, f.room + 1);
    return f;
}

static int factor_add(Factors *f, bool is_bound)
{
    f->is_bound[f->n] = is_bound;
    return f->n++;
}

/* Dimension d of operand k is dimension e of every result. */
static void link_dims(Factors *f, int k, int d, int e, bool is_bound)
{
    int factor = factor_add(f, is_bound);
    f->in[k][d] = factor;
    for (int i = 0; i < f->node->nout; i++)
        f->out[i][e] = factor;
}

/* All operands of the results' rank have the results' dimensions; `bound` lists those that
 * are needed whole. */
static void link_same(Factors *f, int nin, Ints bound)
{
    int rank = out_type(f, 0).rank;
    for (int d = 0; d < rank; d++) {
        int factor = factor_add(f, ints_find(bound, d) >= 0);
        for (int k = 0; k < nin; k++)
            if (in_type(f, k).rank == rank)
                f->in[k][d] = factor;
        for (int i = 0; i < f->node->nout; i++)
            f->out[i][d] = factor;
    }
}

static void link_broadcast(Factors *f)
{
    Ints dims = ((const BroadcastAttrs *)f->node->attrs)->broadcast_dimensions;
    Type from = in_type(f, 0), to = out_type(f, 0);
    for (int d = 0; d < from.rank; d++)
        if (from.dims[d] == to.dims[dims.at[d]])
            link_dims(f, 0, d, (int)dims.at[d], false);
}

static void link_transpose(Factors *f)
{
    Ints perm = ((const TransposeAttrs *)f->node->attrs)->permutation;
    for (int e = 0; e < perm.n; e++)
        link_dims(f, 0, (int)perm.at[e], e, false);
}

/* Runs of dimensions with equal products correspond; in each, the outermost one (that is not
 * of extent 1) of either side may be cut, since the tiles then are the same elements. */
static void link_reshape(Factors *f)
{
    Type from = in_type(f, 0), to = out_type(f, 0);
    if (type_count(from) == 0)
        return;
    for (int d = 0, e = 0; d < from.rank && e < to.rank;) {
        if (from.dims[d] == 1 || to.dims[e] == 1) {
            d += from.dims[d] == 1;
            e += e < to.rank && to.dims[e] == 1;
            continue;
        }
        link_dims(f, 0, d, e, false);
        int64_t a = from.dims[d++], b = to.dims[e++];
        while (a != b)
            if (a < b)
                a *= from.dims[d++];
            else
                b *= to.dims[e++];
    }
}

/* Dimension d goes through untouched where keeps[d]; else it is needed whole. */
static void link_kept(Factors *f, const bool *keeps)
{
    for (int d = 0; d < in_type(f, 0).rank; d++)
        link_dims(f, 0, d, d, !keeps[d]);
}

static void link_slice(Factors *f)
{
    bool keeps[MAX_RANK];
    for (int d = 0; d < in_type(f, 0).rank; d++)
        keeps[d] = in_type(f, 0).dims[d] == out_type(f, 0).dims[d];
    link_kept(f, keeps);
}

static void link_pad(Factors *f)
{
    const PadAttrs *pad = f->node->attrs;
    bool keeps[MAX_RANK];
    for (int d = 0; d < in_type(f, 0).rank; d++)
        keeps[d] = !pad->edge_padding_low.at[d] && !pad->edge_padding_high.at[d] &&
                   !pad->interior_padding.at[d];
    link_kept(f, keeps);
}

static void link_reduce(Factors *f)
{
    Ints gone = ((const DimensionsAttrs *)f->node->attrs)->dimensions;
    int e = 0;
    for (int d = 0; d < in_type(f, 0).rank; d++) {
        bool is_gone = ints_find(gone, d) >= 0;
        int factor = factor_add(f, is_gone);
        for (int k = 0; k < f->node->nin / 2; k++)
            f->in[k][d] = factor;
        for (int k = 0; k < f->node->nout && !is_gone; k++)
            f->out[k][e] = factor;
        e += !is_gone;
    }
}

static void link_dot(Factors *f)
{
    const DotAttrs *a = f->node->attrs;
    int e = 0;
    for (int i = 0; i < a->lhs_batching_dimensions.n; i++, e++) {
        link_dims(f, 0, (int)a->lhs_batching_dimensions.at[i], e, false);
        f->in[1][a->rhs_batching_dimensions.at[i]] = f->n - 1;
    }
    for (int i = 0; i < a->lhs_contracting_dimensions.n; i++) {
        int factor = factor_add(f, true);
        f->in[0][a->lhs_contracting_dimensions.at[i]] = factor;
        f->in[1][a->rhs_contracting_dimensions.at[i]] = factor;
    }
    for (int k = 0; k < 2; k++)
        for (int d = 0; d < in_type(f, k).rank; d++)
            if (f->in[k][d] == NO_FACTOR)
                link_dims(f, k, d, e++, false);
}

/* Windows of one element pass; others need their neighbours. */
static void link_window(Factors *f)
{
    const WindowAttrs *w = f->node->attrs;
    for (int d = 0; d < in_type(f, 0).rank; d++) {
        bool is_one = (!w->window_dimensions.n || w->window_dimensions.at[d] == 1) &&
                      (!w->window_strides.n || w->window_strides.at[d] == 1) &&
                      (!w->base_dilations.n || w->base_dilations.at[d] == 1) &&
                      (!w->padding.rows || (!w->padding.at[2 * d] && !w->padding.at[2 * d + 1]));
        link_dims(f, 0, d, d, !is_one);
        for (int k = 1; k < f->node->nin / 2; k++)
            f->in[k][d] = f->n - 1;
    }
}

/* The update replaces a part of operand 0; where it is as long, it lies alike. */
static void link_update(Factors *f)
{
    Type whole = in_type(f, 0), part = in_type(f, 1);
    for (int d = 0; d < whole.rank; d++) {
        bool is_full = part.dims[d] == whole.dims[d];
        link_dims(f, 0, d, d, !is_full);
        if (is_full)
            f->in[1][d] = f->n - 1;
    }
}

/* Dimensions of the operand taken in full stay as they lie; so do those of the indices. */
static void link_gather(Factors *f)
{
    const GatherAttrs *g = f->node->attrs;
    Type operand = in_type(f, 0), indices = in_type(f, 1), to = out_type(f, 0);
    int offset = 0, batch = 0;
    for (int d = 0; d < operand.rank; d++) {
        if (ints_find(g->collapsed_slice_dims, d) >= 0 ||
            ints_find(g->operand_batching_dims, d) >= 0)
            continue;
        int e = (int)g->offset_dims.at[offset++];
        if (g->slice_sizes.at[d] == operand.dims[d])
            link_dims(f, 0, d, e, false);
    }
    if (g->operand_batching_dims.n)
        return;
    for (int d = 0; d < indices.rank; d++) {
        if (d == g->index_vector_dim)
            continue;
        while (batch < to.rank && ints_find(g->offset_dims, batch) >= 0)
            batch++;
        link_dims(f, 1, d, batch++, false);
    }
}

static void link_first(Factors *f)
{
    int64_t all[MAX_RANK];
    int rank = out_type(f, 0).rank;
    for (int d = 0; d < rank; d++)
        all[d] = d;
    link_same(f, 1, (Ints){ rank, all });
}

/* Result i carries on what operand i began. */
static void link_while(Factors *f)
{
    for (int k = 0; k < f->node->nin; k++)
        for (int d = 0; d < in_type(f, k).rank; d++)
            f->in[k][d] = f->out[k][d] = factor_add(f, true);
}

static void link_top_k(Factors *f)
{
    for (int d = 0; d + 1 < in_type(f, 0).rank; d++)
        link_dims(f, 0, d, d, false);
}

static void link_convolution(Factors *f)
{
    const ConvolutionAttrs *c = f->node->attrs;
    if (c->batch_group_count != 1 || c->feature_group_count != 1)
        return;
    link_dims(f, 0, (int)c->input_batch_dimension, (int)c->output_batch_dimension, false);
    link_dims(f, 1, (int)c->kernel_output_feature_dimension, (int)c->output_feature_dimension,
              false);
}

static void link_bitcast(Factors *f)
{
    int a = in_type(f, 0).rank, b = out_type(f, 0).rank;
    for (int d = 0; d < a && d < b; d++)
        link_dims(f, 0, d, d, false);
}

static void link_node(Factors *f)
{
    int64_t one;
    const Node *node = f->node;
    switch (node->op) {
    case OP_BROADCAST: link_broadcast(f); break;
    case OP_TRANSPOSE: link_transpose(f); break;
    case OP_RESHAPE: link_reshape(f); break;
    case OP_BITCAST: link_bitcast(f); break;
    case OP_SLICE:
    case OP_DYNAMIC_SLICE: link_slice(f); break;
    case OP_PAD: link_pad(f); break;
    case OP_REVERSE: link_same(f, 1, ((const DimensionsAttrs *)node->attrs)->dimensions); break;
    case OP_CONCATENATE:
        one = ((const DimensionAttrs *)node->attrs)->dimension;
        link_same(f, node->nin, (Ints){ 1, &one });
        break;
    case OP_SORT:
        one = ((const SortAttrs *)node->attrs)->dimension;
        one += one < 0 ? out_type(f, 0).rank : 0;
        link_same(f, node->nin, (Ints){ 1, &one });
        break;
    case OP_GATHER: link_gather(f); break;
    case OP_DYNAMIC_UPDATE: link_update(f); break;
    case OP_SCATTER:
    case OP_SELECT_SCATTER: link_first(f); break;
    case OP_REDUCE: link_reduce(f); break;
    case OP_REDUCE_WINDOW: link_window(f); break;
    case OP_DOT: link_dot(f); break;
    case OP_CONVOLUTION: link_convolution(f); break;
    case OP_TOP_K: link_top_k(f); break;
    case OP_WHILE: link_while(f); break;
    default:
        if (op_info[node->op].kind == KIND_MAP)
            link_same(f, node->nin, (Ints){ 0, NULL });
    }
}

/* ---- from factors to tilings ---- */

/* What operand k says of the cuts of its factors.  A free factor goes before a bound one. */
static void add_cuts(const Factors *f, int k, const Tiling *t, Pick *cuts, bool *clashes)
{
    for (int d = 0; d < t->rank; d++) {
        int factor = f->in[k][d];
        if (factor == NO_FACTOR || t->tiles[d] == 1)
            continue;
        Pick *cut = &cuts[factor], now = { t, d, f->is_bound[factor] ? f->node->nin + k : k };
        if (!cut->from || is_finer_cut(now.from, now.dim, cut->from, cut->dim))
            *cut = now;
        else if (!is_finer_cut(cut->from, cut->dim, now.from, now.dim))
            clashes[factor] = true;
    }
}

static bool is_broadcast(const Factors *f, int k)
{
    NodeId def = value_def(f->m, f->node->in[k]);
    return def && node_at(f->m, def)->op == OP_BROADCAST;
}

/* The cut of each factor.  Where two factors want the same mesh axis, the one whose operand comes
 * first has it.  What is broadcast can be had as the others would like, so it has no say where
 * they have one. */
static Pick *choose_cuts(const Factors *f, const Tiling *in)
{
    Pick *cuts = ARENA_ARRAY(f->arena, Pick, f->n + 1);
    Pick *weak = ARENA_ARRAY(f->arena, Pick, f->n + 1);
    bool *clashes = ARENA_ARRAY(f->arena, bool, f->n + 1);
    bool *weak_clashes = ARENA_ARRAY(f->arena, bool, f->n + 1);
    for (int k = 0; k < f->node->nin; k++)
        if (is_broadcast(f, k))
            add_cuts(f, k, &in[k], weak, weak_clashes);
        else
            add_cuts(f, k, &in[k], cuts, clashes);
    for (int i = 0; i < f->n; i++)
        if (clashes[i] || (!cuts[i].from && weak_clashes[i]))
            cuts[i] = (Pick){ 0 };
        else if (!cuts[i].from)
            cuts[i] = weak[i];
    return cuts;
}

static Tiling cut_by(const Factors *f, Type whole, const int *factors, const Pick *cuts,
                     int ndevices, bool may_be_uneven, bool *dropped)
{
    Pick picks[MAX_RANK];
    for (int d = 0; d < whole.rank; d++)
        picks[d] = factors[d] == NO_FACTOR ? (Pick){ 0 } : cuts[factors[d]];
    return tiling_pick(f->arena, whole, ndevices, picks, may_be_uneven, dropped);
}

static bool cuts_bound(const Factors *f, const Pick *cuts)
{
    for (int i = 0; i < f->n; i++)
        if (f->is_bound[i] && cuts[i].from)
            return true;
    return false;
}

/* Which of the parts along the bound factors each device has. */
static void number_parts(const Factors *f, const Pick *cuts, int ndevices, Placement *p)
{
    p->nparts = 1;
    p->part_of = ARENA_ARRAY(f->arena, int, ndevices);
    for (int i = 0; i < f->n; i++) {
        const Tiling *t = cuts[i].from;
        if (!f->is_bound[i] || !t)
            continue;
        int64_t tiles = t->tiles[cuts[i].dim];
        p->nparts = (int)(p->nparts * tiles);
        for (int d = 0; d < ndevices; d++)
            p->part_of[d] = (int)(p->part_of[d] * tiles + t->tile_of[d * t->rank + cuts[i].dim]);
    }
}

Placement propagate(const Module *m, Arena *arena, NodeId n, const Tiling *in, int ndevices)
{
    const Node *node = node_at(m, n);
    Factors f = factors_new(m, arena, node);
    Placement p = { .results = ARENA_ARRAY(arena, Tiling, node->nout + 1),
                    .wants = ARENA_ARRAY(arena, Tiling, node->nin + 1) };
    link_node(&f);
    Pick *cuts = choose_cuts(&f, in);
    bool dropped, is_possible = f.n > 0;
    for (int k = 0; k < node->nin; k++) {
        p.wants[k] = cut_by(&f, in_type(&f, k), f.in[k], cuts, ndevices, false, &dropped);
        is_possible = is_possible && !dropped;
    }
    for (int k = 0; k < node->nout; k++) {
        p.results[k] = cut_by(&f, out_type(&f, k), f.out[k], cuts, ndevices, false, &dropped);
        is_possible = is_possible && !dropped;
    }
    p.is_piecewise = is_possible && !cuts_bound(&f, cuts);
    p.is_partial = is_possible && !p.is_piecewise && (node->op == OP_REDUCE || node->op == OP_DOT);
    if (p.is_partial)
        number_parts(&f, cuts, ndevices, &p);
    return p;
}

Tiling *propagate_hints(const Module *m, Arena *arena, NodeId n, const Tiling *in, int ndevices)
{
    const Node *node = node_at(m, n);
    Factors f = factors_new(m, arena, node);
    Tiling *results = ARENA_ARRAY(arena, Tiling, node->nout + 1);
    bool dropped;
    link_node(&f);
    Pick *cuts = choose_cuts(&f, in);
    for (int k = 0; k < node->nout; k++)
        results[k] = cut_by(&f, out_type(&f, k), f.out[k], cuts, ndevices, true, &dropped);
    return results;
}
