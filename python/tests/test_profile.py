"""JAX's own profiler on our engine: devices, kernels, collectives and their sources, read back."""
from test_seam import play

SETUP = """
import collections, glob, gzip, json, tempfile
DEVICES, STEPS = 4, 3

def step(w, x):
    slope = jax.grad(lambda w: jnp.mean(jnp.tanh(x @ w) ** 2))(w)
    return w - 0.1 * jax.lax.pmean(slope, "i")

train = jax.pmap(step, axis_name="i", devices=jax.devices()[:DEVICES])
w = np.ones((DEVICES, 64, 64), np.float32)
x = np.ones((DEVICES, 32, 64), np.float32)
w = jax.block_until_ready(train(w, x))  # compiled before anybody looks

def profile(**options):
    global w, files
    folder = tempfile.mkdtemp()
    chosen = jax.profiler.ProfileOptions()
    for name, value in options.items():
        setattr(chosen, name, value)
    with jax.profiler.trace(folder, profiler_options=chosen):
        for _ in range(STEPS):
            w = train(w, x)
        jax.block_until_ready(w)
    files = {kind: glob.glob(f"{folder}/**/*.{kind}", recursive=True) for kind in ("xplane.pb", "trace.json.gz")}
    return jax.profiler.ProfileData.from_file(files["xplane.pb"][0]), json.load(gzip.open(files["trace.json.gz"][0]))
"""


def test_training_step_read_back(python):
    play(python, SETUP + """
data, timeline = profile()
planes = {p.name: {line.name: list(line.events) for line in p.lines} for p in data.planes}
ours = [f"/device:TPU:{d}" for d in range(DEVICES)]
assert [p for p in sorted(planes) if p.startswith("/device:")] == ours, planes.keys()
flows = collections.defaultdict(list)
for name in ours:
    lines = planes[name]
    modules, ops = lines["XLA Modules"], lines["XLA Ops"]
    assert len(modules) == STEPS
    contexts = [dict(e.stats)["_c"] for e in modules]
    assert len(set(contexts)) == STEPS  # one call of Python's for each
    meetings = [e for e in ops if e.name == "all_reduce"]
    assert len(meetings) == STEPS
    for e in meetings:
        flows[dict(e.stats)["flow"] >> 2].append(dict(e.stats)["flow"] & 3)
    assert sum(e.name.startswith("dot_general") for e in ops) >= 2 * STEPS
    assert all(".py:" in dict(e.stats)["source"] or "<string>:" in dict(e.stats)["source"] for e in ops), [dict(e.stats) for e in ops]
    for e in ops:  # each inside a run
        assert any(m.start_ns <= e.start_ns and e.end_ns <= m.end_ns for m in modules), e.name
    for before, after in zip(ops, ops[1:]):
        assert before.end_ns <= after.start_ns + 1
assert sorted(map(sorted, flows.values())) == [[1] * (DEVICES - 1) + [2]] * STEPS, flows
named = [e for e in timeline["traceEvents"] if e.get("name") == "all_reduce"]
assert len(named) == DEVICES * STEPS, len(named)
""", devices=4)


def test_one_profile_after_another(python):
    play(python, SETUP + """
for _ in range(2):
    data, _ = profile()
    ours = [p for p in data.planes if p.name.startswith("/device:")]
    assert len(ours) == DEVICES
    assert all(len(list(line.events)) == STEPS for p in ours for line in p.lines if line.name == "XLA Modules")
""", devices=4)


def test_while_the_process_is_recorded(python, tmp_path):
    play(python, SETUP + """
try:
    profile(raise_error_on_start_failure=True)
    raise SystemExit("two recordings at once")
except jax.errors.JaxRuntimeError as error:
    assert "there is one recording at a time" in str(error), error
""", devices=4, TUTTI_TRACE=str(tmp_path / "trace.json"))
    assert (tmp_path / "trace.json").stat().st_size > 1000


def test_programs_are_dumped(python, tmp_path):
    play(python, """
jax.jit(lambda x: jnp.sin(x) * 2 + 1)(jnp.ones(8)).block_until_ready()
""", devices=1, XLA_FLAGS=f"--xla_dump_to={tmp_path}/folder")
    files = sorted(f.name for f in (tmp_path / "folder").iterdir())
    mine = [f for f in files if "jit__lambda" in f]
    assert [f.split(".", 2)[2] for f in mine] == ["before_optimizations.txt", "tutti_after_optimizations.txt"], files
    before, after = ((tmp_path / "folder" / f).read_text() for f in mine)
    assert "stablehlo.sine" in before and "func.func" in before
    assert "tutti.fusion" in after and "sine" in after


