"""Linear algebra, every routine of LAPACK that the engine answers: s, d, c, z; square, tall, wide,
in batches and empty.  Factors are multiplied together again and compared with what was factored, by
NumPy in double precision; shapes, types, orders and triangles are what JAX promises.

    linalg_programs.py PROVIDER [CASE ...]

PROVIDER is a part of what the engine says whose LAPACK it called, so that none is taken for another.
"""
import ctypes
import hashlib
import sys
import threading

import jax
import jax.numpy as jnp
import numpy as np
from jax._src.lax import linalg as internal  # ormqr has no public name
from jax.lax import linalg
from play_cases import play

jax.config.update("jax_enable_x64", True)

TYPES = [np.float32, np.float64, np.complex64, np.complex128]
SQUARE = [(1, 1), (2, 2), (40, 40), (3, 5, 5), (2, 2, 20, 20), (0, 3, 3)]
OBLONG = [(7, 3), (3, 7), (2, 30, 18), (2, 18, 30)]
# These are cut into parts for a library; our own routines take long for them.
LARGE = [] if sys.argv[1] == "own" else [(300, 260), (2, 257, 257)]
MIDDLE = [] if sys.argv[1] == "own" else [(130, 130), (2, 70, 70)]
MIDDLE_OBLONG = [] if sys.argv[1] == "own" else [(100, 70), (70, 100), (2, 200, 65), (65, 200)]
rng = np.random.default_rng(5)
checks = 0


def matrices(dtype, shape):
    x = rng.standard_normal(shape)
    if np.dtype(dtype).kind == "c":
        x = x + 1j * rng.standard_normal(shape)
    return x.astype(dtype)


def adjoint(x):
    return np.swapaxes(x.conj(), -1, -2)


def positive(dtype, shape):
    x = matrices(dtype, shape)
    return (x @ adjoint(x) + shape[-1] * np.eye(shape[-1])).astype(dtype)


def wide(x):
    return np.asarray(x).astype(np.complex128)


def check(is_right, *what):
    global checks
    checks += 1
    assert is_right, what


def close(got, want, dtype, *what):
    """As near as rounding in the type allows, for the size of the matrices."""
    got, want = wide(got), wide(want)
    check(got.shape == want.shape, "shapes", got.shape, want.shape, *what)
    if want.size:
        size = max(want.shape[-2:]) if want.ndim > 1 else want.shape[-1]
        bound = 30 * size * np.finfo(dtype).eps * max(np.abs(want).max(), 1)
        check(np.abs(got - want).max() <= bound, np.abs(got - want).max(), bound, *what)


def unitary(q, dtype, *what):
    n = q.shape[-1]
    close(adjoint(wide(q)) @ wide(q), np.broadcast_to(np.eye(n), (*q.shape[:-2], n, n)), dtype, *what)


def every(shapes, make=matrices):
    for dtype in TYPES:
        for shape in shapes:
            yield dtype, shape, make(dtype, shape)


def call(name, dtype, results, *operands, **options):
    """custom_call @lapack_sNAME_ffi and the like."""
    target = f"lapack_{'sdcz'[TYPES.index(dtype)]}{name}_ffi"
    options = {k: np.uint8(ord(v)) for k, v in options.items()}
    return jax.jit(lambda *x: jax.ffi.ffi_call(target, results)(*x, **options))(*operands)


def like(x, shape=None, dtype=None):
    return jax.ShapeDtypeStruct(x.shape if shape is None else shape, dtype or x.dtype)


# ---- factors ----------------------------------------------------------------------------------


def lu():
    for dtype, shape, a in every(SQUARE + OBLONG + LARGE):
        f, pivots, order = linalg.lu(a)
        k = min(shape[-2:])
        check(f.dtype == dtype and pivots.shape == (*shape[:-2], k), shape)
        l = np.tril(wide(f)[..., :, :k], -1) + np.eye(shape[-2], k)
        u = np.triu(wide(f)[..., :k, :])
        order = np.broadcast_to(np.asarray(order)[..., None], a.shape)
        close(l @ u, np.take_along_axis(a, order, -2), dtype, "lu", shape)
        check(np.abs(l).max(initial=0) <= 1 + 1e-6 or np.dtype(dtype).kind == "c", "pivots", shape)


