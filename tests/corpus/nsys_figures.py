"""Compares the figures of `tacho analyze --json` for an export of Nsight Systems, exactly: with its oracle (check_nsys), and with
the rows of the database itself, read a second way (check_rows)."""
import collections
import hashlib
import re
import sqlite3

from compare import check
from figures import by, check_invariants

COPY_KINDS = {"Host-to-Device": "HtoD", "Device-to-Host": "DtoH", "Device-to-Device": "DtoD"}
# The tables whose rows become events.
EVENT_TABLES = ["CUPTI_ACTIVITY_KIND_" + kind for kind in
                ("KERNEL", "MEMCPY", "MEMSET", "RUNTIME", "SYNCHRONIZATION", "GRAPH_TRACE", "OVERHEAD")] + [
                "NVTX_EVENTS", "OSRT_API", "PROFILER_OVERHEAD"]


def unversioned(name):
    return re.sub(r"_v\d{4,}$", "", name)


def merged(traces, key, *fields):
    return by([row for t in traces for row in t[key]], *fields)


def extremes(rows, name):
    return [of((row[key] for row in rows if row["name"] == name), default=None) for of, key in ((min, "min_ns"), (max, "max_ns"))]


def check_nsys(name, traces, want, path):
    """`want`: FILE.sqlite.oracle.json of the export at `path`, whose traces these are."""
    f = want["file"]
    content = path.read_bytes()
    check(f"{name} is the file", [len(content), hashlib.sha256(content).hexdigest()], [f["bytes"], f["sha256"]])
    check(f"{name} start", {t["base_time_ns"] for t in traces}, {want["header"]["utcEpochNs"]})
    gpus = want["header"]["gpus"]
    check(f"{name} GPUs", all([d["name"] for d in t["facts"]["devices"]] == gpus for t in traces), True)
    rows = {table: sum(t["events"]["by_phase"].get(table, 0) for t in traces) for table in EVENT_TABLES}
    check(f"{name} rows", {k: v for k, v in rows.items() if v}, {k: v for k, v in want["rows"].plain().items() if k in EVENT_TABLES})
    kernels = want["kernels"]
    got = merged(traces, "kernels", "name", "count", "total_ns")
    check(f"{name} kernels", [len(got), *(sum(k[i] for k in got.values()) for i in (0, 1))],
          [kernels["distinct_demangled"], kernels["count"], kernels["sum_ns"]])
    for row in kernels["table"]:
        check(f"{name} kernel {row['name'][:60]}", got.get(row["name"]), [row["count"], row["sum_ns"]])
        check(f"{name} kernel extremes {row['name'][:60]}", extremes([k for t in traces for k in t["kernels"]], row["name"]),
              [row["min_ns"], row["max_ns"]])
    graphs = sum(t["launches"]["graph_gpu_events"] for t in traces)
    check(f"{name} kernels of graphs", graphs, kernels["graph_node_kernels"])
    copies = merged(traces, "copies", "kind", "count", "total_ns", "bytes")
    check(f"{name} copies", copies, {COPY_KINDS[k]: [v["count"], v["sum_ns"], v["bytes"]] for k, v in want["memcpy"].plain().items()})
    memsets = [sum(row.get(k, 0) for t in traces for row in t["memsets"]) for k in ("count", "total_ns", "bytes")]
    check(f"{name} memsets", memsets, [want["memset"][k] for k in ("count", "sum_ns", "bytes")])
    devices = {d["device"]: d for t in traces for d in t["devices"]}
    check(f"{name} devices", sorted(devices), sorted(want["devices"]))
    for device, wanted in want["devices"].items():
        have = devices[device]
        for key in ("gpu_events", "window_ns", "busy_ns", "idle_ns", "kernel_busy_ns", "kernel_sum_ns"):
            check(f"{name} device {device} {key}", have[key], wanted[key])
        check(f"{name} device {device} start", have["window_start_ns"], wanted["first_ns"])
        check(f"{name} device {device} communication", have["comm_busy_ns"], wanted["comm"]["nccl_busy_ns"])
        gaps = wanted["gaps"].plain()
        check(f"{name} device {device} gaps", {k: have["gaps"][k] for k in gaps}, gaps)
        streams = {s["stream"]: {k: s[k] for k in ("events", "sum_ns", "busy_ns", "overlaps")} for s in have["streams"]}
        check(f"{name} device {device} streams", streams, wanted["streams"].plain())
    apis = merged([t["launches"] for t in traces], "apis", "name", "count", "total_ns")
    for row in want["api"]:
        call = unversioned(row["name"])
        check(f"{name} {call}", apis.pop(call, None), [row["count"], row["sum_ns"]])
        check(f"{name} {call} extremes", extremes([a for t in traces for a in t["launches"]["apis"]], call),
              [row["min_ns"], row["max_ns"]])
    check(f"{name} other calls", apis, {})
    check(f"{name} loses nothing", [n["id"] for t in traces for n in t["notes"] if n["severity"] == "data-loss"], [])
    for t in traces:
        check_invariants(f"{name} {t['path'][-12:]}", t)


