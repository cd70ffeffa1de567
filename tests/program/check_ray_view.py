#!/usr/bin/env python3
"""`tacho view --ray` against a dashboard of Ray whose nodes are folders of this host (fake_ray.py): the traces of chosen ranks are fetched
and shown; too many, no room, lost nodes, Ctrl-C; nothing is left.

usage: check_ray_view.py TACHO [--only NAME ...]
"""
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import subprocess

import check_view
import processes
import scenario
from check_ray import nothing_left, on_cluster, static_program, traces, two_engines
from fake_ray import FakeRay
from scenario import check, main


def view(cluster, *arguments):
    """A `tacho view --ray` that serves; what it fetches goes below `cluster.folder`/tmp."""
    (cluster.folder / "tmp").mkdir(exist_ok=True)
    return check_view.view("--ray", cluster.url, "--ray-program", static_program(cluster.folder), *arguments,
                           HOME=str(cluster.folder), TMPDIR=str(cluster.folder / "tmp"))


def no_view(cluster, *arguments):
    """A `tacho view --ray` that ends by itself."""
    (cluster.folder / "tmp").mkdir(exist_ok=True)
    return on_cluster(cluster, "view", "--no-open", "--port", "0", *arguments, environment={"TMPDIR": str(cluster.folder / "tmp")})


def nothing_kept(what, cluster):
    check(f"{what}: the folder is gone", list((cluster.folder / "tmp").iterdir()) == [], list((cluster.folder / "tmp").iterdir()))
    nothing_left(what, cluster)


def program_with(folder, name, script):
    """The program of the nodes, with `script` in front of it."""
    path = pathlib.Path(folder) / name
    path.write_text(f'#!/bin/sh\ntacho={scenario.TACHO}\n{script}\nexec $tacho "$@"\n')
    path.chmod(0o755)
    return path


MARK = json.dumps({"marks": [{"from_ns": 1, "to_ns": 2, "note": "here"}]}).encode()


def viewed(folder):
    """Traces of the chosen ranks are fetched and shown. They stay only where --fetch-to says so."""
    with FakeRay(folder, scenario.TACHO, nodes=3) as cluster:
        places, every = two_engines(cluster), ["/on-node/profile", "--session", "all"]
        there = [place / f"rank1.{i}.pt.trace.json" for i, place in zip((2, 3), places)]
        size = sum(path.stat().st_size for path in there)
        with view(cluster, *every, "--rank", "1", "--step", "2") as page:
            meta = page.wait_until_done()
            shown = [pathlib.Path(rank["path"]) for rank in meta["ranks"]]
            check("rank 1 of each engine", [rank["state"] for rank in meta["ranks"]] == ["read"] * 2
                  and [str(path).split(f"/node-{i}/", 1)[1] for i, path in zip((1, 2), shown)] == [str(path)[1:] for path in there], shown)
            check("their bytes", [path.read_bytes() for path in shown] == [path.read_bytes() for path in there])
            check("their tracks", all(any(row["kind"] == "stream" and row["slices"] > 100 for row in rank["rows"]) for rank in meta["ranks"]), meta["ranks"])
            check("it begins where it was told to", meta["start"]["to_ns"] > meta["start"]["from_ns"], meta.get("start"))
            here = [t["kernels"] for t in json.loads(scenario.run("analyze", "--json", *there).stdout)["traces"]]
            check("their figures", [t["kernels"] for t in page.json("analysis")["traces"]] == here)
            check("a command that can be typed", f"tacho analyze /on-node/profile --rank 1 --session all --ray {cluster.url}" in str(page.json("summary")["next"]), page.json("summary")["next"])
            own = f"http://127.0.0.1:{page.port}"
            check("no place for marks", page.ask("/api/v1/marks", "PUT", MARK, Origin=own)[0] == 400)
            (made,) = (cluster.folder / "tmp").iterdir()
            nothing_left("while it serves", cluster)
            status, said = page.end()
        check("status 0", status == 0, (status, said))
        check("it says what comes where", f"fetching 2 traces of {size / 1e6:.2f} MB into {made}, which is removed at the end" in said, said)
        check("a node without traces is named", "no trace of /on-node/profile on node-0" in said, said)
        nothing_kept("viewed", cluster)
        starts = [asked for asked in cluster.asked if asked.startswith("GET /nodes")]
        check("the cluster is asked once", len(starts) == 1, starts)

        with view(cluster, *every) as page:
            check("all ranks, as they are few", len(page.wait_until_done()["ranks"]) == 4)
            page.process.send_signal(signal.SIGTERM)
            check("SIGTERM: status 0", page.process.wait(60) == 0)
        nothing_kept("SIGTERM", cluster)

        to = cluster.folder / "to"
        with view(cluster, *every, "--rank", "0", "--fetch-to", to) as page:
            page.wait_until_done()
            own = f"http://127.0.0.1:{page.port}"
            check("marks lie in the folder", page.ask("/api/v1/marks", "PUT", MARK, Origin=own)[0] == 200 and json.loads((to / "tacho-marks.json").read_text()) == json.loads(MARK))
            page.end()
        with view(cluster, *every, "--fetch-to", to) as page:
            check("both kinds of ranks", len(page.wait_until_done()["ranks"]) == 4)
            check("the marks are there", page.json("marks") == json.loads(MARK))
            status, said = page.end()
        check("what was there is not fetched again", status == 0 and re.search(rf"fetching 4 traces of 5\.\d+ MB into {to}; 2\.\d+ MB are there already", said), (status, said))
        check("they stay", len(list(to.rglob("*.pt.trace.json"))) == 4, list(to.rglob("*")))
        nothing_kept("--fetch-to", cluster)


