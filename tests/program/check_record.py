#!/usr/bin/env python3
"""`tacho record` and `tacho engine` against simulated deployments, from end to end: what is found, started, proven,
collected and said, and what happens with every fault that the simulator knows.

usage: check_record.py TACHO [--only NAME]
"""
import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

TACHO = None
passed = failed = 0
# Short windows: the machine that runs the tests may have two cores.
QUICK = ["--warm-up", "500ms", "--baseline", "1s", "--duration", "2s", "--prompt-tokens", "64", "--output-tokens", "32"]


def check(what, ok, detail=""):
    global passed, failed
    if ok:
        passed += 1
    else:
        failed += 1
        print(f"FAILED {what}: {detail}", flush=True)


@contextlib.contextmanager
def simulation(folder, *options, daemon=False):
    """Runs `tacho simulate`; gives its addresses as it prints them with --json. vLLM in its developer mode, as RL stacks
    start it: it tells where it writes. With `daemon`: a process for each rank, which asks Kineto's daemon in FOLDER."""
    if "sglang" not in options and "--profiler-config" not in options and "--engine-version" not in options:
        options = ("--dev-mode", *options)
    if "--model-size" not in options:
        options = ("--model-size", "8b", *options)  # fewer steps, smaller traces
    os.makedirs(folder, exist_ok=True)
    environment = {**os.environ, "KINETO_USE_DAEMON": "1", "KINETO_IPC_SOCKET_DIR": str(folder)} if daemon else None
    process = subprocess.Popen([TACHO, "simulate", "--json", "--trace-dir", f"{folder}/engine", *options], env=environment,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True)
    try:
        line = process.stdout.readline()
        if not line:
            raise RuntimeError("tacho simulate: " + process.stderr.read())
        yield json.loads(line)
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def target(addresses):
    router = addresses.get("router")
    if router:
        return [router["url"] if isinstance(router, dict) else router]
    return [w["url"] if isinstance(w, dict) else w for w in addresses["workers"]]


def run(*arguments, timeout=180):
    return subprocess.run([TACHO, *arguments], capture_output=True, text=True, timeout=timeout)


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
    check(f"{name}: says where", "folder" in done.stdout and "proven" in done.stdout, done.stdout)


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


def steps(folder):
    with simulation(folder, "--count", "2", "--router", "vllm") as addresses:
        done, report, run_folder = record(folder, target(addresses), "--steps", "6", "--duration", "20s")
        whole("vllm steps", done, report, run_folder, 2)
        if report:
            check("vllm steps: exactly", all(r["steps"] == 6 for r in ranks(report)), ranks(report))


def data_parallel(folder):
    with simulation(folder, "--dp", "2") as addresses:
        done, report, run_folder = record(folder, target(addresses))
        whole("vllm dp2", done, report, run_folder, 2)


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
    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        for command in (["engine", "status"], ["record", "--out", f"{folder}/runs"]):
            begin = time.monotonic()
            done = run(command[0], *command[1:], url, "--timeout", "2s")
            check(f"silent, {command[0]}", done.returncode == 6 and time.monotonic() - begin < 8,
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


def faults(folder):
    """Each must end, say what is missing, and leave a run folder that says so."""
    kinds = {
        "error-500-start@1": (4, 6), "hang-stop@1": (4,), "lose-rank@1:0": (4,), "truncate@1": (4,),
        "die-in-flush@1": (4,), "disk-full@1": (4,), "slow-flush@1:3s": (0,), "clock-skew@1:3ms": (0,),
        "not-found@1": (2,),
    }
    for fault, expected in kinds.items():
        base = f"{folder}/{re.sub('[^a-z0-9]', '-', fault)}"
        with simulation(base, "--count", "2", "--tp", "2", "--router", "vllm", "--fault", fault) as addresses:
            begin = time.monotonic()
            # What ends well needs as long as the machine takes.
            patience = ["--timeout", "15s"] if 0 not in expected else []
            done, report, run_folder = record(base, target(addresses), *patience, timeout=170)
            took = time.monotonic() - begin
            check(f"{fault}: status", done.returncode in expected, f"{done.returncode}, {took:.0f} s\n{done.stderr}")
            if 4 in expected and report is not None:
                check(f"{fault}: says so", not report["complete"] and (report["missing"] or report["troubles"]), report)
                check(f"{fault}: run.json holds the status", report["exit_status"] == done.returncode)


def interrupt(folder):
    with simulation(folder, "--count", "2", "--router", "vllm") as addresses:
        out = pathlib.Path(folder) / "runs"
        process = subprocess.Popen([TACHO, "record", *target(addresses), "--out", str(out), "--warm-up", "500ms", "--baseline",
                                    "1s", "--duration", "60s"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        time.sleep(6)
        process.send_signal(signal.SIGINT)
        out_text, err_text = process.communicate(timeout=60)
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
        first = subprocess.Popen([TACHO, "record", *target(addresses), "--out", out, *QUICK, "--duration", "6s"],
                                 stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        time.sleep(3)
        second, _, _ = record(folder, target(addresses))
        check("two at once: refused", second.returncode == 6 and "is being profiled by" in second.stderr, second.stderr)
        first.communicate(timeout=60)
        check("two at once: the first is whole", first.returncode == 0, first.returncode)


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
        check("mute rank: named", any("rank 1" in m and "never asked" in m for m in report["missing"]), report["missing"])
    with simulation(f"{folder}/t", *options, "--fault", "truncate@0", daemon=True) as addresses:
        done, report, run_folder = record(f"{folder}/t", target(addresses))
        check("truncated: status", done.returncode == 4, done.stderr)
        proven = [r["proven"] for r in ranks(report)]
        check("truncated: the other server's are whole", sorted(proven) == [False, False, True, True], proven)
    with simulation(f"{folder}/k", *options, daemon=True) as addresses:
        out = pathlib.Path(folder) / "k/runs"
        process = subprocess.Popen([TACHO, "record", *target(addresses), "--out", str(out), *QUICK], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True)
        until = time.monotonic() + 60
        while not list(out.rglob("kineto_*.json.tmp")) and time.monotonic() < until:
            time.sleep(0.02)
        os.kill(addresses["workers"][0]["pid"], signal.SIGKILL)  # its ranks end with it
        _, errors = process.communicate(timeout=120)
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


SCENARIOS = [two_behind_a_router, steps, data_parallel, generations, sglang, by_stage, bad_targets, refusals, faults, interrupt, two_at_once, by_daemon,
             by_daemon_faults, by_daemon_refused]


def main():
    global TACHO
    TACHO = str(pathlib.Path(sys.argv[1]).resolve())
    only = sys.argv[3] if len(sys.argv) > 3 else None
    os.environ.pop("TACHO_API_KEY", None)
    for scenario in SCENARIOS:
        if only and scenario.__name__ != only:
            continue
        folder = tempfile.mkdtemp(prefix=f"tacho-{scenario.__name__}-")
        begin = time.monotonic()
        try:
            scenario(folder)
        except (subprocess.TimeoutExpired, RuntimeError, KeyError, ValueError) as problem:
            check(scenario.__name__, False, repr(problem)[:2000])
        shutil.rmtree(folder, ignore_errors=True)
        print(f"{scenario.__name__}: {time.monotonic() - begin:.1f} s", flush=True)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
