#!/usr/bin/env python3
"""Measures how exact and how costly `tacho load` is, beside `vllm bench serve`, against a server with known timing.

usage: bench/load.py [--build DIR] [--streams 1,100,1000,1000s,4000] [--rounds 3] [--no-vllm] [--against TACHO] [--results FILE]

Each client sends one request a stream, all at once, twice the first generation's number in all; "1000s" spreads them instead:
they begin by a Poisson process at the rate that holds 1,000 on the way, so that no queue of a thousand stands before the server.
The server answers after 50 ms with 100 tokens a second (50 with 4,000 streams) and remembers when each request reached its host,
by the kernel's stamp (so that its own queue is part of the true TTFT), when it read it, and when it really wrote. Interleaved, on whatever cores
there are; what counts is the median of the rounds, the best stands beside it. Only the client's process is charged, from
the first request to the last token. "the kernel's part" is what a program costs that throws away what it receives
(bench/receive_only). --against: an older build of tacho in turn with this one. Where vLLM is not installed, or with
--no-vllm, the ratios are to what bench/RESULTS.md holds. Prints Markdown; --results puts it between the markers of that
file, only with vLLM's rows. A client that fails is named and the exit status is then 4.
"""
import argparse
import dataclasses
import functools
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import quiet
import report

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tools"))
from engines_lib import bench_serve, environments  # noqa: E402

TTFT_MS, PROMPT, SECONDS = 50, 32, 6
TICK = os.sysconf("SC_CLK_TCK")
TACHO, OLDER, RIVAL, FLOOR = "tacho load", "tacho load, older build", "vllm bench serve", "the kernel's part"
MARKERS = ("<!-- load:begin -->", "<!-- load:end -->")


@dataclasses.dataclass(frozen=True)
class Case:
    """How many streams, and whether they begin one by one."""
    streams: int
    spread: bool

    @classmethod
    def of(cls, word):
        return cls(int(word.removesuffix("s")), word.endswith("s"))

    def __str__(self):
        return f"{self.streams:,}{' spread' if self.spread else ''}"

    @property
    def rate(self):
        """Tokens a second of a stream."""
        return 50 if self.streams >= 4000 else 100

    @property
    def tokens(self):
        return self.rate * SECONDS

    def arrivals(self, at_once, rate):
        """The client's flags by the names of its options."""
        return (rate, f"{self.streams / SECONDS:.1f}") if self.spread else (at_once, str(self.streams))


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
    """By request: TTFT, time a token, and when it was sent and its first token came."""
    seen = {}
    for line in records.read_text().splitlines():
        r = json.loads(line)
        if r["status"] == "done":
            seen[r["id"]] = (r["first_token_ns"] - r["sent_ns"], (r["last_token_ns"] - r["first_token_ns"]) / (r["output_tokens"] - 1),
                             r["sent_ns"], r["first_token_ns"])
    return seen


def run_tacho(program, url, case, folder):
    records = folder / "records.jsonl"
    command = [program, "load", url, "--model", "tiny", "--input-len", PROMPT, "--output-len", case.tokens,
               "--requests", 2 * case.streams, *case.arrivals("--concurrency", "--rate"), "--records", records, "--json"]
    process = Process([str(word) for word in command], {})
    return process, seen_by_tacho(records)


def run_vllm(url, case, folder):
    result = folder / "result.json"
    command = bench_serve.command([
        "--backend", "openai", "--base-url", url, "--model", "tiny", "--tokenizer", bench_serve.tokenizer(), "--dataset-name", "random",
        "--random-input-len", PROMPT, "--random-output-len", case.tokens, "--num-prompts", 2 * case.streams,
        *case.arrivals("--max-concurrency", "--request-rate"),
        "--ignore-eos", "--disable-tqdm", "--save-result", "--save-detailed", "--result-dir", folder, "--result-filename", result.name,
        "--request-id-prefix", "bench-"])
    process = Process(command, bench_serve.ENVIRONMENT)
    told = json.loads(result.read_text())
    seen = {}
    for i, (ttft, gaps, error) in enumerate(zip(told["ttfts"], told["itls"], told["errors"])):
        if not error:
            seen[f"bench-{i}"] = (ttft * 1e9, sum(gaps) * 1e9 / (case.tokens - 1))
    return process, seen


def run_floor(program, url, case, folder):
    """Receives alone: it sees no request."""
    return Process([program, url.rpartition(":")[2], *map(str, (case.streams, 2 * case.streams, case.tokens))], {}), None


