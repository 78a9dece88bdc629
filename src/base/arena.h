/* arena.h - bump allocation: what is made together dies together. */
#ifndef TUTTI_BASE_ARENA_H
#define TUTTI_BASE_ARENA_H
#include <stddef.h>

/* Only one thread at a time may use an arena.  Memory is zeroed and aligned to 16 bytes.  An arena
 * made under a guard is freed when the guard is left; one that was there before grows and stays. */
typedef struct Arena Arena;

Arena *arena_new(void);
Arena *arena_try_new(void);    /* NULL when there is no memory */
void arena_free(Arena *arena); /* NULL is fine */

/* Never NULL: without memory the thread leaves its guard (base/guard.h). */
void *arena_alloc(Arena *arena, size_t bytes);

/* For sizes that a user's file or program decides: NULL when there is no memory. */
void *arena_try(Arena *arena, size_t bytes);

size_t arena_bytes(const Arena *arena); /* that it has handed out */

void *arena_copy(Arena *arena, const void *data, size_t bytes);

#define ARENA_NEW(arena, T) ((T *)arena_alloc((arena), sizeof(T)))
#define ARENA_ARRAY(arena, T, n) ((T *)arena_alloc((arena), sizeof(T) * (size_t)(n)))
#endif
