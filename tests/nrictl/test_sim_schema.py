#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""test_sim_schema.py NRICTL PROGRAMS: the JSON Schema of scenarios accepts and refuses what the program does."""
import json
import sys

import case
from sim import Sim

try:
    import jsonschema
except ImportError:
    print("skipped: no jsonschema (Debian: python3-jsonschema)")
    sys.exit(77)


class Schema(Sim):
    def setUp(self):
        super().setUp()
        self.schema = json.loads(self.run_nrictl("sim", "--schema").stdout)
        # Older versions of the package do not know the newest draft, of which nothing is needed.
        validator = getattr(jsonschema, "Draft202012Validator", jsonschema.Draft7Validator)
        validator.check_schema(self.schema)
        self.validator = validator(self.schema)

    def accepts(self, document):
        return not list(self.validator.iter_errors(document))

    def test_every_step_and_expectation_is_in_it(self):
        steps = {variant["required"][0] for variant in self.schema["$defs"]["step"]["oneOf"]}
        self.assertEqual(steps, {"run", "create", "start", "update", "stop", "exit", "remove", "sleep", "restart", "connect",
                                 "pause", "continue", "kill", "slow_reader", "wait", "expect"})
        for name in ("adjustment", "container", "oci", "owners", "events", "latency", "error", "conflict"):
            self.assertIn(name, self.schema["$defs"]["expectation"]["properties"])

    def test_it_accepts_what_the_program_accepts(self):
        good = {"version": 1, "steps": [
            {"run": "web", "name": "x", "background": True, "expect": {"ok": True, "latency": {"below": "1s"}}},
            {"expect": [{"container": {"a": 1, "b": {"equal": {}}, "c": None}}]}, {"kill": "a", "signal": "TERM"},
            {"wait": {"plugin": "a"}, "timeout": "1m30s"}, {"restart": "runtime", "away": "1ms"}]}
        self.assertTrue(self.accepts(good), list(self.validator.iter_errors(good)))
        for wrong in ({"version": 2, "steps": []}, {"version": 1}, {"version": 1, "steps": [{}]},
                      {"version": 1, "steps": [{"run": "a", "create": "b"}]}, {"version": 1, "steps": [{"stop": "a", "code": 1}]},
                      {"version": 1, "steps": [{"exit": "a", "code": 256}]}, {"version": 1, "steps": [{"sleep": "5"}]},
                      {"version": 1, "steps": [{"expect": {}}]}, {"version": 1, "steps": [], "weather": 1},
                      {"version": 1, "steps": [{"expect": {"container": {"a": {"equals": 1}}}}]},
                      {"version": 1, "steps": [{"expect": {"state": "up"}}]}, {"version": 1, "steps": [], "failure": "no"}):
            self.assertFalse(self.accepts(wrong), wrong)


if __name__ == "__main__":
    case.main()
