/* intern.h - tables that live for ever, and are filled where there may be no memory. */
#ifndef TUTTI_FRONT_VALUE_INTERN_H
#define TUTTI_FRONT_VALUE_INTERN_H
#include "base/arena.h"
#include "base/error.h"
#include "base/table.h"

/* table_set under no guard but its own: a table that cannot grow stays as it was. */
MUST_USE Error *intern_put(Table *table, const void *key, size_t n, const void *value);
/* The arena that such things lie in; made at first need. */
MUST_USE Error *intern_arena(Arena **arena);
#endif
