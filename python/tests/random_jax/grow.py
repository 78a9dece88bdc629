"""From a seed to a program: its arguments, and a function of them."""
import jax

import data
import elementwise
import library
import moving
import products
import reductions
from program import NAMES, Function, Maker, Value, doubled, write

GROUPS = [(elementwise, 8), (reductions, 5), (moving, 7), (products, 4), (library, 3)]
DEEPEST = 2


def draw_group(f, more):
    import transforms  # which grows lines itself
    groups = GROUPS + list(more) + (
        [(transforms, 5 if f.depth == 0 else 1.5)] if f.depth < DEEPEST else [])
    return f.rng.choices([g for g, _ in groups], [w for _, w in groups])[0]


def grow_lines(f, count):
    """So many more lines, as far as proposals are legal."""
    tries, first = 0, len(f.lines)
    while len(f.lines) < first + count and tries < 12 * count:
        tries += 1
        group = draw_group(f, f.maker.more)
        proposals = group.PROPOSALS
        f.rng.choices(list(proposals), proposals.values())[0](f)


def draw_arguments(maker):
    """The parameters of a program and the text of its arguments; their lengths agree often, so
    that they can be combined."""
    rng, params, texts = maker.rng, [], []
    base = data.draw_shape(rng)
    main = data.draw_dtype(rng, maker.x64)
    for i in range(rng.randint(1, 3)):
        shape = rng.choice([base, base, base[::-1], base[1:], data.draw_shape(rng)])
        dtype = main if rng.random() < 0.6 else data.draw_dtype(rng, maker.x64)
        style = rng.choices(list(data.STYLES), data.STYLES.values())[0]
        params.append(Value(f"a{i}", shape, dtype, True))
        texts.append((rng.randrange(1 << 30), shape, dtype, style))
    maker.special = any(style == "special" for _, _, _, style in texts)
    return params, texts


def choose_results(f):
    """What nothing else uses is returned, and something of what is."""
    used = {name for line in f.lines for name in [v.name for v in f.operands(line.expr)]}
    made = [v for v in f.values if v not in f.params]
    ends = [v for v in made if v.name not in used]
    others = [v for v in made if v.name in used]
    f.results = ends + f.rng.sample(others, min(len(others), 1))


class Program:
    """What a seed says: a function of arguments, as text and as Python.  `more` are further groups of
    proposals, each with its weight."""

    def __init__(self, seed, more=()):
        self.seed, self.x64 = seed, seed // 3 % 3 == 0
        maker = Maker(seed, self.x64)
        maker.more = more
        with jax.enable_x64(self.x64):
            params, self.drawn, axes = self.draw(maker)
            f = Function(maker, params, axes=axes)
            while not f.lines:
                grow_lines(f, maker.rng.choice([1, 2, 3, 3, 4, 5, 6, 9]))
        choose_results(f)
        self.function = f
        self.finish(maker)

    def draw(self, maker):
        """Parameters, what their arguments are made of, and the axes that they are mapped over."""
        return *draw_arguments(maker), {}

    def finish(self, maker):
        """What is drawn when the function is known."""

    def arguments(self):
        return [data.array(*drawn) for drawn in self.drawn]

    def on(self, device):
        return [jax.device_put(a, device) for a in self.arguments()]

    def played(self, backend):
        f = defined(write(self.function), self.function.name)
        return jax.jit(f)(*self.on(jax.devices(backend)[0]))

    def is_refused_by_jax(self):
        """Whether a program that our engine did not play has no chance on another either, though
        JAX's CPU backend played its counterpart."""
        return False

    def reference(self, noise):
        """The program in double precision, every float handed to `noise` (compare.py)."""
        text = doubled(write(self.function, reference=True))
        return defined(text, self.function.name, noise=noise)

    def home(self):
        """Where the arguments of the reference lie."""
        return jax.devices("cpu")[0]

    def text_head(self):
        return "\n".join(["import jax", "import jax.numpy as jnp", "import numpy as np",
                          "from jax import lax", "from data import array  # python/tests/random_jax",
                          "", f"jax.config.update('jax_enable_x64', {self.x64})", ""])

    def text(self):
        given = ", ".join(f"array{drawn}" for drawn in self.drawn)
        return (f"{self.text_head()}\n{write(self.function)}\n"
                f"print(jax.jit({self.function.name})({given}))")


def defined(text, name, **more):
    names = {**NAMES, **more}
    exec(text, names)  # noqa: S102: the text is ours
    return names[name]
