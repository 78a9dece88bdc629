/* serialized.c - executables that outlive the process: Serialize, and DeserializeAndLoad.
 *
 * What is stored is not code but what code is made from: the program as it came, and how it was to
 * be compiled, the devices included.  Loading compiles it again.
 *
 *     magic  version  sizes  checksum | CompileOptionsProto | StableHLO
 *
 * Whatever the bytes are, loading ends in an executable or in one message. */
#include "engine/plugin/plugin.h"

#include "base/guard.h"
#include "base/table.h"

#include <stdlib.h>
#include <string.h>

static const char magic[8] =
    "TUTTI\nX\n"; /* not NUL-terminated; a line end that text modes change */
enum { VERSION = 1 };

typedef struct Header {
    char magic[8];
    uint64_t version;
    uint64_t options_bytes, program_bytes;
    uint64_t checksum; /* of all that is before it and behind it */
} Header;

struct PJRT_SerializedExecutable {
    Text bytes;
};

static uint64_t checksum_of(const Header *h, const char *body)
{
    uint64_t of_head = hash_bytes(h, offsetof(Header, checksum), 0);
    return hash_bytes(body, h->options_bytes + h->program_bytes, of_head);
}

typedef struct Storing {
    Text *out;
    Str options, program;
} Storing;

static void store(void *user)
{
    Storing *to = user;
    Text *out = to->out;
    Str options = to->options, program = to->program;
    Header h = { .version = VERSION, .options_bytes = options.n, .program_bytes = program.n };
    memcpy(h.magic, magic, sizeof h.magic);
    text_add(out, &h, sizeof h);
    text_add(out, options.at, options.n);
    text_add(out, program.at, program.n);
    h.checksum = checksum_of(&h, out->at + sizeof h);
    memcpy(out->at, &h, sizeof h);
}

static void serialized_free(PJRT_SerializedExecutable *s)
{
    text_free(&s->bytes);
    free(s);
}

Error *pjrt_Executable_Serialize(PJRT_Executable_Serialize_Args *args)
{
    NEEDS(args, serialized_executable_deleter);
    const PJRT_Executable *e = args->executable;
    if (e->compiled->is_local)
        return error_new(CODE_UNIMPLEMENTED,
                         "%.*s cannot be stored: it calls functions of this process "
                         "(jax.pure_callback, jax.debug.print and the like)",
                         STR_ARG(e->compiled->program->name));
    PJRT_SerializedExecutable *s = calloc(1, sizeof *s);
    if (!s)
        return error_new(CODE_EXHAUSTED, "%.*s: no memory to store it",
                         STR_ARG(e->compiled->program->name));
    Error *error =
        guard_run("storing", store, &(Storing){ &s->bytes, e->options, e->compiled->source });
    if (error) {
        free(s);
        return error;
    }
    args->serialized_executable = s;
    args->serialized_bytes = s->bytes.at;
    args->serialized_bytes_size = s->bytes.n;
    args->serialized_executable_deleter = serialized_free;
    return NULL;
}

/* The sizes come from outside: no sum of them may wrap. */
static bool has_size(const Header *h, size_t n)
{
    uint64_t body = n - sizeof *h;
    return h->options_bytes <= body && h->program_bytes == body - h->options_bytes;
}

/* Finds the options and the program in stored bytes. */
static Error *open_stored(Str bytes, Str *options, Str *program)
{
    Header h;
    if (bytes.n < sizeof h || memcmp(bytes.at, magic, sizeof magic) != 0)
        return error_new(CODE_INVALID,
                         "these %zu bytes are not an executable that Tutti has stored", bytes.n);
    memcpy(&h, bytes.at, sizeof h);
    if (h.version != VERSION)
        return error_new(CODE_INVALID,
                         "the stored executable has format %llu and this engine reads format %d: "
                         "compile the program again",
                         (unsigned long long)h.version, VERSION);
    const char *body = bytes.at + sizeof h;
    if (!has_size(&h, bytes.n) || h.checksum != checksum_of(&h, body))
        return error_new(CODE_INVALID,
                         "the stored executable is cut short or damaged: its %zu bytes are not "
                         "those that were stored; compile the program again",
                         bytes.n);
    *options = (Str){ body, h.options_bytes };
    *program = (Str){ body + h.options_bytes, h.program_bytes };
    return NULL;
}

Error *pjrt_Executable_DeserializeAndLoad(PJRT_Executable_DeserializeAndLoad_Args *args)
{
    NEEDS(args, loaded_executable);
    Str options, program;
    TRY(open_stored((Str){ args->serialized_executable, args->serialized_executable_size },
                    &options, &program));
    if (PJRT_HAS(args, overridden_serialized_compile_options_size) &&
        args->overridden_serialized_compile_options)
        options = (Str){ args->overridden_serialized_compile_options,
                         args->overridden_serialized_compile_options_size };
    return loaded_compile(args->client, program, options, &args->loaded_executable);
}

static void keep_options(PJRT_SerializedCompileOptions *options)
{
    (void)options; /* they are the executable's */
}

Error *pjrt_Executable_GetCompileOptions(PJRT_Executable_GetCompileOptions_Args *args)
{
    NEEDS(args, serialized_compile_options_deleter);
    args->serialized_bytes = args->executable->options.at;
    args->serialized_bytes_size = args->executable->options.n;
    args->serialized_compile_options = NULL;
    args->serialized_compile_options_deleter = keep_options;
    return NULL;
}
