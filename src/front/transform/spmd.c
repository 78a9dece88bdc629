/* spmd.c - pmap and shard_map: one function on many devices.
 *
 *     pmap(f), x: f32[4,2]                       mesh ["i"=4]
 *
 *       manual_computation(x) cut [{"i"}, {}]    x is sharded along axis 0, one row a device
 *         (p: f32[1,2])                          the shard of this device
 *           q = reshape p : f32[2]               what f sees
 *           r = f(q)
 *           s = reshape r : f32[1,2]             its row of the result
 *         return s         cut [{"i"}, {}]
 *
 * In goes what the function does to the leaves of one device (a graph), out comes a graph on
 * whole arrays with one MANUAL node.  shard_map is the same with shards cut as its specs say and
 * no axis removed. */
#include "front/transform/transform.h"

#include "base/fail.h"
#include "front/client/client.h"
#include "front/transform/build.h"
#include "front/transform/fn.h"
#include "front/value/axis_names.h"
#include "front/value/layout.h"
#include "front/value/report.h"

#include <stdio.h>
#include <string.h>

/* ---- shardings ---- */

Type sharding_local(const Sharding *sharding, Type whole)
{
    int64_t dims[MAX_RANK];
    for (int i = 0; i < whole.rank; i++)
        dims[i] = whole.dims[i] / tiles_along(sharding->dims[i]);
    return type_new(trace_arena(), whole.element, whole.rank, dims);
}

Type sharding_whole(const Sharding *sharding, Type local)
{
    int64_t dims[MAX_RANK];
    for (int i = 0; i < local.rank; i++)
        dims[i] = local.dims[i] * tiles_along(sharding->dims[i]);
    return type_new(trace_arena(), local.element, local.rank, dims);
}

static Sharding *sharding_new(const Mesh *mesh, int rank, DimSharding **dims)
{
    Sharding *sharding = ARENA_NEW(trace_arena(), Sharding);
    *dims = ARENA_ARRAY(trace_arena(), DimSharding, rank + 1);
    *sharding = (Sharding){ .mesh = mesh, .rank = rank, .dims = *dims };
    return sharding;
}

const Sharding *sharding_none(const Mesh *mesh, int rank)
{
    DimSharding *dims;
    return sharding_new(mesh, rank, &dims);
}

static void shard_along(DimSharding *dim, const Mesh *mesh, int axis)
{
    AxisRef *refs = ARENA_ARRAY(trace_arena(), AxisRef, dim->naxes + 1);
    if (dim->naxes)
        memcpy(refs, dim->axes, sizeof *refs * (size_t)dim->naxes);
    refs[dim->naxes++] = (AxisRef){ axis, 1, mesh->sizes[axis] };
    dim->axes = refs;
}

const Sharding *sharding_leading(const Sharding *sharding, bool is_sharded)
{
    DimSharding *dims;
    Sharding *more = sharding_new(sharding->mesh, sharding->rank + 1, &dims);
    if (sharding->rank)
        memcpy(dims + 1, sharding->dims, sizeof *dims * (size_t)sharding->rank);
    for (int i = 0; is_sharded && i < sharding->mesh->naxes; i++)
        shard_along(&dims[0], sharding->mesh, i);
    return more;
}

static bool is_sharded_along(const Sharding *sharding, int axis)
{
    for (int i = 0; i < sharding->rank; i++)
        for (int k = 0; k < sharding->dims[i].naxes; k++)
            if (sharding->dims[i].axes[k].axis == axis)
                return true;
    return false;
}

const AxisAttrs *axes_of_set(const Mesh *mesh, AxisSet set)
{
    Arena *arena = trace_arena();
    AxisAttrs *axes = BUILD_ATTRS(AxisAttrs, .size = 1);
    int64_t sizes[MAX_RANK];
    int n = 0;
    for (int axis = 0; axis < mesh->naxes; axis++)
        if (set >> axis & 1) {
            axes->axis = axis_names_join(arena, axes->axis, mesh->axes[axis]);
            axes->size *= sizes[n++] = mesh->sizes[axis];
        }
    axes->sizes = ints_of(n, sizes);
    return axes;
}

