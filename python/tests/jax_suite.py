"""JAX's own test files on our engine: what `make jax-suite` runs.

    jax_suite.py --jax SOURCES [--sample 0.2] [--log DIR] [--table docs/jax_suites.md] [FILE ...]

Each FILE (lax_test, lax_numpy_test, ...) is played by a child process, which writes a line as a
test begins and another as it ends.  When a child dies or a test takes too long, that test has
failed, and another child goes on behind it.  What has failed is then compared with
jax_failures.txt, both ways: a failure that is not listed there and a listed test that passes are
both errors.
"""
import argparse
import datetime
import json
import os
import pathlib
import re
import subprocess
import sys
import zlib

HERE = pathlib.Path(__file__).resolve().parent
LISTED = HERE / "jax_failures.txt"
FILES = ["lax_test", "lax_numpy_test", "lax_control_flow_test"]
DEVICES = {  # files that want more than one
}

# ---- in the child: a plugin of pytest ---------------------------------------------------------


class Recorder:
    def __init__(self, path, done, sample, only):
        self.log = open(path, "a", buffering=1)
        self.done, self.sample, self.only = done, sample, only

    def write(self, kind, nodeid, **more):
        self.log.write(json.dumps({"kind": kind, "test": name_of(nodeid), **more}) + "\n")

    def wants(self, name):
        if name in self.done or (self.only is not None and name not in self.only):
            return False
        return zlib.crc32(name.encode()) % 10000 < self.sample * 10000

    def pytest_collection_modifyitems(self, items):
        items[:] = [item for item in items if self.wants(name_of(item.nodeid))]

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


def child(file, log, done, sample, only):
    import pytest

    # Some tests ask for a CPU device by name; ours comes first, so it is the default.
    os.environ.setdefault("JAX_PLATFORMS", "tutti,cpu")
    os.environ.setdefault("TUTTI_DEVICES", str(DEVICES.get(pathlib.Path(file).stem, 1)))
    recorder = Recorder(log, done, sample, only)
    args = ["-q", "-p", "no:cacheprovider", "--tb=short", "--no-header", "--no-summary", file]
    return pytest.main(args, plugins=[recorder])


# ---- in the parent ----------------------------------------------------------------------------


def read_log(path):
    """{test: (outcome, why)}, and the test that has begun but not ended."""
    outcomes, open_test = {}, None
    if path.exists():
        for line in path.read_text().splitlines():
            entry = json.loads(line)
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


def play(options, file):
    """Plays one file of tests to its end, in as many children as that takes."""
    log = options.log / f"{file}.jsonl"
    log.parent.mkdir(parents=True, exist_ok=True)
    log.unlink(missing_ok=True)
    while True:
        command = [sys.executable, __file__, "--child", "--jax", options.jax, "--log",
                   str(options.log), "--sample", str(options.sample), file]
        if options.only:
            command += ["--only", options.only]
        with open(options.log / f"{file}.out", "a") as out:
            process = subprocess.Popen(command, cwd=options.jax, stdout=out, stderr=out)
            code = watch(process, log, options.limit)
        outcomes, open_test = read_log(log)
        if open_test is None:
            if code not in (0, 1, 5):
                raise SystemExit(f"jax_suite: {file}: pytest ended with {code}; see {log.parent}")
            return outcomes
        why = "takes too long" if code == -9 else f"the process died, status {code}"
        with open(log, "a") as out:
            out.write(json.dumps({"kind": "failed", "test": open_test, "why": why}) + "\n")


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


def compare(outcomes, listed):
    """What is wrong: failures nobody lists, and listed tests that pass."""
    wrong = []
    for name, (outcome, why) in sorted(outcomes.items()):
        if outcome == "failed" and name not in listed:
            why = " ".join(why.split())[:300]
            wrong.append(f"{name} fails and is not listed: {why}")
        if outcome == "passed" and name in listed:
            wrong.append(f"{name} passes and is listed as failing ({listed[name]})")
    return wrong


def row_of(file, outcomes, sample):
    all_of = [outcome for outcome, _ in outcomes.values()]
    passed, failed, skipped = (all_of.count(k) for k in ("passed", "failed", "skipped"))
    share = f"{100 * passed / (passed + failed):.1f} %" if passed + failed else "-"
    part = "" if sample == 1 else f", {sample:.0%} of them"
    today = datetime.date.today().isoformat()
    return (f"| {file} | {DEVICES.get(file, 1)} | {passed} | {failed} | {skipped} | {share} | "
            f"{today}{part} |")


HEAD = """# JAX's own tests on our engine

JAX 0.10.2, its sources at tag jax-v0.10.2; written by `make jax-suite JAX=path`. A test that JAX
itself skips counts as neither. `python/tests/jax_failures.txt` names every test that fails, and
why.

| file | devices | passed | failed | skipped | passed of played | on |
|---|---|---|---|---|---|---|
"""


def write_table(path, rows):
    """Rows of files played now replace theirs; the others stay."""
    old = path.read_text() if path.exists() else ""
    kept = {m.group(1): m.group(0) for m in re.finditer(r"^\| (\w+_test) \|.*$", old, re.M)}
    kept.update(rows)
    path.write_text(HEAD + "\n".join(kept[file] for file in sorted(kept)) + "\n")


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jax", required=True, help="JAX's sources, which hold tests/")
    parser.add_argument("--log", type=pathlib.Path, default=pathlib.Path("build/jax-suite"))
    parser.add_argument("--sample", type=float, default=1, help="share of the tests to play")
    parser.add_argument("--only", help="a file that names the tests to play")
    parser.add_argument("--limit", type=int, default=300, help="seconds a test may take")
    parser.add_argument("--table", type=pathlib.Path, help="where to write the table")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("files", nargs="*", default=FILES)
    options = parser.parse_args()
    options.jax, options.log = os.path.abspath(options.jax), options.log.resolve()
    if options.only:
        options.only = os.path.abspath(options.only)
    return options


def main():
    options = parse()
    if options.child:
        log = options.log / f"{options.files[0]}.jsonl"
        done, _ = read_log(log)
        only = set(pathlib.Path(options.only).read_text().split()) if options.only else None
        return child(f"tests/{options.files[0]}.py", log, done, options.sample, only)
    rows, wrong = {}, []
    for file in options.files:
        outcomes = play(options, file)
        rows[file] = row_of(file, outcomes, options.sample)
        print(rows[file], flush=True)
        wrong += compare(outcomes, listed_failures())
    if options.table:
        write_table(options.table, rows)
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
