"""The lesson in JAX: one program, every device plays it at once on its own slice.

Run it on Tutti's engine, or on JAX's own by JAX_PLATFORMS=cpu:

    JAX_PLATFORMS=tutti XLA_FLAGS=--xla_force_host_platform_device_count=4 python lesson.py
"""
import jax
import jax.numpy as jnp

print("devices:", jax.devices())
n = jax.device_count()

# A map over devices: the leading axis is the device axis, going in and coming out.
x = jnp.arange(2 * n).reshape(n, 2)
y = jax.pmap(lambda x: x**2 + jnp.sin(x))(x)
print("x ** 2 + sin(x):", y.shape, y.dtype)
print(y)

square = jax.pmap(lambda x: x**2)
x = jnp.arange(n * 4).reshape(n, 4)
print("square:", x.shape, "->", square(x).shape)
print(square(x))


# A training step: every device has its part of the batch and the same parameters.
def loss(w, x, y):
    return jnp.mean((x @ w - y) ** 2)


def step_alone(w, x, y):
    value, grad = jax.value_and_grad(loss)(w, x, y)
    return w - 0.01 * grad, value


def step_together(w, x, y):
    value, grad = jax.value_and_grad(loss)(w, x, y)
    grad = jax.lax.pmean(grad, "batch")
    return w - 0.01 * grad, jax.lax.pmean(value, "batch")


data = jax.random.normal(jax.random.PRNGKey(0), (128, 784)).reshape(n, 128 // n, 784)
print("random data, cut:", data.shape)
target = data.sum(axis=2) * 0.1
w = jnp.zeros(784)
for name, step in [("alone", step_alone), ("together", step_together)]:
    moved, losses = jax.pmap(step, axis_name="batch", in_axes=(None, 0, 0))(w, data, target)
    drift = float(jnp.abs(moved - moved[0]).max())
    print(f"step {name}: parameters {moved.shape}, losses {losses.shape}, the replicas are",
          "equal" if drift == 0 else "different")
