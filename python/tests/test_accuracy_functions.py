"""Functions through jax.jit: within 4 ulps, or no worse than JAX's own (accuracy_functions.py)."""

import pathlib

SCRIPT = pathlib.Path(__file__).with_name("accuracy_functions.py")
MOST = 4.0  # and where JAX's formula is worse (erfc, ndtr), a tenth more than XLA's by luck


def figures(python, *arguments):
    rows = python([SCRIPT, *arguments], "tutti,cpu", timeout=900).splitlines()
    return [(row, *map(float, row.split()[2:4])) for row in rows]


def test_none_worse_than_xla(python):
    rows = figures(python, "16")
    assert len(rows) > 100
    worse = [row for row, ours, theirs in rows if not ours <= max(MOST, 1.1 * theirs)]
    assert not worse, "ours, XLA's:\n" + "\n".join(worse)


def test_functions_with_a_name_of_their_own(python):
    """As JAX writes them out they lose digits: e^(x - log 2), and products below the normal range."""
    rows = figures(python, "60", "sinh", "cosh", "erf")
    assert len(rows) == 12
    assert max(ours for _, ours, _ in rows) <= MOST, "\n".join(row for row, *_ in rows)
