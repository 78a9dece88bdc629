/* custom.c - tt_custom_jvp and tt_custom_vjp: functions whose derivative the user says.
 *
 *     y = custom_jvp(x) { f }      d    y, dy = rule(x, dx)
 *
 *     y = custom_vjp(x) { f }      d    y, kept = forward(x)
 *                                       dy      = tangent(kept, dx)     a node that is linear in dx
 *                                backwards   dx = backward(kept, dy)
 *
 * A batch of such a function has a batch of its rule: tt_vmap of it, which is traced when a derivative
 * asks.  What all rows share gets from each row a gradient, and their sum is its own. */
#include "front/transform/transform.h"
#include "front/value/report.h"

#include <string.h>

#define NEW(T, n) ARENA_ARRAY(trace_arena(), T, (n) + 1)

/* ---- calling the user's rules ---- */

/* Arguments of so many leaves each, of these types. */
static void add_leaves(Leaves *l, int nargs, const int *counts, int n, const Type *types)
{
    for (int i = 0; i < nargs; i++)
        l->counts[l->nargs++] = counts[i];
    for (int i = 0; i < n; i++)
        l->types[l->n++] = types[i];
}

static Leaves leaves_for(int room)
{
    return (Leaves){ .types = NEW(Type, room), .is_weak = NEW(bool, room) };
}

static Type result_type(const Graph *g, int i)
{
    return type_of(g->m, region_return(g->m, g->body)->in[i]);
}

/* Is array i of what the rule gives, which is for the i-th of `what`, of this type?  False: reported. */
static bool gives(const Composite *c, tt_fn rule, const Graph *g, int i, const char *what,
                  int number, Type want)
{
    Type t = result_type(g, i);
    if (!type_equal(t, want))
        report_broken("%s: %s gives %s for %s %d, which must be %s", c->f->label, rule->label,
                      type_text(t), what, number, type_text(want));
    return type_equal(t, want);
}

/* Does the rule give that many, or at least that many?  False: reported. */
static bool gives_enough(const Composite *c, tt_fn rule, const Graph *g, int n, bool or_more,
                         const char *what)
{
    bool ok = or_more ? g->nresults >= n : g->nresults == n;
    if (!ok)
        report_broken("%s: %s gives %d array%s, and must give %s%d: %s", c->f->label, rule->label,
                      g->nresults, g->nresults == 1 ? "" : "s", or_more ? "at least " : "", n,
                      what);
    return ok;
}

/* Only arguments have tangents.  False: reported. */
static bool varies_by_arguments(const Jvp *j, const Composite *c)
{
    for (int i = c->nleaves; i < j->nin; i++)
        if (is_value(j->dx[i]))
            return report_broken(
                       "%s: it uses a value from around it that is differentiated: make that an "
                       "argument, so that its rule is told of it",
                       c->f->label),
                   false;
    return true;
}

/* ---- custom_jvp ---- */

void jvp_custom_jvp(const Jvp *j, const Composite *c)
{
    int n = c->nleaves;
    Leaves l = leaves_for(2 * n);
    Graph g;
    if (!varies_by_arguments(j, c))
        return;
    if (2 * c->nargs > TT_MAX_ARGS) {
        report_broken("%s: %d arguments and as many tangents: a rule takes at most %d", c->f->label,
                      c->nargs, TT_MAX_ARGS);
        return;
    }
    tt *in = NEW(tt, 2 * n), *y = NEW(tt, 2 * j->nout);
    Type *types = NEW(Type, n);
    for (int i = 0; i < n; i++) {
        types[i] = type_at(j->x[i]);
        in[i] = j->x[i];
        in[n + i] = value_or_zeros(j->dx[i], types[i]);
    }
    add_leaves(&l, c->nargs, c->counts, n, types);
    add_leaves(&l, c->nargs, c->counts, n, types);
    if (!composite_trace(c, c->rule, &l, &g) ||
        !gives_enough(c, c->rule, &g, 2 * j->nout, false, "the results, then a tangent for each"))
        return;
    for (int i = 0; i < 2 * j->nout; i++)
        if (!gives(c, c->rule, &g, i, i < j->nout ? "result" : "the tangent of result", i % j->nout,
                   type_at(j->y[i % j->nout])))
            return;
    if (!trace_inline(c->f->label, &g, in, y))
        return;
    memcpy(j->y, y, sizeof *y * (size_t)j->nout);
    memcpy(j->dy, y + j->nout, sizeof *y * (size_t)j->nout);
}

/* ---- custom_vjp ---- */

