/* placed_test.c - tt_place inside a function: results lie so, numbers are what they are without, and
 * gradients, tangents and batches go through. */
#include "tests/front.h"

#include <math.h>

static tt_mesh mesh;

static tt product(tt x, tt w)
{
    tt h = tt_place(tt_matmul(x, w), mesh, "d", NULL);
    return tt_place(tt_sin(h), mesh, "d", "m");
}
static tt plain(tt x, tt w)
{
    return tt_sin(tt_matmul(x, w));
}
static tt loss(tt x, tt w)
{
    return tt_sum(tt_square(product(x, w)));
}
static tt plain_loss(tt x, tt w)
{
    return tt_sum(tt_square(plain(x, w)));
}
static tt rows(tt x, tt w)
{
    return tt_call(tt_vmap(product, .in_axes = { 0, TT_NONE }), x, w);
}
static tt plain_rows(tt x, tt w)
{
    return tt_call(tt_vmap(plain, .in_axes = { 0, TT_NONE }), x, w);
}
static tt mapped(tt x)
{
    return tt_place(x, mesh, "d");
}
static tt unknown(tt x)
{
    return tt_place(tt_neg(x), mesh, "z");
}
static tt uneven(tt x)
{
    return tt_place(tt_get(x, TT_RANGE(0, 3)), mesh, "d");
}

static bool same(tt a, tt b)
{
    return tt_item(tt_all(tt_less(tt_abs(tt_sub(a, b)), 1e-5))) != 0;
}

static void test_values(void)
{
    tt x = tt_sin(tt_reshape(tt_arange(TT_F32, 32), 8, 4));
    tt w = tt_cos(tt_reshape(tt_arange(TT_F32, 16), 4, 4));
    tt y = tt_call(product, x, w);
    CHECK(same(y, tt_call(plain, x, w)));
    const char *text = tt_lower(product, x, w);
    CHECK(strstr(text, "sdy.sharding_constraint") && strstr(text, "num_partitions = 4"));
    CHECK(strstr(text, "[{\"d\"}, {\"m\"}]"));
    CHECK(same(tt_call(tt_grad(loss), x, w), tt_call(tt_grad(plain_loss), x, w)));
    CHECK(
        same(tt_call(tt_grad(loss, .wrt = 2), x, w), tt_call(tt_grad(plain_loss, .wrt = 2), x, w)));
    tt many = tt_stack(0, x, tt_mul(x, 2), tt_neg(x));
    CHECK(same(tt_call(rows, many, w), tt_call(plain_rows, many, w)));
    CHECK(same(tt_call(tt_jit(product), tt_place(x, mesh, "d"), w), tt_call(plain, x, w)));
    typedef struct {
        tt y, dy;
    } Tangent;
    Tangent a = tt_call_as(Tangent, tt_jvp(product), x, w, tt_cos(x));
    Tangent b = tt_call_as(Tangent, tt_jvp(plain), x, w, tt_cos(x));
    CHECK(same(a.dy, b.dy));
    CHECK_SAID("");
}

static void test_mistakes(void)
{
    tt x = tt_arange(TT_F32, 8);
    tt_call(tt_pmap(mapped), tt_reshape(x, 4, 2));
    CHECK(
        strstr(front_said(), "tt_place inside a mapped function: every device has its own array"));
    tt_call(unknown, x);
    CHECK(strstr(front_said(), "its spec names \"z\", and the mesh has no such axis"));
    tt_call(uneven, x);
    CHECK(strstr(front_said(), "axis 0 has 3, which \"d\" of size 2 does not divide"));
}

int main(void)
{
    front_start(4);
    mesh = tt_mesh_of({ "d", 2 }, { "m", 2 });
    test_values();
    test_mistakes();
    return check_done();
}
