/* assign.c - an address for every value that needs memory.
 *
 * In: a Schedule.  Out: its Layout: addresses, the sizes of slab and pool, the constants' bytes.
 *
 * Values that can have one address are coalesced first: what a loop carries and what its body
 * gives back, a result and the buffer of the caller it goes to, a kernel's result and an operand
 * that it reads in step and that dies there.  So most moves move nothing, and an update in a
 * loop never copies.  What is left is packed into the slab, largest first, each as low as those
 * that live at the same time allow:
 *
 *     bytes ^   +-----------+
 *           |   |     c     |  +----+          a, d: never alive at once, so one address
 *           |   +--+--------+--+  d |
 *           |   |  a  |   b    +----+
 *           +---+-----+--------+----+--> points of the program
 *
 * Arguments and constants are read only; nothing is ever coalesced with them. */
#include "engine/analysis/analysis.h"
#include "engine/passes/pack.h"
#include "engine/passes/passes.h"

#include "base/fail.h"
#include "base/grow.h"

#include <stdlib.h>
#include <string.h>

/* Values that share an address. */
typedef struct ValueSet {
    int64_t bytes;
    bool is_fixed; /* the address is decided: an argument or a result */
    bool is_state; /* a loop carries it, and it is small: best kept in registers (link/locals.c) */
    Address address;
    int nspans, room;
    Span *spans; /* in rising order: each ends no sooner than the one before it */
} ValueSet;

typedef struct Assign {
    const Schedule *s;
    const KernelModule *k;
    const Module *m;
    Layout *out;
    Address *addresses; /* the layout's, being filled in */
    Liveness lives;
    Arena *arena;
    ValueId *leader; /* by ValueId: towards the value that stands for the set */
    ValueSet *sets;  /* by ValueId, of leaders */
} Assign;

static ValueId leader_of(Assign *a, ValueId v)
{
    while (a->leader[v] != v)
        v = a->leader[v] = a->leader[a->leader[v]];
    return v;
}

/* ---- do two sets get in each other's way? ---- */

/* The first from i on that does not end before `point`. */
static int span_until(const ValueSet *x, int i, int point)
{
    int high = x->nspans;
    while (i < high) {
        int mid = i + (high - i) / 2;
        if (x->spans[mid].to >= point)
            high = mid;
        else
            i = mid + 1;
    }
    return i;
}

static bool spans_clash(const Assign *a, const ValueSet *x, const ValueSet *y)
{
    int i = 0, j = 0;
    while (i < x->nspans && j < y->nspans) {
        Span s = x->spans[i], t = y->spans[j];
        if (s.to < t.from) {
            i = span_until(x, i + 1, t.from);
            continue;
        }
        if (t.to < s.from) {
            j = span_until(y, j + 1, s.from);
            continue;
        }
        bool s_first = s.to == t.from && liveness_may_touch(&a->lives, s.value, t.value, s.to);
        bool t_first = t.to == s.from && liveness_may_touch(&a->lives, t.value, s.value, t.to);
        if (!s_first && !t_first)
            return true;
        if (s.to <= t.to)
            i++;
        else
            j++;
    }
    return false;
}

/* ---- coalescing ---- */

static bool comes_before(Span s, Span t)
{
    return s.from != t.from ? s.from < t.from : s.to < t.to;
}

/* From the end, so that what lies before the first that comes in is not touched: most come in at
 * the end. */
static void spans_insert(Assign *a, ValueSet *into, const ValueSet *from)
{
    for (int k = 0; k < from->nspans; k++)
        ROOM(a->arena, into->spans, into->nspans + k, &into->room);
    int i = into->nspans - 1, j = from->nspans - 1;
    into->nspans += from->nspans;
    for (int n = into->nspans - 1; j >= 0; n--) {
        bool is_own = i >= 0 && !comes_before(into->spans[i], from->spans[j]);
        into->spans[n] = is_own ? into->spans[i--] : from->spans[j--];
    }
}

