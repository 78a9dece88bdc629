"""Lines that call larger functions of JAX, which lower to many operations: a table of texts.

In a text {x} is any value that the row's first word allows, {y} another of the same shape and type,
{i} an integer one, {n} a small number, {a} an axis of x.
"""
import data
from program import Kind

ROUND, KINK, JUMP, MOVE = Kind.ROUND, Kind.KINK, Kind.JUMP, Kind.MOVE


def real(v):
    return data.is_float(v.dtype) and v.dtype not in data.SMALL_FLOATS


def single(v):
    return v.dtype in ("float32", "float64")


WANTS = {
    "real": lambda v: real(v) and 0 < v.rank and v.size < 2000,
    "single": lambda v: single(v) and 0 < v.rank and v.size < 2000,
    "number": lambda v: v.dtype != "bool" and 0 < v.rank and v.size < 2000,
    "integer": lambda v: data.is_integer(v.dtype) and 0 < v.rank and v.size < 2000,
    "any": lambda v: 0 < v.rank and v.size < 2000,
    "bits": lambda v: v.dtype in ("bool", "uint8") and 0 < v.rank,
}

TABLE = [
    ("single", ROUND, "jnp.interp({x}, jnp.linspace(-2, 2, 7, dtype={x}.dtype), "
                      "jnp.cos(jnp.arange(7, dtype={x}.dtype)))"),
    ("real", ROUND, "jnp.trapezoid({x}, axis={a})"),
    ("real", ROUND, "jnp.average({x}, axis={a}, weights=jnp.square({y}) + 1)"),
    ("single", ROUND, "jnp.cov(jnp.resize({x}, (3, 5)))"),
    ("real", JUMP, "jnp.quantile({x}, 0.3, axis={a}, method='lower')"),
    ("real", JUMP, "jnp.nanmedian({x}, axis={a})"),
    ("real", JUMP, "jnp.histogram({x}, bins=5, range=(-2, 2))[0]"),
    ("number", ROUND, "jnp.cross(jnp.resize({x}, (4, 3)), jnp.resize({y}, (4, 3)))"),
    ("number", ROUND, "jnp.polyval(jnp.ravel({x})[:4], {y})"),
    ("number", ROUND, "jnp.vander(jnp.ravel({x})[:6], {n})"),
    ("number", ROUND, "jnp.trace(jnp.resize({x}, (3, 4, 4)), axis1=1, axis2=2)"),
    ("number", ROUND, "lax.associative_scan(lambda p, q: p + q, {x}, axis={a}, reverse=True)"),
    ("number", ROUND, "lax.associative_scan(lambda p, q: (p[0] * q[0], p[1] * q[0] + q[1]), "
                      "({x}, {y}), axis={a})"),
    ("number", ROUND, "lax.map(lambda r: jnp.sum(r * r), {x})"),
    ("number", ROUND, "lax.map(lambda r: r * 2 + 1, {x}, batch_size={n})"),
    ("any", JUMP, "jnp.lexsort(({x}, {y}), axis={a})"),
    ("any", MOVE, "jnp.insert({x}, {n}, 1, axis={a})"),
    ("any", MOVE, "jnp.delete({x}, np.array([0]), axis={a})"),
    ("any", MOVE, "jnp.select([{x} != {x}, {i} > 1], [{x}, {y}], 0)"),
    ("any", MOVE, "lax.dynamic_index_in_dim({x}, jnp.ravel({i})[0], axis={a})"),
    ("any", MOVE, "lax.select_n(jnp.ones({x}.shape, bool), {x}, {y})"),
    ("any", MOVE, "jnp.apply_along_axis(lambda r: r[::-1], {a}, {x})"),
    ("any", MOVE, "lax.rev({x}, ({a},))"),
    ("any", MOVE, "jnp.moveaxis({x}, {a}, -1)"),
    ("any", MOVE, "jnp.block([[{x}, {y}], [{y}, {x}]])"),
    ("any", MOVE, "jnp.unstack({x}, axis={a})[0]"),
    ("any", MOVE, "{x}.at[np.arange({x}.shape[0]) % 2 == 0].set(0)"),
    ("any", MOVE, "{x}[np.arange({x}.shape[0]) % 3 == 1]"),
    ("number", ROUND, "{x}.at[{i} & 3].mul({x}.dtype.type(2), mode='drop')"),
    ("any", JUMP, "jnp.argwhere({x}, size={n}, fill_value=-1)"),
    ("any", JUMP, "jnp.unique(jnp.ravel({x})[:30], size=4, return_inverse=True, "
                  "return_counts=True, fill_value=1)[1:]"),
    ("integer", JUMP, "jax.nn.one_hot({x}, 5, dtype='int8')"),
    ("integer", ROUND, "jax.nn.one_hot({x}, 5, dtype=jnp.float32)"),
    ("integer", JUMP, "lax.reduce({x}, {x}.dtype.type(-1 if {x}.dtype.kind == 'i' else 255), "
                      "lax.bitwise_and, ({a},))"),
    ("integer", JUMP, "lax.reduce({x}, {x}.dtype.type(0), lax.bitwise_xor, ({a},))"),
    ("integer", JUMP, "lax.reduce(({x}, {y}), ({x}.dtype.type(0), {x}.dtype.type(1)), "
                      "lambda p, q: (p[0] + q[0], p[1] * q[1]), ({a},))"),
    ("integer", JUMP, "lax.reduce_window(({x}, {y}), ({x}.dtype.type(0), {x}.dtype.type(0)), "
                      "lambda p, q: (p[0] | q[0], p[1] + q[1]), (2,) * {x}.ndim, (1,) * {x}.ndim, "
                      "((1, {n}),) * {x}.ndim)"),
    ("integer", JUMP, "jnp.bitwise_or.reduce({x}, axis={a})"),
    ("integer", JUMP, "jnp.add.accumulate({x}, axis={a})"),
    ("integer", JUMP, "jnp.unravel_index(jnp.abs({x}) % 12, (3, 4))"),
    ("bits", JUMP, "jnp.packbits({x}, axis={a})"),
    ("bits", JUMP, "jnp.unpackbits({x}.astype('uint8'), axis={a})"),
    ("real", ROUND, "jax.image.resize({x}, tuple(n + {n} for n in {x}.shape), 'linear')"),
    ("real", ROUND, "jax.image.resize({x}, tuple(max(1, n // 2) for n in {x}.shape), 'cubic')"),
    ("real", MOVE, "jax.image.resize({x}, tuple(n + {n} for n in {x}.shape), 'nearest')"),
    ("real", ROUND, "jax.nn.glu(jnp.resize({x}, (3, 4)), axis=1)"),
    ("real", ROUND, "jax.nn.softmax({x}, axis={a}, where=jnp.arange({x}.shape[{a}]).reshape("
                    "[-1 if d == {a} else 1 for d in range({x}.ndim)]) != 1)"),
    ("single", ROUND, "jax.nn.dot_product_attention(*[jnp.resize(v, (2, 5, 2, 3)) "
                      "for v in ({x}, {y}, {x})], is_causal=True)"),
    ("real", ROUND, "lax.conv_transpose(jnp.resize({x}, (1, 5, 2)), jnp.resize({y}, (3, 2, 2)), (2,), "
                    "'SAME', dimension_numbers=('NHC', 'HIO', 'NHC'))"),
    ("number", ROUND, "lax.conv_general_dilated_patches(jnp.resize({x}, (1, 2, 6)), (3,), (2,), "
                      "((1, {n}),))"),
    ("real", ROUND, "lax.ragged_dot(jnp.resize({x}, (6, 3)), jnp.resize({y}, (2, 3, 4)), "
                    "jnp.array([{n}, 6 - {n}]))"),
    ("single", ROUND, "jax.scipy.special.gammainc(jnp.square({x}) + 0.5, jnp.square({y}) + 0.5)"),
    ("single", ROUND, "jax.scipy.special.betainc(jnp.square({x}) + 0.5, jnp.square({y}) + 0.5, "
                      "{x}.dtype.type(0.3))"),
    ("single", ROUND, "jax.scipy.special.xlogy(jnp.square({x}), jnp.square({y}) + 0.5)"),
    ("single", ROUND, "jax.scipy.special.zeta(jnp.square({x}) + 2, jnp.square({y}) + 1)"),
    ("single", ROUND, "jax.scipy.special.polygamma(1, jnp.square({x}) + 1)"),
    ("single", ROUND, "jax.scipy.stats.norm.logcdf({x})"),
    ("single", ROUND, "jnp.linalg.norm({x}, axis={a})"),
    ("single", ROUND, "jnp.linalg.pinv(jnp.tanh(jnp.resize({x}, (3, 3))) + 4 * jnp.eye(3, "
                      "dtype={x}.dtype))"),
    ("single", ROUND, "jnp.linalg.lstsq(jnp.tanh(jnp.resize({x}, (4, 2))) + 3 * jnp.eye(4, 2, "
                      "dtype={x}.dtype), jnp.resize({y}, (4,)))[0]"),
    ("single", ROUND, "jax.scipy.signal.convolve(jnp.ravel({x})[:30], jnp.ravel({y})[:4])"),
    ("single", ROUND, "jnp.fft.irfft2(jnp.fft.rfft2(jnp.resize({x}, (4, 6))))"),
    ("real", ROUND, "jax.hessian(lambda v: jnp.sum(jnp.sin(v) * v))(jnp.ravel({x})[:4])"),
    ("real", ROUND, "jax.jacfwd(lambda v: jnp.cos(v) * jnp.sum(v))(jnp.ravel({x})[:5])"),
    ("real", ROUND, "jax.linearize(lambda v: jnp.tanh(v) * v, {x})[1]({y})"),
    ("real", ROUND, "jax.grad(lambda v: jnp.sum(lax.reduce_window(v, -jnp.inf, lax.max, "
                    "(2,) * v.ndim, (2,) * v.ndim, 'SAME') ** 2).astype(jnp.float32))({x})"),
    ("real", ROUND, "jax.grad(lambda v: jnp.sum(jnp.sort(v, axis={a})[..., :1]).astype("
                    "jnp.float32))({x})"),
]
NEEDS_EXACT = "lax.max, (2,)", "jnp.sort(v"


def call(f):
    """A row of the table with values put in."""
    rng = f.rng
    want, kind, text = rng.choice(TABLE)
    x = f.pick(WANTS[want], exact=any(word in text for word in NEEDS_EXACT))
    if x is None:
        return None
    y = f.pick(lambda v: v.shape == x.shape and v.dtype == x.dtype)
    i = f.pick(lambda v: data.is_integer(v.dtype) and (v.shape == x.shape or not x.size))
    if "{i}" in text and i is None:
        return None
    text = text.replace("{x}", str(x)).replace("{y}", str(y)).replace("{i}", str(i))
    return f.add(kind, text.replace("{n}", str(rng.randint(0, 4))).replace(
        "{a}", str(rng.randrange(x.rank))))


PROPOSALS = {call: 1}
