#!/usr/bin/env python3
"""`tacho stats`: row by row against figures of a real nsys that are kept, against a real nsys where one is installed, against SQL of its
own, and of Kineto's traces against `analyze --json`; reports (.nsys-rep) that an nsys exports; what is refused.

usage: check_stats.py TACHO [--only NAME ...]
       check_stats.py --keep NSYS      makes the kept figures anew: tests/data/nsys-stats/figures.json
"""
import collections
import csv
import hashlib
import io
import json
import os
import pathlib
import re
import shutil
import signal
import sqlite3
import statistics
import subprocess
import sys
import time

import processes
import scenario
from analyze_run import kernel, run as analyze, write_trace
from scenario import Skipped, check, main

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests/support"))
from corpus import corpus  # noqa: E402

KEPT = ROOT / "tests/data/nsys-stats/figures.json"
# By the names that nsys 2022.4 knows.
REPORTS = ["nvtxsum", "osrtsum", "cudaapisum", "gpukernsum", "gpumemtimesum", "gpumemsizesum", "kernexecsum", "gputrace", "nvtxkernsum",
           "nvtxgpuproj"]
# nsys looks for what lies around a range in an index of 32-bit floats, which loses some; its ids are rowids.
NOT_COMPARED = {"nvtxgpuproj": {"Lvl", "NumChild", "RangeId", "ParentId", "RangeStack"}}


def exports():
    folder = corpus("tacho stats on exports of nsys")
    if folder is None:
        raise Skipped("there is no corpus")
    return folder, sorted(folder.glob("*/*.sqlite"))


def stats(*arguments, **more):
    return subprocess.run([scenario.TACHO, "stats", *map(str, arguments)], capture_output=True, text=True, timeout=120, **more)


def rows_in(text, report):
    """The heading and the rows of the only table in a CSV text."""
    rows = [row for row in csv.reader(io.StringIO(text)) if row]
    if len(rows) < 2:
        return [], []
    kept = [i for i, name in enumerate(rows[0]) if name not in NOT_COMPARED.get(report, ())]
    return [rows[0][i] for i in kept], sorted(tuple("" if row[i] == "None" else row[i] for i in kept) for row in rows[1:])


def by_nsys(nsys, path, report):
    done = subprocess.run([nsys, "stats", "-q", "-r", report, "--format", "csv", str(path)], capture_output=True, text=True, timeout=120)
    return rows_in(done.stdout, report)


def by_tacho(path, report):
    return rows_in(stats(path, "-r", report, "--csv").stdout, report)


def digest(heading, rows):
    return {"rows": len(rows), "sha256": hashlib.sha256(json.dumps([heading, rows]).encode()).hexdigest()}


def keep(nsys):
    folder, files = exports()
    version = subprocess.run([nsys, "--version"], capture_output=True, text=True).stdout.split()[-1]
    kept = {}
    for path in files:
        of_file = kept[str(path.relative_to(folder))] = {}
        for report in REPORTS:
            heading, rows = by_nsys(nsys, path, report)
            if rows:
                of_file[report] = digest(heading, rows)
    KEPT.parent.mkdir(exist_ok=True)
    KEPT.write_text(json.dumps({"nsys": version, "files": kept}, indent=1) + "\n")


def kept_figures(folder):
    """The figures that a real nsys gave, kept as digests: its rows are of other people's traces."""
    at, _ = exports()
    kept = json.loads(KEPT.read_text())
    for name, reports in kept["files"].items():
        for report in REPORTS:
            heading, rows = by_tacho(at / name, report)
            if report in reports:
                found = json.loads(json.dumps(digest(heading, rows)))
                check(f"{report} of {name} as nsys {kept['nsys']} has it", found == reports[report], (found, reports[report]))
            elif report != "gputrace":  # which nsys cannot make without TARGET_INFO_GPU
                check(f"{report} of {name}: nothing", not rows, rows[:3])


def real_nsys(folder):
    nsys = shutil.which("nsys")
    if nsys is None:
        raise Skipped("no nsys is installed")
    for path in exports()[1]:
        copy = pathlib.Path(folder) / path.name  # nsys opens its neighbours
        shutil.copy(path, copy)
        for report in REPORTS:
            (heading, theirs), (own, ours) = by_nsys(nsys, copy, report), by_tacho(copy, report)
            if theirs:
                differing = list((collections.Counter(theirs) - collections.Counter(ours)).items())[:3]
                check(f"{report} of {path.name} as this nsys has it", heading == own and theirs == ours, (heading, own, differing))


