/* save.c - tt_save: a tree of arrays in a file, which several processes write together.
 *
 *     process 0        path.part: the head, and a mark         its bytes   sync        checksum, rename
 *     the others                          is the mark there?   their bytes   sync
 *                      ------------------ gather ------------------------- gather ---- gather --->
 *
 * Each writes the pieces that it holds, at their places; nothing is sent but the words between, of which the first,
 * before all this, is that each has its arrays.  A process without memory says that it is not well.  They
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
    void *room;  /* for the largest array, where the first writes and this process only reads */
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

/* What was said by all. */
typedef struct Words {
    uint32_t first; /* process 0's number */
    uint32_t sum;   /* of all numbers, by exclusive or */
} Words;

/* Every process says whether it is well, and a number.  *error is this process's own; if it has none, it
 * gets one that names who is not well.  A process that is lost is the cause of whatever else went wrong, and
 * takes its place.  It needs no memory: who has none must say so. */
static Words say(Error **error, uint32_t number)
{
    Word mine = { !*error, number }, some[GATHER_MOST];
    Words all = { 0 };
    Error *lost = NULL;
    int n, unwell = -1;
    for (int first = 0; first < client_processes() && !lost; first += n) {
        n = client_processes() - first < GATHER_MOST ? client_processes() - first : GATHER_MOST;
        lost = client_gather(first, n, &mine, sizeof mine, some);
        for (int i = 0; i < n && !lost; i++) {
            all.first = first + i ? all.first : some[i].number;
            all.sum ^= some[i].number;
            unwell = some[i].is_well || unwell >= 0 ? unwell : first + i;
        }
    }
    if (lost) {
        error_free(*error);
        *error = lost;
    } else if (unwell >= 0 && !*error) {
        *error = error_new(CODE_UNAVAILABLE, "process %d could not do its part", unwell);
    }
    return all;
}

bool all_say(const char *who, bool is_done)
{
    if (client_processes() == 1)
        return is_done;
    Error *error = is_done ? NULL : error_new(CODE_INTERNAL, "said already");
    say(&error, 0);
    bool are_well = !error;
    if (error && is_done)
        report_error(error_in(error, "%s", who));
    else
        error_free(error);
    return are_well;
}

/* ---- written by all ---- */

typedef struct Together {
    Save *save;
    SafetensorsPlan plan;
    Aside aside;
    bool is_open;
    uint32_t mark;
    uint32_t sum;   /* of all processes' checksums */
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
    return safetensors_seal(&t->plan, &t->aside, crc32_of_shares(t->sum, t->plan.size));
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

/* One step of it.  Without memory, which is reported, the process goes on to say that it is not well. */
static bool step_together(Together *t, GuardFn *f)
{
    bool is_through = library_guard("tt_save", f, t);
    if (!is_through && !t->save->error)
        t->save->error = error_new(CODE_EXHAUSTED, "there is no memory to write %s", t->save->path);
    return is_through;
}

static void write_together(Save *s)
{
    Together t = { .save = s };
    if (!step_together(&t, begin_together)) { /* what it had made is gone */
        t = (Together){ .save = s };
        s->types = NULL;
        s->rooms = NULL;
    }
    t.mark = say(&s->error, t.mark).first;
    if (!s->error && !step_together(&t, write_own_guarded))
        t.is_open = client_process() == 0; /* the others had opened it in this step */
    t.sum = say(&s->error, t.crc).sum;
    step_together(&t, end_together);
    say(&s->error, 0);
    safetensors_plan_free(&t.plan);
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
    for (int i = 0; i < s->n; i++)
        TRY(get_array(s, i, s->room));
    return NULL;
}

/* All that a process needs before the arrays travel; a process that cannot have it calls the rest off. */
static void prepare_first(void *user)
{
    Save *s = user;
    size_t most = 0;
    name_arrays(s);
    for (int i = 0; i < s->n; i++)
        most = most > type_bytes(s->arrays[i]->type) ? most : type_bytes(s->arrays[i]->type);
    if (client_process() != 0)
        s->room = heap_new(most + 1, "an array");
}

static void write_first(void *user)
{
    Save *s = user;
    bool is_npz = cstr_ends_with(s->path, ".npz");
    s->error = client_process() != 0 ? read_all(s)
               : is_npz              ? npz_write(s->path, s->n, s->types, get_array, s)
                        : safetensors_write(s->path, s->n, s->types, s->step, get_array, s);
}

static bool write_by_first(Save *s)
{
    bool is_ready = library_guard("tt_save", prepare_first, s);
    if (!is_ready) { /* what it had made is gone */
        s->types = NULL;
        s->rooms = NULL;
        s->room = NULL;
    }
    bool is_there = all_say("tt_save", is_ready);
    if (is_there)
        is_there = library_guard("tt_save", write_first, s);
    heap_free(s->room);
    free_names(s);
    return is_there;
}

static bool write_tree(Save *s)
{
    bool is_there = true;
    bool is_together = client_processes() > 1 && !cstr_ends_with(s->path, ".npz");
    if (is_together)
        write_together(s);
    else
        is_there = write_by_first(s);
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
    bool is_ready = names_fit("tt_save", options.names, tree.n) && take_arrays(&s, tree);
    bool is_done = all_say("tt_save", is_ready) && write_tree(&s);
    for (int i = 0; i < s.n; i++)
        array_release(s.arrays[i]);
    free(s.arrays);
    free(s.slot);
    return is_done;
}
