#!/usr/bin/env python3
"""What `tacho analyze` does with inputs and outputs that fail: the status, and a message that says where.

usage: check_bad_input.py TACHO
"""
import gzip
import json
import os
import pathlib
import pty
import resource
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

TACHO = None
passed = failed = 0
RECORDING = pathlib.Path(__file__).resolve().parents[1] / "data/vllm-cpu/mixed_rank0.pt.trace.json.gz"
EVENT = '{"ph": "X", "cat": "cpu_op", "name": "a", "pid": 1, "tid": 1, "ts": %d, "dur": 1}'


def check(what, ok, detail=""):
    global passed, failed
    if ok:
        passed += 1
    else:
        failed += 1
        print(f"FAILED {what}: {str(detail)[:400]}")


def run(*args, **more):
    more.setdefault("timeout", 120)
    more.setdefault("stdout", subprocess.PIPE)
    return subprocess.run([TACHO, "analyze", *map(str, args)], stderr=subprocess.PIPE, **more)


def expect(what, done, status, *words):
    error = done.stderr.decode(errors="replace")
    check(f"{what}: status {status}", done.returncode == status, f"status {done.returncode}, {error}")
    for word in words:
        check(f"{what}: says {word!r}", word in error, error)
    check(f"{what}: no bug report", "bug" not in error.lower(), error)


def notes(done):
    return {n["id"]: n["count"] for t in json.loads(done.stdout)["traces"] for n in t["notes"]}


def write(path, data):
    path.write_bytes(data if isinstance(data, bytes) else data.encode())
    return path


def kernel(start, duration, name="k", stream=7, cat="kernel"):
    return {"ph": "X", "cat": cat, "name": name, "pid": 0, "tid": stream, "ts": start, "dur": duration,
            "args": {"device": 0, "stream": stream}}


def write_trace(path, events, **header):
    path.parent.mkdir(exist_ok=True)
    return write(path, json.dumps({**header, "traceEvents": events}))


def only_trace(done):
    return json.loads(done.stdout)["traces"][0]


def folders(root):
    """Runs of which something is not there."""
    one = root / "one"
    write_trace(one / "a.json", [kernel(0, 100)], distributedInfo={"rank": 0, "world_size": 8})
    for form in ([], ["--markdown"], ["--all-ranks", "--profile-dir"]):
        done = run(*form, one)
        expect(f"one of eight {form}", done, 4, "rank 1-7 (7 in all) of world size 8")
        check(f"one of eight {form}: the document says so", b"missing: rank 1-7 (7 in all)" in done.stdout, done.stdout)
    ranks = json.loads(run("--json", one).stdout)["ranks"]
    check("one of eight: JSON", (ranks["missing"], ranks["missing_count"]) == ([*range(1, 8)], 7), ranks)
    expect("a file on its own", run(one / "a.json"), 0)

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
    check("stages: ranks are compared", b"rank 1 computes longest: 1.11 ms, 9.9 % more" in done.stdout.replace(b"\n          ", b" "),
          done.stdout)
    check("stages: two devices", b"over 2 devices" in done.stdout, done.stdout)
    med = root / "med"
    for rank, length in enumerate((100, 50, 10)):
        write_trace(med / f"{rank}.json", [kernel(0, length)], distributedInfo={"rank": rank, "world_size": 3})
    check("median of two: the smaller", b"900.0 % more" in run(med).stdout.replace(b"\n          ", b" "), run(med).stdout)

    # What lies in a folder beside the traces, and a trace that has no byte.
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

    # A trace that the memory does not hold.
    program = pathlib.Path(TACHO).read_bytes()
    if b"__asan_init" not in program and b"__tsan_init" not in program:
        large = root / "large"
        write_trace(large / "a.json", [kernel(0, 100)])
        with open(large / "b.json", "w") as f:
            f.write("[")
            for i in range(300_000):
                f.write('{"ph": "X", "cat": "kernel", "name": "%d%s", "pid": 0, "tid": 7, "ts": %d, "dur": 1},\n' % (i, "x" * 300, i))
            f.write("{}]")
        limit = {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_AS, (160 << 20, 160 << 20))}
        done = run("--json", "--threads", 1, large, **limit)
        expect("a trace beyond the memory", done, 4, "b.json", "memory", "--summary")
        check("the other one is analysed", len(json.loads(done.stdout)["traces"]) == 1, done.stdout)


def parts(root):
    """A part of a trace is told as one, and lists add up."""
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


def outputs(root):
    """A report is printed whatever becomes of what is written beside it."""
    trace = write_trace(root / "t.json", [kernel(0, 100)])
    done = run("--csv", trace, trace)
    expect("--csv onto a file", done, 3, "cannot write")
    check("the report is printed all the same", b"GPU busy" in done.stdout, done.stdout)
    tables = root / "blocked"
    (tables / "kernels.csv").mkdir(parents=True)
    write(tables / "devices.csv", "old")
    expect("--csv with a folder in the way", run("--csv", tables, trace), 3, "kernels.csv")
    check("nothing has changed", sorted(p.name for p in tables.iterdir()) == ["devices.csv", "kernels.csv"]
          and (tables / "devices.csv").read_text() == "old")


