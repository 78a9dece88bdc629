"""Collectives and placements on meshes of every form, against NumPy.

A mesh is a box of devices, here in the order that JAX lists them and in another.  Where a case
names axes, every choice of axes in every order is played: `reference` below says in NumPy what a
collective along them means, device by device.
"""
import itertools
import math

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
from jax import lax
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec as P

from play_cases import play

N = jax.device_count()
SHAPES = {2: [(2,)], 3: [(3,)], 4: [(4,), (2, 2)], 8: [(8,), (2, 4), (4, 2), (2, 2, 2)]}[N]
checks = 0


def same(what, got, want):
    global checks
    got, want = np.asarray(got), np.asarray(want)
    equal = got.shape == want.shape and got.dtype == want.dtype and np.array_equal(got, want)
    assert equal, f"{what}: {got.dtype} {got.tolist()}, expected {want.dtype} {want.tolist()}"
    checks += 1


def meshes():
    """Every shape, with the devices in two orders."""
    shuffled = np.random.RandomState(0).permutation(N)
    for shape, order in itertools.product(SHAPES, (np.arange(N), shuffled)):
        names = "abc"[: len(shape)]
        devices = np.array(jax.devices())[order].reshape(shape)
        yield Mesh(devices, tuple(names), axis_types=(AxisType.Auto,) * len(shape))


def choices(names):
    """Every choice of one or more names, in every order."""
    for count in range(1, len(names) + 1):
        yield from itertools.permutations(names, count)


# ---- collectives along axes ----


def lines(mesh, axes):
    """For each position in the mesh the positions it meets along axes, in their order; and which
    of those it is itself."""
    sizes = dict(mesh.shape)
    for position in np.ndindex(*mesh.devices.shape):
        here = dict(zip(mesh.axis_names, position))
        line = []
        for steps in np.ndindex(*(sizes[a] for a in axes)):
            there = {**here, **dict(zip(axes, steps))}
            line.append(tuple(there[a] for a in mesh.axis_names))
        yield position, line, line.index(position)


IN_MESH_ORDER = {"ring", "holes", "pshuffle"}  # JAX counts these pairs so, whatever axes' order


def collectives(axes, size):
    """name: (what a device does with its x, what NumPy makes of the xs of a line for member k)"""
    ring = [(k, (k + 1) % size) for k in range(size)]
    holes = [(k, size - 1 - k) for k in range(0, size, 2)]
    turned = list(range(1, size)) + [0]

    def permuted(pairs):
        sources = {b: a for a, b in pairs}
        return lambda xs, k: xs[sources[k]] if k in sources else np.zeros_like(xs[0])

    return {
        "psum": (lambda x: lax.psum(x, axes), lambda xs, k: sum(xs)),
        "pmax": (lambda x: lax.pmax(x, axes), lambda xs, k: np.max(xs, 0)),
        "pmin": (lambda x: lax.pmin(x, axes), lambda xs, k: np.min(xs, 0)),
        "pmean": (lambda x: lax.pmean(x, axes), lambda xs, k: (sum(xs) / size).astype(xs[0].dtype)),
        "all_gather": (lambda x: lax.all_gather(x, axes), lambda xs, k: np.stack(xs)),
        "all_gather tiled": (lambda x: lax.all_gather(x, axes, axis=1, tiled=True),
                             lambda xs, k: np.concatenate(xs, 1)),
        "psum_scatter": (lambda x: lax.psum_scatter(x[:size], axes),
                         lambda xs, k: sum(xs)[:size][k]),
        "psum_scatter tiled": (
            lambda x: lax.psum_scatter(x, axes, scatter_dimension=1, tiled=True),
            lambda xs, k: np.split(sum(xs), size, 1)[k]),
        "all_to_all": (lambda x: lax.all_to_all(x[:size], axes, 0, 0),
                       lambda xs, k: np.stack([x[:size][k] for x in xs], 0)),
        "all_to_all tiled": (lambda x: lax.all_to_all(x, axes, 1, 0, tiled=True),
                             lambda xs, k: np.concatenate([np.split(x, size, 1)[k] for x in xs])),
        "ring": (lambda x: lax.ppermute(x, axes, ring), permuted(ring)),
        "holes": (lambda x: lax.ppermute(x, axes, holes), permuted(holes)),
        "pshuffle": (lambda x: lax.pshuffle(x, axes, turned), lambda xs, k: xs[turned[k]]),
        "pbroadcast": (lambda x: lax.pbroadcast(x, axes, size - 1), lambda xs, k: xs[size - 1]),
        "axis_index": (lambda x: x * 0 + lax.axis_index(axes).astype(x.dtype),
                       lambda xs, k: np.full_like(xs[0], k)),
        "axis_size": (lambda x: x * 0 + lax.axis_size(axes), lambda xs, k: np.full_like(xs[0], size)),
    }


