#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""test_logger.py PROGRAM: what nri-logger prints and changes."""
import json
import os
import select
import sys
import unittest

from case import Case, Program
from protobuf import field, fields, last, pairs, text_pairs
from runtime import ALL, CLASSIC, EVENTS, PATIENCE, POD_EVENTS, mask

PROGRAM = os.path.abspath(sys.argv.pop(1))
ODD = {
    "plain": "text",
    'quo"te': 'a "b" \\ c',
    "nul": "be\0hind",
    "lines": "one\ntwo\r\n\ttab\x1b\x7f",
    "ünï": "☃ 𝄞 \u2028",
    "empty": "",
    "slash": "</script>",
}
POD = (
    field(1, "pod0") + field(2, "web") + field(3, "uid0") + field(4, "shop")
    + pairs(5, {"app": "web"}) + pairs(6, ODD) + field(7, "runc") + field(9, 4711)
)  # fmt: skip
MOUNT = field(1, "/data") + field(2, "bind") + field(3, "/srv/data") + field(4, "ro") + field(4, "rbind")
CONTAINER = (
    field(1, "ctr0") + field(2, "pod0") + field(3, "front") + field(4, 3) + pairs(5, {"l": "1"})
    + pairs(6, ODD) + field(7, "sh") + field(7, "-c") + field(7, "a\0b") + field(8, "A=1") + field(8, "B=ü")
    + field(9, MOUNT) + field(12, 4712)
)  # fmt: skip


def records(program):
    """The lines of standard output, each of which must be an object of its own."""
    lines = program.out().split("\n")
    assert lines.pop() == "", "the last line has no end"
    return [json.loads(line) for line in lines]


class Events(Case):
    program = PROGRAM

    def configured(self, *arguments, **configuration):
        _, connection = self.connected(*arguments)
        return connection.start(**configuration)

    def test_all_by_default(self):
        self.assertEqual(self.configured(), ALL)

    def test_none_that_the_runtime_does_not_know(self):
        self.assertEqual(self.configured(version="2.1.9", nri=""), CLASSIC)

    def test_list(self):
        self.assertEqual(
            self.configured("--events", "RunPodSandbox, createcontainer"),
            mask("RunPodSandbox", "CreateContainer"),
        )

    def test_group(self):
        self.assertEqual(self.configured("-e", "pod"), mask(*POD_EVENTS))

    def test_changes_need_create_container(self):
        self.assertEqual(
            self.configured("--events", "StopContainer", "--add-env", "A=1"),
            mask("StopContainer", "CreateContainer"),
        )

    def refused(self, *arguments):
        program = self.run_program("--idx", "10", "--socket", self.listener.path, *arguments)
        self.assertEqual(program.ended(), 2)
        self.assertFalse(self.listener.is_waited_for())
        return program.err()

    def test_no_such_event(self):
        error = self.refused("--events", "RunPodSandbox,Bogus")
        self.assertIn('"Bogus"', error)
        self.assertEqual(error.count("\n"), 1, error)

    def test_no_event(self):
        self.assertIn("--events", self.refused("--events", ""))

    def test_change_without_a_value(self):
        self.assertIn("'A'", self.refused("--add-env", "A"))
        self.assertIn("'=1'", self.refused("--set-annotation", "=1"))

    def test_too_many_changes(self):
        self.assertIn("64", self.refused(*(["--add-env", "A=1"] * 65)))


class Changes(Case):
    program = PROGRAM

    def adjustment(self, *arguments):
        program, connection = self.connected(*arguments)
        connection.start()
        reply = fields(last(connection.create(), 1))
        self.assertEqual(program.end()[0], 0)
        return reply

    def test_add_and_set_env(self):
        adjust = self.adjustment("--add-env", "A=1", "--set-env", "B=two=2", "--add-env", "C=")
        self.assertEqual(text_pairs(adjust[4]), [("A", "1"), ("-B", ""), ("B", "two=2"), ("C", "")])

    def test_add_and_set_annotation(self):
        adjust = self.adjustment("--add-annotation", "a/b=ü", "--set-annotation", "c=3")
        self.assertEqual(dict(text_pairs(adjust[2])), {"a/b": "ü", "-c": "", "c": "3"})

    def test_nothing_by_default(self):
        self.assertEqual(self.adjustment(), {})

    def test_changes_without_printing(self):
        program, connection = self.connected("--events", "RunPodSandbox", "--add-env", "A=1")
        connection.start()
        self.assertIn(1, connection.create())
        self.assertEqual([record["event"] for record in records(program)], ["Configure", "Synchronize"])


