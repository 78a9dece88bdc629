"""10,000 draws of each random distribution, by JAX and by the C library, with the same key and parameters.

usage: draws.py                 the table of docs/differences.md: how many of ours are not those of JAX's CPU backend
       draws.py save FILE [NAME ...]          what JAX draws on the platform of JAX_PLATFORMS, as .npz
"""
import ctypes
import os
import subprocess
import sys
import tempfile

import numpy as np
from tutti_c import Dims, Tt, library, tt_dtype

N = 10000
ALPHA = (np.arange(N) % 13 + 1).astype(np.float32) / 4
LOGITS = np.sin(np.arange(N * 5)).astype(np.float32).reshape(N, 5)
COVARIANCE = (2 * np.eye(4) + 1).astype(np.float32)
ONE_AND_A_HALF = np.float32(1.5)

# Name in C: JAX's draw by jax.random r with key k; what C is given between the key and the type; the last of the
# shape that C is given, with the type (float32) before it unless it is None.
ALL = {
    "uniform": (lambda r, k: r.uniform(k, (N,)), [], (N,)),
    "normal": (lambda r, k: r.normal(k, (N,)), [], (N,)),
    "truncated_normal": (lambda r, k: r.truncated_normal(k, -2, 1.5, (N,)), [-2.0, 1.5], (N,)),
    "exponential": (lambda r, k: r.exponential(k, (N,)), [], (N,)),
    "gumbel": (lambda r, k: r.gumbel(k, (N,)), [], (N,)),
    "laplace": (lambda r, k: r.laplace(k, (N,)), [], (N,)),
    "logistic": (lambda r, k: r.logistic(k, (N,)), [], (N,)),
    "cauchy": (lambda r, k: r.cauchy(k, (N,)), [], (N,)),
    "maxwell": (lambda r, k: r.maxwell(k, (N,)), [], (N,)),
    "rademacher": (lambda r, k: r.rademacher(k, (N,), np.float32), [], (N,)),
    "lognormal": (lambda r, k: r.lognormal(k, ALPHA), [ALPHA], (N,)),
    "pareto": (lambda r, k: r.pareto(k, 2 + ALPHA), [2 + ALPHA], (N,)),
    "rayleigh": (lambda r, k: r.rayleigh(k, ALPHA), [ALPHA], (N,)),
    "weibull": (lambda r, k: r.weibull_min(k, ALPHA, 1.5, (N,)), [ALPHA, ONE_AND_A_HALF], (N,)),
    "multivariate_normal": (lambda r, k: r.multivariate_normal(k, ALPHA[:4], COVARIANCE, (N // 4,)),
                            [ALPHA[:4], COVARIANCE], (N // 4,)),
    "bernoulli": (lambda r, k: r.bernoulli(k, ALPHA / 4), [ALPHA / 4], (N,)),
    "binomial": (lambda r, k: r.binomial(k, 40 * ALPHA, ALPHA / 4), [40 * ALPHA, ALPHA / 4], (N,)),
    "poisson": (lambda r, k: r.poisson(k, 6 * ALPHA), [6 * ALPHA], (N,)),
    "categorical": (lambda r, k: r.categorical(k, LOGITS), [LOGITS, -1], None),
    "permutation": (lambda r, k: r.permutation(k, ALPHA), [ALPHA, 0], None),
    "gamma": (lambda r, k: r.gamma(k, ALPHA), [ALPHA], (N,)),
    "loggamma": (lambda r, k: r.loggamma(k, ALPHA), [ALPHA], (N,)),
    "beta": (lambda r, k: r.beta(k, ALPHA, 1.5), [ALPHA, ONE_AND_A_HALF], (N,)),
    "chisquare": (lambda r, k: r.chisquare(k, ALPHA), [ALPHA], (N,)),
    "student_t": (lambda r, k: r.t(k, 2 + ALPHA, (N,)), [2 + ALPHA], (N,)),
    "fisher_f": (lambda r, k: r.f(k, 2 + ALPHA, 3.5), [2 + ALPHA, np.float32(3.5)], (N,)),
    "generalized_normal": (lambda r, k: r.generalized_normal(k, 1.5, (N,)), [ONE_AND_A_HALF], (N,)),
    "dirichlet": (lambda r, k: r.dirichlet(k, ALPHA[:5], (N // 5,)), [ALPHA[:5]], (N // 5,)),
    "ball": (lambda r, k: r.ball(k, 4, 3, (N // 4,)), [4, 3.0], (N // 4,)),
    "orthogonal": (lambda r, k: r.orthogonal(k, 10), [], 10),
}


def save(path, names):
    """Of each distribution what JAX draws on its default platform."""
    import jax

    key = jax.random.PRNGKey(7)
    np.savez(path, **{name: np.asarray(ALL[name][0](jax.random, key)) for name in names})


def dims(shape):
    return ctypes.byref(Dims(len(shape), (ctypes.c_int64 * 12)(*shape)))


def as_argument(lib, x):
    if isinstance(x, float):
        return ctypes.c_double(x)
    if isinstance(x, int):
        return ctypes.c_int64(x)
    x = np.asarray(x, order="C")
    return lib.tt_from(tt_dtype(x.dtype), x.ctypes.data, x.nbytes, dims(x.shape))


def draws_of_c(lib, name, want):
    """What C draws, as an array like JAX's."""
    _, given, shape = ALL[name]
    drawn = "poisson" == name and np.int32 or "bernoulli" == name and np.bool_ or np.float32
    arguments = [as_argument(lib, x) for x in given]
    if shape is not None:
        arguments += [tt_dtype(drawn), dims(shape) if isinstance(shape, tuple) else ctypes.c_int64(shape)]
    x = getattr(lib, "tt_" + name)(lib.tt_key(7), *arguments)
    got = np.empty(want.shape, want.dtype)
    assert lib.tt_read(x, got.ctypes.data, got.nbytes), f"{name}: {lib.tt_error()}"
    return got


def c_library():
    lib = library(**{"tt_" + name: Tt for name in ["key", *ALL]})
    lib.tt_key.argtypes = [ctypes.c_uint64]
    return lib


def draws_of_jax(names, platform, path):
    """By another process, as a platform is chosen once."""
    environment = {**os.environ, "JAX_PLATFORMS": platform}
    subprocess.run([sys.executable, __file__, "save", path, *names], env=environment, check=True)
    return np.load(path)


def main():
    if sys.argv[1:2] == ["save"]:
        save(sys.argv[2], sys.argv[3:] or ALL)
        return
    lib = c_library()
    with tempfile.TemporaryDirectory() as at:
        said = draws_of_jax(sys.argv[1:], "cpu", os.path.join(at, "cpu.npz"))
        for name in said:
            want, got = said[name], draws_of_c(lib, name, said[name])
            apart = np.abs(got.astype(float) - want) / np.maximum(np.abs(want.astype(float)), 1e-30)
            print(f"| `{name}` | {(got != want).sum()} of {want.size} | {apart.max():.1e} |", flush=True)


if __name__ == "__main__":
    main()
