"""Foreign functions written for XLA's CPU backend (jax.ffi): the same library, registered once for "cpu",
on both engines."""
import ctypes
import subprocess

import jax
import jax.numpy as jnp
import numpy as np
import pytest

PLATFORMS = ("tutti", "cpu")


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    path = tmp_path_factory.mktemp("ffi") / "handlers.so"
    source = __file__.replace("test_ffi.py", "ffi_handlers.cc")
    subprocess.run(["c++", "-std=c++17", "-O1", "-fPIC", "-shared", "-w", "-I", jax.ffi.include_dir(),
                    "-o", str(path), source, "-pthread"], check=True)
    loaded = ctypes.CDLL(str(path))
    loaded.counter_id.restype = loaded.counter_info.restype = ctypes.c_void_p
    jax.devices()
    for name in ("Scale", "Memory", "Tasks", "Later"):
        jax.ffi.register_ffi_target("test_" + name, jax.ffi.pycapsule(getattr(loaded, name)), platform="cpu")
    jax.ffi.register_ffi_type("test_Counter", {"type_id": jax.ffi.pycapsule(loaded.counter_id()),
                                               "type_info": jax.ffi.pycapsule(loaded.counter_info())}, platform="cpu")
    jax.ffi.register_ffi_target("test_Count", {"instantiate": jax.ffi.pycapsule(loaded.CountBegin),
                                               "execute": jax.ffi.pycapsule(loaded.Count)}, platform="cpu")
    return loaded


def on(platform, f, *args):
    with jax.default_device(jax.devices(platform)[0]):
        return jax.tree.map(np.asarray, jax.jit(f)(*args))


def scale(x, name="scale"):
    call = jax.ffi.ffi_call("test_Scale", jax.ShapeDtypeStruct(x.shape, x.dtype), vmap_method="broadcast_all")
    return call(x, by=np.float32(2.5), shifts=np.array([1, 2, 4], np.int64), name=name, negate=False)


@pytest.mark.parametrize("platform", PLATFORMS)
def test_attributes(library, platform):
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    np.testing.assert_array_equal(on(platform, lambda x: scale(x) + 1, x), 2.5 * x + 8)
    np.testing.assert_array_equal(on(platform, jax.vmap(scale), x), 2.5 * x + 7)


@pytest.mark.parametrize("platform", PLATFORMS)
def test_error(library, platform):
    with pytest.raises(Exception, match="the name is other"):
        on(platform, lambda x: scale(x, name="other"), np.ones(3, np.float32))


@pytest.mark.parametrize("dtype", [np.float32, np.int8, np.uint16, jnp.bfloat16, np.complex64, np.bool_])
def test_memory(library, dtype):
    x = (np.arange(24) % 2).reshape(2, 3, 4).astype(dtype) if dtype == np.bool_ else np.arange(24).reshape(2, 3, 4).astype(dtype)

    def f(x, layout):
        out = (jax.ShapeDtypeStruct((x.size * x.dtype.itemsize,), jnp.uint8), jax.ShapeDtypeStruct((4,), jnp.int64))
        return jax.ffi.ffi_call("test_Memory", out, input_layouts=[layout])(x)

    with jax.enable_x64(True):
        for layout in ((0, 1, 2), (2, 1, 0), (1, 0, 2)):
            ours, theirs = (on(p, lambda x: f(x, layout), x) for p in PLATFORMS)
            np.testing.assert_array_equal(ours[0], theirs[0])
            np.testing.assert_array_equal(ours[1], theirs[1])
            np.testing.assert_array_equal(ours[0], np.frombuffer(np.transpose(x, layout).tobytes(), np.uint8))


def test_result_layout(library):
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    call = jax.ffi.ffi_call("test_Scale", jax.ShapeDtypeStruct(x.shape, x.dtype), input_layouts=[(1, 0)], output_layouts=(1, 0))
    f = lambda x: call(x, by=np.float32(3), shifts=np.zeros(0, np.int64), name="scale", negate=True)
    for platform in PLATFORMS:
        np.testing.assert_array_equal(on(platform, f, x), -3 * x)


def test_tasks(library):  # JAX's CPU backend has no scratch memory to give
    x = np.arange(100, dtype=np.int32)
    f = lambda x: jax.ffi.ffi_call("test_Tasks", jax.ShapeDtypeStruct(x.shape, x.dtype))(x, options={"times": np.int64(3)})
    np.testing.assert_array_equal(on("tutti", f, x), 3 * x)


@pytest.mark.parametrize("platform", PLATFORMS)
def test_later(library, platform):
    f = lambda x: jax.ffi.ffi_call("test_Later", jax.ShapeDtypeStruct(x.shape, x.dtype))(x)
    np.testing.assert_array_equal(on(platform, f, np.ones(5, np.float32)), np.full(5, 2, np.float32))
    with pytest.raises(Exception, match="it came late and is negative"):
        on(platform, f, -np.ones(5, np.float32))


@pytest.mark.parametrize("platform", PLATFORMS)
def test_state(library, platform):
    before = library.counters_alive()
    with jax.enable_x64(True), jax.default_device(jax.devices(platform)[0]):
        @jax.jit
        def f():
            call = jax.ffi.ffi_call("test_Count", jax.ShapeDtypeStruct((1,), jnp.int64), has_side_effect=True)
            return call(**{"from": np.int64(5)})
        assert [int(f()[0]) for _ in range(3)] == [5, 6, 7]
    assert library.counters_alive() == before + 1
    f.clear_cache()
    jax.clear_caches()
    assert library.counters_alive() == before


# Registered before JAX has looked for devices, and without its own CPU backend.
DEVICES = """
import ctypes, jax, numpy as np
library = ctypes.CDLL({path!r})
jax.ffi.register_ffi_target("test_Scale", jax.ffi.pycapsule(library.Scale), platform="cpu")
x = np.arange(4 * 6, dtype=np.float32).reshape(4, 6)
scale = lambda x: jax.ffi.ffi_call("test_Scale", jax.ShapeDtypeStruct(x.shape, x.dtype))(
    x, by=np.float32(2.5), shifts=np.array([1, 2, 4], np.int64), name="scale", negate=False)
np.testing.assert_array_equal(np.asarray(jax.pmap(scale)(x)), 2.5 * x + 7)
"""


def test_devices(library, python):
    python(["-c", DEVICES.format(path=library._name)], "tutti", devices=4)


def test_wrong(library):
    with pytest.raises(ValueError, match="there is no stage 'perform'"):
        jax.ffi.register_ffi_target("test_None", {"perform": jax.ffi.pycapsule(library.Scale)}, platform="tutti")
    with pytest.raises(NotImplementedError, match="api_version 1"):
        jax.ffi.register_ffi_target("test_None", jax.ffi.pycapsule(library.Scale), platform="tutti", api_version=0)
    with pytest.raises(ValueError, match="test_None has no function for the stage execute"):
        jax.ffi.register_ffi_target("test_None", {"prepare": jax.ffi.pycapsule(library.Scale)}, platform="tutti")
