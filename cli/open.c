/* open.c - programs whose arguments have open extents, as jax.export writes a symbolic batch.
 *
 *     main(x: f32[?,784])  and  x.npy with f32[32,784]   ->   main(x: f32[32,784])
 *
 * What is compiled is the program for the arrays that it is given. */
#include "open.h"

#include "array.h"
#include "hlo/static_shapes.h"

#include <string.h>

static Error *wrong_number(const char *path, const Module *m, const Region *body, int ninputs)
{
    Text text = { 0 };
    text_printf(&text,
                "%s takes %d argument%s and %d %s given; --input once for each, in order:", path,
                body->nargs, body->nargs == 1 ? "" : "s", ninputs, ninputs == 1 ? "is" : "are");
    for (int i = 0; i < body->nargs; i++)
        text_printf(&text, "\n  argument %d: %s", i,
                    type_name(type_of(m, body->args + (uint32_t)i)));
    Error *error = error_new(CODE_INVALID, "%s", text_cstr(&text));
    text_free(&text);
    return error;
}

static Error *type_of_input(Arena *arena, const char *input, int i, Type stated, Type *out)
{
    int64_t number;
    bool is_made = strcmp(input, "zeros") == 0 || strcmp(input, "random") == 0 ||
                   array_is_number(input, stated, &number);
    *out = stated;
    if (is_made && type_is_static(stated))
        return NULL;
    if (is_made)
        return error_new(CODE_INVALID,
                         "argument %d is %s: '%s' does not say its open extents; give "
                         "a file",
                         i, type_name(stated), input);
    Array array = { 0 };
    Error *error = array_load(input, stated, &array);
    if (error)
        return error_in(error, "argument %d", i);
    *out = type_new(arena, array.type.element, array.type.rank, array.type.dims);
    array_free(&array);
    return NULL;
}

static Error *settle_for(const char *path, Module *m, int ninputs, const char *const *inputs)
{
    const Region *body = region_at(m, func_find(m, STR("main"))->body);
    if (ninputs != body->nargs)
        return wrong_number(path, m, body, ninputs);
    Type *types = ARENA_ARRAY(m->arena, Type, ninputs + 1);
    for (int i = 0; i < ninputs; i++)
        TRY(type_of_input(m->arena, inputs[i], i, type_of(m, body->args + (uint32_t)i), &types[i]));
    return module_make_static(m, ninputs, types);
}

Error *open_program(const char *path, Module *m, int ninputs, const char *const *inputs, Text *out)
{
    if (!module_is_open(m))
        return NULL;
    TRY(module_check(m));
    TRY(settle_for(path, m, ninputs, inputs));
    module_print(out, m, true);
    return NULL;
}
