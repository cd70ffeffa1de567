#!/usr/bin/env python3
"""`tacho export`: each format opened by readers that are not ours, its figures against those of `tacho analyze --json` and `tacho query`;
parts of traces, several ranks, hostile names, what is refused, and what is left where writing fails.

usage: check_export.py TACHO [--only NAME ...]
"""
import csv
import gzip
import json
import os
import pathlib
import re
import resource
import signal
import sqlite3
import shutil
import subprocess
import time
from collections import Counter

import processes
import scenario
from analyze_run import RECORDING, kernel, run as analyze, write, write_trace
from exported import SERVER_STACKS, STACKS, TWO_RANKS, export, exported, folded_lines, only_traces, query, traces
from perfetto_file import Perfetto
from scenario import check, main, wait_for

FORMATS = ("kineto.json", "timeline.pftrace", "flame.speedscope.json", "cpu.folded", "torch.stacks", "table.csv", "tables.db")
HOSTILE = ['say "x"', "two\nlines", "semi;colon", "a,b", "\x1b[31m\x01", "<img onerror=x>", "", "caf\u00e9 \U0001f600", "\ud800", "x" * 5000]


def kineto_is_the_same_trace(folder):
    compared = 0
    for path in traces():
        done = analyze("--json", path)
        if done.returncode not in (0, 4) or len(only_traces(done)) != 1:
            continue
        name = path.name.removesuffix(".gz").removesuffix(".json") + ".json"  # a rank may be in it
        file = exported(path, pathlib.Path(folder) / "again" / name)
        events = json.loads(file.read_bytes())["traceEvents"]  # strict: UTF-8, and no NaN by the next line
        check(f"{name} has no NaN", "NaN" not in json.dumps(events) or "nan" in path.name)
        was, now = only_traces(done)[0], only_traces(analyze("--json", file))[0]
        now["facts"]["process_names"].remove("tacho") if "tacho" in now["facts"].get("process_names", []) else None
        for of in (was, now):
            for key in ("path", "bytes", "json_bytes", "events", "notes", "identity"):  # of the file, not of what happened
                of.pop(key, None)
        check(f"{name} read back", was == now, [(k, was.get(k), now.get(k)) for k in {*was, *now} if was.get(k) != now.get(k)][:2])
        starts = {e["id"] for e in events if e["ph"] == "s"}
        ends = [e["id"] for e in events if e["ph"] == "f"]
        check(f"{name}: flows from launch to work", set(ends) <= starts and
              len(ends) == was.get("launches", {}).get("with_launch", 0), (len(starts), len(ends)))
        compared += 1
    check("traces were compared", compared >= 7, compared)


def kineto_of_several_ranks(folder):
    folder = pathlib.Path(folder)
    file = exported(TWO_RANKS, folder / "both.json")
    events = json.loads(file.read_bytes())["traceEvents"]
    processes = {str(e["pid"])[:6] for e in events if e["ph"] == "X"}
    check("each rank has its processes", processes == {"[TP00]", "[TP01]"}, processes)
    slices = query(TWO_RANKS, "SELECT count(*) FROM slices")[0][0]
    check("all slices", sum(e["ph"] == "X" and e["cat"] != "tacho" for e in events) == int(slices), slices)
    four = folder / "four"
    made = subprocess.run([scenario.TACHO, "simulate", "trace", "-o", four, "--ranks", "4", "--steps", "3"], capture_output=True, text=True)
    write_trace(four / "a_front_end.json", [{"ph": "X", "cat": "front", "name": "tokenize", "pid": 9, "tid": 1, "ts": 0, "dur": 5}])
    check("four ranks", made.returncode == 0, made.stderr)

    def prefixes(*more):
        document = json.loads(exported(four, folder / "four.json", *more).read_bytes())
        return {e["pid"].partition("] ")[0] + "]" for e in document["traceEvents"] if e["ph"] == "X"}

    check("the prefix is the rank", prefixes("--rank", "1,3") == {"[TP01]", "[TP03]"}, prefixes("--rank", "1,3"))
    beside = prefixes("--session", "all")
    check("beside a front end", beside == {"[TP00]", "[TP01]", "[TP02]", "[TP03]", "[trace 0]"}, beside)
    one = json.loads(exported(TWO_RANKS, folder / "one.json", "--rank", "1").read_bytes())
    check("--rank", one["distributedInfo"]["rank"] == 1 and not any("[TP" in str(e["pid"]) for e in one["traceEvents"]), one["distributedInfo"])
    packed = exported(TWO_RANKS, folder / "both.json.gz")
    check("compressed", gzip.decompress(packed.read_bytes()) == file.read_bytes() and packed.stat().st_size * 4 < file.stat().st_size)


