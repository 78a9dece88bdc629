"""Sums over 2 processes x 4 devices: ours from C and from JAX, JAX's own with gloo, and MPI_Allreduce after
a sum of each process's own arrays.  The contenders take turns; prints a table of medians and bests, and how
much longer the others take, and puts it into docs/bench.md.

    hosts.py [ROUNDS]"""
import json
import os
import pathlib
import shutil
import socket
import statistics
import subprocess
import sys

HERE = pathlib.Path(__file__).parent
BUILD = HERE.parent / "build"
SIZES = {4: 2000, 4096: 1000, 4 << 20: 40, 64 << 20: 8}
ROUNDS = 3
BEGIN, END = "<!-- bench/hosts.py writes this: -->\n", "<!-- until here -->\n"
PROCESSES, DEVICES = 2, 4
LAUNCHERS = {"openmpi": ["mpirun.openmpi", "--oversubscribe", "-n", "2"],
             "mpich": ["mpiexec.hydra", "-n", "2"]}
ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
COUNTS = [str(word) for pair in SIZES.items() for word in pair]


def launched(mpi, program, *words):
    env = {**os.environ, **ROOT, "TUTTI_DEVICES": str(DEVICES)}
    command = [*LAUNCHERS[mpi], str(BUILD / "bench" / program), *words, *COUNTS]
    return subprocess.run(command, env=env, capture_output=True, text=True, timeout=300).stdout


def jax(platform):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        address = "127.0.0.1:%d" % probe.getsockname()[1]
    env = {**os.environ, "JAX_PLATFORMS": platform, "TUTTI_DEVICES": str(DEVICES),
           "JAX_NUM_CPU_DEVICES": str(DEVICES), "JAX_CPU_COLLECTIVES_IMPLEMENTATION": "gloo",
           "TF_CPP_MIN_LOG_LEVEL": "3"}
    started = [subprocess.Popen([sys.executable, str(HERE / "hosts_jax.py"), address, str(PROCESSES),
                                 str(i), *COUNTS], env=env, stdout=subprocess.PIPE,
                                stderr=subprocess.DEVNULL, text=True) for i in range(PROCESSES)]
    try:
        return [p.communicate(timeout=300)[0] for p in started][0]
    finally:
        for p in started:
            p.kill()


def contenders():
    for mpi, command in LAUNCHERS.items():
        if shutil.which(command[0]) and (BUILD / ("tutti_mpi_%s.so" % mpi)).exists():
            yield "C, " + mpi, lambda mpi=mpi: launched(mpi, "hosts")
            yield "by hand, " + mpi, lambda mpi=mpi: launched(mpi, "hosts_" + mpi, str(DEVICES))
    yield "JAX on ours, mpich", lambda: jax("tutti")
    yield "JAX, gloo", lambda: jax("cpu")


def quotient(times, others, ours):
    """A row: the median of others over that of ours, for each size."""
    cells = []
    for size in SIZES:
        pair = [statistics.median(times.get(name, {}).get(size) or [0]) for name in (others, ours)]
        cells.append("%.2fx" % (pair[0] / pair[1]) if all(pair) else "-")
    return "| %s / %s | %s |" % (others, ours, " | ".join(cells))


def table(times):
    rows = ["| median (best) in us | " + " | ".join("%d B" % size for size in SIZES) + " |",
            "|---|" + "---|" * len(SIZES)]
    for name, found in times.items():
        cells = ["%.1f (%.1f)" % (statistics.median(ns) / 1e3, min(ns) / 1e3) if ns else "-"
                 for ns in (found.get(size) for size in SIZES)]
        rows.append("| %s | %s |" % (name, " | ".join(cells)))
    rows.append(quotient(times, "JAX, gloo", "JAX on ours, mpich"))
    for mpi in LAUNCHERS:
        if "C, " + mpi in times:
            rows.append(quotient(times, "by hand, " + mpi, "C, " + mpi))
    return "\n".join(rows) + "\n"


def put_into_page(text):
    page = HERE.parent / "docs" / "bench.md"
    before, rest = page.read_text().split(BEGIN)
    page.write_text(before + BEGIN + text + END + rest.split(END)[1])


def main():
    times = {}
    for _ in range(int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS):
        for name, play in contenders():
            for line in play().splitlines():
                if not line.startswith("{"):  # gloo speaks too
                    continue
                row = json.loads(line)
                times.setdefault(name, {}).setdefault(row["bytes"], []).extend(row["ns"])
    text = table(times)
    print(text, end="")
    put_into_page(text)


if __name__ == "__main__":
    main()
