/* attrs.c - attributes as used: from the dictionary that a reader made to a plain struct.
 *
 * attrs.def becomes a table of fields (name, type, offset, default); everything here is one
 * loop over the fields of a kind.  So a new attribute is a line in attrs.def and nothing
 * else.
 *
 *   { dimension = 1, is_stable = true }  ->  SortAttrs { .dimension = 1, .is_stable = true } */
#include "ops/attrs.h"

#include "base/arena.h"
#include "base/table.h"
#include "ops/number.h"

#include <inttypes.h>
#include <stddef.h>
#include <string.h>

enum { NEEDED = 1 << 20 };

#define BEGIN(kind, T)                                                                             \
    static const AttrField *fields_##kind(void)                                                    \
    {                                                                                              \
        typedef T Current;                                                                         \
        static const AttrField fields[] = {
#define FIELD(type, name, initially)                                                               \
    { #name, FIELD_##type, offsetof(Current, name), initially, NULL },
#define ENUM(name, initially, words)                                                               \
    { #name, FIELD_WORD, offsetof(Current, name), initially, words },
#define END(kind, T)                                                                               \
    {                                                                                              \
        NULL, FIELD_INT, sizeof(Current), 0, NULL                                                  \
    }                                                                                              \
    }                                                                                              \
    ;                                                                                              \
    return fields;                                                                                 \
    }
#include "ops/attrs.def"

const AttrField *attrs_fields(AttrsKind kind)
{
    switch (kind) {
#define BEGIN(kind, T)                                                                             \
    case ATTRS_##kind: return fields_##kind();
#define FIELD(type, name, initially)
#define ENUM(name, initially, words)
#define END(kind, T)
#include "ops/attrs.def"
    case ATTRS_COUNT: break;
    }
    return fields_NONE();
}

size_t attrs_size(AttrsKind kind)
{
    switch (kind) {
#define BEGIN(kind, T)                                                                             \
    case ATTRS_##kind: return sizeof(T);
#define FIELD(type, name, initially)
#define ENUM(name, initially, words)
#define END(kind, T)
#include "ops/attrs.def"
    case ATTRS_COUNT: break;
    }
    return 0;
}

/* ---- reading ---- */

static Error *ill_typed(const char *op, const char *name, const char *wanted, const Attr *found)
{
    Text text = { 0 };
    attr_print(&text, found);
    Error *error = error_new(CODE_INVALID, "%s: attribute '%s' must be %s, not %.80s", op, name,
                             wanted, text_cstr(&text));
    text_free(&text);
    return error;
}

/* The numbers of a list, however it was written; NULL when it is none or absurdly long. */
static const int64_t *list_numbers(Arena *arena, const Attr *attr, int64_t *n)
{
    enum { LONGEST = 1 << 22 };
    if (attr->kind == ATTR_ARRAY) {
        *n = attr->n;
        int64_t *at = ARENA_ARRAY(arena, int64_t, attr->n);
        for (int i = 0; i < attr->n; i++) {
            if (attr->items[i]->kind != ATTR_INT && attr->items[i]->kind != ATTR_BOOL)
                return NULL;
            at[i] = attr->items[i]->integer;
        }
        return at;
    }
    if (attr->kind != ATTR_DENSE)
        return NULL;
    const Dense *dense = &attr->dense;
    const ElementInfo *info = &element_info[dense->type.element];
    if (info->kind != BOOLEAN && info->kind != SIGNED && info->kind != UNSIGNED)
        return NULL;
    *n = type_count(dense->type);
    if (*n > LONGEST)
        return NULL;
    int64_t *at = ARENA_ARRAY(arena, int64_t, *n);
    for (int64_t i = 0; i < *n; i++)
        at[i] = number_int(dense->type.element,
                           (const char *)dense->data + (dense->is_splat ? 0 : i) * info->bytes);
    return at;
}

static bool read_ints(Arena *arena, const Attr *attr, Ints *out)
{
    int64_t n;
    if (attr->kind == ATTR_DENSE && attr->dense.type.rank > 1)
        return false;
    const int64_t *at = list_numbers(arena, attr, &n);
    *out = (Ints){ at ? (int)n : 0, at };
    return at != NULL;
}

static bool read_matrix(Arena *arena, const Attr *attr, Matrix *out)
{
    int64_t n;
    if (attr->kind != ATTR_DENSE || attr->dense.type.rank != 2)
        return false;
    const int64_t *dims = attr->dense.type.dims, *at = list_numbers(arena, attr, &n);
    if (!at || dims[0] > INT32_MAX || dims[1] > INT32_MAX)
        return false;
    *out = (Matrix){ (int)dims[0], (int)dims[1], at };
    return true;
}

/* The position of a word in "A,B,C"; -1 when it is not there. */
static int find_word(const char *words, Str word)
{
    int position = 0;
    for (const char *at = words; at; position++) {
        const char *comma = strchr(at, ',');
        size_t n = comma ? (size_t)(comma - at) : strlen(at);
        if (str_equal(word, (Str){ at, n }))
            return position;
        at = comma ? comma + 1 : NULL;
    }
    return -1;
}

static int count_words(const char *words)
{
    int n = 1;
    for (; *words; words++)
        n += *words == ',';
    return n;
}

/* Enums come as words, and in some forms as numbers (api_version = 2 : i32). */
static bool read_word(const Attr *attr, const char *words, int *out)
{
    int position = -1;
    if (attr->kind == ATTR_WORD || attr->kind == ATTR_STRING)
        position = find_word(words, attr->string);
    else if (attr->kind == ATTR_INT && attr->integer >= 0 && attr->integer < count_words(words))
        position = (int)attr->integer;
    *out = position;
    return position >= 0;
}

static bool read_shardings(const Attr *attr, Shardings *out)
{
    *out = (Shardings){ attr->n, attr->shardings };
    return attr->kind == ATTR_SHARDINGS;
}

/* One for each operand, or one for both; none is the default. */
static bool read_precisions(const Attr *attr, Precisions *out)
{
    Precision each[2] = { PRECISION_UNSAID, PRECISION_UNSAID };
    bool ok = attr->kind == ATTR_ARRAY && attr->n <= 2;
    for (int i = 0; ok && i < attr->n; i++) {
        int position;
        ok = read_word(attr->items[i], "DEFAULT,HIGH,HIGHEST", &position);
        each[i] = position > 0 ? PRECISION_DEFAULT + (Precision)position : PRECISION_UNSAID;
    }
    *out = (Precisions){ each[0], attr->n == 1 ? each[0] : each[1] };
    return ok;
}

/* What stands behind "name = " in an attribute that is kept as text; NULL: nothing. */
static const char *said_in(const Attr *text, const char *name)
{
    if (!text || text->kind != ATTR_WORD)
        return NULL;
    const char *at = strstr(text->string.at, name); /* a copy, which ends with a NUL */
    return at ? at + strlen(name) : NULL;
}

/* What the algorithm of a product asks for, as a precision that is no less exact: operands of whole f32,
 * or several products of their parts.  Text has it as one attribute, files have its fields. */
static Precision algorithm_precision(const Attr *dict)
{
    const Attr *text = attr_get(dict, "algorithm"), *type = attr_get(dict, "lhs_precision_type");
    const Attr *count = attr_get(dict, "num_primitive_operations");
    const char *type_word = said_in(text, "lhs_precision_type = ");
    const char *count_word = said_in(text, "num_primitive_operations = ");
    bool is_whole =
        type && type->kind == ATTR_TYPE && (type->type.element == F32 || type->type.element == F64);
    is_whole |=
        type_word && (strncmp(type_word, "f32", 3) == 0 || strncmp(type_word, "f64", 3) == 0);
    int64_t products = count && count->kind == ATTR_INT ? count->integer : 1;
    products = count_word ? *count_word - '0' : products;
    return is_whole || products > 3 ? PRECISION_HIGHEST
           : products > 1           ? PRECISION_HIGH
                                    : PRECISION_UNSAID;
}

static bool read_number(const Attr *attr, AttrFieldType type, void *to)
{
    bool is_int = attr->kind == ATTR_INT || attr->kind == ATTR_BOOL;
    switch (type) {
    case FIELD_INT: *(int64_t *)to = is_int ? attr->integer : 0; return is_int;
    case FIELD_BOOL:
        *(bool *)to = attr->kind == ATTR_UNIT || (is_int && attr->integer != 0);
        return is_int || attr->kind == ATTR_UNIT;
    default:
        *(double *)to = attr->kind == ATTR_FLOAT ? attr->number
                        : is_int                 ? (double)attr->integer
                                                 : 0;
        return is_int || attr->kind == ATTR_FLOAT;
    }
}

static Error *read_field(Arena *arena, const char *op, const AttrField *f, const Attr *attr,
                         void *to)
{
    bool is_string = attr->kind == ATTR_STRING || attr->kind == ATTR_WORD;
    const char *wanted = "";
    bool ok = true;
    switch (f->type) {
    case FIELD_INT: wanted = "an integer", ok = read_number(attr, f->type, to); break;
    case FIELD_BOOL: wanted = "a boolean", ok = read_number(attr, f->type, to); break;
    case FIELD_FLOATING: wanted = "a number", ok = read_number(attr, f->type, to); break;
    case FIELD_INTS: wanted = "a list of integers", ok = read_ints(arena, attr, to); break;
    case FIELD_MATRIX: wanted = "a matrix of integers", ok = read_matrix(arena, attr, to); break;
    case FIELD_WORD: wanted = f->words, ok = read_word(attr, f->words, to); break;
    case FIELD_SHARDINGS: wanted = "a list of shardings", ok = read_shardings(attr, to); break;
    case FIELD_TILINGS: wanted = "left out: no file holds it", ok = false; break;
    case FIELD_ANY: *(const Attr **)to = attr; break;
    case FIELD_PRECISIONS:
        wanted = "a list of at most two of DEFAULT, HIGH and HIGHEST";
        ok = read_precisions(attr, to);
        break;
    case FIELD_STRING:
        wanted = "a string or symbol", ok = is_string;
        *(Str *)to = is_string ? attr->string : (Str){ 0 };
        break;
    case FIELD_DENSE:
        wanted = "a constant", ok = attr->kind == ATTR_DENSE;
        *(Dense *)to = ok ? attr->dense : (Dense){ 0 };
        break;
    case FIELD_SHARDING:
        wanted = "a sharding", ok = attr->kind == ATTR_SHARDING;
        *(const Sharding **)to = ok ? attr->sharding : NULL;
        break;
    }
    return ok ? NULL : ill_typed(op, f->name, wanted, attr);
}

static Error *set_default(const char *op, const AttrField *f, void *to)
{
    if (f->initially == NEEDED)
        return error_new(CODE_INVALID, "%s: attribute '%s' is missing", op, f->name);
    switch (f->type) {
    case FIELD_INT: *(int64_t *)to = f->initially; break;
    case FIELD_BOOL: *(bool *)to = f->initially != 0; break;
    case FIELD_FLOATING: *(double *)to = f->initially; break;
    case FIELD_WORD: *(int *)to = f->initially; break;
    default: break; /* the struct is zeroed: the empty list */
    }
    return NULL;
}

/* Attributes that do not change what an operation computes here: how precisely it may, how
 * memory lies or is reused, hints. */
static bool is_read_over(Str name)
{
    /* clang-format off */
    static const char *const names[] = {
        "precision_config", "result_accuracy", "algorithm", "lhs_precision_type",
        "rhs_precision_type", "accumulation_type", "lhs_component_count", "rhs_component_count",
        "num_primitive_operations", "allow_imprecise_accumulation", "output_operand_aliases",
        "result_tilings", "channel_type", "no_inline", "known_expanding_dimensions",
        "known_nonexpanding_dimensions", "mode", "unique_indices", "indices_are_sorted",
    };
    /* clang-format on */
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (str_is(name, names[i]))
            return true;
    return false;
}

static Error *check_foreign(const char *op, Str name)
{
    if (is_read_over(name))
        return NULL;
    return error_new(CODE_INVALID, "%s: unknown attribute '%.*s'", op, STR_ARG(name));
}

static bool is_field(const AttrField *fields, Str name)
{
    for (; fields->name; fields++)
        if (str_is(name, fields->name))
            return true;
    return false;
}

/* What of the dictionary is no field: checked, and with a dot collected. */
static Error *read_rest(Arena *arena, const AttrField *fields, const char *op, const Attr *dict,
                        const Attr **extra)
{
    AttrDict rest = { 0 };
    for (int i = 0; i < dict->n; i++) {
        Str name = dict->keys[i];
        if (is_field(fields, name))
            continue;
        if (name.n && memchr(name.at, '.', name.n))
            attr_set(arena, &rest, name, dict->items[i]);
        else
            TRY(check_foreign(op, name));
    }
    *extra = rest.n ? attr_dict(arena, &rest) : NULL;
    return NULL;
}

Error *attrs_from_dict(Arena *arena, AttrsKind kind, const char *op, const Attr *dict,
                       const void **attrs, const Attr **extra)
{
    const AttrField *fields = attrs_fields(kind);
    const Attr *rest = NULL;
    char *made = arena_alloc(arena, attrs_size(kind));
    for (const AttrField *f = fields; f->name; f++) {
        const Attr *found = attr_get(dict, f->name);
        if (found)
            TRY(read_field(arena, op, f, found, made + f->offset));
        else
            TRY(set_default(op, f, made + f->offset));
        Precision exact =
            f->type == FIELD_PRECISIONS ? algorithm_precision(dict) : PRECISION_UNSAID;
        if (exact != PRECISION_UNSAID)
            *(Precisions *)(void *)(made + f->offset) = (Precisions){ exact, exact };
    }
    if (dict)
        TRY(read_rest(arena, fields, op, dict, &rest));
    *attrs = made;
    if (extra)
        *extra = rest;
    return NULL;
}

/* ---- comparing ---- */

static bool matrices_equal(Matrix a, Matrix b)
{
    return a.rows == b.rows && a.cols == b.cols &&
           ints_equal((Ints){ a.rows * a.cols, a.at }, (Ints){ b.rows * b.cols, b.at });
}

static bool shardings_equal(Shardings a, Shardings b)
{
    if (a.n != b.n)
        return false;
    for (int i = 0; i < a.n; i++)
        if (!sharding_equal(a.at[i], b.at[i]))
            return false;
    return true;
}

static bool tilings_equal(Tilings a, Tilings b)
{
    if (a.n != b.n)
        return false;
    for (int i = 0; i < a.n; i++)
        if (!tiling_equal(a.at[i], b.at[i]))
            return false;
    return true;
}

#define AT(T, p) (*(const T *)(p))

static bool field_equal(AttrFieldType type, const void *a, const void *b)
{
    switch (type) {
    case FIELD_INT: return AT(int64_t, a) == AT(int64_t, b);
    case FIELD_BOOL: return AT(bool, a) == AT(bool, b);
    case FIELD_FLOATING: return memcmp(a, b, sizeof(double)) == 0;
    case FIELD_WORD: return AT(int, a) == AT(int, b);
    case FIELD_INTS: return ints_equal(AT(Ints, a), AT(Ints, b));
    case FIELD_MATRIX: return matrices_equal(AT(Matrix, a), AT(Matrix, b));
    case FIELD_STRING: return str_equal(AT(Str, a), AT(Str, b));
    case FIELD_DENSE: return dense_equal(AT(Dense, a), AT(Dense, b));
    case FIELD_ANY: return attr_equal(AT(Attr *, a), AT(Attr *, b));
    case FIELD_SHARDING: return sharding_equal(AT(Sharding *, a), AT(Sharding *, b));
    case FIELD_SHARDINGS: return shardings_equal(AT(Shardings, a), AT(Shardings, b));
    case FIELD_TILINGS: return tilings_equal(AT(Tilings, a), AT(Tilings, b));
    case FIELD_PRECISIONS: return memcmp(a, b, sizeof(Precisions)) == 0;
    }
    return false;
}

bool attrs_equal(AttrsKind kind, const void *a, const void *b)
{
    if (a == b || !a || !b)
        return a == b || kind == ATTRS_NONE;
    for (const AttrField *f = attrs_fields(kind); f->name; f++)
        if (!field_equal(f->type, (const char *)a + f->offset, (const char *)b + f->offset))
            return false;
    return true;
}

static uint64_t largest_of(uint64_t most, size_t n, const int64_t *at)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t size = at[i] < 0 ? -(uint64_t)at[i] : (uint64_t)at[i];
        most = size > most ? size : most;
    }
    return most;
}

