#!/usr/bin/env python3
"""What `tacho analyze` says of the layers and blocks of simulated models, against their kernels by name: the simulator gives the
kernels of each block a name of its own.

usage: check_layers.py TACHO [--only NAME ...]
"""
import collections
import csv
import json
import pathlib
import random

from scenario import check, main, run

# A part of a kernel's name, and the blocks that all kernels with it are in.
NAMES = [("add_rms_norm", "norm"), ("AddRMSNorm", "norm"), ("nvjet_tst_64x64_64x16_2x1_2cta", "qkv"), ("rotary", "rope-kv-write"),
         ("ApplyRotary", "rope-kv-write"), ("reshape_and_cache", "rope-kv-write"), ("store_kvcache", "rope-kv-write"),
         ("FlashAttnFwdSm90", "attention"), ("nvjet_tst_64x32_64x16_4x1", "output-projection"), ("cross_device_reduce", "all-reduce"),
         ("ncclDevKernel_AllReduce", "all-reduce"), ("nvjet_tst_128x64_64x9", "mlp-up"), ("act_and_mul", "activation"),
         ("nvjet_tst_64x64_64x13", "mlp-down"), ("nvjet_tst_32x64_64x16", "router"), ("topkGating", "router"),
         ("fused_moe_kernel", "experts"), ("nvjet_tst_192x8", "lm-head"), ("deep_ep::intranode::dispatch", "dispatch"),
         ("deep_ep::intranode::combine", "combine")]
ONE = {"final-norm": "norm", "experts-up": "experts", "experts-down": "experts"}


def analyzed(path, *words):
    done = run("analyze", *map(str, words), str(path))
    check(f"analyze {path.name}: ends well", done.returncode == 0, done.stderr)
    return done.stdout


def by_name(trace, experts):
    """(pieces, nanoseconds) of the kernels of each block. The activation of experts counts for them."""
    sums = collections.defaultdict(lambda: [0, 0])
    for event in json.loads(trace.read_text())["traceEvents"]:
        block = next((b for part, b in NAMES if part in event["name"]), None) if event.get("cat") == "kernel" else None
        if experts and block == "activation":
            block = "experts"
        if block:
            sums[block][0] += 1
            sums[block][1] += round(event["dur"] * 1000)
    return sums


def check_model(name, trace, layers, experts):
    told = json.loads(analyzed(trace, "--json"))["traces"][0]["layers"]
    check(f"{name}: layers", (told["state"], told["count"], told["left_out"]) == ("found", layers, 0), told["count"])
    found = collections.defaultdict(lambda: [0, 0])
    for phase in told["phases"]:
        check(f"{name}: a row for each layer", [row["index"] for row in phase["list"]] == list(range(layers)))
        check(f"{name}: one kind", {row["kind"] for row in phase["list"]} == {"attention, experts" if experts else "attention, mlp"})
        for row in phase["list"]:
            check(f"{name}: blocks add up", row["device_ns"] == sum(b["device_ns"] for b in row["blocks"]))
        for block in phase["outside"] + [b for row in phase["list"] for b in row["blocks"]]:
            sums = found[ONE.get(block["id"], block["id"])]
            sums[0] += block["count"]
            sums[1] += block["device_ns"]
    check(f"{name}: all work has a place", told["in_steps_ns"] == told["device_ns"] == sum(ns for _, ns in found.values()))
    for block, (count, ns) in by_name(trace, experts).items():
        outside = block == "lm-head"  # with the gather of its rows, and its all-gather
        check(f"{name}: pieces of {block}", found[block][0] >= count if outside else found[block][0] == count, (found[block], count))
        # Two kernels may overlap by some nanoseconds: each instant counts once.
        check(f"{name}: time of {block}", abs(found[block][1] - ns) < 0.01 * ns or (outside and found[block][1] > ns), (found[block], ns))


def models(folder):
    """Random models, dense and with experts, of both engines, in graphs and eager."""
    dice = random.Random(34)
    for i in range(16):
        layers, experts = dice.randint(2, 24), i % 3 == 0
        words = ["--layers", layers, "--model-size", "30b-a3b" if experts else dice.choice(["8b", "32b"]), "--ranks", dice.choice([1, 2]),
                 "--engine", dice.choice(["vllm", "sglang"]), "--steps", 12, "--load-seed", i + 1]
        if dice.random() < 0.3:
            words += ["--change", "eager"]
        out = pathlib.Path(folder) / f"m{i}"
        done = run("simulate", "trace", "-o", str(out), *map(str, words))
        check(f"m{i}: is simulated", done.returncode == 0, done.stderr)
        trace = next(path for path in sorted(out.glob("*.json")) if "trace" in path.name and "truth" not in path.name)
        check_model(f"m{i} {words}", trace, layers, experts)


def outputs(folder):
    """The screen and the CSV files."""
    out = pathlib.Path(folder) / "run"
    run("simulate", "trace", "-o", str(out), "--steps", "12", "--layers", "5")
    trace = next(path for path in out.glob("*.json") if "truth" not in path.name)
    told = json.loads(analyzed(trace, "--json"))["traces"][0]["layers"]
    analyzed(trace, "--csv", out / "csv")
    rows = list(csv.DictReader((out / "csv" / "layers.csv").open()))
    listed = [(p["phase"], row) for p in told["phases"] for row in p["list"]]
    check("layers.csv", [(r["phase"], r["index"], r["device_ns"], r["gap_ns"]) for r in rows]
          == [(phase, str(row["index"]), str(row["device_ns"]), str(row["gap_ns"])) for phase, row in listed])
    blocks = list(csv.DictReader((out / "csv" / "layer_blocks.csv").open()))
    check("layer_blocks.csv adds up", sum(int(r["device_ns"]) for r in blocks) == told["in_steps_ns"])
    first = analyzed(trace)
    check("the first screen has the blocks", "MODEL" in first and "5 layers by the order of the kernels" in first, first)
    check("each layer on request", analyzed(trace, "--layers").count("attention, mlp") == len(listed))
    bare = pathlib.Path(folder) / "bare.json"
    bare.write_text(json.dumps({"traceEvents": [{"ph": "X", "cat": "kernel", "name": "gemm", "pid": 0, "tid": 7, "ts": 1, "dur": 5,
                                                 "args": {"device": 0, "stream": 7, "correlation": 1}}]}))
    check("without steps it says why", "no layers: no step of the engine is named" in run("analyze", str(bare), "--layers").stdout)


main([models, outputs], __doc__)
