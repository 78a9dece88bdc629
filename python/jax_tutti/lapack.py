"""LAPACK for the engine: SciPy's, which JAX depends on and calls itself.

The engine asks for routines by name when it compiles the first program that has a use for them.  SciPy's
packages bring their LAPACK as a library beside them, which is loaded without importing SciPy: that takes
hundreds of milliseconds.  Where SciPy was built otherwise it is imported, and hands out the addresses of its
routines as it does for other compiled code, as capsules by name.
"""
import ctypes
import functools
import glob
import importlib.util
import os

from jax_tutti import callbacks

_kept = []  # what the engine may call as long as the process lives


def _address(capsule):
    api = ctypes.pythonapi
    name_of, pointer_of = api.PyCapsule_GetName, api.PyCapsule_GetPointer
    name_of.restype, name_of.argtypes = ctypes.c_char_p, [ctypes.py_object]
    pointer_of.restype, pointer_of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    return pointer_of(capsule, name_of(capsule))


@functools.cache
def _library():
    """The library beside SciPy, the one that SciPy itself loads; None: there is none."""
    spec = importlib.util.find_spec("scipy")
    for folder in (spec and spec.submodule_search_locations) or ():
        for file in sorted(glob.glob(os.path.join(glob.escape(folder) + ".libs", "libscipy_openblas*.so"))):
            library = ctypes.CDLL(file)
            if hasattr(library, "scipy_dgetrf_"):  # with integers of 64 bits the names have more behind them
                return library
    return None


def _in_library(name):
    function = getattr(_library(), f"scipy_{name}_", None)
    return function and ctypes.cast(function, ctypes.c_void_p).value


def _in_scipy(name):
    from scipy.linalg import cython_blas, cython_lapack

    for module in cython_lapack, cython_blas:
        if name in module.__pyx_capi__:
            return _address(module.__pyx_capi__[name])
    return None


def _find(name):
    """The address of dgetrf and the like; None: SciPy has it not."""
    find = _in_library if _library() else _in_scipy
    try:
        return find(name.decode())
    except (ImportError, AttributeError):
        return None  # the engine looks elsewhere, and names what it finds


def install(path):
    extension = callbacks.extension_of(path)
    if extension is not None:
        find = callbacks.FIND_ROUTINE(_find)
        _kept.append(find)
        extension.offer_lapack(find)
