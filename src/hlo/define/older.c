/* older.c - what StableHLO said before it had a wider word: broadcast, dot, cross-replica-sum. */
#include "hlo/define/writer.h"

#include <string.h>

/* New dimensions in front. */
Error *define_broadcast_before(Writer *w, Node n, ValueId *results)
{
    Type t = type_of(w->m, n.out);
    int added = ((const BroadcastBeforeAttrs *)n.attrs)->broadcast_sizes.n;
    int64_t to[MAX_RANK];
    for (int i = 0; i + added < t.rank; i++)
        to[i] = i + added;
    results[0] = put_spread(w, n.in[0], to, t.rank, t.dims);
    return NULL;
}

/* Vectors and matrices: the left's last dimension with the right's first. */
Error *define_plain_dot(Writer *w, Node n, ValueId *results)
{
    int64_t left = type_of(w->m, n.in[0]).rank - 1, right = 0;
    DotAttrs *attrs = ARENA_NEW(w->m->arena, DotAttrs);
    attrs->lhs_contracting_dimensions = ints_copy(w->m->arena, 1, &left);
    attrs->rhs_contracting_dimensions = ints_copy(w->m->arena, 1, &right);
    attrs->precision_config = ((const PlainDotAttrs *)n.attrs)->precision_config;
    results[0] = put(w, OP_DOT, type_of(w->m, n.out), attrs, 2, n.in);
    return NULL;
}

/* An all_reduce by add. */
Error *define_cross_replica_sum(Writer *w, Node n, ValueId *results)
{
    AllReduceAttrs *attrs = ARENA_NEW(w->m->arena, AllReduceAttrs);
    attrs->replica_groups = ((const CrossReplicaSumAttrs *)n.attrs)->replica_groups;
    Type t = type_of(w->m, n.out);
    RegionId add = build_reducer(w->m, OP_ADD, t.element, w->loc);
    NodeId all_reduce = node_new(w->m, OP_ALL_REDUCE, 1, n.in, 1, &t, 1, &add, attrs, w->loc);
    region_append(w->m, w->r, all_reduce);
    results[0] = node_at(w->m, all_reduce)->out;
    return NULL;
}
