#!/usr/bin/env python3
"""Holds `tacho compare` against `nsys-ai diff`, figure by figure, on two exports of Nsight Systems.

usage: bench/agree/nsys_ai_diff.py TACHO NSYS_AI BEFORE.sqlite AFTER.sqlite

NSYS_AI is the program of PyPI's nsys-ai (0.3.0 was tried); it writes a cache beside what it reads, so it gets copies. Prints a line for
each figure: what both say, and whether they agree to the digits that nsys-ai prints (0.01 ms). Exit status 1 if they do not where both
define the figure alike.
"""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

DIGITS_MS = 0.0051  # half of the last digit that nsys-ai prints


def printed_json(*command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=600)
    if done.returncode not in (0, 4):
        sys.exit(f"{command[0]} failed: {done.stderr[-500:]}")
    return json.loads(done.stdout)


def main(tacho, nsys_ai, *paths):
    with tempfile.TemporaryDirectory() as folder:
        copies = [shutil.copy(path, pathlib.Path(folder) / f"{i}.sqlite") for i, path in enumerate(paths)]
        theirs = printed_json(nsys_ai, "diff", *copies, "--format", "json")
    ours = printed_json(tacho, "compare", *paths, "--json")
    devices = sum(len(trace["devices"]) for trace in printed_json(tacho, "analyze", paths[0], "--json")["traces"])
    metrics = {m["name"]: m for m in ours["metrics"]}

    def both(name):  # of all devices together, in ms
        return [metrics[f"whole.{name}"][side] * devices / 1e6 for side in ("base", "new")]

    categories = {row["category"]: [row["before_ms"], row["after_ms"]] for row in theirs["category_attribution"]}
    rows = [("kernel time, all GPUs", [theirs[side]["total_gpu_ns"] / 1e6 for side in ("before", "after")], both("kernel-time"), True),
            ("communication", categories["communication"], both("comm"), True)]
    # nsys-ai counts copies and memsets as idle, and the window by kernels alone.
    rows += [("compute", categories["compute"], both("compute"), False), ("idle", categories["idle"], both("idle"), False)]
    wrong = 0
    print(f"{'ms':24}{'nsys-ai':>20}{'tacho':>20}")
    for name, want, got, alike in rows:
        same = all(abs(a - b) <= DIGITS_MS for a, b in zip(want, got))
        wrong += alike and not same
        word = "same" if same else "OTHER" if alike else "defined otherwise"
        print(f"{name:24}" + "".join(f"{f'{a:.2f} -> {b:.2f}':>20}" for a, b in (want, got)) + f"  {word}")
    print(f"nsys-ai says: {theirs['verdict']}, {sum(r['delta_ms'] for r in theirs['category_attribution']):+.2f} ms over its categories")
    print(f"tacho says:   {ours['verdict']}")
    return wrong > 0


if __name__ == "__main__":
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
