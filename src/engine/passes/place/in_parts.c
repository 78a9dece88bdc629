/* in_parts.c - values that lie in parts: what they are is the sum of what devices have.
 *
 * A program says so (an unreduced sharding), or a sum over a cut dimension makes it (partial_sums.c).
 * Both forms of such a value are kept: the parts, for users that ask for just these, and their sum,
 * which all others work with; what has no user is dropped as dead code.  So parts are added up where
 * their sum is first needed, however many operations stand before that:
 *
 *     g = dot x', dy         in parts          g = dot x', dy         on every device's rows
 *     a' = add a, g          in parts          a' = add a, g          part by part: it is linear
 *     w' = w - 0.1 a'                          all_reduce a', then the rest
 *
 * Parts of what has none: a device's own shard among zeros, if shards make it up, else all of it on
 * one device and zeros on the others. */
#include "engine/passes/place/place.h"

#include "base/fail.h"

#include <string.h>

ValueId parts_sum(Placer *z, ValueId part, Tiling t, const Loc *loc)
{
    return t.nparts ? parts_combine(z, part, t, OP_ADD, loc) : part;
}

void parts_keep(Placer *z, ValueId v, Tiling t, ValueId part, const Loc *loc)
{
    if (t.nparts)
        shard_hold(z, v, t, part);
    subst_set(&z->shards, v, parts_sum(z, part, t, loc));
}

ValueId parts_split(Placer *z, ValueId shard, Tiling want)
{
    if (!want.nparts)
        return shard;
    bool *has_it = ARENA_ARRAY(z->m->arena, bool, z->ndevices);
    for (int d = 0; d < z->ndevices; d++)
        has_it[d] = want.part_of[d] == 0;
    ValueId zeros = build_zeros(z, type_of(z->m, shard));
    return build_select(z, build_own(z, I1, has_it), shard, zeros);
}

/* ---- linear operations ---- */

static bool is_zero(const Module *m, ValueId v)
{
    static const char zeros[16];
    NodeId def = value_def(m, v);
    if (def && node_at(m, def)->op == OP_BROADCAST)
        return is_zero(m, node_at(m, def)->in[0]);
    const Dense *c = value_constant(m, v);
    return c && c->is_splat &&
           memcmp(c->data, zeros, (size_t)element_info[c->type.element].bytes) == 0;
}

static bool has_part(const Placer *z, ValueId v, Tiling want)
{
    for (int i = z->nheld - 1; i >= 0; i--)
        if (z->held[i].whole == v && z->held[i].shard && tiling_equal(z->held[i].tiling, want))
            return true;
    return false;
}

static bool is_spread(const Module *m, ValueId v)
{
    NodeId def = value_def(m, v);
    bool is_broadcast = def && node_at(m, def)->op == OP_BROADCAST;
    return value_constant(m, v) || (is_broadcast && type_of(m, node_at(m, def)->in[0]).rank == 0);
}

/* Of a linear operation: does operand k come in parts if the result does?  Others are as they are. */
static bool is_linear_in(const Module *m, const Node *node, int k)
{
    Element e = type_of(m, node->out).element;
    switch (node->op) {
    case OP_ADD: return element_info[e].kind != BOOLEAN;
    case OP_SUB:
    case OP_NEG:
    case OP_RESHAPE:
    case OP_TRANSPOSE:
    case OP_SLICE:
    case OP_REVERSE:
    case OP_CONCATENATE: return true;
    case OP_MUL: return is_spread(m, node->in[1 - k]) && !is_spread(m, node->in[k]);
    case OP_CONVERT: return element_info[e].kind == FLOAT || element_info[e].kind == COMPLEX;
    case OP_DIV:
    case OP_DYNAMIC_SLICE: return k == 0;
    case OP_DYNAMIC_UPDATE: return k < 2;
    case OP_SELECT: return k > 0;
    default: return false;
    }
}

static Tiling with_parts(Tiling t, Tiling parts)
{
    t.nparts = parts.nparts;
    t.part_of = parts.part_of;
    return t;
}

/* How the operands of v's operation must lie for it to be done part by part, and whether they do. */
static bool infer_linear(Placer *z, NodeId n, Tiling want, Placement *p)
{
    const Node *node = node_at(z->m, n);
    Tiling *in = ARENA_ARRAY(z->scratch, Tiling, node->nin + 1);
    bool any = false;
    for (int k = 0; k < node->nin; k++)
        in[k] = z->tilings[node->in[k]];
    *p = propagate(z->m, z->scratch, n, in, z->ndevices);
    if (!p->is_piecewise || node->nout != 1 || !tiling_equal(p->results[0], tiling_summed(want)))
        return false;
    for (int k = 0; k < node->nin; k++)
        if (is_linear_in(z->m, node, k)) {
            p->wants[k] = with_parts(p->wants[k], want);
            bool is_held = has_part(z, node->in[k], p->wants[k]);
            if (!is_held && !is_zero(z->m, node->in[k]))
                return false;
            any = any || is_held;
        } else if (!shard_is_near(z, node->in[k], p->wants[k])) {
            return false;
        }
    return any;
}

