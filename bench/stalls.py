#!/usr/bin/env python3
"""What a window of profiling costs the requests under way: a real vLLM under load, profiled by HTTP and by the daemon.

  bench/stalls.py [--tacho build/release/tacho] [--duration 2s] [--concurrency 4]

Needs the engines of tools/engines. One server, one load that goes on through all of it; each way of profiling takes a
window of it, with nothing of it in between. Prints a table in Markdown for bench/RESULTS.md.
"""
import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import quiet

ROOT = Path(__file__).resolve().parent.parent
QUIET_S = 15  # without profiling, to compare with


def server(folder, size):
    """Starts a vLLM that can be profiled in both ways; gives its process and URL."""
    process = subprocess.Popen(
        [sys.executable, ROOT / "tools/engines", "run", "vllm", "--daemon", folder, "--json", "--until-stdin-closes",
         "--trace-dir", folder / "traces", "--log-dir", folder / "logs", "--tp", str(size)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    line = process.stdout.readline()
    if not line:
        sys.exit(f"no server: its log is in {folder}/logs")
    return process, json.loads(line)["workers"][0]["url"]


def record(options, url, folder, via):
    """Takes one window while the load goes on; gives when it began and ended (Unix s), and what its end said."""
    began = time.time()
    done = subprocess.run([options.tacho, "record", url, "--no-load", "--via", via, "--duration", options.duration,
                           "--out", folder / via, "--trace-dir", folder / "traces/worker0"] +
                          (["--daemon-socket", str(folder)] if via == "daemon" else []), capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{via}: status {done.returncode}\n{done.stdout}\n{done.stderr}")
    report = json.loads(next((folder / via).rglob("run.json")).read_text())
    took = [w["stop"]["took_ns"] / 1e9 for w in report["workers"] if "stop" in w]
    return began, time.time(), f"{max(took):.1f} s" if took else "none"


def row(name, requests, began, ended, stop):
    """What users saw between two moments: of requests that ran then, the worst of each kind."""
    inside = [r for r in requests if r["status"] == "done" and r["sent_unix_ns"] < ended * 1e9 and r["ended_unix_ns"] > began * 1e9]
    whole = max((r["ended_ns"] - r["sent_ns"]) / 1e9 for r in inside)
    first = max((r["first_token_ns"] - r["sent_ns"]) / 1e9 for r in inside)
    gap = max(dt / 1e9 for r in inside for dt in r["chunk_dt_ns"][1:])
    rate = sum(r["output_tokens"] for r in inside) / sum((r["ended_ns"] - r["sent_ns"]) / 1e9 for r in inside)
    return (f"| {name} | {ended - began:.0f} s | {len(inside)} | {whole:.2f} s | {gap:.2f} s | {first:.2f} s | {stop} | {rate:.1f} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tacho", default=ROOT / "build/release/tacho")
    parser.add_argument("--duration", default="2s", help="of a window (default: %(default)s)")
    parser.add_argument("--concurrency", default="4")
    parser.add_argument("--tp", type=int, default=1)
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="tacho-stalls-"))
    quiet_words = quiet.wait()
    engine, url = server(folder, options.tp)
    records = folder / "requests.jsonl"
    load = subprocess.Popen([options.tacho, "load", url, "--model", "tiny", "--concurrency", options.concurrency,
                             "--input-len", "32", "--output-len", "64", "--duration", "30m", "--records", records],
                            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    try:
        time.sleep(QUIET_S / 3)  # the first requests are slow
        if load.poll() is not None:
            sys.exit(f"the load ended at once: {load.stderr.read()}")
        windows = []
        for name, via in (("HTTP", "http"), ("daemon", "daemon")):
            began = time.time()
            time.sleep(QUIET_S)
            windows.append(("not profiled", began, time.time(), ""))
            windows.append((f"{name}, {options.duration}", *record(options, url, folder, via)))
        time.sleep(3)
        load.send_signal(signal.SIGINT)
        load.wait(120)
    finally:
        load.kill()
        engine.stdin.close()
        engine.wait(120)
    requests = [json.loads(line) for line in records.read_text().splitlines()]
    print("| profiled | took in all | requests then | worst request | worst gap between tokens | worst TTFT | `/stop_profile` "
          "| tokens/s of a request |\n|---|---|---|---|---|---|---|---|")
    for window in windows:
        print(row(window[0], requests, *window[1:]))
    print(f"\n{quiet_words}, {os.cpu_count()} cores; run folders and records in {folder}")


if __name__ == "__main__":
    main()
