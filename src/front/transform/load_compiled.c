/* load_compiled.c - what `tutti compile` or tt_save_compiled made of a program, as one again.
 *
 *     model.so  -->  func main(x: f32[8,3]) { return custom_call @tutti.local.compiled.0(x) }
 *
 * The library is loaded, its program asked what it takes and gives, and a function registered that
 * plays it by libtutti_rt, on that library's own devices.  So nothing of it is compiled again, and it is
 * called, also by mapped functions, as any function that a C program defines. */
#include "front/transform/load_compiled.h"

#include "base/guard.h"
#include "files/library.h"
#include "files/objects.h"
#include "front/client/client.h"
#include "pjrt/client.h"
#include "tutti_rt.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The library's functions.  Kept for ever, as the library is. */
typedef struct Compiled {
    const tutti_rt_program *program;
    const char *(*call)(tutti_rt *, const tutti_rt_program *, const void *const *, void *const *);
    int (*arguments)(const tutti_rt_program *), (*results)(const tutti_rt_program *);
    tutti_rt_array (*argument)(const tutti_rt_program *, int),
        (*result)(const tutti_rt_program *, int);
} Compiled;

bool compiled_is(Str file, const char *path)
{
    return cstr_ends_with(path, ".so") && file.n > 4 &&
           memcmp(file.at,
                  "\x7f"
                  "ELF",
                  4) == 0;
}

/* ---- playing ---- */

/* The name can be guessed by a program of a file, so what comes must be what the library takes. */
static bool fits(int n, const TuttiOperand *arrays, int wanted,
                 tutti_rt_array (*at)(const tutti_rt_program *, int),
                 const tutti_rt_program *program)
{
    bool fits = n == wanted;
    for (int i = 0; fits && i < n; i++) {
        tutti_rt_array a = at(program, i);
        Element e;
        fits = element_of_pjrt((int)arrays[i].type, &e) &&
               strcmp(element_info[e].name, a.type) == 0 && arrays[i].rank == a.rank;
        for (int k = 0; fits && k < a.rank; k++)
            fits = arrays[i].dims[k] == a.dims[k];
    }
    return fits;
}

static int32_t answer(void *user, const TuttiCall *c)
{
    const Compiled *compiled = user;
    const tutti_rt_program *p = compiled->program;
    if (c && !(fits(c->nargs, c->args, compiled->arguments(p), compiled->argument, p) &&
               fits(c->nresults, c->results, compiled->results(p), compiled->result, p))) {
        snprintf(c->message, c->room, "the arrays are not those that the library takes and gives");
        return TUTTI_CALL_FAILED;
    }
    const char *why = "no memory on the host for the list of its arrays";
    void **at = c ? calloc((size_t)(c->nargs + c->nresults) + 1, sizeof *at) : NULL;
    if (!c)
        return 0;
    for (int i = 0; at && i < c->nargs; i++)
        at[i] = c->args[i].data;
    for (int i = 0; at && i < c->nresults; i++)
        at[c->nargs + i] = c->results[i].data;
    if (at)
        why = compiled->call(NULL, compiled->program, (const void *const *)at, at + c->nargs);
    if (why)
        snprintf(c->message, c->room, "%s", why);
    free(at);
    return why != NULL;
}

/* ---- loading ---- */

/* Its libtutti_rt is where the system finds it, or with the engine. */
static void *open_library(const char *path)
{
    Text beside = { 0 }, here = { 0 };
    text_printf(&here, "%s%s", strchr(path, '/') ? "" : "./", path);
    void *library = dlopen(here.at, RTLD_NOW | RTLD_LOCAL);
    text_folder(&beside, client_plugin()->path);
    text_printf(&beside, "/libtutti_rt.so.0");
    if (!library && dlopen(beside.at, RTLD_NOW | RTLD_LOCAL))
        library = dlopen(here.at, RTLD_NOW | RTLD_LOCAL);
    text_free(&here);
    text_free(&beside);
    return library;
}

