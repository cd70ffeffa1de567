#!/usr/bin/env python3
"""`tacho compare` where the ranks of a run do not hold the same: a recorder that stopped early or began late, lost kernels, a missing file.
Ranks differ in batches, kernels and lengths of steps, so a rank that counts less than on the other side would look like a change.

usage: check_compare_ranks.py TACHO [--only NAME ...]
"""
import bisect
import json
import pathlib
import re
import subprocess

import scenario
from scenario import check, main

GPU = ("kernel", "gpu_memcpy", "gpu_memset")
RECORDED = (*GPU, "cuda_runtime", "cuda_driver", "gpu_user_annotation", "ac2g")


def tacho(*arguments):
    return subprocess.run([scenario.TACHO, *map(str, arguments)], capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL)


def compared(*arguments):
    """The exit status and the JSON."""
    done = tacho("compare", *arguments, "--json")
    return done.returncode, json.loads(done.stdout)


def simulated(folder, name, *options):
    done = tacho("simulate", "trace", "-o", folder / name, *options)
    check(f"simulate {name}", done.returncode == 0, done.stderr)
    return folder / name


def events_of(path):
    return json.loads(path.read_bytes())["traceEvents"]


def change(path, of_events):
    document = json.loads(path.read_bytes())
    path.write_text(json.dumps({**document, "traceEvents": of_events(document["traceEvents"])}))


def span_of(events):
    times = [event["ts"] for event in events if event["ph"] == "X"]
    return min(times), max(times)


def keep(first, last, of=None):
    """Keeps what starts in this part of the recording, of all events or of those of the categories `of`."""
    def of_events(events):
        start, end = span_of(events)
        low, high = start + first * (end - start), start + last * (end - start)
        return [event for event in events if event["ph"] == "M" or (of and event.get("cat") not in of) or low <= event["ts"] <= high]
    return of_events


def thinned(events):
    """Loses GPU work all over the recording: of one call in twenty."""
    lost = {event["args"]["correlation"] for event in events if event.get("cat") in GPU and event["args"].get("correlation", 0) % 20 == 0}
    return [event for event in events if not (event.get("cat") in GPU and event["args"].get("correlation") in lost)]


def stage(events):
    """Another pipeline stage: its attention has another name, and it works with twice the batch."""
    for event in events:
        if event.get("cat") == "kernel" and "attention" in event["name"].lower():
            event["name"] += "_of_stage_1"
        found = re.fullmatch(r"(execute_context_.*_generation_)(\d+)\((\d+)\)", event.get("name", ""))
        if found:
            event["name"] = f"{found[1]}{2 * int(found[2])}({2 * int(found[3])})"
    return events


def run_of(folder, name, seed, *options):
    """Four ranks: 1 and 3 differ from 0 and 2 in kernels and batches, 1 also in the length of its steps and without graphs."""
    run = simulated(folder, name, "--steps", "300", "--ranks", "4", "--seed", str(seed), *options)
    eager = simulated(folder, f"{name}-eager", "--steps", "300", "--ranks", "4", "--seed", str(seed), "--change", "eager", *options)
    length = min(span_of(events_of(next(part.glob("rank1.*.pt.trace.json"))))[1] for part in (run, eager))
    next(run.glob("rank1.*.pt.trace.json")).write_bytes(next(eager.glob("rank1.*.pt.trace.json")).read_bytes())
    for rank in range(4):
        path = next(run.glob(f"rank{rank}.*.pt.trace.json"))
        change(path, lambda events: [event for event in events if event["ph"] == "M" or event["ts"] <= length])
        if rank in (1, 3):
            change(path, stage)
    return run


DAMAGES = {"stopped at 20 %": keep(0, 0.2), "stopped at 50 %": keep(0, 0.5), "stopped at 90 %": keep(0, 0.9),
           "began at 50 %": keep(0.5, 1), "the recorder stopped at 50 %": keep(0, 0.5, RECORDED), "the recorder stopped at 90 %": keep(0, 0.9, RECORDED),
           "no kernels after 50 %": keep(0, 0.5, GPU), "no kernels before 50 %": keep(0.5, 1, GPU),
           "kernels lost all over": thinned}


def damaged(run, folder, rank, damage):
    """A copy of `run` of which one rank is damaged; `damage` None: its file is missing."""
    folder.mkdir()
    for path in run.glob("rank*.pt.trace.json"):
        if path.name.startswith(f"rank{rank}."):
            if damage is None:
                continue
            (folder / path.name).write_bytes(path.read_bytes())
            change(folder / path.name, damage)
        else:
            (folder / path.name).symlink_to(path)
    return folder


