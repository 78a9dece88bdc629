/* unroll_rotations.c - loops that hand large arrays on, from one place to the next.
 *
 *   while (a, b) { c = f(a, b); return b, c }                       every round copies b, and then c
 *   while (a, b) { c = f(a, b); d = f(b, c); return c, d }          nothing is copied
 *
 *   while (a) { b = a[1:] - a[:-1] ...; return b }                  b is not a's place, and is copied there
 *   while (a) { b = a[1:] - a[:-1] ...; c = b[1:] ...; return c }   c is
 *
 * Waves by their last two states, Fibonacci's recurrence, two arrays that change places, stencils: what a loop carries
 * has one address in all rounds (analysis/liveness.c), so what comes back elsewhere must be copied there.  After
 * as many rounds as there are places on its way an array is new, or back: so many as the longest way has are written
 * out, if it is known how often the loop goes round.  What does not fill such a turn goes before the loop.  The
 * condition is asked once a turn, so it must do nothing but answer. */
#include "engine/analysis/analysis.h"
#include "engine/passes/passes.h"
#include "hlo/rewrite.h"

enum {
    LARGE_BYTES = 16 << 10, /* that are worth it */
    MOST_ROUNDS = 4,        /* written out */
    MOST_NODES = 256,       /* that they have, all together */
};

typedef struct Unroll {
    Module *m;
    Subst map; /* results of loops */
    TripCounts trips;
    bool any;
} Unroll;

/* Which carried value becomes number i of the next round; -1: it is computed, or small. */
static int source(const Module *m, const Node *loop, int i)
{
    const Region *body = region_at(m, loop->regions[1]);
    ValueId v = region_return(m, loop->regions[1])->in[i];
    bool is_carried = v >= body->args && v < body->args + (ValueId)body->nargs;
    return is_carried && type_bytes(type_of(m, v)) >= LARGE_BYTES ? (int)(v - body->args) : -1;
}

/* Is v made of a carried value whose elements it takes from other places, so that it cannot be written over
 * it?  What updates a part of it can. */
static bool is_moved(const Module *m, ValueId v, ValueId carried, bool elsewhere, int *left)
{
    NodeId def = value_def(m, v);
    if (v == carried || --*left < 0 || !def)
        return v == carried && elsewhere;
    const Node *node = node_at(m, def);
    OpKind kind = op_info[node->op].kind;
    if (kind != KIND_MAP && kind != KIND_VIEW && node->op != OP_REDUCE_WINDOW &&
        node->op != OP_CONVOLUTION)
        return false;
    elsewhere |= kind != KIND_MAP && node->op != OP_RESHAPE;
    for (int i = 0; i < node->nin; i++)
        if (is_moved(m, node->in[i], carried, elsewhere, left))
            return true;
    return false;
}

/* Does the body take large values that it has made at other places?  What fuse then makes of a round would
 * depend on the round before. */
static bool moves_its_own(const Module *m, RegionId body)
{
    const Region *region = region_at(m, body);
    for (int i = 0; i < region->nnodes; i++) {
        const Node *node = node_at(m, region->nodes[i]);
        bool moves = op_info[node->op].kind == KIND_VIEW && node->op != OP_RESHAPE &&
                     node->op != OP_BROADCAST && node->op != OP_CONCATENATE && node->nin > 0;
        if (moves && value_def(m, node->in[0]) && value_at(m, node->in[0])->region == body &&
            type_bytes(type_of(m, node->in[0])) >= LARGE_BYTES)
            return true;
    }
    return false;
}

/* Is number i made anew in every round, in another place? */
static bool is_made_elsewhere(const Module *m, const Node *loop, int i)
{
    int left = 200; /* operations looked at */
    ValueId carried = region_at(m, loop->regions[1])->args + (ValueId)i;
    ValueId next = region_return(m, loop->regions[1])->in[i];
    return type_bytes(type_of(m, carried)) >= LARGE_BYTES && !moves_its_own(m, loop->regions[1]) &&
           is_moved(m, next, carried, false, &left);
}

/* The rounds after which the longest way has come to its end; 1: nothing has to be copied. */
static int turn_of(const Module *m, const Node *loop)
{
    int longest = 1;
    for (int i = 0; i < loop->nin; i++) {
        int n = 0, at = i;
        do {
            n++;
            at = source(m, loop, at);
        } while (at >= 0 && at != i && n <= MOST_ROUNDS);
        n = n < 2 && is_made_elsewhere(m, loop, i) ? 2 : n;
        longest = n > longest ? n : longest;
    }
    return longest;
}

