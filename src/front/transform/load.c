/* load.c - a program, StableHLO or jax.export's, from a file or memory, as a function: called, mapped and differentiated like
 * any other.
 *
 * The file is read once, its calls are inlined, and its module kept for ever; a call copies what
 * main does into the session's module, attributes shared.  A program with open extents (f32[?,784])
 * keeps its bytes instead; a session that calls it makes a module in which those are numbers, for
 * each signature, and ends it. */
#include "base/guard.h"
#include "files/exported.h"
#include "front/client/client.h"
#include "front/transform/build.h"
#include "front/transform/load_compiled.h"
#include "front/transform/transform.h"
#include "front/value/library.h"
#include "front/value/report.h"
#include "hlo/define/define.h"
#include "hlo/static_shapes.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct Loaded {
    Module *m;                /* as it was read: what main takes */
    Str bytes;                /* of an open program; else none, and main has no calls */
    char *file;               /* what they lie in */
    Arena *arena;             /* of exported */
    const Exported *exported; /* how JAX's function looks; NULL: it is main */
};

/* ---- reading ---- */

static void close_file(void *user)
{
    FILE **file = user;
    if (*file)
        fclose(*file);
}

/* NULL: reported. */
static char *read_file(const char *path, size_t *n)
{
    FILE *file = NULL;
    guard_defer(close_file, &file);
    file = fopen(path, "rb");
    Text text = { 0 };
    char block[1 << 14];
    for (size_t got; file && (got = fread(block, 1, sizeof block, file)) > 0;)
        text_add(&text, block, got);
    bool failed = !file || ferror(file);
    if (!file)
        report_broken("tt_load: %s: %s", path, strerror(errno));
    else if (failed)
        report_broken("tt_load: %s cannot be read", path);
    *n = text.n;
    text_add(&text, "", 1);
    guard_forget(close_file, &file);
    close_file(&file);
    if (failed)
        text_free(&text);
    return text.at;
}

static Error *read_and_check(Str bytes, const char *path, Module **out)
{
    Module *m = NULL;
    TRY(read_program(bytes.at, bytes.n, path, &m));
    Error *error = module_check(m);
    if (!error && !func_find(m, STR("main")))
        error = error_new(CODE_INVALID, "%s has no function main", path);
    if (error)
        module_free(m);
    else
        *out = m;
    return error;
}

/* Derivatives and batches know no open extents, no tuples, nor operations that stand for others. */
static Error *settle_and_write_out(Module *m, int nargs, const Type *types)
{
    TRY(module_make_static(m, nargs, types));
    Func *main = func_find(m, STR("main"));
    TRY(untuple(m, main));
    return write_out(m, main->body);
}

/* The function, or the gradient of that order, that a file of jax.export holds. */
static Error *find_exported(Str file, const char *path, int order, struct Loaded *out)
{
    Exported *e = NULL;
    out->arena = arena_new();
    TRY(exported_read(file, path, out->arena, &e));
    for (int i = 0; i < order; i++, e = e->vjp)
        if (!e->vjp)
            return error_new(CODE_NOT_FOUND,
                             "%s holds no gradient of order %d: write it by "
                             "exported.serialize(vjp_order=%d)",
                             path, order, order);
    out->exported = e;
    out->bytes = e->module;
    return NULL;
}

static Error *check_exported(const struct Loaded *l, const char *path)
{
    int takes = region_at(l->m, func_find(l->m, STR("main"))->body)->nargs;
    int gives = func_find(l->m, STR("main"))->nresults;
    const Exported *e = l->exported;
    return !e || (takes == e->nparams && gives == e->nresults)
               ? NULL
               : error_new(CODE_INVALID,
                           "%s: its program takes %d arrays and gives %d, the function "
                           "%d and %d",
                           path, takes, gives, e->nparams, e->nresults);
}

