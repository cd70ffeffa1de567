#!/usr/bin/env python3
"""`tacho load` from end to end, against a server with exact known timing (exact_server.py) and against simulated engines:
the figures, every output, every way of sending, every API, and what happens with bad input and bad servers.

usage: check_load.py TACHO [--only NAME]
"""
import collections
import json
import os
import pathlib
import pty
import re
import resource
import select
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time

import jsonschema

import check_record
from check_record import check, simulation, target
from exact_server import ExactServer

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCHEMA = jsonschema.Draft202012Validator(json.loads((ROOT / "docs/load.schema.json").read_text()))
TACHO = None
DONE, USAGE, UNREADABLE, INCOMPLETE, REMOTE, INTERRUPTED = 0, 2, 3, 4, 6, 130
FIXED = ["--input-len", "32", "--output-len", "12"]


def run(*arguments, timeout=120, cwd=None, descriptors=None):
    """`descriptors`: the limits of open files, soft and hard."""
    limit = descriptors and (lambda: resource.setrlimit(resource.RLIMIT_NOFILE, descriptors))
    return subprocess.run([TACHO, "load", *map(str, arguments)], capture_output=True, text=True, timeout=timeout, cwd=cwd, preexec_fn=limit)


def load(name, *arguments, status=DONE):
    """A load with --json: its figures, or None. The exit status is checked."""
    done = run(*arguments, "--json")
    check(f"{name}: status", done.returncode == status, f"{done.returncode}\n{done.stdout[-800:]}\n{done.stderr[-800:]}")
    try:
        told = json.loads(done.stdout)
    except ValueError:
        check(f"{name}: JSON", False, done.stdout[:300] + done.stderr[:300])
        return None
    if "levels" not in told:
        errors = [f"{error.json_path}: {error.message[:200]}" for error in SCHEMA.iter_errors(told)]
        check(f"{name}: docs/load.schema.json", not errors, errors[:3])
    return told


def records_of(path):
    return [json.loads(line) for line in pathlib.Path(path).read_text().splitlines()]


def near(a, b, share=0.0, least=0.0):
    return abs(a - b) <= max(share * abs(b), least)


def percentile(samples, percent):
    """numpy.percentile's linear rule."""
    ordered = sorted(samples)
    at = (len(ordered) - 1) * percent / 100
    low = int(at)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (at - low)


def figures(folder):
    """What is printed is what the server did, and every output tells the same."""
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
    # The server's own clock reading and writing lie in between.
    check("figures: TTFT", abs(statistics.median(ttft_off)) < 5e6, ttft_off)
    check("figures: last token", abs(statistics.median(end_off)) < 5e6, end_off)
    ttfts = [r["first_token_ns"] - r["sent_ns"] for r in records]
    e2es = [r["last_token_ns"] - r["sent_ns"] for r in records]
    tpots = [(e - t) / 11 for e, t in zip(e2es, ttfts)]
    for name, samples in (("ttft", ttfts), ("tpot", tpots), ("e2e", e2es)):
        for key, value in (("mean_ns", statistics.mean(samples)), ("std_ns", statistics.pstdev(samples)), ("p50_ns", percentile(samples, 50)),
                           ("p90_ns", percentile(samples, 90)), ("p99_ns", percentile(samples, 99)), ("max_ns", max(samples))):
            check(f"figures: {name} {key}", near(whole[name][key], value, least=2), (whole[name], value))
    check("figures: TPOT is the server's", near(whole["tpot"]["p50_ns"], 10e6, 0.1), whole["tpot"])
    check("figures: ITL is the gap", whole["itl"]["count"] == whole["chunk_gap"]["count"] == 24 * 11, whole["itl"])
    check("figures: throughput", near(whole["output_tokens_per_s"] * whole["duration_ns"] / 1e9, 288, 1e-6)
          and near(whole["requests_per_s"] * whole["duration_ns"] / 1e9, 24, 1e-6), whole)
    end = max(r["ended_ns"] for r in records) - min(r["intended_ns"] for r in records)
    check("figures: duration", near(whole["duration_ns"], end, least=3e6), (whole["duration_ns"], end))
    check("figures: clocks", all(near(r["sent_unix_ns"], time.time_ns(), least=60e9) for r in records))
    held_against_vllm(json.loads(pathlib.Path(f"{folder}/v.json").read_text()), whole)


