#!/usr/bin/env python3
"""Many recordings in a row of simulated deployments with random faults: soak.py TACHO [SESSIONS [SEED]]

Deployments are drawn at random (engine, version, servers, ranks, router, faults), live for a few sessions each, and are
recorded in a random way (by HTTP, by steps, by the daemon, with or without load; with Ctrl-C at a random moment). After
each session: the exit status is the documented one of its faults (0 where there are none) and fits the run folder; the folder
is complete by this script's own reading of the files, or says what is missing, of a server that has a fault; no process, no
half file, no hang, no growing simulator. Prints each breach with the commands that led to it, and one line of counts. The
same SEED draws the same. Exit status: 0 no breach, 1 some.
"""
import collections
import gzip
import json
import os
import pathlib
import random
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import processes

TIMEOUT_S = 15  # beside builds a stop was not answered within 8 s, though its trace was whole after 3.3 s: why is not known
# What a session may take beyond its windows and timeouts (start, stop, collect), on a busy machine.
SLACK_S = 60
STEP_NAME = re.compile(r"execute_context_\d+\(\d+\)_generation_\d+\(\d+\)$|execute_new_\d+_cached_\d+$|step\[")
EMPTY_STEP = re.compile(r"execute_context_0\(0\)_generation_0\(0\)$|execute_new_0_cached_0$|step\[IDLE")
# What a recording comes to by a fault of one of its servers, by HTTP and by the daemon (docs/simulate.md, docs/record.md).
STATUS = {
    "slow-start": (0, 0), "slow-flush": (0, 0), "slow-table": (0, 0), "stall": (0, 0), "clock-skew": (0, 0), "clock-drift": (0, 0), "unhealthy": (0, 0), "error-in-stream": (0, 0),
    "new-torch": (0, 0), "hang-start": (4, 0), "error-500-start": (4, 0), "hang-stop": (4, 0), "error-500-stop": (4, 0), "not-found": (2, 0),
    "silent-second-session": (4, 0), "mute-rank": (0, 4), "late-answers": (0, 4), "lose-rank": (4, 4), "truncate": (4, 4), "disk-full": (4, 4),
    "die-in-flush": (4, 4), "die-in-load": (4, 4),
    # Found in the traces, if their windows hold enough work.
    "lose-first": (4, 4), "lose-replays": (4, 4), "recorder-stops": (4, 4), "device-skew": (0, 0), "device-drift": (0, 0)}


def fault_kinds(tacho):
    """(name, argument or "") of all that `tacho simulate` knows, from its own refusal."""
    refusal = subprocess.run([tacho, "simulate", "--fault", "none-such"], capture_output=True, text=True).stderr
    return re.search(r"known are (.*)", refusal)[1].strip().split(", ")


