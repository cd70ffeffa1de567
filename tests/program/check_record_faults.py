#!/usr/bin/env python3
"""Recordings with invalid targets, engines that refuse, and each fault of the simulator: output and files.

usage: check_record_faults.py TACHO [--only NAME ...]
"""
import json
import os
import pathlib
import re
import shutil
import socket
import subprocess
import threading
import time

import scenario
from proxy import Proxy, QuietServer
from recordings import QUICK, TWO, Recording, finds, record
from scenario import Skipped, check, run, simulation, target
from simulator import post


def bad_targets(folder):
    """A dead one among others, one that never answers, and paths that are not there."""
    dead = "http://127.0.0.1:1"
    with simulation(folder) as addresses:
        url = target(addresses)[0]
        done, report, run_folder = record(folder, [url, dead], "--keep-going")
        check("dead among others: kept going", report is not None and
              [r["proven"] for w in report["workers"] if w["url"] == url for r in w["ranks"]] == [True], done.stderr)
        finds("dead among others", report, "no-answer")
        check("dead among others: named", dead in done.stderr, done.stderr)
        done = run("engine", "status", url, dead)
        check("dead among others: status", done.returncode == 6 and url in done.stdout and dead in done.stderr,
              (done.returncode, done.stdout, done.stderr))
        done, report, run_folder = record(folder, [url], "--trace-dir", f"{folder}/nowhere/below")
        check("no trace folder", done.returncode == 2 and "--trace-dir" in done.stderr, (done.returncode, done.stderr))
        done, report, run_folder = record(folder, [url], "--trace-dir", f"{folder}/nowhere")
        check("another trace folder", done.returncode == 2 and f"reports that it writes its traces to {folder}/engine; --trace-dir says "
              f"{folder}/nowhere, which is not there here: give --map {folder}/engine=DIR" in done.stderr, done.stderr)
        os.symlink(f"{folder}/engine", f"{folder}/by-another-way")
        done, report, run_folder = record(folder, [url], "--trace-dir", f"{folder}/by-another-way")
        check("its trace folder by another path", done.returncode == 0 and report["complete"], done.stdout + done.stderr)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        for command in (["engine", "status"], ["record", "--out", f"{folder}/runs"]):
            begin = time.monotonic()
            done = run(command[0], *command[1:], url, "--timeout", "5s")
            check(f"silent, {command[0]}: says that it waits", "still waiting for answers, for up to 5 s each" in done.stderr, done.stderr)
            check(f"silent, {command[0]}", done.returncode == 6 and time.monotonic() - begin < 20,
                  (done.returncode, time.monotonic() - begin, done.stderr))
    done = run("record", "/nonexistent/launch.log")
    check("no such file", done.returncode == 2 and "no such file" in done.stderr, (done.returncode, done.stderr))


def slow_status(folder):
    """A status that takes seconds says so, also when it asks who lives."""
    class Slow(Proxy):
        def forward(self):
            if self.path == "/health":
                time.sleep(2.7)
            super().forward()
        do_GET = do_POST = forward
    with simulation(folder) as addresses, QuietServer(("127.0.0.1", 0), Slow) as server:
        Slow.engine = addresses["workers"][0]["url"]
        threading.Thread(target=server.serve_forever, daemon=True).start()
        done = run("engine", "status", f"http://127.0.0.1:{server.server_port}")
        server.shutdown()
        check("slow status", done.returncode == 0 and "still waiting for answers" in done.stderr, (done.returncode, done.stderr))


def refusals(folder):
    with simulation(folder, "--profiler-config", "{}") as addresses:
        done, report, run_folder = record(folder, target(addresses))
        check("profiling off: status", done.returncode == 2, f"{done.returncode} {done.stderr}")
        check("profiling off: remedy", "--profiler-config" in done.stderr, done.stderr)
        check("profiling off: no folder is left", run_folder is None, run_folder)
    stacks = json.dumps({"profiler": "torch", "torch_profiler_dir": f"{folder}/s", "torch_profiler_with_stack": True})
    with simulation(folder, "--dev-mode", "--profiler-config", stacks) as addresses:
        done, report, run_folder = record(folder, target(addresses))
        check("stacks: refused", done.returncode == 2 and "1.6 million" in done.stderr, done.stderr)
    done, _, _ = record(folder, ["http://127.0.0.1:1"])
    check("nobody there: status", done.returncode == 6, f"{done.returncode} {done.stderr}")
    done, _, _ = record(folder, [])
    check("no target: status", done.returncode == 2, done.stderr)


