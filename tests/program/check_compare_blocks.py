#!/usr/bin/env python3
"""`tacho compare` by block of the model: simulated changes whose truth is known, overlap that is lost, and two engines.

usage: check_compare_blocks.py TACHO [--only NAME ...]
"""
import json
import pathlib
import random
import sys

import jsonschema
from scenario import check, main, run

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests/support"))
from corpus import corpus  # noqa: E402

SCHEMA = jsonschema.Draft202012Validator(json.loads((ROOT / "docs/compare.schema.json").read_text()))
# The block of each kernel of the simulator.
BLOCKS = {"norm": {"norm", "final-norm"}, "qkv": {"qkv"}, "rope": {"rope-kv-write"}, "kv-write": {"rope-kv-write"},
          "attention": {"attention"}, "out": {"output-projection"}, "gate-up": {"mlp-up"}, "activation": {"activation"},
          "down": {"mlp-down"}, "lm-head": {"lm-head"}, "argmax": {"sampling"}, "embedding": {"embedding", "lm-head", "sampling"}}
OF_EXPERTS = {"router": {"router"}, "top-k": {"router"}, "shared-gate-up": {"shared-expert"}, "shared-down": {"shared-expert"}}


def simulated(folder, name, *words):
    out = pathlib.Path(folder) / name
    done = run("simulate", "trace", "-o", str(out), *map(str, words))
    check(f"{name}: is simulated", done.returncode == 0, done.stderr)
    return out


def compared(name, *words, status=0):
    done = run("compare", *map(str, words), "--json")
    check(f"{name}: status {status}", done.returncode == status, (done.returncode, done.stderr[-300:]))
    result = json.loads(done.stdout)
    errors = [f"{error.json_path}: {error.message[:80]}" for error in SCHEMA.iter_errors(result)]
    check(f"{name}: docs/compare.schema.json", not errors, errors[:3])
    for phase in result["phases"]:
        adds_up(f"{name}, {phase['phase']}", phase)
    return result


def adds_up(name, phase):
    """Each phase has blocks that add up, or the reason."""
    if "cannot_tell" in phase:
        return
    check(f"{name}: blocks or why not", ("blocks" in phase) != ("no_blocks" in phase))
    if "blocks" not in phase:
        return
    work = phase["step_work"]
    for side in ("base", "new"):
        sums = {figure: sum(block[figure][side] for block in phase["blocks"]) for figure in ("device", "gap", "overlap")}
        near = lambda a, b: abs(a - b) < 1e-3 + 1e-9 * abs(b)  # noqa: E731
        check(f"{name}: blocks add up, {side}", all(near(sums[figure], work[figure][side]) for figure in sums), (sums, work))
        check(f"{name}: device and gaps are the span, {side}", near(sums["device"] + sums["gap"], work["span"][side]))
        check(f"{name}: device and overlap are the work, {side}", near(sums["device"] + sums["overlap"], work["work"][side]))


def decode(result):
    return next(phase for phase in result["phases"] if phase["phase"] == "decode")


def truth(folder, figure):
    """What the changes do to a decode step, on average over the ranks."""
    ranks = json.loads((folder / "truth.json").read_text())["parts"]
    return sum(rank["phases"]["decode"][figure]["difference"] for rank in ranks) / len(ranks)


def kernels_truth(folder):
    """By how much the kernels of a decode step take longer."""
    ranks = json.loads((folder / "truth.json").read_text())["parts"]
    return sum(row["total_ns"]["difference"] for rank in ranks for row in rank["phases"]["decode"]["kernels"]) / len(ranks)


