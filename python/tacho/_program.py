"""The program tacho, which lies in the same environment."""
import json
import os
import shutil
import signal
import subprocess
import sysconfig

from . import _errors, _tables

# cli/exit_status.h
_NOT_COMPARABLE = 5
_KINDS = {2: "usage", 3: "unreadable", 6: "remote"}  # where there is no JSON that says it
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
        for one in value if isinstance(value, (list, tuple)) else [] if value in (None, False) else [value]:
            words += ["--" + name.replace("_", "-"), *([] if one is True else [str(one)])]
    return words


def run(*words, shows=False):
    """Runs a command and returns its standard output. A failure becomes an exception with the program's words. ``shows``: standard error
    stays the caller's, for progress. Ctrl-C reaches the program, which then stops what it started."""
    process = subprocess.Popen([path(), *map(os.fspath, words)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=None if shows else subprocess.PIPE, text=True)
    try:
        out, said = process.communicate()
    except BaseException:
        process.send_signal(signal.SIGINT)
        process.wait()
        raise
    if process.returncode in _DONE:
        return out
    if process.returncode == _NOT_COMPARABLE:
        raise _errors.NotComparableError(_without_prefix(said))
    try:
        error = json.loads(out)["error"]
    except (ValueError, KeyError):
        raise _errors.of_kind(_KINDS.get(process.returncode, "bug"), _without_prefix(said) or f"exit status {process.returncode}") from None
    raise _errors.of_kind(error["kind"], error["message"])


def _without_prefix(said):
    return "\n".join(line.removeprefix("tacho: ") for line in (said or "").splitlines() if line)


def json_of(*words, shows=False):
    return _tables.of_json(run(words[0], "--json", *words[1:], shows=shows))
