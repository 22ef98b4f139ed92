#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""count-tests.py TESTLOG.json...: how many tests passed, failed and were skipped.

Meson counts programs. This counts what the programs count themselves, where it knows their last
words (cmocka, unittest, and the "N passed, N failed" of the scripts), and else one test a program.
Prints three numbers; a line on standard error names each program that failed or was skipped.
"""
import json
import re
import sys

CMOCKA_PASSED = re.compile(r"^\[  PASSED  \] (\d+) test\(s\)\.", re.MULTILINE)
CMOCKA_FAILED = re.compile(r"^\[  FAILED  \] (?:\S+: )?(\d+) test\(s\), listed below", re.MULTILINE)
CMOCKA_SKIPPED = re.compile(r"^\[  SKIPPED \] (?:\S+: )?(\d+) test\(s\), listed below", re.MULTILINE)
UNITTEST_RAN = re.compile(r"^Ran (\d+) tests? in ", re.MULTILINE)
UNITTEST_END = re.compile(r"^(?:OK|FAILED) \((.*)\)$", re.MULTILINE)
SCRIPT_END = re.compile(r"^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$", re.MULTILINE)


def total(pattern, text):
    return sum(map(int, pattern.findall(text)))


def own_count(text):
    """What the program says: (passed, failed, skipped), all 0 when it says nothing known."""
    passed = total(CMOCKA_PASSED, text)
    failed = total(CMOCKA_FAILED, text)
    skipped = total(CMOCKA_SKIPPED, text)
    ran = total(UNITTEST_RAN, text)
    if ran:
        ends = {"failures": 0, "errors": 0, "skipped": 0}
        for end in UNITTEST_END.findall(text):
            for key, value in re.findall(r"(\w+)=(\d+)", end):
                if key in ends:
                    ends[key] += int(value)
        failed += ends["failures"] + ends["errors"]
        skipped += ends["skipped"]
        passed += ran - sum(ends.values())
    for ok, bad, skip in SCRIPT_END.findall(text):
        passed += int(ok)
        failed += int(bad)
        skipped += int(skip or 0)
    return passed, failed, skipped


def count(record):
    """One line of testlog.json: meson's verdict stands, the program's numbers refine it."""
    text = (record.get("stdout") or "") + "\n" + (record.get("stderr") or "")
    passed, failed, skipped = own_count(text)
    result = record["result"]
    if result in ("SKIP", "IGNORED"):
        return 0, 0, max(1, skipped)
    if result not in ("OK", "EXPECTEDFAIL"):
        # A crash or a time-out comes after tests that passed; it is one failure more.
        return passed, max(1, failed), skipped
    if passed + failed + skipped == 0:
        return 1, 0, 0
    return passed, failed, skipped


def main(paths):
    sums = [0, 0, 0]
    for path in paths:
        with open(path, encoding="utf-8") as file:
            for line in file:
                record = json.loads(line)
                numbers = count(record)
                sums = [a + b for a, b in zip(sums, numbers)]
                if numbers[1]:
                    print(f"FAILED  {record['name']} ({record['result']})", file=sys.stderr)
                if numbers[2]:
                    print(f"SKIPPED {record['name']}", file=sys.stderr)
    print(*sums)


if __name__ == "__main__":
    main(sys.argv[1:])
