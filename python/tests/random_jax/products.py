"""Lines that are products of arrays, windows over them, transforms and linear algebra."""
import data
from program import Kind

ROUND, KINK = Kind.ROUND, Kind.KINK


def draw_product(f):
    """Two values and a pair of dimensions that can be contracted, or None."""
    x = f.pick(lambda v: 0 < v.rank < 7 and v.dtype != "bool" and v.size < 20000)
    y = x and f.pick(lambda v: 0 < v.rank < 7 and v.dtype == x.dtype and v.size < 20000
                     and set(v.shape) & set(x.shape))
    if y is None:
        return None
    return x, y, [(i, j) for i, n in enumerate(x.shape) for j, m in enumerate(y.shape) if n == m]


def dot(f):
    drawn, rng = draw_product(f), f.rng
    if not drawn:
        return None
    x, y, pairs = drawn
    rng.shuffle(pairs)
    contract, batch, used = ([], []), ([], []), (set(), set())
    for i, j in pairs:
        way = rng.random()
        if i in used[0] or j in used[1] or way < 0.2:
            continue
        side = contract if way < 0.7 else batch
        side[0].append(i), side[1].append(j), used[0].add(i), used[1].add(j)
    wider = {"int8": ["int32", "int16"], "uint8": ["int32", "uint32"], "bfloat16": ["float32"],
             "float16": ["float32"]}.get(x.dtype)
    kind = f", preferred_element_type=jnp.{rng.choice(wider)}" if wider and rng.random() < .5 else ""
    return f.add(ROUND, f"lax.dot_general({x}, {y}, ({contract}, {batch}){kind})")


def letters(f):
    drawn, rng = draw_product(f), f.rng
    if not drawn:
        return None
    x, y, pairs = drawn
    i, j = rng.choice(pairs)
    left, right = list("abcdefg"[:x.rank]), list("hijklmn"[:y.rank])
    right[j] = left[i]
    every = sorted(set(left + right))
    out = rng.sample(every, rng.randint(0, len(every)))
    return f.add(ROUND, f"jnp.einsum('{''.join(left)},{''.join(right)}->{''.join(out)}', {x}, {y})")


def products(f):
    drawn = draw_product(f)
    if not drawn:
        return None
    x, y, _ = drawn
    return f.add(ROUND, f.rng.choice([
        f"jnp.matmul({x}, jnp.swapaxes({y}, -1, -2))", f"jnp.matmul({x}, {y})",
        f"jnp.dot({x}, {y})", f"jnp.vdot({x}, {x})", f"jnp.outer(jnp.ravel({x})[:9], {y}[:9])",
        f"jnp.inner({x}, {y})", f"jnp.kron({x}[:3], {y}[:3])", f"jnp.tensordot({x}, {y}, 1)",
        f"jnp.convolve(jnp.ravel({x})[:40], jnp.ravel({y})[:7], mode='same')"]))


def draw_window(f, rank):
    """Sizes, strides, padding and both dilations of a window."""
    rng = f.rng
    sizes = tuple(rng.choice([1, 1, 2, 3, 4]) for _ in range(rank))
    strides = tuple(rng.choice([1, 1, 2, 3]) for _ in range(rank))
    least = rng.choice([0, 0, -2])
    padding = tuple((rng.randint(least, 3), rng.randint(least, 3)) for _ in range(rank))
    dilations = [tuple(rng.choice([1, 1, 2, 3]) for _ in range(rank)) if rng.random() < 0.4
                 else (1,) * rank for _ in range(2)]
    return sizes, strides, padding, *dilations


def window(f):
    x, rng = f.pick(lambda v: 0 < v.rank and v.size < 5000), f.rng
    if x is None:
        return None
    sizes, strides, padding, base, dilation = draw_window(f, x.rank)
    how = rng.choice(["add", "max", "min", "mul"] if not x.is_inexact_number
                     else ["add", "max", "min"] if not data.is_complex(x.dtype) else ["add"])
    name = "bool_" if x.dtype == "bool" else x.dtype
    first = {"add": 0, "mul": 1}.get(how, rng.randrange(2))  # added once or for each place padded
    kind = ROUND if how in ("add", "mul") else KINK
    op = f"lax.{how}" if x.dtype != "bool" else rng.choice(["lax.bitwise_or", "lax.bitwise_and"])
    return f.add(kind, f"lax.reduce_window({x}, jnp.{name}({first}), {op}, {sizes}, {strides}, "
                       f"{padding}, {base}, {dilation})")


def pool(f):
    x, rng = f.pick(lambda v: v.rank > 1 and v.is_inexact_number
                    and not data.is_complex(v.dtype) and v.size < 5000), f.rng
    if x is None:
        return None
    sizes, strides, _, _, _ = draw_window(f, x.rank)
    pad = rng.choice(["'SAME'", "'VALID'"])
    if rng.random() < 0.5:
        return f.add(ROUND, f"lax.reduce_window({x}, jnp.{x.dtype}(0), lax.add, {sizes}, {strides}, "
                            f"{pad}) / {sizes[0]}")
    return f.add(KINK, f"lax.reduce_window({x}, -jnp.{x.dtype}(jnp.inf), lax.max, {sizes}, "
                       f"{strides}, {pad})")


def draw_dimension_numbers(rng, rank):
    letters = "0123"[:rank]
    return tuple("".join(rng.sample(kind + letters, rank + 2)) for kind in ("NC", "OI", "NC"))


