/* transform_test.c - functions and their transformations, as a caller sees them: what comes out
 * is what the mathematics says, computed here by hand. */
#include "tests/front.h"

#include <math.h>
#include <stdlib.h>

/* ---- looking at arrays ---- */

enum { ROOM = 512 };

static int64_t read_all(tt x, float *out)
{
    tt_dims d = tt_shape(x);
    int64_t n = 1;
    for (int i = 0; i < d.n; i++)
        n *= d.v[i];
    tt wide = tt_astype(x, TT_F32);
    tt_read(wide, out, sizeof *out * (size_t)n);
    return n;
}

static bool is_shape(tt x, int n, const int64_t *dims)
{
    tt_dims d = tt_shape(x);
    bool same = d.n == n;
    for (int i = 0; same && i < n; i++)
        same = d.v[i] == dims[i];
    return same;
}
#define IS_SHAPE(x, ...)                                                                           \
    is_shape(x, (int)(sizeof((int64_t[]){ __VA_ARGS__ }) / sizeof(int64_t)),                       \
             (const int64_t[]){ __VA_ARGS__ })

static bool near(double a, double b)
{
    return fabs(a - b) <= 2e-5 * fmax(1, fabs(b));
}

/* Element i of x is the expression, in which X is element i of a. */
#define EACH(x, a, expression)                                                                     \
    do {                                                                                           \
        float got_[ROOM], from_[ROOM];                                                             \
        int64_t n_ = read_all(x, got_), m_ = read_all(a, from_);                                   \
        bool ok_ = n_ == m_;                                                                       \
        for (int64_t i = 0; ok_ && i < n_; i++) {                                                  \
            double X = from_[i];                                                                   \
            ok_ = near(got_[i], expression);                                                       \
        }                                                                                          \
        CHECK(ok_);                                                                                \
        CHECK_SAID("");                                                                            \
    } while (0)

static tt ramp(int n, int64_t a, int64_t b, int64_t c)
{
    tt_dims d = { n, { a, b, c } };
    int64_t count = 1;
    for (int i = 0; i < n; i++)
        count *= d.v[i];
    return (tt_reshape)(tt_div(tt_arange(TT_F32, count), 4), &d);
}

/* ---- functions ---- */

static tt cube(tt x)
{
    return tt_mul(x, tt_mul(x, x));
}
static tt wave(tt x)
{
    return tt_sin(x);
}
static tt total_cube(tt x)
{
    return tt_sum(cube(x));
}
static tt product(tt x, tt y)
{
    return tt_mul(x, y);
}
static tt total_product(tt x, tt y)
{
    return tt_sum(tt_mul(x, y));
}
static tt mean_along(tt x)
{
    return tt_pmean(x, "i");
}
static tt minus_mean(tt x)
{
    return tt_sub(x, tt_pmean(x, "i"));
}
static tt one(tt x)
{
    return tt_add(tt_mul(x, 0), 1);
}

typedef struct {
    tt a, b;
} Two;
static Two split(tt x)
{
    return (Two){ tt_mul(x, 2), tt_sum(x) };
}
TT_FUN(Two, split, tt);
static Two loss_and_more(tt x, tt y)
{
    return (Two){ tt_sum(tt_mul(x, y)), tt_add(x, y) };
}
TT_FUN(Two, loss_and_more, tt, tt);
static tt of_two(Two t)
{
    return tt_sum(tt_mul(t.a, tt_sin(t.b)));
}
TT_FUN(tt, of_two, Two);

/* ---- jit, grad, vmap ---- */

static void test_plain(void)
{
    tt x = ramp(2, 4, 2, 0);
    EACH(tt_call(cube, x), x, X * X * X);
    EACH(tt_call(tt_jit(cube), x), x, X * X * X);
    EACH(tt_call(tt_jit(tt_jit(wave)), x), x, sin(X));
    CHECK(tt_jit(cube) == tt_jit(cube));
    CHECK(tt_pmap(cube) != tt_pmap(cube, .axis_name = "i"));
    CHECK(tt_pmap(cube, .axis_name = "i") == tt_pmap(cube, .axis_name = "i"));
    Two t = tt_call_as(Two, split, x);
    EACH(t.a, x, 2 * X);
    CHECK(near(tt_item(t.b), 7));
    Two both = tt_map(cube, t);
    EACH(both.a, x, 8 * X * X * X);
}

static tt d_total(tt x)
{
    return tt_sum(tt_call(tt_grad(total_cube), x));
}
static tt dd_total(tt x)
{
    return tt_sum(tt_call(tt_grad(d_total), x));
}
static tt number_cube(tt x)
{
    return cube(x);
}
static tt vector_total(tt x)
{
    return tt_sum(tt_call(tt_vmap(number_cube), x));
}

