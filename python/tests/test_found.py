"""What random programs found to be wrong, each as small as it gets."""
import jax
import jax.numpy as jnp
import numpy as np
import pytest
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


@pytest.mark.parametrize("shape, axis", [((30001,), 0), ((2, 3000), 1), ((3000, 5), 0), ((7, 2, 9), 1)])
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("f, exact", [(lax.cumsum, np.cumsum), (lax.cumprod, np.cumprod)])
def test_running_sums_of_complex_numbers(f, exact, reverse, shape, axis):
    """In one pass and in blocks, as those of real numbers: window by window they took n^2 steps,
    and 30001 numbers were 30 times further off than XLA's."""
    rng = np.random.default_rng(5)
    if f is lax.cumsum:
        x = rng.normal(size=shape) + 1j * rng.normal(size=shape)
    else:
        x = np.exp(1j * rng.normal(size=shape))
    x = x.astype(np.complex64)
    got = np.asarray(jax.jit(lambda x: f(x, axis=axis, reverse=reverse))(
        jax.device_put(x, jax.devices("tutti")[0])))
    wide = np.flip(x, axis).astype(np.complex128) if reverse else x.astype(np.complex128)
    want = exact(wide, axis=axis)
    want = np.flip(want, axis) if reverse else want
    steps = np.sqrt(shape[axis]) if f is lax.cumprod else 4
    assert np.abs(got - want).max() <= steps * 2.0**-22 * np.abs(want).max()


def test_folding_sees_denormals_as_compiled_code_does():
    """An operation on constants gives what it gives on arguments: a denormal is taken for zero."""
    x = np.array([1e-40, -1e-40, 1e-30], np.float32)
    on = jax.devices("tutti")[0]
    played = jax.jit(jnp.sign)(jax.device_put(x, on))
    with jax.default_device(on):
        folded = jax.jit(lambda: jnp.sign(jnp.asarray(x)))()
    np.testing.assert_array_equal(np.asarray(folded), np.asarray(played))
    np.testing.assert_array_equal(np.asarray(played), [0, 0, 1])
