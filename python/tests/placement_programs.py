"""Where results lie when a program leaves that open: as JAX's own CPU devices have it.

Both platforms are in one process; each case is played on both, on meshes of their devices, and
values, shardings and shards are compared.  Prints the cases that differ.
"""
import itertools
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.experimental.shard_alike import shard_alike
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

N = len(jax.devices("tutti"))
assert len(jax.devices("cpu")) == N

# y is what a pmap gives: (N, 6), cut along its first dimension.
OF_Y = {
    "y+y": lambda y: y + y,
    "y*2": lambda y: y * 2,
    "sin": jnp.sin,
    "y+row": lambda y: y + jnp.arange(6.0),
    "where": lambda y: jnp.where(y > 1, y, 0),
    "astype": lambda y: y.astype(jnp.int32),
    "softmax": lambda y: jax.nn.softmax(y, axis=1),
    "softmax 0": lambda y: jax.nn.softmax(y, axis=0),
    "zeros_like": jnp.zeros_like,
    "grad": jax.grad(lambda y: (y * y).sum()),
    "identity": lambda y: y,
    "alike": lambda y: shard_alike(y, jnp.ones(y.shape))[1],
    "alike, the other first": lambda y: shard_alike(jnp.ones(y.shape), y),
    "alike, three": lambda y: shard_alike(shard_alike(y, jnp.ones(y.shape))[1], jnp.zeros(y.shape)),
    "alike in a loop": lambda y: lax.fori_loop(0, 3, lambda k, z: shard_alike(y, z + k)[1], jnp.ones(y.shape)),
    "alike in a scan": lambda y: lax.scan(lambda c, k: (sum(shard_alike(c, y)), None), jnp.ones(y.shape), jnp.arange(3.0)),
    "alike in a branch": lambda y: lax.cond(y.sum() > 0, lambda z: shard_alike(y, z)[1] + 1, lambda z: z - 1, y * 2),
    "alike, grad": jax.grad(lambda y: sum(shard_alike(y * y, jnp.arange(6.0) * y)).sum()),
    "alike, vmap": lambda y: jax.vmap(lambda r: shard_alike(r, jnp.ones(6))[1])(y),
    "fori": lambda y: lax.fori_loop(0, 3, lambda k, z: z * 2 + k, y),
    "while": lambda y: lax.while_loop(lambda z: z.sum() < 1e3, lambda z: z * 2 + 1, y),
    "cond": lambda y: lax.cond(y.sum() > 0, lambda z: z + 1, lambda z: z - 1, y),
    "at set": lambda y: y.at[0].set(7),
    "flip": lambda y: jnp.flip(y, 0),
    "flip 1": lambda y: jnp.flip(y, 1),
    "roll": lambda y: jnp.roll(y, 1, 0),
    "cumsum 0": lambda y: jnp.cumsum(y, 0),
    "cumsum 1": lambda y: jnp.cumsum(y, 1),
    "sort 0": lambda y: jnp.sort(y, 0),
    "sort 1": lambda y: jnp.sort(-y, 1),
    "y.T": lambda y: y.T,
    "y[None]": lambda y: y[None],
    "stack": lambda y: jnp.stack([y, y]),
    "broadcast": lambda y: jnp.broadcast_to(y, (2, *y.shape)),
    "sum 1": lambda y: y.sum(1),
    "argmax 1": lambda y: jnp.argmax(y, 1),
    "y[:,0]": lambda y: y[:, 0],
    "y[:,1:3]": lambda y: y[:, 1:3],
    "ij,ij->i": lambda y: jnp.einsum("ij,ij->i", y, y),
    "vmap dot": lambda y: jax.vmap(jnp.dot)(y, y),
    "sum": lambda y: y.sum(),
    "sum 0": lambda y: y.sum(0),
    "mean 0": lambda y: y.mean(0, keepdims=True),
    "y[0]": lambda y: y[0],
    "y[1:]": lambda y: y[1:],
    "y[[0,1]]": lambda y: y[jnp.array([0, 1])],
    "pad": lambda y: jnp.pad(y, ((1, 1), (0, 0))),
    "y.T@y": lambda y: y.T @ y,
    "ij->": lambda y: jnp.einsum("ij,ij->", y, y),
    "y@w": lambda y: y @ jnp.ones((6, 5)),
    "y@y.T": lambda y: y @ y.T,
    "w.T@y.T": lambda y: jnp.ones((5, 6)) @ y.T,
    "reshape flat": lambda y: y.reshape(-1),
    "reshape split": lambda y: y.reshape(N, 3, 2),
    "reshape back": lambda y: y.reshape(N, 3, 2).reshape(N, 6),
    "concatenate 0": lambda y: jnp.concatenate([y, y], 0),
    "concatenate 1": lambda y: jnp.concatenate([y, y], 1),
    "scan": lambda y: lax.scan(lambda c, row: (c + row.sum(), c * row), 0.0, y),
    "constant beside": lambda y: (jnp.arange(3), y * 2),
    "expand": lambda y: y[:, None, :] * y[:, :, None],
    "max and index": lambda y: lax.top_k(y, 2),
    "two sums": lambda y: (y.sum(0), y.sum(1)),
    "norm": lambda y: y / jnp.linalg.norm(y),
}

