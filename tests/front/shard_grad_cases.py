"""What JAX makes of gradients taken inside a shard_map: the programs of tests/unit/shard_grad_test.c.

usage: shard_grad_cases.py > tests/front/shard_grad_cases.txt

One line an array: name, number of the result, rank, extents, elements.  JAX checks here, as it does by
default, along which axes values differ (check_vma).
"""
import os

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"
os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import Mesh, PartitionSpec as P

LINE = Mesh(np.array(jax.devices()), ("s",))
SQUARE = Mesh(np.array(jax.devices()).reshape(2, 2), ("d", "m"))


def numbers(shape, step):
    n = int(np.prod(shape, dtype=int))
    return (((np.arange(n) * step) % 23 - 11) / 8).astype(np.float32).reshape(shape)


def show(name, results):
    for i, x in enumerate(jax.tree.leaves(results)):
        x = np.asarray(x, dtype=np.float32)
        print(name, i, x.ndim, *x.shape, *[repr(float(v)) for v in x.ravel()])


def line(f, ins, outs):
    return jax.jit(jax.shard_map(f, mesh=LINE, in_specs=ins, out_specs=outs))


def square(f, ins, outs):
    return jax.jit(jax.shard_map(f, mesh=SQUARE, in_specs=ins, out_specs=outs))


def summed(w, x):
    return lax.psum(jnp.sum(jnp.sin(w * x)), "s")


def unsummed(w, x):
    return jnp.sum(jnp.sin(w * x))


def averaged(w, x):
    return lax.pmean(jnp.sum(jnp.sin(w * x)), "s") * jnp.sum(w)


def gathered(w, x):
    whole = lax.all_gather(w, "s", tiled=True)
    return lax.psum(jnp.sum(jnp.sin(whole * x)), "s")


def gathered_alone(w, x):
    return jnp.sum(jnp.sin(lax.all_gather(w, "s", tiled=True) * x))


def scattered(w, x):
    mine = lax.psum_scatter(jnp.sin(w * x), "s", tiled=True)
    return lax.psum(jnp.sum(mine * mine), "s")


def squares(w, x):
    return jnp.sum(jax.grad(summed)(w, x) ** 2)


def branched(w, x):
    """JAX 0.10.2 would have the devices of one branch wait for those of the other; ours does not."""
    w = lax.pcast(w, "s", to="varying")
    first = lax.axis_index("s") < 2
    return lax.psum(jnp.sum(lax.cond(first, lambda: jnp.sin(w * x), lambda: jnp.exp(w) + x)), "s")


def loop_loss(w, x):
    pv = lambda v: lax.pcast(v, "s", to="varying")
    return lax.psum(jnp.sum(lax.fori_loop(0, 3, lambda i, v: jnp.sin(v * w + x[0]), pv(w))), "s")


def steps(w, rows):
    def body(w, x):
        loss, g = jax.value_and_grad(summed)(w, x)
        return w - 0.1 * g, loss

    return lax.scan(body, w, rows)


def tensor_parallel(p, x, y):
    h = jnp.tanh(x @ p[0] + p[1])
    out = lax.psum(h @ p[2], "m") + p[3]
    return lax.pmean(jnp.mean((out - y) ** 2), "d")


def zero_step(p, mom, x, y):
    """Momentum is kept in parts along "d": each device moves its part of the weights."""
    loss, grads = jax.value_and_grad(tensor_parallel)(p, x, y)
    part = lambda a: lax.dynamic_slice_in_dim(a, lax.axis_index("d") * 4, 4)
    moms = [0.9 * m + part(g) for m, g in zip(mom, (grads[0], grads[2]))]
    moved = [part(w) - 0.1 * m for w, m in zip((p[0], p[2]), moms)]
    return loss, moved, moms


def pipeline(p, xs, ys):
    w, b = p[0][0], p[1][0]

    def tick(carry, x):
        x = jnp.where(lax.axis_index("s") == 0, x, carry)
        y = jnp.tanh(x @ w + b)
        return lax.ppermute(y, "s", [(i, (i + 1) % 4) for i in range(4)]), y

    rows = jnp.concatenate([xs, jnp.zeros((3,) + xs.shape[1:], xs.dtype)])
    start = lax.pcast(jnp.zeros(xs.shape[1:], xs.dtype), "s", to="varying")
    _, out = lax.scan(tick, start, rows)
    last = lax.axis_index("s") == 3
    return lax.psum(jnp.where(last, jnp.mean((out[3:] - ys) ** 2), 0.0), "s")


def main():
    w, x = numbers((4,), 5), numbers((4, 4), 37)
    flat = x.reshape(16)
    for f in summed, unsummed, averaged, branched, loop_loss:
        show(f.__name__, line(jax.grad(f), (P(), P("s")), P())(w, x))
        show(f.__name__ + "_x", line(jax.grad(f, 1), (P(), P("s")), P("s"))(w, x))
    for f in gathered, gathered_alone:
        show(f.__name__, line(jax.grad(f), (P("s"), P()), P("s"))(flat, numbers((16,), 7)))
    show("scattered", line(jax.grad(scattered), (P(), P("s")), P())(w, flat))
    show("squares", line(squares, (P(), P("s")), P())(w, x))
    show("squares_twice", line(jax.grad(squares), (P(), P("s")), P())(w, x))
    show("squares_outside", jax.grad(line(squares, (P(), P("s")), P()), (0, 1))(w, x))
    show("jitted", line(jax.jit(jax.grad(jax.jit(summed))), (P(), P("s")), P())(w, x))
    each = jax.vmap(jax.grad(summed), (None, 0))
    show("each_row", line(each, (P(), P("s")), P())(w, numbers((8, 4), 37)))
    show("steps", line(steps, (P(), P(None, "s")), (P(), P()))(w, numbers((3, 4, 4), 37)))
    p = [numbers((8, 16), 5) / 4, numbers((16,), 3), numbers((16, 8), 7) / 4, numbers((8,), 11)]
    specs = [P(None, "m"), P("m"), P("m", None), P()]
    xy = numbers((12, 8), 37), numbers((12, 8), 29)
    f = square(jax.value_and_grad(tensor_parallel), (specs, P("d"), P("d")), (P(), specs))
    show("tensor_parallel", f(p, *xy))
    mom = [numbers((8, 16), 13), numbers((16, 8), 17)]
    cut = [P("d", "m"), P(("m", "d"), None)]
    f = square(zero_step, (specs, cut, P("d"), P("d")), (P(), cut, cut))
    show("zero", f(p, mom, *xy))
    p = [numbers((4, 8, 8), 5) / 4, numbers((4, 8), 3) / 4]
    f = line(jax.value_and_grad(pipeline), (P("s"), P(), P()), (P(), P("s")))
    show("pipeline", f(p, numbers((6, 4, 8), 37), numbers((6, 4, 8), 29)))


main()
