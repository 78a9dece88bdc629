"""Sums, products and what is made of them are as accurate as JAX's own (accuracy_sums.py)."""

import pathlib

SCRIPT = pathlib.Path(__file__).with_name("accuracy_sums.py")


def test_none_worse_than_xla(python):
    rows = python([SCRIPT, "300000", "1"], "tutti,cpu", timeout=900).splitlines()
    assert len(rows) > 40
    worse = [row for row in rows if row.endswith("worse")]
    assert not worse, "ours, XLA's:\n" + "\n".join(worse)


def test_same_bits_whatever_the_number_of_workers(python):
    one, two = (python([SCRIPT, "bits", n], "tutti", timeout=900) for n in "12")
    assert one == two
