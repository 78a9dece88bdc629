/* arrays.c - a file of named arrays: which of the formats it is, and what all of them share. */
#include "files/arrays.h"

#include "base/grow.h"
#include "files/crc32.h"
#include "files/inflate.h"

#include <stdlib.h>
#include <string.h>

static bool begins_with(Str bytes, const char *start, size_t n)
{
    return bytes.n >= n && memcmp(bytes.at, start, n) == 0;
}

Error *arrays_add(ArrayFile *f, Str name, FileArray **out)
{
    uint64_t before;
    if (table_get(&f->names, name.at, name.n, &before))
        return error_new(CODE_INVALID, "%s has two arrays named %.*s", f->path, STR_ARG(name));
    table_set(&f->names, name.at, name.n, (uint64_t)f->n);
    ROOM(f->arena, f->at, f->n, &f->room);
    FileArray *a = *out = &f->at[f->n++];
    Text path = { 0 };
    text_printf(&path, name.n ? "%s: %.*s" : "%s", f->path, STR_ARG(name));
    *a = (FileArray){ .name = str_copy(f->arena, name),
                      .path = str_copy(f->arena, (Str){ path.at, path.n }).at };
    text_free(&path);
    return NULL;
}

static Error *npy_alone(ArrayFile *f)
{
    FileArray *a;
    TRY(arrays_add(f, STR(""), &a));
    a->is_npy = true;
    a->bytes = f->bytes;
    a->size = f->bytes.n;
    return npy_parse(f->bytes, a->path, &a->npy);
}

static Error *read_as_it_begins(ArrayFile *f)
{
    if (begins_with(f->bytes, "PK\3\4", 4) || begins_with(f->bytes, "PK\5\6", 4))
        return npz_read(f);
    return begins_with(f->bytes, "\x93NUMPY", 6) ? npy_alone(f) : safetensors_read(f);
}

/* A guard that is left frees the memory; what is mapped is for this. */
static void unmap(void *user)
{
    mapped_close(user);
}

static Error *read_arrays(ArrayFile *f, ArrayFile **out)
{
    Mapped mapped = f->mapped; /* f itself is freed with the guard */
    guard_defer(unmap, &mapped);
    Error *error = read_as_it_begins(f);
    guard_forget(unmap, &mapped);
    if (error) {
        arrays_close(f);
        return error;
    }
    *out = f;
    return NULL;
}

static ArrayFile *file_new(const char *path)
{
    Arena *arena = arena_new();
    ArrayFile *f = ARENA_NEW(arena, ArrayFile);
    f->arena = arena;
    f->path = str_copy(arena, str_of(path)).at;
    return f;
}

Error *arrays_of(Str bytes, const char *name, ArrayFile **out)
{
    ArrayFile *f = file_new(name);
    f->bytes = bytes;
    return read_arrays(f, out);
}

Error *arrays_open(const char *path, ArrayFile **out)
{
    ArrayFile *f = file_new(path);
    Error *error = mapped_open(f->path, &f->mapped);
    if (error) {
        arrays_close(f);
        return error;
    }
    f->bytes = f->mapped.bytes;
    return read_arrays(f, out);
}

void arrays_close(ArrayFile *f)
{
    if (!f)
        return;
    mapped_close(&f->mapped);
    table_free(&f->names);
    arena_free(f->arena);
}

const FileArray *arrays_find(const ArrayFile *f, Str name)
{
    uint64_t i;
    return table_get(&f->names, name.at, name.n, &i) ? &f->at[i] : NULL;
}

const FileNote *arrays_note(const ArrayFile *f, const char *key)
{
    for (int i = 0; i < f->nnotes; i++)
        if (str_is(f->notes[i].key, key))
            return &f->notes[i];
    return NULL;
}

/* ---- one array ---- */

bool file_array_holds(const FileArray *a, Element e)
{
    return a->is_npy ? npy_holds(&a->npy, e) : a->type.element == e;
}

Type file_array_type(const FileArray *a, Element e)
{
    return a->is_npy ? npy_type(&a->npy, e) : a->type;
}

const char *file_array_elements(const FileArray *a)
{
    return a->is_npy ? a->npy.descr : element_info[a->type.element].name;
}

Error *file_array_check(const FileArray *a, Element e)
{
    return a->is_npy ? npy_check(&a->npy, e) : NULL; /* a type was looked at when it was read */
}

static Error *damaged(const FileArray *a)
{
    return error_new(CODE_INVALID, "%s is damaged: its checksum is not that of its bytes", a->path);
}

static Error *read_deflated(const FileArray *a, Element e, void *data)
{
    size_t made;
    char *bytes = malloc(a->size + 1);
    if (!bytes)
        return error_new(CODE_EXHAUSTED, "%s: no memory for its %zu bytes", a->path, a->size);
    Error *error = NULL;
    if (!inflate_into(a->bytes, bytes, a->size, &made) || made != a->size)
        error = error_new(CODE_INVALID, "%s is damaged: its bytes cannot be inflated", a->path);
    else if (a->has_crc && crc32_of(0, bytes, made) != a->crc)
        error = damaged(a);
    else
        error = npy_read(&a->npy, e, (Str){ bytes, made }, data);
    free(bytes);
    return error;
}

Error *file_array_read(const ArrayFile *f, const FileArray *a, Element e, void *data)
{
    TRY(mapped_check(&f->mapped));
    if (a->is_deflated)
        return read_deflated(a, e, data);
    if (a->has_crc && crc32_of(0, a->bytes.at, a->bytes.n) != a->crc)
        return damaged(a);
    if (a->is_npy)
        return npy_read(&a->npy, e, a->bytes, data);
    memcpy(data, a->bytes.at, a->bytes.n);
    return NULL;
}

const void *file_array_view(const FileArray *a)
{
    size_t align = (size_t)element_info[a->type.element].bytes;
    return a->is_npy || (uintptr_t)a->bytes.at % (align ? align : 1) ? NULL : a->bytes.at;
}