def perfetto(folder):
    shell = shutil.which("trace_processor_shell") or shutil.which("trace_processor")
    try:
        from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as protos
    except ImportError:
        protos = None
        print("*** NOT TESTED: Perfetto's own protobuf classes: the Python package perfetto is not installed", flush=True)
    if shell is None:
        print("*** NOT TESTED: trace_processor: it is not installed", flush=True)
    for path in [RECORDING, TWO_RANKS, *traces()[1:]]:
        done = analyze("--json", path)
        if done.returncode not in (0, 4):
            continue
        file = exported(path, pathlib.Path(folder) / "timeline.pftrace")
        opened = Perfetto(file.read_bytes())
        name = path.name
        ranks = {int(row[0]): int(row[1] or -1) for row in query(path, "SELECT trace, base_time_ns FROM ranks")}
        if -1 not in ranks.values() and ranks:
            moved = {trace: base for trace, base in ranks.items()}
        else:  # one clock cannot be told: durations alone are compared
            moved = None
        want = Counter()
        for trace, text, start, dur in query(path, "SELECT trace, name, start_ns, dur_ns FROM slices"):
            want[text, max(0, int(start) + moved[int(trace)]) if moved else None, int(dur)] += 1
        got = Counter((s["name"], s["start"] if moved else None, s["dur"]) for s in opened.slices
                      if s["category"] != "tacho" and "(ranges, instants)" not in opened.tracks[s["track"]]["name"])
        damaged = "broken-variants" in str(path)  # names that are not UTF-8 are repaired
        check(f"slices of {name}", got == want or damaged and got.total() == want.total(), (list((got - want).items())[:3], list((want - got).items())[:3]))
        own = Counter()
        for one in opened.slices:
            track = opened.path(one["track"])
            if one["category"] == "tacho" and track[-1].endswith("idle by cause"):
                own[one["name"]] += one["dur"]
        causes = Counter({cause: int(ns) for cause, ns in query(path, "SELECT cause, sum(dur_ns) FROM gaps GROUP BY cause")})
        check(f"idle causes of {name}", own == causes, (own, causes))
        steps = sum(opened.path(one["track"])[-1] == "steps" for one in opened.slices)
        check(f"steps of {name}", [[str(steps)]] == query(path, "SELECT count(*) FROM steps"), steps)
        begun = Counter(flow for one in opened.slices for flow in one["flows"])
        ended = Counter(flow for one in opened.slices for flow in one["ends"])
        check(f"flows of {name}", begun == ended and set(begun.values()) <= {1}, (begun.total(), ended.total()))
        launched = sum(t.get("launches", {}).get("with_launch", 0) for t in only_traces(done))
        check(f"launches of {name}", begun.total() == launched, (begun.total(), launched))
        if protos is not None:
            trace = protos.Trace.FromString(file.read_bytes())
            check(f"{name}: Perfetto's classes", sum(p.track_event.type == 1 for p in trace.packet) == len(opened.slices))
            trace.DiscardUnknownFields()
            check(f"{name}: no unknown field", trace.ByteSize() == file.stat().st_size)
        if shell is not None:
            sql = write(pathlib.Path(folder) / "sql", "SELECT count(*) FROM slice; SELECT value FROM stats WHERE severity = 'error' AND value > 0;")
            counted = subprocess.run([shell, "-q", sql, file], capture_output=True, text=True, timeout=120)
            check(f"{name}: trace_processor", counted.stdout.split()[1:2] == [str(len(opened.slices) + len(opened.instants))], counted)


