#!/usr/bin/env python3
"""Simulated vLLM under load: `tacho analyze` finds in its traces exactly what the simulator put in, and the protocols hold.

usage: check_simulator.py TACHO [--only NAME ...]
"""
import concurrent.futures
import glob
import json
import os
import pathlib
import tempfile
import time

from scenario import check, main, run
from simulator import Simulator, analyze, ask, compare, compare_all, completion, equal, events, load, post, truths_of, wait_for

LOAD = [(32, 12), (7, 30), (300, 8), (64, 20), (24, 25), (700, 6), (32, 16), (96, 10), (16, 28), (48, 14)]


def profiler_config(folder, **more):
    return json.dumps({"profiler": "torch", "torch_profiler_dir": str(folder),
                       "torch_profiler_with_stack": False, "ignore_frontend": True, **more})


def vllm_live(folder):
    with Simulator(folder, "--count", "2", "--tp", "2", "--router", "vllm", "--max-num-batched-tokens", "256",
                   "--speed", "3", "--no-prefix-caching") as simulator:
        for worker in simulator.workers:
            equal("start", post(worker, "/start_profile", {"profile_prefix": f"w{worker[-5:]}"}), (200, ""))
            equal("second start", post(worker, "/start_profile")[0], 409)
        load(simulator, simulator.workers, LOAD, 1)
        for worker in simulator.workers:
            equal("stop", post(worker, "/stop_profile"), (200, ""))
            equal("second stop", post(worker, "/stop_profile"), (200, ""))
        result, truths = compare_all(simulator, "vllm")
        equal("files", len(truths), 4)
        # The steps did what was requested.
        ranks0 = [t for t in truths if t["rank"] == 0]
        context = sum(s["context_tokens"] for t in ranks0 for s in t["steps"])
        generation = sum(s["generation_tokens"] for t in ranks0 for s in t["steps"])
        equal("context tokens", context, sum(p for p, _ in LOAD))
        equal("generation tokens", generation + len(LOAD), sum(o for _, o in LOAD))
        metrics = "\n".join(ask(w, "/metrics")[1] for w in simulator.workers)
        total = sum(float(line.split()[-1]) for line in metrics.split("\n")
                    if line.startswith("vllm:generation_tokens_total{"))
        equal("metrics", total, sum(o for _, o in LOAD))
        steps = sum(float(line.split()[-1]) for line in metrics.split("\n")
                    if line.startswith("vllm:iteration_tokens_total_count{"))
        equal("steps of metrics", steps, sum(1 for t in ranks0 for s in t["steps"] if s["phase"] != "empty"))


