/* checkpoint_test.c - functions that are computed again for their way back: the same gradients, in
 * less memory, and the work is done again indeed. */
#include "tests/front.h"

#include <math.h>

static bool near(double a, double b)
{
    return fabs(a - b) <= 1e-5 * fmax(1, fabs(b));
}

/* ---- what is checkpointed: a block of four layers ---- */

static tt block(tt w, tt x)
{
    for (int i = 0; i < 4; i++)
        x = tt_tanh(tt_sin(tt_named(tt_matmul(x, w), i == 1 ? "middle" : "other")));
    return x;
}

enum { PLAIN, NOTHING, DOTS, NAMES, KINDS };

static tt deep(int kind, tt w, tt x)
{
    tt_fn f[KINDS] = { TT_FN(block, "block"), tt_checkpoint(block),
                       tt_checkpoint(block, .dots = true),
                       tt_checkpoint(block, .names = "middle, end") };
    for (int i = 0; i < 8; i++)
        x = tt_call(f[kind], w, x);
    return tt_sum(x);
}
static tt plain(tt w, tt x)
{
    return deep(PLAIN, w, x);
}
static tt nothing(tt w, tt x)
{
    return deep(NOTHING, w, x);
}
static tt dots(tt w, tt x)
{
    return deep(DOTS, w, x);
}
static tt names(tt w, tt x)
{
    return deep(NAMES, w, x);
}

static int count(const char *text, const char *word)
{
    int n = 0;
    for (const char *at = text; (at = strstr(at, word)); at++)
        n++;
    return n;
}

/* What the compiler says of the program: how many bytes lie between operations; and how often the
 * word stands in it when nothing is merged any more. */
static long slab_bytes(const char *text, const char *word, int *ncomputed)
{
    char path[] = "/tmp/tutti_XXXXXX", command[200], line[400];
    int file = mkstemp(path);
    CHECK(file >= 0 && write(file, text, strlen(text)) == (ssize_t)strlen(text));
    close(file);
    long bytes = -1;
    snprintf(command, sizeof command,
             "${TUTTI:-build/tutti} run %s --devices 1 --input random --input random --stats 2>&1",
             path);
    FILE *run = popen(command, "r");
    while (fgets(line, sizeof line, run))
        sscanf(line, "slab_bytes %ld", &bytes);
    pclose(run);
    snprintf(command, sizeof command, "${TUTTI:-build/tutti} dump %s --after=drop_barriers", path);
    run = popen(command, "r");
    *ncomputed = 0;
    while (fgets(line, sizeof line, run))
        *ncomputed += count(line, word);
    pclose(run);
    unlink(path);
    return bytes;
}

static void test_memory(void)
{
    tt w = tt_full(TT_F32, 0.01, 64, 64), x = tt_ones(TT_F32, 256, 64);
    tt_fn f[KINDS] = { tt_grad(plain), tt_grad(nothing), tt_grad(dots), tt_grad(names) };
    long bytes[KINDS];
    double sums[KINDS];
    int sines[KINDS], products[KINDS];
    for (int i = 0; i < KINDS; i++) {
        const char *text = tt_lower(f[i], w, x);
        bytes[i] = slab_bytes(text, "stablehlo.sine", &sines[i]);
        slab_bytes(text, "stablehlo.dot_general", &products[i]);
        sums[i] = tt_item(tt_sum(tt_square(tt_call(f[i], w, x))));
        CHECK(near(sums[i], sums[PLAIN]));
        CHECK((count(text, "optimization_barrier") > 0) == (i != PLAIN));
    }
    /* 32 layers, and what of them is computed again. */
    CHECK(sines[PLAIN] == 32 && sines[NOTHING] >= 56 && sines[DOTS] >= 56 && sines[NAMES] >= 56);
    CHECK(products[NOTHING] >= products[PLAIN] + 24 && products[DOTS] == products[PLAIN]);
    /* Eight fewer; but of the last block, which nobody asks for the result of, two are computed to keep one. */
    CHECK(products[NAMES] == products[NOTHING] - 6);
    CHECK(bytes[PLAIN] > 0 && bytes[NOTHING] * 3 < bytes[PLAIN]);
    CHECK(bytes[NOTHING] < bytes[NAMES] && bytes[NAMES] < bytes[DOTS] &&
          bytes[DOTS] < bytes[PLAIN]);
    CHECK_SAID("");
}

/* ---- in every composition ---- */

typedef struct {
    tt h, y;
} Step;
static tt cell(tt w, tt h)
{
    return tt_tanh(tt_add(tt_matmul(h, w), tt_sin(h)));
}
static Step step(tt h, tt x, tt w)
{
    tt next = cell(w, tt_add(h, x));
    return (Step){ next, tt_sum(next) };
}
TT_FUN(Step, step, tt, tt, tt);
static Step step_again(tt h, tt x, tt w)
{
    tt next = tt_call(tt_checkpoint(cell), w, tt_add(h, x));
    return (Step){ next, tt_sum(next) };
}
TT_FUN(Step, step_again, tt, tt, tt);
static tt scan(tt w, tt xs)
{
    return tt_sum(tt_scan_as(Step, step, tt_zeros(TT_F32, 3), xs, w).y);
}
static tt scan_again(tt w, tt xs)
{
    return tt_sum(tt_scan_as(Step, step_again, tt_zeros(TT_F32, 3), xs, w).y);
}

