#!/usr/bin/env python3
"""What a run of ctest did not test, and why: skipped.py JUNIT_FILE

Prints one line for each: a test that was skipped, and each part that a test left out. A test says so with a line
"*** NOT TESTED: what: why", or with GTEST_SKIP().
"""
import re
import sys
import xml.etree.ElementTree

SAID = re.compile(r"^\*\*\* NOT TESTED: (.+)$|^\S+:\d+: Skipped\n(.+)$", re.MULTILINE)


def main():
    for test in xml.etree.ElementTree.parse(sys.argv[1]).iter("testcase"):
        said = SAID.findall(test.findtext("system-out") or "")
        reasons = [one or other for one, other in said]
        if test.get("status") == "notrun":
            reasons = reasons or ["no reason is given"]
        for reason in reasons:
            print(f"skipped {test.get('name')}: {reason}")


main()