static Error *load_into(Str file, const char *path, int order, struct Loaded *l)
{
    l->bytes = file;
    if (exported_is(file))
        TRY(find_exported(file, path, order, l));
    else if (order)
        return error_new(CODE_INVALID,
                         "%s is a program, and not a file of jax.export, which may "
                         "hold a gradient",
                         path);
    TRY(read_and_check(l->bytes, path, &l->m));
    TRY(check_exported(l, path));
    if (module_is_open(l->m))
        return NULL;
    l->bytes = (Str){ 0 };
    return settle_and_write_out(l->m, 0, NULL);
}

static void loaded_free(struct Loaded *l)
{
    module_free(l->m);
    arena_free(l->arena);
    heap_free(l->file);
    heap_free(l);
}

/* Takes the bytes over. */
static struct Loaded *load(Str file, const char *path, int order)
{
    struct Loaded *loaded = heap_new(sizeof *loaded, "a program");
    loaded->file = (char *)file.at;
    Error *error = load_into(file, path, order, loaded);
    if (error) {
        report_error(error_in(error, "tt_load"));
        loaded_free(loaded);
        return NULL;
    }
    if (!loaded->bytes.at) {
        heap_free(loaded->file);
        loaded->file = NULL;
    }
    return loaded;
}

typedef struct Loading {
    const char *path;
    const void *bytes; /* NULL: those of the file */
    size_t n;
    int order;             /* of the gradient; 0: the function itself */
    struct Loaded *loaded; /* NULL: reported */
} Loading;

/* The program that plays a shared library, instead of its bytes; NULL: reported. */
static char *load_library(char *bytes, const char *path, size_t *n)
{
    Text program = { 0 };
    Error *error = compiled_load(path, (Str){ bytes, *n }, &program);
    heap_free(bytes);
    if (error)
        return report_error(error_in(error, "tt_load")), NULL;
    *n = program.n;
    return program.at;
}

static void read_and_load(void *user)
{
    Loading *loading = user;
    size_t n = loading->n;
    char *bytes = NULL;
    if (loading->bytes) {
        bytes = heap_new(n + 1, "a program");
        memcpy(bytes, loading->bytes, n);
    } else {
        bytes = read_file(loading->path, &n);
    }
    if (bytes && !loading->bytes && compiled_is((Str){ bytes, n }, loading->path))
        bytes = load_library(bytes, loading->path, &n);
    loading->loaded = bytes ? load((Str){ bytes, n }, loading->path, loading->order) : NULL;
}

static tt_fn fn_of_loading(Loading *loading)
{
    if (!library_guard("tt_load", read_and_load, loading) || !loading->loaded)
        return NULL;
    struct Loaded *loaded = loading->loaded;
    /* The file may be another by the next call: every loading is a function of its own, and as all
     * functions never freed. */
    FnKey key = { .kind = FN_LOADED, .config = loaded };
    tt_fn f = fn_intern(&key, NULL, loading->path);
    if (f)
        f->loaded = loaded;
    else
        loaded_free(loaded);
    return f;
}

tt_fn(tt_load)(const char *path)
{
    PUBLIC;
    return fn_of_loading(&(Loading){ .path = path });
}

tt_fn tt_load_vjp(const char *path, int order)
{
    PUBLIC;
    if (order < 1)
        return report_broken("tt_load_vjp: the order is %d; it counts from 1", order), NULL;
    return fn_of_loading(&(Loading){ .path = path, .order = order });
}

const char *tt_argument_name(tt_fn f, int i)
{
    const Exported *e = f && f->loaded ? f->loaded->exported : NULL;
    return e && i >= 0 && i < e->nargs ? e->args[i].name.at : NULL;
}

tt_fn tt_load_text(const char *name, const void *bytes, size_t n)
{
    PUBLIC;
    return fn_of_loading(&(Loading){ .path = name, .bytes = bytes ? bytes : "", .n = n });
}

/* ---- copying ---- */

typedef struct Copier {
    const Module *from;
    ValueId *to; /* [value of from] */
} Copier;

static void copy_region(Copier *c, RegionId r, RegionId to);

