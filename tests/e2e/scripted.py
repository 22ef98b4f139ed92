# SPDX-License-Identifier: Apache-2.0
"""nri-scripted as a process: its script, its report, what it takes."""

import json
import os
import tempfile

import node
from events import until
from harness import PATIENCE, Unmet
from plugin import Plugin

PROGRAM = "/build/tests/plugins/scripted/nri-scripted"


def is_built():
    return os.path.exists(PROGRAM)


class Scripted(Plugin):
    """An external plugin that plays RULES."""

    def __init__(self, run, rules, *options):
        directory = tempfile.mkdtemp(prefix="nri-scripted-", dir=node.WORK)
        script = os.path.join(directory, "script.json")
        self._report = os.path.join(directory, "report.jsonl")
        with open(script, "w", encoding="utf-8") as file:
            json.dump({"rules": rules}, file)
        super().__init__(run, PROGRAM, "--script", script, "--report", self._report, *options, name="scripted")

    def lines(self, what, **fields):
        with open(self._report, encoding="utf-8") as file:
            text = file.read()
        records = [json.loads(line) for line in text[: text.rfind("\n") + 1].splitlines()]
        return [
            record
            for record in records
            if record["what"] == what and all(record.get(key) == value for key, value in fields.items())
        ]

    def wait_line(self, what, count=1, patience=PATIENCE, **fields):
        """The COUNTth line of a kind."""
        found = until(lambda: self.lines(what, **fields)[count - 1 : count], self._report, patience)
        if not found:
            raise Unmet("no line %d of %s %s in the report" % (count, what, fields))
        return found[0]

    def rss_kb(self):
        with open("/proc/%d/status" % self.process.pid, encoding="utf-8") as file:
            return next(int(line.split()[1]) for line in file if line.startswith("VmRSS:"))

    def descriptors(self):
        return len(os.listdir("/proc/%d/fd" % self.process.pid))
