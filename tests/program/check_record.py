#!/usr/bin/env python3
"""`tacho record` and `tacho engine` against simulated deployments, from end to end: what is found, started, proven,
collected and said, and what happens with every fault that the simulator knows.

usage: check_record.py TACHO [--only NAME]
"""
import decimal
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import time

import jsonschema

import processes
import scenario
from scenario import check, run, simulation, target, wait_for

# Short windows: the machine that runs the tests may have two cores.
QUICK = ["--warm-up", "500ms", "--baseline", "1s", "--duration", "2s", "--prompt-tokens", "64", "--output-tokens", "32"]


def run_schema():
    """docs/run.schema.json with the parts that it takes from docs/json.schema.json."""
    docs = pathlib.Path(__file__).resolve().parents[2] / "docs"
    whole = json.loads((docs / "json.schema.json").read_text())["properties"]
    text = re.sub(r'\{\s*"\$ref": "json.schema.json#/properties/(\w+)"\s*\}', lambda m: json.dumps(whole[m[1]]),
                  (docs / "run.schema.json").read_text())
    return jsonschema.Draft202012Validator(json.loads(text))


RUN_SCHEMA = run_schema()


def record(folder, targets, *options, quick=QUICK, timeout=180):
    """Gives (finished process, run.json or None, run folder or None)."""
    out = pathlib.Path(folder) / "runs"
    before = set(out.iterdir()) if out.exists() else set()
    done = run("record", *targets, "--out", str(out), *quick, *options, timeout=timeout)
    new = sorted(set(out.iterdir()) - before) if out.exists() else []
    report = json.loads((new[-1] / "run.json").read_text()) if new and (new[-1] / "run.json").exists() else None
    return done, report, new[-1] if new else None


def ranks(report):
    return [rank for worker in report["workers"] for rank in worker["ranks"]]


def whole(name, done, report, folder, expected_ranks, names_steps=True):
    """A recording in which nothing is missing."""
    check(f"{name}: status", done.returncode == 0, f"{done.returncode}\n{done.stdout}\n{done.stderr}")
    if report is None:
        check(f"{name}: run.json", False, done.stderr)
        return
    check(f"{name}: complete", report["complete"] and report["exit_status"] == 0, report.get("missing"))
    check(f"{name}: ranks", len(ranks(report)) == expected_ranks, ranks(report))
    check(f"{name}: proven", all(r["proven"] and (r.get("steps", 0) > 0 or not names_steps) for r in ranks(report)),
          ranks(report))
    files = [f for r in ranks(report) for f in r["files"]]
    check(f"{name}: own files", len(set(files)) == len(files) and all((folder / f).is_file() for f in files), files)
    check(f"{name}: the rest of the folder",
          all((folder / f).is_file() for f in ("commands.sh", "probes.json", "plan.json", "requests.jsonl")))
    check(f"{name}: nothing half written", not list(folder.rglob("*.part")) and not list(folder.rglob("*.tmp")))
    requests = [json.loads(line) for line in (folder / "requests.jsonl").read_text().splitlines()]
    check(f"{name}: requests", len(requests) > 0)
    end = done.stdout.rstrip("\n").split("\n\n")[-1].split("\n")
    labels = [line[1:9].strip() for line in end]
    check(f"{name}: ends with what it is worth", len(end) <= 10 and labels[0] == "VERDICT" and "proof" in labels
          and labels[-2:] == ["folder", "next"], end)
    errors = [e.message[:200] for e in RUN_SCHEMA.iter_errors(report)]
    check(f"{name}: docs/run.schema.json", not errors, errors[:3])
    check(f"{name}: proof is data", report["proof"] == {"proven": expected_ranks, "ranks": expected_ranks}, report["proof"])
    told = json.loads(run("analyze", "--json", str(folder / "traces")).stdout)
    check(f"{name}: the verdict is that of analyze", told["verdict"] == report["verdict"], (told["verdict"], report["verdict"]))
    check(f"{name}: ranks are called as in the tables",
          {t["identity"]["name"].removesuffix(" prefill").removesuffix(" decode") for t in told["traces"] if "identity" in t}
          <= {r["name"] for r in ranks(report)} or not names_steps, ranks(report))


