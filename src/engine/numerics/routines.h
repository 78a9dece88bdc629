/* routines.h - operations that compiled code hands to ready-made loops.
 *
 * They have the evaluator's signature, so that a node is played by one or the other in the same
 * way, but they are made to be fast, and work in the precision of their operands. */
#ifndef TUTTI_ENGINE_NUMERICS_ROUTINES_H
#define TUTTI_ENGINE_NUMERICS_ROUTINES_H
#include "engine/eval/eval.h"
#include "engine/program.h"

/* Types have been proven by the operation's shape rule; a custom call's are looked at here.
 * out does not overlap in.  f: of the device that plays it, for slices_run; NULL: the evaluator
 * plays it. */
typedef Error *LibraryFn(const Frame *f, const Node *n, const Tensor *in, Tensor *out);

/* NULL: there is none for this operation with these types. */
LibraryFn *library_find(const Module *m, const Node *node);
/* Looks for what the node will need from outside, a LAPACK, before it is played. */
MUST_USE Error *library_prepare(const Module *m, const Node *node);

LibraryFn library_fft;              /* fft.c */
LibraryFn library_top_k;            /* library.c */
LibraryFn library_rng_bits;         /* random.c */
LibraryFn library_rng_state; /* custom_call @tutti.rng_state, which hlo/define/rng.c writes */
LibraryFn library_triangular_solve; /* linear.c */
LibraryFn library_cholesky;
bool linear_wants_library(Type a); /* do those two look for a LAPACK, for matrices a? */
LibraryFn library_qr;           /* custom_call @Qr: reflectors below, R above; and their factors */
LibraryFn library_householder;  /* custom_call @ProductOfElementaryHouseholderReflectors */
/* What those two calls must be, or what is wrong with them. */
MUST_USE Error *qr_fits(const Node *n, const Tensor *in, const Tensor *out);
MUST_USE Error *householder_fits(const Node *n, const Tensor *in, const Tensor *out);
LibraryFn library_lapack;       /* lapack.c: if lapack_knows */
bool lapack_knows(Str target, Element first); /* element type of operand 0 */
LibraryFn library_foreign;      /* calls.c: if call_registry_find */
#endif
