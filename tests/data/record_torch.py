#!/usr/bin/env python3
"""Record small torch.profiler traces on the CPU, with torch's own averages.

Each NAME.pt.trace.json.gz under OUT/torch-cpu/ is what export_chrome_trace
wrote, and NAME.key_averages.json is what prof.key_averages() of the same
session said. Uses (and makes, if absent) the vLLM environment of tools/engines.
Python 3.11, standard library only; torch runs in the environment.
"""
import argparse
import gzip
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from record_env import RecordError, environments, say

HERE = Path(__file__).resolve().parent
NAMES = ("shapes_memory", "threads", "fork", "stack", "memory", "flops")


# ---- in the environment: python record_torch.py --inside FOLDER -------------

def rows_of(averages, shapes):
    rows = []
    for r in averages:
        row = {"key": r.key, "count": r.count, "cpu_time_total_us": r.cpu_time_total,
               "self_cpu_time_total_us": r.self_cpu_time_total, "is_user_annotation": bool(r.is_user_annotation),
               "cpu_memory_bytes": r.cpu_memory_usage, "self_cpu_memory_bytes": r.self_cpu_memory_usage}
        if r.flops:
            row["flops"] = r.flops
        if shapes:
            row["input_shapes"] = r.input_shapes
        rows.append(row)
    return rows


def write(prof, folder, name, shapes, torch):
    prof.export_chrome_trace(str(folder / f"{name}.json"))
    out = {"torch": torch.__version__, "python": sys.version.split()[0],
           "key_averages": rows_of(prof.key_averages(), False)}
    # Which events began on one thread and ended on another is in no trace file; torch alone knows.
    out["async_external_ids"] = [e.external_id for e in prof.events() if e.is_async]
    if shapes:
        out["key_averages_by_shape"] = rows_of(prof.key_averages(group_by_input_shape=True), True)
    (folder / f"{name}.key_averages.json").write_text(json.dumps(out, indent=0) + "\n")


def shapes_memory(torch, folder):
    """Attention and an MLP, forward, backward and one optimiser step, three times, under a step schedule."""
    from torch.profiler import ProfilerActivity, profile, record_function

    class Block(torch.nn.Module):
        def __init__(self, width):
            super().__init__()
            self.norm = torch.nn.LayerNorm(width)
            self.qkv = torch.nn.Linear(width, 3 * width)
            self.up = torch.nn.Linear(width, 4 * width)
            self.down = torch.nn.Linear(4 * width, width)

        def forward(self, x):
            with record_function("attention"):
                q, k, v = self.qkv(self.norm(x)).chunk(3, dim=-1)
                scores = torch.softmax(q @ k.transpose(-2, -1) / 8, dim=-1)
                x = x + scores @ v
            with record_function("mlp"):
                return x + self.down(torch.relu(self.up(x)))

    torch.manual_seed(0)
    model = torch.nn.Sequential(Block(32), Block(32))
    optimiser = torch.optim.SGD(model.parameters(), lr=0.1)

    def train(batch):
        optimiser.zero_grad()
        loss = (model(torch.randn(batch, 8, 32)) ** 2).mean()
        with record_function("backward"):
            loss.backward()
        optimiser.step()

    train(2)
    with profile(activities=[ProfilerActivity.CPU], record_shapes=True, profile_memory=True,
                 schedule=torch.profiler.schedule(wait=0, warmup=1, active=2, repeat=1)) as prof:
        for batch in (2, 2, 4):
            train(batch)
            prof.step()
    write(prof, folder, "shapes_memory", True, torch)


def threads(torch, folder):
    """Nested ranges on two threads, ranges that hold only a range of their own name."""
    import threading
    from torch.profiler import ProfilerActivity, profile, record_function

    x = torch.randn(48, 48)
    turn = threading.Barrier(2)

    def work(name, rounds):
        turn.wait()
        with record_function(f"thread {name}"):
            for _ in range(rounds):
                with record_function("outer"), record_function("inner"):
                    y = torch.mm(x, x)
                    with record_function("same"), record_function("same"), record_function("same"):
                        y = torch.sigmoid(y)
                    with record_function("twice"):
                        with record_function("twice"):
                            y = y + 1
                        with record_function("twice"):
                            y = y * 2
                    with record_function("aten::relu"):  # the name of its only child, but another category
                        torch.relu(y)
                    with record_function("nothing inside"):
                        pass

    # Without this option only the thread that starts the profiler is recorded.
    every_thread = torch._C._profiler._ExperimentalConfig(profile_all_threads=True)
    with profile(activities=[ProfilerActivity.CPU], experimental_config=every_thread) as prof:
        both = [threading.Thread(target=work, args=(n, r)) for n, r in (("a", 12), ("b", 8))]
        for t in both:
            t.start()
        for t in both:
            t.join()
    write(prof, folder, "threads", False, torch)


