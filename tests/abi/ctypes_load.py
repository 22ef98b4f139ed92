#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ctypes_load.py LIBRARY VERSION (case U08): what a binding does first, with the headers unseen."""
import ctypes
import sys
import unittest

LIBRARY, VERSION = sys.argv.pop(1), sys.argv.pop(1)


class LoadByName(unittest.TestCase):
    def setUp(self):
        self.lib = ctypes.CDLL(LIBRARY)
        self.lib.nri_version.restype = ctypes.c_char_p
        self.lib.nri_strerror.restype = ctypes.c_char_p
        self.lib.nri_strerror.argtypes = [ctypes.c_int]
        self.lib.nri_error_name.restype = ctypes.c_char_p
        self.lib.nri_error_name.argtypes = [ctypes.c_int]

    def test_U08_version(self):
        self.assertEqual(self.lib.nri_version().decode(), VERSION)

    def test_U08_error_texts_differ(self):
        texts = [self.lib.nri_strerror(code).decode() for code in range(0, -28, -1)]
        self.assertTrue(all(texts))
        self.assertEqual(len(set(texts)), len(texts))

    def test_U08_unknown_code_has_a_text(self):
        self.assertTrue(self.lib.nri_strerror(-9999).decode())
        self.assertEqual(self.lib.nri_error_name(-9999).decode(), "NRI_E_?")

    def test_U08_error_name(self):
        self.assertEqual(self.lib.nri_error_name(-13).decode(), "NRI_E_TIMEOUT")


if __name__ == "__main__":
    unittest.main()
