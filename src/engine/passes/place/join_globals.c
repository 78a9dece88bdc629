/* join_globals.c - operations over whole arrays, collected, become tutti.global nodes.
 *
 * In come operations of the program as read that no device can do on its shards alone, and
 * values that a user needs in another layout; out goes one node at which all devices meet:
 *
 *     shards of a, b        tutti.global (a, b) {       joined by in_tilings
 *                             c = ... whole a, b ...
 *     shards of c, b          return c, b               cut by out_tilings
 *                           }
 *
 * Operations are collected as long as no operation asks for a shard of what they give, so that many
 * share one collective.  Constants and broadcasts are made again inside rather than handed in. */
#include "engine/passes/place/place.h"

#include "base/grow.h"

#include <stdlib.h>

void pending_add(Placer *z, NodeId n)
{
    HEAP_ROOM(z->pending, z->npending, &z->pending_room);
    z->pending[z->npending++] = n;
    const Node *node = node_at(z->m, n);
    for (int i = 0; i < node->nout; i++)
        z->is_waiting[node->out + (uint32_t)i] = true;
}

void pending_ask(Placer *z, ValueId v, Tiling want)
{
    for (int i = z->nheld - 1; i >= 0; i--)
        if (z->held[i].whole == v && tiling_equal(z->held[i].tiling, want))
            return;
    shard_hold(z, v, want, 0);
    z->nasked++;
}

bool pending_has_effect(const Placer *z)
{
    for (int i = 0; i < z->npending; i++)
        if (node_has_effect(z->m, z->pending[i]))
            return true;
    return false;
}

/* What is known of a whole value while a tutti.global is made. */
typedef struct Mark {
    uint32_t joint;  /* which one; marks of earlier ones count as zero */
    uint32_t inside; /* uses by what is pending */
    bool is_in;      /* handed in, or made again */
    bool is_inner;   /* made in a region of what is pending */
    bool is_out;     /* given as it lies */
} Mark;

/* What a tutti.global takes and gives while it is being made. */
typedef struct Joint {
    int nin, nout, nmade, in_room, out_room, made_room;
    ValueId *in;  /* whole values that are handed in */
    NodeId *made; /* nodes from outside that are made again inside, in order */
    struct Output {
        ValueId v; /* a whole value */
        Tiling tiling;
        int answers; /* the entry of z->held that it answers, or -1 */
    } *out;
} Joint;

static Mark *mark_of(Placer *z, ValueId v)
{
    Mark *mark = &z->marks[v];
    if (mark->joint != z->njoints)
        *mark = (Mark){ .joint = z->njoints };
    return mark;
}

/* Can v be made again inside?  What a broadcast spreads may itself have been made in an earlier
 * tutti.global that did not give it out. */
static bool is_made_inside(const Placer *z, ValueId v)
{
    NodeId def = value_def(z->m, v);
    const Node *node = def ? node_at(z->m, def) : NULL;
    if (!node || (node->op != OP_CONSTANT && node->op != OP_IOTA && node->op != OP_BROADCAST))
        return false;
    for (int i = 0; i < node->nin; i++)
        if (subst_get(&z->shards, node->in[i]) == node->in[i] && !is_made_inside(z, node->in[i]))
            return false;
    return true;
}

/* v comes from outside: it is handed in, or made again of what is. */
static void take(Placer *z, Joint *j, ValueId v)
{
    NodeId def = value_def(z->m, v);
    if (z->is_waiting[v] || mark_of(z, v)->is_in)
        return;
    mark_of(z, v)->is_in = true;
    if (!is_made_inside(z, v)) {
        HEAP_ROOM(j->in, j->nin, &j->in_room);
        j->in[j->nin++] = v;
        return;
    }
    for (int i = 0; i < node_at(z->m, def)->nin; i++)
        take(z, j, node_at(z->m, def)->in[i]);
    HEAP_ROOM(j->made, j->nmade, &j->made_room);
    j->made[j->nmade++] = def;
}

/* Operands that come from outside: made neither by pending operations nor in regions of them. */
static void take_operands(Placer *z, Joint *j, NodeId n)
{
    const Node *node = node_at(z->m, n);
    for (int i = 0; i < node->nin; i++) {
        mark_of(z, node->in[i])->inside++;
        if (!mark_of(z, node->in[i])->is_inner)
            take(z, j, node->in[i]);
    }
    for (int k = 0; k < node->nregions; k++) {
        const Region *region = region_at(z->m, node->regions[k]);
        for (int i = 0; i < region->nargs; i++)
            mark_of(z, region->args + (uint32_t)i)->is_inner = true;
        for (int i = 0; i < region->nnodes; i++) {
            take_operands(z, j, region->nodes[i]);
            const Node *inner = node_at(z->m, region->nodes[i]);
            for (int o = 0; o < inner->nout; o++)
                mark_of(z, inner->out + (uint32_t)o)->is_inner = true;
        }
    }
}

static void give(Placer *z, Joint *j, ValueId v, Tiling tiling, int answers)
{
    if (tiling_equal(tiling, z->tilings[v]))
        mark_of(z, v)->is_out = true;
    HEAP_ROOM(j->out, j->nout, &j->out_room);
    j->out[j->nout++] = (struct Output){ v, tiling, answers };
}

