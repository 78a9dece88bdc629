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
#include "engine/numerics/fft_body.h"
#include "engine/numerics/fft_lines.h"
#undef DATA
#undef VECTOR
#undef INTEGERS
#undef LANES
#undef NAME
#undef BYTES
