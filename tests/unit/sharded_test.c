/* sharded_test.c - arrays that lie in pieces on several devices, through every public operation:
 * the values are those of the same arrays on one device, and results lie as XLA lays them. */
#include "front/value/array.h"
#include "front/value/value.h"
#include "tests/front.h"

#include <math.h>
#include <string.h>

/* ---- every operation, of two arrays f32[8,8] ---- */

#define COUNT(x) tt_astype(tt_abs(x), TT_I32)
/* clang-format off */
#define OPERATIONS                                                                                 \
    F(neg, tt_neg(a)) F(abs, tt_abs(a)) F(sign, tt_sign(a)) F(exp, tt_exp(a))                      \
    F(expm1, tt_expm1(a)) F(log, tt_log(tt_exp(a))) F(log1p, tt_log1p(tt_abs(a)))                  \
    F(tanh, tt_tanh(a)) F(sin, tt_sin(a)) F(cos, tt_cos(a)) F(tan, tt_tan(a))                      \
    F(sqrt, tt_sqrt(tt_abs(a))) F(rsqrt, tt_rsqrt(tt_exp(a))) F(square, tt_square(a))              \
    F(sigmoid, tt_sigmoid(a)) F(relu, tt_relu(a)) F(floor, tt_floor(a)) F(ceil, tt_ceil(a))        \
    F(round, tt_round(a)) F(not, tt_not(tt_less(a, 0))) F(isfinite, tt_isfinite(a))                \
    F(stop, tt_stop_gradient(a)) F(add, tt_add(a, b)) F(sub, tt_sub(a, b)) F(mul, tt_mul(a, b))    \
    F(div, tt_div(a, tt_exp(b))) F(mod, tt_mod(a, tt_exp(b))) F(pow, tt_pow(tt_abs(a), 2))         \
    F(max, tt_max(a, b)) F(min, tt_min(a, b)) F(atan2, tt_atan2(a, b))                             \
    F(and, tt_and(COUNT(a), COUNT(b))) F(or, tt_or(COUNT(a), COUNT(b)))                            \
    F(xor, tt_xor(COUNT(a), COUNT(b))) F(equal, tt_equal(a, b)) F(not_equal, tt_not_equal(a, b))   \
    F(less, tt_less(a, b)) F(less_equal, tt_less_equal(a, b)) F(greater, tt_greater(a, b))         \
    F(greater_equal, tt_greater_equal(a, b)) F(where, tt_where(tt_less(a, b), a, 2))               \
    F(clip, tt_clip(a, b, 1)) F(matmul, tt_matmul(a, b))                                           \
    F(matmul_t, tt_matmul(tt_transpose(a), b)) F(astype, tt_astype(a, TT_I16))                     \
    F(sum, tt_sum(a)) F(sum_0, tt_sum(a, 0)) F(sum_1, tt_sum(a, 1)) F(mean, tt_mean(a, 1))         \
    F(prod, tt_prod(tt_sin(a), 0)) F(amax, tt_amax(a)) F(amin, tt_amin(a, 0))                      \
    F(logsumexp, tt_logsumexp(a, 1)) F(softmax, tt_softmax(a)) F(lsm, tt_log_softmax(a, 0))        \
    F(argmax_0, tt_argmax(a, 0)) F(argmax_1, tt_argmax(a, 1)) F(reshape, tt_reshape(a, 4, 16))     \
    F(flat, tt_reshape(a, 64)) F(split, tt_reshape(a, 2, 4, 8)) F(transpose, tt_transpose(a))      \
    F(broadcast, tt_broadcast(a, 3, 8, 8)) F(index, tt_index(a, 3)) F(item, tt_index(a, 3, 2))     \
    F(slice_0, tt_slice(a, 0, 1, 6)) F(slice_1, tt_slice(a, 1, 2, 8))                              \
    F(take_0, tt_take(a, COUNT(b), 0)) F(take_1, tt_take(a, tt_index(COUNT(b), 0), 1))             \
    F(concat_0, tt_concat(0, a, b)) F(concat_1, tt_concat(1, a, b)) F(stack, tt_stack(2, a, b))    \
    F(one_hot, tt_one_hot(COUNT(a), 4, TT_F32))                                                   \
    F(uniform, tt_uniform(tt_fold_in(tt_key(1), tt_sum(COUNT(a))), TT_F32, 4))
