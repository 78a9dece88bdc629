/* open_test.c - programs that JAX exported with a symbolic batch, called, mapped and differentiated.
 *
 * tests/jax/open_NAME.mlir and .mlirbc are such programs, and open_expected.txt is what JAX computes
 * for two sets of sizes (python/tests/open_programs.py --write wrote them).  Run from the root of
 * the repository. */
#include "tests/front.h"

#include <math.h>
#include <string.h>

enum { MOST = 4096, MOST_ARGS = 3 };

/* As open_programs.py fills them. */
static tt argument(int which, const tt_dims *dims)
{
    static float at[MOST];
    int64_t n = 1;
    for (int i = 0; i < dims->n; i++)
        n *= dims->v[i];
    for (int64_t i = 0; i < n; i++)
        at[i] = (float)sin(0.7 * (double)i + which);
    return (tt_from)(TT_F32, at, sizeof at, dims);
}

static int64_t read_all(tt x, float *out)
{
    tt_dims d = tt_shape(x);
    int64_t n = 1;
    for (int i = 0; i < d.n; i++)
        n *= d.v[i];
    return tt_read(x, out, sizeof *out * (size_t)n) ? n : -1;
}

static tt first_result(tt_fn f, int n, const tt *args, int nresults)
{
    tt_tree trees[MOST_ARGS];
    for (int i = 0; i < n; i++)
        trees[i] = (tt_tree){ &args[i], 1 };
    return tt_call_n(f, trees, n, nresults)[0];
}

/* One line of the file: name, arguments, their ranks and extents, how many numbers, numbers. */
static bool check_line(FILE *file, const char *form)
{
    static float got[MOST];
    char name[32], path[96];
    int nargs, n;
    tt args[MOST_ARGS];
    if (fscanf(file, "%31s %d", name, &nargs) != 2)
        return false;
    for (int i = 0; i < nargs; i++) {
        tt_dims dims = { 0 };
        CHECK(fscanf(file, "%d", &dims.n) == 1);
        for (int d = 0; d < dims.n; d++)
            CHECK(fscanf(file, "%ld", &dims.v[d]) == 1);
        args[i] = argument(i, &dims);
    }
    CHECK(fscanf(file, "%d", &n) == 1);
    snprintf(path, sizeof path, "tests/jax/open_%s.%s", name, form);
    int nresults = !strcmp(name, "mlp") || !strcmp(name, "scan") ? 2 : 1;
    CHECK(read_all(first_result(tt_load(path), nargs, args, nresults), got) == n);
    CHECK_SAID("");
    for (int i = 0; i < n; i++) {
        float want = NAN;
        CHECK(fscanf(file, "%f", &want) == 1);
        CHECK(fabsf(got[i] - want) <= 2e-5f * fmaxf(1, fabsf(want)));
    }
    return true;
}

static void test_against_jax(const char *form)
{
    FILE *file = fopen("tests/jax/open_expected.txt", "r");
    CHECK(file);
    int lines = 0;
    while (file && check_line(file, form))
        lines++;
    CHECK(lines == 8);
    fclose(file);
}

/* ---- transformed ---- */

static tt_fn attention;

static tt loss(tt q, tt k, tt v)
{
    tt y = tt_call(attention, q, k, v);
    return tt_sum(tt_mul(y, y));
}

static tt stack3(tt a, tt b, tt c)
{
    return tt_stack_n((tt[]){ a, b, c }, 3, 0);
}

static void check_equal(tt a, tt b, float within)
{
    static float x[MOST], y[MOST];
    int64_t n = read_all(a, x);
    CHECK(n == read_all(b, y) && n > 0);
    for (int64_t i = 0; i < n; i++)
        CHECK(fabsf(x[i] - y[i]) <= within * fmaxf(1, fabsf(y[i])));
}

/* A gradient times a direction is how the loss changes along it. */
static void check_gradient(tt_dims dims)
{
    tt q = argument(0, &dims), k = argument(1, &dims), v = argument(2, &dims);
    tt along = argument(5, &dims), step = tt_mul(along, 0.01);
    double slope = tt_item(tt_sum(tt_mul(tt_call(tt_grad(loss), q, k, v), along)));
    double up = tt_item(tt_call(loss, tt_add(q, step), k, v));
    double down = tt_item(tt_call(loss, tt_sub(q, step), k, v));
    CHECK(fabs(slope - (up - down) / 0.02) <= 2e-3 * fmax(1, fabs(slope)));
    CHECK_SAID("");
}

static void test_transformed(void)
{
    attention = tt_load("tests/jax/open_attention.mlirbc");
    check_gradient((tt_dims){ 3, { 2, 5, 4 } });
    check_gradient((tt_dims){ 3, { 3, 1, 4 } });
    tt_dims dims = { 3, { 2, 5, 4 } };
    tt x[] = { argument(0, &dims), argument(1, &dims), argument(2, &dims) };
    tt all = stack3(x[0], x[1], x[2]);
    tt alone[3];
    for (int i = 0; i < 3; i++)
        alone[i] = tt_call(attention, x[i], x[1], x[2]);
    tt want = stack3(alone[0], alone[1], alone[2]);
    check_equal(tt_call(tt_vmap(attention, .in_axes = { 0, TT_NONE, TT_NONE }), all, x[1], x[2]),
                want, 2e-5f);
    check_equal(tt_call(tt_pmap(attention, .in_axes = { 0, TT_NONE, TT_NONE }), all, x[1], x[2]),
                want, 2e-5f);
    CHECK_SAID("");
}

/* ---- tuples ---- */

static void test_tuples(void)
{
    tt in[] = { tt_full(TT_F32, 3), tt_ones(TT_F32, 2) };
    const tt *out = tt_call_n(tt_load("tests/front/tuple.mlir"), (tt_tree[]){ { in, 2 } }, 1, 2);
    CHECK(tt_item(out[0]) == 9);
    CHECK(tt_item(tt_sum(out[1])) == 2);
    CHECK_SAID("");
}

/* ---- refused ---- */

static void test_refused(void)
{
    tt_fn mlp = tt_load("tests/jax/open_mlp.mlir");
    tt w1 = tt_ones(TT_F32, 5, 7), w2 = tt_ones(TT_F32, 7, 3);
    first_result(mlp, 3, (tt[]){ w1, w2, tt_ones(TT_F32, 0, 5) }, 2);
    CHECK(strstr(front_said(),
                 "Expected value >= 1 for dimension variable 'b'. Using the following "
                 "polymorphic shapes specifications: args[2].shape = (b, 5). Obtained "
                 "dimension variables: 'b' = 0 from"));
    first_result(mlp, 3, (tt[]){ w1, w2, tt_ones(TT_F32, 2, 6) }, 2);
    CHECK(strstr(front_said(), "argument 2 is f32[2,6], and must be f32[?,5]"));
    tt_dims dims = { 3, { 2, 5, 4 } }, other = { 3, { 2, 6, 4 } };
    tt x = argument(0, &dims);
    tt_call(tt_load("tests/jax/open_attention.mlir"), x, x, argument(0, &other));
    CHECK(strstr(front_said(), "Found inconsistency between dimension size args[2].shape[1] (= 6) "
                               "and the specification 't' (= 5)"));
}

int main(void)
{
    front_start(3);
    test_against_jax("mlir");
    test_against_jax("mlirbc");
    test_transformed();
    test_tuples();
    test_refused();
    return check_done();
}
