/* record.c - the recorder: a ring of records for each thread, and the names that records mean by
 * numbers. */
#define _GNU_SOURCE /* pthread_getname_np */
#include "engine/profile/record.h"

#include "base/guard.h"
#include "base/sync.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { FIRST_ROOM = 1 << 10, MOST_ROOM = 1 << 19 }; /* records of a ring: 64 KB, 32 MB */

/* Of the thread that has it; when that ends, of the next that begins with the same name, so that
 * compilations, each a thread of its own, do not pile up. */
typedef struct Ring {
    Lock lock; /* of the next four */
    Record *at;
    int64_t room, n; /* n counts on: record i lies at i % room once the ring is full */
    int64_t lost;    /* for want of memory */
    char name[16];
    struct Ring *next; /* constant once listed */
    bool is_taken;     /* under the list's lock */
} Ring;

_Atomic int recorder_is_on;
static _Atomic uint32_t runs;

static Lock lock; /* of the rings' list, programs, names */
static Ring *rings;
static const ProgramName **programs;
static Arena **arenas; /* of the programs; NULL: of one before it */
static uint32_t nprograms, programs_room;
static char **names;
static int32_t nnames, names_room;

/* The begin of the recording by both clocks; written by record_begin alone. */
static uint64_t begin_ticks;
static int64_t begin_ns, begin_epoch;

static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool has_key;

/* Since 1970. */
static int64_t epoch_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* ---- rings ---- */

static void ring_leave(void *user)
{
    Ring *ring = user;
    lock_take(&lock);
    ring->is_taken = false;
    lock_give(&lock);
}

static void make_key(void)
{
    has_key = !pthread_key_create(&key, ring_leave);
}

static Ring *ring_find(const char *name)
{
    Ring *ring;
    lock_take(&lock);
    for (ring = rings; ring && (ring->is_taken || strcmp(ring->name, name)); ring = ring->next)
        ;
    if (ring)
        ring->is_taken = true;
    lock_give(&lock);
    return ring;
}

static Ring *ring_new(const char *name)
{
    Ring *ring = calloc(1, sizeof *ring);
    if (!ring)
        return NULL;
    memcpy(ring->name, name, sizeof ring->name);
    ring->is_taken = true;
    lock_take(&lock);
    ring->next = rings;
    rings = ring;
    lock_give(&lock);
    return ring;
}

/* The calling thread's; NULL: there is no memory for one. */
static Ring *ring_get(void)
{
    pthread_once(&once, make_key);
    Ring *ring = has_key ? pthread_getspecific(key) : NULL;
    if (ring || !has_key)
        return ring;
    char name[16] = "thread";
    pthread_getname_np(pthread_self(), name, sizeof name);
    ring = ring_find(name);
    if (!ring)
        ring = ring_new(name);
    if (ring && pthread_setspecific(key, ring)) {
        ring_leave(ring);
        return NULL;
    }
    return ring;
}

/* The ring's lock is held. */
static bool ring_has_room(Ring *ring)
{
    if (ring->n < ring->room || ring->room == MOST_ROOM)
        return true;
    int64_t room = ring->room ? 4 * ring->room : FIRST_ROOM;
    room = room < MOST_ROOM ? room : MOST_ROOM;
    Record *at = realloc(ring->at, sizeof *at * (size_t)room);
    if (!at)
        return false;
    ring->at = at;
    ring->room = room;
    return true;
}

void record_add(const Record *record)
{
    Ring *ring = ring_get();
    if (!ring)
        return;
    lock_take(&ring->lock);
    if (ring_has_room(ring))
        ring->at[ring->n++ % ring->room] = *record;
    else
        ring->lost++;
    lock_give(&ring->lock);
}

uint32_t record_new_run(void)
{
    return atomic_fetch_add_explicit(&runs, 1, memory_order_relaxed) + 1; /* relaxed: a number */
}

void record_end(uint64_t begin, RecordKind kind, Str name, int device, size_t bytes)
{
    if (!begin)
        return;
    Record r = { .begin = begin,
                 .end = ticks_now(),
                 .bytes = bytes,
                 .what = record_name(name),
                 .device = (int16_t)device,
                 .other = -1,
                 .kind = kind };
    record_add(&r);
}

void record_memory(int device, size_t bytes)
{
    uint64_t now = ticks_now();
    Record r = { .begin = now,
                 .end = now,
                 .bytes = bytes,
                 .device = (int16_t)device,
                 .other = -1,
                 .kind = RECORD_MEMORY };
    record_add(&r);
}

