"""Runs commands and measures them: wall time, CPU time and peak memory.

The numbers come from wait4, so they are the kernel's and cover the command alone. The kernel
counts the memory that a process had before it became the command as well; to keep that small each
command is started by a small interpreter of its own (this file, run as a script), never by the
large process that compares the results. What remains is printed by `floor_bytes`.
"""

import os
import sys
import time


def _launch(output, errors, command):
    """Runs a command and prints its exit status, wall and CPU seconds and peak memory in bytes."""
    to_file = [(os.POSIX_SPAWN_OPEN, fd, path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
               for fd, path in ((1, output), (2, errors))]
    begin = time.perf_counter()
    pid = os.posix_spawnp(command[0], command, os.environ, file_actions=to_file)
    _, status, usage = os.wait4(pid, 0)
    wall = time.perf_counter() - begin
    cpu = usage.ru_utime + usage.ru_stime
    print(os.waitstatus_to_exitcode(status), wall, cpu, usage.ru_maxrss * 1024)


if __name__ == "__main__":
    _launch(sys.argv[1], sys.argv[2], sys.argv[3:])
    sys.exit(0)

# Only the process that compares gets here: the launcher above must stay small.
import contextlib  # noqa: E402
import dataclasses  # noqa: E402
import json  # noqa: E402
import statistics  # noqa: E402
import subprocess  # noqa: E402
import tempfile  # noqa: E402


class CommandFailed(Exception):
    """A command that was to be measured did not succeed; the text says how it ended."""


@dataclasses.dataclass
class Sample:
    """One run of one command."""

    wall_s: float
    cpu_s: float
    peak_bytes: int
    line: dict  # what the command said about itself, if its output was kept


def measure(command, keep_output=False, accept=(0,)):
    """Runs a command once. Its output is thrown away or read as one line of JSON."""
    with contextlib.ExitStack() as stack:
        errors = stack.enter_context(tempfile.NamedTemporaryFile())
        output = stack.enter_context(tempfile.NamedTemporaryFile()) if keep_output else None
        launcher = [sys.executable, "-I", "-S", os.path.abspath(__file__),
                    output.name if output else os.devnull, errors.name, *map(str, command)]
        done = subprocess.run(launcher, capture_output=True, text=True, check=False)
        fields = done.stdout.split()
        if done.returncode != 0 or len(fields) != 4:
            raise CommandFailed(f"cannot be started: {_last_line(done.stderr)}")
        if int(fields[0]) not in accept:
            message = _last_line(errors.read().decode(errors="replace"))
            raise CommandFailed(f"exit {fields[0]}: {message}")
        line = json.loads(output.read()) if output else {}
    return Sample(float(fields[1]), float(fields[2]), int(fields[3]), line)


def _last_line(text):
    lines = text.strip().splitlines()
    return lines[-1] if lines else "no message"


def interleaved(runs, rounds, on_failure):
    """Calls each of the named functions once a round, so that a slow minute hits all alike.

    A name whose function raises CommandFailed is given to on_failure and left out from then on.
    Returns the samples of the names that never failed.
    """
    samples = {name: [] for name in runs}
    for _ in range(rounds):
        for name in list(samples):
            try:
                samples[name].append(runs[name]())
            except CommandFailed as error:
                on_failure(name, error)
                del samples[name]
    return samples


@dataclasses.dataclass
class Spread:
    """Median, smallest and largest of some measurements."""

    median: float
    low: float
    high: float

    @classmethod
    def of(cls, values):
        values = list(values)
        return cls(statistics.median(values), min(values), max(values))


def warm(path):
    """Reads a file so that it lies in the page cache."""
    with open(path, "rb", buffering=0) as file:
        while file.read(1 << 24):
            pass


def floor_bytes():
    """Peak memory that is charged to a command that needs none."""
    return measure(["true"]).peak_bytes


def available_bytes():
    """Memory that can be had without swapping."""
    with open("/proc/meminfo", encoding="ascii") as file:
        for line in file:
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    return 0