def held_against_vllm(ours, whole):
    """The result file, key by key, against one that vLLM wrote; its metrics from its own arrays."""
    live = pathlib.Path(os.environ.get("TACHO_CORPUS") or ROOT / ".." / "shared" / "traces") / "live-vllm-cpu/bench/result.json"
    if live.exists():
        theirs = json.loads(live.read_text())
        check("vllm-json: keys in their order", [k for k in ours if k != "request_goodput"]
              == [k for k in theirs if k != "request_goodput"], list(ours))
        for key, value in theirs.items():
            if value is None or key in ("label", "request_rate", "max_concurrency"):
                continue
            same = type(ours[key]) is type(value) or (isinstance(value, float) and isinstance(ours[key], float))
            check(f"vllm-json: type of {key}", same, (key, ours[key], value))
    else:
        print("*** the corpus is not here (TACHO_CORPUS): vLLM's own result file was not held against ours")
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
        done = run(server.url, *FIXED, "--requests", 2, "--records", f"{folder}/all.json/r.jsonl")
        check("no folder: status", done.returncode == UNREADABLE and "all.json" in done.stderr, (done.returncode, done.stderr))
        check("no folder: the figures are printed all the same", "Successful requests:" in done.stdout, done.stdout)
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
        live = terminal(server.url, *FIXED, "--requests", 60, "--concurrency", 4)
        check("live line", re.search(r"load \d+ s  \d+ of 60 sent, 4 running, \d+ done  \S+ req/s, \S+ tok/s", live), repr(live[-500:]))


