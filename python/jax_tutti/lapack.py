"""LAPACK for the engine: SciPy's, which JAX depends on and calls itself.

SciPy keeps the addresses of its routines for other compiled code, as capsules by name.  The engine
asks for them when it compiles the first program that has a use for them; SciPy is imported then.
"""
import ctypes

from jax_tutti import callbacks

_kept = []  # what the engine may call as long as the process lives


def _address(capsule):
    api = ctypes.pythonapi
    name_of, pointer_of = api.PyCapsule_GetName, api.PyCapsule_GetPointer
    name_of.restype, name_of.argtypes = ctypes.c_char_p, [ctypes.py_object]
    pointer_of.restype, pointer_of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return pointer_of(capsule, name_of(capsule))


def _find(name):
    """The address of dgetrf and the like; None: SciPy has it not."""
    try:
        from scipy.linalg import cython_blas, cython_lapack

        for module in cython_lapack, cython_blas:
            if name.decode() in module.__pyx_capi__:
                return _address(module.__pyx_capi__[name.decode()])
    except (ImportError, AttributeError):
        pass  # the engine looks elsewhere, and names what it finds
    return None


def install(path):
    extension = callbacks.extension_of(path)
    if extension is not None:
        find = callbacks.FIND_ROUTINE(_find)
        _kept.append(find)
        extension.offer_lapack(find)
