/* plain_transpose.c - a transpose of elements of 1, 2, 4 or 8 bytes, ready-made.
 *
 *     operand:  a b c d ..     result:  a e i ..      a square has as many columns as a vector of the result has
 *               e f g h ..              b f j ..      elements, and as many rows as are read of a column at once
 *               i j k l ..              c g k ..
 *
 * Squares are transposed in registers: as often as halving their rows comes to one, the elements of both halves
 * are put in turn.  Of 16 bytes every processor does that in one instruction, so as much is read of a column, and
 * each quarter of a vector has columns of its own.  Where columns begin as cache lines do, large elements are read by
 * whole lines: many such columns have no room in the first cache together.
 *
 * Compiled for a program that only transposes, this would be most of the program's compilation, and no two of
 * them differ but in their extents. */
#include "engine/numerics/numerics.h"

#include "engine/cpu_level.h"
#include "engine/slices.h"

#include <string.h>
#if defined __x86_64__
#include <immintrin.h>
#endif

enum { QUARTER = 16, LINE = 64, FAR = 2048, AHEAD = 2 };

/* `rows` and `columns` of the result, at least as many of each as a square has; steps are in bytes, from column to column
 * of the operand and from row to row of the result.  The last squares end where rows and columns end. */
typedef void BandFn(int64_t rows, int64_t columns, const char *in, int64_t in_step, char *out,
                    int64_t out_step);

/* Where columns lie FAR apart no processor foresees them. */
static inline void columns_ahead(const char *in, int64_t in_step, int64_t n)
{
    if (in_step >= FAR)
        for (int64_t i = 0; i < n; i++)
            __builtin_prefetch(in + (AHEAD * n + i) * in_step);
}

/* Of elements of so many `bytes`, `read` bytes of each column at once.  LOAD(p, step): those at p, at p + step, .. as
 * one vector; LOW and HIGH (a, b): of the lower and of the upper half of a and of b, or of each of their quarters, the
 * elements in turn. */
#define BAND(name, ATTRIBUTES, Vector, bytes, read, LOAD, LOW, HIGH)                               \
    ATTRIBUTES static void name(int64_t rows, int64_t columns, const char *in, int64_t in_step,    \
                                char *out, int64_t out_step)                                       \
    {                                                                                              \
        enum { SIDE = (read) / (bytes), WIDE = sizeof(Vector) / (bytes) };                         \
        for (int64_t c = 0; c < columns; c += WIDE) {                                              \
            int64_t column = c + WIDE <= columns ? c : columns - WIDE;                             \
            columns_ahead(in + column * in_step, in_step, WIDE);                                   \
            for (int64_t r = 0; r < rows; r += SIDE) {                                             \
                int64_t first = r + SIDE <= rows ? r : rows - SIDE;                                \
                const char *from = in + column * in_step + first * (bytes);                        \
                char *to = out + first * out_step + column * (bytes);                              \
                Vector row[SIDE], next[SIDE];                                                      \
                _Pragma("GCC unroll 16") for (int i = 0; i < SIDE; i++) row[i] =                   \
                    LOAD(from + i * in_step, SIDE * in_step);                                      \
                _Pragma("GCC unroll 4") for (int half = SIDE / 2; half; half /= 2)                 \
                {                                                                                  \
                    _Pragma("GCC unroll 8") for (int i = 0; i < SIDE / 2; i++)                     \
                    {                                                                              \
                        next[2 * i] = LOW(row[i], row[i + SIDE / 2]);                              \
                        next[2 * i + 1] = HIGH(row[i], row[i + SIDE / 2]);                         \
                    }                                                                              \
                    _Pragma("GCC unroll 16") for (int i = 0; i < SIDE; i++) row[i] = next[i];      \
                }                                                                                  \
                _Pragma("GCC unroll 16") for (int i = 0; i < SIDE; i++)                            \
                    memcpy(to + i * out_step, &row[i], sizeof row[i]);                             \
            }                                                                                      \
        }                                                                                          \
    }

/* ---- of any machine ---- */

typedef uint8_t Bytes16 __attribute__((vector_size(16)));
typedef uint16_t Halves16 __attribute__((vector_size(16)));
typedef uint32_t Words16 __attribute__((vector_size(16)));
typedef uint64_t Longs16 __attribute__((vector_size(16)));

