"""Lines that move elements: shapes, slices, indices, gathers and scatters."""
import math

import data
from program import Kind

MODES = ["'fill'", "'clip'", "'wrap'", "'drop'"]


def move(f, text):
    return f.add(Kind.MOVE, text)


def draw_factors(rng, size):
    """A shape with so many elements."""
    shape, left = [], size
    while left > 1 and len(shape) < 3:
        divisor = rng.choice([d for d in range(1, min(left, 64) + 1) if left % d == 0])
        shape.append(divisor)
        left //= divisor
    return tuple(shape + [left]) if rng.random() < 0.5 else tuple([left] + shape)


def reshape(f):
    x = f.pick()
    return move(f, f"jnp.reshape({x}, {draw_factors(f.rng, x.size)})")


def rearrange(f):
    x, rng = f.pick(lambda v: v.rank > 0), f.rng
    if x is None:
        return None
    axis = rng.randrange(x.rank)
    order = rng.sample(range(x.rank), x.rank)
    return move(f, rng.choice([
        f"jnp.transpose({x}, {tuple(order)})", f"jnp.flip({x}, axis={axis})",
        f"jnp.roll({x}, {rng.randint(-5, 9)}, axis={axis})", f"jnp.expand_dims({x}, {axis})",
        f"jnp.squeeze({x})", f"jnp.repeat({x}, {rng.randint(0, 3)}, axis={axis})",
        f"jnp.tile({x}, {rng.randint(1, 3)})", f"jnp.ravel({x})", f"jnp.swapaxes({x}, 0, {axis})",
        f"jnp.broadcast_to({x}, ({rng.randint(1, 3)}, *{x}.shape))", f"jnp.tril({x})",
        f"jnp.triu({x}, {rng.randint(-2, 2)})", f"jnp.rot90({x})", f"jnp.diagonal({x})",
        f"jnp.diag({x}, {rng.randint(-1, 1)})", f"jnp.atleast_3d({x})",
        f"jnp.resize({x}, {tuple(rng.randint(1, 6) for _ in range(2))})"]))


def join(f):
    x, rng = f.pick(lambda v: v.rank > 0), f.rng
    if x is None:
        return None
    y = f.pick(lambda v: v.rank == x.rank)
    axis = rng.randrange(x.rank)
    return move(f, rng.choice([
        f"jnp.concatenate([{x}, {y}], axis={axis})", f"jnp.stack([{x}, {y}], axis={axis})",
        f"jnp.append({x}, {y}, axis={axis})",
        f"tuple(jnp.array_split({x}, {rng.randint(1, 3)}, axis={axis}))"]))


def pad(f):
    x, rng = f.pick(lambda v: v.rank > 0), f.rng
    if x is None:
        return None
    if rng.random() < 0.5:
        config = [(rng.randint(-2, 3), rng.randint(-2, 3), rng.choice([0, 0, 1, 2])) for _ in x.shape]
        return move(f, f"lax.pad({x}, jnp.{name_of(x)}({int(x.dtype == 'bool') or 2}), {config})")
    width = [(rng.randint(0, 3), rng.randint(0, 3)) for _ in x.shape]
    mode = rng.choice(["edge", "reflect", "wrap", "constant", "symmetric"])
    return move(f, f"jnp.pad({x}, {width}, mode='{mode}')")


def name_of(v):
    return "bool_" if v.dtype == "bool" else v.dtype


def draw_index(f, length):
    """One part of an index: a number, a slice or an array, as text."""
    rng = f.rng
    way = rng.randrange(7)
    if way == 0 and length:
        return str(rng.randrange(-length, length))
    if way == 1:
        return "None"
    if way == 2:
        return str([rng.randint(-length - 2, length + 1) for _ in range(rng.randint(1, 4))])\
            .join(["np.array(", ")"])
    if way == 3:
        chosen = f.pick(lambda v: data.is_integer(v.dtype) and v.rank <= 1)
        return str(chosen) if chosen else ":"
    ends = [rng.choice(["", rng.randint(-length - 1, length + 1)]) for _ in range(2)]
    return f"{ends[0]}:{ends[1]}:{rng.choice(['', 1, 2, 3, -1, -2])}"


