#!/usr/bin/env python3
"""`tacho load` on busy cores, as beside an engine: its figures are correct or absent.

usage: check_load_busy.py TACHO [--only NAME ...]
"""
import contextlib
import json
import os
import pathlib
import re
import subprocess
import sys

import scenario
from exact_server import ExactServer
from loads import load, near, percentile, records_of, run
from scenario import check

GAP = 0.004  # seconds between two chunks
WORK = ["--input-len", "64", "--output-len", "32", "--requests", "60", "--concurrency", "4"]
# From the server's write to its look at the clock, and the other way round.
SLACK_NS = 3e6


@contextlib.contextmanager
def spinning():
    """Two processes to each core, in sessions of their own: the kernel shares a core out among sessions first, so that theirs,
    which always run, hold up a thread that mostly sleeps."""
    # Not after the end of this test.
    spin = ("import os, sys; os.sched_setaffinity(0, {int(sys.argv[1])})\n"
            "while os.getppid() == int(sys.argv[2]):\n  for _ in range(1000000): pass")
    processes = [subprocess.Popen([sys.executable, "-c", spin, str(core), str(os.getpid())], start_new_session=True)
                 for core in os.sched_getaffinity(0) for _ in range(2)]
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.wait()


def holds(name, told, records, server):
    """Each reported time is the server's own: tokens come when they are written, not when the client wakes up."""
    written = {request["headers"]["x-request-id"]: request for request in server.requests}
    late, ttfts, tpots = [], [], []
    for record in records:
        truth = written[record["id"]]
        ttfts.append(truth["first_ns"] - record["sent_ns"])
        tpots.append((truth["last_ns"] - truth["first_ns"]) / (record["output_tokens"] - 1))
        if not record.get("first_unsure"):
            late.append(record["first_token_ns"] - truth["first_ns"])
        late.append(record["last_token_ns"] - truth["last_ns"])
    # A stamp before the server's clock reading is right: the server was delayed there. So it may be between that and the end of
    # its answer, which the kernel may merge with the last token.
    check(f"{name}: tokens came when they were written", percentile(late, 90) < SLACK_NS, sorted(late)[-12:])
    whole = told["whole"]
    unsure = sum(record.get("first_unsure", False) for record in records)
    check(f"{name}: what is unsure is counted", whole["unsure_first"] == unsure, (whole["unsure_first"], unsure))
    if unsure * 20 > len(records):
        check(f"{name}: no TTFT, no TPOT", "ttft" not in whole and "tpot" not in whole and told["client"]["client_bound"], whole)
        return False
    for key, truth in ("ttft", ttfts), ("tpot", tpots):
        # The server may be delayed too, if it has no real-time priority: it reads the clock after the write.
        median = percentile(truth, 50)
        check(f"{name}: {key}", near(whole[key]["p50_ns"], median, 0.25, 2e6), (whole[key]["p50_ns"], median))
    return True


def merged_by_client(records, server):
    """How many chunks have the time of the one before, though the server wrote them half a gap later or more."""
    written = {request["headers"]["x-request-id"]: request["written_ns"] for request in server.requests if "written_ns" in request}
    return sum(apart == 0 and after - before >= GAP / 2 * 1e9 for record in records for apart, before, after in
               zip(record["chunk_dt_ns"][1:], written[record["id"]], written[record["id"]][1:]))


def measured(folder, name, options):
    """A load whose figures hold; whether a client at real-time priority kept up."""
    with ExactServer(ttft=0.008, gap=GAP, prompt=True) as server:
        told = load(name, server.url, *WORK, *options, "--records", f"{folder}/r.jsonl", "--vllm-json", f"{folder}/v.json")
        records = records_of(f"{folder}/r.jsonl")
        known = holds(name, told, records, server)
    client = told["client"]
    merged = merged_by_client(records, server)
    print(f"     {name}: {client['priority']}, loop {client['lag_p99_ns'] / 1e6:.1f} ms late at p99, {merged} of "
          f"{told['whole']['coalesced_chunks']} coalesced chunks merged by the client, {told['whole']['unsure_first']} first tokens unsure", flush=True)
    check(f"{name}: priority", client["priority"] in (("normal",) if options else ("real-time", "refused")), client)
    written = json.loads(pathlib.Path(f"{folder}/v.json").read_text())
    check(f"{name}: vLLM's file", (written["mean_ttft_ms"] is not None) == known and
          written.get("client_bound", False) == client["client_bound"], written["mean_ttft_ms"])
    if client["priority"] == "refused":
        print("*** NOT TESTED: real-time priority: the system refuses it", flush=True)
    return client["priority"] != "real-time" or (client["lag_p99_ns"] < 1e6 and not client["client_bound"] and merged == 0)


def busy(folder):
    with spinning():
        # Once of three times: a machine that stands still for some milliseconds holds up real-time priority too.
        check("real-time: kept up", any(measured(folder, "as it comes", []) for _ in range(3)), "in none of three loads")
        measured(folder, "without priority", ["--normal-priority"])


def said(folder):
    """The table marks figures that the client spoilt."""
    del folder
    with spinning(), ExactServer(ttft=0.008, gap=GAP, prompt=True) as server:
        text = run(server.url, *WORK, "--normal-priority").stdout
    bound = "the client was the limit" in text
    check("marked in vLLM's table", ("Limited by the client:" in text) == bound, text)
    check("marked in ours", ("all *" in text) == bound, text)
    for name in "TTFT", "TPOT":
        median = re.search(rf"^Median {name} \(ms\):\s+[\d.]+\s*$", text, re.M)
        late = re.search(rf"^{name} \(ms\):\s+read too late\s*$", text, re.M)
        check(f"{name}: its times, or that they were read too late", bool(median) != bool(late), text)
        check(f"{name}: too late in a load that is marked alone", bound or not late, text)


scenario.main([busy, said], __doc__)
