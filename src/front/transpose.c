/* transpose.c - gradients: split off what is linear, and run it backwards.
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
#include "front/transpose.h"

#include "base/fail.h"
#include "front/fn.h"
#include "front/jvp.h"
#include "front/say.h"
#include "hlo/rewrite.h"

#include <stdlib.h>
#include <string.h>

typedef struct Backward {
    Module *m;
    Subst value;  /* of the old graph, not linear: its number in the new region */
    Subst ct;     /* of linear values: the number of their cotangent */
    bool *linear; /* [value of the old graph] */
    uint32_t nlinear;
} Backward;

/* ---- what is linear ---- */

static bool is_linear(const Backward *b, ValueId v)
{
    return v < b->nlinear && b->linear[v];
}

static bool uses_linear(Backward *b, const Node *node)
{
    for (int i = 0; i < node->nin; i++)
        if (is_linear(b, node->in[i]))
            return true;
    if (!node->nregions || op_info[node->op].kind != KIND_FLOW)
        return false;
    Values free = free_values(b->m, node->nregions, node->regions);
    for (int i = 0; i < free.n; i++)
        if (is_linear(b, free.at[i]))
            return true;
    return false;
}

static void mark(Backward *b, RegionId r)
{
    const Region *region = region_at(b->m, r);
    for (int i = 0; i < region->nnodes; i++) {
        const Node *node = node_at(b->m, region->nodes[i]);
        bool is_linear_node = uses_linear(b, node);
        if (is_linear_node && node->op == OP_WHILE)
            say_broken("not supported: the gradient through a loop whose number of turns is found "
                       "at run time (while, %s): write it with a fixed number of turns, or use "
                       "tt_stop_gradient",
                       loc_name(node->loc));
        if (is_linear_node)
            for (int k = 0; k < node->nout; k++)
                b->linear[node->out + (uint32_t)k] = true;
    }
}

static Backward backward_new(Module *m)
{
    Backward b = { .m = m, .value = subst_new(m), .ct = subst_new(m), .nlinear = m->nvalues };
    b.linear = calloc(m->nvalues, sizeof *b.linear);
    if (!b.linear)
        fail("no memory to mark %u values", m->nvalues);
    return b;
}

static void backward_free(Backward *b)
{
    subst_free(&b->value);
    subst_free(&b->ct);
    free(b->linear);
}

bool backward_is_linear(const Backward *b, ValueId v)
{
    return is_linear(b, v);
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
    if (!is_value(ct) || !is_linear(b, v))
        return;
    ValueId sum = trace_value("a gradient", build_sum(ct_of(b, v), ct));
    if (sum)
        subst_set(&b->ct, v, sum);
}

/* ---- forwards and backwards ---- */

/* Everything that is not linear, as it was. */
static void go_forward(Backward *b, RegionId r)
{
    for (int i = 0; i < region_at(b->m, r)->nnodes - 1; i++) {
        NodeId n = region_at(b->m, r)->nodes[i];
        const Node *node = node_at(b->m, n);
        if (node->nout == 0 || !is_linear(b, node->out))
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
        linear[i] = is_linear(b, node.in[i]);
        types[i] = type_of(m, node.in[i]);
        if (!linear[i])
            x[i] = backward_value(b, node.in[i]);
    }
    for (int i = 0; i < node.nout; i++)
        types[node.nin + i] = type_of(m, node.out + (uint32_t)i);
    TransposeRule *rule = front_rules[node.op].transpose;
    if (!rule) {
        say_broken("not supported: the gradient through %s, %s", rule_words(node.op),
                   loc_name(node.loc));
        return;
    }
    Transpose t = { node.op, node.attrs,       node.nin, node.nout, ct, x, linear,
                    types,   types + node.nin, out,      m,         n,  b };
    rule(&t);
    for (int i = 0; i < node.nin; i++)
        backward_add(b, node.in[i], out[i]);
}

static void go_backward(Backward *b, RegionId r)
{
    const Loc *loc = tracing->loc;
    Here at = here;
    unsigned before = said_count();
    for (int i = region_at(b->m, r)->nnodes - 2; i >= 0 && said_count() == before; i--) {
        NodeId n = region_at(b->m, r)->nodes[i];
        const Node *node = node_at(b->m, n);
        if (node->nout == 0 || !is_linear(b, node->out))
            continue;
        tracing->loc = node->loc;
        go_through(b, n);
    }
    tracing->loc = loc;
    here = at;
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
    mark(b, g->body);
    go_forward(b, g->body);
    for (int i = 0; i < last.nin; i++)
        backward_add(b, last.in[i], in[n++]);
}

