"""Eight layers as a pipeline over the devices: micro-batches move on by one device a turn, gradients come back."""
import jax
import jax.numpy as jnp
from jax import lax, random
from jax.sharding import Mesh, PartitionSpec as P

LAYERS, WIDTH, PARTS, ROWS, STEPS = 8, 8, 6, 4, 31


def loss(w, xs, ys):
    stage, n = lax.axis_index("s"), lax.axis_size("s")

    def turn(handed, x):
        x = jnp.where(stage == 0, x, handed)
        for layer in w:
            x = jnp.tanh(x @ layer)
        return lax.ppermute(x, "s", [(i, (i + 1) % n) for i in range(n)]), x

    nothing = lax.pcast(jnp.zeros((ROWS, WIDTH)), "s", to="varying")
    xs = jnp.concatenate([xs, jnp.zeros((n - 1, ROWS, WIDTH))])
    out = lax.scan(turn, nothing, xs)[1][n - 1 :]
    return lax.psum(jnp.where(stage == n - 1, jnp.mean((out - ys) ** 2), 0), "s")


def step(w, xs, ys):
    value, grad = jax.value_and_grad(loss)(w, xs, ys)
    return w - 0.5 * grad, value


mesh = Mesh(jax.devices(), ("s",))
k = random.split(random.key(9), 2)
w = random.normal(k[0], (LAYERS, WIDTH, WIDTH)) / WIDTH**0.5
xs = random.normal(k[1], (PARTS, ROWS, WIDTH))
ys = 0.5 * jnp.sin(xs)
train = jax.jit(jax.shard_map(step, mesh=mesh, in_specs=(P("s"), P(), P()), out_specs=(P("s"), P())))
for i in range(STEPS):
    w, value = train(w, xs, ys)
    if i % 10 == 0:
        print(f"step {i} loss {value:.5f}")
