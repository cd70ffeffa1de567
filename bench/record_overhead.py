#!/usr/bin/env python3
"""What `tacho record` itself costs while a window is being profiled: its processor time, with the load driven by somebody
else (--no-load), as a share of one core.

  bench/record_overhead.py [--tacho build/release/tacho] [--seconds 20] [--write bench/RESULTS.md]

Engines are simulated, in another process. The time is taken from /proc (schedstat) between the lines "start" and "profile" of the
program's own narration, so preflight, collection, proof and analysis are not in it; starting the profilers is.
"""
import argparse
import json
import os
import platform
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import quiet

ROOT = Path(__file__).resolve().parents[1]
MOST = 5.0  # per cent of a core
CASES = (("2 workers of 2 ranks, --duration", 2, ()), ("2 workers of 2 ranks, --steps", 2, ("--steps", "1000000")),
         ("32 workers of 2 ranks, --duration", 32, ()))
BEGIN, END = "<!-- record overhead:begin -->\n", "<!-- record overhead:end -->\n"


def cpu_s(pid):
    """Of all threads; those that a window begins with live to its end."""
    return sum(int(path.read_text().split()[0]) for path in Path(f"/proc/{pid}/task").glob("*/schedstat")) / 1e9


def measure(tacho, workers, seconds, options):
    """(processor seconds, wall seconds) of one recording's window."""
    with tempfile.TemporaryDirectory(prefix="tacho-overhead-") as folder:
        engines = subprocess.Popen([tacho, "simulate", "--count", str(workers), "--tp", "2", "--router", "vllm", "--model-size",
                                    "8b", "--dev-mode", "--json", "--trace-dir", f"{folder}/engines"],
                                   stdout=subprocess.PIPE, text=True)
        try:
            router = json.loads(engines.stdout.readline())["router"]
            record = subprocess.Popen([tacho, "record", router["url"] if isinstance(router, dict) else router, "--no-load",
                                       "--duration", f"{seconds}s", "--out", f"{folder}/runs", *options],
                                      stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            seen = {}
            for line in record.stderr:
                phase = line.split()[0] if line.split() else ""
                if phase in ("start", "profile"):
                    seen[phase] = (cpu_s(record.pid), time.monotonic())
            record.wait()
            return tuple(after - before for before, after in zip(seen["start"], seen["profile"]))
        finally:
            engines.terminate()
            engines.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tacho", type=Path, default=ROOT / "build/release/tacho")
    parser.add_argument("--seconds", type=int, default=20)
    parser.add_argument("--write", type=Path, metavar="FILE", help="puts the table between its marks in FILE")
    options = parser.parse_args()
    lines = [f"Measured {time.strftime('%Y-%m-%d')}: {os.cpu_count()} cores, {platform.machine()}, windows of {options.seconds} s, "
             f"{quiet.wait()}; the bound is {MOST:g} % of a core.", "",
             "| engines | CPU ms | window s | % of a core |", "| --- | --: | --: | --: |"]
    good = True
    for name, workers, more in CASES:
        cpu, wall = measure(options.tacho, workers, options.seconds, more)
        share = 100 * cpu / wall
        good &= share < MOST
        lines.append(f"| {name} | {1000 * cpu:.1f} | {wall:.1f} | {share:.3f} |")
    text = "\n".join(lines) + "\n"
    print(text, end="")
    if options.write:
        old = options.write.read_text()
        options.write.write_text(re.sub(re.escape(BEGIN) + ".*?" + re.escape(END), lambda _: BEGIN + text + END, old, flags=re.S))
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
