"""Random JAX programs on our engine and on JAX's CPU backend: the short form of `make soak`, and
that what plays them sees a wrong number and a worker that dies."""
import argparse
import pathlib
import re
import subprocess
import sys

import pytest

FOLDER = pathlib.Path(__file__).parent / "random_jax"
sys.path.insert(0, str(FOLDER))

import play  # noqa: E402


@pytest.mark.parametrize("kind, count", [([], 250), (["--sharded"], 120)])
def test_random_programs(kind, count):
    done = subprocess.run([sys.executable, FOLDER / "play.py", *kind, "0", str(count)],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    found = re.search(rf"^done: {count} programs.* (\d+) same", done.stdout, re.MULTILINE)
    assert found and int(found[1]) > 0.95 * count, done.stdout


WRONG = """
import numpy as np
from compare import differences
from grow import Program
seen = tried = 0
for seed in range(40):
    program = Program(seed)
    import jax
    with jax.enable_x64(program.x64):
        right = [np.asarray(x) for x in program.played("cpu")]
    assert not differences(program, right, right), seed
    if not right[0].size or right[0].dtype.name.startswith("float8"):
        continue
    wrong = np.array(right[0])
    first = wrong.reshape(-1)[:1]
    if not np.isfinite(first.astype(complex)).all():
        continue
    with np.errstate(all="ignore"):
        first[...] = ~first if wrong.dtype == bool else first * 2 + 1
    tried += 1
    seen += bool(differences(program, [wrong, *right[1:]], right))
print(seen, tried)
"""


def test_wrong_numbers_are_seen():
    out = subprocess.run([sys.executable, "-c", WRONG], env=play.environment(1) | {
        "PYTHONPATH": str(FOLDER)}, capture_output=True, text=True)
    assert out.returncode == 0, out.stderr
    seen, tried = map(int, out.stdout.split())
    assert seen == tried > 20, out.stdout


def test_a_worker_that_dies_is_told_of(capsys):
    class Dying(play.Soak):
        def command(self, first, count):
            text = ("import json, os; say = lambda **w: print(json.dumps(w), flush=True);"
                    f"say(seed={first}, outcome='same', said=[]);"
                    f"say(seed={first + 1}, doing='playing on tutti'); os.kill(os.getpid(), 11)")
            return [sys.executable, "-c", text]

    soak = Dying(argparse.Namespace(first=10, count=4, sharded=False))
    assert soak.run() and soak.failed == [11, 13] and soak.played == 4
    out = capsys.readouterr().out
    assert "FAIL seed 11: dead" in out and "died with -11 while playing on tutti" in out
