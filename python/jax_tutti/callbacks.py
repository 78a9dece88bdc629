"""Python functions that compiled programs call: pure_callback, io_callback, debug.print.

JAX knows how to make such calls for its own platforms only, by ways that are closed to a plugin.
Ours: every Python function that a program calls gets a name, under which the engine is told of a
C function (made by ctypes) that calls it; the program holds a custom call of that name.

    program --custom_call @tutti.local.7--> engine --C function--> Python, on the thread that plays

@tutti.local.each.7 is called by every device with its own pieces (debug.print(partitioned=True)).
"""
import atexit
import ctypes
import functools
import inspect
import itertools
import threading
import traceback
import warnings
import weakref

import numpy as np

EXTENSION = 0x7474  # pjrt/extension.h
_numbers = itertools.count()
_functions = {}  # by name: compiled code may call them until the engine says that none is left,
_gone = []  # which it has said of these
_left = []  # for each program whose call was interrupted, the event of its end
_is_ending = False  # those programs are to fail


class _Operand(ctypes.Structure):
    _fields_ = [("type", ctypes.c_int), ("rank", ctypes.c_int),
                ("dims", ctypes.POINTER(ctypes.c_int64)), ("data", ctypes.c_void_p)]


class _Call(ctypes.Structure):
    _fields_ = [("nargs", ctypes.c_int), ("nresults", ctypes.c_int),
                ("args", ctypes.POINTER(_Operand)), ("results", ctypes.POINTER(_Operand)),
                ("message", ctypes.c_void_p), ("room", ctypes.c_size_t), ("device", ctypes.c_int), ("is_first", ctypes.c_bool)]


_FUNCTION = ctypes.CFUNCTYPE(ctypes.c_int32, ctypes.c_void_p, ctypes.POINTER(_Call))
FIND_ROUTINE = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_char_p)


class _Extension(ctypes.Structure):
    pass


_Extension._fields_ = [
    ("size", ctypes.c_size_t), ("type", ctypes.c_int), ("next", ctypes.POINTER(_Extension)),
    ("describe", ctypes.c_void_p), ("stats", ctypes.c_void_p), ("dump", ctypes.c_void_p),
    ("release", ctypes.CFUNCTYPE(None, ctypes.c_void_p)), ("passes", ctypes.c_void_p),
    ("add_call", ctypes.CFUNCTYPE(ctypes.c_bool, ctypes.c_char_p, ctypes.c_size_t, _FUNCTION,
                                  ctypes.c_void_p)),
    ("offer_lapack", ctypes.CFUNCTYPE(None, FIND_ROUTINE)), ("lapack", ctypes.c_void_p),
    ("drop_call", ctypes.CFUNCTYPE(None, ctypes.c_char_p, ctypes.c_size_t)),
    ("record", ctypes.c_void_p), ("record_end", ctypes.c_void_p), ("range_begin", ctypes.c_void_p),
    ("range_end", ctypes.c_void_p), ("compile_object", ctypes.c_void_p), ("exchange", ctypes.c_void_p),
    ("llvm", ctypes.c_char_p), ("rt_abi", ctypes.c_char_p),
    ("add_handler", ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t,
                                     ctypes.POINTER(ctypes.c_void_p))),
    ("add_type", ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t,
                                  ctypes.POINTER(ctypes.c_int64), ctypes.c_void_p)),
    ("leaving", ctypes.CFUNCTYPE(None, ctypes.c_bool))]


class _Api(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("extensions", ctypes.POINTER(_Extension))]


def extension_of(path):
    """The engine's own extension, in the chain that its PJRT table begins."""
    get = ctypes.CDLL(path).GetPjrtApi
    get.restype = ctypes.POINTER(_Api)
    at = get().contents.extensions
    while at and at.contents.type != EXTENSION:
        at = at.contents.next
    return at.contents if at else None


