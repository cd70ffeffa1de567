"""A run: traces in memory and what the analyses find in them."""
from __future__ import annotations

import functools
import html
import json
import os
import pathlib

from typing import TYPE_CHECKING, Any

from . import _errors, _program, _progress, _tacho
from ._tables import Record, Table, of_json
from ._timeline import Timeline

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from ._analysis import Analysis

    Path = str | os.PathLike[str]
    Progress = bool | Callable[[Record], None]


# What the traces lack where a table has no row.
_LACKS = {
    "kernels": "the traces have no kernel of a device, and no operator of an engine on the CPU",
    "operators": "the traces have no host operator (cpu_op)",
    "launches": "the traces have no host call that launched device work",
    "steps": "the traces name no step of an engine",
    "gaps": "the traces have no idle time of a device whose cause can be known",
    "copies": "the traces have no copy and no memset of a device",
    "annotations": "the traces have no range that the program names",
    "collectives": "the traces have no kernel that communicates",
    "layers": "the layers of the model cannot be told from the traces",
    "devices": "the traces have no work of a device",
    "findings": "no time that could be less was found",
    "requests": "the run has no recorded load whose requests can be joined with its steps",
}


@functools.cache
def _schema():
    """docs/json.schema.json, which describes the results."""
    return json.loads((pathlib.Path(__file__).parent / "json.schema.json").read_text())


def _rows_table(name, described, rows):
    """A table of objects of a result. `described`: the schema of its list. True is 1; an object or a list is JSON text."""
    fields = described["items"]["properties"]
    kinds = {"integer": "integer", "number": "number", "boolean": "integer"}
    columns = [(field, kinds.get(of.get("type"), "string"), of.get("description", "")) for field, of in fields.items()]

    def cell(value):
        if isinstance(value, bool):
            return int(value)
        return json.dumps(value, separators=(",", ":")) if isinstance(value, (dict, list)) else value

    return Table(_tacho.made(name, columns, [[cell(row.get(field)) for field in fields] for row in rows]), _LACKS[name])


def _paths(paths):
    return [os.fspath(path) for path in ([paths] if isinstance(paths, (str, os.PathLike)) else paths)]


