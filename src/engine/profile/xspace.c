/* xspace.c - a recording as an XSpace, which JAX's profiler puts beside what it knows of Python.
 *
 * A plane for each device, with lines
 *     XLA Modules   each run on the device, bound to Python's call by its context
 *     XLA Ops       kernels, and collectives while they are performed; arrows from the device that
 *                   came last to the others
 *     Waits         at collectives, and for a worker
 *
 * Planes are named as xprof knows them: only for "/device:TPU:N" it fills its tables of operations, and
 * those of other names it does not show at all. */
#include "engine/profile/views.h"

#include "base/guard.h"
#include "engine/profile/limits.h"
#include "pjrt/proto.h"

#include <inttypes.h>
#include <string.h>

/* Numbers of the stats' names in each plane. */
typedef enum StatName {
    STAT_PROGRAM_ID = 1,
    STAT_SYMBOL_ID,
    STAT_CATEGORY,
    STAT_FLOPS,
    STAT_BYTES,
    STAT_TF_OP,
    STAT_SOURCE,
    STAT_CONTEXT_TYPE,
    STAT_CONTEXT,
    STAT_FLOW,
    STAT_LAST,
    STAT_PEAK_TFLOPS,
    STAT_PEAK_GBYTES,
    STAT_DEVICE_TYPE,
    STAT_NAMES
} StatName;

static const char *const stat_names[STAT_NAMES] = {
    [STAT_PROGRAM_ID] = "program_id",
    [STAT_SYMBOL_ID] = "symbol_id",
    [STAT_CATEGORY] = "hlo_category",
    [STAT_FLOPS] = "flops",
    [STAT_BYTES] = "bytes_accessed",
    [STAT_TF_OP] = "tf_op",
    [STAT_SOURCE] = "source",
    [STAT_CONTEXT_TYPE] = "_ct",
    [STAT_CONTEXT] = "_c",
    [STAT_FLOW] = "flow",
    [STAT_LAST] = "last device",
    [STAT_PEAK_TFLOPS] = "peak_teraflops_per_second",
    [STAT_PEAK_GBYTES] = "peak_hbm_bw_gigabytes_per_second",
    [STAT_DEVICE_TYPE] = "device_type_string",
};

enum { MODULES = 1, OPS, WAITS, LINES };
enum { WAIT_ID = 1, READY_ID = 2, FIRST_ID = 3 }; /* of events' names; then programs, marks, ... */

/* Where a run is on a device. */
typedef struct RunSpan {
    uint64_t begin, end, context;
    uint32_t program;
} RunSpan;

typedef struct Plane {
    const Recording *r;
    const struct Contexts *contexts;
    int device;
    Text lines[LINES]; /* events of each */
    int *first;     /* [nprograms] the number of its name; behind it its marks' and collectives' */
    bool *is_named; /* [all] */
    int nids;
    Text names; /* event_metadata */
} Plane;

/* ---- pieces ---- */

static void put_stat_number(Text *out, int field, StatName name, uint64_t value)
{
    Text stat = { 0 };
    proto_put_number(&stat, 1, name);
    proto_put_number(&stat, 3, value);
    proto_put_message(out, field, &stat);
}

static void put_stat_text(Text *out, int field, StatName name, const char *value)
{
    if (!*value)
        return;
    Text stat = { 0 };
    proto_put_number(&stat, 1, name);
    proto_put_bytes(&stat, 5, str_of(value));
    proto_put_message(out, field, &stat);
}

static void put_stat_double(Text *out, int field, StatName name, double value)
{
    Text stat = { 0 };
    proto_put_number(&stat, 1, name);
    proto_put_double(&stat, 2, value);
    proto_put_message(out, field, &stat);
}

/* "f.py:3" of "f.py:3:7": xprof wants a file and a line. */
static void put_stat_source(Text *out, int field, const char *where)
{
    const char *last = strrchr(where, ':'), *before = last;
    while (before && before > where && before[-1] >= '0' && before[-1] <= '9')
        before--;
    bool has_column = last && before < last && before > where && before[-1] == ':';
    Text source = { 0 };
    text_add(&source, where, has_column ? (size_t)(last - where) : strlen(where));
    put_stat_text(out, field, STAT_SOURCE, text_cstr(&source));
    text_free(&source);
}

/* An entry of a map from numbers to messages. */
static void put_entry(Text *out, int field, uint64_t key, Text *value)
{
    Text entry = { 0 };
    proto_put_number(&entry, 1, key);
    proto_put_message(&entry, 2, value);
    proto_put_message(out, field, &entry);
}

/* What an event is called, once in a plane; returns its message to be filled on, or NULL. */
static bool begin_name(Plane *p, int id, const char *name, Text *meta)
{
    if (p->is_named[id])
        return false;
    p->is_named[id] = true;
    proto_put_number(meta, 1, (uint64_t)id);
    proto_put_bytes(meta, 2, str_of(name));
    return true;
}

