"""What JAX programs use, and what it is here: counted, and written as docs/jax_usage.md.

usage: jax_names.py            checks the list and the page, and prints the figures
       jax_names.py --write    makes the page anew

The list is tests/front/jax_usage.csv: names that 5 or more of 46 public JAX projects use, the number of
projects, and what is the same here: a name of ours, or how C says it; or "no", and why.
"""
import csv
import os
import re
import sys

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LIST = os.path.join(HERE, "tests/front/jax_usage.csv")
PAGE = os.path.join(HERE, "docs/jax_usage.md")
LEASTS = (20, 10, 5)


def is_there(ours):
    return not re.match(r"no\b", ours)


def figures(rows):
    """A line for each: so many names that so many projects use, and how many are there."""
    for least in LEASTS:
        used = [ours for projects, _, ours in rows if projects >= least]
        there = sum(map(is_there, used))
        yield f"{len(used)} names that {least} or more projects use: {there} are there ({100 * there / len(used):.1f} %)"


def page(rows):
    head = """# Names by use

What {n} JAX names that 5 or more of 46 public projects use are here; {figures}.
"There" is a name of [tutti.h](../include/tutti.h) or what C has for it; "no" says why not.
`tools/jax_names.py` makes this page of tests/front/jax_usage.csv and looks for the names in the headers;
[JAX's names, and ours](jax_names.md) has them by theme, with examples.

| projects | JAX | here |
|---|---|---|
"""
    code = lambda text: "`" + text.replace("|", "\\|") + "`"
    show = lambda ours: code(ours) if re.match(r"(tt|TT)_[\w(),. ]*$", ours) else ours.replace("|", "\\|")
    body = "".join(f"| {p} | {code(n)} | {show(o)} |\n" for p, n, o in rows)
    return head.format(n=len(rows), figures="; ".join(figures(rows))) + body


def check(rows):
    headers = "".join(open(os.path.join(HERE, "include", f)).read() for f in ("tutti.h", "tutti_sugar.h"))
    known = set(re.findall(r"\b(?:tt|TT)_\w+", headers))
    bad = [
        f"{name}: {word} is not in the headers"
        for _, name, ours in rows
        for word in re.findall(r"\b(?:tt|TT)_\w+", ours)
        if word not in known
    ]
    if open(PAGE).read() != page(rows):
        bad.append("docs/jax_usage.md is not of tests/front/jax_usage.csv: tools/jax_names.py --write")
    return bad


def main(args):
    rows = [(int(r["projects"]), r["name"], r["ours"]) for r in csv.DictReader(open(LIST))]
    if args == ["--write"]:
        open(PAGE, "w").write(page(rows))
        return 0
    bad = check(rows)
    print(*bad, *figures(rows), sep="\n")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
