"""Programs that run for long, or ahead of whoever reads their results.

    JAX_PLATFORMS=tutti TUTTI_DEVICES=8 long_programs.py loop [STEPS]

loop      training steps of an MLP 784-512-512-10 under pmap, none of which is waited for;
          JAX_PLATFORMS=cpu XLA_FLAGS=--xla_force_host_platform_device_count=4 plays it on JAX's backend
flight    so many different programs under way at once, on all devices, each checked
programs  so many different programs, one after the other, in one process
mixed     arrays and executables made and dropped in any order, from four threads
bounded   a loop that nobody waits for on devices of little memory (TUTTI_DEVICE_MEMORY=64M)

Each prints a line that says what came out, and the most memory that the process had, in MiB; it ends with
an error when a value is wrong.
"""
import gc
import random
import resource
import sys
import threading
import time

import jax
import jax.numpy as jnp
import numpy as np

SIZES = (784, 512, 512, 10)
ROWS = 512  # of a step, over all devices


def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize() >> 20


def network(seed=0):
    rng = np.random.default_rng(seed)
    pairs = zip(SIZES, SIZES[1:])
    return [(rng.normal(size=s).astype(np.float32) / np.sqrt(s[0]), np.zeros(s[1], np.float32)) for s in pairs]


def data(n, seed=1):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, ROWS // n, SIZES[0])).astype(np.float32)
    return x, np.eye(SIZES[-1], dtype=np.float32)[rng.integers(SIZES[-1], size=(n, ROWS // n))]


def loss_of(params, x, y):
    for w, b in params[:-1]:
        x = jnp.maximum(x @ w + b, 0)
    w, b = params[-1]
    return -jnp.mean(jnp.sum(jax.nn.log_softmax(x @ w + b) * y, -1))


def step(params, x, y):
    loss, slopes = jax.value_and_grad(loss_of)(params, x, y)
    slopes = jax.lax.pmean(slopes, "devices")
    return jax.tree.map(lambda p, g: p - 0.01 * g, params, slopes), jax.lax.pmean(loss, "devices")


def numpy_losses(steps, x, y):
    """The same steps in double precision, in NumPy."""
    params = [(w.astype(float), b.astype(float)) for w, b in network()]
    x, y = x.reshape(ROWS, -1).astype(float), y.reshape(ROWS, -1).astype(float)
    losses = []
    for _ in range(steps):
        values = [x]
        for w, b in params[:-1]:
            values.append(np.maximum(values[-1] @ w + b, 0))
        logits = values[-1] @ params[-1][0] + params[-1][1]
        log_p = logits - logits.max(-1, keepdims=True)
        log_p -= np.log(np.exp(log_p).sum(-1, keepdims=True))
        losses.append(-(log_p * y).sum(-1).mean())
        slope = (np.exp(log_p) - y) / ROWS
        for i in reversed(range(len(params))):
            w, b = params[i]
            params[i] = w - 0.01 * values[i].T @ slope, b - 0.01 * slope.sum(0)
            slope = slope @ w.T * (values[i] > 0)
    return losses


def loop(steps=1000):
    n = jax.local_device_count()
    x, y = data(n)
    params = jax.device_put_replicated(network(), jax.devices()) if hasattr(
        jax, "device_put_replicated") else jax.tree.map(lambda p: np.stack([p] * n), network())
    f = jax.pmap(step, axis_name="devices")
    losses, began = [], time.monotonic()
    for _ in range(steps):
        params, loss = f(params, x, y)
        losses.append(loss)
    launched = time.monotonic() - began
    got = [float(loss[0]) for loss in losses]
    np.testing.assert_allclose(got[:20], numpy_losses(min(20, steps), x, y)[:20], rtol=1e-4)
    assert all(later < sooner for sooner, later in zip(got, got[1:50]))
    print(f"loop: {steps} steps on {n} devices, launched in {launched:.1f} s, done in "
          f"{time.monotonic() - began:.1f} s, loss {got[0]:.4f} to {got[-1]:.4f}, {peak()} MiB")


def flight(count=50):
    n = jax.local_device_count()
    x = np.random.default_rng(2).normal(size=(n, 64, 64)).astype(np.float32) / 8

    def program(k):
        def f(x):
            y, _ = jax.lax.scan(lambda y, _: (jax.lax.psum(y @ x, "d") / n, None), x, length=20 + k)
            return y * (k + 1)
        return jax.pmap(f, axis_name="d")

    def expected(k):
        y = x.astype(float)
        for _ in range(20 + k):
            y = np.broadcast_to((y @ x).sum(0) / n, x.shape)
        return y * (k + 1)

    programs = [program(k).lower(x).compile() for k in range(count)]
    results = [p(x) for p in programs]
    for k, result in enumerate(results):
        want = expected(k)
        np.testing.assert_allclose(result, want, rtol=1e-3, atol=1e-4 * np.abs(want).max())
    print(f"flight: {count} programs under way on {n} devices, {peak()} MiB")


def programs(count=10000):
    sizes = []
    for k in range(count):
        f = jax.jit(lambda x: (x * (k % 97 + 1) + k).sum())  # a function of its own, and other numbers
        x = np.arange(3 + k % 61, dtype=np.float32)
        assert float(f(x)) == float(np.float32((x * (k % 97 + 1) + k).sum())), k
        del f
        if k % max(1, count // 10) == count // 10 - 1:
            gc.collect()
            sizes.append(resident())
    print(f"programs: {count}; MiB in use behind every tenth of them: {' '.join(map(str, sizes))}")
    return sizes


def mixed(rounds=400):
    def play(seed):
        rng, held, calls = random.Random(seed), [], []
        for i in range(rounds):
            if not calls or rng.random() < 0.05:
                k = rng.randrange(1000)
                shape = (rng.randrange(1, 50), 8)
                calls.append((jax.jit(lambda x, k=k: x * 2 + k).lower(jnp.zeros(shape)).compile(), k, shape))
            call, k, shape = rng.choice(calls)
            held.append((call(np.full(shape, i, np.float32)), 2 * i + k))
            while len(held) > 20 or (held and rng.random() < 0.3):
                array, value = held.pop(rng.randrange(len(held)))
                if rng.random() < 0.3:
                    assert (np.asarray(array) == value).all()
            if len(calls) > 5:
                calls.pop(rng.randrange(len(calls)))
        ended.append(seed)

    ended = []
    threads = [threading.Thread(target=play, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(ended) == [0, 1, 2, 3]
    print(f"mixed: {rounds} rounds of 4 threads, {peak()} MiB")


def bounded(steps=200):
    """Each step makes 4 MiB that the next one takes; all of them would be 800 MiB."""
    n = jax.local_device_count()
    f = jax.pmap(lambda x: jnp.sin(x) @ x / 1024 + x)
    x = np.ones((n, 1024, 1024), np.float32)
    y = f(x)
    for _ in range(steps):
        y = f(y)
    assert bool(jnp.isfinite(y).all())
    most = max(d.memory_stats()["peak_bytes_in_use"] for d in jax.devices())
    print(f"bounded: {steps} steps, at most {most >> 20} MiB on a device")


if __name__ == "__main__":
    words = sys.argv[1:] or ["loop"]
    globals()[words[0]](*map(int, words[1:]))
