/* compile.c - `tutti compile`: a program as an object file, and the header to call it by. */
#include "command.h"
#include "execute.h"

#include "hlo/module.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

typedef struct CompileRequest {
    const char *program, *out, *header, *name, *cpu;
    int ndevices;
} CompileRequest;

/* ---- names ---- */

/* A word of C of the file's name: my-model.mlir gives my_model. */
static void name_of_file(const char *path, Text *out)
{
    const char *base = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
    size_t n = strcspn(base, ".");
    if (!n || isdigit((unsigned char)*base))
        text_add(out, "_", 1);
    for (size_t i = 0; i < n; i++)
        text_add(out, isalnum((unsigned char)base[i]) ? &base[i] : "_", 1);
}

static bool is_word(const char *name)
{
    if (isdigit((unsigned char)*name))
        return false;
    for (const char *c = name; *c; c++)
        if (!isalnum((unsigned char)*c) && *c != '_')
            return false;
    return *name && strlen(name) < 128;
}

/* ---- files ---- */

static Error *file_write(const char *path, const void *bytes, size_t n)
{
    FILE *file = fopen(path, "wb");
    bool is_well = file && fwrite(bytes, 1, n, file) == n;
    int trouble = errno;
    if (file && fclose(file) != 0 && is_well) {
        is_well = false;
        trouble = errno;
    }
    if (is_well)
        return NULL;
    if (file)
        unlink(path);
    return error_new(CODE_INVALID, "%s cannot be written: %s", path, strerror(trouble));
}

/* ---- the whole way ---- */

static Error *check_devices(const CompileRequest *r, Str code)
{
    Module *module;
    int needed;
    TRY(read_program(code.at, code.n, r->program, &module));
    Error *error = module_devices(module, &needed);
    module_free(module);
    TRY(error);
    if (r->ndevices && r->ndevices != needed)
        return error_new(CODE_INVALID, "%s is for %d device%s, not for %d: --devices is what it is",
                         r->program, needed, needed == 1 ? "" : "s", r->ndevices);
    return NULL;
}

static Error *compile(Pjrt *engine, const CompileRequest *r, Str code)
{
    TRY(check_devices(r, code));
    TRY(engine_load(engine));
    if (!engine->tutti)
        return error_new(CODE_UNIMPLEMENTED, "%s is not Tutti's engine", engine->path);
    Text name = { 0 };
    name_of_file(r->out, &name);
    TuttiObject object = { .code = code.at,
                           .size = code.n,
                           .file = r->program,
                           .name = r->name ? r->name : text_cstr(&name),
                           .cpu = r->cpu };
    Error *error = pjrt_error(engine->api, engine->tutti->compile_object(&object));
    text_free(&name);
    if (!error)
        error = file_write(r->out, object.object, object.object_size);
    if (!error && r->header)
        error = file_write(r->header, object.header, strlen(object.header));
    engine->tutti->release(object.object);
    engine->tutti->release(object.header);
    return error;
}

static int parse(int argc, char **argv, CompileRequest *r)
{
    for (int i = 1; i < argc; i++) {
        const char *value;
        if (strcmp(argv[i], "-o") == 0) {
            if (i + 1 == argc)
                return usage_error("compile", "-o needs a file");
            r->out = argv[++i];
        } else if (option_value(argc, argv, &i, "--header", &value)) {
            if (!(r->header = value))
                return usage_error("compile", "--header needs a file");
        } else if (option_value(argc, argv, &i, "--name", &value)) {
            if (!value || !is_word(value))
                return usage_error("compile", "--name needs a word of C, such as model");
            r->name = value;
        } else if (option_value(argc, argv, &i, "--cpu", &value)) {
            if (!(r->cpu = value))
                return usage_error("compile", "--cpu needs the name of a processor, or 'native'");
        } else if (option_value(argc, argv, &i, "--devices", &value)) {
            if (!parse_positive(value, &r->ndevices))
                return usage_error("compile",
                                   "--devices needs a whole number from 1 on, such as 4");
        } else if (argv[i][0] == '-') {
            return usage_error("compile", "'%s' is not known", argv[i]);
        } else if (r->program) {
            return usage_error("compile", "'%s' is a second program; one is compiled at a time",
                               argv[i]);
        } else {
            r->program = argv[i];
        }
    }
    if (!r->program)
        return usage_error("compile", "a program is missing");
    return r->out ? EXIT_OK : usage_error("compile", "-o FILE.o is missing: where the object goes");
}

static int run(int argc, char **argv)
{
    CompileRequest request = { 0 };
    int code = parse(argc, argv, &request);
    if (code != EXIT_OK)
        return code;
    Text program;
    Error *error = file_read(request.program, &program);
    if (error)
        return failed(error);
    Pjrt engine = { 0 };
    error = compile(&engine, &request, (Str){ text_cstr(&program), program.n });
    text_free(&program);
    engine_end(&engine);
    return error ? failed(error) : EXIT_OK;
}

const Command command_compile = {
    .name = "compile",
    .usage = "PROGRAM -o FILE.o [--header FILE.h] [--name NAME] [--cpu CPU] [--devices N]",
    .summary = "make an object file of a program, which a C program links with -ltutti_rt",
    .details =
        "  -o FILE.o        the object: its code for this machine, and all that is to be "
        "known of it\n"
        "  --header FILE.h  the header that a C program calls it by: NAME(rt, &arguments, "
        "&results)\n"
        "  --name NAME      what its functions are called after; else the object's file\n"
        "  --cpu CPU        what the code is for: native (this machine), x86-64-v2, -v3 or -v4\n"
        "  --devices N      an error unless the program is for N devices\n",
    .run = run,
};
