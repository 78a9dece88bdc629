/* transpose.c - what of a graph is linear, and running that backwards.
 *
 *     loss with tangents     x --- y = sin x ------ z = mul y, y           what does not depend on
 *                            dx -- dy = mul dx, c - dz = mul 2y, dy        tangents stays as it is
 *
 *     its gradient           x --- y = sin x ------ z                      forwards
 *                            ct_dx = mul ct_dy, c  <- ct_dy = mul 2y, 1    backwards, by the
 *                                                                          transpose rules
 *
 * A value depends on tangents if an operand of its node does; such nodes are linear in those
 * operands, since that is what jvp rules promise.  Cotangents that meet at a value are summed. */
#include "front/transform/transform.h"

#include "base/guard.h"
#include "front/value/report.h"
#include "hlo/rewrite.h"

#include <stdlib.h>
#include <string.h>

/* ---- what is linear ---- */

bool backward_is_linear(const Backward *b, ValueId v)
{
    return v < b->nlinear && b->linear[v];
}

static bool is_linear(void *backward, ValueId v)
{
    return backward_is_linear(backward, v);
}

void backward_mark(Backward *b, RegionId r)
{
    const Region *region = region_at(b->m, r);
    for (int i = 0; i < region->nnodes; i++) {
        const Node *node = node_at(b->m, region->nodes[i]);
        if (node_uses(b->m, node, is_linear, b))
            for (int k = 0; k < node->nout; k++)
                b->linear[node->out + (uint32_t)k] = true;
    }
}

Backward backward_new(Module *m)
{
    Backward b = { .m = m, .value = subst_new(m), .ct = subst_new(m), .nlinear = m->nvalues };
    b.linear = HEAP_ARRAY(bool, m->nvalues, "marks of values");
    return b;
}

void backward_free(Backward *b)
{
    subst_free(&b->value);
    subst_free(&b->ct);
    heap_free(b->linear);
}

tt backward_value(Backward *b, ValueId v)
{
    return trace_tt(subst_get(&b->value, v));
}

static tt ct_of(Backward *b, ValueId v)
{
    ValueId ct = subst_get(&b->ct, v);
    return ct == v ? NO_VALUE : trace_tt(ct);
}

void backward_add(Backward *b, ValueId v, tt ct)
{
    if (!is_value(ct) || !backward_is_linear(b, v))
        return;
    ValueId sum = trace_value("a gradient", build_sum(ct_of(b, v), ct));
    if (sum)
        subst_set(&b->ct, v, sum);
}

tt backward_take(Backward *b, ValueId v)
{
    tt ct = ct_of(b, v);
    subst_set(&b->ct, v, v);
    return ct;
}

/* ---- forwards and backwards ---- */

/* Everything that is not linear, as it was. */
void backward_forward(Backward *b, RegionId r)
{
    for (int i = 0; i < region_at(b->m, r)->nnodes - 1; i++) {
        NodeId n = region_at(b->m, r)->nodes[i];
        const Node *node = node_at(b->m, n);
        if (node->nout == 0 || !backward_is_linear(b, node->out))
            region_append(b->m, tracing->region, node_copy(b->m, n, &b->value));
    }
}

static bool has_ct(Backward *b, const Node *node, tt *ct)
{
    bool any = false;
    for (int i = 0; i < node->nout; i++) {
        ct[i] = ct_of(b, node->out + (uint32_t)i);
        any = any || is_value(ct[i]);
    }
    return any;
}

