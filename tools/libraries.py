#!/usr/bin/env python3
"""Test files of libraries that stand on JAX, on our engine and on JAX's own CPU backend.

    tools/libraries.py --tests DIR [--most 20] [--rounds 2] [--resume] [--table docs/libraries.md] [LIBRARY or FILE ...]

DIR holds the libraries' sources, a folder for each, named as in FILES; the Python that runs this has JAX,
jax-tutti and the libraries installed (pip install ./python flax equinox ...).  Of each file at most so many
tests are played, evenly chosen, the same on both, each file in a process of its own and first on one
backend, then on the other; in several rounds the fastest process of each counts.  The tests themselves say
which values are right.  What passes on JAX's backend and not on ours is printed, and makes the program end with 1.
"""
import argparse
import datetime
import importlib.metadata
import json
import os
import pathlib
import resource
import subprocess
import sys
import time

FILES = {
    "flax": ["tests/linen/linen_linear_test.py", "tests/linen/linen_recurrent_test.py",
             "tests/linen/linen_attention_test.py", "tests/core/design/core_resnet_test.py",
             "tests/nnx/nn/conv_test.py", "tests/nnx/optimizer_test.py", "tests/nnx/spmd_test.py",
             "tests/jax_utils_test.py"],
    "equinox": ["tests/test_nn.py", "tests/test_while_loop.py", "tests/test_ad.py", "tests/test_pmap.py",
                "tests/test_jit.py", "tests/test_errors.py", "tests/test_sharding.py",
                "tests/test_callback.py"],
    "optax": ["optax/_src/lbfgs_test.py", "optax/_src/alias_test.py", "optax/_src/linear_algebra_test.py",
              "optax/contrib/_muon_test.py", "optax/losses/_classification_test.py",
              "optax/_src/sharding_test.py"],
    "numpyro": ["test/infer/test_svi.py", "test/infer/test_hmc_util.py", "test/test_distributions_util.py",
                "test/test_optimizers.py", "test/contrib/hsgp/test_approximation.py"],
    "blackjax": ["tests/mcmc/test_integrators.py", "tests/vi/test_svgd.py", "tests/smc/test_tempered_smc.py",
                 "tests/test_multidevice/test_multichain.py"],
    "diffrax": ["test/test_interpolation.py", "test/test_vmap.py", "test/test_term.py", "test/test_step_to.py",
                "test/test_local_interpolation.py"],
    "jaxopt": ["tests/lbfgs_test.py", "tests/osqp_test.py", "tests/projection_test.py",
               "tests/gauss_newton_test.py"],
    "optimistix": ["tests/test_root_find.py", "tests/test_lbfgs_linear_operator.py"],
    "dm-haiku": ["haiku/_src/conv_test.py", "haiku/_src/recurrent_test.py", "haiku/_src/batch_norm_test.py",
                 "haiku/_src/nets/resnet_test.py"],
    "jax-md": ["tests/custom_smap_test.py", "tests/custom_partition_test.py", "tests/space_test.py",
               "tests/smap_test.py"],
    "brax": ["brax/math_test.py", "brax/scan_test.py", "brax/com_test.py"],
    "e3nn-jax": ["tests/_src/irreps_array_test.py", "tests/_src/spherical_harmonics/sh_test.py",
                 "tests/_src/tensor_products_test.py"],
    "dynamax": ["dynamax/hidden_markov_model/inference_test.py",
                "dynamax/linear_gaussian_ssm/inference_test.py",
                "dynamax/linear_gaussian_ssm/parallel_inference_test.py"],
    "gpjax": ["tests/test_gps.py", "tests/test_kernels/test_stationary.py", "tests/test_linalg.py"],
    "ott-jax": ["tests/solvers/linear/sinkhorn_test.py", "tests/geometry/costs_test.py",
                "tests/tools/k_means_test.py"],
    "orbax-checkpoint": ["checkpoint/orbax/checkpoint/_src/serialization/type_handlers_test.py",
                         "checkpoint/orbax/checkpoint/_src/serialization/replica_slices_test.py",
                         "checkpoint/orbax/checkpoint/_src/serialization/serialization_test.py",
                         "checkpoint/orbax/checkpoint/_src/handlers/standard_checkpoint_handler_test.py",
                         "checkpoint/orbax/checkpoint/_src/checkpointers/checkpointer_test.py"],
}
# What asks for a platform of this name: there ours is put in the place of JAX's own (TUTTI_PLATFORM=cpu).
AS_CPU = {("equinox", "tests/test_while_loop.py"), ("equinox", "tests/test_sharding.py"),
          ("brax", "brax/scan_test.py"), ("brax", "brax/com_test.py")}
