/* save.c - tt_save: a tree of arrays in a file, which several processes write together.
 *
 *     process 0        path.part: the head, and a mark         its bytes   sync        checksum, rename
 *     the others                          is the mark there?   their bytes   sync
 *                      ------------------ gather ------------------------- gather ---- gather --->
 *
 * Each writes the pieces that it holds, at their places; nothing is sent but the words between.  They
 * learn in each gather whether all could do their part, so the file takes its name when all of it is
 * on the disk, or not at all.  The mark tells a file that all see from one of the same name on each
 * host's own disk. */
#include "files/arrays.h"
#include "files/crc32.h"
#include "front/api/arrays.h"
#include "front/value/library.h"
#include "front/value/report.h"
#include "front/value/value.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

typedef struct Save {
    const char *path;
    int64_t step;
    int n;
    Array **arrays;
    int *slot; /* which of the tree's each of them is: absent ones are left out */
    const char *const *names;
    NamedType *types;
    char *rooms; /* for names */
    Error *error;
} Save;

const char *array_name(const char *const *names, int i, char *room)
{
    if (names)
        return names[i];
    snprintf(room, NAME_ROOM, "%d", i);
    return room;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

bool names_fit(const char *who, const char *const *names, int n)
{
    int given = 0;
    while (names && given < n && names[given])
        given++;
    if (names && given < n)
        return report_broken("%s: %d names for %d arrays", who, given, n), false;
    const char **sorted = names ? malloc(((size_t)n + 1) * sizeof *sorted) : NULL;
    if (names && !sorted)
        return report_broken("%s: no memory on the host for %d names", who, n), false;
    const char *twice = NULL;
    if (names) {
        memcpy(sorted, names, (size_t)n * sizeof *sorted);
        qsort(sorted, (size_t)n, sizeof *sorted, by_name);
    }
    for (int i = 1; names && i < n && !twice; i++)
        twice = strcmp(sorted[i - 1], sorted[i]) == 0 ? sorted[i] : NULL;
    free(sorted);
    if (twice)
        report_broken("%s: two arrays are named %s", who, twice);
    return !twice;
}

static void name_arrays(Save *s)
{
    s->types = HEAP_ARRAY(NamedType, s->n, "a list of arrays");
    s->rooms = HEAP_ARRAY(char, (size_t)s->n *NAME_ROOM, "names of arrays");
    for (int i = 0; i < s->n; i++)
        s->types[i] = (NamedType){ array_name(s->names, s->slot[i], s->rooms + i * NAME_ROOM),
                                   s->arrays[i]->type };
}

static void free_names(Save *s)
{
    heap_free(s->rooms);
    heap_free(s->types);
}

/* ---- words between processes ---- */

bool first_says(bool is_done)
{
    if (client_processes() == 1)
        return is_done;
    char verdict = is_done;
    Error *error = client_exchange(1, &(TuttiPiece){ 0, &verdict, 1 });
    if (error)
        report_error(error);
    return !error && verdict;
}

/* What a process says in a gather. */
typedef struct Word {
    bool is_well;
    uint32_t number;
} Word;

/* Every process says whether it is well, and a number; all[p] is what process p said.  *error is this
 * process's own; if it has none, it gets one that names who is not well.  A process that is lost is
 * the cause of whatever else went wrong, and takes its place. */
static void say(Error **error, uint32_t number, Word *all)
{
    Word mine = { !*error, number };
    Error *lost = client_gather(&mine, sizeof mine, all);
    for (int p = 0; p < client_processes() && !lost && !*error; p++)
        if (!all[p].is_well)
            *error = error_new(CODE_UNAVAILABLE, "process %d could not do its part", p);
    if (lost) {
        error_free(*error);
        *error = lost;
    }
}

bool all_say(const char *who, bool is_done)
{
    if (client_processes() == 1)
        return is_done;
    Word *all = calloc((size_t)client_processes(), sizeof *all);
    Error *error = is_done ? NULL : error_new(CODE_INTERNAL, "said already");
    if (all)
        say(&error, 0, all);
    free(all);
    if (error && is_done)
        report_error(error_in(error, "%s", who));
    else
        error_free(error);
    return all && !error;
}

/* ---- written by all ---- */

typedef struct Together {
    Save *save;
    SafetensorsPlan plan;
    Aside aside;
    bool is_open;
    Word *words;
    uint32_t mark;
    size_t base;    /* of the array at hand, in the file */
    CrcShare share; /* of the tile at hand */
    uint32_t crc;   /* of the tiles before */
} Together;

static Error *put_mark(Together *t)
{
    TRY(aside_write(&t->aside, t->plan.header.at, t->plan.header.n));
    return safetensors_seal(&t->plan, &t->aside, t->mark);
}

static void begin_together(void *user)
{
    Together *t = user;
    Save *s = t->save;
    name_arrays(s);
    t->words = HEAP_ARRAY(Word, client_processes(), "the words of all processes");
    s->error = safetensors_plan(s->n, s->types, s->step, &t->plan);
    if (s->error || client_process() != 0)
        return;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    t->mark = (uint32_t)now.tv_nsec ^ (uint32_t)now.tv_sec << 8 ^ (uint32_t)getpid() << 16;
    s->error = aside_open(s->path, &t->aside);
    t->is_open = !s->error;
    if (!s->error)
        s->error = put_mark(t);
}

static Error *find_mark(Together *t)
{
    char wanted[16], found[16] = "";
    snprintf(wanted, sizeof wanted, "%08x", (unsigned)t->mark);
    Error *error = aside_join(t->save->path, &t->aside);
    t->is_open = true;
    if (!error && pread(t->aside.file, found, 8, (off_t)t->plan.crc_at) == 8 &&
        strcmp(found, wanted) == 0)
        return NULL;
    error_free(error);
    return error_new(CODE_INVALID,
                     "process %d does not see the %s.part that process 0 has made: it must lie "
                     "where all processes see it",
                     client_process(), t->save->path);
}

static Error *put_run(void *user, size_t at, const void *bytes, size_t n)
{
    Together *t = user;
    size_t place = t->base + at;
    if (place < t->share.at) { /* another tile */
        t->crc ^= crc32_share_end(&t->share, t->plan.size);
        t->share = (CrcShare){ 0 };
    }
    crc32_share_add(&t->share, place, bytes, n);
    return aside_write_at(&t->aside, place, bytes, n);
}

static Error *write_own(Together *t)
{
    Save *s = t->save;
    if (client_process() != 0)
        TRY(find_mark(t));
    else
        crc32_share_add(&t->share, 0, t->plan.header.at, t->plan.header.n);
    for (int k = 0; k < s->n; k++) {
        int i = t->plan.order[k];
        t->base = t->plan.at[i];
        TRY(array_own_runs(s->arrays[i], k, put_run, t));
    }
    t->crc ^= crc32_share_end(&t->share, t->plan.size);
    return aside_sync(&t->aside);
}

static void write_own_guarded(void *user)
{
    Together *t = user;
    t->save->error = write_own(t);
}

/* The first: all have written. */
static Error *seal(Together *t)
{
    uint32_t crc = 0;
    for (int p = 0; p < client_processes(); p++)
        crc ^= t->words[p].number;
    return safetensors_seal(&t->plan, &t->aside, crc32_of_shares(crc, t->plan.size));
}

static void end_together(void *user)
{
    Together *t = user;
    Save *s = t->save;
    if (t->is_open && client_process() == 0)
        s->error = aside_finish(&t->aside, s->error ? s->error : seal(t));
    else if (t->is_open)
        aside_leave(&t->aside);
}

/* A process that has no memory for the words of the others cannot take part: they are told when it
 * ends. */
static void write_together(Save *s)
{
    Together t = { .save = s };
    if (!library_guard("tt_save", begin_together, &t)) {
        s->error = error_new(CODE_EXHAUSTED, "there is no memory for the words of all processes");
        return;
    }
    say(&s->error, t.mark, t.words);
    t.mark = t.words[0].number;
    if (!s->error && !library_guard("tt_save", write_own_guarded, &t))
        s->error = error_new(CODE_EXHAUSTED, "there is no memory to write");
    say(&s->error, t.crc, t.words);
    library_guard("tt_save", end_together, &t);
    say(&s->error, 0, t.words);
    safetensors_plan_free(&t.plan);
    heap_free(t.words);
    free_names(s);
}

/* ---- written by the first ---- */

static Error *get_array(void *user, int i, void *data)
{
    Save *s = user;
    return array_read(s->arrays[i], data)
               ? NULL
               : error_new(CODE_INTERNAL, "%s: an array cannot be read", s->path);
}

/* The others only read, in the order in which the first writes. */
static Error *read_all(Save *s)
{
    for (int i = 0; i < s->n; i++) {
        void *data = heap_new(type_bytes(s->arrays[i]->type) + 1, "an array");
        Error *error = get_array(s, i, data);
        heap_free(data);
        TRY(error);
    }
    return NULL;
}

static void write_first(void *user)
{
    Save *s = user;
    bool is_npz = cstr_ends_with(s->path, ".npz");
    name_arrays(s);
    s->error = client_process() != 0 ? read_all(s)
               : is_npz              ? npz_write(s->path, s->n, s->types, get_array, s)
                        : safetensors_write(s->path, s->n, s->types, s->step, get_array, s);
    free_names(s);
}

static bool write_tree(Save *s)
{
    bool is_there = true;
    bool is_together = client_processes() > 1 && !cstr_ends_with(s->path, ".npz");
    if (is_together)
        write_together(s);
    else
        is_there = library_guard("tt_save", write_first, s);
    bool is_done = is_there && !s->error;
    if (s->error)
        report_error(error_in(s->error, "tt_save"));
    return is_together ? is_done : first_says(is_done);
}

/* The arrays of the tree that are there, held.  False: reported. */
static bool take_arrays(Save *s, tt_tree tree)
{
    s->arrays = calloc((size_t)tree.n + 1, sizeof *s->arrays);
    s->slot = calloc((size_t)tree.n + 1, sizeof *s->slot);
    if (!s->arrays || !s->slot)
        return report_broken("tt_save: no memory on the host for a list of %d arrays", tree.n),
               false;
    for (int i = 0; i < tree.n; i++) {
        if (value_is_absent(tree.leaf[i]))
            continue;
        Array *a = settled_array(tree.leaf[i], "tt_save");
        if (!a)
            return false;
        s->arrays[s->n] = a;
        s->slot[s->n++] = i;
    }
    return true;
}

bool tt_save_n(const char *path, tt_tree tree, const tt_save_options *given)
{
    PUBLIC;
    OPTIONS(tt_save_options, "tt_save", given, return false);
    Save s = { .path = path, .step = options.step, .names = options.names };
    if (options.step < 0)
        return report_broken("tt_save: the step is %lld; it counts from 0",
                             (long long)options.step),
               false;
    if (options.step && cstr_ends_with(path, ".npz"))
        return report_broken("tt_save: %s: an .npz has no place for the step", path), false;
    if (!names_fit("tt_save", options.names, tree.n))
        return false;
    bool is_done = take_arrays(&s, tree) && write_tree(&s);
    for (int i = 0; i < s.n; i++)
        array_release(s.arrays[i]);
    free(s.arrays);
    free(s.slot);
    return is_done;
}
