#!/usr/bin/env python3
"""`tacho analyze` with bad inputs: the status, and a message that names the place.

usage: check_bad_input.py TACHO [--only NAME ...]
"""
import gzip
import json
import os
import pathlib
import resource
import subprocess
import threading
import time

import jsonschema

import scenario
from analyze_run import RECORDING, expect, kernel, notes, run, write, write_trace
from scenario import Skipped, check, main

EVENT = '{"ph": "X", "cat": "cpu_op", "name": "a", "pid": 1, "tid": 1, "ts": %d, "dur": 1}'
TRACE = "[" + ",\n".join(EVENT % i for i in range(100)) + "]"


def no_traces(folder):
    """Inputs that are not traces or have none in them, and impossible flags."""
    root = pathlib.Path(folder)
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
    for start in (b"\x93\x01\xff random" * 100, bytes(1000), b"version https://git-lfs.github.com/spec/v1\n"):
        for name, words in (("x.sqlite", "is not a SQLite database"), ("x.sqlite3", "is not a SQLite database"), ("x.db", "is not a SQLite database"),
                            ("x.nsys-rep", "is not a report of Nsight Systems"), ("x.qdstrm", "is not a report of Nsight Systems")):
            expect(f"{name} of {start[:8]}", run(write(root / name, start)), 3, f"{name}: {words}: copy the file again", "nsys export --type sqlite")
    expect("rules that cannot be read", run("--rules", write(root / "my.rules", "%%%\n"), RECORDING), 2, "my.rules", "line 1")
    expect("no such device", run("--device", "7", RECORDING), 2, "--device: no trace has a device '7'", "'cpu'")
    with open(os.devnull) as null:
        expect("nothing on standard input", run("-", stdin=null), 3, "standard input", "redirect a trace")
    plain = subprocess.run([scenario.TACHO, str(RECORDING)], capture_output=True)
    expect("a path for a command", plain, 2, "did you mean tacho analyze", str(RECORDING))
    helped = subprocess.run([scenario.TACHO, "help", "--help"], capture_output=True)
    check("help of help", helped.returncode == 0 and b"\ncommands:\n" in helped.stdout, helped)
    for words, said in ((["engine", "record"], "tacho engine has no action 'record' (did you mean tacho help record?)"),
                        (["engine", "wke"], "did you mean tacho help engine wake?"), (["load", "x"], "tacho load has no action 'x'; see")):
        expect(f"help {words}", subprocess.run([scenario.TACHO, "help", *words], capture_output=True), 2, said)
    expect("JSON that is no trace", run(write(root / "other.json", '{"a":1}')), 3, "other.json", "not a trace", '"a"')
    expect("a memory timeline", run(write(root / "memory.json", "[[1, 2], [[0, 5], [3, 5]]]")), 3, "memory.json", "not a trace")
    rocprof = write(root / "results.json", '{"rocprofiler-sdk-tool": [{"metadata": {"pid": 1}}]}')
    expect("rocprof's results", run(rocprof), 3, "results.json", "rocprofv3", "torch.profiler")
    empty = run(write(root / "no-events.json", '{"traceEvents": []}'))
    check("a trace without an event: status 4", empty.returncode == 4, empty.returncode)
    check("and the verdict says so", b"is it a trace of PyTorch's profiler?" in empty.stdout, empty.stdout)
    expect("unknown flag", run("--jsn", RECORDING), 2, "--json")
    expect("bad window", run("--window", "5:1", RECORDING), 2, "window")


def no_permission(folder):
    """Root may read everything, so it runs the program as another user."""
    locked = write(pathlib.Path(folder) / "locked.json", TRACE)
    locked.chmod(0)
    os.chmod(folder, 0o755)
    other = {"user": 65534} if os.geteuid() == 0 else {}
    try:
        done = run(locked, **other)
    except PermissionError as problem:
        raise Skipped(f"root cannot run {scenario.TACHO} as another user here: {problem}") from problem
    expect("no permission", done, 3, "locked.json")


def among_good_ones(folder):
    """The good traces of a folder are analysed, whatever else it contains."""
    root = pathlib.Path(folder)
    # A folder that contains itself.
    loop = root / "loop"
    loop.mkdir()
    write(loop / "a.json", '{"traceEvents": ' + TRACE + "}")
    (loop / "again").symlink_to(loop)
    done = run("--json", loop)
    check("directory loop is read once", len(json.loads(done.stdout)["traces"]) == 1, done.stderr)

    endless = root / "endless"
    endless.symlink_to(endless)
    done = run(endless)
    expect("a link to itself", done, 3, "endless")
    check("a link to itself: the remedy", b"name what it should lead to" in done.stderr, done.stderr)

    # Good and bad together: the good one is analysed, the bad one named.
    mixed = run("--json", loop / "a.json", write(root / "text.json", "hello world\n" * 50))
    expect("one good, one bad", mixed, 4, "text.json")
    check("one good, one bad: the good one is analysed", len(json.loads(mixed.stdout)["traces"]) == 1, mixed.stdout)
    # An empty trace in a folder: the others are analysed, and the exit status says that one is missing.
    hole = root / "hole"
    hole.mkdir()
    write(hole / "a.json", '{"traceEvents": ' + TRACE + "}")
    write(hole / "b.pt.trace.json.gz", "")
    done = run("--json", hole)
    check("empty trace in a folder: status 4", done.returncode == 4, done.returncode)
    check("empty trace in a folder: it is named", b"b.pt.trace.json.gz" in done.stderr, done.stderr)
    check("empty trace in a folder: the rest is read", len(json.loads(done.stdout)["traces"]) == 1, done.stdout)


