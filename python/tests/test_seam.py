"""What lies between JAX and the engine: devices, arrays in and out, donation, options, errors."""
import textwrap

import pytest


def play(python, program, devices=4, **more):
    program = "import jax, jax.numpy as jnp, numpy as np\n" + textwrap.dedent(program)
    return python(["-c", program], "tutti", devices, **more)


def test_devices_read_well(python):
    out = play(python, "print(jax.devices()); print(str(jax.devices()[1]), jax.default_backend())",
               devices=2)
    assert out == "[CpuDevice(id=0), CpuDevice(id=1)]\ntutti:1 tutti\n"


def test_number_of_devices(python):
    count = "print(jax.device_count())"
    assert play(python, count, devices=3) == "3\n"
    assert play(python, count, devices=3, TUTTI_DEVICES="5") == "5\n"
    assert play(python, "jax.config.update('jax_num_cpu_devices', 6)\n" + count, XLA_FLAGS="") == "6\n"


def test_wrong_number_is_named(python):
    out = play(python, """
        try:
            jax.devices()
        except RuntimeError as error:
            print(error)
    """, TUTTI_DEVICES="many")
    assert "TUTTI_DEVICES: 'many' is not a number of devices" in out


def test_arrays_in_and_out(python):
    play(python, """
        import ml_dtypes
        x = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
        for a in (x, x.T, x[:, ::-1], x[:, :, ::2], np.broadcast_to(x[:, :1], x.shape), x[:0],
                  np.float32(3), np.array([True, False]), x.astype(np.complex64)):
            back = np.asarray(jax.device_put(a))
            assert back.dtype == a.dtype and np.array_equal(back, a), a
        for t in (np.int8, np.uint16, np.int32, np.uint32, np.float16, ml_dtypes.bfloat16,
                  ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2, ml_dtypes.int4, ml_dtypes.uint4):
            a = np.arange(7).astype(t)
            back = np.asarray(jax.device_put(a))
            assert back.dtype == a.dtype and (back == a).all(), t
    """)


def test_later_writes_to_the_host_stay_there(python):
    play(python, """
        x = np.zeros(1000, np.float32)
        y = jax.device_put(x)
        x[:] = 1
        assert (np.asarray(y) == 0).all()
    """)


def test_between_devices(python):
    play(python, """
        from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
        x = np.arange(8, dtype=np.float32).reshape(4, 2)
        y = jax.device_put(jax.device_put(x), jax.devices()[2])
        assert y.devices() == {jax.devices()[2]} and (np.asarray(y) == x).all()
        mesh = Mesh(np.array(jax.devices()), "i")
        cut = jax.device_put(x, NamedSharding(mesh, P("i")))
        assert [np.asarray(s.data).tolist() for s in cut.addressable_shards] == x[:, None].tolist()
        turned = jax.device_put(cut, NamedSharding(mesh, P()))
        assert all((np.asarray(s.data) == x).all() for s in turned.addressable_shards)
    """)


def test_deleted(python):
    play(python, """
        x = jnp.arange(4.0)
        view = np.asarray(x)
        x.delete()
        assert x.is_deleted() and view.tolist() == [0, 1, 2, 3]
        try:
            x + 1
            raise SystemExit("a deleted array was used")
        except RuntimeError as error:
            assert "deleted" in str(error)
    """)


def test_donated(python):
    play(python, """
        f = jax.jit(lambda x: x * 2 + 1, donate_argnums=0)
        x = jnp.arange(1000.0)
        where = x.unsafe_buffer_pointer()
        y = f(x)
        assert x.is_deleted() and (np.asarray(y) == np.arange(1000) * 2 + 1).all()
        assert y.unsafe_buffer_pointer() == where, "the memory was not taken over"
    """)


def test_donated_while_numpy_looks(python):
    """The one who looks keeps seeing what was there, and the array stays, as on JAX's CPU."""
    play(python, """
        f = jax.jit(lambda x: x * 2 + 1, donate_argnums=0)
        x = jnp.arange(1000.0)
        view = np.asarray(x)
        y = f(x)
        assert (view == np.arange(1000)).all() and not x.is_deleted()
        assert (np.asarray(y) == np.arange(1000) * 2 + 1).all()
    """)


