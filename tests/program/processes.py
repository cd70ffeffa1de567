"""The processes that a test starts: each ends with its block, and each wait has a bound and says what it waited for."""
import contextlib
import fcntl
import os
import pty
import select
import struct
import subprocess
import termios
import threading
import time

# Far longer than a busy machine takes, far shorter than ctest waits for a test.
PATIENCE_S = 120


class Overdue(Exception):
    """An event that did not come in time."""


class NoTerminal(Exception):
    """Why there is no terminal here."""


def end(process, seconds=60):
    """SIGTERM, and SIGKILL for one that does not end. Its exit status."""
    if process.poll() is None:
        process.terminate()
    try:
        return process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
        print(f"FAILED to end within {seconds} s of its SIGTERM: {process.args}", flush=True)
        return process.returncode


@contextlib.contextmanager
def running(command, **options):
    """A process that runs as long as the block, whatever happens in it."""
    process = subprocess.Popen(command, **options)
    try:
        yield process
    finally:
        end(process)
        for pipe in (process.stdin, process.stdout, process.stderr):
            if pipe:
                pipe.close()


def first_line(process, seconds=PATIENCE_S):
    """The first line that a process prints; else an error with what it did print."""
    lines = []
    reader = threading.Thread(target=lambda: lines.append(process.stdout.readline()), daemon=True)
    reader.start()
    reader.join(seconds)
    if reader.is_alive():
        process.kill()
        raise Overdue(f"waited {seconds} s for the first line of {process.args}")
    if not lines[0]:
        said = process.stderr.read() if process.stderr else ""
        raise RuntimeError(f"no line came: exit status {end(process)} of {process.args}: {said}")
    return lines[0]


def open_terminal(columns=80):
    """Both ends of a pseudoterminal, the program's second. NoTerminal where none can be had, such as without /dev/pts."""
    try:
        ours, theirs = pty.openpty()
    except OSError as problem:
        raise NoTerminal(f"no terminal can be had here (is /dev/pts mounted?): {problem}") from problem
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("4H", 50, columns, 0, 0))
    return ours, theirs


def read_until(terminal, text, of, seconds=PATIENCE_S):
    """What `of`, a process, prints on a terminal up to `text`."""
    seen = bytearray()
    until = time.monotonic() + seconds
    while text not in seen:
        if not select.select([terminal], [], [], max(0, until - time.monotonic()))[0]:
            of.kill()
            raise Overdue(f"waited {seconds} s for {text!r} of {of.args}; it printed {bytes(seen)!r}")
        seen.extend(os.read(terminal, 65536))
    return bytes(seen)


def read_to_the_end(terminal, of, seconds=PATIENCE_S):
    """What `of`, a process, prints on a terminal until nobody has that open any more."""
    seen = bytearray()

    def read():
        try:
            while part := os.read(terminal, 65536):
                seen.extend(part)
        except OSError:  # how a terminal ends
            pass
    reader = threading.Thread(target=read, daemon=True)
    reader.start()
    reader.join(seconds)
    if reader.is_alive():
        of.kill()
        raise Overdue(f"waited {seconds} s for the end of {of.args}; it printed {bytes(seen)!r}")
    return bytes(seen)
