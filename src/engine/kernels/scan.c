/* scan.c - running sums: a reduce_window whose windows all begin (or end) at the array's edge.
 *
 * In: reduce_window along one dimension, the window as long as the array and padded on one side,
 * by a region whose initial value is neutral: what jnp.cumsum becomes.  Out: one pass,
 *
 *     windows   x0 | x0 x1 | x0 x1 x2 | ...       acc = acc + x[i];  out[i] = acc
 *
 * where each window by itself would take n^2 steps.  Lanes are neighbours along later dimensions,
 * several vectors side by side.  If there are none, a vector of the row is summed up within itself,
 * and what came before is added to all of it:
 *
 *     a b c d  ->  a ab bc cd  ->  a ab abc abcd      by 1, 2, 4 ... lanes
 *
 * That combines log2(lanes) + 2 times for each vector; where the region is several operations and
 * there are rows enough, lanes are neighbouring rows, and their elements are gathered.
 *
 * Where sums are rounded, a long loop is cut into blocks (kernels.h): what the blocks before this one
 * have summed up to is added last of all, out[i] = before + acc. */
#include "engine/kernels/kernels.h"
#include "engine/kernels/query.h"

#include "base/fail.h"
#include "hlo/rewrite.h"
#include "ops/number.h"

#include <math.h>
#include <string.h>

/* The array as [outer, n, inner]. */
typedef struct Scan {
    NodeId node;
    int dim; /* of the array as the program has it */
    Type shape, flat;
    int64_t outer, n, inner;
    bool is_backwards;
    bool is_rounded; /* additions are, and their order matters */
    bool is_costly;  /* the region is more than one operation */
    bool is_turned;  /* lanes are along the outer dimension, which counts as the inner one */
} Scan;

/* ---- is it one? ---- */

static bool is_neutral_int(OpId op, Element e, int64_t value)
{
    int bits = element_info[e].bits;
    int64_t most = (int64_t)(UINT64_MAX >> (64 - bits + !is_unsigned(e))); /* ui64's: -1 */
    switch (op) {
    case OP_ADD: return value == 0;
    case OP_MUL: return value == 1;
    case OP_MAX: return value == (is_unsigned(e) ? 0 : -most - 1);
    case OP_MIN: return value == most;
    default: return false;
    }
}

/* May windows be combined with the initial value, and with each other?  StableHLO promises it of every
 * region with its initial value; we look where the region is one operation, since programs are seen
 * that sum up from 1.  Several are such as log(exp x + exp y). */
static bool is_monoid(const Module *m, RegionId region, OpId op, const Dense *d)
{
    if (!d || element_info[d->type.element].bits < 8)
        return false;
    if (op == OP_COUNT)
        return region_at(m, region)->nnodes > 2;
    Element e = d->type.element, part = element_part(e);
    if (is_complex(e) && number_float(part, (const char *)d->data + element_info[part].bytes) != 0)
        return false;
    if (!is_float(part))
        return is_neutral_int(op, e, number_int(e, d->data));
    double value = number_float(part, d->data);
    switch (op) {
    case OP_ADD: return value == 0;
    case OP_MUL: return value == 1;
    case OP_MAX: return value == -INFINITY;
    case OP_MIN: return value == INFINITY;
    default: return false;
    }
}

/* The one dimension along which the window is not 1, or -1. */
static int window_dimension(const WindowAttrs *a, Type in)
{
    int found = -1;
    for (int d = 0; d < in.rank; d++) {
        int64_t low = d < a->padding.rows ? a->padding.at[2 * d] : 0;
        int64_t high = d < a->padding.rows ? a->padding.at[2 * d + 1] : 0;
        int64_t size = ints_or(a->window_dimensions, d, 1);
        if (ints_or(a->window_strides, d, 1) != 1 || ints_or(a->window_dilations, d, 1) != 1 ||
            ints_or(a->base_dilations, d, 1) != 1)
            return -1;
        if (size == 1 && low == 0 && high == 0)
            continue;
        bool is_edge = (low == size - 1 && high == 0) || (low == 0 && high == size - 1);
        if (found >= 0 || size != in.dims[d] || !is_edge)
            return -1;
        found = d;
    }
    return found;
}

