/* index.c - where in an array the lanes of a vector stand.
 *
 * In: the coordinates of a loop.  Out: the coordinates, or the element number, in the array
 * that is read at the end of a chain of views.
 *
 * A coordinate of all lanes at once is one of three things, best first:
 *
 *   uniform       5 5 5 5      base, step 0
 *   affine        8 9 10 11    base, step 1 (or -1 for reverse, 2 for a strided slice ...)
 *   any vector    3 0 7 2      by division, or read from memory
 *
 * Arithmetic keeps the best form it can; so a broadcast row stays one contiguous load, and a
 * broadcast column one scalar load, whatever views lie between. */
#include "engine/codegen/codegen.h"

#include "base/fail.h"
#include "base/table.h"

static int64_t gcd(int64_t a, int64_t b)
{
    a = a < 0 ? -a : a;
    b = b < 0 ? -b : b;
    while (b) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

LLVMTypeRef lane_type(Kernel *k, int lanes)
{
    return lanes_of(int_type(k, k->is_small && lanes > 1 ? 32 : 64), lanes);
}

Coord coord_const(Kernel *k, int64_t value)
{
    return (Coord){ .base = const_i64(k, value), .beyond = value };
}

Coord coord_uniform(Kernel *k, V i64)
{
    (void)k;
    return (Coord){ .base = i64, .multiple = 1 };
}

Coord coord_vector(Kernel *k, V vector)
{
    (void)k;
    return (Coord){ .vector = vector };
}

bool coord_is_uniform(Coord c)
{
    return !c.vector && c.step == 0;
}

/* base + (0, 1, 2, ...) * step */
V coord_lanes(Kernel *k, Coord a, int lanes)
{
    if (a.vector)
        return a.vector;
    if (lanes == 1)
        return a.base;
    LLVMTypeRef type = lane_type(k, lanes), one = LLVMGetElementType(type);
    V base = LLVMBuildIntCast2(k->b, a.base, one, true, "");
    V steps[MAX_LANES];
    require(lanes <= MAX_LANES);
    for (int i = 0; i < lanes; i++)
        steps[i] = LLVMConstInt(one, (unsigned long long)(i * a.step), true);
    return LLVMBuildAdd(k->b, splat(k, base, lanes), LLVMConstVector(steps, (unsigned)lanes), "");
}

/* Along which dimension of the loops the sum of two goes, if along one. */
static void add_along(Coord *sum, Coord a, Coord b)
{
    bool is_number = !b.along && !b.step && LLVMIsAConstantInt(b.base);
    bool is_one = a.along && (is_number || a.along == b.along);
    if (!is_one)
        return;
    sum->along = a.along;
    sum->scale = a.scale + b.scale;
    sum->offset = a.offset + (b.along ? b.offset : LLVMConstIntGetSExtValue(b.base));
}

Coord coord_add(Kernel *k, Coord a, Coord b, int lanes)
{
    if (a.vector || b.vector)
        return coord_vector(
            k, LLVMBuildAdd(k->b, coord_lanes(k, a, lanes), coord_lanes(k, b, lanes), ""));
    Coord sum = { .base = LLVMBuildAdd(k->b, a.base, b.base, ""),
                  .step = a.step + b.step,
                  .multiple = gcd(a.multiple, b.multiple),
                  .beyond = a.beyond + b.beyond };
    if (a.along)
        add_along(&sum, a, b);
    else
        add_along(&sum, b, a);
    return sum;
}

Coord coord_add_const(Kernel *k, Coord a, int64_t value, int lanes)
{
    return value ? coord_add(k, a, coord_const(k, value), lanes) : a;
}

Coord coord_mul_const(Kernel *k, Coord a, int64_t factor, int lanes)
{
    if (factor == 1)
        return a;
    if (a.vector)
        return coord_vector(
            k, LLVMBuildMul(k->b, a.vector, const_i(k, lane_type(k, lanes), factor), ""));
    return (Coord){ .base = LLVMBuildMul(k->b, a.base, const_i64(k, factor), ""),
                    .step = a.step * factor,
                    .multiple = a.multiple * factor,
                    .beyond = a.beyond * factor,
                    .along = a.along,
                    .scale = a.scale * factor,
                    .offset = a.offset * factor };
}

int64_t coord_multiple(Coord a)
{
    return gcd(a.multiple, a.beyond);
}

/* Neighbouring lanes never lie on both sides of a multiple of the divisor. */
static bool stays_in_block(Coord a, int64_t divisor, int lanes)
{
    return !a.vector && a.step == 1 && gcd(coord_multiple(a), divisor) >= lanes;
}

static bool steps_by_blocks(Coord a, int64_t divisor)
{
    return !a.vector && a.step % divisor == 0;
}

/* Rounds down.  Lane 0 may stand before the array, where it is off, and the others not. */
static V floor_div(Kernel *k, V a, int64_t divisor)
{
    V by = const_i64(k, divisor), zero = const_i64(k, 0);
    V rest = LLVMBuildSRem(k->b, a, by, "");
    V is_below = LLVMBuildICmp(k->b, LLVMIntSLT, rest, zero, "");
    V down = LLVMBuildSExt(k->b, is_below, int_type(k, 64), "");
    return LLVMBuildAdd(k->b, LLVMBuildSDiv(k->b, a, by, ""), down, "");
}

Coord coord_div_const(Kernel *k, Coord a, int64_t divisor, int lanes)
{
    if (divisor == 1)
        return a;
    int64_t all = coord_multiple(a), multiple = all % divisor == 0 ? all / divisor : 1;
    if (steps_by_blocks(a, divisor) && a.step && lanes > 1)
        return (Coord){ .base = floor_div(k, a.base, divisor),
                        .step = a.step / divisor,
                        .multiple = multiple };
    if (lanes == 1 || coord_is_uniform(a) || stays_in_block(a, divisor, lanes))
        return (Coord){ .base = LLVMBuildUDiv(k->b, a.base, const_i64(k, divisor), ""),
                        .multiple = multiple };
    return coord_vector(k, LLVMBuildUDiv(k->b, coord_lanes(k, a, lanes),
                                         const_i(k, lane_type(k, lanes), divisor), ""));
}

/* The rests of lanes that begin so far beyond a multiple of the divisor. */
static V known_rests(Kernel *k, Coord a, int64_t divisor, int lanes)
{
    LLVMTypeRef one = LLVMGetElementType(lane_type(k, lanes));
    V rests[MAX_LANES];
    require(lanes <= MAX_LANES);
    for (int i = 0; i < lanes; i++) {
        int64_t rest = (a.beyond + i * a.step) % divisor;
        rests[i] = LLVMConstInt(one, (unsigned long long)(rest + (rest < 0) * divisor), false);
    }
    return LLVMConstVector(rests, (unsigned)lanes);
}

Coord coord_mod_const(Kernel *k, Coord a, int64_t divisor, int lanes)
{
    if (divisor == 1)
        return coord_const(k, 0);
    int64_t multiple = gcd(coord_multiple(a), divisor);
    if (steps_by_blocks(a, divisor) && a.step && lanes > 1) {
        V down = LLVMBuildMul(k->b, floor_div(k, a.base, divisor), const_i64(k, divisor), "");
        return (Coord){ .base = LLVMBuildSub(k->b, a.base, down, ""), .multiple = multiple };
    }
    if (lanes == 1 || coord_is_uniform(a) || stays_in_block(a, divisor, lanes))
        return (Coord){ .base = LLVMBuildURem(k->b, a.base, const_i64(k, divisor), ""),
                        .step = a.step,
                        .multiple = multiple };
    if (!a.vector && a.multiple % divisor == 0)
        return coord_vector(k, known_rests(k, a, divisor, lanes));
    return coord_vector(k, LLVMBuildURem(k->b, coord_lanes(k, a, lanes),
                                         const_i(k, lane_type(k, lanes), divisor), ""));
}

static int64_t divide_down(int64_t a, int64_t b)
{
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

/* Is the coordinate below the limit everywhere in the box (1), nowhere (0), or neither (-1)?  Where that changes
 * is noted. */
static int is_below(Box *box, Coord a, int64_t limit)
{
    if (!box || !a.along || !a.scale)
        return -1;
    int d = a.along - 1;
    int64_t first = a.scale * box->from[d] + a.offset;
    int64_t last = a.scale * (box->to[d] - 1) + a.offset;
    if (first < limit && last < limit)
        return 1;
    if (first >= limit && last >= limit)
        return 0;
    /* the first index at which it is another than at the one before */
    int64_t cut = a.scale > 0 ? -divide_down(a.offset - limit, a.scale)
                              : divide_down(a.offset - limit, -a.scale) + 1;
    if (box->asked == d && box->ncuts < MOST_CUTS)
        box->cuts[box->ncuts++] = cut;
    return -1;
}

bool is_always(V condition)
{
    return LLVMIsConstant(condition) && condition == LLVMConstAllOnes(LLVMTypeOf(condition));
}

bool is_never(V condition)
{
    return LLVMIsConstant(condition) && LLVMIsNull(condition);
}

static V coord_compare(Kernel *k, LLVMIntPredicate how, Coord a, int64_t limit, int lanes)
{
    LLVMTypeRef type = lanes_of(int_type(k, 1), lanes);
    int known = is_below(k->box, a, limit);
    if (known >= 0)
        return known == (how == LLVMIntSLT) ? LLVMConstAllOnes(type) : LLVMConstNull(type);
    if (coord_is_uniform(a))
        return splat(k, LLVMBuildICmp(k->b, how, a.base, const_i64(k, limit), ""), lanes);
    V v = coord_lanes(k, a, lanes);
    return LLVMBuildICmp(k->b, how, v, const_i(k, LLVMTypeOf(v), limit), "");
}

V coord_less_const(Kernel *k, Coord a, int64_t limit, int lanes)
{
    return coord_compare(k, LLVMIntSLT, a, limit, lanes);
}

V coord_at_least(Kernel *k, Coord a, int64_t limit, int lanes)
{
    return coord_compare(k, LLVMIntSGE, a, limit, lanes);
}

/* ---- Index ---- */

Index *index_new(Kernel *k, Type shape, int lanes)
{
    Index *at = ARENA_NEW(k->arena, Index);
    *at = (Index){ .lanes = lanes, .rank = shape.rank, .dims = shape.dims };
    at->at = ARENA_ARRAY(k->arena, Coord, shape.rank + 1);
    at->known = ARENA_ARRAY(k->arena, bool, shape.rank + 1);
    at->way = 1;
    return at;
}

void index_set(Index *at, int d, Coord c)
{
    at->at[d] = c;
    at->known[d] = true;
}

int64_t index_count(const Index *at)
{
    int64_t n = 1;
    for (int d = 0; d < at->rank; d++)
        n *= at->dims[d];
    return n;
}

Index *index_numbered(Kernel *k, Type shape, Coord linear, int lanes)
{
    Index *at = index_new(k, shape, lanes);
    at->linear = linear;
    at->has_linear = true;
    return at;
}

Index *index_scalar(Kernel *k, int lanes)
{
    return index_numbered(k, type_scalar(I32), coord_const(k, 0), lanes);
}

/* A reshape of a reshape is one of what that is of, whose dimensions may be this one's again. */
Index *index_reshape(Kernel *k, Index *from, Type shape)
{
    while (from->from && from->mask == from->from->mask)
        from = from->from;
    Index *at = index_new(k, shape, from->lanes);
    at->from = from;
    at->mask = from->mask;
    at->way = from->way
                  ? hash_bytes(shape.dims, sizeof *shape.dims * (size_t)shape.rank, from->way) | 1
                  : 0;
    return at;
}

Coord index_linear(Kernel *k, Index *at)
{
    if (at->has_linear)
        return at->linear;
    Coord sum = coord_const(k, 0);
    if (at->from) {
        sum = index_linear(k, at->from);
    } else {
        int64_t stride = 1;
        for (int d = at->rank - 1; d >= 0; d--) {
            if (at->dims[d] != 1)
                sum =
                    coord_add(k, sum, coord_mul_const(k, at->at[d], stride, at->lanes), at->lanes);
            stride *= at->dims[d];
        }
    }
    at->linear = sum;
    at->has_linear = true;
    return sum;
}

static Coord divide(Kernel *k, Coord c, int64_t inner, int64_t extent, bool is_first, int lanes)
{
    c = coord_div_const(k, c, inner, lanes);
    return is_first ? c : coord_mod_const(k, c, extent, lanes);
}

/* A reshape keeps groups of dimensions together: those of from[f0, f1) and of at[a0, a1) hold
 * equally many elements.  Coordinate d needs only the coordinates of its group:
 *
 *     from   4 | 6 5 | 7
 *     at     4 | 30  | 7      and the outer and the inner one pass unchanged */
typedef struct Group2 {
    int f0, f1, a0, a1;
} Group2;

static Group2 group_of(const Index *from, const Index *at, int d)
{
    Group2 g = { 0 };
    for (;;) {
        int64_t f = from->dims[g.f1++], a = at->dims[g.a1++];
        while (f != a)
            if (f < a)
                f *= from->dims[g.f1++];
            else
                a *= at->dims[g.a1++];
        /* Extents of 1 that follow belong to this group. */
        while (g.f1 < from->rank && from->dims[g.f1] == 1)
            g.f1++;
        while (g.a1 < at->rank && at->dims[g.a1] == 1)
            g.a1++;
        if (d < g.a1)
            return g;
        g.f0 = g.f1;
        g.a0 = g.a1;
    }
}

static Coord reshaped(Kernel *k, Index *at, int d)
{
    Index *from = at->from;
    int64_t inner = 1;
    if (index_count(at) <= 1 || at->dims[d] == 1)
        return coord_const(k, 0);
    Group2 g = group_of(from, at, d);
    Coord sum = coord_const(k, 0);
    int64_t stride = 1;
    for (int f = g.f1 - 1; f >= g.f0; f--) {
        if (from->dims[f] != 1)
            sum = coord_add(k, sum, coord_mul_const(k, index_at(k, from, f), stride, at->lanes),
                            at->lanes);
        stride *= from->dims[f];
    }
    for (int i = d + 1; i < g.a1; i++)
        inner *= at->dims[i];
    return divide(k, sum, inner, at->dims[d], inner * at->dims[d] == stride, at->lanes);
}

static Coord from_linear(Kernel *k, Index *at, int d)
{
    int64_t inner = 1, all = index_count(at);
    for (int i = d + 1; i < at->rank; i++)
        inner *= at->dims[i];
    if (all == 0 || at->dims[d] == 1)
        return coord_const(k, 0);
    return divide(k, at->linear, inner, at->dims[d], inner * at->dims[d] == all, at->lanes);
}

Coord index_at(Kernel *k, Index *at, int d)
{
    if (!at->known[d]) {
        /* Divisions are of coordinates inside the array; masked lanes may give nonsense. */
        Coord c = at->from ? reshaped(k, at, d) : from_linear(k, at, d);
        index_set(at, d, c);
    }
    return at->at[d];
}

bool index_is_uniform(const Index *at)
{
    if (at->mask && !splat_source(at->mask))
        return false;
    if (at->from)
        return index_is_uniform(at->from);
    if (at->has_linear)
        return coord_is_uniform(at->linear);
    for (int d = 0; d < at->rank; d++)
        if (at->dims[d] != 1 && !(at->known[d] && coord_is_uniform(at->at[d])))
            return false;
    return true;
}

Index *index_narrow(Kernel *k, Index *at)
{
    if (at->lanes == 1)
        return at;
    if (at->narrow)
        return at->narrow;
    Index *one = index_new(k, (Type){ F32, at->rank, at->dims }, 1);
    one->mask = at->mask ? splat_source(at->mask) : NULL;
    one->way = at->way;
    if (at->from) {
        one->from = index_narrow(k, at->from);
    } else if (at->has_linear) {
        one->linear = at->linear;
        one->has_linear = true;
    } else {
        for (int d = 0; d < at->rank; d++)
            index_set(one, d, at->dims[d] == 1 ? coord_const(k, 0) : at->at[d]);
    }
    return at->narrow = one;
}

/* What all lanes agree on stays so. */
void mask_narrow(Kernel *k, V *mask, V condition)
{
    V a = *mask ? splat_source(*mask) : NULL, b = splat_source(condition);
    if (is_always(condition))
        return;
    if (!*mask)
        *mask = condition;
    else if (a && b)
        *mask =
            splat(k, LLVMBuildAnd(k->b, a, b, ""), (int)LLVMGetVectorSize(LLVMTypeOf(condition)));
    else
        *mask = LLVMBuildAnd(k->b, *mask, condition, "");
}

void index_mask(Kernel *k, Index *at, const Index *outer, V condition)
{
    at->mask = outer->mask;
    if (condition)
        mask_narrow(k, &at->mask, condition);
}
