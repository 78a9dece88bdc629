/* table.c - a recording as a table for a terminal: first the five lines that matter, then kernels,
 * collectives, devices, compilations.
 *
 * A device is busy while it runs segments or performs a collective for its group, waits while it
 * stands at a collective, is ready while it could go on and no worker has time for it, and is idle
 * else: the four add up to the time recorded.  How far the
 * devices of a group are out of balance is told by what each computed since they last met, not by
 * who came first: where there are more devices than cores the order of arrival is the workers'. */
#include "engine/profile/views.h"

#include "base/guard.h"
#include "engine/profile/limits.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* Of a kernel, a loop, an evaluation. */
typedef struct KernelSum {
    const char *program;
    MarkName name;
    int64_t calls;
    uint64_t ns;
} KernelSum;

typedef struct CollectiveSum {
    const char *program;
    CollectiveName name;
    int64_t meetings;
    uint64_t ns;        /* performing */
    uint64_t waited;    /* by all members */
    uint64_t longest;   /* wait of one member */
    uint64_t most_work; /* of each meeting's members the most, */
    double mean_work;   /* and the mean; both added up */
    int64_t *slowest;   /* [ndevices] in how many meetings it had most to do */
    int64_t *last;      /* [ndevices] in how many it came last */
} CollectiveSum;

typedef struct DeviceSum {
    uint64_t busy, waiting, ready;
    int64_t segments;
    uint64_t peak_bytes;
} DeviceSum;

typedef struct Sums {
    const Recording *r;
    int *first_kernel, *first_collective; /* [nprograms] */
    int nkernels, ncollectives;
    KernelSum *kernels;
    CollectiveSum *collectives;
    DeviceSum *devices;
    uint64_t *phases; /* [nnames] ns of compilations */
    uint64_t kernel_ns, compile_ns, transfer_ns, transfer_bytes, helped_ns;
    int64_t nruns, ncompiled, ntransfers, nhelped;
    Limits limits;
} Sums;

/* ---- adding up ---- */

static void make_rows(Sums *s)
{
    const Recording *r = s->r;
    int nk = 0, nc = 0;
    s->first_kernel = HEAP_ARRAY(int, r->nprograms, "a table");
    s->first_collective = HEAP_ARRAY(int, r->nprograms, "a table");
    for (uint32_t p = 0; p < r->nprograms; p++) {
        s->first_kernel[p] = nk;
        s->first_collective[p] = nc;
        nk += r->programs[p]->nmarks;
        nc += r->programs[p]->ncollectives;
    }
    s->nkernels = nk;
    s->ncollectives = nc;
    s->kernels = HEAP_ARRAY(KernelSum, nk, "a table");
    s->collectives = HEAP_ARRAY(CollectiveSum, nc, "a table");
    s->devices = HEAP_ARRAY(DeviceSum, r->ndevices, "a table");
    s->phases = HEAP_ARRAY(uint64_t, r->nnames, "a table");
    for (int i = 0; i < nc; i++) {
        s->collectives[i].slowest = HEAP_ARRAY(int64_t, r->ndevices, "a table");
        s->collectives[i].last = HEAP_ARRAY(int64_t, r->ndevices, "a table");
    }
}

static void free_rows(Sums *s)
{
    for (int i = 0; i < s->ncollectives; i++) {
        heap_free(s->collectives[i].slowest);
        heap_free(s->collectives[i].last);
    }
    heap_free(s->first_kernel);
    heap_free(s->first_collective);
    heap_free(s->kernels);
    heap_free(s->collectives);
    heap_free(s->devices);
    heap_free(s->phases);
}

static void add_kernel(Sums *s, const Record *x)
{
    s->kernel_ns += x->end - x->begin;
    if (x->what < 0)
        return;
    KernelSum *k = &s->kernels[s->first_kernel[x->program] + x->what];
    k->program = s->r->programs[x->program]->name;
    k->name = mark_name(s->r, x);
    k->calls++;
    k->ns += x->end - x->begin;
}

static void add_collective(Sums *s, const Record *x)
{
    DeviceSum *d = &s->devices[x->device];
    bool performs = x->other == x->device;
    d->waiting += x->met - x->begin + (performs ? 0 : x->end - x->met);
    d->busy += performs ? x->end - x->met : 0;
    if (x->what < 0)
        return;
    CollectiveSum *c = &s->collectives[s->first_collective[x->program] + x->what];
    uint64_t wait = x->met - x->begin;
    c->program = s->r->programs[x->program]->name;
    c->name = collective_name(s->r, x);
    c->waited += wait;
    c->longest = c->longest > wait ? c->longest : wait;
    c->ns += performs ? x->end - x->met : 0;
    c->last[x->device] += performs;
}

