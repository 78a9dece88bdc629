"""What JAX makes of the rows of tests/front/api.def: values and gradients, for api_test.c.

usage: api_cases.py > tests/front/api_cases.txt
       api_cases.py NAME... >> tests/front/api_cases.txt          for rows that are new

One line an array: name, which (value, or grad and the argument's number), rank, extents, elements.
"""
import os
import re
import sys

os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import jax.flatten_util
import jax.numpy as jnp
import numpy as np
from jax import lax

ROW = re.compile(r'^API(\d)\((\w+),\s*((?:[RI]\([^)]*\),\s*)+)"((?:[^"\\]|\\.)*)",', re.M)
ARG = re.compile(r"([RI])\(([^)]*)\)")


def numbers(i, kind, low, high, shape):
    """Argument i, as api_test.c makes it."""
    k = np.arange(int(np.prod(shape, dtype=int)))
    mixed = (k * 37 + 13 * i + 5) % 101
    if kind == "I":
        return (int(low) + mixed % (int(high) - int(low) + 1)).astype(np.int32).reshape(shape)
    return (low + (high - low) * (mixed + 0.5) / 101).astype(np.float32).reshape(shape)


def weights(shape):
    k = np.arange(int(np.prod(shape, dtype=int)))
    return (((k * 29 + 7) % 19 - 9) / 8).astype(np.float32).reshape(shape)


def show(name, which, x):
    x = np.asarray(x).astype(np.float64)
    print(name, which, x.ndim, *x.shape, *[repr(float(v)) for v in x.ravel()])


def main():
    text = open(os.path.join(os.path.dirname(__file__), "api.def")).read()
    for count, name, args, source in ROW.findall(text):
        if sys.argv[1:] and name not in sys.argv[1:]:
            continue
        in_ = []
        for i, (kind, list_) in enumerate(ARG.findall(args)):
            n = [float(v) for v in list_.split(",")]
            in_.append(jnp.array(numbers(i, kind, n[0], n[1], tuple(int(v) for v in n[2:]))))
        assert len(in_) == int(count), name
        code = compile(source.replace('\\"', '"'), name, "eval")
        scope = dict(jax=jax, jnp=jnp, lax=lax, np=np)
        f = lambda *x: eval(code, {**scope, **dict(zip("abc", x))})
        y = f(*in_)
        show(name, "value", y)
        if not jnp.issubdtype(y.dtype, jnp.floating):
            continue
        w = weights(y.shape)
        floats = [i for i, x in enumerate(in_) if x.dtype == jnp.float32]
        if floats:
            for i, g in zip(floats, jax.grad(lambda *x: jnp.sum(f(*x) * w), floats)(*in_)):
                show(name, f"grad{i}", g)


main()
