/* shape_shorthand.c - the shape rules of operations that stand for others (hlo/define), and tuples. */
#include "ops/shape_util.h"

#include <inttypes.h>
#include <string.h>

/* ---- functions of elements ---- */

bool shape_constant_like(const ShapeQuery *q, Text *why)
{
    if (!expect_counts(q, 1, 1, why))
        return false;
    return expect_result(q, 0, q->stated[0].element, q->in[0].rank, q->in[0].dims, why);
}

bool shape_map(const ShapeQuery *q, Text *why)
{
    if (q->nin < 1 || q->nout != 1 || q->nregions != 1)
        return say(why, "it takes arrays and one region, and gives one array");
    const struct RegionTypes *f = &q->regions[0];
    if (f->nargs != q->nin || f->nresults != 1 || f->results[0].rank != 0)
        return say(why, "its region must take %d scalars and give one", q->nin);
    for (int i = 0; i < q->nin; i++) {
        if (!shape_fits(q->in[i], q->in[0]))
            return say(why, "%s and %s: the operands must have one shape", type_name(q->in[0]),
                       type_name(q->in[i]));
        if (!is_scalar(f->args[i], q->in[i].element))
            return say(why, "argument %d of its region is %s, and a scalar %s is needed", i,
                       type_name(f->args[i]), element_info[q->in[i].element].name);
    }
    Ints dims = ((const DimensionsAttrs *)q->attrs)->dimensions;
    if (!expect_length(dims, q->in[0].rank, "dimensions", why))
        return false;
    for (int i = 0; i < dims.n; i++)
        if (dims.at[i] != i)
            return say(why, "dimensions must be all of them, in order");
    return expect_result(q, 0, f->results[0].element, q->in[0].rank, q->in[0].dims, why);
}

/* ---- normalising ---- */

/* operand; then so many arrays of one number a feature; then whatever is like the operand. */
static bool norm_fits(const ShapeQuery *q, int nin, int nout, int nfeatures, Text *why)
{
    if (!expect_counts(q, nin, nout, why))
        return false;
    const BatchNormAttrs *a = q->attrs;
    Type x = q->in[0];
    if (element_info[x.element].kind != FLOAT)
        return say(why, "%s: its elements must be floating-point", type_name(x));
    if (!expect_dim(a->feature_index, x.rank, "feature_index", why))
        return false;
    Type feature = { x.element, 1, &x.dims[a->feature_index] };
    for (int i = 1; i < nin; i++) {
        Type want = i <= nfeatures ? feature : x;
        if (!type_fits(q->in[i], want))
            return say(why, "operand %d is %s, and must be %s", i, type_name(q->in[i]),
                       type_name(want));
    }
    for (int i = 0; i < nout; i++)
        if (!expect_type(q, i, i ? feature : x, why))
            return false;
    return true;
}

bool shape_batch_norm_inference(const ShapeQuery *q, Text *why)
{
    return norm_fits(q, 5, 1, 4, why);
}

bool shape_batch_norm_training(const ShapeQuery *q, Text *why)
{
    return norm_fits(q, 3, 3, 2, why);
}

bool shape_batch_norm_grad(const ShapeQuery *q, Text *why)
{
    return norm_fits(q, 5, 3, 3, why);
}

/* ---- products and picking ---- */

bool shape_broadcast_before(const ShapeQuery *q, Text *why)
{
    if (!expect_counts(q, 1, 1, why))
        return false;
    Ints sizes = ((const BroadcastBeforeAttrs *)q->attrs)->broadcast_sizes;
    if (sizes.n + q->in[0].rank > MAX_RANK)
        return say(why, "%s with %d more dimensions: at most %d are possible", type_name(q->in[0]),
                   sizes.n, MAX_RANK);
    int64_t dims[MAX_RANK];
    for (int i = 0; i < sizes.n; i++) {
        if (sizes.at[i] < 0)
            return say(why, "broadcast_sizes has a negative extent, %" PRId64, sizes.at[i]);
        dims[i] = sizes.at[i];
    }
    for (int i = 0; i < q->in[0].rank; i++)
        dims[sizes.n + i] = q->in[0].dims[i];
    return expect_result(q, 0, q->in[0].element, sizes.n + q->in[0].rank, dims, why);
}

