/* compile.c - `tutti compile`: a program as an object file, and the header to call it by.
 *
 * One program becomes several objects where several batches or processors are asked for.  For each
 * batch it is a program of its own, model_b8, and the header has a function that chooses; for each
 * processor an object, of which the best names the next: model, model_v3, model_v2. */
#include "command.h"
#include "execute.h"
#include "prepare.h"

#include "files/objects.h"
#include "hlo/module.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_CPUS = 4, MOST_BATCHES = 16, MOST_FORMS = MOST_CPUS * MOST_BATCHES };

typedef struct CompileRequest {
    Raw raw;
    const char *out, *header, *name;
    const char *cpus[MOST_CPUS]; /* the best first; NULL: this machine */
    int batches[MOST_BATCHES];   /* 0: the program as it is */
    int ncpus, nbatches, ndevices;
} CompileRequest;

/* ---- names ---- */

static bool is_word(const char *name)
{
    if (isdigit((unsigned char)*name))
        return false;
    for (const char *c = name; *c; c++)
        if (!isalnum((unsigned char)*c) && *c != '_')
            return false;
    return *name && strlen(name) < 128;
}

/* Of a batch of 8 of `model` on x86-64-v3: model_b8_v3; the best processor's has no end. */
static void name_of_form(const CompileRequest *r, const char *name, int batch, int cpu, Text *out)
{
    const char *level = cpu && r->cpus[cpu] ? strrchr(r->cpus[cpu], '-') : NULL;
    text_printf(out, "%s", name);
    if (batch)
        text_printf(out, "_b%d", batch);
    if (level)
        text_printf(out, "_%s", level + 1);
}

/* ---- objects ---- */

typedef struct Form {
    Text name, symbol; /* what its program is called, and its symbol */
    TuttiObject object;
} Form;

typedef struct Forms {
    int n;
    Form at[MOST_FORMS];
} Forms;

/* For one batch, the objects of all processors. */
static Error *forms_add(Pjrt *engine, const CompileRequest *r, const char *name, int batch,
                        const Prepared *p, Forms *forms)
{
    Form *first = &forms->at[forms->n];
    forms->n += r->ncpus;
    for (int i = 0; i < r->ncpus; i++) {
        name_of_form(r, name, batch, i, &first[i].name);
        text_printf(&first[i].symbol, "%s_program", first[i].name.at);
    }
    for (int i = 0; i < r->ncpus; i++) {
        first[i].object = (TuttiObject){
            .code = p->code.at,
            .size = p->code.n,
            .file = r->raw.path,
            .name = first[i].name.at,
            .cpu = r->cpus[i],
            .otherwise = i + 1 < r->ncpus ? first[i + 1].name.at : NULL,
            .args = p->args,
            .results = p->results,
            .weights = p->weights,
            .weights_file = r->raw.weights,
            .weights_bytes = p->weights_bytes,
            .weights_crc = p->weights_crc,
        };
        TRY(pjrt_error(engine->api, engine->tutti->compile_object(&first[i].object)));
    }
    return NULL;
}

static void forms_free(Pjrt *engine, Forms *forms)
{
    for (int i = 0; i < forms->n; i++) {
        engine->tutti->release(forms->at[i].object.object);
        engine->tutti->release(forms->at[i].object.header);
        text_free(&forms->at[i].name);
        text_free(&forms->at[i].symbol);
    }
}

/* ---- the header of several batches ---- */

static void print_batches(Text *out, const CompileRequest *r)
{
    for (int i = 0; i < r->nbatches; i++)
        text_printf(out, "%s%d", i ? i + 1 < r->nbatches ? ", " : " and " : "", r->batches[i]);
}

static void print_choice(Text *out, const CompileRequest *r, const char *name)
{
    text_printf(
        out,
        "/* By the batch; in and out are arrays of that extent. */\n"
        "static inline const char *%s(tutti_rt *rt, int64_t batch, const %s_arguments *in,\n"
        "                             const %s_results *out)\n{\n"
        "    const tutti_rt_program *program =\n",
        name, name, name);
    for (int i = 0; i < r->nbatches; i++)
        text_printf(out, "        batch == %d ? &%s_b%d_program :\n", r->batches[i], name,
                    r->batches[i]);
    text_printf(out, "        NULL;\n    if (!program)\n        return \"%s is for batches of ",
                name);
    print_batches(out, r);
    text_printf(out,
                "\";\n"
                "    return tutti_rt_call(rt, program, (const void *const *)(const void *)in,\n"
                "                         (void *const *)(const void *)out);\n}\n");
}

