"""Linear algebra by every LAPACK that may play it: linalg_programs.py, a process for each."""
import ctypes.util
import pathlib

import pytest

HERE = pathlib.Path(__file__).resolve().parent
PROGRAMS = str(HERE / "linalg_programs.py")
# A part of what the engine says, and what asks for it.
PROVIDERS = {"scipy": {}, "own": {"TUTTI_LAPACK": "own"}, "openblas": {"TUTTI_LAPACK": "libopenblas.so.0"},
             "liblapack": {"TUTTI_LAPACK": "liblapack.so.3"}}
USES = "import jax.numpy as n; n.linalg.cholesky(n.eye(40) + 0j).block_until_ready()"


def is_there(name):
    try:
        ctypes.CDLL(name)
        return True
    except OSError:
        return False


@pytest.mark.parametrize("provider", PROVIDERS)
def test_every_routine(python, provider):
    named = PROVIDERS[provider].get("TUTTI_LAPACK", "own")
    if named != "own" and not is_there(named):
        pytest.skip(f"{named} is not installed")
    out = python([PROGRAMS, provider], "tutti", timeout=600, **PROVIDERS[provider])
    assert int(out.split()[-2]) > 2000, out


def test_any_number_of_workers(python):
    """One core, so one worker; then all."""
    alone = ["-c", f"import os, sys; os.sched_setaffinity(0, [min(os.sched_getaffinity(0))]); "
             f"os.execv(sys.executable, [sys.executable, {PROGRAMS!r}, '', 'digest'])"]
    assert python(alone, "tutti") == python([PROGRAMS, "", "digest"], "tutti")


@pytest.mark.parametrize("level", ["avx2", "sse"])
def test_small_matrices_on_older_machines(python, level):
    out = python([PROGRAMS, "", "small_batches"], "tutti", TUTTI_CPU_LEVEL=level)
    assert int(out.split()[-2]) > 200, out


@pytest.mark.parametrize("provider", ["scipy", "own"])
def test_from_the_smallest_to_the_largest(python, provider):
    out = python([str(HERE / "range_programs.py")], "tutti", timeout=600, **PROVIDERS[provider])
    assert out == "played\n", out


@pytest.mark.parametrize("file, why", [("/nowhere/lapack.so", "cannot open shared object file"),
                                       ("libm.so.6", "has no routine sgetrf")])
def test_library_that_is_none(python, file, why):
    told = python(["-c", f"try:\n  {USES}\nexcept Exception as e: print(e)"], "tutti", TUTTI_LAPACK=file)
    assert f"TUTTI_LAPACK={file}: " in told and why in told, told


def test_nothing_is_loaded_unless_wanted(python):
    """Neither by starting, nor by programs without linear algebra, nor by
    Cholesky factors of real matrices; and then the library alone, not all of SciPy."""
    seen = "print('libscipy_openblas-' in open('/proc/self/maps').read(), 'scipy.linalg' in sys.modules)"
    out = python(["-c", "import jax, jax.numpy as n, sys; n.sin(n.eye(40)).block_until_ready();"
                  f"n.linalg.cholesky(n.eye(40)).block_until_ready(); {seen}; {USES}; {seen}"], "tutti")
    assert out.split() == ["False", "False", "True", "False"], out


def test_scipy_without_a_library_beside_it(python):
    """As distributions build it: the addresses are then SciPy's to give."""
    hidden = "from jax_tutti import lapack; lapack._library = lambda: None"
    out = python(["-c", f"import jax, jax.numpy as n, sys; {hidden}; {USES};"
                  "print('scipy.linalg' in sys.modules)"], "tutti")
    assert out == "True\n", out
