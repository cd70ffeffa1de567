#!/usr/bin/env python3
"""Holds `tacho analyze --json` to the expected figures of the corpus of real traces, exactly.

usage: check_corpus.py TACHO [CORPUS]

Three kinds of expectations, each made by programs that share no code with tacho:
  FILE.oracle.json            kernels, devices, launches, copies, operators of GPU traces
  live-*/expected.json        counts, steps and tokens of recordings of real engines
  broken-variants/EXPECT.json what must be saved from damaged files
Prints one line a difference and, last, "N passed, M failed".
"""
import collections
import json
import os
import pathlib
import sys

from compare import check, finish, only, run

HAVE_WORK_OF_NO_LENGTH = ("step_based_trace_2543932", "resnet50_num_workers_0.worker0.1623143089861")


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


def check_oracle(name, t, o):
    c, f, h = o["counts"], o["file"], o["header"]
    check(f"{name} json_bytes", t["json_bytes"], f["json_bytes"])
    check(f"{name} events", t["events"]["total"], c["events"])
    check(f"{name} by_phase", t["events"]["by_phase"], c["by_phase"])
    today = {"Kernel": "kernel", "Memcpy": "gpu_memcpy", "Memset": "gpu_memset", "Runtime": "cuda_runtime",
             "Operator": "cpu_op"}  # the names of 2021
    cats = {today.get(k[2:], k[2:]): v for k, v in c["by_phase_cat"].items()
            if k.startswith("X/") and k != "X/None"}
    check(f"{name} by_category", t["events"]["by_category"], cats)
    check(f"{name} base_time_ns", t.get("base_time_ns"), h.get("baseTimeNanoseconds"))
    check(f"{name} rank", t.get("rank"), h.get("rank"))
    check(f"{name} world_size", t.get("world_size"), h.get("world_size"))
    check(f"{name} span", t.get("span"), {k: o["span"][k] for k in ("first_ns", "last_ns")})

    on_host = any(d.get("on_host") for d in t["devices"])
    kernels = [] if on_host else t["kernels"]
    check(f"{name} kernel count", sum(k["count"] for k in kernels), o["kernels"]["count"])
    check(f"{name} kernel sum", sum(k["total_ns"] for k in kernels), o["kernels"]["sum_ns"])
    got = by(kernels, "name", "count", "total_ns")
    check(f"{name} distinct kernels", len(got), o["kernels"]["distinct"])
    for row in o["kernels"].get("table", []):
        check(f"{name} kernel {row['name'][:60]}", got.get(row["name"]), [row["count"], row["sum_ns"]])
        extremes = [(k["min_ns"], k["max_ns"]) for k in kernels if k["name"] == row["name"]]
        check(f"{name} kernel min {row['name'][:60]}", min((e[0] for e in extremes), default=None), row["min_ns"])
        check(f"{name} kernel max {row['name'][:60]}", max((e[1] for e in extremes), default=None), row["max_ns"])

    copies = by(t["copies"], "kind", "count", "total_ns")
    check(f"{name} copies", copies, {k: [v["count"], v["sum_ns"]] for k, v in o["memcpy"].items()})
    for row in t["copies"]:
        check(f"{name} bytes {row['kind']}", row.get("bytes", 0), o["memcpy"].get(row["kind"], {}).get("bytes"))
    memset = [sum(m["count"] for m in t["memsets"]), sum(m["total_ns"] for m in t["memsets"])]
    check(f"{name} memsets", memset,
          [sum(v["count"] for v in o["memset"].values()), sum(v["sum_ns"] for v in o["memset"].values())])

    devices = {} if on_host else {d["device"]: d for d in t["devices"]}
    check(f"{name} devices", sorted(devices), sorted(o["devices"]))
    for device, want in o["devices"].items():
        have = devices.get(device, {})
        for key in ("gpu_events", "window_ns", "busy_ns", "idle_ns", "kernel_busy_ns", "kernel_sum_ns"):
            check(f"{name} device {device} {key}", have.get(key), want[key])
        gaps = have.get("gaps", {"count": 0})
        if name.split("/")[-1].startswith(HAVE_WORK_OF_NO_LENGTH):  # the oracle ends gaps there too
            check(f"{name} device {device} gaps", gaps["count"] <= want["gaps"]["count"], True)
        else:
            check(f"{name} device {device} gaps", gaps, want["gaps"])
        streams = {s["stream"]: {k: s[k] for k in ("events", "sum_ns", "busy_ns", "overlaps")}
                   for s in have.get("streams", [])}
        check(f"{name} device {device} streams", streams, want["streams"])

    launches, want = t["launches"], o["launches"]
    check(f"{name} launches", [launches[k] for k in ("gpu_events", "with_launch", "without_launch")],
          [want[k] for k in ("gpu_events_with_correlation", "with_launch", "without_launch")])
    check(f"{name} most under a launch", launches["max_gpu_events_per_launch"],
          want["max_gpu_events_per_correlation"] if want["with_launch"] else 0)
    apis = {a["name"]: [a["count"], a["total_ns"], a["min_ns"], a["max_ns"]] for a in launches["apis"]}
    check(f"{name} apis", apis,
          {row["name"]: [row["count"], row["sum_ns"], row["min_ns"], row["max_ns"]] for row in o["runtime_api"]})

    # Training steps are operators to the oracle where the file of 2021 says so.
    steps = [r for r in o["cpu_op"]["top50_by_self"] if r["name"].startswith("ProfilerStep#")]
    check(f"{name} op count", sum(r["count"] for r in t["ops"]), o["cpu_op"]["count"] - sum(r["count"] for r in steps))
    check(f"{name} distinct ops", len(t["ops"]), o["cpu_op"]["distinct"] - len(steps))
    if not steps:
        check(f"{name} op sum", sum(r["cpu_total_ns"] for r in t["ops"]), o["cpu_op"]["sum_ns"])
    ops = {r["name"]: [r["count"], r["cpu_self_ns"]] for r in t["ops"]}
    for row in o["cpu_op"]["top50_by_self"]:
        if row in steps:
            continue
        check(f"{name} op {row['name']}", ops.get(row["name"]), [row["count"], row["self_ns"]])
    check_invariants(name, t)


