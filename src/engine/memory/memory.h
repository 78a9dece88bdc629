/* memory.h - the memory of devices: a caching allocator, and counted storage.
 *
 * Fresh pages cost more than most kernels, so what is freed is kept by size class and handed
 * out again.  Each device counts what is alive, its peak, and refuses past its limit. */
#ifndef TUTTI_ENGINE_MEMORY_MEMORY_H
#define TUTTI_ENGINE_MEMORY_MEMORY_H
#include "base/error.h"
#include "ops/type.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct Memory Memory; /* of one device; any thread may call */

Memory *memory_new(int device, size_t limit_bytes); /* limit 0: none; NULL: no memory */
void memory_free(Memory *memory);                   /* what is still alive stays valid */

typedef struct MemoryStats {
    size_t bytes_in_use, peak_bytes, limit_bytes;
    size_t idle_bytes;        /* kept to be used again */
    size_t largest_bytes;     /* of one block */
    int64_t nallocs, nreused; /* calls, and those served from the cache */
} MemoryStats;
MemoryStats memory_stats(const Memory *memory);

/* Raw blocks, 64-byte aligned, contents undefined: slabs.  `bytes` again at the end.
 * RESOURCE_EXHAUSTED names the device, the size asked, the size left and the largest arrays
 * alive. */
MUST_USE Error *memory_take(Memory *memory, size_t bytes, void **out);
void memory_give(Memory *memory, void *block, size_t bytes);

/* Counted memory that buffers stand on: values, running executions, outside views. */
typedef struct Storage {
    void *data;
    size_t bytes;
    Memory *memory;                         /* charged for it; NULL: foreign memory */
    struct Storage *lender;                 /* whose data it is, which it holds; NULL: its own */
    _Atomic int holders;                    /* any thread */
    int nabandoned;                          /* of them, runs to stop: unwanted.c, its lock */
    Type type;                              /* for messages; dims point into dims_ */
    struct Storage *next, **link;           /* of all that the memory is charged for */
    void (*on_end)(void *data, void *user); /* foreign memory: called when the last lets go */
    void *user;
    int64_t dims_[];                        /* [type.rank] */
} Storage;

MUST_USE Error *storage_new(Memory *memory, Type type, Storage **out);
int storage_holders(const Storage *storage);
/* The data of `lender`, to be read only, charged to `memory` too. */
MUST_USE Error *storage_lend(Memory *memory, Type type, Storage *lender, Storage **out);
/* Foreign memory; on_end: NULL, or called when the last lets go.  NULL: no memory for the books. */
Storage *storage_foreign(void *data, size_t bytes, void (*on_end)(void *, void *), void *user);
Storage *storage_hold(Storage *storage);
void storage_release(Storage *storage);
bool storage_is_alone(const Storage *storage); /* one holder of its own data: may be written */
#endif
