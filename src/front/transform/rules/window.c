/* window.c - folds over windows.
 *
 * Sums are linear, and backwards sums over windows again:
 *
 *     x  a b c d e          y = a+b, c+d       (windows of 2, by 2)
 *     ct of y  s t          ct of x = s s t t 0: ct spread by the strides and padded, summed over
 *                           windows by 1
 *
 * Of extremes the position of the element that won is found, and tangents are read there; any
 * other fold is that of an array which has the windows side by side.  select_and_scatter writes to
 * the elements that win. */
#include "front/transform/transform.h"
#include "front/value/report.h"
#include "hlo/rewrite.h"

#include <string.h>

static int64_t entry(Ints list, int i)
{
    return list.n ? list.at[i] : 1;
}

static tt sum_windows(tt x, const WindowAttrs *attrs, Type result)
{
    tt in[] = { x, build_zeros(type_scalar(result.element)) }, y;
    Graph body = trace_reducer(OP_ADD, result.element);
    trace_apply_regions("a rule", OP_REDUCE_WINDOW, 2, in, attrs, 1, &body, 1, &result, &y);
    return y;
}

/* ---- the element that a window chooses ---- */

enum { NO_INDEX = -1 }; /* position of padding */

/* Says of two elements, and what it says is one boolean, whether the first stays. */
typedef tt Stays(tt a, tt b, const Jvp *j);

static tt or_(tt a, tt b)
{
    return build2(OP_OR, a, b);
}

static tt is_larger(tt a, tt b, const Jvp *j)
{
    (void)j;
    return or_(build_compare(GE, a, b), build_compare(NE, a, a));
}

static tt is_smaller(tt a, tt b, const Jvp *j)
{
    (void)j;
    return or_(build_compare(LE, a, b), build_compare(NE, a, a));
}

/* As the first region of a select_and_scatter says. */
static tt is_selected(tt a, tt b, const Jvp *j)
{
    RegionId r = node_at(j->m, j->node)->regions[0];
    Values free = free_values(j->m, 1, &r);
    Graph g = graph_of_region(j->m, r, free);
    tt *in = ARENA_ARRAY(trace_arena(), tt, free.n + 2), stays;
    in[0] = a;
    in[1] = b;
    for (int i = 0; i < free.n; i++)
        in[2 + i] = forward_value(j->forward, free.at[i]);
    trace_inline("a derivative", &g, in, &stays);
    return stays;
}

/* (a, i), (b, k) -> the one that stays; padding never does. */
static bool choice(const Jvp *j, Element e, Stays *stays, Graph *out)
{
    Type types[] = { type_scalar(e), type_scalar(I32), type_scalar(e), type_scalar(I32) };
    tt in[4], y[2];
    Trace frame = { .loc = tracing->loc };
    frame_push(&frame);
    record_begin(4, types, NULL, in);
    tt none = build_number(types[1], NO_INDEX);
    tt first = build2(OP_AND, build_compare(NE, in[1], none), stays(in[0], in[2], j));
    first = or_(first, build_compare(EQ, in[3], none));
    y[0] = build_select(first, in[0], in[2]);
    y[1] = build_select(first, in[1], in[3]);
    bool ok = record_end("a derivative", 2, y, out);
    frame_pop(&frame);
    return ok;
}

/* The number of the element that each window chooses, in the shape of `result`. */
static tt winners(const Jvp *j, const WindowAttrs *a, Type result, Stays *stays)
{
    tt x = build_stop_gradient(j->x[0]), y[2]; /* which one wins has no derivative */
    Type t = type_at(x), at = type_with(t, I32);
    Type types[] = { result, type_with(result, I32) };
    int64_t n = type_count(t);
    Graph body;
    tt in[] = { x, build_reshape(build_iota(type_new(trace_arena(), I32, 1, &n), 0), at),
                build_zeros(type_scalar(t.element)), build_number(type_scalar(I32), NO_INDEX) };
    if (!choice(j, t.element, stays, &body) ||
        !trace_apply_regions("a derivative", OP_REDUCE_WINDOW, 4, in, a, 1, &body, 2, types, y))
        return NO_VALUE;
    return y[1];
}

