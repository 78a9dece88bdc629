"""What follows from positions alone (iotas, random bits, masks) is made by each device for its own shard."""
import textwrap

PROGRAM = textwrap.dedent("""
    import jax, jax.numpy as jnp, numpy as np
    from jax.sharding import AxisType, NamedSharding, PartitionSpec as P
    mesh = jax.make_mesh((4, 2), ("x", "y"), axis_types=(AxisType.Auto,) * 2)

    def bits(x):
        return jax.random.bits(jax.random.key(7), x.shape, "uint32") + x

    def mask(x):
        row, column = (jax.lax.broadcasted_iota(jnp.int32, x.shape, d) for d in (0, 1))
        return jnp.where(row >= column, x, 2 * x)

    def count(kind):
        return lambda x: jax.lax.broadcasted_iota(kind, x.shape, 0) + x.astype(kind)

    functions = [bits, mask] + [count(k) for k in (jnp.bfloat16, jnp.float32, jnp.int8, jnp.complex64)]
    for shape in (16, 4), (1000, 6):
        x = np.arange(np.prod(shape), dtype=np.uint32).reshape(shape)
        for spec in P("x", "y"), P("x", None), P(None, "y"), P(("x", "y"), None):
            if shape[0] % 8:
                continue
            cut = NamedSharding(mesh, spec)
            for f in functions:
                f = jax.jit(f, in_shardings=cut, out_shardings=cut).lower(x).compile()
                whole = "[{},{}]".format(*shape)
                assert whole not in f.as_text(), (spec, f.as_text())
            for f in functions:
                want = jax.jit(f)(x)
                assert (jax.jit(f, in_shardings=cut, out_shardings=cut)(x) == want).all(), (spec, f)
    print("well")
""")


def test_positions(python):
    assert python(["-c", PROGRAM], "tutti", devices=8) == "well\n"