def vllm_protocol(folder):
    with Simulator(folder, "--count", "2", "--router", "vllm", "--model-size", "tiny", "--speed", "10") as simulator:
        worker, router = simulator.workers[0], simulator.router
        api = json.loads(ask(worker, "/openapi.json")[1])
        check("openapi", "requestBody" in api["paths"]["/start_profile"]["post"])
        equal("wrong method", ask(worker, "/start_profile")[0], 405)
        for headers in ({"Origin": "http://attacker.example"}, {"Sec-Fetch-Site": "cross-site"}, {"Host": "attacker.example"}):
            for url in (worker, router):
                status, said = ask(url, "/start_profile", {}, headers=headers)
                check(f"no page of a browser: {headers}", status == 403 and said.startswith("Forbidden: "), (status, said))
        equal("an order that is too long", ask(worker, "/start_profile", "x" * (1 << 20 | 1))[0], 413)
        equal("no such path", ask(worker, "/workers"), (404, '{"detail":"Not Found"}'))
        equal("dev mode is off", ask(worker, "/server_info")[0], 404)
        for body in ('{"max_iterations":"3"}', '{"max_iterations":1.5}', "nonsense", "[]",
                     '{"max_iterations":-1}', '{"profile_prefix":"../x"}'):
            equal(f"start {body}", post(worker, "/start_profile", body)[0], 400)
        # N steps are recorded, the next one writes them; then the session is still open.
        post(worker, "/start_profile", {"profile_prefix": "five", "max_iterations": 5, "more": 1})
        completion(simulator, worker, [1, 2, 3], 5)
        wait_for("flush inside step 6", lambda: len(glob.glob(str(simulator.traces / "five_rank0.*.trace.json"))) == 1)
        equal("still open", post(worker, "/start_profile")[0], 409)
        equal("stop", post(worker, "/stop_profile")[0], 200)
        truth = json.load(open(glob.glob(str(simulator.traces / "five*.truth.json"))[0]))
        equal("five steps", len(truth["steps"]), 5)
        post(worker, "/start_profile", {"profile_prefix": "late", "delay_iterations": 3, "max_iterations": 4})
        completion(simulator, worker, [4, 5, 6], 20)
        post(worker, "/stop_profile")
        truth = json.load(open(glob.glob(str(simulator.traces / "late*.truth.json"))[0]))
        equal("four steps after two", [s["phase"] for s in truth["steps"]], ["decode"] * 4)
        # Errors.
        status, text = post(worker, "/v1/completions", {"prompt": [1, 99999999], "stream": True})
        parts = events(text)
        equal("unknown token", (status, len(parts), json.loads(parts[0])["error"]["code"]), (200, 2, 400))
        equal("wrong model", post(worker, "/v1/completions", {"model": "x", "prompt": "a"})[0], 404)
        equal("no token", post(worker, "/v1/completions", {"prompt": "a", "max_tokens": 0})[0], 400)
        status, text = post(worker, "/v1/completions",
                            {"prompt": [1], "max_tokens": 7, "stream": True, "stream_interval": 3,
                             "return_token_ids": True, "ignore_eos": True})
        sizes = [len(json.loads(e)["choices"][0]["token_ids"]) for e in events(text)[:-1]]
        equal("stream_interval", sizes, [1, 3, 3])
        status, text = post(worker, "/v1/chat/completions",
                            {"messages": [{"role": "user", "content": "hi"}], "max_tokens": 3, "stream": True,
                             "ignore_eos": True})
        first = json.loads(events(text)[0])["choices"][0]["delta"]
        equal("chat's first chunk", first, {"role": "assistant", "content": ""})
        # The router forwards unknown routes to one worker after the other.
        got = [post(router, "/start_profile")[0] for _ in range(4)]
        equal("start through the router", got, [200, 200, 409, 409])
        for _ in range(2):
            post(router, "/stop_profile")
        listed = json.loads(ask(router, "/workers")[1])
        equal("workers", [w["url"] for w in listed["workers"]], simulator.workers)
        equal("readiness", json.loads(ask(router, "/readiness")[1])["status"], "ready")
        for _ in range(4):
            completion(simulator, router, [9, 9], 3)


def older_vllm(folder):
    for version, pattern, names in (("0.10", "sim_[0-9]*.pt.trace.json.gz", None), ("0.13", "*-rank-?.*.pt.trace.json.gz", "execute_new_")):
        traces = tempfile.mkdtemp(dir=folder)
        config = json.dumps({"profiler": "torch", "torch_profiler_dir": traces})
        if names:
            config = profiler_config(traces, torch_profiler_use_gzip=True, max_iterations=4)
        with Simulator(folder, "--engine-version", version, "--tp", "2", "--model-size", "tiny", "--speed", "5",
                       "--profiler-config", config, "--no-prefix-caching") as simulator:
            simulator.traces = pathlib.Path(traces)
            worker = simulator.workers[0]
            equal("version", json.loads(ask(worker, "/version")[1])["version"], version + ".0")
            api = json.loads(ask(worker, "/openapi.json")[1])
            check("body is not read", "requestBody" not in api["paths"]["/start_profile"]["post"])
            equal("start", post(worker, "/start_profile", "nonsense")[0], 200)
            equal("second start", post(worker, "/start_profile")[0], 200)
            completion(simulator, worker, [1, 2, 3], 12)
            post(worker, "/start_profile")  # ignored: the session is still open
            completion(simulator, worker, [1, 2, 3], 12)
            post(worker, "/stop_profile")
            equal(f"{version} files", len([f for f in glob.glob(f"{traces}/{pattern}") if "async_llm" not in f]), 2)
            if names is None:
                equal("front end's file", len(glob.glob(f"{traces}/sim_*.async_llm.*.gz")), 1)
            compare_all(simulator, version)
            if names:
                check(f"{version} names", all(s["name"].startswith(names) for t in truths_of(simulator) for s in t["steps"]))
    refused = run("simulate", "--engine-version", "0.13", "--profiler-config", '{"warmup_iterations":1}')
    equal("unknown key", refused.returncode, 2)
    check("unknown key", "Unexpected keyword argument" in refused.stderr, refused.stderr)