def terminal(*arguments):
    """What a load writes to standard error when that is a terminal."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen([TACHO, "load", *map(str, arguments)], stdout=subprocess.DEVNULL, stderr=theirs,
                               env={**os.environ, "TERM": "xterm"})
    os.close(theirs)
    text = b""
    while select.select([ours], [], [], 60)[0]:
        try:
            text += os.read(ours, 4096)
        except OSError:
            break
    process.wait(60)
    os.close(ours)
    return text.decode()


def apis(folder):
    for api in ("completions", "chat", "generate"):
        for tokens in (1, 14):
            with ExactServer(tokens_a_chunk=tokens) as server:
                told = load(f"{api} {tokens}", server.url, "--api", api, "--input-len", 32, "--output-len", 30, "--requests", 6,
                            "--records", f"{folder}/r.jsonl")
                whole, record = told["whole"], records_of(f"{folder}/r.jsonl")[0]
            check(f"{api} {tokens}: tokens", whole["output_tokens"] == 180 and record["counted_by"] == "usage", whole)
            check(f"{api} {tokens}: of each chunk", record["chunk_tokens"] == ([1] * 30 if tokens == 1 else [14, 14, 2]), record)
            check(f"{api} {tokens}: ITL is a token's, chunk_gap a chunk's", whole["itl"]["count"] == 6 * (29 if tokens == 1 else 16)
                  and whole["chunk_gap"]["count"] == 6 * (29 if tokens == 1 else 2), whole)
            ttft = percentile([r["first_token_ns"] - r["sent_ns"] for r in records_of(f"{folder}/r.jsonl")], 50)
            check(f"{api} {tokens}: TTFT is of the first token", ttft > 29e6, ttft)
        with ExactServer() as server:
            told = load(f"{api} whole", server.url, "--api", api, "--no-streaming", *FIXED, "--requests", 4)
            check(f"{api} whole: tokens", told["whole"]["output_tokens"] == 48 and "ttft" not in told["whole"], told["whole"])
            check(f"{api} whole: asked for", not server.requests[0]["body"].get("stream"), server.requests[0]["body"])
    for engine in ("vllm", "sglang"):
        with simulation(f"{folder}/{engine}", "--engine", engine, "--router", engine, "--count", "2", "--stream-interval", "4") as told:
            for api in ("completions", "chat") + (("generate",) if engine == "sglang" else ()):
                got = load(f"{engine} {api}", *target(told), "--api", api, *FIXED, "--requests", 8)
                check(f"simulated {engine} {api}", got and got["whole"]["done"] == 8 and got["whole"]["output_tokens"] == 96, got)


def token_ids(folder):
    """vllm-router keeps running totals back: there, and there alone, the ids of the tokens are asked for. A chunk is
    counted once, whatever tells its tokens."""
    cases = (("vllm", [], "token_ids"), ("vllm", ["--api", "chat"], "token_ids"), ("sglang", [], "chunks"))
    for engine, more, by in cases:
        name = f"{engine} router {' '.join(more)}"
        with simulation(f"{folder}/{engine}", "--engine", engine, "--router", engine, "--stream-interval", "4") as told:
            got = load(name, *target(told), *more, *FIXED, "--requests", 6, "--records", f"{folder}/r.jsonl")
            records = records_of(f"{folder}/r.jsonl")
            worker = [w["url"] if isinstance(w, dict) else w for w in told["workers"]][0]
            check(f"{name}: tokens", got["whole"]["output_tokens"] == 72 and got["whole"]["wrong_length"] == 0, got["whole"])
            check(f"{name}: counted by {by}", {r["counted_by"] for r in records} == {by}, records[0])
            check(f"{name}: of each chunk", all(sum(r["chunk_tokens"]) == 12 for r in records), records[0])
            if by == "token_ids":
                check(f"{name}: several in a chunk", all(max(r["chunk_tokens"]) == 4 for r in records), records[0])
                got = load(f"{name}: both", worker, *more, *FIXED, "--requests", 6, "--extra-body", '{"return_token_ids":true}',
                           "--records", f"{folder}/r.jsonl")
                records = records_of(f"{folder}/r.jsonl")
                check(f"{name}: both count once", got["whole"]["output_tokens"] == 72 and {r["counted_by"] for r in records} == {"usage"},
                      records[0])
    with ExactServer() as server:
        load("no router", server.url, *FIXED, "--requests", 2)
        check("no router: ids are not asked for", not any("return_token_ids" in r["body"] for r in server.requests), server.requests[0])


def profile(folder):
    """--profile is a recording of this very load: table, proofs, screen, run folder and the files that were asked for."""
    with simulation(f"{folder}/two", "--count", "2", "--router", "vllm") as addresses:
        common = [*target(addresses), *FIXED, "--requests", 24, "--concurrency", 4, "--profile", "--out", f"{folder}/runs", "--seed", 7,
                  "--request-id-prefix", "mine-", "--api", "chat", "--temperature", "0.5"]
        done = run(*common, "--api-key", "hush", "--header", "Authorization=Bearer hush", "--records", f"{folder}/r.jsonl",
                   "--plan", f"{folder}/p.json", "--vllm-json", f"{folder}/v.json")
        check("profile: status", done.returncode == DONE, (done.returncode, done.stdout[-2000:], done.stderr))
        for words in ("Successful requests:                     24", "2 of 2 ranks proven", "WHERE DEVICE TIME GOES", " folder "):
            check(f"profile: {words.strip()}", words in done.stdout, done.stdout)
        runs = list(pathlib.Path(folder, "runs").iterdir())
        report = json.loads((runs[0] / "run.json").read_text())
        check("profile: a run folder", len(runs) == 1 and report["complete"] and report["exit_status"] == 0, report)
        check("profile: all of the load is in the window", report["profiled"]["requests_done"] == 24 and "baseline" not in report,
              report.get("profiled"))
        script = (runs[0] / "commands.sh").read_text()
        check("profile: the command, without its key", "\ntacho load http" in script and "hush" not in script
              and "hush" not in (runs[0] / "run.json").read_text(), script)
        check("profile: the files of a load are the folder's", (runs[0] / "plan.json").read_text() == pathlib.Path(folder, "p.json").read_text()
              and (runs[0] / "requests.jsonl").read_text() == pathlib.Path(folder, "r.jsonl").read_text())
        records, written = records_of(f"{folder}/r.jsonl"), json.loads(pathlib.Path(folder, "v.json").read_text())
        check("profile: the load's own flags", len(records) == 24 and all(r["id"].startswith("mine-") and r["url"] == target(addresses)[0]
              for r in records) and written["completed"] == 24 and written["backend"] == "openai-chat", records[0])
        told = load("profile, JSON", *common, "--steps", 10)
        check("profile, JSON: names the recording", told and told["recording"]["complete"]
              and pathlib.Path(told["recording"]["folder"], "run.json").is_file(), told and told.get("recording"))
        second = json.loads(pathlib.Path(told["recording"]["folder"], "run.json").read_text())
        check("profile: --steps bounds the traces, not the load", told["whole"]["done"] == 24
              and all(rank["steps"] == 10 for worker in second["workers"] for rank in worker["ranks"]), second["workers"])
    with simulation(f"{folder}/crash", "--count", "2", "--router", "vllm", "--fault", "lose-rank@1:0") as addresses:
        done = run(*target(addresses), *FIXED, "--requests", 8, "--profile", "--out", f"{folder}/crashed", "--flush-timeout", "5s")
        check("profile: a trace that is missing", done.returncode == INCOMPLETE and "Successful requests:                     8" in done.stdout
              and "missing" in done.stdout, (done.returncode, done.stdout[-1500:], done.stderr))
    with ExactServer() as server:
        done = run(server.url, *FIXED, "--requests", 2, "--profile", "--out", f"{folder}/none")
        check("profile: no engine, no load", done.returncode == REMOTE and not server.requests and not os.listdir(f"{folder}/none"),
              (done.returncode, done.stderr))


def flags(folder):
    """Each option of vLLM's client is known, or refused with a reason and what to do."""
    del folder
    recorded = json.loads((ROOT / "tests/data/vllm_bench_flags.json").read_text())
    check("flags: the list", len(recorded["flags"]) > 90 and recorded["version"].startswith("0.32"), recorded["version"])
    counts = collections.Counter()
    for flag, value in recorded["flags"].items():
        for name in {flag, "--" + flag[2:].replace("-", "_")}:
            done = run("http://127.0.0.1:1", name, *([] if value is None else [value]))
            if done.returncode == USAGE:
                reason = done.stderr.partition(flag)[2]
                check(f"{name}: refused with a reason", "unknown option" not in done.stderr and len(reason) > 30, done.stderr)
            else:
                check(f"{name}: known", done.returncode in (REMOTE, UNREADABLE), (done.returncode, done.stderr))
            counts[done.returncode] += 1
    check("flags: most are known", counts[REMOTE] > 100, counts)


