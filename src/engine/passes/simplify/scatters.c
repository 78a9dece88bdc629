/* scatters.c - scatters that are better said otherwise.
 *
 *   one window at a constant place       a slice update: dynamic_update_slice
 *
 *   a million numbers into few places    by parts: each part has places of its own, and then the parts
 *   (segment_sum, histogram)             are combined; what is left over goes one by one:
 *
 *       f32[T], i32[n,1], f32[n]   ->   f32[S,U,T], i32[S,n/SU,U,1], f32[S,n/SU,U], reduced over S and U
 *
 * Updates of one place wait for one another.  The S parts are for workers, and a part deals its updates
 * out to U sets of places in turn, so that equal places one behind the other do not wait.  S and U
 * do not depend on the workers, so the sums do not. */
#include "engine/passes/simplify/simplify.h"

#include "engine/tensor.h"
#include "ops/shape.h"

#include <math.h>
#include <string.h>

enum { PARTS = 8, SETS = 4, MOST_PLACES = 4096, PER_PLACE = 16, MANY = 1 << 15 };
enum { FEW_ELEMENTS = 64 }; /* scatters of fewer share a kernel whatever their places are */

/* ---- a window at a constant place ---- */

static bool returns_update(const Module *m, RegionId r)
{
    return region_return(m, r)->in[0] == region_at(m, r)->args + 1;
}

/* The window's extents and starts in all dimensions of the operand; false: not known, or outside. */
static bool constant_window(const Module *m, const Node *node, int64_t *dims, int64_t *starts)
{
    const ScatterAttrs *a = node->attrs;
    const Dense *indices = value_constant(m, node->in[1]);
    Type whole = type_of(m, node->in[0]), update = type_of(m, node->in[2]);
    if (!indices || a->input_batching_dims.n ||
        type_count(indices->type) != a->scatter_dims_to_operand_dims.n)
        return false;
    Element e = indices->type.element;
    for (int d = 0, window = 0; d < whole.rank; d++) {
        bool is_one = ints_find(a->inserted_window_dims, d) >= 0;
        dims[d] = is_one ? 1 : update.dims[a->update_window_dims.at[window++]];
        int component = ints_find(a->scatter_dims_to_operand_dims, d);
        int at = indices->is_splat ? 0 : component;
        starts[d] = component < 0
                        ? 0
                        : number_int(e, (const char *)indices->data + at * element_info[e].bytes);
        if (starts[d] < 0 || starts[d] > whole.dims[d] - dims[d])
            return false;
    }
    return true;
}

static ValueId slice_at(Simplifier *s, ValueId v, Type part, const int64_t *starts, const Loc *loc)
{
    Arena *arena = s->m->arena;
    int64_t ends[MAX_RANK + 1], ones[MAX_RANK + 1];
    for (int d = 0; d < part.rank; d++) {
        ends[d] = starts[d] + part.dims[d];
        ones[d] = 1;
    }
    SliceAttrs *attrs = ARENA_NEW(arena, SliceAttrs);
    attrs->start_indices = ints_copy(arena, part.rank, starts);
    attrs->limit_indices = ints_copy(arena, part.rank, ends);
    attrs->strides = ints_copy(arena, part.rank, ones);
    return simplify_put(s, OP_SLICE, 1, &v, part, attrs, loc);
}

static ValueId window_update(Simplifier *s, const Node *node)
{
    Module *m = s->m;
    int64_t dims[MAX_RANK + 1], starts[MAX_RANK + 1];
    OpId op = region_reducer(m, node->regions[0]);
    bool is_set = returns_update(m, node->regions[0]);
    if (type_count(type_of(m, node->in[2])) < FEW_ELEMENTS || (!is_set && op == OP_COUNT) ||
        !constant_window(m, node, dims, starts))
        return 0;
    Type whole = type_of(m, node->in[0]),
         window = type_new(m->arena, whole.element, whole.rank, dims);
    ValueId in[2 + MAX_RANK] = { node->in[0] };
    in[1] = simplify_put(s, OP_RESHAPE, 1, &node->in[2], window, NULL, node->loc);
    if (!is_set) {
        ValueId both[] = { slice_at(s, node->in[0], window, starts, node->loc), in[1] };
        in[1] = simplify_put(s, op, 2, both, window, NULL, node->loc);
    }
    for (int d = 0; d < whole.rank; d++) {
        int64_t *start = ARENA_NEW(m->arena, int64_t);
        *start = starts[d];
        in[2 + d] = simplify_constant(s, (Dense){ type_scalar(I64), true, start }, node->loc);
    }
    return simplify_put(s, OP_DYNAMIC_UPDATE, 2 + whole.rank, in, whole, NULL, node->loc);
}

