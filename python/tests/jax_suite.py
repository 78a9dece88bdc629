"""JAX's own test files on our engine: what `make jax-suite` runs.

    jax_suite.py --jax SOURCES [--table docs/jax_suites.md] [--seconds 240] [--resume] [FILE ...]

Each FILE (lax_test, lax_numpy_test, ...; without any: all that JAX has, what most programs stand on
first) is played by a child process, which writes a line as a test begins and another as it ends.  When a child dies or
a test takes too long, that test has failed, and another child goes on behind it.  What has failed is
then compared with jax_failures.txt, both ways: a failure that is not listed there and a listed test
that does not fail are both errors, unless it fails on JAX's own CPU backend too, where that was played.

JAX's tests know platforms by name.  They are told that ours is a "cpu", by JAX's own switch for it
(jax_test_dut); with TUTTI_PLATFORM=cpu it is called so, what is listed as lost by its name must pass, and no table is
written.

With --resume it goes on where an earlier call was ended, by --seconds or otherwise: files that were
played to their end are not played again; with --seconds 0 as well it only tells of those.  --platforms
cpu,tutti plays each file on JAX's own CPU backend first, whose counts the table shows beside ours.
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
FIRST = ["array", "api", "pmap", "multi_device", "shard_map", "lax", "lax_numpy", "lax_control_flow",
         "lax_autodiff", "lax_vmap", "lax_scipy", "random", "random_lax", "linalg", "fft", "nn", "pjit",
         "export", "layout", "memories", "debugging_primitives", "python_callback", "checkify",
         "profiler"]  # played first, and first in the table: nothing may fail in them
DEVICES = {  # files that want more than one
    "pmap_test": 8, "multi_device_test": 8, "shard_map_test": 8, "pjit_test": 8, "array_test": 8,
    "memories_test": 8, "debug_nans_test": 4, "python_callback_test": 2, "export_test": 8,
}
SHARES = {  # of thousands of tests of one kind, those that are played, chosen by their names
    "export_harnesses_multi_platform_test": 1 / 3, "shape_poly_test": 1 / 6,
}
OURS = "tutti"
BY_NAME = "by its name: "  # how the reasons begin of what passes where ours is called "cpu",
AS_CPU = "as cpu: "  # and of what is lost there alone
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
        return is_chosen(name, self.sample * share_of(name))

    def pytest_make_collect_report(self, collector):
        """A file is about to be read, which asks, for its cases' sake, which device it tests.  Not sooner:
        test_util keeps stdout as it finds it, and pytest takes it over for files alone."""
        import pytest

        if isinstance(collector, pytest.File):
            import jax
            import jax._src.test_util  # whose switch this is

            jax.config.update("jax_test_dut", "cpu")
            # Programs that older versions exported are asked for by this name.
            from jax._src.internal_test_util import export_back_compat_test_util as older

            older.CompatTestBase.default_jax_backend = lambda self: "cpu"

    def pytest_collection_modifyitems(self, items):
        items[:] = [item for item in items if self.wants(name_of(item.nodeid))]
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


def share_of(name):
    return SHARES.get(name.partition(".")[0], 1)


def is_chosen(name, share):
    return zlib.crc32(name.encode()) % 10000 < share * 10000


def name_of(nodeid):
    """tests/lax_test.py::LaxTest::testOp0 -> lax_test.LaxTest.testOp0"""
    file, *names = nodeid.split("::")
    return ".".join([pathlib.Path(file).stem, *names])


def is_in_place():
    """Whether ours is called "cpu", in the place of JAX's own backend."""
    return os.environ.get("TUTTI_PLATFORM") == "cpu"


def child(options):
    import pytest

    file, platform = options.files[0], options.platforms[0]
    if platform == "cpu":
        os.environ.pop("TUTTI_PLATFORM", None)
    os.environ["JAX_PLATFORMS"] = "cpu" if is_in_place() else platform
    os.environ["JAX_NUM_GENERATED_CASES"] = str(options.cases)
    os.environ["XLA_FLAGS"] = f"--xla_force_host_platform_device_count={DEVICES.get(file, 1)}"
    log = log_of(options, platform, file)
    recorder = Recorder(log, read_log(log)[0], options)
    import jax._src

    jax._src.__path__.append(os.path.join(options.jax, "jax", "_src"))  # for helpers that no wheel holds
    args = ["-q", "-p", "no:cacheprovider", "--tb=short", "--no-header", "--no-summary"]
    return pytest.main(args + [f"tests/{file}.py"], plugins=[recorder])


