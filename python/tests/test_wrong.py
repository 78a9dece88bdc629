"""Programs that go wrong on some devices: named at once, and the next launch works.

All of them are played by one process, on four devices."""
import pathlib

PROGRAMS = pathlib.Path(__file__).with_name("wrong_programs.py")


def test_wrong_programs(python):
    out = python([str(PROGRAMS)], "tutti", 4, TUTTI_DEVICE_MEMORY="64M")
    assert "9 named" in out, out
