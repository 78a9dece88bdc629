/* batch.h - the matrices of a batch, spread over the workers. */
#ifndef TUTTI_ENGINE_NUMERICS_BATCH_H
#define TUTTI_ENGINE_NUMERICS_BATCH_H
#include "base/error.h"
#include "engine/program.h"

/* Plays the matrices from `from` up to, not including, `to`. */
typedef MUST_USE Error *BatchFn(void *user, int64_t from, int64_t to);

/* Plays n matrices, of about so many multiplications each.  is_library: by LAPACK's routines, then
 * each matrix has one thread of the library; few that are large have all of them, one after the
 * other.  f NULL: one after the other, here. */
MUST_USE Error *batch_execute(const Frame *f, int64_t n, double work, bool is_library, BatchFn *play,
                           void *user);
#endif