/* Weights are the same arrays for every batch. */
static void print_open(Text *out, const char *name, int batch)
{
    text_printf(out,
                "\n/* As %s_b%d_open, for every batch. */\n"
                "static inline const char *%s_open(const char *path, int flags, %s_arguments *in,\n"
                "                                  tutti_rt_weights **weights)\n{\n"
                "    return %s_b%d_open(path, flags, in, weights);\n}\n",
                name, batch, name, name, name, batch);
}

/* The programs' own headers, then what chooses among them. */
static void print_header(Text *out, const CompileRequest *r, const char *name, const Forms *forms)
{
    if (r->nbatches > 1)
        text_printf(out, "/* %s.h - several headers in one; at its end, %s() for all batches. */\n",
                    name, name);
    for (int i = 0; i < forms->n; i += r->ncpus)
        text_printf(out, "%s", forms->at[i].object.header);
    if (!r->batches[0])
        return;
    int b = r->batches[0];
    text_printf(out,
                "\n#ifndef %s_choice\n#define %s_choice\n"
                "/* The fields are those of every batch. */\n"
                "typedef %s_b%d_arguments %s_arguments;\ntypedef %s_b%d_results %s_results;\n\n",
                name, name, name, b, name, name, b, name);
    print_choice(out, r, name);
    if (forms->at[0].object.weights)
        print_open(out, name, b);
    text_printf(out, "#endif\n");
}

static Error *header_write(const CompileRequest *r, const char *name, const Forms *forms)
{
    Text text = { 0 };
    if (!r->header)
        return NULL;
    print_header(&text, r, name, forms);
    Error *error = file_write(r->header, (Str){ text.at, text.n });
    text_free(&text);
    return error;
}

/* ---- the whole way ---- */

static Error *check_devices(const CompileRequest *r, Str code)
{
    Module *module;
    int needed;
    TRY(read_program(code.at, code.n, r->raw.path, &module));
    Error *error = module_devices(module, &needed);
    module_free(module);
    TRY(error);
    if (r->ndevices && r->ndevices != needed)
        return error_new(CODE_INVALID, "%s is for %d device%s, not for %d: --devices is what it is",
                         r->raw.path, needed, needed == 1 ? "" : "s", r->ndevices);
    return NULL;
}

static Error *make_forms(Pjrt *engine, Arena *arena, const CompileRequest *r, const char *name,
                         Forms *forms)
{
    for (int i = 0; i < r->nbatches; i++) {
        Prepared p;
        TRY(prepare(arena, &r->raw, r->batches[i], &p));
        if (!i)
            TRY(check_devices(r, p.code));
        TRY(forms_add(engine, r, name, r->batches[i], &p, forms));
    }
    return NULL;
}

/* Where the engine is, libtutti_rt is looked for too. */
static Error *write_forms(Pjrt *engine, const CompileRequest *r, const char *name,
                          const Forms *forms)
{
    Made made[MOST_FORMS];
    Text folder = { 0 };
    for (int i = 0; i < forms->n; i++)
        made[i] = (Made){ forms->at[i].symbol.at,
                          { forms->at[i].object.object, forms->at[i].object.object_size } };
    text_folder(&folder, engine->path);
    Error *error = header_write(r, name, forms);
    if (!error)
        error = objects_write(r->out, folder.at, forms->n, made);
    text_free(&folder);
    return error;
}

