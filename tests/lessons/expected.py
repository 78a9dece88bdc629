"""What the lessons must print: the same programs, written in Python and played by JAX's own CPU
backend (only the names of our devices are ours).  Writes NAME.txt beside this file:

    python tests/lessons/expected.py [NAME ...]
"""
import contextlib
import io
import os
import re
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
    print(f"f32[8,4], on each device f32[{8 // (n // columns)},{4 // columns}]")
    print(line)
    for i in range(0, n, columns):
        print("".join(f"| {d:<6}" for d in range(i, i + columns)) + "|")
        print(line)
    if n > 1:
        spec = ", ".join(f'"{name}"' if size > 1 else "NULL" for name, size in grid.shape.items())
        print(f'mesh x = {grid.shape["x"]}, y = {grid.shape["y"]}; spec ({spec})')
        print("       " + "  ".join(f"y = {c}" for c in range(columns)))
        for r, row in enumerate(grid.devices):
            print(f"x = {r}  " + "      ".join(str(d.id) for d in row))
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


def gpt(n):
    chars, width, heads, layers, length, batch, steps = 128, 32, 4, 2, 24, 64, 60

    def norm(p, x):
        mean = x.mean(-1, keepdims=True)
        return (x - mean) * lax.rsqrt(((x - mean) ** 2).mean(-1, keepdims=True) + 1e-5) * p["scale"] + p["shift"]

    def dense(p, x):
        return x @ p["w"] + p["b"]

    def attention(p, x):
        q, k, v = jnp.split(dense(p["qkv"], x).reshape(-1, length, 3 * heads, width // heads), 3, 2)
        return dense(p["out"], jax.nn.dot_product_attention(q, k, v, is_causal=True).reshape(-1, length, width))

    def scores(p, text):
        x = p["chars"][text] + p["places"]
        for b in p["block"]:
            x = x + attention(b, norm(b["before_attention"], x))
            x = x + dense(b["down"], jax.nn.gelu(dense(b["up"], norm(b["before_mlp"], x))))
        return norm(p["last"], x) @ p["head"]

    def loss(p, text, next):
        scored = jax.nn.log_softmax(scores(p, text))
        return -jnp.take_along_axis(scored, next[..., None], -1).mean()

    def step(net, m, v, count, text):
        value, grad = lax.pmean(jax.value_and_grad(loss)(net, text[:, :-1], text[:, 1:]), "batch")
        size = jnp.sqrt(sum((g * g).sum() for g in jax.tree.leaves(grad)))
        grad = jax.tree.map(lambda g: g * jnp.where(size < 1, 1, 1 / size), grad)
        at = (count + 1).astype(jnp.float32)
        down = 1e-3 + (1e-2 - 1e-3) * 0.5 * (1 + jnp.cos(jnp.pi * jnp.clip((at - 10) / (steps - 10), 0, 1)))
        rate = jnp.where(at < 10, 1e-2 * at / 10, down)
        count = count + 1
        m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, m, grad)
        v = jax.tree.map(lambda v, g: 0.95 * v + 0.05 * g * g, v, grad)
        net = jax.tree.map(lambda p, m, v: p - rate * (
            m / (1 - 0.9**count) / (jnp.sqrt(v / (1 - 0.95**count)) + 1e-8) + 0.01 * p), net, m, v)
        return net, m, v, count, value

    keys = [jax.random.PRNGKey(0)]

    def random_of(*shape):
        keys[0], key = jax.random.split(keys[0])
        return 0.05 * jax.random.normal(key, shape)

    def dense_of(a, b):
        return {"w": random_of(a, b), "b": jnp.zeros(b)}

    flat = {"scale": jnp.ones(width), "shift": jnp.zeros(width)}
    net = {"last": flat, "chars": random_of(chars, width), "places": random_of(length, width),
           "head": random_of(width, chars), "block": []}
    for _ in range(layers):
        net["block"].append({"before_attention": flat, "before_mlp": flat,
                             "qkv": dense_of(width, 3 * width), "out": dense_of(width, width),
                             "up": dense_of(width, 4 * width), "down": dense_of(4 * width, width)})
    with open(os.path.join(HERE, "../../examples/gpt.c")) as file:
        text = re.search(r'text\[\] =((\s*"[^"]*")*);', file.read()).group(1)
    text = "".join(re.findall(r'"([^"]*)"', text))
    all = jnp.array(list(text.encode()))
    zeros = jax.tree.map(jnp.zeros_like, net)
    state = net, zeros, zeros, jnp.int32(0)
    train = pmap(step, n, axis_name="batch", in_axes=(None, None, None, None, 0), out_axes=None)
    for i in range(steps):
        key = jax.random.fold_in(jax.random.PRNGKey(1), i)
        rows = all[jax.random.randint(key, (batch, 1), 0, len(text) - length) + jnp.arange(length + 1)]
        *state, value = train(*state, rows.reshape(n, batch // n, length + 1))
        if i % 10 == 0 or i == steps - 1:
            print(f"step {i:2d}  loss {value:.3f}")


def batch_norm(n):
    side, kernels, count = 8, 8, 64

    def edges(p, x):
        return lax.conv_general_dilated(x, p["kernels"], (1, 1), "SAME",
                                        dimension_numbers=("NHWC", "HWIO", "NHWC"))

    def scores(p, mean, var, h):
        y = jax.nn.relu((h - mean) * lax.rsqrt(var + 1e-5) * p["scale"] + p["shift"])
        pooled = lax.reduce_window(y, -jnp.inf, lax.max, (1, 4, 4, 1), (1, 4, 4, 1), "VALID")
        return pooled.reshape(-1, 4 * kernels) @ p["w"] + p["b"]

    def loss(p, x, labels):
        h = edges(p, x)
        mean, square = lax.pmean((h.mean((0, 1, 2)), (h * h).mean((0, 1, 2))), "batch")
        var = square - mean**2
        chosen = jnp.take_along_axis(jax.nn.log_softmax(scores(p, mean, var, h)), labels[:, None], 1)
        return -chosen.mean(), (mean, var)

    def step(p, running, x, labels):
        (value, stats), grad = jax.value_and_grad(loss, has_aux=True)(p, x, labels)
        running = jax.tree.map(lambda old, new: 0.9 * old + 0.1 * new, running, stats)
        value, grad = lax.pmean((value, grad), "batch")
        return jax.tree.map(lambda a, g: a - 0.1 * g, p, grad), running, value

    key = jax.random.PRNGKey(0)
    normal = []
    for shape in [(count, side, side), (3, 3, 1, kernels), (4 * kernels, 2)]:
        key, sub = jax.random.split(key)
        normal.append(jax.random.normal(sub, shape))
    net = {"kernels": 0.3 * normal[1], "scale": jnp.ones(kernels), "shift": jnp.zeros(kernels),
           "w": 0.3 * normal[2], "b": jnp.zeros(2)}
    running = jnp.zeros(kernels), jnp.ones(kernels)
    labels, stripe = jnp.arange(count) % 2, jnp.arange(float(side)) % 2
    x = jnp.where((labels == 1)[:, None, None], stripe[:, None], stripe) + normal[0]
    x = x[..., None]
    train = pmap(step, n, axis_name="batch", in_axes=(None, None, 0, 0), out_axes=None)
    for i in range(41):
        net, running, value = train(net, running, x.reshape(n, -1, side, side, 1), labels.reshape(n, -1))
        if i % 10 == 0:
            print(f"step {i:2d}  loss {value:.4f}")
    right = jnp.argmax(scores(net, *running, edges(net, x)), 1) == labels
    print(f"{right.sum()} of {count} are right")


def parallel(n):
    parts, batch, width, inner = 4, 8, 16, 32
    stages = 1 if n < 2 else 2
    mesh = Mesh(np.array(jax.devices()[:n]).reshape(stages, n // stages), ("stage", "model"))

    def loss(p, x, y):
        stage, w1, w2 = lax.axis_index("stage"), p[0][0], p[1][0]
        handed, total = jnp.zeros((batch, width)), 0.0
        for turn in range(parts + stages - 1):
            before = jnp.where(stage == 0, x[turn], handed) if turn < parts else handed
            after = before + lax.psum(jnp.tanh(before @ w1) @ w2, "model")
            done = turn - (stages - 1)
            if done >= 0:
                total += jnp.where(stage == stages - 1, ((after - y[done]) ** 2).sum(), 0)
            handed = lax.ppermute(after, "stage", [(i, (i + 1) % stages) for i in range(stages)])
        return lax.psum(total, "stage") / (parts * batch)

    specs = (P("stage", None, "model"), P("stage", "model")), P(), P()
    mapped = jax.jit(jax.value_and_grad(jax.shard_map(loss, mesh=mesh, in_specs=specs, out_specs=P())))
    key = jax.random.PRNGKey(0)
    normal = []
    for shape in [(parts, batch, width), (stages, width, inner), (stages, inner, width)]:
        key, sub = jax.random.split(key)
        normal.append(jax.random.normal(sub, shape))
    x, net = normal[0], (0.2 * normal[1], 0.2 * normal[2])
    for i in range(41):
        value, grad = mapped(net, x, jnp.sin(2 * x))
        if i % 10 == 0:
            print(f"step {i:2d}  loss {value:.3f}")
        net = jax.tree.map(lambda a, g: a - 0.02 * g, net, grad)


def hosts(n):
    rows = np.arange(64)
    x = np.stack([rows % 8 / 8, rows * 5 % 16 / 16], 1).astype(np.float32)
    y = (2 * x[:, :1] - 3 * x[:, 1:] + 1).astype(np.float32)
    mesh = Mesh(np.array(jax.devices()[:n]), ("d",))

    def loss(p, x, y):
        return lax.pmean(jnp.mean((x @ p[0] + p[1] - y) ** 2), "d")

    both = jax.jit(jax.value_and_grad(jax.shard_map(loss, mesh=mesh, in_specs=(P(), P("d"), P("d")),
                                                    out_specs=P())))
    print(f"{n} devices have x: {words(x)}")
    p = jnp.zeros((2, 1)), jnp.zeros(1)
    for i in range(41):
        value, grad = both(p, x, y)
        if i % 10 == 0:
            print(f"step {i:2d}  loss {value:.4f}")
        p = jax.tree.map(lambda a, g: a - 0.2 * g, p, grad)
    print(f"w {p[0][0, 0]:.4f} {p[0][1, 0]:.4f}, b {p[1][0]:.4f}")


LESSONS = {"01_devices": devices, "02_pmap": pmap_lesson, "03_shapes": shapes, "04_train": train,
           "05_vmap": vmap, "06_data": data, "07_mesh": mesh, "08_run_file": run_file,
           "09_kmeans": kmeans, "10_images": images, "11_hosts": hosts, "gpt": gpt,
           "batch_norm": batch_norm, "parallel": parallel}
FEW = {"07_mesh": (1, 2, 4, 8), "gpt": (1, 4), "batch_norm": (1, 4), "parallel": (1, 4, 8)}  # 8 rows to cut there; large programs

for name in sys.argv[1:] or LESSONS:
    lesson = LESSONS[name]
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        for n in FEW.get(name, (1, 2, 4, 8, 64)):
            print(f"## TUTTI_DEVICES={n}")
            lesson(n)
    with open(os.path.join(HERE, name + ".txt"), "w") as file:
        file.write(out.getvalue())