def changed_kernels(result, *kinds):
    """By phase and name; of all kinds where none is named."""
    return {(phase["phase"], row["name"]): row for phase in result["phases"] for row in phase.get("kernels", ())
            if row["kind"] != "same" and (not kinds or row["kind"] in kinds)}


def changed_in_decode(result, kind):
    """Other phases have too few steps to tell a slower kernel for certain."""
    return {name: row for (phase, name), row in changed_kernels(result, kind).items() if phase == "decode"}


def pairs_of(result):
    return [[pair["before"], pair["after"]] for phase in result["phases"] if phase["phase"] == "decode" for pair in phase.get("renamed", ())]


def no_change(name, result):
    """Equal runs: nothing is beyond noise, and launches are the same."""
    moved = [metric["name"] for metric in result["metrics"] if metric.get("beyond_noise") and ".kernels." not in metric["name"]]
    check(f"{name}: no time beyond noise", not moved, moved)
    check(f"{name}: no other mix of batches", "mix of batches" not in result["verdict"], result["verdict"])
    kernels = changed_kernels(result)
    check(f"{name}: no kernel changed", not kernels, list(kernels.values())[:3])
    check(f"{name}: decode is compared", any("cannot_tell" not in phase for phase in result["phases"] if phase["phase"] == "decode"), result["phases"][:1])
    launches = {row["name"]: row for row in result["launches"]}
    check(f"{name}: launches are compared", {"graph launches", "host calls"} <= launches.keys(), list(launches))
    for launch in launches.values():
        check(f"{name}: the same {launch['name']}", abs(launch["new"] - launch["base"]) <= 0.01 * launch["base"], launch)


def says(name, result, text):
    said = [remark for remark in result["remarks"] if "left out" in remark]
    check(f"{name}: says it in one sentence", len(said) == 1 and re.fullmatch(text, said[0]), result["remarks"])


def equal_runs(folder):
    folder = pathlib.Path(folder)
    base, new = run_of(folder, "base", 1), run_of(folder, "new", 2)
    status, result = compared(base, new)
    check("whole: comparable", status == 0 and not [remark for remark in result["remarks"] if "left out" in remark], result["remarks"])
    no_change("whole", result)
    for number, (name, damage) in enumerate(DAMAGES.items()):
        rank = 1 + number % 2  # one that differs from the others, and one that does not
        cut = damaged(new, folder / f"cut{number}", rank, damage)
        for side, runs in (("new", (base, cut)), ("base", (damaged(base, folder / f"base{number}", rank, damage), new))):
            what = f"rank {rank} of {side}: {name}"
            status, result = compared(*runs)
            check(f"{what}: compared", status in (0, 4), (status, result["verdict"]))
            no_change(what, result)
            says(what, result, rf"TP{rank} is left out on both sides: {side}'s (holds \d+ % of the recording|is incomplete|lost GPU work)")
            check(f"{what}: causes of idle time are compared", not any("causes of idle" in remark for remark in result["remarks"]), result["remarks"])
        _, result = compared(cut, cut)
        check(f"{name}: nothing differs from itself", not any(metric["difference"] for metric in result["metrics"]), result["verdict"])
    # A rank that is short on each side, another one each.
    pair = [damaged(run, folder / f"apart{rank}", rank, DAMAGES["stopped at 50 %"]) for rank, run in ((1, base), (3, new))]
    _, result = compared(*pair)
    no_change("another rank of each side", result)
    says("another rank of each side", result, "TP1 is left out on both sides: base's holds .*; TP3 is left out on both sides: new's holds .*")
    _, result = compared(base, damaged(damaged(new, folder / "a", 0, DAMAGES["stopped at 20 %"]), folder / "b", 2, DAMAGES["stopped at 50 %"]))
    no_change("two ranks", result)
    says("two ranks", result, "TP0 and TP2 are left out on both sides: new's hold 20 to 50 % of the recording")


