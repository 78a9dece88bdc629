/* nested_maps.c - maps inside maps become one map over all their devices.
 *
 *     manual(x) cut [{"i"}, {}]                   manual(x) cut [{"i"}, {"j"}]
 *       p = reshape x                               p = reshape x
 *       q = manual(p) cut [{"j"}] { g }     to      q = g(p)
 *       s = reshape q                               s = reshape q
 *       return s     cut [{"i"}, {}]                return s     cut [{"i"}, {"j"}]
 *
 * What the body of the outer map has, all devices that the inner one adds hold alike.  Of that
 * each takes the shard at its place, and where a result of the inner map is wanted whole, it is
 * gathered.  Where a shard comes straight from an argument of the outer map, or goes straight into
 * a result of it, that is sharded along the axes of both instead, and nothing moves.
 *
 * From the inside out: when a map is opened here, those in its body have none in theirs. */
#include "base/guard.h"
#include "front/lower/lower.h"
#include "front/transform/transform.h"
#include "front/value/axis_names.h"
#include "hlo/rewrite.h"

#include <stdlib.h>
#include <string.h>

/* ---- the mesh of both ---- */

static bool has_axis(const Mesh *mesh, Str name)
{
    for (int i = 0; i < mesh->naxes; i++)
        if (str_equal(mesh->axes[i], name))
            return true;
    return false;
}

/* The name itself, or if the mesh has it already, with a number behind it. */
static Str new_name(Arena *arena, const Mesh *mesh, Str name)
{
    Str unique = name;
    for (int i = 1; has_axis(mesh, unique); i++) {
        Text text = { 0 };
        text_printf(&text, "%.*s_%d", STR_ARG(name), i);
        unique = str_copy(arena, (Str){ text.at, text.n });
        text_free(&text);
    }
    return unique;
}

/* The map in r with the most axes: its mesh; NULL: there is no map. */
static const Mesh *longest(const Module *m, RegionId r)
{
    const Mesh *found = NULL;
    for (int i = 0; i < region_at(m, r)->nnodes; i++) {
        const Node *node = node_at(m, region_at(m, r)->nodes[i]);
        if (node->op == OP_MANUAL && (!found || manual_mesh(node->attrs)->naxes > found->naxes))
            found = manual_mesh(node->attrs);
    }
    return found;
}

/* The axes of the outer map, then those that the inner ones add. */
static Mesh *joined(Module *m, const Mesh *outer, const Mesh *inner)
{
    Mesh *mesh = ARENA_NEW(m->arena, Mesh);
    int n = outer->naxes + inner->naxes;
    mesh->axes = ARENA_ARRAY(m->arena, Str, n);
    mesh->sizes = ARENA_ARRAY(m->arena, int64_t, n);
    for (int i = 0; i < n; i++) {
        const Mesh *from = i < outer->naxes ? outer : inner;
        int axis = i < outer->naxes ? i : i - outer->naxes;
        mesh->axes[i] = new_name(m->arena, mesh, from->axes[axis]);
        mesh->sizes[i] = from->sizes[axis];
        mesh->naxes++;
    }
    return mesh_intern(m, mesh);
}

/* ---- how shards lie ---- */

/* The same cuts, along axes of another mesh that come `by` later in it. */
static Sharding *moved_to(Arena *arena, const Mesh *mesh, const Sharding *s, int by)
{
    Sharding *moved = ARENA_NEW(arena, Sharding);
    DimSharding *dims = ARENA_ARRAY(arena, DimSharding, s->rank + 1);
    *moved = (Sharding){ .mesh = mesh, .rank = s->rank, .dims = dims };
    for (int d = 0; d < s->rank; d++) {
        AxisRef *refs = ARENA_ARRAY(arena, AxisRef, s->dims[d].naxes + 1);
        for (int i = 0; i < s->dims[d].naxes; i++) {
            refs[i] = s->dims[d].axes[i];
            refs[i].axis += by;
        }
        dims[d] = (DimSharding){ .naxes = s->dims[d].naxes, .axes = refs };
    }
    return moved;
}