def no_folder(folder):
    """--out is tried before anything is started: /proc lets not even root make a folder."""
    pathlib.Path(folder, "file").touch()
    profiled = ["--requests", "1", "--num-warmups", "1", "--input-len", "8", "--output-len", "8", "--profile"]
    with simulation(folder) as addresses:
        url = target(addresses)[0]
        for out in (f"{folder}/file", f"{folder}/file/below", "/proc/tacho/below"):
            for command in (["record", url], ["record", "--launch", "vllm", "--", "m"], ["load", url, *profiled], ["launch", "vllm", "--", "m"]):
                done = run(command[0], "--out", out, *command[1:])
                check(f"{command[:2]} --out {out}", done.returncode == 3 and f"{out}: this folder cannot be made: " in done.stderr
                      and done.stderr.endswith("; name another place with --out\n") and done.stderr.count("\n") == 1, (done.returncode, done.stderr))
        check("no folder: nothing was started", not list(pathlib.Path(folder, "engine").rglob("*.json*")))


def meet(folder, fault, status, cause, *options, engines=(), sessions=1, finding=None):
    """Records two servers, of which the second has the fault: how the last of so many sessions ends, what the screen says
    of the cause (a pattern; None: nothing is missing), what run.json holds, the finding's id too. Gives run.json, or None."""
    base = f"{folder}/{re.sub('[^a-z0-9]', '-', fault)}"
    with simulation(base, "--count", "2", "--tp", "2", "--router", "vllm", "--fault", fault, *engines) as addresses:
        begin = time.monotonic()
        for _ in range(sessions):
            # A good recording may take as long as the machine needs.
            patience = ["--timeout", "15s"] if status else []
            done, report, run_folder = record(base, target(addresses), *patience, *options, timeout=170)
        said = " ".join((done.stdout + done.stderr).split())
        check(f"{fault}: status", done.returncode == status, f"{done.returncode}, {time.monotonic() - begin:.0f} s\n{done.stderr}")
        if cause:
            check(f"{fault}: the cause", re.search(cause, said), said)
        if report:
            faulty = addresses["workers"][1]["url"]
            proven = {w["url"]: all(r["proven"] for r in w["ranks"]) for w in report["workers"]}
            check(f"{fault}: run.json holds the status", report["exit_status"] == status, report["exit_status"])
            check(f"{fault}: says so", report["complete"] == (status == 0) and (status == 0 or report["missing"] or report["troubles"]),
                  report)
            sentences, findings = report["missing"] + report["troubles"] + report["remarks"], report["findings"]
            check(f"{fault}: each finding is in one sentence, and the other way round", len(findings) == len(sentences) and all(
                any(s.startswith(f"{f['subject']}: " if "subject" in f else "") and f["evidence"] in s for s in sentences) and
                f["evidence"] and f["remedy"] for f in findings), (findings, sentences))
            if finding:
                finds(fault, report, finding)
            check(f"{fault}: each sentence is of a finding", all(any(f["evidence"] in s for f in findings) for s in sentences),
                  (findings, sentences))
            check(f"{fault}: what is missing comes first, in the order of its sentences", all(
                f["evidence"] in s for f, s in zip(findings, report["missing"])), (findings, report["missing"]))
            check(f"{fault}: their severity is the status", (status == 0) == all(f["severity"] in ("info", "notice") for f in findings), findings)
            check(f"{fault}: the other server's are proven", all(p for url, p in proven.items() if url != faulty), proven)
            if report["missing"] and any(proven.values()):
                read = run("analyze", str(run_folder), "--json")
                check(f"{fault}: analyze names it too", read.returncode == 4 and json.loads(read.stdout)["unproven"] == report["missing"], read.stderr)
            if status == 0:
                check(f"{fault}: nothing is missing", all(proven.values()) and not report["missing"], report["missing"])
        else:
            check(f"{fault}: no run.json", status == 2, done.stderr)
        shutil.rmtree(base, ignore_errors=True)
        return report


