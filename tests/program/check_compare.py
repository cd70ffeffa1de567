#!/usr/bin/env python3
"""`tacho compare`: its forms, exit statuses and schema; kept results; damaged and wrong input; real recordings.

usage: check_compare.py TACHO [--only NAME ...]
"""
import contextlib
import csv
import gzip
import io
import json
import pathlib
import re
import sqlite3
import subprocess
import sys

import jsonschema
import scenario
from scenario import check, main

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests/support"))
from corpus import corpus  # noqa: E402

SCHEMA = jsonschema.Draft202012Validator(json.loads((ROOT / "docs/compare.schema.json").read_text()))


def tacho(*arguments):
    return subprocess.run([scenario.TACHO, *map(str, arguments)], capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL)


def compare(*arguments):
    return tacho("compare", *arguments)


def as_json(name, *arguments):
    done = compare(*arguments, "--json")
    result = json.loads(done.stdout)
    errors = [f"{error.json_path}: {error.message[:80]}" for error in SCHEMA.iter_errors(result)]
    check(f"{name}: docs/compare.schema.json", not errors, errors[:3])
    for part in [*result["phases"], *([result["whole"]] if "whole" in result else [])]:
        if "waterfall" in part:
            fall = part["waterfall"]
            check(f"{name}: the waterfall adds up", fall["base_ns"] + sum(p["ns"] for p in fall["parts"]) == fall["new_ns"], fall)
    return done.returncode, result


def simulated(folder, name, *options):
    done = tacho("simulate", "trace", "-o", folder / name, *options)
    check(f"simulate {name}", done.returncode == 0, done.stderr)
    return folder / name


def forms(folder):
    folder = pathlib.Path(folder)
    base = simulated(folder, "base", "--steps", "120", "--ranks", "2")
    new = simulated(folder, "new", "--steps", "120", "--ranks", "2", "--seed", "2", "--change", "host-late:300us")
    status, result = as_json("known change", base, new)
    check("comparable", status == 0 and result["comparable"], result["verdict"])
    moved = {m["name"] for m in result["metrics"] if m.get("beyond_noise")}
    check("the host is found", {"decode.idle.host-late", "decode.step"} <= moved, moved)
    text, markdown = compare(base, new).stdout, compare(base, new, "--markdown").stdout
    check("the verdict says where", "us of it in idle.host-late" in " ".join(text.split()), text[:400])
    check("Markdown has tables", "| idle.host-late |" in markdown, markdown[:400])
    table = list(csv.DictReader(io.StringIO(compare(base, new, "--csv").stdout)))
    metrics = {m["name"]: m for m in result["metrics"]}
    check("CSV has the JSON's metrics", [row["metric"] for row in table] == [m["name"] for m in result["metrics"]], len(table))
    check("and their values", all(abs(float(row["base"]) - metrics[row["metric"]]["base"]) < 1e-3 for row in table), table[:2])
    check("deterministic", text == compare(base, new, "--threads", "1").stdout, "")
    # From results kept by analyze, the same.
    for side in (base, new):
        (folder / f"{side.name}.json").write_text(tacho("analyze", side, "--json").stdout)
    status, kept = as_json("results", folder / "base.json", folder / "new.json")
    check("results give the same figures", kept["metrics"] == result["metrics"] and kept["phases"] == result["phases"], status)
    # A trace with itself.
    status, same = as_json("itself", base, base)
    check("nothing differs from itself", status == 0 and not any(m["difference"] for m in same["metrics"]), same["verdict"])
    check("and it says so", "both sides are the same traces" in same["remarks"], same["remarks"])


