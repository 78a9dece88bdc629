#!/usr/bin/env python3
"""What a sum over the devices of many hosts costs, by each way the engine has or might have: a model with
measured constants.  Draws docs/design/hosts_cost.svg and prints which way is the quickest from where on.

    tools/hosts_cost.py [--check]        --check: is the drawing the one of this model?

L devices on each of P hosts, B bytes on each device.  A message costs its sender and its receiver OWN each,
is LATENCY on its way, and its bytes go at the wire's rate, both ways at once.
"""
import math
import pathlib
import sys

DEVICES = 4
OWN = 0.8e-6       # s: posting and polling a message of 4 KB, MPICH 4 in shared memory
LATENCY = 7e-6     # s: all_reduce of 8 bytes, MPICH 4 over TCP between two network namespaces
FOLD = 22e9        # bytes/s: operands summed, 8 devices of 64 MB in one process, two cores
PIECE = 48 << 10   # bytes: of a chain (engine/exec/cross_chain.c)
RATES = {"1 Gbit/s": 1e9 / 8, "10 Gbit/s": 1e10 / 8, "100 Gbit/s": 1e11 / 8}
HOSTS = (2, 8, 64, 1024)


def gather(p, b, rate):
    """Everything to everybody; each folds all."""
    return (p - 1) * OWN * 2 + LATENCY + (p - 1) * DEVICES * b / rate + p * DEVICES * b / FOLD


def chain(p, b, rate):
    """From host to host and back, in pieces that follow one another; hosts between two others send both ways."""
    piece, ways = min(b, PIECE), 1 if p == 2 else 2
    hop = 2 * OWN + LATENCY + piece / rate + DEVICES * piece / FOLD
    each = max(2 * 2 * OWN + DEVICES * piece / FOLD, ways * piece / rate)
    return 2 * (p - 1) * hop + (b / piece - 1) * each


def owner(p, b, rate):
    """Slices to their owners, sums to all."""
    return (2 * ((p - 1) * OWN * 2 + LATENCY) + (DEVICES + 1) * b * (p - 1) / p / rate
            + p * DEVICES * (b / p) / FOLD)


def ring(p, b, rate):
    """Each host folds its own devices, then slices go round: not the order of one process."""
    step = 2 * OWN + LATENCY + b / p / rate + b / p / FOLD
    return DEVICES * b / FOLD + 2 * (p - 1) * step


WAYS = {"gather": (gather, "#1f77b4"), "chain": (chain, "#d62728"), "owner": (owner, "#2ca02c"),
        "ring (other bits)": (ring, "#999999")}
OURS = ("gather", "chain", "owner")
SIZES = [4 * 2 ** (i / 4) for i in range(113)]  # 4 bytes to 1 GB


def best(p, b, rate):
    return min(OURS, key=lambda way: WAYS[way][0](p, b, rate))


def human(b):
    for unit in ("B", "KB", "MB", "GB"):
        if b < 1024 or unit == "GB":
            return f"{b:.3g} {unit}"
        b /= 1024


def spans(p, rate):
    """"gather to 12 KB, then chain" """
    words, now = [], best(p, SIZES[0], rate)
    for b in SIZES:
        if best(p, b, rate) != now:
            words.append(f"{now} to {human(b)}")
            now = best(p, b, rate)
    return ", ".join(words + [("then " if words else "") + now])


def table():
    lines = ["| hosts | " + " | ".join(RATES) + " |", "|---|" + "---|" * len(RATES)]
    for p in HOSTS:
        lines.append(f"| {p} | " + " | ".join(spans(p, rate) for rate in RATES.values()) + " |")
    return "\n".join(lines)


def panel(p, rate, left, top):
    """Time over bytes, both in powers of ten."""
    width, height = 300, 190
    def x(b):
        return left + width * math.log(b / 4) / math.log(SIZES[-1] / 4)
    def y(s):
        return top + height * (1 - (math.log10(s) + 6) / 8)
    out = [f'<rect x="{left}" y="{top}" width="{width}" height="{height}" fill="none" stroke="#888"/>',
           f'<text x="{left + 6}" y="{top + 16}">{p} hosts</text>']
    for e in range(-6, 3, 2):
        label = {-6: "1 us", -4: "100 us", -2: "10 ms", 0: "1 s", 2: "100 s"}[e]
        out.append(f'<text x="{left - 4}" y="{y(10 ** e) + 4:.0f}" text-anchor="end">{label}</text>')
    for b in (4, 1 << 10, 1 << 20, 1 << 30):
        out.append(f'<text x="{x(b):.0f}" y="{top + height + 14}" text-anchor="middle">{human(b)}</text>')
    for f, colour in WAYS.values():
        points = " ".join(f"{x(b):.1f},{y(f(p, b, rate)):.1f}" for b in SIZES
                          if 1e-6 <= f(p, b, rate) <= 100)
        out.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="1.6"/>')
    return out


def drawing():
    out = ['<svg xmlns="http://www.w3.org/2000/svg" width="760" height="520" font-family="sans-serif" '
           'font-size="11">', '<rect width="760" height="520" fill="white"/>',
           f'<text x="60" y="18" font-size="13">A sum of B bytes on each of {DEVICES} devices of each host, '
           'at 10 Gbit/s: time over B, modelled</text>']
    for i, (name, (_, colour)) in enumerate(WAYS.items()):
        out.append(f'<text x="{60 + 110 * i}" y="36" fill="{colour}">{name}</text>')
    for i, p in enumerate(HOSTS):
        out += panel(p, RATES["10 Gbit/s"], 60 + 370 * (i % 2), 50 + 235 * (i // 2))
    return "\n".join(out + ["</svg>\n"])


def main():
    path = pathlib.Path(__file__).resolve().parent.parent / "docs/design/hosts_cost.svg"
    if "--check" in sys.argv:
        sys.exit(0 if path.read_text() == drawing() else "docs/design/hosts_cost.svg is of another model")
    path.write_text(drawing())
    print(table())


main()
