#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""test_diff.py NRICTL PROGRAMS: two documents, and a container step by step."""
import json
import os

import case

SCRIPTED = os.path.join(case.PROGRAMS, os.pardir, "tests", "plugins", "scripted")
SCENARIO = """version: 1
name: test
pods: [{name: web, containers: [{name: app, env: {PATH: /bin}, resources: {cpu: {shares: 5}}}, other]}]
plugins:
%s
steps: [{run: web}, {create: app}, {create: other}, {start: app}, {update: app, resources: {cpu: {shares: 7}}}]
"""


class Diff(case.Case):
    def environment(self):
        old = super().environment()
        return {**old, "PATH": os.pathsep.join([SCRIPTED, old["PATH"]]), "TMPDIR": self.directory}

    def scenario(self, **rules):
        """A scenario with nri-scripted for each rule: a_10={...} is 10-a."""
        lines = []
        for name, rule in rules.items():
            plain, index = name.split("_")
            self.write(name + ".json", json.dumps({"rules": rule if isinstance(rule, list) else [rule]}))
            lines.append(f'  - {{name: {plain}, index: "{index}", command: '
                         f'[nri-scripted, --script, "{{dir}}/{name}.json", --report, "{{dir}}/{name}.report"]}}')
        return self.write("test.yaml", SCENARIO % "\n".join(lines))


def create(**adjust):
    return {"event": "CreateContainer", "adjust": adjust}


class Files(Diff):
    def test_two_configurations(self):
        new = json.loads(self.read("config.json"))
        new["process"]["env"] = ["LEVEL=debug", "PATH=/bin:/usr/bin"]
        new["process"]["args"].append("x")
        new["mounts"].reverse()
        del new["hostname"]
        new["linux"]["resources"]["cpu"]["shares"] = 1024
        self.write("new.json", json.dumps(new))
        done = self.run_nrictl("diff", "config.json", "new.json", expect=case.FINDING)
        self.assertEqual(done.stdout, """--- config.json
+++ new.json
- process.args: ["sleep","inf"]
+ process.args: ["sleep","inf","x"]
- process.env[LEVEL]: "LEVEL=info"
+ process.env[LEVEL]: "LEVEL=debug"
- hostname: "web"
- linux.resources.cpu.shares: 102
+ linux.resources.cpu.shares: 1024
- [vendor.example.com/unknown].ratio: 1.50
+ [vendor.example.com/unknown].ratio: 1.5
""")
        colours = self.run_nrictl("diff", "--color", "always", "config.json", "new.json", expect=case.FINDING).stdout
        self.assertIn('\033[31m- hostname: "web"\033[0m\n', colours)
        self.assertEqual(done.stderr, "")

    def test_same(self):
        self.assertEqual(self.run_nrictl("diff", "config.json", "config.json").stdout, "")
        self.assertEqual(self.run_json("diff", "config.json", "config.json"), [])

    def test_json_of_two(self):
        adjusted = self.run_nrictl("apply", "config.json", "adjustment.json").stdout
        found = self.run_json("diff", "config.json", "-", text=adjusted, expect=case.FINDING)
        self.assertEqual(found[0], {"path": "process.env[LEVEL]", "before": "LEVEL=info", "after": "LEVEL=debug"})
        self.assertEqual({entry["path"] for entry in found},
                         {"process.env[LEVEL]", "process.env[GPUS]", "mounts[/models]", "annotations[example.com/pinned]",
                          "linux.resources.cpu.cpus", "linux.devices[/dev/accel0]", "linux.resources.devices[0]"})

    def test_numbers_stay_as_they_are(self):
        self.write("new.json", self.read("config.json").replace("1.50", "1.5").replace("51616", "51617"))
        text = self.run_nrictl("diff", "config.json", "new.json", "-o", "json", expect=case.FINDING).stdout
        self.assertIn('"before": 1.50', text)
        self.assertIn('"after": 18446744073709551617', text)

    def test_configuration_and_container(self):
        # Only what NRI has counts then: no hostname, no id.
        found = self.run_json("diff", "config.json", "container.json", expect=case.FINDING)
        self.assertEqual([entry["path"] for entry in found][:4],
                         ["process.args", "process.env[PATH]", "process.env[LEVEL]", "process.env[LANG]"])
        self.assertFalse({"hostname", "nri.id"} & {entry["path"] for entry in found})

    def test_two_containers(self):
        self.write("new.json", self.read("container.json").replace("c0ffee", "c1").replace('"ro"', '"rw"'))
        self.assertEqual(self.run_json("diff", "container.json", "new.json", expect=case.FINDING),
                         [{"path": "mounts[/data].options", "before": ["ro"], "after": ["rw"]},
                          {"path": "nri.id", "before": "c0ffee", "after": "c1"}])

    def test_text_of_others_does_not_reach_the_terminal(self):
        self.write("a.json", '{"env": ["A=1"]}')
        self.write("b.json", json.dumps({"env": ["A=\u009b2J\u007f"]}, ensure_ascii=False))
        text = self.run_nrictl("diff", "a.json", "b.json", expect=case.FINDING).stdout
        self.assertIn("\\xc2\\x9b2J\\x7f", text)

    def test_refused(self):
        self.refused("diff", "config.json", "no-such.json", says="no-such.json")
        self.refused("diff", "-", "-", says="standard input cannot be both")
        self.refused("diff", "config.json", "-", text="{", says="standard input:1:2")
        self.refused("diff", "config.json", "-", text="[]", says="object")
        self.refused("diff", "config.json", "-", text='{"colour": 1}', says="colour")
        self.refused("diff", "container.json", "-", text='{"process": {"env": 1}}', says="process.env")
        self.refused("diff", "a", "b", "c", says="not 3 files")
        self.refused("diff", "--container", "x", "config.json", "config.json", says="without other options")
        self.refused("diff", "--container", "", says="--container is empty")
        self.refused("diff", "--timeout", "soon", says="--timeout")
        self.refused("diff", "--runtime", "podman@1", says="podman")
        self.refused("diff", "--plugin", "x=y", says="NN-NAME")
        self.refused("diff", *["--plugin=true"] * 129, says="at most 128")


