#!/usr/bin/env python3
"""`tacho record` against simulated engines that it knows by rules alone: TensorRT-LLM, TokenSpeed, Dynamo's workers, and engines behind
SMG that speak no HTTP. Each recording is proven, or the trap is said.

usage: check_record_engines.py TACHO [--only NAME ...]
"""
import json
import re
import subprocess

import processes
import proxy
import scenario
import simulator
from recordings import QUICK, finds, ranks, record, whole
from scenario import check, run, simulation, target

NO_LOAD = ["--no-load", "--duration", "2s"]


def names(report):
    return sorted(f.rsplit("/", 1)[-1] for r in ranks(report) for f in r["files"]) if report else []


def tensorrt_llm(folder):
    with simulation(folder, "--engine", "tensorrt-llm", "--tp", "2") as addresses:
        url = target(addresses)[0]
        status = json.loads(run("engine", "status", url, "--json").stdout)["workers"][0]
        check("tensorrt-llm: known", status["engine"] == "tensorrt-llm", status)
        done, report, run_folder = record(folder, [url])
        whole("tensorrt-llm", done, report, run_folder, 2)
        check("tensorrt-llm: names", all(re.fullmatch(r"trtllm-trace-\d+-[0-9a-f]{8}-rank-[01]\.json", name) for name in names(report)), names(report))
        finds("tensorrt-llm", report, "stop-answers-early")
        done, report, run_folder = record(folder, [url], "--steps", "5", "--duration", "20s")
        whole("tensorrt-llm steps", done, report, run_folder, 2)
        check("tensorrt-llm steps: exactly", [r["steps"] for r in ranks(report)] == [5, 5], ranks(report))
        check("tensorrt-llm: never a relative start_step", "start_step" not in report["workers"][0]["start"]["body"], report["workers"][0]["start"])
        refused = run("record", url, "--with-stack", "--steps", "5")
        check("tensorrt-llm: no stacks", refused.returncode == 2 and "no such field" in refused.stderr, refused.stderr)
        # Somebody else's session is refused with 409, and said.
        check("tensorrt-llm: somebody starts", simulator.post(url, "/start_profile", {"output_dir": f"{folder}/theirs"})[0] == 200)
        done, report, run_folder = record(folder, [url])
        check("tensorrt-llm: not by the trial", "tacho's own trial" not in " ".join(done.stdout.split()), done.stdout)
        check("tensorrt-llm: taken", done.returncode != 0 and "already active" in " ".join(done.stdout.split()), (done.stdout, done.stderr))


def idle(folder):
    """Nobody sends a request: nothing is recorded, and no session waits for the next one."""
    for engine in ("tensorrt-llm", "tokenspeed"):
        with simulation(f"{folder}/{engine}", "--engine", engine) as addresses:
            url = target(addresses)[0]
            done, report, run_folder = record(f"{folder}/{engine}", [url], quick=NO_LOAD)
            said = " ".join((done.stdout + done.stderr).split())
            check(f"{engine} idle: it starts", "did not start" not in said and report is not None and report["workers"][0]["start"]["status"] in (200, 206),
                  (done.stdout, done.stderr))
            check(f"{engine} idle: why nothing is there", engine != "tensorrt-llm" or "no file at all: no step came, with which its session begins" in said, said)
            check(f"{engine} idle: no trial's files are told of", "files of the trial" not in said, said)
            status, text = simulator.post(url, "/start_profile", {"output_dir": f"{folder}/{engine}/theirs"})
            check(f"{engine} idle: nothing waits", status == 200 and "already" not in text, (status, text))


def not_believed(folder):
    """A server that tells sizes no deployment has: its ranks are not known, and no table of them is made."""
    with simulation(folder, "--engine", "sglang", "--count", "2", "--router", "smg-grpc") as addresses:
        for size in (b"100000000", b"2000000000"):
            with proxy.changed(target(addresses)[0], lambda body: body.replace(b'"tp_size":"1"', b'"tp_size":"' + size + b'"')) as url:
                done, report, run_folder = record(folder, [url], "--trace-dir", f"{folder}/engine", "--output-dir", f"{folder}/engine", quick=NO_LOAD)
                check(f"ranks {size}: status", done.returncode == 4, (done.returncode, done.stdout[-2000:], done.stderr[-2000:]))
                finds(f"ranks {size}", report, "ranks-unknown")


def deep_json(folder):
    """A server whose JSON nests without end is asked, and tacho lives."""
    deep = {"server_info": '{"vllm_config":{"profiler_config":' + '{"a":' * 100_000 + "1" + "}" * 100_000 + "}}",
            "workers": '{"workers":[' + '{"targets":[' * 20_000 + "]}" * 20_000 + "]}"}
    for route, body in deep.items():
        answers = {"/v1/models": '{"data":[{"id":"m","owned_by":"vllm"}]}', "/version": '{"version":"0.32.0"}', "/" + route: body}
        with proxy.answering(answers) as url:
            done = run("engine", "status", url)
            check(f"deep {route}: status", done.returncode in (0, 6), (done.returncode, done.stderr[-500:]))
            check(f"deep {route}: known", "vllm" in done.stdout.lower(), done.stdout[-500:])


