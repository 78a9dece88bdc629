/* optimized.c - the program as it is compiled, for people to read: Executable_OptimizedProgram.
 *
 * The program of one device, before operations become kernels, but with reductions joined.  Clients of XLA turn it into HLO (it
 * is what JAX's Compiled.as_text() shows), so it must be StableHLO and nothing else:
 *
 *   chlo.erf, tutti.global   become custom calls of that name; a region becomes a function.  What a
 *                            tutti.global joins is gathered before it
 *   sdy.mesh, sdy.sharding   become mhlo.sharding, at arguments and results
 *
 * It is not kept from the compilation: when it is asked for, the passes run again. */
#include "engine/plugin/plugin.h"

#include "hlo/module.h"
#include "hlo/rewrite.h"

#include <string.h>

/* How an array lies (NULL: there is one device); and for an argument whose memory a result takes
 * over, which one. */
static const Attr *own_attrs(Arena *arena, const char *sharding, size_t size, int aliased)
{
    AttrDict dict = { 0 };
    Str text = size ? (Str){ sharding, size } : STR("{replicated}");
    if (sharding)
        attr_set(arena, &dict, STR("mhlo.sharding"), attr_string(arena, text));
    if (aliased >= 0) {
        Attr *number = ARENA_NEW(arena, Attr);
        *number = (Attr){ .kind = ATTR_INT, .element = I32, .integer = aliased };
        attr_set(arena, &dict, STR("tf.aliasing_output"), number);
    }
    return attr_dict(arena, &dict);
}

static int result_in_place_of(const Program *p, int arg)
{
    for (int i = 0; i < p->nresults; i++)
        if (p->results[i].alias == arg)
            return i;
    return -1;
}

static void attach_shardings(const Compiled *e, Module *m, Func *main)
{
    const Program *p = e->program;
    bool is_cut = p->ndevices > 1;
    const Attr **args = ARENA_ARRAY(m->arena, const Attr *, p->nargs + 1);
    const Attr **results = ARENA_ARRAY(m->arena, const Attr *, p->nresults + 1);
    for (int i = 0; i < p->nargs; i++)
        args[i] = own_attrs(m->arena, is_cut ? e->arg_shardings[i] : NULL, e->arg_sharding_sizes[i],
                            result_in_place_of(p, i));
    for (int i = 0; i < p->nresults; i++)
        results[i] = own_attrs(m->arena, is_cut ? e->output_shardings[i] : NULL,
                               e->output_sharding_sizes[i], -1);
    main->arg_attrs = args;
    main->result_attrs = results;
}

/* The region as a function of its own: what a custom call calls. */
static const Attr *make_function(Module *m, RegionId body)
{
    Text name = { 0 };
    text_printf(&name, "whole.%d", m->nfuncs);
    Func *f = func_add(m, str_copy(m->arena, (Str){ name.at, name.n }));
    text_free(&name);
    const Node *end = region_return(m, body);
    Type *results = ARENA_ARRAY(m->arena, Type, end->nin + 1);
    for (int i = 0; i < end->nin; i++)
        results[i] = type_of(m, end->in[i]);
    f->body = body;
    f->nresults = end->nin;
    f->results = results;
    f->loc = &loc_unknown;
    region_at(m, body)->parent = 0;
    const Attr **items = ARENA_ARRAY(m->arena, const Attr *, 1);
    items[0] = attr_string(m->arena, f->name);
    Attr *list = ARENA_NEW(m->arena, Attr);
    *list = (Attr){ .kind = ATTR_ARRAY, .n = 1, .items = items };
    return list;
}

/* Of the devices that have first's coordinates in all dimensions but dim, and `tile` in that: the nth. */
static int64_t device_at(Tiling t, int first, int dim, int64_t tile, int nth)
{
    for (int d = 0; d < t.ndevices; d++) {
        bool is_so = t.tile_of[d * t.rank + dim] == tile;
        for (int i = 0; i < t.rank && is_so; i++)
            is_so = i == dim || t.tile_of[d * t.rank + i] == t.tile_of[first * t.rank + i];
        if (is_so && nth-- == 0)
            return d;
    }
    return first; /* all tiles are held equally often */
}

