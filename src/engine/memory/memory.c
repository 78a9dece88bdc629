/* memory.c - the memory of one device: blocks by size class, kept when they are given back; and the
 * counted storage made of them.
 *
 *     bytes asked -> class -> list of free blocks of that class, newest first
 *                               | empty
 *                               v
 *               up to 32 KiB: the next bytes of a chunk of 256 KiB
 *               above:        pages of their own (on huge pages from 2 MiB on; blocks of 512 KiB
 *                             and 1 MiB share one)
 *
 * Classes are 64, 128, ..., 512 bytes and from there eight to each doubling, so at most an
 * eighth of a block is waste.  Chunks stay until the Memory ends: they hold as many blocks of
 * each small class as were ever out at once.  Idle pages go back to the system when they would
 * exceed both MAX_IDLE and the peak of bytes in use, and before idle and used bytes together
 * exceed the limit. */
#include "engine/memory/memory.h"

#include "base/sync.h"
#include "base/text.h"
#include "engine/floats.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum {
    LINE = 64,
    LARGEST_SMALL = 32 << 10,
    CHUNK = 256 << 10,
    HUGE_PAGE = 2 << 20,
    SMALLEST_SHARING = 512 << 10, /* blocks from this size on that divide a huge page share one */
    MAX_IDLE = 512 << 20,
    NCLASSES = 8 + 8 * 54,
};
static const size_t LARGEST_BLOCK = (size_t)1 << 62;

/* The first bytes of an idle block or of a chunk. */
typedef struct Link {
    struct Link *next;
} Link;

struct Memory {
    int device;    /* set once */
    size_t limit;  /* set once; 0: none */
    Supply supply; /* set once; without functions: the system */
    Lock lock;     /* of all below */
    bool is_closed;
    int64_t nlive; /* blocks out */
    size_t in_use, peak, idle_bytes, idle_pages, largest;
    size_t borrowed;  /* of what is in use: others' memory less what they have of its; wraps */
    size_t peak_pool; /* own memory, in use or idle */
    int64_t nallocs, nreused;
    Storage *storages; /* alive */
    Link *chunks;
    char *chunk_next, *chunk_end; /* what is left of the newest chunk */
    Link *idle[NCLASSES];
};

/* The class of n lines: 1..8 are classes of their own; then by the three bits after the first. */
static int class_of(size_t bytes, size_t *rounded)
{
    size_t n = bytes <= LINE ? 1 : (bytes + LINE - 1) / LINE;
    if (n <= 8) {
        *rounded = n * LINE;
        return (int)n - 1;
    }
    int shift = 63 - __builtin_clzll(n - 1) - 3;
    size_t eighths = (n - 1) >> shift; /* 8..15 */
    *rounded = ((eighths + 1) << shift) * LINE;
    return 8 + shift * 8 + (int)eighths - 8;
}

Memory *memory_new(int device, size_t limit_bytes)
{
    Memory *memory = calloc(1, sizeof *memory);
    if (!memory)
        return NULL;
    memory->device = device;
    memory->limit = limit_bytes;
    return memory;
}

void memory_name(Memory *memory, int device)
{
    memory->device = device;
}

void memory_supply(Memory *memory, const Supply *supply)
{
    memory->supply = *supply;
}

static void *pages_new(const Supply *supply, size_t bytes)
{
    if (supply->take)
        return supply->take(supply->user, bytes);
    size_t slack = bytes >= HUGE_PAGE ? HUGE_PAGE : 0;
    char *at =
        mmap(NULL, bytes + slack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED)
        return NULL;
    if (!slack)
        return at;
    size_t head = -(uintptr_t)at & (HUGE_PAGE - 1);
    if (head)
        munmap(at, head);
    if (slack - head)
        munmap(at + head + bytes, slack - head);
    madvise(at + head, bytes, MADV_HUGEPAGE);
    return at + head;
}

static void pages_free(const Supply *supply, void *at, size_t bytes)
{
    MEMORY_UNPOISON(at, bytes);
    if (supply->give)
        supply->give(supply->user, at, bytes);
    else
        munmap(at, bytes);
}

static void *chunk_new(const Supply *supply)
{
    return supply->take ? supply->take(supply->user, CHUNK) : aligned_alloc(LINE, CHUNK);
}

static void chunk_free(const Supply *supply, void *chunk)
{
    MEMORY_UNPOISON(chunk, CHUNK);
    if (supply->give)
        supply->give(supply->user, chunk, CHUNK);
    else
        free(chunk);
}