/* The few go to the many. */
static void spans_merge(Assign *a, ValueSet *x, ValueSet *y)
{
    ValueSet few = x->nspans < y->nspans ? *x : *y, many = x->nspans < y->nspans ? *y : *x;
    spans_insert(a, &many, &few);
    x->spans = many.spans;
    x->nspans = many.nspans;
    x->room = many.room;
}

static void try_coalesce(Assign *a, ValueId v, ValueId w)
{
    v = leader_of(a, v);
    w = leader_of(a, w);
    ValueSet *x = &a->sets[v], *y = &a->sets[w];
    if (v == w || !x->nspans || !y->nspans || x->bytes != y->bytes)
        return;
    bool is_read_only = (x->is_fixed && x->address.where != ADDRESS_OUT) ||
                        (y->is_fixed && y->address.where != ADDRESS_OUT);
    bool is_kept = (x->is_fixed && y->is_state) || (y->is_fixed && x->is_state);
    if (is_read_only || is_kept || (x->is_fixed && y->is_fixed) || spans_clash(a, x, y))
        return;
    x->is_state = x->is_state || y->is_state;
    if (y->is_fixed) {
        x->is_fixed = true;
        x->address = y->address;
    }
    spans_merge(a, x, y);
    a->leader[w] = v;
}

/* The moves of a node, each as a request for one address. */
static void coalesce_moves(Assign *a, NodeId n)
{
    ValueId dst = 0;
    int nmoves = liveness_moves(&a->lives, n, &dst);
    for (int k = 0; k < nmoves; k++)
        try_coalesce(a, dst + (ValueId)k, node_at(a->m, n)->in[k]);
}

static void coalesce_in_place(Assign *a, NodeId n)
{
    const Node *node = node_at(a->m, n);
    for (int r = 0; r < node->nout; r++)
        for (int k = 0; k < node->nin; k++)
            try_coalesce(a, node->in[k], node->out + (ValueId)r); /* asks whether it may */
}

/* What a loop carries may be the program's result; in the caller's buffer it would be written and read
 * again in every iteration. */
static void mark_states(Assign *a)
{
    const Liveness *l = &a->lives;
    for (int point = 1; point < l->npoints; point++) {
        NodeId n = l->node_at[point];
        const Node *node = n ? node_at(a->m, n) : NULL;
        for (int i = 0; node && node_flow(node) == FLOW_LOOP && i < node->nout; i++) {
            ValueSet *set = &a->sets[leader_of(a, node->out + (ValueId)i)];
            set->is_state = set->bytes <= LOCAL_BYTES;
        }
    }
}

/* What happens most often comes first: returns of loop bodies, then the rest. */
static void coalesce_all(Assign *a)
{
    const Module *m = a->m;
    const Liveness *l = &a->lives;
    for (int round = 0; round < 3; round++)
        for (int point = 1; point < l->npoints; point++) {
            NodeId n = l->node_at[point];
            if (!n)
                continue;
            const Node *node = node_at(m, n);
            bool is_return = node_flow(node) == FLOW_END;
            bool is_inner = is_return && node->region != a->k->main;
            if (round == 0 ? is_inner : round == 1 && (is_return || node_flow(node) == FLOW_LOOP))
                coalesce_moves(a, n);
            else if (round == 2 && node_flow(node) == FLOW_KERNEL)
                coalesce_in_place(a, n);
        }
}

/* ---- starting ---- */

static void fix(Assign *a, ValueId v, Address address)
{
    a->sets[v].is_fixed = true;
    a->sets[v].address = address;
}

