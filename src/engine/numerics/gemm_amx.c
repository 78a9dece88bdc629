/* gemm_amx.c - matrix products of bf16 and i8 by AMX, which multiplies registers of 16 rows. */
#include "engine/numerics/gemm.h"

#if defined __x86_64__
#define BYTES 64
#define ROWS 32
#define ATTR                                                                                       \
    __attribute__((target("amx-tile,amx-bf16,amx-int8,avx512f,avx512vl,avx512dq,avx512bw,"         \
                          "avx512bf16,avx2,fma,prefer-vector-width=512")))

/* ---- instructions ---- */

#ifndef TILE_LOAD /* tests/unit/tile_model.h has them in C */
#define TILE_ZERO(t) _tile_zero(t)
#define TILE_LOAD(t, at, step) _tile_loadd(t, at, step)
#define TILE_STORE(t, at, step) _tile_stored(t, at, step)
#define TILE_ADD_BF16(c, a, b) _tile_dpbf16ps(c, a, b)
#define TILE_ADD_I8(c, a, b) _tile_dpbssd(c, a, b)

/* What ldtilecfg reads: eight registers of 16 rows of 64 bytes. */
static const struct TileConfig {
    uint8_t palette, begin, zeros[14];
    uint16_t bytes[16];
    uint8_t rows[16];
} whole_tiles = { .palette = 1,
                  .bytes = { 64, 64, 64, 64, 64, 64, 64, 64 },
                  .rows = { 16, 16, 16, 16, 16, 16, 16, 16 } };

#define TILES_BEGIN() _tile_loadconfig(&whole_tiles)
#define TILES_END() _tile_release()
#endif

/* ---- kinds ---- */

#define S uint16_t
#define P uint32_t
#define Q S
#define T float
#define I int32_t
#define DEEP 2
#define MULTIPLE 16
#define IS_TILED 1
#define MULTIPLY(c, a, b) TILE_ADD_BF16(c, a, b)
#define ROUNDS 1
#define ROUND_SUMS(x) _mm512_cvtneps_pbh((__m512)(x))
#define KIND GEMM_BF16
#define NAME(x) x##_bf16_amx
#include "engine/numerics/gemm_body.h"

#define S int8_t
#define P uint32_t
#define Q S
#define I int32_t
#define DEEP 4
#define MULTIPLE 16
#define IS_TILED 1
#define IS_ROUNDED 0
#define MULTIPLY(c, a, b) TILE_ADD_I8(c, a, b)
#define KIND GEMM_I8
#define NAME(x) x##_i8_amx
#include "engine/numerics/gemm_body.h"

const GemmLevel gemm_level_amx = {
    .gemm = { [GEMM_BF16] = gemm_bf16_amx,
              [GEMM_BF16_ROUNDED] = gemm_rounded_bf16_amx,
              [GEMM_I8] = gemm_i8_amx },
    .gather = { [GEMM_BF16] = gather_bf16_amx, [GEMM_I8] = gather_i8_amx },
};
#endif