def view(operand, aval):
    """The operand's memory as an array; alive during the call only.  It may be a piece of what JAX
    knows by its shape."""
    shape = tuple(operand.dims[:operand.rank])
    size = int(np.prod(shape)) * np.dtype(aval.dtype).itemsize
    if not size:
        return np.zeros(shape, aval.dtype)
    memory = (ctypes.c_char * size).from_address(operand.data)
    return np.frombuffer(memory, aval.dtype).reshape(shape)


def _store(operand, aval, value):
    value = np.asarray(value)
    if value.shape != aval.shape:
        raise RuntimeError(f"Incorrect output shape: Expected: {aval.shape}, Actual: {value.shape}")
    if value.dtype != aval.dtype:
        raise RuntimeError(f"Incorrect output dtype: Expected: {aval.dtype}, Actual: {value.dtype}")
    if value.size:
        np.copyto(view(operand, aval), value)


def _player(callback, operand_avals, result_avals):
    """Plays one call: operands out of the engine's memory, results into it."""
    from jax._src import dtypes

    def play(c):
        args = [view(c.args[i], aval).copy() for i, aval in enumerate(operand_avals)]
        results = callback(*args)
        if len(results) != len(result_avals):
            raise RuntimeError("Mismatched number of outputs from callback. "
                               f"Expected: {len(result_avals)}, Actual: {len(results)}")
        for i, aval in enumerate(result_avals):
            _store(c.results[i], aval, dtypes.canonicalize_value(np.asarray(results[i])))

    return play


def _played(play, c):
    """0, or 1 with the message in c."""
    try:
        play(c)
        return 0
    except BaseException:  # it may not pass through C
        text = traceback.format_exc().encode()[-(c.room - 1):]
        ctypes.memmove(c.message, text + b"\0", len(text) + 1)
        return 1


def _call_aside(function):
    """Has it called by a thread of its own; the event of its end.  Interrupted, a thread's own join takes
    that thread for one that has ended."""
    ended = threading.Event()

    def call():
        try:
            function()
        finally:
            ended.set()

    threading.Thread(target=call, daemon=True).start()
    return ended


def _played_aside(play, c):
    """The same on a thread of its own.  JAX's contexts (a mesh, a device, x64) are of threads, and a
    small program is played by the thread that calls it: what it calls must not see that one's."""
    said, interrupted = [], None
    ended = _call_aside(lambda: said.append(_played(play, c)))
    while not ended.is_set():
        try:
            ended.wait()
        except BaseException as error:  # Ctrl-C; the thread has the engine's memory, and ends first
            interrupted = error
    if interrupted:
        return _played(lambda _: (_ for _ in ()).throw(interrupted), c)
    return said[0]


def _c_function(name, play):
    def call(_, pointer):
        if not pointer:  # the last program that calls it is gone; it may not free itself
            _gone.append(name)
            return 0
        if _is_ending:
            return 1
        of_engine = isinstance(threading.current_thread(), threading._DummyThread)
        return (_played if of_engine else _played_aside)(play, pointer.contents)

    return _FUNCTION(call)


class _Registered:
    """What JAX keeps with the program it lowered.  When that goes, the name has no more use but
    for code that is still there, which the engine knows of."""


def register(extension, name, play):
    while _gone:
        _functions.pop(_gone.pop())
    function = _c_function(name, play)
    if not extension.add_call(name.encode(), len(name), function, None):
        raise MemoryError(f"no memory in the engine for the callback {name}")
    _functions[name] = function
    registered = _Registered()
    # not at exit, when programs may still be at work
    weakref.finalize(registered, extension.drop_call, name.encode(), len(name)).atexit = False
    return registered


def register_look(extension, ctx, look):
    """The name of a call that the engine makes while it compiles, with bytes that look is given."""
    name = f"tutti.local.inspect.{next(_numbers)}"

    def play(c):
        look(ctypes.string_at(c.args[0].data, c.args[0].dims[0]) if c.args[0].dims[0] else b"")

    ctx.module_context.add_keepalive(register(extension, name, play))
    return name


