/* select_scatter.c - the kernel that is a select_and_scatter: the gradient of a maximum over windows.
 *
 * In: an array, a window that slides over it, and a number for every window.  Out: an array of
 * initial values to which each window's number is added at the element that a region prefers.
 *
 * Where windows lie side by side along the last dimension, or are one element long in it, as
 * channels are, a vector holds neighbouring windows: the preferred position of each lane is
 * found, and then every position of the window is stored once, with what is new in some lanes:
 *
 *     for windows { for positions p { best, where = p }
 *                   for positions p { out[p] = where == p ? out[p] + source : out[p] } }
 *
 * Along any other last dimension a vector holds neighbouring windows while their preferred positions are found;
 * their numbers are then added one by one, since two may prefer one position.  Along a dimension in which windows do
 * not overlap they own what lies from one to the next: that loop comes first, is split among
 * workers, and begins with the initial values of what it owns. */
#include "engine/kernels/kernels.h"

#include <string.h>

enum { MOST_COLUMNS = 4, MOST_UNROLLED = 16, FEW_WINDOWS = 4 };

typedef struct Selection {
    NodeId node;
    Type in, windows; /* the operand's, the source's */
    WindowDim dims[MAX_RANK];
    int last;
    int64_t positions; /* in a window */
    int columns;     /* windows of so many lie side by side in the last dimension; 0: they do not */
    int owned;       /* the dimension that is walked first; -1: windows overlap in all of them */
    bool is_covered; /* every element is in a window, and in no other */
    Coord at[MAX_RANK]; /* of the windows */
    Coord w[MAX_RANK];  /* the position in the window */
    int lanes;
    V best[3]; /* the value, the number of its position, whether there is one yet */
    V source;
} Selection;

static V call_region(Kernel *k, RegionId r, V x, V y)
{
    V args[] = { x, y }, result;
    memo_clear(k);
    region_inline(k, r, args, &result);
    return result;
}

/* ---- how windows lie ---- */

static bool is_apart(const WindowDim *d)
{
    return d->stride >= d->size;
}

/* Each window begins in what it owns, which is not empty. */
static bool can_own(const WindowDim *d)
{
    return is_apart(d) && d->before >= 0 && d->before < d->stride &&
           (d->count - 1) * d->stride - d->before < d->extent;
}

static int columns_of(const Selection *s)
{
    const WindowDim *d = s->last >= 0 ? &s->dims[s->last] : NULL;
    bool fits = d && d->size == d->stride && d->size <= MOST_COLUMNS && d->before == 0 &&
                d->count * d->stride <= d->extent && element_info[s->in.element].kind != COMPLEX;
    return fits ? (int)d->size : 0;
}

static int owned_of(const Selection *s)
{
    for (int d = 0; d < s->last; d++)
        if (can_own(&s->dims[d]) && s->dims[d].count > 1)
            return d;
    return s->last > 0 && can_own(&s->dims[0]) ? 0 : -1;
}

static bool covers(const Selection *s)
{
    for (int d = 0; d <= s->last; d++)
        if (s->dims[d].size != s->dims[d].stride || s->dims[d].before ||
            s->dims[d].count * s->dims[d].stride != s->dims[d].extent)
            return false;
    return s->columns > 0 && s->owned >= 0;
}

/* ---- the positions of a window ---- */

static Index *position_index(Kernel *k, const Selection *s, V *inside)
{
    Index *to = index_new(k, s->in, s->lanes);
    memo_clear(k);
    k->lanes = s->lanes;
    for (int d = 0; d <= s->last; d++)
        index_set(to, d, window_coord(k, &s->dims[d], s->at[d], s->w[d], s->lanes, inside));
    if (*inside)
        to->mask = *inside;
    return to;
}

typedef void Visit(Kernel *k, Selection *s, Coord number);

/* Calls visit at every position from dimension d up to `end`, of which `number` come before; the best so
 * far is carried round, if is_carried. */
