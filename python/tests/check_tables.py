#!/usr/bin/env python3
"""Every table of the package against the program: `tacho query` and `tacho analyze --json`, for traces of the corpus, as pyarrow,
polars, DuckDB and pandas have them.

usage: check_tables.py [TRACE...]      default: the project's recordings, and a selection of the corpus

The package tacho must be importable; TACHO_PROGRAM names another program than the one beside it. Libraries that are not installed are
named, and left out. Exit status 77 if the package is not there.
"""
import gc
import json
import pathlib
import subprocess
import sys

try:
    import tacho
except ImportError as missing:
    print(f"*** NOT TESTED: the Python package: {missing}")
    sys.exit(77)
from tacho import _program

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))
from corpus import corpus  # noqa: E402

passed = failed = 0


def check(what, ok, detail=""):
    global passed, failed
    passed, failed = passed + bool(ok), failed + (not ok)
    if not ok:
        print(f"FAILED {what}: {str(detail)[:2000]}", flush=True)


def library(name):
    try:
        return __import__(name)
    except ImportError as missing:
        print(f"*** NOT TESTED: tables in {name}: {missing}", flush=True)
        return None


pyarrow, polars, duckdb, pandas = map(library, ("pyarrow", "polars", "duckdb", "pandas"))

KERNELS = "(SELECT * FROM kernels WHERE category = 'comm' OR category LIKE 'comm.%')"
# The rows of each table in SQL, and its columns that are arguments.
SOURCES = {
    **{name: (name, {}) for name in ("kernels", "operators", "launches", "steps", "gaps", "layers", "ranks", "devices", "notes")},
    "copies": ("(SELECT * FROM slices WHERE kind IN ('copy', 'memset') ORDER BY id)", {"bytes": "bytes"}),
    "annotations": ("(SELECT * FROM slices WHERE kind = 'annotation')", {}),
    "collectives": (KERNELS, {"collective": "Collective name", "process_group": "Process Group Name", "group_size": "Group size", "dtype": "dtype",
                              "in_elements": "In msg nelems", "out_elements": "Out msg nelems"}),
}


def program(*words):
    done = subprocess.run([_program.path(), *map(str, words)], capture_output=True, text=True)
    return json.loads(done.stdout) if done.returncode in (0, 4) else done


def by_sql(path, name, columns):
    source, arguments = SOURCES[name]
    hidden = "worker" if name == "ranks" else "trace, worker"  # not in SELECT *
    inner = source[1:-1].replace("SELECT *", f"SELECT *, {hidden}") if source.startswith("(") else f"SELECT *, {hidden} FROM {source}"
    cells = ", ".join(f"arg(id, '{arguments[c]}') AS {c}" if c in arguments else c for c in columns)
    got = program("query", path, f"SELECT {cells} FROM ({inner})", "--json")
    return [tuple(row.get(c) for c in columns) for row in got["rows"]] if isinstance(got, dict) else got.stderr


def as_rows(table):
    """The rows by each library, by its name."""
    names, rows_of_table = table.column_names, table  # DuckDB finds the variable
    if pyarrow:
        arrow = pyarrow.table(table)
        arrow.validate(full=True)
        yield "pyarrow", list(zip(*(column.to_pylist() for column in arrow.columns))) if len(table) else []
    if polars:
        yield "polars", polars.DataFrame(table).rows()
    if duckdb:
        yield "duckdb", duckdb.sql("SELECT * FROM rows_of_table").fetchall()
    if pandas and pyarrow:
        frame = pyarrow.table(table).to_pandas(types_mapper=pandas.ArrowDtype)
        columns = [frame[name].tolist() for name in names]
        yield "pandas", [tuple(None if cell is pandas.NA or cell != cell else cell for cell in row) for row in zip(*columns)]
    yield "rows()", table.rows()


def same(what, table, want):
    if isinstance(want, str):
        return check(what, False, want)
    for how, got in as_rows(table):
        got = [tuple(row) for row in got]
        where = next((i for i, (a, b) in enumerate(zip(got, want)) if a != b), min(len(got), len(want)))
        check(f"{what} in {how}", got == want, f"{len(got)} rows, want {len(want)}; row {where}: {got[where:where + 1]}, want {want[where:where + 1]}")


def cells(row, columns):
    return tuple(json.dumps(v, separators=(",", ":")) if isinstance(v, (dict, list)) else v for v in map(row.get, columns))


def check_trace(path):
    want = program("analyze", path, "--json")
    if not isinstance(want, dict) or not want.get("traces"):
        try:
            tacho.read(path)
            check(f"{path}: refused", False)
        except tacho.Error as error:
            said = want.stderr.removeprefix("tacho: ").strip() if not isinstance(want, dict) else str(error)
            check(f"{path}: refused in the same words", str(error).strip() in said, f"{error!r}, and the program: {said}")
        return
    run = tacho.read(path)
    check(f"{path}: analysis", run.analysis == want, {k for k in {*run.analysis, *want} if run.analysis.get(k) != want.get(k)})
    for name in SOURCES:
        table = getattr(run, name)
        same(f"{path}: {name}", table, by_sql(path, name, table.column_names))
    for table, rows in ((run.findings, want.get("findings", [])), (run.requests, want.get("requests", {}).get("list", []))):
        same(f"{path}: {table.name}", table, [cells(row, table.column_names) for row in rows])
    check(f"{path}: every field of findings is a column", all({*row} <= {*run.findings.column_names} for row in want.get("findings", [])))
    counts = program("query", path, "SELECT kind, count(*) AS n FROM slices GROUP BY 1", "--json")["rows"]
    got = run.query("SELECT kind, count(*) AS n FROM slices GROUP BY 1").rows()
    check(f"{path}: query", got == [(row["kind"], row["n"]) for row in counts], got)
    for row in counts:
        check(f"{path}: slices of {row['kind']}", len(run.slices(kind=row["kind"])) == row["n"])
    check(f"{path}: all slices", len(run.slices()) == sum(row["n"] for row in counts))


def check_memory(path):
    """The memory is shared with pyarrow and polars, and lives as long as they use it."""
    run = tacho.read(path)
    table = run.kernels
    want = table.rows()
    names = table.column_names
    taken = pyarrow.table(table)
    again = pyarrow.table(run.kernels)
    column = names.index("start_ns")
    address = taken.column(column).chunk(0).buffers()[1].address
    check("pyarrow shares the memory", address == again.column(column).chunk(0).buffers()[1].address)
    frame = polars.DataFrame(table)
    check("polars shares the memory", frame["start_ns"].to_arrow().buffers()[1].address == address)
    stream = table.__arrow_c_stream__()  # never taken
    del run, table, again, stream
    gc.collect()
    check("the rows outlive the run", [tuple(row) for row in frame.rows()] == want and taken.num_rows == len(want))


def main():
    paths = [pathlib.Path(word) for word in sys.argv[1:]]
    if not paths:
        paths = [ROOT / "tests/data/vllm-cpu", *sorted((ROOT / "tests/data/torch-cpu").glob("*.json*"))]
        real = corpus("tables of real traces")
        if real:
            paths += sorted(path for path in real.rglob("*") if path.suffix in (".gz", ".json", ".sqlite") and path.stat().st_size < 1_000_000)
    for path in paths:
        check_trace(path)
    if pyarrow and polars:
        check_memory(ROOT / "tests/data/vllm-cpu")
    print(f"{passed} passed, {failed} failed: {len(paths)} inputs")
    sys.exit(1 if failed or not passed else 0)


main()
