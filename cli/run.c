/* run.c - `tutti run`: runs a program once on whole arrays from files. */
#include "bind.h"
#include "bounds.h"
#include "command.h"
#include "execute.h"
#include "open.h"
#include "progress.h"

#include "base/bytes.h"
#include "hlo/module.h"
#include "ops/number.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_INPUTS = 1024 };

typedef struct RunRequest {
    const char *program, *out, *trace, *weights;
    const char *given[MAX_INPUTS]; /* as the command line has them */
    int ngiven;
    const char **inputs; /* for each argument: bind.c */
    int ninputs, ndevices, seconds;
    size_t memory;
    bool stats, evaluate, profile;
} RunRequest;

/* How many devices a program is for, and, if its extents are open, what it is for these inputs;
 * the engine checks the rest. */
static Error *look_at(const RunRequest *r, Str code, int *ndevices, Text *settled)
{
    Module *module;
    TRY(read_program(code.at, code.n, r->program, &module));
    Error *error = module_devices(module, ndevices);
    if (!error)
        error = open_program(r->program, module, r->ninputs, r->inputs, settled);
    module_free(module);
    return error;
}

static Error *type_of_array(const TuttiArray *array, Type *out)
{
    *out = (Type){ F32, array->rank, array->whole };
    if (!element_of_pjrt((int)array->type, &out->element))
        return error_new(CODE_UNIMPLEMENTED, "not supported: arrays of PJRT_Buffer_Type %d",
                         (int)array->type);
    return NULL;
}

static Error *missing_inputs(const RunRequest *r, const TuttiProgram *p)
{
    Text text = { 0 };
    text_printf(&text, "%s takes %d argument%s and %d %s given; --input once for each, in order:",
                r->program, p->nargs, p->nargs == 1 ? "" : "s", r->ninputs,
                r->ninputs == 1 ? "is" : "are");
    for (int i = 0; i < p->nargs; i++) {
        Type type;
        Error *error = type_of_array(&p->args[i], &type);
        text_printf(&text, "\n  argument %d: %s", i, error ? error_text(error) : type_name(type));
        error_free(error);
    }
    Error *error = error_new(CODE_INVALID, "%s", text_cstr(&text));
    text_free(&text);
    return error;
}

static Error *load_input(const char *input, int number, Type type, Array *out)
{
    bool is_random = strcmp(input, "random") == 0, is_zeros = strcmp(input, "zeros") == 0;
    int64_t integer;
    if (!is_random && !is_zeros && !array_is_number(input, type, &integer))
        return array_load(input, type, out);
    TRY(array_new(type, out));
    if (is_random)
        array_fill_random(out, (uint64_t)number);
    else if (!is_zeros)
        number_set_int(type.element, integer, out->data);
    return NULL;
}

static Error *load_inputs(const RunRequest *r, const TuttiProgram *p, Array *arrays)
{
    if (r->ninputs != p->nargs)
        return missing_inputs(r, p);
    for (int i = 0; i < p->nargs; i++) {
        Type type;
        TRY(type_of_array(&p->args[i], &type));
        progress_say("reading %s", r->inputs[i]);
        Error *error = load_input(r->inputs[i], i, type, &arrays[i]);
        if (error)
            return error_in(error, "argument %d", i);
    }
    return NULL;
}

static Error *show_result(const RunRequest *r, int i, int rank, const Array *array)
{
    const char *what = array->type.rank > rank ? ", devices first: they differ" : "";
    Text type = { 0 }; /* type_name's may be cut short */
    type_print_short(&type, array->type);
    if (r->out) {
        Text path = { 0 };
        text_printf(&path, "%s/result_%d.npy", r->out, i);
        Error *error = array_save(path.at, array);
        if (!error)
            printf("%s: %s%s\n", path.at, type.at, what);
        text_free(&path);
        text_free(&type);
        return error;
    }
    Text text = { 0 };
    array_print(&text, array);
    printf("result %d: %s%s\n%s\n", i, type.at, what, text_cstr(&text));
    text_free(&text);
    text_free(&type);
    return NULL;
}

static Error *print_stats(Pjrt *engine, PJRT_LoadedExecutable *executable)
{
    char *text;
    TRY(pjrt_error(engine->api, engine->tutti->stats(executable, &text)));
    fprintf(stderr, "%s", text);
    engine->tutti->release(text);
    return NULL;
}

/* Recording ends: to a file, and to standard error. */
static Error *show_recording(Pjrt *engine, const RunRequest *r)
{
    char *text = NULL;
    if (r->trace)
        TRY(pjrt_error(engine->api, engine->tutti->record_end(r->trace, NULL)));
    if (!r->profile)
        return NULL;
    TRY(pjrt_error(engine->api, engine->tutti->record_end(NULL, &text)));
    fprintf(stderr, "%s", text);
    engine->tutti->release(text);
    return NULL;
}

