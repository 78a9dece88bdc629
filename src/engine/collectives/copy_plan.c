/* copy_plan.c - what is to be done in a collective, and doing it: whole if it is small, else cut into
 * pieces that all workers take from. */
#include "engine/collectives/group.h"

#include "engine/numerics/strided.h"

#include <stdlib.h>
#include <string.h>

enum {
    PIECE_BYTES = 256 << 10, /* of an array: what a worker takes at a time; whole elements, */
    BLOCK_BYTES = 8 << 10,   /* as is this: part of a sum that stays in the first cache */
    SHORT_RUN = 1 << 10,     /* rows that are copied one memory after the other */
};

void copy_plan_begin(CopyPlan *s)
{
    s->m = NULL;
    s->frame = NULL;
    s->nsteps = s->naddresses = 0;
    s->steps = s->few_steps;
    s->steps_room = (int)(sizeof s->few_steps / sizeof *s->few_steps);
    s->at = s->few_at;
    s->addresses_room = (int)(sizeof s->few_at / sizeof *s->few_at);
    s->bytes = 0;
    s->npieces = 0;
}

void copy_plan_end(CopyPlan *s)
{
    if (s->steps != s->few_steps)
        free(s->steps);
    if (s->at != s->few_at)
        free(s->at);
    copy_plan_begin(s);
}

/* Room for n things in what begins as `few` and is then the heap's.  NULL: no memory. */
static void *grown(void *now, const void *few, int n, int *room, size_t each)
{
    if (n <= *room)
        return now;
    int more = n > 2 * *room ? n : 2 * *room;
    void *fresh = realloc(now == few ? NULL : now, each * (size_t)more);
    if (fresh && now == few)
        memcpy(fresh, few, each * (size_t)*room);
    if (fresh)
        *room = more;
    return fresh;
}

/* Pieces of a step: some runs, or parts of one. */
typedef struct Pieces {
    int64_t n, together, parts;
} Pieces;

static Pieces pieces_of(const Rows *r)
{
    int64_t nruns = r->near * r->far;
    if ((size_t)nruns * r->run <= PIECE_BYTES)
        return (Pieces){ 1, nruns, 1 };
    Pieces p = { .together = r->run >= PIECE_BYTES ? 1 : (int64_t)(PIECE_BYTES / r->run),
                 .parts = (int64_t)((r->run + PIECE_BYTES - 1) / PIECE_BYTES) };
    p.n = (nruns + p.together - 1) / p.together * p.parts;
    return p;
}

static Error *make_room(CopyPlan *s, int naddresses)
{
    Step *steps = grown(s->steps, s->few_steps, s->nsteps + 1, &s->steps_room, sizeof *steps);
    s->steps = steps ? steps : s->steps;
    char **at = grown(s->at, s->few_at, s->naddresses + naddresses, &s->addresses_room, sizeof *at);
    s->at = at ? at : s->at;
    if (steps && at)
        return NULL;
    return error_new(CODE_EXHAUSTED, "no memory for %d steps of a meeting", s->nsteps + 1);
}

Error *copy_plan_add(CopyPlan *s, const Step *step, char ***at)
{
    int n = step->nin + step->nout;
    if (s->nsteps == s->steps_room || s->naddresses + n > s->addresses_room)
        TRY(make_room(s, n));
    Step *t = &s->steps[s->nsteps++];
    *t = *step;
    t->at = s->naddresses;
    t->first = s->npieces;
    s->naddresses += n;
    s->npieces += pieces_of(&t->rows).n;
    int ntouched = t->kind == STEP_RING || t->kind == STEP_CHAIN ? 2 * t->nout : n;
    s->bytes += (size_t)ntouched * (size_t)(t->rows.near * t->rows.far) * t->rows.run;
    *at = s->at + t->at;
    return NULL;
}

/* ---- playing ---- */

/* A sum that is streamed past the caches is made apart, block by block. */
static void reduce_streaming(const CopyPlan *s, const Step *t, char *const *at, size_t bytes)
{
    _Alignas(64) char apart[BLOCK_BYTES];
    const void *in[POSSIBLE_DEVICES];
    for (size_t done = 0; done < bytes; done += BLOCK_BYTES) {
        size_t block = bytes - done < BLOCK_BYTES ? bytes - done : BLOCK_BYTES;
        for (int i = 0; i < t->nin; i++)
            in[i] = at[i] + done;
        s->m->combine((void *[]){ apart }, 1, in, t->nin, (int64_t)(block / t->element));
        for (int o = 0; o < t->nout; o++)
            bytes_move(at[t->nin + o] + done, apart, block, true);
    }
}

