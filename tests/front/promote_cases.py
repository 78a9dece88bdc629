"""Makes promote_cases.txt: in which type JAX has two operands meet, with 64-bit types enabled.

    python promote_cases.py > promote_cases.txt

A line is A B RESULT; int*, float*, complex* are Python's numbers and weak results."""
import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np

jax.config.update("jax_enable_x64", True)
TYPES = {"i1": bool, "i8": np.int8, "i16": np.int16, "i32": np.int32, "i64": np.int64,
         "ui8": np.uint8, "ui16": np.uint16, "ui32": np.uint32, "ui64": np.uint64,
         "bf16": ml_dtypes.bfloat16, "f16": np.float16, "f32": np.float32, "f64": np.float64,
         "complex<f32>": np.complex64, "complex<f64>": np.complex128}
NAMES = {np.dtype(t): n for n, t in TYPES.items()}
VALUES = {n: jnp.zeros((2,), t) for n, t in TYPES.items()} | {"int*": 1, "float*": 1.0,
                                                              "complex*": 1j}


def name(x):
    if not x.weak_type:
        return NAMES[np.dtype(x.dtype)]
    return {"i": "int*", "f": "float*", "c": "complex*"}[np.dtype(x.dtype).kind]


for a, x in VALUES.items():
    for b, y in VALUES.items():
        print(a, b, name(jnp.add(x, y)))
