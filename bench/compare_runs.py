#!/usr/bin/env python3
"""Times `tacho compare A B` beside the analyses of A and of B alone, in turn.

usage: bench/compare_runs.py TACHO A B [--rounds N]

A and B are traces, folders or results. Prints the median of each and compare / (A + B): 1.00 is no more than to read and analyse
both. Wants a quiet machine and files in the page cache, which the first round is for.
"""
import argparse
import statistics
import subprocess
import sys
import time


def seconds(*command):
    begin = time.perf_counter()
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    if done.returncode not in (0, 4):
        sys.exit(f"{' '.join(command)}: status {done.returncode}: {done.stderr.decode()[-300:]}")
    return time.perf_counter() - begin


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("tacho")
    parser.add_argument("a")
    parser.add_argument("b")
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    commands = {"analyze A": ["analyze", options.a], "analyze B": ["analyze", options.b],
                "compare A B": ["compare", options.a, options.b, "--anyway"]}
    times = {name: [] for name in commands}
    for round_number in range(options.rounds + 1):
        for name, command in commands.items():
            took = seconds(options.tacho, *command)
            if round_number > 0:
                times[name].append(took)
    for name, taken in times.items():
        print(f"{name:12} {statistics.median(taken):.3f} s  ({min(taken):.3f} to {max(taken):.3f})")
    medians = {name: statistics.median(taken) for name, taken in times.items()}
    print(f"compare / (A + B): {medians['compare A B'] / (medians['analyze A'] + medians['analyze B']):.2f}")


if __name__ == "__main__":
    main()
