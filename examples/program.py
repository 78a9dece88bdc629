"""Makes program.mlir, which lesson 8 runs from C: a function of JAX, exported as StableHLO."""
import os

import jax
import jax.numpy as jnp
from jax import export

w = jnp.array([[0.5, -1.0, 0.25], [0.75, 0.5, -0.5]])


def energy(x):
    """A number for a vector of three."""
    return jnp.sum(jnp.tanh(w @ x) ** 2) + 0.5 * jnp.sum(x * x)


if __name__ == "__main__":
    exported = export.export(jax.jit(energy))(jax.ShapeDtypeStruct((3,), jnp.float32))
    folder = os.path.dirname(os.path.abspath(__file__))
    with open(os.path.join(folder, "program.mlir"), "w") as file:
        file.write(exported.mlir_module().replace(folder + "/", ""))
