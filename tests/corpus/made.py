"""Traces with figures that are known by construction: events are counted while they are written.

write(FOLDER) makes a corpus in the layout of that of real traces (check_corpus.py). Each trace draws its work from its own seed, so the
same traces come out each time.

A GPU's timeline is a row of blocks with gaps between them. In each block it is known how long the GPU is busy, however its events overlap.
"""
import collections
import dataclasses
import gzip
import hashlib
import io
import json
import pathlib
import random
import tarfile

BASE_NS = 1_790_857_026_000_000_000
START_NS = 4_406_483_376_779_394  # as of a machine that has run for weeks
LAYERS = ("kernel", "gpu_memcpy", "gpu_memset", "cuda_runtime", "cpu_op")
OF_2021 = dict(zip(LAYERS, ("Kernel", "Memcpy", "Memset", "Runtime", "Operator")))
KERNELS = {"nvidia": ["nvjet_tst_144x128_64x6_2x1_v_bz_bias_TNN", "void at::native::vectorized_elementwise_kernel<4, f>(int, f)",
                      "flash_fwd_splitkv_kernel", "void vllm::rms_norm_kernel<c10::BFloat16, 8>(c10::BFloat16*)"],
           "amd": ["Cijk_Alik_Bljk_BBS_BH_MT64x64x64_MI16x16x16", "void at::native::vectorized_elementwise_kernel<4, f>(int, f)"]}
NCCL = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
CALLS = {"nvidia": ("cudaLaunchKernel", "cudaMemcpyAsync", "cudaMemsetAsync", "cudaGraphLaunch"),
         "amd": ("hipLaunchKernel", "hipMemcpyAsync", "hipMemsetAsync", "hipGraphLaunch")}


@dataclasses.dataclass
class Kind:
    """The properties of a trace."""
    name: str
    seed: int
    vendor: str = "nvidia"
    devices: int = 1
    of_2021: bool = False     # whole microseconds, other categories, training steps that are operators
    bare_list: bool = False   # no header
    shuffled: bool = False
    no_length: bool = False   # kernels of no length within gaps
    orphans: bool = False     # kernels whose launch is not in the file, or that name none
    rank: int = 0
    blocks: int = 120


KINDS = [Kind("today.json.gz", 1), Kind("of_2021.json", 2, of_2021=True), Kind("two_gpus.json.gz", 3, devices=2),
         Kind("bare_list.json", 4, bare_list=True), Kind("shuffled.json", 5, shuffled=True, devices=2),
         Kind("no_length.json", 6, no_length=True), Kind("orphans.json.gz", 7, orphans=True), Kind("amd.json", 8, vendor="amd"),
         Kind("one_kernel.json", 9, blocks=1)]
RANKS = [Kind("rank0.pt.trace.json", 10, rank=0), Kind("rank1.pt.trace.json", 11, rank=1)]  # of one archive


