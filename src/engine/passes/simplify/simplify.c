/* simplify.c - the same program with less in it.
 *
 * In goes the refined main; out comes one that computes the same values with fewer and plainer
 * operations.  One walk in program order rebuilds every region:
 *
 *     node, operands simple already
 *        |  all operands constant?        -> a constant            (constants.c)
 *        |  hands its operand on?         -> the operand           (identity.c)
 *        |  low bits of integers?         -> made of low bits      (narrow_integers.c)
 *        |  2^x or log2 x by way of e?    -> by base 2             (base_two.c)
 *        |  row numbers and column numbers? -> element numbers     (element_numbers.c)
 *        |  a reduce of little?          -> a plainer one, or none (reductions.c)
 *        |  a reduce of few elements?    -> operations on arrays  (short_reductions.c)
 *        |  a transpose beside a dot or a triangle? -> it without that (fold_transposes.c)
 *        |  a dot that a loop does better -> broadcast, mul, reduce (expand_dots.c)
 *        |  a small window, in a loop?    -> shifted images         (filters.c)
 *        |  a convolution as derivatives make it -> plain ones, dots (convolutions.c)
 *        |  a window over pixels?        -> over their elements    (pixel_windows.c)
 *        |  a scatter of little, or of much to little? -> a slice update, or parts (scatters.c)
 *        |  a gather by numbers that are known? -> batch dimensions, selects (gathers.c)
 *        |  two or three unknowns, in a loop? -> arithmetic       (small_systems.c)
 *        |  the front of a sort?         -> top_k                 (sort_to_top_k.c)
 *        |  the same stood before?        -> that one
 *        v
 *     appended
 *
 * then dead nodes are dropped.  A rule that makes nodes sends them the same way, and
 * every rule's result is nearer to constants and plain operations than what it was made from,
 * so the walk ends.  Equal nodes are found within one region only: a value that a loop's body
 * would take from outside has to lie in memory, while one made inside may live in a register.
 * For the same reason small constants from outside are made again inside. */
#include "engine/passes/simplify/simplify.h"

#include "base/guard.h"
#include "base/table.h"
#include "engine/passes/passes.h"
#include "ops/call.h"

#include <string.h>

enum { SMALL_CONSTANT = 64 };

/* ---- equal nodes ---- */

/* A factorisation, say, which user code asks for once for each of its results. */
static bool is_linear_algebra(const Module *m, const Node *node)
{
    const CustomCallAttrs *call = node->attrs;
    return node->op == OP_CUSTOM_CALL && node->nin && !call->has_side_effect &&
           call_rank_of_one(call->call_target_name, type_of(m, node->in[0]).element) >= 0;
}

/* Of operations with regions: those that combine elements by one plain operation. */
static bool is_shareable(const Module *m, const Node *node)
{
    if (is_linear_algebra(m, node))
        return true;
    if (node->nout == 0 || op_info[node->op].effect == EFFECT_WORLD || node->op == OP_BARRIER)
        return false;
    if (node->nregions > 0 &&
        (node->op != OP_REDUCE || region_reducer(m, node->regions[0]) == OP_COUNT))
        return false;
    for (int i = 0; i < node->nout; i++)
        if (type_of(m, node->out + (uint32_t)i).element == TOKEN)
            return false;
    return true;
}

static uint64_t node_hash(const Module *m, const Node *node)
{
    uint64_t h = hash_bytes(node->in, sizeof *node->in * (size_t)node->nin, node->op);
    for (int i = 0; i < node->nout; i++) {
        Type t = type_of(m, node->out + (uint32_t)i);
        h = hash_bytes(t.dims, sizeof *t.dims * (size_t)t.rank, h ^ t.element);
    }
    if (node->nregions)
        h += region_reducer(m, node->regions[0]);
    return attrs_hash(op_info[node->op].attrs, node->attrs, h);
}

static bool node_equal(const Module *m, const Node *a, const Node *b)
{
    if (a->op != b->op || a->nin != b->nin || a->nout != b->nout ||
        (a->nin && memcmp(a->in, b->in, sizeof *a->in * (size_t)a->nin) != 0))
        return false;
    for (int i = 0; i < a->nout; i++)
        if (!type_equal(type_of(m, a->out + (uint32_t)i), type_of(m, b->out + (uint32_t)i)))
            return false;
    if (a->nregions && region_reducer(m, a->regions[0]) != region_reducer(m, b->regions[0]))
        return false;
    return attrs_equal(op_info[a->op].attrs, a->attrs, b->attrs);
}

