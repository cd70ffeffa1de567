#!/usr/bin/env python3
"""Engines that take longer than was said: what is said of them, what is shown meanwhile, and that Ctrl-C is heard.

usage: check_record_late.py TACHO [--only NAME]
"""
import json
import os
import pathlib
import re

import processes
import scenario
from recordings import NOTHING_ASKED, Recording, finds, ranks, record, state_file
from scenario import check, simulation, target, wait_for


def forged(seconds):
    """Kept figures of earlier recordings with another flush time: an engine that was idle then and is busy now."""
    kept = json.loads(state_file().read_text())
    for kind in kept["kinds"]:
        kind["figures"]["flush_ns"] = seconds * 1e9
    state_file().write_text(json.dumps(kept))


def flush(folder):
    """A flush of far more than was said: told with what the engine does, then with what can be done; and those that are done are
    proven and shown meanwhile."""
    with simulation(folder, "--count", "2", "--router", "vllm", "--fault", "slow-flush@1:14s") as addresses:
        late = addresses["workers"][1]["url"]
        done, _, _ = record(folder, target(addresses), "--steps", "4", quick=NOTHING_ASKED)
        check("late: the first one is whole", done.returncode == 0, (done.stdout, done.stderr))
        for name in ("waited for", "left"):
            forged(0.1)
            base = f"{folder}/{name}"
            run = Recording(base, target(addresses), *NOTHING_ASKED, "--budget-bytes", "4MB")
            run.until("Ctrl-C goes on without it")
            partly = wait_for(run.report, 8)
            check(f"{name}: what is done is proven meanwhile", partly and not partly["complete"] and
                  {w["url"]: [r["proven"] for r in w["ranks"]] for w in partly["workers"]}[late] == [False] and
                  sum(r["proven"] for r in ranks(partly)) == 1 and "still under way" in partly["missing"][0], partly)
            if name == "left":
                run.interrupt()
            status, out, errors, took = run.end()
            report = run.report()
            told = re.search(rf"{late}: its flush has taken [\d.]+ s where 0\.\d s were expected: writes its JSON \([\d.]+ MB\)", errors)
            check(f"{name}: told with what it does", told, errors)
            check(f"{name}: shown while the other writes", out.count("ranks proven") == 2 and "1 of 2 ranks proven" in out, out)
            check(f"{name}: the tables once", out.count("WHERE DEVICE TIME GOES") == 1 and out.count(" workers  w0 ") == 1, out)
            again = out[out.index("1 of 2 ranks proven"):]
            check(f"{name}: then what changed", " RANKS " in again and len(again.splitlines()) < 40, again)
            if name == "waited for":
                check("waited for: whole", status == 0 and report["complete"] and "2 of 2 ranks proven" in out, (status, out))
            else:
                check("left: at once", status == 130 and took < 6, (status, took, errors))
                check("left: what becomes of it", any("was not waited for" in m and "/engine/" in m for m in report["missing"]),
                      report["missing"])
                finds("left", report, "flush-left")
                check("left: it comes", wait_for(lambda: len(list(pathlib.Path(folder, "engine").rglob(
                    report["workers"][1]["key"] + "*.pt.trace.json"))) == 1, 30), report["workers"][1]["key"])


def within_the_window(folder):
    """An engine that counts its steps flushes within the next one: that time is not passed off as the steps'."""
    with simulation(folder, "--fault", "slow-flush:6s") as addresses:
        ours, theirs = processes.open_terminal(150)
        command = [scenario.TACHO, "record", *target(addresses), "--steps", "20", "--warm-up", "1s", "--baseline", "1s", "--out", folder + "/runs"]
        with processes.running(command, stdout=theirs, stderr=theirs) as process:
            os.close(theirs)
            seen = processes.read_to_the_end(ours, process).decode()
        check("within the window: said meanwhile", re.search(r"profile +[3-6]\.\d s of about 0\.\d s: the engine may be writing its trace", seen), seen)
        check("within the window: said then", re.search(r"profile +([6-9]|1\d)\.\d s, with the flush; its steps were to take about 0\.\d s\r?\n", seen), seen)


def one_after_another(folder):
    """Both are late, and then one is done: it is shown while the other one still writes."""
    with simulation(folder, "--count", "2", "--router", "vllm", "--fault", "slow-flush@0:9s", "--fault", "slow-flush@1:40s") as addresses:
        run = Recording(folder, target(addresses), "--steps", "20", "--duration", "2s", "--budget-flush", "1s", *NOTHING_ASKED)
        run.until("Ctrl-C goes on without it")
        partly = wait_for(run.report, 20)
        check("one after another: the first one is proven", partly and sum(r["proven"] for r in ranks(partly)) == 1, partly)
        run.interrupt()
        status, out, errors, took = run.end()
        report = run.report()
        check("one after another: at once", status == 130 and took < 10, (status, took, errors))
        # The window had ended: its cost is that of the window, not of the flush.
        check("one after another: the cost of profiling", report and report["profiled"]["duration_ns"] < 3e9, report and report["profiled"])


def beside_one_that_ended(folder):
    """SGLang's quick engine ended by itself: it is not called late, and it is shown."""
    with simulation(folder, "--engine", "sglang", "--count", "2", "--router", "sglang", "--fault", "slow-flush@1:14s") as addresses:
        run = Recording(folder, target(addresses), "--steps", "10", "--duration", "3s", "--budget-flush", "1s", *NOTHING_ASKED)
        run.until("Ctrl-C goes on without it")
        partly = wait_for(run.report, 8)
        check("one that ended: is proven meanwhile", partly and sum(r["proven"] for r in ranks(partly)) == 1, (partly, run.errors))
        status, out, errors, _ = run.end()
        check("one that ended: whole", status == 0 and "2 of 2 ranks proven" in out, (status, out))
        check("one that ended: is not called late", f"{addresses['workers'][0]['url']}: its flush has taken" not in errors, errors)


def before_the_window(folder):
    """An engine that is stopped while another one starts writes for long: said, and Ctrl-C is heard."""
    with simulation(folder, "--engine-version", "0.13", "--count", "2", "--router", "vllm", "--fault", "slow-start@1:6s",
                    "--fault", "slow-flush@0:40s") as addresses:
        first = addresses["workers"][0]["url"]
        run = Recording(folder, target(addresses), "--trace-dir", f"{folder}/engine", "--budget-flush", "1s", *NOTHING_ASKED)
        run.until(f"{first}: its flush has taken")
        run.interrupt()
        run.until("Ctrl-C again ends tacho at once")
        run.interrupt()
        status, _, errors, took = run.end()
        check("before the window: Ctrl-C", status == 130 and took < 3, (status, took, errors))


def hanging_start(folder):
    """A start that is never answered is named, and Ctrl-C ends the wait for it."""
    with simulation(folder, "--count", "2", "--router", "vllm", "--fault", "hang-start@1") as addresses:
        run = Recording(folder, target(addresses), *NOTHING_ASKED)
        run.until(f"{addresses['workers'][1]['url']}: no answer to the start for")
        run.interrupt()
        status, out, errors, took = run.end()
        check("hanging start: Ctrl-C", status == 130 and took < 15, (status, took, out, errors))


scenario.main([flush, within_the_window, one_after_another, beside_one_that_ended, before_the_window, hanging_start], __doc__)