bool shape_plain_dot(const ShapeQuery *q, Text *why)
{
    if (!expect_counts(q, 2, 1, why))
        return false;
    Type l = q->in[0], r = q->in[1];
    if (l.rank < 1 || l.rank > 2 || r.rank < 1 || r.rank > 2 || l.dims[l.rank - 1] != r.dims[0])
        return say(why,
                   "%s and %s: vectors or matrices are needed, the left's last extent equal to "
                   "the right's first",
                   type_name(l), type_name(r));
    int64_t dims[2];
    int rank = 0;
    if (l.rank == 2)
        dims[rank++] = l.dims[0];
    if (r.rank == 2)
        dims[rank++] = r.dims[1];
    return expect_result(q, 0, q->stated[0].element, rank, dims, why);
}

/* What the letters say of the shapes is the definition's to find out. */
bool shape_einsum(const ShapeQuery *q, Text *why)
{
    return expect_counts(q, 2, 1, why);
}

bool shape_unary_einsum(const ShapeQuery *q, Text *why)
{
    return expect_counts(q, 1, 1, why);
}

bool shape_torch_index_select(const ShapeQuery *q, Text *why)
{
    if (!expect_counts(q, 2, 1, why))
        return false;
    const TorchIndexAttrs *a = q->attrs;
    Type x = q->in[0], index = q->in[1];
    if (!is_integer(index.element))
        return say(why, "the index is %s: it must be integers", type_name(index));
    if (!expect_dim(a->dim, x.rank, "dim", why))
        return false;
    if (a->batch_dims < 0 || a->batch_dims > a->dim || a->batch_dims > index.rank)
        return say(why, "batch_dims is %" PRId64 ", and must be between 0 and dim, %" PRId64,
                   a->batch_dims, a->dim);
    int64_t dims[2 * MAX_RANK];
    int rank = 0;
    for (int i = 0; i < a->dim; i++) {
        if (i < a->batch_dims && x.dims[i] != index.dims[i])
            return say(why, "%s and %s: they must agree in the first %" PRId64 " dimensions",
                       type_name(x), type_name(index), a->batch_dims);
        dims[rank++] = x.dims[i];
    }
    for (int i = (int)a->batch_dims; i < index.rank; i++)
        dims[rank++] = index.dims[i];
    for (int i = (int)a->dim + 1; i < x.rank; i++)
        dims[rank++] = x.dims[i];
    return expect_result(q, 0, x.element, rank, dims, why);
}

/* Batch, free dimensions of the left, of the right; with `groups` in front if they are result. */
static int ragged_result(const ShapeQuery *q, int64_t *dims)
{
    const RaggedDotAttrs *a = q->attrs;
    Type l = q->in[0], r = q->in[1];
    int rank = 0;
    if (ints_find(a->lhs_contracting_dimensions, a->lhs_ragged_dimensions.at[0]) >= 0)
        dims[rank++] = q->in[2].dims[q->in[2].rank - 1];
    for (int i = 0; i < a->lhs_batching_dimensions.n; i++)
        dims[rank++] = l.dims[a->lhs_batching_dimensions.at[i]];
    for (int i = 0; i < l.rank; i++)
        if (ints_find(a->lhs_batching_dimensions, i) < 0 &&
            ints_find(a->lhs_contracting_dimensions, i) < 0)
            dims[rank++] = l.dims[i];
    for (int i = 0; i < r.rank; i++)
        if (ints_find(a->rhs_batching_dimensions, i) < 0 &&
            ints_find(a->rhs_contracting_dimensions, i) < 0 &&
            ints_find(a->rhs_group_dimensions, i) < 0)
            dims[rank++] = r.dims[i];
    return rank;
}

