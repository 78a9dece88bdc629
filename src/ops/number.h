/* number.h - one number of any element type, in memory and as a C number. */
#ifndef TUTTI_OPS_NUMBER_H
#define TUTTI_OPS_NUMBER_H
#include "ops/type.h"

/* All for booleans, integers and floats; a complex is two numbers of element_part.
 * Reading a float as an integer truncates; a value out of range gives some integer. */
int64_t number_int(Element e, const void *at); /* ui64 above 2^63 wraps */
double number_float(Element e, const void *at);
void number_set_int(Element e, int64_t x, void *at);  /* keeps the low bits */
void number_set_float(Element e, double x, void *at); /* rounds to nearest, ties to even */

int64_t int_wrap(int64_t x, const ElementInfo *t); /* to t's width, extended as t is signed */
double int_to_double(int64_t x, bool is_unsigned); /* sticky: further rounding is still right */
int64_t int_from_double(double x, const ElementInfo *t); /* saturates; nan gives 0 */

/* How a float type is made: sign, exponent, mantissa. */
typedef struct FloatFormat {
    int exponent_bits, mantissa_bits, bias;
    enum {
        FORMAT_IEEE,   /* the highest exponent means inf and nan */
        FORMAT_FN,     /* no inf; nan is all ones */
        FORMAT_FNUZ,   /* no inf, no -0; nan is where -0 would be */
        FORMAT_FINITE, /* neither inf nor nan: the largest and -0 stand for them */
        FORMAT_FNU,    /* powers of two: no sign, no zero, no inf; nan is all ones */
    } special;
} FloatFormat;

extern const FloatFormat float_formats[ELEMENT_COUNT];
uint64_t float_sign_bit(Element e); /* 0 where numbers have no sign */
double float_decode(Element e, uint64_t bits);
uint64_t float_encode(Element e, double x); /* rounds to nearest, ties to even */
#endif