static void assign_begin(Assign *a)
{
    const Schedule *s = a->s;
    a->leader = ARENA_ARRAY(a->arena, ValueId, s->nvalues);
    a->sets = ARENA_ARRAY(a->arena, ValueSet, s->nvalues);
    for (ValueId v = 1; v < s->nvalues; v++) {
        ValueId same = a->lives.shares_with[v];
        a->leader[v] = same ? same : v;
        if (a->lives.nspans[v])
            a->sets[v] = (ValueSet){ .bytes = (int64_t)type_bytes(schedule_type(s, v)),
                                     .nspans = a->lives.nspans[v],
                                     .room = a->lives.nspans[v],
                                     .spans = a->lives.spans[v] };
    }
    const Region *main = region_at(a->m, a->k->main);
    for (int i = 0; i < main->nargs; i++)
        fix(a, main->args + (ValueId)i, (Address){ ADDRESS_ARG, i });
    for (int i = 0; i < a->k->params.nresults; i++)
        fix(a, s->outs + (ValueId)i, (Address){ ADDRESS_OUT, i });
}

/* ---- packing ---- */

static int larger_first(const void *a, const void *b)
{
    const ValueSet *x = *(ValueSet *const *)a, *y = *(ValueSet *const *)b;
    if (x->bytes != y->bytes)
        return x->bytes > y->bytes ? -1 : 1;
    return x->spans[0].from - y->spans[0].from;
}

static void pack(Assign *a)
{
    ValueSet **list = ARENA_ARRAY(a->arena, ValueSet *, a->s->nvalues);
    Packing *packing = packing_new(a->arena, a->lives.npoints);
    int n = 0;
    for (ValueId v = 1; v < a->s->nvalues; v++)
        if (a->leader[v] == v && a->sets[v].nspans && !a->sets[v].is_fixed)
            list[n++] = &a->sets[v];
    qsort(list, (size_t)n, sizeof *list, larger_first);
    int64_t top = 0;
    for (int i = 0; i < n; i++) {
        int64_t at = packing_place(packing, list[i]->nspans, list[i]->spans, list[i]->bytes);
        list[i]->address = (Address){ ADDRESS_SLAB, at };
        int64_t end = at + packing_rounded(list[i]->bytes);
        top = end > top ? end : top;
    }
    a->out->slab_bytes = (size_t)top;
}

/* ---- constants ---- */

static void constant_write(char *at, const Dense *d)
{
    size_t bytes = type_bytes(d->type);
    if (!d->is_splat) {
        memcpy(at, d->data, bytes);
        return;
    }
    size_t one = (size_t)element_info[d->type.element].bytes;
    for (size_t i = 0; one && i + one <= bytes; i += one)
        memcpy(at + i, d->data, one);
}

static Error *pool_fill(Assign *a)
{
    const Liveness *l = &a->lives;
    int64_t top = 0;
    for (int point = 1; point < l->npoints; point++) {
        const Node *node = node_at(a->m, l->node_at[point]);
        if (!l->node_at[point] || node->op != OP_CONSTANT)
            continue;
        a->addresses[node->out] = (Address){ ADDRESS_POOL, top };
        top += packing_rounded((int64_t)type_bytes(type_of(a->m, node->out)));
    }
    a->out->pool_bytes = (size_t)top;
    char *room = arena_try(a->m->arena, (size_t)top + PACK_ALIGN);
    if (!room)
        return error_new(CODE_EXHAUSTED, "no memory for %zu bytes of constants", (size_t)top);
    char *pool = room + (PACK_ALIGN - (uintptr_t)room % PACK_ALIGN) % PACK_ALIGN;
    a->out->pool = pool;
    for (int point = 1; point < l->npoints; point++) {
        const Node *node = node_at(a->m, l->node_at[point]);
        if (l->node_at[point] && node->op == OP_CONSTANT)
            constant_write(pool + a->addresses[node->out].at, value_constant(a->m, node->out));
    }
    return NULL;
}

/* ---- moves in a ring, and donation ---- */

static bool same_address(Address x, Address y)
{
    return x.where == y.where && x.at == y.at;
}

typedef struct Target {
    Address address; /* which no other move of the node writes */
    int move;
} Target;

static int by_address(const void *a, const void *b)
{
    Address x = ((const Target *)a)->address, y = ((const Target *)b)->address;
    if (x.where != y.where)
        return x.where < y.where ? -1 : 1;
    return x.at < y.at ? -1 : x.at > y.at;
}

