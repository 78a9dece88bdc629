"""Functions of complex numbers at the edges: zeros, infinities, NaN, the largest and the smallest.

Both platforms are in one process.  Where one of them has NaN or an infinity, so must the other;
else the parts agree to a few digits.
"""
import itertools
import sys

import jax
import numpy as np
from jax import lax

jax.config.update("jax_enable_x64", True)

ONE = {
    "abs": lax.abs, "sign": lax.sign, "exp": lax.exp, "expm1": lax.expm1, "log": lax.log,
    "log1p": lax.log1p, "logistic": lax.logistic, "sin": lax.sin, "cos": lax.cos, "tan": lax.tan,
    "tanh": lax.tanh, "sqrt": lax.sqrt, "square": lax.square, "neg": lax.neg,
    "inverse": lambda x: 1 / x, "quotient": lambda x: (1 + 2j) / x,
    "divided": lambda x: x / (2 - 3j),
}


def grid(dtype):
    large = float(np.finfo(dtype).max)
    sides = [0.0, 1.0, 0.25, 30.0, 400.0, large / 4, large, np.inf]
    sides += [-x for x in sides] + [np.nan]
    x = np.array([complex(a, b) for a, b in itertools.product(sides, repeat=2)], dtype)
    # An infinity beside NaN is infinite for C and NumPy, and NaN for XLA.
    return x[~(np.isnan(x) & np.isinf(np.abs(x)))]


def pairs(dtype):
    """Bases and powers none of which is so large that XLA loses it on the way."""
    sides = [0.0, 1.0, 0.25, 3.0, np.inf, -0.0, -1.0, -0.25, -3.0, -np.inf, np.nan]
    x = np.array([complex(a, b) for a, b in itertools.product(sides, repeat=2)], dtype)
    return np.repeat(x, x.size), np.tile(x, x.size)


def kind(x):
    return np.where(np.isnan(x), 3, np.where(np.isinf(x), np.where(x > 0, 1, 2), 0))


def differs(name, ours, theirs, dtype):
    info = np.finfo(dtype)
    nothing = info.eps if name == "expm1" else 4 * info.tiny  # XLA's e^x there is expm1(x) + 1
    with np.errstate(invalid="ignore", over="ignore"):
        far = np.abs(ours - theirs) > 2e3 * info.eps * np.abs(theirs) + nothing
    return (kind(ours) != kind(theirs)) | ((kind(theirs) == 0) & far)


if __name__ == "__main__":
    bad, count = [], 0
    for dtype, (name, f) in itertools.product((np.complex64, np.complex128), ONE.items()):
        x = grid(dtype)
        a, b = (np.asarray(jax.jit(f)(jax.device_put(x, jax.devices(platform)[0])))
                for platform in ("tutti", "cpu"))
        wrong = differs(name, a.real, b.real, dtype) | differs(name, a.imag, b.imag, dtype)
        count += x.size
        bad += [f"{name}({x[i]}) {np.dtype(dtype).name}: {a[i]}, on JAX's devices {b[i]}"
                for i in np.flatnonzero(wrong)]
    for dtype in (np.complex64, np.complex128):
        x, y = pairs(dtype)
        a, b = (np.asarray(jax.jit(lax.pow)(*jax.device_put((x, y), jax.devices(platform)[0])))
                for platform in ("tutti", "cpu"))
        with np.errstate(invalid="ignore", over="ignore"):
            near = np.abs(a - b) <= 2e3 * np.finfo(dtype).eps * np.abs(b)
        wrong = differs("pow", a.real, b.real, dtype) | differs("pow", a.imag, b.imag, dtype)
        count += x.size
        bad += [f"pow({x[i]}, {y[i]}) {np.dtype(dtype).name}: {a[i]}, on JAX's devices {b[i]}"
                for i in np.flatnonzero(wrong & ~near)]
    print("\n".join(bad))
    print(f"{count} numbers, {len(bad)} differ")
    sys.exit(bool(bad))
