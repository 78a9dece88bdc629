/* compile.c - `tutti compile`: a program as an object file, and the header to call it by.
 *
 * For several processors there is an object for each, of which the best names the next: model,
 * model_v3, model_v2.  In a file.a they lie side by side; for a file.o or file.so the system's linker joins
 * them. */
#include "archive.h"
#include "command.h"
#include "execute.h"

#include "hlo/module.h"

#include <ctype.h>
#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_CPUS = 4 };

typedef struct CompileRequest {
    const char *program, *out, *header, *name;
    const char *cpus[MOST_CPUS]; /* the best first; NULL: this machine */
    int ncpus, ndevices;
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

static bool ends_with(const char *path, const char *end)
{
    size_t n = strlen(path), m = strlen(end);
    return n > m && strcmp(path + n - m, end) == 0;
}

/* x86-64-v3 of the program `model` is model_v3; the best is the program itself. */
static void name_of_form(const CompileRequest *r, const char *name, int i, Text *out)
{
    const char *level = i && r->cpus[i] ? strrchr(r->cpus[i], '-') : NULL;
    text_printf(out, "%s%s%s", name, level ? "_" : "", level ? level + 1 : "");
}

/* ---- files ---- */

static Error *file_write(const char *path, Str bytes)
{
    FILE *file = fopen(path, "wb");
    bool is_well = file && fwrite(bytes.at, 1, bytes.n, file) == bytes.n;
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

extern char **environ;

/* Waits for a tool of the system's. */
static Error *tool_run(char *const *words)
{
    pid_t child;
    int refused = posix_spawnp(&child, words[0], NULL, NULL, words, environ), state = 0;
    if (refused)
        return error_new(CODE_NOT_FOUND,
                         "%s cannot be started: %s; file.o for one processor and "
                         "file.a need no tool",
                         words[0], strerror(refused));
    while (waitpid(child, &state, 0) < 0 && errno == EINTR)
        ;
    if (WIFEXITED(state) && WEXITSTATUS(state) == 0)
        return NULL;
    return error_new(CODE_INVALID, "%s could not link the program", words[0]);
}

/* ---- objects ---- */

typedef struct Objects {
    Text names[MOST_CPUS]; /* what their programs are called */
    TuttiObject at[MOST_CPUS];
} Objects;

static Error *objects_make(Pjrt *engine, const CompileRequest *r, const char *name, Str code,
                           Objects *o)
{
    for (int i = 0; i < r->ncpus; i++)
        name_of_form(r, name, i, &o->names[i]);
    for (int i = 0; i < r->ncpus; i++) {
        o->at[i] = (TuttiObject){ .code = code.at,
                                  .size = code.n,
                                  .file = r->program,
                                  .name = o->names[i].at,
                                  .cpu = r->cpus[i],
                                  .otherwise = i + 1 < r->ncpus ? o->names[i + 1].at : NULL };
        TRY(pjrt_error(engine->api, engine->tutti->compile_object(&o->at[i])));
    }
    return NULL;
}

static Str bytes_of(const TuttiObject *o)
{
    return (Str){ o->object, o->object_size };
}

static Error *archive_make(const CompileRequest *r, const Objects *o)
{
    Member members[MOST_CPUS];
    Text symbols[MOST_CPUS] = { 0 }, file = { 0 };
    static const char *const files[MOST_CPUS] = { "program.o", "second.o", "third.o", "fourth.o" };
    for (int i = 0; i < r->ncpus; i++) {
        text_printf(&symbols[i], "%s_program", o->names[i].at);
        members[i] = (Member){ files[i], symbols[i].at, bytes_of(&o->at[i]) };
    }
    archive_write(&file, r->ncpus, members);
    Error *error = file_write(r->out, (Str){ file.at, file.n });
    text_free(&file);
    for (int i = 0; i < r->ncpus; i++)
        text_free(&symbols[i]);
    return error;
}

/* Where libtutti_rt is looked for beside the linker's own places: with the engine. */
static void folder_of(const char *path, Text *out)
{
    const char *end = strrchr(path, '/');
    text_printf(out, "-L%.*s", end ? (int)(end - path) : 1, end ? path : ".");
}

/* The linker joins the archive's objects, whole. */
static Error *join(const CompileRequest *r, const char *engine, const char *archive)
{
    Text folder = { 0 };
    folder_of(engine, &folder);
    char *cc = getenv("CC") && *getenv("CC") ? getenv("CC") : "cc";
    char *shared[] = { cc,
                       "-shared",
                       "-o",
                       (char *)r->out,
                       "-Wl,--whole-archive",
                       (char *)archive,
                       "-Wl,--no-whole-archive",
                       folder.at,
                       "-ltutti_rt",
                       "-lm",
                       "-pthread",
                       NULL };
    char *object[] = { "ld", "-r", "-o", (char *)r->out, "--whole-archive", (char *)archive, NULL };
    Error *error = tool_run(ends_with(r->out, ".so") ? shared : object);
    text_free(&folder);
    return error;
}

static Error *linked_make(const CompileRequest *r, const char *engine, const Objects *o)
{
    Text archive = { 0 };
    text_printf(&archive, "%s.parts.a", r->out);
    CompileRequest parts = *r;
    parts.out = archive.at;
    Error *error = archive_make(&parts, o);
    if (!error)
        error = join(r, engine, archive.at);
    unlink(archive.at);
    text_free(&archive);
    return error;
}

static Error *objects_write(const CompileRequest *r, const char *engine, const Objects *o)
{
    if (r->header)
        TRY(file_write(r->header, str_of(o->at[0].header)));
    if (ends_with(r->out, ".a"))
        return archive_make(r, o);
    if (ends_with(r->out, ".so") || r->ncpus > 1)
        return linked_make(r, engine, o);
    return file_write(r->out, bytes_of(&o->at[0]));
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
    Objects objects = { 0 };
    name_of_file(r->out, &name);
    Error *error = objects_make(engine, r, r->name ? r->name : text_cstr(&name), code, &objects);
    if (!error)
        error = objects_write(r, engine->path, &objects);
    for (int i = 0; i < r->ncpus; i++) {
        engine->tutti->release(objects.at[i].object);
        engine->tutti->release(objects.at[i].header);
        text_free(&objects.names[i]);
    }
    text_free(&name);
    return error;
}

/* ---- the command line ---- */

/* "x86-64-v2,x86-64-v4": the one that asks for most comes first.  Cuts the text. */
static int parse_cpus(char *text, CompileRequest *r)
{
    r->ncpus = 0;
    for (char *rest = text, *cpu; (cpu = strtok_r(rest, ",", &rest));) {
        if (r->ncpus == MOST_CPUS)
            return usage_error("compile", "--cpu takes %d processors at most", MOST_CPUS);
        int at = r->ncpus++;
        for (; at > 0 && strcmp(r->cpus[at - 1], cpu) < 0; at--)
            r->cpus[at] = r->cpus[at - 1];
        r->cpus[at] = cpu;
    }
    for (int i = 0; r->ncpus > 1 && i < r->ncpus; i++)
        if (strncmp(r->cpus[i], "x86-64-v", 8) != 0 || (i && !strcmp(r->cpus[i], r->cpus[i - 1])))
            return usage_error("compile",
                               "of several processors each is one of x86-64-v2, -v3, -v4");
    return r->ncpus ? EXIT_OK : usage_error("compile", "--cpu needs a processor, or 'native'");
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
            if (!value)
                return usage_error("compile", "--cpu needs a processor, or 'native'");
            if (parse_cpus((char *)value, r) != EXIT_OK)
                return EXIT_USAGE;
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
    return r->out ? EXIT_OK : usage_error("compile", "-o FILE is missing: where the object goes");
}

static int run(int argc, char **argv)
{
    CompileRequest request = { .ncpus = 1 };
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
    .usage = "PROGRAM -o FILE [--header FILE.h] [--name NAME] [--cpu CPU,...] [--devices N]",
    .summary = "make an object file of a program, which a C program links with -ltutti_rt",
    .details =
        "  -o FILE          file.o, file.a or file.so: its code, and all that is to be known of "
        "it\n"
        "  --header FILE.h  the header that a C program calls it by: NAME(rt, &arguments, "
        "&results)\n"
        "  --name NAME      what its functions are called after; else the file\n"
        "  --cpu CPU,...    what the code is for: native (this machine), x86-64-v2, -v3 or -v4; "
        "of\n"
        "                   several, the best that the machine has is chosen when it is called\n"
        "  --devices N      an error unless the program is for N devices\n",
    .run = run,
};
