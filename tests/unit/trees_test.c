/* trees_test.c - trees as arguments and results: mapped leaf by leaf, bare arrays, many arguments,
 * axes and specs by type; and a few numbers at the edges, where ours are JAX's. */
#include "tests/front.h"

#include <string.h>

typedef struct Three {
    tt a[3];
} Three;
typedef struct Both {
    Three sum, product;
} Both;
typedef struct Two {
    tt sum, product;
} Two;

/* The elements of x are these. */
#define IS(x, ...)                                                                                 \
    do {                                                                                           \
        const float wanted[] = { __VA_ARGS__ };                                                    \
        float got[sizeof wanted / sizeof *wanted];                                                 \
        CHECK(tt_read(x, got, sizeof got) && !memcmp(got, wanted, sizeof got));                    \
    } while (0)

static Two combine(tt x, tt y)
{
    return (Two){ tt_add(x, y), tt_mul(x, y) };
}
TT_FUN(Two, combine, tt, tt);

static void test_map(void)
{
    tt x = tt_arange(TT_F32, 2), two = tt_full(TT_F32, 2);
    Three t = { { x, tt_add(x, 1), tt_add(x, 2) } };
    Three scaled = tt_map(tt_mul, t, two);
    IS(scaled.a[2], 4, 6);
    Both both = tt_map_as(Both, combine, t, two);
    IS(both.sum.a[1], 3, 4);
    IS(both.product.a[2], 4, 6);
    Both swapped = tt_map_as(Both, combine, two, t);
    IS(swapped.product.a[1], 2, 4);
    Two one = tt_map_as(Two, combine, x, two);
    IS(one.sum, 2, 3);
    CHECK_SAID("");
    Two pair = { x, x };
    tt_map_as(Both, combine, t, pair);
    CHECK(strstr(front_said(), "tt_map(combine): tree 1 has 2 arrays, tree 0 has 3"));
    tt_map_as(Two, combine, t, t);
    CHECK(strstr(front_said(), "tt_map(combine): 2 arrays are wanted of 3 leaves"));
}

static tt total(Three t)
{
    return tt_add(tt_add(t.a[0], t.a[1]), t.a[2]);
}
TT_FUN(tt, total, Three);
static Three summed(Three t)
{
    tt_tree all = tt_psum(TT_TREE(t.a), "i");
    memcpy(t.a, all.leaf, sizeof t.a);
    return t;
}
TT_FUN(Three, summed, Three);

static void test_bare_arrays(void)
{
    tt x = tt_arange(TT_F32, 2), xs[3] = { x, x, tt_add(x, 1) };
    IS(tt_call(total, TT_TREE(xs)), 1, 4);
    tt_tree twice = tt_map(tt_mul, TT_TREE(xs), tt_full(TT_F32, 2));
    CHECK(twice.n == 3);
    IS(twice.leaf[2], 2, 4);
    Three all = tt_call_as(Three, tt_pmap(summed, .axis_name = "i"), TT_TREE(xs));
    IS(all.a[2], 3, 3);
}

static tt sum_of_16(tt a, tt b, tt c, tt d, tt e, tt f, tt g, tt h, tt i, tt j, tt k, tt l, tt m,
                    tt n, tt o, tt p)
{
    tt all[] = { a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p }, sum = tt_scalar(0);
    for (int q = 0; q < 16; q++)
        sum = tt_add(sum, tt_mul(all[q], q));
    return sum;
}
static tt trees_of_16(tt a, tt b, tt c, tt d, tt e, tt f, tt g, tt h, tt i, tt j, tt k, tt l, tt m,
                      tt n, tt o, Two p)
{
    return sum_of_16(a, b, c, d, e, f, g, h, i, j, k, l, m, n, p.product, o);
}
TT_FUN(tt, trees_of_16, tt, tt, tt, tt, tt, tt, tt, tt, tt, tt, tt, tt, tt, tt, tt, Two);

static void test_many_arguments(void)
{
    tt x = tt_full(TT_F32, 1), y = tt_full(TT_F32, 3);
    IS(tt_call(sum_of_16, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, y), 150);
    IS(tt_call(tt_grad(sum_of_16, .wrt = 1 << 15), x, x, x, x, x, x, x, x, x, x, x, x, x, x, x, x),
       15);
    IS(tt_call(tt_jit(trees_of_16), x, x, x, x, x, x, x, x, x, x, x, x, x, x, y, ((Two){ x, x })),
       150);
    tt_dims shape = tt_shape(tt_sum(tt_zeros(TT_F32, 1, 2, 1, 2, 1, 2, 1, 2, 1, 2, 1, 3), 0));
    CHECK(shape.n == 11 && shape.v[10] == 3);
}