int64_t attrs_largest(AttrsKind kind, const void *attrs)
{
    uint64_t most = 0;
    for (const AttrField *f = attrs_fields(kind); attrs && f->name; f++) {
        const char *at = (const char *)attrs + f->offset;
        if (f->type == FIELD_INTS)
            most = largest_of(most, (size_t)AT(Ints, at).n, AT(Ints, at).at);
        if (f->type == FIELD_MATRIX)
            most = largest_of(most, (size_t)AT(Matrix, at).rows * (size_t)AT(Matrix, at).cols,
                              AT(Matrix, at).at);
    }
    return most > INT64_MAX ? INT64_MAX : (int64_t)most;
}

/* ---- printing ---- */

static void print_matrix(Text *out, Matrix m)
{
    int64_t dims[] = { m.rows, m.cols };
    Dense dense = { .type = { I64, 2, dims }, .data = m.at };
    dense_print(out, dense);
    text_printf(out, " : ");
    type_print(out, dense.type);
}

/* #stablehlo<fft_type RFFT>; two enums are called otherwise than the attribute. */
static void print_word(Text *out, const AttrField *f, int position)
{
    const char *words = f->words, *name = f->name;
    if (strcmp(name, "compare_type") == 0)
        name = "comparison_type";
    if (strcmp(name, "transpose_a") == 0)
        name = "transpose";
    for (; position > 0; position--)
        words = strchr(words, ',') + 1;
    text_printf(out, "#stablehlo<%s %.*s>", name, (int)strcspn(words, ","), words);
}