/* Rows of devices whose tiles along dim make up the whole, in their order, in every replica. */
static Matrix groups_along(const Module *m, Tiling t, int dim)
{
    int64_t size = t.tiles[dim], filled = 0;
    int64_t times = t.ndevices == m->npartitions ? m->nreplicas : 1;
    int64_t *at = ARENA_ARRAY(m->arena, int64_t, times * t.ndevices);
    for (int d = 0; d < t.ndevices; d++) {
        if (t.tile_of[d * t.rank + dim] != 0)
            continue;
        int nth = 0;
        while (device_at(t, d, dim, 0, nth) != d)
            nth++;
        for (int64_t tile = 0; tile < size; tile++)
            at[filled++] = device_at(t, d, dim, tile, nth);
    }
    for (; filled < times * t.ndevices; filled++)
        at[filled] = at[filled - t.ndevices] + t.ndevices;
    return (Matrix){ (int)(filled / size), (int)size, at };
}

/* A device's tile, gathered dimension by dimension to the whole. */
static ValueId gather_tiles(Module *m, RegionId r, ValueId v, Tiling t, const Loc *loc)
{
    for (int dim = 0; dim < t.rank; dim++) {
        if (t.tiles[dim] == 1)
            continue;
        Type tile = type_of(m, v);
        int64_t dims[MAX_RANK];
        memcpy(dims, tile.dims, sizeof *dims * (size_t)tile.rank);
        dims[dim] *= t.tiles[dim];
        AllGatherAttrs *attrs = ARENA_NEW(m->arena, AllGatherAttrs);
        *attrs = (AllGatherAttrs){ groups_along(m, t, dim), 1, true, dim };
        v = build_node(m, r, OP_ALL_GATHER, 1, &v,
                       type_new(m->arena, tile.element, tile.rank, dims), attrs, loc);
    }
    return v;
}

static Error *foreign_to_call(Module *m, RegionId r, NodeId n, void *user)
{
    (void)user;
    OpId op = node_at(m, n)->op;
    for (int i = 0; op == OP_GLOBAL && i < node_at(m, n)->nin; i++) {
        const GlobalAttrs *global = node_at(m, n)->attrs;
        ValueId whole =
            gather_tiles(m, r, node_at(m, n)->in[i], global->in_tilings.at[i], node_at(m, n)->loc);
        node_at(m, n)->in[i] = whole;
    }
    region_append(m, r, n);
    if (!strchr(op_info[op].name, '.') || op == OP_CALL)
        return NULL;
    CustomCallAttrs *attrs = ARENA_NEW(m->arena, CustomCallAttrs);
    attrs->call_target_name = str_of(op_info[op].name);
    attrs->api_version = 1;
    attrs->has_side_effect = op_info[op].kind == KIND_COLLECTIVE;
    if (node_at(m, n)->nregions == 1)
        attrs->called_computations = make_function(m, node_at(m, n)->regions[0]);
    Node *node = node_at(m, n);
    node->op = OP_CUSTOM_CALL;
    node->attrs = attrs;
    node->nregions = 0;
    return NULL;
}

static MUST_USE Error *speak_stablehlo(const Compiled *e, Module *m)
{
    Func main = *func_find(m, STR("main"));
    attach_shardings(e, m, &main);
    funcs_set(m, 1, &main); /* what main called stands in it by now */
    m->nmeshes = 0;
    Subst unchanged = { 0 };
    for (int i = 0; i < m->nfuncs; i++)
        TRY(region_rewrite(m, m->funcs[i].body, &unchanged, foreign_to_call, NULL));
    return NULL;
}

typedef struct Job {
    Compiled *e;
    Text text;
    Error *error;
} Job;

static void run_job(void *user)
{
    Job *job = user;
    const Compiled *e = job->e;
    Source s = { .bytes = e->source, .options = e->options };
    job->error = compile_to_show(&s);
    if (!job->error)
        job->error = speak_stablehlo(e, s.module);
    if (!job->error)
        module_print(&job->text, s.module, true);
    module_free(s.module);
}

/* The caller holds the client's lock. */
static Error *make_text(Compiled *e)
{
    if (e->optimized.n)
        return NULL;
    Job job = { .e = e };
    TRY(compiler_run("print", run_job, &job));
    e->optimized = job.text;
    return job.error;
}

Error *pjrt_Executable_OptimizedProgram(PJRT_Executable_OptimizedProgram_Args *args)
{
    NEEDS(args, program);
    Compiled *e = args->executable->compiled;
    pthread_mutex_lock(&e->client->lock);
    Error *error = make_text(e);
    pthread_mutex_unlock(&e->client->lock);
    if (error)
        return error;
    PJRT_Program *program = args->program;
    if (program->code && program->code_size < e->optimized.n)
        return error_new(CODE_INVALID, "the program has %zu bytes; there is room for %zu",
                         e->optimized.n, program->code_size);
    if (program->code)
        memcpy(program->code, e->optimized.at, e->optimized.n);
    program->code_size = e->optimized.n;
    program->format = "mlir";
    program->format_size = strlen("mlir");
    return NULL;
}