def missing(folder):
    folder = pathlib.Path(folder)
    base, new = run_of(folder, "base", 1), run_of(folder, "new", 2)
    for rank in (1, 2):
        of_base, of_new = (damaged(run, folder / f"{run.name}{rank}", rank, None) for run in (base, new))
        for side, runs in (("new", (base, of_new)), ("base", (of_base, new))):
            status, result = compared(*runs)
            check(f"without rank {rank} of {side}: not comparable", status == 5 and "3 ranks" in result["verdict"], result["verdict"])
            status, result = compared(*runs, "--anyway")
            check(f"without rank {rank} of {side}: --anyway compares", status in (0, 4), (status, result["verdict"]))
            no_change(f"without rank {rank} of {side}", result)
            says(f"without rank {rank} of {side}", result, f"TP{rank} is left out: {side} has no trace of it")
    two = simulated(folder, "two", "--steps", "100", "--ranks", "2")
    four = simulated(folder, "four", "--steps", "100", "--ranks", "4", "--seed", "2")
    _, result = compared(two, four, "--anyway")
    check("of another number of ranks none is missing", not any("left out" in remark for remark in result["remarks"]), result["remarks"])


def no_rank_of_both(folder):
    """Two ranks, another one short on each side: none can be compared with itself."""
    folder = pathlib.Path(folder)
    runs = [simulated(folder, f"run{seed}", "--steps", "150", "--ranks", "2", "--seed", str(seed)) for seed in (1, 2)]
    pair = [damaged(run, folder / f"cut{rank}", rank, keep(0, 0.5)) for rank, run in enumerate(runs)]
    status, result = compared(*pair)
    check("no rank of both sides: not comparable", status == 5 and "no rank is whole on both sides" in result["verdict"], (status, result["verdict"]))
    status, _ = compared(*pair, "--anyway")
    check("no rank of both sides: --anyway compares", status in (0, 4), status)


def only_rank_of_a_stage(folder):
    """Four pipeline stages of one rank each; the last has a kernel of its own, which no other rank stands for."""
    folder = pathlib.Path(folder)

    def as_stage(number):
        def of_events(events):
            for event in events:
                if event["name"] == "process_name" and "Worker" in event["args"]["name"]:
                    event["args"]["name"] = f"VLLM::Worker_PP{number}"
                if number == 3 and event.get("cat") == "kernel" and "rms_norm" in event["name"]:
                    event["name"] += "_of_stage_3"
            return events
        return of_events

    runs = [simulated(folder, f"stages{seed}", "--steps", "300", "--ranks", "4", "--seed", str(seed)) for seed in (1, 2)]
    for run in runs:
        for number in range(4):
            change(next(run.glob(f"rank{number}.*.pt.trace.json")), as_stage(number))
    for name, damage, options, text in (("stopped at 30 %", keep(0, 0.3), (), "PP3 is left out on both sides: new's has no step with all of its GPU work"),
                                        ("without a file", None, ("--anyway",), "PP3 is left out: new has no trace of it")):
        _, result = compared(runs[0], damaged(runs[1], folder / name.replace(" ", "-"), 3, damage), *options)
        kernels = changed_kernels(result)
        check(f"the only rank of a stage, {name}: no kernel changed", result["phases"] and not kernels, list(kernels.values())[:2])
        says(f"the only rank of a stage, {name}", result, text)


def engines_of_a_worker(folder):
    """Data-parallel engines end when their own requests end: none is left out for another."""
    runs = [simulated(pathlib.Path(folder), f"dp{seed}", "--traffic", "40", "--gap", "10", "--output-tokens", "48", "--engines", "3",
                      "--front", "data-parallel", "--seed", str(seed)) for seed in (1, 2)]
    _, result = compared(*runs)
    check("engines of a worker: none is left out", not any("left out" in remark for remark in result["remarks"]), result["remarks"])


def all_short(folder):
    """Ranks that are all short are a shorter recording."""
    folder = pathlib.Path(folder)
    base, new = (simulated(folder, name, "--steps", "300", "--ranks", "2", "--seed", name[1:]) for name in ("s1", "s2"))
    for path in new.glob("rank*.pt.trace.json"):
        change(path, keep(0, 0.5))
    _, result = compared(base, new)
    decode = next(phase for phase in result["phases"] if phase["phase"] == "decode")
    check("all short: both ranks count", decode["new_steps"] > 0.4 * decode["base_steps"] and not any("left out" in remark for remark in result["remarks"]), result["remarks"])
    check("all short: no step differs", not [m for m in result["metrics"] if m.get("beyond_noise") and m["name"] == "decode.step"], result["verdict"])
    for path in new.glob("rank*.pt.trace.json"):
        path.write_bytes(path.read_bytes()[:-300])
    status, result = compared(base, new)
    check("all cut off: compared as before", status == 4 and result["phases"] and not any("left out" in remark for remark in result["remarks"])
          and any(remark.startswith("launches and operators: not compared") for remark in result["remarks"]), (status, result["remarks"]))


