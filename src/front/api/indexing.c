/* indexing.c - parts of arrays, as NumPy writes x[...] and JAX x.at[...].set(y).
 *
 *     tt_get(x, 2, TT_ALL, TT_RANGE(1, -1), rows)        x[2, :, 1:-1, rows]
 *     tt_set(x, y, rows)                                 x.at[rows].set(y)
 *
 * What is said of each axis becomes one Axis.  Reading takes ranges by slices, then, if arrays say
 * where, gathers; writing at places that are not known, or not side by side, scatters: axes that are
 * whole are windows of the scatter, all others are positions. */
#include "front/api/numpy.h"

#include "front/value/library.h"
#include "front/value/report.h"
#include "hlo/rewrite.h"

#include <string.h>

/* Parts, the axes that they leave whole, and those of arrays that say where: before it is known
 * whether the selection has too many. */
enum { MOST_PARTS = 2 * TT_MAX_RANK, MOST_DIMS = MOST_PARTS + 2 * TT_MAX_RANK };

typedef struct Part {
    int64_t kind, start, stop, step;
    int64_t operand; /* that says where: which of the body's */
} Part;

typedef struct Config {
    const char *who;
    int64_t how; /* tt_put; -1: reading */
    int64_t n;
    Part part[MOST_PARTS];
} Config;

/* What is taken of an axis: `count` from `start` on, every step-th; or where an array says. */
typedef struct Axis {
    int kind; /* TT_PART_AT, TT_PART_RANGE, TT_PART_ARRAY, TT_PART_BLOCK */
    int64_t start, count, step;
    tt at;
    int dim; /* of the selection, for ranges and blocks */
} Axis;

typedef struct Selection {
    const Config *c;
    Type t; /* of x */
    Axis axis[TT_MAX_RANK];
    bool has_arrays;
    Shape arrays;  /* what they broadcast to */
    int first_dim; /* of the arrays', in the selection */
    int rank;      /* of the selection */
    int64_t dims[MOST_DIMS];
    int nnew; /* new axes among them */
    bool is_new[MOST_DIMS];
} Selection;

/* ---- what is said of each axis ---- */

static bool is_axis_part(const Part *p)
{
    return p->kind != TT_PART_NEW_AXIS && p->kind != TT_PART_REST;
}

static bool take_at(const Selection *s, int i, int64_t at, Axis *a)
{
    int64_t n = s->t.dims[i];
    if (at < -n || at >= n)
        return report_broken("%s: %s: index %lld is out of range along axis %d: from %lld to %lld",
                             s->c->who, type_text(s->t), (long long)at, i, (long long)-n,
                             (long long)(n - 1)),
               false;
    *a = (Axis){ .kind = TT_PART_AT, .start = at < 0 ? at + n : at, .count = 1, .step = 1 };
    return true;
}

static int64_t bound(int64_t at, int64_t n, int64_t low, int64_t high)
{
    at += at < 0 ? n : 0;
    return at < low ? low : at > high ? high : at;
}

/* As Python's start:stop:step. */
static bool take_range(const Selection *s, int i, const Part *p, Axis *a)
{
    int64_t n = s->t.dims[i], step = p->step ? p->step : 1, start, stop, low = step < 0 ? -1 : 0;
    if (step < 0) {
        start = p->start == TT_END ? n - 1 : bound(p->start, n, low, n - 1);
        stop = p->stop == TT_END ? -1 : bound(p->stop, n, low, n - 1);
    } else {
        start = p->start == TT_END ? n : bound(p->start, n, low, n);
        stop = p->stop == TT_END ? n : bound(p->stop, n, low, n);
    }
    int64_t far = step < 0 ? start - stop : stop - start, each = step < 0 ? -step : step;
    *a = (Axis){ .kind = TT_PART_RANGE, .start = start, .step = step };
    a->count = far > 0 ? (far + each - 1) / each : 0;
    return true;
}

static bool take_array(Selection *s, const tt *in, const Part *p, Axis *a)
{
    Shape shape;
    if (!shapes_of(s->c->who, 1, &in[p->operand], &shape))
        return false;
    ElementKind kind = element_info[shape.element].kind;
    if (kind != SIGNED && kind != UNSIGNED)
        return report_broken("%s: an index is %s; it must be integers%s", s->c->who,
                             shape_text(&shape),
                             kind == BOOLEAN ? ": how many a mask selects is not known; tt_where "
                                               "chooses by one"
                                             : ""),
               false;
    *a = (Axis){ .kind = (int)p->kind, .count = p->stop, .step = 1, .at = in[p->operand] };
    s->has_arrays |= p->kind == TT_PART_ARRAY;
    return true;
}

