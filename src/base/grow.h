/* grow.h - room for one more at the end of a list, in an arena or on the heap.
 *
 *     ROOM(arena, list->at, list->n, &list->room);
 *     list->at[list->n++] = x;
 *
 * A list begins as NULL with room for none. */
#ifndef TUTTI_BASE_GROW_H
#define TUTTI_BASE_GROW_H
#include "base/arena.h"
#include "base/guard.h"

/* Returns the list itself, or a copy with room for more, whose new rows are zero. */
void *arena_room(Arena *arena, const void *at, int n, int *room, size_t size);
/* The same on the heap: the old list is freed, new rows are undefined; the owner calls
 * heap_free. */
void *heap_room(void *at, int n, int *room, size_t size);

#define ROOM(arena, at, n, room) ((at) = arena_room((arena), (at), (n), (room), sizeof *(at)))
#define HEAP_ROOM(at, n, room) ((at) = heap_room((at), (n), (room), sizeof *(at)))
#endif