def test_one_program_is_dumped(python, tmp_path):
    """By its own options, while others are not."""
    play(python, f"""
options = {{"xla_dump_to": "{tmp_path}/folder", "xla_dump_hlo_as_text": True, "xla_dump_hlo_as_proto": True}}
jax.jit(lambda x: jnp.sin(x) * 2, compiler_options=options)(jnp.ones(8)).block_until_ready()
jax.jit(lambda x: jnp.cos(x) * 2)(jnp.ones(8)).block_until_ready()
""", devices=1)
    proto, text = sorted((tmp_path / "folder").iterdir())
    assert proto.name.endswith(".jit__lambda.tutti_after_optimizations.hlo.pb") and b"sine" in proto.read_bytes()
    assert text.name.endswith(".jit__lambda.tutti_after_optimizations.txt")
    assert text.read_text().startswith("HloModule jit__lambda") and " sine(" in text.read_text()


def test_inspect_sharding_while_compiling(python):
    """What the program says of a value is what the function that asks is told; in a manual computation
    there is nothing to say; what it raises ends the compilation."""
    play(python, """
from jax.sharding import NamedSharding, PartitionSpec as P
mesh = jax.make_mesh((2, 2), ("x", "y"), axis_types=(jax.sharding.AxisType.Auto,) * 2)
told = {}

def ask(name, value):
    jax.debug.inspect_array_sharding(value, callback=lambda s: told.setdefault(name, []).append(s))

def f(x):
    ask("argument", x)
    y = jnp.sin(x)
    ask("computed", y)
    ask("moved", jax.lax.with_sharding_constraint(y, NamedSharding(mesh, P(None, "x"))))
    ask("whole", jax.lax.with_sharding_constraint(y, NamedSharding(mesh, P())))
    def turn(c, _):
        ask("turn", c)
        return c * 2, None
    return jax.lax.scan(turn, y, None, length=3)[0]

x = jax.device_put(np.arange(32, dtype=np.float32).reshape(8, 4), NamedSharding(mesh, P("x", "y")))
for _ in range(2):  # the second call finds the program, and asks nothing
    assert np.allclose(jax.jit(f)(x), np.sin(np.asarray(x)) * 8)
    jax.jit(f)(x).block_until_ready()
said = {name: [s.spec for s in list_] for name, list_ in told.items()}
assert said == {"argument": [P("x", "y")], "computed": [P("x", "y")], "moved": [P(None, "x")],
                "whole": [P()], "turn": [P("x", "y")]}, said

g = jax.shard_map(lambda x: (ask("manual", x), x + 1)[1], mesh=mesh, in_specs=P("x"), out_specs=P("x"))
assert np.allclose(jax.jit(g)(x), np.asarray(x) + 1)
assert [s.spec for s in told["manual"]] == [P()], told["manual"]

def refuse(sharding):
    raise ValueError("not like this")

try:
    jax.jit(lambda x: (jax.debug.inspect_array_sharding(x, callback=refuse), x)[1])(x)
    assert False
except jax.errors.JaxRuntimeError as error:
    assert "not like this" in str(error)
""", devices=4)


def test_debug_nans_as_on_the_cpu_backend(python):
    """jax_debug_nans and jax_debug_infs: the same exception, naming the same primitive, from the same lines."""
    program = """
import re, traceback
import jax, jax.numpy as jnp

def f(x):
    y = jnp.sin(x)
    z = jnp.log(y - 2)
    return z * 2

def told(call):
    try:
        return call().tolist()
    except FloatingPointError as error:
        lines = re.findall(r'"<string>", line (\\d+)', traceback.format_exc())
        return str(error).splitlines()[0], lines

x = jnp.arange(4.0)
jax.config.update("jax_debug_nans", True)
print(told(lambda: jax.jit(f)(x)))
print(told(lambda: f(x)))
print(told(lambda: jax.grad(jnp.sqrt)(jnp.float32(-1))))
print(told(lambda: jax.pmap(f)(jnp.arange(8.0).reshape(4, 2))))
print(told(lambda: jax.jit(lambda x: jax.lax.fori_loop(0, 3, lambda i, c: jnp.log(c), x))(jnp.float32(2))))
print(told(lambda: jax.jit(jnp.sqrt)(x)))
jax.config.update("jax_debug_nans", False)
jax.config.update("jax_debug_infs", True)
print(told(lambda: jax.jit(lambda x: 1 / x)(x)))
"""
    ours, theirs = (python(["-c", program], platform, devices=4) for platform in ("tutti", "cpu"))
    assert ours == theirs, (ours, theirs)
    assert ours.count("value (nan) encountered") == 5 and ours.count("value (inf) encountered") == 1, ours