/* ---- names ---- */

/* Room for one more in a list that holds pointers; the lock is held. */
static bool has_room(void *list, uint32_t n, uint32_t *room)
{
    void **at = list;
    if (n < *room)
        return true;
    uint32_t more = *room ? 2 * *room : 64;
    void *fresh = realloc(*at, sizeof(void *) * more);
    if (!fresh)
        return false;
    *at = fresh;
    *room = more;
    return true;
}

/* Few, so they are looked through: passes, kinds of transfers, what a user calls ranges. */
int32_t record_name(Str name)
{
    int32_t found = -1;
    char *copy = malloc(name.n + 1);
    if (!copy)
        return -1;
    memcpy(copy, name.at, name.n);
    copy[name.n] = 0;
    lock_take(&lock);
    for (int32_t i = 0; i < nnames && found < 0; i++)
        if (strcmp(names[i], copy) == 0)
            found = i;
    uint32_t room = (uint32_t)names_room;
    if (found < 0 && has_room(&names, (uint32_t)nnames, &room)) {
        names_room = (int32_t)room;
        names[found = nnames++] = copy;
        copy = NULL;
    }
    lock_give(&lock);
    free(copy);
    return found;
}

typedef struct Naming {
    const Program *program;
    Arena *arena;
    int n;
    const ProgramName **made; /* the program, then the bodies of its collectives */
} Naming;

static const char *copy_text(Arena *arena, const char *text)
{
    return arena_copy(arena, text, strlen(text) + 1);
}

/* "" for what is not known. */
static const char *place(Arena *arena, const Loc *loc)
{
    if (!loc)
        return "";
    Text text = { 0 };
    loc_print(&text, loc);
    bool is_known = strcmp(text_cstr(&text), "unknown place") != 0;
    const char *copy = is_known ? copy_text(arena, text_cstr(&text)) : "";
    text_free(&text);
    return copy;
}

static const char *path(Arena *arena, const Loc *loc)
{
    return loc && loc->name.n ? str_copy(arena, loc->name).at : "";
}

static const MarkName *name_marks(Arena *arena, const Program *p)
{
    MarkName *marks = ARENA_ARRAY(arena, MarkName, p->nmarks + 1);
    for (int i = 0; i < p->nmarks; i++) {
        const CodeMark *m = &p->marks[i];
        marks[i] = (MarkName){ copy_text(arena, m->name), place(arena, m->loc), path(arena, m->loc),
                               m->flops, m->bytes };
    }
    return marks;
}

static const CollectiveName *name_collectives(Arena *arena, const Program *p)
{
    CollectiveName *all = ARENA_ARRAY(arena, CollectiveName, p->ncollectives + 1);
    for (int i = 0; i < p->ncollectives; i++) {
        const Collective *c = &p->collectives[i];
        all[i] = (CollectiveName){ .name = copy_text(arena, c->name),
                                   .where = place(arena, c->loc),
                                   .path = path(arena, c->loc),
                                   .ngroups = c->nlockstep_groups };
        for (int k = 0; k < c->nin; k++)
            all[i].bytes += type_bytes(c->in_types[k]);
    }
    return all;
}

static const ProgramName *name_one(Arena *arena, const Program *p, const char *name)
{
    ProgramName *made = ARENA_NEW(arena, ProgramName);
    *made = (ProgramName){ .name = name,
                           .ndevices = p->ndevices,
                           .nmarks = p->nmarks,
                           .ncollectives = p->ncollectives,
                           .marks = name_marks(arena, p),
                           .collectives = name_collectives(arena, p) };
    return made;
}

static void name_all(void *user)
{
    Naming *naming = user;
    const Program *p = naming->program;
    Arena *arena = naming->arena = arena_new();
    naming->made = ARENA_ARRAY(arena, const ProgramName *, p->ncollectives + 1);
    const char *name = str_copy(arena, p->name).at;
    naming->made[naming->n++] = name_one(arena, p, name);
    for (int i = 0; i < p->ncollectives; i++)
        if (p->collectives[i].body)
            naming->made[naming->n++] = name_one(arena, p->collectives[i].body, name);
}

