"""Makes print_cases.txt: arrays and how NumPy prints them, for tests/unit/print_test.c.

    python print_cases.py > print_cases.txt

A case is a line "TYPE DIMS", a line of elements as hexadecimal bytes or "ramp START STEP"
(element i is START + i * STEP, computed in f64), the printed lines each behind a bar, and a
line with a dot.  Written with NumPy 2.4."""
import ml_dtypes
import numpy as np

rng = np.random.default_rng(4)
TYPES = {"f16": np.float16, "f32": np.float32, "f64": np.float64, "i8": np.int8, "i32": np.int32,
         "i64": np.int64, "ui8": np.uint8, "ui32": np.uint32, "ui64": np.uint64, "i1": np.bool_,
         "complex<f32>": np.complex64, "complex<f64>": np.complex128,
         "bf16": ml_dtypes.bfloat16}


def show(name, x, data=None):
    print(name, ",".join(map(str, x.shape)) or "-")
    print(data or x.tobytes().hex() or "-")
    for line in str(x).split("\n"):
        print("|" + line)
    print(".")


def ramp(name, shape, start, step):
    n = int(np.prod(shape))
    x = (start + np.arange(n, dtype=np.float64) * step).astype(TYPES[name]).reshape(shape)
    show(name, x, f"ramp {start} {step}")


def shape():
    rank = rng.integers(0, 4)
    return tuple(int(n) for n in rng.integers(1, [0, 40, 9, 5][rank] + 1, rank)) if rank else ()


def floats(t, size):
    kind = rng.integers(0, 8)
    x = rng.standard_normal(size)
    if kind == 0:
        x = np.round(x * 4) / 2
    elif kind == 1:
        x = x * 10.0 ** rng.integers(-12, 12)
    elif kind == 2:
        x = x * 10.0 ** rng.integers(-6, 6, size)
    elif kind == 3:
        x = np.round(x * 1000)
    elif kind == 4:
        x = np.where(rng.random(size) < 0.3, np.array([np.nan, np.inf, -np.inf, 0, -0.0])[
            rng.integers(0, 5, size)], x)
    elif kind == 5:
        x = rng.random(size)
    elif kind == 6:
        x = 2.0 ** rng.integers(-20, 20, size)
    return x


np.seterr(all="ignore")
for name in ["f32"] * 160 + ["f64"] * 70 + ["f16"] * 40:
    s = shape()
    show(name, np.array(floats(name, s)).astype(TYPES[name]))
for name in ["i8", "i32", "i64", "ui8", "ui32", "ui64", "i1"]:
    for _ in range(8):
        s = shape()
        info = np.iinfo(TYPES[name]) if name != "i1" else None
        top = 10 ** int(rng.integers(1, 3)) if name == "i8" or name == "ui8" else 10 ** int(rng.integers(1, 9))
        x = rng.integers(-top if info and info.min < 0 else 0, top, s)
        if name == "i1":
            x = x & 1
        show(name, np.array(x).astype(TYPES[name]))
for name in ["complex<f32>"] * 20 + ["complex<f64>"] * 10:
    s = shape()
    show(name, np.array(floats(name, s) + 1j * floats(name, s)).astype(TYPES[name]))
for _ in range(8):
    s = shape()
    show("bf16", np.array(rng.standard_normal(s) * 10.0 ** rng.integers(-3, 9)).astype(TYPES["bf16"]))
for name in ["f32", "f64"]:  # powers of two, where floats below stand closer
    for k in range(-44, 60, 7):
        show(name, np.array([2.0 ** k, 3 * 2.0 ** k]).astype(TYPES[name]))
        show(name, np.array(2.0 ** k).astype(TYPES[name]))
show("f32", np.zeros((0,), np.float32))
show("f32", np.zeros((2, 0, 3), np.float32))
show("ui64", np.array([2**64 - 1, 0], np.uint64))
show("i64", np.array([-2**63, 2**63 - 1]))
ramp("f32", (1000,), 0, 1)
ramp("f32", (1001,), 0, 1)
ramp("f32", (40, 40), -8, 0.25)
ramp("f32", (7, 200), 0, 0.001)
ramp("f32", (4, 32, 784), 0, 1)
ramp("f64", (3, 3, 500), 1, 0.3)
ramp("i32", (100, 11), -5, 1)
ramp("i64", (5000,), 0, 12345)
ramp("f32", (6, 300), 0, 1)
ramp("i32", (30, 30), 0, 1)
ramp("f32", (2, 2, 2, 2, 2), 0, 1)
ramp("f32", (12, 3, 40), 0, 1)
