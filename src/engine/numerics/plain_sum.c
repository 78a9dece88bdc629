/* plain_sum.c - sums along dimensions that lie together, ready-made.
 *
 *     in[outer, n, inner]  ->  out[outer, inner]        inner = 1: rows; else columns
 *
 * A program that only adds up an array takes LLVM longer to compile than most others take to run, and no
 * two of them differ but in their extents. */
#include "engine/numerics/numerics.h"

#include "engine/cpu_level.h"
#include "engine/numerics/gemm.h"
#include "engine/slices.h"

typedef enum PlainType { PLAIN_F32, PLAIN_F64, PLAIN_BF16, PLAIN_TYPES } PlainType;
typedef void SumFn(const void *in, int64_t n, int64_t step, int64_t columns, void *out);

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
#include "engine/numerics/plain_sum_types.h"
#undef BYTES
#undef LEVEL

#if defined __x86_64__
#pragma GCC push_options
#pragma GCC target("avx2")
#define BYTES 32
#define LEVEL(x) x##_256
#include "engine/numerics/plain_sum_types.h"
#undef BYTES
#undef LEVEL
#pragma GCC pop_options

#pragma GCC push_options
#pragma GCC target("avx512f,avx512vl,avx512dq,avx512bw,prefer-vector-width=512")
#define BYTES 64
#define LEVEL(x) x##_512
#include "engine/numerics/plain_sum_types.h"
#undef BYTES
#undef LEVEL
#pragma GCC pop_options
#endif

static SumFn *sum_for(PlainType type)
{
#if defined __x86_64__
    if (cpu_vector_bytes() == 64)
        return sums_512[type];
    if (cpu_vector_bytes() == 32)
        return sums_256[type];
#endif
    return sums_128[type];
}

int plain_sum_kind(Element e)
{
    return e == F32 ? PLAIN_F32 : e == F64 ? PLAIN_F64 : e == BF16 ? PLAIN_BF16 : -1;
}

/* A unit is a row, or a strip of columns beside one another; the last strip of a row of results has what
 * is left. */
typedef struct Work {
    SumFn *sum;
    int64_t n, inner, nstrips, strip; /* strip: columns of one */
    int64_t units, each;              /* each: of a slice */
    size_t bytes;
    const char *in;
    char *out;
} Work;

static void sum_unit(const Work *w, int64_t unit)
{
    int64_t at = unit / w->nstrips, first = unit % w->nstrips * w->strip;
    int64_t columns = unit % w->nstrips + 1 < w->nstrips ? w->strip : w->inner - first;
    w->sum(w->in + (size_t)(at * w->n * w->inner + first) * w->bytes, w->n, w->inner, columns,
           w->out + (size_t)(at * w->inner + first) * w->bytes);
}

static void sum_slice(void *user, int64_t slice)
{
    const Work *w = user;
    int64_t end = (slice + 1) * w->each < w->units ? (slice + 1) * w->each : w->units;
    for (int64_t unit = slice * w->each; unit < end; unit++)
        sum_unit(w, unit);
}

void plain_sum(const Frame *f, int64_t kind, int64_t outer, int64_t n, int64_t inner,
               const void *in, void *out)
{
    enum { BYTES_OF_SLICE = 1 << 18, MOST_SLICES = 64 };
    static const size_t bytes[PLAIN_TYPES] = { 4, 8, 2 };
    PlainType type = (PlainType)kind;
    size_t lane = type == PLAIN_BF16 ? 4 : bytes[type];
    Work w = { .sum = sum_for(type),
               .n = n,
               .inner = inner,
               .nstrips = 1,
               .strip = PLAIN_STRIP * cpu_vector_bytes() / (int64_t)lane,
               .bytes = bytes[type],
               .in = in,
               .out = out };
    if (inner >= w.strip)
        w.nstrips = inner / w.strip;
    w.units = outer * w.nstrips;
    int64_t slices = (int64_t)((size_t)(outer * n * inner) * w.bytes / BYTES_OF_SLICE);
    slices = slices < MOST_SLICES ? slices : MOST_SLICES;
    slices = slices < w.units ? slices : w.units;
    w.each = slices > 1 ? (w.units + slices - 1) / slices : w.units;
    slices_run(f, (w.units + w.each - 1) / w.each, sum_slice, &w);
}
