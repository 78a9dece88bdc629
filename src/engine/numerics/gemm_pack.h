/* gemm_pack.h - operands from memory into panels of units, as tiles read them.
 *
 * Included by gemm_body.h, for one kind and one instruction set, with also: Q an element within a
 * unit, which is DEEP of them [P]; TO_Q(x) an element as a Q; TO_QS(v) a vector of elements as one of Qs.
 * A panel of `width` lines, rows of a or columns of b, has for each unit of depth `width` units:
 *
 *     line  0  1  2 ..           where elements of a line lie side by side, squares of vectors are
 *   unit 0  .  .  .              transposed in registers; where lines do, vectors of DEEP of them are
 *   unit 1  .  .  .              joined; else it goes element by element */

/* See gemm_body.h. */
/* clang-format off */
typedef S NAME(Some) __attribute__((vector_size(NAME(LANES) * sizeof(S)), aligned(sizeof(S)), may_alias));
typedef S NAME(Many) __attribute__((vector_size(NAME(LANES) * DEEP * sizeof(S)), aligned(sizeof(S)), may_alias));
typedef Q NAME(Qs) __attribute__((vector_size(NAME(LANES) * DEEP * sizeof(Q))));

/* Lines that lie in memory by steps. */
typedef struct NAME(Lines) {
    const S *at;        /* at[l * line + p * deep] */
    int64_t line, deep; /* steps */
    int64_t n, depth;   /* lines, and elements of each */
} NAME(Lines);

static int64_t NAME(units)(int64_t depth)
{
    return ((depth + DEEP - 1) / DEEP + MULTIPLE - 1) / MULTIPLE * MULTIPLE;
}

/* Which lanes two rows exchange so that blocks of `half` x `half` across the diagonal swap. */
typedef struct NAME(Shuffles) {
    NAME(Mask) first[4], second[4];
} NAME(Shuffles);

ATTR static NAME(Shuffles) NAME(transpose_shuffles)(void)
{
    NAME(Shuffles) shuffles;
    for (int stage = 0; stage < NAME(STAGES); stage++)
        for (int l = 0; l < NAME(LANES); l++) {
            int half = NAME(LANES) >> (stage + 1);
            shuffles.first[stage][l] = l & half ? NAME(LANES) + l - half : l;
            shuffles.second[stage][l] = l & half ? NAME(LANES) + l : l + half;
        }
    return shuffles;
}

/* to[p * to_row + i] = v[i][p] for a square of vectors; in registers, if all loops are unrolled. */
ATTR static inline __attribute__((always_inline)) void
NAME(transpose_registers)(const NAME(Shuffles) *shuffles, NAME(Units) *v, P *to, int64_t to_row)
{
#pragma GCC unroll 4
    for (int stage = 0; stage < NAME(STAGES); stage++)
#pragma GCC unroll 16
        for (int i = 0; i < NAME(LANES); i++) {
            int half = NAME(LANES) >> (stage + 1);
            if (i & half)
                continue;
            NAME(Units) x = v[i], y = v[i + half];
            v[i] = __builtin_shuffle(x, y, shuffles->first[stage]);
            v[i + half] = __builtin_shuffle(x, y, shuffles->second[stage]);
        }
#pragma GCC unroll 16
    for (int p = 0; p < NAME(LANES); p++)
        *(NAME(Units) *)(to + p * to_row) = v[p];
}

/* A vector of units from elements side by side, each unit's along the depth. */
ATTR static inline __attribute__((always_inline)) NAME(Units) NAME(load)(const S *from)
{
    return (NAME(Units))TO_QS(*(const NAME(Many) *)from);
}

#if DEEP > 1
/* LANES elements side by side, each in a lane of its own.  (GCC 12 takes a vector of bytes apart to convert it.) */
ATTR static inline __attribute__((always_inline)) NAME(Mask) NAME(spread)(const S *from)
{
#if BYTES == 64
    return (NAME(Mask))(sizeof(S) == 1 ? _mm512_cvtepi8_epi32(_mm_loadu_si128((const __m128i_u *)from))
                                       : _mm512_cvtepi16_epi32(_mm256_loadu_si256((const __m256i_u *)from)));
#elif BYTES == 32
    return (NAME(Mask))(sizeof(S) == 1 ? _mm256_cvtepi8_epi32(_mm_loadl_epi64((const __m128i_u *)from))
                                       : _mm256_cvtepi16_epi32(_mm_loadu_si128((const __m128i_u *)from)));
#else
    return __builtin_convertvector(*(const NAME(Some) *)from, NAME(Mask));
#endif
}
#endif