def perfetto_tracks(folder):
    """What overlaps without nesting is all there; arguments keep their types; names stay apart."""
    folder = pathlib.Path(folder)
    path = write_trace(folder / "odd.json", [
        {"ph": "X", "cat": "kernel", "name": "a", "pid": 0, "tid": 7, "ts": -5, "dur": 10, "args": {"device": 0, "stream": 7, "f": 0.5, "t": "x;\n", "b": True, "l": [1, [2]], "i": -3}},
        {"ph": "X", "cat": "kernel", "name": "a", "pid": 0, "tid": 7, "ts": 0, "dur": 10, "args": {"device": 0, "stream": 7}},
        {"ph": "X", "cat": "kernel", "name": "z", "pid": 0, "tid": 7, "ts": 5, "dur": 0, "args": {"device": 0, "stream": 7}},
        {"ph": "X", "cat": "cpu_op", "name": "op", "pid": 1, "tid": 1, "ts": 0, "dur": 10},
        {"ph": "i", "name": "now", "pid": 1, "tid": 1, "ts": 4, "s": "t"},
        {"ph": "C", "name": "memory", "pid": 1, "ts": 3, "args": {"used": 5, "free": 2.5}},
        {"ph": "b", "cat": "async", "id": 1, "name": "request", "pid": 1, "tid": 1, "ts": 1}, {"ph": "e", "cat": "async", "id": 1, "name": "request", "pid": 1, "tid": 1, "ts": 9}])
    opened = Perfetto(exported(path, folder / "odd.pftrace").read_bytes())
    kernels = [s for s in opened.slices if s["category"] == "kernel"]
    first = min(kernels, key=lambda s: s["start"])
    check("the first time is 0", first["start"] == 0, first)
    check("arguments have their types", {k: first["args"].get(k) for k in "ftbli"} == {"f": 0.5, "t": "x;\n", "b": True, "l": "[1,[2]]", "i": -3}, first["args"])
    tracks = {s["track"] for s in kernels}
    check("overlapping kernels lie on two tracks that are shown as one", len(kernels) == 3 and len(tracks) == 2 and
          len({(opened.tracks[t]["key"], opened.path(t)) for t in tracks}) == 1, [opened.tracks[t] for t in tracks])
    check("tracks of other rows have other keys", len({(t["key"], t["name"]) for t in opened.tracks.values() if t["key"]}) ==
          len({t["key"] for t in opened.tracks.values() if t["key"]}))
    check("ranges and instants", [s["dur"] for s in opened.slices if s["name"] == "request"] == [8000] and [i["name"] for i in opened.instants] == ["now"])
    check("counters", sorted((opened.path(t)[-1], at, value) for t, at, value in opened.counters) == [("memory free", 8000, 2.5), ("memory used", 8000, 5)], opened.counters)
    hostile = write_trace(folder / "names.json", [kernel(10 * i, 5, name=name) for i, name in enumerate(HOSTILE)])
    opened = Perfetto(exported(hostile, folder / "names.pftrace").read_bytes())
    check("hostile names", [s["name"] for s in opened.slices if s["category"] == "kernel"][:2] == HOSTILE[:2])
    both = Perfetto(exported(TWO_RANKS, folder / "both.pftrace").read_bytes())
    roots = {both.path(s["track"])[0] for s in both.slices}
    check("a track for each rank", len(roots) == 2, roots)
    check("the times are Unix times", both.clocks.get(1) == both.clocks.get(6) and both.clocks.get(1, 0) > 1.7e18, both.clocks)
    packed = exported(TWO_RANKS, folder / "both.pftrace.gz")
    check("compressed", gzip.decompress(packed.read_bytes()) == (folder / "both.pftrace").read_bytes())


