"""Functions with a symbolic batch and more, exported by JAX and played by the command line.

    open_programs.py TUTTI          each, as text and as bytecode, in several sizes, against JAX
    open_programs.py --write DIR    some of them as files, with what JAX computes: tests/jax
"""
import os
import subprocess
import sys
import tempfile

import jax
import jax.numpy as jnp
import numpy as np
from jax import export, lax

SIZES = [dict(b=5, t=7, h=9, w=6, c=8, d=4), dict(b=2, t=3, h=4, w=11, c=6, d=2)]
KEPT = ["mlp", "conv", "attention", "scan"]


def mlp(w1, w2, x):
    y = jax.nn.softmax(jax.nn.relu(x @ w1) @ w2)
    return y, jnp.mean(y, axis=0)


def conv(k, x):
    y = lax.conv_general_dilated(x, k, (2, 2), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
    return lax.reduce_window(y, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")


def attention(q, k, v):
    s = jnp.einsum("bqd,bkd->bqk", q, k) / 2
    n = s.shape[-1]
    s = jnp.where(jnp.tril(jnp.ones((n, n), bool)), s, -1e9)
    return jnp.einsum("bqk,bkd->bqd", jax.nn.softmax(s), v)


def scan(h, xs):
    def step(c, x):
        c = jnp.tanh(c + x)
        return c, c.sum()

    return lax.scan(step, h, xs)


def loop(x):
    return lax.while_loop(lambda c: c[0] < x.shape[0], lambda c: (c[0] + 1, c[1] * 0.5 + c[1].sum()),
                          (0, x * 0.01))


def arithmetic(x, y):
    b = x.shape[0]
    return (x.reshape(2, -1).sum(0), jnp.concatenate([x, y])[: b // 2], jnp.arange(b % 5),
            jnp.broadcast_to(x.sum(), (b * 2 + 1, 3)), jnp.pad(x, (1, b // 2)), b)


def gradient(w, x):
    return jax.grad(lambda w: jnp.sum(jnp.tanh(x @ w) ** 2))(w)


def indices(x, i):
    i = i % x.shape[0]
    return (x[i], jnp.take(x, i, axis=1), x.at[i].add(1.0), jnp.sort(x, axis=0),
            jnp.argmax(x, axis=0), jnp.cumsum(x, axis=0),
            lax.dynamic_slice_in_dim(x, i[0], x.shape[0] // 2))


def shapes(x):
    n = x.shape[0]
    return (x.T[:, ::-1], jnp.var(x, axis=0), jnp.linspace(0.0, 1.0, n), jnp.eye(n),
            jnp.repeat(x, 2, axis=0), jnp.tile(x, (2, 1)), jnp.diff(x, axis=0), x[::2])


def largest(x):
    return (lax.top_k(x, 2), lax.top_k(x.T, x.shape[0] - 1), lax.approx_max_k(x, 2),
            lax.approx_max_k(x[:, 0], x.shape[0] - 1))


def random(key, x):
    key = jax.random.wrap_key_data(key.astype(jnp.uint32))
    return jax.random.normal(key, x.shape) + x, jax.random.uniform(key, (x.shape[0] * 2,))


def random_bits(key, x):
    return jax.random.bits(jax.random.wrap_key_data(key.astype(jnp.uint32), impl="rbg"), x.shape)


def linear(x):
    y = jnp.swapaxes(x, 1, 2)
    a = x @ y + jnp.eye(3)
    return (jnp.linalg.cholesky(a), jnp.linalg.solve(a, x), jnp.linalg.eigvalsh(a),
            jnp.fft.fft(x[:, :, 0], axis=1))


def constrained(x, y):
    return x[: y.shape[0]] + y, x[:: 2]


def programs():
    b, t = export.symbolic_shape("b, t")
    i, h, w = export.symbolic_shape("b, h, w", constraints=["h >= 4", "w >= 4"])
    (m,) = export.symbolic_shape("b", constraints=["b >= 2"])
    c, d = export.symbolic_shape("c, d", constraints=["c >= d", "mod(c, 2) == 0", "d >= 2"])
    return {
        "mlp": (mlp, [(5, 7), (7, 3), (b, 5)]),
        "conv": (conv, [(3, 3, 2, 4), (i, h, w, 2)]),
        "attention": (attention, [(b, t, 4)] * 3),
        "scan": (scan, [(b, 4), (t, b, 4)]),
        "loop": (loop, [(b,)]),
        "arithmetic": (arithmetic, [(b * 2,), (b + 1,)]),
        "gradient": (gradient, [(5, 3), (b, 5)]),
        "indices": (indices, [(b, 6), ("int32", 3)]),
        "shapes": (shapes, [(m, 3)]),
        "largest": (largest, [(m, 8)]),
        "random": (random, [("int32", 2), (b, 3)]),
        "random_bits": (random_bits, [("int32", 4), (b, 3)]),
        "linear": (linear, [(b, 3, 3)]),
        "constrained": (constrained, [(c,), (d,)]),
    }


def typed(shape):
    named = isinstance(shape[0], str)
    return jax.ShapeDtypeStruct(shape[1:] if named else shape, shape[0] if named else "float32")


def array(shape, which, sizes):
    """What tests/unit/open_test.c fills its arguments with, too."""
    t = typed(shape)
    dims = [n if isinstance(n, int) else int(n._evaluate(sizes)) for n in t.shape]
    i = np.arange(np.prod(dims, dtype=int), dtype=np.float64).reshape(dims)
    x = np.sin(0.7 * i + which)
    return (np.abs(x) * 5 if t.dtype == np.int32 else x).astype(t.dtype)


def exported(function, shapes):
    return export.export(jax.jit(function), platforms=["cpu"])(*map(typed, shapes))


def play(tutti, program, args, folder):
    command = [tutti, "run", program, "--out", folder + "/out"]
    for i, x in enumerate(args):
        np.save(f"{folder}/{i}.npy", x)
        command += ["--input", f"{folder}/{i}.npy"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, f"{program}: {done.stderr}"
    return [np.load(f"{folder}/out/result_{i}.npy") for i in range(len(done.stdout.splitlines()))]


def check(tutti, name, function, shapes, folder):
    program = exported(function, shapes)
    forms = {"mlir": program.mlir_module().encode(), "mlirbc": program.mlir_module_serialized}
    for form, code in forms.items():
        path = f"{folder}/{name}.{form}"
        with open(path, "wb") as file:
            file.write(code)
        for sizes in SIZES:
            args = [array(s, i, sizes) for i, s in enumerate(shapes)]
            with tempfile.TemporaryDirectory() as own:
                got = play(tutti, path, args, own)
            want = jax.tree.leaves(jax.jit(function)(*args))
            assert len(got) == len(want), f"{name}: {len(got)} results, not {len(want)}"
            for g, w in zip(got, want):
                np.testing.assert_allclose(g, w, rtol=2e-5, atol=2e-5, err_msg=f"{path} {sizes}")
    print(name, "agrees")


def refuse(tutti, folder):
    """A wrong extent: the message is the program's own, with the numbers in it."""
    path = f"{folder}/constrained.mlir"
    np.save(folder + "/x.npy", np.zeros(6, np.float32))
    np.save(folder + "/y.npy", np.zeros(8, np.float32))
    done = subprocess.run([tutti, "run", path, "--input", folder + "/x.npy", "--input",
                           folder + "/y.npy"], capture_output=True, text=True)
    assert done.returncode == 1 and "constraint c >= d" in done.stderr, done.stderr
    assert "but found -2" in done.stderr and "'c' = 6" in done.stderr, done.stderr
    print("a wrong extent is refused")


def without_locations(text):
    from jax._src.interpreters import mlir
    from jax._src.lib.mlir import ir
    with mlir.make_ir_context():
        return ir.Module.parse(text).operation.get_asm(enable_debug_info=False)


def write(folder):
    with open(folder + "/open_expected.txt", "w") as out:
        for name in KEPT:
            function, shapes = programs()[name]
            program = exported(function, shapes)
            with open(f"{folder}/open_{name}.mlir", "w") as file:
                file.write(without_locations(program.mlir_module()))
            with open(f"{folder}/open_{name}.mlirbc", "wb") as file:
                file.write(program.mlir_module_serialized)
            for sizes in SIZES:
                args = [array(s, i, sizes) for i, s in enumerate(shapes)]
                first = jax.tree.leaves(jax.jit(function)(*args))[0]
                dims = [" ".join(map(str, [a.ndim, *a.shape])) for a in args]
                values = " ".join(f"{v:.9g}" for v in np.ravel(first))
                out.write(f"{name} {len(args)} {' '.join(dims)} {first.size} {values}\n")


if __name__ == "__main__":
    if sys.argv[1] == "--write":
        write(sys.argv[2])
    else:
        with tempfile.TemporaryDirectory() as scratch:
            for key, (f, arguments) in programs().items():
                check(os.path.abspath(sys.argv[1]), key, f, arguments, scratch)
            refuse(os.path.abspath(sys.argv[1]), scratch)