/* Gives the idle pages of all classes back to the system.  The lock is held. */
static void trim(Memory *memory)
{
    size_t rounded;
    for (int bin = class_of(LARGEST_SMALL + 1, &rounded); bin < NCLASSES; bin++) {
        int shift = (bin - 8) / 8;
        rounded = ((size_t)((bin - 8) % 8 + 9) << shift) * LINE;
        while (memory->idle[bin]) {
            Link *block = memory->idle[bin];
            memory->idle[bin] = block->next;
            pages_free(&memory->supply, block, rounded);
        }
    }
    memory->idle_bytes -= memory->idle_pages;
    memory->idle_pages = 0;
}

/* Every block has been given back, and memory_free has been called. */
static void memory_end(Memory *memory)
{
    trim(memory);
    while (memory->chunks) {
        Link *chunk = memory->chunks;
        memory->chunks = chunk->next;
        chunk_free(&memory->supply, chunk);
    }
    free(memory);
}

void memory_free(Memory *memory)
{
    if (!memory)
        return;
    lock_take(&memory->lock);
    memory->is_closed = true;
    bool is_last = memory->nlive == 0;
    lock_give(&memory->lock);
    if (is_last)
        memory_end(memory);
}

static size_t pool_bytes(const Memory *memory)
{
    return memory->in_use - memory->borrowed + memory->idle_bytes;
}

MemoryStats memory_stats(const Memory *memory)
{
    Memory *m = (Memory *)memory;
    lock_take(&m->lock);
    MemoryStats stats = { m->in_use,    m->peak,    m->limit,   m->idle_bytes, pool_bytes(m),
                          m->peak_pool, m->largest, m->nallocs, m->nreused };
    lock_give(&m->lock);
    return stats;
}

/* Puts a block on the list of its class; the lock is held. */
static void keep(Memory *memory, int bin, void *block, size_t rounded)
{
    MEMORY_UNPOISON(block, sizeof(Link));
    ((Link *)block)->next = memory->idle[bin];
    memory->idle[bin] = block;
    MEMORY_POISON((char *)block + sizeof(Link), rounded - sizeof(Link));
    memory->idle_bytes += rounded;
    if (rounded > LARGEST_SMALL)
        memory->idle_pages += rounded;
}

/* Pages for one block; or a huge page that blocks of the class share, whose others become idle. */
static void *fresh_pages(Memory *memory, int bin, size_t rounded)
{
    bool shares = rounded >= SMALLEST_SHARING && rounded < HUGE_PAGE && HUGE_PAGE % rounded == 0 &&
                  !memory->supply.take; /* which gets back what it gave */
    size_t bytes = shares ? HUGE_PAGE : rounded;
    char *at = pages_new(&memory->supply, bytes);
    if (!at && memory->idle_pages) {
        trim(memory);
        at = pages_new(&memory->supply, bytes);
    }
    for (size_t next = rounded; at && next < bytes; next += rounded)
        keep(memory, bin, at + next, rounded);
    return at;
}

/* A block that was never handed out before; the lock is held. */
static void *fresh_block(Memory *memory, int bin, size_t rounded)
{
    if (rounded > LARGEST_SMALL)
        return fresh_pages(memory, bin, rounded);
    if ((size_t)(memory->chunk_end - memory->chunk_next) < rounded) {
        Link *chunk = chunk_new(&memory->supply);
        if (!chunk)
            return NULL;
        chunk->next = memory->chunks;
        memory->chunks = chunk;
        memory->chunk_next = (char *)chunk + LINE;
        memory->chunk_end = (char *)chunk + CHUNK;
        MEMORY_POISON(memory->chunk_next, CHUNK - LINE);
    }
    void *at = memory->chunk_next;
    memory->chunk_next += rounded;
    return at;
}

/* Idle pages are not kept beyond the limit; the small blocks of chunks are.  The lock is held. */
static void trim_to_limit(Memory *memory)
{
    if (memory->limit && memory->idle_pages && memory->in_use + memory->idle_bytes > memory->limit)
        trim(memory);
}

/* charged: what of a block of so many bytes counts here. */
static void charge(Memory *memory, size_t rounded, size_t charged, bool is_lent)
{
    memory->nallocs++;
    memory->nlive++;
    memory->in_use += charged;
    memory->borrowed += is_lent ? charged : 0;
    if (memory->in_use > memory->peak)
        memory->peak = memory->in_use;
    if (pool_bytes(memory) > memory->peak_pool)
        memory->peak_pool = pool_bytes(memory);
    if (rounded > memory->largest)
        memory->largest = rounded;
}

