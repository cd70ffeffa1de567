#!/usr/bin/env python3
"""`tacho load`, `vllm bench serve` and, where it is installed (tools/engines_lib/guidellm.py), GuideLLM in turn on a real vLLM,
straight and through its router: the same requests, the same figures within noise. Then `tacho load` through the real routers and against a real SGLang, by every API. Engines are those of tools/engines, on the CPU.

  load_side_by_side.py [--tacho build/release/tacho] [--rounds 3] [--only vllm|sglang]

Prints a table; exit status 0 when all agrees, 1 when not, 77 (loudly) when an engine could not be had. Python 3.11.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from frame import ROOT, Engines, Failed, Setup, Skipped, ask

sys.path.insert(0, str(ROOT / "tools"))
from engines_lib import bench_serve, guidellm  # noqa: E402

PROMPT, OUTPUT, PROMPTS, AT_ONCE = 24, 16, 48, 4
EXACT = ("completed", "failed", "total_input_tokens", "total_output_tokens")
MEASURED = ("duration", "request_throughput", "output_throughput", "total_token_throughput", "mean_ttft_ms", "median_ttft_ms",
            "p99_ttft_ms", "mean_tpot_ms", "median_tpot_ms", "mean_itl_ms", "mean_e2el_ms", "median_e2el_ms", "p99_e2el_ms")
# Two cores for the engine and the client: times of short runs move by this. Beside other work, which is looked for before
# the engines start, by more than can be judged.
NOISE = 1.5
LOAD_BEFORE, BUSY = os.getloadavg()[0], os.cpu_count() / 2


# The same from the engine's own histograms: sums and counts, so means alone. Its tokens' times are its core's, the rest its
# front end's.
ENGINE_TIMES = {"mean_tpot_ms": "vllm:request_time_per_output_token_seconds", "mean_ttft_ms": "vllm:time_to_first_token_seconds",
                "mean_e2el_ms": "vllm:e2e_request_latency_seconds"}


# Bounds of tacho's figures relative to the engines' own for the same requests.
NEAR, FARTHEST = 1.25, 2


class Score:
    def __init__(self):
        self.failed = 0

    def check(self, what, ok, detail=""):
        print(f"{'ok' if ok else 'FAILED'} {what}{'' if ok else ': ' + str(detail)[:600]}", flush=True)
        self.failed += not ok


def flags(url, work, name):
    """The same command line for both."""
    return ["--backend", "openai", "--base-url", url, "--model", "tiny", "--tokenizer", bench_serve.tokenizer(),
            "--dataset-name", "random", "--random-input-len", PROMPT, "--random-output-len", OUTPUT, "--num-prompts", PROMPTS,
            "--max-concurrency", AT_ONCE, "--ignore-eos", "--percentile-metrics", "ttft,tpot,itl,e2el", "--disable-tqdm",
            "--save-result", "--save-detailed", "--result-dir", work, "--result-filename", f"{name}.json"]


def run(command, environment=None):
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, timeout=400, env={**os.environ, **(environment or {})})
    if done.returncode != 0:
        raise Failed(f"{command[0]} exits {done.returncode}: {done.stderr[-400:]}{done.stdout[-400:]}")
    return done.stdout


def measure(options, name, url, work, number):
    """One run of one client: its figures by vLLM's keys."""
    if name == "guidellm":
        report = work / f"guidellm{number}.json"
        run(guidellm.command(url, "tiny", PROMPT, OUTPUT, PROMPTS, AT_ONCE, report), guidellm.ENVIRONMENT)
        return guidellm.figures(report)
    command = [options.tacho, "load"] if name == "tacho" else bench_serve.command([])
    run([*command, *flags(url, work, f"{name}{number}")], bench_serve.ENVIRONMENT)
    return json.loads((work / f"{name}{number}.json").read_text())


def engine_times(urls):
    """Key to (sum of seconds, count), of all engines."""
    sums = {key: [0.0, 0.0] for key in ENGINE_TIMES}
    for url in urls:
        status, text = ask(url + "/metrics")
        if status != 200:
            raise Failed(f"{url}/metrics: {status} {text[:200]}")
        for key, name in ENGINE_TIMES.items():
            for i, part in enumerate(("_sum", "_count")):
                sums[key][i] += sum(float(line.split()[-1]) for line in text.splitlines() if line.startswith(name + part))
    return sums


