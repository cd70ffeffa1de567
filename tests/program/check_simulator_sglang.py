#!/usr/bin/env python3
"""Simulated SGLang: its profiler and its router answer and write as the real ones do.

usage: check_simulator_sglang.py TACHO [--only NAME ...]
"""
import glob
import json

from scenario import check, main
from simulator import Simulator, ask, compare_all, equal, generate, post, truths_of, wait_for


def sglang(folder):
    with Simulator(folder, "--engine", "sglang", "--tp", "2", "--model-size", "tiny", "--speed", "5",
                   "--max-num-batched-tokens", "64") as simulator:
        worker = simulator.workers[0]

        def start(**body):
            return post(worker, "/start_profile", {"output_dir": str(simulator.traces), "with_stack": False, **body})

        equal("start", start(num_steps=5, profile_prefix="five"), (200, "Start profiling.\n"))
        generate(simulator, worker, [1, 2, 3], 12)
        wait_for("written by itself", lambda: len(glob.glob(str(simulator.traces / "five-*.truth.json"))) == 2)
        for truth in truths_of(simulator, "five-*"):
            equal("five steps", [s["phase"] for s in truth["steps"]], ["prefill"] + ["decode"] * 4)
        equal("stop after the session ended by itself", post(worker, "/stop_profile"), (500, "Internal Server Error"))
        # By stage: the prefill's recording ends at the first decode.
        start(num_steps=3, profile_by_stage=True, profile_prefix="stage", detailed_annotations=True)
        generate(simulator, worker, list(range(100)), 10)
        wait_for("stages", lambda: len(glob.glob(str(simulator.traces / "stage-*.truth.json"))) == 4)
        for truth in truths_of(simulator, "stage-*-EXTEND*"):
            equal("prefill stage", [s["phase"] for s in truth["steps"]], ["prefill"] * 2)
        for truth in truths_of(simulator, "stage-*-DECODE*"):
            equal("decode stage", [s["phase"] for s in truth["steps"]], ["decode"] * 3)
        # A start while one runs: 200, and what was recorded is lost.
        start(profile_prefix="first", profile_id="a")
        generate(simulator, worker, [1], 4)
        equal("second start", start(profile_prefix="second")[0], 200)
        generate(simulator, worker, [2], 6)
        equal("second start with start_step", start(start_step=1, num_steps=3)[0], 500)
        equal("stop", post(worker, "/stop_profile"), (200, "Stop profiling. This will take some time.\n"))
        equal("second stop", post(worker, "/stop_profile")[0], 500)
        check("first name stays", len(glob.glob(str(simulator.traces / "first-a-TP-*.gz"))) == 2)
        equal("only the second part", len(truths_of(simulator, "first-a-TP-0*")[0]["steps"]), 6)
        start(num_steps=3, start_step=1, activities=["GPU"], profile_prefix="device")
        generate(simulator, worker, [3], 8)
        wait_for("device only", lambda: len(glob.glob(str(simulator.traces / "device-*.truth.json"))) == 2)
        compare_all(simulator, "sglang")
        # A health check is a step.
        start(profile_prefix="health")
        equal("health", ask(worker, "/health")[0], 200)
        post(worker, "/stop_profile")
        equal("health's step", [s["context_tokens"] for s in truths_of(simulator, "health-*TP-0*")[0]["steps"]], [1])
        equal("pause", post(worker, "/pause_generation", {})[0], 200)
        equal("not ready", (ask(worker, "/ready")[0], ask(worker, "/ping")[0]), (503, 200))
        post(worker, "/continue_generation", {})
        generate(simulator, worker, [1, 2], 3)
    # What kills a real server kills this one.
    for what, bodies in (("a slash in the prefix", [{"profile_prefix": "a/b"}]),
                         ("a folder that cannot be", [{"output_dir": "/proc/no/such"}]),
                         ("stages without steps", [{"profile_by_stage": True}])):
        with Simulator(folder, "--engine", "sglang", "--model-size", "tiny", "--speed", "5") as simulator:
            worker = simulator.workers[0]
            for body in bodies:
                post(worker, "/start_profile", {"output_dir": str(simulator.traces), **body})
            post(worker, "/generate", {"text": "hello", "sampling_params": {"max_new_tokens": 4}})
            post(worker, "/stop_profile")
            wait_for(f"{what} kills", lambda: ask(worker, "/ping")[0] == 0)


def sglang_dp_and_router(folder):
    with Simulator(folder, "--engine", "sglang", "--dp", "2", "--count", "2", "--router", "sglang", "--model-size", "tiny",
                   "--speed", "5") as simulator:
        router, worker = simulator.router, simulator.workers[0]
        equal("no profile through the router", post(router, "/start_profile"), (404, ""))
        for _ in range(6):
            generate(simulator, router, [5, 6, 7], 4)
        listed = json.loads(ask(router, "/workers")[1])
        equal("workers", sorted(w["url"] for w in listed["workers"]), sorted(simulator.workers))
        # Each rank counts its own steps; the one that has nothing to write answers first.
        post(worker, "/start_profile", {"output_dir": str(simulator.traces), "num_steps": 3, "profile_prefix": "dp"})
        generate(simulator, worker, [1, 2], 6, routed_dp_rank=1)
        wait_for("rank 1's file", lambda: len(glob.glob(str(simulator.traces / "dp-*-TP-0-DP-1.trace.json.gz.truth.json"))) == 1)
        equal("rank 0 has none", len(glob.glob(str(simulator.traces / "dp-*-DP-0.*"))), 0)
        equal("stop", post(worker, "/stop_profile")[0], 500)
        wait_for("rank 0's file", lambda: len(glob.glob(str(simulator.traces / "dp-*-TP-0-DP-0.trace.json.gz.truth.json"))) == 1)


main([sglang, sglang_dp_and_router], __doc__)
