/* load.c - a StableHLO program from a file as a function: called, mapped and differentiated like
 * any other.
 *
 * The file is read once, and its module kept for ever; a call copies what main does into the
 * session's module, with the functions it calls in place, and attributes shared. */
#include "base/fail.h"
#include "front/build.h"
#include "front/client.h"
#include "front/fn.h"
#include "front/say.h"
#include "hlo/define/define.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEEPEST = 64 }; /* calls inside calls */

struct Loaded {
    Module *m;
    const Func *main;
};

/* ---- reading ---- */

static char *read_file(const char *path, size_t *n)
{
    FILE *file = fopen(path, "rb");
    if (!file)
        return say_broken("tt_load: %s: %s", path, strerror(errno)), NULL;
    Text text = { 0 };
    char block[1 << 16];
    for (size_t got; (got = fread(block, 1, sizeof block, file)) > 0;)
        text_add(&text, block, got);
    bool failed = ferror(file);
    fclose(file);
    if (failed) {
        text_free(&text);
        return say_broken("tt_load: %s cannot be read", path), NULL;
    }
    *n = text.n;
    text_add(&text, "", 1);
    return text.at;
}

/* Derivatives and batches know no operations that stand for others. */
static Error *check_and_write_out(Module *m)
{
    TRY(module_check(m));
    for (int i = 0; i < m->nfuncs; i++)
        TRY(write_out(m, m->funcs[i].body));
    return NULL;
}

static struct Loaded *load(const char *path)
{
    size_t n = 0;
    Module *m = NULL;
    char *bytes = read_file(path, &n);
    if (!bytes)
        return NULL;
    Error *error = read_program(bytes, n, path, &m);
    free(bytes);
    if (!error && (error = check_and_write_out(m)))
        module_free(m);
    if (error) {
        say_error(error_in(error, "tt_load"));
        return NULL;
    }
    const Func *main = func_find(m, STR("main"));
    if (!main) {
        say_broken("tt_load: %s has no function main", path);
        module_free(m);
        return NULL;
    }
    struct Loaded *loaded = malloc(sizeof *loaded);
    if (!loaded)
        fail("no memory for a program");
    *loaded = (struct Loaded){ m, main };
    return loaded;
}

tt_fn(tt_load)(const char *path)
{
    struct Loaded *loaded = load(path);
    if (!loaded)
        return NULL;
    /* The file may be another by the next call: every loading is a function of its own. */
    FnKey key = { .kind = FN_LOADED, .config = loaded };
    tt_fn f = fn_intern(&key, NULL, path);
    f->loaded = loaded;
    return f;
}

/* ---- copying ---- */

typedef struct Copier {
    const Module *from;
    ValueId *to; /* [value of from] */
    int depth;
} Copier;

static bool copy_region(Copier *c, RegionId r, RegionId to);

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
    if (!copy_region(c, r, copy))
        return 0;
    const Node *last = region_return(c->from, r);
    ValueId *in = ARENA_ARRAY(m->arena, ValueId, last->nin + 1);
    for (int i = 0; i < last->nin; i++)
        in[i] = c->to[last->in[i]];
    region_append(m, copy,
                  node_new(m, OP_RETURN, last->nin, in, 0, NULL, 0, NULL, last->attrs, last->loc));
    return copy;
}

/* The operations of the function that n calls, in its place. */
static bool copy_call(Copier *c, const Node *n, Str callee, RegionId to)
{
    const Func *func = func_find(c->from, callee);
    if (!func || ++c->depth > DEEPEST)
        return say_broken("tt_load: the program calls functions more than %d deep", DEEPEST), false;
    const Region *body = region_at(c->from, func->body);
    for (int i = 0; i < n->nin; i++)
        c->to[body->args + (uint32_t)i] = c->to[n->in[i]];
    if (!copy_region(c, func->body, to))
        return false;
    const Node *last = region_return(c->from, func->body);
    for (int i = 0; i < n->nout; i++)
        c->to[n->out + (uint32_t)i] = c->to[last->in[i]];
    c->depth--;
    return true;
}

/* How values lie is lowering's business. */
static bool skip(Copier *c, const Node *n)
{
    c->to[n->out] = c->to[n->in[0]];
    return true;
}

static bool copy_node(Copier *c, const Node *n, RegionId to)
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
        if (!(regions[i] = copy_block(c, n->regions[i])))
            return false;
    NodeId copy =
        node_new(m, n->op, n->nin, in, n->nout, types, n->nregions, regions, n->attrs, n->loc);
    node_at(m, copy)->extra = n->extra;
    region_append(m, to, copy);
    for (int i = 0; i < n->nout; i++)
        c->to[n->out + (uint32_t)i] = node_at(m, copy)->out + (uint32_t)i;
    return true;
}

static bool copy_region(Copier *c, RegionId r, RegionId to)
{
    const Region *region = region_at(c->from, r);
    for (int i = 0; i < region->nnodes - 1; i++) {
        const Node *n = node_at(c->from, region->nodes[i]);
        bool ok = n->op == OP_CALL ? copy_call(c, n, ((const CallAttrs *)n->attrs)->callee, to)
                  : n->op == OP_CONSTRAINT ? skip(c, n)
                  : n->op == OP_COMPOSITE
                      ? copy_call(c, n, ((const CompositeAttrs *)n->attrs)->decomposition, to)
                      : copy_node(c, n, to);
        if (!ok)
            return false;
    }
    return true;
}

/* ---- calling ---- */

static bool fits(tt_fn f, const struct Loaded *p, const Leaves *leaves)
{
    const Region *body = region_at(p->m, p->main->body);
    if (leaves->n != body->nargs)
        return say_broken("%s takes %d array%s, not %d", f->label, body->nargs,
                          body->nargs == 1 ? "" : "s", leaves->n),
               false;
    for (int i = 0; i < leaves->n; i++) {
        Type want = type_of(p->m, body->args + (uint32_t)i);
        if (!type_equal(want, leaves->types[i]))
            return say_broken("%s: %s must be %s", f->label, leaf_words(leaves, i),
                              type_words(want)),
                   false;
    }
    return true;
}

static bool has_manual(const Module *m)
{
    for (uint32_t i = 1; i < m->nnodes; i++)
        if (m->nodes[i].op == OP_MANUAL)
            return true;
    return false;
}

/* A program with manual computations brings its meshes and needs its number of devices. */
static bool take_meshes(tt_fn f, const Module *m)
{
    int there = client_device_count();
    if (!has_manual(m))
        return true;
    if (m->npartitions > there)
        return say_broken("%s is a program for %d devices, but there are %d", f->label,
                          m->npartitions, there),
               false;
    if (session->ndevices && session->ndevices != m->npartitions)
        return say_broken("%s is a program for %d devices, but %s has %d", f->label, m->npartitions,
                          session->mapped, session->ndevices),
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

bool loaded_graph(tt_fn f, const Leaves *leaves, Graph *out)
{
    const struct Loaded *p = f->loaded;
    if (!fits(f, p, leaves) || !take_meshes(f, p->m))
        return false;
    Copier c = { .from = p->m, .to = calloc(p->m->nvalues, sizeof *c.to) };
    if (!c.to)
        fail("no memory to copy %u values", p->m->nvalues);
    RegionId body = copy_block(&c, p->main->body);
    free(c.to);
    int nresults = p->main->nresults;
    *out = (Graph){ session->m, body, leaves->n, nresults,
                    ARENA_ARRAY(trace_arena(), bool, nresults + 1) };
    return body != 0;
}
