#!/usr/bin/env python3
"""Joins the results of many ranks, and says what that takes.

usage: join_ranks.py TACHO [--ranks N ...] [--folder FOLDER]

Eight simulated ranks of 20 steps are analysed with --digests; their results are written again and again as those of further ranks, eight
a file, as a node of eight GPUs gives them. They are joined whole, and with little but their digests. Prints a line of JSON for each join.
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

import measure

A_FILE = 8  # ranks


def simulated(tacho, folder):
    made = folder / "made"
    subprocess.run([tacho, "simulate", "trace", "-o", made, "--ranks", str(A_FILE), "--steps", "20"], check=True, stdout=subprocess.DEVNULL)
    traces = sorted(made.glob("*.pt.trace.json"))
    return json.loads(subprocess.run([tacho, "analyze", "--json", "--digests", *traces], check=True, capture_output=True).stdout)


def without_tables(trace):
    """The same trace with its digest, and with empty tables where they may be empty."""
    def empty(table):
        return [] if isinstance(table, list) else {key: empty(value) if isinstance(value, (list, dict)) else value for key, value in table.items()}
    small = {key: empty(value) if key in ("kernels", "categories", "launches", "ops", "key_averages", "graphs", "layers", "opportunities", "step_parts")
             else value for key, value in trace.items()}
    return small | {"idle": trace["idle"] | {"gaps": []}}


def write(results, ranks, folder):
    folder.mkdir()
    for first in range(0, ranks, A_FILE):
        traces = [trace | {"path": f"node-{first // A_FILE}:/profile/rank{first + i}.json", "rank": first + i}
                  for i, trace in enumerate(results["traces"][:ranks - first])]
        (folder / f"{first:06}.json").write_text(json.dumps(results | {"traces": traces}))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tacho")
    parser.add_argument("--ranks", type=int, nargs="+", default=[1000, 10_000])
    parser.add_argument("--folder", help="where to write, 110 kB a rank (default: the system's folder for temporary files)")
    options = parser.parse_args()
    tacho = str(pathlib.Path(options.tacho).resolve())
    with tempfile.TemporaryDirectory(dir=options.folder) as name:
        folder = pathlib.Path(name)
        results = simulated(tacho, folder)
        small = results | {"traces": [without_tables(trace) for trace in results["traces"]]}
        for what, of in (("digests", small), ("whole results", results)):
            for ranks in options.ranks:
                to = folder / f"{what} {ranks}"
                write(of, ranks, to)
                sample = measure.measure([tacho, "analyze", to])
                print(json.dumps({"joined": what, "ranks": ranks, "bytes_a_rank": sum(p.stat().st_size for p in to.iterdir()) // ranks,
                                  "cpu_s": round(sample.cpu_s, 2), "wall_s": round(sample.wall_s, 2), "peak_mb": sample.peak_bytes // 1_000_000}))
                subprocess.run(["rm", "-r", to], check=True)


if __name__ == "__main__":
    sys.exit(main())
