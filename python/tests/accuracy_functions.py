"""Functions of numbers, compiled by jax.jit as users call them: how far from the truth.

Each is played on our engine and on JAX's own, of the same numbers: random ones of all exponents and
within ordinary ranges, and those near its special points.  The truth is mpmath's, to 60 digits; the
error is counted in units in the last place of the type, and the largest is reported.  What lies
below the normal range counts as zero, for both flush it.
"""

import sys

import jax
import jax.numpy as jnp
import jax.scipy.special as jsp
import ml_dtypes
import mpmath
import numpy as np

KINDS = {"f32": np.float32, "f64": np.float64, "bf16": ml_dtypes.bfloat16, "f16": np.float16}
mpmath.mp.dps = 60
mp = mpmath.mp


def real(f):
    """NaN where f has no real value."""
    def g(*x):
        try:
            y = f(*x)
            return y if isinstance(y, mpmath.mpf) else mp.nan if mp.im(y) else mp.re(y)
        except (ValueError, ZeroDivisionError, mpmath.libmp.ComplexResult):
            return mp.nan
    return g


def erfc(x):
    return mp.erfc(x) if abs(x) < 1e6 else mp.mpf(0 if x > 0 else 2)


def log_gamma(x):
    if x > 0:
        return mp.loggamma(x)
    return mp.log(mp.pi / abs(mp.sinpi(x))) - mp.loggamma(1 - x)


def erf_inv(x):
    return mp.erfinv(x) if abs(x) < 1 else mp.nan


ONE = {  # what JAX has, what mpmath has, points of interest
    "exp": (jnp.exp, mp.exp, [88, -87, 709, -708]), "exp2": (jnp.exp2, lambda x: mp.mpf(2)**x, [-126, 127]),
    "expm1": (jnp.expm1, mp.expm1, [0]), "log": (jnp.log, mp.log, [1]),
    "log1p": (jnp.log1p, mp.log1p, [0, -1]), "log2": (jnp.log2, lambda x: mp.log(x, 2), [1]),
    "log10": (jnp.log10, mp.log10, [1]), "sqrt": (jnp.sqrt, mp.sqrt, []),
    "rsqrt": (jax.lax.rsqrt, lambda x: 1 / mp.sqrt(x), []),
    "cbrt": (jnp.cbrt, lambda x: mp.sign(x) * mp.cbrt(abs(x)), []),
    "sin": (jnp.sin, mp.sin, [3.14159265358979]), "cos": (jnp.cos, mp.cos, [1.5707963267949]),
    "tan": (jnp.tan, mp.tan, [1.5707963267949, 3.14159265358979]),
    "asin": (jnp.arcsin, mp.asin, [1, -1]), "acos": (jnp.arccos, mp.acos, [1, -1]),
    "atan": (jnp.arctan, mp.atan, [1]), "sinh": (jnp.sinh, mp.sinh, [0, 88, 709]),
    "cosh": (jnp.cosh, mp.cosh, [0, 88, 709]), "tanh": (jnp.tanh, mp.tanh, [0]),
    "asinh": (jnp.arcsinh, mp.asinh, [0]), "acosh": (jnp.arccosh, mp.acosh, [1]),
    "atanh": (jnp.arctanh, mp.atanh, [0, 1, -1]),
    "logistic": (jax.nn.sigmoid, lambda x: 1 / (1 + mp.exp(-x)), [0]),
    "softplus": (jax.nn.softplus, lambda x: mp.log1p(mp.exp(x)), [0]),
    "erf": (jsp.erf, mp.erf, [0]), "erfc": (jsp.erfc, erfc, [0, 1, 9]),
    "erfinv": (jsp.erfinv, erf_inv, [0]),
    "gammaln": (jsp.gammaln, log_gamma, [1, 2]),
    "digamma": (jsp.digamma, mp.digamma, [1.4616321449683623]),
    "ndtr": (jsp.ndtr, lambda x: erfc(-x / mp.sqrt(2)) / 2, [0]),
    "sinc": (jnp.sinc, mp.sincpi, [0]), "reciprocal": (jnp.reciprocal, lambda x: 1 / x, []),
}
TWO = {
    "power": (jnp.power, mp.power), "atan2": (jnp.arctan2, mp.atan2),
    "hypot": (jnp.hypot, mp.hypot), "divide": (jnp.divide, lambda x, y: x / y),
    "remainder": (jax.lax.rem, lambda x, y: mp.sign(x) * (abs(x) % abs(y))),
    "logaddexp": (jnp.logaddexp, lambda x, y: max(x, y) + mp.log1p(mp.exp(-abs(x - y)))),
}