/* Bytes of the largest value that a move of the node reads and another writes over. */
static int64_t largest_overwritten(Assign *a, const Node *node, ValueId dst, int nmoves)
{
    Target *targets = HEAP_ARRAY(Target, nmoves, "a list");
    int n = 0;
    for (int i = 0; i < nmoves; i++)
        if (a->addresses[dst + (ValueId)i].where != ADDRESS_NONE)
            targets[n++] = (Target){ a->addresses[dst + (ValueId)i], i };
    qsort(targets, (size_t)n, sizeof *targets, by_address);
    int64_t bytes = 0;
    for (int k = 0; k < nmoves; k++) {
        int64_t size = (int64_t)type_bytes(type_of(a->m, node->in[k]));
        Target from = { a->addresses[node->in[k]], k };
        const Target *to = bsearch(&from, targets, (size_t)n, sizeof *targets, by_address);
        if (to && to->move != k && size > bytes)
            bytes = size;
    }
    heap_free(targets);
    return bytes;
}

/* If what one move writes is what another reads, code may need a third place. */
static void scratch_reserve(Assign *a)
{
    int64_t bytes = 0;
    for (int point = 1; point < a->lives.npoints; point++) {
        NodeId n = a->lives.node_at[point];
        ValueId dst = 0;
        int nmoves = n ? liveness_moves(&a->lives, n, &dst) : 0;
        int64_t size = nmoves > 1 ? largest_overwritten(a, node_at(a->m, n), dst, nmoves) : 0;
        bytes = size > bytes ? size : bytes;
    }
    a->out->scratch_at = (int64_t)a->out->slab_bytes;
    a->out->slab_bytes += (size_t)packing_rounded(bytes);
}

/* A result may take over an argument's memory only if nothing reads the argument once writing
 * the result has begun, except element by element just before. */
static const Param *confirm_donations(Assign *a)
{
    const Params *params = &a->k->params;
    ValueId args = region_at(a->m, a->k->main)->args;
    Param *results =
        arena_copy(a->m->arena, params->results, sizeof *results * (size_t)params->nresults);
    for (int i = 0; i < params->nresults; i++) {
        int j = results[i].alias;
        if (j < 0)
            continue;
        const ValueSet *out = &a->sets[leader_of(a, a->s->outs + (ValueId)i)];
        const ValueSet *arg = &a->sets[args + (ValueId)j];
        bool is_own = same_address(out->address, (Address){ ADDRESS_OUT, i });
        if (arg->bytes != out->bytes || !is_own || spans_clash(a, arg, out))
            results[i].alias = -1;
    }
    return results;
}

static Error *assign_values(Assign *a)
{
    uint32_t n = a->s->nvalues;
    a->lives = liveness_find(a->s, a->arena);
    assign_begin(a);
    mark_states(a);
    coalesce_all(a);
    pack(a);
    a->addresses = ARENA_ARRAY(a->m->arena, Address, n);
    a->out->addresses = a->addresses;
    TRY(pool_fill(a));
    for (ValueId v = 1; v < n; v++) {
        ValueId leader = leader_of(a, v);
        if (a->sets[leader].nspans)
            a->addresses[v] = a->sets[leader].address;
        else if (leader != v)
            a->addresses[v] = a->addresses[leader]; /* a constant by another name */
    }
    scratch_reserve(a);
    a->out->results = confirm_donations(a);
    return NULL;
}

Error *pass_assign(const Schedule *s, Layout *out)
{
    const Module *m = s->k->m;
    *out = (Layout){ .s = s };
    Assign a = { .s = s, .k = s->k, .m = m, .out = out, .arena = arena_new() };
    Error *error = assign_values(&a);
    arena_free(a.arena);
    Layout *bodies = ARENA_ARRAY(m->arena, Layout, s->nbodies);
    out->bodies = bodies;
    for (int i = 0; !error && i < s->nbodies; i++)
        error = pass_assign(&s->bodies[i].schedule, &bodies[i]);
    return error;
}
