/* A transformer learns what follows what, each device with its part of the batch: AdamW, warmup, clipping. */
#include <tutti.h>

enum { WORDS = 32, LENGTH = 16, WIDTH = 32, HEADS = 4, LAYERS = 2, BATCH = 16, STEPS = 61 };

typedef struct {
    tt w, b;
} Dense;
typedef struct {
    tt scale, shift;
} Norm;
typedef struct {
    Norm norm1, norm2;
    Dense qkv, out, up, down;
} Block;
typedef struct {
    tt words, places;
    Block blocks[LAYERS];
    Norm last;
    tt head;
} Gpt;
typedef struct {
    Gpt net;
    TT_ADAM(Gpt) opt;
} State;
typedef struct {
    tt value, size;
} Loss;

static tt weights(tt key, int rows, int columns)
{
    return tt_mul(0.02, tt_normal(key, TT_F32, rows, columns));
}

static Dense dense_of(tt key, int rows, int columns)
{
    return (Dense){ weights(key, rows, columns), tt_zeros(TT_F32, columns) };
}

static Norm norm_of(void)
{
    return (Norm){ tt_ones(TT_F32, WIDTH), tt_zeros(TT_F32, WIDTH) };
}

static Block block_of(tt key)
{
    tt k[4];
    tt_keys(k, key);
    return (Block){ norm_of(),
                    norm_of(),
                    dense_of(k[0], WIDTH, 3 * WIDTH),
                    dense_of(k[1], WIDTH, WIDTH),
                    dense_of(k[2], WIDTH, 4 * WIDTH),
                    dense_of(k[3], 4 * WIDTH, WIDTH) };
}

static Gpt gpt_of(tt key)
{
    tt k[LAYERS + 3];
    tt_keys(k, key);
    Gpt p = { weights(k[0], WORDS, WIDTH), weights(k[1], LENGTH, WIDTH), .last = norm_of(),
              .head = weights(k[2], WIDTH, WORDS) };
    for (int i = 0; i < LAYERS; i++)
        p.blocks[i] = block_of(k[3 + i]);
    return p;
}

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

static tt loss(Gpt p, tt text)
{
    tt x = tt_add(tt_get(p.words, tt_slice(text, 1, 0, LENGTH)), p.places);
    for (int i = 0; i < LAYERS; i++) {
        Block b = p.blocks[i];
        x = tt_add(x, attention(b, norm(b.norm1, x)));
        x = tt_add(x, dense(b.down, tt_gelu(dense(b.up, norm(b.norm2, x)))));
    }
    tt logits = tt_matmul(norm(p.last, x), p.head);
    return tt_mean(tt_cross_entropy(logits, tt_slice(text, 1, 1, LENGTH + 1)));
}
TT_FUN(tt, loss, Gpt, tt);

static Loss step(State *s, tt text)
{
    Gpt grad;
    tt value = tt_loss_grad(&grad, loss, s->net, text);
    grad = tt_pmean(grad, "batch");
    tt rate = tt_warmup_cosine(s->opt.count, 1e-2, 10, STEPS, 0);
    tt_adam(&s->net, grad, &s->opt, rate, .b2 = 0.95, .decay = 0.1, .clip = 1);
    return (Loss){ tt_pmean(value, "batch"), tt_tree_norm(grad) };
}
TT_METHOD(Loss, step, State, tt);

int main(void)
{
    int n = tt_device_count();
    State s = { .net = gpt_of(tt_key(0)) };
    tt_start(&s.opt, s.net);
    tt_fn train =
        tt_pmap(step, .axis_name = "batch", .in_axes = { TT_NONE, 0 }, .out_axis = TT_NONE);
    TT_FOR(i, STEPS) {
        tt text[LENGTH + 1];
        text[0] = tt_randint(tt_fold_in(tt_key(1), i), 0, WORDS, TT_I32, n, BATCH / n);
        for (int t = 0; t < LENGTH; t++)
            text[t + 1] = tt_mod(tt_add(tt_mul(3, text[t]), 1), WORDS);
        Loss r = tt_update_as(Loss, &s, train, tt_stack_n(text, LENGTH + 1, -1));
        if (i % 10 == 0)
            tt_printf("step %d loss %.4f gradient %.4f\n", i, r.value, r.size);
    }
}
