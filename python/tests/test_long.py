"""Long runs in short: long_programs.py with small numbers; its head says how the long ones are called."""
import os
import re
import subprocess
import sys

import pytest

PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "long_programs.py")


def play(*words, devices=8, **settings):
    environment = dict(os.environ, JAX_PLATFORMS="tutti", TUTTI_DEVICES=str(devices), **settings)
    done = subprocess.run([sys.executable, PROGRAM, *words], env=environment, capture_output=True,
                          text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


@pytest.mark.parametrize("workers", ["1", "4"])
def test_steps_and_programs_that_nobody_waits_for(workers):
    assert play("loop", "25", TUTTI_WORKERS=workers).startswith("loop: 25 steps on 8 devices")
    assert play("flight", "8", TUTTI_WORKERS=workers).startswith("flight: 8 programs")


def test_programs_go():
    sizes = re.findall(r"\d+", play("programs", "600", devices=1).partition("them:")[2])
    assert int(sizes[-1]) - int(sizes[2]) < 12, sizes  # MiB


def test_any_order():
    play("mixed", "60")


def test_launches_wait_for_memory():
    most = int(re.findall(r"most (\d+)", play("bounded", "30", devices=2, TUTTI_DEVICE_MEMORY="48M"))[0])
    assert most <= 48
