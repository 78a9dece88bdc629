/* collective_reduce.c - a sum that one device of each group gets: collective_reduce.
 *
 * Everybody takes part in an all_reduce; the root of the group keeps the result, the others have
 * zeros.  The root is the first of the group, or the one at the place that the last operand gives
 * for each result (has_dynamic_root). */
#include "hlo/define/writer.h"

/* What groups number: replicas, each partition collective its likes; with a channel replicas, all
 * partitions of which meet; or devices, whatever they are.  In a program of one replica that names
 * others, those are its partitions. */
typedef struct Numbers {
    int64_t n;   /* of them, by which a device finds its place */
    int64_t ids; /* that groups may name */
    int each;    /* devices per id */
} Numbers;

static Numbers numbers_of(const Module *m, const CollectiveReduceAttrs *a)
{
    int64_t devices = (int64_t)m->nreplicas * m->npartitions;
    if (a->channel_id <= 0)
        return (Numbers){ m->nreplicas, m->nreplicas, 1 };
    bool names_others = false;
    for (int64_t i = 0; i < (int64_t)a->replica_groups.rows * a->replica_groups.cols; i++)
        names_others |= a->replica_groups.at[i] > 0;
    if (a->use_global_device_ids || (m->nreplicas == 1 && names_others))
        return (Numbers){ devices, devices, 1 };
    return (Numbers){ devices, m->nreplicas, m->npartitions };
}

/* The places of a group's members, in the order in which they meet: all first partitions, then
 * all second ones.  A number that no device has is an error when the groups are formed. */
static void place_row(const Numbers *num, const int64_t *row, int64_t cols, int32_t *places)
{
    int32_t place = 0;
    for (int64_t k = 0; k < cols * num->each; k++) {
        int64_t id = row ? row[k % cols] : k % cols;
        if (id >= 0 && id < num->ids)
            places[id * num->each + k / cols] = place++;
    }
}

/* This device's place in its group; -1 if it is in none. */
static ValueId put_place(Writer *w, const CollectiveReduceAttrs *a)
{
    Matrix groups = a->replica_groups;
    Numbers num = numbers_of(w->m, a);
    int32_t *places = ARENA_ARRAY(w->m->arena, int32_t, num.n);
    for (int64_t i = 0; i < num.n; i++)
        places[i] = -1;
    if (!groups.rows || !groups.cols)
        place_row(&num, NULL, num.ids, places);
    for (int i = 0; i < groups.rows && groups.cols; i++)
        place_row(&num, groups.at + (int64_t)i * groups.cols, groups.cols, places);
    Dense table = { type_new(w->m->arena, I32, 1, &num.n), false, places };
    ValueId me = a->channel_id <= 0 ? put(w, OP_REPLICA_ID, type_scalar(U32), NULL, 0, NULL)
                                    : put_device_number(w);
    return put_element(w, build_constant(w->m, w->r, table, w->loc), me);
}

Error *define_collective_reduce(Writer *w, Node n, ValueId *results)
{
    const CollectiveReduceAttrs *a = n.attrs;
    AllReduceAttrs *attrs = ARENA_NEW(w->m->arena, AllReduceAttrs);
    *attrs = (AllReduceAttrs){ a->replica_groups, a->channel_id, a->use_global_device_ids };
    Type *types = ARENA_ARRAY(w->m->arena, Type, n.nout);
    for (int i = 0; i < n.nout; i++)
        types[i] = type_of(w->m, n.out + (uint32_t)i);
    NodeId all_reduce =
        node_new(w->m, OP_ALL_REDUCE, n.nout, n.in, n.nout, types, 1, n.regions, attrs, w->loc);
    region_append(w->m, w->r, all_reduce);
    ValueId place = put_place(w, a);
    for (int i = 0; i < n.nout; i++) {
        ValueId at = put_integer(w, type_scalar(I32), i),
                root = put_integer(w, type_scalar(I32), 0);
        if (a->has_dynamic_root)
            root = put_element(w, n.in[n.nin - 1], at);
        results[i] =
            put_select(w, put_compare(w, EQ, place, root),
                       node_at(w->m, all_reduce)->out + (uint32_t)i, put_number(w, types[i], 0));
    }
    return NULL;
}
