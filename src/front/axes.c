/* axes.c - named axes to groups of devices: the last step in which a name is known.
 *
 *     mesh ["x"=2, "y"=2]          device = 2 x + y
 *       psum over "y"              groups [[0, 1], [2, 3]]       along x the stride is 2, along y 1
 *       psum over "x"              groups [[0, 2], [1, 3]]
 *       axis_index "x"             partition_id / 2 mod 2
 *
 * Every node on a named axis inside a manual computation is replaced by nodes of StableHLO. */
#include "base/fail.h"
#include "front/lower.h"
#include "hlo/rewrite.h"

#include <stdlib.h>
#include <string.h>

enum { CHANNEL = 1 }; /* what JAX gives to every collective */

typedef struct Resolver {
    Module *m;
    const Mesh *mesh; /* of the manual computation around; NULL outside */
    Subst map;
    bool *is_done; /* [func] */
    NodeId *list;  /* the region's nodes as they will be */
    int n, room;
} Resolver;

static void push(Resolver *r, NodeId node)
{
    if (r->n == r->room) {
        r->room = r->room ? r->room * 2 : 64;
        r->list = realloc(r->list, sizeof *r->list * (size_t)r->room);
        if (!r->list)
            fail("no memory for %d operations", r->room);
    }
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

/* ---- who meets whom ---- */

static int find_axis(const Mesh *mesh, Str name)
{
    for (int i = 0; mesh && i < mesh->naxes; i++)
        if (str_equal(mesh->axes[i], name))
            return i;
    fail("no mesh binds the axis \"%.*s\"", STR_ARG(name));
}

static int64_t stride_of(const Mesh *mesh, int axis)
{
    int64_t stride = 1;
    for (int i = axis + 1; i < mesh->naxes; i++)
        stride *= mesh->sizes[i];
    return stride;
}

static Matrix groups(Resolver *r, int axis)
{
    int64_t size = r->mesh->sizes[axis], total = mesh_count(r->mesh);
    int64_t stride = stride_of(r->mesh, axis), row = 0;
    int64_t *at = ARENA_ARRAY(r->m->arena, int64_t, total);
    for (int64_t d = 0; d < total; d++)
        if (d / stride % size == 0) {
            for (int64_t k = 0; k < size; k++)
                at[row * size + k] = d + k * stride;
            row++;
        }
    return (Matrix){ (int)row, (int)size, at };
}

static Matrix pairs_of(Resolver *r, int axis, Matrix pairs)
{
    Matrix g = groups(r, axis);
    int64_t *at = ARENA_ARRAY(r->m->arena, int64_t, g.rows * pairs.rows * 2 + 1);
    int n = 0;
    for (int row = 0; row < g.rows; row++)
        for (int i = 0; i < pairs.rows; i++, n++)
            for (int k = 0; k < 2; k++)
                at[2 * n + k] = g.at[row * g.cols + pairs.at[2 * i + k]];
    return (Matrix){ n, 2, at };
}

/* ---- nodes ---- */

static RegionId reducer(Module *m, OpId op, Element e, const Loc *loc)
{
    static const NoAttrs none;
    Type scalar = type_scalar(e);
    RegionId region = region_new(m, 0, 2, (const Type[]){ scalar, scalar });
    ValueId a = region_at(m, region)->args;
    ValueId y = build_node(m, region, op, 2, (const ValueId[]){ a, a + 1 }, scalar, NULL, loc);
    region_append(m, region, node_new(m, OP_RETURN, 1, &y, 0, NULL, 0, NULL, &none, loc));
    return region;
}

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

static ValueId all_reduce(Resolver *r, Node node, OpId op, int axis)
{
    AllReduceAttrs *attrs = ARENA_NEW(r->m->arena, AllReduceAttrs);
    *attrs = (AllReduceAttrs){ groups(r, axis), CHANNEL, true, 0 };
    Type t = type_of(r->m, node.in[0]);
    return emit(r, OP_ALL_REDUCE, node.in[0], t, attrs, reducer(r->m, op, t.element, node.loc),
                node.loc);
}

static ValueId all_gather(Resolver *r, Node node, int axis, int dim)
{
    AllGatherAttrs *attrs = ARENA_NEW(r->m->arena, AllGatherAttrs);
    *attrs = (AllGatherAttrs){ groups(r, axis), CHANNEL, true, dim, 0 };
    Type one = with_one(r->m, type_of(r->m, node.in[0]), dim);
    ValueId x = emit(r, OP_RESHAPE, node.in[0], one, NULL, 0, node.loc);
    return emit(r, OP_ALL_GATHER, x, type_of(r->m, node.out), attrs, 0, node.loc);
}

static ValueId reduce_scatter(Resolver *r, Node node, int axis, int dim)
{
    ReduceScatterAttrs *attrs = ARENA_NEW(r->m->arena, ReduceScatterAttrs);
    *attrs = (ReduceScatterAttrs){ groups(r, axis), CHANNEL, true, dim, 0 };
    Type t = type_of(r->m, node.in[0]);
    ValueId x = emit(r, OP_REDUCE_SCATTER, node.in[0], with_extent(r->m, t, dim, 1), attrs,
                     reducer(r->m, OP_ADD, t.element, node.loc), node.loc);
    return emit(r, OP_RESHAPE, x, type_of(r->m, node.out), NULL, 0, node.loc);
}

static ValueId all_to_all(Resolver *r, Node node, int axis, int dim)
{
    AllToAllAttrs *attrs = ARENA_NEW(r->m->arena, AllToAllAttrs);
    *attrs = (AllToAllAttrs){ groups(r, axis), CHANNEL, false, dim, dim, r->mesh->sizes[axis], 0 };
    return emit(r, OP_ALL_TO_ALL, node.in[0], type_of(r->m, node.in[0]), attrs, 0, node.loc);
}

static ValueId permute(Resolver *r, Node node, int axis, Matrix pairs)
{
    PermuteAttrs *attrs = ARENA_NEW(r->m->arena, PermuteAttrs);
    *attrs = (PermuteAttrs){ pairs_of(r, axis, pairs), CHANNEL, 0 };
    return emit(r, OP_PERMUTE, node.in[0], type_of(r->m, node.in[0]), attrs, 0, node.loc);
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

static ValueId axis_index(Resolver *r, Node node, int axis)
{
    ValueId id = emit(r, OP_PARTITION_ID, 0, type_scalar(U32), NULL, 0, node.loc);
    int64_t stride = stride_of(r->mesh, axis);
    if (stride > 1)
        id = combine(r, OP_DIV, id, number(r, stride, node.loc), node.loc);
    if (axis > 0)
        id = combine(r, OP_REM, id, number(r, r->mesh->sizes[axis], node.loc), node.loc);
    return emit(r, OP_CONVERT, id, type_scalar(I32), NULL, 0, node.loc);
}

/* One device alone meets nobody: it keeps what it has, or gives it one more or one less axis. */
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
    const AxisAttrs *attrs = node.attrs;
    int axis = find_axis(r->mesh, attrs->axis), dim = (int)attrs->dimension;
    bool is_sent = node.op != OP_NAMED_PERMUTE || attrs->pairs.rows > 0;
    ValueId y = 0;
    if (r->mesh->sizes[axis] == 1 && is_sent) {
        subst_set(&r->map, node.out, alone(r, node));
        return;
    }
    switch (node.op) {
    case OP_NAMED_SUM: y = all_reduce(r, node, OP_ADD, axis); break;
    case OP_NAMED_MAX: y = all_reduce(r, node, OP_MAX, axis); break;
    case OP_NAMED_MIN: y = all_reduce(r, node, OP_MIN, axis); break;
    case OP_NAMED_GATHER: y = all_gather(r, node, axis, dim); break;
    case OP_NAMED_SCATTER: y = reduce_scatter(r, node, axis, dim); break;
    case OP_NAMED_EXCHANGE: y = all_to_all(r, node, axis, dim); break;
    case OP_NAMED_PERMUTE: y = permute(r, node, axis, attrs->pairs); break;
    case OP_NAMED_INDEX: y = axis_index(r, node, axis); break;
    default: fail("%s has no named axis", op_name(node.op));
    }
    subst_set(&r->map, node.out, y);
}

/* ---- regions ---- */

static void resolve(Resolver *r, RegionId region);

static void resolve_callee(Resolver *r, NodeId n)
{
    const CallAttrs *attrs = node_at(r->m, n)->attrs;
    for (int i = 0; i < r->m->nfuncs; i++)
        if (str_equal(r->m->funcs[i].name, attrs->callee) && !r->is_done[i]) {
            r->is_done[i] = true;
            resolve(r, r->m->funcs[i].body);
        }
}

static const Mesh *mesh_of(const Node *node)
{
    const ManualAttrs *attrs = node->attrs;
    const Shardings *any = attrs->in_shardings.n ? &attrs->in_shardings : &attrs->out_shardings;
    return any->n ? any->at[0]->mesh : NULL;
}

static void resolve(Resolver *r, RegionId region)
{
    NodeId *outer = r->list;
    int n = r->n, room = r->room;
    const Mesh *mesh = r->mesh;
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
        r->mesh = node.op == OP_MANUAL ? mesh_of(&node) : mesh;
        for (int k = 0; k < node.nregions; k++)
            resolve(r, node.regions[k]);
        r->mesh = mesh;
        if (node.op == OP_CALL)
            resolve_callee(r, id);
    }
    region_set_nodes(r->m, region, r->n, r->list);
    free(r->list);
    r->list = outer;
    r->n = n;
    r->room = room;
}

void resolve_axes(Module *m, RegionId r)
{
    Resolver resolver = { .m = m,
                          .map = subst_new(m),
                          .is_done = calloc((size_t)m->nfuncs + 1, 1) };
    if (!resolver.is_done)
        fail("no memory for %d functions", m->nfuncs);
    resolve(&resolver, r);
    subst_apply(&resolver.map, m, r);
    for (int i = 0; i < m->nfuncs; i++)
        if (resolver.is_done[i])
            subst_apply(&resolver.map, m, m->funcs[i].body);
    subst_free(&resolver.map);
    free(resolver.is_done);
}
