#!/usr/bin/env python3
"""`tacho load` from end to end, against a server with exact known timing (exact_server.py) and against simulated engines:
the figures, every output, arrivals, scenarios and sweeps.

usage: check_load.py TACHO [--only NAME ...]
"""
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import time

import processes
import scenario
from exact_server import ExactServer
from loads import DONE, FIXED, ROOT, UNREADABLE, USAGE, load, near, percentile, records_of, run
from scenario import check, simulation, target

sys.path.append(str(ROOT / "tests/support"))
from corpus import corpus  # noqa: E402


def figures(folder):
    """The output is what the server did, and all outputs agree."""
    with ExactServer(ttft=0.05, gap=0.01) as server:
        told = load("figures", server.url, *FIXED, "--requests", 24, "--concurrency", 6, "--records", f"{folder}/r.jsonl",
                    "--vllm-json", f"{folder}/v.json", "--goodput", "ttft:5000", "e2el:10s")
        truth = {r["headers"]["x-request-id"]: r for r in server.requests}
    whole, records = told["whole"], records_of(f"{folder}/r.jsonl")
    check("figures: counts", (whole["sent"], whole["done"], whole["output_tokens"], whole["prompt_tokens"]) == (24, 24, 288, 768), whole)
    check("figures: goodput", whole["good"] == 24, whole)
    check("figures: bound", server.most_at_once <= 6 and told["concurrency"]["peak"] <= 6, (server.most_at_once, told["concurrency"]))
    check("figures: kept alive", server.connections <= 8, server.connections)
    ttft_off, end_off = [], []
    for record in records:
        true = truth[record["id"]]
        check("figures: order of times", record["intended_ns"] <= record["sent_ns"] <= record["first_byte_ns"]
              <= record["first_token_ns"] < record["last_token_ns"] <= record["ended_ns"], record)
        ttft_off.append(record["first_token_ns"] - record["sent_ns"] - (true["first_ns"] - true["arrived_ns"]))
        end_off.append(record["last_token_ns"] - record["sent_ns"] - (true["last_ns"] - true["arrived_ns"]))
        check("figures: a chunk a token", record["chunk_tokens"] == [1] * 12 and sum(record["chunk_dt_ns"])
              == record["last_token_ns"] - record["sent_ns"], record)
    # The server's clock reading and writing come in between.
    check("figures: TTFT", abs(statistics.median(ttft_off)) < 5e6, ttft_off)
    check("figures: last token", abs(statistics.median(end_off)) < 5e6, end_off)
    ttfts = [r["first_token_ns"] - r["sent_ns"] for r in records]
    e2es = [r["last_token_ns"] - r["sent_ns"] for r in records]
    tpots = [(e - t) / 11 for e, t in zip(e2es, ttfts)]
    for name, samples in (("ttft", ttfts), ("tpot", tpots), ("e2e", e2es)):
        for key, value in (("mean_ns", statistics.mean(samples)), ("std_ns", statistics.pstdev(samples)), ("p50_ns", percentile(samples, 50)),
                           ("p90_ns", percentile(samples, 90)), ("p99_ns", percentile(samples, 99)), ("max_ns", max(samples))):
            check(f"figures: {name} {key}", near(whole[name][key], value, least=2), (whole[name], value))
    true_tpots = [(t["last_ns"] - t["first_ns"]) / 11 for t in truth.values()]
    check("figures: TPOT is the server's", near(whole["tpot"]["p50_ns"], statistics.median(true_tpots), 0.1), (whole["tpot"], true_tpots))
    check("figures: ITL is the gap", whole["itl"]["count"] == whole["chunk_gap"]["count"] == 24 * 11, whole["itl"])
    check("figures: throughput", near(whole["output_tokens_per_s"] * whole["duration_ns"] / 1e9, 288, 1e-6)
          and near(whole["requests_per_s"] * whole["duration_ns"] / 1e9, 24, 1e-6), whole)
    end = max(r["ended_ns"] for r in records) - min(r["intended_ns"] for r in records)
    check("figures: duration", near(whole["duration_ns"], end, least=3e6), (whole["duration_ns"], end))
    check("figures: clocks", all(near(r["sent_unix_ns"], time.time_ns(), least=60e9) for r in records))
    held_against_vllm(json.loads(pathlib.Path(f"{folder}/v.json").read_text()), whole)