def faults(folder):
    """Of the profiler: each must end, say what is missing and why, and leave a run folder that says so."""
    meet(folder, "error-500-start@1", 4, "did not start, in the trial before the window: .*out of memory", "--keep-going", finding="did-not-start")
    # Already the stop before its start hangs; without --keep-going nobody is started then.
    meet(folder, "hang-stop@1", 4, "did not answer the stop before its start: no answer within 15 s", "--keep-going", finding="old-session-hangs")
    meet(folder, "lose-rank@1:0", 4, "w1 .*: no file of this rank", finding="no-file-of-rank")
    meet(folder, "truncate@1", 4, "w1 .*: .*truncated-json")
    meet(folder, "die-in-flush@1", 4, "(died|cancelled)", "--keep-going", finding="engine-died")
    meet(folder, "disk-full@1", 4, "full disk is the usual cause .*truncated-json")
    meet(folder, "slow-flush@1:3s", 0, None)
    meet(folder, "not-found@1", 2, "--profiler-config")


def faults_beside(folder):
    """Of the start, of the server, of its clock and of its answers."""
    meet(folder, "slow-start@1:2s", 0, None)
    meet(folder, "lose-first@1", 4, "4 of 4 ranks proven, 2 incomplete", finding="rows-missing")
    # A number from one process alone would not be valid.
    report = meet(folder, "hang-start@1", 4, "did not start, in the trial before the window: no answer within 15 s: it hangs", "--keep-going")
    check("hang-start: no spread of one start", report and "start_spread_ns" not in report, report)
    meet(folder, "error-500-stop@1", 4, "refused to stop: HTTP 500", finding="stop-refused")
    meet(folder, "silent-second-session@1", 4, "records one session only", sessions=2)
    # It dies in the window: the load begins just before the start, with some twenty steps a second.
    report = meet(folder, "die-in-load@1:60", 4, "HTTP 500|died|connection", "--warm-up", "0ms", "--baseline", "0ms",
                  "--duration", "6s", engines=("--speed", "0.2"))
    check("die-in-load: it alone is missing", report and any(w["url"] in " ".join(report["missing"]) and not r["proven"]
          for w in report["workers"] for r in w["ranks"]), report and report["missing"])
    meet(folder, "clock-skew@1:3ms", 0, None)
    meet(folder, "clock-drift@1:50", 0, None)
    meet(folder, "error-in-stream@1:10", 0, r"\d+ of \d+ requests failed: error inside the answer", finding="requests-failed")
    meet(folder, "unhealthy@1", 0, None)  # its /health says so from before the window on


def died_in_load(folder):
    """It dies before its start, and within the window, which begins near step 130 and, on a busy machine, far later."""
    cases = [("vllm", "10", "died before its start", "died unexpectedly"), ("vllm", "450", "died under the load, ", "died unexpectedly"),
             ("sglang", "450", "died under the load, ", "")]
    for engine, steps, when, log in cases:
        base = f"{folder}/{engine}{steps}"
        with simulation(base, "--engine", engine, "--count", "2", "--tp", "2", "--router", engine, "--fault",
                        f"die-in-load@1:{steps}", "--log", f"{base}.log") as addresses:
            done, report, _ = record(base, target(addresses), "--engine-log", f"{base}.log", "--duration", "15s", "--timeout", "20s")
            name = f"{engine}, {when}"
            check(f"{name}: status", done.returncode == 4, (done.returncode, done.stdout, done.stderr))
            said = [m for m in report["missing"] if f'({addresses["workers"][1]["url"]}): ' in m] if report else []
            check(f"{name}: both ranks say so", len(said) == 2 and all(when in m and log in m for m in said), report)
            check(f"{name}: no refusal", "refused to" not in done.stdout and "already active" not in done.stdout, done.stdout)


