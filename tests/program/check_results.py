#!/usr/bin/env python3
"""Results that `tacho analyze --json` wrote, read back: every screen is the same as that of the traces; ranks brought together from
several files; what needs events, damaged and foreign results are refused.

usage: check_results.py TACHO [--only NAME ...]
"""
import json
import pathlib
import sys

import scenario
from analyze_run import RECORDING, expect, kernel, run, write, write_trace
from scenario import check, main

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests/support"))
from corpus import corpus  # noqa: E402

SCREENS = [["--json"], [], ["--markdown"], ["--kernels", "--wide"], ["--ops"], ["--launches", "--devices", "--gaps", "--steps", "--copies"],
           ["--ranks", "--markdown"]]
TWO_RANKS = ROOT / "tests/data/vllm-cpu/tp2"


def without_commands(text, *paths):
    """The next commands name what was read, and no timeline is proposed for results."""
    for path in paths:
        text = text.replace(str(path), "PATH")
    return [line for line in text.splitlines() if "  tacho " not in line and "`tacho " not in line]


def read_back(folder):
    folder = pathlib.Path(folder)
    inputs = [RECORDING, TWO_RANKS, *sorted((ROOT / "tests/data").rglob("*.json.gz"))[:6]]
    if real := corpus("results of real traces"):
        inputs += [p for p in sorted(real.rglob("*")) if p.name.endswith((".json.gz", ".json", ".tar.gz", ".tmp", ".sqlite")) and p.stat().st_size < 3_000_000]
        inputs += [real / "live-sglang-cpu/tp2-merged", real / "live-vllm-cpu", real / "facebookresearch+HolisticTraceAnalysis"]
    compared = 0
    for path in inputs:
        results = folder / "results.json"
        written = run("--json", path)
        if written.returncode not in (0, 4):
            continue
        results.write_bytes(written.stdout)
        for screen in SCREENS:
            of_trace, of_results = run(path, *screen), run(results, *screen)
            lines = [without_commands(done.stdout.decode(), path, results) for done in (of_trace, of_results)]
            differ = [pair for pair in zip(*lines) if pair[0] != pair[1]]
            check(f"{path.name} {' '.join(screen)}: the same from results", lines[0] == lines[1] and of_trace.returncode == of_results.returncode,
                  (of_trace.returncode, of_results.returncode, differ[:1], of_results.stderr[:300]))
            compared += 1
    check("screens were compared", compared >= 40, compared)


def csv(folder):
    folder = pathlib.Path(folder)
    results = write(folder / "r.json", run("--json", TWO_RANKS).stdout)
    for source, into in ((TWO_RANKS, "a"), (results, "b")):
        run(source, "--csv", folder / into)
    files = sorted(p.name for p in (folder / "a").iterdir())
    check("--csv: the same files", files and files == sorted(p.name for p in (folder / "b").iterdir()), files)
    for name in files:
        check(f"--csv: {name}", (folder / "a" / name).read_bytes() == (folder / "b" / name).read_bytes())


def ranks_together(folder):
    folder = pathlib.Path(folder)
    traces = sorted(TWO_RANKS.rglob("*.json.gz"))
    check("two ranks", len(traces) == 2, traces)
    parts = [write(folder / f"{i}.json", run("--json", trace).stdout) for i, trace in enumerate(traces)]
    of_traces, of_results, mixed = (json.loads(run("--json", *paths).stdout) for paths in (traces, parts, [traces[0], parts[1]]))
    check("the table over ranks from two results", of_results == of_traces, of_results.get("ranks"))
    check("a trace beside results", mixed == of_traces, mixed.get("ranks"))
    twice = json.loads(run("--json", *traces, *parts).stdout)
    check("traces beside their own results count once", twice == of_traces, twice.get("ranks"))
    chosen = write(folder / "chosen.json", run("--json", TWO_RANKS, "--rank", "1").stdout)
    check("results of one chosen rank lack no other", json.loads(run("--json", chosen).stdout) == json.loads(chosen.read_text()), chosen)
    same_path = [json.loads(part.read_text()) for part in parts]
    for part in same_path:
        part["traces"][0]["path"] = "/tmp/trace.json"
    paths = [write(folder / name, json.dumps(part)) for name, part in zip(("h0.json", "h1.json"), same_path)]
    both = json.loads(run("--json", *paths).stdout)
    check("one path on two machines: two ranks", sorted(t["rank"] for t in both["traces"]) == [0, 1] and len({t["path"] for t in both["traces"]}) == 2
          and [r["steps"] for r in both["ranks"]["table"]] == [r["steps"] for r in of_traces["ranks"]["table"]], both["ranks"])
    one = json.loads(run("--json", *parts, "--rank", "1").stdout)
    check("--rank chooses from results", [t["rank"] for t in one["traces"]] == [1], one["traces"])


def report(folder):
    folder = pathlib.Path(folder)
    results = write(folder / "r.json", run("--json", RECORDING).stdout)
    done = scenario.run("report", results, "-o", folder / "r.html")
    check("a report of results", done.returncode == 0 and "</html>" in (folder / "r.html").read_text(), done.stderr)
    check("it says why it draws less", "which hold no events" in (folder / "r.html").read_text())


