#!/usr/bin/env python3
"""`tacho analyze --ray`, and compare, report and explain, against a dashboard of Ray whose nodes are folders of this host (fake_ray.py): results as from one machine, files
that several nodes see, lost nodes, tokens, damaged results, Ctrl-C; nothing is left.

usage: check_ray.py TACHO [--only NAME ...]
"""
import http.client
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import time

import processes
import scenario
from fake_ray import FakeRay
from scenario import check, main

ROOT = pathlib.Path(__file__).resolve().parents[2]


def static_program(place):
    """The least file that is a static program: the fake cluster runs the program under test in its place."""
    path = pathlib.Path(place) / "static"
    head = b"\x7fELF\x02\x01\x01" + bytes(9) + struct.pack("<HHIQQQIHHHHHH", 3, 62, 1, 0, 64, 0, 0, 64, 56, 1, 0, 0, 0)
    path.write_bytes(head + struct.pack("<IIQQQQQQ", 1, 5, 0, 0, 0, 120, 120, 4096))
    return path


def on_cluster(cluster, command, *arguments, environment=None, address=None):
    return subprocess.run([scenario.TACHO, command, "--ray", address or cluster.url, "--ray-program", static_program(cluster.folder), *arguments],
                          capture_output=True, text=True, timeout=120, env={**os.environ, "HOME": str(cluster.folder), **(environment or {})})


def analyze(cluster, *arguments, **more):
    return on_cluster(cluster, "analyze", *arguments, **more)


def traces(into, seed, ranks=2):
    """Traces of one engine in a folder."""
    done = scenario.run("simulate", "trace", "-o", into, "--steps", "20", "--ranks", str(ranks), "--model-size", "tiny", "--seed", str(seed))
    assert done.returncode == 0, done.stderr
    for truth in pathlib.Path(into).glob("*truth.json"):
        truth.unlink()


def two_engines(cluster):
    """Engines that were recorded one after the other."""
    for node in cluster.nodes[-2:]:
        traces(node.home / "disk/profile", node.number + 1)
    return [node.home / "disk/profile" for node in cluster.nodes[-2:]]


def without_paths(text):
    """The paragraphs without commands, before which a long screen repeats the verdict, and without ranks, whose paths tables and sentences
    show cut to what differs."""
    text = " VERDICT".join(text.split(" VERDICT")[:2])
    parts = [part.strip("\n") for part in re.split(r"\n *\n", text)]
    return [part for part in parts if part and not re.search(r"tacho |rank|node-\d", part, re.I)]


def of_places(text, cluster):
    """With the paths of one machine."""
    for node in cluster.nodes:
        text = text.replace(f"{node.name}:{node.home}", str(node.home))
    return text


def nothing_left(what, cluster):
    jobs, files, processes_left = cluster.left()
    check(f"{what}: no job is left", jobs == [] and processes_left == [], (jobs, processes_left))
    check(f"{what}: no file is left in the logs", files == [], files)


def same_as_one_machine(folder):
    with FakeRay(folder, scenario.TACHO, nodes=3) as cluster:
        places = two_engines(cluster)
        for screen in (["--json"], [], ["--markdown"], ["--json", "--rank", "1"]):
            here, there = scenario.run("analyze", *screen, *places), analyze(cluster, *screen, "/on-node/profile", "--session", "all")
            parts = [scenario.run("analyze", "--json", place) for place in places]
            check("the reference is complete", here.returncode == 0 and all(p.returncode == 0 for p in parts), (here.returncode, here.stderr))
            of_one, of_nodes = (of_places(text, cluster) for text in (here.stdout, there.stdout))
            if "--json" in screen:
                check(f"analyze {' '.join(screen)}: byte for byte", of_one == of_nodes, there.stderr)
            else:
                of_one, of_nodes = without_paths(of_one), without_paths(of_nodes)
                check(f"analyze {' '.join(screen)}: the same", of_one and of_one == of_nodes, [part for part in of_one + of_nodes if (part in of_one) != (part in of_nodes)])
            check(f"analyze {' '.join(screen)}: status 0", there.returncode == 0, (there.returncode, there.stderr))
            check("a node without traces is named", "no trace of /on-node/profile on node-0" in there.stderr, there.stderr)
        latest = json.loads(analyze(cluster, "--json", "/on-node/profile").stdout)
        of_one = json.loads(scenario.run("analyze", "--json", folder).stdout)
        check("the latest session is that of the cluster", [t["rank"] for t in latest["traces"]] == [t["rank"] for t in of_one["traces"]] == [0, 1]
              and all("node-2/" in t["path"] for t in of_one["traces"]) == all("node-2:" in t["path"] for t in latest["traces"]), latest["skipped"])
        nothing_left("after all", cluster)
        check("the program was sent once", cluster.uploads == 1, cluster.uploads)


