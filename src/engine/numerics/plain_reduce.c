/* plain_reduce.c - sums, and the largest and smallest, along dimensions that lie together, ready-made.
 *
 *     in[parts, outer, n, inner]  ->  out[outer, inner]        inner = 1: rows; else columns
 *
 * A program that only adds up an array takes LLVM longer to compile than most others take to run, and no
 * two of them differ but in their extents.
 *
 * Few results of much are computed piece by piece, as many as the extents say, and then joined:
 *
 *     in[parts, outer, pieces of n, inner]  ->  partial[parts, pieces, outer, inner]  ->  out[outer, inner] */
#include "engine/numerics/numerics.h"

#include "engine/cpu_level.h"
#include "engine/numerics/gemm.h"
#include "engine/slices.h"

#include <math.h>
#include <stdlib.h>

typedef enum PlainType { PLAIN_F32, PLAIN_F64, PLAIN_BF16, PLAIN_F16, PLAIN_TYPES } PlainType;
typedef enum PlainOp { PLAIN_SUM, PLAIN_MAX, PLAIN_MIN, PLAIN_OPS } PlainOp;

/* Of `n` numbers one, or of n rows `columns`; step: from one of the n to the next. */
typedef void ReduceFn(const void *in, int64_t n, int64_t step, int64_t columns, bool is_partial,
                      void *out);
/* out[count] of parts[n, count]. */
typedef void JoinFn(const void *parts, int64_t n, int64_t count, void *out);

typedef struct Reducer {
    ReduceFn *reduce;
    JoinFn *join;
} Reducer;

/* Terms that an accumulator takes in; heights of a tree of such; vectors of columns side by side. */
enum { PLAIN_ROUNDS = 32, PLAIN_LEVELS = 48, PLAIN_STRIP = 8 };

