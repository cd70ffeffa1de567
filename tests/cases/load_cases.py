"""tacho load: what a dataset's numbers mean, and figures of one name on one screen."""
import contextlib
import json
import pathlib
import socket
import subprocess
import sys
import tempfile
import time


@contextlib.contextmanager
def _server(case, script, *arguments):
    """The case's server on a free port of this host."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
    process = subprocess.Popen([sys.executable, script, *arguments, str(port)], cwd=case.folder)
    try:
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                break
            time.sleep(0.05)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.kill()
        process.wait()


def replay_units(case):
    with _server(case, "fake_log.py", "plain") as url, tempfile.TemporaryDirectory() as folder:
        def replay(*more):
            records, plan = pathlib.Path(folder, "r.jsonl"), pathlib.Path(folder, "plan.json")
            done = case.run("load", url, "--api", "completions", "--dataset", "seconds_16.jsonl", "--replay", "--salt", "1", "--records",
                            str(records), "--plan", str(plan), *more)
            case.check(f"{more}: status", done.returncode, 0)
            sent = [json.loads(line) for line in records.read_text().splitlines()]
            first = min(one["intended_ns"] for one in sent)
            return (" ".join(done.stdout.split()), sorted(one["intended_ns"] - first for one in sent),
                    [one["shared_tokens"] for one in json.loads(plan.read_text())["list"]])
        screen, times, shared = replay()
        case.check("times", times, [0, 1_500_000_000, 3_000_000_000])
        case.check("says seconds", "read as seconds" in screen, True)
        case.check("says 16 tokens", "a hash id is read as 16 tokens" in screen, True)
        named = replay("--dataset-name", "timed_trace", "--num-prompts", "3")
        case.check("as timed_trace", (times, shared), named[1:])


def load_streams(case):
    fixed = ("--api", "chat", "--requests", "4", "--concurrency", "2", "--output-len", "8", "--input-len", "10")
    for mode, has_role in (("plain", True), ("nullrole", True), ("norole", False), ("reasoning", True)):
        with _server(case, "fake.py", mode) as url:
            done = case.run("load", url, *fixed)
            screen = " ".join(done.stdout.split())
            case.check(f"{mode}: status", done.returncode, 0)
            case.check(f"{mode}: the first table's TTFT is a role's", "Time to First Chunk (a chat's role)" in screen, has_role)
            case.check(f"{mode}: a line says why", "holds a chat's role" in screen, has_role)
            figures = json.loads(case.run("load", url, *fixed, "--json").stdout)["whole"]
            case.check(f"{mode}: TTFT", 290e6 < figures["ttft"]["p50_ns"] < 400e6, True)
