/* free_values.c - finding the free values of regions, and making arguments of them.
 *
 *     { y = add a, x }   with a from outside      ->      (x', a') { y = add a', x' }
 */
#include "front/transform/transform.h"

#include "base/guard.h"
#include "hlo/rewrite.h"

#include <stdlib.h>
#include <string.h>

enum { UNSEEN, INSIDE, LISTED };

typedef struct Search {
    Module *m;
    char *state; /* [value] */
    Values found;
    int room;
} Search;

static void list(Search *s, ValueId v)
{
    if (s->state[v] != UNSEEN)
        return;
    s->state[v] = LISTED;
    if (s->found.n == s->room) {
        s->room = s->room ? s->room * 2 : 8;
        ValueId *bigger = ARENA_ARRAY(s->m->arena, ValueId, s->room);
        if (s->found.n)
            memcpy(bigger, s->found.at, sizeof *bigger * (size_t)s->found.n);
        s->found.at = bigger;
    }
    s->found.at[s->found.n++] = v;
}

static void search(Search *s, RegionId r)
{
    const Region *region = region_at(s->m, r);
    for (int i = 0; i < region->nargs; i++)
        s->state[region->args + (uint32_t)i] = INSIDE;
    for (int i = 0; i < region->nnodes; i++) {
        const Node *node = node_at(s->m, region->nodes[i]);
        for (int k = 0; k < node->nin; k++)
            list(s, node->in[k]);
        for (int k = 0; k < node->nregions; k++)
            search(s, node->regions[k]);
        for (int k = 0; k < node->nout; k++)
            s->state[node->out + (uint32_t)k] = INSIDE;
    }
}

Values free_values(Module *m, int nregions, const RegionId *regions)
{
    Search s = { .m = m, .state = HEAP_ARRAY(char, m->nvalues, "marks of values") };
    for (int i = 0; i < nregions; i++)
        search(&s, regions[i]);
    heap_free(s.state);
    return s.found;
}

bool node_uses(Module *m, const Node *node, ValueTest *holds, void *user)
{
    for (int i = 0; i < node->nin; i++)
        if (holds(user, node->in[i]))
            return true;
    if (!node->nregions || op_info[node->op].kind != KIND_FLOW)
        return false;
    Values free = free_values(m, node->nregions, node->regions);
    for (int i = 0; i < free.n; i++)
        if (holds(user, free.at[i]))
            return true;
    return false;
}

static RegionId region_with(Module *m, RegionId r, Values free)
{
    const Region *old = region_at(m, r);
    int nargs = old->nargs;
    Type *types = ARENA_ARRAY(m->arena, Type, nargs + free.n + 1);
    for (int i = 0; i < nargs; i++)
        types[i] = type_of(m, old->args + (uint32_t)i);
    for (int i = 0; i < free.n; i++)
        types[nargs + i] = type_of(m, free.at[i]);
    return region_new(m, 0, nargs + free.n, types);
}

static Subst map_arguments(Module *m, RegionId from, RegionId to, Values free)
{
    Subst map = subst_new(m);
    ValueId first = region_at(m, to)->args;
    int nargs = region_at(m, from)->nargs;
    for (int i = 0; i < nargs; i++)
        subst_set(&map, region_at(m, from)->args + (uint32_t)i, first + (uint32_t)i);
    for (int i = 0; i < free.n; i++)
        subst_set(&map, free.at[i], first + (uint32_t)(nargs + i));
    return map;
}

RegionId region_isolate(Module *m, RegionId r, Values free)
{
    RegionId isolated = region_with(m, r, free);
    Subst map = map_arguments(m, r, isolated, free);
    region_set_nodes(m, isolated, region_at(m, r)->nnodes, region_at(m, r)->nodes);
    subst_apply(&map, m, isolated);
    subst_free(&map);
    return isolated;
}

Graph graph_of_region(Module *m, RegionId r, Values free)
{
    RegionId copy = region_with(m, r, free);
    Subst map = map_arguments(m, r, copy, free);
    region_copy_into(m, r, copy, &map);
    int n = region_at(m, r)->nnodes;
    region_append(m, copy, node_copy(m, region_at(m, r)->nodes[n - 1], &map));
    subst_free(&map);
    int nresults = region_return(m, copy)->nin;
    return (Graph){ m, copy, region_at(m, copy)->nargs, nresults,
                    ARENA_ARRAY(m->arena, bool, nresults + 1) };
}
