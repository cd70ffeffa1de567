#!/usr/bin/env python3
"""`tacho record` and `tacho engine` against simulated deployments where nothing goes wrong: what is found, started, proven,
collected and said.

usage: check_record.py TACHO [--only NAME ...]
"""
import decimal
import json
import pathlib
import re
import subprocess

import processes
import scenario
import simulator
from recordings import finds, ranks, record, whole
from scenario import check, run, simulation, target


def two_behind_a_router(folder):
    with simulation(folder, "--count", "2", "--tp", "2", "--router", "vllm") as addresses:
        done, report, run_folder = record(folder, target(addresses))
        whole("vllm tp2 x2", done, report, run_folder, 4)
        if report:
            check("vllm tp2 x2: spread", 0 <= report["start_spread_ns"] < 100_000_000, report["start_spread_ns"])
            check("vllm tp2 x2: cost is a number", "cost_of_profiling" in report)
            words = " ".join(run("analyze", str(run_folder)).stdout.split())
            check("vllm tp2 x2: analyze says what profiling cost", re.search(
                r"looking \d+ tok/s unprofiled, \d+ profiled: .*; no figure is corrected for that$", words), words[-300:])
            tied = [re.search(r"\S+ % of (?:their|the recorded) tokens tied to the one step that made them", text) for text in (words, " ".join(done.stdout.split()))]
            check("vllm tp2 x2: its own screen joins requests as analyze does", all(tied) and tied[0][0] == tied[1][0], (tied, done.stdout[:3000]))
            page = (run_folder / "report.html").read_text()
            check("vllm tp2 x2: so does its report", "wait-prefill" in page and "not tied to engine steps" not in page)
        again, second, _ = record(folder, target(addresses))
        whole("vllm tp2 x2, second session", again, second, _, 4)
        status = run("engine", "status", *target(addresses), "--json")
        found = json.loads(status.stdout)
        check("engine status", status.returncode == 0 and len(found["workers"]) == 2, status.stdout + status.stderr)
        check("engine status: router", found.get("router_kind") == "vllm-router", found)
        based = run("engine", "list", target(addresses)[0] + "/v1", "--json")
        check("an OpenAI client's base URL", len(json.loads(based.stdout)["workers"]) == 2, based.stdout)


def steps(folder):
    with simulation(f"{folder}/slow", "--count", "2", "--router", "vllm", "--fault", "slow-flush:6s") as addresses:
        report, _ = six_steps("vllm steps", f"{folder}/slow", addresses)
        if report:
            # Six steps take milliseconds, of a busy machine a second; a window with the flush would take six.
            check("vllm steps: the window ends with them, before the flush", report["profiled"]["duration_ns"] < 4e9, report["profiled"])
    with simulation(folder, "--count", "2", "--router", "vllm") as addresses:
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
        finds("too many requests", report, "too-few-requests")
        check("too many requests: said", re.search(r"\d+ of 100000 requests ended in the window", done.stderr), done.stderr)
        refused, _, _ = record(folder, target(addresses), "--requests", "5", "--via", "daemon")
        check("requests by the daemon", refused.returncode == 2 and "by time alone" in refused.stderr, refused.stderr)
        refused, _, _ = record(folder, target(addresses), "--requests", "5", "--steps", "5")
        check("requests and steps", refused.returncode == 2 and "give one" in refused.stderr, refused.stderr)
        refused, _, _ = record(folder, target(addresses), "--requests", "5", "--no-load")
        check("requests of others", refused.returncode == 2 and "--no-load" in refused.stderr, refused.stderr)


def mix(folder):
    """The load's figures by scenario, in run.json, on the screen and in the report; and a file for each scenario's requests."""
    with simulation(folder, "--speed", "10") as addresses:
        done, report, run_folder = record(folder, target(addresses), "--mix", "chat=60,code=40", "--records", f"{folder}/r-{{scenario}}.jsonl",
                                          quick=["--warm-up", "500ms", "--baseline", "2s", "--duration", "1s"])
        whole("mix", done, report, run_folder, 1)
        rows = [json.loads(line) for line in (run_folder / "requests.jsonl").read_text().splitlines()]
        files = {name: [json.loads(line) for line in pathlib.Path(folder, f"r-{name}.jsonl").read_text().splitlines()] for name in ("chat", "code")}
        check("mix: a file for each", all(files[name] == [r for r in rows if r["scenario"] == name] != [] for name in files) and
              len(rows) == sum(map(len, files.values())), {name: len(file) for name, file in files.items()})
        window = report["baseline"]
        check("mix: scenarios", [one["scenario"] for one in window["scenarios"]] == ["chat", "code"], window)
        for key in ("requests_done", "requests_failed", "output_tokens"):
            check(f"mix: {key} adds up", sum(one[key] for one in window["scenarios"]) == window[key] and (window[key] > 0 or "failed" in key), window)
        ttfts = [r["first_token_ns"] - r["sent_ns"] for r in files["chat"] if "first_token_ns" in r and window["begin_unix_ns"] <=
                 r["first_token_ns"] - r["sent_ns"] + r["sent_unix_ns"] < window["begin_unix_ns"] + window["duration_ns"]]
        check("mix: TTFT of one", abs(window["scenarios"][0]["ttft"]["requests"] - len(ttfts)) <= 1, (window, len(ttfts)))
        figure = f'{window["scenarios"][0]["output_tokens"]:,}'
        check("mix: screen", re.search(r"^   chat +[\d, ]*\d", done.stdout, re.M) and " LOAD " in done.stdout and "TPOT p99" in done.stdout, done.stdout)
        check("mix: report", re.search(rf"<td[^>]*>[^<]*chat</td>.*?{figure}", (run_folder / "report.html").read_text(), re.S), figure)
    done = run("record", "http://127.0.0.1:1", "--no-load", "--records", f"{folder}/r")
    check("mix: no load, no requests", done.returncode == 2 and "--no-load" in done.stderr, done.stderr)


