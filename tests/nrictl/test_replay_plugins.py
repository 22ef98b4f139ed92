#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""test_replay_plugins.py NRICTL PROGRAMS: the plugins of a recording at another runtime, and a replay that is interrupted."""
import json
import os
import signal
import socket
import subprocess

import case
import recordings
from recordings import TO_RUNTIME
from sim import SCRIPTED

# Two containers of a pod sandbox, whose ids are other ones in each run. The second one's creation updates the first, of
# which b wants something by itself once the second runs.
SCENARIO = """version: 1
request_timeout: 5m
registration_timeout: 5m
pods:
  - other
  - {name: %(pod)s, id: %(id)s-pod, containers: [{name: first, id: %(id)s-first}, {name: second, id: %(id)s-second, env: {PATH: /bin}}]}
steps:
  - run: %(pod)s
  - create: first
  - start: first
  - create: second
    expect:
      owners: {env A: a, env B: b}
      adjustment: {"env[A]": "1", "env[B]": "2"}
  - expect: {of: first, container: {linux.resources.cpu.shares: 512}}
  - start: second
  - wait: {updated: b}
  - expect: {of: first, container: {linux.resources.memory.limit: 4096}}
  - remove: %(pod)s
%(more)s"""
A = {"rules": [{"event": "CreateContainer", "container": "old-second", "adjust": {"env": [{"key": "A", "value": "1"}]},
                "update": [{"container_id": "old-first", "linux": {"resources": {"cpu": {"shares": 512}}}}]}]}
B = {"rules": [{"event": "CreateContainer", "container": "old-second", "adjust": {"env": [{"key": "B", "value": "2"}]}},
               {"event": "PostStartContainer", "container": "old-second", "background": [
                   {"update": [{"container_id": "old-first", "linux": {"resources": {"memory": {"limit": 4096}}}}]}]}]}


