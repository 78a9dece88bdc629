"""One JAX contender of the benchmarks: JAX's own CPU backend, Tutti's plugin, or the null one.

Reads a command a line, answers with a line of JSON, like ours.c:

    call NAME NDEVICES COUNT      times of COUNT calls, each waited for, in ns, and the CPU time of
                                  all threads for all of them
    compile NAME NDEVICES SEED    time to compile (lowered before), in ns
    trace NAME NDEVICES COUNT     times to trace and lower a function not seen before, in ns
    lower NAME NDEVICES PATH SEED write the StableHLO text of that work to PATH
    forget NAME NDEVICES          lets go of the arguments of that work
    memory                        peak of this process, in bytes

The platform comes from JAX_PLATFORMS, devices from XLA_FLAGS.
"""
import json
import resource
import sys
import time

import jax
import jax.numpy as jnp
import numpy as np

import works


def placed(work, n):
    """The arguments of `work`, on the devices as the mapped function wants them."""
    fn, args = works.mapped(work, n)
    compiled = fn.lower(*args).compile()
    shardings = compiled.input_shardings[0]
    return fn, jax.device_put(args, list(shardings))


cache = {}


def call(name, n, count):
    if (name, n) not in cache:
        cache[name, n] = placed(name, n)
        fn, args = cache[name, n]
        jax.block_until_ready(fn(*args))
    fn, args = cache[name, n]
    times = []
    cpu = time.process_time_ns()
    for _ in range(count):
        start = time.perf_counter_ns()
        jax.block_until_ready(fn(*args))
        times.append(time.perf_counter_ns() - start)
    return {"ns": times, "cpu_ns": time.process_time_ns() - cpu}


def compile_(name, n, seed):
    fn, args = works.mapped(name, n, seed)
    lowered = fn.lower(*args)
    start = time.perf_counter_ns()
    lowered.compile()
    return {"ns": [time.perf_counter_ns() - start]}


def trace(name, n, count):
    times = []
    for _ in range(count):
        fn, args = works.mapped(name, n)  # a new function, so that nothing is remembered
        start = time.perf_counter_ns()
        fn.lower(*args)
        times.append(time.perf_counter_ns() - start)
    return {"ns": times}


def lower(name, n, path, seed):
    fn, args = works.mapped(name, n, seed)
    with open(path, "w") as file:
        file.write(fn.lower(*args).as_text())
    return {}


def main():
    for line in sys.stdin:
        word, *rest = line.split()
        if word == "call":
            answer = call(rest[0], int(rest[1]), int(rest[2]))
        elif word == "compile":
            answer = compile_(rest[0], int(rest[1]), int(rest[2]))
        elif word == "trace":
            answer = trace(rest[0], int(rest[1]), int(rest[2]))
        elif word == "lower":
            answer = lower(rest[0], int(rest[1]), rest[2], int(rest[3]))
        elif word == "forget":
            cache.pop((rest[0], int(rest[1])), None)
            answer = {}
        else:
            answer = {"bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024}
        print(json.dumps(answer), flush=True)


main()
