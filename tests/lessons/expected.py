"""What the lessons must print: the same programs, written in Python and played by JAX's own CPU
backend (only the names of our devices are ours).  Writes NAME.txt beside this file:

    python tests/lessons/expected.py
"""
import contextlib
import io
import os
import sys

os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=64"
os.environ["JAX_PLATFORMS"] = "cpu"
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "examples"))

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import Mesh, PartitionSpec as P

import program


def pmap(f, n, **options):
    return jax.pmap(f, devices=jax.devices()[:n], **options)


def show(x):
    print(np.asarray(x))


def words(x):
    return f"f32[{','.join(map(str, x.shape))}]"


def devices(n):
    print(f"{n} devices")
    for i in range(n):
        print(f"CpuDevice(id={i})")
    x = jnp.arange(8.0).reshape(4, 2)
    print(words(x))
    show(x)


def pmap_lesson(n):
    x = jnp.arange(2 * n).reshape(n, 2)
    show(pmap(lambda x: x**2 + jnp.sin(x), n)(x))


def shapes(n):
    def square(row):
        print(f"traced once, with a row: {words(row)}")
        return row * row

    x = jnp.arange(4.0 * n).reshape(n, 4)
    y = pmap(square, n)(x)
    print(f"x: {words(x)}\ny: {words(y)}")
    show(y)
    print("each device's share of the sum:")
    show(pmap(lambda row: row / lax.psum(row, "devices"), n, axis_name="devices")(x + 1))


def loss(p, x, y):
    return jnp.mean((x @ p[0] + p[1] - y) ** 2)


def step_alone(p, x, y):
    value, grad = jax.value_and_grad(loss)(p, x, y)
    return jax.tree.map(lambda p, g: p - 0.1 * g, p, grad), value


def step_together(p, x, y):
    value, grad = lax.pmean(jax.value_and_grad(loss)(p, x, y), "batch")
    return jax.tree.map(lambda p, g: p - 0.1 * g, p, grad), value


def training(step, p, x, y):
    for i in range(61):
        p, losses = step(p, x, y)
        if i % 20 == 0:
            print(f"    step {i:2d}  loss {jnp.mean(losses):.5f}")
    return p