def test_donated_and_passed_twice(python):
    play(python, """
        x = jnp.arange(1000.0)
        for donated in ((0,), (1,), (0, 1)):
            f = jax.jit(lambda x, y: ((x + 1) * y, x), donate_argnums=donated)
            try:
                f(x, x)
                raise SystemExit("an array was donated and used in one call")
            except RuntimeError as error:
                assert "arguments 0 and 1 on device 0 are the same f32[1000]" in str(error), error
            assert (np.asarray(x) == np.arange(1000)).all()
    """)


def test_donated_for_nothing(python):
    """No result can have the memory: the array stays."""
    play(python, """
        from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
        s = NamedSharding(Mesh(np.array(jax.devices()[:2]), "x"), P("x"))
        for place in (None, s):
            x, y = (jax.device_put(np.arange(8.0, dtype=np.float32), place) for _ in range(2))
            jax.jit(lambda x: x.sum(), donate_argnums=0)(x)
            assert not x.is_deleted()
            jax.jit(lambda x, y: x + y, donate_argnums=(0, 1))(x, y)
            assert x.is_deleted() and not y.is_deleted()
    """)


def test_donated_on_every_device(python):
    play(python, """
        f = jax.pmap(lambda x: x + 1, donate_argnums=0)
        x = f(jnp.zeros((4, 8)))
        y = f(x)
        assert x.is_deleted() and (np.asarray(y) == 2).all()
    """)


def test_evaluator_as_an_option(python):
    play(python, """
        x = np.arange(6, dtype=np.float32)
        f = lambda x: jnp.sin(x) + x.sum()
        a = jax.jit(f, compiler_options={"tutti_evaluate": True})(x)
        np.testing.assert_allclose(a, np.sin(x) + x.sum(), rtol=1e-6)
    """)


def test_unknown_option_is_refused(python):
    play(python, """
        try:
            jax.jit(lambda x: x + 1, compiler_options={"no_such": True})(1.0)
            raise SystemExit("it was taken")
        except Exception as error:
            assert "No such compile option: 'no_such'" in str(error)
    """)


def test_memory_is_counted_and_given_back(python):
    play(python, """
        device = jax.devices()[0]
        before = device.memory_stats()["bytes_in_use"]
        x = jax.device_put(np.zeros(1 << 20, np.float32), device)
        assert device.memory_stats()["bytes_in_use"] >= before + (4 << 20)
        x.delete()
        assert device.memory_stats()["bytes_in_use"] <= before
    """)


def test_many_threads(python):
    play(python, """
        from concurrent.futures import ThreadPoolExecutor
        f = jax.pmap(lambda x: jax.lax.psum(x, "i") + x, "i")
        g = jax.jit(lambda x: jnp.sin(x).sum())
        def work(k):
            x = np.full((4, 3), k, np.float32)
            return float(np.asarray(f(x)).sum()), float(g(x))
        with ThreadPoolExecutor(8) as pool:
            for k, (a, b) in enumerate(pool.map(work, range(64))):
                assert a == 60 * k and abs(b - 12 * np.sin(k)) < 1e-4, k
    """)


def test_second_client_after_clear_backends(python):
    play(python, """
        from jax._src import api
        assert float(jnp.arange(4.0).sum()) == 6
        api.clear_backends()
        assert float(jnp.arange(5.0).sum()) == 10
    """)


def test_fork_is_an_error_not_a_hang(python):
    out = play(python, """
        import os, warnings
        warnings.simplefilter("ignore")
        x = jnp.arange(4.0)
        f = jax.jit(lambda x: x + 1)
        f(x).block_until_ready()
        child = os.fork()
        if child == 0:
            try:
                f(x).block_until_ready()
                os._exit(1)
            except Exception as error:
                os._exit(0 if "fork" in str(error) else 2)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
    """)
    assert out == "0\n"


