/* axes.c - named axes to groups of devices: the last step in which a name is known.
 *
 *     mesh ["x"=2, "y"=2]          device = 2 x + y
 *       psum over "y"              groups [[0, 1], [2, 3]]       along x the stride is 2, along y 1
 *       psum over "x"              groups [[0, 2], [1, 3]]
 *       psum over "x,y"            groups [[0, 1, 2, 3]]
 *       axis_index "x"             partition_id / 2 mod 2
 *
 * A map inside a map numbers the devices that each of the outer one's has: the axes of all maps
 * around, outermost first, are the digits of a device's number.  Every node on a named axis inside
 * a manual computation is replaced by nodes of StableHLO. */
#include "base/fail.h"
#include "base/grow.h"
#include "base/guard.h"
#include "front/lower/lower.h"
#include "front/transform/transform.h"
#include "front/value/axis_names.h"
#include "hlo/rewrite.h"

#include <stdlib.h>
#include <string.h>

enum { CHANNEL = 1 }; /* what JAX gives to every collective */

/* An axis of a manual computation around; innermost first. */
typedef struct Bound {
    Str name;
    int64_t size, stride;
    const struct Bound *outer;
} Bound;

typedef struct Resolver {
    Module *m;
    int64_t ndevices;
    const Bound *axes; /* NULL outside of all maps */
    Subst map;
    bool *is_done; /* [func] */
    NodeId *list;  /* the region's nodes as they will be */
    int n, room;
} Resolver;

static void push(Resolver *r, NodeId node)
{
    HEAP_ROOM(r->list, r->n, &r->room);
    r->list[r->n++] = node;
}

static ValueId emit(Resolver *r, OpId op, ValueId x, Type result, const void *attrs,
                    RegionId region, const Loc *loc)
{
    static const NoAttrs none;
    NodeId node = node_new(r->m, op, x != 0, &x, 1, &result, region != 0, &region,
                           attrs ? attrs : &none, loc);
    push(r, node);
    return node_at(r->m, node)->out;
}

/* ---- groups of devices ---- */

static const Bound *bind_mesh(Resolver *r, const Mesh *mesh)
{
    const Bound *axes = r->axes;
    for (int i = 0; mesh && i < mesh->naxes; i++) {
        Bound *one = ARENA_NEW(r->m->arena, Bound);
        int64_t around = axes ? axes->stride : r->ndevices;
        *one = (Bound){ mesh->axes[i], mesh->sizes[i], around / mesh->sizes[i], axes };
        axes = one;
    }
    return axes;
}

static const Bound *find_axis(const Resolver *r, Str name)
{
    for (const Bound *axis = r->axes; axis; axis = axis->outer)
        if (str_equal(axis->name, name))
            return axis;
    fail("no mesh binds the axis \"%.*s\"", STR_ARG(name));
}

/* How far from a device the k-th member along the axes is, given that it is the first. */
static int64_t offset_of(const Resolver *r, const AxisAttrs *axes, int64_t k)
{
    int64_t offset = 0, stride = 1;
    Str list = axes->axis, name;
    for (int i = 0; i < axes->sizes.n; i++)
        stride *= axes->sizes.at[i];
    for (int i = 0; axis_names_next(&list, &name); i++) {
        stride /= axes->sizes.at[i];
        offset += k / stride % axes->sizes.at[i] * find_axis(r, name)->stride;
    }
    return offset;
}

static bool is_first(const Resolver *r, const AxisAttrs *axes, int64_t device)
{
    Str list = axes->axis, name;
    while (axis_names_next(&list, &name)) {
        const Bound *axis = find_axis(r, name);
        if (device / axis->stride % axis->size != 0)
            return false;
    }
    return true;
}

