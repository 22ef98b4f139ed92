#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""test_doctor_parts.py PROGRAM: TOML against Python's reader, and paths that stay in their root."""
import json
import math
import os
import random
import subprocess
import sys
import tempfile
import tomllib
import unittest

PROGRAM = os.path.realpath(sys.argv.pop(1))
PATIENCE = 120

GOOD = [
    "", "# comment", "a = 1", "a=1\r\nb=2\r\n", "'' = 1", '"" = 1', "1.2 = 3", 'a."b.c".d = 1', "a . b = 1",
    "a = 'x\\y'", r'a = "\b\t\n\f\r\"\\ \u00e9 \U0001F600"', 'a = """\nx\ny\\\n   z"""', 'a = """a""quotes"""""', "a = '''\nx'y''z'''",
    "a = ''''''", 'a = """"""', 'a = """\\\n\n  b"""', "a = '''x\r\ny'''",
    "a = +5", "a = -0", "a = 1_000", "a = 0xDEAD_beef", "a = 0o17", "a = 0b101", "a = 9223372036854775807", "a = -9223372036854775808",
    "a = 1.5", "a = -0.25", "a = 6e2", "a = 1E-3", "a = 1_0.0_1", "a = 0e0", "a = inf", "a = -inf", "a = nan",
    "a = true\nb = false", "a = []", "a = [1,]", "a = [\n1, # one\n\n2 ]", "a = [[1], ['x', {b = 1}]]",
    "a = {}", "a = {b = 1, c.d = 2}", "a = { b = [ 1, 2 ] }",
    "a = 1979-05-27", "a = 07:32:00", "a = 1979-05-27T07:32:00Z", "a = 1979-05-27 07:32:00.999", "a = 1979-05-27T00:32:00-07:00",
    "[a]\nb = 1\n[a.c]\nd = 2", "[a.b.c]\n[a]\nd = 1", "[[a]]\nb = 1\n[[a]]\nb = 2\n[a.c]\nd = 3\n[[a.e]]\n[[a.e]]",
    "a.b = 1\na.c = 2", "[a]\nb.c = 1\nb.d = 2", "[ a . 'b' ]\nc = 1", "[a.b]\nx = 1\n[a]\nb2.y = 1",
    '[plugins."io.containerd.nri.v1.nri"]\n  disable = false\n  [plugins."io.containerd.nri.v1.nri".x]\n',
    "a = \"\u00e9\"", "a = 1 # x\n\n\n", "\t a\t=\t1 \t\n", "a-b_c1 = 1", "[x] # y\na = 1",
]
BAD = [
    "a", "a =", "= 1", "a = 1 b = 2", "a = 1\na = 2", "a b = 1", "[a", "[a]]", "[[a]", "[]", "[a.]", "[a]\n[a]", "a = 1\n[a]", "a = 1\n[[a]]",
    "[a]\n[[a]]", "[[a]]\n[a]", "a = [1]\n[[a]]", "a = {b = 1}\n[a.c]", "a = {b = 1}\na.c = 2", "a = {b = 1,}", "a = {b = 1\n}",
    "a.b = 1\n[a]", "a.b = 1\na.b.c = 2", "[a.b]\n[a]\nb.c = 1", "a = [1", "a = [1 2]", "a = [,]", 'a = "x', "a = 'x\ny'", 'a = """x',
    r'a = "\q"', r'a = "\u12"', r'a = "\ud800"', r'a = "\U00110000"', 'a = "\x01"', "a = 'x\x7f'", "# \x01", 'a = """x\\ y"""',
    "a = 01", "a = 1__0", "a = _1", "a = 1_", "a = 0x", "a = 0xg", "a = +0x1", "a = 0o8", "a = 1.", "a = .5", "a = 1.e1", "a = 1e", "a = 1e_1",
    "a = True", "a = yes", "a = 9223372036854775808", "a = 1979-13-01", "a = 1979-05-32", "a = 25:00:00", "a = 1979-05-27T",
    '"""a""" = 1', "a = \"\"\"x\"\"\"\"\"\"", "a = 1\r b = 2", "a..b = 1", ".a = 1", "a. = 1", "\u00e9 = 1", "a = {", "a = [{]", "\ufeffa = 1",
]


def normal(value):
    """As the reader has it: what is no number of JSON is a text."""
    if isinstance(value, dict):
        return {key: normal(each) for key, each in value.items()}
    if isinstance(value, list):
        return [normal(each) for each in value]
    if isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    return "(text)"


