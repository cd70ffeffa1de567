#!/usr/bin/env python3
"""Compares tacho with the cases from the field: small inputs on which it was once wrong, each with what is right.

usage: check_cases.py TACHO [--only FOLDER ...]

The cases are not part of the project: TACHO_CASES names their folder (default ../shared/cases); without it nothing is tested, and
a line says so. Each folder there has its function in a module of this folder: graph-underrecorded is `graph_underrecorded(case)`.
The modules group the cases by what was wrong; `case` (case.py) runs tacho in the case's folder.
"""
import importlib
import os
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE), str(ROOT / "tests/corpus")]
from case import Case  # noqa: E402
from compare import check, finish  # noqa: E402

GROUPS = sorted(path.stem for path in HERE.glob("*_cases.py") if path.stem != "check_cases")


def main():
    if len(sys.argv) < 2 or sys.argv[2:3] not in ([], ["--only"]):
        sys.exit(__doc__)
    folder = pathlib.Path(os.environ.get("TACHO_CASES") or ROOT.parent / "shared/cases")
    if not folder.is_dir():
        print(f"*** NOT TESTED: cases from the field: no folder of them at {folder} (set TACHO_CASES)", flush=True)
        sys.exit(77)
    tests = {}
    for group in GROUPS:
        for name, test in vars(importlib.import_module(group)).items():
            if callable(test) and getattr(test, "__module__", "") == group and not name.startswith("_"):
                tests[name.replace("_", "-")] = test
    there = sorted(path.name for path in folder.iterdir() if path.is_dir())
    for name in sys.argv[3:] or there:
        test = tests.get(name)
        if test is None or name not in there:
            check(f"{name} is a case with a test", (name in there, test is not None), (True, True))
            continue
        try:
            test(Case(sys.argv[1], folder / name))
        except Exception as problem:  # the others go on
            check(f"{name} ends", repr(problem)[:500], "no exception")
    finish()


main()
