/* A perceptron cut two ways: its hidden units along "m", and what each device keeps of weights and momentum along "d". */
#include <tutti.h>

enum { ROWS = 32, WIDTH = 8, HIDDEN = 16, STEPS = 51 };

typedef struct {
    tt w1, w2, b;
} Net;
typedef struct {
    Net net;
    TT_SGD(Net) opt;
} State;

static tt whole(tt x, int axis)
{
    return tt_all_gather(x, "d", .axis = axis, .tiled = true);
}

static tt loss(Net p, tt x, tt y)
{
    tt h = tt_tanh(tt_matmul(x, whole(p.w1, 0)));
    tt out = tt_add(tt_psum(tt_matmul(h, whole(p.w2, 1)), "m"), whole(p.b, 0));
    return tt_pmean(tt_mean(tt_square(tt_sub(out, y))), "d");
}
TT_FUN(tt, loss, Net, tt, tt);

static tt step(State *s, tt x, tt y)
{
    Net grad;
    tt value = tt_loss_grad(&grad, loss, s->net, x, y);
    tt_sgd(&s->net, grad, &s->opt, 0.1, .momentum = 0.9);
    return value;
}
TT_METHOD(tt, step, State, tt, tt);

#define CUT TT_RUN(tt, TT_P("d", "m")), TT_RUN(tt, TT_P("m", "d")), TT_RUN(tt, TT_P("d"))

int main(void)
{
    int n = tt_device_count();
    tt_mesh mesh = tt_mesh_of({ "d", n < 2 ? 1 : 2 }, { "m", n < 2 ? 1 : n / 2 });
    tt k[3];
    tt_keys(k, tt_key(8));
    State s = { .net = { tt_mul(0.3, tt_normal(k[0], TT_F32, WIDTH, HIDDEN)),
                         tt_mul(0.3, tt_normal(k[1], TT_F32, HIDDEN, WIDTH)),
                         tt_zeros(TT_F32, WIDTH) } };
    tt_start(&s.opt, s.net);
    tt x = tt_normal(k[2], TT_F32, ROWS, WIDTH), y = tt_sin(tt_mul(2, x));
    tt_fn train =
        tt_shard_map(step, .mesh = mesh, .in = TT_EACH_SPEC(CUT, CUT, TT_RUN(tt[2], TT_P("d"))),
                     .out = TT_EACH_SPEC(CUT, CUT, TT_RUN(tt, TT_P(NULL))));
    TT_FOR(i, STEPS) {
        tt value = tt_update(&s, train, x, y);
        if (i % 10 == 0)
            tt_printf("step %d loss %.5f\n", i, value);
    }
}