static void test_grad(void)
{
    tt x = ramp(1, 6, 0, 0), y = ramp(1, 6, 0, 0);
    EACH(tt_call(tt_grad(total_cube), x), x, 3 * X * X);
    EACH(tt_call(tt_grad(d_total), x), x, 6 * X);
    EACH(tt_call(tt_grad(dd_total), x), x, 6 + 0 * X);
    EACH(tt_call(tt_vmap(tt_grad(number_cube)), x), x, 3 * X * X);
    EACH(tt_call(tt_vmap(tt_grad(tt_grad(number_cube))), x), x, 6 * X);
    EACH(tt_call(tt_grad(vector_total), x), x, 3 * X * X);
    EACH(tt_call(tt_grad(total_product, .wrt = 2), x, tt_mul(y, 3)), x, X);
    Two both = tt_call_as(Two, tt_grad(total_product, .wrt = 3), x, tt_mul(y, 3));
    EACH(both.a, x, 3 * X);
    EACH(both.b, x, X);
    Two with_value = tt_call_as(Two, tt_value_and_grad(total_cube), x);
    EACH(with_value.b, x, 3 * X * X);
    CHECK(near(tt_item(with_value.a), 3.515625));
    Two with_aux = tt_call_as(Two, tt_grad(loss_and_more, .has_aux = true), x, y);
    EACH(with_aux.a, x, X);
    EACH(with_aux.b, x, 2 * X);
    typedef struct {
        Two results;
        tt grad;
    } Three;
    Three three = tt_call_as(Three, tt_value_and_grad(loss_and_more, .has_aux = true), x, y);
    EACH(three.results.b, x, 2 * X);
    EACH(three.grad, x, X);
    Two tree = tt_call_as(Two, tt_grad(of_two), ((Two){ x, y }));
    EACH(tree.a, x, sin(X));
    EACH(tree.b, x, X * cos(X));
}

static tt stopped(tt x)
{
    return tt_sum(tt_mul(tt_stop_gradient(tt_sin(x)), x));
}
static tt independent(tt x, tt y)
{
    return tt_sum(tt_mul(y, tt_stop_gradient(x)));
}

static void test_constant_parts(void)
{
    tt x = ramp(1, 6, 0, 0);
    EACH(tt_call(tt_grad(stopped), x), x, sin(X));
    EACH(tt_call(tt_grad(independent), x, x), x, 0 * X);
}

static tt scaled_sum(tt x)
{
    return tt_psum(tt_mul(x, tt_axis_index("i")), "i");
}
static tt outer_and_inner(tt x)
{
    return tt_sub(tt_psum(x, "o"), tt_psum(x, "i"));
}
static tt inner_map(tt x)
{
    return tt_call(tt_vmap(outer_and_inner, .axis_name = "i"), x);
}

static void test_vmap(void)
{
    tt x = ramp(2, 3, 4, 0);
    tt y = tt_call(tt_vmap(cube, .in_axes = { 1 }, .out_axis = 1), x);
    EACH(y, x, X * X * X);
    CHECK(IS_SHAPE(tt_call(tt_vmap(cube, .in_axes = { 1 }), x), 4, 3));
    CHECK(IS_SHAPE(tt_call(tt_vmap(cube, .in_axes = { -1 }, .out_axis = -1), x), 3, 4));
    CHECK(IS_SHAPE(tt_call(tt_vmap(product, .in_axes = { 0, TT_NONE }), x, x), 3, 3, 4));
    Two t = tt_call_as(Two, tt_vmap(split, .out_axes = { 1, 0 }), x);
    CHECK(IS_SHAPE(t.a, 4, 3) && IS_SHAPE(t.b, 3));
    CHECK(IS_SHAPE(tt_call(tt_vmap(one, .in_axes = { TT_NONE }, .axis_size = 5), x), 5, 3, 4));
    EACH(tt_call(tt_vmap(mean_along, .axis_name = "i"), ramp(1, 4, 0, 0)), ramp(1, 4, 0, 0),
         0.375 + 0 * X);
    tt s = tt_call(tt_vmap(scaled_sum, .axis_name = "i", .out_axis = TT_NONE), ramp(1, 4, 0, 0));
    CHECK(near(tt_item(s), 3.5));
    /* Column sums less row sums. */
    float got[ROOM];
    read_all(tt_call(tt_vmap(inner_map, .axis_name = "o"), ramp(2, 2, 2, 0)), got);
    CHECK(near(got[0], 0.25) && near(got[1], 0.75) && near(got[2], -0.75) && near(got[3], -0.25));
    CHECK_SAID("");
}

/* ---- captured values ---- */

static tt around, inside_x;
static tt uses_around(tt x)
{
    return tt_mul(x, around);
}
static tt uses_x(tt y)
{
    return tt_sum(tt_mul(y, tt_mul(inside_x, inside_x)));
}
static tt closure(tt x)
{
    inside_x = x;
    return tt_sum(tt_call(tt_grad(uses_x), tt_mul(x, 5)));
}
static tt jit_uses_x(tt y)
{
    return tt_mul(y, inside_x);
}
static tt calls_jit(tt x)
{
    inside_x = tt_sin(x);
    return tt_add(tt_call(tt_jit(jit_uses_x), x), tt_call(tt_jit(jit_uses_x), x));
}

