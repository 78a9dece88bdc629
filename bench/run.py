"""make bench: lets the contenders take turns in one run, and prints what came of it.

Contenders: ours (C over the PJRT ABI), jax (JAX's own CPU backend), plugin (JAX on Tutti's
engine), null (JAX on a plugin that executes nothing: Python's own share of a call), and for
collectives moves (memcpy of the bytes that must move).  Each is a process that waits for its
turn; a row is many short turns of each, so that a slow spell of the machine meets all of them.  Writes build/bench/results.jsonl and a table to the terminal.

    run.py [ROWS] [--contenders ours,jax,...]

ROWS: names of groups, works or collectives, "small map_psum all_reduce all_gather_64M", say; all
of them if none is named.
"""
import argparse
import json
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
PLUGIN = os.path.join(ROOT, "build", "pjrt_plugin_tutti.so")
NULL = os.path.join(OUT, "null_plugin.so")
OURS = os.path.join(OUT, "ours")
MOVES = os.path.join(OUT, "moves")
DEVICES = 64
KINDS = ["ours", "jax", "plugin", "null", "moves"]
TURNS, COUNT = 12, 40
TURN_NS = 25e6  # a turn of fewer calls if they are long,
ROW_NS = 2e9    # and fewer turns if the calls are very long,
LONG_NS = 1e8   # one call a turn if they are longer still

# Groups of rows: works, and on how many devices.
SMALL = [("jit", [1]), ("call", [1, 4, 8]), ("psum", [1, 4, 8]), ("linear", [1, 4, 8])]
BIG = [(work, [1]) for work in (
    "matmul512 matmul1024 matmul_tall matmul_tn matmul_nt matmul_batch conv conv_dx conv_dw conv_first "
    "matvec map exp tanh gelu "
    "gelu_erf softmax layernorm transpose transpose_0213 sum sum_rows sum_columns argmax "
    "argmax_columns cumsum").split()]
STEP = [("mlp", [1, 4, 8]), ("map_psum", [2, 4, 8, 16, 32, 64])]
KINDS_OF_MEETING = ("all_reduce all_gather reduce_scatter all_to_all permute broadcast "
                    "ragged").split()
NOT_IN_JAX = ("broadcast", "ragged")  # its CPU backend has no such collectives
MEET = [(f"{kind}_{size}", [4, 8]) for size in ("4K", "4M", "64M") for kind in KINDS_OF_MEETING]
LOOP, LOOP_TURNS = "_loop", 10000  # as in works.py: a collective so many times in one launch
LOOPS = [(f"{kind}{LOOP}_4K", [4, 8]) for kind in KINDS_OF_MEETING]
GROUPS = {"small": SMALL, "big": BIG, "step": STEP, "meet": MEET, "loop": LOOPS}
TITLES = {"jit": "jit call", "call": "pmap call", "psum": "psum of a float",
          "linear": "linear step", "mlp": "MLP step", "map_psum": "map 64 MB, psum"}


def environment(kind):
    env = dict(os.environ, XLA_FLAGS=f"--xla_force_host_platform_device_count={DEVICES}",
               PYTHONPATH=HERE, TF_CPP_MIN_LOG_LEVEL="3")
    env.pop("PJRT_NAMES_AND_LIBRARY_PATHS", None)
    if kind == "jax":
        env["JAX_PLATFORMS"] = "cpu"
    elif kind == "plugin":
        env["JAX_PLATFORMS"] = "tutti"
    elif kind == "null":
        env["JAX_PLATFORMS"] = "null"
        env["PJRT_NAMES_AND_LIBRARY_PATHS"] = "null:" + NULL
        env["TUTTI_DEVICES"] = str(DEVICES)
    return env


