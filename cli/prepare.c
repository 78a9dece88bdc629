/* prepare.c - a program made ready to be compiled ahead.
 *
 *     main(platform, w: f32[3,4], x: f32[?,3])      w from a file, --batch 8
 *       -->  main(x: f32[8,3]), the others being constants of it
 *
 * What is compiled is the file itself where there is nothing to fill in, else the changed program as
 * text. */
#include "prepare.h"

#include "array.h"
#include "bind.h"
#include "c_names.h"

#include "files/crc32.h"
#include "hlo/bind_arguments.h"
#include "hlo/static_shapes.h"
#include "ops/number.h"

#include <inttypes.h>
#include <string.h>

typedef struct Preparation {
    Arena *arena;
    const Raw *raw;
    Module *m;
    int nargs;               /* of main, as the file has it */
    const Dense **values;    /* [nargs]: what becomes of it a constant; or NULL */
    const char **in_weights; /* [nargs]: its name in the file of weights; or NULL */
    bool is_changed;
} Preparation;

static Type type_of_argument(const Preparation *p, int i)
{
    return type_of(p->m, region_at(p->m, func_find(p->m, STR("main"))->body)->args + (uint32_t)i);
}

/* ---- what is filled in ---- */

static void set_platform(Preparation *p)
{
    const Exported *e = p->raw->exported;
    if (!e || e->platform_param < 0)
        return;
    Type type = type_of_argument(p, e->platform_param);
    void *number = ARENA_ARRAY(p->m->arena, char, type_bytes(type));
    number_set_int(type.element, exported_platform(e, STR("tutti")), number);
    Dense *value = ARENA_NEW(p->m->arena, Dense);
    *value = (Dense){ type, false, number };
    p->values[e->platform_param] = value;
    p->is_changed = true;
}

static Error *take_inside(Preparation *p, const ArrayFile *file, const FileArray *a, int param)
{
    Array array = { 0 };
    TRY(array_take(file, a, type_of_argument(p, param), &array));
    Dense *value = ARENA_NEW(p->m->arena, Dense);
    *value = (Dense){ .type = type_new(p->m->arena, array.type.element, array.type.rank,
                                       array.type.dims),
                      .data = arena_copy(p->m->arena, array.data, type_bytes(array.type)) };
    array_free(&array);
    p->values[param] = value;
    p->is_changed = true;
    return NULL;
}

/* Is it what the argument is, to be taken as it lies? */
static Error *check_outside(const Preparation *p, const FileArray *a, int param)
{
    Type wanted = type_of_argument(p, param);
    if (a->is_npy || a->is_deflated)
        return error_new(CODE_INVALID,
                         "%s: weights that stay outside lie in a safetensors file; "
                         "--weights inside:FILE takes others",
                         a->path);
    if (type_equal(a->type, wanted))
        return NULL;
    return error_new(CODE_INVALID, "%s is %s, and %s takes %s", a->path, type_name(a->type),
                     p->raw->path, type_name(wanted));
}

static Error *take_weight(Preparation *p, const ArrayFile *file, const FileArray *a)
{
    const Exported *e = p->raw->exported;
    int i = argument_named(e, a->name);
    if (i < 0)
        return error_new(CODE_INVALID, "%s: %s takes no array of that name; its first is %s",
                         a->path, p->raw->path, e->nargs ? e->args[0].name.at : "none");
    int param = e->args[i].param;
    if (param < 0)
        return NULL; /* the function does not look at it */
    if (p->in_weights[param])
        return error_new(CODE_INVALID, "%s and %s are both %s", p->in_weights[param], a->path,
                         e->args[i].name.at);
    p->in_weights[param] = str_copy(p->arena, a->name).at;
    return p->raw->is_inside ? take_inside(p, file, a, param) : check_outside(p, a, param);
}

static Error *take_weights(Preparation *p, const ArrayFile *file, Prepared *out)
{
    TRY(safetensors_check(file));
    for (int i = 0; i < file->n; i++)
        TRY(take_weight(p, file, &file->at[i]));
    out->weights_bytes = (int64_t)file->bytes.n;
    out->weights_crc = crc32_of(0, file->bytes.at, file->bytes.n);
    return NULL;
}

static Error *set_weights(Preparation *p, Prepared *out)
{
    ArrayFile *file;
    if (!p->raw->weights)
        return NULL;
    if (!p->raw->exported)
        return error_new(CODE_INVALID,
                         "--weights: %s does not name its arguments, as a file of jax.export does",
                         p->raw->path);
    TRY(arrays_open(p->raw->weights, &file));
    Error *error = take_weights(p, file, out);
    arrays_close(file);
    return error;
}

