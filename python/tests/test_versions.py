"""What leans on the insides of JAX, feature by feature, against values that NumPy gives: the file that is
played with every version of JAX that the package takes (`make jax-version JAX_VERSION=0.9.2`), and in the place of its
CPU backend (TUTTI_PLATFORM=cpu)."""
import os

PLATFORM = os.environ.get("TUTTI_PLATFORM", "tutti")
os.environ.setdefault("JAX_PLATFORMS", PLATFORM)
os.environ.setdefault("TUTTI_DEVICES", "4")

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import export
from jax.experimental import io_callback
from jax.sharding import Mesh, NamedSharding, PartitionSpec

X = np.arange(8, dtype=np.float32)


def on_devices(x):
    mesh = Mesh(np.array(jax.devices()), ("i",))
    return jax.device_put(x, NamedSharding(mesh, PartitionSpec("i")))


def close(got, expected, tolerance=1e-5):
    np.testing.assert_allclose(got, expected, rtol=tolerance, atol=tolerance)


@pytest.fixture(autouse=True)
def is_ours():
    if jax.default_backend() != PLATFORM:
        pytest.skip("another platform was chosen")
    assert "tutti" in jax.devices()[0].client.platform_version


def test_devices():
    assert {device.platform for device in jax.devices()} == {PLATFORM}
    assert len(jax.devices()) == len(jax.devices("cpu")) == int(os.environ["TUTTI_DEVICES"])


def test_jit_and_grad():
    f = lambda x: jnp.sum(jnp.sin(x) * x)
    close(jax.jit(jax.grad(f))(X), np.cos(X) * X + np.sin(X))


def test_pmap():
    n = len(jax.devices())
    got = jax.pmap(lambda x: jax.lax.psum(x, "i") + x, "i")(X[:2 * n].reshape(n, 2))
    close(got, X[:2 * n].reshape(n, 2).sum(0) + X[:2 * n].reshape(n, 2))


def test_sharded():
    y = jax.jit(lambda x: jnp.cumsum(x)[::-1])(on_devices(X))
    close(y, np.cumsum(X)[::-1])


def test_scan_and_while():
    total, parts = jax.lax.scan(lambda c, x: (c + x, c * x), jnp.float32(0), X)
    close(total, X.sum())
    close(parts, (np.cumsum(X) - X) * X)
    close(jax.lax.while_loop(lambda v: v < 100, lambda v: v * 3, 2.0), 162)


def test_linear_algebra():
    a = np.cos(np.outer(X, X) + np.eye(8, dtype=np.float32))
    close(jnp.linalg.svd(a, compute_uv=False), np.linalg.svd(a, compute_uv=False), 1e-4)
    close(jnp.linalg.eigvalsh(a + a.T), np.linalg.eigvalsh(a + a.T), 1e-4)
    close(jnp.linalg.solve(a + 9 * np.eye(8), X), np.linalg.solve(a + 9 * np.eye(8), X), 1e-4)


def test_fourier_sort_and_top():
    close(jnp.fft.fft(X), np.fft.fft(X), 1e-4)
    close(jnp.sort(-X), np.sort(-X))
    close(jax.lax.top_k(X, 3)[0], [7, 6, 5])


def test_convolution():
    image, kernel = np.ones((1, 1, 5, 5), np.float32), np.ones((1, 1, 3, 3), np.float32)
    close(jax.lax.conv(image, kernel, (1, 1), "VALID"), np.full((1, 1, 3, 3), 9))


def test_random():
    counted = [jax.random.uniform(jax.random.key(1), (1000,)).mean() for _ in range(2)]
    assert counted[0] == counted[1] and abs(counted[0] - 0.5) < 0.05


def test_donation():
    x = jnp.array(X)
    y = jax.jit(lambda v: v + 1, donate_argnums=0)(x)
    close(y, X + 1)
    assert x.is_deleted()


@pytest.mark.parametrize("put", [jnp.array, on_devices])
def test_pure_callback(put):
    f = jax.jit(lambda x: jax.pure_callback(np.sin, jax.ShapeDtypeStruct(x.shape, x.dtype), x) + 1)
    close(f(put(X)), np.sin(X) + 1)


def test_ordered_callbacks(capfd):
    seen = []

    @jax.jit
    def f(x):
        jax.debug.print("first {}", x[0], ordered=True)
        y = io_callback(lambda v: (seen.append(1), v + 1)[1], x, x, ordered=True)
        return io_callback(lambda v: (seen.append(2), v * 2)[1], y, y, ordered=True)

    close(f(X), (X + 1) * 2)
    jax.effects_barrier()
    assert seen == [1, 2] and "first 0.0" in capfd.readouterr().out


def test_a_callback_that_raises():
    def bad(_):
        raise ValueError("no good")

    with pytest.raises(Exception, match="no good"):
        jax.jit(lambda x: jax.pure_callback(bad, jax.ShapeDtypeStruct((), np.float32), x))(1.0).block_until_ready()


def test_dlpack():
    close(np.from_dlpack(jnp.array(X)), X)
    close(jax.dlpack.from_dlpack(X.copy()), X)


def test_export():
    exported = export.export(jax.jit(jnp.sin))(jax.ShapeDtypeStruct((8,), np.float32))
    close(export.deserialize(exported.serialize()).call(X), np.sin(X))
    for_cpu = export.export(jax.jit(jnp.cos), platforms=["cpu"])(jax.ShapeDtypeStruct((8,), np.float32))
    close(for_cpu.call(X), np.cos(X))


def test_what_a_compiled_program_tells():
    compiled = jax.jit(lambda x: x @ x.T).lower(X.reshape(4, 2)).compile()
    assert "ENTRY" in compiled.as_text()
    assert compiled.memory_analysis().output_size_in_bytes == 64
    assert jax.jit(lambda x: x @ x.T).lower(X.reshape(4, 2)).cost_analysis()["flops"] > 0
    close(compiled(X.reshape(4, 2)), X.reshape(4, 2) @ X.reshape(4, 2).T)


def test_errors_name_the_operation():
    with pytest.raises(Exception, match="xyz"):
        jax.jit(lambda x: jax.ffi.ffi_call("xyz", jax.ShapeDtypeStruct((), np.float32))(x))(1.0)
