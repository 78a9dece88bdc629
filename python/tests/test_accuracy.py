"""Elementwise functions, compiled: at most 4 ulps anywhere.

f32 against float64, f64 against x86's 80-bit floats.  Dense samples of every magnitude, the ends
of the ranges among them.  What lies below the normal range counts as zero.  ERF_INV is not here:
it is XLA's formula, so that random.normal gives JAX's numbers (docs/design/2026-11-15-numbers.md).
"""

import math
import pathlib
import subprocess

import numpy as np
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
MOST = 4.0
WIDER = {np.float32: np.float64, np.float64: np.longdouble}
NAMES = {np.float32: "f32", np.float64: "f64"}


def samples(kind):
    rng = np.random.default_rng(3)
    info = np.finfo(kind)
    near = [rng.uniform(-b, b, 20000) for b in (1.5, 10, 100)]
    span = rng.uniform(np.log(float(info.tiny)) + 1, np.log(float(info.max)) - 1, 20000)
    far = np.exp(span) * rng.choice([-1, 1], 20000)
    powers = np.ldexp(1.0, np.arange(info.minexp, info.maxexp))
    edges = [8.7, 9.01, 16.7, 88.7, 88.8, 89.4, 0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan,
             info.max, info.tiny, -info.max, -info.tiny, 1 - info.epsneg, 1 + info.eps]
    return np.concatenate([*near, far, powers, -powers, edges]).astype(kind)


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


# Of f64 all but lgamma, which is C's own there.  Python's erf and erfc are f64 too, and may
# themselves be 1 ulp off.
WIDE = [op for op in [*ONE, *TWO] if op != "chlo.lgamma"]


def program(ops, array):
    lines = [f"%{i} = {op} %x" + (f", %y : {array}" if op in TWO else f" : {array}") +
             (f" -> {array}" if op.startswith("chlo") else "") for i, op in enumerate(ops)]
    results = ", ".join(f"%{i}" for i in range(len(lines)))
    types = ", ".join([array] * len(lines))
    lines.append(f"return {results} : {types}")
    head = f"func.func @main(%x: {array}, %y: {array}) -> ({types}) {{"
    return "\n".join([head, *lines, "}", ""])


def run(folder, text, *arrays):
    (folder / "all.mlir").write_text(text)
    command = [ROOT / "build/tutti", "run", folder / "all.mlir", "--out", folder]
    for i, array in enumerate(arrays):
        np.save(folder / f"input_{i}.npy", array)
        command += ["--input", folder / f"input_{i}.npy"]
    subprocess.run(command, check=True)
    return [np.load(folder / f"result_{i}.npy") for i in range(len(list(folder.glob("result_*"))))]


def play(folder, kind, ops, x, y):
    text = program(ops, f"tensor<{x.size}x{NAMES[kind]}>")
    return dict(zip(ops, run(folder, text, x, y)))


OPS = {np.float32: [*ONE, *TWO], np.float64: WIDE}


@pytest.fixture(scope="module")
def played(tmp_path_factory):
    def one(kind):
        x = samples(kind)
        y = np.random.default_rng(4).permutation(x)
        return x, y, play(tmp_path_factory.mktemp(NAMES[kind]), kind, OPS[kind], x, y)
    return {kind: one(kind) for kind in OPS}


def flushed(x, kind):
    return np.where(np.abs(x) < np.finfo(kind).tiny, np.copysign(0, x), x)


def ulps(got, want, kind):
    info = np.finfo(kind)
    got, want = flushed(got.astype(WIDER[kind]), kind), flushed(want, kind)
    exponent = np.frexp(np.where(np.isfinite(want) & (want != 0), want, 1))[1] - 1
    off = np.abs(got - want) / np.ldexp(WIDER[kind](1), exponent - info.nmant)
    off = np.where(np.isnan(off), np.inf, off)
    least = info.tiny * WIDER[kind](1.001)
    edge = (np.abs(want) < least) & (np.abs(got) < least)
    is_same = (got == want.astype(kind)) | (np.isnan(got) & np.isnan(want))
    off = np.where(is_same | edge, 0, off)
    is_zero_turned = (got == 0) & (want == 0) & (np.signbit(got) != np.signbit(want))
    return np.where(is_zero_turned, np.inf, off)


