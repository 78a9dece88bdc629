"""Lines that work element by element."""
import data
from program import Kind

ROUND, KINK, JUMP, MOVE = Kind.ROUND, Kind.KINK, Kind.JUMP, Kind.MOVE

SMOOTH = """jnp.sin jnp.cos jnp.tan jnp.exp jnp.expm1 jnp.tanh jnp.arctan jnp.arcsinh jnp.cbrt
    jnp.square jnp.sinc jnp.sinh jnp.cosh jnp.exp2 jnp.deg2rad lax.erf lax.erfc lax.logistic
    jax.nn.sigmoid jax.nn.softplus jax.nn.silu jax.nn.gelu jax.nn.log_sigmoid jax.nn.soft_sign
    jax.nn.mish jax.scipy.special.i0e jax.scipy.special.i1e jax.scipy.special.expit
    jax.scipy.special.ndtr""".split()
SMOOTH_ABOVE_ZERO = """jnp.sqrt jnp.log jnp.log1p jnp.log2 jnp.log10 jnp.reciprocal lax.rsqrt
    lax.lgamma lax.digamma jnp.arccosh jax.scipy.special.entr""".split()
SMOOTH_BELOW_ONE = "jnp.arcsin jnp.arccos jnp.arctanh lax.erf_inv jax.scipy.special.logit".split()
KINKS = """jnp.abs jnp.negative jnp.positive jnp.conj jnp.real jax.nn.relu jax.nn.relu6
    jax.nn.hard_tanh jnp.nan_to_num""".split()
SMOOTH_KINKS = "jax.nn.elu jax.nn.selu jax.nn.celu jax.nn.leaky_relu jax.nn.hard_silu".split()
JUMPS = """jnp.floor jnp.ceil jnp.trunc jnp.round jnp.rint jnp.sign jnp.isnan jnp.isinf
    jnp.isfinite jnp.signbit jnp.logical_not jnp.isposinf jnp.iscomplex""".split()
OF_COMPLEX = """jnp.exp jnp.sin jnp.cos jnp.tanh jnp.square jnp.abs jnp.real jnp.imag jnp.conj
    jnp.negative jnp.sinh jnp.cosh jnp.reciprocal jnp.expm1""".split()
OF_INTEGERS = """jnp.invert jnp.abs jnp.negative jnp.sign jnp.bitwise_count lax.population_count
    jnp.square jnp.logical_not""".split()

LITERALS = [2, 3, 0.5, -1]
ARITHMETIC = "jnp.add jnp.subtract jnp.multiply".split()
TWO_SMOOTH = "jnp.arctan2 jnp.logaddexp jnp.hypot jnp.divide jnp.logaddexp2".split()
TWO_KINKS = "jnp.maximum jnp.minimum jnp.fmax jnp.fmin".split()
TWO_JUMPS = """jnp.equal jnp.not_equal jnp.less jnp.less_equal jnp.greater jnp.greater_equal
    jnp.floor_divide jnp.remainder jnp.fmod jnp.logical_and jnp.logical_xor jnp.heaviside
    jnp.copysign jnp.isclose""".split()
TWO_INTEGERS = """jnp.bitwise_and jnp.bitwise_or jnp.bitwise_xor jnp.left_shift jnp.right_shift
    lax.shift_right_logical lax.shift_left lax.shift_right_arithmetic lax.div
    lax.rem jnp.floor_divide jnp.remainder jnp.divmod jnp.fmod jnp.maximum jnp.minimum""".split()


def unary(f):
    """One function of one value."""
    x, rng = f.pick(), f.rng
    if data.is_integer(x.dtype) and rng.random() < 0.1:
        return f.add(JUMP, f"lax.clz({x} & 127)")  # XLA folds those of negative numbers wrongly
    if data.is_integer(x.dtype) or x.dtype == "bool":
        return f.add(JUMP, f"{rng.choice(OF_INTEGERS)}({x})")
    if data.is_complex(x.dtype):
        return f.add(ROUND, f"{rng.choice(OF_COMPLEX)}({x})")
    way = rng.randrange(6)
    if way == 0:
        return f.add(JUMP, f"{rng.choice(JUMPS)}({x})")
    if way == 1:
        return f.add(KINK, f"{rng.choice(KINKS)}({x})")
    if way == 2:
        return f.add(ROUND, f"{rng.choice(SMOOTH_ABOVE_ZERO)}(jnp.square({x}) + 0.75)")
    if way == 3:
        return f.add(ROUND, f"{rng.choice(SMOOTH_BELOW_ONE)}(jnp.tanh({x}) * 0.9)")
    if way == 4 and (x.exact or not f.smooth):
        return f.add(ROUND, f"{rng.choice(SMOOTH_KINKS)}({x})")
    return f.add(ROUND, f"{rng.choice(SMOOTH)}({x})")


