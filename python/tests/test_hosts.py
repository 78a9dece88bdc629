"""Several processes, found by jax.distributed: without a launcher, which needs MPICH's library, and with one."""
import ctypes
import importlib.util
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys

import jax_tutti
import pytest

HERE = pathlib.Path(__file__).parent
ENVIRONMENT = {**os.environ, "JAX_PLATFORMS": "tutti,cpu", "TUTTI_DEVICES": "2",
               "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def has_mpi(family, *names):
    """Its library, and ours that fits it."""
    shim = pathlib.Path(jax_tutti.__file__).with_name(f"tutti_mpi_{family}.so")
    for name in names:
        try:
            ctypes.CDLL(name)
        except OSError:
            continue
        return shim.exists()
    return False


needs_mpich = pytest.mark.skipif(not has_mpi("mpich", "libmpich.so.12", "libmpi.so.12"),
                                 reason="MPICH is not installed: two processes are not tried")


def play(*commands):
    """What each of them says; all have come to their end."""
    started = [subprocess.Popen([str(word) for word in command], env=ENVIRONMENT, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, text=True) for command in commands]
    try:
        return [p.communicate(timeout=120)[0] for p in started], [p.returncode for p in started]
    finally:
        for p in started:
            p.kill()


def free_address():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return "127.0.0.1:%d" % probe.getsockname()[1]


@needs_mpich
def test_two_processes():
    address = free_address()
    said, codes = play(*([sys.executable, HERE / "hosts_program.py", address, 2, i] for i in range(2)))
    for i in range(2):
        assert codes[i] == 0 and f"right {i}" in said[i], said[i]


LAUNCHERS = {
    "openmpi": ["mpirun.openmpi", "--oversubscribe", "-n", "2"],
    "mpich": ["mpiexec.hydra", "-n", "2"],
}


@pytest.mark.parametrize("family, method", [("openmpi", None), ("mpich", None), ("openmpi", "mpi4py")])
def test_launcher(family, method):
    launcher = LAUNCHERS[family]
    libraries = {"openmpi": ["libmpi.so.40"], "mpich": ["libmpich.so.12", "libmpi.so.12"]}[family]
    if not shutil.which(launcher[0]) or not has_mpi(family, *libraries):
        pytest.skip(f"{launcher[0]} is not installed")
    if method and not importlib.util.find_spec(method):
        pytest.skip(f"{method} is not installed")
    said, codes = play([*launcher, sys.executable, HERE / "hosts_program.py", *([method] if method else [])])
    assert codes == [0] and all(f"right {i}" in said[0] for i in range(2)), said[0]


@needs_mpich
@pytest.mark.parametrize("fault, says", [("kill", "is gone"), ("raise", "has ended"), ("exit", "has ended")])
def test_lost(fault, says):
    """The process that is left is told who, and soon."""
    address = free_address()
    said, _ = play(*([sys.executable, HERE / "hosts_faults.py", address, i, fault] for i in range(2)))
    found = re.search(r"^after ([0-9.]+) s: .*process 1 \(host \S+, pid \d+\) (is gone|has ended); devices 2 to 3 "
                      r"were its", said[0], re.M)
    assert found and found[2] == says and float(found[1]) < 15, said[0]
