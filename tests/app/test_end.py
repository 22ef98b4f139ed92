#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How a plugin of nri-app ends: with what is pending, and with what never ends."""
import json
import os
import signal
import threading
import unittest

from app_case import HURRY, AppCase


class Pending(AppCase):
    def creating(self, sleep, *arguments):
        """A program in whose handler a creation is; what becomes of that lands in `answers`."""
        path = self.file("c.yaml", f"sleep: {sleep}\n")
        program, connection = self.ready("--config", path, *arguments)
        answers = []

        def create():
            try:
                answers.append(connection.create())
            except (EOFError, ConnectionError) as error:
                answers.append(error)

        thread = threading.Thread(target=create)
        thread.start()
        self.addCleanup(thread.join)
        self.until(lambda: "create\n" in program.out())
        return program, thread, answers

    def test_U05_pending_request_is_answered(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            with self.subTest(number):
                program, thread, answers = self.creating("300ms")
                status, seconds = program.end(number)
                thread.join()
                self.assertEqual((status, [1 in answer for answer in answers]), (0, [True]), program.err())
                self.assertLess(seconds, HURRY)
                self.assertEqual(program.out().splitlines()[-2:], ["created", "stop"])

    def test_handler_that_does_not_return(self):
        http = os.path.join(self.directory, "http.sock")
        program, thread, answers = self.creating("1h", "--http", "unix:" + http)
        self.assertTrue(os.path.exists(http))
        status, seconds = program.end()
        thread.join()
        self.assertEqual(status, 0, program.err())
        self.assertLess(seconds, HURRY)
        self.assertIsInstance(answers[0], (EOFError, ConnectionError))
        self.assertIn("the program ends without it", program.err())
        self.assertNotIn("stop", program.out())
        self.assertFalse(os.path.exists(http))

    def test_second_signal_changes_nothing(self):
        program, thread, answers = self.creating("300ms")
        program.process.send_signal(signal.SIGTERM)
        self.until(lambda: "the plugin ends" in program.err())
        program.process.send_signal(signal.SIGINT)
        program.process.send_signal(signal.SIGHUP)
        status, seconds = program.end()
        thread.join()
        self.assertEqual((status, [1 in answer for answer in answers]), (0, [True]), program.err())
        self.assertEqual(program.err().count("the plugin ends"), 1)


class Other(AppCase):
    def test_before_the_runtime_answers(self):
        program, connection = self.connected()
        connection.registration()
        self.ends_well(program)

    def test_T20_shut_down_by_the_runtime(self):
        """The program serves until the end of the connection."""
        program, connection = self.ready("--no-reconnect")
        connection.call("Shutdown")
        self.assertIn(1, connection.create())  # it still answers
        connection.close()
        self.assertEqual(program.ended(), 1)

    def test_T20_shut_down_and_back(self):
        """An ordinary thing: nothing to warn of."""
        program, connection = self.ready("--log-format", "json")
        connection.call("Shutdown")
        connection.close()
        again = self.listener.accept()
        again.start()
        self.assertEqual([line for line in program.err().splitlines() if json.loads(line)["level"] != "info"], [])
        self.ends_well(program)

    def test_on_stop_that_does_not_return(self):
        program, connection = self.ready("--block-stop")
        status, seconds = program.end()
        self.assertEqual(status, 0)
        self.assertLess(seconds, HURRY + 0.1)
        self.assertEqual(program.out().splitlines()[-1], "stop")

    def test_on_stop_that_does_not_return_after_a_failure(self):
        program, connection = self.ready("--block-stop", "--no-reconnect")
        connection.close()
        self.assertEqual(program.ended(), 1)

    def test_refused_registration(self):
        program, connection = self.connected("--no-reconnect")
        connection.registration()
        connection.answer_registration(refusal="no more plugins today")
        self.assertEqual(program.ended(), 1)
        self.assertIn("no more plugins today", program.err())

    def test_closed_standard_descriptors(self):
        """A connection must not become standard error."""
        program, connection = self.connected(
            preexec_fn=lambda: [os.close(number) for number in (0, 1, 2)])
        connection.start()
        self.assertIn(1, connection.create())
        self.ends_well(program)

    def test_before_the_loop(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            with self.subTest(number):
                program = self.run_program("--idx", "10", "--block-prepare")
                self.until(lambda: "prepare " in program.out())
                program.process.send_signal(signal.SIGHUP)
                program.process.send_signal(signal.SIGUSR2)
                self.ends_well(program)

    def test_signals_that_a_parent_blocked(self):
        blocked = {signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR2}
        program, connection = self.ready(
            preexec_fn=lambda: signal.pthread_sigmask(signal.SIG_BLOCK, blocked))
        program.process.send_signal(signal.SIGUSR2)
        self.until(lambda: "bypass on" in program.err())
        self.ends_well(program)

    def test_blocked_and_ignored_signals(self):
        """What a parent left behind."""

        def block():
            signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGALRM})
            signal.signal(signal.SIGALRM, signal.SIG_IGN)

        program, connection = self.ready("--block-stop", preexec_fn=block)
        status, seconds = program.end()
        self.assertEqual(status, 0)
        self.assertLess(seconds, HURRY + 0.1)


if __name__ == "__main__":
    unittest.main()
