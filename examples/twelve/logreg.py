"""Logistic regression, each device with its part of the rows."""
import jax
import jax.numpy as jnp
from jax import lax, random

ROWS, WIDTH = 256, 8


def loss(w, x, y):
    z = x @ w
    return jnp.mean(jax.nn.softplus(z) - y * z)


def step(w, x, y):
    value, grad = lax.pmean(jax.value_and_grad(loss)(w, x, y), "batch")
    return w - 0.5 * grad, value


k = random.split(random.key(0))
x = random.normal(k[0], (ROWS, WIDTH))
y = (x @ random.normal(k[1], (WIDTH,)) > 0).astype(jnp.float32)
n = jax.device_count()
x, y = x.reshape(n, -1, WIDTH), y.reshape(n, -1)
w = jnp.zeros(WIDTH)
train = jax.pmap(step, axis_name="batch", in_axes=(None, 0, 0), out_axes=None)
for i in range(51):
    w, value = train(w, x, y)
    if i % 10 == 0:
        print(f"step {i} loss {value:.5f}")
