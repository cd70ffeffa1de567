"""What the checks of `tacho simulate` share: a running one, its clients, and comparing `tacho analyze` with what the simulator
put into its traces (its .truth.json files)."""
import concurrent.futures
import glob
import http.client
import json
import os
import pathlib
import subprocess
import tempfile
import urllib.parse

import processes
import scenario
from scenario import check, run


def equal(what, got, expected):
    check(what, got == expected, f"got {got!r}, expected {expected!r}")


class Simulator:
    """A running `tacho simulate`, with a folder of its own in `folder` for its `traces` and its `log`."""

    def __init__(self, folder, *arguments):
        own = pathlib.Path(tempfile.mkdtemp(dir=folder))
        self.traces, self.log = own / "traces", own / "log"
        self.process = subprocess.Popen(
            [scenario.TACHO, "simulate", "--json", "--truth", "--trace-dir", self.traces, "--log", self.log,
             "--for", "300s", *arguments], stdout=subprocess.PIPE, text=True)
        try:
            self.addresses = json.loads(processes.first_line(self.process))
        except BaseException:
            processes.end(self.process)
            raise
        self.workers = [w["url"] for w in self.addresses["workers"]]
        self.router = self.addresses.get("router")
        self.model = self.addresses["model"]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        equal("exit status after SIGTERM", processes.end(self.process), 0)


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


def generate(simulator, url, prompt, tokens, **more):
    body = {"input_ids": prompt, "stream": True,
            "sampling_params": {"max_new_tokens": tokens, "ignore_eos": True, "temperature": 0}, **more}
    status, text = post(url, "/generate", body)
    parts = events(text)
    check("stream ends", status == 200 and parts and parts[-1] == "[DONE]", f"{status} {text[-300:]}")
    last = json.loads(parts[-2])
    equal("tokens of /generate", (len(last["output_ids"]), last["meta_info"]["completion_tokens"]), (tokens, tokens))
    return last


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
    done = run("analyze", "--json", folder)
    check("analyze", done.returncode in (0, 4), f"{done.returncode} {done.stderr}")
    return json.loads(done.stdout)


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


def truths_of(simulator, pattern="*"):
    return [json.load(open(p)) for p in sorted(glob.glob(str(simulator.traces / f"{pattern}.truth.json")))]


def compare_all(simulator, what):
    result = analyze(simulator.traces)
    truths = glob.glob(str(simulator.traces / "*.truth.json"))
    equal(f"{what} traces", len([t for t in result["traces"] if "async_llm" not in t["path"]]), len(truths))
    by_name = {os.path.basename(t["path"]): t for t in result["traces"]}
    for path in sorted(truths):
        name = os.path.basename(path).removesuffix(".truth.json")
        compare(by_name[name], json.load(open(path)), f"{what} {name}")
    return result, [json.load(open(p)) for p in sorted(truths)]


def wait_for(what, condition, seconds=processes.PATIENCE_S):
    holds = scenario.wait_for(condition, seconds)
    if not holds:
        check(what, False, f"not within {seconds} s")
    return holds
