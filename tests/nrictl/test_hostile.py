#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""test_hostile.py NRICTL PROGRAMS: what a process may be started with or without, and names that a terminal would obey."""
import os
import re
import resource
import signal
import subprocess
import unittest

import case

# ESC, BEL, DEL, and C1's CSI in UTF-8.
NAMES = "a\x1b[31m\x07\x7f\x9b1m"
OBEYED = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f]")
SCENARIO = r"""
version: 1
name: "n\e[1m"
pods:
  - name: "a\e[31m\a\x7f\x9b1m"
    containers: [{name: "c\e[31m\a\x7f\x9b1m", args: ["\x9b", "\x7f"]}]
steps:
  - run: "a\e[31m\a\x7f\x9b1m"
  - create: "c\e[31m\a\x7f\x9b1m"
    name: "s\e]0;x\a"
"""
# What prints something, and needs neither a plugin nor a runtime.
COMMANDS = [["sim"], ["sim", "--schema"], ["sim", "--pods", "1", "--rate", "100", "--duration", "50ms"], ["decode", "session.rec"],
            ["explain"], ["apply", "config.json", "adjustment.json"], ["doctor", "--root", "healthy"], ["doctor", "--list"],
            ["top", "--recording", "session.rec", "--count", "1"], ["help"], ["--version"], ["sim", "--help"]]


class Names(case.Case):
    def check_clean(self, *arguments, expect=case.OK, text=None):
        done = self.run_nrictl(*arguments, expect=expect, text=text)
        self.assertIsNone(OBEYED.search(done.stdout), (arguments, done.stdout))
        self.assertIsNone(OBEYED.search(done.stderr), (arguments, done.stderr))
        return done

    def test_of_files(self):
        for arguments in (["sim", NAMES + ".yaml"], ["decode", NAMES], ["apply", "config.json", NAMES], ["diff", NAMES, "x"],
                          ["doctor", "--root", NAMES], ["replay", "session.rec", "--", "./" + NAMES], [NAMES],
                          ["sim", "--" + NAMES], ["sim", "--runtime", NAMES], ["explain", NAMES]):
            done = self.check_clean(*arguments, expect=case.USAGE)
            self.assertIn("\\x1b[31m\\x07\\x7f\\xc2\\x9b1m", done.stderr, arguments)
        self.check_clean("check", "--", "./" + NAMES, expect=case.ENVIRONMENT)
        self.check_clean("sim", "--plugin", "./" + NAMES, expect=case.ENVIRONMENT)

    def test_of_pods_and_containers(self):
        self.write("a.yaml", SCENARIO)
        for form in ("text", "json"):
            for command in ("sim", "explain", "diff"):
                done = self.check_clean(command, "--output", form, "a.yaml")
                self.assertIn("31m", done.stdout, command)
        self.check_clean("sim", "--verbose", "a.yaml")

    def test_in_the_shell(self):
        text = 'run "%s"\ncreate "%s" "c%s" arg=\x9b\nshow "c%s"\nexplain\nmetrics\npods\ncontainers\nquit\n' % (4 * (NAMES,))
        for form in ("text", "json"):
            done = self.check_clean("sim", "--shell", "--output", form, text=text)
            self.assertIn("31m", done.stdout)