def test_linear_algebra(python):
    """Every factorization that JAX has for CPUs, by what defines it."""
    play(python, """
        from jax.lax import linalg
        H = lambda a: np.conj(np.swapaxes(a, -1, -2))
        rng = np.random.default_rng(1)
        for t in (np.float32, np.complex64):
            a = rng.standard_normal((2, 5, 5)).astype(t)
            a = a + (1j * rng.standard_normal(a.shape)).astype(t) if t is np.complex64 else a
            near = lambda x, y: np.testing.assert_allclose(x, y, atol=2e-5)
            q, r = map(np.asarray, jnp.linalg.qr(a))
            near(q @ r, a)
            u, s, vh = map(np.asarray, jnp.linalg.svd(a[:, :3]))
            near(u * s[:, None] @ vh[:, :3], a[:, :3])
            w, v = map(np.asarray, jnp.linalg.eigh(a + H(a)))
            near(v * w[:, None] @ H(v), a + H(a))
            w, v = map(np.asarray, jnp.linalg.eig(a))
            near(a @ v, v * w[:, None])
            form, z = map(np.asarray, linalg.schur(a))
            near(z @ form @ H(z), a)
            near(a @ np.asarray(jnp.linalg.inv(a)), np.broadcast_to(np.eye(5), a.shape))
            c = np.asarray(jnp.linalg.cholesky(a @ H(a)))
            near(c @ H(c), a @ H(a))
        assert np.isnan(np.asarray(jnp.linalg.svd(np.full((3, 3), np.nan))[1])).all()
    """, devices=1)


def test_sparse_systems(python):
    """JAX solves them by a callback of its own, which it finds by another way than the others."""
    play(python, """
        from jax.experimental.sparse.linalg import spsolve
        a = np.array([[4, 1, 0], [0, 3, 0], [0, 0, 2]], np.float32)
        data, columns, starts = np.float32([4, 1, 3, 2]), np.int32([0, 1, 1, 2]), np.int32([0, 2, 3, 4])
        b = np.array([1, 2, 3], np.float32)
        x = jax.jit(spsolve)(data, columns, starts, b)
        assert np.allclose(a @ np.asarray(x), b, atol=1e-5), x
    """)


def test_cholesky_of_what_is_not_positive(python):
    """All of the factor is nan, as LAPACK's callers make it."""
    play(python, """
        for a in ([[1, 1], [1, 1]], [[1, 2], [2, 1]], [[0, 0], [0, 1]], [[1, 0], [0, np.nan]]):
            for t in (np.float32, np.complex64):
                got = np.asarray(jax.lax.linalg.cholesky(np.array(a, t), symmetrize_input=False))
                assert np.isnan(got[np.tril_indices(2)]).all() and got[0, 1] == 0, (a, got)
    """)


def test_what_a_program_costs(python):
    """The counts of work are XLA's; what moves depends on fusion."""
    out = play(python, """
        f = jax.jit(lambda a, b: jnp.tanh(a @ b).sum())
        cost = f.lower(np.ones((64, 32), np.float32), np.ones((32, 16), np.float32)).compile().cost_analysis()
        print(cost["flops"], cost["transcendentals"], cost["bytes accessed"] > 64 * 32 * 4)
    """)
    # 2 * 64 * 16 * 32 in the product, 64 * 16 - 1 in the sum.
    assert out == "66559.0 1024.0 True\n"


def test_compiled_as_text(python):
    """HLO of what one device plays; what is not HLO's is a custom call by its own name."""
    play(python, """
        from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
        s = NamedSharding(Mesh(np.array(jax.devices()), "i"), P("i"))
        x = jax.device_put(np.ones((8, 6), np.float32), s)
        def f(x):
            with jax.named_scope("outer"):
                return x + 1, jnp.tanh(x).sum(0), jnp.linalg.qr(x)[1]
        text = jax.jit(f, donate_argnums=0).lower(x).compile().as_text()
        for part in ("HloModule jit_f", "tanh(", "all-reduce(", "f32[2,6]", "outer", "all-gather(",
                     "sharding={devices=[4,1]0,1,2,3}", 'custom_call_target="tutti.global"',
                     "called_computations={%whole"):
            assert part in text, (part, text)
        text = jax.jit(lambda x: x * 2, donate_argnums=0).lower(jnp.ones(3)).compile().as_text()
        assert "input_output_alias={ {}: (0, {}, may-alias) }" in text, text
        assert "sharding" not in text, text
    """)