static bool take_block(Selection *s, const tt *in, int i, const Part *p, Axis *a)
{
    if (!take_array(s, in, p, a))
        return false;
    if (type_at(a->at).rank || p->stop < 0 || p->stop > s->t.dims[i])
        return report_broken("%s: TT_BLOCK of %lld from %s on: one integer says where it begins, "
                             "and axis %d has %lld",
                             s->c->who, (long long)p->stop, type_text(type_at(a->at)), i,
                             (long long)s->t.dims[i]),
               false;
    return true;
}

static bool take_part(Selection *s, const tt *in, int i, const Part *p)
{
    Axis *a = &s->axis[i];
    switch (p->kind) {
    case TT_PART_AT: return take_at(s, i, p->start, a);
    case TT_PART_RANGE: return take_range(s, i, p, a);
    case TT_PART_ARRAY: return take_array(s, in, p, a);
    case TT_PART_BLOCK: return take_block(s, in, i, p, a);
    }
    return report_broken("%s: part %d is no index", s->c->who, i), false;
}

/* ---- the selection's shape ---- */

static void add_dim(Selection *s, int64_t extent, bool is_new)
{
    s->is_new[s->rank] = is_new;
    s->nnew += is_new;
    s->dims[s->rank++] = extent;
}

/* The arrays' axes stand where the first of them does if they stand side by side, else in front. */
static bool place_arrays(Selection *s)
{
    Shape shapes[TT_MAX_RANK];
    int n = 0;
    for (int i = 0; i < s->t.rank; i++)
        if (s->axis[i].kind == TT_PART_ARRAY &&
            !shapes_of(s->c->who, 1, &s->axis[i].at, &shapes[n++]))
            return false;
    return broadcast_shapes(s->c->who, n, shapes, &s->arrays);
}

static bool is_advanced(const Selection *s, int i)
{
    int kind = s->axis[i].kind;
    return s->has_arrays && (kind == TT_PART_ARRAY || kind == TT_PART_AT);
}

static bool are_side_by_side(const Selection *s)
{
    int groups = 0;
    bool inside = false;
    const Config *c = s->c;
    for (int k = 0, i = 0; k < c->n; k++) {
        bool is_one = is_axis_part(&c->part[k]) && is_advanced(s, i);
        i += is_axis_part(&c->part[k]);
        groups += is_one && !inside;
        inside = is_one;
    }
    return groups == 1;
}

static void add_arrays(Selection *s)
{
    s->first_dim = s->rank;
    for (int k = 0; k < s->arrays.rank; k++)
        add_dim(s, s->arrays.dims[k], false);
}

/* Goes through the parts once more, with all axes known. */
static void shape_selection(Selection *s)
{
    const Config *c = s->c;
    bool is_placed = !s->has_arrays;
    if (s->has_arrays && !are_side_by_side(s)) {
        add_arrays(s);
        is_placed = true;
    }
    int given = 0;
    for (int k = 0; k < c->n; k++)
        given += is_axis_part(&c->part[k]);
    for (int k = 0, i = 0; k <= c->n; k++) {
        bool is_end = k == c->n, is_rest = !is_end && c->part[k].kind == TT_PART_REST;
        for (; (is_end || is_rest) && i < s->t.rank && (is_end || given < s->t.rank); i++) {
            if (is_rest)
                given++;
            s->axis[i].dim = s->rank;
            add_dim(s, s->axis[i].count, false);
        }
        if (is_end || is_rest)
            continue;
        if (c->part[k].kind == TT_PART_NEW_AXIS) {
            add_dim(s, 1, true);
            continue;
        }
        if (is_advanced(s, i) && !is_placed) {
            add_arrays(s);
            is_placed = true;
        } else if (!is_advanced(s, i) && s->axis[i].kind != TT_PART_AT) {
            s->axis[i].dim = s->rank;
            add_dim(s, s->axis[i].count, false);
        }
        i++;
    }
}

