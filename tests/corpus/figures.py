"""Compares the figures of `tacho analyze --json` for one trace with the expected ones, exactly: GPU traces (check_oracle),
recordings of vLLM and of SGLang."""
import collections
import gzip
import hashlib
import json
import tarfile
from decimal import Decimal

from compare import check
from expected import HAVE_WORK_OF_NO_LENGTH, otherwise

GPU = ("kernel", "gpu_memcpy", "gpu_memset")
TODAY = {"Kernel": "kernel", "Memcpy": "gpu_memcpy", "Memset": "gpu_memset", "Runtime": "cuda_runtime",
         "Operator": "cpu_op"}  # the names of 2021


def by(rows, key, *fields):
    """rows as {key: [sums of fields]}: a kernel on two devices has two rows."""
    out = collections.defaultdict(lambda: [0] * len(fields))
    for row in rows:
        for i, f in enumerate(fields):
            out[row[key]][i] += row[f]
    return dict(out)


def check_invariants(name, t):
    for d in t["devices"]:
        check(f"{name} device {d['device']} busy+idle", d["busy_ns"] + d["idle_ns"], d["window_ns"])
        parts = d["compute_ns"] + d["exposed_comm_ns"] + d["exposed_copy_ns"] + d["idle_ns"]
        check(f"{name} device {d['device']} parts", parts, d["window_ns"])
    idle = t.get("idle")
    if idle is None:
        check(f"{name} has no device", t["devices"], [])
        return
    check(f"{name} idle causes", idle["busy_ns"] + sum(c["ns"] for c in idle["causes"]), idle["window_ns"])


def gaps_between_work_with_length(path):
    """{device: gaps}: the oracle also ends a gap at an event of no length, which is not work."""
    opened = gzip.open(path) if path.name.endswith(".gz") else open(path, "rb")
    with opened as file:
        events = json.load(file, parse_float=Decimal)["traceEvents"]
    work = collections.defaultdict(list)
    for e in events:
        if e["ph"] == "X" and TODAY.get(e.get("cat"), e.get("cat")) in GPU:
            start = round(Decimal(e["ts"]) * 1000)
            work[str(e["args"].get("device", e["pid"]))].append((start, start + round(Decimal(e["dur"]) * 1000)))
    found = {}
    for device, spans in work.items():
        end, gaps = min(spans)[0], []
        last = max(spans, key=lambda s: s[1])[1]
        for a, b in sorted(s for s in spans if s[0] < s[1]):
            gaps.append(a - end)
            end = max(end, b)
        gaps = [g for g in [*gaps, last - end] if g > 0]
        found[device] = {"count": len(gaps), **{f"over_{n}": sum(g > ns for g in gaps) for n, ns in (
            ("1us", 1_000), ("10us", 10_000), ("100us", 100_000), ("1ms", 1_000_000))}, "largest_ns": max(gaps, default=0)}
    return found


def check_file(name, t, path, f, h, span):
    member = f["member"]
    content = tarfile.open(path).extractfile(member).read() if member else path.read_bytes()
    check(f"{name} is the file", [len(content), hashlib.sha256(content).hexdigest()], [f["bytes"], f["sha256"]])
    check(f"{name} json_bytes", t["json_bytes"], f["json_bytes"])
    check(f"{name} base_time_ns", t.get("base_time_ns"), h["baseTimeNanoseconds"])
    check(f"{name} rank", [t.get("rank"), t.get("world_size")], [h["rank"], h["world_size"]])
    check(f"{name} backend", t["facts"].get("backend"), h["backend"])
    check(f"{name} names of devices", [d.get("name", "") for d in t["facts"]["devices"]], h["devices"])
    check(f"{name} span", t.get("span"), span.plain())


def check_counts(name, t, c):
    check(f"{name} events", t["events"]["total"], c["events"])
    check(f"{name} by_phase", t["events"]["by_phase"], c["by_phase"].plain())
    cats = {TODAY.get(k[2:], k[2:]): v for k, v in c["by_phase_cat"].items() if k.startswith("X/") and k != "X/None"}
    check(f"{name} by_category", t["events"]["by_category"], cats)


def check_kernels(name, kernels, want):
    check(f"{name} kernel count", sum(k["count"] for k in kernels), want["count"])
    check(f"{name} kernel sum", sum(k["total_ns"] for k in kernels), want["sum_ns"])
    got = by(kernels, "name", "count", "total_ns")
    check(f"{name} distinct kernels", len(got), want["distinct"])
    for row in want["table"]:
        check(f"{name} kernel {row['name'][:60]}", got.get(row["name"]), [row["count"], row["sum_ns"]])
        extremes = [(k["min_ns"], k["max_ns"]) for k in kernels if k["name"] == row["name"]]
        check(f"{name} kernel min {row['name'][:60]}", min((e[0] for e in extremes), default=None), row["min_ns"])
        check(f"{name} kernel max {row['name'][:60]}", max((e[1] for e in extremes), default=None), row["max_ns"])


