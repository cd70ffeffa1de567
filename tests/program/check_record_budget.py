#!/usr/bin/env python3
"""The cost of a recording: the budget that bounds it by default, the forecast before the start and the result, slow starts,
flushes that take longer than was said, engines that end their sessions by bounds of their own.

usage: check_record_budget.py TACHO [--only NAME]
"""
import json
import os
import pathlib
import re
import subprocess
import time

import scenario
from recordings import NOTHING_ASKED, Recording, finds, ranks, record, state_file
from scenario import check, simulation, target

SPOKEN = re.compile(r"forecast +about ([\d.]+) (MB|GB) and ([\d.]+) s of flush a rank for ([\d.]+) s; bounded to (\d+) steps: "
                    r"([\d.]+) (MB|GB) and ([\d.]+) s of flush")


def near(name, forecast, recorded, key, slack=0):
    said, came = forecast[key], recorded[key]
    check(f"{name}: {key} within a factor of two of what was said", said / 2 - slack <= came <= 2 * said + slack, (said, came))


def bounded(name, done, report, flush=True):
    """The recording was planned by the budget, ended by its steps, and came to what was said: with `flush` of an engine whose flush takes
    100 ms a step, so that what a busy machine adds to the trial is little of the forecast."""
    check(f"{name}: status", done.returncode == 0 and report and report["complete"], (done.returncode, done.stdout, done.stderr))
    if not report:
        return
    window = report["window"]
    check(f"{name}: by the budget", window["by_budget"] and not window["over_budget"], window)
    for worker in report["workers"]:
        bodies = json.loads(worker["start"]["body"])
        check(f"{name}: the engine counts", bodies.get("max_iterations", bodies.get("num_steps")) == window["steps"], bodies)
        check(f"{name}: no more steps than that", 0 < worker["recorded"]["steps"] <= window["steps"], (worker["recorded"], window))
        check(f"{name}: within the budget", worker["forecast"]["bytes"] <= window["budget_bytes"] and
              worker["forecast"]["flush_ns"] <= 1.01 * window["budget_flush_ns"], worker["forecast"])
        near(name, worker["forecast"], worker["recorded"], "bytes")
        said, came = worker["forecast"]["flush_ns"], worker["recorded"]["flush_ns"]
        # A busy machine adds to a flush, and takes nothing from it.
        check(f"{name}: flush no longer than twice what was said", came <= 2 * said + 1.5e9, (said, came))
        if flush:
            check(f"{name}: flush no shorter than half of what was said", said / 2 <= came, (said, came))
            check(f"{name}: a flush of 100 ms a step", came > 0.1e9 * worker["recorded"]["steps"] > 0.5e9, worker["recorded"])


def table_of_a_cpu(folder):
    """It is made although the engine was started without it."""
    config = json.dumps({"profiler": "torch", "torch_profiler_dir": f"{folder}/engine", "torch_profiler_dump_cuda_time_total": False,
                         "torch_profiler_with_stack": False, "ignore_frontend": True})
    with simulation(folder, "--dev-mode", "--profiler-config", config, "--fault", "slow-table:100ms") as addresses:
        done, report, _ = record(folder, target(addresses), quick=NOTHING_ASKED)
        check("a CPU's table: status", done.returncode == 0, done.stderr)
        found = [one["remedy"] for one in (report or {}).get("findings", []) if one["id"] == "table-of-averages"]
        check("a CPU's table: no remedy that was followed already", found == ["nothing to do: vLLM on a CPU always makes one"], (found, done.stderr))


