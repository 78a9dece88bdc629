/* checkpoint.c - tt_checkpoint: a function that is computed once more for its way back, instead of
 * keeping what it needs.
 *
 *     y = checkpoint(x) { f }     d    y       = checkpoint(x) { f }
 *                                      dy      = checkpoint(x, dx) { f with tangents, those alone }
 *                             backwards   dx   = again(x, dy) { f once more, then its way back }
 *
 * With values to keep (products of matrices, what has a name), the first gives them too and the second
 * takes them.  Where the graph is lowered, what goes into `again` passes a barrier: so nothing in it is
 * found to be what was computed before, and its work waits for the cotangents. */
#include "base/guard.h"
#include "front/transform/transform.h"
#include "front/value/axis_names.h"

#include <string.h>

#define NEW(T, n) ARENA_ARRAY(trace_arena(), T, (n) + 1)

/* The function with tangents, while it is cut in two. */
typedef struct Cut {
    const Jvp *j;
    const Composite *c;
    Graph g;      /* leaves, tangents -> results, tangents of those that vary */
    Values kept;  /* values of g that the second part need not compute */
    bool *active; /* per operand */
    int ntangents;
} Cut;

/* ---- names ---- */

tt build_named(tt x, const char *name)
{
    Composite *c = ARENA_NEW(trace_arena(), Composite);
    *c = (Composite){ .kind = NAMED, .keeps = name };
    c->attrs.name = str_of(name);
    Type t = type_at(x);
    return build_op(OP_COMPOSITE, 1, &x, &c->attrs, t);
}

/* ---- what is kept ---- */

static bool is_kept(const Composite *c, const Node *node)
{
    if (node->op == OP_DOT || node->op == OP_CONVOLUTION)
        return c->keeps_dots;
    if (node->op != OP_COMPOSITE || !c->keeps)
        return false;
    const Composite *of = composite_of(node);
    return of->kind == NAMED && axis_names_has(str_of(c->keeps), str_of(of->keeps));
}

static Values find_kept(const Cut *w)
{
    Module *m = w->g.m;
    const Region *region = region_at(m, w->g.body);
    Values kept = { 0, NEW(ValueId, region->nnodes) };
    Backward b = backward_new(m);
    for (int i = w->g.nleaves - w->ntangents; i < w->g.nleaves; i++)
        b.linear[region->args + (uint32_t)i] = true;
    backward_mark(&b, w->g.body);
    for (int i = 0; i < region->nnodes; i++) {
        const Node *node = node_at(m, region->nodes[i]);
        if (node->nout == 1 && !backward_is_linear(&b, node->out) && is_kept(w->c, node))
            kept.at[kept.n++] = node->out;
    }
    backward_free(&b);
    return kept;
}

/* ---- the two parts ---- */

/* The graph of g's results from..to and of `more`, from these values of g. */
static bool part(const Graph *g, Values leaves, int from, int to, Values more, Graph *out)
{
    Module *m = g->m;
    Subst map = subst_new(m);
    bool *is_leaf = NEW(bool, m->nvalues);
    Type *types = NEW(Type, leaves.n);
    tt *in = NEW(tt, leaves.n), *y = NEW(tt, to - from + more.n);
    Trace frame = { .loc = tracing->loc };
    int n = 0;
    for (int i = 0; i < leaves.n; i++)
        types[i] = type_of(m, leaves.at[i]);
    frame_push(&frame);
    record_begin(leaves.n, types, NULL, in);
    for (int i = 0; i < leaves.n; i++) {
        subst_set(&map, leaves.at[i], trace_value("a derivative", in[i]));
        is_leaf[leaves.at[i]] = true;
    }
    for (int i = 0; i < region_at(m, g->body)->nnodes - 1; i++) {
        NodeId node = region_at(m, g->body)->nodes[i];
        if (!node_at(m, node)->nout || !is_leaf[node_at(m, node)->out])
            region_append(m, tracing->region, node_copy(m, node, &map));
    }
    for (int i = from; i < to; i++)
        y[n++] = trace_tt(subst_get(&map, region_return(m, g->body)->in[i]));
    for (int i = 0; i < more.n; i++)
        y[n++] = trace_tt(subst_get(&map, more.at[i]));
    bool ok = record_end("a derivative", n, y, out);
    frame_pop(&frame);
    subst_free(&map);
    if (ok)
        remove_dead(m, out->body);
    return ok;
}