def not_viewed(folder):
    """Too many bytes, no room, no such rank, options that do not fit, a taken port."""
    # Nodes whose traces have as many bytes as the file `size` says.
    large = program_with(folder, "large", f"""[ "$1" = analyze ] || exec $tacho "$@"
$tacho "$@" >$PWD/plain; s=$?; sed -E 's/^( *"bytes": )[0-9]+,$/\\1'$(cat {folder}/size),/ $PWD/plain; exit $s""")
    with FakeRay(folder, large, nodes=2) as cluster:
        two_engines(cluster)
        every = ["/on-node/profile", "--session", "all"]
        for size, words, status, why in (
                (2_000_000_000, [], 2, "4 traces of 8.00 GB would be fetched, and without --rank at most 4.00 GB are: choose ranks with --rank (rank 0: 4.00 GB, rank 1: 4.00 GB), "
                                       "or fetch all with tacho analyze --fetch all"),
                (1 << 50, ["--rank", "1"], 3, f"2 traces of {2 * (1 << 50) / 1e12:,.0f} TB would be fetched into "),
                (1 << 50, ["--rank", "1", "--fetch-to", f"{folder}/to"], 3, f"would be fetched into {folder}/to, whose disk has "),
                (1000, ["--rank", "7"], 2, "--rank: no trace says that it is rank 7; the ranks are: 0, 1")):
            (pathlib.Path(folder) / "size").write_text(str(size))
            done = no_view(cluster, *every, *words)
            check(f"{size} {words}", done.returncode == status and why in done.stderr and "fetching" not in done.stderr and done.stdout == "", (done.returncode, done.stderr))
            nothing_kept(why, cluster)
        check("no file was offered", not any("-fetch-" in asked for asked in cluster.asked) and not (cluster.folder / "to").exists())
        done = no_view(cluster, *every)
        check("traces that grew", done.returncode == 6 and "rank1.2.pt.trace.json grew from 1000 to " in done.stderr, (done.returncode, done.stderr))
        nothing_kept("traces that grew", cluster)
        (pathlib.Path(folder) / "size").write_text("2000000")
        with socket.create_server(("127.0.0.1", 0)) as taken:
            done = no_view(cluster, *every, "--port", str(taken.getsockname()[1]))
            check("a taken port", done.returncode == 3 and "fetching 4 traces of 8.00 MB" in done.stderr, (done.returncode, done.stderr))
            nothing_kept("a taken port", cluster)
        asked = len(cluster.asked)
        done = no_view(cluster, "relative.json")
        check("a relative path", done.returncode == 2 and "relative.json is relative" in done.stderr, (done.returncode, done.stderr))
        done = no_view(cluster, "/on-node/x/../profile")
        check("a path with ..", done.returncode == 2 and "has . or .. in it" in done.stderr, (done.returncode, done.stderr))
        for words, why in ((["--fetch-to", "x"], "--fetch-to needs --ray"), (["--ray-program", "x"], "--ray-program needs --ray")):
            status, said = check_view.run("x", *words)
            check(why, status == 2 and why in said, (status, said))
        check("nothing was asked for these", len(cluster.asked) == asked, cluster.asked[asked:])
        shutil.make_archive(str(cluster.nodes[0].home / "disk/packed"), "gztar", cluster.nodes[1].home / "disk/profile")
        done = no_view(cluster, "/on-node/packed.tar.gz", "--rank", "0")
        check("an archive", done.returncode == 2 and "a trace in an archive is not fetched: unpack it on its node" in done.stderr, (done.returncode, done.stderr))