def held_against_vllm(ours, whole):
    """The result file, key by key, against one that vLLM wrote; its metrics from its own arrays."""
    if real := corpus("our result file against one of vLLM's"):
        theirs = json.loads((real / "live-vllm-cpu/bench/result.json").read_text())
        check("vllm-json: keys in their order", [k for k in ours if k != "request_goodput"]
              == [k for k in theirs if k != "request_goodput"], list(ours))
        for key, value in theirs.items():
            if value is None or key in ("label", "request_rate", "max_concurrency"):
                continue
            same = type(ours[key]) is type(value) or (isinstance(value, float) and isinstance(ours[key], float))
            check(f"vllm-json: type of {key}", same, (key, ours[key], value))
    check("vllm-json: arrays", all(len(ours[k]) == 24 for k in (
        "input_lens", "output_lens", "ttfts", "itls", "latencies", "start_times", "queue_times", "generated_texts", "errors")))
    check("vllm-json: text", ours["generated_texts"][0] == " word" * 12, ours["generated_texts"][0])
    tpots = [(e - t) / (n - 1) for e, t, n in zip(ours["latencies"], ours["ttfts"], ours["output_lens"])]
    for name, samples in (("ttft", ours["ttfts"]), ("tpot", tpots), ("itl", sum(ours["itls"], [])), ("e2el", ours["latencies"])):
        for key, value in (("mean", statistics.mean(samples)), ("median", percentile(samples, 50)),
                           ("std", statistics.pstdev(samples)), ("p99", percentile(samples, 99))):
            check(f"vllm-json: {key}_{name}_ms", near(ours[f"{key}_{name}_ms"], value * 1e3, 1e-9, 1e-6), (name, key))
    check("vllm-json: as the other", near(ours["mean_ttft_ms"] * 1e6, whole["ttft"]["mean_ns"], least=2)
          and near(ours["output_throughput"], whole["output_tokens_per_s"], 1e-9), ours["mean_ttft_ms"])


