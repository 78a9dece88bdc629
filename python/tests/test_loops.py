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


def recurrent(form, np_):
    """Steps over rows x with weights w (of rows) and u (of the state), as users write them."""
    if form == "apart":
        return lambda h, x, w, u: np_.tanh(x @ w + h @ u)
    if form == "joined":
        return lambda h, x, w, u: np_.tanh(
            np_.concatenate([x, h], -1) @ np_.concatenate([w, u], 0))
    if form == "turned":  # weights on the left: vectors alone
        return lambda h, x, w, u: np_.tanh(w.T @ x + u.T @ h)
    assert form == "narrow"  # what is contracted is too short to be worth it
    return lambda h, x, w, u: np_.tanh(x[..., :4] @ w[:4] + h @ u)


def test_products_of_rows_before_the_loop():
    for form, batch, reverse in (("apart", (6,), False), ("joined", (6,), True), ("apart", (), True),
                                 ("turned", (), False), ("narrow", (6,), False)):
        x = rng.standard_normal((9, *batch, 300)).astype(np.float32)
        h = rng.standard_normal((*batch, 200)).astype(np.float32)
        w = (0.05 * rng.standard_normal((300, 200))).astype(np.float32)
        u = (0.05 * rng.standard_normal((200, 200))).astype(np.float32)

        def scan(h, x, w, u):
            step = recurrent(form, jnp)
            return lax.scan(lambda h, x: (step(h, x, w, u),) * 2, h, x, reverse=reverse)[1]

        def plain(h, x, w, u):
            step, out = recurrent(form, np), [None] * len(x)
            for i in reversed(range(len(x))) if reverse else range(len(x)):
                out[i] = h = step(h, x[i], w, u)
            return np.stack(out)
        wide = [a.astype(np.float64) for a in (h, x, w, u)]
        np.testing.assert_allclose(jax.jit(scan)(h, x, w, u), plain(*wide), rtol=2e-4, atol=2e-5)
        e = [1e-6 * rng.standard_normal(a.shape) for a in wide]
        got = jax.jit(jax.grad(lambda *a: (scan(*a) ** 2).sum(), (0, 1, 2, 3)))(h, x, w, u)
        for k, g in enumerate(got):
            near = [[a + sign * e[k] if i == k else a for i, a in enumerate(wide)] for sign in (1, -1)]
            slope = ((plain(*near[0]) ** 2).sum() - (plain(*near[1]) ** 2).sum()) / 2
            np.testing.assert_allclose((np.asarray(g, np.float64) * e[k]).sum(), slope, rtol=5e-3, atol=1e-9)


def test_narrow_products_of_joined_rows_are_rounded_once():
    x = rng.standard_normal((9, 6, 300)).astype(jnp.bfloat16)
    h = rng.standard_normal((6, 200)).astype(jnp.bfloat16)
    w = rng.standard_normal((500, 100)).astype(jnp.bfloat16)
    got = jax.jit(lambda h, x, w: lax.scan(
        lambda h, x: (-h, jnp.concatenate([x, h], -1) @ w), h, x)[1])(h, x, w)
    for i, y in enumerate(np.asarray(got, np.float64)):
        joined = np.concatenate([x[i], h if i % 2 == 0 else -h], -1)
        exact = joined.astype(np.float64) @ w.astype(np.float64)
        step = 2.0 ** (np.floor(np.log2(np.abs(exact))) - 7)
        assert (np.abs(y - exact) <= 0.51 * step + 1e-4).all()


def test_rows_that_a_loop_takes_in_part():
    """Fewer rounds than rows: nothing is computed for rows that are never taken; and a row of any index."""
    x = rng.standard_normal((40, 5, 64)).astype(np.float32)
    w = rng.standard_normal((64, 32)).astype(np.float32)
    few = jax.jit(lambda x, w: lax.fori_loop(0, 3, lambda i, s: s + x[i] @ w, jnp.zeros((5, 32))))
    np.testing.assert_allclose(few(x, w), x[:3].sum(0) @ w, rtol=1e-3, atol=1e-3)
    places = rng.integers(-60, 60, 50)
    some = jax.jit(lambda x, w, p: lax.fori_loop(
        0, 50, lambda i, s: s * 0.5 + lax.dynamic_index_in_dim(x, p[i], 0, False) @ w,
        jnp.zeros((5, 32))))
    expected = np.zeros((5, 32))
    for p in places:
        expected = expected * 0.5 + x[np.clip(p + 40 if p < 0 else p, 0, 39)].astype(np.float64) @ w
    np.testing.assert_allclose(some(x, w, places), expected, rtol=1e-3, atol=1e-3)


