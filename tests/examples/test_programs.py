#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""test_programs.py PROGRAM NAME VERSION [ARGUMENT...]: what every example program does alike: identity (case
U04), exit status (case U05), the usual options."""
import os
import signal
import sys
import unittest

from case import Case

PROGRAM, NAME, VERSION = os.path.abspath(sys.argv[1]), *sys.argv[2:4]
ENDING = sys.argv[4:]  # with these the program ends when its connection does
del sys.argv[1:]


class Identity(Case):
    program = PROGRAM

    def registered(self, name, *arguments, **environment):
        self.run_program("--socket", self.listener.path, *arguments, name=name, environment=environment)
        return self.listener.accept().registration()

    def test_U04_options(self):
        self.assertEqual(self.registered("10-foo", "--name", "bar", "--idx", "20"), ("20", "bar"))

    def test_U04_short_options(self):
        self.assertEqual(self.registered("10-foo", "-n", "bar", "-i", "20"), ("20", "bar"))

    def test_U04_environment(self):
        environment = {"NRI_PLUGIN_NAME": "env", "NRI_PLUGIN_IDX": "30"}
        self.assertEqual(self.registered("10-foo", **environment), ("30", "env"))

    def test_U04_options_before_environment(self):
        environment = {"NRI_PLUGIN_NAME": "env", "NRI_PLUGIN_IDX": "30"}
        self.assertEqual(self.registered("10-foo", "--idx", "20", **environment), ("20", "env"))

    def test_U04_name_of_the_program(self):
        self.assertEqual(self.registered("10-foo"), ("10", "foo"))

    def refused(self, name, *arguments):
        program = self.run_program("--socket", self.listener.path, *arguments, name=name)
        self.assertEqual(program.ended(), 2, program.err())
        self.assertFalse(self.listener.is_waited_for())
        self.assertEqual(program.out(), "")
        return program.err()

    def test_U04_no_index(self):
        error = self.refused("foo")
        self.assertIn("index", error)
        self.assertEqual(error.count("\n"), 1, error)

    def test_U04_bad_index(self):
        self.assertIn('"1x"', self.refused("10-foo", "--idx", "1x"))

    def test_U04_bad_name(self):
        self.assertIn('"a b"', self.refused("10-foo", "--name", "a b"))


class ExitStatus(Case):
    program = PROGRAM

    def test_U05_nothing_to_connect_to(self):
        path = os.path.join(self.directory, "missing.sock")
        program = self.run_program("--idx", "10", "--socket", path, *ENDING)
        self.assertEqual(program.ended(), 1)
        self.assertEqual(program.err().count("\n"), 1, program.err())
        self.assertIn(path, program.err())

    def test_U05_refused_registration(self):
        program, connection = self.connected(*ENDING)
        connection.registration()
        connection.answer_registration(refusal="no more plugins today")
        self.assertEqual(program.ended(), 1)
        self.assertEqual(program.err().count("\n"), 1, program.err())
        self.assertIn("no more plugins today", program.err())

    def test_U05_lost_connection(self):
        program, connection = self.connected(*ENDING)
        connection.start()
        before = program.err()
        connection.close()
        self.assertEqual(program.ended(), 1)
        lines = program.err()[len(before) :]
        self.assertEqual(lines.count("\n"), 1, lines)
        self.assertIn("closed", lines)

    def test_U05_signals(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            with self.subTest(number):
                program, connection = self.connected()
                connection.start()
                before = program.err()
                status, seconds = program.end(number)
                self.assertEqual(status, 0)
                self.assertLess(seconds, 5)
                self.assertEqual(program.err(), before)

    def test_U05_sigterm_before_the_runtime_answers(self):
        program, connection = self.connected()
        connection.registration()
        status, seconds = program.end()
        self.assertEqual(status, 0)
        self.assertLess(seconds, 5)
        self.assertEqual(program.err(), "")


class Options(Case):
    program = PROGRAM

    def test_version(self):
        for option in ("--version", "-V"):
            program = self.run_program(option)
            self.assertEqual(program.ended(), 0)
            self.assertEqual(program.out(), f"{NAME} {VERSION}\n")
            self.assertEqual(program.err(), "")

    def test_help(self):
        for option in ("--help", "-h"):
            program = self.run_program(option)
            self.assertEqual(program.ended(), 0)
            for word in (f"usage: {NAME}", "--name", "--idx", "--socket", "--version"):
                self.assertIn(word, program.out())
            self.assertEqual(program.err(), "")

    def refused(self, *arguments):
        program = self.run_program("--idx", "10", "--socket", self.listener.path, *arguments)
        self.assertEqual(program.ended(), 2)
        self.assertEqual(program.out(), "")
        self.assertFalse(self.listener.is_waited_for())
        return program.err()

    def test_unknown_option(self):
        self.assertIn("--bogus", self.refused("--bogus"))

    def test_option_without_its_argument(self):
        self.assertIn("--name", self.refused("--name"))

    def test_argument_too_many(self):
        self.assertIn(NAME, self.refused("stray"))


class Output(Case):
    """Nobody may read what a plugin prints: containers go on all the same."""

    program = PROGRAM

    def test_closed_standard_error(self):
        reader, writer = os.pipe()
        path = self.listener.path
        program = self.run_program(
            "--idx", "10", "--socket", path, stdout=writer, stderr=writer
        )
        os.close(writer)
        os.close(reader)
        connection = self.listener.accept()
        connection.start()
        for _ in range(3):
            connection.create()
        self.assertEqual(program.end()[0], 0)


if __name__ == "__main__":
    unittest.main()
