#!/usr/bin/env python3
"""Recordings through Kineto's daemon: by default or on request, late and mute processes, Ctrl-C, what is kept.

usage: check_record_daemon.py TACHO [--only NAME ...]
"""
import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import time

import processes
import scenario
from recordings import QUICK, TWO, Recording, finds, ranks, record, whole
from scenario import check, run, simulation, target, wait_for


def written(name):
    """What lies in the folders that processes were told to write to."""
    return list(pathlib.Path("/tmp").glob(f"tacho-??????/{name}"))


def folders_told(run_folder):
    return set(re.findall(r"ACTIVITIES_LOG_FILE=(.*)/[\w-]+\.json", (run_folder / "commands.sh").read_text()))


def by_daemon(folder):
    """Chosen by itself, also where the engines have no route for a profiler; two servers of two ranks."""
    with simulation(folder, "--count", "2", "--tp", "2", "--router", "vllm", "--profiler-config", "{}", daemon=True) as addresses:
        status = run("engine", "status", *target(addresses), "--json")
        check("daemon: engine status", all(w["profiler"]["daemon"] for w in json.loads(status.stdout)["workers"]), status.stdout)
        done, report, run_folder = record(folder, target(addresses))
        whole("daemon", done, report, run_folder, 4, names_steps=False)
        if report:
            check("daemon: via", report["via"] == "daemon", report["via"])
            pids = sorted(pid for w in addresses["workers"] for pid in w["rank_pids"])
            files = [f for r in ranks(report) for f in r["files"]]
            found = sorted(int(re.search(r"kineto_(\d+)\.json", f)[1]) for f in files)
            check("daemon: the ranks' own files", found == pids, f"{found} {pids}")
            for file in files:
                trace = json.loads((run_folder / file).read_text())
                span = next(e for e in trace["traceEvents"] if e["name"] == "PyTorch Profiler (0)")
                late = trace["baseTimeNanoseconds"] + round(span["ts"] * 1000) - report["profiled"]["begin_unix_ns"]
                check(f"daemon: {file} is of the window", abs(late) < 300e6 and abs(span["dur"] - 2e6) < 300e3, (late, span))
        check("daemon: one count of ranks", set(re.findall(r"(\d+ of \d+) ranks", done.stdout)) == {"4 of 4"}, done.stdout)
        start = run("engine", "start", *target(addresses))
        check("daemon: engine start names it", start.returncode == 2 and "as it is, tacho record --via daemon profiles it" in start.stderr,
              start.stderr)
        again, second, second_folder = record(folder, target(addresses))
        whole("daemon, second session", again, second, second_folder, 4, names_steps=False)
    with simulation(f"{folder}/s", "--engine", "sglang", "--count", "2", "--router", "sglang", daemon=True) as addresses:
        done, report, run_folder = record(f"{folder}/s", target(addresses))
        whole("daemon, sglang", done, report, run_folder, 2, names_steps=False)


def by_daemon_faults(folder):
    """A rank that never asks, a file that comes late, files that end in the middle, a server killed in its window."""
    options = ["--count", "2", "--tp", "2", "--router", "vllm"]
    with simulation(f"{folder}/m", *options, "--fault", "mute-rank@0:1", "--fault", "slow-flush@1:6s", daemon=True) as addresses:
        done, report, run_folder = record(f"{folder}/m", target(addresses))
        check("mute rank: status", done.returncode == 4, done.stderr)
        missing = [(w["url"], r["rank"]) for w in report["workers"] for r in w["ranks"] if not r["proven"]]
        check("mute rank: it alone is missing", missing == [(addresses["workers"][0]["url"], 1)], missing)
        check("mute rank: named", any("TP1" in m and "never asked" in m for m in report["missing"]), report["missing"])
    with simulation(f"{folder}/t", *options, "--fault", "truncate@0", daemon=True) as addresses:
        done, report, run_folder = record(f"{folder}/t", target(addresses))
        check("truncated: status", done.returncode == 4, done.stderr)
        proven = [r["proven"] for r in ranks(report)]
        check("truncated: the other server's are whole", sorted(proven) == [False, False, True, True], proven)
    with simulation(f"{folder}/k", *options, daemon=True) as addresses:
        out = pathlib.Path(folder) / "k/runs"
        with processes.running([scenario.TACHO, "record", *target(addresses), "--out", str(out), *QUICK], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True) as process:
            pids = [pid for w in addresses["workers"] for pid in w["rank_pids"]]
            check("killed: a flush begins", wait_for(lambda: [p for p in pids if written(f"kineto_{p}.json.tmp")], pause=0.02))
            os.kill(addresses["workers"][0]["pid"], signal.SIGKILL)  # its ranks end with it
            _, errors = process.communicate(timeout=processes.PATIENCE_S)
        check("killed: status", process.returncode == 4, f"{process.returncode} {errors}")
        report = json.loads(next(out.rglob("run.json")).read_text())
        proven = {w["url"] for w in report["workers"] for r in w["ranks"] if r["proven"]}
        check("killed: the other server's are proven", proven == {addresses["workers"][1]["url"]}, report)
        check("killed: says so", any("died" in m for m in report["missing"]), report["missing"])
        check("killed: nothing half written", not list(out.rglob("*.tmp")) and not list(out.rglob("*.partial")))
        check("killed: nothing stays where it was written", not [p for p in pids if written(f"kineto_{p}.json*")])


