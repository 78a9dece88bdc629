/* shape_moving.c - the shape rules of operations that move elements. */
#include "ops/shape_util.h"

#include <inttypes.h>
#include <string.h>

bool shape_constant(const ShapeQuery *q, Text *why)
{
    if (!expect_counts(q, 0, 1, why))
        return false;
    const ConstantAttrs *a = q->attrs;
    return expect_type(q, 0, a->value.type, why);
}

bool shape_iota(const ShapeQuery *q, Text *why)
{
    if (!expect_counts(q, 0, 1, why))
        return false;
    const IotaAttrs *a = q->attrs;
    if (element_info[q->stated[0].element].kind == BOOLEAN)
        return say(why, "%s: its elements must be numbers", type_name(q->stated[0]));
    return expect_dim(a->iota_dimension, q->stated[0].rank, "iota_dimension", why);
}

bool shape_reshape(const ShapeQuery *q, Text *why)
{
    if (!expect_counts(q, 1, 1, why))
        return false;
    if (!all_static(q))
        return true;
    Type x = q->in[0], y = q->stated[0];
    if (x.element != y.element)
        return say(why, "%s to %s: the element type must stay", type_name(x), type_name(y));
    if (type_count(x) != type_count(y))
        return say(why, "%s to %s: %" PRId64 " elements cannot become %" PRId64, type_name(x),
                   type_name(y), type_count(x), type_count(y));
    return true;
}

bool shape_bitcast(const ShapeQuery *q, Text *why)
{
    if (!expect_counts(q, 1, 1, why))
        return false;
    Type x = q->in[0], y = q->stated[0];
    int from = element_info[x.element].bits, to = element_info[y.element].bits;
    bool fits = false;
    if ((element_info[x.element].kind == COMPLEX) != (element_info[y.element].kind == COMPLEX))
        return say(why, "%s as %s: complex numbers keep their bits among themselves alone",
                   type_name(x), type_name(y));
    if (from == to)
        fits = shape_fits(x, y);
    else if (from > to) /* one dimension more: the parts of each element */
        fits = y.rank == x.rank + 1 && from % to == 0 && extent_fits(y.dims[x.rank], from / to) &&
               shape_fits(x, (Type){ x.element, x.rank, y.dims });
    else
        fits = x.rank == y.rank + 1 && to % from == 0 && extent_fits(x.dims[y.rank], to / from) &&
               shape_fits(y, (Type){ y.element, y.rank, x.dims });
    if (!fits)
        return say(why,
                   "%s as %s: the bits do not fit: elements of one width keep the shape, wider "
                   "ones have their parts along one dimension more",
                   type_name(x), type_name(y));
    return true;
}

bool shape_broadcast(const ShapeQuery *q, Text *why)
{
    if (!expect_counts(q, 1, 1, why))
        return false;
    const BroadcastAttrs *a = q->attrs;
    Type x = q->in[0], y = q->stated[0];
    if (!expect_length(a->broadcast_dimensions, x.rank, "broadcast_dimensions", why) ||
        !expect_dims(a->broadcast_dimensions, y.rank, "broadcast_dimensions", why))
        return false;
    if (x.element != y.element)
        return say(why, "%s to %s: the element type must stay", type_name(x), type_name(y));
    for (int i = 0; i < x.rank; i++) {
        int64_t to = y.dims[a->broadcast_dimensions.at[i]];
        if (x.dims[i] != 1 && !extent_fits(x.dims[i], to))
            return say(why, "%s to %s: dimension %d (%" PRId64 ") does not spread to %" PRId64,
                       type_name(x), type_name(y), i, x.dims[i], to);
    }
    return true;
}

