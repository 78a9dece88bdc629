"""Makes numpy_cases.txt: calls of public operations and what JAX gives, for numpy_test.c.

    python numpy_cases.py > numpy_cases.txt

A line is NAME ULPS INTS | OPERAND | ... | = RESULT.  INTS are the axes, shape or indices that the
call takes, "-" for none.  An operand is TYPE DIMS HEX, or "number 0.5" or "integer 3" as written
in C.  ULPS is how many units in the last place the elements may differ.

JAX runs with 64-bit types enabled; where Tutti's default is 32 bits (numbers from C, float results
of 32-bit integers, counts and indices) its result is converted to that."""
import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
from jax import lax

jax.config.update("jax_enable_x64", True)
jax.config.update("jax_platforms", "cpu")
rng = np.random.default_rng(5)
TYPES = {"i1": bool, "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64,
         "ui8": np.uint8, "ui16": np.uint16, "ui32": np.uint32, "ui64": np.uint64,
         "bf16": ml_dtypes.bfloat16, "f16": np.float16, "f32": np.float32, "f64": np.float64,
         "complex<f32>": np.complex64, "complex<f64>": np.complex128}
NAMES = {np.dtype(t): n for n, t in TYPES.items()}
NARROW = {"i64": "i32", "f64": "f32", "complex<f64>": "complex<f32>"}


def text(x):
    x = np.asarray(x)
    dims = ",".join(map(str, x.shape)) or "-"
    return f"{NAMES[x.dtype]} {dims} {x.tobytes().hex() or '-'}"


def operand(x):
    if isinstance(x, float):
        return f"number {x!r}"
    if isinstance(x, int):
        return f"integer {x}"
    return text(x)


def case(name, f, args, ints=(), ulps=0, to=None):
    y = f(*args)
    result = np.asarray(y)
    kind = NAMES[result.dtype]
    if to is None and getattr(y, "weak_type", False):
        to = NARROW.get(kind, kind)
    if to is not None:
        result = result.astype(TYPES[to])
    listed = ",".join(map(str, ints)) or "-"
    print(" | ".join([f"{name} {ulps} {listed}"] + [operand(a) for a in args]), "| =", text(result))


def data(name, shape, low=-3.0, high=3.0):
    t = np.dtype(TYPES[name])
    if t == bool:
        return rng.integers(0, 2, shape).astype(bool)
    if t.kind in "iu":
        return rng.integers(0 if t.kind == "u" else int(low * 3), int(high * 3) + 1, shape).astype(t)
    if t.kind == "c":
        return (rng.uniform(low, high, shape) + 1j * rng.uniform(low, high, shape)).astype(t)
    return np.asarray(rng.uniform(low, high, shape)).astype(t)


FLOATS = ["f32", "f64"]
SMOOTH = {"exp": jnp.exp, "expm1": jnp.expm1, "tanh": jnp.tanh, "sin": jnp.sin, "cos": jnp.cos,
          "tan": jnp.tan, "sigmoid": jax.nn.sigmoid}
POSITIVE = {"log": jnp.log, "log1p": jnp.log1p, "sqrt": jnp.sqrt, "rsqrt": jax.lax.rsqrt}
for name, f in SMOOTH.items():
    for t in FLOATS:
        case(name, f, [data(t, (3, 5))], ulps=8)
    if name != "sigmoid":
        case(name, f, [data("i32", (4,))], ulps=8, to="f32")
for name, f in POSITIVE.items():
    for t in FLOATS:
        case(name, f, [data(t, (3, 5), 0.01, 9)], ulps=8)
for name, f in {"neg": jnp.negative, "abs": jnp.abs, "sign": jnp.sign, "square": jnp.square}.items():
    for t in ["f32", "f64", "i32", "i8", "i64", "f16", "bf16"]:
        case(name, f, [data(t, (2, 4))])
for name, f in {"floor": jnp.floor, "ceil": jnp.ceil, "round": jnp.round}.items():
    for t in FLOATS:
        case(name, f, [np.concatenate([data(t, (6,)), np.array([0.5, 1.5, -2.5], TYPES[t])])])
    case(name, lambda x: x, [jnp.asarray(data("i32", (3,)))])