def _with_token(sharding, result_avals):
    """The token of an ordered call is a result too, and lies where the others do."""
    from jax._src import sharding_impls

    SdyArray, SdyArrayList = sharding_impls.SdyArray, sharding_impls.SdyArrayList
    if not result_avals or not isinstance(sharding, SdyArrayList):
        return sharding
    place = sharding.shardings[0].logical_device_ids
    token = SdyArray(mesh_shape=(), dim_shardings=(), logical_device_ids=place)
    return SdyArrayList((token, *sharding.shardings))


def in_context(ctx, function):
    """A function of JAX's mlir module, called in the context of a module, which it takes from JAX 0.10
    on as its first argument."""
    takes = next(iter(inspect.signature(function).parameters)) == "ctx"
    return functools.partial(function, ctx) if takes else function


def _await(token):
    """Waits for a program to end.  Ctrl-C interrupts Python's own waits alone, and those of its first thread."""
    if threading.current_thread() is not threading.main_thread():
        return token.block_until_ready()
    raised = []

    def wait():
        try:
            token.block_until_ready()
        except Exception as error:
            raised.append(error)

    ended = _call_aside(wait)
    try:
        ended.wait()
    except KeyboardInterrupt:
        _left.append(ended)
        raise
    if raised:
        raise raised[0]


def _end():
    """Before the interpreter ends, programs whose calls were interrupted fail where they next call Python:
    later that call would not come back, and the engine wait for it."""
    global _is_ending
    _is_ending = bool(_left)
    for ended in _left:
        ended.wait(5)


def _wait_for_effects(platform):
    """A call of a program that calls Python for its effects returns when they have happened, as it does on
    JAX's CPU backend; what a callback raises, it raises."""
    from jax._src.interpreters import pxla

    handle = getattr(getattr(pxla, "ExecuteReplicated", None), "_handle_token_bufs", None)
    if handle is None:
        warnings.warn("jax_tutti: with this JAX, effects may come after the call that has them")
        return

    def handle_when_done(self, token_bufs, sharded_token):
        if self.backend.platform == platform:
            _await(sharded_token)
        handle(self, token_bufs, sharded_token)

    pxla.ExecuteReplicated._handle_token_bufs = handle_when_done
    atexit.register(_end)


def install(path, platform):
    """Lets JAX emit Python callbacks for our platform too."""
    from jax._src import callback as module
    from jax._src.interpreters import mlir
    from jax.interpreters import mlir as public

    extension = extension_of(path)
    others = module.emit_python_callback

    def emit(ctx, callback, token, operands, operand_avals, result_avals, *, has_side_effect,
             returns_token=True, partitioned=False, sharding=None):
        if tuple(ctx.module_context.platforms) != (platform,):
            return others(ctx, callback, token, operands, operand_avals, result_avals,
                          has_side_effect=has_side_effect, returns_token=returns_token,
                          partitioned=partitioned, sharding=sharding)
        if partitioned and result_avals:
            raise ValueError("Partitioned callback not supported with return values.")
        name = f"tutti.local.{'each.' if partitioned else ''}{next(_numbers)}"
        ctx.module_context.add_keepalive(
            register(extension, name, _player(callback, operand_avals, result_avals)))
        types = list(map(in_context(ctx.module_context, mlir.aval_to_ir_type), result_avals))
        tokens = [token] if token else []
        call = mlir.custom_call(
            name, result_types=[*(t.type for t in tokens), *types],
            operands=[*tokens, *operands], has_side_effect=has_side_effect)
        if token and sharding is not None:
            sharding = _with_token(sharding, result_avals)
        if sharding is not None and not partitioned:
            in_context(ctx.module_context, mlir.set_sharding)(call, sharding)
        results = list(call.results)
        if token:
            token, *results = results
        return results, token, None

    if extension is not None:
        module.emit_python_callback = emit
        public.emit_python_callback = emit  # jax.experimental.sparse takes it from there
        _wait_for_effects(platform)
