/* perfetto.c - a recording as Perfetto's own protocol buffers: the tracks and arrows of chrome.c in a
 * third of the bytes, and threads beside devices as what they are.
 *
 * A packet is a moment: a slice has one where it begins and one where it ends, so those of a track
 * must come in order.  Each track keeps what is open on it, innermost last. */
#include "engine/profile/views.h"

#include "base/grow.h"
#include "pjrt/proto.h"

/* Fields of Perfetto's messages. */
enum {
    PACKET_TIMESTAMP = 8,
    PACKET_SEQUENCE = 10,
    PACKET_EVENT = 11,
    PACKET_TRACK = 60,
    TRACK_UUID = 1,
    TRACK_NAME = 2,
    TRACK_PARENT = 5,
    TRACK_COUNTER = 8,
    TRACK_ORDERING = 11,
    TRACK_RANK = 12,
    COUNTER_UNIT = 3,
    EVENT_ANNOTATION = 4,
    EVENT_TYPE = 9,
    EVENT_TRACK = 11,
    EVENT_CATEGORY = 22,
    EVENT_NAME = 23,
    EVENT_COUNTER = 30,
    EVENT_FLOW = 47,
    EVENT_FLOW_END = 48,
    ANNOTATION_INT = 4,
    ANNOTATION_TEXT = 6,
    ANNOTATION_NAME = 10,
    SLICE_BEGIN = 1,
    SLICE_END = 2,
    INSTANT = 3,
    COUNTER = 4,
    BYTES = 3,
    EXPLICIT = 3,
};

/* Numbers of tracks. */
enum { DEVICES = 1, THREADS = 2, RUNS = 3, FIRST_TRACK = 16 };

typedef struct Open {
    int n, room;
    uint64_t *until; /* when the slices that are open end, the outermost first */
} Open;

typedef struct Perfetto {
    Text *out;
    const Recording *r;
    Open *open; /* by track */
    uint64_t narrows;
    uint64_t *entering; /* [ndevices] the arrow that the next segment takes; 0: none */
} Perfetto;

static int device_track(int d)
{
    return FIRST_TRACK + 2 * d;
}

static int memory_track(int d)
{
    return FIRST_TRACK + 2 * d + 1;
}

static int thread_track(const Recording *r, int t)
{
    return FIRST_TRACK + 2 * r->ndevices + t;
}

/* Runs may overlap, so they take turns on a few tracks. */
enum { RUN_TRACKS = 8 };
static int run_track(const Recording *r, uint32_t run)
{
    return FIRST_TRACK + 2 * r->ndevices + r->nthreads + (int)(run % RUN_TRACKS);
}

static void put_packet(Perfetto *p, uint64_t at, Text *event)
{
    Text packet = { 0 };
    proto_put_number(&packet, PACKET_TIMESTAMP, at);
    proto_put_number(&packet, PACKET_SEQUENCE, 1);
    proto_put_message(&packet, PACKET_EVENT, event);
    proto_put_message(p->out, 1, &packet);
}

static void put_track(Perfetto *p, int track, const char *name, int parent, int rank, bool counts)
{
    Text t = { 0 }, packet = { 0 };
    proto_put_number(&t, TRACK_UUID, (uint64_t)track);
    proto_put_bytes(&t, TRACK_NAME, str_of(name));
    if (parent)
        proto_put_number(&t, TRACK_PARENT, (uint64_t)parent);
    else
        proto_put_number(&t, TRACK_ORDERING, EXPLICIT);
    proto_put_number(&t, TRACK_RANK, (uint64_t)rank);
    if (counts) {
        Text unit = { 0 };
        proto_put_number(&unit, COUNTER_UNIT, BYTES);
        proto_put_message(&t, TRACK_COUNTER, &unit);
    }
    proto_put_number(&packet, PACKET_SEQUENCE, 1);
    proto_put_message(&packet, PACKET_TRACK, &t);
    proto_put_message(p->out, 1, &packet);
}

