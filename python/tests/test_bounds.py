"""TUTTI_CHECK=bounds: a program that is compiled with checks is not the one compiled without."""

import jax
import jax.numpy as jnp
import numpy as np


def compiled(x):
    return jax.jit(lambda x: jnp.cumsum(jnp.sin(x[::-3]))).lower(x).compile()


def code_bytes(program):
    return program.memory_analysis().generated_code_size_in_bytes


def test_the_cache_knows(monkeypatch):
    x = np.arange(100, dtype=np.float32)
    monkeypatch.delenv("TUTTI_CHECK", raising=False)
    plain = compiled(x)
    monkeypatch.setenv("TUTTI_CHECK", "bounds")
    checked = compiled(x)
    assert code_bytes(checked) > code_bytes(plain) > 0
    np.testing.assert_array_equal(checked(x), plain(x))