#define LOAD_AS(Vector, p)                                                                         \
    ({                                                                                             \
        Vector v;                                                                                  \
        memcpy(&v, p, sizeof v);                                                                   \
        v;                                                                                         \
    })
#define LOAD_8(p, step) LOAD_AS(Bytes16, p)
#define LOAD_16(p, step) LOAD_AS(Halves16, p)
#define LOAD_32(p, step) LOAD_AS(Words16, p)
#define LOAD_64(p, step) LOAD_AS(Longs16, p)
#define LOW_8(a, b)                                                                                \
    __builtin_shuffle(a, b, (Bytes16){ 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23 })
#define HIGH_8(a, b)                                                                               \
    __builtin_shuffle(a, b,                                                                        \
                      (Bytes16){ 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31 })
#define LOW_16(a, b) __builtin_shuffle(a, b, (Halves16){ 0, 8, 1, 9, 2, 10, 3, 11 })
#define HIGH_16(a, b) __builtin_shuffle(a, b, (Halves16){ 4, 12, 5, 13, 6, 14, 7, 15 })
#define LOW_32(a, b) __builtin_shuffle(a, b, (Words16){ 0, 4, 1, 5 })
#define HIGH_32(a, b) __builtin_shuffle(a, b, (Words16){ 2, 6, 3, 7 })
#define LOW_64(a, b) __builtin_shuffle(a, b, (Longs16){ 0, 2 })
#define HIGH_64(a, b) __builtin_shuffle(a, b, (Longs16){ 1, 3 })

BAND(band_1_128, , Bytes16, 1, QUARTER, LOAD_8, LOW_8, HIGH_8)
BAND(band_2_128, , Halves16, 2, QUARTER, LOAD_16, LOW_16, HIGH_16)
BAND(band_4_128, , Words16, 4, QUARTER, LOAD_32, LOW_32, HIGH_32)
BAND(band_8_128, , Longs16, 8, QUARTER, LOAD_64, LOW_64, HIGH_64)

/* ---- of machines with wider vectors ---- */

#if defined __x86_64__
#define AVX2 __attribute__((target("avx2")))
#define AVX512 __attribute__((target("avx512f,avx512vl,avx512dq,avx512bw,prefer-vector-width=512")))

AVX2 static inline __m256i load_256(const char *p, int64_t step)
{
    return _mm256_loadu2_m128i((const __m128i_u *)(p + step), (const __m128i_u *)p);
}

BAND(band_1_256, AVX2, __m256i, 1, QUARTER, load_256, _mm256_unpacklo_epi8, _mm256_unpackhi_epi8)
BAND(band_2_256, AVX2, __m256i, 2, QUARTER, load_256, _mm256_unpacklo_epi16, _mm256_unpackhi_epi16)
BAND(band_4_256, AVX2, __m256i, 4, QUARTER, load_256, _mm256_unpacklo_epi32, _mm256_unpackhi_epi32)
BAND(band_8_256, AVX2, __m256i, 8, QUARTER, load_256, _mm256_unpacklo_epi64, _mm256_unpackhi_epi64)

AVX512 static inline __m512i load_512(const char *p, int64_t step)
{
    __m256i low = load_256(p, step), high = load_256(p + 2 * step, step);
    return _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
}

BAND(band_1_512, AVX512, __m512i, 1, QUARTER, load_512, _mm512_unpacklo_epi8, _mm512_unpackhi_epi8)
BAND(band_2_512, AVX512, __m512i, 2, QUARTER, load_512, _mm512_unpacklo_epi16,
     _mm512_unpackhi_epi16)
BAND(band_4_512, AVX512, __m512i, 4, QUARTER, load_512, _mm512_unpacklo_epi32,
     _mm512_unpackhi_epi32)
BAND(band_8_512, AVX512, __m512i, 8, QUARTER, load_512, _mm512_unpacklo_epi64,
     _mm512_unpackhi_epi64)

typedef uint32_t Words64 __attribute__((vector_size(64)));
typedef uint64_t Longs64 __attribute__((vector_size(64)));
#define LINE_32(p, step) LOAD_AS(Words64, p)
#define LINE_64(p, step) LOAD_AS(Longs64, p)
#define LOW_LINE_32(a, b)                                                                          \
    __builtin_shuffle(a, b, (Words64){ 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23 })
#define HIGH_LINE_32(a, b)                                                                         \
    __builtin_shuffle(a, b,                                                                        \
                      (Words64){ 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31 })
