"""The works that are timed, written once for every contender."""
import functools

import jax
import jax.numpy as jnp
import numpy as np


@functools.lru_cache(maxsize=2)
def fill(*shape):
    """Element i is the same number in ours.c."""
    i = np.arange(int(np.prod(shape)), dtype=np.uint64)
    scattered = (i * 2654435761 % 2**32).astype(np.uint32) >> 8
    return (scattered.astype(np.float32) / np.float32(16777216) - np.float32(0.5)).reshape(shape)


def linear_step(w, x, y):
    loss, grad = jax.value_and_grad(lambda w: jnp.mean((x @ w - y) ** 2))(w)
    return w - 0.01 * jax.lax.pmean(grad, "i"), jax.lax.pmean(loss, "i")


def mlp_loss(params, x, y):
    for w, b in params[:-1]:
        x = jax.nn.relu(x @ w + b)
    w, b = params[-1]
    return -jnp.mean(jnp.sum(jax.nn.log_softmax(x @ w + b) * y, axis=1))


def mlp_step(w1, b1, w2, b2, w3, b3, x, y):
    params = [(w1, b1), (w2, b2), (w3, b3)]
    loss, grads = jax.value_and_grad(mlp_loss)(params, x, y)
    grads, loss = jax.lax.pmean((grads, loss), "i")
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads), loss


def map_and_psum(x):
    y = x * 1.5 + 0.25
    return y, jax.lax.psum(y[0], "i")


def layer_norm(x, gain, bias):
    centred = x - x.mean(-1, keepdims=True)
    size = jnp.mean(centred * centred, -1, keepdims=True)
    return centred * jax.lax.rsqrt(size + 1e-5) * gain + bias


def convolved(x, w, layout=("NHWC", "HWIO", "NHWC")):
    return jax.lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=layout)


def convolved_by_input(slope, w):
    seen = jnp.zeros((*slope.shape[:3], w.shape[2]), slope.dtype)
    return jax.vjp(lambda x: convolved(x, w), seen)[1](slope)[0]


def convolved_by_kernel(slope, x):
    kernel = jnp.zeros((3, 3, x.shape[3], slope.shape[3]), x.dtype)
    return jax.vjp(lambda w: convolved(x, w), kernel)[1](slope)[0]


D, B = 128, 1024
IMAGE, HIDDEN, CLASSES, IMAGES = 784, 512, 10, 512
MAPPED = 16 << 20  # floats: 64 MB

# One array in, one out, on one device.
BIG = {
    "matmul512": (lambda a, b: a @ b, [(512, 512), (512, 512)]),
    "matmul1024": (lambda a, b: a @ b, [(1024, 1024), (1024, 1024)]),
    "matmul_tall": (lambda a, b: a @ b, [(8192, 64), (64, 64)]),
    "matmul_tn": (lambda a, b: a.T @ b, [(512, 784), (512, 512)]),
    "matmul_nt": (lambda a, b: a @ b.T, [(512, 512), (784, 512)]),
    "matmul_batch": (lambda a, b: a @ b, [(64, 128, 64), (64, 64, 128)]),
    "conv": (convolved, [(32, 28, 28, 32), (3, 3, 32, 64)]),
    "conv_dx": (convolved_by_input, [(32, 28, 28, 64), (3, 3, 32, 64)]),
    "conv_dw": (convolved_by_kernel, [(32, 28, 28, 64), (32, 28, 28, 32)]),
    "conv_first": (lambda x, w: convolved(x, w, ("NCHW", "OIHW", "NCHW")),
                   [(32, 32, 28, 28), (64, 32, 3, 3)]),
    "matvec": (lambda a, b: a @ b, [(4096, 4096), (4096,)]),
    "map": (lambda x: x * 1.5 + 0.25, [(4096, 1024)]),
    "exp": (lambda x: jnp.exp(x), [(1024, 1024)]),
    "tanh": (lambda x: jnp.tanh(x), [(1024, 1024)]),
    "gelu": (lambda x: jax.nn.gelu(x), [(1024, 1024)]),
    "gelu_erf": (lambda x: jax.nn.gelu(x, approximate=False), [(1024, 1024)]),
    "softmax": (lambda x: jax.nn.softmax(x), [(1024, 1024)]),
    "layernorm": (layer_norm, [(1024, 1024), (1024,), (1024,)]),
    "transpose": (lambda x: x.T.copy(), [(2048, 2048)]),
    "transpose_0213": (lambda x: x.transpose(0, 2, 1, 3).copy(), [(16, 256, 8, 64)]),
    "sum": (lambda x: jnp.sum(x), [(4096, 1024)]),
    "sum_rows": (lambda x: jnp.sum(x, axis=1), [(4096, 1024)]),
    "sum_columns": (lambda x: jnp.sum(x, axis=0), [(4096, 1024)]),
    "argmax": (lambda x: jnp.argmax(x, axis=1), [(1024, 1024)]),
    "argmax_columns": (lambda x: jnp.argmax(x, axis=0), [(1024, 1024)]),
    "cumsum": (lambda x: jnp.cumsum(x, axis=1), [(1024, 1024)]),
}