def check_rows(name, traces, path):
    """Each process by the rows of the database, taken one by one."""
    database = sqlite3.connect(f"file:{path}?immutable=1", uri=True)
    database.row_factory = sqlite3.Row
    tables = {row["name"] for row in database.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")}
    strings = {row["id"]: row["value"] for row in database.execute("SELECT id, value FROM StringIds")}

    def rows(table):
        return database.execute(f"SELECT * FROM {table}") if table in tables else []

    new = lambda: collections.defaultdict(lambda: [0, 0])  # noqa: E731
    kernels, calls, work, ops, others = (collections.defaultdict(new) for _ in range(5))
    launched, worked = collections.defaultdict(set), collections.defaultdict(list)

    def add(to, pid, key, row):
        to[pid][key][0] += 1
        to[pid][key][1] += row["end"] - row["start"]

    for table in ("KERNEL", "MEMCPY", "MEMSET"):
        for row in rows("CUPTI_ACTIVITY_KIND_" + table):
            pid = row["globalPid"] >> 24 & 0xffffff
            worked[pid].append(row["correlationId"])
            add(work, pid, str(row["deviceId"]), row)
            if table == "KERNEL":
                add(kernels, pid, strings[row["demangledName"]], row)
    for row in rows("CUPTI_ACTIVITY_KIND_RUNTIME"):
        pid = row["globalTid"] >> 24 & 0xffffff
        launched[pid].add(row["correlationId"])
        add(calls, pid, unversioned(strings[row["nameId"]]), row)
    for row in rows("NVTX_EVENTS"):
        text = row["text"] if row["text"] is not None else strings[row["textId"]]
        # torch's operators; "FSDP::pre_forward (blocks.9)" is a range of its users.
        if row["eventType"] == 59 and (op := re.fullmatch(r"([\w:.]+)(, seq = \d+)?, op_id = \d+(, sizes = .*)?", text)):
            add(ops, row["globalTid"] >> 24 & 0xffffff, op[1], row)
    for row in rows("OSRT_API"):
        add(others, row["globalTid"] >> 24 & 0xffffff, "osrt", row)

    by_pid = {(int(t["path"].rpartition("#pid=")[2]) if "#pid=" in t["path"] else None): t for t in traces}
    if None in by_pid:
        by_pid = {next(iter(calls)): by_pid[None]}
    for pid, t in by_pid.items():
        one = f"{name} {pid}"
        check(f"{one} kernels", by(t["kernels"], "name", "count", "total_ns"), dict(kernels[pid]))
        check(f"{one} calls", by(t["launches"]["apis"], "name", "count", "total_ns"), dict(calls[pid]))
        check(f"{one} operators", by(t["ops"], "name", "count", "cpu_total_ns"), dict(ops[pid]))
        check(f"{one} OS calls", t["events"]["by_category"].get("osrt", 0), others[pid]["osrt"][0])
        sums = {d["device"]: [sum(s[k] for s in d["streams"]) for k in ("events", "sum_ns")] for d in t["devices"]}
        check(f"{one} work", sums, dict(work[pid]))
        linked = sum(correlation in launched[pid] for correlation in worked[pid])
        check(f"{one} launches", [t["launches"][k] for k in ("with_launch", "without_launch")], [linked, len(worked[pid]) - linked])
    check(f"{name} processes", sorted(by_pid), sorted({*kernels, *calls, *work, *ops, *others}))
