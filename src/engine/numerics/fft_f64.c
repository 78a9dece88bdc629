/* fft_f64.c - Fourier transforms of lines of f64, for every instruction set. */
#define REAL double
#define REAL_BYTES 8
#define INTEGER int64_t
#define PLAN(x) f64_##x
#include "engine/numerics/fft_levels.h"