def test_layouts(python):
    play(python, """
        compiled = jax.jit(lambda x: (x.T, x.sum())).lower(jnp.ones((2, 3, 4))).compile()
        assert compiled.input_formats[0][0].layout.major_to_minor == (0, 1, 2)
        assert [f.layout.major_to_minor for f in compiled.output_formats] == [(0, 1, 2), ()]
        assert jnp.ones((3, 4)).format.layout.major_to_minor == (0, 1)
    """)


def test_options_of_xla(python):
    out = play(python, """
        f = jax.jit(lambda x: x + 1).lower(1.0)
        print(f.compile(compiler_options={"xla_embed_ir_in_executable": True})(1.0))
        for options in ({"xla_embed_ir_in_executable": "maybe"}, {"xla_no_such_thing": 1}):
            try:
                f.compile(compiler_options=options)
            except jax.errors.JaxRuntimeError as error:
                print(error)
        print(jax.devices()[0].memory_stats()["bytes_reservable_limit"] > 0)
    """)
    assert out.splitlines() == [
        "2.0",
        "INVALID_ARGUMENT: compile option xla_embed_ir_in_executable: 'maybe' is not a valid bool value.",
        "INVALID_ARGUMENT: No such compile option: 'xla_no_such_thing'",
        "True",
    ]


def test_memory_is_counted_and_limited(python):
    """A device has its own memory; what does not fit is named, and the next launch works."""
    play(python, """
        gone = jax.device_put(np.zeros((512, 512), np.float32), jax.devices()[1])
        del gone
        x = jax.device_put(np.zeros((1024, 1024), np.float32))
        mine, other = (jax.devices()[d].memory_stats() for d in (0, 1))
        assert mine["bytes_in_use"] == mine["peak_bytes_in_use"] == x.nbytes, mine
        assert mine["bytes_limit"] == mine["bytes_reservable_limit"] == 16 << 20, mine
        assert mine["largest_alloc_size"] == x.nbytes
        assert other["bytes_in_use"] == 0 and other["peak_bytes_in_use"] == x.nbytes // 4, other
        for too_much in (lambda: jax.device_put(np.zeros((4, 1024, 1024), np.float32)),
                         lambda: jax.jit(lambda a: jnp.stack([a] * 8))(x).block_until_ready()):
            try:
                too_much()
            except jax.errors.JaxRuntimeError as error:
                assert "RESOURCE_EXHAUSTED" in str(error), error
                assert ("left of 16777216 (TUTTI_DEVICE_MEMORY); the largest alive: "
                        "f32[1024,1024] (4194304 bytes)") in str(error), error
            else:
                raise AssertionError("it fits")
            assert float((x + 1).sum()) == 1 << 20
    """, TUTTI_DEVICE_MEMORY="16M")


def test_wrong_amount_of_memory_is_named(python):
    out = play(python, """
        try:
            jax.devices()
        except RuntimeError as error:
            print(error)
    """, TUTTI_DEVICE_MEMORY="lots")
    assert "TUTTI_DEVICE_MEMORY: 'lots' is not a number of bytes" in out