static void put_tracks(Perfetto *p)
{
    const Recording *r = p->r;
    Text name = { 0 };
    put_track(p, DEVICES, "devices", 0, 0, false);
    put_track(p, THREADS, "threads", 0, 1, false);
    put_track(p, RUNS, "runs", 0, 2, false);
    for (int d = 0; d < r->ndevices; d++) {
        name.n = 0;
        text_printf(&name, "device %d", d);
        put_track(p, device_track(d), text_cstr(&name), DEVICES, d, false);
        name.n = 0;
        text_printf(&name, "memory of device %d", d);
        put_track(p, memory_track(d), text_cstr(&name), DEVICES, r->ndevices + d, true);
    }
    for (int t = 0; t < r->nthreads; t++)
        put_track(p, thread_track(r, t), r->threads[t].name, THREADS,
                  r->threads[t].worker >= 0 ? r->threads[t].worker : 1000 + t, false);
    for (uint32_t i = 0; i < RUN_TRACKS; i++)
        put_track(p, run_track(r, i), "runs", RUNS, (int)i, false);
    text_free(&name);
}

/* ---- slices ---- */

static void annotate(Text *event, const char *name, const char *text, int64_t number)
{
    Text a = { 0 };
    if (text && !*text)
        return;
    if (text)
        proto_put_bytes(&a, ANNOTATION_TEXT, str_of(text));
    else
        proto_put_number(&a, ANNOTATION_INT, (uint64_t)number);
    proto_put_bytes(&a, ANNOTATION_NAME, str_of(name));
    proto_put_message(event, EVENT_ANNOTATION, &a);
}

/* Slices that end before `at` end now. */
static void close_until(Perfetto *p, int track, uint64_t at)
{
    Open *open = &p->open[track];
    for (; open->n && open->until[open->n - 1] <= at; open->n--) {
        Text event = { 0 };
        proto_put_number(&event, EVENT_TYPE, SLICE_END);
        proto_put_number(&event, EVENT_TRACK, (uint64_t)track);
        put_packet(p, open->until[open->n - 1], &event);
    }
}

static void begin_slice(Perfetto *p, Text *event, int track, uint64_t from, uint64_t to,
                        const char *name, const char *category)
{
    close_until(p, track, from);
    Open *open = &p->open[track];
    HEAP_ROOM(open->until, open->n, &open->room);
    open->until[open->n++] = to;
    proto_put_number(event, EVENT_TYPE, SLICE_BEGIN);
    proto_put_number(event, EVENT_TRACK, (uint64_t)track);
    proto_put_bytes(event, EVENT_CATEGORY, str_of(category));
    proto_put_bytes(event, EVENT_NAME, str_of(name));
}

static void put_flow(Text *event, int field, uint64_t id)
{
    unsigned char bytes[8];
    for (int i = 0; i < 8; i++)
        bytes[i] = (unsigned char)(id >> 8 * i);
    proto_put_varint(event, (uint64_t)field << 3 | 1);
    text_add(event, bytes, sizeof bytes);
}

/* ---- records ---- */

static void put_segment(Perfetto *p, const Record *x)
{
    Text event = { 0 };
    begin_slice(p, &event, device_track(x->device), x->begin, x->end,
                p->r->programs[x->program]->name, "segment");
    annotate(&event, "segment", NULL, x->what);
    annotate(&event, "run", NULL, x->run);
    if (p->entering[x->device])
        put_flow(&event, EVENT_FLOW_END, p->entering[x->device]);
    p->entering[x->device] = 0;
    put_packet(p, x->begin, &event);
}

static void put_kernel(Perfetto *p, const Record *x)
{
    Text event = { 0 };
    MarkName m = mark_name(p->r, x);
    begin_slice(p, &event, device_track(x->device), x->begin, x->end, m.name, "kernel");
    annotate(&event, "source", m.where, 0);
    annotate(&event, "flops", NULL, (int64_t)m.flops);
    annotate(&event, "bytes", NULL, (int64_t)m.bytes);
    put_packet(p, x->begin, &event);
}

static void put_wait(Perfetto *p, const Record *x, uint64_t to, const char *name)
{
    Text event = { 0 };
    begin_slice(p, &event, device_track(x->device), x->begin, to, name, name);
    if (x->other >= 0)
        annotate(&event, "last", NULL, x->other);
    put_packet(p, x->begin, &event);
}

