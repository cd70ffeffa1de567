#!/usr/bin/env python3
"""Recordings that are interrupted, and profiling sessions that meet: of a recording that was killed, of `tacho engine start`, of
others.

usage: check_record_sessions.py TACHO [--only NAME ...]
"""
import json
import os
import pathlib
import re
import signal
import subprocess
import time

import processes
import scenario
from recordings import QUICK, TWO, Recording, finds, ranks, record, whole
from scenario import check, run, simulation, target, wait_for
from simulator import post


def interrupt(folder):
    with simulation(folder, "--count", "2", "--router", "vllm") as addresses:
        out = pathlib.Path(folder) / "runs"
        with processes.running([scenario.TACHO, "record", *target(addresses), "--out", str(out), "--warm-up", "500ms", "--baseline",
                                "1s", "--duration", "60s"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            time.sleep(6)
            process.send_signal(signal.SIGINT)
            out_text, err_text = process.communicate(timeout=processes.PATIENCE_S)
        check("Ctrl-C: status", process.returncode == 130, f"{process.returncode} {err_text}")
        found = list(out.glob("*/run.json"))
        check("Ctrl-C: run.json", len(found) == 1, err_text)
        if found:
            report = json.loads(found[0].read_text())
            check("Ctrl-C: marked", report["interrupted"] and not report["complete"], report)
            check("Ctrl-C: keeps what is there", all(r["files"] for r in ranks(report)), ranks(report))
        # The profilers were stopped: a new session can begin.
        done, report, run_folder = record(folder, target(addresses))
        whole("after Ctrl-C", done, report, run_folder, 2)


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
        run = Recording(f"{folder}/steps", target(addresses), *long, "--steps", "100000")
        run.until(" start ")
        time.sleep(1)
        run.interrupt()
        status, out, errors, took = run.end()
        said = (run.report() or {}).get("missing", [])
        check("before its steps: they are interrupted, and not short of load", status == 130 and said and
              all(re.search("interrupted after \\d+ of the 100000 steps", sentence) for sentence in said), (status, said, errors[-1000:]))
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


def two_at_once(folder):
    with simulation(folder) as addresses:
        out = f"{folder}/first"
        with processes.running([scenario.TACHO, "record", *target(addresses), "--out", out, *QUICK, "--duration", "12s"],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as first:
            check("two at once: the first began", wait_for(lambda: os.path.exists(out)))
            time.sleep(1)
            for name, second in (("record", record(folder, target(addresses))[0]), ("stop", run("engine", "stop", *target(addresses))),
                                 ("start", run("engine", "start", *target(addresses)))):
                check(f"two at once, {name}: refused",
                      second.returncode == 6 and "is being profiled by tacho record, process" in second.stderr, second.stderr)
            first.communicate(timeout=processes.PATIENCE_S)
        check("two at once: the first is whole", first.returncode == 0, first.returncode)


def started_twice(folder):
    """`tacho engine start` leaves a session running: a second one and a recording are refused by name until its stop, or until
    the engine is another process."""
    def refused(name, done):
        check(f"{name}: refused", done.returncode == 6 and "session first" in done.stderr and "tacho engine stop" in done.stderr,
              f"{done.returncode} {done.stderr}")
    with simulation(folder, "--engine", "sglang") as addresses:
        url = target(addresses)[0]
        start = run("engine", "start", url, "--key", "first", "--output-dir", f"{folder}/first")
        check("start: status", start.returncode == 0, start.stderr)
        refused("second start", run("engine", "start", url))
        refused("record", record(folder, [url])[0])
        check("a load", run("load", url, "--num-prompts", "4", "--input-len", "16", "--output-len", "8").returncode == 0)
        check("stop: status", run("engine", "stop", url).returncode == 0)
        files = list(pathlib.Path(folder, "first").glob("first*"))
        check("the window of the first is whole", len(files) == 1 and "step[DECODE" in subprocess.run(
            ["zcat", *files], capture_output=True, text=True).stdout, files)
        done, report, run_folder = record(folder, [url], "--steps", "5")
        whole("after the stop", done, report, run_folder, 1)
        # With a number of steps the engine refuses by itself while it counts, and needs no stop.
        for _ in range(2):
            counted = run("engine", "start", url, "--steps", "2", "--output-dir", f"{folder}/counted")
            check("counted steps, once more", counted.returncode == 0, counted.stderr)
            run("load", url, "--num-prompts", "1", "--input-len", "16", "--output-len", "8")
        # Where it counts still, a recording is refused by it, and leaves it what it is.
        check("many steps", run("engine", "start", url, "--key", "long", "--steps", "100000", "--output-dir", f"{folder}/long").returncode == 0)
        done, report, _ = record(folder, [url], "--steps", "5")
        check("refused by the engine", done.returncode != 0 and any("did not start" in m for m in report["missing"]),
              (done.returncode, done.stderr, report))
        check("the mark is kept", run("engine", "status", url).stdout.count("profiles since") == 1, run("engine", "status", url).stdout)
        check("a load for it", run("load", url, "--num-prompts", "2", "--input-len", "16", "--output-len", "8").returncode == 0)
        check("it runs on until its stop", run("engine", "stop", url).returncode == 0)
        check("it is written", len(list(pathlib.Path(folder, "long").glob("long*"))) == 1, list(pathlib.Path(folder).rglob("long*")))
        check("start, not stopped", run("engine", "start", url, "--key", "first", "--force").returncode == 0)
        refused("not stopped", run("engine", "start", url))
    with simulation(folder, "--engine", "sglang", "--port", url.rpartition(":")[2]):
        again = run("engine", "start", url)
        check("an engine that was restarted", again.returncode == 0, again.stderr)


def started_on_two(folder):
    """`tacho engine start` of two SGLangs that share a folder: a name for each. A stop before the first step takes it back."""
    with simulation(folder, "--engine", "sglang", "--count", "2") as addresses:
        urls = target(addresses)
        shared = pathlib.Path(folder, "shared")

        def load():
            done = run("load", *urls, "--num-prompts", "8", "--input-len", "16", "--output-len", "16", "--max-concurrency", "4")
            check("a load", done.returncode == 0, done.stderr)
        start = run("engine", "start", *urls, "--steps", "3", "--output-dir", str(shared), "--key", "both")
        check("two: start", start.returncode == 0 and "sessions both-w0 to both-w1" in start.stderr, start.stderr)
        load()
        check("two: a file of each", wait_for(lambda: len(list(shared.glob("both-*.json.gz"))) == 2), list(shared.glob("*")))
        run("engine", "stop", *urls)
        start = run("engine", "start", *urls, "--steps", "3", "--output-dir", str(shared), "--key", "early")
        stop = run("engine", "stop", *urls)
        check("early: stop", start.returncode == stop.returncode == 0 and stop.stdout.count("taken back") == 2, stop.stdout + stop.stderr)
        load()
        check("early: nothing is written", not list(shared.glob("early*")), list(shared.glob("*")))
        check("early: a new one begins", run("engine", "start", *urls, "--output-dir", str(shared), "--key", "third").returncode == 0)
        load()
        check("early: and ends", run("engine", "stop", *urls).returncode == 0 and len(list(shared.glob("third-*"))) == 2, list(shared.glob("*")))


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
            check(f"{name}: theirs runs", post(urls[0], "/start_profile", {"output_dir": str(theirs), "profile_prefix": "theirs"})[0] == 200)
            done, report, _ = record(f"{folder}/{i}", urls, *options, *going_on, quick=[o for o in QUICK if o not in ("--duration", "2s")])
            check(f"{name}: refused", done.returncode == 4 and report and any(
                urls[0] in m and re.search("did not start.*already running.*tacho engine stop", m) for m in report["missing"]), (done.returncode, report, done.stderr))
            proven = [r["proven"] for w in report["workers"] for r in w["ranks"]] if report else []
            check(f"{name}: the other", proven.count(True) == bool(going_on), proven)
            start = scenario.run("engine", "start", urls[0], "--output-dir", f"{folder}/ours")
            check(f"{name}: engine start", start.returncode == 6 and "already running" in start.stdout, (start.returncode, start.stdout, start.stderr))
            check(f"{name}: theirs goes on", not theirs.exists() or not list(theirs.iterdir()), list(theirs.glob("*")))
            check(f"{name}: until its stop", post(urls[0], "/stop_profile")[0] == 200 and len(list(theirs.glob("theirs-*"))) == 1, list(theirs.glob("*")))
        done, report, _ = record(f"{folder}/after", urls)
        check("then it is free", done.returncode == 0 and report["complete"], (done.returncode, done.stdout, done.stderr))


def of_others(folder):
    """Somebody's session that runs at the start is ended and named; a foreign stop within the window gives a remark."""
    with simulation(folder, "--count", "2", "--router", "vllm") as addresses:
        urls = [w["url"] for w in addresses["workers"]]
        post(urls[0], "/start_profile", {"profile_prefix": "theirs"})
        done, report, _ = record(folder, target(addresses))
        remark = [r for r in report["remarks"] if "was ended" in r]
        check("theirs: remarked", done.returncode == 0 and len(remark) == 1 and urls[0] in remark[0] and "theirs" in remark[0],
              (done.returncode, report["remarks"], report["missing"]))
        finds("theirs", report, "old-session-ended")
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
              re.search(r"holds \d+ steps of the \d+ that .* ends [4-7]\.\d s before the stop", remark[0]), (status, report["remarks"]))
        check("stopped early: on the screen", "before the stop" in " ".join(out.split()), out)
    # The flush of that stop halts the engine to the window's end: its own counter misses no step, and tokens only seem to cost.
    with simulation(folder, "--count", "1", "--fault", "slow-flush:5s") as addresses:
        url = addresses["workers"][0]["url"]
        run = Recording(f"{folder}/halted", [url], *QUICK[:4], "--duration", "5s")
        run.until(" start ")
        time.sleep(1)
        post(url, "/stop_profile")
        status, out, errors, _ = run.end()
        report = run.report()
        check("halted by a stop: remarked", [r for r in report["remarks"] if re.search(r"ends [2-4]\.\d s before the stop: a stop by somebody", r)],
              (status, report["remarks"], out))
        cost = re.search(r"cost +([\d.]+) tok/s unprofiled, ([\d.]+) profiled", out)
        check("halted by a stop: no cost of the flush", not cost or float(cost[2]) > 0.5 * float(cost[1]), cost and cost[0])


scenario.main([interrupt, interrupted_http, two_at_once, started_twice, started_on_two, killed, strangers_session, of_others],
               __doc__)
