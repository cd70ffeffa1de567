#!/usr/bin/env python3
"""Decode loops of a small transformer: eager and as CUDA graphs, with stacks and without, with pauses.

Truth: the program's own counters (steps, calls of layers, replays), the nodes of the captured graph, CUDA events around the loop,
the pauses by the host's clock, key_averages().
"""
import time

from part import fact, main

STEPS = 30
PAUSE_S = 0.005


def loops(part):
    import torch

    from model import Decoder
    decoder = Decoder(part.device)
    for _ in range(3):
        decoder.step()
    nodes = None
    if part.cpu:
        part.skip("CUDA graphs", "needs CUDA")
    else:
        nodes = decoder.capture()
        decoder.step(replay=True)
        torch.cuda.synchronize()
    for stacks in (False, True):
        for replay in (False, True) if nodes else (False,):
            what = ("graph" if replay else "eager") + (" with stacks" if stacks else "")
            with part.recorded(what, stacks=stacks) as truth:
                truth += loop(part, decoder, replay, nodes)
    if nodes:
        with part.recorded("graph with pauses") as truth:
            truth += loop(part, decoder, True, nodes, PAUSE_S)


def loop(part, decoder, replay, nodes, pause_s=0):
    from model import BATCH, LINEARS
    before, (elapsed_ns, paused_ns) = decoder.steps, timed(part, decoder, replay, pause_s)
    steps = decoder.steps - before
    truth = [fact("steps", steps, "counted by the program"), fact("generation tokens", steps * BATCH, "counted by the program"),
             fact("window ns", elapsed_ns, "CUDA events around the loop" if nodes else "host's clock around the loop",
                  round(elapsed_ns * (0.02 if nodes else 0.1)) + (200_000 if nodes else 3_000_000))]
    if not replay:
        truth.append(fact("some operators", {"aten::linear": steps * LINEARS, "aten::layer_norm": steps * (LINEARS // 2)},
                          "layers of the model, counted by the program"))
    if replay:
        truth += [fact("launched", steps * nodes, "replays and the nodes of the graph"),
                  fact("graph launches", steps, "replays, counted by the program"),
                  fact("GPU events of graphs", steps * nodes, "replays and the nodes of the graph"),
                  fact("most GPU events of a launch", nodes, "nodes of the graph")]
    if pause_s:
        # Each step adds its launch to the pause.
        truth.append(fact("idle ns", paused_ns, "pauses by the host's clock", steps * 300_000))
    return truth


def timed(part, decoder, replay, pause_s):
    """Runs the loop: ns from its first work to its last by CUDA events, on the CPU by the host's clock, and ns of its pauses."""
    import torch
    paused = 0
    if not part.cpu:
        torch.cuda.synchronize()
        first, last = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        first.record()
    began = time.perf_counter_ns()
    for number in range(STEPS):
        decoder.step(replay)
        if pause_s and number + 1 < STEPS:
            torch.cuda.synchronize()
            asleep = time.perf_counter_ns()
            time.sleep(pause_s)
            paused += time.perf_counter_ns() - asleep
    if part.cpu:
        return time.perf_counter_ns() - began, paused
    last.record()
    last.synchronize()
    return round(first.elapsed_time(last) * 1e6), paused


if __name__ == "__main__":
    main("loops", loops)
