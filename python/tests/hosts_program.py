"""What test_hosts.py runs in each of several processes: hosts_program.py ADDRESS PROCESSES PROCESS."""
import sys

import jax
import numpy as np

jax.distributed.initialize(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))

import jax.numpy as jnp  # noqa: E402
from jax.experimental import io_callback, multihost_utils  # noqa: E402
from jax.sharding import NamedSharding, PartitionSpec as P  # noqa: E402

me, here = jax.process_index(), jax.local_device_count()
n = jax.device_count()
assert (jax.process_count(), n) == (int(sys.argv[2]), here * int(sys.argv[2]))
assert [d.process_index for d in jax.devices()] == [i // here for i in range(n)]

mine = np.arange(here, dtype=np.float32) + here * me
got = jax.pmap(lambda a: jax.lax.psum(a, "i"), axis_name="i")(mine)
assert (np.asarray(got) == n * (n - 1) / 2).all(), got
got = jax.pmap(lambda a: jax.lax.ppermute(a, "i", [(i, (i + 1) % n) for i in range(n)]),
               axis_name="i")(mine)
assert (np.asarray(got) == (mine - 1) % n).all(), got

mesh = jax.make_mesh((n,), ("x",))
rows = np.random.default_rng(0).standard_normal((4 * n, 300)).astype(np.float32)
cut = jax.make_array_from_callback(rows.shape, NamedSharding(mesh, P("x")), lambda i: rows[i])
whole = jax.jit(lambda a: a * 2, out_shardings=NamedSharding(mesh, P()))(cut)
assert (np.asarray(whole) == rows * 2).all()
turned = jax.jit(lambda a: a.T, out_shardings=NamedSharding(mesh, P(None, "x")))(cut)
for shard in turned.addressable_shards:
    assert (np.asarray(shard.data) == rows.T[shard.index]).all()
np.testing.assert_allclose(float(jax.jit(jnp.sum)(cut)), rows.sum(dtype=np.float64), rtol=1e-5)
assert (multihost_utils.process_allgather(np.array([me])).ravel() == np.arange(2)).all()

# An effect happens once, in the process of the first device; all get its result.
calls = []


def seen(a):
    calls.append(a)
    return a * 5


cut = jax.device_put(np.arange(4 * n, dtype=np.float32), NamedSharding(mesh, P("x")))
got = jax.jit(lambda a: io_callback(seen, a, a) + 1)(cut)
for shard in got.addressable_shards:
    assert (np.asarray(shard.data) == np.arange(4 * n)[shard.index] * 5 + 1).all()
jax.effects_barrier()
assert len(calls) == (1 if me == 0 else 0), calls
print("right", me)
