"""tacho: the tachometer for LLM engines. Traces of vLLM, SGLang and PyTorch as data frames.

    import tacho
    run = tacho.read("traces/")
    run.kernels            # a table that polars, DuckDB, pyarrow and pandas take as it is
    run.analysis.verdict   # results, as `tacho analyze --json` prints them
"""
from ._errors import Error, NotComparableError, OutputError, RemoteError, UnreadableError, UsageError
from ._run import Run, compare, launch, load, read, record, report
from ._tables import Record, Table
from ._timeline import Timeline
from ._tacho import version as __version__

__all__ = ["Error", "NotComparableError", "OutputError", "Record", "RemoteError", "Run", "Table", "Timeline", "UnreadableError", "UsageError",
           "compare", "launch", "load", "read", "record", "report", "__version__"]
