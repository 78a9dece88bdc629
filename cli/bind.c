/* bind.c - arrays by name and in order: from the command line to the arguments of a program. */
#include "bind.h"

#include "base/grow.h"
#include "files/arrays.h"

#include <string.h>

typedef struct Inputs {
    const char **at;
    int n, room;
} Inputs;

typedef struct Binding {
    Arena *arena;
    const Exported *e;
    const Given *given;
    const char **of; /* [e->nargs]: the input of each; NULL: none yet */
    Inputs rest;     /* in order */
} Binding;

/* "file:name" */
static const char *part_of(Arena *arena, const char *file, Str name)
{
    Text text = { 0 };
    text_printf(&text, "%s:%.*s", file, STR_ARG(name));
    const char *part = str_copy(arena, (Str){ text.at, text.n }).at;
    text_free(&text);
    return part;
}

/* "0.dense.w" is meant by itself, and by "dense.w". */
static bool is_meant(Str argument, Str name)
{
    const char *dot = memchr(argument.at, '.', argument.n);
    size_t skip = dot ? (size_t)(dot - argument.at) + 1 : 0;
    Str shorter = { argument.at + skip, argument.n - skip };
    return str_equal(argument, name) || (skip && str_equal(shorter, name));
}

int argument_named(const Exported *e, Str name)
{
    for (int i = 0; e && i < e->nargs; i++)
        if (is_meant(e->args[i].name, name))
            return i;
    return -1;
}

static Error *bind_weights(Binding *b, const ArrayFile *file)
{
    for (int i = 0; i < file->n; i++) {
        int argument = argument_named(b->e, file->at[i].name);
        if (argument < 0)
            return error_new(CODE_INVALID, "%s: %s takes no array of that name; its first is %s",
                             file->at[i].path, b->given->program,
                             b->e->nargs ? b->e->args[0].name.at : "none");
        if (b->of[argument])
            return error_new(CODE_INVALID, "%s and %s are both %s", b->of[argument],
                             file->at[i].path, b->e->args[argument].name.at);
        b->of[argument] = part_of(b->arena, b->given->weights, file->at[i].name);
    }
    return NULL;
}

static void add_input(Binding *b, const char *input)
{
    ROOM(b->arena, b->rest.at, b->rest.n, &b->rest.room);
    b->rest.at[b->rest.n++] = input;
}

/* A file of several arrays: by name where names are known, else in its order. */
static void bind_arrays(Binding *b, const char *input, const ArrayFile *file)
{
    for (int i = 0; i < file->n; i++) {
        int argument = argument_named(b->e, file->at[i].name);
        const char *part = part_of(b->arena, input, file->at[i].name);
        if (argument >= 0 && !b->of[argument])
            b->of[argument] = part;
        else
            add_input(b, part);
    }
}

static Error *bind_input(Binding *b, const char *input)
{
    ArrayFile *file = NULL;
    if (!cstr_ends_with(input, ".npz") && !cstr_ends_with(input, ".safetensors")) {
        add_input(b, input); /* a .npy, which may be a pipe, FILE:NAME, 'zeros', a number */
        return NULL;
    }
    TRY(arrays_open(input, &file));
    bind_arrays(b, input, file);
    arrays_close(file);
    return NULL;
}

static Error *wrong_number(const Binding *b, int missing)
{
    Text text = { 0 };
    const Exported *e = b->e;
    text_printf(&text,
                "%s takes %d array%s, and --input gives %d of the %d that --weights does not:",
                b->given->program, e->nargs, e->nargs == 1 ? "" : "s", b->rest.n, missing);
    for (int i = 0; i < e->nargs; i++)
        text_printf(&text, "\n  %s: %s%s%s%s", e->args[i].name.at, e->args[i].type.at,
                    e->args[i].param < 0 ? ", not used" : "", b->of[i] ? ", from " : "",
                    b->of[i] ? b->of[i] : "");
    Error *error = error_new(CODE_INVALID, "%s", text_cstr(&text));
    text_free(&text);
    return error;
}

/* The inputs that are left, in order; then those of main. */
static Error *fill(Binding *b, Str platform, const char **out)
{
    const Exported *e = b->e;
    int missing = 0, next = 0;
    for (int i = 0; i < e->nargs; i++)
        missing += !b->of[i];
    if (missing != b->rest.n)
        return wrong_number(b, missing);
    for (int i = 0; i < e->nargs; i++) {
        const char *input = b->of[i] ? b->of[i] : b->rest.at[next++];
        if (e->args[i].param >= 0)
            out[e->args[i].param] = input;
    }
    if (e->platform_param >= 0) {
        Text index = { 0 };
        text_printf(&index, "%d", exported_platform(e, platform));
        out[e->platform_param] = str_copy(b->arena, (Str){ index.at, index.n }).at;
        text_free(&index);
    }
    return NULL;
}

Error *bind_inputs(Arena *arena, const Exported *e, const Given *given, int *n, const char ***out)
{
    Binding b = { .arena = arena, .e = e, .given = given };
    b.of = ARENA_ARRAY(arena, const char *, (e ? e->nargs : 0) + 1);
    if (given->weights && !e)
        return error_new(CODE_INVALID,
                         "--weights: %s does not name its arguments, as a file of jax.export does; "
                         "give them by --input, in order",
                         given->program);
    if (given->weights) {
        ArrayFile *file;
        TRY(arrays_open(given->weights, &file));
        Error *error = safetensors_check(file);
        if (!error)
            error = bind_weights(&b, file);
        arrays_close(file);
        TRY(error);
    }
    for (int i = 0; i < given->n; i++)
        TRY(bind_input(&b, given->inputs[i]));
    *n = e ? e->nparams : b.rest.n;
    *out = e ? ARENA_ARRAY(arena, const char *, e->nparams + 1) : b.rest.at;
    return e ? fill(&b, STR("tutti"), *out) : NULL;
}
