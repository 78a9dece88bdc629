/* shared_results.c - what every device gets alike need not be written for each of them.
 *
 * In: a plan with places, and its collectives.  Out: Param.is_shared.  A result may be shared if all
 * that is ever written to its memory comes from collectives of all devices that give everybody the
 * same: nobody writes there alone, and at a collective all stand still, so nobody reads what is being
 * written.
 *
 * And Collective.is_for_first: what an all_reduce gives and only code over whole arrays takes, which
 * reads the first device's, is written there alone. */
#include "engine/link/link.h"

#include "base/guard.h"
#include "hlo/rewrite.h"

#include <string.h>

enum { WORTH_BYTES = 4 << 10 };

static bool meets_all(const Program *program, const Collective *m)
{
    for (int d = 0; d < program->ndevices; d++)
        if (m->group_of[d] < 0 || m->group_of[d] != m->group_of[0])
            return false;
    return true;
}

/* Is v, which lies in a result's memory, written there by a collective that gives everybody the
 * same? */
static bool is_from_all(const Plan *p, const GlueTables *t, const Program *program, ValueId v)
{
    NodeId def = value_def(p->m, v);
    const Node *node = def ? node_at(p->m, def) : NULL;
    if (!node)
        return false;
    const GlobalAttrs *global = node->attrs;
    switch (node->op) {
    case OP_ALL_REDUCE:
    case OP_ALL_GATHER: break;
    case OP_COLLECTIVE_BROADCAST: /* each device names its root */
        if (((const CollectiveBroadcastAttrs *)node->attrs)->has_dynamic_root)
            return false;
        break;
    case OP_GLOBAL:
        if (tiling_is_replicated(global->out_tilings.at[v - node->out]))
            break;
        return false;
    default: return false;
    }
    return meets_all(program, &program->collectives[t->collectives[def]]);
}

static bool is_aliased(const Plan *p, ValueId v)
{
    NodeId def = value_def(p->m, v);
    return def && node_is_alias(p->m, node_at(p->m, def));
}

static bool same_place(Address x, Address y)
{
    return x.where == y.where && x.at == y.at;
}

static bool is_moved_into(const Plan *p, Address out)
{
    for (int s = 0; s < p->nsegments; s++)
        for (int i = 0; i < p->segments[s].nmoves; i++) {
            Move move = p->segments[s].moves[i];
            if (same_place(p->addresses[move.dst], out) && !same_place(p->addresses[move.src], out))
                return true;
        }
    return false;
}

static bool may_share(const Plan *p, const GlueTables *t, const Program *program, int j)
{
    Address out = { ADDRESS_OUT, j };
    bool is_made = false;
    for (ValueId v = 1; v < p->naddresses; v++) {
        if (!same_place(p->addresses[v], out) || v == p->outs + (ValueId)j || is_aliased(p, v))
            continue;
        if (!is_from_all(p, t, program, v))
            return false;
        is_made = true;
    }
    return is_made && !is_moved_into(p, out);
}

void shares_find(Plan *p, const GlueTables *t, const Program *program)
{
    for (int j = 0; program->ndevices > 1 && program->ncollectives && j < p->nresults; j++)
        p->results[j].is_shared = p->results[j].alias < 0 &&
                                  type_bytes(p->results[j].local) >= WORTH_BYTES &&
                                  may_share(p, t, program, j);
}

/* Takes from uses[v] those by code over whole arrays that takes v whole. */
static void forget_whole_uses(const Plan *p, uint32_t *uses)
{
    for (int s = 0; s < p->nsegments; s++) {
        if (p->segments[s].end.kind != END_COLLECTIVE)
            continue;
        const Node *node = node_at(p->m, p->segments[s].end.collective);
        const GlobalAttrs *attrs = node->attrs;
        for (int i = 0; node_flow(node) == FLOW_GLOBAL && i < node->nin; i++)
            uses[node->in[i]] -= tiling_is_replicated(attrs->in_tilings.at[i]);
    }
}

void firsts_find(const Plan *p, const GlueTables *t, const Program *program, Collective *collectives,
                 Arena *arena)
{
    if (program->nreplicas != 1 || !program->ncollectives)
        return;
    uint32_t *uses = count_uses(p->m, p->main);
    forget_whole_uses(p, uses);
    for (int s = 0; s < p->nsegments; s++) {
        NodeId n = p->segments[s].end.kind == END_COLLECTIVE ? p->segments[s].end.collective : 0;
        const Node *node = node_at(p->m, n);
        if (!n || node->op != OP_ALL_REDUCE)
            continue;
        Collective *m = &collectives[t->collectives[n]];
        bool *is_for_first = ARENA_ARRAY(arena, bool, node->nout);
        for (int i = 0; i < node->nout; i++)
            is_for_first[i] = !uses[node->out + (ValueId)i] && meets_all(program, m) &&
                              m->out[i].where == ADDRESS_SLAB;
        m->is_for_first = is_for_first;
    }
    heap_free(uses);
}