# ---- in the parent ----------------------------------------------------------------------------


def log_of(options, platform, file):
    folder = f"{OURS}-as-cpu" if platform == OURS and is_in_place() else platform
    return options.log / folder / f"{file}.jsonl"


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


def command_of(options, platform, file):
    settings = {"jax": options.jax, "log": options.log, "platforms": platform,
                "cases": options.cases, "sample": options.sample, "only": options.only,
                "seconds": options.end - time.monotonic()}
    words = [f"--{name}={value}" for name, value in settings.items() if value is not None]
    return [sys.executable, os.path.abspath(__file__), "--child", *words, file]


def play(options, platform, file):
    """Plays one file of tests to its end, in as many children as that takes.  Returns what became of
    them; None when time was over before its end."""
    log = log_of(options, platform, file)
    log.parent.mkdir(parents=True, exist_ok=True)
    if not options.resume:
        log.unlink(missing_ok=True)
    outcomes, open_test = read_log(log)
    while open_test != END:
        if time.monotonic() > options.end:
            return None
        command = command_of(options, platform, file)
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
    if LISTED.exists():  # what is lost by our name is not where it is another
        for line in LISTED.read_text().splitlines():
            if line.startswith("#"):
                reason = line.lstrip("# ")
            elif line.strip() and not reason.startswith(BY_NAME if is_in_place() else AS_CPU):
                listed[line.strip()] = reason
    return listed


def outcomes_on(options, platform, file):
    """{test: outcome} as far as the file was played there."""
    outcomes, _ = read_log(log_of(options, platform, file))
    return {name: outcome for name, (outcome, _) in outcomes.items() if is_chosen(name, share_of(name))}


def compare(file, outcomes, listed, whole, theirs):
    """What is wrong: tests that do not pass, though they pass or were not played on JAX's own CPU backend
    (theirs), and that nobody lists; and listed tests that pass."""
    wrong = []
    for name, (outcome, why) in sorted(outcomes.items()):
        there = theirs.get(name)
        if name not in listed and lost(outcome, there or "passed" if outcome == "failed" else there):
            why = " ".join(why.split())[:300]
            wrong.append(f"{name} is not listed: {outcome} {why}")
    for name, reason in listed.items():
        outcome = outcomes.get(name, ("is not there" if whole else "failed", ""))[0]
        if name.startswith(file + ".") and outcome not in ("failed", "skipped"):
            wrong.append(f"{name} is listed as failing ({reason}): {outcome}")
    return wrong


def lost(here, there):
    """Whether a test passes on JAX's CPU backend and not on ours."""
    return there == "passed" and here != "passed"


# ---- the table --------------------------------------------------------------------------------

HEAD = """# JAX's own tests on our engine

JAX 0.10.2, its sources at tag jax-v0.10.2; written by `make jax-suite JAX=path`, with {cases} of JAX's 10
generated cases for each test. A test that JAX itself skips counts as neither passed nor failed; the tests are
told that our platform is a `cpu` (`jax_test_dut`, and `default_jax_backend` of those of older exports). Beside ours stand the counts of JAX's own CPU backend
on the same machine; *lost* are tests that pass there and not here. Of the 5,487 tests of
export_harnesses_multi_platform_test every third is played, of the 2,455 of shape_poly_test every sixth, chosen by its name.

| file | devices | passed | failed | skipped | JAX's CPU: passed | failed | skipped | lost | on |
|---|---|---|---|---|---|---|---|---|---|
"""
BY_HAND = "\n## What else was played\n"  # from here on the page is not written by this program


def counts_of(outcomes):
    return [list(outcomes.values()).count(kind) for kind in ("passed", "failed", "skipped")]


