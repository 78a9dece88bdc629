"""Sums, products and what is made of them, compiled by jax.jit: how far from the truth.

A case is a function and its operands' shapes.  It is played on our engine and on JAX's own, on the
same numbers, for some seeds; the truth is the same function of NumPy in twice the precision (80
bits for f64).  The error of a result is ||got - want|| / ||want|| (of one number: relative), and a
case's error is the root of the mean of its square over the seeds.
"""

import hashlib
import os
import sys

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np

KINDS = {"f32": np.float32, "f64": np.float64, "bf16": ml_dtypes.bfloat16, "f16": np.float16}
# Half the distance from 1 to the next number: a result that is rounded once is so far off, at most.
ROUNDOFF = {"f32": 2.0**-24, "f64": 2.0**-53, "bf16": 2.0**-9, "f16": 2.0**-12}


def softmax(np_, x):
    e = np_.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def layer_norm(np_, x):
    middle = x.mean(-1, keepdims=True)
    spread = ((x - middle) ** 2).mean(-1, keepdims=True)
    return (x - middle) / np_.sqrt(spread + 1e-5)


def log_sum_exp(np_, x):
    return np_.log(np_.exp(x).sum(-1))


def conv(np_, x, w):
    if np_ is jnp:
        return jax.lax.conv_general_dilated(x, w, (1, 1), "VALID")
    n, c, h, wide = x.shape
    o, _, kh, kw = w.shape
    rows, columns = h - kh + 1, wide - kw + 1
    out = np.zeros((n, o, rows, columns), x.dtype)
    for i in range(kh):
        for j in range(kw):
            out += np.einsum("nchw,oc->nohw", x[:, :, i:i + rows, j:j + columns], w[:, :, i, j])
    return out


def case(f, *shapes, kind="uniform", cancels=False):
    """cancels: terms of both signs are added, and errors are measured by those of one sign."""
    return f, shapes, kind, cancels


CASES = {}
for n in 10**3, 10**4, 10**5, 10**6, 10**7:
    CASES[f"sum, {n:.0e}"] = case(lambda np_, x: x.sum(), (n,))
for rows, columns in (10**4, 10**3), (100, 10**5), (10**5, 16), (10**6, 3):
    CASES[f"sum of rows, {rows} x {columns}"] = case(lambda np_, x: x.sum(1), (rows, columns))
    CASES[f"sum of columns, {rows} x {columns}"] = case(lambda np_, x: x.sum(0), (rows, columns))
CASES |= {
    "sum of 300 x 40 x 500 over 0, 2": case(lambda np_, x: x.sum((0, 2)), (300, 40, 500)),
    "sum of 400 x 30 x 300 over 0, 1": case(lambda np_, x: x.sum((0, 1)), (400, 30, 300)),
    "sum of normals, 1e+06": case(lambda np_, x: x.sum(), (10**6,), kind="normal",
                                  cancels=True),
    "sum of squares, 1e+06": case(lambda np_, x: (x * x).sum(), (10**6,), kind="normal"),
    "mean, 1e+07": case(lambda np_, x: x.mean(), (10**7,)),
    "mean of rows, 1000 x 10000": case(lambda np_, x: x.mean(1), (1000, 10**4)),
    "variance, 1e+06": case(lambda np_, x: x.var(), (10**6,)),
    "variance of x + 100, 1e+07": case(lambda np_, x: (x + np_.asarray(100, x.dtype)).var(),
                                       (10**7,)),
    "variance of columns, 100000 x 16": case(lambda np_, x: x.var(0), (10**5, 16)),
    "product, 1e+04": case(lambda np_, x: x.prod(), (10**4,), kind="near 1"),
    "cumsum, 1e+03": case(lambda np_, x: np_.cumsum(x), (10**3,)),
    "cumsum, 1e+05": case(lambda np_, x: np_.cumsum(x), (10**5,)),
    "cumsum, 1e+06": case(lambda np_, x: np_.cumsum(x), (10**6,)),
    "cumsum of columns, 20000 x 50": case(lambda np_, x: np_.cumsum(x, 0), (20000, 50)),
    "cumprod, 1e+04": case(lambda np_, x: np_.cumprod(x), (10**4,), kind="near 1"),
    "norm, 1e+06": case(lambda np_, x: np_.linalg.norm(x), (10**6,), kind="normal"),
    "softmax, 100 x 10000": case(softmax, (100, 10**4), kind="normal"),
    "logsumexp, 100 x 10000": case(log_sum_exp, (100, 10**4), kind="normal"),
    "layer norm, 100 x 10000": case(layer_norm, (100, 10**4)),
    "dot, 1e+03": case(lambda np_, x, y: x @ y, (10**3,), (10**3,)),
    "dot, 1e+05": case(lambda np_, x, y: x @ y, (10**5,), (10**5,)),
    "dot, 1e+07": case(lambda np_, x, y: x @ y, (10**7,), (10**7,)),
    "matrix times vector, 100 x 100000": case(lambda np_, x, y: x @ y, (100, 10**5), (10**5,)),
    "vector times matrix, 100000 x 100": case(lambda np_, x, y: x @ y, (10**5,), (10**5, 100)),
    "matmul, 64 x 64 x 64": case(lambda np_, x, y: x @ y, (64, 64), (64, 64)),
    "matmul, 100 x 100 x 100": case(lambda np_, x, y: x @ y, (100, 100), (100, 100)),
    "matmul, 300 x 64 x 300": case(lambda np_, x, y: x @ y, (300, 64), (64, 300)),
    "matmul, 300 x 200 x 300": case(lambda np_, x, y: x @ y, (300, 200), (200, 300)),
    "matmul, 300 x 300 x 300": case(lambda np_, x, y: x @ y, (300, 300), (300, 300)),
    "matmul, 20 x 100000 x 30": case(lambda np_, x, y: x @ y, (20, 10**5), (10**5, 30)),
    "matmul of normals, 200 x 4000 x 200": case(lambda np_, x, y: x @ y, (200, 4000), (4000, 200),
                                                kind="normal", cancels=True),
    "convolution, 2 x 64 x 20 x 20 by 3 x 3": case(conv, (2, 64, 20, 20), (32, 64, 3, 3)),
    "convolution of one image by 1000 x 1": case(conv, (1, 4, 2000, 1), (4, 4, 1000, 1)),
}