def died_in_window(folder):
    """A death in the window is said at once. It ends the window; with --keep-going the others are recorded to its end."""
    cases = [("ended with it", ["--steps", "5000", "--duration", "60s"], "the window ends", 0, 40),
             ("kept going", ["--keep-going", "--duration", "12s"], "the others go on", 12, 25)]
    for name, options, then, least_s, most_s in cases:
        base = f"{folder}/{name}"
        with simulation(base, *TWO, "--fault", "die-in-load@1:450", "--log", f"{base}.log") as addresses:
            dead = addresses["workers"][1]["url"]
            run = Recording(base, target(addresses), *QUICK, *options, "--engine-log", f"{base}.log")
            said = run.until(then)
            before_the_end = said and "  stop " not in run.errors
            status, out, errors, _ = run.end(120)
            report = run.report()
            check(f"{name}: said when it died", before_the_end and re.search(
                rf"note +{dead}: it died [a-z ,]*[\d.]+ s into the window: .*its log says: .*died unexpectedly", errors), errors)
            took = re.search(r"profile +([\d.]+) s\n", errors)
            check(f"{name}: the window", took and least_s <= float(took[1]) < most_s, errors)
            check(f"{name}: status", status == 4 and not report["complete"], (status, out, errors))
            proven = {w["url"]: [r["proven"] for r in w["ranks"]] for w in report["workers"]}
            check(f"{name}: the other's traces are kept", proven[addresses["workers"][0]["url"]] == [True, True] and proven[dead] == [False, False],
                  (proven, report["missing"]))
            finds(name, report, "engine-died", *(["ended-by-death"] if "--steps" in options else []))
            check(f"{name}: once", errors.count("it died ") == 1, errors)


def all_refused(folder):
    """No request is answered: no profiler is started, and that is why."""
    with simulation(folder, "--dev-mode") as addresses, QuietServer(("127.0.0.1", 0), Proxy) as server:
        Proxy.engine = addresses["workers"][0]["url"]
        Proxy.refuses = ("/v1/completions", "/v1/chat/completions")
        threading.Thread(target=server.serve_forever, daemon=True).start()
        done, report, _ = record(folder, [f"http://127.0.0.1:{server.server_port}"])
        server.shutdown()
        check("all refused: status", done.returncode == 4, (done.returncode, done.stderr))
        check("all refused: no profiler was started", report["missing"] and all(
            "its profiler was not started: no request of the load was answered: HTTP 400" in m for m in report["missing"]), report["missing"])
        check("all refused: the cause", any("requests failed: HTTP 400" in t for t in report["troubles"]), report["troubles"])
        check("all refused: soon", "baseline" not in done.stderr, done.stderr)


def clock_and_cut(folder):
    with simulation(f"{folder}/c", *TWO, "--fault", "clock-skew@1:60m") as addresses:
        done, report, _ = record(f"{folder}/c", target(addresses))
        check("clock: status", done.returncode == 4, done.stderr)
        said = [m for m in report["missing"] if addresses["workers"][1]["url"] in m]
        check("clock: named", len(said) == 2 and all("clock is off" in m and re.search(r"3[56]\d\d\.\d s after", m) for m in said), said)
    with simulation(f"{folder}/t", *TWO, "--fault", "truncate@0") as addresses:
        done, report, _ = record(f"{folder}/t", target(addresses))
        said = report["missing"]
        check("cut: cause", len(said) == 2 and all("truncated-json" in m and "full disk is the usual cause" in m for m in said), said)


def full_disk(folder):
    """The run folder on a disk of 300 kB: the traces stay the engines' own, all else is told."""
    small = pathlib.Path(folder) / "small"
    small.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=300k", "none", str(small)], capture_output=True).returncode != 0:
        raise Skipped("no right to mount a small disk")
    try:
        with simulation(folder, *TWO) as addresses:
            done = run("record", *target(addresses), "--out", str(small), *QUICK)
            check("full disk: status", done.returncode == 4, (done.returncode, done.stdout, done.stderr))
            found = list(small.rglob("run.json"))
            check("full disk: run.json", len(found) == 1, done.stderr)
            check("full disk: stopped", re.search(r"^  stop ", done.stderr, re.M), done.stderr)
            said = " ".join(done.stdout.split())  # without its line ends
            check("full disk: said", "No space left" in said and f"{folder}/engine" in said, done.stdout)
            check("full disk: the engines' own are proven", "4 of 4 ranks proven" in done.stdout, done.stdout)
            check("full disk: nothing half written", not list(small.rglob("*.part")), list(small.rglob("*")))
            check("full disk: a new session can begin", all(post(w["url"], "/start_profile")[0] == 200 for w in addresses["workers"]))
    finally:
        subprocess.run(["umount", str(small)], check=False)


