"""Waves that steepen and wear off (Burgers), by Fourier transforms; how the energy depends on the viscosity."""
import jax
import jax.numpy as jnp
from jax import lax

POINTS, WAVES, STEPS, DT = 64, 8, 100, 0.01

k = 1j * jnp.fft.rfftfreq(POINTS, 1 / POINTS)


def rate(u, nu):
    f = jnp.fft.rfft(u)
    slope, bend = jnp.fft.irfft(k * f), jnp.fft.irfft(k**2 * f)
    return nu * bend - u * slope


def step(_, u, nu):
    half = u + DT / 2 * rate(u, nu)
    return u + DT * rate(half, nu)


def energy(nu, u):
    u = lax.fori_loop(0, STEPS, lambda i, u: step(i, u, nu), u)
    return jnp.mean(u**2)


x = 2 * jnp.pi * jnp.arange(POINTS) / POINTS
u = jnp.sin(x + jnp.arange(WAVES)[:, None]) + 0.1 * jnp.cos(3 * x)
u = u.reshape(jax.device_count(), -1, POINTS)
waves = jax.pmap(jax.vmap(jax.value_and_grad(energy), (None, 0)), in_axes=(None, 0))
value, slope = waves(0.1, u)
print(value)
print(slope)