/* Cut as by a, and each shard as by b. */
static const Sharding *sharding_nested(Arena *arena, const Sharding *a, const Sharding *b)
{
    Sharding *both = moved_to(arena, a->mesh, a, 0);
    DimSharding *dims = (DimSharding *)both->dims;
    for (int d = 0; d < a->rank; d++) {
        AxisRef *refs = ARENA_ARRAY(arena, AxisRef, a->dims[d].naxes + b->dims[d].naxes + 1);
        int n = 0;
        for (int i = 0; i < a->dims[d].naxes; i++)
            refs[n++] = a->dims[d].axes[i];
        for (int i = 0; i < b->dims[d].naxes; i++)
            refs[n++] = b->dims[d].axes[i];
        dims[d] = (DimSharding){ .naxes = n, .axes = refs };
    }
    return both;
}

/* ---- a map being opened ---- */

/* What is there of a value of the old body: all of it, this device's shard, or both. */
typedef struct Forms {
    ValueId whole, shard;
    const Sharding *sharding; /* of the shard, along axes that the inner maps add */
} Forms;

typedef struct Flattener {
    Module *m;
    const Mesh *mesh; /* of both maps */
    int first;        /* of its axes that the inner maps add */
    RegionId to;
    Forms *forms; /* [value of the old body] */
    Subst map;    /* those known whole */
    const Loc *loc;
} Flattener;

static const AxisAttrs *axes_of_dim(const Flattener *o, DimSharding dim, int64_t dimension)
{
    AxisAttrs *axes = ARENA_NEW(o->m->arena, AxisAttrs);
    int64_t *sizes = ARENA_ARRAY(o->m->arena, int64_t, dim.naxes + 1);
    for (int i = 0; i < dim.naxes; i++) {
        axes->axis = axis_names_join(o->m->arena, axes->axis, o->mesh->axes[dim.axes[i].axis]);
        sizes[i] = dim.axes[i].size;
    }
    axes->sizes = (Ints){ dim.naxes, sizes };
    axes->size = tiles_along(dim);
    axes->dimension = dimension;
    return axes;
}

static ValueId node1(Flattener *o, OpId op, ValueId x, Type t, const void *attrs)
{
    return build_node(o->m, o->to, op, x != 0, &x, t, attrs, o->loc);
}

static ValueId node2(Flattener *o, OpId op, ValueId a, ValueId b)
{
    return build_node(o->m, o->to, op, 2, (const ValueId[]){ a, b }, type_of(o->m, a), NULL,
                      o->loc);
}

static ValueId number(Flattener *o, int64_t x)
{
    int32_t data = (int32_t)x;
    Dense value = { type_scalar(I32), true, arena_copy(o->m->arena, &data, sizeof data) };
    return build_constant(o->m, o->to, value, o->loc);
}

/* Where the device's shard of a dimension begins. */
static ValueId start_of(Flattener *o, DimSharding dim, int64_t extent)
{
    ValueId at = 0;
    for (int i = 0; i < dim.naxes; i++) {
        DimSharding one = { .naxes = 1, .axes = &dim.axes[i] };
        ValueId index = node1(o, OP_NAMED_INDEX, 0, type_scalar(I32), axes_of_dim(o, one, 0));
        if (at)
            index = node2(o, OP_ADD, node2(o, OP_MUL, at, number(o, dim.axes[i].size)), index);
        at = index;
    }
    if (!at)
        return number(o, 0);
    return extent == 1 ? at : node2(o, OP_MUL, at, number(o, extent));
}

static ValueId slice(Flattener *o, ValueId whole, const Sharding *sharding)
{
    Type t = sharding_local(sharding, type_of(o->m, whole));
    ValueId *in = ARENA_ARRAY(o->m->arena, ValueId, t.rank + 1);
    in[0] = whole;
    for (int d = 0; d < t.rank; d++)
        in[1 + d] = start_of(o, sharding->dims[d], t.dims[d]);
    DynamicSliceAttrs *attrs = ARENA_NEW(o->m->arena, DynamicSliceAttrs);
    attrs->slice_sizes = ints_copy(o->m->arena, t.rank, t.dims);
    return build_node(o->m, o->to, OP_DYNAMIC_SLICE, t.rank + 1, in, t, attrs, o->loc);
}