def figures_of(values):
    return [len(values), sum(values), min(values), max(values), statistics.median(values)]


def found_figures(path, report, count, total, names):
    """{texts of the row: [count, total, min, max, median]} of a summary by tacho."""
    table = csv.DictReader(io.StringIO(stats(path, "-r", report, "--csv").stdout))
    return {tuple(row[name] for name in names):
            [int(row[count]), int(row[total]), int(row["Min (ns)"]), int(row["Max (ns)"]), float(row["Med (ns)"])] for row in table}


def sql_figures(folder):
    """The second way: SQL and Python over the same exports."""
    calls = "SELECT s.value, end - start FROM {} JOIN StringIds s ON s.id = nameId"
    for path in exports()[1]:
        with sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True) as database:
            tables = {row[0] for row in database.execute("SELECT name FROM sqlite_master")}
            queries = {
                "cuda_gpu_kern_sum": ("CUPTI_ACTIVITY_KIND_KERNEL", "Instances", ["Name"],
                                      "SELECT s.value, end - start FROM {} JOIN StringIds s ON s.id = demangledName"),
                "cuda_api_sum": ("CUPTI_ACTIVITY_KIND_RUNTIME", "Num Calls", ["Name"], calls),
                "osrt_sum": ("OSRT_API", "Num Calls", ["Name"], calls + " WHERE eventClass = 27"),
                "nvtx_sum": ("NVTX_EVENTS", "Instances", ["Range"],
                             "SELECT coalesce(text, s.value), end - start FROM {} LEFT JOIN StringIds s ON s.id = textId "
                             "WHERE eventType IN (59, 60)"),
            }
            for report, (table, count, names, sql) in queries.items():
                if table not in tables:
                    continue
                values = collections.defaultdict(list)
                for name, duration in database.execute(sql.format(table)):
                    values[(re.sub(r"_v\d{4}$", "", name) if report == "cuda_api_sum" else name,)].append(duration)
                expected = {key: figures_of(of) for key, of in values.items()}
                found = found_figures(path, report, count, "Total Time (ns)", names)
                check(f"{report} of {path.name} as SQL has it", found == expected, (len(found), len(expected)))
            if "NVTX_EVENTS" in tables:
                check_projection(path, database)


def check_projection(path, database):
    """Projections with their levels, by a stack: ranges of a thread nest in these files."""
    work = collections.defaultdict(list)
    for kind in ("KERNEL", "MEMCPY", "MEMSET"):
        for start, end, pid, correlation in database.execute(
                f"SELECT start, end, globalPid, correlationId FROM CUPTI_ACTIVITY_KIND_{kind}"):
            work[pid, correlation].append((start, end))
    events = [(start, 1, -end, thread, ("call", end, work[thread >> 24 << 24, correlation])) for start, end, thread, correlation in
              database.execute("SELECT start, end, globalTid, correlationId FROM CUPTI_ACTIVITY_KIND_RUNTIME")
              if (thread >> 24 << 24, correlation) in work]
    ranges = [(start, 0, -end, thread, ("range", end, name)) for start, end, thread, name in
              database.execute("SELECT start, end, globalTid, coalesce(text, value) FROM NVTX_EVENTS LEFT JOIN StringIds ON id = textId")]
    stacks, found = collections.defaultdict(list), collections.defaultdict(list)
    for start, _, _, thread, (what, end, more) in sorted(events + ranges, key=lambda event: event[:4]):
        stack = [one for one in stacks[thread] if one["end"] >= start]
        around = [one for one in stack if one["end"] >= end]
        if what == "call":
            for one in around:
                one["work"] += more
                one["ops"] += 1
        else:
            one = {"end": end, "work": [], "ops": 0, "level": len(around), "parent": around[-1] if around else None, "children": 0, "length": end - start}
            found[more].append(one)
            stack.append(one)
        stacks[thread] = stack
    projected = {name: [one for one in of if one["ops"]] for name, of in found.items()}
    for one in (one for of in projected.values() for one in of):
        if one["parent"] is not None:
            one["parent"]["children"] += 1
    expected = {}
    for name, of in projected.items():
        if of:
            times = [max(end for _, end in one["work"]) - min(start for start, _ in one["work"]) for one in of]
            sums = [sum(one[key] for one in of) for key in ("length", "ops", "level", "children")]
            expected[name] = [sum(times), min(times), max(times), len(of), sums[0], sums[1], *(sum_ / len(of) for sum_ in sums[2:])]
    table = csv.DictReader(io.StringIO(stats(path, "-r", "nvtx_gpu_proj_sum", "--csv").stdout))
    ours = {row["Range"]: [int(row[key]) for key in ("Total Proj Time (ns)", "Proj Min (ns)", "Proj Max (ns)", "Range Instances",
                                                     "Total Range Time (ns)", "Total GPU Ops")]
            + [float(row["Avg Range Lvl"]), float(row["Avg Num Child"])] for row in table}
    differing = [name for name in expected.keys() | ours.keys()
                 if name not in ours or name not in expected or ours[name][:6] != expected[name][:6]
                 or any(abs(a - b) > 0.051 for a, b in zip(ours[name][6:], expected[name][6:]))]
    check(f"nvtx_gpu_proj_sum of {path.name} as a stack has it", not differing and ours,
          [(name, ours.get(name), expected.get(name)) for name in differing[:3]])


