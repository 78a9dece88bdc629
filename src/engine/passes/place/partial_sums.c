/* partial_sums.c - sums over a dimension that is cut: each device sums its part, then all_reduce.
 *
 * In goes a reduce, dot, convolution, gather or scatter whose summed dimension is cut over devices; out come the same
 * operation on every device's shards and an all_reduce among those whose parts make one result:
 *
 *     x [6] in 2 parts, on 2x2 devices        part_of      groups
 *     device 0: x[0:3]   1: x[3:6]            0 1          [[0, 1],
 *     device 2: x[0:3]   3: x[3:6]            0 1           [2, 3]]   copies form groups apart
 *
 * It is done where less moves than by joining the operands.
 *
 * A program may also say that a value lies in parts (an unreduced sharding).  Both forms of such
 * a value are kept: the parts, for users that ask for just these, and their sum, which all others
 * work with; what has no user is dropped as dead code. */
#include "engine/passes/place/place.h"

#include "base/fail.h"

#include <string.h>

/* Combining an initial value once per part must do what combining it once does. */
static bool may_repeat(OpId op, const Dense *init)
{
    static const char zeros[16];
    if (op == OP_MAX || op == OP_MIN || op == OP_AND || op == OP_OR)
        return true;
    if ((op != OP_ADD && op != OP_XOR) || !init || type_count(init->type) != 1)
        return false;
    return memcmp(init->data, zeros, (size_t)element_info[init->type.element].bytes) == 0;
}

static bool is_zero(const Dense *c)
{
    static const char zeros[16];
    return c && c->is_splat &&
           memcmp(c->data, zeros, (size_t)element_info[c->type.element].bytes) == 0;
}

/* By what the parts of n's result are combined; OP_COUNT: they cannot be. */
static OpId combiner(const Module *m, const Node *node)
{
    if (node->op == OP_DOT)
        return element_info[type_of(m, node->out).element].kind == BOOLEAN ? OP_OR : OP_ADD;
    if (node->nout != 1)
        return OP_COUNT;
    if (node->op == OP_CONVOLUTION)
        return OP_ADD;
    if (node->op == OP_GATHER)
        return element_info[type_of(m, node->out).element].kind == BOOLEAN ? OP_OR : OP_ADD;
    OpId op = region_reducer(m, node->regions[0]);
    if (node->op == OP_SCATTER)
        return op == OP_ADD || op == OP_MAX || op == OP_MIN || op == OP_OR ? op : OP_COUNT;
    return op != OP_COUNT && may_repeat(op, value_constant(m, node->in[1])) ? op : OP_COUNT;
}

static bool is_worth_it(const Placer *z, const Node *node, const Placement *p)
{
    Type local = local_type(z, type_of(z->m, node->out), p->results[0]);
    double moved = 0, result = (double)type_count(local);
    for (int i = 0; i < node->nin; i++)
        moved += (double)type_count(type_of(z->m, node->in[i]));
    return result <= moved;
}

static bool is_same_tile(Tiling t, int a, int b)
{
    return t.rank == 0 || memcmp(&t.tile_of[a * t.rank], &t.tile_of[b * t.rank],
                                 sizeof *t.tile_of * (size_t)t.rank) == 0;
}

/* Devices with one tile, one for each part, are a group; where a part has several holders, the
 * k-th of each are together.  False if that does not come out even. */
static bool form_groups(const Placer *z, Tiling t, Matrix *out)
{
    int nrows = z->ndevices / t.nparts, used = 0;
    int64_t *at = ARENA_ARRAY(z->m->arena, int64_t, z->ndevices);
    int *owner = ARENA_ARRAY(z->m->arena, int, nrows + 1); /* the first device of a row */
    for (int i = 0; i < z->ndevices; i++)
        at[i] = -1;
    for (int d = 0; d < z->ndevices; d++) {
        int row = 0, part = t.part_of[d];
        while (row < used && (!is_same_tile(t, owner[row], d) || at[row * t.nparts + part] >= 0))
            row++;
        if (row == nrows)
            return false;
        if (row == used)
            owner[used++] = d;
        at[row * t.nparts + part] = d;
    }
    *out = (Matrix){ nrows, t.nparts, at };
    return nrows * t.nparts == z->ndevices;
}

/* How the result of a partial placement lies before it is combined. */
static Tiling in_parts(const Placement *p)
{
    Tiling t = p->results[0];
    t.nparts = p->nparts;
    t.part_of = p->part_of;
    return t;
}

