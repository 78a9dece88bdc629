"""Tutti's engine as a platform of JAX.

JAX finds this module by its entry point and calls `initialize`, which says where the engine is
and how many devices it should have, and tells JAX which of its rules for CPUs and GPUs hold here too.
"""
import importlib.metadata
import os
import pathlib
import re
import sys
import types
import warnings

# launchers: being imported is all that JAX needs of it
from jax_tutti import buffers, cache, callbacks, costs, dlpack, dumps, ffi, hosts, lapack, launchers, rules, shardings

try:
    __version__ = importlib.metadata.version("jax-tutti")
except importlib.metadata.PackageNotFoundError:  # not installed: on PYTHONPATH
    __version__ = "0"

NAME = "tutti"
CPU = "cpu"  # JAX's own; TUTTI_PLATFORM=cpu puts ours in its place, under its name
LIBRARY = "pjrt_plugin_tutti.so"
TESTED = ((0, 9), (0, 13))  # from, up to but not including


def library_path():
    """The engine: TUTTI_PLUGIN, else inside the package, else what `make` built beside it."""
    here = pathlib.Path(__file__).resolve().parent
    named = os.environ.get("TUTTI_PLUGIN")
    places = [pathlib.Path(named)] if named else [here / LIBRARY, here.parents[1] / "build" / LIBRARY]
    for place in places:
        if place.is_file():
            return str(place)
    raise FileNotFoundError(
        "jax_tutti: no engine at " + " nor at ".join(map(str, places))
        + ("; that is what TUTTI_PLUGIN names" if named else "; run make, then pip install ./python")
    )


def platform_name():
    """What JAX shall call us."""
    name = os.environ.get("TUTTI_PLATFORM") or NAME
    if name not in (NAME, CPU):
        raise ValueError(f"jax_tutti: TUTTI_PLATFORM={name}: it is {NAME}, or {CPU} in place of JAX's own backend")
    return name


def _client_options():
    """Asked for when the first device is: jax_num_cpu_devices, if the user has set it.  The
    environment (TUTTI_DEVICES, XLA_FLAGS) is read by the engine itself."""
    import jax

    n = getattr(jax.config, "jax_num_cpu_devices", -1)
    return {"platform_name": platform_name(), **({"num_devices": int(n)} if n is not None and n > 0 else {})}


def _check_version(jax):
    version = tuple(int(n) for n in re.findall(r"\d+", jax.__version__)[:2])
    low, high = TESTED
    if not low <= version < high:
        warnings.warn(
            f"jax_tutti is tested with JAX {low[0]}.{low[1]} up to, not including, "
            f"{high[0]}.{high[1]}; this is JAX {jax.__version__}",
            stacklevel=3,
        )


def _allow_donation():
    """JAX writes donation marks only for the platforms in this list of its own."""
    from jax._src.interpreters import mlir

    platforms = getattr(mlir, "_platforms_with_donation", None)
    if platforms is None:
        warnings.warn("jax_tutti: this JAX hides who supports donation; donated arguments are copied")
    elif NAME not in platforms:
        platforms.append(NAME)


def _answer_for_cpu():
    """JAX asks for a device of the platform "cpu" here and there (callbacks, scans of no rows), and so
    do programs.  Where only ours was chosen (JAX_PLATFORMS=tutti), ours are the CPU's devices."""
    from jax._src import xla_bridge

    function = getattr(xla_bridge, "canonicalize_platform", None)
    if function is None:
        warnings.warn('jax_tutti: with this JAX, callbacks need JAX_PLATFORMS="tutti,cpu"')
        return
    others = types.FunctionType(function.__code__, function.__globals__)

    def canonicalize(platform):
        caller = sys._getframe(2).f_code.co_name
        # For what looks for a backend only: a program that is exported for "cpu" is for that one.
        if platform == "cpu" and caller == "_get_backend_uncached":
            backends = xla_bridge.backends()
            if "cpu" not in backends and NAME in backends:
                return NAME
        # What is exported without a word is for "cpu", which JAX's own backend takes too.
        if platform == NAME and caller == "default_export_platform":
            return "cpu"
        return others(platform)

    # This module is loaded inside the first search, which has its function in hand already and must
    # find us too: so the function stays the same, and has other code.
    function.__globals__["_tutti_canonicalize"] = canonicalize
    function.__code__ = (lambda platform: _tutti_canonicalize(platform)).__code__  # noqa: F821


def initialize():
    """Called by JAX when it looks for platforms."""
    import jax
    from jax._src import xla_bridge

    _check_version(jax)
    name = platform_name()
    getattr(xla_bridge, "_nonexperimental_plugins", set()).add(name)  # else it warns of us
    xla_bridge.register_plugin(
        name, priority=500, library_path=library_path(), options=_client_options
    )
    rules.install(name)
    if name == NAME:
        _allow_donation()
        _answer_for_cpu()
    callbacks.install(library_path(), name)
    buffers.install(library_path(), name)
    shardings.install(library_path(), name)
    lapack.install(library_path())
    ffi.install(library_path(), name)
    cache.install(name)
    costs.install(name)
    dlpack.install(name)
    dumps.install(name)
    hosts.install(library_path())
