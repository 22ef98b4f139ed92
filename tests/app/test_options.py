#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The command line of nri-app: who the plugin is, each wrong use, what is printed."""
import json
import os
import unittest

from app_case import AppCase


class Identity(AppCase):
    def registered(self, *arguments, name=None, **environment):
        program = self.run_program("--socket", self.listener.path, *arguments, name=name, environment=environment)
        self.addCleanup(program.close)
        return self.listener.accept().registration()

    def test_of_the_program(self):
        self.assertEqual(self.registered(), ("10", "test"))

    def test_of_the_command_line(self):
        self.assertEqual(self.registered("-n", "bar", "-i", "20"), ("20", "bar"))
        self.assertEqual(self.registered("--name=baz", "--idx=21"), ("21", "baz"))

    def test_of_the_environment(self):
        environment = {"NRI_PLUGIN_NAME": "env", "NRI_PLUGIN_IDX": "30"}
        self.assertEqual(self.registered(**environment), ("30", "env"))

    def test_command_line_before_environment(self):
        environment = {"NRI_PLUGIN_NAME": "env", "NRI_PLUGIN_IDX": "30"}
        self.assertEqual(self.registered("-i", "20", **environment), ("20", "env"))

    def test_name_of_the_file_comes_last(self):
        self.assertEqual(self.registered(name="44-other"), ("10", "test"))


class Wrong(AppCase):
    """Exit status 2, one line on standard error, and nobody has connected."""

    def refused(self, *arguments, status=2, **kwargs):
        program = self.run_program("--socket", self.listener.path, *arguments, **kwargs)
        self.assertEqual(program.ended(), status, program.err())
        self.assertFalse(self.listener.is_waited_for())
        self.assertEqual(program.err().count("\n"), 1, program.err())
        self.assertNotIn("start", program.out())
        return program.err()

    def test_each(self):
        good = self.file("good.yaml", "greeting: hi\n")
        for arguments, part in [
            (["--bogus"], "--bogus"),
            (["--bogus=secret"], "--bogus: there is no such option"),
            (["-x"], "-x: there is no such option"),
            (["--bypass", "-xh"], "-x: there is no such option"),
            (["-fgood", "-xf"], "-x: there is no such option"),
            (["-f"], "-f: needs an argument"),
            (["--name"], "--name: needs an argument"),
            (["--bypass=1"], "--bypass: takes no argument"),
            (["--log=x"], "--log: is ambiguous"),
            (["stray", "--bogus"], "--bogus: there is no such option"),
            (["a\nb\x1b[31m"], '"a\\u000ab\\u001b[31m"'),
            (["stray"], '"stray"'),
            (["--", "--name"], '"--name"'),
            (["--idx", "1x"], '"1x"'),
            (["--idx", "123"], '"123"'),
            (["--name", "a b"], '"a b"'),
            (["--log-level", "loud"], "error, warn, info, debug"),
            (["--log-level", ""], "error, warn, info, debug"),
            (["--log-format", "xml"], "text, json"),
            (["--http", "9090"], "HOST:PORT"),
            (["--http", "localhost:http"], "65535"),
            (["--http", "localhost:65536"], "65535"),
            (["--http", "::1:80"], "brackets"),
            (["--http", "[::1:80"], "HOST:PORT"),
            (["--http", "[]:80"], "HOST:PORT"),
            (["--http", "unix:"], "missing"),
            (["--http", "unix:/" + "x" * 107], "107"),
            (["--http", "h" * 300 + ":80"], "255"),
            (["--flag", "bad"], "is a bad value"),
            (["-f", "bad"], "is a bad value"),
            (["--socket", "/" + "x" * 107], "107"),
            (["--config", os.path.join(self.directory, "missing.yaml")], "missing.yaml"),
            (["--config", self.file("bad.yaml", "greetin: hi\n")], "greeting"),
            (["--config", self.file("rude.yaml", "greeting: rude\n")], "not polite"),
            (["--config", good, "--config", self.file("b.json", "{")], "b.json:1"),
        ]:
            with self.subTest(arguments):
                self.assertIn(part, self.refused(*arguments))

    def test_U06_each_of_the_case(self):
        """Refused before anything is connected, with the file, the place and the reason of each."""
        for text, place, reason in [
            ("\nsleeep: 25s\n", "2: sleeep", "no such key; did you mean sleep?"),
            ("sleep: true\n", "1: sleep", "must be a duration"),
            ("sleep: 25x\n", "1: sleep", '"25x" has a unit that there is not'),
            ("timeouts:\n  request: 0s\n", "2: timeouts.request", '"0s" is out of range: 1ms to 1m'),
            ("request: 25s\n", "1: request", "is misplaced: it belongs into \"timeouts\""),
        ]:
            with self.subTest(text):
                path = self.file("u06.yaml", text)
                error = self.refused("--config", path)
                self.assertIn(f"{path}:{place}: ", error)
                self.assertIn(reason, error)

    def test_as_json(self):
        """From the option on, what is wrong is told to whoever reads the log."""
        form = ("--log-format", "json")
        for arguments, part in [
            (["--bogus"], "--bogus: there is no such option"),
            (["-x"], "-x: there is no such option"),
            (["--name"], "--name: needs an argument"),
            (["stray\n\"'"], "\"stray\n\"'\""),
            (["--log-level", "loud"], "error, warn, info, debug"),
            (["--http", "9090"], "HOST:PORT"),
            (["--flag", "bad"], "is a bad value"),
            (["--idx", "1x"], '"1x"'),
            (["--config", os.path.join(self.directory, "missing.yaml")], "missing.yaml"),
            (["--config", self.file("bad.yaml", "greetin: hi\n")], "bad.yaml:1: greetin"),
        ]:
            with self.subTest(arguments):
                record = json.loads(self.refused(*form, *arguments))
                self.assertIn(part, record["message"])
                self.assertEqual((record["level"], record["program"]), ("error", "nri-app-plugin"))
        with self.subTest("the environment"):
            record = json.loads(self.refused(*form, environment={"NRI_BYPASS": "yes"}))
            self.assertIn("NRI_BYPASS", record["message"])
        with self.subTest("what cannot listen"):
            path = os.path.join(self.directory, "missing", "http.sock")
            record = json.loads(self.refused(*form, "--http", "unix:" + path, status=1))
            self.assertIn("missing", record["message"])
        with self.subTest("what came before it"):
            self.assertEqual(self.refused("--bogus", *form), "nri-app-plugin: --bogus: there is no such option\n")

    def test_bypass_in_the_environment(self):
        self.assertIn("NRI_BYPASS", self.refused(environment={"NRI_BYPASS": "yes"}))

    def test_program_that_cannot_start(self):
        program = self.run_program("--socket", self.listener.path, "--refuse-start")
        self.assertEqual(program.ended(), 1)
        self.assertIn("cannot start", program.err())
        self.assertEqual(program.out(), "prepare hello\nstart 10-test\nstop\n")
        self.assertFalse(self.listener.is_waited_for())

    def test_http_address_in_use(self):
        program = self.run_program("--socket", self.listener.path, "--http", "unix:" + self.listener.path)
        self.assertEqual(program.ended(), 1)
        self.assertIn("somebody listens there already", program.err())


