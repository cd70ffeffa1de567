#!/usr/bin/env python3
"""What `tacho analyze --model-config` says of simulated models, against a second, plain computation of their FLOPs and bytes from the
names of the steps, and against the rates of the simulated device.

usage: check_roofline.py TACHO [--only NAME ...]
"""
import collections
import csv
import decimal
import gzip
import json
import pathlib
import random
import re
import sys

from scenario import check, main, run

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from corpus import corpus  # noqa: E402

SIZES = {"tiny": (1024, 3072, 16, 8, 32000), "8b": (4096, 12288, 32, 8, 151936), "32b": (5120, 25600, 64, 8, 151936),
         "30b-a3b": (2048, 768, 32, 4, 151936)}
PEAKS = {"h100": (989.4e12, 3350e9, 450e9), "h200": (989.4e12, 4800e9, 450e9), "b200": (2250e12, 8000e9, 900e9),
         "a100": (312e12, 2039e9, 300e9), "l4": (121e12, 300e9, 32e9)}
DETAILED = re.compile(r"execute_\d+_context_(\d+)\(sq(\d+)sk(\d+)sqsq(\d+)sqsk(\d+)\)_generation_(\d+)\(sq(\d+)sk(\d+)sqsq\d+sqsk(\d+)\)")


def config(folder, size, layers, **more):
    hidden, width, heads, kv_heads, vocabulary = SIZES[size]
    moe = {"model_type": "qwen3_moe", "num_experts": 128, "num_experts_per_tok": 8, "moe_intermediate_size": width}
    path = folder / f"{size}-{layers}.json"
    path.write_text(json.dumps({"model_type": "qwen3", "hidden_size": hidden, "intermediate_size": width, "num_attention_heads": heads,
                                "num_key_value_heads": kv_heads, "head_dim": 128, "num_hidden_layers": layers, "vocab_size": vocabulary,
                                **(moe if size == "30b-a3b" else {}), **more}))
    return path


def work_of(name, size, layers, ranks):
    """Of one step: block -> (FLOPs, bytes, bytes over links)."""
    cr, cq, ck, cqq, cqk, gr, gq, gk, gqk = map(int, DETAILED.match(name).groups())
    hidden, width, heads, kv_heads, vocabulary = SIZES[size]
    m, h, kv = cq + gq, heads // ranks, max(1, kv_heads / ranks)

    def gemm(rows, inner, columns):
        return 2 * rows * inner * columns, 2 * (rows * inner + inner * columns + rows * columns), 0
    blocks = {"qkv": gemm(m, hidden, (h + 2 * kv) * 128), "output-projection": gemm(m, h * 128, hidden),
              "attention": (h * 256 * (2 * cqk - cqq + 2 * gqk), 2 * 256 * (m * (h + kv) + (ck - cq + gk - gq) * kv), 0)}
    if size == "30b-a3b":
        used = 128 * (1 - (120 / 128) ** m) / ranks
        blocks["router"] = gemm(m, hidden, 128)
        blocks["experts-up"] = (2 * m * 8 * hidden * 2 * width / ranks,
                                2 * (used * hidden * 2 * width + m * hidden + m * 8 * 2 * width / ranks), 0)
        blocks["experts-down"] = (2 * m * 8 * hidden * width / ranks, 2 * (used * hidden * width + m * 8 * width / ranks + m * hidden), 0)
    else:
        blocks["mlp-up"] = gemm(m, hidden, 2 * width / ranks)
        blocks["mlp-down"] = gemm(m, width / ranks, hidden)
    if ranks > 1:
        blocks["all-reduce"] = (0, 0, 2 * 2 * (ranks - 1) / ranks * m * hidden * 2)
    blocks = {block: tuple(layers * x for x in work) for block, work in blocks.items()}
    blocks["lm-head"] = gemm(cr + gq, hidden, vocabulary / ranks)
    return blocks


def analyzed(path, *words):
    done = run("analyze", *map(str, words), str(path), "--json")
    check(f"analyze {path.name}: ends well", done.returncode == 0, done.stderr)
    return json.loads(done.stdout)["traces"][0]


def near(a, b):
    return abs(a - b) <= 1e-9 * max(abs(a), abs(b), 1)


