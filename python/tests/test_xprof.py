"""What xprof, read offline, makes of a training step that jax.profiler recorded on our engine: devices,
collectives, sources, and its tables of operations and the roofline."""
import importlib.util

import pytest

from test_profile import SETUP
from test_seam import play

pytestmark = pytest.mark.skipif(not importlib.util.find_spec("xprof"), reason="xprof is not installed")

READ = """
from xprof.convert import raw_to_tool_data

def is_source(text):
    return any(file in text for file in (".py:", "<string>:", "&lt;string&gt;:"))

def tables(tool):
    data, _ = raw_to_tool_data.xspace_to_tool_data(files["xplane.pb"], tool, {})
    read = json.loads(data)
    for table in read if isinstance(read, list) else [read]:
        names = [column["id"] for column in table["cols"]]
        rows = [dict(zip(names, (cell and cell.get("v") for cell in row["c"]))) for row in table["rows"]]
        yield rows, table.get("p") or {}

profile()
"""


def test_timeline(python):
    play(python, SETUP + READ + """
data, _ = raw_to_tool_data.xspace_to_tool_data(files["xplane.pb"], "trace_viewer", {})
events = json.loads(data)["traceEvents"]
names = {e["pid"]: e["args"]["name"] for e in events if e.get("name") == "process_name"}
ours = {pid for pid, name in names.items() if name.startswith("/device:")}
assert sorted(names[pid] for pid in ours) == [f"/device:TPU:{d}" for d in range(DEVICES)], names
for pid in ours:
    mine = [e for e in events if e.get("ph") == "X" and e["pid"] == pid]
    meetings = [e for e in mine if e["name"] == "all_reduce"]
    assert len(meetings) == STEPS, [e["name"] for e in mine]
    assert all(is_source(e["args"]["source"]) for e in meetings), meetings
""", devices=4)


def test_tables(python):
    play(python, SETUP + READ + """
(rows, _), = tables("hlo_stats")
by_name = {row["hlo_op_name"]: row for row in rows}
meeting = by_name["all_reduce"]
assert meeting["category"] == "all-reduce" and meeting["occurrences"] == DEVICES * STEPS, meeting
product = by_name["dot_general"]
assert product["occurrences"] == 2 * DEVICES * STEPS and product["model_flop_rate"] > 0, product
assert product["measured_memory_bw"] > 0 and product["bound_by"] in ("Compute", "HBM"), product
flops = product["model_flop_rate"] * product["total_time"] * 1e3  # GFLOP/s and microseconds
assert abs(flops / (2 * 2 * 32 * 64 * 64 * DEVICES * STEPS) - 1) < 0.01, flops
for row in rows:
    assert is_source(row["source_info"]), row

all_rows, machine = next(tables("roofline_model"))
assert float(machine["peak_flop_rate"]) > 0 and float(machine["peak_hbm_bw"]) > 0, machine
named = {row["operation"]: row for row in all_rows if row["step"] == "Total"}
assert named["dot_general"]["bound_by"] in ("Compute", "HBM"), named["dot_general"]
assert named["dot_general"]["roofline_efficiency"] > 0, named["dot_general"]

operations = [row for rows, _ in tables("framework_op_stats") for row in rows]
assert {"psum", "sub"} <= {row["operation"] for row in operations}, operations
""", devices=4)