def repeated(folder):
    """A run that is named twice, as itself or as its results, is no second run."""
    folder = pathlib.Path(folder)
    base, new = (simulated(folder, name, "--steps", "60", "--seed", name[1:]) for name in ("s1", "s2"))
    (folder / "base.json").write_text(tacho("analyze", base, "--json").stdout)
    status, once = as_json("once", base, new)
    status, twice = as_json("twice", base, new, "--base", folder / "base.json", base, "--new", new)
    check("the same bounds", status == 0 and twice["metrics"] == once["metrics"] and twice["base"]["runs"] == 1, twice["base"])
    said = [remark for remark in twice["remarks"] if remark.endswith(", and counts once")]
    check("and it says so", len(said) == 3 and said[0] == f"{folder / 'base.json'} is the same run as {base}, and counts once", said)
    # On both sides it is no run of either, unless the sides are the same.
    for sides in ((base, new, "--base", new), (base, new, "--new", folder / "base.json")):
        status, shared = as_json("on both sides", *sides)
        check("a run on both sides: status 5", status == 5 and shared["verdict"].endswith("is on both sides, which hides a part of the difference"),
              (status, shared["verdict"]))
        check("it has no number, and one with --anyway", not shared["metrics"] and as_json("anyway", *sides, "--anyway")[1]["metrics"], shared)
    status, same = as_json("the same two", base, new, "--base", new, "--new", base)
    named = as_json("the same two, without BASE and NEW", "--base", base, new, "--new", new, base)
    check("without BASE and NEW the options name all runs", named[0] == 0 and named[1] == same, named[1])
    alone = compare(base, "--new", new)
    check("one of the two is missing", alone.returncode == 2 and "BASE and NEW, not 1" in alone.stderr, alone.stderr)
    check("all runs on both sides: nothing differs", status == 0 and not any(abs(m["difference"]) > 1e-6 for m in same["metrics"]), same["verdict"])
    # Windows of one recording.
    for name, window in (("w1", "0:30ms"), ("w2", "30ms:60ms"), ("w3", "50ms:80ms")):
        (folder / f"{name}.json").write_text(tacho("analyze", base, "--window", window, "--json").stdout)
    one, two, three = (folder / f"w{i}.json" for i in (1, 2, 3))
    _, windows = as_json("windows", one, new, "--base", two, three)
    check("windows that touch are two, those with time in common one", windows["base"]["runs"] == 2
          and f"{three} is left out: {two} has a part of the same recording" in windows["remarks"], (windows["base"], windows["remarks"]))
    for sides in ((two, three), (base, two), (two, new, "--new", three)):
        status, shared = as_json("overlapping windows", *sides)
        check("windows that overlap, one on each side: status 5", status == 5 and re.search("a part of .* is on both sides, which hides a part",
              shared["verdict"]), (status, shared["verdict"]))
    for sides, same in (((one, two), False), ((two, two), True)):
        status, apart = as_json("windows apart", *sides)
        check("windows without time in common, and the same one", "on both sides" not in apart["verdict"] and ("both sides are the same traces" in apart["remarks"]) == same,
              (status, apart["verdict"], apart["remarks"]))


def named(folder):
    """The two sides are called as the user called them, in all forms."""
    folder = pathlib.Path(folder)
    base, new, third = (simulated(folder, name, "--steps", "60", "--seed", name[1:], "--ranks", "2") for name in ("s1", "s2", "s3"))
    renamed = folder / "renamed.json"
    renamed.write_text(tacho("analyze", new, "--json").stdout)
    # A rank of a run beside it is no run of its own, and not named.
    sides = (renamed, base, "--base", third, f"{third}/rank0.3.pt.trace.json")
    text, markdown = (" ".join(compare(*sides, *form, "--wide").stdout.replace("\\_", "_").split()) for form in ([], ["--markdown"]))
    for name, shown in (("text", text), ("Markdown", markdown)):
        check(f"{name}: names what was typed", f"{renamed} and 1 more" in shown and re.search(f"{base}( · |, )", shown) and "rank0." not in shown.split("erdict")[0],
              shown[:400])
    status, result = as_json("names", *sides)
    check("JSON: names what was typed", result["base"]["names"] == [str(renamed), str(third)] and result["new"]["names"] == [str(base)]
          and all("rank" in path for path in result["base"]["paths"]), (result["base"], result["new"]))
    tacho("baseline", "save", "main", new, renamed, "--dir", folder / "kept")
    done = tacho("baseline", "compare", "main", base, "--dir", folder / "kept", "--markdown")
    check("a baseline by its name", re.search(r"(?i)base\W+main, ", done.stdout) and "kept/main" not in done.stdout, done.stdout[:400])


