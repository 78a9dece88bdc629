"""Exported programs with a symbolic batch: one serves every batch size.  JAX makes their shapes
static before the engine sees them; the command line does so itself."""
import os

from conftest import run_python

HERE = os.path.dirname(os.path.abspath(__file__))

PROGRAM = """
import jax, jax.numpy as jnp, numpy as np
from jax import export

def model(x, w):
    y = jnp.tanh(x @ w)
    return y / y.sum(0, keepdims=True), jnp.arange(x.shape[0]), jnp.concatenate([x, x * 2])

(batch,) = export.symbolic_shape("b")
types = [jax.ShapeDtypeStruct((batch, 4), np.float32), jax.ShapeDtypeStruct((4, 3), np.float32)]
program = export.export(jax.jit(model), platforms=["tutti"])(*types)
for n in 1, 5, 17:
    x = np.linspace(0.1, 1, 4 * n, dtype=np.float32).reshape(n, 4)
    w = np.linspace(-0.2, 1, 12, dtype=np.float32).reshape(4, 3)
    ratio, count, doubled = program.call(x, w)
    y = np.tanh(x @ w)
    np.testing.assert_allclose(ratio, y / y.sum(0, keepdims=True), rtol=1e-4)
    np.testing.assert_array_equal(count, np.arange(n))
    np.testing.assert_array_equal(doubled, np.concatenate([x, x * 2]))
try:
    program.call(np.zeros((0, 4), np.float32), np.zeros((4, 3), np.float32))
except ValueError as error:
    print(str(error)[:200])
"""


def test_symbolic_batch():
    assert "dimension variable 'b'" in run_python(["-c", PROGRAM], "tutti")


def test_command_line():
    said = run_python([HERE + "/open_programs.py", HERE + "/../../build/tutti"], "cpu")
    assert said.count("agrees") == 14 and "a wrong extent is refused" in said
