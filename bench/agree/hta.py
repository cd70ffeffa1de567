#!/usr/bin/env python3
"""Holds the package tacho against Holistic Trace Analysis (HTA): how long both take from traces to tables, and figure by figure who is
right, by the events themselves.

usage: bench/agree/hta.py HTA_PYTHON FOLDER

HTA_PYTHON has PyPI's HolisticTraceAnalysis (0.5.0 was tried); this Python has the package tacho. FOLDER has traces of Kineto alone, one a
rank. Each figure is computed a third time, in plain Python from the JSON, with all digits. HTA cuts times to whole microseconds and leaves
out the last ProfilerStep, unless HTA_DISABLE_NS_ROUNDING=1 and include_last_profiler_step=True; both ways are shown. Exit status 1 if
tacho's figure is not that of the events.
"""
import collections
import decimal
import gzip
import json
import os
import pathlib
import subprocess
import sys

TIMES = 3
THEIRS = """
import json, logging, os, sys, time, warnings
logging.disable(logging.CRITICAL)
warnings.simplefilter("ignore")
from hta.trace_analysis import TraceAnalysis
begin = time.perf_counter()
run = TraceAnalysis(trace_dir=sys.argv[1], include_last_profiler_step="HTA_DISABLE_NS_ROUNDING" in os.environ)
read_s = time.perf_counter() - begin
figures = {"read_s": read_s, "ranks": {}}
for row in run.get_temporal_breakdown(visualize=False).to_dict("records"):
    figures["ranks"][row["rank"]] = {"window": row["kernel_time(us)"], "idle": row["idle_time(us)"], "compute": row["compute_time(us)"]}
for row in run.get_comm_comp_overlap(visualize=False).to_dict("records"):
    figures["ranks"][row["rank"]]["overlap"] = row["comp_comm_overlap_pctg"]
for row in run.get_gpu_kernel_breakdown(visualize=False)[1].to_dict("records"):
    figures["ranks"][row["rank"]].setdefault("kernels", {})[row["name"]] = [row["sum (us)"], row["sum (us)"] / row["mean (us)"]]
queues = run.get_queue_length_summary()
for (rank, stream), row in ([] if queues is None else queues["queue_length"].iterrows()):
    figures["ranks"][rank].setdefault("queues", {})[int(stream)] = row["max"]
idle = run.get_idle_time_breakdown(ranks=list(figures["ranks"]), visualize=False)[0]
for row in idle.to_dict("records"):
    parts = figures["ranks"][row["rank"]].setdefault("parts", {})
    parts.setdefault(int(row["stream"]), {})[row["idle_category"]] = row["idle_time"]
print(json.dumps(figures, default=float))
"""
OURS = """
import sys, time
begin = time.perf_counter()
import tacho
kernels = tacho.read(sys.argv[1], progress=False).kernels
print(time.perf_counter() - begin)
"""


def printed(*command, **environment):
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **environment})
    if done.returncode:
        sys.exit(f"{command[0]} failed: {done.stderr[-800:]}")
    return json.loads(done.stdout.splitlines()[-1])


def ns(text):
    return int(decimal.Decimal(str(text)) * 1000)


def union(intervals):
    total, end = 0, -1
    for a, b in sorted(intervals):
        total, end = total + max(0, b - max(a, end)), max(end, b)
    return total


