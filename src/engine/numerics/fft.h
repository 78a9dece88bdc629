/* fft.h - what the files of Fourier transforms share: roots of unity, lines, and what there is for an element type.
 *
 *     fft.c                  an operation becomes steps over lines
 *     fft_long.c             long lines, as matrices of short ones
 *     fft_kept.c             plans of lines, from call to call
 *     fft_f32.c, fft_f64.c   the lines, for every instruction set (fft_levels.h); apart, since each takes a compiler
 *                            ten seconds */
#ifndef TUTTI_ENGINE_NUMERICS_FFT_H
#define TUTTI_ENGINE_NUMERICS_FFT_H
#include "base/arena.h"
#include "engine/program.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a small transform need not look at: its numbers are real, or its results are to be. */
typedef enum FftParts { FFT_ALL, FFT_REAL_IN, FFT_REAL_OUT } FftParts;

enum { FFT_MOST = 128 };   /* the largest factor that a pass takes; above, Bluestein */
enum { FFT_ORDERED = 64 }; /* lines of at most so many numbers are added up in FFTPACK's order */
enum { FFT_SUMS = 4 };     /* that a small transform adds up side by side */
enum { FFT_TERMS = 16 };   /* of a sum, added up by themselves: of more, the roundings show */
/* How long a convolution must be to do a line of n numbers; 0: n has only small factors. */
int64_t bluestein_size(int64_t n);
/* The length of at least n that takes the least: of factors 2, 3 and 5, by its passes. */
int64_t convolution_size(int64_t n);

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
    int64_t gap_in,
        gap_out; /* FFT_COMPLEX: numbers left out behind each row of the last dimension */
    bool is_forward;
    double scale;                  /* on the way out */
    const void *twiddles, *begins; /* FFT_COLUMNS: FftLong's */
} FftLines;

typedef void FftGroup(const FftLines *f, int64_t first, int here, void *work);

/* The plan of a long line (fft_long.c): a matrix of n1 rows, or a convolution. */
typedef struct FftLong {
    int64_t n, n1;              /* complex numbers; 0: there is no matrix */
    const void *columns, *rows; /* plans of n1 and of n / n1 numbers */
    const void *twiddles; /* of the first vector of columns: [n1] of real parts, imaginary ones */
    const void *begins;   /* of each vector's first column: [vectors][n1] */
    struct FftLong *wide; /* n1 is 0: the convolution's */
    void *chirp, *filter; /* [n]; [wide->n], already transformed */
    const void *halves;   /* the numbers are two reals each: [n / 2 + 1], roots of 2 n */
} FftLong;

/* From line to line of a long one's steps, number by number. */
typedef struct FftStep {
    const FftLong *plan;
    const void *in;
    void *out;
    bool is_forward;
    double scale;
} FftStep;

typedef void FftStepFn(const FftStep *s, int64_t from, int64_t to);

/* The lines in groups of so many, for one instruction set. */
typedef struct FftForm {
    int lanes;
    size_t vector;                        /* bytes */
    int64_t (*work)(const FftLines *f);   /* vectors that a group works in */
    int64_t (*groups)(const FftLines *f); /* how many there are */
    void (*group)(const FftLines *f, int64_t number, void *work);
    FftStepFn *spread, *filter, *gather;      /* of a convolution */
    FftStepFn *reals_of_half, *half_of_reals; /* 2 n reals, from n complex numbers and back */
    FftStepFn *of_reals, *mirror, *to_reals;  /* reals as complex numbers */
} FftForm;

typedef struct FftType {
    size_t number;                        /* bytes of a complex one */
    const FftForm *alone;                 /* a line at a time */
    const FftForm *by_16, *by_32, *by_64; /* vectors of so many bytes; the last two on x86 alone */
    const void *(*plan)(Arena *arena, int64_t n, bool is_real);
    const void *(*twiddles)(Arena *arena, const Roots *roots, int64_t n1, int lanes);
    const void *(*begins)(Arena *arena, const Roots *roots, int64_t n1, int lanes);
    const void *(*halves)(Arena *arena, int64_t n);
    void (*chirps)(Arena *arena, FftLong *plan); /* the filter not yet transformed */
} FftType;
extern const FftType f32_fft, f64_fft;

const FftForm *fft_form_of(const FftType *type); /* the machine's */
/* Transforms all lines; the last group by `last`.  False: there is no memory to work in. */
bool fft_groups_run(const Frame *frame, const FftLines *f, const FftForm *last);

/* ---- long lines (fft_long.c) ---- */

/* Does a line of n numbers, one of so many, go as a matrix? */
bool fft_is_long(const FftType *type, int64_t n, bool is_real, int64_t nlines);
/* NULL: there is no memory. */
const FftLong *fft_long_new(Arena *arena, const FftType *type, int64_t n, bool is_real);
/* Lines one behind the other, of kind FFT_COMPLEX, FFT_REAL or FFT_TO_REAL.  The arena has what is too large for
 * threads to keep.  False: there is no memory to work in. */
bool fft_long_run(const Frame *frame, Arena *arena, const FftType *type, const FftLong *plan,
                  const FftLines *f);

/* ---- plans that are kept (fft_kept.c); any thread ---- */

typedef struct FftKey {
    const FftType *type;
    int64_t n;
    bool is_real, is_long;
} FftKey;

static inline bool fft_keys_same(FftKey a, FftKey b)
{
    return a.type == b.type && a.n == b.n && a.is_real == b.is_real && a.is_long == b.is_long;
}

/* The plan, which stays until it is released; NULL: there is none. */
const void *fft_plan_hold(FftKey key);
void fft_plan_release(FftKey key);
/* Takes the arena, in which the plan lies and which no guard knows. */
void fft_plan_offer(FftKey key, const void *plan, Arena *arena);
void fft_plans_end(void); /* when the engine is unloaded */
#endif
