/* memory.c - scratch memory: a list of blocks of the heap; interned memory: tables and arenas. */
#include "front/value/memory.h"

#include "base/guard.h"
#include "base/sync.h"
#include "front/value/report.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* ---- scratch ---- */

typedef struct ScratchBlock {
    struct ScratchBlock *next;
    size_t used, room;
    _Alignas(16) char bytes[];
} ScratchBlock;

enum { BLOCK_ROOM = 64 << 10 }; /* so that several lists share one */

void *scratch_block(Scratch *s, size_t bytes)
{
    if (bytes > SIZE_MAX / 2)
        return NULL;
    bytes = (bytes + 15) & ~(size_t)15; /* what is taken next is aligned too */
    ScratchBlock *block = s->blocks;
    if (!block || bytes > block->room - block->used) {
        size_t room = bytes > BLOCK_ROOM / 4 ? bytes : BLOCK_ROOM;
        block = malloc(sizeof *block + room);
        if (!block)
            return NULL;
        *block = (ScratchBlock){ .next = s->blocks, .room = room };
        s->blocks = block;
    }
    void *at = block->bytes + block->used;
    block->used += bytes;
    return at;
}

void scratch_end_blocks(ScratchBlock *blocks)
{
    while (blocks) {
        ScratchBlock *next = blocks->next;
        free(blocks);
        blocks = next;
    }
}

/* ---- interned ---- */

typedef struct Entry {
    Table *table;
    const void *key;
    size_t n;
    const void *value;
} Entry;

static void set_entry(void *user)
{
    const Entry *e = user;
    table_set(e->table, e->key, e->n, (uint64_t)(uintptr_t)e->value);
}

Error *intern_put(Table *table, const void *key, size_t n, const void *value)
{
    Entry entry = { table, key, n, value };
    Error *error = guard_run_in(NULL, "a name", set_entry, &entry);
    if (error && !table->n)
        *table = (Table){ 0 }; /* all that it had was new, and is gone */
    return error;
}

static void make_arena(void *user)
{
    Arena **out = user;
    *out = arena_new();
}

Error *intern_arena(Arena **arena)
{
    Arena *made = *arena;
    Error *error = made ? NULL : guard_run_in(NULL, "an arena", make_arena, &made);
    if (!error)
        *arena = made;
    return error;
}

static Lock bytes_lock;   /* guards bytes_table */
static Table bytes_table; /* interned bytes, strings among them */

const void *intern_bytes(const void *bytes, size_t n)
{
    uint64_t found = 0;
    Error *error = NULL;
    lock_take(&bytes_lock);
    if (!table_get(&bytes_table, bytes, n, &found)) {
        char *copy = malloc(n + 1);
        if (copy) {
            memcpy(copy, bytes, n);
            copy[n] = 0;
            error = intern_put(&bytes_table, bytes, n, copy);
        }
        if (error)
            free(copy);
        else
            found = (uint64_t)(uintptr_t)copy;
    }
    lock_give(&bytes_lock);
    if (error)
        report_error(error);
    else if (!found)
        report_broken("no memory on the host for %zu bytes of a name", n);
    return (const void *)(uintptr_t)found;
}

const char *intern_string(const char *s)
{
    return s ? intern_bytes(s, strlen(s)) : NULL;
}
