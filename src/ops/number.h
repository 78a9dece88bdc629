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
#endif
