#!/usr/bin/env python3
"""Compares `tacho analyze --json` with the expected figures of a corpus of traces, exactly.

usage: check_corpus.py TACHO [CORPUS | --made]

CORPUS: real traces, TACHO_CORPUS by default. --made: traces that made.py makes, with figures that are known by construction.
Three kinds of expectations, each made by programs that share no code with tacho:
  FILE.oracle.json            kernels, devices, launches, copies, operators of GPU traces
  live-*/expected.json        counts, steps and tokens of recordings of real engines
  broken-variants/EXPECT.json what must be saved from damaged files
Every figure in them is compared; expected.py lists those that are not, each with its reason.
Prints one line a difference and, last, "N passed, M failed".
"""
import json
import pathlib
import sys
import tempfile

import made
from compare import check, finish, only, run
from expected import Expected, check_all_compared, left_out
from figures import check_oracle, check_sglang, check_vllm
from graphs import check_graphs
from layers import check_layers
from memory_figures import check_memory
from nsys_figures import check_nsys, check_rows

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from corpus import corpus  # noqa: E402


# Whole traces whose evidence is right to say something: a device's clock that is ahead by 6 us.
SAID = {"mfu_2gpu_before.sqlite#pid=144": ["device-clock"]}
SAYS = {"device-clock", "impossible-order", "times-refused", "recorder-stopped", "lost-gpu-work", "lost-at-edge", "cut-off-work"}


def check_evidence(traces):
    """A whole trace keeps its figures: nothing of it is called lost, off or refused."""
    for t in traces:
        name = pathlib.Path(t["path"]).name
        said = [n["id"] for n in t["notes"] if n["id"] in SAYS]
        check(f"{name}: evidence", said, SAID.get(name, []))
        if t["devices"]:
            check(f"{name}: tells idle time", "idle" in t, True)


def check_oracles(tacho, folder):
    for path in sorted(folder.rglob("*.oracle.json")):
        name = str(path.relative_to(folder))
        if left_out(name):
            continue
        want = Expected(json.loads(path.read_text()))
        member = want["file"].get("member")
        traced = pathlib.Path(str(path).removesuffix(".oracle.json"))
        if member:
            traced = next(p for p in path.parent.glob("*.tar.gz") if traced.name.startswith(p.name))
        doc, _, _ = run(tacho, traced)
        check_evidence((doc or {"traces": []})["traces"])
        if name.endswith(".sqlite.oracle.json"):
            check_nsys(name, doc["traces"], want, traced)
            check_rows(name, doc["traces"], traced)
            check_all_compared(name, "nsys", want)
            continue
        if member:
            doc = {"traces": [t for t in (doc or {"traces": []})["traces"] if t["path"].endswith(member)]}
        if t := only(doc, name):
            check_oracle(name, t, want, traced)
            if not member:
                check_memory(name, t, traced)
            check_all_compared(name, "oracle", want)


def check_recordings(tacho, folder, engine, function):
    live = folder / f"live-{engine}-cpu"
    if not live.exists():  # tests/data holds recordings of the project's own: check_recordings.py
        return
    for file, want in json.loads((live / "expected.json").read_text()).items():
        name = f"{live.name}/{file}"
        if left_out(f"{live.name}/expected.json {file}"):
            continue
        want = Expected(want)
        doc, _, _ = run(tacho, live / file)
        if t := only(doc, name):
            function(name, t, want, live / file)
            if not any(n["severity"] == "data-loss" for n in t["notes"]):
                check_memory(name, t, live / file)
            check_all_compared(name, engine, want)


def check_broken(tacho, folder):
    for file, figures in json.loads((folder / "EXPECT.json").read_text()).items():
        want = Expected(figures)
        doc, status, error = run(tacho, folder / file)
        if want["error"]:
            check(f"{file} is refused", status, 3)
            check(f"{file} message names the file", file in error, True)
            check(f"{file} has no figures", [want["events"], want["kernels"]], [None, None])
        elif t := only(doc, file):
            check(f"{file} events", t["events"]["total"], want["events"])
            check(f"{file} kernels", t["events"]["by_category"].get("kernel", 0), want["kernels"])
            cut = "trunc" in file
            check(f"{file} is noted as cut", any(n["id"] == "truncated-json" for n in t["notes"]), cut)
            if cut:
                check(f"{file} status", status, 4)
        check_all_compared(file, "broken", want)


def check_folder(tacho, folder, is_real=False):
    if is_real:
        check_layers(tacho, folder)
        check_graphs(tacho, folder)
    check_oracles(tacho, folder)
    check_recordings(tacho, folder, "vllm", check_vllm)
    check_recordings(tacho, folder, "sglang", check_sglang)
    check_broken(tacho, folder / "broken-variants")
    finish()


def main():
    if len(sys.argv) not in (2, 3):
        sys.exit(__doc__)
    tacho = sys.argv[1]
    if sys.argv[2:] == ["--made"]:
        with tempfile.TemporaryDirectory(prefix="tacho-made-") as folder:
            made.write(pathlib.Path(folder))
            check_folder(tacho, pathlib.Path(folder))
    folder = pathlib.Path(sys.argv[2]) if sys.argv[2:] else corpus("figures of real traces")
    if folder is None:
        sys.exit(77)
    check_folder(tacho, folder, is_real=True)


main()
