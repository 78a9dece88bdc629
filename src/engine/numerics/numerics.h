/* numerics.h - what compiled code calls ready-made: products, sorts, Fourier transforms, linear
 * algebra, random bits, functions of the C library, copies of boxes.
 *
 * Inside are only loops over memory.  A function here takes arrays that do not overlap, in the
 * program's element type and row-major order unless it says otherwise, and writes every element of
 * its results.  It knows nothing of runs, tasks or collectives; its whole context is the frame of the
 * device that executes it (program.h), from which it takes:
 *
 *   slices         a long loop is split by slices_run (slices.h), and idle workers take slices.  How
 *                  it is split depends on the shapes and the machine alone, never on which workers
 *                  are idle: results repeat bit for bit.
 *   memory         work areas that a thread keeps (memory/thread_memory.h), or malloc; none outlives
 *                  the call, except the plans of LAPACK (lapack.c).
 *   packed operands, shared by the devices of a run (slices.h).
 *
 * The frame may be NULL: then the calling thread does everything itself.
 *
 * Threads: every function may be called by any number of threads at once, unless it says otherwise.
 *
 * Errors: a Routine returns its error.  Those that compiled code calls through Runtime (gemm, gather,
 * sort) have nothing to say but "no memory": they call frame_fail, and the segment fails at its end.
 *
 * Files: routines.c finds the routine of a node.  gemm.c products; fft.c; sort_keys.c, merge_sort.c;
 * random.c; linear.c Cholesky factors, triangular systems and QR factors; lapack.c the custom calls
 * named after LAPACK, by a library's routines (lapack_provider.c, lapack_calls.c) or our own
 * (lapack_routines.c over linalg/); blocked_*.c large matrices over products, small_matrices.c batches of
 * small ones.  A *_body.h is the text of loops that its .c includes once for each element type and
 * instruction set. */
#ifndef TUTTI_ENGINE_NUMERICS_NUMERICS_H
#define TUTTI_ENGINE_NUMERICS_NUMERICS_H
#include "engine/routine.h"
#include "pjrt/extension.h"

/* ---- routines: whole operations; routine_find (routine.h) finds one ---- */

/* When a program that has this node is compiled: looks for what the routine will need from outside,
 * a LAPACK. */
MUST_USE Error *routine_prepare(const Module *m, const Node *node);

/* By which an object that is compiled ahead calls it; NULL: by none. */
const char *routine_symbol(Routine *routine);

#pragma GCC visibility push(default) /* NAMED_BY_OBJECTS, all of them */
Routine routine_fft;                 /* fft.c */
Routine routine_top_k;               /* top_k.c */
Routine routine_rng_bits;            /* random.c */
Routine routine_rng_state;        /* custom_call @tutti.rng_state, which hlo/define/rng.c writes */
Routine routine_triangular_solve; /* linear.c */
Routine routine_cholesky;
Routine routine_widened;     /* one of these two, of narrow floats */
Routine routine_qr;          /* custom_call @Qr: reflectors below, R above; and their factors */
Routine routine_householder; /* custom_call @ProductOfElementaryHouseholderReflectors */
Routine routine_lapack;      /* lapack.c: custom calls that lapack_knows */
#pragma GCC visibility pop

/* ---- products (gemm.c) ---- */

/* What is multiplied, and what the products are added up in: narrow floats in f32, i8 and i16 in i32
 * without loss, wider integers in their own width, modulo its power of two. */
typedef enum GemmKind {
    GEMM_F32,
    GEMM_F64,
    GEMM_C64,
    GEMM_C128,
    GEMM_BF16,
    GEMM_F16,
    GEMM_I8,
    GEMM_I16,
    GEMM_I32,
    GEMM_I64,
    GEMM_BF16_ROUNDED, /* as GEMM_BF16, and the sums become bf16; of depths up to GEMM_ROUNDED_DEPTH */
    GEMM_KINDS
} GemmKind;
enum { GEMM_ROUNDED_DEPTH = 512 }; /* at every level added up in one go */

/* The kind with those operands and that result; -1: there is none. */
int gemm_kind(Element lhs, Element rhs, Element out);

/* How a product of such operands is one of a kind: both become `operands`, and what comes of it, of
 * type `sum`, becomes what was asked for.  Integers may lose bits that the result has not. */
typedef struct GemmTypes {
    bool is_known; /* false: it is not */
    Element operands, sum;
} GemmTypes;
GemmTypes gemm_types(Element lhs, Element rhs, Element out);

/* c[i * c_row + j] = sum over p of a[i * a_row + p * a_col] * b[p * b_row + j * b_col]; strides
 * are in elements. */
