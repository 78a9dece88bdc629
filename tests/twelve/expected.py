"""What the programs of examples/twelve must print: NAME.py, played by JAX's own CPU backend on 1, 2, 4 and 8
devices.  Writes NAME.txt beside this file (needs jax, optax):

    python tests/twelve/expected.py [NAME ...]
"""
import glob
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAMS = os.path.join(HERE, "..", "..", "examples", "twelve")

names = sys.argv[1:] or sorted(
    os.path.basename(f)[:-3] for f in glob.glob(os.path.join(PROGRAMS, "*.py"))
)
for name in names:
    with open(os.path.join(HERE, name + ".txt"), "w") as out:
        for n in 1, 2, 4, 8:
            env = dict(os.environ, JAX_PLATFORMS="cpu")
            env["XLA_FLAGS"] = f"--xla_force_host_platform_device_count={n}"
            command = [sys.executable, os.path.join(PROGRAMS, name + ".py")]
            said = subprocess.run(command, env=env, check=True, capture_output=True, text=True)
            out.write(f"## TUTTI_DEVICES={n}\n{said.stdout}")
