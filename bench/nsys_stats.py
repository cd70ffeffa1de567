#!/usr/bin/env python3
"""Times `tacho stats` against `nsys stats`: the same three reports of one large export, in turn, and their figures compared.

The export is a real one whose rows are repeated, each time later and with correlations of its own, until the file is large enough.

usage: bench/nsys_stats.py EXPORT [--size 1g] [--rounds 3] [--nsys NSYS] [--tacho TACHO] [--keep FILE]
"""
import argparse
import csv
import io
import os
import pathlib
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
REPORTS = "gpukernsum,cudaapisum,gpumemtimesum"
TABLES = ["CUPTI_ACTIVITY_KIND_RUNTIME", "CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_MEMCPY", "CUPTI_ACTIVITY_KIND_MEMSET",
          "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", "NVTX_EVENTS", "OSRT_API"]


def bytes_of(text):
    units = {"m": 1_000_000, "g": 1_000_000_000}
    return int(float(text[:-1]) * units[text[-1]]) if text[-1] in units else int(text)


def enlarge(source, path, size):
    """A copy of an export, its rows repeated until it has `size` bytes. Returns how many of them there are."""
    shutil.copyfile(source, path)
    os.chmod(path, 0o644)
    database = sqlite3.connect(path, isolation_level=None)
    database.execute("PRAGMA journal_mode = OFF")
    database.execute("PRAGMA synchronous = OFF")
    tables = {row[0] for row in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    plans, length, correlations = [], 0, 0
    for table in (table for table in TABLES if table in tables):
        columns = [row[1] for row in database.execute(f"PRAGMA table_info({table})")]
        first, last, rows = database.execute(f"SELECT min(start), max(coalesce(end, start)), max(rowid) FROM {table}").fetchone()
        if not rows:
            continue
        length = max(length, last - first)
        if "correlationId" in columns:
            correlations = max(correlations, database.execute(f"SELECT max(correlationId) FROM {table}").fetchone()[0])
        moved = {"start": "start + :later", "end": "end + :later", "correlationId": "correlationId + :more"}
        plans.append((f"INSERT INTO {table} SELECT {', '.join(moved.get(column, column) for column in columns)} FROM {table} WHERE rowid <= :rows",
                      rows))
    copies = 0
    while os.path.getsize(path) < size:
        copies += 1
        database.execute("BEGIN")
        for sql, rows in plans:
            database.execute(sql, {"later": copies * (length + 1_000_000), "more": copies * (correlations + 1), "rows": rows})
        database.execute("COMMIT")
    total = sum(database.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in TABLES if table in tables)
    database.close()
    return total


def timed(words):
    """(seconds, peak memory in MB, what it printed); of the peak the launched program's alone."""
    with tempfile.TemporaryFile() as out:
        begin = time.monotonic()
        process = subprocess.Popen(words, stdout=out, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.monotonic() - begin
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            sys.exit(f"{' '.join(words)}: exit status {process.returncode}")
        out.seek(0)
        return seconds, usage.ru_maxrss / 1000, out.read().decode()


def rows_of(text):
    return sorted(tuple(row) for row in csv.reader(io.StringIO(text)) if row)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("export")
    parser.add_argument("--size", default="1g", type=bytes_of)
    parser.add_argument("--rounds", default=3, type=int)
    parser.add_argument("--nsys", default=shutil.which("nsys"))
    parser.add_argument("--tacho", default=str(ROOT / "build/release/tacho"))
    parser.add_argument("--keep", help="the large export stays in this file, and is taken from there the next time")
    options = parser.parse_args()
    if options.nsys is None:
        sys.exit("there is no nsys in PATH: --nsys NSYS")
    with tempfile.TemporaryDirectory() as folder:
        path = options.keep or os.path.join(folder, "large.sqlite")
        if os.path.exists(path):
            rows = "?"
        else:
            rows = enlarge(options.export, path, options.size)
        print(f"{os.path.getsize(path) / 1e6:.0f} MB, {rows} rows; load average {os.getloadavg()[0]:.1f} at the start", flush=True)
        programs = {"nsys stats": [options.nsys, "stats", "-q", "-r", REPORTS, "--format", "csv", path],
                    "tacho stats": [options.tacho, "stats", "-r", REPORTS, "--csv", path],
                    "tacho stats, 1 core": ["taskset", "-c", "0", options.tacho, "stats", "-r", REPORTS, "--csv", path]}
        seconds, memory, printed = {name: [] for name in programs}, {}, {}
        for _ in range(options.rounds):
            for name, words in programs.items():
                taken, memory[name], printed[name] = timed(words)
                seconds[name].append(taken)
        medians = {name: statistics.median(of) for name, of in seconds.items()}
        for name, median in medians.items():
            spread = f"{min(seconds[name]):.2f} to {max(seconds[name]):.2f}"
            print(f"{name:20} {median:8.2f} s ({spread})  {memory[name]:7.0f} MB  {medians['nsys stats'] / median:6.1f} x nsys stats")
        same = rows_of(printed["nsys stats"]) == rows_of(printed["tacho stats"])
        print("the figures are the same" if same else "THE FIGURES DIFFER")
        return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
