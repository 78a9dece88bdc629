/* chain.h - how many terms a floating-point accumulator takes in one after the other.
 *
 * Every addition rounds the sum so far, so the error of a sum grows with the number of additions
 * that follow one another.  Loops that add are cut into blocks whose accumulators begin anew: the
 * innermost take in CHAIN_TERMS, those around them CHAIN_BLOCKS of these each.  The sizes depend on
 * the shape alone, so the results do. */
#ifndef TUTTI_ENGINE_KERNELS_CHAIN_H
#define TUTTI_ENGINE_KERNELS_CHAIN_H
#include <stdint.h>

enum { CHAIN_TERMS = 32, CHAIN_BLOCKS = 16 };

/* A loop of n rounds, in each of which `terms` are taken in one after the other: how many rounds
 * make the largest block of it; n: it need not be cut. */
static inline int64_t chain_block(int64_t n, int64_t terms)
{
    if (n <= CHAIN_TERMS / terms)
        return n;
    int64_t block = terms < CHAIN_TERMS ? CHAIN_TERMS / terms : 1;
    while (block * CHAIN_BLOCKS < n)
        block *= CHAIN_BLOCKS;
    return block;
}

/* How many terms are then taken in one after the other, at the outermost. */
static inline int64_t chain_terms(int64_t n, int64_t terms)
{
    int64_t block = chain_block(n, terms);
    return block >= n ? n * terms : (n + block - 1) / block;
}
#endif
