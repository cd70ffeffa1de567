#!/usr/bin/env python3
"""`tacho load` and the servers that it meets: every API, what goes over the wire, who counts the tokens, profiling, bad
servers, and Ctrl-C.

usage: check_load_wire.py TACHO [--only NAME ...]
"""
import collections
import json
import os
import pathlib
import signal
import socket
import subprocess
import threading
import time

import processes
import scenario
from exact_server import ExactServer
from loads import DONE, FIXED, INCOMPLETE, INTERRUPTED, REMOTE, load, near, percentile, records_of, run
from scenario import check, simulation, target, wait_for


def apis(folder):
    for api in ("completions", "chat", "generate"):
        for tokens in (1, 14):
            for _ in range(5):  # on busy cores chunks may be read too late for gaps
                with ExactServer(tokens_a_chunk=tokens) as server:
                    told = load(f"{api} {tokens}", server.url, "--api", api, "--input-len", 32, "--output-len", 30, "--requests", 6,
                                "--records", f"{folder}/r.jsonl")
                whole, record = told["whole"], records_of(f"{folder}/r.jsonl")[0]
                if "itl" in whole:
                    break
            check(f"{api} {tokens}: tokens", whole["output_tokens"] == 180 and record["counted_by"] == "usage", whole)
            check(f"{api} {tokens}: of each chunk", record["chunk_tokens"] == ([1] * 30 if tokens == 1 else [14, 14, 2]), record)
            check(f"{api} {tokens}: ITL is a token's, chunk_gap a chunk's", whole.get("itl", {}).get("count") == 6 * (29 if tokens == 1 else 16)
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
    """vllm-router drops running totals: there, and only there, tacho requests token ids. A chunk is counted once, whatever
    reports its tokens."""
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
        common = [*target(addresses), *FIXED, "--requests", 24, "--concurrency", 4, "--profile", "--whole-load", "--out", f"{folder}/runs", "--seed", 7,
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
        bounded = load("profile by the budget", *[word for word in common if word != "--whole-load"], "--requests", 200, "--out", f"{folder}/budget")
        third = json.loads(next(pathlib.Path(folder, "budget").glob("*/run.json")).read_text())
        check("profile by the budget: the load goes on after it", bounded["whole"]["done"] == 200 and third["complete"]
              and third["window"]["by_budget"] and third["profiled"]["requests_done"] < 150, third)
        check("profile by the budget: said", any("the profilers ran for the first" in remark for remark in third["remarks"]), third["remarks"])
    with simulation(f"{folder}/crash", "--count", "2", "--router", "vllm", "--fault", "lose-rank@1:0") as addresses:
        done = run(*target(addresses), *FIXED, "--requests", 8, "--profile", "--out", f"{folder}/crashed", "--flush-timeout", "5s")
        check("profile: a trace that is missing", done.returncode == INCOMPLETE and "Successful requests:                     8" in done.stdout
              and "missing" in done.stdout, (done.returncode, done.stdout[-1500:], done.stderr))
    with ExactServer() as server:
        done = run(server.url, *FIXED, "--requests", 2, "--profile", "--out", f"{folder}/none")
        check("profile: no engine, no load", done.returncode == REMOTE and not server.requests and not os.listdir(f"{folder}/none"),
              (done.returncode, done.stderr))


def tokenizers(folder):
    """The behaviour of a tokenizer is reported correctly."""
    del folder
    for tokenizer, words in ((False, "no tokenizer route"), ("hangs", "no answer within 10 s")):
        with ExactServer(tokenizer=tokenizer) as server:
            told = load(f"tokenizer {tokenizer}", server.url, *FIXED, "--requests", 2)
            check(f"tokenizer {tokenizer}", words in str(told["remarks"]) and isinstance(server.requests[0]["body"]["prompt"], str),
                  told["remarks"])


def wire(folder):
    """What is sent: keys, headers, bodies, ids, to several servers."""
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
    with ExactServer() as one, ExactServer(model="other") as two:
        for name, url, words in (("another model", two.url, f"{two.url}: serves other, not exact as {one.url}"),
                                 ("dead", "http://127.0.0.1:1", "http://127.0.0.1:1: connection refused")):
            done = run(one.url, url, *FIXED, "--requests", "4")
            check(f"wire: a second server: {name}", done.returncode == REMOTE and words in done.stderr, (done.returncode, done.stderr))
            check(f"wire: a second server: {name}: nothing was sent", not one.requests and not two.requests)
            done = run(one.url, url, *FIXED, "--requests", "4", "--model", "exact")
            check(f"wire: a second server: {name}: as named", words in done.stderr and one.requests, (done.returncode, done.stderr))
            one.requests.clear(), two.requests.clear()
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


def faults(folder):
    """Nothing hangs, received data is kept and marked, and the exit status is right."""
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
        if b"__ubsan_" not in pathlib.Path(scenario.TACHO).read_bytes():
            done = run(*many, descriptors=(40, 100))
            check("too few descriptors: what to do", done.returncode == INCOMPLETE and "ulimit -n" in done.stdout,
                  (done.returncode, done.stdout[-400:], done.stderr[-2000:]))
    dies_and_comes_back(folder)
    with simulation(folder, "--fault", "die-in-load@1:60") as addresses:
        done = run(target(addresses)[0], *FIXED, "--duration", "5s", "--concurrency", 4, "--json")
        told = json.loads(done.stdout)["whole"] if done.stdout else {}
        check("simulated crash", done.returncode in (INCOMPLETE, DONE) and told.get("sent", 0) > 0, (done.returncode, done.stderr, told))


def dies_and_comes_back(place):
    port = socket.create_server(("127.0.0.1", 0))
    number = port.getsockname()[1]
    port.close()

    def serve():
        return processes.running([scenario.TACHO, "simulate", "--port", str(number), "--trace-dir", f"{place}/t", "--speed", "5"],
                                 stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    with serve() as server:
        processes.first_line(server)
        client = subprocess.Popen([scenario.TACHO, "load", f"http://127.0.0.1:{number}", *FIXED, "--duration", "6s", "--concurrency", "2",
                                   "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        time.sleep(2)
        server.kill()
    time.sleep(1)
    with serve():
        try:
            out, err = client.communicate(timeout=processes.PATIENCE_S)
        finally:
            processes.end(client)
    check("comes back: status", client.returncode == INCOMPLETE, (client.returncode, err))
    whole = json.loads(out)["whole"]
    check("comes back: used again", whole["done"] > 0 and 0 < whole["failed"] + whole["partial"] < 60, whole)
    check("comes back: its time is kept", whole["duration_ns"] > 5e9, whole)


def interrupt(folder):
    """Ctrl-C, and the end of a terminal (signalled by shell and kernel): measurements are printed, written and marked."""
    cut_offs = []
    for name, signals in (("Ctrl-C", [signal.SIGINT]), ("no terminal", [signal.SIGHUP, signal.SIGHUP]),
                          ("timeout -s INT", [signal.SIGINT, signal.SIGINT])):
        with ExactServer(gap=0.05) as server:
            process = subprocess.Popen([scenario.TACHO, "load", server.url, *FIXED, "--duration", "60s", "--concurrency", "4", "--json",
                                        "--records", f"{folder}/r.jsonl", "--vllm-json", f"{folder}/v.json"],
                                       stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            # More than the users' first ones: some are done. And then for a while, of which rates are made.
            wait_for(lambda: len(server.requests) > 8)
            for i, one in enumerate(signals):
                threading.Timer(1 + i / 1000, process.send_signal, [one]).start()
            out, err = process.communicate(timeout=60)
        check(f"{name}: status", process.returncode == INTERRUPTED, (process.returncode, err))
        told = json.loads(out)
        check(f"{name}: marked", told["ended_early"] == "stopped" and told["whole"]["cancelled"] > 0 and told["whole"]["done"] > 0, told["whole"])
        came, seconds = told["whole"]["output_tokens"] + told["whole"]["lost_tokens"], told["whole"]["duration_ns"] / 1e9
        records = records_of(f"{folder}/r.jsonl")
        cut_off = sum(r["output_tokens"] for r in records if r["status"] == "cancelled")
        cut_offs.append(cut_off)
        check(f"{name}: all that came has its rate", near(told["whole"]["received_tokens_per_s"], came / seconds, 0.001)
              and told["whole"]["lost_tokens"] == cut_off, (cut_off, told["whole"]))
        statuses = collections.Counter(r["status"] for r in records)
        check(f"{name}: records", statuses["done"] == told["whole"]["done"] and statuses["cancelled"] == told["whole"]["cancelled"], statuses)
        written = json.loads(pathlib.Path(f"{folder}/v.json").read_text())
        check(f"{name}: vLLM's file", written["completed"] == told["whole"]["done"] and len(written["errors"]) == told["whole"]["sent"],
              written["completed"])
    # A signal may come while all four wait for their first token, not three times.
    check("tokens of requests that were cut off are counted", any(cut_offs), cut_offs)
    for whole in ([], ["--whole-load"]):
        name, base = f"Ctrl-C in a profile {whole}", f"{folder}/{len(whole)}"
        said = pathlib.Path(f"{folder}/said")
        with simulation(base) as addresses, open(said, "w") as stderr:
            process = subprocess.Popen([scenario.TACHO, "load", *target(addresses), *FIXED, "--duration", "60s", "--profile", *whole, "--out",
                                        f"{base}/runs", "--json", "--records", f"{base}/r.jsonl"], stdout=subprocess.PIPE, stderr=stderr, text=True)
            wait_for(lambda: "\n  start " in said.read_text())
            time.sleep(3)  # some requests, also on a busy machine
            process.send_signal(signal.SIGINT)
            out, _ = process.communicate(timeout=60)
        err = said.read_text()
        check(f"{name}: status", process.returncode == INTERRUPTED and "the profilers were stopped" in err, (process.returncode, err))
        told = json.loads(out)
        recorded = json.loads(pathlib.Path(told["recording"]["folder"], "run.json").read_text())
        check(f"{name}: what there was is kept", told["whole"]["done"] > 0 and told["ended_early"] == "stopped"
              and recorded["interrupted"] and all(rank["proven"] for worker in recorded["workers"] for rank in worker["ranks"])
              and len(records_of(f"{base}/r.jsonl")) == told["whole"]["sent"], recorded)


scenario.main([apis, token_ids, profile, tokenizers, wire, faults, interrupt], __doc__)
