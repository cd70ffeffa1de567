#!/usr/bin/env python3
"""Figures of the recordings under vllm-cpu/, for tests to compare with.

Deliberately plain and slow, and shares nothing with the analyser: json.loads on
the whole text, Decimal for times, whole nanoseconds. Writes
vllm-cpu/expected.json; with --check it compares instead and exits 1 when they
differ. Standard library only.
"""
import argparse
import collections
import gzip
import hashlib
import json
import re
import sys
from decimal import Decimal
from pathlib import Path

HERE = Path(__file__).resolve().parent
STEP = re.compile(r"execute_context_(\d+)\((\d+)\)_generation_(\d+)\((\d+)\)")
SELF_CATEGORIES = ("cpu_op", "user_annotation", "cuda_runtime", "cuda_driver")
TOP = 20


def to_ns(microseconds):
    value = Decimal(microseconds) * 1000
    if value != int(value):
        raise ValueError(f"{microseconds} us is not a whole number of nanoseconds")
    return int(value)


def counted(values):
    return dict(sorted(collections.Counter(values).items()))


def phase_of(step):
    context, generation = step[0] > 0, step[2] > 0
    return {(True, True): "mixed", (True, False): "prefill", (False, True): "decode", (False, False): "empty"}[context, generation]


def sums_by_name(pairs):
    """[(name, ns)] -> count, sum, shortest, longest of the names with the largest sums."""
    groups = collections.defaultdict(list)
    for name, value in pairs:
        groups[name].append(value)
    order = sorted(groups, key=lambda n: (-sum(groups[n]), n))
    return [{"name": n, "count": len(groups[n]), "sum_ns": sum(groups[n]), "min_ns": min(groups[n]), "max_ns": max(groups[n])}
            for n in order[:TOP]]


def self_times(events):
    """[(event, self ns)]: duration less that of the direct children, on each (pid, tid) for itself."""
    lanes = collections.defaultdict(list)
    for e in events:
        start = to_ns(e["ts"])
        lanes[e["pid"], e["tid"]].append([start, start + to_ns(e["dur"]), e, 0])
    result, deepest, roots = [], 0, 0
    for lane in lanes.values():
        lane.sort(key=lambda x: (x[0], -x[1]))
        open_ones = []
        for item in lane:
            start, end = item[0], item[1]
            while open_ones and (start >= open_ones[-1][1] or end > open_ones[-1][1]):
                open_ones.pop()
            if open_ones:
                open_ones[-1][3] += end - start
            else:
                roots += 1
            open_ones.append(item)
            deepest = max(deepest, len(open_ones))
        result += [(item[2], item[1] - item[0] - item[3]) for item in lane]
    return result, deepest, roots


