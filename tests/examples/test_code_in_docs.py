#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""test_code_in_docs.py ROOT BUILD LIBRARY APP_LIBRARY CC...: the C in every page, compiled as it stands: all blocks of
a page are one file. The daemon in doc/app.md is run, by the commands that the page gives. BUILD has the generated headers;
APP_LIBRARY is "" where nri-app was not built."""
import glob
import os
import re
import signal
import subprocess
import sys
import unittest

from case import Case, Program
from protobuf import fields, last

ROOT, BUILD, LIBRARY = map(os.path.abspath, sys.argv[1:4])
APP_LIBRARY = sys.argv[4]
COMPILER = sys.argv[5:]
del sys.argv[1:]

BLOCK = re.compile(r"^```c\n(.*?)^```$", re.MULTILINE | re.DOTALL)
FENCE = re.compile(r"^```.*$", re.MULTILINE)
WARNINGS = ["-std=c11", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror"]
# A page need not use all that it shows.
UNUSED = ["-Wno-unused-function", "-Wno-unused-variable", "-Wno-unused-const-variable"]
HEADERS = ["-I", os.path.join(ROOT, "include"), "-I", os.path.join(BUILD, "include")]


def read(page):
    with open(os.path.join(ROOT, page), encoding="utf-8") as file:
        return file.read()


def pages():
    patterns = ["README.md", "doc/*.md", "examples/*/*.md"]
    found = [name for pattern in patterns for name in glob.glob(os.path.join(ROOT, pattern))]
    return sorted(os.path.relpath(name, ROOT) for name in found)


class CodeInDocs(Case):
    def source(self, page):
        path = os.path.join(self.directory, page.replace("/", "-") + ".c")
        with open(path, "w", encoding="utf-8") as file:
            file.write("".join(BLOCK.findall(read(page))))
        return path

    def test_every_page_compiles(self):
        with_code = [page for page in pages() if BLOCK.search(read(page))]
        self.assertLessEqual({"README.md", "doc/app.md", "doc/deadlines.md", "doc/reconnect.md"}, set(with_code))
        for page in with_code:
            with self.subTest(page):
                command = [*COMPILER, *WARNINGS, *UNUSED, *HEADERS, "-fsyntax-only", self.source(page)]
                ended = subprocess.run(command, capture_output=True, text=True, check=False)
                self.assertEqual((ended.returncode, ended.stderr), (0, ""))

    def test_fences_are_pairs(self):
        for page in pages():
            with self.subTest(page):
                kinds = FENCE.findall(read(page))
                self.assertEqual(len(kinds) % 2, 0)
                self.assertEqual([kind for kind in kinds[1::2] if kind != "```"], [])

    def test_links(self):
        for page in pages():
            where = os.path.join(ROOT, os.path.dirname(page))
            links = [link for link in re.findall(r"\]\(([^)#:]+)\)", read(page))]
            with self.subTest(page):
                self.assertEqual([link for link in links if not os.path.exists(os.path.join(where, link))], [])


@unittest.skipUnless(APP_LIBRARY, "nri-app was not built")
class Daemon(Case):
    """doc/app.md."""

    def setUp(self):
        super().setUp()
        self.program = os.path.join(self.directory, "limits")
        source = self.program + ".c"
        with open(source, "w", encoding="utf-8") as file:
            file.write("".join(BLOCK.findall(read("doc/app.md"))))
        libraries = [os.path.abspath(APP_LIBRARY), LIBRARY]
        paths = ["-Wl,-rpath," + os.path.dirname(library) for library in libraries]
        subprocess.run([*COMPILER, *WARNINGS, *HEADERS, source, "-o", self.program, *libraries, *paths], check=True)
        (shown,) = re.findall(r"^    echo '(memory: .*)' > limits.yaml$", read("doc/app.md"), re.MULTILINE)
        self.config = os.path.join(self.directory, "limits.yaml")
        self.checkpoint = os.path.join(self.directory, "notes")
        self.write(shown)

    def write(self, text):
        with open(self.config + ".new", "w", encoding="utf-8") as file:
            file.write(text + "\n")
        os.rename(self.config + ".new", self.config)

    def checked(self):
        command = [self.program, "--config", self.config, "--check-config"]
        return subprocess.run(command, capture_output=True, text=True, check=False)

    def test_check_config(self):
        ended = self.checked()
        self.assertEqual((ended.returncode, ended.stderr), (0, ""))
        for text, reason in [("owners: [a]", "memory.limit: is required, but not given"),
                             ("memory: {limit: 1Mi}", 'memory.limit: "1Mi" is out of range: at least 4Mi'),
                             ("memory: {limit: 67108865}", "memory.limit: is no number of pages")]:
            with self.subTest(text):
                self.write(text)
                ended = self.checked()
                self.assertEqual(ended.returncode, 2)
                self.assertIn(reason, ended.stderr)

    def test_update_waits_for_the_runtime(self):
        reader, writer = os.pipe()
        log = os.fdopen(reader, encoding="utf-8")
        self.addCleanup(log.close)
        command = [self.program, "--config", self.config, "--checkpoint", self.checkpoint]
        running = Program(self.directory, [*command, "--socket", self.listener.path], stderr=writer)
        os.close(writer)
        self.addCleanup(running.close)
        connection = self.listener.accept()
        connection.start()
        # ContainerAdjustment.linux.resources.memory.limit, an OptionalInt64.
        value = last(connection.create(), 1)
        for number in (6, 2, 1, 1, 1):
            value = last(fields(value), number)
        self.assertEqual(value, 64 << 20)
        with open(self.checkpoint, encoding="utf-8") as file:
            self.assertIn('{"notes":{"ctr0":"limited"}}', file.read())
        # The runtime goes; while it is away the configuration changes; the next one is told.
        connection.close()
        self.assertTrue(any("connection closed" in line for line in log))
        self.write("memory: {limit: 128Mi}")
        self.assertTrue(any("was read again, and taken" in line for line in log))
        again = self.listener.accept()
        again.registration()
        again.answer_registration()
        again.configure()
        request = again.runtime_call("UpdateContainers")
        update = fields(last(request, 1))
        self.assertEqual(last(update, 1), b"ctr0")
        value = last(update, 2)
        for number in (1, 1, 1, 1):
            value = last(fields(value), number)
        self.assertEqual(value, 128 << 20)
        self.assertEqual(running.end(signal.SIGTERM)[0], 0)


if __name__ == "__main__":
    unittest.main()
