"""A machine that does something else gives no figures worth keeping."""
import os
import sys
import time

MOST_LOAD, PATIENCE_S = 0.5, 240


def wait():
    """Waits for the load of what came before to fade (traces that were made, a build); words on what it is then."""
    begun = time.monotonic()
    while (load := os.getloadavg()[0]) > MOST_LOAD and time.monotonic() - begun < PATIENCE_S:
        print(f"load average {load:.1f}: waiting for {MOST_LOAD:g}, {PATIENCE_S} s at most", file=sys.stderr, flush=True)
        time.sleep(10)
    return f"load average {load:.1f} at the start{' (NOT QUIET: do not keep these numbers)' if load > MOST_LOAD else ''}"
