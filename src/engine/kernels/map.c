/* map.c - the kernel that is one loop over its results.
 *
 * Where rows are long a vector runs along them.  Where they are short lanes run down the columns:
 *
 *     f32[1024,3]:   for i in 0, 16, .. {  column 0 of 16 rows, column 1, column 2;
 *                                          interleaved in registers, stored as three vectors  }
 *
 * A row of three would be three lanes of sixteen, 1024 times.  In a column each element of a row is
 * a program of its own: which part of a concatenation it comes from is known, what is spread over
 * the columns is loaded as it is, and what was transposed lies side by side.
 *
 * Where nothing tells rows apart, and columns only what is spread over all rows alike (one mean for red, one for
 * green, one for blue), lanes run on from row to row, and so many vectors are made at once that each finds its
 * lanes in the same columns every time:
 *
 *     f32[1024,3] - f32[3]:   for i in 0, 48, .. {  r g b r g b ..  - means in that order;
 *                                                  g b r g b r ..  - ...;   b r g b r g ..  - ... }
 *
 * Where it is an operand whose rows are short, and a transpose makes each of its columns a plane of the
 * results (NHWC to NCHW), lanes run along a plane, and all planes are made at once of what is loaded
 * once. */
#include "engine/kernels/kernels.h"
#include "engine/stages.h"

#include <string.h>

enum { FEW_COLUMNS = 4, MOST_COLUMNS = 16, MOST_NODES = 48 }; /* each column is compiled */

typedef struct Columns {
    Kernel *k;
    Type shape, nest; /* as the program has it, and as it is looped over */
    int column,
        row; /* dimensions of nest: what is unrolled, and what lanes run along, the last other */
    Coord outer[MAX_RANK + 1];
} Columns;

/* Columns of arrays of their own, put side by side: no other operand is read along rows. */
static bool is_stack(const Kernel *k, int64_t columns)
{
    const Node *end = region_return(k->m, k->region);
    NodeId def = end->nin == 1 ? value_def(k->m, end->in[0]) : 0;
    const Node *node = def ? node_at(k->m, def) : NULL;
    return node && node->op == OP_CONCATENATE && node->nin == columns &&
           ((const DimensionAttrs *)node->attrs)->dimension + 1 == type_of(k->m, node->out).rank &&
           type_of(k->m, node->out).dims[type_of(k->m, node->out).rank - 1] == columns;
}

/* Lanes along that dimension fill vectors, and the code is not too long. */
static bool has_lanes(const Kernel *k, Type nest, int row)
{
    return row >= 0 && nest.dims[row] >= k->width && k->width >= 2 * FEW_COLUMNS &&
           region_at(k->m, k->region)->nnodes <= MOST_NODES;
}

/* Rows that would leave most of a register empty, and that are interleaved by halves (store_columns). */
static bool has_narrow_rows(const Kernel *k, int64_t columns)
{
    return columns <= 2 * FEW_COLUMNS && 4 * columns <= k->width && (columns & (columns - 1)) == 0;
}

/* Does a transpose leave rows of small elements whole, and put others beside them than lie there?  Down the columns
 * such elements would be loaded one by one: no machine gathers less than four bytes. */
static bool moves_rows(const Kernel *k)
{
    const Region *region = region_at(k->m, k->region);
    for (int i = 0; i < region->nnodes; i++) {
        const Node *node = node_at(k->m, region->nodes[i]);
        int last = node->nout ? type_of(k->m, node->out).rank - 1 : 0;
        if (node->op != OP_TRANSPOSE || last < 1)
            continue;
        Ints permutation = ((const TransposeAttrs *)node->attrs)->permutation;
        if (element_info[type_of(k->m, node->out).element].bytes < 4 &&
            permutation.at[last] == last && permutation.at[last - 1] != last - 1)
            return true;
    }
    return false;
}

/* Is the node a gather of rows, each by one number? */
static bool fetches_rows(const Kernel *k, const Node *node)
{
    const GatherAttrs *a = node->attrs;
    return node->op == OP_GATHER && a->start_index_map.n == 1 &&
           ints_find(a->offset_dims, type_of(k->m, node->out).rank - 1) >= 0;
}

/* Does it fetch rows, and nothing else?  Two loads and stores move a row of three, where down the columns each
 * element would be gathered. */
static bool only_fetches(const Kernel *k)
{
    const Region *region = region_at(k->m, k->region);
    for (int i = 0; i < region->nnodes && k->only_moves; i++)
        if (fetches_rows(k, node_at(k->m, region->nodes[i])))
            return true;
    return false;
}

