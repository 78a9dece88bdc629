"""Plain sums, which call ready-made loops where they are large, against NumPy's in double precision."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

PROGRAM = """
import jax, jax.numpy as jnp, numpy as np
g = np.random.default_rng(1)
n = 0
for shape, axes in [((1 << 20,), 0), ((100003,), 0), ((300, 2100), 0), ((300, 2100), 1), ((5, 200, 133), 1),
                    ((3, 4, 130, 128), (1, 2)), ((2, 1000, 4, 7), (1, 2, 3)), ((1, 5000, 1), 1), ((40, 128), 1),
                    ((31, 129), 0), ((4, 100, 3), 1), ((64, 2, 256), (0, 2))]:
    for dtype, near in ((jnp.float32, 1e-6), (jnp.bfloat16, 8e-3), (jnp.float64, 1e-14)):
        with jax.enable_x64(dtype == jnp.float64):
            x = jnp.asarray(g.standard_normal(shape)).astype(dtype)
            wide = np.asarray(x, np.float64)
            made = np.asarray(jax.jit(lambda x: jnp.sum(x, axis=axes))(x)).astype(np.float64)
            size = np.sqrt((wide * wide).sum(axes)) + (np.abs(made) if dtype == jnp.bfloat16 else 0)
            assert (np.abs(made - wide.sum(axes)) <= near * size).all(), (shape, axes, dtype)
            n += 1
print(n)
"""


def test_sums(python):
    assert python(["-c", PROGRAM], "tutti") == "36\n"


@pytest.mark.parametrize("spec, x, y", [
    ("ijk,jil->kl", (20, 30, 17), (30, 20, 18)), ("ajb,bca->jc", (10, 20, 5), (5, 19, 10)),
    ("aibj,bkaj->ik", (6, 14, 6, 12), (6, 14, 6, 12)), ("bijk,bjil->bkl", (3, 12, 13, 14), (3, 13, 12, 14)),
    ("ibjk,jlib->kl", (7, 5, 6, 11), (6, 13, 7, 5)), ("ijkb,jbil->kbl", (8, 9, 10, 3), (9, 3, 8, 12))])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int32"])
def test_products_over_dimensions_in_different_orders(spec, x, y, dtype):
    g = np.random.default_rng(3)
    x, y = g.integers(-4, 5, x), g.integers(-4, 5, y)
    got = jax.jit(lambda x, y: jnp.einsum(spec, x, y))(jnp.asarray(x).astype(dtype), jnp.asarray(y).astype(dtype))
    want = jnp.asarray(np.einsum(spec, x, y)).astype(dtype)
    np.testing.assert_array_equal(np.asarray(got), np.asarray(want))
