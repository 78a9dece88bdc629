/* npz.c - NumPy's file of several arrays: a ZIP whose members are .npy files.
 *
 *     local header, name, member   local header, name, member   ...   directory   end
 *
 * The end says where the directory is, the directory where the members are and how long; sizes of
 * 32 bits that are all ones stand behind it, in 64 (ZIP64). */
#include "base/grow.h"
#include "files/arrays.h"
#include "files/aside.h"
#include "files/crc32.h"
#include "files/inflate.h"

#include <stdlib.h>
#include <string.h>

enum { STORED = 0, DEFLATED = 8, LOCAL_BYTES = 30, ENTRY_BYTES = 46, END_BYTES = 22 };
enum { END64_BYTES = 56, LOCATOR_BYTES = 20, LONGEST_COMMENT = 65535, MOST_RATIO = 1032 };
#define ALL_ONES 0xFFFFFFFFu

/* ---- reading ---- */

static uint64_t number_at(Str s, size_t at, int bytes)
{
    uint64_t n = 0;
    for (int i = 0; i < bytes; i++)
        n |= (uint64_t)(unsigned char)s.at[at + (size_t)i] << (8 * i);
    return n;
}

static bool is_at(Str s, size_t at, size_t room, const char *mark)
{
    return at <= s.n && room <= s.n - at && memcmp(s.at + at, mark, 4) == 0;
}

static Error *broken(const ArrayFile *f, const char *what)
{
    return error_new(CODE_INVALID, "%s is not a whole .npz file: %s", f->path, what);
}

typedef struct Directory {
    uint64_t at, bytes, n;
} Directory;

static Error *find_directory(const ArrayFile *f, Directory *out)
{
    Str s = f->bytes;
    size_t at = s.n < END_BYTES ? 0 : s.n - END_BYTES,
           least = at > LONGEST_COMMENT ? at - LONGEST_COMMENT : 0;
    while (!is_at(s, at, END_BYTES, "PK\5\6") && at > least)
        at--;
    if (!is_at(s, at, END_BYTES, "PK\5\6"))
        return broken(f, "it has no directory at its end");
    *out =
        (Directory){ number_at(s, at + 16, 4), number_at(s, at + 12, 4), number_at(s, at + 10, 2) };
    if (at >= LOCATOR_BYTES && is_at(s, at - LOCATOR_BYTES, LOCATOR_BYTES, "PK\6\7")) {
        uint64_t end = number_at(s, at - LOCATOR_BYTES + 8, 8);
        if (end > s.n || !is_at(s, (size_t)end, END64_BYTES, "PK\6\6"))
            return broken(f, "its ZIP64 end lies elsewhere");
        *out = (Directory){ number_at(s, (size_t)end + 48, 8), number_at(s, (size_t)end + 40, 8),
                            number_at(s, (size_t)end + 32, 8) };
    }
    if (out->at > s.n || out->bytes > s.n - out->at || out->n > out->bytes / ENTRY_BYTES)
        return broken(f, "its directory does not lie in it");
    return NULL;
}

typedef struct Entry {
    Str name;
    uint64_t size, packed, at;
    uint32_t crc;
    int method, flags;
} Entry;

/* Numbers that did not fit, from the extra field 1. */
static bool widen(Entry *e, Str extra)
{
    uint64_t *numbers[] = { &e->size, &e->packed, &e->at };
    for (size_t at = 0; at + 4 <= extra.n;) {
        uint64_t id = number_at(extra, at, 2), n = number_at(extra, at + 2, 2);
        at += 4;
        if (n > extra.n - at)
            return false;
        for (size_t k = 0, from = at; id == 1 && k < 3; k++)
            if (*numbers[k] == ALL_ONES) {
                if (from + 8 > at + n)
                    return false;
                *numbers[k] = number_at(extra, from, 8);
                from += 8;
            }
        at += (size_t)n;
    }
    return true;
}

