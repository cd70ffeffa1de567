#!/usr/bin/env python3
"""What a recording says and keeps when it does not go as planned: Ctrl-C once and twice by HTTP and by the daemon, engines that
die under load, clocks that are off, cut traces, a full disk, sessions of others.

usage: check_record_session.py TACHO [--only NAME]
"""
import fcntl
import json
import os
import pathlib
import re
import select
import signal
import struct
import subprocess
import termios
import time
import urllib.error
import urllib.request

import processes
import scenario
from check_record import QUICK, ranks, record
from scenario import Skipped, check, run, simulation, target, wait_for

TWO = ["--count", "2", "--tp", "2", "--router", "vllm"]


def post(url, path, body=None):
    data = json.dumps(body).encode() if body is not None else b""
    request = urllib.request.Request(url + path, data=data, method="POST", headers={"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status
    except urllib.error.HTTPError as refused:
        return refused.code


class Recording:
    """A `tacho record` under way, at a terminal, so that its progress is seen."""

    def __init__(self, folder, targets, *options):
        self.out = pathlib.Path(folder) / "runs"
        self.screen, theirs = processes.open_terminal()
        # Wide, so that what is said stays on one line.
        fcntl.ioctl(self.screen, termios.TIOCSWINSZ, struct.pack("4H", 50, 500, 0, 0))
        self.process = subprocess.Popen([scenario.TACHO, "record", *targets, "--out", str(self.out), *options],
                                        stdout=subprocess.PIPE, stderr=theirs, text=True)
        os.close(theirs)
        self.errors = ""

    def read(self, wait):
        """Whether more may come."""
        if not select.select([self.screen], [], [], wait)[0]:
            return True
        try:
            self.errors += os.read(self.screen, 65536).decode(errors="replace").replace("\r\n", "\n")
            return True
        except OSError:  # its other end is closed
            return False

    def until(self, words, seconds=processes.PATIENCE_S):
        """Reads on until `words` are there, after what was read so far."""
        seen, end = len(self.errors), time.monotonic() + seconds
        while time.monotonic() < end and self.read(0.2):
            if words in self.errors[seen:]:
                return True
        check(f"says {words} within {seconds} s", False, self.errors[-2000:])
        return False

    def interrupt(self):
        self.process.send_signal(signal.SIGINT)

    def end(self, seconds=processes.PATIENCE_S):
        """(exit status, standard output, all of standard error, seconds that it took)"""
        began = time.monotonic()
        while time.monotonic() - began < seconds and self.read(0.2):
            pass
        try:
            out, _ = self.process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise processes.Overdue(f"waited {seconds} s for the end of {self.process.args}: {self.errors[-2000:]}") from None
        os.close(self.screen)
        return self.process.returncode, out, self.errors, time.monotonic() - began

    def report(self):
        found = list(self.out.rglob("run.json"))
        return json.loads(found[0].read_text()) if found else None


def interrupted_http(folder):
    long = ["--warm-up", "500ms", "--baseline", "500ms", "--duration", "60s"]
    with simulation(f"{folder}/a", *TWO) as addresses:
        run = Recording(f"{folder}/a", target(addresses), *long[2:], "--warm-up", "60s")
        run.until("preflight")
        time.sleep(0.5)
        run.interrupt()
        status, out, errors, took = run.end()
        report = run.report()
        check("before the start: status", status == 130 and took < 10, (status, took, errors))
        check("before the start: said", "before the profilers were started" in errors, errors)
        check("before the start: nothing was sent", report and not any("start" in w or "stop" in w for w in report["workers"]), report)
        check("before the start: marked", report and report["interrupted"] and report["missing"], report)
    with simulation(f"{folder}/b", *TWO, "--fault", "slow-flush@1:5s") as addresses:
        run = Recording(f"{folder}/b", target(addresses), *long)
        run.until(" start ")
        time.sleep(1)
        run.interrupt()
        run.until(" profile ")
        time.sleep(0.7)
        run.interrupt()
        status, out, errors, took = run.end()
        check("twice: at once", status == 130 and took < 2, (status, took))
        command = re.search(r"^tacho (engine stop .*)$", errors, re.M)
        check("twice: how to stop", command and all(w["url"] in command[1].split() for w in addresses["workers"]), errors)
        places = re.findall(r"^  (/.*)\*  \((.*)\)$", errors, re.M)
        check("twice: where the traces will be", sorted(url for _, url in places) ==
              sorted(w["url"] for w in addresses["workers"]), errors)
        check("twice: no run.json", run.report() is None)
        for place, _ in places:
            at = pathlib.Path(place)
            check("twice: there they are", wait_for(lambda at=at: len(list(at.parent.glob(f"{at.name}*.json"))) == 2), place)


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
        time.sleep(0.3)  # what comes within 0.2 s is the same Ctrl-C
        run.interrupt()
        status, out, errors, took = run.end()
        check("daemon, twice: at once", status == 130 and took < 2, (status, took))
        files = re.findall(r"^  (/\S+/kineto_(\d+)\.json)$", errors, re.M)
        owners = {pid for w in addresses["workers"] for pid in w["rank_pids"]}
        check("daemon, twice: names its files", owners <= {int(pid) for _, pid in files}, errors)
        check("daemon, twice: there they are",
              wait_for(lambda: all(os.path.exists(path) for path, pid in files if int(pid) in owners)), files)


def killed(folder):
    """SIGKILL in the window: the profilers run on, and whoever comes next is told so, until they are stopped. A recording of
    vLLM stops them by itself, and says what they left."""
    for engine in ("vllm", "sglang"):
        base = f"{folder}/{engine}"
        with simulation(base, "--engine", engine, "--count", "2", "--router", engine) as addresses:
            urls = [w["url"] for w in addresses["workers"]]
            run = Recording(base, target(addresses), *QUICK[:4], "--duration", "60s")
            run.until(" start ")
            time.sleep(1)
            run.process.kill()
            run.end()
            attempts = [("start", scenario.run("engine", "start", *urls))]
            if engine == "sglang":
                attempts.append(("record", record(base, target(addresses))[0]))
            for name, done in attempts:
                told = re.search(r"started by tacho record at .* not stopped since; .*tacho engine stop (\S+) ends it", done.stderr)
                check(f"{engine}: {name} is refused", done.returncode == 6 and told and told[1] in urls, (done.returncode, done.stderr))
            status = scenario.run("engine", "status", *urls)
            check(f"{engine}: status tells it", status.stdout.count("profiles since") == 2, status.stdout)
            if engine == "sglang":
                stop = scenario.run("engine", "stop", *urls)
                check(f"{engine}: stop", stop.returncode == 0, stop.stderr)
            done, report, _ = record(f"{base}/next", target(addresses))
            check(f"{engine}: then it is free", done.returncode == 0 and report["complete"], (done.returncode, done.stdout, done.stderr))
            check(f"{engine}: what was ended is named", (engine == "vllm") == any("was ended" in r for r in report["remarks"]),
                  report["remarks"])
            check(f"{engine}: no mark is left", "profiles since" not in scenario.run("engine", "status", *urls).stdout)


def strangers_session(folder):
    """Somebody else profiles an SGLang: whatever was asked for, nothing is started there, and that session goes on until its owner's stop."""
    with simulation(folder, "--engine", "sglang", "--count", "2") as addresses:
        urls = target(addresses)
        cases = [([], []), (["--duration", "2s"], []), (["--steps", "40"], []), (["--steps", "4"], []), (["--by-stage", "--steps", "4"], []),
                 (["--duration", "1s"], ["--keep-going"])]
        for i, (options, going_on) in enumerate(cases):
            name = f"{options} {going_on}"
            theirs = pathlib.Path(folder, f"theirs{i}")
            check(f"{name}: theirs runs", post(urls[0], "/start_profile", {"output_dir": str(theirs), "profile_prefix": "theirs"}) == 200)
            done, report, _ = record(f"{folder}/{i}", urls, *options, *going_on, quick=[o for o in QUICK if o not in ("--duration", "2s")])
            check(f"{name}: refused", done.returncode == 4 and report and any(
                urls[0] in m and re.search("did not start.*already running.*tacho engine stop", m) for m in report["missing"]), (done.returncode, report, done.stderr))
            proven = [r["proven"] for w in report["workers"] for r in w["ranks"]] if report else []
            check(f"{name}: the other", proven.count(True) == bool(going_on), proven)
            start = scenario.run("engine", "start", urls[0], "--output-dir", f"{folder}/ours")
            check(f"{name}: engine start", start.returncode == 6 and "already running" in start.stdout, (start.returncode, start.stdout, start.stderr))
            check(f"{name}: theirs goes on", not theirs.exists() or not list(theirs.iterdir()), list(theirs.glob("*")))
            check(f"{name}: until its stop", post(urls[0], "/stop_profile") == 200 and len(list(theirs.glob("theirs-*"))) == 1, list(theirs.glob("*")))
        done, report, _ = record(f"{folder}/after", urls)
        check("then it is free", done.returncode == 0 and report["complete"], (done.returncode, done.stdout, done.stderr))


def died_in_load(folder):
    """It dies before its start, and within the window, which begins near step 130 and, on a busy machine, far later."""
    cases = [("vllm", "10", "died before its start", "died unexpectedly"), ("vllm", "450", "died under the load, before its stop",
             "died unexpectedly"), ("sglang", "450", "died under the load, before its stop", "")]
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


def clock_and_cut(folder):
    with simulation(f"{folder}/c", *TWO, "--fault", "clock-skew@1:60m") as addresses:
        done, report, _ = record(f"{folder}/c", target(addresses))
        check("clock: status", done.returncode == 4, done.stderr)
        said = [m for m in report["missing"] if addresses["workers"][1]["url"] in m]
        check("clock: named", len(said) == 2 and all("clock is off" in m and re.search(r"3[56]\d\d\.\d s behind", m) for m in said), said)
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
            check("full disk: a new session can begin", all(post(w["url"], "/start_profile") == 200 for w in addresses["workers"]))
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


def of_others(folder):
    """Somebody's session that runs at the start is ended and named; a stop by somebody within the window is remarked on."""
    with simulation(folder, "--count", "2", "--router", "vllm") as addresses:
        urls = [w["url"] for w in addresses["workers"]]
        post(urls[0], "/start_profile", {"profile_prefix": "theirs"})
        done, report, _ = record(folder, target(addresses))
        remark = [r for r in report["remarks"] if "was ended" in r]
        check("theirs: remarked", done.returncode == 0 and len(remark) == 1 and urls[0] in remark[0] and "theirs" in remark[0],
              (done.returncode, report["remarks"], report["missing"]))
        check("theirs: on the screen", "was ended" in done.stderr, done.stderr)
        done, report, _ = record(folder, target(addresses))
        check("none: no remark", not [r for r in report["remarks"] if "was ended" in r], report["remarks"])
        run = Recording(f"{folder}/early", target(addresses), *QUICK[:4], "--duration", "8s")
        run.until(" start ")
        time.sleep(2)
        post(urls[1], "/stop_profile")
        status, out, errors, _ = run.end()
        report = run.report()
        remark = [r for r in report["remarks"] if "somebody else" in r]
        check("stopped early: remarked", len(remark) == 1 and urls[1] in remark[0] and
              re.search(r"holds \d+ of the \d+ steps .* ends [4-7]\.\d s before the stop", remark[0]), (status, report["remarks"]))
        check("stopped early: on the screen", "before the stop" in " ".join(out.split()), out)


def not_stopped(folder):
    """A stop that is refused does not bar the next recording."""
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
        check("late answers: one window", not [f for f in run_folder.rglob("*kineto_*")], list(run_folder.rglob("*kineto*")))
        files = [f for r in ranks(report) for f in r["files"]]
        check("late answers: all of the second window", len(files) == 4 and all("kineto-again_" in f for f in files), files)
    with simulation(f"{folder}/nine", *TWO, "--fault", "late-answers@1:9", daemon=True) as addresses:
        done, report, _ = record(f"{folder}/nine", target(addresses))
        late = addresses["workers"][1]["url"]
        check("always late: status", done.returncode == 4 and "2 of 4 ranks proven" in done.stdout, (done.returncode, done.stdout))
        said = [m for m in report["missing"] if late + ")" in m]
        check("always late: in JSON", len(said) == 2 and all("told too late" in m for m in said), said)
        check("always late: on the screen", "4 of its 4 processes did not begin" in " ".join(done.stdout.split()), done.stdout)
        check("always late: no other cause", "disk" not in done.stdout and "disk" not in json.dumps(report["missing"]), done.stdout)


def daemon_again_interrupted(folder):
    """Ctrl-C before anybody was told of the second window: what the first one gave is kept."""
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
    with simulation(folder, *TWO, "--fault", "slow-flush@1:25s", daemon=True) as addresses:
        done, report, run_folder = record(folder, target(addresses), "--timeout", "6s")
        late = addresses["workers"][1]["url"]
        said = [m for m in report["missing"] if late + ")" in m]
        check("late: status", done.returncode == 4, (done.returncode, done.stdout))
        check("late: named", len(said) == 2 and all("still write" in m for m in said), (said, report["troubles"]))
        file = re.search(r"(/\S+/kineto_\d+\.json) will be there", said[0]) if said else None
        check("late: its file comes", file and wait_for(lambda: os.path.exists(file[1])), said)


SCENARIOS = [interrupted_http, interrupted_daemon, killed, strangers_session, died_in_load, clock_and_cut, full_disk, first_stop, silent_stop, blame,
             of_others, not_stopped, counts, daemon_commands, daemon_stands_still, daemon_late_answers, daemon_again_interrupted, daemon_late]

if __name__ == "__main__":
    scenario.main(SCENARIOS, __doc__)
