/* plain_sum_body.h - sums of one element type in vectors of BYTES bytes.
 *
 * Included by plain_sum_types.h with BYTES, DATA (a number in memory), NUMBER (in registers), INTEGER (as
 * wide as NUMBER, unsigned) and NAME(x) set; and where a number in memory is not as in registers, LOAD(p) (a
 * vector from memory), WIDE(x) and NARROW(x) (one number from memory and back).
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

static void NAME(row)(const DATA *x, int64_t n, DATA *out)
{
    enum { WAYS = 4, STEP = WAYS * LANES };
    Vector levels[PLAIN_LEVELS][PLAIN_STRIP], all = { 0 };
    int nlevels = 0;
    int64_t i = 0;
    for (int64_t block = 0; n - i >= STEP; block++) {
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
    for (; i + LANES <= n; i += LANES)
        all += LOAD(x + i);
    while (nlevels)
        all += levels[--nlevels][0];
    NUMBER one = NAME(lanes_sum)(all);
    for (; i < n; i++)
        one += WIDE(x[i]);
    *out = NARROW(one);
}

/* `width` vectors of columns, side by side; rows are `step` apart. */
static ALWAYS_INLINE void NAME(strip)(int width, const DATA *x, int64_t n, int64_t step, DATA *out)
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
            out[v * LANES + i] = NARROW(all[i]);
    }
}

/* Some columns, at least a vector of them: the last is one that ends where they end. */
static void NAME(columns)(const DATA *x, int64_t n, int64_t step, int64_t columns, DATA *out)
{
    int64_t i = 0;
    for (; i + PLAIN_STRIP * LANES <= columns; i += PLAIN_STRIP * LANES)
        NAME(strip)(PLAIN_STRIP, x + i, n, step, out + i);
    for (; i + LANES <= columns; i += LANES)
        NAME(strip)(1, x + i, n, step, out + i);
    if (i < columns)
        NAME(strip)(1, x + columns - LANES, n, step, out + columns - LANES);
}

/* One row (columns is 1, step too), or columns. */
static void NAME(sum)(const void *in, int64_t n, int64_t step, int64_t columns, void *out)
{
    if (step == 1)
        NAME(row)(in, n, out);
    else
        NAME(columns)(in, n, step, columns, out);
}

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
