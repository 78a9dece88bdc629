"""Several processes, found by jax.distributed: without a launcher, which needs MPICH's library."""
import ctypes
import os
import pathlib
import socket
import subprocess
import sys

import jax_tutti
import pytest

PROGRAM = pathlib.Path(__file__).with_name("hosts_program.py")


def has_mpich():
    shim = pathlib.Path(jax_tutti.__file__).with_name("tutti_mpi_mpich.so")
    for name in ("libmpich.so.12", "libmpi.so.12"):
        try:
            ctypes.CDLL(name)
        except OSError:
            continue
        return shim.exists()
    return False


@pytest.mark.skipif(not has_mpich(), reason="MPICH is not installed: two processes are not tried")
def test_two_processes():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        address = "127.0.0.1:%d" % probe.getsockname()[1]
    env = {**os.environ, "JAX_PLATFORMS": "tutti,cpu", "TUTTI_DEVICES": "2"}
    started = [subprocess.Popen([sys.executable, str(PROGRAM), address, "2", str(i)], env=env,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
               for i in range(2)]
    try:
        said = [p.communicate(timeout=120)[0] for p in started]
    finally:
        for p in started:
            p.kill()
    for i, p in enumerate(started):
        assert p.returncode == 0 and "right %d" % i in said[i], said[i]
