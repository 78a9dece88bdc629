"""Functions through jax.jit: within 1 ulp, or no worse than JAX's own (accuracy_functions.py)."""

import pathlib

SCRIPT = pathlib.Path(__file__).with_name("accuracy_functions.py")


def figures(python, *arguments):
    rows = python([SCRIPT, *arguments], "tutti,cpu", timeout=900).splitlines()
    return [(row, *map(float, row.split()[2:4])) for row in rows]


def test_none_worse_than_xla(python):
    rows = figures(python, "120", "7")
    assert len(rows) > 100
    worse = [row for row, *_ in rows if row.endswith("worse")]
    assert not worse, "ours, XLA's:\n" + "\n".join(worse)


def test_base_two(python):
    """JAX writes 2^x as e^(x log 2), which loses up to 8 bits of it."""
    rows = figures(python, "300", "3", "exp2")
    assert len(rows) == 4
    assert max(ours for _, ours, _ in rows) <= 1, "\n".join(row for row, *_ in rows)


def test_functions_with_a_name_of_their_own(python):
    """As JAX writes them out they lose digits: e^(x - log 2), and products below the normal range."""
    rows = figures(python, "60", "1", "sinh", "cosh", "erf", "asin")
    assert len(rows) == 16
    assert max(ours for _, ours, _ in rows) <= 4, "\n".join(row for row, *_ in rows)