static bool scan_of(const Module *m, NodeId n, Scan *s)
{
    const Node *node = node_at(m, n);
    const WindowAttrs *a = node->attrs;
    OpId op = region_reducer(m, node->regions[0]);
    if (node->nout != 1 || type_count(type_of(m, node->in[0])) == 0 ||
        !is_monoid(m, node->regions[0], op, value_constant(m, node->in[1])))
        return false;
    *s = (Scan){ .node = n,
                 .shape = type_of(m, node->in[0]),
                 .outer = 1,
                 .inner = 1,
                 .is_costly = op == OP_COUNT };
    int d = window_dimension(a, s->shape);
    if (d < 0)
        return false;
    s->dim = d;
    s->n = s->shape.dims[d];
    for (int i = 0; i < d; i++)
        s->outer *= s->shape.dims[i];
    for (int i = d + 1; i < s->shape.rank; i++)
        s->inner *= s->shape.dims[i];
    s->is_backwards = a->padding.at[2 * d] == 0;
    s->is_rounded = is_float(element_part(s->shape.element)) && (op == OP_ADD || op == OP_COUNT);
    return true;
}

int scan_dimension(const Module *m, NodeId reduce_window, bool *is_backwards)
{
    Scan s;
    if (!scan_of(m, reduce_window, &s))
        return -1;
    *is_backwards = s.is_backwards;
    return s.dim;
}

bool scan_is(const Module *m, NodeId reduce_window)
{
    bool is_backwards;
    return scan_dimension(m, reduce_window, &is_backwards) >= 0;
}

/* ---- what both forms do ---- */

/* Of f16 and bf16, sums of more than a few are kept as f32 until they are stored. */
static V combine(Kernel *k, const Scan *s, V x, V y)
{
    V args[] = { x, y }, sum;
    memo_clear(k);
    k->accumulates = s->n > FOLD_FEW;
    region_inline(k, node_at(k->m, s->node)->regions[0], args, &sum);
    k->accumulates = false;
    return sum;
}

static V neutral(Kernel *k, const Scan *s, int lanes)
{
    k->lanes = lanes;
    memo_clear(k);
    return element(k, node_at(k->m, s->node)->in[1], index_scalar(k, lanes));
}

static Index *index_of(Kernel *k, const Scan *s, Coord outer, Coord i, Coord inner, int lanes)
{
    memo_clear(k);
    k->lanes = lanes;
    Index *at = index_new(k, s->flat, lanes);
    index_set(at, s->is_turned ? 2 : 0, outer);
    index_set(at, 1, i);
    index_set(at, s->is_turned ? 0 : 2, inner);
    return index_reshape(k, at, s->shape);
}

static void finish_at(Kernel *k, const Scan *s, Index *at, V sum)
{
    const Node *end = region_return(k->m, k->region);
    V *results = ARENA_ARRAY(k->arena, V, end->nin);
    memo_clear(k);
    memo_set(k, node_at(k->m, s->node)->out, at, finish(k, s->shape.element, sum));
    for (int r = 0; r < end->nin; r++)
        results[r] = element(k, end->in[r], at);
    for (int r = 0; r < end->nin && !k->error; r++)
        store_element(k, k->outs[r], element_of(k, end->in[r]), at, results[r]);
}

static void begin(Kernel *k, Loop *loop, int64_t n, int64_t step, bool is_cut)
{
    if (is_cut)
        slice_loop(k, loop, n, step);
    else
        loop_begin(k, loop, n, step, 0, NULL);
}

/* ---- loops in blocks ---- */

/* Vectors; of gathered ones, whose lanes each lie in a line of the cache, fewer. */
enum { SIDE_BY_SIDE = 8, GATHERED = 2 };

/* A loop whose every round adds to all sums.  before: what the sums of earlier blocks are, or NULL
 * in the first. */
typedef struct Rounds {
    const Scan *s;
    int64_t step;  /* from one round's i to the next one's */
    int64_t terms; /* that a round adds up one after the other */
    int nsums, lanes;
    void (*round)(Kernel *k, void *user, Loop *loop, const V *before, V *sums);
    void *user;
} Rounds;