def draw_indices(f, x):
    parts = [draw_index(f, n) for n in x.shape[:f.rng.randint(1, x.rank)]]
    if f.rng.random() < 0.15:
        parts.insert(f.rng.randint(0, len(parts)), "...")
    return ", ".join(parts)


def index(f):
    x, rng = f.pick(lambda v: v.rank > 0), f.rng
    if x is None:
        return None
    if rng.random() < 0.5:
        return move(f, f"{x}[{draw_indices(f, x)}]")
    return move(f, f"{x}.at[{draw_indices(f, x)}].get(mode={rng.choice(MODES)})")


def update(f):
    x, rng = f.pick(lambda v: v.rank > 0), f.rng
    if x is None:
        return None
    y = f.pick(lambda v: v.dtype == x.dtype and v.rank <= x.rank)
    what = y if rng.random() < 0.5 else f"jnp.{name_of(x)}({rng.randrange(2)})"
    how = rng.choice(["set", "add", "max", "min", "add", "set"])
    kind = {"set": Kind.MOVE, "add": Kind.ROUND}.get(how, Kind.KINK)
    indices = draw_indices(f, x)
    if how == "set":  # of places named twice, nobody says which write is the last
        indices = ", ".join(p for p in indices.split(", ") if ":" in p or p == "...") or ":"
    return f.add(kind, f"{x}.at[{indices}].{how}({what}, mode={rng.choice(MODES)})")


def dynamic(f):
    x, rng = f.pick(lambda v: v.rank > 0), f.rng
    start = f.pick(lambda v: data.is_integer(v.dtype) and v.size and v.dtype != "uint64")
    if x is None or start is None:
        return None
    at = [f"jnp.ravel({start})[{rng.randrange(start.size)}]" if rng.random() < 0.5
          else f"jnp.{start.dtype}({rng.randint(0, 4)})" for _ in x.shape]
    at = f"({', '.join(at)},)"
    if rng.random() < 0.5:
        sizes = tuple(rng.randint(0, n) for n in x.shape)
        return move(f, f"lax.dynamic_slice({x}, {at}, {sizes})")
    y = f.pick(lambda v: v.dtype == x.dtype and v.rank == x.rank and all(
        a <= b for a, b in zip(v.shape, x.shape)))
    return y and move(f, f"lax.dynamic_update_slice({x}, {y}, {at})")


def static_slice(f):
    x, rng = f.pick(lambda v: v.rank > 0), f.rng
    if x is None:
        return None
    low = [rng.randint(0, n) for n in x.shape]
    high = [rng.randint(a, n) for a, n in zip(low, x.shape)]
    steps = [rng.choice([1, 1, 2, 3]) for _ in x.shape]
    return move(f, f"lax.slice({x}, {low}, {high}, {steps})")


def draw_gather(f, x):
    """Which dimensions of an operand an index chooses, and how the result is laid out: the sizes
    of the slices, the dimensions collapsed, those chosen, and the shape of the indices."""
    rng = f.rng
    sizes = [rng.randint(0 if n == 0 else 1, n) for n in x.shape]
    chosen = rng.sample(range(x.rank), rng.randint(1, x.rank))
    collapsed = sorted(d for d in range(x.rank) if x.shape[d] and rng.random() < 0.4)
    sizes = [1 if d in collapsed else n for d, n in enumerate(sizes)]
    batch = [rng.randint(1, 4) for _ in range(rng.randint(0, 2))]
    rank = len(batch) + x.rank - len(collapsed)
    offsets = sorted(rng.sample(range(rank), x.rank - len(collapsed)))
    return sizes, chosen, collapsed, batch, offsets


def draw_starts(f, x, chosen, batch):
    shape = (*batch, len(chosen))
    most = max(x.shape) + 1
    numbers = [f.rng.randint(-2, most) for _ in range(math.prod(shape))]
    kind = f.rng.choice(["int32", "int8", "uint8", "int16"])
    if kind == "uint8":
        numbers = [abs(n) for n in numbers]
    return f"jnp.array({numbers}, '{kind}').reshape({shape})"


