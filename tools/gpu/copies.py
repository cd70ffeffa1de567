#!/usr/bin/env python3
"""Copies of every kind and sets of memory, of known number and size.

Truth: the program's own counters, and key_averages().
"""
from part import fact, main

BYTES = 1 << 20
COUNTS = {"HtoD": 11, "DtoH": 7, "DtoD": 5}  # of each of pinned and pageable memory, where that is a question
SETS = 3


def copies(part):
    import torch

    import cuda_driver
    part.needs_gpu("copies between host and GPU")
    here, there = (torch.zeros(BYTES, dtype=torch.uint8, device="cuda") for _ in range(2))
    hosts = {"pageable": torch.ones(BYTES, dtype=torch.uint8), "pinned": torch.ones(BYTES, dtype=torch.uint8).pin_memory()}
    torch.cuda.synchronize()
    for memory, host in hosts.items():
        done = dict.fromkeys(COUNTS, 0)
        with part.recorded(f"copies of {memory} memory") as truth:
            for kind, (target, source) in {"HtoD": (here, host), "DtoH": (host, here), "DtoD": (there, here)}.items():
                for _ in range(COUNTS[kind]):
                    target.copy_(source, non_blocking=True)
                    done[kind] += 1
            truth += [fact("copies by kind", done, "counted by the program"),
                      fact("copied bytes by kind", {kind: count * BYTES for kind, count in done.items()}, "counted by the program"),
                      fact("launched", sum(done.values()), "counted by the program")]
    with part.recorded("sets of memory") as truth:
        for _ in range(SETS):
            cuda_driver.set_bytes(here, 0, torch.cuda.current_stream())
        truth += [fact("sets of memory", SETS, "counted by the program"), fact("set bytes", SETS * BYTES, "counted by the program"),
                  fact("launched", SETS, "counted by the program")]


if __name__ == "__main__":
    main("copies", copies)
