"""Results larger than caches, which are stored past them: against NumPy, to the last bit."""
import jax
import jax.numpy as jnp
import numpy as np
import pytest

N = 4_200_017  # two of f32 are more than 32 MiB; no multiple of a vector
PROGRAMS = {
    "plain": (lambda x, y: x * 2 + y, (N,), (N,)),
    "rows that fill no line": (lambda x, y: x + y[:, None], (2053, 2047), (2053,)),
    "transpose": (lambda x, y: x.T + y, (2048, 2064), (2064, 2048)),
    "columns": (lambda x, y: jnp.stack([x, y, x + y], -1), (1_500_000,), (1_500_000,)),
    "planes": (lambda x, y: x.transpose(0, 3, 1, 2) + y, (30, 224, 224, 3), (30, 3, 224, 224)),
    "end to end": (lambda x, y: jnp.concatenate([x, y]), (N,), (N,)),
    "two results": (lambda x, y: (x + y, x - y), (N,), (N,)),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_results_past_the_caches(name):
    f, *shapes = PROGRAMS[name]
    rng = np.random.default_rng(3)
    x, y = (rng.integers(-1000, 1000, shape).astype(np.float32) for shape in shapes)
    device = jax.devices("tutti")[0]
    got = jax.jit(f)(jax.device_put(x, device), jax.device_put(y, device))
    want = jax.jit(f)(*jax.device_put((x, y), jax.devices("cpu")[0]))
    jax.tree.map(np.testing.assert_array_equal, got, want)


def test_donated_memory():
    device = jax.devices("tutti")[0]
    x = jax.device_put(np.arange(N, dtype=np.float32), device)
    y = jax.device_put(np.ones(N, np.float32), device)
    got = jax.jit(lambda x, y: x + y, donate_argnums=0)(x, y)
    np.testing.assert_array_equal(got, np.arange(N, dtype=np.float32) + 1)


@pytest.mark.parametrize("n", [32768, 40_001, 65_537])
@pytest.mark.parametrize("name", ["add", "max", "min"])
def test_updates_that_do_not_part_evenly(n, name):
    rng = np.random.default_rng(n)
    where, values = rng.integers(-3, 50, n), rng.integers(-99, 99, n).astype(np.float32)
    device = jax.devices("tutti")[0]
    start = np.full(40, 7, np.float32)
    got = jax.jit(lambda x, i, v: getattr(x.at[i], name)(v, mode="drop"))(
        *jax.device_put((start, where.astype(np.int32), values), device))
    want = start.copy()
    inside = (where >= -40) & (where < 40)
    getattr(np, {"add": "add", "max": "maximum", "min": "minimum"}[name]).at(
        want, where[inside], values[inside])
    np.testing.assert_array_equal(got, want)