static void positions_from(Kernel *k, Selection *s, int d, int end, Coord number, bool is_carried,
                           Visit *visit)
{
    if (d >= end) {
        visit(k, s, number);
        return;
    }
    int64_t size = s->dims[d].size, lanes = s->lanes;
    number = coord_mul_const(k, number, size, (int)lanes);
    if (size == 1 || s->positions <= MOST_UNROLLED) {
        for (int64_t i = 0; i < size; i++) {
            s->w[d] = coord_const(k, i);
            positions_from(k, s, d + 1, end, coord_add_const(k, number, i, (int)lanes), is_carried,
                           visit);
        }
        return;
    }
    Loop loop;
    loop_begin(k, &loop, size, 1, is_carried ? 3 : 0, s->best);
    s->w[d] = loop_coord(&loop, 0);
    positions_from(k, s, d + 1, end, coord_add(k, number, s->w[d], (int)lanes), is_carried, visit);
    loop_end(k, &loop, s->best);
}

/* {best, where, found} becomes this element if there is none yet, or if the region does not
 * prefer the best so far. */
static void take_better(Kernel *k, Selection *s, Coord number)
{
    const Node *node = node_at(k->m, s->node);
    V inside = NULL;
    Index *to = position_index(k, s, &inside);
    V value = element(k, node->in[0], to);
    V where = coord_lanes(k, s->columns ? number : index_linear(k, to), s->lanes);
    V keeps = call_region(k, node->regions[0], s->best[0], value);
    V takes = LLVMBuildNot(k->b, LLVMBuildAnd(k->b, s->best[2], keeps, ""), "");
    if (inside)
        takes = LLVMBuildAnd(k->b, takes, inside, "");
    s->best[0] = arith_select(k, takes, value, s->best[0]);
    s->best[1] = LLVMBuildSelect(k->b, takes, where, s->best[1], "");
    s->best[2] = inside ? LLVMBuildOr(k->b, s->best[2], inside, "")
                        : LLVMConstAllOnes(LLVMTypeOf(s->best[2]));
}

static void find_best(Kernel *k, Selection *s)
{
    k->lanes = s->lanes;
    s->best[0] = LLVMConstNull(value_type(k, s->in.element));
    s->best[1] = LLVMConstNull(s->lanes > 1 ? lane_type(k, s->lanes) : int_type(k, 64));
    s->best[2] = LLVMConstNull(lanes_of(int_type(k, 1), s->lanes));
    positions_from(k, s, 0, s->last + 1, coord_const(k, 0), true, take_better);
}

/* ---- what is written ---- */

static V initial_value(Kernel *k, const Selection *s)
{
    memo_clear(k);
    return element(k, node_at(k->m, s->node)->in[2], index_scalar(k, k->lanes));
}

/* One column of a position: what is there, or with the source's number in lanes that prefer it. */
static V added(Kernel *k, const Selection *s, Index *to, Coord number)
{
    const Node *node = node_at(k->m, s->node);
    V was = s->is_covered ? initial_value(k, s)
                          : load_element(k, k->outs[0], element_of(k, node->out), to);
    V sum = call_region(k, node->regions[1], was, s->source);
    V where = coord_lanes(k, number, s->lanes);
    V here = LLVMBuildICmp(k->b, LLVMIntEQ, s->best[1], where, "");
    return arith_select(k, LLVMBuildAnd(k->b, here, s->best[2], ""), sum, was);
}

/* All columns of a position, unless they are padding. */
static void store_position(Kernel *k, Selection *s, Coord number)
{
    Element sums = element_of(k, node_at(k->m, s->node)->out);
    V columns[MOST_COLUMNS], inside = NULL;
    Index *first = NULL;
    LLVMBasicBlockRef after = NULL;
    for (int c = 0; c < s->columns; c++) {
        s->w[s->last] = coord_const(k, c);
        Index *to = position_index(k, s, &inside);
        to->mask = NULL;
        if (inside && !after) { /* the last dimension has none, so all lanes agree */
            V is_inside = extract_lane(k, inside, 0);
            LLVMBasicBlockRef store = LLVMAppendBasicBlockInContext(k->c, k->function, "store");
            after = LLVMAppendBasicBlockInContext(k->c, k->function, "next");
            LLVMBuildCondBr(k->b, is_inside, store, after);
            LLVMPositionBuilderAtEnd(k->b, store);
        }
        first = first ? first : to;
        Coord at = coord_mul_const(k, number, s->columns, s->lanes);
        columns[c] = added(k, s, to, coord_add_const(k, at, c, s->lanes));
    }
    if (!k->error && s->columns == 1)
        store_element(k, k->outs[0], sums, first, columns[0]);
    else if (!k->error)
        store_columns(k, k->outs[0], sums, first, s->columns, columns);
    if (after) {
        LLVMBuildBr(k->b, after);
        LLVMPositionBuilderAtEnd(k->b, after);
    }
}