def outputs(folder):
    """The table, the files of vLLM's flags, the live line."""
    with ExactServer() as server:
        done = run(server.url, *FIXED, "--requests", 6, "--concurrency", 3, "--metric-percentiles", "50,99.9", "--slo", "ttft:1ms")
        check("table: status", done.returncode == DONE and not done.stderr, done.stderr)
        for line in ("============ Serving Benchmark Result ============", "Successful requests:                     6         ",
                     "Maximum request concurrency:             3         ", "Total generated tokens:                  72        ",
                     "---------------Time to First Token----------------", "-----Time per Output Token (excl. 1st token)------"):
            check("table: " + line.strip(" =-"), line in done.stdout.splitlines(), done.stdout)
        check("table: percentiles", "P99.9 TTFT (ms):" in done.stdout and "P99 TTFT" not in done.stdout, done.stdout)
        check("table: SLO", "0 of 6 requests sent kept ttft:1ms (0.0 %)" in done.stdout, done.stdout)
        common = [server.url, *FIXED, "--requests", 2, "--save-result", "--label", "mine", "--metadata", "gpu=none", "--result-dir", folder]
        run(*common)
        found = list(pathlib.Path(folder).glob("mine-infqps-concurrency8-exact-*.json"))
        check("save-result: name", len(found) == 1, os.listdir(folder))
        saved = json.loads(found[0].read_text()) if found else {}
        check("save-result: no details", saved.get("gpu") == "none" and saved.get("label") == "mine" and "ttfts" not in saved, saved)
        for _ in range(2):
            run(*common, "--save-detailed", "--append-result", "--result-filename", "all.json")
        lines = records_of(f"{folder}/all.json")
        check("append-result", len(lines) == 2 and all(len(one["ttfts"]) == 2 for one in lines), lines)
        server.requests.clear()
        done = run(server.url, *FIXED, "--requests", 2, "--records", f"{folder}/all.json/r.jsonl")
        check("no folder: status", done.returncode == UNREADABLE and "all.json" in done.stderr, (done.returncode, done.stderr))
        check("no folder: told before the load", server.requests == [] and done.stdout == "", done.stdout)
        done = run(server.url, *FIXED, "--requests", 2, "--records", f"{folder}/same", "--plan", f"{folder}/same")
        check("one file for two outputs", done.returncode == USAGE and "two outputs" in done.stderr and server.requests == [], done.stderr)
        os.symlink("/dev/full", f"{folder}/full")
        done = run(server.url, *FIXED, "--requests", 2, "--records", f"{folder}/full")
        check("full disk: status", done.returncode == UNREADABLE and "No space left" in done.stderr, (done.returncode, done.stderr))
        check("full disk: the figures are printed all the same", "Successful requests:" in done.stdout, done.stdout)
        check("full disk: the device is left alone", os.path.islink(f"{folder}/full"))
        with open(f"{folder}/full", "w") as full:
            done = subprocess.run([scenario.TACHO, "load", server.url, *FIXED, "--requests", "2", "--records", f"{folder}/kept"], stdout=full,
                                  stderr=subprocess.PIPE, text=True, timeout=60)
        check("figures that cannot be printed: status", done.returncode == UNREADABLE and "standard output" in done.stderr, done)
        check("figures that cannot be printed: the records are written", len(records_of(f"{folder}/kept")) == 2)
        os.mkfifo(f"{folder}/pipe")
        with processes.running(["cat", f"{folder}/pipe"], stdout=subprocess.PIPE, text=True) as reader:
            run(server.url, *FIXED, "--requests", 2, "--records", f"{folder}/pipe")
            check("pipe: the records", len(reader.communicate(timeout=60)[0].splitlines()) == 2)
        with open(f"{folder}/out", "w") as out:
            subprocess.run([scenario.TACHO, "load", server.url, *FIXED, "--requests", "2", "--records", "/dev/stdout"], stdout=out, check=True, timeout=60)
        text = pathlib.Path(f"{folder}/out").read_text()
        check("standard output: the records behind the table", text.startswith("====") and text.count('"scenario"') == 2, text)
        os.symlink(f"{folder}/all.json", f"{folder}/link")
        run(server.url, *FIXED, "--requests", 3, "--records", f"{folder}/link")
        check("link: its target", os.path.islink(f"{folder}/link") and len(records_of(f"{folder}/all.json")) == 3)
        done = run(f"{server.url}/v1/", *FIXED, "--requests", 2, "--no-streaming")
        check("an OpenAI client's base URL", done.returncode == DONE, done.stderr)
        check("no stream: no peak of its chunks", "Peak output" not in done.stdout and "Peak concurrent" in done.stdout, done.stdout)
        done = run(server.url, *FIXED, "--requests", 4, "--concurrency", 2, "--duration", "30s", "--extra-body", '{"max_tokens":200}')
        check("longer than planned as asked for", done.returncode == DONE and "4 outputs did not have" in done.stdout, done.stdout)
        server.requests.clear()
        told = load("plan", server.url, "--mix", "chat=50,code=50", "--think", "1ms", "--concurrency", 2, "--requests", 6, "--seed", 3,
                    "--max-model-len", 300, "--plan", f"{folder}/p.json")["plan"]
        plan = json.loads(pathlib.Path(folder, "p.json").read_text())
        requests = plan.pop("list")
        check("plan: the file begins as the figures", plan == told, (plan, told))
        check("plan: what was asked for", (told["arrivals"], told["mix"], told["think_ns"], told["most_total_tokens"], told["seed"])
              == ("users", {"chat": 50, "code": 50}, 1_000_000, 300, 3) and "dataset" not in told and "rate" not in told, told)
        check("plan: each request, as it came", sorted((r["prompt_tokens"], r["output_tokens"]) for r in requests)
              == sorted((len(r["body"]["prompt"]), r["body"]["max_tokens"]) for r in server.requests) and len(requests) == 6, requests)
        told = load("plan of a ramp", server.url, *FIXED, "--requests", 2, "--ramp-up-strategy", "linear", "--ramp-up-start-rps", 5,
                    "--ramp-up-end-rps", 50, "--shared-prefix", 0.5, "--burstiness", "inf")["plan"]
        check("plan of a ramp", told["ramp"] == {"shape": "linear", "from_rate": 5, "to_rate": 50} and told["shared_prefix"] == 0.5
              and told["arrivals"] == "even" and told["prompt_tokens"] == 32 and "mix" not in told and "burstiness" not in told, told)


def progress(folder):
    """A terminal has one line that changes and never wraps; a log has a plain one every ten seconds."""
    with ExactServer(ttft=0.01, gap=0.005) as server:
        shown = r"load \d+ s  \d+ of 60 done, 4 running  now \S+ req/s, \S+ tok/s"
        live = terminal(100, server.url, *FIXED, "--requests", 60, "--concurrency", 4)
        check("live line", re.search(shown, live) and "\n" not in live, repr(live[-500:]))
        lines = re.findall(r"\r([^\r]*)\x1b\[K", terminal(40, server.url, *FIXED, "--requests", 60, "--concurrency", 4))
        check("narrow live line", lines[:-1] and all(len(line) <= 39 for line in lines) and "tok/s" in lines[0], lines)
        done = run(server.url, *FIXED, "--duration", "11s", "--concurrency", 2)
        check("plain line", re.fullmatch(r"load 10 s of 11 s  \d+ done, [12] running  now \S+ req/s, \S+ tok/s\n", done.stderr), done.stderr)
        done = run(server.url, *FIXED, "--duration", "11s", "--concurrency", 2, "--no-progress")
        check("no progress", done.returncode == DONE and done.stderr == "", done.stderr)


