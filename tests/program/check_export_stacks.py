#!/usr/bin/env python3
"""`tacho export` of stacks: folded, PyTorch's export_stacks form and speedscope, against stacks built here from the events.

usage: check_export_stacks.py TACHO [--only NAME ...]
"""
import decimal
import gzip
import json
import pathlib
import sys
from collections import Counter

from analyze_run import RECORDING, run as analyze
from exported import ROOT, SERVER_STACKS, STACKS, TWO_RANKS, corpus, export, exported, folded_lines, only_traces, query
from scenario import check, main

# As speedscope 1.25.0 has it (npm, file-format-schema.json; MIT licence, https://github.com/jlfwong/speedscope).
SPEEDSCOPE_SCHEMA = ROOT / "tests/data/speedscope_file_format_schema.json"


def exact_events(path):
    return json.loads(gzip.decompress(path.read_bytes()), parse_float=decimal.Decimal)["traceEvents"]


def host_tree(events, kinds):
    """The slices of each thread as (event, parent), outermost first; a second implementation of model/nesting.h."""
    threads = {}
    for event in events:
        if event.get("ph") == "X" and event.get("cat") in kinds:
            start, dur = int(event["ts"] * 1000), int(event["dur"] * 1000)
            external = event.get("args", {}).get("External id", 1 << 60) if event["cat"] == "cpu_op" else 0
            threads.setdefault((event["pid"], event["tid"]), []).append(((start, -start - dur, kinds.index(event["cat"]), external), event))
    out = []
    for slices in threads.values():
        stack = []
        for key, event in sorted(slices, key=lambda of: of[0]):
            node = {"event": event, "start": key[0], "end": -key[1], "name": event["name"]}
            while stack and (node["start"] >= stack[-1]["end"] or node["end"] > stack[-1]["end"]):
                stack.pop()
            node["parent"] = stack[-1] if stack else None
            out.append(node)
            stack.append(node)
    return out


def around(node):
    """The slices around it, outermost first."""
    return around(node["parent"]) + [node["parent"]] if node["parent"] else []


def folded(folder):
    folder = pathlib.Path(folder)
    for path in (STACKS, SERVER_STACKS, RECORDING):
        events = exact_events(path)
        want = Counter()
        for node in host_tree(events, ["python_function", "user_annotation", "cpu_op", "cuda_runtime"]):
            stack = [of["name"].replace(";", ":") for of in [*around(node), node]]
            place = f"{node['event']['pid']}|{node['event']['tid']}|"
            want[place + ";".join(stack)] += node["end"] - node["start"]
            if len(stack) > 1:
                want[place + ";".join(stack[:-1])] -= node["end"] - node["start"]
        got = Counter()
        for stack, ns in folded_lines(exported(path, folder / "cpu.folded").read_text()).items():
            _, process, thread, *frames = stack.split(";")
            got[f"{process.split()[0]}|{thread.split()[0]}|" + ";".join(frames)] += ns
        want = Counter({stack: ns for stack, ns in want.items() if ns > 0})
        check(f"stacks of {path.name}", got == want, (list((got - want).items())[:2], list((want - got).items())[:2]))
    if real := corpus("stacks of GPU work"):
        path = real / "AMD-AGI+TraceLens/b200/eager_trace.json.gz"
        lines = folded_lines(exported(path, folder / "gpu.folded", "--time", "gpu").read_text())
        streams = [s for t in only_traces(analyze("--json", path)) for d in t["devices"] for s in d["streams"]]
        check("GPU time by stack is all GPU time", sum(lines.values()) == sum(s["sum_ns"] for s in streams), sum(lines.values()))
        check("kernels lie below their launch", all("cuda" in s.split(";")[-2] or "cuLaunch" in s.split(";")[-2] for s in lines), list(lines)[0])