def test_python_functions_in_memory(python):
    """buffer_callback: operands read only, results written in place, an operand in its result's memory."""
    out = play(python, """
        from jax.experimental import buffer_callback as bc
        x = jnp.arange(6.0).reshape(2, 3)
        like = jax.ShapeDtypeStruct(x.shape, x.dtype)
        def double(ctx, out, arg, *, by):
            assert ctx.stage == bc.ExecutionStage.EXECUTE and out.writeable and not arg.writeable
            assert not np.asarray(arg).flags.writeable and np.from_dlpack(arg).shape == (2, 3)
            np.asarray(out)[...] = by * np.asarray(arg)
        f = bc.buffer_callback(double, like)
        assert np.array_equal(jax.jit(lambda x: f(x + 1, by=2.0 * x))(x), (np.asarray(x) + 1) * 2 * x)
        def add(ctx, out, arg):
            assert np.asarray(out).ctypes.data == np.asarray(arg).ctypes.data
            np.asarray(out)[...] += 1
        g = bc.buffer_callback(add, like, input_output_aliases={0: 0})
        assert np.array_equal(g(x), np.arange(6).reshape(2, 3) + 1) and x[0, 0] == 0
        def fails(ctx, out):
            ctx.stream
        try:
            bc.buffer_callback(fails, jax.ShapeDtypeStruct((), jnp.float32))().block_until_ready()
        except jax.errors.JaxRuntimeError as error:
            print(str(error).strip().splitlines()[-1])
    """)
    assert "devices are CPUs" in out, out


def test_order_of_operations(python):
    """jax.experimental.control_deps: a scheduler's hints, futures among them, change no value."""
    pytest.importorskip("jax.experimental.control_deps", reason="this JAX has no such hints")
    play(python, """
        from jax.experimental.control_deps import schedule
        from jax._src.lax import parallel
        mesh = jax.sharding.Mesh(jax.devices(), "i")
        def layers(x, w):
            future = parallel.all_gather_start(w, "i", tiled=True)
            y = jnp.sin(x)
            schedule([future.x, y])
            return y @ future.done()
        x, w = np.random.rand(4, 8).astype("f"), np.random.rand(8, 5).astype("f")
        spec = jax.P("i", None)
        f = jax.shard_map(layers, mesh=mesh, in_specs=spec, out_specs=spec, check_vma=False)
        assert np.allclose(jax.jit(f)(x, w), np.sin(x) @ w, rtol=1e-5)
    """)


@pytest.mark.parametrize("platforms", ["tutti", "tutti,cpu"])
def test_python_functions_in_programs(python, platforms):
    """Callbacks: results, order, batches, what they raise; on several devices too."""
    out = play(python, """
        from jax.experimental import io_callback
        x = jnp.arange(3.0)
        sine = lambda x: jax.pure_callback(np.sin, x, x, vmap_method="sequential")
        assert np.array_equal(jax.jit(sine)(x), np.sin(np.arange(3, dtype=np.float32)))
        assert np.array_equal(jax.jit(jax.vmap(sine))(x), np.sin(np.arange(3, dtype=np.float32)))
        seen = []
        def step(i, x):
            io_callback(lambda i, x: seen.append((int(i), float(x))), None, i, x, ordered=True)
            return 2 * x
        jax.jit(lambda x: jax.lax.fori_loop(0, 3, step, x))(1.0)
        jax.effects_barrier()
        print(seen)
        once = jax.jit(lambda x: io_callback(lambda x: 3 * x, x, x, ordered=True))
        assert np.array_equal(once(x), [0, 3, 6])
        parts = {}
        def twice(x):
            for y in x, x + 1:
                io_callback(lambda y: parts.setdefault(int(y) // 10, []).append(int(y)), None, y[0],
                            ordered=True)
        mesh, spec = jax.sharding.Mesh(jax.devices(), "i"), jax.P("i")
        jax.jit(jax.shard_map(twice, mesh=mesh, in_specs=spec, out_specs=None))(jnp.arange(4) * 10)
        jax.effects_barrier()
        assert parts == {k: [10 * k, 10 * k + 1] for k in range(4)}, parts
        jax.jit(lambda x: jax.debug.print("x is {}", x))(x)
        jax.effects_barrier()
        counts = []
        jax.pmap(lambda x: jax.debug.callback(lambda x: counts.append(int(x)), x))(np.arange(4))
        jax.effects_barrier()
        print(sorted(counts))
        try:
            jax.jit(lambda x: jax.pure_callback(lambda x: 1 / 0, x, x))(1.0).block_until_ready()
        except jax.errors.JaxRuntimeError as error:
            print(str(error).strip().splitlines()[-1])
    """, JAX_PLATFORMS=platforms)
    assert out.splitlines() == ["[(0, 1.0), (1, 2.0), (2, 4.0)]", "x is [0. 1. 2.]",
                                "[0, 1, 2, 3]", "ZeroDivisionError: division by zero"]