def check_copies(name, t, memcpy, memset):
    figures = [("count", "count"), ("total_ns", "sum_ns"), ("bytes", "bytes")]
    got = {row["kind"]: [row.get(k, 0) for k, _ in figures] for row in t["copies"]}
    check(f"{name} copies", got, {k: [v[w] for _, w in figures] for k, v in memcpy.items()})
    check(f"{name} memsets", [sum(row.get(k, 0) for row in t["memsets"]) for k, _ in figures],
          [sum(v[w] for v in memset.values()) for _, w in figures])


def check_devices(name, devices, wanted, path):
    check(f"{name} devices", sorted(devices), sorted(wanted))
    for device, want in wanted.items():
        have = devices.get(device, {})
        for key in ("gpu_events", "window_ns", "busy_ns", "idle_ns", "kernel_busy_ns", "kernel_sum_ns"):
            check(f"{name} device {device} {key}", have.get(key), want[key])
        check(f"{name} device {device} start", have.get("window_start_ns"), want["first_ns"])
        comm = want["comm"]["nccl_busy_ns"] + want["comm"]["custom_allreduce_busy_ns"]
        check(f"{name} device {device} communication", have.get("comm_busy_ns"), otherwise(name, f"devices/{device}/comm", comm))
        gaps = want["gaps"].plain()
        if name in HAVE_WORK_OF_NO_LENGTH:
            gaps = gaps_between_work_with_length(path)[device]
        check(f"{name} device {device} gaps", have.get("gaps"), gaps)
        streams = {s["stream"]: {k: s[k] for k in ("events", "sum_ns", "busy_ns", "overlaps")} for s in have.get("streams", [])}
        check(f"{name} device {device} streams", streams, want["streams"].plain())


def check_launches(name, launches, want, apis_wanted):
    check(f"{name} launches", [launches[k] for k in ("gpu_events", "with_launch", "without_launch")],
          [want[k] for k in ("gpu_events_with_correlation", "with_launch", "without_launch")])
    most = want["max_gpu_events_per_correlation"]  # of correlations without a launch too
    check(f"{name} most under a launch", launches["max_gpu_events_per_launch"], most if want["with_launch"] else 0)
    apis = {a["name"]: [a["count"], a["total_ns"], a["min_ns"], a["max_ns"]] for a in launches["apis"]}
    check(f"{name} apis", apis, {row["name"]: [row["count"], row["sum_ns"], row["min_ns"], row["max_ns"]] for row in apis_wanted})


def check_ops(name, t, want):
    rows = {r["name"]: [r["count"], r["cpu_self_ns"]] for r in t["ops"]}
    # Training steps are operators to the oracle where the file of 2021 says so, and one row of PyTorch's averages to tacho.
    top = want["top50_by_self"]
    steps = [r for r in top if r["name"].startswith("ProfilerStep#")]
    merged = [r for r in t["key_averages"] if steps and r["name"] == "ProfilerStep*"]
    check(f"{name} steps", sum(r["count"] for r in merged), sum(r["count"] for r in steps))
    check(f"{name} steps' self time", sum(r["cpu_self_ns"] for r in merged), sum(r["self_ns"] for r in steps))
    check(f"{name} op count", sum(r["count"] for r in [*t["ops"], *merged]), want["count"])
    check(f"{name} distinct ops", len(t["ops"]) + len(steps), want["distinct"])
    check(f"{name} op sum", sum(r["cpu_total_ns"] for r in [*t["ops"], *merged]), want["sum_ns"])
    for row in top:
        if row not in steps:
            check(f"{name} op {row['name']}", rows.get(row["name"]), [row["count"], row["self_ns"]])


def check_oracle(name, t, want, path):
    """`want`: FILE.oracle.json of the file at `path`."""
    on_host = any(d.get("on_host") for d in t["devices"])  # its kernels are operators, not those of a GPU
    check_file(name, t, path, want["file"], want["header"], want["span"])
    check_counts(name, t, want["counts"])
    check_kernels(name, [] if on_host else t["kernels"], want["kernels"])
    check_copies(name, t, want["memcpy"], want["memset"])
    check_devices(name, {} if on_host else {d["device"]: d for d in t["devices"]}, want["devices"], path)
    check_launches(name, t["launches"], want["launches"], want["runtime_api"])
    check_ops(name, t, want["cpu_op"])
    check(f"{name} loses nothing", [n["id"] for n in t["notes"] if n["severity"] == "data-loss"], [])
    check_invariants(name, t)