def data_parallel(folder):
    with simulation(folder, "--dp", "2") as addresses:
        done, report, run_folder = record(folder, target(addresses))
        whole("vllm dp2", done, report, run_folder, 2)


def low_rate(folder):
    """Time without a request in flight is no idle time of the engine: checked with the trace and requests.jsonl. Then somebody
    else sends requests."""
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


def shortened(folder):
    """Prompts longer than the model takes: the screen says so, not run.json alone."""
    with simulation(folder, "--max-model-len", "256") as addresses:
        done, report, _ = record(folder, target(addresses), "--prompt-tokens", "2000", "--output-tokens", "16", "--duration", "500ms")
        check("shortened: proven", done.returncode == 0 and report and report["complete"], (done.returncode, done.stderr))
        finds("shortened", report, "requests-shortened")
        said = " ".join((done.stdout + done.stderr).split())
        check("shortened: said", "planned requests were shortened to the model's 256 tokens" in said, said)


def one_at_a_time(folder):
    """One request at a time to two engines: one of them always has none, and it is unknown which. The same with two requests to
    two engines behind one URL. With one engine it is known."""
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
        for plan in pathlib.Path(folder, name, "runs").glob("*/plan.json"):
            routed = json.loads(plan.read_text()).get("through_router")
            check(f"{name}: the plan says how the load goes", routed is (None if name == "ranks" else True), (plan, routed))
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
            finds(name, report, "trace-dir-missing", "stacks-unknown", "trial-files")
            # 0.10 names no steps in its traces: they prove the rank by their events.
            check(f"{name}: proven", report is not None and all(r["proven"] and ("steps" in r) == (version != "0.10")
                                                                for r in ranks(report)), f"{done.stderr}\n{report}")


def options_with_the_start(folder):
    """vLLM 0.33: what is recorded is asked for with each start."""
    with simulation(folder, "--engine-version", "0.33", "--dev-mode") as addresses:
        url = target(addresses)[0]
        done, report, run_folder = record(folder, [url], "--with-stack", "--record-shapes", "--steps", "5", "--profile-options", "with_memory")
        whole("vllm 0.33", done, report, run_folder, 1)
        if report:
            body = json.loads(report["workers"][0]["start"]["body"])
            check("vllm 0.33: asked", body["profiler_kwargs"] == {"profile_memory": True, "record_shapes": True, "with_stack": True}, body)
            found = json.loads(run("analyze", "--json", str(run_folder / "traces")).stdout)["traces"][0]
            check("vllm 0.33: recorded", {"record_shapes", "with_stack", "profile_memory"} <= set(found["facts"]["options"]), found.get("facts"))
        unbounded = run("record", url, "--with-stack", "--out", f"{folder}/unbounded")
        check("vllm 0.33: stacks want a bound", unbounded.returncode == 2 and "give --steps N" in unbounded.stderr, unbounded.stderr)
        # A start with what torch does not take: 200, and no file.
        before = set(pathlib.Path(f"{folder}").rglob("*.pt.trace.json"))
        answers = [simulator.post(url, path, body)[0] for path, body in (
            ("/start_profile", {"profiler_kwargs": {"no_such": True}}), ("/stop_profile", None))]
        check("vllm 0.33: a wrong name answers 200", answers == [200, 200], answers)
        check("vllm 0.33: and records nothing", set(pathlib.Path(f"{folder}").rglob("*.pt.trace.json")) == before)


def sglang(folder):
    with simulation(folder, "--engine", "sglang", "--count", "2", "--router", "sglang") as addresses:
        done, report, run_folder = record(folder, target(addresses))
        whole("sglang x2", done, report, run_folder, 2)
        done, report, run_folder = record(folder, target(addresses), "--steps", "5", "--duration", "20s")
        whole("sglang steps", done, report, run_folder, 2)
        if report:
            check("sglang steps: exactly", all(r["steps"] == 5 for r in ranks(report)), ranks(report))
        # The host names the steps.
        done, report, run_folder = record(folder, target(addresses), "--activities", "GPU")
        check("sglang without CPU: proven", done.returncode == 0 and report["complete"] and len(ranks(report)) == 2
              and not any("steps" in r for r in ranks(report)), (done.returncode, done.stderr, ranks(report)))


def by_stage(folder):
    with simulation(folder, "--engine", "sglang") as addresses:
        done, report, run_folder = record(folder, target(addresses), "--by-stage", "--steps", "4", "--duration", "20s")
        check("by stage: both", done.returncode == 0 and report and [len(r["files"]) for r in ranks(report)] == [2],
              f"{done.returncode} {done.stderr} {report and ranks(report)}")
        finds("by stage", report, "load-after-start")
        # Requests that come while decode is profiled have their prefill in the file of the decode steps.
        done, report, run_folder = record(folder, target(addresses), "--by-stage", "--steps", "100", "--duration", "20s")
        found = json.loads(run("analyze", "--json", str(run_folder / "traces")).stdout)
        stages = {trace["identity"]["stage"]: trace["steps"]["by_phase"] for trace in found["traces"]}
        check("by stage: a prefill among the decode steps", stages["decode"]["prefill"] > 0, stages)
        check("by stage: one rank all the same", (len(stages), found["ranks"]["present"], found["ranks"]["warnings"]) == (2, [0], []), found["ranks"])


scenario.main([two_behind_a_router, steps, requests, mix, data_parallel, low_rate, shortened, one_at_a_time, generations, options_with_the_start, sglang, by_stage],
               __doc__)