def vllm_dp_and_daemonless_windows(folder):
    with Simulator(folder, "--dp", "2", "--model-size", "tiny", "--speed", "5", "--dev-mode") as simulator:
        worker = simulator.workers[0]
        for _ in range(3):
            equal("every start is taken", post(worker, "/start_profile", {"profile_prefix": "dp"})[0], 200)
        for rank in (0, 1, 1):
            status, _ = post(worker, "/v1/completions", {"prompt": [1, 2, 3], "max_tokens": 4, "ignore_eos": True},
                             headers={"X-data-parallel-rank": str(rank)})
            equal("pinned", status, 200)
        status, text = post(worker, "/v1/completions", {"prompt": [1]}, headers={"X-data-parallel-rank": "7"})
        equal("no such rank", (status, json.loads(text)["error"]["message"]), (400, "data_parallel_rank 7 is out of range [0, 2)."))
        post(worker, "/stop_profile")
        truths = truths_of(simulator, "dp_rank0*")
        equal("both say rank 0 of 1", [(t["rank"], t["world_size"]) for t in truths], [(0, 1)] * 2)
        compare_all(simulator, "dp")
        equal("dev mode", json.loads(ask(worker, "/is_sleeping")[1]), {"is_sleeping": False})
        info = json.loads(ask(worker, "/server_info?config_format=json")[1])["vllm_config"]
        equal("server_info", (info["profiler_config"]["profiler"], info["parallel_config"]["data_parallel_size"]), ("torch", 2))
        equal("collective_rpc", post(worker, "/collective_rpc", {"method": "profile", "args": [True, "rpc"]})[0], 200)
        equal("collective_rpc", post(worker, "/collective_rpc", {"method": "profile", "args": [False]})[0], 200)
        equal("rpc's files", len(glob.glob(str(simulator.traces / "rpc_rank0*.trace.json"))), 2)


def everything_recorded(folder):
    traces = tempfile.mkdtemp(dir=folder)
    config = profiler_config(traces, torch_profiler_with_stack=True, torch_profiler_record_shapes=True,
                             torch_profiler_use_gzip=True, ignore_frontend=False, detailed_trace_annotation=True,
                             wait_iterations=1, warmup_iterations=2, active_iterations=3)
    with Simulator(folder, "--tp", "2", "--model-size", "tiny", "--speed", "5", "--profiler-config", config,
                   "--no-prefix-caching") as simulator:
        simulator.traces = pathlib.Path(traces)
        worker = simulator.workers[0]
        post(worker, "/start_profile")
        completion(simulator, worker, list(range(50)), 10)
        post(worker, "/stop_profile")
        result, truths = compare_all(simulator, "everything")
        equal("three steps of a schedule", [len(t["steps"]) for t in truths], [3, 3])
        check("stacks", all(t["events"]["python_function"] > 20 for t in truths), truths[0]["events"])
        equal("front end", len(glob.glob(f"{traces}/sim_*.async_llm.*.gz")), 1)


def many_workers(folder):
    with Simulator(folder, "--count", "64", "--router", "vllm", "--model-size", "tiny", "--speed", "2") as simulator:
        with concurrent.futures.ThreadPoolExecutor(64) as pool:
            begun = time.monotonic()
            equal("starts", set(pool.map(lambda w: post(w, "/start_profile", {"profile_prefix": "m", "max_iterations": 2})[0],
                                         simulator.workers)), {200})
            list(pool.map(lambda w: completion(simulator, w, [1, 2], 5), simulator.workers))
            equal("stops", set(pool.map(lambda w: post(w, "/stop_profile")[0], simulator.workers)), {200})
        check("64 workers are cheap", time.monotonic() - begun < 60, time.monotonic() - begun)
        equal("files", len(truths_of(simulator, "m_rank0*")), 64)


