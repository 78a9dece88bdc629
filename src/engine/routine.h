/* routine.h - operations that one C function executes, whole: numerics has them (routines.c).
 *
 * Compiled code calls them for what it has no kernel for.  The evaluator has rules of its own, so
 * that it is an oracle, and comes here for two things alone: Fourier transforms (eval/fft.c says why)
 * and custom calls that no rule of eval/custom.c knows.  Of these, the ones named after LAPACK
 * (lapack_sgetrf_ffi and the like) give it our own algorithms (numerics/linalg), never a library's:
 * for those algorithms it is no oracle, tests/unit/linalg_test.c holds them to definitions. */
#ifndef TUTTI_ENGINE_ROUTINE_H
#define TUTTI_ENGINE_ROUTINE_H
#include "engine/program.h"
#include "engine/tensor.h"

/* Executes one node.  The operation's shape rule has proved the types; those of a custom call the
 * routine checks itself.  out does not overlap in.  f: the frame of the executing device, whose idle
 * workers may take slices; NULL: the evaluator calls. */
typedef MUST_USE Error *Routine(const Frame *f, const Node *n, const Tensor *in, Tensor *out);

/* NULL: there is none for this operation with these types. */
Routine *routine_find(const Module *m, const Node *node);
#endif
