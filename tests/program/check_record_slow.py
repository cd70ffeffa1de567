#!/usr/bin/env python3
"""Engines that stand still or are slow while `tacho record` runs: the load lasts, a window begins when tokens flow, one that saw no
step is taken again, and a bound holds enough steps. What is said follows what happened.

usage: check_record_slow.py TACHO [--only NAME]
"""
import json
import pathlib
import re

import scenario
from recordings import NOTHING_ASKED, finds, ranks, record
from scenario import check, run, simulation, target

SENT_BY_TACHO = ("send requests", "no request reached", "the load ended")


def says_nothing_wrong(name, done):
    """The load was tacho's own, and lasted: nobody is told to send requests."""
    said = " ".join((done.stdout + done.stderr).split())
    check(f"{name}: nothing that did not happen", not [words for words in SENT_BY_TACHO if words in said], said)


def decode_steps(run_folder):
    traces = json.loads(run("analyze", "--json", str(run_folder / "traces")).stdout)["traces"]
    return [sum(trace["steps"]["by_phase"].get(phase, 0) for phase in ("decode", "mixed")) for trace in traces]


def after_a_start(folder):
    """The first start holds both engines up, so the trial would see no step: it begins when tokens flow."""
    for engine in ("vllm", "sglang"):
        base = f"{folder}/{engine}"
        with simulation(base, "--engine", engine, "--count", "2", "--router", engine, "--fault", "stall:7s") as addresses:
            done, report, _ = record(base, target(addresses), quick=NOTHING_ASKED)
            name = f"{engine} after a start"
            check(f"{name}: proven", done.returncode == 0 and all(r["proven"] for r in ranks(report)), (done.stdout, done.stderr))
            check(f"{name}: a trial of all its steps", re.search(r"trial +1[0-9] steps: ", done.stderr), done.stderr)
            finds(name, report, "waits-for-tokens")
            check(f"{name}: with what the engine does", re.search(
                r"no token from \S+ and \S+ for 5\.\d s \(by its metrics \d+ requests run and \d+ wait, and no step ends\): "
                r"the load goes on, and the trial waits", done.stderr), done.stderr)
            says_nothing_wrong(name, done)


def taken_again(folder):
    """The start of the window holds one engine up for longer than tacho waits (--timeout): its trace would hold no step."""
    with simulation(folder, "--count", "2", "--router", "vllm", "--fault", "stall@1:8s") as addresses:
        # So few steps are a trial themselves.
        done, report, _ = record(folder, target(addresses), "--timeout", "5s", "--steps", "12", "--duration", "1s", quick=NOTHING_ASKED)
        check("taken again: proven", done.returncode == 0 and all(r["proven"] for r in ranks(report)), (done.stdout, done.stderr))
        finds("taken again", report, "window-taken-again")
        check("taken again: said", re.search(
            rf"{addresses['workers'][1]['url']}: no token came in the window of 1\.\d s, and its trace holds no step: the window is "
            r"taken again", done.stderr), done.stderr)
        check("taken again: one trace a rank", all(len(r["files"]) == 1 and "-again_" in r["files"][0] for r in ranks(report)),
              ranks(report))
        left = [p.name for p in pathlib.Path(folder, "engine").rglob("*.json")]
        check("taken again: nothing is left of the first one", len(left) == 2, left)
        says_nothing_wrong("taken again", done)


def takes_no_requests(folder):
    """An engine that stands still for good is not called slow, and not one without a request."""
    with simulation(folder, "--count", "2", "--router", "vllm", "--fault", "stall@1:2m") as addresses:
        url = addresses["workers"][1]["url"]
        done, report, _ = record(folder, target(addresses), "--timeout", "4s", quick=NOTHING_ASKED)
        check("takes none: status", done.returncode == 4, (done.returncode, done.stderr))
        finds("takes none", report, "takes-no-requests")
        first = report["missing"][0] if report else ""
        check("takes none: named first, with what it does", url in first and re.search(
            r"it sent no token for [45]\.\d s: by its metrics \d+ requests run and \d+ wait, and no step ends", first), first)
        check("takes none: the other follows", "not started, because w1" in " ".join(report["missing"]), report["missing"])
        says_nothing_wrong("takes none", done)
        done, report, _ = record(f"{folder}/kept", target(addresses), "--timeout", "4s", "--keep-going", quick=NOTHING_ASKED)
        check("takes none, --keep-going: the other one is recorded", sum(r["proven"] for r in ranks(report)) == 1,
              (done.stderr, report["missing"]))


def slow_steps(folder):
    """Steps of some tenths of a second: slow, and proven."""
    with simulation(folder, "--model-size", "8b", "--speed", "0.03", "--count", "2", "--router", "vllm") as addresses:
        done, report, run_folder = record(folder, target(addresses), quick=NOTHING_ASKED, timeout=300)
        check("slow: proven", done.returncode == 0 and all(r["proven"] for r in ranks(report)), (done.stdout, done.stderr))
        check("slow: is not called dead", "takes-no-requests" not in json.dumps(report), report["findings"])
        check("slow: enough decode steps", min(decode_steps(run_folder)) >= 16, decode_steps(run_folder))
        finds("slow", report, "forecast-unsure")  # no request ended in a second
        check("slow: said", "the forecast rests on little: no request ended in the baseline of" in done.stderr, done.stderr)
        says_nothing_wrong("slow", done)


def least_steps(folder):
    """A step that costs half a second of flush: the budget holds nine of them, which would show nothing."""
    with simulation(folder, "--fault", "slow-table:500ms") as addresses:
        done, report, run_folder = record(folder, target(addresses), quick=NOTHING_ASKED)
        check("least: proven", done.returncode == 0 and ranks(report)[0]["proven"], (done.stdout, done.stderr))
        check("least: enough decode steps", min(decode_steps(run_folder)) >= 16, decode_steps(run_folder))
        check("least: said before", report["window"]["over_budget"] and re.search(
            r"bounded to 32 steps: .*, the least that shows how an engine decodes: over the budget of 100 MB and 5\.0 s", done.stderr),
              (report["window"], done.stderr))
        done, report, _ = record(folder, target(addresses), "--budget-flush", "2s", quick=NOTHING_ASKED)
        check("least: the user's budget is kept", report["window"]["steps"] == 4 and not report["window"]["over_budget"],
              report["window"])


def at_a_rate(folder):
    """Requests at a low rate leave the engine alone for a while: that is no silence, and the schedule has no end of its own."""
    with simulation(folder) as addresses:
        done, report, run_folder = record(folder, target(addresses), "--rate", "2", "--output-tokens", "8", quick=NOTHING_ASKED[:-2])
        check("rate: proven", done.returncode == 0 and ranks(report)[0]["proven"], (done.stdout, done.stderr))
        plan = json.loads((run_folder / "plan.json").read_text())
        check("rate: without an end", plan["until_stopped"] and plan["round_ns"] >= 60e9 and "duration_ns" not in plan, plan.keys())
        says_nothing_wrong("rate", done)


scenario.main([after_a_start, taken_again, takes_no_requests, slow_steps, least_steps, at_a_rate], __doc__)