class Deployment:
    """A running simulator, drawn by `draw`."""

    def __init__(self, tacho, folder, draw, kinds):
        self.folder = folder
        self.daemon = draw.random() < 0.08
        sglang = draw.random() < 0.3
        self.version = "0.5.23" if sglang else draw.choice(["0.32", "0.32", "0.32", "0.13", "0.10"])
        self.servers, self.tp = draw.choice([1, 2, 2, 3]), draw.choice([1, 1, 2])
        if self.version in ("0.13", "0.10"):
            self.servers = 1  # their files do not tell which server wrote them: each needs a folder
        self.dp = 2 if not sglang and self.version == "0.32" and draw.random() < 0.1 else 1
        self.faults = [f"{draw.choice(kinds)}@{draw.randrange(self.servers)}" for _ in range(draw.choice([0, 0, 1, 1, 1, 2]))]
        router = draw.choice(["none", "sglang" if sglang else "vllm"])
        self.command = [tacho, "simulate", "--json", "--engine", "sglang" if sglang else "vllm", "--engine-version", self.version,
                        "--count", str(self.servers), "--tp", str(self.tp), "--dp", str(self.dp), "--router", router,
                        "--model-size", "8b", "--speed", draw.choice(["0.2", "0.5"]),  # a few steps a window: small traces
                        "--trace-dir", f"{folder}/engine", "--seed", str(draw.randrange(1000))]
        if self.version == "0.32":
            self.command.append("--dev-mode")
        for fault in self.faults:
            self.command += ["--fault", fault + (":2ms" if fault.startswith("slow-table") else ":300ms" if fault.startswith(("slow", "stall")) else "")]
        environment = {**os.environ, "TMPDIR": str(folder)}
        if self.daemon:
            environment.update(KINETO_USE_DAEMON="1", KINETO_IPC_SOCKET_DIR=str(folder))
        self.process = subprocess.Popen(self.command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment,
                                        start_new_session=True)
        told = json.loads(processes.first_line(self.process))
        self.workers = [w["url"] for w in told["workers"]]
        self.targets = [told["router"]] if "router" in told else self.workers
        self.ranks = self.servers * self.tp * self.dp
        self.files_open = self.open_files()

    def open_files(self):
        return {pid: len(os.listdir(f"/proc/{pid}/fd")) for pid in of_session(self.process.pid)}

    def outcomes(self, kind, options, earlier):
        """The exit statuses that a session may have because of one fault; `earlier`: the results of the sessions before."""
        status, sglang = STATUS[kind][self.daemon], self.version == "0.5.23"
        if not self.daemon:
            if kind == "silent-second-session":
                # A trial before the recording is a session too.
                return {0, 4} if not earlier else {4} if {"complete", "incomplete"} & set(earlier) else {0, 4}
            if kind == "not-found" and sglang:
                return {4}  # every SGLang has the route: only the start fails
            if kind == "not-found" and "--keep-going" in options:
                return {4, 6}  # the others, or nobody
            if kind == "error-500-stop" and sglang:
                return {0}  # what a stop of a stopped one says, too, and the trace is there
            if kind == "hang-stop" and sglang and "--steps" in options:
                return {0, 4}  # its files were there before the stop, which is then left out
            if kind == "hang-stop" and sglang and earlier:
                return {4, 6}  # the session that could not be stopped runs on
        if kind == "late-answers" and self.daemon:
            return {0, 4}  # all take a second window, unless the first took all the time that there is
        if kind in ("lose-first", "lose-replays", "recorder-stops"):
            return {0, 4}  # a window of few steps may lose nothing that can be told
        if kind == "die-in-load":
            return {0, 4, 6}  # its steps were not enough; it dies under way; it is gone
        if earlier and (kind == "die-in-flush" or kind == "disk-full" and sglang):
            return {4, 6}  # it may be gone
        return {status}

    def allowed(self, options, interrupts, earlier):
        """The exit statuses that a session may end with."""
        each = [self.outcomes(f.split("@")[0], options, earlier) for f in self.faults]
        found = set().union({0}, *each)
        if any(0 not in statuses for statuses in each):
            found.remove(0)
        if {2} in each:
            found &= {2, 6}  # nothing is started
        if 0 in found and {"--no-load", "--steps"} & set(options):
            found.add(4)  # no step, or fewer than were asked for
        return found | ({130} if interrupts else set())

    def blameless(self):
        """The servers of which nothing can be missing."""
        bad = {int(f.split("@")[1]) for f in self.faults if STATUS[f.split("@")[0]][self.daemon]}
        return [url for i, url in enumerate(self.workers) if i not in bad]

    def end(self):
        processes.end(self.process)


