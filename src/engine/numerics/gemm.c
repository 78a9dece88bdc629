/* gemm.c - matrix products that compiled code calls.
 *
 * In: two matrices with any strides.  Out: their product.  The body is gemm_body.h, compiled
 * for f32 and f64 and for each instruction set; which one runs is decided once, by the machine
 * alone, so that results repeat. */
#include "engine/numerics/numerics.h"

#include "base/fail.h"
#include "engine/cpu_level.h"
#include "engine/memory/thread_memory.h"
#include "engine/slices.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Blocks: at most KC deep, and MC rows of a (which then fit the second cache).  Of b so much is
 * packed at a time as fits the third, DEEPEST rows at most, by BAND rows. */
enum { KC = 320, MC = 144, BAND = 32, DEEPEST = 8192, PACKED_BYTES = 8 << 20 };
/* A smaller b is packed by every device for itself. */
enum { SHARED_BYTES = 64 << 10 };

/* Is it worth the while of a second worker?  By the work alone. */
static bool is_cut(int64_t m, int64_t n, int64_t k)
{
    return (double)m * (double)n * (double)k >= 2e6;
}

static bool is_cut_vector(int64_t m, int64_t n)
{
    return (double)m * (double)n >= 256e3;
}

static void slices(const Frame *frame, int64_t n, SliceFn *f, void *user)
{
    if (frame)
        slices_run(frame, n, f, user);
    else
        for (int64_t i = 0; i < n; i++)
            f(user, i);
}

/* Memory to pack into.  NULL: there is none, and the frame has been told. */
static void *scratch(const Frame *frame, ThreadMemoryUse use, size_t bytes)
{
    void *at = thread_memory_get(use, bytes);
    if (!at)
        frame_fail(frame,
                   error_new(CODE_EXHAUSTED,
                             "no memory to multiply matrices: %zu bytes to pack them", bytes));
    return at;
}

/* ---- dimensions walked through in order, the last one the fastest ---- */

typedef struct Places {
    int64_t n;
    const int64_t (*dims)[2]; /* extent and step */
    int64_t at[MAX_RANK], offset;
} Places;

static Places places_at(int64_t n, const int64_t (*dims)[2], int64_t index)
{
    Places p = { .n = n, .dims = dims };
    for (int64_t d = n - 1; d >= 0; d--) {
        p.at[d] = index % dims[d][0];
        p.offset += p.at[d] * dims[d][1];
        index /= dims[d][0];
    }
    return p;
}

/* How many from here on lie side by side, `most` at most; 1 at least. */
static int64_t places_beside(const Places *p, int64_t most)
{
    int64_t d = p->n - 1, left = d >= 0 && p->dims[d][1] == 1 ? p->dims[d][0] - p->at[d] : 1;
    return left < most ? left : most;
}

/* `by` places on, which are within the last dimension. */
static void places_skip(Places *p, int64_t by)
{
    for (int64_t d = p->n - 1; d >= 0; d--, by = 1) {
        p->at[d] += by;
        p->offset += by * p->dims[d][1];
        if (p->at[d] < p->dims[d][0])
            return;
        p->offset -= p->at[d] * p->dims[d][1];
        p->at[d] = 0;
    }
}

/* ---- the bodies ---- */

#define T float
#define I int32_t
#define BYTES 64
#define ROWS 12
#define ATTR                                                                                       \
    __attribute__((target("avx512f,avx512vl,avx512dq,avx512bw,avx2,fma,prefer-vector-width=512")))
#define NAME(x) x##_f32_512
#include "engine/numerics/gemm_body.h"

#define T double
#define I int64_t
#define BYTES 64
#define ROWS 12
#define ATTR                                                                                       \
    __attribute__((target("avx512f,avx512vl,avx512dq,avx512bw,avx2,fma,prefer-vector-width=512")))
#define NAME(x) x##_f64_512
#include "engine/numerics/gemm_body.h"

#define T float
#define I int32_t
#define BYTES 32
#define ROWS 6
#define ATTR __attribute__((target("avx2,fma")))
#define NAME(x) x##_f32_256
#include "engine/numerics/gemm_body.h"

#define T double
#define I int64_t
#define BYTES 32
#define ROWS 6
#define ATTR __attribute__((target("avx2,fma")))
#define NAME(x) x##_f64_256
#include "engine/numerics/gemm_body.h"

#define T float
#define I int32_t
#define BYTES 16
#define ROWS 6
#define ATTR
#define NAME(x) x##_f32_128
#include "engine/numerics/gemm_body.h"

#define T double
#define I int64_t
#define BYTES 16
#define ROWS 6
#define ATTR
#define NAME(x) x##_f64_128
#include "engine/numerics/gemm_body.h"

/* ---- which one ---- */

/* The form of a function for this machine's instruction set. */
#define BY_LEVEL(f)                                                                                \
    (cpu_vector_bytes() == 64 ? f##_512 : cpu_vector_bytes() == 32 ? f##_256 : f##_128)

void gemm_f32(const Frame *frame, int64_t m, int64_t n, int64_t k, const float *a, int64_t a_row,
              int64_t a_col, const float *b, int64_t b_row, int64_t b_col, float *c, int64_t c_row)
{
    BY_LEVEL(gemm_f32)(frame, m, n, k, a, a_row, a_col, b, b_row, b_col, c, c_row);
}

void gemm_f64(const Frame *frame, int64_t m, int64_t n, int64_t k, const double *a, int64_t a_row,
              int64_t a_col, const double *b, int64_t b_row, int64_t b_col, double *c,
              int64_t c_row)
{
    BY_LEVEL(gemm_f64)(frame, m, n, k, a, a_row, a_col, b, b_row, b_col, c, c_row);
}

void gather_f32(const Frame *frame, const Gather *gather, const float *seen, const float *other,
                float *c)
{
    BY_LEVEL(gather_f32)(frame, gather, seen, other, c);
}

void gather_f64(const Frame *frame, const Gather *gather, const double *seen, const double *other,
                double *c)
{
    BY_LEVEL(gather_f64)(frame, gather, seen, other, c);
}