/* The node that the way back goes through: linear in the tangents of what varies smoothly. */
static void record_tangent(const Jvp *j, const Composite *c, int nkept, const tt *kept)
{
    Composite *t = arena_copy(trace_arena(), c, sizeof *c);
    Type *leaves = NEW(Type, c->nleaves), *results = NEW(Type, j->nout),
         *types = NEW(Type, j->nout);
    tt *in = NEW(tt, nkept + c->nleaves), *dy = NEW(tt, j->nout);
    int n = nkept, k = 0;
    memcpy(in, kept, sizeof *in * (size_t)nkept);
    for (int i = 0; i < c->nleaves; i++) {
        leaves[i] = type_at(j->x[i]);
        if (has_tangent(leaves[i]))
            in[n++] = value_or_zeros(j->dx[i], leaves[i]);
    }
    for (int i = 0; i < j->nout; i++) {
        results[i] = type_at(j->y[i]);
        if (has_tangent(results[i]))
            types[k++] = results[i];
    }
    t->kind = CUSTOM_TANGENT;
    t->leaves = leaves;
    t->results = results;
    t->nkept = nkept;
    if (!k || !trace_apply(c->f->label, OP_COMPOSITE, n, in, &t->attrs, k, types, dy))
        return;
    k = 0;
    for (int i = 0; i < j->nout; i++)
        if (has_tangent(results[i]))
            j->dy[i] = dy[k++];
}

void jvp_custom_vjp(const Jvp *j, const Composite *c)
{
    Leaves l = leaves_for(c->nleaves);
    Type *types = NEW(Type, c->nleaves);
    Graph g;
    if (!varies_by_arguments(j, c))
        return;
    for (int i = 0; i < c->nleaves; i++)
        types[i] = type_at(j->x[i]);
    add_leaves(&l, c->nargs, c->counts, c->nleaves, types);
    if (!composite_trace(c, c->rule, &l, &g) ||
        !gives_enough(c, c->rule, &g, j->nout, true,
                      "the results, then what is kept for the way back"))
        return;
    for (int i = 0; i < j->nout; i++)
        if (!gives(c, c->rule, &g, i, "result", i, type_at(j->y[i])))
            return;
    tt *y = NEW(tt, g.nresults);
    if (!trace_inline(c->f->label, &g, j->x, y))
        return;
    memcpy(j->y, y, sizeof *y * (size_t)j->nout);
    record_tangent(j, c, g.nresults - j->nout, y + j->nout);
}

/* What the user's way back is called with: what was kept, then the cotangents of all results. */
static tt *leaves_for_back(const Transpose *t, const Composite *c, Leaves *l)
{
    int counts[] = { c->nkept, c->nresults }, given[TT_MAX_ARGS];
    bool takes_kept = c->nkept || fn_arguments(c->back, given) != 1;
    tt *in = NEW(tt, c->nkept + c->nresults);
    memcpy(in, t->x, sizeof *in * (size_t)c->nkept);
    for (int i = 0, k = 0; i < c->nresults; i++)
        in[c->nkept + i] =
            value_or_zeros(has_tangent(c->results[i]) ? t->ct[k++] : NO_VALUE, c->results[i]);
    *l = leaves_for(c->nkept + c->nresults);
    if (takes_kept)
        add_leaves(l, 1, counts, c->nkept, t->types);
    add_leaves(l, 1, counts + 1, c->nresults, c->results);
    return in;
}

void transpose_custom_tangent(const Transpose *t, const Composite *c)
{
    Leaves l;
    Graph g;
    for (int i = 0; i < c->nkept; i++)
        if (t->linear[i]) {
            report_broken("%s: a derivative of its rule for the way back, which is not yet known",
                          c->f->label);
            return;
        }
    tt *in = leaves_for_back(t, c, &l), *y = NEW(tt, c->nleaves);
    if (!composite_trace(c, c->back, &l, &g) ||
        !gives_enough(c, c->back, &g, c->nleaves, false,
                      "a gradient for each array of its arguments"))
        return;
    for (int i = 0; i < c->nleaves; i++)
        if (has_tangent(c->leaves[i]) &&
            !gives(c, c->back, &g, i, "the gradient of argument array", i, c->leaves[i]))
            return;
    if (!trace_inline(c->f->label, &g, in, y))
        return;
    for (int i = 0, k = c->nkept; i < c->nleaves; i++)
        if (has_tangent(c->leaves[i])) {
            if (t->linear[k])
                t->out[k] = y[i];
            k++;
        }
}

/* ---- batches ---- */

/* tt_vmap of f, whose leaves are mapped where that says so, and whose results all are.  NULL: reported. */
static tt_fn mapped_rule(const Batch *b, tt_fn f, int n, const bool *mapped)
{
    tt_axis_run *runs = NEW(tt_axis_run, n);
    int k = 0;
    for (int i = 0; i < n; i++) {
        int32_t axis = mapped[i] ? 0 : TT_NONE;
        if (!k || runs[k - 1].axis != axis)
            runs[k++] = (tt_axis_run){ 0, axis };
        runs[k - 1].leaves++;
    }
    FnKey key = { .kind = FN_VMAP, .inner = f, .axis_size = (int32_t)b->size, .nin_runs = k };
    key.in_axis_runs = intern_bytes(runs, sizeof *runs * (size_t)k);
    key.axis_name = b->axis_name.n ? intern_bytes(b->axis_name.at, b->axis_name.n) : NULL;
    bool is_whole = key.in_axis_runs && (!b->axis_name.n || key.axis_name);
    return is_whole ? fn_intern(&key, "vmap", NULL) : NULL;
}