def parts(folder):
    folder = pathlib.Path(folder)
    first, = query(RECORDING, "SELECT min(start_ns) FROM slices WHERE category <> 'Trace'")
    begin, end = int(first[0]) + 1_000_000, int(first[0]) + 3_000_000
    inside = f"start_ns < {end} AND (end_ns > {begin} OR (end_ns = start_ns AND start_ns >= {begin}))"
    want = int(query(RECORDING, f"SELECT count(*) FROM slices WHERE {inside}")[0][0])
    window = ("--window", "1ms:3ms")
    events = json.loads(exported(RECORDING, folder / "part.json", *window).read_bytes())["traceEvents"]
    check("JSON of a window", sum(e["ph"] == "X" and e["cat"] != "tacho" for e in events) == want > 0, want)
    with sqlite3.connect(exported(RECORDING, folder / "part.db", *window)) as database:
        check("database of a window", database.execute("SELECT count(*) FROM slices").fetchone() == (want,), want)
    kernels = query(RECORDING, f"SELECT count(*) FROM kernels WHERE {inside}")[0][0]
    lines = list(csv.reader(exported(RECORDING, folder / "part.csv", *window).open(newline="")))
    check("CSV of a window", len(lines) == 1 + int(kernels), (len(lines), kernels))
    step = query(RECORDING, "SELECT start_ns, end_ns FROM steps WHERE number = 2")[0]
    events = json.loads(exported(RECORDING, folder / "step.json", "--step", "2").read_bytes())["traceEvents"]
    steps = [e for e in events if e.get("cat") == "user_annotation" and e["name"].startswith("execute_")]
    check("one step", len(steps) == 1 and round(steps[0]["ts"] * 1000) == int(step[0]), (steps, step))
    whole = {"cat": "Trace", "name": "PyTorch Profiler (0)", "pid": "Spans", "tid": "PyTorch Profiler", "ph": "X", "ts": 0, "dur": 900}
    frame = {"cat": "python_function", "name": "serve.py(1): loop", "pid": 1, "tid": 1, "ph": "X", "ts": 1, "dur": 898, "args": {"Python id": 1}}
    operator = {"cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ph": "X", "ts": 390, "dur": 15}
    long = write_trace(folder / "long.json", [whole, frame, operator, kernel(440, 30), kernel(0, 1), kernel(899, 1)])
    window = ("--window", "400us:450us")
    events = [e for e in json.loads(exported(long, folder / "long_part.json", *window).read_bytes())["traceEvents"] if e["ph"] == "X" and e["cat"] != "tacho"]
    times = {e["name"]: (float(e["ts"]), float(e["ts"]) + float(e["dur"])) for e in events}
    check("a part ends with its work", times == {"PyTorch Profiler (0)": (390, 470), "serve.py(1): loop": (390, 470), "aten::mm": (390, 405), "k": (440, 470)}, times)
    slices = Perfetto(exported(long, folder / "long_part.pftrace", *window).read_bytes()).slices
    of_trace = {s["name"]: s["dur"] for s in slices}
    check("and for Perfetto", of_trace.get("PyTorch Profiler (0)") == of_trace.get("serve.py(1): loop") == 80_000, of_trace)
    profiles = json.loads(exported(long, folder / "long_part.speedscope.json", *window).read_bytes())["profiles"]
    check("and for speedscope", {p["endValue"] - p["startValue"] for p in profiles} == {80_000, 30_000}, profiles)
    everything = json.loads(exported(long, folder / "long_whole.json").read_bytes())["traceEvents"]
    check("the whole is not cut", any(e.get("dur") == 900 for e in everything), everything[:3])
    said = [export(long, "-o", folder / name).stderr.decode() for name in ("said.json", "said.pftrace", "said.speedscope.json", "said.csv")]
    check("where to open it", "B): open it at https://ui.perfetto.dev\n" in said[0] and "ui.perfetto.dev\n" in said[1] and
          "www.speedscope.app\n" in said[2] and said[3].endswith("B)\n"), said)
    for arguments, words in ((("--window", "900s:"), "after the end of the trace"), (("--step", "99"), "it has "),
                             (("--step", "1", "--window", "1:2"), "do not go together"),
                             (("--rank", "7"), "rank 7")):
        done = export(RECORDING, "-o", folder / "none.json", *arguments)
        check(f"{arguments}: {words}", done.returncode == 2 and words in done.stderr.decode(), (done.returncode, done.stderr))
        check(f"{arguments}: no file", not (folder / "none.json").exists())
    gap = write_trace(folder / "gap.json", [kernel(0, 5), kernel(100, 5)])
    done = export(gap, "-o", folder / "none.json", "--window", "50us:60us")
    check("nothing in the window", done.returncode == 2 and
          b"nothing was recorded in --window 50.0 us to 60.0 us of a trace of 105 us" in done.stderr, done.stderr)
    idle = write_trace(folder / "idle.json", [kernel(0, 5), {**operator, "ts": 50}])
    for name, status in (("none.csv", 2), ("some.json", 0), ("some.db", 0)):
        done = export(idle, "-o", folder / name, "--window", "50us:60us")
        check(f"no GPU work in the window: {name}", done.returncode == status and (folder / name).exists() == (status == 0), done.stderr)
        check(f"no GPU work in the window: {name} says so", (b"no kernel, copy or memset was recorded in --window 50.0 us to 60.0 us of a trace of 65.0 us"
                                                             in done.stderr) == (status == 2), done.stderr)
    host = write_trace(folder / "host.json", [{**operator, "cat": "cuda_runtime", "name": "cudaLaunchKernel"}])
    done = export(host, "-o", folder / "none.csv")
    check("a whole trace without GPU work", done.returncode == 2 and not (folder / "none.csv").exists()
          and f"{host}: no kernel, copy or memset was recorded in it" in done.stderr.decode(), (done.returncode, done.stderr))
    done = export(host, idle, "-o", folder / "beside.csv")
    check("beside another one it lacks what it always does", "left out" not in done.stderr.decode() and (folder / "beside.csv").exists(), done.stderr)


