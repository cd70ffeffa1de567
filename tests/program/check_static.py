#!/usr/bin/env python3
"""The static program beside the dynamic one: the same bytes and exit statuses for every input of the corpus, from an empty root.

usage: check_static.py STATIC DYNAMIC

The static program runs with a root of its own, in which there is nothing but itself and the corpus. That takes to be root.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))
from corpus import corpus  # noqa: E402

QUERY = """SELECT t.rank, k.category, k.phase, count(*) AS n, sum(k.dur_ns) AS ns, median(k.dur_ns) AS middle FROM
  (SELECT kernels.*, steps.phase FROM kernels LEFT JOIN steps ON steps.number = kernels.step AND steps.trace = kernels.trace) AS k
  JOIN ranks AS t ON t.trace = k.trace GROUP BY 1, 2, 3"""


def commands(path):
    return [["analyze", path], ["analyze", path, "--json"], ["query", path, QUERY, "--csv"], ["query", path, "SELECT * FROM gaps", "--json"],
            *(["export", path, "-o", "-", "--format", kind] for kind in ("kineto", "perfetto", "folded", "csv")),
            ["report", path, "-o", "-"], ["report", path, "--markdown"]]


def inputs(folder):
    """The corpus's files, and its folders that hold more than one, as relative paths."""
    found = sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())
    folders = sorted({str(pathlib.Path(name).parent) for name in found})
    return found + [name for name in folders if sum(file.startswith(name + "/") for file in found) > 1]


def main():
    static, dynamic = (str(pathlib.Path(word).resolve()) for word in sys.argv[1:3])
    if os.geteuid() != 0:
        print("an empty root takes to be root")
        return 77
    ran = different = 0
    with tempfile.TemporaryDirectory() as root:
        folder = pathlib.Path(root)
        for name, source in (("corpus", corpus("the corpus by the static program")), ("recorded", ROOT / "tests/data/vllm-cpu")):
            if source:
                shutil.copytree(source, folder / name, symlinks=True)
        paths = inputs(folder)
        shutil.copy(static, folder / "tacho")
        environment = {"LC_ALL": "C", "PATH": "/"}

        def both(words):
            nonlocal ran, different
            dynamically = subprocess.run([dynamic, *words], cwd=root, env=environment, capture_output=True)
            alone = subprocess.run(["/tacho", *words], env=environment, capture_output=True, preexec_fn=lambda: os.chroot(root) or os.chdir("/"))
            ran += 1
            for what in ("returncode", "stdout", "stderr"):
                a, b = getattr(dynamically, what), getattr(alone, what)
                if a != b:
                    different += 1
                    at = 0 if what == "returncode" else next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
                    shown = (a, b) if what == "returncode" else (a[at:at + 200], b[at:at + 200])
                    print(f"FAILED tacho {' '.join(words)}: {what} from byte {at}: {shown[0]!r}, and static {shown[1]!r}", flush=True)
            return alone

        good = []
        for path in paths:
            first, *others = commands(path)
            if both(first).returncode in (0, 4):
                good.append(path)
                for words in others:
                    both(words)
        for before, after in zip(good, good[1:]):
            both(["compare", before, after])
            both(["compare", before, after, "--json"])
    print(f"{ran - different} passed, {different} failed: {len(paths)} inputs, {len(good)} of them with a trace")
    return 1 if different or len(good) < 3 else 0


sys.exit(main())
