/* track.c - what the devices of a run do becomes records. */
#include "engine/profile/track.h"

#include <stdlib.h>

RunTracks *tracks_new(const Program *p, const LocTable *locs)
{
    if (!record_is_on())
        return NULL;
    RunTracks *t = calloc(1, sizeof *t + sizeof *t->of * (size_t)p->ndevices);
    if (!t)
        return NULL;
    t->program = record_program(p, locs);
    t->run = record_new_run();
    for (int d = 0; d < p->ndevices; d++)
        t->of[d] = (Track){ .run = t->run, .program = t->program, .mark = -1, .waits_at = -1 };
    t->begin = ticks_now();
    return t;
}

static void add_of_run(const RunTracks *t, RecordKind kind, uint64_t work)
{
    Record r = { .begin = t->begin,
                 .end = ticks_now(),
                 .work = work,
                 .run = t->run,
                 .program = t->program,
                 .device = -1,
                 .other = -1,
                 .kind = kind };
    record_add(&r);
}

void tracks_launched(const RunTracks *t)
{
    add_of_run(t, RECORD_LAUNCH, 0);
}

void tracks_ended(const RunTracks *t)
{
    add_of_run(t, RECORD_RUN, t->context);
}

static Record record_of(const Track *t, RecordKind kind, int32_t what, uint64_t begin, uint64_t end)
{
    return (Record){ .begin = begin,
                     .end = end,
                     .run = t->run,
                     .program = t->program,
                     .what = what,
                     .device = t->device,
                     .other = -1,
                     .kind = kind };
}

/* A device in lockstep, or with a worker at hand, goes on at once. */
static void end_ready(Track *t)
{
    enum { AT_ONCE = 4000 }; /* ticks */
    Record r = record_of(t, RECORD_READY, 0, t->ready, t->segment);
    if (t->ready && r.end - r.begin > AT_ONCE)
        record_add(&r);
    t->ready = 0;
}

void track_begin(Track *t)
{
    t->segment = ticks_now();
    end_ready(t);
    if (t->waits_at < 0)
        return;
    Record r = record_of(t, RECORD_COLLECTIVE, t->waits_at, t->arrived, t->segment);
    r.met = t->segment;
    r.work = t->work;
    record_add(&r);
    t->waits_at = -1;
    t->work = 0;
}

/* The kernel under way ends. */
static void end_mark(Track *t, uint64_t now)
{
    if (t->mark < 0)
        return;
    Record r = record_of(t, RECORD_KERNEL, t->mark, t->since, now);
    record_add(&r);
}

void track_mark(Track *t, int32_t mark)
{
    uint64_t now = ticks_now();
    end_mark(t, now);
    t->mark = mark;
    t->since = now;
}

void track_end(Track *t, int segment)
{
    uint64_t now = ticks_now();
    end_mark(t, now);
    t->mark = -1;
    Record r = record_of(t, RECORD_SEGMENT, segment, t->segment, now);
    record_add(&r);
    t->work += now - t->segment;
    t->arrived = now;
}

void tracks_met(RunTracks *t, int n, const int32_t *members, int k, uint64_t met, int performer)
{
    uint64_t now = ticks_now();
    for (int i = 0; i < n; i++) {
        Track *of = &t->of[members[i]];
        Record r = record_of(of, RECORD_COLLECTIVE, k, of->arrived, now);
        r.met = met;
        r.work = of->work;
        r.other = t->of[performer].device;
        record_add(&r);
        of->work = 0;
        of->ready = now;
    }
}

void track_helped(const Track *t, uint64_t began, int64_t n)
{
    Record r = record_of(t, RECORD_SLICES, t->mark, began, ticks_now());
    r.work = (uint64_t)n;
    record_add(&r);
}

Track track_of_body(const Track *leader, const Program *main, const Collective *c)
{
    uint32_t before = 1; /* bodies are numbered behind their program (record_program) */
    for (const Collective *other = main->collectives; other < c; other++)
        before += other->body != NULL;
    return (Track){ .run = leader->run,
                    .program = leader->program ? leader->program + before : 0,
                    .device = leader->device,
                    .mark = -1,
                    .waits_at = -1 };
}