/* Numbers in a row; 0: no memory.  The lists have the same room. */
static uint32_t publish(const Naming *naming)
{
    uint32_t first = 0;
    lock_take(&lock);
    bool has = true;
    for (uint32_t i = 0; has && i <= (uint32_t)naming->n; i++) {
        uint32_t arenas_room = programs_room;
        has = has_room(&arenas, nprograms + i, &arenas_room) &&
              has_room(&programs, nprograms + i, &programs_room);
    }
    if (has) {
        nprograms += nprograms == 0; /* 0 is none */
        first = nprograms;
        for (int i = 0; i < naming->n; i++) {
            arenas[nprograms] = i ? NULL : naming->arena;
            programs[nprograms++] = naming->made[i];
        }
    }
    lock_give(&lock);
    return first;
}

uint32_t record_program(const Program *p, const LocTable *locs)
{
    _Atomic uint32_t *number = locs ? &((LocTable *)locs)->recorded : &((Program *)p)->recorded;
    /* acquire: pairs with the release below */
    uint32_t known = atomic_load_explicit(number, memory_order_acquire);
    if (known)
        return known;
    Naming naming = { .program = p };
    const LocTable *outer = loc_table;
    Guard *guard = guard_pause(); /* the names outlive what is under way */
    loc_table = locs;
    Error *error = guard_run("recording", name_all, &naming);
    loc_table = outer;
    guard_resume(guard);
    uint32_t made = error ? 0 : publish(&naming);
    error_free(error);
    if (!made)
        return 0;
    /* release: pairs with the acquire above.  Another thread may have been faster. */
    return atomic_compare_exchange_strong_explicit(number, &known, made, memory_order_release,
                                                   memory_order_acquire)
               ? made
               : known;
}

/* ---- on and off ---- */

Error *record_begin(void)
{
    if (record_is_on())
        return error_new(CODE_PRECONDITION,
                         "the process is being recorded already, by TUTTI_TRACE, TUTTI_PROFILE, "
                         "tt_trace_begin or JAX's profiler; there is one recording at a time");
    lock_take(&lock);
    for (Ring *ring = rings; ring; ring = ring->next) {
        lock_take(&ring->lock);
        ring->n = ring->lost = 0;
        lock_give(&ring->lock);
    }
    lock_give(&lock);
    begin_epoch = epoch_ns();
    begin_ns = clock_now_ns();
    begin_ticks = ticks_now();
    /* release: a thread that records has no use for the times above, but recording_take has */
    atomic_store_explicit(&recorder_is_on, 1, memory_order_release);
    return NULL;
}

void record_stop(void)
{
    atomic_store_explicit(&recorder_is_on, 0, memory_order_relaxed); /* relaxed: see record_is_on */
}

void record_unload(void)
{
    record_stop();
    if (has_key)
        pthread_key_delete(key);
    has_key = false;
    for (Ring *ring; (ring = rings);) {
        rings = ring->next;
        free(ring->at);
        free(ring);
    }
    for (uint32_t i = 1; i < nprograms; i++)
        arena_free(arenas[i]);
    for (int32_t i = 0; i < nnames; i++)
        free(names[i]);
    free(programs);
    free(arenas);
    free(names);
}

/* ---- what was recorded ---- */

/* Nanoseconds of a tick, from both clocks; over a short recording they are read later once more. */
static double tick_ns(void)
{
    enum { LONG_ENOUGH = 10000000 }; /* ns: their reading takes a ten-thousandth of it */
    int64_t ns = clock_now_ns() - begin_ns;
    if (ns < LONG_ENOUGH) {
        struct timespec rest = { 0, LONG_ENOUGH - ns };
        while (nanosleep(&rest, &rest) && errno == EINTR)
            ;
    }
    ns = clock_now_ns() - begin_ns;
    uint64_t ticks = ticks_now() - begin_ticks;
    return ticks ? (double)ns / (double)ticks : 1;
}

typedef struct Copied {
    Record record;
    int32_t thread;
} Copied;

static int by_begin(const void *x, const void *y)
{
    const Record *a = &((const Copied *)x)->record, *b = &((const Copied *)y)->record;
    if (a->begin != b->begin)
        return a->begin < b->begin ? -1 : 1;
    if (a->end != b->end)
        return a->end > b->end ? -1 : 1;
    return (int)a->kind - (int)b->kind;
}

/* Copies what a ring holds, at most `most` records, and says how many. */
static int64_t ring_copy(Ring *ring, Copied *to, int64_t most, int32_t thread, int64_t *lost)
{
    lock_take(&ring->lock);
    int64_t n = ring->n < ring->room ? ring->n : ring->room;
    n = n < most ? n : most;
    for (int64_t i = 0; i < n; i++)
        to[i] = (Copied){ ring->at[(ring->n - n + i) % ring->room], thread };
    *lost = ring->lost + ring->n - n;
    lock_give(&ring->lock);
    return n;
}

