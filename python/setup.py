"""Puts the engine into the package: `make` builds what is missing, then its libraries are copied, stripped.

The wheel is for every Python 3, since nothing in it is linked with Python, and for Linux systems whose C
library is at least as new as the symbols that the libraries ask for: that is what manylinux_2_N means.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sysconfig

from setuptools import Distribution, setup
from setuptools.command.build_py import build_py

try:
    from setuptools.command.bdist_wheel import bdist_wheel
except ImportError:  # setuptools before 70.1
    from wheel.bdist_wheel import bdist_wheel

ROOT = pathlib.Path(__file__).resolve().parent.parent
LIBRARY = "pjrt_plugin_tutti.so"
VERSION = re.search(r'TUTTI_VERSION "(.*)"', (ROOT / "src/base/version.h").read_text())[1]


def libraries():
    """The engine, and what joins several processes."""
    return [ROOT / "build" / LIBRARY, *sorted((ROOT / "build").glob("tutti_mpi_*.so"))]


class BuildWithEngine(build_py):
    def run(self):
        super().run()
        # A make that runs us must not hand down its own flags and job server.
        env = {k: v for k, v in os.environ.items() if k not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")}
        subprocess.run(["make", "-C", str(ROOT), f"build/{LIBRARY}", "shims"], check=True, env=env)
        package = pathlib.Path(self.build_lib, "jax_tutti")
        for file in libraries():
            subprocess.run(["strip", "-o", str(package / file.name), str(file)], check=True)
        shutil.copy2(ROOT / "LICENSE", package)


def oldest_glibc():
    """The minor number of the C library in which all our libraries find their symbols."""
    names = (re.findall(rb"GLIBC_2\.(\d+)\0", file.read_bytes()) for file in libraries())
    return max(int(number) for found in names for number in found)


class WheelOfLibraries(bdist_wheel):
    def get_tag(self):
        machine = sysconfig.get_platform().removeprefix("linux-")
        return "py3", "none", f"manylinux_2_{oldest_glibc()}_{machine}"


class WithLibrary(Distribution):
    def has_ext_modules(self):
        return True  # the wheel is for this machine's platform only


setup(version=VERSION, cmdclass={"build_py": BuildWithEngine, "bdist_wheel": WheelOfLibraries},
      distclass=WithLibrary)
