/* files.c - arrays in files: NumPy's, safetensors, and checkpoints, which are safetensors with a step
 * and a checksum.  save.c writes trees. */
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

/* With several processes all read it, for each may have pieces of it; the first writes. */
static bool save_npy(const char *path, Array *a)
{
    void *data = malloc(type_bytes(a->type) + 1);
    if (!data)
        report_broken("tt_save_npy: no memory on the host for %s", type_text(a->type));
    bool read = all_say("tt_save_npy", data) && array_read(a, data);
    Error *error = read && client_process() == 0 ? npy_write(path, a->type, data) : NULL;
    free(data);
    if (error)
        report_error(error_in(error, "tt_save_npy"));
    return first_says(read && !error);
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
        return old.slot || old.generation ? no_such_array(file, name) : NULL; /* it stays absent */
    bool is_held = held_now(old, &held, &layout);
    Error *error = layout ? load(file, found, layout, &a) : NULL;
    if (is_held && a && !type_equal(a->type, held.type)) {
        bool is_shaped = type_same_shape(a->type, held.type);
        error = error_new(CODE_INVALID, "%s is %s, and what it is restored to is %s%s", found->path,
                          type_text(a->type), type_text(held.type),
                          is_shaped ? ": tt_open, tt_file_get and tt_astype convert it" : "");
        array_release(a);
        a = NULL;
    }
    if (is_held)
        value_unpin(old);
    *out = a ? value_of_array(a, false) : NO_VALUE;
    return error;
}

/* The file has arrays that the tree does not name: which. */
static Error *not_in_tree(const ArrayFile *file, const char *const *names, int n)
{
    enum { MOST = 8 };
    char room[NAME_ROOM];
    Text text = { .is_message = true };
    int more = 0;
    for (int k = 0; k < file->n; k++) {
        bool is_named = false;
        for (int i = 0; i < n && !is_named; i++)
            is_named = str_is(file->at[k].name, array_name(names, i, room));
        if (!is_named && more++ < MOST)
            text_printf(&text, "%s%.*s", more > 1 ? ", " : "", STR_ARG(file->at[k].name));
    }
    Error *error = error_new(CODE_INVALID, "%s holds %d arrays, and the tree %d: it has no %s%s",
                             file->path, file->n, n, text_cstr(&text), more > MOST ? ", ..." : "");
    text_free(&text);
    return error;
}

static Error *restore_all(const ArrayFile *file, const char *const *names, const tt *into, int n,
                          tt *out)
{
    char room[NAME_ROOM];
    int nthere = 0;
    for (int i = 0; i < n; i++) {
        TRY(restore_one(file, array_name(names, i, room), into[i], &out[i]));
        nthere += out[i].slot != 0;
    }
    return nthere == file->n ? NULL : not_in_tree(file, names, n);
}

/* What the file says, 0 if nothing. */
static int64_t step_in(const ArrayFile *file)
{
    const FileNote *note = arrays_note(file, "step");
    int64_t step = note ? strtoll(note->value.at, NULL, 10) : 0; /* ends with a NUL */
    return step < 0 ? 0 : step;
}

/* ---- the same file for all processes ---- */

/* What a process sees of a file. */
typedef struct Sight {
    enum { NO_FILE, BAD_FILE, GOOD_FILE } state;
    uint32_t share; /* of the checksum: each looks at a part of the bytes */
    uint64_t size;
    int64_t step;
} Sight;

static Error *look(const ArrayFile *file, Sight *out)
{
    TRY(safetensors_share(file, client_process(), client_processes(), &out->share));
    *out = (Sight){ GOOD_FILE, out->share, file->bytes.n, step_in(file) };
    return NULL;
}

/* Do processes `first` on see the same as this one? */
static Error *compare_sights(const char *path, const Sight *mine, int first, int n,
                             const Sight *all)
{
    for (int i = 0; i < n; i++) {
        int p = first + i;
        if (all[i].state == BAD_FILE)
            return error_new(CODE_INVALID, "process %d cannot read %s", p, path);
        if (all[i].state != mine->state)
            return error_new(CODE_INVALID,
                             "process %d sees %s, and process %d does not: it must lie where all "
                             "processes see it",
                             mine->state == NO_FILE ? p : client_process(), path,
                             mine->state == NO_FILE ? client_process() : p);
        if (all[i].size != mine->size || all[i].step != mine->step)
            return error_new(CODE_INVALID,
                             "%s is of step %lld in process %d and of step %lld in process %d: it "
                             "must lie where all processes see it",
                             path, (long long)all[i].step, p, (long long)mine->step,
                             client_process());
    }
    return NULL;
}

/* What all processes see, compared; *shares: of the checksum.  It needs no memory: who has none must say so. */
static Error *meet_sights(const char *path, const Sight *mine, uint32_t *shares)
{
    Sight some[GATHER_MOST];
    Error *error = NULL;
    int n;
    for (int first = 0; first < client_processes(); first += n) {
        n = client_processes() - first < GATHER_MOST ? client_processes() - first : GATHER_MOST;
        Error *lost = client_gather(first, n, mine, sizeof *mine, some);
        if (lost) {
            error_free(error);
            return lost;
        }
        for (int i = 0; i < n; i++)
            *shares ^= some[i].share;
        if (!error)
            error = compare_sights(path, mine, first, n, some);
    }
    return error;
}

/* Called by all processes.  NULL: all have the same file, and it is what was written; or none has
 * one, if file is NULL. */
static Error *check_file(const char *path, const ArrayFile *file, bool is_bad)
{
    Sight mine = { .state = is_bad ? BAD_FILE : NO_FILE };
    uint32_t shares = 0;
    Error *error = file ? look(file, &mine) : NULL;
    if (error)
        mine.state = BAD_FILE;
    Error *met = meet_sights(path, &mine, &shares);
    if (error || is_bad) {
        error_free(met);
        return error;
    }
    return met || !file ? met : safetensors_compare(file, shares);
}

/* ---- into variables ---- */

/* All values, or none. */
static int64_t put_restored(const ArrayFile *file, const char *const *names, tt *into, int n)
{
    unsigned before = report_count();
    tt *values = scope_values(n);
    Error *error = values ? restore_all(file, names, into, n, values) : NULL;
    if (error)
        report_error(error_in(error, "tt_restore"));
    bool is_well = report_count() == before;
    if (!all_say("tt_restore", is_well) || !is_well)
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
    Error *error = client_need();
    if (error)
        return report_error(error), -1;
    bool is_there = access(path, F_OK) == 0 || errno != ENOENT;
    bool are_named = names_fit("tt_restore", options.names, n);
    ArrayFile *file = is_there && are_named ? opened("tt_restore", path) : NULL;
    error = check_file(path, file, !are_named || (is_there && !file));
    if (error)
        report_error(error_in(error, "tt_restore"));
    int64_t step = file && !error ? put_restored(file, options.names, into, n) : -1;
    arrays_close(file);
    return step;
}