def kineto(folder):
    """Of a trace of torch's profiler: the kernels and calls are those of tacho analyze."""
    root = pathlib.Path(folder)
    launch = {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 0, "dur": 3, "args": {"correlation": 1}}
    paths = [write_trace(root / "made.json", [kernel(10 + 20 * i, 5 + i, f"k{i % 2}") for i in range(5)] + [launch])]
    real = corpus("tacho stats of Kineto's traces")
    if real:
        paths += sorted(real.glob("facebookresearch+HolisticTraceAnalysis/*/*.json.gz"), key=lambda path: path.stat().st_size)[:3]
    for path in paths:
        of = json.loads(analyze("--json", path).stdout)["traces"][0]
        expected = {}
        for one in of["kernels"]:
            row = expected.setdefault(one["name"], [0, 0])
            row[0] += one["count"]
            row[1] += one["total_ns"]
        found = {key[0]: row[:2] for key, row in
                 found_figures(path, "cuda_gpu_kern_sum", "Instances", "Total Time (ns)", ["Name"]).items()}
        check(f"the kernels of {pathlib.Path(path).name}", found == expected, (found, expected))
        calls = {one["name"]: [one["count"], one["total_ns"], one["min_ns"], one["max_ns"]] for one in of["launches"]["apis"]}
        ours = {key[0]: row[:4] for key, row in
                found_figures(path, "cuda_api_sum", "Num Calls", "Total Time (ns)", ["Name"]).items()}
        check(f"the calls of {pathlib.Path(path).name}", ours == calls, (ours, calls))


def forms(folder):
    root = pathlib.Path(folder)
    one, two = (write_trace(root / f"{name}.json", [kernel(0, 100, "gemm"), kernel(200, 50, "a,b")]) for name in ("one", "two"))
    done = stats(one)
    check("the default", done.returncode == 0 and "CUDA GPU Kernel Summary (cuda_gpu_kern_sum)" in done.stdout, done)
    check("what there is nothing of is named", "nothing for nvtx_sum (no NVTX ranges)" in " ".join(done.stdout.split()), done.stdout)
    table = stats(one, "-r", "cuda_gpu_kern_sum", "--csv").stdout
    check("CSV", table == 'Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name\n'
          '66.7,100000,1,100000.0,100000.0,100000,100000,0.0,gemm\n33.3,50000,1,50000.0,50000.0,50000,50000,0.0,"a,b"\n', table)
    check("--format csv", stats(one, "-r", "cuda_gpu_kern_sum", "--format", "csv").stdout == table)
    both = stats(one, two, "-r", "cuda_gpu_kern_sum", "--csv").stdout.splitlines()
    check("two files", len(both) == 5 and both[0].startswith("File,Time (%)") and both[4].startswith(f"{two},33.3"), both)
    document = json.loads(stats(one, "-r", "gpukernsum,cuda_gpu_kern_sum", "--json").stdout)
    check("JSON says who wrote it", document["schema"] == 1 and list(document["tacho"]) == ["version"], document)
    rows = document["files"][0]["reports"]
    check("JSON", [report["name"] for report in rows] == ["cuda_gpu_kern_gb_sum", "cuda_gpu_kern_sum"]
          and rows[1]["rows"][0] == {"Time (%)": 66.7, "Total Time (ns)": 100000, "Instances": 1, "Avg (ns)": 100000, "Med (ns)": 100000,
                                     "Min (ns)": 100000, "Max (ns)": 100000, "StdDev (ns)": 0, "Name": "gemm"}, rows)
    check("Markdown", "| 66.7 | 100000 |" in stats(one, "--markdown").stdout, stats(one, "--markdown").stdout)
    done = stats(one, "-r", "osrt_sum", "--csv")
    check("a report without a row", done.returncode == 4 and not done.stdout and "nothing for osrt_sum" in done.stderr, done)
    for words, says in ((["-r", "gpukernsums"], "did you mean gpukernsum?"), (["--csv", "--json"], "do not go together"),
                        (["--format", "hdoc"], "--format is column, table, csv or json")):
        done = stats(one, *words)
        check(f"{words} is refused", done.returncode == 2 and says in done.stderr, done)
    check("no file", stats().returncode == 2)
    check("no such file", stats(root / "none.json").returncode == 3)