static bool has_short_rows(const Kernel *k, Type nest)
{
    const Node *end = region_return(k->m, k->region);
    int last = nest.rank - 1;
    if (!has_lanes(k, nest, last - 1) || nest.dims[last] < 2 || moves_rows(k) || only_fetches(k))
        return false;
    if (nest.dims[last] > FEW_COLUMNS && !has_narrow_rows(k, nest.dims[last]) &&
        (nest.dims[last] > MOST_COLUMNS || !is_stack(k, nest.dims[last])))
        return false;
    for (int i = 0; i < end->nin; i++)
        if (element_info[element_of(k, end->in[i])].kind == COMPLEX)
            return false;
    return true;
}

/* The dimension of nest that is dimension d of shape, or -1. */
static int nest_dimension(Type shape, Type nest, int d)
{
    int64_t inner = 1, inside = 1;
    for (int i = d + 1; i < shape.rank; i++)
        inner *= shape.dims[i];
    for (int i = nest.rank - 1; i >= 0; inside *= nest.dims[i--])
        if (inside == inner && nest.dims[i] == shape.dims[d])
            return i;
    return -1;
}

/* The dimension of nest along which the results have planes that are columns of an operand, or -1. */
static int plane_dimension(const Kernel *k, Type shape, Type nest)
{
    const Region *region = region_at(k->m, k->region);
    for (int i = 0; i < region->nnodes; i++) {
        const Node *node = node_at(k->m, region->nodes[i]);
        if (node->op != OP_TRANSPOSE || !type_same_shape(type_of(k->m, node->out), shape))
            continue;
        int d = (int)ints_find(((const TransposeAttrs *)node->attrs)->permutation, shape.rank - 1);
        if (shape.dims[d] < 2 || shape.dims[d] > FEW_COLUMNS || d + 1 == shape.rank)
            continue;
        int found = nest_dimension(shape, nest, d);
        return found + 1 < nest.rank ? found : -1;
    }
    return -1;
}

static Index *nest_index(const Columns *c, Coord row, Coord column, int lanes)
{
    Index *at = index_new(c->k, c->nest, lanes);
    for (int d = 0; d < c->nest.rank; d++)
        index_set(at, d, d == c->row ? row : d == c->column ? column : c->outer[d]);
    return at;
}

/* All results at some rows, of one column or, with the columns as lanes, of all. */
static void values_at(const Columns *c, Index *at, V *values)
{
    Kernel *k = c->k;
    const Node *end = region_return(k->m, k->region);
    memo_clear(k);
    k->lanes = at->lanes;
    Index *in_shape = index_reshape(k, at, c->shape);
    for (int i = 0; i < end->nin; i++)
        values[i] = element(k, end->in[i], in_shape);
}

/* Result i at some rows of all columns. */
static void store_rows(const Columns *c, int i, Coord rows, int lanes, const V *columns)
{
    Kernel *k = c->k;
    Element e = element_of(k, region_return(k->m, k->region)->in[i]);
    int n = (int)c->nest.dims[c->column];
    if (c->column > c->row) {
        store_columns(k, k->outs[i], e, nest_index(c, rows, coord_const(k, 0), lanes), n, columns);
        return;
    }
    for (int j = 0; j < n; j++)
        store_element(k, k->outs[i], e, nest_index(c, rows, coord_const(k, j), lanes), columns[j]);
}

/* Everything is computed before anything is stored: a result may lie where an operand does. */
static void rows_at(const Columns *c, Coord rows, int lanes)
{
    Kernel *k = c->k;
    const Node *end = region_return(k->m, k->region);
    int n = (int)c->nest.dims[c->column];
    V *values[MOST_COLUMNS], columns[MOST_COLUMNS];
    for (int j = 0; j < n; j++) {
        values[j] = ARENA_ARRAY(k->arena, V, end->nin);
        values_at(c, nest_index(c, rows, coord_const(k, j), lanes), values[j]);
    }
    for (int i = 0; i < end->nin && !k->error; i++) {
        for (int j = 0; j < n; j++)
            columns[j] = values[j][i];
        store_rows(c, i, rows, lanes, columns);
    }
}