static int collect(Backward *b, const Graph *g, const bool *linear, tt *out)
{
    int n = 0;
    ValueId first = region_at(g->m, g->body)->args;
    for (int i = 0; i < g->nleaves; i++)
        if (linear[i])
            out[n++] =
                with_zeros(ct_of(b, first + (uint32_t)i), type_of(g->m, first + (uint32_t)i));
    return n;
}

bool transpose_transform(const Graph *g, const bool *linear, Graph *out)
{
    unsigned before = said_count();
    Backward b = backward_new(g->m);
    Trace frame = { .loc = tracing->loc };
    tt *results = ARENA_ARRAY(g->m->arena, tt, g->nleaves + 1);
    frame_push(&frame);
    begin_transpose(&b, g, linear);
    go_backward(&b, g->body);
    int n = collect(&b, g, linear, results);
    bool ok = said_count() == before && record_end("a gradient", n, results, out);
    if (frame.region)
        record_drop();
    frame_pop(&frame);
    backward_free(&b);
    return ok;
}

/* ---- splitting ---- */

/* Made of nothing and cheap: rather made twice than passed on. */
static bool is_repeatable(const Module *m, ValueId v)
{
    NodeId n = value_def(m, v);
    return n && node_at(m, n)->nin == 0 && node_at(m, n)->nregions == 0;
}

static void need(Backward *b, ValueId v, Values *needed, bool *seen)
{
    bool is_inside = value_at(b->m, v)->region != 0;
    if (seen[v] || is_linear(b, v) || is_repeatable(b->m, v) || !is_inside)
        return;
    seen[v] = true;
    needed->at[needed->n++] = v;
}

/* What the linear nodes use of the others. */
static Values find_needed(Backward *b, RegionId r, const bool *is_own)
{
    Module *m = b->m;
    Values needed = { 0, ARENA_ARRAY(m->arena, ValueId, b->nlinear) };
    bool *seen = calloc(b->nlinear, sizeof *seen);
    if (!seen)
        fail("no memory to mark %u values", b->nlinear);
    for (int i = 0; i < region_at(m, r)->nnodes; i++) {
        const Node *node = node_at(m, region_at(m, r)->nodes[i]);
        bool is_rest = node->nout && is_linear(b, node->out);
        if (!is_rest)
            continue;
        for (int k = 0; k < node->nin; k++)
            if (is_own[node->in[k]])
                need(b, node->in[k], &needed, seen);
        if (node->nregions) {
            Values free = free_values(m, node->nregions, node->regions);
            for (int k = 0; k < free.n; k++)
                if (is_own[free.at[k]])
                    need(b, free.at[k], &needed, seen);
        }
    }
    free(seen);
    return needed;
}

/* The values that g itself defines; others come from around it and stand for themselves. */
static bool *own_values(const Graph *g, uint32_t n)
{
    bool *own = calloc(n, sizeof *own);
    if (!own)
        fail("no memory to mark %u values", n);
    const Region *region = region_at(g->m, g->body);
    for (int i = 0; i < region->nargs; i++)
        own[region->args + (uint32_t)i] = true;
    for (int i = 0; i < region->nnodes; i++) {
        const Node *node = node_at(g->m, region->nodes[i]);
        for (int k = 0; k < node->nout; k++)
            own[node->out + (uint32_t)k] = true;
    }
    return own;
}

static bool make_known(Backward *b, const Graph *g, int ntangents, int nprimal, Values needed,
                       Split *out)
{
    Module *m = g->m;
    int n = g->nleaves - ntangents, nresults = 0;
    ValueId first = region_at(m, g->body)->args;
    Type *types = ARENA_ARRAY(m->arena, Type, n + 1);
    tt *in = ARENA_ARRAY(m->arena, tt, n + 1);
    tt *results = ARENA_ARRAY(m->arena, tt, nprimal + needed.n + 1);
    int *leaf = ARENA_ARRAY(m->arena, int, needed.n + 1);
    Trace frame = { 0 };
    for (int i = 0; i < n; i++)
        types[i] = type_of(m, first + (uint32_t)i);
    frame_push(&frame);
    record_begin(n, types, NULL, in);
    for (int i = 0; i < n; i++)
        subst_set(&b->value, first + (uint32_t)i, trace_value("a derivative", in[i]));
    go_forward(b, g->body);
    for (int i = 0; i < nprimal; i++)
        results[nresults++] = backward_value(b, region_return(m, g->body)->in[i]);
    for (int i = 0; i < needed.n; i++) {
        bool is_leaf = needed.at[i] >= first && needed.at[i] < first + (uint32_t)n;
        leaf[i] = is_leaf ? (int)(needed.at[i] - first) : -1;
        if (!is_leaf)
            results[nresults++] = backward_value(b, needed.at[i]);
    }
    bool ok = record_end("a derivative", nresults, results, &out->known);
    frame_pop(&frame);
    out->leaf = leaf;
    out->nneeded = needed.n;
    return ok;
}

