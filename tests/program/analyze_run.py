"""Shared by the checks of `tacho analyze`: running it, its output, and small input traces."""
import json
import pathlib
import subprocess

import scenario
from scenario import check

RECORDING = pathlib.Path(__file__).resolve().parents[1] / "data/vllm-cpu/mixed_rank0.pt.trace.json.gz"


def run(*args, **more):
    more.setdefault("timeout", 120)
    more.setdefault("stdout", subprocess.PIPE)
    return subprocess.run([scenario.TACHO, "analyze", *map(str, args)], stderr=subprocess.PIPE, **more)


def expect(what, done, status, *words):
    error = done.stderr.decode(errors="replace")
    check(f"{what}: status {status}", done.returncode == status, f"status {done.returncode}, {error}")
    for word in words:
        check(f"{what}: says {word!r}", word in error, error)
    check(f"{what}: no bug report", "bug" not in error.lower(), error)


def notes(done):
    return {n["id"]: n["count"] for t in json.loads(done.stdout)["traces"] for n in t["notes"]}


def write(path, data):
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return path


def kernel(start, duration, name="k", stream=7, cat="kernel"):
    return {"ph": "X", "cat": cat, "name": name, "pid": 0, "tid": stream, "ts": start, "dur": duration,
            "args": {"device": 0, "stream": stream}}


def write_trace(path, events, **header):
    path.parent.mkdir(exist_ok=True)
    return write(path, json.dumps({**header, "traceEvents": events}))


def only_trace(done):
    return json.loads(done.stdout)["traces"][0]