/* One row, with its columns as lanes. */
static void row_at(const Columns *c, V row)
{
    Kernel *k = c->k;
    const Node *end = region_return(k->m, k->region);
    V *values = ARENA_ARRAY(k->arena, V, end->nin);
    Coord all = { const_i64(k, 0), 1, 0, NULL };
    Index *at = nest_index(c, coord_uniform(k, row), all, (int)c->nest.dims[c->column]);
    values_at(c, at, values);
    for (int i = 0; i < end->nin && !k->error; i++)
        store_element(k, k->outs[i], element_of(k, end->in[i]), at, values[i]);
}

/* The rows that do not fill a vector. */
static void last_rows(const Columns *c, int64_t from, int64_t end)
{
    Kernel *k = c->k;
    if (c->column < c->row) {
        rows_at(c, (Coord){ const_i64(k, from), 1, from, NULL }, (int)(end - from));
        return;
    }
    Loop loop;
    loop_between(k, &loop, const_i64(k, from), const_i64(k, end), 1, 0, NULL);
    row_at(c, loop.i);
    loop_end(k, &loop, NULL);
}

/* As many rows at a time as there are lanes, then those that are left. */
static void all_rows(const Columns *c, bool is_cut)
{
    Kernel *k = c->k;
    int64_t rows = c->nest.dims[c->row], full = rows / k->width * k->width;
    Loop loop;
    if (is_cut)
        slice_loop(k, &loop, full, k->width);
    else
        loop_begin(k, &loop, full, k->width, 0, NULL);
    rows_at(c, loop_coord(&loop, 1), k->width);
    loop_end(k, &loop, NULL);
    if (full == rows)
        return;
    LLVMBasicBlockRef after = is_cut ? last_slice_begin(k) : NULL;
    last_rows(c, full, rows);
    if (after)
        last_slice_end(k, after);
}

/* ---- from row to row ---- */

/* What an array is beside results that are rows of n. */
typedef enum Extent { EXTENT_ONE, EXTENT_ROW, EXTENT_ALL, EXTENT_OTHER } Extent;

static Extent extent_of(Type t, Type shape, int64_t n)
{
    int64_t count = type_count(t);
    if (count == 1)
        return EXTENT_ONE;
    if (count == n && t.dims[t.rank - 1] == n)
        return EXTENT_ROW;
    return count == type_count(shape) ? EXTENT_ALL : EXTENT_OTHER;
}

/* Does the broadcast lay a row into every row? */
static bool spreads_row(const Kernel *k, const Node *node)
{
    Ints to = ((const BroadcastAttrs *)node->attrs)->broadcast_dimensions;
    return to.at[to.n - 1] + 1 == type_of(k->m, node->out).rank;
}

/* Is the node computed number by number, or a row of its operand's in every row? */
static bool leaves_rows_alike(const Kernel *k, const Node *node, Type shape, int64_t n)
{
    bool is_map = op_info[node->op].kind == KIND_MAP && !node->nregions;
    if (node->op == OP_CONSTANT || node_flow(node) == FLOW_END)
        return true;
    if (!is_map && node->op != OP_BROADCAST && node->op != OP_RESHAPE)
        return false;
    Extent out = extent_of(type_of(k->m, node->out), shape, n);
    for (int i = 0; i < node->nin; i++) {
        Extent from = extent_of(type_of(k->m, node->in[i]), shape, n);
        bool is_alike = node->op != OP_BROADCAST ? from == out
                        : from == EXTENT_ROW     ? spreads_row(k, node)
                                                 : node_is_alias(k->m, node);
        if (from != EXTENT_ONE && !is_alike)
            return false;
    }
    return out != EXTENT_OTHER;
}

/* May lanes find their elements of such an array in a register? */
static bool is_found(Type t, Type shape, int64_t n)
{
    enum { WORD = 4 };
    Extent extent = extent_of(t, shape, n);
    return extent != EXTENT_OTHER && !is_complex(t.element) &&
           (extent != EXTENT_ROW || element_info[t.element].bytes >= WORD);
}

/* How many vectors make up whole rows; 0: rows are not alike, or that would be too much code. */
static int vectors_of_rows(const Kernel *k, Type shape, Type nest)
{
    enum { REGISTER = 64, MOST = 15 };
    const Region *region = region_at(k->m, k->region);
    int64_t n = nest.dims[nest.rank - 1];
    int vectors = (int)(n < k->width ? n : 0);
    if (nest.rank != 2 || n < 2 || !vectors || k->e->vector_bytes < REGISTER)
        return 0;
    for (int half = k->width; half > 1 && vectors % 2 == 0; half /= 2)
        vectors /= 2;
    if (vectors > MOST || vectors * region->nnodes > MOST_NODES)
        return 0;
    for (int i = 0; i < region->nargs; i++)
        if (!is_found(type_of(k->m, region->args + (ValueId)i), shape, n))
            return 0;
    for (int i = 0; i < region->nnodes; i++) {
        const Node *node = node_at(k->m, region->nodes[i]);
        bool is_found_too = node->op != OP_CONSTANT || is_found(type_of(k->m, node->out), shape, n);
        if (!is_found_too || !leaves_rows_alike(k, node, shape, n))
            return 0;
    }
    return vectors;
}

