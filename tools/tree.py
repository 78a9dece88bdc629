#!/usr/bin/env python3
"""Numbers of the tree, for docs/design: files, functions, who calls them, headers, cycles of
includes between folders, operations named outside the op table.

    tools/tree.py [FOLDER]      of this checkout, or of another one"""
import collections
import os
import re
import statistics
import sys

ROOT = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)
STRING = re.compile(r'"(?:\\.|[^"\\\n])*"')
# A definition begins in the first column and its body's brace stands alone on a line there.
FUNCTION = re.compile(r"^(?![#/ \t}])([^\n;={}]*?\b(\w+)\([^;{}]*?\)[^;{}()]*)\n\{\n(.*?)^\}", re.M | re.S)


def sources():
    for top in ("src", "cli"):
        for folder, _, names in os.walk(os.path.join(ROOT, top)):
            for name in sorted(names):
                if re.search(r"\.(c|h|def)$", name):
                    path = os.path.join(folder, name)
                    with open(path, encoding="utf-8") as file:
                        yield os.path.relpath(path, ROOT), file.read()


def quantiles(numbers):
    numbers = sorted(numbers)
    return f"{statistics.median(numbers):.0f} / {numbers[int(len(numbers) * .9)]} / {numbers[-1]}"


def cycles(edges):
    """Folders that include one another, directly or round a circle."""
    def reached(start):
        seen, todo = set(), list(edges[start])
        while todo:
            at = todo.pop()
            if at not in seen:
                seen.add(at)
                todo += edges[at]
        return seen
    circles = {frozenset(b for b in reached(a) if a in reached(b)) for a in list(edges)}
    return sorted(sorted(c) for c in circles if len(c) > 1)


def main():
    files = dict(sources())
    c_files = {f: t for f, t in files.items() if f.endswith(".c")}
    plain = {f: STRING.sub('""', COMMENT.sub(" ", t)) for f, t in files.items()}
    words = collections.Counter(w for t in plain.values() for w in re.findall(r"\w+", t))
    lengths, statics, one_caller = [], 0, 0
    for f, text in plain.items():
        for head, name, body in FUNCTION.findall(text):
            lengths.append(body.count("\n"))
            if head.startswith("static") and f.endswith(".c"):
                here = collections.Counter(re.findall(r"\w+", text))
                statics += 1
                declared = len(re.findall(rf"^static [^\n]*\b{name}\([^{{}}]*\);", text, re.M))
                one_caller += here[name] - declared == 2
    edges = collections.defaultdict(set)
    for f, text in files.items():
        if f == "src/engine/compile.c":  # the contents page names every room
            continue
        for to in re.findall(r'^#include "([^"]+)"', text, re.M):
            a, b = os.path.dirname(f).removeprefix("src/"), os.path.dirname(to)
            if a != b and os.path.exists(os.path.join(ROOT, "src", to)):
                edges[a].add(b)
    guards = collections.Counter(g for f, t in files.items() if f.endswith(".h")
                                 for g in re.findall(r"^#ifndef (\w+_H)$", t, re.M))
    outside = [(f, len(re.findall(r"\bOP_[A-Z0-9_]+\b", t))) for f, t in plain.items()
               if not f.startswith("src/ops/")]
    lines = sum(t.count("\n") for t in files.values())
    comments = sum(m.group(0).count("\n") + 1 for t in files.values() for m in COMMENT.finditer(t))
    print(f"files (.c, .h, .def)            {len(files)}")
    print(f"  of these .c                   {len(c_files)}")
    print(f"  headers                       {sum(f.endswith('.h') for f in files)}")
    print(f"folders                         {len({os.path.dirname(f) for f in files})}")
    print(f"lines                           {lines}")
    print(f"  .c file, median / p90 / most  {quantiles([t.count(chr(10)) for t in c_files.values()])}")
    print(f"  share of comments             {100 * comments / lines:.0f} %")
    print(f"functions                       {len(lengths)}")
    print(f"  lines, median / p90 / most    {quantiles(lengths)}")
    print(f"  static                        {statics}")
    print(f"  static, named once elsewhere  {one_caller} ({100 * one_caller / statics:.0f} %)")
    print(f"header guards used twice        {sum(n > 1 for n in guards.values())}")
    print(f"cycles of includes (folders)    {cycles(edges) or 'none'}")
    print(f"op names outside src/ops        {sum(n for _, n in outside)} in "
          f"{sum(n > 0 for _, n in outside)} files")


main()