def sizes(folder):
    """Nothing is too large, too deep or too long to end."""
    root = pathlib.Path(folder)
    bomb = root / "bomb.json.gz"
    with gzip.open(bomb, "wb", 9) as f:
        f.write(b"[")
        for _ in range(300):
            f.write(b" " * 1_000_000)
    small = {"preexec_fn": lambda: resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))}
    program = pathlib.Path(scenario.TACHO).read_bytes()
    if b"__asan_init" in program or b"__tsan_init" in program:
        small = {}  # sanitizers reserve terabytes of addresses
    done = run("--json", bomb, **small)
    check("gzip bomb ends", done.returncode in (0, 3, 4), done.stderr)
    deep = write(root / "deep.json", '{"x": ' + "[" * 100 + "]" * 100 + ', "traceEvents": ' + TRACE + "}")
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

    # A trace that does not fit into memory.
    program = pathlib.Path(scenario.TACHO).read_bytes()
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


def damaged(folder):
    """Cut and damaged streams: what can be read is read, and the damage is noted."""
    root = pathlib.Path(folder)
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
    two = run("-", input=packed + packed)
    expect("two traces on standard input", two, 4, "second-document")
    check("are not called whole", b"no event lost" not in two.stdout, two.stdout[:300])
    done = run("--json", "-", input=packed)
    check("standard input", done.returncode == 0, done.stderr)


def changing(folder):
    """A file that grows, and one that shrinks, while it is read."""
    root = pathlib.Path(folder)
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
    child = subprocess.Popen([scenario.TACHO, "analyze", "--json", shrinking], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    time.sleep(0.01)
    os.truncate(shrinking, 1000)
    child.communicate(timeout=60)
    check("shrinking file ends", child.returncode in (0, 3, 4), child.returncode)


def as_json(folder):
    """With --json every command that ends with an error and has no result prints one object, and the sentence as without it."""
    schema = json.loads((pathlib.Path(__file__).resolve().parents[2] / "docs/error.schema.json").read_text())
    nobody, nothing = "http://127.0.0.1:1", f"{folder}/nothing"
    load = ["load", nobody, "--requests", "1", "--concurrency", "1"]
    for kind, status, words in (
            ("unreadable", 3, ["analyze", nothing]), ("usage", 2, ["analyze", RECORDING, "--device", "7"]),
            ("unreadable", 3, ["analyze", nothing, "--summary"]), ("usage", 2, ["analyze", "--nonsense"]),
            ("remote", 6, ["record", nobody, "--out", folder]), ("usage", 2, ["record"]),
            ("remote", 6, load), ("usage", 2, [*load, "--rate", "x"]), ("remote", 6, [*load, "--sweep", "concurrency=1,2"]),
            ("remote", 6, [*load, "--profile", "--out", folder]),
            ("remote", 6, ["engine", "status", nobody]), ("remote", 6, ["engine", "start", nobody]), ("usage", 2, ["engine", "list"]),
            ("usage", 2, ["simulate", "--engine", "none"])):
        name = " ".join(map(str, words)).replace(folder, "")
        plain, done = (subprocess.run([scenario.TACHO, *words, *more], capture_output=True, text=True) for more in ([], ["--json"]))
        check(f"{name}: nothing without --json", (plain.returncode, plain.stdout) == (status, ""), (plain.returncode, plain.stdout))
        check(f"{name}: status", done.returncode == status, (done.returncode, done.stderr))
        try:
            printed = json.loads(done.stdout)
            jsonschema.validate(printed, schema)
        except (ValueError, jsonschema.ValidationError) as error:
            check(f"{name}: one object", False, f"{error} {done.stdout}")
            continue
        error = printed["error"]
        check(f"{name}: the error", (error["kind"], error["exit_status"]) == (kind, status), error)
        check(f"{name}: the sentence", f"tacho: {error['message']}\n" in done.stderr, (error, done.stderr))


def blanks(folder):
    """Blanks after the list of events, as many as anybody likes, are not kept."""
    trace = pathlib.Path(folder) / "t.json"
    os.mkfifo(trace)
    events = ",".join(json.dumps(kernel(100 * i, 50)) for i in range(50))
    with subprocess.Popen([scenario.TACHO, "analyze", "--json", trace], stdout=subprocess.PIPE) as child:
        with open(trace, "w") as file:
            file.write(f'{{"traceEvents": [{events}]')
            for _ in range(200):
                file.write(" \n\t" * 100_000)
            file.flush()
            status = pathlib.Path(f"/proc/{child.pid}/status").read_text()
            file.write(', "traceName": "x"}')
        result = json.load(child.stdout)
    check("all events are read", (child.returncode, result["traces"][0]["events"]["total"]) == (0, 50), result["traces"][0]["events"])
    most = int(status.split("VmHWM:")[1].split()[0])
    # A sanitizer keeps what was freed.
    check("in less than the file's 60 MB", "/asan/" in str(scenario.TACHO) or most < 50_000, most)


main([no_traces, no_permission, among_good_ones, sizes, damaged, changing, as_json, blanks], __doc__)
