/* plain_reduce_body.h - sums, and the largest and smallest, of one element type in vectors of BYTES bytes.
 *
 * Included by plain_reduce_types.h with BYTES, DATA (a number in memory), NUMBER (in registers), INTEGER (as
 * wide as NUMBER, unsigned), MAXIMUM(x, y) and MINIMUM(x, y) (of vectors; of NaN and y it is y), EITHER_NAN(seen, x, y)
 * (seen, and all ones where x or y is NaN) and NAME(x) set; and where a number in memory is not as in registers,
 * LOAD(p) (a vector from memory), WIDE(x) and NARROW(x) (one number from memory and back).
 *
 * A long sum loses digits with each term that an accumulator takes in, so accumulators begin anew after
 * some rounds, and what they held is added up as by a tree: block by block, equal heights first. */

#ifndef LOAD
#define LOAD(p) (*(const Loose *)(p))
#define WIDE(x) (x)
#define NARROW(x) (x)
#endif

enum { NAME(LANES) = BYTES / sizeof(NUMBER) };
#define LANES NAME(LANES)
typedef NUMBER NAME(Vector) __attribute__((vector_size(BYTES)));
typedef INTEGER NAME(Bits) __attribute__((vector_size(BYTES)));
typedef DATA NAME(Loose)
    __attribute__((vector_size(LANES * sizeof(DATA)), aligned(sizeof(DATA)), may_alias));
#define Vector NAME(Vector)
#define Bits NAME(Bits)
#define Loose NAME(Loose)

/* A result, or a part of one, which is not rounded before it is joined with the others. */
static ALWAYS_INLINE void NAME(put)(void *out, int64_t i, bool is_partial, NUMBER x)
{
    if (is_partial)
        ((NUMBER *)out)[i] = x;
    else
        ((DATA *)out)[i] = NARROW(x);
}

/* A new block's sum goes to those before it: two of a height become one that is higher. */
static ALWAYS_INLINE int NAME(pile)(int width, int64_t block, int nlevels,
                                    Vector (*levels)[PLAIN_STRIP], Vector *sum)
{
    for (; block & 1; block >>= 1) {
        nlevels--;
        for (int v = 0; v < width; v++)
            sum[v] += levels[nlevels][v];
    }
    for (int v = 0; v < width; v++)
        levels[nlevels][v] = sum[v];
    return nlevels + 1;
}

static ALWAYS_INLINE NUMBER NAME(lanes_sum)(Vector v)
{
    NUMBER lane[LANES];
    memcpy(lane, &v, sizeof lane);
    for (int half = LANES / 2; half; half /= 2)
        for (int i = 0; i < half; i++)
            lane[i] += lane[i + half];
    return lane[0];
}

/* What a row has behind its last block: whole vectors, and less than one. */
static ALWAYS_INLINE Vector NAME(rest)(const DATA *x, int64_t n)
{
    Vector all = { 0 }, last;
    NUMBER lane[LANES] = { 0 };
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES)
        all += LOAD(x + i);
    for (int64_t l = 0; i + l < n; l++)
        lane[l] = WIDE(x[i + l]);
    memcpy(&last, lane, sizeof last);
    return all + last;
}

static void NAME(row_sum)(const DATA *x, int64_t n, bool is_partial, void *out)
{
    enum { WAYS = 4, STEP = WAYS * LANES };
    Vector levels[PLAIN_LEVELS][PLAIN_STRIP], all = { 0 };
    int nlevels = 0;
    int64_t block = 0, i = 0;
    for (; n - i >= STEP; block++) {
        Vector w[WAYS];
        int64_t rounds = (n - i) / STEP < PLAIN_ROUNDS ? (n - i) / STEP : PLAIN_ROUNDS;
        int64_t end = i + rounds * STEP;
        for (int v = 0; v < WAYS; v++)
            w[v] = LOAD(x + i + v * LANES);
        for (i += STEP; i < end; i += STEP)
            for (int v = 0; v < WAYS; v++)
                w[v] += LOAD(x + i + v * LANES);
        w[0] = (w[0] + w[1]) + (w[2] + w[3]);
        nlevels = NAME(pile)(1, block, nlevels, levels, w);
    }
    if (i < n)
        all = NAME(rest)(x + i, n - i);
    while (nlevels)
        all += levels[--nlevels][0];
    NAME(put)(out, 0, is_partial, NAME(lanes_sum)(all));
}