/* An arrow leaves the track of the device that came last, at that moment. */
static void put_arrow(Perfetto *p, const Record *x)
{
    Text event = { 0 };
    proto_put_number(&event, EVENT_TYPE, INSTANT);
    proto_put_number(&event, EVENT_TRACK, (uint64_t)device_track(x->other));
    proto_put_bytes(&event, EVENT_CATEGORY, STR("meeting"));
    proto_put_bytes(&event, EVENT_NAME, STR("came last"));
    put_flow(&event, EVENT_FLOW, ++p->narrows);
    put_packet(p, x->met, &event);
    p->entering[x->device] = p->narrows;
}

static void put_collective(Perfetto *p, const Record *x)
{
    if (x->met > x->begin)
        put_wait(p, x, x->met, "wait");
    if (x->other < 0) /* a recv: nothing is performed */
        return;
    Text event = { 0 };
    CollectiveName c = collective_name(p->r, x);
    begin_slice(p, &event, device_track(x->device), x->met, x->end, c.name, "collective");
    annotate(&event, "source", c.where, 0);
    annotate(&event, "bytes", NULL, (int64_t)c.bytes);
    annotate(&event, "last", NULL, x->other);
    put_packet(p, x->met, &event);
    if (x->other != x->device)
        put_arrow(p, x);
}

static void put_memory(Perfetto *p, const Record *x)
{
    Text event = { 0 };
    proto_put_number(&event, EVENT_TYPE, COUNTER);
    proto_put_number(&event, EVENT_TRACK, (uint64_t)memory_track(x->device));
    proto_put_number(&event, EVENT_COUNTER, x->bytes);
    put_packet(p, x->begin, &event);
}

static void put_run(Perfetto *p, const Record *x)
{
    Text event = { 0 };
    int track = run_track(p->r, x->run);
    Open *open = &p->open[track];
    close_until(p, track, x->begin);
    if (open->n && open->until[open->n - 1] < x->end)
        return; /* more runs under way than there are tracks */
    begin_slice(p, &event, track, x->begin, x->end, p->r->programs[x->program]->name, "run");
    annotate(&event, "run", NULL, x->run);
    put_packet(p, x->begin, &event);
}

static void put_on_thread(Perfetto *p, const Record *x, int thread)
{
    Text event = { 0 }, name = { 0 };
    thread_slice_name(&name, p->r, x);
    begin_slice(p, &event, thread_track(p->r, thread), x->begin, x->end, text_cstr(&name),
                "thread");
    if (x->bytes)
        annotate(&event, "bytes", NULL, (int64_t)x->bytes);
    put_packet(p, x->begin, &event);
    text_free(&name);
}

static void put_record(Perfetto *p, const Record *x, int thread)
{
    switch (x->kind) {
    case RECORD_RUN: put_run(p, x); return;
    case RECORD_MEMORY: put_memory(p, x); return;
    case RECORD_KERNEL: put_kernel(p, x); return;
    case RECORD_COLLECTIVE: put_collective(p, x); return;
    case RECORD_READY: put_wait(p, x, x->end, "ready"); return;
    case RECORD_SEGMENT: put_segment(p, x); break;
    default: break;
    }
    put_on_thread(p, x, thread);
}

void perfetto_write(Text *out, const Recording *r)
{
    int ntracks = run_track(r, RUN_TRACKS - 1) + 1;
    Perfetto p = { .out = out, .r = r };
    p.open = HEAP_ARRAY(Open, ntracks, "a list of tracks");
    p.entering = HEAP_ARRAY(uint64_t, r->ndevices, "a list of devices");
    put_tracks(&p);
    for (int64_t i = 0; i < r->n; i++)
        put_record(&p, &r->records[i], r->thread[i]);
    for (int t = 0; t < ntracks; t++) {
        close_until(&p, t, UINT64_MAX);
        heap_free(p.open[t].until);
    }
    heap_free(p.open);
    heap_free(p.entering);
}
