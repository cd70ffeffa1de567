#!/usr/bin/env python3
"""What `tacho analyze` does with inputs and outputs that fail: the status, and a message that says where.

usage: check_bad_input.py TACHO
"""
import gzip
import json
import os
import pathlib
import resource
import signal
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

        # Good and bad together: the good one is analysed, the bad one named.
        mixed = run("--json", loop / "a.json", root / "text.json")
        check("one good, one bad: status 4 or 3", mixed.returncode in (3, 4), mixed.returncode)
        check("one good, one bad: the bad one is named", b"text.json" in mixed.stderr, mixed.stderr)

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
        check("full standard output", done.returncode not in (0, 70) and done.stderr, (done.returncode, done.stderr))
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
        expect("rules that cannot be read", run("--rules", write(root / "my.rules", "%%%\n"), RECORDING), 2, "line 1")
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
