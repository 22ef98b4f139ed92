#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""test_scripted.py PROGRAM: each key of nri-scripted's scripts, and each line of its report."""
import json
import os
import subprocess
import sys
import time
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), os.pardir, "examples"))
from case import Case  # noqa: E402
from events import until  # noqa: E402
from protobuf import field, fields, last, pairs, text_pairs  # noqa: E402
from runtime import ALL, PATIENCE, PLUGIN_SERVICE, REQUEST, RESPONSE, RUNTIME_SERVICE, Refusal  # noqa: E402

PROGRAM = os.path.abspath(sys.argv.pop(1))
POD = field(1, "pod0") + field(2, "web")
CONTAINER = field(1, "ctr0") + field(2, "pod0") + field(3, "front")
SHARES = {"linux": {"resources": {"cpu": {"shares": 333}}}}


def shares_of(update):
    """(container, CPU shares) of a ContainerUpdate."""
    message = fields(update)
    cpu = fields(last(fields(last(fields(last(message, 2)), 1)), 2))
    return last(message, 1).decode(), last(fields(last(cpu, 1)), 1, 0)


class Scripted(Case):
    program = PROGRAM

    def write(self, *rules, text=None):
        path = os.path.join(self.directory, "script.json")
        with open(path, "w", encoding="utf-8") as file:
            file.write(json.dumps({"rules": rules}) if text is None else text)
        return path

    def play(self, *rules, arguments=(), **configuration):
        """Runs the script up to the first event."""
        self.report = os.path.join(self.directory, "report.jsonl")
        options = ["--script", self.write(*rules), "--report", self.report]
        self.running, self.connection = self.connected(*options, *arguments)
        self.mask = self.connection.start(**configuration)

    def event(self, name, pod=POD, container=CONTAINER):
        return self.connection.event(name, pod, container)

    def lines(self, what=None):
        with open(self.report, encoding="utf-8") as file:
            records = [json.loads(line) for line in file.read().splitlines()]
        return [record for record in records if what in (None, record["what"])]

    def wait_lines(self, what, count):
        """The first COUNT lines of a kind, which come when something else is done."""
        if not until(lambda: len(self.lines(what)) >= count, self.report, PATIENCE):
            self.fail("%d lines %s do not come: %s" % (count, what, self.lines()))
        return self.lines(what)[:count]

    def updates(self, failed=(), refusal=None, answer=True):
        """Takes one UpdateContainers of the plugin and answers it: its updates."""
        stream, kind, data = self.connection._receive(RUNTIME_SERVICE)
        request = fields(data)
        self.assertEqual((kind, last(request, 2)), (REQUEST, b"UpdateContainers"))
        if answer:
            status = field(1, field(1, 2) + field(2, refusal)) if refusal else b""
            payload = b"".join(field(1, field(1, name)) for name in failed)
            self.connection._send(RUNTIME_SERVICE, stream, RESPONSE, status + field(2, payload))
        return [shares_of(update) for update in fields(last(request, 3)).get(1, [])]

    # What is reported without any rule

    def test_report(self):
        self.play()
        self.assertEqual(self.mask, ALL)
        self.assertEqual(self.event("RunPodSandbox"), {})
        self.assertEqual(self.event("CreateContainer"), {})
        told = self.lines("event")
        self.assertEqual([one["event"] for one in told], ["Configure", "Synchronize", "RunPodSandbox", "CreateContainer"])
        self.assertEqual([one["pod"] for one in told], ["", "", "pod0", "pod0"])
        self.assertEqual([one["container"] for one in told], ["", "", "", "ctr0"])
        now = time.monotonic() * 1000
        for one in told:
            self.assertGreaterEqual(one["ms"], 0)
            self.assertTrue(now - PATIENCE * 1000 < one["at_ms"] <= now, one)
        self.assertEqual(os.stat(self.report).st_mode & 0o777, 0o600)

    def test_report_of_synchronize(self):
        self.report = os.path.join(self.directory, "report.jsonl")
        self.running, connection = self.connected("--report", self.report)
        connection.registration()
        connection.answer_registration()
        connection.configure()
        connection.call("Synchronize", field(1, POD) + field(2, CONTAINER) + field(2, field(1, 'q"\\\n')))
        told = self.lines("event")[-1]
        self.assertEqual((told["pods"], told["containers"]), (["pod0"], ["ctr0", 'q"\\\n']))

    def test_close(self):
        self.play(arguments=["--no-reconnect"])
        self.connection.close()
        self.assertEqual(self.running.ended(), 1)
        [close] = self.lines("close")
        self.assertEqual(close["code"], "NRI_E_CLOSED")
        self.assertIn("closed", close["reason"])

    def test_connects_again(self):
        self.play({"event": "RunPodSandbox", "first": True, "error": "only once in the program's life"})
        with self.assertRaises(Refusal):
            self.event("RunPodSandbox")
        self.connection.close()
        self.connection = self.listener.accept()
        self.connection.start()
        self.event("RunPodSandbox")
        self.assertEqual(len(self.lines("close")), 1)
        self.assertEqual([one["event"] for one in self.lines("event")], ["Configure", "Synchronize", "RunPodSandbox"] * 2)

    # Which rule

    def test_event_and_order(self):
        self.play(
            {"event": "StopContainer", "error": "not this event"},
            {"event": "RunPodSandbox", "error": "the first"},
            {"event": "RunPodSandbox", "error": "the second"},
        )
        with self.assertRaisesRegex(Refusal, "the first"):
            self.event("RunPodSandbox")
        self.event("CreateContainer")

    def test_container(self):
        self.play({"event": "CreateContainer", "container": "ctr1", "error": "this one"})
        self.event("CreateContainer")
        with self.assertRaisesRegex(Refusal, "this one"):
            self.event("CreateContainer", POD, field(1, "ctr1"))

    def test_first(self):
        self.play(
            {"event": "CreateContainer", "first": True, "error": "first"},
            {"event": "CreateContainer", "first": True, "error": "second"},
        )
        for text in ("first", "second"):
            with self.assertRaisesRegex(Refusal, text):
                self.event("CreateContainer")
        self.event("CreateContainer")

    # What it does

    def test_sleep(self):
        self.play({"event": "CreateContainer", "sleep_ms": 120})
        began = time.monotonic()
        self.event("CreateContainer")
        self.assertGreaterEqual(time.monotonic() - began, 0.12)
        self.assertGreaterEqual(self.lines("event")[-1]["ms"], 120)

    def test_sleep_beyond_the_deadline(self):
        """The guard answers in the plugin's place; the report tells that the plugin's own answer was late."""
        self.play({"event": "CreateContainer", "first": True, "sleep_ms": 700, "adjust": {"args": ["late"]}},
                  {"event": "CreateContainer", "adjust": {"args": ["in", "time"]}})
        timed = self.connection
        timed._stream += 2
        call = field(1, "nri.pkg.api.v1alpha1.Plugin") + field(2, "CreateContainer")
        call += field(3, field(1, POD) + field(2, CONTAINER)) + field(4, 400000000)
        timed._send(PLUGIN_SERVICE, timed._stream, REQUEST, call)
        stream, kind, data = timed._receive(PLUGIN_SERVICE)
        self.assertEqual((stream, kind), (timed._stream, RESPONSE))
        self.assertNotIn(1, fields(data), "passed, not refused")
        self.assertEqual(last(fields(data), 2), b"", "unchanged")
        self.assertEqual(self.lines("late"), [])
        adjust = fields(last(self.event("CreateContainer"), 1))
        self.assertEqual(adjust[9], [b"in", b"time"])
        [late] = self.lines("late")
        self.assertEqual((late["event"], late["container"], late["code"]), ("CreateContainer", "ctr0", "NRI_E_LATE"))
        self.assertGreaterEqual(late["ms"], 700)

    def test_defer(self):
        """Another event is answered while the first one waits."""
        self.play({"event": "CreateContainer", "defer_ms": 200, "adjust": {"args": ["deferred"]}})
        connection = self.connection
        for method, container in (("CreateContainer", "ctr1"), ("StopContainer", "ctr2")):
            connection._stream += 2
            payload = field(1, POD) + field(2, field(1, container))
            call = field(1, "nri.pkg.api.v1alpha1.Plugin") + field(2, method) + field(3, payload)
            connection._send(PLUGIN_SERVICE, connection._stream, REQUEST, call)
        answers = [connection._receive(PLUGIN_SERVICE) for _ in range(2)]
        self.assertEqual([stream for stream, _, _ in answers], [connection._stream, connection._stream - 2])
        adjust = fields(last(fields(last(fields(answers[1][2]), 2)), 1))
        self.assertEqual(adjust[9], [b"deferred"])
        told = self.lines("event")[-2:]
        self.assertEqual([one["container"] for one in told], ["ctr2", "ctr1"])
        self.assertGreaterEqual(told[1]["ms"], 200)

    def test_adjust(self):
        self.play({"event": "CreateContainer", "adjust": {"env": [{"key": "A", "value": "1"}], "annotations": {"b": "2"}}})
        adjust = fields(last(self.event("CreateContainer"), 1))
        self.assertEqual(text_pairs(adjust[4]), [("A", "1")])
        self.assertEqual(text_pairs(adjust[2]), [("b", "2")])

    def test_update(self):
        for event, number in (("CreateContainer", 2), ("UpdateContainer", 1), ("StopContainer", 1)):
            with self.subTest(event):
                self.play({"event": event, "update": [{"container_id": "other", **SHARES}]})
                answer = self.event(event)
                self.assertEqual([shares_of(update) for update in answer[number]], [("other", 333)])

    def test_update_all(self):
        self.report = os.path.join(self.directory, "report.jsonl")
        script = self.write({"event": "Synchronize", "update_all": SHARES})
        self.running, connection = self.connected("--script", script, "--report", self.report)
        connection.registration()
        connection.answer_registration()
        connection.configure()
        there = b"".join(field(2, field(1, "ctr%d" % number)) for number in range(3))
        answer = connection.call("Synchronize", field(1, POD) + there)
        self.assertEqual([shares_of(update) for update in answer[1]], [("ctr%d" % number, 333) for number in range(3)])

    def test_error(self):
        self.play({"event": "CreateContainer", "error": "no: \"quoted\" \u00e9"})
        with self.assertRaisesRegex(Refusal, "no: \"quoted\" \u00e9"):
            self.event("CreateContainer")

    def test_stop(self):
        """The library is asked to stop, the reply still goes out, and the program ends with 0."""
        self.play({"event": "CreateContainer", "stop": True, "adjust": {"args": ["last"]}})
        adjust = fields(last(self.event("CreateContainer"), 1))
        self.assertEqual(adjust[9], [b"last"])
        self.assertEqual(self.running.ended(), 0)
        self.assertEqual([one["code"] for one in self.lines("close")], ["NRI_OK"])

    def test_call(self):
        """A call made in a handler: its outcome comes after the handler's reply."""
        self.play({"event": "CreateContainer", "call": {"update": [{"container_id": "ctr9", **SHARES}]}})
        self.event("CreateContainer")
        self.assertEqual(self.updates(failed=["ctr9", "ctr8"]), [("ctr9", 333)])
        [told] = self.wait_lines("update", 1)
        self.assertEqual((told["entry"], told["ok"], told["code"], told["error"]), (-1, True, "NRI_OK", ""))
        self.assertEqual(told["failed"], ["ctr9", "ctr8"])
        self.assertGreaterEqual(told["ms"], 0)

    def test_call_refused(self):
        self.play({"event": "CreateContainer", "call": {"update": [{"container_id": "ctr9", **SHARES}]}})
        self.event("CreateContainer")
        self.updates(refusal="not now")
        [told] = self.wait_lines("update", 1)
        self.assertEqual((told["ok"], told["code"], told["failed"]), (False, "NRI_E_REJECTED", []))
        self.assertIn("not now", told["error"])

    def test_call_too_early(self):
        """Before Configure is answered there is nobody to call."""
        self.play({"event": "Configure", "call": {"update": [{"container_id": "ctr9", **SHARES}]}})
        [told] = self.wait_lines("update", 1)
        self.assertEqual((told["ok"], told["code"]), (False, "NRI_E_NO_SERVICE"))

    def test_background(self):
        """Entries run side by side, the calls of one come one after another."""
        entries = [
            {"update": [{"container_id": "slow", **SHARES}], "count": 1},
            {"update": [{"container_id": "quick", **SHARES}], "count": 3, "delay_ms": 20},
        ]
        self.play({"event": "RunPodSandbox", "background": entries})
        began = time.monotonic()
        self.event("RunPodSandbox")
        held = self.connection._receive(RUNTIME_SERVICE)
        self.assertIn(b"slow", held[2])
        for _ in range(3):
            self.assertEqual(self.updates(), [("quick", 333)])
        self.connection._send(RUNTIME_SERVICE, held[0], RESPONSE, b"")
        told = self.wait_lines("update", 4)
        self.assertEqual([one["entry"] for one in told], [1, 1, 1, 0])
        self.assertGreaterEqual(time.monotonic() - began, 0.06)
        self.event("StopPodSandbox")

    def test_background_timeout(self):
        self.play({"event": "RunPodSandbox", "background": [
            {"update": [{"container_id": "ctr9", **SHARES}], "count": 2, "timeout_ms": 1000}]})
        self.event("RunPodSandbox")
        self.updates(answer=False)
        told = self.wait_lines("update", 1)[0]
        self.assertEqual((told["entry"], told["ok"], told["code"]), (0, False, "NRI_E_TIMEOUT"))
        self.assertGreaterEqual(told["ms"], 1000)
        self.updates()
        self.assertEqual(self.wait_lines("update", 2)[1]["ok"], True)

    def test_background_ends_with_the_connection(self):
        self.play({"event": "RunPodSandbox", "background": [
            {"update": [{"container_id": "ctr9", **SHARES}], "count": 1000}]})
        self.event("RunPodSandbox")
        self.updates(answer=False)
        self.connection.close()
        connection = self.listener.accept()
        connection.start()
        connection.event("StopPodSandbox", POD)
        [told] = self.lines("update")
        self.assertEqual((told["ok"], told["code"]), (False, "NRI_E_CLOSED"))

    def test_echo(self):
        annotations = {"plain": "1", "esc\"aped": "line\nbreak \u00e9", "empty": ""}
        self.play({"event": "CreateContainer", "echo": "annotations"})
        answer = self.event("CreateContainer", POD, CONTAINER + pairs(6, annotations))
        self.assertEqual(dict(text_pairs(fields(last(answer, 1))[2])), annotations)

    # What is refused

    def refused(self, text, expected):
        path = self.write(text=text)
        done = subprocess.run([PROGRAM, "--script", path], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn(expected.replace("@", path), done.stderr)

    def test_bad_scripts(self):
        rule = '{"rules": [{"event": "CreateContainer",\n  %s}]}'
        for text, expected in (
            ("{", "@:1:"),
            ("[]", '@:1:1: a script is {"rules": [...]}'),
            ('{"rules": {}}', '@:1:1: a script is {"rules": [...]}'),
            ('{"rules": [], "more": 1}', '@:1:1: a script is {"rules": [...]}'),
            ('{"rules": [7]}', "@:1:12: a rule is an object"),
            ('{"rules": [{}]}', "@:1:12: event: is missing"),
            ('{"rules": [{"event": "Create"}]}', "@:1:22: event: the name of one of NRI's calls"),
            (rule % '"sleep": 1', "@:2:12: sleep: no such key; there are: event container"),
            (rule % '"sleep_ms": -1', "@:2:15: sleep_ms: a whole number from 0 to 86400000"),
            (rule % '"defer_ms": "1"', "@:2:15: defer_ms: a whole number"),
            (rule % '"first": 1', "@:2:12: first: true or false"),
            (rule % '"stop": null', "@:2:11: stop: true or false"),
            (rule % '"container": ""', "@:2:16: container: a text that is not empty"),
            (rule % '"error": 1', "@:2:12: error: a text that is not empty"),
            (rule % '"echo": "labels"', "@:2:11: echo:"),
            (rule % '"adjust": {"env": 1}', "@:2:21: ContainerAdjustment.env"),
            (rule % '"adjust": {"mounts": [{"destination": "relative"}]}', "relative"),
            (rule % '"update": [{"container_id": 7}]', "@:2:31: UpdateContainersRequest.update[0].container_id"),
            (rule % '"update": {}', "@:2:13: update, evict: a list of ContainerUpdate, ContainerEviction"),
            (rule % '"call": {}', "@:2:11: update, or evict: is missing"),
            (rule % '"call": {"update": [], "count": 2}', "@:2:35: count: no such member"),
            (rule % '"background": []', "@:2:17: background: a list of 1 to 64 entries"),
            (rule % '"background": [{"update": [], "count": 0.5}]', "@:2:42: count: a whole number"),
            (rule % '"update_all": {"ignore_failure": true}', "@:1:12: update_all: only Synchronize"),
            ('{"rules": [{"event": "Synchronize", "update_all": {}}]}', "@:1:51: update_all: a ContainerUpdate"),
            ('{"rules": [{"event": "Synchronize", "update_all": {"container_id": "x"}}]}', "@:1:51: update_all: "),
            ('{"rules": [{"event": "RunPodSandbox", "adjust": {}}]}', "@:1:12: adjust: the reply to RunPodSandbox"),
            ('{"rules": [{"event": "RunPodSandbox", "update": []}]}', "@:1:12: update: the reply to RunPodSandbox"),
            ('{"rules": [{"event": "StopContainer", "echo": "annotations"}]}', "@:1:12: echo: the reply to StopContainer"),
        ):
            with self.subTest(text):
                self.refused(text, expected)

    def test_bad_options(self):
        for options, expected in (
            (["--script", "/nowhere/script.json"], "/nowhere/script.json: No such file or directory"),
            (["--report", "/nowhere/report"], "/nowhere/report: No such file or directory"),
            (["--script"], "script"),
        ):
            with self.subTest(options):
                done = subprocess.run([PROGRAM, *options], capture_output=True, text=True, check=False)
                self.assertEqual(done.returncode, 2, done.stderr)
                self.assertIn(expected, done.stderr)


if __name__ == "__main__":
    unittest.main()
