"""Every operation on our engine against JAX's CPU backend and against float64.

build/tests/unit/ops_test --write makes the programs of tests/ops/cases.def, their arguments and
our results.  Here jaxlib compiles the same text and plays it on the same arguments.  Integers and
moved elements must be equal, floats within the case's ulps, or where both approximate as near as
NEAR says; and f32 elementwise functions must be within 4 ulps of float64.
"""

import concurrent.futures
import json
import math
import os
import pathlib
import re
import subprocess

import jax
import jax.extend
import ml_dtypes
import numpy as np
import pytest

jax.config.update("jax_enable_x64", True)

ROOT = pathlib.Path(__file__).resolve().parents[2]

TYPES = {
    "i1": np.bool_, "i2": ml_dtypes.int2, "i4": ml_dtypes.int4, "i8": np.int8, "i16": np.int16,
    "i32": np.int32, "i64": np.int64, "ui2": ml_dtypes.uint2, "ui4": ml_dtypes.uint4,
    "ui8": np.uint8, "ui16": np.uint16, "ui32": np.uint32, "ui64": np.uint64,
    "f8E4M3FN": ml_dtypes.float8_e4m3fn, "f8E5M2": ml_dtypes.float8_e5m2,
    "f8E4M3FNUZ": ml_dtypes.float8_e4m3fnuz, "f8E5M2FNUZ": ml_dtypes.float8_e5m2fnuz,
    "f8E4M3B11FNUZ": ml_dtypes.float8_e4m3b11fnuz, "f8E4M3": ml_dtypes.float8_e4m3,
    "f8E3M4": ml_dtypes.float8_e3m4, "f8E8M0FNU": ml_dtypes.float8_e8m0fnu,
    "f6E2M3FN": ml_dtypes.float6_e2m3fn, "f6E3M2FN": ml_dtypes.float6_e3m2fn,
    "f4E2M1FN": ml_dtypes.float4_e2m1fn, "bf16": ml_dtypes.bfloat16, "f16": np.float16,
    "f32": np.float32, "f64": np.float64, "complex<f32>": np.complex64,
    "complex<f64>": np.complex128,
}

# Mantissa bits and least normal number of what is compared by ulps.
FLOATS = {
    "f32": (23, 2.0**-126), "f64": (52, 2.0**-1022), "bf16": (7, 2.0**-126), "f16": (10, 2.0**-14),
    "complex<f32>": (23, 2.0**-126), "complex<f64>": (52, 2.0**-1022),
}

REFERENCE = {  # in float64
    "EXP": np.exp, "EXPM1": np.expm1, "LOG": np.log, "LOG1P": np.log1p, "TANH": np.tanh,
    "SIN": np.sin, "COS": np.cos, "TAN": np.tan, "SQUARE": np.square, "SQRT": np.sqrt,
    "FLOOR": np.floor,
    "CEIL": np.ceil, "ROUND_EVEN": np.round, "ABS": np.abs, "NEG": np.negative, "SIGN": np.sign,
    "CBRT": np.cbrt, "SINH": np.sinh, "COSH": np.cosh, "ASIN": np.arcsin, "ACOS": np.arccos,
    "ATAN": np.arctan, "ASINH": np.arcsinh, "ACOSH": np.arccosh, "ATANH": np.arctanh,
    "ERF": np.vectorize(math.erf, otypes=[float]), "ERFC": np.vectorize(math.erfc, otypes=[float]),
    "LGAMMA": np.vectorize(math.lgamma, otypes=[float]), "CHLO_TAN": np.tan,
    "LOGISTIC": lambda x: 1 / (1 + np.exp(-x)), "RSQRT": lambda x: 1 / np.sqrt(x),
    "ADD": np.add, "SUB": np.subtract, "MUL": np.multiply, "DIV": np.divide, "POW": np.power,
    "ATAN2": np.arctan2, "REM": np.fmod, "MAX": np.maximum, "MIN": np.minimum,
}

