#!/usr/bin/env python3
"""Runs the commands that the documents show and compares their output.

usage: check_documents.py TACHO [--update]

A block fenced as ```console holds "$ tacho ..." lines, each followed by its output; a line "..." stands for any
lines. A comment before the block, <!-- run in DIR -->, names where (default: the project's root); DIR may start
with $TACHO_CORPUS, and the block is left out, loudly, when that folder is not there. <!-- beside tacho ... --> names a
command that runs meanwhile (it says that it is ready by a line); what is measured then differs from run to run, so
numbers, with their units, match any others. --update writes the real
output into the documents (of blocks without "...").
"""
import contextlib
import os
import pathlib
import re
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"(?:<!-- run in (?P<dir>\S+) -->\n)?(?:<!-- beside tacho (?P<beside>.+?) -->\n)?```console\n(?P<body>.*?)```\n", re.S)


# A number, a unit, blanks.
NUMBER = re.compile(r"(?: *\b\d[\d,.]*| +(?:ns|us|ms|s)\b| +)+")


@contextlib.contextmanager
def beside(tacho, arguments):
    process = subprocess.Popen([tacho, *shlex.split(arguments)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    try:
        process.stdout.readline()
        yield
    finally:
        process.terminate()
        process.wait(30)


def matches(want, got):
    """Whether the lines `got` are those of `want`, where "..." is any number of lines."""
    if not want:
        return not got
    if want[0].strip() == "...":
        return any(matches(want[1:], got[i:]) for i in range(len(got) + 1))
    return bool(got) and want[0].rstrip() == got[0].rstrip() and matches(want[1:], got[1:])


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    tacho, update = os.path.abspath(sys.argv[1]), "--update" in sys.argv
    corpus = os.environ.get("TACHO_CORPUS") or str(ROOT / ".." / "shared" / "traces")
    passed = failed = skipped = 0
    for path in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "ARCHITECTURE.md", *sorted((ROOT / "docs").glob("*.md"))]:
        text = path.read_text()
        out, last = [], 0
        for block in BLOCK.finditer(text):
            folder = block["dir"] or "."
            if folder.startswith("$TACHO_CORPUS"):
                if not os.path.isdir(corpus):
                    print(f"*** {path.name}: the corpus is not here (TACHO_CORPUS); a block was not checked")
                    skipped += 1
                    continue
                folder = folder.replace("$TACHO_CORPUS", corpus)
            body = ""
            lines_of = lambda text: (NUMBER.sub(" #", text) if block["beside"] else text).rstrip("\n").split("\n")
            for part in re.split(r"(?m)^(?=\$ )", block["body"]):
                if not part.startswith("$ "):
                    body += part
                    continue
                command, _, want = part.partition("\n")
                words = shlex.split(command[2:])
                if words[0] != "tacho":
                    body += part  # shown, not run: installs and the like
                    continue
                with beside(tacho, block["beside"]) if block["beside"] else contextlib.nullcontext():
                    done = subprocess.run([tacho, *words[1:]], cwd=ROOT / folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                          timeout=120, env={**os.environ, "NO_COLOR": "1", "LC_ALL": "C.UTF-8"})
                got = done.stdout.decode()
                if matches(lines_of(want), lines_of(got)):
                    passed += 1
                else:
                    failed += 1
                    print(f"{path.name}: {command}\n--- prints\n{got}\n--- shown\n{want}")
                body += part if "\n...\n" in part else command + "\n" + got.rstrip("\n") + "\n\n"
            if update:
                out.append(text[last : block.start("body")] + body.rstrip("\n") + "\n")
                last = block.end("body")
        if update:
            path.write_text("".join(out) + text[last:])
    print(f"{passed} passed, {failed} failed, {skipped} skipped")
    if update:
        sys.exit(0)
    if passed + failed == 0:
        print("*** NO COMMAND OF THE DOCUMENTS WAS RUN: nothing was checked")
        sys.exit(77)
    sys.exit(failed != 0)


main()
