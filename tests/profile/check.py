"""Reads a timeline that `tutti run --trace` or TUTTI_TRACE wrote, and says what is wrong with it.

    check.py FILE.json [DEVICES MEETINGS [SLOW_DEVICE]] [--kernel NAME] [--waits LINE=DEVICE ...]

--kernel: nearly all of the time in kernels is that one's.  --waits: at the collective of that line the others waited for
that device; the collectives are given in the order of how long.
"""
import argparse
import collections
import json

EPSILON = 0.002  # microseconds: times are rounded to nanoseconds


def by_track(events):
    tracks = collections.defaultdict(list)
    for e in events:
        if e["ph"] == "X":
            tracks[e["pid"], e["tid"]].append(e)
    return tracks


def check_nesting(track, events):
    """Slices of a track lie inside one another, or apart."""
    open_until = []
    for e in sorted(events, key=lambda e: (e["ts"], -e["dur"])):
        end = e["ts"] + e["dur"]
        while open_until and open_until[-1] <= e["ts"] + EPSILON:
            open_until.pop()
        assert not open_until or end <= open_until[-1] + EPSILON, (track, e, open_until)
        open_until.append(end)


def inside(e, ts):
    return e["ts"] - EPSILON <= ts <= e["ts"] + e["dur"] + EPSILON


def check_arrows(events, tracks):
    """One arrow per pair: from the device that came last, into the next segment of another."""
    ends = collections.defaultdict(list)
    for e in events:
        if e["ph"] in "sf":
            ends[e["id"]].append(e)
    for pair in ends.values():
        assert sorted(e["ph"] for e in pair) == ["f", "s"], pair
        start, finish = sorted(pair, key=lambda e: e["ph"] != "s")
        assert start["ts"] <= finish["ts"] and start["tid"] != finish["tid"], pair
        leaves = [e for e in tracks[1, start["tid"]] if e["cat"] == "collective" and inside(e, start["ts"])]
        enters = [e for e in tracks[1, finish["tid"]] if e["cat"] == "segment" and inside(e, finish["ts"])]
        assert leaves and enters, pair
        assert any(e["args"]["last"] + 1 == e_tid for e, e_tid in [(e, start["tid"]) for e in leaves]), pair
    return len(ends)


def check_sums(events, tracks, devices):
    """Kernels lie in segments; what a device does of a run lasts as long as the run."""
    total = collections.Counter()
    for d in range(devices):
        for e in tracks[1, d + 1]:
            total[e["cat"]] += e["dur"]
            if e["cat"] == "kernel":
                assert any(o["cat"] in ("segment", "collective") and inside(o, e["ts"]) and inside(o, e["ts"] + e["dur"])
                           for o in tracks[1, d + 1]), e
    begins = {e["id"]: e["ts"] for e in events if e["ph"] == "b"}
    runs = {e["id"]: e["ts"] - begins[e["id"]] for e in events if e["ph"] == "e"}
    for run, duration in runs.items():
        for d in range(devices):
            mine = [e for e in tracks[1, d + 1] if e["args"]["run"] == run and e["cat"] != "kernel"]
            if not mine:
                continue  # a run on other devices
            first, last = min(e["ts"] for e in mine), max(e["ts"] + e["dur"] for e in mine)
            busy = sum(e["dur"] for e in mine)
            # 10 us: where a program goes from one thread to another nothing is recorded
            assert abs(busy - (last - first)) <= 0.01 * (last - first) + 10, (run, d, busy, first, last)
            assert begins[run] - EPSILON <= first and last <= begins[run] + duration + EPSILON, (run, d, first, last)
    return total, runs


def by_source(tracks, devices, category):
    """The slices of a category on all devices, by the line that wrote them."""
    slices = collections.defaultdict(list)
    for d in range(devices):
        for e in tracks[1, d + 1]:
            if e["cat"] == category:
                slices[e["args"]["source"]].append((d, e))
    return slices


