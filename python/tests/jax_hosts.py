"""JAX's own multi-process tests on our engine and on JAX's CPU backend: what `make jax-hosts` runs.

    jax_hosts.py --jax SOURCES [--table docs/howto/hosts.md] [FILE ...]

Each FILE of tests/multiprocess is played by four processes of two devices, without a launcher, on JAX's CPU
backend (its collectives by gloo) and on ours (messages by MPICH, started over JAX's own coordinator).  A
test has failed if it failed in one of the processes, or a process did not come to it.

JAX's tests know platforms by name.  What is for a "cpu" alone is played a second time, when they are told that
ours is one (jax_test_dut); what is not for a "cpu" is played on ours and not on JAX's.  What is still skipped is for
processes of one device, and played so.
"""
import argparse
import datetime
import os
import pathlib
import re
import socket
import subprocess
import sys

PROCESSES, DEVICES, SECONDS = 4, 2, 300
NOT_OURS = {"pgle_test", "socket_transfer_test", "tpu_device_test"}  # for GPUs, TPUs, JAX's own transport
DIFFER = {  # and why
    "CrossHostTransferTest.test_cross_host_transfer_cpu_error":
        "it wants transfers between processes to be refused, as JAX's CPU backend does",
}
WORDS = {"OK": "passed", "FAILED": "failed", "SKIPPED": "skipped"}
SECTION = "## JAX's own multi-process tests\n"


def environment(platform, devices):
    env = {k: v for k, v in os.environ.items() if not k.startswith(("JAX_", "XLA_", "TUTTI_"))}
    if platform == "cpu":
        return {**env, "JAX_PLATFORMS": "cpu",
                "XLA_FLAGS": f"--xla_force_host_platform_device_count={devices}"}
    return {**env, "JAX_PLATFORMS": "tutti,cpu", "TUTTI_DEVICES": str(devices)}


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def outcomes_of(log):
    """By test; one that began and did not end has failed."""
    outcomes = {}
    for word, test in re.findall(r"^\[ +(RUN|OK|FAILED|SKIPPED) +\] (\S+)", log, re.M):
        outcomes[test] = WORDS.get(word, "failed")
    return outcomes


def play(options, file, platform, *more, devices=DEVICES):
    """Outcomes of all processes as one."""
    address = f"localhost:{free_port()}"
    path = pathlib.Path(options.jax, "tests", "multiprocess", file + ".py")
    logs, started = [], []
    for i in range(PROCESSES):
        logs.append(options.log / f"{file}.{platform}{'.again' if more else ''}.{devices}.{i}.log")
        started.append(subprocess.Popen(
            [sys.executable, str(path), f"--num_processes={PROCESSES}", f"--multiprocess_test_worker_id={i}",
             f"--multiprocess_test_controller_address={address}", "--heartbeat_timeout=20",
             "--shutdown_timeout=20", "--barrier_timeout=60", "--initialization_timeout=60", *more],
            env=environment(platform, devices), stdout=logs[-1].open("w"), stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL))
    for process in started:
        try:
            process.wait(SECONDS)
        except subprocess.TimeoutExpired:
            for one in started:  # JAX takes SIGTERM for a notice
                one.kill()
    each = [outcomes_of(log.read_text(errors="replace")) for log in logs]
    joined = {}
    for test in sorted(set().union(*each)):
        seen = {outcomes.get(test, "failed") for outcomes in each}
        joined[test] = next(o for o in ("failed", "passed", "skipped") if o in seen)
    return joined


def play_ours(options, file):
    ours = play(options, file, "tutti")
    for more, devices in (["--jax_test_dut=cpu"], DEVICES), ([], 1):
        skipped = [test for test in ours if ours[test] == "skipped" and test not in DIFFER]
        again = play(options, file, "tutti", *more, devices=devices) if skipped else {}
        for test in skipped:
            ours[test] = again.get(test, "failed")
    return ours


def count(outcomes):
    return [str(list(outcomes.values()).count(o)) for o in ("passed", "failed", "skipped")]


def section_of(old, played, version):
    """Rows of files played now replace theirs; the others stay."""
    rows = {row[0]: row for row in re.findall(r"^\| (\w+_test) " + r"\| (\d+) " * 6 + r"\|$", old, re.M)}
    rows |= {file: (file, *count(ours), *count(theirs)) for file, (theirs, ours) in played.items()}
    total = ["all", *(str(sum(int(row[i]) for row in rows.values())) for i in range(1, 7))]
    return "\n".join([
        SECTION,
        f"JAX {version}, {PROCESSES} processes of {DEVICES} devices without a launcher; written by `make jax-hosts "
        f"JAX=path` on {datetime.date.today().isoformat()}. Beside ours",
        "JAX's CPU backend, with gloo, on the same machine: it skips what sends arrays from a device of one process to one "
        "of another,", "and a test for processes of one device, which ours played with those.", "",
        "| file | passed | failed | skipped | JAX's CPU: passed | failed | skipped |",
        "|---|---|---|---|---|---|---|",
        *(f"| {' | '.join(row)} |" for row in [*(rows[file] for file in sorted(rows)), total]), "",
        "Not passed, or not played:", "", *(f"- `{test}`: {why}." for test, why in DIFFER.items()), ""])


def write_section(table, played, version):
    """In its old place, or at the end."""
    text = table.read_text()
    before, found, after = text.partition(SECTION)
    rest = re.search(r"^## ", after, re.M) if found else None
    old, tail = (after[:rest.start()], "\n" + after[rest.start():]) if rest else (after, "")
    table.write_text((before if found else text.rstrip("\n") + "\n\n")
                     + section_of(old, played, version) + tail)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jax", required=True, help="JAX's sources, which hold tests/multiprocess")
    parser.add_argument("--log", type=pathlib.Path, default=pathlib.Path("build/jax-hosts"))
    parser.add_argument("--table", type=pathlib.Path, help="where to write the table")
    parser.add_argument("files", nargs="*")
    options = parser.parse_args()
    options.log.mkdir(parents=True, exist_ok=True)
    folder = pathlib.Path(options.jax, "tests", "multiprocess")
    files = options.files or sorted({f.stem for f in folder.glob("*_test.py")} - NOT_OURS)
    played, wrong = {}, []
    for file in files:
        theirs, ours = play(options, file, "cpu"), play_ours(options, file)
        played[file] = theirs, ours
        print(file, *count(ours), "JAX's CPU:", *count(theirs), flush=True)
        wrong += [f"{file}: {test} failed" for test in ours
                  if ours[test] == "failed" and test not in DIFFER and theirs.get(test) != "failed"]
        wrong += [f"{file}: {test} was skipped, and JAX's CPU passes it" for test in ours
                  if ours[test] == "skipped" and theirs.get(test) == "passed" and test not in DIFFER]
        if not ours:
            wrong.append(f"{file}: nothing was played; {options.log} has what was said")
    import jax

    if options.table:
        write_section(options.table, played, jax.__version__)
    print("\n".join(wrong) or "all as on JAX's CPU backend, or better")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
