"""The rows of the wide table: everyday work as a JAX user writes it, in groups.

A row is a name, a function to be jitted, and its arguments, made when the row's turn comes.  The
same module is read by both engines' processes, so both play the same Python on the same numbers.
Rows that start with `*` are in the quick form too.
"""
import zlib

import jax
import jax.experimental.ode
import jax.numpy as jnp
import jax.scipy.ndimage
import jax.scipy.signal
import numpy as np
from jax import lax, nn, random
from jax.scipy import linalg as jsl

ROWS = []  # (group, name, maker); maker() -> function, arguments


def row(group, name, function, *arguments):
    """Arguments are functions of a NumPy generator; each row has one of its own."""
    def make():
        generator = np.random.default_rng(zlib.crc32(name.encode()))
        return function, [a(generator) for a in arguments]
    ROWS.append((group, name, make))


# ---- arguments ----

def f32(*shape):
    return lambda g: g.standard_normal(shape, np.float32)


def positive(*shape):
    return lambda g: g.random(shape, np.float32) + np.float32(0.1)


def of(dtype, *shape):
    def make(g):
        x = g.standard_normal(shape)
        if np.issubdtype(np.dtype(dtype), np.complexfloating):
            x = x + 1j * g.standard_normal(shape)
        return jnp.asarray(x.astype(np.complex64 if x.dtype.kind == "c" else np.float32)).astype(dtype)
    return make


def ints(high, *shape, dtype=np.int32):
    return lambda g: g.integers(0, high, shape).astype(dtype)


def spd(*shape):
    def make(g):
        x = g.standard_normal(shape, np.float32)
        return x @ np.swapaxes(x, -1, -2) + shape[-1] * np.eye(shape[-1], dtype=np.float32)
    return make


def triangular(*shape):
    return lambda g: np.tril(g.standard_normal(shape, np.float32)) + shape[-1] * np.eye(
        shape[-1], dtype=np.float32)


def key():
    return lambda g: np.asarray(random.PRNGKey(7))


def constant(x):
    return lambda g: x


def bools(*shape):
    return lambda g: g.random(shape) > 0.5


# ---- elementwise ----

M = 1 << 20
for size, label in ((4 << 10, "4K"), (M, "1M"), (16 * M, "16M")):
    for name in "tanh exp log sin sqrt".split():
        row("elementwise", f"{name} {label}", getattr(jnp, name), positive(size))
for name in "log1p expm1 cos tan arctan sinh arcsinh cbrt exp2 log2".split():
    row("elementwise", f"{name} 1M", getattr(jnp, name), positive(M))
row("elementwise", "* x + y 4M", lambda x, y: x + y, f32(4 * M), f32(4 * M))
row("elementwise", "* gelu 4M", nn.gelu, f32(4 * M))
row("elementwise", "* erf 1M", jax.scipy.special.erf, f32(M))
row("elementwise", "sigmoid 4M", nn.sigmoid, f32(4 * M))
row("elementwise", "pow 1M", lambda x, y: x ** y, positive(M), f32(M))
row("elementwise", "arctan2 1M", jnp.arctan2, f32(M), f32(M))
row("elementwise", "where 4M", lambda x, y: jnp.where(x > y, x, y * 2), f32(4 * M), f32(4 * M))
row("elementwise", "* threshold u8 image 4M", lambda x: jnp.where(x > 128, 255, 0).astype(jnp.uint8),
    ints(256, 4 * M, dtype=np.uint8))
row("elementwise", "bf16 x * y + z 4M", lambda x, y, z: x * y + z, *[of(jnp.bfloat16, 4 * M)] * 3)
row("elementwise", "i32 mod 4M", lambda x: x % 7, ints(1 << 30, 4 * M))
row("elementwise", "c64 abs 1M", jnp.abs, of(jnp.complex64, M))
row("elementwise", "c64 x * y 1M", lambda x, y: x * y, *[of(jnp.complex64, M)] * 2)
row("elementwise", "* adam update 4M",
    lambda p, g, m, v: (p - 1e-3 * m / (jnp.sqrt(v) + 1e-8), 0.9 * m + 0.1 * g,
                        0.999 * v + 0.001 * g * g),
    f32(4 * M), f32(4 * M), f32(4 * M), positive(4 * M))
row("elementwise", "x / 255 - 0.5 4M", lambda x: x / 255 - 0.5, f32(4 * M))
row("elementwise", "convert f32 -> bf16 4M", lambda x: x.astype(jnp.bfloat16), f32(4 * M))

# ---- reductions ----

for name in "sum max mean prod".split():
    row("reductions", f"{name} 16M", getattr(jnp, name), positive(16 * M))
for shape, axes in (((4096, 4096), (0, 1)), ((M, 4), (0, 1)), ((4, M), (0, 1)),
                    ((128, 256, 128), (0, 1, 2))):
    for axis in axes:
        star = "* " if shape == (4096, 4096) else ""
        row("reductions", f"{star}sum {'x'.join(map(str, shape))} axis {axis}",
            lambda x, axis=axis: jnp.sum(x, axis), f32(*shape))
for axis in (0, 1, 2):
    row("reductions", f"sum 128x256x128 axis {axis} bf16", lambda x, axis=axis: jnp.sum(x, axis),
        of(jnp.bfloat16, 128, 256, 128))
for axis in (0, 1):
    row("reductions", f"* argmax 2048x2048 axis {axis}", lambda x, axis=axis: jnp.argmax(x, axis),
        f32(2048, 2048))
    row("reductions", f"max 2048x2048 axis {axis}", lambda x, axis=axis: jnp.max(x, axis),
        f32(2048, 2048))
row("reductions", "* softmax 4096x1024", nn.softmax, f32(4096, 1024))
row("reductions", "* layer norm 4096x1024",
    lambda x: (x - x.mean(-1, keepdims=True)) / jnp.sqrt(x.var(-1, keepdims=True) + 1e-5),
    f32(4096, 1024))
row("reductions", "rms norm 8192x512", lambda x: x * lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-6), f32(8192, 512))
row("reductions", "standardize columns 4096x1024", lambda x: (x - x.mean(0)) / x.std(0), f32(4096, 1024))
row("reductions", "logsumexp 4096x1024", lambda x: nn.logsumexp(x, -1), f32(4096, 1024))
row("reductions", "var and mean 2048x2048 axis 0", lambda x: (x.mean(0), x.var(0)), f32(2048, 2048))
row("reductions", "sum axis 0 of exp(sin x) 1M x 4", lambda x: jnp.exp(jnp.sin(x)).sum(0), f32(M, 4))
row("reductions", "sum of transpose 2048x2048", lambda x: x.T.sum(0), f32(2048, 2048))
row("reductions", "any of u8 4M", lambda x: jnp.any(x > 254), ints(256, 4 * M, dtype=np.uint8))
row("reductions", "norm of 16M", jnp.linalg.norm, f32(16 * M))
row("reductions", "mse 4M", lambda x, y: jnp.mean((x - y) ** 2), f32(4 * M), f32(4 * M))
row("reductions", "global average pool 32x56x56x64", lambda x: x.mean((1, 2)), f32(32, 56, 56, 64))

# ---- cumulative ----

for name in "cumsum cumprod cummax cumlogsumexp".split():
    function = getattr(lax, name)
    for axis in (0, 1):
        row("cumulative", f"{'* ' if axis else ''}{name} 1024x1024 axis {axis}",
            lambda x, function=function, axis=axis: function(x, axis), positive(1024, 1024))
for dtype in ("float64", "int32", "bfloat16", "complex64", "int8"):
    row("cumulative", f"cumsum 1M {dtype}", lambda x: jnp.cumsum(x), of(dtype, M))
row("cumulative", "* cumsum 4M", jnp.cumsum, f32(4 * M))
row("cumulative", "cumsum reversed 1M", lambda x: lax.cumsum(x, reverse=True), f32(M))
row("cumulative", "cumlogsumexp 1M", lambda x: lax.cumlogsumexp(x), f32(M))
row("cumulative", "* associative_scan a x + b 64K",
    lambda a, b: lax.associative_scan(lambda p, q: (q[0] * p[0], q[0] * p[1] + q[1]), (a, b)),
    positive(1 << 16), f32(1 << 16))
row("cumulative", "cumulative mean 1024x1024",
    lambda x: jnp.cumsum(x, 1) / jnp.arange(1, 1025, dtype=jnp.float32), f32(1024, 1024))

# ---- sorting and selecting ----

row("sorting", "* sort f32 1e6", jnp.sort, f32(10 ** 6))
row("sorting", "sort i32 1e6", jnp.sort, ints(1 << 30, 10 ** 6))
row("sorting", "sort i64-like u32 1e6", jnp.sort, ints(1 << 32, 10 ** 6, dtype=np.uint32))
row("sorting", "sort bf16 1e6", jnp.sort, of(jnp.bfloat16, 10 ** 6))
row("sorting", "* argsort f32 1e6", jnp.argsort, f32(10 ** 6))
row("sorting", "sort pairs 1e6", lambda k, v: lax.sort((k, v), num_keys=1), f32(10 ** 6),
    ints(1 << 30, 10 ** 6))
row("sorting", "sort by two keys 1e5", lambda k, v: lax.sort((k, v), num_keys=2), ints(100, 10 ** 5),
    f32(10 ** 5))
row("sorting", "* sort rows 1000x1000", lambda x: jnp.sort(x, -1), f32(1000, 1000))
row("sorting", "sort columns 1000x1000", lambda x: jnp.sort(x, 0), f32(1000, 1000))
row("sorting", "argsort rows 1000x1000", lambda x: jnp.argsort(x, -1), f32(1000, 1000))
row("sorting", "sort descending 1e5", lambda x: -jnp.sort(-x), f32(10 ** 5))
row("sorting", "sort by |x| 1e5", lambda x: x[jnp.argsort(jnp.abs(x))], f32(10 ** 5))
row("sorting", "* top_k 10 of 1e6", lambda x: lax.top_k(x, 10), f32(10 ** 6))
row("sorting", "top_k 50 of 64x32000", lambda x: lax.top_k(x, 50), f32(64, 32000))
row("sorting", "* median 1e6", jnp.median, f32(10 ** 6))
row("sorting", "quantile 4 of 1000x1000", lambda x: jnp.quantile(x, jnp.array([.1, .25, .5, .9]), axis=1),
    f32(1000, 1000))
row("sorting", "percentile 99 1e6", lambda x: jnp.percentile(x, 99), f32(10 ** 6))
row("sorting", "searchsorted 1e5 in 1e5", lambda x, y: jnp.searchsorted(jnp.sort(x), y), f32(10 ** 5),
    f32(10 ** 5))
row("sorting", "nonzero size 1e6", lambda x: jnp.nonzero(x > 0, size=10 ** 6), f32(10 ** 6))
row("sorting", "unique size 1000 of 1e5", lambda x: jnp.unique(x, size=1000), ints(1000, 10 ** 5))
row("sorting", "bincount 1000 of 1e6", lambda x: jnp.bincount(x, length=1000), ints(1000, 10 ** 6))
row("sorting", "histogram 100 of 1e6", lambda x: jnp.histogram(x, 100, (-3, 3))[0], f32(10 ** 6))

# ---- indexing ----

row("indexing", "* take rows 8192 of 50000x256", lambda t, i: t[i], f32(50000, 256), ints(50000, 8192))
row("indexing", "* embedding grad 8192 of 50000x256",
    lambda t, i: jax.grad(lambda t: (t[i] ** 2).sum())(t), f32(50000, 256), ints(50000, 8192))
row("indexing", "take 1e6 of 1e6", lambda x, i: x[i], f32(10 ** 6), ints(10 ** 6, 10 ** 6))
row("indexing", "take_along_axis 1024x1024", lambda x, i: jnp.take_along_axis(x, i, 1), f32(1024, 1024),
    ints(1024, 1024, 1024))
row("indexing", "* segment_sum 1e6 -> 1000", lambda x, s: jax.ops.segment_sum(x, s, 1000), f32(10 ** 6),
    ints(1000, 10 ** 6))
row("indexing", "segment_sum 999983 -> 1000", lambda x, s: jax.ops.segment_sum(x, s, 1000), f32(999983),
    ints(1000, 999983))
row("indexing", "segment_max 1e6 -> 1000", lambda x, s: jax.ops.segment_max(x, s, 1000), f32(10 ** 6),
    ints(1000, 10 ** 6))
row("indexing", "segment_max sorted 1e6 -> 1000",
    lambda x, s: jax.ops.segment_max(x, s, 1000, indices_are_sorted=True), f32(10 ** 6),
    lambda g: np.sort(g.integers(0, 1000, 10 ** 6).astype(np.int32)))
