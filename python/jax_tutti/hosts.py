"""What several processes need of JAX.

A process that ends, or fails, tells the others of its job so at once.  JAX's own end of a process waits until
all have come to theirs: minutes, if one of them waits in a program for this one.

Arrays cross from devices of one process to those of another within one backend.  JAX asks for it wherever both
are of one kind by name, and ours and those of its own CPU backend are both a "cpu".
"""
import atexit
import functools
import sys

from jax_tutti.callbacks import extension_of


def _transfer_within_backend():
    """An array of ours to JAX's CPU devices of other processes is refused as one of a GPU is."""
    from jax._src import dispatch

    is_supported = getattr(dispatch, "_is_supported_cross_host_transfer", None)
    if is_supported is None:  # then it does not ask by the kind
        return

    def client_of(sharding):
        return next(iter(sharding.device_set)).client

    @functools.wraps(is_supported)
    def is_supported_within(ndim, source, target):
        return client_of(source) is client_of(target) and is_supported(ndim, source, target)

    dispatch._is_supported_cross_host_transfer = is_supported_within


def install(path):
    _transfer_within_backend()
    extension = extension_of(path)
    if extension is None:
        return
    # What is registered last is called first: this comes before JAX's, which was registered when
    # jax.distributed was initialized, before there were devices.
    atexit.register(lambda: extension.leaving(getattr(sys, "last_value", None) is not None))
