/* control.c - calls, branches and loops.
 *
 *     call    the function's operations are differentiated or batched in place
 *     case    y = case i { f } { g }        dy = case i { the tangents of f } { of g }
 *     while   tangents are carried along with what they are tangents of; backwards, a loop whose
 *             number of iterations is known is run from its last iteration to its first (loops.c)
 *
 * Branches and loop bodies use values from around them; these are looked up, with their tangents
 * or batch axes, in the transformation that asks. */
#include "front/transform/transform.h"
#include "front/value/report.h"

#include <string.h>

#define NEW(T, n) ARENA_ARRAY(trace_arena(), T, (n) + 1)

static RegionId callee_body(Module *m, const void *attrs)
{
    return func_find(m, ((const CallAttrs *)attrs)->callee)->body;
}

/* A region without arguments that holds a copy of g on these values; only results [from, to). */
static bool branch(const Graph *g, const tt *in, int from, int to, Graph *out)
{
    Trace frame = { .loc = tracing->loc };
    tt *y = NEW(tt, g->nresults);
    frame_push(&frame);
    record_begin(0, NULL, NULL, y);
    trace_inline("a branch", g, in, y);
    bool ok = record_end("a branch", to - from, y + from, out);
    frame_pop(&frame);
    return ok;
}

/* ---- calls ---- */

void jvp_call(const Jvp *j)
{
    forward_inline(j->forward, callee_body(j->m, j->attrs), j->x, j->dx, j->y, j->dy);
}

void batch_call(const Batch *b)
{
    batcher_inline(b->batcher, callee_body(b->m, b->attrs), b->x, b->mapped, b->y, b->y_mapped);
}

/* ---- case ---- */

/* The values that branches use from around them, with their tangents. */
typedef struct Around {
    Values values;
    tt *x, *dx; /* [values.n] */
    bool *active;
    int ntangents;
} Around;

static Around look_around(const Jvp *j, int nregions, const RegionId *regions)
{
    Around a = { .values = free_values(j->m, nregions, regions) };
    a.x = NEW(tt, 2 * a.values.n);
    a.dx = NEW(tt, a.values.n);
    a.active = NEW(bool, a.values.n);
    for (int i = 0; i < a.values.n; i++) {
        a.x[i] = forward_value(j->forward, a.values.at[i]);
        a.dx[i] = forward_tangent(j->forward, a.values.at[i]);
        a.active[i] = is_value(a.dx[i]);
        if (a.active[i])
            a.x[a.values.n + a.ntangents++] = a.dx[i];
    }
    return a;
}

void jvp_case(const Jvp *j)
{
    Node node = *node_at(j->m, j->node);
    Around around = look_around(j, node.nregions, node.regions);
    bool *wanted = NEW(bool, j->nout);
    Type *types = NEW(Type, j->nout);
    tt *dy = NEW(tt, j->nout);
    int n = 0;
    for (int i = 0; i < j->nout; i++)
        if ((wanted[i] = has_tangent(type_at(j->y[i]))))
            types[n++] = type_at(j->y[i]);
    Graph *branches = NEW(Graph, node.nregions);
    for (int i = 0; i < node.nregions; i++) {
        Graph g = graph_of_region(j->m, node.regions[i], around.values), with_tangents;
        if (!jvp_transform(&g, around.active, wanted, NULL, &with_tangents) ||
            !branch(&with_tangents, around.x, j->nout, j->nout + n, &branches[i]))
            return;
    }
    trace_apply_regions("a derivative", j->op, 1, j->x, j->attrs, node.nregions, branches, n, types,
                        dy);
    for (int i = 0, k = 0; i < j->nout; i++)
        if (wanted[i])
            j->dy[i] = dy[k++];
}

/* Branches that give cotangents of everything linear that any branch uses. */
void transpose_case(const Transpose *t)
{
    Node node = *node_at(t->m, t->node);
    Values all = free_values(t->m, node.nregions, node.regions);
    bool *linear = NEW(bool, all.n);
    Type *types = NEW(Type, all.n);
    tt *in = NEW(tt, all.n + t->nout), *out = NEW(tt, all.n);
    int n = 0, nlinear = 0;
    for (int i = 0; i < all.n; i++)
        if ((linear[i] = backward_is_linear(t->backward, all.at[i])))
            types[nlinear++] = type_of(t->m, all.at[i]);
        else
            in[n++] = backward_value(t->backward, all.at[i]);
    for (int i = 0; i < t->nout; i++)
        in[n++] = value_or_zeros(t->ct[i], t->results[i]);
    Graph *branches = NEW(Graph, node.nregions);
    for (int i = 0; i < node.nregions; i++) {
        Graph g = graph_of_region(t->m, node.regions[i], all), back;
        if (!transpose_transform(&g, linear, &back) || !branch(&back, in, 0, nlinear, &branches[i]))
            return;
    }
    trace_apply_regions("a gradient", t->op, 1, t->x, t->attrs, node.nregions, branches, nlinear,
                        types, out);
    for (int i = 0, k = 0; i < all.n; i++)
        if (linear[i])
            backward_add(t->backward, all.at[i], out[k++]);
}

