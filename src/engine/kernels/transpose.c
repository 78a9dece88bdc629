/* transpose.c - the kernel that is one transpose whose last dimension moves.
 *
 * In: an array in memory.  Out: loops over square tiles.  A tile's rows are loaded as vectors,
 * transposed in registers, and stored as vectors, so that memory is only met in whole vectors:
 *
 *     a b        a c       step s exchanges blocks of s x s across the diagonal;
 *     c d   ->   b d       16 rows take steps 1, 2, 4, 8
 *
 * Reading columns one by one would take a gather per vector, and rows whose distance is a power
 * of two would push one another out of the cache. */
#include "engine/kernels/kernels.h"

#include "base/fail.h"

typedef struct Tiles {
    Type in, out;
    V from; /* the operand's memory */
    Ints permutation;
    int row, column; /* dimensions of the result: the operand's last one, and the result's */
    int size;        /* of a tile */
    LLVMTypeRef one; /* an element as an integer */
} Tiles;

/* The node, if the kernel is nothing else. */
static const Node *lone_transpose(const Kernel *k)
{
    const Region *region = region_at(k->m, k->region);
    const Node *end = region_return(k->m, k->region);
    NodeId n = end->nin == 1 ? value_def(k->m, end->in[0]) : 0;
    if (!n || region->nnodes != 2 || node_at(k->m, n)->op != OP_TRANSPOSE)
        return NULL;
    return kernel_argument(k, node_at(k->m, n)->in[0]) >= 0 ? node_at(k->m, n) : NULL;
}

static bool tiles_of(Kernel *k, Tiles *t)
{
    const Node *node = lone_transpose(k);
    if (!node)
        return false;
    *t = (Tiles){ .in = type_of(k->m, node->in[0]), .out = type_of(k->m, node->out) };
    t->from = k->ins[kernel_argument(k, node->in[0])];
    t->permutation = ((const TransposeAttrs *)node->attrs)->permutation;
    int bytes = element_info[t->out.element].bytes;
    t->column = t->out.rank - 1;
    t->row = ints_find(t->permutation, t->out.rank - 1);
    if (t->out.rank < 2 || t->row == t->column || bytes > 8 || type_count(t->out) == 0)
        return false;
    t->one = int_type(k, 8 * bytes);
    enum { MANY = 1 << 16 }; /* large tiles run faster and take longer to compile */
    t->size = type_count(t->out) < MANY ? 8 : 16;
    while (t->size * bytes > k->e->vector_bytes)
        t->size /= 2;
    while (t->size > 2 && (t->out.dims[t->row] % t->size || t->out.dims[t->column] % t->size))
        t->size /= 2;
    return t->size > 2;
}

/* Exchanges the upper right and lower left blocks of s x s. */
static void transpose_step(Kernel *k, int n, int s, V *rows)
{
    V upper[MAX_LANES], lower[MAX_LANES];
    require(n <= MAX_LANES);
    for (int i = 0; i < n; i++) {
        if (i & s)
            continue;
        V a = rows[i], b = rows[i + s];
        for (int j = 0; j < n; j++) {
            int from_a = j & s ? n + j - s : j, from_b = j & s ? n + j : j + s;
            upper[j] = LLVMConstInt(int_type(k, 32), (unsigned)from_a, false);
            lower[j] = LLVMConstInt(int_type(k, 32), (unsigned)from_b, false);
        }
        rows[i] = LLVMBuildShuffleVector(k->b, a, b, LLVMConstVector(upper, (unsigned)n), "");
        rows[i + s] = LLVMBuildShuffleVector(k->b, a, b, LLVMConstVector(lower, (unsigned)n), "");
    }
}

static V row_address(Kernel *k, const Tiles *t, V array, V begin, int64_t by)
{
    V number = LLVMBuildAdd(k->b, begin, const_i64(k, by), "");
    return LLVMBuildInBoundsGEP2(k->b, t->one, array, &number, 1, "");
}

/* One tile; at[d] is its first place along dimension d of the result. */
static void tile_emit(Kernel *k, const Tiles *t, const V *at)
{
    int64_t from[MAX_RANK + 1], to[MAX_RANK + 1];
    type_strides(t->in, from);
    type_strides(t->out, to);
    V source = const_i64(k, 0), target = source, rows[16];
    for (int d = 0; d < t->out.rank; d++) {
        V x = LLVMBuildMul(k->b, at[d], const_i64(k, from[t->permutation.at[d]]), "");
        V y = LLVMBuildMul(k->b, at[d], const_i64(k, to[d]), "");
        source = LLVMBuildAdd(k->b, source, x, "");
        target = LLVMBuildAdd(k->b, target, y, "");
    }
    unsigned align = LLVMGetIntTypeWidth(t->one) / 8;
    LLVMTypeRef vector = LLVMVectorType(t->one, (unsigned)t->size);
    for (int i = 0; i < t->size; i++) {
        int64_t by = i * from[t->permutation.at[t->column]];
        rows[i] = LLVMBuildLoad2(k->b, vector, row_address(k, t, t->from, source, by), "");
        LLVMSetAlignment(rows[i], align > 4 ? 4 : align);
    }
    for (int s = 1; s < t->size; s *= 2)
        transpose_step(k, t->size, s, rows);
    for (int i = 0; i < t->size; i++) {
        V s = LLVMBuildStore(k->b, rows[i], row_address(k, t, k->outs[0], target, i * to[t->row]));
        LLVMSetAlignment(s, align > 4 ? 4 : align);
    }
}

static int64_t tile_step(const Tiles *t, int d)
{
    return d == t->row || d == t->column ? t->size : 1;
}

bool transpose_emit(Kernel *k)
{
    Tiles t;
    Loop loops[MAX_RANK];
    V at[MAX_RANK];
    if (!tiles_of(k, &t))
        return false;
    int64_t extents[MAX_RANK];
    for (int d = 0; d < t.out.rank; d++)
        extents[d] = t.out.dims[d] / tile_step(&t, d);
    int cut = slices_choose(k, t.out.rank, extents);
    for (int d = 0; d < t.out.rank; d++) {
        if (d == cut)
            slice_loop(k, &loops[d], t.out.dims[d], tile_step(&t, d));
        else
            loop_begin(k, &loops[d], t.out.dims[d], tile_step(&t, d), 0, NULL);
        at[d] = loops[d].i;
    }
    tile_emit(k, &t, at);
    for (int d = t.out.rank - 1; d >= 0; d--)
        loop_end(k, &loops[d], NULL);
    return true;
}