def other_commands(folder):
    """compare, report and explain: what they say about the same traces in one folder, but for the paths."""
    one = pathlib.Path(folder) / "one"
    with FakeRay(folder, scenario.TACHO, nodes=3) as cluster:
        for side, seed in (("base", 1), ("new", 5)):
            for node in cluster.nodes[1:]:
                traces(node.home / "disk" / side, seed + node.number)
                shutil.copytree(node.home / "disk" / side, one / side / node.name)

        def of_one(text):
            for side in ("base", "new"):
                text = re.sub(rf"{one}/{side}/(node-\d)", r"\1:/on-node/" + side, text).replace(f"{one}/{side}", f"/on-node/{side}")
            return text

        def of_nodes(text):
            for node in cluster.nodes:
                text = text.replace(f"{node.home}/disk", "/on-node")
            return text.replace(f" --ray {cluster.url} --ray-program {cluster.folder}/static", "")

        every = ["--session", "all"]
        for words in (["compare", "BASE", "NEW", "--json"], ["compare", "BASE", "NEW", "--markdown", "--all"], ["compare", "--base", "BASE", "--new", "NEW", "--csv"],
                      ["compare", "BASE", "NEW", "--json", "--fail-on", "kernels.new,decode.step.p50>+1000%"], ["report", "NEW", "--json"],
                      ["report", "NEW", "--markdown"], ["report", "NEW", "--markdown", "--against", "BASE"], ["explain", "NEW", "finding:1", "--json"]):
            here, there = (scenario.run(*[w.replace("BASE", f"{place}/base").replace("NEW", f"{place}/new") for w in words + every]) if place == one else
                           on_cluster(cluster, words[0], *[w.replace("BASE", f"{place}/base").replace("NEW", f"{place}/new") for w in words[1:] + every])
                           for place in (one, "/on-node"))
            what = " ".join(words)
            check(f"{what}: there is something to compare", here.returncode in (0, 1) and len(here.stdout) > 200, (here.returncode, here.stderr))
            check(f"{what}: the same status", here.returncode == there.returncode, (here.returncode, there.returncode, there.stderr))
            wanted, got = (text.replace("\\_", "_") for text in (here.stdout, there.stdout))
            wanted, got = of_one(wanted).splitlines(), of_nodes(got).splitlines()
            if words[0] == "report" and "--markdown" in words:
                wanted, got = (without_paths("\n".join(text)) for text in (wanted, got))
            check(f"{what}: the same", len(wanted) > 3 and wanted == got, [pair for pair in zip(wanted, got) if pair[0] != pair[1]][:3] or (len(wanted), len(got)))
        page = cluster.folder / "report.html"
        done = on_cluster(cluster, "report", "/on-node/new", "-o", page, "--against", "/on-node/base", *every)
        text = page.read_text()
        check("a page with both", done.returncode == 0 and "node-1:" in text and "What changed against /on-node/base" in text, (done.returncode, done.stderr))
        check("its command can be typed again", f"tacho report /on-node/new --session all --ray {cluster.url}" in text, re.findall("tacho report[^<]*", text))
        done = on_cluster(cluster, "report", "/on-node/new", "--redact", "-o", page, *every)
        check("redacted", done.returncode == 0 and not re.search(r"node-\d|on-node|127\.0\.0\.1", page.read_text()), re.findall(r".{40}node-\d.{40}", page.read_text())[:3])

        done = on_cluster(cluster, "compare", "/on-node/base", "/on-node/none")
        check("a side that is nowhere", done.returncode == 3 and "on every node: /" in done.stderr and done.stdout == "", (done.returncode, done.stderr))
        asked = len(cluster.asked)
        for words in (["compare", "/on-node/base", "new.json"], ["report", "/on-node/new", "--against", "old.json"], ["explain", "old.json", "finding:1"]):
            done = on_cluster(cluster, *words)
            check(f"{' '.join(words)}: a relative path", done.returncode == 2 and ".json is relative" in done.stderr, (done.returncode, done.stderr))
        check("nothing was asked for these", len(cluster.asked) == asked, cluster.asked[asked:])
        (cluster.nodes[2].home / "disk/new/rank1.1.pt.trace.json").write_text("")
        done = on_cluster(cluster, "compare", "/on-node/base", "/on-node/new", "--markdown", *every)
        check("a damaged file of one side", done.returncode == 4 and re.search(r"node-2:/\S+rank1.1.pt.trace.json: is empty", done.stderr), (done.returncode, done.stderr))
        nothing_left("other commands", cluster)
    with FakeRay(pathlib.Path(folder) / "lost", scenario.TACHO, nodes=3, faults={2: {"lost": "analyze"}}) as cluster:
        two_engines(cluster)
        for node in cluster.nodes[1:]:
            shutil.copytree(node.home / "disk/profile", node.home / "disk/later")
        done = on_cluster(cluster, "report", "/on-node/profile", "--markdown")
        check("report: a lost node is named", done.returncode == 4 and "node-2 (10.77.0.3): Ray lost the job" in done.stdout + done.stderr, (done.returncode, done.stderr))


