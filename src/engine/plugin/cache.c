/* cache.c - from the bytes of a program to a compiled one, once.
 *
 * JAX compiles the same program again when only the lines it was traced from, or the places of its
 * arguments, have changed.  So a client keeps a list of the programs that somebody still holds;
 * the key is the program as text without locations, and those options that shape the code.
 *
 *     bytes --read--> module --print--> key --found--> one more holder
 *                                         +--not-----> compile the module, and put it in front
 *
 * All of it happens on a deep stack: clients call with as little as 2 MiB. */
#include "engine/plugin/plugin.h"

#include "base/sync.h"
#include "base/table.h"
#include "engine/checks.h"
#include "engine/compile.h"
#include "engine/plugin/proto.h"
#include "engine/run/floats.h"
#include "hlo/rewrite.h"

#include <string.h>

enum { TEXT_LIMIT = 1 << 20 }; /* larger programs are mostly constants: their bytes are the key */

typedef struct Job {
    PJRT_Client *client;
    Str program;
    const BuildOptions *options;
    double began;
    Module *module; /* once it is read, until it is compiled */
    Compiled *compiled;
    Error *error;
} Job;

static void print_bools(Text *key, const char *name, const bool *at, int n)
{
    text_printf(key, "%s ", name);
    for (int i = 0; i < n; i++)
        text_printf(key, "%d", at[i]);
    text_printf(key, "\n");
}

/* Messages name it, so programs of different names are different ones. */
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
    text_printf(key, "%s\nevaluate %d, no_fold %d, bounds %d\n", name_of(o), o->evaluate,
                o->no_fold, checks_bounds());
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

static Compiled *find(PJRT_Client *client, const Text *key)
{
    Compiled *found = NULL;
    uint64_t hash = hash_bytes(key->at, key->n, 0);
    pthread_mutex_lock(&client->lock);
    for (Compiled *c = *compiled_list(client, hash); c && !found; c = c->next)
        if (c->hash == hash && c->key.n == key->n && memcmp(c->key.at, key->at, key->n) == 0)
            found = compiled_hold(c);
    pthread_mutex_unlock(&client->lock);
    return found;
}

/* What its custom calls say of a program. */
typedef struct Calls {
    bool is_local;   /* one is of a function that no other process knows */
    bool has_effect; /* one does more than give its results */
} Calls;

static void look_at_call(Module *m, NodeId n, void *user)
{
    static const char prefix[] = TUTTI_LOCAL_CALL;
    Calls *calls = user;
    const Node *node = node_at(m, n);
    if (node->op != OP_CUSTOM_CALL)
        return;
    Str target = ((const CustomCallAttrs *)node->attrs)->call_target_name;
    calls->is_local |= target.n >= strlen(prefix) && !memcmp(target.at, prefix, strlen(prefix));
    calls->has_effect |= ((const CustomCallAttrs *)node->attrs)->has_side_effect;
}

static Calls look_at_calls(Module *m)
{
    Calls calls = { 0 };
    for (int i = 0; i < m->nfuncs; i++)
        region_walk(m, m->funcs[i].body, look_at_call, &calls);
    return calls;
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
    Calls calls = look_at_calls(module);
    Program *program;
    TRY(compile_module(module, job->began, &options, &program));
    job->compiled = compiled_new(job->client, program, *key, job->program, &options);
    job->compiled->is_local = calls.is_local;
    job->compiled->has_effect = calls.has_effect;
    *key = (Text){ 0 };
    pthread_mutex_lock(&job->client->lock);
    Compiled **list = compiled_list(job->client, job->compiled->hash);
    job->compiled->next = *list;
    *list = job->compiled;
    pthread_mutex_unlock(&job->client->lock);
    return NULL;
}

static void run_job(void *user)
{
    Job *job = user;
    Text key = { 0 };
    Floats before = floats_plain(); /* what is folded must not depend on who asks first */
    job->began = clock_ms();
    job->error = make_key(job, &key);
    if (!job->error)
        job->compiled = find(job->client, &key);
    if (!job->error && !job->compiled)
        job->error = compile_new(job, &key);
    if (job->module)
        module_free(job->module);
    text_free(&key);
    floats_restore(before);
}

Error *compiled_get(PJRT_Client *client, Str program, const BuildOptions *options,
                    Compiled **out)
{
    Job job = { .client = client, .program = program, .options = options };
    TRY(deep_run("compile", run_job, &job));
    *out = job.compiled;
    return job.error;
}