/* ---- many updates of few places ---- */

/* What changes nothing when it is combined with x; also not the sign of a zero. */
static Dense neutral(Simplifier *s, OpId op, Element e)
{
    Tensor t = { type_scalar(e), arena_alloc(s->m->arena, sizeof(int64_t)) };
    int bits = element_info[e].bits;
    bool is_max = op == OP_MAX, is_unsigned = element_info[e].kind == UNSIGNED;
    int64_t most = (int64_t)(UINT64_MAX >> (64 - bits + !is_unsigned));
    if (element_carrier(e) == CARRY_FLOAT)
        float_set(t, 0, op == OP_ADD ? -0.0 : is_max ? -INFINITY : INFINITY);
    else
        int_set(t, 0, op == OP_ADD ? 0 : !is_max ? most : is_unsigned ? 0 : -most - 1);
    return (Dense){ t.type, true, t.data };
}

/* Single numbers, each at the place that its row of the indices names. */
static bool is_crowded(const Module *m, const Node *node)
{
    const ScatterAttrs *a = node->attrs;
    Type whole = type_of(m, node->in[0]), indices = type_of(m, node->in[1]);
    Type update = type_of(m, node->in[2]);
    OpId op = region_reducer(m, node->regions[0]);
    int64_t places = type_count(whole), n = type_count(update);
    bool is_number = whole.element == F32 || whole.element == F64 || whole.element == I32 ||
                     whole.element == I64 || whole.element == U32;
    return is_number && (op == OP_ADD || op == OP_MAX || op == OP_MIN) &&
           a->update_window_dims.n == 0 && a->input_batching_dims.n == 0 && whole.rank >= 1 &&
           whole.rank + 2 <= MAX_RANK && a->index_vector_dim >= indices.rank - 1 &&
           places <= MOST_PLACES && n >= MANY && n / PER_PLACE >= places;
}

static ScatterAttrs *parted_attrs(Simplifier *s, const ScatterAttrs *a)
{
    static const int64_t targets[] = { 0, 1 }, from[] = { 0, 2 };
    Arena *arena = s->m->arena;
    int64_t inserted[MAX_RANK], to[MAX_RANK];
    ScatterAttrs *parted = ARENA_NEW(arena, ScatterAttrs);
    for (int i = 0; i < a->inserted_window_dims.n; i++)
        inserted[i] = a->inserted_window_dims.at[i] + 2;
    for (int i = 0; i < a->scatter_dims_to_operand_dims.n; i++)
        to[i] = a->scatter_dims_to_operand_dims.at[i] + 2;
    parted->inserted_window_dims = ints_copy(arena, a->inserted_window_dims.n, inserted);
    parted->scatter_dims_to_operand_dims = ints_copy(arena, a->scatter_dims_to_operand_dims.n, to);
    parted->input_batching_dims = ints_copy(arena, 2, targets);
    parted->scatter_indices_batching_dims = ints_copy(arena, 2, from);
    parted->index_vector_dim = 3;
    return parted;
}

/* Updates from .. to: *indices [n, components] and *values [n]. */
static void take_updates(Simplifier *s, const Node *node, int64_t from, int64_t to,
                         ValueId *indices, ValueId *values)
{
    Module *m = s->m;
    int64_t n = type_count(type_of(m, node->in[2])), starts[] = { from, 0 };
    int64_t parts = ((const ScatterAttrs *)node->attrs)->scatter_dims_to_operand_dims.n;
    int64_t all[] = { n, parts }, taken[] = { to - from, parts };
    for (int i = 1; i <= 2; i++) {
        Type list = type_new(m->arena, type_of(m, node->in[i]).element, i == 1 ? 2 : 1, all);
        Type some = type_new(m->arena, list.element, list.rank, taken);
        ValueId v = simplify_put(s, OP_RESHAPE, 1, &node->in[i], list, NULL, node->loc);
        *(i == 1 ? indices : values) = slice_at(s, v, some, starts, node->loc);
    }
}

