"""What JAX draws: 10,000 numbers of each distribution, for tests/unit/random_test.c.

usage: random_cases.py > tests/front/random_cases.txt
       random_cases.py NAME...                                     those alone

A line is a name, the CRC-32 of the bytes, and 32 of the numbers, evenly spaced.
"""
import os
import sys
import zlib

os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import jax._src.random.core
import jax.numpy as jnp
import numpy as np

# XLA makes a * rsqrt(b) of a / sqrt(b), and its rsqrt is the processor's estimate, refined: on another kind of
# processor JAX's own draws of gamma are others (docs/differences.md).  Behind a barrier the quotient stays.
sqrt = jax.lax.sqrt
jax._src.random.core.lax.sqrt = lambda x, **how: jax.lax.optimization_barrier(sqrt(x, **how))

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
    "bernoulli": lambda: r.bernoulli(key, 0.3, (N,)),
    "bernoulli_each": lambda: r.bernoulli(key, jnp.full((N,), 0.5) * (rows / N), (N,)),
    "randint": lambda: r.randint(key, (N,), -3, 97, jnp.int32),
    "randint_wide": lambda: r.randint(key, (N,), -1000000000, 1000000000, jnp.int32),
    "randint_u8": lambda: r.randint(key, (N,), 0, 200, jnp.uint8),
    "randint_u32": lambda: r.randint(key, (N,), 5, 70000, jnp.uint32),
    "categorical": lambda: r.categorical(key, logits),
    "permutation": lambda: r.permutation(key, rows),
    "permutation_rows": lambda: r.permutation(key, rows.reshape(100, 100))[:, 0],
    "choice": lambda: r.choice(key, rows, (N,)),
    "choice_once": lambda: r.choice(key, rows, (N,), replace=False),
    "choice_weighed": lambda: r.choice(key, rows[:100], (N,), p=p),
    "choice_weighed_once": lambda: r.choice(key, rows[:100], (50,), replace=False, p=p),
    "keys": lambda: r.split(key, N // 2).reshape(N),
    "gumbel": lambda: r.gumbel(key, (N,)),
    "exponential": lambda: r.exponential(key, (N,)),
    "truncated_normal": lambda: r.truncated_normal(key, -2, 1.5, (N,)),
    "laplace": lambda: r.laplace(key, (N,)),
    "logistic": lambda: r.logistic(key, (N,)),
    "cauchy": lambda: r.cauchy(key, (N,)),
    "maxwell": lambda: r.maxwell(key, (N,)),
    "rademacher": lambda: r.rademacher(key, (N,), jnp.float32),
    "orthogonal": lambda: jnp.tile(r.orthogonal(key, 10).ravel(), 100),
    "gamma": lambda: r.gamma(key, alpha, (N,)),
    "gamma_large": lambda: r.gamma(key, 1 + alpha, (N,)),
    "loggamma": lambda: r.loggamma(key, alpha, (N,)),
    "beta": lambda: r.beta(key, alpha, 1.5, (N,)),
    "chisquare": lambda: r.chisquare(key, alpha, (N,)),
    "student_t": lambda: r.t(key, 2 + alpha, (N,)),
    "fisher_f": lambda: r.f(key, 2 + alpha, 3.5, (N,)),
    "lognormal": lambda: r.lognormal(key, alpha, (N,)),
    "pareto": lambda: r.pareto(key, 2 + alpha, (N,)),
    "rayleigh": lambda: r.rayleigh(key, alpha, (N,)),
    "weibull": lambda: r.weibull_min(key, alpha, 1.5, (N,)),
    "poisson": lambda: r.poisson(key, 6 * alpha, (N,)),
    "binomial_few": lambda: r.binomial(key, 3 * alpha, alpha / 4, (N,)),
    "binomial": lambda: r.binomial(key, 40 * alpha, alpha / 4, (N,)),
    "binomial_odd": lambda: r.binomial(key, jnp.array([5, 5, 5, -1, jnp.inf, jnp.nan, 5]),
                               jnp.array([0, 1, -0.5, 0.5, 0.5, 0.5, jnp.nan]), (7,)),
    "generalized_normal": lambda: r.generalized_normal(key, 1.5, (N,)),
    "ball": lambda: r.ball(key, 4, 3, (N // 4,)).ravel(),
    "dirichlet": lambda: r.dirichlet(key, alpha[:5], (N // 5,)).ravel(),
    "multivariate_normal": lambda: r.multivariate_normal(key, alpha[:4], 2 * jnp.eye(4) + 1, (N // 4,)).ravel(),
    "gamma_slope": lambda: slopes(r.gamma, np.float32),
    "gamma_slope_64": lambda: slopes(lambda k, a: r.gamma(k, a, dtype=a.dtype), np.float64),
    "loggamma_slope_64": lambda: slopes(lambda k, a: r.loggamma(k, a, dtype=a.dtype), np.float64),
    "dropout": lambda: jnp.where(r.bernoulli(key, 0.75, (N,)), (rows + 1) / 0.75, 0),
}
for name in sys.argv[1:] or CASES:
    x = np.asarray(CASES[name]())
    some = x.ravel()[:: max(1, x.size // 32 - 1)][:32]
    print(name, zlib.crc32(x.tobytes()), len(some), *[repr(float(v)) for v in some])