static bool make_rest(Backward *b, const Graph *g, int ntangents, int nprimal, Values needed,
                      Split *out)
{
    Module *m = g->m;
    int n = needed.n + ntangents, nresults = g->nresults - nprimal;
    ValueId tangents = region_at(m, g->body)->args + (uint32_t)(g->nleaves - ntangents);
    Type *types = ARENA_ARRAY(m->arena, Type, n + 1);
    tt *in = ARENA_ARRAY(m->arena, tt, n + 1), *results = ARENA_ARRAY(m->arena, tt, nresults + 1);
    Subst map = subst_new(m);
    Trace frame = { 0 };
    for (int i = 0; i < n; i++)
        types[i] = type_of(m, i < needed.n ? needed.at[i] : tangents + (uint32_t)(i - needed.n));
    frame_push(&frame);
    record_begin(n, types, NULL, in);
    for (int i = 0; i < n; i++)
        subst_set(&map, i < needed.n ? needed.at[i] : tangents + (uint32_t)(i - needed.n),
                  trace_value("a derivative", in[i]));
    for (int i = 0; i < region_at(m, g->body)->nnodes - 1; i++) {
        NodeId node = region_at(m, g->body)->nodes[i];
        ValueId y = node_at(m, node)->out;
        if (node_at(m, node)->nout && (is_linear(b, y) || is_repeatable(m, y)))
            region_append(m, tracing->region, node_copy(m, node, &map));
    }
    for (int i = 0; i < nresults; i++)
        results[i] = trace_tt(subst_get(&map, region_return(m, g->body)->in[nprimal + i]));
    bool ok = record_end("a derivative", nresults, results, &out->rest);
    frame_pop(&frame);
    subst_free(&map);
    return ok;
}

bool split_linear(const Graph *g, int ntangents, int nprimal, Split *out)
{
    Module *m = g->m;
    remove_dead(m, g->body);
    Backward b = backward_new(m);
    ValueId first = region_at(m, g->body)->args;
    for (int i = g->nleaves - ntangents; i < g->nleaves; i++)
        b.linear[first + (uint32_t)i] = true;
    mark(&b, g->body);
    bool *own = own_values(g, b.nlinear);
    /* A tangent that does not vary with the others is a zero made on the spot: part of the rest. */
    Values needed = find_needed(&b, g->body, own);
    Node last = *region_return(m, g->body);
    for (int i = nprimal; i < last.nin; i++) {
        ValueId v = last.in[i];
        bool listed = is_linear(&b, v) || is_repeatable(m, v) || !own[v];
        for (int k = 0; k < needed.n && !listed; k++)
            listed = needed.at[k] == v;
        if (!listed)
            needed.at[needed.n++] = v;
    }
    free(own);
    bool ok = make_known(&b, g, ntangents, nprimal, needed, out) &&
              make_rest(&b, g, ntangents, nprimal, needed, out);
    backward_free(&b);
    return ok;
}

/* ---- grad ---- */

/* Which leaves are differentiated.  False: one of them cannot be; said. */
static bool active_leaves(tt_fn f, const Leaves *leaves, bool *active)
{
    for (int i = 0; i < leaves->n; i++) {
        int within, argument = leaf_argument(leaves, i, &within);
        active[i] = f->key.wrt >> argument & 1;
        if (active[i] && element_info[leaves->types[i].element].kind != FLOAT)
            return say_broken("%s: %s is to be differentiated: only floats can be; convert it with "
                              "tt_astype, or choose others by .wrt",
                              f->label, leaf_words(leaves, i)),
                   false;
    }
    if (leaves->nargs < 32 && f->key.wrt >> leaves->nargs)
        return say_broken("%s: .wrt names argument %d, but the last is %d", f->label,
                          31 - __builtin_clz(f->key.wrt), leaves->nargs - 1),
               false;
    return true;
}

