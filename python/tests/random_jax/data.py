"""Element types, shapes and arguments, drawn from a seed."""
import math

import ml_dtypes
import numpy as np

INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
FLOATS = ["bfloat16", "float16", "float32", "float64"]
SMALL_FLOATS = ["float8_e4m3fn", "float8_e5m2"]
COMPLEX = ["complex64", "complex128"]
WIDE = ["int64", "uint64", "float64", "complex128"]  # only where JAX's x64 is on
MANTISSA = {"float8_e4m3fn": 3, "float8_e5m2": 2, "bfloat16": 7, "float16": 10, "float32": 23,
            "float64": 52, "complex64": 23, "complex128": 52}

# How the numbers of an argument are drawn, and how often.
STYLES = {"plain": 10, "ties": 4, "wide": 2, "special": 1}


def is_float(dtype):
    return dtype in FLOATS or dtype in SMALL_FLOATS


def is_complex(dtype):
    return dtype in COMPLEX


def is_integer(dtype):
    return dtype in INTEGERS


def numpy_type(dtype):
    return np.dtype(getattr(ml_dtypes, dtype, None) or dtype)


def draw_dtype(rng, x64):
    kind = rng.choices([["bool"], INTEGERS, FLOATS, ["float32"], SMALL_FLOATS, COMPLEX],
                       [1, 4, 4, 4, 0.5, 1])[0]
    return rng.choice([d for d in kind if x64 or d not in WIDE] or ["float32"])


def draw_length(rng):
    return rng.choices([0, 1, rng.randint(2, 5), rng.choice([7, 8, 9, 16, 17]),
                        rng.choice([31, 33, 64, 100])], [0.4, 2, 10, 4, 1])[0]


def draw_shape(rng, rank=None):
    if rank is None:
        rank = rng.choices(range(5), [1, 4, 6, 4, 1])[0]
    if rank and rng.random() < 0.02:  # a large one
        return (rng.choice([1000, 4097, 30000]),) + (rng.choice([1, 3]),) * (rank - 1)
    shape = tuple(draw_length(rng) for _ in range(rank))
    return shape if math.prod(shape) <= 3000 else shape[:-1] + (1,)


def special_floats(dtype):
    info = ml_dtypes.finfo(numpy_type(dtype))
    numbers = [0.0, -0.0, 1.0, -1.0, np.nan, float(info.max), float(info.tiny), -float(info.max)]
    return numbers if dtype == "float8_e4m3fn" else [*numbers, np.inf, -np.inf]


def draw_floats(rng, shape, dtype, style):
    x = rng.normal(size=shape)
    if style == "ties":
        x = np.round(x * 2) / 2
    if style == "wide":
        x = x * np.exp2(rng.integers(-6, 7, shape))
    if style == "special":
        x = np.where(rng.random(shape) < 0.3, rng.choice(special_floats(dtype), shape), x)
    return x


def draw_integers(rng, shape, dtype, style):
    info = np.iinfo(dtype)
    if style in ("wide", "special"):
        x = rng.integers(info.min, info.max, shape, dtype, endpoint=True)
        edges = np.array([info.min, info.max, 0, 1], dtype)
        return np.where(rng.random(shape) < 0.2, rng.choice(edges, shape), x)
    most = 2 if style == "ties" else 9
    return rng.integers(0 if info.min == 0 else -most, most + 1, shape).astype(dtype)


def array(seed, shape, dtype, style):
    """The argument of a program that a seed, a type and a style name."""
    rng = np.random.default_rng(seed)
    with np.errstate(all="ignore"):
        if dtype == "bool":
            return rng.random(shape) < 0.5
        if is_integer(dtype):
            return np.asarray(draw_integers(rng, shape, dtype, style), dtype)
        if is_complex(dtype):
            part = "float32" if dtype == "complex64" else "float64"
            style = "plain" if style == "special" else style
            x = draw_floats(rng, shape, part, style) + 1j * draw_floats(rng, shape, part, style)
            return np.asarray(x, dtype)
        return np.asarray(draw_floats(rng, shape, dtype, style)).astype(numpy_type(dtype))