def by_default(folder):
    """A vLLM that makes its table as on a CPU: ten seconds would cost half a minute of flush."""
    with simulation(folder, "--count", "2", "--router", "vllm", "--fault", "slow-table:100ms") as addresses:
        done, report, run_folder = record(folder, target(addresses), quick=NOTHING_ASKED)
        bounded("default", done, report)
        spoken = SPOKEN.search(done.stderr)
        check("default: said before the start", spoken and done.stderr.index("forecast") < done.stderr.index("  start "), done.stderr)
        check("default: says that the table is dear", "its table of averages (profiler_out) takes" in done.stderr, done.stderr)
        check("default: says the disk", re.search(r"MB of disk for 2 ranks", done.stderr), done.stderr)
        if not report:
            return
        finds("default", report, "table-of-averages")
        check("default: the trial is nobody's trace", not list(run_folder.rglob("*trial*")) and
              not list(pathlib.Path(folder, "engine").rglob("*trial*")), list(pathlib.Path(folder).rglob("*trial*")))
        # Known by now, and started before: no further trial.
        done, again, _ = record(folder, target(addresses), quick=NOTHING_ASKED)
        bounded("figures kept", done, again)
        check("figures kept: no trial", "  trial " not in done.stderr, done.stderr)
        done, small, _ = record(folder, target(addresses), "--budget-flush", "2s", quick=NOTHING_ASKED)
        bounded("small budget", done, small)
        check("small budget: fewer steps", small["window"]["steps"] < again["window"]["steps"] / 2, small["window"])
        done, asked, _ = record(folder, target(addresses), "--duration", "2s", "--budget-flush", "1s", quick=NOTHING_ASKED)
        check("asked: as it is", done.returncode == 0 and not asked["window"]["by_budget"] and "steps" not in asked["window"] and
              asked["profiled"]["duration_ns"] >= 2e9, (done.stderr, asked["window"]))
        check("asked: said to be over", "as asked for: over the budget of 100 MB and 1.0 s (--budget-bytes, --budget-flush)"
              in done.stderr and asked["window"]["over_budget"], done.stderr)


def fixed_flush(folder):
    """A flush that takes its time whatever it holds is not laid to the steps; and other engines of the kind are tried anew."""
    with simulation(folder, "--count", "2", "--router", "vllm", "--fault", "slow-flush@1:6s") as addresses:
        for name, words in (("tried", "  trial "), ("known", "; by the recording of ")):
            done, report, _ = record(f"{folder}/{name}", target(addresses), quick=NOTHING_ASKED)
            check(f"fixed flush, {name}: whole", done.returncode == 0 and report["complete"], (done.stdout, done.stderr))
            check(f"fixed flush, {name}: how it is known", words in done.stderr, done.stderr)
            check(f"fixed flush, {name}: said", re.search(r"a flush takes [67]\.\d s however few steps it holds: over the budget of 5\.0 s "
                                                          r"\(--budget-flush\); recorded: \d+ steps", done.stderr), done.stderr)
            check(f"fixed flush, {name}: not four steps", report["window"]["steps"] > 30 and report["window"]["over_budget"],
                  report["window"])
            slow = max((w["recorded"] for w in report["workers"]), key=lambda recorded: recorded["flush_ns"])
            near(f"fixed flush, {name}", report["workers"][0]["forecast"], slow, "flush_ns", slack=1.5e9)
    with simulation(f"{folder}/healthy", "--count", "2", "--router", "vllm") as addresses:
        done, _, _ = record(f"{folder}/healthy", target(addresses), quick=NOTHING_ASKED)
        check("fixed flush: of other engines", done.returncode == 0 and "  trial " in done.stderr and
              "whatever is recorded" not in done.stderr, done.stderr)


def of_sglang(folder):
    with simulation(folder, "--engine", "sglang", "--count", "2", "--router", "sglang") as addresses:
        done, report, run_folder = record(folder, target(addresses), "--budget-bytes", "2MB", quick=NOTHING_ASKED)
        bounded("sglang", done, report, flush=False)
        check("sglang: no trial is left", run_folder and not list(run_folder.rglob("*trial*")), run_folder)


def of_old_engines(folder):
    """They count no steps: time bounds them."""
    with simulation(folder, "--engine-version", "0.13", "--tp", "2") as addresses:
        done, report, _ = record(folder, target(addresses), "--trace-dir", f"{folder}/engine", "--budget-bytes", "20MB",
                                 quick=NOTHING_ASKED)
        check("old: status", done.returncode == 0 and report["complete"], (done.returncode, done.stdout, done.stderr))
        check("old: by time", "steps" not in report["window"] and report["window"]["most_ns"] < 5e9 and
              re.search(r"bounded to [\d.]+ s: ", done.stderr), (report["window"], done.stderr))
        worker = report["workers"][0]
        near("old", worker["forecast"], worker["recorded"], "bytes", slack=5e6)
        left = [f for f in pathlib.Path(folder, "engine").rglob("*.json*") if f.is_file()]
        # Their owner is unknown, so they are named and stay.
        trial = [f for f in left if any(str(f) in remark for remark in report["remarks"])]
        check("old: the trial's files are named", "  trial " in done.stderr and trial and len(left) == len(trial) + 2,
              (done.stderr, left, report["remarks"]))