row("indexing", "segment_sum rows 65536x64 -> 1000", lambda x, s: jax.ops.segment_sum(x, s, 1000),
    f32(65536, 64), ints(1000, 65536))
row("indexing", "at.add 1e5 of 1e6", lambda x, i, y: x.at[i].add(y), f32(10 ** 6), ints(10 ** 6, 10 ** 5),
    f32(10 ** 5))
row("indexing", "at.set one row 4096x1024", lambda x, i, r: x.at[i].set(r), f32(4096, 1024),
    constant(np.int32(17)), f32(1024))
row("indexing", "at.set block 2048x2048", lambda x, y: x.at[100:1100, 100:1100].set(y), f32(2048, 2048),
    f32(1000, 1000))
row("indexing", "dynamic_slice 2048x2048", lambda x, i: lax.dynamic_slice(x, (i, i), (1024, 1024)),
    f32(2048, 2048), constant(np.int32(77)))
row("indexing", "one_hot 8192 of 1000", lambda i: nn.one_hot(i, 1000), ints(1000, 8192))
row("indexing", "boolean mask sum 4M", lambda x: jnp.where(x > 0, x, 0).sum(), f32(4 * M))
row("indexing", "strided slice 4096x4096 [::2, ::2]", lambda x: x[::2, ::2], f32(4096, 4096))
row("indexing", "* interpolate 1e6 in 1000", lambda x, p, f: jnp.interp(x, p, f), f32(10 ** 6),
    lambda g: np.linspace(-4, 4, 1000, dtype=np.float32), f32(1000))

# ---- moving ----

row("moving", "* transpose 4096x4096", lambda x: x.T.copy(), f32(4096, 4096))
row("moving", "transpose 2048x2048 bf16", lambda x: x.T.copy(), of(jnp.bfloat16, 2048, 2048))
row("moving", "transpose 32x128x16x64 0213", lambda x: x.transpose(0, 2, 1, 3), f32(32, 128, 16, 64))
row("moving", "transpose 64x224x224x3 0312", lambda x: x.transpose(0, 3, 1, 2), f32(16, 224, 224, 3))
row("moving", "transpose 16x512x512x2 0312", lambda x: x.transpose(0, 3, 1, 2), f32(16, 512, 512, 2))
row("moving", "u8 image to planes 1080p", lambda x: x.transpose(2, 0, 1), ints(256, 1080, 1920, 3, dtype=np.uint8))
row("moving", "image to planes, scaled 1080p", lambda x: (x.transpose(2, 0, 1) / 255).astype(jnp.float32),
    ints(256, 1080, 1920, 3, dtype=np.uint8))
row("moving", "* x + x.T 2048", lambda x: x + x.T, f32(2048, 2048))
row("moving", "exp(x).T * y 2048", lambda x, y: jnp.exp(x).T * y, f32(2048, 2048), f32(2048, 2048))
row("moving", "sum of x.T * y over rows 2048", lambda x, y: (x.T * y).sum(0), f32(2048, 2048),
    f32(2048, 2048))
row("moving", "2 * x.T + 1 1000", lambda x: 2 * x.T + 1, f32(1000, 1000))
row("moving", "x + x.T bf16 2048", lambda x: x + x.T, of(jnp.bfloat16, 2048, 2048))
row("moving", "x.T + 1 i8 2048", lambda x: x.T + 1, ints(100, 2048, 2048, dtype=np.int8))
row("moving", "NCHW -> NHWC + bias 16x64x56x56", lambda x, b: x.transpose(0, 2, 3, 1) + b,
    f32(16, 64, 56, 56), f32(64))
row("moving", "transpose 32x64x32x64 3210", lambda x: x.transpose(3, 2, 1, 0), f32(32, 64, 32, 64))
row("moving", "concatenate 4 x 1M", lambda *x: jnp.concatenate(x), *[f32(M)] * 4)
row("moving", "concatenate 4 x 1024x1024 axis 1", lambda *x: jnp.concatenate(x, 1), *[f32(1024, 1024)] * 4)
row("moving", "stack 16 x 64K axis -1", lambda *x: jnp.stack(x, -1), *[f32(1 << 16)] * 16)
row("moving", "stack 8 of exp x 64K axis -1", lambda *x: jnp.stack([jnp.exp(v) for v in x], -1),
    *[f32(1 << 16)] * 8)
