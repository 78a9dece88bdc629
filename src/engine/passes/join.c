/* join.c - runs of operations over whole arrays become tutti.global nodes.
 *
 * In come operations of the program as read that no device can do on its pieces alone, and
 * wishes to have values laid out differently; out goes one node at which all devices meet:
 *
 *     pieces of a, b        tutti.global (a, b) {       joined by in_tilings
 *                             c = ... whole a, b ...
 *     pieces of c, b          return c, b               cut by out_tilings
 *                           }
 *
 * Operations are collected as long as nobody asks for a piece of what they give, so that many
 * share one meeting.  Constants and broadcasts are made again inside rather than handed in. */
#include "engine/passes/place.h"

#include "base/fail.h"

#include <stdlib.h>
#include <string.h>

void run_add(Placer *z, NodeId n)
{
    if (z->nrun == z->run_room) {
        z->run_room = z->run_room ? z->run_room * 2 : 64;
        z->run = realloc(z->run, sizeof *z->run * (size_t)z->run_room);
        if (!z->run)
            fail("no memory for a run of %d operations", z->run_room);
    }
    z->run[z->nrun++] = n;
    const Node *node = node_at(z->m, n);
    for (int i = 0; i < node->nout; i++)
        z->is_waiting[node->out + (uint32_t)i] = true;
}

void run_ask(Placer *z, ValueId v, Tiling want)
{
    for (int i = z->nheld - 1; i >= 0; i--)
        if (z->held[i].whole == v && tiling_equal(z->held[i].tiling, want))
            return;
    piece_hold(z, v, want, 0);
    z->nasked++;
}

bool run_has_effect(const Placer *z)
{
    for (int i = 0; i < z->nrun; i++)
        if (node_has_effect(z->m, z->run[i]))
            return true;
    return false;
}

/* What a tutti.global takes and gives while it is being put together. */
typedef struct Joint {
    int nin, nout, nmade;
    ValueId *in;      /* whole values that are handed in */
    NodeId *made;     /* nodes from outside that are made again inside, in order */
    ValueId *out;     /* whole values */
    Tiling *tilings;  /* of out */
    int *answers;     /* the entry of z->held that an output answers, or -1 */
    bool *is_in;      /* by whole value */
    bool *is_out;     /* by whole value: given as it lies */
    uint32_t *inside; /* by whole value: uses by the run */
} Joint;

static bool is_made_inside(const Node *node)
{
    return node->op == OP_CONSTANT || node->op == OP_IOTA || node->op == OP_BROADCAST;
}

/* v comes from outside the run: it is handed in, or made again of what is. */
static void take(Placer *z, Joint *j, ValueId v)
{
    NodeId def = value_def(z->m, v);
    if (z->is_waiting[v] || j->is_in[v])
        return;
    j->is_in[v] = true;
    if (!def || !is_made_inside(node_at(z->m, def))) {
        j->in[j->nin++] = v;
        return;
    }
    for (int i = 0; i < node_at(z->m, def)->nin; i++)
        take(z, j, node_at(z->m, def)->in[i]);
    j->made[j->nmade++] = def;
}

/* Operands that come from outside the run: not made by it, nor by regions within it. */
static void take_operands(Placer *z, Joint *j, NodeId n, bool *is_inner)
{
    const Node *node = node_at(z->m, n);
    for (int i = 0; i < node->nin; i++) {
        j->inside[node->in[i]]++;
        if (!is_inner[node->in[i]])
            take(z, j, node->in[i]);
    }
    for (int k = 0; k < node->nregions; k++) {
        const Region *region = region_at(z->m, node->regions[k]);
        for (int i = 0; i < region->nargs; i++)
            is_inner[region->args + (uint32_t)i] = true;
        for (int i = 0; i < region->nnodes; i++) {
            take_operands(z, j, region->nodes[i], is_inner);
            const Node *inner = node_at(z->m, region->nodes[i]);
            for (int o = 0; o < inner->nout; o++)
                is_inner[inner->out + (uint32_t)o] = true;
        }
    }
}

static void give(const Placer *z, Joint *j, ValueId v, Tiling tiling, int answers)
{
    j->is_out[v] = j->is_out[v] || tiling_equal(tiling, z->tilings[v]);
    j->out[j->nout] = v;
    j->tilings[j->nout] = tiling;
    j->answers[j->nout++] = answers;
}

/* Outputs: what was asked for, then what the rest of the program uses of the run. */
static void collect_outputs(Placer *z, Joint *j, NodeId last)
{
    for (int i = 0; i < z->nheld; i++)
        if (!z->held[i].piece) {
            take(z, j, z->held[i].whole);
            give(z, j, z->held[i].whole, z->held[i].tiling, i);
        }
    if (last)
        for (int i = 0; i < node_at(z->m, last)->nin; i++)
            j->inside[node_at(z->m, last)->in[i]]++;
    for (int i = 0; i < z->nrun; i++) {
        const Node *node = node_at(z->m, z->run[i]);
        for (int k = 0; k < node->nout; k++) {
            ValueId v = node->out + (uint32_t)k;
            if (z->uses[v] > j->inside[v] && !j->is_out[v])
                give(z, j, v, z->tilings[v], -1);
        }
    }
}

