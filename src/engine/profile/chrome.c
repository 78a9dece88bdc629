/* chrome.c - a recording as Trace Event JSON, which Perfetto and chrome://tracing show.
 *
 *   process 1 "devices"   a track for each device: segments with their kernels, then at a collective
 *                         how long it waits and what is done; arrows from the device that came last
 *   process 2 "threads"   what each thread does: workers run segments and help with loops, callers
 *                         launch, compile, move data
 *   process 3 "runs"      each run from its call to its end; runs may overlap
 *
 * Times are microseconds with three decimals: nanoseconds. */
#include "engine/profile/views.h"

#include "base/guard.h"
#include "base/json.h"

#include <inttypes.h>
#include <stdio.h>

enum { DEVICES = 1, THREADS = 2, RUNS = 3 };

typedef struct Chrome {
    Text *out;
    const Recording *r;
    int64_t narrows;
    int64_t *entering; /* [ndevices] the arrow that the next segment takes; 0: none */
    bool is_first;
} Chrome;

static void begin_event(Chrome *c, const char *phase, int pid, int tid)
{
    text_printf(c->out, "%s\n{\"ph\":\"%s\",\"pid\":%d,\"tid\":%d", c->is_first ? "" : ",", phase,
                pid, tid);
    c->is_first = false;
}

static void put_name(Chrome *c, const char *key, const char *name)
{
    text_printf(c->out, ",\"%s\":", key);
    json_put_string(c->out, str_of(name));
}

static void put_time(Chrome *c, const char *key, uint64_t ns)
{
    text_printf(c->out, ",\"%s\":%" PRIu64 ".%03d", key, ns / 1000, (int)(ns % 1000));
}

static void put_names_of(Chrome *c, const char *what, int pid, int tid, const char *name, int rank)
{
    begin_event(c, "M", pid, tid);
    text_printf(c->out, ",\"name\":\"%s_name\",\"args\":{\"name\":", what);
    json_put_string(c->out, str_of(name));
    text_printf(c->out, "}}");
    begin_event(c, "M", pid, tid);
    text_printf(c->out, ",\"name\":\"%s_sort_index\",\"args\":{\"sort_index\":%d}}", what, rank);
}

static void put_tracks(Chrome *c)
{
    static const char *const processes[] = { [DEVICES] = "devices", "threads", "runs" };
    for (int pid = DEVICES; pid <= RUNS; pid++)
        put_names_of(c, "process", pid, 0, processes[pid], pid);
    for (int d = 0; d < c->r->ndevices; d++) {
        char name[32];
        snprintf(name, sizeof name, "device %d", d);
        put_names_of(c, "thread", DEVICES, d + 1, name, d);
    }
    for (int t = 0; t < c->r->nthreads; t++) {
        int worker = c->r->threads[t].worker;
        put_names_of(c, "thread", THREADS, t + 1, c->r->threads[t].name,
                     worker >= 0 ? worker : 1000 + t);
    }
}

static void begin_slice(Chrome *c, int pid, int tid, uint64_t from, uint64_t to, const char *name,
                        const char *category)
{
    begin_event(c, "X", pid, tid);
    put_time(c, "ts", from);
    put_time(c, "dur", to - from);
    put_name(c, "name", name);
    text_printf(c->out, ",\"cat\":\"%s\",\"args\":{", category);
}

static void end_slice(Chrome *c, const Record *x)
{
    text_printf(c->out, "\"run\":%u}}", x->run);
}

static void put_place(Chrome *c, const char *where)
{
    if (!*where)
        return;
    text_printf(c->out, "\"source\":");
    json_put_string(c->out, str_of(where));
    text_add(c->out, ",", 1);
}

/* ---- devices ---- */

static void arrow(Chrome *c, const char *phase, int device, uint64_t at, int64_t id)
{
    begin_event(c, phase, DEVICES, device + 1);
    put_time(c, "ts", at);
    text_printf(c->out, ",\"name\":\"meeting\",\"cat\":\"meeting\",\"id\":%" PRId64 "%s}", id,
                *phase == 'f' ? ",\"bp\":\"e\"" : "");
}

static void put_segment(Chrome *c, const Record *x)
{
    begin_slice(c, DEVICES, x->device + 1, x->begin, x->end, c->r->programs[x->program]->name,
                "segment");
    text_printf(c->out, "\"segment\":%d,", x->what);
    end_slice(c, x);
    int64_t *entering = &c->entering[x->device];
    if (*entering)
        arrow(c, "f", x->device, x->begin, *entering);
    *entering = 0;
}

