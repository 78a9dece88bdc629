/* extension.c - what build/tutti asks beyond PJRT: parameters, statistics, programs
 * after a pass; and functions for custom calls. */
#include "engine/plugin/plugin.h"
#include "engine/stats.h"

#include "base/guard.h"
#include "engine/compile.h"
#include "engine/custom_call.h"
#include "engine/ffi/ffi.h"
#include "engine/numerics/numerics.h"
#include "engine/profile/views.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static Error *describe(PJRT_LoadedExecutable *executable, const TuttiProgram **out)
{
    *out = &executable->compiled->description;
    return NULL;
}

static void print_compile_stats(Text *out, const CompileStats *s)
{
    text_printf(out, "kernels_compiled %d\nkernels_reused %d\n", s->kernels_compiled,
                s->kernels_reused);
    text_printf(out, "stretches %d\nmeetings %d\njoins %d\nevaluations %d\n", s->segments,
                s->collectives, s->joins, s->evaluations);
    text_printf(out, "code_bytes %zu\nslab_bytes %zu\npool_bytes %zu\n", s->code_bytes,
                s->slab_bytes, s->pool_bytes);
    text_printf(out, "read_ms %.3f\npasses_ms %.3f\nemit_ms %.3f\n", s->read_ms, s->passes_ms,
                s->emit_ms);
}

static void print_run_stats(Text *out, const RunStats *s)
{
    const struct {
        const char *name;
        int64_t value;
    } rows[] = {
        { "launches", s->launches },           { "inline_launches", s->inline_launches },
        { "run_meetings", s->collectives },    { "run_joins", s->joins },
        { "run_evaluations", s->evaluations }, { "copies", s->copies },
        { "copied_bytes", s->copied_bytes },   { "donated", s->donated },
        { "deadlocks", s->deadlocks },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        text_printf(out, "%s %" PRId64 "\n", rows[i].name, rows[i].value);
}

static Error *stats(PJRT_LoadedExecutable *executable, char **text)
{
    Text out = { .is_message = true };
    if (executable)
        print_compile_stats(&out, &executable->compiled->program->stats);
    RunStats run = run_stats();
    print_run_stats(&out, &run);
    text_printf(&out, "lapack %s\n", lapack_provider());
    *text = out.at;
    return out.at ? NULL : error_new(CODE_EXHAUSTED, "no memory for counters");
}

typedef struct Dump {
    Source source;
    const char *after; /* a pass; NULL: as read */
    Text text;
    Error *error;
} Dump;

static void dump_run(void *user)
{
    Dump *d = user;
    d->error = d->after ? compile_until(&d->source, d->after) : source_read(&d->source);
    if (!d->error)
        module_print(&d->text, d->source.module, false);
    module_free(d->source.module);
}

static Error *dump(const char *code, size_t size, const char *name, const char *after, char **text)
{
    Dump d = { .source = { .bytes = { code, size }, .options = { .name = name } }, .after = after };
    TRY(compiler_run("dump", dump_run, &d));
    *text = d.text.at;
    return d.error;
}

static void release(char *text)
{
    heap_free(text);
}

const char *const call_definer = "tt_define_call";

static bool add_call(const char *name, size_t size, TuttiFunction *f, void *user)
{
    return call_registry_add((Str){ name, size }, f, user);
}

static void drop_call(const char *name, size_t size)
{
    call_registry_drop((Str){ name, size });
}

/* Takes the error. */
static char *why(Error *error)
{
    char *text = error ? heap_try(strlen(error_text(error)) + 1) : NULL;
    if (text)
        strcpy(text, error_text(error));
    error_free(error);
    return text;
}

static char *add_handler(const char *name, size_t size, void *const *stages)
{
    FfiHandler *functions[FFI_STAGES];
    for (int i = 0; i < FFI_STAGES; i++)
        functions[i] = (FfiHandler *)stages[i];
    return why(handler_add((Str){ name, size }, functions));
}

static char *add_type(const char *name, size_t size, int64_t *id, const void *info)
{
    return why(
        type_add((Str){ name, size }, id, info ? ((const FfiTypeInfo *)info)->destroy : NULL));
}

static Error *lapack(const char **name)
{
    TRY(lapack_find());
    *name = lapack_provider();
    return NULL;
}

static Error *stop_recording(const char *path, char **text)
{
    record_stop();
    return path ? profile_write(path) : profile_table(text);
}

static void range_end(uint64_t begin, const char *name)
{
    record_end(begin, RECORD_RANGE, str_of(name), -1, 0);
}

static Error *object(TuttiObject *o)
{
    Source source = { .bytes = { o->code, o->size }, .options = { .name = o->file } };
    ObjectOptions options = { o->name, o->otherwise, o->cpu, o->args, o->results, { 0 } };
    if (o->weights)
        options.weights =
            (LinkedWeights){ o->weights_file, o->weights_bytes, o->weights_crc, o->weights };
    ObjectFile made = { .options = options };
    TRY(compile_object(&source, &made));
    o->object = made.bytes;
    o->object_size = made.n;
    o->header = made.header.at;
    return NULL;
}

static Error *exchange(PJRT_Client *client, int n, const TuttiPiece *pieces)
{
    return client->hosts ? hosts_exchange(client->hosts, n, pieces) : NULL;
}

TuttiExtension tutti_extension = {
    .base = { sizeof(TuttiExtension), (PJRT_Extension_Type)TUTTI_EXTENSION, NULL },
    .describe = describe,
    .stats = stats,
    .dump = dump,
    .release = release,
    .passes = pass_names,
    .add_call = add_call,
    .offer_lapack = lapack_offer,
    .lapack = lapack,
    .drop_call = drop_call,
    .record = record_begin,
    .record_end = stop_recording,
    .range_begin = record_start,
    .range_end = range_end,
    .compile_object = object,
    .exchange = exchange,
    .llvm = llvm_version,
    .rt_abi = rt_abi,
    .add_handler = add_handler,
    .add_type = add_type,
    .leaving = hosts_leaving,
};