typedef struct Rows {
    Values values;
    tt *x;
    bool *mapped;
} Rows;

static Rows rows_around(const Batch *b, int nregions, const RegionId *regions)
{
    Rows r = { .values = free_values(b->m, nregions, regions) };
    r.x = NEW(tt, r.values.n);
    r.mapped = NEW(bool, r.values.n);
    for (int i = 0; i < r.values.n; i++) {
        r.x[i] = batcher_value(b->batcher, r.values.at[i]);
        r.mapped[i] = batcher_is_mapped(b->batcher, r.values.at[i]);
    }
    return r;
}

/* Rows go different ways: all branches are recorded, and each row takes its own. */
static void choose_rows(const Batch *b, const Graph *branches, const Rows *rows, int n)
{
    tt index = b->x[0];
    Type it = type_at(index);
    bool is_if = b->op == OP_IF;
    for (int i = n - 1; i >= 0; i--) {
        tt *y = NEW(tt, b->nout);
        trace_inline("a batch", &branches[i], rows->x, y);
        for (int k = 0; k < b->nout; k++) {
            if (i == n - 1) {
                b->y[k] = y[k];
                continue;
            }
            tt is_mine = is_if ? index : build_compare(EQ, index, build_number(it, i));
            Type t = batch_result_type(b, k);
            b->y[k] = build_select(build_broadcast(is_mine, t, ints_range(0, 1)), y[k], b->y[k]);
        }
    }
}

void batch_case(const Batch *b)
{
    Node node = *node_at(b->m, b->node);
    Rows rows = rows_around(b, node.nregions, node.regions);
    bool *wanted = NEW(bool, b->nout);
    Type *types = NEW(Type, b->nout);
    Graph *graphs = NEW(Graph, node.nregions), *branches = NEW(Graph, node.nregions);
    memset(wanted, true, sizeof *wanted * (size_t)b->nout);
    for (int i = 0; i < b->nout; i++)
        types[i] = batch_result_type(b, i);
    for (int i = 0; i < node.nregions; i++) {
        Graph g = graph_of_region(b->m, node.regions[i], rows.values);
        if (!batch_transform(&g, b->size, b->axis_name, rows.mapped, wanted, NULL, &graphs[i]))
            return;
    }
    if (b->mapped[0]) {
        choose_rows(b, graphs, &rows, node.nregions);
        return;
    }
    for (int i = 0; i < node.nregions; i++)
        if (!branch(&graphs[i], rows.x, 0, b->nout, &branches[i]))
            return;
    trace_apply_regions("a batch", b->op, 1, b->x, b->attrs, node.nregions, branches, b->nout,
                        types, b->y);
}

/* ---- while ---- */

/* What is carried, and which of it varies: what varies at the end of an iteration varies in the next. */
static bool find_varying(const Graph *body, const Around *around, int n, bool *active)
{
    bool *all = NEW(bool, n + around->values.n), *is_active = NEW(bool, n);
    for (bool changed = true; changed;) {
        Graph with_tangents;
        changed = false;
        memcpy(all, active, sizeof *all * (size_t)n);
        memcpy(all + n, around->active, sizeof *all * (size_t)around->values.n);
        if (!jvp_transform(body, all, NULL, is_active, &with_tangents))
            return false;
        for (int i = 0; i < n; i++)
            if (is_active[i] && !active[i])
                active[i] = changed = true;
    }
    return true;
}

typedef struct Loop {
    const Jvp *j;
    Around around;
    bool *active; /* of what is carried */
    int ncarried, ntangents;
    Type *types; /* of all that is carried, tangents behind */
} Loop;

/* A region on what is carried, made of g: g's leaves are the carried values, those around, then
 * for a body the tangents of both. */
