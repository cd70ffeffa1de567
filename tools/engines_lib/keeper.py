"""Runs one server and lets none of its processes outlive it: keeper.py GRACE_SECONDS COMMAND...

The server leads a session of its own. Every process that it leaves behind becomes a child of the keeper, whatever
group or session it has moved to. When the keeper's standard input ends (its owner closed it, or died in any way), when it gets
SIGTERM, SIGINT or SIGHUP, or when the server itself ends, the rest gets SIGTERM, and after the grace
SIGKILL; the keeper ends when nothing is left. Files in /dev/shm that came since the start, that these processes had mapped
and nobody has any more, are removed: an SGLang leaves its own. The keeper writes "pid N", then "exit N"
(negative: the signal) to its standard output, and ends with the server's status. Run as a program, it imports nothing of this
package. Linux only.
"""
import ctypes
import os
import select
import signal
import subprocess
import sys
import time

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
SHARED = "/dev/shm/"
LOOK_S = 5


def prctl(option, value):
    ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0)


def tell(text):
    try:
        os.write(1, (text + "\n").encode())
    except OSError:
        pass  # the owner has ended


def descendants(root):
    """All living processes below `root`, from /proc."""
    children = {}
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            try:
                with open(f"/proc/{entry.name}/stat", "rb") as f:
                    parent = int(f.read().rpartition(b")")[2].split()[1])
                children.setdefault(parent, []).append(int(entry.name))
            except (OSError, ValueError, IndexError):
                continue  # it has just ended
    found, todo = [], [root]
    while todo:
        below = children.get(todo.pop(), [])
        found += below
        todo += below
    return found


def shared_memory(pids):
    """The files in /dev/shm that these processes have mapped."""
    found = set()
    for pid in pids:
        try:
            with open(f"/proc/{pid}/maps", errors="replace") as maps:
                found.update(line[line.index(SHARED):].rstrip("\n") for line in maps if SHARED in line)
        except OSError:
            continue  # it has just ended, or is somebody else's
    return found


def everybody():
    return [int(entry.name) for entry in os.scandir("/proc") if entry.name.isdigit()]


def send(pids, number):
    for pid in pids:
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            pass


class Keeper:
    def __init__(self, grace, command):
        self.grace = grace
        self.ending = False
        self.not_ours = {SHARED + name for name in os.listdir(SHARED)}
        self.wake, wake = os.pipe()
        os.set_blocking(self.wake, False)
        os.set_blocking(wake, False)
        signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, self.end)
        prctl(PR_SET_CHILD_SUBREAPER, 1)
        null = os.open(os.devnull, os.O_RDONLY)
        self.server = subprocess.Popen(
            command, stdin=null, stdout=2, start_new_session=True,
            preexec_fn=lambda: prctl(PR_SET_PDEATHSIG, signal.SIGKILL)).pid  # should the keeper itself be killed
        self.status = None
        tell(f"pid {self.server}")

    def end(self, *_):
        self.ending = True

    def reap(self):
        """Take all that ended; false when no child is left."""
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return False
            if pid == 0:
                return True
            if pid == self.server:
                self.status = os.waitstatus_to_exitcode(status)
                tell(f"exit {self.status}")

    def wait(self, seconds, inputs):
        """Until something happens; true if the owner closed our standard input."""
        ready = select.select([self.wake, *inputs], [], [], seconds)[0]
        if self.wake in ready:
            try:
                os.read(self.wake, 4096)
            except BlockingIOError:
                pass
        return 0 in ready and not os.read(0, 4096)

    def remove(self, shared):
        """What no process has mapped any more."""
        for path in shared and shared - shared_memory(everybody()):
            try:
                os.unlink(path)
            except OSError:
                pass  # removed by whoever made it

    def run(self):
        shared = set()
        while self.reap() and self.status is None and not self.ending:
            shared |= shared_memory(descendants(os.getpid()))  # an SGLang that fails kills all of its processes
            self.ending |= self.wait(LOOK_S, [0])
        shared |= shared_memory(descendants(os.getpid()))
        shared -= self.not_ours
        send(descendants(os.getpid()), signal.SIGTERM)
        until = time.monotonic() + self.grace
        while self.reap():
            left = until - time.monotonic()
            if left <= 0:
                send(descendants(os.getpid()), signal.SIGKILL)
                left = 0.2
            self.wait(left, [])
        self.remove(shared)
        status = 1 if self.status is None else self.status
        return status if status >= 0 else 128 - status


if __name__ == "__main__":
    sys.exit(Keeper(float(sys.argv[1]), sys.argv[2:]).run())
