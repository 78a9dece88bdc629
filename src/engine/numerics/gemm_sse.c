/* gemm_sse.c - matrix products by what every machine has. */
#include "engine/numerics/gemm.h"

#define BYTES 16
#define ROWS 6
#define ATTR
#define LEVEL(x) x##_128
/* acc plus the products of two pairs of i16, added. */
#if defined __x86_64__
#define MULTIPLY_PAIRS(acc, x, b)                                                                  \
    ((acc) + (NAME(Vec))_mm_madd_epi16(_mm_set1_epi32((int)(x)), (__m128i)(b)))
#else
typedef int32_t Sums __attribute__((vector_size(16)));
static inline Sums multiply_pairs(Sums acc, int32_t x, Sums b)
{
    Sums low = (b << 16) >> 16, high = b >> 16;
    return acc + low * (int16_t)x + high * (x >> 16);
}
#define MULTIPLY_PAIRS(acc, x, b) ((NAME(Vec))multiply_pairs((Sums)(acc), (int32_t)(x), (Sums)(b)))
#endif
#define F16_TO_F32(v, to)                                                                          \
    ((to){ f16_to_f32((v)[0]), f16_to_f32((v)[1]), f16_to_f32((v)[2]), f16_to_f32((v)[3]) })
#include "engine/numerics/gemm_kinds.h"
