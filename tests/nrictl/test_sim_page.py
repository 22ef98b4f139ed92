#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""test_sim_page.py NRICTL PROGRAMS: doc/scenario.md: each scenario there runs, and all that there is stands there.

A block that begins with "- " is steps; what stands in front of them is the block that ends with "steps:".
"""
import json
import os
import re
import textwrap

import case
from sim import Sim

DOC = os.path.join(os.path.dirname(os.path.realpath(__file__)), os.pardir, os.pardir, "doc")


class Page(Sim):
    def setUp(self):
        super().setUp()
        with open(os.path.join(DOC, "scenario.md"), encoding="utf-8") as file:
            self.page = file.read()
        self.blocks = re.findall(r"^```yaml\n(.*?)^```$", self.page, re.MULTILINE | re.DOTALL)

    def test_each_scenario_holds(self):
        head = next(block for block in self.blocks if block.endswith("steps:\n"))
        ran = 0
        for block in self.blocks:
            if block is head:
                continue
            with self.subTest(block):
                text = block if block.startswith("version:") else head + textwrap.indent(block, "  ")
                self.assertTrue(text.startswith("version: 1\n"))
                result = self.sim(text)
                self.assertEqual([step["state"] for step in result["steps"]], ["over"] * len(result["steps"]))
                ran += 1
        self.assertGreater(ran, 10)

    def test_all_keys_are_named(self):
        schema = json.loads(self.run_nrictl("sim", "--schema").stdout)
        parts = schema["$defs"]
        for variant in parts["step"]["oneOf"]:
            self.assertIn("**%s**" % variant["required"][0], self.page)
            for key in variant["properties"]:
                self.assertRegex(self.page, r"\b%s\b" % key)
        for name in ("scenario", "plugin", "expectation", "a_match", "events", "latency", "conflict", "updated", "wait"):
            for key in parts[name]["properties"]:
                self.assertRegex(self.page, r"[`{ ]%s[`:]" % key, name)
        for state in parts["expectation"]["properties"]["state"]["enum"]:
            self.assertIn("`%s`" % state, self.page)

    def test_all_fields_are_named(self):
        fields = re.findall(r"`(\w+)`", re.search(r"^With a key: .*?\n\n", self.page, re.MULTILINE | re.DOTALL)[0])
        self.assertEqual(len(fields), 40)
        owners = ", ".join("%s x: null" % field for field in fields)
        self.sim("version: 1\npods: [{name: web, containers: [app]}]\nsteps:\n  - run: web\n  - create: app\n"
                 "    expect: {owners: {%s}}\n" % owners)

    def test_the_error_that_it_shows(self):
        shown = re.search(r"^nrictl sim: (scenario.yaml:7:5: .*)$", self.page, re.MULTILINE)[1]
        text = "version: 1\npods: [{name: web, containers: [app]}]\nsteps:\n- run: web\n- create: app\n- update: app\n    resourcs: {}\n"
        self.write("scenario.yaml", text.replace("- ", "  - "))
        self.refused("sim", "scenario.yaml", says=shown)


if __name__ == "__main__":
    case.main()