def check_kernel(tracks, devices, name):
    took = collections.Counter()
    for slices in by_source(tracks, devices, "kernel").values():
        for _, e in slices:
            took[e["name"]] += e["dur"]
    assert took[name] > 0.9 * sum(took.values()), took


def check_waits(tracks, devices, wanted):
    """wanted: LINE=DEVICE, the collective at which most was waited first."""
    found = {}
    for source, slices in by_source(tracks, devices, "collective").items():
        waited, work = 0, {}
        for d, meeting in slices:
            waits = [e for e in tracks[1, d + 1] if e["cat"] == "wait" and abs(e["ts"] + e["dur"] - meeting["ts"]) < 0.01]
            waited += sum(e["dur"] for e in waits)
            work[d] = work.get(d, 0) + meeting["args"]["work_ns"]
        slow = max(work, key=work.get)
        assert work[slow] > 3 * sum(work.values()) / devices, (source, work)  # of four, one does nearly all
        found[f"{source.split(':')[-2]}={slow}"] = waited
    assert sorted(found, key=found.get, reverse=True) == wanted, (found, wanted)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("file")
    parser.add_argument("numbers", nargs="*", type=int)
    parser.add_argument("--kernel")
    parser.add_argument("--waits", nargs="+")
    args = parser.parse_args()
    with open(args.file) as file:
        trace = json.load(file)
    events = trace["traceEvents"]
    for e in events:
        assert e["ph"] in "MXCbesf" and "pid" in e and (e["ph"] == "M" or e["ts"] >= 0), e
        assert e["ph"] != "X" or e["dur"] >= 0, e
    tracks = by_track(events)
    names = [e["args"]["name"] for e in events if e["ph"] == "M" and e["name"] == "thread_name"]
    for track, slices in tracks.items():
        check_nesting(track, slices)
    narrows = check_arrows(events, tracks)
    devices = sum(name.startswith("device ") for name in names)
    total, runs = check_sums(events, tracks, devices)
    assert total["segment"] > 0 and total["kernel"] > 0 and runs, total
    if args.kernel:
        check_kernel(tracks, devices, args.kernel)
    if args.waits:
        check_waits(tracks, devices, args.waits)
    if len(args.numbers) > 1:
        wanted, meetings = args.numbers[:2]
        assert devices == wanted, devices
        assert narrows == meetings * (devices - 1), narrows
        assert any(e["ph"] == "C" for e in events), "no counter of memory"
        assert any(e["ph"] == "X" and e["cat"] == "compile" for e in events), "no compilation"
        sources = [e["args"].get("source", "") for e in events if e["ph"] == "X" and e["cat"] in ("kernel", "collective")]
        assert all(".mlir:" in s for s in sources), sources
    if len(args.numbers) > 2:
        slow = args.numbers[2]
        busy = {d: sum(e["dur"] for e in tracks[1, d + 1] if e["cat"] == "segment") for d in range(devices)}
        waits = {d: sum(e["dur"] for e in tracks[1, d + 1] if e["cat"] == "wait") for d in range(devices)}
        run = max(runs.values())
        assert all(busy[slow] > 2 * busy[d] and waits[slow] < waits[d] for d in busy if d != slow), (busy, waits)
        last = max((e for e in tracks[1, 1] if e["cat"] == "wait"), key=lambda e: e["dur"])
        assert last["args"]["last"] == slow, last
        mine = [e for e in tracks[1, slow + 1] if e["cat"] != "kernel"]
        span = max(e["ts"] + e["dur"] for e in mine) - min(e["ts"] for e in mine)
        assert abs(sum(e["dur"] for e in mine) - span) <= 0.01 * span, (mine, span)
        assert 0.2 * run <= span <= 1.01 * run, (span, run)  # before it workers may have to start
        kernels = sum(e["dur"] for e in tracks[1, slow + 1] if e["cat"] == "kernel")
        assert kernels >= 0.99 * busy[slow], (kernels, busy[slow])


main()
