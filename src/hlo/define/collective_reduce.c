/* collective_reduce.c - a sum that one device of each group gets: collective_reduce.
 *
 * Everybody takes part in an all_reduce; the first of the group keeps the result, the others have
 * zeros. */
#include "hlo/define/writer.h"

/* Groups number replicas, each partition meeting its likes; with a channel all partitions of those
 * replicas meet; or groups number devices, whatever they are.  No groups: one of all. */
static ValueId is_root(Writer *w, const CollectiveReduceAttrs *a)
{
    Matrix groups = a->replica_groups;
    bool by_replica = a->channel_id <= 0;
    int64_t step = by_replica || a->use_global_device_ids ? 1 : w->m->npartitions;
    Type id = type_scalar(U32);
    ValueId me = by_replica ? put(w, OP_REPLICA_ID, id, NULL, 0, NULL) : put_device_number(w);
    ValueId is = put_compare(w, EQ, me, put_integer(w, id, groups.rows ? groups.at[0] * step : 0));
    for (int i = 1; i < groups.rows; i++) {
        ValueId root = put_integer(w, id, groups.at[i * groups.cols] * step);
        is = put_two(w, OP_OR, is, put_compare(w, EQ, me, root));
    }
    return is;
}

Error *define_collective_reduce(Writer *w, Node n, ValueId *results)
{
    const CollectiveReduceAttrs *a = n.attrs;
    if (a->has_dynamic_root)
        return error_new(CODE_UNIMPLEMENTED, "not supported: a dynamic root of collective_reduce, "
                         "at %s", loc_name(n.loc));
    AllReduceAttrs *attrs = ARENA_NEW(w->m->arena, AllReduceAttrs);
    *attrs = (AllReduceAttrs){ a->replica_groups, a->channel_id, a->use_global_device_ids };
    Type *types = ARENA_ARRAY(w->m->arena, Type, n.nout);
    for (int i = 0; i < n.nout; i++)
        types[i] = type_of(w->m, n.out + (uint32_t)i);
    NodeId meet = node_new(w->m, OP_ALL_REDUCE, n.nin, n.in, n.nout, types, 1, n.regions, attrs,
                           w->loc);
    region_append(w->m, w->r, meet);
    ValueId keeps = is_root(w, a);
    for (int i = 0; i < n.nout; i++)
        results[i] = put_select(w, keeps, node_at(w->m, meet)->out + (uint32_t)i,
                                put_number(w, types[i], 0));
    return NULL;
}