static NodeId find_equal(const Simplifier *s, const Node *node, uint64_t hash)
{
    uint32_t k = s->buckets[hash & (s->nbuckets - 1)];
    for (; k >= s->floor && k; k = s->known[k].older)
        if (s->known[k].hash == hash && node_equal(s->m, node_at(s->m, s->known[k].node), node))
            return s->known[k].node;
    return 0;
}

static void remember(Simplifier *s, NodeId n, uint64_t hash)
{
    if (s->nknown == s->known_room) {
        size_t bytes = 2 * sizeof *s->known * s->known_room;
        s->known = heap_resize(s->known, bytes, "a list of operations");
        s->known_room *= 2;
    }
    uint32_t *bucket = &s->buckets[hash & (s->nbuckets - 1)];
    s->known[s->nknown] = (struct Known){ n, hash, *bucket };
    *bucket = s->nknown++;
}

static void forget_down_to(Simplifier *s, uint32_t n)
{
    while (s->nknown > n) {
        const struct Known *last = &s->known[--s->nknown];
        s->buckets[last->hash & (s->nbuckets - 1)] = last->older;
    }
}

/* ---- the walk ---- */

static void rebuild(Simplifier *s, RegionId r);

static void stands_for(Simplifier *s, NodeId n, NodeId other)
{
    const Node *node = node_at(s->m, n);
    for (int i = 0; i < node->nout; i++)
        subst_set(&s->map, node->out + (uint32_t)i, node_at(s->m, other)->out + (uint32_t)i);
}

void simplify_visit(Simplifier *s, NodeId n)
{
    Module *m = s->m;
    if (!s->keeps_dots && expand_small_lu(s, n))
        return;
    if (node_at(m, n)->nout == 1) {
        ValueId v = fold_constants(s, n);
        v = v ? v : drop_identity(s, n);
        v = v ? v : simplify_by_range(s, n);
        v = v ? v : simplify_slice(s, n);
        v = v ? v : narrow_integers(s, n);
        v = v ? v : take_base_two(s, n);
        v = v ? v : simplify_reduce(s, n);
        v = v || s->keeps_dots ? v : number_elements(s, n);
        v = v || s->keeps_dots ? v : fold_transpose(s, n);
        v = v || s->keeps_dots ? v : interleave(s, n);
        v = v || s->keeps_dots ? v : expand_dot(s, n);
        v = v || s->keeps_dots ? v : order_dot_rows(s, n);
        v = v || s->keeps_dots ? v : write_out_filter(s, n);
        v = v || s->keeps_dots ? v : simplify_convolution(s, n);
        v = v || s->keeps_dots ? v : widen_window(s, n);
        v = v || s->keeps_dots ? v : simplify_scatter(s, n);
        v = v || s->keeps_dots ? v : simplify_gather(s, n);
        v = v || s->keeps_dots ? v : expand_small_solve(s, n);
        v = v ? v : sort_to_top_k(s, n);
        if (v) {
            subst_set(&s->map, node_at(m, n)->out, v);
            return;
        }
    }
    if (!s->keeps_dots && unroll_short_reduce(s, n))
        return;
    if (is_shareable(m, node_at(m, n))) {
        uint64_t hash = node_hash(m, node_at(m, n));
        NodeId same = find_equal(s, node_at(m, n), hash);
        if (same) {
            stands_for(s, n, same);
            return;
        }
        remember(s, n, hash);
    }
    region_append(m, s->region, n);
}

ValueId simplify_put(Simplifier *s, OpId op, int nin, const ValueId *in, Type result,
                     const void *attrs, const Loc *loc)
{
    static const NoAttrs none;
    NodeId n = node_new(s->m, op, nin, in, 1, &result, 0, NULL, attrs ? attrs : &none, loc);
    simplify_visit(s, n);
    return subst_get(&s->map, node_at(s->m, n)->out);
}

ValueId simplify_constant(Simplifier *s, Dense value, const Loc *loc)
{
    ConstantAttrs *attrs = ARENA_NEW(s->m->arena, ConstantAttrs);
    attrs->value = value;
    return simplify_put(s, OP_CONSTANT, 0, NULL, value.type, attrs, loc);
}

