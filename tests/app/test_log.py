#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The log: JSON lines that a collector can take, text, journald's priorities, and readers that do not
read."""
import json
import os
import re
import socket
import unittest

from app_case import AppCase
from protobuf import field


class Lines(AppCase):
    def logged(self, *arguments, **kwargs):
        """The program after a creation, and its log."""
        program, connection = self.ready(*arguments, **kwargs)
        connection.create()
        self.ends_well(program)
        return program.err()

    def test_json(self):
        records = [json.loads(line) for line in self.logged("--log-format", "json", "-l", "debug").splitlines()]
        for record in records:
            self.assertRegex(record["time"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$")
            self.assertEqual(record["program"], "nri-app-plugin")
            self.assertIn(record["level"], ("error", "warn", "info", "debug"))
        own = [record for record in records if record["level"] == "warn"]
        self.assertEqual([record["message"] for record in own], ['a "quoted" warning\nwith a second line'])
        events = [record for record in records if record.get("event") == "CreateContainer"]
        self.assertTrue(any(record.get("container") == "ctr0" and record.get("pod") == "pod0"
                            and record.get("plugin") == "10-test" for record in events), records)

    def test_text(self):
        text = self.logged("-l", "debug")
        form = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z (error|warn|info|debug) [\w-]+: .+"
        for line in text.splitlines():
            self.assertRegex(line, f"^{form}$")
        self.assertRegex(text, r"10-test: CreateContainer received.* \[pod=pod0 container=ctr0\]\n")
        self.assertIn('a "quoted" warning\\u000awith a second line', text)

    def test_text_names_nothing_twice(self):
        """Neither what every message about an event begins with, nor what the guard says of a request."""
        path = self.file("c.yaml", "sleep: 400ms\n")
        program, connection = self.connected("--config", path, "-l", "debug")
        connection.registration()
        connection.answer_registration()
        connection.call("Configure", field(2, "containerd") + field(3, "2.4.0") + field(5, 150) + field(6, "v0.12.2"))
        connection.call("Synchronize")
        self.assertEqual(connection.create(), {})  # the guard answers
        self.ends_well(program)
        lines = [line for line in program.err().splitlines() if "ctr0" in line]
        self.assertTrue([line for line in lines if "lets it pass unchanged" in line], lines)
        for line in lines:
            for name in ("CreateContainer", "pod0", "ctr0"):
                self.assertEqual(line.count(name), 1, line)

    def test_level(self):
        for level, expected in [("error", 0), ("warn", 1)]:
            self.assertEqual(self.logged("--log-level", level).count("\n"), expected)

    def test_no_value_of_the_environment_and_no_secret(self):
        path = self.file("c.yaml", "greeting: sesame\npassword: hunter2\n")
        text = self.logged("--config", path, "-l", "debug")
        self.assertNotIn("sesame", text)
        self.assertNotIn("hunter2", text)

    def test_long_message_is_cut_and_still_json(self):
        long = "y" * 6000
        path = self.file("c.yaml", "greeting: hi\n")
        program, connection = self.ready("--config", path, "--log-format", "json")
        self.file("c.yaml", f"{long}: 1\n")
        self.until(lambda: "refused" in program.err())
        for line in program.err().splitlines():
            self.assertLess(len(line), 4096)
            json.loads(line)
        self.ends_well(program)


class Journal(AppCase):
    def journal(self, *arguments, right=True):
        """What a program writes to what systemd says is the journal."""
        ours, theirs = socket.socketpair()
        self.addCleanup(ours.close)
        status = os.fstat(theirs.fileno())
        stream = f"{status.st_dev}:{status.st_ino + (0 if right else 1)}"
        program, connection = self.ready(*arguments, stderr=theirs, environment={"JOURNAL_STREAM": stream})
        theirs.close()
        connection.create()
        self.ends_well(program)
        ours.settimeout(30)
        text = b""
        while True:
            more = ours.recv(65536)
            if not more:
                return text.decode()
            text += more

    def test_priorities_and_no_time(self):
        lines = self.journal().splitlines()
        for line in lines:
            self.assertRegex(line, r"^<[346]>(error|warn|info) [\w-]+: ")
        self.assertTrue([line for line in lines if line.startswith("<4>warn")])
        self.assertTrue([line for line in lines if line.startswith("<6>info")])

    def test_json(self):
        for line in self.journal("--log-format", "json").splitlines():
            self.assertRegex(line, r"^<\d>\{")
            json.loads(line[3:])

    def test_not_ours(self):
        self.assertNotRegex(self.journal(right=False), re.compile("^<", re.MULTILINE))


class NobodyReads(AppCase):
    def test_full_pipe_costs_lines_and_no_time(self):
        reader, writer = os.pipe()
        self.addCleanup(os.close, reader)
        os.set_blocking(writer, False)
        while True:
            try:
                os.write(writer, b"x" * 4096)
            except BlockingIOError:
                break
        os.set_blocking(writer, True)
        program, connection = self.connected(stderr=writer)
        os.close(writer)
        connection.start()
        for _ in range(3):
            self.assertIn(1, connection.create())
        # Read it, and the program says what is missing.
        os.read(reader, 1 << 20)
        connection.create()
        self.ends_well(program)
        os.set_blocking(reader, False)
        self.assertRegex(os.read(reader, 1 << 20).decode(), r"warn .*: \d+ lines were lost: nobody read them\n")

    def test_closed_pipe(self):
        reader, writer = os.pipe()
        program, connection = self.connected(stderr=writer)
        os.close(writer)
        os.close(reader)
        connection.start()
        for _ in range(3):
            self.assertIn(1, connection.create())
        self.ends_well(program)


if __name__ == "__main__":
    unittest.main()
