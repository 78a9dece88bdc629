/* jvp.c - a graph becomes a graph with tangents.
 *
 *     (x) { y = sin x; z = mul y, y }
 *
 *     (x, dx) { y = sin x;     dy = mul dx, cos x
 *               z = mul y, y;  dz = add (mul dy, y), (mul y, dy) }
 *
 * One walk over the nodes: each is recorded again on the values of the new frame, and where an
 * operand has a tangent its rule records the tangents of the results.  A tangent that is zero is
 * no value at all, so nothing is recorded for what does not vary. */
#include "front/transform/transform.h"

#include "front/transform/fn.h"
#include "front/value/report.h"
#include "hlo/rewrite.h"

#include <stdlib.h>
#include <string.h>

typedef struct Forward {
    Module *m;
    Subst primal, tangent; /* of values of the old graph: their numbers in the new region */
} Forward;

bool has_tangent(Type t)
{
    ElementKind kind = element_info[t.element].kind;
    return kind == FLOAT || kind == COMPLEX;
}

static ValueId tangent_of(const Forward *f, ValueId v)
{
    ValueId t = subst_get(&f->tangent, v);
    return t == v ? 0 : t;
}

tt forward_value(Forward *f, ValueId v)
{
    return trace_tt(subst_get(&f->primal, v));
}

tt forward_tangent(Forward *f, ValueId v)
{
    ValueId t = tangent_of(f, v);
    return t ? trace_tt(t) : NO_VALUE;
}

static void set(Forward *f, ValueId v, tt x, tt dx)
{
    ValueId value = trace_value("a derivative", x);
    ValueId tangent = is_value(dx) ? trace_value("a derivative", dx) : 0;
    if (value)
        subst_set(&f->primal, v, value);
    subst_set(&f->tangent, v, v);
    if (tangent)
        subst_set(&f->tangent, v, tangent);
}

static bool varies(void *forward, ValueId v)
{
    return tangent_of(forward, v) != 0;
}

static void copy(Forward *f, NodeId n)
{
    region_append(f->m, tracing->region, node_copy(f->m, n, &f->primal));
    const Node *node = node_at(f->m, n);
    for (int i = 0; i < node->nout; i++)
        subst_set(&f->tangent, node->out + (uint32_t)i, node->out + (uint32_t)i);
}

static void differentiate(Forward *f, NodeId n)
{
    Module *m = f->m;
    Node node = *node_at(m, n);
    tt *all = ARENA_ARRAY(m->arena, tt, 2 * (node.nin + node.nout) + 1);
    tt *x = all, *dx = x + node.nin, *y = dx + node.nin, *dy = y + node.nout;
    JvpRule *rule = front_rules[node.op].jvp;
    if (!rule) {
        report_broken("not supported: the derivative of %s, %s", rule_op_name(node.op),
                      loc_name(node.loc));
        return;
    }
    for (int i = 0; i < node.nin; i++) {
        x[i] = forward_value(f, node.in[i]);
        dx[i] = forward_tangent(f, node.in[i]);
    }
    /* The rules of these record results and tangents together. */
    if (node.op != OP_CALL && node.op != OP_WHILE && node.op != OP_MANUAL && node.op != OP_SORT) {
        copy(f, n);
        for (int i = 0; i < node.nout; i++)
            y[i] = forward_value(f, node.out + (uint32_t)i);
    }
    Jvp j = { node.op, node.attrs, node.nin, node.nout, x, dx, y, dy, m, n, f };
    rule(&j);
    for (int i = 0; i < node.nout; i++) {
        bool varies = has_tangent(type_of(m, node.out + (uint32_t)i));
        set(f, node.out + (uint32_t)i, y[i], varies ? dy[i] : NO_VALUE);
    }
}

static void walk(Forward *f, RegionId r)
{
    const Loc *loc = tracing->loc;
    CallSite at = call_site;
    unsigned before = report_count();
    for (int i = 0; report_count() == before && i < region_at(f->m, r)->nnodes - 1; i++) {
        NodeId n = region_at(f->m, r)->nodes[i];
        call_site = at; /* rules leave lines of their own */
        tracing->loc = node_at(f->m, n)->loc;
        if (node_uses(f->m, node_at(f->m, n), varies, f))
            differentiate(f, n);
        else
            copy(f, n);
    }
    tracing->loc = loc;
    call_site = at;
}

void forward_inline(Forward *f, RegionId r, const tt *x, const tt *dx, tt *y, tt *dy)
{
    Module *m = f->m;
    for (int i = 0; i < region_at(m, r)->nargs; i++)
        set(f, region_at(m, r)->args + (uint32_t)i, x[i], dx[i]);
    walk(f, r);
    Node last = *region_return(m, r);
    for (int i = 0; i < last.nin; i++) {
        y[i] = forward_value(f, last.in[i]);
        dy[i] = forward_tangent(f, last.in[i]);
    }
}

