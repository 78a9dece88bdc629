"""What random programs found to be wrong, each as small as it gets."""
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax


def test_slices_that_stick_out_have_no_gradient():
    """Of two rows each from 0, 1, 2, -1 and 3 on in an array of three, the last three are filled.
    Starts and cotangents are constants: what is folded must be what is compiled."""
    starts = np.array([[0], [1], [2], [-1], [3]], np.int32)
    numbers = lax.GatherDimensionNumbers(offset_dims=(1,), collapsed_slice_dims=(),
                                         start_index_map=(0,))

    def total(x):
        return jnp.sum(lax.gather(x, starts, numbers, (2,), mode="fill"))

    x = jax.device_put(np.array([1, 2, 3], np.float32), jax.devices("tutti")[0])
    for of in (total, lambda x: total(jnp.sin(x) + x - jnp.sin(x))):
        got = jax.jit(jax.grad(of))(x)
        np.testing.assert_allclose(got, [1, 2, 1], rtol=1e-6)