static void test_captured(void)
{
    tt x = ramp(2, 4, 3, 0);
    around = ramp(2, 4, 3, 0);
    EACH(tt_call(uses_around, x), x, X * X);
    EACH(tt_call(tt_grad(closure), x), x, 2 * X);
    EACH(tt_call(tt_jit(calls_jit), x), x, 2 * X * sin(X));
    around = ramp(1, 3, 0, 0);
    float got[ROOM];
    read_all(tt_call(tt_pmap(uses_around), x), got);
    CHECK(near(got[4], 1.0 * 0.25) && near(got[11], 2.75 * 0.5));
    CHECK_SAID("");
}

static tt twice(tt x)
{
    return tt_add(tt_call(tt_jit(cube), x), tt_call(tt_jit(cube), tt_mul(x, 2)));
}

static int count(const char *text, const char *word)
{
    int n = 0;
    for (; (text = strstr(text, word)); text++)
        n++;
    return n;
}

static void test_lower(void)
{
    tt x = ramp(1, 6, 0, 0);
    const char *text = tt_lower(tt_jit(twice), x);
    CHECK(count(text, "func.func private @cube") == 1);
    CHECK(count(text, "call @cube") == 2);
    CHECK(count(text, "\"cube\"(\"tests/unit/transform_test.c\"") > 0);
    EACH(tt_call(tt_jit(twice), x), x, 9 * X * X * X);
    EACH(tt_call(tt_vmap(tt_jit(twice)), x), x, 9 * X * X * X);
    const char *mapped = tt_lower(tt_pmap(minus_mean, .axis_name = "i"), ramp(2, 4, 2, 0));
    CHECK(count(mapped, "sdy.manual_computation") == 1 && count(mapped, "all_reduce") == 1);
}

/* ---- pmap ---- */

static tt total_of_map(tt x)
{
    return tt_sum(tt_call(tt_pmap(wave), x));
}
static tt total_of_means(tt x)
{
    return tt_sum(
        tt_square(tt_call(tt_pmap(mean_along, .axis_name = "i", .out_axis = TT_NONE), x)));
}
static tt after_map(tt x)
{
    return tt_add(tt_call(tt_pmap(cube), x), 1);
}

static void test_pmap(void)
{
    tt x = ramp(2, 4, 2, 0);
    EACH(tt_call(tt_pmap(cube), x), x, X * X * X);
    EACH(tt_call(tt_pmap(cube), ramp(2, 3, 2, 0)), ramp(2, 3, 2, 0), X * X * X);
    EACH(tt_call(tt_pmap(tt_jit(cube)), x), x, X * X * X);
    EACH(tt_call(tt_jit(after_map), x), x, X * X * X + 1);
    tt y = tt_call(tt_pmap(cube, .in_axes = { 1 }, .out_axis = 1), ramp(2, 3, 4, 0));
    EACH(y, ramp(2, 3, 4, 0), X * X * X);
    Two t = tt_call_as(Two, tt_pmap(split, .out_axes = { 1, 0 }), x);
    CHECK(IS_SHAPE(t.a, 2, 4) && IS_SHAPE(t.b, 4));
    const int devices[] = { 3, 1, 0, 2 };
    EACH(tt_call(tt_pmap(cube, .devices = devices, .ndevices = 4), x), x, X * X * X);
    tt m = tt_call(tt_pmap(mean_along, .axis_name = "i", .out_axis = TT_NONE), x);
    EACH(m, ramp(1, 2, 0, 0), X + 0.75);
    /* A result of a map goes on living where it is. */
    tt z = tt_call(tt_pmap(cube), tt_add(tt_call(tt_pmap(cube), x), 0));
    EACH(z, x, pow(X, 9));
}

static void test_pmap_transformed(void)
{
    tt x = ramp(2, 4, 2, 0);
    EACH(tt_call(tt_grad(total_of_map), x), x, cos(X));
    EACH(tt_call(tt_pmap(tt_vmap(tt_grad(number_cube))), x), x, 3 * X * X);
    float got[ROOM];
    read_all(tt_call(tt_grad(total_of_means), x), got);
    CHECK(near(got[0], 0.375) && near(got[1], 0.5) && near(got[6], 0.375));
    CHECK_SAID("");
    tt rows = ramp(3, 3, 4, 2);
    tt y = tt_call(tt_vmap(tt_pmap(minus_mean, .axis_name = "i")), rows);
    CHECK(IS_SHAPE(y, 3, 4, 2));
    read_all(y, got);
    CHECK(near(got[0], -0.75) && near(got[6], 0.75) && near(got[8], -0.75));
}

static tt block_product(tt a, tt b)
{
    return tt_psum(tt_matmul(a, b), "y");
}
static tt plain_product(tt a, tt b)
{
    return tt_matmul(a, b);
}
static tt place(tt x)
{
    return tt_add(tt_mul(x, 0), tt_add(tt_mul(10, tt_axis_index("x")), tt_axis_index("y")));
}