/* `width` vectors of columns, side by side; rows are `step` apart. */
static ALWAYS_INLINE void NAME(sum_strip)(int width, const DATA *x, int64_t n, int64_t step,
                                          bool is_partial, void *out, int64_t at)
{
    enum { AHEAD = 6, FAR = 512 };
    Vector levels[PLAIN_LEVELS][PLAIN_STRIP], w[PLAIN_STRIP];
    bool is_far = step >= FAR;
    int nlevels = 0;
    for (int64_t block = 0, row = 0; row < n; block++) {
        int64_t end = n - row < PLAIN_ROUNDS ? n : row + PLAIN_ROUNDS;
        for (int v = 0; v < width; v++)
            w[v] = LOAD(x + row * step + v * LANES);
        for (row++; row < end; row++)
            for (int v = 0; v < width; v++) {
                if (is_far) /* no machine foresees such steps */
                    __builtin_prefetch(x + (row + AHEAD) * step + v * LANES);
                w[v] += LOAD(x + row * step + v * LANES);
            }
        nlevels = NAME(pile)(width, block, nlevels, levels, w);
    }
    for (int v = 0; v < width; v++) {
        Vector all = { 0 };
        for (int l = nlevels - 1; l >= 0; l--)
            all += levels[l][v];
        for (int i = 0; i < LANES; i++)
            NAME(put)(out, at + v * LANES + i, is_partial, all[i]);
    }
}

/* ---- the largest or the smallest: NaN, if there is one ---- */

static ALWAYS_INLINE Vector NAME(further)(bool is_max, Vector x, Vector so_far)
{
    return is_max ? MAXIMUM(x, so_far) : MINIMUM(x, so_far);
}

static ALWAYS_INLINE NUMBER NAME(furthest_lane)(bool is_max, Vector v)
{
    NUMBER lane[LANES];
    memcpy(lane, &v, sizeof lane);
    for (int half = LANES / 2; half; half /= 2)
        for (int i = 0; i < half; i++)
            lane[i] = (is_max ? lane[i] > lane[i + half] : lane[i] < lane[i + half])
                          ? lane[i]
                          : lane[i + half];
    return lane[0];
}

static ALWAYS_INLINE bool NAME(any_lane)(Bits v)
{
    uint64_t words[BYTES / sizeof(uint64_t)], any = 0;
    memcpy(words, &v, sizeof words);
    for (size_t i = 0; i < BYTES / sizeof(uint64_t); i++)
        any |= words[i];
    return any;
}

/* The last vector is one that ends where the row ends: to look at a number twice changes nothing. */
static ALWAYS_INLINE void NAME(row_extreme)(bool is_max, const DATA *x, int64_t n, bool is_partial,
                                            void *out)
{
    enum { WAYS = 4, STEP = WAYS * LANES };
    NUMBER first = is_max ? (NUMBER)-INFINITY : (NUMBER)INFINITY;
    Vector w[WAYS];
    Bits seen[WAYS / 2] = { 0 };
    for (int v = 0; v < WAYS; v++)
        w[v] = first - (Vector){ 0 };
    int64_t i = 0;
    for (; n - i >= STEP; i += STEP)
        for (int v = 0; v < WAYS; v += 2) {
            Vector a = LOAD(x + i + v * LANES), b = LOAD(x + i + (v + 1) * LANES);
            w[v] = NAME(further)(is_max, a, w[v]);
            w[v + 1] = NAME(further)(is_max, b, w[v + 1]);
            seen[v / 2] = EITHER_NAN(seen[v / 2], a, b);
        }
    for (; i < n; i += LANES) {
        Vector a = LOAD(x + (i + LANES <= n ? i : n - LANES));
        w[0] = NAME(further)(is_max, a, w[0]);
        seen[0] = EITHER_NAN(seen[0], a, a);
    }
    for (int v = 2; v < WAYS; v++)
        w[v - 2] = NAME(further)(is_max, w[v], w[v - 2]);
    w[0] = NAME(further)(is_max, w[1], w[0]);
    bool any = NAME(any_lane)(seen[0] | seen[1]);
    NAME(put)(out, 0, is_partial, any ? (NUMBER)NAN : NAME(furthest_lane)(is_max, w[0]));
}

static ALWAYS_INLINE void NAME(extreme_strip)(bool is_max, int width, const DATA *x, int64_t n,
                                              int64_t step, bool is_partial, void *out, int64_t at)
{
    enum { AHEAD = 6, FAR = 512 };
    Vector w[PLAIN_STRIP];
    Bits seen[PLAIN_STRIP];
    bool is_far = step >= FAR;
    for (int v = 0; v < width; v++) {
        w[v] = LOAD(x + v * LANES);
        seen[v] = EITHER_NAN((Bits){ 0 }, w[v], w[v]);
    }
    for (int64_t row = n & 1; row < n; row += 2)
        for (int v = 0; v < width; v++) {
            const DATA *from = x + row * step + v * LANES;
            if (is_far) { /* no machine foresees such steps */
                __builtin_prefetch(from + AHEAD * step);
                __builtin_prefetch(from + (AHEAD + 1) * step);
            }
            Vector a = LOAD(from), b = LOAD(from + step);
            w[v] = NAME(further)(is_max, b, NAME(further)(is_max, a, w[v]));
            seen[v] = EITHER_NAN(seen[v], a, b);
        }
    for (int v = 0; v < width; v++)
        for (int l = 0; l < LANES; l++)
            NAME(put)(out, at + v * LANES + l, is_partial, seen[v][l] ? (NUMBER)NAN : w[v][l]);
}

