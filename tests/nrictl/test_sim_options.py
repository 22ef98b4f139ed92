#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""test_sim_options.py NRICTL PROGRAMS: the options of sim, its reports for CI, and its end by a signal."""
import glob
import json
import os
import signal
import subprocess
import xml.etree.ElementTree as xml

import case
from sim import HEAD, Sim

FAILING = HEAD.replace("name: test", "name: '<test> & \"more\"'") + r"""
plugins: []
steps:
  - run: web
    name: "a # and \e[31m <b>"
  - create: app
    expect:
      ok: false
      container: {name: "<&\u0001\uffff>"}
  - wait: {plugin: nobody}
    timeout: 10ms
  - stop: web
"""


class Reports(Sim):
    def test_junit(self):
        text = FAILING.replace(r"\u0001\uffff", r"\e\u00e4")
        self.run_nrictl("sim", "--junit", "out.xml", self.write("test.yaml", text), expect=case.FINDING)
        root = xml.parse(self.path("out.xml")).getroot()
        suite = root[0]
        self.assertEqual((suite.get("name"), suite.get("tests"), suite.get("failures"), suite.get("errors"), suite.get("skipped")),
                         ('<test> & "more"', "4", "2", "0", "1"))
        cases = suite.findall("testcase")
        self.assertEqual([case.get("name") for case in cases],
                         ["1 run web: a # and \ufffd[31m <b>", "2 create app", "3 wait for plugin nobody", "4 stop web"])
        self.assertEqual(cases[1].get("line"), "9")
        self.assertEqual([(failure.get("message"), failure.text) for failure in cases[1].findall("failure")], [
            ("ok", "expected a failure\nseen     success"),
            ("container name", 'expected "<&\\u001b\u00e4>"\nseen     "app"')])
        self.assertIsNotNone(cases[3].find("skipped"))
        self.assertEqual(cases[0].findall("*"), [])

    def test_junit_of_what_passed_and_of_what_was_cut_short(self):
        self.run_nrictl("sim", "--junit", "out.xml")
        suite = xml.parse(self.path("out.xml")).getroot()[0]
        self.assertEqual((suite.get("tests"), suite.get("failures"), suite.get("errors"), suite.get("skipped")), ("12", "0", "0", "0"))
        text = HEAD + "steps: [{wait: {plugin: nobody}}]\n"
        self.run_nrictl("sim", "--timeout", "20ms", "--junit", "out.xml", self.write("test.yaml", text), expect=case.FINDING)
        suite = xml.parse(self.path("out.xml")).getroot()[0]
        self.assertEqual((suite.get("tests"), suite.get("failures"), suite.get("errors"), suite.get("skipped")), ("2", "0", "1", "1"))
        self.assertEqual(suite[-1][0].get("message"), "it took longer than --timeout")

    def test_junit_that_cannot_be_written(self):
        done = self.run_nrictl("sim", "--junit", "none/out.xml", expect=case.ENVIRONMENT)
        self.assertIn("none/out.xml: No such file or directory", done.stderr)
        self.assertIn("passed", done.stdout)
        done = self.run_nrictl("sim", "--junit", "/dev/full", expect=case.ENVIRONMENT)
        self.assertIn("/dev/full: it could not be written whole", done.stderr)

    def test_tap(self):
        done = self.run_nrictl("sim", "--tap", self.write("test.yaml", FAILING), expect=case.FINDING)
        self.assertEqual(done.stdout.splitlines(), [
            "TAP version 13", "1..4",
            r"ok 1 - run web: a \# and  [31m <b>",
            "not ok 2 - create app",
            "# line 11: ok", "#   expected a failure", "#   seen     success",
            '# line 12: container name', '#   expected "<&' + r"\\u0001" + '\uffff>"', '#   seen     "app"',
            "not ok 3 - wait for plugin nobody",
            "# line 13: the step", "#   expected success", "#   seen     NRI_E_TIMEOUT: it did not come in time",
            "not ok 4 - stop web", "# not done: what was waited for did not come"])
        done = self.run_nrictl("sim", "--tap")
        self.assertEqual(done.stdout.splitlines()[1:3], ["1..12", "ok 1 - run pod0"])

    def test_a_terminal_gets_no_escapes_of_a_file(self):
        done = self.run_nrictl("sim", "--color", "never", self.write("test.yaml", FAILING.replace("name: '<test>", 'name: "\\e[31m<test>')
                               .replace('& "more"\'', '"')), expect=case.FINDING)
        self.assertNotIn("\033", done.stdout)
        self.assertIn("\\x1b[31m<test>", done.stdout)

    def test_text_and_json_tell_the_same(self):
        text = HEAD + "plugins:\n" + self.scripted("10-a", self.setting("1")) + self.scripted("20-b", self.setting("2")) + \
            "steps:\n  - run: web\n  - create: app\n    expect: {ok: false}\n"
        self.write("test.yaml", text)
        result = self.run_json("sim", "test.yaml")
        shown = self.run_nrictl("sim", "test.yaml").stdout
        self.assertIn("conflicts\n  CreateContainer app: " + result["conflicts"][0]["text"], shown)
        self.assertEqual([latency["plugin"] for latency in result["latencies"]], ["10-a", "20-b"])
        self.assertEqual([latency["asked"] for latency in result["latencies"]],
                         [int(line.split()[1]) for line in shown.splitlines() if line.startswith(("10-a", "20-b"))])