def rounded(kind, x):
    with np.errstate(all="ignore"):
        x = np.asarray(x, np.float64).astype(KINDS[kind])
    wide, least = x.astype(np.float64), float(ml_dtypes.finfo(KINDS[kind]).tiny)
    return x[np.isfinite(wide) & ((wide == 0) | (np.abs(wide) >= least))]


def samples(kind, points, n, seed=1):
    """n of every magnitude, n in ordinary ranges, n near the points."""
    rng, info = np.random.default_rng(seed), ml_dtypes.finfo(KINDS[kind])
    sign = rng.choice([-1, 1], n)
    far = np.ldexp(rng.uniform(1, 2, n), rng.integers(info.minexp, info.maxexp, n)) * sign
    near = np.concatenate([rng.uniform(-b, b, n // 4) for b in (1, 4, 30, 700)])
    about = [p + s * np.ldexp(rng.uniform(1, 2, n // 8), rng.integers(-info.nmant - 2, 0, n // 8))
             for p in points for s in (-1, 1)]
    return rounded(kind, np.concatenate([far, near, *about, points]))


def ulps(kind, got, want):
    """Of one result, whose truth is an mpf."""
    info = ml_dtypes.finfo(KINDS[kind])
    got, least, most = float(got), float(info.tiny), float(info.max)
    if mp.isnan(want) or mp.isnan(got):
        return 0.0 if mp.isnan(want) and np.isnan(got) else float("inf")
    if abs(want) < least and abs(got) <= least:
        return 0.0
    if abs(want) > most or np.isinf(got):
        return 0.0 if np.isinf(got) == bool(abs(want) > most) or abs(want) > most * 0.999 \
            and abs(got) > most * 0.999 else float("inf")
    exponent = max(mp.frexp(want)[1] - 1, int(info.minexp))
    return float(abs(mp.mpf(got) - want) / mp.ldexp(1, int(exponent) - int(info.nmant)))


def measure(kind, name, n, seed=1, platforms=("tutti", "cpu")):
    """The largest error on each platform, and where it has it."""
    with jax.enable_x64(kind == "f64"):
        if name in ONE:
            f, truth, points = ONE[name]
            args = [samples(kind, points, n, seed)]
        else:
            f, truth = TWO[name]
            x, y = samples(kind, [1], n, seed), samples(kind, [1], n, seed + 1000)
            size = min(len(x), len(y))
            args = [x[:size], y[:size]]
        wide = [[mp.mpf(float(v)) for v in a] for a in args]
        want = [real(truth)(*v) for v in zip(*wide)]
        worst = {}
        for p in platforms:
            got = np.asarray(jax.jit(f)(*(jax.device_put(a, jax.devices(p)[0]) for a in args)))
            off = [ulps(kind, g, w) for g, w in zip(got.astype(np.float64), want)]
            worst[p] = (max(off), [float(a[int(np.argmax(off))]) for a in args])
    return worst


def is_none_worse(worst):
    """Of two errors below 1 ulp neither is worse."""
    return worst["tutti"][0] <= max(1.02 * worst["cpu"][0], 1)


def rows(n, names, seed=1):
    for name in names or [*ONE, *TWO]:
        for kind in KINDS:
            if name != "ndtr" or kind in ("f32", "f64"):  # JAX has no other
                worst = measure(kind, name, n, seed)
                if not is_none_worse(worst):  # the largest of few may be luck, of ten times as many not
                    worst = measure(kind, name, 10 * n, seed)
                yield name, kind, worst


if __name__ == "__main__":  # how many samples of each sort, a seed, then functions; none: all
    for name, kind, worst in rows(int(sys.argv[1]), sys.argv[3:], int(sys.argv[2])):
        mark = "" if is_none_worse(worst) else "   worse"
        print(f"{name:12} {kind:4} {worst['tutti'][0]:9.2f} {worst['cpu'][0]:9.2f}  "
              f"{worst['tutti'][1]} {worst['cpu'][1]}{mark}", flush=True)