/* v part by part, if what makes it can be done so. */
static ValueId linear_part(Placer *z, ValueId v, Tiling want)
{
    Placement p;
    NodeId def = value_def(z->m, v);
    if (!def || !infer_linear(z, def, want, &p))
        return 0;
    ValueId sum = subst_get(&z->shards, v);
    place_on_shards(z, def, &p);
    ValueId part = subst_get(&z->shards, v);
    subst_set(&z->shards, v, sum);
    return part;
}

/* ---- parts of what has none ---- */

/* Do the shards of `has`, each with zeros around it, add up to what lies as wanted?  Then devices with
 * one part have one shard, and those with different parts different ones. */
static bool makes_up(Tiling has, Tiling want)
{
    int64_t ratio = 1;
    for (int d = 0; d < has.rank; d++)
        ratio *= has.tiles[d] / want.tiles[d];
    if (!tiling_refines(has, want) || ratio != want.nparts)
        return false;
    for (int a = 0; a < has.ndevices; a++)
        for (int b = 0; b < a; b++)
            if (is_same_tile(want, a, b) &&
                is_same_tile(has, a, b) != (want.part_of[a] == want.part_of[b]))
                return false;
    return true;
}

static ValueId shard_among_zeros(Placer *z, ValueId v, Tiling want)
{
    Tiling has = z->tilings[v];
    if (z->is_waiting[v] || z->is_lost[v] || !makes_up(has, want))
        return 0;
    ValueId shard = subst_get(&z->shards, v), in[MAX_RANK + 2];
    Type own = type_of(z->m, shard), all = local_type(z, type_of(z->m, v), want);
    in[0] = build_zeros(z, all);
    in[1] = shard;
    for (int d = 0; d < own.rank; d++)
        in[d + 2] = tile_start(z, want, has, d, own.dims[d]);
    return build_node(z->m, z->to, OP_DYNAMIC_UPDATE, own.rank + 2, in, all, NULL, NULL);
}

ValueId parts_of(Placer *z, ValueId v, Tiling want)
{
    if (is_zero(z->m, v))
        return shard_of(z, v, tiling_summed(want));
    ValueId part = linear_part(z, v, want);
    if (!part)
        part = shard_among_zeros(z, v, want);
    if (part)
        return part;
    ValueId sum = shard_of(z, v, tiling_summed(want));
    return sum ? parts_split(z, sum, want) : 0;
}

/* ---- sums that are cut ---- */

/* The part of v that the region being made has, of a sum that lies so; 0: none. */
static ValueId find_part(const Placer *z, ValueId v, Tiling sum, Tiling *t)
{
    for (int i = z->nheld - 1; i >= 0; i--) {
        const Held *h = &z->held[i];
        if (h->whole == v && h->shard && h->tiling.nparts &&
            tiling_equal(tiling_summed(h->tiling), sum) &&
            value_at(z->m, h->shard)->region == z->to) {
            *t = h->tiling;
            return h->shard;
        }
    }
    return 0;
}

/* Members in the order of the tiles that they are to have along d; false: not one for each. */
static bool order_by_tile(const Placer *z, Matrix *groups, Tiling has, Tiling want, int d)
{
    int64_t ratio = want.tiles[d] / has.tiles[d], n = groups->rows * groups->cols;
    int64_t *at = ARENA_ARRAY(z->m->arena, int64_t, n);
    if (groups->cols != ratio)
        return false;
    for (int64_t i = 0; i < n; i++)
        at[i] = -1;
    for (int64_t i = 0; i < n; i++) {
        int64_t tile = want.tile_of[groups->at[i] * want.rank + d] % ratio;
        int64_t *place = &at[i / ratio * ratio + tile];
        if (*place >= 0)
            return false;
        *place = groups->at[i];
    }
    groups->at = at;
    return true;
}

ValueId parts_scatter(Placer *z, ValueId v, Tiling has, Tiling want)
{
    Module *m = z->m;
    Tiling t;
    Matrix groups;
    int dim = -1, ncut = 0;
    for (int d = 0; d < has.rank; d++)
        if (want.tiles[d] != has.tiles[d]) {
            dim = d;
            ncut++;
        }
    ValueId part = ncut == 1 ? find_part(z, v, has, &t) : 0;
    if (!part || !form_groups(z, t, &groups) || !order_by_tile(z, &groups, has, want, dim))
        return 0;
    ReduceScatterAttrs *attrs = ARENA_NEW(m->arena, ReduceScatterAttrs);
    attrs->replica_groups = groups_in_replicas(z, groups);
    attrs->channel_id = 1;
    attrs->use_global_device_ids = true;
    attrs->scatter_dimension = dim;
    NodeId def = value_def(m, v);
    const Loc *loc = def ? node_at(m, def)->loc : NULL;
    Type local = local_type(z, type_of(m, v), want);
    RegionId region = build_reducer(m, OP_ADD, local.element, loc);
    NodeId n = node_new(m, OP_REDUCE_SCATTER, 1, &part, 1, &local, 1, &region, attrs, loc);
    region_append(m, z->to, n);
    return node_at(m, n)->out;
}

/* ---- what the program says ---- */

bool parts_declared(const Placer *z, ValueId v, Tiling *t)
{
    NodeId def = value_def(z->m, v);
    Error *error = NULL;
    if (!def || !is_mark(node_at(z->m, def)) || (error = mark_tiling(z, node_at(z->m, def), t))) {
        error_free(error);
        return false;
    }
    return t->nparts != 0;
}
