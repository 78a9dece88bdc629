"""Reads Perfetto's protocol buffers by hand, and compares them with the timeline in JSON of a run of the
same program: the same tracks, slices and arrows.

    pftrace.py FILE.pftrace FILE.json
"""
import collections
import json
import struct
import sys


def fields(data):
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(data):
        key = varint()
        if key & 7 == 0:
            yield key >> 3, varint()
        elif key & 7 == 1:
            at += 8
            yield key >> 3, struct.unpack("<Q", data[at - 8:at])[0]
        else:
            assert key & 7 == 2, key
            n = varint()
            at += n
            yield key >> 3, data[at - n:at]


def main():
    with open(sys.argv[1], "rb") as file:
        packets = [dict(fields(packet)) for number, packet in fields(file.read()) if number == 1]
    names = {}
    for p in packets:
        if 60 in p:
            track = dict(fields(p[60]))
            names[track[1]] = track[2].decode()
    events = [(p[8], i, dict(fields(p[11]))) for i, p in enumerate(packets) if 11 in p]
    slices, leaves, enters = collections.Counter(), [], []
    open_slices = collections.defaultdict(list)
    for at, _, e in sorted(events, key=lambda e: e[:2]):
        track = names[e[11]]
        if e[9] == 1:
            open_slices[e[11]].append(at)
            slices[track if track.startswith("device") else "other", e[22].decode(), e[23].decode()] += 1
        elif e[9] == 2:
            assert open_slices[e[11]].pop() <= at
        leaves += [e[47]] if 47 in e else []
        enters += [e[48]] if 48 in e else []
    assert not any(open_slices.values()), open_slices
    assert sorted(leaves) == sorted(enters) and len(set(leaves)) == len(leaves), (leaves, enters)
    with open(sys.argv[2]) as file:
        timeline = json.load(file)["traceEvents"]
    wanted = collections.Counter((f"device {e['tid'] - 1}", e["cat"], e["name"]) for e in timeline
                                 if e["ph"] == "X" and e["pid"] == 1)
    ours = {key: n for key, n in slices.items() if key[0] != "other"}
    timing = ("wait", "ready")  # one run waits where another does not
    assert {k: n for k, n in ours.items() if k[1] not in timing} == \
        {k: n for k, n in wanted.items() if k[1] not in timing}, (ours, wanted)
    assert len(leaves) == sum(e["ph"] == "s" for e in timeline)


main()
