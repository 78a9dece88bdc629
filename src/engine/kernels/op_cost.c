/* op_cost.c - what one operation costs: the column `cost` of ops.def, asked with shapes.
 *
 * Most rows say it: so many nanoseconds for each element of the result.  Those that say BY(rule)
 * are counted here, from the extents of their operands.  Every guess at time (kernels, whole
 * programs) and every count of flops (plugin/cost.c) comes from node_work. */
#include "engine/kernels/query.h"
#include "engine/numerics/numerics.h"
#include "hlo/rewrite.h"
#include "ops/number.h"

#include <math.h>

bool is_costly(OpId op)
{
    return op_info[op].kind == KIND_MAP && op_info[op].cost.ns >= 0.15;
}

/* A division by a whole number is products (codegen/arith.c). */
bool node_is_costly(const Module *m, const Node *node)
{
    const Dense *by = node->op == OP_DIV ? value_constant(m, node->in[1]) : NULL;
    if (by && by->is_splat && element_info[by->type.element].kind == FLOAT) {
        double c = number_float(by->type.element, by->data);
        return c != floor(c);
    }
    return is_costly(node->op);
}

static double count(const Module *m, ValueId v)
{
    return (double)type_count(type_of(m, v));
}

/* The product of those extents of t. */
static double extent_of(Type t, Ints dims)
{
    double n = 1;
    for (int i = 0; i < dims.n; i++)
        n *= (double)t.dims[dims.at[i]];
    return n;
}

static Work element_work(const Module *m, const Node *node)
{
    OpCost cost = op_info[node->op].cost;
    double n = node->nout ? count(m, node->out) : 0;
    bool is_wide = node->nout && element_info[type_of(m, node->out).element].bytes > 4;
    return (Work){ .flops = cost.work == WORK_FLOP ? n : 0,
                   .transcendentals = cost.work == WORK_SPECIAL ? n : 0,
                   .ns = cost.ns * (is_wide ? 2 : 1) * n };
}

static Work dot_work(const Module *m, const Node *node)
{
    Type lhs = type_of(m, node->in[0]);
    const DotAttrs *a = node->attrs;
    double products = count(m, node->out) * extent_of(lhs, a->lhs_contracting_dimensions);
    int bits = element_info[lhs.element].bits; /* an instruction takes the more, the narrower */
    Element rhs = type_of(m, node->in[1]).element, out = type_of(m, node->out).element;
    bool is_product = gemm_kind(lhs.element, rhs, out) >= 0;
    double each = is_product
                      ? 0.02 * (element_info[lhs.element].kind == COMPLEX ? 2 * bits : bits) / 32
                      : 0.3;
    return (Work){ .flops = 2 * products, .ns = each * products };
}

static Work convolution_work(const Module *m, const Node *node)
{
    Type kernel = type_of(m, node->in[1]);
    const ConvolutionAttrs *a = node->attrs;
    double features = (double)kernel.dims[a->kernel_output_feature_dimension];
    double each = features > 0 ? count(m, node->in[1]) / features : 0;
    double products = count(m, node->out) * each;
    return (Work){ .flops = 2 * products, .ns = 0.06 * products };
}

static Work reduce_work(const Module *m, const Node *node)
{
    bool is_simple = region_reducer(m, node->regions[0]) != OP_COUNT;
    double n = count(m, node->in[0]);
    return (Work){ .flops = n - count(m, node->out), .ns = (is_simple ? 0.05 : 1) * n };
}

static Work window_work(const Module *m, NodeId id)
{
    const Node *node = node_at(m, id);
    Ints window = ((const WindowAttrs *)node->attrs)->window_dimensions;
    double size = 1, n = count(m, node->out);
    for (int i = 0; i < window.n; i++)
        size *= (double)window.at[i];
    bool is_simple = region_reducer(m, node->regions[0]) != OP_COUNT;
    double each = !scan_is(m, id) ? 0.2 * size : is_simple ? 0.5 : 5;
    return (Work){ .flops = n * (size - 1), .ns = each * n };
}

/* By digits of the keys, or else by comparing. */
static Work sort_work(const Module *m, const Node *node)
{
    double n = count(m, node->in[0]), steps = 1;
    SortKey keys[SORT_MOST_KEYS];
    if (comparator_keys(m, node->regions[0], keys))
        return (Work){ .ns = (5 + 4 * node->nin) * n };
    for (double size = n; size > 2; size /= 2)
        steps++;
    return (Work){ .ns = 4 * n * steps };
}

/* A quarter of a multiplication for each element and each of its column; of diagonals, two divisions for each
 * number of the right-hand sides. */
static Work factor_work(const Module *m, const Node *node)
{
    Type t = type_of(m, node->in[0]), last = type_of(m, node->in[node->nin - 1]);
    if (last.rank > t.rank)
        return (Work){ .ns = 15 * count(m, node->in[node->nin - 1]) };
    return (Work){ .ns = t.rank >= 2 ? count(m, node->in[0]) * (double)t.dims[t.rank - 1] / 4 : 0 };
}

/* n log n of the larger side, whose numbers are half as many if the other's are real. */
static Work fft_work(const Module *m, const Node *node)
{
    Ints length = ((const FftAttrs *)node->attrs)->fft_length;
    double n = count(m, node->in[0]), out = count(m, node->out), line = 1, steps = 0;
    for (int i = 0; i < length.n; i++)
        line *= (double)length.at[i];
    for (; line > 1; line /= 2)
        steps++;
    n = (n < out ? n : out) * steps;
    return (Work){ .flops = 5 * n, .ns = 0.35 * n };
}

/* Finding the place of a window, and then its elements, which go in vectors if they are rows. */
static Work scatter_work(const Module *m, const Node *node)
{
    const ScatterAttrs *a = node->attrs;
    Type update = type_of(m, node->in[node->nin - 1]);
    double n = count(m, node->in[node->nin - 1]), window = extent_of(update, a->update_window_dims);
    int last = update.rank - 1;
    bool is_row = last >= 0 && ints_find(a->update_window_dims, last) >= 0 && update.dims[last] > 1;
    return (Work){ .ns = is_row ? 4 * n / (window > 0 ? window : 1) + 0.1 * n : 4 * n };
}

Work node_work(const Module *m, NodeId n)
{
    const Node *node = node_at(m, n);
    switch (op_info[node->op].cost.work) {
    case WORK_NONE: return (Work){ 0 };
    case WORK_MOVE:
    case WORK_FLOP:
    case WORK_SPECIAL: return element_work(m, node);
    case WORK_DOT: return dot_work(m, node);
    case WORK_CONVOLUTION: return convolution_work(m, node);
    case WORK_REDUCE: return reduce_work(m, node);
    case WORK_WINDOW: return window_work(m, n);
    case WORK_SORT: return sort_work(m, node);
    case WORK_TOP_K: return (Work){ .ns = 0.5 * count(m, node->in[0]) };
    case WORK_FFT: return fft_work(m, node);
    case WORK_SCATTER: return scatter_work(m, node);
    case WORK_SELECT_SCATTER: return (Work){ .ns = 10 * count(m, node->in[0]) };
    case WORK_FACTOR: return factor_work(m, node);
    case WORK_CALL:
        return routine_find(m, node) == routine_lapack ? factor_work(m, node) : (Work){ 0 };
    }
    return (Work){ 0 };
}