def gather(f):
    x = f.pick(lambda v: 0 < v.rank and v.size and max(v.shape) < 100)
    if x is None:
        return None
    sizes, chosen, collapsed, batch, offsets = draw_gather(f, x)
    return move(f, f"lax.gather({x}, {draw_starts(f, x, chosen, batch)}, lax.GatherDimensionNumbers("
                   f"offset_dims={tuple(offsets)}, collapsed_slice_dims={tuple(collapsed)}, "
                   f"start_index_map={tuple(chosen)}), slice_sizes={tuple(sizes)}, "
                   f"mode={f.rng.choice(MODES[:2])})")


def scatter(f):
    x, rng = f.pick(lambda v: 0 < v.rank and v.size and max(v.shape) < 100), f.rng
    if x is None:
        return None
    sizes, chosen, collapsed, batch, offsets = draw_gather(f, x)
    window = [n for d, n in enumerate(sizes) if d not in collapsed]
    shape, rest = [], list(batch)
    for d in range(len(batch) + len(window)):
        shape.append(window.pop(0) if d in offsets else rest.pop(0))
    source = f.pick(lambda v: v.dtype == x.dtype)
    how = rng.choice(["add", "add", "max", "min", "mul"])
    kind = Kind.KINK if how in ("max", "min") else Kind.ROUND
    return f.add(kind, f"lax.scatter_{how}({x}, {draw_starts(f, x, chosen, batch)}, "
                       f"jnp.resize({source}, {tuple(shape)}), lax.ScatterDimensionNumbers("
                       f"update_window_dims={tuple(offsets)}, "
                       f"inserted_window_dims={tuple(collapsed)}, "
                       f"scatter_dims_to_operand_dims={tuple(chosen)}), "
                       f"mode={rng.choice(MODES[:2])})")


def take(f):
    x = f.pick(lambda v: v.rank > 0)
    y = f.pick(lambda v: data.is_integer(v.dtype))
    if x is None or y is None:
        return None
    axis = f.rng.randrange(x.rank)
    return move(f, f.rng.choice([
        f"jnp.take({x}, {y}, axis={axis}, mode={f.rng.choice(MODES[:3])})",
        f"jnp.take_along_axis({x}, {y}, axis={axis}, mode={f.rng.choice(MODES[:2])})",
        f"jnp.choose({y} & 1, [{x}, {x}], mode='clip')"]))


def segments(f):
    x = f.pick(lambda v: v.rank > 0 and not data.is_complex(v.dtype))
    ids = f.pick(lambda v: data.is_integer(v.dtype) and x and v.shape == x.shape[:1])
    if x is None or ids is None:
        return None
    how = f.rng.choice(["sum", "max", "min", "prod"])
    kind = Kind.ROUND if how in ("sum", "prod") else Kind.KINK
    return f.add(kind, f"jax.ops.segment_{how}({x}, {ids}, {f.rng.randint(1, 6)})")


def make(f):
    """A new array: numbers in order, constants."""
    rng = f.rng
    shape, dtype = data.draw_shape(rng, rng.randint(0, 3)), data.draw_dtype(rng, f.maker.x64)
    name = "bool_" if dtype == "bool" else dtype
    return move(f, rng.choice([
        f"jnp.arange({rng.randint(0, 40)}, dtype=jnp.{name})",
        f"lax.broadcasted_iota(jnp.{name}, {shape}, {rng.randrange(max(1, len(shape)))})",
        f"jnp.full({shape}, {rng.randint(0, 1)}, jnp.{name})", f"jnp.eye({rng.randint(0, 7)}, "
        f"{rng.randint(1, 7)}, k={rng.randint(-1, 2)}, dtype=jnp.{name})"]))


PROPOSALS = {reshape: 4, rearrange: 6, join: 3, pad: 3, index: 6, update: 5, dynamic: 3, take: 3,
             static_slice: 2, gather: 3, scatter: 3, segments: 1, make: 2}
