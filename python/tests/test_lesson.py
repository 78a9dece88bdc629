"""The lesson on Tutti against the lesson on JAX's own CPU devices, with 1, 2, 4 and 8 of them."""
import json
import pathlib

import numpy as np
import pytest

PROGRAMS = pathlib.Path(__file__).with_name("lesson_programs.py")
COUNTS = [1, 2, 4, 8]


class Run:
    def __init__(self, python, platform, devices, folder):
        path = folder / f"{platform}{devices}.npz"
        text = python([str(PROGRAMS), str(path)], platform, devices)
        self.said = json.loads(text.strip().splitlines()[-1])
        self.arrays = np.load(path)


@pytest.fixture(scope="module", params=COUNTS)
def pair(request, python, tmp_path_factory):
    folder = tmp_path_factory.mktemp("lesson")
    return [Run(python, platform, request.param, folder) for platform in ("tutti", "cpu")]


def ulps(a, b):
    """How many floats lie between a and b."""
    def order(x):
        bits = x.view(np.int32).astype(np.int64)
        return np.where(bits < 0, -(bits & 0x7FFFFFFF), bits)

    return np.abs(order(a) - order(b))


def test_it_is_our_engine(pair):
    ours, theirs = pair
    assert ours.said["platform"] == "tutti"
    assert theirs.said["platform"] == "cpu"


def test_devices(pair):
    ours, theirs = pair
    assert ours.said["devices"] == theirs.said["devices"]
    assert ours.said["count"] == theirs.said["count"]


def test_places(pair):
    """Shapes, types, devices and shards are JAX's own."""
    ours, theirs = (run.said["arrays"] for run in pair)
    assert ours.keys() == theirs.keys()
    for name in ours:
        for what in ("shape", "dtype", "devices", "shards"):
            assert ours[name][what] == theirs[name][what], (name, what)


def of_kind(pair, kind):
    ours, theirs = pair
    names = [name for name in theirs.said["arrays"] if name.startswith(kind + "/")]
    assert names
    for name in names:
        yield name, ours, theirs


def test_same(pair):
    for name, ours, theirs in of_kind(pair, "same"):
        assert ours.said["arrays"][name]["text"] == theirs.said["arrays"][name]["text"], name


def test_sums(pair):
    for name, ours, theirs in of_kind(pair, "sum"):
        a, b = ours.arrays[name], theirs.arrays[name]
        scale = np.abs(b).max()
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-5 * scale, err_msg=name)


def test_bits(pair):
    for name, ours, theirs in of_kind(pair, "bits"):
        np.testing.assert_array_equal(ours.arrays[name], theirs.arrays[name], err_msg=name)


def test_normal(pair):
    for name, ours, theirs in of_kind(pair, "ulp"):
        assert ulps(ours.arrays[name], theirs.arrays[name]).max() <= 2, name


def test_together_keeps_replicas_equal(pair):
    """Without the collective the parameters drift apart; with it they do not."""
    ours, _ = pair
    together, alone = ours.arrays["sum/together w"], ours.arrays["sum/alone w"]
    assert (together == together[0]).all()
    if len(alone) > 1:
        assert not (alone == alone[0]).all()