# Of these XLA's own error is larger than ours, so that only gross differences count: in ulps.
NEAR = {"f32": 1 << 13, "f64": 1 << 14, "bf16": 2, "f16": 4}
APPROXIMATE = ["ERFC", "ERF_INV", "LGAMMA", "DIGAMMA", "BESSEL_I1E", "SINH", "COSH", "ATANH",
               "ASINH", "ACOSH", "LOG1P", "TANH", "EXPM1", "TAN", "CHLO_TAN", "POW", "LOGISTIC"]
if jax.__version_info__ < (0, 10):
    APPROXIMATE.append("CBRT")  # 12 ulps off in its XLA, of the largest f32

# Near a zero of these XLA subtracts powers of e that are almost equal.
NEAR_COMPLEX = 1 << 10
APPROXIMATE_COMPLEX = ["SIN", "COS"]


def why_not_compared(case):
    """What XLA does wrong, or refuses, in this case; or None."""
    types = {element for element, _ in case["in"] + case["out"]}
    if types & {"i2", "i4", "ui2", "ui4"}:
        return "XLA's CPU backend crashes or counts eight bits in integers of 2 and 4"
    if types & {"f6E2M3FN", "f6E3M2FN"}:
        return "XLA has no floats of six bits; test_narrow.py compares with NumPy's types"
    if case["op"] == "POW" and "i" in case["element"] and case["ranges"] == "any":
        return "XLA looks at six bits of an integer's exponent"
    if case["op"] == "POW" and "ui" in case["element"] and jax.__version_info__ >= (0, 11):
        return "XLA of JAX 0.11 refuses its own power of unsigned integers"
    if case["op"] == "MULHI" and jax.__version_info__ < (0, 10):
        return "chlo.mulhi is not in JAX 0.9"
    if case["op"] == "REDUCE" and case["element"] in FLOATS and case["ranges"] == "any":
        return "XLA's reductions lose NaN: max([nan, inf]) is inf"
    if case["op"] == "SQUARE" and "i" in case["element"]:
        return "XLA takes chlo.square of floats and complex numbers alone"
    if case["op"] == "CBRT" and "complex" in case["element"]:
        return "XLA's CPU backend takes real numbers alone"
    if case["op"] in ("UNARY_EINSUM", "RAGGED_DOT"):
        return "XLA's CPU backend has none of them; tests/programs/letters_and_groups.mlir does"
    return None


def played(program, arguments):
    """By jaxlib's own CPU backend, from the text alone."""
    from jax._src import compiler
    from jax._src.interpreters import mlir
    from jax._src.lib import xla_client
    from jax._src.lib.mlir import ir

    backend = jax.extend.backend.get_backend("cpu")
    options = compiler.get_compile_options(num_replicas=1, num_partitions=1)
    with mlir.make_ir_context():
        module = ir.Module.parse(program)
        devices = xla_client.DeviceList(tuple(backend.local_devices()[:1]))
        executable = backend.compile_and_load(module, devices, options)
    out = executable.execute_sharded([jax.device_put(a, backend.local_devices()[0]) for a in arguments])
    return [np.asarray(a[0]) for a in out.disassemble_into_single_device_arrays()]


def arrays_in(path, types):
    data, at, arrays = path.read_bytes(), 0, []
    for element, shape in types:
        count, size = int(np.prod(shape, dtype=np.int64)), np.dtype(TYPES[element]).itemsize
        arrays.append(np.frombuffer(data, TYPES[element], count, at).reshape(shape))
        at += count * size
    assert at == len(data)
    return arrays


@pytest.fixture(scope="session")
def cases(tmp_path_factory):
    folder = tmp_path_factory.mktemp("ops")
    subprocess.run([ROOT / "build/tests/unit/ops_test", "--write", folder], check=True)
    return folder, json.loads((folder / "0.json").read_text())


def flushed(x, least):
    return np.where(np.abs(x) < least, np.copysign(0.0, x), x)


def far(got, want, element, ulps):
    """Where got is further than so many ulps from want, both in float64; what is below the normal
    range counts as zero, and zeros of both signs are equal."""
    mantissa, least = FLOATS[element]
    got, want = flushed(got, least), flushed(want, least)
    with np.errstate(all="ignore"):
        size = np.maximum(np.abs(got), np.abs(want))
        unit = np.exp2(np.floor(np.log2(np.where(size > 0, size, 1))) - mantissa)
        near = np.abs(got - want) <= ulps * unit
        both_nan = np.isnan(got) & np.isnan(want)
        return ~(near | both_nan | (got == want))