def test_ours_are_the_cpu(python):
    """Where JAX or a program asks for a CPU and only ours was chosen, it is one of our devices; a
    callback may run programs there, with collectives too, while its own waits."""
    out = play(python, """
        import warnings
        from jax.experimental import checkify
        assert jax.devices("cpu") == jax.devices() == jax.local_devices(backend="cpu")
        x = jax.device_put(jnp.ones(3), jax.devices("cpu")[2])
        print(x.devices() == {jax.devices()[2]}, jax.jit(jnp.sin, device=jax.devices("cpu")[1])(x).devices())
        total, rows = jax.lax.scan(lambda c, x: (c + x, x), 0.0, jnp.zeros((0,)))
        print(total, rows.shape)
        checked = checkify.checkify(jax.jit(lambda x: checkify.check(x > 0, "no {x}", x=x)))
        print(checked(jnp.float32(-1))[0].get())
        sums = jax.pmap(lambda x: jax.lax.psum(x @ x, "i"), axis_name="i")
        def inner(x):
            return np.asarray(sums(np.ones((4, 20, 20), np.float32)))[0, 0, :3] + np.asarray(jnp.sin(x))
        f = jax.pmap(lambda x: jax.lax.psum(jax.pure_callback(inner, x, x), "i"), axis_name="i")
        for k in range(5):
            y = f(jnp.zeros((4, 3)))
        print(y[3])
        more = lambda x: jax.pure_callback(lambda x: jnp.add(x, 2), x, x)
        print(jax.jit(lambda x: jax.lax.while_loop(lambda x: x[0] < 5, more, x))(jnp.zeros(1)))
    """)
    assert out.splitlines() == ["True {CpuDevice(id=1)}", "0.0 (0,)", "no -1.0 (`check` failed)",
                                "[320. 320. 320.]", "[6.]"]


def test_what_callbacks_raise_is_raised_at_the_call(python):
    out = play(python, """
        def give(x):
            raise ValueError("no bananas")
        try:
            y = jax.jit(lambda x: jax.pure_callback(give, x, x))(1.0)
        except RuntimeError as error:
            print(str(error).splitlines()[-1])
    """)
    assert out == "ValueError: no bananas\n"


def test_callbacks_see_no_context_of_the_caller(python):
    """A small program is played by the thread that calls it, whose mesh is not the callback's."""
    out = play(python, """
        mesh = jax.make_mesh((2,), "x")
        with jax.set_mesh(mesh):
            spec = jax.P("x")
            f = jax.shard_map(lambda x: jax.pure_callback(lambda x: jnp.add(x, 1), x, x),
                              in_specs=spec, out_specs=spec)
            print(f(jax.device_put(np.arange(4.0), spec)))
    """, devices=2)
    assert out == "[1. 2. 3. 4.]\n"


def test_export_and_asarray_as_on_cpus(python):
    out = play(python, """
        from jax import export
        print(export.export(jax.jit(jnp.sin))(jax.ShapeDtypeStruct((), np.float32)).platforms)
        print(export.default_export_platform(), jax.default_backend())
        print(jnp.asarray(np.arange(3), copy=False))
    """)
    assert out.splitlines() == ["('cpu',)", "cpu tutti", "[0 1 2]"]


def test_order_of_effects_over_devices(python):
    """The token of an ordered call in a program over several devices is joined like its array."""
    out = play(python, """
        from jax.experimental import io_callback
        from jax.sharding import NamedSharding, PartitionSpec as P
        seen = []
        def f(x):
            for k in range(3):
                x = io_callback(lambda x, k=k: (seen.append(k), x + 1)[1], x, x, ordered=True)
            return x
        mesh = jax.make_mesh((4,), ("i",), axis_types=(jax.sharding.AxisType.Auto,))
        cut = NamedSharding(mesh, P("i"))
        y = jax.jit(f, in_shardings=cut, out_shardings=cut)(jnp.arange(8.0))
        print(y, seen, y.sharding == cut)
    """)
    assert out == "[ 3.  4.  5.  6.  7.  8.  9. 10.] [0, 1, 2] True\n"


