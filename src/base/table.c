/* table.c - open addressing, linear probing, at most two thirds full. */
#include "base/table.h"

#include "base/fail.h"

#include <stdlib.h>
#include <string.h>

typedef struct TableSlot {
    char *key; /* NULL: free */
    size_t n;
    uint64_t hash, value;
} TableSlot;

/* Multiply and shift, eight bytes at a time. */
uint64_t hash_bytes(const void *bytes, size_t n, uint64_t seed)
{
    const unsigned char *p = bytes;
    uint64_t h = seed ^ (n * 0x9E3779B97F4A7C15u);
    while (n) {
        uint64_t word = 0;
        size_t take = n < 8 ? n : 8;
        memcpy(&word, p, take);
        h = (h ^ word) * 0xD6E8FEB86659FD93u;
        h ^= h >> 32;
        p += take;
        n -= take;
    }
    return h ^ (h >> 29);
}

static TableSlot *find(const Table *table, const void *key, size_t n, uint64_t hash)
{
    for (size_t i = hash & (table->room - 1);; i = (i + 1) & (table->room - 1)) {
        TableSlot *slot = &table->slots[i];
        if (!slot->key)
            return slot;
        if (slot->hash == hash && slot->n == n && memcmp(slot->key, key, n) == 0)
            return slot;
    }
}

static void grow(Table *table)
{
    Table bigger = { .room = table->room ? table->room * 2 : 16, .n = table->n };
    bigger.slots = calloc(bigger.room, sizeof *bigger.slots);
    if (!bigger.slots)
        fail("no memory for a table of %zu", bigger.room);
    for (size_t i = 0; i < table->room; i++) {
        TableSlot *slot = &table->slots[i];
        if (slot->key)
            *find(&bigger, slot->key, slot->n, slot->hash) = *slot;
    }
    free(table->slots);
    *table = bigger;
}

bool table_get(const Table *table, const void *key, size_t n, uint64_t *value)
{
    if (!table->room)
        return false;
    const TableSlot *slot = find(table, key, n, hash_bytes(key, n, 0));
    if (!slot->key)
        return false;
    *value = slot->value;
    return true;
}

void table_set(Table *table, const void *key, size_t n, uint64_t value)
{
    if (table->n * 3 >= table->room * 2)
        grow(table);
    uint64_t hash = hash_bytes(key, n, 0);
    TableSlot *slot = find(table, key, n, hash);
    if (!slot->key) {
        slot->key = malloc(n + 1);
        if (!slot->key)
            fail("no memory for a key of %zu bytes", n);
        memcpy(slot->key, key, n);
        slot->n = n;
        slot->hash = hash;
        table->n++;
    }
    slot->value = value;
}

void table_free(Table *table)
{
    for (size_t i = 0; i < table->room; i++)
        free(table->slots[i].key);
    free(table->slots);
    *table = (Table){ 0 };
}