row("moving", "* stack 3 x 1M axis -1", lambda *x: jnp.stack(x, -1), *[f32(M)] * 3)
row("moving", "unstack 1M x 3", lambda x: (x[:, 0], x[:, 1], x[:, 2]), f32(M, 3))
row("moving", "unstack 2M x 2", lambda x: (x[:, 0], x[:, 1]), f32(2 * M, 2))
row("moving", "roll 4M by 1000", lambda x: jnp.roll(x, 1000), f32(4 * M))
row("moving", "roll 2048x2048 axis 1", lambda x: jnp.roll(x, 1, 1), f32(2048, 2048))
row("moving", "flip 2048x2048 axis 1", lambda x: x[:, ::-1], f32(2048, 2048))
row("moving", "pad 2048x2048 by 16", lambda x: jnp.pad(x, 16), f32(2048, 2048))
row("moving", "tile 1024x1024 by 2x2", lambda x: jnp.tile(x, (2, 2)), f32(1024, 1024))
row("moving", "repeat 1M by 4", lambda x: jnp.repeat(x, 4), f32(M))
row("moving", "rot90 2048x2048", jnp.rot90, f32(2048, 2048))
row("moving", "broadcast 2048 to 2048x2048", lambda x: jnp.broadcast_to(x, (2048, 2048)).copy(), f32(2048))
row("moving", "im2col 3x3 64x64x32", lambda x: lax.conv_general_dilated_patches(
    x, (3, 3), (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")), f32(4, 64, 64, 32))
row("moving", "split heads and back 32x256x1024",
    lambda x: x.reshape(32, 256, 16, 64).transpose(0, 2, 1, 3) * 2, f32(32, 256, 1024))

# ---- products ----

for n in (64, 128, 256, 512, 1024, 2048):
    star = "* " if n in (512, 1024) else ""
    row("products", f"{star}matmul f32 {n}", jnp.matmul, f32(n, n), f32(n, n))
row("products", "matmul f64 512", jnp.matmul, of(jnp.float64, 512, 512), of(jnp.float64, 512, 512))
for dtype in ("bfloat16", "float16"):
    row("products", f"matmul {dtype} 512", jnp.matmul, of(dtype, 512, 512), of(dtype, 512, 512))
row("products", "* bf16 -> f32 1024",
    lambda x, y: jnp.matmul(x, y, preferred_element_type=jnp.float32), *[of(jnp.bfloat16, 1024, 1024)] * 2)
for n in (512, 1024):
    row("products", f"{'* ' if n == 512 else ''}i8 -> i32 {n}",
        lambda x, y: jnp.matmul(x, y, preferred_element_type=jnp.int32),
        *[ints(100, n, n, dtype=np.int8)] * 2)
row("products", "i32 512", jnp.matmul, ints(100, 512, 512), ints(100, 512, 512))
row("products", "i8 512", jnp.matmul, *[ints(100, 512, 512, dtype=np.int8)] * 2)
row("products", "u8 -> i32 512", lambda x, y: jnp.matmul(x, y, preferred_element_type=jnp.int32),
    *[ints(200, 512, 512, dtype=np.uint8)] * 2)
row("products", "i16 -> i32 512", lambda x, y: jnp.matmul(x, y, preferred_element_type=jnp.int32),
    *[ints(200, 512, 512, dtype=np.int16)] * 2)
row("products", "i8 -> i32 32x4096 @ 4096x4096", lambda x, y: jnp.matmul(x, y, preferred_element_type=jnp.int32),
    ints(100, 32, 4096, dtype=np.int8), ints(100, 4096, 4096, dtype=np.int8))
row("products", "* c64 512", jnp.matmul, *[of(jnp.complex64, 512, 512)] * 2)
for n in (64, 256, 1024):
    row("products", f"c64 {n}", jnp.matmul, *[of(jnp.complex64, n, n)] * 2)
row("products", "c64 x @ y.T.conj() 256", lambda x, y: x @ y.T.conj(), *[of(jnp.complex64, 256, 256)] * 2)
row("products", "c64 batch 500 of 16x16", jnp.matmul, *[of(jnp.complex64, 500, 16, 16)] * 2)
row("products", "c64 matrix-vector 2048", jnp.matmul, of(jnp.complex64, 2048, 2048), of(jnp.complex64, 2048))
row("products", "c128 (pairs of f64) 256", jnp.matmul, *[of(np.complex128, 256, 256)] * 2)
for n in (256, 1024):
    row("products", f"matmul f64 {n}", jnp.matmul, *[of(jnp.float64, n, n)] * 2)
row("products", "matmul bfloat16 2048", jnp.matmul, *[of(jnp.bfloat16, 2048, 2048)] * 2)
row("products", "matmul bfloat16 128", jnp.matmul, *[of(jnp.bfloat16, 128, 128)] * 2)
row("products", "bf16 x.T @ y 1024", lambda x, y: x.T @ y, *[of(jnp.bfloat16, 1024, 1024)] * 2)
row("products", "bf16 x @ y.T 1024", lambda x, y: x @ y.T, *[of(jnp.bfloat16, 1024, 1024)] * 2)
row("products", "bf16 8x4096 @ 4096x4096", jnp.matmul, of(jnp.bfloat16, 8, 4096), of(jnp.bfloat16, 4096, 4096))
row("products", "bf16 batch 128 of 64x64", jnp.matmul, *[of(jnp.bfloat16, 128, 64, 64)] * 2)
row("products", "bf16 attention scores 8x8x256x64", lambda q, k: jnp.einsum("bhqd,bhkd->bhqk", q, k),
    *[of(jnp.bfloat16, 8, 8, 256, 64)] * 2)
row("products", "bf16 linear + relu 256x1024", lambda x, w, b: nn.relu(x @ w + b), of(jnp.bfloat16, 256, 1024),
    of(jnp.bfloat16, 1024, 1024), of(jnp.bfloat16, 1024))
row("products", "matmul f32 1000", jnp.matmul, f32(1000, 1000), f32(1000, 1000))
row("products", "300x700 @ 700x500", jnp.matmul, f32(300, 700), f32(700, 500))
row("products", "batch 2000 of 16x16", jnp.matmul, f32(2000, 16, 16), f32(2000, 16, 16))
row("products", "batch 500 of 64x64", jnp.matmul, f32(500, 64, 64), f32(500, 64, 64))
row("products", "batch 2000 of 10x10", jnp.matmul, f32(2000, 10, 10), f32(2000, 10, 10))
row("products", "4096x4096 @ 4096x8", jnp.matmul, f32(4096, 4096), f32(4096, 8))
row("products", "4096x4096 @ 4096x2", jnp.matmul, f32(4096, 4096), f32(4096, 2))
row("products", "matrix-vector 512", jnp.matmul, f32(512, 512), f32(512))
row("products", "x.T @ vector 4096", lambda x, v: x.T @ v, f32(4096, 4096), f32(4096))
row("products", "matrix-vector f64 2048", jnp.matmul, of(jnp.float64, 2048, 2048), of(jnp.float64, 2048))
row("products", "x.T @ y 1024", lambda x, y: x.T @ y, f32(1024, 1024), f32(1024, 1024))
row("products", "x @ y.T 1024", lambda x, y: x @ y.T, f32(1024, 1024), f32(1024, 1024))
row("products", "* matrix-vector 4096", jnp.matmul, f32(4096, 4096), f32(4096))
row("products", "vector-matrix 4096", jnp.matmul, f32(4096), f32(4096, 4096))
row("products", "vector-matrix bf16 4096", jnp.matmul, of(jnp.bfloat16, 1, 4096),
    of(jnp.bfloat16, 4096, 4096))
row("products", "dot 4M", jnp.dot, f32(4 * M), f32(4 * M))
row("products", "outer 4096", jnp.outer, f32(4096), f32(4096))
row("products", "tall 65536x64 @ 64x64", jnp.matmul, f32(65536, 64), f32(64, 64))
row("products", "thin 64x65536 @ 65536x64", jnp.matmul, f32(64, 65536), f32(65536, 64))
row("products", "8 x 4096 @ 4096x4096", jnp.matmul, f32(8, 4096), f32(4096, 4096))
row("products", "batch 512 of 32x32", jnp.matmul, f32(512, 32, 32), f32(512, 32, 32))
row("products", "* batch 10000 of 4x4", jnp.matmul, f32(10000, 4, 4), f32(10000, 4, 4))
row("products", "batch 128 of 64x128 @ 128x64", jnp.matmul, f32(128, 64, 128), f32(128, 128, 64))
row("products", "* linear + relu 256x1024", lambda x, w, b: nn.relu(x @ w + b), f32(256, 1024),
    f32(1024, 1024), f32(1024))
row("products", "einsum attention scores 8x8x256x64", lambda q, k: jnp.einsum("bhqd,bhkd->bhqk", q, k),
    f32(8, 8, 256, 64), f32(8, 8, 256, 64))
row("products", "einsum bij,bjk,bkl 64x64", lambda x, y, z: jnp.einsum("bij,bjk,bkl->bil", x, y, z),
    f32(16, 64, 64), f32(16, 64, 64), f32(16, 64, 64))
row("products", "pairwise distances 2048x64",
    lambda x: (x ** 2).sum(1)[:, None] + (x ** 2).sum(1) - 2 * x @ x.T, f32(2048, 64))

# ---- convolutions ----

def conv(strides=(1, 1), padding="SAME", groups=1, dims=("NHWC", "HWIO", "NHWC"), dilation=(1, 1)):
    return lambda x, w: lax.conv_general_dilated(
        x, w, strides, padding, rhs_dilation=dilation, dimension_numbers=dims,
        feature_group_count=groups)


row("convolutions", "* 3x3 NHWC 8x56x56x64", conv(), f32(8, 56, 56, 64), f32(3, 3, 64, 64))
row("convolutions", "3x3 NCHW 8x64x56x56", conv(dims=("NCHW", "OIHW", "NCHW")), f32(8, 64, 56, 56),
    f32(64, 64, 3, 3))
row("convolutions", "1x1 NHWC 8x56x56x64 -> 256", conv(), f32(8, 56, 56, 64), f32(1, 1, 64, 256))
row("convolutions", "7x7 stride 2 8x224x224x3", conv((2, 2)), f32(8, 224, 224, 3), f32(7, 7, 3, 64))
row("convolutions", "3x3 stride 2 8x56x56x64", conv((2, 2)), f32(8, 56, 56, 64), f32(3, 3, 64, 128))
row("convolutions", "* depthwise 3x3 8x56x56x64", conv(groups=64), f32(8, 56, 56, 64), f32(3, 3, 1, 64))
row("convolutions", "groups of 8 8x28x28x128", conv(groups=16), f32(8, 28, 28, 128), f32(3, 3, 8, 128))
row("convolutions", "dilated 2 8x28x28x64", conv(dilation=(2, 2)), f32(8, 28, 28, 64), f32(3, 3, 64, 64))
row("convolutions", "bf16 3x3 8x28x28x64", conv(), of(jnp.bfloat16, 8, 28, 28, 64),
    of(jnp.bfloat16, 3, 3, 64, 64))
row("convolutions", "bf16 1x1 8x28x28x64 -> 256", conv(), of(jnp.bfloat16, 8, 28, 28, 64),
    of(jnp.bfloat16, 1, 1, 64, 256))
row("convolutions", "bf16 3x3 NCHW 8x64x28x28", conv(dims=("NCHW", "OIHW", "NCHW")),
    of(jnp.bfloat16, 8, 64, 28, 28), of(jnp.bfloat16, 64, 64, 3, 3))
row("convolutions", "bf16 depthwise 3x3 8x28x28x64", conv(groups=64), of(jnp.bfloat16, 8, 28, 28, 64),
    of(jnp.bfloat16, 3, 3, 1, 64))
row("convolutions", "bf16 grads 8x28x28x64", lambda x, w: jax.grad(
    lambda x, w: (conv()(x, w) ** 2).sum().astype(jnp.float32), argnums=(0, 1))(x, w),
    of(jnp.bfloat16, 8, 28, 28, 64), of(jnp.bfloat16, 3, 3, 64, 64))
row("convolutions", "f16 3x3 8x28x28x64", conv(), of(jnp.float16, 8, 28, 28, 64), of(jnp.float16, 3, 3, 64, 64))
row("convolutions", "i8 -> i32 3x3 8x28x28x64", lambda x, w: lax.conv_general_dilated(
    x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"), preferred_element_type=jnp.int32),
    ints(100, 8, 28, 28, 64, dtype=np.int8), ints(100, 3, 3, 64, 64, dtype=np.int8))
row("convolutions", "grads NCHW 8x64x28x28", lambda x, w: jax.grad(
    lambda x, w: (conv(dims=("NCHW", "OIHW", "NCHW"))(x, w) ** 2).sum(), argnums=(0, 1))(x, w),
    f32(8, 64, 28, 28), f32(64, 64, 3, 3))
row("convolutions", "grads depthwise 8x28x28x64", lambda x, w: jax.grad(
    lambda x, w: (conv(groups=64)(x, w) ** 2).sum(), argnums=(0, 1))(x, w),
    f32(8, 28, 28, 64), f32(3, 3, 1, 64))
row("convolutions", "grads stride 2 8x28x28x64", lambda x, w: jax.grad(
    lambda x, w: (conv((2, 2))(x, w) ** 2).sum(), argnums=(0, 1))(x, w),
    f32(8, 28, 28, 64), f32(3, 3, 64, 64))
row("convolutions", "grad of input 8x28x28x64",
    lambda x, w: jax.grad(lambda x: (conv()(x, w) ** 2).sum())(x), f32(8, 28, 28, 64), f32(3, 3, 64, 64))
row("convolutions", "grad of kernel 8x28x28x64",
    lambda x, w: jax.grad(lambda w: (conv()(x, w) ** 2).sum())(w), f32(8, 28, 28, 64), f32(3, 3, 64, 64))
row("convolutions", "transposed 2x 8x28x28x64",
    lambda x, w: lax.conv_transpose(x, w, (2, 2), "SAME"), f32(8, 28, 28, 64), f32(3, 3, 64, 32))
row("convolutions", "1-d 16x4096x32 k9",
    lambda x, w: lax.conv_general_dilated(x, w, (1,), "SAME", dimension_numbers=("NWC", "WIO", "NWC")),
    f32(16, 4096, 32), f32(9, 32, 32))
row("convolutions", "3-d 2x16x28x28x16 k3",
    lambda x, w: lax.conv_general_dilated(x, w, (1, 1, 1), "SAME",
                                          dimension_numbers=("NDHWC", "DHWIO", "NDHWC")),
    f32(2, 16, 28, 28, 16), f32(3, 3, 3, 16, 16))
row("convolutions", "jnp.convolve 1e5 by 101", lambda x, w: jnp.convolve(x, w, "same"), f32(10 ** 5), f32(101))


def pool(x, initial, operation, dims=(1, 2, 2, 1), strides=(1, 2, 2, 1), padding="VALID"):
    return lax.reduce_window(x, initial, operation, dims, strides, padding)


row("convolutions", "* max_pool 2x2 16x112x112x32", lambda x: pool(x, -jnp.inf, lax.max), f32(16, 112, 112, 32))
row("convolutions", "max_pool 3x3 s2 NCHW 8x64x112x112",
    lambda x: pool(x, -jnp.inf, lax.max, (1, 1, 3, 3), (1, 1, 2, 2), "SAME"), f32(8, 64, 112, 112))
row("convolutions", "avg_pool 2x2 16x112x112x32", lambda x: pool(x, 0., lax.add) / 4, f32(16, 112, 112, 32))
row("convolutions", "* max_pool grad 16x56x56x32",
    lambda x: jax.grad(lambda x: (pool(x, -jnp.inf, lax.max) ** 2).sum())(x), f32(16, 56, 56, 32))
for label, shape, dims, strides, padding in (
        ("3x3 s2 8x112x112x64", (8, 112, 112, 64), (1, 3, 3, 1), (1, 2, 2, 1), "SAME"),
        ("2x2 NCHW 8x64x112x112", (8, 64, 112, 112), (1, 1, 2, 2), (1, 1, 2, 2), "VALID")):
    row("convolutions", f"max_pool grad {label}",
        lambda x, dims=dims, strides=strides, padding=padding: jax.grad(
            lambda x: (pool(x, -jnp.inf, lax.max, dims, strides, padding) ** 2).sum())(x), f32(*shape))
row("convolutions", "sliding sum 1e6 by 100", lambda x: lax.reduce_window(x, 0., lax.add, (100,), (1,), "VALID"),
    f32(10 ** 6))

# ---- Fourier ----

row("fourier", "* fft 1024x1024", jnp.fft.fft, of(jnp.complex64, 1024, 1024))
row("fourier", "* rfft 1024x1024", jnp.fft.rfft, f32(1024, 1024))
row("fourier", "irfft 1024x513", jnp.fft.irfft, of(jnp.complex64, 1024, 513))
row("fourier", "fft2 512x512", jnp.fft.fft2, of(jnp.complex64, 512, 512))
row("fourier", "* irfft2(rfft2) 512", lambda x: jnp.fft.irfft2(jnp.fft.rfft2(x)), f32(512, 512))
row("fourier", "fft 2^20", jnp.fft.fft, of(jnp.complex64, M))
row("fourier", "fft 2^19 real", jnp.fft.rfft, f32(M // 2))
row("fourier", "rfft 2^17", jnp.fft.rfft, f32(M // 8))
row("fourier", "irfft 2^17", jnp.fft.irfft, of(jnp.complex64, M // 16 + 1))
row("fourier", "rfft 1000 x 999", jnp.fft.rfft, f32(1000, 999))
row("fourier", "fft 500 x 1001", jnp.fft.fft, of(jnp.complex64, 500, 1001))
row("fourier", "rfft 500 x 1147", jnp.fft.rfft, f32(500, 1147))
row("fourier", "fft prime 1031 x 100", jnp.fft.fft, of(jnp.complex64, 100, 1031))
row("fourier", "fft f64 1024x1024", lambda x: jnp.fft.fft(x), of(jnp.float64, 1024, 1024))
row("fourier", "fft prime 1009 x 100", jnp.fft.fft, of(jnp.complex64, 100, 1009))
row("fourier", "fft 1000 x 1000", jnp.fft.fft, of(jnp.complex64, 1000, 1000))
row("fourier", "fft axis 0 1024x1024", lambda x: jnp.fft.fft(x, axis=0), of(jnp.complex64, 1024, 1024))
row("fourier", "fftn 64x64x64", jnp.fft.fftn, of(jnp.complex64, 64, 64, 64))
row("fourier", "fft convolution 2^17", lambda x, y: jnp.fft.irfft(jnp.fft.rfft(x) * jnp.fft.rfft(y)),
    f32(1 << 17), f32(1 << 17))

# ---- linear algebra ----

for n in (128, 512, 1024):
    star = "* " if n == 128 else ""
    row("linear algebra", f"{star}cholesky {n}", jnp.linalg.cholesky, spd(n, n))
    row("linear algebra", f"{star}lu {n}", lambda x: jsl.lu_factor(x)[0], spd(n, n))
    row("linear algebra", f"{star}qr {n}", lambda x: jnp.abs(jnp.linalg.qr(x)[1]), f32(n, n))
    row("linear algebra", f"{star}inv {n}", jnp.linalg.inv, spd(n, n))
    row("linear algebra", f"solve {n}", jnp.linalg.solve, spd(n, n), f32(n, n))
    row("linear algebra", f"triangular solve {n}", lambda a, b: jsl.solve_triangular(a, b, lower=True),
        triangular(n, n), f32(n, n))
    row("linear algebra", f"{star}eigh {n}", lambda x: jnp.linalg.eigh(x)[0], spd(n, n))
for n in (128, 512):
    row("linear algebra", f"{'* ' if n == 128 else ''}svd {n}", lambda x: jnp.linalg.svd(x)[1], f32(n, n))
    row("linear algebra", f"eigh with vectors {n}", lambda x: jnp.abs(jnp.linalg.eigh(x)[1]), spd(n, n))
    row("linear algebra", f"svd with vectors {n}", lambda x: jnp.abs(jnp.linalg.svd(x)[0]), f32(n, n))
    row("linear algebra", f"qr with q {n}", lambda x: jnp.abs(jnp.linalg.qr(x)[0]), f32(n, n))
    row("linear algebra", f"det {n}", lambda x: jnp.linalg.det(x / n), spd(n, n))
    row("linear algebra", f"solve one {n}", jnp.linalg.solve, spd(n, n), f32(n))
row("linear algebra", "schur 64", lambda x: jnp.sort(jnp.abs(jnp.diag(jsl.schur(x)[0]))), spd(64, 64))
row("linear algebra", "svd values 1024x64", lambda x: jnp.linalg.svd(x, compute_uv=False), f32(1024, 64))
row("linear algebra", "slogdet 512", lambda x: jnp.linalg.slogdet(x)[1], spd(512, 512))
row("linear algebra", "eigvals 128", lambda x: jnp.sort(jnp.abs(jnp.linalg.eigvals(x))), f32(128, 128))
row("linear algebra", "lstsq 1000x50", lambda a, b: jnp.linalg.lstsq(a, b)[0], f32(1000, 50), f32(1000))
row("linear algebra", "pinv 256x128", jnp.linalg.pinv, f32(256, 128))
row("linear algebra", "expm 128", lambda x: jsl.expm(x * 0.01), f32(128, 128))
row("linear algebra", "matrix_power 128^10", lambda x: jnp.linalg.matrix_power(x * 0.05, 10), f32(128, 128))
row("linear algebra", "tridiagonal solve 10000", lambda l, d, u, b: lax.linalg.tridiagonal_solve(l, d, u, b),
    f32(10000), lambda g: g.random(10000, np.float32) + 4, f32(10000), f32(10000, 1))
for n, count in ((3, 10000), (4, 10000), (8, 2000), (16, 1000)):
    star = "* " if n == 4 else ""
    row("linear algebra", f"{star}cholesky {n} x {count}", jnp.linalg.cholesky, spd(count, n, n))
    row("linear algebra", f"{star}solve {n} x {count}", jnp.linalg.solve, spd(count, n, n), f32(count, n, 1))
    row("linear algebra", f"inv {n} x {count}", jnp.linalg.inv, spd(count, n, n))
    row("linear algebra", f"{star}eigh {n} x {count}", lambda x: jnp.linalg.eigh(x)[0], spd(count, n, n))
    row("linear algebra", f"qr {n} x {count}", lambda x: jnp.abs(jnp.linalg.qr(x)[1]), f32(count, n, n))
    row("linear algebra", f"svd {n} x {count}", lambda x: jnp.linalg.svd(x)[1], f32(count, n, n))
    row("linear algebra", f"eigh with vectors {n} x {count}", lambda x: jnp.abs(jnp.linalg.eigh(x)[1]),
        spd(count, n, n))
    row("linear algebra", f"svd with vectors {n} x {count}", lambda x: jnp.abs(jnp.linalg.svd(x)[0]),
        f32(count, n, n))
row("linear algebra", "det 3 x 10000", jnp.linalg.det, spd(10000, 3, 3))
row("linear algebra", "solve 1000", jnp.linalg.solve, spd(1000, 1000), f32(1000, 1000))
row("linear algebra", "solve f64 512", jnp.linalg.solve, lambda g: spd(512, 512)(g).astype(np.float64),
    lambda g: g.standard_normal((512, 512)))

# ---- random ----

row("random", "* uniform 4M", lambda k: random.uniform(k, (4 * M,)), key())
row("random", "* normal 4M", lambda k: random.normal(k, (4 * M,)), key())
row("random", "bits 4M", lambda k: random.bits(k, (4 * M,)), key())
row("random", "randint 4M", lambda k: random.randint(k, (4 * M,), 0, 100), key())
row("random", "bernoulli 4M", lambda k: random.bernoulli(k, 0.3, (4 * M,)), key())
row("random", "permutation 1e5", lambda k: random.permutation(k, 10 ** 5), key())
row("random", "* categorical 1024x1000", lambda k, x: random.categorical(k, x), key(), f32(1024, 1000))
row("random", "gamma 1e5", lambda k: random.gamma(k, 2.0, (10 ** 5,)), key())
row("random", "exponential 1M", lambda k: random.exponential(k, (M,)), key())
row("random", "truncated_normal 1M", lambda k: random.truncated_normal(k, -1, 1, (M,)), key())
row("random", "choice 1000 of 1e5", lambda k: random.choice(k, 10 ** 5, (1000,), replace=False), key())
row("random", "dropout 4M", lambda k, x: jnp.where(random.bernoulli(k, 0.9, x.shape), x / 0.9, 0), key(),
    f32(4 * M))
row("random", "split 1000 keys", lambda k: random.split(k, 1000), key())

# ---- loops ----

def euler(x):
    return lax.fori_loop(0, 1000, lambda i, x: x + 0.001 * jnp.sin(x), x)


def lorenz(p):
    return 0.01 * jnp.stack([10 * (p[..., 1] - p[..., 0]), p[..., 0] * (28 - p[..., 2]) - p[..., 1],
                             p[..., 0] * p[..., 1] - 8 / 3 * p[..., 2]], -1)


def rk4(p):
    def step(p, _):
        a = lorenz(p)
        b = lorenz(p + a / 2)
        c = lorenz(p + b / 2)
        return p + (a + 2 * b + 2 * c + lorenz(p + c)) / 6, None
    return lax.scan(step, p, None, length=100)[0]


def newton(x):
    def f(x):
        return jnp.stack([x[0] ** 2 + x[1] ** 2 - 4, x[0] * x[1] - 1])
    return lax.fori_loop(0, 20, lambda i, x: x - jnp.linalg.solve(jax.jacfwd(f)(x), f(x)), x)


def kalman(x, p, zs):
    a = jnp.eye(4) + 0.1 * jnp.eye(4, k=2)
    h = jnp.eye(2, 4)

    def step(carry, z):
        x, p = carry
        x, p = a @ x, a @ p @ a.T + 0.01 * jnp.eye(4)
        s = h @ p @ h.T + 0.1 * jnp.eye(2)
        k = jnp.linalg.solve(s, h @ p).T
        return (x + k @ (z - h @ x), (jnp.eye(4) - k @ h) @ p), x
    return lax.scan(step, (x, p), zs)[1]


def lstm(x, h, w):
    def step(carry, x):
        h, c = carry
        i, f, g, o = jnp.split(jnp.concatenate([x, h], -1) @ w, 4, -1)
        c = nn.sigmoid(f) * c + nn.sigmoid(i) * jnp.tanh(g)
        h = nn.sigmoid(o) * jnp.tanh(c)
        return (h, c), h
    return lax.scan(step, (h, h), x)[1]


def gru(x, h, w):
    def step(h, x):
        z, r = jnp.split(nn.sigmoid(jnp.concatenate([x, h], -1) @ w[:, :2 * h.shape[-1]]), 2, -1)
        n = jnp.tanh(jnp.concatenate([x, r * h], -1) @ w[:, 2 * h.shape[-1]:])
        h = (1 - z) * n + z * h
        return h, h
    return lax.scan(step, h, x)[1]


def viterbi(scores, transitions):
    def step(best, s):
        all_ = best[:, None] + transitions
        return all_.max(0) + s, all_.argmax(0)
    return lax.scan(step, scores[0], scores[1:])


def mandelbrot(c):
    def step(i, state):
        z, n = state
        z = jnp.where(jnp.abs(z) < 2, z * z + c, z)
        return z, n + (jnp.abs(z) < 2)
    return lax.fori_loop(0, 50, step, (jnp.zeros_like(c), jnp.zeros(c.shape, jnp.int32)))[1]


def heat(x):
    return lax.fori_loop(0, 100, lambda i, x: x.at[1:-1, 1:-1].add(0.1 * (
        x[2:, 1:-1] + x[:-2, 1:-1] + x[1:-1, 2:] + x[1:-1, :-2] - 4 * x[1:-1, 1:-1])), x)


def conjugate_gradient(a, b):
    def step(i, state):
        x, r, p = state
        ap = a @ p
        alpha = r @ r / (p @ ap)
        new = r - alpha * ap
        return x + alpha * p, new, new + (new @ new) / (r @ r) * p
    return lax.fori_loop(0, 25, step, (jnp.zeros_like(b), b, b))[0]  # later r @ r is no float


row("loops", "* euler 1000 steps of 16", euler, f32(16))
row("loops", "euler 1000 steps of 4096", euler, f32(4096))
row("loops", "rk4 lorenz 100 steps", rk4, f32(3))
row("loops", "* rk4 lorenz vmap 1024", jax.vmap(rk4), f32(1024, 3))
row("loops", "* newton 2-d 20 its", newton, positive(2))
row("loops", "newton vmap 1000", jax.vmap(newton), positive(1000, 2))
row("loops", "* kalman 4 states 500 steps", kalman, f32(4), spd(4, 4), f32(500, 2))
row("loops", "* lstm 64x128 50 steps", lstm, f32(50, 64, 128), f32(64, 128), f32(256, 512))
row("loops", "lstm grad 64x128 50 steps",
    lambda x, h, w: jax.grad(lambda w: (lstm(x, h, w) ** 2).sum())(w), f32(50, 64, 128), f32(64, 128),
    lambda g: 0.05 * g.standard_normal((256, 512), np.float32))
row("loops", "gru 64x128 50 steps", gru, f32(50, 64, 128), f32(64, 128), f32(256, 384))
row("loops", "gru 1x64 200 steps", gru, f32(200, 1, 64), f32(1, 64),
    lambda g: 0.1 * g.standard_normal((128, 192), np.float32))
row("loops", "viterbi 64 states 500", viterbi, f32(500, 64), f32(64, 64))
row("loops", "mandelbrot 256x256", mandelbrot,
    lambda g: (np.linspace(-2, 1, 256)[None, :] + 1j * np.linspace(-1.5, 1.5, 256)[:, None]).astype(np.complex64))
row("loops", "* heat 256x256 100 steps", heat, f32(256, 256))
row("loops", "conjugate gradient 256 25 its", conjugate_gradient, spd(256, 256), f32(256))
row("loops", "power iteration 512 50 its",
    lambda a, x: lax.fori_loop(0, 50, lambda i, x: (a @ x) / jnp.linalg.norm(a @ x), x), spd(512, 512), f32(512))
row("loops", "* x.at[i].set in a loop 1000 of 4096",
    lambda x: lax.fori_loop(0, 1000, lambda i, x: x.at[i].set(x[i] * 2 + 1), x), f32(4096))
row("loops", "x.at[i, j].add in a loop 1000 of 64x64",
    lambda x: lax.fori_loop(0, 1000, lambda i, x: x.at[i % 64, i // 16].add(0.5), x), f32(64, 64))
row("loops", "rows set in a loop 1000 of 4096x64",
    lambda x: lax.fori_loop(0, 1000, lambda i, x: x.at[i].set(x[i + 1] * 0.5), x), f32(4096, 64))
row("loops", "pendulum 1000 steps, 3 scalars",
    lambda q, p, e: lax.fori_loop(0, 1000, lambda i, s: (
        s[0] + 0.01 * s[1], s[1] - 0.01 * s[0], s[2] + s[0] * s[0] + s[1] * s[1]), (q, p, e)),
    positive(), positive(), positive())
row("loops", "rk4 lorenz grad 100 steps", jax.grad(lambda p: rk4(p).sum()), f32(3))
row("loops", "sgd 100 steps 64x16", lambda w, x, y: lax.fori_loop(
    0, 100, lambda i, w: w - 0.01 * (x.T @ (x @ w - y)), w), f32(16), f32(64, 16), f32(64))
row("loops", "fibonacci while 10000",
    lambda n: lax.while_loop(lambda s: s[0] < n, lambda s: (s[0] + 1, s[2], (s[1] + s[2]) % 1000003), (0, 0, 1)),
    constant(np.int32(10000)))
row("loops", "collatz longest of 1000",
    jax.vmap(lambda n: lax.while_loop(lambda s: s[0] > 1, lambda s: (
        jnp.where(s[0] % 2 == 0, s[0] // 2, 3 * s[0] + 1), s[1] + 1), (n, 0))[1]),
    lambda g: np.arange(1, 1001, dtype=np.int32))
row("loops", "bisection vmap 10000",
    jax.vmap(lambda t: lax.fori_loop(0, 50, lambda i, ab: lax.cond(
        (ab[0] + ab[1]) ** 3 / 8 > t, lambda a, b: (a, (a + b) / 2), lambda a, b: ((a + b) / 2, b), *ab),
        (0., 10.))[0]), positive(10000))
row("loops", "cond chosen 100 in scan",
    lambda x: lax.scan(lambda c, i: (lax.cond(i % 2 == 0, jnp.sin, jnp.cos, c), None), x, jnp.arange(100))[0],
    f32(256))
row("loops", "scan sum of rows 1000x256", lambda x: lax.scan(lambda c, r: (c + r, c.sum()), x[0], x), f32(1000, 256))
row("loops", "map of svd-free norm 1000", lambda x: lax.map(lambda v: jnp.sqrt(v @ v), x), f32(1000, 64))
row("loops", "exponential moving average 10000",
    lambda x: lax.scan(lambda c, v: (0.9 * c + 0.1 * v,) * 2, x[0], x)[1], f32(10000))
row("loops", "game of life 256 100 steps",
    lambda x: lax.fori_loop(0, 100, lambda i, x: (lambda n: ((n == 3) | ((n == 2) & (x == 1))).astype(jnp.int32))(
        sum(jnp.roll(x, (a, b), (0, 1)) for a in (-1, 0, 1) for b in (-1, 0, 1) if a or b)), x),
    ints(2, 256, 256))
row("loops", "metropolis 1000 steps of 100 chains",
    lambda k, x: lax.scan(lambda x, k: ((lambda y, u: jnp.where(jnp.log(u) < (x ** 2 - y ** 2) / 2, y, x))(
        x + random.normal(k, x.shape), random.uniform(random.fold_in(k, 1), x.shape)), None), x,
        random.split(k, 1000))[0], key(), f32(100))

# ---- models ----

def mlp_parameters(sizes, scale=0.05):
    def make(g):
        return [(scale * g.standard_normal((a, b), np.float32), np.zeros(b, np.float32))
                for a, b in zip(sizes, sizes[1:])]
    return make


def mlp(parameters, x):
    for w, b in parameters[:-1]:
        x = nn.relu(x @ w + b)
    return x @ parameters[-1][0] + parameters[-1][1]


def sgd(loss):
    def step(p, *data):
        value, grad = jax.value_and_grad(loss)(p, *data)
        return jax.tree.map(lambda p, g: p - 0.01 * g, p, grad), value
    return step


def cross_entropy(logits, labels):
    return -jnp.take_along_axis(nn.log_softmax(logits), labels[:, None], 1).mean()


def transformer_parameters(layers, d, dtype=np.float32):
    def make(g):
        def w(*shape):
            return jnp.asarray(0.02 * g.standard_normal(shape, np.float32)).astype(dtype)
        return [{"qkv": w(d, 3 * d), "out": w(d, d), "up": w(d, 4 * d), "down": w(4 * d, d)}
                for _ in range(layers)]
    return make


def attention(x, p, heads=8):
    b, t, d = x.shape
    q, k, v = jnp.moveaxis((x @ p["qkv"]).reshape(b, t, 3, heads, d // heads), 2, 0)
    s = jnp.einsum("bqhd,bkhd->bhqk", q, k) / (d // heads) ** 0.5
    s = jnp.where(jnp.tril(jnp.ones((t, t), bool)), s, -1e9)
    return jnp.einsum("bhqk,bkhd->bqhd", nn.softmax(s, -1), v).reshape(b, t, d) @ p["out"]


def norm(x):
    return (x - x.mean(-1, keepdims=True)) * lax.rsqrt(x.var(-1, keepdims=True) + 1e-5)


def transformer(ps, x):
    for p in ps:
        x = x + attention(norm(x), p)
        x = x + nn.gelu(norm(x) @ p["up"]) @ p["down"]
    return x


def convnet_parameters():
    def make(g):
        def w(*shape):
            return 0.05 * g.standard_normal(shape, np.float32)
        return {"a": w(3, 3, 3, 32), "b": w(3, 3, 32, 64), "c": w(8 * 8 * 64, 10)}
    return make


def convnet(p, x):
    x = pool(nn.relu(conv()(x, p["a"])), -jnp.inf, lax.max)
    x = pool(nn.relu(conv()(x, p["b"])), -jnp.inf, lax.max)
    return x.reshape(x.shape[0], -1) @ p["c"]


MLP = (784, 512, 512, 10)
row("models", "* mlp step 784-512-512-10 b128", sgd(lambda p, x, y: cross_entropy(mlp(p, x), y)),
    mlp_parameters(MLP), f32(128, 784), ints(10, 128))
row("models", "mlp forward b1", mlp, mlp_parameters(MLP), f32(1, 784))
row("models", "mlp step b8", sgd(lambda p, x, y: cross_entropy(mlp(p, x), y)), mlp_parameters(MLP),
    f32(8, 784), ints(10, 8))
row("models", "* per-example grads vmap b64",
    lambda p, x, y: jax.vmap(jax.grad(lambda p, x, y: cross_entropy(mlp(p, x[None]), y[None])),
                             (None, 0, 0))(p, x, y),
    mlp_parameters((64, 128, 10)), f32(64, 64), ints(10, 64))
row("models", "linear regression step 10000x100",
    sgd(lambda w, x, y: jnp.mean((x @ w - y) ** 2)), f32(100), f32(10000, 100), f32(10000))
row("models", "logistic regression hessian 1000x20",
    lambda w, x, y: jax.hessian(lambda w: jnp.mean(nn.softplus(x @ w) - y * (x @ w)))(w), f32(20),
    f32(1000, 20), positive(1000))
row("models", "* transformer forward 4x128x256 2 layers", transformer, transformer_parameters(2, 256),
    f32(4, 128, 256))
row("models", "* transformer step 4x128x256 2 layers", sgd(lambda p, x: (transformer(p, x) ** 2).mean()),
    transformer_parameters(2, 256), f32(4, 128, 256))
row("models", "transformer step bf16 4x128x256", sgd(lambda p, x: (transformer(p, x) ** 2).mean()),
    transformer_parameters(2, 256, jnp.bfloat16), of(jnp.bfloat16, 4, 128, 256))
row("models", "attention 8x512x512", attention, lambda g: g.standard_normal((2, 512, 512), np.float32),
    lambda g: {"qkv": 0.02 * g.standard_normal((512, 1536), np.float32),
               "out": 0.02 * g.standard_normal((512, 512), np.float32)})
row("models", "* convnet step 32x32x32x3", sgd(lambda p, x, y: cross_entropy(convnet(p, x), y)),
    convnet_parameters(), f32(32, 32, 32, 3), ints(10, 32))
row("models", "convnet forward 64x32x32x3", convnet, convnet_parameters(), f32(64, 32, 32, 3))
row("models", "batch norm 64x28x28x64",
    lambda x: (x - x.mean((0, 1, 2))) * lax.rsqrt(x.var((0, 1, 2)) + 1e-5), f32(64, 28, 28, 64))


def gaussian_process(p, x, y):
    k = jnp.exp(p[0]) * jnp.exp(-0.5 * ((x[:, None] - x) / jnp.exp(p[1])) ** 2)
    c = jnp.linalg.cholesky(k + (jnp.exp(p[2]) + 1e-3) * jnp.eye(len(x)))
    z = jsl.solve_triangular(c, y, lower=True)
    return 0.5 * z @ z + jnp.log(jnp.diag(c)).sum()


for n in (128, 512):
    row("models", f"{'* ' if n == 128 else ''}gaussian process grad {n}", jax.grad(gaussian_process),
        constant(np.array([0., -1., -1.], np.float32)),
        lambda g, n=n: np.sort(g.standard_normal(n).astype(np.float32)), f32(n))
row("models", "k-means step 10000x16 k32",
    lambda x, c: jax.ops.segment_sum(x, ((x[:, None] - c) ** 2).sum(-1).argmin(1), 32), f32(10000, 16), f32(32, 16))
row("models", "n-body forces 1024",
    lambda x: ((lambda d: d / (1e-2 + (d ** 2).sum(-1, keepdims=True)) ** 1.5)(x[:, None] - x)).sum(1), f32(1024, 3))
row("models", "pagerank 1000 20 its",
    lambda a: lax.fori_loop(0, 20, lambda i, x: 0.85 * (a / a.sum(0)) @ x + 0.15 / 1000, jnp.ones(1000) / 1000),
    positive(1000, 1000))
row("models", "gcn layer 10000 nodes 50000 edges",
    lambda x, w, s, t: nn.relu(jax.ops.segment_sum((x @ w)[s], t, 10000)), f32(10000, 64), f32(64, 64),
    ints(10000, 50000), ints(10000, 50000))
row("models", "black-scholes 1M with grads",
    lambda s: jax.vmap(jax.value_and_grad(lambda s: (lambda d: s * jax.scipy.stats.norm.cdf(d) - 100 * jnp.exp(
        -0.05) * jax.scipy.stats.norm.cdf(d - 0.2))((jnp.log(s / 100) + 0.07) / 0.2)))(s),
    lambda g: 100 * np.exp(0.2 * g.standard_normal(M, np.float32)))
row("models", "image: blur, edges, threshold 1080p",
    lambda x: (lambda b: (jnp.abs(b[1:, :-1] - b[:-1, :-1]) + jnp.abs(b[:-1, 1:] - b[:-1, :-1]) > 0.1).astype(
        jnp.uint8))((x[:-2] + x[1:-1] + x[2:]) / 3), positive(1080, 1920))

row("models", "image: sobel 1080p",
    lambda x: jnp.sqrt((x[:-2, 2:] + 2 * x[1:-1, 2:] + x[2:, 2:] - x[:-2, :-2] - 2 * x[1:-1, :-2] - x[2:, :-2]) ** 2
                       + (x[2:, :-2] + 2 * x[2:, 1:-1] + x[2:, 2:] - x[:-2, :-2] - 2 * x[:-2, 1:-1] - x[:-2, 2:]) ** 2),
    positive(1080, 1920))

# ---- compile time: the row is the compilation itself ----

COMPILE = "compile time"


def chain(n):
    def f(x):
        for i in range(n):
            x = jnp.sin(x) * 1.01 + x if i % 3 else jnp.maximum(x, -x) - 0.5
        return x
    return f


def conds(n):
    def f(x):
        for i in range(n):
            x = lax.cond(x.sum() > i, lambda x: x + 1, lambda x: x * 0.5, x)
        return x
    return f


def sine_conds(n):
    def f(x):
        for i in range(n):
            x = lax.cond(x.sum() > i, lambda x: jnp.sin(x) + i, lambda x: jnp.cos(x) * i, x)
        return x
    return f


def scalars(n):
    def f(a, b, c):
        for i in range(n):
            a, b, c = b * c + i, jnp.sqrt(a + 1), jnp.where(a > b, c, a)
        return a, b, c
    return f


row(COMPILE, "* elementwise chain 100", chain(100), f32(1000))
row(COMPILE, "elementwise chain 1000", chain(1000), f32(1000))
row(COMPILE, "conds 20", conds(20), f32(64))
row(COMPILE, "conds 100", conds(100), f32(64))
row(COMPILE, "conds 30 of sines of 10", sine_conds(30), f32(10))
row(COMPILE, "scalars 40", scalars(40), *[positive()] * 3)
row(COMPILE, "gelus 20 of 256x256", lambda x: [x := nn.gelu(x * (1 + i)) for i in range(20)][-1], f32(256, 256))
row(COMPILE, "* transformer forward 6 layers", transformer, transformer_parameters(6, 128), f32(2, 32, 128))
row(COMPILE, "transformer grad 3 layers", jax.grad(lambda p, x: (transformer(p, x) ** 2).mean()),
    transformer_parameters(3, 128), f32(2, 32, 128))
row(COMPILE, "mlp 50 layers grad", jax.grad(lambda p, x: (mlp(p, x) ** 2).mean()),
    mlp_parameters((64,) * 51), f32(8, 64))
row(COMPILE, "small dots 100", lambda x, w: [x := jnp.tanh(x @ w) for _ in range(100)][-1], f32(8, 16), f32(16, 16))
row(COMPILE, "at.set chain 100", lambda x: [x := x.at[i].set(i * 2.) for i in range(100)][-1], f32(200))
row(COMPILE, "reductions 60 shapes", lambda *xs: [x.sum(i % 2) for i, x in enumerate(xs)],
    *[f32(10 + i, 70 - i) for i in range(60)])
row(COMPILE, "lstm unrolled 10 grad", jax.grad(lambda w, x, h: sum(
    (h := jnp.tanh(jnp.concatenate([x[i], h], -1) @ w)).sum() for i in range(10))), f32(64, 32), f32(10, 4, 32),
    f32(4, 32))
row(COMPILE, "jit of x + 1", lambda x: x + 1, f32(16))


# ---- and other everyday work, in the groups above ----

def where_chain(x):
    y = x
    for i in range(8):
        y = jnp.where(x > i * 0.25, y * (i + 1), y - 1)
    return y


def log_likelihood(x, y):
    return -jnp.take_along_axis(nn.log_softmax(x), y[:, None], 1).mean()


def rotary(x, t):
    a, b = x[..., :32], x[..., 32:]
    return jnp.concatenate([a * jnp.cos(t) - b * jnp.sin(t), b * jnp.cos(t) + a * jnp.sin(t)], -1)


row("elementwise", "i8 x + y 4M", lambda x, y: x + y, *[ints(100, 4 * M, dtype=np.int8)] * 2)
row("elementwise", "i16 x * y 4M", lambda x, y: x * y, *[ints(100, 4 * M, dtype=np.int16)] * 2)
row("elementwise", "u32 hash 4M", lambda x: (x ^ (x >> 16)) * jnp.uint32(0x45d9f3b),
    ints(1 << 32, 4 * M, dtype=np.uint32))
row("elementwise", "f16 tanh 1M", jnp.tanh, of(jnp.float16, M))
row("elementwise", "bf16 gelu 1M", nn.gelu, of(jnp.bfloat16, M))
row("elementwise", "bf16 silu 1M", nn.silu, of(jnp.bfloat16, M))
row("elementwise", "f16 softplus 1M", nn.softplus, of(jnp.float16, M))
row("elementwise", "i32 // 1M", lambda x, y: x // y, ints(1 << 30, M),
    lambda g: g.integers(1, 1000, M).astype(np.int32))
row("elementwise", "i32 pow 3 1M", lambda x: x ** 3, ints(1000, M))
row("elementwise", "c64 exp 1M", jnp.exp, of(jnp.complex64, M))
row("elementwise", "where chain of 8 1M", where_chain, f32(M))
row("elementwise", "clip and round 4M", lambda x: jnp.clip(jnp.round(x * 8), -128, 127).astype(jnp.int8), f32(4 * M))
row("elementwise", "log_softmax 1024x1000", lambda x: nn.log_softmax(x, -1), f32(1024, 1000))
row("reductions", "masked softmax 256x1024", lambda x, m: nn.softmax(jnp.where(m > 0, x, -1e9), -1), f32(256, 1024),
    f32(256, 1024))
row("reductions", "sum 1000x3000 axis 0", lambda x: x.sum(0), f32(1000, 3000))
row("reductions", "sum 1000x3000 axis 1", lambda x: x.sum(1), f32(1000, 3000))
row("reductions", "sum 3-d 64x64x1024 axes 0 1", lambda x: x.sum((0, 1)), f32(64, 64, 1024))
row("reductions", "sum f64 2048x2048 axis 0", lambda x: x.sum(0),
    lambda g: g.standard_normal((2048, 2048)))
row("reductions", "mean of bf16 4M", lambda x: x.mean(), of(jnp.bfloat16, 4 * M))
row("reductions", "min 2048x2048 axis 0", lambda x: x.min(0), f32(2048, 2048))
row("reductions", "argmin 1M", jnp.argmin, f32(M))
row("reductions", "std 4096x512 axis 1", lambda x: x.std(1), f32(4096, 512))
row("reductions", "i32 sum 4M", jnp.sum, ints(1000, 4 * M))
row("reductions", "count_nonzero 4M", jnp.count_nonzero, ints(3, 4 * M))
row("reductions", "cosine similarity 1000x256", lambda x, y: (x * y).sum(1) / jnp.linalg.norm(x, axis=1)
    / jnp.linalg.norm(y, axis=1), f32(1000, 256), f32(1000, 256))
row("cumulative", "cumsum 1024x1024 axis 1 reversed", lambda x: lax.cumsum(x, 1, reverse=True), f32(1024, 1024))
row("cumulative", "cumprod 1e5", jnp.cumprod, lambda g: 1 + 1e-3 * g.standard_normal(10 ** 5).astype(np.float32))
row("sorting", "top_k 8 along axis 0 1000x512", lambda x: lax.top_k(x.T, 8), f32(1000, 512))
row("sorting", "sort 100x10000 of i16", lambda x: jnp.sort(x, -1), ints(30000, 100, 10000, dtype=np.int16))
row("sorting", "sort small rows 10000x10", lambda x: jnp.sort(x, -1), f32(10000, 10))
row("sorting", "argmax after softmax 4096x1000", lambda x: jnp.argmax(nn.softmax(x, -1), -1), f32(4096, 1000))
row("sorting", "rank of 1e5", lambda x: jnp.argsort(jnp.argsort(x)), f32(10 ** 5))
row("indexing", "scatter-add 1e6 into 100", lambda i, y: jnp.zeros(100).at[i].add(y), ints(100, 10 ** 6), f32(10 ** 6))
row("indexing", "at.max 1e5 of 1e5", lambda x, i, y: x.at[i].max(y), f32(10 ** 5), ints(10 ** 5, 10 ** 5), f32(10 ** 5))
row("indexing", "one_hot 4096 of 1000 @ w", lambda i, w: nn.one_hot(i, 1000) @ w, ints(1000, 4096), f32(1000, 64))
row("indexing", "x[i, j] 1e6", lambda x, i, j: x[i, j], f32(1000, 1000), ints(1000, 10 ** 6), ints(1000, 10 ** 6))
row("indexing", "digitize 1e6 in 20", lambda x, b: jnp.digitize(x, b), f32(10 ** 6),
    lambda g: np.linspace(-3, 3, 20).astype(np.float32))
row("moving", "image.resize 256x256 -> 512x512", lambda x: jax.image.resize(x, (512, 512, 3), "bilinear"),
    f32(256, 256, 3))
row("moving", "meshgrid 1000x1000", lambda x, y: jnp.stack(jnp.meshgrid(x, y)), f32(1000), f32(1000))
row("moving", "tril 2048", jnp.tril, f32(2048, 2048))
row("moving", "kron 64x64 32x32", jnp.kron, f32(64, 64), f32(32, 32))
row("moving", "swapaxes 64x128x64x16 13", lambda x: jnp.swapaxes(x, 1, 3) * 1, f32(64, 128, 64, 16))
row("moving", "reshape and transpose patches 8x224x224x3",
    lambda x: x.reshape(8, 14, 16, 14, 16, 3).transpose(0, 1, 3, 2, 4, 5).reshape(8, 196, 768), f32(8, 224, 224, 3))
row("products", "einsum of four 64", lambda a, b, c, d: jnp.einsum("ij,jk,kl,lm->im", a, b, c, d), *[f32(64, 64)] * 4)
row("products", "einsum bhqk,bhkd 4x8x256x64", lambda p, v: jnp.einsum("bhqk,bhkd->bhqd", p, v), f32(4, 8, 256, 256),
    f32(4, 8, 256, 64))
row("products", "tensordot 32x32x64 64x32", lambda x, y: jnp.tensordot(x, y, 1), f32(32, 32, 64), f32(64, 32))
row("products", "cross 1e5x3", jnp.cross, f32(10 ** 5, 3), f32(10 ** 5, 3))
row("products", "vdot 1M", jnp.vdot, f32(M), f32(M))
row("convolutions", "3x3 same 1x256x256x16", lambda x, w: lax.conv_general_dilated(
    x, w, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")), f32(1, 256, 256, 16), f32(3, 3, 16, 16))
row("convolutions", "jnp.correlate 1e5 by 31", lambda x, k: jnp.correlate(x, k, "same"), f32(10 ** 5), f32(31))
row("linear algebra", "vmap of solve 5 x 1000", jax.vmap(jnp.linalg.solve), spd(1000, 5, 5), f32(1000, 5))
row("linear algebra", "triangular solve batch 6 x 1000", lambda l, b: lax.linalg.triangular_solve(
    l, b, left_side=True, lower=True), triangular(1000, 6, 6), f32(1000, 6, 2))
row("linear algebra", "expm 16 x 50", jax.vmap(jsl.expm), lambda g: 0.1 * g.standard_normal((50, 16, 16), np.float32))
row("linear algebra", "det 4 x 5000", jnp.linalg.det, spd(5000, 4, 4))
row("linear algebra", "slogdet 6 x 2000", jnp.linalg.slogdet, spd(2000, 6, 6))
row("linear algebra", "cho_solve 200", lambda a, b: jsl.cho_solve(jsl.cho_factor(a), b), spd(200, 200), f32(200))
row("linear algebra", "norm 2 of 200x200", lambda x: jnp.linalg.norm(x, 2), f32(200, 200))
row("linear algebra", "lstsq 200x5", lambda a, b: jnp.linalg.lstsq(a, b)[0], f32(200, 5), f32(200))
row("random", "choice with p 1e5 of 1000", lambda k, p: random.choice(k, 1000, (10 ** 5,), p=p / p.sum()), key(),
    positive(1000))
row("random", "poisson 1e5", lambda k: random.poisson(k, 3.0, (10 ** 5,)), key())
row("random", "gumbel 1M", lambda k: random.gumbel(k, (M,)), key())
row("random", "multivariate normal 10000 of 8", lambda k, c: random.multivariate_normal(k, jnp.zeros(8), c, (10000,)),
    key(), spd(8, 8))
row("loops", "scan 1e5 scalar steps", lambda x: lax.scan(lambda c, v: (0.99 * c + v, c), 0.0, x), f32(10 ** 5))
row("loops", "map of sums 1000x100", lambda x: lax.map(lambda v: jnp.tanh(v).sum(), x), f32(1000, 100))
row("loops", "while with large carries 64 its",
    lambda x, y: lax.fori_loop(0, 64, lambda i, s: (s[1], s[0] * 0.5 + s[1]), (x, y)), f32(512, 512), f32(512, 512))
row("loops", "fori gather-update 500",
    lambda x: lax.fori_loop(0, 500, lambda i, v: v.at[i % 100].set(v[(i * 7) % 100] + 1), x), f32(100))
row("models", "cross entropy of logits 1024x1000", log_likelihood, f32(1024, 1000), ints(1000, 1024))
row("models", "rotary embedding 8x256x8x64", rotary, f32(8, 256, 8, 64), f32(256, 1, 32))
row("models", "polyfit 1000 of degree 5", lambda x, y: jnp.polyfit(x, y, 5), f32(1000), f32(1000))


# ---- near the weak spots: other sizes, types and axes ----

for element in ("float64", "float16", "bfloat16", "uint8", "int8", "uint32"):
    row("elementwise", f"{element} 2 x - y 1M", lambda x, y: 2 * x - y,
        *(2 * [ints(100, M, dtype=np.dtype(element))] if "int" in element else 2 * [of(element, M)]))
    row("reductions", f"{element} sum 1024x1024 axis 0", lambda x: x.sum(0),
        ints(100, 1024, 1024, dtype=np.dtype(element)) if "int" in element else of(element, 1024, 1024))
    row("reductions", f"{element} max 512x2000 axis 1", lambda x: x.max(1),
        ints(100, 512, 2000, dtype=np.dtype(element)) if "int" in element else of(element, 512, 2000))
row("elementwise", "x / (1 + |x|) 100K", lambda x: x / (1 + jnp.abs(x)), f32(100000))
row("elementwise", "hypot 1M", jnp.hypot, f32(M), f32(M))
row("elementwise", "logaddexp 1M", jnp.logaddexp, f32(M), f32(M))
row("elementwise", "sin f64 1M", jnp.sin, lambda g: g.standard_normal(M))
row("elementwise", "exp f64 100K", jnp.exp, lambda g: g.standard_normal(100000))
row("elementwise", "rmsprop update 1M", lambda p, g, v: (p - 1e-3 * g / (jnp.sqrt(0.9 * v + 0.1 * g * g) + 1e-8),
                                                         0.9 * v + 0.1 * g * g), f32(M), f32(M), positive(M))
row("elementwise", "sgd momentum of 20 arrays 64x64",
    lambda *a: [(p - 0.1 * (0.9 * v + g), 0.9 * v + g) for p, g, v in zip(a[:20], a[20:40], a[40:])],
    *(60 * [f32(64, 64)]))
row("reductions", "sum 200x300x400 axis 1", lambda x: x.sum(1), f32(200, 300, 400))
row("reductions", "max 64x128x256 axes 0 2", lambda x: x.max((0, 2)), f32(64, 128, 256))
row("reductions", "prod 1000x100 axis 1", lambda x: x.prod(1), positive(1000, 100))
row("reductions", "all 4096x1000 axis 0", lambda x: (x > -9).all(0), f32(4096, 1000))
row("reductions", "mean and var 100000x8 axis 0", lambda x: (x.mean(0), x.var(0)), f32(100000, 8))
row("reductions", "softmax 64x50000", nn.softmax, f32(64, 50000))
row("reductions", "softmax axis 0 1000x1000", lambda x: nn.softmax(x, 0), f32(1000, 1000))
row("indexing", "take columns 500 of 2000x2000", lambda x, i: x[:, i], f32(2000, 2000), ints(2000, 500))
row("indexing", "take rows of i8 10000 of 50000x64",
    lambda x, i: x[i], ints(100, 50000, 64, dtype=np.int8), ints(50000, 10000))
row("indexing", "scatter rows 5000 of 20000x32",
    lambda x, i, y: x.at[i].set(y), f32(20000, 32), ints(20000, 5000), f32(5000, 32))
row("indexing", "at.add 2-d 1e5 of 1000x1000",
    lambda x, i, j: x.at[i, j].add(1.0), f32(1000, 1000), ints(1000, 100000), ints(1000, 100000))
row("indexing", "at.mul 1e4 of 1e5", lambda x, i: x.at[i].multiply(2.0), f32(100000), ints(100000, 10000))
row("indexing", "segment_min 1e5 -> 100", lambda x, i: jax.ops.segment_min(x, i, 100), f32(100000), ints(100, 100000))
row("indexing", "take_along_axis 1000x500 axis 0",
    lambda x, i: jnp.take_along_axis(x, i, 0), f32(1000, 500), ints(1000, 200, 500))
row("moving", "transpose 100x200x300 210", lambda x: x.transpose(2, 1, 0), f32(100, 200, 300))
row("moving", "transpose 64x100x100 021", lambda x: x.transpose(0, 2, 1), f32(64, 100, 100))
row("moving", "transpose 1000x1001 u8", lambda x: x.T, ints(200, 1000, 1001, dtype=np.uint8))
row("moving", "transpose 777x1234 f64", lambda x: x.T, lambda g: g.standard_normal((777, 1234)))
row("moving", "concatenate 3 of 1000x333 axis 1", lambda *x: jnp.concatenate(x, 1), *(3 * [f32(1000, 333)]))
row("moving", "diagonal of 2000x2000", lambda x: jnp.diagonal(x) * 1, f32(2000, 2000))
row("moving", "vstack of 100 x 1000", lambda *x: jnp.vstack(x), *(100 * [f32(1000)]))
row("products", "matmul 333", jnp.matmul, f32(333, 333), f32(333, 333))
row("products", "matmul 129x257x65", jnp.matmul, f32(129, 257), f32(257, 65))
row("products", "matmul 1000x10 @ 10x1000", jnp.matmul, f32(1000, 10), f32(10, 1000))
row("products", "batch 1000 of 8x8", jnp.matmul, f32(1000, 8, 8), f32(1000, 8, 8))
row("products", "batch 200 of 33x17 @ 17x29", jnp.matmul, f32(200, 33, 17), f32(200, 17, 29))
row("products", "gram 5000x40", lambda x: x.T @ x, f32(5000, 40))
row("products", "x @ x.T 700x300", lambda x: x @ x.T, f32(700, 300))
row("products", "matmul f64 333",
    jnp.matmul, lambda g: g.standard_normal((333, 333)), lambda g: g.standard_normal((333, 333)))
row("products", "matmul float16 300", jnp.matmul, of("float16", 300, 300), of("float16", 300, 300))
row("products", "bilinear x.T A y 500", lambda x, a, y: x @ a @ y, f32(500), f32(500, 500), f32(500))
row("convolutions", "5x5 4x64x64x16 -> 32", conv(), f32(4, 64, 64, 16), f32(5, 5, 16, 32))
row("convolutions", "3x3 1x14x14x256", conv(), f32(1, 14, 14, 256), f32(3, 3, 256, 256))
row("convolutions", "1-d 8x1000x64 k3", lambda x, w: lax.conv_general_dilated(
    x, w, (1,), "SAME", dimension_numbers=("NWC", "WIO", "NWC")), f32(8, 1000, 64), f32(3, 64, 64))
row("convolutions", "max_pool 2x2 NCHW 8x32x64x64", lambda x: lax.reduce_window(
    x, -jnp.inf, lax.max, (1, 1, 2, 2), (1, 1, 2, 2), "VALID"), f32(8, 32, 64, 64))
for n in (360, 729, 1023, 1536, 2003):
    row("fourier", f"fft 200 x {n}", jnp.fft.fft, of(np.complex64, 200, n))
for n in (480, 1155, 4000):
    row("fourier", f"rfft 200 x {n}", jnp.fft.rfft, f32(200, n))
row("fourier", "rfft2 300x200", jnp.fft.rfft2, f32(300, 200))
for n in (5, 12, 24, 48, 64):
    row("linear algebra", f"solve {n} x 200", jnp.linalg.solve, spd(200, n, n), f32(200, n, 3))
    row("linear algebra", f"cholesky {n} x 200", jnp.linalg.cholesky, spd(200, n, n))
for n in (200, 300, 800):
    row("linear algebra", f"solve {n} one side", jnp.linalg.solve, spd(n, n), f32(n))
    row("linear algebra", f"cholesky {n}", jnp.linalg.cholesky, spd(n, n))
    row("linear algebra", f"inv {n}", jnp.linalg.inv, spd(n, n))
row("linear algebra", "eigh 24 x 100", jnp.linalg.eigh, spd(100, 24, 24))
row("linear algebra", "svd 40x20 x 50", lambda x: jnp.linalg.svd(x, full_matrices=False), f32(50, 40, 20))
row("linear algebra", "qr 300x100", jnp.linalg.qr, f32(300, 100))
row("linear algebra", "triangular solve 300 of 300x10",
    lambda a, b: jsl.solve_triangular(a, b, lower=True), triangular(300, 300), f32(300, 10))
row("loops", "newton 3-d 20 its", lambda x: lax.fori_loop(0, 20, lambda i, x: x - jnp.linalg.solve(
    jax.jacfwd(lambda x: x * x + x[::-1] - 1)(x) + 3 * jnp.eye(3), x * x + x[::-1] - 1), x), positive(3))
row("loops", "scan of cholesky 4 200 steps", lambda p: lax.scan(
    lambda p, _: (0.9 * jnp.linalg.cholesky(p) @ jnp.linalg.cholesky(p).T + 0.1 * jnp.eye(4), p[0, 0]), p, None,
    200), spd(4, 4))
row("loops", "scan of matmul 32x32 200 steps",
    lambda a, x: lax.scan(lambda x, _: (jnp.tanh(0.1 * a @ x), x[0, 0]), x, None, 200), f32(32, 32), f32(32, 32))
row("loops", "adam 200 steps of 10x10 quadratic", lambda x: lax.fori_loop(0, 200, lambda i, s: (
    s[0] - 0.01 * s[1] / (jnp.sqrt(s[2]) + 1e-8), 0.9 * s[1] + 0.1 * 2 * s[0], 0.999 * s[2] + 0.004 * s[0] ** 2),
    (x, 0 * x, 0 * x))[0], f32(10, 10))
row("models", "grad of logistic loss 5000x50",
    jax.grad(lambda w, x, y: jnp.logaddexp(0, -y * (x @ w)).mean()), f32(50), f32(5000, 50), f32(5000))
row("models", "vmap of grad of mlp 32 x 16-32-1",
    jax.vmap(jax.grad(lambda w, v, x: (jnp.tanh(x @ w) @ v) ** 2), (None, None, 0)), f32(16, 32), f32(32), f32(32,
    16))
row("models", "hessian of rosenbrock 20",
    jax.hessian(lambda x: (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()), f32(20))
row("models", "jacfwd of softmax 100", jax.jacfwd(nn.softmax), f32(100))
row("models", "layer norm grad 512x768", jax.grad(lambda x, g: ((((x - x.mean(-1, keepdims=True)) / jnp.sqrt(
    x.var(-1, keepdims=True) + 1e-5)) * g) ** 2).sum(), (0, 1)), f32(512, 768), f32(768))


# ---- rows that once were slower than JAX ----

row(
    "elementwise",
    "channel affine NCHW 16x32x64x64",
    lambda x, a, b: x * a[:, None, None] + b[:, None, None],
    f32(16, 32, 64, 64),
    f32(32),
    f32(32),
)
row("reductions", "max 500x500x9 axis 2", lambda x: x.max(2), f32(500, 500, 9))
row("reductions", "sum NCHW over N H W 32x64x56x56", lambda x: x.sum((0, 2, 3)), f32(32, 64, 56, 56))
row("reductions", "argmax last axis 10: 100000x10", lambda x: x.argmax(-1), f32(100000, 10))
row("cumulative", "diff 4M", jnp.diff, f32(4 * M))
row("indexing", "take f32 lut 1M of u8", lambda t, x: t[x], f32(256), ints(256, M, dtype=np.uint8))
row(
    "indexing",
    "take i32 of 1e6 mode clip",
    lambda x, i: jnp.take(x, i, mode="clip"),
    ints(100, 10**6),
    ints(10**6, 10**6),
)
row(
    "indexing",
    "frames of signal 1e5 by 400 hop 160",
    lambda x: x[jnp.arange(600)[:, None] * 160 + jnp.arange(400)],
    f32(100000),
)
row(
    "indexing",
    "bilinear sample 512x512",
    lambda im, y, x: jax.scipy.ndimage.map_coordinates(im, [y, x], 1),
    f32(512, 512),
    *2 * [lambda g: g.random(100000, np.float32) * 510]
)
row(
    "indexing",
    "segment_sum sorted 1e6 -> 1e5",
    lambda x, s: jax.ops.segment_sum(x, s, 100000, indices_are_sorted=True),
    f32(10**6),
    lambda g: np.sort(g.integers(0, 100000, 10**6)).astype(np.int32),
)
row("indexing", "one_hot bf16 4096x1000", lambda i: nn.one_hot(i, 1000, dtype=jnp.bfloat16), ints(1000, 4096))
row("indexing", "x[:, ::2] 2000x2000", lambda x: x[:, ::2], f32(2000, 2000))
row("indexing", "crop and flip images 32x64x64x3", lambda x: x[:, 4:60, 4:60][:, :, ::-1], f32(32, 64, 64, 3))
row(
    "indexing",
    "choose 4 of 1e6",
    lambda i, a, b, c, d: jnp.choose(i, [a, b, c, d], mode="clip"),
    ints(4, 10**6),
    *4 * [f32(10**6)]
)
row("indexing", "select 3 conds 1e6", lambda x: jnp.select([x < -1, x < 0, x < 1], [x, x * 2, x * 3], 0), f32(10**6))
row(
    "indexing",
    "piecewise 1e6",
    lambda x: jnp.piecewise(x, [x < 0, x >= 0], [lambda v: -v, lambda v: v * 2]),
    f32(10**6),
)
row("moving", "stack 4 axis 1 1000x500", lambda *a: jnp.stack(a, 1), *4 * [f32(1000, 500)])
row("moving", "rot90 image u8 1000x800x3", jnp.rot90, ints(256, 1000, 800, 3, dtype=np.uint8))
row("moving", "pad reflect 1000x1000", lambda x: jnp.pad(x, 3, mode="reflect"), f32(1000, 1000))
row("moving", "image.resize nearest 2x", lambda x: jax.image.resize(x, (512, 512, 3), "nearest"), f32(256, 256, 3))
row(
    "moving", "image.resize down 512 -> 224", lambda x: jax.image.resize(x, (224, 224, 3), "bilinear"), f32(512, 512, 3)
)
row("moving", "reshape merge 4-d", lambda x: x.transpose(0, 2, 1, 3).reshape(32, 128, 1024), f32(32, 16, 128, 64))
row("moving", "toeplitz 1000", jsl.toeplitz, f32(1000))
row("moving", "block_diag 8 of 64", lambda *a: jsl.block_diag(*a), *8 * [f32(64, 64)])
row("moving", "packbits 4M", jnp.packbits, bools(4 * M))
row("moving", "unpackbits 500K", jnp.unpackbits, ints(256, 500000, dtype=np.uint8))
row(
    "products",
    "bf16 -> f32 512",
    lambda x, y: jnp.matmul(x, y, preferred_element_type=jnp.float32),
    *2 * [of(jnp.bfloat16, 512, 512)]
)
row("products", "x.T @ y.T 600", lambda x, y: x.T @ y.T, f32(600, 600), f32(600, 600))
row("products", "a @ b @ c 300", lambda a, b, c: a @ b @ c, *3 * [f32(300, 300)])
row("products", "a @ b + c 500", lambda a, b, c: a @ b + c, *3 * [f32(500, 500)])
row(
    "products",
    "quadratic forms x A x 1000x64",
    lambda x, a: jnp.einsum("ni,ij,nj->n", x, a, x),
    f32(1000, 64),
    f32(64, 64),
)
row(
    "products",
    "einsum btd,dhk->bthk",
    lambda x, w: jnp.einsum("btd,dhk->bthk", x, w),
    f32(8, 128, 256),
    f32(256, 8, 32),
)
row("products", "einsum outer bi,bj->bij", lambda x, y: jnp.einsum("bi,bj->bij", x, y), f32(500, 64), f32(500, 64))
row("products", "batch 8 of 256x256", jnp.matmul, f32(8, 256, 256), f32(8, 256, 256))
row(
    "products",
    "gelu mlp 128x256x1024",
    lambda x, a, b: nn.gelu(x @ a) @ b,
    f32(128, 256),
    f32(256, 1024),
    f32(1024, 256),
)
row(
    "products",
    "cosine matrix 1000x128",
    lambda x: (lambda y: y @ y.T)(x / jnp.linalg.norm(x, axis=1, keepdims=True)),
    f32(1000, 128),
)
row(
    "convolutions",
    "3x3 NCHW 16x128x14x14",
    conv(dims=("NCHW", "OIHW", "NCHW")),
    f32(16, 128, 14, 14),
    f32(128, 128, 3, 3),
)
row(
    "convolutions",
    "grads 3x3 16x14x14x128",
    lambda x, w: jax.grad(lambda x, w: (conv()(x, w) ** 2).sum(), (0, 1))(x, w),
    f32(16, 14, 14, 128),
    f32(3, 3, 128, 128),
)
row(
    "convolutions",
    "transposed 2x2 s2 8x28x28x64",
    lambda x, w: lax.conv_transpose(x, w, (2, 2), "SAME"),
    f32(8, 28, 28, 64),
    f32(2, 2, 64, 32),
)
row("convolutions", "fftconvolve 1e5 by 1e4", lambda x, k: jax.scipy.signal.fftconvolve(x, k), f32(100000), f32(10000))
row("linear algebra", "cholesky f64 300", jnp.linalg.cholesky, lambda g: spd(300, 300)(g).astype(np.float64))
row(
    "linear algebra",
    "inv c64 200",
    jnp.linalg.inv,
    lambda g: (spd(200, 200)(g) + 1j * spd(200, 200)(g)).astype(np.complex64),
)
row("linear algebra", "eig 64", lambda x: jnp.sort(jnp.abs(jnp.linalg.eig(x)[0])), f32(64, 64))
row("linear algebra", "matrix_rank 100", jnp.linalg.matrix_rank, f32(100, 100))
row("linear algebra", "cond 100", jnp.linalg.cond, spd(100, 100))
row("linear algebra", "qr 1000x10", lambda x: jnp.abs(jnp.linalg.qr(x)[0]), f32(1000, 10))
row("linear algebra", "qr 200x200 with q", lambda x: jnp.abs(jnp.linalg.qr(x)[0]), f32(200, 200))
row(
    "linear algebra",
    "mahalanobis 1000x10",
    lambda x, a: (jsl.solve_triangular(jnp.linalg.cholesky(a), x.T, lower=True) ** 2).sum(0),
    f32(1000, 10),
    spd(10, 10),
)
row(
    "loops",
    "while until converged",
    lambda x: lax.while_loop(lambda s: jnp.abs(s[0] - s[1]).max() > 1e-5, lambda s: (jnp.cos(s[0]), s[0]), (x, x + 1)),
    f32(100),
)
row(
    "loops",
    "switch of 4 in fori 500",
    lambda x: lax.fori_loop(
        0, 500, lambda i, x: lax.switch(i % 4, [lambda x: x + 1, lambda x: x * 0.5, jnp.sin, lambda x: -x], x), x
    ),
    f32(32),
)
row(
    "loops",
    "prime sieve 10000",
    lambda: lax.fori_loop(
        2,
        100,
        lambda i, s: jnp.where((jnp.arange(10000) % i == 0) & (jnp.arange(10000) > i), False, s),
        jnp.ones(10000, bool),
    ),
)
row(
    "loops",
    "odeint lorenz",
    lambda y: jax.experimental.ode.odeint(
        lambda y, t: jnp.stack([10 * (y[1] - y[0]), y[0] * (28 - y[2]) - y[1], y[0] * y[1] - 8 / 3 * y[2]]),
        y,
        jnp.linspace(0, 1.0, 20),
    ),
    positive(3),
)
row(
    "loops",
    "scan of fft 64",
    lambda x: lax.scan(lambda c, _: ((lambda y: (y.real, None))(jnp.fft.ifft(jnp.fft.fft(c) * 0.99))), x, None, 50)[0],
    f32(256),
)
row("models", "mlp forward b1024 32-128-128-1", mlp, mlp_parameters((32, 128, 128, 1)), f32(1024, 32))
row("models", "transformer forward 1x16x512 4 layers", transformer, transformer_parameters(4, 512), f32(1, 16, 512))
row(
    "models",
    "lattice boltzmann-ish 64x64x9",
    lambda f: lax.fori_loop(
        0,
        20,
        lambda i, f: (lambda r: f - 0.5 * (f - r[..., None] / 9))(
            jnp.stack([jnp.roll(f[..., k], (k % 3 - 1, k // 3 - 1), (0, 1)) for k in range(9)], -1).sum(-1)
        ),
        f,
    ),
    positive(64, 64, 9),
)
row(
    "models",
    "iou matrix 500x500",
    lambda a, b: (lambda i, x, y: i / (x[:, None] + y - i))(
        (jnp.clip(jnp.minimum(a[:, None, 2:], b[:, 2:]) - jnp.maximum(a[:, None, :2], b[:, :2]), 0)).prod(-1),
        (a[:, 2:] - a[:, :2]).prod(-1),
        (b[:, 2:] - b[:, :2]).prod(-1),
    ),
    f32(500, 4),
    f32(500, 4),
)
row(
    "models",
    "rotate points quaternion 1e5",
    lambda q, p: p + 2 * jnp.cross(q[1:], jnp.cross(jnp.broadcast_to(q[1:], p.shape), p) + q[0] * p),
    f32(4),
    f32(100000, 3),
)

for m, k, n in ((4, 1024, 4096), (32, 768, 3072), (128, 768, 768), (256, 4096, 16), (2000, 3, 2000), (10000, 128, 10)):
    row("products", f"{m}x{k} @ {k}x{n}", jnp.matmul, f32(m, k), f32(k, n))
for n in (384, 500, 768):
    row("products", f"matmul f32 {n}", jnp.matmul, f32(n, n), f32(n, n))
row("products", "matmul f64 768", jnp.matmul, *[of(jnp.float64, 768, 768)] * 2)
CHANNELS_FIRST = ("NCHW", "OIHW", "NCHW")
row("convolutions", "3x3 NCHW 8x256x7x7", conv(dims=CHANNELS_FIRST), f32(8, 256, 7, 7), f32(256, 256, 3, 3))
row("convolutions", "3x3 stride 2 NCHW 8x64x56x56", conv((2, 2), dims=CHANNELS_FIRST), f32(8, 64, 56, 56),
    f32(128, 64, 3, 3))
row("convolutions", "7x7 stride 2 NCHW 4x3x224x224", conv((2, 2), dims=CHANNELS_FIRST), f32(4, 3, 224, 224),
    f32(64, 3, 7, 7))
row("convolutions", "grads NCHW 8x64x14x14", lambda x, w: jax.grad(
    lambda x, w: (conv(dims=CHANNELS_FIRST)(x, w) ** 2).sum(), argnums=(0, 1))(x, w), f32(8, 64, 14, 14),
    f32(64, 64, 3, 3))
for lines, n in ((10, 10000), (8, 16384), (1, 109999)):
    row("fourier", f"fft {lines} x {n}", jnp.fft.fft, of(np.complex64, lines, n))
    row("fourier", f"rfft {lines} x {n}", jnp.fft.rfft, f32(lines, n))
for n in (100, 256, 400):
    row("linear algebra", f"cho_solve {n}", lambda a, b: jsl.cho_solve(jsl.cho_factor(a), b), spd(n, n), f32(n))
row("linear algebra", "det 2 x 5000", jnp.linalg.det, spd(5000, 2, 2))
row("linear algebra", "lu 10", lambda x: jsl.lu_factor(x)[0], spd(10, 10))
row("linear algebra", "qr 400", lambda x: jnp.abs(jnp.linalg.qr(x)[1]), f32(400, 400))
row("linear algebra", "svd values 32 x 19", lambda x: jnp.linalg.svd(x, compute_uv=False), f32(19, 32, 32))
row("linear algebra", "triangular solve 10, transposed",
    lambda a, b: jsl.solve_triangular(a, b, trans=1, lower=True), triangular(10, 10), f32(10, 20))
for shape, axis in (((100, 100), 0), ((512, 2000), 1), ((64, 128, 256), (0, 2))):
    row(COMPILE, f"max {'x'.join(map(str, shape))} axis {axis}", lambda x, axis=axis: x.max(axis), f32(*shape))
row(COMPILE, "3x3 2x16x16x8", conv(), f32(2, 16, 16, 8), f32(3, 3, 8, 8))


# ---- models that decode ----

def rms(x):
    return x * lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-6)


def layers(n, d):
    """Weights of n layers, each of attention and a gated product."""
    shapes = dict(q=(d, d), k=(d, d), v=(d, d), o=(d, d), u=(d, 4 * d), d=(4 * d, d))
    return lambda g: {k: 0.05 * g.standard_normal((n, *s), np.float32) for k, s in shapes.items()}


def attend(q, keys, values, mask):
    scores = jnp.where(mask, jnp.einsum("bhd,bthd->bht", q, keys) / 8, -1e9)
    return jnp.einsum("bht,bthd->bhd", nn.softmax(scores), values).reshape(len(q), -1)


def decode_layer(x, w, keys, values, position, heads=8):
    n = rms(x)
    q, k, v = ((n @ w[i]).reshape(len(x), heads, -1) for i in "qkv")
    keys = lax.dynamic_update_index_in_dim(keys, k, position, 1)
    values = lax.dynamic_update_index_in_dim(values, v, position, 1)
    x = x + attend(q, keys, values, jnp.arange(keys.shape[1]) <= position) @ w["o"]
    return x + nn.silu(rms(x) @ w["u"]) @ w["d"], (keys, values)


def decode(w, table, keys, values, token):
    def step(c, position):
        keys, values, token = c
        x, (keys, values) = lax.scan(lambda x, l: decode_layer(x, *l, position), table[token], (w, keys, values))
        token = (x @ table.T).argmax(-1).astype(jnp.int32)
        return (keys, values, token), token
    return lax.scan(step, (keys, values, token), jnp.arange(8))[1]


def sample(x):
    key = random.PRNGKey(0)
    best, places = lax.top_k(x, 50)
    ordered = jnp.sort(x, -1)[:, ::-1]
    more = (jnp.cumsum(nn.softmax(ordered), -1) < 0.9).sum(-1, keepdims=True)
    cut = jnp.take_along_axis(ordered, more, 1)
    return (jnp.take_along_axis(places, random.categorical(key, best)[:, None], 1),
            random.categorical(key, jnp.where(x < cut, -jnp.inf, x)))


def rotated(x):
    half = x.shape[-1] // 2
    angles = jnp.arange(x.shape[1])[:, None] / 10000 ** (jnp.arange(half) / half)
    cos, sin = jnp.cos(angles)[:, None], jnp.sin(angles)[:, None]
    return jnp.concatenate([x[..., :half] * cos - x[..., half:] * sin, x[..., half:] * cos + x[..., :half] * sin], -1)


row("models", "decode 8 tokens, 4 layers of 256, 4x256x8x32", decode, layers(4, 256), f32(2000, 256),
    f32(4, 4, 256, 8, 32), f32(4, 4, 256, 8, 32), ints(2000, 4))
row("models", "sample top-k and top-p 4x32000", sample, f32(4, 32000))
row("models", "attention of groups, rotated, 1x256x8x64 by 2",
    lambda q, k, v: nn.dot_product_attention(rotated(q), rotated(k), v, is_causal=True), f32(1, 256, 8, 64),
    f32(1, 256, 2, 64), f32(1, 256, 2, 64))
row("models", "attention gradients 2x128x4x32",
    lambda *a: jax.grad(lambda *a: (nn.dot_product_attention(*a, is_causal=True) ** 2).sum(), (0, 1, 2))(*a),
    *[f32(2, 128, 4, 32)] * 3)
row("models", "perplexity 8x128x2000",
    lambda x, y: jnp.exp(-jnp.take_along_axis(nn.log_softmax(x), y[..., None], -1).mean()), f32(8, 128, 2000),
    ints(2000, 8, 128))
row("products", "4x1024 @ i8 1024x4096, scaled", lambda x, w, s: x @ (w.astype(jnp.float32) * s), f32(4, 1024),
    ints(100, 1024, 4096, dtype=np.int8), f32(4096))
row("products", "4x1024 @ bf16 1024x4096 in f32", lambda x, w: x @ w.astype(jnp.float32), f32(4, 1024),
    of(jnp.bfloat16, 1024, 4096))
row("products", "3x1024 @ 1024x4096", jnp.matmul, f32(3, 1024), f32(1024, 4096))
for n in (4, 16):
    row("products", f"gram 100000x{n}", lambda x: x.T @ x, f32(100000, n))
for k, n in ((4, 4), (16, 4), (32, 8)):
    row("products", f"100000x{k} @ {k}x{n}", jnp.matmul, f32(100000, k), f32(k, n))
row("products", "dense 50000x8 by 8x8", lambda x, w, b: jnp.tanh(x @ w.T + b), f32(50000, 8), f32(8, 8), f32(8))
row("products", "4x4 @ 4x4, 1000", jnp.matmul, f32(1000, 4, 4), f32(1000, 4, 4))
row("convolutions", "patches 4x4 s4 8x64x64x3, gradients",
    lambda x, w: jax.grad(lambda x, w: (conv((4, 4), "VALID")(x, w) ** 2).sum(), (0, 1))(x, w), f32(8, 64, 64, 3),
    f32(4, 4, 3, 64))
