"""DLPack: arrays of other libraries as ours and ours as theirs, in the same memory.

JAX takes DLPack's CPU for its own platform of that name.  When ours is the default, it is ours:

- coming in, JAX hands the memory over itself (PJRT_Client_CreateViewOfDeviceBuffer); the engine takes
  arrays that are row-major, others are copied;
- going out, JAX refuses a platform that it does not know, so NumPy makes the capsule, of the view that
  it has of our memory.
"""
import ctypes
import warnings

import numpy as np

BFLOAT = 4  # DLPack's code of the type; NumPy has none for it


class _Writable:
    """The same memory without NumPy's mark that it is read-only, which DLPack could not say for long;
    as with JAX's own arrays, whoever writes there is to blame."""

    def __init__(self, view):
        self.view = view  # keeps the memory
        self.__array_interface__ = {**view.__array_interface__,
                                    "data": (view.__array_interface__["data"][0], False)}


class _Capsule:
    """What NumPy wants to see around a capsule."""

    def __init__(self, capsule):
        self.capsule = capsule

    def __dlpack__(self, **_):
        return self.capsule

    def __dlpack_device__(self):
        return 1, 0


class _Tensor(ctypes.Structure):
    """The beginning of DLManagedTensor."""
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32),
                ("device_id", ctypes.c_int32), ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8),
                ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


def _say_bfloat(capsule):
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    _Tensor.from_address(pointer(capsule, b"dltensor")).code = BFLOAT


def _export(array):
    view = np.asarray(array)
    is_bfloat = view.dtype.name == "bfloat16"
    capsule = np.asarray(_Writable(view.view(np.uint16) if is_bfloat else view)).__dlpack__()
    if is_bfloat:
        _say_bfloat(capsule)
    return capsule


class _Jaxlib:
    """JAX's C++ module as jax._src.dlpack sees it, but for two functions."""

    def __init__(self, module, platform):
        self._module, self._platform = module, platform

    def __getattr__(self, name):
        return getattr(self._module, name)

    def buffer_to_dlpack_managed_tensor(self, array, **named):
        if array.platform() == self._platform:
            return _export(array)
        return self._module.buffer_to_dlpack_managed_tensor(array, **named)

    def dlpack_managed_tensor_to_buffer(self, capsule, device, stream, copy, *more):
        take = self._module.dlpack_managed_tensor_to_buffer
        if device.platform != self._platform:
            return take(capsule, device, stream, copy, *more)
        import jax

        try:
            array = take(capsule, device, stream, None, *more)
        except jax.errors.JaxRuntimeError as error:
            if copy is False or "not supported: a view of" not in str(error):
                raise
            return jax.device_put(np.from_dlpack(_Capsule(capsule)), device)
        return jax.numpy.array(array, copy=True) if copy else array


class _Platforms(dict):
    """From DLPack's kinds of devices to platforms: its CPU is ours where we are the default."""

    def __init__(self, others, cpu, platform):
        super().__init__(others)
        self.cpu, self.platform = cpu, platform

    def __getitem__(self, kind):
        from jax._src import xla_bridge

        is_ours = kind == self.cpu and xla_bridge.get_backend().platform == self.platform
        return self.platform if is_ours else super().__getitem__(kind)


def install(platform):
    from jax._src import array, dlpack

    try:
        cpu = dlpack.DLDeviceType.kDLCPU
        others = array.ArrayImpl.__dlpack_device__

        def device_of(self):
            return (cpu, 0) if self.platform() == platform else others(self)

        dlpack._DL_DEVICE_TO_PLATFORM = _Platforms(dlpack._DL_DEVICE_TO_PLATFORM, cpu, platform)
        dlpack._jax = _Jaxlib(dlpack._jax, platform)
        array.ArrayImpl.__dlpack_device__ = device_of
    except AttributeError as error:
        warnings.warn(f"jax_tutti: no DLPack with this JAX: {error}")