def along_axes(batch=()):
    """Each device holds an 8x8 array; what each ends up with is seen stacked over the mesh."""
    for mesh in meshes():
        every, ones = P(*mesh.axis_names), (1,) * len(mesh.axis_names)
        shape = (*mesh.devices.shape, *batch, 8, 8)
        xs = np.random.RandomState(1).randint(0, 9, shape).astype(np.float32)
        for axes in choices(mesh.axis_names):
            table = collectives(axes, math.prod(mesh.shape[a] for a in axes))

            def play(x):
                x = x.reshape(*batch, 8, 8)
                ys = {name: jax.vmap(do)(x) if batch else do(x) for name, (do, _) in table.items()}
                return {name: y.reshape(*ones, *y.shape) for name, y in ys.items()}

            got = jax.jit(jax.shard_map(play, mesh=mesh, in_specs=every, out_specs=every,
                                        check_vma=False))(xs)
            for position, line, _ in lines(mesh, axes):
                for name, (_, means) in table.items():
                    line_of = sorted(line) if name in IN_MESH_ORDER else line
                    for b in np.ndindex(*batch):
                        want = means([xs[p][b] for p in line_of], line_of.index(position))
                        same(f"{name} along {axes} of {dict(mesh.shape)} at {position}, batch {b}",
                             np.asarray(got[name])[position][b], want)


def along_axes_batched():
    """The same under vmap."""
    along_axes(batch=(2,))


def types_along_axes():
    """Every kind of element, along the last axis and along all of them."""
    for mesh in meshes():
        every, ones = P(*mesh.axis_names), (1,) * len(mesh.axis_names)
        for axes in {mesh.axis_names[-1:], mesh.axis_names[::-1]}:
            size = math.prod(mesh.shape[a] for a in axes)
            for dtype in (np.bool_, np.int8, np.float16, ml_dtypes.bfloat16, np.complex64):
                xs = np.random.RandomState(2).randint(0, 2, (*mesh.devices.shape, 8)).astype(dtype)

                def play(x):
                    x = x.reshape(8)
                    ys = (lax.all_gather(x, axes), lax.all_to_all(x, axes, 0, 0, tiled=True),
                          lax.psum(x, axes) if dtype != np.bool_ else lax.pmax(x.astype(int), axes),
                          lax.ppermute(x, axes, [(0, size - 1)]))
                    return [y.reshape(*ones, *y.shape) for y in ys]

                got = jax.jit(jax.shard_map(play, mesh=mesh, in_specs=every, out_specs=every,
                                            check_vma=False))(xs)
                for position, line, k in lines(mesh, axes):
                    mine = [xs[p] for p in line]
                    total = (sum(mine).astype(dtype) if dtype != np.bool_
                             else np.max(mine, 0).astype(np.int32))
                    want = (np.stack(mine), np.concatenate([np.split(x, size)[k] for x in mine]),
                            total, mine[0] if k == size - 1 else np.zeros_like(mine[0]))
                    for a, b in zip(got, want, strict=True):
                        same(f"{np.dtype(dtype).name} along {axes} of {dict(mesh.shape)}",
                             np.asarray(a)[position], b)


def ragged_along_axes():
    """Member j sends (j + k) % 3 rows to member k of its line, which keeps the senders' order."""
    for mesh in meshes():
        every, ones = P(*mesh.axis_names), (1,) * len(mesh.axis_names)
        for axis in mesh.axis_names:
            size = mesh.shape[axis]
            sizes = np.array([[(j + k) % 3 for k in range(size)] for j in range(size)], np.int32)
            starts, ends = np.cumsum(sizes, 1) - sizes, np.cumsum(sizes, 0) - sizes
            for dtype in (np.float32, np.complex64, np.bool_):
                xs = np.random.RandomState(3).randint(0, 2, (*mesh.devices.shape, 24)).astype(dtype)

                def play(x):
                    k = lax.axis_index(axis)
                    row = [jnp.asarray(t.astype(np.int32))[k]
                           for t in (starts, sizes, ends, sizes.T)]
                    return lax.ragged_all_to_all(x.reshape(24), jnp.ones(24, dtype), *row,
                                                 axis_name=axis).reshape(*ones, 24)

                got = jax.jit(jax.shard_map(play, mesh=mesh, in_specs=every, out_specs=every,
                                            check_vma=False))(xs)
                for position, line, k in lines(mesh, (axis,)):
                    want = np.ones(24, dtype)
                    for j, p in enumerate(line):
                        part = xs[p][starts[j, k]:starts[j, k] + sizes[j, k]]
                        want[ends[j, k]:ends[j, k] + sizes[j, k]] = part
                    same(f"ragged along {axis} of {dict(mesh.shape)}", np.asarray(got)[position], want)


# ---- derivatives ----


