#!/usr/bin/env python3
"""tacho beside a real nsys 2022.4 (tools/engines install nsys), on programs that run under it.

  check_nsys.py [short|whole] [--tacho build/release/tacho] [--only NAME ...]

whole also compares `tacho stats` with `nsys stats` on every export of the corpus. One line a scenario, then "N passed, N
failed". Exit status: 0 all passed, 1 some failed, 77 nsys cannot be installed here (said loudly), so nothing was tried.
Python 3.11, standard library only.
"""
import argparse
import collections
import contextlib
import csv
import ctypes
import io
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from check_engines import SKIP, Score
from frame import ROOT, Skipped, check, wait_for
from nsys_frame import Nsys, agents

REPORTS = ("nvtxsum", "osrtsum")


def tacho(options, nsys, *arguments, statuses=(0,)):
    done = subprocess.run([options.tacho, *map(str, arguments)], capture_output=True, text=True, timeout=120, env=nsys.environment)
    check(done.returncode in statuses, f"tacho {' '.join(map(str, arguments))} exits {done.returncode}: {done.stderr[-400:]}")
    return done.stdout


def rows(text):
    """The heading and the rows of the table in nsys's or tacho's CSV."""
    found = [tuple(row) for row in csv.reader(io.StringIO(text)) if len(row) > 1]
    check(len(found) > 1, f"no row in: {text[:300]}")
    return found[0], sorted(found[1:])


def launch_start_stop(options, nsys, folder):
    """Two windows of a running program: each report has every range that lies in its window, and tacho says of it what nsys says."""
    told = folder / "told"
    program = [nsys.python, ROOT / "tests/engines/nsys_program.py", told]
    windows = []
    with nsys.launched("tacho-live", program, folder):
        for number in range(2):
            report = folder / f"window{number}.nsys-rep"
            nsys.run("start", "--session=tacho-live", "--sample=none", "--cpuctxsw=none", "-o", report)
            check(nsys.state("tacho-live") == "Collection", "no collection after its start")
            begin = time.monotonic_ns()
            time.sleep(1)
            end = time.monotonic_ns()
            nsys.run("stop", "--session=tacho-live")
            wait_for(report.exists, 60, report.name)
            windows.append((report, begin, end))
        check(nsys.state("tacho-live") == "Launched", "the program does not go on after the stop")
    ranges = [(name, int(begin), int(end)) for name, begin, end in (line.split() for line in told.read_text().splitlines())]
    for report, begin, end in windows:
        inside = collections.Counter(name for name, at, until in ranges if begin <= at and until <= end)
        check(sum(inside.values()) > 50, f"only {inside} in a window of a second")
        check_report(options, nsys, report, inside)


def check_report(options, nsys, report, inside):
    export = report.with_suffix(".sqlite")
    nsys.run("export", "--type", "sqlite", "-o", export, report)
    for name in REPORTS:
        theirs = rows(nsys.run("stats", "-q", "-r", name, "--format", "csv", export))
        check(rows(tacho(options, nsys, "stats", export, "-r", name, "--csv")) == theirs, f"{name} of {export} differs: {theirs}")
    from_report, from_export = (json.loads(tacho(options, nsys, "analyze", "--json", path))["traces"] for path in (report, export))
    check(len(from_export) == 1, f"{len(from_export)} processes")
    for of in from_report + from_export:
        for field in ("path", "bytes", "json_bytes"):
            of.pop(field)
    check(from_report == from_export, "the report and its export are not the same to tacho")
    trace = from_export[0]
    # Between start and stop both take their time, in which the program goes on.
    by_phase = trace["steps"]["by_phase"]
    found = {"execute_context_1(64)_generation_3(3)": by_phase["mixed"], "execute_context_0(0)_generation_4(4)": by_phase["decode"]}
    check(all(inside[name] <= found[name] <= 3 * inside[name] for name in found), f"steps {by_phase}, the program had {inside}")
    counted = json.loads(tacho(options, nsys, "query", export, "SELECT name, count(*) AS n, sum(dur_ns < 4000000) AS cut FROM slices "
                               "WHERE kind = 'annotation' GROUP BY name", "--json"))
    counted = {row["name"]: row for row in counted["rows"]}
    steps = sum(found.values())
    check({name: row["n"] for name, row in counted.items()} == {**found, "forward": steps}, f"ranges {counted}, steps {found}")
    # nsys cuts the ranges that are open when it starts and stops.
    check(all(row["cut"] <= 2 for row in counted.values()), f"ranges shorter than the program sleeps in them: {counted}")


def stats_of_the_corpus(options, nsys, folder):
    done = subprocess.run([sys.executable, ROOT / "tests/program/check_stats.py", options.tacho, "--only", "real_nsys"],
                          capture_output=True, text=True, timeout=400, env=nsys.environment)
    if done.returncode == SKIP:
        raise Skipped(done.stdout.strip())
    check(done.returncode == 0, done.stdout[-800:] + done.stderr[-400:])


ENGINE = """#!/bin/sh
[ "$1" = -c ] && { echo 0.32.0; exit; }
while [ $# -gt 0 ]; do
  case $1 in --port) port=$2;; esac
  shift
done
%s %s %s &
exec %s simulate --port "$port" --model-size 8b --speed 0.4
"""


