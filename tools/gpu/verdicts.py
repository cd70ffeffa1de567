#!/usr/bin/env python3
"""Compares what tacho says of traces with the truth beside them: verdicts.py TACHO FOLDER...

Each FOLDER holds traces and a truth.json (part.py has its form). Prints a table of what differs, what tacho does not say and what
could not be tried. Exit status: 0 nothing differs, 1 something does, 3 no truth to compare with, 4 a part failed or could not
be read. Standard library only.
"""
import collections
import json
import pathlib
import subprocess
import sys

# INCOMPLETE: the trace lacks what the program counted, and tacho says that it lacks something.
OK, DIFFERS, INCOMPLETE, ABSENT, SKIPPED, FAILED = "ok", "differs", "incomplete", "absent", "skipped", "failed"
OF_THE_FILE = ("lost GPU events", "loss is said", "rest of the windows ns")  # to be right whatever is lost

Row = collections.namedtuple("Row", "part what figure truth tacho difference verdict source", defaults=[""] * 6)


def total(trace, field):
    """Of all devices; absent without one."""
    return sum(device[field] for device in trace["devices"]) if trace["devices"] else None


def table(rows, field, name="name"):
    """{name: figure}; rows of one name (a kernel on two devices) are added up."""
    totals = {}
    for row in rows:
        totals[row[name]] = totals.get(row[name], 0) + row[field]
    return totals


def hosts(trace, field):
    return {row["name"] + (" (annotation)" if row.get("is_annotation") else ""): row[field] for row in trace.get("key_averages", [])}


def annotations(trace):
    return {row["name"]: row["count"] for row in trace.get("key_averages", []) if row.get("is_annotation")}


def missing(trace, field):
    """What tacho says is lost; absent without a launch."""
    return trace.get("integrity", {}).get("lost", {}).get(field)


def rest_of_windows(trace):
    """ns by which busy and idle of a device, or its busy time and the causes of idle, miss the window."""
    rests = [device["window_ns"] - device["busy_ns"] - device["idle_ns"] for device in trace["devices"]]
    if idle := trace.get("idle"):
        rests.append(idle["window_ns"] - idle["busy_ns"] - sum(c["ns"] for c in idle["causes"] if c["id"] != "busy"))
    return sum(map(abs, rests))


# Each figure that a truth may be of: where the document of `tacho analyze --json` has it. None: tacho does not say it.
FIGURES = {
    "GPU events": lambda t: t["launches"]["gpu_events"] + t["launches"]["without_correlation"],
    "kernels by name": lambda t: table(t["kernels"], "count"),
    "kernel time by name": lambda t: table(t["kernels"], "total_ns"),
    "copies by kind": lambda t: table(t["copies"], "count", "kind"),
    "copied bytes by kind": lambda t: table(t["copies"], "bytes", "kind"),
    "copy time by kind": lambda t: table(t["copies"], "total_ns", "kind"),
    "sets of memory": lambda t: sum(row["count"] for row in t["memsets"]),
    "set bytes": lambda t: sum(row["bytes"] for row in t["memsets"]),
    "operators by name": lambda t: hosts(t, "count"),
    "operator time by name": lambda t: hosts(t, "cpu_total_ns"),
    "operator device time by name": lambda t: hosts(t, "device_total_ns"),
    "some operators": lambda t: table(t["ops"], "count"),
    "some annotations": annotations,
    "graph launches": lambda t: t["launches"]["graph_launches"],
    "GPU events of graphs": lambda t: t["launches"]["graph_gpu_events"],
    "most GPU events of a launch": lambda t: t["launches"]["max_gpu_events_per_launch"],
    "lost GPU events": lambda t: missing(t, "gpu_events"),
    "loss is said": lambda t: any(note["severity"] == "data-loss" for note in t["notes"]),
    "window ns": lambda t: total(t, "window_ns"),
    "busy ns": lambda t: total(t, "busy_ns"),
    "idle ns": lambda t: total(t, "idle_ns"),
    "kernel sum ns": lambda t: total(t, "kernel_sum_ns"),
    "communication is seen": lambda t: (total(t, "comm_busy_ns") or 0) > 0,
    "streams": lambda t: sum(len(device["streams"]) for device in t["devices"]),
    "overlaps in a stream": lambda t: sum(stream["overlaps"] for device in t["devices"] for stream in device["streams"]),
    "steps": lambda t: t.get("steps", {}).get("count"),
    "generation tokens": lambda t: t.get("steps", {}).get("generation_tokens"),
    "rest of the windows ns": rest_of_windows,
}