def wire(folder):
    """What goes out: keys, headers, bodies, ids, several servers."""
    with ExactServer() as one, ExactServer() as two:
        load("wire", one.url, two.url, *FIXED, "--requests", 8, "--api-key", "secret", "--header", "X-Team=blue", "X-Tier: gold",
             "--extra-body", '{"top_k": 7, "nested": {"a": [1, 2]}, "max_tokens": 5}', "--temperature", "0.5", "--request-id-prefix", "mine-",
             "--natural-length", status=DONE)
        check("wire: round robin", (len(one.requests), len(two.requests)) == (4, 4), (len(one.requests), len(two.requests)))
        request = one.requests[0]
        headers, body = request["headers"], request["body"]
        check("wire: headers", headers["authorization"] == "Bearer secret" and headers["x-team"] == "blue" and headers["x-tier"] == "gold", headers)
        check("wire: id", headers["x-request-id"] == "mine-0", headers)
        check("wire: body", body["top_k"] == 7 and body["nested"] == {"a": [1, 2]} and body["temperature"] == 0.5, body)
        check("wire: a field of ours is replaced", body["max_tokens"] == 5 and "ignore_eos" not in body, body)
        check("wire: ids", len(body["prompt"]) == 32 and all(isinstance(t, int) for t in body["prompt"]), body["prompt"])
        check("wire: of the tokenizer", all(5 <= t < 5000 for t in body["prompt"]), body["prompt"])
    with ExactServer(gap=0.002) as one, ExactServer(gap=0.002) as two:
        load("sessions", one.url, two.url, "--scenario", "agent", "--output-len", 4, "--requests", 30, "--concurrency", 10,
             "--records", f"{folder}/r.jsonl", "--max-model-len", 4000)
        by_session = collections.defaultdict(set)
        for record in records_of(f"{folder}/r.jsonl"):
            if "session" in record:
                by_session[record["session"]].add(record["url"])
        check("sessions: each at one server", by_session and all(len(urls) == 1 for urls in by_session.values()), by_session)
        check("sessions: both servers", len(set().union(*by_session.values())) == 2, by_session)
    with ExactServer() as server:
        for salt in ([], [], ["--salt", "1"], ["--salt", "1"]):
            load("salts", server.url, *FIXED, "--requests", 1, *salt)
        prompts = [tuple(r["body"]["prompt"]) for r in server.requests]
        check("salts: fresh ones differ", prompts[0] != prompts[1] and prompts[0][:16] != prompts[1][:16], prompts)
        check("salts: a given one decides", prompts[2] == prompts[3], prompts)
        server.requests.clear()
        load("shared prefix", server.url, "--input-len", 40, "--output-len", 2, "--requests", 6, "--shared-prefix", 0.5)
        prompts = [r["body"]["prompt"] for r in server.requests]
        shared = [sum(1 for a, b in zip(prompts[0], p) if a == b) for p in prompts[1:]]
        check("shared prefix: half", all(p[:20] == prompts[0][:20] for p in prompts) and all(20 <= s < 30 for s in shared), shared)


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


