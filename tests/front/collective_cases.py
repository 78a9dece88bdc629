"""What JAX makes of the collectives of tests/front/collectives.def.

usage: collective_cases.py > tests/front/collective_cases.txt

One line an array: name, which (value, outside, inside), rank, extents, elements.  outside is the
gradient of a sum over all members, taken around the map; inside is taken by each member.
"""
import os
import re

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"
os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import Mesh, PartitionSpec as P

EVEN, UNEVEN, NEIGHBOURS = [[0, 2], [3, 1]], [[2, 0, 3], [1]], [[0, 1], [2, 3]]
sin = jnp.sin


def mean_in_groups(x):
    """JAX divides by the size of the first group; a mean divides by that of one's own."""
    total = lax.psum(x, "i", axis_index_groups=UNEVEN)
    return total / jnp.where(lax.axis_index("i") == 1, 1.0, 3.0)


def broadcast(x, names, source):
    """lax.pbroadcast as its documentation defines it: JAX's CPU backend has none."""
    return lax.psum(jnp.where(lax.axis_index(names) == source, x, 0.0), names)


def exchange(x, names, split, concat):
    """lax.all_to_all, which JAX 0.10.2 cannot differentiate where the two axes differ: that part is
    left to all_to_all along one axis, after moving it there."""
    moved = lax.all_to_all(jnp.moveaxis(x, split, concat), names, concat, concat)
    plain = lax.all_to_all(lax.stop_gradient(x), names, split, concat)
    return moved + lax.stop_gradient(plain - moved)


def shift(x, by):
    return lax.ppermute(x, "i", [(k, (k + by) % 4) for k in range(4)])


ONE = {
    "psum": lambda x: x * lax.psum(sin(x), "i"),
    "psum_bool": lambda x: lax.psum(x > 0, "i") + 0.0,
    "psum_groups": lambda x: x * lax.psum(sin(x), "i", axis_index_groups=EVEN),
    "psum_uneven": lambda x: x * lax.psum(x, "i", axis_index_groups=UNEVEN),
    "pmean": lambda x: x - lax.pmean(x * x, "i"),
    "pmean_groups": lambda x: x * lax.pmean(x, "i", axis_index_groups=NEIGHBOURS),
    "pmean_uneven": lambda x: x * mean_in_groups(x),
    "pmax": lambda x: lax.pmax(x, "i") - x,
    "pmin": lambda x: lax.pmin(x, "i") - x,
    "pmax_groups": lambda x: lax.pmax(x, "i", axis_index_groups=EVEN) - x,
    "pmin_uneven": lambda x: lax.pmin(x, "i", axis_index_groups=UNEVEN) - x,
    "all_gather": lambda x: sin(lax.all_gather(x, "i")),
    "all_gather_1": lambda x: sin(lax.all_gather(x, "i", axis=1)),
    "all_gather_last": lambda x: sin(lax.all_gather(x, "i", axis=-1)),
    "all_gather_tiled": lambda x: sin(lax.all_gather(x, "i", tiled=True)),
    "all_gather_tiled_1": lambda x: sin(lax.all_gather(x, "i", axis=1, tiled=True)),
    "all_gather_groups": lambda x: sin(lax.all_gather(x, "i", axis_index_groups=EVEN)),
    "all_gather_groups_tiled": lambda x: sin(
        lax.all_gather(x, "i", axis=1, tiled=True, axis_index_groups=EVEN)
    ),
    "psum_scatter": lambda x: lax.psum_scatter(sin(x), "i"),
    "psum_scatter_1": lambda x: lax.psum_scatter(sin(x), "i", scatter_dimension=1),
    "psum_scatter_tiled": lambda x: lax.psum_scatter(sin(x), "i", tiled=True),
    "psum_scatter_tiled_1": lambda x: lax.psum_scatter(
        sin(x), "i", scatter_dimension=1, tiled=True
    ),
    "psum_scatter_groups": lambda x: lax.psum_scatter(sin(x), "i", axis_index_groups=EVEN),
    "psum_scatter_groups_tiled": lambda x: lax.psum_scatter(
        sin(x), "i", scatter_dimension=1, tiled=True, axis_index_groups=EVEN
    ),
    "all_to_all": lambda x: lax.all_to_all(sin(x), "i", 0, 0),
    "all_to_all_01": lambda x: exchange(sin(x), "i", 0, 1),
    "all_to_all_10": lambda x: exchange(sin(x), "i", 1, 0),
    "all_to_all_20": lambda x: exchange(sin(x), "i", 2, 0),
    "all_to_all_02": lambda x: exchange(sin(x), "i", 0, 2),
    "all_to_all_tiled": lambda x: lax.all_to_all(sin(x), "i", 0, 0, tiled=True),
    "all_to_all_tiled_01": lambda x: lax.all_to_all(sin(x), "i", 0, 1, tiled=True),
    "all_to_all_tiled_10": lambda x: lax.all_to_all(sin(x), "i", 1, 0, tiled=True),
    "all_to_all_groups": lambda x: lax.all_to_all(sin(x), "i", 0, 0, axis_index_groups=EVEN),
    "all_to_all_groups_tiled": lambda x: lax.all_to_all(
        sin(x), "i", 0, 1, tiled=True, axis_index_groups=EVEN
    ),
    "pswapaxes": lambda x: lax.pswapaxes(sin(x), "i", 1),
    "shift": lambda x: shift(x, 1) - 2 * shift(x, -1),
    "ppermute": lambda x: x * lax.ppermute(sin(x), "i", [(0, 2), (3, 0)]),
    "ppermute_all": lambda x: x * lax.ppermute(sin(x), "i", [(0, 2), (3, 0), (1, 3), (2, 1)]),
    "pshuffle": lambda x: x * lax.pshuffle(sin(x), "i", [2, 0, 3, 1]),
    "pbroadcast": lambda x: x * broadcast(sin(x), "i", 2),
    "axis_index": lambda x: x * lax.axis_index("i"),
    "axis_size": lambda x: x * lax.axis_size("i"),
}
TWO = {
    "sum_i": lambda x: x * lax.psum(sin(x), "i"),
    "sum_j": lambda x: x * lax.psum(sin(x), "j"),
    "sum_ij": lambda x: x * lax.psum(sin(x), ("i", "j")),
    "mean_ji": lambda x: x * lax.pmean(sin(x), ("j", "i")),
    "max_ij": lambda x: lax.pmax(x, ("i", "j")) - lax.pmin(x, "j"),
    "index_ij": lambda x: x * lax.axis_index(("i", "j")),
    "index_ji": lambda x: x * (lax.axis_index(("j", "i")) + lax.axis_size(("i", "j"))),
    "sum_ij_groups": lambda x: x * lax.psum(sin(x), ("i", "j"), axis_index_groups=EVEN),
    "gather_ij": lambda x: sin(lax.all_gather(x, ("i", "j"))),
    "gather_ji": lambda x: sin(lax.all_gather(x, ("j", "i"), axis=1, tiled=True)),
    "gather_i": lambda x: sin(lax.all_gather(lax.psum(x, "j"), "i")),
    "scatter_ij": lambda x: lax.psum_scatter(sin(x), ("i", "j")),
    "scatter_j": lambda x: lax.psum_scatter(sin(x), "j", scatter_dimension=1),
    "exchange_ji": lambda x: lax.all_to_all(sin(x), ("j", "i"), 0, 0),
    "exchange_i": lambda x: exchange(sin(x), "i", 0, 1),
    "permute_ij": lambda x: x * lax.ppermute(sin(x), ("i", "j"), [(0, 3), (1, 0), (3, 2)]),
    "permute_j": lambda x: x * lax.ppermute(sin(x), "j", [(0, 1)]),
    "broadcast_ij": lambda x: x * broadcast(sin(x), ("i", "j"), 2),
    "broadcast_j": lambda x: x * broadcast(sin(x), "j", 1),
}