static void *take_block(Memory *memory, int bin, size_t rounded)
{
    Link *block = memory->idle[bin];
    if (!block)
        return fresh_block(memory, bin, rounded);
    memory->idle[bin] = block->next;
    memory->nreused++;
    memory->idle_bytes -= rounded;
    if (rounded > LARGEST_SMALL)
        memory->idle_pages -= rounded;
    return block;
}

static bool has_room(const Memory *memory, size_t rounded)
{
    return !memory->limit ||
           (rounded <= memory->limit && memory->in_use <= memory->limit - rounded);
}

bool memory_is_limited(const Memory *memory)
{
    return memory->limit != 0;
}

size_t memory_rounded(size_t bytes)
{
    size_t rounded = bytes;
    if (bytes <= LARGEST_BLOCK)
        class_of(bytes, &rounded);
    return rounded;
}

bool memory_has_room(Memory *memory, size_t bytes)
{
    lock_take(&memory->lock);
    bool room = has_room(memory, bytes);
    lock_give(&memory->lock);
    return room;
}

/* "; the largest alive: f32[1000] (4000 bytes), ...", at most three; nothing if there are none. */
static void describe_largest(Memory *memory, Text *out)
{
    enum { SHOWN = 3 };
    const Storage *largest[SHOWN] = { 0 };
    lock_take(&memory->lock);
    for (const Storage *s = memory->storages; s; s = s->next)
        for (int i = 0; i < SHOWN; i++)
            if (!largest[i] || s->bytes > largest[i]->bytes) {
                memmove(largest + i + 1, largest + i, sizeof *largest * (size_t)(SHOWN - 1 - i));
                largest[i] = s;
                break;
            }
    for (int i = 0; i < SHOWN && largest[i]; i++)
        text_printf(out, "%s%s (%zu bytes)",
                    i ? ", " : "; the largest alive: ", type_name(largest[i]->type),
                    largest[i]->bytes);
    lock_give(&memory->lock);
}

/* bytes: asked for; block: what they take, being rounded up. */
static Error *exhausted(Memory *memory, size_t bytes, size_t block)
{
    MemoryStats s = memory_stats(memory);
    size_t left = s.bytes_in_use < s.limit_bytes ? s.limit_bytes - s.bytes_in_use : 0;
    Text text = { .is_message = true };
    text_printf(&text, "device %d: %zu bytes asked, ", memory->device, bytes);
    if (s.limit_bytes && bytes <= left)
        text_printf(&text, "which take %zu, ", block);
    if (s.limit_bytes)
        text_printf(&text, "%zu left of %zu (TUTTI_DEVICE_MEMORY)", left, s.limit_bytes);
    else
        text_printf(&text, "and the system has no more; %zu are in use", s.bytes_in_use);
    describe_largest(memory, &text);
    Error *error = error_new(CODE_EXHAUSTED, "%s", text_cstr(&text));
    text_free(&text);
    return error;
}

static void link_storage(Memory *memory, Storage *storage)
{
    storage->next = memory->storages;
    storage->link = &memory->storages;
    if (storage->next)
        storage->next->link = &storage->next;
    memory->storages = storage;
}

static void unlink_storage(Storage *storage)
{
    *storage->link = storage->next;
    if (storage->next)
        storage->next->link = storage->link;
}

/* storage: NULL, or the one that the block is for.  Lent data needs no block: a share of it is
 * charged. */
static Error *take(Memory *memory, size_t bytes, Storage *storage, void **out)
{
    if (bytes > LARGEST_BLOCK)
        return exhausted(memory, bytes, bytes);
    size_t rounded;
    int bin = class_of(bytes, &rounded);
    bool is_lent = storage && storage->lender;
    size_t charged = is_lent ? storage->charged : rounded;
    void *block = NULL;
    if (storage)
        storage->charged = charged;
    lock_take(&memory->lock);
    if (has_room(memory, charged))
        block = is_lent ? storage->lender->data : take_block(memory, bin, rounded);
    if (block) {
        charge(memory, rounded, charged, is_lent);
        trim_to_limit(memory);
    }
    if (block && storage)
        link_storage(memory, storage);
    lock_give(&memory->lock);
    if (!block)
        return exhausted(memory, bytes, rounded);
    if (!is_lent)
        MEMORY_UNPOISON(block, bytes);
    *out = block;
    return NULL;
}

Error *memory_take(Memory *memory, size_t bytes, void **out)
{
    return take(memory, bytes, NULL, out);
}

