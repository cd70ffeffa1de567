"""The program tacho, which lies in the same environment."""
import os
import shutil
import signal
import subprocess
import sysconfig

from . import _errors, _tables

# cli/exit_status.h
_KINDS = {2: "usage", 3: "unreadable", 5: "not-comparable", 6: "remote"}
_DONE = (0, 1, 4)  # also: a gate failed; something is missing, as the result says


def path():
    """The program's path: that of the wheel, else the one on PATH. TACHO_PROGRAM names another one."""
    own = os.path.join(sysconfig.get_path("scripts"), "tacho")
    found = os.environ.get("TACHO_PROGRAM") or (own if os.access(own, os.X_OK) else shutil.which("tacho"))
    if not found:
        raise _errors.Error("the program tacho is not installed beside this package, nor on PATH")
    return found


def run(*words):
    """Runs a command that prints JSON or text, and returns (standard output, exit status). Words that the program has for a failure
    become an exception. Ctrl-C ends the program, which then stops what it started."""
    process = subprocess.Popen([path(), *map(os.fspath, words)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               text=True)
    try:
        out, said = process.communicate()
    except BaseException:
        process.send_signal(signal.SIGINT)
        process.wait()
        raise
    if process.returncode not in _DONE:
        lines = [line.removeprefix("tacho: ") for line in said.splitlines() if line]
        raise _errors.of_kind(_KINDS.get(process.returncode, "bug"), "\n".join(lines) or f"exit status {process.returncode}")
    return out, process.returncode


def json_of(*words):
    return _tables.of_json(run(*words)[0])
