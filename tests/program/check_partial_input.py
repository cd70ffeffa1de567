#!/usr/bin/env python3
"""`tacho analyze` with incomplete runs and traces.

usage: check_partial_input.py TACHO [--only NAME ...]
"""
import json
import os
import pathlib
import socket

from analyze_run import RECORDING, expect, kernel, only_trace, run, write, write_trace
from scenario import check, main, run as tacho


def folders(folder):
    """Incomplete runs."""
    root = pathlib.Path(folder)
    one = root / "one"
    write_trace(one / "a.json", [kernel(0, 100)], distributedInfo={"rank": 0, "world_size": 8})
    for form in ([], ["--markdown"], ["--all-ranks", "--profile-dir"]):
        done = run(*form, one)
        expect(f"one of eight {form}", done, 4, "rank 1-7 (7 in all) of world size 8")
        check(f"one of eight {form}: the document says so", b"missing: rank 1-7 (7 in all)" in done.stdout, done.stdout)
    expect("one of eight, totals alone", run("--summary", one), 4, "rank 1-7 (7 in all) of world size 8")
    for words in (("analyze", "--summary"), ("stats",)):
        missing = json.loads(tacho(*words, "--json", str(one)).stdout)["incomplete"]
        check(f"one of eight: {words[0]}'s JSON says so", missing == ["incomplete: rank 1-7 (7 in all) of world size 8 are missing"], missing)
    done = tacho("stats", str(one))
    check("one of eight, as nsys stats", done.returncode == 4 and "rank 1-7 (7 in all) of world size 8" in done.stderr, done)
    expect("one of eight: a rank that is not there", run("--rank", "5", one), 2, "--rank: no trace says that it is rank 5; the ranks are: 0")
    ranks = json.loads(run("--json", one).stdout)["ranks"]
    check("one of eight: JSON", (ranks["missing"], ranks["missing_count"]) == ([*range(1, 8)], 7), ranks)
    expect("a file on its own", run(one / "a.json"), 0)

    replicas = root / "replicas"
    for worker in ("w0", "w1"):
        (replicas / "traces" / worker).mkdir(parents=True)
    for worker, rank in (("w0", 0), ("w0", 1), ("w1", 0)):
        write_trace(replicas / "traces" / worker / f"{rank}.json", [kernel(0, 100)], distributedInfo={"rank": rank, "world_size": 2})
    expect("a rank of one replica", run(replicas), 4, "incomplete: w1 rank 1 of world size 2 is missing")
    ranks = json.loads(run("--json", replicas).stdout)["ranks"]
    lacks = [{"worker": "w1", "world_size": 2, "engines": 1, "ranks": [1], "count": 1}]
    check("a rank of one replica: JSON", (ranks["missing"], ranks["missing_in"], ranks["in_all"]) == ([1], lacks, 4), ranks)

    for size in (1_000_000, 9_000_000_000_000):
        huge = root / f"world{size}"
        for rank in (0, 1):
            write_trace(huge / f"{rank}.json", [kernel(0, 100)], distributedInfo={"rank": rank, "world_size": size})
        for form in ([], ["--json"], ["--markdown"], ["--profile-dir"]):
            done = run(*form, huge)
            check(f"world of {size} {form}: small", len(done.stdout) + len(done.stderr) < 50_000, len(done.stdout))
        check(f"world of {size}: counted", json.loads(run("--json", huge).stdout)["ranks"]["missing_count"] == size - 2)

    # Stages of a rank are one rank; the median is by nearest rank.
    stage = root / "stage"
    for rank in (0, 1):
        for name, phase, length in (("EXTEND", "step[EXTEND bs=1 toks=5]", 1000 + 100 * rank), ("DECODE", "step[DECODE bs=1]", 10)):
            step = {"ph": "X", "cat": "user_annotation", "name": phase, "pid": 1, "tid": 1, "ts": 0, "dur": 10}
            write_trace(stage / f"x-TP-{rank}-{name}.trace.json", [kernel(0, length), step],
                        distributedInfo={"rank": rank, "world_size": 2})
    done = run(stage)
    check("stages: ranks are compared", b"TP1 computes longest: 1.11 ms, 9.9 % more" in done.stdout.replace(b"\n          ", b" "),
          done.stdout)
    check("stages: two devices", b"over 2 devices" in done.stdout, done.stdout)
    med = root / "med"
    for rank, length in enumerate((100, 50, 10)):
        write_trace(med / f"{rank}.json", [kernel(0, length)], distributedInfo={"rank": rank, "world_size": 3})
    check("median of two: the smaller", b"900.0 % more" in run(med).stdout.replace(b"\n          ", b" "), run(med).stdout)

    # Other files in a folder, and an empty trace.
    beside = root / "beside"
    write_trace(beside / "rank0.json", [kernel(0, 100)])
    os.mkfifo(beside / "fifo")
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(os.path.relpath(beside / "socket"))
    (beside / "null").symlink_to("/dev/null")
    done = run(beside)
    expect("socket, FIFO and device beside a trace", done, 0)
    check("and silently", not done.stderr and b"skipped" not in done.stdout, done.stderr)
    listener.close()
    write(beside / "rank1.json", "")
    done = run(beside)
    expect("an empty trace beside a good one", done, 4, "rank1.json: is empty (0 bytes)")
    check("the good one is analysed", b"GPU busy" in done.stdout, done.stdout)
    write(beside / "r.nsys-rep", b"NVIDIA Tegra Profiler Report")
    (beside / "rank1.json").unlink()
    done = run(beside)
    check("what is passed over is told once", not done.stderr and done.stdout.count(b"skipped: ") == 1, done.stderr)
    check("and beside a table too", b"skipped: " in run("--kernels", beside).stderr)


