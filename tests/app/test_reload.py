#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Configurations while a plugin runs: files that change, SIGHUP, Configure; all or nothing."""
import os
import signal
import socket
import unittest

from app_case import AppCase, Connection, Program, Refusal
from protobuf import fields, last


class Reload(AppCase):
    def greeting(self, connection):
        """What a container is greeted with now."""
        adjustment = fields(last(connection.create(), 1))
        return last(fields(adjustment[4][0]), 2).decode()

    def again(self, program):
        """SIGHUP, and waits for what comes of it: the record."""
        before = program.err().count("was read again")
        program.process.send_signal(signal.SIGHUP)
        self.until(lambda: program.err().count("was read again") > before)
        return [line for line in program.err().splitlines() if "was read again" in line][-1]

    def test_SIGHUP(self):
        path = self.file("c.yaml", "greeting: one\n")
        program, connection = self.ready("--config", path)
        self.assertEqual(self.greeting(connection), "one")
        self.file("c.yaml", "greeting: two\n")
        self.assertIn("taken", self.again(program))
        self.assertEqual(self.greeting(connection), "two")
        self.ends_well(program)

    def test_handlers_run_between_reloads(self):
        """However often a reload is asked for: each of these asks for another."""
        path = self.file("c.yaml", "greeting: one\n")
        program, connection = self.ready("--config", path, "--reload-again")
        program.process.send_signal(signal.SIGHUP)
        self.until(lambda: program.out().count("reload test one\n") >= 3)
        for _ in range(3):
            self.assertEqual(self.greeting(connection), "one")
        self.ends_well(program)

    def test_wrong_one_changes_nothing(self):
        path = self.file("c.yaml", "greeting: one\n")
        program, connection = self.ready("--config", path)
        for text, part in [
            ("greetin: two\n", "greeting"),
            ("greeting: rude\n", "not polite"),
            ("greeting: two\nplace: there\n", "place"),
            ("greeting: two\nsleep: soon\n", "sleep"),
            ("greeting: [\n", "c.yaml"),
        ]:
            with self.subTest(text):
                self.file("c.yaml", text)
                record = self.again(program)
                self.assertIn("refused", record)
                self.assertIn(part, record)
                self.assertEqual(self.greeting(connection), "one")
        self.assertNotIn("reload", program.out())
        self.ends_well(program)

    def test_file_that_changes(self):
        path = self.file("c.yaml", "greeting: one\n")
        program, connection = self.ready("--config", path)
        self.file("c.yaml", "greeting: two\n")  # renamed into its place
        self.until(lambda: "reload test two\n" in program.out())
        with open(path, "w", encoding="utf-8") as file:  # written in its place
            file.write("greeting: three\n")
        self.until(lambda: "reload test three\n" in program.out())
        self.assertEqual(self.greeting(connection), "three")
        self.ends_well(program)

    def test_drop_in_that_comes_and_goes(self):
        path = self.file("c.yaml", "greeting: one\n")
        program, connection = self.ready("--config", path)
        os.mkdir(path + ".d")
        self.file("c.yaml.d/50.yaml", "greeting: dropped\n")
        self.until(lambda: "reload test dropped\n" in program.out())
        os.unlink(path + ".d/50.yaml")
        self.until(lambda: program.out().rstrip().endswith("reload test one"))
        self.ends_well(program)

    def test_link_that_is_switched(self):
        """As Kubernetes does: the file is a link through a directory that is a link."""
        for name, text in [("v1", "one"), ("v2", "two")]:
            os.mkdir(os.path.join(self.directory, name))
            self.file(name + "/c.yaml", f"greeting: {text}\n")
        os.symlink("v1", os.path.join(self.directory, "data"))
        path = os.path.join(self.directory, "c.yaml")
        os.symlink("data/c.yaml", path)
        program, connection = self.ready("--config", path)
        self.assertEqual(self.greeting(connection), "one")
        os.symlink("v2", os.path.join(self.directory, "data.new"))
        os.rename(os.path.join(self.directory, "data.new"), os.path.join(self.directory, "data"))
        self.until(lambda: "reload test two\n" in program.out())
        self.ends_well(program)


