#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""test_decode.py NRICTL PROGRAMS: a recording's messages as text and JSON lines; what is damaged is told."""
import json
import os
import signal
import socket
import subprocess

import case
import recordings
from recordings import BYTES, CLOSED, END, LOST, OPEN, START, TO_PLUGIN, TO_RUNTIME, header, record


class Decode(recordings.RecordingCase):
    def messages(self, *arguments, expect=case.OK):
        return [line for line in self.lines(*arguments, expect=expect)[0] if line["type"] in ("request", "response")]

    # ---- all of it ----

    def test_json_lines(self):
        lines, summary = self.lines("session.rec")
        self.assertEqual(summary, {"type": "summary", "messages": 28, "shown": 28, "connections": 1, "unanswered": 0,
                                   "payloads_not_decoded": 0, "unknown_fields": 0, "garbage": 0, "damage": 0})
        self.assertEqual([line["type"] for line in lines if line["type"] not in ("request", "response")],
                         ["start", "open", "closed", "end"])
        register, reply = lines[2:4]
        self.assertEqual({key: register[key] for key in ("connection", "plugin", "from", "service", "method", "stream", "size")},
                         {"connection": 1, "plugin": "10-logger", "from": "plugin", "service": "Runtime",
                          "method": "RegisterPlugin", "stream": 1, "size": 85})
        self.assertEqual(register["payload"]["plugin_name"], "logger")
        self.assertEqual((reply["type"], reply["from"], reply["status"], reply["request"], reply["payload"]),
                         ("response", "runtime", 0, register["number"], {}))
        self.assertEqual(reply["took_ns"], reply["time_ns"] - register["time_ns"])
        self.assertRegex(reply["time"], r"^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$")
        events = [m["method"] for m in lines if m["type"] == "request"]
        self.assertEqual(events, ["RegisterPlugin", "Configure", "Synchronize", "RunPodSandbox", "CreateContainer",
                                  "ValidateContainerAdjustment", "PostCreateContainer", "StartContainer", "PostStartContainer",
                                  "StopContainer", "RemoveContainer", "StopPodSandbox", "RemovePodSandbox", "Shutdown"])

    def test_text(self):
        text = self.run_nrictl("decode", "session.rec").stdout
        self.assertRegex(text, r"(?m)^\d\d:\d\d:\d\d\.\d{6}  1  10-logger  runtime -> plugin  CreateContainer  "
                               r"default/web web  \d+ bytes$")
        self.assertRegex(text, r"(?m)  plugin -> runtime  CreateContainer  OK in \d+\.\d{3} ms  adjusts  \d+ bytes$")
        self.assertIn("28 messages, 28 shown; 1 connections; 0 calls without a response; not decoded: 0 payloads, 0 fields",
                      text)
        self.assertNotIn("\"args\"", text)
        self.assertNotIn("\x1b", text)
        full = self.run_nrictl("decode", "--full", "--color", "always", "session.rec").stdout
        self.assertIn("        \"args\": [", full)
        self.assertIn("\x1b[32mOK", full)

    def test_standard_input(self):
        with open(self.path("session.rec"), "rb") as file:
            done = subprocess.run([case.NRICTL, "decode", "-o", "json", "-"], stdin=file, capture_output=True, text=True,
                                  timeout=case.PATIENCE, check=False)
        self.assertEqual((done.returncode, len(done.stdout.splitlines())), (0, 33))

    def test_secrets_are_hidden(self):
        hidden = self.run_nrictl("decode", "--full", "session.rec").stdout + self.run_nrictl(
            "decode", "-o", "json", "session.rec").stdout
        for secret in ("/bin:/usr/bin", "info", "hello"):
            self.assertNotIn(secret, hidden.replace("\"info\"", ""))
        self.assertIn("\"LEVEL=***\"", hidden)
        adjust = [m for m in self.messages("--event", "CreateContainer", "session.rec")][1]["payload"]["adjust"]
        self.assertEqual(adjust["env"], [{"key": "GREETING", "value": "***"}])
        # No secret is what is no variable.
        self.assertEqual(adjust["annotations"], {"colour": "blue"})
        shown = [m for m in self.messages("--event", "CreateContainer", "--show-env", "session.rec")]
        self.assertEqual(shown[1]["payload"]["adjust"]["env"], [{"key": "GREETING", "value": "hello"}])
        self.assertIn("LEVEL=info", shown[0]["payload"]["container"]["env"])

    # ---- filters ----

    def test_event_filter(self):
        for name in ("StartContainer", "START_CONTAINER", "startcontainer"):
            found = self.messages("--event", name, "session.rec")
            self.assertEqual([m["method"] for m in found], ["StartContainer"] * 2)
        self.assertEqual(len(self.messages("--event", "Configure", "--event", "shutdown", "session.rec")), 4)
        # In sessions of old runtimes it is an event of a StateChange.
        found = self.messages("--import", "--event", "StartContainer", "simple.jsonl")
        self.assertEqual([(m["type"], m["method"]) for m in found],
                         [("request", "StateChange"), ("response", "StateChange")])
        self.assertEqual(found[0]["event"], "START_CONTAINER")
        self.assertEqual(len(self.messages("--import", "--event", "StateChange", "simple.jsonl")), 16)
        lines, summary = self.lines("--event", "Log", "session.rec")
        self.assertEqual((lines, summary["shown"], summary["messages"]), ([], 0, 28))
        self.refused("decode", "--event", "StartContainr", "session.rec",
                     says="--event 'StartContainr' is no event and no method of NRI; is 'StartContainer' meant?")
        self.refused("decode", "--event", "START_CONTAINER", "--event", "weather", "session.rec",
                     says="--event 'weather' is no event and no method of NRI, such as CreateContainer")

    def test_pod_and_container_filters(self):
        everything = self.messages("--import", "simple.jsonl")
        pod = next(m["payload"]["pod"] for m in everything if "pod" in m["payload"])
        container = next(m["payload"]["container"] for m in everything if "container" in m["payload"])
        for wanted in (pod["name"], pod["id"], pod["id"][:12], pod["uid"], pod["namespace"] + "/" + pod["name"]):
            found = self.messages("--import", "--pod", wanted, "simple.jsonl")
            self.assertEqual(len(found), 22, wanted)
        for wanted in (container["name"], container["id"], container["id"][:12]):
            found = self.messages("--import", "--container", wanted, "simple.jsonl")
            self.assertEqual(len(found), 16, wanted)
        self.assertEqual(self.messages("--import", "--pod", "other", "simple.jsonl"), [])
        self.assertEqual(self.messages("--import", "--pod", "other/" + pod["name"], "simple.jsonl"), [])
        both = self.messages("--import", "--pod", pod["name"], "--event", "CreateContainer", "simple.jsonl")
        self.assertEqual(len(both), 2)

    def test_plugin_filter(self):
        for wanted, count in (("logger", 28), ("10-logger", 28), ("11-logger", 0), ("10", 0)):
            self.assertEqual(len(self.messages("--plugin", wanted, "session.rec")), count, wanted)

    # ---- what is not as it should be ----

    def capture(self, name="simple.r2p.bin"):
        with open(self.path(name), "rb") as file:
            return file.read()

    def test_torn_tail(self):
        with open(self.path("session.rec"), "rb") as file:
            text = file.read()
        self.put("torn.rec", text[:-10])
        done = self.run_nrictl("decode", "torn.rec", expect=case.FINDING)
        self.assertEqual(done.stderr.count("\n"), 1)
        self.assertRegex(done.stderr, r"^nrictl decode: \d+ bytes at byte \d+ of the file, its end: the file ends within a record$")
        self.assertIn("28 messages", done.stdout)

    def test_damage_costs_one_record(self):
        with open(self.path("session.rec"), "rb") as file:
            text = bytearray(file.read())
        at = text.index(b"RunPodSandbox")
        text[at] ^= 1
        self.put("damaged.rec", text)
        lines, summary = self.lines("damaged.rec", expect=case.FINDING)
        self.assertEqual((summary["damage"], summary["messages"]), (1, 27))
        # The answer has no request any more, and is told.
        self.assertEqual([line["not_decoded"] for line in lines if "not_decoded" in line],
                         ["its request is not in the recording"])

    def test_garbage(self):
        self.put("garbage.rec", header(), record(START, connection=0), record(OPEN, b"{}"),
                 record(BYTES, b"GET / HTTP/1.1\r\n\r\n" + self.capture("simple.p2r.bin")[:84], TO_RUNTIME), record(END))
        lines, summary = self.lines("garbage.rec", expect=case.FINDING)
        found = [line for line in lines if line["type"] == "garbage"]
        self.assertEqual([(line["from"], line["offset"], line["size"]) for line in found], [("plugin", 0, 18)])
        self.assertEqual((summary["messages"], summary["garbage"], summary["unanswered"]), (1, 1, 1))
        text = self.run_nrictl("decode", "garbage.rec", expect=case.FINDING).stdout
        self.assertRegex(text, r"garbage from the plugin, 18 bytes at byte 0: ")
        self.assertIn("1 calls without a response", text)

    def test_lost_bytes(self):
        self.put("lost.rec", header(), record(BYTES, self.capture()[:1000], TO_PLUGIN),
                 record(LOST, (500).to_bytes(8, "big"), TO_PLUGIN), record(BYTES, self.capture()[1500:], TO_PLUGIN))
        lines, summary = self.lines("lost.rec", expect=case.FINDING)
        self.assertIn("500 bytes are not in the recording", [line.get("what") for line in lines])
        self.assertGreater(summary["messages"], 10)

    def test_text_of_others_does_not_reach_a_terminal(self):
        evil = b"\x1b[2Jx"
        self.put("evil.rec", header(), record(OPEN, b"\x1b]0;title\x07"),
                 record(BYTES, self.frame(b"\x0a\x02ev\x12" + bytes([len(evil)]) + evil), TO_PLUGIN))
        text = self.run_nrictl("decode", "evil.rec", expect=case.FINDING).stdout
        self.assertNotIn("\x1b", text)
        self.assertIn("\\x1b[2Jx", text)

    @staticmethod
    def frame(data, mux=1, stream=1, kind=1):
        return (mux.to_bytes(4, "big") + (len(data) + 10).to_bytes(4, "big") + len(data).to_bytes(4, "big") +
                stream.to_bytes(4, "big") + bytes([kind, 0]) + data)

    def test_unknown_method_and_fields(self):
        service = b"nri.pkg.api.v1alpha1.Plugin"
        call = b"\x0a" + bytes([len(service)]) + service
        self.put("new.rec", header(), record(OPEN), record(BYTES, self.frame(call + b"\x12\x06Future"), TO_PLUGIN),
                 record(BYTES, self.frame(call + b"\x12\x09Configure\x1a\x07\xfa\x3f\x01x\x12\x01r", stream=3), TO_PLUGIN),
                 record(BYTES, self.frame(call + b"\x12\x09Configure\x1a\x02\x12\x7f", stream=5), TO_PLUGIN))
        lines, summary = self.lines("new.rec", expect=case.FINDING)
        found = [line for line in lines if line["type"] == "request"]
        self.assertEqual([line["payload"] for line in found], [None, {"runtime_name": "r"}, None])
        self.assertEqual(found[0]["not_decoded"], "NRI has no such method")
        self.assertEqual(found[1]["unknown_fields"], 1)
        self.assertIn("ConfigureRequest", found[2]["not_decoded"])
        self.assertEqual((summary["payloads_not_decoded"], summary["unknown_fields"]), (2, 1))
        text = self.run_nrictl("decode", "new.rec", expect=case.FINDING).stdout
        self.assertIn("payload not decoded: NRI has no such method", text)
        self.assertIn("fields that NRI 0.12 has not: 1", text)

    def test_files_that_are_none(self):
        self.refused("decode", "none.rec", says="none.rec: No such file")
        self.refused("decode", ".", says="is a directory")
        self.refused("decode", self.write("empty.rec", ""), says="at least 16 bytes")
        self.refused("decode", "config.json", says="config.json: this is no recording of nrictl")
        self.refused("decode", self.put("v2.rec", header(2)), says="has version 2, this nrictl reads version 1")
        self.refused("decode", "--import", "session.rec", says="named by its index")

    def test_usage(self):
        self.refused("decode", says="one recording is needed, not 0")
        self.refused("decode", "session.rec", "session.rec", says="not 2")
        self.refused("decode", "--live", "a:b", "session.rec", says="--live has no file")
        self.refused("decode", "--live", "a:b", "--follow", says="--live has no file")
        for pair in ("ab", ":b", "a:"):
            self.refused("decode", "--live", pair, says="with a colon between them")
        self.refused("decode", "--follow", "--import", "simple.jsonl", says="not for --import")
        self.refused("decode", "--live", "config.json:b", says="is no socket")

    # ---- while it goes on ----

    def next_line(self, process):
        return json.loads(process.stdout.readline())

    def test_follow(self):
        self.put("grows.rec", header(), record(START, connection=0))
        process = self.start(case.NRICTL, "decode", "-o", "json", "--follow", "grows.rec", stdout=subprocess.PIPE, text=True)
        self.assertEqual(self.next_line(process)["type"], "start")
        with open(self.path("grows.rec"), "ab", buffering=0) as file:
            file.write(record(OPEN, b"{}"))
            self.assertEqual(self.next_line(process)["type"], "open")
            # Half a record is none yet.
            text = record(BYTES, self.capture("simple.p2r.bin")[:84], TO_RUNTIME)
            file.write(text[:60])
            file.write(text[60:])
            self.assertEqual(self.next_line(process)["method"], "RegisterPlugin")
            file.write(record(CLOSED, direction=TO_RUNTIME))
            self.assertEqual(self.next_line(process)["type"], "closed")
        process.send_signal(signal.SIGINT)
        self.assertEqual([self.next_line(process)["type"] for _ in range(2)], ["end", "summary"])
        self.assertEqual(process.wait(case.PATIENCE), 0)

    def test_live(self):
        listener = socket.socket(socket.AF_UNIX)
        self.addCleanup(listener.close)
        here = os.open(self.directory, os.O_PATH)
        self.addCleanup(os.close, here)
        listener.bind("/proc/self/fd/%d/runtime.sock" % here)
        listener.listen()
        listener.settimeout(case.PATIENCE)
        process = self.start(case.NRICTL, "decode", "-o", "json", "--live", "nri.sock:runtime.sock", stdout=subprocess.PIPE,
                             text=True)
        self.wait_for(lambda: os.path.exists(self.path("nri.sock")), "no socket")
        logger = self.start(self.program("nri-logger"), "--socket", "nri.sock", "--idx", "33", "--name", "live",
                            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        runtime, _ = listener.accept()
        self.addCleanup(runtime.close)
        self.assertEqual(self.next_line(process)["type"], "open")
        register = self.next_line(process)
        self.assertEqual((register["method"], register["plugin"]), ("RegisterPlugin", "33-live"))
        runtime.settimeout(case.PATIENCE)
        runtime.sendall(self.capture()[:117])  # its reply, and Configure
        self.assertEqual([self.next_line(process)["method"] for _ in range(3)], ["RegisterPlugin", "Configure", "Configure"])
        self.end(logger)
        process.send_signal(signal.SIGTERM)
        rest = [json.loads(line) for line in process.stdout]
        self.assertEqual(rest[-1]["type"], "summary")
        self.assertEqual(rest[-1]["messages"], 4)
        self.assertEqual(process.wait(case.PATIENCE), 0)
        self.assertFalse(os.path.exists(self.path("nri.sock")))

    def test_reader_that_goes(self):
        process = self.start(case.NRICTL, "decode", "--follow", "session.rec", stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        process.stdout.readline()
        process.stdout.close()
        with open(self.path("session.rec"), "ab") as file:
            file.write(record(START, connection=0))
        self.assertIn(process.wait(case.PATIENCE), (case.ENVIRONMENT, -signal.SIGPIPE))


case.main()
