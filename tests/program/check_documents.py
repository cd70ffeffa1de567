#!/usr/bin/env python3
"""Runs the commands that the documents show and compares their output.

usage: check_documents.py TACHO [--update] [--engines]

A block fenced as ```console holds "$ tacho ..." lines, each followed by its output; a line "..." stands for any
lines. A comment before the block, <!-- run in DIR -->, names where (default: the project's root); DIR may start
with $TACHO_CORPUS; where that folder is not there a line says that the block was not tested. <!-- run in a folder of its own -->: an empty one. --update writes the real
output into the documents (of blocks without "...").

<!-- run against simulate OPTIONS --> starts `tacho simulate OPTIONS` for the block's commands: the first http:// address
in them stands for its router, or its first worker, job.log is the log of the RL job that started it, and what is printed
is compared with every number masked.

<!-- run with engines --> needs the real engines (tools/engines install all), so only --engines runs it, times and sizes masked: what
`tools/engines run` holds serves the document's later blocks, in which its addresses and folder stand for those shown.

Besides, each option that the pages on engines name must be one, each symptom of docs/troubleshooting.md must be
something that the program says, and docs/csv.md names the columns of --csv in their order.
"""
import atexit
import contextlib
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

import processes
from rollout_log import RolloutLog

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests/support"))
from corpus import corpus  # noqa: E402
BLOCK = re.compile(r"(?:<!-- run in (?P<dir>\S+) -->\n|<!-- run against (?P<engines>simulate(?: [^\n]*)?) -->\n"
                   r"|<!-- run with (?P<real>engines) -->\n|<!-- run in (?P<own>a folder of its own) -->\n)?"
                   r"```console\n(?P<body>.*?)```\n", re.S)
STATE = tempfile.mkdtemp(prefix="tacho-state-")  # no kept figures of engines from other runs
atexit.register(shutil.rmtree, STATE, ignore_errors=True)
# Options that belong to engines and other programs.
FOREIGN = {"--profiler-config", "--load-format", "--enable-sleep-mode", "--max-iterations", "--enable-metrics"}


def matches(want, got):
    """Whether the lines `got` are those of `want`, where "..." is any number of lines."""
    if not want:
        return not got
    if want[0].strip() == "...":
        return any(matches(want[1:], got[i:]) for i in range(len(got) + 1))
    return bool(got) and want[0].rstrip() == got[0].rstrip() and matches(want[1:], got[1:])


# Lines that appear only if other programs keep the cores busy.
BUSY = re.compile(r"the client was the limit|: its flush has taken ")


def masked(line):
    """The part of a line that is the same in every run: without numbers, units, bars and column widths."""
    line = re.sub(r"[█▉▊▋▌▍▎▏▁▂▃▄▅▆▇▒░]+", "", line)
    line = re.sub(r"no change beyond [\d.]+ % noise|cannot tell: the rate varies too much|(no cost seen: [\d.]+ % faster with it|[+-][\d.]+ %), give or take [\d.]+ %", "COST", line)
    line = re.sub(r"http://[\d.]+:\d+", "URL", line)
    line = re.sub(r"/\S+/engines\b", "FOLDER", line)
    line = re.sub(r"\d[\d,.]*( to \d[\d,.]*)?( (ns|us|ms|s|B|kB|MB|GB)\b)?", "#", line)
    return " ".join(line.split())


def masked_real(line):
    """The same for real engines, but with counts."""
    line = re.sub(r"http://[\d.]+:\d+", "URL", line)
    line = re.sub(r"/\S+/tacho-engines-\w+", "FOLDER", line)
    return re.sub(r"\d[\d.]* (s|GB)\b", "#", line).rstrip()


@contextlib.contextmanager
def simulated(tacho, words, folder):
    """The address of a simulation's router, or of its first worker. FOLDER/job.log is the log of its RL job."""
    with processes.running([tacho, *words, "--json", "--trace-dir", f"{folder}/engines"], stdout=subprocess.PIPE, text=True) as process:
        told = json.loads(processes.first_line(process))
        router = told.get("router")
        url = router["url"] if isinstance(router, dict) else router or told["workers"][0]["url"]
        log = RolloutLog(f"{folder}/job.log", "sglang" if "sglang" in words else "vllm")
        log.engines([worker["url"] for worker in told["workers"]])
        log.router(url)
        yield url


