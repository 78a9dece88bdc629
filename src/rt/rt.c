/* rt.c - devices for programs that were compiled ahead: made when a program first needs so many. */
#include "rt/rt.h"

#include "engine/exec/executor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An executor's number of devices is fixed: one more is made for a program that needs more. */
typedef struct Devices {
    Executor *executor;
    struct Devices *next; /* has fewer */
} Devices;

struct tutti_rt {
    tutti_rt_options options;
    pthread_mutex_t lock; /* of: */
    Devices *devices;
};

static tutti_rt shared = { .lock = PTHREAD_MUTEX_INITIALIZER }; /* of calls that name none */

const char *rt_say(Error *error)
{
    static _Thread_local char text[2048];
    if (!error)
        return NULL;
    snprintf(text, sizeof text, "%s", error_text(error));
    error_free(error);
    return text;
}

/* Of a caller whose options are smaller, the rest is 0; of a larger one it must be. */
static Error *read_options(const void *from, size_t size, tutti_rt_options *out)
{
    size_t known = size < sizeof *out ? size : sizeof *out;
    memcpy(out, from, known);
    for (size_t i = known; i < size; i++)
        if (((const char *)from)[i])
            return error_new(CODE_INVALID,
                             "tutti_rt_start: options of %zu bytes, made by a later tutti_rt.h: "
                             "this library, " TUTTI_RT_VERSION ", knows the first %zu",
                             size, sizeof *out);
    return NULL;
}

static Error *check_options(const tutti_rt_options *o)
{
    if (o->workers < TUTTI_RT_ALONE)
        return error_new(CODE_INVALID,
                         "tutti_rt_start: %d workers; 0 means one per core, TUTTI_RT_ALONE none",
                         o->workers);
    if (!o->take != !o->give)
        return error_new(CODE_INVALID,
                         "tutti_rt_start: memory of the caller's needs both take and give");
    if (o->submit && o->workers == TUTTI_RT_ALONE)
        return error_new(CODE_INVALID,
                         "tutti_rt_start: a pool and TUTTI_RT_ALONE; workers is how many of the "
                         "pool's threads may work, 0 as many as there are cores");
    if (!(o->seconds >= 0))
        return error_new(CODE_INVALID, "tutti_rt_start: %g seconds; 0 means no limit", o->seconds);
    return NULL;
}

const char *tutti_rt_start_sized(const tutti_rt_options *options, size_t size, tutti_rt **out)
{
    tutti_rt_options o = { 0 };
    Error *error = options ? read_options(options, size, &o) : NULL;
    if (!error)
        error = check_options(&o);
    tutti_rt *rt = error ? NULL : calloc(1, sizeof *rt);
    if (!error && !rt)
        error = error_new(CODE_EXHAUSTED, "tutti_rt_start: no memory");
    if (error)
        return rt_say(error);
    rt->options = o;
    pthread_mutex_init(&rt->lock, NULL);
    *out = rt;
    return NULL;
}

void tutti_rt_end(tutti_rt *rt)
{
    if (!rt)
        return;
    for (Devices *d = rt->devices, *next; d; d = next) {
        next = d->next;
        executor_free(d->executor);
        free(d);
    }
    pthread_mutex_destroy(&rt->lock);
    free(rt);
}

bool rt_is_alone(const tutti_rt *rt)
{
    return rt && rt->options.workers == TUTTI_RT_ALONE;
}

static Error *add_devices(tutti_rt *rt, int ndevices)
{
    Devices *d = calloc(1, sizeof *d);
    if (!d)
        return error_new(CODE_EXHAUSTED, "no memory for %d devices", ndevices);
    int workers = rt_is_alone(rt) ? 1 : rt->options.workers;
    Error *error = executor_new(ndevices, workers, rt->options.memory, &d->executor);
    if (!error && rt->options.take)
        executor_supply(d->executor,
                        &(Supply){ rt->options.take, rt->options.give, rt->options.user });
    if (!error && rt->options.submit)
        error = executor_lend(d->executor, &(Pool){ rt->options.submit, rt->options.pool });
    if (!error)
        error = executor_bound_runs(d->executor, rt->options.seconds);
    if (error) {
        executor_free(d->executor);
        free(d);
        return error;
    }
    d->next = rt->devices;
    rt->devices = d;
    return NULL;
}

Error *rt_executor(tutti_rt *rt, int ndevices, Executor **out)
{
    rt = rt ? rt : &shared;
    pthread_mutex_lock(&rt->lock);
    Error *error = NULL;
    if (!rt->devices || rt->devices->executor->ndevices < ndevices)
        error = add_devices(rt, ndevices);
    if (!error)
        *out = rt->devices->executor;
    pthread_mutex_unlock(&rt->lock);
    return error;
}
