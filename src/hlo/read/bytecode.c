/* bytecode.c - MLIR bytecode: a file of sections to tables of strings, names and entries.
 *
 *   4D 4C EF 52 | version | producer, NUL | section section section ...
 *   section:  id (bit 7: aligned) | length | [alignment, padding] | data
 *
 *   0 strings     2 attributes and types (bytes)    4 operations     8 properties
 *   1 dialects    3 attributes and types (sizes)    5, 6 resources (not read)
 *
 * Sections refer to one another by position in any order, so they are found first and then
 * read in the order in which they need each other.  Attributes and types stay encoded: who
 * knows their dialect decodes them when they are asked for. */
#include "hlo/read/bytecode.h"

#include <string.h>

enum {
    STRINGS,
    DIALECTS,
    ENTRIES,
    ENTRY_SIZES,
    OPS,
    RESOURCES,
    RESOURCE_SIZES,
    VERSIONS,
    PROPERTIES,
    SECTIONS
};
enum { NEWEST_VERSION = 6 };

static const char *const section_names[SECTIONS] = {
    "strings",    "dialects",  "attributes and types", "sizes of attributes and types",
    "operations", "resources", "sizes of resources",   "dialect versions",
    "properties",
};

typedef struct Sections {
    Cursor at[SECTIONS];
    bool is_there[SECTIONS];
} Sections;

static Error *skip_padding(Cursor *c)
{
    uint64_t alignment;
    TRY(take_varint(c, &alignment));
    if (alignment == 0 || (alignment & (alignment - 1)) != 0)
        return cursor_error(c, "an alignment that is a power of two");
    while (cursor_offset(c) & (alignment - 1)) {
        uint8_t padding;
        TRY(take_byte(c, &padding));
    }
    return NULL;
}

Error *bytecode_section(Cursor *c, int *id, Cursor *data)
{
    uint8_t byte;
    uint64_t length;
    TRY(take_byte(c, &byte));
    TRY(take_varint(c, &length));
    if (byte & 0x80)
        TRY(skip_padding(c));
    *id = byte & 0x7f;
    if (*id >= SECTIONS)
        return cursor_error(c, "a section's number below %d, got %d", SECTIONS, *id);
    return take_span(c, section_names[*id], length, data);
}

static Error *find_sections(Cursor *c, Sections *s)
{
    while (c->at < c->end) {
        int id;
        Cursor data;
        TRY(bytecode_section(c, &id, &data));
        if (s->is_there[id])
            return cursor_error(&data, "one section of %s, this is the second", section_names[id]);
        s->at[id] = data;
        s->is_there[id] = true;
    }
    static const int needed[] = { STRINGS, DIALECTS, ENTRIES, ENTRY_SIZES, OPS };
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
        if (!s->is_there[needed[i]])
            return cursor_error(c, "a section of %s before the end", section_names[needed[i]]);
    return NULL;
}

/* A table of n entries, of which the file has said how many. */
static Error *make_table(Bytecode *b, const char *what, size_t n, size_t each, void *out)
{
    void *table = arena_try(b->arena, n * each + 1);
    if (!table)
        return error_new(CODE_EXHAUSTED, "no memory for a table of %zu %s", n, what);
    memcpy(out, &table, sizeof table);
    return NULL;
}

/* Lengths stand in reverse order and count a final NUL; then come the strings in order. */
static Error *read_strings(Bytecode *b, Cursor c)
{
    int n;
    TRY(take_count(&c, "strings", &n));
    b->nstrings = (uint32_t)n;
    TRY(make_table(b, "strings", (size_t)n, sizeof *b->strings, &b->strings));
    for (int i = n - 1; i >= 0; i--) {
        uint64_t length;
        TRY(take_varint(&c, &length));
        if (length == 0 || length > cursor_left(&c))
            return cursor_error(&c, "the length of a string with its NUL, got %llu",
                                (unsigned long long)length);
        b->strings[i].n = (size_t)length - 1;
    }
    size_t bytes = cursor_left(&c);
    char *copy = arena_try(b->strings_in, bytes + 1);
    if (!copy)
        return error_new(CODE_EXHAUSTED, "%s: no memory for %zu bytes of strings", b->name, bytes);
    memcpy(copy, c.at, bytes);
    for (int i = 0; i < n; i++) {
        Cursor one;
        TRY(take_span(&c, "strings", b->strings[i].n + 1, &one));
        if (one.end[-1] != 0)
            return cursor_error(&c, "a string that ends in NUL");
        b->strings[i].at = copy + (one.at - (c.end - bytes));
    }
    return take_end(&c, "the strings");
}

static Error *read_dialect_name(Bytecode *b, Cursor *c, Str *out)
{
    uint64_t index;
    bool has_version = false;
    Cursor before = *c;
    if (b->version == 0)
        TRY(take_varint(c, &index));
    else
        TRY(take_flagged(c, &index, &has_version));
    if (index >= b->nstrings)
        return cursor_error(&before, "the number of a string below %u", b->nstrings);
    *out = b->strings[index];
    if (has_version) {
        int id;
        Cursor version;
        TRY(bytecode_section(c, &id, &version));
    }
    return NULL;
}

