"""One step of a pmap under JAX's profiler, as a line of JSON: [[name, [[begin, end, kind, name] ...]] ...]."""
import glob
import gzip
import json
import re
import tempfile

import jax
import jax.numpy as jnp
import numpy as np

n = jax.device_count()


def step(w, x):
    slope = jax.grad(lambda w: jnp.mean(jnp.tanh(x @ w) ** 2))(w)
    return w - 0.1 * jax.lax.pmean(slope, "i")


train = jax.pmap(step, axis_name="i")
w, x = np.ones((n, 64, 64), np.float32), np.ones((n, 64, 64), np.float32)
for _ in range(20):
    w = jax.block_until_ready(train(w, x))
folder = tempfile.mkdtemp()
with jax.profiler.trace(folder):
    for i in range(21):
        with jax.profiler.StepTraceAnnotation("a step", step_num=i):
            w = jax.block_until_ready(train(w, x))
events = json.load(gzip.open(glob.glob(f"{folder}/**/*.trace.json.gz", recursive=True)[0]))["traceEvents"]
names = {(e["pid"], e.get("tid")): e["args"]["name"] for e in events
         if e.get("name") in ("thread_name", "process_name")}


def kind_of(name):
    if re.search(r"all.reduce|psum|collective", name, re.I):
        return "collective"
    return "wait" if re.search(r"wait|rendezvous|barrier", name, re.I) else "kernel"


def lane_of(e):
    """Whose track an event belongs to; None: it is no work of the step."""
    process, thread = names.get((e["pid"], None), ""), names.get((e["pid"], e["tid"]), "")
    if jax.default_backend() == "tutti":
        is_device = process.startswith("/device:") and thread != "XLA Modules"
        return "device " + process.split()[0].split(":")[2] if is_device else None
    is_work = re.match(r"[a-z_.-]+(\.\d+)?$|.*[Rr]endezvous.*", e["name"])
    return thread if thread.startswith("tf_") and is_work else None


def during(step):
    """By lane: what was done in that step."""
    lanes = {}
    for e in events:
        if e.get("ph") == "X" and step["ts"] <= e["ts"] < step["ts"] + step["dur"] and lane_of(e):
            lanes.setdefault(lane_of(e), []).append((e["ts"], e["ts"] + e["dur"], kind_of(e["name"]), e["name"]))
    return lanes


steps = sorted((e for e in events if e.get("ph") == "X" and e["name"] == "a step"), key=lambda e: e["dur"])
lanes = during(steps[0])  # the fastest, as others may be at work on the machine
first = min(s[0] for slices in lanes.values() for s in slices)
print(json.dumps([[name if name.startswith("device") else f"thread {i}",
                   [[a - first, b - first, kind, what] for a, b, kind, what in sorted(lanes[name])]]
                  for i, name in enumerate(sorted(lanes))]))