static bool select_parts(Selection *s, const Config *c, const tt *in)
{
    Shape shape;
    if (!shapes_of(c->who, 1, in, &shape))
        return false;
    *s = (Selection){ .c = c, .t = type_at(in[0]) };
    int given = 0, nrest = 0, i = 0;
    for (int k = 0; k < c->n; k++) {
        given += is_axis_part(&c->part[k]);
        nrest += c->part[k].kind == TT_PART_REST;
    }
    if (given > s->t.rank || nrest > 1)
        return report_broken(nrest > 1 ? "%s: TT_REST stands for all axes that are left: give it "
                                         "once"
                                       : "%s: %s has %d axes; there are %d indices",
                             c->who, type_text(s->t), s->t.rank, given),
               false;
    for (int k = 0; k < c->n; k++) {
        if (is_axis_part(&c->part[k]) && !take_part(s, in, i++, &c->part[k]))
            return false;
        for (int m = given; c->part[k].kind == TT_PART_REST && m < s->t.rank; m++, i++)
            s->axis[i] = (Axis){ .kind = TT_PART_RANGE, .count = s->t.dims[i], .step = 1 };
    }
    for (; i < s->t.rank; i++)
        s->axis[i] = (Axis){ .kind = TT_PART_RANGE, .count = s->t.dims[i], .step = 1 };
    if (s->has_arrays && !place_arrays(s))
        return false;
    shape_selection(s);
    if (s->rank > TT_MAX_RANK)
        return report_broken("%s: the result would have %d axes, and %d are the most", c->who,
                             s->rank, TT_MAX_RANK),
               false;
    return true;
}

static bool is_whole(const Selection *s, int i)
{
    const Axis *a = &s->axis[i];
    return a->kind == TT_PART_RANGE && !a->start && a->step == 1 && a->count == s->t.dims[i];
}

static Type selection_type(const Selection *s)
{
    return type_new(trace_arena(), s->t.element, s->rank, s->dims);
}

/* ---- positions ---- */

/* From the end if negative. */
static tt wrapped(tt at, int64_t n)
{
    Type t = type_at(at);
    if (element_info[t.element].kind != SIGNED)
        return at;
    tt behind = build2(OP_ADD, at, build_number(t, (double)n));
    return build_select(build_compare(LT, at, build_zeros(t)), behind, at);
}

/* Where a block begins, moved so that it lies inside: what dynamic_slice does. */
static tt block_start(const Selection *s, int i)
{
    const Axis *a = &s->axis[i];
    Type t = type_scalar(I32);
    tt at = build_convert(wrapped(a->at, s->t.dims[i]), I32);
    tt in[] = { build_zeros(t), at, build_number(t, (double)(s->t.dims[i] - a->count)) };
    return build_op(OP_CLAMP, 3, in, NULL, t);
}

/* ---- reading ---- */

/* Ranges and blocks of x; axes at one index stay, of extent 1, where arrays stand beside them. */
static tt read_ranges(const Selection *s, tt x)
{
    int64_t start[TT_MAX_RANK] = { 0 }, limit[TT_MAX_RANK] = { 0 }, strides[TT_MAX_RANK] = { 0 };
    int64_t turned[TT_MAX_RANK];
    int rank = s->t.rank, nturned = 0;
    for (int i = 0; i < rank; i++) {
        const Axis *a = &s->axis[i];
        bool is_range = a->kind == TT_PART_RANGE || a->kind == TT_PART_AT;
        int64_t each = a->step < 0 ? -a->step : a->step, last = a->start + (a->count - 1) * a->step;
        start[i] = !is_range || !a->count ? 0 : a->step < 0 ? last : a->start;
        limit[i] = !is_range ? s->t.dims[i] : !a->count ? 0 : (a->step < 0 ? a->start : last) + 1;
        strides[i] = is_range ? each : 1;
        if (is_range && a->step < 0)
            turned[nturned++] = i;
    }
    x = build_slice(x, ints_of(rank, start), ints_of(rank, limit), ints_of(rank, strides));
    if (nturned)
        x = build_op(OP_REVERSE, 1, &x,
                     BUILD_ATTRS(DimensionsAttrs, .dimensions = ints_of(nturned, turned)),
                     type_at(x));
    for (int i = 0; i < rank; i++) {
        if (s->axis[i].kind != TT_PART_BLOCK)
            continue;
        Type t = type_at(x);
        tt in[TT_MAX_RANK + 1] = { x };
        int64_t sizes[TT_MAX_RANK];
        for (int k = 0; k < rank; k++) {
            in[k + 1] = k == i ? block_start(s, i) : build_zeros(type_scalar(I32));
            sizes[k] = k == i ? s->axis[i].count : t.dims[k];
        }
        x = build_op(OP_DYNAMIC_SLICE, rank + 1, in,
                     BUILD_ATTRS(DynamicSliceAttrs, .slice_sizes = ints_of(rank, sizes)),
                     type_new(trace_arena(), t.element, rank, sizes));
    }
    return x;
}