static Index *source_index(Kernel *k, const Selection *s)
{
    Index *at = index_new(k, s->windows, s->lanes);
    for (int d = 0; d <= s->last; d++)
        index_set(at, d, s->at[d]);
    return at;
}

/* One window: its number is added at position `where`, if `has_one`. */
static void store_where_best(Kernel *k, Selection *s, V where, V has_one)
{
    const Node *node = node_at(k->m, s->node);
    LLVMBasicBlockRef add = LLVMAppendBasicBlockInContext(k->c, k->function, "add");
    LLVMBasicBlockRef after = LLVMAppendBasicBlockInContext(k->c, k->function, "next");
    LLVMBuildCondBr(k->b, has_one, add, after);
    LLVMPositionBuilderAtEnd(k->b, add);
    s->lanes = k->lanes = 1;
    memo_clear(k);
    Index *to = index_numbered(k, s->in, coord_uniform(k, where), 1);
    Element sums = element_of(k, node->out); /* may be wider than what was compared */
    V source = element(k, node->in[1], source_index(k, s));
    V sum = call_region(k, node->regions[1], load_element(k, k->outs[0], sums, to), source);
    if (!k->error)
        store_element(k, k->outs[0], sums, to, sum);
    LLVMBuildBr(k->b, after);
    LLVMPositionBuilderAtEnd(k->b, after);
}

/* The windows of all lanes, in order. */
static void store_each(Kernel *k, Selection *s, Coord first)
{
    int lanes = s->lanes;
    if (lanes == 1) {
        store_where_best(k, s, s->best[1], s->best[2]);
        return;
    }
    Loop loop;
    loop_begin(k, &loop, lanes, 1, 0, NULL);
    V lane = loop.i, where = LLVMBuildExtractElement(k->b, s->best[1], lane, "");
    where = LLVMBuildIntCast2(k->b, where, int_type(k, 64), false, "");
    s->at[s->last] = coord_uniform(k, LLVMBuildAdd(k->b, first.base, lane, ""));
    store_where_best(k, s, where, LLVMBuildExtractElement(k->b, s->best[2], lane, ""));
    loop_end(k, &loop, NULL);
}

/* ---- loops ---- */

static void windows_at(Kernel *k, Selection *s, Coord last, int lanes)
{
    if (s->last >= 0)
        s->at[s->last] = last;
    s->lanes = lanes;
    find_best(k, s);
    if (!s->columns) {
        store_each(k, s, last);
        return;
    }
    memo_clear(k);
    s->source = element(k, node_at(k->m, s->node)->in[1], source_index(k, s));
    positions_from(k, s, 0, s->last, coord_const(k, 0), false, store_position);
}

static void windows_of_row(Kernel *k, Selection *s)
{
    int64_t n = s->last >= 0 ? s->dims[s->last].count : 1;
    int lanes = element_info[s->in.element].kind == COMPLEX || n < FEW_WINDOWS ? 1 : k->width;
    int64_t full = n / lanes * lanes;
    if (full) {
        Loop loop;
        loop_begin(k, &loop, full, lanes, 0, NULL);
        windows_at(k, s, loop_coord(&loop, lanes > 1), lanes);
        loop_end(k, &loop, NULL);
    }
    if (full < n)
        windows_at(k, s, (Coord){ const_i64(k, full), n - full > 1, full, NULL }, (int)(n - full));
}

static void all_windows(Kernel *k, Selection *s)
{
    Loop loops[MAX_RANK];
    for (int d = 0; d < s->last; d++)
        if (d != s->owned) {
            loop_begin(k, &loops[d], s->dims[d].count, 1, 0, NULL);
            s->at[d] = loop_coord(&loops[d], 0);
        }
    windows_of_row(k, s);
    for (int d = s->last - 1; d >= 0; d--)
        if (d != s->owned)
            loop_end(k, &loops[d], NULL);
}

static void initial_body(Kernel *k, Index *at, void *user)
{
    const Selection *s = user;
    V value = initial_value(k, s);
    if (!k->error)
        store_element(k, k->outs[0], element_of(k, node_at(k->m, s->node)->out), at, value);
}