/* The rounds from i = from up to end, which are n at most. */
static void rounds_emit(Kernel *k, const Rounds *r, int64_t n, V from, V end, const V *before,
                        V *sums)
{
    int64_t each = r->s->is_rounded ? chain_block(n, r->terms) : n;
    Loop loop;
    if (each >= n) {
        loop_between(k, &loop, from, end, r->step, r->nsums, sums);
        r->round(k, r->user, &loop, before, sums);
        loop_end(k, &loop, sums);
        return;
    }
    V block[SIDE_BY_SIDE], so_far[SIDE_BY_SIDE];
    loop_between(k, &loop, from, end, each * r->step, r->nsums, sums);
    V to = LLVMBuildAdd(k->b, loop.i, const_i64(k, each * r->step), "");
    for (int i = 0; i < r->nsums; i++) {
        block[i] = neutral(k, r->s, r->lanes);
        so_far[i] = before ? combine(k, r->s, before[i], sums[i]) : sums[i];
    }
    rounds_emit(k, r, each, loop.i, INTRINSIC(k, "llvm.umin", to, end), so_far, block);
    k->lanes = r->lanes;
    for (int i = 0; i < r->nsums; i++)
        sums[i] = combine(k, r->s, sums[i], block[i]);
    loop_end(k, &loop, sums);
}

/* ---- lanes along later dimensions ---- */

/* Some vectors of the inner dimension. */
typedef struct Strip {
    int n, lanes;
    Coord outer, inner;
} Strip;

typedef struct StripOf {
    const Scan *s;
    const Strip *strip;
} StripOf;

static void strip_round(Kernel *k, void *user, Loop *loop, const V *before, V *sums)
{
    const Scan *s = ((StripOf *)user)->s;
    const Strip *strip = ((StripOf *)user)->strip;
    Coord i = loop_coord(loop, 0);
    if (s->is_backwards)
        i = coord_add_const(k, coord_mul_const(k, i, -1, 1), s->n - 1, 1);
    for (int v = 0; v < strip->n; v++) {
        Coord inner = coord_add_const(k, strip->inner, (int64_t)v * strip->lanes, strip->lanes);
        Index *at = index_of(k, s, strip->outer, i, inner, strip->lanes);
        sums[v] = combine(k, s, sums[v], element(k, node_at(k->m, s->node)->in[0], at));
        finish_at(k, s, at, before ? combine(k, s, before[v], sums[v]) : sums[v]);
    }
}

static void strip_emit(Kernel *k, const Scan *s, const Strip *strip)
{
    V sums[SIDE_BY_SIDE];
    for (int v = 0; v < strip->n; v++)
        sums[v] = neutral(k, s, strip->lanes);
    StripOf of = { s, strip };
    Rounds r = { s, 1, 1, strip->n, strip->lanes, strip_round, &of };
    rounds_emit(k, &r, s->n, const_i64(k, 0), const_i64(k, s->n), NULL, sums);
}

static void strips_emit(Kernel *k, const Scan *s, Strip *strip, bool is_cut)
{
    int64_t width = (int64_t)strip->n * k->width, full = s->inner / width * width;
    if (full) {
        Loop loop;
        begin(k, &loop, full, width, is_cut);
        strip->inner = loop_coord(&loop, 1);
        strip_emit(k, s, strip);
        loop_end(k, &loop, NULL);
    }
    LLVMBasicBlockRef after = is_cut ? last_slice_begin(k) : NULL;
    for (int64_t at = full; at < s->inner;) {
        int64_t left = s->inner - at;
        Strip last = *strip;
        last.n = left >= k->width ? (int)(left / k->width) : 1;
        last.lanes = left >= k->width ? k->width : (int)left;
        last.inner = (Coord){ const_i64(k, at), 1, at, NULL };
        strip_emit(k, s, &last);
        at += (int64_t)last.n * last.lanes;
    }
    if (after)
        last_slice_end(k, after);
}

static void columns_emit(Kernel *k, const Scan *s)
{
    Strip strip = { .n = s->is_turned ? GATHERED : SIDE_BY_SIDE, .lanes = k->width };
    while (strip.n > 1 && (int64_t)strip.n * k->width > s->inner)
        strip.n /= 2;
    int64_t extents[] = { s->outer, s->inner / ((int64_t)strip.n * k->width) };
    int cut = slices_choose(k, 2, extents);
    Loop loop;
    begin(k, &loop, s->outer, 1, cut == 0);
    strip.outer = loop_coord(&loop, 0);
    strips_emit(k, s, &strip, cut == 1);
    loop_end(k, &loop, NULL);
}

