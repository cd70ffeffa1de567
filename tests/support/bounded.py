#!/usr/bin/env python3
"""Runs a test's script and ends it if it does not end in time: bounded.py SECONDS SCRIPT [ARGUMENT...]

Its last line is the CPU time of the script and of all that it ran: `build/PRESET/ctest.xml` has it for each test.

Prints the stack of each of its threads, ends the processes that it left, and fails. The bound of last resort: each wait of a script has
one of its own, and says what it waited for.
"""
import faulthandler
import os
import pathlib
import resource
import runpy
import signal
import sys
import threading


def descendants(of):
    """The processes below one, the oldest first."""
    found, parents = [of], {}
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            parents[int(stat.parent.name)] = int(stat.read_text().rpartition(")")[2].split()[1])
        except (OSError, ValueError):
            continue
    for above in found:
        found += [pid for pid, parent in parents.items() if parent == above]
    return found[1:]


def give_up(seconds):
    print(f"*** not over after {seconds} s; it stood here:", file=sys.stderr, flush=True)
    faulthandler.dump_traceback(file=sys.stderr)
    for pid in descendants(os.getpid()):
        try:
            os.kill(pid, signal.SIGKILL)
        except OSError:
            pass
    os._exit(1)


def main():
    seconds, script = float(sys.argv[1]), sys.argv[2]
    sys.argv = sys.argv[2:]
    sys.path[0] = str(pathlib.Path(script).resolve().parent)
    timer = threading.Timer(seconds, give_up, [seconds])
    timer.daemon = True
    timer.start()
    try:
        runpy.run_path(script, run_name="__main__")
    finally:
        used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
        print(f"{sum(one.ru_utime + one.ru_stime for one in used):.1f} s of CPU time", flush=True)


if __name__ == "__main__":
    main()