def datasets(folder):
    def write(name, content):
        path = pathlib.Path(folder) / name
        path.write_text(content)
        return str(path)
    trace = write("trace.jsonl", "".join(json.dumps({"timestamp": t, "input_length": 40, "output_length": n, "hash_ids": [1, t]}) + "\n"
                                         for t, n in ((1000, 3), (1200, 5), (1900, 4))))
    with ExactServer(gap=0.001) as server:
        load("replay", server.url, "--dataset", trace, "--replay", "--timed-trace-chunk-hash-size", 16)
        arrived = [r["arrived_ns"] - server.requests[0]["arrived_ns"] for r in server.requests]
        check("replay: times", len(arrived) == 3 and near(arrived[1], 200e6, least=40e6) and near(arrived[2], 900e6, least=40e6), arrived)
        check("replay: lengths", [r["body"]["max_tokens"] for r in server.requests] == [3, 5, 4], server.requests)
        prompts = [r["body"]["prompt"] for r in server.requests]
        check("replay: blocks", len(prompts[0]) == 40 and prompts[0][:16] == prompts[1][:16] and prompts[0][16:32] != prompts[1][16:32], prompts)
        server.requests.clear()
        load("faster", server.url, "--dataset", trace, "--replay-speed", 3)
        arrived = [r["arrived_ns"] - server.requests[0]["arrived_ns"] for r in server.requests]
        check("replay: three times as fast", near(arrived[2], 300e6, least=40e6), arrived)
    custom = write("custom.jsonl", '{"prompt":"hello there","output_tokens":3}\n{"prompt": broken\n\n[1]\n{"prompt":"two words","output_tokens":4}\n')
    with ExactServer(gap=0.001) as server:
        done = run(server.url, "--dataset", custom, "--requests", 4, "--disable-shuffle")
        check("broken lines: go on", done.returncode == DONE, (done.returncode, done.stderr))
        check("broken lines: which", "custom.jsonl:2:" in done.stderr and "custom.jsonl:4:" in done.stderr, done.stderr)
        check("broken lines: how many", "2 broken lines" in done.stdout, done.stdout)
        check("custom: again from its beginning", [r["body"]["prompt"] for r in server.requests] == ["hello there", "two words"] * 2,
              [r["body"]["prompt"] for r in server.requests])
        check("custom: lengths", [r["body"]["max_tokens"] for r in server.requests] == [3, 4, 3, 4])
        done = run(server.url, "--dataset", custom, "--strict")
        check("strict: stops", done.returncode == UNREADABLE and "line 2" in done.stderr and not done.stdout, (done.returncode, done.stderr))
        sharegpt = write("sharegpt.json", json.dumps([
            {"id": "a", "conversations": [{"from": "human", "value": "one two three four five"}, {"from": "gpt", "value": "a b c d e f"}]},
            {"id": "b", "conversations": [{"from": "human", "value": "too short"}, {"from": "gpt", "value": "x"}]},
            {"id": "c", "conversations": [{"from": "human", "value": "alone"}]}]))
        server.requests.clear()
        load("sharegpt", server.url, "--dataset-name", "sharegpt", "--dataset-path", sharegpt, "--num-prompts", 2)
        check("sharegpt: what fits", [(r["body"]["prompt"], r["body"]["max_tokens"]) for r in server.requests]
              == [("one two three four five", 6)] * 2, [r["body"] for r in server.requests])
        server.requests.clear()
        long = write("long.jsonl", "".join(json.dumps({"prompt": "word " * n, "output_tokens": 90}) + "\n" for n in (5, 5000, 4090)))
        told = load("too long", server.url, "--dataset", long, "--requests", 2, "--disable-shuffle", "--records", f"{folder}/r.jsonl")
        check("custom: what the model cannot take is left out", "1 of 3 prompts" in str(told["remarks"]), told["remarks"])
        check("custom: counted by the server, outputs cut to the room", [(r["planned_prompt_tokens"], r["planned_output_tokens"])
              for r in records_of(f"{folder}/r.jsonl")] == [(5, 90), (4090, 6)], told)
        check("custom: the plan tells", told["plan"]["dataset"] == {"kind": "custom", "rows": 2, "path": long}
              and told["plan"]["cut_to_model"] == 1, told["plan"])
        messages = write("messages.jsonl", '{"messages":[{"role":"user","content":"hi"}],"output_tokens":3}\n')
        server.requests.clear()
        load("messages", server.url, "--api", "chat", "--dataset", messages, "--requests", 1)
        check("messages: as they are", server.requests[0]["body"]["messages"] == [{"role": "user", "content": "hi"}], server.requests[0]["body"])
        done = run(server.url, "--dataset", messages, "--requests", 1)
        check("messages: need the chat", done.returncode == USAGE and "--api chat" in done.stderr, done.stderr)
        azure = write("azure.csv", "TIMESTAMP,ContextTokens,GeneratedTokens\n2023-11-16 18:15:46.6805900,12,3\n2023-11-16 18:15:46.9951690,20,4\n")
        server.requests.clear()
        load("azure", server.url, "--dataset", azure, "--replay")
        check("azure: lengths", [(len(r["body"]["prompt"]), r["body"]["max_tokens"]) for r in server.requests] == [(12, 3), (20, 4)])
        for name, path in (("nothing", write("empty.jsonl", "")), ("prose", write("prose.txt", "no dataset at all\n")),
                           ("missing", f"{folder}/is-not-there.jsonl")):
            done = run(server.url, "--dataset", path)
            check(f"dataset, {name}", done.returncode == UNREADABLE and os.path.basename(path) in done.stderr, (done.returncode, done.stderr))


