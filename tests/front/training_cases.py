#!/usr/bin/env python3
"""Writes training_cases.txt: what optax makes of the steps and schedules of tests/unit/training_test.c.

    python tests/front/training_cases.py > tests/front/training_cases.txt      (needs jax, optax)
"""
import jax
import jax.numpy as jnp
import numpy as np
import optax

START = {"b": jnp.array([0.25]), "w": jnp.array([0.5, -1.0, 2.0])}
STEPS = 5


def slopes(p):
    return {"b": p["b"] ** 2 - 3, "w": 2 * p["w"]}


def say(name, *numbers):
    print(name, *(repr(float(x)) for x in numbers))


def steps(name, optimiser):
    params, state = START, optimiser.init(START)
    for _ in range(STEPS):
        updates, state = optimiser.update(slopes(params), state, params)
        params = optax.apply_updates(params, updates)
    say(name, *params["w"], *params["b"])


steps("adam", optax.adam(0.1))
steps("adamw", optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(0.05, b2=0.95, weight_decay=0.1)))
steps("sgd", optax.sgd(0.05))
steps("momentum", optax.sgd(0.05, momentum=0.9))
steps("nesterov", optax.sgd(0.05, momentum=0.9, nesterov=True))
steps("rmsprop", optax.rmsprop(0.05))
steps("rmsprop_clip", optax.chain(optax.clip_by_global_norm(0.5), optax.rmsprop(0.05, decay=0.95, eps=1e-3)))
steps("lion", optax.lion(0.05, weight_decay=0.0))
steps("lion_decay", optax.lion(0.02, b1=0.8, b2=0.95, weight_decay=0.1))
clip = optax.clip(0.75)
clipped = clip.update(START, clip.init(START))[0]
say("clip_value", *clipped["w"], *clipped["b"])
slow = {"b": jnp.zeros(1), "w": jnp.ones(3)}
slow = optax.incremental_update(START, slow, 1 - 0.9)
say("ema", *slow["w"], *slow["b"])

AT = [0, 1, 7, 20, 35, 60, 200]
for name, schedule in {
    "warmup_cosine": optax.warmup_cosine_decay_schedule(0.0, 2.0, 10, 110, 0.5),
    "cosine": optax.cosine_decay_schedule(0.4, 50, alpha=0.25),
    "linear": optax.linear_schedule(1.0, 0.1, 40),
    "exponential": optax.exponential_decay(0.8, 20, 0.5),
    "piecewise": optax.piecewise_constant_schedule(1.0, {7: 0.1, 60: 0.5}),
}.items():
    say(name, *(schedule(jnp.int32(t)) for t in AT))
order = jax.random.permutation(jax.random.key(3), 11)[:8].reshape(2, 4)
say("minibatches", *np.asarray(order).ravel())
