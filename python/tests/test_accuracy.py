"""Elementwise functions of f32, compiled, against float64: at most 4 ulps anywhere.

Dense samples of every magnitude, the ends of the ranges among them.  What lies below the normal
range counts as zero.  ERF_INV is not here: it is XLA's formula, so that random.normal gives JAX's
numbers (docs/design/2026-11-15-numbers.md).
"""

import math
import pathlib
import subprocess

import numpy as np
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
MOST = 4.0
TINY = 2.0**-126


def samples():
    rng = np.random.default_rng(3)
    near = [rng.uniform(-b, b, 20000) for b in (1.5, 10, 100)]
    far = np.exp(rng.uniform(np.log(1e-37), np.log(3e38), 20000)) * rng.choice([-1, 1], 20000)
    edges = [8.7, 9.01, 16.7, 88.7, 88.8, 89.4, 0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan]
    return np.concatenate([*near, far, edges]).astype(np.float32)


def logistic(x):
    small = np.exp(-np.abs(x))
    return np.where(x >= 0, 1, small) / (1 + small)


def lgamma(x):
    return math.inf if math.isinf(x) or (x <= 0 and x == math.floor(x)) else math.lgamma(x)


def each(f):
    return np.vectorize(f, otypes=[float])


ONE = {
    "stablehlo.exponential": np.exp, "stablehlo.exponential_minus_one": np.expm1,
    "stablehlo.log": np.log, "stablehlo.log_plus_one": np.log1p, "stablehlo.logistic": logistic,
    "stablehlo.tanh": np.tanh, "stablehlo.sine": np.sin, "stablehlo.cosine": np.cos,
    "stablehlo.tan": np.tan, "stablehlo.sqrt": np.sqrt,
    "stablehlo.rsqrt": lambda x: 1 / np.sqrt(x), "stablehlo.cbrt": np.cbrt,
    "chlo.erf": each(math.erf), "chlo.erfc": each(math.erfc), "chlo.lgamma": each(lgamma),
    "chlo.sinh": np.sinh, "chlo.cosh": np.cosh, "chlo.asin": np.arcsin, "chlo.acos": np.arccos,
    "chlo.atan": np.arctan, "chlo.asinh": np.arcsinh, "chlo.acosh": np.arccosh,
    "chlo.atanh": np.arctanh,
}
TWO = {"stablehlo.power": np.power, "stablehlo.atan2": np.arctan2, "stablehlo.divide": np.divide,
       "stablehlo.remainder": np.fmod}


def program(n):
    array = f"tensor<{n}xf32>"
    lines = [f"%{i} = {op} %x : {array}" + (f" -> {array}" if "chlo" in op[:4] else "")
             for i, op in enumerate(ONE)]
    lines += [f"%{len(ONE) + i} = {op} %x, %y : {array}" for i, op in enumerate(TWO)]
    results = ", ".join(f"%{i}" for i in range(len(lines)))
    types = ", ".join([array] * len(lines))
    lines.append(f"return {results} : {types}")
    return f"func.func @main(%x: {array}, %y: {array}) -> ({types}) {{\n" + "\n".join(lines) + "\n}\n"


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    folder = tmp_path_factory.mktemp("accuracy")
    x = samples()
    y = np.random.default_rng(4).permutation(x)
    for name, array in ("x", x), ("y", y):
        np.save(folder / f"{name}.npy", array)
    (folder / "all.mlir").write_text(program(x.size))
    subprocess.run([ROOT / "build/tutti", "run", folder / "all.mlir", "--input", folder / "x.npy",
                    "--input", folder / "y.npy", "--out", folder], check=True)
    results = [np.load(folder / f"result_{i}.npy") for i in range(len(ONE) + len(TWO))]
    return x, y, dict(zip([*ONE, *TWO], results))


def flushed(x):
    return np.where(np.abs(x) < TINY, 0.0, x)


def ulps(got, want):
    got, want = flushed(got.astype(np.float64)), flushed(want)
    rounded = want.astype(np.float32)
    unit = np.exp2(np.floor(np.log2(np.where(want != 0, np.abs(want), 1))) - 23)
    off = np.abs(got - want) / unit
    off = np.where(np.isnan(off), np.inf, off)
    edge = (np.abs(want) < TINY * 1.001) & (np.abs(got) < TINY * 1.001)
    return np.where((got == rounded) | (np.isnan(got) & np.isnan(want)) | edge, 0, off)


@pytest.mark.parametrize("op", [*ONE, *TWO])
def test_within_four_ulps(played, op):
    x, y, results = played
    wide = (x.astype(np.float64), y.astype(np.float64))
    with np.errstate(all="ignore"):
        want = ONE[op](wide[0]) if op in ONE else TWO[op](*wide)
        off = ulps(results[op], want)
    worst = off.argmax()
    assert off[worst] <= MOST, f"{off[worst]:.3} ulps: of {x[worst]!r}, {y[worst]!r} it is " \
                               f"{results[op][worst]!r} and not {want[worst]!r}"
