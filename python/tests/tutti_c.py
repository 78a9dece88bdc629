"""The C library as another language calls it: its structs, and its functions by the types they give."""
import ctypes
import os

import ml_dtypes
import numpy as np

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PLUGIN = os.path.join(ROOT, "build/pjrt_plugin_tutti.so")

# tt_dtype in its order, which begins at TT_BOOL.
TT_BOOL = 0x7400
TYPES = [np.bool_, np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64,
         np.float16, ml_dtypes.bfloat16, np.float32, np.float64, np.complex64, np.complex128]


def tt_dtype(dtype):
    return TT_BOOL + TYPES.index(np.dtype(dtype).type)


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
