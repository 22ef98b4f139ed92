# SPDX-License-Identifier: Apache-2.0
"""What the tests of nrictl sim share: scenarios written on the spot, and nri-scripted as their plugins."""
import os

import case

SCRIPTED = os.path.join(case.PROGRAMS, os.pardir, "tests", "plugins", "scripted")

# A pod with a container, for tests that add steps.
HEAD = """version: 1
name: test
pods: [{name: web, containers: [app]}]
"""


class Sim(case.Case):
    def environment(self):
        old = super().environment()
        return {**old, "PATH": os.pathsep.join([SCRIPTED, old["PATH"]]), "TMPDIR": self.directory}

    def scripted(self, name, *rules):
        """A plugin's lines in a scenario; its rules are JSON."""
        self.write(name + ".json", '{"rules": [' + ", ".join(rules) + "]}")
        index, plain = name.split("-")
        return (f'  - {{name: {plain}, index: "{index}", command: '
                f'[nri-scripted, --script, "{{dir}}/{name}.json", --report, "{{dir}}/{name}.report"]}}\n')

    def sim(self, text, *arguments, expect=case.OK):
        """The result as JSON of a scenario. Where it is not about time-outs, a busy machine reaches none."""
        for key in ("request_timeout", "registration_timeout"):
            if key not in text:
                text += "%s: 5m\n" % key
        return self.run_json("sim", *arguments, self.write("test.yaml", text), expect=expect)

    def failures(self, result):
        return [(step["step"], finding["what"], finding["expected"], finding["seen"]) for step in result["steps"]
                for finding in step["expectations"] if not finding["held"]]

    def setting(self, value):
        return '{"event": "CreateContainer", "adjust": {"env": [{"key": "A", "value": "' + value + '"}]}}'