def by_daemon_refused(folder):
    """Another process is the daemon."""
    with simulation(folder, daemon=True) as addresses, socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as taken:
        taken.bind(f"{folder}/dynolog")
        done, report, run_folder = record(folder, target(addresses))
        check("socket taken: status", done.returncode in (4, 6), f"{done.returncode} {done.stderr}")
        finds("socket taken", report, "daemon-unavailable")
        check("socket taken: said", "is taken" in done.stdout, done.stdout)


def interrupted_daemon(folder):
    with simulation(f"{folder}/a", *TWO, daemon=True) as addresses:
        run = Recording(f"{folder}/a", target(addresses), *QUICK[:4], "--via", "daemon", "--duration", "6s")
        run.until("processes have asked")
        run.interrupt()
        status, out, errors, took = run.end()
        check("rendezvous: status", status == 130 and took < 10, (status, took, errors))
        check("rendezvous: said", "before the profilers were started" in errors, errors)
        check("rendezvous: no trace", not list(run.out.rglob("*kineto_*")), list(run.out.rglob("*")))
    with simulation(f"{folder}/b", *TWO, daemon=True) as addresses:
        run = Recording(f"{folder}/b", target(addresses), *QUICK[:4], "--via", "daemon", "--duration", "8s")
        run.until("ends in")
        run.interrupt()
        run.until("cannot be cut short")
        status, out, errors, took = run.end()
        check("window: status", status == 130, (status, errors))
        left = re.search(r"it ends in (\d+\.\d) s", errors)
        check("window: says when it ends", left and 0 < float(left[1]) < 20, errors)
        check("window: waited for", left and took > float(left[1]) - 1, (left and left[1], took))
        check("window: no untrue word", "profilers were stopped" not in errors + out and "wrote nothing" not in errors + out,
              errors + out)
        report = run.report()
        check("window: its traces are proven", report and len(ranks(report)) == 4 and all(r["proven"] for r in ranks(report)), report)
        check("window: marked", report and report["interrupted"] and not report["complete"], report)
        check("window: true times", report and report["daemon_window"]["duration_ns"] == 8_000_000_000 and
              0 < report["profiled"]["duration_ns"] < 7_000_000_000 and report["profiled"]["begin_unix_ns"] +
              report["profiled"]["duration_ns"] == report["interrupted_unix_ns"], report)
    with simulation(f"{folder}/c", *TWO, daemon=True) as addresses:
        run = Recording(f"{folder}/c", target(addresses), *QUICK[:4], "--via", "daemon", "--duration", "6s")
        run.until("ends in")
        run.interrupt()
        run.until("cannot be cut short")
        time.sleep(0.3)  # a signal within 0.2 s is the same Ctrl-C
        run.interrupt()
        status, out, errors, took = run.end()
        check("daemon, twice: at once", status == 130 and took < 2, (status, took))
        files = re.findall(r"^  (/\S+/kineto_(\d+)\.json)$", errors, re.M)
        owners = {pid for w in addresses["workers"] for pid in w["rank_pids"]}
        check("daemon, twice: names its files", owners <= {int(pid) for _, pid in files}, errors)
        check("daemon, twice: there they are",
              wait_for(lambda: all(os.path.exists(path) for path, pid in files if int(pid) in owners)), files)
        for path, _ in files:
            shutil.rmtree(os.path.dirname(path), ignore_errors=True)