/* Operations of which several in a row are worth as much as one, and no waiting for others. */
static bool is_plain(const Module *m, RegionId r)
{
    const Region *region = region_at(m, r);
    for (int i = 0; i + 1 < region->nnodes; i++) {
        const Node *node = node_at(m, region->nodes[i]);
        OpKind kind = op_info[node->op].kind;
        bool computes = kind == KIND_MAP || kind == KIND_VIEW || kind == KIND_FOLD ||
                        kind == KIND_BLOCK || node->op == OP_CONSTANT;
        if (!computes || op_info[node->op].effect != EFFECT_NONE)
            return false;
    }
    return true;
}

/* Appends a round to r; values are what it begins with, and then what it gives. */
static void round_append(Module *m, RegionId body, RegionId r, ValueId *values)
{
    Subst map = subst_new(m);
    int n = region_at(m, body)->nargs;
    for (int i = 0; i < n; i++)
        subst_set(&map, region_at(m, body)->args + (ValueId)i, values[i]);
    region_copy_into(m, body, r, &map);
    for (int i = 0; i < n; i++)
        values[i] = subst_get(&map, region_return(m, body)->in[i]);
    subst_free(&map);
}

static RegionId body_of_turn(Module *m, const Node *loop, int rounds)
{
    int n = loop->nin;
    Type *types = ARENA_ARRAY(m->arena, Type, n);
    ValueId *values = ARENA_ARRAY(m->arena, ValueId, n);
    for (int i = 0; i < n; i++)
        types[i] = type_of(m, loop->in[i]);
    RegionId turn = region_new(m, 0, n, types);
    for (int i = 0; i < n; i++)
        values[i] = region_at(m, turn)->args + (ValueId)i;
    while (rounds--)
        round_append(m, loop->regions[1], turn, values);
    build_return(m, turn, n, values, loop->loc);
    return turn;
}

/* The loop by turns, at the end of r, behind the rounds that are left over. */
static void loop_append(Unroll *u, RegionId r, NodeId id, int turn)
{
    Module *m = u->m;
    Node loop = *node_at(m, id);
    ValueId *values = ARENA_ARRAY(m->arena, ValueId, loop.nin);
    Type *types = ARENA_ARRAY(m->arena, Type, loop.nin);
    for (int i = 0; i < loop.nin; i++) {
        values[i] = loop.in[i];
        types[i] = type_of(m, values[i]);
    }
    for (int64_t left = u->trips.at[id] % turn; left > 0; left--)
        round_append(m, loop.regions[1], r, values);
    RegionId regions[] = { loop.regions[0], body_of_turn(m, &loop, turn) };
    NodeId made =
        node_new(m, OP_WHILE, loop.nin, values, loop.nin, types, 2, regions, loop.attrs, loop.loc);
    node_at(m, made)->extra = loop.extra;
    region_append(m, r, made);
    for (int i = 0; i < loop.nin; i++)
        subst_set(&u->map, loop.out + (ValueId)i, node_at(m, made)->out + (ValueId)i);
}

static bool is_worth(const Unroll *u, NodeId id, int turn)
{
    const Node *loop = node_at(u->m, id);
    return turn > 1 && turn <= MOST_ROUNDS && u->trips.at[id] >= 2 * turn &&
           region_at(u->m, loop->regions[1])->nnodes * turn <= MOST_NODES &&
           is_plain(u->m, loop->regions[0]) && is_plain(u->m, loop->regions[1]);
}

static MUST_USE Error *unroll(Module *m, RegionId r, NodeId n, void *user)
{
    Unroll *u = user;
    int turn = node_flow(node_at(m, n)) == FLOW_LOOP ? turn_of(m, node_at(m, n)) : 1;
    if (is_worth(u, n, turn))
        loop_append(u, r, n, turn);
    else
        region_append(m, r, n);
    return NULL;
}

static void note_loops(Module *m, NodeId n, void *user)
{
    Unroll *u = user;
    u->any = u->any ||
             (node_flow(node_at(m, n)) == FLOW_LOOP && is_worth(u, n, turn_of(m, node_at(m, n))));
}

Error *pass_unroll_rotations(Module *m)
{
    RegionId main = module_main(m);
    Unroll u = { .m = m, .map = subst_new(m), .trips = count_trips(m, main) };
    region_walk(m, main, note_loops, &u);
    Error *error = u.any ? region_rewrite(m, main, &u.map, unroll, &u) : NULL;
    subst_free(&u.map);
    return error;
}
