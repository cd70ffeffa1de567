#!/usr/bin/env python3
"""Checks a trace that generate_trace wrote and prints what it consists of.

Whole-file json.load: meant for traces of up to a few hundred megabytes. Exit status 1 when the
trace breaks a rule that real ones keep.
"""

import argparse
import collections
import gzip
import json
import os
import sys
from decimal import Decimal


def nanoseconds(text):
    return int(Decimal(text) * 1000)


def load(path):
    opener = gzip.open if path.endswith(".gz") else open
    with opener(path, "rt") as file:
        return json.load(file, parse_float=nanoseconds)


def misnested(events):
    """Events of one track, sorted by start, that neither follow nor lie within the one before."""
    count = 0
    stack = []
    for event in sorted(events, key=lambda e: (e["ts"], -e["dur"])):
        while stack and event["ts"] >= stack[-1]:
            stack.pop()
        end = event["ts"] + event["dur"]
        if stack and end > stack[-1]:
            count += 1
        stack.append(end)
    return count


def overlaps(events):
    count, last_end = 0, 0
    for event in events:
        count += event["ts"] < last_end
        last_end = max(last_end, event["ts"] + event["dur"])
    return count


def flow_defects(events):
    """Flows whose place differs from that of the event before them, or without a partner."""
    displaced = 0
    starts = set()
    ends = set()
    for before, event in zip(events, events[1:]):
        if event["ph"] not in "sf":
            continue
        same_place = all(event[key] == before[key] for key in ("pid", "tid", "ts"))
        displaced += not same_place or event["id"] != before["args"]["correlation"]
        (starts if event["ph"] == "s" else ends).add(event["id"])
    device = {e["args"]["correlation"] for e in events if e.get("cat") in ("kernel", "gpu_memcpy")}
    return displaced, len(device - starts), len(device - ends)


def python_defects(events):
    """Frames whose caller is not the frame that encloses them."""
    frames = {e["args"]["Python id"]: e for e in events}
    wrong = 0
    for event in events:
        parent = event["args"]["Python parent id"]
        if parent is None:
            continue
        caller = frames[parent]
        inside = caller["ts"] <= event["ts"]
        inside = inside and event["ts"] + event["dur"] <= caller["ts"] + caller["dur"]
        wrong += not inside
    return wrong + len(events) - len(frames)


def early_kernels(events):
    """Device events that start before the call that launched them, or without one."""
    calls = {}
    for event in events:
        if event.get("cat") in ("cuda_runtime", "cuda_driver"):
            calls[event["args"]["correlation"]] = event["ts"]
    device = [e for e in events if e.get("cat") in ("kernel", "gpu_memcpy")]
    return sum(e["ts"] < calls.get(e["args"]["correlation"], e["ts"] + 1) for e in device)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("trace")
    path = parser.parse_args().trace
    trace = load(path)
    events = trace["traceEvents"]
    complete = [e for e in events if e["ph"] == "X"]

    mix = collections.Counter(e.get("cat", e["ph"]) for e in complete)
    mix.update(f"flow {e['ph']}" for e in events if e["ph"] in "sf")
    mix.update(e["ph"] for e in events if e["ph"] not in "Xsf")
    print(f"{len(events):,} events, {os.path.getsize(path) / len(events):.1f} bytes each")
    for name, count in mix.most_common():
        print(f"  {name:20} {count:10,} {100 * count / len(events):6.2f} %")
    kernels = [e for e in complete if e["cat"] == "kernel"]
    span = (max(e["ts"] for e in kernels) - min(e["ts"] for e in kernels)) / 1e9
    print(f"  unique names {len({e['name'] for e in complete}):,}; longest "
          f"{max(len(e['name']) for e in complete)}; "
          f"{len(kernels) / span / 1000:.0f} k kernels per second of trace")

    tracks = collections.defaultdict(list)
    for event in complete:
        if event["cat"] not in ("gpu_user_annotation", "Trace"):
            tracks[event["pid"], event["tid"]].append(event)
    host = [t for (pid, _), t in tracks.items() if pid != 0]
    device = [t for (pid, _), t in tracks.items() if pid == 0]
    displaced, no_start, no_end = flow_defects(events)
    graph = [e for e in kernels if "External id" not in e["args"]]
    per_launch = collections.Counter(e["args"]["correlation"] for e in graph)
    defects = {
        "events that overlap without nesting on a thread": sum(map(misnested, host)),
        "device events out of order on a stream": sum(map(overlaps, device)),
        "flows away from the event before them": displaced,
        "device events without a flow start": no_start,
        "device events without a flow end": no_end,
        "Python frames outside their caller": python_defects(
            [e for e in complete if e["cat"] == "python_function"]),
        "device events before their launch": early_kernels(complete),
        "graph launches of an odd size": sum(n != 432 for n in per_launch.values()),
        "repeated External ids of operators": mix["cpu_op"] - len(
            {e["args"]["External id"] for e in complete if e["cat"] == "cpu_op"}),
    }
    print(f"  graph launches {len(per_launch)}")
    for name, count in defects.items():
        if count:
            print(f"WRONG: {count} {name}")
    return 1 if any(defects.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