def of_session(leader):
    """The processes of the session that `leader` began."""
    found = []
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                fields = pathlib.Path(f"/proc/{entry}/stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[3]) == leader and fields[0] != "Z":
                found.append(int(entry))
    return found


def draw_session(draw, deployment, out):
    """The options of `tacho record`, and after how many seconds Ctrl-C comes (none, one or two)."""
    window = draw.choice([200, 400, 700])
    users = max(4, 2 * deployment.servers * deployment.dp)  # an engine without a request has nothing to prove
    options = ["--out", str(out), "--warm-up", "200ms", "--baseline", draw.choice(["0ms", "300ms"]), "--duration", f"{window}ms",
               "--timeout", f"{TIMEOUT_S}s", "--prompt-tokens", "64", "--output-tokens", "16", "--concurrency", str(users),
               "--seed", str(draw.randrange(1000))]
    if deployment.version in ("0.13", "0.10"):
        options += ["--trace-dir", f"{deployment.folder}/engine"]
    if deployment.daemon:
        options += ["--via", draw.choice(["auto", "daemon"])]
    elif draw.random() < 0.25:
        options += ["--steps", str(draw.randrange(2, 9))]
    if draw.random() < 0.1:
        options.append("--no-load")
    if draw.random() < 0.2:
        options.append("--keep-going")
    interrupts = []
    if draw.random() < 0.25:
        interrupts.append(draw.uniform(0, 15 if deployment.daemon else 3))
        if draw.random() < 0.3:
            interrupts.append(draw.uniform(0, 1))
    return options, interrupts


def record(command, folder, interrupts):
    """(exit status or None when it had to be killed, standard error, seconds, processes that it left)"""
    began = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True,
                               env={**os.environ, "TMPDIR": str(folder), "XDG_STATE_HOME": f"{folder}-state"})
    try:
        for pause in interrupts:
            try:
                process.wait(pause)
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGINT)
        errors = process.communicate(timeout=SLACK_S + 6 * TIMEOUT_S)[1]
        status = process.returncode
    except subprocess.TimeoutExpired:
        process.kill()
        errors, status = process.communicate()[1], None
    left = of_session(process.pid)
    return status, errors, time.monotonic() - began, left


def stop_as_told(tacho, errors):
    """A second Ctrl-C prints how to stop the profilers that keep running."""
    for line in errors.splitlines():
        if line.startswith("tacho engine stop "):
            try:
                subprocess.run([tacho, *shlex.split(line)[1:]], capture_output=True, timeout=TIMEOUT_S)
            except subprocess.TimeoutExpired:
                pass  # hang-stop


def why_not_whole(path, rank):
    """Reads one trace without tacho; "" if it is complete and of this session."""
    try:
        raw = path.read_bytes()
        trace = json.loads(gzip.decompress(raw) if path.suffix == ".gz" else raw)
    except (OSError, ValueError, EOFError) as e:
        return f"cannot be read: {e}"
    events = trace["traceEvents"]
    if not events or events[-1]["name"] != "Record Window End":
        return "does not end as Kineto ends its files"
    told = trace.get("distributedInfo", {}).get("rank")
    if told is not None and told != rank["rank"]:
        return f"is of rank {told}"
    if not any(e.get("cat") == "kernel" for e in events):
        return "no kernel"
    steps = sum(1 for e in events if e.get("cat") == "user_annotation" and STEP_NAME.match(e["name"]) and
                not EMPTY_STEP.match(e["name"]))
    if steps and len(rank["files"]) == 1 and rank.get("steps") != steps:
        return f"holds {steps} steps, run.json says {rank.get('steps')}"
    return ""


def judge(deployment, options, interrupts, status, new, earlier):
    """The breaches of one session, and what it was."""
    wrong = []
    if status is None:
        return ["hung"], "hung"
    allowed = deployment.allowed(options, interrupts, earlier)
    if status not in (0, 2, 4, 6, 130):
        return [f"exit status {status}"], "failed"
    if status not in allowed:
        wrong.append(f"exit status {status}, not {' or '.join(map(str, sorted(allowed)))}")
    if status in (2, 6):
        return wrong + [f"left {f}" for f in new if list(f.rglob("*.json*"))], "refused"
    if len(new) != 1:
        return wrong + ([] if status == 130 and not new else [f"run folders: {new}"]), "interrupted"
    folder = new[0]
    # tacho's own. What an engine left half written (.tmp) is brought as it is, and proves nothing.
    wrong += [f"half file {f}" for f in folder.rglob("*") if f.suffix in ((".part", ".tmp") if status == 0 else (".part",))]
    report_file = folder / "run.json"
    if not report_file.exists():
        return wrong + ([] if status == 130 and len(interrupts) == 2 else ["no run.json"]), "interrupted"
    report = json.loads(report_file.read_text())
    lacks = report.get("missing", []) + report.get("troubles", [])
    # The daemon ends a recording in the middle of a step, which is much of so short a window.
    cut_off = [line for line in lacks if deployment.daemon and "cut-off-work" in line]
    if cut_off and cut_off == lacks:
        wrong = [line for line in wrong if not line.startswith("exit status 4")]
    ranks = [r for w in report["workers"] for r in w["ranks"]]
    if report["exit_status"] != status:
        wrong.append(f"run.json says status {report['exit_status']}")
    if report["complete"] != (status == 0):
        wrong.append(f"complete: {report['complete']}")
    if status == 4 and not lacks:
        wrong.append("does not say what is missing")
    if status == 130 and not report["interrupted"]:
        wrong.append("does not say that it was interrupted")
    if status == 0:
        proven = sum(r["proven"] for r in ranks)
        if proven != deployment.ranks or len(ranks) != proven:
            wrong.append(f"{proven} of {len(ranks)} ranks proven, there are {deployment.ranks}")
    if not {"--no-load", "--steps"} & set(options) and not interrupts:
        wrong += [f"blames a server without a fault: {line}" for line in lacks
                  if line not in cut_off and any(f"({url}): " in line or line.startswith(f"{url}:") for url in deployment.blameless())
                  and "; --keep-going records the others" not in line]  # because of another one
    for rank in ranks:
        for file in rank["files"] if rank["proven"] else []:
            why = why_not_whole(folder / file, rank)
            if why:
                wrong.append(f"{file}: proven, but {why}")
    return wrong, {0: "complete", 4: "incomplete", 130: "interrupted"}[status]