bool shape_transpose(const ShapeQuery *q, Text *why)
{
    if (!expect_counts(q, 1, 1, why))
        return false;
    const TransposeAttrs *a = q->attrs;
    Type x = q->in[0];
    if (!expect_length(a->permutation, x.rank, "permutation", why) ||
        !expect_dims(a->permutation, x.rank, "permutation", why))
        return false;
    int64_t dims[MAX_RANK];
    for (int i = 0; i < x.rank; i++)
        dims[i] = x.dims[a->permutation.at[i]];
    return expect_result(q, 0, x.element, x.rank, dims, why);
}

bool shape_reverse(const ShapeQuery *q, Text *why)
{
    const DimensionsAttrs *a = q->attrs;
    return expect_counts(q, 1, 1, why) &&
           expect_dims(a->dimensions, q->in[0].rank, "dimensions", why) &&
           expect_type(q, 0, q->in[0], why);
}

bool shape_slice(const ShapeQuery *q, Text *why)
{
    if (!expect_counts(q, 1, 1, why))
        return false;
    const SliceAttrs *a = q->attrs;
    Type x = q->in[0];
    if (!expect_length(a->start_indices, x.rank, "start_indices", why) ||
        !expect_length(a->limit_indices, x.rank, "limit_indices", why) ||
        !expect_length(a->strides, x.rank, "strides", why))
        return false;
    if (!all_static(q))
        return true;
    int64_t dims[MAX_RANK];
    for (int i = 0; i < x.rank; i++) {
        int64_t start = a->start_indices.at[i], limit = a->limit_indices.at[i];
        int64_t stride = a->strides.at[i];
        if (start < 0 || start > limit || limit > x.dims[i] || stride < 1)
            return say(why,
                       "[%" PRId64 ":%" PRId64 ":%" PRId64 "] of dimension %d of %s: it must "
                       "lie inside, with a stride of at least 1",
                       start, limit, stride, i, type_name(x));
        dims[i] = (limit - start) / stride + ((limit - start) % stride != 0);
    }
    return expect_result(q, 0, x.element, x.rank, dims, why);
}

bool shape_pad(const ShapeQuery *q, Text *why)
{
    if (!expect_counts(q, 2, 1, why))
        return false;
    const PadAttrs *a = q->attrs;
    Type x = q->in[0];
    if (!is_scalar(q->in[1], x.element))
        return say(why, "padding value %s of %s: it must be a scalar of that element",
                   type_name(q->in[1]), type_name(x));
    if (!expect_length(a->edge_padding_low, x.rank, "edge_padding_low", why) ||
        !expect_length(a->edge_padding_high, x.rank, "edge_padding_high", why) ||
        !expect_length(a->interior_padding, x.rank, "interior_padding", why))
        return false;
    if (!all_static(q))
        return true;
    int64_t dims[MAX_RANK];
    for (int i = 0; i < x.rank; i++) {
        int64_t low = a->edge_padding_low.at[i], high = a->edge_padding_high.at[i];
        int64_t inner = a->interior_padding.at[i], between;
        if (inner < 0)
            return say(why, "interior_padding of dimension %d is negative", i);
        if (__builtin_mul_overflow(x.dims[i] > 0 ? x.dims[i] - 1 : 0, inner, &between) ||
            __builtin_add_overflow(between, x.dims[i], &between) ||
            __builtin_add_overflow(between, low, &between) ||
            __builtin_add_overflow(between, high, &between) || between < 0)
            return say(why,
                       "padding dimension %d of %s by %" PRId64 " and %" PRId64 " leaves no extent",
                       i, type_name(x), low, high);
        dims[i] = between;
    }
    return expect_result(q, 0, x.element, x.rank, dims, why);
}

