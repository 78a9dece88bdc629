"""Random programs in which devices meet, against NumPy: collectives in groups of any shape, inside
loops and branches which all devices take together or each group of devices in its own way.

    parting_programs.py [FIRST [COUNT]]     the seeds to play

A program is a list of steps.  Each step can be traced (`trace`: one device's arrays in, its arrays
out) and played (`play`: changes the arrays of all devices).  Numbers are whole and wrap around, so
that both agree to the last bit.

Where ways may part, devices of one class go together: a collective there may join only devices of
one class, and the classes of what is inside are finer.
"""
import random
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

MOST = jax.device_count()


def one_class(n):
    return [list(range(n))]


class Local:
    """x becomes a x + b + the number of the device."""

    def __init__(self, rng, program, classes):
        self.i = rng.randrange(program.narrays)
        self.a, self.b = rng.choice([3, 5, -1]), rng.randrange(9)

    def trace(self, xs):
        me = lax.axis_index("i").astype(jnp.int32)
        return [x * self.a + self.b + me if k == self.i else x for k, x in enumerate(xs)]

    def play(self, state, members):
        for d in members:
            state[d][self.i] = state[d][self.i] * np.int32(self.a) + np.int32(self.b + d)


class Collective:
    """Array i of every group, in the order of its list, becomes something of the same shape."""

    equal, whole = False, False  # do groups have one size?  is everybody in one?

    def __init__(self, rng, program, classes):
        self.i = rng.randrange(program.narrays)
        self.shape = program.shapes[self.i]
        self.n = sum(map(len, classes))
        self.groups = cut(rng, classes, self.equal)
        if self.whole or (classes == one_class(self.n) and rng.random() < 0.4):
            self.groups = one_class(self.n)
        self.axis_index_groups = None if self.groups == one_class(self.n) else self.groups
        self.size = len(self.groups[0])
        self.dim = rng.randrange(len(self.shape)) if self.shape else 0
        self.other = rng.randrange(len(self.shape)) if self.shape else 0
        self.weights = [rng.randrange(1, 9) for _ in range(self.n)]
        self.pairs = any_pairs(rng, self.n)

    def trace(self, xs):
        return [self.meet(x) if k == self.i else x for k, x in enumerate(xs)]

    def play(self, state, members):
        for group in self.groups:
            if group[0] in members:
                brought = [state[d][self.i] for d in group]
                for rank, d in enumerate(group):
                    state[d][self.i] = self.expect(brought, rank).reshape(self.shape)


class Sum(Collective):
    def meet(self, x):
        return lax.psum(x, "i", axis_index_groups=self.axis_index_groups)

    def expect(self, brought, rank):
        return np.add.reduce(brought, dtype=np.int32)


class Max(Collective):
    def meet(self, x):
        return lax.pmax(x, "i", axis_index_groups=self.axis_index_groups)

    def expect(self, brought, rank):
        return np.maximum.reduce(brought)


class Gather(Collective):
    equal = True

    def meet(self, x):
        whole = lax.all_gather(x, "i", axis=self.dim, axis_index_groups=self.axis_index_groups)
        return sum(w * lax.index_in_dim(whole, k, self.dim, False)
                   for k, w in zip(range(self.size), self.weights))

    def expect(self, brought, rank):
        return sum(np.int32(w) * x for w, x in zip(self.weights, brought))


class Scatter(Collective):
    """A slice of the sum, as often as it takes to fill the array again."""

    equal = True

    def fits(self):
        extent = self.shape[self.dim] if self.shape else 0
        return extent > 0 and extent % self.size == 0

    def meet(self, x):
        if not self.fits():
            return x
        part = lax.psum_scatter(x, "i", scatter_dimension=self.dim, tiled=True,
                                axis_index_groups=self.axis_index_groups)
        return jnp.concatenate([part] * self.size, self.dim)

    def expect(self, brought, rank):
        if not self.fits():
            return brought[rank]
        part = np.split(np.add.reduce(brought, dtype=np.int32), self.size, self.dim)[rank]
        return np.concatenate([part] * self.size, self.dim)


class Exchange(Collective):
    equal = True
    fits = Scatter.fits

    def meet(self, x):
        if not self.fits():
            return x
        return lax.all_to_all(x, "i", self.dim, self.other, tiled=True,
                              axis_index_groups=self.axis_index_groups).reshape(self.shape)

    def expect(self, brought, rank):
        if not self.fits():
            return brought[rank]
        return np.concatenate([np.split(x, self.size, self.dim)[rank] for x in brought], self.other)


class Shift(Collective):
    whole = True

    def meet(self, x):
        return lax.ppermute(x, "i", self.pairs)

    def expect(self, brought, rank):
        source = {b: a for a, b in self.pairs}.get(rank)
        return np.zeros_like(brought[0]) if source is None else brought[source]