def of_old_engines_beside_a_slow_start(folder):
    """An engine that counts no steps does not record while another one starts."""
    with simulation(folder, "--engine-version", "0.13", "--count", "2", "--router", "vllm", "--fault", "slow-start@1:4s") as addresses:
        done, report, _ = record(folder, target(addresses), "--trace-dir", f"{folder}/engine", "--budget-bytes", "20MB",
                                 quick=NOTHING_ASKED)
        check("old, slow start: bounded", report and all(
            w["recorded"]["bytes"] < 60e6 for w in report["workers"] if "recorded" in w), (done.stderr, report))
        files = list(pathlib.Path(folder, "engine").rglob("*.json"))
        check("old, slow start: none is large", files and max(f.stat().st_size for f in files) < 60e6, files)
        # Without a trial, by kept figures: the late start is unknown.
        done, report, _ = record(f"{folder}/again", target(addresses), "--trace-dir", f"{folder}/engine", "--budget-bytes", "20MB",
                                 quick=NOTHING_ASKED)
        took = [rank.get("steps", 0) for rank in ranks(report)]
        check("old, slow start again: the late one has its window too", len(took) == 2 and min(took) * 5 > max(took) and max(took) > 10,
              (done.stderr, took))
        check("old, slow start again: said", any("before the last profiler ran" in r for r in report["remarks"] + report["missing"]),
              (report["remarks"], report["missing"]))


def slow_start(folder):
    """The second profiler takes seconds to start, and the first one's steps would be over before: it is started when the slow one
    runs."""
    with simulation(folder, "--count", "2", "--router", "vllm", "--fault", "slow-start@1:3s") as addresses:
        done, report, run_folder = record(folder, target(addresses), "--budget-bytes", "40MB", quick=NOTHING_ASKED)
        bounded("slow start", done, report, flush=False)
        check("slow start: one time", not report["remarks"] or not any("before the last profiler" in r for r in report["remarks"]),
              report["remarks"])
        # Sent at once, as for unknown engines.
        done, report, _ = record(folder, target(addresses), "--steps", "6", "--duration", "20s", quick=NOTHING_ASKED)
        said = [m for m in report["missing"] if "before the last profiler ran" in m and "share no time" in m]
        check("slow start, few steps: said", done.returncode == 4 and len(said) == 1 and not report["complete"], (report["missing"], done.stdout[-900:]))


def killed(folder):
    """tacho is killed, so the engine ends its session by itself."""
    with simulation(folder) as addresses:
        done, _, _ = record(folder, target(addresses), "--budget-bytes", "20MB", quick=NOTHING_ASKED)
        check("killed: the first one", done.returncode == 0, done.stderr)
        run = Recording(f"{folder}/k", target(addresses), *NOTHING_ASKED, "--budget-bytes", "20MB")
        run.until(" start ")
        run.process.kill()
        run.end()
        url = addresses["workers"][0]["url"]
        for _ in range(3):  # others' requests
            subprocess.run([scenario.TACHO, "load", url, "--requests", "16", "--input-len", "64", "--output-len", "64", "--no-progress"],
                           capture_output=True, timeout=60)
        files = list(pathlib.Path(folder, "engine").rglob("*.pt.trace.json"))
        check("killed: the engine wrote by itself", len(files) == 2 and max(f.stat().st_size for f in files) < 40e6, files)


def died_under_others(folder):
    """The user sends the load, and every engine dies: tacho does not wait for the end of the window."""
    with simulation(folder, "--fault", "die-in-load:150") as addresses:
        url = addresses["workers"][0]["url"]
        run = Recording(folder, [url], "--no-load", "--duration", "90s", "--timeout", "10s")
        run.until(" start ")
        began = time.monotonic()
        subprocess.run([scenario.TACHO, "load", url, "--requests", "400", "--input-len", "64", "--output-len", "64", "--no-progress"],
                       capture_output=True, timeout=60)
        status, _, errors, _ = run.end()
        check("died under others: ends", status == 4 and time.monotonic() - began < 60, (status, time.monotonic() - began, errors))


