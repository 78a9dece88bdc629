/* fft.c - Fourier transforms over the last one to three dimensions.
 *
 * Here the evaluator is no oracle: it calls the routine that compiled code calls (numerics/fft.c),
 * because users compare the last bits of a transform, and those depend on the order of its
 * additions.  tests/unit/fft_test.c holds the routine to the definition. */
#include "engine/eval/rules.h"

#include "engine/routine.h"

Error *eval_fft(const Module *m, const Node *n, const Tensor *in, Tensor *out)
{
    return routine_find(m, n)(NULL, n, in, out);
}
