"""Arrays that do not lie row-major (jax.experimental.layout), and arrays in the memory of the host."""
import textwrap

import jax
import pytest

PROGRAMS = {
    "orders": ("""
        import itertools
        a = np.arange(24.0, dtype=np.float32).reshape(2, 3, 4)
        for order in itertools.permutations(range(3)):
            x = jax.device_put(a, Format(Layout(order), on))
            assert x.format.layout.major_to_minor == order
            for y, want in (x, a), (x[1], a[1]), (jnp.sin(x), np.sin(a)), (jax.device_put(x, on), a):
                np.testing.assert_allclose(np.asarray(y), want, rtol=1e-6)
            there = jax.device_put(x, jax.devices()[1])
            assert (np.asarray(there) == a).all() and there.format.layout.major_to_minor == order
        print("well")
    """, "well\n"),
    "compiled": ("""
        columns = Format(Layout((1, 0)), on)
        a = np.arange(6.0, dtype=np.float32).reshape(2, 3)
        f = jax.jit(lambda x, y: (x @ y, x + y.T), in_shardings=(columns, on),
                    out_shardings=(columns, columns))
        x, y = f(jax.device_put(a, columns), a.T)
        assert (np.asarray(x) == a @ a.T).all() and (np.asarray(y) == 2 * a).all()
        print(x.format == columns or x.format.layout.major_to_minor, np.asarray(y).strides)
        g = jax.jit(lambda x: x + 1, in_shardings=columns, out_shardings=columns, donate_argnums=0)
        x = jax.device_put(a, columns)
        print(np.asarray(g(x)).tolist(), x.is_deleted())
    """, "(1, 0) (4, 8)\n[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]] True\n"),
    "left to the engine": ("""
        auto = Format(Layout.AUTO)
        a = np.arange(6.0, dtype=np.float32).reshape(2, 3)
        f = jax.jit(lambda x: x.T, in_shardings=auto, out_shardings=auto).lower(a).compile()
        y = f(a)
        print(f.input_formats[0][0].layout.major_to_minor, f.output_formats.layout.major_to_minor)
        print((np.asarray(y) == a.T).all(), f.output_formats.layout == y.format.layout)
    """, "(0, 1) (1, 0)\nTrue True\n"),
    "cut over devices": ("""
        mesh = jax.make_mesh((2, 2), ("x", "y"), axis_types=(jax.sharding.AxisType.Auto,) * 2)
        cut = NamedSharding(mesh, P("x", "y"))
        a = np.arange(32.0, dtype=np.float32).reshape(4, 8)
        x = jax.device_put(a, Format(Layout((1, 0)), cut))
        y = jax.jit(lambda x: jnp.cumsum(x, 0) + x.sum())(x)
        np.testing.assert_allclose(np.asarray(y), np.cumsum(a, 0) + a.sum())
        print(x.format.layout.major_to_minor, [s.data.shape for s in x.addressable_shards])
    """, "(1, 0) [(2, 4), (2, 4), (2, 4), (2, 4)]\n"),
    "wrong": ("""
        try:
            jax.jit(lambda x: x, out_shardings=Format(Layout((0, 1), ((2, 2),)), on))(np.ones((2, 2)))
        except RuntimeError as error:
            print(str(error).splitlines()[0])
    """, "UNIMPLEMENTED: result 0 of @main: not supported: the layout {1,0:T(2,2)}; dimensions may lie in "
     "any order, without tiles\n"),
    "memories": ("""
        kinds = "device", "pinned_host", "unpinned_host"
        device = jax.devices()[1]
        print([m.kind for m in device.addressable_memories()], device.default_memory().kind)
        a = np.arange(3.0, dtype=np.float32)
        for kind in kinds:
            there = SingleDeviceSharding(device, memory_kind=kind)
            x = jax.device_put(a, there)
            y = jax.jit(lambda x: x + 1)(x)
            z = jax.jit(lambda x: 2 * x, out_shardings=there)(a)
            back = jax.device_put(x, SingleDeviceSharding(jax.devices()[0]))
            print(x.sharding.memory_kind, y.sharding.memory_kind, z.sharding.memory_kind, z,
                  back.sharding.memory_kind, back)
        f = jax.jit(lambda x: jax.device_put(x, jax.memory.Space.Host) * 2)
        print(f(a).sharding.memory_kind, f(a))
    """, None),
}


HEAD = """
import jax, jax.numpy as jnp, numpy as np
from jax.experimental.layout import Format, Layout
from jax.sharding import NamedSharding, PartitionSpec as P, SingleDeviceSharding
on = SingleDeviceSharding(jax.devices()[0])
"""


@pytest.mark.parametrize("name", PROGRAMS)
def test_layouts(python, name):
    program, expected = PROGRAMS[name]
    text = HEAD + textwrap.dedent(program)
    if expected is None:
        if jax.__version_info__ < (0, 10):
            pytest.skip("this JAX's own CPU backend has no arrays in the memory of the host")
        expected = python(["-c", text], "cpu", devices=4)
    assert python(["-c", text], "tutti", devices=4) == expected
