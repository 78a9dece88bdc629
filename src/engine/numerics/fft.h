/* fft.h - what the files of Fourier transforms share: roots of unity, lines, and what there is for an element type.
 *
 *     fft.c                  an operation becomes steps over lines
 *     fft_kept.c             plans of lines, from call to call
 *     fft_f32.c, fft_f64.c   the lines, for every instruction set (fft_levels.h); apart, since each takes a compiler
 *                            ten seconds */
#ifndef TUTTI_ENGINE_NUMERICS_FFT_H
#define TUTTI_ENGINE_NUMERICS_FFT_H
#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a small transform need not look at: its numbers are real, or its results are to be. */
typedef enum FftParts { FFT_ALL, FFT_REAL_IN, FFT_REAL_OUT } FftParts;

enum { FFT_MOST = 128 }; /* the largest factor that a pass takes; above, Bluestein */
enum { FFT_SUMS = 4 };   /* that a small transform adds up side by side */
/* Loops of small transforms are unrolled so often; sanitizers' checks would make that minutes of compilation. */
#ifdef __SANITIZE_ADDRESS__
enum { FFT_UNROLLED = 1 };
#else
enum { FFT_UNROLLED = 8 };
#endif
/* How long a convolution must be to do a line of n numbers; 0: n has only small factors. */
int64_t bluestein_size(int64_t n);

/* ---- roots of unity ---- */

typedef struct Pair {
    double r, i;
} Pair;

/* e^(2 pi i k / n) in f64: the product of two entries of short tables, one for the high bits of k and one for the
 * low ones, so that n roots cost some sqrt(n) sines. */
typedef struct Roots {
    int64_t n, mask;
    int shift;
    Pair *low, *high;
} Roots;

Roots roots_new(Arena *arena, int64_t n);

static inline void roots_get(const Roots *roots, int64_t k, double *re, double *im)
{
    bool is_lower = 2 * k > roots->n;
    if (is_lower)
        k = roots->n - k;
    Pair x = roots->low[k & roots->mask], y = roots->high[k >> roots->shift];
    *re = x.r * y.r - x.i * y.i;
    *im = x.r * y.i + x.i * y.r;
    if (is_lower)
        *im = -*im;
}

/* ---- lines and groups of them ---- */

typedef enum FftKind {
    FFT_COMPLEX, /* lines of complex numbers */
    FFT_REAL,    /* lines of reals to the first half of their transform */
    FFT_TO_REAL, /* and back */
    FFT_COLUMNS, /* the two steps of a long line (fft_lines.h) */
    FFT_ROWS
} FftKind;

struct FftForm;

/* One step of an operation: the same for all lines. */
typedef struct FftLines {
    FftKind kind;
    const struct FftForm *form;
    const void *plan; /* fft_plan.h */
    const void *in;
    void *out; /* may be `in` for complex lines */
    int64_t nlines, n, stride;
    bool is_forward;
    double scale;       /* on the way out */
    const Roots *roots; /* FFT_COLUMNS: of the whole line */
    const void *twiddles;
} FftLines;

typedef void FftGroup(const FftLines *f, int64_t first, int here, void *work);

/* The lines in groups of so many, for one instruction set. */
typedef struct FftForm {
    int lanes;
    size_t vector;                        /* bytes */
    int64_t (*work)(const FftLines *f);   /* vectors that a group works in */
    int64_t (*groups)(const FftLines *f); /* how many there are */
    void (*group)(const FftLines *f, int64_t number, void *work);
} FftForm;

/* Some numbers of a line of 2 h reals, from its h complex numbers or back (fft_plan.h). */
typedef void FftHalves(const Roots *roots, int64_t h, int64_t from, int64_t to, const void *in,
                       void *out);

typedef struct FftType {
    size_t number;                        /* bytes of a complex one */
    const FftForm *alone;                 /* a line at a time */
    const FftForm *by_16, *by_32, *by_64; /* vectors of so many bytes; the last two on x86 alone */
    const void *(*plan)(Arena *arena, int64_t n, bool is_real);
    const void *(*twiddles)(Arena *arena, const Roots *roots, int64_t n1, int lanes);
    FftHalves *reals_of_half, *half_of_reals;
} FftType;
extern const FftType f32_fft, f64_fft;

/* ---- plans that are kept (fft_kept.c); any thread ---- */

typedef struct FftKey {
    const FftType *type;
    int64_t n;
    bool is_real;
} FftKey;

/* The plan, which stays until it is released; NULL: there is none. */
const void *fft_plan_hold(FftKey key);
void fft_plan_release(FftKey key);
/* Takes the arena, in which the plan lies and which no guard knows. */
void fft_plan_offer(FftKey key, const void *plan, Arena *arena);
void fft_plans_end(void); /* when the engine is unloaded */
#endif
