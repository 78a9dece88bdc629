/* source.c - a program before it is compiled: where that runs, and reading it. */
#include "engine/compile.h"
#include "engine/floats.h"
#include "engine/profile/record.h"
#include "hlo/module.h"

Error *compiler_run(const char *doing, ThreadFn *f, void *user)
{
    Floats before = floats_enter_default(); /* which a new thread inherits */
    Error *error = thread_run_deep(doing, f, user);
    floats_restore(before);
    return error;
}

Error *source_read(Source *s)
{
    if (s->module)
        return NULL;
    int64_t began = clock_now_ns();
    const char *name = s->options.name ? s->options.name : "program";
    uint64_t recorded = record_start();
    TRY(read_program(s->bytes.at, s->bytes.n, name, &s->module));
    record_end(recorded, RECORD_COMPILE, STR("read"), -1, 0);
    s->read_ms = (double)(clock_now_ns() - began) * 1e-6;
    return NULL;
}

typedef struct Job {
    Source *s;
    SourceSteps *steps;
    void *out;
    Error *error;
} Job;

static void job_run(void *user)
{
    Job *job = user;
    job->error = job->steps(job->s, job->out);
    if (job->error)
        module_free(job->s->module);
    job->s->module = NULL;
}

Error *source_compile(Source *s, SourceSteps *steps, void *out)
{
    Job job = { .s = s, .steps = steps, .out = out };
    bool was_read = s->module != NULL;
    Error *error = compiler_run("compile", job_run, &job);
    if (error && !was_read)
        s->module = NULL; /* what the guard gave back */
    return error ? error : job.error;
}
