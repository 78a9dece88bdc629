/* gemm.c - matrix products that compiled code calls.
 *
 * In: two matrices with any strides.  Out: their product.  The body is gemm_body.h, compiled for each
 * kind of operands and each instruction set; which one runs is decided once, by the machine alone, so
 * that results repeat. */
#include "engine/numerics/numerics.h"

#include "base/fail.h"
#include "engine/cpu_level.h"
#include "engine/memory/thread_memory.h"
#include "engine/numerics/matrices.h"
#include "engine/slices.h"

#include <immintrin.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Blocks: at most KC deep, and MC rows of a (which then fit the second cache).  Of b so much is
 * packed at a time as fits the third, DEEPEST rows at most, by BAND rows. */
enum { KC = 320, MC = 144, BAND = 32, DEEPEST = 8192, PACKED_BYTES = 8 << 20 };
/* A smaller b is packed by every device for itself. */
enum { SHARED_BYTES = 64 << 10 };

/* Is it worth the while of a second worker?  By the work alone. */
static bool is_cut(int64_t m, int64_t n, int64_t k)
{
    return (double)m * (double)n * (double)k >= 2e6;
}

static bool is_cut_vector(int64_t m, int64_t n)
{
    return (double)m * (double)n >= 256e3;
}

static void slices(const Frame *frame, int64_t n, SliceFn *f, void *user)
{
    if (frame)
        slices_run(frame, n, f, user);
    else
        for (int64_t i = 0; i < n; i++)
            f(user, i);
}

/* Memory to pack into.  NULL: there is none, and the frame has been told. */
static void *scratch(const Frame *frame, ThreadMemoryUse use, size_t bytes)
{
    void *at = thread_memory_get(use, bytes);
    if (!at)
        frame_fail(frame,
                   error_new(CODE_EXHAUSTED,
                             "no memory to multiply matrices: %zu bytes to pack them", bytes));
    return at;
}

/* ---- dimensions walked through in order, the last one the fastest ---- */

typedef struct Places {
    int64_t n;
    const int64_t (*dims)[2]; /* extent and step */
    int64_t at[MAX_RANK], offset;
} Places;

static Places places_at(int64_t n, const int64_t (*dims)[2], int64_t index)
{
    Places p = { .n = n, .dims = dims };
    for (int64_t d = n - 1; d >= 0; d--) {
        p.at[d] = index % dims[d][0];
        p.offset += p.at[d] * dims[d][1];
        index /= dims[d][0];
    }
    return p;
}

/* How many from here on lie side by side, `most` at most; 1 at least. */
static int64_t places_beside(const Places *p, int64_t most)
{
    int64_t d = p->n - 1, left = d >= 0 && p->dims[d][1] == 1 ? p->dims[d][0] - p->at[d] : 1;
    return left < most ? left : most;
}

/* `by` places on, which are within the last dimension. */
static void places_skip(Places *p, int64_t by)
{
    for (int64_t d = p->n - 1; d >= 0; d--, by = 1) {
        p->at[d] += by;
        p->offset += by * p->dims[d][1];
        if (p->at[d] < p->dims[d][0])
            return;
        p->offset -= p->at[d] * p->dims[d][1];
        p->at[d] = 0;
    }
}

/* ---- narrow floats ---- */

