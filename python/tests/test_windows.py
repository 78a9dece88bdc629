"""Windows over arrays whose elements are put apart, with padding before them, on our engine against
NumPy: the first lanes of a vector stand before the array then, and the others in it."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

TYPES = [np.int8, np.uint8, np.int16, np.int32, np.float32, jnp.bfloat16]
CASES = [(2, 2, 2, 2), (3, 3, 2, 3), (4, 3, 3, 2), (5, 7, 4, 5), (3, 1, 1, 3), (6, 9, 5, 3)]


def apart(x, dilation, low, high):
    out = np.zeros(low + (len(x) - 1) * dilation + 1 + high, np.int64)
    out[low:len(out) - high:dilation] = x
    return out


def windows(x, size, stride):
    return np.stack([x[i:i + size] for i in range(0, len(x) - size + 1, stride)])


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("dilation,low,size,stride", CASES)
@pytest.mark.parametrize("n", [2, 16, 70])
def test_sums_of_windows(n, dilation, low, size, stride, dtype):
    x = np.arange(n) % 5 + 1
    want = windows(apart(x, dilation, low, 2), size, stride).sum(1)
    got = jax.jit(lambda x: lax.reduce_window(
        x, np.zeros((), dtype)[()], lax.add, (size,), (stride,), ((low, 2),), (dilation,)))(
            x.astype(dtype))
    np.testing.assert_array_equal(np.asarray(got).astype(np.int64), want)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("dilation,low,size,stride", CASES)
def test_convolution(dilation, low, size, stride, dtype):
    x, w = np.arange(16) % 5 + 1, np.arange(size) % 2 + 1
    want = windows(apart(x, dilation, low, 2), size, stride) @ w
    got = jax.jit(lambda x, w: lax.conv_general_dilated(
        x, w, (stride,), ((low, 2),), lhs_dilation=(dilation,)))(
            x.astype(dtype)[None, None], w.astype(dtype)[None, None])
    np.testing.assert_array_equal(np.asarray(got)[0, 0].astype(np.int64), want)


@pytest.mark.parametrize("shape, axis", [((5, 7), 1), ((40, 70), 1), ((3, 20, 50), 2), ((3, 40, 50), 1),
                                         ((33,), 0), ((1000,), 0)])
@pytest.mark.parametrize("reverse", [False, True])
def test_running_sums_by_several_operations(shape, axis, reverse):
    """log(exp x + exp y): lanes along the row, along rows side by side, and along columns."""
    x = np.random.default_rng(7).standard_normal(shape).astype(np.float32)
    got = jax.jit(lambda x: lax.cumlogsumexp(x, axis=axis, reverse=reverse))(x)
    turned = np.flip(x, axis) if reverse else x
    want = np.logaddexp.accumulate(turned.astype(np.float64), axis)
    np.testing.assert_allclose(got, np.flip(want, axis) if reverse else want, rtol=2e-6, atol=2e-6)


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16", "int8"])
@pytest.mark.parametrize("extent", [3, 5, 7, 14, 17, 33])
@pytest.mark.parametrize("stride", [1, 2, 3])
def test_images_whose_features_come_first(extent, stride, dtype):
    """Large enough for the runtime's product, which packs short rows of places, and every other or third of them."""
    g = np.random.default_rng(extent)
    x, w = g.integers(-3, 4, (2, 20, extent, extent)), g.integers(-3, 4, (40, 20, 3, 3))
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    seen = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), (2, 3))[:, :, ::stride, ::stride]
    out = np.int32 if dtype == "int8" else dtype
    with jax.enable_x64(dtype == "float64"):
        conv = jax.jit(lambda x, w: lax.conv_general_dilated(
            x, w, (stride, stride), ((1, 1), (1, 1)), dimension_numbers=("NCHW", "OIHW", "NCHW"),
            preferred_element_type=out))
        x, w = jnp.asarray(x).astype(dtype), jnp.asarray(w).astype(dtype)
        got = conv(x, w)
        want = np.einsum("nchwij,ocij->nohw", seen, np.asarray(w).astype(np.int64))
        np.testing.assert_array_equal(np.asarray(got), np.asarray(jnp.asarray(want).astype(out)))
        if dtype in ("float32", "float64"):  # the same dots, whole numbers all of them: exact
            by = jnp.asarray(g.integers(-2, 3, want.shape)).astype(dtype)
            of_x, of_w = jax.jit(lambda x, w, by: jax.vjp(conv, x, w)[1](by))(x, w, by)
            by = np.asarray(by).astype(np.int64)
            np.testing.assert_array_equal(of_w, np.einsum("nchwij,nohw->ocij", seen, by))
            spread = np.zeros((2, 20, extent + 2, extent + 2), np.int64)
            for i in range(3):
                for j in range(3):
                    spread[:, :, i:i + stride * by.shape[2]:stride, j:j + stride * by.shape[3]:stride] += np.einsum(
                        "nohw,oc->nchw", by, np.asarray(w).astype(np.int64)[:, :, i, j])
            np.testing.assert_array_equal(of_x, spread[:, :, 1:-1, 1:-1])


@pytest.mark.parametrize("extents", [(600,), (19, 23), (8, 9, 10)])
@pytest.mark.parametrize("dilation", [1, 2])
@pytest.mark.parametrize("reverse", [False, True])
def test_features_that_come_first_are_put_last(extents, dilation, reverse):
    """In one, two and three dimensions, with gaps in the window, which is also turned round."""
    g, rank, taps = np.random.default_rng(len(extents)), len(extents), (3, 2, 3)[:len(extents)]
    x, w = g.integers(-3, 4, (2, 12, *extents)), g.integers(-3, 4, (20, 12, *taps))
    padded = np.pad(x, ((0, 0), (0, 0), *[(2, 1)] * rank))
    sizes = [e + 3 - dilation * (t - 1) for e, t in zip(extents, taps)]
    want = sum(np.einsum("nc...,oc->no...", padded[(..., *[slice(i * dilation, i * dilation + n) for i, n in zip(tap, sizes)])],
                         (np.flip(w, range(2, 2 + rank)) if reverse else w)[(..., *tap)]) for tap in np.ndindex(*taps))
    letters = "DHW"[3 - rank:]
    dims = lax.conv_dimension_numbers(x.shape, w.shape, ("NC" + letters, "OI" + letters, "NC" + letters))
    got = jax.jit(lambda x, w: lax.conv_general_dilated(
        x, lax.rev(w, tuple(range(2, 2 + rank))) if reverse else w, (1,) * rank, ((2, 1),) * rank,
        rhs_dilation=(dilation,) * rank, dimension_numbers=dims))(x.astype(np.float32), w.astype(np.float32))
    np.testing.assert_array_equal(got, want)
