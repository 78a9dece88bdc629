"""A transformer learns what follows what, each device with its part of the batch: AdamW, warmup, clipping."""
import jax
import jax.numpy as jnp
import optax
from jax import lax, random

WORDS, LENGTH, WIDTH, HEADS, LAYERS, BATCH, STEPS = 32, 16, 32, 4, 2, 16, 61


def weights(key, rows, columns):
    return 0.02 * random.normal(key, (rows, columns))


def dense_of(key, rows, columns):
    return {"w": weights(key, rows, columns), "b": jnp.zeros(columns)}


def norm_of():
    return {"scale": jnp.ones(WIDTH), "shift": jnp.zeros(WIDTH)}


def block_of(key):
    k = random.split(key, 4)
    return {
        "norm1": norm_of(),
        "norm2": norm_of(),
        "qkv": dense_of(k[0], WIDTH, 3 * WIDTH),
        "out": dense_of(k[1], WIDTH, WIDTH),
        "up": dense_of(k[2], WIDTH, 4 * WIDTH),
        "down": dense_of(k[3], 4 * WIDTH, WIDTH),
    }


def gpt_of(key):
    k = random.split(key, LAYERS + 3)
    return {
        "words": weights(k[0], WORDS, WIDTH),
        "places": weights(k[1], LENGTH, WIDTH),
        "blocks": [block_of(k[3 + i]) for i in range(LAYERS)],
        "last": norm_of(),
        "head": weights(k[2], WIDTH, WORDS),
    }


def norm(p, x):
    return jax.nn.standardize(x, epsilon=1e-5) * p["scale"] + p["shift"]


def dense(p, x):
    return x @ p["w"] + p["b"]


def attention(p, x):
    qkv = dense(p["qkv"], x).reshape(-1, LENGTH, 3 * HEADS, WIDTH // HEADS)
    q, k, v = jnp.split(qkv, 3, axis=2)
    heads = jax.nn.dot_product_attention(q, k, v, is_causal=True)
    return dense(p["out"], heads.reshape(-1, LENGTH, WIDTH))


def loss(p, text):
    x = p["words"][text[:, :-1]] + p["places"]
    for b in p["blocks"]:
        x += attention(b, norm(b["norm1"], x))
        x += dense(b["down"], jax.nn.gelu(dense(b["up"], norm(b["norm2"], x))))
    logits = norm(p["last"], x) @ p["head"]
    return optax.softmax_cross_entropy_with_integer_labels(logits, text[:, 1:]).mean()


rate = optax.warmup_cosine_decay_schedule(0, 1e-2, 10, STEPS)
adam = optax.chain(optax.clip_by_global_norm(1), optax.adamw(rate, b2=0.95, weight_decay=0.1))


def step(state, text):
    net, opt = state
    value, grad = lax.pmean(jax.value_and_grad(loss)(net, text), "batch")
    updates, opt = adam.update(grad, opt, net)
    return (optax.apply_updates(net, updates), opt), (value, optax.global_norm(grad))


n = jax.device_count()
net = gpt_of(random.key(0))
state = net, adam.init(net)
train = jax.pmap(step, axis_name="batch", in_axes=(None, 0), out_axes=None)
for i in range(STEPS):
    text = [random.randint(random.fold_in(random.key(1), i), (n, BATCH // n), 0, WORDS)]
    for _ in range(LENGTH):
        text.append((3 * text[-1] + 1) % WORDS)
    state, (value, size) = train(state, jnp.stack(text, -1))
    if i % 10 == 0:
        print(f"step {i} loss {value:.4f} gradient {size:.4f}")
