"""What the tests of `tacho export` have in common: the program run, and the traces that it is tried with."""
import csv
import io
import json
import pathlib
import subprocess
import sys
from collections import Counter

import scenario
from analyze_run import RECORDING
from scenario import check

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests/support"))
from corpus import corpus  # noqa: E402

STACKS = ROOT / "tests/data/torch-cpu/stack.pt.trace.json.gz"
SERVER_STACKS = ROOT / "tests/data/vllm-cpu/shapes_stack_rank0.pt.trace.json.gz"
TWO_RANKS = ROOT / "tests/data/vllm-cpu/tp2"


def export(*arguments, **more):
    more.setdefault("stdout", subprocess.PIPE)
    return subprocess.run([scenario.TACHO, "export", *map(str, arguments)], stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, timeout=120, **more)


def exported(path, to, *more, status=(0, 4)):
    """The file `to`, written anew."""
    to.parent.mkdir(exist_ok=True)
    to.unlink(missing_ok=True)
    done = export(path, "-o", to, *more)
    check(f"{pathlib.Path(path).name} to {to.name} {more}", done.returncode in status and to.is_file(), (done.returncode, done.stderr))
    return to


def query(path, sql, status=(0, 4)):
    done = subprocess.run([scenario.TACHO, "query", str(path), sql, "--csv"], capture_output=True, text=True, timeout=120)
    check(sql, done.returncode in status, done.stderr)
    return list(csv.reader(io.StringIO(done.stdout)))[1:]


def traces():
    """Some of each kind; those of the corpus have GPU work."""
    paths = [RECORDING, *sorted((ROOT / "tests/data/torch-cpu").glob("*.json.gz"))]
    if real := corpus("exports of real traces"):
        paths += [p for p in sorted((real / "AMD-AGI+TraceLens").rglob("*.json.gz")) if p.stat().st_size < 900_000][:8]
        paths += [p for p in sorted((real / "broken-variants").iterdir()) if p.suffix in (".json", ".gz") and p.stat().st_size < 100_000]
    return paths


def only_traces(done):
    return json.loads(done.stdout)["traces"]


def folded_lines(text):
    """{stack: number}, as flamegraph.pl reads them: a number after the last space."""
    out = Counter()
    for line in text.splitlines():
        stack, number = line.rsplit(" ", 1)
        check("a stack has one line", stack not in out, stack)
        out[stack] = int(number)
    return out