def children_of(folder):
    """The processes whose command line names the folder."""
    found = []
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if entry.name.isdigit() and str(folder).encode() in (entry / "cmdline").read_bytes():
                found.append(entry.name)
    return found


def adopt_orphans():
    """Makes this process the parent of descendants whose parent dies: the init of a container may not reap them, and nsys takes an
    agent that is a zombie for a session that lives."""
    PR_SET_CHILD_SUBREAPER = 36
    check(ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0, "prctl(PR_SET_CHILD_SUBREAPER)")


def reap_orphans(child):
    """Of this process's children that have ended, all but `child`."""
    for entry in os.scandir("/proc"):
        with contextlib.suppress(OSError):
            if entry.name.isdigit() and int(entry.name) != child:
                state, parent = Path(entry.path, "stat").read_text().rpartition(")")[2].split()[:2]
                if state == "Z" and int(parent) == os.getpid():
                    os.waitpid(int(entry.name), os.WNOHANG)


def record_live(options, nsys, folder):
    """tacho launches an engine under nsys, records it and ends it: steps by their ranges, and nothing is left, also after kill -9."""
    python = folder / "python3"
    python.write_text(ENGINE % (nsys.python, ROOT / "tests/engines/nsys_program.py", folder / "told", options.tacho))
    python.chmod(0o755)
    before = agents()
    quick = ("--warm-up", "300ms", "--baseline", "500ms", "--duration", "1s", "--concurrency", "2")
    nsys.environment |= {"XDG_RUNTIME_DIR": str(folder), "XDG_STATE_HOME": str(folder)}
    told = json.loads(tacho(options, nsys, "record", "--launch", "vllm", "--preset", "nsys", "--python", python, "--out", folder / "runs",
                            *quick, "--json", "--", "m"))
    (run,) = (folder / "runs").glob("tacho-*")
    rank = told["workers"][0]["ranks"][0]
    check(told["via"] == "nsys" and rank["proven"] and rank["steps"] > 100, f"of the program's steps: {rank}")
    check({path.name for path in (run / "traces/w0").iterdir()} == {"w0.nsys-rep", "w0.sqlite"}, "the report and its export are not there")
    check(any(f["id"] == "nsys-no-gpu" for f in told["findings"]), f"findings {told['findings']}")
    theirs = rows(nsys.run("stats", "-q", "-r", "nvtxsum", "--format", "csv", run / "traces/w0/w0.sqlite"))
    check(rows(tacho(options, nsys, "stats", run / "traces/w0/w0.sqlite", "-r", "nvtxsum", "--csv")) == theirs, "nvtxsum differs")
    check(agents() == before, f"agents are left: {agents()}, before {before}")

    def launches():
        return json.loads(tacho(options, nsys, "launch", "list", "--json"))["launches"]
    adopt_orphans()
    for who in ("tacho", "keeper"):
        with subprocess.Popen([options.tacho, "launch", "vllm", "--preset", "nsys", "--python", python, "--out", folder, "--", "m"],
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=nsys.environment) as process:
            wait_for(lambda: "next:" in process.stdout.readline(), 30, "the launched engine")
            (launch,) = launches()
            os.kill(process.pid if who == "tacho" else launch["servers"][0]["keeper"], signal.SIGKILL)

        def agents_are_gone():
            reap_orphans(process.pid)
            return agents() == before
        wait_for(agents_are_gone, 30, f"the end of the agent after kill -9 of {who}")
        wait_for(lambda: reap_orphans(process.pid) or not launches(), 30, f"the end of the launch after kill -9 of {who}")
        wait_for(lambda: not children_of(folder), 30, f"the end of its processes after kill -9 of {who}")


SCENARIOS = (launch_start_stop, record_live, stats_of_the_corpus)
WHOLE = (stats_of_the_corpus,)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("set", nargs="?", choices=["short", "whole"], default="short")
    parser.add_argument("--tacho", default=ROOT / "build/release/tacho", type=Path, metavar="FILE")
    parser.add_argument("--only", nargs="+", metavar="NAME", choices=[s.__name__ for s in SCENARIOS])
    options = parser.parse_args()
    options.tacho = options.tacho.absolute()
    try:
        nsys = Nsys()
    except Skipped as reason:
        print(f"""
**********************************************************************
** NOT RUN: {reason}
** No claim about a real nsys was tested.
**********************************************************************""", flush=True)
        return SKIP
    names = options.only or [s.__name__ for s in SCENARIOS if options.set == "whole" or s not in WHOLE]
    score, work = Score(), Path(tempfile.mkdtemp(prefix="tacho-nsys-test-"))
    for scenario in SCENARIOS:
        if scenario.__name__ in names:
            folder = work / scenario.__name__
            folder.mkdir()
            score.run(scenario.__name__, lambda: scenario(options, nsys, folder))
    if score.failed:
        print(f"what the failed ones left is in {work}")
    else:
        shutil.rmtree(work)
    print(f"{score.passed} passed, {score.failed} failed" + (f", {score.skipped} skipped" if score.skipped else ""))
    return 1 if score.failed else 0


if __name__ == "__main__":
    sys.exit(main())
