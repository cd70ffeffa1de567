"""`tacho record` against the real vLLM, alone and behind vllm-router."""
import contextlib
import http.server
import json
import os
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

from frame import (DONE, INCOMPLETE, REMOTE, USAGE, Setup, ask, check, check_complete, check_status, check_vllm_idle, last_line,
                   steps, wait_for)

ONE = Setup(("vllm", "--router"), 4)
TWO = Setup(("vllm", "--count", "2", "--router"), 7)
TP2 = Setup(("vllm", "--tp", "2"), 6)
DP2 = Setup(("vllm", "--dp", "2"), 8)
OFF = Setup(("vllm", "--no-profiler"), 4)
DAEMON = Setup(("vllm", "--no-profiler", "--daemon"), 4)
STACKS = Setup(("vllm", "--profiler-config", '{"torch_profiler_with_stack":true}'), 4)


def vllm_behind_router(engines, tacho):
    run = tacho.record(engines.router["url"])
    check_complete(tacho, run, 1)
    check_vllm_idle(engines.url())


def load_through_router(engines, tacho):
    run = tacho.record(engines.router["url"], options=["--through-router"])
    check_complete(tacho, run, 1)


def one_vllm(engines, tacho):
    run = tacho.record(engines.url(), requests=8)
    trace = check_complete(tacho, run, 1)[0]
    check(trace["world_size"] == 1 and trace["rank"] == 0, f"rank {trace.get('rank')} of {trace.get('world_size')}")
    kept = json.loads((run.folder() / "models/w0.json").read_text())
    check(kept["model_type"] == "qwen3", f"the model's configuration is not kept: {kept}")


def max_iterations(engines, tacho):
    trace = check_complete(tacho, tacho.record(engines.url(), steps=5, duration="120s"), 1)[0]
    check(trace["steps"]["count"] == 5, f"{trace['steps']['count']} steps instead of 5")
    check_vllm_idle(engines.url())


def delayed_iterations(engines, tacho):
    run = tacho.record(engines.url(), steps=4, duration="60s", options=["--profile-options", "delay_iterations=3,profile_prefix=mine"])
    trace = check_complete(tacho, run, 1)[0]
    check(trace["steps"]["count"] == 4, f"{trace['steps']['count']} steps instead of 4")
    check("/mine-tacho-" in trace["path"], f"the prefix is not in {trace['path']}")
    check((run.folder() / "logs/w0.log").stat().st_size > 0, "the engine's log is not in the run folder")


def stop_by_hand(engines, tacho):
    trace = check_complete(tacho, tacho.record(engines.url(), duration="2s"), 1)[0]
    check(steps(trace) > 5, f"only {steps(trace)} steps with something to do in 2 s of load")
    check_vllm_idle(engines.url())


def user_drives_the_load(engines, tacho):
    def load(ended):
        while not ended.is_set():
            ask(engines.url() + "/v1/completions", "POST", {"model": "tiny", "prompt": [5, 6, 7], "max_tokens": 100,
                                                            "ignore_eos": True})
    check_complete(tacho, tacho.record(engines.url(), options=["--no-load"], duration="4s", during=load), 1)


def interfering_loads(engines, tacho):
    """Long prompts of another client make answers wait for them: `wait-prefill` says so, and how long, measured against the same
    load without these prompts."""
    def means(during=None):
        run = tacho.record(engines.url(), duration="4s", during=during,
                           options=["--concurrency", "2", "--prompt-tokens", "16", "--output-tokens", "32", "--seed", "3"])
        check(run.status == DONE, f"exit status {run.status}: {last_line(run.said())}")
        told = tacho.analyze(run.folder() / "traces")["requests"]
        split = [row for row in told["list"] if row["whole"] and "trace" in row]
        check(len(split) >= 4, f"{len(split)} of {len(told['list'])} requests have parts: join {told['join']}")
        return [sum(of(row) for row in split) / len(split)
                for of in (lambda row: row["e2e_ns"], lambda row: row["parts"].get("wait-prefill", 0))]

    def prompts(ended):
        number = 0
        while not ended.is_set():
            number += 1  # no prompt is in the cache
            ask(engines.url() + "/v1/completions", "POST",
                {"model": "tiny", "prompt": [(7 * i + number) % 500 + 3 for i in range(1500)], "max_tokens": 1})

    alone, waits_alone = means()
    beside, waits = means(prompts)
    more = beside - alone
    check(more > alone, f"E2E {alone / 1e6:.0f} ms alone, {beside / 1e6:.0f} ms beside long prompts: they do not interfere")
    check(0.5 * more <= waits - waits_alone <= 1.1 * more,
          f"E2E grew by {more / 1e6:.0f} ms, wait-prefill by {(waits - waits_alone) / 1e6:.0f} ms")


