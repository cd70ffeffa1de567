"""What the checks of `tacho load` share: running it, its figures and records, and exact comparisons."""
import json
import pathlib
import resource
import subprocess

import jsonschema

import scenario
from scenario import check

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCHEMA = jsonschema.Draft202012Validator(json.loads((ROOT / "docs/load.schema.json").read_text()))
DONE, USAGE, UNREADABLE, INCOMPLETE, REMOTE, INTERRUPTED = 0, 2, 3, 4, 6, 130
FIXED = ["--input-len", "32", "--output-len", "12"]


def run(*arguments, timeout=120, cwd=None, descriptors=None):
    """`descriptors`: the limits of open files, soft and hard."""
    limit = descriptors and (lambda: resource.setrlimit(resource.RLIMIT_NOFILE, descriptors))
    return subprocess.run([scenario.TACHO, "load", *map(str, arguments)], capture_output=True, text=True, timeout=timeout, cwd=cwd, preexec_fn=limit)


def load(name, *arguments, status=DONE):
    """A load with --json: its figures, or None. The exit status is checked."""
    done = run(*arguments, "--json")
    check(f"{name}: status", done.returncode == status, f"{done.returncode}\n{done.stdout[-800:]}\n{done.stderr[-800:]}")
    try:
        told = json.loads(done.stdout)
    except ValueError:
        check(f"{name}: JSON", False, done.stdout[:300] + done.stderr[:300])
        return None
    if "levels" not in told:
        errors = [f"{error.json_path}: {error.message[:200]}" for error in SCHEMA.iter_errors(told)]
        check(f"{name}: docs/load.schema.json", not errors, errors[:3])
    return told


def records_of(path):
    return [json.loads(line) for line in pathlib.Path(path).read_text().splitlines()]


def near(a, b, share=0.0, least=0.0):
    return abs(a - b) <= max(share * abs(b), least)


def percentile(samples, percent):
    """numpy.percentile's linear rule."""
    ordered = sorted(samples)
    at = (len(ordered) - 1) * percent / 100
    low = int(at)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (at - low)
