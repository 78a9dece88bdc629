/* partial_sums.c - sums over a dimension that is cut: each device sums its part, then all_reduce.
 *
 * In goes a reduce, dot, convolution, gather or scatter whose summed dimension is cut over devices; out come the same
 * operation on every device's shards and an all_reduce among those whose parts make one result:
 *
 *     x [6] in 2 parts, on 2x2 devices        part_of      groups
 *     device 0: x[0:3]   1: x[3:6]            0 1          [[0, 1],
 *     device 2: x[0:3]   3: x[3:6]            0 1           [2, 3]]   copies form groups apart
 *
 * It is done where less moves than by joining the operands. */
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
    if (node->op == OP_GATHER || node->op == OP_DYNAMIC_SLICE)
        return element_info[type_of(m, node->out).element].kind == BOOLEAN ? OP_OR : OP_ADD;
    OpId op = region_reducer(m, node->regions[0]);
    if (node->op == OP_SCATTER)
        return op == OP_ADD || op == OP_MAX || op == OP_MIN || op == OP_OR ? op : OP_COUNT;
    return op != OP_COUNT && may_repeat(op, value_constant(m, node->in[1])) ? op : OP_COUNT;
}

/* Several arrays at once (the greatest element and its place): the parts' results are gathered, and
 * reduced like the elements.  StableHLO lets initial values come in as often as one likes. */
static bool is_reduced_again(const Node *node)
{
    return node->op == OP_REDUCE && node->nout > 1;
}

static bool is_worth_it(const Placer *z, const Node *node, const Placement *p)
{
    Type local = local_type(z, type_of(z->m, node->out), p->results[0]);
    double moved = 0, result = (double)type_count(local);
    for (int i = 0; i < node->nin; i++)
        moved += (double)type_count(type_of(z->m, node->in[i]));
    return result * (is_reduced_again(node) ? p->nparts : 1) <= moved;
}

bool is_same_tile(Tiling t, int a, int b)
{
    return t.rank == 0 || memcmp(&t.tile_of[a * t.rank], &t.tile_of[b * t.rank],
                                 sizeof *t.tile_of * (size_t)t.rank) == 0;
}

bool form_groups(const Placer *z, Tiling t, Matrix *out)
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
    return (is_reduced_again(node) || combiner(z->m, node) != OP_COUNT) &&
           is_worth_it(z, node, p) && form_groups(z, in_parts(p), &groups);
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

ValueId parts_combine(Placer *z, ValueId part, Tiling t, OpId how, const Loc *loc)
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

static void reduce_again(Placer *z, const Node *node, const Placement *p)
{
    Module *m = z->m;
    Matrix groups;
    require(form_groups(z, in_parts(p), &groups));
    ValueId *in = ARENA_ARRAY(m->arena, ValueId, node->nin);
    Type *types = ARENA_ARRAY(m->arena, Type, node->nout);
    for (int i = 0; i < node->nout; i++) {
        ValueId part = subst_get(&z->shards, node->out + (ValueId)i);
        types[i] = type_of(m, part);
        int64_t dims[MAX_RANK + 1] = { 1 };
        memcpy(&dims[1], types[i].dims, sizeof *dims * (size_t)types[i].rank);
        part =
            build_reshape(z, part, type_new(m->arena, types[i].element, types[i].rank + 1, dims));
        dims[0] = p->nparts;
        Type all = type_new(m->arena, types[i].element, types[i].rank + 1, dims);
        in[i] = build_all_gather(z, part, 0, groups, all, node->loc);
        in[node->nout + i] = shard_of(z, node->in[node->nout + i], p->wants[node->nout + i]);
    }
    static const int64_t first;
    DimensionsAttrs *attrs = ARENA_NEW(m->arena, DimensionsAttrs);
    attrs->dimensions = ints_copy(m->arena, 1, &first);
    RegionId region = region_copy(m, node->regions[0], 0, &z->shards);
    NodeId n =
        node_new(m, OP_REDUCE, node->nin, in, node->nout, types, 1, &region, attrs, node->loc);
    region_append(m, z->to, n);
    for (int i = 0; i < node->nout; i++)
        subst_set(&z->shards, node->out + (ValueId)i, node_at(m, n)->out + (ValueId)i);
}

void place_partial(Placer *z, NodeId n, const Placement *p)
{
    Node node = *node_at(z->m, n);
    if (is_reduced_again(&node)) {
        place_on_shards(z, n, p);
        reduce_again(z, &node, p);
        return;
    }
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
    subst_set(&z->shards, node.out, parts_combine(z, part, in_parts(p), how, node.loc));
}