def numbers(kind, how, shape, rng):
    if how == "normal":
        x = rng.standard_normal(shape)
    elif how == "near 1":
        x = rng.uniform(0.99, 1.01, shape)
    else:
        x = rng.uniform(0, 1, shape)
    return x.astype(KINDS[kind])


def wider(kind):
    return np.longdouble if kind == "f64" else np.float64


def error(got, want, scale):
    got = np.asarray(got).astype(want.dtype)
    return float(np.sqrt(((got - want) ** 2).sum() / (scale**2).sum()))


def fits(kind, name, most=10**7):
    """Of at most so many elements; f16 ends at 65504, and 80-bit sums by NumPy take their time."""
    _, shapes, how, _ = CASES[name]
    size = max(int(np.prod(s)) for s in shapes)
    if kind == "f16" and (how == "uniform" and size > 10**5 or "cumsum" in name):
        return False
    if kind in ("f16", "bf16") and ("100" in name and "variance" in name):
        return False
    return size <= (min(most, 10**6) if kind == "f64" else most)


def measure(kind, name, platforms, nseeds=4):
    """The case's error on each platform."""
    f, shapes, how, cancels = CASES[name]
    squares = {p: [] for p in platforms}
    with jax.enable_x64(kind == "f64"), np.errstate(all="ignore"):
        if fits(kind, name, 10**5) and ("cum" in name or "," in name and len(shapes[0]) == 1):
            nseeds *= 8  # one number, or numbers with one error: luck would decide
        for seed in range(nseeds):
            rng = np.random.default_rng(seed)
            args = [numbers(kind, how, s, rng) for s in shapes]
            wide = [a.astype(wider(kind)) for a in args]
            want = np.asarray(f(np, *wide))
            scale = np.asarray(f(np, *map(np.abs, wide))) if cancels else want
            for p in platforms:
                on = [jax.device_put(a, jax.devices(p)[0]) for a in args]
                squares[p].append(error(jax.jit(lambda *x: f(jnp, *x))(*on), want, scale) ** 2)
    return {p: float(np.sqrt(np.mean(s))) for p, s in squares.items()}


def is_none_worse(kind, name, errors):
    """Of two errors below a rounding's, neither is worse; nor are those that luck sets apart.  A
    product has the error of as many roundings as it has factors, in whatever order: more luck."""
    return errors["tutti"] <= max((2 if "prod" in name else 1.5) * errors["cpu"], ROUNDOFF[kind])


def rows(kinds, most=10**7, nseeds=4):
    for kind in kinds:
        for name in CASES:
            if fits(kind, name, most):
                yield kind, name, measure(kind, name, ("tutti", "cpu"), nseeds)


def bits(most=3 * 10**5):
    """A number that differs if any bit of any result does."""
    seen = hashlib.sha256()
    for name, (f, shapes, how, _) in CASES.items():
        if fits("f32", name, most):
            args = [numbers("f32", how, s, np.random.default_rng(9)) for s in shapes]
            seen.update(np.asarray(jax.jit(lambda *x, f=f: f(jnp, *x))(*args)).tobytes())
    return seen.hexdigest()


if __name__ == "__main__":
    if sys.argv[1] == "bits":
        os.sched_setaffinity(0, list(os.sched_getaffinity(0))[:int(sys.argv[2])])
        print(bits())
    else:  # the largest number of elements, how many seeds
        for kind, name, errors in rows(KINDS, int(sys.argv[1]), int(sys.argv[2])):
            mark = "" if is_none_worse(kind, name, errors) else "   worse"
            print(f"{kind:4} {name:42} {errors['tutti']:.1e} {errors['cpu']:.1e}{mark}", flush=True)
