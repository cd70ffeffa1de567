"""The program tacho, which lies in the same environment."""
import json
import os
import shutil
import signal
import subprocess
import sys
import sysconfig
import threading

from . import _errors, _progress, _tables

# cli/exit_status.h
_NOT_COMPARABLE = 5
KINDS = {2: "usage", 3: "unreadable", 6: "remote"}  # where there is no JSON that says it
_DONE = (0, 1, 4)  # also: a gate failed; something is missing, as the result says


def path():
    """The program's path: that of the wheel, else the one on PATH. TACHO_PROGRAM names another one."""
    own = os.path.join(sysconfig.get_path("scripts"), "tacho")
    found = os.environ.get("TACHO_PROGRAM") or (own if os.access(own, os.X_OK) else shutil.which("tacho"))
    if not found:
        raise _errors.Error("the program tacho is not installed beside this package, nor on PATH")
    return found


def words_of(**options):
    """The options of a command: True is an option without a value; None, False and an empty list are none."""
    words = []
    for name, value in options.items():
        for one in value if isinstance(value, (list, tuple)) else [] if value is None or value is False else [value]:
            words += ["--" + name.replace("_", "-"), *([] if one is True else [str(one)])]
    return words


def run(*words, progress=False):
    """Runs a command and returns its standard output. A failure becomes an exception with the program's words. ``progress``: as in
    ``tacho.record``. Ctrl-C reaches the program, which then stops what it started."""
    draws = progress is True and _progress.in_terminal() and sys.stderr is sys.__stderr__  # the program draws in the terminal itself
    # A session of its own: a terminal and Jupyter interrupt all of ours, and a second interrupt, if late, ends the program at once.
    process = subprocess.Popen([path(), *map(os.fspath, words)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=None if draws else subprocess.PIPE, text=True, errors="replace", start_new_session=True)
    take, lines = _progress.of_lines(progress)
    out = []
    result = threading.Thread(target=lambda: out.append(process.stdout.read()))
    result.start()
    try:
        _each_line(process, take)
        process.wait()
    except BaseException:
        _end(process)
        raise
    finally:
        result.join()
        for pipe in filter(None, (process.stdout, process.stderr)):
            pipe.close()
    out, said = out[0], "\n".join(lines)
    if process.returncode in _DONE:
        return out
    if process.returncode == _NOT_COMPARABLE:
        raise _errors.NotComparableError(without_prefix(said))
    try:
        error = json.loads(out)["error"]
    except (ValueError, KeyError):
        raise _errors.of_kind(KINDS.get(process.returncode, "bug"), without_prefix(said) or f"exit status {process.returncode}") from None
    raise _errors.of_kind(error["kind"], error["message"])


def _end(process):
    """Lets the program stop what it started; a further Ctrl-C ends it sooner."""
    process.send_signal(signal.SIGINT)
    try:
        _each_line(process, lambda line: None)
        process.wait()
    except KeyboardInterrupt:
        process.send_signal(signal.SIGINT)


def _each_line(process, take):
    for line in process.stderr or ():
        take(line.rstrip("\n"))


def without_prefix(said):
    return "\n".join(line.removeprefix("tacho: ") for line in said.splitlines() if line)


def json_of(*words, progress=False):
    return _tables.of_json(run(words[0], "--json", *words[1:], progress=progress))