def database(folder):
    for path in [RECORDING, TWO_RANKS, *traces()[-6:]]:
        if analyze("--json", path).returncode not in (0, 4):
            continue
        file = exported(path, pathlib.Path(folder) / "tables.db")
        with sqlite3.connect(file) as opened:
            check("sound", opened.execute("PRAGMA integrity_check").fetchall() == [("ok",)])
            tables = [name for name, in opened.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
            listed = subprocess.run([scenario.TACHO, "query", path, ".tables"], capture_output=True, text=True).stdout
            check("the tables of tacho query", tables == [line.split()[0] for line in listed.splitlines()], (tables, listed))
            for sql in ("SELECT count(*), sum(dur_ns), sum(length(name)) FROM slices", "SELECT count(*), sum(dur_ns), count(launch_id) FROM kernels",
                        "SELECT count(*), sum(pieces), sum(delay_ns) FROM launches", "SELECT count(*), sum(self_ns), sum(device_ns) FROM operators",
                        "SELECT cause, sum(dur_ns) FROM gaps GROUP BY 1 ORDER BY 1", "SELECT trace, device, busy_ns FROM devices ORDER BY 1, 2",
                        "SELECT number, phase, period_ns FROM steps ORDER BY trace, number", "SELECT trace, rank, path FROM ranks ORDER BY 1",
                        "SELECT k.name, o.name FROM kernels k JOIN operators o ON o.id = k.operator_id ORDER BY k.id LIMIT 5"):
                there = [["" if cell is None else str(cell) for cell in row] for row in opened.execute(sql)]
                check(f"{sql} of {path.name}", there == query(path, sql), (there, query(path, sql)))


def table(folder):
    for path in [RECORDING, TWO_RANKS, *traces()[-6:]]:
        done = analyze("--json", path)
        if done.returncode not in (0, 4) or not any(t.get("devices") for t in only_traces(done)):
            continue
        file = exported(path, pathlib.Path(folder) / "gpu.csv")
        lines = list(csv.DictReader(file.open(newline="", encoding="utf-8")))
        check("no line is short or long", all(None not in line and None not in line.values() for line in lines))
        totals = {}
        for line in lines:
            if line["kind"] == "kernel":
                key = line["trace"], line["device"], line["name"], line["category"]
                count, ns = totals.get(key, (0, 0))
                totals[key] = count + 1, ns + int(line["dur_ns"])
        want = {(t["path"], k["device"], k["name"], k["category"]): (k["count"], k["total_ns"]) for t in only_traces(done) for k in t["kernels"]}
        check(f"kernels of {path.name}", totals == want, (len(totals), len(want)))
        launched = sum(t.get("launches", {}).get("with_launch", 0) for t in only_traces(done))
        check(f"launches of {path.name}", sum(line["launch"] != "" for line in lines) == launched, launched)


def hostile_names(folder):
    folder = pathlib.Path(folder)
    events = []
    for i, name in enumerate(HOSTILE):
        events += [{**kernel(100 * i, 50, name=name), "args": {"device": 0, "stream": name, name: name, "correlation": i}},
                   {"ph": "X", "cat": "cpu_op", "name": name, "pid": name, "tid": name, "ts": 100 * i, "dur": 60},
                   {"ph": "X", "cat": "python_function", "name": name, "pid": 1, "tid": 1, "ts": 100 * i, "dur": 60},
                   {"ph": "M", "name": "process_name", "pid": name, "args": {"name": name}}]
    path = write_trace(folder / "hostile.json", events)
    path = write(folder / "hostile.json", path.read_bytes().replace(b"semi;colon", b"semi;\xff\xfecolon"))
    kernels = [e for e in json.loads(exported(path, folder / "again.json").read_bytes())["traceEvents"] if e.get("cat") == "kernel"]
    check("JSON", len(kernels) == len(HOSTILE) and kernels[1]["name"] == HOSTILE[1], kernels)
    with sqlite3.connect(exported(path, folder / "again.db")) as opened:
        names = [name for name, in opened.execute("SELECT name FROM kernels ORDER BY start_ns")]
        check("database", names[:2] == HOSTILE[:2] and len(names) == len(HOSTILE), names)
    lines = folded_lines(exported(path, folder / "again.folded").read_text(encoding="utf-8"))
    check("folded stacks", lines and all(stack.split(";")[0] == "hostile.json" for stack in lines), lines)
    names = [f["name"] for f in json.loads(exported(path, folder / "again.speedscope.json").read_bytes())["shared"]["frames"]]
    check("speedscope", HOSTILE[0] in names and HOSTILE[1] in names, names)
    lines = list(csv.reader(exported(path, folder / "again.csv").open(newline="", encoding="utf-8")))
    check("CSV", len(lines) == 1 + len(HOSTILE) and all(len(line) == len(lines[0]) for line in lines), len(lines))


def secrets(folder):
    """No format, table, report or JSON holds a key of the trace's metadata, arguments or names, unless asked to."""
    folder = pathlib.Path(folder)
    hidden = ["hf_" + "AbCd1234" * 4, "sk-proj-" + "x9" * 16, "s3cret-of-env", "plainpassword", "AKIA" + "Q7" * 8, "varying0", "varying99",
              "in-brackets", "second-key", "in-a-text"]
    kept = ["token_count", "key_cache", "12345678", "/root/of/all"]
    environment = {"HF_TOKEN": hidden[0], "OPENAI_API_KEY": hidden[2], "HOME": kept[3], "token_count": kept[2]}
    events = [{"ph": "M", "name": "process_name", "pid": 1, "args": {"name": f"vllm serve --api-key {hidden[2]}"}},
              {"ph": "X", "cat": "cpu_op", "name": "load", "pid": 1, "tid": 1, "ts": 0, "dur": 50,
               "args": {"env": environment, "password": hidden[3], "note": f"with {hidden[1]}", "key_cache": [1, 2]}},
              {"ph": "X", "cat": "user_annotation", "name": f"fetch {hidden[4]}", "pid": 1, "tid": 1, "ts": 60, "dur": 5},
              {"ph": "X", "cat": "user_annotation", "name": f"[TP0] api_key='{hidden[7]}'", "pid": 1, "tid": 1, "ts": 66, "dur": 1,
               "args": {"argv": ["--api-key", hidden[7], hidden[8], "--port", "1"], "text": json.dumps({"password": f'"{hidden[9]}"'}),
                        "line": f"password:\nfirst word ssh://git@host/a"}}]
    events += [{"ph": "X", "cat": "cpu_op", "name": "call", "pid": 1, "tid": 1, "ts": 100 + 10 * i, "dur": 5, "args": {"api_key": f"varying{i}"}}
               for i in range(100)]
    notes = {"note": "password:\nabcdefgh1 rest", "store": {"rank": 3, "text": "TOKEN_PASSWORD=\nabcd"}}
    path = write_trace(folder / "t.json", [*events, kernel(70, 20)], environment=environment, **notes)
    raw = path.read_bytes()
    said = b"keys or passwords are blanked: --keep-secrets keeps them"
    for name in FORMATS:
        if name.endswith(".stacks"):
            continue
        for more in ([], ["--keep-secrets"]):
            file = folder / name
            file.unlink(missing_ok=True)
            done = export(path, "-o", file, "--format", "kineto", *more) if name.startswith("kineto") else export(path, "-o", file, *more)
            check(f"{name}: says so once", done.stderr.count(said) == (0 if more else 1), done.stderr)
            found = [text for text in hidden if text.encode() in file.read_bytes()]
            check(f"{name} {more}: holds", not found if not more else bool(found) or name.startswith("table.csv"), found)
    again = exported(path, folder / "again.json")
    text = again.read_text()
    check("the same lengths", all(f'"{"*" * len(secret)}"' in text for secret in (hidden[0], hidden[2], hidden[3])) and
          f'sk-{"*" * (len(hidden[1]) - 3)}"' in text, text[:1000])
    whole = json.loads(text)
    check("JSON stays JSON", all(whole.get(key) == value for key, value in notes.items()), {key: whole.get(key) for key in notes})
    inner = [event["args"] for event in whole["traceEvents"] if event["name"].startswith("[TP0]")]
    check("texts stay what they were", set(json.loads(inner[0]["text"])["password"]) == {"*"} and
          inner[0]["line"] == "password:\nfirst word ssh://git@host/a", inner)
    check("what is no secret stays", all(word in text for word in kept), [word for word in kept if word not in text])
    was, now = only_traces(analyze("--json", path))[0], only_traces(analyze("--json", again))[0]
    for of in (was, now):
        for key in ("path", "bytes", "json_bytes", "events", "notes", "identity"):
            of.pop(key, None)
    now["facts"]["process_names"] = [name for name in now["facts"]["process_names"] if name != "tacho"]
    check("it is analysed the same", was == now, [(k, was.get(k), now.get(k)) for k in {*was, *now} if was.get(k) != now.get(k)][:2])
    check("an export has none left", said not in export(again, "-o", folder / "third.json").stderr)
    outputs = {"analyze": analyze("--json", path), "screen": analyze(path), "summary": analyze("--summary", "--json", path)}
    for name, words in (("query", ["query", path, "SELECT * FROM slices", "--csv"]), ("report", ["report", path, "-o", "-"]),
                        ("stats", ["stats", path, "--report", "nvtx_sum", "--csv"])):
        outputs[name] = subprocess.run([scenario.TACHO, *map(str, words)], capture_output=True, timeout=120)
    for name, done in outputs.items():
        check(f"{name}: holds none", not [text for text in hidden if text.encode() in done.stdout], done.stdout[:500])
        check(f"{name}: says so", said in done.stderr or name in ("screen", "summary"), done.stderr)
    kept_texts = subprocess.run([scenario.TACHO, "stats", str(path), "--report", "nvtx_sum", "--csv", "--keep-secrets"], capture_output=True, timeout=120)
    check("stats --keep-secrets", hidden[7].encode() in kept_texts.stdout and said not in kept_texts.stderr, kept_texts)
    check("the trace is as it was", path.read_bytes() == raw)


def refused(folder):
    folder = pathlib.Path(folder)
    for arguments, words in (((RECORDING,), "-o FILE"), ((RECORDING, "-o", folder / "x.txt"), "--format"),
                             ((RECORDING, "-o", folder / "x.txt", "--format", "svg"), "--format is "), (("-o", folder / "x.json"), "no trace given"),
                             ((RECORDING, "-o", "-", "--format", "sqlite"), "into a file"), ((RECORDING, "-o", folder / "x.db.gz"), "not compressed"),
                             ((RECORDING, "-o", folder, "--format", "csv"), "is a folder")):
        done = export(*arguments)
        check(f"{arguments[1:]}: {words}", done.returncode == 2 and words in done.stderr.decode(), (done.returncode, done.stderr))
    results = write(folder / "results.json", analyze("--json", RECORDING).stdout)
    done = export(results, "-o", folder / "x.json")
    check("results have no events", done.returncode == 3 and b"hold no events for an export" in done.stderr, done.stderr)
    for name in FORMATS:
        file = write(folder / name, "a;b of mine\n")
        done = export(STACKS, "-o", file)
        check(f"{name}: another's file stays", done.returncode == 3 and b"move it away" in done.stderr and file.read_text() == "a;b of mine\n", done.stderr)
        file.unlink()
        exported(STACKS, file)
        first = file.read_bytes()
        if name not in ("kineto.json", "flame.speedscope.json"):
            done = analyze(file)
            check(f"{name}: no trace, but made from one", done.returncode == 3 and b"was made from" in done.stderr, done.stderr)
        stacks = name.endswith((".folded", ".stacks"))
        if stacks:
            done = export(STACKS, "-o", file, "--window", "0:1ms")
            check(f"{name}: not without --replace", done.returncode == 2 and b"--replace" in done.stderr and file.read_bytes() == first, done.stderr)
        done = export(STACKS, "-o", file, *(["--replace"] if stacks else []))
        check(f"{name}: an earlier export is replaced, by the same bytes", done.returncode == 0 and file.read_bytes() == first, done.stderr)
    packed = exported(RECORDING, folder / "x.csv.gz")
    check("a compressed one too", export(RECORDING, "-o", packed).returncode == 0)
    trace = write(folder / "own.json", gzip.decompress(RECORDING.read_bytes()))
    check("the trace itself stays", export(trace, "-o", trace).returncode == 3)
    own = exported(RECORDING, folder / "self.json")
    before = own.read_bytes()
    for output in (own, folder / "." / "self.json"):
        done = export(own, "-o", output, "--window", "1ms:3ms")
        check("an export that is read stays", done.returncode == 2 and b"one of the traces" in done.stderr and own.read_bytes() == before, done.stderr)
    run = folder / "run"
    shutil.copytree(TWO_RANKS, run)
    first = exported(run, run / "all.json").read_bytes()
    done = export(run, "-o", run / "all.json")
    check("an export in the folder that is read", done.returncode in (0, 4) and b"all.json: an export of tacho, left out" in done.stderr and
          (run / "all.json").read_bytes() == first, done.stderr)
    write(folder / "other.stacks", "line without a number\n")
    check("--replace of another file", export(STACKS, "-o", folder / "other.stacks", "--replace").returncode == 3)
    check("--replace of other formats", export(STACKS, "-o", folder / "x.json", "--replace").returncode == 2)
    check("nothing is left behind", not [p for p in folder.iterdir() if p.name.startswith(".")], list(folder.iterdir()))


def unwritable(folder):
    folder = pathlib.Path(folder)

    def small_files():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))

    for name in FORMATS:
        in_new_folder = folder / "not" / "there" / name
        done = export(SERVER_STACKS, "-o", in_new_folder, preexec_fn=small_files)
        check(f"{name}: the disk is full", done.returncode == 3 and b"cannot write" in done.stderr, (done.returncode, done.stderr))
        check(f"{name}: no half file, and no folder", list(folder.iterdir()) == [], list(folder.iterdir()))
        done = export(STACKS, "-o", in_new_folder)
        check(f"{name}: missing folders are made", done.returncode == 0 and in_new_folder.stat().st_size > 0, done.stderr)
        shutil.rmtree(folder / "not")
    with open("/dev/full", "wb") as full:
        done = export(RECORDING, "-o", "-", "--format", "kineto", stdout=full)
        check("standard output is full", done.returncode == 3 and b"standard output" in done.stderr, done.stderr)
    left = subprocess.run(f"{scenario.TACHO} export '{RECORDING}' -o - --format csv | head -1", shell=True, capture_output=True, text=True)
    check("a reader that leaves", left.stdout.startswith("trace,rank,") and left.stderr == "", left)
    both = export(RECORDING, "-o", "-", "--format", "csv")
    check("standard output", both.stdout == exported(RECORDING, folder / "x.csv").read_bytes())