/* ---- windows side by side ---- */

static tt number_like(tt x, int64_t n)
{
    return build_number(type_at(x), (double)n);
}

/* Where along axis i of x the elements of windows are, or NOBODY.  t: as elements has it. */
static tt position_along(const WindowAttrs *a, Type x, Type t, int i, int64_t inner)
{
    int64_t padding = a->padding.rows ? a->padding.at[2 * i] : 0;
    tt window = build_iota(t, i), within = build_iota(t, x.rank);
    within = build2(OP_DIV, within, number_like(within, inner));
    within = build2(OP_REM, within, number_like(within, entry(a->window_dimensions, i)));
    window = build2(OP_MUL, window, number_like(window, entry(a->window_strides, i)));
    within = build2(OP_MUL, within, number_like(within, entry(a->window_dilations, i)));
    tt at = build2(OP_SUB, build2(OP_ADD, window, within), number_like(window, padding));
    tt dilation = number_like(at, entry(a->base_dilations, i)), zero = build_zeros(t);
    tt position = build2(OP_DIV, at, dilation);
    tt is_there = build2(OP_AND, build_compare(GE, at, zero),
                         build_compare(LT, position, number_like(at, x.dims[i])));
    is_there = build2(OP_AND, is_there, build_compare(EQ, build2(OP_REM, at, dilation), zero));
    return build_select(is_there, position, number_like(at, NO_INDEX));
}

/* For every window its elements, along a last axis: their numbers, or NOBODY. */
static tt elements(const WindowAttrs *a, Type x, Type y)
{
    int64_t inner = 1, step = 1, window = 1;
    for (int i = 0; i < x.rank; i++)
        window *= entry(a->window_dimensions, i);
    Type t = type_insert(type_with(y, I64), y.rank, window);
    tt number = build_zeros(t), none = build_number(t, NO_INDEX);
    for (int i = x.rank - 1; i >= 0; i--) {
        tt position = position_along(a, x, t, i, inner);
        tt is_padding = build2(OP_OR, build_compare(LT, position, build_zeros(t)),
                               build_compare(LT, number, build_zeros(t)));
        tt sum = build2(OP_ADD, number, build2(OP_MUL, position, number_like(position, step)));
        number = build_select(is_padding, none, sum);
        inner *= entry(a->window_dimensions, i);
        step *= x.dims[i];
    }
    return build_convert(number, I32);
}

static void jvp_of_any(const Jvp *j)
{
    int n = j->nout;
    tt *x = ARENA_ARRAY(trace_arena(), tt, n + 1), *dx = ARENA_ARRAY(trace_arena(), tt, n + 1);
    tt at = elements(j->attrs, type_at(j->x[0]), type_at(j->y[0]));
    tt is_padding = build_compare(LT, at, build_zeros(type_at(at)));
    for (int i = 0; i < n; i++) {
        tt init = build_broadcast(j->x[n + i], type_at(at), (Ints){ 0 });
        x[i] = build_select(is_padding, init, gather_flat(j->x[i], at));
        if (is_value(j->dx[i]))
            dx[i] = gather_flat(j->dx[i], at);
        if (is_value(j->dx[n + i])) {
            tt dinit = build_broadcast(j->dx[n + i], type_at(at), (Ints){ 0 });
            dx[i] = build_select(is_padding, dinit, value_or_zeros(dx[i], type_at(x[i])));
        }
    }
    jvp_fold(j, x, dx);
}

/* ---- tangents ---- */

void jvp_window(const Jvp *j)
{
    Type result = type_at(j->y[0]);
    OpId op = region_reducer(j->m, node_at(j->m, j->node)->regions[0]);
    bool is_simple = j->nout == 1 && !is_value(j->dx[1]) && type_count(type_at(j->x[0]));
    if (is_simple && op == OP_ADD)
        j->dy[0] = sum_windows(j->dx[0], j->attrs, result);
    else if (is_simple && (op == OP_MAX || op == OP_MIN))
        j->dy[0] = gather_flat(j->dx[0],
                               winners(j, j->attrs, result, op == OP_MAX ? is_larger : is_smaller));
    else
        jvp_of_any(j);
}

