/* Bytecode, written here by hand: what is read from it, and what is refused.
 *
 * One program in every version of the container:
 *
 *   module @m { main(x: 2xf32) { c = constant; y = add(x, c); return y } } */
#include "../check.h"
#include "hlo/module.h"

#include <stdint.h>
#include <stdlib.h>

/* ---- writing ---- */

typedef struct Bytes {
    uint8_t at[2048];
    size_t n;
} Bytes;

static void byte(Bytes *b, int x)
{
    b->at[b->n++] = (uint8_t)x;
}

static void bytes(Bytes *b, const void *at, size_t n)
{
    memcpy(b->at + b->n, at, n);
    b->n += n;
}

/* A varint of one byte below 128, else of two. */
static void num(Bytes *b, unsigned x)
{
    if (x < 128) {
        byte(b, (int)(x << 1 | 1));
    } else {
        byte(b, (int)(x << 2 | 2));
        byte(b, (int)(x >> 6));
    }
}

static void flagged(Bytes *b, unsigned x, bool flag)
{
    num(b, x << 1 | flag);
}

static void section(Bytes *b, int id, const Bytes *data)
{
    byte(b, id);
    num(b, (unsigned)data->n);
    bytes(b, data->at, data->n);
}

/* What the program is made of; tests change it before it is put together. */
typedef struct File {
    int version;
    const char *strings[20];
    unsigned nstrings;
    Bytes attrs[20], types[4]; /* VHLO's; those of the builtin dialect from `builtin` on */
    unsigned nattrs, ntypes, builtin;
    unsigned operand; /* of the add, beside the argument */
} File;

enum {
    BUILTIN,
    VHLO,
    MODULE,
    FUNC,
    CONSTANT,
    ADD,
    RETURN,
    MAIN,
    PUBLIC,
    M,
    SYM_NAME,
    TYPE,
    ARGS,
    RESULTS,
    VISIBILITY,
    VALUE
};
/* Attributes by number. */
enum {
    A_MAIN,
    A_PUBLIC,
    A_EMPTY,
    A_TYPE,
    A_VALUE,
    A_LOC,
    A_M,
    A_KEYS,
    A_DICT_MODULE = A_KEYS + 6,
    A_DICT_FUNC,
    A_DICT_VALUE
};

static Bytes entry(int code, int nfields, const unsigned *fields)
{
    Bytes b = { 0 };
    num(&b, (unsigned)code);
    for (int i = 0; i < nfields; i++)
        num(&b, fields[i]);
    return b;
}

#define ENTRY(code, ...)                                                                           \
    entry(code, (int)(sizeof((unsigned[]){ __VA_ARGS__ }) / sizeof(unsigned)),                     \
          (unsigned[]){ __VA_ARGS__ })

static Bytes dense(unsigned type, size_t n, const void *at)
{
    Bytes b = ENTRY(15, type, (unsigned)n);
    bytes(&b, at, n);
    return b;
}

static File file_new(int version)
{
    File f = { .version = version,
               .nstrings = 16,
               .builtin = A_LOC,
               .operand = 1,
               .nattrs = A_DICT_VALUE + 1,
               .ntypes = 3 };
    const char *strings[] = { "builtin",     "vhlo",      "module",         "func_v1",
                              "constant_v1", "add_v1",    "return_v1",      "main",
                              "public",      "m",         "sym_name",       "function_type",
                              "arg_attrs",   "res_attrs", "sym_visibility", "value" };
    memcpy(f.strings, strings, sizeof strings);
    f.types[0] = ENTRY(4);             /* f32 */
    f.types[1] = ENTRY(20, 1, 4, 0);   /* 2xf32: one extent, zig-zag */
    f.types[2] = ENTRY(8, 1, 1, 1, 1); /* from it to it */
    f.attrs[A_MAIN] = ENTRY(14, MAIN);
    f.attrs[A_PUBLIC] = ENTRY(14, PUBLIC);
    f.attrs[A_EMPTY] = ENTRY(1, 0);
    f.attrs[A_TYPE] = ENTRY(17, 2);
    f.attrs[A_VALUE] = dense(1, 8, (float[]){ 1.5f, -2 });
    f.attrs[A_LOC] = ENTRY(15);
    f.attrs[A_M] = ENTRY(2, M);
    for (unsigned i = 0; i < 6; i++)
        f.attrs[A_KEYS + i] = ENTRY(2, SYM_NAME + i);
    f.attrs[A_DICT_MODULE] = ENTRY(1, 1, A_KEYS, A_M);
    f.attrs[A_DICT_FUNC] = ENTRY(1, 5, A_KEYS, A_MAIN, A_KEYS + 1, A_TYPE, A_KEYS + 2, A_EMPTY,
                                 A_KEYS + 3, A_EMPTY, A_KEYS + 4, A_PUBLIC);
    f.attrs[A_DICT_VALUE] = ENTRY(1, 1, A_KEYS + 5, A_VALUE);
    return f;
}

