"""What a training step of a small network costs from Python JAX: the twin of onestep.c."""
import statistics
import time

import jax
import jax.numpy as jnp

TURNS, STEPS, BATCH = 15, 100, 64
n = jax.device_count()


def loss(p, x, y):
    w1, b1, w2, b2, w3, b3 = p
    h = jnp.tanh(jnp.tanh(x @ w1 + b1) @ w2 + b2)
    return ((h @ w3 + b3 - y) ** 2).mean()


def step(p, x, y):
    value, grad = jax.lax.pmean(jax.value_and_grad(loss)(p, x, y), "i")
    return jax.tree.map(lambda p, g: p - 0.01 * g, p, grad), value


keys = jax.random.split(jax.random.key(0), 5)
f = jax.pmap(step, "i")
p = (jax.random.normal(keys[0], (n, 64, 128)), jnp.zeros((n, 128)),
     jax.random.normal(keys[1], (n, 128, 128)), jnp.zeros((n, 128)),
     jax.random.normal(keys[2], (n, 128, 10)), jnp.zeros((n, 10)))
x = jax.random.normal(keys[3], (n, BATCH, 64))
y = jax.random.normal(keys[4], (n, BATCH, 10))
p, _ = f(p, x, y)
for waits in (True, False):
    times = []
    for _ in range(TURNS + 2):
        start = time.perf_counter()
        for i in range(STEPS):
            p, value = f(p, x, y)
            if waits or i == STEPS - 1:
                value.block_until_ready()
        times.append((time.perf_counter() - start) / STEPS)
    print("step waited" if waits else "step handed over", f"{1e6 * statistics.median(times[2:]):.1f} us")