static ValueId gather(Flattener *o, ValueId shard, const Sharding *sharding)
{
    Arena *arena = o->m->arena;
    for (int d = 0; d < sharding->rank; d++) {
        int64_t n = tiles_along(sharding->dims[d]), dims[MAX_RANK + 1];
        Type t = type_of(o->m, shard);
        if (n == 1)
            continue;
        for (int i = 0; i <= t.rank; i++)
            dims[i] = i < d ? t.dims[i] : i == d ? n : t.dims[i - 1];
        Type rows = type_new(arena, t.element, t.rank + 1, dims);
        shard = node1(o, OP_NAMED_GATHER, shard, rows, axes_of_dim(o, sharding->dims[d], d));
        memcpy(dims, t.dims, sizeof *dims * (size_t)t.rank);
        dims[d] *= n;
        shard = node1(o, OP_RESHAPE, shard, type_new(arena, t.element, t.rank, dims), NULL);
    }
    return shard;
}

static void know_whole(Flattener *o, ValueId v, ValueId whole)
{
    o->forms[v].whole = whole;
    subst_set(&o->map, v, whole);
}

static ValueId need_whole(Flattener *o, ValueId v)
{
    Forms *form = &o->forms[v];
    if (!form->whole)
        know_whole(o, v, gather(o, form->shard, form->sharding));
    return form->whole;
}

static ValueId need_shard(Flattener *o, ValueId v, const Sharding *sharding)
{
    const Forms *form = &o->forms[v];
    if (!is_spread(sharding))
        return need_whole(o, v);
    if (form->shard && sharding_equal(form->sharding, sharding))
        return form->shard;
    return slice(o, need_whole(o, v), sharding);
}

/* ---- what only moves axes ---- */

static bool reshape_moves(Type a, Type b, int *to)
{
    int k = 0;
    for (int i = 0; i < a.rank; i++) {
        to[i] = -1;
        if (a.dims[i] == 1)
            continue;
        while (k < b.rank && b.dims[k] == 1)
            k++;
        if (k == b.rank || a.dims[i] != b.dims[k])
            return false;
        to[i] = k++;
    }
    while (k < b.rank && b.dims[k] == 1)
        k++;
    return k == b.rank;
}

/* Does the node give its operand with axes of extent 1 more or less, or in another order?  Then
 * to[i] is where axis i goes, -1 for one that was dropped. */
static bool moves_axes(const Module *m, const Node *node, int *to)
{
    if (node->op != OP_RESHAPE && node->op != OP_BROADCAST && node->op != OP_TRANSPOSE)
        return false;
    Type a = type_of(m, node->in[0]), b = type_of(m, node->out);
    if (node->op == OP_RESHAPE)
        return reshape_moves(a, b, to);
    for (int i = 0; i < a.rank; i++)
        to[i] = node->op == OP_TRANSPOSE
                    ? ints_find(((const TransposeAttrs *)node->attrs)->permutation, i)
                    : (int)((const BroadcastAttrs *)node->attrs)->broadcast_dimensions.at[i];
    return type_count(a) == type_count(b);
}

static const Sharding *sharding_after(const Flattener *o, const Sharding *sharding, int rank,
                                      const int *to)
{
    Sharding *after = ARENA_NEW(o->m->arena, Sharding);
    DimSharding *dims = ARENA_ARRAY(o->m->arena, DimSharding, rank + 1);
    for (int i = 0; i < sharding->rank; i++)
        if (to[i] >= 0)
            dims[to[i]] = sharding->dims[i];
    *after = (Sharding){ .mesh = sharding->mesh, .rank = rank, .dims = dims };
    return after;
}

static const Sharding *sharding_before(const Flattener *o, const Sharding *sharding, int rank,
                                       const int *to)
{
    Sharding *before = ARENA_NEW(o->m->arena, Sharding);
    DimSharding *dims = ARENA_ARRAY(o->m->arena, DimSharding, rank + 1);
    for (int i = 0; i < rank; i++)
        if (to[i] >= 0)
            dims[i] = sharding->dims[to[i]];
    *before = (Sharding){ .mesh = sharding->mesh, .rank = rank, .dims = dims };
    return before;
}

/* The operand's shard moved. */
static void move_shard(Flattener *o, const Node *node, const int *to)
{
    const Forms *form = &o->forms[node->in[0]];
    Type t = type_of(o->m, node->out);
    const Sharding *sharding = sharding_after(o, form->sharding, t.rank, to);
    ValueId shard = node1(o, node->op, form->shard, sharding_local(sharding, t), node->attrs);
    o->forms[node->out].shard = shard;
    o->forms[node->out].sharding = sharding;
}

/* ---- arguments that may come in shards ---- */

/* The sharding that the uses of a value want of it. */
typedef struct Wanted {
    const Sharding *sharding; /* NULL: it has no use */
    bool is_whole;            /* one of them wants it whole, or they disagree */
} Wanted;

