#!/usr/bin/env python3
"""The programs of tools/gpu, without a GPU: how they compare, on a made trace; a part that fails or hangs; all that runs on the CPU.

usage: check_gpu_tools.py TACHO [--whole]

--whole: on the CPU also the daemon's way, which takes a minute. Traces that a GPU gave (tests/data/gpu, if there are any) are compared
with their truth.
"""
import ast
import importlib.machinery
import importlib.util
import json
import pathlib
import subprocess
import sys
import tempfile
import time
import types

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOLS = ROOT / "tools/gpu"
sys.path[:0] = [str(ROOT / "tests/corpus"), str(ROOT / "tools"), str(TOOLS)]
import verdicts  # noqa: E402
from compare import check, finish  # noqa: E402
from engines_lib import environments  # noqa: E402

ADDS, COPIED = 6, 3  # kernels and copies of the made trace


def event(name, category, start, duration, tid, **arguments):
    return {"ph": "X", "name": name, "cat": category, "ts": start, "dur": duration, "pid": 0 if "device" in arguments else 7, "tid": tid,
            "args": arguments}


def made_trace():
    """Six operators that launch a kernel each, three copies to the GPU and a set; each 3 us after its call, 10 us apart."""
    events = []
    for number in range(ADDS):
        at, link = 10 * number, {"correlation": number + 1, "External id": number + 1}
        events += [event("aten::add_", "cpu_op", at, 5, 7, **{"External id": number + 1}),
                   event("cudaLaunchKernel", "cuda_runtime", at + 1, 2, 7, **link),
                   event("add_kernel", "kernel", at + 6, 4, 9, device=0, stream=9, **link)]
    for number in range(COPIED + 1):
        at, link = 10 * (ADDS + number), {"correlation": 100 + number}
        name, call = ("Memcpy HtoD (Pageable -> Device)", "Memcpy") if number < COPIED else ("Memset (Device)", "Memset")
        events += [event(f"cuda{call}Async", "cuda_runtime", at + 1, 2, 7, **link),
                   event(name, f"gpu_{call.lower()}", at + 6, 2, 9, device=0, stream=9, bytes=1000, **link)]
    return {"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "Made", "numSms": 1}], "baseTimeNanoseconds": 1790857026000000000,
            "traceEvents": events}


def row_of(key, count, device, device_us=0, cpu_us=0, annotation=False):
    return types.SimpleNamespace(key=key, count=count, device_type=device, is_user_annotation=annotation, cpu_time_total=cpu_us,
                                 device_time_total=device_us, self_device_time_total=device_us)


def averages():
    """What key_averages() would say of the made trace; an annotation drawn over GPU work is none."""
    host, device = "DeviceType.CPU", "DeviceType.CUDA"
    return [row_of("aten::add_", ADDS, host, ADDS * 4.0, ADDS * 5.0), row_of("cudaLaunchKernel", ADDS, host, 0, ADDS * 2.0),
            row_of("cudaMemcpyAsync", COPIED, host, 0, COPIED * 2.0), row_of("cudaMemsetAsync", 1, host, 0, 2.0),
            row_of("add_kernel", ADDS, device, ADDS * 4.0), row_of("Memcpy HtoD (Pageable -> Device)", COPIED, device, COPIED * 2.0),
            row_of("Memset (Device)", 1, device, 2.0), row_of("window-01", 5, device, 50.0, annotation=True)]


def import_part():
    """part.py, where PyTorch is not installed."""
    stand_in = types.ModuleType("torch.autograd")
    stand_in.DeviceType = types.SimpleNamespace(CUDA="DeviceType.CUDA")
    sys.modules.update({"torch.autograd": stand_in, "torch": types.ModuleType("torch")})
    spec = importlib.util.spec_from_file_location("part", TOOLS / "part.py")
    sys.modules["part"] = part = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(part)
    return part


def truth_of_made(part, launched):
    truth = [part.fact("launched", launched, "counted")]
    return part.lost(averages(), truth) + truth + part.of_key_averages(averages()) + [
        part.fact("copied bytes by kind", {"HtoD": COPIED * 1000}, "counted"), part.fact("sets of memory", 1, "counted"),
        part.fact("set bytes", 1000, "counted"), part.fact("streams", 1, "counted"), part.fact("overlaps in a stream", 0, "counted"),
        part.fact("kernel sum ns", ADDS * 4000, "made"), part.fact("busy ns", ADDS * 4000 + (COPIED + 1) * 2000, "made"),
        part.fact("window ns", 92000, "made"), part.fact("idle ns", 92000 - 32000, "made"),
        part.fact("graph launches", 0, "made"), part.fact("communication is seen", False, "made"),
        part.fact("some operators", {"aten::add_": ADDS}, "made")]


def rows_with(tacho, folder, truth, skipped=(), failed=None, file="made.json"):
    told = {"part": "made", "versions": {}, "traces": [{"what": "all", "file": file, "truth": truth}], "skipped": list(skipped)}
    if failed:
        told["failed"] = failed
    (folder / "truth.json").write_text(json.dumps(told))
    (folder / "made.json").write_text(json.dumps(made_trace()))
    return verdicts.rows_of(tacho, folder)


