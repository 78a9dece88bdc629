"""What an already compiled call costs from Python JAX: the twin of onecall.c."""
import statistics
import time

import jax
import jax.numpy as jnp

n = jax.device_count()
g = jax.pmap(lambda x: x**2 + jnp.sin(x))
x = g(jnp.arange(2.0 * n).reshape(n, 2))
for waits in (True, False):
    times = []
    for i in range(-100, 2000):
        start = time.perf_counter()
        y = g(x)
        if waits:
            y.block_until_ready()
        times.append(time.perf_counter() - start)
        if not waits and i % 50 == 0:
            y.block_until_ready()
    print("waited" if waits else "handed over", f"{1e6 * statistics.median(times[100:]):.1f} us")
