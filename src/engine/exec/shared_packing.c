/* shared_packing.c - an operand that all devices of a run hold alike, packed once for all of them, or
 * that one device multiplies by again and again in a loop.  slices.h says what for. */
#include "engine/exec/executor.h"

#include <stdlib.h>

struct SharedPacking {
    PackingSource source;
    void *data;
    size_t bytes;
    int64_t nslices;
    _Atomic int64_t next; /* slice not yet taken; any thread */
    _Atomic int nleft;    /* slices not yet packed; any thread; threads that wait sleep on it */
    SharedPacking *below; /* under the run's lock */
};

static bool is_same_matrix(PackingSource x, PackingSource y)
{
    return x.at == y.at && x.rows == y.rows && x.cols == y.cols && x.row == y.row &&
           x.col == y.col && x.form == y.form;
}

/* From an address in this device's argument to the same in the first device's, which may be read if
 * it is the same memory, or was there when the run was launched.  NULL: it may not, or the address
 * is in no argument that all devices hold alike. */
static const char *at_first_device(const Frame *frame, const Run *run, const char *at)
{
    const Program *p = run->program;
    for (int i = 0; i < p->nargs; i++) {
        const char *mine = frame->args[i], *first = run->pointers[i];
        if (!p->args[i].is_replicated || at < mine || at >= mine + type_bytes(p->args[i].local))
            continue;
        return mine == first || !run->pending[i] ? first + (at - mine) : NULL;
    }
    return NULL;
}

/* One device in a loop: the address, if it is in an argument that no result is written over. */
static const char *in_own_argument(const Frame *frame, const Program *p, const char *at)
{
    for (int i = 0; i < p->nargs; i++) {
        const char *mine = frame->args[i];
        if (at < mine || at >= mine + type_bytes(p->args[i].local))
            continue;
        for (int j = 0; j < p->nresults; j++)
            if (frame->outs[j] == mine)
                return NULL;
        return at;
    }
    return NULL;
}

static SharedPacking *find(const Run *run, PackingSource source)
{
    SharedPacking *packing = run->packings;
    while (packing && !is_same_matrix(packing->source, source))
        packing = packing->below;
    return packing;
}

static void packing_free(Run *run, SharedPacking *packing)
{
    memory_give(run->executor->scratch, packing->data, packing->bytes);
    free(packing);
}

static SharedPacking *packing_new(Run *run, PackingSource source, size_t bytes, int64_t nslices)
{
    SharedPacking *packing = calloc(1, sizeof *packing);
    Error *error = packing ? memory_take(run->executor->scratch, bytes, &packing->data) : NULL;
    if (!packing || error) {
        error_free(error);
        free(packing);
        return NULL;
    }
    packing->source = source;
    packing->bytes = bytes;
    packing->nslices = nslices;
    atomic_init(&packing->nleft, (int)nslices);
    return packing;
}

/* A thread holds one lock at a time, so the memory is taken between two looks. */
static SharedPacking *find_or_make(Run *run, PackingSource source, size_t bytes, int64_t nslices)
{
    lock_take(&run->lock); /* also in a single-threaded run: idle workers help with slices */
    SharedPacking *packing = find(run, source);
    lock_give(&run->lock);
    if (packing)
        return packing;
    SharedPacking *mine = packing_new(run, source, bytes, nslices);
    lock_take(&run->lock);
    packing = find(run, source);
    if (!packing && mine) {
        mine->below = run->packings;
        run->packings = mine;
    }
    lock_give(&run->lock);
    if (packing && mine)
        packing_free(run, mine);
    return packing ? packing : mine;
}

SharedPacking *shared_packing_get(const Frame *frame, PackingSource *source, size_t bytes,
                                  int64_t nslices)
{
    const Task *t = frame ? frame->task : NULL;
    /* the body of a tutti.global runs on one device, with a program of its own */
    const Program *p = frame ? frame->program : NULL;
    if (!t || !p || p != t->run->program || (p->ndevices < 2 && !p->has_loops))
        return NULL;
    const void *at = p->ndevices < 2 ? in_own_argument(frame, p, source->at)
                                     : at_first_device(frame, t->run, source->at);
    if (!at)
        return NULL;
    source->at = at;
    return find_or_make(t->run, *source, bytes, nslices);
}

void *shared_packing_data(const SharedPacking *packing)
{
    return packing->data;
}

void shared_packing_fill(SharedPacking *packing, SliceFn *f, void *user)
{
    int64_t i;
    int n;
    /* relaxed: the source was there before; nleft gives what was made of it */
    while ((i = atomic_fetch_add_explicit(&packing->next, 1, memory_order_relaxed)) <
           packing->nslices) {
        f(user, i);
        /* release: pairs with the acquire below */
        if (atomic_fetch_sub_explicit(&packing->nleft, 1, memory_order_release) == 1)
            address_wake(&packing->nleft, WAKE_ALL);
    }
    /* acquire: pairs with the release above */
    for (int spins = 0; (n = atomic_load_explicit(&packing->nleft, memory_order_acquire)); spins++)
        if (spins < SPINS)
            spin_pause();
        else
            address_wait(&packing->nleft, n);
}

void shared_packing_free_all(Run *run)
{
    while (run->packings) {
        SharedPacking *packing = run->packings;
        run->packings = packing->below;
        packing_free(run, packing);
    }
}