NAMED_BY_OBJECTS void gemm(const Frame *frame, int64_t kind, int64_t m, int64_t n, int64_t k,
                           const void *a, int64_t a_row, int64_t a_col, const void *b,
                           int64_t b_row, int64_t b_col, void *c, int64_t c_row);
/* The same for kind GEMM_F32: what an object names that has no other products. */
NAMED_BY_OBJECTS void gemm_f32(const Frame *frame, int64_t kind, int64_t m, int64_t n, int64_t k,
                               const void *a, int64_t a_row, int64_t a_col, const void *b,
                               int64_t b_row, int64_t b_col, void *c, int64_t c_row);

/* The product where one operand's lines (rows of a, or columns of b if is_b) and depth are several
 * dimensions of an array each: a convolution.  Compiled code lays it out, so it is all int64_t. */
typedef struct Gather {
    int64_t is_b;
    int64_t m, n, k;               /* none is 0 */
    int64_t line_step, depth_step; /* of the other operand */
    int64_t c_row;
    int64_t nlines, ndepth;
    int64_t dims[][2]; /* extent and step of each dimension: lines, then depth */
} Gather;

/* Is there such a product of this kind? */
bool gemm_gathers(int kind);
NAMED_BY_OBJECTS void gather(const Frame *frame, int64_t kind, const Gather *gather,
                             const void *seen, const void *other, void *c);

/* ---- plain sums and extremes (plain_reduce.c) ---- */

/* The shortest row, and the fewest rows and columns, of which compiled code is not better. */
enum { PLAIN_ROW = 256, PLAIN_ROWS = 32, PLAIN_COLUMNS = 64 };

/* The kind of a reduction by ADD, MAX or MIN that is made ready, by its element type; -1: it is not. */
int plain_reduce_kind(OpId op, Element e);
/* out[a, b] = the sum, or the largest, of in[p, a, i, b] over the n values of i and all parts p, rounded once.
 * None of the extents is 0.  inner is 1, and n at least PLAIN_ROW; or inner is at least PLAIN_COLUMNS. */
void plain_reduce(const Frame *f, int64_t kind, int64_t parts, int64_t outer, int64_t n,
                  int64_t inner, const void *in, void *out);

/* ---- plain copies and transposes (plain_copy.c) ---- */

typedef struct PlainCopyDim {
    int64_t extent, low,
        count;    /* of the result; those from `low` on, `count` of them, are of the operand */
    int64_t step; /* in the operand, in bytes */
} PlainCopyDim;

/* Rows of a result, in bytes, and the dimensions that count them, at least one; `fill` is a byte. */
typedef struct PlainCopy {
    int64_t rank, fill;
    int64_t before, run, behind; /* of each row */
    int64_t begin;               /* in the operand: the first run */
    PlainCopyDim dims[];
} PlainCopy;

/* No extent is 0. */
void plain_copy(const Frame *f, const PlainCopy *copy, const void *in, void *out);

/* Matrices whose columns lie along the operand and whose rows lie along the result, and the dimensions that count
 * them; steps are in bytes. */
typedef struct PlainTransposeDim {
    int64_t extent, in_step, out_step;
} PlainTransposeDim;

typedef struct PlainTranspose {
    int64_t bytes; /* of an element: 1, 2, 4 or 8 */
    int64_t rows,
        columns; /* of a matrix, as the result has it; at least PLAIN_SIDE bytes of each */
    int64_t in_step,
        out_step; /* from column to column of the operand, from row to row of the result */
    int64_t rank;
    PlainTransposeDim dims[];
} PlainTranspose;
enum { PLAIN_SIDE = 16 };

/* No extent is 0 (plain_transpose.c). */
void plain_transpose(const Frame *f, const PlainTranspose *transpose, const void *in, void *out);

/* n operands, of each of which a row of the result has a run, in bytes. */
typedef struct PlainJoin {
    int64_t n, rows;
    int64_t runs[];
} PlainJoin;

NAMED_BY_OBJECTS void plain_join(const Frame *f, const PlainJoin *join, const void *const *in,
                                 void *out);

/* ---- sorting by keys that are plain numbers (sort_keys.c) ----
 *
 * A comparator that compares numbers (one key or several, each rising or falling) need not be
 * called: the numbers become unsigned integers that stand in the same order, and those are sorted
 * by their digits.  The sort is stable.  Compiled code writes a SortPlan word by word, so all its
 * fields are words. */

