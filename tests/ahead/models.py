"""Models that JAX exports, compiled ahead and played: bit for bit what `tutti run` gives of the same file, and
near what JAX itself computes.
    python tests/ahead/models.py [--every N] [WORD ...]      every Nth of them; those whose names have a word
It needs JAX alone, on its own CPU backend; the C compiler links each model.
"""
import ctypes
import os
import subprocess
import sys
import tempfile

os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=4"

import jax
import jax.numpy as jnp
import numpy as np
from jax import export, lax
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.join(ROOT, os.environ.get("BUILD", "build"))
ENV = dict(os.environ, TUTTI_PLUGIN=os.path.join(BUILD, "pjrt_plugin_tutti.so"), TUTTI_LAPACK="own")
rng = np.random.default_rng(5)


def f32(*shape):
    return rng.normal(size=shape).astype(np.float32)


# ---- the models: (name, function, arguments, options) ----

MODELS = []


def model(name, f, *args, batch=None):
    MODELS.append((name, f, args, batch))


def mlp(params, x, act=jnp.tanh):
    for w, b in params[:-1]:
        x = act(x @ w + b)
    w, b = params[-1]
    return x @ w + b


def layers(*sizes):
    return [(f32(a, b) * 0.3, f32(b)) for a, b in zip(sizes, sizes[1:])]


def loss(params, x, y):
    return jnp.mean((mlp(params, x) - y) ** 2)


def step(params, x, y):
    value, grads = jax.value_and_grad(loss)(params, x, y)
    return value, jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)


def adam(params, m, v, x, y):
    g = jax.grad(loss)(params, x, y)
    m = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, m, g)
    v = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, v, g)
    return jax.tree.map(lambda p, m, v: p - 0.01 * m / (jnp.sqrt(v) + 1e-8), params, m, v), m, v


def norm(x, g):
    return (x - x.mean(-1, keepdims=True)) * lax.rsqrt(x.var(-1, keepdims=True) + 1e-5) * g


