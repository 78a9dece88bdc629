/* fft.c - Fourier transforms over the last one to three dimensions.
 *
 * The transform itself is the runtime's (numerics/fft.c), since users compare the last bits of it and
 * those depend on the order of its additions; tests/unit/fft_test.c holds it to the definition. */
#include "engine/eval/rules.h"
#include "engine/numerics/routines.h"

Error *eval_fft(__attribute__((unused)) const Module *m, const Node *n, const Tensor *in,
                Tensor *out)
{
    return library_fft(NULL, n, in, out);
}
