/* dot.c - the kernel whose root is a dot_general.
 *
 * In: two arrays in memory.  Out: for types that it knows (gemm_kind), loops around calls of the
 * runtime's matrix product, which takes any strides, so transposed operands cost nothing here; for
 * others, and contractions whose dimensions do not lie in memory as one, loops by fold.c.
 *
 *   lhs  batch, free, contracted      out  batch, free of lhs, free of rhs
 *   rhs  batch, contracted, free */
#include "engine/kernels/kernels.h"

#include "engine/numerics/numerics.h"

#include <stddef.h>
#include <string.h>

/* Some dimensions of an operand, in order. */
typedef struct Dims {
    int n;
    int at[MAX_RANK];
} Dims;

typedef struct Dot {
    NodeId node;
    Type in[2], out;
    Ints batch[2], contract[2];
    Dims free[2];
} Dot;

static Dot dot_of(const Kernel *k, NodeId root)
{
    const Node *node = node_at(k->m, root);
    const DotAttrs *a = node->attrs;
    Dot d = { .node = root,
              .in = { type_of(k->m, node->in[0]), type_of(k->m, node->in[1]) },
              .out = type_of(k->m, node->out),
              .batch = { a->lhs_batching_dimensions, a->rhs_batching_dimensions },
              .contract = { a->lhs_contracting_dimensions, a->rhs_contracting_dimensions } };
    for (int s = 0; s < 2; s++)
        for (int i = 0; i < d.in[s].rank; i++)
            if (ints_find(d.batch[s], i) < 0 && ints_find(d.contract[s], i) < 0)
                d.free[s].at[d.free[s].n++] = i;
    return d;
}

/* ---- by the runtime's product ---- */

/* The longest end of a list of dimensions that is one dimension in memory: how many of the list stay
 * outside it, its extent and its stride. */
typedef struct MergedDim {
    int outside;
    int64_t extent, stride;
} MergedDim;

static MergedDim merged_dim_of(Type type, int n, const int *dims)
{
    int64_t strides[MAX_RANK + 1];
    type_strides(type, strides);
    MergedDim r = { n, 1, 1 };
    for (int i = n - 1; i >= 0; i--) {
        int64_t extent = type.dims[dims[i]], stride = strides[dims[i]];
        if (extent != 1 && r.extent != 1 && stride != r.stride * r.extent)
            break;
        if (extent != 1 && r.extent == 1)
            r.stride = stride;
        r.extent *= extent;
        r.outside = i;
    }
    return r;
}

static MergedDim merged_dim_of_ints(Type type, Ints list)
{
    int dims[MAX_RANK];
    for (int i = 0; i < list.n; i++)
        dims[i] = (int)list.at[i];
    return merged_dim_of(type, list.n, dims);
}

/* A loop around the product: how far each array moves per round. */
typedef struct Outer {
    int64_t extent, by[3]; /* lhs, rhs, out */
} Outer;

typedef struct Product {
    MergedDim m, n, ka, kb;
    int nouter;
    Outer outer[MAX_RANK * 2];
} Product;

static void add_outer(Product *p, const Dot *d, int lhs, int rhs, int out)
{
    int64_t strides[MAX_RANK + 1];
    Outer o = { d->out.dims[out], { 0 } };
    if (lhs >= 0) {
        type_strides(d->in[0], strides);
        o.by[0] = strides[lhs];
    }
    if (rhs >= 0) {
        type_strides(d->in[1], strides);
        o.by[1] = strides[rhs];
    }
    type_strides(d->out, strides);
    o.by[2] = strides[out];
    if (o.extent != 1)
        p->outer[p->nouter++] = o;
}

static Product product_of(const Dot *d)
{
    Product p = { .m = merged_dim_of(d->in[0], d->free[0].n, d->free[0].at),
                  .n = merged_dim_of(d->in[1], d->free[1].n, d->free[1].at),
                  .ka = merged_dim_of_ints(d->in[0], d->contract[0]),
                  .kb = merged_dim_of_ints(d->in[1], d->contract[1]) };
    int nbatch = d->batch[0].n;
    for (int i = 0; i < nbatch; i++)
        add_outer(&p, d, (int)d->batch[0].at[i], (int)d->batch[1].at[i], i);
    for (int i = 0; i < p.m.outside; i++)
        add_outer(&p, d, d->free[0].at[i], -1, nbatch + i);
    for (int i = 0; i < p.n.outside; i++)
        add_outer(&p, d, -1, d->free[1].at[i], nbatch + d->free[0].n + i);
    return p;
}

