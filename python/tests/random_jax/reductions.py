"""Lines that combine elements: sums, scans along a dimension, orders."""
import data
from program import Kind

SUMS = "jnp.sum jnp.mean jnp.var jnp.std jnp.nansum jax.nn.logsumexp jax.nn.logmeanexp".split()
SMOOTH = "jax.nn.softmax jax.nn.log_softmax jax.nn.standardize".split()
KINKS = "jnp.max jnp.min jnp.nanmax jnp.ptp".split()
JUMPS = "jnp.argmax jnp.argmin jnp.all jnp.any jnp.count_nonzero jnp.median".split()
OF_INTEGERS = "jnp.sum jnp.prod jnp.max jnp.min jnp.all jnp.any jnp.argmax".split()


def real(v):
    return not data.is_complex(v.dtype)


def draw_axes(f, x):
    """An axis, or several, or None, as NumPy takes them."""
    way = f.rng.randrange(4)
    if way == 0 or not x.rank:
        return None
    if way == 1:
        return tuple(f.rng.sample(range(x.rank), f.rng.randint(0, x.rank)))
    return f.rng.randrange(-x.rank, x.rank)


def reduce(f):
    x, rng = f.pick(), f.rng
    keep = rng.choice(["", ", keepdims=True"])
    axes = draw_axes(f, x)
    if not x.is_inexact_number:
        return f.add(Kind.JUMP, f"{rng.choice(OF_INTEGERS)}({x}, axis={axes}{keep})")
    way = rng.randrange(5)
    if way == 0 and real(x):
        return f.add(Kind.KINK, f"{rng.choice(KINKS)}({x}, axis={axes}{keep})")
    if way == 1 and real(x):
        return f.add(Kind.JUMP, f"{rng.choice(JUMPS)}({x}, axis={axes}{keep})")
    if way == 2 and real(x):
        return f.add(Kind.ROUND, f"{rng.choice(SMOOTH)}({x}, axis={axes})")
    if way == 3:
        return f.add(Kind.ROUND, f"jnp.prod({x} * 0.5 + 1, axis={axes}{keep})")
    return f.add(Kind.ROUND, f"{rng.choice(SUMS)}({x}, axis={axes}{keep})")


def cumulate(f):
    x, rng = f.pick(lambda v: v.rank > 0), f.rng
    if x is None:
        return None
    axis, back = rng.randrange(x.rank), rng.choice([True, False])
    if rng.random() < 0.5 and real(x):
        op = rng.choice(["lax.cummax", "lax.cummin"])
        return f.add(Kind.KINK, f"{op}({x}, axis={axis}, reverse={back})")
    if rng.random() < 0.3 and x.is_inexact_number and real(x):
        return f.add(Kind.ROUND, f"lax.cumlogsumexp({x}, axis={axis}, reverse={back})")
    op = "lax.cumprod" if rng.random() < 0.2 and x.shape[axis] < 9 else "lax.cumsum"
    return f.add(Kind.ROUND, f"{op}({x}, axis={axis}, reverse={back})")


def along(f):
    """Differences, histograms and the like along one dimension."""
    x, rng = f.pick(lambda v: v.rank > 0 and real(v) and v.dtype != "bool"), f.rng
    if x is None:
        return None
    axis = rng.randrange(x.rank)
    if rng.random() < 0.5:
        return f.add(Kind.ROUND, f"jnp.diff({x}, axis={axis})")
    if rng.random() < 0.5:
        return f.add(Kind.JUMP, f"jnp.digitize({x}, jnp.arange(-2, 3))")
    y = f.pick(lambda v: v.rank == 1 and data.is_integer(v.dtype) and 0 < v.size < 200)
    return y and f.add(Kind.JUMP, f"jnp.bincount({y} & 15, length={rng.randrange(1, 20)})")


def order(f):
    """Sorting: the numbers may be rounded ones, their places may not."""
    x, rng = f.pick(lambda v: v.rank > 0 and v.size < 5000), f.rng
    if x is None:
        return None
    axis, down = rng.randrange(-x.rank, x.rank), rng.choice([True, False])
    way = rng.randrange(6)
    if way == 0:
        return f.add(Kind.KINK, f"jnp.sort({x}, axis={axis}, descending={down})")
    if way == 1:
        return f.add(Kind.JUMP, f"jnp.argsort({x}, axis={axis}, descending={down})")
    if way == 2:
        k = rng.randint(0, x.shape[-1])
        return f.add(Kind.JUMP, f"tuple(lax.top_k({x}, {k}))")
    if way == 3:
        y = f.pick(lambda v: v.shape == x.shape, exact=True)
        keys = rng.randint(1, 2)
        return y and f.add(
            Kind.JUMP, f"tuple(lax.sort(({x}, {y}), dimension={axis % x.rank}, num_keys={keys}))")
    if way == 4 and x.shape[axis]:
        k = rng.randrange(x.shape[axis])
        return f.add(Kind.KINK, f"jnp.sort(jnp.partition({x}, {k}, axis={axis}), axis={axis})")
    y = f.pick(lambda v: v.dtype == x.dtype, exact=True)
    if y is None or x.rank != 1 or not real(x):
        return None
    side = rng.choice(["left", "right"])
    how = rng.choice(["scan", "sort", "compare_all"])
    return f.add(Kind.JUMP,
                 f"jnp.searchsorted(jnp.sort({x}), {y}, side='{side}', method='{how}')")


def sets(f):
    x = f.pick(lambda v: v.rank == 1 and real(v) and v.size < 300, exact=True)
    if x is None:
        return None
    size = f.rng.randint(1, 9)
    way = f.rng.randrange(3)
    if way == 0:
        return f.add(Kind.JUMP, f"jnp.unique({x}, size={size}, fill_value=0)")
    if way == 1:
        return f.add(Kind.JUMP, f"tuple(jnp.nonzero({x}, size={size}, fill_value=-1))")
    y = f.pick(lambda v: v.dtype == x.dtype, exact=True)
    return f.add(Kind.JUMP, f"jnp.isin({y}, {x})")


PROPOSALS = {reduce: 10, cumulate: 4, along: 1, order: 5, sets: 1}
