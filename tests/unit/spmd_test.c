/* spmd_test.c - the same functions over devices and over rows: pmap on 1, 2, 4 and 8 devices gives
 * what vmap gives, collectives and gradients included.
 *
 * With TUTTI_PROGRAMS set, the programs are left for tests/front/xla.py. */
#include "tests/front.h"

#include "tests/front/leave.h"

#include <math.h>

static tt sum(tt x)
{
    return tt_mul(x, tt_psum(tt_sin(x), "i"));
}
static tt mean(tt x)
{
    return tt_sub(x, tt_pmean(x, "i"));
}
static tt most(tt x)
{
    return tt_sub(tt_pmax(x, "i"), tt_pmin(x, "i"));
}
static tt gather(tt x)
{
    return tt_sum(tt_mul(tt_all_gather(x, "i"), x), 0);
}
static tt scatter(tt x)
{
    return tt_psum_scatter(tt_mul(x, x), "i");
}
static tt exchange(tt x)
{
    return tt_all_to_all(tt_sin(x), "i");
}
static tt ring(tt x)
{
    return tt_sub(tt_shift(x, "i", 1), tt_mul(2, tt_shift(x, "i", -1)));
}
static tt number(tt x)
{
    return tt_add(x, tt_axis_index("i"));
}
static tt both_ways(tt x)
{
    return tt_add(sum(x), tt_call(tt_vmap(mean, .axis_name = "i"), x));
}
static tt jitted(tt x)
{
    return tt_add(tt_call(tt_jit(sum), x), tt_call(tt_jit(mean), x));
}

/* Gradients inside the map, and of the map. */
#define LOSS(f)                                                                                    \
    static tt loss_##f(tt x)                                                                       \
    {                                                                                              \
        return tt_sum(tt_square(f(x)));                                                            \
    }                                                                                              \
    static tt over_devices_##f(tt x)                                                               \
    {                                                                                              \
        return tt_sum(tt_square(tt_call(tt_pmap(f, .axis_name = "i"), tt_sin(x))));                \
    }                                                                                              \
    static tt over_rows_##f(tt x)                                                                  \
    {                                                                                              \
        return tt_sum(tt_square(tt_call(tt_vmap(f, .axis_name = "i"), tt_sin(x))));                \
    }
LOSS(sum)
LOSS(mean)
LOSS(gather)
LOSS(scatter)
LOSS(exchange)
LOSS(ring)
LOSS(number)
LOSS(jitted)

enum { ROOM = 4096 };

static void agree(const char *name, int n, tt a, tt b)
{
    static float x[ROOM], y[ROOM];
    tt_dims da = tt_shape(a), db = tt_shape(b);
    size_t count = 1;
    bool same = da.n == db.n;
    for (int i = 0; same && i < da.n; i++) {
        same = da.v[i] == db.v[i];
        count *= (size_t)da.v[i];
    }
    same = same && tt_read(a, x, sizeof *x * count) && tt_read(b, y, sizeof *y * count);
    for (size_t i = 0; same && i < count; i++)
        same = fabsf(x[i] - y[i]) <= 1e-5f * fmaxf(1, fabsf(y[i]));
    if (!same) {
        printf("%s on %d devices is not as on rows %s\n", name, n, front_said());
        check_failures++;
    }
}

static void try(const char *name, int n, tt_fn devices, tt_fn rows, tt x)
{
    char file[128];
    tt y = tt_call(devices, x);
    agree(name, n, y, tt_call(rows, x));
    snprintf(file, sizeof file, "spmd_%s_%d", name, n);
    leave_program(file, devices, 1, &x, 1, &y);
}

#define FORWARD(f) try(#f, n, tt_pmap(f, .axis_name = "i"), tt_vmap(f, .axis_name = "i"), x)
#define INSIDE(f)                                                                                  \
    try("inside_" #f, n, tt_pmap(tt_grad(loss_##f), .axis_name = "i"),                             \
        tt_vmap(tt_grad(loss_##f), .axis_name = "i"), x)
#define OUTSIDE(f) try("outside_" #f, n, tt_grad(over_devices_##f), tt_grad(over_rows_##f), x)

static void test_on(int n)
{
    TT_SCOPE;
    tt x = tt_normal(tt_key((uint64_t)n), TT_F32, n, n, 3);
    FORWARD(sum);
    FORWARD(mean);
    FORWARD(most);
    FORWARD(gather);
    FORWARD(scatter);
    FORWARD(exchange);
    FORWARD(ring);
    FORWARD(number);
    FORWARD(both_ways);
    FORWARD(jitted);
    INSIDE(sum);
    INSIDE(mean);
    INSIDE(gather);
    INSIDE(scatter);
    INSIDE(exchange);
    INSIDE(ring);
    INSIDE(number);
    INSIDE(jitted);
    OUTSIDE(sum);
    OUTSIDE(mean);
    OUTSIDE(gather);
    OUTSIDE(scatter);
    OUTSIDE(exchange);
    OUTSIDE(ring);
    OUTSIDE(number);
    OUTSIDE(jitted);
}

/* ---- two axes of a mesh, and a map of the map ---- */

static tt blocks(tt a, tt b)
{
    return tt_psum(tt_matmul(a, b), "y");
}
static tt plain(tt a, tt b)
{
    return tt_matmul(a, b);
}
static tt_fn block_product(void)
{
    tt_mesh mesh = tt_mesh_of({ "x", 2 }, { "y", 4 });
    return tt_shard_map(blocks, .mesh = mesh, .in_specs = { TT_P("x", "y"), TT_P("y", NULL) },
                        .out_spec = TT_P("x", NULL));
}
static tt loss_blocks(tt a, tt b)
{
    return tt_sum(tt_square(tt_call(block_product(), a, b)));
}
static tt loss_plain(tt a, tt b)
{
    return tt_sum(tt_square(plain(a, b)));
}

static void test_mesh(void)
{
    tt a = tt_normal(tt_key(1), TT_F32, 4, 8), b = tt_normal(tt_key(2), TT_F32, 8, 6);
    tt in[] = { a, b }, y = tt_call(block_product(), a, b);
    agree("blocks", 8, y, tt_call(plain, a, b));
    leave_program("spmd_blocks", block_product(), 2, in, 1, &y);
    for (uint32_t wrt = 1; wrt <= 2; wrt++) {
        tt_fn f = tt_grad(loss_blocks, .wrt = wrt);
        tt g = tt_call(f, a, b);
        agree("grad of blocks", 8, g, tt_call(tt_grad(loss_plain, .wrt = wrt), a, b));
        leave_program(wrt == 1 ? "spmd_grad_a" : "spmd_grad_b", f, 2, in, 1, &g);
    }
    tt rows = tt_normal(tt_key(3), TT_F32, 5, 4, 3);
    tt_fn f = tt_vmap(tt_pmap(sum, .axis_name = "i")), g = tt_vmap(tt_vmap(sum, .axis_name = "i"));
    try("map_of_map", 4, f, g, rows);
}

int main(void)
{
    front_start(8);
    for (int n = 1; n <= 8; n *= 2)
        test_on(n);
    test_mesh();
    CHECK_SAID("");
    return check_done();
}