def check_vllm(name, t, want, _path):
    check(f"{name} json_bytes", t["json_bytes"], want["json_bytes"])
    check(f"{name} events", t["events"]["total"], want["events"])
    check(f"{name} by_phase", t["events"]["by_phase"], want["by_phase_letter"].plain())
    durations = {k: v for k, v in want["by_category"].items() if k not in ("(none)", "cpu_instant_event")}
    check(f"{name} by_category", t["events"]["by_category"], durations)
    check(f"{name} memory instants", want.get("memory_events", 0), want["by_category"].get("cpu_instant_event", 0))
    whole = [want["complete"], want["gzip_complete"]]
    check(f"{name} whole", not any(n["severity"] == "data-loss" for n in t["notes"]), all(whole))
    if "memory_bytes_sum" in want:
        check(f"{name} bytes", sum(r["cpu_memory_self_bytes"] for r in t["key_averages"]), want["memory_bytes_sum"])
    if want["complete"]:  # of a cut file the expectation holds no header
        check(f"{name} base_time_ns", t.get("base_time_ns"), want["baseTimeNanoseconds"])
        check(f"{name} version", t.get("engine_version"), want["vllm_version"])
        d = want["distributed"]
        check(f"{name} rank", [t.get("rank"), t.get("world_size"), t["facts"].get("backend")],
              [d["rank"], d["world_size"], d["backend"]] if d else [None] * 3)
        check(f"{name} process groups", t["facts"].get("process_groups"), d and d["pg_count"])
    check(f"{name} processes", t["facts"]["process_names"], want["process_names"])
    s = t.get("steps", {"count": 0, "by_phase": {}, "list": []})
    check(f"{name} steps", s["count"], want["execute_annotations"])
    check(f"{name} steps by phase", {k: s["by_phase"].get(k, 0) for k in want["steps_by_phase"]}, want["steps_by_phase"].plain())
    check(f"{name} requests and tokens", [s.get("context_tokens", 0), s.get("generation_tokens", 0), *[
        sum(x.get(k, 0) for x in s["list"]) for k in ("context_requests", "generation_requests")]],
        [want[k] for k in ("context_tokens", "generation_tokens", "context_requests", "generation_requests")])
    if s["list"]:
        first, last = s["list"][0], s["list"][-1]
        check(f"{name} step durations", sum(x["dur_ns"] for x in s["list"]), want["sum_of_step_durations_ns"])
        end = last["start_ns"] + last["dur_ns"]
        check(f"{name} steps' stretch", end - first["start_ns"], want["first_start_to_last_end_ns"])
        if want["complete"]:
            check(f"{name} steps' clock", [t["base_time_ns"] + first["start_ns"], t["base_time_ns"] + end],
                  [want[k] for k in ("first_step_unix_ns", "last_step_end_unix_ns")])
    check_invariants(name, t)


def check_sglang(name, t, want, _path):
    phases, durations = collections.Counter(), {}
    for key, n in want["by_ph_cat"].items():
        phase, _, category = key.partition(":")
        phases[phase] += n
        if phase == "X":
            durations[category] = n
    check(f"{name} events", t["events"]["total"], want["events"])
    check(f"{name} by_phase", t["events"]["by_phase"], dict(phases))
    check(f"{name} by_category", t["events"]["by_category"], durations)
    steps = want["steps_in_time_order"]
    words = {"prefill": "EXTEND", "decode": "DECODE", "mixed": "MIXED", "empty": "IDLE"}
    check(f"{name} steps", [words[x["phase"]] for x in t["steps"]["list"]], [s.removeprefix("step[").split()[0] for s in steps])
    check(f"{name} engine", t.get("engine"), "sglang")
    check(f"{name} rank", [t.get("rank"), t.get("world_size")], [want["rank_in_distributedInfo"], want["world_size"]])
    check(f"{name} processes", t["facts"]["process_names"], [one.partition("=")[2] for one in want["process_names"]])
    check(f"{name} start", t["span"]["first_ns"], int(Decimal(str(want["first_ts_us"])) * 1000))
    ops = {r["name"]: r["count"] for r in t["ops"]}
    for op, key in (("aten::mm", "aten_mm"), ("aten::linear", "aten_linear")):
        check(f"{name} {op}", ops.get(op, 0), want[key])
    check(f"{name} attention", sum(n for op, n in ops.items() if "scaled_dot_product" in op), want["sdpa"])
    check_invariants(name, t)
