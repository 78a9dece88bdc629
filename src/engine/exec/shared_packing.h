/* shared_packing.h - an operand that all devices of a run have alike, packed once for all of them.
 *
 * Weights, say: eight devices multiply their rows by the same matrix.  Whoever comes to the product
 * takes pieces of the packing until none is left, so nobody waits for longer than a piece, and
 * nobody packs what another has packed.  It lasts until the run ends: products lie in fixed places
 * of an argument, so there is at most one for each product of the program and element of its batch,
 * however often a loop comes by, and each product packs its operand once. */
#ifndef TUTTI_ENGINE_EXEC_SHARED_PACKING_H
#define TUTTI_ENGINE_EXEC_SHARED_PACKING_H
#include "engine/exec/slices.h"

typedef struct Pack Pack;

/* A matrix in memory, as gemm.h has it; strides and offset in bytes would do as well, as long as
 * all who ask mean the same. */
typedef struct Packable {
    const void *at;
    int64_t rows, cols, row, col;
    size_t element_bytes;
} Packable;

/* *what lies in an argument that all devices have alike and nobody writes: its packing, of so many
 * bytes and pieces; and what->at becomes where all of them are to read it.  Else, or if there is no
 * memory for it: NULL. */
Pack *frame_pack(const Frame *frame, Packable *what, size_t bytes, int64_t npieces);
void *pack_data(const Pack *pack);
/* Calls f(user, i) for pieces that nobody has taken.  When it returns all of them are done. */
void pack_fill(Pack *pack, SliceFn *f, void *user);

struct Run;
void packs_free(struct Run *run);
#endif
