"""What the parts share: traces of torch.profiler, each with truth of its own, in a folder with one truth.json.

A part is a program `PART.py --out FOLDER [--cpu] [--tacho TACHO]`. It writes its traces to FOLDER and, after each, FOLDER/truth.json:

  {"part": NAME, "versions": {...}, "traces": [...], "skipped": [{"what", "why"}], "failed": WHY if it failed}
  a trace: {"what", "file", "truth": [{"figure", "value", "bound", "source"}]}

`figure` is a name in FIGURES of verdicts.py, `value` a number, a truth value, or a number for each of many names. A difference up to
`bound` is none; `source` says who counted or measured.
"""
import argparse
import contextlib
import json
import pathlib
import sys
import time
import traceback
import warnings


class Skipped(Exception):
    """What a part cannot try on this machine, and why."""


class Part:
    def __init__(self, name):
        parser = argparse.ArgumentParser(prog=f"{name}.py", description=sys.modules["__main__"].__doc__, allow_abbrev=False,
                                         formatter_class=argparse.RawDescriptionHelpFormatter)
        parser.add_argument("--out", required=True, type=pathlib.Path, help="a folder for the traces and truth.json")
        parser.add_argument("--cpu", action="store_true", help="the same on the CPU; what needs a GPU is skipped by name")
        parser.add_argument("--tacho", help="the tacho that records, for the daemon's way")
        self.options = parser.parse_args()
        self.name, self.cpu, self.out = name, self.options.cpu, self.options.out
        self.device = "cpu" if self.cpu else "cuda"
        self.told = {"part": name, "versions": {}, "traces": [], "skipped": []}
        self.out.mkdir(parents=True, exist_ok=True)

    def save(self):
        (self.out / "truth.json").write_text(json.dumps(self.told, indent=1) + "\n")

    def skip(self, what, why):
        self.told["skipped"].append({"what": what, "why": why})
        self.save()

    def needs_gpu(self, what):
        if self.cpu:
            raise Skipped(f"{what}: needs CUDA")

    def skip_unless_lost(self, what):
        """Says so if no trace of this part lacks anything: then `what` was not seen here."""
        facts = [one for trace in self.told["traces"] for one in trace["truth"]]
        if not self.cpu and not any(one["figure"] == "lost GPU events" and one["value"] for one in facts):
            self.skip(what, "nothing was lost here")

    def add(self, what, file, truth):
        """A trace that is in the part's folder, or was made elsewhere, and its truth."""
        self.told["traces"].append({"what": what, "file": str(file), "truth": truth})
        self.save()

    @contextlib.contextmanager
    def recorded(self, what, stacks=False):
        """Profiles the block; yields a list for its truth. Adds the trace, with what torch itself says of the same profile."""
        import torch
        from torch.profiler import ProfilerActivity
        truth = []
        activities = [ProfilerActivity.CPU] + ([] if self.cpu else [ProfilerActivity.CUDA])
        with torch.profiler.profile(activities=activities, with_stack=stacks) as profile:
            yield truth
            if not self.cpu:
                torch.cuda.synchronize()  # else work is cut off that the program counted
        file = what.replace(" ", "-").replace(",", "") + ".json.gz"
        profile.export_chrome_trace(str(self.out / file))
        averages = profile.key_averages()
        missing = lost(averages, truth)
        self.add(what, file, truth + missing + of_key_averages(averages))


def fact(figure, value, source, bound=0):
    return {"figure": figure, "value": value, "bound": bound, "source": source}


def device_rows(averages):
    """The rows of key_averages() that are GPU work, and not what Kineto draws over it."""
    from torch.autograd import DeviceType
    return [row for row in averages if row.device_type == DeviceType.CUDA and not row.is_user_annotation]


def of_key_averages(averages):
    """What key_averages() says of the profile. Its times are ns in us: sums of doubles, so a row may be off by a ns."""
    work = device_rows(averages)
    kernels = [row for row in work if not row.key.startswith(("Memcpy ", "Memset "))]
    copies = [row for row in work if row.key.startswith("Memcpy ")]
    named = {id(row) for row in work}
    hosts = [row for row in averages if id(row) not in named and str(row.device_type).endswith("CPU")]
    source = "key_averages()"

    def ns(us):
        return round(us * 1000)
    return [
        fact("GPU events", sum(row.count for row in work), source),
        fact("kernels by name", {row.key: row.count for row in kernels}, source),
        fact("kernel time by name", {row.key: ns(row.self_device_time_total) for row in kernels}, source, 1),
        fact("copies by kind", by_kind(copies, lambda row: row.count), source),
        fact("copy time by kind", by_kind(copies, lambda row: ns(row.self_device_time_total)), source, 1),
        fact("operators by name", of_hosts(hosts, lambda row: row.count), source),
        fact("operator time by name", of_hosts(hosts, lambda row: ns(row.cpu_time_total)), source, 1),
        fact("operator device time by name", of_hosts(hosts, lambda row: ns(row.device_time_total)), source, 1)]


def by_kind(rows, of):
    """Rows named as `Memcpy HtoD (Pageable -> Device)`, added up by HtoD."""
    totals = {}
    for row in rows:
        kind = row.key.split()[1]
        totals[kind] = totals.get(kind, 0) + of(row)
    return totals


def of_hosts(rows, of):
    """By name; an operator and an annotation of one name are two rows."""
    return {row.key + (" (annotation)" if row.is_user_annotation else ""): of(row) for row in rows}


def lost(averages, truth):
    """How much of the GPU work that the program counted is not in the profile. Takes the count, "launched", out of `truth`: it is no
    figure of a trace that lacks some."""
    launched = [one["value"] for one in truth if one["figure"] == "launched"]
    if not launched:
        return []
    truth[:] = [one for one in truth if one["figure"] != "launched"]
    missing = launched[0] - sum(row.count for row in device_rows(averages))
    source = f"{launched[0]} counted by the program, less those of key_averages()"
    return [fact("lost GPU events", missing, source), fact("loss is said", missing > 0, source)]


def main(name, work):
    """Runs a part: `work(part)`. What it could record before it failed is kept."""
    part = Part(name)
    warnings.simplefilter("ignore")
    began = time.monotonic()
    try:
        import torch
        part.told["versions"] = versions(torch)
        if part.cpu:
            torch.set_num_threads(1)  # the loops are small
        if not part.cpu and not torch.cuda.is_available():
            raise Skipped("all of it: PyTorch sees no GPU (--cpu tries what needs none)")
        work(part)
    except Skipped as problem:
        what, _, why = str(problem).partition(": ")
        part.skip(what, why)
    except Exception as problem:
        traceback.print_exc()
        part.told["failed"] = f"{type(problem).__name__}: {problem}"[:500]
    part.told["seconds"] = round(time.monotonic() - began, 1)
    part.save()
    sys.exit("failed" in part.told)


def versions(torch):
    told = {"torch": torch.__version__, "python": sys.version.split()[0]}
    if torch.cuda.is_available():
        told["gpu"] = torch.cuda.get_device_name()
        told["cuda"] = torch.version.cuda
    return told
