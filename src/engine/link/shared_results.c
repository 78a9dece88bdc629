/* shared_results.c - what every device gets alike need not be written for each of them.
 *
 * In: a layout, and its collectives.  Out: Param.is_shared and Collective.is_for_first.
 *
 * is_shared: one device's memory holds a result of all devices.  That is right if only collectives of
 * all devices that give every device the same write to that memory: all devices wait at a collective,
 * so none reads while another writes.
 *
 * is_for_first: an all_reduce writes its result to the first device only.  That is right if only
 * tutti.global nodes use the result, for they read a replicated operand from the first device. */
#include "engine/link/link.h"

#include "base/guard.h"
#include "hlo/rewrite.h"

#include <string.h>

enum { WORTH_BYTES = 4 << 10 };

static bool is_of_all_devices(const Program *program, const Collective *m)
{
    for (int d = 0; d < program->ndevices; d++)
        if (m->group_of[d] < 0 || m->group_of[d] != m->group_of[0])
            return false;
    return true;
}

/* Is v, which lies in a result's memory, written there by a collective that gives every device the
 * same? */
static bool is_from_all(const Module *m, const GlueTables *t, const Program *program, ValueId v)
{
    NodeId def = value_def(m, v);
    return def && collective_gives_same(node_at(m, def), (int)(v - node_at(m, def)->out)) &&
           is_of_all_devices(program, &program->collectives[t->collectives[def]]);
}

static bool is_aliased(const Module *m, ValueId v)
{
    NodeId def = value_def(m, v);
    return def && node_is_alias(m, node_at(m, def));
}

static bool same_place(Address x, Address y)
{
    return x.where == y.where && x.at == y.at;
}

static bool is_moved_into(const Layout *l, Address out)
{
    for (int s = 0; s < l->s->nsegments; s++)
        for (int i = 0; i < l->s->segments[s].nmoves; i++) {
            Move move = l->s->segments[s].moves[i];
            if (same_place(l->addresses[move.dst], out) && !same_place(l->addresses[move.src], out))
                return true;
        }
    return false;
}

static bool may_share(const Layout *l, const GlueTables *t, const Program *program, int j)
{
    const Module *m = l->s->k->m;
    Address out = { ADDRESS_OUT, j };
    bool is_made = false;
    for (ValueId v = 1; v < l->s->outs; v++) {
        if (!same_place(l->addresses[v], out) || is_aliased(m, v))
            continue;
        if (!is_from_all(m, t, program, v))
            return false;
        is_made = true;
    }
    return is_made && !is_moved_into(l, out);
}

void shares_find(const Layout *l, const GlueTables *t, const Program *program, Param *results)
{
    for (int j = 0; program->ndevices > 1 && program->ncollectives && j < program->nresults; j++)
        results[j].is_shared = results[j].alias < 0 &&
                               type_bytes(results[j].local) >= WORTH_BYTES &&
                               may_share(l, t, program, j);
}

/* Takes from uses[v] those by code over whole arrays that takes v whole. */
static void forget_whole_uses(const Schedule *s, uint32_t *uses)
{
    for (int j = 0; j < s->nsegments; j++) {
        if (s->segments[j].end.kind != END_COLLECTIVE)
            continue;
        const Node *node = node_at(s->k->m, s->segments[j].end.collective);
        const GlobalAttrs *attrs = node->attrs;
        for (int i = 0; node_flow(node) == FLOW_GLOBAL && i < node->nin; i++)
            uses[node->in[i]] -= tiling_is_replicated(attrs->in_tilings.at[i]);
    }
}

void firsts_find(const Schedule *s, const GlueTables *t, const Program *program,
                 Collective *collectives, Arena *arena)
{
    if (program->nreplicas != 1 || !program->ncollectives)
        return;
    uint32_t *uses = count_uses(s->k->m, s->k->main);
    forget_whole_uses(s, uses);
    for (int j = 0; j < s->nsegments; j++) {
        const SegmentEnd *end = &s->segments[j].end;
        NodeId n = end->kind == END_COLLECTIVE ? end->collective : 0;
        const Node *node = node_at(s->k->m, n);
        if (!n || node->op != OP_ALL_REDUCE)
            continue;
        Collective *m = &collectives[t->collectives[n]];
        bool *is_for_first = ARENA_ARRAY(arena, bool, node->nout);
        for (int i = 0; i < node->nout; i++)
            is_for_first[i] = !uses[node->out + (ValueId)i] && is_of_all_devices(program, m) &&
                              m->out[i].where == ADDRESS_SLAB;
        m->is_for_first = is_for_first;
    }
    heap_free(uses);
}
