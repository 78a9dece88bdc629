/* plain_sum_types.h - sums of every element type that has them, in vectors of BYTES bytes.
 *
 * Included by plain_sum.c with BYTES and LEVEL(x) set. */
#define DATA float
#define NUMBER float
#define INTEGER uint32_t
#define NAME(x) LEVEL(x##_f32)
#include "engine/numerics/plain_sum_body.h"

#define DATA double
#define NUMBER double
#define INTEGER uint64_t
#define NAME(x) LEVEL(x##_f64)
#include "engine/numerics/plain_sum_body.h"

#define DATA uint16_t
#define NUMBER float
#define INTEGER uint32_t
#define NAME(x) LEVEL(x##_bf16)
#define WIDE(x) bf16_to_f32(x)
#define NARROW(x) f32_to_bf16(x)
#define LOAD(p) ((Vector)(__builtin_convertvector(*(const Loose *)(p), Bits) << 16))
#include "engine/numerics/plain_sum_body.h"

static SumFn *const LEVEL(sums)[PLAIN_TYPES] = {
    [PLAIN_F32] = LEVEL(sum_f32),
    [PLAIN_F64] = LEVEL(sum_f64),
    [PLAIN_BF16] = LEVEL(sum_bf16),
};
