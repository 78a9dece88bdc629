"""Files of jax.export, run by the command line and by tt_load: what JAX itself computes."""
import ctypes
import os
import subprocess
from collections import namedtuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import export
from safetensors.numpy import save_file
from tutti_c import PLUGIN, ROOT, Dims, Tree, Tt, library, tt_dtype

ENV = dict(os.environ, TUTTI_PLUGIN=PLUGIN)


def run(path, *args, fails=None):
    done = subprocess.run([os.path.join(ROOT, "build/tutti"), "run", path, *args], env=ENV,
                          capture_output=True, text=True, timeout=120)
    if fails:
        assert done.returncode == 1 and fails in done.stderr, done.stderr
        return None
    assert done.returncode == 0, done.stderr
    return done.stdout


def results(path, folder, *args):
    run(path, *args, "--out", str(folder))
    return [np.load(folder / f"result_{i}.npy") for i in range(len(os.listdir(folder)))]


def write(path, f, *args, **options):
    order = options.pop("vjp_order", 0)
    exported = export.export(jax.jit(f), **options)(*args)
    path.write_bytes(exported.serialize(vjp_order=order))
    return str(path)


def model(params, x, *, rate=1.0):
    h = jnp.tanh(x @ params["dense"]["w"] + params["dense"]["b"])
    return {"y": (h @ params["out"]).sum(-1), "h": h * rate}


def params():
    rng = np.random.default_rng(3)
    f = lambda *shape: rng.normal(size=shape).astype(np.float32)
    return {"dense": {"w": f(5, 4), "b": f(4)}, "out": f(4, 3), "unused": f(2)}


def flat(tree):
    return {"dense.w": tree["dense"]["w"], "dense.b": tree["dense"]["b"], "out": tree["out"],
            "unused": tree["unused"]}


def test_weights_and_inputs(tmp_path):
    p, x = params(), np.linspace(-1, 1, 10, dtype=np.float32).reshape(2, 5)
    path = write(tmp_path / "model.jaxexp", model, p, x)
    save_file(flat(p), str(tmp_path / "w.safetensors"))
    np.savez(tmp_path / "x.npz", x)
    want = model(p, x)
    got = results(path, tmp_path / "out", "--weights", str(tmp_path / "w.safetensors"),
                  "--input", str(tmp_path / "x.npz"))
    np.testing.assert_allclose(got[0], want["h"], rtol=2e-6)
    np.testing.assert_allclose(got[1], want["y"], rtol=2e-6)
    run(path, "--weights", str(tmp_path / "w.safetensors"), fails="1: f32[2,5]")
    save_file(flat(p) | {"foo": p["out"]}, str(tmp_path / "v.safetensors"))
    run(path, "--weights", str(tmp_path / "v.safetensors"), fails="takes no array of that name")
    other = flat(p) | {"out": p["out"][:2]}
    save_file(other, str(tmp_path / "v.safetensors"))
    run(path, "--weights", str(tmp_path / "v.safetensors"), "--input", str(tmp_path / "x.npz"),
        fails="v.safetensors: out holds f32[2,3]; the program takes f32[4,3]")


def test_platforms_and_symbols(tmp_path):
    x = np.arange(12, dtype=np.float32).reshape(4, 3)
    np.save(tmp_path / "x.npy", x)
    scope = export.symbolic_shape("b, 3")
    path = write(tmp_path / "f.jaxexp", lambda x: jnp.sin(x) * x.shape[0],
                 jax.ShapeDtypeStruct(scope, jnp.float32), platforms=("cuda", "cpu", "tpu"))
    got = results(path, tmp_path / "out", "--input", str(tmp_path / "x.npy"))
    np.testing.assert_allclose(got[0], np.sin(x) * 4, rtol=1e-5)

    def by_platform(x):
        return jax.lax.platform_dependent(x, cpu=lambda x: x + 1, default=lambda x: x - 1)
    path = write(tmp_path / "g.jaxexp", by_platform, x, platforms=("cuda", "cpu"))
    got = results(path, tmp_path / "out2", "--input", str(tmp_path / "x.npy"))
    np.testing.assert_array_equal(got[0], x + 1)