def side_by_side(options, where, url, urls, work, score):
    own = {}
    results = {"tacho": [], "vllm": []}
    if guidellm.program():
        results["guidellm"] = []
    else:
        print("*** GuideLLM is not installed: see tools/engines_lib/guidellm.py", flush=True)
    for number in range(options.rounds + 1):
        for name, runs in results.items():
            before = engine_times(urls)
            figures = measure(options, name, url, work, number)
            after = engine_times(urls)
            if number > 0:  # the first round warms the engine up
                runs.append(figures)
                own.setdefault(name, []).append({key: 1000 * (after[key][0] - before[key][0]) / (after[key][1] - before[key][1])
                                                 for key in ENGINE_TIMES})
    ours, theirs = results["tacho"], results["vllm"]
    busy = LOAD_BEFORE > BUSY
    score.check(f"{where}: the same keys", list(ours[0]) == list(theirs[0]), set(ours[0]) ^ set(theirs[0]))
    print(f"{where + ', median of ' + str(options.rounds):28}" + "".join(f"{name:>14}" for name in results) + "   ratio to vllm")
    for key in EXACT + MEASURED:
        told = {name: [r[key] for r in runs] for name, runs in results.items() if key in runs[0]}
        median = {name: statistics.median(values) for name, values in told.items()}
        ratios = "".join(f"{median[name] / median['vllm']:8.2f}" for name in told if name != "vllm" and median["vllm"])
        print(f"{key:28}" + "".join(f"{median[name]:14,.2f}" if name in median else f"{'':14}" for name in results) + ratios, flush=True)
        for name, values in told.items():
            # GuideLLM's prompts are texts of its own, and its percentiles are samples.
            if name == "vllm" or (name == "guidellm" and key == "total_input_tokens"):
                continue
            if key in EXACT:
                score.check(f"{where}: {key} of {name}", values == told["vllm"], told)
            elif name == "tacho" and not busy and not key.startswith("p99"):
                score.check(f"{where}: {key} within noise", min(told["vllm"]) / NOISE <= median[name] <= max(told["vllm"]) * NOISE, told)
    for key in ENGINE_TIMES:
        median = {name: statistics.median(r[key] for r in runs) for name, runs in own.items()}
        print(f"{key + ', engines say':28}" + "".join(f"{median[name]:14,.2f}" for name in results), flush=True)
        # Both describe the same requests in the same minutes: client and engine differ only by the transfer.
        seen = statistics.median(r[key] for r in ours)
        least, most = (1 / NEAR, NEAR) if key == "mean_tpot_ms" else (1, FARTHEST)
        if not busy:
            score.check(f"{where}: {key} as the engines' own", least <= seen / median["tacho"] <= most, (seen, median))
    if busy:
        print(f"*** TIMES WERE NOT JUDGED: the machine is busy (load average {LOAD_BEFORE:.1f} before, bound {BUSY:g})", flush=True)


def load(options, url, *more, status=0):
    done = subprocess.run([str(options.tacho), "load", url, "--model", "tiny", "--input-len", str(PROMPT), "--output-len", str(OUTPUT),
                           "--concurrency", str(AT_ONCE), "--requests", "16", "--json", *more], capture_output=True, text=True, timeout=300)
    if done.returncode != status or not done.stdout:
        raise Failed(f"{url} {' '.join(more)}: exit {done.returncode}: {done.stderr[-300:]}{done.stdout[:600]}")
    return json.loads(done.stdout)


def every_api(options, name, url, apis, score):
    for api in apis:
        for more in ([], ["--no-streaming"]):
            what = f"{name} {api}{' whole' if more else ''}"
            try:
                whole = load(options, url, "--api", api, *more)["whole"]
                score.check(what, whole["done"] == 16 and whole["output_tokens"] == 16 * OUTPUT and whole["wrong_length"] == 0, whole)
            except Failed as problem:
                score.check(what, False, problem)


def counted(options, name, url, work, by, score):
    """Each chunk's tokens are known, straight and through a router, whatever it drops."""
    for api in ("completions", "chat"):
        whole = load(options, url, "--api", api, "--records", str(work / "r.jsonl"))["whole"]
        records = [json.loads(line) for line in (work / "r.jsonl").read_text().splitlines()]
        score.check(f"{name} {api}: counted by {by}", {r["counted_by"] for r in records} == {by}
                    and all(sum(r["chunk_tokens"]) == OUTPUT for r in records) and whole["output_tokens"] == 16 * OUTPUT, records[0])


def on_vllm(options, work, score):
    with Engines(Setup(("vllm", "--count", "2", "--router"), 6.5), work) as engines:
        side_by_side(options, "vllm", engines.url(), [engines.url()], work, score)
        side_by_side(options, "vllm-router", engines.router["url"], [w["url"] for w in engines.workers], work, score)
        counted(options, "vllm", engines.url(), work, "usage", score)
        counted(options, "vllm-router", engines.router["url"], work, "token_ids", score)
        every_api(options, "vllm", engines.url(), ("completions", "chat"), score)
        every_api(options, "vllm-router", engines.router["url"], ("completions", "chat"), score)
        for name, url in (("vllm", engines.url()), ("vllm-router", engines.router["url"])):
            told = load(options, url, "--extra-body", '{"prompt": [99999]}', status=6)
            score.check(f"{name}: an error inside a 200 stream is a failure", told["whole"]["failed"] == 16
                        and "out of vocabulary" in told["errors"][0]["error"], told["errors"])
        told = load(options, engines.url(), "--extra-body", '{"stream_interval": 14}')["whole"]
        score.check("vllm: 14 tokens a chunk are counted", told["output_tokens"] == 16 * OUTPUT and told["chunks"] <= 16 * 3, told)


def on_sglang(options, work, score):
    with Engines(Setup(("sglang", "--count", "1", "--router"), 3), work) as engines:
        every_api(options, "sglang", engines.url(), ("generate", "completions", "chat"), score)
        every_api(options, "sglang router", engines.router["url"], ("generate", "completions", "chat"), score)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tacho", default=ROOT / "build/release/tacho", type=Path)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", choices=["vllm", "sglang"])
    options = parser.parse_args()
    score, missing = Score(), False
    for name, scenario in (("vllm", on_vllm), ("sglang", on_sglang)):
        if options.only not in (None, name):
            continue
        with tempfile.TemporaryDirectory(prefix="tacho-side-by-side-") as folder:
            try:
                scenario(options, Path(folder), score)
            except Skipped as reason:
                print(f"*** NOT RUN: {name}: {reason}", flush=True)
                missing = True
            except (Failed, OSError, ValueError, KeyError, ArithmeticError, subprocess.TimeoutExpired) as problem:
                score.check(name, False, repr(problem))
    print(f"{score.failed} failed")
    return 1 if score.failed else 77 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