def differs(got, want, element, ulps):
    if element not in FLOATS:
        wide = np.float64 if element.startswith(("f8", "f4")) else np.int64 if element != "ui64" else np.uint64
        got, want = got.astype(wide), want.astype(wide)
        return (got != want) & ~((got != got) & (want != want))
    if element.startswith("complex"):
        got, want = got.astype(np.complex128), want.astype(np.complex128)
        size = np.maximum(np.abs(want.real), np.abs(want.imag))
        with np.errstate(all="ignore"):
            near = np.abs(got - want) <= ulps * size * 2.0 ** -FLOATS[element][0]
        parts = far(got.real, want.real, element, ulps) | far(got.imag, want.imag, element, ulps)
        return parts & ~near
    return far(got.astype(np.float64), want.astype(np.float64), element, ulps)


def compare(folder, number, case):
    """Complaints about one program."""
    arguments = arrays_in(folder / f"{number}.in", case["in"])
    ours = arrays_in(folder / f"{number}.out", case["out"])
    theirs = played((folder / f"{number}.mlir").read_text(), arguments)
    said = []
    for got, want, (element, shape) in zip(ours, theirs, case["out"]):
        ulps = case["ulps"]
        if case["op"] in APPROXIMATE and element in NEAR:
            ulps = max(ulps, NEAR[element])
        if case["op"] in APPROXIMATE_COMPLEX and element.startswith("complex"):
            ulps = max(ulps, NEAR_COMPLEX)
        wrong = differs(got, want, element, ulps)
        if wrong.any():
            at = np.flatnonzero(wrong.ravel())[0]
            of = [a.ravel()[at] for a in arguments if a.shape == got.shape]
            said.append(f"{number} {case['op']} of {case['element']}: {wrong.sum()} of {element}"
                        f"{shape} differ, the first {got.ravel()[at]} ours, {want.ravel()[at]} "
                        f"XLA's, of {of}")
    return said


@pytest.mark.parametrize("part", range(4))
def test_like_xla(cases, part):
    folder, rows = cases
    mine = [(n, c) for n, c in enumerate(rows) if n % 4 == part and not why_not_compared(c)]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        said = sum(pool.map(lambda row: compare(folder, *row), mine), [])
    assert not said, "\n".join(said)
    assert len(mine) > 150


def test_f32_is_near_float64(cases):
    folder, rows = cases
    said, tried = [], set()
    for number, case in enumerate(rows):
        if case["element"] != "f32" or case["op"] not in REFERENCE:
            continue
        arguments = arrays_in(folder / f"{number}.in", case["in"])
        results = arrays_in(folder / f"{number}.out", case["out"])
        each = len(arguments) // len(results)
        if not each:  # other operands are constants
            continue
        for i, got in enumerate(results):
            wide = [a.astype(np.float64) for a in arguments[i * each:(i + 1) * each]]
            with np.errstate(all="ignore"):
                want = np.asarray(REFERENCE[case["op"]](*wide)) if got.size else got
                exact = want.astype(np.float32).astype(np.float64)
                want = np.where(np.isinf(exact), exact, want)  # what f32 cannot hold
            wrong = far(got.astype(np.float64), want, "f32", 4)
            if wrong.any():
                at = np.flatnonzero(wrong.ravel())[0]
                said.append(f"{case['op']}: {wrong.sum()} of {wrong.size} are far, the first "
                            f"{got.ravel()[at]!r} for {want.ravel()[at]!r} of "
                            f"{[a.ravel()[at] for a in wide]}")
        tried.add(case["op"])
    assert not said, "\n".join(said)
    assert tried == set(REFERENCE)


def test_complex_numbers_at_the_edges(python):
    out = python([str(ROOT / "python/tests/edge_programs.py")], "tutti,cpu")
    found = re.search(r"^(\d+) numbers, (\d+) differ$", out, re.MULTILINE)
    assert found and int(found[1]) > 8000 and found[2] == "0", out