def check(played, kind, op):
    x, y, results = played[kind]
    x, y = flushed(x, kind), flushed(y, kind)
    wide = (x.astype(WIDER[kind]), y.astype(WIDER[kind]))
    with np.errstate(all="ignore"):
        want = ONE[op](wide[0]) if op in ONE else TWO[op](*wide)
        off = ulps(results[op], want, kind)
    worst = off.argmax()
    print(f"{off[worst]:.3} ulps")
    most = MOST + (kind is np.float64 and op in ("chlo.erf", "chlo.erfc"))
    assert off[worst] <= most, f"{off[worst]:.3} ulps: of {x[worst]!r}, {y[worst]!r} it is " \
                               f"{results[op][worst]!r} and not {want[worst]!r}"


@pytest.mark.parametrize("op", [*ONE, *TWO])
def test_f32_within_four_ulps(played, op):
    check(played, np.float32, op)


@pytest.mark.parametrize("op", WIDE)
def test_f64_within_four_ulps(played, op):
    check(played, np.float64, op)


@pytest.mark.parametrize("kind", OPS)
def test_same_bits_wherever_an_element_stands(played, kind, tmp_path):
    x, y, results = played[kind]
    again = play(tmp_path, kind, OPS[kind], x[5:-3], y[5:-3])
    for op, result in again.items():
        assert result.tobytes() == results[op][5:-3].tobytes(), op


@pytest.mark.parametrize("kind", OPS)
def test_remainder_is_exact(kind, tmp_path):
    rng = np.random.default_rng(5)
    n, middle = 50001, np.finfo(kind).maxexp // 2
    exponent = rng.integers(-middle, middle, n)
    y = np.ldexp(rng.uniform(1, 2, n), exponent).astype(kind)
    whole = rng.integers(1, 1 << 40, n) >> rng.integers(0, 40, n)
    x = np.ldexp(rng.uniform(1, 2, n), exponent + rng.integers(-2, 60, n)).astype(kind)
    x = np.where(rng.random(n) < 0.5, x, (y * whole).astype(kind))  # just at a whole quotient,
    x = np.where(rng.random(n) < 0.3, np.nextafter(x, kind(0)), x)  # or just below it
    x *= rng.choice([-1, 1], n).astype(kind)
    got = play(tmp_path, kind, ["stablehlo.remainder"], x, y)["stablehlo.remainder"]
    assert got.tobytes() == np.fmod(x, y).tobytes()


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64])
def test_integers_stop_at_their_ends(kind, tmp_path):
    powers = np.ldexp(1.0, np.arange(0, 70))
    with np.errstate(over="ignore"):
        near = np.concatenate([powers, powers - 1, powers + 0.5]).astype(kind)
    near = np.concatenate([near, np.nextafter(near, kind(0)), np.array([0.3, np.inf], kind)])
    x = np.concatenate([near, -near, np.array([np.nan], kind)])
    kinds = ["i8", "ui8", "i16", "ui16", "i32", "ui32", "i64", "ui64"]
    array = f"tensor<{x.size}xf{x.itemsize * 8}>"
    types = [f"tensor<{x.size}x{to}>" for to in kinds]
    lines = [f"%{i} = stablehlo.convert %x : ({array}) -> {to}" for i, to in enumerate(types)]
    results = ", ".join(f"%{i}" for i in range(len(types)))
    text = "\n".join([f"func.func @main(%x: {array}) -> ({', '.join(types)}) {{", *lines,
                      f"return {results} : {', '.join(types)}", "}", ""])
    for to, got in zip(kinds, run(tmp_path, text, x)):
        ends = np.iinfo(got.dtype)
        want = [0 if math.isnan(v) else ends.max if v > ends.max else ends.min if v < ends.min
                else int(v) for v in x.tolist()]
        assert got.tolist() == want, to
