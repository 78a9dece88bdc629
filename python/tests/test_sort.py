"""Sorting, as JAX's users call it, against NumPy's stable sorts: bit for bit, ties, zeros and nans
included."""
import jax
import jax.numpy as jnp
import numpy as np
import pytest

DTYPES = ["float32", "float64", "bfloat16", "float16", "int8", "int32", "int64", "uint8", "uint32", "bool"]


def numbers(dtype, shape, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.integers(-60, 60, shape)
    if dtype == "bool":
        return x > 0
    if dtype.startswith("uint"):
        return abs(x).astype(dtype)
    if dtype.startswith("int"):
        return (x * (1 if dtype == "int8" else 1 << 20)).astype(dtype)
    x = x / 4
    odd = rng.integers(0, 12, shape)
    x = np.where(odd == 0, 0.0, np.where(odd == 1, -0.0, np.where(odd == 2, np.nan, x)))
    return x.astype(jnp.dtype(dtype))


def order_of(x, axis):
    # NumPy sorts nan last, too, and -0 equal to 0; of bfloat16 it knows no order.
    return np.argsort(x.astype(np.float64) if x.dtype.kind in "fV" else x, axis=axis, kind="stable")


def same(ours, want):
    np.testing.assert_array_equal(np.asarray(ours).view(np.uint8), np.ascontiguousarray(want).view(np.uint8))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape,axis", [((1000,), 0), ((7, 33), 1), ((40, 5), 0), ((3, 20000), 1), ((2, 50, 3), 1)])
def test_sort_and_argsort(dtype, shape, axis):
    with jax.enable_x64(True):
        x = numbers(dtype, shape)
        order = order_of(x, axis)
        same(jax.jit(lambda x: jnp.sort(x, axis=axis))(x), np.take_along_axis(x, order, axis))
        same(jax.jit(lambda x: jnp.argsort(x, axis=axis))(x), order)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n,k", [(1000, 5), (1000, 100), (20000, 300), (50, 50), (3, 1)])
def test_top_k(dtype, n, k):
    with jax.enable_x64(True):
        x = numbers(dtype, (4, n))
        if x.dtype.kind in "fV":
            x = np.where(np.isnan(x.astype(np.float64)) | (x == 0), x.dtype.type(1), x)
        values, places = jax.jit(lambda x: jax.lax.top_k(x, k))(x)
        falling = x.astype(np.float64) if x.dtype.kind in "fV" else x.astype(object) * 1
        want = np.argsort(-falling, axis=1, kind="stable")[:, :k]
        same(values, np.take_along_axis(x, want, 1))
        np.testing.assert_array_equal(places, want)


def test_top_k_in_total_order():
    x = np.array([1, -0.0, 0.0, np.nan, -np.nan, np.inf], np.float32)
    _, places = jax.jit(lambda x: jax.lax.top_k(x, 6))(x)
    assert places.tolist() == [3, 5, 0, 2, 1, 4]


@pytest.mark.parametrize("dtypes", [("int32", "float32"), ("float64", "int64", "uint8"), ("bool", "int8")])
def test_several_keys(dtypes):
    with jax.enable_x64(True):
        keys = [numbers(d, (5000,), seed) for seed, d in enumerate(dtypes)]
        keys = [np.where(np.isnan(k), 3.0, k) + 0.0 if k.dtype.kind == "f" else k for k in keys]
        keys = [k % 3 if k.dtype.kind in "iu" else k for k in keys]
        payload = np.arange(5000)
        order = np.lexsort(keys[::-1])
        found = jax.jit(lambda *a: jax.lax.sort(a, num_keys=len(keys)))(*keys, payload)
        for ours, x in zip(found, keys + [payload]):
            same(ours, x[order])


def test_a_comparator_of_its_own():
    # Complex numbers are not compared by plain keys.
    x = (numbers("int32", (300,)) % 5) + 1j * (numbers("int32", (300,), 1) % 7)
    np.testing.assert_array_equal(jax.jit(jnp.sort)(x.astype(np.complex64)), np.sort(x.astype(np.complex64)))


def test_median_and_quantile():
    x = np.random.default_rng(3).standard_normal(10001).astype(np.float32)
    assert jax.jit(jnp.median)(x) == np.median(x)
    np.testing.assert_allclose(jax.jit(lambda x: jnp.quantile(x, 0.3))(x), np.quantile(x, 0.3), rtol=1e-5)
