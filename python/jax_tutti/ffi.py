"""Foreign functions written for XLA's CPU backend (jax.ffi), called by our engine.

JAX hands what is registered for a platform to that platform's handler.  What is registered for "cpu"
is ours too, as everything written for it is, unless the same name is registered for "tutti".
"""
import ctypes
import warnings

from jax_tutti.callbacks import extension_of

STAGES = ("instantiate", "prepare", "initialize", "execute")


def _address(capsule):
    api = ctypes.pythonapi
    api.PyCapsule_GetName.restype, api.PyCapsule_GetName.argtypes = ctypes.c_char_p, [ctypes.py_object]
    pointer = api.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return pointer(capsule, api.PyCapsule_GetName(capsule))


class _Names:
    """What the engine was told of, and for which platform."""

    def __init__(self, extension, platform):
        self.extension, self.platform = extension, platform
        self.own = set()

    def _told(self, error):
        if error:
            text = ctypes.string_at(error).decode()
            self.extension.release(error)
            raise ValueError(text)

    def target(self, name, fn, platform, api_version=0, traits=0):
        name = name.decode() if isinstance(name, bytes) else name
        if platform != self.platform and name in self.own:
            return
        if api_version != 1:
            if platform == self.platform:
                raise NotImplementedError(
                    f"{name}: Tutti calls foreign functions of api_version 1, not {api_version}")
            return
        if platform == self.platform:
            self.own.add(name)
        stages = fn if isinstance(fn, dict) else {"execute": fn}
        unknown = set(stages) - set(STAGES)
        if unknown:
            raise ValueError(f"{name}: there is no stage {sorted(unknown)[0]!r}; the stages are {', '.join(STAGES)}")
        functions = (ctypes.c_void_p * len(STAGES))(*[_address(stages[s]) if s in stages else None for s in STAGES])
        self._told(self.extension.add_handler(name.encode(), len(name.encode()), functions))

    def type(self, name, registration, platform=None):
        name = name.decode() if isinstance(name, bytes) else name
        if not isinstance(registration, dict):
            registration = {"type_id": registration}
        identity = ctypes.cast(_address(registration["type_id"]), ctypes.POINTER(ctypes.c_int64))
        info = registration.get("type_info")
        self._told(self.extension.add_type(name.encode(), len(name.encode()), identity,
                                           _address(info) if info is not None else None))


def _follow(module, which, waiting, names, platform):
    """The module's `register_custom_...` tells us too of what is for "cpu"; and of what was registered
    before we were asked for."""
    others = getattr(module, f"register_custom_{which}", None)
    take_on = getattr(module, f"register_custom_{which.split('_')[0]}_handler", None)
    if others is None or take_on is None:
        return
    ours = names.target if which == "call_target" else names.type

    def mirror(name, it, *more, **named):
        try:  # it was not registered for us, so nothing of it may fail here
            ours(name, it, "cpu", *more, **named)
        except ValueError as error:
            warnings.warn(f"jax_tutti: {error}")

    def register(name, it, platform="cpu", *more, **named):
        result = others(name, it, platform, *more, **named)
        if platform == "cpu":
            mirror(name, it, *more, **named)
        return result

    key = getattr(module, "xla_platform_names", {}).get("cpu", "cpu")  # XLA's own name for it
    for name, it, *more in list(getattr(module, waiting, {}).get(key, [])):
        mirror(name, it, *more)
    setattr(module, f"register_custom_{which}", register)
    if platform != "cpu":  # else that was all
        take_on(platform, ours)


def install(path, platform):
    from jax._src.lib import xla_client

    extension = extension_of(path)
    if extension is None:
        return
    names = _Names(extension, platform if platform != "cpu" else None)  # None: nothing is for us alone
    # Types first: a handler with a state names its type.
    _follow(xla_client, "type", "_custom_type_id", names, platform)
    _follow(xla_client, "call_target", "_custom_callback", names, platform)
