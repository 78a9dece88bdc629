"""The lesson, x * x + sin(x), as a process of its own, by Tutti and by others: what must be on the machine, and how long
from start to result.  A table for docs/howto/deploy.md; the rows of packages that are not there are left out.

    pip install iree-base-compiler iree-base-runtime onnx onnxruntime jax       # any of them
    python bench/deploy.py

Ours plays it on four devices, the others on the one that they have.
"""
import importlib.metadata
import importlib.util
import os
import pathlib
import subprocess
import sys
import sysconfig
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / os.environ.get("BUILD", "build")
TOOLS = pathlib.Path(sysconfig.get_path("scripts"))

STABLEHLO = """func.func @main(%x: tensor<4x2xf32>) -> tensor<4x2xf32> {
  %a = stablehlo.multiply %x, %x : tensor<4x2xf32>
  %b = stablehlo.sine %x : tensor<4x2xf32>
  %c = stablehlo.add %a, %b : tensor<4x2xf32>
  return %c : tensor<4x2xf32>
}
"""

ONNX_MODEL = """
import onnx
from onnx import TensorProto, helper
node, array = helper.make_node, lambda n: helper.make_tensor_value_info(n, TensorProto.FLOAT, [4, 2])
graph = helper.make_graph([node("Mul", ["x", "x"], ["a"]), node("Sin", ["x"], ["b"]), node("Add", ["a", "b"], ["y"])],
                          "lesson", [array("x")], [array("y")])
onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), "lesson.onnx")
"""
ONNX_RUN = """
import numpy as np, onnxruntime
x = np.arange(8, dtype=np.float32).reshape(4, 2)
print(onnxruntime.InferenceSession("lesson.onnx", providers=["CPUExecutionProvider"]).run(None, {"x": x})[0])
"""
JAX_RUN = """
import jax, jax.numpy as jnp
print(jax.jit(lambda x: x * x + jnp.sin(x))(jnp.arange(8.0).reshape(4, 2)))
"""


def run(*words, **named):
    return subprocess.run(list(map(str, words)), check=True, capture_output=True, text=True, **named).stdout


def has(*modules):
    try:
        return all(importlib.util.find_spec(m) for m in modules)
    except ModuleNotFoundError:  # of a package that holds one
        return False


def installed(*packages):
    """Bytes of all files of these packages."""
    files = (f for p in packages for f in importlib.metadata.files(p) or [])
    return sum(path.stat().st_size for f in files if (path := pathlib.Path(f.locate())).is_file())


def size(n):
    return f"{n / 1e6:.1f} MB" if n >= 1e6 else f"{n / 1e3:.1f} KB"


class Table:
    def __init__(self, folder):
        self.folder = folder
        run("cc", "-O2", "-o", folder / "start", ROOT / "bench/start.c")
        print("| | on the machine | the program | start to result | peak memory |\n|---|---|---|---|---|")

    def row(self, name, machine, program, runs, *command):
        """`machine`: bytes that must be installed; `program`: those of the model itself."""
        said = run(*command, cwd=self.folder)
        assert "49.65" in said, said  # 49 + sin(7)
        ms, _, mb, _ = run(self.folder / "start", runs, *command, cwd=self.folder).split()
        print(f"| {name} | {size(machine) if machine else '-'} | {size(program)} | {ms} ms | {mb} MB |", flush=True)


def ours(table):
    at = table.folder
    run(BUILD / "tutti", "compile", ROOT / "examples/lesson.mlir", "-o", at / "lesson.o", "--header", at / "lesson.h")
    run("cc", "-O2", "-static", "-s", "-Wl,--gc-sections", "-o", at / "lesson", ROOT / "examples/deploy/lesson.c",
        at / "lesson.o", f"-I{at}", f"-I{ROOT / 'include'}", BUILD / "libtutti_rt.a", "-lm", "-pthread")
    table.row("Tutti, compiled ahead, static, 4 devices", 0, (at / "lesson").stat().st_size, 50, at / "lesson")
    run("strip", "-o", at / "engine.so", BUILD / "pjrt_plugin_tutti.so")
    run("strip", "-o", at / "tutti", BUILD / "tutti")
    table.row("Tutti, `tutti run`: compiled in place, 4 devices",
              sum((at / f).stat().st_size for f in ("engine.so", "tutti")), (ROOT / "examples/lesson.mlir").stat().st_size,
              20, "env", f"TUTTI_PLUGIN={at / 'engine.so'}", at / "tutti", "run", ROOT / "examples/lesson.mlir", "--input",
              ROOT / "examples/lesson.npy")


def iree(table):
    (table.folder / "lesson.mlir").write_text(STABLEHLO)
    model = table.folder / "lesson.vmfb"
    run(TOOLS / "iree-compile", "--iree-input-type=stablehlo", "--iree-hal-target-device=local",
        "--iree-hal-local-target-device-backends=llvm-cpu", "--iree-llvmcpu-target-cpu=host", table.folder / "lesson.mlir",
        "-o", model)
    tool = min(pathlib.Path(importlib.util.find_spec("iree.runtime").origin).parents[1].rglob("iree-run-module"))
    table.row(f"IREE {importlib.metadata.version('iree-base-runtime')}, compiled ahead, `iree-run-module`",
              tool.stat().st_size, model.stat().st_size, 30, tool, "--device=local-sync", f"--module={model}",
              "--function=main", "--input=4x2xf32=[[0 1][2 3][4 5][6 7]]")


def onnx(table):
    run(sys.executable, "-c", ONNX_MODEL, cwd=table.folder)
    (table.folder / "onnx_run.py").write_text(ONNX_RUN)
    table.row(f"ONNX Runtime {importlib.metadata.version('onnxruntime')}, from Python", installed("onnxruntime", "numpy"),
              (table.folder / "lesson.onnx").stat().st_size, 5, sys.executable, table.folder / "onnx_run.py")


def jax(table):
    (table.folder / "jax_run.py").write_text(JAX_RUN)
    table.row(f"JAX {importlib.metadata.version('jax')}, from Python",
              installed("jax", "jaxlib", "numpy", "scipy", "ml_dtypes"), len(JAX_RUN), 3, "env", "JAX_PLATFORMS=cpu",
              sys.executable, table.folder / "jax_run.py")


with tempfile.TemporaryDirectory() as name:
    rows = Table(pathlib.Path(name))
    ours(rows)
    if has("iree.compiler", "iree.runtime"):
        iree(rows)
    if has("onnx", "onnxruntime"):
        onnx(rows)
    if has("jax"):
        jax(rows)