/* Bytes from the first element to the last. */
static int64_t extent_of(Element e, int64_t rows, int64_t row, int64_t columns, int64_t column)
{
    if (rows == 0 || columns == 0)
        return 0;
    return ((rows - 1) * row + (columns - 1) * column + 1) * element_info[e].bytes;
}

static int kind_of(const Dot *d)
{
    return gemm_kind(d->in[0].element, d->in[1].element, d->out.element);
}

static void call_product(Kernel *k, const Dot *d, const Product *p, V a, V b, V c)
{
    LLVMTypeRef i64 = int_type(k, 64), ptr = LLVMPointerTypeInContext(k->c, 0);
    LLVMTypeRef types[] = { ptr, i64, i64, i64, i64, ptr, i64, i64, ptr, i64, i64, ptr, i64 };
    LLVMTypeRef type = LLVMFunctionType(LLVMVoidTypeInContext(k->c), types, 13, false);
    int64_t row = 1;
    for (int i = 0; i < d->free[1].n; i++)
        row *= d->in[1].dims[d->free[1].at[i]];
    V args[] = { k->frame,
                 const_i64(k, kind_of(d)),
                 const_i64(k, p->m.extent),
                 const_i64(k, p->n.extent),
                 const_i64(k, p->ka.extent),
                 a,
                 const_i64(k, p->m.stride),
                 const_i64(k, p->ka.stride),
                 b,
                 const_i64(k, p->kb.stride),
                 const_i64(k, p->n.stride),
                 c,
                 const_i64(k, row) };
    k->e->calls_rare_products |= kind_of(d) != GEMM_F32;
    V gemm = runtime_function(k, offsetof(Runtime, gemm));
    V call = LLVMBuildCall2(k->b, type, gemm, args, 13, "");
    int64_t m = p->m.extent, n = p->n.extent, depth = p->ka.extent;
    bounds_touch(k->e, call, a, 0,
                 extent_of(d->in[0].element, m, p->m.stride, depth, p->ka.stride));
    bounds_touch(k->e, call, b, 0,
                 extent_of(d->in[1].element, depth, p->kb.stride, n, p->n.stride));
    bounds_touch(k->e, call, c, 0, extent_of(d->out.element, m, row, n, 1));
}

static void product_emit(Kernel *k, const Dot *d, const Product *p, const V *pointers)
{
    Loop loops[MAX_RANK * 2];
    V at[3];
    int64_t extents[MAX_RANK * 2];
    for (int i = 0; i < p->nouter; i++)
        extents[i] = p->outer[i].extent;
    memcpy(at, pointers, sizeof at);
    Element elements[] = { d->in[0].element, d->in[1].element, d->out.element };
    int cut = slices_choose(k, p->nouter, extents);
    for (int i = 0; i < p->nouter; i++) {
        if (i == cut)
            slice_loop(k, &loops[i], extents[i], 1);
        else
            loop_begin(k, &loops[i], extents[i], 1, 0, NULL);
        for (int x = 0; x < 3; x++) {
            int64_t bytes = p->outer[i].by[x] * element_info[elements[x]].bytes;
            V by = LLVMBuildMul(k->b, loops[i].i, const_i64(k, bytes), "");
            at[x] = LLVMBuildInBoundsGEP2(k->b, int_type(k, 8), at[x], &by, 1, "");
        }
    }
    call_product(k, d, p, at[0], at[1], at[2]);
    for (int i = p->nouter - 1; i >= 0; i--)
        loop_end(k, &loops[i], NULL);
}

/* ---- by loops ---- */

/* The space folded over is batch, free of lhs, then free of rhs and contracted in the order
 * that lets lanes be neighbours of rhs.  where[s][i]: dimension i of operand s in the space. */
typedef struct DotFold {
    const Dot *d;
    int where[2][MAX_RANK];
} DotFold;

static void dot_start(Kernel *k, const Fold *f, V *acc)
{
    const DotFold *df = f->user;
    acc[0] = LLVMConstNull(value_type(k, df->d->out.element));
}