static void *rows(Arena *arena, uint32_t n, size_t size)
{
    return arena_alloc(arena, (size_t)n * size + 1);
}

static Joint joint_new(Placer *z, Arena *scratch, NodeId last)
{
    uint32_t n = z->nwhole, outputs = z->nwhole + (uint32_t)z->nheld;
    Joint j = { .in = rows(scratch, n, sizeof *j.in),
                .made = rows(scratch, n, sizeof *j.made),
                .out = rows(scratch, outputs, sizeof *j.out),
                .tilings = rows(scratch, outputs, sizeof *j.tilings),
                .answers = rows(scratch, outputs, sizeof *j.answers),
                .is_in = rows(scratch, n, sizeof *j.is_in),
                .is_out = rows(scratch, n, sizeof *j.is_out),
                .inside = rows(scratch, n, sizeof *j.inside) };
    bool *is_inner = rows(scratch, n, sizeof *is_inner);
    for (int i = 0; i < z->nrun; i++)
        take_operands(z, &j, z->run[i], is_inner);
    collect_outputs(z, &j, last);
    return j;
}

/* The region over whole arrays. */
static RegionId build_region(Placer *z, const Joint *j)
{
    Module *m = z->m;
    Subst inner = subst_new(m);
    Type *types = ARENA_ARRAY(m->arena, Type, j->nin + 1);
    for (int i = 0; i < j->nin; i++)
        types[i] = type_of(m, j->in[i]);
    RegionId r = region_new(m, 0, j->nin, types);
    for (int i = 0; i < j->nin; i++)
        subst_set(&inner, j->in[i], region_at(m, r)->args + (uint32_t)i);
    for (int i = 0; i < j->nmade; i++)
        region_append(m, r, node_copy(m, j->made[i], &inner));
    for (int i = 0; i < z->nrun; i++) {
        const Node *node = node_at(m, z->run[i]);
        if (is_mark(node))
            subst_set(&inner, node->out, node->in[0]);
        else
            region_append(m, r, node_copy(m, z->run[i], &inner));
    }
    static const NoAttrs none;
    ValueId *results = ARENA_ARRAY(m->arena, ValueId, j->nout + 1);
    for (int i = 0; i < j->nout; i++)
        results[i] = subst_get(&inner, j->out[i]);
    region_append(m, r, node_new(m, OP_RETURN, j->nout, results, 0, NULL, 0, NULL, &none, NULL));
    subst_free(&inner);
    return r;
}

static const Loc *run_loc(const Placer *z)
{
    return z->nrun ? node_at(z->m, z->run[0])->loc : NULL;
}

/* The node itself, and what its results are pieces of. */
static void append_global(Placer *z, Joint *j, RegionId body)
{
    Module *m = z->m;
    ValueId *in = ARENA_ARRAY(m->arena, ValueId, j->nin + 1);
    Tiling *in_tilings = ARENA_ARRAY(m->arena, Tiling, j->nin + 1);
    Tiling *out_tilings = ARENA_ARRAY(m->arena, Tiling, j->nout + 1);
    Type *types = ARENA_ARRAY(m->arena, Type, j->nout + 1);
    for (int i = 0; i < j->nin; i++) {
        in[i] = subst_get(&z->pieces, j->in[i]);
        in_tilings[i] = z->tilings[j->in[i]];
    }
    for (int i = 0; i < j->nout; i++) {
        out_tilings[i] = j->tilings[i];
        types[i] = local_type(z, type_of(m, j->out[i]), j->tilings[i]);
    }
    GlobalAttrs *attrs = ARENA_NEW(m->arena, GlobalAttrs);
    attrs->in_tilings = (Tilings){ j->nin, in_tilings };
    attrs->out_tilings = (Tilings){ j->nout, out_tilings };
    NodeId n = node_new(m, OP_GLOBAL, j->nin, in, j->nout, types, 1, &body, attrs, run_loc(z));
    region_append(m, z->to, n);
    for (int i = 0; i < j->nout; i++) {
        ValueId piece = node_at(m, n)->out + (uint32_t)i;
        if (j->answers[i] >= 0)
            z->held[j->answers[i]].piece = piece;
        if (z->is_waiting[j->out[i]] && tiling_equal(j->tilings[i], z->tilings[j->out[i]]))
            subst_set(&z->pieces, j->out[i], piece);
    }
}

void run_flush(Placer *z, NodeId last)
{
    if (z->nrun == 0 && z->nasked == 0)
        return;
    Arena *scratch = arena_new();
    Joint j = joint_new(z, scratch, last);
    RegionId body = build_region(z, &j);
    append_global(z, &j, body);
    arena_free(scratch);
    for (int i = 0; i < z->nrun; i++) {
        const Node *node = node_at(z->m, z->run[i]);
        for (int k = 0; k < node->nout; k++)
            z->is_waiting[node->out + (uint32_t)k] = false;
    }
    z->nrun = z->nasked = 0;
}
