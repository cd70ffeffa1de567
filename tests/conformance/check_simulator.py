#!/usr/bin/env python3
"""Compares `tacho simulate` with the recorded answers of the real engines and routers: check_simulator.py TACHO [FILE ...]

Each recorded file (default: all) has the simulated server that must answer like it. Prints each difference. Exit status: 0
all the same, 1 differences, 77 this tacho has no simulate.
"""
import contextlib
import json
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "program"))
import processes  # noqa: E402
import check  # noqa: E402

HERE = Path(__file__).resolve().parent
SIMULATED = {  # recorded file: (arguments of simulate, what of it is asked)
    "vllm-0.32.json": ((), "worker"),
    "vllm-0.32-no-profiler.json": (("--profiler-config", "{}"), "worker"),
    "vllm-0.32-dev.json": (("--dev-mode",), "worker"),
    "vllm-router-0.1.17.json": (("--count", "2", "--router", "vllm"), "router"),
    "sglang-0.5.23.json": (("--engine", "sglang"), "worker"),
    "sglang-router-0.3.2.json": (("--engine", "sglang", "--count", "2", "--router", "sglang"), "router"),
}


# What only a trace with a GPU has. The recorded ones come from engines on a CPU; the simulator's engines have GPUs.
GPU_KEYS = ("cuda_driver_version", "cuda_runtime_version", "cupti_version", "deviceProperties")
GPU_EVENTS = ("X cuda_driver", "X cuda_runtime", "X gpu_memcpy", "X gpu_memset", "X gpu_user_annotation", "X kernel",
              "f ac2g", "s ac2g")


def without_gpu(answer):
    """A trace's shape without what a GPU adds; any other answer unchanged."""
    if not isinstance(answer, dict) or "top" not in answer:
        return answer
    top = {k: v for k, v in answer["top"].items() if k not in GPU_KEYS}
    if "distributedInfo" in top:
        top["distributedInfo"] = {k: v for k, v in top["distributedInfo"].items() if k != "nccl_version"}
    events = {k: v for k, v in answer["events"].items() if k not in GPU_EVENTS}
    return {**answer, "top": top, "events": events}


# Where a busy machine delays requests, the engine idles between the steps of a window.
IDLE = ("scheduler.idle", "scheduler.sanity_check_cache")


def without_waits(found, expected):
    """A trace's shape without idle turns where none are expected; any other answer unchanged."""
    if not isinstance(found, dict) or "annotations" not in found or not isinstance(expected, dict):
        return found
    return {**found, "annotations": [a for a in found["annotations"] if a not in IDLE or a in expected.get("annotations", ())]}


@contextlib.contextmanager
def simulated(tacho, arguments, folder):
    """A running simulator; yields its addresses."""
    with processes.running(
        [tacho, "simulate", "--model", "tiny", "--model-size", "tiny", "--max-model-len", "2048", "--trace-dir", folder,
         "--json", *arguments], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True) as process:
        yield json.loads(processes.first_line(process))


def main():
    if len(sys.argv) < 2:
        print(__doc__, file=sys.stderr)
        return 2
    tacho, files = sys.argv[1], sys.argv[2:] or list(SIMULATED)
    if subprocess.run([tacho, "simulate", "--help"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode != 0:
        print(f"*** NOT TESTED: the simulator's answers: {tacho} has no simulate")
        return 77
    sets = json.loads((HERE / "requests.json").read_text())
    wrong = 0
    for name in map(lambda f: Path(f).name, files):
        arguments, what = SIMULATED[name]
        expected = json.loads((HERE / name).read_text())
        print(f"== {name}: {expected['of']}")
        try:
            with tempfile.TemporaryDirectory(prefix="tacho-conformance-") as folder, simulated(tacho, arguments, folder) as told:
                url = told["router"] if what == "router" else told["workers"][0]["url"]
                found = check.ask_all(url, sets[expected["set"]], Path(folder))
        except (RuntimeError, check.Unreachable) as e:
            print(e)
            wrong += 1
            continue
        wrong += check.compare({k: without_gpu(v) for k, v in expected["answers"].items()},
                               {k: without_waits(without_gpu(v), expected["answers"].get(k)) for k, v in found.items()}, sets[expected["set"]])
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
