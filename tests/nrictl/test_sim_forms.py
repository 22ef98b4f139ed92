#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""test_sim_forms.py NRICTL PROGRAMS: what may stand in a scenario: what is wrong is refused with its place."""
import json
import os

import case
from sim import HEAD, Sim

DOC = os.path.join(os.path.dirname(os.path.realpath(__file__)), os.pardir, os.pardir, "doc")

# What is wrong, with "HEAD" in front of it, and how the message begins behind "test.yaml:".
WRONG = [
    # keys
    ("step: []\n", '4:1: "step" is not a key of scenario; is "steps" meant?'),
    ("weather: fine\nsteps: []\n", '4:1: "weather" is not a key of scenario, which has version, name, '),
    ("command: x\nsteps: []\n", '4:1: "command" is not a key of scenario: it belongs to plugin'),
    ("steps: [{craete: app}]\n", '4:10: "craete" is not a key of step; is "create" meant?'),
    ("steps: [{name: x}]\n", "4:9: step needs one of run, create, start, update, stop, exit, remove, sleep, "),
    ("steps: [{create: app, start: app}]\n", '4:23: step has both "create" and "start": it is one thing'),
    ("steps: [{stop: app, code: 3}]\n", '4:21: "code" is not a key of step stop: it belongs to '),
    ("steps: [{exit: app, cod: 3}]\n", '4:21: "cod" is not a key of step exit; is "code" meant?'),
    ("steps: [{run: web, expect: {adjustement: {a: 1}}}]\n",
     '4:29: "adjustement" is not a key of expectation; is "adjustment" meant?'),
    ("steps: [{run: web, expect: {container: {a: {equals: 1}}}}]\n",
     '4:45: "equals" is not a key of a match; is "equal" meant?'),
    ("steps: [{expect: {}}]\n", "4:18: expectation is empty"),
    # types and values
    ("steps: {}\n", "4:8: steps must be a list, not an object"),
    ("steps: [run]\n", '4:9: steps must be an object, not "run"'),
    ("steps: [{run: [web]}]\n", "4:15: run must be a text that is not empty, not a list"),
    ("steps: [{exit: app, code: 256}]\n", "4:27: code must be a whole number from 0 to 255, not 256"),
    ("steps: [{exit: app, code: 1.5}]\n", "4:27: code must be a whole number from 0 to 255, not 1.5"),
    ('steps: [{exit: app, code: "3"}]\n', '4:27: code must be a whole number from 0 to 255, not "3"'),
    ("steps: [{sleep: 5}]\n", "4:17: sleep must be a time such as 250ms, 2s or 1m30s, from 1 to 86400000 ms, not 5"),
    ("steps: [{sleep: 25h}]\n", '4:17: sleep must be a time such as 250ms, 2s or 1m30s, from 1 to 86400000 ms, not "25h"'),
    ("failure: stirct\nsteps: []\n",
     '4:10: failure must be go, permissive or strict, not "stirct"; is "strict" meant?'),
    ("steps: [{kill: a, signal: HUP}]\n", '4:27: signal must be KILL or TERM, not "HUP"'),
    ("steps: [{run: web, expect: {error: {matches: '('}}}]\n", "4:46: matches is no regular expression: "),
    ("steps: [{run: web, background: yes}]\n", '4:32: background must be true or false, not "yes"'),
    ("steps: [{sleep: 1s, background: true}]\n", "4:33: step sleep cannot be in the background"),
    ("steps: [{slow_reader: x}]\n", '4:9: step slow_reader needs "bytes_per_second": What it reads at most'),
    ("steps: [{slow_reader: x, index: '7', bytes_per_second: 1}]\n", "4:33: index must be two digits in quotes"),
    # names
    ("steps: [{run: wed}]\n", '4:15: there is no pod "wed" in pods; is "web" meant?'),
    ("steps: [{create: web}]\n", '4:18: there is no container "web" in pods'),
    ("steps: [{stop: nobody}]\n", '4:16: there is no pod or container "nobody" in pods'),
    ("steps: [{expect: {of: apq, state: running}}]\n", '4:23: there is no pod or container "apq" in pods; is "app" meant?'),
    ("steps: [{wait: {step: first}}]\n", '4:23: no step before this one has the name "first"'),
    ("steps: [{expect: {step: first, ok: true}}]\n", '4:25: no step before this one has the name "first"'),
    ("steps: [{connect: a}]\n", '4:19: no plugin of the list that is marked as later has the name "a"'),
    ("steps: [{run: web, expect: {events: [RunPodSandbok]}}]\n",
     '4:38: "RunPodSandbok" is no event of NRI; is "RunPodSandbox" meant?'),
    ("steps: [{wait: {event: Run}}]\n", '4:24: "Run" is no event of NRI'),
    ("steps: [{expect: {owners: {emv A: x}}}]\n", '4:35: "emv A" begins with no field of NRI (doc/scenario.md has them); is "Env"'),
    ("steps: [{expect: {conflict: {on: weather}}}]\n", '4:34: "weather" begins with no field of NRI'),
    ("steps: [{expect: {adjustment: {'/a~2': x}}}]\n", "4:40: /a~2 is no JSON pointer: after ~ stands 0 or 1"),
    # updates
    ("steps: [{update: app}]\n", '4:9: step update needs "resources"'),
    ("steps: [{update: app, resources: {cpu: {shares: x}}}]\n", "4:49: LinuxResources.cpu.shares: must be"),
    ("steps: [{update: app, resources: {}, overhead: {}}]\n", "4:48: overhead is of a pod sandbox, not a container"),
    # plugins
    ("plugins: [{name: x}]\nsteps: []\n", '4:11: plugin needs "command": The command line'),
    ("plugins: [{command: []}]\nsteps: []\n", "4:21: command is empty"),
    ("plugins: [{command: \"a 'b\"}]\nsteps: []\n", "4:21: command: a quote does not end"),
    ("plugins: [{command: a, index: 10}]\nsteps: []\n", "4:31: index must be a text that is not empty, not 10"),
    ("plugins: [{command: a, index: '1'}]\nsteps: []\n", "4:31: index must be two digits in quotes, such as \"10\""),
    ("plugins: [{command: a, later: true}]\nsteps: []\n", "4:11: a plugin that is started later needs a name"),
]
PODS = [
    ("[{name: web, label: {a: b}}]", '2:20: PodSandbox["label"]: unknown member'),
    ("[{containers: [app]}]", "2:8: a pod needs an id or a name"),
    ("[{name: web, containers: [{env: {}}]}]", "2:33: a container needs an id or a name"),
    ("[{name: web, containers: [{name: a, linux: {resources: {memory: {limit: x}}}}]}]",
     "2:79: Container.linux.resources.memory.limit: must be"),
    ("[{name: web, containers: [{name: a, resources: {memory: {limit: x}}}]}]",
     "2:71: Container.linux.resources.memory.limit: must be"),
    ("[{name: web, containers: [{name: a, linux: {resources: {}}, resources: {}}]}]",
     "2:78: resources is short for linux.resources, which is there, too"),
    ("[{name: web}, web]", '2:21: there is a pod with the id "web" already'),
    ("[{name: web, containers: [a]}, {name: wed, containers: [a]}]", '2:63: there is a container with the id "a" already'),
]


