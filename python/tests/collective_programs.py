"""Every collective in every form against NumPy, on as many devices as there are.

Each case maps a function over devices and compares what each device gets with what NumPy makes of
the list of what they brought.  Values are small whole numbers, so that sums are exact in every
type; the order of summation has a case of its own.
"""
import itertools
import operator
from functools import reduce

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
from jax import lax
from jax.sharding import Mesh, PartitionSpec as P

from play_cases import play

jax.config.update("jax_enable_x64", True)
N = jax.device_count()
TYPES = [
    np.bool_, np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64,
    np.float16, ml_dtypes.bfloat16, np.float32, np.float64, np.complex64, np.complex128,
]
NUMBERS = TYPES[1:]
REALS = TYPES[1:13]
FEW = [np.bool_, np.int32, ml_dtypes.bfloat16, np.float32, np.complex64]
checks = 0


def expect(what, got, want):
    """Both are lists, one entry a device."""
    global checks
    for d, (a, b) in enumerate(zip(got, want, strict=True)):
        a, b = np.asarray(a), np.asarray(b)
        same = a.shape == b.shape and a.dtype == b.dtype and np.array_equal(a, b)
        assert same, f"{what}: device {d} has {a.dtype} {a.tolist()}, expected {b.dtype} {b.tolist()}"
        checks += 1


def values(shape, dtype, seed=0):
    """One array for each device: whole numbers from 0 to 3, or a few truths."""
    x = np.random.RandomState(seed).randint(0, 4, (N, *shape))
    x = x + (x[::-1] * 1j if np.dtype(dtype).kind == "c" else 0)
    return list((x > 1 if dtype == np.bool_ else x).astype(dtype))


def mapped(f, xs, **options):
    return list(jax.pmap(f, axis_name="i", **options)(np.stack(xs)))


def expect_all(cases):
    """Each case is (what, function, arguments, results), these a list with an entry a device; all
    are played as one program, which takes far less time than one each."""
    stacked = [np.stack(xs) for _, _, xs, _ in cases]
    play = jax.pmap(lambda *all_xs: [f(x) for (_, f, _, _), x in zip(cases, all_xs)], axis_name="i")
    for (what, _, _, want), got in zip(cases, play(*stacked), strict=True):
        expect(what, list(got), want)


