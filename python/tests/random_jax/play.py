"""Random JAX programs on our engine against JAX's own CPU backend.

    play.py FIRST COUNT          plays so many seeds on one device
    play.py --sharded ...        on 2, 4 or 8 devices
    play.py --show SEED          prints the program of a seed

Programs are played by a process of their own, which is started again behind a seed that ends or
stops it; what died, and where, is told.  Where XLA itself dies or refuses a program there is nothing
to compare with.  Exit status 0: no differences, and nobody died on our engine.
"""
import argparse
import json
import os
import select
import subprocess
import sys
import tempfile
import time

PER_PROCESS = 1000  # programs, before JAX's own tables are large
CPU_PATIENCE = 60  # seconds of a worker's own work without a word
PATIENCE = 900  # seconds of waiting for it, on a machine with other work


def environment(devices):
    env = {k: v for k, v in os.environ.items() if k not in ("TUTTI_DEVICES", "JAX_NUM_CPU_DEVICES")}
    return {**env, "JAX_PLATFORMS": "tutti,cpu", "PYTHONUNBUFFERED": "1", "XLA_FLAGS": " ".join([
        f"--xla_force_host_platform_device_count={devices}", "--xla_backend_optimization_level=0",
        "--xla_cpu_use_fusion_emitters=false", "--xla_allow_excess_precision=false"])}


def work(kind, first, count):
    """The worker: a line of JSON before each step, and one with the outcome of each program."""
    import warnings
    warnings.filterwarnings("ignore")
    import logging
    logging.disable(logging.WARNING)
    import both
    for seed in range(first, first + count):
        for step in both.steps(kind, seed):
            print(json.dumps({"seed": seed, **step}), flush=True)


def cpu_seconds(pid):
    with open(f"/proc/{pid}/stat") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def next_line(worker):
    """What a worker says next; b"" when it has ended, None when it has run or waited too long."""
    worked, since = cpu_seconds(worker.pid), time.monotonic()
    while not select.select([worker.stdout], [], [], 5)[0]:
        if (cpu_seconds(worker.pid) > worked + CPU_PATIENCE
                or time.monotonic() > since + PATIENCE):
            return None
    return worker.stdout.readline()


class Soak:
    """Workers one after the other, until all seeds are played."""

    def __init__(self, args):
        self.args, self.played, self.counts = args, 0, {}
        self.failed, self.started = [], time.monotonic()
        self.reported = self.started

    def run(self):
        seed, last = self.args.first, self.args.first + self.args.count
        while seed < last:
            seed = self.run_worker(seed, min(PER_PROCESS, last - seed))
        self.report("done")
        return bool(self.failed)

    def command(self, first, count):
        kind = ["--sharded"] * self.args.sharded
        return [sys.executable, __file__, "--work", *kind, str(first), str(count)]

    def run_worker(self, first, count):
        """Plays from `first` on; returns the seed to go on with."""
        stderr = tempfile.TemporaryFile()
        worker = subprocess.Popen(self.command(first, count), env=environment(8), bufsize=0,
                                  stdout=subprocess.PIPE, stderr=stderr)
        next_seed, doing = first, "starting"
        while line := next_line(worker):
            word = json.loads(line)
            doing = word.get("doing", doing)
            if "outcome" in word:
                self.note(word)
                next_seed = word["seed"] + 1
        if line is None:
            worker.kill()
        worker.communicate()
        stderr.seek(0)
        said = stderr.read()[-800:].decode(errors="replace")
        if next_seed < first + count:
            how = "stopped answering" if line is None else f"died with {worker.returncode}"
            outcome = "XLA died" if doing == "playing on cpu" else "dead"
            self.note({"seed": next_seed, "outcome": outcome,
                       "said": [f"{how} while {doing}", said]})
            next_seed += 1
        return next_seed

    def note(self, word):
        self.played += 1
        self.counts[word["outcome"]] = self.counts.get(word["outcome"], 0) + 1
        if word["outcome"] not in ("same", "refused", "XLA died"):
            self.failed.append(word["seed"])
            print(f"FAIL seed {word['seed']}: {word['outcome']}")
            for said in word["said"]:
                print("   ", said, flush=True)
        elif word["outcome"] != "same":
            print(f"seed {word['seed']} {word['outcome']}: {word['said'][0][:200]!r}", flush=True)
        if time.monotonic() > self.reported + 30:
            self.report("so far")

    def report(self, when):
        self.reported = time.monotonic()
        seconds = self.reported - self.started
        counts = ", ".join(f"{n} {what}" for what, n in sorted(self.counts.items()))
        print(f"{when}: {self.played} programs, {counts}; {seconds:.0f} s", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("first", type=int, nargs="?", default=0)
    parser.add_argument("count", type=int, nargs="?", default=100)
    parser.add_argument("--sharded", action="store_true")
    parser.add_argument("--show", type=int)
    parser.add_argument("--work", action="store_true")
    args = parser.parse_args()
    kind = "sharded" if args.sharded else "single"
    if args.show is not None:
        os.environ.update(environment(8))
        import both
        print(both.KINDS[kind](args.show).text())
    elif args.work:
        work(kind, args.first, args.count)
    else:
        sys.exit(Soak(args).run())


if __name__ == "__main__":
    main()
