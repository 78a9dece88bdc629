/* special.h - special functions of a real number that the C library has not, in double precision.
 *
 * The evaluator and compiled code (numerics/libm.c) call the same ones, so the evaluator is no
 * oracle for these: python/tests/accuracy_functions.py measures them against exact ones. */
#ifndef TUTTI_ENGINE_SPECIAL_H
#define TUTTI_ENGINE_SPECIAL_H

double special_lgamma(double x);
double special_erf_inv(double x);
double special_digamma(double x);
double special_bessel_i1e(double x);
#endif
