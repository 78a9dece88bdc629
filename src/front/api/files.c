/* files.c - arrays in files: NumPy's, safetensors, and checkpoints, which are safetensors with a step
 * and a checksum. */
#include "files/arrays.h"
#include "front/api/arrays.h"
#include "front/api/numpy.h"
#include "front/value/library.h"
#include "front/value/report.h"
#include "front/value/value.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- reading one array ---- */

static Error *element_in(const FileArray *a, Element *out)
{
    int rank = file_array_type(a, F32).rank;
    if (rank > TT_MAX_RANK)
        return error_new(CODE_INVALID, "%s holds an array of %d axes; there may be %d", a->path,
                         rank, TT_MAX_RANK);
    for (tt_dtype type = TT_BOOL; type <= TT_C128; type++)
        if (file_array_holds(a, *out = element_of(type)))
            return file_array_check(a, *out);
    return error_new(CODE_INVALID, "%s holds elements '%s' that have no tt_dtype", a->path,
                     file_array_elements(a));
}

/* The array, laid out so; *out stays NULL if that was reported. */
static Error *load(const ArrayFile *file, const FileArray *a, const ArrayLayout *layout,
                   Array **out)
{
    Element e = F32;
    TRY(element_in(a, &e));
    TRY(mapped_check(&file->mapped));
    Type t = file_array_type(a, e);
    const void *view = file_array_view(a);
    if (view) {
        *out = array_from_host(t, view, layout);
        return NULL;
    }
    void *data = malloc(type_bytes(t) + 1);
    if (!data)
        return error_new(CODE_EXHAUSTED, "no memory on the host for %s", type_text(t));
    Error *error = file_array_read(file, a, e, data);
    if (!error)
        *out = array_from_host(t, data, layout);
    free(data);
    return error;
}

typedef struct Opening {
    const char *who, *path;
    ArrayFile *file; /* NULL: reported */
} Opening;

static void open_file(void *user)
{
    Opening *o = user;
    Error *error = arrays_open(o->path, &o->file);
    if (error)
        report_error(error_in(error, "%s", o->who));
}

/* NULL: reported. */
static ArrayFile *opened(const char *who, const char *path)
{
    Opening o = { who, path, NULL };
    return library_guard(who, open_file, &o) ? o.file : NULL;
}

tt tt_load_npy(const char *path)
{
    PUBLIC;
    Array *a = NULL;
    ArrayFile *file = opened("tt_load_npy", path);
    if (!file)
        return NO_VALUE;
    Error *error = file->n == 1
                       ? load(file, file->at, layout_home(), &a)
                       : error_new(CODE_INVALID, "%s holds %d arrays: tt_open reads such files",
                                   path, file->n);
    arrays_close(file);
    if (error)
        return report_error(error_in(error, "tt_load_npy"));
    return a ? value_of_array(a, false) : NO_VALUE;
}

/* With several processes all read an array that is saved, for each may have pieces of it; the first
 * writes the file, and all learn whether it could. */
static bool is_writer(void)
{
    return client_process() == 0;
}

static bool agree(bool is_done)
{
    if (client_processes() == 1)
        return is_done;
    char verdict = is_done;
    Error *error = client_exchange(1, &(TuttiPiece){ 0, &verdict, 1 });
    if (error)
        report_error(error);
    return !error && verdict;
}

static bool save_npy(const char *path, Array *a)
{
    void *data = malloc(type_bytes(a->type) + 1);
    if (!data)
        report_broken("tt_save_npy: no memory on the host for %s", type_text(a->type));
    bool read = data && array_read(a, data);
    Error *error = read && is_writer() ? npy_write(path, a->type, data) : NULL;
    free(data);
    if (error)
        report_error(error_in(error, "tt_save_npy"));
    return agree(read && !error);
}

bool tt_save_npy(const char *path, tt x)
{
    PUBLIC;
    Array *a = settled_array(x, "tt_save_npy");
    bool saved = a && save_npy(path, a);
    if (a)
        array_release(a);
    return saved;
}

/* ---- files of named arrays ---- */

struct tt_arrays {
    ArrayFile *file;
};

