"""The wheel that is installed: for which systems it says it is, and what it needs of them."""
import importlib.metadata
import pathlib
import re
import subprocess
import types
import warnings

import jax_tutti
import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def library():
    here = pathlib.Path(jax_tutti.__file__).parent / jax_tutti.LIBRARY
    if not here.exists():
        pytest.skip("jax_tutti is not installed")
    return here


def test_tag_says_what_the_libraries_ask_for():
    """Every Python 3; a C library as new as the newest symbol, and no other library."""
    asked = subprocess.run(["objdump", "-p", library()], capture_output=True, text=True, check=True).stdout
    glibc = max(int(n) for n in re.findall(r" GLIBC_2\.(\d+)", asked))
    tag = re.search("^Tag: (.*)$", importlib.metadata.distribution("jax-tutti").read_text("WHEEL"), re.M)[1]
    assert re.fullmatch(rf"py3-none-manylinux_2_{glibc}_\w+", tag), tag
    needed = set(re.findall(r"NEEDED +(\S+)", asked))
    assert all(re.match(r"(libc|libm)\.so\.6|ld-linux", name) for name in needed), needed


def test_is_stripped():
    sections = subprocess.run(["objdump", "-h", library()], capture_output=True, text=True, check=True).stdout
    assert ".debug_info" not in sections and ".symtab" not in sections


def test_version():
    version = re.search(r'TUTTI_VERSION "(.*)"', (ROOT / "src/base/version.h").read_text())[1]
    assert jax_tutti.__version__ == version


@pytest.mark.parametrize("version, is_known", [("0.8.3", False), ("0.9.0", True), ("0.12.0.1", True),
                                               ("0.13.0", False), ("1.0", False)])
def test_other_versions_of_jax_are_named(version, is_known):
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        jax_tutti._check_version(types.SimpleNamespace(__version__=version))
    assert [f"this is JAX {version}" in str(w.message) for w in said] == ([] if is_known else [True])
