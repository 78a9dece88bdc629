/* gemm_avx2.c - matrix products by AVX2 and FMA. */
#include "engine/numerics/gemm.h"

#if defined __x86_64__
#define BYTES 32
#define ROWS 6
#define ATTR __attribute__((target("avx2,fma,f16c")))
#define LEVEL(x) x##_256
#define MULTIPLY_PAIRS(acc, x, b)                                                                  \
    ((acc) + (NAME(Vec))_mm256_madd_epi16(_mm256_set1_epi32((int)(x)), (__m256i)(b)))
#define F16_TO_F32(v, to) ((to)_mm256_cvtph_ps((__m128i)(v)))
#include "engine/numerics/gemm_kinds.h"
#endif