def cannot(folder):
    """Why nothing is compared: a side whose end is cut off, or none of whose steps can be measured."""
    folder = pathlib.Path(folder)
    base = simulated(folder, "base", "--steps", "60")
    trace = next(base.glob("rank0.*"))
    document = json.loads(trace.read_bytes())
    last = max(event["ts"] for event in document["traceEvents"] if event.get("name", "").startswith("execute_"))
    one = folder / "one.json"
    late = [event for event in document["traceEvents"] if event["ts"] >= last or event["ph"] == "M" or event.get("cat") == "user_annotation"]
    called = {event["args"].get("correlation") for event in late if event.get("cat", "").startswith("cuda_")}
    one.write_text(json.dumps({**document, "traceEvents": [event for event in late if event.get("cat", "").startswith("cuda_")
                                                           or event.get("args", {}).get("correlation") in called | {None}]}))
    status, result = as_json("one step", base, one)
    check("steps without a known length are not said to be absent", status == 5 and "has no step of this phase" not in result["verdict"]
          and "but none of known length" in result["verdict"], (status, result["verdict"]))
    check("what a length is, is said once", " ".join(result["remarks"]).count("a step lasts from") == 1 and "lasts" not in result["verdict"], result)
    cut = folder / "cut.json"
    cut.write_bytes(trace.read_bytes().rstrip()[:-9])
    status, result = as_json("cut off", base, cut, "--fail-on", "decode.step>+90%")
    check("cut off: steps are compared and judged, sums are not", status == 4 and result["phases"] and not result["launches"] + result["operators"]
          and result["gates"][0]["outcome"] == "passed" and "launches and operators: not compared, new is incomplete" in " ".join(result["remarks"]),
          (status, result["gates"], result["remarks"]))
    check("cut off: without gates it is incomplete", compare(base, cut).returncode == 4)
    copied = folder / "copied.json"
    copied.write_text(json.dumps({**document, "traceEvents": [event for event in document["traceEvents"] if event.get("cat") != "kernel"]})[:-9])
    done = compare(base, copied)
    text = " ".join(done.stdout.split())
    check("what is incomplete is named once", f"tacho: incomplete: {copied}: truncated-json" in done.stderr, done.stderr)
    check("a copy that ended before its kernels is no other model", "another model" not in text, text)
    done = compare(base, one, "--anyway")
    check("--anyway says that it cannot help", done.returncode == 5 and "--anyway cannot help" in done.stderr, done.stderr)


