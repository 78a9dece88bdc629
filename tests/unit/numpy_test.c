/* numpy_test.c - public operations outside a trace give what JAX gives: the calls of
 * tests/front/numpy_cases.txt, which tests/front/numpy_cases.py had JAX make. */
#include "front/value/value.h"
#include "ops/number.h"
#include "tests/front.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- What may be called. */

typedef tt F1(tt);
typedef tt F2(tt, tt);
typedef tt FD(tt, const tt_dims *);

static const struct {
    const char *name;
    F1 *one;
    F2 *two;
    FD *dims;
} table[] = {
#define ONE(f) { #f, tt_##f, NULL, NULL }
#define TWO(f) { #f, NULL, tt_##f, NULL }
#define DIMS(f) { #f, NULL, NULL, tt_##f }
    ONE(neg),        ONE(abs),           ONE(sign),       ONE(exp),          ONE(expm1),
    ONE(log),        ONE(log1p),         ONE(tanh),       ONE(sin),          ONE(cos),
    ONE(tan),        ONE(sqrt),          ONE(rsqrt),      ONE(square),       ONE(sigmoid),
    ONE(relu),       ONE(floor),         ONE(ceil),       ONE(round),        ONE(not),
    ONE(isfinite),   ONE(stop_gradient), TWO(add),        TWO(sub),          TWO(mul),
    TWO(div),        TWO(mod),           TWO(pow),        TWO(max),          TWO(min),
    TWO(atan2),      TWO(and),           TWO(or),         TWO(xor),          TWO(equal),
    TWO(not_equal),  TWO(less),          TWO(less_equal), TWO(greater),      TWO(greater_equal),
    TWO(matmul),     DIMS(sum),          DIMS(mean),      DIMS(prod),        DIMS(amax),
    DIMS(amin),      DIMS(logsumexp),    DIMS(softmax),   DIMS(log_softmax), DIMS(reshape),
    DIMS(transpose), DIMS(broadcast),    DIMS(index),
};

static tt call(const char *name, const tt_dims *ints, int n, const tt *x)
{
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (strcmp(table[i].name, name) == 0)
            return table[i].one   ? table[i].one(x[0])
                   : table[i].two ? table[i].two(x[0], x[1])
                                  : table[i].dims(x[0], ints);
    if (strcmp(name, "where") == 0)
        return (tt_where)(x[0], x[1], x[2]);
    if (strcmp(name, "clip") == 0)
        return (tt_clip)(x[0], x[1], x[2]);
    if (strcmp(name, "argmax") == 0)
        return (tt_argmax)(x[0], (int)ints->v[0]);
    if (strcmp(name, "argmin") == 0)
        return (tt_argmin)(x[0], (int)ints->v[0]);
    if (strcmp(name, "conv") == 0)
        return tt_conv(x[0], x[1], .stride = (int)ints->v[0], .groups = (int)ints->v[1],
                       .valid = ints->v[2] != 0);
    if (strcmp(name, "slice") == 0)
        return (tt_slice)(x[0], (int)ints->v[0], ints->v[1], ints->v[2]);
    if (strcmp(name, "take") == 0)
        return (tt_take)(x[0], x[1], (int)ints->v[0]);
    if (strcmp(name, "concat") == 0)
        return tt_concat_n(x, n, (int)ints->v[0]);
    if (strcmp(name, "stack") == 0)
        return tt_stack_n(x, n, (int)ints->v[0]);
    static const tt_dtype types[] = { TT_BOOL, TT_I8,  TT_I16, TT_I32, TT_I64,
                                      TT_U8,   TT_U16, TT_U32, TT_U64, TT_BF16,
                                      TT_F16,  TT_F32, TT_F64, TT_C64, TT_C128 };
    if (strcmp(name, "astype") == 0)
        return (tt_astype)(x[0], types[ints->v[0]]);
    if (strcmp(name, "one_hot") == 0)
        return (tt_one_hot)(x[0], ints->v[0], types[ints->v[1]]);
    printf("there is no call of %s\n", name);
    CHECK(false);
    return (tt){ 0, 0 };
}

/* ---- Reading a line. */

static tt_dims read_dims(char **at)
{
    tt_dims dims = { 0, { 0 } };
    if (**at == '-' && (*at)[1] == ' ') {
        ++*at;
        return dims;
    }
    for (;; ++*at) {
        dims.v[dims.n++] = strtoll(*at, at, 10);
        if (**at != ',')
            return dims;
    }
}

