#!/usr/bin/env python3
"""The package in Jupyter: docs/first_half_hour.ipynb runs, and shows what it showed; progress of reading and recording below a cell; the
timeline through Jupyter's proxy.

usage: check_notebook.py [--update]      --update: writes what the notebook shows now into it

The package tacho must be importable; TACHO_PROGRAM names another program than the one beside it. Exit status 77 if the package, or what
runs notebooks, is not there.
"""
import gzip
import http.cookiejar
import json
import os
import pathlib
import re
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import unittest.mock
import urllib.request

try:
    import ipykernel  # noqa: F401
    import jupyter_server_proxy  # noqa: F401
    import nbclient
    import nbformat
    import polars  # noqa: F401
    import tacho
except ImportError as missing:
    print(f"*** NOT TESTED: the Python package in a notebook: {missing}")
    sys.exit(77)
from tacho import _program

ROOT = pathlib.Path(__file__).resolve().parents[2]
NOTEBOOK = ROOT / "docs/first_half_hour.ipynb"
# Words on standard output of the program are its own business: a cell with this tag keeps no output.
HIDES, VARIES = "hides", "varies"
UPDATE = "--update" in sys.argv


def run(notebook, folder):
    """Runs all cells as Jupyter does, in docs/, with the program on PATH and a folder for files."""
    os.environ["PATH"] = f"{pathlib.Path(_program.path()).parent}{os.pathsep}{os.environ['PATH']}"
    os.environ["FOLDER"] = folder
    nbclient.NotebookClient(notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": str(NOTEBOOK.parent)}}).execute()


def of_code(*cells):
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    with tempfile.TemporaryDirectory() as folder:
        run(notebook, folder)
    return [cell.outputs for cell in notebook.cells]


def plain(cell):
    """What a cell shows, as text."""
    return [output["data"]["text/plain"] if "data" in output else output["text"] for output in cell.outputs]


class Notebook(unittest.TestCase):
    def test_the_first_half_hour(self):
        notebook = nbformat.read(NOTEBOOK, 4)
        want = [plain(cell) for cell in notebook.cells if cell.cell_type == "code"]
        with tempfile.TemporaryDirectory() as folder, unittest.mock.patch.dict(os.environ, TMPDIR=folder):
            run(notebook, folder)
        cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
        for cell in cells:
            tags = cell.metadata.get("tags", [])
            if VARIES in tags:
                self.assertIn("<iframe" if os.environ.get("JPY_PARENT_PID") else "timeline</a>", cell.outputs[0]["data"]["text/html"])
            cell.outputs = [] if {HIDES, VARIES} & {*tags} else cell.outputs
            cell.execution_count = None
            for output in cell.outputs:
                output.execution_count = None
                output.data = {"text/plain": output.data["text/plain"]}
            cell.metadata.pop("execution", None)
        if UPDATE:
            nbformat.write(notebook, NOTEBOOK)
        else:
            self.assertEqual([plain(cell) for cell in cells], want)
        self.assertGreater(sum(len(cell.outputs) for cell in cells), 8)

    def test_progress_of_a_reading(self):
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run([_program.path(), "simulate", "trace", "-o", folder, "--steps", "10000"], check=True, capture_output=True)
            outputs, = of_code(f"import tacho; tacho._progress._QUIET_FOR_S = 0; run = tacho.read({folder!r}, threads=1)")
            silent, = of_code(f"import tacho; run = tacho.read({folder!r}, threads=1, progress=False)")
        self.assertEqual([output.output_type for output in outputs], ["display_data"])
        self.assertRegex(outputs[0]["data"]["text/plain"], "^read [0-9.]+ MB in [0-9.]+ s$")
        self.assertEqual(silent, [])

    def test_record(self):
        engine = subprocess.Popen([_program.path(), "simulate", "--json", "--dev-mode", "--model-size", "8b", "--speed", "0.4"],
                                  stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=tempfile.mkdtemp())
        try:
            url = json.loads(engine.stdout.readline())["workers"][0]
            url = url["url"] if isinstance(url, dict) else url
            recorded, read = of_code("import os, tacho\n"
                                     f"recorded = tacho.record({url!r}, steps=5, out=os.environ['FOLDER'])\n"
                                     "recorded.complete", "tacho.read(recorded.folder)")
        finally:
            engine.terminate()
            engine.wait()
            engine.stdout.close()
        progress, complete = recorded
        self.assertEqual(complete["data"]["text/plain"], "True")
        self.assertRegex(progress["data"]["text/plain"], r"(?s)preflight.*\n  profile .*\n  stop ")
        self.assertRegex(read[-1]["data"]["text/html"], "^<p><b>.*<table>")

    def test_timeline_through_the_proxy(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        server = subprocess.Popen([sys.executable, "-m", "jupyter", "server", "--no-browser", "--allow-root", f"--ServerApp.port={port}",
                                   "--ServerApp.base_url=/user/x/", "--IdentityProvider.token=secret", "--ServerApp.root_dir=/tmp"],
                                  stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                                  env={**os.environ, "JUPYTER_RUNTIME_DIR": tempfile.mkdtemp()})
        try:
            page = f"http://localhost:{port}/user/x/"
            for line in server.stderr:
                if "is running at" in line:
                    break
            timeline = tacho.read(ROOT / "tests/data/vllm-cpu/tp2").timeline(page=page, proxy=True)
            source = re.search('src="(.*?)"', timeline._repr_html_())[1]
            browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar()))
            browser.addheaders = [("Authorization", "token secret")]
            with browser.open(f"http://localhost:{port}{source}") as answer:
                self.assertIn(b"<html", gzip.decompress(answer.read()))
                self.assertIn("frame-ancestors 'self'", answer.headers["Content-Security-Policy"])
                self.assertNotIn("token=", answer.url)
                folder = answer.url
            self.assertTrue(folder.startswith(page + "proxy/"), folder)
            for _ in range(100):
                with browser.open(folder + "api/v1/meta") as answer:
                    meta = json.loads(answer.read())
                if meta.get("ranks"):
                    break
                time.sleep(0.1)
            self.assertEqual(len(meta["ranks"]), 2)
            timeline.close()
        finally:
            server.terminate()
            server.wait()
            server.stderr.close()


if __name__ == "__main__":
    unittest.main(argv=[word for word in sys.argv if word != "--update"])