def shared_disk(folder):
    with FakeRay(folder, scenario.TACHO, nodes=3) as cluster:
        shared = pathlib.Path(folder) / "shared"
        traces(shared, 1)
        done = analyze(cluster, "--json", shared)
        check("a shared disk is read once", done.returncode == 0 and len(json.loads(done.stdout)["traces"]) == 2, (done.returncode, done.stderr))
        check("by one node", sum("-analyze-" in asked and asked.startswith("DELETE") for asked in cluster.asked) == 1, cluster.asked)
        # One node has files of its own beside those that all see.
        traces(cluster.nodes[1].home / "disk/profile", 2, ranks=1)
        done = analyze(cluster, "--json", shared, "/on-node", "--session", "all")
        paths = [t["path"] for t in json.loads(done.stdout)["traces"]]
        check("one more on one node", done.returncode == 0 and len(paths) == 3 and sum(f"node-1:{cluster.nodes[1].home}" in path for path in paths) == 1,
              (done.returncode, done.stderr, paths))
        nothing_left("shared", cluster)


def own_disks(folder):
    """A node whose files no other host sees analyses them in the job that lists them, unless another node has them too."""
    with FakeRay(folder, scenario.TACHO, nodes=3) as apart, FakeRay(folder, scenario.TACHO, nodes=3, own_disks=True) as cluster:
        two_engines(cluster)
        done, expected = (analyze(of, "--json", "/on-node/profile", "--session", "all") for of in (cluster, apart))
        check("the same results", done.returncode == 0 and done.stdout == expected.stdout and done.stderr == expected.stderr, (done.returncode, done.stderr, expected.stderr))
        check("a job a node", sum(asked.startswith("POST /api/jobs/ ") or asked == "POST /api/jobs/" for asked in cluster.asked) == 3, cluster.asked)
        shared = pathlib.Path(folder) / "shared"
        traces(shared, 1)
        done = analyze(cluster, "--json", shared)
        check("files that all see count once", done.returncode == 0 and len(json.loads(done.stdout)["traces"]) == 2, (done.returncode, done.stderr))
        traces(cluster.nodes[1].home / "disk/more", 2, ranks=1)
        done, expected = (analyze(of, "--json", shared, "/on-node/more", "--session", "all") for of in (cluster, apart))
        check("one more on one node", done.returncode == 0 and done.stdout == expected.stdout, (done.returncode, done.stderr))
        check("its own file is analysed again", any(re.fullmatch("DELETE .*-analyze-1", asked) for asked in cluster.asked), cluster.asked)
        (cluster.nodes[2].home / "disk/profile/bad.json").write_text('{"traceEvents": [{')
        done, expected = (analyze(of, "--json", "/on-node/profile", "--session", "all") for of in (cluster, apart))
        check("a damaged file", done.returncode == expected.returncode == 4 and done.stdout == expected.stdout, (done.returncode, done.stderr))
        nothing_left("own disks", cluster)


