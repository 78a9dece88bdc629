/* absent_test.c - trees with arrays that are not there, as JAX's None: through calls, every transformation,
 * trees, optimisers and files.  Numbers are those of the same functions without the field. */
#include "tests/front.h"

#include <math.h>
#include <string.h>

#define DENSE(F) F(tt, w) F(tt, b)
TT_STRUCT(Dense, DENSE);
typedef struct Loss {
    tt loss;
    Dense grad;
} Loss;
typedef TT_ADAM(Dense) Adam;

/* The elements of x are these. */
#define IS(x, ...)                                                                                 \
    do {                                                                                           \
        const float wanted[] = { __VA_ARGS__ };                                                    \
        float got[sizeof wanted / sizeof *wanted];                                                 \
        CHECK(tt_read(x, got, sizeof got) && !memcmp(got, wanted, sizeof got));                    \
    } while (0)

static Dense scaled(Dense p, tt x)
{
    return (Dense){ tt_mul(p.w, x), tt_is_there(p.b) ? tt_mul(p.b, x) : (tt){ 0 } };
}
TT_FUN(Dense, scaled, Dense, tt);

static tt loss(Dense p, tt x)
{
    tt y = tt_mul(p.w, x);
    if (tt_is_there(p.b))
        y = tt_add(y, p.b);
    return tt_sum(tt_mul(y, y));
}
TT_FUN(tt, loss, Dense, tt);

static tt needs(Dense p, tt x)
{
    return tt_add(tt_mul(p.w, x), p.b);
}
TT_FUN(tt, needs, Dense, tt);

static Dense without(void)
{
    return (Dense){ .w = tt_add(tt_arange(TT_F32, 2), 1) };
}

static void test_calls(void)
{
    Dense p = without(), y = tt_call_as(Dense, scaled, p, tt_full(TT_F32, 2));
    IS(y.w, 2, 4);
    CHECK(!tt_is_there(y.b));
    Dense whole = { p.w, p.w }, z = tt_call_as(Dense, scaled, whole, tt_full(TT_F32, 2));
    IS(z.b, 2, 4); /* another program: what is absent tells them apart */
    y = tt_call_as(Dense, tt_jit(scaled), p, tt_full(TT_F32, 3));
    IS(y.w, 3, 6);
    CHECK(!tt_is_there(y.b));
    tt_about about[2];
    CHECK(tt_eval_shape(about, scaled, p, tt_full(TT_F32, 2)) == 2);
    CHECK(about[0].shape.n == 1 && about[1].shape.n == -1);
    Dense kept = { without().w, without().w };
    {
        TT_SCOPE;
        tt_assign(kept, y);
    }
    IS(kept.w, 3, 6);
    CHECK(!tt_is_there(kept.b));
    CHECK_SAID("");
    tt_call_as(Dense, tt_grad(needs), p, tt_full(TT_F32, 2));
    CHECK(strstr(front_said(), "in needs: tt_add: argument 0, b is absent: no array was given for "
                               "it; tt_is_there asks for that\n    while tracing grad(needs)"));
    tt_call(tt_jit(needs), p, tt_full(TT_F32, 2));
    CHECK(strstr(front_said(), "in needs: tt_add: argument 0, b is absent"));
    tt_add(p.w, p.b);
    CHECK(strstr(front_said(), "tt_add: an argument is no array: it was never given one"));
}

static Dense inside(Dense p, tt x)
{
    return tt_call_as(Dense, tt_jit(scaled),
                      tt_call_as(Dense, scaled, tt_call_as(Dense, tt_grad(loss), p, x), x), x);
}
TT_FUN(Dense, inside, Dense, tt);

