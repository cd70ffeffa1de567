#!/usr/bin/env python3
"""Kineto's daemon: `tacho record --via daemon` profiles a process that decodes, twice.

Truth: when each step ran, told by the process itself, in the window that Kineto says of its own trace. A step at the edge of the window
may be in it or not.
"""
import contextlib
import gzip
import json
import os
import pathlib
import shutil
import socket
import subprocess
import sys
import tempfile
import time

from part import Skipped, fact, main

WINDOWS = 2
READY_S, RECORD_S = 90, 60


def daemon(part):
    if not part.options.tacho:
        raise Skipped("the daemon's way: no --tacho to record with")
    # Kineto of torch 2.14 and later writes a daemon's traces only below /tmp.
    with tempfile.TemporaryDirectory(prefix="tacho-gpu-", dir="/tmp") as folder:
        with engine(part, pathlib.Path(folder)) as (url, told):
            for number in range(1, WINDOWS + 1):
                file = record(part, url, folder, number)
                document = json.loads(file.read_text())
                kept = f"window-{number}.json.gz"
                with open(file, "rb") as plain, gzip.open(part.out / kept, "wb") as packed:
                    shutil.copyfileobj(plain, packed)
                part.add(f"window {number} of {WINDOWS}", kept, truth_of(document, told.read_text().splitlines()))


@contextlib.contextmanager
def engine(part, folder):
    """The process, until the end of the block: its URL and the file with its steps."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    told = folder / "steps"
    command = [sys.executable, pathlib.Path(__file__).parent / "daemon_engine.py", str(port), told, *(["--cpu"] if part.cpu else [])]
    with open(part.out / "engine.log", "wb") as log:
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=log, stderr=log,
                                   env={**os.environ, "KINETO_USE_DAEMON": "1", "KINETO_IPC_SOCKET_DIR": str(folder)})
    try:
        until = time.monotonic() + READY_S
        while not told.exists() or len(told.read_text().splitlines()) < 3:
            if process.poll() is not None or time.monotonic() > until:
                raise RuntimeError(f"no step of the process after {READY_S} s: {(part.out / 'engine.log').read_text()[-300:]}")
            time.sleep(0.2)
        yield f"http://127.0.0.1:{port}", told
    finally:
        process.stdin.close()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def record(part, url, folder, number):
    """The trace of one window."""
    out = pathlib.Path(folder) / f"run{number}"
    done = subprocess.run([part.options.tacho, "record", url, "--via", "daemon", "--no-load", "--duration", "2s", "--out", out],
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=RECORD_S)
    (part.out / f"record-{number}.log").write_text(done.stdout + done.stderr)
    files = sorted(out.glob("*/traces/**/*.json"))
    if done.returncode != 0 or len(files) != 1:
        raise RuntimeError(f"tacho record exits {done.returncode} with {len(files)} traces: {(done.stdout + done.stderr)[-300:]}")
    return files[0]


def truth_of(document, lines):
    """`lines`: what the process wrote (daemon_engine.py)."""
    span = next(event for event in document["traceEvents"] if event.get("cat") == "Trace")
    begin = document["baseTimeNanoseconds"] + round(span["ts"] * 1000)
    end = begin + round(span["dur"] * 1000)
    nodes = int(lines[0])
    spans = [tuple(map(int, line.split())) for line in lines[1:] if len(line.split()) == 2]
    steps = sum(begin <= first and last <= end for first, last in spans)
    truth = [fact("steps", steps, "the process's own times", 2)]
    if nodes:
        truth += [fact("graph launches", steps, "the process's own times", 2),
                  fact("GPU events", steps * nodes, "its steps and the nodes of its graph", 2 * nodes)]
    return truth


if __name__ == "__main__":
    main("daemon", daemon)
