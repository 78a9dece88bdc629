/* unread_starts.c - arrays that a loop is given only to write all of them.
 *
 *   ys = 0; while (i = 0; i < 100) { ...; ys[i] = y }      100 rows: nobody sees a 0
 *
 * That is how scans stack their results.  What such an array begins as is not written: neither is it copied
 * to where the loop has it, nor is what makes it executed, if nobody else reads that. */
#include "engine/analysis/analysis.h"

#include "base/guard.h"
#include "hlo/rewrite.h"

typedef struct Search {
    const Module *m;
    const TripCounts *trips;
    const uint32_t *uses;
    const bool **unread;
} Search;

bool is_row_of(Type one, Type all)
{
    bool is_row = one.rank == all.rank && all.rank > 0 && one.dims[0] == 1;
    for (int d = 1; is_row && d < all.rank; d++)
        is_row = one.dims[d] == all.dims[d];
    return is_row;
}

NodeId update_of_all_rows(const Module *m, const uint32_t *uses, const Node *loop, int64_t ntrips,
                          int k)
{
    ValueId tested = region_at(m, loop->regions[0])->args + (ValueId)k;
    ValueId carried = region_at(m, loop->regions[1])->args + (ValueId)k;
    ValueId next = region_return(m, loop->regions[1])->in[k];
    NodeId def = value_def(m, next);
    const Node *update = def ? node_at(m, def) : NULL;
    if (!update || update->op != OP_DYNAMIC_UPDATE || update->region != loop->regions[1] ||
        update->in[0] != carried || uses[carried] != 1 || uses[next] != 1 || uses[tested])
        return 0;
    Type all = type_of(m, carried);
    bool takes_all = is_row_of(type_of(m, update->in[1]), all) &&
                     index_takes_all(m, loop, ntrips, update->in[2], all.dims[0]);
    return takes_all ? def : 0;
}

static void find_below(Search *s, RegionId r)
{
    const Module *m = s->m;
    const Region *region = region_at(m, r);
    for (int i = 0; i < region->nnodes; i++) {
        NodeId n = region->nodes[i];
        const Node *node = node_at(m, n);
        for (int k = 0; node_holds_code(node) && k < node->nregions; k++)
            find_below(s, node->regions[k]);
        if (node_flow(node) != FLOW_LOOP)
            continue;
        bool *unread = ARENA_ARRAY(m->arena, bool, node->nin);
        for (int k = 0; k < node->nin; k++)
            unread[k] = update_of_all_rows(m, s->uses, node, trips_of(s->trips, n), k) != 0;
        s->unread[n] = unread;
    }
}

void find_unread_starts(const Module *m, RegionId r, TripCounts *t)
{
    uint32_t *uses = count_uses(m, r);
    Search s = { m, t, uses, ARENA_ARRAY(m->arena, const bool *, m->nnodes) };
    find_below(&s, r);
    t->unread = s.unread;
    heap_free(uses);
}