static void test_derivatives(void)
{
    Dense p = without(), g = tt_call_as(Dense, tt_grad(loss), p, tt_full(TT_F32, 2));
    IS(g.w, 8, 16);
    CHECK(!tt_is_there(g.b));
    Loss l = tt_call_as(Loss, tt_value_and_grad(loss), p, tt_full(TT_F32, 2));
    IS(l.loss, 20);
    IS(l.grad.w, 8, 16);
    CHECK(!tt_is_there(l.grad.b));
    Dense dp = { .w = tt_ones(TT_F32, 2) };
    typedef struct {
        Dense y, dy;
    } Pair;
    Pair pair = tt_call_as(Pair, tt_jvp(scaled), p, tt_full(TT_F32, 2), dp);
    IS(pair.dy.w, 2, 2);
    CHECK(!tt_is_there(pair.y.b) && !tt_is_there(pair.dy.b));
    pair = tt_call_as(Pair, tt_vjp(scaled), p, tt_full(TT_F32, 2), dp);
    IS(pair.dy.w, 2, 2);
    CHECK(!tt_is_there(pair.dy.b));
    tt grad_x = tt_call(tt_grad(loss, .wrt = 2), p, tt_full(TT_F32, 2));
    IS(grad_x, 20);
    Dense in = tt_call_as(Dense, inside, p, tt_full(TT_F32, 2));
    IS(in.w, 32, 64);
    CHECK(!tt_is_there(in.b));
    g = tt_call_as(Dense, tt_grad(tt_checkpoint(loss)), p, tt_full(TT_F32, 2));
    IS(g.w, 8, 16);
    CHECK_SAID("");
    tt_call(tt_jacrev(scaled), p, tt_full(TT_F32, 2));
    CHECK(strstr(front_said(), "argument 0, b is absent, and all of its arguments must be there"));
}

static Dense summed(Dense p, tt x)
{
    return tt_psum(scaled(p, x), "i");
}
TT_FUN(Dense, summed, Dense, tt);

static void test_maps(void)
{
    Dense p = without();
    tt x = tt_arange(TT_F32, 2);
    Dense y = tt_call_as(Dense, tt_vmap(scaled), p, x);
    IS(y.w, 0, 2);
    CHECK(!tt_is_there(y.b));
    y = tt_call_as(Dense,
                   tt_vmap(scaled, .in = TT_EACH_AXIS(TT_RUN(Dense, TT_NONE), TT_RUN(tt, 0)),
                           .out = TT_EACH_AXIS(TT_RUN(tt, 1), TT_RUN(tt, 0))),
                   p, x);
    IS(y.w, 0, 1, 0, 2);
    y = tt_call_as(Dense, tt_pmap(summed, .axis_name = "i"), p, x);
    IS(y.w, 2, 2);
    CHECK(!tt_is_there(y.b));
    tt_mesh mesh = tt_mesh_of({ "i", 2 });
    y = tt_call_as(Dense, tt_shard_map(summed, .mesh = mesh, .in_specs = { TT_P("i"), TT_P(NULL) }),
                   p, tt_full(TT_F32, 2));
    IS(y.w, 6);
    CHECK(!tt_is_there(y.b));
    CHECK_SAID("");
}

typedef struct Out {
    Dense state;
    tt y;
} Out;

static Out turn(Dense s, tt x)
{
    return (Out){ { tt_add(s.w, x) }, tt_sum(s.w) };
}
TT_FUN(Out, turn, Dense, tt);
static Dense turn_by(tt i, Dense s)
{
    return (Dense){ tt_add(s.w, tt_astype(i, TT_F32)) };
}
TT_FUN(Dense, turn_by, tt, Dense);
static Dense turn_more(tt i, Dense s)
{
    return (Dense){ tt_add(s.w, tt_astype(i, TT_F32)), s.w };
}
TT_FUN(Dense, turn_more, tt, Dense);
static Dense minus(Dense p)
{
    return (Dense){ tt_neg(p.w), p.b };
}
TT_FUN(Dense, minus, Dense);
static Dense same(Dense p)
{
    return p;
}
TT_FUN(Dense, same, Dense);