static ThreadName thread_name(Arena *arena, const Ring *ring)
{
    int worker = -1;
    sscanf(ring->name, "tutti-%d", &worker);
    return (ThreadName){ .name = copy_text(arena, ring->name), .worker = worker };
}

static void take_names(Arena *arena, Recording *out)
{
    lock_take(&lock);
    uint32_t np = nprograms;
    int32_t nn = nnames;
    lock_give(&lock);
    static const ProgramName unknown = { .name = "unknown" };
    const ProgramName **programs_copy = ARENA_ARRAY(arena, const ProgramName *, np + 1);
    const char **names_copy = ARENA_ARRAY(arena, const char *, nn + 1);
    lock_take(&lock);
    for (uint32_t i = 1; i < np; i++)
        programs_copy[i] = programs[i];
    for (int32_t i = 0; i < nn; i++)
        names_copy[i] = names[i];
    lock_give(&lock);
    programs_copy[0] = &unknown;
    out->nprograms = np ? np : 1;
    out->programs = programs_copy;
    out->nnames = nn;
    out->names = names_copy;
}

static int64_t to_ns(uint64_t ticks, double scale)
{
    return (int64_t)((double)(int64_t)(ticks - begin_ticks) * scale);
}

/* A program or a name that was published after take_names has no name here. */
static Record settle(const Recording *r, Record x, double scale)
{
    x.begin = (uint64_t)to_ns(x.begin, scale);
    x.met = x.met ? (uint64_t)to_ns(x.met, scale) : 0;
    x.end = (uint64_t)to_ns(x.end, scale);
    if (x.kind == RECORD_COLLECTIVE)
        x.work = (uint64_t)((double)x.work * scale);
    x.program = x.program < r->nprograms ? x.program : 0;
    const ProgramName *p = r->programs[x.program];
    bool is_mark = x.kind == RECORD_KERNEL || x.kind == RECORD_SLICES;
    bool is_name = x.kind == RECORD_COMPILE || x.kind == RECORD_TRANSFER || x.kind == RECORD_RANGE;
    int most = is_mark                       ? p->nmarks
               : is_name                     ? r->nnames
               : x.kind == RECORD_COLLECTIVE ? p->ncollectives
                                             : INT32_MAX;
    if (x.what >= most)
        x.what = -1;
    return x;
}

/* Records that began before the recording, of runs under way then, are left out. */
static void take_records(Recording *out, const Copied *all, int64_t n, double scale)
{
    for (int64_t i = 0; i < n; i++) {
        Record x = settle(out, all[i].record, scale);
        if ((int64_t)x.begin < 0)
            continue;
        out->records[out->n] = x;
        out->thread[out->n++] = all[i].thread;
        out->ns = out->ns > (int64_t)x.end ? out->ns : (int64_t)x.end;
        out->ndevices = out->ndevices > x.device + 1 ? out->ndevices : x.device + 1;
    }
}

void recording_take(Arena *arena, Recording *out)
{
    *out = (Recording){ .epoch_ns = begin_epoch };
    double scale = tick_ns();
    lock_take(&lock);
    Ring *first = rings;
    lock_give(&lock);
    int64_t most = 0, n = 0;
    for (Ring *ring = first; ring; ring = ring->next) {
        lock_take(&ring->lock);
        most += ring->n < ring->room ? ring->n : ring->room;
        lock_give(&ring->lock);
        out->nthreads++;
    }
    ThreadName *threads = ARENA_ARRAY(arena, ThreadName, out->nthreads + 1);
    Copied *all = heap_rows((size_t)most + 1, sizeof *all, "a recording");
    int32_t t = 0;
    for (Ring *ring = first; ring; ring = ring->next, t++) {
        threads[t] = thread_name(arena, ring);
        n += ring_copy(ring, all + n, most - n, t, &threads[t].lost);
        out->lost += threads[t].lost;
    }
    out->threads = threads;
    take_names(arena, out);
    qsort(all, (size_t)n, sizeof *all, by_begin);
    out->records = ARENA_ARRAY(arena, Record, n + 1);
    out->thread = ARENA_ARRAY(arena, int32_t, n + 1);
    take_records(out, all, n, scale);
    heap_free(all);
}