def check_vllm(name, t, want):
    check(f"{name} json_bytes", t["json_bytes"], want["json_bytes"])
    check(f"{name} events", t["events"]["total"], want["events"])
    check(f"{name} by_phase", t["events"]["by_phase"], want["by_phase_letter"])
    cats = {k: v for k, v in want["by_category"].items() if k != "(none)"}
    if "[memory]" not in str(want) and not want.get("memory_events"):
        check(f"{name} by_category", t["events"]["by_category"], cats)
    check(f"{name} whole", not any(n["severity"] == "data-loss" for n in t["notes"]),
          want["complete"] and want["gzip_complete"])
    if want["complete"]:
        check(f"{name} base_time_ns", t.get("base_time_ns"), want["baseTimeNanoseconds"])
        check(f"{name} version", t.get("engine_version"), want["vllm_version"])
        d = want["distributed"]
        check(f"{name} rank", [t.get("rank"), t.get("world_size")], [d and d["rank"], d and d["world_size"]])
    s = t.get("steps", {"count": 0})
    check(f"{name} steps", s["count"], want["execute_annotations"])
    if want["execute_annotations"]:
        phases = {k: s["by_phase"].get(k, 0) for k in want["steps_by_phase"]}
        check(f"{name} steps by phase", phases, want["steps_by_phase"])
        check(f"{name} tokens", [s["context_tokens"], s["generation_tokens"]],
              [want["context_tokens"], want["generation_tokens"]])
        check(f"{name} step durations", sum(x["dur_ns"] for x in s["list"]), want["sum_of_step_durations_ns"])
        last = s["list"][-1]
        check(f"{name} steps' stretch", last["start_ns"] + last["dur_ns"] - s["list"][0]["start_ns"],
              want["first_start_to_last_end_ns"])
    check_invariants(name, t)


def check_sglang(name, t, want):
    check(f"{name} events", t["events"]["total"], want["events"])
    pairs = collections.Counter()
    for key, n in want["by_ph_cat"].items():
        pairs[key.split(":")[0]] += n
    check(f"{name} by_phase", t["events"]["by_phase"], dict(pairs))
    cats = {k[2:]: n for k, n in want["by_ph_cat"].items() if k.startswith("X:")}
    check(f"{name} by_category", t["events"]["by_category"], cats)
    check(f"{name} steps", t["steps"]["count"], len(want["steps_in_time_order"]))
    decode = sum(x.startswith("step[DECODE") for x in want["steps_in_time_order"])
    check(f"{name} decode steps", t["steps"]["by_phase"].get("decode", 0), decode)
    check(f"{name} engine", t.get("engine"), "sglang")
    check(f"{name} rank", [t.get("rank"), t.get("world_size")],
          [want["rank_in_distributedInfo"], want["world_size"]])
    ops = {r["name"]: r["count"] for r in t["ops"]}
    check(f"{name} aten::mm", ops.get("aten::mm", 0), want["aten_mm"])
    check_invariants(name, t)


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    tacho = sys.argv[1]
    root = pathlib.Path(__file__).resolve().parents[2]
    corpus = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else
                          os.environ.get("TACHO_CORPUS") or root / ".." / "shared" / "traces")
    if not corpus.is_dir():
        print(f"*** THE CORPUS OF REAL TRACES IS NOT HERE ({corpus}): set TACHO_CORPUS; nothing was checked")
        sys.exit(77)

    for oracle in sorted(corpus.rglob("*.oracle.json")):
        want = json.loads(oracle.read_text())
        if "counts" not in want:
            continue  # a format of another reader
        path = pathlib.Path(str(oracle)[: -len(".oracle.json")])
        member = want["file"].get("member")
        if member:
            path = pathlib.Path(str(path)[: str(path).index(".tar.gz") + len(".tar.gz")])
        name = str(oracle.relative_to(corpus))
        doc, status, _ = run(tacho, path)
        if member:
            found = [t for t in (doc or {"traces": []})["traces"] if t["path"].endswith(member)]
            doc = {"traces": found}
        t = only(doc, name)
        if t:
            check_oracle(name, t, want)
            lost = any(n["severity"] == "data-loss" for n in t["notes"])
            check(f"{name} loses nothing", lost, False)

    for folder, function in (("live-vllm-cpu", check_vllm), ("live-sglang-cpu", check_sglang)):
        expected = json.loads((corpus / folder / "expected.json").read_text())
        for file, want in expected.items():
            if file == "join":
                continue
            doc, status, error = run(tacho, corpus / folder / file)
            t = only(doc, f"{folder}/{file}")
            if t:
                function(f"{folder}/{file}", t, want)

    for file, want in json.loads((corpus / "broken-variants" / "EXPECT.json").read_text()).items():
        doc, status, error = run(tacho, corpus / "broken-variants" / file)
        if want["error"]:
            check(f"{file} is refused", status, 3)
            check(f"{file} message names the file", file in error, True)
            continue
        t = only(doc, file)
        if t:
            check(f"{file} events", t["events"]["total"], want["events"])
            check(f"{file} kernels", t["events"]["by_category"].get("kernel", 0), want["kernels"])
            if "trunc" in file:
                check(f"{file} status", status, 4)
                check(f"{file} is noted", any(n["id"] == "truncated-json" for n in t["notes"]), True)

    finish()


main()
