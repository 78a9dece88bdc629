"""exp, log and log1p of float32 are XLA's to the last bit, of a million numbers of all magnitudes; and draws from C
are those of JAX's own program on our engine, bit for bit: 10,000 of each distribution that is made of
gamma's (tests/unit/random_test.c has all distributions beside JAX's CPU backend)."""
import ctypes

import numpy as np
import pytest
from tutti_c import Dims, Tt, library, tt_dtype

N = 10000
F32 = tt_dtype(np.float32)
KINDS = ["gamma", "loggamma", "beta", "chisquare", "student_t", "dirichlet"]

JAX = f"""
import sys, jax, jax.numpy as jnp, numpy as np
assert jax.default_backend() == "tutti"
key, r, N = jax.random.PRNGKey(7), jax.random, {N}
alpha = (jnp.arange(N) % 13 + 1).astype(jnp.float32) / 4
np.savez(sys.argv[1], gamma=r.gamma(key, alpha), loggamma=r.loggamma(key, alpha),
         beta=r.beta(key, alpha, alpha[::-1]), chisquare=r.chisquare(key, alpha), student_t=r.t(key, alpha),
         dirichlet=r.dirichlet(key, alpha[:5], (N // 5,)))
"""


def dims(*shape):
    return ctypes.byref(Dims(len(shape), (ctypes.c_int64 * 12)(*shape)))


@pytest.fixture(scope="module")
def lib():
    lib = library(**{"tt_" + name: Tt for name in ["key", *KINDS]})
    lib.tt_key.argtypes = [ctypes.c_uint64]
    return lib


@pytest.fixture(scope="module")
def jax_draws(python, tmp_path_factory):
    path = tmp_path_factory.mktemp("draws") / "jax.npz"
    python(["-c", JAX, str(path)], "tutti")
    return np.load(path)


def parameters(lib, x):
    x = np.ascontiguousarray(x)
    return lib.tt_from(F32, x.ctypes.data, x.nbytes, dims(*x.shape))


@pytest.mark.parametrize("name", KINDS)
def test_draws_of_c_are_those_of_jax(lib, jax_draws, name):
    want = jax_draws[name]
    alpha = (np.arange(N) % 13 + 1).astype(np.float32) / 4
    of = {"beta": [alpha, alpha[::-1]], "dirichlet": [alpha[:5]]}.get(name, [alpha])
    shape = (N // 5,) if name == "dirichlet" else (N,)
    draw = getattr(lib, "tt_" + name)
    x = draw(lib.tt_key(7), *[parameters(lib, p) for p in of], F32, dims(*shape))
    got = np.empty(want.shape, np.float32)
    assert lib.tt_read(x, got.ctypes.data, got.nbytes), lib.tt_error()
    assert want.dtype == np.float32 and want.size == N
    assert got.tobytes() == want.tobytes(), f"{(got != want).sum()} of {N} draws differ"


FUNCTIONS = """
import sys, jax, jax.numpy as jnp, numpy as np
x = np.arange(0, 2**32, 4099).astype(np.uint32).view(np.float32)
x = np.concatenate([x, np.linspace(0, 4, 50000, dtype=np.float32)])
np.savez(sys.argv[1], x=x, exp=jax.jit(jnp.exp)(x), log=jax.jit(jnp.log)(x), log1p=jax.jit(jnp.log1p)(x))
"""


def test_exponentials_and_logarithms_are_xlas(python, tmp_path):
    made = {}
    for platform in ["tutti", "cpu"]:
        path = tmp_path / (platform + ".npz")
        python(["-c", FUNCTIONS, str(path)], platform)
        made[platform] = np.load(path)
    for name in ["exp", "log", "log1p"]:
        a, b = made["tutti"][name], made["cpu"][name]
        same = (a.view(np.uint32) == b.view(np.uint32)) | (np.isnan(a) & np.isnan(b))
        if name == "exp":
            same |= made["cpu"]["x"] > 88.37  # where XLA's is up to 5 ulp off
        assert same.all(), f"{name}: {(~same).sum()} of {same.size} differ"
