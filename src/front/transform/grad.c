/* grad.c - tt_grad and tt_value_and_grad: tangents for the loss, then its linear part backwards
 * from 1; in goes the graph of a function, out comes the graph of its results and gradients. */
#include "front/transform/fn.h"
#include "front/transform/transform.h"
#include "front/value/report.h"
#include "hlo/rewrite.h"

#include <string.h>

/* Which leaves are differentiated.  False: one of them cannot be; reported. */
static bool active_leaves(tt_fn f, const Leaves *leaves, bool *active)
{
    for (int i = 0; i < leaves->n; i++) {
        int within, argument = leaf_argument(leaves, i, &within);
        active[i] = f->key.wrt >> argument & 1;
        if (active[i] && element_info[leaves->types[i].element].kind != FLOAT)
            return report_broken(
                       "%s: %s is to be differentiated: only floats can be; convert it with "
                       "tt_astype, or choose others by .wrt",
                       f->label, leaf_text(leaves, i)),
                   false;
    }
    if (leaves->nargs < 32 && f->key.wrt >> leaves->nargs)
        return report_broken("%s: .wrt names argument %d, but the last is %d", f->label,
                             31 - __builtin_clz(f->key.wrt), leaves->nargs - 1),
               false;
    return true;
}

static bool is_loss(tt_fn f, const Graph *g)
{
    Type t = type_of(g->m, region_return(g->m, g->body)->in[0]);
    if (g->absent && g->absent[0])
        return report_broken("%s: the loss, the first result, is absent", f->label), false;
    if (t.rank || element_info[t.element].kind != FLOAT)
        return report_broken("%s: the %sresult must be one float, and is %s: %s", f->label,
                             g->nresults > 1 ? "first " : "", type_text(t),
                             t.rank ? "take its tt_sum or tt_mean" : "nothing changes it smoothly"),
               false;
    if (g->nresults > 1 && !f->key.has_aux)
        return report_broken(
                   "%s: the function returns %d arrays: if only the first is the loss, say "
                   ".has_aux = true",
                   f->label, g->nresults),
               false;
    return true;
}

enum { NO_SEED = -1, SEED_ONE = -2 }; /* else a leaf: the cotangent that a result is given */

/* Results of the function and gradients, in the order of the interface: which of the results, then
 * the gradients, each is. */
static int arrange(tt_fn f, int nresults, int ngrads, int *which)
{
    int n = 0;
    bool is_grad = f->key.kind == FN_GRAD;
    for (int i = 0; !is_grad && i < nresults; i++)
        which[n++] = i;
    for (int i = 0; i < ngrads; i++)
        which[n++] = nresults + i;
    for (int i = 1; is_grad && i < nresults; i++)
        which[n++] = i;
    return n;
}

/* A gradient is a number if what it is the gradient of is one. */
static const bool *weak_results(const Leaves *leaves, const bool *active, const Graph *inner, int n,
                                const int *which)
{
    bool *all = ARENA_ARRAY(trace_arena(), bool, inner->nresults + leaves->n + 1);
    bool *weak = ARENA_ARRAY(trace_arena(), bool, n + 1);
    memcpy(all, inner->is_weak, sizeof *all * (size_t)inner->nresults);
    for (int i = 0, k = inner->nresults; i < leaves->n; i++)
        if (active[i])
            all[k++] = leaves->is_weak[i];
    for (int i = 0; i < n; i++)
        weak[i] = all[which[i]];
    return weak;
}

/* given: nprimal leaves, tangents -> nresults results, tangents of those that seeds[] is not -1 for.
 * Records the gradient's graph: from 1, or from the leaf that the seed names. */
static bool run_backward(tt_fn f, const Leaves *leaves, int nprimal, const Graph *given,
                         int nresults, const int *seeds, int *which, Graph *out)
{
    Module *m = given->m;
    Graph split, *jg = &split;
    unsigned before = report_count();
    bool *linear = ARENA_ARRAY(m->arena, bool, given->nleaves + 1);
    memset(linear + nprimal, true, (size_t)(given->nleaves - nprimal));
    if (!split_loops(given, linear, jg))
        return false;
    int ntangents = jg->nleaves - nprimal;
    Backward b = backward_new(m);
    tt *in = ARENA_ARRAY(m->arena, tt, leaves->n + 1);
    tt *y = ARENA_ARRAY(m->arena, tt, nresults + ntangents + 1); /* and the gradients */
    tt *all = ARENA_ARRAY(m->arena, tt, nresults + ntangents + 1);
    ValueId first = region_at(m, jg->body)->args;
    for (int i = nprimal; i < jg->nleaves; i++)
        b.linear[first + (uint32_t)i] = true;
    record_begin(leaves->n, leaves->types, leaves->is_weak, in);
    for (int i = 0; i < nprimal; i++)
        subst_set(&b.value, first + (uint32_t)i, trace_value(f->label, in[i]));
    backward_mark(&b, jg->body);
    backward_forward(&b, jg->body);
    Node last = *region_return(m, jg->body);
    for (int i = 0; i < nresults; i++)
        y[i] = backward_value(&b, last.in[i]);
    for (int i = 0, k = nresults; i < nresults; i++) {
        if (seeds[i] == NO_SEED)
            continue;
        ValueId tangent = last.in[k++];
        if (backward_is_linear(&b, tangent))
            backward_add(&b, tangent,
                         seeds[i] == SEED_ONE ? build_number(type_of(m, tangent), 1)
                                              : in[seeds[i]]);
    }
    backward_run(&b, jg->body);
    int n = arrange(f, nresults, backward_collect(&b, jg, linear, y + nresults), which);
    for (int i = 0; i < n; i++)
        all[i] = y[which[i]];
    bool ok = report_count() == before && record_end(f->label, n, all, out);
    if (!ok && tracing->region)
        record_drop();
    backward_free(&b);
    return ok;
}