/* The arrays side by side along a last axis: where to read along those axes, or write. */
static tt positions(const Selection *s, const int *axes, int n, Type shape)
{
    tt parts[TT_MAX_RANK];
    Type each = type_with(shape, I32), one = type_insert(each, each.rank, 1);
    for (int k = 0; k < n; k++) {
        const Axis *a = &s->axis[axes[k]];
        tt at;
        if (a->kind == TT_PART_ARRAY) {
            Shape to = { .element = I32, .rank = s->arrays.rank };
            memcpy(to.dims, s->arrays.dims, sizeof to.dims);
            at = as_shape(build_convert(wrapped(a->at, s->t.dims[axes[k]]), I32), &to);
            at = build_broadcast(at, each, ints_range(s->first_dim, s->arrays.rank));
        } else if (a->kind == TT_PART_AT) {
            at = build_number(each, (double)a->start);
        } else {
            at = build2(OP_MUL, build_iota(each, a->dim), build_number(each, (double)a->step));
            tt start = a->kind == TT_PART_BLOCK ? block_start(s, axes[k])
                                                : build_number(type_scalar(I32), (double)a->start);
            at = build2(OP_ADD, at, build_broadcast(start, each, (Ints){ 0 }));
        }
        parts[k] = build_reshape(at, one);
    }
    return n == 1 ? parts[0] : build_concatenate(n, parts, each.rank);
}

/* x, whose ranges are read already, where the arrays say. */
static tt gather_arrays(const Selection *s, tt x)
{
    Selection all = *s; /* axes at one index are positions too, and now at 0 */
    int axes[TT_MAX_RANK], n = 0, noffsets = 0;
    int64_t sizes[TT_MAX_RANK], collapsed[TT_MAX_RANK], offsets[2 * TT_MAX_RANK];
    Type t = type_at(x);
    for (int i = 0; i < t.rank; i++) {
        bool is_position = s->axis[i].kind == TT_PART_ARRAY || s->axis[i].kind == TT_PART_AT;
        all.axis[i].start = 0;
        sizes[i] = is_position ? 1 : t.dims[i];
        if (is_position) {
            collapsed[n] = i;
            axes[n++] = i;
        }
    }
    int64_t dims[2 * TT_MAX_RANK];
    int rank = 0;
    for (int d = 0; d < s->rank; d++) {
        if (s->is_new[d])
            continue;
        if (d < s->first_dim || d >= s->first_dim + s->arrays.rank)
            offsets[noffsets++] = rank;
        dims[rank++] = s->dims[d];
    }
    all.first_dim = 0;
    Type arrays = type_new(trace_arena(), I32, s->arrays.rank, s->arrays.dims);
    tt at = positions(&all, axes, n, arrays);
    GatherAttrs *g = BUILD_ATTRS(
        GatherAttrs, .offset_dims = ints_of(noffsets, offsets),
        .collapsed_slice_dims = ints_of(n, collapsed), .start_index_map = ints_of(n, collapsed),
        .index_vector_dim = arrays.rank, .slice_sizes = ints_of(t.rank, sizes), .drops = true);
    return build_op(OP_GATHER, 2, (const tt[]){ x, at }, g,
                    type_new(trace_arena(), t.element, rank, dims));
}

static tt read_selection(const Selection *s, tt x)
{
    x = read_ranges(s, x);
    if (s->has_arrays)
        x = gather_arrays(s, x);
    return build_reshape(x, selection_type(s));
}

