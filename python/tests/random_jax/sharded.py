"""Random programs on several devices: what a seed says, and how each backend plays it.

Three ways, by the seed: jit with shardings of arguments, values and results, against one device;
shard_map over a mesh, and pmap, with collectives, against as many devices of JAX's CPU backend.
"""
import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

import collectives
import constraints
from grow import Program, defined, draw_arguments
from program import doubled, write

MESHES = [(2,), (4,), (8,), (2, 2), (2, 4), (4, 2), (2, 2, 2)]
AXES = "xyz"


def program_of(seed):
    return [Placed, Mapped, Pmapped][seed % 3](seed)


class OnMesh(Program):
    """A program and its mesh, the names of whose axes have sizes in `sizes`."""

    def draw(self, maker):
        self.shape = maker.rng.choice(MESHES)
        self.sizes = maker.mesh = dict(zip(AXES, self.shape))

    def devices(self, backend):
        return np.array(jax.devices(backend)[:int(np.prod(self.shape))]).reshape(self.shape)

    def mesh(self, backend):
        return Mesh(self.devices(backend), tuple(self.sizes))

    def sharding(self, backend, spec):
        return NamedSharding(self.mesh(backend), PartitionSpec(*spec))

    def head(self):
        return (f"from jax.sharding import Mesh, NamedSharding, PartitionSpec\n"
                f"mesh = Mesh(np.array(jax.devices()[:{int(np.prod(self.shape))}])"
                f".reshape({self.shape}), {tuple(self.sizes)})\n")


class Placed(OnMesh):
    """jit with shardings; on JAX's CPU backend the same function without."""

    def __init__(self, seed):
        super().__init__(seed, [(constraints, 4)])

    def draw(self, maker):
        super().draw(maker)
        params, drawn = draw_arguments(maker)
        self.specs = [constraints.draw_spec(maker.rng, p.shape, self.sizes) for p in params]
        return params, drawn, {}

    def finish(self, maker):
        self.out = [constraints.draw_spec(maker.rng, v.shape, self.sizes)
                    if maker.rng.random() < 0.6 else None for v in self.function.results]

    def played(self, backend):
        if backend == "cpu":
            f = defined(write(self.function), self.function.name, constrain=lambda x, *spec: x)
            return jax.jit(f)(*self.on(jax.devices("cpu")[0]))
        return self.placed(backend)

    def placed(self, backend):
        def constrain(x, *spec):
            return jax.lax.with_sharding_constraint(x, self.sharding(backend, spec))
        f = defined(write(self.function), self.function.name, constrain=constrain)
        out = tuple(None if s is None else self.sharding(backend, s) for s in self.out)
        arguments = [jax.device_put(a, self.sharding(backend, s))
                     for a, s in zip(self.arguments(), self.specs)]
        return jax.jit(f, out_shardings=out)(*arguments)

    def is_refused_by_jax(self):
        try:
            self.placed("cpu")
        except Exception:  # noqa: BLE001: whatever JAX says
            return True
        return False

    def reference(self, noise):
        return defined(doubled(write(self.function, reference=True)), self.function.name,
                       noise=noise, constrain=lambda x, *spec: x)

    def text(self):
        given = ", ".join(f"jax.device_put(array{d}, at{s!r})" for d, s in zip(self.drawn, self.specs))
        out = ", ".join("None" if s is None else f"at{s!r}" for s in self.out)
        return (f"{self.text_head()}{self.head()}\n"
                "def at(*spec):\n    return NamedSharding(mesh, PartitionSpec(*spec))\n\n"
                "def constrain(x, *spec):\n    return lax.with_sharding_constraint(x, at(*spec))\n\n"
                f"{write(self.function)}\n"
                f"print(jax.jit({self.function.name}, out_shardings=({out},))({given}))")