class Options(Sim):
    def test_plugins_of_the_command_line(self):
        result = self.run_json("sim", "-p", "nri-template", "--plugin", "15-second=nri-logger --events pod",
                               "--plugin", "nri-logger -s {socket} -i 07 -n 'itself'")
        self.assertEqual(result["plugins"], ["00-nri-template", "15-second", "07-itself"])

    def test_plugins_that_are_refused(self):
        for argument, says in [("", "--plugin '': it is empty"), ("'a", "a quote does not end"),
                               ("x=y", "what stands before = is NN-NAME, such as 10-y"), ("10-=y", "NN-NAME"),
                               ("10-x=", "NN-NAME, such as 10-name")]:
            self.refused("sim", "--plugin", argument, says=says)
        many = ["--plugin", "x"] * 129
        self.refused("sim", *many, says="at most 128 plugins are possible")
        self.refused("sim", *["--wait", "x"] * 129, says="at most 128 plugins are possible")

    def test_plugins_that_do_not_start(self):
        self.refused("sim", "--plugin", "no-such-program", says="no-such-program", expect=case.ENVIRONMENT)
        done = self.run_nrictl("sim", "--plugin", "false", expect=case.ENVIRONMENT)
        self.assertIn(": it ended with status 1 before it was registered", done.stderr)
        text = HEAD + "plugins: [{command: sleep 600, timeout: 10ms}]\nsteps: []\n"
        self.refused("sim", self.write("test.yaml", text), says="plugin sleep: it was not registered in ", expect=case.ENVIRONMENT)

    def test_runtimes(self):
        self.assertIn("containerd", self.run_nrictl("sim", "--runtime", "help").stdout)
        self.refused("sim", "--runtime", "weather@1", says="weather")
        text = HEAD + "runtime: cri-o@1.34\nplugins: [{command: nri-template}]\nsteps: []\n"
        self.assertIn("configured by cri-o 1.34", self.run_nrictl("sim", self.write("test.yaml", text)).stderr)
        done = self.run_nrictl("sim", "--runtime", "containerd@2.1", "test.yaml")
        self.assertIn("configured by containerd 2.1", done.stderr)

    def test_what_does_not_go_together(self):
        for arguments, says in [(["a", "b"], "one scenario can be run at a time, not 2"),
                                (["--tap", "-o", "json"], "--tap and --output json"),
                                (["--pods", "1", "scenario.yaml"], "goes without a scenario"),
                                (["--pods", "1", "--shell"], "goes without --shell"),
                                (["--rate", "1", "--tap"], "of scenarios, not of load"),
                                (["--duration", "1s", "--junit", "x"], "of scenarios, not of load"),
                                (["--shell", "--keep"], "--shell keeps the node"),
                                (["--shell", "-"], "standard input"),
                                (["--plugin-dir", ""], "--plugin-dir is empty"),
                                (["--config-dir", ""], "--config-dir is empty"),
                                (["--pods", "0"], "--pods is a number from 1 to"), (["--pods", "x"], "--pods"),
                                (["--containers", "1001"], "--containers is a number from 1 to 1000"),
                                (["--rate", "-1"], "--rate"), (["--duration", "5"], "--duration is a time"),
                                (["--timeout", "0ms"], "--timeout is a time"), (["--timeout", "25x"], "--timeout is a time")]:
            with self.subTest(arguments):
                self.refused("sim", *arguments, says=says)

    def test_directories_that_are_none(self):
        for option, key in (("--plugin-dir", "plugin_directory"), ("--config-dir", "config_directory")):
            self.refused("sim", option, "absent", says=option + " absent: No such file")
            self.refused("sim", option, "config.json", says=option + " config.json: it is a file, not a directory")
            name = self.write("test.yaml", HEAD + key + ": /absent/directory\nsteps: []\n")
            self.refused("sim", name, says=key + " /absent/directory: No such file")

    def test_timeout_of_the_whole(self):
        result = self.sim(HEAD + "steps:\n  - wait: {plugin: nobody}\n  - run: web\n", "--timeout", "30ms", expect=case.FINDING)
        self.assertEqual(result["incomplete"], "it took longer than --timeout")
        self.assertEqual([step["state"] for step in result["steps"]], ["under way", "not begun"])

    def test_verbose_tells_steps_and_the_runtimes_log(self):
        done = self.run_nrictl("sim", "-v", "--plugin", "10-t=nri-template")
        self.assertIn("step 2 of 12: create ctr0\n", done.stderr)
        self.assertIn("runtime: info: ", done.stderr)
        self.assertNotIn("step 2", self.run_nrictl("sim").stderr)

    def test_a_scenario_and_then_a_shell(self):
        text = HEAD + "steps: [{run: web}, {create: app}]\n"
        done = self.run_nrictl("sim", "--shell", self.write("test.yaml", text), text="start app\n")
        self.assertIn("passed: 2 of 2 steps", done.stdout)
        self.assertIn("start app: done", done.stdout)
        self.run_nrictl("sim", "--shell", text="start nobody\n", expect=case.FINDING)

    def test_load(self):
        done = self.run_nrictl("sim", "--pods", "3", "--containers", "2", "--plugin", "10-t=nri-template")
        self.assertIn("3 pod sandboxes, 6 containers, ", done.stdout)
        broken = "10-a=nri-scripted --script " + self.write("a.json", '{"rules": [{"event": "CreateContainer", "error": "no"}]}')
        self.run_nrictl("sim", "--pods", "1", "--plugin", broken, expect=case.FINDING)


