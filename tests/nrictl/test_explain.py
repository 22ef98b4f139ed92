#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""test_explain.py NRICTL PROGRAMS: who set what, in scenarios and on a runtime that runs."""
import json
import os
import signal
import subprocess
import time

import case

SCRIPTED = os.path.join(case.PROGRAMS, os.pardir, "tests", "plugins", "scripted")
SCENARIO = """version: 1
name: test
pods: [{name: web, containers: [{name: first}, {name: app, env: {PATH: /bin}, annotations: {old: "1"}}]}]
plugins:
%s
steps: [{run: web}, {create: first}, {create: app}]
"""
# Every field that plugins set, with its key.
ADJUST = {
    "annotations": {"a": "1"},
    "mounts": [{"destination": "/m", "type": "bind", "source": "/s"}],
    "env": [{"key": "NAME", "value": "v"}],
    "hooks": {"poststop": [{"path": "/hook"}]},
    "args": ["true"],
    "rlimits": [{"type": "RLIMIT_NOFILE", "hard": 2, "soft": 1}],
    "CDI_devices": [{"name": "vendor.com/net=eth0"}],
    "linux": {
        "devices": [{"path": "/dev/d", "type": "c", "major": 1}],
        "resources": {
            "memory": {"limit": 1048576, "reservation": 2, "swap": 2097152, "kernel": 4, "kernel_tcp": 5, "swappiness": 6,
                       "disable_oom_killer": True, "use_hierarchy": True},
            "cpu": {"shares": 10, "quota": 20000, "period": 100000, "realtime_runtime": 3, "realtime_period": 4,
                    "cpus": "0-1", "mems": "0"},
            "hugepage_limits": [{"page_size": "2MB", "limit": 4194304}],
            "blockio_class": "gold", "rdt_class": "silver", "unified": {"memory.high": "1"}, "pids": {"limit": 7}},
        "cgroups_path": "/c", "oom_score_adj": 9, "io_priority": {"class": "IOPRIO_CLASS_BE", "priority": 3},
        "seccomp_policy": {"default_action": "SCMP_ACT_ALLOW"}, "namespaces": [{"type": "network", "path": "/n"}],
        "sysctl": {"net.core.somaxconn": "1"}, "net_devices": {"eth1": {"name": "in1"}},
        "scheduler": {"policy": "SCHED_BATCH"}, "memory_policy": {"mode": "MPOL_BIND", "nodes": "0"},
        "rdt": {"clos_id": "c", "schemata": ["L3:0=f"], "enable_monitoring": True}}}
FIELDS = 40


def create(**adjust):
    return {"event": "CreateContainer", "container": "app", "adjust": adjust}


class Explain(case.Case):
    def environment(self):
        old = super().environment()
        return {**old, "PATH": os.pathsep.join([SCRIPTED, old["PATH"]]), "TMPDIR": self.directory}

    def scenario(self, **rules):
        lines = []
        for name, rule in rules.items():
            plain, index = name.split("_")
            self.write(name + ".json", json.dumps({"rules": rule if isinstance(rule, list) else [rule]}))
            lines.append(f'  - {{name: {plain}, index: "{index}", command: '
                         f'[nri-scripted, --script, "{{dir}}/{name}.json", --report, "{{dir}}/{name}.report"]}}')
        return self.write("test.yaml", SCENARIO % "\n".join(lines))

    def explain(self, path, *arguments, expect=case.OK):
        (event,) = self.run_json("explain", "-c", "app", *arguments, path, expect=expect)["events"]
        return event

    def changes(self, event):
        return [(plugin["plugin"], change["path"], change.get("key"), change["action"], change.get("before"),
                 change.get("after")) for plugin in event["plugins"] for change in plugin["changes"]]