class Contender:
    def __init__(self, kind):
        self.kind = kind
        commands = {"ours": [OURS, PLUGIN, str(DEVICES)], "moves": [MOVES]}
        command = commands.get(kind, [PYTHON, HERE + "/contender.py"])
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True, env=environment(kind))

    def ask(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            sys.exit(f"{self.kind} died at: {line}")
        return json.loads(answer)


def program(jax, work, n, seed=0):
    """The StableHLO of that work, as JAX lowers it: what ours.c plays."""
    path = f"{OUT}/{work}_{n}_{seed}.mlir"
    jax.ask(f"lower {work} {n} {path} {seed}")
    return path


def spread(times):
    ordered = sorted(times)
    return {"median": statistics.median(ordered), "p10": ordered[len(ordered) // 10],
            "p90": ordered[len(ordered) * 9 // 10], "n": len(ordered)}


def meeting(work):
    """The collective that this is about, or None: all_reduce for all_reduce_4M."""
    kind = work.rsplit("_", 1)[0].removesuffix(LOOP)
    return kind if kind in KINDS_OF_MEETING else None


def who_plays(contenders, work):
    """The contenders that know that work."""
    if not meeting(work):
        return [kind for kind in contenders if kind != "moves"]
    cannot = ("null", "jax") if meeting(work) in NOT_IN_JAX else ("null",)
    return [kind for kind in contenders if kind not in cannot]


def call_row(contenders, work, n):
    kinds = who_plays(contenders, work)
    lowers = "jax" if "jax" in kinds else "plugin"
    if lowers not in contenders:
        sys.exit(f"{work}: it takes {lowers} to write the program; name it in --contenders")
    path = program(contenders[lowers], work, n)
    times, cpu = {kind: [] for kind in kinds}, {kind: [] for kind in kinds}
    say = lambda word, kind, rest="": contenders[kind].ask(
        f"{word} {path if kind == 'ours' else work} {n} {rest}")
    first = max(min(say("call", kind, 2)["ns"]) for kind in kinds)  # warm-up
    count = max(1 if first > LONG_NS else 4, min(COUNT, int(TURN_NS / first)))
    for _ in range(max(3, min(TURNS, int(ROW_NS / (count * first))))):
        for kind in kinds:
            answer = say("call", kind, count)
            times[kind] += answer["ns"]
            cpu[kind].append(answer["cpu_ns"] / count)
    if "moves" in kinds:  # hundreds of megabytes each
        for kind in kinds:
            say("forget", kind)
    each = LOOP_TURNS if LOOP in work else 1  # a row of a loop says what one turn takes
    return {kind: {**spread([t / each for t in times[kind]]),
                   "cpu": statistics.median(cpu[kind]) / each} for kind in kinds}


def compile_row(contenders, work, n, turns=7):
    times = {kind: [] for kind in contenders if kind not in ("null", "moves")}
    for seed in range(1, turns + 1):
        path = program(contenders["jax"], work, n, seed)
        for kind in times:
            what = f"compile {path} {n}" if kind == "ours" else f"compile {work} {n} {seed}"
            times[kind] += contenders[kind].ask(what)["ns"]
    return {kind: spread(t) for kind, t in times.items()}


ONCE = ("import sys; sys.path.insert(0, sys.argv[1]); import works, numpy; "
        "f, a = works.mapped('lesson', 4); print(numpy.asarray(f(*a)))")


def start_row(contenders, turns=5):
    """From the start of a process to the lesson's printed result."""
    path = program(contenders["jax"], "lesson", 4)
    commands = {"ours": [OURS, PLUGIN, "4", "once", path]}
    for kind in {"jax", "plugin"} & set(contenders):
        commands[kind] = [PYTHON, "-c", ONCE, HERE]
    times = {kind: [] for kind in commands}
    for _ in range(turns):
        for kind, command in commands.items():
            start = time.perf_counter_ns()
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                           env=environment(kind))
            times[kind].append(time.perf_counter_ns() - start)
    return {kind: spread(t) for kind, t in times.items()}


def machine():
    with open("/proc/cpuinfo") as file:
        info = file.read()
    name = next((l.split(":")[1].strip() for l in info.splitlines() if "model name" in l), "?")
    flags = [f for f in ("amx_tile", "avx512f", "avx2") if f in info]
    jax = subprocess.run([PYTHON, "-c", "import jax; print(jax.__version__)"], capture_output=True,
                         text=True).stdout.strip()
    commit = subprocess.run(["git", "-C", ROOT, "rev-parse", "--short", "HEAD"],
                            capture_output=True, text=True).stdout.strip()
    return {"cpu": name, "isa": flags, "cores": len(os.sched_getaffinity(0)), "jax": jax,
            "python": platform.python_version(), "commit": commit}


def limits():
    text = subprocess.run([OUT + "/limits"], capture_output=True, text=True, check=True).stdout
    return {row["limit"]: row for row in map(json.loads, text.splitlines())}


def share(work, n, row, limit):
    """How much of the machine's limit `ours` reaches, where a limit is known."""
    if "moves" in row:
        return f"{row['ours']['median'] / row['moves']['median']:.2f}x of memcpy"
    seconds = row["ours"]["median"] / 1e9
    if work == "linear":  # the batch is read twice, forward and backward, by `workers` cores
        moved = 2 * 4 * 1024 * 128
        rate = limit["memcpy 256 KB"]["value"] * 1e9
        return f"{moved / rate / seconds:.0%} of reading x twice at memcpy's rate, one core"
    if work == "psum" and n > 1:
        return f"{limit['barrier of 2']['value'] / row['ours']['median']:.0%} of a barrier"
    return ""


HEAD = (f"{'':28}{'ours, us':>10}{'jax':>10}{'plugin':>10}{'null':>10}{'jax/ours':>9}{'p10':>9}"
        f"{'CPU':>9}{'jax/plug':>9}{'plug/null':>10}  share of the limit")


def show(name, work, n, row, limit):
    digits = lambda value: f"{value:10.2f}" if value < 10 else f"{value:10.1f}"
    us = lambda row, kind: digits(row[kind]["median"] / 1e3) if kind in row else " " * 10
    ratio = lambda row, a, b: f"{row[a]['median'] / row[b]['median']:8.1f}x" if a in row and b in row else " " * 9
    of = lambda row, what: (f"{row['jax'][what] / row['ours'][what]:8.1f}x"
                            if what in row.get("jax", {}) else " " * 9)
    print(f"{name:28}{us(row, 'ours')}{us(row, 'jax')}{us(row, 'plugin')}{us(row, 'null')}"
          f"{ratio(row, 'jax', 'ours')}{of(row, 'p10')}{of(row, 'cpu')}{ratio(row, 'jax', 'plugin')} "
          f"{ratio(row, 'plugin', 'null')}  {share(work, n, row, limit)}", flush=True)


def rows_asked(names):
    every = [row for group in GROUPS.values() for row in group]
    rows = []
    for name in names or GROUPS:
        rows += GROUPS.get(name) or [r for r in every if name in (r[0], meeting(r[0]))]
    return rows


def write(limit, rows, memory, about):
    with open(OUT + "/results.jsonl", "w") as file:
        for row in limit.values():
            print(json.dumps({**row, "machine": about}), file=file)
        for name, work, n, row in rows:
            for kind, times in row.items():
                print(json.dumps({"row": name, "contender": kind, "devices": n, "unit": "ns",
                                  **times, "machine": about}), file=file)
        for kind, value in memory.items():
            print(json.dumps({"row": "peak memory", "contender": kind, "unit": "bytes",
                              "value": value, "machine": about}), file=file)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("rows", nargs="*")
    parser.add_argument("--contenders", default=",".join(KINDS))
    asked = parser.parse_args()
    about, limit = machine(), limits()
    print(", ".join(f"{k}: {v}" for k, v in about.items()))
    print("limits: " + ", ".join(f"{r['limit']} {r['value']} {r['unit']}" for r in limit.values()))
    print(HEAD)
    contenders = {kind: Contender(kind) for kind in asked.contenders.split(",")}
    rows = []
    def add(*row):
        rows.append(row)
        show(*row, limit)
    for work, counts in rows_asked(asked.rows):
        for n in counts:
            title = TITLES.get(work, work) + (f", {n} devices" if n > 1 or len(counts) > 1 else "")
            add(title, work, n, call_row(contenders, work, n))
    if not asked.rows or "small" in asked.rows:
        add("compile, 4 devices", "linear", 4, compile_row(contenders, "linear", 4))
        add("start to result, 4", "lesson", 4, start_row(contenders))
    if not asked.rows or "deep" in asked.rows:
        for layers in (6, 48):
            add(f"compile, {layers} layers", f"deep_{layers}", 1,
                compile_row(contenders, f"deep_{layers}", 1, turns=5))
    memory = {kind: c.ask("memory")["bytes"] for kind, c in contenders.items() if kind != "moves"}
    write(limit, rows, memory, about)
    print("peak memory, MB: " + ", ".join(f"{k} {v / 1e6:.0f}" for k, v in memory.items()))


if __name__ == "__main__":
    main()