def second_session(engines, tacho):
    first = check_complete(tacho, tacho.record(engines.url(), requests=4), 1)[0]
    second = check_complete(tacho, tacho.record(engines.url(), requests=4), 1)[0]
    check(Path(first["path"]).read_bytes() != Path(second["path"]).read_bytes(), "both runs hold the same trace")


def session_left_open(engines, tacho):
    """Somebody left the profiler running: that is reported, and none of its files gets into the run."""
    ask(engines.url() + "/start_profile", "POST", {"profile_prefix": "somebody"})
    run = tacho.record(engines.url(), requests=4)
    check("already" in run.said() or "open" in run.said(), "not a word about the session that was open")
    if run.status == DONE:
        check_complete(tacho, run, 1)
    else:
        check_status(run, INCOMPLETE, REMOTE)
    ask(engines.url() + "/stop_profile", "POST", timeout=300)


def stacks_are_for_the_launch(engines, tacho):
    run = tacho.record(engines.url(), options=["--with-stack"])
    check(run.status in (USAGE, REMOTE), f"exit status {run.status}: {last_line(run.said())}")
    check("--profiler-config" in run.err, f"the refusal does not say where stacks are set: {last_line(run.err)}")
    check_vllm_idle(engines.url())


def stacks_refused(engines, tacho):
    run = tacho.record(engines.url())
    check(run.status in (USAGE, REMOTE), f"exit status {run.status}: {last_line(run.said())}")
    check("events a second" in run.err and "--steps" in run.err, f"no reason, or no way out: {last_line(run.err)}")


def stacks_with_a_bound(engines, tacho):
    trace = check_complete(tacho, tacho.record(engines.url(), steps=2, duration="120s"), 1)[0]
    check(trace["steps"]["count"] == 2, f"{trace['steps']['count']} steps instead of 2")
    check(trace["events"]["by_category"].get("python_function", 0) > 0, "no Python frames")


def wrong_router(engines, tacho):
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        dead = f"http://127.0.0.1:{s.getsockname()[1]}"
    run = tacho.record(dead, timeout=60)
    check_status(run, REMOTE)
    check(dead.removeprefix("http://") in run.err, f"the message does not name {dead}: {last_line(run.err)}")


def no_engine(engines, tacho):
    """A web server that knows neither engines' nor routers' paths."""
    class Empty(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_error(404)
        do_POST = do_GET

        def log_message(self, *_):
            pass
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Empty) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        run = tacho.record(f"http://127.0.0.1:{server.server_port}", timeout=60)
        server.shutdown()
    check_status(run, REMOTE)


def two_behind_router(engines, tacho):
    check_complete(tacho, tacho.record(engines.router["url"]), 2)
    for i in range(2):
        check_vllm_idle(engines.url(i))


@contextlib.contextmanager
def every_core_hogged():
    spinning = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(os.cpu_count())]
    try:
        yield
    finally:
        for process in spinning:
            process.kill()
            process.wait()


def bounded_on_a_busy_machine(engines, tacho):
    """tacho's defaults, with unknown engines, one of which was never profiled: ten seconds of both were 2.3 GB, and
    a table that took more than eleven minutes."""
    with every_core_hogged():
        began = time.monotonic()
        run = tacho.record(engines.router["url"], duration=None, timeout=600)
        took = time.monotonic() - began
    check_complete(tacho, run, 2)
    told = run.json()
    check(told["window"]["by_budget"] and "bounded to" in run.err, f"not bounded: {told['window']}")
    for worker in told["workers"]:
        said, came = worker["forecast"], worker["recorded"]
        check(0 < came["steps"] <= told["window"]["steps"], f"{came['steps']} steps of {told['window']['steps']}")
        check(said["bytes"] / 2 <= came["bytes"] <= 2 * said["bytes"], f"{worker['url']}: {came} where {said} was said")
    # What is said is of the slowest. Flushes of the very same steps were seen to differ by four, with the cores that they got from this
    # machine's other work: one that is shorter than was said harms nobody.
    said, came = (max(w[kind]["flush_ns"] for w in told["workers"]) for kind in ("forecast", "recorded"))
    check(said / 8 <= came <= 3 * said, f"a flush of {came / 1e9:.1f} s where {said / 1e9:.1f} s were said")
    check(took < 300, f"{took:.0f} s in all")
    for i in range(2):
        check_vllm_idle(engines.url(i))


