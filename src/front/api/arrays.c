/* arrays.c - the functions of tutti.h about values, devices, and arrays made and read, in its order;
 * each checks and hands on.
 *
 * The others are where their subject is: errors in report.c, scopes in scope.c, operations in
 * elementwise.c, reductions.c and shaping.c, random numbers in random.c, functions and their
 * transformations in transforms.c and call.c, collectives in collectives.c, meshes in layout.c. */
#include "front/api/arrays.h"
#include "front/api/numpy.h"
#include "front/client/client.h"
#include "front/value/library.h"
#include "front/value/report.h"
#include "front/value/value.h"
#include "ops/number.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Values. */

tt_dtype tt_type(tt x)
{
    PUBLIC;
    Shape shape;
    tt_dtype type = TT_F32;
    if (value_shape(x, "tt_type", &shape) &&
        !dtype_of(element_canonical(shape.element, shape.is_weak), &type))
        report_broken("tt_type: %s: its elements have no tt_dtype", shape_text(&shape));
    return type;
}

tt_dims tt_shape(tt x)
{
    PUBLIC;
    Shape shape;
    tt_dims dims = { 0, { 0 } };
    if (value_shape(x, "tt_shape", &shape)) {
        dims.n = shape.rank;
        memcpy(dims.v, shape.dims, sizeof *dims.v * (size_t)shape.rank);
    }
    return dims;
}

const char *tt_describe(tt x)
{
    PUBLIC;
    Shape shape;
    return value_shape(x, "tt_describe", &shape) ? shape_text(&shape) : "";
}

/* ---- Devices. */

static bool started(void)
{
    Error *error = client_need();
    if (error)
        report_error(error);
    return !error;
}

void tt_init_with(const tt_options *given)
{
    PUBLIC;
    OPTIONS(tt_options, "tt_init", given, return);
    Error *error = client_options(
        &(ClientOptions){ options.plugin, options.devices, options.memory, options.seconds });
    if (error)
        report_error(error);
    else
        started();
}

int tt_device_count(void)
{
    PUBLIC;
    return started() ? client_device_count() : 0;
}

int tt_process_index(void)
{
    PUBLIC;
    return started() ? client_process() : 0;
}

int tt_process_count(void)
{
    PUBLIC;
    return started() ? client_processes() : 0;
}

int tt_local_device_count(void)
{
    PUBLIC;
    return started() ? client_device_count() / client_processes() : 0;
}

const char *tt_device_name(int device)
{
    PUBLIC;
    if (!started())
        return "";
    if (device < 0 || device >= client_device_count()) {
        report_broken("tt_device_name: there is no device %d; the last of %d is %d", device,
                      client_device_count(), client_device_count() - 1);
        return "";
    }
    return client_device_name(device);
}

/* ---- Making arrays. */

static tt value_from_host(Type type, const void *data, bool is_weak)
{
    Array *a = array_from_host(type, data, layout_home());
    return a ? value_of_array(a, is_weak) : NO_VALUE;
}

tt tt_scalar(double x)
{
    PUBLIC;
    return value_from_host(type_scalar(F64), &x, true);
}

tt tt_integer(int64_t x)
{
    PUBLIC;
    return value_from_host(type_scalar(I64), &x, true);
}

tt tt_from(tt_dtype type, const void *data, size_t bytes, const tt_dims *shape)
{
    PUBLIC;
    if (!dtype_ok("tt_from", type) || !dims_ok("tt_from", shape))
        return NO_VALUE;
    Type t = { element_of(type), shape->n, shape->v };
    if (!data && type_bytes(t))
        return report_broken("tt_from: there is no data for %s", type_text(t));
    if (bytes && bytes < type_bytes(t))
        return report_broken("tt_from: %s takes %lld elements, and the data has %zu", type_text(t),
                             (long long)type_count(t),
                             bytes / (size_t)element_info[t.element].bytes);
    return value_from_host(t, data, false);
}

/* Is there an integer of 64 bits that C's conversion makes of x?  Narrower ones are cut from it. */
static bool has_number(Element e, double x)
{
    ElementKind kind = element_info[e].kind;
    double end = e == U64 ? 18446744073709551616.0 : 9223372036854775808.0;
    return (kind != SIGNED && kind != UNSIGNED) || (x >= -9223372036854775808.0 && x < end);
}

static void set_number(Element e, double x, void *at)
{
    Element part = element_part(e);
    memset(at, 0, (size_t)element_info[e].bytes);
    if (element_info[part].kind == FLOAT)
        number_set_float(part, x, at);
    else if (part == I1)
        *(char *)at = x != 0;
    else
        number_set_int(part, x < 9223372036854775808.0 ? (int64_t)x : (int64_t)(uint64_t)x, at);
}

/* Outside a trace an array is filled here; inside, the program makes it. */
static tt filled(const char *who, Type t, double start, double step)
{
    size_t bytes = (size_t)element_info[t.element].bytes;
    char *data = malloc(type_bytes(t) + 1);
    if (!data)
        return report_broken("%s: no memory on the host for %s", who, type_text(t));
    int64_t n = type_count(t);
    for (int64_t i = 0; i < n; i++)
        set_number(t.element, start + (double)i * step, data + (size_t)i * bytes);
    tt x = value_from_host(t, data, false);
    free(data);
    return x;
}

static void arange_body(const tt *in, tt *out, const void *config)
{
    (void)in;
    Type t = *(const Type *)config;
    *out = as_element(build_iota(type_with(t, t.element == I1 ? I32 : t.element), 0), t.element);
}

