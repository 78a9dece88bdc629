/* rules_test.c - the front's rules, each tried as tests/front/cases.def says.
 *
 *     jvp        (f(x + h v) - f(x - h v)) / 2h          in f64
 *     transpose  <ct, J v> = <J' ct, v>
 *     both       the jvp of the gradient is its finite difference
 *     batch      row i of vmap(f)(X) = f(row i of X)     for every choice of mapped arguments
 *     f32        the same jvp, gradient and rows as in f64, to the digits that f32 has
 *
 * With TUTTI_PROGRAMS set to a folder, the programs of jvp and gradient are left there with their
 * arguments and results, for tests/front/xla.py. */
#include "tests/front.h"

#include "front/transform/build.h"
#include "front/transform/fn.h"
#include "front/transform/rules.h"
#include "tests/front/api_forms.h"
#include "tests/front/leave.h"
#include "tests/front/programs.h"

#include <math.h>
#include <stdlib.h>

/* ---- what cases are made of ---- */

static Ints list_of(int n, const int64_t *at)
{
    return ints_of(n, at);
}
#define list(n, ...) list_of(n, (const int64_t[]){ __VA_ARGS__ })

static Type dims_of(tt like, int n, const int64_t *at)
{
    return type_new(trace_arena(), type_at(like).element, n, at);
}
#define dims(like, ...)                                                                            \
    dims_of(like, (int)(sizeof((int64_t[]){ __VA_ARGS__ }) / sizeof(int64_t)),                     \
            (const int64_t[]){ __VA_ARGS__ })

static tt complex_of(tt re, tt im)
{
    Type t = type_at(re);
    return build_op(OP_COMPLEX, 2, (const tt[]){ re, im }, NULL,
                    type_with(t, t.element == F64 ? C128 : C64));
}

static tt part(OpId op, tt re, tt im)
{
    tt z = complex_of(re, im);
    return build_op(op, 1, (const tt[]){ tt_mul(z, z) }, NULL, type_at(re));
}

static tt modulus(tt re, tt im)
{
    return build_op(OP_ABS, 1, (const tt[]){ complex_of(re, im) }, NULL, type_at(re));
}

/* A function, and its derivative as a rule. */
static tt wave_product(tt a, tt b)
{
    return tt_mul(tt_named(tt_sin(a), "wave"), tt_exp(b));
}
typedef struct {
    tt y, dy;
} WithTangent;
static WithTangent wave_rule(tt a, tt b, tt da, tt db)
{
    tt y = wave_product(a, b);
    return (WithTangent){ y, tt_add(tt_mul(tt_mul(tt_cos(a), tt_exp(b)), da), tt_mul(y, db)) };
}
TT_FUN(WithTangent, wave_rule, tt, tt, tt, tt);

/* 1 where row and column compare so, else 0. */
static tt triangle(tt a, int direction)
{
    Type at = type_with(type_at(a), I32);
    tt is_in = build_compare(direction, build_iota(at, at.rank - 2), build_iota(at, at.rank - 1));
    return build_convert(is_in, type_at(a).element);
}
/* The lower triangle: what a factorization leaves in the other is its business. */
static tt lower(tt a)
{
    return tt_mul(a, triangle(a, GE));
}
/* Of both parts of a complex matrix, one below the other. */
static tt lower_parts(tt a)
{
    return tt_concat(0, lower(tt_slice(a, 0, 0, 3)), lower(tt_slice(a, 0, 3, 6)));
}
/* Not symmetric: a routine for positive matrices reads one half of it. */
static tt heavy(tt a)
{
    return tt_add(a, tt_mul(5, triangle(a, EQ)));
}
static tt positive(tt a)
{
    return tt_add(tt_matmul(a, tt_transpose(a)), tt_mul(9, triangle(a, EQ)));
}

static tt places(void)
{
    return trace_constant((Dense){ type_new(trace_arena(), I32, 2, (const int64_t[]){ 2, 1 }),
                                   false, (const int32_t[]){ 3, 1 } });
}

