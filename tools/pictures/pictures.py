#!/usr/bin/env python3
"""The pictures of the lessons, each made of a real run: docs/lessons/pictures.

    tools/pictures/pictures.py [--into FOLDER] [NAME ...]     after `make lessons`; without names: all

NAME_holds.svg   which device holds what of the arguments and results of the program that most devices ran
NAME_step.svg    what each device did in one run of it, and when
04_train_drift.svg   a parameter on every device, trained alone and together (drift.c)
beside_jax.svg   one step of a pmap on our engine and on JAX's own, if build/venv has both (beside.py)
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

import draw

ROOT = pathlib.Path(__file__).resolve().parents[2]
HERE = ROOT / "tools/pictures"
BUILD = ROOT / os.environ.get("BUILD", "build")
INTO = ROOT / "docs/lessons/pictures"
DEVICES = 4


class Cut:
    """How an array lies: tiles along each axis, and for each of the program's devices which tile it holds."""

    def __init__(self, type_, sharding, meshes, devices):
        *dims, self.element = type_.split("x")
        self.dims, self.devices = [int(n) for n in dims], devices
        self.tiles, self.tile_of = [1] * len(self.dims), [[0] * len(self.dims) for _ in devices]
        found = re.search(r"@(\w+), \[(.*?)\]", sharding or "")
        if found:
            self._cut(meshes[found[1]], re.findall(r"\{(.*?)\}", found[2]))

    def _cut(self, mesh, dims):
        for axis, names in enumerate(dims):
            for name in re.findall(r'"(\w+)"', names):
                size, stride = mesh[name]
                self.tiles[axis] *= size
                for device, at in enumerate(self.tile_of):
                    at[axis] = at[axis] * size + device // stride % size


def meshes_of(text):
    """By name: for each axis its size, and how many devices further the next along it is."""
    meshes = {}
    for name, axes in re.findall(r"sdy\.mesh @(\w+) = <\[(.*?)\]", text):
        pairs = [(axis, int(size)) for axis, size in re.findall(r'"(\w+)"=(\d+)', axes)]
        stride, mesh = 1, {}
        for axis, size in reversed(pairs):
            mesh[axis] = (size, stride)
            stride *= size
        meshes[name] = mesh
    return meshes


def program_arrays(text, devices):
    """What @main takes and gives, on those devices."""
    meshes = meshes_of(text)
    head = re.search(r"func\.func public @main\((.*?)\) -> (.*?) \{\n", text, re.S)

    def cuts(part, name):
        found = re.findall(r"tensor<([^>]*)>(?: \{(?:[^{}]|\{[^{}]*\})*?(#sdy\.sharding<.*?\]>)[^}]*\})?", part)
        return [(f"{name} {i}", Cut(type_, sharding, meshes, devices)) for i, (type_, sharding) in enumerate(found)]

    return cuts(head[1], "argument"), cuts(head[2], "result")


def simple(name):
    return re.sub(r"\W+", "_", name).strip("_")


def play(name, folder):
    """Runs a lesson; gives its recording and its programs by name."""
    env = {**os.environ, "TUTTI_DEVICES": str(DEVICES), "TUTTI_TRACE": f"{folder}/trace.json",
           "XLA_FLAGS": f"--xla_dump_to={folder}/dump"}
    subprocess.run([BUILD / "examples" / name], cwd=ROOT, env=env, check=True,
                   stdout=subprocess.DEVNULL)
    programs = {}
    for path in sorted(pathlib.Path(folder, "dump").glob("*.before_optimizations.txt")):
        programs[path.name.split(".")[1]] = path.read_text()
    return json.loads(pathlib.Path(folder, "trace.json").read_text())["traceEvents"], programs


def runs_of(events):
    """By number: the program's name, and what each device did: (begin, end, kind, name)."""
    runs = {e["id"]: (e["name"], {}) for e in events if e["ph"] == "b" and e["cat"] == "run"}
    mine = [e for e in events if e["ph"] == "X" and e["pid"] == 1 and e["args"]["run"] in runs]
    with_kernels = {e["args"]["run"] for e in mine if e["cat"] == "kernel"}
    for e in mine:
        run = e["args"]["run"]
        kind = "kernel" if e["cat"] == "segment" and run not in with_kernels else e["cat"]  # it only copies
        if kind in draw.KIND:
            slices = runs[run][1].setdefault(e["tid"] - 1, [])
            slices.append((e["ts"], e["ts"] + e["dur"], kind, e["name"]))
    return {n: run for n, run in runs.items() if run[1]}