static void begin_event(Text *event, int id, uint64_t from, uint64_t to)
{
    enum { PS = 1000 }; /* of a nanosecond */
    proto_put_number(event, 1, (uint64_t)id);
    proto_put_number(event, 2, from * PS);
    proto_put_number(event, 3, (to - from) * PS);
}

/* ---- names ---- */

static int id_of_mark(const Plane *p, const Record *x)
{
    return p->first[x->program] + 1 + (x->what < 0 ? 0 : 1 + x->what);
}

static int id_of_collective(const Plane *p, const Record *x)
{
    return p->first[x->program] + 2 + p->r->programs[x->program]->nmarks +
           (x->what < 0 ? 0 : 1 + x->what);
}

static void number_names(Plane *p)
{
    const Recording *r = p->r;
    p->first = HEAP_ARRAY(int, r->nprograms, "a table");
    p->nids = FIRST_ID;
    for (uint32_t i = 0; i < r->nprograms; i++) {
        p->first[i] = p->nids;
        p->nids += 3 + r->programs[i]->nmarks + r->programs[i]->ncollectives;
    }
    p->is_named = HEAP_ARRAY(bool, p->nids, "a table");
}

/* What xprof's tables want to know of an operation. */
static void put_operation(Plane *p, Text *meta, int id, const Record *x, const char *category,
                          const char *where, const char *path)
{
    put_stat_number(meta, 5, STAT_PROGRAM_ID, x->program);
    put_stat_number(meta, 5, STAT_SYMBOL_ID, (uint64_t)id);
    put_stat_text(meta, 5, STAT_CATEGORY, category);
    put_stat_text(meta, 5, STAT_TF_OP, path);
    put_stat_source(meta, 5, where);
    put_entry(&p->names, 4, (uint64_t)id, meta);
}

static void name_kernel(Plane *p, int id, const Record *x)
{
    Text meta = { 0 };
    MarkName m = mark_name(p->r, x);
    if (!begin_name(p, id, m.name, &meta))
        return;
    put_stat_number(&meta, 5, STAT_FLOPS, (uint64_t)m.flops);
    put_stat_number(&meta, 5, STAT_BYTES, (uint64_t)m.bytes);
    put_operation(p, &meta, id, x, strchr(m.name, '+') ? "loop fusion" : m.name, m.where, m.path);
}

static void name_collective(Plane *p, int id, const Record *x)
{
    Text meta = { 0 };
    CollectiveName c = collective_name(p->r, x);
    if (!begin_name(p, id, c.name, &meta))
        return;
    char category[32]; /* "all-reduce" */
    size_t n = strlen(c.name) < sizeof category - 1 ? strlen(c.name) : sizeof category - 1;
    for (size_t i = 0; i < n; i++)
        category[i] = c.name[i] == '_' ? '-' : c.name[i];
    category[n] = 0;
    put_stat_number(&meta, 5, STAT_BYTES, c.bytes);
    put_operation(p, &meta, id, x, category, c.where, c.path);
}

static void name_plainly(Plane *p, int id, const char *name)
{
    Text meta = { 0 };
    if (begin_name(p, id, name, &meta))
        put_entry(&p->names, 4, (uint64_t)id, &meta);
}

/* ---- events ---- */

static void put_kernel(Plane *p, const Record *x)
{
    Text event = { 0 };
    int id = id_of_mark(p, x);
    name_kernel(p, id, x);
    begin_event(&event, id, x->begin, x->end);
    put_stat_source(&event, 4, mark_name(p->r, x).where);
    proto_put_message(&p->lines[OPS], 4, &event);
}

static void put_wait(Plane *p, int id, const char *name, uint64_t from, uint64_t to, int last)
{
    Text event = { 0 };
    if (to <= from)
        return;
    name_plainly(p, id, name);
    begin_event(&event, id, from, to);
    if (last >= 0)
        put_stat_number(&event, 4, STAT_LAST, (uint64_t)last);
    proto_put_message(&p->lines[WAITS], 4, &event);
}

/* The members of a meeting share the number of its flow: its run, and when it was. */
static uint64_t flow_of(const Record *x)
{
    enum { OUT = 2, IN = 1, CATEGORY_BITS = 6, DIRECTION_BITS = 2 };
    uint64_t id = ((x->met << 12) ^ ((uint64_t)x->run << 4) ^ (uint64_t)x->what) &
                  ((UINT64_C(1) << (64 - CATEGORY_BITS - DIRECTION_BITS)) - 1);
    return (x->other == x->device ? OUT : IN) | id << DIRECTION_BITS;
}

static void put_collective(Plane *p, const Record *x)
{
    put_wait(p, WAIT_ID, "wait", x->begin, x->met, x->other);
    if (x->other < 0)
        return;
    Text event = { 0 };
    int id = id_of_collective(p, x);
    name_collective(p, id, x);
    begin_event(&event, id, x->met, x->end);
    put_stat_number(&event, 4, STAT_FLOW, flow_of(x));
    put_stat_number(&event, 4, STAT_LAST, (uint64_t)x->other);
    put_stat_source(&event, 4, collective_name(p->r, x).where);
    proto_put_message(&p->lines[OPS], 4, &event);
}

