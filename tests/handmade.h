/* handmade.h - programs whose segments are C functions, to run without a compiler. Links the
 * engine's exec/ and collectives/ (and no LLVM: the table of functions has none for code). */
#ifndef TUTTI_TESTS_HANDMADE_H
#define TUTTI_TESTS_HANDMADE_H
#include "engine/collectives/collectives.h"
#include "engine/exec/launch.h"
#include "tests/check.h"

#include <stdlib.h>

const Runtime runtime = { .collectives = ALL_COLLECTIVES };

enum { MOST = 8 };

/* A program over f32 arrays, all arguments and results of type `type`. */
typedef struct HandMade {
    Program p;
    Param args[MOST], results[MOST];
    Collective collectives[MOST];
    Address places[MOST][2];
    int32_t members[MOST][MOST], group_of[MOST][MOST], lockstep_groups[MOST][MOST];
    Group groups[MOST];
    Type type;
} HandMade;

static const int64_t one_dims[1] = { 1 };
static const Type one_f32 = { F32, 1, one_dims };

static inline void add_f32(void *const *out, int64_t nout, const void *const *in, int64_t nin,
                           int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        float sum = ((const float *)in[0])[i];
        for (int64_t r = 1; r < nin; r++)
            sum += ((const float *)in[r])[i];
        for (int64_t r = 0; r < nout; r++)
            ((float *)out[r])[i] = sum;
    }
}

/* Costs that decide which threads run it: one worker all devices, workers each device as a task of its
 * own, or the caller. */
enum { ONE_THREAD_RUNS = -2, TASKS_RUN = -1, CALLER_RUNS = 0 };

static inline void hand_made(HandMade *h, int ndevices, int nargs, int nresults,
                             SegmentFn *const *segments, int nsegments, int64_t cost)
{
    *h = (HandMade){ 0 };
    h->type = one_f32;
    for (int i = 0; i < MOST; i++) {
        h->args[i].local = h->args[i].whole = one_f32;
        h->results[i].local = h->results[i].whole = one_f32;
        h->results[i].alias = -1;
    }
    h->p = (Program){
        .name = STR("hand"),
        .nreplicas = 1,
        .npartitions = ndevices,
        .ndevices = ndevices,
        .nargs = nargs,
        .nresults = nresults,
        .args = h->args,
        .results = h->results,
        .nsegments = nsegments,
        .segments = segments,
        .collectives = h->collectives,
        .groups = h->groups,
        .rt = &runtime,
        .cost_ns = cost,
        .is_cost_known = cost >= 0,
        .longest_ns = cost == TASKS_RUN ? INT64_MAX / MOST : 0,
    };
}

/* Groups of `size` neighbours: 0 1 | 2 3 | ... with a stride: 0 2 | 1 3.  Returns the first. */
static inline int add_groups(HandMade *h, int size, int stride)
{
    int first = h->p.ngroups, n = h->p.ndevices;
    for (int d = 0; d < n; d++) {
        bool is_first = d % (size * stride) < stride;
        if (!is_first)
            continue;
        int g = h->p.ngroups++;
        for (int i = 0; i < size; i++)
            h->members[g][i] = d + i * stride;
        h->groups[g] = (Group){ size, h->members[g] };
    }
    return first;
}

/* As the compiler says it: devices are in step where each is in a group. */
static inline void find_lockstep_groups(HandMade *h, int k)
{
    Collective *m = &h->collectives[k];
    m->lockstep_groups = h->lockstep_groups[k];
    for (int d = 0; d < h->p.ndevices; d++) {
        int g = m->group_of[d];
        if (g < 0) {
            m->nlockstep_groups = 0;
            return;
        }
        if (h->groups[g].members[0] == d)
            h->lockstep_groups[k][m->nlockstep_groups++] = g;
    }
}

/* A collective of one operand and one result, in the groups from `first` on. */
static inline Collective *add_collective(HandMade *h, OpId op, const char *where, int first_group,
                                         int ngroups, Address in, Address out, int next)
{
    int k = h->p.ncollectives++;
    for (int d = 0; d < h->p.ndevices; d++)
        h->group_of[k][d] = -1;
    for (int g = first_group; g < first_group + ngroups; g++)
        for (int i = 0; i < h->groups[g].n; i++)
            h->group_of[k][h->groups[g].members[i]] = g;
    h->places[k][0] = in;
    h->places[k][1] = out;
    h->collectives[k] = (Collective){
        .op = op,
        .name = op_name(op),
        .where = where,
        .next = next,
        .nin = 1,
        .nout = 1,
        .in = &h->places[k][0],
        .out = &h->places[k][1],
        .in_types = &h->type,
        .out_types = &h->type,
        .group_of = h->group_of[k],
        .combine = add_f32,
    };
    find_lockstep_groups(h, k);
    return &h->collectives[k];
}

/* clang-format off */
static inline Address at_arg(int i) { return (Address){ ADDRESS_ARG, i }; }
static inline Address at_out(int i) { return (Address){ ADDRESS_OUT, i }; }
static inline Address at_slab(int64_t i) { return (Address){ ADDRESS_SLAB, i }; }
/* clang-format on */

/* One launch's arguments and results. */
typedef struct Call {
    Device *devices[MOST];
    Buffer *args[MOST][MOST], *outs[MOST][MOST];
    Buffer *const *arg_rows[MOST];
    Buffer **out_rows[MOST];
    Event *done[MOST];
    Launch l;
} Call;

static inline void call_start(Call *c, Executor *e, const Program *p)
{
    *c = (Call){ 0 };
    for (int d = 0; d < p->ndevices; d++) {
        c->devices[d] = executor_device(e, d);
        c->arg_rows[d] = c->args[d];
        c->out_rows[d] = c->outs[d];
    }
    c->l = (Launch){ .program = p,
                     .devices = c->devices,
                     .args = c->arg_rows,
                     .outs = c->out_rows,
                     .done = c->done };
}

static inline Buffer *make_float(Device *device, float x)
{
    Buffer *b = NULL;
    Error *error = buffer_from_host(device, one_f32, &x, NULL, &b);
    CHECK(!error);
    return b;
}

/* Argument i of device d is base + d. */
static inline void call_args(Call *c, float base)
{
    for (int d = 0; d < c->l.program->ndevices; d++)
        for (int i = 0; i < c->l.program->nargs; i++)
            c->args[d][i] = make_float(c->devices[d], base + (float)d);
}

static inline float read_float(Buffer *b)
{
    float x = -1;
    Event *done = NULL;
    Error *error = buffer_to_host(b, &x, sizeof x, &done);
    if (error) {
        printf("read_float: %s\n", error_text(error));
        error_free(error);
        check_failures++;
        return -2;
    }
    event_await(done);
    error = event_error(done);
    if (error)
        x = -3;
    error_free(error);
    event_release(done);
    return x;
}

/* The text of the error that a buffer's contents come with, or "". */
static inline const char *failure_of(Buffer *b)
{
    static _Thread_local char text[2000];
    Event *ready = buffer_ready(b);
    event_await(ready);
    Error *error = event_error(ready);
    snprintf(text, sizeof text, "%s", error ? error_text(error) : "");
    error_free(error);
    event_release(ready);
    return text;
}

static inline void call_end(Call *c)
{
    for (int d = 0; d < c->l.program->ndevices; d++) {
        for (int i = 0; i < c->l.program->nargs; i++)
            buffer_free(c->args[d][i]);
        for (int i = 0; i < c->l.program->nresults; i++)
            buffer_free(c->outs[d][i]);
        event_release(c->done[d]);
    }
}
#endif
