/* hoist_replicated.c - what all devices would compute alike is computed once.
 *
 *     %g = all_reduce %d                         %g = all_reduce %d
 *     %s = multiply %g, 0.1                      %n = tutti.global (%p, %g) {
 *     %n = subtract %p, %s        -->              multiply, subtract
 *     return %n                                  }
 *                                                return %n
 *
 * In: the program of one device.  What all get alike from a collective, together with arguments of
 * which all have the same, is the same on all of them, and so is what elementwise operations make
 * of it: the update of a training step.  Operations whose results go nowhere but out of the program
 * move into a tutti.global, which the last to come plays once; its results are one memory for all
 * (analysis/shared_results.c).  Results that may take over an argument's memory stay as they are: there each
 * device has its own to work in. */
#include "engine/passes/passes.h"
#include "hlo/rewrite.h"

#include <stdlib.h>

enum { WORTH_BYTES = 64 << 10 };

typedef struct Alike {
    const Params *params;
    Module *m;
    RegionId main;
    bool *is_replicated;   /* by ValueId: the same on all devices */
    bool *is_met;     /* by ValueId: alike, and made of what a collective gave */
    bool *is_wanted;  /* by ValueId: by somebody who stays */
    bool *is_moved;   /* by ValueId: made by a node that moves */
} Alike;

/* One group with all partitions in it. */
static bool meets_all(const Module *m, const Node *node)
{
    const AllReduceAttrs *a = node->attrs; /* all collectives begin with the same fields */
    return a->replica_groups.rows == 1 && a->replica_groups.cols == m->npartitions;
}

static bool gives_same(const Module *m, const Node *node)
{
    return (node->op == OP_ALL_REDUCE || node->op == OP_ALL_GATHER) && meets_all(m, node);
}

static bool is_plain(const Module *m, NodeId n)
{
    const Node *node = node_at(m, n);
    int kind = op_info[node->op].kind;
    return (kind == KIND_MAP || kind == KIND_VIEW) && !node->nregions && node->nout == 1 &&
           op_info[node->op].effect == EFFECT_NONE;
}

static void find_alike(Alike *a)
{
    Module *m = a->m;
    const Region *main = region_at(m, a->main);
    for (int i = 0; i < main->nargs; i++)
        a->is_replicated[main->args + (ValueId)i] = tiling_is_replicated(a->params->args[i].tiling);
    for (int i = 0; i < main->nnodes; i++) {
        const Node *node = node_at(m, main->nodes[i]);
        bool is_replicated = is_plain(m, main->nodes[i]), is_met = false;
        for (int k = 0; k < node->nin && is_replicated; k++) {
            is_replicated = a->is_replicated[node->in[k]];
            is_met = is_met || a->is_met[node->in[k]];
        }
        bool is_given = gives_same(m, node);
        for (int k = 0; k < node->nout; k++) {
            a->is_replicated[node->out + (ValueId)k] = is_replicated || is_given;
            a->is_met[node->out + (ValueId)k] = (is_replicated && is_met) || is_given;
        }
    }
}

static void want(Module *m, NodeId n, void *user)
{
    Alike *a = user;
    const Node *node = node_at(m, n);
    for (int k = 0; k < node->nin; k++)
        a->is_wanted[node->in[k]] = true;
}

static void want_below(Alike *a, NodeId n)
{
    want(a->m, n, a);
    for (int k = 0; k < node_at(a->m, n)->nregions; k++)
        region_walk(a->m, node_at(a->m, n)->regions[k], want, a);
}

static bool moves(const Alike *a, NodeId n)
{
    const Node *node = node_at(a->m, n);
    return node->nout == 1 && a->is_moved[node->out];
}

