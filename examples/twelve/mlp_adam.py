"""A perceptron that classifies, by minibatches in a new order every epoch, with Adam."""
import jax
import jax.numpy as jnp
import optax
from jax import lax, random

ROWS, IN, WIDTH, CLASSES, BATCH = 512, 4, 32, 3, 64


def dense(key, rows, columns):
    return {"w": random.normal(key, (rows, columns)) / rows**0.5, "b": jnp.zeros(columns)}


def apply(p, x):
    return x @ p["w"] + p["b"]


def loss(net, x, y):
    logits = apply(net["out"], jnp.tanh(apply(net["hidden"], x)))
    return optax.softmax_cross_entropy_with_integer_labels(logits, y).mean()


adam = optax.adam(1e-2)


def step(state, x, y):
    net, opt = state
    value, grad = lax.pmean(jax.value_and_grad(loss)(net, x, y), "batch")
    updates, opt = adam.update(grad, opt)
    return (optax.apply_updates(net, updates), opt), value


k = random.split(random.key(1), 3)
x = random.normal(k[0], (ROWS, IN))
y = jnp.argmax(x[:, :CLASSES] * x[:, 1 : CLASSES + 1], 1)
net = {"hidden": dense(k[1], IN, WIDTH), "out": dense(k[2], WIDTH, CLASSES)}
state = net, adam.init(net)
n = jax.device_count()
train = jax.pmap(step, axis_name="batch", in_axes=(None, 0, 0), out_axes=None)
for epoch in range(10):
    order = random.permutation(random.fold_in(k[0], epoch), ROWS)
    for rows in order.reshape(-1, n, BATCH // n):
        state, value = train(state, x[rows], y[rows])
    print(f"epoch {epoch} loss {value:.4f}")