PLATFORMS = ("cpu", "tutti")
DEVICES = 8

# ---- in the child: a plugin of pytest ---------------------------------------------------------


class Recorder:
    def __init__(self, most):
        self.most, self.outcomes = most, {}

    def pytest_collection_modifyitems(self, items):
        step = max(1, -(-len(items) // self.most))
        items[:] = items[::step]

    def pytest_runtest_logreport(self, report):
        name = report.nodeid.rpartition("::")[2]
        if report.outcome == "failed":
            crash = getattr(report.longrepr, "reprcrash", None)
            self.outcomes[name] = ["failed", crash.message if crash else str(report.longrepr)]
        elif report.when == "call" or report.outcome == "skipped":
            self.outcomes.setdefault(name, [report.outcome, ""])

    def pytest_collectreport(self, report):
        if report.failed:
            self.outcomes["import"] = ["failed", str(report.longrepr)]


def child(options):
    import pytest

    recorder = Recorder(options.most)
    os.chdir(options.tests)
    args = ["-q", "-p", "no:cacheprovider", "-p", "no:randomly", "--no-header", "--no-summary", "-o",
            "addopts=", "-W", "ignore", options.names[0]]
    pytest.main(args, plugins=[recorder])
    pathlib.Path(options.log).write_text(json.dumps(recorder.outcomes))


# ---- in the parent ----------------------------------------------------------------------------


def environment_of(library, file, platform):
    flags = f"--xla_force_host_platform_device_count={DEVICES}"
    environment = dict(os.environ, JAX_PLATFORMS=platform, XLA_FLAGS=flags, TUTTI_DEVICES=str(DEVICES))
    environment.pop("TUTTI_PLATFORM", None)
    if platform != "cpu" and (library, file) in AS_CPU:
        environment.update(JAX_PLATFORMS="cpu", TUTTI_PLATFORM="cpu")
    return environment


def play(options, library, file, platform):
    """What became of a file's tests, and the seconds that it took, by the clock and of processors."""
    said = options.log / "child.json"
    said.unlink(missing_ok=True)
    # -P: the folder of this program is not looked into for modules
    command = [sys.executable, "-P", os.path.abspath(__file__), "--child", f"--tests={options.tests / library}",
               f"--log={said}", f"--most={options.most}", file]
    environment = environment_of(library, file, platform)
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    with open(options.log / "child.out", "w") as out:
        process = subprocess.Popen(command, stdout=out, stderr=out, env=environment)
        try:
            process.wait(options.limit)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    seconds, after = time.monotonic() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    outcomes = json.loads(said.read_text()) if said.exists() else {
        "process": ["failed", f"ended with {process.returncode} after {seconds:.0f} s"]}
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"library": library, "file": file, "platform": platform, "seconds": seconds, "cpu": cpu,
            "outcomes": outcomes, "on": datetime.date.today().isoformat()}


def play_rounds(options, library, file):
    """What became of a file on both platforms: the fastest of several processes, and a test that failed in one
    of them has failed."""
    tries = {platform: [] for platform in PLATFORMS}
    for _ in range(options.rounds):
        for platform in PLATFORMS:
            tries[platform].append(play(options, library, file, platform))
    best = [min(entries, key=lambda entry: entry["seconds"]) for entries in tries.values()]
    for entry in best:
        for other in tries[entry["platform"]]:
            failed = {name: said for name, said in other["outcomes"].items() if said[0] == "failed"}
            entry["outcomes"].update(failed)
    return best


def read(log):
    lines = log.read_text().splitlines() if log.exists() else []
    entries = map(json.loads, lines)
    return {(entry["library"], entry["file"], entry["platform"]): entry for entry in entries}


def count(entry, kind):
    return sum(outcome == kind for outcome, _ in entry["outcomes"].values())


def lost(theirs, ours):
    """Tests that pass on JAX's backend and not on ours."""
    passed = [name for name, (outcome, _) in theirs["outcomes"].items() if outcome == "passed"]
    return {name: ours["outcomes"].get(name, ["not there", ""])
            for name in passed if ours["outcomes"].get(name, [""])[0] != "passed"}


HEAD = """# Libraries that stand on JAX, on our engine

Test files of libraries from PyPI at their default settings, JAX {jax}, {devices} devices, on our
engine and on JAX's own CPU backend; the tests say which values are right. Written by `tools/libraries.py`, whose
head says how it is called; of each file at most {most} tests are played, evenly chosen. *lost* are tests that
pass on JAX's backend and not on ours. Files *as cpu* ask for a platform of that name, and are played with
`TUTTI_PLATFORM=cpu`. Seconds are of a whole process, by the clock and, behind the stroke, of
processors; the machine was shared, so the second number is the steadier one.

| library | file | passed | failed | skipped | JAX's CPU: passed | failed | skipped | lost | ours s | JAX s | on |
|---|---|---|---|---|---|---|---|---|---|---|---|
"""
BY_HAND = "\n## "
OURS_SECONDS, THEIR_SECONDS = 9, 10  # columns


def title(library, file):
    """A file's name, with its folder's where the library has two of that name."""
    path = pathlib.Path(file)
    mark = " (as cpu)" if (library, file) in AS_CPU else ""
    is_alone = sum(pathlib.Path(other).stem == path.stem for other in FILES[library]) == 1
    return (path.stem if is_alone else f"{path.parent.name}/{path.stem}") + mark


def brief(seconds):
    return f"{seconds:.1f}" if seconds < 10 else f"{seconds:.0f}"


def row(theirs, ours):
    kinds = ("passed", "failed", "skipped")
    version = importlib.metadata.version(ours["library"])
    cells = [f"{ours['library']} {version}", title(ours["library"], ours["file"])]
    cells += [str(count(entry, kind)) for entry in (ours, theirs) for kind in kinds]
    cells += [str(len(lost(theirs, ours)))]
    cells += [f"{brief(entry['seconds'])} / {brief(entry['cpu'])}" for entry in (ours, theirs)]
    return [*cells, ours["on"]]


def line_of(cells):
    return f"| {' | '.join(cells)} |\n"


def old_rows(text):
    """The rows of a table, by library and file."""
    rows = {}
    for line in text.partition(BY_HAND)[0].splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("| ") and cells[0].split()[0] in FILES:
            rows[cells[0].split()[0], cells[1]] = cells
    return rows


def write_table(options, entries):
    """Rows of files that were played replace theirs; the others stay."""
    old = options.table.read_text() if options.table.exists() else ""
    before, rows = old_rows(old), []
    for library, file in ((library, file) for library, files in FILES.items() for file in files):
        if all((library, file, platform) in entries for platform in PLATFORMS):
            rows.append(row(*(entries[library, file, platform] for platform in PLATFORMS)))
        elif (library, title(library, file)) in before:
            rows.append(before[library, title(library, file)])
    head = HEAD.format(jax=importlib.metadata.version("jax"), devices=DEVICES, most=options.most)
    ours, theirs = (sum(float(cells[column].split("/")[1]) for cells in rows)
                    for column in (OURS_SECONDS, THEIR_SECONDS))
    sums = f"\n{len(rows)} files; together ours took {ours:.0f} s of processors, JAX's {theirs:.0f} s.\n"
    options.table.write_text(head + "".join(map(line_of, rows)) + sums + "".join(old.partition(BY_HAND)[1:]))


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tests", type=pathlib.Path, required=True, help="the libraries' sources")
    parser.add_argument("--log", type=pathlib.Path, default=pathlib.Path("build/library-log"))
    parser.add_argument("--most", type=int, default=20, help="tests of a file")
    parser.add_argument("--limit", type=float, default=600, help="seconds that a file may take")
    parser.add_argument("--rounds", type=int, default=1, help="how often, of which the fastest counts")
    parser.add_argument("--resume", action="store_true", help="go on where an earlier call ended")
    parser.add_argument("--table", type=pathlib.Path, help="where to write the table")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("names", nargs="*", help="libraries or files; all without")
    options = parser.parse_args()
    options.tests, options.log = options.tests.resolve(), options.log.resolve()
    return options


def files_asked(names):
    """Those whose library or own name (test_nn) is among the names; all without any."""
    every = [(library, file) for library, files in FILES.items() for file in files]
    return [(library, file) for library, file in every
            if not names or library in names or pathlib.Path(file).stem in names]


def main():
    options = parse()
    if options.child:
        return child(options)
    options.log.mkdir(parents=True, exist_ok=True)
    log, wrong = options.log / "files.jsonl", 0
    entries = read(log) if options.resume else {}
    for library, file in files_asked(options.names):
        if any((library, file, platform) not in entries for platform in PLATFORMS):
            for entry in play_rounds(options, library, file):
                entries[library, file, entry["platform"]] = entry
                with open(log, "a") as out:
                    out.write(json.dumps(entry) + "\n")
        theirs, ours = (entries[library, file, platform] for platform in PLATFORMS)
        print(line_of(row(theirs, ours)), end="", flush=True)
        for name, (outcome, why) in lost(theirs, ours).items():
            wrong += 1
            print(f"    {name}: {outcome}: {' '.join(why.split())[:300]}")
    if options.table:
        write_table(options, entries)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
