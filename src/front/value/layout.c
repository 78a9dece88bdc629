/* layout.c - interned layouts: a list of devices and a tiling, one pointer for equal ones. */
#include "base/arena.h"
#include "base/guard.h"
#include "base/sync.h"
#include "base/table.h"
#include "front/value/array.h"
#include "front/value/intern.h"
#include "front/value/report.h"

#include <pthread.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards the two below */
static Table table;
static Arena *arena; /* layouts live for ever: as many as there are meshes and ways to cut along
                      * their axes, whatever the shapes of what is cut */

bool layout_is_whole(const Layout *l)
{
    return l->tiling.rank == 0;
}

static Layout *copy(int ndevices, const int *devices, Tiling t)
{
    Layout *l = ARENA_NEW(arena, Layout);
    size_t rank = (size_t)t.rank;
    l->ndevices = ndevices;
    l->devices = arena_copy(arena, devices, sizeof *devices * (size_t)ndevices);
    l->tiling = (Tiling){
        .rank = t.rank,
        .ndevices = ndevices,
        .tiles = arena_copy(arena, t.tiles, sizeof *t.tiles * rank),
        .tile_of = arena_copy(arena, t.tile_of, sizeof *t.tile_of * rank * (size_t)ndevices),
    };
    return l;
}

typedef struct Wanted {
    int ndevices;
    const int *devices;
    Tiling tiling;
    const Layout *found;
} Wanted;

static void make_layout(void *user)
{
    Wanted *w = user;
    w->found = copy(w->ndevices, w->devices, w->tiling);
}

static void find(void *user)
{
    Wanted *w = user;
    Tiling t = w->tiling;
    size_t rank = (size_t)t.rank, n = (size_t)w->ndevices;
    Text key = { 0 };
    text_add(&key, &w->ndevices, sizeof w->ndevices);
    text_add(&key, w->devices, sizeof *w->devices * n);
    text_add(&key, t.tiles, sizeof *t.tiles * rank);
    text_add(&key, t.tile_of, sizeof *t.tile_of * rank * n);
    uint64_t found = 0;
    Error *error = NULL;
    if (!table_get(&table, key.at, key.n, &found)) {
        error = intern_arena(&arena);
        if (!error)
            error = guard_run_in(NULL, "a layout", make_layout, w);
        if (!error)
            error = intern_put(&table, key.at, key.n, w->found);
    } else {
        w->found = (const Layout *)(uintptr_t)found;
    }
    text_free(&key);
    if (error) {
        w->found = NULL;
        error_free(error);
    }
}

const Layout *layout_intern(int ndevices, const int *devices, Tiling tiling)
{
    if (tiling.rank && tiling_is_replicated(tiling))
        tiling = (Tiling){ .ndevices = ndevices };
    Wanted w = { ndevices, devices, tiling, NULL };
    pthread_mutex_lock(&lock);
    Error *error = guard_run_in(NULL, "a layout", find, &w);
    pthread_mutex_unlock(&lock);
    error_free(error);
    if (error || !w.found)
        return report_broken("no memory on the host for a layout on %d devices", ndevices), NULL;
    return w.found;
}

const Layout *layout_replicated(int ndevices, const int *devices)
{
    return layout_intern(ndevices, devices, (Tiling){ .ndevices = ndevices });
}

const Layout *layout_single(int device)
{
    /* Nearly every value lies on the first device. */
    static const Layout *_Atomic first;
    const Layout *l = device ? NULL : atomic_load_explicit(&first, memory_order_acquire);
    if (!l) {
        l = layout_replicated(1, &device);
        if (!device && l)
            atomic_store_explicit(&first, l, memory_order_release);
    }
    return l;
}
