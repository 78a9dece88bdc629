"""Lines at which devices meet, along the named axes that a function is mapped over."""
import data
from program import Kind


def draw_axes(f, most):
    """The names of some axes, as text, and the product of their sizes; or None."""
    if not f.axes or not f.together:
        return None
    names = f.rng.sample(list(f.axes), min(len(f.axes), f.rng.randint(1, most)))
    size = 1
    for name in names:
        size *= f.axes[name]
    return (repr(names[0]) if len(names) == 1 else repr(tuple(names))), size


def combine(f):
    axes, x = draw_axes(f, 3), f.pick(lambda v: v.dtype != "bool")
    if not axes or x is None:
        return None
    how = f.rng.choice(["psum", "psum", "pmean", "pmax", "pmin"])
    kind = Kind.KINK if how in ("pmax", "pmin") else Kind.ROUND
    if kind is Kind.KINK and (data.is_complex(x.dtype) or f.maker.special):
        return None  # XLA's lose NaN
    if kind is Kind.KINK and data.is_float(x.dtype):
        x = f"jnp.where({x} == 0, 0, {x})"  # of two zeros XLA's take either
    return f.add(kind, f"lax.{how}({x}, {axes[0]})")


def gather(f):
    axes, x = draw_axes(f, 2), f.pick(lambda v: v.size < 500)
    if not axes or x is None:
        return None
    tiled = f.rng.choice([True, False]) and x.rank > 0
    axis = f.rng.randrange(x.rank + (not tiled))
    return f.add(Kind.MOVE, f"lax.all_gather({x}, {axes[0]}, axis={axis}, tiled={tiled})")


def fitting(f, size):
    """A value and a dimension of it that so many devices can share."""
    x = f.pick(lambda v: v.dtype != "bool" and any(n and n % size == 0 for n in v.shape))
    if x is None:
        return None
    return x, f.rng.choice([d for d, n in enumerate(x.shape) if n and n % size == 0])


def scatter(f):
    axes = draw_axes(f, 2)
    found = axes and fitting(f, axes[1])
    if not found:
        return None
    x, axis = found
    tiled = f.rng.choice([True, False]) or x.shape[axis] != axes[1]
    return f.add(Kind.ROUND, f"lax.psum_scatter({x}, {axes[0]}, scatter_dimension={axis}, "
                             f"tiled={tiled})")


def exchange(f):
    axes = draw_axes(f, 1)
    found = axes and fitting(f, axes[1])
    if not found:
        return None
    x, axis = found
    tiled = f.rng.choice([True, False]) or x.shape[axis] != axes[1]
    to = f.rng.randrange(x.rank)
    return f.add(Kind.MOVE, f"lax.all_to_all({x}, {axes[0]}, {axis}, {to}, tiled={tiled})")


def permute(f):
    """Some devices send to some others; who gets nothing has zeros."""
    axes, x = draw_axes(f, 1), f.pick()
    if not axes:
        return None
    count = f.rng.choice([axes[1], axes[1], f.rng.randint(0, axes[1])])
    pairs = list(zip(f.rng.sample(range(axes[1]), count), f.rng.sample(range(axes[1]), count)))
    return f.add(Kind.MOVE, f"lax.ppermute({x}, {axes[0]}, {pairs})")


def place(f):
    """Where one is, which makes all that follows differ from device to device."""
    axes = draw_axes(f, 2)
    x = f.pick(lambda v: v.dtype != "bool")
    if not axes or x is None:
        return None
    if f.rng.random() < 0.3:
        return f.add(Kind.MOVE, f"lax.axis_index({axes[0]})")
    return f.add(Kind.ROUND, f"{x} + lax.axis_index({axes[0]}).astype(jnp.{x.dtype})")


PROPOSALS = {combine: 6, gather: 3, scatter: 3, exchange: 3, permute: 3, place: 2}
