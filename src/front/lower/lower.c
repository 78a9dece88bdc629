/* lower.c - a graph becomes a program: @main on whole arrays, with how they lie on devices.
 *
 *     graph (x, w) { ... captured a ... }       layouts of x and w
 *
 *     module @pmap_f  num_partitions = 4
 *       sdy.mesh @mesh = <["i"=4]>
 *       func public @main(x {sdy.sharding}, w {sdy.sharding, tf.aliasing_output}, a) -> y { ... }
 *       func private @g ...                     functions that tt_jit made, still called
 *
 * Which devices: those of the maps inside; without maps, those the arguments lie on; else the
 * first.  How an argument must lie: as the map that takes it shards it; without maps, as it lies
 * now; else whole on every device.  How results lie follows from there (follow_sharding.c). */
#include "front/lower/lower.h"

#include "base/fail.h"
#include "front/client/client.h"
#include "front/transform/build.h"
#include "front/transform/transform.h"
#include "front/value/report.h"
#include "hlo/rewrite.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

typedef struct Lowering {
    Module *m;
    const Graph *g;
    int nleaves, nargs;
    const ArrayLayout *const *layouts; /* of the leaves, now; or NULL */
    RegionId main;
    const Sharding **of; /* [value] of main: how it lies; NULL: whole */
    bool has_meshes;     /* over more than one device */
} Lowering;

/* ---- main ---- */

/* main's arguments are the leaves and the captured arrays that are used. */
static RegionId make_main(Lowering *l, Lowered *out)
{
    Module *m = l->m;
    remove_dead(m, l->g->body);
    Values free = free_values(m, 1, &l->g->body);
    for (int i = 0; i < m->nfuncs; i++) {
        Values more = free_values(m, 1, &m->funcs[i].body);
        require(more.n == 0);
    }
    int *captured = ARENA_ARRAY(m->arena, int, free.n + 1);
    for (int i = 0; i < free.n; i++) {
        int k = 0;
        while (k < session->ncaptured && session->captured[k].value != free.at[i])
            k++;
        require(k < session->ncaptured);
        captured[i] = k;
    }
    out->captured = captured;
    l->nargs = l->nleaves + free.n;
    return region_isolate(m, l->g->body, free);
}

/* ---- how values lie ---- */

/* Devices by the tile they hold, so that the mesh is row-major over tiles and then copies. */
static Ints devices_by_tile(Module *m, const Tiling *t)
{
    int n = t->ndevices, next = 0;
    int64_t *ids = ARENA_ARRAY(m->arena, int64_t, n), ntiles = 1;
    bool is_plain = true;
    for (int i = 0; i < t->rank; i++)
        ntiles *= t->tiles[i];
    for (int64_t tile = 0; tile < ntiles; tile++)
        for (int d = 0; d < n; d++) {
            int64_t at = 0;
            for (int i = 0; i < t->rank; i++)
                at = at * t->tiles[i] + t->tile_of[d * t->rank + i];
            if (at == tile)
                ids[next++] = d;
        }
    for (int d = 0; d < n; d++)
        is_plain = is_plain && ids[d] == d;
    return is_plain ? (Ints){ 0 } : (Ints){ n, ids };
}

static Mesh *mesh_for_tiling(Module *m, const Tiling *t)
{
    Mesh *mesh = ARENA_NEW(m->arena, Mesh);
    mesh->axes = ARENA_ARRAY(m->arena, Str, t->rank + 1);
    mesh->sizes = ARENA_ARRAY(m->arena, int64_t, t->rank + 1);
    int64_t copies = t->ndevices;
    static const char *const names[] = { "d0", "d1", "d2", "d3", "d4", "d5", "d6", "d7" };
    for (int i = 0; i < t->rank; i++)
        if (t->tiles[i] > 1) {
            mesh->axes[mesh->naxes] = str_of(names[i]);
            mesh->sizes[mesh->naxes++] = t->tiles[i];
            copies /= t->tiles[i];
        }
    if (copies > 1 || !mesh->naxes) {
        mesh->axes[mesh->naxes] = STR("copies");
        mesh->sizes[mesh->naxes++] = copies;
    }
    mesh->device_ids = devices_by_tile(m, t);
    return mesh_intern(m, mesh);
}