def train(n):
    key = jax.random.PRNGKey(0)
    key, mine = jax.random.split(key)
    x = jax.random.normal(mine, (n, 128 // n, 2))
    key, mine = jax.random.split(key)
    noise = jax.random.normal(mine, (n, 128 // n, 1))
    y = x @ jnp.array([[2.0], [-3.0]]) + 1 + 0.1 * noise
    print("each for itself:")
    w, b = training(pmap(step_alone, n), (jnp.zeros((n, 2, 1)), jnp.zeros((n, 1))), x, y)
    for i in range(n):
        print(f"    device {i} has w {w[i, 0, 0]:.5f} {w[i, 1, 0]:.5f}, b {b[i, 0]:.5f}")
    print("all together:")
    step = pmap(step_together, n, axis_name="batch", in_axes=(None, 0, 0), out_axes=None)
    w, b = training(step, (jnp.zeros((2, 1)), jnp.zeros(1)), x, y)
    print(f"    all have w {w[0, 0]:.5f} {w[1, 0]:.5f}, b {b[0]:.5f}")


def length(v):
    return jnp.sqrt(jnp.sum(v * v))


def above_mean(x):
    return x - lax.pmean(x, "rows")


def vmap(n):
    rows = jnp.arange(3.0 * n).reshape(n, 3)
    print("vmap, pmap:")
    show(jax.vmap(length)(rows))
    show(pmap(length, n)(rows))
    print("two vectors for each device:")
    show(pmap(jax.vmap(length), n)(jnp.arange(6.0 * n).reshape(n, 2, 3)))
    print("the gradient at every row, which is its direction:")
    show(jax.vmap(jax.grad(length))(rows + 1))
    print("a collective works along both:")
    show(jax.vmap(above_mean, axis_name="rows")(rows))
    show(pmap(above_mean, n, axis_name="rows")(rows))


def data(n):
    whole = jax.random.normal(jax.random.PRNGKey(0), (128, 784))
    parts = whole.reshape(n, 128 // n, 784)
    print(f"{words(whole)} -> {words(parts)}")
    print("how the last example begins:")
    show(parts[n - 1, -1, :5])
    means = lambda part: (jnp.mean(part), lax.pmean(jnp.mean(part), "devices"))
    mine, ours = pmap(means, n, axis_name="devices")(parts)
    for i in range(n):
        print(f"device {i}: mean {mine[i]:.5f}, of all {ours[i]:.5f}")


def mesh(n):
    columns = 1 if n % 2 else 2
    grid = Mesh(np.array(jax.devices()[:n]).reshape(n // columns, columns), ("x", "y"))
    line = "+-------" * columns + "+"
    print(line)
    for i in range(0, n, columns):
        print("".join(f"| {d:<6}" for d in range(i, i + columns)) + "|")
        print(line)
    a, b = jnp.arange(32.0).reshape(8, 4), jnp.arange(12.0).reshape(4, 3)
    product = jax.shard_map(lambda a, b: lax.psum(a @ b, "y"), mesh=grid,
                            in_specs=(P("x", "y"), P("y", None)), out_specs=P("x", None))
    print("by hand:")
    show(product(a, b))
    print("and without saying how:")
    show(jax.jit(jnp.matmul)(a, b))


def run_file(n):
    print("the energy of one vector, and its gradient:")
    show(program.energy(jnp.ones(3)))
    show(jax.grad(program.energy)(jnp.ones(3)))
    rows = jnp.arange(3.0 * n).reshape(n, 3) / (3 * n)
    print("of a row for each device:")
    show(pmap(program.energy, n)(rows))
    print("the gradients:")
    show(jax.vmap(jax.grad(program.energy))(rows))


def kmeans(n):
    k, count = 3, 192
    truth = jnp.array([[0, 0], [4, 1], [2, 5]], jnp.float32)
    points = truth[jnp.arange(count) % k] + jax.random.normal(jax.random.PRNGKey(0), (count, 2))

    def move(state, points):
        middles, _, turns = state
        gap = points[:, None] - middles[None]
        belongs = jax.nn.one_hot(jnp.argmin(jnp.sum(gap**2, 2), 1), k)
        sums, counts = lax.psum((belongs.T @ points, belongs.sum(0)), "devices")
        new = sums / counts[:, None]
        return new, jnp.max(jnp.abs(new - middles)), turns + 1

    def find_middles(points, first):
        start = first, jnp.float32(1), jnp.int32(0)
        return lax.while_loop(lambda s: s[1] > 1e-4, lambda s: move(s, points), start)

    f = pmap(find_middles, n, axis_name="devices", in_axes=(0, None), out_axes=None)
    middles, _, turns = f(points.reshape(n, -1, 2), points[:k])
    print(f"after {turns} turns the middles are")
    for x, y in middles:
        print(f"    {x:.4f} {y:.4f}")


def images(n):
    count, side, kernels = 128, 8, 4

    def scores(net, x):
        edges = jax.nn.relu(lax.conv_general_dilated(
            x, net[0], (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")))
        tiles = edges.reshape(-1, 2, side // 2, 2, side // 2, kernels)
        return jnp.max(tiles, (2, 4)).reshape(-1, 4 * kernels) @ net[1] + net[2]

    def loss(net, x, y):
        return -jnp.mean(jnp.sum(jax.nn.one_hot(y, 2) * jax.nn.log_softmax(scores(net, x)), 1))

    def step(net, x, y):
        value, grad = lax.pmean(jax.value_and_grad(loss)(net, x, y), "batch")
        return [p - 0.2 * g for p, g in zip(net, grad)], value

    key = jax.random.PRNGKey(0)
    normal = []
    for shape in [(count, side, side), (3, 3, 1, kernels), (4 * kernels, 2)]:
        key, sub = jax.random.split(key)
        normal.append(jax.random.normal(sub, shape))
    labels, stripe = jnp.arange(count) % 2, jnp.arange(side) % 2
    x = jnp.where(labels[:, None, None] != 0, stripe[None, :, None], stripe[None, None, :]) + normal[0]
    x = x[..., None]
    net = [0.3 * normal[1], 0.3 * normal[2], jnp.zeros(2)]
    train = pmap(step, n, axis_name="batch", in_axes=(None, 0, 0), out_axes=None)
    for i in range(61):
        net, value = train(net, x.reshape(n, -1, side, side, 1), labels.reshape(n, -1))
        if i % 20 == 0:
            print(f"step {i:2d}  loss {value:.4f}")
    right = jnp.argmax(scores(net, x), 1) == labels
    print(f"{right.sum()} of {count} are right")


LESSONS = {"01_devices": devices, "02_pmap": pmap_lesson, "03_shapes": shapes, "04_train": train,
           "05_vmap": vmap, "06_data": data, "07_mesh": mesh, "08_run_file": run_file,
           "09_kmeans": kmeans, "10_images": images}

for name, lesson in LESSONS.items():
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        for n in (1, 2, 4, 8) if name == "07_mesh" else (1, 2, 4, 8, 64):  # 8 rows to cut there
            print(f"## TUTTI_DEVICES={n}")
            lesson(n)
    with open(os.path.join(HERE, name + ".txt"), "w") as file:
        file.write(out.getvalue())
