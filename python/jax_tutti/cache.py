"""JAX's cache of compiled programs on disk (jax_compilation_cache_dir), for our platform too.

JAX asks a list of its own which platforms it may store programs of.  What it then stores is what the
engine gives it: the program itself and its options (docs/design, "stored").
"""
import types
import warnings

# What the engine says of programs that call Python: JAX does not store those of its own platforms
# either, and says nothing.
LOCAL = "it calls functions of this process"


def install(platform):
    from jax._src import compilation_cache as module

    try:
        is_used, put = module.is_cache_used, module.put_executable_and_time
    except AttributeError as error:
        warnings.warn(f"jax_tutti: no compilation cache with this JAX: {error}")
        return

    def is_cache_used(backend):
        return is_used(types.SimpleNamespace(platform="cpu") if backend.platform == platform else backend)

    def put_executable_and_time(*args, **named):
        try:
            put(*args, **named)
        except Exception as error:
            if LOCAL not in str(error):
                raise

    module.is_cache_used = is_cache_used
    module.put_executable_and_time = put_executable_and_time
