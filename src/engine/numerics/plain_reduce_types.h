/* plain_reduce_types.h - sums and extremes of every element type that has them, in vectors of BYTES bytes.
 *
 * Included by plain_reduce.c with BYTES and LEVEL(x) set, and on machines that it knows better than the compiler
 * does with F32(x) and F64(x), which make the names of its instructions, HAS_MASKS and HALVES(p), eight or more
 * f16 from memory. */
#ifdef HAS_MASKS
#define EITHER_NAN_F32(seen, x, y)                                                                 \
    ((Bits)_mm512_mask_set1_epi32((__m512i)(seen), _mm512_cmp_ps_mask(x, y, _CMP_UNORD_Q), -1))
#define EITHER_NAN_F64(seen, x, y)                                                                 \
    ((Bits)_mm512_mask_set1_epi64((__m512i)(seen), _mm512_cmp_pd_mask(x, y, _CMP_UNORD_Q), -1))
#else
#define EITHER_NAN_F32(seen, x, y) ((seen) | (Bits)((x) != (x)) | (Bits)((y) != (y)))
#define EITHER_NAN_F64 EITHER_NAN_F32
#endif
#ifdef F32
#define MAXIMUM_F32(x, y) F32(max)(x, y)
#define MINIMUM_F32(x, y) F32(min)(x, y)
#define MAXIMUM_F64(x, y) F64(max)(x, y)
#define MINIMUM_F64(x, y) F64(min)(x, y)
#else
#define CHOSEN(mask, x, y) ((Vector)(((Bits)(x) & (Bits)(mask)) | ((Bits)(y) & ~(Bits)(mask))))
#define MAXIMUM_F32(x, y) CHOSEN((x) > (y), x, y)
#define MINIMUM_F32(x, y) CHOSEN((x) < (y), x, y)
#define MAXIMUM_F64 MAXIMUM_F32
#define MINIMUM_F64 MINIMUM_F32
#endif

#define DATA float
#define NUMBER float
#define INTEGER uint32_t
#define MAXIMUM MAXIMUM_F32
#define MINIMUM MINIMUM_F32
#define EITHER_NAN EITHER_NAN_F32
#define NAME(x) LEVEL(x##_f32)
#include "engine/numerics/plain_reduce_body.h"

#define DATA double
#define NUMBER double
#define INTEGER uint64_t
#define MAXIMUM MAXIMUM_F64
#define MINIMUM MINIMUM_F64
#define EITHER_NAN EITHER_NAN_F64
#define NAME(x) LEVEL(x##_f64)
#include "engine/numerics/plain_reduce_body.h"

#define DATA uint16_t
#define NUMBER float
#define INTEGER uint32_t
#define MAXIMUM MAXIMUM_F32
#define MINIMUM MINIMUM_F32
#define EITHER_NAN EITHER_NAN_F32
#define NAME(x) LEVEL(x##_bf16)
#define WIDE(x) bf16_to_f32(x)
#define NARROW(x) f32_to_bf16(x)
#define LOAD(p) ((Vector)(__builtin_convertvector(*(const Loose *)(p), Bits) << 16))
#include "engine/numerics/plain_reduce_body.h"

#ifdef HALVES
#define DATA uint16_t
#define NUMBER float
#define INTEGER uint32_t
#define MAXIMUM MAXIMUM_F32
#define MINIMUM MINIMUM_F32
#define EITHER_NAN EITHER_NAN_F32
#define NAME(x) LEVEL(x##_f16)
#define WIDE(x) _cvtsh_ss(x)
#define NARROW(x) _cvtss_sh(x, _MM_FROUND_TO_NEAREST_INT)
#define LOAD(p) HALVES(p)
#include "engine/numerics/plain_reduce_body.h"
#endif

static const Reducer LEVEL(reducers)[PLAIN_OPS][PLAIN_TYPES] = {
#define ALL(type, PLAIN)                                                                           \
    [PLAIN_SUM][PLAIN] = { LEVEL(sum_##type), LEVEL(sum_join_##type) },                            \
    [PLAIN_MAX][PLAIN] = { LEVEL(max_##type), LEVEL(max_join_##type) },                            \
    [PLAIN_MIN][PLAIN] = { LEVEL(min_##type), LEVEL(min_join_##type) }
    ALL(f32, PLAIN_F32),
    ALL(f64, PLAIN_F64),
    ALL(bf16, PLAIN_BF16),
#ifdef HALVES
    ALL(f16, PLAIN_F16),
#endif
#undef ALL
};

#undef EITHER_NAN_F32
#undef EITHER_NAN_F64
#undef MAXIMUM_F32
#undef MINIMUM_F32
#undef MAXIMUM_F64
#undef MINIMUM_F64
#undef CHOSEN
