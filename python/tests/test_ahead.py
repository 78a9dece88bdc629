"""Models that JAX exports, compiled ahead; `make ahead-models` plays all of them."""
import os

MODELS = os.path.join(os.path.dirname(__file__), "../../tests/ahead/models.py")


def test_models(python):
    said = python([MODELS, "--every", "4"], "cpu", devices=4)
    assert "11 models compiled ahead and played, 0 failed" in said