static bool is_loss(tt_fn f, const Graph *g)
{
    Type t = type_of(g->m, region_return(g->m, g->body)->in[0]);
    if (t.rank || element_info[t.element].kind != FLOAT)
        return say_broken("%s: the %sresult must be one float, and is %s: %s", f->label,
                          g->nresults > 1 ? "first " : "", type_words(t),
                          t.rank ? "take its tt_sum or tt_mean" : "nothing changes it smoothly"),
               false;
    if (g->nresults > 1 && !f->key.has_aux)
        return say_broken("%s: the function returns %d arrays: if only the first is the loss, say "
                          ".has_aux = true",
                          f->label, g->nresults),
               false;
    return true;
}

/* Results of the function and gradients, in the order of the interface. */
static int arrange(tt_fn f, int nresults, const tt *y, int ngrads, const tt *grads, tt *out)
{
    int n = 0;
    bool is_grad = f->key.kind == FN_GRAD;
    for (int i = 0; !is_grad && i < nresults; i++)
        out[n++] = y[i];
    for (int i = 0; i < ngrads; i++)
        out[n++] = grads[i];
    for (int i = 1; is_grad && i < nresults; i++)
        out[n++] = y[i];
    return n;
}

/* jg: leaves, tangents -> results, tangent of the first.  Records the gradient's graph. */
static bool run_backward(tt_fn f, const Leaves *leaves, const bool *active, const Graph *jg,
                         Graph *out)
{
    Module *m = jg->m;
    unsigned before = said_count();
    int nresults = jg->nresults - 1, ntangents = jg->nleaves - leaves->n;
    Backward b = backward_new(m);
    tt *in = ARENA_ARRAY(m->arena, tt, leaves->n + 1),
       *grads = ARENA_ARRAY(m->arena, tt, ntangents + 1);
    tt *y = ARENA_ARRAY(m->arena, tt, nresults + 1);
    tt *all = ARENA_ARRAY(m->arena, tt, nresults + ntangents + 1);
    bool *linear = ARENA_ARRAY(m->arena, bool, jg->nleaves + 1);
    ValueId first = region_at(m, jg->body)->args;
    (void)active;
    for (int i = leaves->n; i < jg->nleaves; i++)
        linear[i] = b.linear[first + (uint32_t)i] = true;
    record_begin(leaves->n, leaves->types, leaves->is_weak, in);
    for (int i = 0; i < leaves->n; i++)
        subst_set(&b.value, first + (uint32_t)i, trace_value(f->label, in[i]));
    mark(&b, jg->body);
    go_forward(&b, jg->body);
    Node last = *region_return(m, jg->body);
    for (int i = 0; i < nresults; i++)
        y[i] = backward_value(&b, last.in[i]);
    if (is_linear(&b, last.in[nresults]))
        backward_add(&b, last.in[nresults], build_number(type_of(m, last.in[nresults]), 1));
    go_backward(&b, jg->body);
    int ngrads = collect(&b, jg, linear, grads);
    int n = arrange(f, nresults, y, ngrads, grads, all);
    bool ok = said_count() == before && record_end(f->label, n, all, out);
    if (!ok && tracing->region)
        record_drop();
    backward_free(&b);
    return ok;
}

bool grad_graph(tt_fn f, const Leaves *leaves, Graph *out)
{
    bool *active = ARENA_ARRAY(trace_arena(), bool, leaves->n + 1);
    Graph inner, jg;
    if (!active_leaves(f, leaves, active))
        return false;
    Trace frame = { .how = f->how, .name = f->key.inner->label, .file = f->file, .line = f->line };
    frame_push(&frame);
    bool ok = fn_graph(f->key.inner, leaves, &inner) && is_loss(f, &inner);
    if (ok) {
        bool *wanted = ARENA_ARRAY(trace_arena(), bool, inner.nresults + 1);
        wanted[0] = true;
        ok = jvp_transform(&inner, active, wanted, NULL, &jg);
    }
    if (ok) {
        remove_dead(jg.m, jg.body);
        ok = run_backward(f, leaves, active, &jg, out);
    }
    frame_pop(&frame);
    return ok;
}