/* From the end: who moves, because nobody who stays wants what it makes. */
static void find_moving(Alike *a)
{
    const Region *main = region_at(a->m, a->main);
    const Node *end = region_return(a->m, a->main);
    for (int j = 0; j < end->nin; j++)
        if (a->params->results[j].alias >= 0)
            a->is_wanted[end->in[j]] = true;
    for (int i = main->nnodes - 2; i >= 0; i--) {
        const Node *node = node_at(a->m, main->nodes[i]);
        if (!is_plain(a->m, main->nodes[i]) || !a->is_met[node->out] || a->is_wanted[node->out]) {
            want_below(a, main->nodes[i]);
            continue;
        }
        a->is_moved[node->out] = true;
    }
}

/* Other names for what a collective gave are no work to be done once: they stay, unless somebody who
 * moves needs them.  Returns the bytes that are left to be computed. */
static int64_t keep_names(Alike *a, bool *is_computed, bool *is_needed)
{
    const Region *main = region_at(a->m, a->main);
    int64_t bytes = 0;
    for (int i = 0; i < main->nnodes; i++) {
        const Node *node = node_at(a->m, main->nodes[i]);
        if (!moves(a, main->nodes[i]) || (node_is_alias(a->m, node) && !is_computed[node->in[0]]))
            continue;
        is_computed[node->out] = true;
        bytes += (int64_t)type_bytes(type_of(a->m, node->out));
    }
    for (int i = main->nnodes - 1; i >= 0; i--) {
        const Node *node = node_at(a->m, main->nodes[i]);
        if (!moves(a, main->nodes[i]))
            continue;
        a->is_moved[node->out] = is_computed[node->out] || is_needed[node->out];
        for (int k = 0; k < node->nin && a->is_moved[node->out]; k++)
            is_needed[node->in[k]] = true;
    }
    return bytes;
}

/* What is being put together. */
typedef struct Inside {
    int nin, nout;
    ValueId *in, *out;
    NodeId *nodes; /* in order, those made again included */
    int nnodes;
    bool *is_there; /* by ValueId: handed in or made inside */
} Inside;

static bool is_made_again(const Alike *a, ValueId v)
{
    NodeId def = value_def(a->m, v);
    const Node *node = def ? node_at(a->m, def) : NULL;
    if (!node || node->op == OP_CONSTANT || node->op == OP_IOTA)
        return node != NULL;
    return node->op == OP_BROADCAST && is_made_again(a, node->in[0]);
}

static void take(const Alike *a, Inside *b, ValueId v)
{
    if (b->is_there[v])
        return;
    b->is_there[v] = true;
    if (!is_made_again(a, v)) {
        b->in[b->nin++] = v;
        return;
    }
    NodeId def = value_def(a->m, v);
    for (int k = 0; k < node_at(a->m, def)->nin; k++)
        take(a, b, node_at(a->m, def)->in[k]);
    b->nodes[b->nnodes++] = def;
}

static void collect(const Alike *a, Inside *b)
{
    const Region *main = region_at(a->m, a->main);
    for (int i = 0; i < main->nnodes; i++) {
        const Node *node = node_at(a->m, main->nodes[i]);
        if (!moves(a, main->nodes[i]))
            continue;
        for (int k = 0; k < node->nin; k++)
            take(a, b, node->in[k]);
        b->is_there[node->out] = true;
        b->nodes[b->nnodes++] = main->nodes[i];
    }
    const Node *end = region_return(a->m, a->main);
    for (int j = 0; j < end->nin; j++) {
        bool is_new = a->is_moved[end->in[j]];
        for (int k = 0; k < b->nout; k++)
            is_new = is_new && b->out[k] != end->in[j];
        if (is_new)
            b->out[b->nout++] = end->in[j];
    }
}

static RegionId build_region(const Alike *a, const Inside *b, Subst *inner)
{
    Module *m = a->m;
    Type *types = ARENA_ARRAY(m->arena, Type, b->nin + 1);
    ValueId *results = ARENA_ARRAY(m->arena, ValueId, b->nout + 1);
    for (int i = 0; i < b->nin; i++)
        types[i] = type_of(m, b->in[i]);
    RegionId r = region_new(m, 0, b->nin, types);
    for (int i = 0; i < b->nin; i++)
        subst_set(inner, b->in[i], region_at(m, r)->args + (ValueId)i);
    for (int i = 0; i < b->nnodes; i++)
        region_append(m, r, node_copy(m, b->nodes[i], inner));
    for (int i = 0; i < b->nout; i++)
        results[i] = subst_get(inner, b->out[i]);
    build_return(m, r, b->nout, results, NULL);
    return r;
}

