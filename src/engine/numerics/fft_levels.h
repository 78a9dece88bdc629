/* fft_levels.h - Fourier transforms of one element type, for every instruction set.
 *
 * Included by fft.c with REAL, REAL_BYTES, INTEGER (as wide) and PLAN(x) set, which end here. */
#include "engine/numerics/fft_plan.h"

#define DATA REAL
#define LANES 1
#define NAME(x) PLAN(x)
#include "engine/numerics/fft_body.h"
#include "engine/numerics/fft_lines.h"
#undef DATA
#undef LANES
#undef NAME

#define BYTES 16
#define NAME(x) PLAN(x##_128)
#include "engine/numerics/fft_vectors.h"

#if defined __x86_64__
#pragma GCC push_options
#pragma GCC target("avx2")
#define BYTES 32
#define NAME(x) PLAN(x##_256)
#include "engine/numerics/fft_vectors.h"
#pragma GCC pop_options

#pragma GCC push_options
#pragma GCC target("avx512f,avx512vl,avx512dq,avx512bw,prefer-vector-width=512")
#define BYTES 64
#define NAME(x) PLAN(x##_512)
#include "engine/numerics/fft_vectors.h"
#pragma GCC pop_options
#endif

#undef REAL
#undef REAL_BYTES
#undef INTEGER
#undef PLAN