class Run:
    """What ``tacho.read`` returns. Tables are made when they are first asked for, and then kept.

    Several threads may use a run at the same time; they wait for each other while a table is made.

    >>> run = read("tests/data/vllm-cpu")
    >>> run.ranks
    <tacho table ranks: 2 rows x 13 columns>
    >>> run.copies
    <tacho table copies: 0 rows x 14 columns; the traces have no copy and no memset of a device>
    >>> len(run.gaps), sum(row[7] for row in run.gaps.rows()) == sum(d.idle_ns for t in run.analysis.traces for d in t.devices)
    (6306, True)
    """

    def __init__(self, held, paths, options, view_options, report_options):
        self._held, self._paths, self._options, self._view_options, self._report_options = held, paths, options, view_options, report_options

    def _table(self, name):
        return Table(self._held.table(name), _LACKS.get(name))

    @property
    def kernels(self) -> Table:
        """Kernels of devices, one row each; on a CPU engine the operators that do its work.

        Times in ns. ``launch_id`` is the row of ``launches``, ``operator_id`` of ``operators``; ``step`` the number of its step."""
        return self._table("kernels")

    @property
    def operators(self) -> Table:
        """Host operators (aten::mm), one row each.

        ``self_ns``: without what ran inside; ``device_ns``: the device work that it launched, also through operators inside it."""
        return self._table("operators")

    @property
    def launches(self) -> Table:
        """Host calls that launched device work, one row each.

        ``delay_ns``: from the end of the call to the start of its first piece of work."""
        return self._table("launches")

    @property
    def steps(self) -> Table:
        """Steps of the engine by its own annotations, one row each, with phase and batch."""
        return self._table("steps")

    @property
    def gaps(self) -> Table:
        """Idle time of devices by cause, one row for each part of a gap with one cause.

        The rows of a device add up to its idle time (``analysis.traces[].idle``)."""
        return self._table("gaps")

    @property
    def copies(self) -> Table:
        """Copies and memsets of devices, one row each. ``bytes``: NULL where the trace does not say."""
        return self._table("copies")

    @property
    def annotations(self) -> Table:
        """Ranges that the program names (record_function, NVTX), one row each."""
        return self._table("annotations")

    @property
    def collectives(self) -> Table:
        """Kernels that communicate, one row each, with what PyTorch says of them."""
        return self._table("collectives")

    @property
    def layers(self) -> Table:
        """Blocks of the model's layers, summed over the steps of a phase."""
        return self._table("layers")

    @property
    def ranks(self) -> Table:
        """The traces, one row each, with rank, role, engine and clock."""
        return self._table("ranks")

    @property
    def devices(self) -> Table:
        """Where the time of each device goes, one row a device."""
        return self._table("devices")

    @property
    def notes(self) -> Table:
        """What is wrong with the data, one row for each kind of note of a trace."""
        return self._table("notes")

    @functools.cached_property
    def analysis(self) -> Analysis:
        """The results, as ``tacho analyze --json`` prints them (docs/json.md): dicts whose fields are attributes too.
        Times are integers in ns. What cannot be known is not there."""
        return of_json(self._held.analysis_json())

    @functools.cached_property
    def findings(self) -> Table:
        """Times that could be less, dearest first, one row each; ``where`` is JSON text."""
        return _rows_table("findings", _schema()["properties"]["findings"], self.analysis.get("findings", []))

    @functools.cached_property
    def requests(self) -> Table:
        """Requests of the recorded load, one row each, joined with the steps that made their tokens; without such a load, no row.
        ``sure`` and ``whole`` are 1 or 0; ``parts`` is JSON text."""
        described = _schema()["properties"]["requests"]["properties"]["list"]
        return _rows_table("requests", described, self.analysis.get("requests", {}).get("list", []))

    def slices(self, *, process: str | int | None = None, thread: str | int | None = None, kind: str | None = None) -> Table:
        """Everything with a start and a duration, or what is of a process and thread (ids as in the file) and of a kind ("call",
        "python", ...): one row each. Made at each call.

        >>> run = read("tests/data/vllm-cpu")
        >>> len(run.slices()), len(run.slices(kind="operator")) == len(run.operators)
        (8620, True)
        """
        return Table(self._held.slices(*(None if text is None else str(text) for text in (process, thread, kind))))

    def query(self, sql: str) -> Table:
        """The rows of an SQL query over the tables (docs/query.md), as a table. Raises UsageError for SQL that cannot be run.

        >>> run = read("tests/data/vllm-cpu")
        >>> run.query("SELECT phase, count(*) AS n, sum(dur_ns) AS ns FROM steps GROUP BY 1 ORDER BY n DESC").rows()
        [('decode', 6, 25409245), ('prefill', 2, 15487615), ('empty', 2, 428999)]
        >>> run.query("DROP TABLE steps")
        Traceback (most recent call last):
        tacho._errors.UsageError: a query only reads: SELECT, WITH, VALUES, EXPLAIN, and PRAGMA table_info(TABLE)
        """
        return Table(self._held.query(sql))

    @property
    def failures(self) -> list[str]:
        """Files that could not be read: "PATH: why"."""
        return self._held.failures

    @property
    def verdict(self) -> str:
        """The sentence on top of the program's screen."""
        return self.analysis.get("verdict", {}).get("text", "")

    def timeline(self, *, height: int = 700, page: str | None = None, proxy: bool | None = None, **options: Any) -> Timeline:
        """The timeline of ``tacho view`` in a notebook, which reads the traces once more, in a process of its own. It is served until
        ``close()`` of the result, the result's end, or the end of Python.

        ``height``: of the frame, in pixels. ``page``: Jupyter's address, where it cannot be found out. ``proxy``: through
        Jupyter's proxy (jupyter-server-proxy), so that the browser needs to reach Jupyter alone; by default if that is installed here.
        Other options are those of ``tacho view``: ``gap=1``, ``step=12``, ``allow_host="hub.example.com"``. Raises Error as ``read``.
        """
        return Timeline(self._paths, [*self._view_options, *_program.words_of(**options)], height, page, proxy)

    def __repr__(self) -> str:
        return f"<tacho run of {len(self.analysis.traces)} traces: {self.verdict}>"

    def _repr_html_(self) -> str:
        caveat = self.analysis.get("verdict", {}).get("caveat", "")
        return f"<p><b>{html.escape(self.verdict)}</b></p>" + (f"<p>{html.escape(caveat)}</p>" if caveat else "") + self.ranks._repr_html_()


def read(paths: Path | Iterable[Path], *, session: str | None = None, ranks: int | Sequence[int] = (), threads: int = 0,
         keep_secrets: bool = False, rules: Path | None = None, model_config: Path | None = None, gpu: str | None = None,
         tensor_parallel: int | None = None, context_length: int | None = None, progress: Progress = True) -> Run:
    """Reads and analyses traces: files, folders, archives and run folders, as ``tacho analyze`` takes them.

    ``session``: "latest" (the default for one path), "all", or a part of a path. ``ranks``: only these. ``threads``: 0 is one for each
    core. ``rules``: a file with kernel categories. ``model_config``, ``gpu``, ``tensor_parallel``, ``context_length``: for the
    roofline. Secrets in texts are blanked unless ``keep_secrets``.

    ``progress``: a reading of more than a second shows how far it has come, in a terminal and in a notebook; False: nowhere; or a
    function that is called with it, some 20 times a second: with ``text``, ``traces``, ``done_bytes``, ``total_bytes`` (0: not known)
    and ``seconds``. An exception of the function ends the reading.

    Raises UnreadableError if nothing can be read, UsageError if nothing fits. What is missing or damaged is in ``notes``,
    ``failures`` and ``analysis.skipped``. Other threads run meanwhile. Ctrl-C ends it at once while files are read, and once the
    analysis of a file has ended.
    """
    paths = _paths(paths)
    ranks = [ranks] if isinstance(ranks, int) else list(ranks)
    if not paths:
        raise _errors.UsageError("no trace given")
    chosen = session if session is not None else "latest" if len(paths) == 1 else "all"
    optional = [None if path is None else os.fspath(path) for path in (rules, model_config)]
    shown, held = _progress.of_reading(progress), None
    try:
        held = _tacho.read(shown, _progress.has_unicode(), [os.fsencode(path) for path in paths], "" if chosen == "all" else chosen,
                           sorted(set(ranks)), threads, keep_secrets, *optional, gpu, tensor_parallel, context_length)
    finally:
        if shown:
            shown.close(held is not None)
    chosen_words = [*(("--session", session) if session is not None else ()), *(("--rank", ",".join(map(str, ranks))) if ranks else ())]
    view_words = _program.words_of(keep_secrets=keep_secrets, model_config=model_config, gpu=gpu, tensor_parallel=tensor_parallel,
                                   context_length=context_length)
    options = [*chosen_words, *(("--rules", rules) if rules else ())]
    return Run(held, paths, options, [*chosen_words, *view_words], [*options, *view_words])