static float bf16_to_f32(uint16_t x)
{
    uint32_t bits = (uint32_t)x << 16;
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

static float f16_to_f32(uint16_t x)
{
    _Float16 f;
    memcpy(&f, &x, sizeof f);
    return (float)f;
}

/* ---- AVX-512 ---- */

#define BYTES 64
#define ROWS 12
#define ATTR                                                                                       \
    __attribute__((target("avx512f,avx512vl,avx512dq,avx512bw,avx2,fma,prefer-vector-width=512")))
#define LEVEL(x) x##_512
#define MULTIPLY_PAIRS(acc, x, b)                                                                  \
    ((acc) + (NAME(Vec))_mm512_madd_epi16(_mm512_set1_epi32((int)(x)), (__m512i)(b)))
#define F16_TO_F32(v, to) ((to)_mm512_cvtph_ps((__m256i)(v)))
#include "engine/numerics/gemm_kinds.h"

/* ---- AVX-512 with products of pairs and fours ---- */

#define BYTES 64
#define ROWS 12
#define ATTR                                                                                       \
    __attribute__((target("avx512f,avx512vl,avx512dq,avx512bw,avx512bf16,avx512vnni,avx2,fma,"     \
                          "prefer-vector-width=512")))

#define S uint16_t
#define P uint32_t
#define Q S
#define T float
#define I int32_t
#define DEEP 2
#define MULTIPLY(acc, x, b)                                                                        \
    ((NAME(Vec))_mm512_dpbf16_ps((__m512)(acc), (__m512bh)_mm512_set1_epi32((int)(x)),             \
                                 (__m512bh)(b)))
#define KIND GEMM_BF16
#define NAME(x) x##_bf16_dots
#include "engine/numerics/gemm_body.h"

/* The instruction multiplies unsigned by signed numbers, so a's are made 128 greater. */
#define S int8_t
#define P uint32_t
#define Q S
#define I int32_t
#define DEEP 4
#define IS_ROUNDED 0
#define OFFSET_A 0x80808080
#define MULTIPLY(acc, x, b)                                                                        \
    ((NAME(Vec))_mm512_dpbusd_epi32((__m512i)(acc), _mm512_set1_epi32((int)(x)), (__m512i)(b)))
#define KIND GEMM_I8
#define NAME(x) x##_i8_dots
#include "engine/numerics/gemm_body.h"

#define S int16_t
#define P uint32_t
#define Q S
#define I int32_t
#define DEEP 2
#define IS_ROUNDED 0
#define MULTIPLY(acc, x, b)                                                                        \
    ((NAME(Vec))_mm512_dpwssd_epi32((__m512i)(acc), _mm512_set1_epi32((int)(x)), (__m512i)(b)))
#define KIND GEMM_I16
#define NAME(x) x##_i16_dots
#include "engine/numerics/gemm_body.h"

#undef BYTES
#undef ROWS
#undef ATTR

/* ---- AVX2 ---- */

#define BYTES 32
#define ROWS 6
#define ATTR __attribute__((target("avx2,fma,f16c")))
#define LEVEL(x) x##_256
#define MULTIPLY_PAIRS(acc, x, b)                                                                  \
    ((acc) + (NAME(Vec))_mm256_madd_epi16(_mm256_set1_epi32((int)(x)), (__m256i)(b)))
#define F16_TO_F32(v, to) ((to)_mm256_cvtph_ps((__m128i)(v)))
#include "engine/numerics/gemm_kinds.h"

/* ---- what every machine has ---- */

#define BYTES 16
#define ROWS 6
#define ATTR
#define LEVEL(x) x##_128
#define MULTIPLY_PAIRS(acc, x, b)                                                                  \
    ((acc) + (NAME(Vec))_mm_madd_epi16(_mm_set1_epi32((int)(x)), (__m128i)(b)))
#define F16_TO_F32(v, to)                                                                          \
    ((to){ f16_to_f32((v)[0]), f16_to_f32((v)[1]), f16_to_f32((v)[2]), f16_to_f32((v)[3]) })
#include "engine/numerics/gemm_kinds.h"

/* ---- which one ---- */

typedef void GemmFn(const Frame *frame, int64_t m, int64_t n, int64_t k, const void *a,
                    int64_t a_row, int64_t a_col, const void *b, int64_t b_row, int64_t b_col,
                    void *c, int64_t c_row);
typedef void GatherFn(const Frame *frame, const Gather *gather, const void *seen, const void *other,
                      void *c);

#define LEVELS(name) name##_128, name##_256, name##_512
/* By kind; the last one where the processor has its instruction. */
static GemmFn *const gemms[GEMM_KINDS][4] = {
    [GEMM_F32] = { LEVELS(gemm_f32) },
    [GEMM_F64] = { LEVELS(gemm_f64) },
    [GEMM_C64] = { LEVELS(gemm_c64) },
    [GEMM_C128] = { LEVELS(gemm_c128) },
    [GEMM_BF16] = { LEVELS(gemm_bf16), gemm_bf16_dots },
    [GEMM_F16] = { LEVELS(gemm_f16) },
    [GEMM_I8] = { LEVELS(gemm_i8), gemm_i8_dots },
    [GEMM_I16] = { LEVELS(gemm_i16), gemm_i16_dots },
    [GEMM_I32] = { LEVELS(gemm_i32) },
    [GEMM_I64] = { LEVELS(gemm_i64) },
};

static GatherFn *const gathers[GEMM_KINDS][4] = {
    [GEMM_F32] = { LEVELS(gather_f32) },
    [GEMM_F64] = { LEVELS(gather_f64) },
    [GEMM_BF16] = { LEVELS(gather_bf16), gather_bf16_dots },
    [GEMM_F16] = { LEVELS(gather_f16) },
    [GEMM_I8] = { LEVELS(gather_i8), gather_i8_dots },
    [GEMM_I16] = { LEVELS(gather_i16), gather_i16_dots },
    [GEMM_I32] = { LEVELS(gather_i32) },
    [GEMM_I64] = { LEVELS(gather_i64) },
};

static int level_of(GemmKind kind)
{
    bool has_dots = kind == GEMM_BF16                     ? cpu_has(CPU_BF16_DOTS)
                    : kind == GEMM_I8 || kind == GEMM_I16 ? cpu_has(CPU_INTEGER_DOTS)
                                                          : false;
    return has_dots ? 3 : cpu_vector_bytes() == 64 ? 2 : cpu_vector_bytes() == 32 ? 1 : 0;
}

void gemm(const Frame *frame, int64_t kind, int64_t m, int64_t n, int64_t k, const void *a,
          int64_t a_row, int64_t a_col, const void *b, int64_t b_row, int64_t b_col, void *c,
          int64_t c_row)
{
    gemms[kind][level_of((GemmKind)kind)](frame, m, n, k, a, a_row, a_col, b, b_row, b_col, c,
                                          c_row);
}

void gather(const Frame *frame, int64_t kind, const Gather *gather, const void *seen,
            const void *other, void *c)
{
    gathers[kind][level_of((GemmKind)kind)](frame, gather, seen, other, c);
}

/* ---- which types ---- */

static const struct {
    Element operands, sum;
} kinds[GEMM_KINDS] = {
    [GEMM_F32] = { F32, F32 },    [GEMM_F64] = { F64, F64 },   [GEMM_C64] = { C64, C64 },
    [GEMM_C128] = { C128, C128 }, [GEMM_BF16] = { BF16, F32 }, [GEMM_F16] = { F16, F32 },
    [GEMM_I8] = { I8, I32 },      [GEMM_I16] = { I16, I32 },   [GEMM_I32] = { I32, I32 },
    [GEMM_I64] = { I64, I64 },
};

/* Products and sums of integers are the same with and without signs, if they are as wide. */
static Element as_signed(Element e)
{
    return e == U32 ? I32 : e == U64 ? I64 : e;
}

int gemm_kind(Element lhs, Element rhs, Element out)
{
    for (int kind = 0; kind < GEMM_KINDS; kind++)
        if (as_signed(lhs) == kinds[kind].operands && as_signed(rhs) == kinds[kind].operands &&
            as_signed(out) == kinds[kind].sum)
            return kind;
    return -1;
}

static GemmTypes float_types(Element lhs, Element rhs, Element out)
{
    Element sum = lhs == F64 || rhs == F64 || out == F64 ? F64 : F32;
    bool is_narrow = lhs == rhs && (lhs == BF16 || lhs == F16) && sum == F32;
    return (GemmTypes){ true, is_narrow ? lhs : sum, sum };
}

static GemmTypes integer_types(Element lhs, Element rhs, Element out)
{
    Element sum = element_info[out].bits < 32 ? I32 : out, operands = sum;
    bool is_32 = element_info[sum].bits == 32;
    if (is_32 && lhs == I8 && rhs == I8)
        operands = I8;
    else if (is_32 && (lhs == I8 || lhs == U8 || lhs == I16) &&
             (rhs == I8 || rhs == U8 || rhs == I16))
        operands = I16;
    return (GemmTypes){ element_info[out].bits >= 8, operands, sum };
}

GemmTypes gemm_types(Element lhs, Element rhs, Element out)
{
    switch (element_info[out].kind) {
    case FLOAT: return float_types(lhs, rhs, out);
    case SIGNED:
    case UNSIGNED: return integer_types(lhs, rhs, out);
    case COMPLEX: return (GemmTypes){ true, out, out };
    default: return (GemmTypes){ 0 };
    }
}

bool gemm_gathers(int kind)
{
    return kind >= 0 && gathers[kind][0];
}
