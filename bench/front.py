"""make bench, second part: C programs over libtutti beside Python with JAX, taking turns in one run.

Rows: a whole process from its start to the lesson's printed result, and its peak memory; compiled
calls; tracing and lowering of the training step, without compiling.  Prints a table and writes
build/bench/front.jsonl.

    front.py [TURNS]
"""
import json
import os
import statistics
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
OUT = os.path.join(ROOT, "build", "bench")
PYTHON = os.environ.get("PYTHON") or os.path.join(ROOT, "build", "venv", "bin", "python")
N = 4
LESSON = ("import jax, jax.numpy as jnp; "
          f"print(jax.pmap(lambda x: x**2 + jnp.sin(x))(jnp.arange({2 * N}).reshape({N}, 2)))")
ENVIRONMENT = dict(os.environ, TUTTI_DEVICES=str(N), JAX_PLATFORMS="cpu", PYTHONPATH=HERE,
                   XLA_FLAGS=f"--xla_force_host_platform_device_count={N}", TF_CPP_MIN_LOG_LEVEL="3")
ONCE = {"C": [ROOT + "/build/examples/02_pmap"], "JAX": [PYTHON, "-c", LESSON]}
STAYS = {"C": [OUT + "/front"], "JAX": [PYTHON, HERE + "/contender.py"]}


def run_once(command):
    """A whole process: nanoseconds, bytes at its peak, what it printed."""
    start = time.perf_counter_ns()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                               env=ENVIRONMENT)
    text = process.stdout.read()
    _, status, use = os.wait4(process.pid, 0)
    process.returncode = status
    if status:
        sys.exit(f"{command[0]}: exit status {status}")
    return time.perf_counter_ns() - start, use.ru_maxrss * 1024, text


def start_rows(turns):
    times, peaks, texts = {k: [] for k in ONCE}, {k: [] for k in ONCE}, {}
    for _ in range(turns):
        for kind, command in ONCE.items():
            took, peak, texts[kind] = run_once(command)
            times[kind].append(took)
            peaks[kind].append(peak)
    if texts["C"] != texts["JAX"]:
        sys.exit(f"they print different things:\n{texts}")
    return [("start to printed result", "ms", 1e6, times), ("its peak memory", "MB", 1e6, peaks)]


class Contender:
    def __init__(self, kind):
        self.process = subprocess.Popen(STAYS[kind], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True, env=ENVIRONMENT)

    def ask(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())


def turns_row(contenders, title, line, turns):
    times = {kind: [] for kind in contenders}
    for turn in range(turns + 1):
        for kind, contender in contenders.items():
            answer = contender.ask(line)["ns"]
            if turn:  # the first is warm-up
                times[kind] += answer
    return title, "us", 1e3, times


def main():
    turns = int(sys.argv[1]) if len(sys.argv) > 1 else 9
    rows = start_rows(turns)
    contenders = {kind: Contender(kind) for kind in STAYS}
    for work, title in (("lesson", "pmap call, the lesson"), ("call", "pmap call, x + 1"),
                        ("psum", "psum of a float"), ("linear", "training step")):
        rows.append(turns_row(contenders, f"{title}, {N} devices", f"call {work} {N} 100", turns))
    rows.append(turns_row(contenders, "jit call with 500 arrays", "call leaves 1 100", turns))
    rows.append(turns_row(contenders, "tracing and lowering it", f"trace linear {N} 5", turns))
    peaks = {kind: [c.ask("memory")["bytes"]] for kind, c in contenders.items()}
    rows.append(("peak memory after all that", "MB", 1e6, peaks))
    print(f"{'':36}{'C':>12}{'JAX':>12}{'JAX / C':>10}{'p10':>9}")
    with open(OUT + "/front.jsonl", "w") as file:
        for title, unit, scale, times in rows:
            middle = {kind: statistics.median(t) for kind, t in times.items()}
            low = {kind: sorted(t)[len(t) // 10] for kind, t in times.items()}
            print(f"{title:32}{unit:>4}{middle['C'] / scale:12.1f}{middle['JAX'] / scale:12.1f}"
                  f"{middle['JAX'] / middle['C']:9.1f}x{low['JAX'] / low['C']:8.1f}x")
            print(json.dumps({"row": title, "unit": unit, **{k: v / scale for k, v in middle.items()}}),
                  file=file)


main()
