/* collectives_test.c - every collective of tests/front/collectives.def gives what JAX gives
 * (tests/front/collective_cases.txt): values, gradients around the map and inside it; over devices,
 * over rows of a batch, over devices in devices, over a mesh, and over both at once.
 *
 * With TUTTI_PROGRAMS set, those for several devices are left for tests/front/xla.py. */
#include "tests/front.h"

#include "tests/front/leave.h"

#include <math.h>
#include <string.h>

#define NO_GRAD(...) __VA_ARGS__
#define HERE(...) __VA_ARGS__
#define REDUCES(...) __VA_ARGS__

/* ---- numbers ---- */

enum { ROOM = 4096 };

/* As collective_cases.py makes them. */
static tt numbers(const tt_dims *shape, int step)
{
    static float x[ROOM];
    int64_t n = 1;
    for (int i = 0; i < shape->n; i++)
        n *= shape->v[i];
    for (int64_t k = 0; k < n; k++)
        x[k] = (float)(k * step % 23 - 11) / 8;
    return (tt_from)(TT_F32, x, sizeof x, shape);
}

/* ---- what JAX said ---- */

typedef struct Said {
    char name[64], which[16];
    tt_dims shape;
    float *at;
} Said;

static Said said[512];
static int nsaid;

static void read_said(const char *path)
{
    FILE *file = fopen(path, "r");
    Said *s = said;
    if (!file) {
        printf("%s cannot be read\n", path);
        exit(1);
    }
    while (fscanf(file, "%63s %15s %d", s->name, s->which, &s->shape.n) == 3) {
        long n = 1, extent;
        for (int i = 0; i < s->shape.n && fscanf(file, "%ld", &extent) == 1; i++)
            n *= s->shape.v[i] = extent;
        s->at = malloc(sizeof *s->at * (size_t)n);
        for (long i = 0; i < n && fscanf(file, "%f", &s->at[i]) == 1; i++)
            ;
        s++;
    }
    nsaid = (int)(s - said);
    fclose(file);
}

static const Said *find_said(const char *name, const char *which)
{
    for (int i = 0; i < nsaid; i++)
        if (!strcmp(said[i].name, name) && !strcmp(said[i].which, which))
            return &said[i];
    return NULL;
}

static void compare(const char *name, const char *which, const char *how, tt y)
{
    static float got[ROOM];
    const Said *s = find_said(name, which);
    tt_dims shape = tt_shape(y);
    size_t n = 1;
    bool same = s && shape.n == s->shape.n;
    for (int i = 0; same && i < shape.n; i++) {
        same = shape.v[i] == s->shape.v[i];
        n *= (size_t)shape.v[i];
    }
    same = same && tt_read(y, got, sizeof *got * n);
    for (size_t i = 0; same && i < n; i++)
        same = fabsf(got[i] - s->at[i]) <= 2e-6f * fmaxf(1, fabsf(s->at[i]));
    if (!same) {
        printf("%s, %s, %s: not what JAX gives %s\n", name, which, how, front_said());
        check_failures++;
    }
}

/* ---- the functions ---- */

