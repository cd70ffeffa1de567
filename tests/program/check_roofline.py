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
import shutil
import sys
from dataclasses import replace

from model_work import DETAILED, Model, work_of
from scenario import check, main, run

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from corpus import corpus  # noqa: E402

MODELS = {"tiny": Model(1024, 3072, 16, 8, 32000), "8b": Model(4096, 12288, 32, 8, 151936), "32b": Model(5120, 25600, 64, 8, 151936),
          "30b-a3b": Model(2048, 768, 32, 4, 151936, experts=128, chosen=8)}
PEAKS = {"h100": (989.4e12, 3350e9, 450e9), "h200": (989.4e12, 4800e9, 450e9), "b200": (2250e12, 8000e9, 900e9),
         "a100": (312e12, 2039e9, 300e9), "l4": (121e12, 300e9, 32e9)}


def config(folder, size, layers, **more):
    model = MODELS[size]
    moe = {"model_type": "qwen3_moe", "num_experts": model.experts, "num_experts_per_tok": model.chosen, "moe_intermediate_size": model.width}
    path = folder / f"{size}-{layers}.json"
    path.write_text(json.dumps({"model_type": "qwen3", "hidden_size": model.hidden, "intermediate_size": model.width,
                                "num_attention_heads": model.heads, "num_key_value_heads": model.kv_heads, "head_dim": model.head,
                                "num_hidden_layers": layers, "vocab_size": model.vocabulary, **(moe if model.experts else {}), **more}))
    return path


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
        size, hardware = dice.choice(list(MODELS)), dice.choice(list(PEAKS))
        layers, ranks = dice.randint(2, 12), dice.choice([1, 1, 2, 4])
        words = ["--layers", layers, "--model-size", size, "--ranks", ranks, "--hardware", hardware, "--steps", dice.randint(8, 40),
                 "--load-seed", i + 1, "--requests", dice.choice([1, 8, 64]), "--prompt-tokens", dice.choice([64, 1024]), "--detailed"]
        out = pathlib.Path(folder) / f"m{i}"
        done = run("simulate", "trace", "-o", str(out), *map(str, words))
        check(f"m{i}: is simulated", done.returncode == 0, done.stderr)
        trace = next(path for path in sorted(out.glob("*.json")) if "trace" in path.name and "truth" not in path.name)
        told = analyzed(trace, "--model-config", config(pathlib.Path(folder), size, layers), "--tensor-parallel", ranks)
        names = names_of(trace)
        check_model(f"m{i} {words}", told, names, replace(MODELS[size], layers=layers), ranks, PEAKS[hardware])


def check_model(name, told, names, model, ranks, peaks):
    roofline = told["roofline"]
    check(f"{name}: nothing is missing", roofline["missing"] == [], roofline["missing"])
    sums = collections.defaultdict(lambda: [0, 0, 0, 0.0])
    steps = collections.Counter()
    check(f"{name}: a name for each step", len(names) == len(told["steps"]["list"]), (len(names), len(told["steps"]["list"])))
    for step, annotation in zip(told["steps"]["list"], names):
        if step.get("device_busy_ns") is None or step.get("lost_work"):
            continue
        steps[step["phase"]] += 1
        for block, work in work_of(annotation, model, ranks).items():
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
    refused = analyzed(trace, "--model-config", known)["roofline"]["refused"]
    check("what lengths are missing for", {(of["id"], of["why"]) for of in refused} == {("", "lengths"), ("attention", "lengths")}, refused)
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


def names_of(trace):
    events = [event for event in json.loads(trace.read_text())["traceEvents"]
              if event.get("cat") == "user_annotation" and DETAILED.match(event["name"])]
    return [event["name"] for event in sorted(events, key=lambda event: float(event["ts"]))]


def traced(folder, *words):
    """The trace of a simulated rank in a run folder, whose run.json each call of `told` writes anew."""
    size = () if "--model-size" in words else ("--model-size", "8b")
    run("simulate", "trace", "-o", str(folder / "made"), "--detailed", "--steps", "12", *size, *words)
    (folder / "traces/w0").mkdir(parents=True)
    trace = folder / "traces/w0/rank0.pt.trace.json"
    shutil.copy(next(path for path in sorted((folder / "made").glob("*.json")) if "truth" not in path.name), trace)
    return trace


def told(trace, model, **facts):
    (trace.parents[2] / "run.json").write_text(json.dumps({"workers": [{"name": "w0", "tensor_parallel": 1, **facts}]}))
    return analyzed(trace, "--model-config", model)["roofline"]