static Error *read_op_name(Bytecode *b, Cursor *c, Str dialect)
{
    uint64_t index;
    bool is_registered = true;
    Cursor before = *c;
    if (b->version < 5)
        TRY(take_varint(c, &index));
    else
        TRY(take_flagged(c, &index, &is_registered));
    if (index >= b->nstrings)
        return cursor_error(&before, "the number of a string below %u", b->nstrings);
    b->ops[b->nops++] = (OpNameCode){ dialect, b->strings[index], is_registered };
    return NULL;
}

static Error *read_dialects(Bytecode *b, Cursor c)
{
    int n;
    uint64_t total;
    TRY(take_count(&c, "dialects", &n));
    b->ndialects = (uint32_t)n;
    TRY(make_table(b, "dialects", (size_t)n, sizeof *b->dialects, &b->dialects));
    for (int i = 0; i < n; i++)
        TRY(read_dialect_name(b, &c, &b->dialects[i]));
    if (b->version >= 4)
        TRY(take_varint(&c, &total)); /* only a hint of how much room to make */
    /* a byte each at least */
    TRY(make_table(b, "operation names", cursor_left(&c), sizeof *b->ops, &b->ops));
    while (c.at < c.end) {
        uint32_t dialect;
        int count;
        TRY(take_index(&c, "a dialect", b->ndialects, &dialect));
        TRY(take_count(&c, "operation names", &count));
        for (int i = 0; i < count; i++)
            TRY(read_op_name(b, &c, b->dialects[dialect]));
    }
    return NULL;
}

/* Groups of entries that share a dialect, until n entries are known. */
static Error *read_entries(Bytecode *b, Cursor *sizes, Cursor *bytes, uint32_t n, EntryCode *out)
{
    uint32_t done = 0;
    while (done < n) {
        uint32_t dialect;
        int count;
        TRY(take_index(sizes, "a dialect", b->ndialects, &dialect));
        TRY(take_count(sizes, "attributes or types", &count));
        if ((uint32_t)count > n - done)
            return cursor_error(sizes, "at most %u more attributes or types, got %d", n - done,
                                count);
        for (int i = 0; i < count; i++) {
            uint64_t size;
            bool is_coded;
            EntryCode *entry = &out[done++];
            TRY(take_flagged(sizes, &size, &is_coded));
            TRY(take_span(bytes, "an attribute or type", size, &entry->bytes));
            entry->dialect = b->dialects[dialect];
            entry->is_text = !is_coded;
        }
    }
    return NULL;
}

static Error *read_entry_tables(Bytecode *b, Cursor sizes, Cursor bytes)
{
    int nattrs, ntypes;
    TRY(take_count(&sizes, "attributes", &nattrs));
    TRY(take_count(&sizes, "types", &ntypes));
    b->nattrs = (uint32_t)nattrs;
    b->ntypes = (uint32_t)ntypes;
    TRY(make_table(b, "attributes", b->nattrs, sizeof *b->attrs, &b->attrs));
    TRY(make_table(b, "types", b->ntypes, sizeof *b->types, &b->types));
    TRY(read_entries(b, &sizes, &bytes, b->nattrs, b->attrs));
    TRY(read_entries(b, &sizes, &bytes, b->ntypes, b->types));
    return take_end(&sizes, "the sizes of attributes and types");
}

static Error *read_properties(Bytecode *b, Cursor c)
{
    int n;
    TRY(take_count(&c, "properties", &n));
    b->nproperties = (uint32_t)n;
    TRY(make_table(b, "properties", (size_t)n, sizeof *b->properties, &b->properties));
    for (int i = 0; i < n; i++)
        TRY(take_blob(&c, "properties", &b->properties[i]));
    return take_end(&c, "the properties");
}

static Error *read_head(Bytecode *b, Cursor *c)
{
    static const uint8_t magic[4] = { 'M', 'L', 0xEF, 'R' };
    uint64_t version;
    if (cursor_left(c) < sizeof magic || memcmp(c->at, magic, sizeof magic) != 0)
        return cursor_error(c, "the mark of MLIR bytecode, 4D 4C EF 52");
    c->at += sizeof magic;
    TRY(take_varint(c, &version));
    if (version > NEWEST_VERSION)
        return error_new(CODE_UNIMPLEMENTED,
                         "not supported: version %llu of MLIR bytecode, in %s: "
                         "versions 0 to %d are",
                         (unsigned long long)version, b->name, NEWEST_VERSION);
    b->version = (int)version;
    uint8_t letter;
    do
        TRY(take_byte(c, &letter)); /* of the producer's name */
    while (letter);
    return NULL;
}

Error *bytecode_read(Arena *arena, Arena *strings_in, const char *bytes, size_t n, const char *name,
                     Bytecode **out)
{
    const uint8_t *start = (const uint8_t *)bytes;
    Cursor c = { name, start, start, start + n };
    Sections s = { 0 };
    Bytecode *b = ARENA_NEW(arena, Bytecode);
    b->arena = arena;
    b->strings_in = strings_in;
    b->name = name;
    TRY(read_head(b, &c));
    TRY(find_sections(&c, &s));
    TRY(read_strings(b, s.at[STRINGS]));
    TRY(read_dialects(b, s.at[DIALECTS]));
    TRY(read_entry_tables(b, s.at[ENTRY_SIZES], s.at[ENTRIES]));
    if (s.is_there[PROPERTIES])
        TRY(read_properties(b, s.at[PROPERTIES]));
    TRY(bytecode_read_ops(b, s.at[OPS]));
    *out = b;
    return NULL;
}