static tt_fn mapped_everywhere(const Batch *b, tt_fn f)
{
    FnKey key = { .kind = FN_VMAP, .inner = f, .axis_size = (int32_t)b->size };
    key.axis_name = b->axis_name.n ? intern_bytes(b->axis_name.at, b->axis_name.n) : NULL;
    return !b->axis_name.n || key.axis_name ? fn_intern(&key, "vmap", NULL) : NULL;
}

/* f, whose results that are marked are summed along their axis 0. */
static tt_fn summed_rule(tt_fn f, int n, const bool *summed)
{
    FnKey key = { .kind = FN_SUM_ROWS, .inner = f, .config_size = (size_t)n };
    key.config = intern_bytes(summed, (size_t)n);
    return key.config ? fn_intern(&key, "sum", NULL) : NULL;
}

bool sum_rows_graph(tt_fn f, const Leaves *leaves, Graph *out)
{
    Graph g;
    const bool *summed = f->key.config;
    Trace frame = { .file = f->file, .line = f->line };
    frame_push(&frame);
    bool ok = fn_graph(f->key.inner, leaves, &g);
    if (ok) {
        tt *in = NEW(tt, leaves->n), *y = NEW(tt, g.nresults);
        record_begin(leaves->n, leaves->types, leaves->is_weak, in);
        ok = trace_inline(f->label, &g, in, y);
        for (int i = 0; ok && i < g.nresults && i < (int)f->key.config_size; i++)
            if (summed[i] && has_tangent(result_type(&g, i)))
                y[i] = build_reduce(OP_ADD, y[i], ints_range(0, 1));
        ok = ok && record_end(f->label, g.nresults, y, out);
        if (tracing->region)
            record_drop();
    }
    frame_pop(&frame);
    return ok;
}

void batch_custom(const Batch *b, const Composite *c)
{
    Module *m = b->m;
    Composite *batched = arena_copy(m->arena, c, sizeof *c);
    int n = c->nleaves;
    bool *mapped = NEW(bool, 2 * n), *shared = NEW(bool, n), *wanted = NEW(bool, b->nout);
    for (int i = 0; i < n; i++) {
        mapped[i] = mapped[n + i] = b->mapped[i];
        shared[i] = !b->mapped[i];
    }
    memset(wanted, true, sizeof *wanted * (size_t)b->nout);
    if (c->kind == CUSTOM_JVP) {
        batched->rule = mapped_rule(b, c->rule, 2 * n, mapped);
    } else {
        batched->rule = mapped_rule(b, c->rule, n, mapped);
        batched->back = mapped_everywhere(b, c->back);
        batched->back = batched->back ? summed_rule(batched->back, n, shared) : NULL;
    }
    Graph g = graph_of_region(m, node_at(m, b->node)->regions[0], (Values){ 0 }), rows;
    if (batched->rule && (c->kind == CUSTOM_JVP || batched->back) &&
        batch_transform(&g, b->size, b->axis_name, b->mapped, wanted, NULL, &rows))
        composite_again(batched, &rows, b->x, b->y);
}

/* All of its operands that are tangents get the batch's axis, and so all that it gives. */
void batch_custom_tangent(const Batch *b, const Composite *c)
{
    Composite *batched = arena_copy(b->m->arena, c, sizeof *c);
    Type *leaves = NEW(Type, c->nleaves), *results = NEW(Type, c->nresults),
         *types = NEW(Type, b->nout);
    bool *mapped = NEW(bool, c->nkept + c->nresults);
    tt *in = NEW(tt, b->nin);
    for (int i = 0; i < b->nin; i++)
        in[i] = i < c->nkept ? b->x[i] : batch_operand(b, i);
    for (int i = 0; i < c->nleaves; i++)
        leaves[i] = type_insert(c->leaves[i], 0, b->size);
    for (int i = 0; i < c->nresults; i++)
        results[i] = type_insert(c->results[i], 0, b->size);
    for (int i = 0; i < b->nout; i++)
        types[i] = batch_result_type(b, i);
    memset(mapped + c->nkept, true, (size_t)c->nresults);
    memcpy(mapped, b->mapped, sizeof *mapped * (size_t)c->nkept);
    batched->leaves = leaves;
    batched->results = results;
    batched->back = mapped_rule(b, c->back, c->nkept + c->nresults, mapped);
    if (batched->back)
        trace_apply(c->f->label, OP_COMPOSITE, b->nin, in, &batched->attrs, b->nout, types, b->y);
}