static bool is_small_constant(const Dense *constant)
{
    return constant && (constant->is_splat || type_count(constant->type) <= SMALL_CONSTANT);
}

/* The value to use in s->region where the program names v. */
static ValueId bring_in(Simplifier *s, ValueId v)
{
    v = subst_get(&s->map, v);
    const Dense *constant = value_constant(s->m, v);
    if (!is_small_constant(constant) || value_at(s->m, v)->region == s->region)
        return v;
    return simplify_constant(s, *constant, node_at(s->m, value_def(s->m, v))->loc);
}

/* A small constant that a loop carries and hands on as it came is that constant in the loop. */
static void know_carried_constants(Simplifier *s, const Node *loop)
{
    ValueId cond = region_at(s->m, loop->regions[0])->args;
    ValueId body = region_at(s->m, loop->regions[1])->args;
    const Node *end = region_return(s->m, loop->regions[1]);
    for (ValueId i = 0; i < (ValueId)loop->nin; i++)
        if (end->in[i] == body + i && is_small_constant(value_constant(s->m, loop->in[i]))) {
            subst_set(&s->map, cond + i, loop->in[i]);
            subst_set(&s->map, body + i, loop->in[i]);
        }
}

/* They are handed on as they were, so that drop_invariant_carries sees it. */
static void hand_on_carried_constants(Simplifier *s, const Node *loop)
{
    ValueId body = region_at(s->m, loop->regions[1])->args;
    Node *end = region_return(s->m, loop->regions[1]);
    for (ValueId i = 0; i < (ValueId)loop->nin; i++)
        if (subst_get(&s->map, body + i) != body + i)
            end->in[i] = body + i;
}

static void rebuild(Simplifier *s, RegionId r)
{
    Module *m = s->m;
    RegionId outer = s->region;
    uint32_t outer_floor = s->floor;
    s->region = r;
    s->floor = s->nknown;
    int n;
    NodeId *old = region_take_nodes(m, r, &n);
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < node_at(m, old[i])->nin; k++) {
            ValueId v = bring_in(s, node_at(m, old[i])->in[k]);
            node_at(m, old[i])->in[k] = v;
        }
        bool is_loop = node_flow(node_at(m, old[i])) == FLOW_LOOP;
        s->nloops += is_loop;
        if (is_loop) {
            know_carried_constants(s, node_at(m, old[i]));
            know_carried_ranges(s, old[i]);
        }
        for (int k = 0; k < node_at(m, old[i])->nregions; k++)
            rebuild(s, node_at(m, old[i])->regions[k]);
        s->nloops -= is_loop;
        if (is_loop)
            hand_on_carried_constants(s, node_at(m, old[i]));
        simplify_visit(s, old[i]);
    }
    forget_down_to(s, s->floor);
    s->floor = outer_floor;
    s->region = outer;
}

static void simplify_main(Module *m, const CompileOptions *o, bool keeps_dots)
{
    RegionId main = module_main(m);
    Simplifier s = { .m = m,
                     .no_fold = o->no_fold,
                     .keeps_dots = keeps_dots,
                     .map = subst_new(m),
                     .nknown = 1,
                     .known_room = 256 };
    for (s.nbuckets = 256; s.nbuckets < m->nnodes;)
        s.nbuckets *= 2;
    uint32_t *uses = count_uses(m, main);
    s.uses = uses;
    s.nuses = m->nvalues;
    s.known = HEAP_ARRAY(struct Known, s.known_room, "a list of operations");
    s.buckets = HEAP_ARRAY(uint32_t, s.nbuckets, "a table of operations");
    rebuild(&s, main);
    remove_dead(m, main);
    drop_unused_vectors(m, main);
    subst_free(&s.map);
    table_free(&s.known_ranges);
    heap_free(s.known);
    heap_free(s.buckets);
    heap_free(uses);
}

/* In a program of several partitions place is to see dots as they are. */
Error *pass_simplify(Module *m, const CompileOptions *o)
{
    simplify_main(m, o, m->npartitions > 1);
    return NULL;
}

void simplify_again(Module *m, const CompileOptions *o)
{
    simplify_main(m, o, false);
}

Error *pass_polish(Module *m, const CompileOptions *o)
{
    if (m->npartitions > 1)
        simplify_again(m, o);
    return NULL;
}
