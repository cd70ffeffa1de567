#!/usr/bin/env python3
"""What `tacho analyze` says that fusing kernels and hiding communication would save, in simulated runs: against what a fusion really
saves, and against a second, plain computation from the rows of the trace.

usage: check_opportunities.py TACHO [--only NAME ...]
"""
import collections
import csv
import decimal
import json
import pathlib
import random

from scenario import check, main, run

ROPE = ("rotary_embedding_kernel", "BatchQKApplyRotary")
CACHE = ("reshape_and_cache", "store_kvcache")


def simulated(out, *words):
    """The first rank's trace, and truth.json."""
    done = run("simulate", "trace", "-o", str(out), *map(str, words))
    check(f"{out.name}: is simulated", done.returncode == 0, done.stderr)
    traces = [path for path in sorted(out.glob("*.json")) if "truth" not in path.name]
    return traces[0], json.loads((out / "truth.json").read_text())


def analyzed(path, *words):
    done = run("analyze", str(path), *words, "--json")
    check(f"analyze {path.name}: ends well", done.returncode == 0, done.stderr)
    return json.loads(done.stdout)["traces"][0]


def is_one(name, names):
    return any(part in name for part in names)


def fuses(told, phase):
    return [of for of in told["opportunities"] if of["kind"] == "fuse" and of["phase"] == phase]


def ns(us):
    return int(decimal.Decimal(repr(us)) * 1000)  # as a double it would lose the last digits


def steps_of(trace):
    """The work of each step, sorted by start: (start, end, stream, name)."""
    events = [e for e in json.loads(trace.read_text())["traceEvents"] if e.get("ph") == "X"]
    starts = sorted(ns(e["ts"]) for e in events if e["cat"] == "user_annotation" and e["name"].startswith(("execute_", "step[DEC", "step[EXT")))
    calls = {e["args"]["correlation"]: ns(e["ts"]) for e in events if e["cat"] in ("cuda_runtime", "cuda_driver")}
    steps = collections.defaultdict(list)
    for e in events:
        if e["cat"] not in ("kernel", "gpu_memcpy", "gpu_memset"):
            continue
        at = calls[e["args"]["correlation"]]
        step = sum(start <= at for start in starts)
        steps[step].append((ns(e["ts"]), ns(e["ts"]) + ns(e["dur"]), e["args"]["stream"], e["name"] if e["cat"] == "kernel" else ""))
    return [sorted(steps[i]) for i in sorted(steps)]


def saving(folder):
    """The room in a run is at least what the fusion saves in it, and at most twice as much."""
    dice = random.Random(6)
    for i in range(8):
        words = ["--steps", 60, "--seed", i + 1, "--load-seed", dice.randint(1, 99), "--engine", dice.choice(["vllm", "sglang"]),
                 "--model-size", dice.choice(["tiny", "8b", "32b", "30b-a3b"]), "--layers", dice.randint(4, 9), "--requests", dice.choice([4, 32]),
                 "--ranks", dice.choice([1, 2]), "--noise", 0]
        out = pathlib.Path(folder) / f"s{i}"
        trace, _ = simulated(out / "without", *words)
        _, truth = simulated(out / "with", *words, "--change", "fused@rope")
        told = analyzed(trace)
        rows = [of for of in fuses(told, "decode") if is_one(of["kernels"][0], ROPE) and is_one(of["kernels"][1], CACHE)]
        check(f"{words}: one run of rope and cache write", len(rows) == 1 and len(rows[0]["kernels"]) == 2, told["opportunities"])
        if not rows:
            continue
        row = rows[0]
        room, saved = row["most_ns"] / row["steps"], -truth["parts"][0]["phases"]["decode"]["step_ns"]["difference"]
        check(f"{words}: the room is enough", room >= saved > 0, (room, saved))
        check(f"{words}: and no more than twice", room <= 2 * saved, (room, saved))
        check(f"{words}: gaps are a part", 0 < row["gap_ns"] < row["most_ns"], row)
        fused = analyzed(next(p for p in sorted((out / "with").glob("*.json")) if "truth" not in p.name))
        check(f"{words}: what is one kernel is no run", not any(is_one(name, ROPE + CACHE + ("_fused_qk_rope",)) for of in fused["opportunities"]
                                                              for name in of.get("kernels", [])), fused["opportunities"])


def fuse_again(steps):
    """For rope and cache write: (count, most, gaps) by a plain walk."""
    count = most = gaps = 0
    for step in steps:
        for a, b in zip(step, step[1:]):
            if is_one(a[3], ROPE) and is_one(b[3], CACHE):
                count += 1
                most += b[1] - a[0] - max(a[1] - a[0], b[1] - b[0])
                gaps += b[0] - a[1]
    return count, most, gaps