def cost_of(process, requests, tokens, server):
    """What the process cost from the first of the requests to the end of the last."""
    begin, end = min(r["arrived_ns"] for r in requests), max(r["last_ns"] for r in requests)
    rate = len(requests) * tokens / ((end - begin) / 1e9)
    core = process.core(begin, end)
    return {"tokens/s": rate, "core": core, "us": core / rate * 1e6, "server": server["cpu_share"]}


def measure(client, options, case, folder):
    """One round: what a client saw of each request less what the server did, and what it cost."""
    (process, seen), server = with_server(options.build, case.rate, lambda url: client(url, case, folder))
    truth = {r["id"]: r for r in server["requests"]}
    if seen is None:
        return cost_of(process, truth.values(), case.tokens, server)
    both = [(seen[i], truth[i]) for i in seen if i in truth]
    begin = min(t["arrived_ns"] for _, t in both)
    half = begin + SECONDS * 10**9  # all of the first generation under way
    off = [s[0] - (t["first_ns"] - t["arrived_ns"]) for s, t in both]
    figures = {
        **cost_of(process, [t for _, t in both], case.tokens, server),
        "lost": 2 * case.streams - len(both),
        "TTFT p50": statistics.median(s[0] for s, _ in both) / 1e6,
        "bias": statistics.mean(off) / 1e6,
        "bias p50": statistics.median(off) / 1e6,
        "queue": statistics.mean(t["read_ns"] - t["arrived_ns"] for _, t in both) / 1e6,
        "TPOT off": max(abs(s[1] - (t["last_ns"] - t["first_ns"]) / (case.tokens - 1)) for s, t in both) / 1e6,
    }
    if len(both[0][0]) > 2:
        figures["there"] = statistics.mean(t["arrived_ns"] - s[2] for s, t in both) / 1e6
        figures["back"] = statistics.mean(s[3] - t["first_ns"] for s, t in both) / 1e6
        if case.streams > 1 and not case.spread:
            figures["kB"] = (process.memory(half) - process.memory(begin) - 12 * case.streams * case.tokens) / case.streams / 1e3
    return figures


# What of a round is shown, and with how many digits.
COLUMNS = {"lost": ("lost", 0), "tokens/s": ("tokens/s", 0), "TTFT p50": ("TTFT p50 seen, ms", 2), "bias": ("TTFT seen less true, mean, ms", 2),
           "bias p50": ("p50, ms", 2), "queue": ("the server's own queue, mean, ms", 2),
           "there": ("of it until it reaches the server's host, ms", 2), "back": ("until it reaches the client's host, ms", 2),
           "TPOT off": ("TPOT off at most, ms", 3), "core": ("core", 2), "us": ("us a token", 1),
           "kB": ("kB a stream beyond records", 1), "server": ("server's core", 2)}


def middle(rounds, key):
    values = [r[key] for r in rounds if key in r]
    return statistics.median(values) if values else None


def best(rounds, key):
    return (max if key == "tokens/s" else min)(r[key] for r in rounds)


def row(case, name, rounds):
    cells = [str(case), name]
    for key, (_, digits) in COLUMNS.items():
        value = middle(rounds, key)
        cells.append("" if value is None else f"{value:,.{digits}f} ({best(rounds, key):,.{digits}f})")
    return cells


def kept_rival():
    """The rows of `vllm bench serve` that were measured last: {"1,000": {"us": 11.4, ...}}."""
    text = (ROOT / "bench/RESULTS.md").read_text()
    text = text[text.index(MARKERS[0]):text.index(MARKERS[1])]
    lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line.startswith("|")]
    header = next((line for line in lines if line[0] == "streams"), [])
    kept = {}
    for line in lines:
        if line[1:2] != [RIVAL]:
            continue
        cells = dict(zip(header, line))
        kept[line[0]] = {
            key: float(cells[title].split(" ")[0].replace(",", "")) for key, (title, _) in COLUMNS.items() if cells.get(title)}
    return kept