/* Rows of `updates` into the rows of x at those places: combined by op, or OP_COUNT: replaced. */
static tt scatter_rows(tt x, tt at, tt updates, OpId op, bool is_unique)
{
    Type t = type_at(x);
    Graph body = trace_reducer(op == OP_COUNT ? OP_ADD : op, t.element);
    if (op == OP_COUNT)
        region_return(body.m, body.body)->in[0] = region_at(body.m, body.body)->args + 1;
    ScatterAttrs *a =
        BUILD_ATTRS(ScatterAttrs, .update_window_dims = list(1, 1),
                    .inserted_window_dims = list(1, 0), .scatter_dims_to_operand_dims = list(1, 0),
                    .index_vector_dim = 1, .unique_indices = is_unique);
    tt y;
    trace_apply_regions("a test", OP_SCATTER, 3, (const tt[]){ x, at, updates }, a, 1, &body, 1, &t,
                        &y);
    return y;
}

static tt wave(tt x)
{
    return tt_mul(tt_sin(x), x);
}
static tt named_sum(tt x)
{
    return tt_mul(x, tt_psum(tt_sin(x), "i"));
}
static tt named_max(tt x)
{
    return tt_pmax(x, "i");
}
static tt named_min(tt x)
{
    return tt_pmin(x, "i");
}
static tt named_gather(tt x)
{
    return tt_sin(tt_all_gather(x, "i"));
}
static tt named_scatter(tt x)
{
    return tt_sin(tt_psum_scatter(x, "i"));
}
static tt named_exchange(tt x)
{
    return tt_mul(tt_all_to_all(x, "i"), x);
}
static tt named_permute(tt x)
{
    return tt_mul(tt_shift(x, "i", 1), x);
}
static tt named_index(tt x)
{
    return tt_mul(x, tt_axis_index("i"));
}
static tt named_broadcast(tt x)
{
    return tt_mul(tt_pbroadcast(x, "i", 2), x);
}
static tt named_pairs(tt x)
{
    return tt_mul(tt_ppermute(x, "i", { 0, 2 }, { 3, 0 }), tt_add(x, 2));
}
static tt named_sum_groups(tt x)
{
    tt_group groups[] = { TT_GROUP(2, 0, 3), TT_GROUP(1) };
    return tt_mul(tt_pmean(x, "i", .groups = { 2, groups }), x);
}
static tt named_max_groups(tt x)
{
    return tt_pmax(x, "i", .groups = TT_GROUPS(TT_GROUP(0, 3), TT_GROUP(2, 1)));
}
static tt named_gather_tiled(tt x)
{
    return tt_sin(tt_all_gather(x, "i", .axis = -1, .tiled = true));
}
static tt named_scatter_tiled(tt x)
{
    return tt_sin(tt_psum_scatter(x, "i", .axis = 1, .tiled = true));
}
static tt named_exchange_axes(tt x)
{
    return tt_sin(tt_all_to_all(x, "i", .axis = 1, .concat_axis = 0));
}
static tt named_exchange_groups(tt x)
{
    return tt_mul(x, tt_all_to_all(x, "i", .groups = TT_GROUPS(TT_GROUP(0, 2), TT_GROUP(3, 1))));
}
static tt two_axes(tt x)
{
    return tt_mul(tt_psum(tt_sin(x), "i,j"), tt_add(x, tt_axis_index("j,i")));
}
static tt rows_of_rows(tt x)
{
    return tt_call(tt_vmap(two_axes, .axis_name = "j"), x);
}
static tt inner_device(tt x, tt w)
{
    return tt_mul(tt_psum(tt_sin(tt_mul(x, w)), "j"), tt_pmean(tt_exp(x), "i,j"));
}
static tt on_devices(tt x, tt w)
{
    return tt_sin(tt_call(tt_pmap(inner_device, .axis_name = "j", .in_axes = { 0, TT_NONE }), x,
                          tt_mul(w, 2)));
}
static tt on_device(tt x, tt w)
{
    return tt_mul(tt_sin(tt_mul(x, w)), tt_pmean(tt_exp(x), "i"));
}
static tt all_devices(tt x, tt w)
{
    return tt_psum(tt_sin(tt_mul(x, w)), "i");
}