/* The results from element number `first` on. */
static void vectors_at(Kernel *k, Type shape, Coord first, int vectors)
{
    const Node *end = region_return(k->m, k->region);
    V *values = ARENA_ARRAY(k->arena, V, end->nin);
    for (int j = 0; j < vectors; j++) {
        Coord here = coord_add_const(k, first, (int64_t)j * k->width, k->width);
        Index *at = index_numbered(k, shape, here, k->width);
        memo_clear(k);
        k->lanes = k->width;
        for (int i = 0; i < end->nin; i++)
            values[i] = element(k, end->in[i], at);
        for (int i = 0; i < end->nin && !k->error; i++)
            store_element(k, k->outs[i], element_of(k, end->in[i]), at, values[i]);
    }
}

/* Rows that do not fill as many vectors go one by one. */
static bool rows_emit(Kernel *k, Type shape, Type nest)
{
    int vectors = vectors_of_rows(k, shape, nest);
    int64_t step = (int64_t)vectors * k->width, n = type_count(shape);
    if (!vectors || n < 2 * step)
        return false;
    Columns c = { .k = k, .shape = shape, .nest = nest, .column = 1 };
    Loop loop;
    int64_t full = n / step * step, rounds[] = { full / step };
    bool is_cut = slices_choose(k, 1, rounds) == 0;
    if (is_cut)
        slice_loop(k, &loop, full, step);
    else
        loop_begin(k, &loop, full, step, 0, NULL);
    vectors_at(k, shape, loop_coord(&loop, 1), vectors);
    loop_end(k, &loop, NULL);
    if (full == n)
        return true;
    LLVMBasicBlockRef after = is_cut ? last_slice_begin(k) : NULL;
    last_rows(&c, full / nest.dims[1], nest.dims[0]);
    if (after)
        last_slice_end(k, after);
    return true;
}

static bool columns_emit(Kernel *k, Type shape, Type nest)
{
    Columns c = { .k = k, .shape = shape, .nest = nest, .column = nest.rank - 1 };
    if (!has_short_rows(k, nest))
        c.column = plane_dimension(k, shape, nest);
    c.row = nest.rank - (c.column + 1 == nest.rank ? 2 : 1);
    if (c.column < 0 || !has_lanes(k, nest, c.row))
        return false;
    OuterLoops loops;
    int64_t counts[MAX_RANK + 1];
    memcpy(counts, nest.dims, sizeof *counts * (size_t)nest.rank);
    counts[c.column] = 1; /* all columns are made at once */
    all_rows(&c, outer_begin(k, &loops, c.row, counts, nest.dims[c.row] / k->width, c.outer));
    outer_end(k, &loops);
    return true;
}

/* Every result is computed before any is stored: a result may lie where an operand does. */
static void map_body(Kernel *k, Index *at, void *user)
{
    (void)user;
    const Node *end = region_return(k->m, k->region);
    V *values = ARENA_ARRAY(k->arena, V, end->nin);
    for (int i = 0; i < end->nin; i++)
        values[i] = element(k, end->in[i], at);
    for (int i = 0; i < end->nin && !k->error; i++)
        store_element(k, k->outs[i], element_of(k, end->in[i]), at, values[i]);
}

void map_emit(Kernel *k)
{
    const Node *end = region_return(k->m, k->region);
    Type shape = type_of(k->m, end->in[0]);
    bool joined[MAX_RANK + 1];
    memset(joined, 1, sizeof joined);
    joinable(k, end->nin, end->in, shape, joined);
    if (type_count(shape) == 0)
        return;
    Type nest = joined_shape(k, shape, joined);
    if (!rows_emit(k, shape, nest) && !pixels_emit(k, shape, nest) &&
        !columns_emit(k, shape, nest) && !tiles_emit(k, shape, nest) &&
        !pieces_emit(k, shape, nest, map_body))
        loop_over(k, shape, joined, map_body, NULL);
}
