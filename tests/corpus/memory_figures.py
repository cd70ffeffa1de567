"""What `memory` of `tacho analyze --json` must say of a trace, counted anew from the file's text."""
import collections
import gzip
import json
from decimal import Decimal

from compare import check

TYPES = {0: "cpu", 1: "cuda", 6: "hip"}


def ns(text):
    return int(Decimal(text) * 1000)


def events_of(path):
    raw = (gzip.open if path.suffix == ".gz" else open)(path, "rb").read()
    if b'"[memory]"' not in raw:
        return []
    whole = json.loads(raw, parse_float=Decimal)
    return [e for e in (whole if isinstance(whole, list) else whole["traceEvents"]) if e.get("ph") in ("i", "X")]


def operators_at(operators, event):
    """(innermost, outermost) operator of the event's thread that is open then; the outermost of one alone is it itself: ""."""
    at = ns(event["ts"])
    opened = [o for o in operators[event["pid"], event["tid"]] if ns(o["ts"]) <= at < ns(o["ts"]) + ns(o["dur"])]
    opened.sort(key=lambda o: (ns(o["ts"]), -ns(o["dur"]), o["args"].get("External id", 1 << 60)))
    names = [o["name"] for o in opened if not o["name"].startswith("ProfilerStep#")]
    return (names[-1] if names else "", names[0] if len(names) > 1 else "")


def peak_of(events, operators):
    """The most, what of it was there before the recording, and what else was alive at the first moment of it."""
    start = events[0]["args"]["Total Allocated"] - events[0]["args"]["Bytes"]
    most = max([start] + [e["args"]["Total Allocated"] for e in events])
    alive, before, held = {}, start, start
    for event in events:
        if held == most:
            break
        args = event["args"]
        held = args["Total Allocated"]
        if args["Bytes"] > 0:
            alive[args["Addr"]] = event
        elif alive.pop(args["Addr"], None) is None:
            before += args["Bytes"]
    parts = collections.defaultdict(lambda: [0, 0])
    for event in alive.values():
        of = parts[operators_at(operators, event)]
        of[0] += 1
        of[1] += event["args"]["Bytes"]
    return most, max(before, 0), parts


def check_levels(name, got, events, operators):
    last, first = events[-1]["args"], events[0]["args"]
    check(f"{name} levels", [got["start_allocated_bytes"], got["end_allocated_bytes"]],
          [first["Total Allocated"] - first["Bytes"], last["Total Allocated"]])
    most, before, parts = peak_of(events, operators)
    peak = got["peak"]
    check(f"{name} peak", [peak["allocated_bytes"], peak["before_bytes"]], [most, before])
    check(f"{name} parts", {(o.get("name", ""), o.get("inside", "")): [o["blocks"], o["bytes"]] for o in peak["operators"]}, dict(parts))
    rest = peak.get("untold_bytes", 0)
    check(f"{name} parts add up", before + rest + sum(o["bytes"] for o in peak["operators"]), most)
    reached = [e for e in events if e["args"]["Total Allocated"] == most]
    if reached:
        check(f"{name} time of the peak", [peak["at_ns"], peak.get("reserved_bytes", 0)], [ns(reached[0]["ts"]), reached[0]["args"]["Total Reserved"]])
    series = got["series"]
    check(f"{name} series", [max(series["allocated_bytes"]), series["allocated_bytes"][-1] >= last["Total Allocated"], len(series["allocated_bytes"]) <= 500],
          [most, True, True])
    reserved = [e["args"]["Total Reserved"] for e in events]
    check(f"{name} reserved", got.get("reserved_peak", {}).get("bytes", 0), max(reserved))
    check(f"{name} reserved over time", max(series.get("reserved_bytes", [0])), max(reserved))


def check_growth(name, got, events):
    level = most = 0
    for event in events:
        level += event["args"]["Bytes"]
        most = max(most, level)
    check(f"{name} growth", [got["growth"]["end_bytes"], got["growth"]["most_bytes"]], [level, most])
    check(f"{name} no level", [key for key in got if "allocated" in key or "peak" in key], [])


def check_memory(name, t, path):
    events = events_of(path)
    recorded = [e for e in events if e.get("name") == "[memory]"]
    check(f"{name} has memory", "memory" in t, bool(recorded))
    damaged = [e for e in recorded if not {"Bytes", "Device Id", "Device Type"} <= e["args"].keys()]
    if damaged:
        check(f"{name} damaged memory", [t["memory"]["damaged"], t["memory"]["devices"]], [len(damaged), []])
        return
    operators = collections.defaultdict(list)
    for event in events:
        if event["ph"] == "X" and event.get("cat") in ("cpu_op", "Operator"):
            operators[event["pid"], event["tid"]].append(event)
    by_device = collections.defaultdict(list)
    for event in sorted(recorded, key=lambda e: (ns(e["ts"]), e["args"].get("Ev Idx", 0))):
        number = event["args"]["Device Id"]
        by_device[TYPES[event["args"]["Device Type"]] + ("" if number < 0 else f" {number}")].append(event)
    got = {d["device"]: d for d in t.get("memory", {"devices": []})["devices"]}
    check(f"{name} devices", sorted(got), sorted(by_device))
    for device, of in by_device.items():
        sizes = [e["args"]["Bytes"] for e in of]
        check(f"{name} {device} events", [got[device]["allocations"], got[device]["frees"]], [sum(b > 0 for b in sizes), sum(b < 0 for b in sizes)])
        if all("Total Allocated" in e["args"] for e in of):
            check_levels(f"{name} {device}", got[device], of, operators)
        else:
            check_growth(f"{name} {device}", got[device], of)
