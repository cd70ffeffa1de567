#!/usr/bin/env python3
"""`tacho query`: its figures against those of `tacho analyze --json`, its forms, SQL that is refused or never ends, several ranks, and
the shell in a terminal.

usage: check_query.py TACHO [--only NAME ...]
"""
import contextlib
import csv
import fcntl
import io
import json
import os
import pathlib
import re
import signal
import sqlite3
import subprocess
import sys
import termios
import time

import processes
import scenario
from analyze_run import RECORDING, kernel, run as analyze, write, write_trace
from scenario import check, main

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests/support"))
from corpus import corpus  # noqa: E402

TWO_RANKS = ROOT / "tests/data/vllm-cpu/tp2"
# libedit (20221030) does not free the name and the help of an added function, 104 bytes once. Its frames need the slow unwinder.
OF_LIBEDIT = {"ASAN_OPTIONS": "fast_unwind_on_malloc=0", "LSAN_OPTIONS": f"suppressions={ROOT / 'tests/support/leaks.txt'}:print_suppressions=0"}
ENDLESS = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT max(x) FROM c"


def query(*arguments, **more):
    if "input" not in more:
        more["stdin"] = subprocess.DEVNULL
    return subprocess.run([scenario.TACHO, "query", *map(str, arguments)], capture_output=True, text=True, timeout=120, **more)


def rows(path, sql):
    done = query(path, sql, "--json")
    check(f"{sql} of {pathlib.Path(path).name}", done.returncode in (0, 4), done.stderr)
    result = json.loads(done.stdout)
    return [tuple(row.get(name) for name in result["columns"]) for row in result["rows"]]


def figures(folder):
    paths = [RECORDING, TWO_RANKS]
    if real := corpus("queries of real traces"):
        paths += [p for p in sorted(real.rglob("*.json.gz")) if p.stat().st_size < 2_000_000][:12]
        paths += [real / "facebookresearch+HolisticTraceAnalysis"]
    for path in paths:
        done = analyze("--json", path)
        if done.returncode not in (0, 4):
            continue
        traces = json.loads(done.stdout)["traces"]

        def equal(what, sql, want):
            got = rows(path, sql)
            check(f"{what} of {path.name}", sorted(got, key=repr) == sorted(want, key=repr),
                  ([g for g in got if g not in want][:2], [w for w in want if w not in got][:2]))

        def of_traces(part, *names):
            return [(i, *(item.get(name) for name in names)) for i, t in enumerate(traces) for item in part(t)]

        equal("kernels", "SELECT trace, device, name, category, count(*), sum(dur_ns) FROM kernels GROUP BY trace, device, name, category",
              of_traces(lambda t: t["kernels"], "device", "name", "category", "count", "total_ns"))
        equal("operators", "SELECT trace, name, count(*), sum(dur_ns), sum(self_ns), sum(device_ns), sum(device_self_ns) FROM operators "
                           "WHERE self_ns IS NOT NULL GROUP BY trace, name",
              of_traces(lambda t: t["ops"], "name", "count", "cpu_total_ns", "cpu_self_ns", "device_total_ns", "device_self_ns"))
        equal("idle causes", "SELECT trace, cause, sum(dur_ns), count(DISTINCT gap) FROM gaps GROUP BY trace, cause",
              of_traces(lambda t: t.get("idle", {}).get("causes", []), "id", "ns", "count"))
        equal("devices", "SELECT trace, device, window_ns, busy_ns, idle_ns, compute_ns, exposed_comm_ns, exposed_copy_ns FROM devices",
              of_traces(lambda t: t["devices"], "device", "window_ns", "busy_ns", "idle_ns", "compute_ns", "exposed_comm_ns", "exposed_copy_ns"))
        equal("ranks", "SELECT trace, rank, path FROM ranks", [(i, t.get("rank"), t["path"]) for i, t in enumerate(traces)])
        equal("steps", "SELECT trace, phase, start_ns, dur_ns, period_ns FROM steps",
              of_traces(lambda t: t.get("steps", {}).get("list", []), "phase", "start_ns", "dur_ns", "period_ns"))
        equal("notes", "SELECT trace, id, severity, count FROM notes", of_traces(lambda t: t["notes"], "id", "severity", "count"))
        layers = [(i, p["phase"], row.get("index"), b["id"], b["count"], b["device_ns"], b["gap_ns"])
                  for i, t in enumerate(traces) for p in t.get("layers", {}).get("phases", [])
                  for row in p["list"] + [{"blocks": p["outside"]}] for b in row["blocks"]]
        equal("layers", "SELECT trace, phase, layer, block, count, device_ns, gap_ns FROM layers", layers)
        launches = [t["launches"] for t in traces]
        equal("launches", "SELECT sum(pieces), max(pieces) FROM launches",
              [(sum(x["with_launch"] for x in launches) or None, max(x["max_gpu_events_per_launch"] for x in launches) or None)])


