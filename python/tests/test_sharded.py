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