def notices(folder):
    """What changes the figures of an export is on standard error."""
    database = pathlib.Path(folder) / "export.sqlite"
    work = "start, end, deviceId, contextId, streamId, correlationId, globalPid"
    with sqlite3.connect(database) as made:
        made.executescript("CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT); INSERT INTO StringIds VALUES (1, 'gemm');"
                           "CREATE TABLE META_DATA_EXPORT (name, value); INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_SCHEMA_VERSION_MAJOR', '3');"
                           f"CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL ({work}, demangledName);"
                           "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (5, 47, 0, 1, 7, 1, 16777216, 1), (60, NULL, 0, 1, 7, 1, 16777216, 1);"
                           f"CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE ({work}, graphId);"
                           "INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES (70, 90, 0, 1, 7, 2, 16777216, 3);")
    for reports in ("cuda_gpu_kern_sum", "cuda_gpu_kern_sum,cuda_gpu_trace"):  # by times alone, and by rows
        done = stats(database, "-r", reports, "--csv")
        check(f"{reports}: a row without an end is in no figure", done.returncode == 0 and "100.0,42,1,42.0,42.0,42,42,0.0,gemm" in done.stdout, done)
        check(f"{reports}: it is told", f"{database}: missing-duration (1): " in done.stderr, done.stderr)
        check(f"{reports}: as are graphs as a whole", f"{database}: graph-as-one (1): " in done.stderr, done.stderr)


def one_process(folder):
    """The figures of a process that is chosen, from rows, are those of a file with it alone, from times."""
    def made(name, pids):
        path = pathlib.Path(folder) / name
        with sqlite3.connect(path) as database:
            database.executescript("""CREATE TABLE META_DATA_EXPORT (name TEXT, value TEXT);
                INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_SCHEMA_VERSION_MAJOR', '3'), ('EXPORT_SCHEMA_VERSION_MINOR', '20');
                CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL);
                INSERT INTO StringIds VALUES (1, 'gemm'), (2, 'cudaLaunchKernel_v7000'), (3, 'poll');
                CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER, streamId INTEGER,
                    correlationId INTEGER, globalPid INTEGER, demangledName INTEGER);
                CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, end INTEGER, globalTid INTEGER, correlationId INTEGER,
                    nameId INTEGER);
                CREATE TABLE OSRT_API (start INTEGER, end INTEGER, eventClass INTEGER, globalTid INTEGER, nameId INTEGER);""")
            for pid in pids:
                of = pid << 24
                for i in range(pid):
                    database.execute("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (?, ?, ?, ?, 2)", (100 * i, 100 * i + 7, of + 1, i + 1))
                    database.execute("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (?, ?, 0, 7, ?, ?, 1)",
                                     (100 * i + 10, 100 * i + 30 + pid, i + 1, of))
                    database.execute("INSERT INTO OSRT_API VALUES (?, ?, 27, ?, 3)", (100 * i, 100 * i + 3, of + 1))
        return path

    both = made("both.sqlite", (10, 20))
    reports = ("cuda_gpu_kern_sum", "cuda_api_sum", "osrt_sum", "cuda_kern_exec_sum")
    for report in reports:
        whole = stats("--report", report, "--format", "csv", both)
        check(f"{report} of both", whole.returncode == 0, whole)
        for pid in (10, 20):
            alone = stats("--report", report, "--format", "csv", made(f"{report}{pid}.sqlite", (pid,)))
            chosen = stats("--report", report, "--format", "csv", f"{both}#pid={pid}")
            check(f"{report} of pid {pid}: status", alone.returncode == chosen.returncode == 0, (alone, chosen))
            check(f"{report} of pid {pid}", chosen.stdout == alone.stdout, (chosen.stdout, alone.stdout))
            check(f"{report} of pid {pid} is not that of both", chosen.stdout != whole.stdout and "Name" in chosen.stdout, chosen.stdout)


