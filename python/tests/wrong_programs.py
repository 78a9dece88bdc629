"""Wrong programs from JAX: each must end, within two seconds, in the message that names what is
wrong, in this file's lines; after each a right program must give right numbers."""
import re
import sys
import time

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import Mesh, PartitionSpec as P

N = jax.device_count()
MESH = Mesh(jax.devices(), "i")
RING = [(k, (k + 1) % N) for k in range(N)]


def mapped(f):
    return jax.jit(jax.shard_map(f, mesh=MESH, in_specs=P("i"), out_specs=P("i"), check_vma=False))


def some_skip(x):
    return lax.cond(lax.axis_index("i") < 2, lambda y: lax.psum(y, "i"), lambda y: y, x)


def others_gather(x):
    return lax.cond(lax.axis_index("i") == 1, lambda y: lax.all_gather(y, "i").sum(0),
                    lambda y: lax.psum(y, "i"), x)


def orders_differ(x):
    def one(y):
        return lax.psum(lax.ppermute(y, "i", RING), "i")

    def other(y):
        return lax.ppermute(lax.psum(y, "i"), "i", RING)

    return lax.cond(lax.axis_index("i") == 3, one, other, x)


def turns_differ(x):
    turns = lax.axis_index("i") + 1
    return lax.fori_loop(0, turns, lambda k, y: lax.psum(y, "i"), x)


def shapes_differ(x):
    return lax.cond(lax.axis_index("i") == 0, lambda y: lax.psum(jnp.stack([y, y]), "i")[0],
                    lambda y: lax.psum(y, "i"), x)


def groups_cross(x):
    return lax.cond(lax.axis_index("i") % 2 == 0,
                    lambda y: lax.psum(y, "i", axis_index_groups=[[0, 1], [2, 3]]),
                    lambda y: lax.psum(y, "i", axis_index_groups=[[0, 3], [1, 2]]), x)


def too_many_rows(x):
    sizes = jnp.full((N,), 2, jnp.int32).at[3].set(jnp.where(lax.axis_index("i") == 1, 9, 2))
    zeros = jnp.zeros((N,), jnp.int32)
    return lax.ragged_all_to_all(x, x, zeros, sizes, zeros, sizes, axis_name="i")


def too_much_memory(x):
    return jnp.tile(lax.psum(x, "i"), 1 << 23)


def nobody_sends(x):
    from jax._src.lax import parallel

    return lax.cond(lax.axis_index("i") == 0, lambda y: y, lambda y: parallel.precv(
        lax.create_token(), jax.ShapeDtypeStruct(y.shape, y.dtype), "i", [(0, 1)]), x)


WRONG = [
    (some_skip, r"all_reduce \(.*:\d+:\d+\): devices 2, 3 do not come: they have "
                r"finished; 0 1 wait$"),
    (others_gather, r"all_(gather|reduce) \(.*\): device \d comes here while device \d of its group "
                    r"waits in all_(gather|reduce) \(.*\); all members must meet in the same order$"),
    (orders_differ, r"(all_reduce|collective_permute) \(.*\): device \d comes here while device \d of "
                    r"its group waits in (all_reduce|collective_permute) \(.*\); all members"),
    (turns_differ, r"all_reduce \(.*\): device 0 does not come: it has finished; 1 2 3 wait$"),
    (shapes_differ, r"all_reduce \(.*\): device \d comes here while device \d of its group waits in "
                    r"all_reduce \(.*\); all members must meet in the same order$"),
    (groups_cross, r"all_reduce \(.*\): device \d does not come: it waits in all_reduce \(.*\); "
                   r"\d waits"),
    (too_many_rows, r"ragged_all_to_all \(.*\): partition 1 sends partition 3 rows 0 to 8, outside "
                    r"of f32\[8\]$"),
    (too_much_memory, r"result 0, f32\[67108864\]: device 0: 268435456 bytes asked, \d+ left of "
                      r"67108864"),
    (nobody_sends, r"recv \(.*\): device 1 waits for device 0, which has finished$"),
]


def right():
    x = np.arange(8.0 * N, dtype=np.float32)
    got = mapped(lambda y: lax.psum(y, "i"))(x)
    return np.array_equal(got, np.tile(x.reshape(N, 8).sum(0), N))


if __name__ == "__main__":
    x = np.ones(8 * N, np.float32)
    named = 0
    for f, pattern in WRONG:
        compiled = mapped(f).lower(x).compile()
        start = time.monotonic()
        try:
            jax.block_until_ready(compiled(x))
            said = "nothing"
        except jax.errors.JaxRuntimeError as error:
            said = str(error)
        took = time.monotonic() - start
        ok = re.search(pattern, said) and took < 2 and right()
        ok = ok and (f is too_much_memory or "wrong_programs.py:" in said)
        named += bool(ok)
        if not ok:
            print(f"{f.__name__}: after {took:.1f} s: {said}")
    print(f"{named} named")
    sys.exit(named != len(WRONG))