/* ---- graphs ---- */

/* The leaves, then a tangent for each active one. */
static int begin(const Graph *g, const bool *active, tt *x, tt *dx)
{
    Module *m = g->m;
    Type *types = ARENA_ARRAY(m->arena, Type, 2 * g->nleaves + 1);
    tt *leaves = ARENA_ARRAY(m->arena, tt, 2 * g->nleaves + 1);
    int n = g->nleaves;
    for (int i = 0; i < g->nleaves; i++)
        types[i] = type_of(m, region_at(m, g->body)->args + (uint32_t)i);
    for (int i = 0; i < g->nleaves; i++)
        if (active[i])
            types[n++] = types[i];
    record_begin(n, types, NULL, leaves);
    for (int i = 0, k = g->nleaves; i < g->nleaves; i++) {
        x[i] = leaves[i];
        dx[i] = active[i] ? leaves[k++] : NO_VALUE;
    }
    return n;
}

bool jvp_transform(const Graph *g, const bool *active, const bool *wanted, bool *is_active,
                   Graph *out)
{
    Module *m = g->m;
    unsigned before = report_count();
    Forward f = { m, subst_new(m), subst_new(m) };
    Trace frame = { 0 };
    tt *x = ARENA_ARRAY(m->arena, tt, 2 * g->nleaves + 1), *dx = x + g->nleaves;
    tt *y = ARENA_ARRAY(m->arena, tt, 2 * g->nresults + 1), *dy = ARENA_ARRAY(m->arena, tt, g->nresults + 1);
    frame_push(&frame);
    begin(g, active, x, dx);
    forward_inline(&f, g->body, x, dx, y, dy);
    int n = g->nresults;
    for (int i = 0; report_count() == before && i < g->nresults; i++) {
        bool give = wanted ? wanted[i] : is_value(dy[i]);
        if (give)
            y[n++] = value_or_zeros(dy[i], type_at(y[i]));
        if (is_active)
            is_active[i] = is_value(dy[i]);
    }
    bool ok = report_count() == before && record_end("a derivative", n, y, out);
    if (frame.region)
        record_drop();
    frame_pop(&frame);
    subst_free(&f.primal);
    subst_free(&f.tangent);
    return ok;
}

/* ---- tt_jvp ---- */

/* The arguments of f alone; those behind them are tangents.  False: their number does not fit. */
static bool primal_leaves(tt_fn f, const Leaves *leaves, Leaves *primal)
{
    int ntangents = __builtin_popcount(f->key.wrt);
    *primal = *leaves;
    primal->nargs -= ntangents;
    if (primal->nargs < 1 || f->key.wrt >> primal->nargs)
        return report_broken(
                   "%s: %d arguments: those of the function, then a tangent for each that "
                   ".wrt names",
                   f->label, leaves->nargs),
               false;
    for (int i = primal->nargs; i < leaves->nargs; i++)
        primal->n -= leaves->counts[i];
    return true;
}

/* Which leaves have a tangent; the tangents come in their order. */
static bool find_active(tt_fn f, const Leaves *leaves, const Leaves *primal, bool *active)
{
    int next = primal->n;
    for (int i = 0; i < primal->n; i++) {
        int within;
        active[i] = f->key.wrt >> leaf_argument(primal, i, &within) & 1;
        if (!active[i])
            continue;
        if (!has_tangent(leaves->types[i]))
            return report_broken(
                       "%s: %s has no tangent: only floats do; convert it with tt_astype, "
                       "or choose others by .wrt",
                       f->label, leaf_text(leaves, i)),
                   false;
        if (next == leaves->n || !type_equal(leaves->types[i], leaves->types[next]))
            return report_broken("%s: the tangent of %s is %s; it must be of the same type",
                                 f->label, leaf_text(leaves, i),
                                 next < leaves->n ? type_text(leaves->types[next]) : "not there"),
                   false;
        next++;
    }
    return true;
}

bool jvp_graph(tt_fn f, const Leaves *leaves, Graph *out)
{
    Leaves primal;
    Graph inner;
    bool *active = ARENA_ARRAY(trace_arena(), bool, leaves->n + 1);
    if (!primal_leaves(f, leaves, &primal) || !find_active(f, leaves, &primal, active))
        return false;
    Trace frame = { .how = f->how, .name = f->key.inner->label, .file = f->file, .line = f->line };
    frame_push(&frame);
    bool ok = fn_graph(f->key.inner, &primal, &inner);
    if (ok) {
        bool *wanted = ARENA_ARRAY(trace_arena(), bool, inner.nresults + 1);
        memset(wanted, true, sizeof *wanted * (size_t)inner.nresults);
        ok = jvp_transform(&inner, active, wanted, NULL, out);
    }
    if (ok) {
        slots_like(out, &inner);
        slots_like(out, &inner);
    }
    frame_pop(&frame);
    return ok;
}