static Error *find_functions(void *library, const char *path, Compiled *out)
{
    struct {
        const char *name;
        void *to;
    } wanted[] = {
        { LOADED_SYMBOL, &out->program },          { "tutti_rt_call", &out->call },
        { "tutti_rt_arguments", &out->arguments }, { "tutti_rt_results", &out->results },
        { "tutti_rt_argument", &out->argument },   { "tutti_rt_result", &out->result },
    };
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        void *at = dlsym(library, wanted[i].name);
        if (!at)
            return error_new(CODE_INVALID,
                             "%s is a library without %s: tutti compile -o file.so makes those "
                             "that can be loaded",
                             path, wanted[i].name);
        memcpy(wanted[i].to, &at, sizeof at);
    }
    return NULL;
}

/* ---- the program ---- */

static void print_type(Text *out, tutti_rt_array a)
{
    text_printf(out, "tensor<");
    for (int i = 0; i < a.rank; i++)
        text_printf(out, "%" PRId64 "x", a.dims[i]);
    text_printf(out, "%s>", a.type);
}

static void print_types(Text *out, const Compiled *c, bool is_result, const char *name)
{
    int n = is_result ? c->results(c->program) : c->arguments(c->program);
    text_printf(out, "(");
    for (int i = 0; i < n; i++) {
        text_printf(out, i ? ", " : "");
        if (name)
            text_printf(out, "%%%s%d: ", name, i);
        print_type(out, is_result ? c->result(c->program, i) : c->argument(c->program, i));
    }
    text_printf(out, ")");
}

static void print_program(Text *out, const Compiled *c, const char *call)
{
    int nargs = c->arguments(c->program), nresults = c->results(c->program);
    text_printf(out, "func.func public @main");
    print_types(out, c, false, "a");
    text_printf(out, " -> ");
    print_types(out, c, true, NULL);
    text_printf(out, " {\n  ");
    if (nresults)
        text_printf(out, nresults > 1 ? "%%r:%d = " : "%%r = ", nresults);
    text_printf(out, "stablehlo.custom_call @%s(", call);
    for (int i = 0; i < nargs; i++)
        text_printf(out, "%s%%a%d", i ? ", " : "", i);
    text_printf(out, ") {api_version = 1 : i32} : ");
    print_types(out, c, false, NULL);
    text_printf(out, " -> ");
    if (nresults == 1)
        print_type(out, c->result(c->program, 0));
    else
        print_types(out, c, true, NULL);
    text_printf(out, "\n  return");
    for (int i = 0; i < nresults; i++)
        text_printf(out, nresults > 1 ? "%s%%r#%d" : "%s%%r", i ? ", " : " ", i);
    text_printf(out, nresults ? " : " : "");
    for (int i = 0; i < nresults; i++) {
        text_printf(out, i ? ", " : "");
        print_type(out, c->result(c->program, i));
    }
    text_printf(out, "\n}\n");
}

Error *compiled_load(const char *path, Str file, Text *program)
{
    static _Atomic int count;
    Compiled found = { 0 };
    char name[64];
    TRY(library_check(path, file));
    TRY(client_need());
    void *library = open_library(path);
    if (!library)
        return error_new(CODE_INVALID, "%s cannot be loaded: %s", path, dlerror());
    TRY(find_functions(library, path, &found));
    Compiled *kept = malloc(sizeof *kept);
    if (!kept)
        return error_new(CODE_EXHAUSTED, "%s: no memory on the host for its functions", path);
    *kept = found;
    /* relaxed: it is only a number that nobody else has */
    snprintf(name, sizeof name, TUTTI_LOCAL_CALL "compiled.%d",
             atomic_fetch_add_explicit(&count, 1, memory_order_relaxed));
    Error *error = client_define("tt_load", name, answer, kept);
    if (error)
        free(kept);
    else
        print_program(program, kept, name);
    return error;
}