tt manual_sum(const Mesh *mesh, tt x, const Sharding *sharding)
{
    AxisSet set = 0;
    for (int axis = 0; axis < mesh->naxes; axis++)
        set |= is_sharded_along(sharding, axis) ? 0 : 1u << axis;
    return set ? build_op(OP_NAMED_SUM, 1, &x, axes_of_set(mesh, set), type_at(x)) : x;
}

/* ---- the node ---- */

const Attr *manual_axes(const Mesh *mesh)
{
    Arena *arena = trace_arena();
    const Attr **items = ARENA_ARRAY(arena, const Attr *, mesh->naxes + 1);
    for (int i = 0; i < mesh->naxes; i++)
        items[i] = attr_string(arena, mesh->axes[i]);
    Attr *list = ARENA_NEW(arena, Attr);
    *list = (Attr){ .kind = ATTR_ARRAY, .n = mesh->naxes, .items = items };
    return list;
}

bool manual_apply(const Mesh *mesh, int nin, const tt *in, const Sharding *const *in_shardings,
                  const Graph *body, const Sharding *const *out_shardings, tt *out)
{
    Module *m = session->m;
    Values free = free_values(m, 1, &body->body);
    int n = nin + free.n;
    tt *operands = ARENA_ARRAY(m->arena, tt, n + 1);
    const Sharding **shardings = ARENA_ARRAY(m->arena, const Sharding *, n + 1);
    for (int i = 0; i < nin; i++) {
        operands[i] = in[i];
        shardings[i] = in_shardings[i];
    }
    for (int i = 0; i < free.n; i++) {
        operands[nin + i] = trace_tt(free.at[i]);
        shardings[nin + i] = sharding_none(mesh, type_of(m, free.at[i]).rank);
    }
    Graph isolated = *body;
    isolated.body = region_isolate(m, body->body, free);
    Type *types = ARENA_ARRAY(m->arena, Type, body->nresults + 1);
    const Node *last = region_return(m, isolated.body);
    for (int i = 0; i < body->nresults; i++)
        types[i] = sharding_whole(out_shardings[i], type_of(m, last->in[i]));
    ManualAttrs *attrs = BUILD_ATTRS(ManualAttrs, .in_shardings = { n, shardings },
                                     .manual_axes = manual_axes(mesh));
    attrs->out_shardings =
        (Shardings){ body->nresults, arena_copy(m->arena, out_shardings,
                                                sizeof *out_shardings * (size_t)body->nresults) };
    return trace_apply_regions("pmap", OP_MANUAL, n, operands, attrs, 1, &isolated, body->nresults,
                               types, out);
}

/* ---- devices ---- */

const Trace *map_around(void)
{
    const Trace *t = tracing;
    while (t && !t->is_manual)
        t = t->outer;
    return t;
}

static bool report_map_in_flow(const char *who, const char *how, const char *name)
{
    return report_broken("%s: not supported: a map in a loop or a branch inside %s(%s): map around "
                         "the loop, or within a device with tt_vmap",
                         who, how, name),
           false;
}

/* Are there n devices for every copy of the maps around?  False: reported. */
static bool fits_inside(tt_fn f, int64_t n)
{
    const Trace *around = map_around();
    int64_t copies = 1, there = client_device_count();
    for (const Trace *t = tracing; t; t = t->outer)
        if (t->is_manual)
            copies *= t->mesh ? t->mesh->ndevices : t->axis_size;
    for (const Trace *t = tracing; t != around; t = t->outer)
        if (t->is_flow)
            return report_map_in_flow(f->label, around->how, around->name);
    if (copies * n <= there)
        return true;
    report_broken("%s inside %s(%s): %lld times %lld devices are needed, but there are %lld: start "
                  "with tt_init(.devices = %lld), or map within a device with tt_vmap",
                  f->label, around->how, around->name, (long long)copies, (long long)n,
                  (long long)there, (long long)(copies * n));
    return false;
}

Mesh *mesh_intern(Module *m, Mesh *mesh)
{
    for (int i = 0; i < m->nmeshes; i++)
        if (mesh_equal(m->meshes[i], mesh))
            return m->meshes[i];
    Text name = { 0 };
    text_printf(&name, m->nmeshes ? "mesh_%d" : "mesh", m->nmeshes - 1);
    mesh->name = str_copy(m->arena, str_of(text_cstr(&name)));
    text_free(&name);
    mesh_add(m, mesh);
    return mesh;
}