static void print_tilings(Text *out, Tilings list)
{
    text_printf(out, "[");
    for (int i = 0; i < list.n; i++) {
        const Tiling *t = &list.at[i];
        text_printf(out, "%s\"", i ? ", " : "");
        text_ints(out, t->tiles, t->rank);
        text_printf(out, ":");
        for (int d = 0; d < t->ndevices; d++) {
            text_printf(out, " (");
            text_ints(out, t->tile_of + d * t->rank, t->rank);
            text_printf(out, ")");
        }
        text_printf(out, "\"");
    }
    text_printf(out, "]");
}

bool precisions_said(Precisions p)
{
    return p.lhs != PRECISION_UNSAID || p.rhs != PRECISION_UNSAID;
}

const char *precision_word(Precision p)
{
    return p == PRECISION_HIGHEST ? "HIGHEST" : p == PRECISION_HIGH ? "HIGH" : "DEFAULT";
}

void precisions_print(Text *out, Precisions p)
{
    text_printf(out, "[#stablehlo<precision %s>, #stablehlo<precision %s>]", precision_word(p.lhs),
                precision_word(p.rhs));
}

static void print_field(Text *out, const AttrField *f, const void *at)
{
    switch (f->type) {
    case FIELD_INT: text_printf(out, "%" PRId64 " : i64", AT(int64_t, at)); break;
    case FIELD_BOOL: text_printf(out, AT(bool, at) ? "true" : "false"); break;
    case FIELD_FLOATING: text_printf(out, "%.9e : f32", AT(double, at)); break;
    case FIELD_WORD: print_word(out, f, AT(int, at)); break;
    case FIELD_INTS:
        text_printf(out, "array<i64");
        for (int i = 0; i < AT(Ints, at).n; i++)
            text_printf(out, "%s%" PRId64, i ? ", " : ": ", AT(Ints, at).at[i]);
        text_printf(out, ">");
        break;
    case FIELD_MATRIX: print_matrix(out, AT(Matrix, at)); break;
    case FIELD_STRING: string_print(out, AT(Str, at)); break;
    case FIELD_DENSE: attr_print(out, &(Attr){ .kind = ATTR_DENSE, .dense = AT(Dense, at) }); break;
    case FIELD_ANY: attr_print(out, AT(Attr *, at)); break;
    case FIELD_SHARDING:
        attr_print(out, &(Attr){ .kind = ATTR_SHARDING, .sharding = AT(Sharding *, at) });
        break;
    case FIELD_SHARDINGS:
        attr_print(out, &(Attr){ .kind = ATTR_SHARDINGS,
                                 .n = AT(Shardings, at).n,
                                 .shardings = AT(Shardings, at).at });
        break;
    case FIELD_TILINGS: print_tilings(out, AT(Tilings, at)); break;
    case FIELD_PRECISIONS: precisions_print(out, AT(Precisions, at)); break;
    }
}