class Start(case.Case):
    def start(self, arguments, **options):
        return subprocess.run([case.NRICTL, *arguments], cwd=self.directory, env=self.environment(), stderr=subprocess.PIPE,
                              timeout=case.PATIENCE, check=False, text=True, **options)

    def test_nobody_reads_the_result(self):
        for arguments in COMMANDS:
            reading, writing = os.pipe()
            os.close(reading)
            done = self.start(arguments, stdin=subprocess.DEVNULL, stdout=writing)
            os.close(writing)
            self.assertEqual((done.returncode, done.stderr), (case.ENVIRONMENT, "nrictl: standard output does not take the result\n"),
                             arguments)

    def test_standard_input_is_closed(self):
        for arguments in COMMANDS:
            done = self.start(arguments, stdout=subprocess.DEVNULL, preexec_fn=lambda: os.close(0))
            self.assertEqual(done.returncode, case.OK, (arguments, done.stderr))
        done = self.start(["sim", "-"], stdout=subprocess.DEVNULL, preexec_fn=lambda: os.close(0))
        self.assertEqual(done.returncode, case.ENVIRONMENT, done.stderr)

    def test_standard_output_is_closed(self):
        for arguments in COMMANDS:
            done = self.start(arguments, stdin=subprocess.DEVNULL, preexec_fn=lambda: os.close(1))
            self.assertEqual(done.returncode, case.ENVIRONMENT, (arguments, done.stderr))

    def test_all_are_closed(self):
        done = subprocess.run([case.NRICTL, "sim"], preexec_fn=lambda: os.closerange(0, 3), timeout=case.PATIENCE, check=False)
        self.assertEqual(done.returncode, case.ENVIRONMENT)

    def test_few_descriptors(self):
        """It says so, or does with what there is; it never aborts."""
        for most in range(5, 24):
            for arguments in (["sim"], ["top", "--recording", "session.rec", "--count", "1"], ["explain"]):
                done = self.start(arguments, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                  preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (most, most)))
                self.assertIn(done.returncode, (case.OK, case.ENVIRONMENT, 127), (most, arguments, done.stderr))
                self.assertTrue(done.returncode == case.OK or done.stderr, (most, arguments))

    def test_plugins_get_sigpipe_as_ever(self):
        """A program that is started is not left with a signal ignored."""
        self.write("plugin", "#!/bin/sh\nsed -n 's/^SigIgn:.*\\(.....\\)$/ignores \\1/p' /proc/self/status >&2\n")
        os.chmod(self.path("plugin"), 0o755)
        for arguments in (["replay", "--timeout", "2s", "session.rec", "--", "./plugin"], ["sim", "--verbose", "--plugin", "10-a=./plugin"]):
            done = self.start(arguments, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
            self.assertIn("ignores", done.stderr, arguments)
            ignored = int(re.search(r"ignores ([0-9a-f]+)", done.stderr).group(1), 16)
            self.assertEqual(ignored & 1 << 12, 0, done.stderr)


class End(case.Case):
    def test_a_signal_takes_the_plugin_along(self):
        """A plugin that ignores signals, and its child; the pipe ends when both are gone."""
        os.mkfifo(self.path("pipe"))
        self.write("plugin", "#!/bin/sh\nexec 9>pipe\ntrap '' TERM INT\nsleep 1000 &\necho started >&9\nsleep 1000\n")
        os.chmod(self.path("plugin"), 0o755)
        for number in (signal.SIGINT, signal.SIGTERM):
            for arguments in (["replay", "--timeout", "2s", "session.rec", "--", "./plugin"],
                              ["replay", "--timeout", "2s", "--real-time", "session.rec", "--", "./plugin"],
                              ["sim", "--plugin", "10-a=./plugin"], ["explain", "--plugin", "10-a=./plugin"],
                              ["sim", "--pods", "1", "--plugin", "10-a=./plugin"], ["check", "--", "./plugin"]):
                with subprocess.Popen([case.NRICTL, *arguments], cwd=self.directory, env=self.environment(),
                                      stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
                    with open(self.path("pipe"), encoding="utf-8") as pipe:
                        self.assertEqual(pipe.readline(), "started\n", arguments)
                        process.send_signal(number)
                        end = case.FINDING if arguments[0] == "replay" else case.ENVIRONMENT
                        self.assertEqual(process.wait(case.PATIENCE), end, arguments)
                        self.assertEqual(pipe.read().replace("started\n", ""), "", arguments)

    def test_the_plugins_own_children_end_with_it(self):
        os.mkfifo(self.path("pipe"))
        self.write("plugin", "#!/bin/sh\nexec 9>pipe\nsleep 1000 3>&- &\necho started >&9\n")
        os.chmod(self.path("plugin"), 0o755)
        with subprocess.Popen([case.NRICTL, "replay", "session.rec", "--", "./plugin"], cwd=self.directory, env=self.environment(),
                              stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            with open(self.path("pipe"), encoding="utf-8") as pipe:
                self.assertEqual(pipe.read(), "started\n")
            self.assertEqual(process.wait(case.PATIENCE), case.FINDING)


if __name__ == "__main__":
    case.main()