def convolve(f):
    """A convolution with all its options; its operands are resized from values at hand."""
    rng = f.rng
    x = f.pick(lambda v: v.dtype != "bool" and v.size)
    if x is None or (f.maker.special and x.is_inexact_number):
        return None
    y, rank = f.pick(lambda v: v.dtype == x.dtype and v.size), rng.choice([0, 1, 1, 2, 2, 3])
    sizes, strides, padding, base, dilation = draw_window(f, rank)
    groups, batches = rng.choice([(1, 1), (1, 1), (2, 1), (3, 1), (1, 2)])
    features = groups * rng.randint(1, 3)
    spaces = {c: rng.randint(1, 17 if rank == 1 else 6) for c in "0123"[:rank]}
    names = draw_dimension_numbers(rng, rank)
    left = {"N": batches * rng.randint(1, 2), "C": features, **spaces}
    right = {"O": groups * batches * rng.randint(1, 3), "I": features // groups,
             **dict(zip("0123", sizes))}
    shapes = [tuple(left[c] for c in names[0]), tuple(right[c] for c in names[1])]
    wider = {"int8": "int32", "bfloat16": "float32"}.get(x.dtype)
    kind = f", preferred_element_type=jnp.{wider}" if wider and rng.random() < 0.5 else ""
    # Whether zeros of the padding are multiplied with infinity, engines disagree.
    x, y = (f"jnp.nan_to_num({v}, nan=1, posinf=2, neginf=-2)" if v.is_inexact_number else v
            for v in (x, y))
    return f.add(ROUND, f"lax.conv_general_dilated(jnp.resize({x}, {shapes[0]}), "
                        f"jnp.resize({y}, {shapes[1]}), {strides}, {padding}, {base}, {dilation}, "
                        f"{names}, {groups}, {batches}{kind})")


def fourier(f):
    x, rng = f.pick(lambda v: v.rank > 0 and v.dtype in ("float32", "float64", *data.COMPLEX)), f.rng
    if x is None:
        return None
    axis = rng.randrange(x.rank)
    if data.is_complex(x.dtype):
        op = rng.choice(["fft", "ifft", "irfft"] if 1 not in x.shape else ["fft", "ifft"])
    else:
        op = rng.choice(["fft", "rfft", "rfft", "ifft"])
    n = rng.choice(["", f", n={rng.randint(1, 12)}"])
    if rng.random() < 0.2 and x.rank > 1:
        return f.add(ROUND, f"jnp.fft.{op}n({x})")
    return f.add(ROUND, f"jnp.fft.{op}({x}{n}, axis={axis})")


def linear(f):
    """Linear algebra, by what is unique: products of factors, values in order, solutions."""
    x, rng = f.pick(lambda v: v.dtype in ("float32", "float64", *data.COMPLEX) and v.size), f.rng
    if x is None:
        return None
    n, m = rng.randint(1, 6), rng.randint(1, 5)
    eye = f"{n + 1} * jnp.eye({n}, dtype=jnp.{x.dtype})"
    a = f"(jnp.tanh(jnp.resize(jnp.real({x}), ({n}, {n}))) * 0.5 + {eye})"
    b = f"jnp.resize({x}, ({n}, {m}))"
    symmetric = f"({b} @ jnp.conj({b}.T) * 0.1 + {eye})"
    smooth = [
        f"jnp.linalg.cholesky({symmetric})", f"jnp.linalg.solve({a}, {b})", f"jnp.linalg.inv({a})",
        f"jnp.linalg.det({a})", f"jnp.linalg.slogdet({a})[1]", f"jnp.linalg.matrix_power({a}, 3)",
        f"lax.linalg.triangular_solve({a}, {b}, left_side=True, lower={rng.choice([True, False])}, "
        f"transpose_a={rng.choice([True, False])})", f"jax.scipy.linalg.expm({a} * 0.1)"]
    factors = [  # which have no derivative where numbers in order are equal
        f"jnp.linalg.eigvalsh({symmetric})", f"jnp.linalg.svd({a}, compute_uv=False)",
        f"(lambda q, r: q @ r)(*jnp.linalg.qr({b}))",
        f"(lambda w, v: (v * w) @ jnp.conj(v.T))(*jnp.linalg.eigh({symmetric}))",
        f"(lambda u, s, v: (u * s) @ v)(*jnp.linalg.svd({b}, full_matrices=False))",
        f"(lambda p, l, u: p @ l @ u)(*jax.scipy.linalg.lu({a}))"]
    return f.add(ROUND, rng.choice(smooth if f.smooth else smooth + factors))


def numbers(f):
    """Random numbers from a key."""
    rng, shape = f.rng, data.draw_shape(f.rng, f.rng.randint(0, 3))
    key = f"jax.random.key({rng.randrange(99)})"
    x = f.pick(lambda v: v.dtype in ("uint32", "int32") and v.size)
    if x and rng.random() < 0.6:
        key = f"jax.random.fold_in({key}, jnp.ravel({x})[0].astype('uint32'))"
    way = rng.randrange(5)
    if way == 0:
        return f.add(Kind.JUMP, f"jax.random.bits({key}, {shape}, '{rng.choice(['uint8', 'uint32'])}')")
    if way == 1:
        return f.add(Kind.JUMP, f"jax.random.randint({key}, {shape}, -3, {rng.randint(1, 99)}, "
                                f"'{rng.choice(['int32', 'int8'])}')")
    if way == 2:
        return f.add(Kind.JUMP, f"jax.random.uniform({key}, {shape}, 'float32').astype(jnp.float32)")
    if way == 3:
        return f.add(Kind.JUMP, f"jax.random.permutation({key}, {rng.randint(1, 20)})")
    return f.add(ROUND, f"jax.random.{rng.choice(['normal', 'exponential'])}({key}, {shape}, "
                        "'float32').astype(jnp.float32)")


PROPOSALS = {dot: 4, letters: 2, products: 2, window: 6, pool: 1, convolve: 5, fourier: 1,
             linear: 1, numbers: 1}
