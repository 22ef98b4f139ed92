#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""python_doc.py LIBRARY DOCUMENT: the code in doc/python.md, run as it stands, prints what the document shows."""
import os
import re
import subprocess
import sys
import unittest

LIBRARY, DOCUMENT = map(os.path.abspath, sys.argv[1:3])
del sys.argv[1:]


def blocks(kind):
    with open(DOCUMENT, encoding="utf-8") as file:
        return re.findall(r"^```%s\n(.*?)^```$" % kind, file.read(), re.MULTILINE | re.DOTALL)


def run(code):
    """The library is found by the name that the document has."""
    environment = dict(os.environ, LD_LIBRARY_PATH=os.path.dirname(LIBRARY))
    return subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=False)


class PythonDocument(unittest.TestCase):
    def test_code(self):
        (code,), (shown,) = blocks("python"), blocks("text")
        ended = run(code)
        self.assertEqual((ended.stdout, ended.stderr, ended.returncode), (shown, "", 0))

    def test_code_fails_with_the_text(self):
        (code,) = blocks("python")
        broken = code.replace('"name": "web"', '"name": 5')
        self.assertNotEqual(broken, code)
        ended = run(broken)
        self.assertIn("sample:1:10: Container.name: must be a text, found a number", ended.stderr)
        self.assertEqual((ended.stdout, ended.returncode), ("", 1))


if __name__ == "__main__":
    unittest.main()
