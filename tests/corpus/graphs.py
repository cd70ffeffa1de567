"""Replayed graphs of real traces against a plain computation from their rows."""

import collections
import decimal
import gzip
import json
import subprocess

from compare import check

INFERENCE = "AMD-AGI+TraceLens/inference"
# By file: the pieces of work of each graph of its step, in order, and the step's phase and tokens (of ORIGINS.md).
GRAPHS = {f"{INFERENCE}/vllm_decode_full/graph_execution.json.gz": ([421], "decode", 32),
          f"{INFERENCE}/sglang_decode/sglang_Qwen3-8B_decode.json.gz": ([544], "decode", 32),
          f"{INFERENCE}/vllm_prefilldecode_piecewise/graph_execution.json.gz": ([4] + [15] * 23 + [12], "mixed", 8192)}


def work_of(path):
    """Of each graph launch, in order: the durations of its pieces of work, in order of time."""
    events = json.loads(gzip.open(path, "rt").read(), parse_float=decimal.Decimal)["traceEvents"]
    rows = collections.defaultdict(list)
    for event in events:
        if event.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset") and event.get("ph") == "X":
            rows[event["args"]["correlation"]].append((event["ts"], int(event["dur"] * 1000)))
    calls = sorted((event["ts"], event["args"]["correlation"]) for event in events
                   if event.get("ph") == "X" and "GraphLaunch" in event["name"])
    return [[duration for _, duration in sorted(rows[correlation])] for _, correlation in calls]


def check_graphs(tacho, folder):
    for file, (nodes, phase, tokens) in GRAPHS.items():
        told = json.loads(subprocess.run([tacho, "analyze", str(folder / file), "--json"], capture_output=True, text=True).stdout)
        graphs = told["traces"][0]["graphs"]
        check(f"{file}: graphs", [graph["nodes"] for graph in graphs["list"]], nodes)
        check(f"{file}: one replay each", {(g["replays"], g["partial"], g["phase"], g["least_tokens"], g["most_tokens"]) for g in graphs["list"]},
              {(1, 0, phase, tokens, tokens)})
        check(f"{file}: places", [graph["place"] for graph in graphs["list"]], list(range(len(nodes))))
        check(f"{file}: times of the nodes", [[node["total_ns"] for node in graph["by_node"]] for graph in graphs["list"]],
              work_of(folder / file))
        check(f"{file}: rows without grids tell no batch", [graph for graph in graphs["list"] if "batch" in graph], [])