def gates(folder):
    folder = pathlib.Path(folder)
    base = simulated(folder, "base", "--steps", "120")
    new = simulated(folder, "new", "--steps", "120", "--seed", "2", "--change", "host-late:300us")
    for gate, status in [("decode.step.p50>+3%", 1), ("decode.step>+90%", 0), ("kernels.new", 0), ("idle.host-late>+10us", 1),
                         ("decode.step.p99>+3%", 1), ("load.ttft.p50>+3%", 1), ("decode.comm>+1%", 0),
                         ("decode.compute>+1%", 1)]:
        done = compare(base, new, "--fail-on", gate)
        check(f"{gate}: status {status}", done.returncode == status, (done.returncode, done.stderr))
    few = simulated(folder, "few", "--steps", "400", "--requests", "26")
    more = simulated(folder, "more", "--steps", "400", "--requests", "32", "--seed", "2")
    done = compare(few, more, "--fail-on", "kernels.slower")
    check("the same kernels with larger batches within a group are not slower", done.returncode == 0, done.stdout)
    done = compare(base, new, "--fail-on", "kernels.new,decode.step>+3%", "--json")
    outcomes = [(g["metric"], g["outcome"]) for g in json.loads(done.stdout)["gates"]]
    check("several gates", outcomes[-1] == ("decode.step", "failed") and done.returncode == 1, outcomes)
    done = compare(base, new, "--fail-on", "kernels.new")
    check("a phase that is not judged is named", done.returncode == 0 and "gates without a phase do not look at prefill: " in done.stderr, done.stderr)
    for gate, says in [("decode.stp>+3%", "did you mean decode.step"), ("decode.step", "a limit is missing"), ("decode.step>+3", "needs a unit"),
                       ("", "--fail-on takes a value"), (",", "--fail-on takes a value"), ("kernels.new>+3%", "is a count")]:
        done = compare(base, new, "--fail-on", gate)
        check(f"{gate} is refused", done.returncode == 2 and says in done.stderr, done.stderr)
    for gate, says in [("decode.compute>+1%", "decode.compute cannot be judged: compute is a figure of recordings without steps"),
                       ("decode.step.p99>+3%", "decode.step.p99 cannot be judged: it takes 200 steps on each side: base has "),
                       ("other.step>+1%", "other.step cannot be judged: no side has a step of this phase; compared: decode"),
                       ("load.ttft.p50>+3%", "load.ttft.p50 cannot be judged: base is not a recording of tacho record under a load")]:
        text = json.loads(compare(base, new, "--fail-on", gate, "--json").stdout)["gates"][0]["text"]
        check(f"{gate} says why there is no such figure", text.startswith(f"inconclusive: {gate}: {says}"), text)


def merged(folder):
    folder = pathlib.Path(folder)
    ranks = simulated(folder, "ranks", "--steps", "60", "--ranks", "2")
    one = folder / "one.json.gz"
    check("the ranks are merged", tacho("export", ranks, "-o", one).returncode == 0, "")
    status, result = as_json("merged", ranks, one)
    sides = [{key: result[side].get(key) for key in ("ranks", "engine", "gpus")} for side in ("base", "new")]
    check("a merged file has its ranks", status == 0 and sides[0] == sides[1] and sides[0]["ranks"] == 2, sides)
    same = [m for m in result["metrics"] if m["name"].startswith(("decode.step", "decode.kernels", "decode.idle"))]
    check("and their figures", len(same) > 5 and not any(m["difference"] for m in same), same)
    text = gzip.decompress(one.read_bytes()).decode()
    (ranks / "merged.json").write_text(text.replace('"exporter":"tacho",', "", 1))  # another tool's
    status, beside = as_json("merged beside its ranks", ranks, one)
    check("beside its ranks it counts for nothing", beside["phases"] == result["phases"], (status, beside["base"]))
    check("and is one of its traces", len(beside["base"]["paths"]) == 3 and beside["base"]["ranks"] == 2, beside["base"])


def damaged(folder):
    """What is wrong with the data of a side is a remark."""
    work = "start, end, deviceId, contextId, streamId, correlationId, globalPid, demangledName"
    sides = [pathlib.Path(folder) / f"{name}.sqlite" for name in ("base", "new")]
    for path, minor, end, name in zip(sides, (10, 999), (20, 9), (1, 99999999)):
        with contextlib.closing(sqlite3.connect(path)) as made:
            made.executescript(f"""CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT); INSERT INTO StringIds VALUES (1, 'gemm');
                CREATE TABLE META_DATA_EXPORT (name, value);
                INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_SCHEMA_VERSION_MAJOR', '3'), ('EXPORT_SCHEMA_VERSION_MINOR', '{minor}');
                CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL ({work});
                INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (10, {end}, 0, 1, 7, 1, 16777216, {name}), (30, 90, 0, 1, 7, 2, 16777216, {name});""")
    _, result = as_json("damaged", *sides)
    noted = [remark.split(": ")[:3] for remark in result["remarks"] if str(folder) in remark]
    want = [["new", f"{sides[1]}", f"{note} (1)"] for note in ("negative-duration", "unknown-string", "unknown-schema")]
    check("damaged: the remarks of the new side alone", noted == want, result["remarks"])
    for form in ([], ["--markdown"], ["--anyway"]):  # without the names it is not comparable
        text = compare(*sides, *form).stdout
        check(f"damaged: {form} has them", all(note in text for _, _, note in want), text)


