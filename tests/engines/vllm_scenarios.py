"""`tacho record` against the real vLLM, alone and behind vllm-router."""
import socket
from pathlib import Path

from frame import (DONE, INCOMPLETE, REMOTE, USAGE, Setup, ask, check, check_complete, check_status, check_vllm_idle, gauge,
                   last_line, steps, wait_for)

ONE = Setup(("vllm", "--router"), 4)
TWO = Setup(("vllm", "--count", "2", "--router"), 7)
TP2 = Setup(("vllm", "--tp", "2"), 6)
DP2 = Setup(("vllm", "--dp", "2"), 8)
OFF = Setup(("vllm", "--no-profiler"), 4)


def vllm_behind_router(engines, tacho):
    run = tacho.record(engines.router["url"], requests=8)
    check_complete(tacho, run, 1)
    check_vllm_idle(engines.url())


def one_vllm(engines, tacho):
    run = tacho.record(engines.url(), requests=8)
    trace = check_complete(tacho, run, 1)[0]
    check(trace["world_size"] == 1 and trace["rank"] == 0, f"rank {trace.get('rank')} of {trace.get('world_size')}")


def max_iterations(engines, tacho):
    run = tacho.record(engines.url(), steps=5)
    trace = check_complete(tacho, run, 1)[0]
    check(trace["steps"]["count"] == 5, f"{trace['steps']['count']} steps instead of 5")
    check_vllm_idle(engines.url())


def stop_by_hand(engines, tacho):
    run = tacho.record(engines.url(), duration="3")
    trace = check_complete(tacho, run, 1)[0]
    check(steps(trace) > 5, f"only {steps(trace)} steps with something to do in 3 s of load")
    check_vllm_idle(engines.url())


def second_session(engines, tacho):
    first = check_complete(tacho, tacho.record(engines.url(), requests=4), 1)[0]
    second = check_complete(tacho, tacho.record(engines.url(), requests=4), 1)[0]
    check(Path(first["path"]).read_bytes() != Path(second["path"]).read_bytes(), "both runs hold the same trace")


def session_left_open(engines, tacho):
    """Somebody started the profiler and went away: it is stopped, said, and then all goes on."""
    ask(engines.url() + "/start_profile", "POST", {"profile_prefix": "somebody"})
    run = tacho.record(engines.url(), requests=4)
    check(run.status in (DONE, REMOTE), f"exit status {run.status}: {last_line(run.said())}")
    check("already" in run.said(), "not a word about the session that was open")
    ask(engines.url() + "/stop_profile", "POST", timeout=300)


def stacks_refused(engines, tacho):
    run = tacho.record(engines.url(), "--profile-options", "with_stack=true", duration="2")
    check_status(run, USAGE)
    check("stack" in run.err and "--steps" in run.err, f"the refusal names no way out: {last_line(run.err)}")
    check_vllm_idle(engines.url())


def wrong_router(engines, tacho):
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        dead = f"http://127.0.0.1:{s.getsockname()[1]}"
    run = tacho.record(dead, requests=2, timeout=60)
    check_status(run, REMOTE)
    check(dead.removeprefix("http://") in run.err, f"the message does not name {dead}: {last_line(run.err)}")


def no_routes_in_path(engines, tacho):
    """A URL that answers, with 404 to everything: no engine and no router."""
    run = tacho.record(engines.url() + "/nosuch", requests=2, timeout=60)
    check(run.status in (USAGE, REMOTE), f"exit status {run.status}: {last_line(run.said())}")


def two_behind_router(engines, tacho):
    run = tacho.record(engines.router["url"], requests=16)
    check_complete(tacho, run, 2)
    for i in range(2):
        check_vllm_idle(engines.url(i))


def router_killed_in_load(engines, tacho):
    def kill_router():
        wait_for(lambda: sum(gauge(engines.url(i), "vllm:num_requests_running") for i in range(2)) > 0, 120, "load")
        engines.kill(engines.router)
    run = tacho.record(engines.router["url"], duration="20", during=kill_router)
    check_status(run, INCOMPLETE, REMOTE)
    for i in range(2):
        check_vllm_idle(engines.url(i))


def server_killed_in_flush(engines, tacho):
    folder = Path(engines.workers[1]["trace_dir"])
    before = set(folder.iterdir())

    def kill_worker():
        wait_for(lambda: set(folder.iterdir()) - before, 240, "a file of the flush")
        engines.kill(engines.workers[1])
    run = tacho.record(engines.url(0), engines.url(1), duration="5", during=kill_worker)
    check_status(run, INCOMPLETE, REMOTE)
    run.json()
    check(engines.url(1).removeprefix("http://") in run.said(), "the report does not name the server that died")
    check(len(tacho.analyze(run.folder)["traces"]) >= 1, "the trace of the other server is not there")
    check_vllm_idle(engines.url(0))


def tensor_parallel_2(engines, tacho):
    found = check_complete(tacho, tacho.record(engines.url(), requests=6), 2)
    check(sorted(t["rank"] for t in found) == [0, 1], f"ranks {[t.get('rank') for t in found]}")
    check({t["world_size"] for t in found} == {2}, f"world sizes {[t.get('world_size') for t in found]}")


def data_parallel_2(engines, tacho):
    """Both engines write rank0 of world 1: two traces all the same, told apart by pid."""
    found = check_complete(tacho, tacho.record(engines.url(), requests=16), 2)
    check(len({t["path"] for t in found}) == 2, "both traces are one file")


def profiling_off(engines, tacho):
    run = tacho.record(engines.url(), requests=2, timeout=120)
    check_status(run, REMOTE)
    check("profiler-config" in run.err or "profiler_config" in run.err, f"the remedy is not named: {last_line(run.err)}")


# In this order; those that end a server come last in their setup.
SCENARIOS = [(ONE, s) for s in (vllm_behind_router, one_vllm, max_iterations, stop_by_hand, second_session, session_left_open,
                                stacks_refused, wrong_router, no_routes_in_path)]
SCENARIOS += [(TP2, tensor_parallel_2), (DP2, data_parallel_2), (OFF, profiling_off)]
SCENARIOS += [(TWO, s) for s in (two_behind_router, router_killed_in_load, server_killed_in_flush)]
