/* gemm.h - matrix products that compiled code calls. */
#ifndef TUTTI_ENGINE_NUMERICS_GEMM_H
#define TUTTI_ENGINE_NUMERICS_GEMM_H
#include "engine/program.h"

/* c[i * c_row + j] = sum over p of a[i * a_row + p * a_col] * b[p * b_row + j * b_col]; strides
 * are in elements.  c overlaps neither a nor b.  Large ones are cut into slices for idle workers of
 * the frame, if there is one; the result is the same. */
void gemm_f32(const Frame *frame, int64_t m, int64_t n, int64_t k, const float *a, int64_t a_row,
              int64_t a_col, const float *b, int64_t b_row, int64_t b_col, float *c, int64_t c_row);
void gemm_f64(const Frame *frame, int64_t m, int64_t n, int64_t k, const double *a, int64_t a_row,
              int64_t a_col, const double *b, int64_t b_row, int64_t b_col, double *c,
              int64_t c_row);

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

void gather_f32(const Frame *frame, const Gather *gather, const float *seen, const float *other,
                float *c);
void gather_f64(const Frame *frame, const Gather *gather, const double *seen, const double *other,
                double *c);
#endif