/* The gradient of what all devices have alike is alike. */
static tt shard_loss(tt w, tt x)
{
    return tt_psum(tt_sum(tt_sin(tt_mul(w, x))), "i");
}
static tt shard_slopes(tt w, tt x)
{
    return tt_call(tt_grad(shard_loss), w, x);
}

/* A program in text, $E for the element type of its first argument, as a function. */
static tt_fn load_text(const char *name, const char *text, Element e)
{
    static struct {
        const char *name;
        Element e;
        tt_fn f;
    } known[256];
    static int n;
    for (int i = 0; i < n; i++)
        if (known[i].e == e && !strcmp(known[i].name, name))
            return known[i].f;
    Text program = { 0 };
    for (const char *c = text; *c; c++)
        if (c[0] == '$' && c[1] == 'E')
            text_printf(&program, "%s", e == F64 ? "f64" : "f32"), c++;
        else
            text_add(&program, c, 1);
    tt_fn f = front_load(text_cstr(&program));
    text_free(&program);
    known[n].name = name;
    known[n].e = e;
    return known[n++].f = f;
}

static tt run_text(const char *name, const char *text, int nargs, int result, const tt *args)
{
    tt_fn f = load_text(name, text, type_at(args[0]).element);
    tt_tree trees[3] = { { args, 1 }, { args + 1, 1 }, { args + 2, 1 } };
    return tt_call_n(f, trees, nargs, result + 1)[result];
}

/* ---- cases ---- */

typedef struct Arg {
    bool is_int;
    double lo, hi;
    int rank;
    int64_t dims[4];
} Arg;

typedef struct Case {
    OpId op;
    const char *name;
    int n;
    tt_fn (*function)(void), (*weighted)(void); /* f; sum(f * the last argument) */
    Arg args[3];
    const char *text; /* what is computed */
} Case;