tt_file tt_open(const char *path)
{
    PUBLIC;
    tt_file f = malloc(sizeof *f);
    if (!f)
        return report_broken("tt_open: no memory on the host for %s", path), NULL;
    f->file = opened("tt_open", path);
    if (f->file)
        return f;
    free(f);
    return NULL;
}

void tt_close(tt_file f)
{
    PUBLIC;
    if (f)
        arrays_close(f->file);
    free(f);
}

int tt_file_count(tt_file f)
{
    PUBLIC;
    return f ? f->file->n : 0;
}

const char *tt_file_name(tt_file f, int i)
{
    PUBLIC;
    if (f && i >= 0 && i < f->file->n)
        return f->file->at[i].name.at;
    report_broken("tt_file_name: there is no array %d", i);
    return "";
}

/* With the names that there are; the first of many. */
static Error *no_such_array(const ArrayFile *file, const char *name)
{
    enum { MOST = 8 };
    Text text = { .is_message = true };
    for (int i = 0; i < file->n && i < MOST; i++)
        text_printf(&text, "%s%.*s", i ? ", " : "", STR_ARG(file->at[i].name));
    Error *error =
        error_new(CODE_NOT_FOUND, "%s has no array named %s; it has %s%s", file->path, name,
                  file->n ? text_cstr(&text) : "none", file->n > MOST ? ", ..." : "");
    text_free(&text);
    return error;
}

tt tt_file_get(tt_file f, const char *name)
{
    PUBLIC;
    Array *a = NULL;
    if (!f)
        return NO_VALUE;
    const FileArray *found = arrays_find(f->file, str_of(name));
    Error *error = found ? load(f->file, found, layout_home(), &a) : no_such_array(f->file, name);
    if (error)
        return report_error(error_in(error, "tt_file_get"));
    return a ? value_of_array(a, false) : NO_VALUE;
}

/* ---- writing trees ---- */

enum { NAME_ROOM = 24 };

/* The name of array i: the caller's, or its number. */
static const char *name_of(const char *const *names, int i, char *room)
{
    if (names)
        return names[i];
    snprintf(room, NAME_ROOM, "%d", i);
    return room;
}

typedef struct Save {
    const char *path;
    int64_t step;
    int n;
    Array **arrays;
    const char *const *names;
    int nread; /* arrays that have been asked for: in order */
    bool is_done;
} Save;

static Error *get_array(void *user, int i, void *data)
{
    Save *s = user;
    s->nread++;
    return array_read(s->arrays[i], data)
               ? NULL
               : error_new(CODE_INTERNAL, "%s: an array cannot be read", s->path);
}

/* What the writer, if this is it, has not read: the others wait for pieces of it. */
static void read_the_rest(Save *s)
{
    while (client_processes() > 1 && s->nread < s->n) {
        void *data = heap_new(type_bytes(s->arrays[s->nread]->type) + 1, "an array");
        error_free(get_array(s, s->nread, data));
        heap_free(data);
    }
}

static bool ends_with(const char *s, const char *end)
{
    size_t n = strlen(s), m = strlen(end);
    return n >= m && strcmp(s + n - m, end) == 0;
}

static void write_tree(void *user)
{
    Save *s = user;
    NamedType *types = HEAP_ARRAY(NamedType, s->n, "a list of arrays");
    char *rooms = HEAP_ARRAY(char, (size_t)s->n *NAME_ROOM, "names of arrays");
    for (int i = 0; i < s->n; i++)
        types[i] = (NamedType){ name_of(s->names, i, rooms + i * NAME_ROOM), s->arrays[i]->type };
    Error *error = !is_writer() ? NULL
                   : ends_with(s->path, ".npz")
                       ? npz_write(s->path, s->n, types, get_array, s)
                       : safetensors_write(s->path, s->n, types, s->step, get_array, s);
    heap_free(rooms);
    heap_free(types);
    read_the_rest(s);
    s->is_done = !error;
    if (error)
        report_error(error_in(error, "tt_save"));
}