def run_shown(tacho, words, cwd):
    done = subprocess.run([tacho, *words[1:]], cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=240,
                          env={**os.environ, "XDG_STATE_HOME": tempfile.mkdtemp(dir=STATE), "PATH": f"{os.path.dirname(tacho)}:{os.environ['PATH']}",
                               "NO_COLOR": "1", "LC_ALL": "C.UTF-8", "COLUMNS": ""})
    return done.stdout.decode()


class RealEngines:
    """What a document's blocks do with real engines."""

    def __init__(self):
        self.held = []
        self.stands_for = {}  # a shown address or folder: ours

    def run(self, words, shown):
        """What the command prints. An engine that runs is held until `end`."""
        words = [str(ROOT / words[0]), *words[1:]]
        if words[1:2] != ["run"]:
            told = re.sub("|".join(map(re.escape, self.stands_for)) or "$^", lambda m: self.stands_for[m[0]], "\n".join(words))
            done = subprocess.run(told.split("\n"), cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=900)
            return done.stdout
        process = subprocess.Popen([*words, "--until-stdin-closes"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, text=True)
        self.held.append(process)
        printed = ""
        for line in process.stdout:
            printed += line
            if line.startswith("holding them"):
                break
        names = re.compile(r"^(?:worker|router) (\S+)$|(/\S+/tacho-engines-\w+)", re.M)
        self.stands_for = {a[0] or a[1]: b[0] or b[1] for a, b in zip(names.findall(shown), names.findall(printed))}
        return printed

    def end(self):
        for process in self.held:
            process.stdin.close()
            process.wait(120)


def check_options(tacho):
    """Every --option that the pages on engines name, in code or in a block, is one of ours, of the tools or of FOREIGN."""
    helps = [[tacho, command, "--help"] for command in ("record", "engine", "simulate", "analyze", "load")]
    helps += [[ROOT / "tools/engines", "run", "--help"], [ROOT / "tools/test", "--help"], [ROOT / "tools/demo", "--help"]]
    helps += [[sys.executable, ROOT / "tests" / script, "--help"] for script in ("engines/check_engines.py", "conformance/check.py")]
    known = "".join(subprocess.run(h, stdout=subprocess.PIPE, text=True).stdout for h in helps)
    known = set(re.findall(r"--[a-z][a-z-]+", known)) | FOREIGN
    bad = 0
    for name in ("record.md", "engines.md", "troubleshooting.md"):
        for option in sorted(set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", (ROOT / "docs" / name).read_text())) - known):
            print(f"{name}: {option} is no option")
            bad += 1
    return bad


def check_symptoms():
    """The sources contain what the first column of docs/troubleshooting.md quotes; N, M, DIR match anything."""
    texts = []
    for path in (ROOT / "src").rglob("*.cc"):
        code = re.sub(r'"\s*\n\s*"', "", path.read_text())
        texts += re.findall(r'"((?:[^"\\]|\\.)*)"', code)
    said = re.sub(r"\{[^{}]*\}", "", "\n".join(texts)).replace('\\"', '"')
    bad = quoted = 0
    for line in (ROOT / "docs/troubleshooting.md").read_text().splitlines():
        for symptom in re.findall(r"`([^`]+)`", line.split("|")[1]) if line.startswith("| ") else ():
            quoted += 1
            for part in re.split(r"\b(?:[NM]|DIR|URL|HOST|HTTP \d+)\b", symptom):
                if len(part.strip(" ,;")) > 3 and part.strip(" ,;") not in said:
                    print(f"troubleshooting.md: nothing says '{part.strip()}' (of `{symptom}`)")
                    bad += 1
    if not quoted:
        print("troubleshooting.md: no symptom found")
    return bad + (not quoted)


NOT_OF_A_TRACE = ("findings", "ranks", "rank_blame", "rank_experts", "collective_sizes", "requests", "request_bands")  # files without the columns trace and rank


def check_columns(tacho):
    """docs/csv.md names every file of `--csv` and every column in its order (trace and rank in its introduction)."""
    told = {}
    for line in (ROOT / "docs/csv.md").read_text().splitlines():
        if heading := re.match(r"## `(\w+)\.csv`", line):
            columns = told[heading[1]] = [] if heading[1] in NOT_OF_A_TRACE else ["trace", "rank"]
        elif column := re.match(r"\| `(\w+)` \|", line):
            columns.append(column[1])
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([tacho, "analyze", "--csv", f"{folder}/csv", ROOT / "tests/data/torch-cpu/shapes_memory.pt.trace.json.gz"],
                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=True)
        written = {p.stem: p.read_text().splitlines()[0].split(",") for p in pathlib.Path(folder, "csv").glob("*.csv")}
    bad = 0
    for name in sorted(told.keys() | written.keys()):
        if told.get(name) != written.get(name):
            print(f"csv.md: {name}.csv has {written.get(name)}, the page names {told.get(name)}")
            bad += 1
    return bad


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    real = RealEngines() if "--engines" in sys.argv else None
    try:
        check(real)
    finally:
        if real:
            real.end()


def check(real):
    tacho, update = os.path.abspath(sys.argv[1]), "--update" in sys.argv
    passed = failed = skipped = 0
    for path in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "ARCHITECTURE.md", *sorted((ROOT / "docs").rglob("*.md"))]:
        text = path.read_text()
        out, last = [], 0
        for block in BLOCK.finditer(text):
            folder = block["dir"] or "."
            if block["real"] and real is None:
                continue
            if real is not None and not block["real"]:
                continue
            if folder.startswith("$TACHO_CORPUS"):
                real_traces = corpus(f"a block of {path.name}")
                if not real_traces:
                    skipped += 1
                    continue
                folder = folder.replace("$TACHO_CORPUS", str(real_traces))
            body = ""
            with contextlib.ExitStack() as held:
                cwd, url = ROOT / folder, None
                if block["engines"] or block["own"]:
                    cwd = pathlib.Path(held.enter_context(tempfile.TemporaryDirectory()))
                if block["engines"]:
                    url = held.enter_context(simulated(tacho, shlex.split(block["engines"]), cwd))
                look = masked_real if block["real"] else masked if url else str.rstrip
                for part in re.split(r"(?m)^(?=\$ )", block["body"]):
                    command, _, want = part.partition("\n")
                    words = shlex.split(command[2:]) if part.startswith("$ ") else [""]
                    if words[0] != "tacho" and not (block["real"] and part.startswith("$ ")) or words[-1] == "&":
                        body += part  # shown, not run: installs and the like
                        continue
                    shown = [word for word in words if word.startswith("http://")][:1]
                    if block["real"]:
                        got, shown = real.run(words, want), []
                    else:
                        run = [url if url and [word] == shown else word for word in words]
                        there = set(cwd.iterdir()) if url else ()
                        got = run_shown(tacho, run, cwd)
                        for _ in range(2):  # figures that others on the cores spoiled are taken again
                            if run[1:2] != ["load"] or "the client was the limit" not in got:
                                break
                            for spoiled in set(cwd.glob("tacho-*")) - set(there):  # else the next one is compared with it
                                shutil.rmtree(spoiled)
                            got = run_shown(tacho, run, cwd)
                    for one in shown:
                        got = got.replace(url or one, one)
                    got = re.sub(r",\s+give\s+or\s+take\s+", ", give or take ", got)  # a long cost is wrapped
                    printed = [look(line) for line in got.rstrip("\n").split("\n") if not (url and BUSY.search(line))]
                    expected = [look(line) for line in want.rstrip("\n").split("\n")]
                    if url and "the client was the limit" in got:  # a busy machine: TTFT is left out
                        cut = [re.sub(r"TTFT [^·]*· ", "", line) for line in expected]
                        expected = [short if short in printed else line for short, line in zip(cut, expected)]
                    if matches(expected, printed):
                        passed += 1
                    else:
                        failed += 1
                        print(f"{path.name}: {command}\n--- prints\n{got}\n--- shown\n{want}")
                    body += part if url or block["real"] or "\n...\n" in part else command + "\n" + got.rstrip("\n") + "\n\n"
            if update:
                out.append(text[last : block.start("body")] + body.rstrip("\n") + "\n")
                last = block.end("body")
        if update:
            path.write_text("".join(out) + text[last:])
    failed += check_options(tacho) + check_symptoms() + check_columns(tacho)
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    if update:
        sys.exit(0)
    if passed + failed == 0:
        print("*** NOT TESTED: no command of the documents was run")
        sys.exit(77)
    sys.exit(failed != 0)


main()
