"""Puts the engine into the package: `make` builds what is missing, then the library is copied."""
import os
import pathlib
import shutil
import subprocess

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py

ROOT = pathlib.Path(__file__).resolve().parent.parent
LIBRARY = "pjrt_plugin_tutti.so"


class BuildWithEngine(build_py):
    def run(self):
        super().run()
        # A make that runs us must not hand down its own flags and job server.
        env = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")}
        subprocess.run(["make", "-C", str(ROOT), f"build/{LIBRARY}", "shims"], check=True, env=env)
        shims = sorted((ROOT / "build").glob("tutti_mpi_*.so"))  # for several processes
        for file in [ROOT / "build" / LIBRARY, *shims]:
            shutil.copy2(file, pathlib.Path(self.build_lib, "jax_tutti", file.name))


class WithLibrary(Distribution):
    def has_ext_modules(self):
        return True  # the wheel is for this machine's platform only


setup(cmdclass={"build_py": BuildWithEngine}, distclass=WithLibrary)
