"""The lesson's programs.  Run by test_lesson.py in a process of its own, once on Tutti and once on
JAX's CPU devices: python lesson_programs.py OUT.npz.  What each result is, and how close two
engines must be, stands in its name: `same/...` to the last printed digit, `sum/...` to five
digits, `bits/...` bit for bit, `ulp/...` within two units in the last place.
"""
import json
import sys

import jax
import jax.numpy as jnp
import numpy as np

n = jax.device_count()
results = {}


def square(x):
    return x**2


def curve(x):
    return x**2 + jnp.sin(x)


def loss(w, x, y):
    return jnp.mean((x @ w - y) ** 2)


def step_alone(w, x, y):
    value, grad = jax.value_and_grad(loss)(w, x, y)
    return w - 0.01 * grad, value


def step_together(w, x, y):
    value, grad = jax.value_and_grad(loss)(w, x, y)
    grad = jax.lax.pmean(grad, "batch")
    return w - 0.01 * grad, jax.lax.pmean(value, "batch")


# Maps over devices.
x = jnp.arange(n * 4).reshape(n, 4)
results["same/square"] = jax.pmap(square)(x)
x = jnp.arange(2 * n).reshape(n, 2)
results["same/curve"] = y = jax.pmap(curve)(x)
results["same/curve numpy"] = jax.pmap(curve)(np.arange(2 * n, dtype=np.float32).reshape(n, 2))
results["same/vmap"] = jax.vmap(curve)(x)
results["same/jit"] = jax.jit(curve)(x)

# What one does with the result of a map.
results["same/y+y"] = y + y
results["same/y[0]"] = y[0]
results["same/y.T"] = y.T
results["same/map of y+y"] = jax.pmap(square)(y + y)
results["sum/y.sum()"] = y.sum()
results["sum/y.sum(0)"] = y.sum(0)
results["sum/y.sum(1)"] = y.sum(1)

# Collectives.
one = jnp.arange(n * 3, dtype=jnp.float32).reshape(n, 3)
results["sum/psum"] = jax.pmap(lambda x: jax.lax.psum(x, "i"), "i")(one)
results["same/pmax"] = jax.pmap(lambda x: jax.lax.pmax(x, "i"), "i")(one)
results["same/index"] = jax.pmap(lambda x: x + jax.lax.axis_index("i"), "i")(one)
ring = [(i, (i + 1) % n) for i in range(n)]
results["same/ring"] = jax.pmap(lambda x: jax.lax.ppermute(x, "i", ring), "i")(one)
results["same/gather"] = jax.pmap(lambda x: jax.lax.all_gather(x, "i"), "i")(one)

# Random numbers, cut for the devices.
key = jax.random.PRNGKey(0)
results["bits/key"] = key
results["bits/bits"] = jax.random.bits(key, (128, 784))
results["bits/uniform"] = jax.random.uniform(key, (128, 784))
data = jax.random.normal(key, (128, 784))
results["ulp/normal"] = data
cut = data.reshape(n, 128 // n, 784)
results["ulp/cut"] = cut
results["ulp/normal on devices"] = jax.pmap(lambda k: jax.random.normal(k, (5,)))(
    jax.random.split(key, n))

# The training step: w to everybody, the batch cut.
w, target = jnp.zeros(784), 0.1 * cut.sum(axis=2)
for name, step in [("alone", step_alone), ("together", step_together)]:
    mapped = jax.pmap(step, axis_name="batch", in_axes=(None, 0, 0))
    moved, losses = mapped(w, cut, target)
    results[f"sum/{name} w"] = moved
    results[f"sum/{name} loss"] = losses
    if name == "together":
        moved2, losses2 = mapped(moved[0], cut, target)
        results["sum/second w"] = moved2
        results["sum/second loss"] = losses2
        assert (losses2 < losses).all()


def describe(a):
    return {
        "shape": a.shape,
        "dtype": str(a.dtype),
        "devices": sorted(d.id for d in a.devices()),
        "shards": [[s.device.id, str(s.index), s.data.shape] for s in a.addressable_shards],
        "text": str(a),
    }


np.savez(sys.argv[1], **{name: np.asarray(a) for name, a in results.items()})
print(json.dumps({
    "platform": jax.default_backend(),
    "devices": [d.id for d in jax.devices()],
    "count": jax.device_count(),
    "arrays": {name: describe(a) for name, a in results.items()},
}))