static Error *run_executable(Pjrt *engine, const RunRequest *r, PJRT_LoadedExecutable *executable)
{
    const TuttiProgram *p;
    TRY(pjrt_error(engine->api, engine->tutti->describe(executable, &p)));
    Array *args = calloc((size_t)p->nargs + 1, sizeof *args);
    Array *results = calloc((size_t)p->nresults + 1, sizeof *results);
    Error *error = args && results ? load_inputs(r, p, args)
                                   : error_new(CODE_EXHAUSTED, "no memory for the arguments");
    if (!error) {
        progress_say("running %s", r->program);
        error = run_whole(engine, executable, args, results);
    }
    progress_end();
    for (int i = 0; i < p->nresults && !error; i++)
        error = show_result(r, i, p->results[i].rank, &results[i]);
    if (!error && r->stats)
        error = print_stats(engine, executable);
    for (int i = 0; args && i < p->nargs; i++)
        array_free(&args[i]);
    for (int i = 0; results && i < p->nresults; i++)
        array_free(&results[i]);
    free(args);
    free(results);
    return error;
}

/* Before there is anything to write: a long run is not to be lost. */
static Error *make_folder(const char *path)
{
    if (mkdir(path, 0777) != 0 && errno != EEXIST)
        return error_new(CODE_INVALID, "--out %s cannot be made: %s", path, strerror(errno));
    struct stat is;
    if (stat(path, &is) == 0 && !S_ISDIR(is.st_mode))
        return error_new(CODE_INVALID, "--out %s is not a folder", path);
    if (access(path, W_OK | X_OK) != 0)
        return error_new(CODE_INVALID, "--out %s cannot be written to: %s", path, strerror(errno));
    return NULL;
}

/* Does the environment say how many devices there are? */
static bool environment_counts(void)
{
    const char *own = getenv("TUTTI_DEVICES"), *flags = getenv("XLA_FLAGS");
    return (own && *own) || (flags && strstr(flags, "--xla_force_host_platform_device_count="));
}

/* As many devices as are asked for; else as many as the program is for. */
static Error *make_devices(Pjrt *engine, const RunRequest *r, int needed)
{
    if (r->ndevices && needed > r->ndevices)
        return error_new(CODE_INVALID,
                         "%s is for %d devices: --devices %d is not enough; give --devices %d, or "
                         "leave it out",
                         r->program, needed, r->ndevices, needed);
    return engine_start(engine, r->ndevices || environment_counts() ? r->ndevices : needed);
}

static Error *run_code(Pjrt *engine, const RunRequest *r, int needed, Str code)
{
    TRY(engine_load(engine));
    if (!engine->tutti)
        return error_new(CODE_UNIMPLEMENTED,
                         "%s is not Tutti's engine, so it does not say how "
                         "arrays lie on devices",
                         engine->path);
    engine->memory = r->memory;
    TRY(make_devices(engine, r, needed));
    PJRT_LoadedExecutable *executable;
    CompileOptions options = { .name = r->program, .evaluate = r->evaluate };
    bool is_recorded = r->trace || r->profile;
    if (is_recorded)
        TRY(pjrt_error(engine->api, engine->tutti->record()));
    progress_say("compiling %s", r->program);
    TRY(pjrt_compile(engine, code, options, &executable));
    Error *error = run_executable(engine, r, executable);
    if (!error && is_recorded)
        error = show_recording(engine, r);
    pjrt_release(engine, executable);
    return error;
}

/* The program in a file, and the inputs of its arguments. */
static Error *find_program(Arena *arena, RunRequest *r, Str file, Str *code)
{
    Exported *e = NULL;
    Given given = { r->program, r->weights, r->ngiven, r->given };
    *code = file;
    if (exported_is(file)) {
        TRY(exported_read(file, r->program, arena, &e));
        *code = e->module;
    }
    return bind_inputs(arena, e, &given, &r->ninputs, &r->inputs);
}

static Error *run_program(Pjrt *engine, const RunRequest *r, Str code)
{
    int needed;
    Text settled = { 0 };
    if (r->out)
        TRY(make_folder(r->out));
    Error *error = look_at(r, code, &needed, &settled);
    if (!error)
        error = run_code(engine, r, needed, settled.n ? (Str){ settled.at, settled.n } : code);
    text_free(&settled);
    return error;
}

