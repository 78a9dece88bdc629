/* number.h - the elements of tensors as numbers, and the walk over their indices.
 *
 * Three carriers hold every element type: int64_t (booleans and all integers; ui64 by its bits),
 * double (all floats) and Complex.  Reading is exact.  Writing wraps integers to their width and
 * rounds floats once, to nearest, ties to even. */
#ifndef TUTTI_ENGINE_EVAL_NUMBER_H
#define TUTTI_ENGINE_EVAL_NUMBER_H
#include "engine/eval/eval.h"

#include <complex.h>
#undef complex
#undef I

typedef double _Complex Complex;
typedef enum Carrier { CARRY_INT, CARRY_FLOAT, CARRY_COMPLEX, CARRY_NOTHING } Carrier;

Carrier element_carrier(Element e);

int64_t int_at(Tensor t, int64_t i);
void int_set(Tensor t, int64_t i, int64_t x);
double float_at(Tensor t, int64_t i);
void float_set(Tensor t, int64_t i, double x);
Complex complex_at(Tensor t, int64_t i);
void complex_set(Tensor t, int64_t i, Complex x);

int64_t int_wrap(int64_t x, const ElementInfo *t); /* to t's width, extended as t is signed */
double int_to_double(int64_t x, bool is_unsigned); /* sticky: further rounding is still right */
int64_t int_from_double(double x, const ElementInfo *t); /* saturates; nan gives 0 */

/* Bits of element i, zero-extended; of types up to 64 bits. */
uint64_t bits_at(Tensor t, int64_t i);
void bits_set(Tensor t, int64_t i, uint64_t bits);

/* A number that grows in the total order of the floats: -nan < -inf < ... -0 < 0 ... < nan;
 * neighbours differ by one, except that -0 and 0 are neighbours too. */
int64_t float_rank(Tensor t, int64_t i);

/* Sums of products.  Few of them (SUM_FEW) are added one by one, each product and each sum
 * rounded as a machine that adds in the result's type does it (f32 for narrower floats), because
 * users see every bit of them; many are added in the widest carrier. */
enum { SUM_FEW = 16 };
double sum_float(Element e, int64_t terms, double sum, double x, double y); /* sum + x * y */
Complex sum_complex(Element e, int64_t terms, Complex sum, Complex x, Complex y);

/* Of a real or a complex tensor. */
Complex number_at(Tensor t, int64_t i);
void number_set(Tensor t, int64_t i, Complex x);

/* How a float type is made: sign, exponent, mantissa. */
typedef struct FloatFormat {
    int exponent_bits, mantissa_bits, bias;
    enum {
        FORMAT_IEEE, /* the highest exponent means inf and nan */
        FORMAT_FN,   /* no inf; nan is all ones */
        FORMAT_FNUZ, /* no inf, no -0; nan is where -0 would be */
        FORMAT_FINITE, /* neither inf nor nan: the largest and -0 stand for them */
        FORMAT_FNU,  /* powers of two: no sign, no zero, no inf; nan is all ones */
    } special;
} FloatFormat;

extern const FloatFormat float_formats[ELEMENT_COUNT];
double float_decode(Element e, uint64_t bits);
uint64_t float_encode(Element e, double x);

/* Copies element j of `from` to element i of `to`: same element type. */
void element_copy(Tensor to, int64_t i, Tensor from, int64_t j);
void convert_element(Tensor to, int64_t i, Tensor from, int64_t j); /* what convert does */

/* The next index in row-major order; false after the last (index is then all zero again). */
bool index_next(int rank, const int64_t *dims, int64_t *index);
int64_t index_flat(int rank, const int64_t *index, const int64_t *strides);

/* "not supported: exponential of i32[4], at train.py:12". */
MUST_USE Error *eval_refuse(const Node *n, Type type);
#endif
