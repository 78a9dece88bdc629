/* fft_levels.h - Fourier transforms of one element type, for every instruction set.
 *
 * Included by fft_f32.c and fft_f64.c with REAL, REAL_BYTES, INTEGER (as wide) and PLAN(x) set. */
#include "engine/numerics/fft.h"

#include <math.h>
#include <string.h>
#if defined __x86_64__
#include <immintrin.h>
#endif

#include "engine/numerics/fft_plan.h"

#define DATA REAL
#define LANES 1
#define NAME(x) PLAN(x)
#define EACH(w) (w)
#define JOINED(x, y, z) ((x) * (y) + (z))
#include "engine/numerics/fft_body.h"
#include "engine/numerics/fft_lines.h"
#undef EACH
#undef JOINED
#undef DATA
#undef LANES
#undef NAME

#define BYTES 16
#define NAME(x) PLAN(x##_128)
#include "engine/numerics/fft_vectors.h"

#if defined __x86_64__
#pragma GCC push_options
#pragma GCC target("avx2,fma")
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
#define ON_X86(form) form
#else
#define ON_X86(form) NULL
#endif

static const void *PLAN(any_plan)(Arena *arena, int64_t n, bool is_real)
{
    return PLAN(plan_new)(arena, n, is_real);
}

const FftType PLAN(fft) = {
    .number = sizeof(PLAN(Cx)),
    .alone = &PLAN(form),
    .by_16 = &PLAN(form_128),
    .by_32 = ON_X86(&PLAN(form_256)),
    .by_64 = ON_X86(&PLAN(form_512)),
    .plan = PLAN(any_plan),
    .twiddles = PLAN(twiddles_new),
    .begins = PLAN(begins_new),
    .halves = PLAN(halves_new),
    .chirps = PLAN(chirps_new),
};