def reader_leaves(sql):
    """Whether an endless statement ends with its reader."""
    with processes.running([scenario.TACHO, "query", str(RECORDING), ENDLESS.partition("SELECT max")[0] + sql, "--csv"], stdin=subprocess.DEVNULL,
                           stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        process.stdout.close()
        return process.wait(processes.PATIENCE_S) in (0, 4)


def forms(folder):
    sql = "SELECT name, count(*) AS n FROM operators GROUP BY name ORDER BY n DESC, name LIMIT 3"
    as_json = json.loads(query(RECORDING, sql, "--json").stdout)
    table = list(csv.reader(io.StringIO(query(RECORDING, sql, "--csv").stdout)))
    check("JSON and CSV", table == [as_json["columns"]] + [[r["name"], str(r["n"])] for r in as_json["rows"]], (table, as_json))
    check("JSON says its schema", as_json["schema"] == 1 and list(as_json["tacho"]) == ["version"] and as_json["columns"] == ["name", "n"], as_json)
    text = query(RECORDING, sql).stdout.splitlines()
    check("a table", len(text) == 4 and text[0].split() == ["name", "n"] and text[1].split()[0] == table[1][0], text)
    check("Markdown", query(RECORDING, sql, "--markdown").stdout.startswith("| name | n |\n| :-- | --: |\n"), query(RECORDING, sql, "--markdown"))
    check("one form", query(RECORDING, sql, "--csv", "--json").returncode == 2)
    piped = query(RECORDING, "--csv", input=f"{sql}; -- another\nSELECT 1 AS one;")
    check("SQL on standard input", piped.stdout == query(RECORDING, sql, "--csv").stdout + "\none\n1\n", piped)
    two = query(RECORDING, "SELECT 1 AS a; SELECT 2 AS b", "--markdown").stdout
    check("an empty line between tables", two == "| a |\n| --: |\n| 1 |\n\n| b |\n| --: |\n| 2 |\n", two)
    two = query(RECORDING, "SELECT 1 AS a; SELECT 2 AS b", "--json").stdout
    check("two JSON documents", "\n\n" not in two and [json.loads(d)["rows"] for d in re.split(r"(?<=\n\})\n", two.strip())] == [[{"a": 1}], [{"b": 2}]], two)
    dotted = query(RECORDING, "--csv", input="SELECT 1 AS one; -- one\n.tables\n\n-- another\n.schema kernels\nSELECT 2 AS two;\n.quit\nSELECT 3;")
    check("lines with a dot between statements", dotted.returncode == 0 and dotted.stderr == "" and dotted.stdout ==
          "one\n1\n\n" + query(RECORDING, ".tables").stdout + "\n" + query(RECORDING, ".schema kernels").stdout + "\ntwo\n2\n", dotted)
    few = query(RECORDING, "SELECT id FROM slices", "--top", "2")
    check("--top", len(few.stdout.splitlines()) == 3 and "first 2 rows" in few.stderr, few)
    check(".schema", query(RECORDING, ".schema kernels").stdout.startswith("kernels: "))
    listed = [line.split()[0] for line in query(RECORDING, ".tables").stdout.splitlines()]
    help_text = " ".join(query("--help").stdout.split())
    check("--help lists the tables", len(listed) == 10 and all(f"{name} (" in help_text for name in listed), (listed, help_text))
    count = query(RECORDING, "SELECT count(*) AS n FROM slices", "--csv").stdout
    whole = subprocess.run(f"{scenario.TACHO} query '{RECORDING}' 'SELECT id FROM slices' --csv | head -1", shell=True, capture_output=True, text=True)
    check("no end without a reader", reader_leaves("SELECT x FROM c") and reader_leaves("SELECT x FROM c; " + ENDLESS))
    check("a reader that leaves", whole.stdout == "id\n" and whole.stderr == "" and int(count.split()[1]) > 1000, whole)


def refused(folder):
    folder = pathlib.Path(folder)
    for sql, words in (("SELEC 1", "syntax error"), ("SELECT nmae FROM kernels", "did you mean name?"), ("SELECT args FROM kernels", "one of slices"), ("SELECT 1 FROM kernel", "did you mean kernels?"),
                       ("DELETE FROM slices", "may not be modified"), ("CREATE TABLE x(a)", "only reads"), ("VACUUM INTO 'x.db'", "only reads"),
                       ("ATTACH 'x.db' AS x", "only reads"), ("PRAGMA journal_mode=WAL", "only reads"), ("SELECT zeroblob(100000000)", "64 MB"),
                       (".tabels now", "unknown command"), (".tabels", "unknown command"), ("", "the SQL is empty"), (" ; ", "the SQL is empty"), (".schema nothing", "no such table")):
        done = query(RECORDING, sql, cwd=folder)
        check(f"{sql}: status 2", done.returncode == 2 and done.stdout == "", (done.returncode, done.stdout))
        check(f"{sql}: says {words}", words in done.stderr, done.stderr)
    check("nothing was written", list(folder.iterdir()) == [], list(folder.iterdir()))
    failed = query(RECORDING, "SELEC 1", "--json")
    check("the error as JSON", json.loads(failed.stdout)["error"]["kind"] == "usage", failed)
    half = query(RECORDING, "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT 3000) "
                 "SELECT iif(x < 2000, x, zeroblob(100000000)) AS v FROM c", "--json")
    check("an error half-way is on standard error alone", half.returncode == 2 and '"error"' not in half.stdout and "64 MB" in half.stderr and
          half.stdout.startswith("{") and not half.stdout.rstrip().endswith("}\n}"), (half.returncode, half.stdout[-200:], half.stderr))
    texts = query(RECORDING, "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT 20) SELECT hex(zeroblob(15000000)) AS t FROM c")
    check("a table of large texts", texts.returncode == 2 and texts.stdout == "" and "select less, or take --csv" in texts.stderr, texts.stderr)
    check("no SQL", query(RECORDING).returncode == 2 and "no SQL" in query(RECORDING).stderr)
    check("no trace", query("SELECT 1").returncode == 2 and query().returncode == 2, query("SELECT 1"))
    check("no trace is said", all("no trace given" in query(*sql).stderr for sql in (["SELECT 1"], [".tables"], [])), query("SELECT 1"))
    check("a path that is none is said", "nofile: does not exist" in query("nofile").stderr, query("nofile"))
    for sql, words in (("SELECT 1;\nSELECT 2;\nSELECT durns FROM gaps;\n", "line 3: no such column: durns (did you mean dur_ns?)"),
                       ("SELECT 1; SELECT nmae FROM kernels", "statement 2: no such column: nmae (did you mean name?)"),
                       ("SELECT nmae FROM kernels", "tacho: no such column"), ("SELECT 1;\n\n.tabels\n", "line 3: unknown command"),
                       ("SELECT cout FROM gaps", "no such column: cout; .schema"),  # notes has `count`
                       ("SELECT 1;\n/* a\n */ SELECT zeroblob(100000000)", "line 2: the query makes"),
                       ("WITH g AS (SELECT * FROM gaps) SELECT g.trace FROM g", "SELECT *, trace has it"),
                       ("SELECT percentile(dur_ns, 101) FROM gaps", "from 0 to 100"),
                       ("SELECT p99(dur_ns) FROM gaps", "no such function: p99 (did you mean percentile(x, 99)?)"),
                       ("SELECT p999(dur_ns) FROM gaps", "percentile(x, 99.9)"), ("SELECT p100(dur_ns) FROM gaps", "percentile(x, 100)"),
                       ("SELECT quantile(dur_ns) FROM gaps", "there are median(x), percentile(x, 99) and arg(id, 'name')")):
        done = query(RECORDING, input=sql)
        check(f"{sql!r}: says {words}", done.returncode == 2 and words in done.stderr, done.stderr)
    several = query(RECORDING, "SELECT 1;", "select 2")
    check("several arguments of SQL", several.returncode == 2 and "several statements go into one argument" in several.stderr, several.stderr)
    for words in (["select 1", RECORDING], [".schema", RECORDING, RECORDING]):
        swapped = query(*words)
        check(f"{words[0]} before the trace", swapped.returncode == 2 and "the trace comes first, and after it the SQL" in swapped.stderr, swapped.stderr)
    check("no such trace", query(folder / "none.json", "SELECT 1").returncode in (2, 3), query(folder / "none.json", "SELECT 1"))
    results = write(folder / "results.json", analyze("--json", RECORDING).stdout)
    done = query(results, "SELECT 1")
    check("results have no events", done.returncode == 3 and "hold no events for queries" in done.stderr, (done.returncode, done.stderr))
    hostile = write_trace(folder / "hostile.json", [kernel(0, 5, name="a\x1b[31m\n|<b>")])
    shown = query(hostile, "SELECT name FROM kernels")
    check("names are made visible", "\x1b" not in shown.stdout and "\\x1b[31m\\n|<b>" in shown.stdout, shown.stdout)
    empty = write_trace(folder / "empty.json", [])
    done = query(empty, "SELECT count(*) AS n FROM slices", "--csv")
    check("a trace without events", done.stdout == "n\n0\n" and done.returncode == 4, done)
    negative = write_trace(folder / "negative.json", [kernel(0, 5), kernel(10, -5)])
    done = query(negative, "SELECT count(*) AS n FROM kernels", "--csv")
    check("what is wrong with the data is on standard error", done.stdout == "n\n2\n" and done.stderr.count("\n") == 1
          and f"{negative}: negative-duration (1): " in done.stderr, done)


def ranks(folder):
    got = rows(TWO_RANKS, "SELECT rank, count(*) FROM steps GROUP BY rank ORDER BY rank DESC")
    check("steps by rank", [rank for rank, _ in got] == [1, 0], got)
    one = query(TWO_RANKS, "SELECT DISTINCT rank FROM slices", "--csv", "--rank", "1")
    check("--rank", one.stdout == "rank\n1\n", one)
    folder = pathlib.Path(folder)
    subprocess.run([scenario.TACHO, "simulate", "trace", "-o", folder / "two", "--ranks", "2"], check=True, capture_output=True)
    documented = re.findall(r'^\$ tacho query \S+ "(WITH g AS .*|SELECT s.rank, .*)"$', (ROOT / "docs/query.md").read_text(), re.M)
    of_gap, of_steps = (sql.rpartition(" LIMIT ")[0] for sql in documented)
    both, *each = ([sorted(query(folder / "two", sql, "--csv", *rank).stdout.splitlines()[1:]) for sql in (of_gap, of_steps)]
                   for rank in ([], ["--rank", "0"], ["--rank", "1"]))
    (gap_0, steps_0), (gap_1, steps_1) = each
    check("the host during the longest gap is that of its rank", gap_0 != gap_1 and both[0] in (gap_0, gap_1), (both[0], gap_0, gap_1))
    check("work of the steps of both ranks is that of each", steps_0 and steps_1 and both[1] == sorted(steps_0 + steps_1), both[1][:5])
    workers = folder / "several/traces"
    for name, seed in (("w0", "1"), ("w1", "2")):
        subprocess.run([scenario.TACHO, "simulate", "trace", "-o", workers / name, "--steps", "20", "--seed", seed], check=True, capture_output=True)
    of_each = "SELECT worker, rank, sum(dur_ns) FROM gaps GROUP BY worker, rank"
    each = [rows(workers / name, "SELECT sum(dur_ns) FROM gaps")[0][0] for name in ("w0", "w1")]
    got = query(folder / "several", of_each, "--csv", "--session", "all").stdout.splitlines()[1:]
    check("workers with the same ranks", got == [f"w{i},0,{ns}" for i, ns in enumerate(each)] and each[0] != each[1], (got, each))
    subprocess.run([scenario.TACHO, "export", folder / "several", "--session", "all", "-o", folder / "several.db"], check=True, capture_output=True)
    with contextlib.closing(sqlite3.connect(folder / "several.db")) as opened:
        check("workers in an export", [f"{w},{r},{n}" for w, r, n in opened.execute(of_each)] == got, got)
    both = rows(TWO_RANKS, "SELECT count(*), count(DISTINCT id) FROM slices")
    check("ids differ between ranks", both[0][0] == both[0][1], both)


def endless(folder):
    with processes.running([scenario.TACHO, "query", str(RECORDING), ENDLESS], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE) as process:
        time.sleep(1)
        check("SQL that never ends runs", process.poll() is None)
        process.send_signal(signal.SIGINT)
        check("Ctrl-C ends it", process.wait(processes.PATIENCE_S) == 130, process.returncode)


class Shell:
    """`tacho query` in a terminal of its own, typed at."""

    def __init__(self, folder):
        self.ours, theirs = processes.open_terminal(120)
        self.seen = b""
        self.process = subprocess.Popen([scenario.TACHO, "query", str(RECORDING), "--no-progress"], stdin=theirs, stdout=theirs, stderr=theirs,
                                        env={**os.environ, **OF_LIBEDIT, "TERM": "xterm", "HOME": str(folder)}, start_new_session=True,
                                        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        os.close(theirs)
        os.set_blocking(self.ours, False)

    def await_text(self, text, what):
        until = time.monotonic() + processes.PATIENCE_S
        while text.encode() not in self.seen and time.monotonic() < until:
            try:
                self.seen += os.read(self.ours, 65536)
            except BlockingIOError:
                time.sleep(0.02)
            except OSError:  # the terminal ended
                break
        check(what, text.encode() in self.seen, self.seen[-500:])
        self.seen = self.seen.partition(text.encode())[2]

    def type(self, keys):
        os.write(self.ours, keys.encode())

    def end(self):
        processes.end(self.process)
        os.close(self.ours)


def shell(folder):
    operators = rows(RECORDING, "SELECT count(*) FROM operators")[0][0]
    it = Shell(folder)
    try:
        it.await_text("; .help says", "what to do first")
        it.await_text("tacho> ", "a prompt")
        it.type("SELECT 40\n+ 2 AS answer;\n")
        it.await_text(" 42", "a statement of two lines")
        it.await_text("tacho> ", "the next prompt")
        it.type("SELECT count(*) AS n FROM oper\t;\n")  # a table; also the beginning of a column
        it.await_text(f" {operators}\r\n", "Tab completes")
        it.await_text("tacho> ", "the prompt after it")
        it.type("SELEC;\n")
        it.await_text("syntax error", "an error is printed")
        it.await_text("tacho> ", "and the shell goes on")
        it.type(ENDLESS + ";\n")
        time.sleep(1)
        it.type("\x03")
        it.await_text("interrupted", "Ctrl-C ends the statement")
        it.await_text("tacho> ", "and not the shell")
        it.type("SELECT half a line")
        it.await_text("half a line", "it is echoed")
        it.type("\x03")
        it.await_text("tacho> ", "Ctrl-C drops the line")
        it.type(".tables\n")
        it.await_text("launches  ", ".tables")
        it.await_text("tacho> ", "the prompt after .tables")
        it.type("\x1b[A\x1b[A\x1b[A\n")
        it.await_text("syntax error", "the history")
        it.await_text("tacho> ", "the last prompt")
        it.type("SELECT * FROM kernels LIMIT 1;\n")
        it.await_text("left out: ", "columns that have no room are named")
        it.await_text("tacho> ", "the prompt after a wide table")
        it.type("help\n")
        it.await_text(".schema [TABLE]", "help")
        it.await_text("tacho> ", "the prompt after help")
        it.type("SELECT 41 + 1 AS\nhelp\n;\n")
        it.await_text(" 42\r\n", "a name of an open statement")
        it.await_text("tacho> ", "the prompt after it")
        it.type("SELECT 1 +\n.exit\n")
        check(".quit", it.process.wait(processes.PATIENCE_S) == 0, it.process.returncode)
    finally:
        it.end()
    it = Shell(folder)
    try:
        it.await_text("tacho> ", "a prompt again")
        it.type("\x04")
        check("Ctrl-D", it.process.wait(processes.PATIENCE_S) == 0, it.process.returncode)
    finally:
        it.end()


if __name__ == "__main__":
    main([figures, forms, refused, ranks, endless, shell], __doc__)
