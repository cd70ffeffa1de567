#!/usr/bin/env python3
"""The code that `tacho analyze` names for each kernel, against a second, plain way: the innermost frame around the launch call.

usage: check_sources.py TACHO [--only NAME ...]
"""
import collections
import gzip
import json
import pathlib
import re
import sys

from scenario import check, main, run

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from corpus import corpus  # noqa: E402

LIBRARIES = ("<", "torch/", "triton/", "runpy.py", "nn.Module: ")


def events_of(path):
    text = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    return [e for e in json.loads(text)["traceEvents"] if e.get("ph") == "X"]


def sites_by_kernel(path):
    """{name of a kernel, copy or memset: {(frame, module)}} of the work that a call outside of graphs launched, from the file alone."""
    frames, calls, work = collections.defaultdict(list), {}, []
    for event in events_of(path):
        kind, args = event.get("cat"), event.get("args", {})
        if kind == "python_function":
            frames[event["tid"]].append((event["ts"], -event["dur"], event["name"]))
        elif kind in ("cuda_runtime", "cuda_driver"):
            calls[args.get("correlation")] = event
        elif kind in ("kernel", "gpu_memcpy", "gpu_memset"):
            work.append((event["name"], args.get("correlation")))
    sites = collections.defaultdict(set)
    for thread in frames.values():
        thread.sort(key=lambda frame: frame[:2])  # of two with equal times the later in the file is the inner one
    for name, correlation in work:
        call = calls.get(correlation)
        if call is None or "GraphLaunch" in call["name"]:
            continue
        around = [frame for start, minus, frame in frames[call["tid"]] if start <= call["ts"] < start - minus]
        own = [f for f in around if not f.startswith(LIBRARIES) and not f.endswith(": __torch_function__")]
        modules = [re.sub(r"_\d+$", "", frame[11:]) for frame in around if frame.startswith("nn.Module: ")]
        if own:
            sites[name].add((own[-1], modules[-1] if modules else ""))
    return sites


def places(site):
    return [(site["frame"], module) for module in site["modules"] or [""]]


def trace_in(run_folder):
    return next(path for path in sorted(run_folder.glob("*.json")) if "truth" not in path.name)


def made(folder, name, *words):
    out = pathlib.Path(folder) / name
    done = run("simulate", "trace", "-o", str(out), *map(str, words))
    check(f"{name}: is simulated", done.returncode == 0, done.stderr)
    return trace_in(out)


def analysed(name, *words):
    done = run("analyze", *map(str, words), "--json")
    check(f"{name}: ends well", done.returncode == 0, done.stderr)
    return json.loads(done.stdout)["traces"][0]


def held_against(name, told, truth, whole=True):
    sources = told["sources"]
    check(f"{name}: found", sources["state"] == "found", sources["state"])
    rows = sources["rows"]
    for row in rows:
        check(f"{name}: a piece of work is of its kernel's sites",
              {p for s in row["sites"] for p in places(s)} <= truth.get(row["kernel"], set()), (row, truth.get(row["kernel"])))
    if whole:
        check(f"{name}: each kernel with a site has it", {r["kernel"] for r in rows if r["evidence"] == "kernel"} == set(truth))
        for kernel, sites in truth.items():
            of = [r for r in rows if r["kernel"] == kernel]
            check(f"{name}: all sites of {kernel[:40]}", sum(r.get("more_sites", 0) for r in of) > 0 or set.union(
                *({p for s in r["sites"] for p in places(s)} for r in of)) == sites, (of, sites))
    check(f"{name}: parts add up", sources["device_ns"] == sum(r["device_ns"] for r in rows)
          and sources["one_ns"] == sum(r["device_ns"] for r in rows if len(r["sites"]) == 1)
          and sources["several_ns"] == sum(r["device_ns"] for r in rows if len(r["sites"]) > 1))
    return rows


def by_stacks(folder):
    """A recording with stacks names its own kernels."""
    for engine in ("vllm", "sglang"):
        trace = made(folder, f"own-{engine}", "--engine", engine, "--stacks", "--change", "eager", "--steps", 20)
        rows = held_against(f"own-{engine}", analysed(f"own-{engine}", trace), sites_by_kernel(trace))
        check(f"own-{engine}: a norm is a norm's", any("norm" in r["sites"][0]["frame"] for r in rows if r.get("block") == "norm"), rows)
        shown = run("analyze", str(trace), "--sources").stdout
        check(f"own-{engine}: shown", "launched by" in shown and " module " in shown and "RMSNorm" in shown and re.search(r"custom_ops.py:\d+ \S*norm", shown) and "of the time is launched from one known place" in shown, shown)