def tokenizers(folder):
    """What a tokenizer does is told as it is."""
    del folder
    for tokenizer, words in ((False, "no tokenizer route"), ("hangs", "no answer within 10 s")):
        with ExactServer(tokenizer=tokenizer) as server:
            told = load(f"tokenizer {tokenizer}", server.url, *FIXED, "--requests", 2)
            check(f"tokenizer {tokenizer}", words in str(told["remarks"]) and isinstance(server.requests[0]["body"]["prompt"], str),
                  told["remarks"])


def bad_input(folder):
    del folder
    with ExactServer(ttft=0.001, gap=0.001) as server:
        for name, words, *arguments in (
                ("scenario", "chat, rag, code", "--scenario", "chatt"),
                ("mix", "no scenario", "--mix", "chat=60,raag=40"),
                ("mix without a number", "--mix", "--mix", "chat=lots"),
                ("mix of nothing", "adds up to 0", "--mix", "chat=0"),
                ("two kinds of work", "do not go together", "--mix", "chat=1", "--scenario", "chat"),
                ("rate", "--rate", "--rate", "fast"),
                ("negative rate", "requests a second", "--rate", "-3"),
                ("duration", "--duration", "--duration", "long"),
                ("metric", "no metric", "--percentile-metrics", "ttft,speed"),
                ("percentile", "percentile", "--metric-percentiles", "101"),
                ("SLO", "--goodput", "--goodput", "speed:3"),
                ("API", "no --api", "--api", "grpc"),
                ("backend", "no --backend", "--backend", "tgi"),
                ("body", "JSON object", "--extra-body", "[1]"),
                ("broken body", "JSON object", "--extra-body", '{"a": }'),
                ("header", "KEY=VALUE", "--header", "nothing"),
                ("levels", "levels", "--sweep", "concurrency=4,2"),
                ("level of half a user", "whole", "--sweep", "concurrency=0.5,1"),
                ("think with a rate", "users who think", "--think", "1s", "--rate", "2"),
                ("replay of nothing", "dataset", "--replay"),
                ("dataset name", "--dataset-name", "--dataset-name", "sonnet"),
                ("profile of a sweep", "one load", "--profile", "--sweep", "rate=1,2"),
                ("steps of no profile", "need --profile", "--steps", "20"),
                ("option", "--concurency", "--concurency", "3"),
                ("temperature", "temperature", "--temperature", "inf")):
            done = run(server.url, *arguments)
            check(f"bad {name}: status", done.returncode == USAGE, (done.returncode, done.stderr, done.stdout[-300:]))
            check(f"bad {name}: words", words in done.stderr and not done.stdout, done.stderr)
        check("bad input: nothing was sent", not server.requests, len(server.requests))
        done = run(server.url, "--mix", "chat=60,rag=30,code=20", "--output-len", 2, "--input-len", 9, "--requests", 2)
        check("mix of 110: says so and scales", done.returncode == DONE and "110" in done.stdout + done.stderr, done.stdout)
    done = run()
    check("no server", done.returncode == USAGE and "no server given" in done.stderr, done.stderr)
    done = run("http://127.0.0.1:1", *FIXED)
    check("nobody there", done.returncode == REMOTE and "127.0.0.1:1" in done.stderr, (done.returncode, done.stderr))
    done = run("http://127.0.0.1:99999")
    check("no port", done.returncode == USAGE, (done.returncode, done.stderr))


