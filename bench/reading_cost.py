#!/usr/bin/env python3
"""A gate on what it costs to read a trace, and to analyse it: counted instructions, as ratios, which nothing that runs beside moves.

usage: reading_cost.py FOLDER    the folder of the benchmarks of a release build

The times of two programs gave a ratio of 0.71 to 0.78, by the processor and by what ran beside; their instructions, of one build, give one.
They say nothing of caches, so bench/run measures times. Exit status: 1 when a ratio is more than a tenth above that in KNOWN, 77
where valgrind or simdjson is missing, or the compiler is another.
"""
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

# Of 100 MB in the layout of torch up to 2.11, with COMPILER and SIMDJSON: others give other ratios.
COMPILER, SIMDJSON = "12.", "3.0.1"
KNOWN = {"reading, by simdjson's reading of six fields": 0.524, "analysing, by reading": 0.623}


def counted(*command):
    return subprocess.run(["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null", *map(str, command)],
                          capture_output=True, text=True, timeout=300)


def instructions(*command):
    done = counted(*command)
    found = re.search(r"I +refs: +([\d,]+)", done.stderr)
    if done.returncode != 0 or not found:
        sys.exit(f"{command[0]}: {done.returncode}\n{done.stderr[-2000:]}")
    return int(found[1].replace(",", "")), json.loads(done.stdout)["events"]


def main():
    programs = pathlib.Path(sys.argv[1])
    rival = programs / "simdjson_read_avx2"
    for program in ("valgrind", programs / "read_trace", rival):
        if not shutil.which(program):
            print(f"*** NOT TESTED: reading cost: {program} is not there")
            return 77
    cache = (programs.parent / "CMakeCache.txt").read_text()
    compiler = re.search(r"^CMAKE_CXX_COMPILER:\w+=(.*)", cache, re.M)[1]
    for what, known, command in (("the compiler", COMPILER, [compiler, "-dumpfullversion"]), ("simdjson", SIMDJSON, ["pkg-config", "--modversion", "simdjson"])):
        version = subprocess.run(command, capture_output=True, text=True).stdout.strip()
        if not version.startswith(known):
            print(f"*** NOT TESTED: reading cost: {what} is {version}, and the known ratios are of {known}")
            return 77
    # Valgrind's long doubles have 64 bits: some versions of Boost give up over them at the program's start.
    if counted(programs / "read_trace").returncode < 0:
        print("*** NOT TESTED: reading cost: valgrind does not run read_trace here")
        return 77
    with tempfile.TemporaryDirectory(prefix="tacho-cost-") as folder:
        trace = pathlib.Path(folder) / "trace.json"
        subprocess.run([programs / "generate_trace", "--bytes", "100000000", "--output", trace], check=True, timeout=120)
        read, events = instructions(programs / "read_trace", "--only-read", trace)
        both, _ = instructions(programs / "read_trace", "--inline", trace)
        other, seen = instructions(rival, trace)
    assert events == seen, (events, seen)
    print(f"{events} events; instructions of an event: {read / events:.0f} to read, {(both - read) / events:.0f} to analyse, "
          f"{other / events:.0f} of simdjson")
    worse = 0
    for name, now in zip(KNOWN, (read / other, (both - read) / read)):
        worse += now > 1.1 * KNOWN[name]
        print(f"{'FAILED ' if now > 1.1 * KNOWN[name] else ''}{name}: {now:.3f} (known: {KNOWN[name]})")
    print(f"{2 - worse} passed, {worse} failed")
    return 1 if worse else 0


sys.exit(main())