class Sources(Explain):
    def test_every_field(self):
        event = self.explain(self.scenario(a_10=create(**ADJUST)))
        changes = event["plugins"][0]["changes"]
        self.assertEqual(len({change["field"] for change in changes}), FIELDS)
        for change in changes:
            with self.subTest(change["field"]):
                self.assertEqual(change["action"], "set")
                self.assertIn("after", change)
                self.assertNotIn("before", change)
                self.assertNotIn("no_effect", change)

    def test_values_before_and_after(self):
        event = self.explain(self.scenario(
            a_10=create(env=[{"key": "PATH", "value": "/a"}, {"key": "A", "value": "1"}]),
            b_20=create(env=[{"key": "-A"}], annotations={"-old": "", "new": "2"})))
        self.assertEqual(self.changes(event), [
            ("10-a", "process.env", "PATH", "set", "PATH=/bin", "PATH=/a"),
            ("10-a", "process.env", "A", "set", None, "A=1"),
            ("20-b", "annotations", "old", "removed", "1", None),
            ("20-b", "annotations", "new", "set", None, "2"),
            ("20-b", "process.env", "A", "removed", "A=1", None),
            ("20-b", "process.env", "A", "dropped", "A=1", None)])
        self.assertEqual(event["plugins"][1]["changes"][-1]["from"], "10-a")
        self.assertTrue(all(plugin["latency_ns"] > 0 for plugin in event["plugins"]))

    def test_table(self):
        text = self.run_nrictl("explain", "-c", "app", self.scenario(
            a_10=create(env=[{"key": "PATH", "value": "/a"}]), b_20=create())).stdout
        lines = [line.split() for line in text.splitlines()]
        self.assertEqual(lines[0], "CreateContainer of app in web".split())
        self.assertEqual(lines[1], ["PLUGIN", "TIME", "FIELD", "WHAT", "BEFORE", "AFTER"])
        self.assertEqual([lines[2][0]] + lines[2][3:], ["10-a", "process.env[PATH]", "set", "/bin", "/a"])
        self.assertEqual([lines[3][0]] + lines[3][3:], ["20-b", "nothing"])

    def test_other_containers(self):
        event = self.explain(self.scenario(a_10={**create(), "update": [
            {"container_id": "first", "linux": {"resources": {"cpu": {"cpus": "3"}, "memory": {"limit": 5}}}}]}))
        self.assertEqual({(change["container"], change["path"], change["after"])
                          for change in event["plugins"][0]["changes"]},
                         {("first", "linux.resources.cpu.cpus", "3"), ("first", "linux.resources.memory.limit", 5)})

    def test_conflict(self):
        path = self.scenario(a_10=create(env=[{"key": "A", "value": "1"}]), b_20=create(env=[{"key": "A", "value": "2"}]))
        event = self.explain(path, expect=case.FINDING)
        self.assertTrue(event["refused"])
        self.assertEqual((event["refused_by"], event["plugins"][1]["result"]), ("20-b", "failed"))
        self.assertIn('plugins "20-b" and "10-a" both tried to set Env A', event["text"])
        text = self.run_nrictl("explain", "-c", "app", path, expect=case.FINDING).stdout
        self.assertRegex(text, "20-b .* conflict")
        self.assertIn("refused by 20-b: plugins", text)

    def test_refusal_and_validator(self):
        event = self.explain(self.scenario(a_10={**create(), "error": "not here"}), expect=case.FINDING)
        self.assertEqual(event["refused_by"], "10-a")
        self.assertIn("not here", event["text"])
        event = self.explain(self.scenario(
            a_10=create(env=[{"key": "A", "value": "1"}]),
            v_90={"event": "ValidateContainerAdjustment", "container": "app", "error": "not allowed"}), expect=case.FINDING)
        (verdict,) = [plugin for plugin in event["plugins"] if plugin["plugin"] == "90-v" and
                      plugin["event"] == "ValidateContainerAdjustment"]
        self.assertEqual(verdict["result"], "failed")
        self.assertIn("not allowed", event["text"])
        self.assertEqual(self.changes(event)[0][0], "10-a")

    def test_what_a_runtime_drops(self):
        event = self.explain(self.scenario(a_10=create(linux={"resources": {"memory": {"reservation": 5}}})),
                             "--runtime", "containerd@2.1")
        (change,) = event["plugins"][0]["changes"]
        self.assertTrue(change["no_effect"])
        text = self.run_nrictl("explain", "-c", "app", "--runtime", "containerd@2.1", "test.yaml").stdout
        self.assertIn("set, no effect", text)
        # Nor does it hand on that a variable is to go.
        event = self.explain(self.scenario(a_10=create(env=[{"key": "-PATH"}])), "--runtime", "containerd@2.1")
        self.assertEqual(self.changes(event), [("10-a", "process.env", "PATH", "removed", "PATH=/bin", "PATH=/bin")])
        self.assertTrue(event["plugins"][0]["changes"][0]["no_effect"])

    def test_refused(self):
        self.refused("explain", "a", "b", says="not 2 files")
        self.refused("explain", "--count", "0", says="--count is a number")
        self.refused("explain", "--count", "1", says="--count goes with --socket")
        self.refused("explain", "--socket", "s", "scenario.yaml", says="--socket is for a runtime that runs")
        self.refused("explain", "--socket", "s", "-p", "x", says="--socket is for a runtime that runs")
        self.refused("explain", "no-such.yaml", says="no-such.yaml")
        self.refused("explain", "--socket", self.path("none.sock"), says="none.sock", expect=case.ENVIRONMENT)