def needs_events(folder):
    folder = pathlib.Path(folder)
    results = write(folder / "r.json", run("--json", RECORDING).stdout)
    for more in (["--window", "0s:1s"], ["--device", "cpu"], ["--rules", write(folder / "my.rules", "")], ["--summary"]):
        expect(f"results with {more[0]}", run(results, *more), 3, "r.json", f"hold no events for {more[0]}:", "name the trace")
    expect("both options are named", run(results, "--window", "0s:1s", "--device", "cpu"), 3, "for --window and --device:")
    done = scenario.run("view", results, "--no-open")
    check("view of results", done.returncode == 3 and "hold no events for a timeline" in done.stderr, (done.returncode, done.stderr))


def folders(folder):
    folder = pathlib.Path(folder)
    beside = folder / "beside"
    beside.mkdir()
    for i, trace in enumerate(sorted(TWO_RANKS.rglob("*.json.gz"))):
        write(beside / f"{i}.json", run("--json", trace).stdout)
    check("a folder of results is a run", json.loads(run("--json", beside).stdout) == json.loads(run("--json", TWO_RANKS).stdout))
    write_trace(beside / "trace.json", [kernel(0, 5)])
    mixed = json.loads(run("--json", beside).stdout)
    check("a folder's results are left out beside its traces", len(mixed["traces"]) == 1, [t["path"] for t in mixed["traces"]])
    check("they are named", [f"{i}.json: results" in mixed["skipped"][i] and "name the file" in mixed["skipped"][i] for i in (0, 1)] == [True] * 2,
          mixed["skipped"])


def failures(folder):
    """What the original run could not read stays a failure: the same words, the same exit status."""
    folder = pathlib.Path(folder)
    traces = folder / "traces"
    traces.mkdir()
    write_trace(traces / "rank0.json", [kernel(0, 5)])
    write(traces / "rank1.json", "")
    of_traces = run("--json", traces)
    results = write(folder / "r.json", of_traces.stdout)
    of_results = run("--json", results)
    check("a failure is one of the results too", of_traces.returncode == of_results.returncode == 4 and b"rank1.json: is empty" in of_traces.stderr
          and of_traces.stderr == of_results.stderr, (of_traces.returncode, of_results.returncode, of_results.stderr))
    check("and is written again", of_results.stdout == of_traces.stdout and json.loads(of_results.stdout)["failed"])
    check("once", run("--json", results, write(folder / "again.json", of_traces.stdout)).stdout == of_traces.stdout)


def next_commands(folder):
    folder = pathlib.Path(folder)
    results = write(folder / "r.json", run("--json", TWO_RANKS).stdout)
    screen = run(results).stdout.decode()
    check("next: what works with results", f"tacho report {results}" in screen and "tacho view" not in screen and "in full" in screen, screen[-600:])
    for what, paths, views in (("a trace", RECORDING, True), ("results", results, False)):
        done = scenario.run("explain", paths, "finding:1")
        check(f"next of a finding in {what}", done.returncode == 0 and ("tacho view" in done.stdout) == views, (done.stdout[-600:], done.stderr))


def bad_results(folder):
    folder = pathlib.Path(folder)
    good = json.loads(run("--json", RECORDING).stdout)

    def refused(what, change, *words):
        changed = json.loads(json.dumps(good))
        change(changed)
        expect(what, run(write(folder / "bad.json", json.dumps(changed))), 3, "bad.json", *words)

    refused("another schema", lambda d: d.update(schema=2), "schema 2", "reads schema 1")
    refused("text for a number", lambda d: d["traces"][0]["devices"][0].update(busy_ns="5"), "traces[0].devices[0].busy_ns", "whole number")
    refused("a negative count", lambda d: d["traces"][0]["ops"][2].update(count=-1), "traces[0].ops[2].count", "not negative")
    refused("a time of ten thousand years", lambda d: d["traces"][0]["span"].update(last_ns=2**62), "traces[0].span.last_ns")
    refused("an absent time", lambda d: d["traces"][0]["devices"][0].pop("busy_ns"), "traces[0].devices[0].busy_ns", "expected a value")
    refused("a negative time", lambda d: d["traces"][0]["devices"][0].update(busy_ns=-1), "traces[0].devices[0].busy_ns")
    refused("a schema that is text", lambda d: d.update(schema="1"), "schema: expected a whole number")
    refused("an unknown cause", lambda d: d["traces"][0]["idle"]["causes"][0].update(id="gremlins"), "idle.causes[0].id", "knows")
    refused("a row that is a number", lambda d: d["traces"][0]["ops"].insert(0, 7), "traces[0].ops[0]", "an object")
    refused("a list that is none", lambda d: d["traces"][0].update(notes={}), "traces[0].notes", "a list")
    whole = run("--json", RECORDING).stdout
    for size in (20, 60, 100, len(whole) // 2, len(whole) - 2):
        expect(f"cut at {size}", run(write(folder / "bad.json", whole[:size])), 3, "bad.json", "results", f"cut off at byte {size}", "again")
    expect("on standard input", run("-", input=whole), 3, "holds results of tacho analyze, which are read from a file")
    summary = write(folder / "s.json", run("--json", "--summary", RECORDING).stdout)
    expect("totals of --summary", run(summary), 3, "s.json")


if __name__ == "__main__":
    main([read_back, csv, ranks_together, report, needs_events, folders, failures, next_commands, bad_results], __doc__)