def group_lists():
    """None, and ways to cut the devices into equal groups."""
    yield None
    for size in range(2, N):
        if N % size == 0:
            yield [list(range(k, k + size)) for k in range(0, N, size)]
            yield [list(range(k, N, N // size)) for k in range(N // size)]


def members(groups, d):
    return next(g for g in groups or [list(range(N))] if d in g)


def add(arrays, dtype):
    return reduce(operator.add, arrays).astype(dtype)


# ---- reductions ----


def sums():
    for dtype in TYPES:
        xs = values((3, 2), dtype)
        wide = np.int32 if dtype == np.bool_ else dtype  # JAX adds truths as numbers
        total = add([x.astype(wide) for x in xs], wide)
        expect(f"psum {dtype.__name__}", mapped(lambda x: lax.psum(x, "i"), xs), [total] * N)
    for dtype in REALS + [np.bool_]:
        xs = values((5,), dtype)
        if dtype != np.bool_:
            expect(f"pmax {dtype.__name__}", mapped(lambda x: lax.pmax(x, "i"), xs),
                   [np.max(np.stack(xs), 0)] * N)
            expect(f"pmin {dtype.__name__}", mapped(lambda x: lax.pmin(x, "i"), xs),
                   [np.min(np.stack(xs), 0)] * N)
    xs = values((4,), np.float32)
    expect("pmean", mapped(lambda x: lax.pmean(x, "i"), xs),
           [add(xs, np.float32) / np.float32(N)] * N)


def sums_of_nothing():
    for shape in [(), (0,), (2, 0, 3), (1, 1, 1)]:
        xs = values(shape, np.float32)
        expect(f"psum of {shape}", mapped(lambda x: lax.psum(x, "i"), xs),
               [add(xs, np.float32)] * N)


def sums_in_order():
    """Device after device, in the precision of the type, bfloat16 in that of float32, as XLA does
    it: the same bits in every run."""
    for dtype in [np.float32, np.float64, np.float16, ml_dtypes.bfloat16]:
        xs = list(np.random.RandomState(1).randn(N, 1000).astype(dtype))
        kept = np.float32 if dtype == ml_dtypes.bfloat16 else dtype
        want = xs[0].astype(kept)
        for x in xs[1:]:
            want = (want + x.astype(kept)).astype(kept)
        want = want.astype(dtype)
        for _ in range(3):
            expect(f"order of {dtype.__name__}", mapped(lambda x: lax.psum(x, "i"), xs), [want] * N)


def sums_in_groups():
    uneven = [[0, *range(2, N)], [1]] if N > 2 else None
    for groups in [*group_lists(), uneven]:
        for dtype in FEW[1:]:
            xs = values((2, 2), dtype, 2)
            want = [add([xs[k] for k in members(groups, d)], dtype) for d in range(N)]
            expect(f"psum in {groups}",
                   mapped(lambda x: lax.psum(x, "i", axis_index_groups=groups), xs), want)
        xs = values((3,), np.float32, 3)
        for name, f, best in (("pmax", lax.pmax, np.max), ("pmin", lax.pmin, np.min)):
            want = [best([xs[k] for k in members(groups, d)], 0) for d in range(N)]
            expect(f"{name} in {groups}",
                   mapped(lambda x: f(x, "i", axis_index_groups=groups), xs), want)


def trees():
    xs = values((3,), np.float32), values((2,), np.int32), values((), np.complex64)
    got = jax.pmap(lambda t: lax.psum(t, "i"), axis_name="i")(
        {"a": np.stack(xs[0]), "b": (np.stack(xs[1]), np.stack(xs[2]))})
    expect("psum of a tree", list(got["a"]), [add(xs[0], np.float32)] * N)
    expect("psum of a tree", list(got["b"][0]), [add(xs[1], np.int32)] * N)
    expect("psum of a tree", list(got["b"][1]), [add(xs[2], np.complex64)] * N)


# ---- moving ----


def gathers():
    for groups, dtype in [(None, t) for t in TYPES] + [(g, np.float32) for g in group_lists()]:
        xs = values((2, 3), dtype, 4)
        parts = [[xs[k] for k in members(groups, d)] for d in range(N)]
        cases = []
        for axis, tiled in [(0, 0), (1, 0), (2, 0), (-1, 0), (0, 1), (1, 1), (-1, 1)]:
            def f(x, axis=axis, tiled=bool(tiled)):
                return lax.all_gather(x, "i", axis=axis, tiled=tiled, axis_index_groups=groups)

            join = np.concatenate if tiled else np.stack
            cases.append((f"all_gather {axis} {tiled} {groups} {dtype.__name__}", f, xs,
                          [join(p, axis) for p in parts]))
        expect_all(cases)


def scatters():
    for groups, dtype in [(None, t) for t in NUMBERS] + [(g, np.float32) for g in group_lists()]:
        size = len(members(groups, 0))
        cases = []
        for dim, tiled in itertools.product((0, 1, 2), (False, True)):
            def f(x, dim=dim, tiled=tiled):
                return lax.psum_scatter(x, "i", scatter_dimension=dim, tiled=tiled,
                                        axis_index_groups=groups)

            shape = [2, 3, 2]
            shape[dim] = 2 * size if tiled else size
            xs, want = values(shape, dtype, 5), []
            for d in range(N):
                group = members(groups, d)
                total, k = add([xs[m] for m in group], dtype), group.index(d)
                want.append(np.split(total, size, dim)[k] if tiled else np.take(total, k, dim))
            cases.append((f"psum_scatter {dim} {tiled} {groups} {dtype.__name__}", f, xs, want))
        expect_all(cases)


def exchanges():
    for groups, dtype in [(None, t) for t in TYPES] + [(g, np.float32) for g in group_lists()]:
        size = len(members(groups, 0))
        cases = []
        for split, concat, tiled in itertools.product(range(3), range(3), (False, True)):
            def f(x, split=split, concat=concat, tiled=tiled):
                return lax.all_to_all(x, "i", split, concat, tiled=tiled, axis_index_groups=groups)

            shape = [2, 3, 2]
            shape[split] = 2 * size if tiled else size
            xs, want = values(shape, dtype, 7), []
            for d in range(N):
                group = members(groups, d)
                k = group.index(d)
                mine = [np.split(xs[m], size, split)[k] if tiled else np.take(xs[m], k, split)
                        for m in group]
                want.append((np.concatenate if tiled else np.stack)(mine, concat))
            cases.append((f"all_to_all {split} {concat} {tiled} {groups} {dtype.__name__}",
                          f, xs, want))
        expect_all(cases)
    xs = values((N, 4), np.float32)
    expect("pswapaxes", mapped(lambda x: lax.pswapaxes(x, "i", 0), xs),
           [np.stack([x[d] for x in xs]) for d in range(N)])


def shifts():
    pairs = {
        "ring": [(k, (k + 1) % N) for k in range(N)],
        "back": [(k, (k - 1) % N) for k in range(N)],
        "partial": [(0, N - 1)],
        "nobody": [],
        "some": [(k, N - 1 - k) for k in range(0, N, 2)],
    }
    for dtype in TYPES:
        xs, cases = values((2, 2), dtype, 9), []
        for name, perm in pairs.items():
            sources = {b: a for a, b in perm}
            want = [xs[sources[d]] if d in sources else np.zeros_like(xs[0]) for d in range(N)]
            cases.append((f"ppermute {name} {dtype.__name__}",
                          lambda x, perm=perm: lax.ppermute(x, "i", perm), xs, want))
        expect_all(cases)
    order = list(range(1, N)) + [0]
    expect("pshuffle", mapped(lambda x: lax.pshuffle(x, "i", order), xs), [xs[k] for k in order])


def broadcasts():
    for dtype in TYPES:
        xs = values((3,), dtype, 10)
        expect_all([(f"pbroadcast {source} {dtype.__name__}",
                     lambda x, source=source: lax.pbroadcast(x, "i", source), xs, [xs[source]] * N)
                    for source in {0, 1, N - 1}])


def letters():
    """psend and precv: a ring in which everybody sends before it receives."""
    from jax._src.lax import parallel

    perm = [(k, (k + 1) % N) for k in range(N)]

    def f(x):
        token = parallel.psend(x, "i", perm)
        return parallel.precv(token, jax.ShapeDtypeStruct(x.shape, x.dtype), "i", perm)

    mesh = Mesh(jax.devices(), "i")
    xs = values((4,), np.float32, 11)
    try:
        got = jax.jit(jax.shard_map(f, mesh=mesh, in_specs=P("i"), out_specs=P("i"),
                                    check_vma=False))(np.concatenate(xs))
    except NotImplementedError:  # of JAX's tracing, in versions without these
        return
    expect("psend, precv", np.split(np.asarray(got), N), [xs[k - 1] for k in range(N)])


def ragged():
    """Device d sends (d + r) % 3 rows to device r, which puts them in the order of senders."""
    mesh = Mesh(jax.devices(), "i")
    sizes = np.array([[(d + r) % 3 for r in range(N)] for d in range(N)], np.int32)
    input_offsets = np.cumsum(sizes, 1, dtype=np.int32) - sizes
    output_offsets = np.cumsum(sizes, 0, dtype=np.int32) - sizes
    rows, room = 3 * N, 3 * N + 1
    for dtype, width in [(np.float32, ()), (np.int8, (2,)), (ml_dtypes.bfloat16, (2, 3))]:
        x = np.arange(N * rows * int(np.prod(width))).reshape(N, rows, *width).astype(dtype)
        want = []
        for r in range(N):
            out = np.full((room, *width), -1, dtype)
            for d in range(N):
                n, at = sizes[d, r], output_offsets[d, r]
                out[at:at + n] = x[d, input_offsets[d, r]:input_offsets[d, r] + n]
            want.append(out)

        def f(operand, *lists):
            output = jnp.full((room, *width), -1, dtype)
            return lax.ragged_all_to_all(operand[0], output, *[a[0] for a in lists],
                                         axis_name="i")[None]

        got = jax.jit(jax.shard_map(f, mesh=mesh, in_specs=P("i"), out_specs=P("i"),
                                    check_vma=False))(
            x, input_offsets, sizes, output_offsets, np.ascontiguousarray(sizes.T))
        expect(f"ragged_all_to_all {width}", list(np.asarray(got)), want)


def starts():
    """The asynchronous forms, where this JAX has them."""
    from jax._src.lax import parallel

    if jax.__version_info__ < (0, 10):
        return  # it has the name of one of them, and no rule for it
    mesh = Mesh(jax.devices(), "i")
    xs = values((N, 2), np.float32, 12)
    whole, total = np.concatenate(xs), add(xs, np.float32)
    ring = [(k, (k + 1) % N) for k in range(N)]
    forms = [
        ("psum_start", lambda f, x: f(x, "i"), [total] * N),
        ("all_gather_start", lambda f, x: f(x, "i", tiled=True), [whole] * N),
        ("psum_scatter_start", lambda f, x: f(x, "i", tiled=True), np.split(total, N)),
        ("all_to_all_start", lambda f, x: f(x, "i", 0, 0, tiled=True),
         [np.concatenate([x[d:d + 1] for x in xs]) for d in range(N)]),
        ("ppermute_start", lambda f, x: f(x, "i", ring), [xs[k - 1] for k in range(N)]),
        ("pbroadcast_start", lambda f, x: f(x, "i", 0), [xs[0]] * N),
    ]
    for name, call, want in forms:
        start = getattr(parallel, name, None)
        if start is None:
            continue
        got = jax.jit(jax.shard_map(lambda x: call(start, x).done(), mesh=mesh, in_specs=P("i"),
                                    out_specs=P("i"), check_vma=False))(whole)
        expect(name, np.split(np.asarray(got), N), want)


# ---- meshes ----


def meshes():
    """Two axes in both orders of devices; collectives along either, both, and in either order."""
    for a in {1, 2, N // 2, N}:
        if a < 1 or N % a:
            continue
        b = N // a
        for devices in (jax.devices(), jax.devices()[::-1], list(np.roll(jax.devices(), 1))):
            mesh = Mesh(np.array(devices).reshape(a, b), ("a", "b"))
            x = np.random.RandomState(13).randint(0, 9, (a * 2, b * 3)).astype(np.float32)
            cells = x.reshape(a, 2, b, 3)

            def run(f, out, spec=P("a", "b")):
                g = jax.shard_map(f, mesh=mesh, in_specs=P("a", "b"), out_specs=spec,
                                  check_vma=False)
                expect(f"mesh {a}x{b}", [jax.jit(g)(x)], [out])

            run(lambda x: lax.psum(x, "a"), cells.sum(0).reshape(2, -1), P(None, "b"))
            run(lambda x: lax.psum(x, "b"), cells.sum(2).reshape(-1, 3), P("a"))
            run(lambda x: lax.psum(x, ("a", "b")), cells.sum((0, 2)), P())
            run(lambda x: lax.all_gather(x, ("a", "b")),
                cells.transpose(0, 2, 1, 3).reshape(N, 2, 3), P())
            run(lambda x: lax.all_gather(x, ("b", "a")),
                cells.transpose(2, 0, 1, 3).reshape(N, 2, 3), P())
            run(lambda x: lax.ppermute(x, "b", [(k, (k + 1) % b) for k in range(b)]),
                np.roll(cells, 1, 2).reshape(x.shape))
            run(lambda x: jnp.zeros_like(x) + lax.axis_index(("a", "b")),
                np.broadcast_to(np.arange(N, dtype=np.float32).reshape(a, 1, b, 1),
                                cells.shape).reshape(x.shape))


def nested():
    """A manual computation inside another, each over one axis."""
    if N % 2:
        return
    mesh = jax.make_mesh((2, N // 2), ("a", "b"), axis_types=(jax.sharding.AxisType.Auto,) * 2)
    x = np.arange(4 * N, dtype=np.float32).reshape(4, N)

    def inner(y):
        return y * 10 + lax.psum(y, "b")

    def outer(y):
        z = jax.shard_map(inner, in_specs=P(None, "b"), out_specs=P(None, "b"),
                          axis_names={"b"}, check_vma=False)(y)
        return z + lax.psum(y, "a")

    with jax.set_mesh(mesh):
        got = jax.jit(jax.shard_map(outer, in_specs=P("a"), out_specs=P("a"), axis_names={"a"},
                                    check_vma=False))(x)
    rows = x.reshape(2, 2, N)
    along_b = rows.reshape(2, 2, N // 2, 2).sum(2, keepdims=True)
    want = rows * 10 + np.broadcast_to(along_b, (2, 2, N // 2, 2)).reshape(rows.shape) + rows.sum(0)
    expect("nested", [got], [want.reshape(x.shape).astype(np.float32)])


def partly():
    """Manual over one axis; what the other cuts is the compiler's business."""
    if N % 2:
        return
    mesh = jax.make_mesh((2, N // 2), ("a", "b"), axis_types=(jax.sharding.AxisType.Auto,) * 2)
    x = np.random.RandomState(14).randint(0, 9, (4, N)).astype(np.float32)
    placed = jax.device_put(x, jax.sharding.NamedSharding(mesh, P("a", "b")))

    def f(y):
        s = lax.with_sharding_constraint(y @ y.T, jax.sharding.NamedSharding(mesh, P(None, "b"))) \
            if N == 4 else y @ y.T
        return lax.psum(s, "a") + y.sum()

    g = jax.jit(jax.shard_map(f, mesh=mesh, in_specs=P("a"), out_specs=P("a"), axis_names={"a"},
                              check_vma=False))
    halves = x.reshape(2, 2, N)
    total = sum(h @ h.T for h in halves)
    want = np.concatenate([total + h.sum() for h in halves])
    for y in (x, placed):
        expect("partly manual", [g(y)], [want])


# ---- control flow ----


def loops():
    """Collectives inside while, scan, cond and switch, and in loops over sharded arrays."""
    xs = values((3,), np.float32, 15)
    total = add(xs, np.float32)

    def f(x):
        x = lax.fori_loop(0, 5, lambda k, y: lax.psum(y, "i") / N + k, x)
        x = lax.cond(lax.psum(x.sum(), "i") > 0, lambda y: lax.ppermute(
            y, "i", [(k, (k + 1) % N) for k in range(N)]), lambda y: y, x)
        return lax.scan(lambda c, k: (lax.all_gather(c, "i").sum(0) / N, c[0]), x, None, length=3)[0]

    mean = total / np.float32(N) + np.float32(10)
    got = mapped(f, xs)
    assert all(np.allclose(a, mean, rtol=1e-6) for a in got), "loops"

    def waits_for_data(x):
        return lax.while_loop(lambda s: lax.psum(s[1], "i") < 20 * N,
                              lambda s: (s[0] + lax.psum(s[1], "i"), s[1] + 1), (0., x))

    got = jax.pmap(waits_for_data, axis_name="i")(np.arange(N, dtype=np.float32))
    start = N * (N - 1) / 2
    want, s = 0, start
    while s < 20 * N:
        want, s = want + s, s + N
    expect("while", list(got[0]), [np.float32(want)] * N)

    branch = [lambda y: lax.psum(y, "i"), lambda y: lax.pmax(y, "i"), lambda y: -y]
    for k, want in enumerate([total, np.max(xs, 0), None]):
        got = mapped(lambda x: lax.switch(jnp.int32(k) + lax.psum(jnp.int32(0), "i"), branch, x), xs)
        expect(f"switch {k}", got, [-x for x in xs] if want is None else [want] * N)


def differentiated():
    xs = values((3,), np.float32, 16)
    total = add(xs, np.float32)
    got = mapped(lambda x: jax.grad(lambda y: (lax.psum(y, "i") ** 2).sum())(x), xs)
    expect("grad of psum", got, [2 * N * total] * N)
    got = mapped(lambda x: jax.jvp(lambda y: lax.all_gather(y, "i"), (x,), (2 * x,))[1], xs)
    expect("jvp of all_gather", got, [2 * np.stack(xs)] * N)
    got = mapped(lambda x: jax.vmap(lambda y: lax.psum(y, "i"))(jnp.stack([x, 2 * x])), xs)
    expect("vmap of psum", got, [np.stack([total, 2 * total])] * N)
    got = mapped(jax.vmap(lambda y: lax.psum(y, ("i", "j")), axis_name="j"), xs)
    expect("psum over pmap and vmap", got, [np.full(3, total.sum())] * N)


CASES = [
    sums, sums_of_nothing, sums_in_order, sums_in_groups, trees, gathers, scatters, exchanges,
    shifts, broadcasts, letters, ragged, starts, meshes, nested, partly, loops, differentiated,
]

if __name__ == "__main__":
    play(CASES, lambda: checks)
