/* compiled.c - a program, and everything that the seam may ask of it.
 *
 * It is laid out once, when the program is compiled, as PJRT wants it.  Holders: the handles that
 * clients have (executable.c, loaded.c), and the launches that run. */
#include "engine/plugin/plugin.h"

#include "base/guard.h"
#include "base/table.h"
#include "engine/custom_call.h"
#include "engine/op_sharding.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void lay_out_outputs(Compiled *c)
{
    const Program *p = c->program;
    int64_t ndims = 0;
    for (int i = 0; i < p->nresults; i++)
        ndims += p->results[i].local.rank;
    c->output_types = ARENA_ARRAY(c->arena, PJRT_Buffer_Type, p->nresults + 1);
    c->output_ranks = ARENA_ARRAY(c->arena, size_t, p->nresults + 1);
    c->output_dims = ARENA_ARRAY(c->arena, int64_t, ndims + 1);
    int64_t *dim = c->output_dims;
    for (int i = 0; i < p->nresults; i++) {
        Type t = p->results[i].local;
        c->output_types[i] = (PJRT_Buffer_Type)element_info[t.element].pjrt;
        c->output_ranks[i] = (size_t)t.rank;
        for (int d = 0; d < t.rank; d++)
            *dim++ = t.dims[d];
    }
}

static void lay_out_shardings(Compiled *c, int n, const Param *params, const char ***bytes,
                              size_t **sizes)
{
    *bytes = ARENA_ARRAY(c->arena, const char *, n + 1);
    *sizes = ARENA_ARRAY(c->arena, size_t, n + 1);
    for (int i = 0; i < n; i++) {
        Text text = { 0 };
        sharding_write(&text, params[i].tiling);
        (*bytes)[i] = text.n ? arena_copy(c->arena, text.at, text.n) : "";
        (*sizes)[i] = text.n;
        text_free(&text);
    }
}

static void lay_out_memory_kinds(Compiled *c, int n, const Param *params, const char ***kinds,
                                 size_t **sizes)
{
    *kinds = ARENA_ARRAY(c->arena, const char *, n + 1);
    *sizes = ARENA_ARRAY(c->arena, size_t, n + 1);
    for (int i = 0; i < n; i++) {
        (*kinds)[i] = memory_kind_names[params[i].kind];
        (*sizes)[i] = strlen((*kinds)[i]);
    }
}

/* Where each device's tile begins, in elements.  A tiling is of one replica's devices. */
static TuttiArray *describe(Arena *arena, int ndevices, int n, const Param *params)
{
    TuttiArray *arrays = ARENA_ARRAY(arena, TuttiArray, n + 1);
    for (int i = 0; i < n; i++) {
        Tiling t = params[i].tiling;
        Type local = params[i].local;
        int64_t *starts = ARENA_ARRAY(arena, int64_t, ndevices * t.rank + 1);
        for (int d = 0; d < ndevices; d++)
            for (int k = 0; k < t.rank; k++)
                starts[d * t.rank + k] = t.tile_of[d % t.ndevices * t.rank + k] * local.dims[k];
        arrays[i] = (TuttiArray){ (PJRT_Buffer_Type)element_info[local.element].pjrt, local.rank,
                                  params[i].whole.dims, local.dims, starts };
    }
    return arrays;
}

static const bool *copy_bools(Arena *arena, const bool *at, int n)
{
    return n ? arena_copy(arena, at, (size_t)n) : NULL;
}

static CompileOptions copy_options(Arena *arena, const CompileOptions *o)
{
    CompileOptions copy = *o;
    copy.name = str_copy(arena, str_of(o->name)).at;
    copy.free_args = copy_bools(arena, o->free_args, o->nfree_args);
    copy.free_results = copy_bools(arena, o->free_results, o->nfree_results);
    return copy;
}

