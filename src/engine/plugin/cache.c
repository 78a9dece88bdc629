/* cache.c - from the bytes of a program to an executable, once.
 *
 * JAX compiles the same program again when only the lines it was traced from, or the places of its
 * arguments, have changed.  So a client keeps a list of the executables that somebody still holds;
 * the key is the program as text without locations, and those options that shape the code.
 *
 *     bytes --read--> module --print--> key --found--> one more holder
 *                                         +--not-----> compile the module, and put it in front
 *
 * All of it happens on a deep stack: clients call with as little as 2 MiB. */
#include "engine/plugin/plugin.h"

#include "base/sync.h"
#include "engine/compile.h"
#include "engine/plugin/proto.h"

#include <string.h>

enum { TEXT_LIMIT = 1 << 20 }; /* larger programs are mostly constants: their bytes are the key */

typedef struct Job {
    PJRT_Client *client;
    Str program;
    const BuildOptions *options;
    double began;
    Module *module; /* once it is read, until it is compiled */
    PJRT_Executable *executable;
    Error *error;
} Job;

static void print_bools(Text *key, const char *name, const bool *at, int n)
{
    text_printf(key, "%s ", name);
    for (int i = 0; i < n; i++)
        text_printf(key, "%d", at[i]);
    text_printf(key, "\n");
}

/* Messages name it, so programs of different names are different executables. */
static const char *name_of(const BuildOptions *o)
{
    return o->name ? o->name : "program";
}

static Error *read_once(Job *job)
{
    return job->module ? NULL
                       : read_program(job->program.at, job->program.n, name_of(job->options),
                                      &job->module);
}

static Error *make_key(Job *job, Text *key)
{
    const BuildOptions *o = job->options;
    text_printf(key, "%s\nevaluate %d, no_fold %d\n", name_of(o), o->evaluate, o->no_fold);
    print_bools(key, "free arguments", o->free_args, o->nfree_args);
    print_bools(key, "free results", o->free_results, o->nfree_results);
    if (job->program.n > TEXT_LIMIT) {
        text_add(key, job->program.at, job->program.n);
        return NULL;
    }
    TRY(read_once(job));
    module_print(key, job->module, false);
    return NULL;
}

static PJRT_Executable *find(PJRT_Client *client, const Text *key)
{
    PJRT_Executable *found = NULL;
    pthread_mutex_lock(&client->lock);
    for (PJRT_Executable *e = client->executables; e && !found; e = e->next)
        if (e->key.n == key->n && memcmp(e->key.at, key->at, key->n) == 0)
            found = executable_hold(e);
    pthread_mutex_unlock(&client->lock);
    return found;
}

static Error *compile_new(Job *job, Text *key)
{
    const BuildOptions *o = job->options;
    CompileOptions options = {
        .name = name_of(o),
        .evaluate = o->evaluate,
        .no_fold = o->no_fold,
        .free_args = o->free_args,
        .nfree_args = o->nfree_args,
        .free_results = o->free_results,
        .nfree_results = o->nfree_results,
    };
    TRY(read_once(job));
    Module *module = job->module;
    job->module = NULL;
    Program *program;
    TRY(compile_module(module, job->began, &options, &program));
    job->executable = executable_new(job->client, program, *key, job->program, &options);
    *key = (Text){ 0 };
    pthread_mutex_lock(&job->client->lock);
    job->executable->next = job->client->executables;
    job->client->executables = job->executable;
    pthread_mutex_unlock(&job->client->lock);
    return NULL;
}

static void run_job(void *user)
{
    Job *job = user;
    Text key = { 0 };
    job->began = clock_ms();
    job->error = make_key(job, &key);
    if (!job->error)
        job->executable = find(job->client, &key);
    if (!job->error && !job->executable)
        job->error = compile_new(job, &key);
    if (job->module)
        module_free(job->module);
    text_free(&key);
}

Error *executable_compile(PJRT_Client *client, Str program, const BuildOptions *options,
                          PJRT_Executable **out)
{
    Job job = { .client = client, .program = program, .options = options };
    TRY(deep_run("compile", run_job, &job));
    *out = job.executable;
    return job.error;
}
