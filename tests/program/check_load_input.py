#!/usr/bin/env python3
"""The input of `tacho load`: its own flags and those of `vllm bench serve`, datasets, and invalid ones.

usage: check_load_input.py TACHO [--only NAME ...]
"""
import collections
import json
import os
import pathlib

import scenario
from exact_server import ExactServer
from loads import DONE, FIXED, REMOTE, ROOT, UNREADABLE, USAGE, load, near, records_of, run
from scenario import check


def flags(folder):
    """Each option of vLLM's client is known, or refused with a reason and what to do; also as a prefix, if its parser accepts that."""
    del folder
    recorded = json.loads((ROOT / "tests/data/vllm_bench_flags.json").read_text())
    check("flags: the list", len(recorded["flags"]) > 90 and recorded["version"].startswith("0.32"), recorded["version"])
    counts = collections.Counter()
    for flag, value in recorded["flags"].items():
        cut = flag[:-1]
        for name in {flag, "--" + cut[2:].replace("-", "_")}:
            if name != flag and (cut in recorded["flags"] or len(cut) < 4):
                continue
            others = [one for one in recorded["flags"] if one.startswith(cut)]
            done = run("http://127.0.0.1:1", name, *([] if value is None else [value]))
            if name != flag and len(others) > 1:
                check(f"{name}: could be several", done.returncode == USAGE and all(one in done.stderr for one in others), done.stderr)
            elif done.returncode == USAGE:
                reason = done.stderr.partition(flag)[2]
                check(f"{name}: refused with a reason", "unknown option" not in done.stderr and len(reason) > 30, done.stderr)
            else:
                check(f"{name}: known", done.returncode in (REMOTE, UNREADABLE), (done.returncode, done.stderr))
            counts[done.returncode] += 1
    check("flags: most are known", counts[REMOTE] > 100, counts)


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
                ("duration of nothing", "--duration", "--duration", "0s"),
                ("metric", "no metric", "--percentile-metrics", "ttft,speed"),
                ("percentile", "percentile", "--metric-percentiles", "101"),
                ("SLO", "--goodput", "--goodput", "speed:3"),
                ("API", "--api is completions", "--api", "grpc"),
                ("backend", "no --backend", "--backend", "tgi"),
                ("body", "JSON object", "--extra-body", "[1]"),
                ("broken body", "JSON object", "--extra-body", '{"a": }'),
                ("header", "NAME=VALUE", "--header", "nothing"),
                ("levels", "levels", "--sweep", "concurrency=4,2"),
                ("level of half a user", "whole", "--sweep", "concurrency=0.5,1"),
                ("think with a rate", "--think needs", "--think", "1s", "--rate", "2"),
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


scenario.main([flags, datasets, bad_input], __doc__)
