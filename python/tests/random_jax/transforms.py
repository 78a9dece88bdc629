"""Lines that call functions grown here: mapped, differentiated, in loops and branches."""
import data
from grow import grow_lines
from program import Kind, Value


def arguments_of(f, most=3, want=lambda v: True):
    """Some values to call a function with, or []."""
    found = {}
    for _ in range(f.rng.randint(1, most)):
        v = f.pick(want)
        if v:
            found[v.name] = v
    return list(found.values())


def params_like(f, values):
    return [Value(f.maker.fresh("p"), v.shape, v.dtype, v.exact) for v in values]


def names_of(values):
    return ", ".join(map(str, values))


def choose_results(g, most=2):
    """Some of its values are what a function returns: the last, and others not used before."""
    made = [v for v in g.values if v not in g.params] or g.values
    g.results = made[-1:] + g.rng.sample(made[:-1], min(len(made) - 1, g.rng.randint(0, most - 1)))


def call(f, text, functions, results, kind=Kind.MOVE):
    """A line that calls functions; its results are as exact as theirs."""
    return f.add(kind, text, functions, [v.exact for v in results])


def plain(f):
    """A function called as it is, compiled for itself, or computed again when differentiated."""
    args = arguments_of(f)
    g = f.inner(params_like(f, args))
    grow_lines(g, f.rng.randint(1, 3))
    choose_results(g)
    how = f.rng.choice(["jax.jit({})", "jax.checkpoint({})", "{}"]).format(g.name)
    return call(f, f"{how}({names_of(args)})", [g], g.results)


def vmap(f):
    rng, x = f.rng, f.pick(lambda v: v.rank > 0)
    if x is None:
        return None
    n = rng.choice(x.shape)
    args = [x] + [a for a in arguments_of(f, 2) if a is not x]
    axes, params = [], params_like(f, args)
    for i, (v, p) in enumerate(zip(args, params)):
        fitting = [d for d in range(v.rank) if v.shape[d] == n]
        axis = rng.choice(fitting) if fitting and (i == 0 or rng.random() < 0.7) else None
        if axis is not None:
            params[i] = Value(p.name, v.shape[:axis] + v.shape[axis + 1:], v.dtype, v.exact)
        axes.append(axis)
    name = f.maker.fresh("k")
    named = {name: n} if rng.random() < 0.3 and n > 0 else {}
    g = f.inner(params, axes={**f.axes, **named})
    grow_lines(g, rng.randint(1, 3))
    choose_results(g)
    out = tuple(rng.randint(0, v.rank) for v in g.results)
    with_name = f", axis_name='{name}'" if named else ""
    return call(f, f"jax.vmap({g.name}, in_axes={tuple(axes)}, out_axes={out}{with_name})"
                   f"({names_of(args)})", [g], g.results)


def is_differentiable(v):
    return v.dtype in ("bfloat16", "float16", "float32", "float64")


def differentiated(f):
    """A smooth function, its arguments, and which of them it is differentiated by."""
    args = arguments_of(f, want=lambda v: v.size < 3000)
    by = [i for i, v in enumerate(args) if is_differentiable(v)]
    if not by:
        return None
    g = f.inner(params_like(f, args), smooth=True)
    grow_lines(g, f.rng.randint(1, 4))
    by = f.rng.sample(by, f.rng.randint(1, len(by)))
    made = [v for v in g.values if is_differentiable(v) and v not in g.params]
    return (g, args, by, made) if made else None


def grad(f):
    drawn = differentiated(f)
    if not drawn:
        return None
    g, args, by, made = drawn
    loss = g.add(Kind.ROUND, " + ".join(f"jnp.sum({v}).astype(jnp.float32)" for v in made[-2:]))
    if not loss:
        return None
    g.results = loss
    which = "jax.grad" if f.rng.random() < 0.7 else "jax.jacrev"
    return rounded(f, f"{which}(lambda *a: {g.name}(*a)[0], {tuple(by)})({names_of(args)})", [g])


def rounded(f, text, functions):
    """A call whose results, as far as they are floats, are rounded."""
    return f.add(Kind.ROUND, text, functions, [False] * 99)


def jvp(f):
    drawn = differentiated(f)
    if not drawn:
        return None
    g, args, _, made = drawn
    by = [v for v in args if is_differentiable(v)]
    g.results = made[-1:]
    given = [v.name if v in by else f"`{v.name}`" for v in args]
    inner = f"lambda {', '.join(v.name for v in by)}: {g.name}({', '.join(given)})[0]"
    tangents = "".join(f"jnp.cos({v}), " for v in by)
    return rounded(f, f"jax.jvp({inner}, ({names_of(by)},), ({tangents}))", [g])


def vjp(f):
    drawn = differentiated(f)
    if not drawn:
        return None
    g, args, _, made = drawn
    by = [v for v in args if is_differentiable(v)]
    g.results = made[-1:]
    given = [v.name if v in by else f"`{v.name}`" for v in args]
    inner = f"lambda {', '.join(v.name for v in by)}: {g.name}({', '.join(given)})[0]"
    return rounded(f, f"(lambda y, back: back(jnp.sin(y)))(*jax.vjp({inner}, {names_of(by)}))", [g])