/* clang-format on */

#define F(name, what)                                                                              \
    static tt op_##name(tt a, tt b)                                                                \
    {                                                                                              \
        (void)b;                                                                                   \
        return what;                                                                               \
    }
OPERATIONS
#undef F

static const struct {
    const char *name;
    tt (*f)(tt, tt);
} operations[] = {
#define F(name, what) { #name, op_##name },
    OPERATIONS
#undef F
};

enum { NOPERATIONS = sizeof operations / sizeof *operations, ROOM = 1024 };

static tt numbers(int step, int64_t rows, int64_t columns)
{
    float x[64];
    for (int k = 0; k < 64; k++)
        x[k] = (float)(k * step % 23 - 11) / 8;
    return (tt_from)(TT_F32, x, sizeof x, &(tt_dims){ 2, { rows, columns } });
}

static int read_all(tt x, float *out)
{
    tt_dims shape = tt_shape(x);
    size_t n = 1;
    for (int i = 0; i < shape.n; i++)
        n *= (size_t)shape.v[i];
    return n <= ROOM && tt_read(tt_astype(x, TT_F32), out, sizeof *out * n) ? (int)n : -1;
}

static void compare(const char *name, const char *how, tt got, tt want)
{
    static float x[ROOM], y[ROOM];
    int n = read_all(want, y);
    bool same = n >= 0 && read_all(got, x) == n;
    for (int i = 0; same && i < n; i++)
        same = fabsf(x[i] - y[i]) <= 1e-5f * fmaxf(1, fabsf(y[i]));
    if (!same) {
        printf("%s %s: not as on one device %s\n", name, how, front_said());
        check_failures++;
    }
}

enum { NPLACES = 9 };

static tt place(tt x, int where)
{
    tt_mesh four = tt_mesh_of({ "x", 2 }, { "y", 2 }), eight = tt_mesh_of({ "x", 4 }, { "y", 2 });
    switch (where) {
    case 0: return tt_place(x, four, "x", "y");
    case 1: return tt_place(x, four, "y", "x");
    case 2: return tt_place(x, four, "x", NULL);
    case 3: return tt_place(x, four, NULL, "y");
    case 4: return tt_place(x, four, "x,y", NULL);
    case 5: return tt_place(x, four, NULL, "y,x");
    case 6: return tt_place(x, four, NULL, NULL);
    case 7: return tt_place(x, eight, "x", "y");
    default: return tt_place(x, eight, NULL, "y,x");
    }
}

static void test_operation(int k)
{
    TT_SCOPE;
    tt a = numbers(37, 8, 8), b = numbers(29, 8, 8);
    tt want = operations[k].f(a, b);
    for (int i = 0; i < NPLACES; i++) {
        char how[64];
        tt x = place(a, i), y = place(b, i), z = place(b, (i + 4) % NPLACES);
        snprintf(how, sizeof how, "of arrays placed as %d", i);
        compare(operations[k].name, how, operations[k].f(x, y), want);
        snprintf(how, sizeof how, "of arrays placed as %d and another, jit", i);
        compare(operations[k].name, how, tt_call(tt_jit(operations[k].f), x, z), want);
    }
}

/* ---- how results lie ---- */

/* Into how many pieces each axis is cut: "4,1"; "whole". */
static const char *pieces(tt x)
{
    static char text[64];
    Held held;
    strcpy(text, "broken");
    if (!value_pin(x, "a test", &held))
        return text;
    const Tiling *t = &held.array->layout->tiling;
    bool is_cut = false;
    char *at = text;
    for (int i = 0; i < t->rank; i++) {
        is_cut = is_cut || t->tiles[i] > 1;
        at += sprintf(at, "%s%d", i ? "," : "", (int)t->tiles[i]);
    }
    if (!is_cut)
        strcpy(text, "whole");
    value_unpin(x);
    return text;
}

static tt energy(tt x)
{
    return tt_sum(tt_mul(x, x));
}
static tt same(tt x)
{
    return x;
}