/* A layout in Shardy's words. */
static const Sharding *sharding_of(Module *m, const ArrayLayout *layout, int rank)
{
    const Tiling *t = &layout->tiling;
    Mesh *mesh = mesh_for_tiling(m, t);
    Sharding *sharding = ARENA_NEW(m->arena, Sharding);
    DimSharding *dims = ARENA_ARRAY(m->arena, DimSharding, rank + 1);
    int axis = 0;
    for (int i = 0; i < t->rank; i++)
        if (t->tiles[i] > 1) {
            AxisRef *ref = ARENA_NEW(m->arena, AxisRef);
            *ref = (AxisRef){ axis++, 1, t->tiles[i] };
            dims[i] = (DimSharding){ .naxes = 1, .axes = ref };
        }
    *sharding = (Sharding){ .mesh = mesh, .rank = rank, .dims = dims };
    return sharding;
}

/* As the first map that takes it shards it. */
static const Sharding *wanted_by_map(const Lowering *l, ValueId arg)
{
    const Region *region = region_at(l->m, l->main);
    for (int i = 0; i < region->nnodes; i++) {
        const Node *node = node_at(l->m, region->nodes[i]);
        if (node->op != OP_MANUAL)
            continue;
        for (int k = 0; k < node->nin; k++)
            if (node->in[k] == arg)
                return ((const ManualAttrs *)node->attrs)->in_shardings.at[k];
    }
    return NULL;
}

/* Decides how every value of main lies: its arguments, and from there what follows. */
static void shard_values(Lowering *l, const Lowered *out)
{
    ValueId first = region_at(l->m, l->main)->args;
    for (int i = 0; i < l->nargs; i++) {
        ValueId arg = first + (uint32_t)i;
        int rank = type_of(l->m, arg).rank;
        const ArrayLayout *now = l->layouts && i < l->nleaves ? l->layouts[i] : NULL;
        bool is_free = !session->ndevices || session->has_placed;
        if (session->ndevices)
            l->of[arg] = wanted_by_map(l, arg);
        if (!l->of[arg] && is_free && now && now->ndevices == out->ndevices &&
            !layout_is_whole(now))
            l->of[arg] = sharding_of(l->m, now, rank);
    }
    const Region *region = region_at(l->m, l->main);
    for (int i = 0; i < region->nnodes; i++)
        follow(l->m, node_at(l->m, region->nodes[i]), l->of);
}

/* Those of the maps; else those on which the first leaf lies that is on several; else the first
 * leaf's, or this process's first. */
static void choose_devices(const Lowering *l, Lowered *out)
{
    bool has_maps = session->ndevices > 0;
    const ArrayLayout *home = layout_home();
    out->ndevices = has_maps ? session->ndevices : 1;
    out->devices = has_maps ? session->devices : home->devices;
    out->is_home = !has_maps;
    for (int i = 0; !has_maps && l->layouts && i < l->nleaves; i++)
        if (l->layouts[i] && out->ndevices == 1 && (i == 0 || l->layouts[i]->ndevices > 1)) {
            out->ndevices = l->layouts[i]->ndevices;
            out->devices = l->layouts[i]->devices;
            out->is_home = l->layouts[i] == home;
        }
}

static bool layout_for(Lowering *l, const Lowered *out, ValueId v, const ArrayLayout **layout)
{
    Type t = type_of(l->m, v);
    const Sharding *sharding = l->of[v];
    if (!is_spread(sharding)) {
        *layout = out->is_home         ? layout_home()
                  : out->ndevices == 1 ? layout_single(out->devices[0])
                                       : layout_replicated(out->ndevices, out->devices);
        return *layout != NULL;
    }
    Tiling tiling;
    Error *error = sharding_tiling(l->m->arena, sharding, t.rank, out->ndevices, &tiling);
    if (error) {
        report_error(error);
        return false;
    }
    *layout = layout_intern(out->ndevices, out->devices, tiling);
    return *layout != NULL;
}

/* ---- attributes of main ---- */

static const Attr *sharding_attr(Lowering *l, ValueId v)
{
    Attr *attr = ARENA_NEW(l->m->arena, Attr);
    const Sharding *sharding = l->of[v];
    if (!sharding)
        sharding = sharding_none(l->m->meshes[0], type_of(l->m, v).rank);
    *attr = (Attr){ .kind = ATTR_SHARDING, .sharding = sharding };
    return attr;
}

/* A donated argument lends its memory to the first free result of its type and place. */
static int find_result(Lowering *l, ValueId arg, bool *is_taken)
{
    const Node *last = region_return(l->m, l->main);
    for (int i = 0; i < last->nin; i++) {
        const Sharding *a = l->of[arg], *b = l->of[last->in[i]];
        bool same = is_spread(a) == is_spread(b) && (!is_spread(a) || sharding_equal(a, b));
        if (!is_taken[i] && same && type_equal(type_of(l->m, arg), type_of(l->m, last->in[i]))) {
            is_taken[i] = true;
            return i;
        }
    }
    return -1;
}

