/* shard_grad_test.c - gradients taken inside a tt_shard_map are those that JAX takes by default
 * (tests/front/shard_grad_cases.txt): of what is whole, of what is sharded, through every collective;
 * in branches, loops, maps and derivatives; of tensor-parallel, ZeRO and pipeline programs. */
#include "tests/front.h"

#include <math.h>
#include <string.h>

enum { ROOM = 4096 };

/* As shard_grad_cases.py makes them. */
static tt numbers(int step, const tt_dims *shape, float by)
{
    static float x[ROOM];
    int64_t n = 1;
    for (int i = 0; i < shape->n; i++)
        n *= shape->v[i];
    for (int64_t k = 0; k < n; k++)
        x[k] = (float)(k * step % 23 - 11) / 8 / by;
    return (tt_from)(TT_F32, x, sizeof x, shape);
}
#define NUMBERS(step, ...) numbers(step, TT_DIMS(__VA_ARGS__), 1)
#define QUARTERS(step, ...) numbers(step, TT_DIMS(__VA_ARGS__), 4)

/* Result i of the program `name` is what JAX said. */
static void compare(const char *name, int i, tt y)
{
    static float got[ROOM];
    char is[64];
    int number, rank;
    FILE *file = fopen("tests/front/shard_grad_cases.txt", "r");
    bool found = false, same = false;
    while (file && !found && fscanf(file, "%63s %d %d", is, &number, &rank) == 3) {
        tt_dims shape = tt_shape(y);
        long n = 1, extent;
        found = !strcmp(is, name) && number == i;
        same = found && rank == shape.n;
        for (int k = 0; k < rank && fscanf(file, "%ld", &extent) == 1; k++) {
            same = same && shape.v[k] == extent;
            n *= extent;
        }
        same = same && tt_read(y, got, sizeof *got * (size_t)n);
        float said;
        for (long k = 0; k < n && fscanf(file, "%f", &said) == 1; k++)
            if (same && !(fabsf(got[k] - said) <= 4e-6f * fmaxf(1, fabsf(said)))) {
                printf("%s, result %d, element %ld: %g, JAX %g\n", name, i, k, (double)got[k],
                       (double)said);
                same = false;
            }
    }
    if (file)
        fclose(file);
    if (!same) {
        printf("%s, result %d: not what JAX gives %s\n", name, i, front_said());
        check_failures++;
    }
}

static void compare_all(const char *name, tt_tree tree)
{
    for (int i = 0; i < tree.n; i++)
        compare(name, i, tree.leaf[i]);
}

/* ---- along one axis ---- */

static tt unsummed(tt w, tt x)
{
    return tt_sum(tt_sin(tt_mul(w, x)));
}
static tt summed(tt w, tt x)
{
    return tt_psum(unsummed(w, x), "s");
}
static tt averaged(tt w, tt x)
{
    return tt_mul(tt_pmean(unsummed(w, x), "s"), tt_sum(w));
}
static tt gathered_alone(tt w, tt x)
{
    return tt_sum(tt_sin(tt_mul(tt_all_gather(w, "s", .tiled = true), x)));
}
static tt gathered(tt w, tt x)
{
    return tt_psum(gathered_alone(w, x), "s");
}
static tt scattered(tt w, tt x)
{
    return tt_psum(tt_sum(tt_square(tt_psum_scatter(tt_sin(tt_mul(w, x)), "s", .tiled = true))),
                   "s");
}
static tt squares(tt w, tt x)
{
    return tt_sum(tt_square(tt_call(tt_grad(summed), w, x)));
}
static tt sine(tt w, tt x)
{
    return tt_sin(tt_mul(w, x));
}
static tt power(tt w, tt x)
{
    return tt_add(tt_exp(w), x);
}
static tt branched(tt w, tt x)
{
    tt first = tt_less(tt_axis_index("s"), 2);
    return tt_psum(tt_sum(tt_cond(first, sine, power, w, x)), "s");
}
static tt turn(tt i, tt v, tt w, tt x)
{
    (void)i;
    return tt_sin(tt_add(tt_mul(v, w), tt_index(x, 0)));
}
static tt loop_loss(tt w, tt x)
{
    return tt_psum(tt_sum(tt_fori(3, turn, w, w, x)), "s");
}

typedef struct Step {
    tt w, loss;
} Step;
typedef struct LossGrad {
    tt loss, grad;
} LossGrad;
static Step step(tt w, tt x)
{
    LossGrad r = tt_call_as(LossGrad, tt_value_and_grad(summed), w, x);
    return (Step){ tt_sub(w, tt_mul(0.1, r.grad)), r.loss };
}
TT_FUN(Step, step, tt, tt);
static Step steps(tt w, tt rows)
{
    return tt_scan_as(Step, step, w, rows);
}
TT_FUN(Step, steps, tt, tt);
static tt jitted(tt w, tt x)
{
    return tt_call(tt_jit(tt_grad(tt_jit(summed))), w, x);
}