def lu_singular():
    for dtype in TYPES:
        a = np.zeros((2, 20, 20), dtype)
        a[1] = np.eye(20)
        out = call("getrf", dtype, (like(a), like(a, (2, 20), np.int32), like(a, (2,), np.int32)), a)
        check(list(np.asarray(out[2])) == [1, 0], dtype, out[2])
        a = np.eye(300, dtype=dtype)
        a[200, 200] = a[250, 250] = 0
        out = call("getrf", dtype, (like(a), like(a, (300,), np.int32), like(a, (), np.int32)), a)
        check(int(out[2]) == 201, dtype, out[2])


def cholesky():
    for dtype, shape, a in every(SQUARE, positive):
        factor = linalg.cholesky(a, symmetrize_input=False)
        close(wide(factor) @ adjoint(wide(factor)), a, dtype, "cholesky", shape)
        check(not np.triu(wide(factor), 1).any(), "upper triangle", shape)


def cholesky_other_triangle():
    """What stands there is not read, and of a call of potrf it stays."""
    for dtype, shape, a in every([(5, 5), (2, 40, 40)], positive):
        for uplo, keep in ("L", np.tril), ("U", np.triu):
            marked = np.where(keep(np.ones_like(a)) != 0, a, 777).astype(dtype)
            info = like(a, shape[:-2], np.int32)
            factor, info = call("potrf", dtype, (like(a), info), marked, uplo=uplo)
            f = keep(wide(factor))
            close(f @ adjoint(f) if uplo == "L" else adjoint(f) @ f, a, dtype, "potrf", uplo, shape)
            check((np.asarray(factor)[keep(np.ones_like(a)) == 0] == 777).all(), "kept", shape)
            check(not np.asarray(info).any(), "info")
            if uplo == "L":  # JAX's primitive alone, as it is lowered for us and not for cpu
                alone = np.asarray(linalg.cholesky_p.bind(marked))
                check((np.triu(alone, 1) == np.triu(marked, 1)).all(), "kept", shape)
                check(shape[-1] > 16 or (alone == np.asarray(factor)).all(), "small factors", shape)


def cholesky_indefinite():
    for dtype in TYPES:
        for n in 3, 40:
            a = np.stack([np.eye(n), -np.eye(n), np.eye(n)]).astype(dtype)
            f = np.asarray(linalg.cholesky(a, symmetrize_input=False))
            check(np.isnan(f[1]).any() and not np.isnan(f[0]).any() and not np.isnan(f[2]).any(), n)
            check((f[0] == np.eye(n)).all() and (f[2] == np.eye(n)).all(), "neighbours", n)
            a[1] = np.diag(np.where(np.arange(n) == 2, -1, 1))
            factor, info = call("potrf", dtype, (like(a), like(a, (3,), np.int32)), a, uplo="L")
            check(list(np.asarray(info)) == [0, 3, 0], "info", n, info)
            check((np.asarray(factor)[2] == np.eye(n)).all(), "neighbours", n)


def qr():
    for dtype, shape, a in every([s for s in SQUARE if 0 not in s] + OBLONG + LARGE):
        for full in False, True:
            q, r = linalg.qr(a, full_matrices=full)
            close(wide(q) @ wide(r), a, dtype, "qr", shape, full)
            unitary(q, dtype, "q", shape, full)
            check(not np.tril(wide(r), -1).any(), "r", shape)


def qr_pivoting():
    for dtype, shape, a in every([(5, 5), (9, 4), (4, 9), (40, 30), (2, 20, 20)]):
        q, r, p = linalg.qr(a, pivoting=True, full_matrices=False)
        order = np.broadcast_to(np.asarray(p)[..., None, :], a.shape)
        close(wide(q) @ wide(r), np.take_along_axis(a, order, -1), dtype, "geqp3", shape)
        d = np.abs(np.diagonal(wide(r), axis1=-2, axis2=-1))
        check((d[..., 1:] <= d[..., :-1] * (1 + 1e-4)).all(), "falling", shape)


def multiply_by_q():
    if not hasattr(linalg, "ormqr"):  # JAX 0.9 has it not
        return
    for dtype, shape, a in every([(6, 4), (30, 30), (2, 25, 7)]):
        reflectors, taus = internal.geqrf(a)
        k = taus.shape[-1]
        eye = np.broadcast_to(np.eye(shape[-2], dtype=dtype), (*shape[:-2], shape[-2], shape[-2]))
        for left in True, False:
            for transpose in False, True:
                q = wide(linalg.ormqr(reflectors, taus, eye, left=left, transpose=transpose))
                unitary(q, dtype, "ormqr", shape, left, transpose)
                whole = q if not transpose else adjoint(q)
                r = np.triu(wide(reflectors)[..., :k, :])
                close(whole[..., :k] @ r, a, dtype, "ormqr", shape, left, transpose)


