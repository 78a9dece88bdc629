/* radix_body.h - a stable sort of records by digits, from the lowest digit up.
 *
 * The file that includes it defines
 *     T         the record
 *     BITS(x)   the unsigned number that it is sorted by
 *     SORT(f)   the name of f for this record
 *
 * All digits are counted in one walk.  Then each pass moves the records from one half of the memory
 * to the other, each behind those of lower digits; a digit that all records share costs no pass. */

/* A few records are sorted sooner by putting each in its place among those before it. */
static void SORT(insert)(T *at, int64_t n, int low)
{
    for (int64_t i = 1; i < n; i++) {
        T x = at[i];
        int64_t j = i;
        for (; j > 0 && BITS(at[j - 1]) >> low > BITS(x) >> low; j--)
            at[j] = at[j - 1];
        at[j] = x;
    }
}

/* From how many records have each digit to where those records begin.  False: all have the same. */
static bool SORT(begins)(uint32_t *counts, int64_t n, int width)
{
    uint32_t sum = 0;
    for (int d = 0; d < 1 << width; d++) {
        uint32_t count = counts[d];
        if (count == n)
            return false;
        counts[d] = sum;
        sum += count;
    }
    return true;
}

static inline __attribute__((always_inline)) T *SORT(passes)(T *from, T *to, int64_t n, int low,
                                                             int high, int width, uint32_t *counts)
{
    const uint64_t mask = (UINT64_C(1) << width) - 1;
    int npasses = (high - low + width - 1) / width;
    memset(counts, 0, sizeof *counts * ((size_t)npasses << width));
    for (int64_t i = 0; i < n; i++) {
        uint64_t bits = (uint64_t)BITS(from[i]) >> low;
        for (int p = 0; p < npasses; p++, bits >>= width)
            counts[((uint64_t)p << width) + (bits & mask)]++;
    }
    for (int p = 0; p < npasses; p++) {
        uint32_t *begin = counts + ((size_t)p << width);
        int shift = low + p * width;
        if (!SORT(begins)(begin, n, width))
            continue;
        for (int64_t i = 0; i < n; i++)
            to[begin[(uint64_t)BITS(from[i]) >> shift & mask]++] = from[i];
        T *other = from;
        from = to;
        to = other;
    }
    return from;
}

/* By bits low .. high - 1; above them all are zero.  Returns where the sorted records are: at, or
 * spare, which has room for n too. */
static T *SORT(radix)(T *at, T *spare, int64_t n, int low, int high)
{
    enum { FEW = 32, MANY = 1 << 14, NARROW = 8, WIDE = 11, MOST_PASSES = 6 };
    uint32_t counts[MOST_PASSES << WIDE]; /* room for 8 passes of NARROW too */
    if (n <= FEW) {
        SORT(insert)(at, n, low);
        return at;
    }
    return n < MANY ? SORT(passes)(at, spare, n, low, high, NARROW, counts)
                    : SORT(passes)(at, spare, n, low, high, WIDE, counts);
}

#undef T
#undef BITS
#undef SORT
