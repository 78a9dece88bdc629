/* run_cost.c - how long a program takes, guessed from its schedule: kernels by their shapes, what is in a
 * loop as often as it goes round.  Collectives count as nothing.  What exec/launch.c decides by it: whether
 * the caller executes a run itself, and whether one thread steps all devices. */
#include "engine/analysis/analysis.h"
#include "engine/kernels/query.h"

static const int64_t MOST_NS = (int64_t)1 << 40;

/* A rough guess at what the evaluator or a library takes for one node. */
static int64_t evaluation_cost(const Module *m, NodeId n)
{
    const Node *node = node_at(m, n);
    int work = op_info[node->op].cost.work;
    bool is_known = work == WORK_FACTOR || work == WORK_CALL || work == WORK_FFT;
    double ns = is_known ? node_work(m, n).ns : 0;
    if (ns > 0)
        return 300 + (ns < (double)MOST_NS ? (int64_t)ns : MOST_NS);
    int64_t elements = 0;
    for (int i = 0; i < node->nout; i++)
        elements += type_count(type_of(m, node->out + (ValueId)i));
    return 2000 + elements * 100;
}

static int64_t node_cost(const KernelModule *k, NodeId n, bool *is_known);

static int64_t regions_cost(const KernelModule *k, const Node *node, bool *is_known)
{
    int64_t ns = 0;
    for (int r = 0; r < node->nregions; r++) {
        const Region *region = region_at(k->m, node->regions[r]);
        for (int i = 0; i < region->nnodes; i++)
            ns += node_cost(k, region->nodes[i], is_known);
    }
    return ns;
}

/* A loop of unknown trip count counts once. */
static int64_t loop_cost(const KernelModule *k, NodeId n, bool *is_known)
{
    int64_t trips = trips_of(&k->trips, n);
    int64_t once = regions_cost(k, node_at(k->m, n), is_known);
    if (trips < 0)
        *is_known = false;
    return trips < 0 ? once : trips < MOST_NS / (once + 1) ? trips * once : MOST_NS;
}

static int64_t node_cost(const KernelModule *k, NodeId n, bool *is_known)
{
    const Node *node = node_at(k->m, n);
    switch (node_flow(node)) {
    case FLOW_END: return 0;
    case FLOW_KERNEL: return kernel_cost(k->m, n);
    case FLOW_LOOP: return loop_cost(k, n, is_known);
    case FLOW_BRANCH: return regions_cost(k, node, is_known);
    default: break;
    }
    bool is_free = node->op == OP_CONSTANT || op_info[node->op].kind == KIND_COLLECTIVE ||
                   node_is_alias(k->m, node);
    return is_free ? 0 : evaluation_cost(k->m, n);
}

int64_t loop_round_cost(const KernelModule *k, NodeId loop)
{
    bool is_known = true;
    return regions_cost(k, node_at(k->m, loop), &is_known);
}

void cost_find(const Schedule *s, Program *program)
{
    const KernelModule *k = s->k;
    const Region *main = region_at(k->m, k->main);
    program->is_cost_known = true;
    for (int i = 0; i < main->nnodes; i++)
        program->cost_ns += node_cost(k, main->nodes[i], &program->is_cost_known);
    for (int j = 0; j < s->nsegments; j++) {
        const Segment *segment = &s->segments[j];
        bool is_known = true;
        int64_t ns = 0;
        for (int i = 0; i < segment->nnodes; i++)
            ns += node_cost(k, segment->nodes[i], &is_known);
        ns = is_known ? ns : MOST_NS;
        program->longest_ns = ns > program->longest_ns ? ns : program->longest_ns;
    }
}
