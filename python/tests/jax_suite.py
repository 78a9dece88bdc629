"""JAX's own test files on our engine: what `make jax-suite` runs.

    jax_suite.py --jax SOURCES [--table docs/jax_suites.md] [--seconds 240] [--resume] [FILE ...]

Each FILE (lax_test, lax_numpy_test, ...; without any: all that JAX has, the smallest first) is played
by a child process, which writes a line as a test begins and another as it ends.  When a child dies or
a test takes too long, that test has failed, and another child goes on behind it.  What has failed is
then compared with jax_failures.txt, both ways: a failure that is not listed there and a listed test
that does not fail are both errors, unless it fails on JAX's own CPU backend too, where that was played.

JAX's tests know platforms by name.  They are told that ours is a "cpu", by JAX's own switch for it
(jax_test_dut).

With --resume it goes on where an earlier call was ended, by --seconds or otherwise: files that were
played to their end are not played again.  --platform cpu plays the files on JAX's own CPU backend, whose
counts the table shows beside ours.
"""
import argparse
import datetime
import json
import os
import pathlib
import re
import subprocess
import sys
import time
import zlib

HERE = pathlib.Path(__file__).resolve().parent
LISTED = HERE / "jax_failures.txt"
FIRST = ["lax_test", "lax_numpy_test", "lax_control_flow_test", "pmap_test", "multi_device_test",
         "shard_map_test"]  # in the table
DEVICES = {  # files that want more than one
    "pmap_test": 8, "multi_device_test": 8, "shard_map_test": 8, "pjit_test": 8, "array_test": 8,
    "memories_test": 8, "debug_nans_test": 4, "python_callback_test": 2, "export_test": 8,
}
OURS = "tutti"
END = "end"  # of a file, in its log
STOPPED = 75  # what a child ends with when its time is over

# ---- in the child: a plugin of pytest ---------------------------------------------------------


class Recorder:
    def __init__(self, path, done, options):
        self.log = open(path, "a", buffering=1)
        self.done, self.sample = done, options.sample
        self.only = set(pathlib.Path(options.only).read_text().split()) if options.only else None
        self.end = time.monotonic() + options.seconds

    def write(self, kind, nodeid, **more):
        self.log.write(json.dumps({"kind": kind, "test": name_of(nodeid), **more}) + "\n")

    def wants(self, name):
        if name in self.done or (self.only is not None and name not in self.only):
            return False
        return zlib.crc32(name.encode()) % 10000 < self.sample * 10000

    def pytest_collection_modifyitems(self, items):
        import jax

        items[:] = [item for item in items if self.wants(name_of(item.nodeid))]
        jax.config.update("jax_test_dut", "cpu")  # a switch of test_util, which all tests import
        from absl import flags

        if not flags.FLAGS.is_parsed():  # some ask absl for a folder
            flags.FLAGS(["jax_suite"])

    def pytest_runtest_protocol(self):
        if time.monotonic() > self.end:
            self.log.flush()
            os._exit(STOPPED)  # between two tests; JAX's own way out may take long

    def pytest_runtest_logstart(self, nodeid):
        self.write("begin", nodeid)

    def pytest_runtest_logreport(self, report):
        if report.outcome == "failed":
            crash = getattr(report.longrepr, "reprcrash", None)
            why = crash.message if crash else str(report.longrepr)
            self.write("failed", report.nodeid, why=why, seconds=report.duration)
        elif report.when == "call" or report.outcome == "skipped":
            self.write(report.outcome, report.nodeid, seconds=report.duration)


def name_of(nodeid):
    """tests/lax_test.py::LaxTest::testOp0 -> lax_test.LaxTest.testOp0"""
    file, *names = nodeid.split("::")
    return ".".join([pathlib.Path(file).stem, *names])


def child(options):
    import pytest

    file = options.files[0]
    os.environ["JAX_PLATFORMS"] = options.platform
    os.environ["JAX_NUM_GENERATED_CASES"] = str(options.cases)
    os.environ["XLA_FLAGS"] = f"--xla_force_host_platform_device_count={DEVICES.get(file, 1)}"
    done, _ = read_log(log_of(options, file))
    recorder = Recorder(log_of(options, file), done, options)
    args = ["-q", "-p", "no:cacheprovider", "--tb=short", "--no-header", "--no-summary"]
    return pytest.main(args + [f"tests/{file}.py"], plugins=[recorder])


