/* memory.h - memory of the two lengths that calls need: until the call ends, and for ever.
 *
 * Scratch: some of the caller's stack, then the heap.
 *
 *     Scratch scratch;
 *     scratch_begin(&scratch);
 *     Held *held = SCRATCH(&scratch, Held, n);      NULL: there is no memory
 *     ...
 *     scratch_end(&scratch);
 *
 * A user chooses how many arrays a call has and on how many devices they lie, so none of these
 * lists may lie on the stack whole; nearly always they are short, and need no heap.
 *
 * Interned: equal bytes are one pointer, which is never freed.  The tables are filled step by step,
 * each step under a guard that is around nothing else, so that another thread sees a table either
 * as it was or whole. */
#ifndef TUTTI_FRONT_VALUE_MEMORY_H
#define TUTTI_FRONT_VALUE_MEMORY_H
#include "base/arena.h"
#include "base/error.h"
#include "base/table.h"

#include <stddef.h>

/* ---- scratch ---- */

enum { SCRATCH_ROOM = 4096 };

typedef struct Scratch {
    size_t used;
    struct ScratchBlock *blocks; /* what did not fit, the newest first */
    _Alignas(16) char room[SCRATCH_ROOM];
} Scratch;

static inline void scratch_begin(Scratch *s)
{
    s->used = 0;
    s->blocks = NULL;
}

void *scratch_block(Scratch *s, size_t bytes); /* of the heap */
void scratch_end_blocks(struct ScratchBlock *blocks);

/* Not zeroed, aligned to 16 bytes. */
static inline void *scratch_take(Scratch *s, size_t n, size_t size)
{
    size_t rounded;
    if (__builtin_mul_overflow(n, size, &rounded) || __builtin_add_overflow(rounded, 15, &rounded))
        return NULL;
    rounded &= ~(size_t)15;
    if (rounded > SCRATCH_ROOM - s->used)
        return scratch_block(s, rounded);
    void *at = s->room + s->used;
    s->used += rounded;
    return at;
}

static inline void scratch_end(Scratch *s)
{
    if (s->blocks)
        scratch_end_blocks(s->blocks);
}

#define SCRATCH(s, T, n) ((T *)scratch_take((s), (size_t)(n), sizeof(T)))

/* ---- interned ---- */

/* table_set under a guard of its own: a table that cannot grow stays as it was. */
MUST_USE Error *intern_put(Table *table, const void *key, size_t n, const void *value);
/* The arena that interned things lie in; made at first need. */
MUST_USE Error *intern_arena(Arena **arena);

/* One pointer for equal bytes, with a 0 behind them.  NULL: no memory; reported. */
const void *intern_bytes(const void *bytes, size_t n);
const char *intern_string(const char *s); /* NULL stays NULL */
#endif