/* ---- the batch ---- */

/* The symbols of "f32[b,3]" must all be one: that which the batch is. */
static Error *check_symbols(const Raw *raw)
{
    Str first = { 0 };
    const Exported *e = raw->exported;
    for (int i = 0; e && i < e->nargs; i++) {
        const char *at = strchr(e->args[i].type.at, '[');
        while (e->args[i].param >= 0 && at && at[1]) {
            Str word = { at + 1, strcspn(at + 1, ",]") };
            at = word.at[word.n] == ',' ? word.at + word.n : NULL;
            if (!word.n || strspn(word.at, "0123456789") >= word.n)
                continue;
            if (first.n && !str_equal(first, word))
                return error_new(CODE_INVALID,
                                 "%s has extents %.*s and %.*s: --batch is for programs "
                                 "of which one extent is open; give the others in JAX",
                                 raw->path, STR_ARG(first), STR_ARG(word));
            first = word;
        }
    }
    return NULL;
}

static Error *settle(Preparation *p, int batch)
{
    if (!module_is_open(p->m))
        return batch ? error_new(CODE_INVALID, "--batch: %s has no open extent", p->raw->path)
                     : NULL;
    if (!batch)
        return error_new(CODE_INVALID,
                         "%s has open extents: --batch says which to compile it for, "
                         "such as --batch 1,8",
                         p->raw->path);
    TRY(check_symbols(p->raw));
    const Region *body = region_at(p->m, func_find(p->m, STR("main"))->body);
    Type *types = ARENA_ARRAY(p->m->arena, Type, body->nargs + 1);
    for (int i = 0; i < body->nargs; i++) {
        int64_t dims[MAX_RANK];
        Type t = type_of(p->m, body->args + (uint32_t)i);
        for (int k = 0; k < t.rank; k++)
            dims[k] = t.dims[k] < 0 ? batch : t.dims[k];
        types[i] = type_new(p->m->arena, t.element, t.rank, dims);
    }
    p->is_changed = true;
    return module_make_static(p->m, body->nargs, types);
}

/* ---- the whole ---- */

/* Without those of arguments that are constants now. */
static const char *const *names_left(const Preparation *p, const char *const *names)
{
    const char **left = ARENA_ARRAY(p->arena, const char *, p->nargs + 1);
    int n = 0;
    for (int i = 0; i < p->nargs; i++)
        if (!p->values[i])
            left[n++] = names[i];
    return left;
}

static Error *change(Preparation *p, int batch, Prepared *out)
{
    const Exported *e = p->raw->exported;
    const Func *main = func_find(p->m, STR("main"));
    if (!main)
        return error_new(CODE_INVALID, "%s has no function main", p->raw->path);
    p->nargs = region_at(p->m, main->body)->nargs;
    if (e && e->nparams != p->nargs)
        return error_new(CODE_INVALID, "%s: main takes %d arguments, and the file names %d",
                         p->raw->path, p->nargs, e->nparams);
    p->values = ARENA_ARRAY(p->m->arena, const Dense *, p->nargs + 1);
    p->in_weights = ARENA_ARRAY(p->arena, const char *, p->nargs + 1);
    TRY(module_check(p->m));
    set_platform(p);
    TRY(set_weights(p, out));
    if (p->is_changed)
        TRY(module_bind_arguments(p->m, p->values));
    TRY(settle(p, batch));
    if (e)
        out->args = names_left(p, argument_names(p->arena, e));
    if (e)
        out->results = result_names(p->arena, e);
    if (p->raw->weights && !p->raw->is_inside)
        out->weights = names_left(p, p->in_weights);
    return NULL;
}

Error *prepare(Arena *arena, const Raw *raw, int batch, Prepared *out)
{
    Preparation p = { .arena = arena, .raw = raw };
    Text text = { 0 };
    *out = (Prepared){ .code = raw->exported ? raw->exported->module : raw->bytes };
    TRY(read_program(out->code.at, out->code.n, raw->path, &p.m));
    Error *error = change(&p, batch, out);
    if (!error && p.is_changed) {
        module_print(&text, p.m, true);
        out->code = str_copy(arena, (Str){ text.at, text.n });
        text_free(&text);
    }
    module_free(p.m);
    return error;
}