static Bytes strings_section(const File *f)
{
    Bytes b = { 0 };
    num(&b, f->nstrings);
    for (unsigned i = f->nstrings; i > 0; i--)
        num(&b, (unsigned)strlen(f->strings[i - 1]) + 1);
    for (unsigned i = 0; i < f->nstrings; i++)
        bytes(&b, f->strings[i], strlen(f->strings[i]) + 1);
    return b;
}

static Bytes dialects_section(const File *f)
{
    Bytes b = { 0 };
    bool is_new = f->version >= 5;
    num(&b, 2);
    num(&b, BUILTIN << (f->version > 0));
    num(&b, VHLO << (f->version > 0));
    if (f->version >= 4)
        num(&b, 5);
    num(&b, 0);
    num(&b, 1);
    num(&b, is_new ? MODULE << 1 | 1 : MODULE);
    num(&b, 1);
    num(&b, 4);
    for (unsigned i = FUNC; i <= RETURN; i++)
        num(&b, is_new ? i << 1 | 1 : i);
    return b;
}

static void entry_group(Bytes *sizes, Bytes *data, unsigned dialect, unsigned n, const Bytes *at)
{
    num(sizes, dialect);
    num(sizes, n);
    for (unsigned i = 0; i < n; i++) {
        flagged(sizes, (unsigned)at[i].n, true);
        bytes(data, at[i].at, at[i].n);
    }
}

/* An operation up to its regions; new files refer to properties, old ones to a dictionary. */
static void op(Bytes *b, const File *f, unsigned name, int mask, unsigned properties, unsigned dict)
{
    bool has_attrs = dict != 0, is_new = f->version >= 5;
    num(b, name);
    byte(b, mask | (has_attrs ? (is_new ? 0x40 : 0x01) : 0));
    num(b, A_LOC);
    if (has_attrs)
        num(b, is_new ? properties : dict);
}

static Bytes body(const File *f)
{
    Bytes b = { 0 };
    num(&b, 1);           /* block */
    num(&b, 3);           /* values */
    flagged(&b, 3, true); /* operations, and there are arguments */
    num(&b, 1);
    if (f->version >= 4) {
        flagged(&b, 1, false);
    } else {
        num(&b, 1);
        num(&b, A_LOC);
    }
    if (f->version >= 3)
        byte(&b, 0); /* no orders of uses */
    op(&b, f, 2, 0x02, 2, A_DICT_VALUE);
    num(&b, 1), num(&b, 1);
    op(&b, f, 3, 0x06, 0, 0);
    num(&b, 1), num(&b, 1);
    num(&b, 2), num(&b, 0), num(&b, f->operand);
    op(&b, f, 4, 0x04, 0, 0);
    num(&b, 1), num(&b, 2);
    return b;
}

/* A region list: a section of its own where the version has such. */
static void regions(Bytes *b, const File *f, const Bytes *region)
{
    flagged(b, 1, true);
    if (f->version >= 2)
        section(b, 4, region);
    else
        bytes(b, region->at, region->n);
}

static Bytes ir_section(const File *f)
{
    Bytes b = { 0 }, functions = { 0 }, main_body = body(f);
    num(&functions, 1), num(&functions, 0), flagged(&functions, 1, false);
    op(&functions, f, 1, 0x10, 1, A_DICT_FUNC);
    regions(&functions, f, &main_body);
    flagged(&b, 1, false);
    op(&b, f, 0, 0x10, 0, A_DICT_MODULE);
    regions(&b, f, &functions);
    return b;
}