static RegionId copy_block(Copier *c, RegionId r)
{
    Module *m = session->m;
    const Region *old = region_at(c->from, r);
    Type *types = ARENA_ARRAY(m->arena, Type, old->nargs + 1);
    for (int i = 0; i < old->nargs; i++)
        types[i] = type_of(c->from, old->args + (uint32_t)i);
    RegionId copy = region_new(m, 0, old->nargs, types);
    for (int i = 0; i < old->nargs; i++)
        c->to[old->args + (uint32_t)i] = region_at(m, copy)->args + (uint32_t)i;
    copy_region(c, r, copy);
    const Node *last = region_return(c->from, r);
    ValueId *in = ARENA_ARRAY(m->arena, ValueId, last->nin + 1);
    for (int i = 0; i < last->nin; i++)
        in[i] = c->to[last->in[i]];
    build_return(m, copy, last->nin, in, last->loc);
    return copy;
}

static void copy_node(Copier *c, const Node *n, RegionId to)
{
    Module *m = session->m;
    ValueId *in = ARENA_ARRAY(m->arena, ValueId, n->nin + 1);
    Type *types = ARENA_ARRAY(m->arena, Type, n->nout + 1);
    RegionId *regions = ARENA_ARRAY(m->arena, RegionId, n->nregions + 1);
    for (int i = 0; i < n->nin; i++)
        in[i] = c->to[n->in[i]];
    for (int i = 0; i < n->nout; i++)
        types[i] = type_of(c->from, n->out + (uint32_t)i);
    for (int i = 0; i < n->nregions; i++)
        regions[i] = copy_block(c, n->regions[i]);
    NodeId copy =
        node_new(m, n->op, n->nin, in, n->nout, types, n->nregions, regions, n->attrs, n->loc);
    node_at(m, copy)->extra = n->extra;
    region_append(m, to, copy);
    for (int i = 0; i < n->nout; i++)
        c->to[n->out + (uint32_t)i] = node_at(m, copy)->out + (uint32_t)i;
}

static void copy_region(Copier *c, RegionId r, RegionId to)
{
    const Region *region = region_at(c->from, r);
    for (int i = 0; i < region->nnodes - 1; i++) {
        const Node *n = node_at(c->from, region->nodes[i]);
        if (n->op == OP_CONSTRAINT)
            c->to[n->out] = c->to[n->in[0]]; /* how values lie is lowering's business */
        else
            copy_node(c, n, to);
    }
}

/* ---- calling ---- */

/* A number takes the type that the program wants, as it takes its partner's; *changed: some
 * did. */
static Leaves typed_leaves(const struct Loaded *p, const Leaves *leaves, bool *changed)
{
    const Region *body = region_at(p->m, func_find(p->m, STR("main"))->body);
    Leaves typed = *leaves;
    typed.types = ARENA_ARRAY(trace_arena(), Type, leaves->n + 1);
    *changed = false;
    for (int i = 0; i < leaves->n; i++) {
        Type had = leaves->types[i];
        Type want = i < body->nargs ? type_of(p->m, body->args + (uint32_t)i) : had;
        bool is_number = leaves->is_weak && leaves->is_weak[i];
        bool gives = is_number && weak_yields(had.element, want.element);
        typed.types[i] =
            type_with(had, gives ? want.element : element_canonical(had.element, is_number));
        *changed |= typed.types[i].element != had.element;
    }
    return typed;
}

/* What to call leaf i of main in a message. */
static const char *param_name(const struct Loaded *p, const Leaves *leaves, int i)
{
    for (int k = 0; p->exported && k < p->exported->nargs; k++)
        if (p->exported->args[k].param == i)
            return p->exported->args[k].name.at;
    return leaf_name(leaves, i);
}

/* With what it takes; the first of many. */
static void report_arity(tt_fn f, const struct Loaded *p, int given)
{
    enum { MOST = 8 };
    const Region *body = region_at(p->m, func_find(p->m, STR("main"))->body);
    Text list = { 0 };
    for (int i = 0; i < body->nargs && i < MOST; i++)
        text_printf(&list, "%s%s", i ? ", " : ": ",
                    type_text(type_of(p->m, body->args + (uint32_t)i)));
    report_broken("%s takes %d array%s, not %d%s%s", f->label, body->nargs,
                  body->nargs == 1 ? "" : "s", given, text_cstr(&list),
                  body->nargs > MOST ? ", ..." : "");
    text_free(&list);
}