def compare_blocks(name, roofline, names, model, ranks=1, without=()):
    """FLOPs and bytes of all steps, block by block."""
    sums = collections.defaultdict(lambda: [0, 0, 0])
    for annotation in names:
        for block, work in work_of(annotation, model, ranks).items():
            sums[block] = [a + b for a, b in zip(sums[block], work)]
    shown = collections.defaultdict(lambda: [0, 0, 0])
    for of in roofline["blocks"]:
        shown[of["id"]] = [a + b for a, b in zip(shown[of["id"]], (of["flops"], of["bytes"], of["link_bytes"]))]
    for block in without:
        check(f"{name}: {block} has no row", block not in shown)
        del sums[block]
    # The simulated attention of prompts may be faster than its roof: then it has a row of the other phases alone.
    if any(of["id"] == "attention" for of in roofline["refused"]):
        del sums["attention"]
        shown.pop("attention", None)
    check(f"{name}: its blocks", set(shown) == set(sums), (sorted(shown), sorted(sums)))
    for block, work in sums.items():
        check(f"{name}: {block}", all(near(a, b) for a, b in zip(shown[block], work)), (shown[block], work))


def formats(folder):
    """Number formats that the engine was told, and those that its kernels show."""
    folder = pathlib.Path(folder)
    trace = traced(folder, "--hardware", "h200", "--layers", "5")
    names, known, sizes = names_of(trace), config(folder, "8b", 5), replace(MODELS["8b"], layers=5)
    for facts, changes in [({}, {}), ({"quantization": "fp8"}, {"weight": 1}), ({"kv_cache_dtype": "fp8_e4m3"}, {"cached": 1}),
                           ({"dtype": "torch.bfloat16", "quantization": "fp8", "kv_cache_dtype": "fp8"}, {"weight": 1, "cached": 1})]:
        roofline = told(trace, known, **facts)
        check(f"{facts}: nothing is missing", roofline["missing"] == [], roofline["missing"])
        compare_blocks(f"{facts}", roofline, names, replace(sizes, **changes))
        peak = 1978.9e12 if "weight" in changes else 989.4e12
        for of in roofline["blocks"]:
            if of["id"] == "qkv":
                check(f"{facts}: the peak", near(of["mfu"], of["flops"] / peak / of["ns"] * 1e9), of)
    for facts, said in [({"dtype": "torch.float32"}, "dtype torch.float32"), ({"quantization": "bitsandbytes"}, "quantization bitsandbytes")]:
        roofline = told(trace, known, **facts)
        check(f"{facts}: is refused", [row["id"] for row in roofline["missing"]] == ["number-format"] and roofline["unknown_format"] == said
              and not roofline["blocks"], roofline)
        text = run("analyze", str(trace), "--model-config", str(known), "--roofline").stdout
        check(f"{facts}: is said", f"no roofline: the engine was told '{said}', which has no formulas" in text, text)
    # Attention in 8 bits without an 8-bit cache: only attention, and with it the phases, have no roof.
    text = trace.read_text()
    eight = text.replace("cutlass::bfloat16_t, float, cutlass::arch", "cutlass::float_e4m3_t, float, cutlass::arch")
    check("attention has another name", eight != text)
    trace.write_text(eight)
    roofline = told(trace, known)
    check("attention in 8 bits", [row["id"] for row in roofline["missing"]] == ["number-format"] and "float_e4m3_t" in roofline["format_kernel"]
          and not roofline["phases"] and "mlp-up" in {of["id"] for of in roofline["blocks"]}, roofline)
    phases = {of["phase"] for of in roofline["blocks"]}
    check("attention in 8 bits: is refused by name", {(of["phase"], of["id"], of["why"]) for of in roofline["refused"]}
          == {(phase, block, "number-format") for phase in phases for block in ("", "attention")}, roofline["refused"])
    check("attention in 8 bits: is said", "as a whole, attention (its number format)"
          in " ".join(run("analyze", str(trace), "--model-config", str(known), "--roofline").stdout.split()))
    roofline = told(trace, known, kv_cache_dtype="fp8")
    check("attention in 8 bits with such a cache", roofline["missing"] == [] and roofline["format_kernel"] == "", roofline)
    for of in roofline["blocks"]:
        if of["id"] == "attention":
            check("attention at the peak of 8 bits", near(of["mfu"], of["flops"] / 1978.9e12 / of["ns"] * 1e9), of)
    trace.write_text(text.replace("nvjet_tst", "nvjet_fp8"))
    roofline = told(trace, known)
    check("products in 8 bits", [row["id"] for row in roofline["missing"]] == ["number-format"] and not roofline["blocks"]
          and roofline["format_kernel"].startswith("nvjet_fp8"), roofline)