def of_events(path, communicates):
    """The figures of a trace, from its events, in ns."""
    opened = gzip.open(path) if path.suffix == ".gz" else open(path, "rb")
    with opened as file:
        trace = json.load(file, parse_float=decimal.Decimal)
    work = [(ns(e["ts"]), ns(e["ts"]) + ns(e["dur"]), e) for e in trace["traceEvents"]
            if e.get("ph") == "X" and e.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset")]
    kernels = collections.defaultdict(lambda: [0, 0])
    for a, b, e in work:
        kernels[e["name"]][0] += b - a
        kernels[e["name"]][1] += 1
    all_of = [(a, b) for a, b, _ in work]
    comm = [(a, b) for a, b, e in work if e["cat"] == "kernel" and communicates(e["name"])]
    compute = [(a, b) for a, b, e in work if e["cat"] == "gpu_memset" or e["cat"] == "kernel" and not communicates(e["name"])]
    window = max(b for _, b in all_of) - min(a for a, _ in all_of)
    only_comm = union(comm + compute) - union(compute)
    return trace.get("distributedInfo", {}).get("rank", 0), {
        "window": window, "idle": window - union(all_of), "compute": union(compute), "kernels": kernels,
        "overlap": 100 * (1 - only_comm / union(comm)) if comm else None}


def main(hta_python, folder):
    import tacho
    seconds = {"HTA": [], "tacho": []}
    for _ in range(TIMES):
        cut = printed(hta_python, "-c", THEIRS, folder)
        seconds["HTA"].append(cut["read_s"])
        seconds["tacho"].append(printed(sys.executable, "-c", OURS, folder))
    exact = printed(hta_python, "-c", THEIRS, folder, HTA_DISABLE_NS_ROUNDING="1")
    size = sum(path.stat().st_size for path in pathlib.Path(folder).iterdir())
    hta_s, tacho_s = min(seconds["HTA"]), min(seconds["tacho"])
    print(f"{size / 1e6:.0f} MB to tables, the fastest of {TIMES}, in turns: HTA {hta_s:.2f} s, tacho {tacho_s:.2f} s, "
          f"{hta_s / tacho_s:.0f} times\n")

    run = tacho.read(folder, progress=False)
    names = run.query("SELECT DISTINCT name FROM kernels WHERE category = 'comm' OR category LIKE 'comm.%'").rows()
    communication = {name for name, in names}
    wrong, line = 0, "| {} | {} | {} | {} | {} | {} |".format
    print(line("rank", "figure", "HTA", "HTA, all digits and steps", "tacho", "events") + "\n" + line(*["---"] * 6))
    for path in sorted(pathlib.Path(folder).iterdir()):
        rank, events = of_events(path, communication.__contains__)
        trace = next(trace for trace in run.analysis.traces if trace.path == str(path))
        device = trace.devices[0]
        ours = {"window": device.window_ns, "idle": device.get("idle_ns"), "compute": device.compute_ns}
        a, b = (of["ranks"][str(rank)] for of in (cut, exact))
        for name, value in ours.items():
            wrong += value != events[name]
            print(line(rank, f"{name}, us", *(f"{x:,.3f}" for x in (a[name], b[name], value / 1e3, events[name] / 1e3))))
        if events["overlap"] is not None:
            value = 100 * (1 - device.exposed_comm_ns / device.comm_busy_ns)
            wrong += abs(value - events["overlap"]) > 1e-6
            print(line(rank, "communication that is overlapped, %", a["overlap"], b["overlap"], f"{value:.2f}", f"{events['overlap']:.2f}"))
        of_rank = f"SELECT name, sum(dur_ns), count(*) FROM kernels WHERE rank IS {rank} OR rank IS NULL GROUP BY 1"
        mine = {row[0]: row[1:] for row in run.query(of_rank).rows()}
        shared = [name for name in a.get("kernels", {}) if name in mine and name in b["kernels"]]
        wrong += sum(list(mine[name]) != events["kernels"][name] for name in mine)
        for i, what in enumerate(("time", "count")):
            scale, bound = ((1e3, 1e3), (1, 1e-6))[i]
            right = [sum(abs(of["kernels"][name][i] * scale - events["kernels"][name][i]) < bound for name in shared) for of in (a, b)]
            print(line(rank, f"kernels whose {what} is that of the events, of {len(shared)} that HTA lists", *right,
                       sum(mine[name][i] == events["kernels"][name][i] for name in shared), len(shared)))
        for queue in trace.get("launches", {}).get("queues", []):
            theirs = a.get("queues", {}).get(queue.stream, "none")
            print(line(rank, f"longest queue of stream {queue.stream}", theirs, b.get("queues", {}).get(queue.stream, "none"), queue.max, ""))
        for stream, parts in a.get("parts", {}).items():
            print(line(rank, f"idle parts of stream {stream}, us", f"{parts}", f"{b['parts'][stream]}",
                       {cause.id: round(cause.ns / 1e3) for cause in trace.get("idle", {}).get("causes", [])}, "tacho's are of the device"))
    unseen = [name for name in communication if not name.startswith("nccl")]
    if unseen:
        print(f"\ncommunication that HTA, which looks for nccl*, counts as computation: {', '.join(unseen)}")
    return wrong > 0


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
