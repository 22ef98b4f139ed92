#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""test_readme.py ROOT INCLUDE LIBRARY CC...: the plugin in README.md, compiled as it stands and run, and the
files that README.md refers to. INCLUDE has the generated headers."""
import os
import re
import socket
import subprocess
import sys
import unittest

from case import Case, Program
from protobuf import fields, last, text_pairs
from runtime import Connection, mask

ROOT, INCLUDE, LIBRARY = map(os.path.abspath, sys.argv[1:4])
COMPILER = sys.argv[4:]
del sys.argv[1:]


def readme():
    with open(os.path.join(ROOT, "README.md"), encoding="utf-8") as file:
        return file.read()


class Readme(Case):
    def compiled(self):
        (source,) = re.findall(r"^```c\n(.*?)^```$", readme(), re.MULTILINE | re.DOTALL)
        self.assertLessEqual(len([line for line in source.splitlines() if line]), 15)
        path = os.path.join(self.directory, "hello.c")
        with open(path, "w", encoding="utf-8") as file:
            file.write(source)
        program = os.path.join(self.directory, "hello")
        where = os.path.dirname(LIBRARY)
        subprocess.run(
            [*COMPILER, "-Wall", "-Wextra", "-Werror", "-I", os.path.join(ROOT, "include"), "-I", INCLUDE]
            + [path, "-o", program, LIBRARY, f"-Wl,-rpath,{where}"],
            check=True,
        )
        return program

    def test_plugin(self):
        program = self.compiled()
        ours, theirs = socket.socketpair()
        with theirs:
            # The shell gives it the number that a runtime's launcher would.
            command = ["sh", "-c", f'exec "$1" 3<&{theirs.fileno()}', "sh", program]
            running = Program(
                self.directory, command, environment={"NRI_PLUGIN_SOCKET": "3"}, pass_fds=[theirs.fileno()]
            )
            self.addCleanup(running.close)
        connection = Connection(ours)
        self.addCleanup(connection.close)
        self.assertEqual(connection.registration(), ("10", "hello"))
        connection.answer_registration()
        self.assertEqual(connection.configure(), mask("CreateContainer"))
        adjust = fields(last(connection.create(), 1))
        self.assertEqual(text_pairs(adjust[4]), [("HELLO", "nri")])
        connection.close()
        self.assertEqual(running.ended(), 1)
        self.assertEqual(running.out(), "")
        self.assertRegex(running.err(), "^hello: .*closed the connection.*\n$")

    def test_plugin_without_a_runtime(self):
        if os.path.exists("/var/run/nri/nri.sock"):
            self.skipTest("a runtime is there")
        program = Program(self.directory, [self.compiled()])
        self.addCleanup(program.close)
        self.assertEqual(program.ended(), 1)
        self.assertRegex(program.err(), "^hello: .*/var/run/nri/nri.sock.*\n$")

    def test_plugin_that_cannot_be_made(self):
        program = Program(self.directory, [self.compiled()], environment={"NRI_PLUGIN_SOCKET": "/run/nri.sock"})
        self.addCleanup(program.close)
        self.assertEqual(program.ended(), 1)
        self.assertRegex(program.err(), '^hello: NRI_PLUGIN_SOCKET="/run/nri.sock" is not the decimal number .*\n$')

    def test_links(self):
        links = re.findall(r"\]\(([^)#:]+)\)", readme())
        self.assertGreater(len(links), 5)
        self.assertEqual([link for link in links if not os.path.exists(os.path.join(ROOT, link))], [])


if __name__ == "__main__":
    unittest.main()
