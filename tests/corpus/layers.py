"""Layers and blocks of real traces against what is known of their models, and against their own modules."""

import collections
import gzip
import json
import re
import subprocess

from compare import check

INFERENCE = "AMD-AGI+TraceLens/inference"
EAGER = "AMD-AGI+TraceLens/b200/eager_trace.json.gz"
# num_hidden_layers of gpt-oss-120b, gpt-oss-20b, Qwen3-8B, bert-small and the model of ORIGINS.md's CPU engines.
LAYERS = {EAGER: 36, f"{INFERENCE}/vllm_decode_full/graph_execution.json.gz": 24,
          f"{INFERENCE}/vllm_prefilldecode_piecewise/graph_execution.json.gz": 24,
          f"{INFERENCE}/sglang_decode/sglang_Qwen3-8B_decode.json.gz": 36,
          "AMD-AGI+TraceLens/mi300/gaunernst_bert-small-uncased__1016001.json.gz": 4,
          "live-vllm-cpu/shapes_rank0.pt.trace.json.gz": 4, "live-vllm-cpu/tp2_rank0.pt.trace.json.gz": 4}

def layers_of(tacho, path):
    told = json.loads(subprocess.run([tacho, "analyze", str(path), "--json"], capture_output=True, text=True).stdout)
    return told["traces"][0]["layers"]


def modules_of(path):
    """By layer: how many pieces of work each of its innermost modules launched, by the modules' Python frames."""
    events = json.load(gzip.open(path))["traceEvents"]
    modules = [e for e in events if e.get("cat") == "python_function" and e["name"].startswith("nn.Module")]
    calls = {e["args"]["correlation"]: e for e in events if e.get("cat") in ("cuda_runtime", "cuda_driver") and "correlation" in e.get("args", {})}
    pieces = collections.defaultdict(collections.Counter)
    for piece in events:
        if piece.get("cat") not in ("kernel", "gpu_memcpy", "gpu_memset"):
            continue
        call = calls[piece["args"]["correlation"]]
        around = [m for m in modules if m["tid"] == call["tid"] and m["ts"] <= call["ts"] < m["ts"] + m["dur"]]
        layer = [m["name"] for m in around if "TransformerBlock" in m["name"]]
        inner = min(around, key=lambda m: m["dur"])["name"] if around else ""
        if layer:
            pieces[int(layer[0].rsplit("_", 1)[1])][re.sub(r"^nn.Module: |_\d+$", "", inner)] += 1
    return pieces


def check_layers(tacho, folder):
    for file, count in LAYERS.items():
        layers = layers_of(tacho, folder / file)
        check(f"{file}: layers", [layers["state"], layers["count"]], ["found", count])
        for phase in layers["phases"]:
            check(f"{file}: times add up", [row["device_ns"] for row in phase["list"]],
                  [sum(b["device_ns"] for b in row["blocks"]) for row in phase["list"]])
        check(f"{file}: all work has a place", layers["in_steps_ns"],
              sum(b["device_ns"] for p in layers["phases"] for b in p["outside"] + [b for row in p["list"] for b in row["blocks"]]))
    known = modules_of(folder / EAGER)
    for row in layers_of(tacho, folder / EAGER)["phases"][0]["list"]:
        pieces, blocks = known[row["index"]], {b["id"]: b["count"] for b in row["blocks"]}
        check(f"layer {row['index']}: pieces of work", sum(blocks.values()), sum(pieces.values()))
        check(f"layer {row['index']}: of one module each", [blocks["qkv"], blocks["output-projection"], blocks["attention"]],
              [pieces["QKVParallelLinear"], 1, 1])
        experts = blocks["router"] + blocks["experts-up"] + blocks["experts-down"]
        # Beside the products, their all-reduces: a kernel with a copy before it and one after it.
        check(f"layer {row['index']}: norms and all-reduces", [blocks["norm"], blocks["all-reduce"]], [pieces["RMSNorm"], 6])
        check(f"layer {row['index']}: of the MLP", experts + 3, pieces["Linear"] + pieces["FusedMoE"])
        check(f"layer {row['index']}: of the mixer", sum(blocks.values()) - experts - 3,
              sum(pieces.values()) - pieces["Linear"] - pieces["FusedMoE"])
