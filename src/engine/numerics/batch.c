/* batch.c - the matrices of a batch, spread over the workers.
 *
 * How they are spread, and how many threads a library has for each, depends on the program and the
 * machine alone and not on which workers are idle: results repeat. */
#include "engine/numerics/matrices.h"

#include "engine/floats.h"
#include "engine/slices.h"

/* Multiplications from which on a second thread is worth its while: for a matrix in a library, and
 * for a batch.  OpenBLAS's threads wait for each other at every product, so below 800 rows its
 * routines for eigenvalues and singular values are no faster with two, and far slower when another
 * process wants a core. */
static const double WORK_OF_THREAD = 5e8, WORK_OF_SLICE = 2e4;
enum { SLICES_EACH = 4 }; /* of a worker: some matrices take longer than others */

typedef struct Batch {
    int64_t n, nslices;
    BatchBy by;
    BatchFn *some;
    void *user;
    _Atomic(Error *) error; /* of one of them */
} Batch;

static Error *execute_some(const Batch *b, int nthreads, int64_t from, int64_t to)
{
    if (b->by == BATCH_OWN)
        return b->some(b->user, from, to);
    Floats before = floats_enter_default(); /* as the library's own threads have it */
    lapack_begin(nthreads);
    Error *error = b->some(b->user, from, to);
    lapack_end();
    floats_restore(before);
    return error;
}

static void execute_slice(void *user, int64_t slice)
{
    Batch *b = user;
    Error *error = execute_some(b, 1, b->n * slice / b->nslices, b->n * (slice + 1) / b->nslices);
    /* acquire and release: an error that another thread made is freed here; slices_run orders the last
     * before its return */
    if (error)
        error_free(atomic_exchange_explicit(&b->error, error, memory_order_acq_rel));
}

Error *batch_execute(const Frame *f, int64_t n, double work, BatchBy by, BatchFn *some, void *user)
{
    if (n == 0)
        return NULL;
    Batch b = { .n = n, .by = by, .some = some, .user = user };
    int workers = slices_workers(f);
    bool is_alone = f && f->program && f->program->ndevices == 1;
    int nthreads = by == BATCH_LIBRARY_THREADS && is_alone && work >= WORK_OF_THREAD ? workers : 1;
    if (n <= 1 || n < nthreads || work * (double)n < WORK_OF_SLICE)
        return execute_some(&b, nthreads, 0, n);
    b.nslices = n < SLICES_EACH * workers ? n : SLICES_EACH * workers;
    slices_run(f, b.nslices, execute_slice, &b);
    return b.error;
}
