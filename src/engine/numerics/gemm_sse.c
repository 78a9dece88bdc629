/* gemm_sse.c - matrix products by what every machine has. */
#include "engine/numerics/gemm.h"

#define BYTES 16
#define ROWS 6
#define ATTR
#define LEVEL(x) x##_128
#define MULTIPLY_PAIRS(acc, x, b)                                                                  \
    ((acc) + (NAME(Vec))_mm_madd_epi16(_mm_set1_epi32((int)(x)), (__m128i)(b)))
#define F16_TO_F32(v, to)                                                                          \
    ((to){ f16_to_f32((v)[0]), f16_to_f32((v)[1]), f16_to_f32((v)[2]), f16_to_f32((v)[3]) })
#include "engine/numerics/gemm_kinds.h"
