"""What test_hosts.py runs in each of two processes:

    hosts_program.py ADDRESS PROCESSES PROCESS     no launcher has started them
    hosts_program.py [METHOD]                      one has, and JAX is to find the other by itself
"""
import sys

import jax
import jax_tutti  # noqa: F401  for launchers that JAX does not know
import numpy as np

if len(sys.argv) > 3:
    jax.distributed.initialize(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
else:
    jax.distributed.initialize(cluster_detection_method=(sys.argv + [None])[1])

import jax.numpy as jnp  # noqa: E402
from jax.experimental import io_callback, multihost_utils  # noqa: E402
from jax.experimental.layout import Format, Layout  # noqa: E402
from jax.sharding import NamedSharding, PartitionSpec as P  # noqa: E402

me, here = jax.process_index(), jax.local_device_count()
n = jax.device_count()
assert (jax.process_count(), n) == (2, here * 2)
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
# pieces that lie in the other process: columns instead of rows, and rows that move on
free = jax.sharding.Mesh(mesh.devices, ("x",))
placed = jax.make_array_from_callback(rows.shape, NamedSharding(free, P("x")), lambda i: rows[i])
columns = NamedSharding(free, P(None, "x"))
for moved, expected in [(jax.jit(lambda a: a + 1, out_shardings=columns), rows + 1),
                        (jax.jit(lambda a: jnp.roll(a, 1, 0)), np.roll(rows, 1, 0))]:
    for piece in moved(placed).addressable_shards:
        np.testing.assert_array_equal(np.asarray(piece.data), expected[piece.index])
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

# An array from a device of one process to a device of another.
first, second = (jax.local_devices(process_index=p)[0] for p in (0, 1))
back = jax.local_devices(process_index=0)[-1]


def shard(a):
    """What of an array on one device is here; None: nothing."""
    assert len(a.addressable_shards) <= 1
    return np.asarray(a.addressable_shards[0].data) if a.addressable_shards else None


for values in (np.float32(3), np.zeros((0, 3)), np.arange(7, dtype=jnp.bfloat16),
               np.arange(-8, 8).astype(jnp.int4), np.arange(5) > 2, np.arange(6) * (1 + 2j),
               np.arange(3_000_000, dtype=np.float32).reshape(3, -1)):
    gone = jax.device_put(jax.device_put(values, first), second)
    again = jax.device_put(gone, back)  # it goes on before it has come
    for a, where in (gone, 1), (again, 0):
        got = shard(a)
        assert (got is None) == (me != where)
        assert got is None or (got.dtype == a.dtype and (got == values.astype(a.dtype)).all()), got

# What is still being computed, and what lies in another order of its dimensions.
square = jax.device_put(rows[:4, :4] * 100, first)
slow = jax.jit(lambda a: jax.lax.fori_loop(0, 300_000, lambda i, b: jnp.sin(b @ a), a))
far = jax.device_put(slow(square), second)
turned = jax.jit(lambda a: a, out_shardings=Format(Layout((1, 0)), square.sharding))(square)
turned = jax.device_put(turned, jax.sharding.SingleDeviceSharding(second))
if me == 1:
    assert np.isfinite(shard(far)).all() and (shard(turned) == rows[:4, :4] * 100).all()

# Cut over the devices of one process, several at once; and half of the pieces stay in their process.
line = [NamedSharding(jax.make_mesh((here,), ("x",), devices=jax.local_devices(process_index=p)),
                      P("x")) for p in (0, 1)]
many = jax.device_put(jax.device_put([rows, rows.T[:100]], line[0]), line[1])
for a, values in zip(many, (rows, rows.T[:100])):
    assert len(a.addressable_shards) == (here if me == 1 else 0)
    for piece in a.addressable_shards:
        assert (np.asarray(piece.data) == values[piece.index]).all()
mixed = NamedSharding(jax.make_mesh((here,), ("x",), devices=[second, *jax.local_devices(
    process_index=0)[:here - 1]]), P("x"))
for piece in jax.device_put(jax.device_put(rows, line[0]), mixed).addressable_shards:
    assert (np.asarray(piece.data) == rows[piece.index]).all()


# What fails where it is computed fails with the same words where it was to go.
def fails(a):
    raise ValueError("no more of this")


bad = jax.jit(lambda a: jax.pure_callback(fails, a, a)).lower(square).compile()
bad = jax.device_put(bad(slow(square)), second)  # it fails when slow has ended, not before
if me == 1:
    try:
        shard(bad)
        raise AssertionError("a transfer of what has failed is read")
    except jax.errors.JaxRuntimeError as e:
        assert "no more of this" in str(e) and "process 0" in str(e), e

# To devices of JAX's own CPU backend, of which one is in another process: refused, as from a GPU.
cpus = NamedSharding(jax.make_mesh((here,), ("x",), devices=jax.devices("cpu")[:here]), P("x"))
try:
    jax.device_put(jax.device_put(rows, line[0]), cpus)
    raise AssertionError("an array crosses to another backend in another process")
except ValueError as e:
    assert "cross-host reshard" in str(e) or "second argument" in str(e), e

# What jax.experimental.multihost_utils has.
multihost_utils.sync_global_devices("here")
assert multihost_utils.broadcast_one_to_all(np.int32(me + 7)) == 7
multihost_utils.assert_equal(np.arange(3), "all have the same")
try:
    multihost_utils.assert_equal(np.array([me]), "they differ")
    raise AssertionError("different values are told to be equal")
except AssertionError as e:
    assert "they differ" in str(e), e
local = multihost_utils.global_array_to_host_local_array(cut, mesh, P("x"))
assert (np.asarray(local) == np.arange(4 * n)[me * 4 * here:(me + 1) * 4 * here]).all()
print(f"right {me}\n", end="", flush=True)  # in one piece