class Forms(Sim):
    def test_what_is_wrong_has_its_place(self):
        for text, says in WRONG:
            with self.subTest(text):
                self.refused("sim", self.write("test.yaml", HEAD + text), says="nrictl sim: test.yaml:" + says)

    def test_pods_and_containers_are_nris_with_their_places(self):
        for pods, says in PODS:
            with self.subTest(pods):
                self.refused("sim", self.write("test.yaml", "version: 1\npods: %s\nsteps: []\n" % pods),
                             says="nrictl sim: test.yaml:" + says)

    def test_the_file_as_a_whole(self):
        for text, says in [("steps: []", 'test.yaml:1:1: scenario needs "version": The version of this form, 1'),
                           ("version: 2\nsteps: []", "test.yaml:1:10: version must be a whole number from 1 to 1, not 2"),
                           ("version: 1", 'test.yaml:1:1: scenario needs "steps": What happens, in order'),
                           ("[]", "test.yaml:1:1: scenario must be an object, not a list"),
                           ("", "test.yaml:1:1: the file has nothing in it"),
                           ("version: 1\nversion: 1", 'test.yaml:2:1: the key "version" is there already, in line 1'),
                           ("version: &a 1", "test.yaml:1:10: anchors (&a)")]:
            with self.subTest(text):
                self.refused("sim", self.write("test.yaml", text), says=says)
        self.refused("sim", self.write("test.json", '{"version": 1,\n "steps": [], }'), says="test.json:2:15: ")
        self.refused("sim", self.write("any", '{"version": 2}'), says="any:1:13: version must be")
        self.refused("sim", "none.yaml", says="none.yaml: No such file")
        self.refused("sim", ".", says=". is a directory")
        self.write("large.yaml", "#" * (4 << 20) + "\n")
        self.refused("sim", "large.yaml", says="large.yaml is longer than 4194304 bytes")

    def test_json_and_yaml_and_standard_input_are_the_same(self):
        document = {"version": 1, "name": "same", "pods": [{"name": "web", "containers": [{"name": "app", "env": {"A": "1"}}]}],
                    "steps": [{"run": "web"}, {"create": "app", "expect": {"container": {"env[A]": "1"}}}]}
        yaml = ("version: 1\nname: same\npods:\n  - name: web\n    containers:\n      - name: app\n        env: {A: '1'}\n"
                "steps:\n  - run: web\n  - create: app\n    expect: {container: {'env[A]': '1'}}\n")
        results = [self.run_json("sim", self.write("a.json", json.dumps(document))),
                   self.run_json("sim", self.write("a.yaml", yaml)),
                   self.run_json("sim", self.write("a.txt", json.dumps(document))),
                   self.run_json("sim", "-", text=yaml), self.run_json("sim", "-", text=json.dumps(document))]
        for result in results:
            self.assertTrue(result["passed"])
            self.assertEqual(result["events"], results[0]["events"])
        self.assertEqual([result["file"] for result in results], ["a.json", "a.yaml", "a.txt", "standard input", "standard input"])

    def test_the_name_of_several_needs_an_id(self):
        text = """version: 1
pods: [{name: web, containers: [{id: a1, name: app}]}, {name: shop, containers: [{id: a2, name: app}]}]
steps:
  - run: web
  - create: app
"""
        self.refused("sim", self.write("test.yaml", text), says='test.yaml:5:13: "app" is the name of several')
        self.assertEqual(self.sim(text.replace("create: app", "create: a1"))["containers"][0]["id"], "a1")


class Published(Sim):
    def test_the_published_schema_is_the_programs(self):
        with open(os.path.join(DOC, "scenario.schema.json"), encoding="utf-8") as file:
            self.assertEqual(file.read(), self.run_nrictl("sim", "--schema").stdout,
                             "nrictl sim --schema > doc/scenario.schema.json makes it")


if __name__ == "__main__":
    case.main()