def hessenberg():
    for dtype, shape, a in every([(1, 1), (6, 6), (30, 30), (2, 20, 20)]):
        reflectors, taus = linalg.hessenberg(a)
        h = np.triu(wide(reflectors), -1)
        q = np.broadcast_to(np.eye(shape[-1], dtype=np.complex128), shape).copy()
        for i in range(shape[-1] - 1):
            v = wide(reflectors)[..., :, i].copy()
            v[..., :i + 1], v[..., i + 1] = 0, 1
            tau = wide(taus)[..., i, None, None]
            q = q @ (np.eye(shape[-1]) - tau * v[..., :, None] * v[..., None, :].conj())
        close(q @ h @ adjoint(q), a, dtype, "gehrd", shape)


def tridiagonal():
    for dtype, shape, a in every([(1, 1), (6, 6), (30, 30), (2, 20, 20)], positive):
        for lower in True, False:
            arr, d, e, taus = linalg.tridiagonal(a, lower=lower)
            t = wide(d)[..., None, :] * np.eye(shape[-1])
            for i in range(shape[-1] - 1):
                t[..., i, i + 1] = t[..., i + 1, i] = np.asarray(e)[..., i]
            got, want = np.linalg.eigvalsh(t), np.linalg.eigvalsh(wide(a))
            close(got, want, dtype, "sytrd", shape, lower)
            check(d.dtype == np.zeros(1, dtype).real.dtype, "real")


# ---- systems ----------------------------------------------------------------------------------


def solves(play_it):
    for dtype in TYPES:
        for n, other, batch in (4, 3, (2,)), (20, 33, (3,)), (40, 7, ()), (5, 0, ()), (90, 100, ()), (30, 1, (2,)):
            is_first = n in (4, 20, 30)  # these in every form, the others in one
            whole = matrices(dtype, (*batch, n, n)) * 0.2 + 3 * np.eye(n)
            for left in True, False:
                b = matrices(dtype, (*batch, n, other) if left else (*batch, other, n))
                for lower in (True, False) if is_first else (left,):
                    for op in "NTC" if is_first else "C":
                        unit = (lower + left + "NTC".index(op)) % 2 > 0
                        a = whole.astype(dtype)
                        x = play_it(a, b, left, lower, op, unit)
                        t = (np.tril if lower else np.triu)(wide(a))
                        t = t - np.eye(n) * t + np.eye(n) if unit else t
                        t = {"N": t, "T": np.swapaxes(t, -1, -2), "C": adjoint(t)}[op]
                        product = t @ wide(x) if left else wide(x) @ t
                        scale = 1 + np.abs(wide(x)).max(initial=0)
                        close(product / scale, b / scale, dtype, n, other, batch, left, lower, op)


def triangular_solve():
    solves(lambda a, b, left, lower, op, unit: linalg.triangular_solve(
        a, b, left_side=left, lower=lower, transpose_a=op != "N", conjugate_a=op == "C",
        unit_diagonal=unit))


def trsm():
    solves(lambda a, b, left, lower, op, unit: call(
        "trsm", a.dtype.type, like(b), a, b, side="L" if left else "R", uplo="L" if lower else "U",
        trans_x=op, diag="U" if unit else "N"))


def solve_and_inverse():
    for dtype, shape, a in every([s for s in SQUARE if 0 not in s]):
        a = (a + 2 * shape[-1] * np.eye(shape[-1])).astype(dtype)
        close(wide(jnp.linalg.inv(a)) @ wide(a), np.broadcast_to(np.eye(shape[-1]), shape), dtype, shape)
        b = matrices(dtype, (*shape[:-1], 2))
        close(wide(a) @ wide(jnp.linalg.solve(a, b)), b, dtype, "solve", shape)
        close(np.asarray(jnp.linalg.det(a / (2 * shape[-1])))[..., None],
              np.linalg.det(wide(a) / (2 * shape[-1]))[..., None], dtype, "det", shape)