def test_what_is_for_cpus_is_for_us(python):
    """JAX keeps branches, lowering rules and exported programs by the names of platforms."""
    out = play(python, """
        from jax import export, lax
        from jax.extend.core import Primitive
        from jax.interpreters import mlir
        branch = lambda x: lax.platform_dependent(x, cpu=lambda x: x + 1, cuda=lambda x: x + 5)
        print(jax.jit(branch)(1.0), branch(2.0), jax.vmap(branch)(jnp.arange(3.0)))
        print(jax.jit(lambda x: lax.platform_dependent(
            x, tutti=lambda x: x + 9, cpu=lambda x: x + 1, default=lambda x: x))(1.0))
        p = Primitive("for_cpus_only")
        p.def_abstract_eval(lambda x: x)
        mlir.register_lowering(p, mlir.lower_fun(lambda x: x + 7, multiple_results=False), platform="cpu")
        print(jax.jit(p.bind)(jnp.float32(1)))
        values = export.export(jax.jit(lambda x: jnp.linalg.svd(x)[1]), platforms=["cpu"])
        values = values(np.eye(2, dtype=np.float32))
        print(values.platforms, values.call(3 * np.eye(2, dtype=np.float32)))
        both = export.export(jax.jit(branch), platforms=["cuda", "cpu"])(np.float32(0))
        print(export.deserialize(both.serialize()).call(np.float32(1)))
        try:
            export.export(jax.jit(jnp.sin), platforms=["cuda"])(np.float32(1)).call(np.float32(1))
        except ValueError as error:
            print(error)
    """)
    assert out.splitlines() == [
        "2.0 3.0 [1. 2. 3.]", "10.0", "8.0", "('cpu',) [3. 3.]", "2.0",
        "Function 'sin' was exported for platforms '('cuda',)' but it is used on '('tutti',)'."]


def test_nothing_is_said_at_the_start(python):
    program = "import jax; jax.jit(lambda x: x)(1.0)"
    assert python(["-c", "import sys; sys.stderr = sys.stdout\n" + program], "tutti") == ""


def test_python_functions_go_with_their_programs(python):
    """A callback lives as long as a program may call it, in flight too, and no longer."""
    out = play(python, """
        import gc
        from jax_tutti import callbacks
        seen = []
        def one(k):
            f = jax.jit(lambda x: jax.debug.callback(lambda x: seen.append(int(x)), x))
            f(k)  # is not waited for, and f is gone
        for k in range(50):
            one(k)
        jax.clear_caches()
        gc.collect()
        jax.effects_barrier()
        print(sorted(seen) == list(range(50)))
        def kept(x):
            return jax.pure_callback(lambda x: x + 1, x, x)
        lowered = jax.jit(kept).lower(1.0)
        first, second = lowered.compile(), lowered.compile()
        del first, lowered
        gc.collect()
        print(float(second(1.0)))
        del second
        jax.clear_caches()
        gc.collect()
        print(float(jax.jit(kept)(2.0)), len(callbacks._functions))
    """)
    assert out.splitlines() == ["True", "2.0", "3.0 1"]


def test_prints_of_each_device(python):
    """partitioned=True: every device prints its piece of what lies on many; in loops too."""
    out = play(python, """
        from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
        mesh = Mesh(np.array(jax.devices()), "i")
        x = jax.device_put(np.arange(8), NamedSharding(mesh, P("i")))
        @jax.jit
        def f(x):
            jax.debug.print("whole {}", x)
            jax.debug.print("piece {} of {}", x * 10, x.sum(), partitioned=True)
            def turn(i, x):
                jax.debug.print("turn {} {}", i, x, partitioned=True)
                return x + 1
            return jax.lax.fori_loop(0, 2, turn, x)
        np.testing.assert_array_equal(f(x), np.arange(8) + 2)
        jax.effects_barrier()
    """)
    pieces = [(2 * d, 2 * d + 1) for d in range(4)]
    expected = ["whole [0 1 2 3 4 5 6 7]"]
    for a, b in pieces:
        tens = f"{10 * a:2} {10 * b:2}" if a else " 0 10"
        expected += [f"piece [{tens}] of 28", f"turn 0 [{a} {b}]", f"turn 1 [{a + 1} {b + 1}]"]
    assert sorted(out.splitlines()) == sorted(expected)