def test_sharded(tmp_path):
    mesh = jax.sharding.AbstractMesh((4,), ("d",))
    spec = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("d"))
    x = np.arange(16, dtype=np.float32).reshape(8, 2)
    np.save(tmp_path / "x.npy", x)
    f = jax.jit(lambda x: jnp.cumsum(x, 0) * 2, in_shardings=spec, out_shardings=spec)
    exported = export.export(f)(jax.ShapeDtypeStruct(x.shape, x.dtype))
    assert exported.nr_devices == 4
    (tmp_path / "f.jaxexp").write_bytes(exported.serialize())
    got = results(str(tmp_path / "f.jaxexp"), tmp_path / "out", "--input", str(tmp_path / "x.npy"))
    np.testing.assert_array_equal(got[0], np.cumsum(x, 0) * 2)


@pytest.fixture(scope="module")
def lib():
    lib = library(tt_load=ctypes.c_void_p, tt_load_vjp=ctypes.c_void_p, tt_call_n=ctypes.POINTER(Tt),
                  tt_argument_name=ctypes.c_char_p, tt_grad_with=ctypes.c_void_p)
    lib.tt_call_n.argtypes = [ctypes.c_void_p, ctypes.POINTER(Tree), ctypes.c_int, ctypes.c_int]
    lib.tt_argument_name.argtypes = [ctypes.c_void_p, ctypes.c_int]
    lib.tt_grad_with.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
    return lib


def call(lib, f, arrays, nresults):
    leaves = (Tt * len(arrays))()
    for i, x in enumerate(arrays):
        x = np.ascontiguousarray(x, np.float32).reshape(np.shape(x))
        dims = Dims(x.ndim, (ctypes.c_int64 * 12)(*x.shape))
        leaves[i] = lib.tt_from(tt_dtype(x.dtype), x.ctypes.data, x.nbytes, ctypes.byref(dims))
    trees = (Tree * len(arrays))(*[Tree(ctypes.pointer(leaves[i]), 1) for i in range(len(arrays))])
    out = lib.tt_call_n(f, trees, len(arrays), nresults)
    assert not lib.tt_error(), lib.tt_error().decode()
    got = []
    for i in range(nresults):
        shape = lib.tt_shape(out[i])
        y = np.empty(tuple(shape.v[:shape.n]), np.float32)
        lib.tt_read(out[i], y.ctypes.data, y.nbytes)
        got.append(y)
    return got


Point = namedtuple("Point", "x y")


def loss(p, scale, unused):
    return (jnp.sin(p["a"]) * p["b"] ** 2).sum() * scale[0]


def test_from_c(lib, tmp_path):
    a, b = np.array([0.5, 1.0, 2.0], np.float32), np.array([1.0, -2.0, 3.0], np.float32)
    scale = [np.float32(2), np.float32(5)]
    path = write(tmp_path / "f.jaxexp", loss, {"a": a, "b": b}, scale, a, vjp_order=2,
                 platforms=("tpu", "cpu"))
    f = lib.tt_load(path.encode())
    names = [lib.tt_argument_name(f, i) for i in range(6)]
    assert names == [b"0.a", b"0.b", b"1.0", b"1.1", b"2", None]
    got = call(lib, f, [a, b, *scale, a], 1)
    np.testing.assert_allclose(got[0], loss({"a": a, "b": b}, scale, a), rtol=1e-6)
    want = jax.grad(loss)({"a": a, "b": b}, scale, a)
    np.testing.assert_allclose(call(lib, lib.tt_grad_with(f, None), [a, b, *scale, a], 1)[0],
                               want["a"], rtol=1e-6)
    vjp = lib.tt_load_vjp(path.encode(), 1)
    got = call(lib, vjp, [a, b, *scale, a, np.float32(1)], 5)
    np.testing.assert_allclose(got[0], want["a"], rtol=1e-6)
    np.testing.assert_allclose(got[1], want["b"], rtol=1e-6)
    assert lib.tt_load_vjp(path.encode(), 2)
    assert not lib.tt_load_vjp(path.encode(), 3)
    assert b"holds no gradient of order 3" in lib.tt_error()
    lib.tt_clear_error()


def test_broken(tmp_path):
    path = tmp_path / "f.jaxexp"
    write(path, lambda x: x + 1, np.float32(1))
    whole = path.read_bytes()
    run(str(path), "--input", "zeros")
    for n in [65, len(whole) // 2, len(whole) * 3 // 4]:
        path.write_bytes(whole[:n])
        run(str(path), "--input", "zeros", fails="f.jaxexp")
