"""Programs that are cut over a mesh: no array is joined, no device needs more memory than its pieces."""
import pathlib

import pytest

HERE = pathlib.Path(__file__).parent


def test_operations_along_a_cut_dimension(python):
    out = python([str(HERE / "sharded_ops.py")], "tutti,cpu", 8)
    assert "wrong: [], joining: []" in out, out


@pytest.mark.parametrize("step", [
    "transformer 2x4 both", "transformer 2x4 data", "network 2x2x2 both", "network 2x4 space"])
def test_steps(python, step):
    out = python([str(HERE / "sharded_steps.py"), *step.split()], "tutti,cpu", 8)
    assert "1 steps, 0 failed" in out, out


def test_values_in_parts(python):
    assert python([str(HERE / "unreduced_programs.py")], "tutti", 2) == ""


CALLBACKS = """
import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

mesh = Mesh(np.array(jax.devices()), ("x",))
x, y = (jax.device_put(np.arange(4).reshape(2, 2) + k, NamedSharding(mesh, P("x"))) for k in (0, 6))
f = jax.vmap(lambda x, y: jax.debug.print("{} {}", x, y, partitioned=True), in_axes=(0, 1))
jax.jit(f)(x, y)
jax.effects_barrier()
"""


def test_callbacks_of_each_device(python):
    """Rows of x are whole on both devices, columns of y stay cut: what the program says, wherever operands
    were moved to be computed."""
    out = python(["-c", CALLBACKS], "tutti", 2)
    assert sorted(out.splitlines()) == ["[0 1] [6]", "[0 1] [8]", "[2 3] [7]", "[2 3] [9]"], out
