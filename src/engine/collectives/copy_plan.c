/* copy_plan.c - the steps of a collective, and executing them: whole if it is small, else in slices
 * that idle workers take. */
#include "engine/collectives/collectives.h"

#include "engine/numerics/numerics.h"

#include <stdlib.h>
#include <string.h>

enum {
    SLICE_BYTES = 256 << 10, /* of an array, in a slice; a multiple of every element's bytes, */
    BLOCK_BYTES = 8 << 10,   /* as is this: the block of a sum that stays in the first cache */
    SHORT_SPAN = 1 << 10,    /* shorter spans are copied to one result after the other */
};

void copy_plan_begin(CopyPlan *plan)
{
    plan->c = NULL;
    plan->frame = NULL;
    plan->nsteps = plan->naddresses = 0;
    plan->steps = plan->few_steps;
    plan->steps_room = (int)(sizeof plan->few_steps / sizeof *plan->few_steps);
    plan->at = plan->few_at;
    plan->addresses_room = (int)(sizeof plan->few_at / sizeof *plan->few_at);
    plan->bytes = 0;
    plan->nslices = 0;
}

void copy_plan_end(CopyPlan *plan)
{
    if (plan->steps != plan->few_steps)
        free(plan->steps);
    if (plan->at != plan->few_at)
        free(plan->at);
    copy_plan_begin(plan);
}

/* Room for n elements in a list that begins as `few` and is then the heap's.  NULL: no memory. */
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

/* How a step is sliced: a slice is several spans, or one of several parts of a span. */
typedef struct StepSlices {
    int64_t n;        /* slices */
    int64_t together; /* spans in a slice */
    int64_t parts;    /* slices of a span, if it is larger than one */
} StepSlices;

static StepSlices slices_of(const Rows *r)
{
    int64_t nspans = r->inner * r->outer;
    if ((size_t)nspans * r->span <= SLICE_BYTES)
        return (StepSlices){ 1, nspans, 1 };
    StepSlices p = { .together = r->span >= SLICE_BYTES ? 1 : (int64_t)(SLICE_BYTES / r->span),
                     .parts = (int64_t)((r->span + SLICE_BYTES - 1) / SLICE_BYTES) };
    p.n = (nspans + p.together - 1) / p.together * p.parts;
    return p;
}

static Error *make_room(CopyPlan *plan, int naddresses)
{
    Step *steps =
        grown(plan->steps, plan->few_steps, plan->nsteps + 1, &plan->steps_room, sizeof *steps);
    plan->steps = steps ? steps : plan->steps;
    char **at = grown(plan->at, plan->few_at, plan->naddresses + naddresses, &plan->addresses_room,
                      sizeof *at);
    plan->at = at ? at : plan->at;
    if (steps && at)
        return NULL;
    return error_new(CODE_EXHAUSTED, "no memory for %d steps of a collective", plan->nsteps + 1);
}

Error *copy_plan_add(CopyPlan *plan, const Step *step, char ***at)
{
    int n = step->nin + step->nout;
    if (plan->nsteps == plan->steps_room || plan->naddresses + n > plan->addresses_room)
        TRY(make_room(plan, n));
    Step *t = &plan->steps[plan->nsteps++];
    *t = *step;
    t->at = plan->naddresses;
    t->first = plan->nslices;
    plan->naddresses += n;
    plan->nslices += slices_of(&t->rows).n;
    int ntouched = t->kind == STEP_RING || t->kind == STEP_CHAIN ? 2 * t->nout : n;
    plan->bytes += (size_t)ntouched * (size_t)(t->rows.inner * t->rows.outer) * t->rows.span;
    *at = plan->at + t->at;
    return NULL;
}

/* ---- execution ---- */

/* A sum that is streamed past the caches is made in a block of its own, block by block. */
static void reduce_streaming(const CopyPlan *plan, const Step *t, char *const *at, size_t bytes)
{
    _Alignas(64) char sum[BLOCK_BYTES];
    const void *in[POSSIBLE_DEVICES];
    for (size_t done = 0; done < bytes; done += BLOCK_BYTES) {
        size_t block = bytes - done < BLOCK_BYTES ? bytes - done : BLOCK_BYTES;
        for (int i = 0; i < t->nin; i++)
            in[i] = at[i] + done;
        plan->c->combine((void *[]){ sum }, 1, in, t->nin, (int64_t)(block / t->element));
        for (int o = 0; o < t->nout; o++)
            bytes_move(at[t->nin + o] + done, sum, block, true);
    }
}

