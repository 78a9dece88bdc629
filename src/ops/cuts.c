/* cuts.c - the factors of each operation: the rules that column `cuts` of ops.def names. */
#include "ops/cuts.h"

#include "base/arena.h"
#include "ops/call.h"
#include "ops/shape.h"

CutRule *const cut_rules[OP_COUNT] = {
#define cuts_none NULL
#define OP(id, name, arity, attrs, kind, flow, effect, in_place, cost, cuts, ...)                  \
    [OP_##id] = cuts_##cuts,
#include "ops/ops.def"
};
#undef cuts_none

static int *no_factors(Arena *arena, int rank)
{
    int *list = ARENA_ARRAY(arena, int, rank + 1);
    for (int i = 0; i < rank; i++)
        list[i] = NO_FACTOR;
    return list;
}

Factors factors_find(Arena *arena, OpId op, int nin, const Type *in, int nout, const Type *out,
                     const void *attrs)
{
    Factors f = { .nin = nin, .nout = nout, .in = in, .out = out, .attrs = attrs };
    int room = 0;
    f.of_in = ARENA_ARRAY(arena, int *, nin + 1);
    f.of_out = ARENA_ARRAY(arena, int *, nout + 1);
    for (int i = 0; i < nin; i++) {
        f.of_in[i] = no_factors(arena, in[i].rank);
        room += in[i].rank;
    }
    for (int i = 0; i < nout; i++) {
        f.of_out[i] = no_factors(arena, out[i].rank);
        room += out[i].rank;
    }
    f.kind = ARENA_ARRAY(arena, FactorKind, room + 1);
    if (cut_rules[op])
        cut_rules[op](&f);
    return f;
}

static int factor_add(Factors *f, FactorKind kind)
{
    f->kind[f->n] = kind;
    return f->n++;
}

static FactorKind free_if(bool is_free)
{
    return is_free ? FACTOR_FREE : FACTOR_WHOLE;
}

/* Dimension d of operand k is dimension e of every result. */
static void link_dims(Factors *f, int k, int d, int e, FactorKind kind)
{
    int factor = factor_add(f, kind);
    f->of_in[k][d] = factor;
    for (int i = 0; i < f->nout; i++)
        f->of_out[i][e] = factor;
}

static FactorKind free_or_window(bool is_free)
{
    return is_free ? FACTOR_FREE : FACTOR_WINDOW;
}

/* The first nin operands, where they have the results' rank, have the results' dimensions; those in
 * `others` are of another kind. */
static void link_same(Factors *f, int nin, Ints others, FactorKind kind)
{
    int rank = f->out[0].rank;
    for (int d = 0; d < rank; d++) {
        int factor = factor_add(f, ints_find(others, d) < 0 ? FACTOR_FREE : kind);
        for (int k = 0; k < nin; k++)
            if (f->in[k].rank == rank)
                f->of_in[k][d] = factor;
        for (int i = 0; i < f->nout; i++)
            f->of_out[i][d] = factor;
    }
}

/* ---- elementwise, and along one dimension ---- */

void cuts_elementwise(Factors *f)
{
    link_same(f, f->nin, (Ints){ 0, NULL }, FACTOR_FREE);
}

void cuts_reverse(Factors *f)
{
    link_same(f, 1, ((const DimensionsAttrs *)f->attrs)->dimensions, FACTOR_WINDOW);
}

void cuts_concatenate(Factors *f)
{
    int64_t along = ((const DimensionAttrs *)f->attrs)->dimension;
    link_same(f, f->nin, (Ints){ 1, &along }, FACTOR_WINDOW);
}

void cuts_sort(Factors *f)
{
    int64_t along = ((const SortAttrs *)f->attrs)->dimension;
    along += along < 0 ? f->out[0].rank : 0;
    link_same(f, f->nin, (Ints){ 1, &along }, FACTOR_WHOLE);
}

void cuts_top_k(Factors *f)
{
    for (int d = 0; d + 1 < f->in[0].rank; d++)
        link_dims(f, 0, d, d, FACTOR_FREE);
}

/* The last dimensions are transformed; those before them are a batch. */
void cuts_fft(Factors *f)
{
    int rank = f->in[0].rank, first = rank - ((const FftAttrs *)f->attrs)->fft_length.n;
    for (int d = 0; d < rank; d++)
        if (f->in[0].dims[d] == f->out[0].dims[d])
            link_dims(f, 0, d, d, free_if(d < first));
}

/* Batches of matrices. */
void cuts_matrices(Factors *f)
{
    for (int d = 0; d + 2 < f->in[0].rank; d++) {
        link_dims(f, 0, d, d, FACTOR_FREE);
        for (int k = 1; k < f->nin; k++)
            f->of_in[k][d] = f->n - 1;
    }
}

static bool begins_as(Type t, Type first, int n)
{
    bool is_so = t.rank >= n;
    for (int d = 0; is_so && d < n; d++)
        is_so = t.dims[d] == first.dims[d];
    return is_so;
}

/* Routines of LAPACK take batches too: all operands and results begin with the batch's dimensions. */
void cuts_custom_call(Factors *f)
{
    Str name = ((const CustomCallAttrs *)f->attrs)->call_target_name;
    int one = f->nin ? call_rank_of_one(name, f->in[0].element) : -1;
    int batch = one < 0 ? 0 : f->in[0].rank - one;
    for (int k = 0; k < f->nin; k++)
        batch = begins_as(f->in[k], f->in[0], batch) ? batch : 0;
    for (int k = 0; k < f->nout; k++)
        batch = begins_as(f->out[k], f->in[0], batch) ? batch : 0;
    for (int d = 0; d < batch; d++) {
        link_dims(f, 0, d, d, FACTOR_FREE);
        for (int k = 1; k < f->nin; k++)
            f->of_in[k][d] = f->n - 1;
    }
}

/* Result i carries on what operand i began. */
void cuts_each(Factors *f)
{
    for (int k = 0; k < f->nin; k++)
        for (int d = 0; d < f->in[k].rank; d++)
            f->of_in[k][d] = f->of_out[k][d] = factor_add(f, FACTOR_WHOLE);
}

/* ---- moving elements ---- */

void cuts_broadcast(Factors *f)
{
    Ints dims = ((const BroadcastAttrs *)f->attrs)->broadcast_dimensions;
    for (int d = 0; d < f->in[0].rank; d++)
        if (f->in[0].dims[d] == f->out[0].dims[dims.at[d]])
            link_dims(f, 0, d, (int)dims.at[d], FACTOR_FREE);
}

void cuts_transpose(Factors *f)
{
    Ints perm = ((const TransposeAttrs *)f->attrs)->permutation;
    for (int e = 0; e < perm.n; e++)
        link_dims(f, 0, (int)perm.at[e], e, FACTOR_FREE);
}

/* Ranges of dimensions with equal products correspond; in each, the outermost one (that is not
 * of extent 1) of either side may be cut, since the tiles then are the same elements. */
void cuts_reshape(Factors *f)
{
    Type from = f->in[0], to = f->out[0];
    if (!type_is_static(from) || !type_is_static(to) || type_count(from) == 0)
        return;
    for (int d = 0, e = 0; d < from.rank && e < to.rank;) {
        if (from.dims[d] == 1 || to.dims[e] == 1) {
            d += from.dims[d] == 1;
            e += to.dims[e] == 1;
            continue;
        }
        link_dims(f, 0, d, e, FACTOR_FREE);
        int64_t a = from.dims[d++], b = to.dims[e++];
        while (a != b)
            if (a < b)
                a *= from.dims[d++];
            else
                b *= to.dims[e++];
    }
}

void cuts_bitcast(Factors *f)
{
    for (int d = 0; d < f->in[0].rank && d < f->out[0].rank; d++)
        link_dims(f, 0, d, d, FACTOR_FREE);
}

/* A dimension that is as long as before is taken as it lies. */
void cuts_slice(Factors *f)
{
    for (int d = 0; d < f->in[0].rank; d++)
        link_dims(f, 0, d, d, free_or_window(f->in[0].dims[d] == f->out[0].dims[d]));
}

void cuts_pad(Factors *f)
{
    const PadAttrs *pad = f->attrs;
    for (int d = 0; d < f->in[0].rank; d++)
        link_dims(f, 0, d, d,
                  free_or_window(!pad->edge_padding_low.at[d] && !pad->edge_padding_high.at[d] &&
                                 !pad->interior_padding.at[d]));
}

/* The update replaces a part of operand 0; where it is as long, it lies alike. */
void cuts_update(Factors *f)
{
    for (int d = 0; d < f->in[0].rank; d++) {
        bool is_full = f->in[1].dims[d] == f->in[0].dims[d];
        link_dims(f, 0, d, d, free_if(is_full));
        if (is_full)
            f->of_in[1][d] = f->n - 1;
    }
}

/* ---- by indices ---- */

/* The dimensions of an array of indices are those of the result that are not in windows, in order, but
 * for the one along which an index lies. */
static void link_index_dims(Factors *f, int k, int64_t vector, int **other, Ints windows, int rank,
                            FactorKind kind)
{
    int e = 0;
    for (int d = 0; d < f->in[k].rank; d++) {
        if (d == vector)
            continue;
        while (e < rank && ints_find(windows, e) >= 0)
            e++;
        f->of_in[k][d] = (*other)[e++] = factor_add(f, kind);
    }
}

/* Batching dimensions belong to those of the indices. */
static void link_batching(Factors *f, int k, Ints operand, Ints indices)
{
    for (int i = 0; i < operand.n; i++)
        f->of_in[0][operand.at[i]] = f->of_in[k][indices.at[i]];
}

/* Dimensions of the operand taken in full stay as they lie; so do those of the indices.  Along a
 * dimension of which one element is taken by its index, the device that has it gives it: a sum with
 * one summand. */
void cuts_gather(Factors *f)
{
    const GatherAttrs *g = f->attrs;
    int offset = 0;
    link_index_dims(f, 1, g->index_vector_dim, &f->of_out[0], g->offset_dims, f->out[0].rank,
                    FACTOR_FREE);
    link_batching(f, 1, g->operand_batching_dims, g->start_indices_batching_dims);
    for (int d = 0; d < f->in[0].rank; d++) {
        if (ints_find(g->operand_batching_dims, d) >= 0)
            continue;
        if (ints_find(g->collapsed_slice_dims, d) >= 0) {
            if (ints_find(g->start_index_map, d) >= 0)
                f->of_in[0][d] = factor_add(f, FACTOR_SUMMED);
            continue;
        }
        int e = (int)g->offset_dims.at[offset++];
        if (g->slice_sizes.at[d] == f->in[0].dims[d])
            link_dims(f, 0, d, e, FACTOR_FREE);
    }
}

/* Updates are summed, each device's into the operand; a dimension of which one element is changed by
 * its index may be cut, since updates beyond it change nothing. */
void cuts_scatter(Factors *f)
{
    const ScatterAttrs *s = f->attrs;
    int n = f->nout, update = n + 1, window = 0;
    link_index_dims(f, n, s->index_vector_dim, &f->of_in[update], s->update_window_dims,
                    f->in[update].rank, FACTOR_SUMMED);
    for (int i = 0; i < s->scatter_indices_batching_dims.n; i++)
        f->kind[f->of_in[n][s->scatter_indices_batching_dims.at[i]]] = FACTOR_FREE;
    link_batching(f, n, s->input_batching_dims, s->scatter_indices_batching_dims);
    for (int d = 0; d < f->in[0].rank; d++) {
        if (ints_find(s->input_batching_dims, d) >= 0)
            continue;
        bool is_inserted = ints_find(s->inserted_window_dims, d) >= 0;
        int e = is_inserted ? -1 : (int)s->update_window_dims.at[window++];
        bool is_chosen = is_inserted && ints_find(s->scatter_dims_to_operand_dims, d) >= 0;
        bool is_full = !is_inserted && f->in[update].dims[e] == f->in[0].dims[d];
        f->of_in[0][d] = factor_add(f, free_if(is_chosen || is_full));
        if (is_full)
            f->of_in[update][e] = f->of_in[0][d];
    }
    for (int d = 0; d < f->in[0].rank; d++)
        for (int k = 0; k < n; k++)
            f->of_in[k][d] = f->of_out[k][d] = f->of_in[0][d];
    for (int k = 1; k < n; k++)
        for (int e = 0; e < f->in[update].rank; e++)
            f->of_in[update + k][e] = f->of_in[update][e];
}

/* ---- combining elements ---- */

void cuts_reduce(Factors *f)
{
    Ints gone = ((const DimensionsAttrs *)f->attrs)->dimensions;
    int e = 0;
    for (int d = 0; d < f->in[0].rank; d++) {
        bool is_gone = ints_find(gone, d) >= 0;
        int factor = factor_add(f, is_gone ? FACTOR_SUMMED : FACTOR_FREE);
        for (int k = 0; k < f->nin / 2; k++)
            f->of_in[k][d] = factor;
        for (int k = 0; k < f->nout && !is_gone; k++)
            f->of_out[k][e] = factor;
        e += !is_gone;
    }
}

/* Batch dimensions, then what is left of the first operand, then of the second. */
void cuts_dot(Factors *f)
{
    const DotAttrs *a = f->attrs;
    int e = 0;
    for (int i = 0; i < a->lhs_batching_dimensions.n; i++, e++) {
        link_dims(f, 0, (int)a->lhs_batching_dimensions.at[i], e, FACTOR_FREE);
        f->of_in[1][a->rhs_batching_dimensions.at[i]] = f->n - 1;
    }
    for (int i = 0; i < a->lhs_contracting_dimensions.n; i++) {
        int factor = factor_add(f, FACTOR_SUMMED);
        f->of_in[0][a->lhs_contracting_dimensions.at[i]] = factor;
        f->of_in[1][a->rhs_contracting_dimensions.at[i]] = factor;
    }
    for (int k = 0; k < 2; k++)
        for (int d = 0; d < f->in[k].rank; d++)
            if (f->of_in[k][d] == NO_FACTOR)
                link_dims(f, k, d, e++, FACTOR_FREE);
}

/* Along dimension d the windows stand side by side and cover all of the `whole` elements: those of a
 * piece are in a piece. */
static bool windows_divide(const WindowAttrs *w, int d, int64_t whole, int64_t windows)
{
    int64_t size = w->window_dimensions.n ? w->window_dimensions.at[d] : 1;
    int64_t stride = w->window_strides.n ? w->window_strides.at[d] : 1;
    return size == stride && whole == windows * stride &&
           (!w->base_dilations.n || w->base_dilations.at[d] == 1) &&
           (!w->window_dilations.n || w->window_dilations.at[d] == 1) &&
           (!w->padding.rows || (!w->padding.at[2 * d] && !w->padding.at[2 * d + 1]));
}

void cuts_window(Factors *f)
{
    for (int d = 0; d < f->in[0].rank; d++) {
        link_dims(f, 0, d, d,
                  free_or_window(windows_divide(f->attrs, d, f->in[0].dims[d], f->out[0].dims[d])));
        for (int k = 1; k < f->nin / 2; k++)
            f->of_in[k][d] = f->n - 1;
    }
}

/* Operand 0 and the result have elements, operand 1 has one for each window. */
void cuts_select_scatter(Factors *f)
{
    for (int d = 0; d < f->in[0].rank; d++) {
        link_dims(f, 0, d, d,
                  free_if(windows_divide(f->attrs, d, f->in[0].dims[d], f->in[1].dims[d])));
        f->of_in[1][d] = f->n - 1;
    }
}

void cuts_convolution(Factors *f)
{
    const ConvolutionAttrs *c = f->attrs;
    if (c->batch_group_count != 1 || c->feature_group_count != 1)
        return;
    link_dims(f, 0, (int)c->input_batch_dimension, (int)c->output_batch_dimension, FACTOR_FREE);
    link_dims(f, 1, (int)c->kernel_output_feature_dimension, (int)c->output_feature_dimension,
              FACTOR_FREE);
    int feature = factor_add(f, FACTOR_SUMMED);
    f->of_in[0][c->input_feature_dimension] = feature;
    f->of_in[1][c->kernel_input_feature_dimension] = feature;
    for (int i = 0; i < c->input_spatial_dimensions.n; i++) {
        link_dims(f, 0, (int)c->input_spatial_dimensions.at[i],
                  (int)c->output_spatial_dimensions.at[i], FACTOR_WINDOW);
        f->of_in[1][c->kernel_spatial_dimensions.at[i]] = factor_add(f, FACTOR_WINDOW);
    }
}