def own_bound(folder):
    """The engine's configuration ends each session after five steps: tacho says so before the start, and first on the screen."""
    config = json.dumps({"profiler": "torch", "torch_profiler_dir": f"{folder}/engine", "torch_profiler_with_stack": False,
                         "max_iterations": 5, "torch_profiler_use_gzip": False, "ignore_frontend": True})
    with simulation(folder, "--dev-mode", "--profiler-config", config) as addresses:
        done, report, _ = record(folder, target(addresses), "--duration", "3s", quick=NOTHING_ASKED)
        warned = "its own configuration ends each session after 5 steps (max_iterations)"
        check("own bound: before the start", warned in done.stderr and done.stderr.index(warned) < done.stderr.index("  start "), done.stderr)
        finds("own bound", report, "own-bound", "ended-by-own-bound")
        check("own bound: the cost is of the time until then", 0 < report["profiled"]["duration_ns"] < 1e9, report.get("profiled"))
        first = " ".join(done.stdout.split("VERDICT")[0].split())
        check("own bound: on the first lines", re.search(r"window .* it holds \d+ ms of the window's [34]\.\d s: the engine's own bound of "
                                                         r"5 steps \(max_iterations\) ended its session", first), first)
        done, report, _ = record(folder, target(addresses), "--steps", "9", "--duration", "20s", quick=NOTHING_ASKED)
        # vLLM counts the empty step that it takes where all users wait; a rank's steps leave it out.
        check("own bound: --steps has its own", warned not in done.stderr and all(5 < r["steps"] <= 9 for r in ranks(report)),
              (done.stderr, ranks(report)))


def without_work(folder):
    """No request at all: neither CUPTI nor a folder is to blame."""
    for engine in ("vllm", "sglang"):
        for options in ([], ["--steps", "3"]):
            base = f"{folder}/{engine}{len(options)}"
            with simulation(base, "--engine", engine) as addresses:
                done, report, _ = record(base, target(addresses), "--no-load", "--duration", "1500ms", *options, quick=[])
                name = f"{engine} {' '.join(options)} without a request"
                said = " ".join(report["missing"]) if report else done.stderr
                check(f"{name}: status", done.returncode == 4, (done.returncode, done.stderr))
                check(f"{name}: the cause", "no request reached" in said and "CUPTI" not in said and "elsewhere" not in said, said)


def ten_in_a_row(folder):
    """Nothing is left of them but their traces: no process, no lock, no mark, no file of a trial."""
    with simulation(folder, "--count", "2", "--router", "vllm", "--fault", "slow-table:5ms") as addresses:
        for i in range(10):
            state_file().unlink(missing_ok=True)  # each recording has its own trial
            done, report, run_folder = record(folder, target(addresses), "--budget-bytes", "2MB", "--warm-up", "200ms", "--baseline",
                                              "300ms", quick=NOTHING_ASKED)
            bounded(f"{i + 1} of ten", done, report, flush=False)
        engine = [p.name for p in pathlib.Path(folder, "engine").rglob("*") if p.is_file()]
        check("ten: the engines' folders", len(engine) == 40 and not any("trial" in name for name in engine), sorted(engine))
        marks = list(pathlib.Path(os.environ["XDG_RUNTIME_DIR"]).rglob("*.session"))
        check("ten: no mark", not marks, marks)
        locks = list(pathlib.Path(os.environ["XDG_RUNTIME_DIR"], "tacho").glob("*.lock"))
        check("ten: no lock", not locks, locks)
        kept = [p.name for p in state_file().parent.iterdir()]
        check("ten: one small file of figures", kept == ["profiles.json"] and state_file().stat().st_size < 20_000, kept)


scenario.main([by_default, table_of_a_cpu, fixed_flush, of_sglang, of_old_engines, of_old_engines_beside_a_slow_start, slow_start, killed, died_under_others,
               own_bound, without_work, ten_in_a_row], __doc__)
