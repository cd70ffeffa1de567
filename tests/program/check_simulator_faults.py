#!/usr/bin/env python3
"""What each of the simulator's faults leaves behind and answers.

usage: check_simulator_faults.py TACHO [--only NAME ...]
"""
import concurrent.futures
import glob
import json
import os
import time

from scenario import check, main, run
from simulator import Simulator, ask, compare_all, completion, equal, events, post, truths_of, wait_for


def faults(folder):
    def session(simulator, worker, **more):
        started = post(worker, "/start_profile", {"profile_prefix": "x"}, **more)[0]
        completion(simulator, worker, [1, 2, 3], 6)
        return started, post(worker, "/stop_profile", **more)[0]

    def files(simulator, pattern):
        return glob.glob(str(simulator.traces / pattern))

    common = ("--model-size", "tiny", "--speed", "10", "--tp", "2")
    with Simulator(folder, *common, "--fault", "lose-rank:1") as simulator:
        session(simulator, simulator.workers[0])
        equal("lost rank", [os.path.basename(f)[:7] for f in files(simulator, "*.trace.json")], ["x_rank0"])
    with Simulator(folder, *common, "--fault", "truncate") as simulator:
        session(simulator, simulator.workers[0])
        done = run("analyze", "--json", simulator.traces)
        equal("truncated", done.returncode, 4)
        equal("truncated", sorted({n["id"] for t in json.loads(done.stdout)["traces"] for n in t["notes"]} & {"truncated-json"}),
              ["truncated-json"])
    with Simulator(folder, *common, "--fault", "disk-full") as simulator:
        equal("disk full is only a warning", session(simulator, simulator.workers[0]), (200, 200))
        equal("disk full", (files(simulator, "*.trace.json"), len(files(simulator, "*.trace.json.tmp"))), ([], 2))
        check("disk full is logged", "No space left" in simulator.log.read_text())
    with Simulator(folder, *common, "--fault", "silent-second-session") as simulator:
        session(simulator, simulator.workers[0])
        session(simulator, simulator.workers[0])
        equal("second session", len(files(simulator, "*.trace.json")), 2)
    with Simulator(folder, *common, "--fault", "error-500-start", "--fault", "error-500-stop") as simulator:
        equal("500", session(simulator, simulator.workers[0]), (500, 500))
    with Simulator(folder, *common, "--count", "2", "--fault", "not-found@1", "--fault", "hang-stop@0") as simulator:
        equal("404", session(simulator, simulator.workers[1]), (404, 404))
        equal("hang", session(simulator, simulator.workers[0], timeout=1), (200, 0))
    with Simulator(folder, *common, "--fault", "slow-flush:2s") as simulator:
        begun = time.monotonic()
        with concurrent.futures.ThreadPoolExecutor() as pool:
            running = pool.submit(session, simulator, simulator.workers[0])
            sizes = set()
            while not running.done():
                sizes |= {os.path.getsize(f) for f in files(simulator, "*.json.tmp") if os.path.exists(f)}
                time.sleep(0.1)
            equal("slow flush", running.result(), (200, 200))
        check("slow flush takes its time", 2 < time.monotonic() - begun < 15, time.monotonic() - begun)
        check("the file grows", len(sizes) >= 4, sizes)
    with Simulator(folder, *common, "--fault", "die-in-flush") as simulator:
        worker = simulator.workers[0]
        equal("death in the flush", session(simulator, worker), (200, 500))
        equal("nothing whole of rank 0", files(simulator, "x_rank0.*.trace.json"), [])
        wait_for("the server is gone", lambda: ask(worker, "/health")[0] == 0)
    with Simulator(folder, *common, "--count", "2", "--router", "vllm", "--fault", "die-in-load@0:20") as simulator:
        for _ in range(8):
            post(simulator.router, "/v1/completions", {"prompt": [1], "max_tokens": 10, "ignore_eos": True})
        wait_for("one worker is gone", lambda: json.loads(ask(simulator.router, "/readiness")[1])["healthy_workers"] == 1)
        equal("the other answers", post(simulator.router, "/v1/completions", {"prompt": [1], "max_tokens": 3})[0], 200)
    with Simulator(folder, *common, "--fault", "error-in-stream:1") as simulator:
        status, text = post(simulator.workers[0], "/v1/completions", {"prompt": [1], "max_tokens": 8, "ignore_eos": True, "stream": True})
        parts = events(text)
        check("error in a stream", status == 200 and "error" in json.loads(parts[-2]) and parts[-1] == "[DONE]", text[-300:])
    with Simulator(folder, *common, "--count", "2", "--fault", "clock-skew@1:3ms") as simulator:
        for worker in simulator.workers:
            post(worker, "/start_profile", {"profile_prefix": f"c{simulator.workers.index(worker)}"})
        for worker in simulator.workers:
            completion(simulator, worker, [1], 4)
            post(worker, "/stop_profile")
        compare_all(simulator, "skew")
        equal("skew", sorted({t["clock_skew_ns"] for t in truths_of(simulator)}), [0, 3_000_000])


main([faults], __doc__)