# ---- in the parent ----------------------------------------------------------------------------


def log_of(options, file):
    return options.log / options.platform / f"{file}.jsonl"


def read_log(path):
    """{test: (outcome, why)}, and the test that has begun but not ended; END: none, all are played."""
    outcomes, open_test = {}, None
    if path.exists():
        for line in path.read_text().splitlines():
            entry = json.loads(line)
            if entry["kind"] == END:
                return outcomes, END
            name, kind = entry["test"], entry["kind"]
            if kind == "begin":
                open_test = name
                continue
            if outcomes.get(name, ("", ""))[0] != "failed":
                outcomes[name] = (kind, entry.get("why", ""))
            open_test = None
    return outcomes, open_test


def watch(process, log, limit):
    """Ends the child when a test takes longer than limit seconds."""
    size, quiet = -1, 0
    while True:
        try:
            return process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            now = log.stat().st_size if log.exists() else 0
            quiet = 0 if now != size else quiet + 5
            size = now
            if quiet > limit:
                process.kill()


def command_of(options, file):
    settings = {"jax": options.jax, "log": options.log, "platform": options.platform,
                "cases": options.cases, "sample": options.sample, "only": options.only,
                "seconds": options.end - time.monotonic()}
    words = [f"--{name}={value}" for name, value in settings.items() if value is not None]
    return [sys.executable, os.path.abspath(__file__), "--child", *words, file]


def play(options, file):
    """Plays one file of tests to its end, in as many children as that takes.  Returns what became of
    them; None when time was over before its end."""
    log = log_of(options, file)
    log.parent.mkdir(parents=True, exist_ok=True)
    if not options.resume:
        log.unlink(missing_ok=True)
    outcomes, open_test = read_log(log)
    while open_test != END:
        command = command_of(options, file)
        with open(log.with_suffix(".out"), "a") as out:
            process = subprocess.Popen(command, cwd=options.jax, stdout=out, stderr=out)
            code = watch(process, log, options.limit)
        if code == STOPPED:
            return None
        outcomes, open_test = read_log(log)
        if open_test is None:
            if code not in (0, 1, 5):
                return {f"{file}.import": ("failed", f"pytest ended with {code}; see {log.parent}")}
            note = {"kind": END}
            open_test = END
        else:
            why = "takes too long" if code == -9 else f"the process died, status {code}"
            note = {"kind": "failed", "test": open_test, "why": why}
        with open(log, "a") as out:
            out.write(json.dumps(note) + "\n")
    return outcomes


def listed_failures():
    """{test: reason}: a line that begins with # is the reason of the tests that follow it."""
    listed, reason = {}, "no reason given"
    if LISTED.exists():
        for line in LISTED.read_text().splitlines():
            if line.startswith("#"):
                reason = line.lstrip("# ")
            elif line.strip():
                listed[line.strip()] = reason
    return listed


def failures_of_cpu(options, file):
    """What fails on JAX's own CPU backend, as far as that was played."""
    log = options.log / "cpu" / f"{file}.jsonl"
    return {name for name, (outcome, _) in read_log(log)[0].items() if outcome == "failed"}


def compare(file, outcomes, listed, whole, theirs):
    """What is wrong: failures nobody lists, and listed tests that do not fail."""
    wrong = []
    for name, (outcome, why) in sorted(outcomes.items()):
        if outcome == "failed" and name not in listed and name not in theirs:
            why = " ".join(why.split())[:300]
            wrong.append(f"{name} fails and is not listed: {why}")
    for name, reason in listed.items():
        outcome = outcomes.get(name, ("is not there" if whole else "failed", ""))[0]
        if name.startswith(file + ".") and outcome != "failed":
            wrong.append(f"{name} is listed as failing ({reason}): {outcome}")
    return wrong


