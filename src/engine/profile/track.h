/* track.h - the tracks of a run: what each of its devices does, as it does it.
 *
 *     segment ............................ collective ........ segment .......
 *       kernel k0 | kernel k1 | while | k2   waits | performed   kernel k3 |
 *       ^ mark 0    ^ mark 1    ...          ^ arrived ^ met
 *
 * Compiled code marks where a kernel, a loop or an evaluation begins; the one before it ends there.  So a
 * mark costs one look at the clock, and the kernels of a segment fill it without gaps.
 *
 * A run has tracks if the recorder was on when it was launched; Frame.track is NULL else.  A track
 * belongs to the thread that runs the task, or, while the task waits, to the one that performs the
 * collective. */
#ifndef TUTTI_ENGINE_PROFILE_TRACK_H
#define TUTTI_ENGINE_PROFILE_TRACK_H
#include "engine/profile/record.h"

struct Track {
    uint32_t run, program;
    int16_t device;
    int32_t mark;     /* the last one of this segment; -1: none yet */
    uint64_t since;   /* when it was made */
    uint64_t segment; /* when the segment began, */
    uint64_t arrived; /* when it ended */
    uint64_t work;    /* ticks in segments since the last collective */
    uint64_t ready;   /* when it could go on after a collective; 0: it has gone on */
    int32_t waits_at; /* a recv; -1: none */
};

/* The tracks of a run, and the run's own times. */
typedef struct RunTracks {
    uint64_t begin;
    uint64_t context; /* PJRT's number of the call */
    uint32_t run, program;
    Track of[]; /* [ndevices] */
} RunTracks;

/* NULL: nothing is to be recorded, or there is no memory for it.  The caller sets the devices and
 * frees it. */
RunTracks *tracks_new(const Program *p, const LocTable *locs);
void tracks_launched(const RunTracks *t); /* the calling thread has begun the run */
void tracks_ended(const RunTracks *t);    /* its last device has ended */

void track_begin(Track *t);              /* a segment begins */
void track_mark(Track *t, int32_t mark); /* in it, this begins */
void track_end(Track *t, int segment);   /* the segment ends */

/* The n devices of a group have met at collective k, and it has been performed. */
void tracks_met(RunTracks *t, int n, const int32_t *members, int k, uint64_t met, int performer);

/* The calling thread took n iterations of a loop of t's device, from `began` on. */
void track_helped(const Track *t, uint64_t began, int64_t n);

/* What a body's code marks: a track on the caller's stack, for the collective's number c. */
Track track_of_body(const Track *leader, const Program *main, const Collective *c);

static inline int32_t segment_run(SegmentFn *f, Frame *frame, int number)
{
    Track *t = frame->track;
    if (__builtin_expect(!t, 1))
        return f(frame);
    track_begin(t);
    int32_t next = f(frame);
    track_end(t, number);
    return next;
}
#endif