static Both mixed(tt x, Three t)
{
    for (int i = 0; i < 3; i++)
        t.a[i] = tt_add(t.a[i], x);
    return (Both){ { { x, x, x } }, t };
}
TT_FUN(Both, mixed, tt, Three);
static Both meant(tt x, Three t)
{
    tt m = tt_pmean(x, "x");
    return (Both){ { { m, m, m } }, mixed(x, t).product };
}
TT_FUN(Both, meant, tt, Three);

static void test_by_type(void)
{
    tt x = tt_arange(TT_F32, 4), whole = tt_full(TT_F32, 10);
    Three t = { { whole, x, whole } };
    tt_axis_runs in =
        TT_EACH_AXIS(TT_RUN(tt, 0), TT_RUN(tt, TT_NONE), TT_RUN(tt, 0), TT_RUN(tt, TT_NONE));
    Both y = tt_call_as(Both, tt_vmap(mixed, .in = in), x, t);
    IS(y.product.a[0], 10, 11, 12, 13);
    IS(y.product.a[1], 0, 2, 4, 6);
    y = tt_call_as(Both, tt_pmap(mixed, .in = in, .out = TT_EACH_AXIS(TT_RUN(Both, 0))), x, t);
    IS(y.product.a[2], 10, 11, 12, 13);
    tt_mesh mesh = tt_mesh_of({ "x", 4 });
    y = tt_call_as(
        Both,
        tt_shard_map(meant, .mesh = mesh,
                     .in = TT_EACH_SPEC(TT_RUN(tt, TT_P("x")), TT_RUN(tt, TT_P(NULL)),
                                        TT_RUN(tt, TT_P("x")), TT_RUN(tt, TT_P(NULL))),
                     .out = TT_EACH_SPEC(TT_RUN(Three, TT_P(NULL)), TT_RUN(Three, TT_P("x")))),
        x, t);
    IS(y.sum.a[0], 1.5f);
    IS(y.product.a[1], 0, 2, 4, 6);
    CHECK_SAID("");
}

/* ---- cotangents ---- */

typedef struct Values {
    tt y, z;
} Values;
typedef struct Pulled {
    Values values;
    tt x, w;
} Pulled;

static Values products(tt x, tt w)
{
    return (Values){ tt_mul(x, w), tt_sum(tt_square(x)) };
}
TT_FUN(Values, products, tt, tt);

/* y = x w, z = sum x^2: pulled back, w y' + 2 x z' and x y'. */
static void test_vjp(void)
{
    const float xs[] = { 1, 2 }, ws[] = { 3, 5 }, cts[] = { 10, 100 };
    tt x = tt_from(xs, 2), w = tt_from(ws, 2);
    Values ct = { tt_from(cts, 2), tt_full(TT_F32, 2) };
    Pulled p = tt_call_as(Pulled, tt_vjp(products, .wrt = 3), x, w, ct);
    IS(p.values.y, 3, 10);
    IS(p.values.z, 5);
    IS(p.x, 34, 508);
    IS(p.w, 10, 200);
    CHECK_SAID("");
    tt_call_as(Pulled, tt_vjp(products, .wrt = 3), x, w, x);
    CHECK(strstr(front_said(), "vjp(products): 1 cotangents for 2 results"));
    tt_call_as(Pulled, tt_vjp(products, .wrt = 3), x, w, ((Values){ ct.z, ct.z }));
    CHECK(strstr(front_said(), "result 0 is f32[2], and its cotangent f32[]"));
}

/* ---- scans ---- */

static Values add_up(tt sum, tt x)
{
    sum = tt_add(tt_mul(2, sum), x);
    return (Values){ sum, sum };
}
TT_FUN(Values, add_up, tt, tt);
static Values count_up(tt i, tt sum, tt x)
{
    sum = tt_add(sum, tt_mul(x, i));
    return (Values){ sum, tt_mul(sum, 10) };
}
TT_FUN(Values, count_up, tt, tt, tt);
static tt last_of_back(tt rows)
{
    return tt_scan_back_as(Values, add_up, tt_full(TT_F32, 0), rows).y;
}
static tt last_of_steps(tt x)
{
    return tt_steps_as(Values, 4, count_up, tt_full(TT_F32, 0), x).y;
}

