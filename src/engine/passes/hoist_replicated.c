/* hoist_replicated.c - what every device would compute from the same numbers is computed once.
 *
 *     %g = all_reduce %d                         %g = all_reduce %d
 *     %s = multiply %g, 0.1                      %n = tutti.global (%p, %g) {
 *     %n = subtract %p, %s        -->              multiply, subtract
 *     return %n                                  }
 *                                                return %n
 *
 * In: the program of one device.  What all devices get from a collective, and arguments of which all
 * have the same, are the same on all of them, and so is what elementwise operations make of these:
 * the update of a training step.  Operations whose results go nowhere but out of the program move
 * into a tutti.global, which the last device to arrive runs once; its results are one memory for
 * all devices (link/shared_results.c).  Results that may take over an argument's memory stay as they
 * are: there each device has its own to work in. */
#include "engine/analysis/analysis.h"
#include "engine/passes/passes.h"
#include "hlo/rewrite.h"

#include <stdlib.h>

enum { WORTH_BYTES = 64 << 10 };

typedef struct Hoister {
    const Params *params;
    Module *m;
    RegionId main;
    bool *is_replicated;      /* by ValueId: the same on all devices */
    bool *is_from_collective; /* by ValueId: replicated, and made of what a collective gave */
    bool *is_used;            /* by ValueId: a node that is not hoisted reads it */
    bool *is_hoisted;         /* by ValueId: made by a node that is hoisted */
    bool *is_awaited;         /* by ValueId: a node that is hoisted reads it */
} Hoister;

/* One group with all partitions in it. */
static bool is_of_all_devices(const Module *m, const Node *node)
{
    const AllReduceAttrs *a = node->attrs; /* all collectives begin with the same fields */
    return a->replica_groups.rows == 1 && a->replica_groups.cols == m->npartitions;
}

static bool gives_same(const Module *m, const Node *node)
{
    return node_flow(node) != FLOW_GLOBAL && collective_gives_same(node, 0) &&
           is_of_all_devices(m, node);
}

static bool is_plain(const Module *m, NodeId n)
{
    const Node *node = node_at(m, n);
    int kind = op_info[node->op].kind;
    return (kind == KIND_MAP || kind == KIND_VIEW) && !node->nregions && node->nout == 1 &&
           op_info[node->op].effect == EFFECT_NONE;
}

static void find_replicated(Hoister *a)
{
    Module *m = a->m;
    const Region *main = region_at(m, a->main);
    for (int i = 0; i < main->nargs; i++)
        a->is_replicated[main->args + (ValueId)i] = tiling_is_replicated(a->params->args[i].tiling);
    for (int i = 0; i < main->nnodes; i++) {
        const Node *node = node_at(m, main->nodes[i]);
        bool is_replicated = is_plain(m, main->nodes[i]), is_from_collective = false;
        for (int k = 0; k < node->nin && is_replicated; k++) {
            is_replicated = a->is_replicated[node->in[k]];
            is_from_collective = is_from_collective || a->is_from_collective[node->in[k]];
        }
        bool is_given = gives_same(m, node);
        for (int k = 0; k < node->nout; k++) {
            a->is_replicated[node->out + (ValueId)k] = is_replicated || is_given;
            a->is_from_collective[node->out + (ValueId)k] =
                (is_replicated && is_from_collective) || is_given;
        }
    }
}

static void uses_note(Module *m, NodeId n, void *user)
{
    Hoister *a = user;
    const Node *node = node_at(m, n);
    for (int k = 0; k < node->nin; k++)
        a->is_used[node->in[k]] = true;
}

static void uses_note_below(Hoister *a, NodeId n)
{
    uses_note(a->m, n, a);
    for (int k = 0; k < node_at(a->m, n)->nregions; k++)
        region_walk(a->m, node_at(a->m, n)->regions[k], uses_note, a);
}

static bool node_is_hoisted(const Hoister *a, NodeId n)
{
    const Node *node = node_at(a->m, n);
    return node->nout == 1 && a->is_hoisted[node->out];
}

/* Backwards over main: a node can be hoisted when none of the nodes that stay reads its result.
 * What is made of arguments alone goes along where it is read: else every device would make it. */
static void find_hoisted(Hoister *a)
{
    const Region *main = region_at(a->m, a->main);
    const Node *end = region_return(a->m, a->main);
    for (int j = 0; j < end->nin; j++)
        if (a->params->results[j].alias >= 0)
            a->is_used[end->in[j]] = true;
    for (int i = main->nnodes - 2; i >= 0; i--) {
        const Node *node = node_at(a->m, main->nodes[i]);
        bool is_due = is_plain(a->m, main->nodes[i]) && a->is_replicated[node->out] &&
                      (a->is_from_collective[node->out] || a->is_awaited[node->out]);
        if (!is_due || a->is_used[node->out]) {
            uses_note_below(a, main->nodes[i]);
            continue;
        }
        a->is_hoisted[node->out] = true;
        for (int k = 0; k < node->nin; k++)
            a->is_awaited[node->in[k]] = true;
    }
}

/* Other names for what a collective gave are no work to be done once: they stay, unless a hoisted
 * node reads them.  Returns the bytes that are left to be computed. */