def torch_lines(path):
    """What export_stacks would write, from the rules of tests/data/torch-cpu/README.md and torch/autograd/profiler_util.py."""
    events = exact_events(path)
    left_out = {"[memory]", "[OutOfMemory]", "profiler::_record_function_enter", "profiler::_record_function_enter_new",
                "profiler::_record_function_exit", "aten::is_leaf", "aten::output_nr", "aten::_version"}
    kinds = ["python_function", "user_annotation", "cpu_op", "cuda_runtime"]
    whole = {id(node["event"]): node for node in host_tree(events, kinds)}
    nodes = host_tree([e for e in events if e.get("name") not in left_out and e.get("args", {}).get("finished") is not False], kinds)
    children = {}
    for node in nodes:
        children.setdefault(id(node["parent"]), []).append(node)

    def own(node):
        return "ProfilerStep*" if node["name"].startswith("ProfilerStep#") else node["name"]

    def walk(node):
        inner = children.get(id(node), [])
        while len(inner) == 1 and own(inner[0]) == own(node):
            inner = children.get(id(inner[0]), [])
        self_ns = node["end"] - node["start"] - sum(child["end"] - child["start"] for child in inner)
        stack = [of["name"] for of in around(whole[id(node["event"])]) if of["event"]["cat"] == "python_function"]
        stack = [name for name in stack if not ("autograd/__init__" in name and ("_make_grads" in name or "backward" in name))]
        if stack and self_ns >= 1000:
            yield ";".join(name.translate(str.maketrans(" ;\t\n", "____")) for name in stack) + f" {self_ns // 1000}"
        for child in inner:
            yield from walk(child)

    sys.setrecursionlimit(10_000)
    return sorted(line for node in children[id(None)] for line in walk(node))


def torch_stacks(folder):
    for path in (STACKS, SERVER_STACKS):
        got = sorted(exported(path, pathlib.Path(folder) / "torch.stacks").read_text().splitlines())
        want = torch_lines(path)
        check(f"export_stacks of {path.name}", got == want and len(got) > 50, (len(got), len(want), [g for g in got if g not in want][:2], [w for w in want if w not in got][:2]))
    done = export(TWO_RANKS, "-o", pathlib.Path(folder) / "none.stacks")
    check("no stacks: how to record them", done.returncode == 2 and b"--with-stack" in done.stderr and b"torch_profiler_with_stack" in done.stderr, done.stderr)
    done = export(STACKS, "-o", pathlib.Path(folder) / "none.folded", "--time", "gpu")
    check("no GPU work", done.returncode == 2 and b"--time cpu" in done.stderr, done.stderr)
    check("nothing was written", sorted(p.name for p in pathlib.Path(folder).iterdir()) == ["torch.stacks"])


def speedscope(folder):
    import jsonschema
    schema = jsonschema.Draft7Validator(json.loads(SPEEDSCOPE_SCHEMA.read_text()))
    paths = [STACKS, TWO_RANKS]
    if real := corpus("speedscope of GPU work"):
        paths.append(real / "AMD-AGI+TraceLens/b200/eager_trace.json.gz")
    for path in paths:
        document = json.loads(exported(path, pathlib.Path(folder) / "flame.speedscope.json").read_bytes())
        small = {**document, "profiles": [{**p, "events": p["events"][:20]} for p in document["profiles"]]}  # the validator is slow
        check(f"the schema, of {path.name}", not list(schema.iter_errors(small)), list(schema.iter_errors(small))[:1])
        names = Counter()
        for profile in document["profiles"]:
            stack, last = [], profile["startValue"]
            for event in profile["events"]:
                sound = last <= event["at"] <= profile["endValue"] and event["type"] in "OC"
                last = event["at"]
                if event["type"] == "O":
                    stack.append((event["frame"], event["at"]))
                else:  # https://github.com/jlfwong/speedscope/blob/main/src/lib/file-format.ts: the innermost frame is closed
                    frame, start = stack.pop()
                    sound = sound and frame == event["frame"]
                    names[document["shared"]["frames"][frame]["name"], event["at"] - start] += 1
                if not sound:
                    check(f"events of {profile['name']}", False, event)
                    break
            check(f"{profile['name']} is balanced", not stack, stack)
        want = Counter()
        for name, dur in query(path, "SELECT name, dur_ns FROM slices WHERE kind NOT IN ('gpu-annotation', 'other')"):
            want[name, int(dur)] += 1
        check(f"all slices of {path.name}", want - names == Counter(), list((want - names).items())[:3])


if __name__ == "__main__":
    main([folded, torch_stacks, speedscope], __doc__)