static void want(Wanted *w, const Sharding *sharding)
{
    if (!is_spread(sharding) || (w->sharding && !sharding_equal(w->sharding, sharding)))
        w->is_whole = true;
    w->sharding = sharding;
}

static void want_operand(const Flattener *o, const Node *node, int k, Wanted *wanted)
{
    const Wanted *out = node->nout ? &wanted[node->out] : NULL;
    const Sharding *sharding = NULL;
    int to[MAX_RANK];
    if (node->op == OP_MANUAL)
        sharding = moved_to(o->m->arena, o->mesh,
                            ((const ManualAttrs *)node->attrs)->in_shardings.at[k], o->first);
    else if (moves_axes(o->m, node, to) && out->sharding && !out->is_whole)
        sharding = sharding_before(o, out->sharding, type_of(o->m, node->in[k]).rank, to);
    want(&wanted[node->in[k]], sharding);
}

/* From the last node to the first: what a value is wanted as is known before its node is met. */
static Wanted *find_wanted(const Flattener *o, RegionId r)
{
    Module *m = o->m;
    const Region *region = region_at(m, r);
    Wanted *wanted = ARENA_ARRAY(m->arena, Wanted, m->nvalues);
    for (int i = region->nnodes - 1; i >= 0; i--) {
        const Node *node = node_at(m, region->nodes[i]);
        for (int k = 0; k < node->nin; k++)
            want_operand(o, node, k, wanted);
        if (!node->nregions || node->op == OP_MANUAL)
            continue;
        Values free = free_values(m, node->nregions, node->regions);
        for (int k = 0; k < free.n; k++)
            want(&wanted[free.at[k]], NULL);
    }
    return wanted;
}

/* ---- the walk ---- */

/* The body of an inner map, in place. */
static void inline_inner(Flattener *o, const Node *node)
{
    Module *m = o->m;
    const ManualAttrs *a = node->attrs;
    RegionId body = node->regions[0];
    for (int i = 0; i < node->nin; i++) {
        const Sharding *sharding = moved_to(m->arena, o->mesh, a->in_shardings.at[i], o->first);
        subst_set(&o->map, region_at(m, body)->args + (uint32_t)i,
                  need_shard(o, node->in[i], sharding));
    }
    region_copy_into(m, body, o->to, &o->map);
    for (int i = 0; i < node->nout; i++) {
        const Sharding *sharding = moved_to(m->arena, o->mesh, a->out_shardings.at[i], o->first);
        ValueId v = node->out + (uint32_t)i, y = subst_get(&o->map, region_return(m, body)->in[i]);
        if (is_spread(sharding)) {
            o->forms[v].shard = y;
            o->forms[v].sharding = sharding;
        } else {
            know_whole(o, v, y);
        }
    }
}

static void copy_whole(Flattener *o, NodeId n)
{
    Module *m = o->m;
    Node node = *node_at(m, n);
    for (int i = 0; i < node.nin; i++)
        need_whole(o, node.in[i]);
    if (node.nregions) {
        Values free = free_values(m, node.nregions, node.regions);
        for (int i = 0; i < free.n; i++)
            need_whole(o, free.at[i]);
    }
    region_append(m, o->to, node_copy(m, n, &o->map));
    for (int i = 0; i < node.nout; i++)
        o->forms[node.out + (uint32_t)i].whole = subst_get(&o->map, node.out + (uint32_t)i);
}

static void walk(Flattener *o, RegionId from)
{
    Module *m = o->m;
    int to[MAX_RANK];
    for (int i = 0; i < region_at(m, from)->nnodes - 1; i++) {
        NodeId n = region_at(m, from)->nodes[i];
        Node node = *node_at(m, n);
        o->loc = node.loc;
        if (node.op == OP_MANUAL)
            inline_inner(o, &node);
        else if (node.nin == 1 && o->forms[node.in[0]].shard && moves_axes(m, &node, to))
            move_shard(o, &node, to);
        else
            copy_whole(o, n);
    }
}