/* The runs of a device follow one another, so each is from its first to its last record. */
static void put_run(Plane *p, const RunSpan *span)
{
    if (!span->end)
        return;
    Text event = { 0 };
    int id = p->first[span->program];
    name_plainly(p, id, p->r->programs[span->program]->name);
    begin_event(&event, id, span->begin, span->end);
    if (span->context) {
        enum { PJRT_CONTEXT = 14 };
        put_stat_number(&event, 4, STAT_CONTEXT_TYPE, PJRT_CONTEXT);
        put_stat_number(&event, 4, STAT_CONTEXT, span->context);
    }
    proto_put_message(&p->lines[MODULES], 4, &event);
}

/* ---- planes ---- */

/* PJRT's numbers of the calls, by run from the first one on. */
typedef struct Contexts {
    uint32_t first, n;
    uint64_t *at;
} Contexts;

static Contexts contexts_find(const Recording *r)
{
    uint32_t first = UINT32_MAX, last = 0;
    for (int64_t i = 0; i < r->n; i++) {
        uint32_t run = r->records[i].run;
        first = run && run < first ? run : first;
        last = run > last ? run : last;
    }
    Contexts c = { .first = first, .n = last ? last - first + 1 : 0 };
    c.at = HEAP_ARRAY(uint64_t, c.n, "a list of runs");
    for (int64_t i = 0; i < r->n; i++)
        if (r->records[i].kind == RECORD_RUN)
            c.at[r->records[i].run - first] = r->records[i].work;
    return c;
}

static void put_events(Plane *p)
{
    const Recording *r = p->r;
    RunSpan span = { 0 };
    uint32_t run = 0;
    for (int64_t i = 0; i < r->n; i++) {
        const Record *x = &r->records[i];
        if (x->device != p->device || !x->run)
            continue;
        if (x->kind == RECORD_SEGMENT && x->run != run) {
            put_run(p, &span);
            run = x->run;
            span = (RunSpan){ x->begin, x->end, p->contexts->at[run - p->contexts->first],
                              x->program };
        }
        if (x->run == run && x->kind != RECORD_SLICES)
            span.end = span.end > x->end ? span.end : x->end;
        if (x->kind == RECORD_KERNEL)
            put_kernel(p, x);
        else if (x->kind == RECORD_COLLECTIVE)
            put_collective(p, x);
        else if (x->kind == RECORD_READY)
            put_wait(p, READY_ID, "ready, no worker", x->begin, x->end, -1);
    }
    put_run(p, &span);
}

static void put_lines(Plane *p, Text *plane)
{
    static const char *const names[LINES] = { [MODULES] = "XLA Modules", "XLA Ops", "Waits" };
    for (int i = MODULES; i < LINES; i++) {
        Text line = { 0 };
        proto_put_number(&line, 1, (uint64_t)i);
        proto_put_bytes(&line, 2, str_of(names[i]));
        proto_put_number(&line, 3, (uint64_t)p->r->epoch_ns);
        text_add(&line, p->lines[i].at, p->lines[i].n);
        text_free(&p->lines[i]);
        proto_put_message(plane, 3, &line);
    }
}

/* The roof of xprof's roofline: a device computes on one core at a time. */
static void put_limits(Text *plane, const Limits *limits)
{
    put_stat_double(plane, 6, STAT_PEAK_TFLOPS, limits->gflops / 1e3);
    put_stat_double(plane, 6, STAT_PEAK_GBYTES, limits->gbytes);
    put_stat_text(plane, 6, STAT_DEVICE_TYPE, "a core of this machine");
}

static void put_plane(Text *out, const Recording *r, const Contexts *contexts, const Limits *limits,
                      int device)
{
    Plane p = { .r = r, .contexts = contexts, .device = device };
    Text plane = { 0 }, name = { 0 };
    number_names(&p);
    put_events(&p);
    text_printf(&name, "/device:TPU:%d", device);
    proto_put_number(&plane, 1, (uint64_t)device + 1);
    proto_put_message(&plane, 2, &name);
    put_lines(&p, &plane);
    text_add(&plane, p.names.at, p.names.n);
    text_free(&p.names);
    for (int i = 1; i < STAT_NAMES; i++) {
        Text meta = { 0 };
        proto_put_number(&meta, 1, (uint64_t)i);
        proto_put_bytes(&meta, 2, str_of(stat_names[i]));
        put_entry(&plane, 5, (uint64_t)i, &meta);
    }
    put_limits(&plane, limits);
    proto_put_message(out, 1, &plane);
    heap_free(p.first);
    heap_free(p.is_named);
}

void xspace_write(Text *out, const Recording *r)
{
    Contexts contexts = contexts_find(r);
    Limits limits = limits_measure();
    for (int d = 0; d < r->ndevices; d++)
        put_plane(out, r, &contexts, &limits, d);
    heap_free(contexts.at);
}