class Ends(Sim):
    def start(self, *arguments):
        process = subprocess.Popen([case.NRICTL, "sim", *arguments], cwd=self.directory, env=self.environment(), text=True,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stderr.close)
        self.addCleanup(lambda: process.poll() is None and process.kill())
        return process

    def until(self, stream, says):
        for line in stream:
            if says in line:
                return
        self.fail("it ended without: " + says)

    def end(self, process, number):
        """Its exit status and what it printed. All that holds its standard error, as its plugins do, has ended then."""
        process.send_signal(number)
        printed, told = process.communicate(timeout=case.PATIENCE)
        self.assertEqual(glob.glob(self.path("**", "*.sock"), recursive=True), [], told)
        return process.returncode, printed

    def test_a_signal_ends_it_in_order_with_what_was_found_so_far(self):
        text = HEAD + "plugins:\n" + self.scripted("10-a") + "steps:\n  - run: web\n  - wait: {plugin: nobody}\n    timeout: 10m\n"
        self.write("test.yaml", text)
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.subTest(number):
                process = self.start("-v", "-o", "json", "--socket", "nri.sock", "test.yaml")
                self.until(process.stderr, "step 2 of 2")
                code, printed = self.end(process, number)
                self.assertEqual(code, case.ENVIRONMENT)
                result = json.loads(printed)
                self.assertEqual(result["incomplete"], "it was interrupted")
                self.assertEqual(result["events"], ["RunPodSandbox web"])
                self.assertIn('"event": "Shutdown"', self.read("10-a.report"))

    def test_a_signal_among_the_steps_ends_it_with_keep_too(self):
        text = HEAD + "steps:\n  - wait: {plugin: nobody}\n    timeout: 10m\n"
        process = self.start("-v", "--keep", self.write("test.yaml", text))
        self.until(process.stderr, "step 1 of 1")
        self.assertEqual(self.end(process, signal.SIGINT)[0], case.ENVIRONMENT)

    def test_a_signal_that_finds_a_failure_is_one(self):
        text = HEAD + "steps:\n  - start: app\n  - wait: {plugin: nobody}\n    timeout: 10m\n"
        process = self.start("-v", self.write("test.yaml", text))
        self.until(process.stderr, "step 2 of 2")
        self.assertEqual(self.end(process, signal.SIGINT)[0], case.FINDING)

    def test_it_waits_for_a_plugin_that_connects(self):
        # nri-scripted tries until there is a socket.
        plugin = subprocess.Popen(["nri-scripted", "--socket", self.path("nri.sock"), "--name", "late", "--idx", "33"],
                                  env=self.environment(), stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(plugin.wait)
        self.addCleanup(plugin.terminate)
        result = self.run_json("sim", "--socket", "nri.sock", "--wait", "late")
        self.assertEqual(result["plugins"], ["33-late"])
        self.assertTrue(result["passed"])

    def test_the_node_is_kept(self):
        process = self.start("--keep", "--socket", "nri.sock")
        self.until(process.stdout, "passed: 12 of 12 steps")
        self.until(process.stderr, "the node stays, at nri.sock, until Ctrl-C")
        plugin = subprocess.run(["nri-logger", "--socket", "nri.sock", "--idx", "50", "--name", "x", "--events", "nothing"],
                                cwd=self.directory, env=self.environment(), capture_output=True, timeout=case.PATIENCE, check=False)
        self.assertNotEqual(plugin.returncode, 0)
        self.assertTrue(os.path.exists(self.path("nri.sock")))
        self.assertEqual(self.end(process, signal.SIGINT), (case.OK, ""))

    def test_what_a_killed_one_left_goes_with_the_next(self):
        def directories():
            return sorted(glob.glob(self.path("nrictl-??????")))

        def begin():
            process = subprocess.Popen([case.NRICTL, "sim", "--shell"], cwd=self.directory, env=self.environment(),
                                       stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
            self.addCleanup(process.communicate)
            self.addCleanup(process.kill)
            process.stdin.write("run web\n")
            process.stdin.flush()
            self.assertIn("run web: done", process.stdout.readline())
            return process

        killed = begin()
        left = directories()
        self.assertEqual([sorted(os.listdir(path)) for path in left], [["lock", "nri.sock"]])
        # Not of its kind: no socket, more than a socket, a link, a name that is another one.
        os.mkdir(self.path("nrictl-aaaaaa"), 0o700)
        os.mkdir(self.path("nrictl-bbbbbb"), 0o700)
        for name in ("lock", "nri.sock"):
            self.write("nrictl-bbbbbb/" + name, "")
        os.symlink(os.path.basename(left[0]), self.path("nrictl-cccccc"))
        others = [self.path("nrictl-" + 6 * letter) for letter in "abc"]
        killed.kill()
        killed.wait(case.PATIENCE)
        self.assertEqual(sorted(left + others), directories())
        lives = begin()
        now = [path for path in directories() if path not in others]
        self.assertEqual(len(now), 1)
        self.assertNotEqual(now, left)
        # One that lives keeps its own, whoever comes.
        self.run_nrictl("sim")
        self.assertEqual(directories(), sorted(now + others))
        lives.stdin.write("run other\n")
        lives.stdin.flush()
        self.assertIn("run other: done", lives.stdout.readline())
        self.assertEqual(sorted(os.listdir(now[0])), ["lock", "nri.sock"])

    def test_load_is_ended_by_a_signal(self):
        process = self.start("--pods", "2", "--duration", "10m", "-p", "10-t=nri-template")
        self.until(process.stderr, "RemovePodSandbox")
        code, printed = self.end(process, signal.SIGINT)
        self.assertEqual(code, case.OK)
        self.assertIn("0 errors", printed)


if __name__ == "__main__":
    case.main()
