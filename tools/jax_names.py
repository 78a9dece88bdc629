"""How much of what JAX programs use docs/jax_names.md covers.

usage: jax_names.py [--missing] [USAGE.csv]

The table is a list of JAX's names with the number of projects, of 46 public ones, that use each:
tests/front/jax_usage.csv.  A name counts when a row of the page has it on the left and a name of ours, or
a way to say it in C, on the right; a row whose right side begins with "no:" says why not, and does not count.
"""
import csv
import os
import re
import sys

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def page():
    """JAX's words on the left of a row that counts."""
    words = set()
    for line in open(os.path.join(HERE, "docs/jax_names.md")):
        cells = re.split(r"(?<!\\)\|", line.strip())
        if len(cells) < 4 or cells[2].strip().startswith("no:"):
            continue
        for code in re.findall(r"`([^`]*)`", cells[1]):
            words.add(code)
            words.update(re.findall(r"[A-Za-z_][\w.]*", code))
    return words


def is_there(name, words):
    if name in words:
        return True
    short = re.sub(r"^(jnp|jax|lax|optax|orbax)\.(\w+\.)*", "", name).replace("method .", "")
    option = re.match(r"(.*)\((\w+)=\)$", name)
    if option:
        return is_there(option[1], words) and option[2] in words
    return short in words


def main(args):
    missing = "--missing" in args
    files = [a for a in args if not a.startswith("--")]
    path = files[0] if files else os.path.join(HERE, "tests/front/jax_usage.csv")
    words = page()
    rows = [(int(r["projects"]), r["name"]) for r in csv.DictReader(open(path))]
    for least in (20, 10, 5):
        used = [name for projects, name in rows if projects >= least]
        there = [name for name in used if is_there(name, words)]
        print(f"of {len(used)} names that {least} or more projects use, {len(there)} are there: {100 * len(there) / len(used):.1f} %")
        if missing and least == 5:
            print(*[f"  {p} {n}" for p, n in rows if p >= least and not is_there(n, words)], sep="\n")


main(sys.argv[1:])
