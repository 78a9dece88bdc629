/* table.h - a hash table from bytes to a 64-bit number. */
#ifndef TUTTI_BASE_TABLE_H
#define TUTTI_BASE_TABLE_H
#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Starts as { 0 }.  Keys are copied.  Only one thread at a time may use a table. */
typedef struct Table {
    struct TableSlot *slots;
    size_t n, room; /* room is a power of two */
    Text keys;
} Table;

uint64_t hash_bytes(const void *bytes, size_t n, uint64_t seed);

bool table_get(const Table *table, const void *key, size_t n, uint64_t *value);
void table_set(Table *table, const void *key, size_t n, uint64_t value);
void table_free(Table *table);
#endif