static void full_body(const tt *in, tt *out, const void *config)
{
    (void)in;
    *out = trace_constant(*(const Dense *)config);
}

static tt made(const char *who, Body *body, const void *config)
{
    tt x = NO_VALUE;
    record_body(who, body, config, NULL, 1, &x);
    return x;
}

tt tt_arange(tt_dtype type, int64_t n)
{
    PUBLIC;
    tt_dims dims = { 1, { n } };
    if (!dtype_ok("tt_arange", type) || !dims_ok("tt_arange", &dims))
        return NO_VALUE;
    if (type == TT_BOOL && n > 2)
        return report_broken("tt_arange: booleans do not count to %lld", (long long)n);
    Type t = { element_of(type), 1, dims.v };
    return tracing ? made("tt_arange", arange_body, &t) : filled("tt_arange", t, 0, 1);
}

tt tt_full(tt_dtype type, double value, const tt_dims *shape)
{
    PUBLIC;
    if (!dtype_ok("tt_full", type) || !dims_ok("tt_full", shape))
        return NO_VALUE;
    Type t = { element_of(type), shape->n, shape->v };
    if (!has_number(t.element, value))
        return report_broken("tt_full: %g is not an element of %s", value, type_text(t));
    if (!tracing)
        return filled("tt_full", t, value, 0);
    char number[16];
    set_number(t.element, value, number);
    return made("tt_full", full_body, &(Dense){ t, true, number });
}

/* ---- Reading arrays. */

/* A number from C, or what was made of such alone, from its 64 bits to the default type of 32. */
static Array *narrowed(Array *wide, Element e)
{
    Type t = { e, wide->type.rank, wide->type.dims };
    Element from = element_part(wide->type.element), to = element_part(e);
    size_t nparts = (size_t)type_count(t) * (to == e ? 1 : 2);
    char *data = malloc(type_bytes(wide->type) + 1);
    if (!data)
        report_broken("no memory on the host for %s", type_text(wide->type));
    bool read = data && array_read(wide, data);
    /* In place: an element's new place is not behind its old one. */
    for (size_t i = 0; read && i < nparts; i++) {
        char *at = data + i * (size_t)element_info[from].bytes;
        char *into = data + i * (size_t)element_info[to].bytes;
        if (element_info[to].kind == FLOAT)
            number_set_float(to, number_float(from, at), into);
        else
            number_set_int(to, number_int(from, at), into);
    }
    Array *a = read ? array_from_host(t, data, layout_home()) : NULL;
    free(data);
    return a;
}

Array *settled_array(tt x, const char *who)
{
    Held held;
    if (!value_pin(x, who, &held))
        return NULL;
    Array *a = NULL;
    Element e = element_canonical(held.type.element, held.is_weak);
    if (!held.array)
        report_broken("%s: the elements of %s are not known while tracing: choose by tt_where, or "
                      "return it",
                      who, type_text(held.type));
    else
        a = e == held.type.element ? array_hold(held.array) : narrowed(held.array, e);
    value_unpin(x);
    return a;
}

double tt_item(tt x)
{
    PUBLIC;
    Held held;
    char data[16];
    double item = 0;
    if (!value_pin(x, "tt_item", &held))
        return 0;
    Element e = held.type.element;
    if (!held.array)
        report_broken("tt_item: the value of %s is not known while tracing: choose by tt_where, or "
                      "return it",
                      type_text(held.type));
    else if (type_count(held.type) != 1)
        report_broken("tt_item: %s has %lld elements, and must have one", type_text(held.type),
                      (long long)type_count(held.type));
    else if (element_info[e].kind == COMPLEX)
        report_broken("tt_item: %s is complex: read both parts by tt_read", type_text(held.type));
    else if (array_read(held.array, data))
        item = element_info[e].kind == FLOAT ? number_float(e, data) : (double)number_int(e, data);
    value_unpin(x);
    return item;
}

bool tt_read(tt x, void *data, size_t bytes)
{
    PUBLIC;
    Array *a = settled_array(x, "tt_read");
    if (!a)
        return false;
    bool fits = type_bytes(a->type) == bytes;
    if (!fits)
        report_broken("tt_read: %s has %zu bytes; there is room for %zu", type_text(a->type),
                      type_bytes(a->type), bytes);
    bool done = fits && array_read(a, data);
    array_release(a);
    return done;
}

static void print_one(void *user)
{
    Text text = { 0 };
    if (array_print(&text, user))
        puts(text_cstr(&text));
    text_free(&text);
}

void tt_print_n(tt_tree tree)
{
    PUBLIC;
    for (int i = 0; i < tree.n; i++) {
        bool is_absent = tree.n > 1 && value_is_absent(tree.leaf[i]);
        Array *a = is_absent ? NULL : settled_array(tree.leaf[i], "tt_print");
        if (is_absent)
            puts("absent");
        if (!a)
            continue;
        library_guard("tt_print", print_one, a);
        array_release(a);
    }
}

void tt_wait_n(tt_tree tree)
{
    PUBLIC;
    for (int i = 0; i < tree.n; i++) {
        if (tree.n > 1 && value_is_absent(tree.leaf[i]))
            continue;
        const Held *held = value_try_pin(tree.leaf[i]);
        if (!held) {
            value_report(tree.leaf[i], "tt_wait", "an argument");
            return;
        }
        if (held->array)
            array_wait(held->array);
        value_unpin(tree.leaf[i]);
    }
}
