/* flat.c - FlatBuffers: positions followed, each looked at before. */
#include "files/flat.h"

static bool holds(const Flat *f, size_t at, size_t n)
{
    return at <= f->bytes.n && n <= f->bytes.n - at;
}

static uint64_t number_at(const Flat *f, size_t at, int bytes)
{
    uint64_t x = 0;
    for (int i = 0; i < bytes; i++)
        x |= (uint64_t)(unsigned char)f->bytes.at[at + (size_t)i] << (8 * i);
    return x;
}

static size_t broken(Flat *f)
{
    f->is_broken = true;
    return 0;
}

/* What a field of 4 bytes leads to, at least 4 bytes long. */
static size_t follow(Flat *f, size_t field)
{
    size_t at = field + (size_t)number_at(f, field, 4);
    return at > field && holds(f, at, 4) ? at : broken(f);
}

size_t flat_root(Flat *f)
{
    return holds(f, 0, 4) ? follow(f, 0) : broken(f);
}

/* Where a field of that many bytes lies; 0: it does not. */
static size_t find_field(Flat *f, size_t table, int field, size_t bytes)
{
    if (!table)
        return 0;
    int64_t vtable = (int64_t)table - (int32_t)number_at(f, table, 4);
    if (vtable < 0 || !holds(f, (size_t)vtable, 4))
        return broken(f);
    size_t size = (size_t)number_at(f, (size_t)vtable, 2), entry = 4 + 2 * (size_t)field;
    if (!holds(f, (size_t)vtable, size))
        return broken(f);
    size_t offset = entry + 2 <= size ? (size_t)number_at(f, (size_t)vtable + entry, 2) : 0;
    if (!offset)
        return 0;
    return holds(f, table + offset, bytes) ? table + offset : broken(f);
}

uint64_t flat_number(Flat *f, size_t table, int field, int bytes)
{
    size_t at = find_field(f, table, field, (size_t)bytes);
    return at ? number_at(f, at, bytes) : 0;
}

size_t flat_table(Flat *f, size_t table, int field)
{
    size_t at = find_field(f, table, field, 4);
    return at ? follow(f, at) : 0;
}

static FlatVector vector_at(Flat *f, size_t at, int bytes)
{
    size_t n = at ? (size_t)number_at(f, at, 4) : 0;
    if (at && !holds(f, at + 4, n * (size_t)bytes)) {
        broken(f);
        n = 0;
    }
    return (FlatVector){ at + 4, n };
}

FlatVector flat_vector(Flat *f, size_t table, int field, int bytes)
{
    return vector_at(f, flat_table(f, table, field), bytes);
}

static Str string_at(Flat *f, size_t at)
{
    FlatVector v = vector_at(f, at, 1);
    return v.n ? (Str){ f->bytes.at + v.at, v.n } : (Str){ "", 0 };
}

Str flat_string(Flat *f, size_t table, int field)
{
    return string_at(f, flat_table(f, table, field));
}

uint64_t flat_element(const Flat *f, FlatVector v, size_t i, int bytes)
{
    return number_at(f, v.at + i * (size_t)bytes, bytes);
}

size_t flat_element_table(Flat *f, FlatVector v, size_t i)
{
    return follow(f, v.at + 4 * i);
}

Str flat_element_string(Flat *f, FlatVector v, size_t i)
{
    return string_at(f, flat_element_table(f, v, i));
}
