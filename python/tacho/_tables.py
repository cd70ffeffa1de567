"""Tables: columns in memory, which data-frame libraries take by Arrow's PyCapsule interface."""
import html
import json

_SHOWN = 20


class Table:
    """A table in columns. It is handed over without a copy: ``polars.DataFrame(t)``, ``pyarrow.table(t)``,
    ``duckdb.sql("SELECT ... FROM t")``; ``pandas.DataFrame.from_arrow(t)`` copies.

    Integers are int64, numbers float64, texts large_utf8, and texts that repeat dictionaries of them. Unknown values are NULL, never 0.
    What each column is stands in ``columns`` and in the fields' metadata, under ``description``. Columns whose name ends in ``_ns`` are
    nanoseconds; times are on the clock of their trace, and ``ranks.base_time_ns`` added to them gives Unix time.
    """

    def __init__(self, held):
        self._held = held

    def __arrow_c_stream__(self, requested_schema=None):
        return self._held.__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self):
        return self._held.__arrow_c_schema__()

    def __len__(self):
        return len(self._held)

    @property
    def name(self):
        return self._held.name

    @property
    def columns(self):
        """(name, type, description) of each column."""
        return self._held.columns

    @property
    def column_names(self):
        return [name for name, _, _ in self._held.columns]

    @property
    def nbytes(self):
        """Bytes of memory of the columns."""
        return self._held.nbytes

    def rows(self, first=0, count=None):
        """Rows as tuples of Python's own values; None for NULL. For a look: data frames are far faster."""
        return self._held.rows(first, len(self) if count is None else first + count)

    def __repr__(self):
        return f"<tacho table {self.name}: {len(self):,} rows x {len(self.columns)} columns>"

    def _repr_html_(self):
        def line(cell, values):
            return "<tr>" + "".join(f"<{cell}>{html.escape('' if v is None else str(v))}</{cell}>" for v in values) + "</tr>"

        more = f"<p>{len(self):,} rows</p>" if len(self) > _SHOWN else ""
        return (f"<table><caption>{html.escape(self.name)}</caption><thead>{line('th', self.column_names)}</thead><tbody>"
                + "".join(line("td", row) for row in self.rows(0, _SHOWN)) + f"</tbody></table>{more}")


class Record(dict):
    """An object of a result: a dict whose fields are attributes too. A field that cannot be known is not there."""

    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"no field {name!r} here: {', '.join(self)}") from None

    def __dir__(self):
        return [*super().__dir__(), *self]


def of_json(text):
    return json.loads(text, object_hook=Record)