class Mapped(OnMesh):
    """shard_map: every result gets a dimension of all devices, so that each one's is seen."""

    def __init__(self, seed):
        super().__init__(seed, [(collectives, 12)])

    def draw(self, maker):
        super().draw(maker)
        params, drawn = draw_arguments(maker)
        self.specs = []
        for i, (p, d) in enumerate(zip(params, drawn)):
            spec, whole = self.draw_spec(maker.rng, p.shape)
            self.specs.append(spec)
            drawn[i] = (d[0], whole, *d[2:])
        return params, drawn, dict(self.sizes)

    def draw_spec(self, rng, shape):
        """Which axes cut which dimension of an argument, and its shape before it is cut."""
        spec, whole = [[] for _ in shape], list(shape)
        for name, size in self.sizes.items():
            if shape and rng.random() < 0.7:
                d = rng.randrange(len(shape))
                spec[d].append(name)
                whole[d] *= size
        return tuple(tuple(names) or None for names in spec), tuple(whole)

    def wrapped(self, f, backend):
        every = PartitionSpec(tuple(self.sizes))
        return jax.shard_map(lambda *a: tuple(v[None] for v in f(*a)), mesh=self.mesh(backend),
                             in_specs=tuple(PartitionSpec(*s) for s in self.specs),
                             out_specs=every, check_vma=False)

    def played(self, backend):
        f = defined(write(self.function), self.function.name)
        arguments = [jax.device_put(a, self.sharding(backend, s))
                     for a, s in zip(self.arguments(), self.specs)]
        return jax.jit(self.wrapped(f, backend))(*arguments)

    def reference(self, noise):
        f = defined(doubled(write(self.function, reference=True)), self.function.name, noise=noise)
        return self.wrapped(f, "cpu")

    def home(self):
        return self.sharding("cpu", ())

    def text(self):
        given = ", ".join(f"array{d}" for d in self.drawn)
        specs = ", ".join(f"PartitionSpec{s!r}" for s in self.specs)
        return (f"{self.text_head()}{self.head()}\n{write(self.function)}\n"
                f"mapped = jax.shard_map(lambda *a: tuple(v[None] for v in {self.function.name}(*a)),"
                f" mesh=mesh,\n    in_specs=({specs},), "
                f"out_specs=PartitionSpec({tuple(self.sizes)}), check_vma=False)\n"
                f"print(jax.jit(mapped)({given}))")


class Pmapped(Program):
    """pmap over 2, 4 or 8 devices."""

    def __init__(self, seed):
        super().__init__(seed, [(collectives, 12)])

    def draw(self, maker):
        rng = maker.rng
        self.n = rng.choice([2, 4, 8])
        params, drawn = draw_arguments(maker)
        self.in_axes = [rng.randint(0, p.rank) if i == 0 or rng.random() < 0.7 else None
                        for i, p in enumerate(params)]
        for i, axis in enumerate(self.in_axes):
            if axis is not None:
                shape = drawn[i][1]
                drawn[i] = (drawn[i][0], shape[:axis] + (self.n,) + shape[axis:], *drawn[i][2:])
        return params, drawn, {"i": self.n}

    def finish(self, maker):
        self.out_axes = tuple(maker.rng.randint(0, v.rank) for v in self.function.results)

    def mapped(self, f, backend):
        return jax.pmap(f, axis_name="i", in_axes=tuple(self.in_axes), out_axes=self.out_axes,
                        devices=jax.devices(backend)[:self.n])

    def played(self, backend):
        f = defined(write(self.function), self.function.name)
        return self.mapped(f, backend)(*self.arguments())

    def reference(self, noise):
        f = defined(doubled(write(self.function, reference=True)), self.function.name, noise=noise)
        return self.mapped(f, "cpu")

    def home(self):
        mesh = Mesh(np.array(jax.devices("cpu")[:self.n]), ("i",))
        return NamedSharding(mesh, PartitionSpec())

    def text(self):
        given = ", ".join(f"array{d}" for d in self.drawn)
        return (f"{self.text_head()}\n{write(self.function)}\n"
                f"mapped = jax.pmap({self.function.name}, axis_name='i', "
                f"in_axes={tuple(self.in_axes)}, out_axes={self.out_axes}, "
                f"devices=jax.devices()[:{self.n}])\nprint(mapped({given}))")