static const Attr *arg_attrs(Lowering *l, int i, const bool *donated, bool *is_taken)
{
    AttrDict dict = { 0 };
    ValueId arg = region_at(l->m, l->main)->args + (uint32_t)i;
    if (l->has_meshes)
        attr_set(l->m->arena, &dict, STR("sdy.sharding"), sharding_attr(l, arg));
    if (donated && i < l->nleaves && donated[i]) {
        int result = find_result(l, arg, is_taken);
        Attr *alias = ARENA_NEW(l->m->arena, Attr);
        *alias = (Attr){ .kind = ATTR_INT, .element = I32, .integer = result };
        if (result >= 0)
            attr_set(l->m->arena, &dict, STR("tf.aliasing_output"), alias);
        else
            attr_set(l->m->arena, &dict, STR("jax.buffer_donor"), attr_bool(l->m->arena, true));
    }
    return dict.n ? attr_dict(l->m->arena, &dict) : NULL;
}

/* ---- the module ---- */

static Str module_name(Module *m, const char *label)
{
    Text text = { 0 };
    for (const char *c = label; *c; c++)
        if (isalnum((unsigned char)*c) || *c == '_')
            text_add(&text, c, 1);
        else if (*c == '(')
            text_add(&text, "_", 1);
    Str name = str_copy(m->arena, str_of(text_cstr(&text)));
    text_free(&text);
    return name;
}

/* main comes first. */
static void add_main(Lowering *l, const bool *donated)
{
    Module *m = l->m;
    const Node *last = region_return(m, l->main);
    Func func = { .name = STR("main"),
                  .is_public = true,
                  .body = l->main,
                  .nresults = last->nin,
                  .loc = &loc_unknown };
    Type *types = ARENA_ARRAY(m->arena, Type, last->nin + 1);
    const Attr **args = ARENA_ARRAY(m->arena, const Attr *, l->nargs + 1);
    const Attr **results = ARENA_ARRAY(m->arena, const Attr *, last->nin + 1);
    bool *is_taken = ARENA_ARRAY(m->arena, bool, last->nin + 1);
    for (int i = 0; i < last->nin; i++) {
        types[i] = type_of(m, last->in[i]);
        if (l->has_meshes) {
            AttrDict dict = { 0 };
            attr_set(m->arena, &dict, STR("sdy.sharding"), sharding_attr(l, last->in[i]));
            results[i] = attr_dict(m->arena, &dict);
        }
    }
    for (int i = 0; i < l->nargs; i++)
        args[i] = arg_attrs(l, i, donated, is_taken);
    func.results = types;
    func.arg_attrs = args;
    func.result_attrs = results;
    func_add(m, func.name);
    memmove(m->funcs + 1, m->funcs, sizeof *m->funcs * (size_t)(m->nfuncs - 1));
    m->funcs[0] = func;
    funcs_set(m, m->nfuncs, m->funcs); /* in their new order */
}

static void mark_used(const Module *m, RegionId r, bool *used)
{
    const Region *region = region_at(m, r);
    for (int i = 0; i < region->nnodes; i++) {
        const Node *node = node_at(m, region->nodes[i]);
        for (int k = 0; k < node->nregions; k++)
            mark_used(m, node->regions[k], used);
        if (node->op != OP_CALL)
            continue;
        Func *callee = func_find(m, ((const CallAttrs *)node->attrs)->callee);
        if (!used[callee - m->funcs]) {
            used[callee - m->funcs] = true;
            mark_used(m, callee->body, used);
        }
    }
}

/* Functions whose calls a transformation has inlined go. */
static void drop_uncalled(Module *m)
{
    bool *used = ARENA_ARRAY(m->arena, bool, m->nfuncs + 1);
    used[0] = true;
    mark_used(m, m->funcs[0].body, used);
    int n = 0;
    for (int i = 0; i < m->nfuncs; i++)
        if (used[i])
            m->funcs[n++] = m->funcs[i];
    funcs_set(m, n, m->funcs);
}

/* With one device a map's shard is the whole, and its body stands for itself; XLA has no manual
 * computations there. */
