"""What the checks of launched engines share: engines that are scripts, a command that launches them, and what is left of it.

The engine takes vLLM's command line, reports version 0.32.0 and becomes `tacho simulate`.
"""
import contextlib
import json
import os
import pathlib
import socket

import scenario
from scenario import check, run, wait_for

ENGINE = """#!/bin/sh
# A Python that has vLLM 0.32.0: asked for its version, or started as the server.
case "$2" in *nvtx*) [ -z "$FAKE_NVTX_IN" ] || [ "$FAKE_NVTX_IN" = "$PYTHONPATH" ]; exit;; esac
[ "$1" = -c ] && { sleep "${FAKE_ASKED:-0}"; echo "${FAKE_VERSION:-0.32.0}"; exit; }
while [ $# -gt 0 ]; do
  case $1 in --port) port=$2;; --profiler-config) config=$2;; esac
  shift
done
[ -z "$FAKE_LINES" ] || yes "INFO a line of a long log" | head -n "$FAKE_LINES"
printf '%s' "$FAKE_LOG"
sleep "${FAKE_DELAY:-0}"
[ -z "$FAKE_EXIT" ] || exit "$FAKE_EXIT"
[ -z "$FAKE_SERVER" ] || exec "$FAKE_SERVER" "$port"
[ -z "$FAKE_DEAF" ] || (trap '' TERM; exec sleep 1000) &
sleep 1000 &
[ -z "$FAKE_SGLANG" ] || exec TACHO simulate --engine sglang --port "$port" --trace-dir "$SGLANG_TORCH_PROFILER_DIR" --model-size 8b --speed 0.4
exec TACHO simulate --port "$port" --profiler-config "$config" --model-size 8b --speed 0.4
"""

SERVER = """#!/usr/bin/env python3
# Answers GET alone: /health at once, the rest after FAKE_SLOW seconds and, as SGLang, only to who has FAKE_KEY.
import http.server, os, sys, time
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        print("asked", self.path, flush=True)
        key = os.environ.get("FAKE_KEY", "")
        if self.path != "/health":
            time.sleep(float(os.environ.get("FAKE_SLOW", "0")))
        is_let_in = self.path == "/health" or not key or self.headers.get("Authorization") == "Bearer " + key
        self.send_response(200 if is_let_in else 401)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"{}")
http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()
"""


ROUTER = """#!/usr/bin/env python3
# A vllm-router that lists its workers, and sends nothing on.
import http.server, json, sys
words = sys.argv[1:]
workers = words[words.index("--worker-urls") + 1:]
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = json.dumps({"workers": [{"url": url} for url in workers]} if self.path == "/workers" else {}).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
http.server.ThreadingHTTPServer(("127.0.0.1", int(words[words.index("--port") + 1])), Handler).serve_forever()
"""


def engine_in(at):
    """The script, as --python takes it."""
    path = pathlib.Path(at) / "python3"
    path.write_text(ENGINE.replace("TACHO", scenario.TACHO))
    path.chmod(0o755)
    return str(path)


@contextlib.contextmanager
def fakes(**variables):
    """The engine's FAKE_... variables, as long as the block."""
    os.environ.update(variables)
    try:
        yield
    finally:
        for name in variables:
            del os.environ[name]


def server_in(at):
    """The script SERVER, for FAKE_SERVER."""
    path = pathlib.Path(at) / "server"
    path.write_text(SERVER)
    path.chmod(0o755)
    return str(path)


def free_port():
    """Scenarios run beside each other and do not see each other's locks: each takes a port of its own."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return str(one.getsockname()[1])


def free_pair():
    """The first of two free ports without a gap."""
    for _ in range(100):
        with socket.socket() as one, socket.socket() as next_one:
            one.bind(("127.0.0.1", 0))
            port = one.getsockname()[1]
            try:
                next_one.bind(("127.0.0.1", port + 1))
                return str(port)
            except (OSError, OverflowError):
                continue
    raise scenario.Skipped("no two free ports without a gap")


def launch(folder, *more, words=("m",), engine="vllm"):
    port = [] if "--port" in (*more, *words) else ["--port", free_port()]
    return [scenario.TACHO, "launch", engine, "--python", engine_in(folder), "--out", folder, *port, *more, "--", *words]


def processes_of(path):
    """The processes that were started with something of `path`."""
    found = []
    for process in pathlib.Path("/proc").iterdir():
        try:
            if process.name.isdigit() and str(path).encode() in (process / "environ").read_bytes():
                if int(process.name) != os.getpid():
                    found.append((process / "cmdline").read_bytes().replace(b"\0", b" ").decode())
        except OSError:
            continue
    return found


def nothing_left(what, folder):
    check(f"{what}: no process is left", wait_for(lambda: not processes_of(folder), 30), processes_of(folder))
    check(f"{what}: it is not known any more", wait_for(lambda: json.loads(run("launch", "list", "--json").stdout)["launches"] == [], 30))


def answers(url):
    host, port = url.removeprefix("http://").split(":")
    with socket.socket() as s:
        return s.connect_ex((host, int(port))) == 0
