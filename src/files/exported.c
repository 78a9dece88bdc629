/* exported.c - jax.export's file: a FlatBuffer that holds a program and how JAX's function looks.
 *
 *     f(params, x, *, rate)       in_tree   ((params, x), {rate}), in_avals a type for each leaf
 *     main(platform, w, x)        the leaves that the function uses (module_kept_var_idx), behind the
 *                                 index of the platform if there are several
 *
 * Files of JAX 0.9 on are the same but for where the types are: from 0.10 on each is stored once and
 * named by its number. */
#include "files/exported.h"

#include "files/flat.h"

#include <string.h>

enum { DEEPEST = 64, VJP_DEEPEST = 8, MOST_LEAVES = 1 << 16 };

/* The fields of the tables, by their numbers. */
enum { E_NAME = 1, E_IN_TREE, E_IN_TYPES, E_OUT_TREE, E_OUT_TYPES, E_PLATFORMS = 9, E_EFFECTS };
enum {
    E_MODULE = 13,
    E_CONVENTION,
    E_KEPT,
    E_VJP = 17,
    E_DEVICES,
    E_TYPES,
    E_IN_INDEX = 22,
    E_OUT_INDEX
};
enum { TREE_KIND, TREE_CHILDREN, TREE_NAMES };
enum { KIND_LEAF, KIND_NONE, KIND_TUPLE, KIND_LIST, KIND_DICT, KIND_CUSTOM };
enum { TYPE_SHAPE = 1, TYPE_ELEMENT };

static const char *const elements[] = {
    "bool",      "i8",          "i16",       "i32",         "i64",      "u8",
    "u16",       "u32",         "u64",       "f16",         "f32",      "f64",
    "c64",       "c128",        "bf16",      "i4",          "u4",       "f8_e4m3b11fnuz",
    "f8_e4m3fn", "f8_e4m3fnuz", "f8_e5m2",   "f8_e5m2fnuz", "f0",       "f8_e4m3",
    "f8_e3m4",   "f8_e8m0fnu",  "f4_e2m1fn", "key<fry>",    "key<rbg>", "key<unsafe_rbg>",
};
enum { NELEMENTS = sizeof elements / sizeof *elements };

typedef struct Reader {
    Flat flat;
    const char *path;
    Arena *arena;
    size_t work; /* tables of trees visited, and characters of names: a file that shares a table has
                    soon more of them than a right one of its size */
} Reader;

static Error *wrong(const Reader *r, const char *what)
{
    return error_new(CODE_INVALID, "%s is not a whole file of jax.export: %s", r->path, what);
}

/* ---- names ---- */

typedef struct Leaves {
    ExportedArray *at;
    int n, most;
} Leaves;

static Error *read_tree(Reader *r, size_t table, Text *name, int depth, Leaves *out);

static Error *read_children(Reader *r, size_t table, Text *name, int depth, Leaves *out)
{
    FlatVector children = flat_vector(&r->flat, table, TREE_CHILDREN, 4);
    FlatVector names = flat_vector(&r->flat, table, TREE_NAMES, 4);
    bool is_named = flat_number(&r->flat, table, TREE_KIND, 1) == KIND_DICT;
    size_t before = name->n;
    if (is_named && names.n != children.n)
        return wrong(r, "a dictionary has other names than values");
    for (size_t i = 0; i < children.n; i++) {
        Str key = is_named ? flat_element_string(&r->flat, names, i) : (Str){ "", 0 };
        if (before)
            text_printf(name, ".");
        if (is_named)
            text_add(name, key.at, key.n);
        else
            text_printf(name, "%zu", i);
        TRY(read_tree(r, flat_element_table(&r->flat, children, i), name, depth + 1, out));
        name->n = before;
    }
    return NULL;
}

/* The leaves below a table, whose name begins so. */
static Error *read_tree(Reader *r, size_t table, Text *name, int depth, Leaves *out)
{
    uint64_t kind = flat_number(&r->flat, table, TREE_KIND, 1);
    if (r->flat.is_broken || (r->work += 1 + name->n) > 64 * r->flat.bytes.n)
        return wrong(r, "a tree leads nowhere");
    if (depth > DEEPEST)
        return wrong(r, "a tree is too deep");
    if (kind > KIND_CUSTOM)
        return wrong(r, "a tree has a node of no known kind");
    if (kind == KIND_NONE)
        return NULL;
    if (kind != KIND_LEAF)
        return read_children(r, table, name, depth, out);
    if (out->n == out->most)
        return wrong(r, "a tree has more leaves than there are types");
    out->at[out->n++].name = str_copy(r->arena, (Str){ text_cstr(name), name->n });
    return NULL;
}

/* ---- types ---- */

static Str read_type(Reader *r, size_t table)
{
    Text text = { 0 };
    uint64_t element = flat_number(&r->flat, table, TYPE_ELEMENT, 1);
    FlatVector shape = flat_vector(&r->flat, table, TYPE_SHAPE, 4);
    text_printf(&text, "%s[", element < NELEMENTS ? elements[element] : "?");
    for (size_t i = 0; i < shape.n && i < 32; i++) {
        Str extent = flat_element_string(&r->flat, shape, i);
        text_printf(&text, "%s%.*s", i ? "," : "", extent.n < 64 ? (int)extent.n : 64, extent.at);
    }
    text_printf(&text, "]");
    Str out = str_copy(r->arena, (Str){ text.at, text.n });
    text_free(&text);
    return out;
}

