"""What the recorder costs: small rows of docs/bench.md and the MLP step with the recorder off and on, taking turns.

    bench/recorder.py [OTHER.so]        after `make bench`, which builds its programs

OTHER.so: a further engine, one that was built without the recorder's marks, say.  A row has for each the median of all
calls in microseconds, and against the first the median over turns of the ratio of a turn's medians.
"""
import os
import statistics
import sys
import tempfile

import run

ROWS = [("jit", 1), ("call", 4), ("call", 8), ("psum", 4), ("psum", 8), ("linear", 4), ("mlp", 4)]
TURNS = 60
COUNT = {"mlp": 2}


class Engine(run.Contender):
    def __init__(self, plugin, **environment):
        kept, run.PLUGIN = run.PLUGIN, plugin
        os.environ.update(environment)
        super().__init__("ours")
        for name in environment:
            del os.environ[name]
        run.PLUGIN = kept

    def end(self):
        self.process.stdin.close()
        self.process.wait()


def row(engines, path, work, n):
    turns = {name: [] for name in engines}
    calls = {name: [] for name in engines}
    for turn in range(-1, TURNS):
        for name in sorted(engines, reverse=turn % 2):  # nobody is always first
            ns = engines[name].ask(f"call {path} {n} {COUNT.get(work, 200)}")["ns"]
            if turn >= 0:
                turns[name].append(statistics.median(ns))
                calls[name] += ns
    first, *others = engines
    against = (f"{name} {100 * statistics.median(a / b - 1 for a, b in zip(turns[name], turns[first])):+.1f} %"
               for name in others)
    medians = "".join(f"{statistics.median(calls[name]) / 1e3:10.3f}" for name in engines)
    print(f"{work + ' ' + str(n):12}{medians}   " + ", ".join(against), flush=True)


def main():
    with tempfile.TemporaryDirectory() as folder:
        engines = {"other": Engine(sys.argv[1])} if len(sys.argv) > 1 else {}
        engines |= {"off": Engine(run.PLUGIN), "on": Engine(run.PLUGIN, TUTTI_TRACE=f"{folder}/trace.txt")}
        writer = run.Contender("jax")
        print(f"{'us':12}" + "".join(f"{name:>10}" for name in engines) + f"   against {next(iter(engines))}")
        for work, n in ROWS:
            path = f"{folder}/{work}_{n}.mlir"
            writer.ask(f"lower {work} {n} {path} 0")
            row(engines, path, work, n)
        for engine in engines.values():
            engine.end()


main()
