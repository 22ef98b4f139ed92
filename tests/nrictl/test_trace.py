#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""test_trace.py NRICTL PROGRAMS: timelines of nrictl sim and nrictl decode, in the Chrome trace event format."""
import json
import os
import signal
import subprocess

import case
import recordings
from recordings import BYTES, END, OPEN, START, TO_PLUGIN, TO_RUNTIME, header, record
from sim import HEAD, Sim
from timeline import Timeline


def is_whole(line):
    try:
        json.loads(line.rstrip(","))
    except ValueError:
        return False
    return True


class Trace(Sim, recordings.RecordingCase):
    def timeline(self, name="t.json"):
        return Timeline(self.read(name))

    # ---- sim ----

    def test_an_event_with_its_plugins_inside(self):
        plugins = "plugins:\n" + self.scripted("10-first", self.setting("1")) + self.scripted("20-second")
        self.sim(HEAD + plugins + "steps: [{run: web}, {create: app}, {start: app}]\n", "--trace", "t.json")
        timeline = self.timeline()
        timeline.check_simulated()
        self.assertEqual([s.name for s in timeline.of("event")],
                         ["RunPodSandbox web", "CreateContainer app", "PostCreateContainer app", "StartContainer app",
                          "PostStartContainer app"])
        create = timeline.of("event")[1]
        self.assertEqual({key: create.args[key] for key in ("event", "pod", "container", "code")},
                         {"event": "CreateContainer", "pod": "web", "container": "app", "code": "NRI_OK"})
        first, second = timeline.chain(create)[:2]
        self.assertEqual([s.name for s in (first, second)], ["10-first", "20-second"])
        self.assertEqual(first.args["result"], "answered")
        self.assertEqual(first.args["changes"], [{"action": "set", "field": "Env", "key": "A"}])
        self.assertEqual(second.args["changes"], [])
        self.assertEqual([s.name for s in timeline.of("step")], ["run web", "create app", "start app"])
        step = timeline.of("step")[1]
        self.assertLessEqual(step.begin, create.begin)
        self.assertGreaterEqual(step.end, create.end)
        self.assertEqual(sorted((row, what) for row, what, _ in timeline.told("connection")),
                         [("10-first", "connected"), ("10-first", "lost"), ("20-second", "connected"), ("20-second", "lost")])
        self.assertEqual(timeline.told("runtime"), [("events", "runtime is ready", {})])
        self.assertEqual(sorted(timeline.processes.values()), ["plugins", "runtime"])

    def test_validators_are_within_the_event(self):
        rule = '{"event": "ValidateContainerAdjustment", "sleep_ms": 20}'
        plugins = "plugins:\n" + self.scripted("10-a", rule) + self.scripted("20-b", rule)
        self.sim(HEAD + plugins + "steps: [{run: web}, {create: app}]\n", "--trace", "t.json")
        timeline = self.timeline()
        timeline.check_simulated()
        create = next(s for s in timeline.of("event") if s.name == "CreateContainer app")
        validation = timeline.chain(create)[-1]
        self.assertEqual((validation.name, sorted(validation.args["validators"])),
                         ("ValidateContainerAdjustment", ["10-a", "20-b"]))
        asked = [s for s in timeline.of("request") if s.args["event"] == "ValidateContainerAdjustment"]
        self.assertEqual(len(asked), 2)
        self.assertEqual((validation.begin, validation.end), (min(s.begin for s in asked), max(s.end for s in asked)))
        self.assertGreaterEqual(validation.end - validation.begin, 20 * 10**6)

    def test_a_plugin_that_does_not_answer(self):
        self.sim(HEAD + "request_timeout: 3s\nplugins:\n" + self.scripted("10-late") + """
steps:
  - pause: late
  - run: web
  - wait: {gone: late}
""", "--trace", "t.json")
        timeline = self.timeline()
        timeline.check_simulated()
        self.assertEqual(timeline.told("time-out"), [("10-late", "time-out", {"event": "RunPodSandbox web"})])
        event, = timeline.of("event")
        asked, = timeline.chain(event)
        self.assertEqual((asked.args["result"], asked.args["code"]), ("skipped", "NRI_E_TIMEOUT"))
        self.assertGreaterEqual(asked.end - asked.begin, 3 * 10**9)
        self.assertEqual([(row, what) for row, what, _ in timeline.told("connection")],
                         [("10-late", "connected"), ("10-late", "lost")])

    def test_updates_and_ends(self):
        sync = self.scripted("30-sync", '{"event": "Synchronize", "update_all": {"linux": {"resources": {"cpu": {"shares": 5}}}}}')
        self.sim(HEAD + "plugins:\n" + sync.replace("{name", "{later: true, name") + """
steps:
  - run: web
  - create: app
  - connect: sync
  - kill: sync
  - wait: {gone: sync}
""", "--trace", "t.json")
        timeline = self.timeline()
        timeline.check_simulated()
        self.assertEqual(timeline.told("update"),
                         [("30-sync", "updates", {"containers": ["app"], "failed": [], "synchronize": True})])
        self.assertEqual([(row, what) for row, what, _ in timeline.told("connection")],
                         [("30-sync", "connected"), ("30-sync", "lost")])
        self.assertEqual([args for _, _, args in timeline.told("process")],
                         [{"program": "nri-scripted", "signal": signal.SIGKILL}])

    def test_names_are_escaped(self):
        name = 'w"e\\b\n\u2028\u00e9'
        self.sim('{"version": 1, "pods": [{"name": "w\\"e\\\\b\\n\\u2028\\u00e9", "containers": []}], "steps": [{"run": "w\\"e\\\\b\\n\\u2028\\u00e9"}]}'
                 .replace("}]}", '}], "request_timeout": "5m", "registration_timeout": "5m"}'), "--trace", "t.json")
        self.assertEqual([s.name for s in self.timeline().of("event")], ["RunPodSandbox " + name])

    def test_load(self):
        self.run_nrictl("sim", "--pods", "20", "-p", "10-a=nri-template", "-p", "20-b=nri-logger", "--trace", "t.json")
        timeline = self.timeline()
        timeline.check_simulated()
        self.assertEqual(len(timeline.of("event")), 20 * 11)
        # And a validation each.
        self.assertEqual(len([s for s in timeline.of("request") if s.args["plugin"] == "20-b"]), 20 * 12)
        self.assertEqual(len({s.args["pod"] for s in timeline.of("event")}), 20)

    def test_a_killed_run_leaves_what_can_be_read(self):
        process = self.start(case.NRICTL, "sim", "--pods", "2", "--duration", "1h", "-p", "nri-template", "--trace", "t.json",
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.wait_for(lambda: process.poll() is not None or os.path.getsize(self.path("t.json")) > 200000
                      if os.path.exists(self.path("t.json")) else False, "no timeline")
        process.kill()
        self.assertEqual(process.wait(case.PATIENCE), -signal.SIGKILL)
        text = self.read("t.json")
        self.assertFalse(text.endswith("]\n"))
        # Where it came within a write() the last line is cut; all before it is whole.
        lines = text.split("\n")
        if not is_whole(lines[-1]):
            lines.pop()
        timeline = Timeline("\n".join(lines).rstrip(",") + "]")
        timeline.check_simulated(killed=True)
        self.assertGreater(len(timeline.of("event")), 100)

    def test_its_size_has_a_limit(self):
        done = self.run_nrictl("sim", "--pods", "150", "--trace", "t.json", "--trace-size", "1", "-p", "10-a=nri-template",
                               "-p", "20-b=nri-logger")
        self.assertRegex(done.stderr, r"t\.json: [1-9]\d* events are left out, which did not fit into 1 MiB; see --trace-size")
        size = os.path.getsize(self.path("t.json"))
        self.assertTrue(1000000 < size <= (1 << 20) + 16, size)
        self.timeline()

    def test_a_shell(self):
        self.run_nrictl("sim", "--shell", "--trace", "t.json", text="run web\ncreate web app\n")
        self.assertEqual([s.name for s in self.timeline().of("event")],
                         ["RunPodSandbox web", "CreateContainer app", "PostCreateContainer app"])

    # ---- decode ----

    def check_recording(self, *arguments, expect=case.OK):
        """The timeline of a recording: each request is there once."""
        summary = self.run_nrictl("decode", "--trace", "t.json", *arguments, expect=expect).stdout
        self.assertEqual(len(summary.splitlines()), 1)
        timeline = self.timeline()
        requests = {line["number"]: line for line in self.lines(*arguments, expect=expect)[0] if line["type"] == "request"}
        slices = timeline.of("request") + timeline.of("call")
        self.assertEqual(sorted(s.args["number"] for s in slices), sorted(requests))
        for slice_ in slices:
            request = requests[slice_.args["number"]]
            # An event of an old runtime is a StateChange, and has its own name.
            self.assertEqual(slice_.name.split()[0].lower(), (request.get("event") or request["method"]).replace("_", "").lower())
            self.assertEqual(slice_.cat, "call" if request["from"] == "plugin" else "request")
            process = timeline.processes[timeline.process_of[slice_.thread]]
            self.assertEqual(process.split(":")[0], "connection %d" % request["connection"])
        return timeline

    def test_a_recording(self):
        timeline = self.check_recording("session.rec")
        self.assertEqual(timeline.processes, {1: "connection 1: 10-logger"})
        self.assertEqual(set(timeline.threads.values()), {"10-logger", "10-logger calls"})
        create = next(s for s in timeline.slices if s.name == "CreateContainer web")
        self.assertEqual({key: create.args[key] for key in ("pod", "container", "outcome")},
                         {"pod": "web", "container": "web", "outcome": "answered"})
        self.assertEqual(create.args["answer"]["adjust"]["annotations"], {"colour": "blue"})
        self.assertEqual(create.args["answer"]["adjust"]["env"], [{"key": "GREETING", "value": "***"}])
        self.assertEqual([(row, what) for row, what, _ in timeline.told("connection")],
                         [("10-logger", "connected"), ("10-logger", "lost")])
        took = [line for line in self.lines("session.rec")[0] if line["type"] == "response" and line["request"] == create.args["number"]]
        self.assertEqual(create.end - create.begin, took[0]["took_ns"])

    def test_captures_and_filters(self):
        self.check_recording("--import", "simple.jsonl")
        timeline = self.check_recording("--event", "CreateContainer", "--show-env", "session.rec")
        self.assertEqual([s.name for s in timeline.slices], ["CreateContainer web"])
        self.assertEqual(timeline.slices[0].args["answer"]["adjust"]["env"], [{"key": "GREETING", "value": "hello"}])

    def test_what_is_broken(self):
        with open(self.path("simple.p2r.bin"), "rb") as file:
            register = file.read()[:84]
        self.put("garbage.rec", header(), record(START, connection=0), record(OPEN, b"{}"),
                 record(BYTES, b"GET / HTTP/1.1\r\n\r\n" + register, TO_RUNTIME), record(END, time_ns=10**18 + 10**10))
        timeline = self.check_recording("garbage.rec", expect=case.FINDING)
        self.assertEqual(len(timeline.told("garbage")), 1)
        call, = timeline.of("call")
        self.assertEqual((call.args["outcome"], call.end - call.begin), ("no answer", 10**10))
        # The end of a recording without the end of its connection, and a name that is no text.
        evil = b"\x0a\x02e\xff\x12\x04\"\\\n\xff"
        frame = ((1).to_bytes(4, "big") + (len(evil) + 10).to_bytes(4, "big") + len(evil).to_bytes(4, "big") +
                 (1).to_bytes(4, "big") + b"\x01\x00" + evil)
        self.put("evil.rec", header(), record(BYTES, frame, TO_PLUGIN), record(BYTES, frame[:9], TO_PLUGIN, time_ns=10**18 + 5))
        self.run_nrictl("decode", "--trace", "t.json", "evil.rec", expect=case.FINDING)
        self.timeline()

    def record_default_scenario(self, *plugins):
        """new.rec, of `nrictl sim` without a scenario and plugins: their command lines up to what names them."""
        recorder = self.recorder()
        runtime = self.start(case.NRICTL, "sim", "--socket", "runtime.sock", "--wait", "10-a", "--wait", "20-b",
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.wait_for(lambda: os.path.exists(self.path("runtime.sock")), "no runtime")
        for (index, name), plugin in zip((("10", "a"), ("20", "b")), plugins):
            self.start(*plugin, "--socket", "nri.sock", "--idx", index, "--name", name, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
        self.assertEqual(runtime.wait(case.PATIENCE), case.OK)
        self.ended(recorder)

    def test_evictions(self):
        rule = ('{"event": "RunPodSandbox", "call": {"update": [{"container_id": "none", "linux": {"resources": {"cpu": {"shares": 9}}}}],'
                ' "evict": [{"container_id": "ctr0", "reason": "too loud"}]}}')
        self.scripted("10-a", rule)
        self.record_default_scenario(["nri-scripted", "--script", "10-a.json"], ["nri-logger"])
        timeline = self.check_recording("new.rec")
        self.assertEqual(timeline.told("eviction"), [("10-a", "evicts", {"container": "ctr0", "reason": "too loud"})])
        self.assertEqual(timeline.told("update"), [("10-a", "updates", {"containers": ["none"]})])
        call = next(s for s in timeline.of("call") if s.name == "UpdateContainers")
        self.assertEqual((timeline.threads[call.thread], call.args["outcome"], call.args["answer"]["failed"][0]["container_id"]),
                         ("10-a calls", "answered", "none"))
        self.sim(HEAD + "plugins:\n" + self.scripted("10-a", rule.replace("RunPodSandbox", "StartContainer").replace("ctr0", "app")) +
                 "steps: [{run: web}, {create: app}, {start: app}, {wait: {event: StopContainer app}}]\n", "--trace", "t.json")
        timeline = self.timeline()
        timeline.check_simulated()
        self.assertEqual(timeline.told("eviction"), [("10-a", "evicts", {"container": "app", "reason": "too loud"})])
        self.assertEqual(timeline.told("update"), [("10-a", "updates", {"containers": ["none"], "failed": ["none"], "synchronize": False})])
        self.assertEqual(timeline.of("event")[-1].name, "StopContainer app")

    def test_arrows_lead_from_plugin_to_plugin(self):
        self.record_default_scenario(["nri-logger"], ["nri-logger"])
        timeline = self.check_recording("new.rec")
        events = [s for s in timeline.of("request") if "pod" in s.args]
        of_first = [s for s in events if timeline.threads[s.thread] == "10-a"]
        self.assertGreater(len(of_first), 10)
        # Each event that the first is asked goes on to the second, and from there to the validators.
        validation = "ValidateContainerAdjustment"
        self.assertEqual(sorted((a.begin, timeline.threads[b.thread], b.name) for a, b in timeline.flows if validation not in b.name),
                         sorted((s.begin, "20-b", s.name) for s in of_first if validation not in s.name))
        self.assertEqual(sorted((a.name, timeline.threads[a.thread], timeline.threads[b.thread]) for a, b in timeline.flows
                                if validation in b.name),
                         [(name, "20-b", to) for name in ("CreateContainer ctr0", "CreateContainer ctr1") for to in ("10-a", "20-b")])

    # ---- what is refused ----

    def test_usage(self):
        for command in (["sim"], ["decode", "session.rec"]):
            self.refused(*command, "--trace", "no/such/t.json", says="no/such/t.json: No such file")
            self.refused(*command, "--trace", ".", says=".: Is a directory")
            self.refused(*command, "--trace", "t.json", "--trace-size", "0", says="--trace-size is a number from 1 to 1048576")
            done = self.run_nrictl(*command, "--trace", "/dev/full", expect=case.ENVIRONMENT)
            self.assertIn("/dev/full: it is not whole: No space left on device", done.stderr)
        self.refused("decode", "--trace", "t.json", "--full", "session.rec", says="--full is for lines")


if __name__ == "__main__":
    case.main()