/* One key.  Floats are in their total order: -nan ... -0, +0 ... +nan. */
typedef struct SortKey {
    int64_t array; /* whose elements it is */
    int64_t is_falling;
    int64_t one_zero; /* -0 counts as +0 */
    int64_t one_nan;  /* every nan counts as the positive quiet one */
} SortKey;

enum { SORT_MOST_KEYS = 8 };
typedef struct SortPlan {
    int64_t narrays, nkeys;
    int64_t nlines, extent, stride; /* stride: from element to element of a line */
    int64_t kept;                   /* of each line, the first in order; extent: all */
    SortKey keys[SORT_MOST_KEYS];   /* the first decides; the next where it finds both equal */
    int64_t elements[];             /* narrays: the Element of each array */
} SortPlan;

enum { SORT_MOST_EXTENT = INT32_MAX }; /* of a line: positions are counted in 32 bits */

/* Are there keys for arrays of this element type? */
bool sort_has_keys(Element e);

/* Sorts all lines of all arrays, from in[i] to out[i].  in[i] NULL: the array holds each element's
 * position in its line (i32 or i64), and is no key.  The lines of a result are `kept` long. */
NAMED_BY_OBJECTS void sort_lines(const Frame *frame, const SortPlan *plan, const void *const *in,
                                 void *const *out);

/* ---- sorting by a comparison (merge_sort.c) ---- */

/* Does element i go before element j? */
typedef bool SortLess(const void *context, int64_t i, int64_t j);

/* The numbers 0 .. n - 1 in sorted order; equal ones keep theirs.  The answer is the calling
 * thread's until its next call.  NULL: no memory for it. */
NAMED_BY_OBJECTS const int64_t *sort_order(const Frame *frame, int64_t n, SortLess *less,
                                           const void *context);

/* ---- functions of the C library, by number (libm.c) ---- */

typedef enum MathFunction {
    MATH_FMOD,
    MATH_SIN,
    MATH_COS,
    MATH_TAN,
    MATH_TAN_F32, /* rounded as the function of f32 is */
    MATH_ERF_INV,
    MATH_LGAMMA,
    MATH_DIGAMMA,
    MATH_BESSEL_I1E,
    /* Of complex numbers: real parts in x, imaginary ones in y; out has n of each. */
    MATH_COMPLEX_SINH,
    MATH_COMPLEX_COSH,
    MATH_COMPLEX_ASIN,
    MATH_COMPLEX_ACOS,
    MATH_COMPLEX_ATAN,
    MATH_COMPLEX_ASINH,
    MATH_COMPLEX_ACOSH,
    MATH_COMPLEX_ATANH,
    MATH_COUNT
} MathFunction;

/* out[i] = function(x[i]) or function(x[i], y[i]) for n numbers. */
NAMED_BY_OBJECTS void math_library(int32_t function, int32_t n, const double *x, const double *y,
                                   double *out);
/* The same for the numbers up to MATH_COS alone, for programs that name no other (libm_common.c). */
NAMED_BY_OBJECTS void math_common(int32_t function, int32_t n, const double *x, const double *y,
                                  double *out);

/* ---- copies (strided.c) ---- */

/* For every index below extents[rank], the element at dst takes that at src.  Strides are in
 * bytes, any sign or zero. */
void strided_copy(void *dst, const int64_t *dst_strides, const void *src,
                  const int64_t *src_strides, int rank, const int64_t *extents, size_t element);

/* Row-major strides in bytes of an array of type t, into strides[rank]. */
void byte_strides(Type t, int64_t *strides);

/* ---- whose LAPACK (lapack_provider.c) ----
 *
 * Found once, when the first program that has a use for it is compiled: what TUTTI_LAPACK names,
 * else what the host offers (Python hands over SciPy's), else the system's.  A provider has all the
 * routines or counts for nothing.  With none, our own are called. */

/* The host's own: called once, by the thread that compiles, if ever. */
void lapack_offer(TuttiFindRoutine *find);
/* Looks for a library, at the first call.  An error: TUTTI_LAPACK names what cannot be used. */
MUST_USE Error *lapack_find(void);
/* The library's file, "own" or, before the first program that needs one, "none wanted yet". */
const char *lapack_provider(void);

/* ---- NaNs (nans.c), under TUTTI_CHECK=nans ---- */

typedef enum NansOf { NANS_OF_MARK, NANS_OF_ARGUMENT, NANS_OF_COLLECTIVE } NansOf;
/* If there is a NaN in `data`, the result of that number of a mark or a collective, or an argument:
 * frame_fail, with what made it, where, and at which index the first stands. */
void nans_find(const Frame *f, int32_t of, int32_t number, int32_t result, const void *data);
#endif
