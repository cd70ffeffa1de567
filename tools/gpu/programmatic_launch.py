#!/usr/bin/env python3
"""Kernels that overlap: of one stream by programmatic dependent launch, and of two streams. spin.ptx is the kernel.

Truth: when each kernel began and ended by the GPU's own timer, which it writes itself. A recorder sees a kernel a little longer.
"""
import ctypes
import pathlib

from part import Skipped, fact, main

KERNELS = 20  # of a stream
LENGTH_NS = 200_000
SLACK_NS = 5_000  # between the kernel's own times and the recorder's, for each kernel


def programmatic_launch(part):
    import torch

    import cuda_driver
    part.needs_gpu("kernels that overlap")
    capability = torch.cuda.get_device_capability()
    if capability < (9, 0):
        raise Skipped(f"programmatic launch: compute capability {capability[0]}.{capability[1]}, 9.0 is needed")
    torch.zeros(1, device="cuda")
    spin = cuda_driver.Module((pathlib.Path(__file__).parent / "spin.ptx").read_text()).function("spin")
    one, other = torch.cuda.Stream(), torch.cuda.Stream()
    for what, streams, programmatic in (("one after the other", [one], False), ("programmatic launch", [one], True),
                                        ("two streams", [one, other], False), ("two streams programmatic launch", [one, other], True)):
        times = torch.zeros(len(streams) * KERNELS, 2, dtype=torch.int64, device="cuda")
        torch.cuda.synchronize()
        with part.recorded(what) as truth:
            for number in range(KERNELS * len(streams)):
                stream = number % len(streams)
                values = [ctypes.c_uint64(times.data_ptr()), ctypes.c_uint64(LENGTH_NS), ctypes.c_uint32(number)]
                cuda_driver.launch(spin, streams[stream], values, programmatic)
            torch.cuda.synchronize()
            truth.append(fact("launched", len(times), "counted by the program"))
            truth.append(fact("streams", len(streams), "counted by the program"))
        spans = [tuple(span) for span in times.tolist()]  # not in the block: it is a copy
        part.told["traces"][-1]["truth"] += of_spans([spans[i::len(streams)] for i in range(len(streams))])
        part.save()


def of_spans(streams):
    """What the kernels' own times say; `streams`: for each the (begin, end) of its kernels, by launch."""
    source = "the GPU's timer, read by the kernels"
    spans = sorted(span for stream in streams for span in stream)
    slack = SLACK_NS * len(spans)
    return [fact("kernel sum ns", sum(end - begin for begin, end in spans), source, slack),
            fact("busy ns", union(spans), source, slack),
            fact("overlaps in a stream", sum(after[0] < before[1] for stream in streams for before, after in zip(stream, stream[1:])),
                 source)]


def union(spans):
    """ns that at least one of the spans covers; they are sorted."""
    total, until = 0, 0
    for begin, end in spans:
        total += max(0, end - max(begin, until))
        until = max(until, end)
    return total


if __name__ == "__main__":
    main("programmatic_launch", programmatic_launch)
