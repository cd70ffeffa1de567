#!/usr/bin/env python3
"""Requests of a load, explained by the steps of their engines: `tacho analyze --requests`, the JSON, the CSV files and
`tacho explain` over simulated traffic whose truth is known.

usage: check_requests.py TACHO [--only NAME ...]
"""
import collections
import csv
import html
import json
import pathlib
import re
import shutil
import subprocess

import jsonschema

import scenario
from scenario import check, main

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCHEMA = jsonschema.Draft202012Validator(json.loads((ROOT / "docs/json.schema.json").read_text()))
PARTS = ["client", "network", "queue", "prefill", "wait-prefill", "decode", "comm", "skew", "host", "between-steps", "preempted",
         "detokenise-and-send", "unknown"]


def tacho(*words, status=0):
    done = subprocess.run([scenario.TACHO, *map(str, words)], capture_output=True, text=True, timeout=240,
                          env={"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "COLUMNS": "200", "NO_COLOR": "1"})
    check(f"tacho {words[0]} ... {words[-1]}: status {status}", done.returncode == status, (done.returncode, done.stderr))
    return done


def traffic(folder, *options, requests=80):
    """A run folder of simulated traffic, and its truth."""
    run = pathlib.Path(folder) / "run"
    tacho("simulate", "trace", "-o", run, "--traffic", requests, "--gap", "3", *options)
    return run, json.loads((run / "truth.json").read_text())


def requests_of(run, status=0):
    told = json.loads(tacho("analyze", run, "--json", status=status).stdout)
    errors = [e.message[:200] for e in SCHEMA.iter_errors(told)]
    check("docs/json.schema.json", not errors, errors[:3])
    return told.get("requests")


def compared(told):
    """The requests that are compared by E2E: answered in full and wholly recorded; if there is none, those that are split."""
    whole = [r for r in told["list"] if r["whole"]]
    split = [r for r in whole if "lacks" not in r]
    return [r for r in split if "outside_ns" not in r] or split or whole


def check_sums(told, records):
    """The parts of each request, of its first token, of each band and scenario add up and are not negative."""
    by_id = {r["id"]: r for r in records}
    for row in told["list"]:
        record = by_id[row["id"]]
        end = record["last_token_ns"] if row["whole"] else record["ended_ns"]
        ok = (sum(row["parts"].values()) == row["e2e_ns"] == end - record["admitted_ns"]
              and all(ns > 0 and part in PARTS for part, ns in row["parts"].items())
              and row["parts"].get("client", 0) == record["sent_ns"] - record["admitted_ns"]
              and sum(row.get("ttft_parts", {}).values()) == row.get("ttft_ns", 0)
              and all(ns > 0 for ns in row.get("ttft_parts", {}).values())
              and 0 <= row.get("outside_ns", 0) <= row["parts"].get("unknown", 0))
        if not ok:
            check(f"{row['id']}: parts add up", False, row)
    check("parts add up", True)
    for group in told["bands"] + told["scenarios"]:
        check("means add up", group["count"] == 0 or sum(group["parts"].values()) == group["e2e_ns"], group)
    whole = sorted(r["e2e_ns"] for r in compared(told))
    check("the bands have each request once", sum(b["count"] for b in told["bands"]) == len(whole))
    check("in the order of e2e", [b["from"] for b in told["bands"]][1:] == [b["to"] for b in told["bands"]][:-1], told["bands"])
    at = 0
    for band in told["bands"]:
        part = whole[at:at + band["count"]]
        at += band["count"]
        check(f"band from {band['from']}: its mean", not part or band["e2e_ns"] == sum(part) // len(part), band)


def records_of(run):
    return [json.loads(line) for line in (run / "requests.jsonl").read_text().splitlines()]


def truth(folder):
    """One engine: ties, sums and the wait for others' prompts against the truth."""
    run, true = traffic(folder)
    told = requests_of(run)
    check("joined", told["join"] == "joined" and told["tied_share"] > 0.95, told["tied_share"])
    check("the clocks are narrowed down", 0 < told["clock_error_ns"] < 1_000_000, told["clock_error_ns"])
    check_sums(told, records_of(run))
    by_id = {r["id"]: r for r in true["requests"]}
    for row in told["list"]:
        known = by_id[row["id"]]
        check("tokens", row["tokens"] == len(known["tokens"]))
        if row.get("sure"):
            check(f"{row['id']}: its steps", (row["first_step"], row["last_step"]) == (known["reads"][0]["step"], known["tokens"][-1]["step"]),
                  (row, known))
    sure = [r for r in told["list"] if r.get("sure")]
    check("most are sure", len(sure) > len(told["list"]) * 0.7, len(sure))
    planned = sum(by_id[r["id"]]["wait_prefill_ns"] for r in sure)
    found = sum(r["parts"].get("wait-prefill", 0) for r in sure)
    check("the wait for others' prompts", planned > 0 and abs(found / planned - 1) < 0.1, (planned, found))


def loaded(folder):
    """A recording that begins in a loaded engine, where all requests queue: no part claims more than the truth."""
    for options in (("--batch", "8", "--gap", "1", "--recorded-from", "30"),
                    ("--batch", "32", "--gap", "1.5", "--recorded-from", "40", "--recorded-to", "70")):
        for seed in range(1, 5):
            run, true = traffic(f"{folder}/{options[1]}-{seed}", "--clock-error", "50", "--load-seed", seed, *options, requests=300)
            told = requests_of(run)
            offset = true["clocks"][0]["true_offset_ns"]
            by_id = {r["id"]: r for r in true["requests"]}
            sent = {r["id"]: r for r in records_of(run)}
            claimed, truth = collections.Counter(), collections.Counter()
            split = [row for row in told["list"] if not row.get("lacks")]
            for row in split:
                known, record = by_id[row["id"]], sent[row["id"]]
                unix = record["sent_unix_ns"] - record["sent_ns"]
                truth["network"] += known["arrived_ns"] - offset - record["sent_unix_ns"]
                truth["detokenise-and-send"] += record["last_token_ns"] + unix - known["tokens"][-1]["made_ns"] + offset
                truth["wait-prefill"] += known["wait_prefill_ns"]
                claimed.update({part: row["parts"].get(part, 0) for part in truth})
            error = len(split) * told.get("clock_error_ns", 0)
            for part, ns in truth.items():
                check(f"{run}: {part}", claimed[part] <= 1.1 * ns + error, (claimed[part], ns, error))


def cut(folder):
    """A recording that is shorter than the load: shares are of the recorded time, and one request is the slowest everywhere."""
    for name, options, requests in (("half", ("--recorded-from", "30", "--recorded-to", "70"), 200),
                                    ("short", ("--recorded-from", "45", "--recorded-to", "55", "--output-tokens", "120", "--model-size", "small"), 400)):
        run, true = traffic(f"{folder}/{name}", "--gap", "4", *options, requests=requests)
        analysed = json.loads(tacho("analyze", run, "--json").stdout)
        told = analysed["requests"]
        check_sums(told, records_of(run))
        finding = next(f for f in analysed["findings"] if f["id"] == "requests.wait-prefill")
        split = [r for r in told["list"] if r["whole"] and "lacks" not in r]
        by_id = {r["id"]: r["wait_prefill_ns"] for r in true["requests"]}
        planned = sum(by_id[r["id"]] for r in split) / sum(r["e2e_ns"] for r in split)
        check(f"{name}: the share is not less for what was not recorded", abs(finding["share"] / planned - 1) < 0.06, (finding["share"], planned))
        check(f"{name}: of the recorded time", finding["of_ns"] == sum(r["e2e_ns"] - r.get("outside_ns", 0) for r in split), finding)
        shown = " ".join(tacho("explain", run, "finding:requests.wait-prefill").stdout.split())
        check(f"{name}: says so", f"recorded time of {len(split)} of {requests} requests" in shown and "fewer than half" in shown, shown)
        slowest = max(compared(told), key=lambda r: r["e2e_ns"])
        check(f"{name}: the slowest band", told["bands"][-1]["count"] != 1 or told["bands"][-1]["e2e_ns"] == slowest["e2e_ns"], told["bands"][-1])
        listed = re.findall(r"^ (traffic-\S+)", tacho("analyze", run, "--requests", "-w").stdout, re.M)
        check(f"{name}: the slowest listed first", listed[0] == slowest["id"], (listed[0], slowest["id"]))
        check(f"{name}: and explained", re.match(r" request  (\S+)", tacho("explain", run, "slowest").stdout)[1] == slowest["id"])


def preempted(folder):
    """Requests that lose their place in the cache are read again, which no step says: no step is named that is not a request's."""
    for cache in (2500, 4000, 6000):
        run, true = traffic(f"{folder}/{cache}", "--cache-tokens", cache, "--gap", "4", requests=200)
        last = {r["id"]: r["tokens"][-1]["step"] for r in true["requests"]}
        told = requests_of(run)
        wrong = [row["id"] for row in told["list"] if row.get("last_step", last[row["id"]]) != last[row["id"]]]
        check(f"{cache}: last steps", not wrong, (told["join"], wrong))


def outputs(folder):
    """JSON, CSV, the screen, Markdown and the report say the same."""
    run, _ = traffic(folder, "--failed", "5")
    told = requests_of(run)
    files = pathlib.Path(folder) / "csv"
    screen = tacho("analyze", run, "--csv", files).stdout
    rows = list(csv.DictReader((files / "requests.csv").open()))
    check("a row for each request", [r["id"] for r in rows] == [r["id"] for r in told["list"]])
    for row, one in zip(rows, told["list"]):
        for prefix, key in (("", "parts"), ("ttft_", "ttft_parts")):
            shown = {p: row[f"{prefix}{p.replace('-', '_')}_ns"] for p in PARTS}
            if key in one:
                check(f"{one['id']}: {key} of the CSV", {p: int(ns) for p, ns in shown.items() if ns not in ("", "0")} == one[key], row)
            else:
                check(f"{one['id']}: no {key} in the CSV", not any(shown.values()), row)
        same = (int(row["e2e_ns"]) == one["e2e_ns"] and row["lacks"] == one.get("lacks", "") and int(row["tokens"]) == one["tokens"]
                and row["status"] == ("done" if one["whole"] else "failed")
                and (not row["first_step"] or int(row["first_step"]) == one["first_step"] + 1))
        check(f"{one['id']}: the rest of the CSV", same, (row, one))
    bands = list(csv.DictReader((files / "request_bands.csv").open()))
    check("bands and scenarios", [int(b["count"]) for b in bands] == [b["count"] for b in told["bands"] + told["scenarios"]], bands)
    check("the screen has them", "REQUESTS" in screen and "slowest 1 %" in screen and "tied to the one step" in screen, screen)
    table = tacho("analyze", run, "--requests", "-w").stdout
    slowest = sorted(told["list"], key=lambda r: -r["e2e_ns"])
    shown = re.findall(r"^ (traffic-\S+)", table, re.M)
    check("--requests: the slowest first", shown[:3] == [r["id"] for r in slowest[:3]] and len(shown) == len(told["list"]), shown[:3])
    picked = tacho("analyze", run, "--requests", "--filter", "status=failed", "--sort", "tokens").stdout
    failed = [r for r in told["list"] if not r["whole"]]
    check("--filter", f"{len(failed)} of {len(told['list'])} rows shown" in picked, picked)
    check("--sort", re.findall(r"^ (traffic-\S+)", picked, re.M)[:1] == [max(failed, key=lambda r: r["tokens"])["id"]], picked)
    check("Markdown", "Requests" in tacho("analyze", run, "--markdown").stdout)
    page = pathlib.Path(folder) / "report.html"
    tacho("report", run, "-o", page)
    done = [r for r in told["list"] if r["whole"]]
    first = max(done, key=lambda r: r["e2e_ns"])["id"]
    text = html.unescape(page.read_text())
    check("the report: the slowest beside the median", "The slowest request beside the median one" in text and first in text)
    hidden = pathlib.Path(folder) / "redacted.html"
    tacho("report", run, "-o", hidden, "--redact")
    text = hidden.read_text()
    check("redacted: no id and no address", "traffic-" not in text and "127.0.0.1" not in text and "beside the median" in text)
    check("the same bytes whatever the threads", tacho("analyze", run, "--json", "--threads", "1").stdout
          == tacho("analyze", run, "--json", "--threads", "4").stdout)


def explain(folder):
    """One request, one step, one gap in full; what is not there is refused with what there is."""
    run, true = traffic(folder, "--engines", "2")
    told = requests_of(run)
    done = [r for r in told["list"] if r["whole"] and r.get("sure")]
    slowest = max((r for r in told["list"] if r["whole"] and "lacks" not in r), key=lambda r: r["e2e_ns"])
    for name, row in (("slowest", slowest), (done[0]["id"], done[0])):
        shown = json.loads(tacho("explain", run, name, "--json").stdout)
        tables = {t["name"]: t["rows"] for t in shown["tables"]}
        parts = {r["part"]: r["e2e_part_ns"] for r in tables["request_parts"] if r.get("e2e_part_ns")}
        check(f"explain {name}: its parts", parts == row["parts"], (parts, row))
        check(f"explain {name}: its waits", len(tables["token_gaps"]) > 0 and all(r["gap_ns"] >= 0 for r in tables["token_gaps"]))
    screen = tacho("explain", run, "slowest").stdout
    check("on one screen", len(screen.splitlines()) < 60 and slowest["id"] in screen and "PARTS" in screen and "next" in screen, screen)
    step = done[0]["last_step"] + 1
    word = f"{done[0]['worker']}/step:{step}"
    shown = tacho("explain", run, word).stdout
    check("a step: who was in it", done[0]["id"] in shown and "makes a token" in shown, shown)
    by_step = collections.Counter(t["step"] for r in true["requests"] if r["worker"] == done[0]["worker"] for t in r["tokens"])
    rows = {t["name"]: t["rows"] for t in json.loads(tacho("explain", run, word, "--json").stdout)["tables"]}["requests_in_step"]
    check("no more than its tokens and prompts", len(rows) >= 1 and by_step[step - 1] >= 1, (rows, by_step[step - 1]))
    gap = tacho("explain", run, "gap:1").stdout
    check("a gap", "idle" in gap and "cause" in gap and "--gap 1" in gap, gap)
    check("Markdown", slowest["id"] in tacho("explain", run, "slowest", "--markdown").stdout)
    for words, says in ((["nobody"], "no request 'nobody'"), (["step:0"], "no step 0"), (["step:999999"], "has steps 1 to"),
                        (["gap:99999"], "lists gaps 1 to"), (["w7/step:1"], "no worker and no rank is named 'w7'"), ([], "give a PATH")):
        error = tacho("explain", run, *words, status=2).stderr
        check(f"explain {words}: {says}", says in error, error)
    trace = sorted(run.rglob("*.pt.trace.json"))[0]
    alone = pathlib.Path(folder) / "alone.json"
    shutil.copy(trace, alone)
    check("a trace alone has steps", "step" in tacho("explain", alone, "step:3").stdout)
    check("and no requests", "folder of a tacho record" in tacho("explain", alone, "slowest", status=2).stderr)


def fronts(folder):
    """Several engines, behind a router or data-parallel: parts add up whoever is known to have had a request."""
    for front in ("direct", "router", "data-parallel"):
        run, true = traffic(f"{folder}/{front}", "--engines", "2", "--front", front, "--failed", "5", "--cached", "20")
        for which in ("slowest", "median"):
            screen = tacho("explain", run, which).stdout
            found = re.findall(r"tacho explain \S+ (\S*step:\d+)", screen)
            inside = re.match(r" request  (\S+)", screen)[1]
            check(f"{front}, {which}: the steps that it proposes have it", found and all(inside in tacho("explain", run, step).stdout for step in found),
                  (inside, found))
        told = requests_of(run)
        check_sums(told, records_of(run))
        check(f"{front}: joined", told["join"] == "joined", told["join"])
        by_id = {r["id"]: r for r in true["requests"]}
        for row in told["list"]:
            if row.get("sure"):
                check(f"{front} {row['id']}: its steps", row["last_step"] == by_id[row["id"]]["tokens"][-1]["step"], row)


def of_its_engine(folder):
    """Two engines with a late rank each: a request's next command shows the rank of its own engine."""
    run, _ = traffic(folder, "--gap", "2", "--batch", "8", "--engines", "2", "--front", "router", "--ranks", "2", "--change", "late-rank@1:150us",
                     "--change", "eager", requests=150)
    told = requests_of(run)
    for engine in ("w0", "w1"):
        row = next(r for r in told["list"] if r.get("worker") == engine and r.get("sure") and r["parts"].get("skew"))
        found = re.findall(r"finding:wait\.(\w+)-TP1", tacho("explain", run, row["id"]).stdout)
        check(f"a request of {engine}: its rank", found == [engine], found)


def parts_of_a_run(folder):
    """Half a recording, failed requests, SGLang: the parts of each request still add up."""
    for name, options in {"half": ["--recorded-from", "30", "--recorded-to", "70"], "failed": ["--failed", "40"],
                          "sglang": ["--engine", "sglang"], "ranks": ["--ranks", "2"],
                          "preempted": ["--cache-tokens", "1500", "--output-tokens", "48"]}.items():
        run, _ = traffic(f"{folder}/{name}", *options)
        told = requests_of(run)
        check_sums(told, records_of(run))
        shown = tacho("explain", run, "slowest").stdout
        check(f"{name}: the slowest one is split", "not split" not in shown and "PARTS" in shown, shown)
        lacks = collections.Counter(row.get("lacks") for row in told["list"])
        check(f"{name}: most are split", lacks[None] > 0, lacks)
        if name == "half":
            check("some were made outside of the recording", lacks["recorded"] > 0, lacks)


def skew(folder):
    """What requests waited in collectives for a rank that is late: on the ranks that wait, not on the late one."""
    def a_step(name, *options):
        run = pathlib.Path(folder) / name
        tacho("simulate", "trace", "-o", run, "--traffic", "40", "--gap", "40", *options)
        told = requests_of(run)
        check_sums(told, records_of(run))
        rows = [row for row in told["list"] if row.get("sure")]
        return sum(row["parts"].get("skew", 0) for row in rows) / sum(row["last_step"] - row["first_step"] + 1 for row in rows)
    plain, late, itself, alone = (a_step(name, *options) for name, options in (
        ("plain", ["--ranks", "4"]), ("late", ["--ranks", "4", "--change", "late-rank@3:300us"]),
        ("itself", ["--ranks", "4", "--change", "late-rank@0:300us"]), ("alone", [])))
    check("300 us a step for the late rank", abs(late - plain - 300_000) < 30_000, (late, plain))
    check("the late rank waits for nobody", itself < plain, (itself, plain))
    check("a rank alone waits for nobody", alone == 0, alone)


def bad_input(folder):
    """Records of another run, without tokens, a stepped clock, damaged lines: absent with why, and never wrong."""
    run, _ = traffic(folder)
    other, _ = traffic(f"{folder}/other", "--load-seed", "7", "--seed", "9")
    records = (run / "requests.jsonl").read_text()

    def changed(what, text=None, edit=None):
        if text is not None:
            (run / "requests.jsonl").write_text(text)
        kept = (run / "run.json").read_text()
        if edit:
            (run / "run.json").write_text(json.dumps(edit(json.loads(kept))))
        told = requests_of(run)
        tacho("analyze", run)
        (run / "run.json").write_text(kept)
        (run / "requests.jsonl").write_text(records)
        if told:
            for row in told["list"]:
                if sum(row["parts"].values()) != row["e2e_ns"] or any(ns < 0 for ns in row["parts"].values()):
                    check(f"{what}: parts add up", False, row)
        return told

    def step(seconds):
        def edit(told):
            for worker in told["workers"]:
                worker["clock_offset_ns"] += seconds * 1_000_000_000
            return told
        return edit

    told = changed("another run's records", (other / "requests.jsonl").read_text())
    check("records of another run are not split", all("trace" not in row for row in told["list"]) or told["join"] != "joined", told["join"])
    lines = [json.loads(line) for line in records.splitlines()]
    bare = [{k: v for k, v in line.items() if not k.startswith("chunk_")} for line in lines]
    told = changed("no chunks", "".join(json.dumps(line) + "\n" for line in bare))
    check("no tokens: absent with why", all(row.get("lacks") for row in told["list"]), told["list"][:2])
    told = changed("a clock that is 1 s off", edit=step(1))
    check("a stepped clock: absent with why", told["join"] in ("contradiction", "too-much", "no-requests", "no-steps")
          or all(row.get("lacks") for row in told["list"]), told["join"])
    told = changed("no clock", edit=lambda t: {**t, "workers": [{k: v for k, v in w.items() if k != "clock_offset_ns"} for w in t["workers"]]})
    check("no clock: absent with why", told["join"] == "no-clock", told["join"])
    check("no requests.jsonl lines", changed("empty", "") is None)
    check("damaged lines are left out", len(changed("damaged", records[:len(records) // 2])["list"]) in range(1, len(lines)))
    told = changed("hostile numbers", records.replace('"chunk_tokens":[1', '"chunk_tokens":[4000000000', 3))
    check("hostile numbers end", told is not None)
    hostile = [dict(line) for line in lines]
    hostile[0].update(admitted_ns=2_000_000_000_000_000_000, id="\x1b[31mred")
    told = changed("a time of the far future", "".join(json.dumps(line) + "\n" for line in hostile))
    check("and a hostile time is left out", 0 <= told["list"][0]["e2e_ns"] < 10**9, told["list"][0])


main([truth, loaded, cut, preempted, outputs, explain, fronts, of_its_engine, parts_of_a_run, skew, bad_input], __doc__)
