"""k-means whose first centres are drawn far from one another, the points cut over the devices."""
import jax
import jax.numpy as jnp
from jax import lax, random

POINTS, CENTRES, STEPS = 256, 5, 10


def far(x, c):
    return jnp.sum((x[:, None] - c) ** 2, -1)


def start(key, x):
    c = jnp.broadcast_to(x[0], (CENTRES, 2))
    for i in range(1, CENTRES):
        near = far(x, c).min(1)
        c = c.at[i].set(x[random.categorical(random.fold_in(key, i), jnp.log(near))])
    return c


def step(c, x):
    d = far(x, c)
    mine = jax.nn.one_hot(d.argmin(1), CENTRES)
    sums, counts, cost = lax.psum((mine.T @ x, mine.sum(0), d.min(1).sum()), "points")
    return sums / jnp.maximum(counts, 1)[:, None], cost


k = random.split(random.key(6), 3)
x = 3 * random.normal(k[0], (CENTRES, 2))[jnp.arange(POINTS) % CENTRES]
x += random.normal(k[1], (POINTS, 2))
c = start(k[2], x)
x = x.reshape(jax.device_count(), -1, 2)
move = jax.pmap(step, axis_name="points", in_axes=(None, 0), out_axes=None)
for i in range(STEPS):
    c, cost = move(c, x)
    print(f"step {i} cost {cost:.3f}")
print(c[jnp.argsort(c[:, 0])])
