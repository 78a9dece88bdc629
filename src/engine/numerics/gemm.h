/* gemm.h - what the matrix products of all instruction sets share.  Inside of numerics.
 *
 * Each instruction set has a file of its own (gemm_sse.c, gemm_avx2.c, gemm_avx512.c,
 * gemm_avx512_dots.c, gemm_amx.c), which includes gemm_body.h once for each kind of operands and gives a
 * table of what came of it; gemm.c picks the table. */
#ifndef TUTTI_ENGINE_NUMERICS_GEMM_H
#define TUTTI_ENGINE_NUMERICS_GEMM_H
#include "base/fail.h"
#include "engine/memory/thread_memory.h"
#include "engine/numerics/matrices.h"
#include "engine/slices.h"

#if defined __x86_64__
#include <immintrin.h>
#endif
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* As gemm and gather of numerics.h, for one kind. */
typedef void GemmFn(const Frame *frame, int64_t m, int64_t n, int64_t k, const void *a,
                    int64_t a_row, int64_t a_col, const void *b, int64_t b_row, int64_t b_col,
                    void *c, int64_t c_row);
typedef void GatherFn(const Frame *frame, const Gather *gather, const void *seen, const void *other,
                      void *c);

/* As triangular_solve of matrices.h. */
typedef void SolveFn(const TriangularSystem *s, int64_t matrices);

/* c less a b, in one slice of other work; elements of a row of a lie side by side. */
typedef void SubtractFn(const Frame *frame, int64_t m, int64_t n, int64_t k, const void *a,
                        int64_t a_row, const void *b, int64_t b_row, int64_t b_col, void *c,
                        int64_t c_row);

/* The LU factors of `columns` columns, at most as many as a vector has lanes, in place: x has `rows` rows
 * of a vector each.  Row k changed places with pivots[k], from 0.  The first pivot that is zero, from 1;
 * 0: none is. */
typedef int EliminateFn(int64_t rows, int columns, void *x, int32_t *pivots);

/* The Cholesky factor of n rows, at most as many as a vector has lanes, in place; what lies above the diagonal is
 * not looked at.  False: there is none. */
typedef bool RootFn(int n, void *a, int64_t row);

/* The QR factors of `columns` columns, as many at most, in place and as geqrf has them: x as above, R above, below
 * the reflectors; a tau for each column that has a diagonal. */
typedef void ReflectFn(int64_t rows, int columns, void *x, void *taus);

/* q, of `rows` rows of a vector each, becomes the product of the first `columns` reflectors, at most as many as a
 * vector has lanes, with q; below their diagonals they stand in v. */
typedef void SpreadFn(int64_t rows, int columns, const void *v, int64_t v_row, const void *taus,
                      void *q);

/* The products of one instruction set, and what is made of their tiles; NULL: it has none of that
 * kind. */
typedef struct GemmLevel {
    GemmFn *gemm[GEMM_KINDS];
    GatherFn *gather[GEMM_KINDS];
    SolveFn *solve[GEMM_KINDS];
    SubtractFn *subtract[GEMM_KINDS];
    EliminateFn *eliminate[GEMM_KINDS];
    RootFn *root[GEMM_KINDS];
    ReflectFn *reflect[GEMM_KINDS];
    SpreadFn *spread[GEMM_KINDS];
    int bytes; /* of a vector */
} GemmLevel;

const GemmLevel *gemm_level_of(GemmKind kind);
extern GemmFn *const gemm_only_f32_128, *const gemm_only_f32_256, *const gemm_only_f32_512;
extern const GemmLevel gemm_level_128, gemm_level_256, gemm_level_512, gemm_level_dots,
    gemm_level_amx;

/* Blocks: at most KC deep, and MC rows of a (which then fit the second cache).  Of b so much is
 * packed at a time as fits the third, DEEPEST rows at most, by BAND rows. */