def daemon_commands(folder):
    with simulation(folder, *TWO, daemon=True) as addresses:
        done, report, run_folder = record(folder, target(addresses))
        script = (run_folder / "commands.sh").read_text()
        check("commands: the command", f"\ntacho record {target(addresses)[0]} " in script, script)
        check("commands: the environment", "KINETO_USE_DAEMON=1" in script and f"KINETO_IPC_SOCKET_DIR={folder}" in script, script)
        check("commands: the request", "ACTIVITIES_DURATION_MSECS=2000" in script, script)
        check("commands: no request that was not sent", "curl" not in script, script)


def daemon_stands_still(folder):
    """tacho itself stands still for two questions of each process: they no longer wait for an answer when it goes on. One
    would be found with a later question, and so would all behind it, that of the window too."""
    with simulation(folder, daemon=True) as addresses:
        run = Recording(folder, target(addresses), *QUICK[:4], "--via", "daemon", "--duration", "2s")
        run.until("3 processes have asked")
        run.process.send_signal(signal.SIGSTOP)
        time.sleep(10.6)
        run.process.send_signal(signal.SIGCONT)
        status, out, errors, _ = run.end()
        report = run.report()
        check("stands still: whole", status == 0 and report and report["complete"], (status, out, errors[-2000:]))
        check("stands still: by the first window", report and not [r for r in report["remarks"] if "too late" in r], report)


def daemon_late_answers(folder):
    """Processes that read of the window when its start is past: all take another one; where that is too late as well, that is
    said, and no other cause."""
    with simulation(f"{folder}/two", *TWO, "--fault", "late-answers@1:2", daemon=True) as addresses:
        done, report, run_folder = record(f"{folder}/two", target(addresses))
        check("late answers: whole", done.returncode == 0 and report["complete"] and len(ranks(report)) == 4,
              (done.returncode, done.stdout, done.stderr))
        check("late answers: said", "of 8 processes were too late for the window" in done.stderr and
              [r for r in report["remarks"] if "too late" in r], (done.stderr, report["remarks"]))
        finds("late answers", report, "window-taken-again")
        check("late answers: one window", not [f for f in run_folder.rglob("*kineto_*")], list(run_folder.rglob("*kineto*")))
        files = [f for r in ranks(report) for f in r["files"]]
        check("late answers: all of the second window", len(files) == 4 and all("kineto-again_" in f for f in files), files)
    with simulation(f"{folder}/nine", *TWO, "--fault", "late-answers@1:9", daemon=True) as addresses:
        done, report, _ = record(f"{folder}/nine", target(addresses))
        late = addresses["workers"][1]["url"]
        check("always late: status", done.returncode == 4 and "2 of 4 ranks proven" in done.stdout, (done.returncode, done.stdout))
        said = [m for m in report["missing"] if late + ")" in m]
        check("always late: in JSON", len(said) == 2 and all("the request came too late" in m for m in said), said)
        finds("always late", report, "too-late")
        check("always late: on the screen", "4 of its 4 processes did not begin" in " ".join(done.stdout.split()), done.stdout)
        check("always late: no other cause", "disk" not in done.stdout and "disk" not in json.dumps(report["missing"]), done.stdout)


def daemon_again_interrupted(folder):
    """Ctrl-C before any process knows of the second window: the traces of the first one are kept."""
    with simulation(folder, *TWO, "--fault", "late-answers@1:2", daemon=True) as addresses:
        run = Recording(folder, target(addresses), *QUICK[:4], "--via", "daemon", "--duration", "2s")
        run.until("another one is taken of all", 90)
        run.interrupt()
        status, out, errors, _ = run.end()
        report = run.report()
        check("again, interrupted: status", status == 130 and report and report["interrupted"], (status, errors[-2000:]))
        good = [r for r in ranks(report) if r["proven"]] if report else []
        check("again, interrupted: the first window's", len(good) == 2 and
              all("kineto_" in f and os.path.exists(next(run.out.glob("tacho-*")) / f) for r in good for f in r["files"]), report)


def daemon_late(folder):
    """A flush by the daemon that --timeout does not wait for is no end of it: the rank is missing, and its file comes."""
    late_flush(f"{folder}/old")


def daemon_late_new_torch(folder):
    """The same of torch 2.14, whose processes tell other states."""
    late_flush(f"{folder}/new", "--fault", "new-torch")


