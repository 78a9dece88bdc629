/* tile_model.h - what AMX's instructions do, in C, for machines that have none.
 *
 * For gemm_tiles_test.c, which compiles gemm_amx.c with these in place of the instructions.  A model of what the
 * engine uses, not of all: eight registers of 16 rows of 64 bytes, each thread's own.  A register that is
 * used before TILES_BEGIN or after TILES_END stops the test. */
#ifndef TUTTI_TESTS_UNIT_TILE_MODEL_H
#define TUTTI_TESTS_UNIT_TILE_MODEL_H
#include "base/fail.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { TILE_ROWS = 16, TILE_BYTES = 64, TILE_UNITS = 16 };

typedef union Register {
    char bytes[TILE_ROWS][TILE_BYTES];
    float sums[TILE_ROWS][TILE_UNITS];
    uint32_t integers[TILE_ROWS][TILE_UNITS];
    uint16_t pairs[TILE_ROWS][TILE_UNITS][2];
    int8_t fours[TILE_ROWS][TILE_UNITS][4];
} Register;

static _Thread_local struct {
    bool are_ready;
    Register at[8];
} model;

static inline Register *register_of(int t)
{
    if (!model.are_ready)
        fail("a tile is used without a configuration");
    return &model.at[t];
}

/* Both also clear all registers. */
static inline void tiles_set(bool are_ready)
{
    memset(&model, 0, sizeof model);
    model.are_ready = are_ready;
}

static inline void tile_load(int t, const void *from, int64_t step)
{
    for (int r = 0; r < TILE_ROWS; r++)
        memcpy(register_of(t)->bytes[r], (const char *)from + r * step, TILE_BYTES);
}

static inline void tile_store(int t, void *to, int64_t step)
{
    for (int r = 0; r < TILE_ROWS; r++)
        memcpy((char *)to + r * step, register_of(t)->bytes[r], TILE_BYTES);
}

static inline float bf16_value(uint16_t x)
{
    uint32_t bits = (uint32_t)x << 16;
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

/* The first and the second products of the pairs are summed apart, and then added to c. */
static inline void tile_add_bf16(int c, int a, int b)
{
    for (int i = 0; i < TILE_ROWS; i++)
        for (int j = 0; j < TILE_UNITS; j++) {
            float sums[2] = { 0 };
            for (int u = 0; u < TILE_UNITS; u++)
                for (int d = 0; d < 2; d++)
                    sums[d] += bf16_value(register_of(a)->pairs[i][u][d]) *
                               bf16_value(register_of(b)->pairs[u][j][d]);
            register_of(c)->sums[i][j] += sums[0] + sums[1];
        }
}

static inline void tile_add_i8(int c, int a, int b)
{
    for (int i = 0; i < TILE_ROWS; i++)
        for (int j = 0; j < TILE_UNITS; j++)
            for (int u = 0; u < TILE_UNITS; u++)
                for (int d = 0; d < 4; d++)
                    register_of(c)->integers[i][j] +=
                        (uint32_t)(register_of(a)->fours[i][u][d] * register_of(b)->fours[u][j][d]);
}

#define TILE_ZERO(t) memset(register_of(t), 0, sizeof(Register))
#define TILE_LOAD(t, at, step) tile_load(t, at, step)
#define TILE_STORE(t, at, step) tile_store(t, at, step)
#define TILE_ADD_BF16(c, a, b) tile_add_bf16(c, a, b)
#define TILE_ADD_I8(c, a, b) tile_add_i8(c, a, b)
#define TILES_BEGIN() tiles_set(true)
#define TILES_END() tiles_set(false)
#endif
