/* One network over a mesh, cut two ways: its layers along "stage" (a pipeline), each layer's numbers along
 * "model" (tensor parallel).
 *
 * A layer is x + tanh(x w1) w2.  Each device has some columns of w1 and the same rows of w2: what it computes
 * is a part of a sum, and tt_psum adds the parts up.  Micro-batches go down the pipeline: in every turn each
 * stage works on another one, and hands its result to the next stage.  The program is written for one
 * device; the gradient is taken of the whole. */
#include <stdio.h>
#include <tutti.h>

enum { STAGES = 2, PARTS = 4, BATCH = 8, WIDTH = 16, INNER = 32 };

typedef struct {
    tt w1, w2; /* [stage, ...] */
} Net;
typedef struct {
    tt loss;
    Net grad;
} LossGrad;

static tt layer(tt w1, tt w2, tt x)
{
    return tt_add(x, tt_psum(tt_matmul(tt_tanh(tt_matmul(x, w1)), w2), "model"));
}

/* x, y: [part, row, column].  The last stage has a result STAGES - 1 turns later. */
static tt loss(Net p, tt x, tt y)
{
    tt stage = tt_axis_index("stage"), w1 = tt_index(p.w1, 0), w2 = tt_index(p.w2, 0);
    int stages = tt_axis_size("stage");
    tt handed = tt_zeros(TT_F32, BATCH, WIDTH), sum = tt_scalar(0);
    for (int turn = 0; turn < PARTS + stages - 1; turn++) {
        tt in = turn < PARTS ? tt_where(tt_equal(stage, 0), tt_index(x, turn), handed) : handed;
        tt out = layer(w1, w2, in);
        int done = turn - (stages - 1);
        if (done >= 0) {
            tt error = tt_sum(tt_square(tt_sub(out, tt_index(y, done))));
            sum = tt_add(sum, tt_where(tt_equal(stage, stages - 1), error, 0));
        }
        handed = tt_shift(out, "stage", 1);
    }
    return tt_div(tt_psum(sum, "stage"), PARTS * BATCH);
}
TT_FUN(tt, loss, Net, tt, tt);

static tt descend(tt p, tt g)
{
    return tt_sub(p, tt_mul(0.02, g));
}

int main(void)
{
    int n = tt_device_count(), stages = n < STAGES ? 1 : STAGES;
    tt_mesh mesh = tt_mesh_of({ "stage", stages }, { "model", n / stages });
    tt key = tt_key(0);
    tt x = tt_normal(tt_next_key(&key), TT_F32, PARTS, BATCH, WIDTH);
    tt w1 = tt_mul(0.2, tt_normal(tt_next_key(&key), TT_F32, stages, WIDTH, INNER));
    tt w2 = tt_mul(0.2, tt_normal(tt_next_key(&key), TT_F32, stages, INNER, WIDTH));
    Net net = { tt_place(w1, mesh, "stage", NULL, "model"), tt_place(w2, mesh, "stage", "model") };
    tt y = tt_sin(tt_mul(2, x));

    tt_fn mapped = tt_shard_map(loss, .mesh = mesh,
                                .in = TT_EACH_SPEC(TT_RUN(tt, TT_P("stage", NULL, "model")),
                                                   TT_RUN(tt, TT_P("stage", "model")),
                                                   TT_RUN(tt, TT_P(NULL)), TT_RUN(tt, TT_P(NULL))));
    for (int i = 0; i <= 40; i++) {
        TT_SCOPE;
        LossGrad r = tt_call_as(LossGrad, tt_value_and_grad(mapped), net, x, y);
        if (i % 10 == 0)
            printf("step %2d  loss %.3f\n", i, tt_item(r.loss));
        tt_assign(net, tt_map(descend, net, r.grad));
    }
}
