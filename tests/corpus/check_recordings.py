#!/usr/bin/env python3
"""Compares `tacho analyze --json` with the project's own recordings: vLLM's CPU build and PyTorch's profiler.

usage: check_recordings.py TACHO [--anew]

tests/data/vllm-cpu/expected.json was computed by expected_figures.py; tests/data/torch-cpu/*.key_averages.json
were printed by PyTorch itself when the traces were recorded. --anew: PyTorch, in the environment of `tools/engines install
vllm`, records its traces anew, and they alone are compared with what it says of them now.
"""
import collections
import gzip
import json
import pathlib
import subprocess
import sys
import tempfile
from decimal import Decimal

from compare import check, finish, only, run
from expected import Expected
from figures import check_vllm as check_recording_of_vllm
from memory_figures import check_memory

ROOT = pathlib.Path(__file__).resolve().parents[2]
DATA = ROOT / "tests/data"
sys.path.insert(0, str(ROOT / "tools"))
from engines_lib.environments import ENVIRONMENTS  # noqa: E402


def as_of_a_live_one(want):
    """The figures under the names of the larger corpus's expectations."""
    same = ("json_bytes", "events", "by_category", "process_names", "vllm_version", "steps_by_phase", "context_requests", "context_tokens",
            "generation_requests", "generation_tokens")
    steps = want["steps"]
    memory = want.get("memory", {"instants": 0, "net_bytes": 0})
    return {
        **{k: want[k] for k in same if k in want}, "by_category": want["events_by_category"], "complete": True, "gzip_complete": True,
        "by_phase_letter": want["events_by_phase_letter"], "baseTimeNanoseconds": want["base_time_ns"],
        "distributed": {"rank": want["rank"], "world_size": want["world_size"], "backend": want["backend"],
                        "pg_count": want["process_groups"]},
        "execute_annotations": len(steps), "sum_of_step_durations_ns": want["step_duration_sum_ns"],
        "first_start_to_last_end_ns": want["first_step_start_to_last_step_end_ns"],
        "first_step_unix_ns": steps[0]["unix_start_ns"],
        "last_step_end_unix_ns": steps[-1]["unix_start_ns"] + steps[-1]["duration_ns"],
        "memory_events": memory["instants"], **({"memory_bytes_sum": memory["net_bytes"]} if "memory" in want else {})}


def check_vllm(tacho, name, want):
    doc, _, _ = run(tacho, DATA / "vllm-cpu" / name)
    t = only(doc, name)
    if t is None:
        return
    check_memory(name, t, DATA / "vllm-cpu" / name)
    check_recording_of_vllm(name, t, Expected(as_of_a_live_one(want)), DATA / "vllm-cpu" / name)
    rows = {r["name"]: r for r in t["ops"]}
    check(f"{name} operators", [len(rows), sum(r["cpu_total_ns"] for r in rows.values())],
          [want["cpu_op"]["names"], want["cpu_op"]["sum_ns"]])
    for op in want["cpu_op"]["top_20_by_sum"]:
        r = rows.get(op["name"], {})
        check(f"{name} {op['name']}", [r.get("count"), r.get("cpu_total_ns")], [op["count"], op["sum_ns"]])
    check(f"{name} self time", sum(r["cpu_self_ns"] for r in rows.values()),
          want["self_time"]["sum_by_category_ns"]["cpu_op"])
    check(f"{name} device is the executing thread", [d["device"] for d in t["devices"]], ["cpu"])
    check_work(name, t, DATA / "vllm-cpu" / name)


def own_times(path):
    """Of the thread with most operators: calls and own time by name, and the stretches in which any runs. Reckoned by instants, without a tree."""
    events = json.loads(gzip.decompress(path.read_bytes()), parse_float=Decimal)["traceEvents"]
    ops = [(e["tid"], int(e["ts"] * 1000), int((e["ts"] + e["dur"]) * 1000), e["name"]) for e in events if e.get("cat") == "cpu_op"]
    thread, _ = collections.Counter(tid for tid, *_ in ops).most_common(1)[0]
    ops = sorted(((start, -end, name) for tid, start, end, name in ops if tid == thread))
    calls, own, runs, running = collections.Counter(), collections.Counter(), [], []
    edges = sorted({t for start, end, _ in ops for t in (start, -end)})
    for at, until in zip(edges, edges[1:]):
        running = [op for op in running if op[0] > at]
        while ops and ops[0][0] <= at:
            _, end, name = ops.pop(0)
            calls[name] += 1
            running.append((-end, name))
        if running:
            own[running[-1][1]] += until - at
            runs.append((at, until))
    return calls, own, runs


def check_work(name, t, path):
    """On a CPU engine operators work in their own time, and wrappers are `in-operator` in theirs."""
    calls, own, runs = own_times(path)
    device, = t["devices"]
    work = {r["name"]: [r["count"], r["total_ns"]] for r in t["kernels"] if r["count"] == calls[r["name"]]}
    check(f"{name} own times", work, {key: [calls[key], own[key]] for key in work})
    check(f"{name}: most operators always work", len(work) > len(calls) * 3 / 4, True)
    begin = device["window_start_ns"]
    end = begin + device["window_ns"]
    idle = {r["id"]: r["ns"] for r in t["idle"]["causes"]}
    inside = sum(max(0, min(until, end) - max(at, begin)) for at, until in runs)
    check(f"{name} operators' time", device["busy_ns"] + idle.get("in-operator", 0), inside)