def two_behind_a_router(folder):
    with simulation(folder, "--count", "2", "--tp", "2", "--router", "vllm") as addresses:
        done, report, run_folder = record(folder, target(addresses))
        whole("vllm tp2 x2", done, report, run_folder, 4)
        if report:
            check("vllm tp2 x2: spread", 0 <= report["start_spread_ns"] < 100_000_000, report["start_spread_ns"])
            check("vllm tp2 x2: cost is a number", "cost_of_profiling" in report)
        again, second, _ = record(folder, target(addresses))
        whole("vllm tp2 x2, second session", again, second, _, 4)
        status = run("engine", "status", *target(addresses), "--json")
        found = json.loads(status.stdout)
        check("engine status", status.returncode == 0 and len(found["workers"]) == 2, status.stdout + status.stderr)
        check("engine status: router", found.get("router_kind") == "vllm-router", found)
        based = run("engine", "list", target(addresses)[0] + "/v1", "--json")
        check("an OpenAI client's base URL", len(json.loads(based.stdout)["workers"]) == 2, based.stdout)


def steps(folder):
    with simulation(folder, "--count", "2", "--router", "vllm") as addresses:
        report, _ = six_steps("vllm steps", folder, addresses)
        if report:
            # Six steps take milliseconds; the flush behind them and the look that finds its files do not count.
            check("vllm steps: the window ends with them", report["profiled"]["duration_ns"] < 150e6, report["profiled"])
        done, report, _ = record(folder, target(addresses), "--steps", "100000")
        check("steps: ended by --duration", done.returncode == 0 and report["complete"] and re.search(
            r"\d+ of 100000 steps were taken before --duration \([2-9]\.\d s\) ended", " ".join(done.stdout.split())), done.stdout)
        _, taken = six_steps("vllm steps of one user", folder, addresses, "--concurrency", "2", "--output-tokens", "3")
        check("vllm steps of one user: empty ones too", all(one["by_phase"]["empty"] > 0 for one in taken), taken)


def six_steps(name, folder, addresses, *options):
    """Gives run.json and the steps of each trace. Where all users wait for their next request at once vLLM takes an empty step: its
    profiler counts it, and a rank's steps leave it out."""
    done, report, run_folder = record(folder, target(addresses), "--steps", "6", "--duration", "20s", *options)
    whole(name, done, report, run_folder, 2)
    if not report:
        return None, []
    taken = [trace["steps"] for trace in json.loads(run("analyze", "--json", str(run_folder / "traces")).stdout)["traces"]]
    check(f"{name}: exactly", [one["count"] for one in taken] == [6, 6], taken)
    check(f"{name}: those of ranks", sorted(r["steps"] for r in ranks(report))
          == sorted(one["count"] - one["by_phase"]["empty"] for one in taken), (ranks(report), taken))
    return report, taken


def requests(folder):
    """They are counted in the window: warm-up and baseline have theirs."""
    with simulation(folder, "--count", "2", "--router", "vllm", daemon=True) as addresses:
        done, report, run_folder = record(folder, target(addresses), "--requests", "24", "--concurrency", "4", "--duration", "40s")
        whole("requests", done, report, run_folder, 2)
        if report:
            window = report["profiled"]
            check("requests: by HTTP, which can count", report["via"] == "http", report["via"])
            ended = window["requests_done"] + window["requests_failed"]
            # One that ends as the window begins may count on either side of it.
            check("requests: in the window", 23 <= ended <= 32, window)
            check("requests: the window ends", window["duration_ns"] < 20e9, window)
            check("requests: before it too", report["baseline"]["requests_done"] > 0, report["baseline"])
        done, report, run_folder = record(folder, target(addresses), "--requests", "100000")
        whole("too many requests", done, report, run_folder, 2)
        check("too many requests: said", re.search(r"\d+ of 100000 requests ended in the window", done.stderr), done.stderr)
        refused, _, _ = record(folder, target(addresses), "--requests", "5", "--via", "daemon")
        check("requests by the daemon", refused.returncode == 2 and "by time alone" in refused.stderr, refused.stderr)
        refused, _, _ = record(folder, target(addresses), "--requests", "5", "--steps", "5")
        check("requests and steps", refused.returncode == 2 and "give one" in refused.stderr, refused.stderr)
        refused, _, _ = record(folder, target(addresses), "--requests", "5", "--no-load")
        check("requests of others", refused.returncode == 2 and "--no-load" in refused.stderr, refused.stderr)