static bool fits(tt_fn f, const struct Loaded *p, const Leaves *leaves)
{
    const Region *body = region_at(p->m, func_find(p->m, STR("main"))->body);
    if (leaves->n != body->nargs)
        return report_arity(f, p, leaves->n), false;
    for (int i = 0; i < leaves->n; i++) {
        Type want = type_of(p->m, body->args + (uint32_t)i);
        if (!type_fits(want, leaves->types[i]))
            return report_broken("%s: %s is %s, and must be %s", f->label, param_name(p, leaves, i),
                                 type_text(leaves->types[i]), type_text(want)),
                   false;
    }
    return true;
}

/* A program with manual computations brings its meshes and needs its number of devices. */
static bool take_meshes(tt_fn f, const Module *m)
{
    int there = client_device_count();
    bool has_manual = false;
    for (uint32_t i = 1; i < m->nnodes; i++)
        has_manual |= m->nodes[i].op == OP_MANUAL;
    if (!has_manual)
        return true;
    if (m->npartitions > there)
        return report_broken("%s is a program for %d devices, but there are %d: start with "
                             "tt_init(.devices = %d) or TUTTI_DEVICES=%d",
                             f->label, m->npartitions, there, m->npartitions, m->npartitions),
               false;
    if (session->ndevices && session->ndevices != m->npartitions)
        return report_broken("%s is a program for %d devices, but %s has %d", f->label,
                             m->npartitions, session->mapped, session->ndevices),
               false;
    int *devices = ARENA_ARRAY(trace_arena(), int, m->npartitions);
    for (int i = 0; i < m->npartitions; i++)
        devices[i] = i;
    session->devices = devices;
    session->ndevices = m->npartitions;
    session->mapped = f->label;
    for (int i = 0; i < m->nmeshes; i++)
        if (!mesh_find(session->m, m->meshes[i]->name))
            mesh_add(session->m, m->meshes[i]);
    return true;
}

/* The module of this session that an open program has for such leaves; NULL: none yet. */
static const Module *find_version(const struct Loaded *p, const Leaves *leaves)
{
    for (const Version *v = session->versions; v; v = v->next) {
        const Region *body = region_at(v->m, func_find(v->m, STR("main"))->body);
        bool is_same = v->of == p;
        for (int i = 0; is_same && i < leaves->n; i++)
            is_same = type_equal(type_of(v->m, body->args + (uint32_t)i), leaves->types[i]);
        if (is_same)
            return v->m;
    }
    return NULL;
}

/* An open program being made for some leaves; noted with no guard, as the session. */
typedef struct Making {
    tt_fn f;
    const Leaves *leaves;
    Module *m;
    Error *error;
} Making;

static void make_version(void *user)
{
    Making *w = user;
    w->error = read_and_check(w->f->loaded->bytes, w->f->label, &w->m);
    if (!w->error && (w->error = settle_and_write_out(w->m, w->leaves->n, w->leaves->types)))
        module_free(w->m);
}

static Error *add_version(tt_fn f, const Leaves *leaves, const Module **out)
{
    Version *version = ARENA_NEW(trace_arena(), Version);
    Making w = { f, leaves, NULL, NULL };
    TRY(guard_run_in(NULL, "a program", make_version, &w));
    TRY(w.error);
    *version = (Version){ session->versions, f->loaded, w.m };
    session->versions = version;
    *out = w.m;
    return NULL;
}

