"""DLPack: arrays of NumPy and others as ours, ours as theirs, and whose memory they are in."""
from test_seam import play

SETUP = """
import gc
jax.devices()  # before the first, JAX has not heard of us

class Foreign:
    "Another library's array: nothing but DLPack's two functions, as their older forms are."
    def __init__(self, a):
        self.a = a
    def __dlpack__(self, stream=None):
        return self.a.__dlpack__()
    def __dlpack_device__(self):
        return self.a.__dlpack_device__()

class Taker:
    "One that takes a capsule: what it says of type and memory."
    def __init__(self, a):
        import ctypes
        get = ctypes.pythonapi.PyCapsule_GetPointer
        get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
        self.capsule = a.__dlpack__()
        fields = (ctypes.c_uint8 * 24).from_address(get(self.capsule, b"dltensor"))
        self.address = int.from_bytes(bytes(fields[:8]), "little")
        self.type = tuple(fields[20:22])  # code and bits

def address(a):
    return np.asarray(a).__array_interface__["data"][0]

x = np.arange(12, dtype=np.float32).reshape(3, 4)
"""


def test_in_without_a_copy(python):
    play(python, SETUP + """
for taken in (x, Foreign(x)):
    for options in ({}, {"copy": False}):
        y = jax.dlpack.from_dlpack(taken, **options)
        assert y.devices() == {jax.devices()[0]} and address(y) == address(x)
        np.testing.assert_array_equal(y * 2 + 1, x * 2 + 1)
copied = jax.dlpack.from_dlpack(x, copy=True)
assert address(copied) != address(x)
np.testing.assert_array_equal(copied, x)
there = jax.dlpack.from_dlpack(x, device=jax.devices()[2])
assert there.devices() == {jax.devices()[2]}
np.testing.assert_array_equal(there, x)
np.testing.assert_array_equal(jnp.from_dlpack(x), x)
for t in (np.int8, np.uint8, np.int16, np.int32, np.uint32, np.float16, np.complex64, np.bool_):
    a = np.arange(7).astype(t)
    b = jax.dlpack.from_dlpack(a)
    assert b.dtype == a.dtype and address(b) == address(a)
    np.testing.assert_array_equal(b, a)
""")


def test_in_at_any_address(python):
    """An array that begins in the middle of another, and what is computed of it."""
    play(python, SETUP + """
big = np.random.default_rng(0).normal(size=100003).astype(np.float32)
for offset in (1, 3, 5, 16):
    v = big[offset:offset + 90000]
    m = v.reshape(300, 300)
    a, b = jax.dlpack.from_dlpack(v), jax.dlpack.from_dlpack(m)
    assert address(a) == address(v)
    np.testing.assert_allclose(jnp.exp(a) + 1, np.exp(v) + 1, rtol=1e-5)
    np.testing.assert_allclose(jnp.sum(a), v.sum(dtype=np.float64), rtol=1e-4, atol=1e-2)
    np.testing.assert_allclose(b @ b, m @ m, rtol=1e-3, atol=1e-3)
    np.testing.assert_array_equal(jnp.sort(b, 1).T, np.sort(m, 1).T)
""")


def test_in_by_a_copy(python):
    """What is not row-major is copied, or refused where that is not wanted."""
    play(python, SETUP + """
for a in (x.T, np.asfortranarray(x)):
    np.testing.assert_array_equal(jax.dlpack.from_dlpack(a), a)
    try:
        jax.dlpack.from_dlpack(a, copy=False)
        raise SystemExit("no error")
    except jax.errors.JaxRuntimeError as error:
        assert "in a layout that is not row-major" in str(error), error
flat = np.ones((1, 5, 1), np.float32).T
assert address(jax.dlpack.from_dlpack(flat, copy=False)) == address(flat)
""")


def test_out_without_a_copy(python):
    play(python, SETUP + """
y = jnp.asarray(x) + 1
assert tuple(y.__dlpack_device__()) == (1, 0)
taken = np.from_dlpack(y)
assert address(taken) == address(y)
np.testing.assert_array_equal(taken, x + 1)
assert address(jax.dlpack.from_dlpack(y)) == address(y)
for t, said in ((jnp.float32, (2, 32)), (jnp.bfloat16, (4, 16)), (jnp.int8, (0, 8)),
                (jnp.uint16, (1, 16)), (jnp.complex64, (5, 64)), (jnp.bool_, (6, 8))):
    a = jnp.ones((2, 2), t)
    taker = Taker(a)
    assert taker.type == said and taker.address == address(a), (t, taker.type)
bf = jnp.arange(5, dtype=jnp.bfloat16) / 3
back = jax.dlpack.from_dlpack(bf)
assert back.dtype == jnp.bfloat16 and address(back) == address(bf)
np.testing.assert_array_equal(back, bf)
mesh = jax.sharding.Mesh(np.array(jax.devices()), "i")
cut = jax.device_put(np.zeros(4, np.float32),
                     jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("i")))
try:
    cut.__dlpack__()
    raise SystemExit("no error")
except BufferError as error:
    assert "singular device" in str(error), error
""")


def test_memory_stays(python):
    """Each side keeps the memory that the other owns, and gives it back."""
    play(python, SETUP + """
import weakref
live = lambda: jax.devices()[0].memory_stats()["bytes_in_use"]
before = live()
y = jnp.full(1 << 20, 7, jnp.int32) + 0
taken = np.from_dlpack(y)
del y
gc.collect()
jnp.ones(1 << 20, jnp.int32).block_until_ready()
assert (taken == 7).all()
give_away = jax.jit(lambda a: a + 1, donate_argnums=0)
z = jnp.full(1 << 20, 5, jnp.int32) + 0
view = np.from_dlpack(z)
np.testing.assert_array_equal(give_away(z), np.full(1 << 20, 6))
assert (view == 5).all()
del taken, view, z
gc.collect()
assert live() - before < 1 << 20, (live(), before)

class Owner(np.ndarray):
    pass
own = np.full(1000, 3, np.float32).view(Owner)
gone = weakref.ref(own)
a = jax.dlpack.from_dlpack(own)
kept = np.asarray(own).copy()
np.testing.assert_array_equal(give_away(a), kept + 1)  # foreign memory is never written to
del own, a
gc.collect()
assert gone() is None
""")