/* One run of bytes; at[nin + nout] is where it lies. */
static void step_play(const CopyPlan *s, const Step *t, char *const *at, size_t bytes, bool streams)
{
    switch (t->kind) {
    case STEP_COPY:
        if (t->nin)
            bytes_spread(t->nout, at + 1, at[0], bytes, streams);
        for (int o = 0; !t->nin && o < t->nout; o++)
            memset(at[o], 0, bytes);
        break;
    case STEP_RING:
    case STEP_CHAIN: bytes_turn(t->nout, at, bytes, t->kind == STEP_RING); break;
    case STEP_REDUCE:
        if (streams)
            reduce_streaming(s, t, at, bytes);
        else
            s->m->combine((void *const *)at + t->nin, t->nout, (const void *const *)at, t->nin,
                          (int64_t)(bytes / t->element));
        break;
    }
}

/* Short runs, n from number i on in the far-th row, to one result after the other. */
static void copy_short(const CopyPlan *s, const Step *t, int64_t far, int64_t i, int64_t n)
{
    const Rows *r = &t->rows;
    const char *from = s->at[t->at] + far * r->in_far + i * r->in_near;
    for (int o = 0; o < t->nout; o++)
        strided_copy(s->at[t->at + 1 + o] + far * r->out_far + i * r->out_near, &r->out_near,
                     from, &r->in_near, 1, &n, r->run);
}

/* Bytes [at, at + bytes) of n runs, from number i on in the far-th row. */
static void row_play(const CopyPlan *s, const Step *t, int64_t far, int64_t i, int64_t n, size_t at,
                     size_t bytes, bool streams)
{
    const Rows *r = &t->rows;
    if (t->kind == STEP_COPY && t->nin && r->run < SHORT_RUN) {
        copy_short(s, t, far, i, n);
        return;
    }
    char *here[2 * POSSIBLE_DEVICES];
    for (; n; n--, i++) {
        int64_t in = far * r->in_far + i * r->in_near + (int64_t)at;
        int64_t out = far * r->out_far + i * r->out_near + (int64_t)at;
        for (int k = 0; k < t->nin + t->nout; k++)
            here[k] = s->at[t->at + k] + (k < t->nin ? in : out);
        step_play(s, t, here, bytes, streams);
    }
}

static void piece_play(const CopyPlan *s, const Step *t, int64_t number, bool streams)
{
    const Rows *r = &t->rows;
    Pieces p = pieces_of(r);
    int64_t i = number / p.parts * p.together, end = i + p.together;
    size_t at = (size_t)(number % p.parts) * PIECE_BYTES, bytes = r->run - at;
    if (p.parts > 1 && bytes > PIECE_BYTES)
        bytes = PIECE_BYTES;
    for (end = end < r->near * r->far ? end : r->near * r->far; i < end;) {
        int64_t far = i / r->near, first = i % r->near, n = r->near - first;
        n = n < end - i ? n : end - i;
        row_play(s, t, far, first, n, at, bytes, streams);
        i += n;
    }
}

/* Slices are the pieces of all steps, one step after the other. */
static void slice_play(void *user, int64_t slice)
{
    const CopyPlan *s = user;
    int low = 0, high = s->nsteps - 1;
    while (low < high) {
        int middle = (low + high + 1) / 2;
        if (s->steps[middle].first <= slice)
            low = middle;
        else
            high = middle - 1;
    }
    piece_play(s, &s->steps[low], slice - s->steps[low].first, collective_streams(s->bytes));
}

void copy_plan_execute(const CopyPlan *s)
{
    if (collective_is_large(s->bytes)) {
        frame_slices(s->frame, s->npieces, slice_play, (void *)s);
        return;
    }
    for (const Step *t = s->steps, *end = t + s->nsteps; t < end; t++)
        if (t->rows.near == 1 && t->rows.far == 1)
            step_play(s, t, s->at + t->at, t->rows.run, false);
        else
            for (int64_t i = 0; i < t->rows.far; i++)
                row_play(s, t, i, 0, t->rows.near, 0, t->rows.run, false);
}