# ---- the table --------------------------------------------------------------------------------

HEAD = """# JAX's own tests on our engine

JAX 0.10.2, its sources at tag jax-v0.10.2; written by `make jax-suite JAX=path`, with {cases}
generated cases (JAX's own default is 10). A test that JAX itself skips counts as neither passed
nor failed; the tests are told that our platform is a `cpu` (`jax_test_dut`). Beside ours stand the
counts of JAX's own CPU backend on the same machine (`--platform cpu`).
`python/tests/jax_failures.txt` names every test that fails and does not fail there, and why.

| file | devices | passed | failed | skipped | passed of played | on | JAX's CPU: passed | failed | skipped |
|---|---|---|---|---|---|---|---|---|---|
"""


def cells_of(outcomes):
    all_of = [outcome for outcome, _ in outcomes.values()]
    passed, failed, skipped = (all_of.count(k) for k in ("passed", "failed", "skipped"))
    share = f"{100 * passed / (passed + failed):.1f} %" if passed + failed else "-"
    return [str(passed), str(failed), str(skipped)], share


def write_table(options, played):
    """Cells of files played now replace theirs; the others stay."""
    old = options.table.read_text() if options.table.exists() else ""
    rows = {}
    for line in re.findall(r"^\| \w+_test \|.*$", old, re.M):
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        rows[cells[0]] = cells
    for file, outcomes in played.items():
        row = rows.setdefault(file, [file, str(DEVICES.get(file, 1))] + ["-"] * 8)
        counts, share = cells_of(outcomes)
        if options.platform == OURS:
            row[2:7] = counts + [share, datetime.date.today().isoformat()]
        else:
            row[7:10] = counts
    order = FIRST + sorted(rows)
    lines = [f"| {' | '.join(rows[file])} |" for file in dict.fromkeys(order) if file in rows]
    head, tail = HEAD.format(cases=options.cases), old.partition("\n\n## ")[1:]
    options.table.write_text(head + "\n".join(lines) + ("".join(tail) or "\n"))


def files_of(jax):
    files = sorted(pathlib.Path(jax, "tests").glob("*_test.py"), key=lambda file: file.stat().st_size)
    return [file.stem for file in files]


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jax", required=True, help="JAX's sources, which hold tests/")
    parser.add_argument("--log", type=pathlib.Path, default=pathlib.Path("build/jax-suite"))
    parser.add_argument("--platform", default=OURS, help="what to play on; cpu is JAX's own")
    parser.add_argument("--cases", type=int, default=10, help="generated cases of each test")
    parser.add_argument("--seconds", type=float, default=1e9, help="stop after this time")
    parser.add_argument("--resume", action="store_true", help="go on where an earlier call ended")
    parser.add_argument("--sample", type=float, default=1, help="share of the tests to play")
    parser.add_argument("--only", help="a file that names the tests to play")
    parser.add_argument("--limit", type=int, default=300, help="seconds a test may take")
    parser.add_argument("--table", type=pathlib.Path, help="where to write the table")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("files", nargs="*")
    options = parser.parse_args()
    options.jax, options.log = os.path.abspath(options.jax), options.log.resolve()
    options.files = options.files or files_of(options.jax)
    options.only = options.only and os.path.abspath(options.only)
    options.end = time.monotonic() + options.seconds
    return options


def main():
    options = parse()
    if options.child:
        return child(options)
    played, wrong, listed = {}, [], listed_failures()
    whole = options.sample == 1 and not options.only
    for file in options.files:
        outcomes = play(options, file)
        if outcomes is None:
            print(f"{file}: stopped after {options.seconds:.0f} seconds; --resume goes on")
            break
        played[file] = outcomes
        print(file, *cells_of(outcomes)[0], cells_of(outcomes)[1], flush=True)
        if options.platform == OURS:
            wrong += compare(file, outcomes, listed, whole, failures_of_cpu(options, file))
        if options.table and whole:
            write_table(options, played)
    print("\n".join(wrong))
    return 1 if wrong or len(played) < len(options.files) else 0


if __name__ == "__main__":
    sys.exit(main())
