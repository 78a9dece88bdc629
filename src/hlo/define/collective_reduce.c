/* collective_reduce.c - a sum that one device of each group gets: collective_reduce.
 *
 * Everybody takes part in an all_reduce; the first of the group keeps the result, the others have
 * zeros. */
#include "hlo/define/writer.h"

static ValueId is_root(Writer *w, const CollectiveReduceAttrs *a)
{
    Type id = type_scalar(U32), yes = type_scalar(I1);
    ValueId me = put(w, a->channel_id > 0 ? OP_PARTITION_ID : OP_REPLICA_ID, id, NULL, 0, NULL);
    ValueId is = put_integer(w, yes, 0);
    for (int i = 0; i < a->replica_groups.rows; i++) {
        ValueId root = put_integer(w, id, a->replica_groups.at[i * a->replica_groups.cols]);
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
