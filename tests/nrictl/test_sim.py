#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""test_sim.py NRICTL PROGRAMS: scenarios, what they expect, and what is told of it."""
import case
from sim import HEAD, Sim


class Run(Sim):
    def test_example_passes(self):
        result = self.run_json("sim", "scenario.yaml")
        self.assertTrue(result["passed"])
        self.assertEqual(result["plugins"], ["10-template"])
        self.assertEqual(result["expectations"]["failed"], 0)
        self.assertEqual(result["containers"][0]["owners"], [
            {"field": "Annotations", "key": "nri-template.example/seen", "action": "set", "plugin": "10-template"},
            {"field": "Env", "key": "NRI_TEMPLATE", "action": "set", "plugin": "10-template"}])

    def test_each_failed_expectation_is_told_with_what_was_seen(self):
        text = HEAD + "plugins:\n" + self.scripted("10-a", self.setting("1")) + """steps:
  - run: web
    expect: {events: [RunPodSandbox, StopPodSandbox]}
  - create: app
    expect:
      adjustment: {"env[A]": "2", "env[B]": "1", "env[A]x": 1}
"""
        self.refused("sim", self.write("test.yaml", text), says="test.yaml:11:61: env[A]x is no path")
        result = self.sim(text.replace(', "env[A]x": 1', "") + """      owners: {env A: 20-b, env B: 10-a}
      state: running
      container: {"env[A]": {matches: "^[2-9]$"}, name: {contains: xx}}
      events: {plugin: a, since: start, absent: [CreateContainer]}
      plugins: [10-a, 20-b]
      ok: false
  - start: app
    expect: {refused_by: a, code: NRI_E_REJECTED, conflict: env A, latency: {below: 1ms, plugin: nobody}}
""", expect=case.FINDING)
        self.assertFalse(result["passed"])
        self.assertEqual(self.failures(result), [
            ("run web", "events", '["RunPodSandbox","StopPodSandbox"]', '["RunPodSandbox web"]'),
            ("create app", "ok", "a failure", "success"),
            ("create app", "events without", '["CreateContainer"]', '["RunPodSandbox web","CreateContainer app",'
             '"ValidateContainerAdjustment app","PostCreateContainer app"]'),
            ("create app", "plugins", '["10-a","20-b"]', '["10-a"]'),
            ("create app", "adjustment env[A]", '"2"', '"1"'),
            ("create app", "adjustment env[B]", '"1"', "absent"),
            ("create app", "owner of env A", "20-b", "10-a"),
            ("create app", "owner of env B", "10-a", "nobody"),
            ("create app", "container env[A]", '{"matches":"^[2-9]$"}', '"1"'),
            ("create app", "container name", '{"contains":"xx"}', '"app"'),
            ("create app", "state", "running", "created"),
            ("start app", "code", "NRI_E_REJECTED", "success"),
            ("start app", "refused_by", "a", "nobody"),
            ("start app", "conflict", '"env A"', "success"),
            ("start app", "latency of nobody", "below 1 ms", "no answer of it"),
        ])

    def test_device_rules_of_several_plugins_have_a_name(self):
        rule = ('{"event": "CreateContainer", "adjust": {"linux": {"resources": {"devices": ['
                '{"allow": true, "type": "c", "major": %d, "access": "r"}, '
                '{"allow": false, "type": "b", "major": %d, "access": "w"}]}}}}')
        text = (HEAD + "plugins:\n" + self.scripted("10-a", rule % (1, 1)) + self.scripted("20-b", rule % (2, 2))
                + "steps: [{run: web}, {create: app}]\n")
        text = self.run_nrictl("sim", self.write("test.yaml", text)).stdout
        self.assertEqual([line.split() for line in text.splitlines() if line.startswith("device rules")],
                         [["device", "rules", "set", "10-a"], ["device", "rules", "set", "20-b"]])
        self.assertNotIn("None", text)
        shell = self.run_nrictl("sim", "--shell", "-p", "10-a=nri-scripted --script 10-a.json",
                                text="run web\ncreate web app\n").stdout
        self.assertIn("  10-a sets device rules\n", shell)

    def test_a_step_that_fails_is_a_failure_unless_that_is_expected(self):
        steps = "steps:\n  - create: app\n"
        result = self.sim(HEAD + steps, expect=case.FINDING)
        self.assertEqual([failure[:3] for failure in self.failures(result)], [("create app", "the step", "success")])
        self.sim(HEAD + steps + "    expect: {ok: false}\n")

    def test_conflict_is_named(self):
        text = HEAD + "plugins:\n" + self.scripted("10-a", self.setting("1")) + self.scripted("20-b", self.setting("1"))
        result = self.sim(text + """steps:
  - run: web
  - create: app
    expect:
      conflict: {on: env A, between: [a, 20-b]}
      refused_by: b
      error: {matches: "^CreateContainer: .*both tried to set Env A$"}
      code: NRI_E_CONFLICT
""")
        self.assertEqual([conflict["container"] for conflict in result["conflicts"]], ["app"])
        result = self.sim(text + """steps:
  - run: web
  - create: app
    expect: [{conflict: env AA}, {conflict: args}, {conflict: {on: env A, between: [c]}}]
""", expect=case.FINDING)
        self.assertEqual(len(self.failures(result)), 3)

    def test_text_names_what_failed_with_its_line(self):
        text = HEAD + "steps:\n  - run: web\n    expect: {state: stopped}\n"
        done = self.run_nrictl("sim", self.write("test.yaml", text), expect=case.FINDING)
        self.assertIn("test.yaml:6: run web: state\n    expected stopped\n    seen     ready\n", done.stdout)
        self.assertIn("failed: 1 of 1 steps", done.stdout)


if __name__ == "__main__":
    case.main()
