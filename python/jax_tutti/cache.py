"""JAX's cache of compiled programs on disk (jax_compilation_cache_dir), for our platform too.

JAX asks a list of its own which platforms it may store programs of.  What it then stores is what the
engine gives it: the program itself and its options (docs/design, "stored").
"""
import types
import warnings

# What the engine says of programs that call Python, which are not stored.
LOCAL = "it calls functions of this process"


def _calls_python(executable):
    try:
        executable.serialize()
    except Exception as error:
        return LOCAL in str(error)
    return False


def install(platform):
    from jax._src import compilation_cache, compiler

    try:
        has_folder = compilation_cache.is_persistent_cache_enabled
        is_used, write = compilation_cache.is_cache_used, compiler._cache_write
    except AttributeError as error:
        warnings.warn(f"jax_tutti: no compilation cache with this JAX: {error}")
        return

    def is_cache_used(backend):
        if backend.platform != platform:
            return is_used(backend)
        # Without a folder JAX makes a key of every program all the same, to find and store nothing by it.
        return has_folder() and is_used(types.SimpleNamespace(platform="cpu"))

    def cache_write(key, seconds, module, backend, executable, *host_callbacks):
        if backend.platform == platform and not any(host_callbacks) and _calls_python(executable):
            if not host_callbacks:  # from JAX 0.11 on: it has no word for them
                return
            host_callbacks = ([LOCAL],)  # it then says what it says of its own platforms
        write(key, seconds, module, backend, executable, *host_callbacks)

    compilation_cache.is_cache_used = is_cache_used
    compiler._cache_write = cache_write