def terminal(columns, *arguments):
    """What a load writes to standard error when that is a terminal of so many columns."""
    ours, theirs = processes.open_terminal(columns)
    with processes.running([scenario.TACHO, "load", *map(str, arguments)], stdout=subprocess.DEVNULL, stderr=theirs,
                           env={**os.environ, "TERM": "xterm"}) as process:
        os.close(theirs)
        text = processes.read_to_the_end(ours, process)
    os.close(ours)
    return text.decode()


def arrivals(folder):
    def gaps(name, *arguments):
        with ExactServer(ttft=0.005, gap=0.001) as server:
            load(name, server.url, "--input-len", 8, "--output-len", 2, "--records", f"{folder}/r.jsonl", *arguments)
            arrived = sorted(r["arrived_ns"] for r in server.requests)
            at_once = server.most_at_once
        records = records_of(f"{folder}/r.jsonl")
        times = sorted(r["intended_ns"] for r in records)
        late = [r["sent_ns"] - r["intended_ns"] for r in records]
        check(f"{name}: sent at its time", percentile(late, 50) < 5e6 and min(late) >= 0, late)
        check(f"{name}: came at its time", near(arrived[-1] - arrived[0], times[-1] - times[0], least=50e6))
        return [b - a for a, b in zip(times, times[1:])], records, at_once

    even, _, _ = gaps("even", "--rate", 50, "--burstiness", "inf", "--requests", 50)
    check("even: gaps", all(near(g, 20e6, least=2) for g in even), even)
    with ExactServer(ttft=0.005, gap=0.001) as server:
        load("even, vLLM's file", server.url, "--input-len", 8, "--output-len", 2, "--rate", 50, "--burstiness", "inf", "--requests", 2,
             "--vllm-json", f"{folder}/v.json")
        written = json.loads(pathlib.Path(f"{folder}/v.json").read_text())
        check("even, vLLM's file: burstiness as Python writes it", written["burstiness"] == float("inf"), written["burstiness"])
    poisson, _, _ = gaps("poisson", "--rate", 100, "--requests", 150, "--seed", 3)
    mean = statistics.mean(poisson)
    check("poisson: rate", near(mean, 10e6, 0.25), mean)
    check("poisson: deviation is the mean", near(statistics.pstdev(poisson), mean, 0.3), statistics.pstdev(poisson))
    same, _, _ = gaps("poisson again", "--rate", 100, "--requests", 150, "--seed", 3)
    check("poisson: the seed decides", same == poisson)
    bursty, _, _ = gaps("bursty", "--rate", 100, "--burstiness", 0.25, "--requests", 150)
    check("bursty: deviation is twice the mean", near(statistics.pstdev(bursty), 2 * statistics.mean(bursty), 0.35), bursty)
    ramp, _, _ = gaps("ramp", "--ramp-up-strategy", "linear", "--ramp-up-start-rps", 10, "--ramp-up-end-rps", 90, "--duration", "3s",
                      "--burstiness", "inf")
    check("ramp: ends faster", statistics.mean(ramp[-20:]) < 0.3 * statistics.mean(ramp[:10]), ramp)
    _, records, at_once = gaps("all at once", "--rate", "inf", "--requests", 40)
    check("all at once", at_once > 20 and len(records) == 40, at_once)
    _, records, _ = gaps("duration", "--rate", 40, "--duration", "1s")
    check("duration: no request later", max(r["intended_ns"] for r in records) - min(r["intended_ns"] for r in records) <= 1e9)
    with ExactServer(ttft=0.005, gap=0.001) as server:
        began = time.monotonic()
        load("think", server.url, "--input-len", 8, "--output-len", 2, "--concurrency", 4, "--requests", 40, "--think", "100ms")
        check("think: users pause", server.most_at_once <= 4 and time.monotonic() - began > 0.5, time.monotonic() - began)
    with ExactServer(ttft=0.2, gap=0.001) as server:
        told = load("capped", server.url, "--input-len", 8, "--output-len", 2, "--rate", 40, "--concurrency", 2, "--requests", 20)
        check("capped: the queue is told, and not hidden", server.most_at_once <= 2 and told["whole"]["queue"]["max_ns"] > 5e8
              and told["whole"]["intended_ttft"]["max_ns"] > 5e8 > told["whole"]["ttft"]["max_ns"], told["whole"])


