/* map.c - the kernel that is one loop over its results.
 *
 * Where rows are long a vector runs along them.  Where they are short lanes run down the columns:
 *
 *     f32[1024,3]:   for i in 0, 16, .. {  column 0 of 16 rows, column 1, column 2;
 *                                          interleaved in registers, stored as three vectors  }
 *
 * A row of three would be three lanes of sixteen, 1024 times.  In a column each element of a row is
 * a program of its own: which part of a concatenation it comes from is known, what is spread over
 * the columns is loaded as it is, and what was transposed lies side by side. */
#include "engine/kernels/kernels.h"

#include <string.h>

enum { FEW_COLUMNS = 4, MOST_COLUMNS = 16, MOST_NODES = 48 }; /* each column is compiled */

typedef struct Columns {
    Kernel *k;
    Type shape, nest; /* as the program has it, and as it is looped over */
    Coord outer[MAX_RANK + 1];
    int64_t n; /* columns */
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

static bool fits(const Kernel *k, Type nest)
{
    const Node *end = region_return(k->m, k->region);
    int last = nest.rank - 1;
    if (last < 1 || nest.dims[last] < 2 || nest.dims[last - 1] < k->width ||
        k->width < 2 * FEW_COLUMNS || region_at(k->m, k->region)->nnodes > MOST_NODES)
        return false;
    if (nest.dims[last] > FEW_COLUMNS &&
        (nest.dims[last] > MOST_COLUMNS || !is_stack(k, nest.dims[last])))
        return false;
    for (int i = 0; i < end->nin; i++)
        if (element_info[type_of(k->m, end->in[i]).element].kind == COMPLEX)
            return false;
    return true;
}

static Index *nest_index(const Columns *c, Coord row, Coord column, int lanes)
{
    Index *at = index_new(c->k, c->nest, lanes);
    int last = c->nest.rank - 1;
    for (int d = 0; d < last - 1; d++)
        index_set(at, d, c->outer[d]);
    index_set(at, last - 1, row);
    index_set(at, last, column);
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

/* Everything is computed before anything is stored: a result may lie where an operand does. */
static void rows_at(const Columns *c, Coord rows)
{
    Kernel *k = c->k;
    const Node *end = region_return(k->m, k->region);
    V *values[MOST_COLUMNS], columns[MOST_COLUMNS];
    for (int j = 0; j < c->n; j++) {
        values[j] = ARENA_ARRAY(k->arena, V, end->nin);
        values_at(c, nest_index(c, rows, coord_const(k, j), k->width), values[j]);
    }
    Index *first = nest_index(c, rows, coord_const(k, 0), k->width);
    for (int i = 0; i < end->nin && !k->error; i++) {
        for (int j = 0; j < c->n; j++)
            columns[j] = values[j][i];
        store_columns(k, k->outs[i], type_of(k->m, end->in[i]).element, first, (int)c->n, columns);
    }
}

static void row_at(const Columns *c, V row)
{
    Kernel *k = c->k;
    const Node *end = region_return(k->m, k->region);
    V *values = ARENA_ARRAY(k->arena, V, end->nin);
    Coord all = { const_i64(k, 0), 1, 0, NULL };
    Index *at = nest_index(c, coord_uniform(k, row), all, (int)c->n);
    values_at(c, at, values);
    for (int i = 0; i < end->nin && !k->error; i++)
        store_element(k, k->outs[i], type_of(k->m, end->in[i]).element, at, values[i]);
}

/* As many rows at a time as there are lanes, then those that are left. */
static void all_rows(const Columns *c, bool is_cut)
{
    Kernel *k = c->k;
    int64_t rows = c->nest.dims[c->nest.rank - 2], full = rows / k->width * k->width;
    Loop loop;
    if (is_cut)
        slice_loop(k, &loop, full, k->width);
    else
        loop_begin(k, &loop, full, k->width, 0, NULL);
    rows_at(c, loop_coord(&loop, 1));
    loop_end(k, &loop, NULL);
    if (full == rows)
        return;
    LLVMBasicBlockRef after = is_cut ? last_slice_begin(k) : NULL;
    loop_between(k, &loop, const_i64(k, full), const_i64(k, rows), 1, 0, NULL);
    row_at(c, loop.i);
    loop_end(k, &loop, NULL);
    if (after)
        last_slice_end(k, after);
}

static bool short_rows_emit(Kernel *k, Type shape, Type nest)
{
    if (!fits(k, nest))
        return false;
    Columns c = { .k = k, .shape = shape, .nest = nest, .n = nest.dims[nest.rank - 1] };
    int depth = nest.rank - 2;
    Loop loops[MAX_RANK + 1];
    int64_t extents[MAX_RANK + 1];
    memcpy(extents, nest.dims, sizeof *extents * (size_t)nest.rank);
    extents[depth] /= k->width;
    int cut = slices_choose(k, depth + 1, extents);
    for (int d = 0; d < depth; d++) {
        if (d == cut)
            slice_loop(k, &loops[d], nest.dims[d], 1);
        else
            loop_begin(k, &loops[d], nest.dims[d], 1, 0, NULL);
        c.outer[d] = loop_coord(&loops[d], 0);
    }
    all_rows(&c, cut == depth);
    for (int d = depth - 1; d >= 0; d--)
        loop_end(k, &loops[d], NULL);
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
    if (!short_rows_emit(k, shape, nest) && !tiles_emit(k, shape, nest))
        loop_over(k, shape, joined, map_body, NULL);
}