def test_what_arrays_begin_as():
    """Loops that write rows of an array: all of them, some, and such as look at it first."""
    start = np.full((6, 50), 7, np.float32)
    x = rng.standard_normal(50).astype(np.float32)

    def loop(n, body):
        f = jax.jit(lambda a, x: lax.fori_loop(0, n, lambda i, a: body(i, a, x), a * 1))
        g = jax.jit(lambda x: lax.fori_loop(0, n, lambda i, a: body(i, a, x), jnp.full((6, 50), 7, jnp.float32)))
        want = start.astype(np.float64)
        for i in range(n):
            want = np.asarray(body(i, jnp.asarray(want.astype(np.float32)), jnp.asarray(x)), np.float64)
        np.testing.assert_allclose(f(start, x), want, rtol=1e-5, atol=1e-5)
        np.testing.assert_allclose(g(x), want, rtol=1e-5, atol=1e-5)
    put = lax.dynamic_update_index_in_dim
    for n in (0, 5, 6, 8):
        loop(n, lambda i, a, x: put(a, x * i, i, 0))              # each row once, but for 0 and 5
        loop(n, lambda i, a, x: put(a, x * i, 5 - i, 0))
        loop(n, lambda i, a, x: put(a, x * i, i // 2, 0))
        loop(n, lambda i, a, x: put(a, x * i, i * 2, 0))
        loop(n, lambda i, a, x: put(a, x + a.sum(0), i, 0))       # of all that is there
        loop(n, lambda i, a, x: put(a, x * i + a[5], i, 0))
        loop(n, lambda i, a, x: lax.dynamic_update_slice(a, (x * i)[None, :30], (i, 3)))


def test_arrays_made_anew_in_every_round():
    """Rounds are written out in pairs: an odd number of them, one, none."""
    d = rng.random((90, 90)).astype(np.float32)

    def paths(k, a, np_):
        return np_.minimum(a, a[:, k][:, None] + a[k][None, :])

    def wave(k, a, np_):
        return a + 0.1 * (np_.roll(a, 1, 0) + np_.roll(a, -1, 1) - 2 * a)

    def ends(k, a, np_):
        return np_.concatenate([a[1:], a[:1] * 0.5], 0)
    for step in (paths, wave, ends):
        for n in (0, 1, 4, 7):
            want = d.astype(np.float64)
            for k in range(n):
                want = step(k, want, np)
            got = jax.jit(lambda a: lax.fori_loop(0, n, lambda k, a: step(k, a, jnp), a))(d)
            np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)
            count = jax.jit(lambda a, n: lax.fori_loop(0, n, lambda k, a: step(k, a, jnp), a))(d, n)
            np.testing.assert_allclose(count, want, rtol=1e-4, atol=1e-5)


def test_rows_before_a_long_round():
    """Rounds of unknown length inside a loop: the run goes on elsewhere, with the rows that there are by then."""
    def chain(n):
        def step(c, _):
            x = lax.while_loop(lambda s: s[0] < n, lambda s: (s[0] + 1, s[1] * jnp.uint32(1664525) + jnp.uint32(1013904223)),
                               (jnp.int32(0), c))[1]
            return x, x
        return lax.scan(step, jnp.uint32(7), None, length=4)[1]
    # x -> a x + c, n times, by squaring: as fast for any n
    def times(n, x):
        a, c, power, add = 1, 0, 1664525, 1013904223
        while n:
            if n & 1:
                a, c = power * a % 2**32, (power * c + add) % 2**32
            power, add, n = power * power % 2**32, (power + 1) * add % 2**32, n >> 1
        return (a * x + c) % 2**32
    f = jax.jit(chain)
    for n in (10, 1000, 100_000, 300_000, 1_000_000):
        want, x = [], 7
        for _ in range(4):
            x = times(n, x)
            want.append(x)
        assert np.asarray(f(jnp.int32(n))).tolist() == want, n


def decoded(keys, x, start):
    """Two tokens through layers that each keep what they saw, as a row of theirs: the last where `start` is behind."""
    keys = keys.copy()
    for token in range(2):
        for layer in range(len(keys)):
            keys[layer, min(start + token, keys.shape[1] - 1)] = np.tanh(x)
            x = x + np.tanh(keys[layer] @ x) @ keys[layer] / 8
    return keys, x


def test_memories_of_layers_are_written_in_place():
    keys = rng.standard_normal((3, 7, 4)).astype(np.float32)
    x = rng.standard_normal(4).astype(np.float32)

    def token(keys, x, start):
        def layer(x, kept):
            kept = lax.dynamic_update_slice(kept, jnp.tanh(x)[None], (start, 0))
            return x + jnp.tanh(kept @ x) @ kept / 8, kept
        x, keys = lax.scan(layer, x, keys)
        return keys, x

    def tokens(keys, x, start):
        return lax.fori_loop(0, 2, lambda t, c: token(*c, start + t), (keys, x))
    for start in (2, 5, 6):
        expected = decoded(keys.astype(np.float64), x.astype(np.float64), start)
        for donated in ((), (0,)):
            got = jax.jit(tokens, donate_argnums=donated)(jnp.array(keys), x, start)
            one = jax.jit(token, donate_argnums=donated)
            two = one(*one(jnp.array(keys), x, start), start + 1)
            for kept in (got, two):
                np.testing.assert_allclose(kept[0], expected[0], rtol=2e-4, atol=1e-5)
                np.testing.assert_allclose(kept[1], expected[1], rtol=2e-4, atol=1e-5)


def test_rows_that_are_read_again_are_not_written_over():
    xs = rng.standard_normal((5, 3)).astype(np.float32)

    def rounds(xs, read):
        def step(total, i):
            row = xs[i]
            return total + read(xs, i).sum(), 2 * row
        return lax.scan(step, 0.0, jnp.arange(5))

    def twice(xs, read):
        return lax.fori_loop(0, 2, lambda t, c: ((r := rounds(c[1], read))[0], r[1]), (0.0, xs))
    for read, expected in (
            (lambda xs, i: xs[4 - i], xs.sum()), (lambda xs, i: xs[jnp.maximum(i - 1, 0)], xs[[0, 0, 1, 2, 3]].sum()),
            (lambda xs, i: xs[0], 5 * xs[0].sum())):
        total, rows = jax.jit(twice, static_argnums=1)(xs, read)
        np.testing.assert_allclose(total, 2 * expected, rtol=1e-5, atol=1e-5)
        np.testing.assert_allclose(rows, 4 * xs, rtol=1e-6)
