#!/usr/bin/env python3
"""Which traces `tacho analyze` takes for one run: sessions in a folder, recordings, slices of one recording.

usage: check_runs.py TACHO [--only NAME ...]
"""
import json
import os
import pathlib
import shutil

from analyze_run import expect, kernel, run, write_trace
from scenario import check, main

HOUR_US = 3_600_000_000


def one_line(text):
    return b" ".join(text.split())


def ranks_of(done):
    return json.loads(done.stdout).get("ranks", {"table": [], "warnings": [], "missing": []})


def sessions(folder):
    """A folder of two sessions: the latest is analysed, and the others are named."""
    root = pathlib.Path(folder) / "profile"
    for session, start in (("warm", 0), ("hot", HOUR_US)):
        for rank in (0, 1):
            write_trace(root / f"{session}_rank{rank}.json", [kernel(start, 100), kernel(start + 100 + 100 * rank, 100)],
                        distributedInfo={"rank": rank, "world_size": 2}, baseTimeNanoseconds=0)
    paths = lambda done: [pathlib.Path(t["path"]).name for t in json.loads(done.stdout)["traces"]]
    warm, hot = ([f"{session}_rank{rank}.json" for rank in (0, 1)] for session in ("warm", "hot"))
    done = run("--json", root)
    check("the latest", (paths(done), done.returncode) == (hot, 0), done.stdout)
    left = json.loads(done.stdout)["skipped"]
    check("and what is left out", len(left) == 1 and "2 traces of 1 other session (warm_rank0)" in left[0], left)
    check("on the screen too", b"2 traces of 1 other session" in one_line(run(root).stdout))
    check("one that is named", paths(run("--json", "--session", "warm", root)) == warm)
    check("all", sorted(paths(run("--json", "--session", "all", root))) == sorted(warm + hot))
    named = run("--json", *(root / name for name in warm + hot))
    check("files that are named are all wanted", sorted(paths(named)) == sorted(warm + hot))
    check("and not compared across sessions", any("2 recordings" in w for w in ranks_of(named)["warnings"]), named.stdout)
    expect("a session that is not there", run("--session", "cold", root), 2, "--session cold", "warm_rank0", "hot_rank0")
    expect("with --summary", run("--session", "all", "--summary", root), 2, "--session")
    outputs = [run("--json", "--threads", threads, root).stdout for threads in ("1", "4")]
    check("the same bytes whatever the threads", outputs[0] == outputs[1])
    os.remove(root / "hot_rank1.json")
    expect("--rank takes a rank of the latest", run("--rank", "1", root), 2, "--rank: no trace says that it is rank 1; the ranks are: 0")
    check("or of the session that is named", paths(run("--json", "--rank", "1", "--session", "warm", root)) == warm[1:])
    expect("the latest lacks a rank, which an earlier one has", run(root), 4, "rank 1 of world size 2 is missing")
    named = pathlib.Path(folder) / "named"
    for session, path in (("20261121-080000", warm), ("20261121-090000", hot[:1])):
        shutil.copytree(root, named / f"tacho-{session}", ignore=lambda _, names: set(names) - set(path))
    with open(named / "tacho-20261121-080000" / warm[0], "ab") as cut:
        cut.truncate(cut.tell() - 3)
    latest = run("--rank", "0", named)
    expect("names tell the sessions: damage in another one is not read", latest, 0)
    check("and it is left out", b"2 traces of 1 other session (tacho-20261121-080000)" in one_line(latest.stdout), latest.stdout)
    expect("damage in the one that is named is", run("--rank", "0", "--session", "-080000", named), 4, "truncated-json")


