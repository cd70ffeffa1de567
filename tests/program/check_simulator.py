#!/usr/bin/env python3
"""Runs `tacho simulate` under load and checks that `tacho analyze` finds in its traces exactly what
the simulator put in (its .truth.json files), and that the protocols hold.

usage: check_simulator.py TACHO
"""
import concurrent.futures
import glob
import http.client
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import urllib.parse

TACHO = pathlib.Path(sys.argv[1]).resolve()
failures = []


def check(what, good, detail=""):
    if not good:
        failures.append(f"{what}: {detail}")


def equal(what, got, expected):
    check(what, got == expected, f"got {got!r}, expected {expected!r}")


class Simulator:
    """A running `tacho simulate`; its traces are in `folder`."""

    def __init__(self, *arguments):
        self.folder = tempfile.TemporaryDirectory()
        self.traces = pathlib.Path(self.folder.name) / "traces"
        self.log = pathlib.Path(self.folder.name) / "log"
        self.process = subprocess.Popen(
            [TACHO, "simulate", "--json", "--truth", "--trace-dir", self.traces, "--log", self.log,
             "--for", "300s", *arguments], stdout=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"tacho simulate {' '.join(arguments)} did not start")
        self.addresses = json.loads(line)
        self.workers = [w["url"] for w in self.addresses["workers"]]
        self.router = self.addresses.get("router")
        self.model = self.addresses["model"]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        equal("exit status after SIGTERM", self.process.wait(20), 0)
        self.folder.cleanup()


def ask(url, path, body=None, method=None, headers=None, timeout=60):
    """(status, text); status 0 when the connection was refused or dropped."""
    where = urllib.parse.urlparse(url)
    connection = http.client.HTTPConnection(where.hostname, where.port, timeout=timeout)
    data = None if body is None else (body if isinstance(body, str) else json.dumps(body))
    try:
        connection.request(method or ("GET" if data is None else "POST"), path, data,
                           {"Content-Type": "application/json", **(headers or {})})
        answer = connection.getresponse()
        return answer.status, answer.read().decode()
    except (OSError, http.client.HTTPException):
        return 0, ""
    finally:
        connection.close()


def post(url, path, body=None, **more):
    return ask(url, path, body, method="POST", **more)


def events(text):
    return [line[6:] for line in text.split("\n") if line.startswith("data: ")]


def completion(simulator, url, prompt, tokens, **more):
    body = {"model": simulator.model, "prompt": prompt, "max_tokens": tokens, "stream": True,
            "ignore_eos": True, "return_token_ids": True,
            "stream_options": {"include_usage": True}, **more}
    status, text = post(url, "/v1/completions", body)
    parts = events(text)
    check("stream ends", status == 200 and parts and parts[-1] == "[DONE]", f"{status} {text[-300:]}")
    made = 0
    for part in parts[:-1]:
        for choice in json.loads(part)["choices"]:
            made += len(choice["token_ids"] or [])
    usage = json.loads(parts[-2])["usage"]
    equal("tokens of a stream", (made, usage["completion_tokens"]), (tokens, tokens))
    return usage


def load(simulator, urls, requests, salt):
    """`requests` of (prompt tokens, output tokens), all at once."""
    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        jobs = []
        for i, (prompt, tokens) in enumerate(requests):
            ids = [(salt * 7919 + i * 131 + k) % 30000 for k in range(prompt)]
            jobs.append(pool.submit(completion, simulator, urls[i % len(urls)], ids, tokens))
        for job in jobs:
            job.result()


def analyze(folder):
    run = subprocess.run([TACHO, "analyze", "--json", folder], capture_output=True, text=True)
    check("analyze", run.returncode in (0, 4), f"{run.returncode} {run.stderr}")
    return json.loads(run.stdout)