/* The devices along the axes, one row for each position along the others. */
static Matrix members(Resolver *r, const AxisAttrs *axes)
{
    int64_t size = 1, total = r->ndevices, row = 0;
    for (int i = 0; i < axes->sizes.n; i++)
        size *= axes->sizes.at[i];
    int64_t *at = ARENA_ARRAY(r->m->arena, int64_t, total);
    for (int64_t d = 0; d < total; d++)
        if (is_first(r, axes, d)) {
            for (int64_t k = 0; k < size; k++)
                at[row * size + k] = d + offset_of(r, axes, k);
            row++;
        }
    return (Matrix){ (int)row, (int)size, at };
}

/* The groups in which devices meet: those, or parts of those. */
static Matrix groups(Resolver *r, const AxisAttrs *axes)
{
    Matrix all = members(r, axes), g = axes->groups;
    if (!g.rows)
        return all;
    int64_t *at = ARENA_ARRAY(r->m->arena, int64_t, all.rows * g.rows * g.cols);
    int n = 0;
    for (int row = 0; row < all.rows; row++)
        for (int i = 0; i < g.rows * g.cols; i++)
            at[n++] = g.at[i] < 0 ? -1 : all.at[row * all.cols + g.at[i]];
    return (Matrix){ all.rows * g.rows, g.cols, at };
}

/* ---- nodes ---- */

static Type with_extent(Module *m, Type t, int axis, int64_t extent)
{
    int64_t dims[MAX_RANK];
    memcpy(dims, t.dims, sizeof *dims * (size_t)t.rank);
    dims[axis] = extent;
    return type_new(m->arena, t.element, t.rank, dims);
}

/* The type with one more axis of extent 1. */
static Type with_one(Module *m, Type t, int axis)
{
    int64_t dims[MAX_RANK + 1];
    for (int i = 0; i <= t.rank; i++)
        dims[i] = i < axis ? t.dims[i] : i == axis ? 1 : t.dims[i - 1];
    return type_new(m->arena, t.element, t.rank + 1, dims);
}

static ValueId all_reduce(Resolver *r, Node node, OpId op)
{
    AllReduceAttrs *attrs = ARENA_NEW(r->m->arena, AllReduceAttrs);
    *attrs = (AllReduceAttrs){ groups(r, node.attrs), CHANNEL, true, 0 };
    Type t = type_of(r->m, node.in[0]);
    return emit(r, OP_ALL_REDUCE, node.in[0], t, attrs,
                build_reducer(r->m, op, t.element, node.loc), node.loc);
}

static ValueId all_gather(Resolver *r, Node node, int dim)
{
    AllGatherAttrs *attrs = ARENA_NEW(r->m->arena, AllGatherAttrs);
    *attrs = (AllGatherAttrs){ groups(r, node.attrs), CHANNEL, true, dim, 0 };
    Type one = with_one(r->m, type_of(r->m, node.in[0]), dim);
    ValueId x = emit(r, OP_RESHAPE, node.in[0], one, NULL, 0, node.loc);
    return emit(r, OP_ALL_GATHER, x, type_of(r->m, node.out), attrs, 0, node.loc);
}

static ValueId reduce_scatter(Resolver *r, Node node, int dim)
{
    ReduceScatterAttrs *attrs = ARENA_NEW(r->m->arena, ReduceScatterAttrs);
    *attrs = (ReduceScatterAttrs){ groups(r, node.attrs), CHANNEL, true, dim, 0 };
    Type t = type_of(r->m, node.in[0]);
    ValueId x = emit(r, OP_REDUCE_SCATTER, node.in[0], with_extent(r->m, t, dim, 1), attrs,
                     build_reducer(r->m, OP_ADD, t.element, node.loc), node.loc);
    return emit(r, OP_RESHAPE, x, type_of(r->m, node.out), NULL, 0, node.loc);
}

/* What is split keeps an extent of 1, and what is put together starts with one: the axis that
 * goes and the axis that comes are both there while the devices meet. */
