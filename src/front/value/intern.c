/* intern.c - each step under a guard that is around nothing else, so that what others see is either
 * as it was or whole. */
#include "front/value/intern.h"

#include "base/guard.h"

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