/* Constant in the operand, where it does not change which element wins. */
void jvp_select_scatter(const Jvp *j)
{
    const Node *node = node_at(j->m, j->node);
    Type result = type_at(j->y[0]);
    tt sum = NO_VALUE;
    if (region_reducer(j->m, node->regions[1]) != OP_ADD) {
        report_broken("not supported: the derivative of a select_and_scatter other than by sum, %s",
                      loc_name(node->loc));
        return;
    }
    if (is_value(j->dx[1]))
        sum = scatter_add_flat(build_zeros(result),
                               winners(j, j->attrs, type_at(j->x[1]), is_selected), j->dx[1]);
    if (is_value(j->dx[2]))
        sum = build_sum(sum, build_broadcast(j->dx[2], result, (Ints){ 0 }));
    j->dy[0] = sum;
}

/* ---- backwards ---- */

/* What has to stand around ct, spread by the strides, so that windows by the base's steps give
 * every element the sum of where it went. */
static tt surround(const Transpose *t, const WindowAttrs *a)
{
    int n = t->types[0].rank;
    int64_t low[MAX_RANK], high[MAX_RANK], between[MAX_RANK];
    for (int i = 0; i < n; i++) {
        int64_t stride = entry(a->window_strides, i), y = t->results[0].dims[i];
        int64_t window = (entry(a->window_dimensions, i) - 1) * entry(a->window_dilations, i) + 1;
        int64_t x = (t->types[0].dims[i] - 1) * entry(a->base_dilations, i) + 1;
        low[i] = window - (a->padding.rows ? a->padding.at[2 * i] : 0) - 1;
        high[i] = x + window - 1 - ((y - 1) * stride + 1) - low[i];
        between[i] = stride - 1;
    }
    return build_pad(t->ct[0], build_zeros(type_scalar(t->types[0].element)), ints_of(n, low),
                     ints_of(n, high), ints_of(n, between));
}

void transpose_window(const Transpose *t)
{
    const WindowAttrs *a = t->attrs;
    if (!type_count(t->types[0]) || !type_count(t->results[0])) {
        t->out[0] = build_zeros(t->types[0]);
        return;
    }
    WindowAttrs *back =
        BUILD_ATTRS(WindowAttrs, .window_dimensions = a->window_dimensions,
                    .window_strides = a->base_dilations, .window_dilations = a->window_dilations);
    t->out[0] = sum_windows(surround(t, a), back, t->types[0]);
}

/* ---- batches ---- */

static Ints led(Ints list, int64_t first)
{
    return list.n ? ints_insert(list, 0, first) : list;
}

static WindowAttrs *with_batch(const WindowAttrs *a)
{
    WindowAttrs *more = BUILD_ATTRS(WindowAttrs, .window_dimensions = led(a->window_dimensions, 1),
                                    .window_strides = led(a->window_strides, 1),
                                    .base_dilations = led(a->base_dilations, 1),
                                    .window_dilations = led(a->window_dilations, 1));
    if (a->padding.rows) {
        int64_t *padding = ARENA_ARRAY(trace_arena(), int64_t, 2 * (a->padding.rows + 1));
        memcpy(padding + 2, a->padding.at, sizeof *padding * 2 * (size_t)a->padding.rows);
        more->padding = (Matrix){ a->padding.rows + 1, 2, padding };
    }
    return more;
}

void batch_window(const Batch *b)
{
    batch_folding(b, with_batch(b->attrs));
}

void batch_select_scatter(const Batch *b)
{
    if (b->mapped[2]) {
        batch_rows(b);
        return;
    }
    Type type = batch_result_type(b, 0);
    tt in[] = { batch_operand(b, 0), batch_operand(b, 1), b->x[2] };
    Graph regions[2];
    for (int i = 0; i < 2; i++)
        regions[i] = batcher_region(b->batcher, node_at(b->m, b->node)->regions[i]);
    trace_apply_regions("a batch", b->op, 3, in, with_batch(b->attrs), 2, regions, 1, &type, b->y);
}