class Loop:
    """Each class goes round as often as its devices say."""

    def __init__(self, rng, program, classes):
        self.classes = classes if rng.random() < 0.5 else cut(rng, classes)
        self.turns = by_class(rng, self.classes, 4)
        self.body = Steps(rng, program, self.classes)

    def trace(self, xs):
        turns = self.turns[0] if len(self.classes) == 1 else \
            jnp.array(self.turns, jnp.int32)[lax.axis_index("i")]
        return lax.fori_loop(0, turns, lambda _, y: self.body.trace(y), xs)

    def play(self, state, members):
        for devices in self.classes:
            if devices[0] in members:
                for _ in range(self.turns[devices[0]]):
                    self.body.play(state, devices)


class Branch:
    """Each class takes the way that its devices say."""

    def __init__(self, rng, program, classes):
        self.classes = cut(rng, classes)
        self.ways = [Steps(rng, program, self.classes) for _ in range(rng.randrange(1, 4))]
        self.way = by_class(rng, self.classes, len(self.ways) - 1)

    def trace(self, xs):
        way = jnp.array(self.way, jnp.int32)[lax.axis_index("i")]
        return lax.switch(way, [w.trace for w in self.ways], xs)

    def play(self, state, members):
        for devices in self.classes:
            if devices[0] in members:
                self.ways[self.way[devices[0]]].play(state, devices)


class Steps:
    def __init__(self, rng, program, classes):
        program.depth += 1
        self.steps = [self.any_step(rng, program, classes) for _ in range(rng.randrange(1, 5))]
        program.depth -= 1

    def any_step(self, rng, program, classes):
        kinds = [Local, Sum, Max, Gather, Scatter, Exchange]
        kinds += [Shift] * 2 if len(classes) == 1 else []
        kinds += [Loop, Branch] * 2 if program.depth < 3 else []
        return rng.choice(kinds)(rng, program, classes)

    def trace(self, xs):
        for step in self.steps:
            xs = step.trace(xs)
        return xs

    def play(self, state, members):
        for step in self.steps:
            step.play(state, members)


def cut(rng, classes, equal=False):
    """Each class in groups, in any order; of one size if they have to be."""
    lengths = list(map(len, classes))
    sizes = [s for s in range(1, 1 + min(lengths)) if all(n % s == 0 for n in lengths)]
    size, groups = rng.choice(sizes), []
    for devices in classes:
        rest = rng.sample(devices, len(devices))
        while rest:
            n = size if equal else rng.randrange(1, 1 + len(rest))
            groups.append(rest[:n])
            rest = rest[n:]
    return groups


def by_class(rng, classes, most):
    """A number for each device, the same in a class."""
    numbers = [0] * sum(map(len, classes))
    for devices in classes:
        number = rng.randint(0, most)
        for d in devices:
            numbers[d] = number
    return numbers


def any_pairs(rng, n):
    """Rings, chains, some who keep what they have, some to whom nobody sends."""
    targets = rng.sample(range(n), n)
    missing = rng.choice([0, 0, 0.3])
    return [(a, b) for a, b in enumerate(targets) if rng.random() >= missing]


class Program:
    def __init__(self, seed):
        rng = random.Random(seed)
        self.depth, self.narrays = 0, rng.randrange(1, 4)
        self.n = rng.randrange(1, 1 + MOST)
        extents = [0, 1, 2, 3, self.n, self.n, 2 * self.n] + ([5000] if rng.random() < 0.1 else [])
        self.shapes = [tuple(rng.choice(extents) for _ in range(rng.randrange(4)))
                       for _ in range(self.narrays)]
        self.donates = rng.random() < 0.5
        self.steps = Steps(rng, self, one_class(self.n))
        self.seed = seed

    def check(self):
        numbers = np.random.RandomState(self.seed)
        state = [[numbers.randint(-9, 9, s, np.int32) for s in self.shapes] for _ in range(self.n)]
        xs = [np.stack([state[d][k] for d in range(self.n)]) for k in range(self.narrays)]
        f = jax.pmap(lambda *a: self.steps.trace(list(a)), axis_name="i",
                     devices=jax.devices()[:self.n],
                     donate_argnums=range(self.narrays) if self.donates else ())
        got = [np.asarray(y) for y in f(*xs)]
        with np.errstate(over="ignore"):
            self.steps.play(state, range(self.n))
        for k, y in enumerate(got):
            want = np.stack([state[d][k] for d in range(self.n)])
            assert np.array_equal(y, want), \
                f"array {k} {self.shapes[k]} on {self.n}: {y.tolist()}, expected {want.tolist()}"


if __name__ == "__main__":
    first, count = (int(a) for a in (sys.argv[1:] + ["1", "40"][len(sys.argv) - 1:]))
    failed = 0
    for seed in range(first, first + count):
        try:
            Program(seed).check()
        except Exception as error:  # noqa: BLE001: every program is to be played
            failed += 1
            print(f"FAIL seed {seed}: {type(error).__name__}: {str(error)[:600]}")
    print(f"{count} programs, {failed} failed")
    sys.exit(failed > 0)