def joined(folder):
    """A mapping recording names the kernels inside graphs."""
    for i, engine in enumerate(("vllm", "sglang")):
        mapping = made(folder, f"map-{engine}", "--engine", engine, "--stacks", "--change", "eager", "--steps", 30, "--layers", 2)
        truth = sites_by_kernel(mapping)
        trace = made(folder, f"graphs-{engine}", "--engine", engine, "--steps", 120, "--seed", i + 2, "--layers", 6)
        told = analysed(f"graphs-{engine}", trace, "--stacks-from", mapping)
        rows = held_against(f"graphs-{engine}", told, truth, whole=False)
        check(f"graphs-{engine}: who maps", told["sources"]["map"] == str(mapping))
        kernels = sum(round(e["dur"] * 1000) for e in events_of(trace) if e.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset"))
        check(f"graphs-{engine}: all work has a row", told["sources"]["device_ns"] == kernels, (told["sources"]["device_ns"], kernels))
        named = sum(r["device_ns"] for r in rows if r["sites"] and r["kernel"] in truth)
        check(f"graphs-{engine}: nearly all kernel time has a place", named > 0.98 * kernels, (named, kernels))
        # Without the map the trace has no frames.
        alone = run("analyze", str(trace), "--sources")
        check(f"graphs-{engine}: none without a map", "no sources: no Python frame is known" in alone.stdout, alone.stdout)
        # Another choice of kernel for a matrix product: by its category in the block.
        other = made(folder, f"renamed-{engine}", "--engine", engine, "--steps", 60, "--change", "renamed@gate-up", "--layers", 2)
        rows = analysed(f"renamed-{engine}", other, "--stacks-from", mapping)["sources"]["rows"]
        found = [r for r in rows if r.get("block") == "mlp-up" and r["kernel"] not in truth]
        check(f"renamed-{engine}: by category", found and all(r["evidence"] == "category" and "linear" in r["sites"][0]["frame"] or
              "unquant" in r["sites"][0]["frame"] for r in found), [r for r in rows if r.get("block") == "mlp-up"])


def captured(folder):
    """A recording of graph capture, in ROCm's form: its launch calls name their kernels and ran nothing."""
    mapping = made(folder, "map", "--stacks", "--change", "eager", "--steps", 30, "--layers", 2)
    trace = made(folder, "graphs", "--steps", 120, "--seed", 5, "--layers", 6)
    truth = sites_by_kernel(mapping)
    file = json.loads(mapping.read_text())
    names = {e["args"]["correlation"]: e["name"] for e in file["traceEvents"] if e.get("cat") == "kernel"}
    events = [e for e in file["traceEvents"] if e.get("cat") not in ("kernel", "gpu_memcpy", "gpu_memset", "user_annotation", "gpu_user_annotation", "ac2g")]
    for event in events:
        kernel = names.get(event.get("args", {}).get("correlation"))
        if event.get("cat") in ("cuda_runtime", "cuda_driver") and kernel:
            event["name"] = "hipModuleLaunchKernel"
            event["args"]["kernel"] = kernel
    capture = pathlib.Path(folder) / "capture_traces" / "graph_capture_rank_0.pt.trace.json"
    capture.parent.mkdir()
    capture.write_text(json.dumps({**file, "traceEvents": events}))
    rows = held_against("captured", analysed("captured", trace, "--stacks-from", capture), truth, whole=False)
    all_ns = sum(row["device_ns"] for row in rows if row["kernel"] in names.values())
    named = sum(row["device_ns"] for row in rows if row["evidence"] == "kernel")
    check("captured: the kernels of the graphs have places", named == all_ns > 0.9 * sum(row["device_ns"] for row in rows), (named, all_ns))
    for event in events:
        event.get("args", {}).pop("kernel", None)
    capture.write_text(json.dumps({**file, "traceEvents": events}))
    done = run("analyze", str(trace), "--stacks-from", str(capture))
    check("captured: CUDA's calls name no kernel", done.returncode == 3 and "no Python frame launches work" in done.stderr, done.stderr)


def refused(folder):
    """Maps that map nothing."""
    plain = made(folder, "plain", "--steps", 8)
    for name, path, status in (("no stacks", plain, 3), ("no file", pathlib.Path(folder) / "nowhere.json", 3)):
        done = run("analyze", str(plain), "--stacks-from", str(path))
        check(f"{name}: said", done.returncode == status and ("--stacks-from" in done.stderr or "nowhere" in done.stderr) and not done.stdout,
              (done.returncode, done.stderr))
    results = pathlib.Path(folder) / "results.json"
    results.write_text(run("analyze", str(plain), "--json").stdout)
    stacks = made(folder, "stacks", "--steps", 8, "--stacks", "--change", "eager")
    done = run("analyze", str(results), "--stacks-from", str(stacks))
    check("results: need events", done.returncode == 3 and "--stacks-from" in done.stderr, done.stderr)


def real(folder):
    """Real traces with stacks."""
    root = corpus("sources of real traces")
    if not root:
        return
    path = root / "AMD-AGI+TraceLens/b200/eager_trace.json.gz"
    told = analysed("b200", path)
    rows = held_against("b200", told, sites_by_kernel(path))
    layers = told["layers"]
    in_layers = sum(layer["device_ns"] for phase in layers["phases"] for layer in phase["list"])
    check("b200: each layer is in the module of its number", layers["module_same_ns"] > 0.999 * in_layers and layers["module_other_ns"] == 0,
          (layers["module_same_ns"], layers["module_other_ns"], in_layers))
    frame = {r["block"]: r["sites"][0]["frame"] for r in reversed(rows) if "block" in r}
    check("b200: norm", frame["norm"] == "vllm/_custom_ops.py(334): fused_add_rms_norm", frame)
    check("b200: modules", any(r["sites"][0]["modules"] == ["QKVParallelLinear"] for r in rows if r.get("block") == "qkv"), rows)


main([by_stacks, joined, captured, refused, real], __doc__)