def fitting(f, x):
    """A value that broadcasts with x, most likely of its type."""
    def fits(v):
        return all(a == b or 1 in (a, b) for a, b in zip(v.shape[::-1], x.shape[::-1]))
    same = f.pick(lambda v: fits(v) and v.dtype == x.dtype)
    return same if f.rng.random() < 0.8 else f.pick(fits)


def binary(f):
    """A function of two values, with NumPy's promotion and broadcasting."""
    rng = f.rng
    x = f.pick()
    y = fitting(f, x)
    way = rng.randrange(4)
    if rng.random() < 0.15:
        y = rng.choice(LITERALS)
    if data.is_integer(x.dtype) and way < 2:
        return f.add(JUMP, f"{rng.choice(TWO_INTEGERS)}({x}, {y})")
    if way == 0:
        return f.add(JUMP, f"{rng.choice(TWO_JUMPS)}({x}, {y})")
    if way == 1:
        return f.add(KINK, f"{rng.choice(TWO_KINKS)}({x}, {y})")
    if way == 2 and y is x:
        return None  # derivatives cancel to nothing but roundings
    if way == 2 and data.is_float(x.dtype) and (y in LITERALS or data.is_float(y.dtype)):
        return f.add(ROUND, f"{rng.choice(TWO_SMOOTH)}({x}, {y})")
    return f.add(ROUND, f"{rng.choice(ARITHMETIC)}({x}, {y})")


def divisors(f):
    """gcd and lcm, of small numbers: of the least integer JAX's loop has no end."""
    x = f.pick(lambda v: data.is_integer(v.dtype))
    y = x and f.pick(lambda v: v.dtype == x.dtype and v.shape == x.shape)
    return y and f.add(JUMP, f"{f.rng.choice(['jnp.gcd', 'jnp.lcm'])}({x} & 63, {y} & 63)")


def power(f):
    rng, x = f.rng, f.pick()
    if data.is_integer(x.dtype):
        return f.add(JUMP, f"lax.integer_pow({x}, {rng.randrange(5)})")
    way = rng.randrange(3)
    if way == 0:
        return f.add(ROUND, f"lax.integer_pow({x}, {rng.choice([-2, 2, 3, 5])})")
    y = fitting(f, x)
    if data.is_complex(x.dtype) or data.is_complex(y.dtype):
        return None
    return f.add(ROUND, f"jnp.power(jnp.square({x}) + 0.5, jnp.tanh({y}))")


def select(f):
    x = f.pick()
    y, c = f.pick(lambda v: v.shape == x.shape), f.pick(lambda v: v.dtype == "bool")
    if c is None or f.rng.random() < 0.5:
        c = f.pick(lambda v: v.shape == x.shape, exact=True)
        return c and f.add(MOVE, f"jnp.where({c} != 0, {x}, {y})")
    return f.add(MOVE, f"jnp.where({c}, {x}, {y})")


def clip(f):
    x, low = f.pick(lambda v: not data.is_complex(v.dtype)), f.rng.randrange(3)
    return x and f.add(KINK, f"jnp.clip({x}, {low}, {low + 1})")


def convert(f):
    """To another element type: exactly, so that its name is not doubled in a reference."""
    x, to = f.pick(), data.draw_dtype(f.rng, f.maker.x64)
    if x.exact:
        back = f".astype(jnp.{to})" if data.is_float(to) or data.is_complex(to) else ""
        return f.add(JUMP, f"{x}.astype('{to}'){back}")
    if data.is_integer(to) or to == "bool":
        return None
    return f.add(ROUND, f"{x}.astype(jnp.{to})")


def bits(f):
    """The bits of a number as another type."""
    rng = f.rng
    x = f.pick(lambda v: v.dtype in WIDTHS, exact=True)
    if x is None or f.smooth:
        return None
    to = rng.choice([d for d in WIDTHS if f.maker.x64 or d not in data.WIDE])
    if data.is_float(to) and not data.is_float(x.dtype):
        return None  # most bits of integers are no numbers worth computing with
    back = f".astype(jnp.{to})" if data.is_float(to) else ""
    return f.add(JUMP, f"lax.bitcast_convert_type({x}.astype('{x.dtype}'), '{to}'){back}")


WIDTHS = [d for d in data.INTEGERS + data.FLOATS]


def precision(f):
    x = f.pick(lambda v: data.is_float(v.dtype) and v.dtype != "float64", exact=True)
    bits = f.rng.randint(2, 7), f.rng.randint(1, 9)
    return x and f.add(JUMP, f"lax.reduce_precision({x}, {bits[0]}, {bits[1]})")


PROPOSALS = {unary: 10, binary: 12, power: 2, divisors: 1, select: 3, clip: 1, convert: 4, bits: 1, precision: 1}
