#!/usr/bin/env python3
"""What the proof of a recording costs beyond reading its traces: the time of `tacho record` from the last byte collected to its
end (verification, analysis, first screen, run.json), beside a plain `tacho analyze` of the same files.

  bench/verification.py [--tacho build/release/tacho] [--duration 6s] [--rounds 3] [--write bench/RESULTS.md]

Engines are simulated: two servers of two ranks, whose traces are about 250 MB for each second of --duration. Each round records
anew; the two are run one behind the other, with the files in the page cache, and the medians are divided. A ratio of 1 is the
reader's rate.
"""
import argparse
import json
import os
import platform
import pty
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import quiet

ROOT = Path(__file__).resolve().parents[1]
MOST = 1.1
MARK = b"reading the traces"
BEGIN, END = "<!-- verification:begin -->\n", "<!-- verification:end -->\n"


def record(tacho, folder, targets, duration):
    """(seconds from the first byte read for the proof to the end, run folder); the narration tells when that is."""
    screen, theirs = pty.openpty()
    process = subprocess.Popen([tacho, "record", *targets, "--duration", duration, "--warm-up", "1s", "--baseline", "0s", "--out",
                                f"{folder}/runs"], stdout=subprocess.DEVNULL, stderr=theirs)
    os.close(theirs)
    seen, begin = b"", None
    try:
        while chunk := os.read(screen, 65536):
            seen += chunk
            if begin is None and MARK in seen:
                begin = time.monotonic()
    except OSError:  # its end
        pass
    status = process.wait()
    took = time.monotonic() - (begin or time.monotonic())
    os.close(screen)
    if status != 0 or begin is None:
        sys.exit(f"tacho record: status {status}\n{seen.decode(errors='replace')}")
    return took, next(Path(folder, "runs").iterdir())


def analyze(tacho, folder):
    begin = time.monotonic()
    subprocess.run([tacho, "analyze", folder / "traces", "--top", "10"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    return time.monotonic() - begin


def measure(tacho, duration):
    """(seconds of the proof, of the plain analysis, bytes of the traces) of one recording."""
    with tempfile.TemporaryDirectory(prefix="tacho-verification-") as folder:
        engines = subprocess.Popen([tacho, "simulate", "--count", "2", "--tp", "2", "--model-size", "8b", "--dev-mode", "--json",
                                    "--trace-dir", f"{folder}/engines"], stdout=subprocess.PIPE, text=True)
        try:
            targets = [worker["url"] for worker in json.loads(engines.stdout.readline())["workers"]]
            proof, run = record(tacho, folder, targets, duration)
        finally:
            engines.terminate()
            engines.wait()
        plain = analyze(tacho, run)
        return proof, plain, sum(file.stat().st_size for file in (run / "traces").rglob("*.json"))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tacho", type=Path, default=ROOT / "build/release/tacho")
    parser.add_argument("--duration", default="6s", help="of the recorded window (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--write", type=Path, metavar="FILE", help="puts the table between its marks in FILE")
    options = parser.parse_args()
    quiet_words = quiet.wait()
    rounds = [measure(options.tacho, options.duration) for _ in range(options.rounds)]
    proof, plain, size = (statistics.median(column) for column in zip(*rounds))
    text = "\n".join([
        f"Measured {time.strftime('%Y-%m-%d')}: {os.cpu_count()} cores, {platform.machine()}, {options.rounds} rounds, "
        f"{quiet_words}; the bound is a ratio of {MOST:g}.", "",
        "| traces | last byte to the end of `tacho record` | `tacho analyze` of the same | ratio |", "| --- | --: | --: | --: |",
        f"| 4 ranks, {size / 1e6:.0f} MB | {proof:.2f} s, {size / proof / 1e9:.2f} GB/s | {plain:.2f} s, {size / plain / 1e9:.2f} GB/s | "
        f"{proof / plain:.2f} |"]) + "\n"
    print(text, end="")
    if options.write:
        old = options.write.read_text()
        options.write.write_text(re.sub(re.escape(BEGIN) + ".*?" + re.escape(END), lambda _: BEGIN + text + END, old, flags=re.S))
    return 0 if proof / plain < MOST else 1


if __name__ == "__main__":
    sys.exit(main())