/* To the nearest, of two as near the even one. */
static inline uint16_t f32_to_bf16(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    if (x != x)
        return (uint16_t)(bits >> 16 | 0x40);
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

#define ALWAYS_INLINE inline __attribute__((always_inline))

#define BYTES 16
#define LEVEL(x) x##_128
#if defined __x86_64__
#define F32(x) _mm_##x##_ps
#define F64(x) _mm_##x##_pd
#endif
#include "engine/numerics/plain_reduce_types.h"
#undef BYTES
#undef LEVEL
#undef F32
#undef F64

#if defined __x86_64__
#pragma GCC push_options
#pragma GCC target("avx2,f16c")
#define BYTES 32
#define LEVEL(x) x##_256
#define F32(x) _mm256_##x##_ps
#define F64(x) _mm256_##x##_pd
#define HALVES(p) _mm256_cvtph_ps(_mm_loadu_si128((const __m128i_u *)(p)))
#include "engine/numerics/plain_reduce_types.h"
#undef BYTES
#undef LEVEL
#undef F32
#undef F64
#undef HALVES
#pragma GCC pop_options

#pragma GCC push_options
#pragma GCC target("avx512f,avx512vl,avx512dq,avx512bw,f16c,prefer-vector-width=512")
#define BYTES 64
#define LEVEL(x) x##_512
#define F32(x) _mm512_##x##_ps
#define F64(x) _mm512_##x##_pd
#define HALVES(p) _mm512_cvtph_ps(_mm256_loadu_si256((const __m256i_u *)(p)))
#define HAS_MASKS
#include "engine/numerics/plain_reduce_types.h"
#undef BYTES
#undef LEVEL
#undef F32
#undef F64
#undef HALVES
#undef HAS_MASKS
#pragma GCC pop_options
#endif

static const Reducer *reducer_for(int64_t kind)
{
    int64_t op = kind / PLAIN_TYPES, type = kind % PLAIN_TYPES;
#if defined __x86_64__
    if (cpu_vector_bytes() == 64)
        return &reducers_512[op][type];
    if (cpu_vector_bytes() == 32)
        return &reducers_256[op][type];
#endif
    return &reducers_128[op][type];
}

int plain_reduce_kind(OpId op, Element e)
{
    int type = e == F32    ? PLAIN_F32
               : e == F64  ? PLAIN_F64
               : e == BF16 ? PLAIN_BF16
               : e == F16  ? PLAIN_F16
                           : -1;
    int which = op == OP_ADD ? PLAIN_SUM : op == OP_MAX ? PLAIN_MAX : op == OP_MIN ? PLAIN_MIN : -1;
    int kind = type < 0 || which < 0 ? -1 : which * PLAIN_TYPES + type;
    return kind >= 0 && reducer_for(kind)->reduce ? kind : -1;
}

/* A unit is a row, or a strip of columns beside one another, or a piece of one; the last strip of a row of
 * results has what is left. */
typedef struct Work {
    const Reducer *reducer;
    int64_t outer, n, inner;
    int64_t pieces, nstrips, strip; /* strip: columns of one */
    int64_t units, each;            /* each: of a slice */
    bool is_partial;
    size_t bytes, out_bytes;
    const char *in;
    char *out;
} Work;

static void reduce_unit(const Work *w, int64_t unit)
{
    int64_t strip = unit % w->nstrips, piece = unit / w->nstrips % w->pieces;
    int64_t row = unit / w->nstrips / w->pieces, part = row / w->outer;
    int64_t first = strip * w->strip;
    int64_t columns = strip + 1 < w->nstrips ? w->strip : w->inner - first;
    int64_t from = w->n * piece / w->pieces, end = w->n * (piece + 1) / w->pieces;
    int64_t to = (part * w->pieces + piece) * w->outer + row % w->outer;
    w->reducer->reduce(w->in + (size_t)((row * w->n + from) * w->inner + first) * w->bytes,
                       end - from, w->inner, columns, w->is_partial,
                       w->out + (size_t)(to * w->inner + first) * w->out_bytes);
}

static void reduce_slice(void *user, int64_t slice)
{
    const Work *w = user;
    int64_t end = (slice + 1) * w->each < w->units ? (slice + 1) * w->each : w->units;
    for (int64_t unit = slice * w->each; unit < end; unit++)
        reduce_unit(w, unit);
}

static void reduce_all(const Frame *f, Work *w, int64_t slices)
{
    slices = slices < w->units ? slices : w->units;
    w->each = slices > 1 ? (w->units + slices - 1) / slices : w->units;
    slices_run(f, (w->units + w->each - 1) / w->each, reduce_slice, w);
}

/* Of short rows in many parts, the parts are joined first, as if the rows of all results were columns: row by row,
 * most of the time would go into joining the lanes of a vector.  Only while the array is in the caches, for this
 * goes from part to part. */
static void reduce_parts_first(const Frame *f, int64_t kind, int64_t parts, int64_t outer,
                               int64_t n, size_t bytes, const void *in, void *out)
{
    void *rows = malloc((size_t)(outer * n) * bytes);
    if (!rows) {
        frame_fail(
            f, error_new(CODE_EXHAUSTED, "a reduction of %lld parts: no memory", (long long)parts));
        return;
    }
    plain_reduce(f, kind, 1, 1, parts, outer * n, in, rows);
    plain_reduce(f, kind, 1, outer, n, 1, rows, out);
    free(rows);
}

void plain_reduce(const Frame *f, int64_t kind, int64_t parts, int64_t outer, int64_t n,
                  int64_t inner, const void *in, void *out)
{
    enum { BYTES_OF_SLICE = 1 << 18, MOST_SLICES = 64, SHORT_ROW = 512, CACHED = 16 << 20 };
    static const size_t bytes[PLAIN_TYPES] = { 4, 8, 2, 2 };
    size_t each = bytes[kind % PLAIN_TYPES], lane = each < 4 ? 4 : each;
    size_t all = (size_t)(parts * outer * n * inner) * each;
    if (inner == 1 && n <= SHORT_ROW && parts >= PLAIN_ROWS && each == lane && all <= CACHED) {
        reduce_parts_first(f, kind, parts, outer, n, each, in, out);
        return;
    }
    Work w = { .reducer = reducer_for(kind),
               .outer = outer,
               .n = n,
               .inner = inner,
               .nstrips = 1,
               .strip = PLAIN_STRIP * cpu_vector_bytes() / (int64_t)lane,
               .bytes = each,
               .out_bytes = each,
               .in = in,
               .out = out };
    if (inner >= w.strip)
        w.nstrips = inner / w.strip;
    int64_t slices = (int64_t)(all / BYTES_OF_SLICE);
    slices = slices < MOST_SLICES ? slices : MOST_SLICES;
    int64_t whole = parts * outer * w.nstrips;
    w.pieces = slices > whole ? (slices + whole - 1) / whole : 1;
    w.pieces = w.pieces < n / PLAIN_ROWS ? w.pieces : n / PLAIN_ROWS > 1 ? n / PLAIN_ROWS : 1;
    w.units = whole * w.pieces;
    w.is_partial = parts * w.pieces > 1;
    if (!w.is_partial) {
        reduce_all(f, &w, slices);
        return;
    }
    w.out_bytes = lane;
    w.out = malloc((size_t)(parts * w.pieces * outer * inner) * lane);
    if (!w.out) {
        frame_fail(f, error_new(CODE_EXHAUSTED, "a reduction of %lld parts: no memory",
                                (long long)(parts * w.pieces)));
        return;
    }
    reduce_all(f, &w, slices);
    w.reducer->join(w.out, parts * w.pieces, outer * inner, out);
    free(w.out);
}