static void give(Memory *memory, void *block, size_t bytes, Storage *storage)
{
    size_t rounded;
    int bin = class_of(bytes, &rounded);
    bool has_own_pages = rounded > LARGEST_SMALL, is_lent = storage && storage->lender;
    lock_take(&memory->lock);
    size_t charged = storage ? storage->charged : rounded;
    if (storage)
        unlink_storage(storage);
    memory->in_use -= charged;
    memory->borrowed -= is_lent ? charged : 0; /* nobody borrows it any more */
    size_t most = memory->peak > MAX_IDLE ? memory->peak : MAX_IDLE;
    bool keeps = !is_lent && (!has_own_pages || rounded <= most);
    if (keeps && has_own_pages && memory->idle_pages + rounded > most)
        trim(memory); /* the block given back last is the likeliest to be taken next */
    if (keeps)
        keep(memory, bin, block, rounded);
    bool is_last = --memory->nlive == 0 && memory->is_closed;
    Supply supply = memory->supply; /* the last block of another thread may end the Memory now */
    lock_give(&memory->lock);
    if (!keeps && !is_lent)
        pages_free(&supply, block, rounded);
    if (is_last)
        memory_end(memory);
}

void memory_give(Memory *memory, void *block, size_t bytes)
{
    give(memory, block, bytes, NULL);
}

/* charged: of what `lender` has, if there is one. */
static Error *storage_begin(Memory *memory, Type type, Storage *lender, size_t charged,
                            Storage **out)
{
    Storage *storage = malloc(sizeof *storage + sizeof *type.dims * (size_t)type.rank);
    if (!storage)
        return error_new(CODE_EXHAUSTED, "no memory for the books of an array %s on device %d",
                         type_name(type), memory->device);
    *storage = (Storage){ .bytes = type_bytes(type),
                          .memory = memory,
                          .charged = charged,
                          .lender = lender,
                          .holders = 1,
                          .type = type };
    storage->type.dims = storage->dims_;
    for (int i = 0; i < storage->type.rank; i++)
        storage->dims_[i] = type.dims[i];
    Error *error = take(memory, storage->bytes, storage, &storage->data);
    if (error)
        free(storage);
    else
        *out = storage;
    return error;
}

Error *storage_new(Memory *memory, Type type, Storage **out)
{
    return storage_begin(memory, type, NULL, 0, out);
}

/* The lender's device is charged for so much more, or less (then it wraps). */
static void charge_lender(Storage *lender, size_t bytes)
{
    Memory *memory = lender->memory;
    if (!memory)
        return;
    lock_take(&memory->lock);
    lender->charged += bytes;
    memory->in_use += bytes;
    memory->borrowed += bytes;
    if (memory->in_use > memory->peak)
        memory->peak = memory->in_use;
    lock_give(&memory->lock);
}

Error *storage_lend(Memory *memory, Type type, Storage *lender, int ndevices, Storage **out)
{
    size_t share = memory_rounded(lender->bytes) / (size_t)ndevices;
    TRY(storage_begin(memory, type, lender, share, out));
    storage_hold(lender);
    charge_lender(lender, -share);
    return NULL;
}

Storage *storage_foreign(void *data, size_t bytes, void (*on_end)(void *, void *), void *user)
{
    Storage *storage = malloc(sizeof *storage);
    if (!storage)
        return NULL;
    *storage =
        (Storage){ .data = data, .bytes = bytes, .holders = 1, .on_end = on_end, .user = user };
    return storage;
}

Storage *storage_hold(Storage *storage)
{
    /* relaxed: the caller's own hold keeps it alive */
    atomic_fetch_add_explicit(&storage->holders, 1, memory_order_relaxed);
    return storage;
}

static void give_to_owner(const Storage *storage)
{
    Floats before = floats_enter_foreign();
    storage->on_end(storage->data, storage->user);
    floats_restore(before);
}

void storage_release(Storage *storage)
{
    /* acquire and release: the last release comes after what all other holders did to the bytes */
    if (!storage || atomic_fetch_sub_explicit(&storage->holders, 1, memory_order_acq_rel) != 1)
        return;
    if (storage->memory)
        give(storage->memory, storage->data, storage->bytes, storage);
    else if (storage->on_end)
        give_to_owner(storage);
    if (storage->lender)
        charge_lender(storage->lender, storage->charged);
    storage_release(storage->lender);
    free(storage);
}

int storage_holders(const Storage *storage)
{
    /* acquire: pairs with the release in storage_release, for what former holders read */
    return atomic_load_explicit(&storage->holders, memory_order_acquire);
}

bool storage_is_alone(const Storage *storage)
{
    return !storage->lender && storage_holders(storage) == 1;
}
