"""Tutti's engine as a platform of JAX.

JAX finds this module by its entry point and calls `initialize`, which says where the engine is
and how many devices it should have, and tells JAX which of its rules for CPUs and GPUs hold here too.
"""
import os
import pathlib
import re
import sys
import warnings

from jax_tutti import cache, callbacks, dlpack, lapack

__version__ = "0.1.0"

NAME = "tutti"
LIBRARY = "pjrt_plugin_tutti.so"
TESTED = ((0, 10), (0, 12))  # from, up to but not including


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


def _client_options():
    """Asked for when the first device is: jax_num_cpu_devices, if the user has set it.  The
    environment (TUTTI_DEVICES, XLA_FLAGS) is read by the engine itself."""
    import jax

    n = getattr(jax.config, "jax_num_cpu_devices", -1)
    return {"num_devices": int(n)} if n is not None and n > 0 else {}


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


def _lower_send(ctx, x, *, axis_name, perm):
    from jax._src.interpreters import mlir
    from jax._src.lax import parallel
    from jax._src.lib.mlir.dialects import hlo

    pairs, channel = parallel._pcollectives_lowering_common(
        ctx, axis_name=axis_name, perm=perm, op_name="psend"
    )
    token = hlo.create_token()
    return hlo.SendOp(
        [x], token, source_target_pairs=mlir.dense_int_elements(pairs), **channel
    ).results


def _lower_sends():
    """JAX's rule for psend wants a GPU's channel; ours asks for nothing particular."""
    from jax._src.interpreters import mlir
    from jax._src.lax import parallel

    try:
        mlir.register_lowering(parallel.psend_p, _lower_send, platform=NAME)
    except AttributeError as error:
        warnings.warn(f"jax_tutti: no psend with this JAX: {error}")


# Primitives that JAX lowers for CPUs as we want it: to calls of LAPACK, which the engine answers,
# and of Python (callbacks.py).
LIKE_CPU = {"check", "debug_callback", "debug_print", "eig", "eigh", "geqp3", "geqrf",
            "hessenberg", "householder_product", "lu", "ormqr", "schur", "spsolve", "svd",
            "tridiagonal", "tridiagonal_solve"}
# Those that it lowers for GPUs only, though what it makes of them is not particular to those.
LIKE_GPU = {"pbroadcast", "pbroadcast_start", "precv"}


class _Rules(dict):
    """Our own rules, and those of the platforms that we are like.  Some modules of JAX write theirs
    when they are first imported, which may be later than now, so they are looked up when asked for."""

    def __init__(self, ours, others):
        super().__init__(ours)
        self.others = others

    def _other(self, primitive):
        name = primitive.name
        platform = "cpu" if name in LIKE_CPU else "cuda" if name in LIKE_GPU else None
        return self.others[platform] if platform else {}

    def __contains__(self, primitive):
        return super().__contains__(primitive) or primitive in self._other(primitive)

    def __missing__(self, primitive):
        return self._other(primitive)[primitive]


def _share_rules():
    """JAX keeps its lowering rules by platform; some of its CPU's and GPU's are ours too."""
    from jax._src.interpreters import mlir

    rules = getattr(mlir, "_platform_specific_lowerings", None)
    if rules is None:
        warnings.warn("jax_tutti: this JAX hides its lowering rules; jax.numpy.linalg is missing")
        return
    rules[NAME] = _Rules(rules.get(NAME, {}), rules)


def _answer_for_cpu():
    """JAX asks for a device of the platform "cpu" here and there (callbacks, scans of no rows), and so
    do programs.  Where only ours was chosen (JAX_PLATFORMS=tutti), ours are the CPU's devices."""
    from jax._src import xla_bridge

    others = getattr(xla_bridge, "canonicalize_platform", None)
    if others is None:
        warnings.warn('jax_tutti: with this JAX, callbacks need JAX_PLATFORMS="tutti,cpu"')
        return

    def canonicalize(platform):
        # For what looks for a backend only: a program that is exported for "cpu" is for that one.
        # This module is loaded inside the first such search, which must find us too, so it is not
        # the search itself that is replaced.
        if platform == "cpu" and sys._getframe(1).f_code.co_name == "_get_backend_uncached":
            backends = xla_bridge.backends()
            if "cpu" not in backends and NAME in backends:
                return NAME
        return others(platform)

    xla_bridge.canonicalize_platform = canonicalize


def initialize():
    """Called by JAX when it looks for platforms."""
    import jax
    from jax._src import xla_bridge

    _check_version(jax)
    getattr(xla_bridge, "_nonexperimental_plugins", set()).add(NAME)  # else it warns of us
    xla_bridge.register_plugin(
        NAME, priority=500, library_path=library_path(), options=_client_options
    )
    _allow_donation()
    _lower_sends()
    _share_rules()
    _answer_for_cpu()
    callbacks.install(library_path(), NAME)
    lapack.install(library_path())
    cache.install(NAME)
    dlpack.install(NAME)