static void test_shard_map(void)
{
    tt_mesh mesh = tt_mesh_of({ "x", 2 }, { "y", 2 });
    tt a = ramp(2, 4, 6, 0), b = ramp(2, 6, 2, 0);
    tt_fn f =
        tt_shard_map(block_product, .mesh = mesh, .in_specs = { TT_P("x", "y"), TT_P("y", NULL) },
                     .out_spec = TT_P("x", NULL));
    float got[ROOM], want[ROOM];
    int64_t n = read_all(tt_call(f, a, b), got), m = read_all(tt_call(plain_product, a, b), want);
    CHECK(n == 8 && m == 8);
    for (int64_t i = 0; i < n && i < m; i++)
        CHECK(near(got[i], want[i]));
    tt_fn where = tt_shard_map(place, .mesh = mesh, .in_specs = { TT_P("x", "y") },
                               .out_spec = TT_P("x", "y"));
    read_all(tt_call(where, tt_zeros(TT_F32, 2, 2)), got);
    CHECK(got[0] == 0 && got[1] == 1 && got[2] == 10 && got[3] == 11);
    CHECK_SAID("");
}

static tt total(tt x)
{
    return tt_psum(tt_sum(x), "x");
}
static tt descend(tt i, tt w, tt x)
{
    (void)i;
    return tt_sub(w, tt_mul(0.1, tt_call(tt_jit(total), tt_mul(w, x))));
}
static tt descended(tt x)
{
    return tt_fori(3, descend, tt_ones(TT_F32), x);
}
static tt chosen(tt x)
{
    return tt_cond(tt_greater(total(x), 0), number_cube, cube, tt_pmax(tt_amax(x), "x"));
}
static tt gathered(tt x)
{
    return tt_pbroadcast(tt_all_gather(x, "x", .tiled = true), "x", 1);
}

/* What all devices have alike needs no .out_spec, whichever way they came to it. */
static void test_shard_map_alike(void)
{
    tt_mesh mesh = tt_mesh_of({ "x", 2 }, { "y", 2 });
    tt x = ramp(1, 4, 0, 0); /* adds up to s */
    double s = tt_item(tt_sum(x)), most = tt_item(tt_amax(x));
#define ALIKE(f) tt_call(tt_shard_map(f, .mesh = mesh, .in_specs = { TT_P("x") }), x)
    CHECK(near(tt_item(ALIKE(total)), s));
    CHECK(near(tt_item(ALIKE(descended)), pow(1 - 0.1 * s, 3)));
    CHECK(near(tt_item(ALIKE(chosen)), most * most * most));
    EACH(ALIKE(gathered), x, X);
#undef ALIKE
    CHECK_SAID("");
}

/* ---- donation ---- */

static void test_donation(void)
{
    tt x = tt_add(ramp(2, 4, 2, 0), 0), shared = tt_add(ramp(2, 4, 2, 0), 0);
    tt again = tt_keep(shared);
    EACH(tt_call(tt_jit(cube, .donate = 1), x), ramp(2, 4, 2, 0), X * X * X);
    tt_print(x);
    CHECK(strstr(front_said(), "was donated to an earlier call") != NULL);
    EACH(tt_call(tt_jit(cube, .donate = 1), shared), ramp(2, 4, 2, 0), X * X * X);
    EACH(again, ramp(2, 4, 2, 0), X);
    tt spread = tt_call(tt_pmap(one), ramp(2, 4, 2, 0));
    EACH(tt_call(tt_pmap(cube, .donate = 1), spread), ramp(2, 4, 2, 0), 1 + 0 * X);
    tt_print(spread);
    CHECK(strstr(front_said(), "was donated to an earlier call") != NULL);
}

/* ---- forward mode, and derivatives of derivatives ---- */

typedef struct {
    Two value, tangent;
} TwoWithTangent;
typedef struct {
    tt value, tangent;
} WithTangent;

static tt energy(tt x, tt w)
{
    return tt_sum(tt_mul(w, tt_sin(tt_mul(x, x))));
}
/* Of one number: sin(w x^2). */
static tt bump(tt x, tt w)
{
    return tt_sin(tt_mul(w, tt_mul(x, x)));
}
static Two two_of(tt x, tt y)
{
    return (Two){ tt_mul(x, y), tt_argmax(x, 0) };
}
TT_FUN(Two, two_of, tt, tt);

