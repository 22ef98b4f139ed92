# SPDX-License-Identifier: Apache-2.0
"""What the tests of nri-app start with: the runtime and the programs of the examples' tests, and ways
to wait for what a program says. Arguments: DIRECTORY_OF_THOSE PROGRAM."""
import os
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
from case import Case, Program  # noqa: E402
from events import until  # noqa: E402, F401
from runtime import PATIENCE, Connection, Listener, Refusal  # noqa: E402, F401

PROGRAM = os.path.abspath(sys.argv[2])
del sys.argv[1:3]
HURRY = 5.0  # seconds; a SIGTERM may take 1, and much more on a busy machine under a sanitizer


def ask_until(what):
    """Waits until what() is true, and returns it. For what has to be asked: HTTP, /proc."""
    end = time.monotonic() + PATIENCE
    while True:
        found = what()
        if found:
            return found
        if time.monotonic() > end:
            raise AssertionError("waited in vain")
        time.sleep(0.005)


class AppCase(Case):
    program = PROGRAM

    def until(self, what):
        """Waits until what() is true of the output of programs, and returns it."""
        found = until(what, self.directory, PATIENCE)
        self.assertTrue(found, "waited in vain")
        return found

    def file(self, name, text):
        """A file in the test's directory, put in its place as editors do."""
        path = os.path.join(self.directory, name)
        with open(path + ".new", "w", encoding="utf-8") as file:
            file.write(text)
        os.rename(path + ".new", path)
        return path

    def ready(self, *arguments, **kwargs):
        """The program, registered and synchronised, and its connection."""
        program, connection = self.connected(*arguments, **kwargs)
        connection.start()
        return program, connection

    def waits(self, *arguments, **kwargs):
        """The program, which finds no runtime and waits for one."""
        path = os.path.join(self.directory, "later", "nri.sock")
        program = self.run_program("--socket", path, *arguments, **kwargs)
        self.until(lambda: "start " in program.out())
        return program

    def ends_well(self, program):
        status, seconds = program.end()
        self.assertEqual(status, 0, program.err())
        self.assertLess(seconds, HURRY)
