#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""test_outstanding_cost.py OUTSTANDING: with four times the events under way, the runtime side takes four times the
instructions, however long a plugin does not answer.

Instructions are counted, and only their ratio counts. The difference to a short run leaves out starting and ending.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

FEW, SOME, MANY = 100, 2000, 8000
# 4 is what it takes; looking at each for each would be 16.
RATIO = 5.0


def instructions(program, mode, count, out):
    done = subprocess.run(["valgrind", "--tool=callgrind", "--callgrind-out-file=" + out, program, mode, str(count)],
                          capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit("%s %s %d failed:\n%s%s" % (program, mode, count, done.stdout, done.stderr))
    with open(out, encoding="ascii", errors="replace") as file:
        return int(re.search(r"^summary: (\d+)", file.read(), re.MULTILINE).group(1))


def main():
    if shutil.which("valgrind") is None:
        print("valgrind is not installed")
        return 77
    failed = False
    with tempfile.TemporaryDirectory() as scratch:
        out = os.path.join(scratch, "callgrind.out")
        for mode in ("event", "sync", "pod"):
            few, some, many = (instructions(sys.argv[1], mode, count, out) for count in (FEW, SOME, MANY))
            a, b = (some - few) / (SOME - FEW), (many - few) / (MANY - FEW)
            ratio = 4 * b / a
            print("%s: instructions for an event of %d: %.0f, of %d: %.0f; ratio %.2f, limit %.2f" %
                  (mode, SOME, a, MANY, b, ratio, RATIO))
            failed = failed or ratio > RATIO
    return 1 if failed else 0


sys.exit(main())
