"""jax.debug.inspect_array_sharding and visualize_array_sharding inside jit.

JAX puts the addresses of a C function and of its data into the program and has the compiler call there,
which no compiler should do for a program that it did not see being made.  Ours names a function that this
process has registered, as callbacks.py does; the engine calls it with the sharding while it compiles.
"""
import warnings

import numpy as np

from jax_tutti import callbacks


def _sharding_of(serialized):
    from jax._src.lib import xla_client

    proto = xla_client.OpSharding()
    if serialized:
        proto.ParseFromString(serialized)
    else:
        proto.type = xla_client.OpSharding.Type.REPLICATED
    return xla_client.HloSharding.from_proto(proto)


def _where(context):
    """The devices of the program that is lowered, and its mesh; the latter may be empty."""
    from jax._src import mesh as meshes

    mesh = getattr(context, "mesh", None)
    if mesh is not None:  # inside shard_map
        return mesh.devices.flatten(), mesh
    devices, named = np.array(context.device_assignment), context.abstract_mesh
    if named is None:
        return devices, meshes.thread_resources.env.physical_mesh
    return devices, meshes.Mesh(devices.reshape(named.axis_sizes), named.axis_names)


def _for_user(sharding, devices, mesh):
    """What JAX hands to the function that asked."""
    import jax
    from jax._src import sharding_impls

    if mesh.empty:
        return sharding_impls.GSPMDSharding(tuple(devices), sharding)
    spec = jax.sharding.PartitionSpec()
    if not sharding.is_manual():
        spec = sharding_impls.parse_flatten_op_sharding(sharding, mesh)[0]
    return jax.sharding.NamedSharding(mesh, spec)


def install(path, platform):
    extension = callbacks.extension_of(path)
    try:
        from jax._src import debugging
        from jax._src.interpreters import mlir

        primitive = debugging.inspect_sharding_p
    except (ImportError, AttributeError) as error:
        warnings.warn(f"jax_tutti: no inspect_array_sharding inside jit with this JAX: {error}")
        return

    def lower(ctx, value, *, callback):
        devices, mesh = _where(ctx.module_context.axis_context)

        def look(serialized):
            callback(_for_user(_sharding_of(serialized), devices, mesh))

        if len(devices) == 1:
            look(b"")
            return []
        name = callbacks.register_look(extension, ctx, look)
        mlir.custom_call(name, result_types=[], operands=[value], has_side_effect=True)
        return []

    if extension is not None:
        mlir.register_lowering(primitive, lower, platform=platform)