def models(folder):
    """Random models: every sum, and shares that follow from it."""
    dice = random.Random(34)
    for i in range(12):
        size, hardware = dice.choice(list(SIZES)), dice.choice(list(PEAKS))
        layers, ranks = dice.randint(2, 12), dice.choice([1, 1, 2, 4])
        words = ["--layers", layers, "--model-size", size, "--ranks", ranks, "--hardware", hardware, "--steps", dice.randint(8, 40),
                 "--load-seed", i + 1, "--requests", dice.choice([1, 8, 64]), "--prompt-tokens", dice.choice([64, 1024]), "--detailed"]
        out = pathlib.Path(folder) / f"m{i}"
        done = run("simulate", "trace", "-o", str(out), *map(str, words))
        check(f"m{i}: is simulated", done.returncode == 0, done.stderr)
        trace = next(path for path in sorted(out.glob("*.json")) if "trace" in path.name and "truth" not in path.name)
        told = analyzed(trace, "--model-config", config(pathlib.Path(folder), size, layers), "--tensor-parallel", ranks)
        annotations = [event for event in json.loads(trace.read_text())["traceEvents"]
                       if event.get("cat") == "user_annotation" and DETAILED.match(event["name"])]
        names = [event["name"] for event in sorted(annotations, key=lambda event: float(event["ts"]))]
        check_model(f"m{i} {words}", told, names, size, layers, ranks, PEAKS[hardware])


def check_model(name, told, names, size, layers, ranks, peaks):
    roofline = told["roofline"]
    check(f"{name}: nothing is missing", roofline["missing"] == [], roofline["missing"])
    sums = collections.defaultdict(lambda: [0, 0, 0, 0.0])
    steps = collections.Counter()
    check(f"{name}: a name for each step", len(names) == len(told["steps"]["list"]), (len(names), len(told["steps"]["list"])))
    for step, annotation in zip(told["steps"]["list"], names):
        if step.get("device_busy_ns") is None or step.get("lost_work"):
            continue
        steps[step["phase"]] += 1
        for block, work in work_of(annotation, size, layers, ranks).items():
            for key in ((step["phase"], block), (step["phase"], "")):
                sums[key] = [a + b for a, b in zip(sums[key][:3], work)] + [sums[key][3] + max(x / p for x, p in zip(work, peaks))]
    for of in roofline["phases"] + roofline["blocks"]:
        flops, moved, links, roof = sums[of["phase"], of.get("id", "")]
        check(f"{name}: {of['phase']} {of.get('id')}",
              near(of["flops"], flops) and near(of["bytes"], moved) and near(of["link_bytes"], links) and abs(of["roof_ns"] - roof * 1e9) < 1,
              (of, flops, moved, links, roof))
        check(f"{name}: {of['phase']} {of.get('id')}: shares",
              near(of["mfu"], flops / peaks[0] / of["ns"] * 1e9) and near(of["mbu"], moved / peaks[1] / of["ns"] * 1e9), of)
        check(f"{name}: {of['phase']} {of.get('id')}: not faster than the roof", of["roof_ns"] <= 1.05 * of["ns"], of)
        check(f"{name}: {of['phase']}: its steps", of["steps"] == steps[of["phase"]], (of["steps"], steps))
    # The simulated attention of prompts reads no memory, so its roof may be above its time: then it has no row.
    shown = {(of["phase"], of["id"]) for of in roofline["blocks"]}
    time = collections.Counter()
    for phase in told["layers"]["phases"]:
        for layer in phase["list"]:
            for block in layer["blocks"]:
                time[phase["phase"], block["id"]] += block["device_ns"]
    for key, (_, _, _, roof) in sums.items():
        above = key[1] == "attention" and roof * 1e9 > 1.05 * time[key]
        check(f"{name}: {key}: has a row", not key[1] or (key in shown) != above, (roof, time[key]))