def tensorrt_llm_early(folder):
    """Its stop answers after 30 s; the trace is whole later."""
    with simulation(folder, "--engine", "tensorrt-llm", "--fault", "slow-flush:33s") as addresses:
        done, report, run_folder = record(folder, target(addresses), "--steps", "4", "--duration", "2s", "--budget-flush", "120s", timeout=300)
        check("tensorrt-llm early: proven all the same", report is not None and all(r["proven"] for r in ranks(report)), (done.stdout, done.stderr))


def tokenspeed(folder):
    with simulation(folder, "--engine", "tokenspeed", "--tp", "2") as addresses:
        url = target(addresses)[0]
        status = json.loads(run("engine", "status", url, "--json").stdout)["workers"][0]
        check("tokenspeed: known", status["engine"] == "tokenspeed", status)
        done, report, run_folder = record(folder, [url])
        whole("tokenspeed", done, report, run_folder, 2, names_steps=False)
        check("tokenspeed: one trial, though its steps have no names", "it is taken again" not in done.stderr, done.stderr)
        check("tokenspeed: the trial's files are gone, and not told of", "trial-files" not in [f["id"] for f in report["findings"]], report["findings"])
        check("tokenspeed: names", [re.sub(r"^.*-TP", "TP", name) for name in names(report)] == ["TP0.trace.json.gz", "TP1.trace.json.gz"], names(report))
        body = json.loads(report["workers"][0]["start"]["body"]) if report else {}
        check("tokenspeed: no stacks unless asked", body.get("with_stack") is False, body)
        check("tokenspeed: stop of nothing", run("engine", "stop", url).returncode == 0)


def dynamo(folder):
    for engine in ("dynamo-vllm", "dynamo-sglang"):
        with simulation(f"{folder}/{engine}", "--engine", engine, "--router", "dynamo") as addresses:
            worker = addresses["workers"][0]["url"]
            front_end = target(addresses)[0]
            status = json.loads(run("engine", "status", worker, "--json").stdout)["workers"][0]
            check(f"{engine}: known", status["engine"] == engine, status)
            options = ["--trace-dir", f"{folder}/{engine}/engine"] if engine == "dynamo-vllm" else []
            refused = run("record", worker, "--out", f"{folder}/{engine}/runs", *options)
            check(f"{engine}: no load at its system port", refused.returncode == 2 and "takes no requests" in refused.stderr, refused.stderr)
            with processes.running([scenario.TACHO, "load", front_end, "--duration", "20s", "--concurrency", "4", "--input-len", "64", "--output-len",
                                    "32"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as load:
                done, report, run_folder = record(f"{folder}/{engine}", [worker], *options, quick=NO_LOAD)
                processes.end(load)
            check(f"{engine}: proven", report is not None and report["complete"] and [r["proven"] for r in ranks(report)] == [True]
                  and ranks(report)[0].get("steps", 0) > 0, (done.stdout, done.stderr))
            start = report["workers"][0]["start"] if report else {}
            check(f"{engine}: where", start.get("request") == "/engine/control/start_profile", start)


def behind_smg(folder):
    with simulation(f"{folder}/grpc", "--engine", "sglang", "--count", "2", "--tp", "2", "--router", "smg-grpc") as addresses:
        url = target(addresses)[0]
        listed = json.loads(run("engine", "list", url, "--json").stdout)
        check("smg: its workers are asked through it", listed["router_kind"] == "smg" and [w["url"] for w in listed["workers"]] == [url], listed)
        done, report, run_folder = record(f"{folder}/grpc", [url], "--steps", "5", "--duration", "20s")
        check("smg grpc: proven", report is not None and report["complete"] and len(ranks(report)) == 4 and all(r["proven"] for r in ranks(report)),
              (done.stdout, done.stderr, ranks(report) if report else ""))
    with simulation(f"{folder}/http", "--engine", "sglang", "--count", "2", "--router", "smg") as addresses:
        done, report, run_folder = record(f"{folder}/http", target(addresses))
        whole("smg http", done, report, run_folder, 2)
    with simulation(f"{folder}/zmq", "--engine", "sglang", "--router", "smg-zmq") as addresses:
        done = run("record", *target(addresses), "--out", f"{folder}/zmq/runs", *QUICK)
        check("smg zmq: said", done.returncode != 0 and "speaks ZMQ" in done.stderr, (done.returncode, done.stderr))


scenario.main([tensorrt_llm, idle, not_believed, deep_json, tensorrt_llm_early, tokenspeed, dynamo, behind_smg], __doc__)