static void put_kernel(Chrome *c, const Record *x)
{
    MarkName m = mark_name(c->r, x);
    begin_slice(c, DEVICES, x->device + 1, x->begin, x->end, m.name, "kernel");
    put_place(c, m.where);
    if (m.flops || m.bytes)
        text_printf(c->out, "\"flops\":%.0f,\"bytes\":%.0f,", m.flops, m.bytes);
    end_slice(c, x);
}

/* An arrow leaves the slice of the device that came last, for each of the others. */
static void put_collective(Chrome *c, const Record *x)
{
    CollectiveName name = collective_name(c->r, x);
    if (x->met > x->begin) {
        begin_slice(c, DEVICES, x->device + 1, x->begin, x->met, "wait", "wait");
        text_printf(c->out, "\"last\":%d", x->other);
        put_name(c, "for", name.name);
        text_add(c->out, ",", 1);
        end_slice(c, x);
    }
    if (x->other < 0) /* a recv: nothing is performed */
        return;
    begin_slice(c, DEVICES, x->device + 1, x->met, x->end, name.name, "collective");
    put_place(c, name.where);
    text_printf(c->out, "\"bytes\":%zu,\"last\":%d,\"work_ns\":%" PRIu64 ",", name.bytes, x->other,
                x->work);
    end_slice(c, x);
    if (x->other == x->device)
        return;
    arrow(c, "s", x->other, x->met, ++c->narrows);
    c->entering[x->device] = c->narrows;
}

static void put_ready(Chrome *c, const Record *x)
{
    begin_slice(c, DEVICES, x->device + 1, x->begin, x->end, "ready", "ready");
    end_slice(c, x);
}

static void put_memory(Chrome *c, const Record *x)
{
    begin_event(c, "C", DEVICES, x->device + 1);
    put_time(c, "ts", x->begin);
    text_printf(c->out, ",\"name\":\"memory of device %d\",\"args\":{\"bytes\":%" PRIu64 "}}",
                x->device, x->bytes);
}

/* ---- threads, runs ---- */

static void put_on_thread(Chrome *c, const Record *x, int thread)
{
    static const char *const categories[RECORD_KINDS] = {
        [RECORD_LAUNCH] = "launch",   [RECORD_SEGMENT] = "segment",   [RECORD_SLICES] = "help",
        [RECORD_COMPILE] = "compile", [RECORD_TRANSFER] = "transfer", [RECORD_RANGE] = "range",
    };
    Text name = { 0 };
    thread_slice_name(&name, c->r, x);
    begin_slice(c, THREADS, thread + 1, x->begin, x->end, text_cstr(&name), categories[x->kind]);
    if (x->device >= 0)
        text_printf(c->out, "\"device\":%d,", x->device);
    if (x->bytes)
        text_printf(c->out, "\"bytes\":%" PRIu64 ",", x->bytes);
    end_slice(c, x);
    text_free(&name);
}

static void put_run(Chrome *c, const Record *x)
{
    for (int end = 0; end < 2; end++) {
        begin_event(c, end ? "e" : "b", RUNS, 0);
        put_time(c, "ts", end ? x->end : x->begin);
        put_name(c, "name", c->r->programs[x->program]->name);
        text_printf(c->out, ",\"cat\":\"run\",\"id\":%u}", x->run);
    }
}

static void put_record(Chrome *c, const Record *x, int thread)
{
    switch (x->kind) {
    case RECORD_RUN: put_run(c, x); return;
    case RECORD_MEMORY: put_memory(c, x); return;
    case RECORD_KERNEL: put_kernel(c, x); return;
    case RECORD_COLLECTIVE: put_collective(c, x); return;
    case RECORD_READY: put_ready(c, x); return;
    case RECORD_SEGMENT: put_segment(c, x); break;
    default: break;
    }
    put_on_thread(c, x, thread);
}

void chrome_write(Text *out, const Recording *r)
{
    Chrome c = { .out = out, .r = r, .is_first = true };
    c.entering = HEAP_ARRAY(int64_t, r->ndevices + 1, "a list of devices");
    text_printf(out, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
    put_tracks(&c);
    for (int64_t i = 0; i < r->n; i++)
        put_record(&c, &r->records[i], r->thread[i]);
    text_printf(out, "\n]}\n");
    heap_free(c.entering);
}