static void add_record(Sums *s, const Record *x)
{
    uint64_t ns = x->end - x->begin;
    switch (x->kind) {
    case RECORD_RUN: s->nruns++; break;
    case RECORD_KERNEL: add_kernel(s, x); break;
    case RECORD_COLLECTIVE: add_collective(s, x); break;
    case RECORD_SEGMENT:
        s->devices[x->device].busy += ns;
        s->devices[x->device].segments++;
        break;
    case RECORD_READY: s->devices[x->device].ready += ns; break;
    case RECORD_MEMORY:
        if (s->devices[x->device].peak_bytes < x->bytes)
            s->devices[x->device].peak_bytes = x->bytes;
        break;
    case RECORD_SLICES:
        s->helped_ns += ns;
        s->nhelped += (int64_t)x->work;
        break;
    case RECORD_COMPILE:
        if (x->bytes) { /* the whole of one */
            s->ncompiled++;
            s->compile_ns += ns;
        } else if (x->what >= 0) {
            s->phases[x->what] += ns;
        }
        break;
    case RECORD_TRANSFER:
        s->ntransfers++;
        s->transfer_ns += ns;
        s->transfer_bytes += x->bytes;
        break;
    default: break;
    }
}

/* ---- meetings: the records of their members ---- */

static int by_meeting(const void *x, const void *y)
{
    const Record *a = *(const Record *const *)x, *b = *(const Record *const *)y;
    const uint64_t keys[][2] = { { a->program, b->program },
                                 { (uint64_t)a->what, (uint64_t)b->what },
                                 { a->run, b->run },
                                 { a->met, b->met },
                                 { (uint64_t)a->other, (uint64_t)b->other } };
    for (int i = 0; i < 5; i++)
        if (keys[i][0] != keys[i][1])
            return keys[i][0] < keys[i][1] ? -1 : 1;
    return 0;
}

static void add_meeting(Sums *s, const Record *const *members, int64_t n)
{
    const Record *most = members[0];
    double sum = 0;
    for (int64_t i = 0; i < n; i++) {
        sum += (double)members[i]->work;
        most = members[i]->work > most->work ? members[i] : most;
    }
    CollectiveSum *c = &s->collectives[s->first_collective[most->program] + most->what];
    c->meetings++;
    c->slowest[most->device]++;
    c->most_work += most->work;
    c->mean_work += sum / (double)n;
}

static void add_meetings(Sums *s)
{
    const Recording *r = s->r;
    const Record **all = HEAP_ARRAY(const Record *, r->n, "a table");
    int64_t n = 0;
    for (int64_t i = 0; i < r->n; i++) {
        const Record *x = &r->records[i];
        if (x->kind == RECORD_COLLECTIVE && x->other >= 0 && x->what >= 0)
            all[n++] = x;
    }
    qsort(all, (size_t)n, sizeof *all, by_meeting);
    for (int64_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && by_meeting(&all[i], &all[end]) == 0; end++)
            ;
        add_meeting(s, all + i, end - i);
    }
    heap_free(all);
}

static int by_time(const void *x, const void *y)
{
    uint64_t a = ((const KernelSum *)x)->ns, b = ((const KernelSum *)y)->ns;
    return (a < b) - (a > b);
}

static int by_wait(const void *x, const void *y)
{
    const CollectiveSum *a = x, *b = y;
    uint64_t i = a->waited + a->ns, j = b->waited + b->ns;
    return (i < j) - (i > j);
}

/* ---- words ---- */

static const char *duration(double ns, char out[16])
{
    static const struct {
        double ns;
        const char *unit;
    } units[] = { { 1e9, "s" }, { 1e6, "ms" }, { 1e3, "us" }, { 1, "ns" } };
    int i = 0;
    while (i < 3 && ns < units[i].ns)
        i++;
    double value = ns / units[i].ns;
    snprintf(out, 16, "%.*f %s",
             value < 10 && i < 3    ? 2
             : value < 100 && i < 3 ? 1
                                    : 0,
             value, units[i].unit);
    return out;
}

static double share(double part, double whole)
{
    return whole > 0 ? 100 * part / whole : 0;
}

static int largest(int n, const int64_t *counts)
{
    int best = 0;
    for (int i = 1; i < n; i++)
        best = counts[i] > counts[best] ? i : best;
    return best;
}

