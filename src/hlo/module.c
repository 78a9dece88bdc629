/* module.c - the tables of a module and how they grow.
 *
 * Values, nodes and regions are rows of three growing arrays; their numbers never change, so
 * passes keep numbers and may add while they look.  Rows are never reused: a pass that drops
 * a node just leaves it out of its region's list. */
#include "hlo/module.h"

#include "base/fail.h"
#include "base/grow.h"
#include "base/guard.h"
#include "base/table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const Loc loc_unknown = { 0 };

enum { MOST_ROWS = 1 << 30 };

/* Room for one more row; rows beyond the old end are zero. */
static void grow(const Module *m, void *table, uint32_t n, uint32_t more, uint32_t *room,
                 size_t size)
{
    void **at = table;
    if (n + more <= *room)
        return;
    if (more > MOST_ROWS || n + more > MOST_ROWS)
        guard_leave(CODE_EXHAUSTED, "a module of more than %u operations or values", MOST_ROWS);
#ifdef TUTTI_HOSTILE /* tests/hostile: tables move whenever they grow */
    uint32_t bigger = n + more;
#else
    uint32_t bigger = *room * 2 > n + more ? *room * 2 : n + more + 16;
#endif
    char *moved = heap_resize_for(m->arena, *at, bigger * size, "a module");
    memset(moved + *room * size, 0, (bigger - *room) * size);
    *at = moved;
    *room = bigger;
}

Module *module_new(void)
{
    Arena *arena = arena_new();
    Module *m = ARENA_NEW(arena, Module);
    m->arena = arena;
    m->nreplicas = m->npartitions = 1;
    grow(m, &m->values, 0, 1, &m->values_room, sizeof *m->values);
    grow(m, &m->nodes, 0, 1, &m->nodes_room, sizeof *m->nodes);
    grow(m, &m->regions, 0, 1, &m->regions_room, sizeof *m->regions);
    m->nvalues = m->nnodes = m->nregions = 1; /* row 0 is "none" */
    return m;
}

void module_free(Module *m)
{
    if (!m)
        return;
    for (uint32_t r = 1; r < m->nregions; r++)
        heap_free(m->regions[r].nodes);
    heap_free(m->values);
    heap_free(m->nodes);
    heap_free(m->regions);
    arena_free(m->arena); /* m itself lies there */
}

static ValueId add_values(Module *m, int n, const Type *types, NodeId node, RegionId region)
{
    if (n == 0)
        return 0;
    grow(m, &m->values, m->nvalues, (uint32_t)n, &m->values_room, sizeof *m->values);
    ValueId first = m->nvalues;
    for (int i = 0; i < n; i++)
        m->values[first + (uint32_t)i] = (Value){ types[i], node, region, i };
    m->nvalues += (uint32_t)n;
    return first;
}

RegionId region_new(Module *m, NodeId parent, int nargs, const Type *args)
{
    grow(m, &m->regions, m->nregions, 1, &m->regions_room, sizeof *m->regions);
    RegionId r = m->nregions++;
    ValueId first = add_values(m, nargs, args, 0, r);
    m->regions[r] = (Region){ .nargs = nargs, .args = first, .parent = parent };
    return r;
}

NodeId node_new(Module *m, OpId op, int nin, const ValueId *in, int nout, const Type *results,
                int nregions, const RegionId *regions, const void *attrs, const Loc *loc)
{
    grow(m, &m->nodes, m->nnodes, 1, &m->nodes_room, sizeof *m->nodes);
    NodeId n = m->nnodes++;
    m->nodes[n] = (Node){
        .op = op,
        .nin = nin,
        .nout = nout,
        .nregions = nregions,
        .in = arena_copy(m->arena, in, sizeof *in * (size_t)nin),
        .out = add_values(m, nout, results, n, 0),
        .regions = arena_copy(m->arena, regions, sizeof *regions * (size_t)nregions),
        .attrs = attrs,
        .loc = loc ? loc : &loc_unknown,
    };
    for (int i = 0; i < nregions; i++)
        m->regions[regions[i]].parent = n;
    return n;
}

/* Says of a node and its results that they stand in r. */
static void settle(Module *m, RegionId r, NodeId n)
{
    Node *node = node_at(m, n);
    node->region = r;
    for (int i = 0; i < node->nout; i++)
        m->values[node->out + (uint32_t)i].region = r;
}

void region_append(Module *m, RegionId r, NodeId n)
{
    Region *region = region_at(m, r);
    if (region->nnodes == region->room) {
        int bigger = region->room * 2 + 8;
        region->nodes = heap_resize_for(m->arena, region->nodes,
                                        sizeof *region->nodes * (size_t)bigger, "a region");
        region->room = bigger;
    }
    region->nodes[region->nnodes++] = n;
    settle(m, r, n);
}

void region_set_nodes(Module *m, RegionId r, int n, const NodeId *nodes)
{
    NodeId *copy = heap_resize_for(m->arena, NULL, sizeof *copy * (size_t)n, "a region");
    memcpy(copy, nodes, sizeof *copy * (size_t)n);
    Region *region = region_at(m, r);
    heap_free(region->nodes);
    region->nodes = copy;
    region->nnodes = region->room = n;
    for (int i = 0; i < n; i++)
        settle(m, r, copy[i]);
}

