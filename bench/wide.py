"""make bench-wide: a table of everyday work, the same Python on Tutti's engine and on JAX's own.

    wide.py [--quick] [--rows TEXT[|TEXT ...]] [--json FILE]

Two processes, one for each engine, hold the same row (wide_rows.py) and take turns; a turn is some
calls, each waited for.  The ratio of a row is the median over turns of JAX's median call to ours in
the same turn, so a slow spell of the machine meets both.  A row that is slower than JAX, in its calls or its
compilation, is played twice more at the end, and the middle of the three counts: with two cores, whatever
else the machine does in one row's second shows.  Results are compared; a row whose results differ is named
and does not count.  Prints the rows from the slowest ratio on, geometric means of
the groups, and writes build/bench/wide.json, of which bench/performance.py makes
docs/performance.md.
"""
import argparse
import datetime
import json
import math
import os
import platform
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
OUT = os.path.join(ROOT, "build", "bench")
PYTHON = os.environ.get("PYTHON") or os.path.join(ROOT, "build", "venv", "bin", "python")
ENGINES = {"ours": "tutti", "jax": "cpu"}
COMPILE = "compile time"
BEHIND = 0.95  # below it a row counts as slower than JAX: above is the noise of two cores
# A turn lasts about so long, and a row about so many of them: (seconds, turns, at most so long).
FULL, QUICK = (0.02, 9, 4.0), (0.008, 5, 1.0)


# ---- an engine's process ----

def digest(value):
    """What is compared: sums of |x| and x^2 of every leaf, in float64, and how near they must be.
    XLA adds up numbers of 16 bits in 16 bits: a running sum of a million is 1 % off there."""
    import jax
    import numpy as np
    out = []
    for leaf in jax.tree.leaves(value):
        x = np.asarray(leaf)
        near = 2e-3 if x.dtype.itemsize > 2 else 2e-2
        x = np.abs(x.astype(np.complex128 if x.dtype.kind == "c" else np.float64))
        out.append([float(x.sum()), float((x * x).sum()), int(np.isnan(x).sum()), near])
    return out


def serve():
    import jax
    import jax.numpy as jnp
    from wide_rows import ROWS
    makers = {name: make for _, name, make in ROWS}
    held = {}

    def begin(name):
        held.clear()
        held["x64"] = "64" in name and ("f64" in name or "float64" in name)
        with jax.enable_x64(held["x64"]):
            function, arguments = makers[name]()
            arguments = jax.block_until_ready(jax.device_put(arguments))
            lowered = jax.jit(function).lower(*arguments)
            started = time.perf_counter()
            compiled = lowered.compile()
            ended = time.perf_counter()
            # The jitted function, called as users call it.
            call = jax.jit(function)
            result = jax.block_until_ready(call(*arguments))
        held.update(function=function, call=call, arguments=arguments, compiled=compiled)
        return {"compile_ms": (ended - started) * 1e3, "digest": digest(result)}

    def turn(count):
        times = []
        with jax.enable_x64(held["x64"]):
            for _ in range(count):
                started = time.perf_counter()
                jax.block_until_ready(held["call"](*held["arguments"]))
                times.append(time.perf_counter() - started)
        return statistics.median(times)

    def compilations(count):
        """Each of another program, told apart by one more constant, so that no cache has it."""
        times = []
        for _ in range(count):
            held["number"] = held.get("number", 0) + 1
            number = held["number"]
            with jax.enable_x64(held["x64"]):
                lowered = jax.jit(lambda *a: (held["function"](*a), jnp.float32(number))).lower(*held["arguments"])
                started = time.perf_counter()
                lowered.compile()
                times.append(time.perf_counter() - started)
        return statistics.median(times)

    orders = {"begin": begin, "turn": turn, "compile": compilations}
    for line in sys.stdin:
        order, what = json.loads(line)
        try:
            print(json.dumps({"ok": orders[order](what)}), flush=True)
        except Exception as error:  # the row fails, the table goes on
            print(json.dumps({"error": f"{type(error).__name__}: {error}"[:300]}), flush=True)


