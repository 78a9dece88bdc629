"""An LSTM that adds up what it saw at two marks, each device with its part of the sequences."""
import jax
import jax.numpy as jnp
import optax
from jax import lax, random

ROWS, LENGTH, WIDTH, STEPS = 64, 12, 16, 61


def cell(p, state, x):
    h, c = state
    i, f, g, o = jnp.split(x @ p["x"] + h @ p["h"] + p["b"], 4, axis=-1)
    c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
    return (jax.nn.sigmoid(o) * jnp.tanh(c), c), None


def loss(p, x, y):
    zero = jnp.zeros((x.shape[1], WIDTH))
    (h, _), _ = lax.scan(lambda s, row: cell(p, s, row), (zero, zero), x)
    return jnp.mean((h @ p["out"] - y) ** 2)


adam = optax.adam(1e-2)


def step(state, x, y):
    p, opt = state
    value, grad = lax.pmean(jax.value_and_grad(loss)(p, x, y), "batch")
    updates, opt = adam.update(grad, opt)
    return (optax.apply_updates(p, updates), opt), value


def weights(key, *shape):
    return 0.3 * random.normal(key, shape)


k = random.split(random.key(7), 5)
p = {
    "x": weights(k[0], 2, 4 * WIDTH),
    "h": weights(k[1], WIDTH, 4 * WIDTH),
    "b": jnp.zeros(4 * WIDTH),
    "out": weights(k[2], WIDTH),
}
marks = jnp.arange(LENGTH)[:, None] == random.randint(k[3], (ROWS,), 0, LENGTH)
x = jnp.stack([random.uniform(k[4], (LENGTH, ROWS)), marks], -1)
y = jnp.sum(x[..., 0] * marks, 0)
state = p, adam.init(p)
n = jax.device_count()
x, y = x.reshape(LENGTH, n, -1, 2), y.reshape(n, -1)
train = jax.pmap(step, axis_name="batch", in_axes=(None, 1, 0), out_axes=None)
for i in range(STEPS):
    state, value = train(state, x, y)
    if i % 10 == 0:
        print(f"step {i} loss {value:.5f}")
