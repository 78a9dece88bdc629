"""A JAX program that is being grown: functions of lines, and how they are written as Python.

A line is an expression over the values before it, in which `v3` (in backticks) stands for a value.
JAX says whether it is legal and what its types are (eval_shape), so whoever proposes lines may be
careless.  Three things are known of each value: shape, element type, and whether it is exact: the
same bits wherever it is computed.  A float that was rounded is not, and from then on goes only
through functions that are continuous (see Kind), so that two right answers stay near each other.

The same lines are written in two ways: as they are, and as a reference, in which all floats are
double and `noise` shakes each by what one rounding in its own type may do (compare.py).
"""
import enum
import random
import re

import jax
import jax.numpy as jnp
import ml_dtypes  # noqa: F401: proposals may name it
import numpy as np
from jax import lax

import data

LARGEST = 100_000  # elements of a value
REFUSALS = (TypeError, ValueError, NotImplementedError, IndexError, ZeroDivisionError,
            AssertionError, KeyError, OverflowError, AttributeError)
NAMES = {"jax": jax, "jnp": jnp, "lax": lax, "np": np, "constrain": lambda x, *spec: x}


class Kind(enum.Enum):
    MOVE = "moves elements; exact if they are"
    KINK = "rounds nothing and is continuous, but its derivative is not"
    JUMP = "is not continuous: takes exact numbers only"
    ROUND = "rounds; continuous with its derivatives"


class Value:
    def __init__(self, name, shape, dtype, exact):
        self.name, self.shape, self.dtype, self.exact = name, tuple(shape), dtype, exact
        self.rank, self.size = len(self.shape), int(np.prod(self.shape))

    def __str__(self):
        return f"`{self.name}`"

    @property
    def is_inexact_number(self):
        return data.is_float(self.dtype) or data.is_complex(self.dtype)

    @property
    def spec(self):
        return jax.ShapeDtypeStruct(self.shape, data.numpy_type(self.dtype))


class Line:
    def __init__(self, targets, expr, functions, is_tuple):
        self.targets, self.expr, self.functions, self.is_tuple = targets, expr, functions, is_tuple


class Maker:
    """What all functions of one program share: the seed's choices and fresh names."""

    def __init__(self, seed, x64):
        self.rng, self.x64, self.count = random.Random(seed), x64, 0

    def fresh(self, letter):
        self.count += 1
        return f"{letter}{self.count}"


class Function:
    """A function being grown.  `smooth`: somebody differentiates it.  `axes`: the named axes that
    it is mapped over and their sizes.  `together`: all devices come here alike, so that they may
    meet.  `depth`: how many functions are around it."""

    def __init__(self, maker, params, depth=0, smooth=False, axes=None, together=True):
        self.maker, self.rng, self.params = maker, maker.rng, params
        self.name = maker.fresh("f")
        self.values, self.lines, self.results = list(params), [], []
        self.depth, self.smooth, self.axes, self.together = depth, smooth, axes or {}, together

    def inner(self, params, **changes):
        state = {"smooth": self.smooth, "axes": self.axes, "together": self.together, **changes}
        return Function(self.maker, params, self.depth + 1, **state)

    def pick(self, want=lambda v: True, *, exact=False):
        """A value that `want` accepts; later ones more often."""
        found = [v for v in self.values if want(v) and (v.exact or not exact)]
        return self.rng.choices(found, range(1, len(found) + 1))[0] if found else None

    def operands(self, expr):
        known = {v.name: v for v in self.values}
        return [known[name] for name in dict.fromkeys(re.findall(r"`(\w+)`", expr))]

    def is_allowed(self, kind, operands):
        exact = all(v.exact for v in operands)
        return kind in (Kind.MOVE, Kind.ROUND) or exact or (kind is Kind.KINK and not self.smooth)

    def add(self, kind, expr, functions=(), exact=None):
        """The values of one more line, or None if JAX or the rules about exactness refuse it.
        `functions` are called by it, `exact` says what holds for their results."""
        operands = self.operands(expr)
        if not self.is_allowed(kind, operands):
            return None
        types = self.types_of(expr, operands, functions)
        leaves = jax.tree.leaves(types)
        if not leaves or sum(np.prod(t.shape) for t in leaves) > LARGEST:
            return None
        targets = []
        for i, t in enumerate(leaves):
            value = Value(self.maker.fresh("v"), t.shape, t.dtype.name, True)
            if value.is_inexact_number:
                value.exact = exact[i] if exact else kind is not Kind.ROUND and all(
                    v.exact for v in operands)
            targets.append(value)
        self.lines.append(Line(targets, expr, functions, isinstance(types, tuple)))
        self.values += targets
        return targets

    def types_of(self, expr, operands, functions):
        """The type of an expression, or the types of a tuple; None if JAX refuses it."""
        text = "".join(write(f) for f in functions)
        arguments = ", ".join(v.name for v in operands)
        text += f"def line({arguments}):\n    return {expr.replace('`', '')}\n"
        names = dict(NAMES)
        exec(text, names)  # noqa: S102: the text is ours
        try:
            types = jax.eval_shape(self.mapped(names["line"]), *[v.spec for v in operands])
        except REFUSALS:
            return None
        return types

    def mapped(self, line):
        """`line` where the axes have their names: eval_shape has no devices."""
        def named(*args):
            from jax._src import core
            with core.extend_axis_env_nd(list(self.axes.items())):
                return line(*args)
        return named if self.axes else line


def write(function, indent="", reference=False):
    """The function as Python."""
    params = ", ".join(v.name for v in function.params)
    lines = [f"{indent}def {function.name}({params}):"]
    for line in function.lines:
        for f in line.functions:
            lines.append(write(f, indent + "    ", reference).rstrip("\n"))
        lines += [f"{indent}    {text}" for text in write_line(function, line, reference)]
    results = ", ".join(v.name for v in function.results)
    comma = "," if len(function.results) == 1 else ""
    lines.append(f"{indent}    return ({results}{comma})\n")
    return "\n".join(lines)


def write_line(function, line, reference):
    known = {v.name: v for v in function.values}
    rounds = any(not v.exact for v in line.targets) and not line.functions

    def operand(match):
        v = known[match[1]]
        shaken = reference and rounds and v.exact and v.is_inexact_number
        return shake(v) if shaken else v.name

    targets = ", ".join(v.name for v in line.targets)
    comma = "," if line.is_tuple and len(line.targets) == 1 else ""
    yield f"{targets}{comma} = " + re.sub(r"`(\w+)`", operand, line.expr)
    for v in line.targets if reference else []:
        if data.is_integer(v.dtype):  # where JAX's x64 is on, its default types are wider
            yield f"{v.name} = {v.name}.astype('{v.dtype}')"
        elif not v.exact:
            yield f"{v.name} = {shake(v)}"


def shake(v):
    return f"noise({v.name}, {-data.MANTISSA[v.dtype]})"


def doubled(text):
    """Program text with each float type that jnp names made double."""
    text = re.sub(r"jnp\.(bfloat16|float16|float32|float8_\w+)\b", "jnp.float64", text)
    return re.sub(r"jnp\.complex64\b", "jnp.complex128", text)