class Trace:
    def __init__(self, kind):
        self.kind, self.draw, self.events, self.correlation = kind, random.Random(kind.seed), [], 0
        self.unit = 1000 if kind.of_2021 else 1
        self.host = START_NS // 1_000_000 * 1_000_000
        self.kernels, self.copies, self.memsets, self.calls, self.ops = ([] for _ in range(5))
        self.self_ns = collections.Counter()
        self.launches = {"gpu_events_with_correlation": 0, "with_launch": 0, "without_launch": 0, "max_gpu_events_per_correlation": 0}
        self.devices = {}

    def ns(self, low, high):
        return self.draw.randrange(low, high) * 1000 if self.kind.of_2021 else self.draw.randrange(low * 1000, high * 1000)

    def add(self, category, name, pid, tid, start, duration, **args):
        shown = OF_2021.get(category, category) if self.kind.of_2021 else category
        self.events.append({"ph": "X", "cat": shown, "name": name, "pid": pid, "tid": tid, "ts": start, "dur": duration, "args": args})

    def op(self, name, start, duration, inside):
        """`inside`: the time of the operators and calls directly in it."""
        self.add("cpu_op", name, 77, 77, start, duration)
        self.ops.append((name, duration))
        self.self_ns[name] += duration - inside

    def launch(self, call, works):
        """An operator in an operator around the call that starts `works`, GPU events of one correlation, and the arrow to the first."""
        self.correlation += 1
        length = [self.ns(2, 9), self.ns(1, 5), self.ns(1, 5), self.ns(1, 5), self.ns(1, 5)]  # the call, then what encloses it
        call_ns, inner = length[0], sum(length[:3])
        outer, begin = sum(length), self.host
        name = self.draw.choice(["aten::linear", "aten::mul", "vllm::unified_attention"])
        self.op(name, begin, outer, inner)
        self.op(name + "_inner", begin + length[3], inner, call_ns)
        self.add("cuda_runtime", call, 77, 77, begin + length[3] + length[1], call_ns, correlation=self.correlation)
        self.calls.append((call, call_ns))
        self.host = begin + outer + self.ns(1, 4)
        for work in works:
            work["args"]["correlation"] = self.correlation
        self.launches["gpu_events_with_correlation"] += len(works)
        self.launches["with_launch"] += len(works)
        self.launches["max_gpu_events_per_correlation"] = max(self.launches["max_gpu_events_per_correlation"], len(works))
        for phase, e in (("s", {"pid": 77, "tid": 77, "ts": begin}), ("f", {"pid": 0, "tid": 7, "ts": works[0]["ts"]})):
            self.events.append({"ph": phase, "id": self.correlation, "cat": "ac2g", "name": "ac2g", **e})

    def work(self, device, stream, category, name, start, duration, **args):
        self.add(category, name, device, stream, start, duration, device=device, stream=stream, **args)
        kept = {"kernel": self.kernels, "gpu_memcpy": self.copies, "gpu_memset": self.memsets}[category]
        kept.append((name, duration, args.get("bytes", 0)))
        self.devices[device]["gpu_events"] += 1
        self.devices[device]["kernel_sum_ns"] += duration if category == "kernel" else 0
        s = self.devices[device]["streams"].setdefault(str(stream), {"events": 0, "sum_ns": 0, "busy_ns": 0, "overlaps": 0})
        s["events"] += 1
        s["sum_ns"] += duration
        s["busy_ns"] += duration
        return self.events[-1]

    def kernel(self, device, stream, start, duration, name=None):
        return self.work(device, stream, "kernel", name or self.draw.choice(KERNELS[self.kind.vendor]), start, duration)

    def block(self, device, at):
        """Draws one at this time. (how long the GPU is busy, how long with kernels, how long with NCCL's)"""
        launch, copy, memset, graph = CALLS[self.kind.vendor]
        a, b, later = self.ns(20, 90), self.ns(5, 19), self.ns(1, 20)
        long_b = self.ns(90, 120)
        streams = self.devices[device]["streams"]
        kind = self.draw.choice(["kernel", "kernel", "copy", "memset", "two streams", "one stream", "under a copy", "nccl", "graph"])
        if kind == "kernel":
            self.launch(launch, [self.kernel(device, 7, at, a)])
            return a, a, 0
        if kind == "copy":
            self.launch(copy, [self.work(device, 7, "gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", at, a, bytes=a * 8)])
            return a, 0, 0
        if kind == "memset":
            self.launch(memset, [self.work(device, 7, "gpu_memset", "Memset (Device)", at, b, bytes=b * 4)])
            return b, 0, 0
        if kind == "two streams":  # the second one begins within the first and ends after it
            self.launch(launch, [self.kernel(device, 7, at, a)])
            self.launch(launch, [self.kernel(device, 20, at + later, long_b)])
            return later + long_b, later + long_b, 0
        if kind == "one stream":
            self.launch(launch, [self.kernel(device, 7, at, a)])
            self.launch(launch, [self.kernel(device, 7, at + later, long_b)])
            streams["7"]["busy_ns"] -= a - later
            streams["7"]["overlaps"] += 1
            return later + long_b, later + long_b, 0
        if kind == "under a copy":  # the kernel lies within the copy
            copied = a + later + b
            self.launch(copy, [self.work(device, 20, "gpu_memcpy", "Memcpy DtoH (Device -> Pageable)", at, copied, bytes=copied)])
            self.launch(launch, [self.kernel(device, 7, at + later, b)])
            return copied, b, 0
        if kind == "nccl":
            self.launch(launch, [self.kernel(device, 24, at, long_b, NCCL)])
            self.launch(launch, [self.kernel(device, 7, at + later, b)])
            return long_b, long_b, long_b
        works, busy = [], 0
        for _ in range(5):  # one call starts them all, one after the other without a gap
            works.append(self.kernel(device, 7, at + busy, b))
            busy += b
        self.launch(graph, works)
        return busy, busy, 0

    def timeline(self, device):
        d = self.devices[device] = {"streams": {}, "gpu_events": 0, "kernel_sum_ns": 0}
        gaps, busy, kernel_busy, nccl = [], 0, 0, 0
        at = first = self.host // 1_000_000 * 1_000_000 + (60 + device) * 1_000_000
        for i in range(self.kind.blocks):
            if i:
                gap = self.draw.choice([0, self.ns(2, 9), self.ns(11, 90), self.ns(110, 900), self.ns(1100, 3000)])
                gaps += [gap] if gap else []
                if self.kind.no_length and gap:
                    self.launch(CALLS[self.kind.vendor][0], [self.kernel(device, 7, at + gap // 2000 * 1000, 0)])
                at += gap
            if self.kind.orphans and i % 10 == 5:
                taken = [self.ns(20, 90)] * 2 + [0]
                e = self.kernel(device, 7, at, taken[0])
                if i % 20 == 5:
                    self.correlation += 1
                    e["args"]["correlation"] = self.correlation
                    self.launches["gpu_events_with_correlation"] += 1
                    self.launches["without_launch"] += 1
            else:
                taken = self.block(device, at)
            at += taken[0]
            busy, kernel_busy, nccl = busy + taken[0], kernel_busy + taken[1], nccl + taken[2]
        d |= {"first_ns": first, "window_ns": at - first, "busy_ns": busy, "idle_ns": sum(gaps),
              "kernel_busy_ns": kernel_busy, "gaps": {"count": len(gaps), **{f"over_{n}": sum(g > ns for g in gaps) for n, ns in (
                  ("1us", 1_000), ("10us", 10_000), ("100us", 100_000), ("1ms", 1_000_000))}, "largest_ns": max(gaps, default=0)},
              "comm": {"nccl_busy_ns": nccl, "custom_allreduce_busy_ns": 0}}
        return at

    def fill(self):
        first, end = self.host, 0
        for device in range(self.kind.devices):
            begin = self.host
            end = max(end, self.timeline(device))
            if self.kind.of_2021:  # a training step around all launches of this GPU's work
                inside = sum(d for name, d in self.ops if not name.endswith("_inner"))
                self.op("ProfilerStep#1", begin, self.host - begin, inside)
        self.span = {"first_ns": first, "last_ns": end}
        self.events.append({"ph": "M", "name": "process_name", "pid": 77, "tid": 0, "ts": 0, "args": {"name": "python3"}})
        self.events.append({"ph": "i", "s": "t", "name": "[memory]", "pid": 77, "tid": 77, "ts": first, "args": {"Bytes": 64}})
        if self.kind.shuffled:
            self.draw.shuffle(self.events)
        return self


def sums(rows):
    """[(name, ns, bytes)] as the expectation holds them by name."""
    out = {}
    for name, ns, *more in rows:
        row = out.setdefault(name, {"name": name, "count": 0, "sum_ns": 0, "min_ns": ns, "max_ns": ns, "bytes": 0})
        row.update(count=row["count"] + 1, sum_ns=row["sum_ns"] + ns, min_ns=min(row["min_ns"], ns), max_ns=max(row["max_ns"], ns),
                   bytes=row["bytes"] + sum(more))
    return out


def text_of(events, header, of_2021=False, bare_list=False):
    def time(ns):
        return ns // 1000 if of_2021 else f"{ns // 1000}.{ns % 1000:03}"
    lines = []
    for e in events:
        line = json.dumps({k: f"@{time(v)}@" if k in ("ts", "dur") else v for k, v in e.items()})
        lines.append(line.replace('"@', "").replace('@"', ""))
    array = "[\n" + ",\n".join(lines) + "\n]"
    return array if bare_list else json.dumps(header)[:-1] + ',\n"traceEvents": ' + array + "}\n"


def oracle(trace, content, packed):
    kind = trace.kind
    bare = kind.bare_list
    phases = collections.Counter(e["ph"] for e in trace.events)
    pairs = collections.Counter(f"{e['ph']}/{e.get('cat')}" for e in trace.events)
    copies = sums((name.split()[1], ns, size) for name, ns, size in trace.copies)
    kernels = sums(trace.kernels)
    shown = ("count", "sum_ns", "bytes")
    return {
        "file": {"member": None, "bytes": len(packed), "sha256": hashlib.sha256(packed).hexdigest(), "json_bytes": len(content)},
        "header": {"baseTimeNanoseconds": None if bare or kind.of_2021 else BASE_NS, "rank": None if bare else kind.rank,
                   "world_size": None if bare else 2, "backend": None if bare else "nccl",
                   "devices": [] if bare else [f"GPU {i}" for i in range(kind.devices)]},
        "counts": {"events": len(trace.events), "by_phase": dict(phases), "by_phase_cat": dict(pairs)},
        "span": trace.span,
        "kernels": {"count": len(trace.kernels), "distinct": len(kernels), "sum_ns": sum(k[1] for k in trace.kernels),
                    "table": [{k: row[k] for k in ("name", "count", "sum_ns", "min_ns", "max_ns")} for row in kernels.values()]},
        "memcpy": {name: {k: row[k] for k in shown} for name, row in copies.items()},
        "memset": {name: {k: row[k] for k in shown} for name, row in sums(trace.memsets).items()},
        "devices": {str(number): d for number, d in trace.devices.items()},
        "launches": trace.launches,
        "runtime_api": [{k: row[k] for k in ("name", "count", "sum_ns", "min_ns", "max_ns")} for row in sums(trace.calls).values()],
        "cpu_op": {"count": len(trace.ops), "distinct": len(sums(trace.ops)), "sum_ns": sum(ns for _, ns in trace.ops),
                   "top50_by_self": [{"name": name, "count": row["count"], "self_ns": trace.self_ns[name]}
                                     for name, row in sums(trace.ops).items()]}}


def made(kind):
    """(content of the file, its expectation, the trace)"""
    trace = Trace(kind).fill()
    header = {"schemaVersion": 1, **({} if kind.of_2021 else {"baseTimeNanoseconds": BASE_NS}),
              "distributedInfo": {"backend": "nccl", "rank": kind.rank, "world_size": 2},
              "deviceProperties": [{"id": i, "name": f"GPU {i}"} for i in range(kind.devices)]}
    text = text_of(trace.events, header, kind.of_2021, kind.bare_list).encode()
    packed = gzip.compress(text, mtime=0) if kind.name.endswith(".gz") else text
    return packed, oracle(trace, text, packed), trace


def write_gpu_traces(folder):
    for kind in KINDS:
        packed, expected, _ = made(kind)
        (folder / kind.name).write_bytes(packed)
        (folder / f"{kind.name}.oracle.json").write_text(json.dumps(expected))
    with tarfile.open(folder / "ranks.tar.gz", "w:gz") as archive:
        for kind in RANKS:
            packed, expected, _ = made(kind)
            entry = tarfile.TarInfo(kind.name)
            entry.size = len(packed)
            archive.addfile(entry, io.BytesIO(packed))
            expected["file"]["member"] = kind.name
            (folder / f"ranks.tar.gz.{kind.name}.oracle.json").write_text(json.dumps(expected))


def write_broken(folder):
    """One trace: complete in several forms, and cut after a known number of events."""
    folder.mkdir()
    _, _, trace = made(Kind("", 20, blocks=40))
    text = text_of(trace.events, {"schemaVersion": 1})
    half = len(trace.events) // 2
    cut = text_of(trace.events[:half], {"schemaVersion": 1}).rstrip("\n]}")
    packed = gzip.compress(text.encode(), mtime=0)
    middle = len(text) // 2
    parts = [gzip.compress(part.encode(), mtime=0) for part in (text[:middle], text[middle:])]
    files = {"utf8-bom.json": (b"\xef\xbb\xbf" + text.encode(), None), "two-gzip-members.json.gz": (parts[0] + parts[1], None),
             "gzip-without-gz-suffix.json": (packed, None), "nul-padding.json": (text.encode() + bytes(4096), None),
             "list-form-unclosed.json": (text[text.index("["):text.rindex("]")].encode(), None),
             "trunc-after-event.json": (cut.encode() + b"}},", half), "trunc-mid-event.json": (cut.encode() + b'}},\n{"ph": "X", "cat": "ker', half),
             "empty-file.json": (b"", 0)}
    expected = {}
    for name, (content, events) in files.items():
        (folder / name).write_bytes(content)
        saved = trace.events[:events]
        kernels = sum(e.get("cat") == "kernel" for e in saved)
        expected[name] = {"error": True, "events": None, "kernels": None} if not content else {
            "error": False, "events": len(saved), "kernels": kernels}
    (folder / "EXPECT.json").write_text(json.dumps(expected))


def write(folder):
    folder = pathlib.Path(folder)
    write_gpu_traces(folder)
    write_broken(folder / "broken-variants")
