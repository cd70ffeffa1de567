#!/usr/bin/env python3
"""Traces made to lie (mutations.cc), out of the corpus and the simulator: no figure is wrong by more than tacho says, and most
figures stay.

usage: check_mutations.py TACHO MUTATIONS [COUNT]
"""
import pathlib
import re
import subprocess
import sys
import tempfile

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from corpus import corpus  # noqa: E402

tacho, mutations, count = sys.argv[1], sys.argv[2], int(sys.argv[3] if len(sys.argv) > 3 else "10000")
# Small ones: a mutation costs a reading and an analysis.
SIMULATED = (["--steps", "40"], ["--steps", "40", "--engine", "sglang"], ["--steps", "40", "--change", "eager"],
             ["--steps", "30", "--ranks", "2"])
NO_TRACES = (".oracle.json", ".truth.json", "truth.json", "expected.json", "EXPECT.json", "figures.json")

with tempfile.TemporaryDirectory() as folder:
    for number, options in enumerate(SIMULATED):
        subprocess.run([tacho, "simulate", "trace", "-o", f"{folder}/{number}", "--layers", "1", *options],
                       check=True, stdout=subprocess.DEVNULL)
    folders = [pathlib.Path(folder)]
    real = corpus("mutations of real traces")
    if real:
        folders.append(real)
    traces = sorted(str(path) for root in folders for path in root.rglob("*.json*")
                    if path.name.endswith((".json", ".json.gz")) and not path.name.endswith(NO_TRACES)
                    and "broken-variants" not in path.parts)
    run = subprocess.run([mutations, "--count", str(count), "--bytes", "2000000", *traces], capture_output=True, text=True, check=False)
    print(run.stdout[-20000:] + run.stderr)
    told = re.search(r"(\d+) mutations of (\d+) traces, (\d+) of them tell idle time, (\d+) its causes; 0 wrong$", run.stdout.strip())
    # What is whole says so: a trace that is refused for what it has lost is a false alarm.
    alarms = [line for line in run.stdout.splitlines() if line.startswith("not used: ") and "has lost something" in line]
    if run.returncode != 0 or told is None or alarms:
        sys.exit(1)
    made, bases, idle, causes = map(int, told.groups())
    # What tells nothing is never wrong.
    if bases < len(SIMULATED) or idle < made / 2 or causes < made / 4:
        sys.exit("too few tell anything")
    print("1 passed, 0 failed")