def main():
    global TACHO
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    TACHO = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        trace = "[" + ",\n".join(EVENT % i for i in range(100)) + "]"

        # Things that are no trace.
        expect("missing path", run(root / "nothing"), 3, "nothing")
        expect("no path", run(), 2)
        empty = root / "empty"
        empty.mkdir()
        expect("folder without traces", run(empty), 3, "empty")
        expect("file of 0 bytes", run(write(root / "zero.json", "")), 3, "zero.json")
        expect("text", run(write(root / "text.json", "hello world\n" * 50)), 3, "text.json")
        expect("device", run("/dev/zero"), 3, "/dev/zero")
        expect("unreadable file", run("/proc/self/mem"), 3)
        expect("SQLite export", run(write(root / "x.sqlite", b"SQLite format 3\0" + bytes(100))), 3, "x.sqlite")
        if os.geteuid() != 0:
            locked = write(root / "locked.json", trace)
            locked.chmod(0)
            expect("no permission", run(locked), 3, "locked.json")

        # A folder that contains itself.
        loop = root / "loop"
        loop.mkdir()
        write(loop / "a.json", '{"traceEvents": ' + trace + "}")
        (loop / "again").symlink_to(loop)
        done = run("--json", loop)
        check("directory loop is read once", len(json.loads(done.stdout)["traces"]) == 1, done.stderr)

        endless = root / "endless"
        endless.symlink_to(endless)
        done = run(endless)
        expect("a link to itself", done, 3, "endless")
        check("a link to itself: the remedy", b"name what it should lead to" in done.stderr, done.stderr)

        # Good and bad together: the good one is analysed, the bad one named.
        mixed = run("--json", loop / "a.json", root / "text.json")
        expect("one good, one bad", mixed, 4, "text.json")
        check("one good, one bad: the good one is analysed", len(json.loads(mixed.stdout)["traces"]) == 1, mixed.stdout)
        folders(root)
        parts(root)
        outputs(root)

        # An empty trace in a folder: the others are analysed, and the exit status says that one is missing.
        hole = root / "hole"
        hole.mkdir()
        write(hole / "a.json", '{"traceEvents": ' + trace + "}")
        write(hole / "b.pt.trace.json.gz", "")
        done = run("--json", hole)
        check("empty trace in a folder: status 4", done.returncode == 4, done.returncode)
        check("empty trace in a folder: it is named", b"b.pt.trace.json.gz" in done.stderr, done.stderr)
        check("empty trace in a folder: the rest is read", len(json.loads(done.stdout)["traces"]) == 1, done.stdout)

        # Sizes.
        bomb = root / "bomb.json.gz"
        with gzip.open(bomb, "wb", 9) as f:
            f.write(b"[")
            for _ in range(300):
                f.write(b" " * 1_000_000)
        small = {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))}
        program = pathlib.Path(TACHO).read_bytes()
        if b"__asan_init" in program or b"__tsan_init" in program:
            small = {}  # sanitizers reserve terabytes of addresses
        done = run("--json", bomb, **small)
        check("gzip bomb ends", done.returncode in (0, 3, 4), done.stderr)
        deep = write(root / "deep.json", '{"x": ' + "[" * 100 + "]" * 100 + ', "traceEvents": ' + trace + "}")
        done = run("--json", deep)
        check("100 levels of nesting", json.loads(done.stdout)["traces"][0]["events"]["total"] == 100, done.stderr)
        deeper = write(root / "deeper.json", '{"traceEvents": [' + EVENT % 1 + ', {"ph": "X", "args": ' + "[" * 100000 + "]}")
        done = run("--json", deeper)
        check("100,000 levels", json.loads(done.stdout)["traces"][0]["events"]["total"] == 1, done.stderr)
        with open(root / "long.json", "w") as f:
            f.write("[" + EVENT % 1 + ', {"ph": "X", "ts": 1, "name": "')
            for _ in range(400):
                f.write("x" * 1_000_000)
            f.write('"}, ' + EVENT % 2 + "]")
        done = run("--json", root / "long.json")
        check("a string of 400 MB is skipped", json.loads(done.stdout)["traces"][0]["events"]["total"] == 2, done.stderr)
        check("and noted", notes(done).get("oversized-event") == 1, notes(done))
        check("and the status says so", done.returncode == 4, done.returncode)

        # Cut and damaged streams.
        packed = RECORDING.read_bytes()
        cut = run("--json", write(root / "cut.json.gz", packed[: len(packed) // 2]))
        check("cut gzip: status 4", cut.returncode == 4, cut.stderr)
        check("cut gzip: noted", {"truncated-gzip", "truncated-json"} <= set(notes(cut)), notes(cut))
        check("cut gzip: events saved", json.loads(cut.stdout)["traces"][0]["events"]["total"] > 1000)
        damaged = bytearray(packed)
        damaged[len(packed) // 2] ^= 0xFF
        done = run("--json", write(root / "damaged.json.gz", bytes(damaged)))
        check("damaged gzip: status 4", done.returncode == 4, done.stderr)
        done = run("--json", write(root / "junk.json.gz", packed + b"trailing junk"))
        check("junk behind gzip: noted", "trailing-junk" in notes(done), notes(done))
        done = run("--json", "-", input=packed)
        check("standard input", done.returncode == 0, done.stderr)

        # A file that grows, and one that shrinks, while it is read.
        growing = write(root / "growing.json", "[" + (EVENT % 1 + ",\n") * 200_000)
        stop = threading.Event()

        def grow():
            with open(growing, "a") as f:
                while not stop.is_set():
                    f.write((EVENT % 2 + ",\n") * 100)
                    f.flush()

        writer = threading.Thread(target=grow)
        writer.start()
        done = run("--json", growing, timeout=60)
        stop.set()
        writer.join()
        check("growing file ends", done.returncode in (0, 4), done.stderr)
        shrinking = write(root / "shrinking.json", "[" + (EVENT % 1 + ",\n") * 400_000)
        child = subprocess.Popen([TACHO, "analyze", "--json", shrinking], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        time.sleep(0.01)
        os.truncate(shrinking, 1000)
        child.communicate(timeout=60)
        check("shrinking file ends", child.returncode in (0, 3, 4), child.returncode)

        # Outputs that fail.
        with open("/dev/full", "w") as full:
            done = run("--json", RECORDING, stdout=full)
        check("full standard output", done.returncode not in (0, 70) and b"make room" in done.stderr, (done.returncode, done.stderr))
        tables = root / "tables"
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        done = run("--csv", tables, RECORDING, restore_signals=False,
                   preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (2000, 2000)))
        check("disk full: fails", done.returncode not in (0, 70) and done.returncode > 0, (done.returncode, done.stderr))
        left = sorted(p.name for p in tables.iterdir()) if tables.exists() else []
        check("disk full: nothing half written", all((tables / n).stat().st_size < 2000 for n in left), left)
        reader, writer = os.pipe()
        os.close(reader)
        done = run("--json", RECORDING, stdout=writer)
        os.close(writer)
        check("closed pipe is quiet", b"bug" not in done.stderr.lower(), done.stderr)
        expect("rules that cannot be read", run("--rules", write(root / "my.rules", "%%%\n"), RECORDING), 2, "my.rules", "line 1")
        expect("no such device", run("--device", "7", RECORDING), 2, "no trace has a device '7'", "'cpu'")
        with open(os.devnull) as null:
            expect("nothing on standard input", run("-", stdin=null), 3, "standard input", "redirect a trace")
        plain = subprocess.run([TACHO, str(RECORDING)], capture_output=True)
        expect("a path for a command", plain, 2, "did you mean tacho analyze", str(RECORDING))
        other = run(write(root / "other.json", '{"a":1}'))
        check("JSON that is no trace: status 4", other.returncode == 4, other.returncode)
        check("and the verdict says so", b"is it a trace of PyTorch's profiler?" in other.stdout, other.stdout)
        half = root / "half"
        half.mkdir()
        shutil.copy(RECORDING, half / RECORDING.name)
        write(half / "empty.json", "")
        done = run(half)
        check("a skipped file is named on both outputs",
              done.stdout.count(b"empty.json") == 1 and done.stderr.count(b"empty.json") == 1, done.stderr)
        leader, follower = pty.openpty()
        with subprocess.Popen([TACHO, "analyze", "--no-progress", half], stdout=follower, stderr=follower) as child:
            os.close(follower)
            seen = b""
            try:
                while part := os.read(leader, 65536):
                    seen += part
            except OSError:  # how a terminal ends
                pass
        os.close(leader)
        check("and once on a terminal", seen.count(b"empty.json") == 1 and b"1 input was skipped, see above" in seen, seen)
        expect("unknown flag", run("--jsn", RECORDING), 2, "--json")
        expect("bad window", run("--window", "5:1", RECORDING), 2, "window")

        # Ctrl-C ends at once with the status of an interrupt.
        fifo = root / "fifo"
        os.mkfifo(fifo)
        child = subprocess.Popen([TACHO, "analyze", fifo], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        time.sleep(0.3)
        child.send_signal(signal.SIGINT)
        child.communicate(timeout=20)
        check("interrupt", child.returncode in (130, -signal.SIGINT), child.returncode)

    print(f"{passed} passed, {failed} failed")
    sys.exit(failed != 0)


main()