def formats_of_experts(folder):
    """Experts in 8 bits: they and the phases have no roof, the other blocks have."""
    folder = pathlib.Path(folder)
    trace = traced(folder, "--layers", "5", "--model-size", "30b-a3b")
    text = trace.read_text()
    trace.write_text(text.replace("fused_moe_kernel", "fused_moe_kernel_fp8"))
    check("experts have another name", trace.read_text() != text)
    roofline = told(trace, config(folder, "30b-a3b", 5))
    check("experts in 8 bits: are refused by name", {(of["id"], of["why"]) for of in roofline["refused"] if of["why"] != "fit"}
          == {(block, "number-format") for block in ("", "experts-up", "experts-down")} and not roofline["phases"], roofline["refused"])
    check("experts in 8 bits: the others", {"qkv", "router", "lm-head"} <= {of["id"] for of in roofline["blocks"]}, roofline)


def stages(folder):
    """A stage of a pipeline has its own layers, and lm_head if it is the last."""
    folder = pathlib.Path(folder)
    trace = traced(folder, "--layers", "5")
    names, sizes = names_of(trace), replace(MODELS["8b"], layers=5)
    roofline = told(trace, config(folder, "8b", 10), pipeline_parallel=2)
    check("a stage: nothing is missing", roofline["missing"] == [] and roofline["model"]["layers"] == 5
          and roofline["model"]["stages"] == 2, roofline)
    compare_blocks("the first of two stages", roofline, names, sizes, without=("lm-head",))
    check("a stage: is said", "qwen3 of 5 layers, one of 2 stages, on 1 rank" in run(
        "analyze", str(trace), "--model-config", str(config(folder, "8b", 10)), "--roofline").stdout)
    for layers in (11, 13):  # 6 layers in the first stage of vLLM, 5 in that of SGLang; 6 and 7
        missing = [row["id"] for row in told(trace, config(folder, "8b", layers), pipeline_parallel=2)["missing"]]
        check(f"{layers} layers in two stages", missing == ([] if layers == 11 else ["pipeline-stage"]), missing)


def switches(folder):
    """An all-reduce in which the switch adds moves (n + 1) / n of its data."""
    folder = pathlib.Path(folder)
    trace = traced(folder, "--layers", "5", "--ranks", "4", "--hardware", "h200")
    names, known = names_of(trace), config(folder, "8b", 5)
    by_ranks = sum(work_of(name, replace(MODELS["8b"], layers=5), 4)["all-reduce"][2] for name in names)
    text = trace.read_text()

    def link_bytes():
        return sum(of["link_bytes"] for of in told(trace, known, tensor_parallel=4)["blocks"])
    check("the ranks add", near(link_bytes(), by_ranks), (link_bytes(), by_ranks))
    trace.write_text(re.sub(r"vllm::cross_device_reduce_.stage|ncclDevKernel_AllReduce_Sum_bf16_RING_LL", "multimem_all_reduce_kernel", text))
    check("the switch adds", near(link_bytes(), by_ranks * (5 / 4) / (6 / 4)), (link_bytes(), by_ranks))


def drafts(folder):
    """Steps that verify tokens of a draft model, whose work is not the model's."""
    folder = pathlib.Path(folder)
    run("simulate", "trace", "-o", str(folder / "made"), "--speculative", "3", "--steps", "60", "--layers", "4", "--model-size", "8b", "--detailed")
    trace = next(path for path in sorted((folder / "made").glob("*.json")) if "truth" not in path.name)
    model = config(folder, "8b", 4)
    whole = json.loads(run("analyze", str(trace), "--model-config", str(model), "--json").stdout)
    roofline = whole["traces"][0]["roofline"]
    check("drafts: the decode phase has no figure", {of["phase"] for of in roofline["phases"]} == {"prefill", "mixed"}
          and {"phase": "decode", "id": "", "why": "drafts"} in roofline["refused"], roofline)
    check("drafts: its blocks have", "mlp-up" in {of["id"] for of in roofline["blocks"] if of["phase"] == "decode"}, roofline["blocks"])
    check("drafts: no finding", not any(row["id"] == "above-roof" for row in whole["findings"]), whole["findings"])
    answers = run("report", str(trace), "--model-config", str(model), "--markdown").stdout
    check("drafts: the answer is not another phase's", "decode as a whole (a draft model runs in its steps)" in answers, answers)


main([models, outputs, gemms, formats, formats_of_experts, stages, switches, drafts], __doc__)
