#!/usr/bin/env python3
"""Several profiler sessions in one process, with idle time between. Before CUDA 13.1 each loses GPU records at its head, and more
with each session (pytorch issue 192021).

Truth: the launches counted by the program, and key_averages(): the difference was lost.
"""
import time

from part import fact, main

SESSIONS = 4
LAUNCHES = 50  # of a session; the loss that is known grows by one with each session
IDLE_S = 15


def sessions(part):
    import torch
    x = torch.zeros(1 << 16, device=part.device)
    x.add_(1)
    for number in range(1, SESSIONS + 1):
        if number > 1:
            time.sleep(1 if part.cpu else IDLE_S)
        launched = 0
        with part.recorded(f"session {number} of {SESSIONS}") as truth:
            for window in range(LAUNCHES):
                with torch.profiler.record_function(f"window-{window:02}"):
                    x.add_(1)  # one kernel
                launched += 1
            truth.append(fact("some operators", {"aten::add_": launched}, "counted by the program"))
            if not part.cpu:
                truth.append(fact("launched", launched, "counted by the program"))
    part.skip_unless_lost("records lost at the head of a session")


if __name__ == "__main__":
    main("sessions", sessions)