def check_comparing(tacho, folder, part):
    """A right truth is ok; each wrong one differs, by how much, and where."""
    truth = truth_of_made(part, ADDS + COPIED + 1)
    rows = rows_with(tacho, folder, truth)
    wrong = [row for row in rows if row.verdict not in (verdicts.OK, verdicts.ABSENT)]
    check("the made trace: nothing differs", wrong, [])
    check("the made trace: every fact has a row", len(rows), len([one for one in truth if one["value"] != {}]) + 1)
    check("the made trace: status", verdicts.status(rows), 0)
    for fact in truth:
        value = fact["value"]
        if fact["figure"] == "lost GPU events":  # not yet in every tacho's document
            continue
        if isinstance(value, dict):
            off = {**value, "another": 5}
        else:
            off = not value if isinstance(value, bool) else value + 5
        rows = rows_with(tacho, folder, [{**fact, "value": off, "bound": 2}] if not isinstance(value, bool) else [{**fact, "value": off}])
        check(f"{fact['figure']}: a wrong truth differs", (rows[0].verdict, verdicts.status(rows)), (verdicts.DIFFERS, 1))
        if isinstance(value, dict):
            check(f"{fact['figure']}: says where", "another" in rows[0].difference, True)
            if not fact["figure"].startswith("some "):
                fewer = dict(list(value.items())[1:])
                rows = rows_with(tacho, folder, [{**fact, "value": {**fewer, "x": 0}}])
                check(f"{fact['figure']}: a name too many differs", rows[0].verdict, verdicts.DIFFERS)
        elif not isinstance(value, bool):
            rows = rows_with(tacho, folder, [{**fact, "value": value + 5, "bound": 5}])
            check(f"{fact['figure']}: within its bound", rows[0].verdict, verdicts.OK)
    trace = only_trace(tacho, folder / "made.json")
    for figure, get in verdicts.FIGURES.items():
        check(f"{figure}: can be read", isinstance(get(trace), (int, dict, bool, type(None))), True)
    trace["devices"][0]["idle_ns"] += 3
    trace["idle"]["causes"][0]["ns"] -= 4
    check("windows that do not add up", verdicts.rest_of_windows(trace), 7)


def only_trace(tacho, path):
    trace, why = verdicts.analyze(tacho, path)
    check(f"{path.name} can be read", why, "")
    return trace


def check_loss(tacho, folder, part):
    """A GPU event that the program launched and the trace lacks has to be said."""
    facts = {one["figure"]: one["value"] for one in truth_of_made(part, ADDS + COPIED + 3)}
    check("two pieces lost", (facts["lost GPU events"], facts["loss is said"]), (2, True))
    rows = rows_with(tacho, folder, [part.fact("loss is said", True, "counted")])
    check("a loss of which nothing is said differs", rows[0].verdict, verdicts.DIFFERS)
    (folder / "cut.json").write_text(json.dumps(made_trace())[:-200])
    counted = [part.fact("kernels by name", {"add_kernel": 99}, source) for source in ("counted", "key_averages()")]
    for is_lost, wanted in ((True, [verdicts.INCOMPLETE, verdicts.DIFFERS, verdicts.OK]), (False, [verdicts.DIFFERS] * 3)):
        rows = rows_with(tacho, folder, [*counted, part.fact("loss is said", is_lost, "counted")], file="cut.json")
        check(f"what the program counted, lost: {is_lost}", [row.verdict for row in rows[:3]], wanted)


def check_absent(tacho, folder, part):
    """What cannot be compared counts neither as right nor as wrong."""
    rows = rows_with(tacho, folder, [part.fact("steps", 3, "counted")])
    check("no step in the trace: absent", (rows[0].verdict, verdicts.status(rows)), (verdicts.ABSENT, 0))
    skip = {"what": "graphs", "why": "needs CUDA"}
    rows = rows_with(tacho, folder, [], skipped=[skip], failed="RuntimeError: no")
    check("a part that failed: status", verdicts.status(rows), 4)
    check("a part that failed: why", ["needs CUDA" in verdicts.summary(rows), "RuntimeError: no" in verdicts.summary(rows)], [True, True])
    check("nothing compared is no success", verdicts.status([row for row in rows if row.verdict == verdicts.SKIPPED]), 3)
    (folder / "broken.json").write_text("no trace\n")
    rows = rows_with(tacho, folder, [], file="broken.json")
    check("a trace that tacho refuses: status", verdicts.status(rows), 4)
    (folder / "truth.json").write_text("{")
    check("a truth that cannot be read", verdicts.status(verdicts.rows_of(tacho, folder)), 4)


