#!/usr/bin/env python3
"""Holds `tacho analyze --json` to the project's own recordings: vLLM's CPU build and PyTorch's profiler.

usage: check_recordings.py TACHO

tests/data/vllm-cpu/expected.json was computed by expected_figures.py; tests/data/torch-cpu/*.key_averages.json
were printed by PyTorch itself when the traces were recorded. Where the environment of `tools/engines install vllm` is,
PyTorch records its traces anew, and they are held to what it says of them now.
"""
import json
import pathlib
import subprocess
import sys
import tempfile
from decimal import Decimal

from compare import check, finish, only, run

ROOT = pathlib.Path(__file__).resolve().parents[2]
DATA = ROOT / "tests/data"
sys.path.insert(0, str(ROOT / "tools"))
from engines_lib.environments import ENVIRONMENTS  # noqa: E402


def check_vllm(tacho, name, want):
    doc, _, _ = run(tacho, DATA / "vllm-cpu" / name)
    t = only(doc, name)
    if t is None:
        return
    check(f"{name} json_bytes", t["json_bytes"], want["json_bytes"])
    check(f"{name} events", t["events"]["total"], want["events"])
    check(f"{name} by_phase", t["events"]["by_phase"], want["events_by_phase_letter"])
    check(f"{name} steps", t["steps"]["by_phase"], {**dict.fromkeys(t["steps"]["by_phase"], 0), **want["steps_by_phase"]})
    check(f"{name} version", [t["engine"], t["engine_version"]], ["vllm", want["vllm_version"]])
    check(f"{name} rank", [t["rank"], t["world_size"]], [want["rank"], want["world_size"]])
    check(f"{name} step durations", sum(s["dur_ns"] for s in t["steps"]["list"]), want["step_duration_sum_ns"])
    check(f"{name} tokens", [t["steps"]["context_tokens"], t["steps"]["generation_tokens"]],
          [want["context_tokens"], want["generation_tokens"]])
    rows = {r["name"]: r for r in t["ops"]}
    check(f"{name} operators", [len(rows), sum(r["cpu_total_ns"] for r in rows.values())],
          [want["cpu_op"]["names"], want["cpu_op"]["sum_ns"]])
    for op in want["cpu_op"]["top_20_by_sum"]:
        r = rows.get(op["name"], {})
        check(f"{name} {op['name']}", [r.get("count"), r.get("cpu_total_ns")], [op["count"], op["sum_ns"]])
    check(f"{name} self time", sum(r["cpu_self_ns"] for r in rows.values()),
          want["self_time"]["sum_by_category_ns"]["cpu_op"])
    parts = [(d["compute_ns"] + d["exposed_comm_ns"] + d["exposed_copy_ns"] + d["idle_ns"], d["window_ns"])
             for d in t["devices"]]
    check(f"{name} device is the executing thread", [d["device"] for d in t["devices"]], ["cpu"])
    check(f"{name} parts add up", *map(list, zip(*parts)))


def ns(us):
    return int((Decimal(repr(us)) * 1000).to_integral_value())


def shapes_of(row):
    """Input shapes as tacho prints them; no arguments and none recorded are one row, in PyTorch too."""
    return json.dumps(row["input_shapes"]) if row.get("input_shapes") else ""


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
    # Which events crossed threads is not in the trace file: their self time and their callers' cannot agree.
    crossing = {"forked", "around"} if kept["async_external_ids"] else set()
    check_averages(stem, kept["key_averages"], t["key_averages"], crossing)
    if "key_averages_by_shape" in kept:
        check_averages(f"{stem} by shape", kept["key_averages_by_shape"], t["key_averages_by_shape"], crossing)


def check_recorded_now(tacho):
    if not ENVIRONMENTS["vllm"].complete():
        print("NOT RECORDED ANEW: PyTorch is not there (tools/engines install vllm); its kept figures alone were compared")
        return
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
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    expected = json.loads((DATA / "vllm-cpu" / "expected.json").read_text())
    for name, want in expected["files"].items():
        check_vllm(sys.argv[1], name, want)
    for path in sorted((DATA / "torch-cpu").glob("*.key_averages.json")):
        check_key_averages(sys.argv[1], path)
    # PyTorch's rule computed anew from the files, without tacho.
    alone = subprocess.run([sys.executable, DATA / "torch-cpu" / "check_key_averages.py"], capture_output=True, text=True)
    check(f"the second way:\n{alone.stdout[-2000:]}{alone.stderr[-2000:]}\nexit status", alone.returncode, 0)
    check_recorded_now(sys.argv[1])
    finish()


main()
