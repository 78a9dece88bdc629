"""Floats of four and six bits on our engine, against JAX's CPU backend and NumPy's types.

Every pattern is turned into float32 and back, random numbers are rounded, and sums, products and
comparisons are played.  What is too large becomes the largest number and NaN becomes -0, as XLA
has it.  JAX has no arrays of floats of six bits, and its own backend knows nothing of them, so
those begin and end inside a program.
"""

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest

NARROW = {"f4E2M1FN": (ml_dtypes.float4_e2m1fn, 16)}
if jax.__version_info__ >= (0, 10):  # JAX 0.9 refuses floats of six bits itself
    NARROW |= {"f6E2M3FN": (ml_dtypes.float6_e2m3fn, 64), "f6E3M2FN": (ml_dtypes.float6_e3m2fn, 64)}


def numbers():
    rng = np.random.default_rng(7)
    x = [rng.normal(size=500), rng.uniform(-40, 40, 500), np.arange(-64, 64) / 16,
         [0.0, -0.0, np.inf, -np.inf, np.nan, 1e-38, -1e-40, 3e38]]
    return np.concatenate(x).astype(np.float32)


def on(backend, f, *arguments):
    device = jax.devices(backend)[0]
    out = jax.jit(f)(*[jax.device_put(a, device) for a in arguments])
    return np.asarray(out)


def bits(x):
    return x.view(np.uint8)


def same(got, want):
    np.testing.assert_array_equal(got, want)
    np.testing.assert_array_equal(np.signbit(got), np.signbit(want))


@pytest.mark.parametrize("name", NARROW)
def test_every_pattern(name):
    dtype, count = NARROW[name]
    every = np.arange(count, dtype=np.uint8).view(dtype).astype(np.float32)
    same(on("tutti", lambda x: x.astype(dtype).astype(jnp.float32), every), every)


@pytest.mark.parametrize("name", NARROW)
@pytest.mark.parametrize("source", [np.float32, ml_dtypes.bfloat16, np.float16])
def test_rounding(name, source):
    dtype, _ = NARROW[name]
    with np.errstate(all="ignore"):
        x = numbers().astype(source)
        want = np.abs(x).astype(dtype).astype(np.float32)
    got = on("tutti", lambda x: x.astype(dtype).astype(jnp.float32), x)
    same(got, np.where(np.signbit(x) | np.isnan(x), -np.abs(want), want))


def test_bits_of_four():
    every = np.arange(16, dtype=np.uint8).view(ml_dtypes.float4_e2m1fn)
    same(on("tutti", lambda x: x.astype(jnp.float32), every), every.astype(np.float32))
    back = on("tutti", lambda x: x.astype(jnp.float4_e2m1fn), every.astype(np.float32))
    np.testing.assert_array_equal(bits(back), bits(every))


@pytest.mark.parametrize("source", [np.float32, ml_dtypes.bfloat16, np.int32])
def test_as_xla_rounds(source):
    x = numbers()
    x = np.nan_to_num(x, posinf=9, neginf=-9).clip(-100, 100).astype(source) if source is np.int32 \
        else x.astype(source)
    convert = lambda x: x.astype(jnp.float4_e2m1fn)  # noqa: E731
    np.testing.assert_array_equal(bits(on("tutti", convert, x)), bits(on("cpu", convert, x)))


@pytest.mark.parametrize("f", [jnp.add, jnp.multiply, jnp.maximum, jnp.less, jnp.where])
def test_arithmetic(f):
    every = np.arange(16, dtype=np.uint8).view(ml_dtypes.float4_e2m1fn)
    x, y = np.repeat(every, 16), np.tile(every, 16)
    arguments = (np.arange(256) % 3 == 0, x, y) if f is jnp.where else (x, y)
    got, want = on("tutti", f, *arguments), on("cpu", f, *arguments)
    assert got.dtype == want.dtype
    np.testing.assert_array_equal(got.astype(np.float32), want.astype(np.float32))


def test_constants_and_moving():
    table = np.arange(16, dtype=np.uint8).view(ml_dtypes.float4_e2m1fn).reshape(4, 4)
    f = lambda i: jnp.asarray(table).T[i]  # noqa: E731
    i = np.array([2, 0, 3])
    np.testing.assert_array_equal(bits(on("tutti", f, i)), bits(table.T[i]))


def powers():
    return np.arange(256, dtype=np.uint8).view(ml_dtypes.float8_e8m0fnu)


# 2^-127 is below float32's normal numbers, which compiled code flushes; NumPy does not.
ONE = {"ceil": (jax.lax.ceil, np.ceil), "floor": (jax.lax.floor, np.floor),
       "sign": (jax.lax.sign, np.sign), "abs": (jax.lax.abs, np.abs),
       "sqrt": (jax.lax.sqrt, np.sqrt), "tanh": (jax.lax.tanh, np.tanh),
       "sin": (jax.lax.sin, np.sin), "expm1": (jax.lax.expm1, np.expm1),
       "exp": (jax.lax.exp, np.exp), "cbrt": (jax.lax.cbrt, np.cbrt)}


@pytest.mark.parametrize("name", ONE)
def test_powers_of_two(name):
    ours, theirs = ONE[name]
    with np.errstate(all="ignore"):
        want = theirs(powers().astype(np.float32)).astype(ml_dtypes.float8_e8m0fnu)
    np.testing.assert_array_equal(bits(on("tutti", ours, powers())), bits(want))


@pytest.mark.parametrize("name", ["add", "subtract", "multiply", "divide", "maximum", "minimum"])
def test_pairs_of_powers(name):
    x, y = np.meshgrid(powers(), powers())
    with np.errstate(all="ignore"):
        want = getattr(np, name)(x.astype(np.float32), y.astype(np.float32))
        want = want.astype(ml_dtypes.float8_e8m0fnu)
    np.testing.assert_array_equal(bits(on("tutti", getattr(jnp, name), x, y)), bits(want))


@pytest.mark.parametrize("to", [np.float32, np.float64, ml_dtypes.bfloat16])
def test_powers_to_others_and_back(to):
    with jax.enable_x64(True):
        want = powers().astype(np.float32).astype(to)
        got = on("tutti", lambda x: x.astype(to), powers())
        np.testing.assert_array_equal(got.view(np.uint8), want.view(np.uint8))
        back = on("tutti", lambda x: x.astype(ml_dtypes.float8_e8m0fnu), want)
    np.testing.assert_array_equal(bits(back), bits(powers()))


@pytest.mark.parametrize("dtype,least", [(np.float32, 1e-40), (np.float64, 1e-310),
                                         (ml_dtypes.bfloat16, 1e-40), (np.float16, 6e-8)])
def test_sign_of_what_is_flushed(dtype, least):
    """As XLA has it: a zero of the same sign; float16's are no denormals where they are computed."""
    with jax.enable_x64(True):
        x = np.array([least, -least, 0.0, -0.0, 1e-3, -np.inf, np.nan], dtype)
        got, want = (on(name, jax.lax.sign, x) for name in ("tutti", "cpu"))
    same(got.astype(np.float64), want.astype(np.float64))