const Mesh *manual_mesh(const ManualAttrs *attrs)
{
    const Shardings *any = attrs->in_shardings.n ? &attrs->in_shardings : &attrs->out_shardings;
    return any->n ? any->at[0]->mesh : NULL;
}

static Mesh *add_mesh(int naxes, const Str *names, const int64_t *sizes)
{
    Module *m = session->m;
    Mesh *mesh = ARENA_NEW(m->arena, Mesh);
    mesh->naxes = naxes;
    mesh->axes = arena_copy(m->arena, names, sizeof *names * (size_t)naxes);
    mesh->sizes = arena_copy(m->arena, sizes, sizeof *sizes * (size_t)naxes);
    return mesh_intern(m, mesh);
}

/* ---- pmap ---- */

/* The first argument that is sharded, in words. */
static const char *first_mapped(tt_fn f, const Leaves *leaves)
{
    int32_t axis = TT_NONE;
    for (int i = 0; i < leaves->n; i++)
        if (map_axis(f, leaves, i, &axis) && axis != TT_NONE)
            return leaf_text(leaves, i);
    return "it";
}

/* Are the devices that were asked for n different ones that are there? */
static bool are_devices(tt_fn f, const Leaves *leaves, int64_t n)
{
    const int *devices = f->key.devices;
    int there = client_device_count();
    if (f->key.ndevices != n)
        return report_broken("%s: %s is to be spread over %lld devices, but .devices lists %d",
                             f->label, first_mapped(f, leaves), (long long)n, f->key.ndevices),
               false;
    for (int i = 0; i < n; i++) {
        if (devices[i] < 0 || devices[i] >= there)
            return report_broken(
                       "%s: .devices lists device %d, which is not there: they are 0 to %d",
                       f->label, devices[i], there - 1),
                   false;
        for (int k = 0; k < i; k++)
            if (devices[k] == devices[i])
                return report_broken("%s: .devices lists device %d twice", f->label, devices[i]),
                       false;
    }
    return true;
}

/* Can there be n copies?  Asked before the function is traced. */
static bool has_devices(tt_fn f, const Leaves *leaves, int64_t n)
{
    int there = client_device_count();
    const Trace *around = map_around();
    if (around && f->key.devices)
        return report_broken(
                   "%s inside %s(%s): .devices is for the outermost map: it lists those of "
                   "all maps inside too",
                   f->label, around->how, around->name),
               false;
    if (around)
        return fits_inside(f, n);
    if (n > there && !f->key.devices)
        report_broken("%s: %s is to be spread over %lld devices, but there are %d: give the "
                      "mapped axis at most %d, start with tt_init(.devices = %lld), or map "
                      "within a device with tt_vmap",
                      f->label, first_mapped(f, leaves), (long long)n, there, there, (long long)n);
    return n <= there || f->key.devices;
}

/* Is there a map in a loop or branch of r? */
static bool has_map_in_flow(const Module *m, RegionId r, bool is_in_flow)
{
    const Region *region = region_at(m, r);
    for (int i = 0; i < region->nnodes; i++) {
        const Node *node = node_at(m, region->nodes[i]);
        bool is_map = node->op == OP_MANUAL;
        for (int k = 0; k < node->nregions; k++)
            if ((is_map && is_in_flow) || has_map_in_flow(m, node->regions[k], !is_map))
                return true;
    }
    return false;
}

/* Adds the sizes of more axes to a list of them. */
static Ints sizes_join(Arena *arena, Ints list, int n, const int64_t *more)
{
    int64_t *at = ARENA_ARRAY(arena, int64_t, list.n + n + 1);
    if (list.n)
        memcpy(at, list.at, sizeof *at * (size_t)list.n);
    if (n)
        memcpy(at + list.n, more, sizeof *at * (size_t)n);
    return (Ints){ list.n + n, at };
}

/* The sizes of the axes that maps inside r add, outermost first, where some have more than others
 * the most.  False: they are not the beginning of one list. */
