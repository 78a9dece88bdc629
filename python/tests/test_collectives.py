"""What devices do together: every collective, mesh and sharding against NumPy, and where results
lie against JAX's own devices.

JAX's files mostly compare a backend with itself; here are the numbers.
"""
import pathlib

import pytest

HERE = pathlib.Path(__file__).parent
COUNTS = [2, 3, 4, 8]


@pytest.mark.parametrize("devices", COUNTS)
def test_collectives(python, devices):
    out = python([str(HERE / "collective_programs.py")], "tutti", devices)
    assert int(out.split()[-2]) > 1000, out


def test_ways_that_part(python):
    out = python([str(HERE / "parting_programs.py")], "tutti", 8)
    assert "40 programs, 0 failed" in out, out


@pytest.mark.parametrize("devices", [4, 8])
def test_meshes(python, devices):
    out = python([str(HERE / "mesh_programs.py")], "tutti", devices)
    assert int(out.split()[-2]) > 2000, out


@pytest.mark.parametrize("devices", COUNTS)
def test_results_lie_as_on_jax_devices(python, devices):
    out = python([str(HERE / "placement_programs.py")], "tutti,cpu", devices)
    assert "0 differ" in out, out
