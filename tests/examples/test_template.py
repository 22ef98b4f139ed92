#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""test_template.py PROGRAM: what nri-template does with events."""
import os
import sys
import unittest

from case import Case
from protobuf import field, fields, last, text_pairs
from runtime import ALL, EVENTS, Refusal

PROGRAM = os.path.abspath(sys.argv.pop(1))
POD = field(1, "pod0") + field(2, "web")
CONTAINER = field(1, "ctr0") + field(3, "front")


class Template(Case):
    program = PROGRAM

    def setUp(self):
        super().setUp()
        self.running, self.connection = self.connected()
        self.mask = self.connection.start()

    def test_every_event(self):
        self.assertEqual(self.mask, ALL)
        before = self.running.err()
        for event in EVENTS:
            self.connection.event(event, POD, CONTAINER)
        lines = self.running.err()[len(before) :].splitlines()
        self.assertEqual([line.split(":")[0] for line in lines], EVENTS)
        for line in lines:
            self.assertIn("'web'", line)

    def test_create_container(self):
        adjust = fields(last(self.connection.event("CreateContainer", POD, CONTAINER), 1))
        self.assertEqual(text_pairs(adjust[4]), [("NRI_TEMPLATE", "1")])
        self.assertEqual(text_pairs(adjust[2]), [("nri-template.example/seen", "yes")])

    def update(self, limit):
        resources = field(1, field(1, field(1, limit)))  # memory, limit, value
        self.connection.call("UpdateContainer", field(1, POD) + field(2, CONTAINER) + field(3, resources))

    def test_update_container(self):
        self.update(1 << 20)
        self.update(0)
        self.update((1 << 64) - 1)  # -1: no limit
        with self.assertRaisesRegex(Refusal, "less than 1 MiB"):
            self.update((1 << 20) - 1)

    def test_shutdown(self):
        self.connection.call("Shutdown")
        self.assertIn("Shutdown", self.running.err())


if __name__ == "__main__":
    unittest.main()
