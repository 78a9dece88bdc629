"""A Gaussian process: its hyperparameters by gradient descent, then what it predicts; restarts over the devices."""
import jax
import jax.numpy as jnp
from jax import random
from jax.scipy.linalg import cho_solve, solve_triangular

ROWS, RESTARTS = 24, 8


def kernel(p, a, b):
    return jnp.exp(p[0] - 0.5 * ((a[:, None] - b) * jnp.exp(-p[1])) ** 2)


def factor(p, x):
    return jnp.linalg.cholesky(kernel(p, x, x) + (jnp.exp(p[2]) + 1e-4) * jnp.eye(ROWS))


def loss(p, x, y):
    l = factor(p, x)
    return 0.5 * y @ cho_solve((l, True), y) + jnp.sum(jnp.log(jnp.diag(l)))


def fit(p, x, y):
    for _ in range(15):
        p = p - 0.02 * jax.grad(loss)(p, x, y)
    return p, loss(p, x, y)


k = random.split(random.key(4))
x = jnp.linspace(-3, 3, ROWS)
y = jnp.sin(2 * x) + 0.1 * random.normal(k[0], (ROWS,))
n = jax.device_count()
starts = 0.5 * random.normal(k[1], (n, RESTARTS // n, 3))
fits = jax.pmap(jax.vmap(fit, (0, None, None)), in_axes=(0, None, None))
p, value = fits(starts, x, y)
p = p.reshape(-1, 3)[jnp.argmin(value)]
l, cross = factor(p, x), kernel(p, x, jnp.linspace(-1, 2, 3))
v = solve_triangular(l, cross, lower=True)
print(f"loss {value.min():.4f}")
print(cross.T @ cho_solve((l, True), y))
print(jnp.exp(p[0]) - jnp.sum(v**2, 0))