class Configure(AppCase):
    def test_goes_over_the_file(self):
        path = self.file("c.yaml", "greeting: file\nsleep: 1ms\n")
        program, connection = self.connected("--config", path)
        connection.start(config="greeting: runtime\n")
        self.assertIn("reload test runtime\nconfigure runtime\n", program.out())
        # It still does after a reload.
        self.file("c.yaml", "greeting: other\nsleep: 2ms\n")
        program.process.send_signal(signal.SIGHUP)
        self.until(lambda: program.out().count("reload test runtime\n") >= 2)
        # And no longer when the next runtime brings none.
        connection.close()
        again = self.listener.accept()
        again.start()
        self.assertIn("reload test other\nconfigure other\n", program.out())
        self.ends_well(program)

    def test_wrong_one_is_refused_with_the_reason(self):
        for config, part in [("greetin: a\n", "greeting"), ("greeting: rude\n", "not polite"),
                             ("place: elsewhere\n", "place")]:
            with self.subTest(config):
                program, connection = self.connected("--no-reconnect")
                connection.registration()
                connection.answer_registration()
                with self.assertRaises(Refusal) as refusal:
                    connection.configure(config=config)
                self.assertIn(part, str(refusal.exception))
                self.assertIn("10-test", str(refusal.exception))
                connection.close()
                self.assertEqual(program.ended(), 1)
                self.assertNotIn("configure", program.out())


class Launched(AppCase):
    """A program that its runtime starts: what is required may come with Configure."""

    def launched(self, *arguments, required="yes"):
        ours, theirs = socket.socketpair()
        with theirs:
            # The shell gives it the number that a runtime's launcher would.
            command = ["sh", "-c", f'exec "$@" 3<&{theirs.fileno()}', "sh", self.program, *arguments]
            environment = {"NRI_PLUGIN_SOCKET": "3", "TEST_REQUIRED": required}
            program = Program(self.directory, command, environment=environment, pass_fds=[theirs.fileno()])
        self.addCleanup(program.close)
        connection = Connection(ours)
        self.addCleanup(connection.close)
        return program, connection

    def registered(self, *arguments):
        program, connection = self.launched(*arguments)
        connection.registration()
        connection.answer_registration()
        return program, connection

    def test_required_comes_with_Configure(self):
        program, connection = self.registered()
        connection.configure(config="greeting: runtime\n")
        adjustment = fields(last(connection.create(), 1))
        self.assertEqual(last(fields(adjustment[4][0]), 2), b"runtime")
        self.assertEqual(program.out().splitlines()[:4],
                         ["prepare ", "start 10-test", "reload test runtime", "configure runtime"])
        self.ends_well(program)

    def test_required_does_not_come(self):
        for config in ("", "place: here\n"):
            with self.subTest(config):
                program, connection = self.registered()
                with self.assertRaises(Refusal) as refusal:
                    connection.configure(config=config)
                self.assertIn("greeting: is required, but not given", str(refusal.exception))
                connection.close()
                self.assertEqual(program.ended(), 1)
                self.assertNotIn("configure", program.out())

    def test_wrong_one_is_asked_about_when_it_is_whole(self):
        _, connection = self.registered()
        with self.assertRaises(Refusal) as refusal:
            connection.configure(config="greeting: rude\n")
        self.assertIn("not polite", str(refusal.exception))

    def test_fixed_one_cannot_come_later(self):
        program, _ = self.launched(required="fixed")
        self.assertEqual(program.ended(), 2)
        self.assertIn("place: is required, but not given", program.err())

    def test_check_config_wants_all_of_it(self):
        program, _ = self.launched("--check-config")
        self.assertEqual(program.ended(), 2)
        self.assertIn("greeting: is required, but not given", program.err())


if __name__ == "__main__":
    unittest.main()