def report_exported(folder):
    """A report is exported by the newest nsys of the machine: here by a script."""
    root = pathlib.Path(folder)
    database = root / "export.sqlite"
    with sqlite3.connect(database) as made:
        made.executescript("CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT); INSERT INTO StringIds VALUES (1, 'gemm');"
                           "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, end, deviceId, contextId, streamId, correlationId, globalPid, "
                           "demangledName); INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (5, 47, 0, 1, 7, 1, 16777216, 1);")
    report = root / "run.nsys-rep"
    report.write_bytes(b"NVIDIA Tegra Profiler Report 2025@5@1@121-2v0.\n")
    nsys, temporary = root / "bin/nsys", root / "tmp"
    nsys.parent.mkdir()
    temporary.mkdir()

    def program(body):
        nsys.write_text(f"#!/bin/sh\n[ \"$1\" = --version ] && {{ echo NVIDIA Nsight Systems version 9999.1; exit; }}\n{body}\n")
        nsys.chmod(0o755)

    more = {"env": {**os.environ, "PATH": f"{nsys.parent}:{os.environ['PATH']}", "TMPDIR": str(temporary)}}
    program(f"cp '{database}' \"$5\"")
    done = stats(report, "-r", "cuda_gpu_kern_sum", "--csv", **more)
    check("its figures", done.returncode == 0 and "100.0,42,1,42.0" in done.stdout, done)
    check("the export is announced", f"exporting {report} with nsys 9999.1" in done.stderr, done.stderr)
    for command in (["analyze", report], ["report", report, "-o", root / "r.html"], ["query", report, "SELECT 1"], ["doctor", report]):
        done = subprocess.run([scenario.TACHO, *map(str, command)], capture_output=True, text=True, timeout=60, **more)
        check(f"tacho {command[0]}", done.returncode in (0, 4) and "exporting" in done.stderr, done)
    program("echo no such version >&2; exit 1")
    done = stats(report, **more)
    check("its refusal is told", done.returncode == 3 and "no such version" in done.stderr and "2025.5.1 or later" in done.stderr
          and "nsys export --type sqlite -o run.sqlite run.nsys-rep" in done.stderr, done)
    program(f"echo $$ > '{root}/pid'; exec sleep 300")
    for command in (["stats"], ["doctor"], ["view", "--no-open"]):
        process = subprocess.Popen([scenario.TACHO, *command, str(report)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, **more)
        scenario.wait_for(lambda: (root / "pid").exists() and (root / "pid").read_text().strip())
        pid = int((root / "pid").read_text())
        begin = time.monotonic()
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=processes.PATIENCE_S)
        # Ctrl-C is the usual end of tacho view.
        check(f"Ctrl-C in {command[0]}", process.returncode == 130 or command[0] == "view" and process.returncode == 0, process.returncode)
        check("ends nsys", not pathlib.Path(f"/proc/{pid}").exists(), f"{time.monotonic() - begin:.1f} s")
        check("and leaves nothing", not list(temporary.iterdir()), list(temporary.iterdir()))
        (root / "pid").unlink()


if __name__ == "__main__":
    if sys.argv[1:2] == ["--keep"]:
        keep(sys.argv[2])
    else:
        main([kept_figures, real_nsys, sql_figures, kineto, forms, notices, one_process, report_exported], __doc__)