def ns(us):
    return int((Decimal(repr(us)) * 1000).to_integral_value())


def shapes_of(row):
    """Input shapes as tacho prints them; no arguments and none recorded are one row, in PyTorch too."""
    return json.dumps(row["input_shapes"], separators=(",", ":")) if row.get("input_shapes") else ""


def check_averages(stem, kept, rows, crossing):
    with_flops = any("flops" in r for r in kept)
    want = {(r["key"], r["is_user_annotation"], shapes_of(r)): r for r in kept}
    got = {(r["name"], r.get("is_annotation", False), r.get("shapes", "")): r for r in rows}
    check(f"{stem} rows", sorted(got), sorted(want))
    for key in want.keys() & got.keys():
        w, g = want[key], got[key]
        check(f"{stem} {key} count and total", [g["count"], g["cpu_total_ns"]], [w["count"], ns(w["cpu_time_total_us"])])
        with_memory = any("cpu_memory_total_bytes" in r for r in rows)
        check(f"{stem} {key} memory", g.get("cpu_memory_total_bytes", 0), w["cpu_memory_bytes"])
        check(f"{stem} {key} tells memory", "cpu_memory_total_bytes" in g, with_memory)
        if key[0] not in crossing:
            check(f"{stem} {key} self", [g["cpu_self_ns"], g.get("cpu_memory_self_bytes", 0)],
                  [ns(w["self_cpu_time_total_us"]), w["self_cpu_memory_bytes"]])
        if with_flops:
            check(f"{stem} {key} flops", g.get("flops", 0), w.get("flops", 0))


def check_key_averages(tacho, path):
    kept = json.loads(path.read_text())
    stem = path.name[: -len(".key_averages.json")]
    doc, _, _ = run(tacho, path.parent / f"{stem}.pt.trace.json.gz")
    t = only(doc, stem)
    if t is None:
        return
    check_memory(stem, t, path.parent / f"{stem}.pt.trace.json.gz")
    # The trace file does not show which events crossed threads, so their self time and their callers' cannot agree.
    crossing = {"forked", "around"} if kept["async_external_ids"] else set()
    check_averages(stem, kept["key_averages"], t["key_averages"], crossing)
    said = {r["key"]: [r["count"], ns(r["self_cpu_time_total_us"])] for r in kept["key_averages"] if not r["is_user_annotation"]}
    work = {r["name"]: [r["count"], r["total_ns"]] for r in t["kernels"] if r["count"] == said[r["name"]][0] and r["name"] not in crossing}
    check(f"{stem} work is PyTorch's self time", work, {key: said[key] for key in work})
    # Of several threads one stands for the device.
    check(f"{stem} has operators that always work", len(work) > 1 or stem in ("fork", "threads"), True)
    if "key_averages_by_shape" in kept:
        check_averages(f"{stem} by shape", kept["key_averages_by_shape"], t["key_averages_by_shape"], crossing)


def check_recorded_now(tacho):
    if not ENVIRONMENTS["vllm"].complete():
        print("*** NOT TESTED: recordings made anew: PyTorch is not there (tools/engines install vllm)")
        sys.exit(77)
    with tempfile.TemporaryDirectory(prefix="tacho-recordings-") as out:
        recorded = subprocess.run([sys.executable, DATA / "record_torch.py", "--out", out], stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        check(f"PyTorch records:\n{recorded.stdout[-2000:]}\nexit status", recorded.returncode, 0)
        paths = sorted(pathlib.Path(out, "torch-cpu").glob("*.key_averages.json"))
        check("recordings made now", len(paths), len(list((DATA / "torch-cpu").glob("*.key_averages.json"))))
        for path in paths:
            check_key_averages(tacho, path)
        print(f"recorded anew: {len(paths)} traces")


def main():
    if len(sys.argv) < 2 or sys.argv[2:] not in ([], ["--anew"]):
        sys.exit(__doc__)
    if sys.argv[2:]:
        check_recorded_now(sys.argv[1])
        finish()
    expected = json.loads((DATA / "vllm-cpu" / "expected.json").read_text())
    for name, want in expected["files"].items():
        check_vllm(sys.argv[1], name, want)
    for path in sorted((DATA / "torch-cpu").glob("*.key_averages.json")):
        check_key_averages(sys.argv[1], path)
    # PyTorch's rule, computed from the files without tacho.
    alone = subprocess.run([sys.executable, DATA / "torch-cpu" / "check_key_averages.py"], capture_output=True, text=True)
    check(f"the second way:\n{alone.stdout[-2000:]}{alone.stderr[-2000:]}\nexit status", alone.returncode, 0)
    finish()


main()
