"""What JAX draws: 10,000 numbers of each distribution, for tests/unit/random_test.c.

usage: random_cases.py > tests/front/random_cases.txt

A line is a name, the CRC-32 of the bytes, and 32 of the numbers, evenly spaced.
"""
import os
import zlib

os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import jax.numpy as jnp
import numpy as np

N = 10000
key = jax.random.PRNGKey(7)
rows = jnp.arange(N, dtype=jnp.float32)
p = (jnp.arange(100) % 7 + 1).astype(jnp.float32) / 16
alpha = (jnp.arange(N) % 13 + 1).astype(jnp.float32) / 4
logits = jnp.sin(jnp.arange(N * 5, dtype=jnp.float32)).reshape(N, 5)
r = jax.random


def slopes(draw, type):
    """d x / d a of 10,000 draws of one number each, a from 0.1 to 50."""
    with jax.enable_x64(type == np.float64):
        a = jnp.asarray((np.arange(N) % 500 + 1).astype(type) / type(10))
        return np.asarray(jax.vmap(jax.grad(draw, 1))(r.split(key, N), a))


CASES = {
    "bernoulli": r.bernoulli(key, 0.3, (N,)),
    "bernoulli_each": r.bernoulli(key, jnp.full((N,), 0.5) * (rows / N), (N,)),
    "randint": r.randint(key, (N,), -3, 97, jnp.int32),
    "randint_wide": r.randint(key, (N,), -1000000000, 1000000000, jnp.int32),
    "randint_u8": r.randint(key, (N,), 0, 200, jnp.uint8),
    "randint_u32": r.randint(key, (N,), 5, 70000, jnp.uint32),
    "categorical": r.categorical(key, logits),
    "permutation": r.permutation(key, rows),
    "permutation_rows": r.permutation(key, rows.reshape(100, 100))[:, 0],
    "choice": r.choice(key, rows, (N,)),
    "choice_once": r.choice(key, rows, (N,), replace=False),
    "choice_weighed": r.choice(key, rows[:100], (N,), p=p),
    "choice_weighed_once": r.choice(key, rows[:100], (50,), replace=False, p=p),
    "keys": r.split(key, N // 2).reshape(N),
    "gumbel": r.gumbel(key, (N,)),
    "exponential": r.exponential(key, (N,)),
    "truncated_normal": r.truncated_normal(key, -2, 1.5, (N,)),
    "laplace": r.laplace(key, (N,)),
    "logistic": r.logistic(key, (N,)),
    "cauchy": r.cauchy(key, (N,)),
    "maxwell": r.maxwell(key, (N,)),
    "rademacher": r.rademacher(key, (N,), jnp.float32),
    "orthogonal": jnp.tile(r.orthogonal(key, 10).ravel(), 100),
    "gamma": r.gamma(key, alpha, (N,)),
    "loggamma": r.loggamma(key, alpha, (N,)),
    "beta": r.beta(key, alpha, 1.5, (N,)),
    "chisquare": r.chisquare(key, alpha, (N,)),
    "student_t": r.t(key, 2 + alpha, (N,)),
    "fisher_f": r.f(key, 2 + alpha, 3.5, (N,)),
    "lognormal": r.lognormal(key, alpha, (N,)),
    "pareto": r.pareto(key, 2 + alpha, (N,)),
    "rayleigh": r.rayleigh(key, alpha, (N,)),
    "weibull": r.weibull_min(key, alpha, 1.5, (N,)),
    "poisson": r.poisson(key, 6 * alpha, (N,)),
    "binomial_few": r.binomial(key, 3 * alpha, alpha / 4, (N,)),
    "binomial": r.binomial(key, 40 * alpha, alpha / 4, (N,)),
    "binomial_odd": r.binomial(key, jnp.array([5, 5, 5, -1, jnp.inf, jnp.nan, 5]),
                               jnp.array([0, 1, -0.5, 0.5, 0.5, 0.5, jnp.nan]), (7,)),
    "generalized_normal": r.generalized_normal(key, 1.5, (N,)),
    "ball": r.ball(key, 4, 3, (N // 4,)).ravel(),
    "dirichlet": r.dirichlet(key, alpha[:5], (N // 5,)).ravel(),
    "multivariate_normal": r.multivariate_normal(key, alpha[:4], 2 * jnp.eye(4) + 1, (N // 4,)).ravel(),
    "gamma_slope": slopes(r.gamma, np.float32),
    "gamma_slope_64": slopes(lambda k, a: r.gamma(k, a, dtype=a.dtype), np.float64),
    "loggamma_slope_64": slopes(lambda k, a: r.loggamma(k, a, dtype=a.dtype), np.float64),
    "dropout": jnp.where(r.bernoulli(key, 0.75, (N,)), (rows + 1) / 0.75, 0),
}
for name, x in CASES.items():
    x = np.asarray(x)
    some = x.ravel()[:: max(1, x.size // 32 - 1)][:32]
    print(name, zlib.crc32(x.tobytes()), len(some), *[repr(float(v)) for v in some])