def transposes():
    """<f(x), y> = <x, f'(y)> for every collective, x and y over the whole mesh."""
    for mesh in meshes():
        every = P(*mesh.axis_names)
        rng = np.random.RandomState(4)
        for axes in {mesh.axis_names[:1], mesh.axis_names[::-1]}:
            size = math.prod(mesh.shape[a] for a in axes)
            table = collectives(axes, size)
            ones = (1,) * len(mesh.axis_names)
            for name in ("psum", "all_gather", "all_gather tiled", "psum_scatter", "all_to_all",
                         "psum_scatter tiled", "all_to_all tiled", "ring", "holes"):
                def one(x, do=table[name][0]):
                    y = do(x.reshape(8, 8))
                    return y.reshape(*ones, *y.shape)

                f = jax.shard_map(one, mesh=mesh, in_specs=every, out_specs=every, check_vma=False)
                x = rng.randint(-3, 4, (*mesh.devices.shape, 8, 8)).astype(np.float32)

                @jax.jit
                def products(x, y):
                    z, back = jax.vjp(f, x)
                    return (z * y).sum(), (back(y)[0] * x).sum()

                shape = jax.eval_shape(f, x).shape
                y = rng.randint(-3, 4, shape).astype(np.float32)
                a, b = products(x, y)
                same(f"transpose of {name} along {axes} of {dict(mesh.shape)}", a, b)


# ---- placements ----


def specs(names):
    """Ways to cut a matrix: every axis, pair of axes in both orders, or nothing, on each side."""
    sides = [None, *names, *itertools.permutations(names, 2)]
    for first, second in itertools.product(sides, repeat=2):
        used = [*(first or ()), *(second or ())]
        if len(set(used)) == len(used):
            yield P(first, second)


def lies(what, got, want, sharding):
    """The values, and that each device holds the part that the sharding says."""
    same(what, got, want)
    assert got.sharding.is_equivalent_to(sharding, got.ndim), f"{what}: lies as {got.sharding}"
    for shard in got.addressable_shards:
        same(f"{what} on device {shard.device.id}", shard.data,
             want[sharding.devices_indices_map(want.shape)[shard.device]])


def from_everywhere_to_everywhere():
    """From every placement to every other: by jit's out_shardings, by device_put, by constraint."""
    x = np.arange(16 * 8, dtype=np.float32).reshape(16, 8)
    for mesh in meshes():
        places = [NamedSharding(mesh, spec) for spec in specs(mesh.axis_names)]
        spread = jax.jit(lambda y: [y + 1] * len(places), out_shardings=places)
        for place in places[:: 1 if N < 8 else 4]:
            placed = jax.device_put(x, place)
            lies(f"device_put to {place.spec}", placed, x, place)
            for there, got in zip(places, spread(placed), strict=True):
                lies(f"{place.spec} to {there.spec} on {dict(mesh.shape)}", got, x + 1, there)
        turned = places[1:] + places[:1]
        for a, b in list(zip(places, turned))[::3]:
            lies(f"device_put from {a.spec} to {b.spec}", jax.device_put(jax.device_put(x, a), b), x, b)
            bound = jax.jit(lambda y: lax.with_sharding_constraint(y.T, b) * 2, in_shardings=a)
            lies(f"constraint {b.spec} under {a.spec}", bound(x), 2 * x.T, b)


def as_specs_say():
    """shard_map with every in and out spec: each device sees its part, and parts make the whole."""
    x = np.arange(16 * 8, dtype=np.float32).reshape(16, 8)
    for mesh in meshes():
        for spec in specs(mesh.axis_names):
            place = NamedSharding(mesh, spec)
            index = place.devices_indices_map(x.shape)
            f = jax.jit(jax.shard_map(lambda y: (y * 2, y.sum()[None]), mesh=mesh, in_specs=spec,
                                      out_specs=(spec, P(mesh.axis_names)), check_vma=False))
            doubled, totals = f(x)
            lies(f"shard_map {spec} on {dict(mesh.shape)}", doubled, 2 * x, place)
            want = [x[index[d]].sum() for d in mesh.devices.flat]
            same(f"what devices see of {spec}", totals, np.array(want, np.float32))


def partly_manual():
    """Manual over every choice of axes; the array is cut along the others too."""
    x = np.random.RandomState(5).randint(0, 5, (8, 8)).astype(np.float32)
    for mesh in meshes():
        for count in range(1, len(mesh.axis_names) + 1):
            for manual in itertools.combinations(mesh.axis_names, count):
                size = math.prod(mesh.shape[a] for a in manual)
                others = tuple(a for a in mesh.axis_names if a not in manual)

                def f(y):
                    z = lax.psum(y, manual) + lax.axis_index(manual)
                    return z @ jnp.eye(8) + y.sum(1, keepdims=True)

                g = jax.jit(jax.shard_map(f, mesh=mesh, in_specs=P(manual), out_specs=P(manual),
                                          axis_names=set(manual), check_vma=False))
                rows = x.reshape(size, 8 // size, 8)
                want = rows.sum(0) + np.arange(size).reshape(-1, 1, 1) + rows.sum(2, keepdims=True)
                want = want.reshape(8, 8).astype(np.float32)
                for spec in {P(), P(manual, others or None), P(others or None, manual)}:
                    placed = jax.device_put(x, NamedSharding(mesh, spec))
                    same(f"manual {manual} of {dict(mesh.shape)}, cut as {spec}", g(placed), want)


CASES = [along_axes, along_axes_batched, types_along_axes, ragged_along_axes, transposes,
         from_everywhere_to_everywhere, as_specs_say, partly_manual]

if __name__ == "__main__":
    play(CASES, lambda: checks)
