/* table.c - open addressing, linear probing, at most two thirds full.  Keys lie one after the other
 * in one text. */
#include "base/table.h"

#include "base/guard.h"

#include <string.h>

typedef struct TableSlot {
    size_t key; /* where it begins, and 1; 0: free */
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

static bool is_key(const Table *table, const TableSlot *slot, const void *key, size_t n)
{
    return slot->n == n && (n == 0 || memcmp(table->keys.at + slot->key - 1, key, n) == 0);
}

static TableSlot *find(const Table *table, const void *key, size_t n, uint64_t hash)
{
    for (size_t i = hash & (table->room - 1);; i = (i + 1) & (table->room - 1)) {
        TableSlot *slot = &table->slots[i];
        if (!slot->key || (slot->hash == hash && is_key(table, slot, key, n)))
            return slot;
    }
}

static void move_in(TableSlot *slots, size_t room, const TableSlot *slot)
{
    size_t i = slot->hash & (room - 1);
    while (slots[i].key)
        i = (i + 1) & (room - 1);
    slots[i] = *slot;
}

static void grow(Table *table)
{
#ifdef TUTTI_HOSTILE /* tests/hostile: small ones grow often */
    enum { FIRST = 4 };
#else
    enum { FIRST = 16 };
#endif
    size_t room = table->room ? table->room * 2 : FIRST;
    TableSlot *slots = heap_rows(room, sizeof *slots, "a table");
    for (size_t i = 0; i < table->room; i++)
        if (table->slots[i].key)
            move_in(slots, room, &table->slots[i]);
    heap_free(table->slots);
    table->slots = slots;
    table->room = room;
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
    uint64_t hash = hash_bytes(key, n, 0);
    TableSlot *slot = table->room ? find(table, key, n, hash) : NULL;
    if (!slot || !slot->key) {
        size_t begins = table->keys.n;
        text_add(&table->keys, key, n);
        if (table->n * 3 >= table->room * 2)
            grow(table); /* asks for memory last: until here nothing points at new memory */
        slot = find(table, key, n, hash);
        *slot = (TableSlot){ .key = begins + 1, .n = n, .hash = hash };
        table->n++;
    }
    slot->value = value;
}

void table_free(Table *table)
{
    heap_free(table->slots);
    text_free(&table->keys);
    *table = (Table){ 0 };
}
