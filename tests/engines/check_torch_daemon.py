#!/usr/bin/env python3
"""`tacho record --via daemon` against real processes of torch, of each version that tools/engines has installed (vllm: 2.13; torch:
2.15): Kineto of 2.14 and later takes not every folder, and tells other states.

usage: check_torch_daemon.py TACHO [--only NAME ...]
"""
import contextlib
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests" / "program"), str(ROOT / "tools")]
import scenario  # noqa: E402
from engines_lib import environments  # noqa: E402
from scenario import Skipped, check, run, wait_for  # noqa: E402

READY_S, RECORD_S = 120, 170


def pythons():
    """(version, whether it restricts a daemon's folders, python) of what is installed; says what is not."""
    found = []
    for name, restricts in (("vllm", False), ("torch", True)):
        try:
            python = environments.find(name)
        except environments.EnginesError as missing:
            print(f"*** NOT TESTED: torch of {'2.15' if restricts else '2.13'}: {missing}", flush=True)
            continue
        found.append((environments.package_versions(python, ["torch"])["torch"], restricts, python))
    if not found:
        raise Skipped("no torch is installed")
    return found


class Process:
    """It decodes without end, and answers as a vLLM without a profiler (tools/gpu/daemon_engine.py)."""

    def __init__(self, python, folder, **settings):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.url, self.steps = f"http://127.0.0.1:{port}", folder / f"steps-{port}"
        environment = {**os.environ, "KINETO_USE_DAEMON": "1", "KINETO_IPC_SOCKET_DIR": str(folder), **settings}
        with open(folder / f"engine-{port}.log", "wb") as log:
            self.process = subprocess.Popen([python, ROOT / "tools" / "gpu" / "daemon_engine.py", str(port), self.steps, "--cpu"],
                                            stdin=subprocess.PIPE, stdout=log, stderr=log, env=environment)

    def works(self):
        return self.process.poll() is None and self.steps.exists() and len(self.steps.read_text().splitlines()) > 2


@contextlib.contextmanager
def processes_of(python, folder, *settings):
    """One for each of `settings`, until the end of the block."""
    started = [Process(python, folder, **each) for each in settings]
    try:
        check("the processes work", wait_for(lambda: all(p.works() for p in started), READY_S))
        yield started
    finally:
        for p in started:
            p.process.stdin.close()
        for p in started:
            try:
                p.process.wait(10)
            except subprocess.TimeoutExpired:
                p.process.kill()
                p.process.wait()


@contextlib.contextmanager
def outside_tmp():
    """A folder that is not below /tmp: Kineto of torch 2.14 and later writes nothing there."""
    folder = Path(tempfile.mkdtemp(prefix="tacho-torch-", dir="/var/tmp"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def record(folder, processes, *options):
    """(finished process, run.json, the folders that the processes were told)."""
    out = folder / "runs"
    done = run("record", *[p.url for p in processes], "--via", "daemon", "--no-load", "--duration", "2s", "--out", str(out), *options,
               timeout=RECORD_S)
    runs = sorted(out.iterdir()) if out.exists() else []
    report = json.loads((runs[-1] / "run.json").read_text()) if runs and (runs[-1] / "run.json").exists() else None
    told = re.findall(r"ACTIVITIES_LOG_FILE=(.*)/\w+\.json", (runs[-1] / "commands.sh").read_text()) if report else []
    return done, report, told


def whole(name, done, report, told, processes, parents):
    """Every process's trace was taken by the first window, and nothing stays where it was written."""
    check(f"{name}: status", done.returncode == 0, (done.returncode, done.stdout, done.stderr))
    if report is None:
        check(f"{name}: run.json", False, done.stderr)
        return
    ranks = [r for w in report["workers"] for r in w["ranks"]]
    check(f"{name}: proven", len(ranks) == len(processes) and all(r["proven"] for r in ranks), (ranks, report["missing"]))
    check(f"{name}: by one window", "window-taken-again" not in [f["id"] for f in report["findings"]], report["findings"])
    check(f"{name}: told a folder of its own", len(set(told)) == len(processes) and
          sorted(str(Path(t).parent) for t in told) == sorted(map(str, parents)), (told, parents))
    check(f"{name}: which is gone", not [t for t in told if os.path.exists(t)], told)
    for p in processes:
        check(f"{name}: lives", p.process.poll() is None, p.process.poll())
        check(f"{name}: Kineto's own file is gone", not os.path.exists(f"/tmp/libkineto_activities_{p.process.pid}.json"))


def finds(report):
    return [f["id"] for f in report["findings"]] if report else []


def any_run_folder(folder):
    for version, _, python in pythons():
        with outside_tmp() as away, processes_of(python, away, {}) as processes:
            done, report, told = record(away, processes)
            whole(f"torch {version}", done, report, told, processes, ["/tmp"])
            check(f"torch {version}: no other finding", "daemon-path-refused" not in finds(report), finds(report))


def restricted_folder(folder):
    """KINETO_ONDEMAND_TRACE_DIR, also one that is not there: a new Kineto then writes its own file, which is taken."""
    for version, restricts, python in pythons():
        with outside_tmp() as away:
            allowed = away / "allowed"
            allowed.mkdir()
            with processes_of(python, away, {"KINETO_ONDEMAND_TRACE_DIR": str(allowed)}) as processes:
                done, report, told = record(away, processes)
                whole(f"torch {version}, restricted", done, report, told, processes, [allowed])
            with processes_of(python, away, {"KINETO_ONDEMAND_TRACE_DIR": str(away / "missing")}) as processes:
                done, report, told = record(away, processes)
                whole(f"torch {version}, restricted to nowhere", done, report, told, processes, ["/tmp"])
                check(f"torch {version}: says so", ("daemon-path-refused" in finds(report)) == restricts, finds(report))


def another_spelling(folder):
    """Kineto ends its process if an answer comes from a name that it writes otherwise: refused before anything is bound."""
    for version, _, python in pythons():
        with outside_tmp() as away, processes_of(python, away, {}) as processes:
            os.symlink(away, away / "link")
            for spelling in (f"{away}/", f"{away}/../{away.name}", away / "link", os.path.relpath(away)):
                done, _, _ = record(away, processes, "--daemon-socket", str(spelling))
                check(f"torch {version}, {spelling}: refused", done.returncode == 2 and "to the letter" in done.stderr,
                      (done.returncode, done.stderr))
                check(f"torch {version}, {spelling}: nothing is bound", not os.path.exists(away / "dynolog"))
            time.sleep(6)  # a question later
            check(f"torch {version}: lives", processes[0].process.poll() is None)
            done, report, told = record(away, processes, "--daemon-socket", str(away))
            whole(f"torch {version}, as it is", done, report, told, processes, ["/tmp"])


def two_processes(folder):
    """Two engines with folders of their own, and a stranger that writes the socket's folder otherwise."""
    for version, _, python in pythons():
        with outside_tmp() as away:
            allowed = [away / "a", away / "b"]
            for path in allowed:
                path.mkdir()
            settings = [{"KINETO_ONDEMAND_TRACE_DIR": str(path)} for path in allowed]
            with processes_of(python, away, *settings, {"KINETO_IPC_SOCKET_DIR": f"{away}/."}) as processes:
                done, report, told = record(away, processes[:2])
                whole(f"torch {version}, two", done, report, told, processes[:2], allowed)
                check(f"torch {version}, two: the stranger lives", processes[2].process.poll() is None)


scenario.main([any_run_folder, restricted_folder, another_spelling, two_processes], __doc__)
