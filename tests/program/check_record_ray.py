#!/usr/bin/env python3
"""`tacho record --ray` against a dashboard of Ray whose nodes are folders of this host (fake_ray.py), and simulated engines whose traces
lie there: engines found by actors, ranks proven where their traces lie, results in the run folder.

usage: check_record_ray.py TACHO [--only NAME ...]
"""
import contextlib
import json
import os
import pathlib
import re
import subprocess

import processes
import scenario
from check_ray import analyze, nothing_left, static_program
from fake_ray import FakeRay
from recordings import QUICK, RUN_SCHEMA, finds, ranks
from scenario import check, main, run


def record(cluster, *arguments):
    """The finished process, run.json or None, and the run folder or None."""
    out = cluster.folder / "runs"
    before = set(out.iterdir()) if out.exists() else set()
    done = subprocess.run([scenario.TACHO, "record", "--ray", cluster.url, "--ray-program", str(static_program(cluster.folder)), "--out", str(out), *QUICK, *arguments],
                          capture_output=True, text=True, timeout=180, env={**os.environ, "HOME": str(cluster.folder), "XDG_STATE_HOME": str(cluster.folder / "state")})
    new = sorted(set(out.iterdir()) - before) if out.exists() else []
    report = json.loads((new[-1] / "run.json").read_text()) if new and (new[-1] / "run.json").exists() else None
    return done, report, new[-1] if new else None