def compare(trace, truth, name):
    """One trace of analyze's JSON against what was put in."""
    equal(f"{name} base time", trace["base_time_ns"], truth["base_time_ns"])
    equal(f"{name} rank", (trace["rank"], trace["world_size"]), (truth["rank"], truth["world_size"]))
    equal(f"{name} engine", trace.get("engine", truth["engine"]), truth["engine"])
    severe = [n for n in trace["notes"] if n["severity"] != "info" and n["id"] not in ("no-gpu-events",)]
    equal(f"{name} notes", severe if truth["device"]["gpu_events"] else [], [])
    by_category = {k: v for k, v in trace["events"]["by_category"].items() if k not in ("gpu_user_annotation", "Trace")}
    equal(f"{name} events", by_category, truth["events"])
    # Steps. Times of events that touch the window's end are cut by Kineto's own rule.
    if truth.get("steps"):
        keys = ["phase", "start_ns", "dur_ns", "context_requests", "context_tokens",
                "generation_requests", "generation_tokens"]
        if truth["steps"][0]["name"].startswith("execute_new_"):  # tells no tokens
            keys = [k for k in keys if not k.endswith("_tokens")]
        got = [{k: s.get(k, 0) for k in keys} for s in trace["steps"]["list"]]
        expected = [{k: s[k] for k in keys} for s in truth["steps"]]
        check(f"{name} steps", got == expected,
              next((f"step {i}: {g} != {e}" for i, (g, e) in enumerate(zip(got, expected)) if g != e),
                   f"{len(got)} != {len(expected)}"))
    if truth["device"]["gpu_events"] == 0:
        return
    device = trace["devices"][0]
    for key in ("device", "gpu_events", "window_ns", "busy_ns", "idle_ns"):
        equal(f"{name} {key}", device[key], truth["device"][key])
    kernels = {k["name"]: (k["count"], k["total_ns"]) for k in trace["kernels"]}
    expected = {k["name"]: (k["count"], k["total_ns"]) for k in truth["kernels"]}
    equal(f"{name} kernels", kernels, expected)
    copies = {c["kind"]: (c["count"], c["total_ns"], c["bytes"]) for c in trace["copies"]}
    equal(f"{name} copies", copies,
          {c["kind"]: (c["count"], c["total_ns"], c["bytes"]) for c in truth["copies"]})
    memsets = {k: sum(m[k] for m in trace["memsets"]) for k in truth["memsets"]}
    equal(f"{name} memsets", memsets, truth["memsets"])
    equal(f"{name} launches", {k: trace["launches"][k] for k in truth["launches"]}, truth["launches"])
    apis = {a["name"]: (a["count"], a["total_ns"]) for a in trace["launches"]["apis"]}
    for call in truth["calls"]:
        equal(f"{name} {call['name']}", apis.get(call["name"]), (call["count"], call["total_ns"]))
    ops = {o["name"]: (o["count"], o["cpu_total_ns"]) for o in trace["ops"]}
    for op in truth["ops"]:
        equal(f"{name} {op['name']}", ops.get(op["name"]), (op["count"], op["cpu_total_ns"]))
    idle = sum(c["ns"] for c in trace["idle"]["causes"])
    equal(f"{name} idle causes", idle, truth["device"]["idle_ns"])
    check(f"{name} coverage", trace["classifier"]["coverage"] == 1, trace["classifier"]["coverage"])


def compare_all(simulator, what):
    result = analyze(simulator.traces)
    truths = glob.glob(str(simulator.traces / "*.truth.json"))
    equal(f"{what} traces", len([t for t in result["traces"] if "async_llm" not in t["path"]]), len(truths))
    by_name = {os.path.basename(t["path"]): t for t in result["traces"]}
    for path in sorted(truths):
        name = os.path.basename(path).removesuffix(".truth.json")
        compare(by_name[name], json.load(open(path)), f"{what} {name}")
    return result, [json.load(open(p)) for p in sorted(truths)]


def wait_for(what, condition, seconds=20):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.05)
    check(what, False, f"not within {seconds} s")
    return False


def profiler_config(simulator_folder, **more):
    return json.dumps({"profiler": "torch", "torch_profiler_dir": str(simulator_folder),
                       "torch_profiler_with_stack": False, "ignore_frontend": True, **more})


LOAD = [(32, 12), (7, 30), (300, 8), (64, 20), (24, 25), (700, 6), (32, 16), (96, 10), (16, 28), (48, 14)]


