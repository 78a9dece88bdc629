"""A perceptron cut two ways: its hidden units along "m", and what each device keeps of weights and momentum along "d"."""
import jax
import jax.numpy as jnp
import numpy as np
from jax import lax, random
from jax.sharding import Mesh, PartitionSpec as P

ROWS, WIDTH, HIDDEN, STEPS = 32, 8, 16, 51


def whole(x, axis):
    return lax.all_gather(x, "d", axis=axis, tiled=True)


def loss(p, x, y):
    h = jnp.tanh(x @ whole(p["w1"], 0))
    out = lax.psum(h @ whole(p["w2"], 1), "m") + whole(p["b"], 0)
    return lax.pmean(jnp.mean((out - y) ** 2), "d")


def step(p, m, x, y):
    value, grad = jax.value_and_grad(loss)(p, x, y)
    m = jax.tree.map(lambda m, g: 0.9 * m + g, m, grad)
    return jax.tree.map(lambda p, m: p - 0.1 * m, p, m), m, value


n = jax.device_count()
mesh = Mesh(np.reshape(jax.devices(), (min(n, 2), -1)), ("d", "m"))
cut = {"w1": P("d", "m"), "w2": P("m", "d"), "b": P("d")}
k = random.split(random.key(8), 3)
p = {
    "w1": 0.3 * random.normal(k[0], (WIDTH, HIDDEN)),
    "w2": 0.3 * random.normal(k[1], (HIDDEN, WIDTH)),
    "b": jnp.zeros(WIDTH),
}
m = jax.tree.map(jnp.zeros_like, p)
x = random.normal(k[2], (ROWS, WIDTH))
y = jnp.sin(2 * x)
train = jax.jit(
    jax.shard_map(step, mesh=mesh, in_specs=(cut, cut, P("d"), P("d")), out_specs=(cut, cut, P()))
)
for i in range(STEPS):
    p, m, value = train(p, m, x, y)
    if i % 10 == 0:
        print(f"step {i} loss {value:.5f}")