/* "name (where)" */
static void put_named(Text *out, const char *name, const char *where)
{
    text_printf(out, "%s", name);
    if (*where)
        text_printf(out, " (%s)", where);
}

static double busy_of_all(const Sums *s, double *waiting)
{
    double busy = 0;
    *waiting = 0;
    for (int d = 0; d < s->r->ndevices; d++) {
        busy += (double)s->devices[d].busy;
        *waiting += (double)s->devices[d].waiting;
    }
    return busy;
}

/* ---- the five lines ---- */

static void say_time(Text *out, const Sums *s)
{
    char a[16];
    double waiting, busy = busy_of_all(s, &waiting);
    double all = (double)s->r->ns * s->r->ndevices;
    text_printf(out,
                "time        %s recorded, %" PRId64 " runs on %d devices: %.0f %% busy, %.0f %% "
                "waiting, %.0f %% idle\n",
                duration((double)s->r->ns, a), s->nruns, s->r->ndevices, share(busy, all),
                share(waiting, all), share(all - busy - waiting, all));
}

static void say_kernel(Text *out, const Sums *s)
{
    char a[16], b[16];
    text_printf(out, "kernel      ");
    if (!s->nkernels || !s->kernels[0].calls) {
        text_printf(out, "none\n");
        return;
    }
    const KernelSum *k = &s->kernels[0];
    put_named(out, k->name.name, k->name.where);
    text_printf(out, ": %.0f %% of the time in kernels; %" PRId64 " calls, %s each, %s together\n",
                share((double)k->ns, (double)s->kernel_ns), k->calls,
                duration((double)k->ns / (double)k->calls, a), duration((double)k->ns, b));
}

static void say_collective(Text *out, const Sums *s)
{
    char a[16];
    text_printf(out, "collective  ");
    if (!s->ncollectives || !s->collectives[0].meetings) {
        text_printf(out, "none\n");
        return;
    }
    const CollectiveSum *c = &s->collectives[0];
    int slow = largest(s->r->ndevices, c->slowest);
    put_named(out, c->name.name, c->name.where);
    text_printf(out,
                ": devices waited %s in %" PRId64
                " meetings; device %d had most to do before %" PRId64
                " of them, the slowest %.1f times the mean\n",
                duration((double)c->waited, a), c->meetings, slow, c->slowest[slow],
                c->mean_work > 0 ? (double)c->most_work / c->mean_work : 1);
}

static void say_device(Text *out, const Sums *s)
{
    char a[16];
    int n = s->r->ndevices, most = 0, nactive = 0; /* others may be of another process */
    double waiting, busy = busy_of_all(s, &waiting);
    text_printf(out, "device      ");
    if (n < 2 || busy <= 0) {
        text_printf(out, n == 1 ? "there is one\n" : "none\n");
        return;
    }
    for (int d = 0; d < n; d++) {
        most = s->devices[d].busy > s->devices[most].busy ? d : most;
        nactive += s->devices[d].segments > 0;
    }
    double others = nactive > 1 ? (busy - (double)s->devices[most].busy) / (nactive - 1) : 0;
    text_printf(out, "device %d is busiest: %s, %.1f times the mean of the others\n", most,
                duration((double)s->devices[most].busy, a),
                others > 0 ? (double)s->devices[most].busy / others : 1);
}

static void say_rest(Text *out, const Sums *s)
{
    char a[16], b[16];
    text_printf(out,
                "beside      %" PRId64 " compilations took %s; %" PRId64
                " transfers of %.1f MB took %s",
                s->ncompiled, duration((double)s->compile_ns, a), s->ntransfers,
                (double)s->transfer_bytes * 1e-6, duration((double)s->transfer_ns, b));
    if (s->r->lost)
        text_printf(out, "; %" PRId64 " older records were forgotten", s->r->lost);
    text_printf(out, "\n");
}

/* ---- the tables ---- */

enum { MOST_ROWS = 40 };