class Steps(Diff):
    def test_after_each_plugin_and_at_the_end(self):
        path = self.scenario(a_10=create(env=[{"key": "A", "value": "1"}, {"key": "-PATH"}]),
                             b_20=create(annotations={"b": "2"}), c_30=create())
        self.assertEqual(self.run_nrictl("diff", path).stdout, """CreateContainer of app in web
--- as the runtime made it
+++ after 10-a
- process.env[PATH]: "PATH=/bin"
+ process.env[A]: "A=1"
--- after 10-a
+++ after 20-b
+ annotations.b: "2"

--- as the runtime made it
+++ at the end
- process.env[PATH]: "PATH=/bin"
+ process.env[A]: "A=1"
+ annotations.b: "2"

UpdateContainer of app in web
--- before the update
+++ as the runtime asks
- linux.resources.cpu.shares: 5
+ linux.resources.cpu.shares: 7
(no plugin changed it)
""")

    def test_as_an_older_runtime_does_it(self):
        # Go's runtime side never forwards the removal of a variable.
        path = self.scenario(a_10=create(env=[{"key": "A", "value": "1"}, {"key": "-PATH"}]))
        text = self.run_nrictl("diff", "--runtime", "containerd@2.1", path).stdout
        self.assertIn('+ process.env[A]: "A=1"', text)
        self.assertNotIn("PATH", text)

    def test_json(self):
        path = self.scenario(a_10=create(args=["", "x"]), b_20=create(env=[{"key": "PATH", "value": "/b"}]))
        (event, update) = self.run_json("diff", path)["events"]
        self.assertEqual([event["event"], update["event"]], ["CreateContainer", "UpdateContainer"])
        self.assertEqual((event["name"], event["pod"], event["refused"]), ("app", "web", False))
        steps = [plugin["differences"] for plugin in event["plugins"] if plugin["event"] == "CreateContainer"]
        self.assertEqual(steps, [[{"path": "process.args", "after": ["x"], "plugin": "10-a"}],
                                 [{"path": "process.env[PATH]", "before": "PATH=/bin", "after": "PATH=/b",
                                   "plugin": "20-b"}]])
        self.assertEqual(event["before"]["process"]["env"], ["PATH=/bin"])
        self.assertEqual(event["after"]["process"], {"env": ["PATH=/b"], "args": ["x"]})
        self.assertEqual(len(event["differences"]), 2)

    def test_container(self):
        path = self.scenario(a_10=create(env=[{"key": "A", "value": "1"}]))
        self.assertIn("CreateContainer of other in web", self.run_nrictl("diff", "-c", "other", path).stdout)
        done = self.run_nrictl("diff", "-c", "nobody", path, expect=case.FINDING)
        self.assertIn("no container 'nobody' is created", done.stderr)
        self.write("empty.yaml", "version: 1\nname: empty\nsteps: [{sleep: 1ms}]\n")
        self.assertIn("no container is created", self.run_nrictl("diff", "empty.yaml", expect=case.FINDING).stderr)

    def test_update(self):
        path = self.scenario(a_10={"event": "UpdateContainer", "update": [
            {"container_id": "app", "linux": {"resources": {"cpu": {"shares": 9}}}}]})
        event = self.run_json("diff", path)["events"][1]
        self.assertEqual(event["plugins"][0]["differences"],
                         [{"path": "linux.resources.cpu.shares", "before": 7, "after": 9, "plugin": "10-a"}])
        self.assertEqual(event["differences"], [{"path": "linux.resources.cpu.shares", "before": 5, "after": 9}])

    def test_what_plugins_print(self):
        quiet = self.run_nrictl("diff", "--plugin", "nri-template")
        self.assertEqual(quiet.stderr, "")
        loud = self.run_nrictl("diff", "--plugin", "nri-template", "--verbose")
        self.assertIn("CreateContainer", loud.stderr)
        self.assertEqual(loud.stdout, quiet.stdout)

    def test_plugin_that_does_not_start(self):
        self.assertIn("no-such-plugin", self.run_nrictl("diff", "-p", "no-such-plugin", expect=case.ENVIRONMENT).stderr)

    def test_time_out(self):
        path = self.write("slow.yaml", "version: 1\nname: slow\nsteps: [{sleep: 1h}]\n")
        done = self.run_nrictl("diff", "--timeout", "1ms", path, expect=case.FINDING)
        self.assertIn("longer than --timeout", done.stderr)


case.main()