def changed(trace, into, change):
    """A copy of a trace with `change` of its list of events."""
    document = json.loads(trace.read_bytes())
    into.write_text(json.dumps({**document, "traceEvents": change(document["traceEvents"])}))
    return into


def evidence(folder):
    """GPU work that is lost, and a device's clock that is off: of recordings with steps."""
    folder = pathlib.Path(folder)
    base = simulated(folder, "base", "--steps", "60")
    trace = next(base.glob("rank0.*"))
    on_device = ("kernel", "gpu_memcpy", "gpu_memset")
    off = changed(trace, folder / "off.json", lambda events: [{**event, "ts": event["ts"] - 3000} if event.get("cat") in on_device else event
                                                              for event in events])
    status, result = as_json("clock off", base, off, "--fail-on", "decode.idle.host-late>+90%,decode.gemm>+90%")
    names = {metric["name"] for metric in result["metrics"]}
    check("clock off: idle time is one part", "decode.idle" in names and not any(name.startswith("decode.idle.") for name in names), names)
    check("clock off: a remark says why", "causes of idle time: not compared, new's device clock is off against the host's" in result["remarks"],
          result["remarks"])
    check("clock off: causes are not judged, the rest is", status == 1 and [gate["outcome"] for gate in result["gates"]] == ["inconclusive", "passed"],
          result["gates"])
    status, result = as_json("clock off on both sides", off, off)
    check("clock off on both sides: no difference", status == 0 and result["verdict"].startswith("no difference beyond noise"), result["verdict"])

    launched = sorted({event["args"]["correlation"] for event in json.loads(trace.read_bytes())["traceEvents"] if event.get("cat") in on_device})
    without = lambda gone: lambda events: [event for event in events if not (event.get("cat") in on_device  # noqa: E731
                                                                           and event["args"].get("correlation") in gone)]
    first = changed(trace, folder / "first.json", without(set(launched[:len(launched) // 4])))
    for pair, side, lost in (((trace, first), "new", "the new run"), ((first, trace), "base", "the base")):
        status, result = as_json(f"first calls lost in {side}", *pair)
        check(f"first calls lost in {side}: steps are compared", status == 4 and f"; {lost} lost GPU work of " in result["verdict"]
              and "the first of the recording, and steps that lack work are left out" in result["verdict"], (status, result["verdict"]))
        check(f"first calls lost in {side}: calls and operators of the host are", result["operators"]
              and "GPU work" not in [row["name"] for row in result["launches"]], result["launches"])
    some = changed(trace, folder / "some.json", without(set(launched[2:40])))
    status, result = as_json("calls lost in one step", trace, some)
    check("calls lost in one step: the others are of unknown idle time", status == 5 and re.search(
        r"decode: new has \d+ steps of this phase, but when its device was idle is unknown: it lost GPU work of \d+ of \d+ calls", result["verdict"]),
        (status, result["verdict"]))
    many = changed(trace, folder / "many.json", without({correlation for i, correlation in enumerate(launched) if i % 8}))
    kept = folder / "kept.json"
    kept.write_text(tacho("analyze", many, "--json").stdout)
    for new in (many, kept):
        status, result = as_json(f"calls lost all over, {new.name}", trace, new)
        check(f"calls lost all over, {new.name}: steps and what to do", status == 5 and re.search(
            r"decode: the new run lacks the device time of \d+ of its \d+ decode steps: record it again", result["verdict"]), (status, result["verdict"]))


def one_rank_without_times(folder):
    """Whole recordings, where the times of one rank of three are refused, its GPU work is missing, or its file is cut off: kernels
    are of as many ranks as have times, and nobody guesses at another model."""
    gpu = ("kernel", "gpu_memcpy", "gpu_memset")

    def run_of(name, seed, damage=lambda text: text):
        run = simulated(pathlib.Path(folder), name, "--steps", "40", "--ranks", "3", "--seed", seed)
        for path in run.glob("rank*.pt.trace.json"):
            trace = json.loads(path.read_text())
            trace["traceEvents"] = [e for e in trace["traceEvents"] if "annotation" not in e.get("cat", "")]
            text = json.dumps(trace)
            path.write_text(damage(text) if path.name.startswith("rank1") else text)
        return run

    def without_times(text):
        trace = json.loads(text)
        for event in trace["traceEvents"]:
            if event.get("cat") in gpu:
                event["ts"] = 0
        return json.dumps(trace)

    def without_work(text):
        trace = json.loads(text)
        trace["traceEvents"] = [e for e in trace["traceEvents"] if e.get("cat") not in gpu]
        return json.dumps(trace)

    base, whole = run_of("base", 1), run_of("new", 2)
    status, expected = as_json("three ranks with times", base, whole)
    check("they are comparable", status == 0 and expected["comparable"], expected["verdict"])
    calls = {row["name"]: row["base_calls"] for row in expected["whole"]["kernels"]}
    for name, damage, says in (("refused", without_times, "base has times of 3 devices, new of 2"),
                               ("no-work", without_work, "base has times of 3 devices, new of 2"),
                               ("cut", lambda text: text[:len(text) * 7 // 10], "new is incomplete, so its sums are lower bounds")):
        new = run_of(name, 2, damage)
        done = compare(base, new)
        check(f"{name}: not comparable", done.returncode == 5 and says in " ".join(done.stdout.split()), (done.returncode, done.stdout))
        check(f"{name}: not another model", "layers" not in done.stdout, done.stdout)
        if name == "cut":
            continue
        _, result = as_json(f"{name}: all the same", base, new, "--anyway")
        rows = {row["name"]: row for row in result["whole"]["kernels"]}
        check(f"{name}: calls of one device", rows.keys() == calls.keys() and all(rows[n]["new_calls"] == calls[n] for n in calls),
              {n: (rows.get(n, {}).get("new_calls"), calls[n]) for n in calls})
        table = json.loads(tacho("analyze", new, "--json").stdout)["ranks"]["table"]
        check(f"{name}: no time of that rank", [["window_ns" in row, "kernel_sum_ns" in row] for row in table] ==
              [[True, True], [False, False], [True, True]], table)


def wrong_pairs(folder):
    folder = pathlib.Path(folder)
    base = simulated(folder, "base", "--steps", "60")
    for name, options, says in [("layers", ["--change", "layers:5"], "number of layers"), ("ranks", ["--ranks", "2"], "ranks"),
                                ("engine", ["--engine", "sglang"], "engines")]:
        new = simulated(folder, name, "--steps", "60", "--seed", "2", *options)
        status, result = as_json(name, base, new)
        check(f"{name}: status 5", status == 5 and not result["comparable"] and says in result["verdict"], (status, result["verdict"]))
        check(f"{name}: no number", not (result["metrics"] or result["phases"] or result["launches"] or result["operators"]), result)
        check(f"{name}: no row of CSV", compare(base, new, "--csv").stdout.count("\n") == 1, "")
        check(f"{name}: --anyway compares", compare(base, new, "--anyway").returncode == 0, "")
    short = simulated(folder, "short", "--steps", "3")
    idle = folder / "idle.json"
    idle.write_text('{"traceEvents": [{"ph": "X", "cat": "user_annotation", "name": "a", "pid": 1, "tid": 1, "ts": 0, "dur": 5}]}')
    for anyway in ([], ["--anyway"]):
        for new, says in ((short, "no batch size in common"), (idle, "new has no work of a device")):
            done = compare(base, new, *anyway)
            check(f"nothing in common with {new.name} {anyway}: status 5, and --anyway is no remedy", done.returncode == 5
                  and says in " ".join(done.stdout.split()) and "--anyway compares" not in done.stdout, (done.returncode, done.stdout))
    done = compare(base)
    check("one side is a usage error", done.returncode == 2 and "BASE and NEW" in done.stderr, done.stderr)
    done = compare(base, folder / "not-there")
    check("a missing side is unreadable", done.returncode == 3, (done.returncode, done.stderr))
    results = json.loads(tacho("analyze", base, "--json").stdout)
    for trace in results["traces"]:
        del trace["step_parts"]
    (folder / "old.json").write_text(json.dumps(results))
    done = compare(folder / "old.json", base)
    check("results of an older tacho are named", done.returncode == 5 and "analyse the traces again" in done.stderr, done.stderr)
    results["schema"] = 99
    (folder / "next.json").write_text(json.dumps(results))
    done = compare(folder / "next.json", base)
    check("results of another schema are refused", done.returncode == 3 and "schema 99" in done.stderr, done.stderr)


def real(folder):
    traces = corpus("comparisons of real traces")
    if not traces:
        return
    pair = [traces / f"GindaChen+nsys-ai/mfu_2gpu_{side}.sqlite" for side in ("before", "after")]
    status, result = as_json("mfu_2gpu", *pair)
    # Both GPUs together: first to last work, 598.51 ms before, by the oracle of the kernels alone 598.46 ms after; 46.37 ms less of kernels.
    metrics = {m["name"]: m for m in result["metrics"]}
    window, kernels = metrics["whole.window"], metrics["whole.kernel-time"]
    check("the window did not move", status == 0 and result["verdict"].startswith("the window did not move"), result["verdict"])
    check("and as much more idle time", "as much more idle time" in result["verdict"], result["verdict"])
    check("its figures", abs(2 * window["base"] - 598.51e6) < 1e4 and abs(2 * window["new"] - 598.46e6) < 1e5, window)
    check("46.37 ms less kernel time", abs(2 * kernels["difference"] + 46.37e6) < 1e4, kernels)
    done = compare(*pair, "--fail-on", "gemm>1ns,kernels.slower,comm.collective>+1%,decode.compute>+1%", "--json")
    outcomes = [g["outcome"] for g in json.loads(done.stdout)["gates"]]
    check("gates on what a whole recording does not have fail", done.returncode == 1 and outcomes == ["inconclusive"] * 4, outcomes)
    gates = "kernel-time>+1%,copy>+1ms,window>+1%"
    done = compare(*pair, "--fail-on", gates)
    check("gates on figures without bounds are inconclusive", done.returncode == 1 and "--without-bounds" in done.stderr, done.stderr)
    done = compare(*pair, "--fail-on", gates, "--without-bounds")
    check("gates on what it has pass by their values", done.returncode == 0, done.stderr)
    status, result = as_json("by stage", traces / "live-sglang-cpu/imm5", traces / "live-sglang-cpu/stage3")
    check("the files of one rank's stages are one rank", (status, result["base"]["ranks"], result["new"]["ranks"]) == (5, 1, 1), result)
    inference = traces / "AMD-AGI+TraceLens/inference"
    status, result = as_json("other phases", inference / "vllm_decode_full", inference / "vllm_prefilldecode_piecewise")
    check("decode beside prefill is not compared", status == 5, result["verdict"])


if __name__ == "__main__":
    main([forms, repeated, named, cannot, gates, merged, damaged, evidence, one_rank_without_times, wrong_pairs, real], __doc__)
