/* arena.c - a list of blocks, each filled from the front.
 *
 *     newest block          older blocks
 *     [used....|free   ] -> [used........] -> NULL
 *
 * A block doubles the last one's size up to a limit, so a module of a hundred
 * operations costs one block and one of a million costs a few dozen. */
#include "base/arena.h"

#include "base/guard.h"

#include <stdint.h>
#include <string.h>

#ifdef TUTTI_HOSTILE /* tests/hostile: blocks are many and full */
enum { ALIGN = 16, FIRST_BLOCK = 512, LARGEST_BLOCK = 1024 };
#else
enum { ALIGN = 16, FIRST_BLOCK = 16 * 1024, LARGEST_BLOCK = 4 * 1024 * 1024 };
#endif

typedef struct Block {
    struct Block *older;
    size_t used, size; /* of data, in bytes */
    _Alignas(ALIGN) char data[];
} Block;

struct Arena {
    Block *newest;
    size_t next_size; /* of the next ordinary block */
    size_t bytes;     /* handed out */
};

Arena *arena_try_new(void)
{
    Arena *arena = heap_try(sizeof *arena);
    if (arena)
        arena->next_size = FIRST_BLOCK;
    return arena;
}

Arena *arena_new(void)
{
    Arena *arena = arena_try_new();
    if (!arena)
        guard_leave(CODE_EXHAUSTED, "no memory for an arena");
    return arena;
}

void arena_free(Arena *arena)
{
    if (!arena)
        return;
    for (Block *block = arena->newest; block;) {
        Block *older = block->older;
        heap_free(block);
        block = older;
    }
    heap_free(arena);
}

static Block *add_block(Arena *arena, size_t least)
{
    size_t size = least > arena->next_size ? least : arena->next_size;
    Block *block = heap_try_for(arena, sizeof *block + size);
    if (!block)
        return NULL;
    block->size = size;
    block->older = arena->newest;
    arena->newest = block;
    if (arena->next_size < LARGEST_BLOCK)
        arena->next_size *= 2;
    return block;
}

void *arena_try(Arena *arena, size_t bytes)
{
    if (bytes > SIZE_MAX / 2)
        return NULL;
    size_t rounded = (bytes + ALIGN - 1) & ~(size_t)(ALIGN - 1);
    Block *block = arena->newest;
    if (!block || block->size - block->used < rounded) {
        block = add_block(arena, rounded);
        if (!block)
            return NULL;
    }
    void *at = block->data + block->used;
    block->used += rounded;
    arena->bytes += rounded;
    return at;
}

void *arena_alloc(Arena *arena, size_t bytes)
{
    void *at = arena_try(arena, bytes);
    if (!at)
        guard_leave(CODE_EXHAUSTED, "no memory for %zu bytes, asked of an arena of %zu", bytes,
                    arena->bytes);
    return at;
}

size_t arena_bytes(const Arena *arena)
{
    return arena->bytes;
}

void *arena_copy(Arena *arena, const void *data, size_t bytes)
{
    void *at = arena_alloc(arena, bytes);
    if (bytes)
        memcpy(at, data, bytes);
    return at;
}