def lanes_of(devices):
    first = min(s[0] for slices in devices.values() for s in slices)
    return [(f"device {d}", [(a - first, b - first, kind, name) for a, b, kind, name in sorted(devices.get(d, []))])
            for d in range(DEVICES)]


def length(devices):
    every = [s for slices in devices.values() for s in slices]
    return max(s[1] for s in every) - min(s[0] for s in every)


def choose(runs, programs):
    """The program of most devices, of those the one with collectives, of those the last; and of its runs the
    one of middle length."""
    def weight(number):
        name, devices = runs[number]
        meets = any(s[2] == "collective" for slices in devices.values() for s in slices)
        return len(devices), simple(name).startswith(("pmap", "shard_map")), meets, number
    known = [n for n in runs if simple(runs[n][0]) in programs]
    if not known:
        return None, None
    name = runs[max(known, key=weight)][0]
    same = sorted((devices for other, devices in runs.values() if other == name), key=length)
    return name, same[len(same) // 2]


def lesson(name):
    with tempfile.TemporaryDirectory() as folder:
        events, programs = play(name, folder)
    label, devices = choose(runs_of(events), programs)
    if not label:
        print(f"{name}: no program was run, so there is nothing to show")
        return
    arguments, results = program_arrays(programs[simple(label)], sorted(devices))
    (INTO / f"{name}_holds.svg").write_text(draw.holds(f"{label}: which device holds what", arguments, results, DEVICES))
    (INTO / f"{name}_step.svg").write_text(
        draw.timeline(f"{label}: one run", [(f"{label}, one run on {len(devices)} of {DEVICES} devices"
                                             if len(devices) < DEVICES else
                                             f"{label}, one run on {DEVICES} devices", lanes_of(devices))]))


def drift():
    with tempfile.TemporaryDirectory() as folder:
        program = f"{folder}/drift"
        subprocess.run(["cc", "-std=gnu17", "-O1", f"-I{ROOT}/include", HERE / "drift.c", "-o", program,
                        f"-L{ROOT}/build", "-ltutti", f"-Wl,-rpath,{ROOT}/build", "-lm"], check=True)
        text = subprocess.run([program], env={**os.environ, "TUTTI_DEVICES": str(DEVICES),
                                              "TUTTI_PLUGIN": str(ROOT / "build/pjrt_plugin_tutti.so")},
                              check=True, capture_output=True, text=True).stdout
    rows = {}
    for line in text.splitlines():
        way, *values = line.split()
        rows.setdefault(way, []).append([float(v) for v in values])
    panels = [(words, [(f"device {d}", draw.color(d), [row[d] for row in rows[way]]) for d in range(DEVICES)])
              for way, words in (("alone", "each for itself: w0"), ("together", "gradients averaged: w0"))]
    (INTO / "04_train_drift.svg").write_text(draw.curves("A parameter on four devices", panels))


def beside():
    python = ROOT / "build/venv/bin/python"
    if not (ROOT / "build/venv/.plugin").exists():
        print("no build/venv: beside_jax.svg stays as it is")
        return
    groups = []
    for platform, words in (("tutti", "on Tutti's engine"), ("cpu", "on JAX's CPU backend")):
        env = {**os.environ, "JAX_PLATFORMS": platform, "TUTTI_DEVICES": str(DEVICES),
               "XLA_FLAGS": f"--xla_force_host_platform_device_count={DEVICES}"}
        text = subprocess.run([python, HERE / "beside.py"], env=env, check=True, capture_output=True,
                              text=True).stdout
        groups.append((f"one step of jax.pmap, {words}", json.loads(text.splitlines()[-1])))
    (INTO / "beside_jax.svg").write_text(draw.timeline("A pmap step on two engines", groups))


def main():
    global INTO
    names = sys.argv[1:]
    if names[:1] == ["--into"]:
        INTO, names = pathlib.Path(names[1]), names[2:]
    INTO.mkdir(exist_ok=True)
    for name in names or sorted(p.stem for p in (ROOT / "examples").glob("[0-9]*.c")):
        lesson(name)
    if not names:
        drift()
        beside()


main()
