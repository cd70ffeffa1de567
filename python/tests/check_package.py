#!/usr/bin/env python3
"""What the package does beside its tables: results, errors, Ctrl-C, threads, compare and report, the examples of docs/python.md.

usage: check_package.py

The package tacho must be importable; TACHO_PROGRAM names another program than the one beside it. Exit status 77 if the package is not
there.
"""
import doctest
import importlib.metadata
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

    def test_record_and_load(self):
        engine = subprocess.Popen([_program.path(), "simulate", "--json", "--trace-dir", f"{self.folder.name}/engine", "--dev-mode",
                                   "--model-size", "8b", "--speed", "0.4"], stdout=subprocess.PIPE, text=True)
        try:
            url = json.loads(engine.stdout.readline())["workers"][0]
            url = url["url"] if isinstance(url, dict) else url
            load = tacho.load(url, requests=4, output_len=8)
            self.assertEqual(load.schema, 1)
            recorded = tacho.record(url, steps=5, out=f"{self.folder.name}/runs")
            self.assertTrue(recorded.complete)
            self.assertGreater(len(tacho.read(f"{self.folder.name}/runs").kernels), 0)
            with self.assertRaises(tacho.UsageError):
                tacho.record(url, no_such_option=True)
        finally:
            engine.terminate()
            engine.wait()
            engine.stdout.close()
        with self.assertRaisesRegex(tacho.RemoteError, f"{url}.*: connection refused"):
            tacho.load(url)

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
        reader = threading.Thread(target=lambda: (tacho.read(paths, threads=1), over.set()))
        reader.start()
        while not over.wait(0.001):
            ticks += 1
        reader.join()
        self.assertGreater(ticks, 3)

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
    document = ROOT / "docs/python.md"
    if document.exists():
        before = os.getcwd()

        def enter(test):
            os.chdir(ROOT)

        tests.addTest(doctest.DocFileSuite(str(document), module_relative=False, setUp=enter, tearDown=lambda test: os.chdir(before),
                                           optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE))
    return tests


if __name__ == "__main__":
    unittest.main(verbosity=1)
