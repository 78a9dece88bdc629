"""jax.experimental.buffer_callback: Python functions that read and write the engine's own memory.

They are called as callbacks.py has others called, with a Buffer for each operand and result in place
of arrays; what they write into a result's Buffer is the result.
"""
import itertools
import warnings

import numpy as np

from jax_tutti import callbacks

_numbers = itertools.count()


class Buffer:
    """An operand's or a result's memory, alive during the call only."""

    def __init__(self, memory, writeable):
        self._memory, self.writeable = memory, writeable
        self.shape, self.dtype, self.ndim = memory.shape, memory.dtype, memory.ndim

    def __array__(self, dtype=None, copy=None):
        view = self._memory.view()
        view.flags.writeable = self.writeable
        wanted = self.dtype if dtype is None else np.dtype(dtype)
        if copy or wanted != self.dtype:
            if copy is False:
                raise ValueError(f"a buffer of {self.dtype} becomes an array of {wanted} by a copy only")
            return view.astype(wanted)
        return view

    def __dlpack__(self, **named):
        return self._memory.__dlpack__(**named)

    def __dlpack_device__(self):
        return self._memory.__dlpack_device__()


class ExecutionContext:
    def __init__(self, stage):
        self.stage = stage

    @property
    def stream(self):
        import jax

        raise jax.errors.JaxRuntimeError("XLA FFI GPU context is not available: devices are CPUs")


def _player(callback, in_tree, out_tree, avals_in, avals_out, aliases, stage):
    from jax._src import tree_util

    def play(c):
        results = [callbacks.view(c.results[i], aval) for i, aval in enumerate(avals_out)]
        operands = [callbacks.view(c.args[i], aval) for i, aval in enumerate(avals_in)]
        for operand, result in aliases:
            results[result][...] = operands[operand]
            operands[operand] = results[result]
        args, named = tree_util.tree_unflatten(in_tree, [Buffer(x, False) for x in operands])
        out = tree_util.tree_unflatten(out_tree, [Buffer(x, True) for x in results])
        if callback(ExecutionContext(stage), out, *args, **named) is not None:
            raise ValueError("buffer_callback callback must not return any values.")

    return play


def install(path, platform):
    extension = callbacks.extension_of(path)
    try:
        from jax._src import buffer_callback as module
        from jax._src.interpreters import mlir

        primitive, stage = module.buffer_callback_p, module.ExecutionStage.EXECUTE
    except (ImportError, AttributeError) as error:
        warnings.warn(f"jax_tutti: no buffer_callback with this JAX: {error}")
        return

    def lower(ctx, *operands, callback, in_tree, out_tree, has_side_effect, input_output_aliases, **_):
        name = f"tutti.local.buffers.{next(_numbers)}"
        play = _player(callback, in_tree, out_tree, ctx.avals_in, ctx.avals_out, input_output_aliases, stage)
        ctx.module_context.add_keepalive(callbacks.register(extension, name, play))
        types = map(callbacks.in_context(ctx.module_context, mlir.aval_to_ir_type), ctx.avals_out)
        return mlir.custom_call(name, result_types=list(types), operands=operands,
                                has_side_effect=has_side_effect).results

    if extension is not None:
        mlir.register_lowering(primitive, lower, platform=platform)