static bool sides_agree(const ShapeQuery *q, Ints left, Ints right, Text *why)
{
    if (left.n != right.n)
        return say(why, "%d dimensions of the left and %d of the right are paired", left.n,
                   right.n);
    for (int i = 0; i < left.n; i++)
        if (q->in[0].dims[left.at[i]] != q->in[1].dims[right.at[i]])
            return say(why,
                       "%s and %s: dimension %" PRId64 " of the left and %" PRId64
                       " of the right must be equal",
                       type_name(q->in[0]), type_name(q->in[1]), left.at[i], right.at[i]);
    return true;
}

bool shape_ragged_dot(const ShapeQuery *q, Text *why)
{
    if (!expect_counts(q, 3, 1, why))
        return false;
    const RaggedDotAttrs *a = q->attrs;
    int l = q->in[0].rank, r = q->in[1].rank;
    if (!expect_dims(a->lhs_batching_dimensions, l, "lhs_batching_dimensions", why) ||
        !expect_dims(a->lhs_contracting_dimensions, l, "lhs_contracting_dimensions", why) ||
        !expect_dims(a->lhs_ragged_dimensions, l, "lhs_ragged_dimensions", why) ||
        !expect_dims(a->rhs_batching_dimensions, r, "rhs_batching_dimensions", why) ||
        !expect_dims(a->rhs_contracting_dimensions, r, "rhs_contracting_dimensions", why) ||
        !expect_dims(a->rhs_group_dimensions, r, "rhs_group_dimensions", why) ||
        !expect_length(a->lhs_ragged_dimensions, 1, "lhs_ragged_dimensions", why) ||
        !sides_agree(q, a->lhs_batching_dimensions, a->rhs_batching_dimensions, why) ||
        !sides_agree(q, a->lhs_contracting_dimensions, a->rhs_contracting_dimensions, why))
        return false;
    int64_t ragged = a->lhs_ragged_dimensions.at[0];
    bool is_free = ints_find(a->lhs_batching_dimensions, ragged) < 0 &&
                   ints_find(a->lhs_contracting_dimensions, ragged) < 0;
    if (!expect_length(a->rhs_group_dimensions, is_free, "rhs_group_dimensions", why))
        return false;
    if (q->in[2].rank < 1 || !is_integer(q->in[2].element))
        return say(why, "the group sizes are %s: they must be a list of integers",
                   type_name(q->in[2]));
    if (is_free && q->in[1].dims[a->rhs_group_dimensions.at[0]] != q->in[2].dims[q->in[2].rank - 1])
        return say(why, "%s and group sizes %s: the right must have one matrix a group",
                   type_name(q->in[1]), type_name(q->in[2]));
    int64_t dims[2 * MAX_RANK];
    return expect_result(q, 0, q->stated[0].element, ragged_result(q, dims), dims, why);
}

/* ---- loops ---- */

/* An array's type without, or with one more, dimension at `at`. */
static bool is_slice(Type slice, Type whole, int64_t at)
{
    if (slice.element != whole.element || slice.rank + 1 != whole.rank || at >= whole.rank)
        return false;
    for (int i = 0; i < slice.rank; i++)
        if (slice.dims[i] != whole.dims[i < at ? i : i + 1])
            return false;
    return true;
}

static bool scan_region_fits(const ShapeQuery *q, int ninputs, int ncarries, Text *why)
{
    const struct RegionTypes *f = &q->regions[0];
    int64_t at = ((const ScanAttrs *)q->attrs)->dimension;
    int noutputs = q->nout - ncarries;
    if (f->nargs != q->nin || f->nresults != q->nout)
        return say(why, "its region must take %d values and give %d", q->nin, q->nout);
    for (int i = 0; i < q->nin; i++)
        if (i < ninputs ? !is_slice(f->args[i], q->in[i], at) : !type_fits(f->args[i], q->in[i]))
            return say(why, "argument %d of its region is %s for an operand %s", i,
                       type_name(f->args[i]), type_name(q->in[i]));
    for (int i = 0; i < q->nout; i++)
        if (i < noutputs ? !is_slice(f->results[i], q->stated[i], at)
                         : !type_fits(f->results[i], q->stated[i]))
            return say(why, "result %d of its region is %s for a result %s", i,
                       type_name(f->results[i]), type_name(q->stated[i]));
    return true;
}

