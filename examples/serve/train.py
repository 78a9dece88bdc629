"""Trains a small network on four devices, and writes what classifies 64 points as a program for four devices.

    python examples/serve/train.py FOLDER        model.jaxexp; new points, and what NumPy says of them
"""
import pathlib
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax import export
from jax.sharding import Mesh, NamedSharding, PartitionSpec

jax.config.update("jax_num_cpu_devices", 4)
BATCH, WIDTH, STEPS, RATE = 64, 64, 1000, 0.1
mesh = Mesh(np.array(jax.devices()[:4]), ("batch",))
rows, whole = NamedSharding(mesh, PartitionSpec("batch")), NamedSharding(mesh, PartitionSpec())


def spirals(random, n):
    """Points of two spirals that wind around each other, and to which one each belongs."""
    which = random.integers(0, 2, n)
    turn = np.sqrt(random.uniform(0.02, 1, n)) * 3 * np.pi
    points = np.stack([np.cos(turn + np.pi * which), np.sin(turn + np.pi * which)], 1) * turn[:, None] / 10
    return (points + random.normal(0, 0.01, points.shape)).astype(np.float32), which


def initial(key):
    sizes = [2, WIDTH, WIDTH, 2]
    keys = jax.random.split(key, len(sizes) - 1)
    return [(jax.random.normal(k, (m, n)) * (2 / m) ** 0.5, jnp.zeros(n)) for k, m, n in zip(keys, sizes, sizes[1:])]


def logits(params, x):
    x = 3 * x
    for w, b in params[:-1]:
        x = jnp.tanh(x @ w + b)
    return x @ params[-1][0] + params[-1][1]


def loss(params, x, which):
    return -jnp.mean(jax.nn.log_softmax(logits(params, x))[jnp.arange(len(x)), which])


@jax.jit
def step(params, speed, x, which):
    """x is cut over the devices; that the gradient is the mean over all of it is a collective."""
    grads = jax.grad(loss)(params, x, which)
    speed = jax.tree.map(lambda v, g: 0.9 * v - RATE * g, speed, grads)
    return jax.tree.map(jnp.add, params, speed), speed


def train(random):
    params = jax.device_put(initial(jax.random.key(0)), whole)
    speed = jax.tree.map(jnp.zeros_like, params)
    x, which = (jax.device_put(a, rows) for a in spirals(random, 512))
    for _ in range(STEPS):
        params, speed = step(params, speed, x, which)
    return params


def by_numpy(params, x):
    """The same in f64 and by nobody's compiler: what the served answers are compared with."""
    x = 3 * x.astype(np.float64)
    for w, b in params[:-1]:
        x = np.tanh(x @ w + b)
    e = np.exp(x @ params[-1][0] + params[-1][1])
    return e / e.sum(1, keepdims=True)


def main(folder):
    random = np.random.default_rng(0)
    params = jax.device_get(train(random))
    classify = jax.jit(lambda x: jax.nn.softmax(logits(params, x)), in_shardings=rows, out_shardings=rows)
    exported = export.export(classify)(jax.ShapeDtypeStruct((BATCH, 2), jnp.float32))
    (folder / "model.jaxexp").write_bytes(exported.serialize())

    x, which = spirals(random, 150)
    said = by_numpy(params, x)
    print(f"{np.mean(said.argmax(1) == which):.0%} of {len(x)} new points are right")
    np.savetxt(folder / "points.txt", x, "%.9g")
    np.savetxt(folder / "expected.txt", said, "%.9g")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "."))