def first_stop(folder):
    """A stop that hangs before anything was started: progress, and --timeout bounds it."""
    with simulation(folder, *TWO, "--fault", "hang-stop@1") as addresses:
        run = Recording(folder, target(addresses), *QUICK, "--timeout", "4s")
        status, out, seen, took = run.end()
        check("first stop: status and bound", status == 4 and took < 30, (status, took, out))
        check("first stop: progress", "old sessions" in seen and addresses["workers"][1]["url"] in seen, seen[-2000:])
        check("first stop: said", "did not answer the stop before its start: no answer within 4 s" in " ".join(out.split()) and "0 of 4 ranks" in out, out)
        done, report, _ = record(f"{folder}/k", target(addresses), "--timeout", "4s", "--keep-going")
        check("first stop: the other goes on", done.returncode == 4 and "2 of 4 ranks proven" in done.stdout, done.stdout + done.stderr)


def silent_stop(folder):
    """Also where no line changes: who does not answer what, and what can be done."""
    with simulation(folder, "--fault", "hang-stop") as addresses:
        done, report, _ = record(folder, target(addresses), "--timeout", "8s")
        url = addresses["workers"][0]["url"]
        check("silent stop: said", re.search(rf"note +{url}: no answer to the stop before its start \(POST /stop_profile\) for [5-7]\.\d s: .*"
                                             r"until --timeout \(8\.0 s\); Ctrl-C", done.stderr), done.stderr)
        run = Recording(f"{folder}/c", target(addresses), *QUICK)
        run.until("no answer to the stop before its start")
        run.interrupt()
        status, out, _, _ = run.end()
        check("silent stop: after Ctrl-C", status == 130 and "did not answer the stop before its start, until Ctrl-C" in
              " ".join(out.split()), (status, out))


def blame(folder):
    """Where tacho gives up the others for one: it comes first, the others name it, and nothing is concluded from what there is."""
    for fault, options, done_to, brief in (
            ("die-in-flush@1", [], "not started", r"died .*, in the trial before the window"),
            ("error-500-start@1", [], "not started", "did not start, in the trial before the window"),
            ("error-500-start@1", ["--steps", "20"], "(not started|ended at once)", "did not start")):  # without a trial
        base = f"{folder}/{fault}{len(options)}"
        with simulation(base, "--count", "2", "--router", "vllm", "--fault", fault) as addresses:
            done, report, _ = record(base, target(addresses), *options)
            culprit, other = addresses["workers"][1]["url"], addresses["workers"][0]["url"]
            missing = report["missing"]
            check(f"{fault} {options}: the culprit first", len(missing) == 2 and f"({culprit}): " in missing[0].split("because")[0], missing)
            check(f"{fault} {options}: the other names it", re.search(
                rf"\({other}\): {done_to}, because w\d \({culprit}\) {brief}; --keep-going records the others$", missing[1]), missing)
            check(f"{fault} {options}: no verdict", done.returncode == 4 and "VERDICT" not in done.stdout and "verdict" not in report,
                  done.stdout)


def not_stopped(folder):
    """A refused stop does not prevent the next recording."""
    with simulation(folder, "--fault", "error-500-stop") as addresses:
        for name in ("first", "second"):
            done, report, _ = record(f"{folder}/{name}", target(addresses))
            check(f"500, {name}: status", done.returncode == 4, (done.returncode, done.stdout, done.stderr))


def counts(folder):
    """Why a recording with all its ranks is not complete; and a worker that was left out counts."""
    with simulation(f"{folder}/e", *TWO, "--fault", "error-500-stop@1") as addresses:
        done, report, _ = record(f"{folder}/e", target(addresses))
        check("500: status", done.returncode == 4 and "4 of 4 ranks proven" in done.stdout, (done.returncode, done.stdout))
        check("500: on the screen", "refused to stop: HTTP 500" in " ".join(done.stdout.split()), done.stdout)
        check("500: in JSON", any("refused to stop: HTTP 500" in t for t in report["troubles"]), report["troubles"])
    with simulation(f"{folder}/k", *TWO) as addresses:
        dead = "http://127.0.0.1:1"
        done, report, _ = record(f"{folder}/k", [*[w["url"] for w in addresses["workers"]], dead], "--keep-going")
        check("left out: status", done.returncode == 4, (done.returncode, done.stderr))
        check("left out: counted", "4 of 6 ranks proven" in done.stdout, done.stdout)
        check("left out: missing", [m for m in report["missing"] if m.startswith("w2 ") and dead in m and "connection refused" in m], report["missing"])


scenario.main([bad_targets, slow_status, refusals, no_folder, faults, faults_beside, died_in_load, died_in_window, all_refused, clock_and_cut, full_disk, first_stop, silent_stop,
               blame, not_stopped, counts], __doc__)
