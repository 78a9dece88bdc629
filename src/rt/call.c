/* call.c - one call of a program that was compiled ahead.
 *
 *     pointers --> storages that are the caller's --> buffers --launch--> results in place
 *        |                                                        |
 *        +-- pieces that lie apart: cut into memory of a device --+-- joined from there
 */
#include "rt/rt.h"

#include "engine/cpu_level.h"
#include "engine/exec/executor.h"
#include "rt/pieces.h"

#include <stdlib.h>
#include <string.h>

/* A call under way.  Tables have a row for each device. */
typedef struct Call {
    const Program *p;
    Executor *executor;
    Device **devices;  /* [ndevices] */
    Buffer ***args;    /* [ndevices][nargs] */
    Buffer ***results; /* [ndevices][nresults] */
    void **into;       /* [ndevices * nresults]; NULL: memory of the device */
    Event **done;      /* [ndevices] */
    void *block;       /* all of these tables */
} Call;

static Error *call_begin(Call *c)
{
    const Program *p = c->p;
    size_t n = (size_t)p->ndevices, nargs = (size_t)p->nargs, nresults = (size_t)p->nresults;
    void **at = c->block = calloc(n * (4 + nargs + 2 * nresults) + 1, sizeof *at);
    if (!at)
        return error_new(CODE_EXHAUSTED, "%.*s: no memory for a call", STR_ARG(p->name));
    c->devices = (Device **)at;
    c->done = (Event **)(at += n);
    c->args = (Buffer ***)(at += n);
    c->results = (Buffer ***)(at += n);
    c->into = at += n;
    at += n * nresults;
    for (int d = 0; d < p->ndevices; d++) {
        c->devices[d] = executor_device(c->executor, d);
        c->args[d] = (Buffer **)at;
        c->results[d] = (Buffer **)(at + nargs);
        at += nargs + nresults;
    }
    return NULL;
}

static void call_end(Call *c)
{
    for (int d = 0; c->block && d < c->p->ndevices; d++) {
        for (int i = 0; i < c->p->nargs; i++)
            buffer_free(c->args[d][i]);
        for (int i = 0; i < c->p->nresults; i++)
            buffer_free(c->results[d][i]);
    }
    free(c->block);
}

/* ---- arguments ---- */

static Error *missing(const Program *p, const char *what, int i, const Param *param)
{
    return error_new(CODE_INVALID, "%.*s: %s %d, %s, is NULL", STR_ARG(p->name), what, i,
                     type_name(param->whole));
}

/* The caller's memory as an argument of device d. */
static Error *lend(Call *c, int d, int i, const void *at)
{
    Type type = c->p->args[i].local;
    Storage *storage = storage_foreign((void *)at, type_bytes(type), NULL, NULL);
    if (!storage)
        return error_new(CODE_EXHAUSTED, "%.*s: no memory for argument %d", STR_ARG(c->p->name), i);
    return buffer_new(c->devices[d], type, storage, NULL, &c->args[d][i]);
}

static Error *cut(Call *c, int d, int i, const void *whole)
{
    const Param *param = &c->p->args[i];
    Storage *storage;
    TRY(storage_new(c->devices[d]->memory, param->local, &storage));
    piece_cut(param, d, whole, storage->data);
    return buffer_new(c->devices[d], param->local, storage, NULL, &c->args[d][i]);
}

static Error *take_argument(Call *c, int i, const void *whole)
{
    const Param *param = &c->p->args[i];
    if (!whole && type_bytes(param->whole))
        return missing(c->p, "argument", i, param);
    bool is_dense = piece_is_dense(param);
    for (int d = 0; d < c->p->ndevices; d++)
        TRY(is_dense ? lend(c, d, i, piece_at(param, d, whole)) : cut(c, d, i, whole));
    return NULL;
}

