/* grow.c - lists that double when they are full. */
#include "base/grow.h"

#include <limits.h>
#include <string.h>

#ifdef TUTTI_HOSTILE /* tests/hostile: a list moves whenever it grows */
enum { FIRST = 1 };
#else
enum { FIRST = 8 };
#endif

static int more(int room)
{
    if (room > INT_MAX / 2)
        guard_leave(CODE_EXHAUSTED, "no list may be longer than %d", room);
#ifdef TUTTI_HOSTILE
    return room + 1;
#else
    return room ? room * 2 : FIRST;
#endif
}

void *arena_room(Arena *arena, const void *at, int n, int *room, size_t size)
{
    if (n < *room)
        return (void *)at;
    *room = more(*room);
    void *bigger = arena_alloc(arena, (size_t)*room * size);
    if (n)
        memcpy(bigger, at, (size_t)n * size);
    return bigger;
}

void *heap_room(void *at, int n, int *room, size_t size)
{
    if (n < *room)
        return at;
    int bigger = more(*room);
    at = heap_resize(at, (size_t)bigger * size, "a list");
    *room = bigger;
    return at;
}