/* The program on leaves of the types that it wants. */
static bool typed_graph(tt_fn f, const Leaves *leaves, Graph *out)
{
    struct Loaded *p = f->loaded;
    if (!fits(f, p, leaves) || !take_meshes(f, p->m))
        return false;
    const Module *m = p->bytes.at ? find_version(p, leaves) : p->m;
    Error *error = m ? NULL : add_version(f, leaves, &m);
    if (error)
        return report_error(error_in(error, "%s", f->label)), false;
    const Func *main = func_find(m, STR("main"));
    Copier c = { .from = m, .to = ARENA_ARRAY(trace_arena(), ValueId, m->nvalues) };
    RegionId body = copy_block(&c, main->body);
    int nresults = main->nresults;
    *out = (Graph){ session->m, body, leaves->n, nresults,
                    ARENA_ARRAY(trace_arena(), bool, nresults + 1) };
    return true;
}

/* What main does. */
static bool main_graph(tt_fn f, const Leaves *leaves, Graph *out)
{
    bool changed;
    Leaves typed = typed_leaves(f->loaded, leaves, &changed);
    if (!changed)
        return typed_graph(f, leaves, out);
    Graph g;
    if (!typed_graph(f, &typed, &g))
        return false;
    tt *in = ARENA_ARRAY(trace_arena(), tt, leaves->n + 1);
    tt *y = ARENA_ARRAY(trace_arena(), tt, g.nresults + 1);
    record_begin(leaves->n, leaves->types, leaves->is_weak, in);
    for (int i = 0; i < leaves->n; i++)
        in[i] = build_convert(in[i], typed.types[i].element);
    trace_inline(f->label, &g, in, y);
    return record_end(f->label, g.nresults, y, out);
}

/* ---- functions of JAX ---- */

/* The index of this platform, of the type that main wants it in. */
static tt platform_index(const struct Loaded *p, Type type)
{
    int64_t index = exported_platform(p->exported, str_of(client_platform()));
    return trace_constant((Dense){ type, true, &index }); /* of 4 bytes: the lower ones */
}

static Type param_type(const struct Loaded *p, int i)
{
    return type_of(p->m, region_at(p->m, func_find(p->m, STR("main"))->body)->args + (uint32_t)i);
}

/* From the leaves that JAX's function takes to those of main. */
static Leaves main_leaves(const struct Loaded *p, const Leaves *leaves)
{
    const Exported *e = p->exported;
    Leaves own = { .nargs = 1, .counts = { e->nparams }, .n = e->nparams };
    own.types = ARENA_ARRAY(trace_arena(), Type, own.n + 1);
    own.is_weak = ARENA_ARRAY(trace_arena(), bool, own.n + 1);
    if (e->platform_param >= 0)
        own.types[e->platform_param] = param_type(p, e->platform_param);
    for (int i = 0; i < e->nargs; i++)
        if (e->args[i].param >= 0) {
            own.types[e->args[i].param] = leaves->types[i];
            own.is_weak[e->args[i].param] = leaves->is_weak && leaves->is_weak[i];
        }
    return own;
}

static bool exported_graph(tt_fn f, const Leaves *leaves, Graph *out)
{
    const struct Loaded *p = f->loaded;
    const Exported *e = p->exported;
    Graph g;
    if (leaves->n != e->nargs)
        return report_broken("%s takes %d array%s, not %d", f->label, e->nargs,
                             e->nargs == 1 ? "" : "s", leaves->n),
               false;
    Leaves own = main_leaves(p, leaves);
    if (!main_graph(f, &own, &g))
        return false;
    tt *in = ARENA_ARRAY(trace_arena(), tt, leaves->n + 1);
    tt *params = ARENA_ARRAY(trace_arena(), tt, own.n + 1);
    tt *y = ARENA_ARRAY(trace_arena(), tt, g.nresults + 1);
    record_begin(leaves->n, leaves->types, leaves->is_weak, in);
    if (e->platform_param >= 0)
        params[e->platform_param] = platform_index(p, own.types[e->platform_param]);
    for (int i = 0; i < e->nargs; i++)
        if (e->args[i].param >= 0)
            params[e->args[i].param] = in[i];
    trace_inline(f->label, &g, params, y);
    return record_end(f->label, g.nresults, y, out);
}

bool loaded_graph(tt_fn f, const Leaves *leaves, Graph *out)
{
    return f->loaded->exported ? exported_graph(f, leaves, out) : main_graph(f, leaves, out);
}
