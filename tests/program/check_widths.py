#!/usr/bin/env python3
"""Every screen at eighty columns: no line is wider, except for commands, which are there to be copied.

usage: check_widths.py TACHO [--only NAME ...]
"""
import os
import pathlib
import re
import subprocess
import sys
import unicodedata

import scenario
from scenario import check, main, simulation, target

COLUMNS = 80
TABLES = ("kernels", "categories", "ops", "launches", "copies", "gaps", "steps", "devices", "ranks")
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests/support"))
from corpus import corpus  # noqa: E402


def width(line):
    wide = sum(unicodedata.east_asian_width(c) in "WF" for c in line)
    return len(line) + wide - sum(unicodedata.combining(c) > 0 for c in line)


def narrow(what, *arguments, timeout=180):
    done = subprocess.run([scenario.TACHO, *map(str, arguments)], capture_output=True, timeout=timeout,
                          env={**os.environ, "COLUMNS": str(COLUMNS), "LC_ALL": "C.UTF-8"})
    lines = done.stdout.decode(errors="replace").split("\n")
    wide = [line for line in lines if width(line) > COLUMNS and not re.match(r"(next:)? +(next +)?tacho | report +\S+$", line)]
    check(f"{what}: no line beyond {COLUMNS} columns", not wide, "\n".join([" ".join(map(str, arguments)), *wide[:5]]))
    check(f"{what}: something is shown", len(lines) > 1, done.stderr)


def traces(folder):
    """Real traces of many kinds: the screen, and all tables in one run (a start under a sanitizer is slow)."""
    inputs = [*(ROOT / "tests/data").rglob("*.json.gz"), ROOT / "tests/data/vllm-cpu/tp2"]
    if real := corpus("the widths of real traces"):
        inputs += [p for p in sorted(real.rglob("*.json.gz")) if p.stat().st_size < 1_000_000]
        inputs += [p for p in sorted(real.rglob("*")) if p.is_dir() and any(p.glob("*.json.gz"))]
    for path in inputs:
        narrow(path.name, "analyze", path)
        narrow(f"{path.name}, tables", "analyze", path, *[f"--{table}" for table in TABLES])
        narrow(f"{path.name} --summary", "analyze", path, "--summary")


def deployments(folder):
    """The screens of a deployment, a load and a recording."""
    with simulation(folder, "--count", "2", "--tp", "2", "--router", "vllm") as addresses:
        router = target(addresses)
        load = ("--requests", 12, "--concurrency", 4, "--input-len", 64, "--output-len", 16)
        narrow("engine status", "engine", "status", *router)
        narrow("load", "load", *router, *load)
        narrow("load, sweep", "load", *router, *load, "--sweep", "concurrency=1,2")
        narrow("record", "record", *router, "--out", folder, "--warm-up", "500ms", "--baseline", "1s", "--duration", "1s")
        narrow("load --profile", "load", *[w["url"] if isinstance(w, dict) else w for w in addresses["workers"]], *load, "--profile",
               "--out", folder)


main([traces, deployments], __doc__)