bool shape_scan(const ShapeQuery *q, Text *why)
{
    const ScanAttrs *a = q->attrs;
    if (!expect_length(a->operandSegmentSizes, 2, "operandSegmentSizes", why))
        return false;
    int64_t ninputs = a->operandSegmentSizes.at[0], ncarries = a->operandSegmentSizes.at[1];
    if (ninputs < 0 || ncarries < 0 || ninputs + ncarries != q->nin || ncarries > q->nout ||
        q->nregions != 1)
        return say(why,
                   "%d operands and %d results do not fit %" PRId64 " inputs and %" PRId64
                   " initial values",
                   q->nin, q->nout, ninputs, ncarries);
    int64_t extent = a->scan_dim_size;
    for (int i = 0; i < q->nout - ncarries + ninputs; i++) {
        Type t = i < ninputs ? q->in[i] : q->stated[i - ninputs];
        if (!expect_dim(a->dimension, t.rank, "dimension", why))
            return false;
        if (extent >= 0 && t.dims[a->dimension] != extent)
            return say(why, "%s has not %" PRId64 " places along dimension %" PRId64, type_name(t),
                       extent, a->dimension);
        extent = t.dims[a->dimension];
    }
    if (extent < 0)
        return say(why, "no array says how many turns there are, and scan_dim_size is not given");
    for (int i = 0; i < ncarries; i++)
        if (!expect_type(q, (int)(q->nout - ncarries) + i, q->in[ninputs + i], why))
            return false;
    return scan_region_fits(q, (int)ninputs, (int)ncarries, why);
}

/* ---- random numbers, and devices ---- */

bool shape_rng(const ShapeQuery *q, Text *why)
{
    if (!expect_counts(q, 3, 1, why))
        return false;
    Element e = q->stated[0].element;
    int distribution = ((const RngAttrs *)q->attrs)->rng_distribution;
    bool is_normal = distribution == 2;
    if (!distribution)
        return say(why, "its distribution must be UNIFORM or NORMAL");
    if (!is_scalar(q->in[0], e) || !is_scalar(q->in[1], e))
        return say(why, "%s and %s: both must be scalars of the result's %s", type_name(q->in[0]),
                   type_name(q->in[1]), element_info[e].name);
    if (element_info[e].kind == COMPLEX || (is_normal && element_info[e].kind != FLOAT))
        return say(why, "the result is %s: its elements must be %s", type_name(q->stated[0]),
                   is_normal ? "floating-point" : "real");
    if (q->in[2].rank != 1 || !is_integer(q->in[2].element) ||
        q->in[2].dims[0] != q->stated[0].rank)
        return say(why, "the shape is given as %s for a result %s", type_name(q->in[2]),
                   type_name(q->stated[0]));
    return true;
}

/* ---- tuples ---- */

bool shape_tuple(const ShapeQuery *q, Text *why)
{
    if (!expect_counts(q, q->nin, 1, why))
        return false;
    Type t = q->stated[0];
    bool fits = t.element == TUPLE && type_fields(t)->n == q->nin;
    for (int i = 0; fits && i < q->nin; i++)
        fits = type_fits(type_fields(t)->at[i], q->in[i]);
    return fits ||
           say(why, "the result is stated as %s, which is not a tuple of the operands' types",
               type_name(t));
}

bool shape_tuple_element(const ShapeQuery *q, Text *why)
{
    if (!expect_counts(q, 1, 1, why))
        return false;
    int64_t index = ((const TupleElementAttrs *)q->attrs)->index;
    Type t = q->in[0];
    if (t.element != TUPLE)
        return say(why, "%s is no tuple", type_name(t));
    if (index < 0 || index >= type_fields(t)->n)
        return say(why, "%s has no element %" PRId64, type_name(t), index);
    return expect_type(q, 0, type_fields(t)->at[index], why);
}