static bool loop_region(const Loop *l, const Graph *g, bool is_body, Graph *out)
{
    int n = l->ncarried, all = n + l->ntangents, k = 0;
    tt *carried = NEW(tt, all), *in = NEW(tt, g->nleaves), *y = NEW(tt, g->nresults);
    Trace frame = { .loc = tracing->loc };
    frame_push(&frame);
    record_begin(all, l->types, NULL, carried);
    for (int i = 0; i < n; i++)
        in[k++] = carried[i];
    for (int i = 0; i < l->around.values.n; i++)
        in[k++] = l->around.x[i];
    for (int i = 0; is_body && i < l->ntangents; i++)
        in[k++] = carried[n + i];
    for (int i = 0; is_body && i < l->around.ntangents; i++)
        in[k++] = l->around.x[l->around.values.n + i];
    trace_inline("a derivative", g, in, y);
    bool ok = record_end("a derivative", g->nresults, y, out);
    frame_pop(&frame);
    return ok;
}

static void run_loop(const Loop *l, Graph *regions)
{
    const Jvp *j = l->j;
    int n = l->ncarried, k = n;
    tt *in = NEW(tt, n + l->ntangents), *y = NEW(tt, n + l->ntangents);
    memcpy(in, j->x, sizeof *in * (size_t)n);
    for (int i = 0; i < n; i++)
        if (l->active[i])
            in[k++] = value_or_zeros(j->dx[i], l->types[i]);
    if (!trace_apply_regions("a derivative", OP_WHILE, k, in, j->attrs, 2, regions, k, l->types, y))
        return;
    memcpy(j->y, y, sizeof *y * (size_t)n);
    k = n;
    for (int i = 0; i < n; i++)
        if (l->active[i])
            j->dy[i] = y[k++];
}

void jvp_while(const Jvp *j)
{
    Node node = *node_at(j->m, j->node);
    Loop l = { .j = j, .around = look_around(j, 2, node.regions), .ncarried = j->nin };
    int n = j->nin, around = l.around.values.n;
    Graph condition = graph_of_region(j->m, node.regions[0], l.around.values);
    Graph body = graph_of_region(j->m, node.regions[1], l.around.values), with_tangents, regions[2];
    l.active = NEW(bool, n + around);
    for (int i = 0; i < n; i++)
        l.active[i] = is_value(j->dx[i]);
    if (!find_varying(&body, &l.around, n, l.active))
        return;
    l.types = NEW(Type, 2 * n);
    for (int i = 0; i < n; i++)
        l.types[i] = type_at(j->x[i]);
    for (int i = 0; i < n; i++)
        if (l.active[i])
            l.types[n + l.ntangents++] = l.types[i];
    memcpy(l.active + n, l.around.active, sizeof *l.active * (size_t)around);
    if (jvp_transform(&body, l.active, l.active, NULL, &with_tangents) &&
        loop_region(&l, &condition, false, &regions[0]) &&
        loop_region(&l, &with_tangents, true, &regions[1]))
        run_loop(&l, regions);
}

/* A linear loop, as loops.c makes them, from its last iteration to its first. */
typedef struct Backwards {
    const Transpose *t;
    Values free;
    int64_t trip_count;
    Graph back; /* of one iteration: the iteration, what is around, the cotangents of its results */
} Backwards;

static void iterate_back(tt iteration, const tt *in, tt *out, void *user)
{
    const Backwards *w = user;
    int k = 0;
    tt *leaf = NEW(tt, w->back.nleaves);
    tt last = build_number(type_at(iteration), (double)(w->trip_count - 1));
    leaf[k++] = build2(OP_SUB, last, iteration);
    for (int i = 0; i < w->free.n; i++)
        leaf[k++] = backward_value(w->t->backward, w->free.at[i]);
    leaf[k++] = build_zeros(type_at(iteration));
    memcpy(leaf + k, in, sizeof *in * (size_t)(w->t->nin - 1));
    trace_inline("a gradient", &w->back, leaf, out);
}

void transpose_while(const Transpose *t)
{
    Node node = *node_at(t->m, t->node);
    Backwards w = { .t = t, .trip_count = loop_trip_count(t->m, t->node) };
    w.free = free_values(t->m, 1, &node.regions[1]);
    Graph body = graph_of_region(t->m, node.regions[1], w.free);
    bool *linear = NEW(bool, body.nleaves);
    tt *ct = NEW(tt, t->nin);
    memset(linear + 1, true, (size_t)(t->nin - 1));
    for (int i = 1; i < t->nin; i++)
        ct[i - 1] = value_or_zeros(t->ct[i], t->types[i]);
    if (transpose_transform(&body, linear, &w.back))
        loop_counted(w.trip_count, t->nin - 1, ct, iterate_back, &w, t->out + 1);
}