class Printed(AppCase):
    def printed(self, *arguments, status=0):
        program = self.run_program(*arguments)
        self.assertEqual(program.ended(), status, program.err())
        self.assertEqual(program.err(), "")
        return program.out()

    def test_version(self):
        for option in ("--version", "-V"):
            self.assertEqual(self.printed(option), "nri-app-plugin 1.2.3\n")

    def test_help(self):
        for option in ("--help", "-h"):
            out = self.printed(option)
            for word in """--name --idx --socket --config --log-level --log-format --http --bypass --no-reconnect
                    --print-config --check-config --version --help --flag greeting hello Greets""".split():
                self.assertIn(word, out)
            self.assertIn("how long a creation takes [duration, 0s to 1h] (default: 0s)\n", out)
            self.assertIn("nobody's business [text]\n", out)
            self.assertEqual([line for line in out.splitlines() if line.endswith(" ")], [])

    def test_print_config(self):
        path = self.file("c.yaml", "greeting: moin\npassword: hunter2\n")
        out = self.printed("--config", path, "--print-config")
        self.assertIn("moin", out)
        self.assertIn('"***"', out)
        self.assertNotIn("hunter2", out)
        self.assertNotIn("prepare", out)

    def test_U06_a_valid_one(self):
        path = self.file("c.yaml", "timeouts:\n  request: 25s\n")
        self.assertIn('request: "25s"', self.printed("--config", path, "--print-config"))

    def test_check_config(self):
        path = self.file("c.yaml", "greeting: moin\n")
        self.assertEqual(self.printed("--config", path, "--check-config"), "the configuration is valid\n")

    def test_standard_output_that_is_full(self):
        for option in ("--help", "--version", "--print-config", "--check-config"):
            with open("/dev/full", "wb") as full:
                program = self.run_program(option, stdout=full)
            self.assertEqual(program.ended(), 1)
            self.assertIn("standard output", program.err())


class Bypass(AppCase):
    def test_by_option_and_environment(self):
        for arguments, environment in [(["--bypass"], {}), ([], {"NRI_BYPASS": "1"})]:
            program, connection = self.ready(*arguments, environment=environment)
            self.assertEqual(connection.create(), {})
            self.assertNotIn("create\n", program.out())
            self.ends_well(program)

    def test_not_by_an_environment_of_zero(self):
        for value in ("0", ""):
            program, connection = self.ready(environment={"NRI_BYPASS": value})
            self.assertIn(1, connection.create())
            self.ends_well(program)


class Reconnect(AppCase):
    def test_by_default(self):
        program, connection = self.ready()
        connection.close()
        self.listener.accept().start()
        self.ends_well(program)

    def test_waits_for_the_first_runtime(self):
        program = self.waits()
        self.ends_well(program)
        self.assertEqual(program.out(), "prepare hello\nstart 10-test\nstop\n")

    def test_not_with_the_option(self):
        program, connection = self.ready("--no-reconnect")
        connection.close()
        self.assertEqual(program.ended(), 1)
        self.assertEqual(program.out().splitlines()[-1], "stop")

    def test_U05_no_runtime_and_not_with_the_option(self):
        path = os.path.join(self.directory, "missing.sock")
        program = self.run_program("--socket", path, "--no-reconnect")
        self.assertEqual(program.ended(), 1)
        self.assertIn(path, program.err())


if __name__ == "__main__":
    unittest.main()
