"""Values that lie in parts (unreduced), on a mesh of two: how they are spread, and where they are summed.

Prints what is wrong; nothing, if all is right.
"""
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import AxisType, PartitionSpec as P, reshard

MESH = jax.make_mesh((2,), ("x",), (AxisType.Explicit,), devices=jax.devices()[:2])


def check(what, got, want):
    if not np.array_equal(np.asarray(got), np.asarray(want)):
        print(f"wrong: {what}: {got}, not {want}")


def shards(x):
    return [np.asarray(s.data) for s in x.addressable_shards]


def spread():
    """What all have lies on one device, what is cut stays where it is, among zeros."""
    move = jax.jit(lambda x: x, out_shardings=P(unreduced={"x"}))
    check("whole", shards(move(jnp.arange(1, 5))), [[1, 2, 3, 4], [0, 0, 0, 0]])
    check("cut", shards(move(jax.device_put(np.arange(1, 5), P("x")))), [[1, 2, 0, 0], [0, 0, 3, 4]])


def accumulated():
    """Gradients of rows that are cut, added up over a loop of batches: summed once, behind it."""
    @jax.jit
    def step(w, batches):
        def body(total, rows):
            g = jax.grad(lambda w: jnp.sum(jnp.dot(jnp.dot(rows, w), w)))(w)
            return total + g, None
        zero = reshard(jnp.zeros_like(w), P(unreduced={"x"}))
        total, _ = jax.lax.scan(body, zero, batches)
        return reshard(w, P()) - reshard(total, P())

    w = np.arange(16.0, dtype=np.float32).reshape(4, 4) / 8
    batches = np.arange(24.0, dtype=np.float32).reshape(3, 2, 4) / 8
    want = w - sum(
        np.outer(rows.sum(0), w.sum(1)) + np.outer((rows @ w).sum(0), np.ones(4)) for rows in batches)
    ours = step.lower(jax.device_put(w, P(reduced={"x"})),
                      jax.device_put(batches, P(None, "x"))).compile()
    got = ours(jax.device_put(w, P(reduced={"x"})), jax.device_put(batches, P(None, "x")))
    check("gradients", np.abs(got - want).max() < 1e-4, True)
    check("how often they are summed", ours.as_text().count("all-reduce("), 1)


def scattered():
    """A sum of which each device keeps a piece is not made whole anywhere."""
    x = np.arange(16.0, dtype=np.float32).reshape(4, 4)
    product = jax.jit(lambda x: jnp.dot(x.T, x, out_sharding=P("x")))
    ours = product.lower(jax.device_put(x, P("x"))).compile()
    check("product", ours(jax.device_put(x, P("x"))), x.T @ x)
    text = ours.as_text()
    check("how it is summed", [text.count("reduce-scatter("), text.count("all-reduce(")], [1, 0])


if __name__ == "__main__":
    with jax.set_mesh(MESH):
        spread()
        accumulated()
        scattered()
