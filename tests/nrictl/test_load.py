#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""test_load.py NRICTL PROGRAMS: nrictl sim --pods, --containers, --rate, --duration."""
import json
import os
import signal
import subprocess

import case

# Of one pod sandbox with one container: RunPodSandbox, of the container 6 and its end and removal, and the end.
EVENTS = 11


class Load(case.Case):
    def test_so_many_pods(self):
        result = self.run_json("sim", "--pods", "6", "--containers", "2", "--plugin", "nri-template")
        self.assertEqual(result["pods"], 6)
        self.assertEqual(result["containers"], 12)
        self.assertEqual(result["events"], 6 * (2 * EVENTS - 3))
        self.assertEqual(result["errors"], 0)
        self.assertIsNone(result["first_error"])
        by_event = {row["event"]: row for row in result["by_event"]}
        self.assertEqual(by_event["CreateContainer"]["count"], 12)
        asked = {row["event"]: row for row in result["by_plugin"]}
        self.assertEqual(asked["CreateContainer"]["plugin"], "00-nri-template")
        for row in result["by_event"] + result["by_plugin"]:
            self.assertTrue(0 < row["p50_ns"] <= row["p90_ns"] <= row["p99_ns"] <= row["max_ns"], row)
        # The event is not over before the plugin has answered.
        self.assertGreaterEqual(by_event["CreateContainer"]["max_ns"], asked["CreateContainer"]["max_ns"])

    def test_text(self):
        text = self.run_nrictl("sim", "--pods", "3").stdout
        self.assertRegex(text, r"^3 pod sandboxes, 3 containers, 33 events in [0-9.]+ s: [0-9]+ events a second, 0 errors\n")
        self.assertRegex(text, r"\(all\) +CreateContainer +3 +0 +[0-9.]+ [mu]s")

    def test_rate_and_duration(self):
        # Of one a second there is one only in that time, however many there may be.
        self.assertEqual(self.run_json("sim", "--pods", "50", "--rate", "1", "--duration", "300ms")["pods"], 1)
        self.assertGreater(self.run_json("sim", "--duration", "300ms")["pods"], 0)

    def test_imitated_runtime(self):
        result = self.run_json("sim", "--pods", "2", "--runtime", "docker@29.6")
        self.assertEqual([row["event"] for row in result["by_event"]], ["CreateContainer"])

    def test_errors_are_a_finding(self):
        # Two plugins that set the same annotation.
        done = self.run_nrictl("sim", "--pods", "4", "-p", "10-a=nri-template", "-p", "20-b=nri-template", "-o", "json",
                               expect=case.FINDING)
        result = json.loads(done.stdout)
        self.assertEqual(result["errors"], 4)
        self.assertEqual(result["containers"], 0)
        self.assertIn("both tried to set", result["first_error"])

    def test_a_signal_ends_it_with_its_result(self):
        process = subprocess.Popen([case.NRICTL, "sim", "--pods", "2", "--duration", "1h", "-o", "json", "-p", "nri-logger"],
                                   env=self.environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        # The plugin prints to standard error what it is told.
        for line in process.stderr:
            if "RemovePodSandbox" in line:
                break
        process.send_signal(signal.SIGTERM)
        out, _ = process.communicate(timeout=case.PATIENCE)
        self.assertEqual(process.returncode, case.OK)
        self.assertGreater(json.loads(out)["pods"], 0)

    def test_socket_goes(self):
        path = self.path("of-load.sock")
        self.run_nrictl("sim", "--pods", "1", "--socket", path)
        self.assertFalse(os.path.exists(path))

    def test_usage(self):
        self.refused("sim", "--pods", "0", says="--pods is a number from 1 to 100000, not '0'")
        self.refused("sim", "--containers", "1001", says="--containers is a number from 1 to 1000")
        self.refused("sim", "--rate", "fast", says="--rate is a number from 1 to 1000000, not 'fast'")
        self.refused("sim", "--duration", "soon", says="--duration is a time such as")
        self.refused("sim", "--pods", "1", "scenario.yaml", says="load (--pods, --containers, --rate, --duration) goes without a scenario")
        self.refused("sim", "--pods", "1", "--tap", says="not of load")
        self.refused("sim", "--pods", "1", "--shell", says="goes without --shell")
        self.refused("sim", "--pods", "1", "--runtime", "podman", says="there are containerd, cri-o and docker")
        self.refused("sim", "--pods", "1", "--socket", "/" + 200 * "x", says="107")

    def test_environment(self):
        self.refused("sim", "--pods", "1", "-p", "/no/such/plugin", says="/no/such/plugin", expect=case.ENVIRONMENT)
        self.refused("sim", "--pods", "1", "-p", "false", says="ended with status 1 before it was registered",
                     expect=case.ENVIRONMENT)


case.main()
