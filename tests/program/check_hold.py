#!/usr/bin/env python3
"""`tacho engine hold`: logs as slime and vime write them, before simulated routers and engines of both kinds.

usage: check_hold.py TACHO [--only NAME ...]
"""
import contextlib
import http.server
import json
import os
import pathlib
import re
import signal
import subprocess
import threading
import time

import processes
import scenario
from rollout_log import RolloutLog
from scenario import check, main, run, simulation, target, wait_for
from simulator import ask, post


class Hold:
    """A running `tacho engine hold`; `said` and `out` are what it has printed on standard error and output so far."""

    def __init__(self, *words, **options):
        self.process = subprocess.Popen([scenario.TACHO, "engine", "hold", *words], stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True, start_new_session=True, **options)
        self.said = self.out = ""
        self.readers = [threading.Thread(target=self.read, args=name, daemon=True) for name in (("stderr", "said"), ("stdout", "out"))]
        for reader in self.readers:
            reader.start()

    def read(self, pipe, into):
        for line in getattr(self.process, pipe):
            setattr(self, into, getattr(self, into) + line)

    def says(self, text, seconds=processes.PATIENCE_S):
        held = wait_for(lambda: text in self.said or self.process.poll() is not None, seconds) and text in self.said
        check(f"says '{text}'", held, self.said)
        return held

    def ends(self, number=signal.SIGINT):
        """The exit status after a signal; `said` and `out` are whole then."""
        if number:
            self.process.send_signal(number)
        status = self.process.wait(processes.PATIENCE_S)
        for reader in self.readers:
            reader.join(processes.PATIENCE_S)
            check("its output ends with it", not reader.is_alive(), self.said)
        return status

    def __enter__(self):
        return self

    def __exit__(self, *_):
        processes.end(self.process)


def is_sleeping(worker):
    return json.loads(ask(worker, "/is_sleeping")[1])["is_sleeping"]


def urls(addresses):
    return [w["url"] for w in addresses["workers"]]


def growing_log(folder, kind, router):
    """The log has an earlier run's router first (D38), then none, then the real one; then a recording under the hold."""
    log = RolloutLog(f"{folder}/job.log", kind)
    log.write_lines("earlier run, then a new start")
    with Hold(log.path, "--workers", "2") as hold:
        hold.says("names no router and no engine yet")
        log.router("http://127.0.0.1:1")
        hold.says(f"{log.path}:{log.lines}: http://127.0.0.1:1")  # said 10 s after the first line
        with simulation(folder, "--count", "2", "--engine", kind, "--router", router) as addresses:
            log.engines(urls(addresses))
            log.router(target(addresses)[0])
            if not hold.says("holding 2 engines"):
                return
            check("every worker is named with its route", f"{urls(addresses)[0]} and 1 other: POST /start_profile is there" in hold.said, hold.said)
            refused = run("record", log.path, "--duration", "1s", "--out", folder)
            check("another tacho is refused", refused.returncode == 6 and "is held by tacho engine hold" in refused.stderr
                  and "TACHO_HOLD=" in refused.stderr, refused.stderr)
            check("nor puts them to sleep", "is held by" in run("engine", "sleep", log.path).stderr)
            check("status shows it", run("engine", "status", log.path).stdout.count("held") == 2)
            done = subprocess.run([scenario.TACHO, "record", log.path, "--duration", "1s", "--warm-up", "0.5s", "--out", folder], text=True,
                                  capture_output=True, timeout=180, env={**os.environ, "TACHO_HOLD": str(hold.process.pid)})
            check("who names the hold records", done.returncode == 0 and "2 of 2 ranks proven" in done.stdout, done.stdout + done.stderr)
            check("Ctrl-C ends it well", hold.ends() == 0, hold.said)
            check("Ctrl-C is acknowledged", "releasing the engines" in hold.said, hold.said)
            check("its table is its output", hold.out.count("http://") == 2, hold.out)
            check("the locks are gone", not list(pathlib.Path(folder, "tacho").glob("*lock")))


def growing_log_of_vime(folder):
    growing_log(folder, "vllm", "vllm")


def growing_log_of_slime(folder):
    growing_log(folder, "sglang", "sglang")