class Running(Explain):
    def start(self, *arguments):
        process = subprocess.Popen([case.NRICTL, *arguments], cwd=self.directory, env=self.environment(), text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        return process

    def wait_for(self, path, process):
        """Until a socket is there that the process makes."""
        end = time.monotonic() + case.PATIENCE
        while not os.path.exists(path):
            self.assertIsNone(process.poll())
            self.assertLess(time.monotonic(), end)
            os.sched_yield()

    def runtime(self, path, *arguments, wait=("nrictl-explain",)):
        """A node that begins when these plugins are there."""
        waits = [argument for name in wait for argument in ("--wait", name)]
        node = self.start("sim", "--socket", self.path("nri.sock"), *waits, *arguments, path)
        self.wait_for(self.path("nri.sock"), node)
        return node


class Recording(Running):
    def record(self):
        """Two plugins at a node, recorded."""
        text = SCENARIO.replace("plugins:\n%s\n", "")
        node = self.runtime(self.write("test.yaml", text), wait=("10-a", "20-b"))
        recorder = self.start("record", "-f", "new.rec", "--listen", self.path("proxy.sock"), "--connect",
                              self.path("nri.sock"))
        self.wait_for(self.path("proxy.sock"), recorder)
        for index, name, change in (("10", "a", "PATH=/a"), ("20", "b", "B=2")):
            plugin = subprocess.Popen([os.path.join(case.PROGRAMS, "nri-logger"), "--idx", index, "--name", name,
                                       "--socket", self.path("proxy.sock"), "--add-env", change],
                                      stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            self.addCleanup(plugin.wait)
            self.addCleanup(plugin.kill)
        node.communicate(timeout=case.PATIENCE)
        self.assertEqual(node.returncode, case.OK)
        recorder.send_signal(signal.SIGTERM)
        recorder.communicate(timeout=case.PATIENCE)
        return "new.rec"

    def test_answers_of_all_plugins(self):
        event = self.explain(self.record())
        self.assertEqual(self.changes(event), [
            ("10-a", "process.env", "PATH", "set", "PATH=/bin", "PATH=/a"),
            ("20-b", "process.env", "B", "set", None, "B=2")])
        self.assertTrue(all(plugin["latency_ns"] > 0 for plugin in event["plugins"]))
        (steps,) = self.run_json("diff", "-c", "app", "new.rec")["events"]
        self.assertEqual([plugin["differences"] for plugin in steps["plugins"]][:2], [
            [{"path": "process.env[PATH]", "before": "PATH=/bin", "after": "PATH=/a", "plugin": "10-a"}],
            [{"path": "process.env[B]", "after": "B=2", "plugin": "20-b"}]])
        # Without a name it is the first one.
        (first,) = self.run_json("explain", "new.rec")["events"]
        self.assertEqual(first["name"], "first")

    def test_one_that_ends_within_a_record(self):
        with open(self.path("session.rec"), "rb") as file:
            whole = file.read()
        with open(self.path("torn.rec"), "wb") as file:
            file.write(whole[:-7])
        done = self.run_nrictl("explain", "torn.rec")
        self.assertIn("are left out", done.stderr)
        self.assertIn("process.env[GREETING]", done.stdout)

    def test_refused(self):
        self.refused("explain", "--plugin", "x", "session.rec", says="session.rec is a recording")
        self.refused("explain", "--container", "nobody", "session.rec", says="no container 'nobody' is created in session.rec",
                     expect=case.FINDING)


class Live(Running):
    def listen(self, *arguments):
        return self.run_nrictl("explain", "--socket", self.path("nri.sock"), *arguments)

    def test_owners(self):
        self.runtime(self.scenario(a_10=create(env=[{"key": "PATH", "value": "/a"}], hooks=ADJUST["hooks"]),
                                   b_20=create(annotations={"b": "2"}, hooks=ADJUST["hooks"])))
        (event,) = json.loads(self.listen("-c", "app", "-n", "1", "-o", "json").stdout)["events"]
        self.assertTrue(event["attributed"])
        changes = [change for change in self.changes(event) if change[1] != "hooks"]
        self.assertEqual(changes, [("10-a", "process.env", "PATH", "set", "PATH=/bin", "PATH=/a"),
                                   ("20-b", "annotations", "b", "set", None, "2")])
        # What several plugins own, each of them did.
        self.assertEqual([change[0] for change in self.changes(event) if change[1] == "hooks"], ["10-a", "20-b"])

    def test_older_runtime(self):
        self.runtime(self.scenario(a_10=create(env=[{"key": "PATH", "value": "/a"}])), "--runtime", "containerd@1.7")
        done = self.listen("-c", "app", "-n", "1")
        self.assertIn("tells no owners", done.stderr)
        self.assertEqual(done.stdout, """CreateContainer of app in web
--- as the runtime made it
+++ after all plugins
- process.env[PATH]: "PATH=/bin"
+ process.env[PATH]: "PATH=/a"

""")

    def test_until_a_signal(self):
        node = self.runtime(self.scenario(a_10=create(env=[{"key": "A", "value": "1"}])), "--keep")
        explain = self.start("explain", "--socket", self.path("nri.sock"), "--container", "app")
        self.assertEqual(explain.stdout.readline(), "CreateContainer of app in web\n")
        explain.send_signal(signal.SIGINT)
        self.assertEqual(explain.wait(case.PATIENCE), case.OK)
        node.send_signal(signal.SIGTERM)
        node.wait(case.PATIENCE)

    def test_the_runtime_goes(self):
        node = self.runtime(self.scenario(a_10=create()))
        done = self.run_nrictl("explain", "--socket", self.path("nri.sock"), "-c", "nobody", expect=case.ENVIRONMENT)
        self.assertIn("closed the connection", done.stderr)
        node.wait(case.PATIENCE)


case.main()