def five_in_a_row(engines, tacho):
    """tacho's defaults on cores that others hog: three of four first recordings once had a window without a step."""
    for number in range(5):
        with every_core_hogged():
            run = tacho.record(engines.router["url"], duration=None, defaults=True, timeout=600)
        for trace in check_complete(tacho, run, 2):
            by_phase = trace["steps"]["by_phase"]
            decoding = by_phase.get("decode", 0) + by_phase.get("mixed", 0)
            check(decoding >= 16, f"recording {number + 1}: {decoding} decode steps in {trace['path']}")
        check("the load ended" not in run.said() and "send requests" not in run.said(), f"recording {number + 1}: {run.err[-800:]}")
    for i in range(2):
        check_vllm_idle(engines.url(i))


def router_killed_in_load(engines, tacho):
    def kill_router(_):
        # The load runs before and after the start, with which the window begins. The requests to the engines take long on a busy machine.
        tacho.wait_for_phase("start", 240)
        engines.kill(engines.router)
    run = tacho.record(engines.router["url"], duration="10s", options=["--through-router"], during=kill_router)
    check_status(run, INCOMPLETE, REMOTE)
    for i in range(2):
        check_vllm_idle(engines.url(i))


def server_killed_in_flush(engines, tacho):
    """Half a second passes between the first byte of such a trace and its final name: after the stop the server runs in short
    pieces, and is killed while it is suspended with a part of its trace written."""
    server = engines.workers[1]
    folder = Path(server["trace_dir"])
    before = set(folder.iterdir())

    def in_flush():
        engines.run_on(server, 0.03)
        new = set(folder.iterdir()) - before
        check(not [path for path in new if path.suffix == ".json"], "the flush was over before the server could be killed")
        return any(path.suffix == ".tmp" and path.stat().st_size > 0 for path in new)

    def kill_worker(_):
        tacho.wait_for_phase("profile", 240)
        try:
            wait_for(in_flush, 240, "a file of the flush", pause=0)
        finally:
            engines.kill(server)  # it is suspended: nothing else would end the recording
    # Short prompts, so that there are hundreds of steps to write: a long one is a single step of seconds.
    run = tacho.record(engines.url(0), engines.url(1), duration="5s", during=kill_worker,
                       options=["--prompt-tokens", "16", "--output-tokens", "64"])
    check_status(run, INCOMPLETE)
    told = run.json()
    check(any(engines.url(1) + ")" in m and "died in its flush" in m for m in told["missing"]), f"missing: {told['missing']}")
    proven = {w["url"]: all(r["proven"] for r in w["ranks"]) for w in told["workers"]}
    check(proven == {engines.url(0): True, engines.url(1): False}, f"proven: {proven}")
    check(engines.url(1).removeprefix("http://") in run.said(), "the report does not name the server that died")
    check_vllm_idle(engines.url(0))


def tensor_parallel_2(engines, tacho):
    found = check_complete(tacho, tacho.record(engines.url()), 2)
    check(sorted(t["rank"] for t in found) == [0, 1], f"ranks {[t.get('rank') for t in found]}")
    check({t["world_size"] for t in found} == {2}, f"world sizes {[t.get('world_size') for t in found]}")


def data_parallel_2(engines, tacho):
    """Both engines write rank0 of world 1: still two traces, distinguished by pid."""
    check_complete(tacho, tacho.record(engines.url()), 2)


def profiling_off(engines, tacho):
    run = tacho.record(engines.url(), timeout=120, options=["--via", "http"])
    check_status(run, USAGE)
    check("--profiler-config" in run.err, f"the remedy is not named: {last_line(run.err)}")


def by_daemon(engines, tacho):
    """No profiler configured: Kineto's own protocol still profiles, without the engine's step names."""
    run = tacho.record(engines.url(), duration="3s")
    check_complete(tacho, run, 1, names_steps=False)
    check(run.json()["via"] == "daemon", f"via {run.json()['via']}")


# In this order; those that end a server come last in their setup.
SCENARIOS = [(ONE, s) for s in (vllm_behind_router, load_through_router, one_vllm, max_iterations, delayed_iterations, stop_by_hand,
                                user_drives_the_load, interfering_loads, second_session, session_left_open, stacks_are_for_the_launch,
                                wrong_router, no_engine)]
SCENARIOS += [(STACKS, stacks_refused), (STACKS, stacks_with_a_bound), (TP2, tensor_parallel_2), (DP2, data_parallel_2),
              (OFF, profiling_off), (DAEMON, by_daemon)]
SCENARIOS += [(TWO, s) for s in (five_in_a_row, bounded_on_a_busy_machine, two_behind_router, router_killed_in_load, server_killed_in_flush)]
