"""A network for images: batch norm over all devices, max pooling 3x3, running statistics."""
import jax
import jax.numpy as jnp
import optax
from jax import lax, random

IMAGES, SIDE, CLASSES = 64, 12, 3


def conv_of(key, into, out):
    return {"k": 0.2 * random.normal(key, (3, 3, into, out)), "g": jnp.ones(out), "b": jnp.zeros(out)}


def stat_of(width):
    return {"mean": jnp.zeros(width), "var": jnp.ones(width)}


def batch_norm(p, x, old):
    mean = lax.pmean(x.mean((0, 1, 2)), "batch")
    var = lax.pmean((x**2).mean((0, 1, 2)), "batch") - mean**2
    new = jax.tree.map(lambda a, b: 0.9 * a + 0.1 * b, old, {"mean": mean, "var": var})
    return (x - mean) * lax.rsqrt(var + 1e-5) * p["g"] + p["b"], new


def conv(p, x, old):
    x = lax.conv_general_dilated(x, p["k"], (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
    x, new = batch_norm(p, x, old)
    return jax.nn.relu(x), new


def loss(p, stats, x, y):
    x, s1 = conv(p["c1"], x, stats[0])
    x = lax.reduce_window(x, -jnp.inf, lax.max, (1, 3, 3, 1), (1, 2, 2, 1), "SAME")
    x, s2 = conv(p["c2"], x, stats[1])
    logits = x.mean((1, 2)) @ p["w"]
    return optax.softmax_cross_entropy_with_integer_labels(logits, y).mean(), (s1, s2)


def step(p, stats, x, y):
    f = jax.value_and_grad(loss, has_aux=True)
    (value, stats), grad = lax.pmean(f(p, stats, x, y), "batch")
    return jax.tree.map(lambda p, g: p - 0.1 * g, p, grad), stats, value


k = random.split(random.key(3), 5)
y = jnp.arange(IMAGES) % CLASSES
x = random.normal(k[0], (CLASSES, SIDE, SIDE, 1))[y] + random.normal(k[1], (IMAGES, SIDE, SIDE, 1))
p = {"c1": conv_of(k[2], 1, 8), "c2": conv_of(k[3], 8, 16), "w": 0.1 * random.normal(k[4], (16, CLASSES))}
stats = stat_of(8), stat_of(16)
n = jax.device_count()
x, y = x.reshape(n, -1, SIDE, SIDE, 1), y.reshape(n, -1)
train = jax.pmap(step, axis_name="batch", in_axes=(None, None, 0, 0), out_axes=None)
for i in range(41):
    p, stats, value = train(p, stats, x, y)
    if i % 10 == 0:
        print(f"step {i} loss {value:.4f} mean {stats[1]['mean'].mean():.4f} var {stats[0]['var'].mean():.4f}")