def known_runs(folder):
    """`tacho simulate trace`: each rank is what its truth says, and the changes are those asked for."""
    plain = json.loads(known_run(folder, "plain", "--ranks", "2")[0])
    for part in plain["parts"]:
        for phase, figures in part["phases"].items():
            check(f"no change, no difference: {phase}", all(f["difference"] == 0 for f in figures.values() if "difference" in f), figures)
    truth, result = known_run(folder, "new", "--ranks", "2", "--seed", "2", "--change", "fused@rope", "--change", "late-rank@1:300us")
    truth = json.loads(truth)
    equal("changes", [c["change"] for c in truth["changes"]], ["fused@rope", "late-rank@1:300000ns"])
    for trace, part in zip(result["traces"], truth["parts"]):
        for phase, figures in part["phases"].items():
            periods = [s["period_ns"] for s in trace["steps"]["list"] if s["phase"] == phase and "period_ns" in s]
            equal(f"{phase} steps", (len(periods), sum(periods)), (figures["steps"]["with"], figures["step_ns"]["with"]))
    known_run(folder, "sglang", "--engine", "sglang", "--change", "eager")
    # The same run by nsys: one file, a trace for each process.
    equal("nsys", run("simulate", "trace", "-o", f"{folder}/nsys", "--steps", "60", "--ranks", "2", "--seed", "2", "--change", "fused@rope",
                      "--change", "late-rank@1:300us", "--format", "nsys").returncode, 0)
    equal("truth of the nsys run", open(f"{folder}/nsys/truth.json").read(), open(f"{folder}/new/truth.json").read())
    exported = analyze(f"{folder}/nsys")
    equal("nsys formats", [t["format"] for t in exported["traces"]], ["nsys"] * 2)
    for key in ("kernels", "copies", "memsets", "ops"):
        equal(f"nsys {key}", [t[key] for t in exported["traces"]], [t[key] for t in result["traces"]])
    equal("nsys idle", [t["idle"]["causes"] for t in exported["traces"]], [t["idle"]["causes"] for t in result["traces"]])
    for words, problem in ((["--change", "slower"], "needs @KERNEL"), (["--ranks", "65"], "1 to 64"), (["--noise", "nan"], "--noise"), (["--format", "x"], "--format"),
                           (["--model-size", "none"], "--model-size is tiny, "), (["--change", "late-rank@1"], "there is no rank 1")):
        refused = run("simulate", "trace", "-o", f"{folder}/refused", *words)
        check(f"refused: {words}", refused.returncode == 2 and problem in refused.stderr and not os.path.exists(f"{folder}/refused"),
              (refused.returncode, refused.stderr))
    for options, ranks in ((("--ranks", "2"), 2), (("--seed", "2"), 1), (("--format", "nsys", "--ranks", "2"), 2), (("--engine", "sglang"), 1)):
        known_run(folder, "again", *options) if "nsys" not in options else run("simulate", "trace", "-o", f"{folder}/again", *options)
        equal(f"a run in place of an earlier one: {options}", len(analyze(f"{folder}/again")["traces"]), ranks)
    mine = pathlib.Path(folder, "again", "mine.json")
    mine.touch()
    known_run(folder, "again")
    check("files of the user stay", mine.exists())
    equal("nowhere to write", run("simulate", "trace", "-o", "/proc/none").returncode, 3)


def known_run(folder, name, *options):
    """The truth of a run, as text, and the results of its traces, which hold what each trace's truth says."""
    where = f"{folder}/{name}"
    equal(name, run("simulate", "trace", "-o", where, "--steps", "60", *options).returncode, 0)
    result = analyze(where)
    for trace in result["traces"]:
        compare(trace, json.load(open(f"{trace['path']}.truth.json")), f"{name} {trace['path']}")
    return open(f"{where}/truth.json").read(), result


main([known_runs, vllm_live, vllm_protocol, older_vllm, vllm_dp_and_daemonless_windows, everything_recorded, many_workers], __doc__)
