#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""test_sessions.py NRICTL PROGRAMS SCRIPT DIRECTORY: tools/sessions.sh still makes the sessions of doc/sessions."""
import os
import re
import shutil
import subprocess
import sys
import unittest

SCRIPT, DIRECTORY = (os.path.realpath(path) for path in sys.argv[3:5])
del sys.argv[3:5]

import case


def form(text):
    """Its lines without what differs from run to run: times, rates, and how wide columns are."""
    text = re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", "DATE", text)
    text = re.sub(r">?\d+(\.\d+)? (us|ms|s)\b", "TIME", text)
    text = re.sub(r"(?<=\s)(\d+\.\d|-)(?=\s)", "RATE", text)
    return [" ".join(line.split()) for line in text.splitlines()]


@unittest.skipIf(shutil.which("tmux") is None, "no tmux")
class Sessions(case.Case):
    def test_sessions(self):
        subprocess.run([SCRIPT, "--programs", os.path.dirname(case.PROGRAMS), "--out", "."], cwd=self.directory, check=True,
                       timeout=case.PATIENCE, env={**os.environ, "TMPDIR": self.directory})
        for name in ("sim-shell.txt", "top.txt"):
            self.assertEqual(form(self.read(name)), form(self.read_session(name)), name)
        # It leaves nothing.
        self.assertEqual([name for name in os.listdir(self.directory) if name.startswith("tmp")], [])

    def test_the_table_changes(self):
        frames = self.read_session("top.txt").split("# ")[1:]
        counts = [re.search(r"10-logger +\(all\) +(\d+) ", frame).group(1) for frame in frames]
        self.assertEqual(counts, ["2", "3", "11"])

    def read_session(self, name):
        with open(os.path.join(DIRECTORY, name), encoding="utf-8") as file:
            return file.read()

    def test_usage(self):
        done = subprocess.run([SCRIPT, "--no-such"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("tools/sessions.sh [--programs DIRECTORY]", done.stdout)
        done = subprocess.run([SCRIPT, "--programs", self.directory], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, case.ENVIRONMENT)
        self.assertIn("nrictl is not there; build it", done.stderr)


case.main()