static bool nested_sizes(Module *m, RegionId r, Ints *out)
{
    *out = (Ints){ 0 };
    for (int i = 0; i < region_at(m, r)->nnodes; i++) {
        Node node = *node_at(m, region_at(m, r)->nodes[i]);
        Ints inner;
        if (node.op != OP_MANUAL)
            continue;
        if (!nested_sizes(m, node.regions[0], &inner))
            return false;
        const Mesh *mesh = manual_mesh(node.attrs);
        Ints own = sizes_join(m->arena, (Ints){ 0 }, mesh->naxes, mesh->sizes);
        own = sizes_join(m->arena, own, inner.n, inner.at);
        for (int k = 0; k < own.n && k < out->n; k++)
            if (own.at[k] != out->at[k])
                return false;
        *out = own.n > out->n ? own : *out;
    }
    return true;
}

bool settle_on(const char *label, int n, const int *devices)
{
    if (session->ndevices == 0) {
        session->ndevices = n;
        session->devices = devices;
        session->mapped = label;
        return true;
    }
    bool same = session->ndevices == n &&
                memcmp(session->devices, devices, sizeof *devices * (size_t)n) == 0;
    if (!same)
        report_broken(
            "%s runs on %d device%s and %s, in the same program, on %d or in another order: "
            "all maps of a program need the same devices",
            session->mapped, session->ndevices, session->ndevices == 1 ? "" : "s", label, n);
    return same;
}

/* The outermost map decides on which devices the program runs, given what is in its body: the maps
 * inside need some for each of its n.  All maps of a program run on the same devices in the same
 * order.  False: reported. */
static bool settle_devices(tt_fn f, const Leaves *leaves, int64_t n, const Graph *body)
{
    Ints inner;
    if (map_around())
        return true;
    if (has_map_in_flow(session->m, body->body, false))
        return report_map_in_flow(f->label, f->how, f->key.inner->label);
    if (!nested_sizes(session->m, body->body, &inner))
        return report_broken("%s: the maps inside it are over different numbers of devices: in one "
                             "program they must be over the same",
                             f->label),
               false;
    for (int i = 0; i < inner.n; i++)
        n *= inner.at[i];
    if (f->key.devices && !are_devices(f, leaves, n))
        return false;
    int *first = ARENA_ARRAY(trace_arena(), int, n);
    for (int i = 0; i < n; i++)
        first[i] = i;
    return settle_on(f->label, (int)n, f->key.devices ? f->key.devices : first);
}

typedef struct Map {
    tt_fn f;
    const Leaves *leaves;
    const Mesh *mesh;
    int64_t size;
    int32_t *axes;       /* per leaf */
    const Sharding **in; /* per leaf */
    Graph inner;         /* on what one device sees */
} Map;

static const Sharding *axis_sharding(const Mesh *mesh, int rank, int32_t axis)
{
    DimSharding *dims;
    Sharding *sharding = sharding_new(mesh, rank, &dims);
    if (axis != TT_NONE)
        shard_along(&dims[axis], mesh, 0);
    return sharding;
}

/* The shard with its axis of extent 1 -> the function -> results with theirs. */
static bool shard_graph(Map *map, Graph *out, const Sharding **out_shardings)
{
    Module *m = session->m;
    int n = map->leaves->n, nresults = map->inner.nresults;
    Trace frame = { 0 };
    Type *types = ARENA_ARRAY(m->arena, Type, n + 1);
    tt *in = ARENA_ARRAY(m->arena, tt, n + 1), *results = ARENA_ARRAY(m->arena, tt, nresults + 1);
    for (int i = 0; i < n; i++)
        types[i] = sharding_local(map->in[i], map->leaves->types[i]);
    frame_push(&frame);
    record_begin(n, types, NULL, in);
    for (int i = 0; i < n; i++)
        if (map->axes[i] != TT_NONE)
            in[i] = build_reshape(in[i], type_remove(types[i], map->axes[i]));
    bool ok = trace_inline(map->f->label, &map->inner, in, results);
    for (int i = 0; ok && i < nresults; i++) {
        Type t = type_at(results[i]);
        int32_t axis;
        ok = map_out_axis(map->f, result_slot(&map->inner, i), t.rank, &axis);
        if (!ok)
            break;
        if (axis != TT_NONE)
            results[i] = build_reshape(results[i], type_insert(t, axis, 1));
        out_shardings[i] = axis_sharding(map->mesh, axis == TT_NONE ? t.rank : t.rank + 1, axis);
    }
    ok = ok && record_end(map->f->label, nresults, results, out);
    if (frame.region)
        record_drop();
    frame_pop(&frame);
    return ok;
}