/* Executes a step for one span; at[nin + nout]: its addresses. */
static void step_execute(const CopyPlan *plan, const Step *t, char *const *at, size_t bytes,
                         bool streams)
{
    switch (t->kind) {
    case STEP_COPY:
        if (t->nin)
            bytes_spread(t->nout, at + 1, at[0], bytes, streams);
        for (int o = 0; !t->nin && o < t->nout; o++)
            memset(at[o], 0, bytes);
        break;
    case STEP_RING:
    case STEP_CHAIN: bytes_rotate(t->nout, at, bytes, t->kind == STEP_RING); break;
    case STEP_REDUCE:
        if (streams)
            reduce_streaming(plan, t, at, bytes);
        else
            plan->c->combine((void *const *)at + t->nin, t->nout, (const void *const *)at, t->nin,
                             (int64_t)(bytes / t->element));
        break;
    }
}

/* Copies n short spans, from number i on in row `outer`, to one result after the other. */
static void copy_short(const CopyPlan *plan, const Step *t, int64_t outer, int64_t i, int64_t n)
{
    const Rows *r = &t->rows;
    const char *from = plan->at[t->at] + outer * r->in_outer + i * r->in_inner;
    for (int o = 0; o < t->nout; o++)
        strided_copy(plan->at[t->at + 1 + o] + outer * r->out_outer + i * r->out_inner,
                     &r->out_inner, from, &r->in_inner, 1, &n, r->span);
}

/* Executes a step for bytes [at, at + bytes) of n spans, from number i on in row `outer`. */
static void row_execute(const CopyPlan *plan, const Step *t, int64_t outer, int64_t i, int64_t n,
                        size_t at, size_t bytes, bool streams)
{
    const Rows *r = &t->rows;
    if (t->kind == STEP_COPY && t->nin && r->span < SHORT_SPAN) {
        copy_short(plan, t, outer, i, n);
        return;
    }
    char *here[2 * POSSIBLE_DEVICES];
    for (; n; n--, i++) {
        int64_t in = outer * r->in_outer + i * r->in_inner + (int64_t)at;
        int64_t out = outer * r->out_outer + i * r->out_inner + (int64_t)at;
        for (int k = 0; k < t->nin + t->nout; k++)
            here[k] = plan->at[t->at + k] + (k < t->nin ? in : out);
        step_execute(plan, t, here, bytes, streams);
    }
}

static void step_slice_execute(const CopyPlan *plan, const Step *t, int64_t number, bool streams)
{
    const Rows *r = &t->rows;
    StepSlices p = slices_of(r);
    int64_t i = number / p.parts * p.together, end = i + p.together;
    size_t at = (size_t)(number % p.parts) * SLICE_BYTES, bytes = r->span - at;
    if (p.parts > 1 && bytes > SLICE_BYTES)
        bytes = SLICE_BYTES;
    for (end = end < r->inner * r->outer ? end : r->inner * r->outer; i < end;) {
        int64_t outer = i / r->inner, first = i % r->inner, n = r->inner - first;
        n = n < end - i ? n : end - i;
        row_execute(plan, t, outer, first, n, at, bytes, streams);
        i += n;
    }
}

/* The slices of a plan are those of all its steps, one step after the other. */
static void plan_slice_execute(void *user, int64_t slice)
{
    const CopyPlan *plan = user;
    int low = 0, high = plan->nsteps - 1;
    while (low < high) {
        int middle = (low + high + 1) / 2;
        if (plan->steps[middle].first <= slice)
            low = middle;
        else
            high = middle - 1;
    }
    step_slice_execute(plan, &plan->steps[low], slice - plan->steps[low].first,
                       collective_streams(plan->bytes));
}

void copy_plan_execute(const CopyPlan *plan)
{
    if (collective_is_large(plan->bytes)) {
        slices_run(plan->frame, plan->nslices, plan_slice_execute, (void *)plan);
        return;
    }
    for (const Step *t = plan->steps, *end = t + plan->nsteps; t < end; t++)
        if (t->rows.inner == 1 && t->rows.outer == 1)
            step_execute(plan, t, plan->at + t->at, t->rows.span, false);
        else
            for (int64_t i = 0; i < t->rows.outer; i++)
                row_execute(plan, t, i, 0, t->rows.inner, 0, t->rows.span, false);
}