/* A state that starts alike and comes to differ: what is in the loop's body knows. */
static tt wander(tt i, tt v, tt x)
{
    (void)i;
    return tt_add(v, tt_mul(0.1, tt_call(tt_grad(summed), v, x)));
}
static tt drift(tt i, tt v, tt x)
{
    return tt_mul(wander(i, v, x), tt_add(1, tt_mul(0.1, tt_axis_index("s"))));
}
static tt drift_from_whole(tt v, tt x)
{
    return tt_fori(2, drift, v, x);
}
static tt drift_from_own(tt v, tt x)
{
    return tt_fori(2, drift, tt_add(v, tt_mul(0.0, tt_sum(x))), x);
}

#define LINE(f, ...) tt_shard_map(f, .mesh = tt_mesh_of({ "s", 4 }), __VA_ARGS__)
#define WHOLE_AND_CUT .in_specs = { TT_P(NULL), TT_P("s") }
#define BOTH(f)                                                                                    \
    compare(#f, 0, tt_call(LINE(tt_grad(f), WHOLE_AND_CUT), w, x));                                \
    compare(#f "_x", 0,                                                                            \
            tt_call(LINE(tt_grad(f, .wrt = 2), WHOLE_AND_CUT, .out_spec = TT_P("s")), w, x))

static tt twice(tt w, tt x)
{
    return tt_call(tt_grad(squares), w, x);
}

static void test_line(void)
{
    tt w = NUMBERS(5, 4), x = NUMBERS(37, 4, 4), flat = NUMBERS(37, 16);
    BOTH(summed);
    BOTH(unsummed);
    BOTH(averaged);
    BOTH(branched);
    BOTH(loop_loss);
#define CUT_AND_WHOLE .in_specs = { TT_P("s"), TT_P(NULL) }, .out_spec = TT_P("s")
    compare("gathered", 0, tt_call(LINE(tt_grad(gathered), CUT_AND_WHOLE), flat, NUMBERS(7, 16)));
    compare("gathered_alone", 0,
            tt_call(LINE(tt_grad(gathered_alone), CUT_AND_WHOLE), flat, NUMBERS(7, 16)));
    compare("scattered", 0, tt_call(LINE(tt_grad(scattered), WHOLE_AND_CUT), w, flat));
    compare("squares", 0, tt_call(LINE(squares, WHOLE_AND_CUT), w, x));
    compare("squares_twice", 0, tt_call(LINE(twice, WHOLE_AND_CUT), w, x));
    Step both = tt_call_as(Step, tt_grad(LINE(squares, WHOLE_AND_CUT), .wrt = 3), w, x);
    compare_all("squares_outside", TT_TREE(both));
    compare("jitted", 0, tt_call(LINE(jitted, WHOLE_AND_CUT), w, x));
    tt_fn each = tt_vmap(tt_grad(summed), .in_axes = { TT_NONE, 0 });
    compare("each_row", 0, tt_call(LINE(each, WHOLE_AND_CUT), w, NUMBERS(37, 8, 4)));
    Step all = tt_call_as(Step, LINE(steps, .in_specs = { TT_P(NULL), TT_P(NULL, "s") }), w,
                          NUMBERS(37, 3, 4, 4));
    compare_all("steps", TT_TREE(all));
}

static void test_drift(void)
{
    float a[16], b[16];
    tt w = NUMBERS(5, 4), x = NUMBERS(37, 4, 4);
    tt from_whole = tt_call(LINE(drift_from_whole, WHOLE_AND_CUT, .out_spec = TT_P("s")), w, x);
    tt from_own = tt_call(LINE(drift_from_own, WHOLE_AND_CUT, .out_spec = TT_P("s")), w, x);
    CHECK(tt_read(from_whole, a, sizeof a) && tt_read(from_own, b, sizeof b));
    CHECK(!memcmp(a, b, sizeof a));
}

/* ---- tensor-parallel, and ZeRO ---- */

typedef struct Net {
    tt w1, b1, w2, b2;
} Net;
typedef struct NetGrad {
    tt loss;
    Net grad;
} NetGrad;
typedef struct Zero {
    tt loss, w[2], momentum[2];
} Zero;

static tt net_loss(Net p, tt x, tt y)
{
    tt h = tt_tanh(tt_add(tt_matmul(x, p.w1), p.b1));
    tt out = tt_add(tt_psum(tt_matmul(h, p.w2), "m"), p.b2);
    return tt_pmean(tt_mean(tt_square(tt_sub(out, y))), "d");
}
TT_FUN(tt, net_loss, Net, tt, tt);
static NetGrad net_grad(tt w1, tt b1, tt w2, tt b2, tt x, tt y)
{
    Net p = { w1, b1, w2, b2 };
    return tt_call_as(NetGrad, tt_value_and_grad(net_loss), p, x, y);
}
TT_FUN(NetGrad, net_grad, tt, tt, tt, tt, tt, tt);

/* The rows of a device along "d": four. */
static tt part(tt a)
{
    int64_t columns = tt_shape(a).v[1];
    return tt_take(tt_reshape(a, -1, 4, columns), tt_axis_index("d"), 0);
}
static Zero zero_step(Net p, tt m1, tt m2, tt x, tt y)
{
    NetGrad r = tt_call_as(NetGrad, tt_value_and_grad(net_loss), p, x, y);
    Zero z = { .loss = r.loss };
    tt momentum[] = { m1, m2 }, w[] = { p.w1, p.w2 }, grad[] = { r.grad.w1, r.grad.w2 };
    for (int i = 0; i < 2; i++) {
        z.momentum[i] = tt_add(tt_mul(0.9, momentum[i]), part(grad[i]));
        z.w[i] = tt_sub(part(w[i]), tt_mul(0.1, z.momentum[i]));
    }
    return z;
}
static Zero zero(tt w1, tt b1, tt w2, tt b2, tt m1, tt m2, tt x, tt y)
{
    return zero_step((Net){ w1, b1, w2, b2 }, m1, m2, x, y);
}
TT_FUN(Zero, zero, tt, tt, tt, tt, tt, tt, tt, tt);

static void test_square(void)
{
    tt_mesh mesh = tt_mesh_of({ "d", 2 }, { "m", 2 });
    Net p = { QUARTERS(5, 8, 16), NUMBERS(3, 16), QUARTERS(7, 16, 8), NUMBERS(11, 8) };
    tt x = NUMBERS(37, 12, 8), y = NUMBERS(29, 12, 8);
    tt_spec w1 = TT_P(NULL, "m"), b1 = TT_P("m"), w2 = TT_P("m"), b2 = TT_P(NULL);
    tt_spec cut1 = TT_P("d", "m"), cut2 = TT_P("m,d"), rows = TT_P("d");
    tt_fn grads = tt_shard_map(net_grad, .mesh = mesh, .in_specs = { w1, b1, w2, b2, rows, rows },
                               .out_specs = { b2, w1, b1, w2, b2 });
    NetGrad r = tt_call_as(NetGrad, grads, p.w1, p.b1, p.w2, p.b2, x, y);
    compare_all("tensor_parallel", TT_TREE(r));
    tt_fn move =
        tt_shard_map(zero, .mesh = mesh, .in_specs = { w1, b1, w2, b2, cut1, cut2, rows, rows },
                     .out_specs = { b2, cut1, cut2, cut1, cut2 });
    Zero z = tt_call_as(Zero, move, p.w1, p.b1, p.w2, p.b2, NUMBERS(13, 8, 16), NUMBERS(17, 16, 8),
                        x, y);
    compare_all("zero", TT_TREE(z));
}

/* ---- a pipeline ---- */

typedef struct Stage {
    tt w, b;
} Stage;
typedef struct Tick {
    tt out, y;
} Tick;
typedef struct StageGrad {
    tt loss;
    Stage grad;
} StageGrad;

static Tick tick(tt carry, tt in, Stage p)
{
    tt x = tt_where(tt_equal(tt_axis_index("s"), 0), in, carry);
    tt y = tt_tanh(tt_add(tt_matmul(x, tt_index(p.w, 0)), tt_index(p.b, 0)));
    return (Tick){ tt_shift(y, "s", 1), y };
}
TT_FUN(Tick, tick, tt, tt, Stage);
static tt pipe_loss(Stage p, tt xs, tt ys)
{
    tt rows = tt_concat(0, xs, tt_zeros(TT_F32, 3, 4, 8));
    Tick t = tt_scan_as(Tick, tick, tt_zeros(TT_F32, 4, 8), rows, p);
    tt out = tt_slice(t.y, 0, 3, 9), last = tt_equal(tt_axis_index("s"), 3);
    return tt_psum(tt_where(last, tt_mean(tt_square(tt_sub(out, ys))), 0), "s");
}
TT_FUN(tt, pipe_loss, Stage, tt, tt);
static StageGrad pipe_grad(Stage p, tt xs, tt ys)
{
    return tt_call_as(StageGrad, tt_value_and_grad(pipe_loss), p, xs, ys);
}
TT_FUN(StageGrad, pipe_grad, Stage, tt, tt);

static void test_pipeline(void)
{
    Stage p = { QUARTERS(5, 4, 8, 8), QUARTERS(3, 4, 8) };
    tt_fn f = LINE(pipe_grad, .in_specs = { TT_P("s") },
                   .out_specs = { TT_P(NULL), TT_P("s"), TT_P("s") });
    StageGrad r = tt_call_as(StageGrad, f, p, NUMBERS(37, 6, 4, 8), NUMBERS(29, 6, 4, 8));
    compare_all("pipeline", TT_TREE(r));
}

int main(void)
{
    front_start(4);
    test_line();
    test_drift();
    test_square();
    test_pipeline();
    CHECK_SAID("");
    return check_done();
}