ENDLESS = """
import os, signal, threading, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
def interrupt():
    time.sleep(0.5)
    os.kill(os.getpid(), signal.SIGINT)
endless = jax.jit(lambda x: jax.lax.while_loop(lambda c: c != 3, lambda c: c + 2, x))
result = endless(jnp.int32(0))
threading.Thread(target=interrupt).start()
try:
    result.block_until_ready()
    raise SystemExit("it has ended")
except KeyboardInterrupt:
    began = time.monotonic()
"""


def test_interrupted_and_dropped(python):
    """A program without end: the wait can be interrupted, and the program stops when its result and
    its executable are dropped.  What comes behind it then runs."""
    out = play(python, ENDLESS + """
del result
jax.clear_caches()
print((jnp.arange(3) + 1).tolist())
assert time.monotonic() - began < 20
used = time.process_time()
time.sleep(0.5)
assert time.process_time() - used < 0.25
""", devices=1)
    assert out == "[1, 2, 3]\n"


def test_interrupted_and_left(python):
    """The process ends though the program does not."""
    assert play(python, ENDLESS + "print('over')", devices=1, timeout=20) == "over\n"


def test_conditions_with_effects(python):
    """A condition is asked before every round, also where the rounds of a loop are written out."""
    assert play(python, """
        asked = []
        def go_on(carried):
            jax.debug.callback(lambda i: asked.append(int(i)), carried[0])
            return carried[0] < 10
        def round(carried):
            i, a, b = carried
            return i + 1, b, a + b
        x = jnp.ones((64, 64))
        print(jax.jit(lambda x: jax.lax.while_loop(go_on, round, (0, x, x)))(x)[2][0, 0])
        jax.effects_barrier()
        print(sorted(asked) == list(range(11)))
    """, devices=1) == "144.0\nTrue\n"


def test_effects_are_there_when_the_call_returns(python):
    """As on JAX's CPU backend: nothing is waited for; what a callback raises, the call raises."""
    out = play(python, """
        seen = []
        @jax.jit
        def turns(x):
            def turn(i, x):
                jax.debug.callback(lambda i: seen.append(int(i)), i)
                return x @ x / 500
            return jax.lax.fori_loop(0, 5, turn, x)
        x = jnp.ones((500, 500))
        turns(x)
        print(seen)
        @jax.jit
        def wrong(x):
            y = jnp.sin(x) @ x
            jax.debug.callback(lambda x: 1 / 0, y.sum())
            return y
        try:
            wrong(x)
        except jax.errors.JaxRuntimeError as error:
            print(str(error).strip().splitlines()[-1])
        jax.effects_barrier()
        jax.pmap(lambda x: jax.debug.callback(lambda x: seen.append(int(x[0, 0])), x @ x / 500))(
            np.ones((4, 500, 500), np.float32))
        print(seen[5:])
    """)
    assert out.splitlines() == ["[0, 1, 2, 3, 4]", "ZeroDivisionError: division by zero", "[1, 1, 1, 1]"]


def test_interrupted_in_a_call_with_effects(python):
    """A call waits for the effects of its program, and can be interrupted; the process can end."""
    assert play(python, """
import os, signal, threading, time
signal.signal(signal.SIGINT, signal.default_int_handler)
@jax.jit
def endless(x):
    def turn(c):
        jax.debug.callback(lambda c: None, c)
        return c + 2
    return jax.lax.while_loop(lambda c: c != 3, turn, x)
def interrupt():
    time.sleep(1)
    os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=interrupt).start()
try:
    endless(jnp.int32(0))
except KeyboardInterrupt:
    print("interrupted", flush=True)
""", devices=1, timeout=60) == "interrupted\n"
