#!/usr/bin/env python3
"""A profile that does not fit into Kineto's buffers: it drops what comes when they are full.

Truth: the launches counted by the program, and key_averages(): the difference was lost.
"""
import os
import tempfile

from part import fact, main

# Kineto opens at most 1 + MEGABYTES / 4 buffers at a time. CUPTI wants one for the host's calls and one for the GPU's work at least.
SESSIONS = {"room enough": (128, 20), "few buffers": (8, 400), "one buffer": (1, 100)}  # MB, steps


def buffer(part):
    import torch

    from model import Decoder
    part.needs_gpu("a full buffer")
    decoder = Decoder(part.device)
    nodes = decoder.capture()
    for what, (megabytes, steps) in SESSIONS.items():
        with open(os.environ["KINETO_CONFIG"], "w") as config:  # read anew for each session
            config.write(f"ACTIVITIES_MAX_GPU_BUFFER_SIZE_MB={megabytes}\n")
        with part.recorded(what) as truth:
            for _ in range(steps):
                decoder.step(replay=True)
            torch.cuda.synchronize()
            truth.append(fact("launched", steps * nodes, "replays and the nodes of the graph"))
    part.skip_unless_lost("a full buffer")


if __name__ == "__main__":
    with tempfile.NamedTemporaryFile("w", prefix="tacho-kineto-", suffix=".conf") as file:
        os.environ["KINETO_CONFIG"] = file.name  # before torch is loaded
        main("buffer", buffer)
