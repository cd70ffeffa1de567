#!/usr/bin/env python3
"""Results with --digests: joined in any order and in any number of steps, they are those of all traces at once.

usage: check_digests.py TACHO [--only NAME ...]
"""
import json
import pathlib
import random
import sys

import scenario
from analyze_run import run, write
from scenario import check, main

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests/support"))
from check_results import TWO_RANKS, without_commands  # noqa: E402
from corpus import corpus  # noqa: E402


def trees(folder):
    """Results of single ranks with --digests, joined in trees of any shape, are those of all ranks at once, byte for byte."""
    dice, folder = random.Random(35), pathlib.Path(folder)
    # A real run; ranks that wait for each other; reports of nsys; experts that are slow on one rank.
    inputs = [sorted(TWO_RANKS.glob("*.json.gz"))]
    for name, words in (("late", ["--ranks", "4", "--change", "late-rank@2:300us", "--steps", "40"]),
                        ("nsys", ["--ranks", "2", "--format", "nsys", "--steps", "20"]),
                        ("moe", ["--ranks", "8", "--model-size", "30b-a3b", "--change", "slow-experts@3:200us", "--steps", "20"])):
        made = folder / name
        done = scenario.run("simulate", "trace", "-o", str(made), *words)
        check(f"{name}: is simulated", done.returncode == 0, done.stderr)
        inputs.append([p for p in sorted(made.iterdir()) if ".truth" not in p.name and p.name != "truth.json"])
    for paths in inputs:
        whole = run("--json", "--digests", *paths)
        plain = run("--json", *paths)
        for number in range(6):
            layer = [[path] for path in paths]
            while len(layer) > 1 or layer[0][0].suffix != ".results":
                dice.shuffle(layer)
                size = dice.randint(2, 3)
                joined = []
                for i in range(0, len(layer), size):
                    part = [path for group in layer[i:i + size] for path in group]
                    results = folder / f"{number}-{dice.random()}.results"
                    results.write_bytes(run("--json", "--digests", *part).stdout)
                    joined.append([results])
                layer = joined
            check(f"{paths[0].parent.name} {number}: a tree of results", layer[0][0].read_bytes() == whole.stdout, layer)
            check(f"{paths[0].parent.name} {number}: without digests", run("--json", *layer[0]).stdout == plain.stdout, layer)
        singles = [folder / f"single{i}.json" for i in range(len(paths))]
        for single, path in zip(singles, paths):
            single.write_bytes(run("--json", "--digests", path).stdout)
        screens = [run(*singles).stdout.decode(), run(*paths).stdout.decode()]
        lines = [without_commands(screen, *singles, *paths) for screen in screens]
        check(f"{paths[0].parent.name}: the screen", lines[0] == lines[1], [pair for pair in zip(*lines) if pair[0] != pair[1]][:3])


def read_back(folder):
    """A single trace: its results are read back with their digest."""
    folder = pathlib.Path(folder)
    real = corpus("digests of real traces")
    for path in sorted(p for p in real.rglob("*.json*") if p.stat().st_size < 1_200_000) if real else []:
        written = run("--json", "--digests", path)
        if written.returncode in (0, 4):
            again = run("--json", write(folder / "again.json", written.stdout))
            check(f"{path.name}: read back", again.stdout == run("--json", path).stdout, again.stderr[:300])


def damaged(folder):
    folder, path = pathlib.Path(folder), sorted(TWO_RANKS.glob("*.json.gz"))[0]
    told = json.loads(run("--json", "--digests", path).stdout)
    for what, text in (("cut", told["traces"][0]["digest"][:-4]), ("no Base64", "!!!!"), ("empty", "AAAA")):
        told["traces"][0]["digest"] = text
        done = run(write(folder / "bad.json", json.dumps(told)))
        check(f"a digest that is {what}", done.returncode == 3 and b"digest of a trace is damaged" in done.stderr, done.stderr)
    done = run("--digests", path)
    check("--digests alone", done.returncode == 2 and b"--digests needs --json" in done.stderr, done.stderr)


main([trees, read_back, damaged], __doc__)
