"""The C library as another language calls it: its structs, and its functions by the types they give."""
import ctypes
import os

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PLUGIN = os.path.join(ROOT, "build/pjrt_plugin_tutti.so")


class Tt(ctypes.Structure):
    _fields_ = [("slot", ctypes.c_uint32), ("generation", ctypes.c_uint32)]


class Dims(ctypes.Structure):
    _fields_ = [("n", ctypes.c_int), ("v", ctypes.c_int64 * 12)]


class Tree(ctypes.Structure):
    _fields_ = [("leaf", ctypes.POINTER(Tt)), ("n", ctypes.c_int)]


def library(**results):
    """build/libtutti.so; results: further functions and what they give."""
    os.environ.setdefault("TUTTI_PLUGIN", PLUGIN)
    lib = ctypes.CDLL(os.path.join(ROOT, "build/libtutti.so"))
    lib.tt_on_error(None, None)
    results |= {"tt_error": ctypes.c_char_p, "tt_from": Tt, "tt_shape": Dims, "tt_read": ctypes.c_bool}
    for name, result in results.items():
        getattr(lib, name).restype = result
    lib.tt_from.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_size_t, ctypes.POINTER(Dims)]
    lib.tt_read.argtypes = [Tt, ctypes.c_void_p, ctypes.c_size_t]
    return lib
