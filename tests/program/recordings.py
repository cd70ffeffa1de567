"""What the checks of `tacho record` share: a recording, what a whole one holds, and one under way at a terminal."""
import json
import os
import pathlib
import re
import select
import signal
import subprocess
import time

import jsonschema

import processes
import scenario
from scenario import check, run

# Short windows: the machine that runs the tests may have two cores.
QUICK = ["--warm-up", "500ms", "--baseline", "1s", "--duration", "2s", "--prompt-tokens", "64", "--output-tokens", "32"]
# Without --duration, so that the budget bounds the window.
NOTHING_ASKED = ["--warm-up", "500ms", "--baseline", "1s", "--prompt-tokens", "64", "--output-tokens", "32"]
TWO = ["--count", "2", "--tp", "2", "--router", "vllm"]


def run_schema():
    """docs/run.schema.json with the parts that it takes from docs/json.schema.json."""
    docs = pathlib.Path(__file__).resolve().parents[2] / "docs"
    whole = json.loads((docs / "json.schema.json").read_text())["properties"]
    text = re.sub(r'\{\s*"\$ref": "json.schema.json#/properties/(\w+)"\s*\}', lambda m: json.dumps(whole[m[1]]),
                  (docs / "run.schema.json").read_text())
    return jsonschema.Draft202012Validator(json.loads(text))


RUN_SCHEMA = run_schema()


def record(folder, targets, *options, quick=QUICK, timeout=180):
    """Returns (finished process, run.json or None, run folder or None)."""
    out = pathlib.Path(folder) / "runs"
    before = set(out.iterdir()) if out.exists() else set()
    done = run("record", *targets, "--out", str(out), *quick, *options, timeout=timeout)
    new = sorted(set(out.iterdir()) - before) if out.exists() else []
    report = json.loads((new[-1] / "run.json").read_text()) if new and (new[-1] / "run.json").exists() else None
    return done, report, new[-1] if new else None


def finds(name, report, *ids):
    """Findings by id: their words may change."""
    there = [finding["id"] for finding in report["findings"]] if report else []
    check(f"{name}: finds {', '.join(ids)}", set(ids) <= set(there), there)


def ranks(report):
    return [rank for worker in report["workers"] for rank in worker["ranks"]]


def whole(name, done, report, folder, expected_ranks, names_steps=True):
    """A recording in which nothing is missing."""
    check(f"{name}: status", done.returncode == 0, f"{done.returncode}\n{done.stdout}\n{done.stderr}")
    if report is None:
        check(f"{name}: run.json", False, done.stderr)
        return
    check(f"{name}: complete", report["complete"] and report["exit_status"] == 0, report.get("missing"))
    check(f"{name}: ranks", len(ranks(report)) == expected_ranks, ranks(report))
    check(f"{name}: proven", all(r["proven"] and (r.get("steps", 0) > 0 or not names_steps) for r in ranks(report)),
          ranks(report))
    files = [f for r in ranks(report) for f in r["files"]]
    check(f"{name}: own files", len(set(files)) == len(files) and all((folder / f.split("#")[0]).is_file() for f in files), files)
    check(f"{name}: the rest of the folder",
          all((folder / f).is_file() for f in ("commands.sh", "probes.json", "plan.json", "requests.jsonl")))
    check(f"{name}: nothing half written", not list(folder.rglob("*.part")) and not list(folder.rglob("*.tmp")))
    requests = [json.loads(line) for line in (folder / "requests.jsonl").read_text().splitlines()]
    check(f"{name}: requests", len(requests) > 0)
    end = done.stdout.rstrip("\n").split("\n\n")[-1].split("\n")
    # The tables of nsys have a line of their own.
    end = [line for line in end if not line.strip().startswith("tacho stats ")]
    # The comparison with an earlier recording of these workers has a line of its own.
    compares = end[-1].strip().startswith("tacho compare ")
    labels = [line[1:9].strip() for line in (end[:-1] if compares else end)]
    check(f"{name}: ends with what it is worth", len(end) <= 12 and labels[0] == "VERDICT" and "proof" in labels
          and labels[-3:] == ["folder", "report", "next"], end)
    page = (folder / "report.html").read_text() if (folder / "report.html").exists() else ""
    check(f"{name}: report.html", page.startswith("<!doctype html>") and f"{expected_ranks} of {expected_ranks} ranks proven" in page,
          page[:300])
    errors = [e.message[:200] for e in RUN_SCHEMA.iter_errors(report)]
    check(f"{name}: docs/run.schema.json", not errors, errors[:3])
    check(f"{name}: proof is data", report["proof"] == {"proven": expected_ranks, "ranks": expected_ranks}, report["proof"])
    told = json.loads(run("analyze", "--json", str(folder / "traces")).stdout)
    check(f"{name}: the verdict is that of analyze", told["verdict"] == report["verdict"], (told["verdict"], report["verdict"]))
    # A trace of nsys names no rank where a worker has only one.
    called = {r["name"] for r in ranks(report)}
    called |= {one.removesuffix(" TP0") for one in called if f"{one.removesuffix(' TP0')} TP1" not in called and report["via"] == "nsys"}
    check(f"{name}: ranks are called as in the tables",
          {t["identity"]["name"].removesuffix(" prefill").removesuffix(" decode") for t in told["traces"] if "identity" in t}
          <= called or not names_steps, ranks(report))


def state_file():
    """Where the figures of earlier recordings are kept."""
    return pathlib.Path(os.environ["XDG_STATE_HOME"]) / "tacho" / "profiles.json"


class Recording:
    """A `tacho record` under way, at a terminal, so that its progress is seen."""

    def __init__(self, folder, targets, *options):
        self.out = pathlib.Path(folder) / "runs"
        self.screen, theirs = processes.open_terminal(columns=500)  # messages stay on one line
        self.process = subprocess.Popen([scenario.TACHO, "record", *targets, "--out", str(self.out), *options],
                                        stdout=subprocess.PIPE, stderr=theirs, text=True)
        os.close(theirs)
        self.errors = ""

    def read(self, wait):
        """Whether more may come."""
        if not select.select([self.screen], [], [], wait)[0]:
            return True
        try:
            self.errors += os.read(self.screen, 65536).decode(errors="replace").replace("\r\n", "\n")
            return True
        except OSError:  # its other end is closed
            return False

    def until(self, words, seconds=processes.PATIENCE_S):
        """Reads on until `words` are there, after what was read so far."""
        seen, end = len(self.errors), time.monotonic() + seconds
        while time.monotonic() < end and self.read(0.2):
            if words in self.errors[seen:]:
                return True
        check(f"says {words} within {seconds} s", False, self.errors[-2000:])
        return False

    def interrupt(self):
        self.process.send_signal(signal.SIGINT)

    def end(self, seconds=processes.PATIENCE_S):
        """(exit status, standard output, all of standard error, seconds that it took)"""
        began = time.monotonic()
        while time.monotonic() - began < seconds and self.read(0.2):
            pass
        try:
            out, _ = self.process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise processes.Overdue(f"waited {seconds} s for the end of {self.process.args}: {self.errors[-2000:]}") from None
        os.close(self.screen)
        return self.process.returncode, out, self.errors, time.monotonic() - began

    def report(self):
        found = list(self.out.rglob("run.json"))
        return json.loads(found[0].read_text()) if found else None