static void initial_row(Kernel *k, const Selection *s, V first, int64_t n)
{
    int64_t full = n / k->width * k->width;
    if (full) {
        Loop loop;
        loop_begin(k, &loop, full, k->width, 0, NULL);
        Coord at = { LLVMBuildAdd(k->b, first, loop.i, ""), 1, 1, NULL };
        k->lanes = k->width;
        initial_body(k, index_numbered(k, s->in, at, k->width), (void *)s);
        loop_end(k, &loop, NULL);
    }
    if (full == n)
        return;
    k->lanes = (int)(n - full);
    Coord at = { LLVMBuildAdd(k->b, first, const_i64(k, full), ""), 1, 1, NULL };
    initial_body(k, index_numbered(k, s->in, at, k->lanes), (void *)s);
}

/* What window number i along the owned dimension owns: from it up to the next, the first one from
 * the array's begin and the last one up to its end. */
static void initial_owned(Kernel *k, const Selection *s, V i)
{
    const WindowDim *d = &s->dims[s->owned];
    int64_t outer = 1, inner = 1;
    for (int o = 0; o < s->owned; o++)
        outer *= s->in.dims[o];
    for (int o = s->owned + 1; o <= s->last; o++)
        inner *= s->in.dims[o];
    V from = LLVMBuildMul(k->b, i, const_i64(k, d->stride), "");
    from = LLVMBuildSub(k->b, from, const_i64(k, d->before), "");
    V to = LLVMBuildAdd(k->b, from, const_i64(k, d->stride), "");
    V is_last = LLVMBuildICmp(k->b, LLVMIntEQ, i, const_i64(k, d->count - 1), "");
    to = INTRINSIC(k, "llvm.smin", to, const_i64(k, d->extent));
    to = LLVMBuildSelect(k->b, is_last, const_i64(k, d->extent), to, "");
    from = INTRINSIC(k, "llvm.smax", from, const_i64(k, 0));
    Loop before, rows;
    loop_begin(k, &before, outer, 1, 0, NULL);
    loop_between(k, &rows, from, to, 1, 0, NULL);
    V row = LLVMBuildMul(k->b, before.i, const_i64(k, d->extent), "");
    row = LLVMBuildAdd(k->b, row, rows.i, "");
    initial_row(k, s, LLVMBuildMul(k->b, row, const_i64(k, inner), ""), inner);
    loop_end(k, &rows, NULL);
    loop_end(k, &before, NULL);
}

static void owned_windows(Kernel *k, Selection *s)
{
    Loop loop;
    int64_t count = s->dims[s->owned].count;
    if (slices_choose(k, 1, &count) == 0)
        slice_loop(k, &loop, count, 1);
    else
        loop_begin(k, &loop, count, 1, 0, NULL);
    s->at[s->owned] = loop_coord(&loop, 0);
    if (!s->is_covered)
        initial_owned(k, s, loop.i);
    all_windows(k, s);
    loop_end(k, &loop, NULL);
}

void block_select_scatter(Kernel *k, NodeId root)
{
    const Node *node = node_at(k->m, root);
    Selection s = { .node = root,
                    .in = type_of(k->m, node->in[0]),
                    .windows = type_of(k->m, node->in[1]),
                    .positions = 1 };
    bool joined[MAX_RANK + 1], is_empty = type_count(s.windows) == 0 || type_count(s.in) == 0;
    s.last = s.in.rank - 1;
    k->e->has_steps = true;
    window_dims(node->attrs, s.in, s.windows, s.dims);
    window_widen(k, s.in.rank, s.dims);
    for (int d = 0; d <= s.last; d++) {
        s.positions *= s.dims[d].size < MOST_UNROLLED * 2 ? s.dims[d].size : MOST_UNROLLED * 2;
        s.positions = s.positions < MOST_UNROLLED * 2 ? s.positions : MOST_UNROLLED * 2;
        is_empty = is_empty || s.dims[d].size == 0;
    }
    s.columns = columns_of(&s);
    s.owned = is_empty ? -1 : owned_of(&s);
    s.is_covered = covers(&s);
    if (s.owned >= 0) {
        owned_windows(k, &s);
        return;
    }
    k->wanted = 1;
    memset(joined, 1, sizeof joined);
    loop_over(k, s.in, joined, initial_body, &s);
    if (!is_empty)
        all_windows(k, &s);
}
