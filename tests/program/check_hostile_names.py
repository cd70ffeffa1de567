#!/usr/bin/env python3
"""Puts control characters into every text of a trace, into file names and arguments, and looks for them in every
form of output, standard error included: nothing but line feeds may come through.

usage: check_hostile_names.py TACHO
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

# ESC, BEL, DEL, the C1 control CSI, a right-to-left override, and Markdown that pings.
BAD = "\x1b[31m\x07\x7f\u009b31m\u202e@octocat #1 $x$ ~~a~~ https://evil.example"
# All controls but the line feed: C0, DEL, and C1 as UTF-8; in text for people also what turns its direction.
CONTROL = re.compile(rb"[\x00-\x09\x0b-\x1f\x7f]|\xc2[\x80-\x9f]")
INVISIBLE = re.compile(rb"\xe2\x80[\x8b-\x8f\xa8-\xae]")
passed = failed = 0


def check(what, found, output):
    global passed, failed
    if found is None:
        passed += 1
    else:
        failed += 1
        print(f"FAILED {what}: {output[max(0, found.start() - 60):found.end() + 20]!r}")


def trace(rank):
    def event(cat, name, ts, dur, pid, tid, **args):
        return {"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid, "ts": ts, "dur": dur, "args": args}

    device = BAD + "D"
    return {
        "schemaVersion": 1, "vllm_version": BAD, "cuda_runtime_version": BAD, "cuda_driver_version": BAD,
        "with_stack": 1, "record_shapes": 1,
        "distributedInfo": {"rank": rank, "world_size": 5, "backend": BAD, "nccl_version": BAD},
        "deviceProperties": [{"id": device, "name": BAD, "totalGlobalMem": 1}, {"id": BAD, "name": BAD}],
        "WARNING": BAD,
        "traceEvents": [
            {"ph": "M", "name": "process_name", "pid": BAD, "tid": 0, "args": {"name": BAD}},
            {"ph": "M", "name": "thread_name", "pid": BAD, "tid": BAD, "args": {"name": BAD}},
            event("user_annotation", "execute_context_1(3)_generation_0(0)", 0, 900, BAD, BAD),
            event("cpu_op", "aten::" + BAD, 1, 800, BAD, BAD, **{"Input Dims": [[1], BAD]}),
            event("cuda_runtime", "cudaLaunchKernel" + BAD, 10, 5, BAD, BAD, correlation=1),
            event("cuda_runtime", "cudaGraphLaunch" + BAD, 20, 5, BAD, BAD, correlation=2),
            event("python_function", BAD, 1, 3, BAD, BAD),
            event("kernel", "gemm" + BAD, 100, 50, 0, 7, device=device, stream=BAD, correlation=1),
            event("kernel", "norm" + BAD, 300, 50, 0, 7, device=device, stream=BAD, correlation=2),
            event("gpu_memcpy", "Memcpy " + BAD.replace(" ", "") + " (Pageable -> Device)", 500, 50, 0, 7,
                  device=device, stream=BAD + "2", correlation=9),
            event("gpu_memcpy", "Memset", 700, 9, 0, 7, device=device, stream=BAD, correlation=3),
            event("cat" + BAD, BAD, 800, 9, BAD, BAD),
            {"ph": "\x07", "name": BAD, "pid": 1, "tid": 1, "ts": 1},
            {"ph": "E", "name": BAD, "pid": BAD, "tid": BAD, "ts": 5},
        ],
    }


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    tacho = os.path.abspath(sys.argv[1])
    name = BAD.replace("/", "_")
    modes = [[], ["-w"], ["--json"], ["--markdown"], ["--summary"], ["--summary", "--json"], ["--top", "1"],
             ["--device", BAD + "D"], ["--window", "0:400us"], ["--window", "0:400us", "--markdown"],
             *[["--" + t] for t in ("kernels", "categories", "ops", "steps", "gaps", "launches", "copies", "devices", "ranks")]]
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder) / name
        root.mkdir()
        for rank in (0, 1):
            (root / f"{name}{rank}.json").write_text(json.dumps(trace(rank)))
        (root / f"{name}empty.json").write_text("")
        (root / f"{name}.nsys-rep").write_bytes(b"NVIDIA Tegra Profiler Report")
        (root / "sub").mkdir()
        one = root / f"{name}0.json"
        rules = root / f"{name}.rules"
        rules.write_text(f"my.{BAD} op ^\n")
        runs = [(mode + [path]) for mode in modes for path in (root, one)]
        runs += [["--profile-dir", root], ["--profile-dir", root, "--all-ranks"],
                 # Errors name the input.
                 [root / "nothing"], [root / "sub"], ["--device", BAD, one], ["--window", BAD, one], ["--rank", BAD, one],
                 ["--" + BAD, one], ["--top", BAD, one], ["--color", BAD, one], ["--rules", rules, one],
                 ["--rules", root / "none.rules", one], ["--csv", one, one], ["--json=" + BAD, one], ["-" + BAD, one]]
        for words in runs:
            for locale in ("C.UTF-8", "C"):
                done = subprocess.run([tacho, "analyze", *map(str, words)], capture_output=True, timeout=120,
                                      env={**os.environ, "LC_ALL": locale, "NO_COLOR": "1"})
                what = f"{[str(w)[:20] for w in words]} {locale} (status {done.returncode})"
                for output, where in ((done.stdout, "standard output"), (done.stderr, "standard error")):
                    check(f"{what}, {where}", CONTROL.search(output), output)
                    if "--json" not in words:
                        check(f"{what}, {where}, invisible", INVISIBLE.search(output), output)
                check(f"{what} ends well", re.search(rb"bug|terminate", done.stderr), done.stderr)
                if "--markdown" in words:
                    for markup in (rb"@octocat", rb"#1", rb"https://", rb"~~", rb"\$x"):
                        check(f"{what}, {markup}", re.search(markup, done.stdout), done.stdout)
        done = subprocess.run([tacho, BAD], capture_output=True)
        check("unknown command", CONTROL.search(done.stderr), done.stderr)
    print(f"{passed} passed, {failed} failed")
    sys.exit(failed != 0)


main()