# What jit(shard_map) gives; argument and result specs, with arguments that lie nowhere yet.
SPECS = [
    (P("i"), P("i")), (P(None, "i"), P(None, "i")), (P("i"), P(None, "i")), (P(), P()),
]


# On a mesh of 2x2x2: what happens where operands lie differently.
PAIRS = [
    (P("a"), P("b")), (P("a"), P(("a", "b"))), (P(("a", "b")), P("a")), (P(("a", "b")), P("b")),
    (P("b"), P(("a", "b"))), (P("c"), P(("a", "b"))), (P("a"), P(None, "a")),
    (P(None, "a"), P("a")), (P("a", "b"), P("b", "a")), (P("a", "b"), P(None, "a")),
    (P(None, "a"), P("a", "b")), (P("a", "b"), P("c", None)), (P("a", None), P("c", "b")),
    (P("a", "b"), P("a", "b")), (P(None, "a"), P(None, "a")), (P("a", None), P(None, "a")),
    (P(None, "b"), P("b", None)), (P("a", "b"), P("c", "a")), (P("a", "b"), P("b", "c")),
]
OF_PAIRS = {
    "add": lambda x, y: x + y,
    "alike": shard_alike,
    "dot": lambda x, y: x @ y,
    "concatenate": lambda x, y: jnp.concatenate([x, y]),
    "where": lambda x, y: jnp.where(x > 0, x, y),
    "row": lambda x, y: x + y[0],
    "sums": lambda x, y: (x.sum(0) + y.sum(0), x.sum(1) * y.sum(1)),
}


def describe(tree):
    out = []
    for a in jax.tree.leaves(tree):
        s = a.sharding
        spec = tuple(s.spec) if isinstance(s, NamedSharding) else type(s).__name__
        while isinstance(spec, tuple) and spec and spec[-1] is None:
            spec = spec[:-1]
        shards = sorted((x.device.id, str(x.index), x.data.shape) for x in a.addressable_shards)
        out.append((spec, shards, np.asarray(a)))
    return out


def compare(name, play):
    ours, theirs = (describe(play(jax.devices(platform))) for platform in ("tutti", "cpu"))
    bad = []
    for i, (a, b) in enumerate(zip(ours, theirs, strict=True)):
        if a[0] != b[0] or a[1] != b[1]:
            bad.append(f"{name}, result {i}: lies as {a[0]}, on JAX's devices as {b[0]}")
        if a[2].dtype != b[2].dtype or not np.allclose(a[2], b[2], rtol=1e-4, atol=1e-4):
            bad.append(f"{name}, result {i}: {a[2].tolist()} instead of {b[2].tolist()}")
    return bad


def cases():
    x = np.random.RandomState(0).randn(N, 6).astype(np.float32)
    for name, f in OF_Y.items():
        def play(devices, f=f):
            y = jax.pmap(lambda row: row * 2, devices=devices)(x)
            return jax.jit(f)(y)
        yield name, play
    square = np.random.RandomState(1).randn(2 * N, 2 * N).astype(np.float32)
    for given, wanted in SPECS:
        def play(devices, given=given, wanted=wanted):
            mesh = Mesh(devices, "i")
            f = jax.shard_map(lambda y: y * 3, mesh=mesh, in_specs=given,
                              out_specs=given if wanted != given and given == P() else wanted,
                              check_vma=False)
            with jax.default_device(devices[0]):
                return jax.jit(lambda y: f(y) + 1)(square)
        yield f"shard_map {given} {wanted}", play
    if N % 2 == 0:
        for spec in [P("a", "b"), P("b", "a"), P(("a", "b")), P(None, ("b", "a")), P("b")]:
            def play(devices, spec=spec):
                mesh = Mesh(np.array(devices).reshape(2, N // 2), ("a", "b"))
                y = jax.device_put(square, NamedSharding(mesh, spec))
                return jax.jit(lambda z: (z + z.T, z @ z, z.sum(0), z.sum(1), z[0], z.T, z.max()))(y)
            yield f"mesh {spec}", play


def pair_cases():
    x, y = np.random.RandomState(2).randn(2, 16, 16).astype(np.float32)
    for (name, f), (one, other) in itertools.product(OF_PAIRS.items(), PAIRS):
        def play(devices, f=f, one=one, other=other):
            mesh = Mesh(np.array(devices).reshape(2, 2, 2), ("a", "b", "c"))
            return jax.jit(f)(jax.device_put(x, NamedSharding(mesh, one)),
                              jax.device_put(y, NamedSharding(mesh, other)))
        yield f"{name} of {one} and {other}", play


if __name__ == "__main__":
    bad = []
    count = 0
    for name, play in itertools.chain(cases(), pair_cases() if N == 8 else []):
        count += 1
        try:
            bad += compare(name, play)
        except Exception as error:  # noqa: BLE001: every case is to be played
            bad.append(f"{name}: {type(error).__name__}: {str(error)[:300]}")
    print("\n".join(bad))
    print(f"{count} cases, {len(bad)} differ")
    sys.exit(bool(bad))