/* The new body's arguments, cut further where the inner maps want them so. */
static void begin_body(Flattener *o, NodeId n, const Sharding **in)
{
    Module *m = o->m;
    Node node = *node_at(m, n);
    RegionId old = node.regions[0];
    ValueId first = region_at(m, old)->args;
    Type *types = ARENA_ARRAY(m->arena, Type, node.nin + 1);
    const Sharding **sharding = ARENA_ARRAY(m->arena, const Sharding *, node.nin + 1);
    const Wanted *wanted = find_wanted(o, old) + first;
    for (int i = 0; i < node.nin; i++) {
        types[i] = type_of(m, first + (uint32_t)i);
        in[i] =
            moved_to(m->arena, o->mesh, ((const ManualAttrs *)node.attrs)->in_shardings.at[i], 0);
        sharding[i] = wanted[i].is_whole ? NULL : wanted[i].sharding;
        if (sharding[i]) {
            types[i] = sharding_local(sharding[i], types[i]);
            in[i] = sharding_nested(m->arena, in[i], sharding[i]);
        }
    }
    o->to = region_new(m, n, node.nin, types);
    for (int i = 0; i < node.nin; i++) {
        ValueId v = first + (uint32_t)i, arg = region_at(m, o->to)->args + (uint32_t)i;
        if (sharding[i])
            o->forms[v] = (Forms){ .shard = arg, .sharding = sharding[i] };
        else
            know_whole(o, v, arg);
    }
}

static void end_body(Flattener *o, NodeId n, const Sharding **out)
{
    Module *m = o->m;
    Node node = *node_at(m, n), last = *region_return(m, node.regions[0]);
    ValueId *y = ARENA_ARRAY(m->arena, ValueId, last.nin + 1);
    for (int i = 0; i < last.nin; i++) {
        const Forms *form = &o->forms[last.in[i]];
        out[i] =
            moved_to(m->arena, o->mesh, ((const ManualAttrs *)node.attrs)->out_shardings.at[i], 0);
        y[i] = form->shard ? form->shard : need_whole(o, last.in[i]);
        if (form->shard)
            out[i] = sharding_nested(m->arena, out[i], form->sharding);
    }
    build_return(m, o->to, last.nin, y, last.loc);
}

static void open_map(Module *m, NodeId n, const Mesh *inner)
{
    Node node = *node_at(m, n);
    const Mesh *outer = manual_mesh(node.attrs);
    Mesh *mesh = joined(m, outer, inner);
    Flattener o = { .m = m, .mesh = mesh, .first = outer->naxes, .loc = node.loc };
    const Sharding **in = ARENA_ARRAY(m->arena, const Sharding *, node.nin + 1);
    const Sharding **out = ARENA_ARRAY(m->arena, const Sharding *, node.nout + 1);
    o.forms = heap_rows(m->nvalues, sizeof *o.forms, "parts of values");
    o.map = subst_new(m);
    begin_body(&o, n, in);
    walk(&o, node.regions[0]);
    end_body(&o, n, out);
    remove_dead(m, o.to);
    ManualAttrs *attrs = ARENA_NEW(m->arena, ManualAttrs);
    *attrs = (ManualAttrs){ { node.nin, in }, { node.nout, out }, manual_axes(mesh) };
    node_at(m, n)->attrs = attrs;
    node_at(m, n)->regions[0] = o.to;
    subst_free(&o.map);
    heap_free(o.forms);
}

static bool open_region(Module *m, RegionId r)
{
    bool any = false;
    for (int i = 0; i < region_at(m, r)->nnodes; i++) {
        NodeId n = region_at(m, r)->nodes[i];
        if (node_at(m, n)->op != OP_MANUAL)
            continue;
        any |= open_region(m, node_at(m, n)->regions[0]);
        const Mesh *inner = longest(m, node_at(m, n)->regions[0]);
        if (inner) {
            open_map(m, n, inner);
            any = true;
        }
    }
    return any;
}

/* Meshes of maps that are no more go; the others are numbered anew. */
static void keep_meshes(Module *m, int ndevices)
{
    int n = 0;
    for (int i = 0; i < m->nmeshes; i++) {
        Mesh *mesh = m->meshes[i];
        Text name = { 0 };
        if (mesh_count(mesh) != ndevices)
            continue;
        text_printf(&name, n ? "mesh_%d" : "mesh", n - 1);
        mesh->name = str_copy(m->arena, (Str){ name.at, name.n });
        text_free(&name);
        m->meshes[n++] = mesh;
    }
    m->nmeshes = n;
}

void flatten_maps(Module *m, RegionId r, int ndevices)
{
    if (!open_region(m, r))
        return;
    keep_meshes(m, ndevices);
    resolve_axes(m, r, ndevices);
}
