/* gemm_avx512.c - matrix products by AVX-512. */
#include "engine/numerics/gemm.h"

#if defined __x86_64__
#define BYTES 64
#define ROWS 12
#define ATTR                                                                                       \
    __attribute__((target("avx512f,avx512vl,avx512dq,avx512bw,avx2,fma,prefer-vector-width=512")))
#define LEVEL(x) x##_512
#define MULTIPLY_PAIRS(acc, x, b)                                                                  \
    ((acc) + (NAME(Vec))_mm512_madd_epi16(_mm512_set1_epi32((int)(x)), (__m512i)(b)))
#define F16_TO_F32(v, to) ((to)_mm512_cvtph_ps((__m256i)(v)))
#include "engine/numerics/gemm_kinds.h"
#endif