static ValueId all_to_all(Resolver *r, Node node)
{
    const AxisAttrs *axes = node.attrs;
    int split = (int)axes->dimension, concat = (int)axes->concat_dimension;
    AllToAllAttrs *attrs = ARENA_NEW(r->m->arena, AllToAllAttrs);
    ValueId x = node.in[0];
    Type t = type_of(r->m, x);
    if (split != concat) {
        concat += concat > split;
        t = with_one(r->m, t, concat);
        split += concat <= split;
        x = emit(r, OP_RESHAPE, x, t, NULL, 0, node.loc);
        t = with_extent(r->m, with_extent(r->m, t, concat, axes->size), split, 1);
    }
    *attrs = (AllToAllAttrs){ groups(r, axes), CHANNEL, false, split, concat, axes->size, 0 };
    x = emit(r, OP_ALL_TO_ALL, x, t, attrs, 0, node.loc);
    Type to = type_of(r->m, node.out);
    return type_equal(t, to) ? x : emit(r, OP_RESHAPE, x, to, NULL, 0, node.loc);
}

/* Pairs of positions along the axes become pairs of devices. */
static ValueId permute(Resolver *r, Node node)
{
    const AxisAttrs *axes = node.attrs;
    Matrix g = members(r, axes), pairs = axes->pairs;
    int64_t *at = ARENA_ARRAY(r->m->arena, int64_t, g.rows * pairs.rows * 2 + 1);
    int n = 0;
    for (int row = 0; row < g.rows; row++)
        for (int i = 0; i < pairs.rows; i++, n++)
            for (int k = 0; k < 2; k++)
                at[2 * n + k] = g.at[row * g.cols + pairs.at[2 * i + k]];
    PermuteAttrs *attrs = ARENA_NEW(r->m->arena, PermuteAttrs);
    *attrs = (PermuteAttrs){ { n, 2, at }, CHANNEL, 0 };
    return emit(r, OP_PERMUTE, node.in[0], type_of(r->m, node.in[0]), attrs, 0, node.loc);
}

/* In a group of collective_broadcast the source comes first. */
static ValueId broadcast(Resolver *r, Node node)
{
    const AxisAttrs *axes = node.attrs;
    Matrix g = members(r, axes);
    int64_t *at = arena_copy(r->m->arena, g.at, sizeof *at * (size_t)(g.rows * g.cols));
    for (int row = 0; row < g.rows; row++) {
        int64_t *first = at + row * g.cols, source = first[axes->source];
        memmove(first + 1, first, sizeof *first * (size_t)axes->source);
        first[0] = source;
    }
    CollectiveBroadcastAttrs *attrs = ARENA_NEW(r->m->arena, CollectiveBroadcastAttrs);
    *attrs = (CollectiveBroadcastAttrs){ { g.rows, g.cols, at }, CHANNEL, false, false };
    return emit(r, OP_COLLECTIVE_BROADCAST, node.in[0], type_of(r->m, node.in[0]), attrs, 0,
                node.loc);
}

static ValueId number(Resolver *r, int64_t x, const Loc *loc)
{
    ConstantAttrs *attrs = ARENA_NEW(r->m->arena, ConstantAttrs);
    uint32_t data = (uint32_t)x;
    attrs->value = (Dense){ type_scalar(U32), true, arena_copy(r->m->arena, &data, sizeof data) };
    return emit(r, OP_CONSTANT, 0, type_scalar(U32), attrs, 0, loc);
}

static ValueId combine(Resolver *r, OpId op, ValueId a, ValueId b, const Loc *loc)
{
    static const NoAttrs none;
    Type t = type_of(r->m, a);
    NodeId node = node_new(r->m, op, 2, (const ValueId[]){ a, b }, 1, &t, 0, NULL, &none, loc);
    push(r, node);
    return node_at(r->m, node)->out;
}

static ValueId axis_index(Resolver *r, Node node)
{
    const Bound *axis = find_axis(r, ((const AxisAttrs *)node.attrs)->axis);
    ValueId id = emit(r, OP_PARTITION_ID, 0, type_scalar(U32), NULL, 0, node.loc);
    if (axis->stride > 1)
        id = combine(r, OP_DIV, id, number(r, axis->stride, node.loc), node.loc);
    if (axis->stride * axis->size < r->ndevices)
        id = combine(r, OP_REM, id, number(r, axis->size, node.loc), node.loc);
    return emit(r, OP_CONVERT, id, type_scalar(I32), NULL, 0, node.loc);
}

