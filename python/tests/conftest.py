"""How the tests start a Python of their own: on a platform, with a number of devices."""
import os
import subprocess
import sys

import pytest


def run_python(args, platform, devices=1, timeout=300, **environment):
    env = {k: v for k, v in os.environ.items() if k not in ("TUTTI_DEVICES", "JAX_NUM_CPU_DEVICES")}
    env["JAX_PLATFORMS"] = platform
    env["XLA_FLAGS"] = f"--xla_force_host_platform_device_count={devices}"
    env.update(environment)
    done = subprocess.run(
        [sys.executable, *args], env=env, capture_output=True, text=True, timeout=timeout
    )
    assert done.returncode == 0, f"{platform}, {devices} devices:\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.fixture(scope="session")
def python():
    return run_python