def slower(folder):
    """A kernel is slower: its block is named, the time is that of the truth, and no other block changed."""
    dice = random.Random(29960)
    others = 0
    pairs = 24
    for i in range(pairs):
        experts = i % 3 == 0
        kernel = dice.choice(sorted({**BLOCKS, **OF_EXPERTS} if experts else BLOCKS))
        if experts and kernel in ("gate-up", "activation", "down"):
            kernel = "attention"
        percent, layers = dice.choice([30, 60, -30]), dice.randint(3, 10)
        words = ["--layers", layers, "--model-size", "14b-a3b" if experts else "8b", "--steps", 150, "--ranks", dice.choice([1, 2]),
                 "--engine", dice.choice(["vllm", "sglang"])]
        base = simulated(folder, f"base{i}", *words, "--seed", 2 * i + 1)
        new = simulated(folder, f"new{i}", *words, "--seed", 2 * i + 2, "--change", f"slower@{kernel}:{percent}%")
        name = f"{kernel}:{percent}% {words}"
        phase = decode(compared(name, base, new))
        expected = {**BLOCKS, **OF_EXPERTS}[kernel]
        moved = {block["id"]: block for block in phase.get("blocks", []) if block["beyond_noise"]}
        check(f"{name}: the block is named", bool(moved.keys() & expected), sorted(moved))
        others += bool(moved.keys() - expected)
        device = sum(block["device"]["difference"] + block["overlap"]["difference"] for block in phase["blocks"] if block["id"] in expected)
        bound = sum(block[figure]["high"] - block[figure]["difference"] for block in phase["blocks"] for figure in ("device", "overlap")
                    if block["id"] in expected)
        true = kernels_truth(new)
        check(f"{name}: by as much as the truth", abs(device - true) <= bound, (device, true, bound))
        check(f"{name}: no odd layer", all(len(block["changed_layers"]) != 1 or block["layers"] == 1 for block in moved.values()),
              [block["changed_layers"] for block in moved.values()])
    check("no other block in 9 of 10 pairs", others <= pairs // 10, others)


def equal(folder):
    """Runs that do not differ, a run with itself, and both orders."""
    any_block = 0
    for i in range(10):
        words = ["--layers", 6, "--model-size", "14b-a3b" if i % 2 else "8b", "--steps", 120]
        a = simulated(folder, f"a{i}", *words, "--seed", 2 * i + 1)
        b = simulated(folder, f"b{i}", *words, "--seed", 2 * i + 2)
        result = compared(f"equal {i}", a, b)
        any_block += any(block["beyond_noise"] for phase in result["phases"] for block in phase.get("blocks", []))
        if i > 1:
            continue
        same = compared(f"itself {i}", a, a)
        check(f"itself {i}: no block differs", not any(block[figure]["difference"] for phase in same["phases"] for block in phase.get("blocks", [])
                                                      for figure in ("device", "gap", "overlap")))
        check(f"itself {i}: no table", "BLOCKS" not in run("compare", str(a), str(a)).stdout)
        back = decode(compared(f"back {i}", b, a))
        for block in decode(result)["blocks"]:
            other = next(row for row in back["blocks"] if row["id"] == block["id"])
            check(f"{block['id']} {i}: both orders differ by as much",
                  abs(block["device"]["difference"] + other["device"]["difference"]) < 0.02 * block["device"]["base"] + 20, (block, other))
    check("equal runs show no block", any_block <= 1, any_block)


def overlap(folder):
    """The shared expert no longer runs beside the others: kernel times add up to as much, and overlap is lost (sglang #29960)."""
    words = ["--model-size", "14b-a3b", "--layers", 0, "--steps", 80]
    beside = simulated(folder, "beside", *words)
    serial = simulated(folder, "serial", *words, "--seed", 2, "--change", "serial")
    phase = decode(compared("serial", beside, serial))
    work, lost = phase["step_work"], truth(serial, "overlap_ns")
    near = abs(work["overlap"]["difference"] - lost) < 0.05 * abs(lost)
    check("the overlap that is lost is the truth's", work["overlap"]["beyond_noise"] and near and lost < -1e5, (work["overlap"], lost))
    check("kernel times add up to as much", abs(kernels_truth(serial)) < 1 and not work["work"]["beyond_noise"], work["work"])
    of_blocks = {block["id"]: block["overlap"]["difference"] for block in phase["blocks"]}
    both = of_blocks["shared-expert"] + of_blocks["experts-up"]
    check("in the shared expert and the experts beside it", both < 0.8 * work["overlap"]["difference"], of_blocks)
    text = " ".join(run("compare", str(beside), str(serial)).stdout.split())
    check("the verdict says so", "of overlap lost in experts-up and shared-expert, while all work adds up to as much" in text, text[:500])


def across(folder):
    """vLLM beside SGLang, and two GPUs."""
    words = ["--model-size", "14b-a3b", "--layers", 8, "--steps", 120]
    sglang = simulated(folder, "sglang", *words, "--engine", "sglang", "--change", "serial")
    vllm = simulated(folder, "vllm", *words, "--seed", 2)
    refused = compared("without --across", sglang, vllm, status=5)
    check("refused by its engine", [row["id"] for row in refused["obstacles"]][:1] == ["other-engine"], refused["obstacles"])
    result = compared("across", sglang, vllm, "--across")
    check("called by the engines", result["across"] == {"base": "sglang", "new": "vllm"}, result.get("across"))
    phase = decode(result)
    check("no kernels by name", not phase["kernels"] and not result["launches"] and not result["operators"]
          and not any(".kernels." in metric["name"] for metric in result["metrics"]))
    check("they are named as left out", {row["what"] for row in result["left_out"]} >= {"kernels by name", "launches", "operators of the host"})
    lost = -truth(sglang, "overlap_ns")
    check("overlap is won", abs(phase["step_work"]["overlap"]["difference"] - lost) < 0.1 * lost, (phase["step_work"]["overlap"], lost))
    check("all blocks are on both sides", all(block["device"]["base"] > 0 and block["device"]["new"] > 0 for block in phase["blocks"]),
          [block["id"] for block in phase["blocks"]])
    screen = run("compare", str(sglang), str(vllm), "--across").stdout
    check("the screen", "from sglang to vllm: decode step" in " ".join(screen.split()) and "sglang us  vllm us" in screen
          and "overlap" in screen and "left out: kernels by name" in screen and "KERNELS" not in screen, screen)
    gate = run("compare", str(sglang), str(vllm), "--across", "--fail-on", "kernels.new,decode.step.overlap<-1us")
    said = " ".join(gate.stdout.split())
    check("gates on kernels cannot be judged", gate.returncode == 1 and "kernels are not compared across engines" in said
          and "passed: decode.step.overlap" in said, said)
    b200 = simulated(folder, "b200", *words, "--seed", 3, "--hardware", "b200")
    gpus = compared("two GPUs", vllm, b200, "--across")
    check("called by the GPUs", gpus["across"] == {"base": "H100", "new": "B200"}, gpus["across"])
    faster = [block["id"] for block in decode(gpus)["blocks"] if block["device"]["difference"] < 0 and block["beyond_noise"]]
    check("the experts are faster", "experts" in faster or "experts-up" in faster, faster)
    more = simulated(folder, "more", *words[:2], "--layers", 9, "--steps", 120, "--engine", "sglang")
    other = compared("another model", more, vllm, "--across", status=5)
    check("layers differ", other["obstacles"][0]["id"] == "other-layers" and "base has 9 layers, new 8" in other["verdict"], other["verdict"])


def kept(folder):
    """Results that analyze kept give the same; those of an older tacho say so."""
    words = ["--layers", 5, "--steps", 100]
    base = simulated(folder, "base", *words)
    new = simulated(folder, "new", *words, "--seed", 2, "--change", "slower@attention:20%")
    paths = []
    for side in (base, new):
        paths.append(pathlib.Path(folder) / f"{side.name}.json")
        paths[-1].write_text(run("analyze", str(side), "--json").stdout)
    direct = compared("traces", base, new)
    check("results give the same blocks", compared("results", *paths)["phases"] == direct["phases"])
    told = json.loads(paths[0].read_text())
    check("batches add up to their phase", all(
        sum(block["device_ns"] for batch in phase["batches"] for block in batch["blocks"])
        == sum(row["device_ns"] for row in phase["list"]) + sum(block["device_ns"] for block in phase["outside"])
        and phase["steps"] == sum(batch["steps"] for batch in phase["batches"])
        for trace in told["traces"] for phase in trace["layers"]["phases"]))
    for phase in told["traces"][0]["layers"]["phases"]:
        del phase["batches"]
    paths[0].write_text(json.dumps(told))
    old = compared("older results", *paths)
    check("older results say why", all("does not hold blocks by batch" in phase["no_blocks"] for phase in old["phases"] if "cannot_tell" not in phase),
          old["phases"])
    check("and give the other figures", [m for m in direct["metrics"] if ".block." not in m["name"] and not m["name"].endswith(("span", "gaps", "overlap", "work"))]
          == old["metrics"])
    told["traces"][0]["layers"]["phases"][0]["batches"] = [{**b, "device_ns": b["device_ns"] + 1} for b in
                                                          json.loads(paths[1].read_text())["traces"][0]["layers"]["phases"][0]["batches"]]
    paths[0].write_text(json.dumps(told))
    check("blocks that do not add up are refused", run("compare", *map(str, paths)).returncode != 0)


def real(_):
    """Real traces: sums hold, and what cannot be compared says why."""
    traces = corpus("blocks of real traces")
    if traces is None:
        return
    cpu = traces / "live-vllm-cpu/join_rank0.pt.trace.json.gz"
    phase = decode(compared("a CPU engine with itself", cpu, cpu))
    check("it has blocks, and none differs", len(phase["blocks"]) > 8 and not any(block["beyond_noise"] for block in phase["blocks"]), phase)
    folder = traces / "AMD-AGI+TraceLens/inference"
    both = compared("SGLang and vLLM on AMD", folder / "sglang_decode", folder / "vllm_decode_full", "--across", status=5)
    check("one step has no length", [row["id"] for row in both["obstacles"]] == ["no-steps"], both["obstacles"])


main([slower, equal, overlap, across, kept, real], __doc__)