def tridiagonal_solve():
    for dtype in TYPES:
        for n, other, batch in (2, 1, ()), (5, 3, ()), (40, 1, (2,)), (40, 5, (2, 2)):
            dl, d, du = (matrices(dtype, (*batch, n)) for _ in range(3))
            d = (d + 5).astype(dtype)
            dl[..., 0] = du[..., -1] = 0
            b = matrices(dtype, (*batch, n, other))
            x = wide(linalg.tridiagonal_solve(dl, d, du, b))
            product = d[..., None] * x
            product[..., 1:, :] += dl[..., 1:, None] * x[..., :-1, :]
            product[..., :-1, :] += du[..., :-1, None] * x[..., 1:, :]
            close(product, b, dtype, "gtsv", n, batch)


# ---- eigenvalues and singular values ------------------------------------------------------------


def eigh():
    for dtype, shape, a in every(SQUARE + MIDDLE, positive):
        if shape in MIDDLE:  # far from 1: a power of two changes nothing else
            v, w = linalg.eigh(a * dtype(2.0**-90))
            close(wide(v) * wide(w)[..., None, :] * 2.0**90 @ adjoint(wide(v)), a, dtype, "tiny", shape)
            unitary(v, dtype, "tiny", shape)
        for lower in True, False:
            marked = np.where((np.tril if lower else np.triu)(np.ones(shape)) != 0, a, 777).astype(dtype)
            v, w = linalg.eigh(marked, lower=lower, symmetrize_input=False)
            close(wide(v) * wide(w)[..., None, :] @ adjoint(wide(v)), a, dtype, "eigh", shape, lower)
            unitary(v, dtype, "eigh", shape)
            check((np.diff(np.asarray(w)) >= 0).all() and w.dtype == a.real.dtype, "rising", shape)


def svd():
    for algorithm in linalg.SvdAlgorithm.DEFAULT, linalg.SvdAlgorithm.QR:
        is_default = algorithm == linalg.SvdAlgorithm.DEFAULT
        parts = MIDDLE + MIDDLE_OBLONG
        for dtype, shape, a in every(SQUARE + OBLONG + parts if is_default else [(40, 40), *OBLONG[2:]]):
            k = min(shape[-2:])
            if shape in parts:
                got = linalg.svd(a * dtype(2.0**-90), full_matrices=False)[1]
                close(wide(got) * 2.0**90, linalg.svd(a, compute_uv=False), dtype, "tiny", shape)
                a[..., 0] = a[..., 1] * 2  # not of full rank
            for full in False, True:
                u, s, vh = linalg.svd(a, full_matrices=full, algorithm=algorithm)
                got = wide(u)[..., :, :k] * wide(s)[..., None, :] @ wide(vh)[..., :k, :]
                close(got, a, dtype, "svd", shape, full)
                unitary(u, dtype, "u", shape)
                unitary(adjoint(np.asarray(vh)), dtype, "v", shape)
                check(u.shape[-1] == (shape[-2] if full else k), "shape of u", u.shape)
                check((np.diff(np.asarray(s)) <= 0).all() and s.dtype == a.real.dtype, "falling", shape)
            alone = linalg.svd(a, compute_uv=False, algorithm=algorithm)
            close(alone, s, dtype, "values alone", shape)
            if shape in parts:
                a[..., 1, 1] = np.nan
                check(all(np.isnan(x).all() for x in linalg.svd(a, full_matrices=False)), "nan", shape)


def values_without_vectors():
    """What the program does not read is not computed; what it reads is."""
    for dtype, shape, a in every([(40, 40), (3, 5, 5)], positive):
        for f in jnp.linalg.eigvalsh, lambda a: jnp.linalg.svd(a)[1][..., ::-1]:
            compiled = jax.jit(f).lower(a).compile()
            check("mode = 78" in compiled.as_text(), "vectors", shape)
            close(compiled(a), np.linalg.eigvalsh(wide(a)), dtype, "values", shape)
        for f in jnp.linalg.eigh, lambda a: jnp.linalg.svd(a)[1:], lambda a: jnp.linalg.svd(a)[:2]:
            check("mode = 78" not in jax.jit(f).lower(a).compile().as_text(), "no vectors", shape)