/* ---- any of them ---- */

static ALWAYS_INLINE void NAME(strip)(PlainOp op, int width, const DATA *x, int64_t n, int64_t step,
                                      bool is_partial, void *out, int64_t at)
{
    if (op == PLAIN_SUM)
        NAME(sum_strip)(width, x + at, n, step, is_partial, out, at);
    else
        NAME(extreme_strip)(op == PLAIN_MAX, width, x + at, n, step, is_partial, out, at);
}

/* Some columns, at least a vector of them: the last is one that ends where they end. */
static ALWAYS_INLINE void NAME(columns)(PlainOp op, const DATA *x, int64_t n, int64_t step,
                                        int64_t columns, bool is_partial, void *out)
{
    int64_t i = 0;
    for (; i + PLAIN_STRIP * LANES <= columns; i += PLAIN_STRIP * LANES)
        NAME(strip)(op, PLAIN_STRIP, x, n, step, is_partial, out, i);
    if (i + PLAIN_STRIP / 2 * LANES <= columns) {
        NAME(strip)(op, PLAIN_STRIP / 2, x, n, step, is_partial, out, i);
        i += PLAIN_STRIP / 2 * LANES;
    }
    for (; i + LANES <= columns; i += LANES)
        NAME(strip)(op, 1, x, n, step, is_partial, out, i);
    if (i < columns)
        NAME(strip)(op, 1, x, n, step, is_partial, out, columns - LANES);
}

/* As many of `count` numbers as a vector holds; the others are as the first of a reduction. */
static ALWAYS_INLINE Vector NAME(some)(const NUMBER *x, int64_t count, NUMBER others)
{
    Vector v = others - (Vector){ 0 };
    memcpy(&v, x, sizeof(NUMBER) * (size_t)(count < LANES ? count : LANES));
    return v;
}

/* out[i] of all parts[p, i], p below n. */
static ALWAYS_INLINE void NAME(join)(PlainOp op, const NUMBER *parts, int64_t n, int64_t count,
                                     DATA *out)
{
    NUMBER first = op == PLAIN_SUM ? 0 : op == PLAIN_MAX ? (NUMBER)-INFINITY : (NUMBER)INFINITY;
    for (int64_t i = 0; i < count; i += LANES) {
        Vector all = first - (Vector){ 0 };
        Bits seen = { 0 };
        for (int64_t from = 0; from < n; from += PLAIN_ROUNDS) {
            int64_t end = n - from < PLAIN_ROUNDS ? n : from + PLAIN_ROUNDS;
            Vector block = first - (Vector){ 0 };
            for (int64_t p = from; p < end; p++) {
                Vector x = NAME(some)(parts + p * count + i, count - i, first);
                seen = op == PLAIN_SUM ? seen : EITHER_NAN(seen, x, x);
                block = op == PLAIN_SUM ? block + x : NAME(further)(op == PLAIN_MAX, x, block);
            }
            all = op == PLAIN_SUM ? all + block : NAME(further)(op == PLAIN_MAX, block, all);
        }
        for (int64_t l = 0; l < LANES && i + l < count; l++)
            out[i + l] = NARROW(seen[l] ? (NUMBER)NAN : all[l]);
    }
}

#define REDUCE(name, op, row)                                                                      \
    static void NAME(name)(const void *in, int64_t n, int64_t step, int64_t columns,               \
                           bool is_partial, void *out)                                             \
    {                                                                                              \
        if (step == 1)                                                                             \
            row;                                                                                   \
        else                                                                                       \
            NAME(columns)(op, in, n, step, columns, is_partial, out);                              \
    }                                                                                              \
    static void NAME(name##_join)(const void *parts, int64_t n, int64_t count, void *out)          \
    {                                                                                              \
        NAME(join)(op, parts, n, count, out);                                                      \
    }
REDUCE(sum, PLAIN_SUM, NAME(row_sum)(in, n, is_partial, out))
REDUCE(max, PLAIN_MAX, NAME(row_extreme)(true, in, n, is_partial, out))
REDUCE(min, PLAIN_MIN, NAME(row_extreme)(false, in, n, is_partial, out))
#undef REDUCE

#undef LANES
#undef Vector
#undef Bits
#undef Loose
#undef DATA
#undef NUMBER
#undef INTEGER
#undef NAME
#undef LOAD
#undef WIDE
#undef NARROW
#undef MAXIMUM
#undef MINIMUM
#undef EITHER_NAN
