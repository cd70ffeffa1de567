"""One server, for its owner: started through keeper.py, watched, and ended with all processes that it started."""
import os
import re
import select
import subprocess
import sys
import time
from pathlib import Path

from .progress import EnginesError

KEEPER = Path(__file__).with_name("keeper.py")
GRACE_S = 10
ANSI = re.compile(r"\x1b\[[0-9;]*m")
ERROR = re.compile(r"\b(ERROR|CRITICAL)\b|panicked at|\b[A-Z]\w*(Error|Exception)\b|: error: ")


class Process:
    """A server with its log. It ends when `end` is called, and also when this process ends in whatever way."""

    def __init__(self, name, command, environment, log, cwd):
        self.name, self.command, self.environment = name, [str(c) for c in command], environment
        self.log, self.cwd = Path(log), Path(cwd)
        self.pid = self.status = self.keeper = None
        self.told = b""

    def start(self):
        with open(self.log, "ab") as log:
            self.keeper = subprocess.Popen(
                [sys.executable, "-I", str(KEEPER), str(GRACE_S), *self.command], cwd=self.cwd,
                env={**os.environ, **self.environment}, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log,
                start_new_session=True)  # a Ctrl-C in the terminal is for the owner alone
        while self.pid is None and self._hear(30):
            pass
        if self.pid is None:
            raise EnginesError(f"{self.name} could not be started: {self.command[0]}\n{self.why()}")

    def _hear(self, seconds):
        """Reads what the keeper prints; false if it prints nothing in that time, or has ended."""
        if not select.select([self.keeper.stdout], [], [], seconds)[0]:
            return False
        data = os.read(self.keeper.stdout.fileno(), 4096)
        self.told += data
        for line in self.told.decode().splitlines():
            what, _, number = line.partition(" ")
            if what == "pid":
                self.pid = int(number)
            elif what == "exit":
                self.status = int(number)
        if not data and self.status is None:
            self.status = self.keeper.wait()  # a keeper that was killed takes its server with it
        return bool(data)

    def ended(self):
        """The server's exit code (negative: the signal) once it has ended, else None."""
        while self.status is None and self._hear(0):
            pass
        return self.status

    def ask_to_end(self):
        if self.keeper and not self.keeper.stdin.closed:
            self.keeper.stdin.close()

    def end(self):
        """Ends the server and all it started; returns its exit code."""
        if not self.keeper:
            return None
        self.ask_to_end()
        try:
            self.keeper.wait(GRACE_S + 10)
        except subprocess.TimeoutExpired:
            raise EnginesError(f"processes of {self.name} (keeper {self.keeper.pid}) did not end") from None
        return self.ended()

    def memory(self):
        """Resident bytes of all processes of the server's session; shared pages count in each."""
        total = 0
        for entry in os.scandir("/proc"):
            if not entry.name.isdigit():
                continue
            try:
                fields = Path(entry.path, "stat").read_text().rpartition(")")[2].split()  # from field 3 of the line on
                if int(fields[3]) == self.pid:
                    total += int(fields[21]) * os.sysconf("SC_PAGE_SIZE")
            except (OSError, ValueError, IndexError):
                continue
        return total

    def why(self):
        """The first line of the log that looks like an error, and its last lines."""
        try:
            lines = ANSI.sub("", self.log.read_text(errors="replace")).splitlines()
        except OSError as e:
            return str(e)
        bad = [line for line in lines if ERROR.search(line)]
        return f"first error and last lines of {self.log}:\n" + "\n".join(bad[:1] + lines[-12:])


def end_all(processes):
    """Ends them all at the same time."""
    for p in processes:
        p.ask_to_end()
    for p in processes:
        p.end()


def wait_until(ready, process, seconds, what):
    """Polls `ready` until it is true; fails if the process ends first or the time is over. Returns the seconds it took."""
    began = time.monotonic()
    while not ready():
        if process.ended() is not None:
            raise EnginesError(f"{process.name} ended with exit code {process.status} before it was ready; {process.why()}")
        if time.monotonic() - began > seconds:
            raise EnginesError(f"{process.name} gave no answer on {what} within {seconds:.0f} s; {process.why()}")
        time.sleep(0.25)
    return time.monotonic() - began
