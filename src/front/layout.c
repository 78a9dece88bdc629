/* layout.c - interned layouts: a list of devices and a tiling, one pointer for equal ones. */
#include "base/arena.h"
#include "base/fail.h"
#include "base/sync.h"
#include "base/table.h"
#include "front/array.h"

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

const Layout *layout_intern(int ndevices, const int *devices, Tiling tiling)
{
    if (tiling.rank && tiling_is_replicated(tiling))
        tiling = (Tiling){ .ndevices = ndevices };
    Text key = { 0 };
    text_add(&key, &ndevices, sizeof ndevices);
    text_add(&key, devices, sizeof *devices * (size_t)ndevices);
    text_add(&key, tiling.tiles, sizeof *tiling.tiles * (size_t)tiling.rank);
    text_add(&key, tiling.tile_of, sizeof *tiling.tile_of * (size_t)tiling.rank * (size_t)ndevices);
    pthread_mutex_lock(&lock);
    uint64_t found = 0;
    if (!table_get(&table, key.at, key.n, &found)) {
        if (!arena)
            arena = arena_new();
        found = (uint64_t)(uintptr_t)copy(ndevices, devices, tiling);
        table_set(&table, key.at, key.n, found);
    }
    pthread_mutex_unlock(&lock);
    text_free(&key);
    return (const Layout *)(uintptr_t)found;
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
        if (!device)
            atomic_store_explicit(&first, l, memory_order_release);
    }
    return l;
}