def late_flush(folder, *options):
    with simulation(folder, *TWO, "--fault", "slow-flush@1:25s", *options, daemon=True) as addresses:
        done, report, run_folder = record(folder, target(addresses), "--timeout", "6s")
        late = addresses["workers"][1]["url"]
        said = [m for m in report["missing"] if late + ")" in m]
        check("late: status", done.returncode == 4, (done.returncode, done.stdout))
        check("late: named", len(said) == 2 and all("still write" in m for m in said), (said, report["troubles"]))
        finds("late", report, "still-writing")
        file = re.search(r"(/\S+/kineto_\d+\.json) will be there", said[0]) if said else None
        check("late: its file comes", file and wait_for(lambda: os.path.exists(file[1])), said)
        for path in folders_told(run_folder):
            shutil.rmtree(path, ignore_errors=True)


def daemon_new_torch(folder):
    """Kineto of torch 2.14 and later does not write to every folder: one below /tmp does for all; where the engine's environment
    names one that is not there, Kineto writes its own file, which is taken."""
    away = pathlib.Path(tempfile.mkdtemp(prefix="tacho-away-", dir="/var/tmp"))
    try:
        with simulation(f"{folder}/n", *TWO, "--engine-version", "0.33", daemon=True) as addresses:
            done, report, run_folder = record(away, target(addresses))
            whole("new torch", done, report, run_folder, 4, names_steps=False)
            check("new torch: by the first window", report and "window-taken-again" not in [f["id"] for f in report["findings"]], report)
            told = folders_told(run_folder)
            check("new torch: one folder for each server, below /tmp", len(told) == 2 and {os.path.dirname(t) for t in told} == {"/tmp"}, told)
            check("new torch: which is gone", not [t for t in told if os.path.exists(t)], told)
        os.environ["KINETO_ONDEMAND_TRACE_DIR"] = str(away / "missing")
        with simulation(f"{folder}/r", *TWO, "--fault", "new-torch@1", daemon=True) as addresses:
            done, report, run_folder = record(away, target(addresses))
            whole("refused", done, report, run_folder, 4, names_steps=False)
            said = [f for f in report["findings"] if f["id"] == "daemon-path-refused"] if report else []
            check("refused: of the one server", [f["subject"] for f in said] == [addresses["workers"][1]["url"]], said)
            check("refused: not late", "too late" not in done.stdout + done.stderr, done.stderr)
            pids = addresses["workers"][1]["rank_pids"]
            check("refused: Kineto's own files are gone", not [p for p in pids if os.path.exists(f"/tmp/libkineto_activities_{p}.json")])
    finally:
        os.environ.pop("KINETO_ONDEMAND_TRACE_DIR", None)
        shutil.rmtree(away, ignore_errors=True)


def daemon_another_spelling(folder):
    """Kineto ends its process when an answer comes from a name that it writes otherwise: tacho refuses to be the one."""
    with simulation(folder, daemon=True) as addresses:
        pids = [addresses["workers"][0]["pid"], *addresses["workers"][0]["rank_pids"]]
        os.symlink(folder, f"{folder}/link")
        for spelling in (f"{folder}/", f"{folder}/../{os.path.basename(folder)}", f"{folder}/link", os.path.relpath(folder)):
            done, report, _ = record(folder, target(addresses), "--via", "daemon", "--daemon-socket", spelling)
            check(f"{spelling}: refused", done.returncode == 2 and "to the letter" in done.stderr, (done.returncode, done.stderr))
            check(f"{spelling}: nothing is bound", not os.path.exists(f"{folder}/dynolog"))
        done, report, run_folder = record(folder, target(addresses), "--via", "daemon", "--daemon-socket", folder)
        whole("as the engine writes it", done, report, run_folder, 1, names_steps=False)
        check("they live", all(os.path.exists(f"/proc/{pid}") for pid in pids), pids)
        # Whoever answers so ends them: the simulated ones are as sensitive.
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as other:
            other.bind(f"{os.path.relpath(folder)}/dynolog")
            other.setblocking(False)
            check("another answer ends them", wait_for(lambda: answer_all(other) and not any(lives(pid) for pid in pids)), pids)


def answer_all(daemon):
    """Answers what has been asked so far. Whoever asked may be gone by then: a rank ends with its server."""
    with contextlib.suppress(BlockingIOError, ConnectionRefusedError, FileNotFoundError):
        while True:
            _, sender = daemon.recvfrom(65536)
            daemon.sendto(struct.pack("<Q32s", 0, b"req"), sender)
    return True


def lives(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


scenario.main([by_daemon, by_daemon_faults, by_daemon_refused, interrupted_daemon, daemon_commands, daemon_stands_still,
               daemon_late_answers, daemon_again_interrupted, daemon_late, daemon_late_new_torch, daemon_new_torch,
               daemon_another_spelling], __doc__)
