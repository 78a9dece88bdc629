"""Files of arrays: what NumPy and safetensors write, our library reads, and the other way round.
The library is called as another language would call it."""
import ctypes
import os

import ml_dtypes
import numpy as np
import pytest
from safetensors.numpy import load_file, save_file
from tutti_c import TT_BOOL, TYPES, Dims, Tree, Tt, library, tt_dtype


class SaveOptions(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("step", ctypes.c_int64),
                ("names", ctypes.POINTER(ctypes.c_char_p))]


@pytest.fixture(scope="module")
def lib():
    lib = library(tt_open=ctypes.c_void_p, tt_file_name=ctypes.c_char_p, tt_file_get=Tt,
                  tt_save_n=ctypes.c_bool, tt_restore_n=ctypes.c_int64, tt_to_dlpack=ctypes.c_void_p,
                  tt_from_dlpack=Tt)
    lib.tt_file_get.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
    lib.tt_file_name.argtypes = lib.tt_file_count.argtypes = None
    lib.tt_save_n.argtypes = [ctypes.c_char_p, Tree, ctypes.POINTER(SaveOptions)]
    lib.tt_restore_n.argtypes = [ctypes.c_char_p, ctypes.POINTER(Tt), ctypes.c_int,
                                 ctypes.POINTER(SaveOptions)]
    return lib


def said(lib):
    text = lib.tt_error()
    lib.tt_clear_error()
    return (text or b"").decode()


def values(lib, x):
    shape = lib.tt_shape(x)
    out = np.empty(tuple(shape.v[:shape.n]), TYPES[lib.tt_type(x) - TT_BOOL])
    assert lib.tt_read(x, out.ctypes.data, out.nbytes), said(lib)
    return out


def array(lib, x):
    dims = Dims(x.ndim, (ctypes.c_int64 * 12)(*x.shape))
    return lib.tt_from(tt_dtype(x.dtype), x.ctypes.data, x.nbytes, ctypes.byref(dims))


def some(dtype, shape=(3, 5)):
    rng = np.random.default_rng(7)
    x = rng.normal(size=shape) * 40
    return (x + 1j * x[::-1] if np.dtype(dtype).kind == "c" else np.abs(x)).astype(dtype)


def read_back(lib, path, arrays):
    file = ctypes.c_void_p(lib.tt_open(path.encode()))
    assert file.value, said(lib)
    names = {lib.tt_file_name(file, i).decode() for i in range(lib.tt_file_count(file))}
    assert names == set(arrays)
    for name, x in arrays.items():
        y = values(lib, lib.tt_file_get(file, name.encode()))
        assert y.dtype == x.dtype and y.shape == x.shape and y.tobytes() == x.tobytes(), name
    lib.tt_close(file)


def test_safetensors_in(lib, tmp_path):
    arrays = {f"layer.{np.dtype(t).name} \"é\"": some(t) for t in TYPES if t != np.complex128}
    arrays |= {"empty": np.zeros((0, 3), np.float32), "one": np.array(2.5, np.float64)}
    path = str(tmp_path / "x.safetensors")
    save_file(arrays, path, metadata={"format": "np"})
    read_back(lib, path, arrays)


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_npz_in(lib, tmp_path, save):
    arrays = {np.dtype(t).name: some(t, (40, 30)) for t in TYPES if t != ml_dtypes.bfloat16}
    arrays |= {"big": np.arange(100000, dtype=np.int32), "noise": some(np.float32, (300, 200))}
    path = str(tmp_path / "x.npz")
    save(path, **arrays)
    read_back(lib, path, arrays)
    save(path, f=np.asfortranarray(arrays["noise"]), b=arrays["noise"].astype(">f4"))
    read_back(lib, path, {"f": arrays["noise"], "b": arrays["noise"]})


@pytest.mark.parametrize("end", ["safetensors", "npz"])
def test_out(lib, tmp_path, end):
    types = [t for t in TYPES if t not in ([np.complex128] if end == "safetensors" else [ml_dtypes.bfloat16])]
    arrays = {f"{np.dtype(t).name}.w": some(t) for t in types}
    leaves = (Tt * len(arrays))(*[array(lib, x) for x in arrays.values()])
    names = (ctypes.c_char_p * len(arrays))(*[n.encode() for n in arrays])
    path = str(tmp_path / f"x.{end}")
    options = SaveOptions(ctypes.sizeof(SaveOptions), 0, names)
    assert lib.tt_save_n(path.encode(), Tree(leaves, len(arrays)), ctypes.byref(options)), said(lib)
    found = load_file(path) if end == "safetensors" else np.load(path)
    assert set(found.keys()) == set(arrays)
    for name, x in arrays.items():
        assert found[name].dtype == x.dtype and found[name].tobytes() == x.tobytes(), name
    assert not os.path.exists(path + ".part")


class DLPack:
    """A tensor of another library's, as NumPy takes it."""

    def __init__(self, managed):
        self.managed = managed

    def __dlpack_device__(self):
        return (1, 0)

    def __dlpack__(self, **_):
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        return new(self.managed, b"dltensor_versioned", None)


def managed_of(x):
    capsule = x.__dlpack__(max_version=(1, 0))
    get, rename = ctypes.pythonapi.PyCapsule_GetPointer, ctypes.pythonapi.PyCapsule_SetName
    get.restype, get.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    rename.argtypes = [ctypes.py_object, ctypes.c_char_p]
    managed = get(capsule, b"dltensor_versioned")
    rename(capsule, b"used_dltensor_versioned")
    return ctypes.c_void_p(managed)


@pytest.mark.parametrize("dtype", [t for t in TYPES if t != ml_dtypes.bfloat16])
def test_dlpack(lib, dtype):
    x = some(dtype)
    assert np.from_dlpack(DLPack(lib.tt_to_dlpack(array(lib, x)))).tobytes() == x.tobytes()
    for view in [x, x.T, x[::2, 1:4], x[:, ::-1], x[:0], x[1, 2]]:
        y = values(lib, lib.tt_from_dlpack(managed_of(np.asarray(view))))
        assert y.shape == view.shape and y.tobytes() == view.tobytes()
