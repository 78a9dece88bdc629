/* A small GPT that learns a text, on all devices: characters in, the next character out.
 *
 * The parameters are one struct, and so are the gradients and each half of Adam's state.  Every device has
 * all of them and its part of the batch; tt_pmean makes one gradient of theirs. */
#include <stdio.h>
#include <tutti.h>

enum { CHARS = 128, WIDTH = 32, HEADS = 4, LAYERS = 2, LENGTH = 24, BATCH = 64, STEPS = 60 };

typedef struct {
    tt scale, shift;
} Norm;
typedef struct {
    tt w, b;
} Dense;
typedef struct {
    Norm before_attention, before_mlp;
    Dense qkv, out, up, down;
} Block;
typedef struct {
    tt chars, places;
    Block block[LAYERS];
    Norm last;
    tt head;
} Gpt;
typedef TT_ADAM(Gpt) Adam;
typedef struct {
    tt loss;
    Gpt grad;
} LossGrad;
typedef struct {
    Gpt net;
    Adam opt;
    tt loss;
} Step;

/* ---- the model ---- */

static tt norm(Norm p, tt x)
{
    return tt_add(tt_mul(tt_normalize(x, 1e-5), p.scale), p.shift);
}

static tt dense(Dense p, tt x)
{
    return tt_add(tt_matmul(x, p.w), p.b);
}

static tt attention(Block p, tt x)
{
    tt part[3];
    tt_parts(part, tt_reshape(dense(p.qkv, x), -1, LENGTH, 3 * HEADS, WIDTH / HEADS), 2);
    tt heads = tt_attention(part[0], part[1], part[2], .causal = true);
    return dense(p.out, tt_reshape(heads, -1, LENGTH, WIDTH));
}

static tt scores(Gpt p, tt text)
{
    tt x = tt_add(tt_take(p.chars, text, 0), p.places);
    for (int i = 0; i < LAYERS; i++) {
        Block b = p.block[i];
        x = tt_add(x, attention(b, norm(b.before_attention, x)));
        x = tt_add(x, dense(b.down, tt_gelu(dense(b.up, norm(b.before_mlp, x)))));
    }
    return tt_matmul(norm(p.last, x), p.head);
}

static tt loss(Gpt p, tt text, tt next)
{
    return tt_mean(tt_cross_entropy(scores(p, text), next));
}
TT_FUN(tt, loss, Gpt, tt, tt);

/* ---- a step ---- */

static Step step(Gpt net, Adam opt, tt text)
{
    tt now = tt_get(text, TT_REST, TT_RANGE(0, LENGTH)),
       next = tt_get(text, TT_REST, TT_RANGE(1, TT_END));
    LossGrad r = tt_pmean(tt_call_as(LossGrad, tt_value_and_grad(loss), net, now, next), "batch");
    tt rate = tt_warmup_cosine(tt_add(opt.count, 1), 1e-2, 10, STEPS, 1e-3);
    tt_adam(&net, r.grad, &opt, rate, .b2 = 0.95, .decay = 0.01, .clip = 1);
    return (Step){ net, opt, r.loss };
}
TT_FUN(Step, step, Gpt, Adam, tt);

/* ---- its beginning ---- */

static tt random_of(tt *key, int64_t rows, int64_t columns)
{
    return tt_mul(0.05, tt_normal(tt_next_key(key), TT_F32, rows, columns));
}

static Dense dense_of(tt *key, int64_t in, int64_t out)
{
    return (Dense){ random_of(key, in, out), tt_zeros(TT_F32, out) };
}

static Gpt gpt_of(tt key)
{
    Norm flat = { tt_ones(TT_F32, WIDTH), tt_zeros(TT_F32, WIDTH) };
    Gpt p = { .last = flat };
    p.chars = random_of(&key, CHARS, WIDTH);
    p.places = random_of(&key, LENGTH, WIDTH);
    p.head = random_of(&key, WIDTH, CHARS);
    for (int i = 0; i < LAYERS; i++) {
        Block *b = &p.block[i];
        b->before_attention = b->before_mlp = flat;
        b->qkv = dense_of(&key, WIDTH, 3 * WIDTH);
        b->out = dense_of(&key, WIDTH, WIDTH);
        b->up = dense_of(&key, WIDTH, 4 * WIDTH);
        b->down = dense_of(&key, 4 * WIDTH, WIDTH);
    }
    return p;
}

static const char text[] = "One program, every device plays it at once, each on its own slice "
                           "of the data, and the devices talk only through collectives. The "
                           "parameters are the same on all of them, the batches are not. Each "
                           "finds out where its own batch would have the parameters go; then "
                           "they meet, and the mean of all that is where all of them go. Nobody "
                           "has to be told, because everybody has added up the same numbers in "
                           "the same order.";

int main(void)
{
    int n = tt_device_count();
    tt all = tt_astype(tt_from((const uint8_t *)text, sizeof text - 1), TT_I32);
    Gpt net = gpt_of(tt_key(0));
    Adam opt;
    tt_start(&opt, net);
    tt_fn train = tt_pmap(step, .axis_name = "batch", .in_axes = { TT_NONE, TT_NONE, 0 },
                          .out_axis = TT_NONE);
    for (int i = 0; i < STEPS; i++) {
        TT_SCOPE;
        tt from =
            tt_randint(tt_fold_in(tt_key(1), i), 0, sizeof text - 1 - LENGTH, TT_I32, BATCH, 1);
        tt rows = tt_take(all, tt_add(from, tt_arange(TT_I32, LENGTH + 1)), 0);
        Step r = tt_call_as(Step, train, net, opt, tt_reshape(rows, n, BATCH / n, LENGTH + 1));
        if (i % 10 == 0 || i == STEPS - 1)
            printf("step %2d  loss %.3f\n", i, tt_item(r.loss));
        tt_assign(net, r.net);
        tt_assign(opt, r.opt);
    }
}