# Each is about one array; `all_reduce_4M` is all_reduce with 4 MB on each device.
COLLECTIVES = {
    "all_reduce": lambda x, n: jax.lax.psum(x, "i"),
    "all_gather": lambda x, n: jax.lax.all_gather(x, "i"),
    "reduce_scatter": lambda x, n: jax.lax.psum_scatter(x, "i", tiled=True),
    "all_to_all": lambda x, n: jax.lax.all_to_all(x, "i", 0, 0, tiled=True),
    "permute": lambda x, n: jax.lax.ppermute(x, "i", [(k, (k + 1) % n) for k in range(n)]),
    "broadcast": lambda x, n: jax.lax.pbroadcast(x, "i", 0),
    "ragged": lambda x, n: ragged(x, n),
}
SIZES = {"4K": 4 << 10, "4M": 4 << 20, "64M": 64 << 20}


def ragged(x, n, into=None):
    """Everybody sends an equal share to everybody: all_to_all, with the shares as data."""
    share = x.shape[0] // n
    starts = jnp.arange(n, dtype=jnp.int32) * share
    sizes = jnp.full(n, share, jnp.int32)
    mine = jnp.full(n, jax.lax.axis_index("i") * share, jnp.int32)
    return jax.lax.ragged_all_to_all(x, x if into is None else into, starts, sizes, mine, sizes,
                                     axis_name="i")


LOOP = "_loop"     # `all_reduce_loop_4K`: the collective again and again in one launch,
LOOP_TURNS = 10000  # so many times; run.py divides by it


def next_turn(kind, x, last, n):
    """Works on what the turn before made, where that has the shape; else (and ragged, which puts
    rows into it) on the array that all turns take, tied to it by a barrier."""
    if kind in ("all_reduce", "all_to_all", "permute", "broadcast"):
        return COLLECTIVES[kind](last, n)
    x, last = jax.lax.optimization_barrier((x, last))
    return ragged(x, n, last) if kind == "ragged" else COLLECTIVES[kind](x, n)


def in_a_loop(kind, x, n):
    turn = lambda _, carried: (carried[0], next_turn(kind, *carried, n))
    return jax.lax.fori_loop(1, LOOP_TURNS, turn, (x, COLLECTIVES[kind](x, n)))[1]


def collective(name, n, devices):
    kind, size = name.rsplit("_", 1)
    one = kind.removesuffix(LOOP)
    f = (lambda x: COLLECTIVES[one](x, n)) if one == kind else (lambda x: in_a_loop(one, x, n))
    return jax.pmap(f, axis_name="i", devices=devices), [fill(n, SIZES[size] // 4)]


def big(name, shift):
    f, shapes = BIG[name]
    return jax.jit(lambda x, *rest: f(x * shift, *rest) if shift != 1 else f(x, *rest)), [
        fill(*s) for s in shapes]


def mlp_arguments(n):
    return [fill(IMAGE, HIDDEN), fill(HIDDEN), fill(HIDDEN, HIDDEN), fill(HIDDEN),
            fill(HIDDEN, CLASSES), fill(CLASSES), fill(n, IMAGES // n, IMAGE),
            fill(n, IMAGES // n, CLASSES)]


def deep(layers, shift):
    """The training step of a network of that many equal layers."""
    def loss(weights, x, y):
        for w, b in weights:
            x = jnp.tanh(x @ w + b)
        return jnp.mean((x * shift - y) ** 2)

    def step(weights, x, y):
        slope = jax.grad(loss)(weights, x, y)
        return jax.tree.map(lambda p, g: p - np.float32(0.1) * g, weights, slope)

    width, batch = 64, 32
    weights = [(fill(width, width), fill(width)) for _ in range(layers)]
    return jax.jit(step), [weights, fill(batch, width), fill(batch, width)]


def mapped(name, n, seed=0):
    """The function of that name over n devices, and its arguments on the host.  Another seed
    is another program to compile, with the same work in it."""
    devices = jax.devices()[:n]
    shift = np.float32(1 + seed)
    if name in BIG:
        return big(name, shift)
    if name.rsplit("_", 1)[0].removesuffix(LOOP) in COLLECTIVES:
        return collective(name, n, devices)
    if name == "jit":
        return jax.jit(lambda x: x + shift), [fill(2)]
    if name == "leaves":
        return jax.jit(lambda t: [x + shift for x in t]), [[fill(2)] * 500]
    if name == "call":
        return jax.pmap(lambda x: x + shift, devices=devices), [fill(n, 2)]
    if name == "psum":
        return jax.pmap(lambda x: jax.lax.psum(x * shift, "i"), axis_name="i", devices=devices), [fill(n)]
    if name == "lesson":
        return jax.pmap(lambda x: x**2 + jnp.sin(x * shift), devices=devices), [fill(n, 2)]
    if name == "linear":
        step = lambda w, x, y: linear_step(w * shift, x, y)
        return jax.pmap(step, axis_name="i", in_axes=(None, 0, 0), devices=devices), [
            fill(D), fill(n, B // n, D), fill(n, B // n)]
    if name == "map_psum":
        return jax.pmap(map_and_psum, axis_name="i", devices=devices), [fill(n, MAPPED // n)]
    if name.startswith("deep_"):
        return deep(int(name[5:]), shift)
    if name == "mlp":
        return jax.pmap(mlp_step, axis_name="i", in_axes=(None,) * 6 + (0, 0), devices=devices), \
            mlp_arguments(n)
    raise ValueError(name)
