/* eval_random.c - rng_bit_generator.  Its numbers are integers that XLA's must equal: there is
 * one way to make them, run/random.c. */
#include "engine/rules.h"
#include "engine/run/library.h"

Error *eval_rng_bits(const Module *m, const Node *n, const Tensor *in, Tensor *out)
{
    return library_rng_bits(m, n, in, out);
}
