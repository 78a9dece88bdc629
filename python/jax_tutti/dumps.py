"""jax.jit(f, compiler_options={"xla_dump_to": FOLDER}): one program as it is compiled, or comes from the cache.

    FOLDER/module_0001.jit_f.tutti_after_optimizations.txt      xla_dump_hlo_as_text, and without a word
    FOLDER/module_0001.jit_f.tutti_after_optimizations.hlo.pb   xla_dump_hlo_as_proto

XLA_FLAGS=--xla_dump_to, for all programs, is the engine's (src/engine/plugin/dump_to.c).
"""
import itertools
import pathlib
import warnings

_numbers = itertools.count(1)


def _is_on(wanted, name, otherwise):
    return str(wanted.get(name, otherwise)).lower() in ("true", "1")


def _write(executable, wanted):
    folder = pathlib.Path(wanted["xla_dump_to"])
    folder.mkdir(parents=True, exist_ok=True)
    is_proto = _is_on(wanted, "xla_dump_hlo_as_proto", False)
    for module in executable.hlo_modules():
        stem = f"module_{next(_numbers):04d}.{module.name}.tutti_after_optimizations"
        if _is_on(wanted, "xla_dump_hlo_as_text", not is_proto):
            (folder / f"{stem}.txt").write_text(module.to_string())
        if is_proto:
            (folder / f"{stem}.hlo.pb").write_bytes(module.as_serialized_hlo_module_proto())


def install(platform):
    from jax._src import compiler

    others = getattr(compiler, "compile_or_get_cached", None)
    if others is None:
        warnings.warn("jax_tutti: with this JAX, one program is not dumped; XLA_FLAGS=--xla_dump_to dumps all")
        return

    def compile_or_get_cached(backend, computation, devices, compile_options, *args, **named):
        executable = others(backend, computation, devices, compile_options, *args, **named)
        wanted = dict(compile_options.env_option_overrides)
        if backend.platform == platform and wanted.get("xla_dump_to"):
            _write(executable, wanted)
        return executable

    compiler.compile_or_get_cached = compile_or_get_cached