def row_of(options, file, old):
    """A file's row, from the logs of both platforms; what was not played to its end stays as it was."""
    row = old or [file, str(DEVICES.get(file, 1))] + ["-"] * 8
    ends = {platform: read_log(log_of(options, platform, file))[1] for platform in (OURS, "cpu")}
    here, there = (outcomes_on(options, platform, file) for platform in (OURS, "cpu"))
    if ends[OURS] == END:
        row[2:5] = map(str, counts_of(here))
        played = datetime.date.fromtimestamp(log_of(options, OURS, file).stat().st_mtime)
        row[9] = played.isoformat()
    if ends["cpu"] == END:
        row[5:8] = map(str, counts_of(there))
    if ends[OURS] == ends["cpu"] == END:
        row[8] = str(sum(lost(here.get(name), outcome) for name, outcome in there.items()))
    return row


def sum_of(rows):
    both = [row for row in rows if row[8] != "-"]
    sums = [sum(int(row[i]) for row in both) for i in range(2, 9)]
    share = f"**{100 - 100 * sums[-1] / max(1, sums[3]):.2f} %** of what passes there passes here"
    return f"| all {len(both)} | | {' | '.join(map(str, sums))} | |\n\n{share}.\n"


def failures_page(listed):
    reasons = {}
    for name, reason in listed.items():
        reasons.setdefault(reason, []).append(name)
    text = "\n## What passes there and not here\n\n`python/tests/jax_failures.txt` has the same as a list, which "
    text += "the program holds against what it sees, both ways.\n\n"
    lines = [f"- {reason}: {', '.join(f'`{name}`' for name in names)}\n" for reason, names in reasons.items()]
    return text + ("".join(lines) or "Nothing.\n")


def write_table(options, files, listed):
    """Rows of these files replace theirs; the others stay."""
    old = options.table.read_text() if options.table.exists() else ""
    rows = {}
    for line in re.findall(r"^\| \w+_test \|.*$", old, re.M):
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        rows[cells[0]] = cells
    for file in files:
        rows[file] = row_of(options, file, rows.get(file))
    order = [file for file in [f"{name}_test" for name in FIRST] + sorted(rows) if file in rows]
    rows = [rows[file] for file in dict.fromkeys(order)]
    page = HEAD.format(cases=options.cases) + "".join(f"| {' | '.join(row)} |\n" for row in rows)
    page += sum_of(rows) + failures_page(listed) + "".join(old.partition(BY_HAND)[1:])
    options.table.write_text(page)


def files_of(jax):
    first = [f"{name}_test" for name in FIRST]
    files = sorted(pathlib.Path(jax, "tests").glob("*_test.py"), key=lambda file: file.stat().st_size)
    return first + [file.stem for file in files if file.stem not in first]


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--jax", required=True, help="JAX's sources, which hold tests/")
    parser.add_argument("--log", type=pathlib.Path, default=pathlib.Path("build/jax-suite"))
    parser.add_argument("--platforms", default=OURS, help="what to play on, by commas; cpu is JAX's own")
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
    options.platforms = options.platforms.split(",")
    options.files = options.files or files_of(options.jax)
    options.only = options.only and os.path.abspath(options.only)
    options.end = time.monotonic() + options.seconds
    return options


def main():
    options = parse()
    if options.child:
        return child(options)
    played, wrong, listed = [], [], listed_failures()
    whole = options.sample == 1 and not options.only
    for platform, file in ((platform, file) for file in options.files for platform in options.platforms):
        outcomes = play(options, platform, file)
        if outcomes is None:
            print(f"{file} on {platform}: not played to its end; --resume goes on")
            continue
        played.append(file)
        print(platform, file, *counts_of(outcomes_on(options, platform, file)), flush=True)
        if platform == OURS:
            wrong += compare(file, outcomes, listed, whole, outcomes_on(options, "cpu", file))
        if options.table and whole and not is_in_place():
            write_table(options, [file], listed)
    print("\n".join(wrong))
    return 1 if wrong or len(played) < len(options.files) * len(options.platforms) else 0


if __name__ == "__main__":
    sys.exit(main())
