/* shared_packing.c - an operand that all devices of a run have alike, packed once for all of them. */
#include "engine/shared_packing.h"

#include "engine/exec/executor.h"

#include <stdlib.h>

struct SharedPacking {
    PackingSource what;
    void *data;
    size_t bytes;
    int64_t npieces;
    _Atomic int64_t next; /* piece not yet taken; any thread */
    _Atomic int nleft;    /* pieces not yet done; any thread, who waits sleeps on it */
    SharedPacking *below;          /* under the run's lock */
};

static bool same_matrix(PackingSource x, PackingSource y)
{
    return x.at == y.at && x.rows == y.rows && x.cols == y.cols && x.row == y.row &&
           x.col == y.col && x.element_bytes == y.element_bytes;
}

/* From this device's own to the first one's, which may be read if it is the same memory, or was
 * there when the run was launched.  NULL: it is in no argument that all have alike. */
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

static SharedPacking *find(const Run *run, PackingSource what)
{
    SharedPacking *pack = run->packings;
    while (pack && !same_matrix(pack->what, what))
        pack = pack->below;
    return pack;
}

static void pack_free(Run *run, SharedPacking *pack)
{
    memory_give(run->executor->scratch, pack->data, pack->bytes);
    free(pack);
}

static SharedPacking *pack_new(Run *run, PackingSource what, size_t bytes, int64_t npieces)
{
    SharedPacking *pack = calloc(1, sizeof *pack);
    Error *error = pack ? memory_take(run->executor->scratch, bytes, &pack->data) : NULL;
    if (!pack || error) {
        error_free(error);
        free(pack);
        return NULL;
    }
    pack->what = what;
    pack->bytes = bytes;
    pack->npieces = npieces;
    atomic_init(&pack->nleft, (int)npieces);
    return pack;
}

/* Nobody holds two locks, so the memory is taken between two looks. */
static SharedPacking *find_or_make(Run *run, PackingSource what, size_t bytes, int64_t npieces)
{
    lock_take(&run->lock); /* also of a run that is played alone: idle workers help with slices */
    SharedPacking *pack = find(run, what);
    lock_give(&run->lock);
    if (pack)
        return pack;
    SharedPacking *mine = pack_new(run, what, bytes, npieces);
    lock_take(&run->lock);
    pack = find(run, what);
    if (!pack && mine) {
        mine->below = run->packings;
        run->packings = mine;
    }
    lock_give(&run->lock);
    if (pack && mine)
        pack_free(run, mine);
    return pack ? pack : mine;
}

SharedPacking *shared_packing_get(const Frame *frame, PackingSource *what, size_t bytes, int64_t npieces)
{
    const Task *t = frame ? frame->task : NULL;
    /* code over whole arrays is played by one device, with a program of its own */
    if (!t || !frame->program || frame->program != t->run->program || frame->program->ndevices < 2)
        return NULL;
    const void *at = at_first_device(frame, t->run, what->at);
    if (!at)
        return NULL;
    what->at = at;
    return find_or_make(t->run, *what, bytes, npieces);
}

void *shared_packing_data(const SharedPacking *pack)
{
    return pack->data;
}

void shared_packing_fill(SharedPacking *pack, SliceFn *f, void *user)
{
    int64_t i;
    int n;
    /* relaxed: what is to be read was there before; nleft gives what was made of it */
    while ((i = atomic_fetch_add_explicit(&pack->next, 1, memory_order_relaxed)) < pack->npieces) {
        f(user, i);
        /* release: pairs with the acquire below */
        if (atomic_fetch_sub_explicit(&pack->nleft, 1, memory_order_release) == 1)
            address_wake(&pack->nleft, WAKE_ALL);
    }
    /* acquire: pairs with the release above */
    for (int spins = 0; (n = atomic_load_explicit(&pack->nleft, memory_order_acquire)); spins++)
        if (spins < SPINS)
            spin_pause();
        else
            address_wait(&pack->nleft, n);
}

void shared_packing_free_all(Run *run)
{
    while (run->packings) {
        SharedPacking *pack = run->packings;
        run->packings = pack->below;
        pack_free(run, pack);
    }
}
