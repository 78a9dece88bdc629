"""A variational autoencoder of dots, each device with its part of the batch."""
import jax
import jax.numpy as jnp
import optax
from jax import lax, random

ROWS, SEEN, HIDDEN, LATENT, STEPS = 64, 16, 24, 2, 41


def dense(p, x):
    return x @ p["w"] + p["b"]


def loss(net, key, x):
    mean, logvar = jnp.split(dense(net["code"], jnp.tanh(dense(net["in"], x))), 2, axis=1)
    z = mean + jnp.exp(0.5 * logvar) * random.normal(key, mean.shape)
    logits = dense(net["out"], jnp.tanh(dense(net["hidden"], z)))
    seen = optax.sigmoid_binary_cross_entropy(logits, x).sum(1)
    kl = (jnp.exp(logvar) + mean**2 - 1 - logvar).sum(1)
    return jnp.mean(seen + 0.5 * kl)


adam = optax.adam(1e-2)


def step(state, key, x):
    net, opt = state
    key = random.fold_in(key, lax.axis_index("batch"))
    value, grad = lax.pmean(jax.value_and_grad(loss)(net, key, x), "batch")
    updates, opt = adam.update(grad, opt)
    return (optax.apply_updates(net, updates), opt), value


key = random.key(5)
x = random.bernoulli(key, jnp.linspace(0.05, 0.95, SEEN), (ROWS, SEEN)).astype(jnp.float32)
net = {}
sizes = {"in": (SEEN, HIDDEN), "code": (HIDDEN, 2 * LATENT), "hidden": (LATENT, HIDDEN), "out": (HIDDEN, SEEN)}
for k, (name, (rows, columns)) in zip(random.split(key, 4), sizes.items()):
    net[name] = {"w": 0.3 * random.normal(k, (rows, columns)), "b": jnp.zeros(columns)}
state = net, adam.init(net)
x = x.reshape(jax.device_count(), -1, SEEN)
train = jax.pmap(step, axis_name="batch", in_axes=(None, None, 0), out_axes=None)
for i in range(STEPS):
    state, value = train(state, random.fold_in(key, i), x)
    if i % 10 == 0:
        print(f"step {i} loss {value:.4f}")