def vllm_live():
    with Simulator("--count", "2", "--tp", "2", "--router", "vllm", "--max-num-batched-tokens", "256",
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
        # What was asked for is what the steps did.
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


def vllm_protocol():
    with Simulator("--count", "2", "--router", "vllm", "--model-size", "tiny", "--speed", "10") as simulator:
        worker, router = simulator.workers[0], simulator.router
        api = json.loads(ask(worker, "/openapi.json")[1])
        check("openapi", "requestBody" in api["paths"]["/start_profile"]["post"])
        equal("wrong method", ask(worker, "/start_profile")[0], 405)
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
        # The router hands what it does not know to one worker after the other.
        got = [post(router, "/start_profile")[0] for _ in range(4)]
        equal("start through the router", got, [200, 200, 409, 409])
        for _ in range(2):
            post(router, "/stop_profile")
        listed = json.loads(ask(router, "/workers")[1])
        equal("workers", [w["url"] for w in listed["workers"]], simulator.workers)
        equal("readiness", json.loads(ask(router, "/readiness")[1])["status"], "ready")
        for _ in range(4):
            completion(simulator, router, [9, 9], 3)


def truths_of(simulator, pattern="*"):
    return [json.load(open(p)) for p in sorted(glob.glob(str(simulator.traces / f"{pattern}.truth.json")))]


def generate(simulator, url, prompt, tokens, **more):
    body = {"input_ids": prompt, "stream": True,
            "sampling_params": {"max_new_tokens": tokens, "ignore_eos": True, "temperature": 0}, **more}
    status, text = post(url, "/generate", body)
    parts = events(text)
    check("stream ends", status == 200 and parts and parts[-1] == "[DONE]", f"{status} {text[-300:]}")
    last = json.loads(parts[-2])
    equal("tokens of /generate", (len(last["output_ids"]), last["meta_info"]["completion_tokens"]), (tokens, tokens))
    return last


def sglang():
    with Simulator("--engine", "sglang", "--tp", "2", "--model-size", "tiny", "--speed", "5",
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
        with Simulator("--engine", "sglang", "--model-size", "tiny", "--speed", "5") as simulator:
            worker = simulator.workers[0]
            for body in bodies:
                post(worker, "/start_profile", {"output_dir": str(simulator.traces), **body})
            post(worker, "/generate", {"text": "hello", "sampling_params": {"max_new_tokens": 4}})
            post(worker, "/stop_profile")
            wait_for(f"{what} kills", lambda: ask(worker, "/ping")[0] == 0)


def sglang_dp_and_router():
    with Simulator("--engine", "sglang", "--dp", "2", "--count", "2", "--router", "sglang", "--model-size", "tiny",
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


def older_vllm():
    for version, pattern, names in (("0.10", "sim_?????.*.pt.trace.json.gz", None), ("0.13", "*-rank-?.*.pt.trace.json.gz", "execute_new_")):
        with tempfile.TemporaryDirectory() as folder:
            config = json.dumps({"profiler": "torch", "torch_profiler_dir": folder})
            if names:
                config = profiler_config(folder, torch_profiler_use_gzip=True, max_iterations=4)
            with Simulator("--engine-version", version, "--tp", "2", "--model-size", "tiny", "--speed", "5",
                           "--profiler-config", config, "--no-prefix-caching") as simulator:
                simulator.traces = pathlib.Path(folder)
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
                equal(f"{version} files", len([f for f in glob.glob(f"{folder}/{pattern}") if "async_llm" not in f]), 2)
                if names is None:
                    equal("front end's file", len(glob.glob(f"{folder}/sim_*.async_llm.*.gz")), 1)
                compare_all(simulator, version)
                if names:
                    check(f"{version} names", all(s["name"].startswith(names) for t in truths_of(simulator) for s in t["steps"]))
    refused = subprocess.run([TACHO, "simulate", "--engine-version", "0.13", "--profiler-config",
                              '{"warmup_iterations":1}'], capture_output=True, text=True)
    equal("unknown key", refused.returncode, 2)
    check("unknown key", "Unexpected keyword argument" in refused.stderr, refused.stderr)


def vllm_dp_and_daemonless_windows():
    with Simulator("--dp", "2", "--model-size", "tiny", "--speed", "5", "--dev-mode") as simulator:
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


def everything_recorded():
    with tempfile.TemporaryDirectory() as folder:
        config = profiler_config(folder, torch_profiler_with_stack=True, torch_profiler_record_shapes=True,
                                 torch_profiler_use_gzip=True, ignore_frontend=False, detailed_trace_annotation=True,
                                 wait_iterations=1, warmup_iterations=2, active_iterations=3)
        with Simulator("--tp", "2", "--model-size", "tiny", "--speed", "5", "--profiler-config", config,
                       "--no-prefix-caching") as simulator:
            simulator.traces = pathlib.Path(folder)
            worker = simulator.workers[0]
            post(worker, "/start_profile")
            completion(simulator, worker, list(range(50)), 10)
            post(worker, "/stop_profile")
            result, truths = compare_all(simulator, "everything")
            equal("three steps of a schedule", [len(t["steps"]) for t in truths], [3, 3])
            check("stacks", all(t["events"]["python_function"] > 20 for t in truths), truths[0]["events"])
            equal("front end", len(glob.glob(f"{folder}/sim_*.async_llm.*.gz")), 1)


def faults():
    def session(simulator, worker, **more):
        started = post(worker, "/start_profile", {"profile_prefix": "x"}, **more)[0]
        completion(simulator, worker, [1, 2, 3], 6)
        return started, post(worker, "/stop_profile", **more)[0]

    def files(simulator, pattern):
        return glob.glob(str(simulator.traces / pattern))

    common = ("--model-size", "tiny", "--speed", "10", "--tp", "2")
    with Simulator(*common, "--fault", "lose-rank:1") as simulator:
        session(simulator, simulator.workers[0])
        equal("lost rank", [os.path.basename(f)[:7] for f in files(simulator, "*.trace.json")], ["x_rank0"])
    with Simulator(*common, "--fault", "truncate") as simulator:
        session(simulator, simulator.workers[0])
        run = subprocess.run([TACHO, "analyze", "--json", simulator.traces], capture_output=True, text=True)
        equal("truncated", run.returncode, 4)
        equal("truncated", sorted({n["id"] for t in json.loads(run.stdout)["traces"] for n in t["notes"]} & {"truncated-json"}),
              ["truncated-json"])
    with Simulator(*common, "--fault", "disk-full") as simulator:
        equal("disk full is only a warning", session(simulator, simulator.workers[0]), (200, 200))
        equal("disk full", (files(simulator, "*.trace.json"), len(files(simulator, "*.trace.json.tmp"))), ([], 2))
        check("disk full is logged", "No space left" in simulator.log.read_text())
    with Simulator(*common, "--fault", "silent-second-session") as simulator:
        session(simulator, simulator.workers[0])
        session(simulator, simulator.workers[0])
        equal("second session", len(files(simulator, "*.trace.json")), 2)
    with Simulator(*common, "--fault", "error-500-start", "--fault", "error-500-stop") as simulator:
        equal("500", session(simulator, simulator.workers[0]), (500, 500))
    with Simulator(*common, "--count", "2", "--fault", "not-found@1", "--fault", "hang-stop@0") as simulator:
        equal("404", session(simulator, simulator.workers[1]), (404, 404))
        equal("hang", session(simulator, simulator.workers[0], timeout=1), (200, 0))
    with Simulator(*common, "--fault", "slow-flush:2s") as simulator:
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
    with Simulator(*common, "--fault", "die-in-flush") as simulator:
        worker = simulator.workers[0]
        equal("death in the flush", session(simulator, worker), (200, 500))
        equal("nothing whole of rank 0", files(simulator, "x_rank0.*.trace.json"), [])
        wait_for("the server is gone", lambda: ask(worker, "/health")[0] == 0)
    with Simulator(*common, "--count", "2", "--router", "vllm", "--fault", "die-in-load@0:20") as simulator:
        for _ in range(8):
            post(simulator.router, "/v1/completions", {"prompt": [1], "max_tokens": 10, "ignore_eos": True})
        wait_for("one worker is gone", lambda: json.loads(ask(simulator.router, "/readiness")[1])["healthy_workers"] == 1)
        equal("the other answers", post(simulator.router, "/v1/completions", {"prompt": [1], "max_tokens": 3})[0], 200)
    with Simulator(*common, "--fault", "error-in-stream:1") as simulator:
        status, text = post(simulator.workers[0], "/v1/completions", {"prompt": [1], "max_tokens": 8, "ignore_eos": True, "stream": True})
        parts = events(text)
        check("error in a stream", status == 200 and "error" in json.loads(parts[-2]) and parts[-1] == "[DONE]", text[-300:])
    with Simulator(*common, "--count", "2", "--fault", "clock-skew@1:3ms") as simulator:
        for worker in simulator.workers:
            post(worker, "/start_profile", {"profile_prefix": f"c{simulator.workers.index(worker)}"})
        for worker in simulator.workers:
            completion(simulator, worker, [1], 4)
            post(worker, "/stop_profile")
        compare_all(simulator, "skew")
        equal("skew", sorted({t["clock_skew_ns"] for t in truths_of(simulator)}), [0, 3_000_000])


def many_workers():
    with Simulator("--count", "64", "--router", "vllm", "--model-size", "tiny", "--speed", "2") as simulator:
        with concurrent.futures.ThreadPoolExecutor(64) as pool:
            begun = time.monotonic()
            equal("starts", set(pool.map(lambda w: post(w, "/start_profile", {"profile_prefix": "m", "max_iterations": 2})[0],
                                         simulator.workers)), {200})
            list(pool.map(lambda w: completion(simulator, w, [1, 2], 5), simulator.workers))
            equal("stops", set(pool.map(lambda w: post(w, "/stop_profile")[0], simulator.workers)), {200})
        check("64 workers are cheap", time.monotonic() - begun < 60, time.monotonic() - begun)
        equal("files", len(truths_of(simulator, "m_rank0*")), 64)


PARTS = [vllm_live, vllm_protocol, sglang, sglang_dp_and_router, older_vllm, vllm_dp_and_daemonless_windows,
         everything_recorded, faults,
         many_workers]


def main():
    chosen = sys.argv[2:]
    for part in PARTS:
        if chosen and part.__name__ not in chosen:
            continue
        before = len(failures)
        begun = time.monotonic()
        part()
        print(f"{part.__name__}: {time.monotonic() - begun:.1f} s, {len(failures) - before} failures", flush=True)
    for failure in failures[:30]:
        print(failure[:600])
    sys.exit(1 if failures else 0)


main()
