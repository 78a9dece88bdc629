"""Whether two results of a program are both right.

Exact values must be equal.  Rounded ones may differ by a few ulps; where they do not agree so well,
the program is played again in double precision, once as it is and a few times with every float
shaken by a rounding in its own type.  How far that moves a result says how well the program
determines it.  Ours is wrong if it is further from the double one than that allows, and several times further
than XLA's, also than XLA's for arguments nearby: one result may be near by chance, as where all terms of a
derivative cancel.
"""
import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np

import data

ULPS = 4  # that rounded results may differ by without a question
SHAKES = 6
ROOM = 16.0  # how often the farthest of the shaken results
WORSE = 4.0  # how often XLA's own error
NEARBY = 2.0**-8  # how far arguments are that it is looked for at as well, as a share of them
# JAX 0.9's XLA, as play.py tells it to make code, rounds to these by way of float16: 15.49972 becomes 15.5, then 16.
TWICE_ROUNDED = data.SMALL_FLOATS if jax.__version_info__ < (0, 10) else []


def wide(x):
    """As double, real and imaginary part in a last dimension of two if it is complex."""
    if np.iscomplexobj(x):
        return np.stack([x.real, x.imag], -1).astype(np.float64)
    return x.astype(np.float64)


def is_rounded(dtype):
    return data.is_float(dtype) or data.is_complex(dtype)


def ulp(x, dtype):
    """The distance between numbers of the type at x; at least that of its least normal ones."""
    info = ml_dtypes.finfo(part(dtype))
    size = np.maximum(np.where(np.isfinite(x), np.abs(x), 0), float(info.tiny))
    return np.exp2(np.floor(np.log2(size)) - data.MANTISSA[dtype])


def part(dtype):
    return data.numpy_type({"complex64": "float32", "complex128": "float64"}.get(dtype, dtype))


def agree(a, b):
    return (a == b) | (np.isnan(a) & np.isnan(b))


def near(ours, theirs, value):
    """Where two results are as near as any two right ones."""
    if not is_rounded(value.dtype):
        return ours == theirs
    a, b = wide(ours), wide(theirs)
    with np.errstate(all="ignore"):
        same = agree(a, b)
        if not value.exact or value.dtype in TWICE_ROUNDED:
            unit = np.maximum(ulp(a, value.dtype), ulp(b, value.dtype))
            if data.is_complex(value.dtype):
                unit = unit.max(-1, keepdims=True)
            same |= np.abs(a - b) <= ULPS * unit
    return same


class Reference:
    """A program in double precision, and how far roundings move its results."""

    def __init__(self, program):
        def shaken(scale, turn, *arguments):
            count = [0]

            def noise(x, exponent):
                count[0] += 1
                steps = jnp.arange(x.size, dtype=jnp.float64).reshape(x.shape)
                random = jnp.sin(turn * (steps + 7.3 * count[0])) * 43758.5453 % 1 * 2 - 1
                return x * (1 + scale * 2.0**exponent * random)
            return program.reference(noise)(*arguments)

        self.played = jax.jit(shaken)
        self.home = program.home()
        self.arguments = [doubled(a) for a in program.arguments()]

    def play(self, scale, turn):
        with jax.enable_x64(True):
            out = self.played(*[jax.device_put(a, self.home)
                                for a in (np.float64(scale), np.float64(turn), *self.arguments)])
            return [wide(np.asarray(x)) for x in out]

    def results(self):
        """The results, and how far they move."""
        exact = self.play(0, 1)
        moved = [np.zeros_like(x) for x in exact]
        for turn in range(SHAKES):
            for i, x in enumerate(self.play(1, 0.7 + turn * 1.37)):
                with np.errstate(all="ignore"):
                    moved[i] = np.maximum(moved[i], np.abs(x - exact[i]))
        return exact, moved


def doubled(a):
    if np.iscomplexobj(a):
        return a.astype(np.complex128)
    return a.astype(np.float64) if is_rounded(a.dtype.name) else a


def nudged(a, rng):
    """An argument nearby."""
    if not is_rounded(a.dtype.name):
        return a
    noise = 1 + NEARBY * rng.uniform(-1, 1, a.shape)
    return (a.astype(np.complex128 if np.iscomplexobj(a) else np.float64) * noise).astype(a.dtype)


def errors_nearby(program):
    """How far XLA's results are from the double ones for arguments nearby: a list for each play."""
    given, errors = program.arguments(), []
    reference = Reference(program)
    for turn in range(SHAKES):
        rng = np.random.default_rng(turn)
        near_ones = [nudged(a, rng) for a in given]
        program.arguments = lambda near_ones=near_ones: near_ones
        reference.arguments = [doubled(a) for a in near_ones]
        with jax.enable_x64(program.x64):
            played = [np.asarray(x) for x in program.played("cpu")]
        with np.errstate(all="ignore"):
            errors.append([np.abs(wide(x) - want) if is_rounded(x.dtype.name) else None
                           for x, want in zip(played, reference.play(0, 1))])
    del program.arguments
    return errors


def is_excused(ours, theirs, more, want, moved, dtype):
    """Where a rounded result of ours is right though not near XLA's; `more` are errors of other plays of XLA's."""
    a, b = wide(ours), wide(theirs)
    info = ml_dtypes.finfo(part(dtype))
    with np.errstate(all="ignore"):
        unit = ulp(want, dtype)
        if data.is_complex(dtype):
            unit = np.broadcast_to(unit.max(-1, keepdims=True), want.shape)
            moved = np.broadcast_to(moved.max(-1, keepdims=True), want.shape)
        error, their_error = np.abs(a - want), np.abs(b - want)
        for others in more:
            their_error = np.fmax(their_error, np.where(np.isfinite(others), others, 0))
        typical = np.nanmax(np.where(np.isfinite(their_error), their_error / unit, 0), initial=0)
        room = ROOM * moved + ULPS * unit + WORSE * np.maximum(their_error, typical * unit)
        is_right = (error <= room) | agree(a, want) | ~np.isfinite(moved)
        is_over = (np.abs(want) >= float(info.max) * 0.98) & ~np.isfinite(a)
        both_lost = ~np.isfinite(a) & ~np.isfinite(b)
        return is_right | is_over | both_lost


def differences(program, ours, theirs):
    """What is wrong with our results: lines of text."""
    said, reference, plays = [], None, None
    for i, (value, a, b) in enumerate(zip(program.function.results, ours, theirs)):
        if a.dtype != b.dtype or a.shape != b.shape:
            said.append(f"{value.name}: {a.dtype}{a.shape} and not {b.dtype}{b.shape}")
            continue
        wrong, note = ~near(a, b, value), ""
        if wrong.any() and is_rounded(value.dtype) and not value.exact:
            reference = reference or Reference(program).results()
            want, moved = reference[0][i], reference[1][i]
            wrong &= ~is_excused(a, b, [], want, moved, value.dtype)
            if wrong.any():
                plays = plays or errors_nearby(program)
                wrong &= ~is_excused(a, b, [play[i] for play in plays], want, moved, value.dtype)
            if wrong.any():
                at = np.flatnonzero(wrong)[0]
                note = f", in double {want.flat[at]:.17g} +- {moved.flat[at]:.3g}"
        if wrong.any():
            at = np.flatnonzero(wrong)[0]
            flat = [wide(x).ravel() if is_rounded(value.dtype) else x.ravel() for x in (a, b)]
            said.append(f"{value.name} {value.dtype}{value.shape}: {wrong.sum()} differ, the first "
                        f"at {at}: ours {flat[0][at]!r}, XLA's {flat[1][at]!r}{note}")
    return said