for t in FLOATS + ["i32"]:
    case("relu", jax.nn.relu, [data(t, (7,))])
case("not", jnp.invert, [data("i1", (4,))])
case("not", jnp.invert, [data("i32", (4,))])
odd = np.array([0, -0.0, np.inf, -np.inf, np.nan, 1], np.float32)
case("isfinite", jnp.isfinite, [odd])
case("relu", jax.nn.relu, [odd])
case("sign", jnp.sign, [odd])
case("abs", jnp.abs, [odd])
case("stop_gradient", jax.lax.stop_gradient, [odd])

BINARY = {"add": jnp.add, "sub": jnp.subtract, "mul": jnp.multiply, "max": jnp.maximum,
          "min": jnp.minimum, "less": jnp.less, "equal": jnp.equal, "not_equal": jnp.not_equal,
          "less_equal": jnp.less_equal, "greater": jnp.greater,
          "greater_equal": jnp.greater_equal}
SHAPES = [((3,), (3,)), ((2, 3), (3,)), ((2, 1), (1, 4)), ((), (4,)), ((4, 1, 2), (3, 1)), ((1,), ())]
for name, f in BINARY.items():
    for i, (a, b) in enumerate(SHAPES):
        t, u = [("f32", "f32"), ("f32", "i32"), ("i8", "ui8"), ("f64", "f32"), ("i64", "f16"),
                ("bf16", "f32")][i]
        case(name, f, [data(t, a), data(u, b)])
    case(name, f, [data("f32", (5,)), 0.1])
    case(name, f, [data("f64", (5,)), 0.1])
    case(name, f, [3, data("f32", (2, 2))])
    case(name, f, [data("i32", (3,)), 2])
    case(name, f, [data("i32", (3,)), 0.5])
    case(name, f, [data("f16", (3,)), 0.3])
case("div", jnp.true_divide, [data("f32", (2, 3)), data("f32", (3,), 1, 4)], ulps=1)
case("div", jnp.true_divide, [data("i32", (4,)), data("i32", (4,), 1, 3)], ulps=1, to="f32")
case("div", jnp.true_divide, [data("i64", (4,)), data("i32", (4,), 1, 3)], ulps=1)
case("div", jnp.true_divide, [1, data("f64", (3,), 1, 2)], ulps=1)
case("div", jnp.true_divide, [data("i1", (4,)), 2])
for t in ["f32", "i32", "f64", "ui8"]:
    case("mod", jnp.remainder, [data(t, (9,)), data(t, (9,), 1, 3)])
    if t != "ui8":
        case("mod", jnp.remainder, [data(t, (9,)), -data(t, (9,), 1, 3)])
for p in [0, 1, 2, 3, 5, 7, -1, -2]:
    case("pow", lambda x, n: jnp.power(x, n), [data("f32", (5,)), p], ulps=2)
for p in [0, 1, 2, 3, 6]:
    case("pow", lambda x, n: jnp.power(x, n), [data("i32", (5,)), p])
case("pow", jnp.power, [data("f32", (5,), 0.1, 3), 0.5], ulps=8)
case("pow", jnp.power, [2.0, data("f32", (5,))], ulps=8)
case("pow", jnp.power, [data("f64", (5,), 0.1, 3), data("f32", (5,))], ulps=16)
case("atan2", jnp.arctan2, [data("f32", (9,)), data("f32", (9,))], ulps=8)
for name, f in {"and": jnp.bitwise_and, "or": jnp.bitwise_or, "xor": jnp.bitwise_xor}.items():
    case(name, f, [data("i1", (4,)), data("i1", (2, 4))])
    case(name, f, [data("i32", (4,)), 6])
case("where", jnp.where, [data("i1", (3, 1)), data("f32", (4,)), 0.0])
case("where", jnp.where, [data("i1", (3,)), data("i32", (3,)), data("f32", ())])
case("where", jnp.where, [data("i32", (3,)), 1, 2.5])
case("clip", jnp.clip, [data("f32", (9,)), -1, 1.5])
case("add", jnp.add, [1, 2])
case("mul", jnp.multiply, [0.1, 3])
case("add", jnp.add, [data("complex<f32>", (3,)), data("f32", (3,))])
case("mul", jnp.multiply, [data("complex<f64>", (3,)), 2.0], ulps=1)
case("abs", jnp.abs, [data("complex<f32>", (3,))], ulps=2)