/* ---- lanes along the row itself ---- */

/* Lane l takes lane l - by of x (backwards: l + by), or what is neutral. */
static V shifted(Kernel *k, const Scan *s, V x, V fill, int lanes, int by)
{
    if (LLVMGetTypeKind(LLVMTypeOf(x)) == LLVMStructTypeKind)
        return complex_of(k, shifted(k, s, real_part(k, x), real_part(k, fill), lanes, by),
                          shifted(k, s, imag_part(k, x), imag_part(k, fill), lanes, by));
    V order[MAX_LANES];
    require(lanes <= MAX_LANES);
    for (int l = 0; l < lanes; l++) {
        int from = s->is_backwards ? l + by : l - by;
        order[l] = LLVMConstInt(int_type(k, 32),
                                (unsigned)(from < 0 || from >= lanes ? lanes : from), false);
    }
    return LLVMBuildShuffleVector(k->b, x, fill, LLVMConstVector(order, (unsigned)lanes), "");
}

/* One vector of a row; *carry, in all lanes of a full vector, is the sum of what came before in
 * this block, and *before of the blocks before it (NULL: there are none). */
static void piece_emit(Kernel *k, const Scan *s, Coord outer, Coord i, int lanes, const V *before,
                       V *carry)
{
    Index *at = index_of(k, s, outer, i, coord_const(k, 0), lanes);
    V x = element(k, node_at(k->m, s->node)->in[0], at), fill = neutral(k, s, lanes);
    for (int by = 1; by < lanes; by *= 2)
        x = combine(k, s, shifted(k, s, x, fill, lanes, by), x);
    V carried = lanes == k->width ? *carry : splat(k, extract_lane(k, *carry, 0), lanes);
    V sum = combine(k, s, carried, x);
    if (before)
        sum = combine(k, s, *before, sum);
    V last = extract_lane(k, x, s->is_backwards ? 0 : lanes - 1);
    k->lanes = k->width;
    *carry = combine(k, s, *carry, splat(k, last, k->width));
    k->lanes = lanes;
    finish_at(k, s, at, sum);
}

typedef struct RowOf {
    const Scan *s;
    Coord outer;
    int64_t full; /* elements in full vectors */
} RowOf;

static void row_round(Kernel *k, void *user, Loop *loop, const V *before, V *carry)
{
    const RowOf *row = user;
    Coord i = loop_coord(loop, 1);
    if (row->s->is_backwards)
        i.base = LLVMBuildSub(k->b, const_i64(k, row->full - k->width), i.base, "");
    piece_emit(k, row->s, row->outer, i, k->width, before, carry);
}

static void row_emit(Kernel *k, const Scan *s, Coord outer)
{
    int64_t n = s->n / k->width, full = n * k->width;
    int rest = (int)(s->n - full);
    Coord end = { const_i64(k, full), 1, full, NULL };
    V carry = neutral(k, s, k->width);
    RowOf of = { s, outer, full };
    Rounds r = { s, k->width, 4, 1, k->width, row_round, &of }; /* 4: within a vector, and to it */
    if (s->is_backwards && rest)
        piece_emit(k, s, outer, end, rest, NULL, &carry);
    if (full)
        rounds_emit(k, &r, n, const_i64(k, 0), const_i64(k, full), NULL, &carry);
    if (!s->is_backwards && rest)
        piece_emit(k, s, outer, end, rest, NULL, &carry);
}

static void rows_emit(Kernel *k, const Scan *s)
{
    Loop loop;
    begin(k, &loop, s->outer, 1, slices_choose(k, 1, &s->outer) == 0);
    row_emit(k, s, loop_coord(&loop, 0));
    loop_end(k, &loop, NULL);
}

void scan_emit(Kernel *k, NodeId reduce_window)
{
    Scan s;
    if (!scan_of(k->m, reduce_window, &s))
        return;
    int64_t dims[] = { s.outer, s.n, s.inner };
    s.flat = type_new(k->arena, s.shape.element, 3, dims);
    if (s.inner == 1 && s.is_costly && s.outer >= k->width) {
        s.is_turned = true;
        s.inner = s.outer;
        s.outer = 1;
    }
    if (s.inner == 1)
        rows_emit(k, &s);
    else
        columns_emit(k, &s);
}