def main():
    tacho = str(pathlib.Path(sys.argv[1]).resolve())
    sessions, seed = (int(a) for a in (sys.argv[2:] + ["10", "1"][len(sys.argv) - 2:])[:2])
    kinds = fault_kinds(tacho)
    counts, breaches, began, done = collections.Counter(), 0, time.monotonic(), 0
    while done < sessions:
        draw = random.Random(f"{seed}/{done}")
        folder = pathlib.Path(tempfile.mkdtemp(prefix="tacho-soak-"))
        deployment = Deployment(tacho, folder, draw, kinds)
        earlier = []
        try:
            for _ in range(min(sessions - done, draw.choice([1, 2, 3, 4]))):
                out, temp = folder / f"runs{done}", folder / f"tmp{done}"  # an engine may still write into an earlier one
                temp.mkdir()
                options, interrupts = draw_session(draw, deployment, out)
                command = [tacho, "record", *deployment.targets, *options]
                status, errors, took, left = record(command, temp, interrupts)
                new = sorted(out.iterdir()) if out.exists() else []
                wrong, what = judge(deployment, options, interrupts, status, new, earlier)
                earlier.append(what)
                wrong += [f"process {pid} was left" for pid in left] + [f"{f} was left" for f in temp.iterdir()]
                until = time.monotonic() + 5
                # Its own connections close with it; a router keeps some to its workers.
                grown = True
                while grown and time.monotonic() < until:
                    grown = [f"simulator {pid} has {count} files open, {deployment.files_open[pid]} before"
                             for pid, count in deployment.open_files().items()
                             if count > deployment.files_open.get(pid, count) + 64]
                    time.sleep(0.02)
                wrong += grown
                stop_as_told(tacho, errors)
                counts[what] += 1
                done += 1
                if done % 25 == 0:
                    print(f"{done} of {sessions} after {time.monotonic() - began:.0f} s", flush=True)
                if wrong:
                    breaches += 1
                    print(f"session {done - 1}, seed {seed}, {took:.1f} s, status {status}, Ctrl-C after {interrupts}:\n  "
                          + "\n  ".join([" ".join(deployment.command), " ".join(command), *wrong, errors[-1500:]]), flush=True)
                shutil.rmtree(out, ignore_errors=True)
        finally:
            deployment.end()
        left = of_session(deployment.process.pid)
        if left:
            breaches += 1
            print(f"session {done - 1}: {' '.join(deployment.command)} left the processes {left}", flush=True)
        shutil.rmtree(folder, ignore_errors=True)
    print(f"{done} sessions (seed {seed}) in {time.monotonic() - began:.0f} s: "
          + ", ".join(f"{count} {what}" for what, count in sorted(counts.items())) + f"; {breaches} with a breach")
    return 1 if breaches else 0


if __name__ == "__main__":
    sys.exit(main())