def eig():
    for dtype, shape, a in every([s for s in SQUARE if s[-1] > 1]):
        w, left, right = linalg.eig(a, compute_left_eigenvectors=True, compute_right_eigenvectors=True)
        scale = wide(w)[..., None, :]
        close(wide(a) @ wide(right), wide(right) * scale, dtype, "right", shape)
        close(adjoint(wide(left)) @ wide(a), np.swapaxes(scale, -1, -2) * adjoint(wide(left)), dtype,
              "left", shape)
        close(np.linalg.norm(wide(right), axis=-2), np.ones(w.shape), dtype, "length", shape)
        alone, = linalg.eig(a, compute_left_eigenvectors=False, compute_right_eigenvectors=False)
        close(np.sort_complex(alone.reshape(-1)), np.sort_complex(w.reshape(-1)), dtype, "alone", shape)


def schur():
    for dtype, shape, a in every([(1, 1), (6, 6), (30, 30), (2, 20, 20)]):
        t, z = linalg.schur(a)
        close(wide(z) @ wide(t) @ adjoint(wide(z)), a, dtype, "schur", shape)
        unitary(z, dtype, "schur", shape)
        check(not np.tril(wide(t), -2 if np.dtype(dtype).kind == "f" else -1).any(), "form", shape)
        alone, = linalg.schur(a, compute_schur_vectors=False)
        close(alone, t, dtype, "without vectors", shape)


