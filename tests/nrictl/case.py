# SPDX-License-Identifier: Apache-2.0
"""What the tests of nrictl share: the program, a directory with the files of the help's examples, and its end."""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

NRICTL, PROGRAMS = (os.path.realpath(path) for path in sys.argv[1:3])
del sys.argv[1:3]
EXAMPLES = os.path.join(os.path.dirname(os.path.realpath(__file__)), "examples")
# Far above what any call needs: reaching it means that it hangs.
PATIENCE = 120

# The exit codes that are documented.
OK, FINDING, USAGE, ENVIRONMENT = range(4)


class Case(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        holder = tempfile.TemporaryDirectory(prefix="nrictl-")
        self.addCleanup(holder.cleanup)
        self.directory = os.path.join(holder.name, "examples")
        shutil.copytree(EXAMPLES, self.directory)

    def path(self, *parts):
        return os.path.join(self.directory, *parts)

    def environment(self):
        return {**os.environ, "PATH": os.pathsep.join([os.path.dirname(NRICTL), PROGRAMS, os.environ["PATH"]]),
                "LC_ALL": "C.UTF-8"}

    def run_nrictl(self, *arguments, expect=OK, text=None):
        """What it printed, once it ended as expected."""
        done = subprocess.run([NRICTL, *arguments], cwd=self.directory, env=self.environment(), input=text, text=True,
                              capture_output=True, timeout=PATIENCE, check=False)
        self.assertEqual(done.returncode, expect, done.stdout + done.stderr)
        return done

    def run_json(self, *arguments, **options):
        given = () if "--output" in arguments else ("--output", "json")
        return json.loads(self.run_nrictl(*arguments, *given, **options).stdout)

    def refused(self, *arguments, says, expect=USAGE, text=None):
        """It prints nothing but one line that says why."""
        done = self.run_nrictl(*arguments, expect=expect, text=text)
        self.assertEqual(done.stdout, "")
        self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
        self.assertIn(says, done.stderr)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        return name

    def read(self, name):
        with open(self.path(name), encoding="utf-8") as file:
            return file.read()


def main():
    unittest.main(verbosity=2)
