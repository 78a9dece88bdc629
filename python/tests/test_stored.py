"""Compiled programs that outlive their process: JAX's cache on disk, serialize_executable, export."""
import os

from test_seam import play

HITS = """
from jax._src import monitoring
events = []
monitoring.register_event_listener(lambda name, **more: events.append(name.split("/")[-1]))
jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)
x = np.arange(4, dtype=np.float32)
np.testing.assert_allclose(jax.jit(lambda x: jnp.sin(x) * 2)(x), np.sin(x) * 2, rtol=1e-6)
total = jax.pmap(lambda x: jax.lax.psum(x, "i") + jax.lax.axis_index("i"), axis_name="i")
np.testing.assert_array_equal(total(x), 6 + x)
@jax.jit
def grown(x):
    return jax.pure_callback(lambda a: np.asarray(a) + 1, x, x) if CALLS else x + 1
np.testing.assert_array_equal(grown(x), x + 1)
print(events.count("cache_misses"), events.count("cache_hits"))
"""


def play_cached(python, folder, calls=False, **more):
    program = f"CALLS = {calls}\n" + HITS
    return play(python, program, JAX_COMPILATION_CACHE_DIR=str(folder), **more).split()


def test_another_process_finds_them(python, tmp_path):
    misses, hits = play_cached(python, tmp_path)
    assert int(misses) >= 2 and hits == "0" and len(os.listdir(tmp_path)) == int(misses)
    assert play_cached(python, tmp_path) == ["0", misses]


def test_calls_of_python_are_not_stored(python, tmp_path):
    both = dict(JAX_PLATFORMS="tutti,cpu", JAX_RAISE_PERSISTENT_CACHE_ERRORS="1")
    for calls in (True, False):
        play_cached(python, tmp_path / str(calls), calls=calls, **both)
        stored = [name for name in os.listdir(tmp_path / str(calls)) if name.startswith("jit_grown")]
        assert bool(stored) != calls


def test_damaged_files_are_compiled_again(python, tmp_path):
    misses, _ = play_cached(python, tmp_path)
    play(python, f"""
        import pathlib
        from jax._src import compilation_cache as cache
        for path in pathlib.Path({str(tmp_path)!r}).glob("*-cache"):
            bytes = bytearray(cache.decompress_executable(path.read_bytes()))
            bytes[-5] ^= 4
            path.write_bytes(cache.compress_executable(bytes))
    """)
    assert play_cached(python, tmp_path, PYTHONWARNINGS="ignore") == [misses, "0"]


STORE = """
import pickle, sys
from jax.experimental.serialize_executable import serialize, deserialize_and_load
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
mesh = Mesh(np.array(jax.devices())[::-1], "i")
cut = NamedSharding(mesh, P("i"))
x = np.arange(8, dtype=np.float32)
"""


def test_serialize_executable(python, tmp_path):
    path = str(tmp_path / "stored")
    play(python, STORE + f"""
f = jax.jit(lambda x: {{"y": x * 2 + x.sum()}}, in_shardings=cut, out_shardings=cut, donate_argnums=0)
with open({path!r}, "wb") as file:
    pickle.dump(serialize(f.lower(x).compile()), file)
""")
    play(python, STORE + f"""
with open({path!r}, "rb") as file:
    stored = pickle.load(file)
f = deserialize_and_load(*stored, execution_devices=list(mesh.devices.flat))
given = jax.device_put(x, cut)
y = f(given)["y"]
assert given.is_deleted()
np.testing.assert_array_equal(y, x * 2 + 28)
assert [s.device.id for s in sorted(y.addressable_shards, key=lambda s: s.index[0].start)] == [3, 2, 1, 0]
""")


def test_broken_bytes_are_named(python):
    out = play(python, """
        client = jax.devices()[0].client
        compiled = jax.jit(lambda x: x + 1).lower(1.0).compile()
        bytes = compiled._executable.xla_executable.serialize()
        ours = bytes.index(b"TUTTI")  # before it is what JAX says of itself
        for broken in (bytes[:ours], bytes[:ours] + b"something else, and longer than our header",
                       bytes[:-1], bytes[:-30] + b"!!" + bytes[-28:]):
            try:
                client.deserialize_executable(broken, client.devices()[:1])
                print("loaded")
            except jax.errors.JaxRuntimeError as error:
                print(error)
    """)
    lines = out.splitlines()
    assert len(lines) == 4 and all("INVALID_ARGUMENT" in line for line in lines)
    assert "these 0 bytes are not an executable that Tutti has stored" in lines[0]
    assert "are not an executable that Tutti has stored" in lines[1]
    assert all("is cut short or damaged" in line for line in lines[2:])


def test_export_to_another_process(python, tmp_path):
    path = str(tmp_path / "exported")
    play(python, f"""
        from jax import export
        f = jax.jit(lambda x: jnp.tanh(x) * 3)
        stored = export.export(f, platforms=["tutti", "cpu"])(jax.ShapeDtypeStruct((4,), np.float32))
        open({path!r}, "wb").write(stored.serialize(vjp_order=1))
    """)
    play(python, f"""
        from jax import export
        f = export.deserialize(bytearray(open({path!r}, "rb").read()))
        x = np.linspace(-1, 1, 4, dtype=np.float32)
        np.testing.assert_allclose(f.call(x), np.tanh(x) * 3, rtol=1e-6)
        slope = jax.grad(lambda x: f.call(x).sum())(x)
        np.testing.assert_allclose(slope, 3 - 3 * np.tanh(x) ** 2, rtol=1e-5)
    """)


def test_no_key_without_a_folder(python):
    """JAX's own backends make one; ours spares every compilation the time."""
    python(["-c", """
import jax
from jax._src import compilation_cache
def made(*args, **named):
    raise AssertionError("a key for a cache that is not there")
compilation_cache.get_cache_key = made
assert jax.jit(lambda x: x + 1)(1.0) == 2
"""], "tutti")