def sglang_sleeps_only_where_it_survives(folder):
    """SGLang's scheduler ends at a wake while it is awake and at a sleep while requests run."""
    with simulation(folder, "--engine", "sglang") as addresses:
        worker = target(addresses)[0]
        refused = run("engine", "wake", worker)
        check("a wake that may end it is refused", refused.returncode == 6 and "nothing was sent" in refused.stderr
              and f"tacho engine wake --force {worker}" in refused.stderr, refused.stderr)
        load = subprocess.Popen([scenario.TACHO, "load", worker, "--duration", "8s", "--concurrency", "8"],
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        check("requests run", wait_for(lambda: re.search(r"num_running_reqs\S* [1-9]", ask(worker, "/metrics")[1])))
        refused = run("engine", "sleep", worker)
        check("a sleep while requests run is refused", "SGLang's scheduler ends at a sleep while some run" in refused.stderr, refused.stderr)
        check("the load ends", load.wait(processes.PATIENCE_S) == 0)
        check("an idle one sleeps", run("engine", "sleep", worker).returncode == 0)
        check("--force wakes it", run("engine", "wake", "--force", worker).returncode == 0)
        check("and it is alive", run("engine", "status", worker).returncode == 0)


def engines_come_and_go(folder):
    with contextlib.ExitStack() as stack:
        first = stack.enter_context(simulation(f"{folder}/a", "--router", "vllm"))
        router, old = target(first)[0], urls(first)[0]
        hold = stack.enter_context(Hold(router))
        hold.says("holding 1 engine")
        with simulation(f"{folder}/b") as second:
            new = urls(second)[0]
            post(router, f"/add_worker?url={new}")
            hold.says(f"{new} joined")
            check("what joined is locked", "is held by" in run("engine", "start", new).stderr)
        hold.says("an engine does not answer any more")
        with simulation(f"{folder}/c", "--port", new.rsplit(":", 1)[1]):
            hold.says(f"{new} answers again")
        post(router, f"/remove_worker?url={new}")
        hold.says(f"{new} left: it is not listed any more")
        check("it holds the others", hold.ends(signal.SIGTERM) == 0 and old in hold.out, hold.said)


def sleepers(folder):
    with simulation(folder, "--count", "2", "--router", "vllm") as addresses:
        workers, router = urls(addresses), target(addresses)[0]
        post(workers[0], "/sleep?level=2")
        with Hold(router, "--ready-within", "1s") as hold:
            status = hold.ends(None)
        check("without --wake they are waited for", status == 6 and "1 of 2 engines asleep (--wake wakes them)" in hold.said, hold.said)
        check("not woken", is_sleeping(workers[0]))
        hold = Hold(router, "--wake", "--", "sh", "-c", f'echo "$TACHO_ROUTER|$TACHO_WORKERS"; exec {scenario.TACHO} engine start $TACHO_ROUTER')
        with hold:
            status = hold.ends(None)
        check("the command's status", status == 0, hold.said)
        check("its environment", f"{router}|{' '.join(workers)}" in hold.out, hold.out)
        check("woke one", f"woke {workers[0]}" in hold.said, hold.said)
        check("a profiler that the command left running is stopped", "stopped the profilers of 2 of 2 engines" in hold.said, hold.said)
        check("sleeps again, and only that one", "put to sleep again: 1 of 1 engine" in hold.said
              and [is_sleeping(w) for w in workers] == [True, False], hold.said)
        check("on its level", 'sleep_state="discard_all"} 1' in ask(workers[0], "/metrics")[1])
        with Hold(router, "--wake") as hold:
            hold.says("holding 2 engines")
            check("ends", hold.ends() == 0)
        check("Ctrl-C puts to sleep again", is_sleeping(workers[0]))


@contextlib.contextmanager
def deaf_to_wakes(engine):
    """A server in front of an engine that keeps wakes to itself, with its URL."""
    class Handler(http.server.BaseHTTPRequestHandler):
        def answer(self):
            status, text = (200, "") if self.path.startswith("/wake_up") else ask(engine, self.path, method=self.command)
            self.send_response(status)
            self.send_header("Content-Length", str(len(text.encode())))
            self.end_headers()
            self.wfile.write(text.encode())
        do_GET = do_POST = answer

        def log_message(self, *_):
            pass
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def never_awake(folder):
    with simulation(folder) as addresses:
        engine = urls(addresses)[0]
        post(engine, "/sleep?level=1")
        with deaf_to_wakes(engine) as front, Hold(front, "--wake", "--ready-within", "3s") as hold:
            status = hold.ends(None)
        check("--ready-within bounds --wake", status == 6 and "not ready in time (--ready-within): 1 of 1 engine asleep" in hold.said, hold.said)
        check("woke is said once", hold.said.count(f"woke {front}") == 1, hold.said)


def commands(folder):
    with simulation(folder) as addresses:
        worker = urls(addresses)[0]
        before = run("engine", "start", worker)
        check("a profiler of before", before.returncode == 0, before.stderr)
        for script, status in (("exit 0", 0), ("exit 7", 7), ("kill -9 $$", 137)):
            with Hold(worker, "--", "sh", "-c", script) as hold:
                got = hold.ends(None)
            check(f"status of '{script}'", got == status, (got, hold.said))
        check("is left alone", json.loads(run("engine", "status", worker, "--json").stdout)["workers"][0].get("open_session"))
        run("engine", "stop", worker)
        with Hold(worker, "--json", "--", "sh", "-c", "trap 'echo asked; exit 3' TERM; echo ready >&2; sleep 60 >&- 2>&- & wait") as hold:
            hold.says("ready\n")
            status = hold.ends(signal.SIGTERM)
            check("SIGTERM reaches the command, and its status counts", status == 3 and hold.out.endswith("asked\n"), hold.out + hold.said)
        shown = json.loads(hold.out[:hold.out.rindex("asked")])
        check("--json", shown["workers"][0]["url"] == worker and shown["schema"] == 1, shown)
        done = run("engine", "hold", worker, "--", "no-such-program")
        check("no such program", done.returncode == 2 and "there is no such program" in done.stderr, done.stderr)
        done = run("engine", "status", worker, "--", "true")
        check("only a hold takes a command", done.returncode == 2 and "only tacho engine hold" in done.stderr, done.stderr)
        begin = time.monotonic()
        check("--for", run("engine", "hold", worker, "--for", "1s").returncode == 0 and time.monotonic() - begin >= 1)
        with Hold(worker, "--", scenario.TACHO, "record", worker, "--duration", "1s", "--warm-up", "0.5s", "--out", folder) as hold:
            status = hold.ends(None)
        check("a recording as the command", status == 0 and "1 of 1 ranks proven" in hold.out, hold.out + hold.said)


def terminal(folder):
    """Ctrl-C in a terminal reaches the command by itself, once."""
    with simulation(folder) as addresses:
        ours, theirs = processes.open_terminal(120)
        script = "trap 'echo once; sleep 1; exit 5' INT; trap 'echo twice' TERM; echo begun; sleep 60 >&- 2>&- & wait"
        with processes.running([scenario.TACHO, "engine", "hold", *urls(addresses), "--", "sh", "-c", script], stdin=theirs, stdout=theirs,
                               stderr=theirs, start_new_session=True,
                               preexec_fn=lambda: __import__("fcntl").ioctl(0, __import__("termios").TIOCSCTTY, 0)) as process:
            os.close(theirs)
            begun = processes.read_until(ours, b"begun", process)
            os.write(ours, b"\x03")
            seen = (begun + processes.read_to_the_end(ours, process)).decode()
            check("status", process.wait(processes.PATIENCE_S) == 5, seen)
        check("once", "once" in seen and "twice" not in seen and "waiting for the command to end" in seen, seen)
        ours, theirs = processes.open_terminal(120)
        with processes.running([scenario.TACHO, "engine", "hold", *urls(addresses), "--for", "5s"], stdout=theirs, stderr=theirs) as process:
            os.close(theirs)
            seen = processes.read_to_the_end(ours, process).decode()
        check("a live line", "1 of 1 engine up, requests: 0 running, 0 waiting" in seen, seen)


def long_flush(folder):
    """A stop that is answered late says what it waits for."""
    with simulation(folder, "--fault", "slow-flush:5s") as addresses:
        run("engine", "start", *urls(addresses))
        done = run("engine", "stop", *urls(addresses))
        check("long flush: said", done.returncode == 0 and done.stderr.count("waiting for the flush, which may take minutes; Ctrl-C") == 1, done)
        run("engine", "start", *urls(addresses))
        ours, theirs = processes.open_terminal(120)
        with processes.running([scenario.TACHO, "engine", "stop", *urls(addresses)], stdout=theirs, stderr=theirs) as process:
            os.close(theirs)
            seen = processes.read_to_the_end(ours, process).decode()
        check("long flush: a live line", re.search(r"stop +[3-9]\.[0-9] s\r?\n +" + urls(addresses)[0], seen), seen)


def what_cannot_be_profiled(folder):
    with simulation(folder, "--profiler-config", "{}") as addresses:
        done = run("engine", "hold", *urls(addresses))
        check("a profiler that is off ends it", done.returncode == 2 and "its profiler is not configured" in done.stderr
              and "--profiler-config" in done.stderr, done.stderr)
    # A server that shows vLLM's command line, with a variable that nothing reads.
    os.makedirs(f"{folder}/v")
    with processes.running(["vllm", "simulate", "--json", "--trace-dir", f"{folder}/v", "--profiler-config",
                            json.dumps({"profiler": "torch", "torch_profiler_dir": f"{folder}/v"})], executable=scenario.TACHO,
                           env={**os.environ, "VLLM_RPC_TIMEOUT": "1800000"}, stdout=subprocess.PIPE, text=True) as process:
        worker = json.loads(processes.first_line(process))["workers"][0]["url"]
        done = run("engine", "hold", worker, "--for", "1s")
        check("a dead variable is named", "VLLM_RPC_TIMEOUT" in done.stderr and done.returncode == 0, done.stderr)
        check("its configuration is seen", "its profiler configuration is in the arguments of its process" in done.stderr
              and f"traces go to {folder}/v" in done.stderr, done.stderr)


main([growing_log_of_vime, growing_log_of_slime, sglang_sleeps_only_where_it_survives, engines_come_and_go, sleepers, never_awake, commands, terminal, long_flush,
      what_cannot_be_profiled], __doc__)