def verdicts(measured):
    """What was promised, held against the medians; the best round beside them."""
    def target(what, must, reach, streams, key, bound, digits=2):
        rounds = measured.get((Case.of(str(streams)), TACHO))
        value = middle(rounds, key) if rounds else None
        if value is None:
            return [what, must, reach, "", None]
        return [what, must, reach, f"{value:.{digits}f} (best {best(rounds, key):.{digits}f})", value <= bound]
    rows = [target("core, 1,000 streams of 100 tokens/s", "0.7", "0.4", 1000, "core", 0.7),
            target("TTFT seen less true, mean, ms, 1,000 streams", "2", "", 1000, "bias", 2),
            target("the same, p50", "2", "", 1000, "bias p50", 2),
            target("TTFT seen less true, mean, ms, 1,000 streams that begin one by one", "2", "", "1000s", "bias", 2)]
    rows += [target(f"lost, {streams:,} streams", "0", "", streams, "lost", 0, 0) for streams in (1000, 4000)]
    rows += [target(f"kB a stream beyond records, {streams:,} streams", "32", "", streams, "kB", 32, 1) for streams in (1000, 4000)]
    return report.target_table(rows)


def ratios(measured):
    """tacho beside the rival and beside an older build, from medians of the same rounds or kept ones."""
    kept = kept_rival()
    lines = []
    for (case, name), rounds in measured.items():
        if name != TACHO:
            continue
        floor = measured.get((case, FLOOR))
        if floor:
            lines.append(f"{case} streams: a token costs {middle(rounds, 'us') / middle(floor, 'us'):.2f} of what it costs a program "
                         "that throws it away unread.")
        for other, words in ((RIVAL, RIVAL), (OLDER, "the older build")):
            theirs = measured.get((case, other))
            value = middle(theirs, "us") if theirs else kept.get(str(case), {}).get("us") if other == RIVAL else None
            if not value:
                continue
            bias = middle(theirs, "bias") if theirs else kept[str(case)]["bias"]
            source = "" if theirs else " (kept figures, not of this run)"
            lines.append(f"{case} streams: a token costs {middle(rounds, 'us') / value:.2f} of what it costs {words}{source}; "
                         f"TTFT off by {middle(rounds, 'bias'):+.2f} ms to {bias:+.2f} ms.")
    return "\n".join(f"- {line}" for line in lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=str(ROOT / "build/release"))
    parser.add_argument("--streams", default="1,100,1000,1000s,4000")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--no-vllm", action="store_true", help="do not run it")
    parser.add_argument("--against", metavar="TACHO", help="the program of an older build")
    parser.add_argument("--results", help="such as bench/RESULTS.md")
    options = parser.parse_args()
    clients = {TACHO: functools.partial(run_tacho, f"{options.build}/tacho"),
               FLOOR: functools.partial(run_floor, f"{options.build}/bench/receive_only")}
    if options.against:
        clients[OLDER] = functools.partial(run_tacho, options.against)
    if not options.no_vllm and environments.ENVIRONMENTS["vllm"].complete():
        clients[RIVAL] = run_vllm
    if options.results and RIVAL not in clients:
        parser.error("--results would lose the rows of vllm bench serve: it is not installed (tools/engines install vllm), or left out")
    measured, failed, quiet_words = {}, False, quiet.wait()
    for case in map(Case.of, options.streams.split(",")):
        # The receiver of the kernel's part begins all its streams at once.
        broken = {FLOOR} if case.spread else set()
        for number in range(options.rounds):
            for name, client in clients.items():
                if name in broken:
                    continue
                print(f"{case} streams, round {number + 1}: {name}", file=sys.stderr, flush=True)
                with tempfile.TemporaryDirectory() as folder:
                    try:
                        figures = measure(client, options, case, pathlib.Path(folder))
                        measured.setdefault((case, name), []).append(figures)
                    except (RuntimeError, OSError, ValueError, ArithmeticError, IndexError) as problem:
                        print(f"FAILED {name}: {problem}", file=sys.stderr)
                        failed = True
                        broken.add(name)
    header = ["streams", "client", *(title for title, _ in COLUMNS.values())]
    text = "\n\n".join(part for part in (
        f"{time.strftime('%Y-%m-%d')}, {os.cpu_count()} cores shared by client and server, {quiet_words}, "
        f"{options.rounds} rounds: median (best). TTFT of the server {TTFT_MS} ms, 100 tokens/s a stream (50 with 4,000).",
        report.table(header, [row(case, name, rounds) for (case, name), rounds in measured.items()], left=2),
        verdicts(measured), ratios(measured)) if part)
    print(text)
    if options.results:
        path = pathlib.Path(options.results)
        path.write_text(report.replace_measured(path.read_text(), text, MARKERS))
    return 4 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
