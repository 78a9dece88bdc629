"""Hamiltonian Monte Carlo: the posterior of a regression, eight chains over the devices."""
import jax
import jax.numpy as jnp
from jax import lax, random

ROWS, WIDTH, CHAINS, DRAWS, LEAPS, SIZE = 64, 3, 8, 30, 8, 0.08


def energy(w, x, y):
    return jnp.sum(jax.nn.softplus(-y * (x @ w))) + 0.5 * jnp.sum(w**2)


def kick(w, v, x, y):
    return v - SIZE / 2 * jax.grad(energy)(w, x, y)


def leap(_, state, x, y):
    w, v = state
    v = kick(w, v, x, y)
    w = w + SIZE * v
    return w, kick(w, v, x, y)


def total(w, v, x, y):
    return energy(w, x, y) + 0.5 * jnp.sum(v**2)


def draw(w, key, x, y):
    k1, k2 = random.split(key)
    v = random.normal(k1, w.shape)
    new, u = lax.fori_loop(0, LEAPS, lambda i, s: leap(i, s, x, y), (w, v))
    accept = jnp.log(random.uniform(k2)) < total(w, v, x, y) - total(new, u, x, y)
    w = jnp.where(accept, new, w)
    return w, (w, accept)


def chain(key, x, y):
    keys = random.split(key, DRAWS)
    return lax.scan(lambda w, k: draw(w, k, x, y), jnp.zeros(WIDTH), keys)[1]


k = random.split(random.key(2), 4)
x = random.normal(k[0], (ROWS, WIDTH))
y = jnp.sign(x @ random.normal(k[3], (WIDTH,)) + random.normal(k[1], (ROWS,)))
keys = random.split(k[2], CHAINS).reshape(jax.device_count(), -1)
chains = jax.pmap(jax.vmap(chain, (0, None, None)), in_axes=(0, None, None))
w, accept = chains(keys, x, y)
print(f"accepted {accept.mean():.4f}")
print(w.reshape(-1, WIDTH).mean(0))
print(w.reshape(-1, WIDTH).std(0))
