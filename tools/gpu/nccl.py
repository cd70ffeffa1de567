#!/usr/bin/env python3
"""NCCL with one rank on one GPU: collectives that scale launch a kernel, those into another tensor copy.

Truth: the program's own counters, and key_averages().
"""
import socket

from part import fact, main

ROUNDS = 10
ELEMENTS = 1 << 18


def nccl(part):
    import torch
    import torch.distributed as dist
    part.needs_gpu("NCCL")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    dist.init_process_group("nccl", init_method=f"tcp://127.0.0.1:{port}", rank=0, world_size=1, device_id=torch.device("cuda", 0))
    try:
        one, other = (torch.ones(ELEMENTS, device="cuda") for _ in range(2))
        halved = dist._make_nccl_premul_sum(0.5)
        dist.all_reduce(one, op=halved)
        dist.all_gather_into_tensor(other, one)
        torch.cuda.synchronize()
        done = {"nccl:all_reduce": 0, "nccl:_all_gather_base": 0}
        with part.recorded("collectives of one rank") as truth:
            for _ in range(ROUNDS):
                dist.all_reduce(one, op=halved)
                done["nccl:all_reduce"] += 1
                dist.all_gather_into_tensor(other, one)
                done["nccl:_all_gather_base"] += 1
            truth += [fact("some annotations", done, "counted by the program"),
                      fact("some operators", {"c10d::allreduce_": ROUNDS, "c10d::_allgather_base_": ROUNDS}, "counted by the program"),
                      fact("copies by kind", {"DtoD": ROUNDS}, "gathered tensors, counted by the program"),
                      fact("copied bytes by kind", {"DtoD": ROUNDS * ELEMENTS * one.element_size()}, "counted by the program"),
                      fact("launched", sum(done.values()), "counted by the program: one kernel or one copy each")]
    finally:
        dist.destroy_process_group()


if __name__ == "__main__":
    main("nccl", nccl)