def parts(folder):
    """A part of a trace is reported as such, and lists add up."""
    root = pathlib.Path(folder)
    win = write_trace(root / "win.json", [kernel(0, 100)])
    done = run("--window", "10us:60us", win)
    check("a window inside a kernel: no overlap", b"overlap)" not in done.stdout, done.stdout)
    check("nor more than the whole", b"200.0" not in done.stdout and b"100.0" in done.stdout, done.stdout)
    for form in (["--steps"], ["--copies"], ["--ops"]):
        check(f"a window {form}", b"in this part of the trace" in run("--window", "10us:60us", *form, win).stdout)
    folded = write_trace(root / "fold.json", [kernel(i * 10, 1, f"Memcpy K{i} (a)", cat="gpu_memcpy") for i in range(13)])
    done = run("--top", 3, folded)
    line = next(line for line in done.stdout.decode().splitlines() if "10 others" in line)
    check("folded rows that no bytes are told of", "0 B" not in line, line)
    ptsz = [{"ph": "X", "cat": "cuda_runtime", "name": "cudaGraphLaunch_ptsz", "pid": 1, "tid": 1, "ts": 0, "dur": 9000,
             "args": {"correlation": 1}}]
    graph = write_trace(root / "graph" / "a.json", ptsz + [{**kernel(9010, 10), "args": {"device": 0, "stream": 7, "correlation": 1}}])
    launches = only_trace(run("--json", graph))["launches"]
    check("cudaGraphLaunch_ptsz", (launches["graph_launches"], launches["graph_gpu_events"]) == (1, 1), launches)
    check("cudaGraphLaunch_ptsz in the sections", b"above 5 ms" in run("--profile-dir", graph.parent).stdout)
    steps = only_trace(run("--json", write_trace(root / "nosteps.json", [kernel(0, 100)], vllm_version="0.32.0")))
    check("no steps of vLLM", (steps["steps"]["count"], "context_tokens" in steps["steps"]) == (0, False), steps["steps"])
    check("and no contradiction", not any("step" in s for s in steps["facts"]["cannot_tell"]), steps["facts"])
    pair = [{"ph": p, "cat": "cpu_op", "name": "op", "pid": 1, "tid": 1, "ts": t} for p, t in (("B", 1), ("E", 5))]
    both = write_trace(root / "be.json", pair + [kernel(0, 100)])
    ops = only_trace(run("--json", "--summary", both))["ops"]
    check("--summary joins begin and end", [(o["name"], o["cpu_total_ns"]) for o in ops] == [("op", 4000)], ops)
    call = {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 0, "dur": 5}
    nogpu = write_trace(root / "nogpu.json", [call])
    for form in ([], ["--summary"]):
        expect(f"no GPU event {form}", run(*form, nogpu), 4, "no-gpu-events")
    expect("a CPU engine's summary", run("--summary", RECORDING), 0)
    equal = b'{"traceEvents": [%s]}' % b", ".join(
        b'{"ph": "X", "cat": "\xff", "name": "a", "pid": 1, "tid": 1, "ts": 1, "dur": 1}'.replace(b"\xff", c) for c in (b"\xff", b"\xfe"))
    for form in ([], ["--summary"]):
        counts = only_trace(run("--json", *form, write(root / "dupkey.json", equal)))["events"]["by_category"]
        check(f"equal printed categories {form}", counts == {"\ufffd": 2}, counts)
    wide = write_trace(root / "md.json", [kernel(i * 10, 5, f"k{i}_{'x' * 60}") for i in range(1500)])
    done = run("--markdown", "--top", 1000, wide)
    check("markdown folds harder", b"Top kernels" in done.stdout and len(done.stdout) < 60_000, done.stdout[:300])


main([folders, parts], __doc__)