static int parse(int argc, char **argv, RunRequest *r)
{
    for (int i = 1; i < argc; i++) {
        const char *value;
        if (option_value(argc, argv, &i, "--input", &value)) {
            if (!value || r->ngiven == MAX_INPUTS)
                return value ? usage_error("run", "--input may come %d times", MAX_INPUTS)
                             : usage_error("run", "--input needs a file, 'zeros' or 'random'");
            r->given[r->ngiven++] = value;
        } else if (option_value(argc, argv, &i, "--weights", &value)) {
            if (!(r->weights = value))
                return usage_error("run", "--weights needs a file");
        } else if (option_value(argc, argv, &i, "--out", &value)) {
            if (!(r->out = value))
                return usage_error("run", "--out needs a folder");
        } else if (option_value(argc, argv, &i, "--devices", &value)) {
            if (!parse_positive(value, &r->ndevices))
                return usage_error("run", "--devices needs a whole number from 1 on, such as 4");
        } else if (option_value(argc, argv, &i, "--memory", &value)) {
            if (!bytes_parse(value, &r->memory))
                return usage_error("run", "--memory needs a number of bytes, such as 512M");
        } else if (option_value(argc, argv, &i, "--seconds", &value)) {
            if (!parse_positive(value, &r->seconds))
                return usage_error("run", "--seconds needs a whole number from 1 on, such as 60");
        } else if (option_value(argc, argv, &i, "--trace", &value)) {
            if (!(r->trace = value))
                return usage_error("run", "--trace needs a file, such as trace.json");
        } else if (strcmp(argv[i], "--profile") == 0) {
            r->profile = true;
        } else if (strcmp(argv[i], "--stats") == 0) {
            r->stats = true;
        } else if (strcmp(argv[i], "--eval") == 0) {
            r->evaluate = true;
        } else if (argv[i][0] == '-') {
            return usage_error("run", "'%s' is not known", argv[i]);
        } else if (r->program) {
            return usage_error("run", "'%s' is a second program; arrays are given by --input",
                               argv[i]);
        } else {
            r->program = argv[i];
        }
    }
    return r->program ? EXIT_OK : usage_error("run", "a program is missing");
}

static int run(int argc, char **argv)
{
    RunRequest request = { 0 };
    int code = parse(argc, argv, &request);
    if (code != EXIT_OK)
        return code;
    Text program;
    Error *error = bounds_watch(request.program, request.memory, request.seconds);
    if (!error)
        error = file_read(request.program, &program);
    if (error)
        return failed(error);
    Pjrt engine = { 0 };
    Arena *arena = arena_new();
    Str program_code;
    progress_start();
    progress_say("reading %s", request.program);
    error = find_program(arena, &request, (Str){ program.at, program.n }, &program_code);
    if (!error)
        error = run_program(&engine, &request, program_code);
    progress_end();
    engine_end(&engine);
    arena_free(arena);
    text_free(&program);
    return error ? failed(error) : EXIT_OK;
}

const Command command_run = {
    .name = "run",
    .usage = "PROGRAM [--input X]... [--weights FILE] [--out DIR] [--devices N] [--memory BYTES] "
             "[--seconds N] [--trace FILE] [--profile] [--stats] [--eval]",
    .summary = "play a program (StableHLO, or a file of jax.export) once and show its results",
    .details =
        "  --input X    the next argument: a file .npy, .npz or .safetensors, or FILE:NAME, an "
        "array\n"
        "               of it, or 'zeros', or 'random' (the same numbers every time), or, without\n"
        "               dimensions, a whole number.  A file of several arrays is as many\n"
        "               arguments, in its order.  Arrays are given whole; they are cut over the\n"
        "               devices as the program says.  Where devices give different results and "
        "nothing says\n"
        "               how they lie, all are shown, in a first dimension of devices.\n"
        "  --weights FILE  arrays by name, for a file of jax.export: 0.dense.w or dense.w is\n"
        "               args[0]['dense']['w'].  --input is then for those that are left, by name\n"
        "               if its file has such names, else in order\n"
        "  --out DIR    write the results to DIR/result_0.npy, ... instead of printing them\n"
        "  --devices N  make N devices; else as many as TUTTI_DEVICES or XLA_FLAGS say; else as\n"
        "               many as the program is for\n"
        "  --memory BYTES  end when the process has more memory than that, such as 512M; no "
        "device\n"
        "               takes more for itself\n"
        "  --seconds N  end when reading, compiling and running take longer than that\n"
        "  --trace FILE what each device did, when, and for whom it waited, as a timeline: .html\n"
        "               for a browser, .json or .pftrace for Perfetto (ui.perfetto.dev), .txt a "
        "table\n"
        "  --profile    the same as a table, on standard error\n"
        "  --stats      afterwards, what was compiled and what happened, on standard error\n"
        "  --eval       by the reference evaluator instead of compiled code, which is slow; where\n"
        "               devices meet, collectives are those of compiled code\n",
    .run = run,
};