static void get_body(const tt *in, tt *out, const void *config)
{
    Selection s;
    Shape shape;
    if (!shapes_of("tt_get", 1, in, &shape) || !select_parts(&s, config, in))
        return;
    for (int i = 0; s.has_arrays && i < s.t.rank; i++)
        if (s.axis[i].kind == TT_PART_ARRAY && !s.t.dims[i]) {
            report_broken("tt_get: %s has nothing along axis %d to take", type_text(s.t), i);
            return;
        }
    *out = as_weak(read_selection(&s, in[0]), shape.is_weak);
}

/* ---- writing ---- */

static const OpId combines[] = {
    [TT_PUT_SET] = OP_COUNT, [TT_PUT_ADD] = OP_ADD, [TT_PUT_MUL] = OP_MUL,
    [TT_PUT_MIN] = OP_MIN,   [TT_PUT_MAX] = OP_MAX,
};

/* The value, of x's type and the selection's shape.  False: reported. */
static bool fit_value(const Selection *s, tt value, tt *out)
{
    Shape v, to = { .element = s->t.element, .rank = s->rank }, both[2], met;
    if (!shapes_of(s->c->who, 1, &value, &v))
        return false;
    memcpy(to.dims, s->dims, sizeof to.dims);
    both[0] = v;
    both[1] = to;
    bool fits = v.rank <= to.rank;
    for (int i = 0; fits && i < v.rank; i++) {
        int64_t n = v.dims[v.rank - 1 - i];
        fits = n == 1 || n == to.dims[to.rank - 1 - i];
    }
    if (!fits || !broadcast_shapes(s->c->who, 2, both, &met))
        return report_broken("%s: the value is %s, and what it goes to %s", s->c->who,
                             shape_text(&v), type_text(selection_type(s))),
               false;
    *out = as_shape(as_element(value, s->t.element), &to);
    return true;
}

/* Do ranges side by side say all?  Then a window is written. */
static bool is_window(const Selection *s)
{
    for (int i = 0; i < s->t.rank; i++)
        if (s->axis[i].kind == TT_PART_ARRAY || s->axis[i].step != 1)
            return false;
    return true;
}

static tt write_window(const Selection *s, tt x, tt value)
{
    int rank = s->t.rank;
    int64_t dims[TT_MAX_RANK];
    tt in[TT_MAX_RANK + 2] = { x };
    for (int i = 0; i < rank; i++) {
        const Axis *a = &s->axis[i];
        dims[i] = a->count;
        in[i + 2] = a->kind == TT_PART_BLOCK ? block_start(s, i)
                                             : build_number(type_scalar(I32), (double)a->start);
    }
    in[1] = build_reshape(value, type_new(trace_arena(), s->t.element, rank, dims));
    return build_op(OP_DYNAMIC_UPDATE, rank + 2, in, NULL, s->t);
}

/* All axes that are not whole are positions; new axes are gone from s. */
static tt scatter_value(const Selection *s, tt x, tt value, OpId op)
{
    int axes[TT_MAX_RANK], n = 0, nwindow = 0, rank = 0;
    int64_t positioned[TT_MAX_RANK], window[TT_MAX_RANK], dims[TT_MAX_RANK];
    Selection by = *s; /* the dimensions of the selection, those of windows left out */
    bool is_first_seen = false;
    for (int d = 0; d < s->rank; d++) {
        int whole = -1;
        for (int i = 0; i < s->t.rank; i++) {
            bool is_here = s->axis[i].kind != TT_PART_ARRAY && s->axis[i].kind != TT_PART_AT &&
                           s->axis[i].dim == d;
            bool is_arrays =
                s->has_arrays && d >= s->first_dim && d < s->first_dim + s->arrays.rank;
            if (is_here && !is_arrays && is_whole(s, i))
                whole = i;
            else if (is_here && !is_arrays)
                by.axis[i].dim = rank;
        }
        if (d == s->first_dim && !is_first_seen) {
            by.first_dim = rank;
            is_first_seen = true;
        }
        if (whole >= 0)
            window[nwindow++] = d;
        else
            dims[rank++] = s->dims[d];
    }
    for (int i = 0; i < s->t.rank; i++)
        if (!is_whole(s, i)) {
            positioned[n] = i;
            axes[n++] = i;
        }
    Type shape = type_new(trace_arena(), I32, rank, dims);
    tt at = positions(&by, axes, n, shape);
    ScatterAttrs *attrs = BUILD_ATTRS(ScatterAttrs, .update_window_dims = ints_of(nwindow, window),
                                      .inserted_window_dims = ints_of(n, positioned),
                                      .scatter_dims_to_operand_dims = ints_of(n, positioned),
                                      .index_vector_dim = rank, .unique_indices = !s->has_arrays);
    Graph region = op == OP_COUNT ? trace_replacer(s->t.element) : trace_reducer(op, s->t.element);
    tt in[] = { x, at, value }, y = NO_VALUE;
    trace_apply_regions(s->c->who, OP_SCATTER, 3, in, attrs, 1, &region, 1, &s->t, &y);
    return y;
}