def partly_viewed(folder):
    """A lost node, a damaged trace, a cut transfer: the rest is shown, and all are said."""
    with FakeRay(folder, scenario.TACHO, nodes=3, faults={2: {"lost": "analyze"}}) as cluster:
        places = two_engines(cluster)
        traces(cluster.nodes[0].home / "disk/profile", 1)
        (places[0] / "rank1.2.pt.trace.json").write_text("")
        traces(cluster.folder / "packed", 9, ranks=1)
        shutil.make_archive(str(places[0] / "packed"), "gztar", cluster.folder / "packed")
        cluster.nodes[0].faults = {"cut_after": 1000}
        with view(cluster, "/on-node/profile", "--session", "all") as page:
            meta = page.wait_until_done()
            check("the rest is shown", [rank["state"] for rank in meta["ranks"]] == ["read"] * 2, meta["ranks"])
            failed = page.json("analysis")["failed"]
            check("the results say it", len(failed) == 4, failed)
            status, said = page.end()
        check("status 4", status == 4, (status, said))
        for why in (r"incomplete: node-2 \(10\.77\.0\.3\): Ray lost the job", r"incomplete: node-1:/\S+rank1.2.pt.trace.json: is empty",
                    r"incomplete: not fetched: node-0 \(10\.77\.0\.1\): of \S+ came 1000 of \d+ bytes",
                    r"incomplete: \S*packed.tar.gz:\S+: a trace in an archive is not fetched"):
            check(why, re.search(why, said), said)
        check("the folder is gone", list((cluster.folder / "tmp").iterdir()) == [])
    with FakeRay(pathlib.Path(folder) / "one", scenario.TACHO, nodes=2) as cluster:
        traces(cluster.nodes[1].home / "disk/profile", 1)
        (cluster.nodes[1].home / "disk/profile/rank1.1.pt.trace.json").unlink()
        with view(cluster, "/on-node/profile") as page:
            page.wait_until_done()
            status, said = page.end()
        check("one rank of two: status 4", status == 4 and "rank 1 of world size 2 is missing" in said, (status, said))
        cluster.nodes[1].faults = {"cut_after": 1000}
        done = no_view(cluster, "/on-node/profile")
        check("nothing came: status 6", done.returncode == 6 and "not fetched: node-1" in done.stderr and done.stdout == "", (done.returncode, done.stderr))
        nothing_kept("nothing came", cluster)


def view_interrupted(folder):
    """Ctrl-C while traces are fetched, and while they are read."""
    slow = program_with(folder, "slow", f'[ "$2" != sums ] || [ -e {folder}/fast ] || sleep 60')
    with FakeRay(folder, slow, nodes=2) as cluster:
        two_engines(cluster)
        (cluster.folder / "tmp").mkdir()
        with processes.running([scenario.TACHO, "view", "--ray", cluster.url, "--ray-program", static_program(folder), "/on-node/profile", "--session", "all"],
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env={**os.environ, "TMPDIR": str(cluster.folder / "tmp")}) as process:
            check("it fetches", scenario.wait_for(lambda: sum("-fetch-" in name for name in cluster.jobs) == 2))
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=60)
        check("fetching: status 130", process.returncode == 130 and out == "" and "removing what was fetched" in err, (process.returncode, err))
        nothing_kept("fetching", cluster)

        (pathlib.Path(folder) / "fast").touch()
        for node in cluster.nodes:
            shutil.rmtree(node.home / "disk/profile")
        done = scenario.run("simulate", "trace", "-o", cluster.nodes[0].home / "disk/profile", "--steps", "1500", "--ranks", "2", "--model-size", "8b")
        check("large traces", done.returncode == 0, done.stderr)
        with view(cluster, "/on-node/profile") as page:
            status, said = page.end()
        check("reading", status in (0, 130), (status, said))
        nothing_kept("reading", cluster)


main([viewed, not_viewed, partly_viewed, view_interrupted], __doc__)