void attrs_print(Text *out, AttrsKind kind, const void *attrs)
{
    const char *comma = "";
    for (const AttrField *f = attrs_fields(kind); attrs && f->name; f++) {
        const void *at = (const char *)attrs + f->offset;
        if ((f->type == FIELD_ANY && !AT(Attr *, at)) ||
            (f->type == FIELD_PRECISIONS && !precisions_said(AT(Precisions, at))))
            continue;
        text_printf(out, "%s%s = ", comma, f->name);
        print_field(out, f, at);
        comma = ", ";
    }
}

/* A splat and the same constant written out are equal, so they hash alike: by the first
 * element and, unless all are the same, by the rest. */
static uint64_t constant_hash(Dense dense, uint64_t seed)
{
    const char *data = dense.data;
    size_t one = (size_t)element_info[dense.type.element].bytes;
    size_t n = (size_t)type_count(dense.type);
    if (n == 0)
        return seed;
    uint64_t h = hash_bytes(data, one, seed);
    bool is_same = dense.is_splat || memcmp(data, data + one, (n - 1) * one) == 0;
    return is_same ? h : hash_bytes(data, n * one, h);
}

/* By its text, except that a constant's text may be long: there by its bytes. */
uint64_t attrs_hash(AttrsKind kind, const void *attrs, uint64_t seed)
{
    if (kind == ATTRS_CONSTANT)
        return constant_hash(((const ConstantAttrs *)attrs)->value, seed);
    Text text = { 0 };
    attrs_print(&text, kind, attrs);
    uint64_t h = hash_bytes(text_cstr(&text), text.n, seed);
    text_free(&text);
    return h;
}