static void dot_values(Kernel *k, const Fold *f, Index *at, V *next)
{
    const DotFold *df = f->user;
    const Node *node = node_at(k->m, df->d->node);
    Element to = df->d->out.element;
    V factors[2];
    for (int s = 0; s < 2; s++) {
        Index *in = index_new(k, df->d->in[s], at->lanes);
        for (int i = 0; i < in->rank; i++)
            index_set(in, i, index_at(k, at, df->where[s][i]));
        V v = element(k, node->in[s], in);
        factors[s] = arith_convert(k, df->d->in[s].element, to, v);
    }
    next[0] = arith_mul(k, to, factors[0], factors[1]);
}

static void dot_combine(Kernel *k, const Fold *f, V *acc, const V *next)
{
    const DotFold *df = f->user;
    acc[0] = arith_add(k, df->d->out.element, acc[0], next[0]);
}

static void dot_done(Kernel *k, const Fold *f, Index *at, V *acc)
{
    const DotFold *df = f->user;
    Element e = df->d->out.element;
    if (!k->error)
        store_element(k, k->outs[0], e, at, finish(k, e, acc[0]));
}

static void add_dim(Fold *f, int64_t *dims, int64_t extent, bool is_reduced)
{
    f->reduced[f->space.rank] = is_reduced;
    dims[f->space.rank++] = extent;
}

static void add_free(Fold *f, DotFold *df, int64_t *dims, int s)
{
    const Dot *d = df->d;
    for (int i = 0; i < d->free[s].n; i++) {
        df->where[s][d->free[s].at[i]] = f->space.rank;
        add_dim(f, dims, d->in[s].dims[d->free[s].at[i]], false);
    }
}

static void add_pairs(Fold *f, DotFold *df, int64_t *dims, const Ints *lists, bool is_reduced)
{
    for (int i = 0; i < lists[0].n; i++) {
        int x = (int)lists[0].at[i], y = (int)lists[1].at[i];
        df->where[0][x] = df->where[1][y] = f->space.rank;
        add_dim(f, dims, df->d->in[0].dims[x], is_reduced);
    }
}

static void dot_by_loops(Kernel *k, const Dot *d)
{
    int64_t dims[2 * MAX_RANK];
    DotFold df = { .d = d };
    Fold f = { .space = { F32, 0, dims },
               .out = d->out,
               .n = 1,
               .has_identity = true,
               .weight = 4,
               .user = &df,
               .start = dot_start,
               .values = dot_values,
               .combine = dot_combine,
               .done = dot_done };
    bool rhs_ends_free = d->free[1].n && d->free[1].at[d->free[1].n - 1] == d->in[1].rank - 1;
    add_pairs(&f, &df, dims, d->batch, false);
    add_free(&f, &df, dims, 0);
    if (!rhs_ends_free)
        add_free(&f, &df, dims, 1);
    add_pairs(&f, &df, dims, d->contract, true);
    if (rhs_ends_free)
        add_free(&f, &df, dims, 1);
    f.is_strict = f.in_order = fold_is_few(&f, d->out.element);
    f.is_rounded = is_float(d->out.element) || is_complex(d->out.element);
    fold_emit(k, &f);
}

void block_dot(Kernel *k, NodeId root)
{
    Dot d = dot_of(k, root);
    const Node *node = node_at(k->m, root), *end = region_return(k->m, k->region);
    if (type_count(d.out) == 0)
        return;
    if (end->nin != 1 || end->in[0] != node->out) {
        kernel_error(k, root, "a fusion that is more than the product");
        return;
    }
    Product p = product_of(&d);
    int lhs = kernel_argument(k, node->in[0]), rhs = kernel_argument(k, node->in[1]);
    int kind = kind_of(&d);
    bool is_one = p.ka.outside == 0 && p.kb.outside == 0;
    bool is_known = kind >= 0 && (kind != GEMM_BF16_ROUNDED || p.ka.extent <= GEMM_ROUNDED_DEPTH);
    if (is_known && is_one && lhs >= 0 && rhs >= 0)
        product_emit(k, &d, &p, (V[]){ k->ins[lhs], k->ins[rhs], k->outs[0] });
    else
        dot_by_loops(k, &d);
}