static Error *compile(Pjrt *engine, Arena *arena, const CompileRequest *r)
{
    TRY(engine_load(engine));
    if (!engine->tutti)
        return error_new(CODE_UNIMPLEMENTED, "%s is not Tutti's engine", engine->path);
    Text of_file = { 0 };
    Forms *forms = ARENA_NEW(arena, Forms);
    object_name(r->out, &of_file);
    const char *name = r->name ? r->name : text_cstr(&of_file);
    Error *error = make_forms(engine, arena, r, name, forms);
    if (!error)
        error = write_forms(engine, r, name, forms);
    forms_free(engine, forms);
    text_free(&of_file);
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

/* "1,8,32".  Cuts the text. */
static int parse_batches(char *text, CompileRequest *r)
{
    r->nbatches = 0;
    for (char *rest = text, *word; (word = strtok_r(rest, ",", &rest));) {
        int batch;
        if (r->nbatches == MOST_BATCHES || !parse_positive(word, &batch))
            return usage_error("compile", "--batch takes up to %d whole numbers from 1 on, as 1,8",
                               MOST_BATCHES);
        for (int i = 0; i < r->nbatches; i++)
            if (r->batches[i] == batch)
                return usage_error("compile", "--batch has %d twice", batch);
        r->batches[r->nbatches++] = batch;
    }
    return r->nbatches ? EXIT_OK : usage_error("compile", "--batch needs a number, such as 8");
}

static int parse_weights(const char *value, CompileRequest *r)
{
    static const char inside[] = "inside:";
    r->raw.is_inside = value && strncmp(value, inside, strlen(inside)) == 0;
    r->raw.weights = r->raw.is_inside ? value + strlen(inside) : value;
    if (r->raw.weights && *r->raw.weights)
        return EXIT_OK;
    return usage_error("compile", "--weights needs a file, or inside: and a file");
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
        } else if (option_value(argc, argv, &i, "--weights", &value)) {
            if (parse_weights(value, r) != EXIT_OK)
                return EXIT_USAGE;
        } else if (option_value(argc, argv, &i, "--batch", &value)) {
            if (!value)
                return usage_error("compile", "--batch needs a number, such as 8");
            if (parse_batches((char *)value, r) != EXIT_OK)
                return EXIT_USAGE;
        } else if (option_value(argc, argv, &i, "--devices", &value)) {
            if (!parse_positive(value, &r->ndevices))
                return usage_error("compile",
                                   "--devices needs a whole number from 1 on, such as 4");
        } else if (argv[i][0] == '-') {
            return usage_error("compile", "'%s' is not known", argv[i]);
        } else if (r->raw.path) {
            return usage_error("compile", "'%s' is a second program; one is compiled at a time",
                               argv[i]);
        } else {
            r->raw.path = argv[i];
        }
    }
    if (!r->raw.path)
        return usage_error("compile", "a program is missing");
    return r->out ? EXIT_OK : usage_error("compile", "-o FILE is missing: where the object goes");
}

static Error *compile_file(Pjrt *engine, Arena *arena, CompileRequest *r)
{
    if (exported_is(r->raw.bytes))
        TRY(exported_read(r->raw.bytes, r->raw.path, arena, &r->raw.exported));
    return compile(engine, arena, r);
}

static int run(int argc, char **argv)
{
    CompileRequest request = { .ncpus = 1, .nbatches = 1 };
    int code = parse(argc, argv, &request);
    if (code != EXIT_OK)
        return code;
    Text program;
    Error *error = file_read(request.raw.path, &program);
    if (error)
        return failed(error);
    Pjrt engine = { 0 };
    Arena *arena = arena_new();
    request.raw.bytes = (Str){ text_cstr(&program), program.n };
    error = compile_file(&engine, arena, &request);
    arena_free(arena);
    text_free(&program);
    engine_end(&engine);
    return error ? failed(error) : EXIT_OK;
}

const Command command_compile = {
    .name = "compile",
    .usage = "PROGRAM -o FILE [--header FILE.h] [--name NAME] [--cpu CPU,...] [--batch N,...] "
             "[--weights FILE] [--devices N]",
    .summary = "make an object file of a program, which a C program links with -ltutti_rt",
    .details =
        "  -o FILE          file.o, file.a or file.so: its code, and all that is to be known of "
        "it\n"
        "  --header FILE.h  the header that a C program calls it by: NAME(rt, &arguments, "
        "&results)\n"
        "  --name NAME      what its functions are called after; else the file\n"
        "  --cpu CPU,...    what the code is for: native (this machine), x86-64-v2, -v3 or -v4; "
        "of\n"
        "                   several, the best that the machine has is chosen when it is called.  "
        "Or\n"
        "                   aarch64, by an engine that is built for that (TUTTI_PLUGIN names it)\n"
        "  --batch N,...    what its open extent is, for a file of jax.export with a symbolic "
        "batch;\n"
        "                   of several, NAME(rt, batch, ...) chooses\n"
        "  --weights FILE   arguments that are arrays of a safetensors file, by the names that "
        "jax.export\n"
        "                   keeps; NAME_open maps the file when the program is played.  With "
        "inside:FILE\n"
        "                   they become a part of the object\n"
        "  --devices N      an error unless the program is for N devices\n",
    .run = run,
};