def attention(p, x, heads=2):
    n, d = x.shape
    q, k, v = ((x @ p[i]).reshape(n, heads, d // heads) for i in ("q", "k", "v"))
    s = jnp.einsum("qhd,khd->hqk", q, k) / (d // heads) ** 0.5
    s = jnp.where(jnp.tril(jnp.ones((n, n), bool)), s, -1e9)
    return jnp.einsum("hqk,khd->qhd", jax.nn.softmax(s), v).reshape(n, d) @ p["o"]


def block(p, x):
    x = x + attention(p, norm(x, p["g1"]))
    return x + jax.nn.gelu(norm(x, p["g2"]) @ p["up"]) @ p["down"]


def block_params(d=16):
    return {"q": f32(d, d) * 0.2, "k": f32(d, d) * 0.2, "v": f32(d, d) * 0.2, "o": f32(d, d) * 0.2,
            "g1": f32(d), "g2": f32(d), "up": f32(d, 2 * d) * 0.2, "down": f32(2 * d, d) * 0.2}


def decode(p, cache, tokens, start):
    """Greedy tokens, one at a time, keys and values kept."""
    def one(carry, _):
        keys, values, token, at = carry
        x = p["embed"][token]
        q, k, v = x @ p["q"], x @ p["k"], x @ p["v"]
        keys = lax.dynamic_update_slice(keys, k[None], (at, 0))
        values = lax.dynamic_update_slice(values, v[None], (at, 0))
        s = keys @ q / 4.0
        s = jnp.where(jnp.arange(keys.shape[0]) <= at, s, -1e9)
        x = x + jax.nn.softmax(s) @ values
        token = jnp.argmax(x @ p["embed"].T).astype(jnp.int32)
        return (keys, values, token, at + 1), token
    (keys, values, _, _), out = lax.scan(one, (*cache, tokens, start), None, length=8)
    return out, keys, values


def conv(x, w, stride=1):
    return lax.conv_general_dilated(x, w, (stride, stride), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))


def convnet(p, x):
    x = jax.nn.relu(conv(x, p["c1"]))
    x = lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")
    x = jax.nn.relu(conv(x, p["c2"], 2))
    return x.mean((1, 2)) @ p["w"]


def rk4(x, steps=20, h=0.05):
    field = lambda s: jnp.stack([10 * (s[1] - s[0]), s[0] * (28 - s[2]) - s[1], s[0] * s[1] - 8 / 3 * s[2]])
    def one(s, _):
        a = field(s)
        b = field(s + h / 2 * a)
        c = field(s + h / 2 * b)
        d = field(s + h * c)
        return s + h / 6 * (a + 2 * b + 2 * c + d), s
    return lax.scan(one, x, None, length=steps)


def newton(x):
    return lax.while_loop(lambda c: (jnp.abs(c[0] * c[0] - x).max() > 1e-5) & (c[1] < 50),
                          lambda c: ((c[0] + x / c[0]) / 2, c[1] + 1), (x, 0))


def kalman(x, cov, z, a, h):
    def one(c, z):
        x, cov = c
        x, cov = a @ x, a @ cov @ a.T + 0.1 * jnp.eye(3)
        s = h @ cov @ h.T + 0.5 * jnp.eye(2)
        k = jnp.linalg.solve(s, h @ cov).T
        return (x + k @ (z - h @ x), cov - k @ h @ cov), x
    return lax.scan(one, (x, cov), z)


def lstm(p, xs):
    def one(c, x):
        h, s = c
        i, f, g, o = jnp.split(jnp.concatenate([x, h]) @ p, 4)
        s = jax.nn.sigmoid(f) * s + jax.nn.sigmoid(i) * jnp.tanh(g)
        h = jax.nn.sigmoid(o) * jnp.tanh(s)
        return (h, s), h
    return lax.scan(one, (jnp.zeros(8), jnp.zeros(8)), xs)


def symmetric(n):
    a = f32(n, n)
    return a @ a.T + n * np.eye(n, dtype=np.float32)


def mesh():
    return Mesh(np.array(jax.devices()[:4]), ("d",))


def sharded(f, ins, outs):
    m = mesh()
    put = lambda specs: jax.tree.map(lambda s: NamedSharding(m, s), specs, is_leaf=lambda s: isinstance(s, P))
    return jax.jit(f, in_shardings=put(ins), out_shardings=put(outs))


def mapped(f, ins, outs):
    return jax.jit(jax.shard_map(f, mesh=mesh(), in_specs=ins, out_specs=outs))


def mapped_step(w, x, y):
    value, g = jax.value_and_grad(lambda w: jnp.mean((x @ w - y) ** 2))(w)
    return w - 0.1 * lax.pmean(g, "d"), lax.pmean(value, "d")


def make():
    model("mlp", mlp, layers(8, 16, 4), f32(5, 8))
    model("mlp_relu", lambda p, x: mlp(p, x, jax.nn.relu), layers(8, 32, 32, 4), f32(16, 8))
    model("mlp_softmax", lambda p, x: jax.nn.softmax(mlp(p, x)), layers(8, 16, 10), f32(4, 8))
    model("mlp_closed", lambda x, p=layers(8, 16, 4): mlp(p, x), f32(5, 8))
    model("mlp_bf16", lambda p, x: mlp(jax.tree.map(lambda a: a.astype(jnp.bfloat16), p), x.astype(jnp.bfloat16)).astype(jnp.float32),
          layers(8, 16, 4), f32(5, 8))
    model("mlp_step", step, layers(8, 16, 4), f32(5, 8), f32(5, 4))
    p = layers(6, 8, 2)
    zeros = jax.tree.map(np.zeros_like, p)
    model("mlp_adam", adam, p, zeros, zeros, f32(9, 6), f32(9, 2))
    model("mlp_hessian", lambda w: jax.hessian(lambda w: jnp.sum(jnp.tanh(w) ** 3))(w), f32(6))
    model("mlp_per_example", lambda p, x, y: jax.vmap(jax.grad(loss), (None, 0, 0))(p, x, y), layers(4, 5, 2), f32(7, 4), f32(7, 2))
    model("dropout", lambda key, x: jnp.where(jax.random.bernoulli(jax.random.wrap_key_data(key), 0.8, x.shape), x / 0.8, 0),
          np.array([1, 2], np.uint32), f32(16, 8))
    cp = {"c1": f32(3, 3, 3, 8) * 0.3, "c2": f32(3, 3, 8, 8) * 0.2, "w": f32(8, 10)}
    model("convnet", convnet, cp, f32(2, 16, 16, 3))
    model("convnet_grad", jax.grad(lambda p, x: jnp.sum(convnet(p, x) ** 2)), cp, f32(2, 8, 8, 3))
    model("conv1d", lambda x, w: lax.conv_general_dilated(x, w, (1,), [(2, 0)], rhs_dilation=(2,)), f32(2, 3, 20), f32(4, 3, 2))
    model("conv_depthwise", lambda x, w: lax.conv_general_dilated(x, w, (1, 1), "SAME", feature_group_count=4,
          dimension_numbers=("NHWC", "HWIO", "NHWC")), f32(1, 8, 8, 4), f32(3, 3, 1, 4))
    model("conv_transposed", lambda x, w: lax.conv_transpose(x, w, (2, 2), "SAME"), f32(1, 5, 5, 3), f32(3, 3, 3, 2))
    model("block", block, block_params(), f32(12, 16))
    model("block_grad", jax.grad(lambda p, x: jnp.sum(block(p, x) ** 2)), block_params(), f32(6, 16))
    model("blocks", lambda ps, x: lax.scan(lambda x, p: (block(p, x), None), x, ps)[0],
          jax.tree.map(lambda *a: np.stack(a), block_params(), block_params(), block_params()), f32(8, 16))
    dp = {"embed": f32(20, 16), "q": f32(16, 16) * 0.2, "k": f32(16, 16) * 0.2, "v": f32(16, 16) * 0.2}
    cache = (np.zeros((16, 16), np.float32), np.zeros((16, 16), np.float32))
    model("decode", decode, dp, cache, np.int32(3), np.int32(0))
    model("lstm", lstm, f32(12, 32) * 0.3, f32(10, 4))
    model("embed_loss", lambda e, t: -jnp.take_along_axis(jax.nn.log_softmax(e[t] @ e.T), t[:, None], 1).mean(),
          f32(30, 8), rng.integers(0, 30, 12).astype(np.int32))
    model("lorenz", rk4, f32(3))
    model("lorenz_many", jax.vmap(rk4), f32(9, 3))
    model("lorenz_grad", jax.grad(lambda x: rk4(x, 5)[0].sum()), f32(3))
    model("newton", newton, np.abs(f32(5)) + 1)
    model("heat", lambda u: lax.fori_loop(0, 30, lambda i, u: u.at[1:-1].add(0.2 * (u[2:] - 2 * u[1:-1] + u[:-2])), u), f32(50))
    model("kalman", kalman, f32(3), symmetric(3), f32(6, 2), f32(3, 3) * 0.4, f32(2, 3))
    model("solve", jnp.linalg.solve, symmetric(6), f32(6, 2))
    model("cholesky", jnp.linalg.cholesky, symmetric(7))
    model("eigh", lambda a: jnp.linalg.eigh(a)[0], symmetric(5))
    model("svd", lambda a: jnp.linalg.svd(a, compute_uv=False), f32(6, 4))
    model("qr", lambda a: jnp.abs(jnp.linalg.qr(a)[1]), f32(6, 4))
    model("fft", lambda x: jnp.abs(jnp.fft.rfft(x)), f32(4, 24))
    model("sort_median", lambda x: (jnp.sort(x, 0), jnp.median(x, 1), lax.top_k(x, 3)[1]), f32(6, 9))
    model("sharded_mlp", sharded(lambda w, x: jnp.tanh(x @ w), (P(), P("d")), P("d")), f32(8, 6), f32(8, 8))
    model("sharded_columns", sharded(lambda w, x: jnp.tanh(x @ w) @ w.T, (P(None, "d"), P()), P()), f32(8, 12), f32(5, 8))
    model("mapped_step", mapped(mapped_step, (P(), P("d"), P("d")), (P(), P())), f32(6, 2), f32(8, 6), f32(8, 2))
    model("mapped_ring", mapped(lambda x: lax.fori_loop(0, 3, lambda i, c: (lax.ppermute(c[0], "d", [(k, (k + 1) % 4) for k in range(4)]), c[1] + c[0]), (x, x))[1],
          P("d"), P("d")), f32(8, 3))
    model("mapped_gather", mapped(lambda x: lax.all_gather(x, "d", tiled=True)[:2] + lax.psum(x, "d"), P("d"), P("d")), f32(8, 3))
    for batch in (1, 8):
        model(f"batch_{batch}_mlp", mlp, layers(8, 16, 4), f32(batch, 8), batch=batch)
        model(f"batch_{batch}_convnet", convnet, cp, f32(batch, 8, 8, 3), batch=batch)


# ---- exporting, compiling, playing ----

def write(path, f, args, batch):
    shapes = jax.tree.map(lambda a: jax.ShapeDtypeStruct(np.shape(a), np.asarray(a).dtype), args)
    if batch is not None:
        b, = export.symbolic_shape("b")
        shapes = (*shapes[:-1], jax.ShapeDtypeStruct((b, *shapes[-1].shape[1:]), shapes[-1].dtype))
    jitted = f if hasattr(f, "lower") else jax.jit(f)
    with open(path, "wb") as file:
        file.write(export.export(jitted)(*shapes).serialize())
    return jitted


def tutti(*words):
    done = subprocess.run([os.path.join(BUILD, "tutti"), *words], env=ENV, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


def play_linked(path, arrays, results):
    """By the library's own function, in this process."""
    library = ctypes.CDLL(path)
    name = os.path.basename(path)[:-3]
    program = ctypes.byref(ctypes.c_char.in_dll(library, name + "_program"))
    pointers = lambda list_: (ctypes.c_void_p * (len(list_) + 1))(*[a.ctypes.data for a in list_])
    runtime = ctypes.CDLL(os.path.join(BUILD, "libtutti_rt.so.0"))
    runtime.tutti_rt_call.restype = ctypes.c_char_p
    wrong = runtime.tutti_rt_call(None, program, pointers(arrays), pointers(results))
    assert not wrong, wrong.decode()


def check(folder, name, f, args, batch):
    path = os.path.join(folder, name + ".jaxexp")
    jitted = write(path, f, args, batch)
    arrays = [np.ascontiguousarray(a).reshape(np.shape(a)) for a in jax.tree.leaves(args)]
    inputs = []
    for i, a in enumerate(arrays):
        np.save(f"{folder}/{name}_{i}.npy", a)
        inputs += ["--input", f"{folder}/{name}_{i}.npy"]
    tutti("run", path, *inputs, "--out", f"{folder}/{name}")
    expected = [np.load(f"{folder}/{name}/result_{i}.npy") for i in range(len(os.listdir(f"{folder}/{name}")))]
    library = f"{folder}/{name}.so"
    tutti("compile", path, "-o", library, *(["--batch", str(batch), "--name", name] if batch else []))
    if batch:  # its program is called name_bN
        os.rename(library, f"{folder}/{name}_b{batch}.so")
        library = f"{folder}/{name}_b{batch}.so"
    got = [np.empty_like(a) for a in expected]
    play_linked(library, arrays, got)
    for i, (a, b) in enumerate(zip(got, expected)):
        assert a.tobytes() == b.tobytes(), f"result {i} is not what tutti run gives"
    for i, (a, b) in enumerate(zip(got, jax.tree.leaves(jitted(*args)))):
        assert np.allclose(a, b, rtol=3e-2 if "bf16" in name else 2e-3, atol=2e-3), f"result {i} is far from JAX's"


def main(words):
    every = 1
    if words and words[0] == "--every":
        every, words = int(words[1]), words[2:]
    make()
    chosen = [m for m in MODELS if not words or any(w in m[0] for w in words)][::every]
    os.environ["LD_LIBRARY_PATH"] = BUILD
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        ctypes.CDLL(os.path.join(BUILD, "libtutti_rt.so.0"), mode=ctypes.RTLD_GLOBAL)
        for m in chosen:
            try:
                check(folder, *m)
            except Exception as e:
                failed += 1
                print(f"{m[0]}: {type(e).__name__}: {e}", flush=True)
    print(f"{len(chosen)} models compiled ahead and played, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