static Bytes properties_section(void)
{
    Bytes b = { 0 };
    num(&b, 3);
    num(&b, 2), flagged(&b, A_M, true), flagged(&b, 0, false);
    num(&b, 5), num(&b, A_EMPTY), num(&b, A_TYPE), num(&b, A_EMPTY), num(&b, A_MAIN),
        num(&b, A_PUBLIC);
    num(&b, 1), num(&b, A_VALUE);
    return b;
}

static Bytes file_bytes(const File *f)
{
    Bytes b = { 0 }, sizes = { 0 }, data = { 0 }, strings = strings_section(f);
    Bytes dialects = dialects_section(f), ir = ir_section(f), properties = properties_section();
    num(&sizes, f->nattrs), num(&sizes, f->ntypes);
    entry_group(&sizes, &data, 1, f->builtin, f->attrs);
    entry_group(&sizes, &data, 0, f->nattrs - f->builtin, f->attrs + f->builtin);
    entry_group(&sizes, &data, 1, f->ntypes, f->types);
    bytes(&b, "ML\xEFR", 4);
    num(&b, (unsigned)f->version);
    bytes(&b, "test", 5);
    section(&b, 1, &dialects), section(&b, 3, &sizes), section(&b, 2, &data);
    section(&b, 4, &ir), section(&b, 0, &strings);
    if (f->version >= 5)
        section(&b, 8, &properties);
    return b;
}

/* ---- reading ---- */

static const char *refusal(const File *f)
{
    static char text[512];
    Bytes b = file_bytes(f);
    Module *m = NULL;
    Error *error = read_bytecode((const char *)b.at, b.n, "test", &m);
    snprintf(text, sizeof text, "%s", error ? error_text(error) : "(read)");
    error_free(error);
    module_free(m);
    return text;
}

static void every_form(int version)
{
    File f = file_new(version);
    Bytes b = file_bytes(&f);
    Module *m = NULL;
    Error *error = read_bytecode((const char *)b.at, b.n, "test", &m);
    CHECK_STR(error ? error_text(error) : "", "");
    if (error)
        return;
    Error *complaint = module_check(m);
    CHECK(!complaint);
    error_free(complaint);
    CHECK(str_is(m->name, "m") && m->nfuncs == 1 && m->npartitions == 1);
    const Func *func = func_find(m, STR("main"));
    CHECK(func && func->is_public && func->nresults == 1);
    CHECK_STR(type_name(func->results[0]), "f32[2]");
    const Region *r = region_at(m, func->body);
    CHECK(r->nargs == 1 && r->nnodes == 3);
    const Node *constant = node_at(m, r->nodes[0]), *add = node_at(m, r->nodes[1]);
    const Dense *value = value_constant(m, constant->out);
    CHECK(value && !value->is_splat && ((const float *)value->data)[0] == 1.5f &&
          ((const float *)value->data)[1] == -2);
    CHECK(add->op == OP_ADD && add->in[0] == r->args && add->in[1] == constant->out);
    CHECK(region_return(m, func->body)->in[0] == add->out);
    module_free(m);
}

/* A prefix of a file is never a file; a changed byte may be one, and is read without harm. */
static void damage(int version)
{
    File f = file_new(version);
    Bytes b = file_bytes(&f);
    for (size_t n = 0; n < b.n; n++) {
        Module *m = NULL;
        char *exact = malloc(n + 1); /* so that a reader past the end is seen by tools */
        memcpy(exact, b.at, n);
        Error *error = read_bytecode(exact, n, "test", &m);
        CHECK(error);
        error_free(error);
        module_free(m);
        free(exact);
    }
    for (size_t i = 0; i < b.n; i++)
        for (int x = 0; x < 256; x += 5) {
            Bytes changed = b;
            Module *m = NULL;
            changed.at[i] = (uint8_t)x;
            Error *error = read_bytecode((const char *)changed.at, changed.n, "test", &m);
            if (!error)
                error = module_check(m);
            error_free(error);
            module_free(m);
        }
}

