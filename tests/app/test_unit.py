#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""test_unit.py DIRECTORY PROGRAM UNIT...: the units for systemd say what nri-app does, and take nothing away that it needs. With
systemd-analyze, systemd reads them too."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

UNITS = [os.path.abspath(path) for path in sys.argv[3:]]
del sys.argv[3:]
from app_case import PROGRAM  # noqa: E402

# What nri-app needs is not among what a hardening may forbid.
NEEDED_FAMILY = "AF_UNIX"
DIRECTORIES = {"/run/": "RuntimeDirectory", "/var/lib/": "StateDirectory"}


def read(path):
    """{section: {key: value}}; a key that stands twice is an error here."""
    sections = {}
    with open(path, encoding="utf-8") as file:
        for line in file.read().splitlines():
            if not line or line.startswith("#"):
                continue
            if line.startswith("["):
                current = sections.setdefault(line.strip("[]"), {})
                continue
            key, value = line.split("=", 1)
            assert key not in current, f"{path}: {key} stands twice"
            current[key] = value
    return sections


class Units(unittest.TestCase):
    def each(self):
        self.assertTrue(UNITS)
        for path in UNITS:
            with self.subTest(os.path.basename(path)):
                yield read(path)["Service"]

    def test_what_systemd_is_told(self):
        for service in self.each():
            self.assertEqual(service["Type"], "notify")
            self.assertNotIn("NotifyAccess", service)  # the main process tells, which is the default
            self.assertGreaterEqual(int(service["WatchdogSec"]), 10)  # a handler may have 2 s, and is wedged after 4
            self.assertEqual(service["ExecReload"], "/bin/kill -HUP $MAINPID")
            self.assertIn(service["Restart"], ("always", "on-failure"))

    def test_options_are_known(self):
        usage = subprocess.run([PROGRAM, "--help"], capture_output=True, text=True, check=True).stdout
        for service in self.each():
            for option in re.findall(r"(?<= )--[a-z-]+", service["ExecStart"]):
                self.assertRegex(usage, rf"(?m)^ .*{option}\b")

    def test_what_is_written_has_a_directory(self):
        for service in self.each():
            self.assertEqual(service["ProtectSystem"], "strict")
            for path in re.findall(r"(?:unix:|--checkpoint )(/\S+)", service["ExecStart"]):
                top = next(top for top in DIRECTORIES if path.startswith(top))
                self.assertEqual(path[len(top):].split("/")[0], service[DIRECTORIES[top]])
                self.assertEqual(service[DIRECTORIES[top] + "Mode"], "0700")

    def test_the_socket_can_be_reached(self):
        for service in self.each():
            self.assertIn(NEEDED_FAMILY, service.get("RestrictAddressFamilies", NEEDED_FAMILY).split())
            self.assertNotIn("User", service)  # the socket is root's
            self.assertNotIn("DynamicUser", service)
            self.assertNotIn("InaccessiblePaths", service)
            self.assertNotIn("RootDirectory", service)

    def test_systemd_reads_them(self):
        analyze = shutil.which("systemd-analyze")
        if analyze is None:
            return  # what else is said of them is checked above
        for path in UNITS:
            with tempfile.TemporaryDirectory() as where, open(path, encoding="utf-8") as file:
                copy = os.path.join(where, os.path.basename(path))
                with open(copy, "w", encoding="utf-8") as out:
                    out.write(re.sub(r"ExecStart=\S+", f"ExecStart={PROGRAM}", file.read()))
                done = subprocess.run([analyze, "verify", "--man=no", copy], capture_output=True, text=True, check=False)
                self.assertNotIn(os.path.basename(path), done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