#define R(lo_, hi_, ...) { false, lo_, hi_, EXTENTS(__VA_ARGS__) }
#define I(lo_, hi_, ...) { true, lo_, hi_, EXTENTS(__VA_ARGS__) }
#define EXTENTS(...)                                                                               \
    (int)(sizeof((int64_t[]){ 0, ##__VA_ARGS__ }) / sizeof(int64_t)) - 1,                          \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }
#define NO_JVP(...) __VA_ARGS__
#define NO_GRAD(...) __VA_ARGS__

#define WEIGH(f, ct) tt_sum(tt_mul(f, ct))
#define CASE1(id, name, a_, ...)                                                                   \
    static tt case_##name(tt a)                                                                    \
    {                                                                                              \
        return __VA_ARGS__;                                                                        \
    }                                                                                              \
    static tt weigh_##name(tt a, tt ct)                                                            \
    {                                                                                              \
        return WEIGH(case_##name(a), ct);                                                          \
    }
#define CASE2(id, name, a_, b_, ...)                                                               \
    static tt case_##name(tt a, tt b)                                                              \
    {                                                                                              \
        return __VA_ARGS__;                                                                        \
    }                                                                                              \
    static tt weigh_##name(tt a, tt b, tt ct)                                                      \
    {                                                                                              \
        return WEIGH(case_##name(a, b), ct);                                                       \
    }
#define CASE3(id, name, a_, b_, c_, ...)                                                           \
    static tt case_##name(tt a, tt b, tt c)                                                        \
    {                                                                                              \
        return __VA_ARGS__;                                                                        \
    }                                                                                              \
    static tt weigh_##name(tt a, tt b, tt c, tt ct)                                                \
    {                                                                                              \
        return WEIGH(case_##name(a, b, c), ct);                                                    \
    }
#define ELSEWHERE(id)
#include "tests/front/cases.def"

#define FUNCTIONS(name)                                                                            \
    static tt_fn fn_##name(void)                                                                   \
    {                                                                                              \
        return TT_FN(case_##name, #name);                                                          \
    }                                                                                              \
    static tt_fn weighted_##name(void)                                                             \
    {                                                                                              \
        return TT_FN(weigh_##name, "weigh_" #name);                                                \
    }
#define CASE1(id, name, ...) FUNCTIONS(name)
#define CASE2(id, name, ...) FUNCTIONS(name)
#define CASE3(id, name, ...) FUNCTIONS(name)
#define ELSEWHERE(id)
#include "tests/front/cases.def"

static const Case cases[] = {
#define CASE1(id, name, a, ...)                                                                    \
    { OP_##id, #name, 1, fn_##name, weighted_##name, { a }, #__VA_ARGS__ },
#define CASE2(id, name, a, b, ...)                                                                 \
    { OP_##id, #name, 2, fn_##name, weighted_##name, { a, b }, #__VA_ARGS__ },
#define CASE3(id, name, a, b, c, ...)                                                              \
    { OP_##id, #name, 3, fn_##name, weighted_##name, { a, b, c }, #__VA_ARGS__ },
#define API1(name, a, py, ...)                                                                     \
    { OP_ADD, #name, 1, fn_##name, weighted_##name, { a }, #__VA_ARGS__ },
#define API2(name, a, b, py, ...)                                                                  \
    { OP_ADD, #name, 2, fn_##name, weighted_##name, { a, b }, #__VA_ARGS__ },
#define API3(name, a, b, c, py, ...)                                                               \
    { OP_ADD, #name, 3, fn_##name, weighted_##name, { a, b, c }, #__VA_ARGS__ },
#define ELSEWHERE(id)
#include "tests/front/cases.def"
};

/* Every operation with a rule has a case: what is missing is named by the compiler. */
#define CASE1(id, ...) __attribute__((unused)) static char has_a_case_##id;
#define CASE2(id, ...) __attribute__((unused)) static char has_a_case_##id;
#define CASE3(id, ...) __attribute__((unused)) static char has_a_case_##id;
#define ELSEWHERE(id) __attribute__((unused)) static char has_a_case_##id;
#include "tests/front/cases.def"

#define SECOND(a, b, ...) b
#define IS_RULE_(...) SECOND(__VA_ARGS__, 1, 0)
#define IS_RULE(name) IS_RULE_(NONE_##name)
#define NONE_none 0, 0
#define NEEDED_000(id) NULL
#define NEEDED_001(id) &has_a_case_##id
#define NEEDED_010(id) &has_a_case_##id
#define NEEDED_011(id) &has_a_case_##id
#define NEEDED_100(id) &has_a_case_##id
#define NEEDED_101(id) &has_a_case_##id
#define NEEDED_110(id) &has_a_case_##id
#define NEEDED_111(id) &has_a_case_##id
#define JOIN_(a, b, c) NEEDED_##a##b##c
#define JOIN(a, b, c) JOIN_(a, b, c)
static const char *const all_have_cases[] = {
#define OP(id, name, arity, attrs, kind, flow, effect, in_place, cost, cuts, shape, eval, element, \
           block, jvp, transpose, batch)                                                           \
    JOIN(IS_RULE(jvp), IS_RULE(transpose), IS_RULE(batch))(id),
#include "ops/ops.def"
};

/* ---- numbers ---- */

/* Begun anew from each case's name, so that its numbers do not depend on the cases before it. */
static uint64_t state;

static void seed(const char *name)
{
    state = 1;
    for (; *name; name++)
        state = (state ^ (unsigned char)*name) * 1099511628211u;
}

static double random_in(double lo, double hi)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return lo + (hi - lo) * (double)(state >> 11) / (double)(1ull << 53);
}

static int64_t count_of(const Arg *a)
{
    int64_t n = 1;
    for (int i = 0; i < a->rank; i++)
        n *= a->dims[i];
    return n;
}

/* An argument for `rows` calls: rows 0 means one call, without the axis. */
static tt make(const Arg *a, int rows, Element e, const double *at)
{
    tt_dims dims = { 0, { 0 } };
    if (rows)
        dims.v[dims.n++] = rows;
    for (int i = 0; i < a->rank; i++)
        dims.v[dims.n++] = a->dims[i];
    int64_t n = count_of(a) * (rows ? rows : 1);
    double *doubles = malloc(sizeof *doubles * (size_t)n);
    float *floats = malloc(sizeof *floats * (size_t)n);
    int32_t *ints = malloc(sizeof *ints * (size_t)n);
    for (int64_t i = 0; i < n; i++) {
        doubles[i] = at[i];
        floats[i] = (float)at[i];
        ints[i] = (int32_t)floor(at[i]);
    }
    tt x = a->is_int  ? (tt_from)(TT_I32, ints, 0, &dims)
           : e == F64 ? (tt_from)(TT_F64, doubles, 0, &dims)
                      : (tt_from)(TT_F32, floats, 0, &dims);
    free(doubles), free(floats), free(ints);
    return x;
}

/* Into doubles; the number of them. */
static int64_t numbers(tt x, double *out)
{
    tt_dims dims = tt_shape(x);
    int64_t n = 1;
    for (int i = 0; i < dims.n; i++)
        n *= dims.v[i];
    tt wide = tt_astype(x, TT_F64);
    tt_read(wide, out, sizeof *out * (size_t)n);
    return n;
}

enum { ROOM = 4096, ROWS = 3 };

static bool near(const double *a, const double *b, int64_t n, double tolerance)
{
    double worst = 0, scale = 1;
    for (int64_t i = 0; i < n; i++) {
        double d = a[i] == b[i] ? 0 : fabs(a[i] - b[i]); /* an infinity is near itself */
        worst = d > worst || isnan(d) ? d : worst;
        scale = fabs(b[i]) > scale ? fabs(b[i]) : scale;
    }
    return worst <= tolerance * scale;
}

static double dot(const double *a, const double *b, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

#define EXPECT(condition, what)                                                                    \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            printf("%s, %s: %s %s\n", c->name, e == F64 ? "f64" : "f32", what, front_said());      \
            check_failures++;                                                                      \
        }                                                                                          \
    } while (0)

/* ---- leaving programs for XLA ---- */

static void leave(const Case *c, const char *how, Element e, tt_fn f, int nin, const tt *in,
                  int nout, const tt *out)
{
    char name[128];
    snprintf(name, sizeof name, "%s_%s_%s", c->name, how, e == F64 ? "f64" : "f32");
    leave_program(name, f, nin, in, nout, out);
}

/* ---- derivatives ---- */

static const tt *call(tt_fn f, int n, const tt *args, int nresults)
{
    tt_tree trees[TT_MAX_ARGS];
    for (int i = 0; i < n; i++)
        trees[i] = (tt_tree){ args + i, 1 };
    return tt_call_n(f, trees, n, nresults);
}

typedef struct Point {
    double x[3][ROOM], v[3][ROOM], ct[ROOM];
} Point;

static void fill(const Case *c, Point *p)
{
    for (int i = 0; i < c->n; i++)
        for (int64_t k = 0; k < ROWS * count_of(&c->args[i]); k++) {
            p->x[i][k] = random_in(c->args[i].lo, c->args[i].hi);
            p->v[i][k] = random_in(-1, 1);
        }
    for (int k = 0; k < ROOM; k++)
        p->ct[k] = random_in(-1, 1);
}

static int64_t evaluate(const Case *c, const Point *p, double h, double *out)
{
    tt in[3];
    double at[ROOM];
    for (int i = 0; i < c->n; i++) {
        for (int64_t k = 0; k < count_of(&c->args[i]); k++)
            at[k] = p->x[i][k] + (c->args[i].is_int ? 0 : h * p->v[i][k]);
        in[i] = make(&c->args[i], 0, F64, at);
    }
    return numbers(call(c->function(), c->n, in, 1)[0], out);
}

static bool differences(const Case *c, const Point *p, const double *dy)
{
    enum { STEP = 5 };
    double up[ROOM], down[ROOM], slope[ROOM], h = pow(10, -STEP);
    int64_t n = evaluate(c, p, h, up);
    evaluate(c, p, -h, down);
    for (int64_t i = 0; i < n; i++)
        slope[i] = up[i] == down[i] ? 0 : (up[i] - down[i]) / (2 * h);
    return near(dy, slope, n, 1e-6);
}

static unsigned float_args(const Case *c)
{
    unsigned mask = 0;
    for (int i = 0; i < c->n; i++)
        mask |= (unsigned)!c->args[i].is_int << i;
    return mask;
}

/* y and its tangent; the number of elements. */
static int64_t push(const Case *c, const Point *p, Element e, double *dy, tt *y)
{
    tt in[6];
    int n = c->n;
    for (int i = 0; i < c->n; i++) {
        in[i] = make(&c->args[i], 0, e, p->x[i]);
        if (!c->args[i].is_int)
            in[n++] = make(&c->args[i], 0, e, p->v[i]);
    }
    tt_fn f = tt_jvp(c->function(), .wrt = float_args(c));
    const tt *out = call(f, n, in, 2);
    leave(c, "jvp", e, f, n, in, 2, out);
    *y = out[0];
    return numbers(out[1], dy);
}

/* Gradients of sum(f * ct), one behind the other. */
static int64_t pull(const Case *c, const Point *p, Element e, tt y, double *grads)
{
    tt in[4];
    tt_dims dims = tt_shape(y);
    Arg ct = { .rank = dims.n };
    memcpy(ct.dims, dims.v, sizeof ct.dims);
    unsigned mask = float_args(c);
    for (int i = 0; i < c->n; i++)
        in[i] = make(&c->args[i], 0, e, p->x[i]);
    in[c->n] = make(&ct, 0, e, p->ct);
    tt_fn f = tt_grad(c->weighted(), .wrt = mask);
    int ngrads = __builtin_popcount(mask);
    const tt *out = call(f, c->n + 1, in, ngrads);
    leave(c, "grad", e, f, c->n + 1, in, ngrads, out);
    int64_t n = 0;
    for (int i = 0; i < ngrads; i++)
        n += numbers(out[i], grads + n);
    return n;
}

/* Gradients of sum(f * ct) at x + h v, one behind the other; the number of them. */
static int64_t gradient_at(const Case *c, const Point *p, double h, tt ct, double *out)
{
    tt in[4];
    double at[ROOM];
    unsigned mask = float_args(c);
    for (int i = 0; i < c->n; i++) {
        for (int64_t k = 0; k < count_of(&c->args[i]); k++)
            at[k] = p->x[i][k] + (c->args[i].is_int ? 0 : h * p->v[i][k]);
        in[i] = make(&c->args[i], 0, F64, at);
    }
    in[c->n] = ct;
    int64_t n = 0;
    int ngrads = __builtin_popcount(mask);
    const tt *g = call(tt_grad(c->weighted(), .wrt = mask), c->n + 1, in, ngrads);
    for (int i = 0; i < ngrads; i++)
        n += numbers(g[i], out + n);
    return n;
}

/* The derivative of the gradient: what rules are made of has rules that hold. */
static void try_second(const Case *c, const Point *p)
{
    static double up[ROOM], down[ROOM], got[ROOM];
    Element e = F64;
    tt in[8];
    int n = 0, ngrads = __builtin_popcount(float_args(c));
    for (int i = 0; i < c->n; i++)
        in[n++] = make(&c->args[i], 0, e, p->x[i]);
    tt_dims dims = tt_shape(call(c->function(), c->n, in, 1)[0]);
    Arg shape = { .rank = dims.n };
    memcpy(shape.dims, dims.v, sizeof shape.dims);
    tt ct = in[n++] = make(&shape, 0, e, p->ct);
    for (int i = 0; i < c->n; i++)
        if (!c->args[i].is_int)
            in[n++] = make(&c->args[i], 0, e, p->v[i]);
    tt_fn f = tt_jvp(tt_grad(c->weighted(), .wrt = float_args(c)), .wrt = float_args(c));
    const tt *y = call(f, n, in, 2 * ngrads);
    int64_t k = 0, all = gradient_at(c, p, 1e-5, ct, up);
    gradient_at(c, p, -1e-5, ct, down);
    for (int i = 0; i < ngrads; i++)
        k += numbers(y[ngrads + i], got + k);
    for (int64_t i = 0; i < all; i++)
        up[i] = (up[i] - down[i]) / 2e-5;
    EXPECT(k == all && near(got, up, k, 1e-5), "the derivative of the gradient is not its slope");
}

static void try_derivatives(const Case *c, const Point *p)
{
    double dy[2][ROOM], grads[2][ROOM], v[ROOM];
    bool has_gradient = !strstr(c->text, "NO_GRAD(");
    for (Element e = F64, *was = &e; was; was = NULL) {
        tt y;
        int64_t n = push(c, p, e, dy[0], &y), k = 0;
        bool is_float = tt_type(y) == TT_F64 || tt_type(y) == TT_F32;
        EXPECT(differences(c, p, dy[0]), "the jvp is not the finite difference");
        if (!is_float || !has_gradient)
            continue;
        int64_t ngrads = pull(c, p, e, y, grads[0]);
        for (int i = 0; i < c->n; i++)
            for (int64_t j = 0; !c->args[i].is_int && j < count_of(&c->args[i]); j++)
                v[k++] = p->v[i][j];
        double forward = dot(p->ct, dy[0], n), backward = dot(grads[0], v, k);
        EXPECT(ngrads == k && near(&backward, &forward, 1, 1e-10), "<ct, Jv> is not <J'ct, v>");
        e = F32;
        try_second(c, p);
        push(c, p, e, dy[1], &y);
        pull(c, p, e, y, grads[1]);
        EXPECT(near(dy[1], dy[0], n, 1e-4), "the jvp is not that of f64");
        EXPECT(near(grads[1], grads[0], k, 1e-4), "the gradient is not that of f64");
    }
}

/* What is not there is refused, and called by its name. */
static void try_refusal(const Case *c, const Point *p, const char *words)
{
    Element e = F32;
    tt in[4];
    for (int i = 0; i < c->n; i++)
        in[i] = make(&c->args[i], 0, e, p->x[i]);
    tt_dims dims = tt_shape(call(c->function(), c->n, in, 1)[0]);
    Arg ct = { .rank = dims.n };
    memcpy(ct.dims, dims.v, sizeof ct.dims);
    in[c->n] = make(&ct, 0, e, p->ct);
    EXPECT(!tt_error(), "cannot be called");
    call(tt_grad(c->weighted(), .wrt = float_args(c)), c->n + 1, in,
         __builtin_popcount(float_args(c)));
    EXPECT(tt_error() && strstr(tt_error(), words), "is not refused");
    tt_clear_error();
}

/* ---- batches ---- */

static void try_rows(const Case *c, const Point *p, Element e, unsigned mask)
{
    tt in[3], row[3];
    double all[ROOM], one[ROOM];
    tt_vmap_options options = { .size = sizeof options };
    for (int i = 0; i < c->n; i++) {
        bool is_mapped = mask >> i & 1;
        options.in_axes[i] = is_mapped ? 0 : TT_NONE;
        in[i] = make(&c->args[i], is_mapped ? ROWS : 0, e, p->x[i]);
    }
    tt_fn f = tt_vmap_with(c->function(), &options);
    const tt *y = call(f, c->n, in, 1);
    if (mask == (1u << c->n) - 1)
        leave(c, "vmap", e, f, c->n, in, 1, y);
    int64_t n = numbers(y[0], all);
    for (int r = 0; r < ROWS; r++) {
        for (int i = 0; i < c->n; i++) {
            int64_t skip = mask >> i & 1 ? r * count_of(&c->args[i]) : 0;
            row[i] = make(&c->args[i], 0, e, p->x[i] + skip);
        }
        int64_t k = numbers(call(c->function(), c->n, row, 1)[0], one);
        for (int64_t i = 0; i < k && k * ROWS == n; i++)
            if (isnan(all[r * k + i]) && isnan(one[i])) /* where a function has no value */
                all[r * k + i] = one[i] = 0;
        char what[64];
        snprintf(what, sizeof what, "row %d of vmap, arguments %u mapped, differs", r, mask);
        EXPECT(k * ROWS == n && near(all + r * k, one, k, e == F64 ? 1e-12 : 2e-6), what);
    }
}

/* ---- every rule has been tried ---- */

enum { JVP = 1, GRADIENT = 2, ROWS_OF_IT = 4 };
static unsigned tried[OP_COUNT] = {
#define CASE1(...)
#define CASE2(...)
#define CASE3(...)
#define ELSEWHERE(id) [OP_##id] = JVP | GRADIENT | ROWS_OF_IT,
#include "tests/front/cases.def"
};

static void note(const Case *c)
{
    bool has_jvp = float_args(c) && !strstr(c->text, "NO_JVP(");
    tried[c->op] |= ROWS_OF_IT | (has_jvp ? JVP : 0);
    if (has_jvp && !strstr(c->text, "NO_GRAD("))
        tried[c->op] |= GRADIENT;
}

static void check_tried(void)
{
    for (OpId op = 0; op < OP_COUNT; op++) {
        const FrontRules *rules = &front_rules[op];
        unsigned there = (rules->jvp && rules->jvp != jvp_zero ? JVP : 0) |
                         (rules->transpose ? GRADIENT : 0) | (rules->batch ? ROWS_OF_IT : 0);
        if (there & ~tried[op]) {
            printf("%s: no case tries its%s%s%s\n", op_name(op),
                   there & ~tried[op] & JVP ? " jvp" : "",
                   there & ~tried[op] & GRADIENT ? " transpose" : "",
                   there & ~tried[op] & ROWS_OF_IT ? " batch" : "");
            check_failures++;
        }
    }
}

static tt cube_root(tt x)
{
    return build1(OP_CBRT, x);
}

/* Not a number's: JAX has infinity there. */
static void try_cbrt_at_zero(void)
{
    TT_SCOPE;
    double slope = tt_item(tt_call(tt_grad(cube_root), tt_full(TT_F32, 0)));
    CHECK(isinf(slope) && slope > 0);
}

/* The sanitizers look at the code, through which one batch goes as every other: numbers are for the plain
 * build to compare. */
#ifdef __SANITIZE_ADDRESS__
enum { IS_SANITIZED = 1 };
#else
enum { IS_SANITIZED = 0 };
#endif
static unsigned first_batch(const Case *c)
{
    return IS_SANITIZED ? (1u << c->n) - 1 : 1;
}

int main(int argc, char **argv)
{
    front_start(4);
    (void)all_have_cases;
    try_cbrt_at_zero();
    int ntried = 0;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const Case *c = &cases[i];
        static Point p;
        TT_SCOPE;
        if (argc > 1 && strncmp(argv[1], c->name, strlen(argv[1])) != 0)
            continue;
        ntried++;
        if (strstr(c->text, "ONLY_JAX("))
            continue;
        note(c);
        seed(c->name);
        fill(c, &p);
        if (float_args(c) && !strstr(c->text, "NO_JVP("))
            try_derivatives(c, &p);
        else if (float_args(c))
            try_refusal(c, &p, "not supported: the derivative of");
        if (strstr(c->text, "NO_GRAD("))
            try_refusal(c, &p, "not supported: the gradient through");
        for (unsigned mask = first_batch(c); mask < 1u << c->n; mask++) {
            try_rows(c, &p, F64, mask);
            if (float_args(c) && !IS_SANITIZED)
                try_rows(c, &p, F32, mask);
        }
    }
    CHECK(ntried > 0); /* a case of that name */
    if (argc == 1)
        check_tried();
    return check_done();
}