typedef struct BatchedLoop {
    const Batch *b;
    Rows around;
    bool *mapped;   /* of what is carried, then of what is around */
    bool is_by_row; /* rows stop at different times */
    Type *types;
    Graph condition, body; /* batched */
} BatchedLoop;

/* Which of what is carried differs between rows, to begin with or after some iterations. */
static bool find_mapped(BatchedLoop *t, const Graph *condition, const Graph *body)
{
    const Batch *b = t->b;
    bool *is_mapped = NEW(bool, b->nin);
    for (bool changed = true; changed;) {
        bool stops_by_row;
        changed = false;
        if (!batch_transform(body, b->size, b->axis_name, t->mapped, NULL, is_mapped, &t->body) ||
            !batch_transform(condition, b->size, b->axis_name, t->mapped, NULL, &stops_by_row,
                             &t->condition))
            return false;
        t->is_by_row = stops_by_row;
        for (int i = 0; i < b->nin; i++)
            if ((is_mapped[i] || stops_by_row) && !t->mapped[i])
                t->mapped[i] = changed = true;
    }
    return batch_transform(body, b->size, b->axis_name, t->mapped, t->mapped, NULL, &t->body);
}

static tt inline_in_loop(const BatchedLoop *t, const Graph *g, const tt *carried, tt *y)
{
    int n = t->b->nin;
    tt *in = NEW(tt, n + t->around.values.n);
    memcpy(in, carried, sizeof *in * (size_t)n);
    memcpy(in + n, t->around.x, sizeof *in * (size_t)t->around.values.n);
    trace_inline("a batch", g, in, y);
    return y[0];
}

static bool condition_region(const BatchedLoop *t, Graph *out)
{
    int n = t->b->nin;
    tt *carried = NEW(tt, n), goes_on[1];
    Trace frame = { .loc = tracing->loc };
    frame_push(&frame);
    record_begin(n, t->types, NULL, carried);
    inline_in_loop(t, &t->condition, carried, goes_on);
    if (t->is_by_row)
        goes_on[0] = build_reduce(OP_OR, goes_on[0], ints_range(0, 1));
    bool ok = record_end("a batch", 1, goes_on, out);
    frame_pop(&frame);
    return ok;
}

/* A row that has stopped stays as it is. */
static bool body_region(const BatchedLoop *t, Graph *out)
{
    int n = t->b->nin;
    tt *carried = NEW(tt, n), *y = NEW(tt, n), goes_on[1];
    Trace frame = { .loc = tracing->loc };
    frame_push(&frame);
    record_begin(n, t->types, NULL, carried);
    inline_in_loop(t, &t->body, carried, y);
    if (t->is_by_row) {
        inline_in_loop(t, &t->condition, carried, goes_on);
        for (int i = 0; i < n; i++)
            y[i] = build_select(build_broadcast(goes_on[0], t->types[i], ints_range(0, 1)), y[i],
                                carried[i]);
    }
    bool ok = record_end("a batch", n, y, out);
    frame_pop(&frame);
    return ok;
}

void batch_while(const Batch *b)
{
    Node node = *node_at(b->m, b->node);
    BatchedLoop t = { .b = b, .around = rows_around(b, 2, node.regions) };
    int n = b->nin, around = t.around.values.n;
    Graph condition = graph_of_region(b->m, node.regions[0], t.around.values);
    Graph body = graph_of_region(b->m, node.regions[1], t.around.values), regions[2];
    t.mapped = NEW(bool, n + around);
    memcpy(t.mapped, b->mapped, sizeof *t.mapped * (size_t)n);
    memcpy(t.mapped + n, t.around.mapped, sizeof *t.mapped * (size_t)around);
    if (!find_mapped(&t, &condition, &body))
        return;
    tt *in = NEW(tt, n);
    t.types = NEW(Type, n);
    for (int i = 0; i < n; i++) {
        in[i] = t.mapped[i] ? batch_operand(b, i) : b->x[i];
        t.types[i] = type_at(in[i]);
        b->y_mapped[i] = t.mapped[i];
    }
    if (condition_region(&t, &regions[0]) && body_region(&t, &regions[1]))
        trace_apply_regions("a batch", OP_WHILE, n, in, b->attrs, 2, regions, n, t.types, b->y);
}
