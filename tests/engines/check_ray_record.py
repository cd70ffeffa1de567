#!/usr/bin/env python3
"""`tacho record --ray` on a real Ray cluster of three nodes in namespaces of this machine (ray_rig.py): engines that are child processes of
actors named as those of vime and slime, simulated or real ones, recorded from the machine outside, proven and analysed where their
traces lie. Needs what check_ray_cluster.py needs; the real ones need `tools/engines install all`.

usage: check_ray_record.py TACHO [--only NAME ...]
"""
import contextlib
import json
import os
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / p) for p in ("tests/program", "tests/support", "tools")]
import scenario  # noqa: E402
from check_ray_cluster import STATIC, cluster, driver_on, nothing_left  # noqa: E402
from engines_lib import environments, servers  # noqa: E402
from engines_lib.model import make_model  # noqa: E402
from recordings import ranks  # noqa: E402
from scenario import Skipped, check  # noqa: E402

# What vime and slime do: an actor on the node of each engine starts it as a child process and logs its address; the manager starts the
# router, and logs its address some seconds later.
ACTORS = """
import json, logging, os, ray, subprocess, sys, time

class Starter:
    def start(self, words, environment, line):
        logging.basicConfig(level=logging.INFO)
        logging.getLogger("engine").info(line)
        self.child = subprocess.Popen(words, env={**os.environ, **environment}, stdin=subprocess.DEVNULL)
        return self.child.pid
    def end(self):
        self.child.terminate()
        return self.child.wait(30)

plan = json.loads(sys.stdin.readline())
ray.init(logging_level="ERROR", log_to_driver=False)
actors = []
for actor in plan:
    kind = type(actor["class"], (Starter,), {})
    made = ray.remote(kind).options(num_cpus=0.2, resources={"node:" + actor["ip"]: 0.001}).remote()
    actors.append(made)
    ray.get(made.start.remote(actor["words"], actor["environment"], actor["line"]))
print("started", flush=True)
sys.stdin.readline()
ray.get([actor.end.remote() for actor in actors])
print("ended", flush=True)
"""


@contextlib.contextmanager
def actors(rig, plan):
    driver = driver_on(rig, ACTORS)
    try:
        driver.stdin.write(json.dumps(plan) + "\n")
        driver.stdin.flush()
        check("the actors have started their servers", driver.stdout.readline() == "started\n")
        yield
        driver.stdin.write("\n")
        driver.stdin.flush()
        check("the servers have ended", driver.stdout.readline() == "ended\n")
    finally:
        driver.kill()
        driver.wait()


def actor(kind, ip, words, line, environment=None):
    return {"class": kind, "ip": ip, "words": [str(w) for w in words], "line": line, "environment": environment or {}}


def wait_for_servers(rig, urls, seconds):
    until = time.monotonic() + seconds
    for url in urls:
        while rig.outside(["curl", "-sf", "-m", "5", "-o", "/dev/null", url]).returncode != 0:
            if time.monotonic() > until:
                raise AssertionError(f"{url} does not answer")
            time.sleep(0.5)


def record(rig, *arguments, quick=("--warm-up", "1s", "--baseline", "2s", "--duration", "2s", "--prompt-tokens", "64", "--output-tokens", "32")):
    out = rig.folder / "runs"
    before = set(out.iterdir()) if out.exists() else set()
    began = time.monotonic()
    done = rig.outside([scenario.TACHO, "record", "--ray", rig.address, "--ray-program", STATIC, "--out", out, *quick, *arguments], capture_output=True, text=True,
                       timeout=400, env={**os.environ, "HOME": str(rig.folder), "XDG_STATE_HOME": str(rig.folder / "state"), "XDG_RUNTIME_DIR": str(rig.folder)})
    print(f"  record {' '.join(arguments)}: status {done.returncode} after {time.monotonic() - began:.1f} s\n{done.stderr}", flush=True)
    new = sorted(set(out.iterdir()) - before) if out.exists() else []
    report = json.loads((new[-1] / "run.json").read_text()) if new and (new[-1] / "run.json").exists() else None
    return done, report, new[-1] if new else None


def proven_by_node(what, done, report, folder, expected):
    """`expected`: ranks of each node."""
    check(f"{what}: status 0", done.returncode == 0 and report, f"{done.returncode}\n{done.stdout}\n{done.stderr}")
    places = [f.split(":", 1)[0] for r in ranks(report) for f in r["files"]]
    check(f"{what}: ranks by node", {node: places.count(node) for node in places} == expected, ranks(report))
    check(f"{what}: proven, with steps", all(r["proven"] and r["steps"] > 0 for r in ranks(report)), ranks(report))
    kept = sorted(p.name for p in (folder / "traces").iterdir() if p.is_file())
    check(f"{what}: results in place of traces", kept == sorted(f"{node}.json" for node in expected), kept)
    analysed = scenario.run("analyze", "--json", str(folder))
    check(f"{what}: analyze takes the folder", analysed.returncode == 0 and len(json.loads(analysed.stdout)["traces"]) == sum(expected.values()),
          (analysed.returncode, analysed.stderr))
    print(done.stdout, flush=True)