bool shape_concatenate(const ShapeQuery *q, Text *why)
{
    if (q->nin < 1)
        return say(why, "it takes at least one operand");
    if (!expect_counts(q, q->nin, 1, why))
        return false;
    int64_t d = ((const DimensionAttrs *)q->attrs)->dimension;
    Type x = q->in[0];
    if (!expect_dim(d, x.rank, "dimension", why))
        return false;
    if (!all_static(q))
        return true;
    int64_t dims[MAX_RANK];
    memcpy(dims, x.dims, sizeof *dims * (size_t)x.rank);
    for (int k = 1; k < q->nin; k++) {
        Type y = q->in[k];
        bool fits = y.element == x.element && y.rank == x.rank;
        for (int i = 0; fits && i < x.rank; i++)
            fits = i == d || y.dims[i] == x.dims[i];
        if (!fits)
            return say(why, "%s and %s along dimension %" PRId64 ": all else must be equal",
                       type_name(x), type_name(y), d);
        if (__builtin_add_overflow(dims[d], y.dims[d], &dims[d]))
            return say(why, "too many elements");
    }
    return expect_result(q, 0, x.element, x.rank, dims, why);
}

/* The start indices of dynamic slices: one integer scalar per dimension, of one type. */
static bool starts_fit(const ShapeQuery *q, int first, int rank, Text *why)
{
    if (q->nin != first + rank)
        return say(why, "%d start indices for an array of rank %d", q->nin - first, rank);
    for (int i = first; i < q->nin; i++) {
        Type t = q->in[i];
        if (t.rank != 0 || !is_integer(t.element))
            return say(why, "start index %d is %s: it must be an integer scalar", i - first,
                       type_name(t));
        if (t.element != q->in[first].element)
            return say(why, "start indices %s and %s: they must have one type",
                       type_name(q->in[first]), type_name(t));
    }
    return true;
}

bool shape_dynamic_slice(const ShapeQuery *q, Text *why)
{
    if (q->nin < 1 || q->nout != 1)
        return expect_counts(q, 1, 1, why);
    Type x = q->in[0];
    Ints sizes = ((const DynamicSliceAttrs *)q->attrs)->slice_sizes;
    if (!starts_fit(q, 1, x.rank, why) || !expect_length(sizes, x.rank, "slice_sizes", why))
        return false;
    for (int i = 0; i < x.rank; i++)
        if (sizes.at[i] < 0 || (x.dims[i] != DYNAMIC && sizes.at[i] > x.dims[i]))
            return say(why, "a slice of %" PRId64 " of dimension %d of %s: it must fit inside",
                       sizes.at[i], i, type_name(x));
    return expect_result(q, 0, x.element, x.rank, sizes.at, why);
}

bool shape_update(const ShapeQuery *q, Text *why)
{
    if (q->nin < 2 || q->nout != 1)
        return expect_counts(q, 2, 1, why);
    Type x = q->in[0], u = q->in[1];
    if (!starts_fit(q, 2, x.rank, why))
        return false;
    bool fits = u.element == x.element && u.rank == x.rank;
    for (int i = 0; fits && i < x.rank; i++)
        fits = x.dims[i] == DYNAMIC || u.dims[i] == DYNAMIC || u.dims[i] <= x.dims[i];
    if (!fits)
        return say(why, "update %s of %s: it must have its rank and element and fit inside",
                   type_name(u), type_name(x));
    return expect_type(q, 0, x, why);
}

/* The extents of indices without the dimension that holds index vectors. */
static int batch_extents(Type indices, int64_t vector_dim, int64_t *out)
{
    int n = 0;
    for (int i = 0; i < indices.rank; i++)
        if (i != vector_dim)
            out[n++] = indices.dims[i];
    return n;
}

static int64_t vector_length(Type indices, int64_t vector_dim)
{
    return vector_dim == indices.rank ? 1 : indices.dims[vector_dim];
}

static bool indices_fit(Type indices, int64_t vector_dim, Ints map, int rank, const char *name,
                        Text *why)
{
    if (!is_integer(indices.element))
        return say(why, "indices %s: they must be integers", type_name(indices));
    if (vector_dim < 0 || vector_dim > indices.rank)
        return say(why, "index_vector_dim is %" PRId64 " for indices %s", vector_dim,
                   type_name(indices));
    if (vector_length(indices, vector_dim) != map.n)
        return say(why, "index vectors of %s along dimension %" PRId64 " for %d entries of %s",
                   type_name(indices), vector_dim, map.n, name);
    return expect_dims(map, rank, name, why);
}