/* What of the results is absent, in the order of arrange: the loss is there. */
static void grad_slots(tt_fn f, const Leaves *leaves, const Graph *inner, Graph *out)
{
    if (f->key.kind != FN_GRAD)
        slots_like(out, inner);
    slots_append_wrt(out, leaves, f->key.wrt);
    if (f->key.kind == FN_GRAD)
        slots_append(out, graph_slots(inner) - 1, inner->absent ? inner->absent + 1 : NULL);
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
    if (ok && leaves->varies)
        vary_insert(&inner, leaves->varies);
    if (ok) {
        bool *wanted = ARENA_ARRAY(trace_arena(), bool, inner.nresults + 1);
        wanted[0] = true;
        ok = jvp_transform(&inner, active, wanted, NULL, &jg);
    }
    if (ok) {
        remove_dead(jg.m, jg.body);
        int *which = ARENA_ARRAY(trace_arena(), int, inner.nresults + leaves->n + 1);
        int *seeds = ARENA_ARRAY(trace_arena(), int, inner.nresults + 1);
        for (int i = 0; i < inner.nresults; i++)
            seeds[i] = i ? NO_SEED : SEED_ONE;
        ok = run_backward(f, leaves, leaves->n, &jg, inner.nresults, seeds, which, out);
        if (ok && leaves->varies)
            vary_remove(out);
        if (ok) {
            out->is_weak = weak_results(leaves, active, &inner, out->nresults, which);
            grad_slots(f, leaves, &inner, out);
        }
    }
    frame_pop(&frame);
    return ok;
}

/* ---- tt_vjp ---- */

/* The arguments of f alone: the last is the tree of cotangents.  False: there is none; reported. */
static bool without_cotangents(tt_fn f, const Leaves *leaves, Leaves *primal)
{
    *primal = *leaves;
    if (leaves->nargs < 2)
        return report_broken(
                   "%s: the arguments of the function, then a tree of cotangents, one for "
                   "each result",
                   f->label),
               false;
    primal->nargs--;
    primal->n -= leaves->counts[primal->nargs];
    return true;
}

/* Each float result has a cotangent of its type.  False: reported. */
static bool take_seeds(tt_fn f, const Leaves *leaves, int nprimal, const Graph *g, bool *wanted,
                       int *seeds)
{
    if (leaves->n - nprimal != g->nresults)
        return report_broken("%s: %d cotangents for %d results", f->label, leaves->n - nprimal,
                             g->nresults),
               false;
    for (int i = 0; i < g->nresults; i++) {
        Type t = type_of(g->m, region_return(g->m, g->body)->in[i]);
        wanted[i] = element_info[t.element].kind == FLOAT;
        seeds[i] = wanted[i] ? nprimal + i : NO_SEED;
        if (wanted[i] && !type_equal(t, leaves->types[nprimal + i]))
            return report_broken(
                       "%s: result %d is %s, and its cotangent %s: it must be of the same "
                       "type",
                       f->label, i, type_text(t), type_text(leaves->types[nprimal + i])),
                   false;
    }
    return true;
}

bool vjp_graph(tt_fn f, const Leaves *leaves, Graph *out)
{
    Leaves primal;
    Graph inner, jg;
    bool *active = ARENA_ARRAY(trace_arena(), bool, leaves->n + 1);
    if (!without_cotangents(f, leaves, &primal) || !active_leaves(f, &primal, active))
        return false;
    Trace frame = { .how = f->how, .name = f->key.inner->label, .file = f->file, .line = f->line };
    frame_push(&frame);
    bool ok = fn_graph(f->key.inner, &primal, &inner);
    if (ok && leaves->varies)
        vary_insert(&inner, primal.varies);
    bool *wanted = ok ? ARENA_ARRAY(trace_arena(), bool, inner.nresults + 1) : NULL;
    int *seeds = ok ? ARENA_ARRAY(trace_arena(), int, inner.nresults + 1) : NULL;
    ok = ok && take_seeds(f, leaves, primal.n, &inner, wanted, seeds) &&
         jvp_transform(&inner, active, wanted, NULL, &jg);
    if (ok) {
        remove_dead(jg.m, jg.body);
        int *which = ARENA_ARRAY(trace_arena(), int, inner.nresults + leaves->n + 1);
        ok = run_backward(f, leaves, primal.n, &jg, inner.nresults, seeds, which, out);
        if (ok && leaves->varies)
            vary_remove(out);
        if (ok) {
            out->is_weak = weak_results(&primal, active, &inner, out->nresults, which);
            slots_like(out, &inner);
            slots_append_wrt(out, &primal, f->key.wrt);
        }
    }
    frame_pop(&frame);
    return ok;
}