def simulated(folder):
    """vLLMs of two ranks on two nodes behind no router, one of whose traces are fetched; then SGLangs on one node behind a router."""
    with cluster(folder) as rig:
        plan, urls = [], []
        for node in (1, 2):
            urls.append(f"http://{rig.ip(node)}:15000")
            plan.append(actor("VLLMEngine", rig.ip(node),
                              [scenario.TACHO, "simulate", "--host", rig.ip(node), "--port", "15000", "--trace-dir", "/traces/profiles", "--tp", "2", "--dev-mode",
                               "--model-size", "8b", "--speed", "0.4", "--seed", str(node)],
                              f"Launch vLLM OpenAI api_server at: {rig.ip(node)}:15000 (rank={node - 1} node_rank=0/1)"))
        with actors(rig, plan):
            wait_for_servers(rig, [url + "/health" for url in urls], 60)
            done, report, run_folder = record(rig, "--fetch", "0")
            proven_by_node("simulated", done, report, run_folder, {"node-1": 2, "node-2": 2})
            here = {p.relative_to(run_folder / "fetched").as_posix(): p for p in (run_folder / "fetched").rglob("*") if p.is_file()}
            there = {f.replace(":", "", 1): f for r in ranks(report) if r["rank"] == 0 for f in r["files"]}
            check("simulated: rank 0 of each engine is fetched", set(here) == set(there), (here, there))
            check("simulated: the same bytes", all(p.read_bytes() == (rig.folder / place.split("/", 1)[0] / place.split("/", 1)[1]).read_bytes() for place, p in here.items()))
            nothing_left("simulated", rig)
        router = f"{rig.ip(1)}:3456"
        with actors(rig, [actor("RolloutManager", rig.ip(1), [scenario.TACHO, "simulate", "--engine", "sglang", "--count", "2", "--router", "sglang", "--host", rig.ip(1),
                                                              "--port", "3456", "--model-size", "8b", "--speed", "0.4"],
                                f"Router launched at {router}, Prometheus port: 4567")]):
            wait_for_servers(rig, [f"http://{router}/workers"], 60)
            done, report, run_folder = record(rig)
            check("SGLang without --output-dir: status 2, says what to give", done.returncode == 2 and "--output-dir" in done.stderr, (done.returncode, done.stderr))
            done, report, run_folder = record(rig, "--output-dir", "/traces/sglang")
            proven_by_node("SGLang", done, report, run_folder, {"node-1": 2})
            nothing_left("SGLang", rig)


def real_vllm(folder):
    """A vLLM on the CPU on each of two nodes, behind vllm-router, found through the manager's log."""
    try:
        python, routers = environments.find("vllm"), environments.find("routers")
    except environments.EnginesError as none:
        raise Skipped(str(none)) from None
    with cluster(folder) as rig:
        plan, urls = [], []
        for node in (1, 2):
            urls.append(f"http://{rig.ip(node)}:15000")
            words, environment = servers.vllm_command(python, make_model(environments.root() / "tiny-qwen3"), 15000, {**servers.SAFE_PROFILER, "torch_profiler_dir": "/traces/profiles"},
                                                      dev_mode=True, more=("--host", rig.ip(node)), place=(node - 1, 2))
            plan.append(actor("VLLMEngine", rig.ip(node), words, f"Launch vLLM OpenAI api_server at: {rig.ip(node)}:15000 (rank={node - 1} node_rank=0/1)", environment))
        with actors(rig, plan):
            wait_for_servers(rig, [url + "/health" for url in urls], 400)
            words, environment = servers.vllm_router_command(routers, 3456, 4567, urls)
            words = [rig.ip(0) if word == servers.HOST else word for word in words]
            with actors(rig, [actor("RolloutManager", rig.ip(0), words, f"Router launched at {rig.ip(0)}:3456, Prometheus port: 4567", environment)]):
                wait_for_servers(rig, [f"http://{rig.ip(0)}:3456/workers"], 60)
                done, report, run_folder = record(rig, "--steps", "20", quick=("--warm-up", "1s", "--baseline", "2s", "--prompt-tokens", "64", "--output-tokens", "32"))
                check("the router is the target", f"http://{rig.ip(0)}:3456" in done.stderr and report["router"].endswith(":3456"), report)
                proven_by_node("vLLM", done, report, run_folder, {"node-1": 1, "node-2": 1})
                nothing_left("vLLM", rig)


if __name__ == "__main__":
    scenario.main([simulated, real_vllm], __doc__)