def faults(folder):
    """Nothing hangs, what came is kept and marked, and the exit status tells."""
    def faulty(what, every=3):
        return lambda n, request: what if n % every == 1 else ""
    expected = {
        # status, failed or partial of 12, words in the first error
        "429": ("failed", "HTTP 429: told to refuse"), "503": ("failed", "HTTP 503"),
        "error inside": ("failed", "Token id 99999 is out of vocabulary"), "break off": ("partial", ""),
        "wrong usage": ("partial", "wrong usage"), "endless": ("partial", "given up"),
        "stall": ("partial", "no token for 1 s"),
    }
    for what, (status, words) in expected.items():
        with ExactServer(gap=0.002, behave=faulty(what)) as server:
            began = time.monotonic()
            told = load(f"{what}", server.url, *FIXED, "--requests", 12, "--concurrency", 3, "--stall-timeout", "1s",
                        "--records", f"{folder}/r.jsonl", status=INCOMPLETE)
            check(f"{what}: ends", time.monotonic() - began < 30, time.monotonic() - began)
        bad = [r for r in records_of(f"{folder}/r.jsonl") if r["status"] != "done"]
        check(f"{what}: which", len(bad) == 4 and all(r["status"] == status for r in bad), bad)
        check(f"{what}: why", all(words in r["error"] and r["error"] for r in bad), [r.get("error") for r in bad])
        check(f"{what}: counted", told["whole"]["done"] == 8 and told["whole"][status] == 4 and told["errors"][0]["count"] >= 1, told["whole"])
        if status == "partial":
            check(f"{what}: what came is kept apart", told["whole"]["lost_tokens"] > 0 and told["whole"]["output_tokens"] == 96, told["whole"])
    first = {}  # by request: whether its first attempt, which is reset, made a connection

    def resets_first(_, request):
        new, name = request["new_connection"], request["headers"]["x-request-id"]
        return "" if name in first else first.update({name: new}) or "reset"
    with ExactServer(behave=resets_first) as server:
        load("reset", server.url, *FIXED, "--requests", 12, "--concurrency", 6, "--records", f"{folder}/r.jsonl", status=INCOMPLETE)
        seen = {r["id"]: (r["status"], r.get("attempts", 1)) for r in records_of(f"{folder}/r.jsonl")}
        check("reset: fails on a new connection, goes out once more on a kept one, and both are told",
              seen == {name: ("failed", 1) if new else ("done", 2) for name, new in first.items()} and len(set(seen.values())) == 2,
              (seen, first))
    with ExactServer(behave=lambda n, request: "503") as server:
        done = run(server.url, *FIXED, "--requests", 6)
        check("refuses all", done.returncode == REMOTE and "HTTP 503" in done.stdout, (done.returncode, done.stdout))
    with ExactServer(behave=lambda n, request: "a page") as server:
        done = run(server.url, *FIXED, "--requests", 6)
        check("a page: is shown", done.returncode == REMOTE and "Welcome to the gateway" in done.stdout, (done.returncode, done.stdout))
    with ExactServer(behave=faulty("429")) as server:
        load("Retry-After", server.url, *FIXED, "--requests", 3, "--concurrency", 1, status=INCOMPLETE)
        waited = server.requests[2]["arrived_ns"] - server.requests[1]["arrived_ns"]
        check("Retry-After: heeded", waited >= 0.99e9, waited)
    with ExactServer(behave=faulty("429 until")) as server:
        load("Retry-After with a date", server.url, *FIXED, "--requests", 3, "--concurrency", 1, status=INCOMPLETE)
        waited = server.requests[2]["arrived_ns"] - server.requests[1]["arrived_ns"]
        check("Retry-After with a date: heeded", 1.99e9 <= waited < 4e9, waited)
    with ExactServer(behave=faulty("slow")) as server:
        told = load("slows down", server.url, *FIXED, "--requests", 6, "--slo", "e2el:1s")
        check("slows down: shows", told["whole"]["good"] == 4 and told["whole"]["chunk_gap"]["max_ns"] > 1.4e9, told["whole"])
    with ExactServer() as server:
        many = [server.url, *FIXED, "--requests", 200, "--rate", "inf"]
        done = run(*many, descriptors=(40, 2000))
        check("few descriptors: the soft limit is raised", done.returncode == DONE, (done.returncode, done.stdout[-400:], done.stderr))
        # UBSan needs descriptors of its own to look at memory.
        program = pathlib.Path(TACHO).read_bytes()
        done = None if b"__ubsan_" in program else run(*many, descriptors=(40, 100))
        check("too few descriptors: what to do", done is None or done.returncode == INCOMPLETE and "ulimit -n" in done.stdout,
              done and (done.returncode, done.stdout[-400:], done.stderr[-2000:]))
    dies_and_comes_back(folder)
    with simulation(folder, "--fault", "die-in-load@1:60") as addresses:
        done = run(target(addresses)[0], *FIXED, "--duration", "5s", "--concurrency", 4, "--json")
        told = json.loads(done.stdout)["whole"] if done.stdout else {}
        check("simulated crash", done.returncode in (INCOMPLETE, DONE) and told.get("sent", 0) > 0, (done.returncode, done.stderr, told))