def progress(folder):
    """On a terminal, unless it is turned off, a line says that it writes."""
    folder = pathlib.Path(folder)
    trace = long_trace(folder)
    for more in ([], ["--no-progress"]):
        ours, theirs = processes.open_terminal()
        with processes.running([scenario.TACHO, "export", trace, "-o", folder / "run.db", *more], stdin=subprocess.DEVNULL, stderr=theirs) as process:
            os.close(theirs)
            said = processes.read_to_the_end(ours, process).decode()
        os.close(ours)
        check(f"it writes {more}", (re.search(r"\rwriting run.db, [\d.]+ .?B  [\d.]+ s\x1b", said) is None) == bool(more), said[-300:])
        check(f"then it says where {more}", re.search(r"(^|\n|\x1b\[K)tacho: the export is in [^\r\n]*\r\n$", said), said[-300:])


def long_trace(folder):
    made = subprocess.run([scenario.TACHO, "simulate", "trace", "-o", folder / "made", "--steps", "2000"], capture_output=True)
    check("a long trace", made.returncode == 0, made.stderr)
    return folder / "made"


def interrupted(folder):
    """Ctrl-C while it writes, and while nobody reads what it writes: nothing is left behind, and an earlier file stays."""
    folder = pathlib.Path(folder)
    long_trace(folder)
    for name in ("kineto.json.gz", "timeline.pftrace.gz", "flame.speedscope.json.gz", "table.csv.gz", "tables.db"):
        to = folder / "to" / name
        to.parent.mkdir(exist_ok=True)
        to.write_bytes(b"")  # an empty file may be replaced
        with processes.running([scenario.TACHO, "export", str(folder / "made"), "-o", str(to)], stdin=subprocess.DEVNULL,
                               stderr=subprocess.PIPE, text=True) as process:
            check(f"{name}: it writes", wait_for(lambda: any(p.name.startswith(".") for p in to.parent.iterdir()) or process.poll() is not None, pause=0.01))
            process.send_signal(signal.SIGINT)
            status = process.wait(processes.PATIENCE_S)
            said = process.stderr.read()
        check(f"{name}: Ctrl-C: status", status == 130, (status, said))
        check(f"{name}: Ctrl-C: said", said.endswith("interrupted\n"), said)
        check(f"{name}: Ctrl-C: nothing is left", [p.name for p in to.parent.iterdir()] == [name] and to.read_bytes() == b"",
              list(to.parent.iterdir()))
        to.unlink()
    with processes.running([scenario.TACHO, "export", str(folder / "made"), "-o", "-", "--format", "csv"], stdin=subprocess.DEVNULL,
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        check("a full pipe: it writes", process.stdout.read(6) == "trace,")
        time.sleep(0.3)
        process.send_signal(signal.SIGINT)
        check("a full pipe: Ctrl-C", process.wait(processes.PATIENCE_S) == 130, process.returncode)


if __name__ == "__main__":
    main([kineto_is_the_same_trace, kineto_of_several_ranks, perfetto, perfetto_tracks, parts, database, table, hostile_names, secrets, refused, unwritable, progress, interrupted], __doc__)
