# SPDX-License-Identifier: Apache-2.0
"""The example programs as they are shipped, each once on a real containerd."""

import os
import signal
import time

from harness import scenario
from node import Node
from plugin import CLASSIC_EVENTS, Plugin
from scenarios.life import live


@scenario
def template(run):
    """nri-template: registers, lets everything pass, ends on SIGTERM"""
    node = Node(run)
    plugin = Plugin(run, os.path.join(run.examples, "nri-template"))
    live(node, "pod-u")
    run.equal("it is still there after a whole pod's life", plugin.process.poll(), None)
    _ends(run, plugin)


@scenario
def logger(run):
    """nri-logger: a JSON line an event, and what it is told to add is in the container"""
    node = Node(run)
    plugin = Plugin(
        run,
        os.path.join(run.examples, "nri-logger"),
        *("--add-env", "FROM_LOGGER=1", "--add-annotation", "logger=was here"),
    )
    env = live(node, "pod-v")
    run.equal("env inside", env.get("FROM_LOGGER"), "1")
    plugin.wait("RemovePodSandbox")
    run.equal("the events", [record["event"] for record in plugin.events()], CLASSIC_EVENTS)
    kinds = {record.get("event") for record in plugin.records()}
    run.check("every line is JSON", "not JSON" not in kinds, plugin.records()[:5])
    _ends(run, plugin)


def _ends(run, plugin):
    began = time.monotonic()
    plugin.signal(signal.SIGTERM)
    run.equal("exit status on SIGTERM", plugin.ended(), 0)
    took = time.monotonic() - began
    run.check("within a second", took < 1, "%.2f s" % took)