/* Distinct dimensions in rising order. */
static bool expect_sorted(Ints list, int rank, const char *name, Text *why)
{
    if (!expect_dims(list, rank, name, why))
        return false;
    for (int i = 1; i < list.n; i++)
        if (list.at[i] < list.at[i - 1])
            return say(why, "%s names dimension %" PRId64 " after %" PRId64 ": they must rise",
                       name, list.at[i], list.at[i - 1]);
    return true;
}

static bool expect_apart(Ints a, const char *name, Ints b, const char *other, Text *why)
{
    for (int i = 0; i < a.n; i++)
        if (ints_find(b, a.at[i]) >= 0)
            return say(why, "%s and %s both name dimension %" PRId64, name, other, a.at[i]);
    return true;
}

/* Dimensions along which the array and its indices go in step, and what they are called. */
typedef struct Batching {
    Ints array, indices;
    const char *array_name, *indices_name;
} Batching;

static bool batching_fits(const Batching *b, Type x, Type indices, int64_t vector_dim, Text *why)
{
    if (!expect_sorted(b->array, x.rank, b->array_name, why) ||
        !expect_dims(b->indices, indices.rank, b->indices_name, why) ||
        !expect_length(b->indices, b->array.n, b->indices_name, why))
        return false;
    if (ints_find(b->indices, vector_dim) >= 0)
        return say(why, "%s names dimension %" PRId64 ", which is index_vector_dim",
                   b->indices_name, vector_dim);
    for (int i = 0; i < b->array.n; i++) {
        int64_t to = b->array.at[i], from = b->indices.at[i];
        if (x.dims[to] != indices.dims[from])
            return say(why,
                       "%s with indices %s: batching dimensions %" PRId64 " and %" PRId64
                       " differ in extent",
                       type_name(x), type_name(indices), to, from);
    }
    return true;
}

static bool gather_dims_fit(const GatherAttrs *a, Type x, Type indices, int rank, Text *why)
{
    Batching b = { a->operand_batching_dims, a->start_indices_batching_dims,
                   "operand_batching_dims", "start_indices_batching_dims" };
    return indices_fit(indices, a->index_vector_dim, a->start_index_map, x.rank, "start_index_map",
                       why) &&
           expect_length(a->slice_sizes, x.rank, "slice_sizes", why) &&
           expect_sorted(a->offset_dims, rank, "offset_dims", why) &&
           expect_sorted(a->collapsed_slice_dims, x.rank, "collapsed_slice_dims", why) &&
           batching_fits(&b, x, indices, a->index_vector_dim, why) &&
           expect_apart(a->collapsed_slice_dims, "collapsed_slice_dims", b.array, b.array_name,
                        why) &&
           expect_apart(a->start_index_map, "start_index_map", b.array, b.array_name, why);
}

bool shape_gather(const ShapeQuery *q, Text *why)
{
    if (!expect_counts(q, 2, 1, why))
        return false;
    const GatherAttrs *a = q->attrs;
    Type x = q->in[0], indices = q->in[1], y = q->stated[0];
    if (!all_static(q))
        return true;
    if (!gather_dims_fit(a, x, indices, y.rank, why))
        return false;
    int64_t kept[MAX_RANK], batch[MAX_RANK], dims[MAX_RANK];
    int nkept = 0, k = 0, b = 0, nbatch = batch_extents(indices, a->index_vector_dim, batch);
    for (int i = 0; i < x.rank; i++) {
        int64_t size = a->slice_sizes.at[i];
        if (size < 0 || size > x.dims[i])
            return say(why, "a slice of %" PRId64 " of dimension %d of %s: it must fit inside",
                       size, i, type_name(x));
        bool drops = ints_find(a->collapsed_slice_dims, i) >= 0 ||
                     ints_find(a->operand_batching_dims, i) >= 0;
        if (drops && size != 1 && x.dims[i] != 0)
            return say(why, "dimension %d is collapsed, so its slice must be 1, not %" PRId64, i,
                       size);
        if (!drops)
            kept[nkept++] = size;
    }
    if (nkept != a->offset_dims.n || nbatch + nkept != y.rank)
        return say(why,
                   "%d offset_dims and %d batch dimensions for %d kept dimensions and a "
                   "result of rank %d",
                   a->offset_dims.n, nbatch, nkept, y.rank);
    for (int i = 0; i < y.rank; i++)
        dims[i] = ints_find(a->offset_dims, i) >= 0 ? kept[k++] : batch[b++];
    return expect_result(q, 0, x.element, y.rank, dims, why);
}