/* Outputs: what was asked for, then what the rest of the program uses of pending operations. */
static void collect_outputs(Placer *z, Joint *j, NodeId last)
{
    for (int i = 0; z->nasked && i < z->nheld; i++)
        if (!z->held[i].shard) {
            take(z, j, z->held[i].whole);
            give(z, j, z->held[i].whole, z->held[i].tiling, i);
        }
    if (last)
        for (int i = 0; i < node_at(z->m, last)->nin; i++)
            mark_of(z, node_at(z->m, last)->in[i])->inside++;
    for (int i = 0; i < z->npending; i++) {
        const Node *node = node_at(z->m, z->pending[i]);
        for (int k = 0; k < node->nout; k++) {
            ValueId v = node->out + (uint32_t)k;
            if (z->uses[v] > mark_of(z, v)->inside && !mark_of(z, v)->is_out)
                give(z, j, v, z->tilings[v], -1);
        }
    }
}

static Joint joint_new(Placer *z, NodeId last)
{
    Joint j = { 0 };
    if (!z->marks)
        z->marks = ARENA_ARRAY(z->scratch, Mark, z->nwhole);
    z->njoints++;
    for (int i = 0; i < z->npending; i++)
        take_operands(z, &j, z->pending[i]);
    collect_outputs(z, &j, last);
    return j;
}

/* The region over whole arrays. */
static RegionId build_region(Placer *z, const Joint *j)
{
    Module *m = z->m;
    Subst *inner = &z->inner;
    Type *types = ARENA_ARRAY(m->arena, Type, j->nin + 1);
    for (int i = 0; i < j->nin; i++)
        types[i] = type_of(m, j->in[i]);
    RegionId r = region_new(m, 0, j->nin, types);
    for (int i = 0; i < j->nin; i++)
        subst_set(inner, j->in[i], region_at(m, r)->args + (uint32_t)i);
    for (int i = 0; i < j->nmade; i++)
        region_append(m, r, node_copy(m, j->made[i], inner));
    for (int i = 0; i < z->npending; i++) {
        const Node *node = node_at(m, z->pending[i]);
        if (is_mark(node))
            subst_set(inner, node->out, node->in[0]);
        else
            region_append(m, r, node_copy(m, z->pending[i], inner));
    }
    ValueId *results = ARENA_ARRAY(m->arena, ValueId, j->nout + 1);
    for (int i = 0; i < j->nout; i++)
        results[i] = subst_get(inner, j->out[i].v);
    build_return(m, r, j->nout, results, NULL);
    return r;
}

static const Loc *run_loc(const Placer *z)
{
    return z->npending ? node_at(z->m, z->pending[0])->loc : NULL;
}

/* The node itself, and what its results are shards of. */
static void append_global(Placer *z, Joint *j, RegionId body)
{
    Module *m = z->m;
    ValueId *in = ARENA_ARRAY(m->arena, ValueId, j->nin + 1);
    Tiling *in_tilings = ARENA_ARRAY(m->arena, Tiling, j->nin + 1);
    Tiling *out_tilings = ARENA_ARRAY(m->arena, Tiling, j->nout + 1);
    Type *types = ARENA_ARRAY(m->arena, Type, j->nout + 1);
    for (int i = 0; i < j->nin; i++) {
        in[i] = subst_get(&z->shards, j->in[i]);
        in_tilings[i] = tiling_copy(m->arena, z->tilings[j->in[i]]);
    }
    for (int i = 0; i < j->nout; i++) {
        out_tilings[i] = tiling_copy(m->arena, j->out[i].tiling);
        types[i] = local_type(z, type_of(m, j->out[i].v), j->out[i].tiling);
    }
    GlobalAttrs *attrs = ARENA_NEW(m->arena, GlobalAttrs);
    attrs->in_tilings = (Tilings){ j->nin, in_tilings };
    attrs->out_tilings = (Tilings){ j->nout, out_tilings };
    NodeId n = node_new(m, OP_GLOBAL, j->nin, in, j->nout, types, 1, &body, attrs, run_loc(z));
    region_append(m, z->to, n);
    for (int i = 0; i < j->nout; i++) {
        ValueId shard = node_at(m, n)->out + (uint32_t)i;
        struct Output out = j->out[i];
        if (out.answers >= 0)
            z->held[out.answers].shard = shard;
        if (z->is_waiting[out.v] && tiling_equal(out.tiling, z->tilings[out.v]))
            subst_set(&z->shards, out.v, shard);
    }
}

void pending_flush(Placer *z, NodeId last)
{
    if (z->npending == 0 && z->nasked == 0)
        return;
    Joint j = joint_new(z, last);
    RegionId body = build_region(z, &j);
    append_global(z, &j, body);
    heap_free(j.in);
    heap_free(j.made);
    heap_free(j.out);
    for (int i = 0; i < z->npending; i++) {
        const Node *node = node_at(z->m, z->pending[i]);
        for (int k = 0; k < node->nout; k++) {
            ValueId v = node->out + (uint32_t)k;
            z->is_waiting[v] = false;
            z->is_lost[v] = subst_get(&z->shards, v) == v;
        }
    }
    z->npending = z->nasked = 0;
}
