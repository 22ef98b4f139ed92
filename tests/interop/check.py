#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""check.py NRICTL DOC WORK: nrictl check on a plugin of the Go stub reports what doc/nrictl.md says that Go lacks, and no more.

The plugin of events/ is built in WORK, with the NRI module 0.12.5. Exit: 0 the lists agree, 1 they do not, 77 with a reason
when there is no Go or its modules cannot be had.
"""
import json
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.realpath(__file__))
NRICTL, DOC, WORK = (os.path.realpath(path) for path in sys.argv[1:4])
VERSION = "0.12.5"
# Reached by each check that Go never answers.
PATIENCE = "20s"


def documented():
    with open(DOC, encoding="utf-8") as file:
        return re.findall(r"(?m)^\| Go \| `([^`]+)` \|", file.read())


def main():
    built = subprocess.run([os.path.join(HERE, "plugin.sh"), WORK, VERSION, "events"], check=False)
    if built.returncode != 0:
        return built.returncode
    done = subprocess.run([NRICTL, "check", "--format", "json", "--timeout", PATIENCE, "--", os.path.join(WORK, "go-events-" + VERSION),
                           "--socket", "{socket}", "--name", "{name}", "--idx", "{index}"], stdout=subprocess.PIPE, text=True,
                          check=False)
    report = json.loads(done.stdout)
    failed = [one for one in report["checks"] if one["result"] == "fail"]
    for one in failed:
        print("%-6s  %-20s  %s" % (one["severity"], one["id"], one["seen"]))
    lacks, expected = [one["id"] for one in failed], documented()
    if lacks == expected and expected and done.returncode == (1 if report["failed_must"] else 0):
        print("%d checks passed; %d failed, as documented" % (report["passed"], len(lacks)))
        return 0
    print("nrictl check ended with %d. Go lacks %s; %s has %s" % (done.returncode, lacks, DOC, expected))
    return 1


sys.exit(main())
