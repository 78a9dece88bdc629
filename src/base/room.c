/* room.c - lists that double when they are full. */
#include "base/room.h"

#include "base/fail.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST = 8 };

void *arena_room(Arena *arena, const void *at, int n, int *room, size_t size)
{
    if (n < *room)
        return (void *)at;
    *room = *room ? *room * 2 : FIRST;
    void *bigger = arena_alloc(arena, (size_t)*room * size);
    if (n)
        memcpy(bigger, at, (size_t)n * size);
    return bigger;
}

void *heap_room(void *at, int n, int *room, size_t size)
{
    if (n < *room)
        return at;
    *room = *room ? *room * 2 : FIRST;
    at = realloc(at, (size_t)*room * size);
    if (!at)
        fail("no memory for a list of %d", *room);
    return at;
}