def check_names():
    """The parts that only a GPU runs name figures that can be compared."""
    for path in sorted(TOOLS.glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "fact" and isinstance(node.args[0], ast.Constant):
                figure = node.args[0].value
                check(f"{path.name}: {figure}", figure in verdicts.FIGURES or figure == "launched", True)


def check_spans():
    """What the kernels' own times say: two streams; in the first one kernel begins before its predecessor ends."""
    facts = {one["figure"]: one["value"] for one in
             importlib.import_module("programmatic_launch").of_spans([[(0, 10), (5, 15), (15, 25)], [(3, 8), (30, 31)]])}
    check("kernels' own times", facts, {"kernel sum ns": 36, "busy ns": 26, "overlaps in a stream": 1})


def check_run_of_parts(tacho, folder):
    """A part that hangs is cut off with all that it started; one that fails says so; what was recorded before counts."""
    loader = importlib.machinery.SourceFileLoader("gpu_run", str(TOOLS / "run"))
    run = importlib.util.module_from_spec(importlib.util.spec_from_loader("gpu_run", loader))
    loader.exec_module(run)
    run.HERE = folder
    kept = '{"part": "hangs", "versions": {}, "skipped": [], "traces": [{"what": "all", "file": "made.json", "truth": []}]}'
    (folder / "hangs.py").write_text("\n".join([
        "import pathlib, subprocess, sys, time", "out = pathlib.Path(sys.argv[2])", f"(out / 'truth.json').write_text({kept!r})",
        f"(out / 'made.json').write_text({json.dumps(made_trace())!r})", "child = subprocess.Popen(['sleep', '600'])",
        "(out / 'child').write_text(str(child.pid))", "time.sleep(600)"]))
    (folder / "fails.py").write_text("import sys\nsys.exit(3)\n")
    options = types.SimpleNamespace(tacho=tacho, cpu=True)
    run.run_part("hangs", options, folder, 15)
    child = pathlib.Path("/proc", (folder / "hangs/child").read_text())
    until = time.monotonic() + 30  # of a process without a parent the system takes care
    while child.exists() and time.monotonic() < until:
        time.sleep(0.1)
    check("a part that hangs: its child is ended", child.exists(), False)
    rows = verdicts.rows_of(tacho, folder / "hangs")
    check("a part that hangs: its trace and why", [(row.figure, row.verdict, row.tacho) for row in rows],
          [("rest of the windows ns", "ok", "0"), ("", "failed", "cut off after 15 s")])
    run.run_part("fails", options, folder, 30)
    rows = verdicts.rows_of(tacho, folder / "fails")
    check("a part that fails", [(row.verdict, row.tacho) for row in rows], [("failed", "exit status 3, see log.txt")])


def check_on_the_cpu(tacho, folder, parts):
    """With PyTorch: what the parts record is as they say, and what needs a GPU is skipped by name."""
    environment = environments.ENVIRONMENTS["vllm"]
    if not environment.complete():
        print("*** NOT TESTED: tools/gpu/run --cpu: PyTorch is not there (tools/engines install vllm)", flush=True)
        return
    done = subprocess.run([environments.find("vllm"), TOOLS / "run", "--cpu", "--tacho", tacho, "--out", folder, "--only", *parts],
                          capture_output=True, text=True, timeout=400)
    check("on the CPU: status", (done.returncode, done.stdout[-2000:] + done.stderr[-1000:] if done.returncode else ""), (0, ""))
    check("on the CPU: what it left", sorted(path.name for path in folder.iterdir()), ["log.txt", "table.md", "traces.tar", "truth.json"])
    rows = json.loads((folder / "truth.json").read_text())["rows"]
    check("on the CPU: which parts compare", {row["part"] for row in rows if row["verdict"] == verdicts.OK},
          {"loops", "sessions", "daemon"} & set(parts))
    check("on the CPU: what is skipped", sorted(row["part"] for row in rows if row["verdict"] == verdicts.SKIPPED),
          ["buffer", "copies", "loops", "nccl", "programmatic_launch"])


def check_kept(tacho):
    kept = sorted(path.parent for path in (ROOT / "tests/data/gpu").glob("*/truth.json"))
    if not kept:
        print("*** NOT TESTED: traces of a real GPU beside their truth: none is kept in tests/data/gpu", flush=True)
    for folder in kept:
        rows = verdicts.rows_of(tacho, folder)
        check(f"{folder.name}: {verdicts.summary(rows)}: status", verdicts.status(rows), 0)


def main():
    if len(sys.argv) < 2 or sys.argv[2:] not in ([], ["--whole"]):
        sys.exit(__doc__)
    parts = ["loops", "sessions", "buffer", "copies", "programmatic_launch", "nccl", *(["daemon"] if sys.argv[2:] else [])]
    tacho = str(pathlib.Path(sys.argv[1]).resolve())
    part = import_part()
    with tempfile.TemporaryDirectory(prefix="tacho-gpu-tools-") as work:
        for test in (check_comparing, check_loss, check_absent):
            folder = pathlib.Path(work, test.__name__)
            folder.mkdir()
            test(tacho, folder, part)
        check_names()
        check_spans()
        for test, more in ((check_run_of_parts, ()), (check_on_the_cpu, (parts,))):
            folder = pathlib.Path(work, test.__name__)
            folder.mkdir()
            test(tacho, folder, *more)
    check_kept(tacho)
    finish()


main()