typedef struct Host {
    Element element;
    tt_dims dims;
    unsigned char data[4096];
    size_t bytes;
} Host;

static Host read_host(char *at)
{
    Host h = { .element = F32 };
    size_t n = strcspn(at, " ");
    CHECK(element_find((Str){ at, n }, &h.element));
    at += n + 1;
    h.dims = read_dims(&at);
    h.bytes = type_bytes((Type){ h.element, h.dims.n, h.dims.v });
    unsigned byte;
    at += strspn(at, " ");
    for (size_t i = 0; i < h.bytes && sscanf(at + 2 * i, "%2x", &byte) == 1; i++)
        h.data[i] = (unsigned char)byte;
    return h;
}

static tt read_operand(char *at)
{
    if (strncmp(at, "number ", 7) == 0)
        return tt_scalar(strtod(at + 7, NULL));
    if (strncmp(at, "integer ", 8) == 0)
        return tt_integer(strtoll(at + 8, NULL, 10));
    Host h = read_host(at);
    tt_dtype type = TT_F32;
    CHECK(dtype_of(h.element, &type));
    return (tt_from)(type, h.data, 0, &h.dims);
}

/* ---- Comparing. */

/* The distance from x to the next float of its type above it. */
static double ulp_of(Element e, double x)
{
    int digits = e == F64 ? 53 : e == F32 ? 24 : e == F16 ? 11 : 8, exponent;
    frexp(x, &exponent);
    int least = e == F16 ? -13 : -125;
    return ldexp(1, (exponent > least ? exponent : least) - digits);
}

static bool is_near(Element e, const void *a, const void *b, double ulps)
{
    if (element_info[e].kind != FLOAT)
        return memcmp(a, b, (size_t)element_info[e].bytes) == 0;
    double x = number_float(e, a), y = number_float(e, b);
    return (isnan(x) && isnan(y)) || x == y || fabs(x - y) <= ulps * ulp_of(e, y);
}

static bool same(tt y, const Host *expected, double ulps)
{
    tt_dtype type = TT_F32;
    unsigned char data[4096];
    tt_dims dims = tt_shape(y);
    dtype_of(expected->element, &type);
    if (tt_type(y) != type || dims.n != expected->dims.n ||
        memcmp(dims.v, expected->dims.v, sizeof *dims.v * (size_t)dims.n) != 0 ||
        !(tt_read)(y, data, expected->bytes))
        return false;
    Element part = element_part(expected->element);
    size_t bytes = (size_t)element_info[part].bytes;
    for (size_t i = 0; i < expected->bytes; i += bytes)
        if (!is_near(part, data + i, expected->data + i, ulps)) {
            if (element_info[part].kind == FLOAT)
                printf("element %zu is %.9g, expected %.9g\n", i / bytes,
                       number_float(part, data + i), number_float(part, expected->data + i));
            return false;
        }
    return true;
}

static void run_line(char *line)
{
    TT_SCOPE;
    char name[32], *bar = strstr(line, " | "), *at = line + strcspn(line, " ");
    snprintf(name, sizeof name, "%.*s", (int)(at - line), line);
    double ulps = strtod(at, &at);
    at += strspn(at, " ");
    tt_dims ints = read_dims(&at);
    tt x[8];
    int n = 0;
    for (; bar && strncmp(bar, " | = ", 5) != 0; bar = strstr(bar + 1, " | "))
        x[n++] = read_operand(bar + 3);
    Host expected = read_host(bar + 5);
    tt y = call(name, &ints, n, x);
    if (!same(y, &expected, ulps)) {
        printf("%.300s\ngot %s\n%s\n", line, y.generation ? tt_describe(y) : "nothing",
               tt_error() ? tt_error() : "");
        CHECK(false);
    }
    tt_clear_error();
}

int main(void)
{
    front_start(1);
    FILE *file = fopen("tests/front/numpy_cases.txt", "r");
    CHECK(file != NULL);
    static char line[1 << 16];
    int n = 0;
    for (; file && fgets(line, sizeof line, file); n++)
        run_line(line);
    CHECK(n > 300);
    if (file)
        fclose(file);
    return check_done();
}
