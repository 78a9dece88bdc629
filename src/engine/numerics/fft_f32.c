/* fft_f32.c - Fourier transforms of lines of f32, for every instruction set. */
#define REAL float
#define REAL_BYTES 4
#define INTEGER int32_t
#define PLAN(x) f32_##x
#include "engine/numerics/fft_levels.h"