static void test_jvp(void)
{
    tt x = ramp(1, 5, 0, 0), w = tt_add(x, 1), v = tt_sub(2, x);
    WithTangent r = tt_call_as(WithTangent, tt_jvp(cube), x, v);
    EACH(r.value, x, X * X * X);
    EACH(r.tangent, x, 3 * X * X * (2 - X));
    r = tt_call_as(WithTangent, tt_jvp(product, .wrt = 2), x, w, v);
    EACH(r.tangent, x, X * (2 - X));
    r = tt_call_as(WithTangent, tt_jvp(product, .wrt = 3), x, w, v, v);
    EACH(r.tangent, x, (X + X + 1) * (2 - X));
    TwoWithTangent t = tt_call_as(TwoWithTangent, tt_jvp(two_of), x, w, v);
    EACH(t.tangent.a, x, (X + 1) * (2 - X));
    CHECK(tt_item(t.value.b) == 4 && tt_item(t.tangent.b) == 0 && tt_type(t.tangent.b) == TT_I32);
    Two both = { x, w };
    r = tt_call_as(WithTangent, tt_jvp(of_two), both, both);
    CHECK(near(tt_item(r.value), tt_item(tt_call(of_two, both))));
    r = tt_call_as(WithTangent, tt_jvp(tt_vmap(bump)), x, w, v);
    EACH(r.tangent, x, 2 * (X + 1) * X * cos((X + 1) * X * X) * (2 - X));
    r = tt_call_as(WithTangent, tt_vmap(tt_jvp(bump)), x, w, v);
    EACH(r.tangent, x, 2 * (X + 1) * X * cos((X + 1) * X * X) * (2 - X));
    r = tt_call_as(WithTangent, tt_pmap(tt_jvp(cube)), ramp(1, 4, 0, 0), ramp(1, 4, 0, 0));
    EACH(r.tangent, ramp(1, 4, 0, 0), 3 * X * X * X);
}

#define SECOND (2 * (X + 1) * cos(X * X) - 4 * (X + 1) * X * X * sin(X * X))

static tt slope(tt x, tt w)
{
    return tt_sum(tt_call(tt_grad(energy), x, w));
}

static void test_second(void)
{
    tt x = ramp(1, 5, 0, 0), w = tt_add(x, 1), v = tt_sub(2, x);
    EACH(tt_call(tt_grad(slope), x, w), x, SECOND);
    WithTangent r = tt_call_as(WithTangent, tt_jvp(tt_grad(energy)), x, w, v);
    EACH(r.value, x, 2 * (X + 1) * X * cos(X * X));
    EACH(r.tangent, x, SECOND * (2 - X));
    /* By x twice: the arguments are x, w, dx, and then the second dx. */
    TwoWithTangent t = tt_call_as(TwoWithTangent, tt_vmap(tt_jvp(tt_jvp(bump))), x, w,
                                  tt_ones(TT_F32, 5), tt_ones(TT_F32, 5));
    EACH(t.tangent.b, x,
         2 * (X + 1) * cos((X + 1) * X * X) - 4 * (X + 1) * (X + 1) * X * X * sin((X + 1) * X * X));
}

static const char turns_text[] =
    "func.func @main(%x: tensor<f32>) -> tensor<f32> {\n"
    "  %z = stablehlo.constant dense<0> : tensor<i32>\n"
    "  %r:2 = stablehlo.while(%i = %z, %v = %x) : tensor<i32>, tensor<f32>\n"
    "  cond {\n"
    "    %n = stablehlo.constant dense<3> : tensor<i32>\n"
    "    %c = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
    "    stablehlo.return %c : tensor<i1>\n"
    "  } do {\n"
    "    %o = stablehlo.constant dense<1> : tensor<i32>\n"
    "    %k = stablehlo.add %i, %o : tensor<i32>\n"
    "    %m = stablehlo.multiply %v, %v : tensor<f32>\n"
    "    stablehlo.return %k, %m : tensor<i32>, tensor<f32>\n  }\n"
    "  return %r#1 : tensor<f32>\n}\n";

static const char endless_text[] =
    "func.func @main(%x: tensor<f32>) -> tensor<f32> {\n"
    "  %z = stablehlo.constant dense<-9223372036854775808> : tensor<i64>\n"
    "  %r:2 = stablehlo.while(%i = %z, %v = %x) : tensor<i64>, tensor<f32>\n"
    "  cond {\n"
    "    %n = stablehlo.constant dense<9223372036854775807> : tensor<i64>\n"
    "    %c = stablehlo.compare LE, %i, %n : (tensor<i64>, tensor<i64>) -> tensor<i1>\n"
    "    stablehlo.return %c : tensor<i1>\n"
    "  } do {\n"
    "    %o = stablehlo.constant dense<1> : tensor<i64>\n"
    "    %k = stablehlo.add %i, %o : tensor<i64>\n"
    "    %m = stablehlo.multiply %v, %v : tensor<f32>\n"
    "    stablehlo.return %k, %m : tensor<i64>, tensor<f32>\n  }\n"
    "  return %r#1 : tensor<f32>\n}\n";