for t, u in [("f32", "i32"), ("f32", "i1"), ("i1", "f32"), ("f64", "f32"), ("i64", "i8"), ("i32", "f16"),
             ("f32", "bf16"), ("f32", "complex<f32>"), ("complex<f64>", "complex<f32>"), ("ui8", "i64")]:
    case("astype", lambda x: x.astype(TYPES[u]), [jnp.asarray(data(t, (6,)))],
         ints=[list(TYPES).index(u)])

for name, f in {"sum": jnp.sum, "mean": jnp.mean, "prod": jnp.prod, "amax": jnp.max,
                "amin": jnp.min}.items():
    for shape, axes in [((4, 3), ()), ((4, 3), (0,)), ((4, 3), (-1,)), ((2, 3, 4), (0, 2)), ((5,), (0,))]:
        g = lambda x: f(x, axis=axes or None)
        for t in FLOATS:
            case(name, g, [data(t, shape)], ints=axes, ulps=16)
        case(name, g, [data("i32", shape, -1, 1)], ints=axes, ulps=16,
             to="f32" if name == "mean" else "i32")
case("sum", jnp.sum, [data("i1", (9,))], to="i32")
case("sum", jnp.sum, [data("i8", (9,))], to="i32")
case("sum", jnp.sum, [data("ui8", (9,))], to="ui32")
case("sum", jnp.sum, [data("i64", (9,))])
case("sum", jnp.sum, [np.zeros((0, 2), np.float32)])
case("mean", jnp.mean, [data("f16", (9,))], ulps=1)
case("amax", jnp.max, [odd])
for axes in [(), (0,), (1,), (0, 1)]:
    axis = axes or None
    case("logsumexp", lambda x: jax.nn.logsumexp(x, axis=axis), [data("f32", (4, 3))], ints=axes, ulps=16)
    case("softmax", lambda x: jax.nn.softmax(x, axis=axis or -1), [data("f32", (4, 3))], ints=axes, ulps=16)
    case("log_softmax", lambda x: jax.nn.log_softmax(x, axis=axis or -1), [data("f64", (4, 3))],
         ints=axes, ulps=64)
case("logsumexp", jax.nn.logsumexp, [np.array([-np.inf, -np.inf], np.float32)])
case("argmax", lambda x: jnp.argmax(x, 0), [data("f32", (7, 3))], ints=(0,), to="i32")
case("argmax", lambda x: jnp.argmax(x, -1), [data("i32", (4, 6), -1, 1)], ints=(-1,), to="i32")
case("argmax", lambda x: jnp.argmax(x, 0), [odd], ints=(0,), to="i32")

x = data("f32", (2, 3, 4))
for shape in [(24,), (4, 6), (-1, 2), (3, -1, 2, 1), (1, 24)]:
    case("reshape", lambda x: jnp.reshape(x, shape), [x], ints=shape)
case("reshape", lambda x: jnp.reshape(x, ()), [data("i32", (1, 1))])
for axes in [(), (2, 0, 1), (0, 2, 1), (-1, 0, 1)]:
    case("transpose", lambda x: jnp.transpose(x, axes or None), [x], ints=axes)
for shape in [(2, 3, 4), (5, 2, 3, 4)]:
    case("broadcast", lambda x: jnp.broadcast_to(x, shape), [x], ints=shape)
case("broadcast", lambda x: jnp.broadcast_to(x, (3, 4)), [data("i8", (3, 1))], ints=(3, 4))
case("broadcast", lambda x: jnp.broadcast_to(x, (2, 2)), [data("f32", ())], ints=(2, 2))
for at in [(1,), (-1, 2), (0, 1, 3), (1, -3)]:
    case("index", lambda x: x[at], [jnp.asarray(x)], ints=at)