def _sides(*sides, of="_options"):
    """The options with which all runs of all sides were read, and the paths of each side. What is given as a path is read as the runs."""
    sides = [side if isinstance(side, (list, tuple)) else [side] for side in sides]
    options = [getattr(run, of) for side in sides for run in side if isinstance(run, Run)]
    if any(other != options[0] for other in options):
        raise _errors.UsageError("the runs were read with different ranks, session or rules, and there is one choice for all: name the paths")
    return options[0] if options else [], *([path for run in side for path in (run._paths if isinstance(run, Run) else [os.fspath(run)])] for side in sides)


def compare(base: Run | Path | Sequence[Run | Path], new: Run | Path | Sequence[Run | Path], *, fail_on: str | Iterable[str] = (),
            across: bool = False, anyway: bool = False, without_bounds: bool = False) -> Record:
    """What changed from ``base`` to ``new``, beyond noise: what ``tacho compare --json`` prints (docs/compare.md).

    Each side is a path, a run of ``read`` with one path, or a list of them: several runs of the same set-up. ``fail_on``: gates such
    as "decode.step.p50>+3%"; their outcomes are in ``gates`` of the result. The other options are those of the program. Raises
    NotComparableError.
    """
    for run in [run for side in (base, new) for run in (side if isinstance(side, (list, tuple)) else [side])]:
        if isinstance(run, Run) and len(run._paths) != 1:
            raise _errors.UsageError("each path is a run of its own here: read the folder with the files of one run")
    words, base_paths, new_paths = _sides(base, new)
    sides = [*words, "--base", *base_paths, "--new", *new_paths]
    gates = [fail_on] if isinstance(fail_on, str) else list(fail_on)
    return _program.json_of("compare", *_program.words_of(fail_on=gates, across=across, anyway=anyway, without_bounds=without_bounds),
                            *sides)


def report(run: Run | Path, output: Path, *, against: Run | Path | None = None) -> Path:
    """Writes one HTML file of a run to keep and to send, and returns its path. ``run``: of ``read``, or a path. ``against``: what it
    is compared with."""
    words, paths, *others = _sides(run, *([against] if against is not None else []), of="_report_options")
    other = ["--against", *others[0]] if others else []
    _program.run("report", *paths, *words, "--no-progress", "-o", output, *other)
    return output


def record(*targets: str, progress: Progress = True, **options: Any) -> Record:
    """Records engines, as ``tacho record TARGET...`` does (docs/record.md), and returns the recording's run.json; ``folder`` of it is
    what ``tacho.read`` takes. Options are the program's, with _ for -: ``steps=20``, ``out="runs"``; True for one without a value.
    What could not be proven is in ``missing`` of the result. Ctrl-C stops the profilers, and keeps what there is.

    ``progress``: what the program says of it is shown on standard error, and in a notebook below the cell; False: nowhere; or a
    function that is called with each line, as ``text``.
    """
    recorded = _program.json_of("record", *_program.words_of(**options), *targets, progress=progress)
    for kept in sorted(pathlib.Path(options.get("out") or ".").glob("*/run.json"), reverse=True):
        try:
            is_it = of_json(kept.read_text()) == recorded
        except (OSError, ValueError):  # somebody else's
            continue
        if is_it:
            recorded["folder"] = str(kept.parent)
            break
    return recorded


def load(*targets: str, progress: Progress = True, **options: Any) -> Record:
    """Runs a load, as ``tacho load TARGET`` does (docs/load.md), and returns its figures. Options and progress as in ``record``."""
    return _program.json_of("load", *_program.words_of(**options), *targets, progress=progress)


def launch(engine: str, *arguments: str, progress: Progress = True, **options: Any) -> Record:
    """Launches an engine, as ``tacho launch`` does (docs/launch.md), and returns the launch once the engine is ready:
    ``tacho.launch("vllm", "MODEL", "--max-model-len", "4096", preset="light")``. It runs on until ``tacho launch stop`` ends it.
    Options and progress as in ``record``; the arguments are the engine's own."""
    return _program.json_of("launch", engine, "--detach", *_program.words_of(**options), *(["--", *arguments] if arguments else []),
                            progress=progress)
