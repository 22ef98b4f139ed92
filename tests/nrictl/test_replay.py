#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""test_replay.py NRICTL PROGRAMS: a recorded runtime against a plugin; what it answers otherwise is shown."""
import json
import os
import time

import case
import recordings
from recordings import BYTES, OPEN, TO_PLUGIN, TO_RUNTIME, header, record

SAME = ("--add-env", "GREETING=hello", "--add-annotation", "colour=blue")


class Replay(recordings.RecordingCase):
    def replay(self, *plugin, options=(), expect=case.OK, file="session.rec"):
        return self.run_nrictl("replay", *options, file, "--", *plugin, expect=expect)

    def replay_json(self, *plugin, options=(), expect=case.OK, file="session.rec"):
        return json.loads(self.replay(*plugin, options=("-o", "json", *options), expect=expect, file=file).stdout)

    def test_the_same_plugin_has_no_difference(self):
        self.assertEqual(self.replay("nri-logger", *SAME).stdout,
                         "28 messages, 14 of the plugin's compared, 0 differences\n")
        self.assertEqual(self.replay_json("nri-logger", *SAME),
                         {"differences": [], "messages": 28, "compared": 14, "count": 0})

    def test_a_recording_that_was_just_made(self):
        self.wrap("%s record -f %s -- %s --add-env A=b" % (case.NRICTL, self.path("new.rec"), self.program("nri-logger")))
        self.run_runtime()
        self.assertEqual(self.replay_json("nri-logger", "--add-env", "A=b", file="new.rec")["count"], 0)

    def test_differences_are_shown(self):
        text = self.replay("nri-logger", "--add-env", "GREETING=hullo", "--add-annotation", "colour=blue",
                           expect=case.FINDING).stdout
        self.assertIn("the answer to CreateContainer: differs\n", text)
        self.assertIn("hullo", text)
        self.assertNotIn("colour", text)
        found = self.replay_json("nri-logger", *SAME, "--add-env", "MORE=1", expect=case.FINDING)
        self.assertEqual(found["count"], 1)
        self.assertEqual({key: found["differences"][0][key] for key in ("kind", "method", "what")},
                         {"kind": "response", "method": "CreateContainer", "what": "differs"})
        self.assertEqual(len(found["differences"][0]["differences"]), 1)

    def test_another_plugin(self):
        found = self.replay_json("nri-template", expect=case.FINDING)
        self.assertEqual({difference["method"] for difference in found["differences"]}, {"CreateContainer"})

    def test_a_plugin_that_ends_or_is_silent(self):
        found = self.replay_json("true", expect=case.FINDING)
        self.assertEqual((found["count"], found["compared"]), (14, 0))
        self.assertTrue(all(d["what"] == "did not come: the plugin has ended" for d in found["differences"]))
        found = self.replay_json("sh", "-c", "cat <&3 >/dev/null", options=("--timeout", "10ms"), expect=case.FINDING)
        self.assertEqual({d["what"] for d in found["differences"]}, {"did not come"})

    def test_real_time(self):
        frame = self.registration()
        self.put("slow.rec", header(), record(OPEN, time_ns=10**18), record(BYTES, frame, TO_RUNTIME, time_ns=10**18),
                 record(BYTES, self.reply(1, 2), TO_PLUGIN, time_ns=10**18 + 10**9))
        begin = time.monotonic()
        self.replay("nri-logger", file="slow.rec", options=("--real-time",))
        self.assertGreaterEqual(time.monotonic() - begin, 0.9)

    @staticmethod
    def frame(mux, stream, kind, data):
        return (mux.to_bytes(4, "big") + (len(data) + 10).to_bytes(4, "big") + len(data).to_bytes(4, "big") +
                stream.to_bytes(4, "big") + bytes([kind, 0]) + data)

    def reply(self, stream, mux, data=b""):
        return self.frame(mux, stream, 2, data)

    def registration(self):
        return next(r[3] for r in recordings.records(self.path("session.rec")) if r[:2] == (BYTES, TO_RUNTIME))

    def test_status_and_what_differs_by_nature(self):
        # A plugin of shell that refuses a Configure with a text that holds a time and its own process id.
        service = b"nri.pkg.api.v1alpha1.Plugin"
        call = b"\x0a" + bytes([len(service)]) + service + b"\x12\x09Configure"

        def status(text):
            inner = b"\x08\x02\x12" + bytes([len(text)]) + text
            return b"\x0a" + bytes([len(inner)]) + inner

        def plugin(text):
            name = self.put("answer.bin", self.registration() + self.reply(1, 1, status(text)))
            return ("sh", "-c", "cat %s >&3; cat <&3 >/dev/null" % name)
        self.put("refused.rec", header(), record(OPEN), record(BYTES, self.registration(), TO_RUNTIME),
                 record(BYTES, self.frame(1, 1, 1, call), TO_PLUGIN),
                 record(BYTES, self.reply(1, 1, status(b"at 2026-11-30T10:00:00.5Z pid 4711 of /proc/99/exe: no")), TO_RUNTIME))
        self.assertEqual(self.replay_json(*plugin(b"at 1999-01-02T03:04:05Z pid 8 of /proc/123456/exe: no"),
                                          file="refused.rec")["count"], 0)
        for text in (b"at 2026-11-30T10:00:00.5Z pid 4711 of /proc/99/exe: yes", b"at 2026-11-30 pid 4711 of /proc/99/exe: no",
                     b"at 2026-11-30T10:00:00.5Z number 4711 of /proc/99/exe: no"):
            found = self.replay_json(*plugin(text), file="refused.rec", expect=case.FINDING)
            self.assertEqual(found["count"], 1, text)
            self.assertIn("was status 2", found["differences"][0]["what"])

    def test_a_request_that_was_not_recorded(self):
        service = b"nri.pkg.api.v1alpha1.Runtime"
        call = b"\x0a" + bytes([len(service)]) + service + b"\x12\x10UpdateContainers"
        self.put("asks.bin", self.registration() + self.frame(2, 3, 1, call))
        self.put("asks.rec", header(), record(OPEN), record(BYTES, self.registration(), TO_RUNTIME),
                 record(BYTES, self.reply(1, 2), TO_PLUGIN), record(BYTES, self.reply(99, 1), TO_RUNTIME))
        found = self.replay_json("sh", "-c", "cat asks.bin >&3; cat <&3 >/dev/null", file="asks.rec", options=("--timeout", "3s"),
                                 expect=case.FINDING)
        self.assertIn(("UpdateContainers", "is not in the recording"),
                      [(d["method"], d["what"]) for d in found["differences"]])

    def test_connection(self):
        self.run_nrictl("record", "-f", "two.rec", "--import", "simple.jsonl", "--import", "simple.jsonl")
        for number in ("1", "2"):
            self.assertEqual(self.replay_json("nri-logger", options=("--connection", number), file="two.rec",
                                              expect=case.FINDING)["messages"], 28)
        self.refused("replay", "--connection", "3", "two.rec", "--", "true", says="no such connection")

    def test_what_a_plugin_prints_is_no_result(self):
        self.assertEqual(len(self.replay("nri-logger", *SAME).stdout.splitlines()), 1)

    def test_errors(self):
        self.refused("replay", "session.rec", says="a recording and a plugin are needed")
        self.refused("replay", "none.rec", "--", "true", says="none.rec: No such file")
        self.refused("replay", "config.json", "--", "true", says="is no recording")
        self.refused("replay", self.put("empty.rec", header()), "--", "true", says="no such connection")
        self.refused("replay", "session.rec", "--", os.path.join(self.directory, "none"), says="none: No such file")
        self.refused("replay", "--timeout", "1ms", "session.rec", "--", "true", says="--timeout is a time")
        self.refused("replay", "--connection", "0", "session.rec", "--", "true", says="--connection is a number")


case.main()