static Tilings all_whole(const Alike *a, int n, const ValueId *values)
{
    Tiling *at = ARENA_ARRAY(a->m->arena, Tiling, n + 1);
    for (int i = 0; i < n; i++)
        at[i] = tiling_replicated(a->m->arena, type_of(a->m, values[i]).rank, a->m->npartitions);
    return (Tilings){ n, at };
}

static NodeId build_global(const Alike *a, const Inside *b)
{
    Module *m = a->m;
    GlobalAttrs *attrs = ARENA_NEW(m->arena, GlobalAttrs);
    attrs->in_tilings = all_whole(a, b->nin, b->in);
    attrs->out_tilings = all_whole(a, b->nout, b->out);
    Type *types = ARENA_ARRAY(m->arena, Type, b->nout + 1);
    for (int i = 0; i < b->nout; i++)
        types[i] = type_of(m, b->out[i]);
    const Loc *loc = node_at(m, b->nodes[b->nnodes - 1])->loc;
    Subst inner = subst_new(m);
    RegionId body = build_region(a, b, &inner);
    subst_free(&inner);
    return node_new(m, OP_GLOBAL, b->nin, b->in, b->nout, types, 1, &body, attrs, loc);
}

/* main without those who moved, the global before its end. */
static void put_in_place(const Alike *a, const Inside *b, NodeId global)
{
    Module *m = a->m;
    const Region *main = region_at(m, a->main);
    int n = 0, last = main->nnodes - 1;
    NodeId *nodes = ARENA_ARRAY(m->arena, NodeId, main->nnodes + 1);
    for (int i = 0; i < last; i++)
        if (!moves(a, main->nodes[i]))
            nodes[n++] = main->nodes[i];
    nodes[n++] = global;
    nodes[n++] = main->nodes[last];
    region_set_nodes(m, a->main, n, nodes);
    Subst outer = subst_new(m);
    for (int i = 0; i < b->nout; i++)
        subst_set(&outer, b->out[i], node_at(m, global)->out + (ValueId)i);
    Node *end = region_return(m, a->main);
    for (int j = 0; j < end->nin; j++)
        end->in[j] = subst_get(&outer, end->in[j]);
    subst_free(&outer);
}

Error *pass_hoist_replicated(Module *m, const Params *params)
{
    /* Without a mesh a program may say what each device does, on arguments of its own. */
    if (m->npartitions < 2 || m->nreplicas != 1 || !m->nmeshes)
        return NULL;
    Arena *scratch = arena_new();
    Alike a = { params, m, module_main(m),
                ARENA_ARRAY(scratch, bool, m->nvalues), ARENA_ARRAY(scratch, bool, m->nvalues),
                ARENA_ARRAY(scratch, bool, m->nvalues), ARENA_ARRAY(scratch, bool, m->nvalues) };
    find_alike(&a);
    find_moving(&a);
    if (keep_names(&a, ARENA_ARRAY(scratch, bool, m->nvalues),
                   ARENA_ARRAY(scratch, bool, m->nvalues)) >= WORTH_BYTES) {
        Inside b = { .in = ARENA_ARRAY(scratch, ValueId, m->nvalues),
                     .out = ARENA_ARRAY(scratch, ValueId, m->nvalues),
                     .nodes = ARENA_ARRAY(scratch, NodeId, m->nnodes),
                     .is_there = ARENA_ARRAY(scratch, bool, m->nvalues) };
        collect(&a, &b);
        put_in_place(&a, &b, build_global(&a, &b));
    }
    arena_free(scratch);
    return NULL;
}