static Error *read_entry(const ArrayFile *f, size_t *at, size_t end, Entry *e)
{
    Str s = f->bytes;
    if (end - *at < ENTRY_BYTES || !is_at(s, *at, ENTRY_BYTES, "PK\1\2"))
        return broken(f, "its directory is damaged");
    size_t name = (size_t)number_at(s, *at + 28, 2), extra = (size_t)number_at(s, *at + 30, 2);
    size_t all = ENTRY_BYTES + name + extra + (size_t)number_at(s, *at + 32, 2);
    if (all > end - *at)
        return broken(f, "its directory is damaged");
    *e = (Entry){ .name = { s.at + *at + ENTRY_BYTES, name },
                  .flags = (int)number_at(s, *at + 8, 2),
                  .method = (int)number_at(s, *at + 10, 2),
                  .crc = (uint32_t)number_at(s, *at + 16, 4),
                  .packed = number_at(s, *at + 20, 4),
                  .size = number_at(s, *at + 24, 4),
                  .at = number_at(s, *at + 42, 4) };
    if (!widen(e, (Str){ s.at + *at + ENTRY_BYTES + name, extra }))
        return broken(f, "its directory is damaged");
    *at += all;
    return NULL;
}

/* The bytes of a member, as they are stored. */
static Error *find_bytes(const ArrayFile *f, const Entry *e, Str *out)
{
    Str s = f->bytes;
    if (e->at > s.n || !is_at(s, (size_t)e->at, LOCAL_BYTES, "PK\3\4"))
        return broken(f, "a member does not lie where the directory says");
    size_t from = (size_t)e->at + LOCAL_BYTES;
    size_t skip =
        (size_t)(number_at(s, (size_t)e->at + 26, 2) + number_at(s, (size_t)e->at + 28, 2));
    if (skip > s.n - from || e->packed > s.n - from - skip)
        return broken(f, "a member does not lie where the directory says");
    *out = (Str){ s.at + from + skip, (size_t)e->packed };
    return NULL;
}

/* The header of a deflated .npy: its beginning is made whole, as long as any header may be. */
static Error *parse_deflated(FileArray *a)
{
    enum { MOST = (1 << 20) + 64 };
    size_t made, room = a->size < MOST ? a->size : MOST;
    char *start = malloc(room + 1);
    if (!start)
        return error_new(CODE_EXHAUSTED, "%s cannot be read: no memory for its header", a->path);
    Error *error =
        inflate_into(a->bytes, start, room, &made)
            ? npy_parse((Str){ start, made }, a->path, &a->npy)
            : error_new(CODE_INVALID, "%s is damaged: its bytes cannot be inflated", a->path);
    free(start);
    return error;
}

static Error *add_member(ArrayFile *f, const Entry *e)
{
    FileArray *a;
    Str name = e->name;
    if (name.n > 4 && memcmp(name.at + name.n - 4, ".npy", 4) == 0)
        name.n -= 4;
    TRY(arrays_add(f, name, &a));
    if (e->flags & 1)
        return error_new(CODE_UNIMPLEMENTED, "%s is encrypted", a->path);
    if (e->method != STORED && e->method != DEFLATED)
        return error_new(CODE_UNIMPLEMENTED, "%s is packed by method %d, which is not known here",
                         a->path, e->method);
    a->is_npy = a->has_crc = true;
    a->is_deflated = e->method == DEFLATED;
    a->crc = e->crc;
    TRY(find_bytes(f, e, &a->bytes));
    if (e->method == STORED ? e->size != e->packed : e->size / MOST_RATIO > e->packed)
        return error_new(CODE_INVALID, "%s: %llu bytes cannot become %llu", a->path,
                         (unsigned long long)e->packed, (unsigned long long)e->size);
    a->size = (size_t)e->size;
    return a->is_deflated ? parse_deflated(a) : npy_parse(a->bytes, a->path, &a->npy);
}

Error *npz_read(ArrayFile *f)
{
    Directory d = { 0 };
    TRY(find_directory(f, &d));
    size_t at = (size_t)d.at, end = (size_t)(d.at + d.bytes);
    for (uint64_t i = 0; i < d.n; i++) {
        Entry e = { 0 };
        TRY(read_entry(f, &at, end, &e));
        TRY(add_member(f, &e));
    }
    return NULL;
}

/* ---- writing: always as ZIP64, which NumPy writes too ---- */

typedef struct ZipWriter {
    Aside aside;
    Text directory;
    uint64_t at;
} ZipWriter;