static void test_scans(void)
{
    tt rows = tt_add(tt_arange(TT_F32, 3), 1);
    Values back = tt_scan_back_as(Values, add_up, tt_full(TT_F32, 0), rows);
    IS(back.y, 17);
    IS(back.z, 17, 8, 3);
    IS(tt_call(tt_grad(last_of_back), rows), 1, 2, 4);
    Values steps = tt_steps_as(Values, 4, count_up, tt_full(TT_F32, 1), tt_full(TT_F32, 2));
    IS(steps.y, 13);
    IS(steps.z, 10, 30, 70, 130);
    IS(tt_call(tt_grad(last_of_steps), tt_full(TT_F32, 2)), 6);
    CHECK_SAID("");
}

static tt twice(tt x)
{
    return tt_mul(2, x);
}
static tt squared(tt x)
{
    return tt_square(x);
}
static tt negative(tt x)
{
    return tt_neg(x);
}
static tt whole(tt x)
{
    return tt_astype(x, TT_I32);
}
static tt one_of_three(tt i, tt x)
{
    tt_fn f[] = { tt_jit(twice), tt_jit(squared), tt_jit(negative) };
    return tt_switch(i, f, x);
}

static void test_switch(void)
{
    tt x = tt_full(TT_F32, 3);
    const float values[] = { 6, 6, 9, -3, -3 }, slopes[] = { 2, 2, 6, -1, -1 };
    for (int i = -1; i < 4; i++) {
        tt at = tt_full(TT_I32, i);
        CHECK(tt_item(tt_call(one_of_three, at, x)) == (double)values[i + 1]);
        CHECK(tt_item(tt_call(tt_grad(one_of_three, .wrt = 2), at, x)) == (double)slopes[i + 1]);
    }
    IS(tt_call(tt_vmap(one_of_three), tt_arange(TT_I32, 3), tt_full(TT_F32, 3, 3)), 6, 9, -3);
    CHECK_SAID("");
    tt_fn other[] = { tt_jit(twice), tt_jit(whole) };
    tt_switch(0, other, x);
    CHECK(strstr(front_said(), "branch 1, jit(whole), does not give what branch 0 gives"));
    tt_switch(x, other, x);
    CHECK(strstr(front_said(), "the index is f32[], and must be one integer"));
}

/* ---- edges ---- */

static tt read_sum(tt x, tt at)
{
    return tt_sum(tt_take(x, at, 0));
}
static tt absolute(tt x)
{
    return tt_abs(x);
}
static tt first_of(tt a, tt b)
{
    (void)b;
    return a;
}

/* JAX: x[jnp.array([9, 1, -1, -7])] of 4 elements reads 3, 1, 3, 0, and its gradient is 0 1 0 1. */
static void test_edges(void)
{
    const int32_t at[] = { 9, 1, -1, -7 };
    tt x = tt_arange(TT_F32, 4);
    IS(tt_get(x, tt_from(at, 4)), 3, 1, 3, 0);
    IS(tt_call(tt_grad(read_sum), x, tt_from(at, 4)), 0, 1, 0, 1);
    IS(tt_call(tt_grad(absolute), tt_full(TT_F32, 0)), 1);
    IS(tt_call(tt_grad(absolute), tt_full(TT_F32, -2)), -1);
    CHECK(tt_item(tt_mod(tt_full(TT_I32, 5), tt_full(TT_I32, 0))) == 0);
    CHECK(tt_item(tt_mod(tt_full(TT_I32, -5), tt_full(TT_I32, 3))) == 1);
    CHECK(tt_item(tt_mod(tt_full(TT_U8, 5), tt_full(TT_U8, 0))) == 0);
}

/* Arguments are evaluated in their order, whatever the compiler. */
static void test_order(void)
{
    tt key = tt_key(0), again = tt_key(0), first = tt_next_key(&again);
    tt got = tt_call(first_of, tt_next_key(&key), tt_next_key(&key));
    uint32_t a[2], b[2];
    CHECK(tt_read(first, a, sizeof a) && tt_read(got, b, sizeof b) && !memcmp(a, b, sizeof a));
}

/* ---- names ---- */

#define DENSE(F) F(tt, w) F(tt, b)
TT_STRUCT(Dense, DENSE);
#define NET(F) F(Dense, layer, [3]) F(tt, scale) F(Dense, last) F(tt, more, [2])
TT_STRUCT(Net, NET);

static tt run(Net net, tt x)
{
    return tt_add(tt_matmul(x, net.layer[1].w), net.scale);
}
TT_FUN(tt, run, Net, tt);