enum { KC = 512, MC = 144, BAND = 32, DEEPEST = 8192, PACKED_BYTES = 8 << 20 };
/* Panels that several threads pack and read: so many are still in their second caches afterwards. */
enum { STREAMED_BYTES = 2 << 20 };
/* A result of STREAMED_RESULT bytes is not in the caches when it is read.  One of a quarter of that may be, but
 * costs nothing to write past them where STREAMED_DEPTH units are added up for each element meanwhile. */
enum { STREAMED_RESULT = 32 << 20, STREAMED_DEPTH = 32 };
/* A smaller b is packed by every device for itself. */
enum { SHARED_BYTES = 64 << 10 };

/* What a thread has packed of the product that it takes slices of, for its next slices: blocks of rows of a
 * and of columns of b, a bit each; of wide tiles (gemm_wide.h) panels, and which was the last.  Between two
 * slices of a product it does nothing else. */
typedef struct Kept {
    uint64_t number; /* the product's */
    uint64_t rows, cols;
} Kept;
enum { KEPT = 64, KEPT_BYTES = 4 << 20 };

Kept *gemm_kept(void);
/* A number that no product had before, from 1 on. */
uint64_t gemm_number(void);

/* In how many places of the first cache a line may lie. */
int gemm_cache_ways(void);

/* Is it worth the while of a second worker?  By the work alone; an element of c is written in the time of some
 * products. */
static inline bool is_cut(int64_t m, int64_t n, int64_t k)
{
    enum { WRITTEN = 4 };
    return (double)m * (double)n * (double)(k + WRITTEN) >= 2e6;
}

static inline bool is_cut_vector(int64_t m, int64_t n)
{
    return (double)m * (double)n >= 256e3;
}

static inline int64_t least(int64_t x, int64_t y)
{
    return x < y ? x : y;
}

static inline void slices(const Frame *frame, int64_t n, SliceFn *f, void *user)
{
    if (frame)
        slices_run(frame, n, f, user);
    else
        for (int64_t i = 0; i < n; i++)
            f(user, i);
}

/* Memory to pack into.  NULL: there is none, and the frame has been told. */
static inline void *scratch(const Frame *frame, ThreadMemoryUse use, size_t bytes)
{
    void *at = thread_memory_get(use, bytes);
    if (!at)
        frame_fail(frame,
                   error_new(CODE_EXHAUSTED,
                             "no memory to multiply matrices: %zu bytes to pack them", bytes));
    return at;
}

/* Copies whole vectors to an address that is a multiple of theirs, past the caches; others see it once
 * stream_end has been called. */
static inline void stream(void *to, const void *from, size_t bytes)
{
#if defined __x86_64__
    for (size_t at = 0; at < bytes; at += sizeof(__m128i))
        _mm_stream_si128((__m128i *)((char *)to + at),
                         _mm_load_si128((const __m128i *)((const char *)from + at)));
#else
    memcpy(to, from, bytes);
#endif
}

static inline void stream_end(void)
{
#if defined __x86_64__
    _mm_sfence();
#endif
}

/* ---- dimensions walked through in order, the last one the fastest ---- */

typedef struct Places {
    int64_t n;
    const int64_t (*dims)[2]; /* extent and step */
    int64_t at[MAX_RANK], offset;
} Places;

static inline Places places_at(int64_t n, const int64_t (*dims)[2], int64_t index)
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
static inline int64_t places_beside(const Places *p, int64_t most)
{
    int64_t d = p->n - 1, left = d >= 0 && p->dims[d][1] == 1 ? p->dims[d][0] - p->at[d] : 1;
    return left < most ? left : most;
}

/* `by` places on, which are within the last dimension. */
static inline void places_skip(Places *p, int64_t by)
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

/* ---- narrow floats ---- */

static inline float bf16_to_f32(uint16_t x)
{
    uint32_t bits = (uint32_t)x << 16;
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

static inline float f16_to_f32(uint16_t x)
{
    _Float16 f;
    memcpy(&f, &x, sizeof f);
    return (float)f;
}
#endif