def figures(path):
    packed = path.read_bytes()
    raw = gzip.decompress(packed)
    document = json.loads(raw.decode("utf-8"), parse_float=Decimal)
    events, base = document["traceEvents"], document["baseTimeNanoseconds"]
    complete = [e for e in events if e["ph"] == "X"]
    out = {
        "packed_bytes": len(packed), "json_bytes": len(raw), "json_sha256": hashlib.sha256(raw).hexdigest(),
        "top_level_keys_in_order": list(document), "base_time_ns": base, "vllm_version": document.get("vllm_version"),
        "rank": document["distributedInfo"]["rank"], "world_size": document["distributedInfo"]["world_size"],
        "backend": document["distributedInfo"]["backend"], "process_groups": document["distributedInfo"]["pg_count"],
        "events": len(events),
        "events_by_phase_letter": counted(e["ph"] for e in events),
        "events_by_category": counted(e.get("cat", "(none)") for e in events),
        "process_names": sorted({e["args"]["name"] for e in events if e["name"] == "process_name" and e["ph"] == "M"}),
        "lanes_with_durations": len({(e["pid"], e["tid"]) for e in complete}),
        "distinct_names": len({e["name"] for e in events}),
        "first_ts_ns": min(to_ns(e["ts"]) for e in complete),
        "last_end_ns": max(to_ns(e["ts"]) + to_ns(e["dur"]) for e in complete),
    }
    steps = sorted(((to_ns(e["ts"]), to_ns(e["dur"]), e["name"]) for e in complete
                    if e.get("cat") == "user_annotation" and STEP.fullmatch(e["name"])))
    numbers = [tuple(map(int, STEP.fullmatch(name).groups())) for _, _, name in steps]
    out["steps"] = [{"name": name, "phase": phase_of(n), "unix_start_ns": base + start, "duration_ns": dur}
                    for (start, dur, name), n in zip(steps, numbers)]
    out["steps_by_phase"] = {p: sum(phase_of(n) == p for n in numbers) for p in ("prefill", "decode", "mixed", "empty")}
    for i, key in enumerate(("context_requests", "context_tokens", "generation_requests", "generation_tokens")):
        out[key] = sum(n[i] for n in numbers)
    out["step_duration_sum_ns"] = sum(dur for _, dur, _ in steps)
    out["step_duration_sum_by_phase_ns"] = {
        p: sum(s[1] for s, n in zip(steps, numbers) if phase_of(n) == p) for p in out["steps_by_phase"]}
    out["first_step_start_to_last_step_end_ns"] = steps[-1][0] + steps[-1][1] - steps[0][0] if steps else 0
    operators = [(e["name"], to_ns(e["dur"])) for e in complete if e["cat"] == "cpu_op"]
    out["cpu_op"] = {"count": len(operators), "names": len({n for n, _ in operators}),
                     "sum_ns": sum(d for _, d in operators), f"top_{TOP}_by_sum": sums_by_name(operators)}
    own, deepest, roots = self_times([e for e in complete if e["cat"] in SELF_CATEGORIES])
    out["self_time"] = {
        "categories": list(SELF_CATEGORIES), "events": len(own), "roots": roots, "deepest_nesting": deepest,
        "sum_ns": sum(s for _, s in own), "negative": sum(s < 0 for _, s in own),
        "sum_by_category_ns": {c: sum(s for e, s in own if e["cat"] == c) for c in sorted({e["cat"] for e, _ in own})},
        f"top_{TOP}_by_self": sums_by_name((e["name"], s) for e, s in own)}
    python = [e for e in complete if e["cat"] == "python_function"]
    if python:
        out["python_function"] = {
            "count": len(python), "names": len({e["name"] for e in python}),
            "without_parent": sum(e["args"]["Python parent id"] is None for e in python),
            "with_module_id": sum("Python module id" in e["args"] for e in python),
            "sum_ns": sum(to_ns(e["dur"]) for e in python)}
    shaped = [e for e in complete if "Input Dims" in e.get("args", {})]
    if shaped:
        out["events_with_shapes"] = len(shaped)
        out["distinct_name_and_shapes"] = len({(e["name"], json.dumps(e["args"]["Input Dims"])) for e in shaped})
    instants = [e for e in events if e["name"] == "[memory]"]
    if instants:
        sizes = [e["args"]["Bytes"] for e in instants]
        out["memory"] = {"instants": len(sizes), "allocations": sum(s > 0 for s in sizes), "frees": sum(s < 0 for s in sizes),
                         "allocated_bytes": sum(s for s in sizes if s > 0), "net_bytes": sum(sizes),
                         "largest_total_allocated": max(e["args"]["Total Allocated"] for e in instants)}
    return out


def against_the_load(folder, files):
    """What was sent, by recorded.json, against what the steps say."""
    out = {}
    for name, how in json.loads((folder / "recorded.json").read_text()).items():
        if not how["requests"]:
            continue
        prompt = sum(r["prompt_tokens"] for r in how["requests"])
        output = sum(r["output_tokens"] for r in how["requests"])
        for f in how["files"]:
            out[f] = {
                "requests": len(how["requests"]), "prompt_tokens": prompt, "output_tokens": output,
                "context_tokens_equal_prompt_tokens": files[f]["context_tokens"] == prompt,
                "generation_tokens_plus_requests_equal_output_tokens":
                    files[f]["generation_tokens"] + len(how["requests"]) == output}
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--folder", type=Path, default=HERE / "vllm-cpu", help="the recordings (default: vllm-cpu beside this script)")
    parser.add_argument("--check", action="store_true", help="compare with expected.json instead of writing it")
    options = parser.parse_args()
    files = {str(p.relative_to(options.folder)): figures(p) for p in sorted(options.folder.rglob("*.pt.trace.json.gz"))}
    if not files:
        print(f"expected_figures: no recording under {options.folder.name}", file=sys.stderr)
        return 1
    text = json.dumps({"files": files, "load": against_the_load(options.folder, files)}, indent=1) + "\n"
    target = options.folder / "expected.json"
    if options.check:
        same = target.exists() and target.read_text() == text
        print(f"{len(files)} files, {target.name} " + ("is right" if same else "differs"))
        return 0 if same else 1
    target.write_text(text)
    print(f"{len(files)} files -> {target.name}, {len(text)} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