/* x^8 by a loop: backwards, forwards over backwards, backwards twice, over rows. */
static void test_second_through_loop(void)
{
    tt_fn f = front_load(turns_text), d = tt_grad(f), dd = tt_grad(d);
    tt x = tt_add(ramp(1, 4, 0, 0), 0.5), one_ = tt_ones(TT_F32), at = tt_index(x, 2);
    EACH(tt_call(tt_vmap(d), x), x, 8 * pow(X, 7));
    EACH(tt_call(tt_vmap(dd), x), x, 56 * pow(X, 6));
    EACH(tt_call(tt_vmap(tt_grad(dd)), x), x, 336 * pow(X, 5));
    WithTangent r = tt_call_as(WithTangent, tt_jvp(d), at, one_);
    CHECK(near(tt_item(r.value), 8) && near(tt_item(r.tangent), 56));
    CHECK_SAID("");
}

/* Its turns are too many to be counted. */
static void test_endless_loop(void)
{
    tt_call(tt_grad(front_load(endless_text)), tt_ones(TT_F32));
    CHECK(strstr(front_said(), "the gradient through a loop whose number of iterations") != NULL);
}

static void test_jvp_misuse(void)
{
    tt x = ramp(1, 5, 0, 0), n = tt_arange(TT_I32, 5);
    tt_call_as(WithTangent, tt_jvp(cube), x);
    CHECK(strstr(front_said(), "jvp(cube) takes 2 arguments, not 1") != NULL);
    tt_call_as(WithTangent, tt_jvp(cube), x, ramp(1, 4, 0, 0));
    CHECK(strstr(front_said(), "jvp(cube): the tangent of argument 0, f32[5] is f32[4]; it must be "
                               "of the same type") != NULL);
    tt_call_as(WithTangent, tt_jvp(cube), n, n);
    CHECK(strstr(front_said(), "jvp(cube): argument 0, i32[5] has no tangent: only floats do") !=
          NULL);
    tt_call_as(WithTangent, tt_jvp(front_load(turns_text)), tt_index(x, 0));
    CHECK(strstr(front_said(), "1 arguments: those of the function, then a tangent") != NULL);
}

/* ---- programs from files ---- */

static const char loaded_text[] =
    "module {\n"
    "  func.func private @inner(%x: tensor<3xf32>) -> tensor<3xf32> {\n"
    "    %y = stablehlo.sine %x : tensor<3xf32>\n"
    "    return %y : tensor<3xf32>\n  }\n"
    "  func.func public @main(%x: tensor<3xf32>, %w: tensor<3xf32>) -> (tensor<f32>) {\n"
    "    %y = func.call @inner(%x) : (tensor<3xf32>) -> tensor<3xf32>\n"
    "    %m = stablehlo.multiply %y, %w : tensor<3xf32>\n"
    "    %z = stablehlo.constant dense<0.0> : tensor<f32>\n"
    "    %s = stablehlo.reduce(%m init: %z) applies stablehlo.add across dimensions = [0] : "
    "(tensor<3xf32>, tensor<f32>) -> tensor<f32>\n"
    "    return %s : tensor<f32>\n  }\n}\n";

static const char scaled_text[] = "func.func @main(%x: tensor<3xf32>, %a: tensor<f32>, "
                                  "%n: tensor<i32>) -> tensor<3xf32> {\n"
                                  "  %c = stablehlo.convert %n : (tensor<i32>) -> tensor<f32>\n"
                                  "  %s = stablehlo.multiply %a, %c : tensor<f32>\n"
                                  "  %b = stablehlo.broadcast_in_dim %s, dims = [] : "
                                  "(tensor<f32>) -> tensor<3xf32>\n"
                                  "  %y = stablehlo.multiply %x, %b : tensor<3xf32>\n"
                                  "  return %y : tensor<3xf32>\n"
                                  "}\n";

/* A number has the type that the program wants, an integer that of floats too. */
static void test_numbers_for_loaded(void)
{
    tt_fn f = front_load(scaled_text);
    tt x = ramp(1, 3, 0, 0), rows = ramp(2, 4, 3, 0);
    EACH(tt_call(f, x, tt_scalar(1.5), tt_integer(2)), x, 3 * X);
    EACH(tt_call(tt_jit(f), x, tt_integer(3), tt_integer(2)), x, 6 * X);
    EACH(tt_call(tt_pmap(f, .in_axes = { 0, TT_NONE, TT_NONE }), rows, tt_scalar(0.5),
                 tt_integer(2)),
         rows, X);
    CHECK_SAID("");
    tt_call(f, x, tt_scalar(1.5), tt_scalar(2.5));
    CHECK(strstr(front_said(), "argument 2 is f32[], and must be i32[]") != NULL);
}

static void test_loaded(void)
{
    tt_fn f = front_load(loaded_text);
    tt x = ramp(1, 3, 0, 0), w = tt_add(x, 1);
    CHECK(near(tt_item(tt_call(f, x, w)), 1.25 * sin(0.25) + 1.5 * sin(0.5)));
    EACH(tt_call(tt_grad(f), x, w), x, (X + 1) * cos(X));
    EACH(tt_call(tt_grad(f, .wrt = 2), x, w), x, sin(X));
    CHECK(IS_SHAPE(tt_call(tt_vmap(f, .in_axes = { 0, TT_NONE }), ramp(2, 5, 3, 0), w), 5));
    CHECK(IS_SHAPE(tt_call(tt_pmap(tt_grad(f), .in_axes = { 0, TT_NONE }), ramp(2, 4, 3, 0), w), 4,
                   3));
    CHECK_SAID("");
    tt_call(f, x);
    CHECK(strstr(front_said(), "takes 2 arrays, not 1") != NULL);
    tt_call(f, x, ramp(1, 4, 0, 0));
    CHECK(strstr(front_said(), "argument 1 is f32[4], and must be f32[3]") != NULL);
}