static int64_t keep_aliases(Hoister *a, bool *is_computed, bool *is_needed)
{
    const Region *main = region_at(a->m, a->main);
    int64_t bytes = 0;
    for (int i = 0; i < main->nnodes; i++) {
        const Node *node = node_at(a->m, main->nodes[i]);
        bool is_alias = node_is_alias(a->m, node) && !is_computed[node->in[0]];
        if (!node_is_hoisted(a, main->nodes[i]) || is_alias)
            continue;
        is_computed[node->out] = true;
        bytes += (int64_t)type_bytes(type_of(a->m, node->out));
    }
    for (int i = main->nnodes - 1; i >= 0; i--) {
        const Node *node = node_at(a->m, main->nodes[i]);
        if (!node_is_hoisted(a, main->nodes[i]))
            continue;
        a->is_hoisted[node->out] = is_computed[node->out] || is_needed[node->out];
        for (int k = 0; k < node->nin && a->is_hoisted[node->out]; k++)
            is_needed[node->in[k]] = true;
    }
    return bytes;
}

/* The body of the tutti.global being made. */
typedef struct GlobalBody {
    int nin, nout;
    ValueId *in, *out;
    NodeId *nodes; /* in order, those made again included */
    int nnodes;
    bool *is_inside; /* by ValueId: handed in or made inside */
} GlobalBody;

static bool is_remade(const Hoister *a, ValueId v)
{
    NodeId def = value_def(a->m, v);
    const Node *node = def ? node_at(a->m, def) : NULL;
    if (!node || node->op == OP_CONSTANT || node->op == OP_IOTA)
        return node != NULL;
    return node->op == OP_BROADCAST && is_remade(a, node->in[0]);
}

static void body_take(const Hoister *a, GlobalBody *b, ValueId v)
{
    if (b->is_inside[v])
        return;
    b->is_inside[v] = true;
    if (!is_remade(a, v)) {
        b->in[b->nin++] = v;
        return;
    }
    NodeId def = value_def(a->m, v);
    for (int k = 0; k < node_at(a->m, def)->nin; k++)
        body_take(a, b, node_at(a->m, def)->in[k]);
    b->nodes[b->nnodes++] = def;
}

static void body_collect(const Hoister *a, GlobalBody *b)
{
    const Region *main = region_at(a->m, a->main);
    for (int i = 0; i < main->nnodes; i++) {
        const Node *node = node_at(a->m, main->nodes[i]);
        if (!node_is_hoisted(a, main->nodes[i]))
            continue;
        for (int k = 0; k < node->nin; k++)
            body_take(a, b, node->in[k]);
        b->is_inside[node->out] = true;
        b->nodes[b->nnodes++] = main->nodes[i];
    }
    const Node *end = region_return(a->m, a->main);
    for (int j = 0; j < end->nin; j++) {
        bool is_new = a->is_hoisted[end->in[j]];
        for (int k = 0; k < b->nout; k++)
            is_new = is_new && b->out[k] != end->in[j];
        if (is_new)
            b->out[b->nout++] = end->in[j];
    }
}

static RegionId build_region(const Hoister *a, const GlobalBody *b, Subst *inner)
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

static Tilings all_whole(const Hoister *a, int n, const ValueId *values)
{
    Tiling *at = ARENA_ARRAY(a->m->arena, Tiling, n + 1);
    for (int i = 0; i < n; i++)
        at[i] = tiling_replicated(a->m->arena, type_of(a->m, values[i]).rank, a->m->npartitions);
    return (Tilings){ n, at };
}

static NodeId build_global(const Hoister *a, const GlobalBody *b)
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

/* main without the hoisted nodes, the global before its end. */
static void global_insert(const Hoister *a, const GlobalBody *b, NodeId global)
{
    Module *m = a->m;
    const Region *main = region_at(m, a->main);
    int n = 0, last = main->nnodes - 1;
    NodeId *nodes = ARENA_ARRAY(m->arena, NodeId, main->nnodes + 1);
    for (int i = 0; i < last; i++)
        if (!node_is_hoisted(a, main->nodes[i]))
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
    Hoister a = { .params = params, .m = m, .main = module_main(m) };
    bool **tables[] = { &a.is_replicated, &a.is_from_collective, &a.is_used, &a.is_hoisted,
                        &a.is_awaited };
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        *tables[i] = ARENA_ARRAY(scratch, bool, m->nvalues);
    find_replicated(&a);
    find_hoisted(&a);
    if (keep_aliases(&a, ARENA_ARRAY(scratch, bool, m->nvalues), ARENA_ARRAY(scratch, bool, m->nvalues)) >=
        WORTH_BYTES) {
        GlobalBody b = { .in = ARENA_ARRAY(scratch, ValueId, m->nvalues),
                         .out = ARENA_ARRAY(scratch, ValueId, m->nvalues),
                         .nodes = ARENA_ARRAY(scratch, NodeId, m->nnodes),
                         .is_inside = ARENA_ARRAY(scratch, bool, m->nvalues) };
        body_collect(&a, &b);
        global_insert(&a, &b, build_global(&a, &b));
    }
    arena_free(scratch);
    return NULL;
}
