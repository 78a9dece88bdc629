"""Operations along a dimension that is cut over eight devices, each a program of its own: results equal
to those of one of JAX's CPU devices, and no array joined (no tutti.global in the compiled program).

Prints the programs that fail, and those that join.
"""
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

MESH = Mesh(np.array(jax.devices("tutti")[:8]).reshape(2, 4), ("a", "b"))


def cut(x, *spec):
    return lax.with_sharding_constraint(x, NamedSharding(MESH, P(*spec)))


def plain(x, *spec):
    return x


def convolved(x, w, strides=(1,), padding="SAME", dilation=(1,)):
    return lax.conv_general_dilated(x[None, :, :], w, strides, padding, lhs_dilation=dilation,
                                    dimension_numbers=("NHC", "HIO", "NHC"))


def loop(constrain):
    def body(x, k):
        x = constrain(x * 0.5 + k, None, "b")
        return constrain(x, ("a", "b")), x.sum(0)
    return lambda x: lax.scan(body, x, jnp.arange(3.0))


def square(x):
    """Symmetric matrices, one for each row."""
    a = x[:, :4, None] * x[:, None, 4:]
    return a + a.mT + 5 * jnp.eye(4)


W = np.random.default_rng(1).normal(size=(3, 8, 8)).astype(np.float32)
ROWS = np.array([3, 15, 0, 7, 7, 40, -2, 9], np.int32)

# x is (16, 8), cut in 8 along its first dimension; `c` is a sharding constraint.
PROGRAMS = {
    "contracted": lambda c: lambda x: x.T @ x,
    "contracted, result cut": lambda c: lambda x: c(x.T @ x, ("a", "b")),
    "batch by features": lambda c: lambda x: x @ c(jnp.sin(x.T), None, "b"),
    "sum": lambda c: lambda x: x.sum(0),
    "product": lambda c: lambda x: (1 + x / 8).prod(0),
    "largest": lambda c: lambda x: x.max(0),
    "gather": lambda c: lambda x: x[ROWS],
    "gather, clipped": lambda c: lambda x: x.at[ROWS].get(mode="clip"),
    "take_along_axis": lambda c: lambda x: jnp.take_along_axis(x, ROWS[None] % 16, 0),
    "scatter add": lambda c: lambda x: x.at[ROWS].add(1.5),
    "scatter set": lambda c: lambda x: x.at[ROWS[:4]].set(1.5),
    "scatter of rows that are cut": lambda c: lambda x: jnp.ones((5, 8)).at[jnp.arange(16) % 5].add(x),
    "slice": lambda c: lambda x: x[3:11],
    "slice by 2": lambda c: lambda x: x[::2],
    "roll": lambda c: lambda x: jnp.roll(x, 3, 0),
    "flip": lambda c: lambda x: jnp.flip(x, 0),
    "pad": lambda c: lambda x: jnp.pad(x, ((5, 3), (0, 0)), constant_values=7),
    "concatenate": lambda c: lambda x: jnp.concatenate([x, 2 * x[:8]]),
    "convolution": lambda c: lambda x: convolved(x, W),
    "convolution by 2": lambda c: lambda x: convolved(x, W, (2,)),
    "convolution, dilated": lambda c: lambda x: convolved(x, W, (1,), [(2, 1)], (2,)),
    "derivative of a convolution": lambda c: lambda x: jax.grad(
        lambda w: (convolved(x, w) ** 2).sum())(jnp.asarray(W)),
    "derivative by the image": lambda c: jax.grad(lambda x: (convolved(x, W, (2,)) ** 2).sum()),
    "windows": lambda c: lambda x: lax.reduce_window(
        x, -jnp.inf, lax.max, (3, 1), (1, 1), [(1, 1), (0, 0)]),
    "pooling": lambda c: lambda x: lax.reduce_window(x, 0.0, lax.add, (2, 1), (2, 1), "VALID"),
    "reshape": lambda c: lambda x: x.reshape(8, 16),
    "reshape of both": lambda c: lambda x: c(x, "a", "b").reshape(-1),
    "constraints": lambda c: lambda x: c(c(x, None, "b") * 2, "b", "a"),
    "constraints in a loop": loop,
    "constraint in a branch": lambda c: lambda x: lax.cond(
        x[0, 0] > 0, lambda x: c(x, "b") + 1, lambda x: x - 1, x),
    "sort of the other dimension": lambda c: lambda x: jnp.sort(x, 1),
    "sort": lambda c: lambda x: jnp.sort(x, 0),
    "iota": lambda c: lambda x: x + c(jnp.arange(128.0).reshape(16, 8), ("a", "b")),
    "random": lambda c: lambda x: x + jax.random.uniform(jax.random.key(0), x.shape),
    "argmax": lambda c: lambda x: jnp.argmax(x, 0),
    "dynamic_slice": lambda c: lambda x: lax.dynamic_slice(x, (x[0, 0].astype(int) + 3, 0), (4, 8)),
    "dynamic_update_slice": lambda c: lambda x: lax.dynamic_update_slice(
        x, jnp.ones((4, 8)), (x[0, 0].astype(int) + 3, 0)),
    "cumsum": lambda c: lambda x: jnp.cumsum(x, 0),
    "factors of many matrices": lambda c: lambda x: (
        jnp.linalg.qr(square(x)), jnp.linalg.eigh(square(x))[0], jnp.linalg.svd(square(x))[1],
        jnp.linalg.solve(square(x), x[:, :4, None])),
    "forms of many matrices": lambda c: lambda x: (
        lax.linalg.tridiagonal(square(x))[1:3], lax.linalg.hessenberg(square(x))[0],
        abs(jax.vmap(lambda a: jax.scipy.linalg.schur(a)[0])(square(x))).sum((1, 2))),
}