/* A function that only the caller knows: it is called for one row after the other; its derivative is not known. */
static const char custom_text[] =
    "func.func @main(%x: tensor<2x2xf32>) -> tensor<f32> {\n"
    "  %f:3 = stablehlo.custom_call @lapack_sgetrf_ffi(%x) {mhlo.backend_config = {}, "
    "operand_layouts = [dense<[0, 1]> : tensor<2xindex>], result_layouts = [dense<[0, 1]> : "
    "tensor<2xindex>, dense<0> : tensor<1xindex>, dense<> : tensor<0xindex>]} : "
    "(tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<2xi32>, tensor<i32>)\n"
    "  %z = stablehlo.constant dense<0.0> : tensor<f32>\n"
    "  %s = stablehlo.reduce(%f#0 init: %z) applies stablehlo.add across dimensions = [0, 1] : "
    "(tensor<2x2xf32>, tensor<f32>) -> tensor<f32>\n"
    "  return %s : tensor<f32>\n}\n";

/* What JAX calls LAPACK for and StableHLO has too. */
static const char potrf_text[] =
    "func.func @main(%x: tensor<2x2xf32>) -> tensor<f32> {\n"
    "  %f:2 = stablehlo.custom_call @lapack_spotrf_ffi(%x) {mhlo.backend_config = {uplo = 76 : "
    "ui8}, "
    "operand_layouts = [dense<[0, 1]> : tensor<2xindex>], result_layouts = [dense<[0, 1]> : "
    "tensor<2xindex>, dense<> : tensor<0xindex>]} : (tensor<2x2xf32>) -> "
    "(tensor<2x2xf32>, tensor<i32>)\n"
    "  %m = stablehlo.constant dense<[[1.0, 0.0], [1.0, 1.0]]> : tensor<2x2xf32>\n"
    "  %l = stablehlo.multiply %f#0, %m : tensor<2x2xf32>\n"
    "  %z = stablehlo.constant dense<0.0> : tensor<f32>\n"
    "  %s = stablehlo.reduce(%l init: %z) applies stablehlo.add across dimensions = [0, 1] : "
    "(tensor<2x2xf32>, tensor<f32>) -> tensor<f32>\n"
    "  return %s : tensor<f32>\n}\n";
/* x a^T = b */
static const char trsm_text[] =
    "func.func @main(%a: tensor<1x1xf32>, %b: tensor<1x1xf32>) -> tensor<f32> {\n"
    "  %x = stablehlo.custom_call @lapack_strsm_ffi(%a, %b) {mhlo.backend_config = {diag = 78 : "
    "ui8, "
    "side = 82 : ui8, trans_x = 84 : ui8, uplo = 85 : ui8}, operand_layouts = [dense<[0, 1]> : "
    "tensor<2xindex>, dense<[0, 1]> : tensor<2xindex>], result_layouts = [dense<[0, 1]> : "
    "tensor<2xindex>]} : (tensor<1x1xf32>, tensor<1x1xf32>) -> tensor<1x1xf32>\n"
    "  %r = stablehlo.reshape %x : (tensor<1x1xf32>) -> tensor<f32>\n"
    "  return %r : tensor<f32>\n}\n";

static void test_lapack(void)
{
    static const float matrix[] = { 4, 2, 2, 3 }; /* L = 2; 1, sqrt 2 */
    float g[4];
    read_all(tt_call(tt_grad(front_load(potrf_text)), tt_from(matrix, 2, 2)), g);
    CHECK(near(g[0], 0.125 + 0.125 / sqrt(2)) && near(g[1], 0));
    CHECK(near(g[2], 0.5 - 0.5 / sqrt(2)) && near(g[3], 0.5 / sqrt(2)));
    tt a = tt_full(TT_F32, 2, 1, 1), b = tt_full(TT_F32, 3, 1, 1);
    Two d = tt_call_as(Two, tt_grad(front_load(trsm_text), .wrt = 3), a, b);
    CHECK(near(tt_item(d.a), -0.75) && near(tt_item(d.b), 0.5));
    CHECK_SAID("");
}