class Parts(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory(prefix="nrictl-")
        self.addCleanup(holder.cleanup)
        self.directory = holder.name

    def run_part(self, *arguments):
        done = subprocess.run([PROGRAM, *arguments], capture_output=True, timeout=PATIENCE, check=False)
        self.assertIn(done.returncode, (0, 1), done.stderr)
        return done.returncode, done.stdout.decode(errors="replace")

    def parse(self, text):
        path = os.path.join(self.directory, "x.toml")
        with open(path, "wb") as file:
            file.write(text if isinstance(text, bytes) else text.encode())
        return self.run_part("toml", path)

    def same(self, mine, theirs):
        if isinstance(theirs, dict):
            self.assertEqual(list(mine), list(theirs))
            for key, value in theirs.items():
                self.same(mine[key], value)
        elif isinstance(theirs, list):
            self.assertEqual(len(mine), len(theirs))
            for one, other in zip(mine, theirs):
                self.same(one, other)
        elif theirs == "(text)":
            self.assertIsInstance(mine, str)
        else:
            self.assertEqual((type(mine), mine), (type(theirs), theirs))

    def test_toml_that_is_good(self):
        for text in GOOD:
            with self.subTest(text):
                code, out = self.parse(text)
                self.assertEqual(code, 0, out)
                self.same(json.loads(out), normal(tomllib.loads(text)))

    def test_toml_that_is_bad(self):
        for text in BAD:
            with self.subTest(text):
                self.assertRaises(tomllib.TOMLDecodeError if "9223372036854775808" not in text else OverflowError,
                                  tomllib.loads if "9223372036854775808" not in text else self.overflow, text)
                code, out = self.parse(text)
                self.assertEqual(code, 1, out)
                self.assertRegex(out, r"^not understood at line \d+: ")

    def overflow(self, text):
        """Python's numbers have no end; TOML asks for 64 bits only."""
        if tomllib.loads(text)["a"] >= 1 << 63:
            raise OverflowError

    def test_lines(self):
        for text, line in (("a = 1\nb = \n", 2), ("\n\n\n[x\n", 4), ('a = """\n\n"""\nb', 4), ("a = [\n1,\n2\n3]", 4), (b"a = 1\n\n'\xff'", 3)):
            with self.subTest(text):
                self.assertIn("line %d:" % line, self.parse(text)[1])

    def test_mutants_are_judged_alike(self):
        pieces = [char for text in GOOD + BAD for char in (text, text[: len(text) // 2])]
        random.seed(20)
        differences = []
        for _ in range(400):
            text = "\n".join(random.sample(pieces, 2))
            at = random.randrange(len(text) + 1)
            text = text[:at] + random.choice(["", "\n", "'", '"', "[", "]", ".", "=", "{", "}", ",", "_", "0", "#"]) + text[at + 1:]
            if "0x" in text or "9223372036854775808" in text:
                continue
            try:
                theirs = normal(tomllib.loads(text))
            except (tomllib.TOMLDecodeError, ValueError):
                theirs = None
            code, out = self.parse(text)
            mine = json.loads(out) if code == 0 else None
            if (mine is None) != (theirs is None):
                differences.append((text, mine, theirs))
        self.assertEqual(differences, [])

    def test_toml_of_an_enemy(self):
        for text in ("a = " + 100000 * "[", "a = " + 100000 * "{a=", ".".join(["a"] * 100000) + " = 1", "[" + ".".join(["a"] * 100000) + "]",
                     "a = '" + 500000 * "x" + "\n", 100000 * '"""\n'):
            code, out = self.parse(text)
            self.assertEqual(code, 1)
            self.assertIn("not understood", out)
        code, _ = self.parse("".join("k%d = 1\n" % number for number in range(60000)))
        self.assertEqual(code, 0)
        code, _ = self.parse("".join("[t%d]\na = ''''''\n" % number for number in range(40000)))
        self.assertEqual(code, 0)

    # ---- paths

    def test_paths_stay_in_their_root(self):
        top = os.path.join(self.directory, "top")
        os.makedirs(os.path.join(top, "a", "b"))

        def write(path, text):
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)

        def link(path, target):
            os.symlink(target, os.path.join(top, path))
        write(os.path.join(top, "file"), "inside")
        write(os.path.join(self.directory, "file"), "outside")
        write(os.path.join(top, "a", "b", "deep"), "deep")
        link("absolute", "/file")
        link("up", "../../../../../../../../../../file")
        link("a/b/relative", "../../file")
        link("a/chain", "/absolute")
        link("directory", "a/./b/")
        link("circle", "circle")
        link("long", "a/" * 2000)
        link("nothing", "/absent/file")
        os.mkfifo(os.path.join(top, "pipe"))
        cases = {"/file": "inside", "//file": "inside", "/a/../file": "inside", "/../../file": "inside", "/absolute": "inside",
                 "/up": "inside", "/a/b/relative": "inside", "/a/chain": "inside", "/directory/deep": "deep", "/directory/../../file": "inside",
                 "/a/b/deep": "deep", "/circle": "Too many levels of symbolic links", "/nothing": "No such file or directory",
                 "/file/x": "Not a directory", "/absent": "No such file or directory", "/pipe": "Invalid argument", "/a": "Is a directory",
                 "/": "Is a directory", "/" + 300 * "x": "File name too long", "/" + 3000 * "x/": "File name too long"}
        for path, expected in cases.items():
            for way in ("call", "walk"):
                with self.subTest(path[:40], way=way):
                    self.assertEqual(self.run_part(way, top, path)[1].strip(), expected)
        self.assertEqual(self.run_part("call", top, "/long")[1], self.run_part("walk", top, "/long")[1])

    def test_patterns(self):
        top = os.path.join(self.directory, "top")
        for name in ("c/a.toml", "c/.b.toml", "c/x.conf", "d/a.toml"):
            os.makedirs(os.path.dirname(os.path.join(top, name)), exist_ok=True)
            with open(os.path.join(top, name), "w", encoding="ascii"):
                pass
        os.symlink(".", os.path.join(top, "loop"))
        self.assertEqual(self.run_part("glob", top, "/c/*.toml")[1].split(), ["/c/.b.toml", "/c/a.toml", "all"])
        self.assertEqual(self.run_part("glob", top, "/[cd]/a.*")[1].split(), ["/c/a.toml", "/d/a.toml", "all"])
        self.assertEqual(self.run_part("glob", top, "/absent/*")[1].split(), ["all"])
        os.symlink(".", os.path.join(top, "loop2"))
        self.assertTrue(self.run_part("glob", top, "/*" * 25)[1].endswith("cut\n"))


unittest.main(verbosity=2)