/* clang-format off */
#define D(...) { (int)(sizeof((int[]){ __VA_ARGS__ }) / sizeof(int)), { __VA_ARGS__ } }
/* clang-format on */
#define FUNCTIONS(name, what)                                                                      \
    static tt meet_##name(tt x)                                                                    \
    {                                                                                              \
        return what;                                                                               \
    }                                                                                              \
    static tt own_##name(tt x, tt w)                                                               \
    {                                                                                              \
        return tt_sum(tt_mul(meet_##name(x), w));                                                  \
    }
#define LOSS(name, how, map)                                                                       \
    static tt how##_##name(tt x, tt w)                                                             \
    {                                                                                              \
        return tt_sum(tt_mul(tt_call(map, x), w));                                                 \
    }

/* Inner maps, in C functions of their own so that the outer maps have something to map. */
#define INNER(name, how, map)                                                                      \
    static tt how##_meet_##name(tt x)                                                              \
    {                                                                                              \
        return tt_call(map(meet_##name, .axis_name = "j"), x);                                     \
    }                                                                                              \
    static tt how##_own_##name(tt x, tt w)                                                         \
    {                                                                                              \
        return tt_call(map(tt_grad(own_##name), .axis_name = "j", .in_axes = { 0, TT_NONE }), x,   \
                       w);                                                                         \
    }

#define DEVICES(f) tt_pmap(f, .axis_name = "i")
#define ROWS(f) tt_vmap(f, .axis_name = "i")
#define DEVICES2(f) tt_pmap(f, .axis_name = "i", .in_axes = { 0, TT_NONE })
#define ROWS2(f) tt_vmap(f, .axis_name = "i", .in_axes = { 0, TT_NONE })
#define MESH(f)                                                                                    \
    tt_shard_map(f, .mesh = tt_mesh_of({ "i", 2 }, { "j", 2 }), .in_specs = { TT_P("i", "j") },    \
                 .out_spec = TT_P("i", "j"))

#define ONE(name, dims, what)                                                                      \
    FUNCTIONS(name, what)                                                                          \
    LOSS(name, devices, DEVICES(meet_##name))                                                      \
    LOSS(name, rows, ROWS(meet_##name))
#define TWO(name, dims, what)                                                                      \
    FUNCTIONS(name, what)                                                                          \
    INNER(name, devices, tt_pmap)                                                                  \
    INNER(name, rows, tt_vmap)                                                                     \
    static tt piece_##name(tt x)                                                                   \
    {                                                                                              \
        tt_dims t = tt_shape(x);                                                                   \
        tt_dims row = { t.n - 2, { t.v[2], t.v[3], t.v[4] } };                                     \
        tt y = meet_##name((tt_reshape)(x, &row));                                                 \
        t = tt_shape(y);                                                                           \
        tt_dims all = { t.n + 2, { 1, 1, t.v[0], t.v[1], t.v[2], t.v[3] } };                       \
        return (tt_reshape)(y, &all);                                                              \
    }                                                                                              \
    LOSS(name, devices, DEVICES(devices_meet_##name))                                              \
    LOSS(name, mixed, DEVICES(rows_meet_##name))                                                   \
    LOSS(name, mesh, MESH(piece_##name))
#include "tests/front/collectives.def"

/* ---- the trials ---- */

typedef struct Trial {
    const char *name, *text;
    tt x, all, own; /* weights of the results of all members, and of one */
} Trial;

static void try(const Trial *t, const char *which, const char *how, tt_fn f)
{
    bool is_value = !strcmp(which, "value");
    char file[160];
    if (!is_value && strstr(t->text, "NO_GRAD("))
        return;
    tt in[] = { t->x, strcmp(which, "outside") ? t->own : t->all };
    tt y = is_value ? tt_call(f, in[0]) : tt_call(f, in[0], in[1]);
    compare(t->name, which, how, y);
    snprintf(file, sizeof file, "meet_%s_%s_%s", t->name, which, how);
    if (!strstr(t->text, "HERE(") && strcmp(how, "rows"))
        leave_program(file, f, is_value ? 1 : 2, in, 1, &y);
}

static Trial prepare(const char *name, const char *text, tt_dims dims, int members)
{
    tt_dims shape = { dims.n + members, { members == 1 ? 4 : 2, 2 } };
    memcpy(shape.v + members, dims.v, sizeof *dims.v * (size_t)dims.n);
    const Said *s = find_said(name, "value");
    if (!s) {
        printf("%s: JAX was not asked; run tests/front/collective_cases.py\n", name);
        exit(1);
    }
    tt_dims own = { s->shape.n - members, { 0 } };
    memcpy(own.v, s->shape.v + members, sizeof *own.v * (size_t)own.n);
    return (Trial){ name, text, numbers(&shape, 37), numbers(&s->shape, 29), numbers(&own, 29) };
}

#define ONE(name, dims, what)                                                                      \
    {                                                                                              \
        TT_SCOPE;                                                                                  \
        Trial t = prepare(#name, #what, (tt_dims)dims, 1);                                         \
        try(&t, "value", "devices", DEVICES(meet_##name));                                         \
        try(&t, "value", "rows", ROWS(meet_##name));                                               \
        try(&t, "outside", "devices", tt_grad(devices_##name));                                    \
        try(&t, "outside", "rows", tt_grad(rows_##name));                                          \
        try(&t, "inside", "devices", DEVICES2(tt_grad(own_##name)));                               \
        try(&t, "inside", "rows", ROWS2(tt_grad(own_##name)));                                     \
    }
#define TWO(name, dims, what)                                                                      \
    {                                                                                              \
        TT_SCOPE;                                                                                  \
        Trial t = prepare(#name, #what, (tt_dims)dims, 2);                                         \
        try(&t, "value", "devices", DEVICES(devices_meet_##name));                                 \
        try(&t, "value", "mesh", MESH(piece_##name));                                              \
        try(&t, "outside", "devices", tt_grad(devices_##name));                                    \
        try(&t, "outside", "mesh", tt_grad(mesh_##name));                                          \
        try(&t, "inside", "devices", DEVICES2(devices_own_##name));                                \
        if (strstr(t.text, "REDUCES(")) {                                                          \
            try(&t, "value", "rows", ROWS(rows_meet_##name));                                      \
            try(&t, "value", "mixed", DEVICES(rows_meet_##name));                                  \
            try(&t, "value", "mixed_2", ROWS(devices_meet_##name));                                \
            try(&t, "outside", "mixed", tt_grad(mixed_##name));                                    \
            try(&t, "inside", "mixed", DEVICES2(rows_own_##name));                                 \
        }                                                                                          \
    }

static void test_all(void)
{
#include "tests/front/collectives.def"
}

int main(void)
{
    front_start(4);
    read_said("tests/front/collective_cases.txt");
    test_all();
    CHECK_SAID("");
    return check_done();
}