for axis, start, stop in [(0, 0, 1), (1, 1, 3), (2, -3, -1), (-1, 2, 99), (1, 2, 1)]:
    def cut(x):
        index = [slice(None)] * 3
        index[axis] = slice(start, stop)
        return x[tuple(index)]
    case("slice", cut, [jnp.asarray(x)], ints=(axis, start, stop))
for axis in [0, 1, -1]:
    case("take", lambda x, i: jnp.take(x, i, axis=axis, mode="wrap"), [x, np.array([1, 0, -1], np.int32)],
         ints=(axis,))
case("take", lambda x, i: jnp.take(x, i, axis=1), [x, np.array([[2, 0], [1, 1]], np.int64)], ints=(1,))
case("take", lambda x, i: jnp.take(x, i, axis=2), [x, 3], ints=(2,))
case("one_hot", lambda i: jax.nn.one_hot(i, 4, dtype=np.float32), [np.array([1, 3, 0], np.int32)],
     ints=(4, list(TYPES).index("f32")))
for axis in [0, 1, -1]:
    case("concat", lambda a, b: jnp.concatenate([a, b], axis), [data("f32", (2, 3)), data("f32", (2, 3))],
         ints=(axis,))
    case("stack", lambda a, b: jnp.stack([a, b], axis), [data("f32", (2, 3)), data("i32", (2, 3))],
         ints=(axis,))
case("concat", lambda a, b, c: jnp.concatenate([a, b, c], 0), [data("i8", (2,)), data("f32", (3,)),
                                                               data("i32", (1,))], ints=(0,))
for a, b in [((3, 4), (4, 2)), ((4,), (4, 2)), ((3, 4), (4,)), ((4,), (4,)), ((2, 3, 4), (4, 5)),
             ((3, 4), (2, 4, 5)), ((2, 3, 4), (2, 4, 5)), ((2, 3, 4), (1, 4, 5)),
             ((5, 1, 3, 4), (2, 4, 2)), ((4,), (2, 4, 3)), ((2, 3, 4), (4,))]:
    case("matmul", jnp.matmul, [data("f32", a, 0.1), data("f32", b, 0.1)], ulps=8)
    case("matmul", jnp.matmul, [data("i32", a, -1, 1), data("i32", b, -1, 1)])
case("matmul", jnp.matmul, [data("f32", (3, 2), 0.1), data("i32", (2, 3), 1)], ulps=8)
case("argmin", lambda x: jnp.argmin(x, 0), [data("f32", (7, 3))], ints=(0,), to="i32")
case("argmin", lambda x: jnp.argmin(x, -1), [data("i32", (4, 6), -1, 1)], ints=(-1,), to="i32")
case("argmin", lambda x: jnp.argmin(x, 0), [odd], ints=(0,), to="i32")


def conv(stride, groups, valid):
    def f(x, k):
        n = x.ndim - 2
        space = "HWD"[:n]
        return lax.conv_general_dilated(
            x, k, (max(stride, 1),) * n, "VALID" if valid else "SAME",
            dimension_numbers=(f"N{space}C", f"{space}IO", f"N{space}C"),
            feature_group_count=max(groups, 1))
    return f


for x, k, options in [((2, 6, 5, 3), (3, 3, 3, 4), (0, 0, 0)), ((2, 6, 5, 3), (3, 2, 3, 4), (2, 1, 0)),
                      ((1, 7, 6, 2), (3, 2, 2, 3), (2, 0, 1)), ((1, 5, 5, 4), (2, 2, 2, 6), (1, 2, 0)),
                      ((2, 9, 2), (4, 2, 3), (3, 0, 0)), ((1, 3, 4, 5, 2), (2, 2, 2, 2, 2), (1, 1, 1)),
                      ((1, 4, 4, 1), (1, 1, 1, 2), (3, 0, 0))]:
    case("conv", conv(*options), [data("f32", x, 0.1), data("f32", k, 0.1)], ints=options, ulps=32)

ALL = -(2**31)  # TT_NONE
case("argmax", lambda x: jnp.argmax(x), [data("f32", (7, 3))], ints=(ALL,), to="i32")
case("argmin", lambda x: jnp.argmin(x), [data("i32", (4, 6), -1, 1)], ints=(ALL,), to="i32")
