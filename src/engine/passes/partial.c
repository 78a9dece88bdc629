/* partial.c - sums over a dimension that is cut: each device its part, then all together.
 *
 * In goes a reduce or dot whose summed dimension is cut over devices; out come the same
 * operation on every device's pieces and an all_reduce among those whose parts make one result:
 *
 *     x [6] in 2 parts, on 2x2 devices        part_of      groups
 *     device 0: x[0:3]   1: x[3:6]            0 1          [[0, 1],
 *     device 2: x[0:3]   3: x[3:6]            0 1           [2, 3]]   copies form groups apart
 *
 * It is done where less moves than by joining the operands. */
#include "engine/passes/place.h"

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

/* By what the parts of n's result are combined; OP_COUNT: they cannot be. */
static OpId combiner(const Module *m, const Node *node)
{
    if (node->op == OP_DOT)
        return element_info[type_of(m, node->out).element].kind == BOOLEAN ? OP_OR : OP_ADD;
    if (node->nout != 1)
        return OP_COUNT;
    OpId op = region_reducer(m, node->regions[0]);
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

/* Devices with one tile of the result, one for each part, are a group; where a part has several
 * holders, the k-th of each are together.  False if that does not come out even. */
static bool form_groups(const Placer *z, const Placement *p, Matrix *out)
{
    int nrows = z->ndevices / p->nparts, used = 0;
    int64_t *at = ARENA_ARRAY(z->m->arena, int64_t, z->ndevices);
    int *owner = ARENA_ARRAY(z->m->arena, int, nrows + 1); /* the first device of a row */
    for (int i = 0; i < z->ndevices; i++)
        at[i] = -1;
    for (int d = 0; d < z->ndevices; d++) {
        int row = 0, part = p->part_of[d];
        while (row < used &&
               (!is_same_tile(p->results[0], owner[row], d) || at[row * p->nparts + part] >= 0))
            row++;
        if (row == nrows)
            return false;
        if (row == used)
            owner[used++] = d;
        at[row * p->nparts + part] = d;
    }
    *out = (Matrix){ nrows, p->nparts, at };
    return nrows * p->nparts == z->ndevices;
}

bool is_combinable(const Placer *z, NodeId n, const Placement *p)
{
    Matrix groups;
    const Node *node = node_at(z->m, n);
    return combiner(z->m, node) != OP_COUNT && is_worth_it(z, node, p) &&
           form_groups(z, p, &groups);
}

void place_partial(Placer *z, NodeId n, const Placement *p)
{
    Module *m = z->m;
    Node node = *node_at(m, n);
    AllReduceAttrs *attrs = ARENA_NEW(m->arena, AllReduceAttrs);
    attrs->channel_id = 1;
    attrs->use_global_device_ids = true;
    require(form_groups(z, p, &attrs->replica_groups));
    place_piecewise(z, n, p);
    ValueId part = subst_get(&z->pieces, node.out);
    Type type = type_of(m, part);
    RegionId combine = build_reducer(m, combiner(m, &node), type.element, node.loc);
    NodeId meet = node_new(m, OP_ALL_REDUCE, 1, &part, 1, &type, 1, &combine, attrs, node.loc);
    region_append(m, z->to, meet);
    subst_set(&z->pieces, node.out, node_at(m, meet)->out);
}
