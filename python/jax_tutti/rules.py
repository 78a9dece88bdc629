"""What JAX keeps by the names of platforms, and ours among them: its lowering rules, the branches of
lax.platform_dependent, exported programs.  What is meant for "cpu" holds here too, unless ours is named.
"""
import dataclasses
import warnings

# Primitives that JAX lowers in one way for all and in another for CPUs, the latter as we want it: to
# calls of LAPACK, which the engine answers.  Those that it lowers for CPUs only need not be named.
LIKE_CPU = {"geqrf", "householder_product", "lu", "ormqr", "svd", "tridiagonal_solve"}
# Those that it lowers for GPUs only, though what it makes of them is not particular to those.
LIKE_GPU = {"pbroadcast", "pbroadcast_start", "precv"}


class _Rules(dict):
    """Our own rules, and those of the platforms that we are like.  Some modules of JAX write theirs
    when they are first imported, which may be later than now, so they are looked up when asked for."""

    def __init__(self, ours, others, for_all):
        super().__init__(ours)
        self.others, self.for_all = others, for_all

    def _other(self, primitive):
        if primitive.name in LIKE_GPU:
            return self.others["cuda"]
        if primitive.name in LIKE_CPU or primitive not in self.for_all:
            return self.others["cpu"]
        return {}

    def __contains__(self, primitive):
        return super().__contains__(primitive) or primitive in self._other(primitive)

    def __missing__(self, primitive):
        return self._other(primitive)[primitive]


def _share_rules(platform):
    from jax._src.interpreters import mlir

    try:
        rules, for_all = mlir._platform_specific_lowerings, mlir._lowerings
        if platform == "cpu":
            _change_rules(rules["cpu"], rules["cuda"], for_all)
        else:
            rules[platform] = _Rules(rules.get(platform, {}), rules, for_all)
    except AttributeError:
        warnings.warn("jax_tutti: this JAX hides its lowering rules; jax.numpy.linalg is missing")


def _change_rules(cpu, cuda, for_all):
    """Where we are in the place of JAX's CPU backend, its rules become those that _Rules would find."""
    for primitive in [p for p in cpu if p in for_all and p.name not in LIKE_CPU]:
        del cpu[primitive]
    cpu.update({p: rule for p, rule in cuda.items() if p.name in LIKE_GPU})


def _lower_send(ctx, x, *, axis_name, perm):
    from jax._src.interpreters import mlir
    from jax._src.lax import parallel
    from jax._src.lib.mlir.dialects import hlo

    pairs, channel = parallel._pcollectives_lowering_common(
        ctx, axis_name=axis_name, perm=perm, op_name="psend"
    )
    token = hlo.create_token()
    return hlo.SendOp(
        [x], token, source_target_pairs=mlir.dense_int_elements(pairs), **channel
    ).results


def _lower_sends(platform):
    """JAX's rule for psend wants a GPU's channel; ours asks for nothing particular."""
    from jax._src.interpreters import mlir
    from jax._src.lax import parallel

    try:
        mlir.register_lowering(parallel.psend_p, _lower_send, platform=platform)
    except AttributeError as error:
        warnings.warn(f"jax_tutti: no psend with this JAX: {error}")


def _named(platforms, platform):
    """The platforms of a branch (None: all others), ours among them if it is CPUs' branch."""
    return platforms if platforms is None or "cpu" not in platforms else (*platforms, platform)


def _branch_as_cpu(platform):
    """lax.platform_dependent(cpu=...) without a branch of ours means ours."""
    from jax._src.interpreters import mlir
    from jax._src.lax.control_flow import conditionals

    try:
        index, cond = conditionals.platform_index_p, conditionals.cond_p
        lower_index, lower_cond = conditionals._platform_index_lowering, conditionals._cond_lowering
    except AttributeError as error:
        warnings.warn(f"jax_tutti: platform_dependent knows no cpu with this JAX: {error}")
        return

    def with_ours(branches):
        if not branches or any(branch and platform in branch for branch in branches):
            return branches
        return tuple(_named(branch, platform) for branch in branches)

    def platform_index(ctx, *, platforms):
        return lower_index(ctx, platforms=with_ours(platforms))

    def conditional(ctx, *args, branches_platforms=None, **named):
        return lower_cond(ctx, *args, branches_platforms=with_ours(branches_platforms), **named)

    mlir.register_lowering(index, platform_index, platform=platform)
    mlir.register_lowering(cond, conditional, platform=platform)


def _call_exports_for_cpu(platform):
    """A program that jax.export made for "cpu" is ours too."""
    from jax._src.export import _export
    from jax._src.interpreters import mlir

    try:
        primitive, lower = _export.call_exported_p, _export._call_exported_lowering
    except AttributeError as error:
        warnings.warn(f"jax_tutti: no programs exported for cpu with this JAX: {error}")
        return

    def call(ctx, *args, exported):
        if platform not in exported.platforms:
            names = tuple(platform if name == "cpu" else name for name in exported.platforms)
            exported = dataclasses.replace(exported, platforms=names)
        return lower(ctx, *args, exported=exported)

    mlir.register_lowering(primitive, call, platform=platform)


def _asarray_as_cpu(platform):
    """jnp.asarray(x, copy=False) takes what lies in the host's memory, where our devices are."""
    from jax._src.numpy import array_constructors as module

    platform_of = getattr(module, "_get_platform", None)
    if platform_of is None:
        return

    def get_platform(device):
        name = platform_of(device)
        return "cpu" if name == platform else name

    module._get_platform = get_platform


def _open_custom_partitioning(platform):
    """A function under custom_partitioning is what it says; the engine cuts it as it cuts all else, and
    the user's own partitioner is not asked."""
    from jax._src import core
    from jax._src.interpreters import mlir

    try:
        from jax._src.custom_partitioning import custom_partitioning_p as primitive
    except ImportError as error:
        warnings.warn(f"jax_tutti: no custom_partitioning with this JAX: {error}")
        return

    def lower(ctx, *values, call, **_):
        return mlir.lower_fun(core.jaxpr_as_fun(call), multiple_results=True)(ctx, *values)

    mlir.register_lowering(primitive, lower, platform=platform)


def _factor_as_lapack(platform):
    """Cholesky's primitive on its own, without lax.linalg's tril behind it, leaves the operand's other
    triangle as it is: LAPACK does, which JAX calls for "cpu" in programs that it exports."""
    from jax._src import lax
    from jax._src.interpreters import mlir

    try:
        from jax._src.lax import linalg

        primitive, lower, mask_of = linalg.cholesky_p, linalg._cholesky_lowering, lax.lax._tri
    except (ImportError, AttributeError) as error:
        warnings.warn(f"jax_tutti: cholesky leaves zeros above the factor with this JAX: {error}")
        return

    def join(factor, x):
        mask = lax.lax.broadcast(mask_of(bool, x.shape[-2:], 0), x.shape[:-2])
        return lax.lax.select(mask, factor, x)

    def factor(ctx, x):
        both = ctx.replace(avals_in=[*ctx.avals_in, *ctx.avals_in])
        return mlir.lower_fun(join, multiple_results=False)(both, *lower(ctx, x), x)

    mlir.register_lowering(primitive, factor, platform=platform)


def install(platform):
    _share_rules(platform)
    _factor_as_lapack(platform)
    _open_custom_partitioning(platform)
    _lower_sends(platform)
    if platform != "cpu":
        _branch_as_cpu(platform)
        _call_exports_for_cpu(platform)
        _asarray_as_cpu(platform)
