/* fuse_order.c - where other names of values stand while groups are made.
 *
 * A reshape of what lies in memory is another name for it, and costs nothing wherever it stands.  But a
 * group stands where its last node stood, behind which all its readers must be; and a name that stands
 * among the nodes keeps them apart:
 *
 *     a = slice x; b = reshape a; c = slice x; d = reshape c; return b, d
 *
 * So every name goes down to its first reader: a and c are then one kernel. */
#include "engine/passes/fuse.h"

#include "engine/stages.h"

#include <limits.h>

typedef struct Readers {
    const FuseState *s;
    RegionId region;
    int *first; /* by position: where its first reader will stand */
} Readers;

static void note_readings(Readers *o, const Node *node, int position)
{
    const Module *m = o->s->m;
    for (int k = 0; k < node->nin; k++) {
        const Value *v = value_at(m, node->in[k]);
        if (v->region != o->region || !v->node)
            continue;
        int *first = &o->first[o->s->position[v->node]];
        *first = position < *first ? position : *first;
    }
    for (int k = 0; k < node->nregions; k++) {
        const Region *inner = region_at(m, node->regions[k]);
        for (int i = 0; i < inner->nnodes; i++)
            note_readings(o, node_at(m, inner->nodes[i]), position);
    }
}

/* Nodes in the new order: before each those names that go there. */
static void place_names(const FuseState *s, RegionId r, int n, const NodeId *nodes,
                        const int *goes_to)
{
    NodeId *list = ARENA_ARRAY(s->scratch, NodeId, n);
    /* the first name of a place, and behind each the next, counted from 1; 0: none */
    int *names = ARENA_ARRAY(s->scratch, int, n), *next = ARENA_ARRAY(s->scratch, int, n);
    int to = 0;
    for (int i = n - 1; i >= 0; i--)
        if (goes_to[i] != i) {
            next[i] = names[goes_to[i]];
            names[goes_to[i]] = i + 1;
        }
    for (int i = 0; i < n; i++) {
        for (int name = names[i]; name; name = next[name - 1])
            list[to++] = nodes[name - 1];
        if (goes_to[i] == i)
            list[to++] = nodes[i];
    }
    region_set_nodes(s->m, r, n, list);
}

void fuse_order(FuseState *s, RegionId r)
{
    int n = region_at(s->m, r)->nnodes, nmoved = 0;
    NodeId *nodes = arena_copy(s->scratch, region_at(s->m, r)->nodes, sizeof *nodes * (size_t)n);
    Readers o = { s, r, ARENA_ARRAY(s->scratch, int, n) };
    int *goes_to = ARENA_ARRAY(s->scratch, int, n);
    for (int i = 0; i < n; i++) {
        s->position[nodes[i]] = i;
        o.first[i] = INT_MAX;
    }
    for (int i = n - 1; i >= 0; i--) {
        const Node *node = node_at(s->m, nodes[i]);
        bool sinks = node_is_alias(s->m, node) && o.first[i] < n;
        goes_to[i] = sinks ? o.first[i] : i;
        nmoved += sinks;
        note_readings(&o, node, goes_to[i]);
    }
    if (nmoved)
        place_names(s, r, n, nodes, goes_to);
}