@contextlib.contextmanager
def engines(cluster):
    """An engine of two ranks on each node but the first, whose actors log as those of vime. Yields the engines' URLs."""
    with contextlib.ExitStack() as stack:
        urls = []
        for node in cluster.nodes[1:]:
            node.ip = f"127.0.0.{node.number + 1}"
            process = stack.enter_context(processes.running(
                [scenario.TACHO, "simulate", "--json", "--host", node.ip, "--trace-dir", node.home / "disk/profile", "--tp", "2", "--dev-mode",
                 "--model-size", "8b", "--speed", "0.4", "--seed", str(node.number)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True))
            urls.append(json.loads(processes.first_line(process))["workers"][0]["url"])
            address = urls[-1].removeprefix("http://")
            cluster.actors.append(("VLLMEngine", node, f"INFO vllm_engine.py:9 Launch vLLM OpenAI api_server at: {address} (rank={node.number} node_rank=0/1)\n"))
        yield urls


def found_and_recorded(folder):
    with FakeRay(folder, scenario.TACHO, nodes=3) as cluster, engines(cluster) as urls:
        cluster.actors.insert(0, ("RayTrainGroup", cluster.nodes[0], "Router launched at 127.0.0.1:9, Prometheus port: 1\n"))
        cluster.actors.append(("VLLMEngine", cluster.nodes[0], "Launch vLLM OpenAI api_server at: 127.0.0.1:9 (rank=0 node_rank=0/1)\n", "DEAD"))
        cluster.actors.append(("VLLMEngine", cluster.nodes[0], "Launch vLLM OpenAI api_server at: 127.0.0.1:10 (rank=0 node_rank=1/2)\n"))
        done, report, run_folder = record(cluster)
        check("status 0", done.returncode == 0, f"{done.returncode}\n{done.stdout}\n{done.stderr}")
        check("the living engines' servers are the targets", f"targets    {urls[0]}, {urls[1]}" in done.stderr, done.stderr)
        check("complete", report["complete"] and [len(w["ranks"]) for w in report["workers"]] == [2, 2], report)
        check("run.json is as described", not list(RUN_SCHEMA.iter_errors(report)), [e.message for e in RUN_SCHEMA.iter_errors(report)])
        files = [re.match(rf"(node-\d):{re.escape(str(cluster.folder))}/\1/disk/profile/", f) for r in ranks(report) for f in r["files"]]
        check("files by node", [f and f[1] for f in files] == ["node-1", "node-1", "node-2", "node-2"], ranks(report))
        check("all proven, with steps", all(r["proven"] and r["steps"] > 0 for r in ranks(report)), ranks(report))
        kept = sorted(p.relative_to(run_folder).as_posix() for p in (run_folder / "traces").rglob("*") if p.is_file())
        check("results in place of traces", kept == ["traces/node-1.json", "traces/node-2.json"], kept)
        nothing_left("recorded", cluster)

        # The same as all traces read here, but for paths and requests, which the nodes do not know.
        here = [str(p) for node in cluster.nodes for p in sorted((node.home / "disk/profile").glob(f"{run_folder.name}*")) if "truth" not in p.name]
        whole = json.loads(run("analyze", "--json", *here).stdout)
        again = json.loads(run("analyze", "--json", str(run_folder)).stdout)
        check("four traces", len(whole["traces"]) == 4, here)
        for a, b in zip(whole["traces"], again["traces"]):
            check("the path with its node", b["path"].split(":", 1)[1] == a["path"], (a["path"], b["path"]))
            check("the same figures", {**a, "path": ""} == {**b, "path": ""}, [k for k in a if a[k] != b.get(k)])
        check("analyze: status 0", run("analyze", str(run_folder)).returncode == 0)
        check("workers by name", {t["identity"]["worker"] for t in again["traces"]} == {"w0", "w1"}, [t.get("identity") for t in again["traces"]])

        second, _, other = record(cluster, urls[0])
        check("a named target", second.returncode == 0, second.stdout + second.stderr)
        check("only its node", sorted(p.name for p in (other / "traces").iterdir() if p.is_file()) == ["node-1.json"], list((other / "traces").iterdir()))
        compared = run("compare", str(run_folder), str(other))
        check("compare takes the folders", compared.returncode in (0, 5), compared.stderr)
        report = run("report", str(run_folder), "-o", str(pathlib.Path(folder) / "report.html"))
        check("report takes the folder", report.returncode == 0, report.stderr)


def beside_damaged(folder):
    """A damaged trace of earlier days, in a folder of the same name on a node that is not recorded; then damaged ones of this recording."""
    class OneName(FakeRay):
        fills = []

        def submit(self, order):
            for node in self.fills:
                for path in (node.home / "disk/profile").glob("*"):
                    path.write_text("")
            if order["entrypoint_resources"].keys() == {f"node:{self.nodes[0].ip}"}:
                order["entrypoint"] = order["entrypoint"].replace(str(self.nodes[1].home), str(self.nodes[0].home))
            return super().submit(order)

    with OneName(folder, scenario.TACHO, nodes=3) as cluster, engines(cluster):
        (cluster.nodes[0].home / "disk/profile").mkdir(parents=True)
        (cluster.nodes[0].home / "disk/profile/old-rank0.pt.trace.json.gz").write_text("")
        done, report, _ = record(cluster)
        check("complete", done.returncode == 0 and report["complete"] and report["troubles"] == [], (done.returncode, done.stderr))
        cluster.fills = cluster.nodes[2:]
        done, report, _ = record(cluster)
        check("damaged ones of this recording", done.returncode == 4 and not report["complete"], (done.returncode, done.stderr))
        reasons = [r["why"] for r in ranks(report) if not r["proven"]]
        own = f"{cluster.nodes[2].home}/disk/profile"
        check("the reasons", len(reasons) == 2 and all(why.startswith("node-2 (") and own in why and "is empty (0 bytes)" in why for why in reasons), ranks(report))


def not_found(folder):
    with FakeRay(folder, scenario.TACHO, nodes=2) as cluster:
        for actors, words, status in (
                ([], "no living actor of the classes RolloutManager, VLLMEngine, SGLangEngine", 6),
                ([("RolloutManager", cluster.nodes[0], "hello\n")], "1 actor that may have started one", 6),
                ([("RolloutManager", cluster.nodes[0], "Router launched at 10.77.0.1:1, P\nRouter launched at 10.77.0.2:2, P\n")],
                 "several routers: http://10.77.0.1:1, http://10.77.0.2:2: name one", 2),
                ([("RolloutManager", cluster.nodes[0], "Router launched at 192.0.2.9:1, P\n")], "name http://192.0.2.9:1, which is the address of no node", 2)):
            cluster.actors = actors
            done, report, _ = record(cluster)
            check(words, done.returncode == status and words in done.stderr and report is None, (done.returncode, done.stderr))
        for more in (["--overhead"], ["--collect-from", "x"], ["--via", "daemon"], ["--map", "/a=/b"]):
            done, report, _ = record(cluster, *more)
            check(f"{more[0]}", done.returncode == 2 and f"--ray and {more[0]} do not go together" in done.stderr, (done.returncode, done.stderr))
        check("nothing was urls", cluster.jobs == {} and not any("POST" in a for a in cluster.asked), cluster.asked)


def lost(folder):
    """A node that Ray lost after the recording: its ranks are not proven, the others are."""
    with FakeRay(folder, scenario.TACHO, nodes=3, faults={2: {"lost": "analyze"}}) as cluster, engines(cluster):
        done, report, run_folder = record(cluster)
        check("status 4", done.returncode == 4, f"{done.returncode}\n{done.stdout}\n{done.stderr}")
        check("two of four are proven", [r["proven"] for r in ranks(report)] == [True, True, False, False], ranks(report))
        finds("lost", report, "not-collected")
        check("the node is named", any("node-2" in t and "Ray lost the job" in t for t in report["troubles"]), report["troubles"])
        again = run("analyze", "--json", str(run_folder))
        check("analyze: status 4 and the reasons", again.returncode == 4 and len(json.loads(again.stdout)["unproven"]) == 2, (again.returncode, again.stderr))


def fetched(folder):
    """Traces brought to the run folder, and by `analyze --ray`: whole, cut, damaged, there already."""
    with FakeRay(folder, scenario.TACHO, nodes=3) as cluster, engines(cluster):
        done, report, run_folder = record(cluster, "--fetch", "1")
        check("status 0", done.returncode == 0 and "2 traces" in done.stderr, f"{done.returncode}\n{done.stdout}\n{done.stderr}")
        here = [str(p) for p in sorted((run_folder / "fetched").rglob("*")) if p.is_file()]
        there = [f.split(":", 1) for r in ranks(report) if r["rank"] == 1 for f in r["files"]]
        check("a folder for each node", here == [f"{run_folder}/fetched/{node}{path}" for node, path in there], (here, there))
        check("the same bytes", all(pathlib.Path(a).read_bytes() == pathlib.Path(b).read_bytes() for a, (_, b) in zip(here, there)))
        analysed = run("analyze", "--json", str(run_folder))
        paths = [t["path"] for t in json.loads(analysed.stdout)["traces"]]
        check("the folder still has all ranks, each once", analysed.returncode == 0 and len(paths) == 4 and set(here) < set(paths), (analysed.returncode, paths, analysed.stderr))
        nothing_left("fetched", cluster)

        def fetch(*arguments):
            return analyze(cluster, "--json", *[str(node.home / "disk/profile") for node in cluster.nodes[1:]], "--session", run_folder.name, *arguments)

        to = pathlib.Path(folder) / "to"
        node = cluster.nodes[1]
        node.faults["cut_after"] = 1000
        done = fetch("--fetch", "all", "--fetch-to", str(to))
        check("cut: status 4, named", done.returncode == 4 and re.search(r"came 1000 of \d+ bytes", done.stderr) and len(list(to.rglob("*.part"))) == 1, (done.returncode, done.stderr))
        check("cut: the others came", len([p for p in to.rglob("*.json") if p.is_file()]) == 3, list(to.rglob("*")))
        part = next(to.rglob("*.part"))
        rest = pathlib.Path(str(part).removeprefix(f"{to}/node-1").removesuffix(".part")).stat().st_size - 1000
        done = fetch("--fetch", "all", "--fetch-to", str(to))
        check("again: only what is missing", done.returncode == 0 and f"4 traces, {rest / 1e6:.1f} MB came, 3 there already" in done.stderr, (done.returncode, done.stderr))
        check("again: whole", not list(to.rglob("*.part")) and all(p.read_bytes() == pathlib.Path("/" + str(p.relative_to(to)).split("/", 1)[1]).read_bytes()
                                                                  for p in to.rglob("*.json")), list(to.rglob("*")))
        here[0] = next(str(p) for p in to.rglob("*.json") if "node-1" in str(p))
        pathlib.Path(here[0]).unlink()
        node.faults["slip"] = True
        done = fetch("--fetch", "all", "--fetch-to", str(to))
        check("damaged: not kept", done.returncode == 4 and "came damaged" in done.stderr and not list(to.rglob("*.part")) and not os.path.exists(here[0]),
              (done.returncode, done.stderr))
        done = fetch("--fetch", "7")
        check("no such rank", done.returncode == 2 and "there is no trace of these ranks" in done.stderr, (done.returncode, done.stderr))
        for words, error in ((["--fetch", "x"], "--fetch takes ranks"), (["--fetch-to", "x"], "--fetch-to needs --fetch")):
            done = fetch(*words)
            check(error, done.returncode == 2 and error in done.stderr, (done.returncode, done.stderr))
        done = run("analyze", "x", "--fetch", "0")
        check("without --ray", done.returncode == 2 and "--fetch needs --ray" in done.stderr, done.stderr)
        nothing_left("fetched again", cluster)


if __name__ == "__main__":
    main([found_and_recorded, beside_damaged, not_found, lost, fetched], __doc__)