#define LOW_LINE_64(a, b) __builtin_shuffle(a, b, (Longs64){ 0, 8, 1, 9, 2, 10, 3, 11 })
#define HIGH_LINE_64(a, b) __builtin_shuffle(a, b, (Longs64){ 4, 12, 5, 13, 6, 14, 7, 15 })

BAND(lines_4, AVX512, Words64, 4, LINE, LINE_32, LOW_LINE_32, HIGH_LINE_32)
BAND(lines_8, AVX512, Longs64, 8, LINE, LINE_64, LOW_LINE_64, HIGH_LINE_64)
#endif

/* By the logarithms of the element's size, and of quarters in a vector; then by lines. */
static BandFn *const bands[4][4] = {
#if defined __x86_64__
#define WIDTHS(size) band_##size##_128, band_##size##_256, band_##size##_512
    { WIDTHS(1) },
    { WIDTHS(2) },
    { WIDTHS(4), lines_4 },
    { WIDTHS(8), lines_8 },
#else
    { band_1_128 },
    { band_2_128 },
    { band_4_128 },
    { band_8_128 },
#endif
};

/* The widest vectors that the machine has and the columns fill. */
static BandFn *band_for(const PlainTranspose *t)
{
    BandFn *const *known = bands[__builtin_ctzll((uint64_t)t->bytes)];
    int width = 0;
    for (int64_t bytes = 2 * QUARTER; bytes <= cpu_vector_bytes(); bytes *= 2)
        width += bytes <= t->columns * t->bytes;
    bool has_lines = width == 2 && known[3] && t->in_step % LINE == 0;
    return has_lines && t->rows * t->bytes >= LINE ? known[3] : known[width];
}

/* ---- all of them ---- */

/* A unit is some rows and columns of one matrix; the last ones of each have what is left. */
typedef struct Work {
    const PlainTranspose *t;
    BandFn *band;
    int64_t bands, rows, strips, columns; /* of a matrix; of a unit */
    int64_t units, each;                  /* each: of a slice */
    const char *in;
    char *out;
} Work;

static void transpose_unit(const Work *w, int64_t unit)
{
    const PlainTranspose *t = w->t;
    int64_t band = unit % w->bands, strip = unit / w->bands % w->strips;
    int64_t matrix = unit / w->bands / w->strips;
    int64_t row = band * w->rows, column = strip * w->columns;
    int64_t rows = band + 1 < w->bands ? w->rows : t->rows - row;
    int64_t columns = strip + 1 < w->strips ? w->columns : t->columns - column;
    const char *in = w->in + row * t->bytes + column * t->in_step;
    char *out = w->out + row * t->out_step + column * t->bytes;
    for (int64_t d = t->rank - 1; d >= 0; d--) {
        in += matrix % t->dims[d].extent * t->dims[d].in_step;
        out += matrix % t->dims[d].extent * t->dims[d].out_step;
        matrix /= t->dims[d].extent;
    }
    w->band(rows, columns, in, t->in_step, out, t->out_step);
}

static void transpose_slice(void *user, int64_t slice)
{
    const Work *w = user;
    int64_t end = (slice + 1) * w->each < w->units ? (slice + 1) * w->each : w->units;
    for (int64_t unit = slice * w->each; unit < end; unit++)
        transpose_unit(w, unit);
}

void plain_transpose(const Frame *f, const PlainTranspose *t, const void *in, void *out)
{
    enum { BYTES_OF_SLICE = 1 << 17, MOST_SLICES = 64, BYTES_OF_STRIP = 4096 };
    Work w = { .t = t, .band = band_for(t), .in = in, .out = out };
    w.rows = LINE / t->bytes;
    w.columns = BYTES_OF_STRIP / t->bytes;
    w.bands = t->rows > w.rows ? t->rows / w.rows : 1;
    w.strips = t->columns > w.columns ? t->columns / w.columns : 1;
    w.units = w.bands * w.strips;
    int64_t bytes = t->rows * t->columns * t->bytes;
    for (int64_t d = 0; d < t->rank; d++) {
        w.units *= t->dims[d].extent;
        bytes *= t->dims[d].extent;
    }
    int64_t slices = bytes / BYTES_OF_SLICE;
    slices = slices < MOST_SLICES ? slices : MOST_SLICES;
    w.each = slices > 1 ? (w.units + slices - 1) / slices : w.units;
    slices_run(f, (w.units + w.each - 1) / w.each, transpose_slice, &w);
}
