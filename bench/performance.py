"""docs/performance.md and its charts, from what bench/wide.py has measured.

    performance.py build/bench/wide.json docs/performance.md

No number in the page is written by hand."""
import html
import json
import math
import os
import sys

from wide import BEHIND, compile_ratio, geometric

# What was found out about rows that may be behind, by experiments of their own; of other rows nothing is said.
REASONS = {
    "take_along_axis 1024x1024": "one kernel; the gather instruction takes 0.42 ns an element on one core, single loads 0.37",
    "x[i, j] 1e6": "the same gathers as take_along_axis",
    "matmul f32 1024": "one worker does 267 GFLOP/s, of 281 that a tile does whose operands lie in the first cache; two do 522",
    "x @ y.T 1024": "as matmul f32 1024",
    "4096x4096 @ 4096x8": "64 MB are read once: 37 to 43 GB/s is what both engines get of this memory",
    "100000x32 @ 32x8": "eight columns fill half of a tile's lanes",
    "100000x16 @ 16x4": "four columns fill a quarter of a tile's lanes",
    "dense 50000x8 by 8x8": "eight columns fill half of a tile's lanes",
    "gram 100000x16": "half of the time is packing, and one worker does it all",
}


def remark(row):
    return ": " + REASONS[row["name"]] if row["name"] in REASONS else ""


def bars(title, rows, path):
    """A chart: one bar a row, its ratio on a logarithmic scale from the line at 1 on."""
    left, width, high = 330, 460, 17
    low, most = min(0.5, *(r for _, r in rows)), max(2, *(r for _, r in rows))
    span = math.log(most) - math.log(low)

    def x(ratio):
        return left + width * (math.log(ratio) - math.log(low)) / span
    tall = 46 + high * len(rows)
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + width + 70}" height="{tall}" '
           'font-family="sans-serif" font-size="11">',
           '<rect width="100%" height="100%" fill="white"/>',
           f'<text x="8" y="18" font-size="13" font-weight="bold">{html.escape(title)}</text>']
    for mark in (0.01, 0.1, 0.25, 0.5, 1, 2, 4, 10, 25, 100, 400):
        if low <= mark <= most:
            out.append(f'<line x1="{x(mark):.1f}" x2="{x(mark):.1f}" y1="28" y2="{tall - 4}" '
                       f'stroke="{"#444" if mark == 1 else "#ddd"}"/>'
                       f'<text x="{x(mark):.1f}" y="26" text-anchor="middle" fill="#666">{mark:g}x</text>')
    for i, (name, ratio) in enumerate(rows):
        y, ends = 34 + high * i, sorted((x(1), x(ratio)))
        out.append(f'<text x="{left - 8}" y="{y + 10}" text-anchor="end">{html.escape(name)}</text>'
                   f'<rect x="{ends[0]:.1f}" y="{y}" width="{max(1, ends[1] - ends[0]):.1f}" height="{high - 5}" '
                   f'fill="{"#2a7f62" if ratio >= BEHIND else "#b8442f"}"/>'
                   f'<text x="{max(ends[1], x(1)) + 4:.1f}" y="{y + 10}">{ratio:.2g}</text>')
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n".join(out) + "\n</svg>\n")


def main():
    source, page = sys.argv[1:3]
    with open(source, encoding="utf-8") as file:
        data = json.load(file)
    folder = os.path.join(os.path.dirname(page), "performance")
    os.makedirs(folder, exist_ok=True)
    rows = [r for r in data["rows"] if r["agrees"]]
    groups = list(dict.fromkeys(r["group"] for r in rows))
    behind = sorted((r for r in rows if r["ratio"] < BEHIND), key=lambda r: r["ratio"])
    means = [(g, geometric([r["ratio"] for r in rows if r["group"] == g])) for g in groups]
    bars("JAX's time divided by ours, geometric mean of each group", means, os.path.join(folder, "groups.svg"))
    lines = ["# Performance", "",
             f"{len(rows)} rows of everyday work, the same Python on Tutti's engine and on JAX's own CPU backend, on one",
             f"device. Measured on {data['date']}: {data['machine']}; Python {data['python']}, in {data['seconds']} s.",
             "The ratio is JAX's time divided by ours: above 1 Tutti is faster. Written by `make bench-wide`.", "",
             f"**Geometric mean {geometric([r['ratio'] for r in rows]):.2f}x**, compilation "
             f"{geometric([compile_ratio(r) for r in rows]):.2f}x; "
             f"{len(behind)} rows are slower than JAX (below {BEHIND}).", "",
             "![geometric means](performance/groups.svg)", "",
             "| group | rows | geometric mean | slower than JAX | worst | best | compilation |",
             "|---|---|---|---|---|---|---|"]
    for group, mean in means:
        here = sorted((r for r in rows if r["group"] == group), key=lambda r: r["ratio"])
        compiled = geometric([r["jax_compile_ms"] / max(r["ours_compile_ms"], 1e-3) for r in here])
        lines.append(f"| {group} | {len(here)} | {mean:.2f}x | {sum(r['ratio'] < BEHIND for r in here)} "
                     f"| {here[0]['name']} {here[0]['ratio']:.2f}x | {here[-1]['name']} {here[-1]['ratio']:.1f}x "
                     f"| {compiled:.1f}x |")
    lines += ["", "## Slower than JAX", ""]
    lines += [f"- {r['group']}, {r['name']}: {r['ratio']:.2f}x ({r['ours_us']:.0f} us, JAX {r['jax_us']:.0f})"
              f"{remark(r)}" for r in behind] or ["None."]
    lines += ["", "## Compiled slower than JAX", ""]
    lines += [f"- {r['group']}, {r['name']}: {compile_ratio(r):.2f}x ({r['ours_compile_ms']:.1f} ms, "
              f"JAX {r['jax_compile_ms']:.1f})"
              for r in sorted(rows, key=compile_ratio) if compile_ratio(r) < BEHIND] or ["None."]
    lines += ["", "## Every row", ""]
    for group in groups:
        here = sorted((r for r in rows if r["group"] == group), key=lambda r: r["ratio"])
        name = group.replace(" ", "_") + ".svg"
        bars(group, [(r["name"], r["ratio"]) for r in here], os.path.join(folder, name))
        lines += [f"![{group}](performance/{name})", ""]
    lines += ["## Method", "",
              "Each engine is a process that holds the row's jitted function and its arguments on the device; the two take",
              "turns, a turn is as many calls as fit in 20 ms, each waited for, and its result is their median. The ratio of a",
              "row is the median over turns of JAX's result to ours in the same turn, so that a slow spell of the machine meets",
              "both. Sums of |x| and x^2 of every result are compared; a row that disagrees is named by the run and left out.",
              "Rows of `compile time` are the compilation itself, of a program that no cache has; of other rows three",
              "are taken, and their median counts. A row slower than JAX in its calls or its compilation is measured twice more",
              "at the end, and the middle of the three counts.", "",
              "    make bench-wide                   # all rows, some ten minutes, and this page",
              "    make bench-wide QUICK=1           # some seventy rows, under three minutes, no page", ""]
    if data["limits"]:
        lines += ["The machine's limits in the same run (bench/limits.c):", ""] + [f"    {l}" for l in data["limits"]] + [""]
    with open(page, "w", encoding="utf-8") as file:
        file.write("\n".join(lines).rstrip() + "\n")


main()