class ReplayPlugins(recordings.RecordingCase):
    def scenario(self, name, more="", pod="web"):
        return self.write(name + ".yaml", SCENARIO % {"id": name, "more": more, "pod": pod})

    def node(self, scenario, *arguments, path="runtime.sock", wait=("10-a", "20-b")):
        """A simulated node that begins when these plugins are there."""
        waits = [argument for name in wait for argument in ("--wait", name)]
        node = self.start(case.NRICTL, "sim", "-o", "json", "--socket", self.path(path), *waits, *arguments, scenario,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.wait_for(lambda: node.poll() is not None or os.path.exists(self.path(path)), "no socket")
        self.assertIsNone(node.poll(), node.stderr.read() if node.poll() is not None else "")
        return node

    def passed(self, node, expect=case.OK):
        out, err = node.communicate(timeout=case.PATIENCE)
        self.assertEqual(node.returncode, expect, out + err)
        return json.loads(out)

    def record(self):
        """Two plugins at a node, which does the scenario as `old`."""
        node = self.node(self.scenario("old"))
        recorder = self.recorder()
        for name, script in (("10-a", A), ("20-b", B)):
            index, plain = name.split("-")
            self.write(name + ".json", json.dumps(script))
            self.start(os.path.join(SCRIPTED, "nri-scripted"), "--script", self.path(name + ".json"), "--idx", index, "--name",
                       plain, "--socket", self.path("nri.sock"), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.passed(node)
        self.ended(recorder)
        os.rename(self.path("new.rec"), self.path("old.rec"))
        return "old.rec"

    def replayer(self, *arguments, path="runtime.sock"):
        return self.start(case.NRICTL, "replay", "-o", "json", "--plugins", "--socket", path, *arguments,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def result(self, replayer, expect):
        out, err = replayer.communicate(timeout=case.PATIENCE)
        self.assertEqual(replayer.returncode, expect, out + err)
        return json.loads(out)

    def told(self, result):
        return [(d["plugin"], d["method"], d.get("about", ""), d["what"]) for d in result["differences"]]

    def test_answers_arrive_at_another_runtime(self):
        recording = self.record()
        node = self.node(self.scenario("now"))
        replayer = self.replayer(recording)
        # Its expectations are that the adjustments and updates are there, in containers of other ids.
        self.passed(node)
        result = self.result(replayer, case.OK)
        self.assertEqual((result["plugins"], result["count"], self.told(result)), (2, 0, []))
        self.assertEqual(result["requests"], result["answered"])
        self.assertGreater(result["answered"], 20)

    def test_what_is_not_alike_is_told(self):
        recording = self.record()
        node = self.node(self.scenario("now", "  - run: other\n"))
        replayer = self.replayer(recording)
        self.passed(node)
        self.assertEqual(self.told(self.result(replayer, case.FINDING)),
                         [(plugin, "RunPodSandbox", "default/other", "is not in the recording") for plugin in ("10-a", "20-b")])

    def test_what_did_not_come_is_told(self):
        recording = self.record()
        short = self.write("short.yaml", "version: 1\npods: [{name: web, containers: [first]}]\nsteps: [run: web, remove: web]\n")
        node = self.node(short)
        replayer = self.replayer(recording)
        self.passed(node)
        told = self.told(self.result(replayer, case.FINDING))
        self.assertIn(("10-a", "CreateContainer", "default/web first", "did not come"), told)
        self.assertIn(("20-b", "UpdateContainers", "", "was not made: what came before it did not come"), told)
        self.assertNotIn("RunPodSandbox", [method for _, method, _, _ in told])

    def test_generated_names_of_pod_sandboxes(self):
        recording = self.record()
        node = self.node(self.scenario("now", pod="web-7d4b9"))
        replayer = self.replayer("--any-pod", recording)
        self.passed(node)
        self.assertEqual(self.result(replayer, case.OK)["count"], 0)

    def test_a_container_that_is_not_there(self):
        recording = self.record()
        text = ("version: 1\npods: [{name: web, containers: [second]}]\nsteps: [run: web, {create: second, expect: "
                "{owners: {env A: a}, not_updated: []}}]\n")
        node = self.node(self.write("alone.yaml", text))
        replayer = self.replayer(recording)
        self.passed(node)
        told = self.told(self.result(replayer, case.FINDING))
        self.assertIn(("10-a", "CreateContainer", "", "leaves out 1 of its containers, the first of them old-first: nothing "
                       "like it is there"), told)

    def test_another_name_and_one_connection(self):
        recording = self.record()
        self.refused("replay", "--plugins", "--name", "x", recording, says="the recording has 2: choose with --connection")
        node = self.node(self.write("quiet.yaml", "version: 1\npods: [web]\nsteps: [run: web]\n"), wait=("05-new",))
        replayer = self.replayer("--connection", "1", "--name", "new", "--idx", "05", recording)
        self.passed(node)
        self.assertEqual(self.result(replayer, case.FINDING)["plugins"], 1)

    def test_a_session_of_containerd_at_a_simulated_node(self):
        # Its StateChange is what a newer runtime tells by calls of their own.
        self.run_nrictl("record", "-f", "simple.rec", "--import", "simple.jsonl")
        lines, _ = self.lines("simple.rec")
        register = next(line["payload"] for line in lines if line.get("method") == "RegisterPlugin")
        plugin = "%s-%s" % (register["plugin_idx"], register["plugin_name"])
        subjects = [line["payload"] for line in lines if line.get("method") == "CreateContainer" and line["type"] == "request"]
        pod, container = subjects[0]["pod"], subjects[0]["container"]
        text = json.dumps({"version": 1, "pods": [{"name": pod["name"], "namespace": pod["namespace"],
                                                   "containers": [{"name": container["name"]}]}],
                           "steps": [{"run": pod["name"]}, {"create": container["name"]}, {"start": container["name"]},
                                     {"remove": pod["name"]}]})
        node = self.node(self.write("simple.yaml", text), wait=(plugin,))
        replayer = self.replayer("simple.rec")
        self.passed(node)
        result = self.result(replayer, case.FINDING)
        for event in ("StartContainer", "PostStartContainer", "RemovePodSandbox", "CreateContainer"):
            self.assertNotIn(event, [method for _, method, _, _ in self.told(result)])
        self.assertGreater(result["answered"], 8)

    def test_a_signal_ends_it_with_what_was_found(self):
        recording = self.record()
        for number in signal.SIGINT, signal.SIGTERM:
            node = self.node(self.scenario("now"), "--keep", "--wait", "30-last", path="kept.sock")
            replayer = self.replayer(recording, path="kept.sock")
            # Asked behind the others, it knows when all is over.
            self.write("last.report", "")
            last = self.start(os.path.join(SCRIPTED, "nri-scripted"), "--report", self.path("last.report"), "--idx", "30",
                              "--name", "last", "--socket", self.path("kept.sock"), stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL)
            self.wait_for(lambda: "RemovePodSandbox" in self.read("last.report"), "the scenario is not over")
            replayer.send_signal(number)
            told = self.told(self.result(replayer, case.FINDING))
            # A node that is kept has not said Shutdown.
            self.assertEqual([(method, what) for _, method, _, what in told], [("Shutdown", "did not come")] * 2)
            self.end(last)
            self.end(node)

    def test_errors(self):
        self.refused("replay", "--plugins", "session.rec", "--", "true", says="--plugins takes a recording and no plugin")
        self.refused("replay", "--plugins", "--socket", self.path("none.sock"), "session.rec", says="none.sock",
                     expect=case.ENVIRONMENT)
        with socket.socket(socket.AF_UNIX) as left_over:
            left_over.bind(self.path("left.sock"))
        self.refused("replay", "--plugins", "--socket", self.path("left.sock"), "session.rec", says="nobody listens",
                     expect=case.ENVIRONMENT)
        self.refused("replay", "--plugins", "--timeout", "1s", "session.rec", says="are for a recorded runtime")
        self.refused("replay", "--any-pod", "session.rec", "--", "true", says="are for recorded --plugins")
        self.refused("replay", "--plugins", "--idx", "5", "session.rec", says="--idx is two digits, not '5'")
        self.refused("replay", "--plugins", "--name", "", "session.rec", says="--name is a name")
        self.refused("replay", "--plugins", "none.rec", says="none.rec: No such file")
        self.refused("replay", "--plugins", self.put("empty.rec", recordings.header()), says="no such connection")


class Interrupted(recordings.RecordingCase):
    def test_a_replay_of_a_runtime(self):
        # The plugin says its first message, as recorded, and then nothing.
        frame = next(r[3] for r in recordings.records(self.path("session.rec")) if r[:2] == (recordings.BYTES, TO_RUNTIME))
        self.put("first.bin", frame)
        for number in signal.SIGINT, signal.SIGTERM:
            ready = self.path("ready")
            plugin = "cat first.bin >&3; head -c 20 <&3 >/dev/null; touch ready; exec cat <&3 >/dev/null"
            replayer = self.start(case.NRICTL, "replay", "-o", "json", "--timeout", "1h", "session.rec", "--", "sh", "-c", plugin,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            self.wait_for(lambda: os.path.exists(ready), "nothing came")
            os.unlink(ready)
            replayer.send_signal(number)
            out, err = replayer.communicate(timeout=case.PATIENCE)
            self.assertEqual(replayer.returncode, case.FINDING, err)
            result = json.loads(out)
            # Registered, and asked to be configured: that has no answer, which is no difference yet.
            self.assertEqual((result["messages"], result["done"], result["compared"], result["count"]), (28, 3, 1, 0), err)
            self.assertIn("ended by a signal at message 3 of 28", err)


case.main()
