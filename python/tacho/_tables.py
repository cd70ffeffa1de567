"""Tables: columns in memory, which data-frame libraries take by Arrow's PyCapsule interface."""
from __future__ import annotations

import html
import json

from typing import Any

_SHOWN = 20


class Table:
    """A table in columns. It is handed over without a copy: ``polars.DataFrame(t)``, ``pyarrow.table(t)``,
    ``duckdb.sql("SELECT ... FROM t")``; ``pandas.DataFrame.from_arrow(t)`` copies.

    Integers are int64, numbers float64, texts large_utf8, and texts that repeat dictionaries of them. Unknown values are NULL, never 0.
    What each column is stands in ``columns`` and in the fields' metadata, under ``description``. Columns whose name ends in ``_ns`` are
    nanoseconds; times are on the clock of their trace, and ``ranks.base_time_ns`` added to them gives Unix time.

    >>> import tacho
    >>> steps = tacho.read("tests/data/vllm-cpu/mixed_rank0.pt.trace.json.gz").steps
    >>> steps
    <tacho table steps: 10 rows x 15 columns>
    >>> steps.columns[4]
    ('phase', 'dictionary', 'prefill, decode, mixed, empty or other')
    >>> [row[3:7] for row in steps.rows(0, 2)]
    [(1, 'prefill', 4416916574014643, 8247529), (2, 'decode', 4416916583559705, 3228600)]
    >>> steps.nbytes < 3000, steps.note
    (True, None)
    """

    def __init__(self, held, lacks=None):
        self._held, self._lacks = held, lacks

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self._held.__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> object:
        return self._held.__arrow_c_schema__()

    def __len__(self) -> int:
        return len(self._held)

    @property
    def name(self) -> str:
        return self._held.name

    @property
    def note(self) -> str | None:
        """What the traces lack, where a table has no rows for it; None where it has rows."""
        return self._lacks if len(self) == 0 else None

    @property
    def columns(self) -> list[tuple[str, str, str]]:
        """(name, type, description) of each column."""
        return self._held.columns

    @property
    def column_names(self) -> list[str]:
        return [name for name, _, _ in self._held.columns]

    @property
    def nbytes(self) -> int:
        """Bytes of memory of the columns: 8 for a number, 4 for a text of a dictionary, a bit for each row of a column with NULLs."""
        return self._held.nbytes

    def rows(self, first: int = 0, count: int | None = None) -> list[tuple[Any, ...]]:
        """``count`` rows (None: all) from the row ``first`` on, counted from 0, as tuples of Python's own values; None for NULL. For a
        look: data frames are far faster."""
        return self._held.rows(first, len(self) if count is None else first + count)

    def __repr__(self) -> str:
        return f"<tacho table {self.name}: {len(self):,} rows x {len(self.columns)} columns{f'; {self.note}' if self.note else ''}>"

    def _repr_html_(self) -> str:
        def line(cell, values):
            return "<tr>" + "".join(f"<{cell}>{html.escape('' if v is None else str(v))}</{cell}>" for v in values) + "</tr>"

        more = f"<p>{len(self):,} rows</p>" if len(self) > _SHOWN else f"<p>{html.escape(self.note)}</p>" if self.note else ""
        return (f"<table><caption>{html.escape(self.name)}</caption><thead>{line('th', self.column_names)}</thead><tbody>"
                + "".join(line("td", row) for row in self.rows(0, _SHOWN)) + f"</tbody></table>{more}")


class Record(dict):
    """An object of a result: a dict whose fields are attributes too. A field that cannot be known is not there.

    >>> device = Record(busy_ns=5)
    >>> device.busy_ns, "idle_ns" in device
    (5, False)
    >>> device.idle_ns
    Traceback (most recent call last):
    AttributeError: no field 'idle_ns' here: busy_ns
    """

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"no field {name!r} here: {', '.join(self)}") from None

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self]


def of_json(text):
    return json.loads(text, object_hook=Record)