static void test_flow(void)
{
    Out out = tt_scan_as(Out, turn, without(), tt_arange(TT_F32, 3));
    IS(out.state.w, 4, 5);
    IS(out.y, 3, 3, 5);
    CHECK(!tt_is_there(out.state.b));
    Dense d = tt_fori(3, turn_by, without());
    IS(d.w, 4, 5);
    CHECK(!tt_is_there(d.b));
    d = tt_cond_as(Dense, tt_greater(tt_scalar(1), 0), minus, same, without());
    IS(d.w, -1, -2);
    CHECK(!tt_is_there(d.b));
    CHECK_SAID("");
    tt_fori(3, turn_more, without());
    CHECK(strstr(front_said(), "the state has 1 array, but an iteration gives 2"));
}

static void test_trees(void)
{
    Dense p = without(), q = tt_map(tt_mul, p, p), whole = { p.w, p.w };
    IS(q.w, 1, 4);
    CHECK(!tt_is_there(q.b));
    IS(tt_tree_sum(q), 5);
    IS(tt_tree_dot(p, p), 5);
    IS(tt_tree_norm(p), sqrtf(5));
    CHECK(tt_tree_size(p) == 2);
    q = tt_unravel(tt_ravel(p), p);
    IS(q.w, 1, 2);
    CHECK(!tt_is_there(q.b));
    q = tt_tree_axpy(2, p, p);
    IS(q.w, 3, 6);
    tt_wait(q);
    CHECK_SAID("");
    tt_map(tt_mul, p, whole);
    CHECK(strstr(front_said(), "tt_map(tt_mul): array 1 is absent in tree 0, and there in tree 1"));
    tt_tree_dot(p, whole);
    CHECK(strstr(front_said(), "array 1 is absent in one tree, and there in the other"));
}

/* The same numbers as of the weights alone. */
static void test_training(void)
{
    Dense p = without(), g = tt_call_as(Dense, tt_grad(loss), p, tt_full(TT_F32, 2));
    typedef TT_ADAM(tt) Alone;
    Adam opt = { 0 };
    Alone alone = { 0 };
    tt w = without().w;
    tt_start(&opt, p);
    tt_start(&alone, w);
    CHECK(!tt_is_there(opt.m.b) && tt_is_there(opt.count));
    for (int i = 0; i < 2; i++) {
        tt_adam(&p, g, &opt, 0.1, .clip = 1, .decay = 0.1);
        tt_adam(&w, g.w, &alone, 0.1, .clip = 1, .decay = 0.1);
    }
    CHECK(tt_item(tt_all(tt_equal(p.w, w))) && !tt_is_there(p.b) && !tt_is_there(opt.v.b));
    tt_sgd(&p, g, NULL, 0.5);
    Dense slow = without();
    tt_ema(&slow, p, 0.9);
    CHECK(!tt_is_there(slow.b));
    g = tt_clip_norm(g, 1);
    CHECK(!tt_is_there(g.b));
    CHECK_SAID("");
    g.b = g.w;
    tt_sgd(&p, g, NULL, 0.5);
    CHECK(strstr(front_said(), "tt_sgd: parameter 1 is absent, and its gradient there"));
}

static void test_files(void)
{
    char path[] = "/tmp/tutti_absent_XXXXXX";
    close(mkstemp(path));
    Dense p = without(), back = { 0 }, whole = { p.w, p.w };
    CHECK(tt_save(path, p, .names = TT_NAMES(Dense)));
    CHECK(tt_restore(path, &back, .names = TT_NAMES(Dense)) == 0);
    IS(back.w, 1, 2);
    CHECK(!tt_is_there(back.b));
    CHECK_SAID("");
    CHECK(tt_restore(path, &whole, .names = TT_NAMES(Dense)) == -1);
    CHECK(strstr(front_said(), "has no array named b; it has w"));
    CHECK(tt_save(path, whole, .names = TT_NAMES(Dense)));
    CHECK(tt_restore(path, &back.w, .names = TT_NAMES(Dense)) == -1);
    CHECK(strstr(front_said(), "holds 2 arrays, and the tree 1: it has no b"));
    unlink(path);
}

int main(void)
{
    front_start(4);
    test_calls();
    test_derivatives();
    test_maps();
    test_flow();
    test_trees();
    test_training();
    test_files();
    return check_done();
}
