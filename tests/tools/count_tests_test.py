#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tools/count-tests.py decides what tools/test.sh says at its end, so it is tested itself."""
import importlib.util
import os
import sys
import unittest

sys.dont_write_bytecode = True
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
spec = importlib.util.spec_from_file_location(
    "count_tests", os.path.join(ROOT, "tools", "count-tests.py"))
count_tests = importlib.util.module_from_spec(spec)
spec.loader.exec_module(count_tests)

CMOCKA = """[==========] Running 5 test(s).
[ RUN      ] test_a
[       OK ] test_a
[==========] 5 test(s) run.
[  PASSED  ] 3 test(s).
[  SKIPPED ] 1 test(s), listed below:
[  SKIPPED ] test_d
[  FAILED  ] 1 test(s), listed below:
[  FAILED  ] test_e

 1 FAILED TEST(S)
"""


class Count(unittest.TestCase):
    def count(self, result, stdout=None, stderr=None):
        return count_tests.count({"result": result, "stdout": stdout, "stderr": stderr})

    def test_silent_program(self):
        self.assertEqual(self.count("OK"), (1, 0, 0))
        self.assertEqual(self.count("FAIL", "oops"), (0, 1, 0))
        self.assertEqual(self.count("SKIP", "no root"), (0, 0, 1))
        for result in ("TIMEOUT", "ERROR", "INTERRUPT", "UNEXPECTEDPASS"):
            self.assertEqual(self.count(result), (0, 1, 0))

    def test_cmocka(self):
        self.assertEqual(self.count("OK", stderr="[  PASSED  ] 12 test(s).\n"), (12, 0, 0))
        self.assertEqual(self.count("FAIL", stderr=CMOCKA), (3, 1, 1))

    def test_crash_after_passes_is_a_failure(self):
        self.assertEqual(self.count("FAIL", stderr="[  PASSED  ] 4 test(s).\nSegmentation fault"),
                         (4, 1, 0))

    def test_failures_that_meson_did_not_see_count(self):
        self.assertEqual(self.count("OK", stdout="7 passed, 2 failed\n"), (7, 2, 0))

    def test_unittest(self):
        self.assertEqual(self.count("OK", stderr="Ran 9 tests in 0.1s\n\nOK\n"), (9, 0, 0))
        self.assertEqual(
            self.count("FAIL", stderr="Ran 9 tests in 0.1s\n\n"
                                      "FAILED (failures=1, errors=2, skipped=1)\n"), (5, 3, 1))

    def test_scripts(self):
        self.assertEqual(self.count("OK", stdout="a\n3 passed, 0 failed\nb\n4 passed, 0 failed\n"),
                         (7, 0, 0))
        self.assertEqual(self.count("OK", stdout="3 passed, 0 failed, 1 skipped\n"), (3, 0, 1))


if __name__ == "__main__":
    unittest.main()