NodeId *region_take_nodes(Module *m, RegionId r, int *n)
{
    Region *region = region_at(m, r);
    *n = region->nnodes;
    NodeId *taken = arena_copy(m->arena, region->nodes, sizeof *taken * (size_t)*n);
    region->nnodes = 0;
    return taken;
}

/* Where the number of the function of that name stands, or would stand: there are free slots. */
static int *func_slot(const Module *m, Str name)
{
    uint64_t mask = (uint64_t)m->nfunc_slots - 1;
    for (uint64_t i = hash_bytes(name.at, name.n, 0);; i++) {
        int *slot = &m->func_slots[i & mask];
        if (!*slot || str_equal(m->funcs[*slot - 1].name, name))
            return slot;
    }
}

/* Of two functions of one name the first is found. */
static void func_note(Module *m, int i)
{
    int *slot = func_slot(m, m->funcs[i].name);
    if (!*slot)
        *slot = i + 1;
}

static void funcs_note(Module *m)
{
    memset(m->func_slots, 0, sizeof *m->func_slots * (size_t)m->nfunc_slots);
    for (int i = 0; i < m->nfuncs; i++)
        func_note(m, i);
}

Func *func_add(Module *m, Str name)
{
    ROOM(m->arena, m->funcs, m->nfuncs, &m->funcs_room);
    if (m->nfuncs * 2 >= m->nfunc_slots) {
        int n = m->nfunc_slots ? m->nfunc_slots * 2 : 8;
        m->func_slots = ARENA_ARRAY(m->arena, int, n);
        m->nfunc_slots = n;
        funcs_note(m);
    }
    Func *f = &m->funcs[m->nfuncs];
    *f = (Func){ .name = name, .loc = &loc_unknown };
    func_note(m, m->nfuncs++);
    return f;
}

Func *func_find(const Module *m, Str name)
{
    int i = m->nfunc_slots ? *func_slot(m, name) : 0;
    return i ? &m->funcs[i - 1] : NULL;
}

void funcs_set(Module *m, int n, const Func *funcs)
{
    require(n <= m->nfuncs);
    memmove(m->funcs, funcs, sizeof *funcs * (size_t)n);
    m->nfuncs = n;
    funcs_note(m);
}

Mesh *mesh_find(const Module *m, Str name)
{
    for (int i = 0; i < m->nmeshes; i++)
        if (str_equal(m->meshes[i]->name, name))
            return m->meshes[i];
    return NULL;
}

void mesh_add(Module *m, Mesh *mesh)
{
    ROOM(m->arena, m->meshes, m->nmeshes, &m->meshes_room);
    m->meshes[m->nmeshes++] = mesh;
}

Factors node_factors(const Module *m, Arena *arena, const Node *n)
{
    Type *types = ARENA_ARRAY(arena, Type, n->nin + n->nout + 1);
    for (int i = 0; i < n->nin; i++)
        types[i] = type_of(m, n->in[i]);
    for (int i = 0; i < n->nout; i++)
        types[n->nin + i] = type_of(m, n->out + (ValueId)i);
    return factors_find(arena, n->op, n->nin, types, n->nout, types + n->nin, n->attrs);
}

CallId node_call(const Node *n)
{
    return n->op == OP_CUSTOM_CALL
               ? call_find(((const CustomCallAttrs *)n->attrs)->call_target_name)
               : CALL_COUNT;
}

Node *region_return(const Module *m, RegionId r)
{
    const Region *region = region_at(m, r);
    require(region->nnodes > 0);
    return node_at(m, region->nodes[region->nnodes - 1]);
}

NodeId value_def(const Module *m, ValueId v)
{
    return m->values[v].node;
}

const Dense *value_constant(const Module *m, ValueId v)
{
    NodeId n = value_def(m, v);
    if (!n || m->nodes[n].op != OP_CONSTANT)
        return NULL;
    return &((const ConstantAttrs *)m->nodes[n].attrs)->value;
}

_Thread_local const LocTable *loc_table;

void loc_print(Text *out, const Loc *loc)
{
    const LocTable *t = loc_table;
    if (t && loc >= t->from && loc < t->from + t->n)
        loc = &t->to[loc - t->from];
    if (!loc->file.n) {
        text_printf(out, "unknown place");
        return;
    }
    text_printf(out, "%.*s:%d", STR_ARG(loc->file), loc->line);
    if (loc->column)
        text_printf(out, ":%d", loc->column);
}

const char *loc_name(const Loc *loc)
{
    enum { RING = 4, ROOM = 512 };
    static _Thread_local char ring[RING][ROOM];
    static _Thread_local unsigned next;
    Text text = { 0 };
    loc_print(&text, loc);
    char *at = ring[next++ % RING];
    snprintf(at, ROOM, "%s", text_cstr(&text));
    text_free(&text);
    return at;
}