static void inline_maps(Module *m, RegionId r)
{
    Subst map = subst_new(m);
    Region old = *region_at(m, r);
    RegionId flat = region_new(m, 0, 0, NULL);
    for (int i = 0; i < old.nnodes; i++) {
        Node node = *node_at(m, old.nodes[i]);
        if (node.op != OP_MANUAL) {
            region_append(m, flat, old.nodes[i]);
            continue;
        }
        const Region *body = region_at(m, node.regions[0]);
        for (int k = 0; k < node.nin; k++)
            subst_set(&map, body->args + (uint32_t)k, node.in[k]);
        for (int k = 0; k < body->nnodes - 1; k++)
            region_append(m, flat, region_at(m, node.regions[0])->nodes[k]);
        for (int k = 0; k < node.nout; k++)
            subst_set(&map, node.out + (uint32_t)k, region_return(m, node.regions[0])->in[k]);
    }
    region_set_nodes(m, r, region_at(m, flat)->nnodes, region_at(m, flat)->nodes);
    subst_apply(&map, m, r);
    subst_free(&map);
}

static bool set_layouts(Lowering *l, Lowered *out)
{
    Module *m = l->m;
    const Node *last = region_return(m, l->main);
    const ArrayLayout **args = ARENA_ARRAY(m->arena, const ArrayLayout *, l->nargs + 1);
    const ArrayLayout **results = ARENA_ARRAY(m->arena, const ArrayLayout *, last->nin + 1);
    for (int i = 0; i < l->nargs; i++)
        if (!layout_for(l, out, region_at(m, l->main)->args + (uint32_t)i, &args[i]))
            return false;
    for (int i = 0; i < last->nin; i++)
        if (!layout_for(l, out, last->in[i], &results[i]))
            return false;
    out->args = args;
    out->results = results;
    return true;
}

/* What derivatives went by is no part of the program. */
static void forget_drops(Module *m, NodeId n, void *user)
{
    (void)user;
    Node *node = node_at(m, n);
    if (node->op != OP_GATHER)
        return;
    GatherAttrs *plain = arena_copy(m->arena, node->attrs, sizeof *plain);
    plain->drops = false;
    node->attrs = plain;
}

static Precisions filled(Precisions p, Precision otherwise)
{
    return (Precisions){ p.lhs ? p.lhs : otherwise, p.rhs ? p.rhs : otherwise };
}

/* A product that does not say how exact it is takes the client's precision. */
static void fill_precision(Module *m, NodeId n, void *user)
{
    Node *node = node_at(m, n);
    const Precision *otherwise = user;
    if (node->op == OP_DOT) {
        DotAttrs *said = arena_copy(m->arena, node->attrs, sizeof *said);
        said->precision_config = filled(said->precision_config, *otherwise);
        node->attrs = said;
    }
    if (node->op == OP_CONVOLUTION) {
        ConvolutionAttrs *said = arena_copy(m->arena, node->attrs, sizeof *said);
        said->precision_config = filled(said->precision_config, *otherwise);
        node->attrs = said;
    }
}

bool lower_graph(tt_fn f, const Graph *g, const ArrayLayout *const *layouts, const bool *donated,
                 Lowered *out)
{
    Lowering l = { .m = session->m, .g = g, .nleaves = g->nleaves, .layouts = layouts };
    *out = (Lowered){ 0 };
    choose_devices(&l, out);
    if (!open_composites(l.m, g->body))
        return false;
    l.main = make_main(&l, out);
    resolve_axes(l.m, l.main, out->ndevices);
    flatten_maps(l.m, l.main, out->ndevices);
    l.of = ARENA_ARRAY(l.m->arena, const Sharding *, l.m->nvalues + 1);
    shard_values(&l, out);
    if (out->ndevices == 1) {
        inline_maps(l.m, l.main);
        l.m->nmeshes = 0;
    }
    l.has_meshes = l.m->nmeshes > 0;
    if (!l.has_meshes && out->ndevices > 1) {
        mesh_for_tiling(l.m, &(Tiling){ .ndevices = out->ndevices });
        l.has_meshes = true;
    }
    l.m->name = module_name(l.m, f->label);
    l.m->npartitions = out->ndevices;
    add_main(&l, donated);
    drop_uncalled(l.m);
    for (int i = 0; i < l.m->nfuncs; i++)
        region_walk(l.m, l.m->funcs[i].body, forget_drops, NULL);
    if (!set_layouts(&l, out) || !expand_factors(l.m))
        return false;
    Precision otherwise = client_precision();
    for (int i = 0; otherwise != PRECISION_UNSAID && i < l.m->nfuncs; i++)
        region_walk(l.m, l.m->funcs[i].body, fill_precision, &otherwise);
    out->nargs = l.nargs;
    out->nresults = g->nresults;
    out->types = l.m->funcs[0].results;
    Error *error = module_check(l.m);
    if (error) {
        report_broken("%s: its program is not right, which is our mistake: %s", f->label,
                      error_text(error));
        error_free(error);
        return false;
    }
    module_print(&out->text, l.m, true);
    return true;
}
