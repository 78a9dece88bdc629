/* gemm_kinds.h - the matrix products of all kinds, for one instruction set.
 *
 * Included by the file of each, once, with BYTES of a vector, ROWS of a tile, ATTR the target attribute,
 * LEVEL(x) for names, MULTIPLY_PAIRS(acc, x, b) of units of two i16, F16_TO_F32(v) of vectors. */
/* clang-format off */
/* ---- numbers as they are ---- */

#define S float
#define I int32_t
#define IS_PLAIN 1
#define KIND GEMM_F32
#define NAME(x) LEVEL(x##_f32)
#include "engine/numerics/gemm_body.h"

#define S double
#define I int64_t
#define IS_PLAIN 1
#define KIND GEMM_F64
#define NAME(x) LEVEL(x##_f64)
#include "engine/numerics/gemm_body.h"

#define S uint32_t
#define I int32_t
#define IS_PLAIN 1
#define IS_ROUNDED 0
#define KIND GEMM_I32
#define NAME(x) LEVEL(x##_i32)
#include "engine/numerics/gemm_body.h"

#define S uint64_t
#define I int64_t
#define IS_PLAIN 1
#define IS_ROUNDED 0
#define KIND GEMM_I64
#define NAME(x) LEVEL(x##_i64)
#include "engine/numerics/gemm_body.h"

/* ---- complex numbers ---- */

#define S float
#define I int32_t
#define SPLIT 2
#define KIND GEMM_C64
#define NAME(x) LEVEL(x##_c64)
#include "engine/numerics/gemm_body.h"

#define S double
#define I int64_t
#define SPLIT 2
#define KIND GEMM_C128
#define NAME(x) LEVEL(x##_c128)
#include "engine/numerics/gemm_body.h"

/* ---- narrow floats, which become f32 as they are packed ---- */

#define S uint16_t
#define P float
#define I int32_t
#define TO_Q(x) bf16_to_f32(x)
#define TO_QS(v) ((NAME(Qs))(__builtin_convertvector(v, NAME(Mask)) << 16))
#define ROUNDS 1
#define KIND GEMM_BF16
#define NAME(x) LEVEL(x##_bf16)
#include "engine/numerics/gemm_body.h"

#define S uint16_t
#define P float
#define I int32_t
#define TO_Q(x) f16_to_f32(x)
#define TO_QS(v) F16_TO_F32(v, NAME(Qs))
#define KIND GEMM_F16
#define NAME(x) LEVEL(x##_f16)
#include "engine/numerics/gemm_body.h"

/* ---- narrow integers, in pairs of i16 ---- */

#define S int8_t
#define Q int16_t
#define P uint32_t
#define I int32_t
#define DEEP 2
#define IS_ROUNDED 0
#define MULTIPLY MULTIPLY_PAIRS
#define TO_QS(v) __builtin_convertvector(v, NAME(Qs))
#define KIND GEMM_I8
#define NAME(x) LEVEL(x##_i8)
#include "engine/numerics/gemm_body.h"

#define S int16_t
#define P uint32_t
#define Q S
#define I int32_t
#define DEEP 2
#define IS_ROUNDED 0
#define MULTIPLY MULTIPLY_PAIRS
#define KIND GEMM_I16
#define NAME(x) LEVEL(x##_i16)
#include "engine/numerics/gemm_body.h"

/* Alone, so that a program of f32 products is linked with no others. */
GemmFn *const LEVEL(gemm_only_f32) = LEVEL(gemm_f32);

/* ---- all of them ---- */

const GemmLevel LEVEL(gemm_level) = {
    .gemm = { [GEMM_F32] = LEVEL(gemm_f32),
              [GEMM_F64] = LEVEL(gemm_f64),
              [GEMM_C64] = LEVEL(gemm_c64),
              [GEMM_C128] = LEVEL(gemm_c128),
              [GEMM_BF16] = LEVEL(gemm_bf16),
              [GEMM_BF16_ROUNDED] = LEVEL(gemm_rounded_bf16),
              [GEMM_F16] = LEVEL(gemm_f16),
              [GEMM_I8] = LEVEL(gemm_i8),
              [GEMM_I16] = LEVEL(gemm_i16),
              [GEMM_I32] = LEVEL(gemm_i32),
              [GEMM_I64] = LEVEL(gemm_i64) },
    .gather = { [GEMM_F32] = LEVEL(gather_f32),
                [GEMM_F64] = LEVEL(gather_f64),
                [GEMM_BF16] = LEVEL(gather_bf16),
                [GEMM_F16] = LEVEL(gather_f16),
                [GEMM_I8] = LEVEL(gather_i8),
                [GEMM_I16] = LEVEL(gather_i16),
                [GEMM_I32] = LEVEL(gather_i32),
                [GEMM_I64] = LEVEL(gather_i64) },
    .solve = { [GEMM_F32] = LEVEL(solve_f32),
              [GEMM_F64] = LEVEL(solve_f64),
              [GEMM_C64] = LEVEL(solve_c64),
              [GEMM_C128] = LEVEL(solve_c128) },
    .subtract = { [GEMM_F32] = LEVEL(subtract_f32),
                 [GEMM_F64] = LEVEL(subtract_f64),
                 [GEMM_C64] = LEVEL(subtract_c64),
                 [GEMM_C128] = LEVEL(subtract_c128) },
    .eliminate = { [GEMM_F32] = LEVEL(eliminate_f32),
                  [GEMM_F64] = LEVEL(eliminate_f64),
                  [GEMM_C64] = LEVEL(eliminate_c64),
                  [GEMM_C128] = LEVEL(eliminate_c128) },
    .root = { [GEMM_F32] = LEVEL(root_f32), [GEMM_F64] = LEVEL(root_f64) },
    .reflect = { [GEMM_F32] = LEVEL(reflect_f32),
                [GEMM_F64] = LEVEL(reflect_f64),
                [GEMM_C64] = LEVEL(reflect_c64),
                [GEMM_C128] = LEVEL(reflect_c128) },
    .spread = { [GEMM_F32] = LEVEL(spread_f32),
               [GEMM_F64] = LEVEL(spread_f64),
               [GEMM_C64] = LEVEL(spread_c64),
               [GEMM_C128] = LEVEL(spread_c128) },
    .bytes = BYTES,
};