def sweep(folder):
    with simulation(folder, "--max-num-seqs", "8", "--speed", "1") as addresses:
        url = target(addresses)[0]
        told = load("sweep", url, *FIXED, "--duration", "1s", "--sweep", "concurrency=1,2,4..32")
        levels = told["levels"]
        check("sweep: who wrote it", list(told["tacho"]) == ["version"], told["tacho"])
        check("sweep: levels", [one["level"] for one in levels] == [1, 2, 4, 8, 16, 32], levels)
        check("sweep: more users, more tokens", levels[3]["output_tokens_per_s"] > 2 * levels[0]["output_tokens_per_s"], levels)
        check("sweep: beyond the batch they wait", levels[5]["ttft_p50_ns"] > 2 * levels[2]["ttft_p50_ns"], levels)
        power = {one["level"]: one["output_tokens_per_s"] / one["e2e_p50_ns"] for one in levels if not one["client_bound"]}
        check("sweep: the knee is where throughput over latency is largest", told.get("knee") == max(power, key=power.get, default=None), (told, power))
        done = run(url, *FIXED, "--duration", "1s", "--sweep", "concurrency=1,32,64", "--slo", "ttft:100ms")
        check("sweep: a line a level", re.findall(r"^at once (\d+): \d+ done, [\d.,]+ req/s, [\d.,]+ tok/s$", done.stderr, re.M)
              == ["1", "32"][:len(re.findall(r"^at once", done.stderr, re.M))] != [], done.stderr)
        check("sweep: an SLO breaks", done.returncode == DONE and "breaks the SLO" in done.stdout and not re.search(r"^ +64 ", done.stdout, re.M), done.stdout + done.stderr)
        told = load("rates", url, *FIXED, "--duration", "1s", "--slo", "ttft:10s", "--seed", 1, "--sweep", "rate=0.0001,20")
        # A client without a free core cannot tell when a first token came: it says so, and how many kept the SLO stays unsaid.
        first, second = told["levels"]
        check("sweep: a level at which nothing arrives breaks nothing", first["done"] == 0 < second["done"] and "knee" not in told
              and "attained" not in first and ("attained" in second or second["client_bound"]), told)
        told = load("rates", url, *FIXED, "--duration", "1s", "--sweep", "rate=5,20")
        check("sweep: rates", told["sweep"] == "rate" and near(told["levels"][1]["done"], 20, 0.8), told)
        done = run(url, *FIXED, "--duration", "1s", "--sweep", "concurrency=1,2", "--records", f"{folder}/r.jsonl")
        check("sweep: no files of one level", done.returncode == USAGE and "--records" in done.stderr, (done.returncode, done.stderr))


def scenarios(folder):
    """Each scenario against a simulated engine: prompts, lengths, sessions; warm-ups do not count."""
    with simulation(folder, "--speed", "20") as addresses:
        url = target(addresses)[0]
        for name in ("chat", "rag", "code", "longchat", "summarisation", "reasoning", "agent", "rl-rollout"):
            told = load(name, url, "--scenario", name, "--requests", 4, "--max-model-len", 3000)
            check(f"{name}: done", told["whole"]["done"] == 4 and told["whole"]["wrong_length"] == 0, told["whole"])
        told = load("mix", url, "--mix", "chat=50,code=50", "--requests", 30, "--num-warmups", 3, "--max-model-len", 2000)
        check("mix: each scenario", {one["scenario"] for one in told["scenarios"]} == {"chat", "code"}
              and sum(one["sent"] for one in told["scenarios"]) == 30, told["scenarios"])
        first = load("cached", url, *FIXED, "--requests", 4, "--shared-prefix", 1, "--salt", 3, "--input-len", 640)
        again = load("cached again", url, *FIXED, "--requests", 4, "--shared-prefix", 1, "--salt", 3, "--input-len", 640)
        check("cached: told", again["whole"].get("cached_tokens", 0) >= first["whole"].get("cached_tokens", 0), again["whole"])
        done = run("--base-url", url, "--dataset-name", "random", "--random-input-len", 20, "--random-output-len", 5, "--num-prompts", 7,
                   "--backend", "vllm", "--disable-tqdm", "--tokenizer", "x", "--ignore-eos", "--percentile-metrics", "ttft,e2el")
        check("as vllm bench serve", done.returncode == DONE and "Successful requests:                     7" in done.stdout
              and "End-to-end Latency" in done.stdout and "Inter-token" not in done.stdout, done.stdout + done.stderr)


scenario.main([figures, outputs, progress, arrivals, sweep, scenarios], __doc__)