static bool scatter_update_fits(const ScatterAttrs *a, Type x, Type indices, Type u, Text *why)
{
    int64_t kept[MAX_RANK], batch[MAX_RANK];
    int nkept = 0, k = 0, b = 0, nbatch = batch_extents(indices, a->index_vector_dim, batch);
    for (int i = 0; i < x.rank; i++)
        if (ints_find(a->inserted_window_dims, i) < 0 && ints_find(a->input_batching_dims, i) < 0)
            kept[nkept++] = x.dims[i];
    bool fits =
        nkept == a->update_window_dims.n && u.rank == nbatch + nkept && u.element == x.element;
    for (int i = 0; fits && i < u.rank; i++)
        fits = ints_find(a->update_window_dims, i) >= 0 ? u.dims[i] <= kept[k++]
                                                        : u.dims[i] == batch[b++];
    return fits || say(why, "update %s does not fit into %s with indices %s", type_name(u),
                       type_name(x), type_name(indices));
}

static bool scatter_dims_fit(const ScatterAttrs *a, Type x, Type indices, int rank, Text *why)
{
    static const char map_name[] = "scatter_dims_to_operand_dims";
    Batching b = { a->input_batching_dims, a->scatter_indices_batching_dims, "input_batching_dims",
                   "scatter_indices_batching_dims" };
    return indices_fit(indices, a->index_vector_dim, a->scatter_dims_to_operand_dims, x.rank,
                       map_name, why) &&
           expect_sorted(a->update_window_dims, rank, "update_window_dims", why) &&
           expect_sorted(a->inserted_window_dims, x.rank, "inserted_window_dims", why) &&
           batching_fits(&b, x, indices, a->index_vector_dim, why) &&
           expect_apart(a->inserted_window_dims, "inserted_window_dims", b.array, b.array_name,
                        why) &&
           expect_apart(a->scatter_dims_to_operand_dims, map_name, b.array, b.array_name, why);
}

bool shape_scatter(const ShapeQuery *q, Text *why)
{
    const ScatterAttrs *a = q->attrs;
    int n = (q->nin - 1) / 2;
    if (q->nin < 3 || q->nin != 2 * n + 1 || q->nout != n)
        return say(why,
                   "%d operands and %d results: it takes n arrays, indices and n updates, and "
                   "gives n",
                   q->nin, q->nout);
    if (!all_static(q))
        return true;
    Type indices = q->in[n], first = q->in[0], u = q->in[n + 1];
    if (!scatter_dims_fit(a, first, indices, u.rank, why) ||
        !expect_reducer(q, 0, n, n, q->in, why) || !expect_reducer(q, 0, n, n, q->in + n + 1, why))
        return false;
    for (int i = 0; i < n; i++) {
        if (!shape_fits(q->in[i], first) || !shape_fits(q->in[n + 1 + i], u))
            return say(why, "%s and %s: all arrays, and all updates, must have one shape",
                       type_name(first), type_name(q->in[i]));
        if (!scatter_update_fits(a, q->in[i], indices, q->in[n + 1 + i], why) ||
            !expect_result(q, i, q->regions[0].results[i].element, first.rank, first.dims, why))
            return false;
    }
    return true;
}
