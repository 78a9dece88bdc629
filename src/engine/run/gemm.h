/* gemm.h - matrix products that compiled code calls. */
#ifndef TUTTI_GEMM_H
#define TUTTI_GEMM_H
#include "engine/program.h"

/* c[i * c_row + j] = sum over p of a[i * a_row + p * a_col] * b[p * b_row + j * b_col]; strides
 * are in elements.  c overlaps neither a nor b.  Large ones are cut into slices for idle workers of
 * the frame, if there is one; the result is the same. */
void gemm_f32(const Frame *frame, int64_t m, int64_t n, int64_t k, const float *a, int64_t a_row,
              int64_t a_col, const float *b, int64_t b_row, int64_t b_col, float *c, int64_t c_row);
void gemm_f64(const Frame *frame, int64_t m, int64_t n, int64_t k, const double *a, int64_t a_row,
              int64_t a_col, const double *b, int64_t b_row, int64_t b_col, double *c,
              int64_t c_row);
#endif
