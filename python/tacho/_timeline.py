"""The timeline of a run in a notebook: a frame of ``tacho view``."""
from __future__ import annotations

import html
import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import urllib.parse
import weakref

from . import _errors, _program


_OWN_NAMES = ("localhost", "127.0.0.1")  # by which the server may be asked


def _jupyter_page():
    """The address of the Jupyter server that started this kernel; None: there is none, or it does not say."""
    paths = sys.modules.get("jupyter_core.paths")  # every kernel has it
    if not paths:
        return None
    try:
        server = json.loads(pathlib.Path(paths.jupyter_runtime_dir(), f"jpserver-{os.environ['JPY_PARENT_PID']}.json").read_text())
        return server["url"]
    except (KeyError, OSError, ValueError):
        return None


# The view ends at the end of its standard input, and so with Python, whatever ends that. Its status is that of the view.
_UNTIL_EOF = '"$@" <&- & exec >&-; read -r _; kill $! 2>&-; wait $!'


def _end(process, said):
    process.stdin.close()
    process.wait()
    process.stdout.close()
    said.close()


class Timeline:
    """What ``Run.timeline`` returns: the last value of a cell shows it. ``url`` opens it in a tab of its own, on this machine; it holds
    a key, and so does a notebook that is saved with the frame. The key is void once the timeline is closed."""

    def __init__(self, paths, words, height, page, proxy):
        self._height = height
        # Without a place to begin with the page shows its summary.
        self._place = "" if {"--gap", "--step", "--find", "--at"} & {*words} else "#/t?tab=timeline"
        self._page = urllib.parse.urlsplit(page or _jupyter_page() or "")
        has_proxy = importlib.util.find_spec("jupyter_server_proxy") is not None
        self._proxied = proxy if proxy is not None else bool(self._page.netloc) and has_proxy
        frame = "self" if self._proxied else f"{self._page.scheme}://{self._page.netloc}" if self._page.netloc else None
        said = tempfile.TemporaryFile("w+", errors="replace")
        process = subprocess.Popen(["/bin/sh", "-c", _UNTIL_EOF, "sh", _program.path(), "view", *paths, "--no-open", "--port", "0", "--idle-exit", "12h",
                                    *_program.words_of(allow_frame=frame), *map(os.fspath, words)],
                                   stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=said, text=True, start_new_session=True)
        self.close = weakref.finalize(self, _end, process, said)
        try:
            self.url: str = process.stdout.readline().strip()
        except BaseException:
            self.close()
            raise
        if not self.url:
            process.stdin.close()
            status = process.wait()
            said.seek(0)
            words_of_failure = _program.without_prefix(said.read())
            self.close()
            raise _errors.of_kind(_program.KINDS.get(status, "bug"), words_of_failure)

    @property
    def _frame_url(self):
        """The address for the frame: by the name of the notebook's own page, as browsers keep a key within one name."""
        url = urllib.parse.urlsplit(self.url)
        if self._proxied:
            return f"{self._page.path.rstrip('/')}/proxy/{url.port}/?{url.query}{self._place}"
        return f"http://{self._page.hostname}:{url.port}/?{url.query}{self._place}" if self._page.hostname in _OWN_NAMES else None

    def __repr__(self) -> str:
        return f"<tacho timeline: {self.url if self.close.alive else 'closed'}>"

    def _repr_html_(self) -> str:
        if not self.close.alive:
            return "<p>closed</p>"
        frame = self._frame_url
        link = f'<p><a href="{html.escape(frame or self.url + self._place)}" target="_blank" rel="noreferrer">timeline</a></p>'
        if not frame:
            return link
        return f'<iframe src="{html.escape(frame)}" width="100%" height="{int(self._height)}" style="border: 0"></iframe>{link}'