def outputs(folder):
    """The screen, the CSV file, results that are read back, and what is said where something is missing."""
    folder = pathlib.Path(folder)
    run("simulate", "trace", "-o", str(folder / "run"), "--steps", "12", "--layers", "5", "--model-size", "tiny")
    trace = next(path for path in (folder / "run").glob("*.json") if "truth" not in path.name)
    known, other = config(folder, "tiny", 5), config(folder, "tiny", 6)

    def missing(*words):
        return [row["id"] for row in analyzed(trace, *words)["roofline"]["missing"]]
    check("without a model there is none", "roofline" not in analyzed(trace))
    check("lengths are missing", missing("--model-config", known, "--tensor-parallel", 1) == ["lengths"])
    check("a mean length helps", missing("--model-config", known, "--context-length", 300) == [])
    check("faster than the hardware", missing("--model-config", known, "--context-length", 300, "--gpu", "l4") == ["fit"])
    check("ranks that do not divide the heads", missing("--model-config", known, "--context-length", 300, "--tensor-parallel", 3) == ["ranks"])
    check("experts", missing("--model-config", config(folder, "30b-a3b", 5), "--context-length", 300)[0] == "same-model")
    check("another model", missing("--model-config", other, "--context-length", 300) == ["same-model"])
    words = ["--model-config", str(known), "--context-length", "300"]
    text = run("analyze", str(trace), *words).stdout
    check("the first screen has it", "ROOFLINE" in text.upper() and "qwen3 of 5 layers on 1 rank; h100-sxm" in text, text)
    check("the table", "lm-head" in run("analyze", str(trace), *words, "--roofline").stdout)
    check("why not", "no roofline: the model is not known (--model-config)" in run("analyze", str(trace), "--roofline").stdout)
    run("analyze", str(trace), *words, "--csv", str(folder / "csv"))
    rows = list(csv.DictReader((folder / "csv" / "roofline.csv").open()))
    told = analyzed(trace, *words)["roofline"]
    check("roofline.csv", [(r["phase"], r["block"], float(r["flops"]), int(r["roof_ns"])) for r in rows]
          == [(r["phase"], r.get("id", ""), r["flops"], r["roof_ns"]) for r in told["phases"] + told["blocks"]])
    results = folder / "results.json"
    results.write_text(run("analyze", str(trace), *words, "--json").stdout)
    check("read back", analyzed(results)["roofline"] == told)
    for bad, said in [(["--model-config", str(known), "--gpu", "tpu"], "no accelerator is called 'tpu'"),
                      (["--model-config", str(folder / "none.json")], "none.json"), (["--model-config", str(trace)], "no model_type")]:
        done = run("analyze", str(trace), *bad)
        check(f"{bad}: is refused", done.returncode in (2, 3) and said in done.stderr, (done.returncode, done.stderr))


def gemms(folder):
    """The matrix products of real traces, by the ids that join kernels and operators in the file."""
    root = corpus("matrix products of real traces")
    if not root:
        return
    of_left, size = {"aten::mm": 0, "aten::addmm": 1, "aten::bmm": 0, "aten::baddbmm": 1}, {"float": 4, "c10::BFloat16": 2}
    for name, peak, memory in [("b200/eager_trace", 2250e12, 8000e9), ("h100/Qwen_Qwen1.5-0.5B-Chat__1016005", 989.4e12, 3350e9),
                               ("mi300/gaunernst_bert-small-uncased__1016001", 1307.4e12, 5300e9)]:
        path = root / f"AMD-AGI+TraceLens/{name}.json.gz"
        events = [e for e in json.load(gzip.open(path), parse_float=decimal.Decimal)["traceEvents"] if e.get("ph") == "X"]
        device = collections.Counter()  # by external id
        for event in events:
            if event.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset"):
                device[event["args"].get("External id")] += int(decimal.Decimal(event["dur"]) * 1000)
        sums = collections.defaultdict(lambda: [0, 0])
        for event in events:
            args = event.get("args", {})
            left = of_left.get(event["name"]) if event.get("cat") == "cpu_op" else None
            if left is not None and device[args["External id"]]:
                (*batch, m, k), n = args["Input Dims"][left], args["Input Dims"][left + 1][-1]
                row = sums[event["name"], args["Input type"][left], *(batch or [1]), m, n, k]
                row[0] += 1
                row[1] += device[args["External id"]]
        told = {(r["op"], r["type"], r["batch"], r["m"], r["n"], r["k"]): r for r in analyzed(path)["gemms"]}
        check(f"{name}: rows", {key: [r["count"], r["device_ns"]] for key, r in told.items()} == dict(sums), (told, dict(sums)))
        for (op, kind, batch, m, n, k), r in told.items():
            flops, moved = 2 * batch * m * n * k * r["count"], batch * (m * k + k * n + m * n) * size[kind] * r["count"]
            check(f"{name} {m} x {n} x {k}: work", (r["flops"], r["bytes"]) == (flops, moved), r)
            roof = max(flops / peak, moved / memory) * 1e9
            has_roof = kind != "float" and roof <= 1.05 * r["device_ns"]
            check(f"{name} {m} x {n} x {k}: roof", ("roof_ns" in r) == has_roof and abs(r.get("roof_ns", roof) - roof) <= 1, r)
            check(f"{name} {m} x {n} x {k}: share", not has_roof or abs(r["mfu"] - flops / peak * 1e9 / r["device_ns"]) < 1e-9, r)
    text = run("analyze", str(path), "--roofline").stdout
    check("the table", "141 x 512 x 512" in text and "no roofline of phases and blocks: the model is not known" in text, text)


main([models, outputs, gemms], __doc__)
