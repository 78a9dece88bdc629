"""Lines that say how a value lies on the devices of a mesh."""
from program import Kind


def draw_spec(rng, shape, sizes):
    """For each dimension the axes that cut it: those that divide it, each once."""
    left, spec = list(sizes), []
    rng.shuffle(left)
    for n in shape:
        taken = []
        while left and n and n % sizes[left[-1]] == 0 and rng.random() < 0.5:
            name = left.pop()
            taken.append(name)
            n //= sizes[name]
        spec.append(None if not taken else taken[0] if len(taken) == 1 else tuple(taken))
    return tuple(spec)


def constrain(f):
    x = f.pick()
    if f.axes:  # a value of a mapped function has lost a dimension
        return None
    spec = draw_spec(f.rng, x.shape, f.maker.mesh)
    return f.add(Kind.MOVE, f"constrain({', '.join([str(x), *map(repr, spec)])})")


PROPOSALS = {constrain: 1}