static tt twice(tt w, tt x)
{
    return cell(w, cell(w, x));
}
static tt twice_again(tt w, tt x)
{
    return tt_call(tt_checkpoint(cell), w, tt_call(tt_checkpoint(cell, .dots = true), w, x));
}
static tt inner_again(tt w, tt x)
{
    return tt_call(tt_checkpoint(twice_again), w, x);
}
static tt rows(tt w, tt x)
{
    return tt_call(tt_vmap(twice, .in_axes = { TT_NONE, 0 }), w, x);
}
static tt rows_again(tt w, tt x)
{
    return tt_call(tt_vmap(inner_again, .in_axes = { TT_NONE, 0 }), w, x);
}
static tt devices(tt w, tt x)
{
    return tt_call(tt_pmap(twice, .in_axes = { TT_NONE, 0 }), w, x);
}
static tt devices_again(tt w, tt x)
{
    return tt_call(tt_pmap(inner_again, .in_axes = { TT_NONE, 0 }), w, x);
}
static tt one(tt w, tt x)
{
    return tt_sum(tt_square(twice(w, x)));
}
static tt one_again(tt w, tt x)
{
    return tt_sum(tt_square(inner_again(w, x)));
}
static tt square_rows(tt w, tt x)
{
    return tt_sum(tt_square(rows(w, x)));
}
static tt square_rows_again(tt w, tt x)
{
    return tt_sum(tt_square(rows_again(w, x)));
}
static tt square_devices(tt w, tt x)
{
    return tt_sum(tt_square(devices(w, x)));
}
static tt square_devices_again(tt w, tt x)
{
    return tt_sum(tt_square(devices_again(w, x)));
}
static tt d_one(tt w, tt x)
{
    return tt_sum(tt_square(tt_call(tt_grad(one), w, x)));
}
static tt d_one_again(tt w, tt x)
{
    return tt_sum(tt_square(tt_call(tt_grad(one_again), w, x)));
}
static tt sharded(tt w, tt x)
{
    tt mine = tt_call(tt_grad(one), w, x);
    return tt_psum(mine, "i");
}
static tt sharded_again(tt w, tt x)
{
    tt mine = tt_call(tt_grad(one_again), w, x);
    return tt_psum(mine, "i");
}

static double at(tt x, int64_t i)
{
    return tt_item(tt_index(tt_reshape(x, -1), i));
}

/* Nine elements alike. */
static void check_same(tt a, tt b)
{
    for (int i = 0; i < 9; i++)
        CHECK(near(at(a, i), at(b, i)));
    CHECK_SAID("");
}

static void test_compositions(void)
{
    tt w = tt_reshape(tt_div(tt_arange(TT_F32, 9), 10), 3, 3);
    tt x = tt_sin(tt_reshape(tt_arange(TT_F32, 12), 4, 3)), row = tt_index(x, 1);
    check_same(tt_call(tt_grad(scan_again), w, x), tt_call(tt_grad(scan), w, x));
    check_same(tt_call(tt_grad(one_again), w, row), tt_call(tt_grad(one), w, row));
    check_same(tt_call(tt_jit(tt_grad(one_again)), w, row), tt_call(tt_grad(one), w, row));
    check_same(tt_call(tt_grad(square_rows_again), w, x), tt_call(tt_grad(square_rows), w, x));
    check_same(tt_call(tt_grad(square_devices_again), w, x),
               tt_call(tt_grad(square_devices), w, x));
    check_same(tt_call(tt_grad(d_one_again), w, row), tt_call(tt_grad(d_one), w, row));
    tt_fn each = tt_vmap(tt_grad(one), .in_axes = { TT_NONE, 0 });
    check_same(tt_call(tt_vmap(tt_grad(one_again), .in_axes = { TT_NONE, 0 }), w, x),
               tt_call(each, w, x));
    tt_mesh mesh = tt_mesh_of({ "i", 4 });
    check_same(
        tt_call(tt_shard_map(sharded_again, .mesh = mesh, .in_specs = { TT_P(NULL), TT_P("i") }), w,
                x),
        tt_call(tt_shard_map(sharded, .mesh = mesh, .in_specs = { TT_P(NULL), TT_P("i") }), w, x));
    typedef struct {
        tt y, dy;
    } Tangent;
    Tangent a = tt_call_as(Tangent, tt_jvp(one_again), w, row, tt_cos(w));
    Tangent b = tt_call_as(Tangent, tt_jvp(one), w, row, tt_cos(w));
    CHECK(near(tt_item(a.y), tt_item(b.y)) && near(tt_item(a.dy), tt_item(b.dy)));
    CHECK_SAID("");
}

int main(void)
{
    front_start(4);
    test_memory();
    test_compositions();
    return check_done();
}