def small_batches():
    """Up to 16 rows each lane of a vector has a matrix: batches that fill their vectors and that do
    not, every size, and one matrix in it that is singular or not positive."""
    for dtype in np.float32, np.float64:
        for n in range(1, 18):
            batch = (1, 2, 16, 37)[n % 4]
            a, b = positive(dtype, (batch, n, n)), matrices(dtype, (batch, n, 3))
            a = a[:, rng.permutation(n)]
            a[batch // 2] *= 0
            f, pivots, order = linalg.lu(a)
            l, u = np.tril(wide(f), -1) + np.eye(n), np.triu(wide(f))
            order = np.broadcast_to(np.asarray(order)[..., None], a.shape)
            close(l @ u, np.take_along_axis(a, order, -2), dtype, "lu", n, batch)
            check(np.abs(l).max() <= 1, "pivots", n)
            good = np.arange(batch) != batch // 2
            x = wide(jnp.linalg.solve(a, b))[good]
            scale = 1 + np.abs(x).max(initial=0)
            close(wide(a)[good] @ x / scale, b[good] / scale, dtype, "solve", n, batch)
            a = positive(dtype, (batch, n, n))
            a[batch // 2, -1, -1] *= -1
            f = wide(linalg.cholesky(a, symmetrize_input=False))
            check(np.isnan(f[~good]).any() and not np.isnan(f[good]).any(), "nan", n)
            close((f @ adjoint(f))[good], a[good], dtype, "cholesky", n, batch)
            if n in (1, 2, 3, 6, 11, 16):
                small_orthogonal(dtype, batch, n)
        for n in 3, 8, 16:
            same_alone(positive(dtype, (37, n, n)), matrices(dtype, (37, n, 3)), n)


def same_alone(a, b, n):
    """A matrix has one factor, inverse and solution, to the last bit, alone and in a batch of any size."""
    for f in (linalg.cholesky, lambda a: linalg.lu(a)[0], jnp.linalg.inv, lambda a: jnp.linalg.solve(a, b[:len(a)])):
        together = np.asarray(f(a))
        for part in 1, 4:
            check(np.array_equal(np.asarray(f(a[:part])), together[:part]), "alone", n, part)


def small_orthogonal(dtype, batch, n):
    """Among them one matrix of zeros, one of rank 1, one that is not finite, very large ones, very small
    ones; and the triangle that does not count."""
    scale = np.logspace(-30, 30, batch)[:, None, None] if batch > 1 else 1
    for rows, columns in (n, n), (n, max(n - 3, 1)), (max(n - 2, 1), n):
        a = matrices(dtype, (batch, rows, columns))
        a[:1], a[1:2], a[2:3] = 0, 1, np.nan
        a = (a * scale).astype(dtype)
        fine = np.arange(batch) != 2
        size = 1 / np.maximum(np.abs(a).max((-1, -2), keepdims=True), 1e-37)[fine]
        for got in linalg.svd(a, full_matrices=False), linalg.svd(a, full_matrices=True):
            u, s, vt = (wide(x)[fine] for x in got)
            k = min(rows, columns)
            close(u[..., :k] * s[:, None, :] @ vt[..., :k, :] * size, wide(a)[fine] * size, dtype, "svd", n)
            unitary(u, dtype, "u", n), unitary(adjoint(vt), dtype, "v", n)
            check((np.diff(np.asarray(got[1])[fine]) <= 0).all() and np.isnan(got[1][~fine]).all(), "falling", n)
        alone = wide(linalg.svd(a, compute_uv=False))[fine]
        close(alone * size[..., 0], s * size[..., 0], dtype, "values alone", n)
        q, r = (wide(x)[fine] for x in linalg.qr(a, full_matrices=False))
        close(q @ r * size, wide(a)[fine] * size, dtype, "qr", n), unitary(q, dtype, "q", n)
        if rows != columns:
            continue
        for lower in True, False:
            keep = (np.tril if lower else np.triu)(a)
            v, w = (wide(x) for x in linalg.eigh(np.where(keep != 0, a, 777).astype(dtype), lower=lower,
                                                 symmetrize_input=False))
            half = wide(keep)
            whole = half + adjoint(half) - half * np.eye(n)
            got = (v * w[:, None, :] @ adjoint(v))[3:]
            close(got * size[2:], whole[3:] * size[2:], dtype, "eigh", n), unitary(v[3:], dtype, "v", n)
            check((np.diff(w[3:].real) >= 0).all() and np.isnan(w[2:3]).all(), "rising", n)


def repeats():
    """The same bits in every run, whoever plays which matrix."""
    for shape in (300, 300), (50, 12, 12), (9, 60, 60):
        a = positive(np.float32, shape)
        f = jax.jit(lambda a: (linalg.lu(a)[0], jnp.linalg.cholesky(a), *jnp.linalg.eigh(a)))
        first = [np.asarray(x).tobytes() for x in f(a)]
        for _ in range(10):
            check([np.asarray(x).tobytes() for x in f(a)] == first, shape)


def digest():
    """Prints what is the same with any number of workers.  The matrices are products of small integers, which
    are exact: the last bits of NumPy's own products depend on how many cores it finds."""
    def exact(*shape):
        x = rng.integers(-8, 9, shape).astype(np.float32)
        return x @ np.swapaxes(x, -1, -2) + shape[-1] * np.eye(shape[-1], dtype=np.float32)

    a, b, many = exact(300, 300), matrices(np.float32, (300, 200)), exact(50, 12, 12)
    got = (linalg.lu(a)[0], *linalg.qr(a), jnp.linalg.solve(a, b), jnp.linalg.svd(a)[1], *jnp.linalg.eigh(a),
           *jnp.linalg.eigh(many), *jnp.linalg.svd(many), *jnp.linalg.qr(many), linalg.cholesky(many))
    check(len(got) == 15)
    print(hashlib.sha256(b"".join(np.asarray(x).tobytes() for x in got)).hexdigest())


def side_by_side():
    """Threads that call for large matrices and for batches at once: the same bits as alone."""
    large, many = positive(np.float32, (300, 300)), matrices(np.float32, (40, 50, 50))
    calls = [(jax.jit(linalg.cholesky), large), (jax.jit(lambda a: jnp.linalg.svd(a)[1]), many),
             (jax.jit(lambda a: jnp.linalg.qr(a)[0]), large)]
    alone = [np.asarray(f(x)).tobytes() for f, x in calls]
    same = []

    def play_one(i):
        f, x = calls[i]
        same.extend(np.asarray(f(x)).tobytes() == alone[i] for _ in range(10))

    threads = [threading.Thread(target=play_one, args=(i % 3,)) for i in range(6)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    check(len(same) == 60 and all(same), same)


def provider():
    """Last: by now the engine has called somebody's."""
    from jax_tutti import callbacks, library_path

    stats = callbacks.extension_of(library_path()).stats
    text = ctypes.c_char_p()
    ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.POINTER(ctypes.c_char_p))(stats)(
        None, ctypes.byref(text))
    line = next(x for x in text.value.decode().splitlines() if x.startswith("lapack "))
    check(wanted in line, line)


wanted = sys.argv.pop(1)
play([lu, lu_singular, cholesky, cholesky_other_triangle, cholesky_indefinite, qr, qr_pivoting,
      multiply_by_q, hessenberg, tridiagonal, triangular_solve, trsm, solve_and_inverse,
      tridiagonal_solve, eigh, svd, values_without_vectors, eig, schur, small_batches, repeats, digest,
      side_by_side, provider], lambda: checks)
