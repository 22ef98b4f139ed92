#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""test_sim_cases.py NRICTL PROGRAMS: public bug reports as scenarios; tests/cases.md lists them.

Each scenario says what has to hold; here stands besides what the plugin itself wrote down, and that a second run is the
same.
"""
import json
import os
import shutil

import case
from sim import HEAD, Sim

SCENARIOS = os.path.join(os.path.dirname(os.path.realpath(__file__)), "scenarios")


class Cases(Sim):
    def setUp(self):
        super().setUp()
        shutil.copytree(SCENARIOS, self.directory, dirs_exist_ok=True)

    def play(self, name):
        """A scenario, twice with the same result; that, and what the plugin reported."""
        results = []
        for _ in range(2):
            result = self.run_json("sim", name)
            self.assertTrue(result["passed"])
            for latency in result["latencies"]:
                del latency["mean_ns"], latency["longest_ns"]
            results.append(result)
        self.assertEqual(*results)
        return result, self.report()

    def report(self, what="event"):
        lines = (json.loads(line) for line in self.read("watch.report").splitlines())
        return [line for line in lines if line["what"] == what]

    def names(self, report):
        return [line["event"] + " " + (line["container"] or line["pod"]) for line in report
                if line["event"] not in ("Configure", "Synchronize", "Shutdown", "ValidateContainerAdjustment")]

    def test_U11_the_order_of_events_is_the_same_on_two_runs(self):
        result, report = self.play("u11.yaml")
        self.assertEqual(self.names(report), result["events"])
        # The default scenario is this one.
        self.assertEqual(self.run_json("sim")["events"], result["events"])

    def test_S34_a_container_that_exits_is_stopped_once_with_its_code(self):
        _, report = self.play("s34.yaml")
        stops = [line["exit_code"] for line in report if line["event"] == "StopContainer"]
        self.assertEqual(stops, [3])

    def test_S35_nothing_is_created_in_a_stopped_pod_sandbox(self):
        result, report = self.play("s35.yaml")
        self.assertEqual(self.names(report), ["RunPodSandbox pod0", "StopPodSandbox pod0"])
        self.assertEqual(result["containers"], [])

    def test_S37_a_removal_waits_for_run_pod_sandbox(self):
        _, report = self.play("s37.yaml")
        self.assertEqual(self.names(report), ["RunPodSandbox pod0", "StopPodSandbox pod0", "RemovePodSandbox pod0"])

    def test_S50_an_update_of_what_does_not_run_fails_alone(self):
        self.play("s50.yaml")
        updates = self.report("update")
        self.assertEqual([(line["ok"], line["failed"]) for line in updates], [(True, ["stopped", "unknown"])])

    def test_U06_a_wrong_scenario_starts_nothing(self):
        plugins = "plugins:\n" + self.scripted("10-a")
        for text, says in [
            ("request_timout: 2s", 'test.yaml:4:1: "request_timout" is not a key of scenario; is "request_timeout" meant?'),
            ("request_timeout: 25x", "test.yaml:4:18: request_timeout must be a time such as 250ms, 2s or 1m30s, from 1 to "
                                     '86400000 ms, not "25x"'),
            ("request_timeout: 25", "test.yaml:4:18: request_timeout must be a time such as 250ms"),
            ("request_timeout: 0s", "test.yaml:4:18: request_timeout must be a time such as 250ms"),
            ("registration_timeout: [5s]", "test.yaml:4:23: registration_timeout must be a time"),
            ("validator: {request_timeout: 2s}", 'test.yaml:4:13: "request_timeout" is not a key of validator: it belongs to scenario'),
            ("validator: {enable: 1}", "test.yaml:4:21: enable must be true or false, not 1"),
        ]:
            with self.subTest(text):
                self.refused("sim", self.write("test.yaml", HEAD + text + "\n" + plugins + "steps: []\n"), says=says)
                self.assertFalse(os.path.exists(self.path("10-a.report")))
        self.sim(HEAD + "request_timeout: 25s\nregistration_timeout: 1m5s\n" + plugins + "steps: []\n")
        told = [json.loads(line) for line in self.read("10-a.report").splitlines()][0]
        self.assertEqual((told["event"], told["request_timeout_ms"], told["registration_timeout_ms"]),
                         ("Configure", 25000, 65000))


if __name__ == "__main__":
    case.main()
