#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""test_state_doc.py ROOT INCLUDE LIBRARY CC...: the plugin in doc/state.md, compiled as it stands, run, killed and run
again. INCLUDE has the generated headers."""
import os
import re
import signal
import subprocess
import sys
import unittest

from case import Case, Program
from protobuf import field, fields, last, text_pairs

ROOT, INCLUDE, LIBRARY = map(os.path.abspath, sys.argv[1:4])
COMPILER = sys.argv[4:]
del sys.argv[1:]

BLOCK = re.compile(r"^```(c|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
NAMES = {"c1": "web", "c2": "db", "c3": "cache", "c4": "job", "c5": "last"}


def document():
    with open(os.path.join(ROOT, "doc", "state.md"), encoding="utf-8") as file:
        return file.read()


def container(name):
    return field(1, name) + field(2, "p1") + field(3, NAMES[name])


class StateDoc(Case):
    def setUp(self):
        super().setUp()
        self.checkpoint = os.path.join(self.directory, "notes")
        self.program = os.path.join(self.directory, "slots")
        code = "".join(body for kind, body in BLOCK.findall(document()) if kind == "c")
        with open(self.program + ".c", "w", encoding="utf-8") as file:
            # The runtime that is played has its socket elsewhere.
            file.write(code.replace('.index = "20"', '.index = "20", .socket_path = "%s"' % self.listener.path))
        subprocess.run(
            [*COMPILER, "-std=c11", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror"]
            + ["-I", os.path.join(ROOT, "include"), "-I", INCLUDE, self.program + ".c", "-o", self.program]
            + [LIBRARY, "-Wl,-rpath," + os.path.dirname(LIBRARY)],
            check=True,
        )

    def start(self, *containers):
        running = Program(self.directory, [self.program, self.checkpoint])
        self.addCleanup(running.close)
        connection = self.listener.accept()
        connection.registration()
        connection.answer_registration()
        connection.configure()
        pods = field(1, field(1, "p1")) if containers else b""
        connection.call("Synchronize", pods + b"".join(field(2, container(name)) for name in containers))
        return running, connection

    def create(self, connection, name):
        """The slot that it gets."""
        response = connection.event("CreateContainer", field(1, "p1"), container(name))
        return text_pairs(fields(last(response, 1))[4])[0][1]

    def test_crash(self):
        shown = [body for kind, body in BLOCK.findall(document()) if kind == "text"]
        running, connection = self.start()
        slots = [self.create(connection, "c1"), self.create(connection, "c2")]
        connection.event("RemoveContainer", field(1, "p1"), container("c1"))
        slots.append(self.create(connection, "c3"))
        self.assertEqual(slots, ["0", "1", "0"])
        running.end(signal.SIGKILL)
        self.assertEqual(running.out(), shown[0])
        running, connection = self.start("c3", "c4")
        self.assertEqual(self.create(connection, "c5"), "1")
        with open(self.checkpoint, encoding="utf-8") as file:
            self.assertEqual(file.read().split("\n")[1], '{"notes":{"c3":"0","c5":"1"}}')
        running.end(signal.SIGKILL)
        self.assertEqual(running.out(), shown[1])

    def test_shown_checkpoint(self):
        """The one in the document is read, and a damaged one is not."""
        (shown,) = re.findall(r"^    (nri-state .*)\n    (\{.*\})$", document(), re.MULTILINE)
        with open(self.checkpoint, "w", encoding="utf-8") as file:
            file.write("\n".join(shown) + "\n")
        running, _ = self.start("c1")
        running.end(signal.SIGKILL)
        self.assertEqual(running.out(), 'found web with slot "cpus=4-7"\n')
        with open(self.checkpoint, "w", encoding="utf-8") as file:
            file.write("\n".join(shown))
        running, _ = self.start("c1")
        running.end(signal.SIGKILL)
        damaged, found = running.out().splitlines()
        self.assertIn("notes is damaged: ", damaged)
        self.assertEqual(found, 'found web with slot ""')
        self.assertTrue(os.path.exists(self.checkpoint + ".damaged"))

    def test_links(self):
        links = re.findall(r"\]\(([^)#:]+)\)", document())
        self.assertGreater(len(links), 0)
        self.assertEqual([link for link in links if not os.path.exists(os.path.join(ROOT, "doc", link))], [])


if __name__ == "__main__":
    unittest.main()
