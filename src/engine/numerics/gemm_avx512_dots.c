/* gemm_avx512_dots.c - matrix products of narrow numbers by AVX-512's sums of products of pairs and
 * fours. */
#include "engine/numerics/gemm.h"

#if defined __x86_64__
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
#define ROUNDS 1
#define ROUND_SUMS(x) _mm512_cvtneps_pbh((__m512)(x))
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

const GemmLevel gemm_level_dots = {
    .gemm = { [GEMM_BF16] = gemm_bf16_dots,
              [GEMM_BF16_ROUNDED] = gemm_rounded_bf16_dots,
              [GEMM_I8] = gemm_i8_dots,
              [GEMM_I16] = gemm_i16_dots },
    .gather = { [GEMM_BF16] = gather_bf16_dots,
                [GEMM_I8] = gather_i8_dots,
                [GEMM_I16] = gather_i16_dots },
};
#endif