/* New axes of the selection are of extent 1: s and the value without them. */
static tt without_new(Selection *s, tt value)
{
    int rank = 0, first = s->first_dim;
    for (int d = 0; d < s->rank; d++) {
        if (s->is_new[d]) {
            s->first_dim -= d < first;
            continue;
        }
        for (int i = 0; i < s->t.rank; i++)
            if (s->axis[i].dim == d)
                s->axis[i].dim = rank;
        s->dims[rank++] = s->dims[d];
    }
    s->rank = rank;
    memset(s->is_new, 0, sizeof s->is_new);
    return build_reshape(value, selection_type(s));
}

static void put_body(const tt *in, tt *out, const void *config)
{
    const Config *c = config;
    Selection s;
    Shape shape;
    tt value;
    if (!shapes_of(c->who, 1, in, &shape) || !select_parts(&s, c, in) ||
        !fit_value(&s, in[1], &value))
        return;
    OpId op = combines[c->how];
    tt x = in[0];
    if (!type_count(selection_type(&s))) {
        *out = x;
    } else if (is_window(&s)) {
        if (op != OP_COUNT)
            value = build2(op, read_selection(&s, x), value);
        *out = write_window(&s, x, value);
    } else {
        value = without_new(&s, value);
        *out = scatter_value(&s, x, value, op);
    }
    *out = as_weak(*out, shape.is_weak);
}

/* ---- the interface ---- */

/* in[n...]: the arrays of the parts.  How many there are then; -1: reported. */
static int take_parts(Config *c, const tt_part *parts, int n, tt *in, int nin)
{
    if (n > MOST_PARTS)
        return report_broken("%s: %d indices; at most %d are possible", c->who, n, MOST_PARTS), -1;
    c->n = n;
    for (int i = 0; i < n; i++) {
        const tt_part *p = &parts[i];
        c->part[i] = (Part){ p->kind, p->start, p->stop, p->step, 0 };
        if (p->kind == TT_PART_ARRAY || p->kind == TT_PART_BLOCK) {
            c->part[i].operand = nin;
            in[nin++] = p->at;
        }
    }
    return nin;
}

tt tt_get_n(tt x, const tt_part *parts, int n)
{
    PUBLIC;
    Config c;
    memset(&c, 0, sizeof c); /* compared as bytes */
    c.who = "tt_get";
    c.how = -1;
    tt in[MOST_PARTS + 2] = { x }, out = NO_VALUE;
    tt_dims at = { 0, { 0 } };
    bool is_plain = n <= TT_MAX_RANK;
    for (int i = 0; is_plain && i < n; i++) {
        is_plain = parts[i].kind == TT_PART_AT;
        at.v[at.n++] = parts[i].start;
    }
    if (is_plain) /* one program for all positions */
        return tt_index(x, &at);
    int nin = take_parts(&c, parts, n, in, 1);
    if (nin > 0)
        call_eager(c.who, get_body, &c, sizeof c, nin, in, 1, &out);
    return out;
}

tt tt_put_n(tt x, tt value, tt_put how, const tt_part *parts, int n)
{
    PUBLIC;
    static const char *const names[] = { "tt_set", "tt_add_to", "tt_mul_to", "tt_min_to",
                                         "tt_max_to" };
    Config c;
    memset(&c, 0, sizeof c);
    if ((unsigned)how > TT_PUT_MAX)
        return report_broken("tt_put: there is no way %d to put", (int)how);
    c.who = names[how];
    c.how = how;
    tt in[MOST_PARTS + 2] = { x, value }, out = NO_VALUE;
    int nin = take_parts(&c, parts, n, in, 2);
    if (nin > 0)
        call_eager(c.who, put_body, &c, sizeof c, nin, in, 1, &out);
    return out;
}