static void test_names(void)
{
    const char *const *names = TT_NAMES(Net);
    CHECK(TT_LEAVES(Net) == 11 && names == TT_NAMES(Net));
    CHECK_STR(names[0], "layer[0].w");
    CHECK_STR(names[3], "layer[1].b");
    CHECK_STR(names[6], "scale");
    CHECK_STR(names[8], "last.b");
    CHECK_STR(names[10], "more[1]");
    tt x = tt_ones(TT_F32, 2), m = tt_ones(TT_I32, 2, 2);
    Dense d = { m, x };
    Net net = { { d, d, d }, x, d, { x, x } };
    tt_call(tt_grad(run), net, x);
    CHECK(strstr(front_said(),
                 "grad(run): argument 0, layer[0].w, i32[2,2] is to be differentiated"));
    {
        TT_SCOPE;
        net.layer[2].b = tt_ones(TT_F32, 2);
    }
    tt_call(run, net, x);
    CHECK(strstr(front_said(), "argument 0, layer[2].b"));
}

/* All arrays of a tree together: their values are compared with JAX's by api_test. */
static void test_together(void)
{
    tt x = tt_arange(TT_F32, 2), y = tt_ones(TT_I32, 3, 2);
    Two t = { x, y };
    CHECK(tt_tree_size(t) == 8);
    Two back = tt_unravel(tt_ravel(t), t);
    CHECK(tt_type(back.product) == TT_I32 && tt_shape(back.product).v[0] == 3);
    CHECK_SAID("");
    tt_unravel(x, t);
    CHECK(strstr(front_said(),
                 "tt_unravel: a vector of 8 elements is cut into the tree's arrays; it is "
                 "f32[2]"));
    tt_tree_dot(t, x);
    CHECK(strstr(front_said(), "tt_tree_dot: one tree has 2 arrays, the other 1"));
    tt_associative_scan(tt_neg, x);
    CHECK(strstr(front_said(), "tt_associative_scan: tt_neg must take two trees of 1 array"));
    tt_associative_scan(combine, x);
    CHECK(strstr(front_said(), "combine gives 2 arrays of two times 1"));
    tt_associative_scan(tt_add, tt_scalar(1));
    CHECK(strstr(front_said(), "has no rows to go through"));
    tt_fori_to(tt_full(TT_F32, 1), 2, tt_add, x);
    CHECK(strstr(front_said(), "the first bound is f32[], and must be one integer"));
}

/* ---- results that go where variables are ---- */

typedef struct Walk {
    tt at;
    Two speed;
} Walk;

static tt walk(Walk *w, tt by)
{
    w->at = tt_add(w->at, tt_mul(by, w->speed.sum));
    w->speed.product = w->at;
    return tt_mul(2, w->at);
}
TT_METHOD(tt, walk, Walk, tt);

static tt bent(Two p, tt x)
{
    return tt_sum(tt_add(tt_mul(p.sum, x, x), p.product, 1));
}
TT_FUN(tt, bent, Two, tt);

static void test_in_place(void)
{
    tt by = tt_arange(TT_F32, 4);
    Walk w = { tt_ones(TT_F32), { tt_full(TT_F32, 3), tt_ones(TT_F32) } };
    TT_FOR(i, 5) {
        if (i == 1)
            continue;
        if (i == 4)
            break;
        tt twice = tt_update(&w, tt_jit(walk), tt_full(TT_F32, i));
        IS(twice, i == 0 ? 2 : i == 2 ? 14 : 32);
    }
    IS(w.at, 16); /* 1 + 3 (0 + 2 + 3) */
    IS(w.speed.product, 16);
    tt ends = tt_sweep(&w, walk, by);
    IS(ends, 32, 38, 50, 68);
    IS(w.at, 34);
    Two p = { tt_ones(TT_F32, 2), tt_ones(TT_F32) }, grad;
    IS(tt_loss_grad(&grad, bent, p, tt_slice(by, 0, 1, 3)), 9);
    IS(grad.sum, 1, 4);
    IS(grad.product, 2);
    CHECK_SAID("");
    tt_update_as(Two, &w, walk, by);
    CHECK(strstr(front_said(), "walk"));
    IS(w.at, 34); /* what failed has not moved it */
}

int main(void)
{
    front_start(4);
    test_map();
    test_bare_arrays();
    test_many_arguments();
    test_by_type();
    test_vjp();
    test_scans();
    test_switch();
    test_in_place();
    test_edges();
    test_order();
    CHECK_SAID("");
    test_together();
    test_names();
    return check_done();
}