/* A vector of units of neighbouring lines: of DEEP rows, `step` apart. */
ATTR static inline __attribute__((always_inline)) NAME(Units) NAME(join)(const S *from, int64_t step)
{
#if DEEP == 1
    (void)step;
    return NAME(load)(from);
#else
    enum { BITS = 8 * (int)sizeof(Q) };
    NAME(Mask) all = { 0 };
#pragma GCC unroll 4
    for (int d = 0; d < DEEP; d++)
        all |= (NAME(spread)(from + d * step) & (I)((1u << BITS) - 1)) << (d * BITS);
    return (NAME(Units))all;
#endif
}

/* A unit of the n elements there are, if any. */
ATTR static inline __attribute__((always_inline)) P NAME(unit)(const S *from, int64_t step, int64_t n)
{
    Q parts[DEEP] = { 0 };
    P unit;
    for (int64_t d = 0; d < DEEP && d < n; d++)
        parts[d] = TO_Q(from[d * step]);
    memcpy(&unit, parts, sizeof unit);
    return unit;
}

/* Units p .. p + LANES of lines i .. i + LANES.  In place of lines that are not there: the last one, for
 * what becomes of it is not looked at. */
ATTR static inline __attribute__((always_inline)) void
NAME(pack_square)(const NAME(Shuffles) *shuffles, P *to, int width, NAME(Lines) x, int64_t i, int64_t p)
{
    NAME(Units) v[NAME(LANES)];
#pragma GCC unroll 16
    for (int l = 0; l < NAME(LANES); l++) {
        const S *from = x.at + NAME(least)(i + l, x.n - 1) * x.line + p * DEEP;
        __builtin_prefetch(from + 4 * NAME(LANES) * DEEP, 0, 2);
        v[l] = NAME(load)(from);
    }
    NAME(transpose_registers)(shuffles, v, to + p * width + i, width);
}

/* to[p * width + l] = unit p of line l, anything for lines that are not there.  Up to LANES units behind
 * the last may be written: a row's vectors go from right to left, and rows down, so that what runs over
 * the end of a row is written again. */
ATTR static inline __attribute__((always_inline)) void NAME(pack)(P *to, int width, NAME(Lines) x)
{
    int64_t p = 0, units = NAME(units)(x.depth), whole = x.depth / DEEP;
    enum { LANES = NAME(LANES) };
    int last = (width - 1) / LANES * LANES;
    if (x.deep == 1 && BYTES > 16) {
        NAME(Shuffles) shuffles = NAME(transpose_shuffles)();
        for (; p + LANES <= whole; p += LANES)
            for (int i = last; i >= 0; i -= LANES)
                NAME(pack_square)(&shuffles, to, width, x, i, p);
    } else if (x.line == 1 && IS_PLAIN && x.n >= width) {
        for (; p < units; p++) { /* the lines beside are packed soon after */
            for (int i = 0; i < width; i += NAME(LINE))
                __builtin_prefetch(x.at + p * x.deep + 2 * width + i, 0, 2);
            memcpy(to + p * width, x.at + p * x.deep, sizeof(P) * (size_t)width);
        }
    } else if (x.line == 1 && x.n >= last + LANES) {
        for (; p < whole; p++)
            for (int i = last; i >= 0; i -= LANES)
                *(NAME(Units) *)(to + p * width + i) = NAME(join)(x.at + p * DEEP * x.deep + i, x.deep);
    }
    int lines = (int)NAME(least)(x.n, width);
    for (; p < units; p++)
        for (int i = 0; i < lines; i++)
            to[p * width + i] = NAME(unit)(x.at + i * x.line + p * DEEP * x.deep, x.deep, x.depth - p * DEEP);
}