def differences(truth, got, some):
    """[(difference, name)] of two tables of numbers, the largest first. `some`: only the names that the truth has."""
    names = set(truth) if some else set(truth) | set(got)
    found = [(got.get(name, 0) - truth.get(name, 0), name) for name in sorted(names)]
    # A name that one of them lacks differs, even with 0.
    found = [(difference or float((name in got) != (name in truth)), name) for difference, name in found]
    return sorted(found, key=lambda one: -abs(one[0]))


def in_short(value):
    if isinstance(value, dict):
        return f"{sum(value.values()):,} of {len(value)} names"
    return f"{value:,}" if isinstance(value, (int, float)) and not isinstance(value, bool) else str(value)


def compare(part, what, fact, trace, has_lost=False):
    """The row of a fact, as part.py makes it. `has_lost`: the trace lacks GPU work, so the program counted more than it holds."""
    figure, truth, bound = fact["figure"], fact["value"], fact["bound"]
    got = FIGURES[figure](trace)
    row = Row(part, what, figure, in_short(truth), "", "", ABSENT, fact["source"])
    if got is None:
        return row
    if isinstance(truth, dict):
        worst, name = next(iter(differences(truth, got, figure.startswith("some "))), (0, ""))
        where = f" ({name[:60]})" if worst else ""
    else:
        worst, where = got - truth, ""
    limit = f" within {bound:,}" if bound else ""
    row = row._replace(tacho=in_short(got), difference=f"{worst:+,}{where}{limit}" if worst else "")
    is_excused = fact["source"] != "key_averages()" and figure not in OF_THE_FILE and FIGURES["loss is said"](trace) and has_lost
    return row._replace(verdict=OK if abs(worst) <= bound else INCOMPLETE if is_excused else DIFFERS)


def analyze(tacho, path):
    """The only trace of a file, or why there is none."""
    done = subprocess.run([str(tacho), "analyze", "--json", str(path)], capture_output=True, text=True, timeout=120)
    if done.returncode not in (0, 4):
        return None, f"tacho exits {done.returncode}: {done.stderr.strip()[:300]}"
    traces = json.loads(done.stdout)["traces"]
    return (traces[0], "") if len(traces) == 1 else (None, f"{len(traces)} traces in place of one")


def rows_of(tacho, folder):
    """The rows of one part's folder."""
    try:
        told = json.loads((folder / "truth.json").read_text())
    except (OSError, ValueError) as problem:
        return [Row(folder.name, "all of it", tacho=f"no truth: {problem}", verdict=FAILED)]
    rows = []
    for one in told["traces"]:
        trace, why = analyze(tacho, folder / one["file"])
        if trace is None:
            rows.append(Row(told["part"], one["what"], tacho=why, verdict=FAILED))
            continue
        promised = {"figure": "rest of the windows ns", "value": 0, "bound": 0, "source": "tacho's promise"}
        has_lost = any(fact["figure"] == "loss is said" and fact["value"] for fact in one["truth"])
        rows += [compare(told["part"], one["what"], fact, trace, has_lost) for fact in [*one["truth"], promised] if fact["value"] != {}]
    rows += [Row(told["part"], one["what"], tacho=one["why"], verdict=SKIPPED) for one in told["skipped"]]
    if "failed" in told:
        rows.append(Row(told["part"], "not all of it", tacho=told["failed"], verdict=FAILED))
    return rows


def markdown(rows):
    lines = ["| part | trace | what | truth | tacho | difference | verdict | truth by |", "|---|---|---|---|---|---|---|---|"]
    return "\n".join(lines + ["| " + " | ".join(str(cell).replace("|", "\\|").replace("\n", " ") for cell in row) + " |"
                              for row in rows]) + "\n"


def summary(rows):
    """What is not as it should be, a line each, then a line of counts."""
    lines = [f"{row.verdict:10} {row.part}: {row.what}" + (f": {row.figure}: truth {row.truth}, tacho " if row.figure else ": ") +
             (row.tacho or "does not say") + (f", difference {row.difference}" if row.difference else "")
             for row in rows if row.verdict != OK]
    counts = collections.Counter(row.verdict for row in rows)
    return "\n".join(lines + [", ".join(f"{counts[verdict]} {verdict}" for verdict in (OK, DIFFERS, INCOMPLETE, ABSENT, SKIPPED, FAILED))])


def status(rows):
    verdicts = {row.verdict for row in rows}
    if DIFFERS in verdicts:
        return 1
    if FAILED in verdicts:
        return 4
    return 0 if OK in verdicts else 3


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    rows = [row for folder in sys.argv[2:] for row in rows_of(sys.argv[1], pathlib.Path(folder))]
    print(summary(rows))
    sys.exit(status(rows))


if __name__ == "__main__":
    main()
