/* shared_packing.h - an operand that all devices of a run have alike, packed once for all of them.
 *
 * Weights, say: eight devices multiply their rows by the same matrix.  Whoever comes to the product
 * takes pieces of the packing until none is left, so nobody waits for longer than a piece, and
 * nobody packs what another has packed.  It lasts until the run ends: products lie in fixed places
 * of an argument, so there is at most one for each product of the program and element of its batch,
 * however often a loop comes by, and each product packs its operand once. */
#ifndef TUTTI_ENGINE_SHARED_PACKING_H
#define TUTTI_ENGINE_SHARED_PACKING_H
#include "engine/slices.h"

typedef struct SharedPacking SharedPacking;

/* A matrix in memory, as gemm.h has it; strides and offset in bytes would do as well, as long as
 * all who ask mean the same. */
typedef struct PackingSource {
    const void *at;
    int64_t rows, cols, row, col;
    size_t element_bytes;
} PackingSource;

/* *what lies in an argument that all devices have alike and nobody writes: its packing, of so many
 * bytes and pieces; and what->at becomes where all of them are to read it.  Else, or if there is no
 * memory for it: NULL. */
SharedPacking *shared_packing_get(const Frame *frame, PackingSource *what, size_t bytes, int64_t npieces);
void *shared_packing_data(const SharedPacking *pack);
/* Calls f(user, i) for pieces that nobody has taken.  When it returns all of them are done. */
void shared_packing_fill(SharedPacking *pack, SliceFn *f, void *user);

struct Run;
void shared_packing_free_all(struct Run *run);
#endif
