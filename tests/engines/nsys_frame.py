"""A real nsys for the scenarios: programs under `nsys launch`, whose agents end with them."""
import contextlib
import os
import subprocess
import sys
from pathlib import Path

from frame import ENGINES, ROOT, Skipped, check, wait_for

sys.path.insert(0, str(ROOT / "tools"))
from engines_lib import environments, nsys  # noqa: E402
from engines_lib.process import Process  # noqa: E402


class Nsys:
    """The nsys of tools/engines."""

    def __init__(self):
        done = subprocess.run([sys.executable, ENGINES, "install", "nsys"], stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        if done.returncode != 0:
            raise Skipped(f"nsys cannot be installed here (exit {done.returncode}): {done.stderr.strip()}")
        self.program = nsys.program()
        self.python = environments.find("nsys")  # with NVTX
        self.environment = {**os.environ, "PATH": f"{self.program.parent}:{os.environ['PATH']}"}

    def run(self, *arguments, status=0):
        done = subprocess.run([self.program, *map(str, arguments)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, errors="replace", timeout=120, env=self.environment)
        check(status is None or done.returncode == status,
              f"nsys {' '.join(map(str, arguments))} exits {done.returncode}: {done.stdout[-300:]}{done.stderr[-300:]}")
        return done.stdout

    def state(self, session):
        """As `nsys sessions list` has it; "" if it does not have it."""
        for line in self.run("sessions", "list", "-p", "false").splitlines():
            words = line.split()
            if words and words[-1] == session:
                return words[2]
        return ""

    @contextlib.contextmanager
    def launched(self, session, command, folder, arguments=("-t", "nvtx,osrt"), environment=None):
        """A program under `nsys launch`, until the end of the block: then it is ended with its session and their agent, and none
        of them may be left."""
        process = Process("nsys launch", [self.program, "launch", f"--session-new={session}", *arguments, *command],
                          {**self.environment, **(environment or {})}, folder / f"{session}.log", folder)
        process.start()
        try:
            wait_for(lambda: self.state(session) == "Launched", 60, f"session {session} of nsys")
            yield process
        finally:
            self.run("shutdown", f"--session={session}", "--kill", "sigterm", status=None)
            process.end()  # its agent too, which has left its process group
        check(not agents(session), f"agents of {session} are left: {agents(session)}")


def agents(session=""):
    """The pids of agents, of one session if named."""
    found = []
    for entry in os.scandir("/proc"):
        with contextlib.suppress(OSError):
            words = Path(entry.path, "cmdline").read_bytes().split(b"\0") if entry.name.isdigit() else []
            if b"--start-agent" in words and (not session or f"--session-name={session}".encode() in words):
                found.append(int(entry.name))
    return found
