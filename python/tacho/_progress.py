"""How far something has come: a line that changes, in a terminal or a notebook, or a call of the user's."""
import shutil
import sys

from ._tables import Record

_QUIET_FOR_S = 1.0
_REDRAWN_EACH_S = 0.1


class _Terminal:
    """One line on standard error, redrawn."""

    def show(self, text):
        sys.stderr.write("\r" + text[:shutil.get_terminal_size().columns - 1] + "\x1b[K")
        sys.stderr.flush()

    def end(self, text):
        sys.stderr.write("\r\x1b[K" + (text + "\n" if text else ""))
        sys.stderr.flush()


class _Notebook:
    """A text below the cell, redrawn."""

    def __init__(self, display):
        self._display, self._handle = display, None

    def show(self, text):
        shown = {"text/plain": text}
        if self._handle is None:
            self._handle = self._display(shown, raw=True, display_id=True)
        else:
            self._handle.update(shown, raw=True)

    end = show


def notebook():
    """What shows texts in the notebook that this runs in; None elsewhere."""
    ipython = sys.modules.get("IPython")
    shell = ipython.get_ipython() if ipython else None
    return _Notebook(ipython.display.display) if getattr(shell, "kernel", None) is not None else None


def in_terminal():
    return sys.stderr is not None and sys.stderr.isatty()


class _Drawn:
    """Shows how far a reading has come, for a reading of more than a second."""

    def __init__(self, where):
        self._where, self._drawn_at, self._line = where, _QUIET_FOR_S - _REDRAWN_EACH_S, None

    def __call__(self, traces, done_bytes, total_bytes, seconds, line):
        self._line = line
        if seconds >= self._drawn_at + _REDRAWN_EACH_S:
            self._drawn_at = seconds
            self._where.show(line)

    def close(self, read):
        """Leaves one line if anything was shown; after a failure, nothing."""
        if self._drawn_at >= _QUIET_FOR_S:
            self._where.end(self._line if read else "")


class _Called:
    """Hands all over to a function of the user's."""

    def __init__(self, function):
        self._function = function

    def __call__(self, traces, done_bytes, total_bytes, seconds, line):
        self._function(Record(text=line, traces=traces, done_bytes=done_bytes, total_bytes=total_bytes, seconds=seconds))

    def close(self, read):
        pass


def of_reading(progress):
    """What is called with a reading's progress; None: nobody wants to know. `progress`: as in ``tacho.read``."""
    if callable(progress):
        return _Called(progress)
    where = (notebook() or (_Terminal() if in_terminal() else None)) if progress else None
    return _Drawn(where) if where else None


def has_unicode():
    return notebook() is not None or "utf" in (getattr(sys.stderr, "encoding", None) or "").lower()


def of_lines(progress):
    """What is called with each line that a program says, and a list that gets those lines. `progress`: as in ``tacho.record``."""
    said = []
    where = notebook() if progress and not callable(progress) else None

    def take(line):
        said.append(line)
        if callable(progress):
            progress(Record(text=line))
        elif where:
            where.show("\n".join(said[-100:]))
        elif progress and sys.stderr is not None:
            print(line, file=sys.stderr, flush=True)

    return take, said