static bool whole_graph(Map *map, const Graph *shard, const Sharding **out_shardings, Graph *out)
{
    int n = map->leaves->n;
    tt *in = ARENA_ARRAY(trace_arena(), tt, n + 1);
    tt *results = ARENA_ARRAY(trace_arena(), tt, shard->nresults + 1);
    record_begin(n, map->leaves->types, map->leaves->is_weak, in);
    if (!manual_apply(map->mesh, n, in, map->in, shard, out_shardings, results)) {
        record_drop();
        return false;
    }
    bool ok = record_end(map->f->label, shard->nresults, results, out);
    out->is_weak = map->inner.is_weak;
    if (ok)
        slots_like(out, &map->inner);
    return ok;
}

bool pmap_graph(tt_fn f, const Leaves *leaves, Graph *out)
{
    Arena *arena = trace_arena();
    Map map = { .f = f, .leaves = leaves, .size = map_size(f, leaves) };
    if (!map.size || !has_devices(f, leaves, map.size))
        return false;
    Str name = str_of(f->key.axis_name ? f->key.axis_name : "_devices");
    map.mesh = add_mesh(1, &name, &map.size);
    map.axes = ARENA_ARRAY(arena, int32_t, leaves->n + 1);
    map.in = ARENA_ARRAY(arena, const Sharding *, leaves->n + 1);
    Leaves local = *leaves; /* what the function sees on one device */
    local.types = ARENA_ARRAY(arena, Type, leaves->n + 1);
    local.varies = NULL;
    for (int i = 0; i < leaves->n; i++) {
        Type whole = leaves->types[i];
        map_axis(f, leaves, i, &map.axes[i]);
        map.in[i] = axis_sharding(map.mesh, whole.rank, map.axes[i]);
        local.types[i] = map.axes[i] == TT_NONE ? whole : type_remove(whole, map.axes[i]);
    }
    Trace frame = { .how = f->how,
                    .name = f->key.inner->label,
                    .file = f->file,
                    .line = f->line,
                    .axis_name = f->key.axis_name,
                    .axis_size = (int)map.size,
                    .is_manual = true };
    frame_push(&frame);
    bool ok = fn_graph(f->key.inner, &local, &map.inner) &&
              runs_describe(f, leaves_slots(leaves), graph_slots(&map.inner));
    if (ok) {
        Graph shard;
        const Sharding **out_shardings =
            ARENA_ARRAY(arena, const Sharding *, map.inner.nresults + 1);
        ok = shard_graph(&map, &shard, out_shardings) &&
             whole_graph(&map, &shard, out_shardings, out);
    }
    frame_pop(&frame);
    return ok && settle_devices(f, leaves, map.size, &map.inner);
}

/* ---- shard_map ---- */

/* A spec that becomes a sharding, and what it is for. */
typedef struct SpecSharding {
    const char *label;
    const Mesh *mesh;
    Type type;
    const char *what;
    Sharding *sharding;
    DimSharding *dims;
} SpecSharding;

/* Cuts axis i along one axis of the mesh.  False: reported. */
static bool shard_by_name(SpecSharding *c, int i, Str name)
{
    int axis = 0;
    while (axis < c->mesh->naxes && !str_equal(c->mesh->axes[axis], name))
        axis++;
    if (axis == c->mesh->naxes)
        report_broken("%s: %s: its spec names \"%.*s\", and the mesh has no such axis", c->label,
                      c->what, STR_ARG(name));
    else if (i >= c->type.rank)
        report_broken("%s: %s has %d ax%s, but its spec cuts axis %d along \"%.*s\"", c->label,
                      c->what, c->type.rank, c->type.rank == 1 ? "is" : "es", i, STR_ARG(name));
    else if (is_sharded_along(c->sharding, axis))
        report_broken(
            "%s: %s: its spec names \"%.*s\" twice: a mesh axis cuts one axis of an array "
            "at most",
            c->label, c->what, STR_ARG(name));
    else
        return shard_along(&c->dims[i], c->mesh, axis), true;
    return false;
}

