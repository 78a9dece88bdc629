/* fft.h - Fourier transforms, for compiled code and for the evaluator. */
#ifndef TUTTI_FFT_H
#define TUTTI_FFT_H
#include "ops/type.h"

/* The last naxes dimensions; type as in FftAttrs: FFT, IFFT, RFFT, IRFFT.  Elements are f32, f64
 * and complex numbers of these, and the types must fit each other. */
void fft_transform(Type in, Type out, int type, int naxes, const void *from, void *to);
#endif
