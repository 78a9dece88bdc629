/* window.c - sums over windows: linear, and backwards sums over windows again.
 *
 *     x  a b c d e          y = a+b, c+d       (windows of 2, by 2)
 *     ct of y  s t          ct of x = s s t t 0: ct spread by the strides and padded, summed over
 *                           windows by 1
 */
#include "front/batch.h"
#include "front/jvp.h"
#include "front/say.h"
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

void jvp_window(const Jvp *j)
{
    const Node *node = node_at(j->m, j->node);
    bool is_sum = j->nout == 1 && region_reducer(j->m, node->regions[0]) == OP_ADD;
    if (!is_sum || is_value(j->dx[1])) {
        say_broken("not supported: the derivative of a reduce_window other than by sum, %s",
                   loc_name(node->loc));
        return;
    }
    j->dy[0] = sum_windows(j->dx[0], j->attrs, type_at(j->y[0]));
}

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

void batch_window(const Batch *b)
{
    const WindowAttrs *a = b->attrs;
    WindowAttrs *more = BUILD_ATTRS(WindowAttrs, .window_dimensions = led(a->window_dimensions, 1),
                                    .window_strides = led(a->window_strides, 1),
                                    .base_dilations = led(a->base_dilations, 1),
                                    .window_dilations = led(a->window_dilations, 1));
    if (a->padding.rows) {
        int64_t *padding = ARENA_ARRAY(trace_arena(), int64_t, 2 * (a->padding.rows + 1));
        memcpy(padding + 2, a->padding.at, sizeof *padding * 2 * (size_t)a->padding.rows);
        more->padding = (Matrix){ a->padding.rows + 1, 2, padding };
    }
    batch_folding(b, more);
}