def overlap_again(steps):
    """(count, most, exposed, movable), each kernel with the gap before it. In the simulator nothing runs beside another kernel of a layer."""
    count = most = exposed = movable = 0
    for step in steps:
        layer, own, until = None, [], 0
        for start, end, _, name in step + [(0, 0, 0, "norm_after")]:
            if "norm" in name.lower():  # the norm before the MLP, or the next layer's
                if layer and any("combine" in n for n, _ in own):
                    at = [n for n, _ in own].index(next(n for n, _ in own if "topk" in n))
                    comm = sum(t for n, t in own if "dispatch" in n or "combine" in n)
                    expert = sum(t for n, t in own[:at - 1])  # all before the router
                    count, most = count + 1, most + min(comm, expert)
                    exposed, movable = exposed + comm, movable + expert
                layer, own = True, []
            else:
                own.append((name, end - until))
            until = end
    return count, most, exposed, movable


def again(folder):
    """Sums by a second way, in any order of the file's events."""
    dice = random.Random(7)
    for i in range(6):
        shared = i % 2 == 0
        words = ["--steps", 24, "--seed", i + 1, "--layers", 5, "--noise", 2, "--model-size", "14b-a3b" if shared else "8b", *(["--change", "serial"] if shared else []),
                 "--ranks", 4 if shared else 1, "--engine", "sglang" if shared else "vllm"]
        trace, _ = simulated(pathlib.Path(folder) / f"a{i}", *words)
        told = analyzed(trace)
        check(f"{words}: all steps have layers", told["layers"]["unknown"] + told["layers"]["left_out"] == 0, told["layers"])
        steps = steps_of(trace)
        rows = [of for of in told["opportunities"] if of["kind"] == "fuse" and is_one(of["kernels"][0], ROPE)]
        got = tuple(sum(of[key] for of in rows) for key in ("count", "most_ns", "gap_ns"))
        check(f"{words}: fuse", got == fuse_again(steps) and got[0] > 0, (got, fuse_again(steps)))
        rows = [of for of in told["opportunities"] if of["kind"] == "overlap"]
        check(f"{words}: overlap only with a shared expert", bool(rows) == shared, rows)
        got = tuple(sum(of[key] for of in rows) for key in ("count", "most_ns", "exposed_ns", "movable_ns"))
        check(f"{words}: overlap", not shared or got == overlap_again(steps), (got, overlap_again(steps)))
        for of in told["opportunities"]:
            check(f"{words}: a share of the step", 0 < of["share"] < 1 and of["layers"] <= 5 and of["count"] <= of["layers"] * of["steps"], of)
        means = [of["most_ns"] / of["steps"] for of in told["opportunities"]]
        check(f"{words}: ranked", means == sorted(means, reverse=True), means)
        file = json.loads(trace.read_text())
        dice.shuffle(file["traceEvents"])
        trace.write_text(json.dumps(file))
        check(f"{words}: in any order", analyzed(trace)["opportunities"] == told["opportunities"])


def outputs(folder):
    """The screen, the CSV file, results that are read back; none without layers."""
    folder = pathlib.Path(folder)
    trace, _ = simulated(folder / "run", "--steps", 24, "--model-size", "14b-a3b", "--change", "serial", "--layers", 5, "--ranks", 4, "--engine", "sglang")
    told = analyzed(trace)["opportunities"]
    text = run("analyze", str(trace)).stdout
    check("the first screen", "ROOM" in text and "do not add up" in text, text)
    check("the CSV file", run("analyze", str(trace), "--csv", str(folder / "csv")).returncode == 0)
    rows = list(csv.DictReader((folder / "csv" / "opportunities.csv").open()))
    check("opportunities.csv", [(r["kind"], r["phase"], int(r["most_ns"])) for r in rows] == [(of["kind"], of["phase"], of["most_ns"]) for of in told])
    results = folder / "results.json"
    results.write_text(run("analyze", str(trace), "--json").stdout)
    check("read back", analyzed(results)["opportunities"] == told)
    file = json.loads(trace.read_text())
    file["traceEvents"] = [e for e in file["traceEvents"] if not str(e.get("name")).startswith(("step[", "scheduler."))]
    trace.write_text(json.dumps(file))
    check("no layers, none", "opportunities" not in analyzed(trace))


main([saving, again, outputs], __doc__)