static Error *take_pieces(Call *c, const void *const *in, void *const *out)
{
    const Program *p = c->p;
    for (int d = 0; d < p->ndevices; d++) {
        for (int i = 0; i < p->nargs; i++) {
            if (!in[d * p->nargs + i] && type_bytes(p->args[i].local))
                return missing(p, "argument", i, &p->args[i]);
            TRY(lend(c, d, i, in[d * p->nargs + i]));
        }
        for (int j = 0; j < p->nresults; j++) {
            if (!out[d * p->nresults + j] && type_bytes(p->results[j].local))
                return missing(p, "result", j, &p->results[j]);
            c->into[d * p->nresults + j] = out[d * p->nresults + j];
        }
    }
    return NULL;
}

/* ---- results ---- */

/* In place where a piece lies in one stretch; of devices that hold the same, the first. */
static Error *place_results(Call *c, void *const *out)
{
    const Program *p = c->p;
    for (int j = 0; j < p->nresults; j++) {
        const Param *param = &p->results[j];
        if (!out[j] && type_bytes(param->whole))
            return missing(p, "result", j, param);
        for (int d = 0; piece_is_dense(param) && d < p->ndevices; d++)
            if (piece_is_first(param, d))
                c->into[d * p->nresults + j] = piece_at(param, d, out[j]);
    }
    return NULL;
}

static void join_results(Call *c, void *const *out)
{
    const Program *p = c->p;
    for (int j = 0; j < p->nresults; j++)
        for (int d = 0; !piece_is_dense(&p->results[j]) && d < p->ndevices; d++)
            if (piece_is_first(&p->results[j], d))
                piece_join(&p->results[j], d, out[j], c->results[d][j]->storage->data);
}

/* ---- the launch ---- */

static Error *await_all(Call *c)
{
    executor_await(c->executor, c->done[0]);
    Error *error = event_error(c->done[0]);
    for (int d = 0; d < c->p->ndevices; d++)
        if (!event_take_back(c->done[d]))
            break;
    return error;
}

static Error *launch(Call *c, const tutti_rt *rt)
{
    Launch l = { .program = c->p,
                 .devices = c->devices,
                 .args = (Buffer *const *const *)c->args,
                 .outs = c->results,
                 .into = c->into,
                 .is_alone = rt_is_alone(rt),
                 .done = c->done };
    TRY(launch_start(c->executor, &l));
    return await_all(c);
}

static Error *whole_steps(Call *c, const tutti_rt *rt, const void *const *in, void *const *out)
{
    TRY(call_begin(c));
    for (int i = 0; i < c->p->nargs; i++)
        TRY(take_argument(c, i, in[i]));
    TRY(place_results(c, out));
    TRY(launch(c, rt));
    join_results(c, out);
    return NULL;
}

static Error *pieces_steps(Call *c, const tutti_rt *rt, const void *const *in, void *const *out)
{
    TRY(call_begin(c));
    TRY(take_pieces(c, in, out));
    return launch(c, rt);
}

typedef Error *Steps(Call *c, const tutti_rt *rt, const void *const *in, void *const *out);

/* The first of its forms that this machine can run. */
static Error *choose(const tutti_rt_program *program, const Program **out)
{
    const LinkedProgram *first = (const LinkedProgram *)(const void *)program, *l = first;
    while (l && !machine_has((MachineLevel)l->level))
        l = l->otherwise;
    if (!l)
        return error_new(CODE_UNIMPLEMENTED,
                         "%.*s was compiled for a machine that has more than this one; tutti "
                         "compile --cpu names others",
                         STR_ARG(first->program->name));
    *out = l->program;
    return NULL;
}

static const char *play(tutti_rt *rt, const tutti_rt_program *program, Steps *steps,
                        const void *const *in, void *const *out)
{
    Call c = { 0 };
    Error *error = choose(program, &c.p);
    if (!error)
        error = rt_executor(rt, c.p->ndevices, &c.executor);
    if (!error)
        error = steps(&c, rt, in, out);
    call_end(&c);
    return rt_say(error);
}

const char *tutti_rt_call(tutti_rt *rt, const tutti_rt_program *program, const void *const *in,
                          void *const *out)
{
    return play(rt, program, whole_steps, in, out);
}

const char *tutti_rt_call_pieces(tutti_rt *rt, const tutti_rt_program *program,
                                 const void *const *in, void *const *out)
{
    return play(rt, program, pieces_steps, in, out);
}