def numbers(shape, step):
    """Exact in every type: collectives_test.c makes the same."""
    n = int(np.prod(shape, dtype=int))
    return (((np.arange(n) * step) % 23 - 11) / 8).astype(np.float32).reshape(shape)


def show(name, which, x):
    x = np.asarray(x, dtype=np.float32)
    print(name, which, x.ndim, *x.shape, *[repr(float(v)) for v in x.ravel()])


def over_mesh(f):
    """2 x 2 devices, each with x[i, j]."""
    mesh = Mesh(np.array(jax.devices()).reshape(2, 2), ("i", "j"))
    piece = lambda x: f(x[0, 0])[None, None]
    return jax.jit(
        jax.shard_map(
            piece, mesh=mesh, in_specs=P("i", "j"), out_specs=P("i", "j"), check_vma=False
        )
    )


def try_all(name, f, over, members, extents, has_gradient):
    x = numbers(members + extents, 37)
    y = over(f)(x)
    show(name, "value", y)
    if not has_gradient:
        return
    c = numbers(y.shape, 29)
    show(name, "outside", jax.grad(lambda x: jnp.sum(over(f)(x) * c))(x))
    own = numbers(y.shape[len(members) :], 29)
    show(name, "inside", over(jax.grad(lambda x: jnp.sum(f(x) * own)))(x))


def main():
    text = open(os.path.join(os.path.dirname(__file__), "collectives.def")).read()
    rows = re.findall(r"^(ONE|TWO)\((\w+), D\(([\d, ]+)\), (.*)\)$", text, re.M)
    for which, name, extents, what in rows:
        dims = tuple(int(n) for n in extents.split(","))
        one = which == "ONE"
        over = (lambda f: jax.pmap(f, axis_name="i")) if one else over_mesh
        f = (ONE if one else TWO)[name]
        try_all(name, f, over, (4,) if one else (2, 2), dims, "NO_GRAD" not in what)


main()