def data_parallel(folder):
    with simulation(folder, "--dp", "2") as addresses:
        done, report, run_folder = record(folder, target(addresses))
        whole("vllm dp2", done, report, run_folder, 2)


def low_rate(folder):
    """Where no request was in flight nobody is to blame: against the trace and requests.jsonl. Then somebody else sends some."""
    slow = ["--warm-up", "0s", "--baseline", "0s", "--duration", "3s", "--prompt-tokens", "64", "--output-tokens", "16",
            "--rate", "4"]
    with simulation(folder, "--model-size", "small", "--speed", "1") as addresses:
        done, report, run_folder = record(folder, target(addresses), quick=slow)
        whole("low rate", done, report, run_folder, 1)
        if report:
            for path in (run_folder, run_folder / "traces", *run_folder.glob("traces/w0/*.json*")):
                trace = json.loads(run("analyze", "--json", str(path)).stdout)["traces"][0]
                idle, causes = trace["idle"], {c["id"]: c["ns"] for c in trace["idle"]["causes"]}
                check("low rate: known", idle.get("requests") == "known", idle.get("requests"))
                check("low rate: whole", idle["busy_ns"] + sum(causes.values()) == idle["window_ns"], idle)
                expected = idle_without_a_request(trace, run_folder)
                check("low rate: no request", causes.get("no-request") == expected and expected > idle["window_ns"] / 4,
                      (causes, expected))
            check("low rate: said", "no request was in flight" in " ".join(done.stdout.split()), done.stdout)
        with processes.running([scenario.TACHO, "load", *target(addresses), "--duration", "8s", "--concurrency", "1", "--think",
                                "200ms"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL):
            done, report, run_folder = record(folder, target(addresses), quick=slow)
        if report:
            idle = json.loads(run("analyze", "--json", str(run_folder)).stdout)["traces"][0]["idle"]
            check("low rate: others", idle.get("requests") == "others" and all(c["id"] != "no-request" for c in idle["causes"]),
                  idle)


def one_at_a_time(folder):
    """One request at a time to two engines: one of them always has none, and nobody knows which. So it is with two requests to the two
    engines behind one URL. To one engine it is known."""
    alone = ["--warm-up", "0s", "--baseline", "0s", "--duration", "2s", "--prompt-tokens", "64", "--output-tokens", "32", "-c", "1"]
    cases = [("a router", ["--count", "2", "--router", "vllm"], "shared", lambda urls: record(f"{folder}/a router", urls, "--through-router", quick=alone)),
             ("ranks", ["--dp", "2"], "shared", lambda urls: record(f"{folder}/ranks", urls, quick=alone[:-1] + ["2"])),
             ("a load", ["--count", "2", "--router", "vllm"], "shared", lambda urls: run(
                 "load", *urls, "--requests", "12", "--concurrency", "1", "--input-len", "64", "--output-len", "32", "--profile", "--out",
                 f"{folder}/a load/runs", "--no-progress")),
             ("one engine", ["--router", "vllm"], "known", lambda urls: record(f"{folder}/one engine", urls, "--through-router", quick=alone))]
    for name, options, requests, act in cases:
        with simulation(f"{folder}/{name}", *options) as addresses:
            done = act(target(addresses))
            done = done[0] if isinstance(done, tuple) else done
        check(f"{name}: status", done.returncode == 0, (done.returncode, done.stdout, done.stderr))
        if requests == "shared":
            check(f"{name}: nothing is said of one engine", "requests were in flight" not in " ".join(done.stdout.split()), done.stdout)
        again = run("analyze", "--json", *map(str, pathlib.Path(folder, name, "runs").glob("*")))
        for trace in json.loads(again.stdout)["traces"]:
            check(f"{name}: requests", trace["idle"].get("requests") == requests, trace["idle"])
            if requests == "shared":
                check(f"{name}: idle between steps", any(c["id"] == "between-steps" for c in trace["idle"]["causes"]), trace["idle"])


def nanoseconds(text):
    return int(decimal.Decimal(text) * 1000)


def idle_without_a_request(trace, run_folder):
    """Of one GPU: the idle time outside of all requests, each a millisecond longer at both ends."""
    events = json.loads(pathlib.Path(trace["path"]).read_text(), parse_float=str, parse_int=str)["traceEvents"]
    covered = [(nanoseconds(e["ts"]), nanoseconds(e["ts"]) + nanoseconds(e["dur"])) for e in events
               if e.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset") and e["ph"] == "X"]
    begin, end = min(a for a, _ in covered), max(b for _, b in covered)
    for line in (run_folder / "requests.jsonl").read_text().splitlines():
        request = json.loads(line)
        longer = 1_000_000 if request["status"] == "done" else 1_001_000_000
        covered.append((request["sent_unix_ns"] - trace["base_time_ns"] - 1_000_000,
                        request["ended_unix_ns"] - trace["base_time_ns"] + longer))
    idle = 0
    for a, b in sorted(covered):
        idle += max(0, min(a, end) - begin)
        begin = max(begin, min(b, end))
    return idle


def generations(folder):
    for version in ("0.10", "0.13"):
        with simulation(f"{folder}/{version}", "--engine-version", version) as addresses:
            done, report, run_folder = record(f"{folder}/{version}", target(addresses), "--trace-dir",
                                              f"{folder}/{version}/engine")
            name = f"vllm {version}"
            check(f"{name}: status", done.returncode == 0, done.stdout + done.stderr)
            # 0.10 names no steps in its traces: they prove the rank by their events.
            check(f"{name}: proven", report is not None and all(r["proven"] and ("steps" in r) == (version != "0.10")
                                                                for r in ranks(report)), f"{done.stderr}\n{report}")


def sglang(folder):
    with simulation(folder, "--engine", "sglang", "--count", "2", "--router", "sglang") as addresses:
        done, report, run_folder = record(folder, target(addresses))
        whole("sglang x2", done, report, run_folder, 2)
        done, report, run_folder = record(folder, target(addresses), "--steps", "5", "--duration", "20s")
        whole("sglang steps", done, report, run_folder, 2)
        if report:
            check("sglang steps: exactly", all(r["steps"] == 5 for r in ranks(report)), ranks(report))


def by_stage(folder):
    with simulation(folder, "--engine", "sglang") as addresses:
        done, report, run_folder = record(folder, target(addresses), "--by-stage", "--steps", "4", "--duration", "20s")
        check("by stage: both", done.returncode == 0 and report and [len(r["files"]) for r in ranks(report)] == [2],
              f"{done.returncode} {done.stderr} {report and ranks(report)}")


def bad_targets(folder):
    """A dead one among others, one that never answers, and paths that are not there."""
    dead = "http://127.0.0.1:1"
    with simulation(folder) as addresses:
        url = target(addresses)[0]
        done, report, run_folder = record(folder, [url, dead], "--keep-going")
        check("dead among others: kept going", report is not None and
              [r["proven"] for w in report["workers"] if w["url"] == url for r in w["ranks"]] == [True], done.stderr)
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


def meet(folder, fault, status, cause, *options, engines=(), sessions=1):
    """Records two servers, of which the second has the fault: how the last of so many sessions ends, what the screen says
    of the cause (a pattern; None: nothing is missing), what run.json holds. Gives run.json, or None."""
    base = f"{folder}/{re.sub('[^a-z0-9]', '-', fault)}"
    with simulation(base, "--count", "2", "--tp", "2", "--router", "vllm", "--fault", fault, *engines) as addresses:
        begin = time.monotonic()
        for _ in range(sessions):
            # What ends well needs as long as the machine takes.
            patience = ["--timeout", "15s"] if status else []
            done, report, _ = record(base, target(addresses), *patience, *options, timeout=170)
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
            check(f"{fault}: the other server's are proven", all(p for url, p in proven.items() if url != faulty), proven)
            if status == 0:
                check(f"{fault}: nothing is missing", all(proven.values()) and not report["missing"], report["missing"])
        else:
            check(f"{fault}: no run.json", status == 2, done.stderr)
        shutil.rmtree(base, ignore_errors=True)
        return report


def faults(folder):
    """Of the profiler: each must end, say what is missing and why, and leave a run folder that says so."""
    meet(folder, "error-500-start@1", 4, "did not start, in the trial before the window: .*out of memory", "--keep-going")
    # Already the stop before its start hangs; without --keep-going nobody is started then.
    meet(folder, "hang-stop@1", 4, "did not answer the stop before its start: no answer within 15 s", "--keep-going")
    meet(folder, "lose-rank@1:0", 4, "w1 .*: no file of this rank")
    meet(folder, "truncate@1", 4, "w1 .*: .*truncated-json")
    meet(folder, "die-in-flush@1", 4, "(died|cancelled)", "--keep-going")
    meet(folder, "disk-full@1", 4, "full disk is the usual cause .*truncated-json")
    meet(folder, "slow-flush@1:3s", 0, None)
    meet(folder, "not-found@1", 2, "--profiler-config")


def faults_beside(folder):
    """Of the start, of the server, of its clock and of its answers."""
    meet(folder, "slow-start@1:2s", 0, None)
    # A number that one process alone gave would be none.
    report = meet(folder, "hang-start@1", 4, "did not start, in the trial before the window: no answer within 15 s: it hangs", "--keep-going")
    check("hang-start: no spread of one start", report and "start_spread_ns" not in report, report)
    meet(folder, "error-500-stop@1", 4, "refused to stop: HTTP 500")
    meet(folder, "silent-second-session@1", 4, "records one session only", sessions=2)
    # It dies in the window: the load begins just before the start, with some twenty steps a second.
    report = meet(folder, "die-in-load@1:60", 4, "HTTP 500|died|connection", "--warm-up", "0ms", "--baseline", "0ms",
                  "--duration", "6s", engines=("--speed", "0.2"))
    check("die-in-load: it alone is missing", report and any(w["url"] in " ".join(report["missing"]) and not r["proven"]
          for w in report["workers"] for r in w["ranks"]), report and report["missing"])
    meet(folder, "clock-skew@1:3ms", 0, None)
    meet(folder, "clock-drift@1:50", 0, None)
    meet(folder, "error-in-stream@1:10", 0, r"\d+ of \d+ requests failed: error inside the answer")
    meet(folder, "unhealthy@1", 0, None)  # /health is never asked: on SGLang it is a forward


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
            check("killed: a flush begins", wait_for(lambda: list(out.rglob("kineto_*.json.tmp")), pause=0.02))
            os.kill(addresses["workers"][0]["pid"], signal.SIGKILL)  # its ranks end with it
            _, errors = process.communicate(timeout=processes.PATIENCE_S)
        check("killed: status", process.returncode == 4, f"{process.returncode} {errors}")
        report = json.loads(next(out.rglob("run.json")).read_text())
        proven = {w["url"] for w in report["workers"] for r in w["ranks"] if r["proven"]}
        check("killed: the other server's are proven", proven == {addresses["workers"][1]["url"]}, report)
        check("killed: says so", any("died" in m for m in report["missing"]), report["missing"])
        check("killed: nothing half written", not list(out.rglob("*.tmp")) and not list(out.rglob("*.partial")))


def by_daemon_refused(folder):
    """Somebody else is the daemon."""
    with simulation(folder, daemon=True) as addresses, socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as taken:
        taken.bind(f"{folder}/dynolog")
        done, report, run_folder = record(folder, target(addresses))
        check("socket taken: status", done.returncode in (4, 6), f"{done.returncode} {done.stderr}")
        check("socket taken: said", "is taken" in done.stdout, done.stdout)


SCENARIOS = [two_behind_a_router, steps, requests, low_rate, one_at_a_time, data_parallel, generations, sglang, by_stage, bad_targets, refusals,
             faults, faults_beside, interrupt, two_at_once, started_twice, started_on_two, by_daemon, by_daemon_faults, by_daemon_refused]

if __name__ == "__main__":
    scenario.main(SCENARIOS, __doc__)