STARTS = [-3, 0, 5, 14, 60, 10_000]


def slices(size):
    return lambda c: lambda v: [lax.dynamic_slice(v, (v[0].astype(int) * 0 + k,), (size,)) for k in STARTS]


def updates(size):
    return lambda c: lambda v: [lax.dynamic_update_slice(
        v, c(jnp.arange(1.0, size + 1), ("a",)) if size % 2 == 0 else jnp.arange(1.0, size + 1),
        (v[0].astype(int) * 0 + k,)) for k in STARTS]


# v has one dimension, cut in 8: there is no other to cut instead.  Many of its elements are equal.
LINES = {
    "sort": lambda c: lambda v: jnp.sort(v),
    "sort, falling": lambda c: lambda v: jnp.sort(v, descending=True),
    "sort of integers": lambda c: lambda v: jnp.sort(v.astype(int)),
    "argsort": lambda c: lambda v: jnp.argsort(v),
    "argsort, falling": lambda c: lambda v: jnp.argsort(v, descending=True),
    "sort by two keys": lambda c: lambda v: lax.sort(
        (jnp.round(v), (v * 7).astype(int) % 3, jnp.arange(v.size)), num_keys=2),
    "sort of columns that cannot be cut": lambda c: lambda v: jnp.sort(v.reshape(-1, 1) * jnp.ones(3), 0),
    "median": lambda c: lambda v: jnp.median(v),
    "permutation": lambda c: lambda v: jax.random.permutation(jax.random.key(1), v),
    "top_k": lambda c: lambda v: lax.top_k(v, 5),
    "argmax": lambda c: lambda v: (jnp.argmax(v), jnp.argmin(v)),
    "differences": lambda c: lambda v: jnp.diff(v),
    "convolve": lambda c: lambda v: jnp.convolve(v, jnp.arange(5.0), mode="same"),
    "short slices": slices(3),
    "long slices": slices(32),
    "slices of odd length": slices(37),
    "short updates": updates(3),
    "long updates": updates(32),
    "updates of odd length": updates(37),
    "a loop over elements": lambda c: lambda v: lax.fori_loop(
        0, 4, lambda i, v: v.at[11 * i].set(v[3 * i] + 1), v),
    "running sums": lambda c: lambda v: (jnp.cumsum(v), lax.cumsum(v, reverse=True), jnp.cumsum(v.astype(int))),
    "running products": lambda c: lambda v: (jnp.cumprod(1 + v / 99), jnp.cumprod(v + 1j)[:9]),
    "running extremes": lambda c: lambda v: (lax.cummax(v), lax.cummin(v, reverse=True)),
    "running sums of exponentials": lambda c: lambda v: lax.cumlogsumexp(v),
    "running sums of columns that cannot be cut": lambda c: lambda v: jnp.cumsum(v.reshape(-1, 1) * jnp.ones(3), 0),
    "derivative of running sums": lambda c: jax.grad(lambda v: (jnp.cumsum(v) ** 2).sum() / 1000),
    "associative_scan": lambda c: lambda v: lax.associative_scan(jnp.add, v),
    "recurrence": lambda c: lambda v: lax.associative_scan(
        lambda f, g: (f[0] * g[0], f[1] * g[0] + g[1]), (jnp.cos(v), v)),
    "fft": lambda c: lambda v: jnp.fft.fft(v[:64] * (1 + 2j)),
    "fft and back": lambda c: lambda v: jnp.fft.ifft(jnp.fft.fft(c(v[:64] + 0j, ("a", "b")))),
    "fft of rows": lambda c: lambda v: jnp.fft.rfft(v.reshape(8, -1)),
    "fft of columns": lambda c: lambda v: jnp.fft.fft(v.reshape(8, -1)[:, :8], axis=0),
    "factors of matrices": lambda c: lambda v: jnp.linalg.cholesky(
        jnp.eye(2) + v[:32].reshape(8, 2, 2) @ v[:32].reshape(8, 2, 2).mT),
}
LENGTHS = [2048, 72]


def play(make, x):
    want = jax.jit(make(plain))(jax.device_put(x, jax.devices("cpu")[0]))
    ours = jax.jit(make(cut)).lower(
        jax.device_put(x, NamedSharding(MESH, P(("a", "b"))))).compile()
    got = ours(jax.device_put(x, NamedSharding(MESH, P(("a", "b")))))
    same = all(np.allclose(np.asarray(a), np.asarray(b), 2e-5, 2e-5)
               for a, b in zip(jax.tree.leaves(got), jax.tree.leaves(want)))
    return same, ours.as_text().count('"tutti.global"')


if __name__ == "__main__":
    rng = np.random.default_rng(0)
    x = rng.normal(size=(16, 8)).astype(np.float32)
    played = {name: play(make, x) for name, make in PROGRAMS.items()}
    for n in LENGTHS:
        v = rng.normal(size=n).round(1).astype(np.float32)
        played |= {f"{name} of {n}": play(make, v) for name, make in LINES.items()}
    wrong = [name for name, (same, _) in played.items() if not same]
    joining = [name for name, (_, joins) in played.items() if joins]
    print(f"{len(played)} programs, wrong: {wrong}, joining: {joining}")
