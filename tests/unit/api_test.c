/* api_test.c - the functions of tests/front/api.def give what JAX gives (tests/front/api_cases.txt):
 * values outside a trace, and gradients.  Their rules are tried by rules_test.c. */
#include "tests/front.h"

#include "tests/front/api_forms.h"

#include <math.h>
#include <string.h>

enum { ROOM = 4096 };

typedef struct Arg {
    bool is_int;
    double lo, hi;
    tt_dims shape;
} Arg;

typedef struct Row {
    const char *name, *text;
    int n;
    tt_fn (*function)(void), (*weighted)(void);
    Arg args[3];
} Row;

/* clang-format off */
#define EXTENTS(...) { (int)(sizeof((int64_t[]){ 0, ##__VA_ARGS__ }) / sizeof(int64_t)) - 1, { __VA_ARGS__ } }
/* clang-format on */
#define R(lo_, hi_, ...) { false, lo_, hi_, EXTENTS(__VA_ARGS__) }
#define I(lo_, hi_, ...) { true, lo_, hi_, EXTENTS(__VA_ARGS__) }
#define NO_GRAD(...) __VA_ARGS__
#define NO_JVP(...) __VA_ARGS__

#define FUNCTIONS(name, PARAMETERS, NAMES, ...)                                                    \
    static tt case_##name(PARAMETERS)                                                              \
    {                                                                                              \
        return __VA_ARGS__;                                                                        \
    }                                                                                              \
    static tt weigh_##name(PARAMETERS, tt w)                                                       \
    {                                                                                              \
        return tt_sum(tt_mul(case_##name(NAMES), w));                                              \
    }                                                                                              \
    static tt_fn fn_##name(void)                                                                   \
    {                                                                                              \
        return TT_FN(case_##name, #name);                                                          \
    }                                                                                              \
    static tt_fn weighted_##name(void)                                                             \
    {                                                                                              \
        return TT_FN(weigh_##name, #name);                                                         \
    }
#define COMMA ,
#define API1(name, x, py, ...) FUNCTIONS(name, tt a, a, __VA_ARGS__)
#define API2(name, x, y, py, ...) FUNCTIONS(name, tt a COMMA tt b, a COMMA b, __VA_ARGS__)
#define API3(name, x, y, z, py, ...)                                                               \
    FUNCTIONS(name, tt a COMMA tt b COMMA tt c, a COMMA b COMMA c, __VA_ARGS__)
#include "tests/front/api.def"

static const Row rows[] = {
#define API1(name, x, py, ...) { #name, #__VA_ARGS__, 1, fn_##name, weighted_##name, { x } },
#define API2(name, x, y, py, ...) { #name, #__VA_ARGS__, 2, fn_##name, weighted_##name, { x, y } },
#define API3(name, x, y, z, py, ...)                                                               \
    { #name, #__VA_ARGS__, 3, fn_##name, weighted_##name, { x, y, z } },
#include "tests/front/api.def"
};

static int64_t count(const tt_dims *shape)
{
    int64_t n = 1;
    for (int i = 0; i < shape->n; i++)
        n *= shape->v[i];
    return n;
}

/* As api_cases.py makes them. */
static tt make(const Arg *a, int i)
{
    static float floats[ROOM];
    static int32_t ints[ROOM];
    for (int64_t k = 0; k < count(&a->shape); k++) {
        int64_t mixed = (k * 37 + 13 * i + 5) % 101;
        ints[k] = (int32_t)(a->lo + (double)(mixed % (int64_t)(a->hi - a->lo + 1)));
        floats[k] = (float)(a->lo + (a->hi - a->lo) * ((double)mixed + 0.5) / 101);
    }
    return a->is_int ? (tt_from)(TT_I32, ints, sizeof ints, &a->shape)
                     : (tt_from)(TT_F32, floats, sizeof floats, &a->shape);
}

static tt weights(tt_dims shape)
{
    static float w[ROOM];
    for (int64_t k = 0; k < count(&shape); k++)
        w[k] = (float)((k * 29 + 7) % 19 - 9) / 8;
    return (tt_from)(TT_F32, w, sizeof w, &shape);
}

/* ---- what JAX said ---- */

typedef struct Said {
    char name[64], which[16];
    tt_dims shape;
    double *at;
} Said;

static Said said[2048];
static int nsaid;

static void read_said(void)
{
    const char *path = "tests/front/api_cases.txt";
    FILE *file = fopen(path, "r");
    Said *s = said;
    CHECK(file);
    while (file && fscanf(file, "%63s %15s %d", s->name, s->which, &s->shape.n) == 3) {
        for (int i = 0; i < s->shape.n; i++)
            CHECK(fscanf(file, "%ld", &s->shape.v[i]) == 1);
        int64_t n = count(&s->shape);
        s->at = malloc(sizeof *s->at * (size_t)(n + 1));
        for (int64_t i = 0; i < n; i++)
            CHECK(fscanf(file, "%lf", &s->at[i]) == 1);
        s++;
    }
    nsaid = (int)(s - said);
    if (file)
        fclose(file);
}

static const Said *find_said(const char *name, const char *which)
{
    for (int i = 0; i < nsaid; i++)
        if (!strcmp(said[i].name, name) && !strcmp(said[i].which, which))
            return &said[i];
    return NULL;
}

static void compare(const Row *row, const char *which, tt y)
{
    static double got[ROOM];
    const Said *s = find_said(row->name, which);
    tt_dims shape = tt_shape(y);
    bool same = s && shape.n == s->shape.n;
    for (int i = 0; same && i < shape.n; i++)
        same = shape.v[i] == s->shape.v[i];
    if (!same) {
        printf("%s, %s: %s, which is not JAX's shape %s\n", row->name, which, tt_describe(y),
               s ? front_said() : "(JAX was not asked: run tests/front/api_cases.py)");
        check_failures++;
        return;
    }
    CHECK(tt_read(tt_astype(y, TT_F64), got, sizeof *got * (size_t)count(&shape)));
    double scale = 1;
    for (int64_t i = 0; i < count(&shape); i++)
        scale = isfinite(s->at[i]) ? fmax(scale, fabs(s->at[i])) : scale;
    for (int64_t i = 0; i < count(&shape); i++) {
        bool is_near = fabs(got[i] - s->at[i]) <= 1e-5 * scale;
        if (is_near || got[i] == s->at[i] || (isnan(got[i]) && isnan(s->at[i])))
            continue;
        printf("%s, %s: element %ld is %g, JAX's %g\n", row->name, which, (long)i, got[i],
               s->at[i]);
        check_failures++;
        return;
    }
}

static void try(const Row *row)
{
    TT_SCOPE;
    tt in[4];
    tt_tree trees[4];
    uint32_t wrt = 0;
    for (int i = 0; i < row->n; i++) {
        in[i] = make(&row->args[i], i);
        trees[i] = (tt_tree){ &in[i], 1 };
        wrt |= (uint32_t)!row->args[i].is_int << i;
    }
    tt y = tt_call_n(row->function(), trees, row->n, 1)[0];
    compare(row, "value", y);
    if (tt_type(y) != TT_F32 || !wrt || strstr(row->text, "NO_GRAD(") ||
        strstr(row->text, "NO_JVP("))
        return;
    in[row->n] = weights(tt_shape(y));
    trees[row->n] = (tt_tree){ &in[row->n], 1 };
    const tt *grads =
        tt_call_n(tt_grad(row->weighted(), .wrt = wrt), trees, row->n + 1, __builtin_popcount(wrt));
    for (int i = 0, k = 0; i < row->n; i++) {
        char which[16];
        snprintf(which, sizeof which, "grad%d", i);
        if (wrt >> i & 1)
            compare(row, which, grads[k++]);
    }
    CHECK_SAID("");
}

int main(int argc, char **argv)
{
    front_start(4);
    read_said();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (argc < 2 || strstr(rows[i].name, argv[1]))
            try(&rows[i]);
    return check_done();
}