static void test_custom_call(void)
{
    tt_fn f = front_load(custom_text);
    tt x = tt_add(ramp(3, 3, 2, 2), 1); /* [[a, a + 1/4], [a + 1/2, a + 3/4]] */
    float got[3];
    read_all(tt_call(tt_vmap(f), x), got);
    for (int i = 0; i < 3; i++) {
        double a = 1 + i, ratio = a / (a + 0.5); /* the second row is the pivot */
        CHECK(near(got[i], (a + 0.5) + (a + 0.75) + ratio + (a + 0.25 - ratio * (a + 0.75))));
    }
    CHECK_SAID("");
    tt_call(tt_grad(f), tt_index(x, 0));
    CHECK(strstr(front_said(), "the derivative of custom_call @lapack_sgetrf_ffi") != NULL);
}

/* ---- random numbers under maps ---- */

static tt draw(tt key)
{
    return tt_normal(key, TT_F32, 5);
}
static tt draw_here(tt key)
{
    return tt_uniform(tt_fold_in(key, tt_axis_index("i")), TT_F32, 3);
}

static void test_random(void)
{
    tt keys = tt_split(tt_key(3), 4);
    float all[ROOM], on_devices[ROOM], alone[ROOM];
    read_all(tt_call(tt_vmap(draw), keys), all);
    read_all(tt_call(tt_pmap(draw), keys), on_devices);
    read_all(tt_call(draw, tt_index(keys, 2)), alone);
    CHECK(memcmp(all, on_devices, sizeof *all * 20) == 0);
    CHECK(memcmp(all + 10, alone, sizeof *alone * 5) == 0);
    tt key = tt_key(9);
    tt_fn f = tt_pmap(draw_here, .axis_name = "i", .in_axes = { TT_NONE }, .axis_size = 4);
    read_all(tt_call(f, key), all);
    read_all(tt_uniform(tt_fold_in(key, 3), TT_F32, 3), alone);
    CHECK(memcmp(all + 9, alone, sizeof *alone * 3) == 0);
    for (int i = 0; i < 3; i++) {
        TT_SCOPE;
        tt k = tt_next_key(&key);
        read_all(k, i ? alone : all);
    }
    CHECK(memcmp(all, alone, sizeof *all * 2) != 0);
    CHECK_SAID("");
}

/* ---- a function at a point ---- */

static int ncalls;
static tt turn_mul(tt i, tt x, tt y)
{
    (void)i;
    return tt_mul(x, y);
}
static Two bend_by_turns(Two p, tt n)
{
    ncalls++;
    tt h = tt_fori(3, turn_mul, tt_sin(p.a), tt_cos(p.b));
    return (Two){ tt_mul(h, tt_sum(p.a)), tt_add(n, 1) };
}
TT_FUN(Two, bend_by_turns, Two, tt);
typedef struct {
    Two y, dy;
} TwoAndTangent;

static tt along_inside(tt x, tt dx)
{
    tt_linear lin;
    tt y = tt_linearize(&lin, cube, x);
    return tt_add(y, tt_call(lin.along, lin.kept, dx));
}

static void test_linearize(void)
{
    tt a = ramp(1, 4, 0, 0), b = tt_add(a, 1), n = tt_full(TT_I32, 2);
    Two at = { a, b }, direction = { tt_sin(b), tt_cos(a) };
    tt_linear lin;
    Two y = tt_linearize_as(Two, &lin, bend_by_turns, at, n);
    Two dy = tt_call_as(Two, lin.along, lin.kept, direction, n);
    TwoAndTangent both =
        tt_call_as(TwoAndTangent, tt_jvp(bend_by_turns, .wrt = 1), at, n, direction);
    EACH(y.a, both.y.a, X);
    EACH(dy.a, both.dy.a, X);
    CHECK(tt_item(y.b) == 3);
    /* Directions come one after the other, and many at once. */
    ncalls = 0;
    dy = tt_call_as(Two, lin.along, lin.kept, at, n);
    CHECK(ncalls == 0);
    tt x = ramp(1, 3, 0, 0);
    EACH(tt_call(along_inside, x, tt_mul(x, 2)), x, X * X * X + 3 * X * X * 2 * X);
    tt_linearize(&lin, cube, x);
    tt rows = tt_call(tt_vmap(lin.along, .in_axes = { TT_NONE, 0 }), lin.kept, tt_eye(TT_F32, 3));
    EACH(tt_diag(rows), x, 3 * X * X);
    tt_call(lin.along, lin.kept, tt_ones(TT_F32, 2));
    CHECK(strstr(front_said(),
                 "the tangent of argument 0, f32[3] is f32[2]; it must be of the same type"));
    tt_call(lin.along, x, x);
    CHECK(strstr(front_said(), "what is given is not what tt_linearize kept"));
}

int main(void)
{
    front_start(4);
    test_plain();
    test_grad();
    test_constant_parts();
    test_vmap();
    test_captured();
    test_lower();
    test_pmap();
    test_pmap_transformed();
    test_shard_map();
    test_shard_map_alike();
    test_donation();
    test_jvp();
    test_second();
    test_second_through_loop();
    test_jvp_misuse();
    test_endless_loop();
    test_loaded();
    test_numbers_for_loaded();
    test_custom_call();
    test_lapack();
    test_random();
    test_linearize();
    return check_done();
}
