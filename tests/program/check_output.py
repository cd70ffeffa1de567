#!/usr/bin/env python3
"""`tacho analyze` with outputs that cannot be written, or that nobody reads any more.

usage: check_output.py TACHO [--only NAME ...]
"""
import os
import pathlib
import resource
import shutil
import signal
import subprocess
import time

import processes
import scenario
from analyze_run import RECORDING, expect, kernel, run, write, write_trace
from scenario import check, main


def tables(folder):
    """The report is printed even if a file cannot be written."""
    root = pathlib.Path(folder)
    trace = write_trace(root / "t.json", [kernel(0, 100)])
    done = run("--csv", trace, trace)
    expect("--csv onto a file", done, 3, "cannot write")
    check("the report is printed all the same", b"GPU busy" in done.stdout, done.stdout)
    tables = root / "blocked"
    (tables / "kernels.csv").mkdir(parents=True)
    expect("--csv with a folder in the way", run("--csv", tables, trace), 3, "kernels.csv")


def csv_of_others(folder):
    """--csv replaces the files of an earlier --csv, and no file of the user's own."""
    root = pathlib.Path(folder)
    trace = write_trace(root / "t.json", [kernel(0, 100)])
    tables = root / "tables"
    check("a folder of its own", run("--csv", tables, trace).returncode == 0)
    longer = write_trace(root / "longer.json", [kernel(0, 100), kernel(200, 100)])
    check("and again", run("--csv", tables, longer).returncode == 0)
    check("the newer figures", ",300000," in (tables / "devices.csv").read_text(), (tables / "devices.csv").read_text())
    for name, text in (("kernels.csv", "my,own\r\n1,2\r\n"), ("ranks.csv", "")):
        own = root / f"own-{name}"
        own.mkdir()
        write(own / name, text)
        done = run("--csv", own, trace)
        expect(f"{name} of the user's", done, 3, f"own-{name}/{name}", "another folder")
        check("is refused before the work", done.stdout == b"", done.stdout)
        check("and stays, alone", [p.name for p in own.iterdir()] == [name] and (own / name).read_bytes() == text.encode())


def streams(folder):
    """Standard output that is full, closed, a terminal; Ctrl-C."""
    root = pathlib.Path(folder)
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
    half = root / "half"
    half.mkdir()
    shutil.copy(RECORDING, half / RECORDING.name)
    write(half / "empty.json", "")
    done = run(half)
    check("a skipped file is named on both outputs",
          done.stdout.count(b"empty.json") == 1 and done.stderr.count(b"empty.json") == 1, done.stderr)
    # Ctrl-C ends at once with the status of an interrupt.
    fifo = root / "fifo"
    os.mkfifo(fifo)
    with processes.running([scenario.TACHO, "analyze", fifo], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as child:
        time.sleep(0.3)
        child.send_signal(signal.SIGINT)
        child.communicate(timeout=processes.PATIENCE_S)
    check("interrupt", child.returncode in (130, -signal.SIGINT), child.returncode)


def closed(folder):
    """Standard streams that are closed at the start: what is printed goes into no file that is opened instead."""
    root = pathlib.Path(folder)
    whole, mixed = root / "whole.json", root / "mixed.json"
    for out in (whole, mixed):
        closing = " >&- 2>&- <&-" if out is mixed else ""
        subprocess.run(["sh", "-c", f'"$0" export "$1" --format kineto -o "$2"{closing}', scenario.TACHO, RECORDING, out], capture_output=True, timeout=60)
    check("the file is the same", mixed.read_bytes() == whole.read_bytes(), (mixed.read_bytes()[:200], whole.read_bytes()[:200]))


def terminal(folder):
    half = pathlib.Path(folder) / "half"
    half.mkdir()
    shutil.copy(RECORDING, half / RECORDING.name)
    write(half / "empty.json", "")
    leader, follower = processes.open_terminal()
    with processes.running([scenario.TACHO, "analyze", "--no-progress", half], stdout=follower, stderr=follower) as child:
        os.close(follower)
        seen = processes.read_to_the_end(leader, child)
    os.close(leader)
    check("a skipped file is named once on a terminal",
          seen.count(b"empty.json") == 1 and b"1 input was skipped, see above" in seen, seen)


main([tables, csv_of_others, streams, closed, terminal], __doc__)
