"""Sums, products and what is made of them are as accurate as JAX's own (accuracy_sums.py)."""

import pathlib

SCRIPT = pathlib.Path(__file__).with_name("accuracy_sums.py")

# A small matmul adds its 300 products in a row, XLA in parts.  Each addition rounds what there is so
# far, which grows evenly: in the root of the mean square 2^-24 / sqrt(3) * sqrt(300 / 3) of the sum.
IN_A_ROW = {("f32", "matmul, 300 x 300 x 300"): 2.0**-24 / 3**0.5 * (300 / 3) ** 0.5}


def is_allowed(row):
    name, ours = row[5:47].strip(), float(row[48:].split()[0])
    return not row.endswith("worse") or ours <= IN_A_ROW.get((row[:4].strip(), name), 0)


def test_none_worse_than_xla(python):
    rows = python([SCRIPT, "300000", "1"], "tutti,cpu", timeout=900).splitlines()
    assert len(rows) > 40
    worse = [row for row in rows if not is_allowed(row)]
    assert not worse, "ours, XLA's:\n" + "\n".join(worse)


def test_same_bits_whatever_the_number_of_workers(python):
    one, two = (python([SCRIPT, "bits", n], "tutti", timeout=900) for n in "12")
    assert one == two
