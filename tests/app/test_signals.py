#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""SIGHUP and SIGUSR2. (What ends is in test_end.py, what a reload does in test_reload.py.)"""
import signal
import unittest

from app_case import AppCase


class Signals(AppCase):
    def test_SIGUSR2_switches_the_bypass(self):
        program, connection = self.ready()
        for handled in (1, 2):
            self.assertIn(1, connection.create())
            self.assertEqual(program.out().count("create\n"), handled)
            before = program.err().count("bypass")
            program.process.send_signal(signal.SIGUSR2)
            self.until(lambda: program.err().count("bypass") > before)
            self.assertEqual(connection.create(), {})
            before = program.err().count("bypass")
            program.process.send_signal(signal.SIGUSR2)
            self.until(lambda: program.err().count("bypass") > before)
        self.ends_well(program)

    def test_SIGHUP_reloads(self):
        program, connection = self.ready("--config", self.file("c.yaml", "greeting: one\n"))
        program.process.send_signal(signal.SIGHUP)
        self.until(lambda: "reload test one\n" in program.out())
        self.ends_well(program)

    def test_SIGHUP_without_a_runtime(self):
        program = self.waits("--config", self.file("c.yaml", "greeting: one\n"))
        program.process.send_signal(signal.SIGHUP)
        self.until(lambda: "reload test one\n" in program.out())
        self.ends_well(program)

    def test_SIGPIPE_does_not_end_it(self):
        program, connection = self.ready()
        program.process.send_signal(signal.SIGPIPE)
        self.assertIn(1, connection.create())
        self.ends_well(program)


if __name__ == "__main__":
    unittest.main()