static void go_through(Backward *b, NodeId n)
{
    Module *m = b->m;
    Node node = *node_at(m, n);
    tt *all = ARENA_ARRAY(m->arena, tt, 2 * node.nin + node.nout + 1);
    tt *x = all, *out = x + node.nin, *ct = out + node.nin;
    bool *linear = ARENA_ARRAY(m->arena, bool, node.nin + 1);
    Type *types = ARENA_ARRAY(m->arena, Type, node.nin + node.nout + 1);
    if (!has_ct(b, &node, ct))
        return;
    for (int i = 0; i < node.nin; i++) {
        linear[i] = backward_is_linear(b, node.in[i]);
        types[i] = type_of(m, node.in[i]);
        if (!linear[i])
            x[i] = backward_value(b, node.in[i]);
    }
    for (int i = 0; i < node.nout; i++)
        types[node.nin + i] = type_of(m, node.out + (uint32_t)i);
    TransposeRule *rule = front_rules[node.op].transpose;
    if (!rule) {
        report_broken("not supported: the gradient through %s, %s", rule_op_name(node.op),
                      loc_name(node.loc));
        return;
    }
    Transpose t = { node.op, node.attrs,       node.nin, node.nout, ct, x, linear,
                    types,   types + node.nin, out,      m,         n,  b };
    rule(&t);
    for (int i = 0; i < node.nin; i++)
        backward_add(b, node.in[i], out[i]);
}

void backward_run(Backward *b, RegionId r)
{
    const Loc *loc = tracing->loc;
    CallSite at = call_site;
    unsigned before = report_count();
    for (int i = region_at(b->m, r)->nnodes - 2; i >= 0 && report_count() == before; i--) {
        NodeId n = region_at(b->m, r)->nodes[i];
        const Node *node = node_at(b->m, n);
        if (node->nout == 0 || !backward_is_linear(b, node->out))
            continue;
        call_site = at; /* rules leave lines of their own */
        tracing->loc = node->loc;
        go_through(b, n);
    }
    tracing->loc = loc;
    call_site = at;
}

/* ---- the transpose of a graph ---- */

static void begin_transpose(Backward *b, const Graph *g, const bool *linear)
{
    Module *m = g->m;
    ValueId first = region_at(m, g->body)->args;
    Type *types = ARENA_ARRAY(m->arena, Type, g->nleaves + g->nresults + 1);
    tt *in = ARENA_ARRAY(m->arena, tt, g->nleaves + g->nresults + 1);
    int n = 0;
    for (int i = 0; i < g->nleaves; i++)
        if (!linear[i])
            types[n++] = type_of(m, first + (uint32_t)i);
    Node last = *region_return(m, g->body);
    for (int i = 0; i < last.nin; i++)
        types[n++] = type_of(m, last.in[i]);
    record_begin(n, types, NULL, in);
    n = 0;
    for (int i = 0; i < g->nleaves; i++)
        if (linear[i])
            b->linear[first + (uint32_t)i] = true;
        else
            subst_set(&b->value, first + (uint32_t)i, trace_value("a gradient", in[n++]));
    backward_mark(b, g->body);
    backward_forward(b, g->body);
    for (int i = 0; i < last.nin; i++)
        backward_add(b, last.in[i], in[n++]);
}

int backward_collect(Backward *b, const Graph *g, const bool *linear, tt *out)
{
    int n = 0;
    ValueId first = region_at(g->m, g->body)->args;
    for (int i = 0; i < g->nleaves; i++)
        if (linear[i])
            out[n++] =
                value_or_zeros(ct_of(b, first + (uint32_t)i), type_of(g->m, first + (uint32_t)i));
    return n;
}

bool transpose_transform(const Graph *given, const bool *linear, Graph *out)
{
    unsigned before = report_count();
    Graph split, *g = &split;
    if (!split_loops(given, linear, g))
        return false;
    Backward b = backward_new(g->m);
    Trace frame = { .loc = tracing->loc };
    tt *results = ARENA_ARRAY(g->m->arena, tt, g->nleaves + 1);
    frame_push(&frame);
    begin_transpose(&b, g, linear);
    backward_run(&b, g->body);
    int n = backward_collect(&b, g, linear, results);
    bool ok = report_count() == before && record_end("a gradient", n, results, out);
    if (frame.region)
        record_drop();
    frame_pop(&frame);
    backward_free(&b);
    return ok;
}