def recordings(folder):
    """Ranks of two recordings are not blamed for each other."""
    root = pathlib.Path(folder)
    for name, far in (("beside", 0), ("apart", HOUR_US)):
        for rank in (0, 1):
            write_trace(root / name / f"rank{rank}.json", [kernel(rank * far, 100 + 100 * rank), kernel(1000 + rank * far, 1)],
                        distributedInfo={"rank": rank, "world_size": 2})
    check("at one time", b"rank 1 computes longest" in one_line(run(root / "beside").stdout))
    apart = run("--session", "all", root / "apart")
    check("an hour apart, without a base time: no blame", b"computes longest" not in apart.stdout, apart.stdout)
    check("and a warning", b"of 2 recordings" in one_line(apart.stdout), apart.stdout)
    for rank, name in enumerate(("NVIDIA H100", "NVIDIA B200")):
        write_trace(root / "gpus" / f"rank{rank}.json", [kernel(0, 100 + 100 * rank), kernel(1000, 1)],
                    distributedInfo={"rank": rank, "world_size": 2}, deviceProperties=[{"id": 0, "name": name}])
    gpus = one_line(run(root / "gpus").stdout)
    check("different GPUs: no blame", b"computes longest" not in gpus, gpus)
    check("and a warning", b"different GPUs (NVIDIA B200; NVIDIA H100)" in gpus, gpus)


def slices(folder):
    """Prefill and decode cut out of one recording are one rank, whose time counts once."""
    root = pathlib.Path(folder) / "cut"
    common = {"distributedInfo": {"rank": 0, "world_size": 1}, "trace_id": "C3AB", "baseTimeNanoseconds": 0}
    # Busy 400 of 800 us, and 200 of 500 us from 400 us on: 550 of 900, as both are busy for the same 50.
    write_trace(root / "prefill.json", [kernel(0, 300), kernel(700, 100)], **common)
    write_trace(root / "decode.json", [kernel(400, 50), kernel(750, 150)], **common)
    done = run(root)
    check("the union", b"GPUs busy 61.1 % of the window over 2 traces" in one_line(done.stdout), done.stdout)
    check("no replicas", b"replicas" not in done.stdout, done.stdout)
    check("where the time goes adds up to it", b"window of 900 us" in one_line(done.stdout), done.stdout)
    table = ranks_of(run("--json", root))["table"]
    check("the rows are files", sorted(r["window_ns"] for r in table) == [500_000, 800_000], table)
    later = pathlib.Path(folder) / "later"
    shutil.copytree(root, later)
    write_trace(later / "decode.json", [kernel(1000, 50), kernel(1150, 50)], **common)
    check("slices that do not overlap add up", b"GPUs busy 50.0 %" in run(later).stdout, run(later).stdout)
    for rank in (1, 2):
        write_trace(root / f"rank{rank}.json", [kernel(0, 90), kernel(90, 10)], distributedInfo={"rank": rank, "world_size": 1}, baseTimeNanoseconds=0)
    check("ranks that are left out take their slices along",
          b"GPUs busy 100.0 %" in run("--rank", "1,2", root).stdout, run("--rank", "1,2", root).stdout)


def copies(folder):
    """A copy of a rank's trace, under another name or in another folder, is no rank of its own."""
    root = pathlib.Path(folder) / "run"
    common = {"trace_id": "C3AB", "baseTimeNanoseconds": 0}
    for rank in (0, 1):
        write_trace(root / f"rank{rank}.json", [kernel(0, 100 + rank), kernel(900, 100)], distributedInfo={"rank": rank, "world_size": 2}, **common)
    alone = run("--json", root)
    (root / "before").mkdir()
    shutil.copy(root / "rank1.json", root / "before" / "rank1.json")
    shutil.copy(root / "rank1.json", root / "the same.json")
    both = run("--json", root)
    figures = lambda done: ({t["rank"]: t["devices"] for t in json.loads(done.stdout)["traces"]}, json.loads(done.stdout)["verdict"])
    check("the figures of the run alone", figures(both) == figures(alone), both.stdout)
    skipped = [f"{root}/{name}: a copy of {root}/before/rank1.json" for name in ("rank1.json", "the same.json")]
    check("the copies are named", (json.loads(both.stdout)["skipped"], both.returncode) == (skipped, 0), both.stdout)
    check("on the screen too", b"a copy of" in one_line(run(root).stdout))
    for name in ("rank0.json", "rank1.json"):
        os.remove(root / name)
    expect("the rank is still missing", run(root), 4, "rank 0 of world size 2 is missing")


main([sessions, recordings, slices, copies], __doc__)
