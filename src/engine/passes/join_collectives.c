/* join_collectives.c - reductions over the same devices become one, where none waits for another.
 *
 *   %a' = all_reduce %a                         %a', %b' = all_reduce %a, %b
 *   %c = divide %a', 4          -->             %c = divide %a', 4
 *   %b' = all_reduce %b
 *
 * A program with a tree of gradients has one all_reduce per leaf; a collective costs more than
 * adding small arrays.  The one that is left stands where the last stood; what needs the results
 * of the earlier ones goes behind it. */
#include "engine/passes/passes.h"

#include "base/guard.h"
#include "hlo/rewrite.h"

#include <string.h>

typedef struct Joiner {
    Module *m;
    Subst subst;
    uint32_t nvalues; /* at the start; newer ones are results of what has been joined */
    bool *is_awaited; /* by ValueId: it depends on a result of those being joined */
} Joiner;

/* What becomes of a node of the region while some are joined. */
typedef enum Fate { STAYS, JOINS, FOLLOWS } Fate;

static bool same_matrix(Matrix a, Matrix b)
{
    size_t bytes = sizeof *a.at * (size_t)a.rows * (size_t)a.cols;
    return a.rows == b.rows && a.cols == b.cols && (!bytes || !memcmp(a.at, b.at, bytes));
}

static bool may_join(const Module *m, const Node *a, const Node *b)
{
    if (b->op != OP_ALL_REDUCE || !a->nin || !b->nin || b->nin != b->nout)
        return false;
    const AllReduceAttrs *x = a->attrs, *y = b->attrs;
    OpId how = region_reducer(m, a->regions[0]);
    return how != OP_COUNT && how == region_reducer(m, b->regions[0]) &&
           type_of(m, a->in[0]).element == type_of(m, b->in[0]).element &&
           x->use_global_device_ids == y->use_global_device_ids &&
           (x->channel_id > 0) == (y->channel_id > 0) &&
           same_matrix(x->replica_groups, y->replica_groups);
}

static bool awaits(const Joiner *j, NodeId n)
{
    const Node *node = node_at(j->m, n);
    for (int i = 0; i < node->nin; i++)
        if (j->is_awaited[subst_get(&j->subst, node->in[i])])
            return true;
    for (int k = 0; k < node->nregions; k++) {
        const Region *region = region_at(j->m, node->regions[k]);
        for (int i = 0; i < region->nnodes; i++)
            if (awaits(j, region->nodes[i]))
                return true;
    }
    return false;
}

static void await(Joiner *j, NodeId n, bool yes)
{
    const Node *node = node_at(j->m, n);
    for (int i = 0; i < node->nout; i++)
        j->is_awaited[node->out + (ValueId)i] = yes;
}

/* What joins the node at `first`, and what then has to follow it; the position of the last that
 * joins, or `first`: none does. */
static int find_joined(Joiner *j, const NodeId *nodes, int n, int first, Fate *fate)
{
    int last = first, end = first;
    for (int i = first; i < n; i++, end++) {
        const Node *node = node_at(j->m, nodes[i]);
        bool is_new = node->out >= j->nvalues;
        fate[i] = awaits(j, nodes[i]) ? FOLLOWS : STAYS;
        if (node_flow(node) == FLOW_END || (fate[i] == FOLLOWS && node_has_effect(j->m, nodes[i]) &&
                                            op_info[node->op].kind != KIND_COLLECTIVE))
            break;
        if (fate[i] == STAYS && !is_new && may_join(j->m, node_at(j->m, nodes[first]), node)) {
            fate[i] = JOINS;
            last = i;
        }
        if (fate[i] != STAYS)
            await(j, nodes[i], true);
    }
    for (int i = first; i < end; i++)
        if (fate[i] != STAYS)
            await(j, nodes[i], false);
    return last;
}

/* One node for all that join between first and last. */
static NodeId join_all(Joiner *j, const NodeId *nodes, int first, int last, const Fate *fate)
{
    Module *m = j->m;
    Node model = *node_at(m, nodes[first]);
    int n = 0;
    for (int i = first; i <= last; i++)
        n += fate[i] == JOINS ? node_at(m, nodes[i])->nin : 0;
    ValueId *in = ARENA_ARRAY(m->arena, ValueId, n), *old = ARENA_ARRAY(m->arena, ValueId, n);
    Type *types = ARENA_ARRAY(m->arena, Type, n);
    for (int i = first, k = 0; i <= last; i++) {
        const Node *node = node_at(m, nodes[i]);
        for (int r = 0; fate[i] == JOINS && r < node->nin; r++, k++) {
            in[k] = node->in[r];
            old[k] = node->out + (ValueId)r;
            types[k] = type_of(m, old[k]);
        }
    }
    NodeId all =
        node_new(m, OP_ALL_REDUCE, n, in, n, types, 1, model.regions, model.attrs, model.loc);
    for (int k = 0; k < n; k++)
        subst_set(&j->subst, old[k], node_at(m, all)->out + (ValueId)k);
    return all;
}

/* nodes[first .. last] anew: what stays, the one that all joined, what follows.  Returns the
 * number of nodes left of n. */
static int reorder(NodeId *nodes, int n, int first, int last, const Fate *fate, NodeId all)
{
    NodeId *follows = HEAP_ARRAY(NodeId, last - first + 1, "a list of operations");
    int kept = first, nfollows = 0;
    for (int i = first; i <= last; i++) {
        if (fate[i] == STAYS)
            nodes[kept++] = nodes[i];
        else if (fate[i] == FOLLOWS)
            follows[nfollows++] = nodes[i];
    }
    nodes[kept++] = all;
    for (int i = 0; i < nfollows; i++)
        nodes[kept++] = follows[i];
    heap_free(follows);
    for (int i = last + 1; i < n; i++)
        nodes[kept++] = nodes[i];
    return kept;
}

static void join_region(Joiner *j, RegionId r);

static void join_below(Joiner *j, NodeId n)
{
    bool is_flow = node_is_control(node_at(j->m, n));
    for (int k = 0; is_flow && k < node_at(j->m, n)->nregions; k++)
        join_region(j, node_at(j->m, n)->regions[k]);
}

static void join_region(Joiner *j, RegionId r)
{
    Module *m = j->m;
    int n = region_at(m, r)->nnodes;
    NodeId *nodes = HEAP_ARRAY(NodeId, n, "a list of operations");
    Fate *fate = HEAP_ARRAY(Fate, n, "a list of operations");
    memcpy(nodes, region_at(m, r)->nodes, sizeof *nodes * (size_t)n);
    for (int i = 0; i < n; i++) {
        join_below(j, nodes[i]);
        const Node *node = node_at(m, nodes[i]);
        if (node->op != OP_ALL_REDUCE || node->out >= j->nvalues)
            continue;
        int last = find_joined(j, nodes, n, i, fate);
        if (last == i)
            continue;
        n = reorder(nodes, n, i, last, fate, join_all(j, nodes, i, last, fate));
        i--; /* something else stands here */
    }
    region_set_nodes(m, r, n, nodes);
    heap_free(nodes);
    heap_free(fate);
}

Error *pass_join_collectives(Module *m)
{
    Joiner j = { .m = m, .subst = subst_new(m), .nvalues = m->nvalues };
    /* each joins once */
    j.is_awaited = HEAP_ARRAY(bool, 2 * (size_t)m->nvalues, "a table of values");
    join_region(&j, module_main(m));
    subst_apply(&j.subst, m, module_main(m));
    subst_free(&j.subst);
    heap_free(j.is_awaited);
    return NULL;
}