#if IS_TILED
/* Rows as a register of AMX takes them: of each MULTIPLE units, one line after the other. */
ATTR static __attribute__((noinline)) void NAME(pack_tile)(P *to, NAME(Lines) x)
{
    enum { CHUNK = MULTIPLE * DEEP };
    P turned[MULTIPLE * ROWS + NAME(LANES)] __attribute__((aligned(BYTES)));
    NAME(Shuffles) shuffles = NAME(transpose_shuffles)();
    int64_t lines = NAME(least)(x.n, ROWS);
    for (int64_t p = 0; p < x.depth; p += CHUNK, to += MULTIPLE * ROWS) {
        int64_t depth = NAME(least)(x.depth - p, CHUNK);
        const S *from = x.at + p * x.deep;
        if (x.deep == 1) {
            __mmask64 bytes = UINT64_MAX >> (64 - depth * (int64_t)sizeof(S));
            for (int64_t l = 0; l < lines; l++)
                *(NAME(Units) *)(to + l * MULTIPLE) =
                    (NAME(Units))_mm512_maskz_loadu_epi8(bytes, from + l * x.line);
            continue;
        }
        NAME(pack)(turned, ROWS, (NAME(Lines)){ from, x.line, x.deep, x.n, depth });
        for (int l = 0; l < ROWS; l += NAME(LANES)) {
            NAME(Units) v[NAME(LANES)];
#pragma GCC unroll 16
            for (int u = 0; u < NAME(LANES); u++)
                v[u] = *(const NAME(Units) *)(turned + u * ROWS + l);
            NAME(transpose_registers)(&shuffles, v, to + l * MULTIPLE, MULTIPLE);
        }
    }
}
#else
ATTR static __attribute__((noinline)) void NAME(pack_tile)(P *to, NAME(Lines) x)
{
    NAME(pack)(to, ROWS, x);
}
#endif

#if SPLIT == 2
#include "engine/numerics/gemm_complex.h"
#else
ATTR static __attribute__((noinline)) void NAME(pack_b)(P *to, NAME(Lines) x)
{
    NAME(pack)(to, NAME(COLS), x);
}

#if DEEP > 1
/* The same for several panels, `apart` units from each to the next, of lines side by side: rows are read
 * whole, and those of the next units asked for meanwhile. */
ATTR static void NAME(pack_rows)(P *to, int64_t apart, NAME(Lines) x)
{
    enum { AHEAD = 4 * DEEP, LINE = 64 / (int)sizeof(S) };
    int64_t panels = x.n / NAME(COLS), whole = x.depth / DEEP / MULTIPLE * MULTIPLE;
    for (int64_t p = 0; p < whole; p++) {
        const S *from = x.at + p * DEEP * x.deep;
        for (int d = 0; d < DEEP && (p + 1) * DEEP + AHEAD <= x.depth; d++)
            for (int64_t i = 0; i < x.n; i += LINE)
                __builtin_prefetch(from + (AHEAD + d) * x.deep + i);
        P *at = to + p * NAME(COLS);
        for (int64_t j = 0; j < panels; j++, at += apart, from += NAME(COLS)) {
            ((NAME(Units) *)at)[0] = NAME(join)(from, x.deep);
            ((NAME(Units) *)at)[1] = NAME(join)(from + NAME(LANES), x.deep);
        }
    }
    NAME(Lines) rest = { x.at + whole * DEEP * x.deep, 1, x.deep, x.n, x.depth - whole * DEEP };
    for (int64_t j = 0; j < panels && rest.depth; j++, rest.at += NAME(COLS), rest.n -= NAME(COLS))
        NAME(pack_b)(to + j * apart + whole * NAME(COLS), rest);
    x.at += panels * NAME(COLS);
    x.n -= panels * NAME(COLS);
    if (x.n)
        NAME(pack_b)(to + panels * apart, x);
}
#endif

/* To a tile of a. */
ATTR static void NAME(add_offset)(P *tile, int64_t depth)
{
#if OFFSET_A
    for (int64_t p = 0; p < NAME(units)(depth) * ROWS; p++)
        tile[p] ^= OFFSET_A;
#else
    (void)tile, (void)depth;
#endif
}

/* `rows` rows, tiles one after the other, KC deep each.  Whole tiles of an a that lies by columns are
 * packed side by side, so that columns are read in one go. */
ATTR static void NAME(pack_a)(P *to, int64_t rows, NAME(Lines) x)
{
    int64_t whole = IS_PLAIN && x.line == 1 ? rows / ROWS * ROWS : 0;
    for (int64_t p = 0; p < x.depth && whole; p++)
        for (int64_t i = 0; i < whole; i += ROWS)
            memcpy(to + i * KC + p * ROWS, x.at + p * x.deep + i, sizeof(P) * ROWS);
    for (int64_t i = whole; i < rows; i += ROWS) {
        NAME(Lines) tile = { x.at + i * x.line, x.line, x.deep, x.n - i, x.depth };
        NAME(pack_tile)(to + i * KC, tile);
        NAME(add_offset)(to + i * KC, x.depth);
    }
}
#endif