static void put_kernels(Text *out, const Sums *s)
{
    char a[16], b[16];
    const Limits *l = &s->limits;
    text_printf(out, "\n%-9s %6s %9s %9s %8s %7s %6s  kernel\n", "calls", "share", "time", "each",
                "GFLOP/s", "GB/s", "limit");
    for (int i = 0; i < s->nkernels && i < MOST_ROWS && s->kernels[i].calls; i++) {
        const KernelSum *k = &s->kernels[i];
        double ns = (double)k->ns / (double)k->calls;
        double gflops = ns > 0 ? k->name.flops / ns : 0, gbytes = ns > 0 ? k->name.bytes / ns : 0;
        double by_flops = gflops / l->gflops, by_bytes = gbytes / l->gbytes;
        text_printf(out, "%-9" PRId64 " %5.1f%% %9s %9s %8.2f %7.2f %5.0f%%  ", k->calls,
                    share((double)k->ns, (double)s->kernel_ns), duration((double)k->ns, a),
                    duration(ns, b), gflops, gbytes,
                    100 * (by_flops > by_bytes ? by_flops : by_bytes));
        put_named(out, k->name.name, k->name.where);
        text_printf(out, "  %s\n", k->program);
    }
    text_printf(out,
                "          (limit: of what one core does here, %.0f GFLOP/s in a product or %.1f "
                "GB/s in a copy; idle workers help with large kernels)\n",
                l->gflops, l->gbytes);
}

static void put_collectives(Text *out, const Sums *s)
{
    char a[16], b[16], c[16];
    bool has_any = s->ncollectives && s->collectives[0].meetings;
    if (!has_any)
        return;
    text_printf(out, "\n%-9s %10s %9s %9s %9s %9s %7s  collective\n", "meetings", "bytes",
                "performed", "waited", "longest", "imbalance", "slowest");
    for (int i = 0; i < s->ncollectives && i < MOST_ROWS; i++) {
        const CollectiveSum *x = &s->collectives[i];
        if (!x->meetings)
            continue;
        text_printf(out, "%-9" PRId64 " %10zu %9s %9s %9s %8.2fx %7d  ", x->meetings, x->name.bytes,
                    duration((double)x->ns, a), duration((double)x->waited, b),
                    duration((double)x->longest, c),
                    x->mean_work > 0 ? (double)x->most_work / x->mean_work : 1,
                    largest(s->r->ndevices, x->slowest));
        put_named(out, x->name.name, x->name.where);
        text_printf(out, "  %s\n", x->program);
    }
}

static void put_devices(Text *out, const Sums *s)
{
    char a[16];
    text_printf(out, "\n%-9s %9s %6s %9s %6s %9s %6s %9s %6s %9s %9s\n", "device", "busy", "",
                "waiting", "", "ready", "", "idle", "", "segments", "peak MB");
    for (int d = 0; d < s->r->ndevices; d++) {
        const DeviceSum *x = &s->devices[d];
        const uint64_t parts[] = { x->busy, x->waiting, x->ready };
        double all = (double)s->r->ns, idle = all;
        text_printf(out, "%-9d", d);
        for (int i = 0; i < 3; i++) {
            text_printf(out, " %9s %5.1f%%", duration((double)parts[i], a),
                        share((double)parts[i], all));
            idle -= (double)parts[i];
        }
        text_printf(out, " %9s %5.1f%% %9" PRId64 " %9.1f\n", duration(idle, a), share(idle, all),
                    x->segments, (double)x->peak_bytes * 1e-6);
    }
    if (s->nhelped)
        text_printf(out, "workers without a device helped with %" PRId64 " slices, %s\n",
                    s->nhelped, duration((double)s->helped_ns, a));
}

static void put_phases(Text *out, const Sums *s)
{
    char a[16];
    bool has_any = false;
    for (int32_t i = 0; i < s->r->nnames; i++) {
        if (!s->phases[i])
            continue;
        text_printf(out, "%s%9s %5.1f%%  %s\n", has_any ? "" : "\ncompiling\n",
                    duration((double)s->phases[i], a),
                    share((double)s->phases[i], (double)s->compile_ns), s->r->names[i]);
        has_any = true;
    }
}

void table_write(Text *out, const Recording *r)
{
    Sums s = { .r = r };
    make_rows(&s);
    for (int64_t i = 0; i < r->n; i++)
        add_record(&s, &r->records[i]);
    add_meetings(&s);
    qsort(s.kernels, (size_t)s.nkernels, sizeof *s.kernels, by_time);
    qsort(s.collectives, (size_t)s.ncollectives, sizeof *s.collectives, by_wait);
    s.limits = limits_measure();
    say_time(out, &s);
    say_kernel(out, &s);
    say_collective(out, &s);
    say_device(out, &s);
    say_rest(out, &s);
    put_kernels(out, &s);
    put_collectives(out, &s);
    put_devices(out, &s);
    put_phases(out, &s);
    free_rows(&s);
}
