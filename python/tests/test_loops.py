"""Loops on our engine beside NumPy: states of a few columns, weights that are packed once, weights that
the loop itself changes in the memory of a donated argument."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

rng = np.random.default_rng(7)


def lorenz(p, stack):
    x, y, z = p[..., 0], p[..., 1], p[..., 2]
    return 0.01 * stack([10 * (y - x), x * (28 - z) - y, x * y - 8 / 3 * z], -1)


def steps(p, stack):
    for _ in range(20):
        p = p + lorenz(p + lorenz(p, stack) / 2, stack)
    return p


def test_states_of_columns():
    for shape in ((3,), (37, 3), (2, 5, 3)):
        p = rng.standard_normal(shape).astype(np.float32)
        f = jax.jit(lambda p: lax.fori_loop(
            0, 20, lambda i, p: p + lorenz(p + lorenz(p, jnp.stack) / 2, jnp.stack), p))
        np.testing.assert_allclose(f(p), steps(p.astype(np.float64), np.stack), rtol=2e-4, atol=1e-5)
        g = jax.jit(jax.grad(lambda p: (f(p) ** 2).sum()))
        e = 1e-6 * rng.standard_normal(shape)
        q = p.astype(np.float64)
        slope = sum((sign * (steps(q + sign * e, np.stack) ** 2).sum()) for sign in (1, -1)) / 2
        np.testing.assert_allclose((np.asarray(g(p), np.float64) * e).sum(), slope, rtol=2e-3)


def test_weights_are_packed_once():
    w = (0.1 * rng.standard_normal((160, 160))).astype(np.float32)
    x = rng.standard_normal((48, 160)).astype(np.float32)
    f = jax.jit(lambda x, w: lax.fori_loop(0, 5, lambda i, x: jnp.tanh(x @ w), x))
    expected = x.astype(np.float64)
    for _ in range(5):
        expected = np.tanh(expected @ w)
    np.testing.assert_allclose(f(x, w), expected, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(f(x, 2 * w), f(x, w + w), rtol=0)


def test_weights_that_the_loop_changes():
    w = (0.1 * rng.standard_normal((160, 160))).astype(np.float32)
    x = rng.standard_normal((48, 160)).astype(np.float32)

    def train(w, x):
        return lax.fori_loop(0, 5, lambda i, w: w - 0.01 * (x.T @ jnp.tanh(x @ w)) / 48, w)
    expected = w.astype(np.float64)
    for _ in range(5):
        expected = expected - 0.01 * (x.T.astype(np.float64) @ np.tanh(x @ expected)) / 48
    for donated in ((), (0,)):
        got = jax.jit(train, donate_argnums=donated)(jnp.array(w), x)
        np.testing.assert_allclose(got, expected, rtol=1e-4, atol=1e-5)


def test_small_systems():
    """Two and three unknowns in a loop are arithmetic; four, and batches outside of loops, are LAPACK's."""
    for n in (2, 3, 4):
        a = rng.standard_normal((40, n, n)).astype(np.float32)
        a[0], a[1, :, 0], a[2, 1] = 0, 0, a[2, 0]  # singular
        a[3] = np.eye(n)[::-1]  # all rows change places
        a[4, :, 0] = 1  # equal pivots
        a[5, 0, 0] = np.nan
        alone = jax.jit(lambda a: lax.map(lax.linalg.lu, a))(a)
        together = jax.jit(lax.linalg.lu)(a)
        for mine, other in zip(alone[1:], together[1:]):  # pivots, permutation
            np.testing.assert_array_equal(mine[np.arange(40) != 5], other[np.arange(40) != 5])
        np.testing.assert_allclose(alone[0], together[0], rtol=2e-5, atol=2e-6)
        good = a[6:].astype(np.float64)
        for k in (1, 2, 4, 5):
            b = rng.standard_normal((34, n, k)).astype(np.float32)
            x = jax.jit(lambda a, b: lax.map(lambda ab: jnp.linalg.solve(*ab), (a, b)))(a[6:], b)
            np.testing.assert_allclose(good @ np.asarray(x, np.float64), b, rtol=1e-3, atol=1e-3)
        np.testing.assert_allclose(jax.jit(lambda a: lax.map(jnp.linalg.det, a))(a[6:]), np.linalg.det(good),
                                   rtol=1e-4, atol=1e-5)
        with jax.enable_x64(True):
            inverse = jax.jit(lambda a: lax.map(jnp.linalg.inv, a))(good)
            np.testing.assert_allclose(inverse, np.linalg.inv(good), rtol=1e-9, atol=1e-12)
