#!/usr/bin/env python3
"""What the package does beside its tables: results, errors, Ctrl-C, threads, compare and report, the examples of docs/python.md.

usage: check_package.py

The package tacho must be importable; TACHO_PROGRAM names another program than the one beside it. Exit status 77 if the package is not
there.
"""
import contextlib
import doctest
import http.cookiejar
import importlib.metadata
import io
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.parse
import urllib.request

try:
    import tacho
except ImportError as missing:
    print(f"*** NOT TESTED: the Python package: {missing}")
    sys.exit(77)
from tacho import _program

ROOT = pathlib.Path(__file__).resolve().parents[2]
RECORDED = ROOT / "tests/data/vllm-cpu"


def program(*words):
    return subprocess.run([_program.path(), *map(str, words)], capture_output=True, text=True, check=True).stdout


class Package(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.runs = [f"{cls.folder.name}/{name}" for name in ("base", "new")]
        for seed, run in enumerate(cls.runs):
            program("simulate", "trace", "-o", run, "--steps", "40", "--seed", seed + 1)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def copies(self, count):
        trace = next(path for path in pathlib.Path(self.runs[0]).iterdir() if path.name.endswith("trace.json"))
        return [shutil.copy(trace, f"{self.folder.name}/{i}-{trace.name}") for i in range(count)]

    def test_version(self):
        self.assertIn(f"tacho {tacho.__version__}\n", program("--version"))

    def test_analysis_has_attributes(self):
        run = tacho.read(self.runs[0])
        self.assertEqual(run.analysis.traces[0].devices[0].busy_ns, run.analysis["traces"][0]["devices"][0]["busy_ns"])
        with self.assertRaisesRegex(AttributeError, "no field 'nothing' here: schema, tacho"):
            run.analysis.nothing
        self.assertIn("verdict", dir(run.analysis))

    def test_options_become_words(self):
        self.assertEqual(_program.words_of(seed=0, share=0.0, json=True, quiet=False, out=None, rank=[0, 1], keep_all=[]),
                         ["--seed", "0", "--share", "0.0", "--json", "--rank", "0", "--rank", "1"])

    def test_gaps_add_up(self):
        run = tacho.read(self.runs[0])
        column = run.gaps.column_names.index("dur_ns")
        self.assertEqual(sum(row[column] for row in run.gaps.rows()), sum(d.idle_ns for t in run.analysis.traces for d in t.devices))

    def test_choice(self):
        with tempfile.TemporaryDirectory() as folder:
            program("simulate", "trace", "-o", folder, "--steps", "3", "--ranks", "2")
            self.assertEqual(len(tacho.read(folder).ranks), 2)
            run = tacho.read(folder, ranks=[1])
            self.assertEqual([row[0] for row in run.ranks.rows()], [1])
            with self.assertRaisesRegex(tacho.UsageError, "no trace says that it is rank 7"):
                tacho.read(folder, ranks=[7])

    def test_errors_have_the_words_of_the_program(self):
        with self.assertRaisesRegex(tacho.UnreadableError, "/no/such/place: does not exist") as raised:
            tacho.read("/no/such/place")
        self.assertEqual(raised.exception.kind, "unreadable")
        self.assertIsInstance(raised.exception, OSError)
        with self.assertRaisesRegex(tacho.UsageError, "no trace given"):
            tacho.read([])
        with self.assertRaises(tacho.UnreadableError):
            tacho.read(ROOT / "README.md")
        run = tacho.read(self.runs[0])
        for sql, words in (("SELECT nowhere FROM kernels", "no such column: nowhere"), ("DROP TABLE kernels", "only reads"),
                           ("SELECT 1; SELECT 2", "one statement at a time"), (" ", "the SQL is empty")):
            with self.assertRaisesRegex(tacho.UsageError, words):
                run.query(sql)
        with self.assertRaisesRegex(tacho.UsageError, "line 1"):
            rules = pathlib.Path(self.folder.name, "rules")
            rules.write_text("no such rule\n")
            tacho.read(self.runs[0], rules=rules)

    def test_query(self):
        run = tacho.read(self.runs[0])
        table = run.query("SELECT 1 AS a, 0.5 AS b, 'x' AS c, NULL AS d, 2 AS a UNION ALL SELECT 3, 4, NULL, NULL, 5")
        self.assertEqual([(name, type) for name, type, _ in table.columns],
                         [("a", "int64"), ("b", "float64"), ("c", "string"), ("d", "int64"), ("a_2", "int64")])
        self.assertEqual(table.rows(), [(1, 0.5, "x", None, 2), (3, 4.0, None, None, 5)])

    def test_compare(self):
        want = json.loads(program("compare", *self.runs, "--json", "--fail-on", "decode.step.p50>+90%"))
        got = tacho.compare(*self.runs, fail_on="decode.step.p50>+90%")
        self.assertEqual(got, want)
        self.assertTrue(got.gates)
        self.assertEqual(tacho.compare(tacho.read(self.runs[0]), [tacho.read(self.runs[1])], fail_on=["decode.step.p50>+90%"]), want)
        with self.assertRaises(tacho.NotComparableError):
            tacho.compare(self.runs[0], RECORDED)
        with self.assertRaisesRegex(tacho.UsageError, "read with different ranks"):
            tacho.compare(tacho.read(self.runs[0], ranks=[0]), tacho.read(self.runs[1]))
        chosen = [tacho.read(run, ranks=[0], session="latest") for run in self.runs]
        self.assertEqual(tacho.compare(*chosen).new, want["new"])
        with self.assertRaisesRegex(tacho.UsageError, "no-such-metric"):
            tacho.compare(*self.runs, fail_on="no-such-metric>+1%")

    def test_budgets(self):
        try:
            import pytest
        except ImportError as missing:
            self.skipTest(str(missing))
        from tacho.pytest import check_budgets
        run = tacho.read(self.runs[1])
        compared = check_budgets(run, "decode.step.p50 < 20ms", "decode.step < 0.02s")
        self.assertEqual([gate.outcome for gate in compared.gates], ["passed", "passed"])
        check_budgets(run, "decode.step.p50 < +90%", "kernels.new", against=self.runs[0])
        for budgets, words in ((["decode.step.p50 < 20us"], r"decode.step.p50 < 20us is not kept: failed: .* is [0-9.]+ ms"),
                               (["prefill.step.p50 < 20ms"], "inconclusive: .* cannot be judged")):
            with self.assertRaisesRegex(pytest.fail.Exception, words):
                check_budgets(run, *budgets)
        for budget in ("decode.step < +3%", "kernels.new"):
            with self.assertRaisesRegex(ValueError, "against="):
                check_budgets(run, budget)
        test = pathlib.Path(self.folder.name, "test_budget.py")
        test.write_text(f"def test_kept(tacho_budgets):\n    tacho_budgets({self.runs[0]!r}, 'decode.step < 20ms')\n"
                        f"def test_broken(tacho_budgets):\n    tacho_budgets({self.runs[0]!r}, 'decode.step < 20us')\n")
        plugin = [] if any(entry.name == "tacho" for entry in importlib.metadata.entry_points(group="pytest11")) else ["-p", "tacho.pytest"]
        done = subprocess.run([sys.executable, "-m", "pytest", "-q", *plugin, test], capture_output=True, text=True, cwd=self.folder.name)
        self.assertIn("1 failed, 1 passed", done.stdout, done.stderr)

    @contextlib.contextmanager
    def engine(self):
        """The address of a simulated engine."""
        engine = subprocess.Popen([_program.path(), "simulate", "--json", "--trace-dir", tempfile.mkdtemp(dir=self.folder.name), "--dev-mode",
                                   "--model-size", "8b", "--speed", "0.4"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        try:
            url = json.loads(engine.stdout.readline())["workers"][0]
            yield url["url"] if isinstance(url, dict) else url
        finally:
            engine.terminate()
            engine.wait()
            engine.stdout.close()

    def test_record_and_load(self):
        with self.engine() as url:
            load = tacho.load(url, requests=4, output_len=8, progress=False)
            self.assertEqual(load.schema, 1)
            recorded = tacho.record(url, steps=5, out=f"{self.folder.name}/runs", progress=False)
            self.assertTrue(recorded.complete)
            self.assertEqual(pathlib.Path(recorded.folder).parent, pathlib.Path(self.folder.name, "runs"))
            self.assertGreater(len(tacho.read(recorded.folder).kernels), 0)
            with self.assertRaisesRegex(tacho.UsageError, "no-such-option"):
                tacho.record(url, no_such_option=True, progress=False)
        with self.assertRaisesRegex(tacho.RemoteError, f"{url}.*: connection refused"):
            tacho.load(url, progress=False)

    def test_report(self):
        page = f"{self.folder.name}/a report.html"
        self.assertEqual(tacho.report(tacho.read(self.runs[0]), page, against=self.runs[1]), page)
        self.assertIn("<html", pathlib.Path(page).read_text())
        other = pathlib.Path(self.folder.name, "kept.html")
        other.write_text("mine")
        with self.assertRaises(tacho.Error):
            tacho.report(self.runs[0], other)
        self.assertEqual(other.read_text(), "mine")

    def test_notebook(self):
        run = tacho.read(self.runs[0])
        self.assertIn("<table>", run._repr_html_())
        self.assertEqual(run.query("SELECT '<b>' AS x")._repr_html_().count("&lt;b&gt;"), 1)

    def test_threads(self):
        run, want, failures = tacho.read(self.runs[0]), len(tacho.read(self.runs[0]).kernels), []

        def use():
            try:
                for name in ("kernels", "gaps", "operators", "kernels"):
                    getattr(run, name).rows(0, 2)
                if len(run.kernels) != want or len(tacho.read(self.runs[1], threads=1).steps) < 30 or not run.analysis.verdict:
                    failures.append("other rows")
            except Exception as error:
                failures.append(error)

        threads = [threading.Thread(target=use) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])

    def test_other_threads_run_meanwhile(self):
        paths, ticks, over = self.copies(20), 0, threading.Event()

        def read():
            try:
                tacho.read(paths, threads=1)
            finally:
                over.set()

        reader = threading.Thread(target=read)
        reader.start()
        while not over.wait(0.001):
            ticks += 1
        reader.join()
        self.assertGreater(ticks, 3)

    def large(self):
        folder = f"{self.folder.name}/large"
        if not os.path.exists(folder):
            program("simulate", "trace", "-o", folder, "--steps", "2000")  # 108 MB
        return folder

    def test_progress_of_a_reading(self):
        seen = []
        tacho.read(self.runs, progress=seen.append)
        paths = [path for run in self.runs for path in pathlib.Path(run).iterdir() if path.name.endswith("trace.json")]
        size = sum(path.stat().st_size for path in paths)
        self.assertEqual((seen[-1].traces, seen[-1].done_bytes, seen[-1].total_bytes), (2, size, size))
        self.assertRegex(seen[-1].text, r"^read [0-9.]+ [kM]B in [0-9.]+ s$")
        self.assertEqual([one.done_bytes for one in seen], sorted(one.done_bytes for one in seen))

    def test_an_exception_of_the_progress_ends_the_reading(self):
        seen = []

        def stop(progress):
            seen.append(progress)
            if 0 < progress.done_bytes < progress.total_bytes:
                raise LookupError("enough")

        with self.assertRaisesRegex(LookupError, "enough"):
            tacho.read(self.large(), threads=1, progress=stop)
        self.assertLess(seen[-1].done_bytes, seen[-1].total_bytes)

    def test_progress_in_a_terminal(self):
        code = "import sys, tacho\ntacho.read(sys.argv[1:-1], threads=1, progress=sys.argv[-1] == 'shown')\n"
        copies = self.copies(300)

        def screen(word):
            ours, theirs = os.openpty()
            process = subprocess.Popen([sys.executable, "-c", code, *copies, word], stderr=theirs, stdout=subprocess.PIPE)
            os.close(theirs)
            text = b""
            with contextlib.suppress(OSError):  # the other end is closed
                while more := os.read(ours, 4096):
                    text += more
            os.close(ours)
            self.assertEqual((process.communicate()[0], process.returncode), (b"", 0))
            return text.decode()

        self.assertRegex(screen("shown"), r"^\rreading 300 traces, [0-9.]+ MB .*\x1b\[K\rreading 300 traces[^\n]*"
                                          r"\r\x1b\[Kread [0-9.]+ MB in [0-9.]+ s\r\n$")
        self.assertEqual(screen("silent"), "")
        in_a_log = subprocess.run([sys.executable, "-c", code, *copies[:50], "shown"], capture_output=True, text=True)
        self.assertEqual((in_a_log.stdout, in_a_log.stderr), ("", ""))

    def interrupted(self, target, until, **environment):
        """What a recording prints whose process group is interrupted, as by a terminal or by Jupyter, once it has said `until`."""
        code = ("import signal, sys, tacho, time\ndef late(*_):\n    time.sleep(0.3)\n    raise KeyboardInterrupt\n"
                "signal.signal(signal.SIGINT, late)\ntry:\n    tacho.record(sys.argv[1], duration='10m', out=sys.argv[2])\nexcept KeyboardInterrupt:\n"
                "    print('interrupted', flush=True)\n")
        process = subprocess.Popen([sys.executable, "-c", code, target, f"{self.folder.name}/interrupted"], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True, start_new_session=True, env={**os.environ, **environment})
        for line in process.stderr:
            if line.split()[:1] == [until]:
                os.killpg(process.pid, signal.SIGINT)
                break
        return process.communicate(timeout=60)[0]

    def test_an_interrupted_recording_stops_its_profilers(self):
        with self.engine() as url:
            self.assertEqual(self.interrupted(url, "start"), "interrupted\n")
            self.assertTrue(tacho.record(url, steps=5, out=f"{self.folder.name}/again", progress=False).complete)

    def test_the_program_is_interrupted_once(self):
        """A second interrupt, if it is late, would end the program at once."""
        program = pathlib.Path(self.folder.name, "counts_interrupts")
        program.write_text(f"#!{sys.executable}\nimport signal, sys, time\ncount = []\n"
                           "signal.signal(signal.SIGINT, lambda *_: count.append(1))\nprint('start', file=sys.stderr, flush=True)\n"
                           "while not count:\n    time.sleep(0.01)\ntime.sleep(1)\nopen(sys.argv[-1], 'w').write(str(len(count)))\n")
        program.chmod(0o755)
        counted = pathlib.Path(self.folder.name, "count")
        self.assertEqual(self.interrupted(counted, "start", TACHO_PROGRAM=str(program)), "interrupted\n")
        self.assertEqual(counted.read_text(), "1")

    def test_progress_of_a_program(self):
        with self.engine() as url:
            lines = []
            tacho.record(url, steps=5, out=f"{self.folder.name}/progress", progress=lines.append)
            self.assertEqual([line.text.split()[0] for line in lines][-2:], ["profile", "stop"])
            with self.assertRaises(LookupError):
                tacho.record(url, steps=5, out=f"{self.folder.name}/progress", progress=lambda line: {}["stop"])
            said = io.StringIO()
            with contextlib.redirect_stderr(said):
                tacho.record(url, steps=5, out=f"{self.folder.name}/progress", progress=False)
                self.assertEqual(said.getvalue(), "")
                tacho.record(url, steps=5, out=f"{self.folder.name}/progress")
            self.assertIn("profile", said.getvalue())

    def test_tables_without_rows(self):
        run = tacho.read(ROOT / "tests/data/torch-cpu/flops.pt.trace.json.gz")
        for name in ("steps", "layers", "collectives", "copies", "requests", "launches"):
            table = getattr(run, name)
            self.assertEqual((len(table), table.rows()), (0, []), name)
            self.assertGreater(len(table.columns), 5, name)
            self.assertEqual([column[:2] for column in table.columns],
                             [column[:2] for column in getattr(tacho.read(self.runs[0]), name).columns], name)
            self.assertRegex(table.note, "^the ", name)
            self.assertIn(table.note, repr(table) + table._repr_html_(), name)
        self.assertIsNone(run.operators.note)

    def test_bad_input(self):
        place = pathlib.Path(self.folder.name, "bad")
        place.mkdir()
        whole = (ROOT / "tests/data/vllm-cpu/mixed_rank0.pt.trace.json.gz").read_bytes()
        files = {"empty.json": b"", "zeros.json": b"\0" * 100_000, "text.json": b"hello\n" * 99, "short.json.gz": whole[:20],
                 "list.json": b"[1, 2]", "database.sqlite": b"SQLite format 3\0" + b"\1" * 4000, "archive.tar": b"x" * 512}
        for name, content in files.items():
            (place / name).write_bytes(content)
            with self.assertRaises((tacho.UnreadableError, tacho.UsageError), msg=name) as raised:
                tacho.read(place / name)
            self.assertIn(name, str(raised.exception))
        (place / "nothing").mkdir()
        with self.assertRaises(tacho.Error):
            tacho.read(place / "nothing")
        with open(place / "huge.json", "wb") as huge:
            huge.truncate(1 << 40)
        began = time.monotonic()
        with self.assertRaises(tacho.UnreadableError):
            tacho.read(place / "huge.json")
        self.assertLess(time.monotonic() - began, 30)
        cut = place / "cut.json.gz"
        cut.write_bytes(whole[:len(whole) // 2])
        run = tacho.read(cut)
        self.assertGreater(len(run.kernels), 100)
        self.assertIn("data-loss", [row[run.notes.column_names.index("severity")] for row in run.notes.rows()])
        both = tacho.read([cut, place / "text.json"])
        self.assertRegex(both.failures[0], "text.json: .")
        for wrong in (7, None, [7], object()):
            with self.assertRaises(TypeError):
                tacho.read(wrong)

    def test_names_of_any_bytes(self):
        trace = {"traceEvents": [{"ph": "X", "cat": "kernel", "name": "NAME", "pid": 0, "tid": 7, "ts": 1, "dur": 1,
                                  "args": {"device": 0, "stream": 7}}] * 3}
        path = os.path.join(os.fsencode(self.folder.name), b"odd \xff\n<b>.json")
        pathlib.Path(os.fsdecode(path)).write_bytes(json.dumps(trace).encode().replace(b"NAME", b"k\xff\xc3 <i>"))
        run = tacho.read(os.fsdecode(path))
        name = run.kernels.rows()[0][run.kernels.column_names.index("name")]
        self.assertIn("<i>", name)
        self.assertIn("&lt;i&gt;", run.kernels._repr_html_())
        self.assertNotIn("<b>.json", run._repr_html_())
        self.assertNotIn("<i>", run.kernels._repr_html_())
        json.dumps(run.analysis)
        with self.assertRaises(tacho.UnreadableError):
            tacho.read(os.fsdecode(path) + "x")

    def test_timeline(self):
        run = tacho.read(self.runs[0])
        with contextlib.closing(run.timeline(page="http://localhost:8888/lab", proxy=False, height=300)) as timeline:
            port = urllib.parse.urlsplit(timeline.url).port
            frame = re.search(r'<iframe src="(http://localhost:\d+/\?token=\w+)#/t\?tab=timeline" width="100%" height="300"', timeline._repr_html_())
            self.assertEqual(urllib.parse.urlsplit(frame[1]).port, port)
            answer = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar())).open(frame[1])
            self.assertIn("frame-ancestors http://localhost:8888", answer.headers["Content-Security-Policy"])
            self.assertEqual(answer.headers["Content-Type"], "text/html; charset=utf-8")
        self.assertIn("closed", repr(timeline) + timeline._repr_html_())
        with self.assertRaises(OSError):
            urllib.request.urlopen(f"http://127.0.0.1:{port}/")
        with contextlib.closing(run.timeline(page="https://hub.example.com/user/x/", proxy=True)) as timeline:
            self.assertRegex(timeline._repr_html_(), r'^<iframe src="/user/x/proxy/\d+/\?token=\w+#')
        with contextlib.closing(run.timeline()) as timeline:
            self.assertNotIn("<iframe", timeline._repr_html_())
            self.assertIn(timeline.url, timeline._repr_html_())
        with self.assertRaisesRegex(tacho.UsageError, "do not go together"):
            run.timeline(gap=1, step=1)
        code = "import sys, tacho; print(tacho.read(sys.argv[1]).timeline().url)"
        url = subprocess.run([sys.executable, "-c", code, self.runs[0]], capture_output=True, text=True, check=True).stdout
        with self.assertRaises(OSError):
            urllib.request.urlopen(url)

    def test_lines_for_users_of_hta(self):
        rows = re.findall(r"^\| `\w[\w.]*` \| `(.*?)`(?: \(.*\))? \|$", (ROOT / "docs/python.md").read_text(), re.M)
        lines = [line for line in rows if line.startswith(("run.", "[", "tacho."))]
        self.assertGreater(len(lines), 14)
        with tempfile.TemporaryDirectory() as folder:
            program("simulate", "trace", "-o", folder, "--steps", "20", "--ranks", "2")
            run = tacho.read(folder)
        for line in lines:
            with self.subTest(line):
                if line.startswith("tacho.compare"):
                    self.assertIn("(run, run)", line)  # its folder is gone; test_compare runs it
                    continue
                given = eval(line, {"run": run, "tacho": tacho})
                self.assertTrue(len(given) > 0 or "gpu-annotation" in line, line)

    def test_interrupt(self):
        code = ("import sys, tacho\ntry:\n    tacho.read(sys.argv[1:], threads=1)\nexcept KeyboardInterrupt:\n"
                "    print('interrupted', flush=True)\n")
        copies = self.copies(300)
        process = subprocess.Popen([sys.executable, "-c", code, *copies], stdout=subprocess.PIPE, text=True)
        time.sleep(1)
        process.send_signal(signal.SIGINT)
        began = time.monotonic()
        out, _ = process.communicate(timeout=60)
        self.assertEqual(out, "interrupted\n")
        self.assertLess(time.monotonic() - began, 20)


def load_tests(loader, tests, pattern):
    before = os.getcwd()
    in_checkout = {"setUp": lambda test: os.chdir(ROOT), "tearDown": lambda test: os.chdir(before),
                   "optionflags": doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE}
    tests.addTest(doctest.DocFileSuite(str(ROOT / "docs/python.md"), module_relative=False, **in_checkout))
    for module in (tacho._run, tacho._tables):
        tests.addTest(doctest.DocTestSuite(module, **in_checkout))
    return tests


if __name__ == "__main__":
    unittest.main(verbosity=1)