class Engine:
    def __init__(self, kind):
        env = dict(os.environ, JAX_PLATFORMS=ENGINES[kind], PYTHONPATH=HERE, TF_CPP_MIN_LOG_LEVEL="3")
        self.process = subprocess.Popen([PYTHON, os.path.abspath(__file__), "--serve"], env=env, text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def ask(self, *order):
        self.process.stdin.write(json.dumps(order) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"an engine's process has ended at {order}")
        answer = json.loads(line)
        if "error" in answer:
            raise RuntimeError(answer["error"])
        return answer["ok"]


# ---- one row ----

def agree(ours, theirs):
    def close(x, y, near):
        return (math.isnan(x) and math.isnan(y)) or x == y or abs(x - y) <= near * (abs(x) + abs(y)) + 1e-6
    return len(ours) == len(theirs) and all(
        close(a[0], b[0], a[3]) and close(a[1], b[1], a[3]) and a[2] == b[2] for a, b in zip(ours, theirs))


def compile_times(engines, begun):
    """Milliseconds of a compilation: the median of three, taking turns; long ones are compiled once."""
    times = {kind: [begun[kind]["compile_ms"]] for kind in engines}
    if sum(b["compile_ms"] for b in begun.values()) < 100:
        for _ in range(2):
            for kind, engine in engines.items():
                times[kind].append(engine.ask("compile", 1) * 1e3)
    return {kind: statistics.median(t) for kind, t in times.items()}


def measure(engines, group, name, effort):
    seconds, turns, most = effort
    begun = {kind: engine.ask("begin", name) for kind, engine in engines.items()}
    compiled = compile_times(engines, begun)
    kind_of_turn = "compile" if group == COMPILE else "turn"
    first = {kind: engine.ask(kind_of_turn, 1) for kind, engine in engines.items()}
    longest = max(first.values())
    turns = max(3, min(turns, int(most / (2 * max(seconds, longest)))))
    counts = {kind: max(1, min(200, int(seconds / max(t, 1e-7)))) for kind, t in first.items()}
    times = {kind: [] for kind in engines}
    for _ in range(turns):
        for kind, engine in engines.items():
            times[kind].append(engine.ask(kind_of_turn, counts[kind]))
    ratio = statistics.median(j / o for o, j in zip(times["ours"], times["jax"]))
    return {"group": group, "name": name.removeprefix("* "), "ratio": ratio,
            "ours_us": statistics.median(times["ours"]) * 1e6,
            "jax_us": statistics.median(times["jax"]) * 1e6,
            "ours_compile_ms": compiled["ours"], "jax_compile_ms": compiled["jax"],
            "agrees": agree(begun["ours"]["digest"], begun["jax"]["digest"])}


def compile_ratio(result):
    return result["jax_compile_ms"] / max(result["ours_compile_ms"], 1e-3)


def is_behind(result):
    return result["ratio"] < BEHIND or compile_ratio(result) < BEHIND


def middle(three):
    """Of three measurements of a row, the calls of the middle one and the compilation of the middle one."""
    by_calls = sorted(three, key=lambda r: r["ratio"])[1]
    by_compilation = sorted(three, key=compile_ratio)[1]
    return by_calls | {field: by_compilation[field] for field in ("ours_compile_ms", "jax_compile_ms")}


def geometric(numbers):
    numbers = [n for n in numbers if n > 0]
    return math.exp(sum(map(math.log, numbers)) / len(numbers)) if numbers else float("nan")


def limits():
    """The machine's own, by bench/limits.c: a line each."""
    program = os.path.join(OUT, "limits")
    if not os.path.exists(program):  # wide.py by itself
        return []
    return subprocess.run([program], capture_output=True, text=True).stdout.strip().splitlines()


def processor():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        names = [line.split(":")[1].strip() for line in file if line.startswith("model name")]
    return f"{names[0] if names else platform.processor()}, {os.cpu_count()} cores"


def report(results, failed):
    print("\n  ratio   ours us    JAX us  row")
    for r in sorted(results, key=lambda r: r["ratio"]):
        print(f"{r['ratio']:7.2f} {r['ours_us']:9.1f} {r['jax_us']:9.1f}  {r['group']}: {r['name']}"
              + ("" if r["agrees"] else "   RESULTS DIFFER"))
    print("\n  compiled slower than JAX\n  ratio   ours ms    JAX ms  row")
    for r in sorted(results, key=compile_ratio):
        if compile_ratio(r) < BEHIND:
            print(f"{compile_ratio(r):7.2f} {r['ours_compile_ms']:9.1f} "
                  f"{r['jax_compile_ms']:9.1f}  {r['group']}: {r['name']}")
    print("\n  geometric means: calls, compilation, rows slower than JAX")
    for group in list(dict.fromkeys(r["group"] for r in results)) + ["all"]:
        rows = [r for r in results if group in (r["group"], "all")]
        print(f"{geometric([r['ratio'] for r in rows]):7.2f} "
              f"{geometric([compile_ratio(r) for r in rows]):7.2f} "
              f"{sum(r['ratio'] < BEHIND for r in rows):4d} of {len(rows):4d}  {group}")
    for name, why in failed:
        print(f"failed: {name}: {why}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--quick", action="store_true", help="the rows marked *, fewer turns")
    parser.add_argument("--rows", default="", help="only rows whose group or name has one of these in it, with | between")
    parser.add_argument("--json", default=os.path.join(OUT, "wide.json"))
    arguments = parser.parse_args()
    if arguments.serve:
        return serve()
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    sys.path.insert(0, HERE)
    from wide_rows import ROWS
    rows = [(group, name) for group, name, _ in ROWS
            if (not arguments.quick or name.startswith("* "))
            and any(text in f"{group}: {name}" for text in arguments.rows.split("|"))]
    effort = QUICK if arguments.quick else FULL
    engines = {kind: Engine(kind) for kind in ENGINES}
    results, failed, started = {}, [], time.time()

    def play(count, group, name):
        result = measure(engines, group, name, effort)
        print(f"{count} {time.time() - started:5.0f} s  {result['ratio']:7.2f}x  {group}: {result['name']}"
              + ("" if result["agrees"] else "   RESULTS DIFFER"), file=sys.stderr, flush=True)
        return result

    for i, (group, name) in enumerate(rows):
        try:
            results[group, name] = play(f"{i + 1}/{len(rows)}", group, name)
        except RuntimeError as error:
            failed.append((name, str(error)))
            print(f"{name}: {error}", file=sys.stderr, flush=True)
    for (group, name), first in results.items():
        if is_behind(first):
            results[group, name] = middle([first, play("again", group, name), play("again", group, name)])
    results = list(results.values())
    report(results, failed)
    os.makedirs(os.path.dirname(arguments.json), exist_ok=True)
    with open(arguments.json, "w", encoding="utf-8") as file:
        json.dump({"date": datetime.date.today().isoformat(), "machine": processor(),
                   "python": platform.python_version(), "seconds": round(time.time() - started),
                   "limits": limits(), "rows": results, "failed": failed}, file, indent=1)
    return 1 if failed or not all(r["agrees"] for r in results) else 0


if __name__ == "__main__":
    sys.exit(main())
