/* fft_vectors.h - Fourier transforms of one element type in vectors of BYTES bytes.
 *
 * Included by fft_levels.h with REAL, REAL_BYTES, INTEGER, PLAN(x), BYTES and NAME(x) set; the last
 * two end here. */

typedef REAL NAME(Vector) __attribute__((vector_size(BYTES)));
typedef REAL NAME(Anywhere) __attribute__((vector_size(BYTES), aligned(__alignof__(REAL))));
typedef INTEGER NAME(Integers) __attribute__((vector_size(BYTES)));

#define DATA NAME(Vector)
#define VECTOR NAME(Anywhere)
#define INTEGERS NAME(Integers)
#define LANES (BYTES / REAL_BYTES)
#if BYTES == 64
/* Instructions for the first numbers of a vector alone. */
#if REAL_BYTES == 4
#define SOME(name) _mm512_##name##_ps
#define SOME_MASK __mmask16
#else
#define SOME(name) _mm512_##name##_pd
#define SOME_MASK __mmask8
#endif
#endif
#if BYTES == 64 && REAL_BYTES == 4
#define EACH(w) ((DATA)_mm512_set1_ps(w))
#define JOINED(x, y, z) ((DATA)_mm512_fmadd_ps(x, y, z))
#elif BYTES == 64
#define EACH(w) ((DATA)_mm512_set1_pd(w))
#define JOINED(x, y, z) ((DATA)_mm512_fmadd_pd(x, y, z))
#elif BYTES == 32 && REAL_BYTES == 4
#define EACH(w) ((DATA)_mm256_set1_ps(w))
#define JOINED(x, y, z) ((DATA)_mm256_fmadd_ps(x, y, z))
#elif BYTES == 32
#define EACH(w) ((DATA)_mm256_set1_pd(w))
#define JOINED(x, y, z) ((DATA)_mm256_fmadd_pd(x, y, z))
#else
#define EACH(w) (w)
#define JOINED(x, y, z) ((x) * (y) + (z))
#endif
#include "engine/numerics/fft_body.h"
#include "engine/numerics/fft_lines.h"
#if BYTES == 64
#undef SOME
#undef SOME_MASK
#endif
#undef EACH
#undef JOINED
#undef DATA
#undef VECTOR
#undef INTEGERS
#undef LANES
#undef NAME
#undef BYTES
