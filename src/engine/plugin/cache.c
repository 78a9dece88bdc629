/* cache.c - from the bytes of a program to a compiled one, once.
 *
 * JAX compiles the same program again when only the lines it was traced from, or the places of its
 * arguments, have changed.  So a client keeps a list of the programs that still have a holder;
 * the key is the program as text without locations, and those options that shape the code.
 *
 *     bytes --read--> module --print--> key --found, the same lines---> one more holder
 *                                         +--found, of other lines----> its code, and a table by which
 *                                         |                             messages name these lines
 *                                         +--not----------------------> compile.c, as all programs
 */
#include "engine/plugin/plugin.h"

#include "base/guard.h"
#include "base/table.h"
#include "engine/checks.h"
#include "engine/compile.h"
#include "engine/custom_call.h"
#include "engine/plugin/build_options.h"
#include "hlo/rewrite.h"

#include <string.h>

enum { TEXT_LIMIT = 1 << 20 }; /* larger programs are mostly constants: their bytes are the key */

typedef struct Job {
    PJRT_Client *client;
    Source source;
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

/* Messages name the program, so programs of different names are different ones. */
static Error *make_key(Source *s, Text *key)
{
    const CompileOptions *o = &s->options;
    text_printf(key, "%s\nevaluate %d, no_fold %d, bounds %d, nans %d\n", o->name, o->evaluate,
                o->no_fold, checks_bounds(), checks_nans());
    print_bools(key, "free arguments", o->free_args, o->nfree_args);
    print_bools(key, "free results", o->free_results, o->nfree_results);
    if (s->bytes.n > TEXT_LIMIT) {
        text_add(key, s->bytes.at, s->bytes.n);
        return NULL;
    }
    TRY(source_read(s));
    module_print(key, s->module, false);
    return NULL;
}

/* ---- places ---- */

/* Of every operation, in the order of the text, which is the same for programs with the same
 * text. */
typedef struct Places {
    int n;
    Loc *at;
} Places;

static void count_place(Module *m, NodeId n, void *user)
{
    (void)m, (void)n;
    ++*(int *)user;
}

static void take_place(Module *m, NodeId n, void *user)
{
    Places *places = user;
    places->at[places->n++] = *node_at(m, n)->loc;
}

static Places places_of(Module *m, Arena *arena)
{
    int n = 0;
    Places places = { 0 };
    for (int i = 0; i < m->nfuncs; i++)
        region_walk(m, m->funcs[i].body, count_place, &n);
    places.at = ARENA_ARRAY(arena, Loc, n + 1);
    for (int i = 0; i < m->nfuncs; i++)
        region_walk(m, m->funcs[i].body, take_place, &places);
    for (int i = 0; i < n; i++) {
        places.at[i].file = str_copy(arena, places.at[i].file);
        places.at[i].name = str_copy(arena, places.at[i].name);
    }
    return places;
}

static void give_place(Module *m, NodeId n, void *user)
{
    Places *places = user;
    node_at(m, n)->loc = &places->at[places->n++];
}

static uint64_t hash_places(Places places)
{
    uint64_t hash = 0;
    for (int i = 0; i < places.n; i++) {
        const Loc *loc = &places.at[i];
        hash = hash_bytes(loc->file.at, loc->file.n, hash);
        hash = hash_bytes(&loc->line, sizeof loc->line, hash);
        hash = hash_bytes(&loc->column, sizeof loc->column, hash);
    }
    return hash;
}

/* From here on each operation's place is its own, and what the compiler makes of the operation
 * points there. */
static void name_places(Module *m, Places places)
{
    Places next = { 0, places.at };
    for (int i = 0; i < m->nfuncs; i++)
        region_walk(m, m->funcs[i].body, give_place, &next);
}

/* ---- the cache ---- */

/* One that is compiled from the same, if there is one with the same places. */
static Compiled *find(PJRT_Client *client, const Text *key, const uint64_t *places_hash)
{
    Compiled *found = NULL;
    uint64_t hash = hash_bytes(key->at, key->n, 0);
    pthread_mutex_lock(&client->lock);
    for (Compiled *c = *compiled_list(client, hash); c; c = c->next) {
        const Shared *s = c->shared;
        bool is_it = s->hash == hash && s->key.n == key->n && !memcmp(s->key.at, key->at, key->n);
        if (!is_it || (found && c->places_hash != *places_hash))
            continue;
        found = c;
        if (c->places_hash == *places_hash)
            break;
    }
    if (found)
        compiled_hold(found);
    pthread_mutex_unlock(&client->lock);
    return found;
}

/* What its custom calls say of a program. */
typedef struct Calls {
    bool is_local;   /* one is of a function that no other process knows */
    bool has_effect; /* one does more than give its results */
    LocalCall *local;
    Arena *arena; /* of `local` */
} Calls;

static void look_at_call(Module *m, NodeId n, void *user)
{
    static const char prefix[] = TUTTI_LOCAL_CALL;
    Calls *calls = user;
    const Node *node = node_at(m, n);
    if (node->op != OP_CUSTOM_CALL)
        return;
    Str target = ((const CustomCallAttrs *)node->attrs)->call_target_name;
    calls->has_effect |= ((const CustomCallAttrs *)node->attrs)->has_side_effect;
    if (target.n < strlen(prefix) || memcmp(target.at, prefix, strlen(prefix)))
        return;
    calls->is_local = true;
    LocalCall *call = ARENA_NEW(calls->arena, LocalCall);
    *call = (LocalCall){ calls->local, str_copy(calls->arena, target) };
    calls->local = call;
}

static Calls look_at_calls(Module *m, Arena *arena)
{
    Calls calls = { .arena = arena };
    for (int i = 0; i < m->nfuncs; i++)
        region_walk(m, m->funcs[i].body, look_at_call, &calls);
    return calls;
}

/* Holds those that the registry knows, and lists no others. */
static const LocalCall *hold_calls(LocalCall *calls)
{
    const LocalCall *held = NULL;
    for (LocalCall *call = calls, *next; call; call = next) {
        next = (LocalCall *)call->next;
        if (!call_registry_hold(call->name))
            continue;
        call->next = held;
        held = call;
    }
    return held;
}

static CompileOptions compile_options(const BuildOptions *o)
{
    return (CompileOptions){
        .name = o->name ? o->name : "program",
        .evaluate = o->evaluate,
        .no_fold = o->no_fold,
        .free_args = o->free_args,
        .nfree_args = o->nfree_args,
        .free_results = o->free_results,
        .nfree_results = o->nfree_results,
    };
}

static void publish(Job *job, uint64_t places_hash, Calls calls)
{
    Compiled *c = job->compiled;
    c->places_hash = places_hash;
    c->is_local = calls.is_local;
    c->has_effect = calls.has_effect;
    Compiled **list = compiled_list(job->client, c->shared->hash);
    pthread_mutex_lock(&job->client->lock);
    c->next = *list;
    *list = c;
    pthread_mutex_unlock(&job->client->lock);
}

static Error *compile_new(Job *job, Text *key, Arena *arena, Places places)
{
    Source *s = &job->source;
    TRY(source_read(s));
    Calls calls = look_at_calls(s->module, arena);
    if (places.n)
        name_places(s->module, places);
    Program *program;
    int dumped = dump_before(s->module);
    TRY(compile_program(s, &program));
    dump_module(dumped, program->module, "tutti_after_optimizations");
    Shared *shared = heap_new(sizeof *shared, "a compiled program");
    *shared = (Shared){ .program = program,
                        .key = *key,
                        .hash = hash_bytes(key->at, key->n, 0),
                        .nlocs = places.n,
                        .locs = places.at,
                        .arena = arena };
    *key = (Text){ 0 };
    job->compiled = compiled_new(job->client, shared, s->bytes, &s->options);
    shared->local_calls = hold_calls(calls.local);
    publish(job, hash_places(places), calls);
    return NULL;
}

/* The code of `other`, which is held, for the same program with other places. */
static void share_compiled(Job *job, Compiled *other, Arena *arena, Places places)
{
    Calls calls = { .is_local = other->is_local, .has_effect = other->has_effect };
    const Source *s = &job->source;
    Compiled *c = compiled_new(job->client, other->shared, s->bytes, &s->options);
    LocTable *table = ARENA_NEW(c->arena, LocTable);
    *table = (LocTable){ other->shared->nlocs, other->shared->locs, places.at };
    c->places = table;
    c->places_arena = arena;
    job->compiled = c;
    publish(job, hash_places(places), calls);
    compiled_release(other);
}

static Error *find_or_compile(Job *job, Text *key)
{
    TRY(make_key(&job->source, key));
    Arena *arena = arena_new();
    Places places = { 0 }; /* of a large program they are part of the key */
    if (job->source.module)
        places = places_of(job->source.module, arena);
    uint64_t hash = hash_places(places);
    Compiled *found = find(job->client, key, &hash);
    if (found && found->places_hash == hash) {
        job->compiled = found;
        arena_free(arena);
        return NULL;
    }
    if (found && found->shared->nlocs == places.n) {
        share_compiled(job, found, arena, places);
        return NULL;
    }
    if (found)
        compiled_release(found);
    Error *error = compile_new(job, key, arena, places);
    if (error)
        arena_free(arena);
    return error;
}

static void run_job(void *user)
{
    Job *job = user;
    Text key = { 0 };
    job->error = find_or_compile(job, &key);
    module_free(job->source.module);
    text_free(&key);
}

Error *compiled_get(PJRT_Client *client, Str program, const BuildOptions *options, Compiled **out)
{
    Job job = { .client = client,
                .source = { .bytes = program, .options = compile_options(options) } };
    TRY(compiler_run("compile", run_job, &job));
    *out = job.compiled;
    return job.error;
}
