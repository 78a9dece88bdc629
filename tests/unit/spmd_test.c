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

/* ---- maps inside maps: as maps over rows inside maps over rows ---- */

static tt leaf_all(tt x)
{
    tt at = tt_axis_index("a,b,c");
    return tt_add(tt_mul(x, tt_psum(tt_sin(x), "a,c")), tt_mul(at, tt_pmean(x, "b")));
}
static tt leaf_two(tt x)
{
    return tt_sub(tt_mul(x, tt_psum(tt_sin(x), "b")), tt_pmean(x, "a,b"));
}
static tt leaf_plain(tt x)
{
    return tt_mul(tt_sin(x), x);
}
static tt leaf_same(tt x) /* the inner of two axes of one name */
{
    return tt_add(tt_psum(x, "a"), tt_axis_index("a"));
}
static tt leaf_pair(tt x, tt w)
{
    return tt_psum(tt_mul(tt_sin(x), w), "b");
}
static tt leaf_loss(tt x)
{
    return tt_sum(tt_square(leaf_two(x)));
}

/* The same nests of maps, over devices and over rows.  uneven: a map of 2 beside a map of 2 that
 * has one of 2 inside. */
#define NESTS(own, MAP)                                                                            \
    static tt own##_c(tt x)                                                                        \
    {                                                                                              \
        return tt_call(MAP(leaf_all, .axis_name = "c"), x);                                        \
    }                                                                                              \
    static tt own##_b(tt x)                                                                        \
    {                                                                                              \
        return tt_call(MAP(own##_c, .axis_name = "b"), x);                                         \
    }                                                                                              \
    static tt own##_plain(tt x)                                                                    \
    {                                                                                              \
        return tt_call(MAP(MAP(leaf_plain)), x);                                                   \
    }                                                                                              \
    static tt own##_two(tt x)                                                                      \
    {                                                                                              \
        return tt_call(MAP(leaf_two, .axis_name = "b"), x);                                        \
    }                                                                                              \
    static tt own##_around(tt x)                                                                   \
    {                                                                                              \
        return tt_mul(2, own##_two(tt_add(x, tt_pmean(x, "a"))));                                  \
    }                                                                                              \
    static tt own##_same(tt x)                                                                     \
    {                                                                                              \
        return tt_call(MAP(leaf_same, .axis_name = "a"), x);                                       \
    }                                                                                              \
    static tt own##_jitted(tt x)                                                                   \
    {                                                                                              \
        tt y = tt_call(tt_jit(leaf_plain), x);                                                     \
        return tt_call(tt_jit(MAP(tt_jit(leaf_two), .axis_name = "b")), y);                        \
    }                                                                                              \
    static tt own##_inside(tt x)                                                                   \
    {                                                                                              \
        return tt_call(MAP(tt_grad(leaf_loss), .axis_name = "b"), x);                              \
    }                                                                                              \
    static tt own##_axes(tt x, tt w)                                                               \
    {                                                                                              \
        return tt_call(MAP(leaf_pair, .axis_name = "b", .in_axes = { 1, TT_NONE }, .out_axis = 1), \
                       x, w);                                                                      \
    }                                                                                              \
    static tt own##_once(tt x, tt w)                                                               \
    {                                                                                              \
        return tt_call(MAP(leaf_pair, .axis_name = "b", .out_axis = TT_NONE), x, w);               \
    }                                                                                              \
    static tt own##_chain(tt x)                                                                    \
    {                                                                                              \
        return own##_two(tt_call(MAP(leaf_plain, .axis_name = "z"), x));                           \
    }                                                                                              \
    static tt own##_uneven(tt x)                                                                   \
    {                                                                                              \
        return tt_add(own##_b(x), own##_two(x));                                                   \
    }
NESTS(devices, tt_pmap)
NESTS(rows, tt_vmap)

/* Gradients of it all. */
#define AROUND(f)                                                                                  \
    static tt devices_loss_##f(tt x)                                                               \
    {                                                                                              \
        return tt_sum(tt_square(tt_call(tt_pmap(devices_##f, .axis_name = "a"), x)));              \
    }                                                                                              \
    static tt rows_loss_##f(tt x)                                                                  \
    {                                                                                              \
        return tt_sum(tt_square(tt_call(tt_vmap(rows_##f, .axis_name = "a"), x)));                 \
    }
AROUND(b)
AROUND(two)
AROUND(around)
AROUND(jitted)
AROUND(chain)
AROUND(uneven)

static tt in_mesh(tt x) /* x: the block [1, 1, 2, 3] of a device */
{
    tt rows = tt_reshape(x, 2, 3);
    return tt_reshape(tt_call(tt_pmap(leaf_all, .axis_name = "c"), rows), 1, 1, 2, 3);
}
static tt with_mesh(tt x)
{
    tt_mesh mesh = tt_mesh_of({ "b", 2 }, { "c", 2 });
    return tt_call(tt_shard_map(leaf_all, .mesh = mesh, .in_specs = { TT_P("b", "c") },
                                .out_spec = TT_P("b", "c")),
                   x);
}

#define BOTH(name, f, x)                                                                           \
    try("nested_" name, 8, tt_pmap(devices_##f, .axis_name = "a"),                                 \
        tt_vmap(rows_##f, .axis_name = "a"), x)
#define BOTH_GRADS(name, x)                                                                        \
    try("nested_grad_" #name, 8, tt_grad(devices_loss_##name), tt_grad(rows_loss_##name), x)

static void test_nested(void)
{
    TT_SCOPE;
    tt x3 = tt_normal(tt_key(4), TT_F32, 2, 2, 2, 3), x2 = tt_normal(tt_key(5), TT_F32, 2, 4, 3);
    BOTH("three", b, x3);
    BOTH("plain", plain, x3);
    BOTH("two", two, x2);
    BOTH("around", around, x2);
    BOTH("same", same, x2);
    BOTH("jitted", jitted, x2);
    BOTH("inside", inside, x2);
    BOTH("chain", chain, x2);
    BOTH("uneven", uneven, x3);
    BOTH("of_one", two, tt_slice(x2, 0, 0, 1));
    BOTH("with_one", two, tt_slice(x2, 1, 0, 1));
    BOTH_GRADS(b, x3);
    BOTH_GRADS(two, x2);
    BOTH_GRADS(around, x2);
    BOTH_GRADS(jitted, x2);
    BOTH_GRADS(chain, x2);
    BOTH_GRADS(uneven, x3);
    try("nested_rows", 8, tt_vmap(tt_pmap(devices_two, .axis_name = "a")),
        tt_vmap(tt_vmap(rows_two, .axis_name = "a")), tt_normal(tt_key(6), TT_F32, 5, 2, 4, 3));
    try("nested_jit", 8, tt_jit(tt_pmap(devices_b, .axis_name = "a")),
        tt_jit(tt_vmap(rows_b, .axis_name = "a")), x3);
    tt_mesh mesh = tt_mesh_of({ "a", 2 }, { "b", 2 });
    try("nested_mesh", 8,
        tt_shard_map(in_mesh, .mesh = mesh, .in_specs = { TT_P("a", "b") },
                     .out_spec = TT_P("a", "b")),
        tt_vmap(rows_b, .axis_name = "a"), x3);
}

static void test_nested_options(void)
{
    TT_SCOPE;
    tt x = tt_normal(tt_key(7), TT_F32, 3, 4, 2), w = tt_normal(tt_key(8), TT_F32, 3);
    int32_t in[] = { 2, TT_NONE };
    tt y = tt_call(tt_pmap(devices_axes, .axis_name = "a", .in_axes = { in[0], in[1] }), x, w);
    agree("axes of both", 8, y,
          tt_call(tt_vmap(rows_axes, .axis_name = "a", .in_axes = { 2, TT_NONE }), x, w));
    tt x2 = tt_normal(tt_key(9), TT_F32, 2, 4, 3), w2 = tt_normal(tt_key(10), TT_F32, 2, 4, 3);
    y = tt_call(tt_pmap(devices_once, .axis_name = "a"), x2, w2);
    agree("one copy of a result", 8, y, tt_call(tt_vmap(rows_once, .axis_name = "a"), x2, w2));
    const int backwards[] = { 7, 6, 5, 4, 3, 2, 1, 0 };
    y = tt_call(tt_pmap(devices_two, .axis_name = "a", .devices = backwards, .ndevices = 8), x2);
    agree("devices in another order", 8, y, tt_call(tt_vmap(rows_two, .axis_name = "a"), x2));
    tt blocks_ = tt_normal(tt_key(11), TT_F32, 2, 2, 2);
    y = tt_call(tt_pmap(with_mesh, .axis_name = "a"), blocks_);
    agree("a mesh in a map", 8, y, tt_call(tt_vmap(rows_b, .axis_name = "a"), blocks_));
    agree("lent memory", 8,
          tt_call(tt_pmap(devices_two, .axis_name = "a", .donate = 1), tt_add(x2, 0)),
          tt_call(tt_vmap(rows_two, .axis_name = "a"), x2));
}

/* ---- trees ---- */

typedef struct Model {
    tt w, b;
} Model;

static Model tree(Model m)
{
    Model sum = tt_psum(m, "i"), all = tt_all_gather(m, "i", .tiled = true);
    const tt_pair pairs[] = { { 0, 1 } };
    Model sent = tt_ppermute_by(m, "i", pairs, 1), one = tt_pbroadcast(m, "i", 1);
    return (Model){ tt_add(tt_add(sum.w, sent.w), tt_sum(all.w)),
                    tt_add(tt_mul(sum.b, one.b), tt_sum(all.b)) };
}
TT_FUN(Model, tree, Model);

static void test_trees(void)
{
    TT_SCOPE;
    Model m = { tt_normal(tt_key(12), TT_F32, 4, 2, 3), tt_normal(tt_key(13), TT_F32, 4, 5) };
    Model y = tt_call_as(Model, tt_pmap(tree, .axis_name = "i"), m);
    Model z = tt_call_as(Model, tt_vmap(tree, .axis_name = "i"), m);
    agree("a tree's first", 4, y.w, z.w);
    agree("a tree's second", 4, y.b, z.b);
}

/* One spec for each result. */
static Model ways(tt a)
{
    return (Model){ tt_mul(a, 2), tt_psum(tt_transpose(a), "x") };
}
TT_FUN(Model, ways, tt);

static Model ways_plain(tt a)
{
    tt upper = tt_slice(a, 0, 0, 2), lower = tt_slice(a, 0, 2, 4);
    return (Model){ tt_mul(a, 2), tt_transpose(tt_add(upper, lower)) };
}
TT_FUN(Model, ways_plain, tt);

static void test_out_specs(void)
{
    TT_SCOPE;
    tt_mesh mesh = tt_mesh_of({ "x", 2 }, { "y", 4 });
    tt a = tt_normal(tt_key(14), TT_F32, 4, 8);
    tt_fn f = tt_shard_map(ways, .mesh = mesh, .in_specs = { TT_P("x", "y") },
                           .out_specs = { TT_P("x", "y"), TT_P("y") });
    Model y = tt_call_as(Model, f, a), z = tt_call_as(Model, ways_plain, a);
    agree("cut both ways", 8, y.w, z.w);
    agree("summed, and cut one way", 8, y.b, z.b);
    tt_fn other = tt_shard_map(ways, .mesh = mesh, .in_specs = { TT_P("x", "y") },
                               .out_specs = { TT_P("x", "y"), TT_P("y", "x") });
    CHECK(f != other);
}

int main(void)
{
    front_start(8);
    for (int n = 1; n <= 8; n *= 2)
        test_on(n);
    test_mesh();
    test_nested();
    test_nested_options();
    test_trees();
    test_out_specs();
    CHECK_SAID("");
    return check_done();
}