/* Results, and what is kept, by the first part. */
static bool run_known(const Cut *w, tt *kept)
{
    int n = w->j->nin;
    Values leaves = { n, NEW(ValueId, n) };
    tt *y = NEW(tt, w->j->nout + w->kept.n);
    Graph g;
    for (int i = 0; i < n; i++)
        leaves.at[i] = region_at(w->g.m, w->g.body)->args + (uint32_t)i;
    if (!part(&w->g, leaves, 0, w->j->nout, w->kept, &g) || !composite_again(w->c, &g, w->j->x, y))
        return false;
    memcpy(w->j->y, y, sizeof *y * (size_t)w->j->nout);
    memcpy(kept, y + w->j->nout, sizeof *y * (size_t)w->kept.n);
    return true;
}

/* The operands of the second part, and the values of g that they are: all, or those that are used. */
static Values rest_leaves(const Cut *w, const tt *kept, const uint32_t *uses, ValueId first, tt *in)
{
    int nin = w->j->nin, all = w->g.nleaves + w->kept.n, n = 0, next = 0;
    Values leaves = { 0, NEW(ValueId, all) };
    ValueId args = region_at(w->g.m, w->g.body)->args;
    tt *dx = NEW(tt, w->ntangents);
    for (int i = 0; i < nin; i++)
        if (w->active[i])
            dx[next++] = w->j->dx[i];
    for (int i = 0; i < all; i++) {
        bool is_kept_one = i >= nin && i < nin + w->kept.n;
        if (uses && !uses[first + (uint32_t)i])
            continue;
        leaves.at[n] =
            is_kept_one ? w->kept.at[i - nin] : args + (uint32_t)(i < nin ? i : i - w->kept.n);
        in[n++] = i < nin ? w->j->x[i] : is_kept_one ? kept[i - nin] : dx[i - nin - w->kept.n];
    }
    leaves.n = n;
    return leaves;
}

/* The tangents, by the second part: of what is used alone. */
static bool run_rest(const Cut *w, const tt *kept, tt *dy)
{
    Module *m = w->g.m;
    tt *in = NEW(tt, w->g.nleaves + w->kept.n);
    Values leaves = rest_leaves(w, kept, NULL, 0, in);
    Graph g;
    if (!part(&w->g, leaves, w->j->nout, w->g.nresults, (Values){ 0 }, &g))
        return false;
    uint32_t *uses = count_uses(m, g.body);
    leaves = rest_leaves(w, kept, uses, region_at(m, g.body)->args, in);
    heap_free(uses);
    return part(&w->g, leaves, w->j->nout, w->g.nresults, (Values){ 0 }, &g) &&
           composite_again(w->c, &g, in, dy);
}

void jvp_checkpoint(const Jvp *j, const Composite *c)
{
    Cut w = { .j = j, .c = c, .active = NEW(bool, j->nin) };
    bool *is_active = NEW(bool, j->nout);
    Graph body = graph_of_region(j->m, node_at(j->m, j->node)->regions[0], (Values){ 0 });
    for (int i = 0; i < j->nin; i++)
        w.ntangents += w.active[i] = is_value(j->dx[i]);
    if (!jvp_transform(&body, w.active, NULL, is_active, &w.g))
        return;
    remove_dead(j->m, w.g.body);
    w.kept = find_kept(&w);
    tt *kept = NEW(tt, w.kept.n), *dy = NEW(tt, j->nout);
    if ((w.kept.n && !run_known(&w, kept)) || (w.g.nresults > j->nout && !run_rest(&w, kept, dy)))
        return;
    for (int i = 0, k = 0; i < j->nout; i++)
        if (is_active[i])
            j->dy[i] = dy[k++];
}

/* ---- backwards ---- */

void transpose_checkpoint(const Transpose *t, const Composite *c)
{
    Graph body = graph_of_region(t->m, node_at(t->m, t->node)->regions[0], (Values){ 0 }), back;
    Composite *again = arena_copy(trace_arena(), c, sizeof *c);
    tt *in = NEW(tt, t->nin + t->nout), *out = NEW(tt, t->nin);
    int n = 0;
    if (!transpose_transform(&body, t->linear, &back))
        return;
    remove_dead(t->m, back.body);
    for (int i = 0; i < t->nin; i++)
        if (!t->linear[i])
            in[n++] = t->x[i];
    for (int i = 0; i < t->nout; i++)
        in[n++] = value_or_zeros(t->ct[i], t->results[i]);
    again->is_again = true;
    if (!composite_again(again, &back, in, out))
        return;
    for (int i = 0, k = 0; i < t->nin; i++)
        if (t->linear[i])
            t->out[i] = out[k++];
}
