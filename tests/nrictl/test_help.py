#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""test_help.py NRICTL PROGRAMS: what nrictl says of itself is true: each example of the help is run."""
import json
import subprocess

import case


class Help(case.Case):
    def commands(self):
        return self.run_json("help")

    def test_examples_run_as_they_stand(self):
        # A command that ends with a finding by its nature says so in its example: "; test $? = 1".
        ran = 0
        for command in self.commands():
            self.assertTrue(command["examples"], command["name"])
            for example in command["examples"]:
                with self.subTest(example["command"]):
                    self.setUp()
                    done = subprocess.run(["bash", "-uo", "pipefail", "-c", example["command"]], cwd=self.directory,
                                          env=self.environment(), capture_output=True, text=True,
                                          timeout=case.PATIENCE, check=False)
                    self.assertEqual(done.returncode, 0, done.stdout[-2000:] + done.stderr[-2000:])
                    ran += 1
        self.assertGreater(ran, 5)

    def test_each_command_explains_itself(self):
        for command in self.commands():
            with self.subTest(command["name"]):
                text = self.run_nrictl(command["name"], "--help").stdout
                self.assertEqual(text, self.run_nrictl("help", command["name"]).stdout)
                for option in command["options"]:
                    self.assertIn("--" + option["name"], text)
                    self.assertFalse(option["help"].endswith("."), option)
                for example in command["examples"]:
                    self.assertIn(example["command"], text)
                    self.assertTrue(example["what"].endswith("."), example)
                self.assertLessEqual(max(map(len, (line for line in text.splitlines() if "nrictl" not in line))), 100)

    def test_overview_names_all(self):
        text = self.run_nrictl("--help").stdout
        for command in self.commands():
            self.assertIn("  %s " % command["name"], text)
        self.assertEqual(self.run_nrictl("help").stdout, text)
        self.assertIn("Usage:", self.run_nrictl(expect=case.USAGE).stderr)
        self.assertRegex(self.run_nrictl("--version").stdout, r"^nrictl \d+\.\d+\.\d+\n$")

    def test_usage_errors(self):
        self.refused("aply", says="no command 'aply'; is 'apply' meant?")
        self.refused("--no-such", says="no command '--no-such'; see nrictl --help")
        self.refused("apply", "--no-such", says="--no-such")
        self.refused("apply", "--write", says="--write needs an argument")
        self.refused("apply", "--output", "xml", says="text or json, not 'xml'")
        self.refused("check", "--output", "tap", says="text or json, not 'tap'; other forms are --format's")
        self.refused("apply", "--color", "pink", says="auto, always or never, not 'pink'")
        self.refused("help", "nothing", says="'nothing'")
        self.refused("help", "apply", "help", says="one command at a time")

    def test_manual_page(self):
        text = self.run_nrictl("help", "--format", "man").stdout
        for command in self.commands():
            self.assertIn(".SS nrictl %s " % command["name"], text)
            for option in command["options"]:
                self.assertIn(option["name"].replace("-", "\\-"), text)
        # A line that begins with a dot is a request of troff's: of the few that are used, and no text.
        requests = {line.split()[0] for line in text.splitlines() if line.startswith((".", "'"))}
        self.assertLessEqual(requests, {".TH", ".SH", ".SS", ".TP", ".PP", ".B", ".RS", ".RE", ".nf", ".fi"})

    def complete(self, *words):
        script = self.write("completion.bash", self.run_nrictl("help", "--format", "bash").stdout)
        line = " ".join("'%s'" % word for word in words)
        done = subprocess.run(["bash", "-euc", "complete() { :; }; . ./%s; COMP_WORDS=(nrictl %s); COMP_CWORD=%d; _nrictl;"
                               " printf '%%s\\n' \"${COMPREPLY[@]}\"" % (script, line, len(words))],
                              cwd=self.directory, capture_output=True, text=True, timeout=case.PATIENCE, check=True)
        return set(done.stdout.split())

    def test_completion(self):
        self.assertLessEqual({command["name"] for command in self.commands()}, self.complete(""))
        self.assertEqual(self.complete("app"), {"apply"})
        for command in self.commands():
            self.assertEqual(self.complete(command["name"], "--"), {"--" + o["name"] for o in command["options"]})
        self.assertIn("config.json", self.complete("apply", "conf"))
        # What an option may be, where its help names all of it.
        for option in ("--output", "-o"):
            self.assertEqual(self.complete("explain", option, ""), {"text", "json"})
        self.assertEqual(self.complete("check", "-f", "j"), {"json", "junit"})
        self.assertIn("config.json", self.complete("record", "-f", "conf"))
        self.assertEqual(self.complete("help", "--format", "m"), {"man"})
        self.assertEqual(self.complete("help", "do"), {"doctor"})

    def test_commands_that_are_none(self):
        for before in ([], ["help"]):
            self.refused(*before, "doktor", says="there is no command 'doktor'; is 'doctor' meant?")
            self.refused(*before, "weather", says="there is no command 'weather'; see nrictl --help")

    def test_full_disk_is_no_success(self):
        with open("/dev/full", "w", encoding="ascii") as full:
            done = subprocess.run([case.NRICTL, "help", "--output", "json"], stdout=full, stderr=subprocess.PIPE, text=True,
                                  timeout=case.PATIENCE, check=False)
        self.assertEqual(done.returncode, case.ENVIRONMENT)
        self.assertIn("standard output", done.stderr)

    def test_json_is_of_a_known_form(self):
        for command in json.loads(self.run_nrictl("help", "-o", "json").stdout):
            self.assertEqual(list(command), ["name", "summary", "arguments", "description", "options", "examples"])


case.main()