bool tt_save_n(const char *path, tt_tree tree, const tt_save_options *given)
{
    PUBLIC;
    OPTIONS(tt_save_options, "tt_save", given, return false);
    Save s = { .path = path, .step = options.step, .n = tree.n, .names = options.names };
    if (options.step < 0)
        return report_broken("tt_save: the step is %lld; it counts from 0",
                             (long long)options.step),
               false;
    if (options.step && ends_with(path, ".npz"))
        return report_broken("tt_save: %s: an .npz has no place for the step", path), false;
    s.arrays = calloc((size_t)tree.n + 1, sizeof *s.arrays);
    bool is_there = s.arrays;
    if (!is_there)
        report_broken("tt_save: no memory on the host for a list of %d arrays", tree.n);
    for (int i = 0; is_there && i < tree.n; i++)
        is_there = (s.arrays[i] = settled_array(tree.leaf[i], "tt_save"));
    if (is_there)
        library_guard("tt_save", write_tree, &s);
    s.is_done = agree(s.is_done);
    for (int i = 0; s.arrays && i < tree.n; i++)
        if (s.arrays[i])
            array_release(s.arrays[i]);
    free(s.arrays);
    return s.is_done;
}

/* ---- reading trees ---- */

/* The type and the layout that the variable has now; false: it holds nothing. */
static bool held_now(tt old, Held *held, const ArrayLayout **layout)
{
    bool is_there = (old.slot || old.generation) && value_pin(old, "tt_restore", held);
    *layout = is_there && held->array ? held->array->layout : layout_home();
    return is_there;
}

static Error *restore_one(const ArrayFile *file, const char *name, tt old, tt *out)
{
    Held held;
    const ArrayLayout *layout;
    Array *a = NULL;
    const FileArray *found = arrays_find(file, str_of(name));
    if (!found)
        return no_such_array(file, name);
    bool is_held = held_now(old, &held, &layout);
    Error *error = layout ? load(file, found, layout, &a) : NULL;
    if (is_held && a && !type_equal(a->type, held.type)) {
        error = error_new(CODE_INVALID, "%s is %s, and what it is restored to is %s", found->path,
                          type_text(a->type), type_text(held.type));
        array_release(a);
        a = NULL;
    }
    if (is_held)
        value_unpin(old);
    *out = a ? value_of_array(a, false) : NO_VALUE;
    return error;
}

static Error *restore_all(const ArrayFile *file, const char *const *names, const tt *into, int n,
                          tt *out)
{
    char room[NAME_ROOM];
    if (file->n != n)
        return error_new(CODE_INVALID, "%s holds %d arrays, and the tree %d", file->path, file->n,
                         n);
    TRY(safetensors_check(file));
    for (int i = 0; i < n; i++)
        TRY(restore_one(file, name_of(names, i, room), into[i], &out[i]));
    return NULL;
}

/* What the file says, 0 if nothing. */
static int64_t step_in(const ArrayFile *file)
{
    const FileNote *note = arrays_note(file, "step");
    int64_t step = note ? strtoll(note->value.at, NULL, 10) : 0; /* ends with a NUL */
    return step < 0 ? 0 : step;
}

/* All values, or none. */
static int64_t put_restored(const ArrayFile *file, const char *const *names, tt *into, int n)
{
    unsigned before = report_count();
    tt *values = scope_values(n);
    if (!values)
        return -1;
    Error *error = restore_all(file, names, into, n, values);
    if (error)
        report_error(error_in(error, "tt_restore"));
    if (report_count() != before)
        return -1;
    for (int i = 0; i < n; i++)
        if (into[i].slot || into[i].generation)
            tt_assign_n(&into[i], (tt_tree){ &values[i], 1 });
        else
            into[i] = values[i];
    return step_in(file);
}

int64_t tt_restore_n(const char *path, tt *into, int n, const tt_save_options *given)
{
    PUBLIC;
    OPTIONS(tt_save_options, "tt_restore", given, return -1);
    if (access(path, F_OK) != 0 && errno == ENOENT)
        return -1;
    ArrayFile *file = opened("tt_restore", path);
    if (!file)
        return -1;
    int64_t step = put_restored(file, options.names, into, n);
    arrays_close(file);
    return step;
}