bool is_combinable(const Placer *z, NodeId n, const Placement *p)
{
    Matrix groups;
    const Node *node = node_at(z->m, n);
    return combiner(z->m, node) != OP_COUNT && is_worth_it(z, node, p) &&
           form_groups(z, in_parts(p), &groups);
}

/* The same partitions together in every replica, as numbers of devices. */
Matrix groups_in_replicas(const Placer *z, Matrix groups)
{
    int n = groups.rows * groups.cols;
    int64_t *at = ARENA_ARRAY(z->m->arena, int64_t, z->m->nreplicas * n);
    for (int r = 0; r < z->m->nreplicas; r++)
        for (int i = 0; i < n; i++)
            at[r * n + i] = r * z->ndevices + groups.at[i];
    return (Matrix){ groups.rows * z->m->nreplicas, groups.cols, at };
}

/* All parts of what each device has one of, together. */
static ValueId combine(Placer *z, ValueId part, Tiling t, OpId how, const Loc *loc)
{
    Module *m = z->m;
    AllReduceAttrs *attrs = ARENA_NEW(m->arena, AllReduceAttrs);
    attrs->channel_id = 1;
    attrs->use_global_device_ids = true;
    require(form_groups(z, t, &attrs->replica_groups));
    attrs->replica_groups = groups_in_replicas(z, attrs->replica_groups);
    Type type = type_of(m, part);
    RegionId region = build_reducer(m, how, type.element, loc);
    NodeId all_reduce = node_new(m, OP_ALL_REDUCE, 1, &part, 1, &type, 1, &region, attrs, loc);
    region_append(m, z->to, all_reduce);
    return node_at(m, all_reduce)->out;
}

void place_partial(Placer *z, NodeId n, const Placement *p)
{
    Node node = *node_at(z->m, n);
    OpId how = combiner(z->m, &node);
    if (node.op == OP_SCATTER && how == OP_ADD && !is_zero(value_constant(z->m, node.in[0]))) {
        /* what is added to counts once */
        p->wants[0].nparts = p->nparts;
        p->wants[0].part_of = p->part_of;
    }
    place_on_shards(z, n, p);
    ValueId part = subst_get(&z->shards, node.out);
    if (how == OP_ADD)
        shard_hold(z, node.out, in_parts(p), part);
    subst_set(&z->shards, node.out, combine(z, part, in_parts(p), how, node.loc));
}

/* ---- values that the program has in parts ---- */

ValueId parts_sum(Placer *z, ValueId part, Tiling t, const Loc *loc)
{
    return t.nparts ? combine(z, part, t, OP_ADD, loc) : part;
}

void parts_keep(Placer *z, ValueId v, Tiling t, ValueId part, const Loc *loc)
{
    if (t.nparts)
        shard_hold(z, v, t, part);
    subst_set(&z->shards, v, parts_sum(z, part, t, loc));
}

/* The device with the first part takes all of it, the others nothing. */
ValueId parts_split(Placer *z, ValueId shard, Tiling want)
{
    Module *m = z->m;
    if (!want.nparts)
        return shard;
    static const char zeros[16];
    bool *has_it = ARENA_ARRAY(m->arena, bool, z->ndevices);
    for (int d = 0; d < z->ndevices; d++)
        has_it[d] = want.part_of[d] == 0;
    int64_t ndevices = z->ndevices, one = 1;
    Type type = type_of(m, shard), row = type_new(m->arena, I1, 1, &one);
    Dense table = { type_new(m->arena, I1, 1, &ndevices), false, has_it };
    ValueId id = build_node(m, z->to, OP_PARTITION_ID, 0, NULL, type_scalar(U32), NULL, NULL);
    ValueId at[] = { build_constant(m, z->to, table, NULL), id };
    DynamicSliceAttrs *attrs = ARENA_NEW(m->arena, DynamicSliceAttrs);
    attrs->slice_sizes = ints_copy(m->arena, 1, &one);
    ValueId mine = build_node(m, z->to, OP_DYNAMIC_SLICE, 2, at, row, attrs, NULL);
    mine = build_node(m, z->to, OP_RESHAPE, 1, &mine, type_scalar(I1), NULL, NULL);
    ValueId zero = build_constant(m, z->to, (Dense){ type, true, zeros }, NULL);
    ValueId in[] = { mine, shard, zero };
    return build_node(m, z->to, OP_SELECT, 3, in, type, NULL, NULL);
}