/* A group of one device: it keeps what it has, or gives it one more or one less axis. */
static ValueId alone(Resolver *r, Node node)
{
    if (node.op == OP_NAMED_INDEX)
        return emit(r, OP_CONVERT, number(r, 0, node.loc), type_scalar(I32), NULL, 0, node.loc);
    Type t = type_of(r->m, node.out);
    bool is_same = type_equal(t, type_of(r->m, node.in[0]));
    return is_same ? node.in[0] : emit(r, OP_RESHAPE, node.in[0], t, NULL, 0, node.loc);
}

static void replace(Resolver *r, NodeId n)
{
    Node node = *node_at(r->m, n);
    int dim = (int)((const AxisAttrs *)node.attrs)->dimension;
    ValueId y = 0;
    if (((const AxisAttrs *)node.attrs)->size == 1) {
        subst_set(&r->map, node.out, alone(r, node));
        return;
    }
    switch (node.op) {
    case OP_NAMED_SUM: y = all_reduce(r, node, OP_ADD); break;
    case OP_NAMED_MAX: y = all_reduce(r, node, OP_MAX); break;
    case OP_NAMED_MIN: y = all_reduce(r, node, OP_MIN); break;
    case OP_NAMED_GATHER: y = all_gather(r, node, dim); break;
    case OP_NAMED_SCATTER: y = reduce_scatter(r, node, dim); break;
    case OP_NAMED_EXCHANGE: y = all_to_all(r, node); break;
    case OP_NAMED_PERMUTE: y = permute(r, node); break;
    case OP_NAMED_BROADCAST: y = broadcast(r, node); break;
    case OP_NAMED_INDEX: y = axis_index(r, node); break;
    default: fail("%s has no named axis", op_name(node.op));
    }
    subst_set(&r->map, node.out, y);
}

/* ---- regions ---- */

static void resolve(Resolver *r, RegionId region)
{
    NodeId *outer = r->list;
    int n = r->n, room = r->room;
    const Bound *axes = r->axes;
    r->list = NULL;
    r->n = r->room = 0;
    for (int i = 0; i < region_at(r->m, region)->nnodes; i++) {
        NodeId id = region_at(r->m, region)->nodes[i];
        Node node = *node_at(r->m, id);
        if (op_info[node.op].attrs == ATTRS_AXIS) {
            for (int k = 0; k < node.nin; k++)
                node_at(r->m, id)->in[k] = subst_get(&r->map, node.in[k]);
            replace(r, id);
            continue;
        }
        push(r, id);
        r->axes = node.op == OP_MANUAL ? bind_mesh(r, manual_mesh(node.attrs)) : axes;
        for (int k = 0; k < node.nregions; k++)
            resolve(r, node.regions[k]);
        r->axes = axes;
        if (node.op != OP_CALL)
            continue;
        const Func *f = func_find(r->m, ((const CallAttrs *)node.attrs)->callee);
        if (!r->is_done[f - r->m->funcs]) {
            r->is_done[f - r->m->funcs] = true;
            resolve(r, f->body);
        }
    }
    region_set_nodes(r->m, region, r->n, r->list);
    heap_free(r->list);
    r->list = outer;
    r->n = n;
    r->room = room;
}

void resolve_axes(Module *m, RegionId r, int ndevices)
{
    Resolver resolver = { .m = m,
                          .ndevices = ndevices,
                          .map = subst_new(m),
                          .is_done = HEAP_ARRAY(bool, m->nfuncs + 1, "a list") };
    resolve(&resolver, r);
    subst_apply(&resolver.map, m, r);
    for (int i = 0; i < m->nfuncs; i++)
        if (resolver.is_done[i])
            subst_apply(&resolver.map, m, m->funcs[i].body);
    subst_free(&resolver.map);
    heap_free(resolver.is_done);
}
