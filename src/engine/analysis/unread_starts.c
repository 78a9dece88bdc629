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

/* Is value k of what the loop carries read by one update alone, of one row after the other? */
static bool is_unread(const Search *s, NodeId loop, int k)
{
    const Module *m = s->m;
    const Node *node = node_at(m, loop);
    ValueId tested = region_at(m, node->regions[0])->args + (ValueId)k;
    ValueId carried = region_at(m, node->regions[1])->args + (ValueId)k;
    ValueId next = region_return(m, node->regions[1])->in[k];
    NodeId def = value_def(m, next);
    const Node *update = def ? node_at(m, def) : NULL;
    if (!update || update->op != OP_DYNAMIC_UPDATE || update->region != node->regions[1] ||
        update->in[0] != carried || s->uses[carried] != 1 || s->uses[next] != 1 || s->uses[tested])
        return false;
    Type all = type_of(m, carried), row = type_of(m, update->in[1]);
    bool is_row = all.rank > 0 && row.dims[0] == 1;
    for (int d = 1; d < all.rank; d++)
        is_row &= row.dims[d] == all.dims[d];
    return is_row && index_takes_all(m, node, trips_of(s->trips, loop), update->in[2], all.dims[0]);
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
            unread[k] = is_unread(s, n, k);
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
