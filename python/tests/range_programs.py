"""Factorizations of matrices whose entries are very large or very small, or all zero.

A factorization knows no unit: that of s A follows from that of A.  Each is made of A as NumPy has
it and of s A, s = 2^e, here; what it should give is worked out from the matrix alone (A v = w v,
A x = b, Q R = A ...), in units of s.  One line is printed for each result that is off.
"""

import sys

import jax
import jax.numpy as jnp
import numpy as np

jax.config.update("jax_enable_x64", True)
EXPONENTS = {  # 1e-300, 1e-160, 1e-75 ... 1e300, and as far as floats go
    np.float32: (-100, -60, 0, 60, 100), np.complex64: (-100, -60, 0, 60, 100),
    np.float64: (-996, -531, -250, 0, 250, 498, 996),
    np.complex128: (-996, -531, -250, 0, 250, 498, 996),
}


def matrix(kind, n, seed):
    rng = np.random.default_rng(seed)
    a = rng.standard_normal((n, n))
    if np.issubdtype(kind, np.complexfloating):
        a = a + 1j * rng.standard_normal((n, n))
    return a


def off(got, want):
    """How far, beside the largest of what is wanted; NaN is infinitely far."""
    got, want = np.asarray(got), np.asarray(want)
    far = np.max(np.abs(got - want)) / max(np.max(np.abs(want)), 1e-30)
    return float("inf") if np.isnan(far) else float(far)


def checks(kind, a, e):
    """Names and (got, want), in units of 2^e."""
    s = kind(np.ldexp(1.0, e))
    there = jnp.asarray(a.astype(kind) * s)
    wide = a.astype(kind).astype(np.complex128)
    back = lambda x: np.asarray(x).astype(np.complex128) / complex(s)
    b = np.arange(1, len(a) + 1).astype(kind)
    positive = wide @ wide.conj().T / len(a) + np.eye(len(a))
    hermitian = (wide + wide.conj().T) / 2

    def scaled(x):
        return jnp.asarray(x.astype(kind) * s if np.iscomplexobj(a) else x.real.astype(kind) * s)

    yield "solve", np.asarray(jnp.linalg.solve(there, b * s)), np.linalg.solve(wide, b)
    yield "inv", np.asarray(jnp.linalg.inv(there)).astype(np.complex128) * complex(s), \
        np.linalg.inv(wide)
    sign, log = jnp.linalg.slogdet(there)
    want_sign, want_log = np.linalg.slogdet(wide)
    yield "slogdet", [sign, log - len(a) * e * np.log(2)], [want_sign, want_log]
    q, r = jnp.linalg.qr(there)
    yield "qr", np.asarray(q).astype(np.complex128) @ back(r), wide
    yield "q", np.asarray(q).conj().T @ np.asarray(q), np.eye(len(a))
    half = jnp.linalg.cholesky(scaled(positive)) if e % 2 == 0 else None
    if half is not None:
        root = np.asarray(half).astype(np.complex128) / np.ldexp(1.0, e // 2)
        yield "cholesky", root @ root.conj().T, positive
    u, values, vh = jnp.linalg.svd(there)
    yield "svd", np.asarray(u) @ np.diag(back(values)) @ np.asarray(vh), wide
    w, v = jnp.linalg.eigh(scaled(hermitian))
    yield "eigh", hermitian @ np.asarray(v), np.asarray(v) * back(w)
    w, v = jnp.linalg.eig(there)
    yield "eig", wide @ np.asarray(v), np.asarray(v) * back(w)
    yield "eigenvectors", np.linalg.norm(np.asarray(v), axis=0), np.ones(len(a))
    t, z = jax.scipy.linalg.schur(there)
    z = np.asarray(z).astype(np.complex128)
    yield "schur", z @ back(t) @ z.conj().T, wide
    h, q = jax.scipy.linalg.hessenberg(there, calc_q=True)
    q = np.asarray(q).astype(np.complex128)
    yield "hessenberg", q @ back(h) @ q.conj().T, wide
    x = jax.scipy.linalg.solve_triangular(there, b * s, lower=True)
    yield "triangular", np.tril(wide) @ np.asarray(x), b


def special():
    zero = jnp.zeros((4, 4))
    for name, f in ("eig", jnp.linalg.eig), ("eigh", jnp.linalg.eigh):
        w, v = f(zero)
        yield f"{name} of zeros", np.asarray(w), np.zeros(4)
        yield f"vectors of {name} of zeros", np.linalg.norm(np.asarray(v), axis=0), np.ones(4)
    u, s, vh = jnp.linalg.svd(zero)
    yield "svd of zeros", np.asarray(u) @ np.asarray(vh), np.asarray(u @ vh)
    yield "u of svd of zeros", np.asarray(u).T @ np.asarray(u), np.eye(4)
    q, r = jnp.linalg.qr(zero)
    yield "qr of zeros", np.asarray(q), np.eye(4)
    small = np.array([1e-160, 1.0])
    yield "solve of diag(1e-160, 1)", jnp.linalg.solve(jnp.diag(small), small), np.ones(2)
    imaginary = jnp.diag(small * (1 + 1j))
    yield "the same of (1 + i)", jnp.linalg.solve(imaginary, small * (1 + 1j)), np.ones(2)
    shift = np.eye(30, k=1) + 1.0 * np.eye(30)  # one eigenvalue, one eigenvector
    w, v = jnp.linalg.eig(jnp.asarray(shift))
    yield "eigenvectors of a shift", np.linalg.norm(np.asarray(v), axis=0), np.ones(30)


def report(label, results, most):
    for name, got, want in results:
        far = off(got, want)
        if far > most:
            print(f"{label}: {name} is {far:.1e} off")


if __name__ == "__main__":
    print("played")
    for kind, exponents in EXPONENTS.items():
        most = 2e-3 if np.finfo(kind).bits == 32 else 1e-10
        for e in exponents:
            report(f"{kind.__name__}, 2^{e}", checks(kind, matrix(kind, 6, 5), e), most)
    report("f64", special(), 1e-10)
    sys.exit(0)