static void refusals(void)
{
    File f = file_new(6);
    f.version = 7;
    CHECK_STR(refusal(&f),
              "not supported: version 7 of MLIR bytecode, in test: versions 0 to 6 are");
    f = file_new(6);
    f.strings[ADD] = "frobnicate_v1";
    CHECK_STR(refusal(&f), "not supported: operation stablehlo.frobnicate at unknown place");
    f = file_new(6);
    f.operand = 2;
    CHECK(strstr(refusal(&f), "expected a value that is defined before its use, got 2"));
    f.operand = 3;
    CHECK(strstr(refusal(&f), "expected the number of a value below 3, got 3"));
    f = file_new(6);
    f.attrs[A_EMPTY] = ENTRY(1, 1, A_EMPTY);
    CHECK(strstr(refusal(&f), "expected an attribute that does not contain itself"));
    f = file_new(6);
    f.types[0] = ENTRY(1, 0);
    CHECK(strstr(refusal(&f), "expected a type that does not contain itself"));
    f = file_new(6);
    f.types[0] = ENTRY(34);
    CHECK(strstr(refusal(&f), "not supported: type tf32, in test at byte "));
    f = file_new(6);
    f.attrs[A_VALUE] = dense(1, 6, "123456");
    CHECK(strstr(refusal(&f), "expected the elements of f32[2] or one of them, got 6 bytes"));
    f = file_new(6);
    f.attrs[A_VALUE] = ENTRY(14, MAIN);
    CHECK(strstr(refusal(&f), "constant: attribute 'value' must be a constant, not \"main\""));
}

/* ---- constants ---- */

/* The elements of a constant of that element code and extent, as "1 0 1", or a complaint. */
static const char *elements(int code, unsigned extent, size_t n, const void *at)
{
    static Text out;
    text_free(&out);
    out = (Text){ 0 };
    File f = file_new(6);
    f.types[0] = ENTRY(code);
    f.types[1] = ENTRY(20, 1, extent * 2, 0);
    f.attrs[A_VALUE] = dense(1, n, at);
    Bytes b = file_bytes(&f);
    Module *m = NULL;
    Error *error = read_bytecode((const char *)b.at, b.n, "test", &m);
    if (error) {
        text_printf(&out, "%s", error_text(error));
    } else {
        const Region *r = region_at(m, m->funcs[0].body);
        const Dense *value = value_constant(m, node_at(m, r->nodes[0])->out);
        text_printf(&out, "%s", value->is_splat ? "all" : "");
        for (unsigned i = 0; i < (value->is_splat ? 1 : extent); i++)
            text_printf(&out, " %d", ((const int8_t *)value->data)[i]);
    }
    error_free(error);
    module_free(m);
    return text_cstr(&out);
}

static void constants(void)
{
    enum { BOOL = 0, S4 = 10, S8 = 11, UNSIGNED4 = 15, FLOAT4 = 37, FLOAT6 = 39 };
    CHECK_STR(elements(BOOL, 9, 2, "\x8d\x01"), " 1 0 1 1 0 0 0 1 1");
    CHECK_STR(elements(BOOL, 3, 1, "\x05"), " 1 0 1");
    CHECK_STR(elements(BOOL, 3, 1, "\xff"), "all 1");
    CHECK_STR(elements(BOOL, 3, 1, "\x00"), "all 0");
    CHECK_STR(elements(BOOL, 16, 1, "\x00"), "all 0");
    CHECK_STR(elements(BOOL, 1, 1, "\x01"), "all 1");
    CHECK_STR(elements(BOOL, 3, 3, "\x01\x00\x01"), " 1 0 1");
    CHECK_STR(elements(BOOL, 0, 0, ""), "");
    CHECK_STR(elements(S4, 4, 4, "\x01\x07\x0f\x08"), " 1 7 -1 -8");
    CHECK_STR(elements(UNSIGNED4, 4, 4, "\x01\x07\x0f\x08"), " 1 7 15 8");
    CHECK_STR(elements(FLOAT4, 4, 4, "\x01\x07\x0f\x08"), " 1 7 15 8");
    CHECK_STR(elements(FLOAT6, 2, 1, "\x3f"), "all 63");
    CHECK_STR(elements(S8, 2, 2, "\xff\x7f"), " -1 127");
    CHECK_STR(elements(S8, 2, 1, "\x03"), "all 3");
    CHECK_STR(elements(S8, 0, 1, "\x03"), "all 3");
}

int main(void)
{
    for (int version = 0; version <= 6; version++)
        every_form(version);
    damage(0);
    damage(6);
    refusals();
    constants();
    return check_done();
}