/* The operand with the updates from `from` on, one after another. */
static ValueId scatter_rest(Simplifier *s, const Node *node, OpId op, int64_t from)
{
    Module *m = s->m;
    Type whole = type_of(m, node->in[0]);
    int64_t n = type_count(type_of(m, node->in[2]));
    ScatterAttrs *attrs = arena_copy(m->arena, node->attrs, sizeof *attrs);
    attrs->index_vector_dim = 1;
    ValueId in[3] = { node->in[0] };
    if (from == n)
        return in[0];
    take_updates(s, node, from, n, &in[1], &in[2]);
    RegionId combine = build_reducer(m, op, whole.element, node->loc);
    NodeId scatter = node_new(m, OP_SCATTER, 3, in, 1, &whole, 1, &combine, attrs, node->loc);
    region_append(m, s->region, scatter);
    return node_at(m, scatter)->out;
}

/* The scatter into [PARTS, SETS, places]. */
static ValueId scatter_parts(Simplifier *s, const Node *node, OpId op)
{
    Module *m = s->m;
    const ScatterAttrs *a = node->attrs;
    Type whole = type_of(m, node->in[0]);
    int64_t rows = type_count(type_of(m, node->in[2])) / (PARTS * SETS);
    int64_t dims[MAX_RANK + 2] = { PARTS, SETS };
    int64_t parts[] = { PARTS, rows, SETS, a->scatter_dims_to_operand_dims.n };
    memcpy(dims + 2, whole.dims, sizeof *dims * (size_t)whole.rank);
    Type wide = type_new(m->arena, whole.element, whole.rank + 2, dims);
    Dense none = neutral(s, op, whole.element);
    none.type = wide;
    ValueId indices, values;
    take_updates(s, node, 0, rows * PARTS * SETS, &indices, &values);
    ValueId in[] = {
        simplify_constant(s, none, node->loc),
        simplify_put(s, OP_RESHAPE, 1, &indices,
                     type_new(m->arena, type_of(m, indices).element, 4, parts), NULL, node->loc),
        simplify_put(s, OP_RESHAPE, 1, &values, type_new(m->arena, whole.element, 3, parts), NULL,
                     node->loc),
    };
    RegionId combine = build_reducer(m, op, whole.element, node->loc);
    NodeId scatter =
        node_new(m, OP_SCATTER, 3, in, 1, &wide, 1, &combine, parted_attrs(s, a), node->loc);
    region_append(m, s->region, scatter);
    return node_at(m, scatter)->out;
}

static ValueId part_scatter(Simplifier *s, const Node *node)
{
    static const int64_t both[] = { 0, 1 };
    Module *m = s->m;
    OpId op = region_reducer(m, node->regions[0]);
    Type whole = type_of(m, node->in[0]);
    ValueId in[] = { scatter_parts(s, node, op),
                     simplify_constant(s, neutral(s, op, whole.element), node->loc) };
    DimensionsAttrs *attrs = ARENA_NEW(m->arena, DimensionsAttrs);
    attrs->dimensions = ints_copy(m->arena, 2, both);
    RegionId combine = build_reducer(m, op, whole.element, node->loc);
    NodeId sum = node_new(m, OP_REDUCE, 2, in, 1, &whole, 1, &combine, attrs, node->loc);
    simplify_visit(s, sum);
    int64_t n = type_count(type_of(m, node->in[2])), full = n / (PARTS * SETS) * (PARTS * SETS);
    ValueId last[] = { scatter_rest(s, node, op, full), subst_get(&s->map, node_at(m, sum)->out) };
    return simplify_put(s, op, 2, last, whole, NULL, node->loc);
}

ValueId simplify_scatter(Simplifier *s, NodeId n)
{
    Node node = *node_at(s->m, n);
    if (node.op != OP_SCATTER || node.nin != 3)
        return 0;
    ValueId v = window_update(s, &node);
    return v || !is_crowded(s->m, &node) ? v : part_scatter(s, &node);
}