/* f32[4,6], a row on each of 4 devices; what JAX 0.10.2 says of each on XLA's CPU backend. */
static void test_layouts(void)
{
    TT_SCOPE;
    tt_mesh mesh = tt_mesh_of({ "i", 4 });
    tt y = tt_place(numbers(37, 4, 6), mesh, "i", NULL), w = numbers(29, 6, 5);
    CHECK_STR(pieces(tt_add(y, y)), "4,1");
    CHECK_STR(pieces(tt_mul(y, 2)), "4,1");
    CHECK_STR(pieces(tt_add(y, tt_index(tt_transpose(w), 0))), "4,1");
    CHECK_STR(pieces(tt_sin(y)), "4,1");
    CHECK_STR(pieces(tt_where(tt_less(y, 0), y, 1)), "4,1");
    CHECK_STR(pieces(tt_astype(y, TT_I32)), "4,1");
    CHECK_STR(pieces(tt_softmax(y)), "4,1");
    CHECK_STR(pieces(tt_call(tt_grad(energy), y)), "4,1");
    CHECK_STR(pieces(tt_call(tt_jit(same), y)), "4,1");
    CHECK_STR(pieces(tt_transpose(y)), "1,4");
    CHECK_STR(pieces(tt_stack(0, y, y)), "1,4,1");
    CHECK_STR(pieces(tt_broadcast(y, 2, 4, 6)), "1,4,1");
    CHECK_STR(pieces(tt_sum(y, 1)), "4");
    CHECK_STR(pieces(tt_argmax(y, 1)), "4");
    CHECK_STR(pieces(tt_slice(y, 1, 1, 3)), "4,1");
    CHECK_STR(pieces(tt_sum(y)), "whole");
    CHECK_STR(pieces(tt_sum(y, 0)), "whole");
    CHECK_STR(pieces(tt_index(y, 0)), "whole");
    CHECK_STR(pieces(tt_slice(y, 0, 1, 3)), "whole");
    CHECK_STR(pieces(tt_matmul(tt_transpose(y), y)), "whole");
    CHECK_STR(pieces(tt_matmul(y, w)), "4,1");
    CHECK_STR(pieces(tt_matmul(y, tt_transpose(y))), "4,1");
    CHECK_STR(pieces(tt_matmul(tt_transpose(w), tt_transpose(y))), "1,4");
    CHECK_STR(pieces(tt_reshape(y, 24)), "4");
    CHECK_STR(pieces(tt_reshape(y, 4, 3, 2)), "4,1,1");
    CHECK_STR(pieces(tt_reshape(y, 2, 12)), "whole");
    CHECK_STR(pieces(tt_concat(0, y, y)), "4,1");
    CHECK_STR(pieces(tt_concat(1, y, y)), "4,1");
    tt rows = tt_place(numbers(37, 8, 8), mesh, "i", NULL); /* two on each */
    tt columns = tt_place(numbers(37, 8, 8), mesh, NULL, "i");
    tt some = tt_from(((int[]){ 3, 1, 0, 2 }), 4);
    tt images = tt_reshape(tt_place(numbers(37, 8, 8), mesh, "i", NULL), 8, 2, 2, 2);
    tt kernels = tt_reshape(tt_slice(numbers(29, 8, 8), 0, 0, 2), 2, 2, 2, 2);
    CHECK_STR(pieces(tt_slice(rows, 0, 0, 4)), "4,1");
    CHECK_STR(pieces(tt_slice(rows, 0, 1, 7)), "whole");
    CHECK_STR(pieces(tt_slice(rows, 1, 0, 4)), "4,1");
    CHECK_STR(pieces(tt_take(columns, some, 0)), "1,4");
    CHECK_STR(pieces(tt_take(rows, some, 0)), "whole");
    CHECK_STR(pieces(tt_take(rows, some, 1)), "4,1");
    CHECK_STR(pieces(tt_conv(images, kernels)), "4,1,1,1");
    CHECK_SAID("");
}

int main(void)
{
    front_start(8);
    for (int k = 0; k < NOPERATIONS; k++)
        test_operation(k);
    test_layouts();
    CHECK_SAID("");
    return check_done();
}