class Lines(Case):
    program = PROGRAM

    def check_pod(self, pod):
        self.assertEqual(
            pod,
            {
                "id": "pod0", "name": "web", "namespace": "shop", "uid": "uid0",
                "runtime_handler": "runc", "pid": 4711, "labels": {"app": "web"}, "annotations": ODD,
            },
        )  # fmt: skip

    def check_container(self, container):
        mount = {"destination": "/data", "type": "bind", "source": "/srv/data", "options": ["ro", "rbind"]}
        self.assertEqual(
            container,
            {
                "id": "ctr0", "pod_sandbox_id": "pod0", "name": "front", "state": "running",
                "pid": 4712, "args": ["sh", "-c", "a\0b"], "env": ["A=1", "B=ü"], "mounts": [mount],
                "labels": {"l": "1"}, "annotations": ODD,
            },
        )  # fmt: skip

    def test_one_line_an_event(self):
        program, connection = self.connected()
        connection.start(config="[a]\nb = 1\n")
        for event in EVENTS:
            connection.event(event, POD, CONTAINER)
        printed = records(program)
        self.assertEqual([record["event"] for record in printed], ["Configure", "Synchronize", *EVENTS])
        self.assertEqual(
            printed[0],
            {
                "event": "Configure", "config": "[a]\nb = 1\n", "runtime": "containerd",
                "version": "2.4.0", "nri_version": "v0.12.2",
            },
        )  # fmt: skip
        for record in printed[2:]:
            self.check_pod(record.pop("pod"))
            if record["event"] not in POD_EVENTS:
                self.check_container(record.pop("container"))
            self.assertEqual(list(record), ["event"])
        self.assertEqual(program.end()[0], 0)
        self.assertEqual(program.err(), "")

    def test_state_change(self):
        program, connection = self.connected("--events", "StartContainer")
        connection.start(version="2.1.9", nri="")
        number = EVENTS.index("StartContainer") + 1
        connection.call("StateChange", field(1, number) + field(2, POD) + field(3, CONTAINER))
        printed = records(program)[-1]
        self.assertEqual(printed["event"], "StartContainer")
        self.check_pod(printed["pod"])
        self.check_container(printed["container"])

    def test_synchronize(self):
        program, connection = self.connected()
        connection.registration()
        connection.answer_registration()
        connection.configure()
        connection.call("Synchronize", field(1, POD) + field(2, CONTAINER) + field(2, CONTAINER))
        printed = records(program)[-1]
        self.assertEqual(printed["event"], "Synchronize")
        self.assertEqual((len(printed["pods"]), len(printed["containers"])), (1, 2))
        self.check_pod(printed["pods"][0])
        self.check_container(printed["containers"][1])

    def test_large_event(self):
        program, connection = self.connected()
        connection.start()
        annotations = {f"key{i}": '"' * 1000 for i in range(1000)}
        connection.event("RunPodSandbox", field(1, "pod0") + pairs(6, annotations))
        self.assertEqual(records(program)[-1]["pod"]["annotations"], annotations)

    def test_no_pod_at_all(self):
        program, connection = self.connected()
        connection.start()
        connection.call("RunPodSandbox")
        self.assertEqual(records(program)[-1], {"event": "RunPodSandbox"})


class Output(Case):
    """Whatever becomes of the output, containers start and get their changes."""

    program = PROGRAM

    def creates(self, connection, count=3):
        for _ in range(count):
            reply = connection.event("CreateContainer", POD, CONTAINER)
            self.assertEqual(text_pairs(fields(last(reply, 1))[4]), [("A", "1")])

    def check_reported_once(self, program, reason):
        self.assertEqual(program.end()[0], 0)
        self.assertEqual(program.err().count("\n"), 1, program.err())
        self.assertIn(reason, program.err())

    def test_reader_that_goes(self):
        """nri-logger | head -1"""
        reader, writer = os.pipe()
        program, connection = self.connected("--add-env", "A=1", stdout=writer)
        os.close(writer)
        connection.registration()
        connection.answer_registration()
        connection.configure()
        self.assertEqual(json.loads(os.read(reader, 4096))["event"], "Configure")
        os.close(reader)
        self.creates(connection)
        self.check_reported_once(program, "Broken pipe")

    def test_full_disk(self):
        with open("/dev/full", "wb") as full:
            program, connection = self.connected("--add-env", "A=1", stdout=full)
        connection.start()
        self.creates(connection)
        self.check_reported_once(program, "No space left")

    def test_no_output_at_all(self):
        """nri-logger >&-"""
        path = self.listener.path
        command = ["sh", "-c", 'exec "$@" >&-', "sh", self.program, "--idx", "10", "--socket", path]
        program = Program(self.directory, [*command, "--add-env", "A=1"])
        self.addCleanup(program.close)
        connection = self.listener.accept()
        connection.start()
        self.creates(connection)
        self.assertEqual(program.end()[0], 0)
        self.assertEqual(program.err(), "")

    def test_reader_that_does_not_read(self):
        reader, writer = os.pipe()
        program, connection = self.connected("--add-env", "A=1", stdout=writer)
        connection.start()
        large = field(1, "pod0") + pairs(6, {"large": "x" * 50000})
        for _ in range(8):
            connection.event("RunPodSandbox", large)
        self.assertIn("timed out", program.err())
        self.creates(connection)

        # It reads on: after the line that was cut, everything is whole again.
        got = b""
        while select.select([reader], [], [], 0)[0]:
            got += os.read(reader, 1 << 20)
        connection.event("RemovePodSandbox", field(1, "pod0"))
        while not got.endswith(b"}\n") or b"RemovePodSandbox" not in got:
            self.assertTrue(select.select([reader], [], [], PATIENCE)[0])
            got += os.read(reader, 1 << 20)
        whole, cut = [], 0
        for line in got.decode().splitlines():
            try:
                whole.append(json.loads(line)["event"])
            except ValueError:
                cut += 1
        self.assertEqual(whole, ["Configure", "Synchronize", "RunPodSandbox", "RemovePodSandbox"])
        self.assertEqual(cut, 1)
        self.assertIn("printing again", program.err())
        self.assertEqual(program.end()[0], 0)
        os.close(reader)
        os.close(writer)

    def test_U05_sigterm_while_the_reader_does_not_read(self):
        reader, writer = os.pipe()
        program, connection = self.connected(stdout=writer)
        connection.start()
        connection.event("RunPodSandbox", field(1, "pod0") + pairs(6, {"large": "x" * 100000}))
        status, seconds = program.end()
        self.assertEqual(status, 0)
        self.assertLess(seconds, 5)
        os.close(reader)
        os.close(writer)

    def test_help_that_cannot_be_printed(self):
        for option in ("--help", "--version"):
            with open("/dev/full", "wb") as full:
                self.assertEqual(self.run_program(option, stdout=full).ended(), 1)


if __name__ == "__main__":
    unittest.main()