def fork(torch, folder):
    """An operator that begins on one thread and ends on another, and ranges still open when the profiler stops, alone and within
    one that has ended."""
    from torch.profiler import ProfilerActivity, profile, record_function

    @torch.jit.script
    def forked(x):
        a = torch.jit.fork(torch.mm, x, x)
        b = torch.relu(x)
        return torch.jit.wait(a) + b

    x = torch.randn(48, 48)
    forked(x)
    forked(x)
    every_thread = torch._C._profiler._ExperimentalConfig(profile_all_threads=True)
    with profile(activities=[ProfilerActivity.CPU], experimental_config=every_thread) as prof:
        for _ in range(4):
            with record_function("around"):
                forked(x)
        with record_function("ended"):
            outlasts = record_function("outlasts")
            outlasts.__enter__()
            torch.relu(x)
        left_open = record_function("left open")
        left_open.__enter__()
        torch.relu(x)
    for still_open in (outlasts, left_open):
        still_open.__exit__(None, None, None)
    write(prof, folder, "fork", False, torch)


def stack(torch, folder):
    """Python stacks: python_function events around the operators."""
    from torch.profiler import ProfilerActivity, profile, record_function

    model = torch.nn.Sequential(torch.nn.Linear(16, 16), torch.nn.ReLU(), torch.nn.Linear(16, 4))
    x = torch.randn(4, 16)
    model(x)
    with profile(activities=[ProfilerActivity.CPU], with_stack=True) as prof:
        for _ in range(5):
            with record_function("step"):
                model(x)
    write(prof, folder, "stack", False, torch)


def memory(torch, folder):
    """Allocations inside operators, freed inside a range, outside every range, and across ranges."""
    from torch.profiler import ProfilerActivity, profile, record_function

    torch.empty(10)
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as prof:
        kept = None
        for i in range(3):
            with record_function("allocate"):
                kept = torch.empty(1000 * (i + 1))
                also = torch.ones(64)
                del also
            lone = torch.zeros(500)
            del lone
            with record_function("is_leaf"):
                torch.ops.aten.is_leaf(kept)  # an operator that the averages leave out
        del kept
    write(prof, folder, "memory", False, torch)


def flops(torch, folder):
    """Every operator whose floating-point operations torch counts, in several shapes."""
    from torch.profiler import ProfilerActivity, profile

    torch.manual_seed(0)
    a, b, bias = torch.randn(6, 4), torch.randn(4, 9), torch.randn(9)
    many, others, added = torch.randn(3, 6, 4), torch.randn(3, 4, 9), torch.randn(3, 6, 9)
    image, kernel = torch.randn(2, 6, 17, 13), torch.randn(8, 3, 3, 5)
    with profile(activities=[ProfilerActivity.CPU], record_shapes=True, with_flops=True) as prof:
        for _ in range(3):
            torch.mm(a, b)
            torch.mm(b.t(), a.t())
            torch.addmm(bias, a, b)
            torch.bmm(many, others)
            torch.baddbmm(added, many, others)
            torch.nn.functional.conv2d(image, kernel, stride=(2, 1), padding=(1, 2), groups=2)
            torch.nn.functional.conv2d(image, kernel, dilation=2, groups=2)
            torch.mul(a, 2) + a[:1]
            torch.add(a[:1], a) * torch.tensor(3.0)
            torch.tensor(3.0) * a
            torch.mm(torch.empty(3, 0), torch.empty(0, 2))
            torch.nn.functional.linear(a, b.t(), bias)
            a.sum()
    write(prof, folder, "flops", True, torch)


def inside(folder):
    import torch
    torch.set_num_threads(1)
    for name in NAMES:
        globals()[name](torch, folder)
    return 0


# ---- outside ----------------------------------------------------------------

def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--out", default=HERE, type=Path, metavar="DIR", help="recordings go to DIR/torch-cpu (default: this script's folder)")
    parser.add_argument("--inside", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.inside:
        return inside(options.inside)
    try:
        python = environments.ensure("vllm")
        out = options.out / "torch-cpu"
        out.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="tacho-record-") as work:
            done = subprocess.run([str(python), str(Path(__file__).resolve()), "--inside", work], text=True,
                                  stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300)
            if done.returncode != 0:
                raise RecordError(f"recording failed with exit code {done.returncode}:\n{done.stdout[-3000:]}")
            for name in NAMES:
                text = Path(work, f"{name}.json").read_text(encoding="utf-8")
                text = re.sub(r'("host_name": )"[^"]*"', r'\1"localhost"', text)
                text = re.sub(r'("traceName": )"[^"]*"', lambda m: f'{m.group(1)}"{name}.json"', text)
                json.loads(text)
                target = out / f"{name}.pt.trace.json.gz"
                target.write_bytes(gzip.compress(text.encode(), 9, mtime=0))
                (out / f"{name}.key_averages.json").write_text(Path(work, f"{name}.key_averages.json").read_text())
                say(f"{target.name}: {target.stat().st_size} bytes")
        return 0
    except (RecordError, subprocess.TimeoutExpired) as e:
        say(f"record_torch: {e}")
        return 1


if __name__ == "__main__":
    sys.exit(main())
