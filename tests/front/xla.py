"""Programs that the front lowered, compiled and run by jaxlib's CPU backend.

usage: xla.py FOLDER

For each NAME.mlir in the folder, NAME.in0.npy, NAME.in1.npy ... are its arguments and
NAME.out0.npy ... what our engine gave.  Real XLA must accept the text and agree.
"""
import os
import re
import sys

os.environ.setdefault("XLA_FLAGS", "--xla_force_host_platform_device_count=8")
os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax
import numpy as np
from jax._src import compiler
from jax._src.interpreters import mlir
from jax._src.lib import xla_client as xc
from jax._src.lib.mlir import ir
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from jaxlib import lapack

jax.config.update("jax_enable_x64", True)
lapack._lapack.initialize()  # as JAX does before it lowers a call of one


def meshes(text, devices):
    found = {}
    for name, axes, ids in re.findall(
        r"sdy\.mesh @(\w+) = <\[(.*?)\](?:, device_ids=\[(.*?)\])?>", text
    ):
        pairs = re.findall(r'"(.*?)"=(\d+)', axes)
        order = [int(i) for i in ids.split(",")] if ids else range(len(devices))
        grid = np.array([devices[i] for i in order]).reshape([int(s) for _, s in pairs])
        found[name] = Mesh(grid, [n for n, _ in pairs])
    return found


def shardings(part, known, devices):
    """One per tensor in a list of arguments or results; without sdy.sharding, on one device."""
    out = []
    for tensor in re.split(r"tensor<", part)[1:]:
        said = re.search(r"#sdy\.sharding<@(\w+), \[(.*?)\]>", tensor)
        if not said:
            out.append(jax.sharding.SingleDeviceSharding(devices[0]))
            continue
        dims = [tuple(re.findall(r'"(.*?)"', d)) for d in re.findall(r"\{(.*?)\}", said[2])]
        out.append(NamedSharding(known[said[1]], PartitionSpec(*[d or None for d in dims])))
    return out


def signature(text):
    line = next(l for l in text.splitlines() if "func.func public @main" in l)
    depth, at = 0, line.index("@main(")
    start = line.index("(", at)
    for end in range(start, len(line)):
        depth += {"(": 1, ")": -1}.get(line[end], 0)
        if depth == 0:
            break
    rest = line[end + 1 :]
    return line[start:end], rest[rest.find("->") :]


def run(path):
    text = open(path).read()
    stem = path[: -len(".mlir")]
    n = int((re.search(r"num_partitions = (\d+)", text) or [0, "1"])[1])
    devices = jax.devices("cpu")[:n]
    known = meshes(text, devices)
    args, results = signature(text)
    ins = []
    for i, sharding in enumerate(shardings(args, known, devices)):
        ins.append(jax.device_put(np.load(f"{stem}.in{i}.npy"), sharding))
    options = compiler.get_compile_options(
        num_replicas=1,
        num_partitions=n,
        device_assignment=np.array([[d.id for d in devices]]),
    )
    options.executable_build_options.use_spmd_partitioning = True
    options.executable_build_options.use_shardy_partitioner = True
    with mlir.make_ir_context():
        module = ir.Module.parse(text)
        loaded = compiler.backend_compile_and_load(
            devices[0].client, module, xc.DeviceList(tuple(devices)), options, []
        )
    outs = loaded.execute_sharded(ins).disassemble_into_single_device_arrays()
    worst = 0.0
    for i, (sharding, parts) in enumerate(zip(shardings(results, known, devices), outs)):
        want = np.load(f"{stem}.out{i}.npy")
        got = np.asarray(jax.make_array_from_single_device_arrays(want.shape, sharding, parts))
        assert got.dtype == want.dtype, f"result {i}: {got.dtype}, we said {want.dtype}"
        worst = max(worst, difference(got, want))
    return worst


def difference(a, b):
    """Relative to the size of the numbers; not a number where both are is no difference."""
    if a.dtype.kind in "biu":
        return float(np.any(a != b))
    wide = np.complex128 if a.dtype.kind == "c" else np.float64
    a, b = a.astype(wide), b.astype(wide)
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    scale = max(1.0, float(np.nanmax(np.abs(np.where(np.isfinite(b), b, 0)), initial=0)))
    return float(np.max(np.where(same, 0, np.abs(a - b)), initial=0)) / scale


def tolerance(stem):
    kinds = [np.load(f).dtype for f in sorted(files(stem))]
    small = min((np.finfo(k).precision for k in kinds if k.kind in "fc"), default=15)
    return {3: 5e-3, 6: 2e-5, 15: 1e-10}.get(small, 1e-2)


def files(stem):
    i = 0
    while os.path.exists(f"{stem}.out{i}.npy"):
        yield f"{stem}.out{i}.npy"
        i += 1


def main(folder):
    bad = 0
    names = sorted(f for f in os.listdir(folder) if f.endswith(".mlir"))
    for name in names:
        path = os.path.join(folder, name)
        try:
            worst = run(path)
            limit = tolerance(path[: -len(".mlir")])
            if worst > limit:
                raise AssertionError(f"differs by {worst:.3g}, more than {limit:.3g}")
        except Exception as error:
            bad += 1
            print(f"{name}: {type(error).__name__}: {str(error)[:1500]}")
    print(f"{len(names) - bad} of {len(names)} programs agree with XLA")
    return 1 if bad or not names else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