static void put(Text *out, uint64_t number, int bytes)
{
    for (int i = 0; i < bytes; i++)
        text_add(out, &(char){ (char)(number >> (8 * i)) }, 1);
}

/* What the local header and the directory's entry have in common: version 4.5, no flags, stored,
 * 1 January 1980. */
static void put_common(Text *out, uint32_t crc, size_t name, size_t extra)
{
    static const uint16_t words[] = { 45, 0, STORED, 0, 0x21 };
    for (int i = 0; i < 5; i++)
        put(out, words[i], 2);
    put(out, crc, 4);
    put(out, ALL_ONES, 4);
    put(out, ALL_ONES, 4);
    put(out, name, 2);
    put(out, extra, 2);
}

static void put_entry(ZipWriter *w, const char *name, uint32_t crc, uint64_t size)
{
    Text *d = &w->directory;
    size_t n = strlen(name) + 4;
    text_add(d, "PK\1\2", 4);
    put(d, 45, 2);
    put_common(d, crc, n, 28);
    put(d, 0, 2 + 2 + 2); /* no comment, disk 0, nothing of the inside */
    put(d, (uint64_t)0600 << 16, 4);
    put(d, ALL_ONES, 4);
    text_printf(d, "%s.npy", name);
    put(d, 1, 2);
    put(d, 24, 2);
    put(d, size, 8);
    put(d, size, 8);
    put(d, w->at, 8);
}

static Error *put_member(ZipWriter *w, const NamedType *a, const void *data)
{
    Text npy = { 0 }, head = { 0 };
    size_t bytes = type_bytes(a->type), name = strlen(a->name) + 4;
    npy_header(&npy, a->type);
    uint32_t crc = crc32_of(crc32_of(0, npy.at, npy.n), data, bytes);
    text_add(&head, "PK\3\4", 4);
    put_common(&head, crc, name, 20);
    text_printf(&head, "%s.npy", a->name);
    put(&head, 1, 2);
    put(&head, 16, 2);
    put(&head, npy.n + bytes, 8);
    put(&head, npy.n + bytes, 8);
    put_entry(w, a->name, crc, npy.n + bytes);
    w->at += head.n + npy.n + bytes;
    Error *error = aside_write(&w->aside, head.at, head.n);
    if (!error)
        error = aside_write(&w->aside, npy.at, npy.n);
    if (!error)
        error = aside_write(&w->aside, data, bytes);
    text_free(&head);
    text_free(&npy);
    return error;
}

static void put_end(Text *d, uint64_t at, uint64_t n)
{
    uint64_t bytes = d->n;
    text_add(d, "PK\6\6", 4);
    put(d, END64_BYTES - 12, 8);
    put(d, 45, 2);
    put(d, 45, 2);
    put(d, 0, 8);
    put(d, n, 8);
    put(d, n, 8);
    put(d, bytes, 8);
    put(d, at, 8);
    text_add(d, "PK\6\7", 4);
    put(d, 0, 4);
    put(d, at + bytes, 8);
    put(d, 1, 4);
    text_add(d, "PK\5\6", 4);
    put(d, 0, 4);
    put(d, 0xFFFF, 2);
    put(d, 0xFFFF, 2);
    put(d, ALL_ONES, 4);
    put(d, ALL_ONES, 4);
    put(d, 0, 2);
}

static Error *put_members(ZipWriter *w, int n, const NamedType *arrays, void *data, ArrayGet *get,
                          void *user)
{
    for (int i = 0; i < n; i++) {
        TRY(get(user, i, data));
        TRY(put_member(w, &arrays[i], data));
    }
    put_end(&w->directory, w->at, (uint64_t)n);
    return aside_write(&w->aside, w->directory.at, w->directory.n);
}

Error *npz_write(const char *path, int n, const NamedType *arrays, ArrayGet *get, void *user)
{
    ZipWriter w = { 0 };
    size_t most = 0;
    for (int i = 0; i < n; i++)
        most = type_bytes(arrays[i].type) > most ? type_bytes(arrays[i].type) : most;
    void *data = heap_new(most + 1, "an array to write");
    Error *error = aside_open(path, &w.aside);
    if (!error)
        error = aside_finish(&w.aside, put_members(&w, n, arrays, data, get, user));
    text_free(&w.directory);
    heap_free(data);
    return error;
}