/* The names and types of arguments, or of results. */
static Error *read_arrays(Reader *r, size_t table, int tree, int types, int index,
                          ExportedArray **out, int *n)
{
    Flat *f = &r->flat;
    FlatVector own = flat_vector(f, table, types, 4), numbers = flat_vector(f, table, index, 4);
    FlatVector all = flat_vector(f, table, E_TYPES, 4);
    size_t count = numbers.n ? numbers.n : own.n;
    if (count > MOST_LEAVES)
        return wrong(r, "it has too many arrays");
    Leaves leaves = { ARENA_ARRAY(r->arena, ExportedArray, count + 1), 0, (int)count };
    Text name = { 0 };
    Error *error = read_tree(r, flat_table(f, table, tree), &name, 0, &leaves);
    text_free(&name);
    TRY(error);
    if (leaves.n != (int)count)
        return wrong(r, "a tree has other leaves than there are types");
    for (size_t i = 0; i < count; i++) {
        uint64_t k = numbers.n ? flat_element(f, numbers, i, 4) : i;
        if (numbers.n && k >= all.n)
            return wrong(r, "a type is not there");
        leaves.at[i].type = read_type(r, flat_element_table(f, numbers.n ? all : own, (size_t)k));
        leaves.at[i].param = -1;
    }
    *out = leaves.at;
    *n = leaves.n;
    return NULL;
}

/* in_tree is (positional, keywords): a leaf is told apart by what follows the first number. */
static void drop_first(int n, ExportedArray *arrays)
{
    for (int i = 0; i < n; i++) {
        Str *name = &arrays[i].name;
        const char *dot = memchr(name->at, '.', name->n);
        size_t skip = dot ? (size_t)(dot - name->at) + 1 : 0;
        *name = (Str){ name->at + skip, name->n - skip };
    }
}

/* ---- the whole ---- */

static Error *read_params(Reader *r, size_t table, Exported *e)
{
    FlatVector kept = flat_vector(&r->flat, table, E_KEPT, 2);
    int at = e->platform_param + 1, last = -1;
    for (size_t i = 0; i < kept.n; i++) {
        int leaf = (int)flat_element(&r->flat, kept, i, 2);
        if (leaf <= last || leaf >= e->nargs)
            return wrong(r, "it keeps arguments that it does not have");
        e->args[leaf].param = at++;
        last = leaf;
    }
    e->nparams = at;
    return NULL;
}

static void read_platforms(Reader *r, size_t table, Exported *e)
{
    FlatVector platforms = flat_vector(&r->flat, table, E_PLATFORMS, 4);
    e->nplatforms = (int)platforms.n;
    e->platforms = ARENA_ARRAY(r->arena, Str, platforms.n + 1);
    for (size_t i = 0; i < platforms.n; i++)
        e->platforms[i] = str_copy(r->arena, flat_element_string(&r->flat, platforms, i));
    e->platform_param = platforms.n > 1 ? 0 : -1;
}

static Error *read_exported(Reader *r, size_t table, int depth, Exported **out)
{
    Flat *f = &r->flat;
    Exported *e = *out = ARENA_NEW(r->arena, Exported);
    uint64_t convention = flat_number(f, table, E_CONVENTION, 2);
    size_t vjp = flat_table(f, table, E_VJP);
    if (!f->is_broken && table && (convention < 9 || convention > 10))
        return error_new(CODE_UNIMPLEMENTED,
                         "%s has calling convention %u of jax.export; 9 and 10 are known here",
                         r->path, (unsigned)convention);
    e->name = str_copy(r->arena, flat_string(f, table, E_NAME));
    FlatVector module = flat_vector(f, table, E_MODULE, 1);
    e->module = (Str){ f->bytes.at + module.at, module.n };
    e->ndevices = (int)flat_number(f, table, E_DEVICES, 4);
    if (f->is_broken || !module.n)
        return wrong(r, "it has no program");
    if (flat_vector(f, table, E_EFFECTS, 4).n)
        return error_new(CODE_UNIMPLEMENTED, "%s: %s has ordered effects, which are not supported",
                         r->path, e->name.at);
    read_platforms(r, table, e);
    TRY(read_arrays(r, table, E_IN_TREE, E_IN_TYPES, E_IN_INDEX, &e->args, &e->nargs));
    TRY(read_arrays(r, table, E_OUT_TREE, E_OUT_TYPES, E_OUT_INDEX, &e->results, &e->nresults));
    drop_first(e->nargs, e->args);
    TRY(read_params(r, table, e));
    if (vjp && depth < VJP_DEEPEST)
        TRY(read_exported(r, vjp, depth + 1, &e->vjp));
    return f->is_broken ? wrong(r, "something in it lies outside of it") : NULL;
}

bool exported_is(Str bytes)
{
    Flat f = { .bytes = bytes };
    size_t root = flat_root(&f); /* four characters of text would lead far beyond any file */
    return root && bytes.n > 64 && memcmp(bytes.at, "ML\xEFR", 4) != 0;
}

Error *exported_read(Str bytes, const char *path, Arena *arena, Exported **out)
{
    Reader r = { .flat = { .bytes = bytes }, .path = path, .arena = arena };
    size_t root = flat_root(&r.flat);
    return root ? read_exported(&r, root, 0, out) : wrong(&r, "it has no root");
}

int exported_platform(const Exported *e, Str name)
{
    int cpu = 0;
    for (int i = 0; i < e->nplatforms; i++) {
        if (str_equal(e->platforms[i], name))
            return i;
        if (str_is(e->platforms[i], "cpu"))
            cpu = i;
    }
    return cpu;
}
