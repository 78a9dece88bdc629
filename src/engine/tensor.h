/* tensor.h - arrays of any element type in memory, their elements as numbers, and the walk over
 * their indices.
 *
 * Three carriers hold every element type: int64_t (booleans and all integers; ui64 by its bits),
 * double (all floats) and Complex.  Reading is exact.  Writing wraps integers to their width and
 * rounds floats once, to nearest, ties to even. */
#ifndef TUTTI_ENGINE_TENSOR_H
#define TUTTI_ENGINE_TENSOR_H
#include "ops/number.h"

#include <complex.h>
#undef complex
#undef I

/* A type and its elements, row-major and dense. */
typedef struct Tensor {
    Type type;
    void *data;
} Tensor;

typedef double _Complex Complex;
typedef enum Carrier { CARRY_INT, CARRY_FLOAT, CARRY_COMPLEX, CARRY_NOTHING } Carrier;

Carrier element_carrier(Element e);

int64_t int_at(Tensor t, int64_t i);
void int_set(Tensor t, int64_t i, int64_t x);
double float_at(Tensor t, int64_t i);
void float_set(Tensor t, int64_t i, double x);
Complex complex_at(Tensor t, int64_t i);
void complex_set(Tensor t, int64_t i, Complex x);

/* Of a real or a complex tensor. */
Complex number_at(Tensor t, int64_t i);
void number_set(Tensor t, int64_t i, Complex x);

/* Bits of element i, zero-extended; of types up to 64 bits. */
uint64_t bits_at(Tensor t, int64_t i);
void bits_set(Tensor t, int64_t i, uint64_t bits);

/* A number that grows in the total order of the floats: -nan < -inf < ... -0 < 0 ... < nan;
 * neighbours differ by one, except that -0 and 0 are neighbours too. */
int64_t float_rank(Tensor t, int64_t i);

/* Copies element j of `from` to element i of `to`: same element type. */
void element_copy(Tensor to, int64_t i, Tensor from, int64_t j);
void convert_element(Tensor to, int64_t i, Tensor from, int64_t j); /* what convert does */

/* The next index in row-major order; false after the last (index is then all zero again). */
bool index_next(int rank, const int64_t *dims, int64_t *index);
int64_t index_flat(int rank, const int64_t *index, const int64_t *strides);
#endif