def real_changes(folder):
    """What changed on all ranks is found, with its size, beside each kind of unequal rank."""
    folder = pathlib.Path(folder)
    base = run_of(folder, "base", 1)
    for name, options, kind in (("slower", ("--change", "slower@gate-up:10%"), "slower"), ("more", ("--change", "more@rope:1"), "more-calls"),
                                ("renamed", ("--change", "renamed@gate-up"), "new")):
        new = run_of(folder, name, 2, *options)
        _, whole = compared(base, new)
        known = changed_in_decode(whole, kind)
        check(f"{name}: found in whole runs", known, whole["verdict"])
        # All kinds of damage beside one change, a few beside the others.
        for number, (damage, cut) in enumerate([*list(DAMAGES.items())[::2 if name == "slower" else 4], ("missing", None)]):
            part = damaged(new, folder / f"{name}{number}", 1 + number % 2, cut)
            _, result = compared(base, part, *(["--anyway"] if cut is None else []))
            found = changed_in_decode(result, kind)
            what = f"{name}, {damage}"
            check(f"{what}: found", found.keys() == known.keys(), (list(found), list(known)))
            off = {row: (found[row]["difference"], known[row]["difference"]) for row in found.keys() & known.keys()
                   if abs(found[row]["difference"] / known[row]["difference"] - 1) > 0.03}
            check(f"{what}: with its size", not off, off)
            check(f"{what}: the pairs", pairs_of(result) == pairs_of(whole) and bool(pairs_of(whole)) == (name == "renamed"), pairs_of(result))


def some_steps(folder):
    """A kernel of some steps runs in the same steps on all ranks, and in one more or less of them in a window."""
    folder = pathlib.Path(folder)

    def with_kernel(name, steps_with_it):
        """Adds a kernel beside the first one of these steps."""
        def of_events(events):
            starts = sorted(e["ts"] for e in events if e.get("cat") == "gpu_user_annotation" and e["name"].startswith("execute_"))
            first_of = {}
            for event in sorted((e for e in events if e.get("cat") == "kernel"), key=lambda e: e["ts"]):
                first_of.setdefault(bisect.bisect(starts, event["ts"]), event)
            firsts = list(first_of.values())
            for first in [firsts[at] for at in steps_with_it if at < len(firsts)]:
                events.append({**first, "name": name, "ts": first["ts"] + 1, "dur": 9.0, "args": {**first["args"], "stream": 77}})
            return events
        return of_events

    def run_with(run, seed, ranks, *kernel, load=("--steps", "150", "--output-tokens", "100")):
        simulated(folder, run, *load, "--ranks", ranks, "--seed", str(seed), "--noise", "0")
        for path in (folder / run).glob("rank*.pt.trace.json"):
            change(path, with_kernel(*kernel))
        return folder / run

    for ranks in ("1", "8"):
        base = run_with("base", 1, ranks, "eplb_map", range(0, 150, 16))
        for name, steps in (("one less of them", range(15, 150, 16)), ("chance", [*range(10, 60, 5), *range(60, 150, 8)][:22])):
            _, result = compared(base, run_with("new", 2, ranks, "eplb_map", steps))
            row = [row for phase in result["phases"] for row in phase.get("kernels", ()) if row["name"] == "eplb_map"]
            check(f"{ranks} ranks, {name}: no kernel changed", row and not changed_kernels(result), (row, list(changed_kernels(result))))
        _, result = compared(base, run_with("new", 2, ranks, "eplb_map", range(0, 150, 2)))
        check(f"{ranks} ranks: every second step is more often", "eplb_map" in changed_in_decode(result, "more-calls"), result["verdict"])
        pair = [run_with(run, seed, ranks, name, range(first, 150, 4)) for run, seed, name, first in
                (("base", 1, "eplb_map", 0), ("new", 2, "eplb_place", 3))]
        _, result = compared(*pair)
        check(f"{ranks} ranks: under another name it is found", pairs_of(result) == [["eplb_map", "eplb_place"]], list(changed_kernels(result).values()))
    # Base has it in a prefill step that is the only one of its size in a window.
    _, result = compared(*(run_with(run, seed, "8", "eplb_map", range(first, 300, 40), load=("--steps", "300")) for run, seed, first in
                           (("base", 1, 3), ("new", 2, 8))))
    check("the one step of a size: no kernel changed", not changed_kernels(result), list(changed_kernels(result).values()))


if __name__ == "__main__":
    main([equal_runs, missing, no_rank_of_both, only_rank_of_a_stage, engines_of_a_worker, all_short, real_changes, some_steps], __doc__)