def dies_and_comes_back(folder):
    port = socket.create_server(("127.0.0.1", 0))
    number = port.getsockname()[1]
    port.close()

    def serve():
        return subprocess.Popen([TACHO, "simulate", "--port", str(number), "--trace-dir", f"{folder}/t", "--speed", "5"],
                                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    server = serve()
    server.stdout.readline()
    client = subprocess.Popen([TACHO, "load", f"http://127.0.0.1:{number}", *FIXED, "--duration", "6s", "--concurrency", "2", "--json"],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    time.sleep(2)
    server.kill()
    server.wait()
    time.sleep(1)
    server = serve()
    out, err = client.communicate(timeout=120)
    server.terminate()
    server.wait()
    check("comes back: status", client.returncode == INCOMPLETE, (client.returncode, err))
    whole = json.loads(out)["whole"]
    check("comes back: used again", whole["done"] > 0 and 0 < whole["failed"] + whole["partial"] < 60, whole)
    check("comes back: its time is kept", whole["duration_ns"] > 5e9, whole)


def interrupt(folder):
    """Ctrl-C: what was measured is printed and written, and marked."""
    with ExactServer(gap=0.02) as server:
        process = subprocess.Popen([TACHO, "load", server.url, *FIXED, "--duration", "60s", "--concurrency", "4", "--json",
                                    "--records", f"{folder}/r.jsonl", "--vllm-json", f"{folder}/v.json"],
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        threading.Timer(2, process.send_signal, [signal.SIGINT]).start()
        out, err = process.communicate(timeout=60)
    check("Ctrl-C: status", process.returncode == INTERRUPTED, (process.returncode, err))
    told = json.loads(out)
    check("Ctrl-C: marked", told["ended_early"] == "stopped" and told["whole"]["cancelled"] > 0 and told["whole"]["done"] > 0, told["whole"])
    statuses = collections.Counter(r["status"] for r in records_of(f"{folder}/r.jsonl"))
    check("Ctrl-C: records", statuses["done"] == told["whole"]["done"] and statuses["cancelled"] == told["whole"]["cancelled"], statuses)
    written = json.loads(pathlib.Path(f"{folder}/v.json").read_text())
    check("Ctrl-C: vLLM's file", written["completed"] == told["whole"]["done"] and len(written["errors"]) == told["whole"]["sent"], written["completed"])
    with simulation(folder) as addresses:
        process = subprocess.Popen([TACHO, "load", *target(addresses), *FIXED, "--duration", "60s", "--profile", "--out", f"{folder}/runs",
                                    "--json", "--records", f"{folder}/r.jsonl"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        threading.Timer(3, process.send_signal, [signal.SIGINT]).start()
        out, err = process.communicate(timeout=60)
    check("Ctrl-C in a profile: status", process.returncode == INTERRUPTED and "the profilers were stopped" in err, (process.returncode, err))
    told = json.loads(out)
    recorded = json.loads(pathlib.Path(told["recording"]["folder"], "run.json").read_text())
    check("Ctrl-C in a profile: what there was is kept", told["whole"]["done"] > 0 and told["ended_early"] == "stopped"
          and recorded["interrupted"] and all(rank["proven"] for worker in recorded["workers"] for rank in worker["ranks"])
          and len(records_of(f"{folder}/r.jsonl")) == told["whole"]["sent"], recorded)


def sweep(folder):
    with simulation(folder, "--max-num-seqs", "8", "--speed", "4") as addresses:
        url = target(addresses)[0]
        told = load("sweep", url, *FIXED, "--duration", "1s", "--sweep", "concurrency=1,2,4..32")
        levels = told["levels"]
        check("sweep: levels", [one["level"] for one in levels] == [1, 2, 4, 8, 16, 32], levels)
        check("sweep: more users, more tokens", levels[3]["output_tokens_per_s"] > 2 * levels[0]["output_tokens_per_s"], levels)
        check("sweep: beyond the batch they wait", levels[5]["ttft_p50_ns"] > 2 * levels[2]["ttft_p50_ns"], levels)
        power = {one["level"]: one["output_tokens_per_s"] / one["e2e_p50_ns"] for one in levels if not one["client_bound"]}
        check("sweep: the knee is where throughput over latency is largest", told.get("knee") == max(power, key=power.get, default=None), (told, power))
        done = run(url, *FIXED, "--duration", "1s", "--sweep", "concurrency=1,32,64", "--slo", "ttft:30ms")
        check("sweep: an SLO breaks", done.returncode == DONE and "breaks the SLO" in done.stdout and not re.search(r"^ +64 ", done.stdout, re.M), done.stdout + done.stderr)
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


SCENARIOS = [figures, outputs, apis, token_ids, profile, flags, tokenizers, wire, arrivals, datasets, bad_input, faults, interrupt, sweep, scenarios]


def main():
    global TACHO
    TACHO = check_record.TACHO = str(pathlib.Path(sys.argv[1]).resolve())
    only = sys.argv[3] if len(sys.argv) > 3 else None
    for name in ("OPENAI_API_KEY", "TACHO_API_KEY", "NO_COLOR"):
        os.environ.pop(name, None)
    for scenario in SCENARIOS:
        if only and scenario.__name__ != only:
            continue
        folder = tempfile.mkdtemp(prefix=f"tacho-load-{scenario.__name__}-")
        begin = time.monotonic()
        try:
            scenario(folder)
        except (subprocess.TimeoutExpired, RuntimeError, KeyError, IndexError, TypeError, ValueError) as problem:
            check(scenario.__name__, False, repr(problem)[:2000])
        shutil.rmtree(folder, ignore_errors=True)
        print(f"{scenario.__name__}: {time.monotonic() - begin:.1f} s", flush=True)
    print(f"{check_record.passed} passed, {check_record.failed} failed")
    return 1 if check_record.failed else 0


if __name__ == "__main__":
    sys.exit(main())
