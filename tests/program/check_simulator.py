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
    # Steps. Times of events that touch the window's end are cut by Kineto's own rule.
    if "steps" in truth and trace["steps"].get("method") == "annotated":
        keys = ["phase", "start_ns", "dur_ns", "context_requests", "context_tokens",
                "generation_requests", "generation_tokens"]
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


def main():
    for part in (vllm_live, vllm_protocol):
        begun = time.monotonic()
        part()
        print(f"{part.__name__}: {time.monotonic() - begun:.1f} s")
    for failure in failures[:20]:
        print(failure)
    print(f"{len(failures)} failures")
    sys.exit(1 if failures else 0)


main()
