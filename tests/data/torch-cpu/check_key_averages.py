#!/usr/bin/env python3
"""Compute torch's key_averages from the trace files alone and compare every row.

Standard library only; exact nanoseconds. README.md beside this file states the
rule in words. Prints "N rows agree" and exits 0, or says what differs and
exits 1.
"""
import bisect
import collections
import gzip
import json
import sys
from decimal import Decimal
from pathlib import Path

HERE = Path(__file__).resolve().parent
# On a machine with a GPU there would also be device rows; these files have none.
HOST_CATEGORIES = {"cpu_op", "user_annotation", "python_function", "cuda_runtime", "cuda_driver"}
LEFT_OUT = {"[memory]", "[OutOfMemory]", "profiler::_record_function_enter", "profiler::_record_function_enter_new",
            "profiler::_record_function_exit", "aten::is_leaf", "aten::output_nr", "aten::_version"}
CPU_DEVICES = {0}


def nanoseconds(number):
    return int((Decimal(number) * 1000).to_integral_exact())


class Event:
    __slots__ = ("name", "mark", "shapes", "thread", "start", "end", "off_thread", "parent", "children", "bytes")

    def __init__(self, raw, off_thread):
        self.name = "ProfilerStep*" if raw["name"].startswith("ProfilerStep#") else raw["name"]
        self.mark = raw["cat"] == "user_annotation"
        # One shape for each argument; a list of tensors counts as no shape.
        self.shapes = [[] if any(isinstance(x, list) for x in dims) else dims
                       for dims in raw["args"].get("Input Dims", [])]
        self.thread = (raw["pid"], raw["tid"])
        self.start = nanoseconds(raw["ts"])
        self.end = self.start + nanoseconds(raw["dur"])
        self.off_thread = off_thread
        self.parent, self.children, self.bytes = None, [], 0

    @property
    def total(self):
        return self.end - self.start


def read(path, async_ids):
    document = json.loads(gzip.decompress(path.read_bytes()), parse_float=Decimal)
    events, memory, open_at_stop = [], [], []
    spans = [e for e in document["traceEvents"] if e.get("cat") == "Trace"]
    closed = max((nanoseconds(e["ts"] + e["dur"]) for e in spans), default=None)
    for raw in document["traceEvents"]:
        if raw["name"] == "[memory]" and raw["ph"] == "i":
            size = raw["args"]["Bytes"] if raw["args"]["Device Type"] in CPU_DEVICES else 0
            memory.append((nanoseconds(raw["ts"]), size))
        elif raw["ph"] == "X" and raw.get("cat") in HOST_CATEGORIES and raw["name"] not in LEFT_OUT:
            unfinished = raw["args"].get("finished") is False
            e = Event(raw, unfinished or raw["args"].get("External id") in async_ids)
            events.append(e)
            if unfinished:
                open_at_stop.append(e)
    for e in open_at_stop:  # the file lets it last until the end of the record window
        around = [o.end for o in events if o.thread == e.thread and o not in open_at_stop and o.start <= e.start < o.end]
        if around or closed is not None:
            e.end = min(around, default=closed)
    return events, memory


def add_memory(events, memory):
    """Each event gets the bytes of the instants inside it, of any thread; returns the instants inside none."""
    memory.sort()
    times = [t for t, _ in memory]
    sums = [0]
    for _, size in memory:
        sums.append(sums[-1] + size)
    used = [0] * (len(memory) + 1)
    for e in events:
        low, high = bisect.bisect_left(times, e.start), bisect.bisect_right(times, e.end)
        e.bytes = sums[high] - sums[low]
        used[low] += 1
        used[high] -= 1
    lone, depth = [], 0
    for i, m in enumerate(memory):
        depth += used[i]
        if depth == 0:
            lone.append(m)
    return lone


def nest(events):
    """Parents: on one thread, by (start, longest first); an interval that sticks out of another is not its child."""
    threads = collections.defaultdict(list)
    for e in events:
        if not e.off_thread:
            threads[e.thread].append(e)
    ties = 0
    for members in threads.values():
        members.sort(key=lambda e: (e.start, -e.end))  # stable: file order decides between equal intervals
        ties += sum(a.start == b.start and a.end == b.end for a, b in zip(members, members[1:]))
        stack = []
        for e in members:
            while stack and (e.start >= stack[-1].end or e.end > stack[-1].end):
                stack.pop()
            if stack:
                e.parent = stack[-1]
                stack[-1].children.append(e)
            stack.append(e)
    return ties


def merge(events):
    """An only child with its parent's name disappears; the parent takes over its children."""
    gone = set()
    for e in sorted(events, key=lambda e: (e.start, -e.end)):
        p = e.parent
        if p is not None and p.name == e.name and len(p.children) == 1:
            p.children = e.children
            for c in e.children:
                c.parent = p
            gone.add(id(e))
    return [e for e in events if id(e) not in gone]


def averages(events, lone, by_shape):
    rows = collections.defaultdict(lambda: [0, 0, 0, 0, 0])
    for e in events:
        own = 0 if e.off_thread else e.total - sum(c.total for c in e.children)
        own_bytes = 0 if e.off_thread else e.bytes - sum(c.bytes for c in e.children)
        key = (e.name, e.mark, json.dumps(e.shapes) if by_shape else "")
        for i, v in enumerate((1, e.total, own, e.bytes, own_bytes)):
            rows[key][i] += v
    for _, size in lone:
        for i, v in enumerate((1, 0, 0, size, size)):
            rows[("[memory]", False, "[]" if by_shape else "")][i] += v
    return rows


def compare(name, told, rows, by_shape):
    agreed, differences = 0, []
    left = dict(rows)
    for row in told:
        key = (row["key"], row["is_user_annotation"], json.dumps(row["input_shapes"]) if by_shape else "")
        want = [row["count"], round(row["cpu_time_total_us"] * 1000), round(row["self_cpu_time_total_us"] * 1000),
                row["cpu_memory_bytes"], row["self_cpu_memory_bytes"]]
        have = left.pop(key, None)
        if have == want:
            agreed += 1
        else:
            differences.append(f"{name}: {key}: torch {want}, computed {have}")
    differences += [f"{name}: {key}: computed {have}, not in torch's rows" for key, have in left.items()]
    return agreed, differences


def main():
    total, wrong = 0, []
    for told_file in sorted(HERE.glob("*.key_averages.json")):
        name = told_file.name.removesuffix(".key_averages.json")
        told = json.loads(told_file.read_text())
        # Only the recording "fork" has some, which a trace file does not show.
        async_ids = set(told["async_external_ids"])
        events, memory = read(HERE / f"{name}.pt.trace.json.gz", async_ids)
        lone = add_memory(events, memory)
        ties = nest(events)
        merged = merge(events)
        agreed, differences = compare(name, told["key_averages"], averages(merged, lone, False), False)
        if "key_averages_by_shape" in told:
            more, others = compare(name + " by shape", told["key_averages_by_shape"], averages(merged, lone, True), True)
            agreed, differences = agreed + more, differences + others
        print(f"{name}: {agreed} rows agree; {len(events)} events, {len(events) - len(merged)} merged away, "
              f"{sum(e.off_thread for e in events)} off thread, {ties} equal neighbours, {len(lone)} lone memory instants")
        total += agreed
        wrong += differences
    for line in wrong:
        print("differs:", line)
    print(f"{total} rows agree" + (f", {len(wrong)} do not" if wrong else ""))
    return 1 if wrong or not total else 0


if __name__ == "__main__":
    sys.exit(main())