def unsure_starts(folder):
    """A request to start a job that fails: the job may run all the same."""
    with FakeRay(folder, scenario.TACHO, nodes=3, faults={1: {"cut_post": "analyze"}}) as cluster:
        two_engines(cluster)
        done = analyze(cluster, "--json", "/on-node/profile", "--session", "all")
        check("a cut answer", done.returncode == 0 and len(json.loads(done.stdout)["traces"]) == 4, (done.returncode, done.stderr))
        nothing_left("a cut answer", cluster)
        cluster.nodes[1].faults = {"refuse": {"analyze"}}
        done = analyze(cluster, "--json", "/on-node/profile", "--session", "all")
        check("a refused start", done.returncode == 4 and re.search(r"node-1 \(10.77.0.2\): no job can be started: .*HTTP 500: OSError: no analyze", done.stderr)
              and len(json.loads(done.stdout)["traces"]) == 2, (done.returncode, done.stderr))
        nothing_left("a refused start", cluster)


def not_removed(folder):
    """A folder that a stopped job left is removed by another job, else it is named: at the end, without results, after Ctrl-C."""
    slow = pathlib.Path(folder) / "slow"
    slow.write_text(f"#!/bin/sh\n[ \"$1\" != analyze ] || [ ! -e {folder}/wait ] || sleep 60\nexec {scenario.TACHO} \"$@\"\n")
    slow.chmod(0o755)
    with FakeRay(folder, slow, nodes=2, faults={1: {"kills": True}}) as cluster:
        two_engines(cluster)
        done = analyze(cluster, "--json", "/on-node/profile", "--session", "all")
        check("the second try removes it", done.returncode == 0 and "not removed" not in done.stderr, (done.returncode, done.stderr))
        nothing_left("the second try", cluster)
        cluster.nodes[1].faults = {"kills": True, "refuse": {"clear"}}
        left = r"node-1 \(10.77.0.2\): no job can be started: .*HTTP 500: OSError: no clear; \S+/session/logs/tacho-\w+ is not removed"
        done = analyze(cluster, "--json", "/on-node/profile", "--session", "all")
        check("not removed: named", done.returncode == 0 and len(json.loads(done.stdout)["traces"]) == 4 and re.search(left, done.stderr), (done.returncode, done.stderr))
        done = analyze(cluster, "/on-node/none")
        check("without results: named", done.returncode == 3 and re.search(left, done.stderr), (done.returncode, done.stderr))
        (pathlib.Path(folder) / "wait").touch()
        with processes.running([scenario.TACHO, "analyze", "--ray", cluster.url, "--ray-program", static_program(folder), "/on-node/profile"],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            check("it analyses", scenario.wait_for(lambda: sum("-analyze-" in name for name in cluster.jobs) == 2))
            process.send_signal(signal.SIGINT)
            err = process.communicate(timeout=60)[1]
        check("after Ctrl-C: named", process.returncode == 130 and re.search(left, err), (process.returncode, err))
        check("no job is left", cluster.left()[0] == cluster.left()[2] == [], cluster.left())


def lost_nodes(folder):
    for where in ("files", "analyze"):
        with FakeRay(pathlib.Path(folder) / where, scenario.TACHO, nodes=3, faults={2: {"lost": where}}) as cluster:
            two_engines(cluster)
            done = analyze(cluster, "--json", "/on-node/profile")
            check(f"lost at {where}: status 4", done.returncode == 4, (done.returncode, done.stderr))
            check(f"lost at {where}: named", re.search(r"node-2 \(10\.77\.0\.3\): Ray lost the job: its node has died: the actor's node was preempted: health check failed$", done.stderr, re.MULTILINE), done.stderr)
            result = json.loads(done.stdout)
            check(f"lost at {where}: the rest is there", len(result["traces"]) == 2 and all("node-1:" in t["path"] for t in result["traces"]), done.stdout[:300])
            check(f"lost at {where}: it is in the results", any("node-2" in text for text in result["failed"]), result.get("failed"))
            check("none of its jobs is left", cluster.left()[0] == cluster.left()[2] == [], cluster.left())
    with FakeRay(pathlib.Path(folder) / "all", scenario.TACHO, nodes=1, faults={0: {"lost": "analyze"}}) as cluster:
        traces(cluster.nodes[0].home / "disk/profile", 1)
        done = analyze(cluster, "/on-node/profile")
        check("nothing came: status 6", done.returncode == 6 and "node-0 (10.77.0.1): Ray lost the job" in done.stderr, (done.returncode, done.stderr))


def unable_nodes(folder):
    faults = {0: {"dead": True}, 1: {"free_memory": "100"}, 2: {"damage": True}}
    with FakeRay(folder, scenario.TACHO, nodes=4, faults=faults) as cluster:
        for node in cluster.nodes[1:]:
            traces(node.home / "disk/profile", node.number + 1, ranks=1)
        done = analyze(cluster, "--json", "/on-node/profile")
        check("status 4", done.returncode == 4, (done.returncode, done.stderr))
        for words in ("node-0 (10.77.0.1): a dead node", "node-1 (10.77.0.2): of its memory 100 MB of 64000 are free: too little",
                      "node-2 (10.77.0.3): its results came damaged"):
            check(words, words in done.stderr, done.stderr)
        check("the fourth is there", len(json.loads(done.stdout)["traces"]) == 1, done.stdout[:300])
        nothing_left("unable nodes", cluster)


def one_by_one(folder):
    """Traces that do not fit into memory together, and fit one after the other."""
    if b"__asan" in pathlib.Path(scenario.TACHO).read_bytes():
        raise scenario.Skipped("a sanitizer needs all addresses")
    small = pathlib.Path(folder) / "small"
    small.write_text(f'#!/bin/sh\ncase "$*" in *"--threads 1 "*) ;; "analyze "*) ulimit -v 110000;; esac\nexec {scenario.TACHO} "$@"\n')
    small.chmod(0o755)
    with FakeRay(folder, small, nodes=1) as cluster:
        done = scenario.run("simulate", "trace", "-o", cluster.nodes[0].home / "disk/profile", "--steps", "400", "--ranks", "2")
        assert done.returncode == 0, done.stderr
        done = analyze(cluster, "--json", "/on-node/profile")
        check("all are read", done.returncode == 0 and len(json.loads(done.stdout)["traces"]) == 2, (done.returncode, done.stderr))
        done = analyze(cluster, "--json", "/on-node/profile", "--threads", "2")
        check("also with a number of threads", done.returncode == 0 and len(json.loads(done.stdout)["traces"]) == 2, (done.returncode, done.stderr))
        nothing_left("one by one", cluster)


def unreadable(folder):
    with FakeRay(folder, scenario.TACHO, nodes=2) as cluster:
        two_engines(cluster)
        (cluster.nodes[0].home / "disk/profile/rank1.1.pt.trace.json").write_text("")
        done = analyze(cluster, "--json", "/on-node/profile")
        check("a damaged file of a node", done.returncode == 4 and re.search(r"node-0:/\S+rank1.1.pt.trace.json: is empty", done.stderr), (done.returncode, done.stderr))
        done = analyze(cluster, "/on-node/none")
        check("nowhere", done.returncode == 3 and "on every node: /" in done.stderr and "none" in done.stderr, (done.returncode, done.stderr))
        done = analyze(cluster, "--json", "/on-node/profile", "/on-node/none")
        check("one of two paths is nowhere", done.returncode == 4 and "on every node: /" in done.stderr, (done.returncode, done.stderr))
        (cluster.nodes[1].home / "disk/words.txt").write_text("words")
        done = analyze(cluster, "/on-node/words.txt")
        check("no trace", done.returncode == 3 and "node-1" in done.stderr and "words.txt" in done.stderr, (done.returncode, done.stderr))
        early = cluster.nodes[1].home / "disk/early"
        early.mkdir()
        done = analyze(cluster, "/on-node/early")
        check("nothing written yet", done.returncode == 3 and re.search(r"on node-1: /\S+early: no trace found: name", done.stderr), (done.returncode, done.stderr))
        (early / "rank0.pt.trace.json.gz").write_text("")
        traces(cluster.nodes[0].home / "disk/early", 1)
        done = analyze(cluster, "--json", "/on-node/early")
        check("a node with nothing but damaged files", done.returncode == 4 and re.search(r"incomplete: node-1 .* /\S+early: no trace found: .*rank0.pt.trace.json.gz: is empty", done.stderr),
              (done.returncode, done.stderr))
        bad = pathlib.Path(folder) / "bad"
        bad.mkdir()
        (bad / "rank0.pt.trace.json.gz").write_text("")
        done = analyze(cluster, "--json", bad, "/on-node/early")
        check("a disk of all with nothing but damaged files", done.returncode == 4 and done.stderr.count(f"{bad}: no trace found") == 1 and f"on every node: {bad}: no trace" in done.stderr, done.stderr)
        done = analyze(cluster, *[f"/on-node/{i:01000}" for i in range(100)])
        check("too many paths", done.returncode == 2 and "the paths are longer than a job of Ray can be: name their folders" in done.stderr, (done.returncode, done.stderr))
        nothing_left("unreadable", cluster)


def tokens(folder):
    with FakeRay(folder, scenario.TACHO, nodes=1, token="s3cret-token-of-ours") as cluster:
        traces(cluster.nodes[0].home / "disk/profile", 1, ranks=1)
        done = analyze(cluster, "/on-node/profile")
        check("none", done.returncode == 6 and "wants a token: set RAY_AUTH_TOKEN" in done.stderr, (done.returncode, done.stderr))
        done = analyze(cluster, "/on-node/profile", environment={"RAY_AUTH_TOKEN": "another-token"})
        check("a wrong one", done.returncode == 6 and "refuses the token" in done.stderr and "another-token" not in done.stderr, (done.returncode, done.stderr))
        done = analyze(cluster, "/on-node/profile", environment={"RAY_AUTH_TOKEN": cluster.token})
        check("by variable", done.returncode == 0, (done.returncode, done.stderr))
        (cluster.folder / ".ray").mkdir()
        (cluster.folder / ".ray/auth_token").write_text(cluster.token + "\n")
        done = analyze(cluster, "--json", "/on-node/profile")
        check("by file", done.returncode == 0, (done.returncode, done.stderr))
        logs = "".join(p.read_text(errors="replace") for p in cluster.folder.rglob("*.log"))
        check("never shown", cluster.token not in done.stdout + done.stderr + logs + " ".join(cluster.asked))
        nothing_left("tokens", cluster)
    with FakeRay(pathlib.Path(folder) / "open", scenario.TACHO, nodes=1) as cluster:
        traces(cluster.nodes[0].home / "disk/profile", 1, ranks=1)
        done = analyze(cluster, "/on-node/profile", environment={"RAY_AUTH_TOKEN": "not-for-everybody"})
        check("a cluster that wants no token gets none", done.returncode == 0 and cluster.keys == {None}, (done.stderr, cluster.keys))


def no_ray(folder):
    begin = time.monotonic()
    with FakeRay(folder, scenario.TACHO, nodes=1) as cluster:
        done = analyze(cluster, "/x", address="http://127.0.0.1:1")
        check("nobody listens", done.returncode == 6 and "no dashboard of Ray answers" in done.stderr and "--dashboard-host" in done.stderr, (done.returncode, done.stderr))
        done = analyze(cluster, "/x", address=cluster.url + "/elsewhere")
        check("another server", done.returncode == 6 and "HTTP 404" in done.stderr, (done.returncode, done.stderr))
        check("at once", time.monotonic() - begin < 5, time.monotonic() - begin)
        with socket.create_server(("127.0.0.1", 0)) as silent:
            begin = time.monotonic()
            done = analyze(cluster, "/x", address=f"http://127.0.0.1:{silent.getsockname()[1]}")
            check("a host that swallows what comes", done.returncode == 6 and "no dashboard of Ray answers" in done.stderr, (done.returncode, done.stderr))
            check("within some 5 s", time.monotonic() - begin < 8, time.monotonic() - begin)  # of a busy machine
        done = analyze(cluster, "relative/trace.json")
        check("a relative path", done.returncode == 2 and "relative/trace.json is relative" in done.stderr and "from / on" in done.stderr, (done.returncode, done.stderr))
        for more in (["--summary"], ["--rules", "x"], ["--model-config", "x"], ["--stacks-from", "x"]):
            done = analyze(cluster, "/x", *more)
            check(f"{more[0]}", done.returncode == 2 and f"--ray and {more[0]} do not go together" in done.stderr, (done.returncode, done.stderr))
        done = analyze(cluster, "/x", address="ray://127.0.0.1:10001")
        check("ray://", done.returncode == 2 and "dashboard: http://HEAD:8265" in done.stderr, (done.returncode, done.stderr))
        check("nothing was asked", not any("POST" in asked for asked in cluster.asked), cluster.asked)
        done = scenario.run("analyze", "/x", "--ray-program", "x")
        check("--ray-program alone", done.returncode == 2, done.stderr)


def without_dashboard(folder):
    """A python3 that stands for the driver: it names the port of a fake cluster."""
    with FakeRay(folder, scenario.TACHO, nodes=2) as cluster:
        two_engines(cluster)
        python = pathlib.Path(folder) / "bin/python3"
        python.parent.mkdir()

        def with_python(script, *arguments, address="127.0.0.9:6379"):
            python.write_text(f"#!/bin/sh\n{script}\n")
            python.chmod(0o755)
            return analyze(cluster, *arguments, address=address, environment={"PATH": f"{python.parent}:{os.environ['PATH']}"})

        done = with_python(f'echo "$$ $2 $([ -x "$3/tacho" ] && [ -n "$TACHO_DRIVER_KEY" ] && echo ready)" >{folder}/started; echo {cluster.url.split(":")[-1]}; exec sleep 600',
                           "--json", "--session", "all", "/on-node/profile")
        check("the driver does what the dashboard does", done.returncode == 0 and len(json.loads(done.stdout)["traces"]) == 4, (done.returncode, done.stderr))
        pid, address, ready = (pathlib.Path(folder) / "started").read_text().split()
        check("it knows the cluster, the program and a key", (address, ready) == ("127.0.0.9:6379", "ready"))
        check("it has ended", not pathlib.Path(f"/proc/{pid}").exists())
        nothing_left("a driver", cluster)
        done = with_python("echo \"ModuleNotFoundError: No module named 'ray'\" >&2; exit 1", "/on-node/profile")
        check("no driver either", done.returncode == 6 and "no dashboard of Ray answers" in done.stderr and "nor does a driver" in done.stderr and "No module named 'ray'" in done.stderr, (done.returncode, done.stderr))
        done = with_python("echo 1", "/on-node/profile", address="http://127.0.0.9:8265")
        check("only at the address of drivers", done.returncode == 6 and "driver" not in done.stderr, (done.returncode, done.stderr))


RAY = """
import types
__version__, exceptions = "2.60.0", types.SimpleNamespace(RayError=OSError)
remote = lambda **_: lambda of: of
init = lambda *_, **__: None
nodes = lambda: []
"""


def key_of_the_driver(folder):
    """The driver, with a module in place of Ray: who does not know its key gets nothing, and it reads nothing of it."""
    stub = pathlib.Path(folder) / "ray"
    (stub / "util").mkdir(parents=True)
    (stub / "__init__.py").write_text(RAY)
    (stub / "util/__init__.py").write_text("")
    (stub / "util/scheduling_strategies.py").write_text("NodeAffinitySchedulingStrategy = None\n")
    driver = [sys.executable, str(ROOT / "src/ray/driver.py"), "auto", str(folder)]
    environment = {**os.environ, "PYTHONPATH": str(folder), "TACHO_DRIVER_KEY": "k3y"}
    with processes.running(driver, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment) as process:
        port = int(process.stdout.readline())
        for key, length, want in ((None, 0, 403), ("Bearer ", 0, 403), ("Bearer k3z", 1 << 40, 403), ("Bearer k3y", 1 << 40, 403), ("Bearer k3y", 0, 200)):
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
            connection.putrequest("GET", "/api/version")
            connection.putheader("Content-Length", str(length))
            if key is not None:
                connection.putheader("Authorization", key)
            connection.endheaders()
            answer = connection.getresponse()
            check(f"{key}, {length} bytes", answer.status == want, (answer.status, answer.read()))
            connection.close()
    done = subprocess.run(driver, capture_output=True, text=True, env={**environment, "TACHO_DRIVER_KEY": ""}, timeout=20)
    check("without a key it does not start", done.returncode != 0, done.stdout)


def interrupted(folder):
    """Ctrl-C while a node works: its job ends, and all is removed."""
    slow = pathlib.Path(folder) / "slow"
    slow.write_text(f"#!/bin/sh\n[ \"$1\" != analyze ] || sleep 60\nexec {scenario.TACHO} \"$@\"\n")
    slow.chmod(0o755)
    with FakeRay(folder, slow, nodes=2) as cluster:
        two_engines(cluster)
        with processes.running([scenario.TACHO, "analyze", "--ray", cluster.url, "--ray-program", static_program(folder), "/on-node/profile"],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            check("it analyses", scenario.wait_for(lambda: any("-analyze-" in a and a.startswith("GET") for a in cluster.asked)))
            jobs = [job["process"] for name, job in cluster.jobs.items() if "-analyze-" in name]
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=60)
        check("interrupted: status 130", process.returncode == 130 and out == "" and "ending the jobs on the cluster" in err, (process.returncode, err))
        check("its programs ended", jobs and all(job.poll() is not None for job in jobs), jobs)
        nothing_left("interrupted", cluster)


def address_of_rays_tools(folder):
    with FakeRay(folder, scenario.TACHO, nodes=1) as cluster:
        traces(cluster.nodes[0].home / "disk/profile", 1, ranks=1)
        done = analyze(cluster, "/on-node/profile", address="auto", environment={"RAY_API_SERVER_ADDRESS": cluster.url, "RAY_ADDRESS": "127.0.0.1:1"})
        check("RAY_API_SERVER_ADDRESS", done.returncode == 0, done.stderr)
        done = analyze(cluster, "/on-node/profile", address="auto", environment={"RAY_ADDRESS": cluster.url})
        check("RAY_ADDRESS", done.returncode == 0, done.stderr)
        odd = cluster.nodes[0].home / "disk/it's a $(name)"
        shutil.move(cluster.nodes[0].home / "disk/profile", odd)
        done = analyze(cluster, "--json", "/on-node/it's a $(name)")
        check("a name that a shell would take apart", done.returncode == 0 and "it's a $(name)" in json.loads(done.stdout)["traces"][0]["path"], done.stderr)


if __name__ == "__main__":
    main([same_as_one_machine, other_commands, shared_disk, own_disks, unsure_starts, not_removed, lost_nodes, unable_nodes, one_by_one, unreadable, tokens, no_ray, without_dashboard, key_of_the_driver, interrupted, address_of_rays_tools], __doc__)
