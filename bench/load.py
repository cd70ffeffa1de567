#!/usr/bin/env python3
"""Measures how exact and how costly `tacho load` is, beside `vllm bench serve`, against a server with known timing.

usage: bench/load.py [--build DIR] [--streams 1,100,1000,4000] [--rounds 1] [--no-vllm] [--results FILE]

Each client sends one request a stream, all at once, twice the first generation's number in all; the server answers after
50 ms with 100 tokens a second (50 with 4,000 streams) and remembers when it really wrote. Interleaved, on whatever cores
there are. Prints Markdown; --results puts it between the markers of that file. A client that fails is named and the exit
status is then 4.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import report

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tools"))
from engines_lib import bench_serve  # noqa: E402

TTFT_MS, PROMPT, SECONDS = 50, 32, 6
TICK = os.sysconf("SC_CLK_TCK")
MARKERS = ("<!-- load:begin -->", "<!-- load:end -->")


class Process:
    """A client, looked at ten times a second while it runs: its CPU time and its memory by time."""

    def __init__(self, command, environment):
        self.looks = []
        self.log = tempfile.TemporaryFile("w+")
        process = subprocess.Popen(command, stdout=self.log, stderr=subprocess.STDOUT, env={**os.environ, **environment})
        while process.poll() is None:
            self._look(process.pid)
            time.sleep(0.1)
        self.log.seek(0)
        if process.returncode:
            raise RuntimeError(f"exit {process.returncode}: {self.log.read()[-400:]}")

    def _look(self, pid):
        try:
            fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()
            rss = int(pathlib.Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
        except (OSError, IndexError):
            return  # it has just ended
        self.looks.append((time.monotonic_ns(), (int(fields[11]) + int(fields[12])) / TICK, rss))

    def core(self, from_ns, to_ns):
        """The share of a core between two times."""
        inside = [look for look in self.looks if from_ns <= look[0] <= to_ns]
        return (inside[-1][1] - inside[0][1]) / ((inside[-1][0] - inside[0][0]) / 1e9)

    def memory(self, at_ns):
        """Bytes at the last look before a time."""
        return max((look for look in self.looks if look[0] <= at_ns), default=self.looks[0])[2]


def with_server(build, rate, client):
    """Runs client(url); gives (its result, what the server did)."""
    server = subprocess.Popen([f"{build}/bench/exact_server", str(TTFT_MS), str(rate)], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, text=True)
    try:
        result = client(server.stdout.readline().strip())
    finally:
        out, _ = server.communicate("\n")
    return result, json.loads(out)


def seen_by_tacho(records):
    seen = {}
    for line in records.read_text().splitlines():
        r = json.loads(line)
        if r["status"] == "done":
            seen[r["id"]] = (r["first_token_ns"] - r["sent_ns"], (r["last_token_ns"] - r["first_token_ns"]) / (r["output_tokens"] - 1))
    return seen


def run_tacho(url, build, streams, tokens, folder):
    records = folder / "records.jsonl"
    command = [f"{build}/tacho", "load", url, "--model", "tiny", "--input-len", PROMPT, "--output-len", tokens,
               "--requests", 2 * streams, "--concurrency", streams, "--records", records, "--json"]
    process = Process([str(word) for word in command], {})
    return process, seen_by_tacho(records)


def run_vllm(url, build, streams, tokens, folder):
    result = folder / "result.json"
    command = bench_serve.command([
        "--backend", "openai", "--base-url", url, "--model", "tiny", "--tokenizer", bench_serve.tokenizer(), "--dataset-name", "random",
        "--random-input-len", PROMPT, "--random-output-len", tokens, "--num-prompts", 2 * streams, "--max-concurrency", streams,
        "--ignore-eos", "--disable-tqdm", "--save-result", "--save-detailed", "--result-dir", folder, "--result-filename", result.name,
        "--request-id-prefix", "bench-"])
    process = Process(command, bench_serve.ENVIRONMENT)
    told = json.loads(result.read_text())
    seen = {}
    for i, (ttft, gaps, error) in enumerate(zip(told["ttfts"], told["itls"], told["errors"])):
        if not error:
            seen[f"bench-{i}"] = (ttft * 1e9, sum(gaps) * 1e9 / (tokens - 1))
    return process, seen


CLIENTS = {"tacho load": run_tacho, "vllm bench serve": run_vllm}


def measure(client, options, streams, folder):
    """One row: what a client saw of each request less what the server did, and what it cost."""
    rate = 50 if streams >= 4000 else 100
    tokens = rate * SECONDS
    (process, seen), server = with_server(options.build, rate, lambda url: client(url, options.build, streams, tokens, folder))
    truth = {r["id"]: r for r in server["requests"]}
    both = [(seen[i], truth[i]) for i in seen if i in truth]
    begin = min(t["arrived_ns"] for _, t in both)
    end = max(t["last_ns"] for _, t in both)
    half = begin + SECONDS * 10**9  # all of the first generation under way
    return {
        "done": len(both), "lost": 2 * streams - len(both), "ttft_seen": [s[0] / 1e6 for s, _ in both],
        "ttft_true": [(t["first_ns"] - t["arrived_ns"]) / 1e6 for _, t in both],
        "tpot_off": [s[1] / 1e6 - (t["last_ns"] - t["first_ns"]) / 1e6 / (tokens - 1) for s, t in both],
        "core": process.core(begin, end), "server_core": server["cpu_share"], "rate": len(both) * tokens / ((end - begin) / 1e9),
        "memory": process.memory(half) - process.memory(begin), "records": 12 * streams * tokens,
    }


def row(streams, name, rounds):
    def middle(value):
        return statistics.median(value(r) for r in rounds)
    off = middle(lambda r: statistics.mean(r["ttft_seen"]) - statistics.mean(r["ttft_true"]))
    events = middle(lambda r: r["rate"])
    core = middle(lambda r: r["core"])
    memory = middle(lambda r: (r["memory"] - r["records"]) / streams / 1e3)
    return [f"{streams:,}", name, middle(lambda r: r["lost"]), f"{events:,.0f}", f"{middle(lambda r: statistics.median(r['ttft_seen'])):.2f}",
            f"{off:+.2f}", f"{middle(lambda r: max(map(abs, r['tpot_off']))):.3f}", f"{core:.2f}", f"{core / events * 1e6:.1f}",
            f"{memory:.1f}" if name == "tacho load" and streams > 1 else "", f"{middle(lambda r: r['server_core']):.2f}"]


HEADER = ["streams", "client", "lost", "tokens/s", "TTFT p50 seen, ms", "TTFT seen less true, mean, ms", "TPOT off at most, ms", "core",
          "us a token", "kB a stream beyond records", "server's core"]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=str(ROOT / "build/release"))
    parser.add_argument("--streams", default="1,100,1000,4000")
    parser.add_argument("--rounds", type=int, default=1)
    parser.add_argument("--no-vllm", action="store_true", help="tacho alone")
    parser.add_argument("--results", help="such as bench/RESULTS.md")
    options = parser.parse_args()
    rows, failed = [], False
    for streams in map(int, options.streams.split(",")):
        rounds = {name: [] for name in CLIENTS if name == "tacho load" or not options.no_vllm}
        for _ in range(options.rounds):
            for name in list(rounds):
                print(f"{streams} streams: {name}", file=sys.stderr, flush=True)
                with tempfile.TemporaryDirectory() as folder:
                    try:
                        rounds[name].append(measure(CLIENTS[name], options, streams, pathlib.Path(folder)))
                    except (RuntimeError, OSError, ValueError) as problem:
                        print(f"FAILED {name}: {problem}", file=sys.stderr)
                        failed = True
                        del rounds[name]
        rows += [row(streams, name, done) for name, done in rounds.items()]
    load = os.getloadavg()[0]
    text = (f"{time.strftime('%Y-%m-%d')}, {os.cpu_count()} cores shared by client and server, load average {load:.1f} at the end, "
            f"{options.rounds} round(s), TTFT of the server {TTFT_MS} ms, 100 tokens/s a stream (50 with 4,000).\n\n"
            + report.table(HEADER, rows, left=2))
    print(text)
    if options.results:
        path = pathlib.Path(options.results)
        path.write_text(report.replace_measured(path.read_text(), text, MARKERS))
    return 4 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
