"""examples/serve, from the training to the answers: trained in JAX on four devices, exported, compiled ahead, linked by
the C compiler into a static executable, and asked; what it says is what NumPy makes of the same parameters."""
import pathlib
import subprocess

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]


def test_served_answers(python, tmp_path):
    said = python([str(ROOT / "examples/serve/train.py"), str(tmp_path)], "tutti", 4)
    assert said == "100% of 150 new points are right\n"

    subprocess.run([ROOT / "build/tutti", "compile", "model.jaxexp", "-o", "model.o", "--header", "model.h"],
                   cwd=tmp_path, check=True)
    subprocess.run(["cc", "-O2", "-Wall", "-Wextra", "-Werror", "-static", "-s", "-Wl,--gc-sections", "-o", "serve",
                    ROOT / "examples/serve/serve.c", "model.o", "-I.", f"-I{ROOT / 'include'}",
                    ROOT / "build/libtutti_rt.a", "-lm", "-pthread"], cwd=tmp_path, check=True)
    assert (tmp_path / "serve").stat().st_size < 1_250_000  # a program of f32 products is linked with no others

    points = (tmp_path / "points.txt").read_text()
    asked = subprocess.run([tmp_path / "serve"], input=points, capture_output=True, text=True, check=True)
    answers = np.loadtxt(asked.stdout.splitlines())
    np.testing.assert_allclose(answers, np.loadtxt(tmp_path / "expected.txt"), atol=2e-6)

    first, other = points.splitlines()[:2]  # an empty line asks; what is no point is told
    again = subprocess.run([tmp_path / "serve"], input=f"{first}\n\nthree\n{other}\n", capture_output=True, text=True,
                           check=True)
    assert again.stdout.splitlines() == [asked.stdout.splitlines()[0], "two numbers are wanted",
                                         asked.stdout.splitlines()[1]]