Compiled *compiled_new(PJRT_Client *client, Shared *shared, Str source,
                       const CompileOptions *options)
{
    const Program *program = shared->program;
    Text key = shared->key;
    Compiled *c = heap_new(sizeof *c, "a compiled program");
    c->holders = 1;
    c->client = client;
    c->program = shared->program;
    c->shared = shared;
    /* relaxed: the caller's own hold, or the lock, keeps it alive */
    atomic_fetch_add_explicit(&shared->holders, 1, memory_order_relaxed);
    c->arena = arena_new();
    bool is_in_key =
        key.n >= source.n && memcmp(key.at + key.n - source.n, source.at, source.n) == 0;
    c->source =
        is_in_key ? (Str){ key.at + key.n - source.n, source.n } : str_copy(c->arena, source);
    c->options = copy_options(c->arena, options);
    snprintf(c->fingerprint, sizeof c->fingerprint, "%016" PRIx64, shared->hash);
    lay_out_outputs(c);
    lay_out_shardings(c, program->nargs, program->args, &c->arg_shardings, &c->arg_sharding_sizes);
    lay_out_shardings(c, program->nresults, program->results, &c->output_shardings,
                      &c->output_sharding_sizes);
    lay_out_memory_kinds(c, program->nargs, program->args, &c->arg_memory_kinds,
                         &c->arg_memory_kind_sizes);
    lay_out_memory_kinds(c, program->nresults, program->results, &c->output_memory_kinds,
                         &c->output_memory_kind_sizes);
    c->arg_layouts = layouts_of(c->arena, program->nargs, program->args);
    c->output_layouts = layouts_of(c->arena, program->nresults, program->results);
    c->description =
        (TuttiProgram){ program->ndevices, program->nargs, program->nresults,
                        describe(c->arena, program->ndevices, program->nargs, program->args),
                        describe(c->arena, program->ndevices, program->nresults,
                                 program->results) };
    return c;
}

/* The caller holds it, or the client's lock: so it cannot be on its way out. */
Compiled *compiled_hold(Compiled *c)
{
    atomic_fetch_add_explicit(&c->holders, 1, memory_order_relaxed);
    return c;
}

Compiled *compiled_begin_handle(Compiled *c)
{
    pthread_mutex_lock(&c->client->lock);
    c->shared->handles++;
    pthread_mutex_unlock(&c->client->lock);
    return c;
}

/* Runs that are marked as abandoned were launched by handles that have ended: a thread that finds
 * the program in the cache meanwhile begins its handle before this, or launches after it. */
void compiled_end_handle(Compiled *c)
{
    pthread_mutex_lock(&c->client->lock);
    if (--c->shared->handles == 0 && !c->has_effect)
        abandoned_runs_mark(c->client->executor, c->program);
    pthread_mutex_unlock(&c->client->lock);
    compiled_release(c);
}

static void shared_release(Shared *s)
{
    /* acquire and release: the last release comes after what all other holders did */
    if (atomic_fetch_sub_explicit(&s->holders, 1, memory_order_acq_rel) != 1)
        return;
    program_free(s->program);
    for (const LocalCall *call = s->local_calls; call; call = call->next)
        call_registry_release(call->name);
    arena_free(s->arena);
    text_free(&s->key);
    heap_free(s);
}

static void unlink_from_client(Compiled *c)
{
    for (Compiled **at = compiled_list(c->client, c->shared->hash); *at; at = &(*at)->next)
        if (*at == c) {
            *at = c->next;
            return;
        }
}

/* The last release is made under the client's lock, so that no thread finds it in the cache in
 * between. */
void compiled_release(Compiled *c)
{
    int holders = atomic_load_explicit(&c->holders, memory_order_relaxed);
    while (holders > 1)
        if (atomic_compare_exchange_weak_explicit(&c->holders, &holders, holders - 1,
                                                  memory_order_release, memory_order_relaxed))
            return;
    PJRT_Client *client = c->client;
    pthread_mutex_lock(&client->lock);
    /* Pairs with the releases above: what they did to it is seen before it is freed. */
    bool is_last = atomic_fetch_sub_explicit(&c->holders, 1, memory_order_acq_rel) == 1;
    if (is_last)
        unlink_from_client(c);
    pthread_mutex_unlock(&client->lock);
    if (!is_last)
        return;
    shared_release(c->shared);
    arena_free(c->places_arena);
    arena_free(c->arena);
    text_free(&c->optimized);
    heap_free(c);
}
