/* memory.h - the memory of devices: a caching allocator, and counted storage.
 *
 * Fresh pages cost more than most kernels, so freed blocks are kept by size class and handed out
 * again. Each device counts the bytes alive and their peak, and refuses more than its limit. */
#ifndef TUTTI_ENGINE_MEMORY_MEMORY_H
#define TUTTI_ENGINE_MEMORY_MEMORY_H
#include "base/error.h"
#include "ops/type.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct Memory Memory; /* of one device; any thread may call its functions */

Memory *memory_new(int device, size_t limit_bytes); /* limit 0: none; NULL: no memory */
/* Where a Memory has its blocks from instead of the system: take gives memory at a multiple of 64, or
 * NULL, and give gets the same back.  Any thread calls them, under a lock: they call nothing of ours. */
typedef struct Supply {
    void *(*take)(void *user, size_t bytes);
    void (*give)(void *user, void *at, size_t bytes);
    void *user;
} Supply;
void memory_supply(Memory *memory, const Supply *supply); /* before its first use */
void memory_name(Memory *memory, int device); /* before its first use: how messages call it */
void memory_free(Memory *memory);             /* blocks that are out stay valid */

typedef struct MemoryStats {
    size_t bytes_in_use, peak_bytes, limit_bytes;
    size_t idle_bytes; /* kept to be used again */
    size_t pool_bytes; /* its own, in use or idle: without what other devices lend */
    size_t peak_pool_bytes;
    size_t largest_bytes;     /* of one block */
    int64_t nallocs, nreused; /* calls, and those served from the cache */
} MemoryStats;
MemoryStats memory_stats(const Memory *memory);

/* Raw blocks, 64-byte aligned, contents undefined: slabs.  memory_give must get the `bytes` of the
 * memory_take.  RESOURCE_EXHAUSTED names the device, the size asked, the size left and the largest
 * arrays alive. */
MUST_USE Error *memory_take(Memory *memory, size_t bytes, void **out);
void memory_give(Memory *memory, void *block, size_t bytes);

bool memory_is_limited(const Memory *memory);
/* What a block of so many bytes takes, and whether blocks that take so much would not pass the limit now. */
size_t memory_rounded(size_t bytes);
bool memory_has_room(Memory *memory, size_t bytes);

/* Counted memory.  Holders: buffers, runs, transfers, views of callers. */
typedef struct Storage {
    void *data;
    size_t bytes;
    Memory *memory;                         /* charged for it; NULL: foreign memory */
    size_t charged;                         /* so much; under its lock */
    struct Storage *lender;                 /* held: `data` is its; NULL: `data` is ours */
    _Atomic int holders;                    /* any thread */
    int nabandoned;                         /* of them, runs to stop; under the executor's lock */
    Type type;                              /* for messages; dims point into dims_ */
    struct Storage *next, **link;           /* of all charged to `memory`; under its lock */
    void (*on_end)(void *data, void *user); /* foreign memory: called at the last release */
    void *user;
    int64_t dims_[]; /* [type.rank] */
} Storage;

MUST_USE Error *storage_new(Memory *memory, Type type, Storage **out);
int storage_holders(const Storage *storage);
/* The data of `lender`, to be read only.  ndevices have it as one, and each is charged for as much of it:
 * `memory` from here on, instead of the lender's, until the last release. */
MUST_USE Error *storage_lend(Memory *memory, Type type, Storage *lender, int ndevices,
                             Storage **out);
/* Foreign memory; on_end: NULL, or called at the last release.  Returns NULL without memory for
 * the Storage itself. */
Storage *storage_foreign(void *data, size_t bytes, void (*on_end)(void *, void *), void *user);
Storage *storage_hold(Storage *storage);
void storage_release(Storage *storage);
/* Does it have one holder and data of its own?  Then that holder may write it. */
bool storage_is_alone(const Storage *storage);

/* Memory that is kept but not in use: under the address sanitizer a touch of it is reported. */
#if defined __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#define MEMORY_POISON(at, n) __asan_poison_memory_region(at, n)
#define MEMORY_UNPOISON(at, n) __asan_unpoison_memory_region(at, n)
#else
#define MEMORY_POISON(at, n) ((void)(at), (void)(n))
#define MEMORY_UNPOISON(at, n) ((void)(at), (void)(n))
#endif
#endif
