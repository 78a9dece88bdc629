#!/usr/bin/env python3
"""Writes the files of jax.export that tests/unit/exported_test.c and the fuzzer begin with.

    python tests/jax/export.py tests/fuzz/corpus/exported_fuzz      (needs jax)
"""
import os
import sys

import jax
import jax.numpy as jnp
from jax import export

AT = sys.argv[1]


def write(name, f, *args, vjp_order=0, **options):
    exported = export.export(jax.jit(f), **options)(*args)
    with open(os.path.join(AT, name), "wb") as file:
        file.write(exported.serialize(vjp_order=vjp_order))


def f(params, unused, *, rate):
    return [params["a"]["w"] * rate, (params["b"].sum(), None)]


x = jax.ShapeDtypeStruct((2, 3), jnp.float32)
b = export.symbolic_shape("n, 2*m")
write("tree.jaxexp", lambda p, u, rate: f(p, u, rate=rate), {"a": {"w": x}, "b": x}, x, x,
      platforms=("cuda", "cpu"))
write("symbols.jaxexp", lambda x, k: x * x.shape[0], jax.ShapeDtypeStruct(b, jnp.float32),
      jax.eval_shape(lambda: jax.random.key(0)))
write("gradient.jaxexp", lambda x: jnp.sin(x).sum(), x, vjp_order=1)
