"""Writes docs/accuracy.md: what accuracy_functions.py and accuracy_sums.py measure, as tables."""

import datetime
import sys

import accuracy_functions as functions
import accuracy_sums as sums
import jax
import jaxlib

SAMPLES, LARGEST, SEEDS = 400, 300000, 1

HEAD = f"""# Accuracy

How far results of `jax.jit` are from the truth: ours, then XLA's, on the same numbers. In **bold**:
ours is worse, by more than the measure's luck. Written by `make accuracy` on {{date}}, with JAX {{jax}}
and jaxlib {{jaxlib}}; `python/tests/test_accuracy_functions.py` and `test_accuracy_sums.py` hold it.

## Functions

The largest error found, in units of the last place, against mpmath with 60 digits: {SAMPLES} samples of
every magnitude, as many in ordinary ranges, and some near each function's special points. Bold: above 1
and above 1.02 times XLA's, of ten times as many too. What lies below the normal range counts as zero; inf:
a result is infinite or no number where the truth is a number, or the other way round.

"""

SUMS = f"""
## Sums and products

The relative error of the whole result, ||got - want|| / ||want||, against NumPy in twice the precision;
of up to {LARGEST} elements. Bold: above one rounding, and above 1.5 times XLA's (products: twice).

"""


def table(first, kinds, cells):
    """cells: {row: {kind: text}}"""
    lines = [f"| {first} | " + " | ".join(kinds) + " |", "|---" * (len(kinds) + 1) + "|"]
    for name, row in cells.items():
        lines.append(f"| {name} | " + " | ".join(row.get(kind, "") for kind in kinds) + " |")
    return "\n".join(lines) + "\n"


def pair(ours, theirs, form, is_none_worse):
    ours = format(ours, form)
    return f"{ours if is_none_worse else f'**{ours}**'}, {theirs:{form}}"


def function_table():
    cells = {}
    for name, kind, worst in functions.rows(SAMPLES, []):
        text = pair(worst["tutti"][0], worst["cpu"][0], ".2f", functions.is_none_worse(worst))
        cells.setdefault(name, {})[kind] = text
    return table("function", functions.KINDS, cells)


def sum_table():
    cells = {}
    for kind, name, errors in sums.rows(sums.KINDS, LARGEST, SEEDS):
        text = pair(errors["tutti"], errors["cpu"], ".1e", sums.is_none_worse(kind, name, errors))
        cells.setdefault(name, {})[kind] = text
    return table("case", sums.KINDS, cells)


if __name__ == "__main__":
    head = HEAD.format(date=datetime.date.today(), jax=jax.__version__, jaxlib=jaxlib.__version__)
    page = head + function_table() + SUMS + sum_table()
    with open(sys.argv[1], "w") as out:
        out.write(page)
