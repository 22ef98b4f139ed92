#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""test_model_doc.py ROOT INCLUDE LIBRARY CC...: the code in doc/model.md, compiled as it stands and run. INCLUDE has
the generated headers.

All blocks of C make one program. Each function without arguments and result is called, in order; what it prints must
be what the document shows in the block of text behind it."""
import os
import re
import subprocess
import sys
import tempfile
import unittest

ROOT, INCLUDE, LIBRARY = map(os.path.abspath, sys.argv[1:4])
COMPILER = sys.argv[4:]
del sys.argv[1:]

BLOCK = re.compile(r"^```(c|text)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
CALLED = re.compile(r"^static void (\w+)\(void\)$", re.MULTILINE)


def document():
    with open(os.path.join(ROOT, "doc", "model.md"), encoding="utf-8") as file:
        return file.read()


def steps(text):
    """The code, and (function, what it prints) of each that is called."""
    code, shown = [], []
    for kind, body in BLOCK.findall(text):
        if kind == "c":
            code.append(body)
            shown += [[name, None] for name in CALLED.findall(body)]
        else:
            assert shown and shown[-1][1] is None, "output that belongs to no function: " + body
            shown[-1][1] = body
    return "".join(code), shown


class ModelDoc(unittest.TestCase):
    maxDiff = None

    def run_code(self, code, functions):
        """What each function prints."""
        calls = "".join('    puts("@@ %s");\n    %s();\n' % (name, name) for name in functions)
        with tempfile.TemporaryDirectory(prefix="nri-") as directory:
            source, program = (os.path.join(directory, name) for name in ("model.c", "model"))
            with open(source, "w", encoding="utf-8") as file:
                file.write(code + "\nint main(void)\n{\n" + calls + "    return 0;\n}\n")
            subprocess.run(
                [*COMPILER, "-std=c11", "-Wall", "-Wextra", "-Wconversion", "-Wshadow", "-Werror"]
                + ["-I", os.path.join(ROOT, "include"), "-I", INCLUDE, source, "-o", program]
                + [LIBRARY, "-Wl,-rpath," + os.path.dirname(LIBRARY)],
                check=True,
            )
            ran = subprocess.run([program], check=True, capture_output=True, text=True)
        self.assertEqual(ran.stderr, "")
        pieces = re.split(r"^@@ (\w+)\n", ran.stdout, flags=re.MULTILINE)
        self.assertEqual(pieces[0], "")
        return dict(zip(pieces[1::2], pieces[2::2]))

    def test_every_block(self):
        code, shown = steps(document())
        self.assertGreater(len(shown), 10)
        printed = self.run_code(code, [name for name, _ in shown])
        for name, expected in shown:
            with self.subTest(name):
                self.assertIsNotNone(expected, "the document shows no output")
                self.assertNotEqual(printed[name], "")
                self.assertEqual(printed[name], expected)

    def test_links(self):
        links = re.findall(r"\]\(([^)#:]+)\)", document())
        self.assertGreater(len(links), 0)
        self.assertEqual([link for link in links if not os.path.exists(os.path.join(ROOT, "doc", link))], [])


if __name__ == "__main__":
    unittest.main()