/* The sharding that a spec says; NULL: reported, with `what` it was for. */
const Sharding *spec_sharding(const char *label, const Mesh *mesh, const tt_spec *spec, Type t,
                              bool is_result, const char *what)
{
    SpecSharding c = { .label = label, .mesh = mesh, .type = t, .what = what };
    c.sharding = sharding_new(mesh, t.rank, &c.dims);
    for (int i = 0; i < TT_MAX_RANK; i++) {
        Str list = spec->axis[i] ? str_of(spec->axis[i]) : (Str){ 0 }, name;
        while (axis_names_next(&list, &name))
            if (!shard_by_name(&c, i, name))
                return NULL;
        if (spec->axis[i] && !is_result && t.dims[i] % tiles_along(c.dims[i]))
            return report_broken("%s: %s: axis %d has %lld, which \"%s\" of size %lld does not "
                                 "divide",
                                 label, what, i, (long long)t.dims[i], spec->axis[i],
                                 (long long)tiles_along(c.dims[i])),
                   NULL;
    }
    return c.sharding;
}

static bool shard_inner(Map *map)
{
    tt_fn f = map->f;
    Leaves local = *map->leaves;
    local.types = ARENA_ARRAY(trace_arena(), Type, local.n + 1);
    AxisSet *varies = ARENA_ARRAY(trace_arena(), AxisSet, local.n + 1);
    map->in = ARENA_ARRAY(trace_arena(), const Sharding *, local.n + 1);
    for (int i = 0; i < local.n; i++) {
        map->in[i] =
            spec_sharding(f->label, map->mesh, leaf_spec(f, map->leaves, i),
                          local.types[i] = map->leaves->types[i], false, leaf_text(map->leaves, i));
        if (!map->in[i])
            return false;
        local.types[i] = sharding_local(map->in[i], map->leaves->types[i]);
        varies[i] = sharding_varies(map->in[i]);
    }
    local.varies = varies;
    return fn_graph(f->key.inner, &local, &map->inner);
}

/* How the results lie, as .out_spec or .out_specs say; NULL: reported. */
static const Sharding **shard_results(const Map *map)
{
    tt_fn f = map->f;
    int n = map->inner.nresults;
    const Node *last = region_return(session->m, map->inner.body);
    const Sharding **shardings = ARENA_ARRAY(trace_arena(), const Sharding *, n + 1);
    for (int i = 0; i < n; i++) {
        Type t = type_of(session->m, last->in[i]);
        char which[32] = "a result";
        int slot = result_slot(&map->inner, i);
        if (f->key.out_specs || f->key.nout_runs)
            snprintf(which, sizeof which, "result %d", slot);
        shardings[i] = spec_sharding(f->label, map->mesh, result_spec(f, slot), t, true, which);
        if (!shardings[i])
            return NULL;
    }
    return results_are_replicated(f, &map->inner, map->mesh, map->in, shardings) ? shardings : NULL;
}

const Mesh *mesh_of_grid(const struct tt_grid *grid)
{
    Str names[TT_MAX_RANK];
    int64_t sizes[TT_MAX_RANK];
    for (int i = 0; i < grid->naxes; i++) {
        names[i] = str_of(grid->axes[i].name);
        sizes[i] = grid->axes[i].size;
    }
    return add_mesh(grid->naxes, names, sizes);
}

bool shard_map_graph(tt_fn f, const Leaves *leaves, Graph *out)
{
    Map map = { .f = f, .leaves = leaves };
    const struct tt_grid *grid = f->key.mesh;
    if (map_around() && !fits_inside(f, grid->ndevices))
        return false;
    map.mesh = mesh_of_grid(grid);
    Trace frame = { .how = f->how,
                    .name = f->key.inner->label,
                    .file = f->file,
                    .line = f->line,
                    .mesh = grid,
                    .shards = map.mesh,
                    .is_manual = true };
    frame_push(&frame);
    bool is_traced =
        shard_inner(&map) && runs_describe(f, leaves_slots(leaves), graph_slots(&map.inner));
    const Sharding **shardings = is_traced ? shard_results(&map) : NULL;
    bool ok = shardings && whole_graph(&map, &map.inner, shardings, out);
    frame_pop(&frame);
    return ok && settle_devices(f, leaves, grid->ndevices, &map.inner);
}