def custom(f):
    """A function with a derivative of its own, differentiated."""
    x = f.pick(is_differentiable)
    if x is None:
        return None
    h = f.rng.choice(["jnp.sin", "jnp.tanh", "jnp.exp"])
    text = (f"(lambda h: (h.defvjp(lambda x: ({h}(x), x), lambda x, t: (t * jnp.cos(x),)), "
            f"jax.grad(lambda x: jnp.sum(h(x) * x).astype(jnp.float32))({x}))[1])"
            f"(jax.custom_vjp({h}))")
    return f.add(Kind.ROUND, text)


def carried(f, v):
    """A parameter that a loop hands on: from the second time round it is a rounded number."""
    return Value(f.maker.fresh("c"), v.shape, v.dtype, v.exact and not v.is_inexact_number)


def hand_on(g, param):
    """A value of the type of `param`, to be handed on: one that was grown, or made of it."""
    same = [v for v in g.values if v is not param and v.shape == param.shape
            and v.dtype == param.dtype]
    if same:
        return same[-1]
    if param.dtype == "bool":
        made = g.add(Kind.JUMP, f"~{param}")
    elif not param.is_inexact_number:
        made = g.add(Kind.JUMP, f"{param} * {param} + jnp.{param.dtype}(1)")
    elif data.is_complex(param.dtype):
        made = g.add(Kind.ROUND, f"{param} * jnp.{param.dtype}(0.5)")
    else:
        made = g.add(Kind.ROUND, f"jnp.sin({param})")
    return made[0] if made else param


def scan(f):
    rng = f.rng
    x = f.pick(lambda v: v.rank > 0 and v.shape[0] < 20)
    carry = f.pick(lambda v: v.size < 500)
    if x is None or carry is None:
        return None
    c = carried(f, carry)
    p = Value(f.maker.fresh("p"), x.shape[1:], x.dtype, x.exact)
    g = f.inner([c, p])
    grow_lines(g, rng.randint(1, 3))
    choose_results(g)
    outs = list(g.results)
    after = hand_on(g, c)
    g.results = [after, *outs]
    unroll = rng.choice([1, 1, 2])
    text = (f"(lambda c, ys: (c, *ys))(*lax.scan(lambda c, x: (lambda c, *ys: (c, ys))"
            f"(*{g.name}(c, x)), {carry}, {x}, reverse={rng.choice([True, False])}, "
            f"unroll={unroll}))")
    return call(f, text, [g], [rest(c), *outs])


def rest(c):
    """What a loop leaves of what it handed on."""
    return Value(c.name, c.shape, c.dtype, not c.is_inexact_number)


def loop(f):
    """fori_loop, or a while_loop that counts."""
    rng, carry = f.rng, f.pick(lambda v: v.size < 500)
    if carry is None:
        return None
    c, i = carried(f, carry), Value(f.maker.fresh("i"), (), "int32", True)
    n = rng.randint(0, 4)
    is_while = rng.random() < 0.5
    bound = f.pick(lambda v: data.is_integer(v.dtype) and v.size) if is_while else None
    g = f.inner([i, c], together=f.together and bound is None)
    grow_lines(g, rng.randint(1, 3))
    g.results = [hand_on(g, c)]
    if not is_while:
        if f.smooth or rng.random() < 0.7:
            text = f"lax.fori_loop(0, {n}, lambda i, c: {g.name}(i.astype('int32'), c)[0], {carry})"
        else:
            text = f"lax.fori_loop(jnp.int32(0), jnp.int32({n}), lambda i, c: {g.name}(i, c)[0], {carry})"
    elif f.smooth:
        return None  # JAX does not differentiate it backwards
    else:
        most = f"(jnp.ravel({bound})[0].astype('int32') & 3)" if bound else f"{n}"
        text = (f"lax.while_loop(lambda s: s[0] < {most}, "
                f"lambda s: (s[0] + 1, {g.name}(*s)[0]), (jnp.int32(0), {carry}))[1]")
    return call(f, text, [g], [rest(c)])


def branch(f):
    """cond or switch: branches give values of the type of their first argument."""
    rng, args = f.rng, arguments_of(f, 2, lambda v: v.size < 2000)
    on = f.pick(lambda v: v.size and v.size < 100, exact=True)
    if not args or on is None:
        return None
    functions = []
    for _ in range(rng.choice([2, 2, 3])):
        g = f.inner(params_like(f, args), together=False)
        grow_lines(g, rng.randint(1, 2))
        g.results = [hand_on(g, g.params[0])]
        functions.append(g)
    names = ", ".join(g.name for g in functions)
    exact = Value("x", (), args[0].dtype, all(g.results[0].exact for g in functions))
    if len(functions) == 2 and rng.random() < 0.7:
        text = f"lax.cond(jnp.any({on} != 0), {names}, {names_of(args)})"
    else:
        which = f"jnp.sum({on} != 0).astype('int32') % 4 - 1"
        text = f"lax.switch({which}, [{names}], {names_of(args)})"
    return call(f, text, functions, [exact])


PROPOSALS = {plain: 3, vmap: 5, grad: 5, jvp: 3, vjp: 3, custom: 1, scan: 4, loop: 4, branch: 4}
